"""Which test: what the adviser says at each size and budget, asked when the pages are built."""

from typing import Any

from made.files import Folder, link, markdown_table
from ucvtest.advice.advise import Advice, advise
from ucvtest.advice.procedures import PROCEDURES
from ucvtest.methods.registry import class_named

SIZES = (40, 60, 100, 200, 500)
BUDGETS = {30: "30 fits", 1000: "1000 fits", 100_000: "100 000 fits"}

QUESTIONS: dict[str, dict[str, Any]] = {
    "Do two classifiers differ in error rate?": {"learners": 2, "loss": "zero_one"},
    "Do two classifiers differ in AUC?": {"learners": 2, "loss": "auc"},
    "Do two regressions differ?": {"learners": 2, "loss": "squared"},
    "What is the error rate of one?": {"learners": 1, "loss": "zero_one"},
    "What is the AUC of one?": {"learners": 1, "loss": "auc"},
    "What is the squared error of one?": {"learners": 1, "loss": "squared"},
    "Do the two rules learnt here differ?": {"learners": 2, "loss": "zero_one", "about": "rules"},
}


def write(parts: Folder) -> None:
    """One tab for each question."""
    tabs = []
    for question, arguments in QUESTIONS.items():
        tabs += [f":::{{tab-item}} {question}", _grid(arguments), ":::", ""]
    parts.text("advice.md", "\n".join(["::::{tab-set}", "", *tabs, "::::", ""]))


def _grid(arguments: dict[str, Any]) -> str:
    rows = [[f"**{n}**", *(_cell(_asked(n, fits, arguments)) for fits in BUDGETS)] for n in SIZES]
    keywords = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    call = f"`uv.advise(n, n_fits, {keywords})`"
    table = markdown_table(["observations", *BUDGETS.values()], rows)
    return f"{table}\nWhat {call} says.\n"


def _asked(n: int, fits: int, arguments: dict[str, Any]) -> Advice | None:
    try:
        return advise(n, fits, **arguments)
    except ValueError:
        return None  # no test needs so few fits


def _cell(advice: Advice | None) -> str:
    if advice is None:
        return "-"
    evidence = advice.evidence
    cls = class_named(PROCEDURES[evidence.procedure].test)
    promise = "" if advice.promises else " (no promise)"
    return (
        f"{link(cls.method_name, evidence.procedure)}{promise}<br>"
        f"<small>covered {evidence.coverage:.0%}, {evidence.lowest_coverage:.0%} in the worst "
        f"problem; {evidence.n_fits} fits</small>"
    )
