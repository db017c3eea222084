"""k nearest neighbours on features that are standardised inside each learning set.

The distances of all pairs of observations differ between learning sets, but they are sums of
the same squared differences with the reciprocal variances of the set as weights.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ucvtest.common.float64 import jax, jnp
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import Scale
from ucvtest.learners.batching import median_centred, padded_rows
from ucvtest.learners.jitted.neighbors import VoteTies, check_neighbours
from ucvtest.learners.runner import Data, MappedLearner

CANCELLED = 1e-3
"""Share of the mean square up to which a variance has lost too many digits."""

TIED = 1e-11
"""Squared distances nearer to each other than this, relative to the largest, may be equal."""


@dataclass(frozen=True)
class ScaledNeighbors(MappedLearner):
    """k nearest neighbours after a StandardScaler; made by the translation of a pipeline.

    It leaves open, NaN, what the order of equally distant neighbours decides, and learning sets in
    which a feature hardly varies. Shares of votes are exact, and so need no margin.
    """

    k: int
    ties: VoteTies

    family: ClassVar[str] = "knn"
    arguments: ClassVar[tuple[str, ...]] = ("k",)
    scale: ClassVar[Scale] = "share"
    multiclass: ClassVar[bool] = True
    regression: ClassVar[bool] = True
    indicators: ClassVar[bool] = True
    block: ClassVar[int] = 16

    @property
    def tie_code(self) -> float:
        """The class of equally many votes."""
        return float(self.ties == "second")

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also learning sets smaller than k."""
        super().check(sample, output, learn_size)
        check_neighbours(self.name, self.k, learn_size)

    def matrix_numbers(self, sample: Sample) -> int:
        """Those of the distances."""
        return sample.n_obs**2

    def share(self, sample: Sample) -> Data:
        """The features, and squared differences of all pairs, feature by feature."""
        features = median_centred(sample.matrix)
        # A column that never varies has no influence, and no variance to divide by.
        features = features[:, np.ptp(features, axis=0) > 0]
        differences = padded_rows((features[:, None] - features[None]) ** 2, axis=1)
        return Data(features, sample.target, differences)

    def fit(self, data: Data, w: jax.Array) -> jax.Array:
        """Shares of votes, or mean responses."""
        size, k = w.sum(), self.k
        mean_square = w @ data.x**2 / size
        variance = mean_square - (w @ data.x / size) ** 2
        varies = (variance > CANCELLED * mean_square).all() & (size >= k)
        distance = jnp.where(w > 0, data.more @ (1.0 / variance), jnp.inf)
        tolerance = TIED * jnp.where(w > 0, distance, 0.0).max()

        def unfinished(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
            return (carry[1] < k).any() & varies

        def widen(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            radius, count = carry
            beyond = jnp.where(distance > radius + tolerance, distance, jnp.inf)
            radius = jnp.where(count < k, beyond.min(axis=1, keepdims=True), radius)
            return radius, (distance <= radius + tolerance).sum(axis=1, keepdims=True)

        nobody = jnp.full((len(w), 1), -jnp.inf)
        start = nobody, jnp.zeros((len(w), 1), int)
        radius, _ = jax.lax.while_loop(unfinished, widen, start)
        # Members as far away as the k-th, within rounding errors on both sides, are tied.
        inside = distance < radius - tolerance
        border = ~inside & (distance <= radius + tolerance)
        missing_votes, available = k - inside.sum(axis=1), border.sum(axis=1)

        def share(y: jax.Array) -> jax.Array:
            certain, tied = inside @ y, border @ y
            known = missing_votes == available
            if data.y.ndim == 2:
                # Whichever of the tied ones vote, it is for the same class, or not for it.
                known = known | (tied == 0) | (tied == available)
            votes = certain + tied * (missing_votes / jnp.maximum(available, 1))
            return jnp.where(known & varies, votes / k, jnp.nan)

        if data.y.ndim == 1:
            return share(data.y)
        if data.y.shape[1] == 2:
            return share(data.y[:, 1])
        return jax.vmap(share, 1, 1)(data.y)
