"""Which test: what the adviser says at each size and budget, asked when the pages are built."""

from itertools import groupby
from operator import itemgetter
from typing import Any

from made.files import Folder, link, markdown_table
from ucvtest.advice.advise import Advice, advise
from ucvtest.advice.configured_tests import PROCEDURES
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
    """The tree, and one tab with numbers for each question."""
    parts.text("tree.md", "\n".join(line for each in QUESTIONS.items() for line in _tree(*each)))
    tabs = []
    for question, arguments in QUESTIONS.items():
        tabs += [f":::{{tab-item}} {question}", _grid(arguments), ":::", ""]
    parts.text("advice.md", "\n".join(["::::{tab-set}", "", *tabs, "::::", ""]))


# ------------------------------------------------------------------------------ the tree


def _tree(question: str, arguments: dict[str, Any]) -> list[str]:
    """A nested list: the question, what fits cost, the number of observations, the test."""
    lines = [f"- **{question}**"]
    by_budget = {words: _branches(fits, arguments) for fits, words in BUDGETS.items()}
    for branches, budgets in _runs(by_budget):
        if not any(answer for _, answer in branches):
            continue
        if len(budgets) == len(BUDGETS):
            words = "whatever fits cost"
        elif budgets[-1] == list(BUDGETS.values())[-1]:
            words = f"{budgets[0]} or more"
        else:
            words = f"up to {budgets[-1]}"
        lines.append(f"  - {words}:")
        lines += [f"    - {sizes}: {answer or 'no test'}" for sizes, answer in branches]
    return [*lines, ""]


def _branches(fits: int, arguments: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Ranges of sizes with the same answer."""
    answers = {n: _named(_asked(n, fits, arguments)) for n in SIZES}
    return tuple((_between(sizes[0], sizes[-1]), answer) for answer, sizes in _runs(answers))


def _between(first: int, last: int) -> str:
    if (first, last) == (SIZES[0], SIZES[-1]):
        return "any number of observations"
    if first == SIZES[0]:
        return f"about {last} observations or fewer"
    if last == SIZES[-1]:
        return f"about {first} or more"
    return f"about {first}" if first == last else f"about {first} to {last}"


def _runs(answers: dict[Any, Any]) -> list[tuple[Any, list[Any]]]:
    """Neighbours with the same answer, together: the answer, and who has it."""
    found = groupby(answers.items(), key=itemgetter(1))
    return [(answer, [key for key, _ in run]) for answer, run in found]


def _named(advice: Advice | None) -> str:
    if advice is None:
        return ""
    cls = class_named(PROCEDURES[advice.evidence.procedure].test)
    promise = "" if advice.promises else ", without a promise"
    return f"{link(cls.method_name, '')} (`{advice.evidence.procedure}`{promise})"


# -------------------------------------------------------------------------- the numbers


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
