"""Cox's partial likelihood of one learning set.

Observations come by time, the latest first, so that the risk set of an observation is those before
it and those of the same time. Sums over risk sets are carried from one observation to the next, for
many learning sets side by side, which is quicker than sums of rows and gathers.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ucvtest.common.float64 import jax, jnp
from ucvtest.learners.solvers.linear_algebra import batch_last, products, symmetric

CANCELLED = 1e-11
"""Share of its first part up to which an element of the diagonal of the Hessian is rounding error,
as in a likelihood without a maximum."""

LEAST = float(np.finfo(float).tiny)


class TiedTimes(NamedTuple):
    """Which observations, the latest first, have the same time."""

    begins: Any
    """(n,) whether an observation is the first one of its time."""
    first: Any
    """(n,) the place of the first observation of the same time."""
    last: Any
    """(n,) that of the last one."""


class PartialLikelihood(NamedTuple):
    """A penalised negative log partial likelihood."""

    x: jax.Array
    """(n, q)"""
    w: jax.Array
    """(n,) 0 or 1."""
    died: jax.Array
    """(n,) the deaths among them."""
    tied: Any
    """`TiedTimes`; () without any."""
    penalty: jax.Array
    """(q,)"""
    share: Any
    """(n,) the share of tied deaths that has left the risk set before each, by Efron; or ()."""

    @classmethod
    def of(
        cls,
        x: jax.Array,
        w: jax.Array,
        died: jax.Array,
        tied: Any,
        penalty: jax.Array,
        *,
        efron: bool,
    ) -> "PartialLikelihood":
        """With Efron's way with ties, or Breslow's."""
        share = batch_last(_efron_shares)(died, tied.first, tied.last) if efron and tied else ()
        return cls(x, w, died, tied, penalty, share)

    def derivatives(self, b: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Gradient and Hessian at a point; NaN on the diagonal where no digit of it is left."""
        gradient, curvature, second = self._called(_derivatives, b)
        plus = symmetric(curvature @ products(self.x), len(b))
        hessian = plus - second + jnp.diag(self.penalty)
        lost = jnp.diagonal(hessian) <= CANCELLED * jnp.diagonal(plus)
        return gradient + self.penalty * b, jnp.where(jnp.diag(lost), jnp.nan, hessian)

    def hazard(self, b: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The addition of each death to the cumulative hazard (n,) but for a factor; its logarithm.

        With Efron's shares, as in R's ``survfit(coxph())``.
        """
        _, _, increments, largest = self._called(_risks, b)
        return increments, largest

    def _called(self, function: Callable[..., Any], b: jax.Array) -> Any:
        """A function of learning sets side by side, for this one."""
        efron = not isinstance(self.share, tuple)
        ties = *self.tied, *([self.share] if efron else [])
        side_by_side = batch_last(partial(function, bool(self.tied), efron))
        return side_by_side(b, self.x, self.w, self.died, *ties)


# In the following, all arrays have the learning sets as their last axis.


def _efron_shares(died: jax.Array, first: jax.Array, last: jax.Array) -> jax.Array:
    up_to = jnp.cumsum(died, axis=0)
    before = (up_to - died)[first[:, 0]]
    number = jnp.maximum(up_to[last[:, 0]] - before, 1.0)
    return died * (up_to - died - before) / number


def _risks(
    tied: bool,
    efron: bool,
    b: jax.Array,
    x: jax.Array,
    w: jax.Array,
    died: jax.Array,
    begins: Any = None,
    first: Any = None,
    last: Any = None,
    share: Any = None,
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Weights exp(x'b), means over risk sets, additions to the hazard, and the largest x'b."""
    x = x[..., 0]
    score = jnp.einsum("np,pr->nr", x, b, precision="highest")
    largest = jnp.where(w > 0, score, -jnp.inf).max(axis=0)
    relative = w * jnp.exp(jnp.minimum(score - largest, 0.0))
    total, moment = _sums(relative, x)
    if tied:
        total, moment = total[last[:, 0]], moment[last[:, 0]]
    if efron:
        own, own_moment = _sums(relative * died, x, begins[:, 0])
        total = total - share * own[last[:, 0]]
        moment = moment - share[:, None] * own_moment[last[:, 0]]
    # Late ones without a member have no deaths either.
    total = jnp.maximum(total, LEAST)
    return relative, moment / total[:, None], died / total, largest


def _derivatives(
    tied: bool,
    efron: bool,
    b: jax.Array,
    x: jax.Array,
    w: jax.Array,
    died: jax.Array,
    begins: Any = None,
    first: Any = None,
    last: Any = None,
    share: Any = None,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The gradient, and the weights of products and the other part of the Hessian."""
    risks = _risks(tied, efron, b, x, w, died, begins, first, last, share)
    relative, means, increments, _ = risks
    observed = jnp.einsum("np,nr->pr", x[..., 0], died, precision="highest")
    gradient = (died[:, None] * means).sum(axis=0) - observed
    # From the end, so that small hazards are not differences of large ones.
    hazard = jnp.cumsum(increments[::-1], axis=0)[::-1]
    if tied:
        hazard = hazard[first[:, 0]]
    if efron:
        shares, _ = _sums(increments * share, None, begins[:, 0])
        hazard = hazard - died * shares[last[:, 0]]

    def add(total: jax.Array, row: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, None]:
        mean, death = row
        return total + (death * mean)[:, None] * mean, None

    zero = jnp.zeros((means.shape[1], *means.shape[1:]))
    second, _ = jax.lax.scan(add, zero, (means, died))
    return gradient, relative * hazard, second


def _sums(
    values: jax.Array, x: jax.Array | None, begins: jax.Array | None = None
) -> tuple[jax.Array, jax.Array]:
    """Running sums of values (n, R), and of their products with x (n, p): (n, R) and (n, p, R).

    They begin again where `begins` (n,).
    """
    x = jnp.zeros((len(values), 0)) if x is None else x
    keeps = jnp.ones(len(values)) if begins is None else 1.0 - begins

    def add(
        sums: tuple[jax.Array, jax.Array], row: tuple[jax.Array, jax.Array, jax.Array]
    ) -> tuple[tuple[jax.Array, jax.Array], tuple[jax.Array, jax.Array]]:
        value, features, keep = row
        total = keep * sums[0] + value
        moment = keep * sums[1] + features[:, None] * value
        return (total, moment), (total, moment)

    zero_sums = (jnp.zeros(values.shape[1]), jnp.zeros((x.shape[1], values.shape[1])))
    _, running_sums = jax.lax.scan(add, zero_sums, (values, x, keeps))
    return running_sums
