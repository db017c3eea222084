"""How often do 95% intervals of metrics of fixed rules contain the true value?

The rules for such intervals were chosen on other problems, most of two classes. These were written
down before any was run: several classes, some of them rare; responses with skewness, heavy tails
and spread that grows; scores that are not normal, with few positives. True values are exact for
labels, and those of a million observations for the others. Blocks of samples are kept as they come,
and the script goes on where it was stopped.

    python studies/intervals/metrics.py --blocks build/metrics.csv --seconds 240
    python studies/intervals/metrics.py --blocks build/metrics.csv --table
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ucvtest as uv
from ucvtest.metrics.named import as_smooth_metric
from ucvtest.metrics.smooth import linearised

TABLE = Path(__file__).with_suffix(".csv")
COLUMNS = ("problem", "n_obs", "block", "metric", "target", "samples", "answered")
SUMS = ("covered", "below", "above", "rejected", "width")

BLOCK, BLOCKS = 50, 10
"""Samples of a block, and blocks of each cell."""

MANY = 10**6
"""Observations that the true value is from, where it has no formula."""

TARGETS = {"one": ("a",), "difference": ("a", "b")}
Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Problem:
    """Responses with the predictions of two rules; `equal` where these are exchangeable."""

    name: str
    sizes: tuple[int, ...]
    metrics: tuple[str, ...]
    draw: Draw
    equal: bool = False
    table: np.ndarray | None = None

    def truth(self, metric: str) -> tuple[float, float]:
        """The metric of the first rule, and the difference."""
        found = as_smooth_metric(metric)
        if self.table is not None:
            function = found.made_for(range(len(self.table)))
            of_each = (self.table.sum(axis=2), self.table.sum(axis=1))
            first, second = (function.value_and_gradient(each)[0] for each in of_each)
        else:
            y, *rules = self.draw(np.random.default_rng(0), MANY)
            function = found.made_for((0, 1))
            first, second = (linearised(function, y, rule).mean() for rule in rules)
        return float(first), 0.0 if self.equal else float(first - second)


OF_LABELS = ("f1_macro", "f1_weighted", "balanced_accuracy", "mcc", "kappa_quadratic")


def labels(
    name: str, shares: Any, right: tuple[float, float], together: float, sizes: tuple[int, ...]
) -> Problem:
    """Rules that are right with a probability, and err as one with another.

    Half of the errors of a class are the next class.
    """
    shares = np.asarray(shares, dtype=float)
    n_classes = len(shares)

    def errors(rate: float) -> np.ndarray:
        evenly = (1 - np.eye(n_classes)) / (n_classes - 1)
        wrong = 0.5 * evenly + 0.5 * np.roll(np.eye(n_classes), 1, axis=1)
        return rate * np.eye(n_classes) + (1 - rate) * wrong

    first, second = map(errors, right)
    alike = errors(sum(right) / 2)[:, :, None] * np.eye(n_classes)
    apart = first[:, :, None] * second[:, None]
    table = shares[:, None, None] * (together * alike + (1 - together) * apart)

    def draw(rng: np.random.Generator, n_obs: int) -> tuple[np.ndarray, ...]:
        cells = rng.choice(table.size, n_obs, p=table.ravel() / table.sum())
        return np.unravel_index(cells, table.shape)

    equal = right[0] == right[1]
    return Problem(name, sizes, OF_LABELS, draw, equal, table)  # type: ignore[arg-type]


OF_NUMBERS = ("r2", "pearson", "ccc", "rmse", "wape")


def skewed(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A log-normal response, and two rules that are alike."""
    signal = rng.normal(size=n)
    y = np.exp(0.7 * signal + 0.4 * rng.normal(size=n))
    return y, *(np.exp(0.7 * signal + 0.3 * rng.normal(size=n)) for _ in range(2))


def tailed(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Errors with Student's distribution; the second rule is noisier."""
    signal = 3 + rng.normal(size=n)
    y = signal + 0.7 * rng.standard_t(6, size=n)
    return y, signal + 0.3 * rng.normal(size=n), signal + 0.7 * rng.normal(size=n)


def growing(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spread that grows with the response; the second rule shrinks towards the mean."""
    signal = rng.uniform(1, 5, size=n)
    y = signal + 0.3 * signal * rng.normal(size=n)
    return y, signal, 3 + 0.6 * (signal - 3)


OF_SCORES = ("average_precision", "partial_auc(0.2)")


def scored(share: float, shift: float, *, alike: bool) -> Draw:
    """Gamma scores of one class, and the same with a shift of the other."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y = (rng.random(n) < share).astype(int)
        common = rng.gamma(2, size=n)
        rules = (
            common + rng.gamma(2, size=n) + weight * shift * y
            for weight in ((1, 1) if alike else (1, 0.5))
        )
        return y, *rules

    return draw


PROBLEMS = (
    labels("three_rare", (0.72, 0.2, 0.08), (0.8, 0.8), 0.4, (60, 150)),
    labels("five", (0.4, 0.25, 0.15, 0.12, 0.08), (0.75, 0.6), 0.5, (60, 200)),
    labels("ten", np.full(10, 0.1), (0.7, 0.7), 0.3, (40, 150)),
    Problem("skewed", (30, 60, 200), OF_NUMBERS, skewed, equal=True),
    Problem("tailed", (30, 60, 200), OF_NUMBERS, tailed),
    Problem("growing", (30, 60, 200), OF_NUMBERS, growing),
    Problem("scores_equal", (60, 200), OF_SCORES, scored(0.15, 2.0, alike=True), equal=True),
    Problem("scores_apart", (60, 200), OF_SCORES, scored(0.3, 3.0, alike=False)),
)


@cache
def truth_of(place: int, metric: str) -> tuple[float, float]:
    """The true values of a problem, by its place."""
    return PROBLEMS[place].truth(metric)


def block_of(problem: Problem, n_obs: int, block: int) -> Iterator[tuple]:
    """What the intervals of some samples do, a row for each metric and target."""
    truths = {metric: truth_of(PROBLEMS.index(problem), metric) for metric in problem.metrics}
    sums = {(metric, target): np.zeros(2 + len(SUMS)) for metric in truths for target in TARGETS}
    for number in range(block * BLOCK, (block + 1) * BLOCK):
        rng = np.random.default_rng([PROBLEMS.index(problem), n_obs, number])
        y, a, b = problem.draw(rng, n_obs)
        if len(np.unique(y)) < 2:
            continue  # which every metric of labels refuses
        losses = uv.Losses.from_predictions(y, {"a": a, "b": b}, metric=problem.metrics[0])
        for metric, truth in truths.items():
            about = losses.about(metric)
            for (target, who), value in zip(TARGETS.items(), truth, strict=True):
                result = uv.HoldOutTest.from_losses(about, *who).fit()
                low, high = result.conf_int()
                answers = not np.isnan(low)
                found = [answers, low <= value <= high, value < low, value > high]
                found += [result.pvalue <= 0.05, high - low if answers else 0.0]
                sums[metric, target] += [1, *found]
    for (metric, target), found in sums.items():
        yield problem.name, n_obs, block, metric, target, *(f"{x:.6g}" for x in found)


def simulate(path: Path, seconds: float) -> None:
    """Blocks of each problem and size in turn, until there are enough or time is up."""
    done = set()
    if path.exists():
        kept = pd.read_csv(path)
        done = set(zip(kept["problem"], kept["n_obs"], kept["block"], strict=True))
    start = time.process_time()
    with path.open("a", newline="") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", uv.UcvtestWarning)
        writer = csv.writer(file)
        if not done:
            writer.writerow(COLUMNS + SUMS)
        for block in range(BLOCKS):
            for problem in PROBLEMS:
                for n_obs in problem.sizes:
                    if (problem.name, n_obs, block) in done:
                        continue
                    if time.process_time() - start > seconds:
                        return
                    writer.writerows(list(block_of(problem, n_obs, block)))
                    file.flush()


def table_of(blocks: pd.DataFrame) -> pd.DataFrame:
    """Coverage and width of each cell, in percent of its samples."""
    equal = {problem.name: problem.equal for problem in PROBLEMS}
    keys = ["target", "problem", "n_obs", "metric"]
    sums = blocks.drop(columns="block").groupby(keys, sort=False).sum().reset_index()
    shares = sums[["covered", "below", "above"]].div(sums["answered"], axis=0)
    rejected = sums["rejected"] / sums["answered"]
    known = sums["problem"].map(equal) & (sums["target"] == "difference")
    found = sums[[*keys, "samples", "answered"]].astype({"samples": int, "answered": int})
    return found.assign(
        coverage=(100 * shares["covered"]).round(1),
        misses_below=(100 * shares["below"]).round(1),
        misses_above=(100 * shares["above"]).round(1),
        size=(100 * rejected).where(known).round(1),
        width=(sums["width"] / sums["answered"]).round(3),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--blocks", type=Path, required=True, help="CSV file that is appended to")
    parser.add_argument("--seconds", type=float, default=240, help="of the processor")
    parser.add_argument("--table", action="store_true", help="write the table of the package")
    arguments = parser.parse_args()
    if arguments.table:
        table_of(pd.read_csv(arguments.blocks)).to_csv(TABLE, index=False)
    else:
        simulate(arguments.blocks, arguments.seconds)


if __name__ == "__main__":
    main()
