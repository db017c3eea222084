r"""Leave-pair-out errors of linear discriminant analysis, from one decomposition for a labeling.

With S the scatter matrix within classes, :math:`a = x_i - m_1`, :math:`b = x_j - m_0` and
:math:`d = m_1 - m_0`, the others of a held-out pair have

    S' = S - c_1 a a^T - c_0 b b^T,  c_k = n_k/(n_k - 1),
    d' = d - a/(n_1 - 1) + b/(n_0 - 1),

and :math:`f_i - f_j` has the sign of :math:`d'^T S'^{-1} (x_i - x_j)`, where :math:`x_i - x_j = d +
a - b`. The formula of Woodbury gives it from the products of a, b and d by :math:`S^{-1}`. Prior
probabilities are the same for both observations.
"""

import numpy as np

TIE = 1e-11
"""Rounding error of a difference of two scores, relative to the products of its vectors."""

WELL_CONDITIONED = 1e-6
"""Smallest share of a variance, or of a determinant, that is left by other directions or pairs."""

PAIRS = 2**18
"""Pairs that are counted at a time."""


def count_by_discriminant(features: np.ndarray, positive: np.ndarray) -> tuple[int, int] | None:
    """Wrong and tied pairs of one labeling; None where a scatter matrix is nearly singular.

    `features` (n, p) are centred and of similar spread.
    """
    samples = (features[positive], features[~positive])
    sizes = [len(of_class) for of_class in samples]
    if min(sizes) < 2:
        return None
    means = [of_class.mean(axis=0) for of_class in samples]
    deviations = [of_class - mean for of_class, mean in zip(samples, means, strict=True)]
    white = _whitened([*deviations, (means[0] - means[1])[None]], sum(sizes))
    if white is None:
        return None
    first, second, (between,) = white
    n_wrong = n_tied = 0
    step = max(1, PAIRS // len(second))
    for start in range(0, len(first), step):
        counts = _count(first[start : start + step], second, between, sizes)
        if counts is None:
            return None
        n_wrong, n_tied = n_wrong + counts[0], n_tied + counts[1]
    return n_wrong, n_tied


def _whitened(rows: list[np.ndarray], n_obs: int) -> list[np.ndarray] | None:
    """The rows in coordinates in which the scatter matrix within classes is the identity."""
    scatter = sum(deviations.T @ deviations for deviations in rows[:-1])
    spread = np.sqrt(np.diag(scatter))
    if not (spread > WELL_CONDITIONED * np.sqrt(n_obs)).all():
        return None
    try:
        root = np.linalg.cholesky(scatter / np.outer(spread, spread))
    except np.linalg.LinAlgError:
        return None
    if not (np.diag(root) ** 2 > WELL_CONDITIONED).all():
        return None
    inverse = np.linalg.inv(root).T / spread[:, None]
    return [part @ inverse for part in rows]


def _count(
    first: np.ndarray, second: np.ndarray, between: np.ndarray, sizes: list[int]
) -> tuple[int, int] | None:
    """Wrong and tied pairs of some positives with all negatives."""
    left1, left0 = (size - 1.0 for size in sizes)
    c1, c0 = (size / (size - 1.0) for size in sizes)
    length = between @ between
    square1 = np.einsum("ij,ij->i", first, first)[:, None]
    square0 = np.einsum("ij,ij->i", second, second)
    along1, along0 = (first @ between)[:, None], second @ between
    product = first @ second.T
    # Products of a and b with d' and with x_i - x_j.
    mean1 = along1 - square1 / left1 + product / left0
    mean0 = along0 - product / left1 + square0 / left0
    step1 = along1 + square1 - product
    step0 = along0 + product - square0
    rest1, rest0 = 1.0 - c1 * square1, 1.0 - c0 * square0
    determinant = rest1 * rest0 - c1 * c0 * product**2
    if not (determinant > WELL_CONDITIONED).all():
        return None
    difference = (
        length
        + along1
        - along0
        - step1 / left1
        + step0 / left0
        + c1 * rest0 * mean1 * step1 / determinant
        + c0 * rest1 * mean0 * step0 / determinant
        + c1 * c0 * product * (mean1 * step0 + mean0 * step1) / determinant
    )
    # Sums cancel where class means are equal, so rounding errors are relative to the lengths of a,
    # b and d. The inverse of S' lengthens no vector by more than 1/determinant.
    size_d, size1, size0 = np.sqrt(length), np.sqrt(square1), np.sqrt(square0)
    size = (size_d + size1 + size0) * (size_d + size1 / left1 + size0 / left0)
    tied = np.abs(difference) * determinant <= TIE * size
    return int(((difference < 0) & ~tied).sum()), int(tied.sum())
