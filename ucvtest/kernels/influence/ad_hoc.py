"""Ad-hoc variances, which treat folds as independent: the paper compares with them."""

from typing import Any

import numpy as np

from ucvtest.common.arrays import as_numbers

__all__ = ["ad_hoc_by_repetition", "ad_hoc_variances"]


def ad_hoc_variances(fold_values: Any, estimate: Any = None) -> dict[str, float]:
    """Variances that treat folds as independent; without a theory, but often the best.

    Parameters
    ----------
    fold_values : array, shape (R, K1, K0) or (R, K)
        AUC of each pair of test folds in each of R repetitions of K-fold cross-validation;
        or the mean loss of each fold.
    estimate : array, shape (R,), optional
        Cross-validated AUC or mean loss of each repetition; by default the mean over its
        folds, which differs from it where folds have different sizes.

    Returns
    -------
    dict
        adhoc_1, adhoc_2, adhoc_3, adhoc_3_mle: each averaged over repetitions. For mean
        losses the first three are one and the same; adhoc_2 is NaN unless K1 = K0.

    Raises
    ------
    ValueError
        If a shape is another, a value is NaN, or there are fewer than two folds.

    Notes
    -----
    Biased: for the error rate by minus the covariance of the errors of two observations in
    different folds, (7).

    References
    ----------
    Yousef, Estimating the standard error of cross-validation-based estimators of classifier
    performance, (6), (8a)-(8c), (9).

    Examples
    --------
    >>> from ucvtest.kernels import influence
    >>> found = influence.ad_hoc_variances([[0.1, 0.2, 0.3]])
    >>> print(f"{found['adhoc_1']:.6f} {found['adhoc_3_mle']:.6f}")
    0.003333 0.002222
    """
    folds = as_numbers("fold_values", fold_values)
    if folds.ndim not in (2, 3) or not len(folds) or min(folds.shape[1:]) < 2:
        raise ValueError(
            "fold_values must have shape (R, K1, K0) or (R, K) with at least two folds, got "
            f"{folds.shape}"
        )
    if np.isnan(folds).any():
        raise ValueError(
            f"fold_values holds {int(np.isnan(folds).sum())} NaN: every fold (pair of folds) needs "
            "a value"
        )
    if estimate is not None and np.shape(estimate) != folds.shape[:1]:
        raise ValueError(f"estimate must have shape {folds.shape[:1]}, got {np.shape(estimate)}")
    by_repetition = ad_hoc_by_repetition(folds, estimate)
    return {name: float(values.mean()) for name, values in by_repetition.items()}


def ad_hoc_by_repetition(folds: np.ndarray, estimate: Any = None) -> dict[str, np.ndarray]:
    """As `ad_hoc_variances`, for each repetition: (R,)."""
    every = tuple(range(1, folds.ndim))
    centre = folds.mean(axis=every) if estimate is None else as_numbers("estimate", estimate)
    pooled = folds.reshape(len(folds), -1)
    n_effective = np.sqrt(np.prod(folds.shape[1:])) if folds.ndim == 3 else folds.shape[1]
    found = {"adhoc_1": pooled.var(axis=1, ddof=1) / n_effective}
    if folds.ndim == 2:
        found["adhoc_2"] = found["adhoc_1"]
    elif folds.shape[1] == folds.shape[2]:
        own = np.diagonal(folds, axis1=1, axis2=2)
        found["adhoc_2"] = own.var(axis=1, ddof=1) / folds.shape[1]
    else:
        found["adhoc_2"] = np.full(len(folds), np.nan)
    unbiased, mle = np.zeros((2, len(folds)))
    for margin in [folds] if folds.ndim == 2 else [folds.mean(axis=2), folds.mean(axis=1)]:
        k = margin.shape[1]
        squares = ((margin - centre[:, None]) ** 2).sum(axis=1)
        unbiased += squares / (k * (k - 1))
        mle += squares / k**2
    return found | {"adhoc_3": unbiased, "adhoc_3_mle": mle}
