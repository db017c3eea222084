"""Newton's method for thousands of small convex problems at once, the batch as the minor axis."""

from typing import Any, Protocol

from ucvtest.common.float64 import jax, jnp
from ucvtest.learners.solvers.linear_algebra import solve_positive_definite

OVERSHOT = 0.5
"""Share of the slope at the start that the slope at the end of a step may have, uphill."""


class Convex(Protocol):
    """A convex function for each learning set."""

    def gradient(self, b: jax.Array) -> tuple[jax.Array, Any]:
        """Gradient (q, R) at a point (q, R), and what the Hessian there is computed from."""

    def hessian(self, gradient_state: Any) -> jax.Array:
        """Hessian (q, q, R) at that point."""


def descend(
    convex: Convex,
    begin: jax.Array,
    done: jax.Array,
    *,
    max_iter: int,
    tolerance: float,
) -> tuple[jax.Array, jax.Array]:
    """Newton's method from `begin`, in the precision of the arrays; done fits stay as they are."""
    n_sets = begin.shape[1]

    def unfinished(carry: tuple[Any, ...]) -> jax.Array:
        return (carry[0] < max_iter) & ~carry[-1].all()

    def iterate(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        count, b, step, slope, done = carry
        gradient, gradient_state = convex.gradient(b)
        # The loss is convex: a slope that is steep uphill means that the step was too long.
        overshot = (gradient * step).sum(axis=0) > OVERSHOT * slope
        hessian = convex.hessian(gradient_state)
        newton = -solve_positive_definite(hessian, gradient[:, None])[:, 0]
        step = jnp.where(overshot, 0.5 * step, newton)
        slope = jnp.where(overshot, 0.5 * slope, jnp.abs((gradient * newton).sum(axis=0)))
        change = jnp.where(done, 0.0, jnp.where(overshot, -step, step))
        largest = jnp.abs(change).max(axis=0)
        settled = largest <= tolerance * (1.0 + jnp.abs(b).max(axis=0))
        # A fit that failed has also ended.
        done = done | (settled & ~overshot) | jnp.isnan(largest)
        return count + 1, b + change, step, slope, done

    carry = (0, begin, jnp.zeros_like(begin), jnp.zeros(n_sets, begin.dtype), done)
    _, b, _, _, done = jax.lax.while_loop(unfinished, iterate, carry)
    return b, done
