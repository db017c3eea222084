r"""Optimism of a learner on permuted labels, its closed form, and the bounds that rest on it.

Notation of Magdon-Ismail and Mertsalov (2011): the learner is fitted to labels y^pi that say
nothing about x; g^pi is its rule, e_in its loss on these labels, e_out its expected loss on a
label drawn anew from the same distribution, and e_gen = e_out - e_in its optimism.

The bounds are for classes coded -1, 1 and a class H of rules h(x) in {-1, 1} closed under
negation, where the squared error is four times the error rate. Given the numbers k, k' of
positives in the sample D and in an independent copy D', their labels can be matched but for
m = \|k - k'\|, and matched observations may be exchanged. With exchanges that turn the labels of D
into a random permutation, and those of D' into one up to m random positions,

    E sup_h (e_out - e_in) <= 4 P_out + (8/n) E m,    E m <= sqrt(n/2),

and sup_h (e_out - e_in) - 4 P_in changes by at most 4/n + 16/n with one observation, so that by
McDiarmid's inequality, with probability 1 - delta and for all h,

    e_out <= e_in + 4 P_in + sqrt(8/n) (2 + 5 sqrt(ln(1/delta))).

The paper's proof sorts D and its ghost samples before it exchanges observations between them,
which only matched observations allow.
"""

from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from ucvtest.common.float64 import in_float64
from ucvtest.data.groups import refuse_groups

__all__ = [
    "SAMPLINGS",
    "Sampling",
    "complexity_bound",
    "effective_degrees",
    "error_bound",
    "final_prediction_error",
    "generalization",
    "leave_one_out",
    "smoother_complexity",
    "smoother_optimism",
    "vc_penalty",
]

Sampling = Literal["permutation", "bootstrap", "rademacher"]
SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)

NAMED_LOSSES = ("squared", "absolute", "zero_one")


# ------------------------------------------------------------------- from predictions


def generalization(
    predictions: ArrayLike,
    permuted_y: ArrayLike,
    y: ArrayLike,
    loss: Any = "squared",
    *,
    groups: Any = None,
) -> dict[str, np.ndarray]:
    """In-sample error, out-of-sample error and optimism on labels that have been permuted.

    Parameters
    ----------
    predictions : array, shape (P, n)
        Row r holds what the rule learnt from ``permuted_y[r]`` says of the n observations.
    permuted_y : array, shape (P, n)
        Labels that were learnt.
    y : array, shape (m,)
        The labels that they were drawn from, each as likely as the others: the observed ones,
        or one of each class for Rademacher labels.
    loss : {"squared", "absolute", "zero_one"} or array, shape (C, C)
        A matrix holds the loss ``loss[true, predicted]`` of codes 0, ..., C - 1. A code half-way
        between two classes is a tie left open, which costs the mean of both.
    groups : None
        The cluster of each observation, the unit of resampling: refused, as independent
        observations are assumed.

    Returns
    -------
    dict of ndarray, shape (P,)
        e_in, e_out and e_gen = e_out - e_in, row by row.

    Raises
    ------
    ValueError
        If `groups` are given, shapes do not match, values are not finite, or labels are no codes of
        the matrix.

    Notes
    -----
    Paper: Theorems 1 and 2, section 2.3. For squared loss and permutations e_gen is
    2 mean((y^pi - ybar) g^pi); erratum: with replacement that holds on average only. Cost:
    O(P n), with a factor log m for absolute loss.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.kernels.permutation import generalization
    >>> y = np.array([0.0, 1.0, 1.0])
    >>> found = generalization([[1.0, 0.0, 1.0]], [[1.0, 0.0, 1.0]], y)
    >>> {name: float(value[0].round(4)) for name, value in found.items()}
    {'e_in': 0.0, 'e_out': 0.4444, 'e_gen': 0.4444}
    """
    refuse_groups(groups, "the estimator")
    fitted, labels, reference = (
        np.asarray(array, dtype=float) for array in (predictions, permuted_y, y)
    )
    if fitted.ndim != 2 or fitted.shape != labels.shape or reference.ndim != 1:
        raise ValueError(
            "predictions and permuted_y must have the same shape (P, n) and y shape (m,), got "
            f"{fitted.shape}, {labels.shape} and {reference.shape}"
        )
    for name, array in (("predictions", fitted), ("permuted_y", labels), ("y", reference)):
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds values that are not finite: drop or impute them")
    if isinstance(loss, str) and loss in ("squared", "absolute"):
        rule = _squared if loss == "squared" else _absolute
        e_in, e_out = rule(fitted, labels, reference)
    else:
        matrix = _matrix(loss, fitted, labels, reference)
        e_in, e_out = _by_matrix(fitted, labels, reference, matrix)
    return {"e_in": e_in, "e_out": e_out, "e_gen": e_out - e_in}


def _matrix(loss: Any, fitted: np.ndarray, labels: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The loss as a matrix that knows every code."""
    codes = (fitted, labels, reference)
    n_classes = 1 + int(np.ceil(max((array.max() for array in codes if array.size), default=0)))
    if isinstance(loss, str):
        if loss != "zero_one":
            raise ValueError(
                f"loss={loss!r} is unknown: use one of {', '.join(NAMED_LOSSES)}, or a matrix"
            )
        return 1.0 - np.eye(n_classes)
    matrix = np.asarray(loss, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"loss must be a matrix of shape (C, C), got shape {matrix.shape}")
    whole = (labels == np.floor(labels)).all() and (reference == np.floor(reference)).all()
    lowest = min((array.min() for array in codes if array.size), default=0)
    if n_classes > len(matrix) or lowest < 0 or not whole:
        raise ValueError(
            f"loss has shape {matrix.shape}, so labels must be codes 0 to {len(matrix) - 1}"
        )
    return matrix


@in_float64
@jax.jit
def _squared(
    fitted: jax.Array, labels: jax.Array, reference: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Theorem 1: the variance of the labels, and the distance from their mean."""
    e_out = reference.var() + ((fitted - reference.mean()) ** 2).mean(axis=1)
    return ((fitted - labels) ** 2).mean(axis=1), e_out


@in_float64
@jax.jit
def _absolute(
    fitted: jax.Array, labels: jax.Array, reference: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Labels below a prediction and above it, from the cumulative sums of the sorted ones."""
    ordered, m = jnp.sort(reference), reference.size
    below = jnp.searchsorted(ordered, fitted)
    sums = jnp.concatenate([jnp.zeros(1), jnp.cumsum(ordered)])
    distance = fitted * (2 * below - m) + sums[-1] - 2 * sums[below]
    return jnp.abs(fitted - labels).mean(axis=1), (distance / m).mean(axis=1)


@in_float64
@jax.jit
def _by_matrix(
    fitted: jax.Array, labels: jax.Array, reference: jax.Array, matrix: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Losses looked up, and the expected loss of each prediction over the labels."""
    true, given = labels.astype(int), reference.astype(int)
    lower, upper = jnp.floor(fitted).astype(int), jnp.ceil(fitted).astype(int)
    expected = matrix[given].mean(axis=0)
    e_in = (matrix[true, lower] + matrix[true, upper]) / 2
    return e_in.mean(axis=1), ((expected[lower] + expected[upper]) / 2).mean(axis=1)


# ------------------------------------------------------------------ for linear smoothers
# A few sums each, which JAX would make no faster; arrays of data sets broadcast.


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
    _check_sampling(sampling)
    variance, trace, total = (np.asarray(each, dtype=float) for each in (variance, trace, total))
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
    optimism = smoother_optimism(variance, trace, total, n_obs, sampling)
    return (optimism / 2 + np.asarray(mean, dtype=float) ** 2 * np.asarray(total) / n_obs)[()]


def effective_degrees(smoother: ArrayLike) -> dict[str, Any]:
    """Effective degrees of freedom of a linear smoother, by four definitions.

    Parameters
    ----------
    smoother : array, shape (..., n, n)
        S, whose fitted values are S y.

    Returns
    -------
    dict of float or ndarray, shape (...)
        "trace", tr S; "permutation", tr S + 1 - 1'S1/n, by which the permutation estimate goes;
        "variance", tr SS', of the fitted values; "residual", tr(2S - SS'), n less those of the
        residuals. All are the number of parameters for least squares with an intercept.

    Raises
    ------
    ValueError
        If it is no square matrix.

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
    matrix = np.asarray(smoother, dtype=float)
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:
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
        Infinite where a leverage is 1: the others then do not determine the fit.

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
    left = 1.0 - np.asarray(leverages, dtype=float)
    undetermined = (np.abs(left) < 1e-12).any(axis=-1)
    left = np.where(np.abs(left) < 1e-12, 1.0, left)
    error = ((np.asarray(residuals, dtype=float) / left) ** 2).mean(axis=-1)
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
    e_in, degrees = np.asarray(e_in, dtype=float), np.asarray(degrees, dtype=float)
    left = n_obs - degrees
    error = e_in * (n_obs + degrees) / np.where(left > 0, left, np.nan)
    return np.where(left > 0, error, np.inf)[()]


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
        Infinite where the bound says nothing.

    Notes
    -----
    Paper: section 4.2, where N is n; Cherkassky and Mulier (2007), (4.27b).

    Examples
    --------
    >>> from ucvtest.kernels.permutation import vc_penalty
    >>> round(float(vc_penalty(1.0, 1.0, 100)), 4)
    1.3912
    """
    e_in, degrees = np.asarray(e_in, dtype=float), np.asarray(degrees, dtype=float)
    p = n_obs / degrees
    inside = 1 + np.log(p) + np.log(n_obs) / (2 * degrees)
    left = np.sqrt(p) - np.sqrt(np.maximum(inside, 0.0))
    error = e_in * np.sqrt(p) / np.where(left > 0, left, np.nan)
    return np.where(left > 0, error, np.inf)[()]


# ------------------------------------------------------------------------------- bounds


def complexity_bound(
    p_in: float,
    n_obs: int,
    n_minority: int,
    n_drawn: float,
    delta: float,
    sampling: Sampling = "permutation",
) -> float:
    r"""Upper bound on the complexity of a class of rules from a few random labelings.

    Parameters
    ----------
    p_in : float
        Mean over the labelings of sup_h mean(y^pi h(x)), labels and rules in {-1, 1}.
    n_obs, n_minority : int
        Observations, and how many are of the rarer class.
    n_drawn : int or inf
        Number of independent labelings; infinity for the mean over all.
    delta : float
        Probability that the bound fails, over the labelings.
    sampling : {"permutation", "bootstrap", "rademacher"}
        How they were drawn. "bootstrap" bounds the permutation complexity too.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `delta` is outside (0, 1), or `sampling` unknown.

    Notes
    -----
    Paper: Theorem 6, Lemmas 6 and 7. Erratum: the constant belongs to ln(4/delta). Here a
    martingale over the k positions of the rarer class, each of which moves the mean by at most
    4/n: sqrt(8 k ln(1/delta)/n^2) for one permutation, at most sqrt(2) sqrt(2 ln(1/delta)/n).

    Examples
    --------
    >>> from ucvtest.kernels.permutation import complexity_bound
    >>> round(complexity_bound(0.1, 200, 100, 10, delta=0.05), 4)
    0.1774
    """
    _check_sampling(sampling)
    _check_delta(delta)
    spread = 8 * n_minority / n_obs**2 if sampling == "permutation" else 2 / n_obs
    bound = p_in + float(np.sqrt(spread * np.log(1 / delta) / n_drawn))
    if sampling == "bootstrap":
        share = n_minority / n_obs
        bound += 2 * float(np.sqrt(share * (1 - share) / n_obs))
    return bound


def error_bound(
    e_in: float, p_in: float, n_obs: int, delta: float, sampling: Sampling = "permutation"
) -> float:
    """Upper bound on the error rate of every rule of a class, from its complexity.

    Parameters
    ----------
    e_in : float
        In-sample error rate.
    p_in : float
        Permutation complexity of the class (an upper bound on it), or its Rademacher complexity;
        labels and rules in {-1, 1}.
    n_obs : int
    delta : float
        Probability that the bound fails, over samples.
    sampling : {"permutation", "bootstrap", "rademacher"}
        What `p_in` is the complexity of.

    Returns
    -------
    float
        Above 1 where it says nothing.

    Raises
    ------
    ValueError
        If `delta` is outside (0, 1), or `sampling` unknown.

    Notes
    -----
    Paper: Corollary 4. Erratum: its constant is too small; see the top of this module for what
    is proved instead. With Rademacher labels, e_in + R_in + (3/4) sqrt(8 ln(1/delta)/n).

    Examples
    --------
    >>> from ucvtest.kernels.permutation import error_bound
    >>> round(error_bound(0.1, 0.05, 10_000, delta=0.05), 4)
    0.2253
    """
    _check_sampling(sampling)
    _check_delta(delta)
    deviation = np.sqrt(np.log(1 / delta))
    factor = 3 * deviation if sampling == "rademacher" else 2 + 5 * deviation
    return float(e_in + p_in + np.sqrt(8 / n_obs) * factor / 4)


def _check_sampling(sampling: str) -> None:
    if sampling not in SAMPLINGS:
        raise ValueError(f"sampling={sampling!r} is unknown: use one of {', '.join(SAMPLINGS)}")


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie between 0 and 1, got {delta!r}: use 0.05")
