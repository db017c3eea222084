"""Do intervals of the concordance of Cox models contain the true value, and of a difference?

Four problems; "held_ties" and "held_bend" were not used before everything was fixed;
light and heavy censoring; n = 60, 100 and 200. Learners are "cox:2.0" and the first feature as it
is. Out of fold the true value is that of the rules learnt here, of the U-statistic test that of
rules learnt from n/2 - 1 observations, by large new samples. Rows are kept as they come, and the
script goes on where it was stopped.

    python studies/intervals/concordance_of_learners.py --seconds 1200
    python studies/intervals/concordance_of_learners.py --quick
"""

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.coverage import over_problems, write_both
from studies.resuming import add_rows

METRIC, LEARNER = "harrell", "cox:2.0"
N_FEATURES, FOLDS = 4, 5
SIZES, CENSORING = (60, 100, 200), ("light", "heavy")
PAIRS = {"few": 10, "many": 300}
"""Pairs of learning sets; of each learner there are twice as many fits."""
N_RULES, N_NEW, N_REPEATS = 80, 4000, 100
COLUMNS = ("problem", "censoring", "n", "number", "test", "target")
VALUES = ("truth", "estimate", "low", "high")
TABLE = Path(__file__).with_suffix(".csv")
IN_SHORT = TABLE.with_stem("concordance_of_learners_in_short")


@dataclass(frozen=True)
class Problem:
    """Times whose logarithm is a sum of features and of noise, and how they are recorded."""

    slopes: tuple[float, ...]
    normal: bool = False
    bend: float = 0.0
    grid: float = 0.0

    def sample(self, rng: np.random.Generator, n: int, censoring: str) -> tuple[np.ndarray, Any]:
        """Features and times, about a fifth or three fifths of them censored."""
        x = rng.normal(size=(n, len(self.slopes)))
        noise = rng.normal(size=n) if self.normal else np.log(rng.exponential(size=n))
        time = np.exp(noise - x @ np.array(self.slopes) - self.bend * (x[:, 0] ** 2 - 1))
        end = rng.exponential(size=n) * (4.0 if censoring == "light" else 0.6)
        event, seen = time <= end, np.minimum(time, end)
        if self.grid:
            seen = np.ceil(seen / self.grid) * self.grid
        event[np.argmin(seen)] = True
        return x, uv.survival(seen, event)


PROBLEMS = {
    "hazards": Problem((0.7, 0.4, 0.0, 0.0)),
    "weak": Problem((0.3, 0.2, 0.2, 0.0)),
    "held_ties": Problem((0.6, 0.5, 0.5, 0.0), grid=0.25),
    "held_bend": Problem((0.8, 0.3, 0.0, 0.0), normal=True, bend=0.3),
}
CELLS = list(product(PROBLEMS, CENSORING, SIZES))


def first_feature(X_train: np.ndarray, y_train: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """A score that needs no learning."""
    return X_test[:, 0]


def concordance(y: Any, risks: np.ndarray) -> float:
    """The metric of risks as they are."""
    return float(uv.Losses.from_predictions(y, {"rule": risks}, metric=METRIC).means[0, 0])


@cache
def new_sample(name: str, censoring: str) -> tuple[np.ndarray, Any]:
    """Observations by which true values are found."""
    return PROBLEMS[name].sample(np.random.default_rng(1), N_NEW, censoring)


def rules_of(losses: uv.Losses, x: np.ndarray) -> np.ndarray:
    """The coefficients of the Cox model learnt on each learning set, from its risks."""
    risks = np.full(losses.design.testing.shape, np.nan)
    risks[losses.design.testing] = losses.predictions[0]
    return np.stack([np.linalg.lstsq(x[~np.isnan(r)], r[~np.isnan(r)])[0] for r in risks])


@cache
def value_of_first(name: str, censoring: str) -> float:
    """The concordance of the first feature, from many new samples."""
    rng, values = np.random.default_rng(3), []
    for _ in range(N_REPEATS):
        x, y = PROBLEMS[name].sample(rng, N_NEW, censoring)
        values.append(concordance(y, x[:, 0]))
    return float(np.mean(values))


def truths(name: str, censoring: str, rules: np.ndarray) -> tuple[float, float]:
    """The mean of rules, and its difference to the first feature.

    The difference on one new sample is known better than the mean, by which it is found.
    """
    x, y = new_sample(name, censoring)
    learnt = float(np.mean([concordance(y, x @ each) for each in rules]))
    difference = learnt - concordance(y, x[:, 0])
    return value_of_first(name, censoring) + difference, difference


@cache
def truths_of_learning(name: str, censoring: str, n: int) -> tuple[float, float]:
    """The same of rules learnt from n/2 - 1 observations, each of a sample of its own."""
    rng, rules = np.random.default_rng([2, n]), []
    for _ in range(N_RULES):
        x, y = PROBLEMS[name].sample(rng, n // 2 + 19, censoring)
        design = [(np.arange(n // 2 - 1), np.arange(n // 2 - 1, n // 2 + 19))]
        losses = uv.evaluate(LEARNER, x, y, design, metric=METRIC)
        rules.append(rules_of(losses, x)[0])
    return truths(name, censoring, np.array(rules))


def rows_of(name: str, censoring: str, n: int, number: int) -> Iterator[tuple]:
    """What the tests say of one sample."""
    rng = np.random.default_rng([number, n, *name.encode(), *censoring.encode()])
    x, y = PROBLEMS[name].sample(rng, n, censoring)
    learners = {"cox": LEARNER, "first": first_feature}
    targets = {"one": ("cox",), "difference": ("cox", "first")}

    def row(test: str, target: str, truth: float, found: uv.TestResult) -> tuple:
        ends = found.conf_int() if found.status == "ok" else (np.nan, np.nan)
        numbers = (f"{each:.6g}" for each in (truth, found.estimate, *ends))
        return (name, censoring, n, number, test, target, *numbers)

    losses = uv.evaluate(learners, x, y, uv.designs.KFold(FOLDS), metric=METRIC, rng=number)
    of_folds = truths(name, censoring, rules_of(losses, x))
    for (target, chosen), truth in zip(targets.items(), of_folds, strict=True):
        test = uv.CrossValidationWaldTest.from_losses(losses, *chosen)
        yield row("folds", target, truth, test.fit())
    known = truths_of_learning(name, censoring, n)
    for test, pairs in PAIRS.items():
        design = uv.designs.DisjointSets(n // 2 - 1, pairs, n_sets=1)
        losses = uv.evaluate(learners, x, y, design, metric=METRIC, rng=number)
        for (target, chosen), truth in zip(targets.items(), known, strict=True):
            found = uv.UStatisticTest.from_losses(losses, *chosen)
            variance = "few" if test == "few" else "jackknife"
            yield row(f"ustatistic_{test}", target, truth, found.fit(variance=variance))


def simulate(path: Path, n_samples: int, seconds: float) -> None:
    """Rows, a sample of each cell at a time, until there are enough or time is up."""
    samples = ((*cell, number) for number, cell in product(range(n_samples), CELLS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uv.UcvtestWarning)
        add_rows(path, (*COLUMNS, *VALUES), COLUMNS[:4], samples, rows_of, seconds)


def table_of(rows: pd.DataFrame) -> pd.DataFrame:
    """How many samples of each cell were answered, the coverage, error and width."""
    rows = rows.assign(
        answered=rows["low"].notna(),
        covered=(rows["low"] <= rows["truth"]) & (rows["truth"] <= rows["high"]),
        width=rows["high"] - rows["low"],
        error=rows["estimate"] - rows["truth"],
    )
    cells = rows.groupby(["test", "target", "n", "censoring", "problem"], sort=False)
    table = cells.agg(
        samples=("number", "size"), answered=("answered", "sum"), covered=("covered", "sum")
    )
    return table.assign(
        bias=cells["error"].mean(), sd=cells["error"].std(), width=cells["width"].mean()
    ).reset_index()


def in_short(table: pd.DataFrame) -> pd.DataFrame:
    """Coverage over all problems, with its Monte-Carlo error, of those kept aside, and at worst."""
    short = []
    for (test, target, n, censoring), cells in table.groupby(
        ["test", "target", "n", "censoring"], sort=False
    ):
        row = {"test": test, "target": target, "n": n, "censoring": censoring}
        row |= over_problems(cells, cells["problem"].str.startswith("held"))
        short.append(row | {"width": cells["width"].mean()})
    return pd.DataFrame(short).round({"coverage": 1, "mc_se": 1, "held": 1, "worst": 1, "width": 3})


def main() -> None:
    """Go on with the samples, and print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rows", type=Path, default=Path("build/concordance_of_learners.csv"))
    parser.add_argument("--samples", type=int, default=200, help="of each cell")
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--quick", action="store_true", help="one sample of one cell")
    arguments = parser.parse_args()
    if arguments.quick:
        global N_RULES, N_REPEATS
        N_RULES = N_REPEATS = 3
        found = pd.DataFrame(list(rows_of(*CELLS[0], 0)), columns=[*COLUMNS, *VALUES])
        print(found.to_string(index=False))
        return
    simulate(arguments.rows, arguments.samples, arguments.seconds)
    table = table_of(pd.read_csv(arguments.rows))
    write_both(table, in_short(table), TABLE, IN_SHORT)


if __name__ == "__main__":
    main()
