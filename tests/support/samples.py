"""Samples and learning sets that tests share: programs are compiled for few shapes.

A test of tests or metrics takes one of the first four; those of learners take real data.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from ucvtest.common.execution import Execution
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample, make_sample
from ucvtest.data.survival_times import SurvivalTimes
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.learners.base import Predictions

N_SETS = 60


class Given(NamedTuple):
    """Two classes by 0 and 1, or three by 0, 1 and 2; amounts; and groups of two rows."""

    X: np.ndarray
    y: np.ndarray
    amounts: np.ndarray
    groups: np.ndarray


def _given(n_obs: int, n_columns: int, n_classes: int = 2) -> Given:
    """Classes in turn, that the first feature tells apart in part."""
    rng = np.random.default_rng(n_obs)
    y = np.arange(n_obs) % n_classes
    X = rng.normal(size=(n_obs, n_columns))
    X[:, 0] += y
    amounts = X.sum(axis=1) + rng.normal(size=n_obs)
    return Given(X, y, amounts, rng.permutation(np.arange(n_obs) // 2))


TINY = _given(8, 1)
"""For what enumerates all learning sets."""

SMALL = _given(24, 2)

PAIRED = _given(40, 3)
"""In twenties of two: groups, folds of four or five, halves."""

CLASSES = _given(60, 3, n_classes=3)


def breast_cancer(n_obs: int = 100, n_columns: int = 5) -> Sample:
    """Some patients of WDBC in standard units; the columns are far from collinear."""
    X, y = load_breast_cancer(return_X_y=True)
    chosen = np.random.default_rng(1).permutation(len(y))[:n_obs]
    columns = np.array([1, 4, 6, 8, 9, 11, 14, 0, 18, 24])[:n_columns]
    X = X[chosen][:, columns]
    return make_sample((X - X.mean(axis=0)) / X.std(axis=0), y[chosen], as_classes=True)


def iris() -> Sample:
    """Three classes, by their names; many equal rows and distances."""
    bunch = load_iris()
    return make_sample(bunch.data, bunch.target_names[bunch.target], as_classes=True)


def diabetes(n_obs: int = 100) -> Sample:
    """A real response."""
    X, y = load_diabetes(return_X_y=True)
    return make_sample(10 * X[:n_obs], y[:n_obs] / 100, as_classes=False)


def patients(n_obs: int = 60, n_columns: int = 3) -> Sample:
    """Simulated survival times, some of them equal, a third of them censored."""
    rng = np.random.default_rng(49)
    x = rng.normal(size=(n_obs, n_columns))
    time = np.ceil(rng.exponential(20 * np.exp(-x[:, 0])))
    return make_sample(x, SurvivalTimes(time, rng.random(n_obs) < 2 / 3), as_classes=False)


def learning_sets(sample: Sample, learn_size: int, n_sets: int = N_SETS) -> np.ndarray:
    """Random learning sets of one size, shape (n_sets, n)."""
    rng = np.random.default_rng(7)
    first = np.arange(sample.n_obs) < learn_size
    return rng.permuted(np.tile(first, (n_sets, 1)), axis=1)


def rows_class_by_class(
    rng: np.random.Generator, n_rows: int, sizes: Sequence[int], chosen: Sequence[int]
) -> np.ndarray:
    """A number of observations of each class, drawn for each row; the first class comes first."""
    parts = [
        rng.permuted(np.tile(np.arange(n) < k, (n_rows, 1)), axis=1)
        for n, k in zip(sizes, chosen, strict=True)
    ]
    return np.hstack(parts)


def evaluate(
    sample: Sample,
    learner: Any,
    output: Output,
    learning: np.ndarray,
    n_jobs: int | None = None,
    batch_size: int | None = None,
) -> Predictions:
    """Predictions of all observations that are not learnt from."""
    execution = Execution.of(0, n_jobs, batch_size)
    evaluator = Evaluator(sample, as_learner(learner), output, execution)
    return evaluator.predict(learning, ~learning, np.arange(len(learning)))
