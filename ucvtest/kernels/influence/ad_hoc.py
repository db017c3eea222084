"""Ad-hoc variances, which treat folds as independent: the paper compares with them."""

import numpy as np


def ad_hoc_by_repetition(
    folds: np.ndarray, estimate: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Variances by name, for each repetition: (R,).

    `folds` is (R, K1, K0) or (R, K), `estimate` (R,): see `ucvtest.kernels.influence`.
    """
    fold_axes = tuple(range(1, folds.ndim))
    centre = folds.mean(axis=fold_axes) if estimate is None else estimate
    pooled = folds.reshape(len(folds), -1)
    n_effective = np.sqrt(np.prod(folds.shape[1:])) if folds.ndim == 3 else folds.shape[1]
    variances = {"adhoc_1": pooled.var(axis=1, ddof=1) / n_effective}
    if folds.ndim == 2:
        variances["adhoc_2"] = variances["adhoc_1"]
    elif folds.shape[1] == folds.shape[2]:
        own_fold_estimates = np.diagonal(folds, axis1=1, axis2=2)
        variances["adhoc_2"] = own_fold_estimates.var(axis=1, ddof=1) / folds.shape[1]
    else:
        variances["adhoc_2"] = np.full(len(folds), np.nan)
    unbiased, mle = np.zeros((2, len(folds)))
    for margin in [folds] if folds.ndim == 2 else [folds.mean(axis=2), folds.mean(axis=1)]:
        k = margin.shape[1]
        squares = ((margin - centre[:, None]) ** 2).sum(axis=1)
        unbiased += squares / (k * (k - 1))
        mle += squares / k**2
    return variances | {"adhoc_3": unbiased, "adhoc_3_mle": mle}
