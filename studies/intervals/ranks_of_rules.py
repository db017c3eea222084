"""How often do 95% intervals of average precision and partial AUCs contain the true value?

Of rules that are fixed, from the package itself. The rule for one learner, with quarters of
observations added, was chosen on normal scores; these are of other distributions, with few
positives, and were written down before any was run. True values are those of two million
observations. Batches of samples are kept as they come, and the script goes on where it was stopped.

    python studies/intervals/ranks_of_rules.py --seconds 200
    python studies/intervals/ranks_of_rules.py --table
"""

import argparse
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.resuming import add_rows

BATCH, BATCHES, SIZES, MANY = 100, 10, (40, 80, 200), 2 * 10**6
TABLE = Path(__file__).with_suffix(".csv")
COLUMNS = ("problem", "n", "batch", "metric", "target", "samples", "answered", "covered", "below")
COLUMNS += ("above", "rejected", "width")

METRICS = ("average_precision", "partial_auc(0.1)", "partial_auc(0.3)")
TARGETS = {"one": ("a",), "difference": ("a", "b")}

Scores = Callable[[np.random.Generator, np.ndarray], np.ndarray]
"""Of the rows of one class; the response, 0 or 1, comes in."""


def shifted(shift: float) -> Scores:
    """Gamma scores, the positives further up."""
    return lambda rng, y: rng.gamma(2, size=len(y)) + shift * y


def spread(factor: float) -> Scores:
    """Student's scores with heavy tails; positives are wider."""
    return lambda rng, y: (1 + factor * y) * rng.standard_t(3, size=len(y)) + 1.2 * y


def rounded(shift: float) -> Scores:
    """Whole numbers with many ties."""
    return lambda rng, y: rng.poisson(2 + shift * y).astype(float)


PROBLEMS: dict[str, tuple[float, Scores, Scores]] = {
    "gamma, equal": (0.1, shifted(2.5), shifted(2.5)),
    "gamma, apart": (0.3, shifted(2.5), shifted(1.5)),
    "tails": (0.2, spread(1.0), spread(0.5)),
    "ties": (0.2, rounded(3.0), rounded(2.0)),
}
"""The share of positives, and the scores of two rules; those that are equal are exchangeable."""


def draw(problem: str, n: int, rng: np.random.Generator) -> uv.Losses | None:
    """A sample; None where it has one class only. Half of each score is common to both rules."""
    share, first, second = PROBLEMS[problem]
    y = (rng.random(n) < share).astype(int)
    if len(np.unique(y)) < 2:
        return None
    common = rng.normal(size=n)
    rules = {name: common + scores(rng, y) for name, scores in (("a", first), ("b", second))}
    if problem == "ties":
        rules = {name: np.round(scores) for name, scores in rules.items()}
    return uv.Losses.from_predictions(y, rules, metric=METRICS[0])


@cache
def truth(problem: str, metric: str) -> tuple[float, float]:
    """Of the first rule, and the difference."""
    drawn = draw(problem, MANY, np.random.default_rng(1))
    assert drawn is not None
    first, second = drawn.about(metric).means[:, 0]
    return float(first), 0.0 if problem.endswith("equal") else float(first - second)


def batch_rows(problem: str, n: int, batch: int) -> list[tuple]:
    """What a hundred samples say, a row for each metric and target."""
    sums = {(metric, target): np.zeros(7) for metric in METRICS for target in TARGETS}
    for number in range(BATCH):
        rng = np.random.default_rng([[*PROBLEMS].index(problem), n, BATCH * batch + number])
        kept = draw(problem, n, rng)
        if kept is None:
            continue
        for metric in METRICS:
            about = kept.about(metric)
            for (target, who), value in zip(TARGETS.items(), truth(problem, metric), strict=True):
                result = uv.HoldOutTest.from_losses(about, *who).fit()
                if result.status != "ok":
                    sums[metric, target][0] += 1
                    continue
                low, high = result.conf_int()
                found = [1, 1, low <= value <= high, high < value, low > value]
                sums[metric, target] += [*found, result.pvalue <= 0.05, high - low]
    return [
        (problem, n, batch, *key, *each[:6].astype(int), round(each[6], 6))
        for key, each in sums.items()
    ]


def in_short(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each target, problem, size and metric, in percent of the samples with an answer."""
    keys = ["target", "problem", "n", "metric"]
    cells = rows.drop(columns="batch").groupby(keys, sort=False).sum().reset_index()
    shares = cells[["covered", "below", "above", "rejected", "width"]].div(cells.answered, axis=0)
    places = zip(cells.problem, cells.metric, cells.target, strict=True)
    truths = [truth(problem, metric)[target == "difference"] for problem, metric, target in places]
    return cells[[*keys, "samples", "answered"]].assign(
        truth=np.round(truths, 4),
        coverage=(100 * shares.covered).round(1),
        ends_below=(100 * shares.below).round(1),
        begins_above=(100 * shares.above).round(1),
        rejects_0=(100 * shares.rejected).round(1),
        width=shares.width.round(3),
    )


def collect(path: Path, seconds: float) -> None:
    """Add batches until all are there, or the time is up."""
    batches = (
        (problem, n, batch) for batch in range(BATCHES) for problem in PROBLEMS for n in SIZES
    )
    add_rows(path, COLUMNS, COLUMNS[:3], batches, batch_rows, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rows", type=Path, default=Path("build/ranks_of_rules.csv"))
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--table", action="store_true", help="write the table of what there is")
    arguments = parser.parse_args()
    if not arguments.table:
        collect(arguments.rows, arguments.seconds)
    table = in_short(pd.read_csv(arguments.rows))
    if arguments.table:
        table.to_csv(TABLE, index=False)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
