"""Problems of the study of planning, and which of them the rule was chosen on."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Sampler = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Problem:
    """Learners and the population that samples are drawn from."""

    name: str
    sampler: Sampler
    learners: tuple[str, ...]
    loss: str = "zero_one"
    use: str = "held out"
    """Whether the rule of ucvtest/planning/typical_variances.py was "chosen on" it. Those that are
    "fresh" were written down before the rule for squared losses was changed, and first run after
    it: the numbers of the "held out" ones, which served no choice, were known by then."""


def classes(shift: float, n_features: int = 5, share: float = 0.5, spread: float = 1.0) -> Sampler:
    """Two normal classes whose means differ in two features."""

    def sampler(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        y = (rng.random(n) < share).astype(int)
        X = rng.normal(size=(n, n_features))
        X[:, 0] += 2 * shift * y
        X[:, 1] = spread * X[:, 0] / 2 + X[:, 1] + shift * y
        return X, y

    return sampler


def regression(noise: Callable[[np.random.Generator, int], np.ndarray]) -> Sampler:
    """A linear regression on three of eight features."""

    def sampler(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.normal(size=(n, 8))
        return X, X[:, :3].sum(axis=1) / 2 + noise(rng, n)

    return sampler


def crossed(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes in opposite quadrants, which no line tells apart."""
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] * X[:, 1] + rng.normal(size=n) / 2 > 0).astype(int)


def quadratic(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes; one is spread out more."""
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, 3)) * np.where(y, 2.0, 1.0)[:, None]
    return X + y[:, None] * [1.0, 0.5, 0.0], y


def three_classes(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Three normal classes whose features are correlated."""
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 4)) + rng.normal(size=(n, 1))
    X[:, 0] += 1.5 * y
    X[:, 1] -= y == 2
    return X, y


def skewed(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes with lognormal features."""
    y = rng.integers(2, size=n)
    X = np.exp(rng.normal(size=(n, 4)))
    X[:, 0] *= 1 + 1.2 * y
    X[:, 1] += 0.8 * y
    return X, y


def chained(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes, each feature correlated with the one before."""
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, 6))
    for k in range(1, 6):
        X[:, k] = 0.8 * X[:, k - 1] + 0.6 * X[:, k]
    X[:, 0] += 0.9 * y
    X[:, 3] -= 0.4 * y
    return X, y


def four_classes(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Four normal classes at the corners of a square."""
    y = rng.integers(4, size=n)
    X = rng.normal(size=(n, 5))
    X[:, 0] += 2 * (y % 2)
    X[:, 1] += 2 * (y // 2)
    return X, y


def curved(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A regression on three features, on one of them along a wave."""
    X = rng.normal(size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(size=n) / 2


def normal(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=n)


def tailed(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.standard_t(5, size=n)


RIDGES, CENTRED = ("ridge:0.01", "ridge:30"), ("lda", "nearest_centroid")
CHOSEN, FRESH = {"use": "chosen on"}, {"use": "fresh"}

PROBLEMS = {
    each.name: each
    for each in (
        Problem("medium", classes(0.6), CENTRED, **CHOSEN),
        Problem("weak", classes(0.3), CENTRED, **CHOSEN),
        Problem("neighbours", classes(0.8), ("knn:3", "lda"), **CHOSEN),
        Problem("unstable", classes(0.5), ("knn:1", "knn:7"), **CHOSEN),
        Problem("imbalanced", classes(0.8, share=0.25), ("lda", "gaussian_nb"), **CHOSEN),
        Problem("wide", classes(0.8, n_features=14), CENTRED, **CHOSEN),
        Problem("one learner", classes(0.6), ("lda",), **CHOSEN),
        Problem("regression", regression(normal), RIDGES, "squared", **CHOSEN),
        Problem("tails", regression(tailed), RIDGES, "squared", **CHOSEN),
        Problem("no signal", classes(0.05), ("knn:3", "nearest_centroid"), **CHOSEN),
        Problem("absolute", regression(normal), ("ridge:1", "knn:5"), "absolute", **CHOSEN),
        Problem("logistic", classes(0.5), ("logistic:1", "gaussian_nb")),
        Problem("crossed", crossed, ("knn:5", "lda")),
        # It was to be one of those that serve no choice, and showed a rule too bold.
        Problem("quadratic", quadratic, ("qda", "lda"), **CHOSEN),
        Problem("three classes", three_classes, ("lda", "gaussian_nb")),
        Problem("dimensions", classes(0.8, n_features=30), ("nearest_centroid", "knn:5")),
        Problem("separate", classes(1.2), ("knn:1", "nearest_centroid")),
        Problem("one of neighbours", classes(0.5), ("knn:5",)),
        Problem("smooth", regression(normal), ("ridge:1", "knn:7"), "squared"),
        Problem("penalties", classes(0.5, n_features=10), ("ridge:1", "ridge:100"), **FRESH),
        Problem("bayes and neighbours", quadratic, ("gaussian_nb", "knn:5"), **FRESH),
        Problem("chained", chained, ("lda", "gaussian_nb"), **FRESH),
        Problem("skewed", skewed, ("lda", "knn:5"), **FRESH),
        Problem("four classes", four_classes, ("nearest_centroid", "knn:3"), **FRESH),
        Problem("one of quadratic", quadratic, ("qda",), **FRESH),
        Problem("rare", classes(0.9, share=0.15), ("lda", "knn:3"), **FRESH),
        Problem("curved", curved, ("ridge:1", "knn:5"), "squared", **FRESH),
    )
}
