"""Coverage and width of the intervals of F1, MCC, R2 and their like, of rules that are fixed.

Samples are drawn from populations whose metrics are known: tables of (class, first, second
prediction), numbers with noise of several kinds, and clusters of rows. Each sample is tested by
`HoldOutTest`: the first rule alone, and its difference to the second. With more than two classes
only the difference: several_classes.py has the rule alone. None of these populations
was looked at when the rules were chosen. Rows come in batches of 100 samples, and the script goes
on where it was stopped.

    python studies/intervals/metrics_of_rules.py --seconds 600
    python studies/intervals/metrics_of_rules.py --table
"""

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.resuming import add_rows

BATCH, SIZES = 100, (30, 60, 200)
TABLE = Path(__file__).with_suffix(".csv")
COLUMNS = ("problem", "n", "batch", "metric", "target", "samples", "answered", "covered", "below")
COLUMNS += ("rejected", "width")

OF_TWO = ("precision", "recall", "specificity", "npv", "f1", "fbeta(2)", "jaccard")
OF_TWO += ("balanced_accuracy", "g_mean", "mcc", "kappa")
OF_SEVERAL = ("f1_macro", "f1_weighted", "precision_macro", "balanced_accuracy", "mcc", "kappa")
OF_SEVERAL += ("kappa_quadratic",)
OF_NUMBERS = ("r2", "rmse", "pearson", "ccc", "wape")

Sample = tuple[np.ndarray, np.ndarray, np.ndarray, Any]
"""Response, both predictions, and groups or None."""


@dataclass(frozen=True)
class Population:
    """Samples of n observations, and the metrics that are asked for; `large` draws one for truth.

    `least` are the rows of the rarest class, as a share.
    """

    draw: Callable[[int, np.random.Generator], Sample]
    metrics: tuple[str, ...]
    least: float = 1.0
    sizes: tuple[int, ...] = SIZES


def of_two(share: float, first: tuple, second: tuple, agree: float = 0.5) -> Population:
    """Two classes; sensitivity and specificity of each rule, which often err together."""

    def draw(n: int, rng: np.random.Generator) -> Sample:
        y = (rng.random(n) < share).astype(int)
        common, own = rng.random((2, n))
        a = np.where(common < np.where(y == 1, *first), y, 1 - y)
        apart = np.where(rng.random(n) < agree, common, own)
        b = np.where(apart < np.where(y == 1, *second), y, 1 - y)
        return y, a, b, None

    return Population(draw, OF_TWO, min(share, 1 - share))


def of_several(shares: tuple, right: float, other: float) -> Population:
    """Several classes; errors go to classes next to the true one more often than elsewhere."""
    number, shares = len(shares), np.array(shares) / np.sum(shares)

    def predicted(y: np.ndarray, rate: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        step = rng.choice([-1, 1, 2], size=len(y), p=[0.4, 0.4, 0.2])
        return np.where(rate < right, y, (y + step) % number)

    def draw(n: int, rng: np.random.Generator) -> Sample:
        y = rng.choice(number, size=n, p=shares)
        rate = rng.random(n)
        a = predicted(y, rate, rng)
        b = predicted(y, np.where(rng.random(n) < 0.5, rate, rng.random(n)) + right - other, rng)
        return y, a, b, None

    return Population(draw, OF_SEVERAL, float(shares.min()), (60, 200))


def of_numbers(noise: Callable[[np.random.Generator, Any], np.ndarray]) -> Population:
    """A signal with noise, one rule that knows most of it and one that knows less."""

    def draw(n: int, rng: np.random.Generator) -> Sample:
        known, hidden = rng.normal(size=(2, n))
        y = 5 + known + 0.5 * hidden + 0.7 * noise(rng, n)
        return y, 5 + known, 5 + 0.6 * known + 0.3 * hidden, None

    return Population(draw, OF_NUMBERS)


def in_clusters(n_clusters: int, spread: float) -> Population:
    """Six rows a cluster, which are easy or hard together."""

    def draw(n: int, rng: np.random.Generator) -> Sample:
        groups = np.repeat(np.arange(n // 6), 6)
        y = (rng.random(n) < 0.35).astype(int)
        ease = np.repeat(rng.normal(0, spread, n // 6), 6)
        chance = 1 / (1 + np.exp(-(1.2 + ease)))
        rate = rng.random(n)
        a = np.where(rate < chance, y, 1 - y)
        other = np.where(rng.random(n) < 0.5, rate, rng.random(n))
        b = np.where(other < chance - 0.07, y, 1 - y)
        return y, a, b, groups

    metrics = ("f1", "balanced_accuracy", "mcc")
    return Population(draw, metrics, 0.35, (6 * n_clusters,))


def normal(rng: np.random.Generator, n: Any) -> np.ndarray:
    return rng.normal(size=n)


def tailed(rng: np.random.Generator, n: Any) -> np.ndarray:
    return rng.standard_t(5, size=n) * 0.77


def skewed(rng: np.random.Generator, n: Any) -> np.ndarray:
    return rng.exponential(size=n) - 1


PROBLEMS = {
    "even": of_two(0.5, (0.8, 0.75), (0.7, 0.7)),
    "equal": of_two(0.4, (0.75, 0.8), (0.75, 0.8)),
    "rare": of_two(0.15, (0.7, 0.9), (0.6, 0.93)),
    "good": of_two(0.3, (0.95, 0.97), (0.9, 0.95)),
    "alike": of_two(0.35, (0.7, 0.85), (0.7, 0.83), agree=0.9),
    "three": of_several((6, 3, 1), 0.75, 0.68),
    "five": of_several((1, 1, 1, 1, 1), 0.7, 0.6),
    "eight_uneven": of_several((8, 6, 5, 4, 3, 2, 2, 2), 0.65, 0.6),
    "normal": of_numbers(normal),
    "tailed": of_numbers(tailed),
    "skewed": of_numbers(skewed),
    "clusters_10": in_clusters(10, 1.0),
    "clusters_20": in_clusters(20, 1.0),
    "clusters_50": in_clusters(50, 1.0),
}


def losses_of(drawn: Sample, metric: str) -> Any:
    y, a, b, groups = drawn
    with warnings.catch_warnings():
        # Labels that are missing in a small sample of y.
        warnings.simplefilter("ignore")
        return uv.Losses.from_predictions(y, {"a": a, "b": b}, metric=metric, groups=groups)


@cache
def truth(problem: str) -> dict[str, tuple[float, float]]:
    """Each metric of the first rule, and the difference, in a sample of two million."""
    population = PROBLEMS[problem]
    drawn = population.draw(1_999_998, np.random.default_rng(1))
    kept = losses_of((*drawn[:3], None), population.metrics[0])
    found = {}
    for metric in population.metrics:
        first, second = kept.about(metric).means[:, 0]
        found[metric] = float(first), float(first - second)
    return found


def batch_rows(problem: str, n: int, batch: int) -> list[tuple]:
    """What a hundred samples say, a row for each metric and target."""
    population, real = PROBLEMS[problem], truth(problem)
    sums: dict[tuple[str, str], np.ndarray] = {}
    for number in range(BATCH):
        rng = np.random.default_rng([list(PROBLEMS).index(problem), n, BATCH * batch + number])
        drawn = population.draw(n, rng)
        if population.metrics is not OF_NUMBERS and len(np.unique(drawn[0])) < 2:
            continue
        kept = losses_of(drawn, population.metrics[0])
        for metric in population.metrics:
            about = kept.about(metric)
            for target, value in zip(("one", "difference"), real[metric], strict=True):
                if target == "one" and population.metrics is OF_SEVERAL:
                    continue
                found = uv.HoldOutTest.from_losses(
                    about, "a", "b"[: target == "difference"] or None
                )
                low, high = found.fit().conf_int()
                answered = not np.isnan(low)
                counts = [1, answered, low <= value <= high, high < value, not low <= 0 <= high]
                each = sums.setdefault((metric, target), np.zeros(6))
                each += [*counts, high - low if answered else 0]
    return [
        (problem, n, batch, *key, *found[:5].astype(int), found[5]) for key, found in sums.items()
    ]


def in_short(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each problem, size, metric and target, with the standard error of coverage."""
    names = ["samples", "answered", "covered", "below", "rejected", "width"]
    cells = rows.groupby(["problem", "n", "metric", "target"], sort=False)[names].sum()
    answered = cells["answered"]
    covered = cells["covered"] / answered
    found = pd.DataFrame(
        {
            "samples": cells["samples"].astype(int),
            "covered": covered.round(4),
            "se": np.sqrt(covered * (1 - covered) / answered).round(4),
            "missed_above": (cells["below"] / answered).round(4),
            "rejects_0": (cells["rejected"] / answered).round(4),
            "width": (cells["width"] / answered).round(4),
        }
    ).reset_index()
    truths = [
        truth(problem)[metric]
        for problem, metric in zip(found["problem"], found["metric"], strict=True)
    ]
    found["truth"] = [
        round(pair[target == "difference"], 4)
        for pair, target in zip(truths, found["target"], strict=True)
    ]
    least = [
        PROBLEMS[problem].least * n for problem, n in zip(found["problem"], found["n"], strict=True)
    ]
    found["rarest"] = np.round(least, 1)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rows", type=Path, default=Path("build/metrics_of_rules.csv"))
    parser.add_argument("--batches", type=int, default=10, help="of each problem and size")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--quick", action="store_true", help="one batch, nothing kept")
    parser.add_argument("--table", action="store_true", help="write the table of what there is")
    arguments = parser.parse_args()
    if arguments.quick:
        rows = pd.DataFrame(batch_rows("clusters_10", 60, 0), columns=list(COLUMNS))
        print(in_short(rows).to_string(index=False))
        return
    if not arguments.table:
        wanted = [
            (problem, n, batch)
            for batch in range(arguments.batches)
            for problem, population in PROBLEMS.items()
            for n in population.sizes
        ]
        add_rows(arguments.rows, COLUMNS, COLUMNS[:3], wanted, batch_rows, arguments.seconds)
    table = in_short(pd.read_csv(arguments.rows))
    table.to_csv(TABLE, index=False)
    enough = table[table["rarest"] >= 5]
    print(enough.groupby(["metric", "target"])["covered"].agg(["mean", "min", "size"]).round(3))


if __name__ == "__main__":
    main()
