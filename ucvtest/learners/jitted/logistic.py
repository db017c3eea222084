"""Logistic regression with a ridge penalty, by Newton's method."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ucvtest.common.float64 import jax, jnp
from ucvtest.common.words import term
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import Scale, short_name
from ucvtest.learners.jitted.newton import Derivatives, NewtonLearner, minimise
from ucvtest.learners.jitted.penalties import PenaltyScale, as_penalty
from ucvtest.learners.runner import Data
from ucvtest.learners.solvers.linear_algebra import products, symmetric

NEAR, CONVERGED = 1e-3, 1e-5
"""Largest change of a coefficient in the last step, in standard units and relative to the largest
one: of the start, in single precision, and of the fit. The error after a step is about its square.
"""


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
    return RidgeLogistic(as_penalty(lam), standardize, scale, max_iter)


@dataclass(frozen=True)
class RidgeLogistic(NewtonLearner):
    """Logistic regression with a ridge penalty; made by `logistic`."""

    lam: float
    standardize: bool = True
    penalty_scale: PenaltyScale = "mean"
    max_iter: int = 50

    scale: ClassVar[Scale] = "log_odds"
    intercept: ClassVar[int] = 1
    no_solution: ClassVar[str] = (
        "Newton's method has not converged: raise lam (without a penalty, classes that can be "
        "separated have no solution), or raise max_iter"
    )

    @property
    def name(self) -> str:
        """``logistic:lam``, and what differs from the defaults."""
        options = {
            "standardize": (self.standardize, True),
            "scale": (self.penalty_scale, "mean"),
            "max_iter": (self.max_iter, 50),
        }
        return short_name("logistic", [self.lam], options)

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also too many coefficients."""
        super().check(sample, output, learn_size)
        alternatives = f"lasso, or {term('a scikit-learn classifier')}"
        self.check_coefficients(sample, learn_size, alternatives)

    def share(self, sample: Sample) -> Data:
        """Columns in standard units and one of ones, and who is in the sample."""
        x, unit, _ = self.columns(sample.matrix)
        ones = np.ones(sample.n_obs)
        return Data(np.column_stack([ones, x]), sample.target, ones, unit)

    def fit(self, data: Data, w: jax.Array) -> jax.Array:
        """Log-odds; NaN where a fit has not converged."""
        begin = jnp.zeros(data.x.shape[1])
        if not self.relabeled:
            # The fit to the whole sample is the same for all learning sets, so it is done once.
            begin = self._coefficients(data, data.more, begin, jnp.float32, NEAR)
        # Single precision is twice as fast, and close enough to leave few last steps.
        near = self._coefficients(data, w, begin, jnp.float32, NEAR)
        return self._coefficients(data, w, near, float, CONVERGED, jnp.nan) @ data.x.T

    def _coefficients(
        self,
        data: Data,
        w: jax.Array,
        begin: jax.Array,
        dtype: Any,
        tolerance: float,
        otherwise: Any = None,
    ) -> jax.Array:
        """Coefficients (q,) in some precision, or others if there are no coefficients."""
        penalty = jnp.concatenate([jnp.zeros(1), self.penalty(data.x[:, 1:], w, data.shared)])
        inputs = (array.astype(dtype) for array in (data.x, data.y, w, penalty))
        b = minimise(derivatives(*inputs), begin.astype(dtype), self.max_iter, tolerance)
        return jnp.where(jnp.isnan(b), begin if otherwise is None else otherwise, b)


def loss(eta: jax.Array, y: jax.Array) -> jax.Array:
    """The negative log-likelihood of one observation."""
    return jax.nn.softplus(eta) - y * eta


def derivatives(x: jax.Array, y: jax.Array, w: jax.Array, penalty: jax.Array) -> Derivatives:
    """Those of a sum of losses of linear predictors, plus half the weighted squares of b."""
    slope = jax.grad(loss)
    first, second = jax.vmap(slope), jax.vmap(jax.grad(slope))
    pairs = products(x)

    def first_and_second(b: jax.Array) -> tuple[jax.Array, jax.Array]:
        eta = x @ b
        hessian = symmetric((w * second(eta, y)) @ pairs, len(b))
        return (w * first(eta, y)) @ x + penalty * b, hessian + jnp.diag(penalty)

    return first_and_second
