"""Ridge and kernel ridge without some observations, from one fit to all of them."""

from typing import Any, TypeGuard

import numpy as np

from ucvtest.common.arrays import as_array, as_numbers
from ucvtest.common.checks import is_integer
from ucvtest.common.words import excerpt
from ucvtest.learners.batching import refuse_pairs
from ucvtest.learners.jitted.kernel_ridge import KernelRidge, kernel_matrix
from ucvtest.learners.jitted.ridge import Polynomial, Ridge

UNDETERMINED = 1e12
"""Largest condition number of I - H_SS with which the other observations determine the fit."""


def has_hat_matrix(learner: object) -> TypeGuard[Ridge | KernelRidge]:
    """Whether fitted values are a fixed matrix times y: not where features are scaled."""
    return isinstance(learner, (Ridge, KernelRidge)) and not learner.standardize


def hat_matrix(learner: Ridge | KernelRidge, X: Any, learn_size: int | None = None) -> np.ndarray:
    """Matrix H of a fit to all observations, whose fitted values are H y.

    Parameters
    ----------
    learner : Ridge or KernelRidge
        Made by `ridge`, `polynomial` or `kernel_ridge`.
    X : array, shape (n, p)
    learn_size : int, optional
        Number of observations that are learnt from in the end, by default n. It matters for
        ``scale="mean"``, whose penalty is lam times this number.

    Returns
    -------
    ndarray, shape (n, n)

    Raises
    ------
    ValueError
        If the learner is another one, `learn_size` impossible, or the fit not determined.

    Examples
    --------
    >>> import numpy as np, ucvtest as uv
    >>> uv.learners.hat_matrix(uv.learners.ridge(0.5), np.array([[0.0], [1.0]]))
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    if not has_hat_matrix(learner):
        raise ValueError(
            f"learner must be ridge(...) or kernel_ridge(...), got {excerpt(learner)}: others have "
            "no fixed hat matrix"
        )
    features = as_numbers("X", X)
    if features.ndim != 2 or not features.size or not np.isfinite(features).all():
        raise ValueError(
            f"X must contain finite numbers of shape (n, p), got shape {features.shape}"
        )
    if isinstance(learner, Polynomial):
        features = learner.expand(features)
    n_obs = len(features)
    size = n_obs if learn_size is None else learn_size
    if not is_integer(size) or not 1 <= size <= n_obs:
        raise ValueError(
            f"learn_size must be an integer from 1 to n = {n_obs}, got {excerpt(learn_size)}"
        )
    refuse_pairs("hat_matrix", n_obs, pair_bytes=16)
    penalty = learner.lam * (size if learner.penalty_scale == "mean" else 1.0)
    if isinstance(learner, KernelRidge):
        return _smoother(kernel_matrix(learner, features), penalty)
    if learner.penalize_intercept:
        return _ridge_smoother(np.hstack([np.ones((n_obs, 1)), features]), penalty)
    return 1.0 / n_obs + _ridge_smoother(features - features.mean(axis=0), penalty)


def held_out_predictions(hat: np.ndarray, y: np.ndarray, held_out: np.ndarray) -> np.ndarray:
    r"""Predictions of held-out observations by the fit to all others, without fitting again.

    Parameters
    ----------
    hat : ndarray, shape (n, n)
        From `hat_matrix`, with the number of remaining observations as its `learn_size`.
    y : ndarray, shape (n,) or (n, P)
        One response, or P of them (permutations, for example).
    held_out : ndarray of int, shape (R, s)
        Row r names the s observations that are held out together.

    Returns
    -------
    ndarray, shape (R, s) or (R, s, P)

    Raises
    ------
    ValueError
        If shapes do not match, a row names an observation twice, or the fit to the others is
        not determined.

    Notes
    -----
    For the held-out set S: ``f_S = (I - H_SS)^(-1) ((H y)_S - H_SS y_S)``. The reason is that the
    fit to the others does not change if the held-out observations are added with its own
    predictions as their responses. Cost: O(R s^2 (s + P)), for any n and p.

    Examples
    --------
    >>> import numpy as np, ucvtest as uv
    >>> X, y = np.arange(5.0)[:, None], np.array([0.0, 1.0, 1.0, 2.0, 9.0])
    >>> hat = uv.learners.hat_matrix(uv.learners.ridge(0.0), X)
    >>> uv.learners.held_out_predictions(hat, y, np.array([[4]]))
    array([[2.5]])
    """
    hat, response = as_numbers("hat", hat), as_numbers("y", y)
    sets = as_array("held_out", held_out)
    n_obs = len(hat) if hat.ndim else 0
    fits = response.ndim in (1, 2) and len(response) == n_obs
    if hat.shape != (n_obs, n_obs) or not fits:
        raise ValueError(
            f"hat must have shape (n, n) and y (n,) or (n, P), got {hat.shape} and {response.shape}"
        )
    if not (np.isfinite(hat).all() and np.isfinite(response).all()):
        raise ValueError("hat and y must contain finite numbers: drop or impute missing values")
    if sets.ndim != 2 or sets.dtype.kind not in "iu":
        raise ValueError(f"held_out must contain integers of shape (R, s), got shape {sets.shape}")
    ordered = np.sort(sets, axis=1)
    if sets.size and (ordered.min() < 0 or ordered.max() >= n_obs):
        raise ValueError(f"held_out must name observations from 0 to {n_obs - 1}")
    repeated_rows = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if len(repeated_rows):
        raise ValueError(f"held_out names an observation twice in row {repeated_rows[0]}")
    responses = response.reshape(n_obs, -1)
    inside = hat[sets[:, :, None], sets[:, None, :]]
    fit_to_others = (hat @ responses)[sets] - inside @ responses[sets]
    predictions = _solve(np.eye(sets.shape[1]) - inside, fit_to_others)
    return predictions.reshape(*sets.shape, *response.shape[1:])


def _ridge_smoother(design: np.ndarray, penalty: float) -> np.ndarray:
    """X (X'X + penalty I)^(-1) X', by the smaller of two systems."""
    n_obs, n_columns = design.shape
    if n_columns < n_obs:
        gram = design.T @ design + penalty * np.eye(n_columns)
        return design @ _solve(gram, design.T)
    return _smoother(design @ design.T, penalty)


def _smoother(gram: np.ndarray, penalty: float) -> np.ndarray:
    """K (K + penalty I)^(-1), which is symmetric."""
    return _solve(gram + penalty * np.eye(len(gram)), gram)


def _solve(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    if matrices.size and not (np.linalg.cond(matrices) < UNDETERMINED).all():
        raise ValueError("the observations that are left do not determine the fit: raise lam")
    return np.linalg.solve(matrices, right)
