"""k nearest neighbours on features that are standardised inside each learning set.

The distances of all pairs of observations differ between learning sets, but they are sums of
the same squared differences with the reciprocal variances of the set as weights: one matrix
product gives those of many sets.
"""

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ucvtest.common.float64 import in_float64, jax, jit, jnp, to_device
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import Predictions, class_members
from ucvtest.learners.batching import median_centred, padded_rows, rows_for_cache
from ucvtest.learners.jitted.neighbors import OpenNeighbors

CACHE_NUMBERS = 2**20
"""Distances in one call."""

LEAST_ROWS = 8
"""Learning sets in one call, at least."""

CANCELLED = 1e-3
"""Share of the mean square up to which a variance has lost too many digits."""

TIED = 1e-11
"""Squared distances nearer to each other than this, relative to the largest, may be equal."""


class Pairs(NamedTuple):
    """What all learning sets share, as JAX arrays; N >= n observations, the last ones empty."""

    features: Any
    """(N, p), centred."""
    differences: Any
    """(N, N, p): squared differences of all pairs."""
    values: Any
    """(V, N): the votes of each observation."""


@dataclass(frozen=True)
class ScaledNeighbors(OpenNeighbors):
    """k nearest neighbours after a StandardScaler; made by the translation of a pipeline.

    It also leaves open predictions of learning sets in which a feature hardly varies.
    """

    def rows_per_call(self, sample: Sample) -> int:
        """As many as leave their distances in the cache."""
        fitting = rows_for_cache(sample.n_obs**2, CACHE_NUMBERS, LEAST_ROWS)
        return min(super().rows_per_call(sample), fitting)

    @in_float64
    def prepare(self, sample: Sample) -> Any:
        """Squared differences of all pairs, feature by feature."""
        features = median_centred(sample.matrix)
        # A column that never varies has no influence, and no variance to divide by.
        features = padded_rows(features[:, np.ptp(features, axis=0) > 0])
        differences = (features[:, None] - features[None]) ** 2
        values = sample.target[None] if sample.n_classes <= 2 else class_members(sample).T
        return Pairs(*to_device((features, differences, padded_rows(values, axis=1))))

    def scores(
        self, state: Pairs, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Shares of votes, or mean responses; NaN where they are left open."""
        smallest_votes, largest_votes = self._totals(state, learning, labels)
        shares = np.where(smallest_votes == largest_votes, smallest_votes, np.nan) / self.k
        return shares[0] if len(shares) == 1 else np.moveaxis(shares, 0, 2)

    def predict(
        self,
        state: Pairs,
        learning: np.ndarray,
        output: Output,
        testing: np.ndarray | None = None,
        labels: np.ndarray | None = None,
    ) -> Predictions:
        """Predictions of the kind that a loss needs; NaN where they are left open."""
        if output != "label":
            return Predictions(self.scores(state, learning, labels), Counter())
        smallest_votes, largest_votes = self._totals(state, learning, labels)
        if len(smallest_votes) == 1:
            low, high = (self._ahead(total[0]) for total in (smallest_votes, largest_votes))
            is_undecided = (low != high) | np.isnan(smallest_votes[0])
            return Predictions(np.where(is_undecided, np.nan, low), Counter())
        is_undecided = (smallest_votes != largest_votes).any(axis=0)
        return Predictions(np.where(is_undecided, np.nan, smallest_votes.argmax(axis=0)), Counter())

    @in_float64
    def _totals(self, state: Pairs, learning: np.ndarray, labels: np.ndarray | None) -> Any:
        """Smallest and largest sums of votes, (V, R, n) each; NaN if there is none."""
        n_obs = learning.shape[1]
        if labels is not None:
            n_values = state.values.shape[0]
            values = [labels] if n_values == 1 else [labels == code for code in range(n_values)]
            learning = np.broadcast_to(learning, labels.shape)
            state = state._replace(values=padded_rows(np.stack(values).astype(float), axis=2))
        counts = np.isin(np.asarray(state.values), (0.0, 1.0)).all()
        padded = padded_rows(learning, axis=1)
        vote_sums = _sums(state, padded, self.k, bool(counts) and len(state.values) == 1)
        return tuple(np.asarray(total)[..., :n_obs] for total in vote_sums)


@partial(jit, static_argnums=(2, 3))
def _sums(pairs: Pairs, learning: jax.Array, k: int, codes: bool) -> tuple[jax.Array, jax.Array]:
    """Sums of the votes of the k nearest members, whichever of the tied ones are among them."""
    weights = learning.astype(pairs.features.dtype)
    size = weights.sum(axis=1)
    mean = weights @ pairs.features / size[:, None]
    mean_square = weights @ pairs.features**2 / size[:, None]
    variance = mean_square - mean**2
    varies = (variance > CANCELLED * mean_square).all(axis=1) & (size >= k)
    distance = jnp.einsum("ijp,rp->rij", pairs.differences, 1.0 / variance, precision="highest")
    distance = jnp.where(learning[:, None], distance, jnp.inf)
    largest = jnp.where(jnp.isfinite(distance), distance, 0.0).max(axis=(1, 2))
    tolerance = (TIED * largest)[:, None, None]

    def unfinished(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
        _, count = carry
        return ((count < k) & varies[:, None]).any()

    def widen(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        radius, count = carry
        is_beyond = distance > radius[:, :, None] + tolerance
        next_radius = jnp.where(is_beyond, distance, jnp.inf).min(axis=2)
        radius = jnp.where(count < k, next_radius, radius)
        return radius, (distance <= radius[:, :, None] + tolerance).sum(axis=2)

    none = jnp.full(distance.shape[:2], -jnp.inf)
    no_radius = (none, jnp.zeros(distance.shape[:2], dtype=int))
    radius, _ = jax.lax.while_loop(unfinished, widen, no_radius)
    # Members as far away as the k-th, within rounding errors on both sides, are tied.
    inside = distance < radius[:, :, None] - tolerance
    border = ~inside & (distance <= radius[:, :, None] + tolerance)
    values = pairs.values if pairs.values.ndim == 3 else pairs.values[:, None]

    def votes(who: jax.Array) -> jax.Array:
        return jnp.where(who[None], values[:, :, None], 0.0).sum(axis=3)

    certain, tied = votes(inside), votes(border)
    missing_votes, available = k - inside.sum(axis=2), border.sum(axis=2)
    if codes:
        smallest_votes = certain + jnp.maximum(missing_votes - (available - tied), 0.0)
        largest_votes = certain + jnp.minimum(missing_votes, tied)
    else:
        smallest_votes = largest_votes = jnp.where(
            missing_votes == available, certain + tied, jnp.nan
        )
    usable = varies[:, None]
    return jnp.where(usable, smallest_votes, jnp.nan), jnp.where(usable, largest_votes, jnp.nan)
