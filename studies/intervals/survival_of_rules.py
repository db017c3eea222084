"""How often do 95% intervals of survival metrics of fixed rules contain the true value?

From the package itself: concordances, the AUC and the Brier score at a time, of one rule and of
two, with rows and with clusters of three. True values are those of 50 000 observations, without
censoring except for Harrell's concordance, which depends on it. Cells are kept as they come, and
the script goes on where it was stopped.

    python studies/intervals/survival_of_rules.py --seconds 600
    python studies/intervals/survival_of_rules.py --table
"""

import argparse
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.resuming import add_rows

SAMPLES, SIZES, MANY, AT = 300, (40, 80, 200), 50_000, 4.0
TABLE = Path(__file__).with_suffix(".csv")
COLUMNS = ("problem", "n", "metric", "target", "samples", "answered", "covered", "below", "above")
COLUMNS += ("rejected", "width", "truth")
METRICS = ("harrell", f"uno({AT:g})", f"auc({AT:g})", f"brier({AT:g})")
TARGETS = {"one": ("a",), "difference": ("a", "b")}


class Problem(NamedTuple):
    """How fast events and censorings come, how informative the risks are, and the rounding."""

    censoring: float
    slope: float
    noise: tuple[float, float]
    digits: int = 9
    in_clusters: bool = False


PROBLEMS = {
    "light": Problem(0.05, 1.0, (1.0, 1.0)),
    "heavy": Problem(0.3, 1.0, (1.0, 1.0)),
    "apart": Problem(0.1, 1.5, (0.3, 1.0)),
    "weak": Problem(0.1, 0.4, (1.0, 2.0)),
    "ties": Problem(0.1, 1.0, (0.5, 1.0), digits=0),
    "clusters": Problem(0.1, 1.0, (1.0, 1.0), in_clusters=True),
}
"""Rules whose noise is equal are exchangeable."""


def draw(problem: Problem, n: int, rng: np.random.Generator, *, censored: bool = True) -> tuple:
    """Times, events, risks and probabilities of an event of two rules, clusters."""
    cluster = np.arange(n) // 3 if problem.in_clusters else np.arange(n)
    x = rng.normal(size=n)
    if problem.in_clusters:
        x = (x + rng.normal(size=n)[cluster]) / np.sqrt(2)
    event = np.round(rng.exponential(10 * np.exp(-problem.slope * x)), problem.digits)
    leaves = rng.exponential(1 / problem.censoring, n) if censored else np.full(n, 1e9)
    leaves = np.round(leaves, problem.digits)
    observed = np.minimum(event, leaves)
    risks = {
        name: np.round(x + noise * rng.normal(size=n), min(problem.digits, 1))
        for name, noise in zip("ab", problem.noise, strict=True)
    }
    chances = {name: -np.expm1(-AT / 10 * np.exp(risk / 2)) for name, risk in risks.items()}
    return observed, event <= leaves, risks, chances, cluster


def losses_of(metric: str, drawn: tuple, groups: np.ndarray | None = None) -> uv.Losses:
    observed, event, risks, chances, _ = drawn
    rules = chances if metric.startswith("brier") else risks
    return uv.Losses.from_predictions(
        uv.survival(observed, event), rules, metric=metric, groups=groups
    )


@cache
def truth(name: str, metric: str) -> tuple[float, float]:
    """Of the first rule, and the difference."""
    problem = PROBLEMS[name]
    drawn = draw(problem, MANY, np.random.default_rng(1), censored=metric == "harrell")
    first, second = losses_of(metric, drawn).means[:, 0]
    equal = problem.noise[0] == problem.noise[1]
    return float(first), 0.0 if equal else float(first - second)


def cell_rows(name: str, n: int, samples: int) -> Iterator[tuple]:
    """A row for each metric and target."""
    problem = PROBLEMS[name]
    sums = {(metric, target): np.zeros(6) for metric in METRICS for target in TARGETS}
    for number in range(samples):
        drawn = draw(problem, n, np.random.default_rng([[*PROBLEMS].index(name), n, number]))
        if not drawn[1].any():
            continue
        for metric in METRICS:
            losses = losses_of(metric, drawn, drawn[-1] if problem.in_clusters else None)
            for (target, who), value in zip(TARGETS.items(), truth(name, metric), strict=True):
                result = uv.HoldOutTest.from_losses(losses, *who).fit()
                if result.status == "ok":
                    low, high = result.conf_int()
                    rejected = result.pvalue <= 0.05
                    sums[metric, target] += [
                        *(1, low <= value <= high, high < value, low > value, rejected, high - low)
                    ]
    for (metric, target), each in sums.items():
        exact = truth(name, metric)[target == "difference"]
        yield (name, n, metric, target, samples, *each[:5].astype(int), each[5], exact)


def in_short(rows: pd.DataFrame) -> pd.DataFrame:
    """The same in percent of the samples with an answer."""
    shares = rows[["covered", "below", "above", "rejected"]].div(rows.answered, axis=0)
    keys = ["target", "problem", "n", "metric", "samples", "answered"]
    return rows[keys].assign(
        truth=rows.truth.round(4),
        coverage=(100 * shares.covered).round(1),
        ends_below=(100 * shares.below).round(1),
        begins_above=(100 * shares.above).round(1),
        rejects_0=(100 * shares.rejected).round(1),
        width=(rows.width / rows.answered).round(3),
    )


def collect(path: Path, seconds: float, samples: int = SAMPLES) -> None:
    """Add cells until all are there, or the time is up."""
    cells = ((name, n) for n in SIZES for name in PROBLEMS)
    add_rows(path, COLUMNS, COLUMNS[:2], cells, partial(cell_rows, samples=samples), seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rows", type=Path, default=Path("build/survival_of_rules.csv"))
    parser.add_argument("--seconds", type=float, default=600)
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
