"""Logistic regression with a ridge penalty, by Newton's method."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from ucvtest.common.float64 import jax, jnp
from ucvtest.common.words import term
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import Scale
from ucvtest.learners.jitted.newton import Derivatives, NewtonLearner, minimise
from ucvtest.learners.jitted.penalties import Penalty, PenaltyScale, Steps
from ucvtest.learners.runner import Data, State
from ucvtest.learners.solvers.linear_algebra import products, symmetric

NEAR, CONVERGED = 1e-3, 1e-5
"""Largest change of a coefficient in the last step, in standard units and relative to the largest
one, of the start and of the fit."""

MOST_LOG_ODDS = 1e3
"""Coefficients of a start that has no end."""

DIGITS = 6
"""Those of the start after the point."""


def logistic(
    lam: float, standardize: bool = True, scale: PenaltyScale = "mean", *, max_iter: int = 50
) -> "RidgeLogistic":
    """Logistic regression with a ridge penalty.

    Parameters
    ----------
    lam : float
        Weight of the penalty, not negative.
    standardize : bool
        Whether the features are standardised inside each learning set (standard deviation
        with divisor g), as in glmnet.
    scale : {"mean", "sum"}
        Minimise the mean negative log-likelihood + ``lam/2 |b|^2``, or its sum + ``lam/2 |b|^2``.
    max_iter : int
        Newton steps that one fit may take; a fit that needs more has no solution, which the
        evaluation reports as an error.

    Returns
    -------
    RidgeLogistic

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    ``logistic(lam)`` is R's glmnet with ``alpha = 0`` at one lambda;
    ``logistic(1 / C, standardize=False, scale="sum")`` is scikit-learn's
    ``LogisticRegression(C=C)``, fitted to the end. The intercept is not penalised. Without a
    penalty there is no solution where the classes can be separated.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.logistic(0.1).name, uv.learners.logistic(1.0, scale="sum").name
    ('logistic:0.1', 'logistic:1.0,scale=sum')
    """
    return RidgeLogistic(lam, standardize, scale, max_iter)


@dataclass(frozen=True)
class RidgeLogistic(NewtonLearner):
    """Logistic regression with a ridge penalty; made by `logistic`."""

    lam: Penalty
    standardize: bool = True
    penalty_scale: PenaltyScale = "mean"
    max_iter: Steps = 50
    exact: bool = field(default=False, repr=False)
    """Whether Hessians have double precision."""

    family: ClassVar[str] = "logistic"
    scale: ClassVar[Scale] = "log_odds"
    intercept: ClassVar[int] = 1
    no_solution: ClassVar[str] = (
        "Newton's method has not converged: raise lam (without a penalty, classes that can be "
        "separated have no solution), or raise max_iter"
    )

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also too many coefficients."""
        super().check(sample, output, learn_size)
        alternatives = f"lasso, or {term('a scikit-learn classifier')}"
        self.check_coefficients(sample, learn_size, alternatives)

    def share(self, sample: Sample) -> Data:
        """Columns in standard units and one of ones, the units, and where the fits start."""
        x, unit, _ = self.columns(sample.matrix)
        x = np.column_stack([np.ones(sample.n_obs), x])
        return Data(x, sample.target, shared=(unit, self._whole_fit(x, sample.target, unit)))

    def _whole_fit(self, x: np.ndarray, y: np.ndarray, unit: np.ndarray) -> np.ndarray:
        """Coefficients (q,) about those of the whole sample; zeros without any."""
        weights = np.ones(x.shape[1] - 1) if self.standardize else 1.0 / unit**2
        penalty = np.append(0.0, self.total_penalty(len(y)) * weights)
        b = np.zeros(x.shape[1])
        for _ in range(self.max_iter):
            share = expit(x @ b)
            hessian = (x.T * (share * (1.0 - share))) @ x + np.diag(penalty)
            try:
                step = np.linalg.solve(hessian, x.T @ (share - y) + penalty * b)
            except np.linalg.LinAlgError:
                break
            b = b - step
            if not np.abs(b).max() < MOST_LOG_ODDS:
                break
            if np.abs(step).max() <= NEAR * (1.0 + np.abs(b).max()):
                # The last digits depend on the machine.
                return b.round(DIGITS)
        return np.zeros(x.shape[1])

    def scores(
        self, state: State, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Log-odds; those that single precision did not find are found in double precision."""
        scores = super().scores(state, learning, labels)
        if self.exact or not np.isnan(scores.sum()):
            return scores
        exact = replace(self, exact=True).scores(state, learning, labels)
        return np.where(np.isnan(scores), exact, scores)

    def fit(self, data: Data, w: jax.Array) -> jax.Array:
        """Log-odds; NaN where a fit has not converged."""
        x, (unit, begin) = data.x, data.shared
        if self.relabeled:
            # The fit to the sample's own response says nothing of other labels.
            begin = jnp.zeros_like(begin)
        penalty = jnp.concatenate([jnp.zeros(1), self.penalty(x[:, 1:], w, unit)])
        # Single precision is twice as fast, and steps need no more digits than they have to win.
        dtype = float if self.exact else jnp.float32
        functions = derivatives(x, data.y, w, penalty, dtype)
        return minimise(functions, begin, self.max_iter, CONVERGED) @ x.T


def derivatives(
    x: jax.Array, y: jax.Array, w: jax.Array, penalty: jax.Array, dtype: Any
) -> Derivatives:
    """Those of a sum of losses of linear predictors, plus half the weighted squares of b.

    The Hessian in some precision.
    """
    w_there, penalty_there, pairs = (array.astype(dtype) for array in (w, penalty, products(x)))

    def first_and_second(b: jax.Array) -> tuple[jax.Array, jax.Array]:
        share = jax.nn.sigmoid(x @ b)
        curvature = w_there * (share * (1.0 - share)).astype(dtype)
        hessian = symmetric(curvature @ pairs, len(b)) + jnp.diag(penalty_there)
        return (w * (share - y)) @ x + penalty * b, hessian

    return first_and_second
