"""Votes of the nearest neighbours, for many learning sets in one walk through all neighbours.

`collect_votes` counts in numbers whatever the neighbours say; `elect`, for labels of two classes,
counts in bits, 64 learning sets in a word.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ucvtest.common.float64 import jax, jnp
from ucvtest.learners.jitted.neighbor_ranks import Neighbours

WORD = 64
"""Learning sets in a word."""

LOWEST_BITS = np.uint64(0x0101010101010101)
"""The lowest bit of each byte of a word."""

BYTE_EXCHANGES = (
    (4, np.uint64(0x00000000FFFFFFFF)),
    (2, np.uint64(0x0000FFFF0000FFFF)),
    (1, np.uint64(0x00FF00FF00FF00FF)),
)
"""Rounds of exchanges between words: how far apart these are, and the bytes that move."""

RANKS_PER_STEP = 4
"""Neighbours looked at between two questions whether all votes are in."""


class Votes(NamedTuple):
    """What the k nearest members of each learning set say of each observation.

    While they are collected the last two axes are the other way round.
    """

    count: Any
    """(R, n): votes so far, at most k."""
    total: Any
    """(V, R, n): sums of the values."""
    first: Any
    """(V, R, n): position of the first neighbour that voted for this class, k if none did."""
    open: Any
    """(R, n): whether the next neighbour may be as near as the last that voted."""
    tied: Any
    """(R, n): whether the order of the rows decided who voted."""


class Election(NamedTuple):
    """Labels of two classes, and what decided them; (R, n)."""

    labels: Any
    """Whether more votes than asked for are for the second class, as int8."""
    vote_ties: Any
    """Whether as many votes were for the first class; None where that cannot be."""
    distance_ties: Any
    """Whether the order of the rows decided who voted; None where that cannot be."""
    short: Any
    """Whether some votes are missing: a learning set was smaller than k, or the neighbours were
    not all there."""


@partial(jax.jit, static_argnums=(4, 5))
def collect_votes(
    state: Neighbours,
    learning: jax.Array,
    other: jax.Array | None,
    k: jax.Array,
    equal_distances: bool,
    equal_votes: bool,
) -> Votes:
    """Walk through neighbours, nearest first, until every observation has its k votes.

    They vote what `state` says, or the columns of `other` (V, R, N); one learning set may then
    stand for all. What only ties need is left out where there can be none.
    """
    n_values, n_obs = state.values.shape[1:]
    n_sets = learning.shape[0]
    dtype = state.values.dtype
    count_type = k.dtype
    # The last row, no observation at all, is in no learning set.
    members = jnp.concatenate([learning.T, jnp.zeros((1, n_sets), bool)])
    if other is not None:
        other = jnp.pad(jnp.swapaxes(other, 1, 2), ((0, 0), (0, 1), (0, 0)))

    def add_neighbour(votes: Votes, rank: jax.Array) -> Votes:
        near = state.order[rank]
        member = members[near]
        votes_now = member & (votes.count < k)
        values = state.values[rank][:, :, None] if other is None else other[:, near]
        values = values * votes_now.astype(dtype)
        first, is_undecided, tied = votes.first, votes.open, votes.tied
        if equal_votes:
            first = jnp.where((first == k) & (values > 0), votes.count, first)
        if equal_distances:
            is_undecided = is_undecided & state.tied[rank][:, None]
            tied = tied | (member & ~votes_now & is_undecided)
            is_undecided = is_undecided | votes_now
        count = votes.count + votes_now.astype(count_type)
        return Votes(count, votes.total + values, first, is_undecided, tied)

    def step(carry: tuple[jax.Array, Votes]) -> tuple[jax.Array, Votes]:
        rank, votes = carry
        for offset in range(RANKS_PER_STEP):
            votes = add_neighbour(votes, rank + offset)
        return rank + RANKS_PER_STEP, votes

    def unfinished(carry: tuple[jax.Array, Votes]) -> jax.Array:
        rank, votes = carry
        waiting = (votes.count < k) | votes.open
        return (rank < state.order.shape[0]) & waiting.any()

    shape = (n_obs, n_sets)
    voted = shape if other is None else (n_obs, other.shape[2])
    no_votes = Votes(
        # Nobody waits for the votes of an empty observation.
        jnp.broadcast_to(jnp.where(state.empty, k, 0)[:, None].astype(count_type), shape),
        jnp.zeros((n_values, *voted), dtype),
        jnp.full((n_values, *voted), k, count_type),
        jnp.zeros(shape, bool),
        jnp.zeros(shape, bool),
    )
    _, votes = jax.lax.while_loop(unfinished, step, (jnp.zeros((), int), no_votes))
    # The walk goes through memory along the learning sets; the predictions have them first.
    return Votes(*(jnp.swapaxes(array, -1, -2) for array in votes))


@partial(jax.jit, static_argnums=(3, 4, 5, 6))
def elect(
    state: Neighbours,
    learning: jax.Array,
    n_sets: jax.Array,
    k: int,
    above: int,
    equal_distances: bool,
    equal_votes: bool,
) -> Election:
    """The same walk as in `collect_votes`, over words of 64 learning sets, for two classes.

    Numbers of votes are lists of their bits, the lowest first, each an array (n, R / 64).
    Learning sets, and their results, are numbers (R, n / 8) of eight bytes each.
    """
    n_rows, (n_ranks, n_obs) = learning.shape[0], state.order.shape
    all_sets = np.uint64(2**WORD - 1)
    nobody = jnp.zeros((n_obs, n_rows // WORD), jnp.uint64)
    # The last row, no observation at all, is in no learning set.
    members = jnp.concatenate([_as_bits(learning), nobody[:1]])
    # Nobody waits for the votes of an empty observation, or of sets that only fill up a word.
    is_set = (jnp.arange(n_rows) < n_sets).reshape(-1, WORD).astype(jnp.uint64)
    sets = (is_set << jnp.arange(WORD, dtype=jnp.uint64)).sum(axis=1, dtype=jnp.uint64)
    has_votes = jnp.where(state.empty[:, None], all_sets, ~sets)

    def masks(flags: jax.Array) -> jax.Array:
        return jnp.where(flags, all_sets, np.uint64(0))[:, None]

    def add_neighbour(carry: tuple[Any, ...], rank: jax.Array) -> tuple[Any, ...]:
        count, total, first, is_undecided, tied = carry
        member = members[state.order[rank]]
        votes_now = member & ~(_equal(count, k) | has_votes)
        for_second = votes_now & masks(state.values[rank, 0] > 0)
        if equal_votes:
            first = first | (for_second & _equal(count, 0))
        if equal_distances:
            is_undecided = is_undecided & masks(state.tied[rank])
            tied = tied | (member & ~votes_now & is_undecided)
            is_undecided = is_undecided | votes_now
        return _plus(count, votes_now), _plus(total, for_second), first, is_undecided, tied

    def step(carry: tuple[jax.Array, tuple[Any, ...]]) -> tuple[jax.Array, tuple[Any, ...]]:
        rank, votes = carry
        for offset in range(RANKS_PER_STEP):
            votes = add_neighbour(votes, rank + offset)
        return rank + RANKS_PER_STEP, votes

    def unfinished(carry: tuple[jax.Array, tuple[Any, ...]]) -> jax.Array:
        rank, (count, _, _, is_undecided, _) = carry
        waiting = ~(_equal(count, k) | has_votes) | is_undecided
        return (rank < n_ranks) & (waiting != 0).any()

    zero = (nobody,) * k.bit_length()
    no_votes = (zero, zero, nobody, nobody, nobody)
    _, (count, total, first, is_undecided, tied) = jax.lax.while_loop(
        unfinished, step, (jnp.zeros((), int), no_votes)
    )
    ahead, equal = _above(total, above), nobody
    if equal_votes:
        equal = _equal(total, k // 2)
        ahead = ahead | (equal & first)

    missing_votes = ~(_equal(count, k) | has_votes)
    if n_ranks < n_obs:
        missing_votes = missing_votes | is_undecided
    return Election(
        _as_bytes(ahead),
        _as_bytes(equal & ~has_votes) if equal_votes else None,
        _as_bytes(tied & ~has_votes) if equal_distances else None,
        (missing_votes != 0).any(),
    )


def complete_sets(predictions: np.ndarray, votes: Votes, k: int) -> np.ndarray:
    """The predictions, NaN where the learning set was smaller than k."""
    missing = votes.count < k
    if missing.any():
        predictions[missing] = np.nan
    return predictions


def count_votes(tied: np.ndarray, testing: np.ndarray | None) -> int:
    """How many of the tested observations (all, if None) are ties."""
    return int(np.count_nonzero(tied if testing is None else tied & testing))


# ----------------------------------------------------------------------- words, and numbers in bits


def _as_bits(rows: jax.Array) -> jax.Array:
    """Bits (n, R / 64), 64 rows in a number, of bytes 0 or 1 (R, n / 8), eight in a number."""
    byte_rows = rows.reshape(-1, 8, rows.shape[1])
    # Eight rows share the bits of each byte: bytes of one word are still of eight columns.
    eight = byte_rows[:, 0]
    for bit in range(1, 8):
        eight = eight | (byte_rows[:, bit] << np.uint64(bit))
    blocks = eight.reshape(-1, 8, rows.shape[1])
    columns = _exchanged_bytes([blocks[:, bit_block].T for bit_block in range(8)])
    return jnp.stack(columns, axis=1).reshape(-1, blocks.shape[0])


def _as_bytes(bits: jax.Array) -> jax.Array:
    """The inverse of `_as_bits`."""
    columns = bits.reshape(-1, 8, bits.shape[1])
    blocks = _exchanged_bytes([columns[:, byte_block].T for byte_block in range(8)])
    eight = jnp.stack(blocks, axis=1).reshape(-1, 1, columns.shape[0])
    rows = (eight >> jnp.arange(8, dtype=jnp.uint64)[:, None]) & LOWEST_BITS
    return rows.reshape(-1, columns.shape[0])


def _exchanged_bytes(eight_words: list[jax.Array]) -> list[jax.Array]:
    """Eight words of eight bytes, byte i of word j exchanged with byte j of word i."""
    for distance, mask in BYTE_EXCHANGES:
        for first in range(8):
            if first & distance:
                continue
            first_word, second_word = eight_words[first], eight_words[first + distance]
            shift = np.uint64(8 * distance)
            moved = ((first_word >> shift) ^ second_word) & mask
            eight_words[first] = first_word ^ (moved << shift)
            eight_words[first + distance] = second_word ^ moved
    return eight_words


def _plus(number: tuple[jax.Array, ...], bit: jax.Array) -> tuple[jax.Array, ...]:
    """A number in bits, plus one where a bit is set; what overflows is lost."""
    digits = []
    for digit in number:
        digits.append(digit ^ bit)
        bit = digit & bit
    return tuple(digits)


def _equal(number: tuple[jax.Array, ...], constant: int) -> jax.Array:
    """Where a number in bits equals a constant."""
    is_equal = ~jnp.zeros_like(number[0])
    for bit_position, digit in enumerate(number):
        is_equal = is_equal & (digit if constant >> bit_position & 1 else ~digit)
    return is_equal


def _above(number: tuple[jax.Array, ...], constant: int) -> jax.Array:
    """Where a number in bits is larger than a constant."""
    larger, is_equal = jnp.zeros_like(number[0]), ~jnp.zeros_like(number[0])
    for bit_position, digit in reversed(list(enumerate(number))):
        if constant >> bit_position & 1:
            is_equal = is_equal & digit
        else:
            larger, is_equal = larger | (is_equal & digit), is_equal & ~digit
    return larger
