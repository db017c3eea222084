"""How often do 95% intervals of weighted means of fixed rules contain the true value?

Rows are sampled with a standard normal feature x, and weigh exp(spread x), so that the estimand is
about a population with a mean of x of `spread`. The rules' losses depend on x too. The rules for
degrees of freedom were chosen on other problems: normal and chi-square losses and constant error
rates, with weights that losses did not depend on. Samples in which a few rows have nearly all of
the weight have no answer. `worth` is how many rows (clusters) of equal weight the weights are.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import numpy as np
from scipy.special import expit

import ucvtest as uv
from studies.coverage import Study, one_and_difference
from ucvtest.data.groups import kish_size

SIZES, SPREADS, ROWS_OF_CLUSTERS = (30, 100), (0.0, 0.5, 1.0, 1.3), 2

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


def feature(rng: np.random.Generator, problem: str, n: int, mean: float = 0.0) -> np.ndarray:
    """The feature of each row; the rows of a cluster share it."""
    if problem != "clusters":
        return rng.normal(mean, size=n)
    return np.repeat(rng.normal(mean, size=n // ROWS_OF_CLUSTERS), ROWS_OF_CLUSTERS)


@cache
def truth(problem: str, spread: float) -> tuple[float, float]:
    """The mean losses of both rules in the population."""
    rng, n = np.random.default_rng(1), 3 * 10**6
    first, second = PROBLEMS[problem][1](rng, feature(rng, problem, n, spread))
    return float(first.mean()), float(second.mean())


def losses_of(problem: str, drawn: Drawn, weights: np.ndarray, groups: np.ndarray) -> uv.Losses:
    """The losses as the package has them, from predictions that have them."""
    loss, _ = PROBLEMS[problem]
    as_predicted = {"zero_one": lambda values: values.astype(int), "squared": np.sqrt}
    predicted = as_predicted.get(loss, lambda values: values)
    return uv.Losses.from_predictions(
        np.zeros(len(weights), dtype=int if loss == "zero_one" else float),
        {name: predicted(values) for name, values in zip("ab", drawn, strict=True)},
        loss=loss,
        sample_weight=weights,
        groups=groups if problem == "clusters" else None,
    )


def sample(problem: str, n: int, spread: float, number: int) -> Iterator[tuple]:
    """An answer for each target."""
    rng = np.random.default_rng([[*PROBLEMS].index(problem), n, round(10 * spread), number])
    x, groups = feature(rng, problem, n), np.arange(n) // ROWS_OF_CLUSTERS
    weights = np.exp(spread * x)
    losses = losses_of(problem, PROBLEMS[problem][1](rng, x), weights, groups)
    worth = kish_size(np.bincount(groups, weights) if problem == "clusters" else weights)
    for row in one_and_difference(uv.HoldOutTest, losses, truth(problem, spread)):
        yield *row, worth


CELLS = product(PROBLEMS, SIZES, SPREADS)
STUDY = Study(sample, ("target",), CELLS, 300, more={"worth": "mean"})

if __name__ == "__main__":
    STUDY.main()
