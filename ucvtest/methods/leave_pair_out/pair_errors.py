"""Leave-pair-out errors of one learner for many labelings of one sample, the fastest way it has."""

from collections import Counter
from typing import Protocol

import numpy as np

from ucvtest.data.sample import Sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.kernels.leave_pair_out import nearest_neighbour_errors, smoother_errors
from ucvtest.learners.adapters.translate import TranslatedLearner
from ucvtest.learners.base import JittedLearner, Learner
from ucvtest.learners.batching import squared_distances
from ucvtest.learners.closed_forms.held_out import hat_matrix
from ucvtest.learners.jitted.kernel_ridge import KernelRidge
from ucvtest.learners.jitted.neighbors import NearestNeighbors, SurestNeighbors
from ucvtest.learners.jitted.ridge import Ridge

__all__ = ["PairErrors", "pair_errors"]


CELLS_PER_BATCH = 4_000_000
"""Numbers in the arrays of one batch of fits: 32 MB each."""


class PairErrors(Protocol):
    """What counts the errors."""

    how: str
    """"closed form", "jitted fits" or "fits"."""
    ties: Counter[str]
    """How often a learner's own rule for ties decided, where the fits tell."""

    def count(
        self, labelings: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Wrong and tied pairs, each (P,), of labelings (P, n) with True for positive."""


def pair_errors(sample: Sample, learner: Learner, n_jobs: int | None = None) -> PairErrors:
    """The closed form of a learner that has one, otherwise fits without every pair.

    Parameters
    ----------
    sample : Sample
        With two classes.
    learner : Learner
    n_jobs : int, optional
        Workers for learners that are not jitted.

    Returns
    -------
    PairErrors

    Raises
    ------
    ValueError
        If the fit of a linear smoother is not determined without some pair.
    """
    inner = learner.jitted if isinstance(learner, TranslatedLearner) else learner
    if isinstance(inner, (Ridge, KernelRidge)) and not getattr(inner, "standardize", False):
        try:
            return _SmootherErrors(sample, inner)
        except ValueError:
            # scikit-learn has a rule of its own for equations that are singular.
            if inner is learner:
                raise
    if isinstance(inner, (NearestNeighbors, SurestNeighbors)):
        nearest, tied = _nearest(sample, inner.k)
        if not (tied and isinstance(inner, SurestNeighbors)):
            return _NeighbourErrors(nearest, tied)
    return _RefittedErrors(sample, learner, n_jobs)


class _SmootherErrors:
    """Ridge and kernel ridge: the hat matrix is that of every labeling."""

    how = "closed form"

    def __init__(self, sample: Sample, learner: Ridge | KernelRidge) -> None:
        self._hat = hat_matrix(learner, sample.matrix, sample.n_obs - 2)
        self.ties: Counter[str] = Counter()
        # Whether the others determine the fit depends on no label: found out before all else.
        smoother_errors(self._hat, np.zeros((0, sample.n_obs), dtype=bool))

    def count(
        self, labelings: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Wrong and tied pairs."""
        return smoother_errors(self._hat, labelings)


class _NeighbourErrors:
    """k nearest neighbours: one sort is that of every labeling."""

    how = "closed form"

    def __init__(self, nearest: np.ndarray, n_tied: int) -> None:
        self._nearest = nearest
        self.ties = Counter(distance_ties=n_tied)

    def count(
        self, labelings: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Wrong and tied pairs."""
        return nearest_neighbour_errors(self._nearest, labelings)


class _RefittedErrors:
    """Any learner, fitted again without every pair for every labeling."""

    def __init__(self, sample: Sample, learner: Learner, n_jobs: int | None) -> None:
        self._evaluator = Evaluator(sample, learner, "score", n_jobs=n_jobs)
        jitted = isinstance(learner, (JittedLearner, TranslatedLearner))
        self.how = "jitted fits" if jitted else "fits"
        self.ties: Counter[str] = Counter()

    def count(
        self, labelings: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Wrong and tied pairs."""
        n_obs = labelings.shape[1]
        n_pairs = int(labelings[0].sum()) * int((~labelings[0]).sum())
        size = max(1, CELLS_PER_BATCH // (n_pairs * n_obs))
        parts = [
            self._count(labelings[start : start + size], rng)
            for start in range(0, len(labelings), size)
        ]
        wrong, tied = np.concatenate(parts, axis=1)
        return wrong, tied

    def _count(self, labelings: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        labeling, first, second = np.nonzero(labelings[:, :, None] & ~labelings[:, None])
        fits = np.arange(len(labeling))
        testing = np.zeros((len(fits), labelings.shape[1]), dtype=bool)
        testing[fits, first] = testing[fits, second] = True
        seeds = rng.integers(2**31 - 1, size=len(fits))
        found = self._evaluator.predict_labelings(
            labelings[labeling].astype(float), seeds, ~testing, testing
        )
        self.ties.update(found.ties)
        positive, negative = found.values[fits, first], found.values[fits, second]
        each = np.stack([positive < negative, positive == negative])
        return each.reshape(2, len(labelings), -1).sum(axis=2)


def _nearest(sample: Sample, k: int) -> tuple[np.ndarray, int]:
    """The k + 1 nearest others (n, k + 1), and how many have equally distant ones among them."""
    distance = squared_distances(sample.matrix)
    np.fill_diagonal(distance, -1.0)
    order = np.argsort(distance, axis=1, kind="stable")[:, 1:]
    ranked = np.take_along_axis(distance, order, axis=1)[:, : k + 2]
    return order[:, : k + 1], int((ranked[:, 1:] == ranked[:, :-1]).any(axis=1).sum())
