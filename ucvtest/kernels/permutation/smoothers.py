"""Optimism, leave-one-out error and penalties of a linear smoother, in closed form.

Each is a few sums, which JAX would not make faster; arrays of data sets broadcast.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import check_number
from ucvtest.kernels.permutation.bounds import Sampling, check_sampling


def smoother_optimism(
    variance: ArrayLike,
    trace: ArrayLike,
    total: ArrayLike,
    n_obs: int,
    sampling: Sampling = "permutation",
) -> Any:
    """Expected optimism of a linear smoother with squared loss, without sampling.

    Parameters
    ----------
    variance : float or array
        Variance of the labels with divisor n; 1/4 for Rademacher labels coded 0/1.
    trace, total : float or array
        Trace and sum of all elements of the smoother S, whose fitted values are S y.
    n_obs : int
    sampling : {"permutation", "bootstrap", "rademacher"}
        Labels drawn without replacement, or independently.

    Returns
    -------
    float or ndarray
        The mean of e_gen over all drawings.

    Raises
    ------
    ValueError
        If `sampling` is unknown.

    Notes
    -----
    Paper: Theorem 3, and section 2.3 for drawings with replacement.

    Examples
    --------
    >>> from ucvtest.kernels.permutation import smoother_optimism
    >>> float(smoother_optimism(variance=9.0, trace=3.0, total=10.0, n_obs=10))
    4.0
    """
    check_sampling(sampling)
    check_number("n_obs", n_obs, low=2 if sampling == "permutation" else 1)
    variance, trace, total = _broadcast_numbers(variance=variance, trace=trace, total=total)
    if sampling == "permutation":
        return (2 * variance / (n_obs - 1) * (trace - total / n_obs))[()]
    return (2 * variance * trace / n_obs)[()]


def smoother_complexity(
    mean: ArrayLike,
    variance: ArrayLike,
    trace: ArrayLike,
    total: ArrayLike,
    n_obs: int,
    sampling: Sampling = "permutation",
) -> Any:
    """Expected value of mean(y^pi g^pi) for a linear smoother.

    Parameters
    ----------
    mean, variance : float or array
        Of the labels, with divisor n.
    trace, total, n_obs, sampling
        See `smoother_optimism`.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        If `sampling` is unknown.

    Examples
    --------
    >>> from ucvtest.kernels.permutation import smoother_complexity
    >>> float(smoother_complexity(0.0, 9.0, trace=3.0, total=10.0, n_obs=10))
    2.0
    """
    mean, variance, trace, total = _broadcast_numbers(
        mean=mean, variance=variance, trace=trace, total=total
    )
    optimism = smoother_optimism(variance, trace, total, n_obs, sampling)
    return (optimism / 2 + mean**2 * total / n_obs)[()]


def effective_degrees(smoother: ArrayLike) -> dict[str, Any]:
    """Effective degrees of freedom of a linear smoother, by four definitions.

    Parameters
    ----------
    smoother : array, shape (..., n, n)
        S, whose fitted values are S y.

    Returns
    -------
    dict of float or ndarray, shape (...)
        "trace", tr S; "permutation", tr S + 1 - 1'S1/n, on which the permutation estimate depends;
        "variance", tr SS', of the fitted values; "residual", tr(2S - SS'), n minus the degrees of
        freedom of the residuals. All are the number of parameters for least squares with an
        intercept.

    Raises
    ------
    ValueError
        If it is not a square matrix.

    Notes
    -----
    Paper: section 2.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.kernels.permutation import effective_degrees
    >>> {name: float(value) for name, value in effective_degrees(np.full((4, 4), 0.25)).items()}
    {'trace': 1.0, 'permutation': 1.0, 'variance': 1.0, 'residual': 1.0}
    """
    matrix = as_numbers("smoother", smoother)
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2] or not matrix.shape[-1]:
        raise ValueError(f"smoother must have shape (n, n), got {matrix.shape}")
    trace = np.trace(matrix, axis1=-2, axis2=-1)
    squares = (matrix**2).sum(axis=(-2, -1))
    level = matrix.sum(axis=(-2, -1)) / matrix.shape[-1]
    return {
        "trace": trace[()],
        "permutation": (trace + 1 - level)[()],
        "variance": squares[()],
        "residual": (2 * trace - squares)[()],
    }


def leave_one_out(residuals: ArrayLike, leverages: ArrayLike) -> Any:
    """Mean squared leave-one-out error of a linear smoother.

    Parameters
    ----------
    residuals : array, shape (..., n)
        y - S y.
    leverages : array, shape (..., n)
        Diagonal of S.

    Returns
    -------
    float or ndarray, shape (...)
        Infinite where a leverage is 1: the other observations then do not determine the fit.

    Notes
    -----
    Paper: section 4.2. It is the error of the refits where the penalty does not depend on the
    number of observations.

    Examples
    --------
    >>> from ucvtest.kernels.permutation import leave_one_out
    >>> float(leave_one_out([1.0, -1.0], [0.5, 0.5]))
    4.0
    """
    residuals, leverages = _broadcast_numbers(residuals=residuals, leverages=leverages)
    if not residuals.ndim or not residuals.shape[-1]:
        raise ValueError(f"residuals must have shape (..., n), got {residuals.shape}")
    one_minus_leverage = 1.0 - leverages
    undetermined = (np.abs(one_minus_leverage) < 1e-12).any(axis=-1)
    one_minus_leverage = np.where(np.abs(one_minus_leverage) < 1e-12, 1.0, one_minus_leverage)
    error = ((residuals / one_minus_leverage) ** 2).mean(axis=-1)
    return np.where(undetermined, np.inf, error)[()]


def final_prediction_error(e_in: ArrayLike, degrees: ArrayLike, n_obs: int) -> Any:
    """Akaike's final prediction error.

    Parameters
    ----------
    e_in : float or array
        In-sample mean squared error.
    degrees : float or array
        Effective number of parameters, trace(S).
    n_obs : int

    Returns
    -------
    float or ndarray
        Infinite where there are no fewer parameters than observations.

    Notes
    -----
    Paper: section 4.2; Akaike (1970).

    Examples
    --------
    >>> from ucvtest.kernels.permutation import final_prediction_error
    >>> float(final_prediction_error(1.0, 5.0, 15))
    2.0
    """
    check_number("n_obs", n_obs, low=1)
    e_in, degrees = _broadcast_numbers(e_in=e_in, degrees=degrees)
    residual_df = n_obs - degrees
    error = e_in * (n_obs + degrees) / np.where(residual_df > 0, residual_df, np.nan)
    return np.where(residual_df > 0, error, np.inf)[()]


def vc_penalty(e_in: ArrayLike, degrees: ArrayLike, n_obs: int) -> Any:
    """In-sample squared error with the VC penalty of Cherkassky and Mulier.

    Parameters
    ----------
    e_in : float or array
        In-sample mean squared error.
    degrees : float or array
        Effective number of parameters, trace(S), positive.
    n_obs : int

    Returns
    -------
    float or ndarray
        Infinite where the bound is of no use.

    Notes
    -----
    Paper: section 4.2, where N is n; Cherkassky and Mulier (2007), (4.27b).

    Examples
    --------
    >>> from ucvtest.kernels.permutation import vc_penalty
    >>> round(float(vc_penalty(1.0, 1.0, 100)), 4)
    1.3912
    """
    check_number("n_obs", n_obs, low=1)
    e_in, degrees = _broadcast_numbers(e_in=e_in, degrees=degrees)
    if not (degrees > 0).all():
        raise ValueError("degrees must be positive: the bound does not exist for none")
    p = n_obs / degrees
    inside = 1 + np.log(p) + np.log(float(n_obs)) / (2 * degrees)
    vc_denominator = np.sqrt(p) - np.sqrt(np.maximum(inside, 0.0))
    error = e_in * np.sqrt(p) / np.where(vc_denominator > 0, vc_denominator, np.nan)
    return np.where(vc_denominator > 0, error, np.inf)[()]


def _broadcast_numbers(**arguments: Any) -> list[np.ndarray]:
    """Arrays of numbers that broadcast."""
    arrays = [as_numbers(name, value) for name, value in arguments.items()]
    try:
        np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise ValueError(
            f"{', '.join(arguments)} must have shapes that fit, got {shapes}"
        ) from None
    return arrays
