"""Which test: the adviser's answer at each size and budget, asked when the pages are built."""

import math
from typing import Any

from made.files import Folder, link, markdown_table
from ucvtest.advice.advise import Advice, advise
from ucvtest.advice.configured_tests import PROCEDURES
from ucvtest.methods.registry import class_named

SIZES = (40, 60, 100, 200, 500)
BUDGETS = (20, 80, 400, 10_000)
"""Fits of each learner."""

QUESTIONS: dict[str, dict[str, Any]] = {
    "Do two classifiers differ in error rate?": {"learners": 2, "loss": "zero_one"},
    "Do two classifiers differ in AUC?": {"learners": 2, "loss": "auc"},
    "Do two regressions differ?": {"learners": 2, "loss": "squared"},
    "Do two classifiers differ in F1?": {"learners": 2, "metric": "f1"},
    "What is the error rate of one?": {"learners": 1, "loss": "zero_one"},
    "What is the AUC of one?": {"learners": 1, "loss": "auc"},
    "What is the F1 of one?": {"learners": 1, "metric": "f1"},
    "What is the R2 of one?": {"learners": 1, "metric": "r2"},
    "What is the squared error of one?": {"learners": 1, "loss": "squared"},
    "Do the two rules learnt here differ?": {"learners": 2, "loss": "zero_one", "about": "rules"},
}


def write(parts: Folder) -> None:
    """The tree, and one tab with numbers for each question."""
    parts.text("tree.md", "\n".join(line for each in QUESTIONS.items() for line in _tree(*each)))
    tabs = []
    for question, arguments in QUESTIONS.items():
        tabs += [f":::{{tab-item}} {question}", _grid(arguments), ":::", ""]
    parts.text("advice.md", "\n".join(["::::{tab-set}", "", *tabs, "::::", ""]))


# ------------------------------------------------------------------------------ the tree


def _tree(question: str, arguments: dict[str, Any]) -> list[str]:
    """The question, and the test."""
    asked = (_asked(n, fits, arguments) for n in SIZES for fits in BUDGETS)
    tests = {advice.test for advice in asked if advice is not None}
    links = (f"{link(class_named(test).method_name, '')} (`uv.{test}`)" for test in sorted(tests))
    return [f"- **{question}** {' or '.join(links)}"]


# -------------------------------------------------------------------------- the numbers


def _grid(arguments: dict[str, Any]) -> str:
    rows = [[f"**{n}**", *(_cell(_asked(n, fits, arguments)) for fits in BUDGETS)] for n in SIZES]
    keywords = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    heads = [f"{fits} fits of each" for fits in BUDGETS]
    table = markdown_table(["observations", *heads], rows)
    return f"{table}\nThe answers of `uv.advise(n, n_fits, {keywords})`.\n"


def _asked(n: int, fits: int, arguments: dict[str, Any]) -> Advice | None:
    try:
        return advise(n, fits * arguments["learners"], **arguments)
    except ValueError:
        return None  # no test needs so few fits


def _cell(advice: Advice | None) -> str:
    if advice is None:
        return "-"
    evidence = advice.evidence
    cls = class_named(PROCEDURES[evidence.procedure].test)
    promise = "" if advice.promises else " (no promise)"
    width = f", width {evidence.width:.2f}" if math.isfinite(evidence.width) else ""
    return (
        f"{link(cls.method_name, f'uv.{cls.__name__}')}{promise}<br>"
        f"<small>coverage {evidence.coverage:.0%}, {evidence.lowest_coverage:.0%} in the worst "
        f"problem{width}</small>"
    )
