"""Discriminant analysis of one learning set whose covariance matrix is singular.

The rule is that of scikit-learn's LinearDiscriminantAnalysis with its solver "svd": features are
divided by their standard deviations within classes, and directions in which the standard deviation
that is left is at most `TOLERANCE` are dropped.
"""

import numpy as np

__all__ = ["linear_scores", "quadratic_scores"]

TOLERANCE = 1e-4
"""Standard deviation, in those of the features, of a direction that is dropped: scikit-learn's."""

ROUNDING = 1e-14
"""Share of its mean square up to which the variance of a constant column is a rounding error."""


def linear_scores(
    features: np.ndarray,
    class_index: np.ndarray,
    learnt: np.ndarray,
    n_classes: int,
    *,
    equal: bool,
) -> np.ndarray:
    """Scores of all observations by linear discriminant analysis, for each class.

    Parameters
    ----------
    features : ndarray, shape (n, p)
    class_index : ndarray, shape (n,)
        Labels 0, 1, ..., of those that are learnt from at least.
    learnt : ndarray of bool, shape (n,)
    n_classes : int
    equal : bool
        Whether all classes in the learning set are equally probable beforehand.

    Returns
    -------
    ndarray, shape (n, C)
        Minus infinity for a class that is not in the learning set.
    """
    present, labels, prior, means, scale = _moments(features, class_index, learnt, equal)
    residuals = (features[learnt] - means[labels]) / scale
    _, spread, rotation = np.linalg.svd(residuals / np.sqrt(len(labels)), full_matrices=False)
    has_spread = spread > TOLERANCE
    white = rotation[has_spread].T / spread[has_spread]
    centre = prior @ means
    projected = ((means - centre) / scale) @ white
    # Directions in which the means hardly differ are dropped as well.
    weighted = np.sqrt(len(labels) * prior / max(len(prior) - 1, 1))[:, None] * projected
    _, between, axes = np.linalg.svd(weighted, full_matrices=False)
    axes = axes[between > TOLERANCE * between.max(initial=0.0)]
    projected = projected @ axes.T
    constant = np.log(prior) - 0.5 * (projected**2).sum(axis=1)
    values = ((features - centre) / scale) @ white @ axes.T @ projected.T + constant
    return _of_all_classes(values, present, n_classes)


def quadratic_scores(
    features: np.ndarray,
    class_index: np.ndarray,
    learnt: np.ndarray,
    n_classes: int,
    *,
    equal: bool,
) -> np.ndarray:
    """Scores by quadratic discriminant analysis, for each class; see `linear_scores`.

    Densities can be compared in the same directions only: what is dropped for one class is dropped
    for all.
    """
    present, labels, prior, means, scale = _moments(features, class_index, learnt, equal)
    residuals = (features[learnt] - means[labels]) / scale
    groups = [residuals[labels == class_position] for class_position in range(len(prior))]
    covariances = [group.T @ group / len(group) for group in groups]
    axes = _directions(covariances)
    values = np.empty((len(features), len(prior)))
    for class_position, full_covariance in enumerate(covariances):
        covariance = axes.T @ full_covariance @ axes
        distance = ((features - means[class_position]) / scale) @ axes
        squares = (distance * np.linalg.solve(covariance, distance.T).T).sum(axis=1)
        log_determinant = np.linalg.slogdet(covariance)[1]
        values[:, class_position] = np.log(prior[class_position]) - 0.5 * (
            squares + log_determinant
        )
    return _of_all_classes(values, present, n_classes)


def _moments(
    features: np.ndarray, class_index: np.ndarray, learnt: np.ndarray, equal: bool
) -> tuple[np.ndarray, ...]:
    """Classes in the learning set, places among them, priors, means, and what scales features."""
    present, labels = np.unique(class_index[learnt].astype(int), return_inverse=True)
    counts = np.bincount(labels)
    prior = np.full(len(present), 1.0 / len(present)) if equal else counts / len(labels)
    rows = features[learnt]
    means = np.stack(
        [rows[labels == class_position].mean(axis=0) for class_position in range(len(present))]
    )
    variance = ((rows - means[labels]) ** 2).mean(axis=0)
    varies = variance > ROUNDING * (rows**2).mean(axis=0)
    # What is left of a constant column is no more than rounding errors.
    return present, labels, prior, means, np.where(varies, np.sqrt(variance), np.inf)


def _directions(covariances: list[np.ndarray]) -> np.ndarray:
    """An orthonormal basis (p, q) of the directions in which every class varies."""
    dropped = np.zeros_like(covariances[0])
    for covariance in covariances:
        variances, directions = np.linalg.eigh(covariance)
        null = directions[:, variances <= TOLERANCE**2]
        dropped += null @ null.T
    shares, directions = np.linalg.eigh(dropped)
    return directions[:, shares <= TOLERANCE**2]


def _of_all_classes(values: np.ndarray, present: np.ndarray, n_classes: int) -> np.ndarray:
    scores = np.full((len(values), n_classes), -np.inf)
    scores[:, present] = values
    return scores
