"""Learners that minimise a convex function of few coefficients by Newton's method."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ucvtest.common.float64 import jax, jnp
from ucvtest.common.words import arg
from ucvtest.data.sample import Sample
from ucvtest.learners.jitted.penalties import PenalizedLearner, check_without_penalty
from ucvtest.learners.solvers.linear_algebra import divisor, principal_components, solved

MOST_COEFFICIENTS = 300
"""Most equations of a system: larger ones would take longer, and more memory, than single fits."""

OVERSHOT = 0.5
"""Share of the slope at the start that the slope at the end of a step may have, uphill."""

Derivatives = Callable[[jax.Array], tuple[jax.Array, jax.Array]]
"""Gradient (q,) and Hessian (q, q) at a point (q,)."""


class NewtonLearner(PenalizedLearner):
    """A convex loss of linear predictors, plus a penalty on the squares of the coefficients."""

    standardize: bool
    max_iter: Any

    numbers: ClassVar[tuple[str, ...]] = (*PenalizedLearner.numbers, "max_iter")
    batch_rows: ClassVar[int] = 512
    intercept: ClassVar[int] = 0
    """1 with an intercept."""

    def check_coefficients(self, sample: Sample, learn_size: int, alternatives: str) -> None:
        """Refuse too many coefficients for the method or the learning sets; name other ways."""
        check_without_penalty(self, self.lam, sample, learn_size)
        n_columns = sample.matrix.shape[1] if self.standardize else min(sample.matrix.shape)
        n_coefficients = n_columns + self.intercept
        if n_coefficients > MOST_COEFFICIENTS:
            remedy = (
                f"use {arg('standardize', False)}, " if sample.n_obs < MOST_COEFFICIENTS else ""
            )
            raise ValueError(
                f"learner {self.name} has {n_coefficients} coefficients, more than "
                f"{MOST_COEFFICIENTS}: {remedy}use fewer features, {alternatives}"
            )

    def matrix_numbers(self, sample: Sample) -> int:
        """Those of two matrices: single and double precision."""
        return int(2 * (self.intercept + min(sample.matrix.shape[1], MOST_COEFFICIENTS)) ** 2)

    def columns(self, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns in standard units, few of many where there are more than observations.

        With the units (q,), and the means subtracted (q,), in these units. Where all are constant,
        they stay as they are.
        """
        mean = matrix.mean(axis=0)
        x = matrix - mean
        if not self.standardize and x.shape[1] >= x.shape[0] and x.any():
            whole, x = x, principal_components(x)
            mean = mean @ (whole.T @ x) / (x**2).sum(axis=0)
        spread = x.std(axis=0)
        unit = np.where(spread > 0, spread, 1.0)
        return x / unit, unit, mean / unit

    def penalty(self, x: jax.Array, w: jax.Array, unit: jax.Array) -> jax.Array:
        """Weights (q,) of half the squared coefficients of columns in standard units."""
        size, total = w.sum(), self.total_penalty(w.sum())
        if not self.standardize:
            return total / unit**2
        return total * divisor(w @ x**2 / size, w @ x / size)


def minimise(
    derivatives: Derivatives, begin: jax.Array, max_iter: int, tolerance: float
) -> jax.Array:
    """The minimum (q,) of a convex function, in the precision of `begin`; NaN without one."""

    def unfinished(carry: tuple[Any, ...]) -> jax.Array:
        return (carry[0] < max_iter) & ~carry[-1]

    def iterate(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        count, b, step, slope, _ = carry
        gradient, hessian = derivatives(b)
        # A slope that is steep uphill means that the step was too long.
        overshot = gradient @ step > OVERSHOT * slope
        newton = -solved(hessian, gradient[:, None].astype(hessian.dtype))[:, 0].astype(b.dtype)
        step = jnp.where(overshot, 0.5 * step, newton)
        slope = jnp.where(overshot, 0.5 * slope, jnp.abs(gradient @ newton))
        change = jnp.where(overshot, -step, step)
        largest = jnp.abs(change).max()
        settled = ~overshot & (largest <= tolerance * (1.0 + jnp.abs(b).max()))
        # A fit that failed has also ended.
        return count + 1, b + change, step, slope, settled | jnp.isnan(largest)

    start: tuple[Any, ...] = (
        0,
        begin,
        jnp.zeros_like(begin),
        jnp.zeros((), begin.dtype),
        jnp.array(False),
    )
    _, b, _, _, done = jax.lax.while_loop(unfinished, iterate, start)
    return jnp.where(done, b, jnp.nan)
