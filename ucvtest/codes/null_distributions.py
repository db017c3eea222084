"""Distributions of the number of leave-pair-out errors where labels are independent of features."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from ucvtest.codes.wilcoxon import wilcoxon_shares

WHOLE_NUMBERS = 4_000_000
"""Steps in which a distribution is computed in whole numbers, for a second or two."""

RARE, WHOLE_NUMBERS_OF_RARE = 20, 10_000_000
"""Size below which a class is rare, and its steps, for some seconds: tilted distributions of few
observations are not close to normal, so `wilcoxon_shares` has fewer correct digits."""

CELLS_PER_BATCH = 1_000_000
"""Numbers in the largest array of a batch of simulated samples: 8 MB."""


@dataclass(frozen=True, eq=False)
class NullDistribution:
    """How often each number of errors occurs, in ascending order; halves are possible, for ties.

    To `sampled` counts the observed one is added.
    """

    errors: np.ndarray
    counts: np.ndarray
    sampled: bool

    @classmethod
    def of(cls, errors: np.ndarray, *, sampled: bool) -> "NullDistribution":
        """The distribution of some numbers of errors."""
        values, counts = np.unique(errors, return_counts=True)
        return cls(values, counts, sampled)

    @property
    def probabilities(self) -> np.ndarray:
        """Share of each number of errors."""
        if self.counts.dtype.kind == "f":
            return self.counts
        total = int(self.counts.sum())
        return np.array([int(count) / total for count in self.counts])

    def pvalue(self, n_errors: float) -> float:
        """P(W <= n_errors); with (count + 1)/(size + 1) for a sample."""
        below = self.counts[self.errors <= n_errors].sum()
        if self.counts.dtype.kind == "f":
            # Probabilities sum to 1 but for rounding errors.
            return min(float(below), 1.0)
        # Whole numbers are divided with correct rounding, however large they are.
        return (int(below) + self.sampled) / (int(self.counts.sum()) + self.sampled)

    def critical_value(self, alpha: float) -> float:
        """The largest number of errors with a p-value of at most alpha; -1 if there is none."""
        below = np.cumsum(self.counts)
        if self.counts.dtype.kind == "f":
            n_rejected = int(np.searchsorted(below, alpha, side="right"))
            return float(self.errors[n_rejected - 1]) if n_rejected else -1.0
        total = int(below[-1]) + self.sampled
        rejected = [(int(count) + self.sampled) / total <= alpha for count in below]
        return float(self.errors[rejected][-1]) if any(rejected) else -1.0


@cache
def wilcoxon_null(n: int, weight: int) -> NullDistribution:
    """Distribution of the number of errors of a function that does not depend on the labels: exact.

    Pahikkala et al. (2025), (9), the Wilcoxon-Mann-Whitney distribution, as whole numbers out of
    C(n, weight); of large samples as probabilities, which are exact but for rounding errors: see
    `wilcoxon_shares`. The counts are the coefficients of the Gaussian binomial ``prod_i (1 - q^(n -
    w + i))/(1 - q^i)``, which satisfy that recursion.
    """
    w = min(weight, n - weight)
    size = w * (n - w) + 1
    if size * w > (WHOLE_NUMBERS_OF_RARE if w < RARE else WHOLE_NUMBERS):
        return NullDistribution(np.arange(size, dtype=float), wilcoxon_shares(n, w), sampled=False)
    counts = np.zeros(size, dtype=object)
    counts[0] = 1
    for i in range(1, w + 1):
        shift = n - w + i
        shifted = counts[:-shift].copy() if shift < size else counts[:0]
        counts[shift:] = counts[shift:] - shifted
        for residue in range(i):
            counts[residue::i] = np.add.accumulate(counts[residue::i])
    return NullDistribution(np.arange(size, dtype=float), counts, sampled=False)


@dataclass(frozen=True)
class Setting:
    """A learner on samples from one distribution, the same for both classes.

    Every feature is N(0, 1), or an equal `mixture` of N(-2, 1) and N(2, 1).
    """

    name: str
    n_features: int
    mixture: bool
    learner: str

    def draw(self, rng: np.random.Generator, n_samples: int, n: int) -> np.ndarray:
        """Samples of shape (n_samples, n, n_features)."""
        X = rng.normal(size=(n_samples, n, self.n_features))
        if self.mixture:
            # One of the two components for each observation, in all of its features.
            X += rng.choice([-2.0, 2.0], size=(n_samples, n, 1))
        return X


SETTINGS = tuple(
    Setting(
        f"{learner}, {n_features} {'feature' if n_features == 1 else 'features'}, "
        f"{'mixture' if mixture else 'normal'}",
        n_features,
        mixture,
        learner,
    )
    for learner in ("ridge", "knn")
    for mixture in (False, True)
    for n_features in (1, 10)
)
"""The eight settings of Pahikkala et al. (2025), section 4.1. The paper does not give its mixtures;
these are chosen well separated."""

RIDGE_PENALTY = 1.0
N_NEIGHBOURS = 3


def simulated_nulls(
    n0: int, n1: int, n_simulations: int, rng: np.random.Generator
) -> dict[str, NullDistribution]:
    """Distributions of the number of errors over samples without signal, by `SETTINGS`.

    Pahikkala et al. (2025), section 4.1; without neighbours where n0 + n1 < 5. Observations are
    exchangeable, so the first n1 can always be the positive ones. Cost: O(n^2 p) for each sample.
    """
    n = n0 + n1
    nulls = {}
    for setting in SETTINGS:
        if setting.learner == "knn" and n - 2 < N_NEIGHBOURS:
            continue
        size = max(1, CELLS_PER_BATCH // n**2)
        sizes = (min(size, n_simulations - n_done) for n_done in range(0, n_simulations, size))
        error_batches = [
            sample_errors(setting.learner, setting.draw(rng, n_samples, n), n1)
            for n_samples in sizes
        ]
        nulls[setting.name] = NullDistribution.of(np.concatenate(error_batches), sampled=True)
    return nulls


def sample_errors(learner: str, X: np.ndarray, n1: int) -> np.ndarray:
    """Leave-pair-out errors, ties one half, in many samples (R, n, p), the first n1 positive.

    By ridge regression with penalty 1, or 3 nearest neighbours, which need distances without ties.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.codes.null_distributions import sample_errors
    >>> X = np.array([[5.0], [6.5], [7.0], [1.0], [2.5], [3.0]])
    >>> sample_errors("ridge", X[None], 3), sample_errors("ridge", -X[None], 3)
    (array([0.]), array([0.]))
    """
    return _ridge_errors(X, n1) if learner == "ridge" else _neighbour_errors(X, n1)


def _ridge_errors(X: np.ndarray, n1: int) -> np.ndarray:
    """Errors of ridge regression in each sample (R,): see `ucvtest.kernels.leave_pair_out`."""
    n = X.shape[1]
    centred = X - X.mean(axis=1, keepdims=True)
    gram = np.swapaxes(centred, 1, 2) @ centred + RIDGE_PENALTY * np.eye(X.shape[2])
    hat = 1.0 / n + centred @ np.linalg.solve(gram, np.swapaxes(centred, 1, 2))
    residual = (np.arange(n) < n1) - hat[:, :, :n1].sum(axis=2)
    one_minus_leverage = 1.0 - np.diagonal(hat, axis1=1, axis2=2)
    of_pair = hat[:, :n1, n1:]
    first = one_minus_leverage[:, :n1, None]
    second = one_minus_leverage[:, None, n1:]
    lost = (second - of_pair) * residual[:, :n1, None] - (first - of_pair) * residual[:, None, n1:]
    # Continuous features: no ties.
    return (lost > first * second - of_pair**2).sum(axis=(1, 2)).astype(float)


def _neighbour_errors(X: np.ndarray, n1: int) -> np.ndarray:
    """Errors of 3 nearest neighbours in each sample (R,), ties counted one half."""
    n_samples, n = X.shape[:2]
    square = (X**2).sum(axis=2)
    distance = square[:, :, None] + square[:, None] - 2 * X @ np.swapaxes(X, 1, 2)
    distance[:, np.arange(n), np.arange(n)] = np.inf
    candidates = np.argpartition(distance, N_NEIGHBOURS, axis=2)[:, :, : N_NEIGHBOURS + 1]
    order = np.argsort(np.take_along_axis(distance, candidates, axis=2), axis=2)
    nearest = np.take_along_axis(candidates, order, axis=2)
    positive = nearest < n1
    votes = positive[:, :, :N_NEIGHBOURS].sum(axis=2)
    near = np.zeros((n_samples, n, n), dtype=bool)
    np.put_along_axis(near, nearest[:, :, :N_NEIGHBOURS], True, axis=2)
    following = positive[:, :, N_NEIGHBOURS].astype(int)
    # Without the other of the pair, a positive one loses no vote and a negative one loses one.
    first = votes[:, :n1, None] + near[:, :n1, n1:] * following[:, :n1, None]
    second = votes[:, None, n1:] + np.swapaxes(near[:, n1:, :n1], 1, 2) * (
        following[:, None, n1:] - 1
    )
    return (first < second).sum(axis=(1, 2)) + (first == second).sum(axis=(1, 2)) / 2
