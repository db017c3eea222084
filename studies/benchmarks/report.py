"""Measure how fast ucvtest is, and write it into docs/validation/speed.md between two markers.

    python studies/benchmarks/report.py

takes about ten minutes and wants a machine with nothing else to do, the colon data, and R with
glmnet for its part "lasso". It runs the measurements of the other scripts of this folder, and draws
scaling.png here. ``--check`` measures nothing: it fails if a part, or a row, is missing in the page
that this script would write. ``--only fits lasso`` measures some parts again and leaves the others
as they are.
"""

import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

from studies.benchmarks import (
    first_call,
    lasso,
    learners,
    permutations,
    scaling,
    whole_test,
)
from studies.benchmarks.bench import options, versions
from studies.coverage import markdown

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "validation" / "speed.md"
PICTURE = Path("studies/benchmarks/scaling.png")

BEGIN = "<!-- begin: python studies/benchmarks/report.py -->"
END = "<!-- end: python studies/benchmarks/report.py -->"

WHOLE_COLUMNS = {
    "n_pairs": "pairs",
    "fits": "fits",
    "us a fit": "microseconds a fit",
    "scikit-learn us": "scikit-learn",
    "ratio": "ratio",
    "ratio of processor time": "of processor time",
}


def fits(quick: bool) -> str:
    n_sets, n_loop, repeats = (256, 5, 1) if quick else learners.FULL
    cases = learners.CASES[:1] if quick else learners.CASES
    rows = [learners.measure(case, n_sets, n_loop, repeats)[:7] for case in cases]
    columns = ("learner", "n", "p", "microseconds", "scikit-learn", "ratio", "of processor time")
    return (
        "One fit and the prediction of all n observations that it has not learnt from, in "
        f"microseconds, with {n_sets} learning sets at a time, compared with scikit-learn in one "
        "thread in the same run (`studies/benchmarks/learners.py`):\n\n" + markdown(columns, rows)
    )


def lassos(quick: bool) -> str:
    said, found = lasso.measure(0.08, quick)
    ours = found["ucvtest"][0]
    rows = [
        (name, f"{seconds * 1e6:.0f}", f"{kkt:.0e}", f"{seconds / ours:.1f}")
        for name, (seconds, kkt) in found.items()
    ]
    versions_of_r = "".join(f" {line}." for line in said.splitlines() if "glmnet" in line)
    return (
        "The lasso at one penalty (0.08) on the colon data, 62 tissues and 2000 genes, learning "
        "sets of 26; the KKT residual is the largest violation of an optimality condition by any "
        f"fit (`studies/benchmarks/lasso.py`).{versions_of_r}\n\n"
        + markdown(("", "microseconds a fit", "KKT residual", "times ucvtest"), rows)
    )


def whole(quick: bool) -> str:
    rows = [row for name, *row in whole_test.measure(quick) if name == "lda"]
    return (
        "A whole `UStatisticTest` (LDA, n = 120, four features, learning sets of 58; draws, "
        "losses, variances and their Monte-Carlo errors included), compared with scikit-learn's "
        "fits and predictions alone (`studies/benchmarks/whole_test.py`):\n\n"
        + markdown(tuple(WHOLE_COLUMNS.values()), rows)
    )


def labelings(quick: bool) -> str:
    found = permutations.measure(*((60, 20, 5) if quick else ()))
    kept = ["learner", "all fits (s)", "whole test (s)", "scikit-learn (s)", "ratio of CPU"]
    rows = [[str(value) for value in row] for row in found[kept].itertuples(index=False)]
    names = ("learner", "seconds", "whole test", "scikit-learn", "ratio of processor time")
    return (
        "1000 permutations of the labels of 500 observations with 10 features, once compiled "
        "(`studies/benchmarks/permutations.py`):\n\n" + markdown(names, rows)
    )


def first(quick: bool) -> str:
    names = list(first_call.TESTS)[: 1 if quick else None]
    rows = [first_call.measure(name, 1 if quick else 3) for name in names]
    return (
        "The first test of a Python process, which imports and compiles, with nothing in JAX's "
        "cache (60 observations; `studies/benchmarks/first_call.py`). For comparison, a process "
        "that imports JAX, SciPy's statistics and scikit-learn and does nothing:\n\n"
        + markdown(first_call.COLUMNS, rows)
    )


def growth(quick: bool) -> str:
    rows = scaling.measure(quick)
    if not quick:
        scaling.draw(rows, ROOT / PICTURE)
    least, most = rows[0], rows[-1]
    elapsed, processor = scaling.powers_of_growth(rows)
    return (
        f"Elapsed time grows with the number of fits to the power of {elapsed:.2f}, processor time "
        f"of {processor:.2f}, from {least[0]:.0f} fits in {least[2]:.2f} s to {most[0]:.0f} in "
        f"{most[2]:.2f} s; the largest memory of the process goes from {least[1]:.0f} to "
        f"{most[1]:.0f} MB "
        "(`studies/benchmarks/scaling.py`):\n\n"
        f"![Seconds and largest memory by the number of fits](../../{PICTURE})"
    )


PARTS: dict[str, Callable[[bool], str]] = {
    "fits": fits,
    "whole": whole,
    "labelings": labelings,
    "lasso": lassos,
    "first": first,
    "growth": growth,
}


def opening(name: str) -> str:
    """The line above a part."""
    return f"<!-- {name} -->"


def parts_of(text: str) -> dict[str, str]:
    """What stands between the markers, by the names of its parts."""
    inside = text.partition(BEGIN)[2].partition(END)[0]
    pieces = re.split(r"^<!-- (\w+) -->\n", inside, flags=re.M)
    return dict(zip(pieces[1::2], (piece.strip() for piece in pieces[2::2]), strict=True))


def problems(text: str) -> list[str]:
    """The problems of the part of the page that this script writes."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        return [f"{PAGE.name} needs {BEGIN!r} and {END!r} once each"]
    found = parts_of(text)
    wrong = [f"part {name!r} is missing" for name in PARTS if name not in found]
    cells = found.get("fits", "")
    wrong += [
        f"learner {case.learner}, n = {case.n_obs}, p = {case.n_features} is missing"
        for case in learners.CASES
        if f"| {case.learner} | {case.n_obs} | {case.n_features} |" not in cells
    ]
    wrong += [
        f"first test {name!r} is missing"
        for name in first_call.TESTS
        if f"| {name} |" not in found.get("first", "")
    ]
    if not (ROOT / PICTURE).exists():
        wrong.append(f"{PICTURE} is missing")
    return wrong


def main() -> None:
    parser = options(__doc__, "tiny measurements, to standard output")
    parser.add_argument(
        "--check", action="store_true", help="measure nothing; look at the page only"
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, help="parts to measure; default all")
    arguments = parser.parse_args()
    text = PAGE.read_text()
    if arguments.check:
        sys.exit("\n".join(problems(text)) or 0)
    # Normal data has no collinear columns; a warning about them would be about rounding.
    warnings.simplefilter("ignore")
    chosen = arguments.only or (
        ["fits", "whole", "labelings", "first"] if arguments.quick else PARTS
    )
    parts = {} if arguments.quick else parts_of(text)
    for name in chosen:
        print(f"measuring: {name}", file=sys.stderr, flush=True)
        parts[name] = f"{PARTS[name](arguments.quick)}\n\n<sub>{versions()}</sub>"
    body = "\n\n".join(f"{opening(name)}\n{parts[name]}" for name in PARTS if name in parts)
    if arguments.quick:
        print(body)
        return
    before, rest = text.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{body}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
