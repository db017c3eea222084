"""Cox's partial likelihood of many learning sets at once, the batch as the minor axis.

Observations come by time, the latest first, so that the risk set of an observation is those before
it and those of the same time. Sums over risk sets are carried from one observation to the next.
"""

from typing import Any, NamedTuple

import numpy as np

from ucvtest.common.float64 import jax, jnp
from ucvtest.learners.solvers.linear_algebra import symmetric

CANCELLED = 1e-11
"""Share of its first part up to which an element of the diagonal of the Hessian is rounding error,
as in a likelihood without a maximum."""

LEAST = float(np.finfo(float).tiny)


def latest_first(time: np.ndarray, event: np.ndarray) -> np.ndarray:
    """Places of the observations by time, the latest first; censored before events of one time."""
    order: np.ndarray = np.lexsort((event, -time))
    return order


class TiedTimes(NamedTuple):
    """Which observations, the latest first, have the same time."""

    begins: Any
    """(n,) whether an observation is the first one of its time."""
    first: Any
    """(n,) the place of the first observation of the same time."""
    last: Any
    """(n,) that of the last one."""


def tied_times(time: np.ndarray) -> TiedTimes:
    """Those of times that fall."""
    begins = np.concatenate([[True], time[1:] != time[:-1]])
    group = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)
    return TiedTimes(begins, first[group], np.append(first[1:], len(time))[group] - 1)


def efron_shares(died: jax.Array, tied: TiedTimes) -> jax.Array:
    """The share of tied deaths that has left the risk set before each of them, (n, R).

    `died` (n, R) are the deaths of each learning set, 0 or 1.
    """
    up_to = jnp.cumsum(died, axis=0)
    before = (up_to - died)[tied.first]
    number = jnp.maximum(up_to[tied.last] - before, 1.0)
    return died * (up_to - died - before) / number


class Risks(NamedTuple):
    """What a Hessian, and a baseline hazard, are computed from at some point."""

    relative: jax.Array
    """(n, R) weights exp(x'b) in the learning sets, up to a factor of each set."""
    means: jax.Array
    """(n, p, R) of the features in the risk set of each observation."""
    increments: jax.Array
    """(n, R) the addition of each death to the cumulative hazard, divided by that factor."""
    largest: jax.Array
    """(R,) logarithm of the factor."""


class PartialLikelihood(NamedTuple):
    """A penalised negative log partial likelihood for each learning set."""

    x: jax.Array
    """(n, p)"""
    pairs: jax.Array
    """(n, p (p + 1)/2): products of these columns."""
    weight: jax.Array
    """(n, R) 0 or 1."""
    died: jax.Array
    """(n, R) the deaths among the weights."""
    shares: jax.Array | None
    """(n, R) those of `efron_shares`; None for Breslow's way with ties."""
    tied: TiedTimes
    penalty: jax.Array
    """(p, R) or (p, 1)"""

    def gradient(self, b: jax.Array) -> tuple[jax.Array, Risks]:
        """Gradient (p, R) at a point (p, R), and intermediate results."""
        risks = self.risks(b)
        total = jnp.einsum("np,nr->pr", self.x, self.died, precision="highest")
        expected = (self.died[:, None] * risks.means).sum(axis=0)
        return expected - total + self.penalty * b, risks

    def risks(self, b: jax.Array) -> Risks:
        """The risk sets at a point (p, R)."""
        score = jnp.einsum("np,pr->nr", self.x, b, precision="highest")
        largest = jnp.where(self.weight > 0, score, -jnp.inf).max(axis=0)
        relative = self.weight * jnp.exp(jnp.minimum(score - largest, 0.0))
        last = self.tied.last
        total, moment = _sums(relative, self.x)
        total, moment = total[last], moment[last]
        if self.shares is not None:
            tied, tied_moment = _sums(relative * self.died, self.x, self.tied.begins)
            total = total - self.shares * tied[last]
            moment = moment - self.shares[:, None] * tied_moment[last]
        # Late ones without a member have no deaths either.
        total = jnp.maximum(total, LEAST)
        return Risks(relative, moment / total[:, None], self.died / total, largest)

    def hessian(self, risks: Risks) -> jax.Array:
        """Hessian (p, p, R); NaN on the diagonal where no digit of it is left."""
        p = self.x.shape[1]
        curvature = risks.relative * self._hazard_of_each(risks.increments)
        packed = jnp.einsum("nk,nr->kr", self.pairs, curvature, precision="highest")
        first = symmetric(packed, p)

        def add(total: jax.Array, row: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, None]:
            means, died = row
            return total + (died * means)[:, None] * means, None

        second, _ = jax.lax.scan(add, jnp.zeros_like(first), (risks.means, self.died))
        diagonal = jnp.eye(p)[:, :, None]
        penalized_hessian = first - second + diagonal * self.penalty
        lost = penalized_hessian <= CANCELLED * first
        return jnp.where((diagonal > 0) & lost, jnp.nan, penalized_hessian)

    def _hazard_of_each(self, increments: jax.Array) -> jax.Array:
        """The cumulative hazard at the time of each observation, (n, R); with Efron's shares."""
        first = self.tied.first
        up_to = jnp.cumsum(increments[::-1], axis=0)[::-1]
        hazard = up_to[first]
        if self.shares is None:
            return hazard
        tied_hazards, _ = _sums(increments * self.shares, None, self.tied.begins)
        return hazard - self.died * tied_hazards[self.tied.last]


def cumulative_hazard(
    risks: Risks, time: jax.Array, times: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Breslow's baseline hazard up to each of the times, (T, R), of fits at their maximum.

    It is that of ``exp(x'b)`` divided by the factor of each set, whose logarithm (R,) is returned
    too. `time` (n,) falls.
    """
    counted = (time[None] <= times[:, None]).astype(risks.increments.dtype)
    hazard = jnp.einsum("tn,nr->tr", counted, risks.increments, precision="highest")
    return hazard, risks.largest


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
