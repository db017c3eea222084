"""Coverage and width of the intervals of F1, MCC, R2 and their like, of rules that are fixed.

Samples are drawn from populations whose metrics are known: tables of (class, first, second
prediction), numbers with noise of several kinds, and clusters of rows. Each sample is tested by
`HoldOutTest`: the first rule alone, and its difference to the second. None of these populations
was looked at when the rules were chosen, but "three", "five" and "eight_uneven" for one rule alone:
the ten that begin with "many" are in their place.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import ucvtest as uv
from studies.coverage import Study, one_and_difference

SIZES, LEAST_ROWS = (30, 60, 200), 5
OF_TWO = ("precision", "recall", "specificity", "npv", "f1", "fbeta(2)", "jaccard")
OF_TWO += ("balanced_accuracy", "g_mean", "mcc", "kappa")
OF_SEVERAL = ("f1_macro", "f1_weighted", "precision_macro", "balanced_accuracy", "mcc", "kappa")
OF_SEVERAL += ("kappa_quadratic",)
OF_MANY = ("jaccard_macro", "g_mean", "kappa_linear")
OF_NUMBERS = ("r2", "rmse", "pearson", "ccc", "wape")

Sample = tuple[np.ndarray, np.ndarray, np.ndarray, Any]
"""Response, both predictions, and groups or None."""


@dataclass(frozen=True)
class Population:
    """Samples of n observations, and metrics; `least` is the share of the rarest class."""

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


def of_many(seed: int) -> Population:
    """Three to eight classes in some proportion, and two rules with errors of some kind.

    The second rule is as good as the first, and agrees with it in half of the rows.
    """
    rng = np.random.default_rng([4848, seed])
    number = int(rng.integers(3, 9))
    shares = np.maximum(rng.dirichlet(np.full(number, rng.choice([1.5, 4, 20]))), 0.03)
    shares = np.sort(shares / shares.sum())[::-1]
    right = np.clip(rng.uniform(0.5, 0.93) + rng.normal(0, 0.08, number), 0.3, 0.97)
    apart = np.abs(np.subtract.outer(np.arange(number), np.arange(number)))
    errors = (
        np.exp(-apart * rng.uniform(0.7, 1.6)),
        rng.dirichlet(np.full(number, 0.7), size=number),
        np.tile(shares, (number, 1)),
    )[seed % 3] * (apart > 0)
    cells = errors / errors.sum(axis=1, keepdims=True) * (1 - right)[:, None] + np.diag(right)

    def draw(n: int, rng: np.random.Generator) -> Sample:
        y = rng.choice(number, size=n, p=shares)
        first, other = (
            np.minimum((rng.random(n)[:, None] > cells.cumsum(axis=1)[y]).sum(axis=1), number - 1)
            for _ in range(2)
        )
        return y, first, np.where(rng.random(n) < 0.5, first, other), None

    sizes = tuple(n for n in (60, 120, 250) if shares[-1] * n >= LEAST_ROWS)
    return Population(draw, (*OF_SEVERAL, *OF_MANY), float(shares[-1]), sizes)


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
    **{f"many_{seed}": of_many(seed) for seed in range(10)},
    "normal": of_numbers(normal),
    "tailed": of_numbers(tailed),
    "skewed": of_numbers(skewed),
    "clusters_10": in_clusters(10, 1.0),
    "clusters_20": in_clusters(20, 1.0),
    "clusters_50": in_clusters(50, 1.0),
}


def losses_of(drawn: Sample, metric: str) -> uv.Losses:
    y, a, b, groups = drawn
    return uv.Losses.from_predictions(y, {"a": a, "b": b}, metric=metric, groups=groups)


@cache
def truth(problem: str) -> dict[str, tuple[float, float]]:
    """Each metric of both rules, in a sample of two million."""
    population = PROBLEMS[problem]
    drawn = population.draw(1_999_998, np.random.default_rng(1))
    kept = losses_of((*drawn[:3], None), population.metrics[0])
    return {metric: tuple(kept.about(metric).means[:, 0]) for metric in population.metrics}


def sample(problem: str, n: int, number: int) -> Iterator[tuple]:
    """An answer for each metric and target."""
    population, values = PROBLEMS[problem], truth(problem)
    drawn = population.draw(n, np.random.default_rng([[*PROBLEMS].index(problem), n, number]))
    if population.metrics != OF_NUMBERS and len(np.unique(drawn[0])) < 2:
        return
    kept = losses_of(drawn, population.metrics[0])
    for metric in population.metrics:
        about = kept.about(metric)
        for target, *numbers in one_and_difference(uv.HoldOutTest, about, values[metric]):
            yield metric, target, round(population.least * n, 1), *numbers


CELLS = [(problem, n) for problem, population in PROBLEMS.items() for n in population.sizes]
STUDY = Study(sample, ("metric", "target", "rarest"), CELLS, 1000)

if __name__ == "__main__":
    STUDY.main()
