"""Problems with tails in their losses, and a public benchmark as far as it can be simulated.

The benchmark is that of Schulz-Kuempel, Fischer, Nagler, Boulesteix, Bischl and Hornung (2024):
the populations of Bates, Hastie and Tibshirani, Friedman's first, "chen_10" with its null, and
blocks of correlated features. Each population has a problem with two linear learners, which are
quick, and one with a tree and a forest.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from studies.calibration.problem import (
    SEED,
    SIMULATED,
    Made,
    Problem,
    equally_good,
    makers,
    problem,
)

FEWER = 4000
"""Observations of populations with many features."""

Sampled = tuple[np.ndarray, np.ndarray]


# ----------------------------------------------------------------------- losses with tails


def _noisy(rng: np.random.Generator, noise: Callable[[int], Any]) -> Made:
    X = rng.normal(size=(SIMULATED, 5))
    return X, X @ np.full(5, 0.3) + noise(SIMULATED), ("ridge:20", "ridge:0")


@problem(201, loss="squared")
def t3_noise(rng: np.random.Generator) -> Made:
    """five features, noise with three degrees of freedom, squared loss;

    ridge against least squares
    """
    return _noisy(rng, lambda n: rng.standard_t(3, size=n))


@problem(202, loss="squared")
def exponential(rng: np.random.Generator) -> Made:
    """five features, exponential noise, squared loss; ridge against least squares"""
    return _noisy(rng, lambda n: rng.exponential(size=n) - 1)


@problem(203, loss="squared")
def contaminated(rng: np.random.Generator) -> Made:
    """five features, 5% of the noise five times as large, squared loss;

    ridge against least squares
    """
    return _noisy(rng, lambda n: rng.normal(size=n) * np.where(rng.random(n) < 0.05, 5, 1))


@problem(204, loss="squared", equal=True)
def equal_squared(rng: np.random.Generator) -> Made:
    """four features, exponential noise, squared loss;

    ridge on two of them against the other two, equally good
    """
    X = rng.normal(size=(SIMULATED // 2, 4))
    y = X @ np.full(4, 0.4) + rng.exponential(size=len(X)) - 1
    return equally_good("ridge:5", X, y)


# ------------------------------------------------------------------------- the benchmark


def _linear(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, p))
    return X, X[:, :5].sum(axis=1)


def bates(p: int, *, classes: bool) -> Sampled:
    """Five coefficients of one: logistic classes, or normal noise."""
    rng = np.random.default_rng([SEED, 210, p, classes])
    X, mean = _linear(rng, SIMULATED if p < 100 else FEWER, p)
    if classes:
        return X, (rng.random(len(X)) < 1 / (1 + np.exp(-mean))).astype(int)
    return X, mean + rng.normal(size=len(X))


def friedman() -> Sampled:
    """Friedman's first function of five of ten uniform features."""
    rng = np.random.default_rng([SEED, 211])
    X = rng.random((SIMULATED, 10))
    mean = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, mean + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=SIMULATED)


def chen_10(*, null: bool) -> Sampled:
    """Six uniform latents, each seen through ten noisy copies; a function of three of them."""
    rng = np.random.default_rng([SEED, 212, null])
    latent = rng.random((SIMULATED, 6))
    scales = 0.01 + 0.5 * np.arange(10) / 9
    noise = rng.normal(0.3, 1, size=(SIMULATED, 6, 10))
    X = (latent[:, :, None] + scales * noise).reshape(SIMULATED, 60)
    a, b, c = latent[:, :3].T
    if null:
        return X, rng.normal(size=SIMULATED)
    mean = 0.25 * np.exp(4 * a) + 4 / (1 + np.exp(-20 * (b - 0.5))) + 3 * c
    return X, mean + rng.normal(0, 0.2, size=SIMULATED)


def blocks(p: int) -> Sampled:
    """25 blocks of features with correlation .8, the first of each block informative."""
    rng = np.random.default_rng([SEED, 213, p])
    size = p // 25
    common = rng.normal(size=(FEWER, 25, 1))
    X = np.sqrt(0.8) * common + np.sqrt(0.2) * rng.normal(size=(FEWER, 25, size))
    mean = X[:, :, 0].sum(axis=1) / 5
    return X.reshape(FEWER, p), mean + rng.normal(size=FEWER)


POPULATIONS: dict[str, tuple[Callable[[], Sampled], str]] = {
    "bates_20": (partial(bates, 20, classes=False), "20 features, five coefficients of one"),
    "bates_100": (partial(bates, 100, classes=False), "100 features, five coefficients of one"),
    "bates_classes_20": (partial(bates, 20, classes=True), "20 features, logistic classes"),
    "bates_classes_100": (partial(bates, 100, classes=True), "100 features, logistic classes"),
    "friedman": (friedman, "Friedman's first function"),
    "chen": (partial(chen_10, null=False), "six latents in ten noisy copies each"),
    "chen_null": (partial(chen_10, null=True), "the same, the response independent of it"),
    "blocks_100": (partial(blocks, 100), "25 blocks of four features with correlation .8"),
    "blocks_400": (partial(blocks, 400), "25 blocks of 16 features with correlation .8"),
}


WORDS = {"logistic:0.1": "logistic regression", "gaussian_nb": "naive Bayes"}


def _of_population(name: str, *, trees: bool) -> Problem:
    make, words = POPULATIONS[name]
    X, y = make()
    classes = "classes" in name
    if trees:
        learners: tuple[Any, Any] = (
            (DecisionTreeClassifier(max_depth=5, random_state=0), _forest(RandomForestClassifier))
            if classes
            else (
                DecisionTreeRegressor(max_depth=5, random_state=0),
                _forest(RandomForestRegressor),
            )
        )
        pair = "a tree against a forest"
    elif classes:
        first = "logistic:0.1" if X.shape[1] <= 20 else "gaussian_nb"
        learners, pair = (first, "ridge:10"), f"{WORDS[first]} against ridge"
    else:
        # As many features as observations have no least squares.
        first = "ridge:0" if X.shape[1] <= 20 else "ridge:1"
        learners = (first, "ridge:30")
        pair = f"{'least squares' if first == 'ridge:0' else 'ridge'} against stronger ridge"
    loss = "zero_one" if classes else "squared"
    full = f"{name}_trees" if trees else name
    return Problem(full, f"{words}; {pair}", X, y, learners, loss=loss, benchmark=True)


def _forest(cls: Any) -> Any:
    return cls(n_estimators=25, min_samples_leaf=2, random_state=0, n_jobs=1)


MAKERS = (
    *makers(globals()),
    *(partial(_of_population, name, trees=False) for name in POPULATIONS),
    *(partial(_of_population, name, trees=True) for name in POPULATIONS),
)
