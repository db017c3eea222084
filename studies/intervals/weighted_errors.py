"""How often do 95% intervals of weighted means of fixed rules contain the true value?

Rows are sampled with a standard normal feature x, and weigh exp(spread x), so that the estimand is
about a population with a mean of x of `spread`. The rules' losses depend on x too. "before" are the
intervals with n - 1 (or one less than clusters) degrees of freedom, and Student's for differences,
"after" those of the package. The rules for degrees of freedom were chosen on other problems: normal
and chi-square losses and constant error rates, with weights that losses did not depend on. Samples
in which a few rows have nearly all of the weight have no answer, and are left out of both. Before,
differences of rules that did not differ had no answer either, which counts as an interval that does
not contain the true value. Cells are kept as they come. The script goes on where it was stopped.

    python studies/intervals/weighted_errors.py --seconds 240
    python studies/intervals/weighted_errors.py --table
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit

import ucvtest as uv
from studies.resuming import add_rows
from ucvtest.stats.pivots import plus_four

SAMPLES, SIZES, SPREADS, ROWS_OF_CLUSTERS = 300, (30, 100), (0.0, 0.5, 1.0, 1.3), 2
TABLE = Path(__file__).with_suffix(".csv")
COLUMNS = ("problem", "target", "n", "spread", "samples", "worth", "answered", "before", "after")
COLUMNS += ("width_before", "width_after")

Drawn = tuple[np.ndarray, np.ndarray]
"""Losses of two rules, for rows with this feature."""


def errors(rng: np.random.Generator, x: np.ndarray) -> Drawn:
    """Errors of two rules, which fail independently."""
    return tuple(1.0 * (rng.random(len(x)) < expit(p)) for p in (0.7 * x - 2, 0.3 * x - 1.6))


def alike(rng: np.random.Generator, x: np.ndarray) -> Drawn:
    """Errors of two rules that differ at few rows."""
    first = 1.0 * (rng.random(len(x)) < expit(0.4 * x - 1))
    return first, np.where(rng.random(len(x)) < expit(0.5 * x - 2.5), 1 - first, first)


def squared(rng: np.random.Generator, x: np.ndarray) -> Drawn:
    """Squared errors of two rules, with noise in common."""
    noise = rng.standard_t(8, size=len(x)) * (1 + 0.1 * x)
    return noise**2, (noise + 0.3 * x + 0.5 * rng.normal(size=len(x))) ** 2


def clustered(rng: np.random.Generator, x: np.ndarray) -> Drawn:
    """Absolute errors, with a part in common in each cluster."""
    common = np.repeat(rng.normal(size=len(x) // ROWS_OF_CLUSTERS), ROWS_OF_CLUSTERS)
    return tuple(np.abs(common + rng.normal(size=len(x)) + shift) for shift in (0.2 * x, 0.5))


PROBLEMS: dict[str, tuple[str, Callable[[np.random.Generator, np.ndarray], Drawn]]] = {
    "errors": ("zero_one", errors),
    "alike": ("zero_one", alike),
    "squared": ("squared", squared),
    "clusters": ("absolute", clustered),
}
TARGETS = {"one": ("a",), "difference": ("a", "b")}


def feature(rng: np.random.Generator, problem: str, n: int, mean: float = 0.0) -> np.ndarray:
    """The feature of each row; the rows of a cluster share it."""
    if problem != "clusters":
        return rng.normal(mean, size=n)
    return np.repeat(rng.normal(mean, size=n // ROWS_OF_CLUSTERS), ROWS_OF_CLUSTERS)


def truth(problem: str, spread: float) -> tuple[float, float]:
    """The mean loss of the first rule in the population, and the difference."""
    rng, n = np.random.default_rng(1), 3 * 10**6
    first, second = PROBLEMS[problem][1](rng, feature(rng, problem, n, spread))
    return float(first.mean()), float((first - second).mean())


def losses_of(problem: str, drawn: Drawn, weights: np.ndarray, groups: np.ndarray) -> uv.Losses:
    """The losses as the package has them, from predictions that have them."""
    loss, _ = PROBLEMS[problem]
    given = dict(zip("ab", drawn, strict=True))
    if loss == "squared":
        given = {name: np.sqrt(values) for name, values in given.items()}
    y = np.zeros(len(weights), dtype=float if loss != "zero_one" else int)
    if loss == "zero_one":
        given = {name: values.astype(int) for name, values in given.items()}
    return uv.Losses.from_predictions(
        y,
        given,
        loss=loss,
        sample_weight=weights,
        groups=groups if problem == "clusters" else None,
    )


def before(result: uv.TestResult, target: str, problem: str, n: int) -> tuple[float, float]:
    """The interval as it was."""
    df = n / ROWS_OF_CLUSTERS - 1 if problem == "clusters" else n - 1.0
    if target == "one" and PROBLEMS[problem][0] == "zero_one":
        size = result.settings["effective_size"]
        return plus_four(result.estimate, result.variance, size, df=df).interval("two-sided", 0.05)
    half = float(stats.t.isf(0.025, df)) * result.se
    return result.estimate - half, result.estimate + half


def cell(problem: str, n: int, spread: float) -> list[tuple]:
    """What all samples say, a row for each target."""
    sums, values = {target: np.zeros(6) for target in TARGETS}, truth(problem, spread)
    groups = np.arange(n) // ROWS_OF_CLUSTERS
    for number in range(SAMPLES):
        rng = np.random.default_rng([[*PROBLEMS].index(problem), n, round(10 * spread), number])
        x = feature(rng, problem, n)
        losses = losses_of(problem, PROBLEMS[problem][1](rng, x), np.exp(spread * x), groups)
        for (target, who), value in zip(TARGETS.items(), values, strict=True):
            result = uv.HoldOutTest.from_losses(losses, *who).fit()
            settings = result.settings
            sums[target][0] += settings.get("effective_groups", settings["effective_size"])
            if result.reference == "none":
                continue
            old, new = before(result, target, problem, n), result.conf_int()
            hits = [low <= value <= high for low, high in (old, new)]
            sums[target][1:] += [1, *hits, old[1] - old[0], new[1] - new[0]]
    rows = []
    for target, (worth, *counts, old_width, new_width) in sums.items():
        numbers = (round(worth / SAMPLES, 1), *map(int, counts))
        rows.append((problem, target, n, spread, SAMPLES, *numbers, old_width, new_width))
    return rows


def in_short(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage in percent with its Monte-Carlo error, and how much wider intervals are."""
    shares = rows[["before", "after"]].div(rows["answered"], axis=0)
    percent = (100 * shares).round(1)
    roots = np.sqrt(rows["answered"])
    mc_errors = (100 * np.sqrt(shares * (1 - shares)).div(roots, axis=0)).round(1)
    return rows[["problem", "target", "n", "spread", "worth", "answered"]].assign(
        before=percent["before"],
        before_mc=mc_errors["before"],
        after=percent["after"],
        after_mc=mc_errors["after"],
        width=(rows["width_after"] / rows["width_before"]).round(2),
    )


def collect(path: Path, seconds: float) -> None:
    """Add cells until all are there, or the time is up."""
    cells = ((problem, n, spread) for problem in PROBLEMS for n in SIZES for spread in SPREADS)
    add_rows(path, COLUMNS, ("problem", "n", "spread"), cells, cell, seconds)


def main() -> None:
    """Add samples, and print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rows", type=Path, default=Path("build/weighted_errors.csv"))
    parser.add_argument("--seconds", type=float, default=240)
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
