"""Learning sets a few at a time within one jitted call, and the labels that scores predict."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ucvtest.learners.batching import Margin

__all__ = ["codes_in_blocks", "decided", "in_blocks"]


def in_blocks(learning: jax.Array, size: int) -> jax.Array:
    """Learning sets (R, n) as (R / size, size, n); in one block where that does not divide them."""
    n_sets, n_obs = learning.shape
    return learning.reshape(-1, size if n_sets % size == 0 else n_sets, n_obs)


def codes_in_blocks(
    scores: Callable[[jax.Array], Any],
    learning: jax.Array,
    size: int,
    cut: jax.Array | float,
    n_obs: jax.Array | int,
    margin: Margin | None,
) -> tuple[jax.Array, jax.Array]:
    """Predicted labels 0 and 1 (R, N), and whether some score is neither above the cut nor below.

    `scores` goes from learning sets (B, N) to scores (B, N), for `size` sets at a time: few stay in
    the cache, and their scores ask for no memory. Observations beyond `n_obs` only fill up. With a
    margin, scores within it are neither.
    """

    def block(rows: jax.Array) -> tuple[jax.Array, ...]:
        found = scores(rows)
        codes, open_ = decided(found, cut, n_obs)
        if margin is None:
            return codes, open_
        # Single precision is enough to tell what is near, and passes are twice as quick in it.
        distance = jnp.abs(found - cut).astype(jnp.float32)
        observed = jnp.arange(found.shape[1]) < n_obs
        nearest = jnp.where(observed, distance, jnp.inf).min()
        return codes, open_, nearest, jnp.where(observed, distance, 0.0).max()

    codes, open_, *extremes = jax.lax.map(block, in_blocks(learning, size))
    is_open = open_.any()
    if margin is not None:
        # The largest is known at the end only; NaN, which these may lose, is open already.
        nearest, largest = extremes
        is_open |= nearest.min() <= margin[0] + margin[1] * largest.max()
    return codes.reshape(learning.shape), is_open


def decided(
    scores: jax.Array, cut: jax.Array | float, n_obs: jax.Array | int
) -> tuple[jax.Array, jax.Array]:
    """Labels (R, N) that scores (R, N) predict, and whether one is open; see `codes_in_blocks`."""
    observed = jnp.arange(scores.shape[1]) < n_obs
    above = scores > cut
    return above.astype(jnp.int8), (~(above | (scores < cut)) & observed).any()
