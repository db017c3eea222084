"""Discriminant analysis of learning sets whose covariance matrices are singular.

The rule is that of scikit-learn's LinearDiscriminantAnalysis with its solver "svd": features are
divided by their standard deviations within classes, and directions in which the standard deviation
that is left is at most `TOLERANCE` are dropped. Many learning sets are decomposed at a time, and
dropped directions are set to zero.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

TOLERANCE = 1e-4
"""Standard deviation, in those of the features, of a direction that is dropped: scikit-learn's."""

ROUNDING = 1e-14
"""Share of its mean square up to which the variance of a constant column is a rounding error."""

CELLS = 500_000
"""Numbers of the residuals that are in memory at a time."""


@dataclass(frozen=True, eq=False)
class _Moments:
    """Of learning sets with the same classes, C of them.

    `members` (R, n, C) mark who is learnt from; `prior` and `counts` are (R, C), `means` (R, C, p),
    `residuals` (R, n, p) in units of `scale` (R, 1, p), and zero for those not learnt from.
    """

    members: np.ndarray
    counts: np.ndarray
    prior: np.ndarray
    means: np.ndarray
    scale: np.ndarray
    residuals: np.ndarray

    @property
    def size(self) -> np.ndarray:
        """Observations learnt from, (R, 1)."""
        size: np.ndarray = self.counts.sum(axis=1, keepdims=True)
        return size


def singular_scores(
    rule: Callable[[np.ndarray, _Moments], np.ndarray],
    features: np.ndarray,
    class_index: np.ndarray,
    learnt: np.ndarray,
    n_classes: int,
    *,
    equal: bool,
) -> np.ndarray:
    """Scores of all observations for each class, by a rule, `linear` or `quadratic`.

    Parameters
    ----------
    rule : callable
    features : ndarray, shape (n, p)
    class_index : ndarray, shape (R, n)
        Labels 0, 1, ..., of those that are learnt from at least.
    learnt : ndarray of bool, shape (R, n)
    n_classes : int
    equal : bool
        Whether all classes in the learning set are equally probable beforehand.

    Returns
    -------
    ndarray, shape (R, n, C)
        Minus infinity for a class that is not in the learning set.
    """
    scores = np.full((*learnt.shape, n_classes), -np.inf)
    for rows, present in _parts(class_index, learnt, n_classes, features.size):
        members = (class_index[rows][:, :, None] == present) & learnt[rows][:, :, None]
        moments = _moments(features, members.astype(float), equal)
        scores[rows[:, None], :, present] = rule(features, moments).transpose(0, 2, 1)
    return scores


def _parts(
    class_index: np.ndarray, learnt: np.ndarray, n_classes: int, n_cells: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Learning sets with the same classes, some at a time, and these classes."""
    is_present = np.stack(
        [((class_index == code) & learnt).any(axis=1) for code in range(n_classes)], axis=1
    )
    patterns, pattern_of = np.unique(is_present, axis=0, return_inverse=True)
    step = max(1, CELLS // n_cells)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(pattern_of.ravel() == number)
        for first in range(0, len(rows), step):
            yield rows[first : first + step], np.flatnonzero(pattern)


def _moments(features: np.ndarray, members: np.ndarray, equal: bool) -> _Moments:
    counts = members.sum(axis=1)
    size = counts.sum(axis=1, keepdims=True)
    prior = np.full(counts.shape, 1.0 / counts.shape[1]) if equal else counts / size
    means = members.transpose(0, 2, 1) @ features / counts[:, :, None]
    learnt = members.sum(axis=2)
    residuals = (features - members @ means) * learnt[:, :, None]
    variance = (residuals**2).sum(axis=1) / size
    varies = variance > ROUNDING * (learnt @ features**2) / size
    # The remainder of a constant column is only rounding error.
    scale = np.where(varies, np.sqrt(variance), np.inf)[:, None, :]
    return _Moments(members, counts, prior, means, scale, residuals / scale)


def linear(features: np.ndarray, moments: _Moments) -> np.ndarray:
    """Scores (R, n, C) by linear discriminant analysis."""
    size, prior = moments.size, moments.prior
    _, spread, rotation = np.linalg.svd(
        moments.residuals / np.sqrt(size)[:, :, None], full_matrices=False
    )
    has_spread = spread > TOLERANCE
    white = rotation.transpose(0, 2, 1) * (has_spread / np.where(has_spread, spread, 1.0))[:, None]
    centre = prior[:, None] @ moments.means
    projected = ((moments.means - centre) / moments.scale) @ white
    # Directions in which the means hardly differ are dropped as well.
    weights = np.sqrt(size * prior / max(prior.shape[1] - 1, 1))[:, :, None]
    _, between, axes = np.linalg.svd(weights * projected, full_matrices=False)
    differs = between > TOLERANCE * between.max(axis=1, initial=0.0, keepdims=True)
    axes = axes.transpose(0, 2, 1) * differs[:, None]
    projected = projected @ axes
    constant = np.log(prior) - 0.5 * (projected**2).sum(axis=2)
    slope = white @ axes @ projected.transpose(0, 2, 1)
    scores: np.ndarray = ((features - centre) / moments.scale) @ slope + constant[:, None]
    return scores


def quadratic(features: np.ndarray, moments: _Moments) -> np.ndarray:
    """Scores (R, n, C) by quadratic discriminant analysis.

    Densities can only be compared in the same directions: directions dropped for one class are
    dropped for all.
    """
    covariances = [
        (moments.residuals * moments.members[:, :, place, None]).transpose(0, 2, 1)
        @ moments.residuals
        / moments.counts[:, place, None, None]
        for place in range(moments.counts.shape[1])
    ]
    axes, has_spread = _directions(covariances)
    # A variance of one in dropped directions, where all distances are zero.
    filled = np.eye(axes.shape[1]) * ~has_spread[:, None]
    scores = np.empty((len(axes), len(features), len(covariances)))
    for place, full_covariance in enumerate(covariances):
        covariance = axes.transpose(0, 2, 1) @ full_covariance @ axes + filled
        distance = ((features - moments.means[:, place, None]) / moments.scale) @ axes
        solved = np.linalg.solve(covariance, distance.transpose(0, 2, 1)).transpose(0, 2, 1)
        squares = (distance * solved).sum(axis=2)
        log_determinant = np.linalg.slogdet(covariance)[1]
        constant = np.log(moments.prior[:, place]) - 0.5 * log_determinant
        scores[:, :, place] = constant[:, None] - 0.5 * squares
    return scores


def _directions(covariances: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal directions (R, p, p) in which every class varies, others zero; which (R, p)."""
    dropped = np.zeros_like(covariances[0])
    for covariance in covariances:
        variances, directions = np.linalg.eigh(covariance)
        null = directions * (variances <= TOLERANCE**2)[:, None]
        dropped += null @ null.transpose(0, 2, 1)
    shares, directions = np.linalg.eigh(dropped)
    has_spread = shares <= TOLERANCE**2
    return directions * has_spread[:, None], has_spread
