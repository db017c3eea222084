"""Learning sets a few at a time within one jitted call, and the labels that scores predict."""

from collections.abc import Callable

from ucvtest.common.float64 import jax, jnp
from ucvtest.learners.batching import Margin


def in_blocks(learning: jax.Array, size: int) -> jax.Array:
    """Learning sets (R, n) as (R / size, size, n); in one block where that does not divide them."""
    n_sets, n_obs = learning.shape
    return learning.reshape(-1, size if n_sets % size == 0 else n_sets, n_obs)


def labels_in_blocks(
    scores: Callable[[jax.Array], tuple[jax.Array, jax.Array]],
    learning: jax.Array,
    size: int,
    cut: jax.Array | float,
    n_obs: jax.Array | int,
    margin: Margin | None,
) -> tuple[jax.Array, jax.Array]:
    """Predicted labels 0 and 1 (R, N), and whether some score is neither above the cut nor below.

    `scores` goes from learning sets (B, N) to scores (B, N) and what none of a set's exceeds (B,),
    for `size` sets at a time: few stay in the cache, and their scores ask for no memory.
    Observations beyond `n_obs` only fill up. With a margin, scores within it are neither.
    """

    def block(rows: jax.Array) -> tuple[jax.Array, jax.Array]:
        block_scores, largest = scores(rows)
        if margin is None:
            return decided(block_scores, cut, n_obs)
        # What a set's scores do not exceed says how near is too near, without a pass over them.
        distance = margin[0] + margin[1] * (largest + jnp.abs(cut))
        clear = jnp.abs(block_scores - cut) > distance[:, None]
        # NaN is not clear.
        is_undecided = ~clear & (jnp.arange(block_scores.shape[1]) < n_obs)
        return (block_scores > cut).astype(jnp.int8), is_undecided.any()

    predicted, is_undecided = jax.lax.map(block, in_blocks(learning, size))
    return predicted.reshape(learning.shape), is_undecided.any()


def decided(
    scores: jax.Array, cut: jax.Array | float, n_obs: jax.Array | int
) -> tuple[jax.Array, jax.Array]:
    """Labels (R, N) that scores (R, N) predict, and whether one is open; see `labels_in_blocks`."""
    observed = jnp.arange(scores.shape[1]) < n_obs
    above = scores > cut
    return above.astype(jnp.int8), (~(above | (scores < cut)) & observed).any()
