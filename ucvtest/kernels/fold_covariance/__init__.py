r"""Estimates of the covariance matrix of K-fold cross-validated losses from these losses.

Notation of Bengio and Grandvalet (2005): e_i is the loss (difference) at observation i, whose
fold has m of the n observations. The losses have covariance sigma^2 with themselves, omega
within a fold and gamma between folds, so their covariance matrix has the eigenvalues

    lambda_1 = sigma^2 - omega                               (n - K times),
    lambda_2 = sigma^2 + (m - 1) omega - m gamma             (K - 1 times),
    lambda_3 = sigma^2 + (m - 1) omega + (n - m) gamma       (once),

and their mean has variance theta = lambda_3/n. lambda_1 and lambda_2 are estimated without bias
by the mean squares within and between folds. lambda_3 has no unbiased estimate.

If folds differ in size, m stands for sum(m_k^2)/n and lambda_2 for n (theta - gamma). With these
weights all of this is still true, provided that covariances do not depend on the size.
"""

import math
from numbers import Real
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import check_number
from ucvtest.kernels.fold_covariance.validation import (
    by_cluster,
    check_numbers,
    check_sizes,
    checked_losses,
    moments_of_rows,
)

__all__ = [
    "admissible_variances",
    "eigenvalues",
    "hold_out",
    "mean_fold_size",
    "moments",
    "moments_by_row",
    "variance_given_rho",
]


def moments(e: np.ndarray, fold: np.ndarray, *, groups: Any = None) -> dict[str, float]:
    r"""Moments of cross-validated losses, and the two eigenvalues that can be estimated.

    Parameters
    ----------
    e : ndarray, shape (n,) or (R, n)
        Losses, or paired differences of losses; R repetitions of the cross-validation of the
        same observations.
    fold : ndarray of int, shape (n,) or (R, n)
        Number of the fold that each observation was tested in; any integers.
    groups : array-like, shape (n,), optional
        The cluster of each observation, the unit of resampling: labels of any type. The loss of a
        cluster is the mean over its observations, and n is the number of clusters; no set divides
        one.

    Returns
    -------
    dict of float
        mean; s1, s2, s3 : mean of e_i^2 and of e_i e_j within and between folds, estimates of
        sigma^2 + mu^2, omega + mu^2, gamma + mu^2; lambda1, lambda2 : unbiased estimates of the
        eigenvalues; naive_variance : lambda2/n, the variance of the mean if gamma were 0 (its
        expectation is theta - gamma); repeat_variance : variance of the mean of one repetition
        around the mean of all, NaN for a single one. With folds of one observation s2 and lambda1
        are NaN.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, a fold divides a group, or there is only
        one fold.

    Notes
    -----
    Several repetitions are averaged. The variance of their mean is theta less
    (1 - 1/R) times the expectation of repeat_variance, which is subtracted from
    naive_variance; all other numbers describe one repetition.

    Folds of different sizes get the weights of the one-way analysis of variance, which are
    unbiased as long as the covariances do not depend on the size.

    Bengio and Grandvalet (2005), (5.12), Lemma 5.4 and section 8.3; erratum: s2 of (5.12) is 0/0
    for leave-one-out, there are no pairs within folds.

    Examples
    --------
    >>> import numpy as np, ucvtest as uv
    >>> found = uv.kernels.fold_covariance.moments(np.array([0.0, 1, 1, 3]), np.array([1, 1, 2, 2]))
    >>> {name: found[name] for name in ("mean", "s1", "s2", "s3", "lambda1", "lambda2")}
    {'mean': 1.25, 's1': 2.75, 's2': 1.5, 's3': 1.0, 'lambda1': 1.25, 'lambda2': 2.25}
    """
    e, fold = by_cluster(e, fold, groups)
    rows = moments_by_row(e, fold)
    n_repeats, n_obs = len(rows["mean"]), np.shape(e)[-1]
    mean_moments = {name: float(values.mean()) for name, values in rows.items()}
    between = float(rows["mean"].var(ddof=1)) if n_repeats > 1 else math.nan
    reduction = (1 - 1 / n_repeats) * between if n_repeats > 1 else 0.0
    mean_moments["naive_variance"] = mean_moments["lambda2"] / n_obs - reduction
    return mean_moments | {"repeat_variance": between}


def moments_by_row(e: np.ndarray, fold: np.ndarray, *, groups: Any = None) -> dict[str, np.ndarray]:
    """`moments` of each row separately, for losses of several samples.

    Parameters
    ----------
    e : ndarray, shape (n,) or (R, n)
    fold : ndarray of int, shape (n,) or (R, n)
        Folds of shape (n,) are those of all rows.
    groups : array-like, shape (n,), optional
        See `moments`.

    Returns
    -------
    dict of ndarray, shape (R,)
        mean, s1, s2, s3, lambda1, lambda2.

    Raises
    ------
    ValueError
        As `moments`.
    """
    losses, codes, n_folds = checked_losses(*by_cluster(e, fold, groups))
    if n_folds < 2:
        raise ValueError("fold names one fold only: covariances between folds need at least 2")
    return moments_of_rows(losses, codes, n_folds)


def hold_out(e: np.ndarray, fold: np.ndarray, *, groups: Any = None) -> dict[str, float]:
    """Variance of the mean loss on independent test sets, each with a learning set of its own.

    Parameters
    ----------
    e : ndarray, shape (n,)
        Losses on all test sets.
    fold : ndarray of int, shape (n,)
        Which test set each loss comes from.
    groups : array-like, shape (n,), optional
        See `moments`.

    Returns
    -------
    dict of float
        mean; theta1 : the variance estimate that takes all losses as independent, too small
        because losses after the same learning set are correlated; theta2 : the unbiased one,
        NaN for a single set, which does not show how learning sets differ.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, or a test set divides a group.

    Notes
    -----
    Not for cross-validation, whose learning sets overlap. Bengio and Grandvalet (2005),
    sections 2.2 and 8.1: with gamma = 0 known, theta2 = lambda_2/n.

    Examples
    --------
    >>> import numpy as np, ucvtest as uv
    >>> losses, sets = np.array([0.0, 1, 1, 3]), np.array([1, 1, 2, 2])
    >>> uv.kernels.fold_covariance.hold_out(losses, sets)
    {'mean': 1.25, 'theta1': 0.3958333333333333, 'theta2': 0.5625}
    """
    losses, codes, n_folds = checked_losses(*by_cluster(e, fold, groups))
    if len(losses) != 1:
        raise ValueError(f"e must have shape (n,), got {np.shape(e)}: pass one experiment")
    n_obs = losses.shape[1]
    if n_obs < 2:
        raise ValueError("e contains one loss: at least 2 are needed")
    theta2 = math.nan
    if n_folds > 1:
        theta2 = float(moments_of_rows(losses, codes, n_folds)["lambda2"][0]) / n_obs
    theta1 = float(losses.var(ddof=1)) / n_obs
    return {"mean": float(losses.mean()), "theta1": theta1, "theta2": theta2}


def eigenvalues(
    sigma_squared: float, omega: float, gamma: float, n_obs: int, fold_size: float
) -> tuple[float, float, float]:
    """Eigenvalues of the covariance matrix of cross-validated losses.

    Parameters
    ----------
    sigma_squared, omega, gamma : float
        Variance of a loss, covariance within a fold, covariance between folds.
    n_obs : int
    fold_size : float
        m; the same for all folds, or `mean_fold_size`.

    Returns
    -------
    tuple of float
        lambda_1, lambda_2, lambda_3, with multiplicities n - K, K - 1 and 1.

    Notes
    -----
    Bengio and Grandvalet (2005), Lemma 5.4. lambda_3/n is the variance of the mean, (5.7).

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.kernels.fold_covariance.eigenvalues(1.0, 0.25, 0.125, n_obs=8, fold_size=2)
    (0.75, 1.0, 2.0)
    """
    check_numbers(sigma_squared=sigma_squared, omega=omega, gamma=gamma)
    check_sizes(n_obs, fold_size)
    of_fold = sigma_squared + (fold_size - 1) * omega
    return (
        sigma_squared - omega,
        of_fold - fold_size * gamma,
        of_fold + (n_obs - fold_size) * gamma,
    )


def mean_fold_size(sizes: np.ndarray) -> float:
    """The fold size m where folds differ: the mean, over observations, of the size of their fold.

    Parameters
    ----------
    sizes : array-like of int, shape (K,)

    Returns
    -------
    float

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.kernels.fold_covariance.mean_fold_size([3, 3, 4])
    3.4
    """
    sizes = as_numbers("sizes", sizes)
    if sizes.ndim != 1 or not sizes.size or not ((sizes >= 1) & (sizes < 1e100)).all():
        raise ValueError("sizes must contain the sizes of the folds, numbers from 1 on")
    return float((sizes**2).sum() / sizes.sum())


def variance_given_rho(lambda2: float, rho: float, n_obs: int, fold_size: float) -> float:
    """Variance of the cross-validation mean under an assumed correlation of fold means.

    Parameters
    ----------
    lambda2 : float
        Eigenvalue, or its estimate.
    rho : float
        m gamma/(sigma^2 + (m - 1) omega), in (-1/(K - 1), 1).
    n_obs : int
    fold_size : float

    Returns
    -------
    float
        lambda_2/m (1/K + rho/(1 - rho)). Unbiased if rho is true and lambda_2 is estimated so.

    Raises
    ------
    ValueError
        If `rho` is 1 or more.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.kernels.fold_covariance.variance_given_rho(2.0, 0.5, n_obs=8, fold_size=2)
    1.25
    """
    check_numbers(lambda2=lambda2, rho=rho)
    check_sizes(n_obs, fold_size)
    if rho >= 1:
        raise ValueError(f"rho must be below 1, got {rho}")
    return lambda2 / fold_size * (fold_size / n_obs + rho / (1 - rho))


def admissible_variances(
    lambda1: float,
    lambda2: float,
    n_obs: int,
    fold_size: float,
    *,
    width: float = math.inf,
    nonnegative_omega: bool = True,
) -> tuple[float, float]:
    """Variances of the cross-validation mean that are possible given both eigenvalues.

    Parameters
    ----------
    lambda1, lambda2 : float
        Eigenvalues, or their estimates; lambda1 is NaN for folds of one observation.
    n_obs : int
    fold_size : float
    width : float
        b - a for a loss (difference) in [a, b].
    nonnegative_omega : bool
        Whether omega is known not to be negative, as for cross-validation; for the jackknife
        it is not.

    Returns
    -------
    tuple of float
        The lowest and the highest one; infinity for a loss without bounds. The lowest is above
        the highest where the estimates contradict the bounds.

    Notes
    -----
    Bengio and Grandvalet (2005), Lemma 5.5: with both eigenvalues fixed
    theta = lambda_2/n + (lambda_1 - lambda_2)/m + omega, and omega is free from 0 on (from
    -lambda_1/m for the jackknife) to where sigma^2 = lambda_1 + omega reaches its largest
    value (b - a)^2/4. For leave-one-out theta = lambda_2/n + gamma and
    sigma^2 = lambda_2 + gamma.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.kernels.fold_covariance.admissible_variances(0.125, 0.25, 40, 4, width=1.0)
    (0.0, 0.1)
    """
    if not (isinstance(lambda1, float) and math.isnan(lambda1)):
        check_numbers(lambda1=lambda1)
    check_numbers(lambda2=lambda2)
    check_sizes(n_obs, fold_size)
    if not (isinstance(width, Real) and width == math.inf):
        check_number("width", width, low=0)
    largest_gamma = width**2 / 4
    if math.isnan(lambda1):
        return 0.0, lambda2 / n_obs + largest_gamma - lambda2
    at_zero = lambda2 / n_obs + (lambda1 - lambda2) / fold_size
    smallest_omega = 0.0 if nonnegative_omega else -lambda1 / fold_size
    return max(0.0, at_zero + smallest_omega), at_zero + largest_gamma - lambda1
