"""Votes of the nearest neighbours, for many learning sets in one walk through all neighbours.

`collect_votes` counts in numbers whatever the neighbours say; `elect`, for labels of two classes,
counts in bits, 64 learning sets in a word.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ucvtest.common.float64 import jax, jnp
from ucvtest.common.padding import next_multiple, padded
from ucvtest.learners.runner import Data, Key

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


class Neighbours(NamedTuple):
    """Neighbours of N observations, nearest first; the last observations may only fill up."""

    order: Any
    """(K, N): the observations by their distance from each one; more than there are for none."""
    tied: Any
    """(K, N): whether as far away as the one before; None where none is."""
    empty: Any
    """(N,): the observations that only fill up."""


class Votes(NamedTuple):
    """What the k nearest members of each learning set say of each observation.

    While they are collected the last two axes are the other way round.
    """

    count: Any
    """(R, n): votes so far, at most k."""
    total: Any
    """(V, R, n): sums of the values; V = 1 for two classes and for numbers."""
    first: Any
    """(V, R, n): position of the first neighbour that voted for this class, k if none did."""
    open: Any
    """(R, n): whether the next neighbour may be as near as the last that voted."""
    tied: Any
    """(R, n): whether the order of the rows decided who voted."""


class Election(NamedTuple):
    """Labels of two classes, and what decided them; (R, n)."""

    labels: Any
    """Whether the second class wins, as int8."""
    vote_ties: Any
    """Whether as many votes were for the first class; None where that cannot be."""
    distance_ties: Any
    """Whether the order of the rows decided who voted; None where that cannot be."""
    short: Any
    """Whether some votes are missing, or the neighbours that are kept end in a tie."""


@partial(jax.jit, static_argnums=0)
def collect_votes(
    key: Key,
    numbers: dict[str, Any],
    data: Data,
    learning: jax.Array,
    labels: jax.Array | None,
    k: jax.Array,
) -> Votes:
    """Walk through neighbours, nearest first, until every observation has its k votes.

    They vote what `data` says, or the labels (R, N); one learning set may then stand for all. What
    only ties need is left out where there can be none.
    """
    near: Neighbours = data.shared
    (n_ranks, n_obs), n_sets, y = near.order.shape, len(learning), data.y
    if labels is None:
        values = jnp.atleast_2d(y.T)[:, :, None]
    else:
        values = labels.T[None]
        if y.ndim == 2:
            values = values == jnp.arange(y.shape[1])[:, None, None]
    # The last row, no observation at all, is in no learning set.
    members = jnp.concatenate([learning.T, jnp.zeros((1, n_sets), bool)])
    dtype = y.dtype if y.dtype == float else k.dtype
    values = jnp.pad(values.astype(dtype), ((0, 0), (0, 1), (0, 0)))

    def add_neighbour(votes: Votes, rank: jax.Array) -> Votes:
        member = members[near.order[rank]]
        votes_now = member & (votes.count < k)
        value = values[:, near.order[rank]] * votes_now.astype(dtype)
        first, is_undecided, tied = votes.first, votes.open, votes.tied
        if key.learner.ties == "nearest":
            first = jnp.where((first == k) & (value > 0), votes.count, first)
        if near.tied is not None:
            is_undecided = is_undecided & near.tied[rank][:, None]
            tied = tied | (member & ~votes_now & is_undecided)
            is_undecided = is_undecided | votes_now
        count = votes.count + votes_now.astype(k.dtype)
        return Votes(count, votes.total + value, first, is_undecided, tied)

    def unfinished(carry: tuple[jax.Array, Votes]) -> jax.Array:
        rank, votes = carry
        return (rank < n_ranks) & ((votes.count < k) | votes.open).any()

    shape, voted = (n_obs, n_sets), (len(values), n_obs, max(n_sets, values.shape[2]))
    no_votes = Votes(
        # Nobody waits for the votes of an empty observation.
        jnp.broadcast_to(jnp.where(near.empty, k, 0)[:, None].astype(k.dtype), shape),
        jnp.zeros(voted, dtype),
        jnp.full(voted, k, k.dtype),
        jnp.zeros(shape, bool),
        jnp.zeros(shape, bool),
    )
    votes = _walk(add_neighbour, unfinished, no_votes)
    # The walk goes through memory along the learning sets; the predictions have them first.
    return Votes(*(jnp.swapaxes(array, -1, -2) for array in votes))


def elect(
    key: Key, numbers: dict[str, Any], data: Data, learning: np.ndarray, labels: None
) -> Election:
    """The same walk as in `collect_votes`, over words of 64 learning sets, for two classes."""
    n_sets = len(learning)
    words = padded(learning, next_multiple(n_sets, WORD), 0).view(np.uint64)
    election = _elect(key, data, words, n_sets)
    winners, vote_ties, distance_ties = (
        None if bits is None else np.asarray(bits).view(dtype)[:n_sets]
        for bits, dtype in zip(election[:3], (np.int8, bool, bool), strict=True)
    )
    return Election(winners, vote_ties, distance_ties, bool(election.short))


@partial(jax.jit, static_argnums=0)
def _elect(key: Key, data: Data, learning: jax.Array, n_sets: jax.Array) -> Election:
    """Numbers of votes are lists of their bits, the lowest first, each an array (N, R / 64).

    Learning sets, and their results, are numbers (R, N / 8) of eight bytes each.
    """
    near, k, ties = data.shared, key.learner.k, key.learner.ties
    equal_votes, above = ties == "nearest" and k % 2 == 0, (k - (ties == "second")) // 2
    n_rows, (n_ranks, n_obs) = len(learning), near.order.shape
    all_sets = np.uint64(2**WORD - 1)
    nobody = jnp.zeros((n_obs, n_rows // WORD), jnp.uint64)
    # The last row, no observation at all, is in no learning set.
    members = jnp.concatenate([_as_bits(learning), nobody[:1]])
    # Nobody waits for the votes of an empty observation, or of sets that only fill up a word.
    is_set = (jnp.arange(n_rows) < n_sets).reshape(-1, WORD).astype(jnp.uint64)
    sets = (is_set << jnp.arange(WORD, dtype=jnp.uint64)).sum(axis=1, dtype=jnp.uint64)
    has_votes = jnp.where(near.empty[:, None], all_sets, ~sets)
    second = jnp.pad(jnp.where(data.y > 0, all_sets, np.uint64(0)), (0, 1))

    def add_neighbour(votes: tuple[Any, ...], rank: jax.Array) -> tuple[Any, ...]:
        count, total, first, is_undecided, tied = votes
        member = members[near.order[rank]]
        votes_now = member & ~(_equal(count, k) | has_votes)
        for_second = votes_now & second[near.order[rank]][:, None]
        if equal_votes:
            first = first | (for_second & _equal(count, 0))
        if near.tied is not None:
            as_near = jnp.where(near.tied[rank], all_sets, np.uint64(0))[:, None]
            is_undecided = is_undecided & as_near
            tied = tied | (member & ~votes_now & is_undecided)
            is_undecided = is_undecided | votes_now
        return _plus(count, votes_now), _plus(total, for_second), first, is_undecided, tied

    def unfinished(carry: tuple[jax.Array, tuple[Any, ...]]) -> jax.Array:
        rank, (count, _, _, is_undecided, _) = carry
        waiting = ~(_equal(count, k) | has_votes) | is_undecided
        return (rank < n_ranks) & (waiting != 0).any()

    zero = (nobody,) * k.bit_length()
    no_votes = (zero, zero, nobody, nobody, nobody)
    count, total, first, is_undecided, tied = _walk(add_neighbour, unfinished, no_votes)
    waiting = ~(_equal(count, k) | has_votes)
    if near.tied is not None and n_ranks < n_obs:
        waiting = waiting | is_undecided
    ahead, equal = _above(total, above), nobody
    if equal_votes:
        equal = _equal(total, k // 2)
        ahead = ahead | (equal & first)
    return Election(
        _as_bytes(ahead),
        _as_bytes(equal & ~has_votes) if equal_votes else None,
        None if near.tied is None else _as_bytes(tied & ~has_votes),
        (waiting != 0).any(),
    )


def _walk(add_neighbour: Any, unfinished: Any, no_votes: Any) -> Any:
    """The votes, one rank of neighbours after the other, a few at a time."""

    def step(carry: tuple[jax.Array, Any]) -> tuple[jax.Array, Any]:
        rank, votes = carry
        for offset in range(RANKS_PER_STEP):
            votes = add_neighbour(votes, rank + offset)
        return rank + RANKS_PER_STEP, votes

    return jax.lax.while_loop(unfinished, step, (jnp.zeros((), int), no_votes))[1]


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
