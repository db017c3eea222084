"""k nearest neighbours, many learning sets at once: the neighbours are sorted once for all.

Labels of two classes are counted in bits: a word holds the same bit of the votes of 64 learning
sets, so that one operation goes on with all of them.
"""

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ucvtest.float64 import in_float64, to_device
from ucvtest.learners.base import (
    JittedLearner,
    Predictions,
    Scale,
    class_members,
    padded_rows,
    padded_size,
    squared_distances,
)
from ucvtest.losses import Output
from ucvtest.sample import Sample

__all__ = ["NearestNeighbors", "SurestNeighbors", "knn"]

DISTANCE_DIGITS = 8 * np.finfo(float).eps
"""Rounding error of a squared distance, for each feature and relative to the largest square."""

SAME_MEAN = 1e-12
"""Relative difference of two means of the same numbers, at most."""

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


def knn(k: int) -> "NearestNeighbors":
    """k nearest neighbours in Euclidean distance, all votes equal.

    Parameters
    ----------
    k : int
        Number of neighbours.

    Returns
    -------
    NearestNeighbors
        Scores and probabilities are shares of the neighbours; for a real response it
        predicts their mean.

    Raises
    ------
    ValueError
        If `k` is no positive integer.

    Notes
    -----
    Classes with equally many votes: the one that has the nearest of the neighbours wins.
    Observations equally far away: earlier rows count as nearer. Both are counted among the
    ties of a result. The features are used as they are: standardise them before if their
    units differ.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.knn(3).name
    'knn:3'
    """
    return NearestNeighbors(k)


class Neighbours(NamedTuple):
    """What all learning sets share, as JAX arrays; N observations, the last ones empty."""

    order: Any
    """(N, N): the observations by their distance from each one; N stands for none."""
    tied: Any
    """(N, N): whether as far away as the one before."""
    values: Any
    """(N, V, N): what these neighbours vote."""
    empty: Any
    """(N,): the observations that only fill up."""


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
    """Whether some learning set was smaller than k."""


@dataclass(frozen=True, eq=False)
class NeighbourState:
    """What all learning sets share, and which ties can occur at all."""

    neighbours: Neighbours
    equal_distances: bool
    equal_votes: bool
    two_classes: bool


@dataclass(frozen=True)
class NearestNeighbors(JittedLearner):
    """k nearest neighbours; made by `knn`."""

    k: int

    scale: ClassVar[Scale] = "share"
    multiclass: ClassVar[bool] = True
    regression: ClassVar[bool] = True
    no_solution: ClassVar[str] = (
        "that learning set has fewer observations than neighbours are asked for: use a smaller k"
    )

    def __post_init__(self) -> None:
        integer = isinstance(self.k, (int, np.integer)) and not isinstance(self.k, bool)
        if not integer or self.k < 1:
            raise ValueError(f"k must be a positive integer, got {self.k!r}")

    @property
    def name(self) -> str:
        """``knn:k``."""
        return f"knn:{self.k}"

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also learning sets smaller than k."""
        super().check(sample, output, learn_size)
        if self.k > learn_size:
            raise ValueError(
                f"learner {self.name} needs learn_size >= {self.k}, got learn_size={learn_size}: "
                "raise it, or use a smaller k"
            )

    def prepare(self, sample: Sample) -> NeighbourState:
        """Sort the neighbours of every observation, itself included."""
        distance = squared_distances(sample.matrix)
        order = np.argsort(distance, axis=1, kind="stable")
        ranked = np.take_along_axis(distance, order, axis=1)
        tied = np.zeros(order.shape, dtype=bool)
        tied[:, 1:] = ranked[:, 1:] == ranked[:, :-1]
        return self.state(sample, order, tied)

    def state(self, sample: Sample, order: np.ndarray, tied: np.ndarray) -> NeighbourState:
        """From the neighbours of each observation (n, n), and which are as far as the last."""
        values = self._values(sample)[:, order]
        size = padded_size(sample.n_obs)
        padding = (0, size - sample.n_obs)
        neighbours = Neighbours(
            np.pad(order.T, padding, constant_values=size),
            np.pad(tied.T, padding),
            np.pad(np.moveaxis(values, 2, 0), (padding, (0, 0), padding)),
            np.arange(size) >= sample.n_obs,
        )
        return NeighbourState(
            to_device(neighbours),
            equal_distances=bool(tied.any()),
            equal_votes=sample.n_classes > 2 or (sample.n_classes == 2 and self.k % 2 == 0),
            two_classes=sample.n_classes == 2,
        )

    def scores(
        self, state: NeighbourState, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Share of the positive class, of each of more than two classes, or mean response."""
        return self.shares(self.votes(state, learning, labels))

    def predict(
        self,
        state: NeighbourState,
        learning: np.ndarray,
        output: Output,
        testing: np.ndarray | None = None,
        labels: np.ndarray | None = None,
    ) -> Predictions:
        """Predictions of the kind that a loss needs, and how often ties had to be broken."""
        if output == "label" and labels is None and state.two_classes:
            found = self.election(state, learning, self.k // 2)
            if not found.short:
                pairs = (("distance_ties", found.distance_ties), ("vote_ties", found.vote_ties))
                counts = {
                    kind: 0 if tied is None else _count(tied, testing) for kind, tied in pairs
                }
                return Predictions(found.labels, Counter(counts))
        votes = self.votes(state, learning, labels)
        ties = Counter(distance_ties=0)
        if state.equal_distances:
            ties["distance_ties"] = _count(votes.tied, testing)
        if output != "label":
            return Predictions(self.shares(votes), ties)
        elected, tied = self._elect(votes, state.equal_votes)
        ties["vote_ties"] = _count(tied, testing) if state.equal_votes else 0
        return Predictions(_complete(elected, votes, self.k), ties)

    def _values(self, sample: Sample) -> np.ndarray:
        """What each observation votes, (V, n): V = 1 for two classes and for numbers."""
        if sample.classes is None:
            return sample.target[None]
        code_type = self._counted.dtype
        if sample.n_classes == 2:
            return sample.target[None].astype(code_type)
        return class_members(sample).T.astype(code_type)

    @property
    def _counted(self) -> np.integer:
        """The number of neighbours, in the type in which votes are counted."""
        return np.int8(self.k) if self.k <= np.iinfo(np.int8).max else np.int32(self.k)

    @in_float64
    def votes(
        self, state: NeighbourState, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> Votes:
        """What the k nearest members of each learning set say of each observation."""
        padded = padded_rows(learning, axis=1)
        ties = (self._counted, state.equal_distances, state.equal_votes)
        if labels is None:
            votes = _collect(state.neighbours, padded, None, *ties)
            return Votes(*(np.asarray(array)[..., : learning.shape[1]] for array in votes))
        n_values, dtype = state.neighbours.values.shape[1], state.neighbours.values.dtype
        values = [labels] if n_values == 1 else [labels == code for code in range(n_values)]
        other = padded_rows(np.stack(values).astype(dtype), axis=2)
        votes = _collect(state.neighbours, padded, other, *ties)
        # Where all labels have one learning set its members were looked up once.
        return Votes(
            *(
                np.broadcast_to(
                    np.asarray(array)[..., : labels.shape[1]],
                    (*array.shape[:-2], *labels.shape),
                )
                for array in votes
            )
        )

    @in_float64
    def election(self, state: NeighbourState, learning: np.ndarray, above: int) -> Election:
        """Which of two classes wins: the second one with more than `above` of the k votes."""
        n_sets, n_obs = learning.shape
        padded = np.zeros((-(-n_sets // WORD) * WORD, padded_size(n_obs)), dtype=bool)
        padded[:n_sets, :n_obs] = learning
        flags = (state.equal_distances, state.equal_votes)
        found = _elect(state.neighbours, padded.view(np.uint64), n_sets, self.k, above, *flags)
        labels, *ties = (
            None if part is None else np.asarray(part).view(dtype)[:n_sets, :n_obs]
            for part, dtype in zip(found[:3], (np.int8, bool, bool), strict=True)
        )
        return Election(labels, ties[0], ties[1], found.short)

    def shares(self, votes: Votes) -> np.ndarray:
        """Share of the positive class, of each of more than two classes, or mean response."""
        if len(votes.total) == 1:
            return _complete(votes.total[0] / self.k, votes, self.k)
        return _complete(np.moveaxis(votes.total, 0, 2) / self.k, votes, self.k)

    def _elect(self, votes: Votes, equal_votes: bool) -> tuple[np.ndarray, np.ndarray]:
        """Winning codes, and where the first neighbour broke a tie; both (R, n)."""
        if len(votes.total) == 1:
            total = votes.total[0]
            ahead, tied = total > self.k // 2, total == self.k / 2
            if equal_votes:
                ahead |= tied & (votes.first[0] == 0)
            return ahead.astype(float), tied
        total = votes.total.astype(int)
        tied = (total == total.max(axis=0)).sum(axis=0) > 1
        return (total * (self.k + 1) - votes.first).argmax(axis=0).astype(float), tied


@dataclass(frozen=True)
class SurestNeighbors(JittedLearner):
    """k nearest neighbours that leave open what the order of equally distant ones decides.

    Such neighbours are voted on twice: with those of the smallest response first, and with
    those of the largest. Where both agree, every order does; of more than two classes the
    number of votes for each must be the same.
    """

    k: int
    ties_to_first: bool = True
    """Whether equally many votes are for the first of two classes, or for the second."""

    scale: ClassVar[Scale] = "share"
    multiclass: ClassVar[bool] = True
    regression: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """``knn:k``."""
        return self._walk.name

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also learning sets smaller than k."""
        self._walk.check(sample, output, learn_size)

    def prepare(self, sample: Sample) -> tuple[NeighbourState, ...]:
        """The neighbours of every observation; where some are tied, in three orders.

        With the tied ones of the smallest response first, with those of the largest, and, for
        responses that are not known yet, as they come.
        """
        distance = squared_distances(sample.matrix)
        group = _groups(distance, sample.matrix)
        by_row = np.argsort(group, axis=1, kind="stable")
        ranked = np.take_along_axis(group, by_row, axis=1)
        tied = np.zeros(group.shape, dtype=bool)
        tied[:, 1:] = ranked[:, 1:] == ranked[:, :-1]
        orders = [by_row]
        if tied.any():
            response = np.broadcast_to(sample.target, group.shape)
            orders = [*(np.lexsort((sign * response, group)) for sign in (1.0, -1.0)), by_row]
        marks = [np.zeros_like(tied)] * (len(orders) - 1) + [tied]
        states = [
            self._walk.state(sample, order, mark) for order, mark in zip(orders, marks, strict=True)
        ]
        # Who voted first decides nothing here.
        return tuple(replace(state, equal_votes=False) for state in states)

    def scores(
        self,
        state: tuple[NeighbourState, ...],
        learning: np.ndarray,
        labels: np.ndarray | None = None,
    ) -> np.ndarray:
        """Shares of votes, or mean responses; NaN where they are left open."""
        votes = self._votes(state, learning, labels)
        return self._agreed([self._walk.shares(each) for each in votes], votes)

    def predict(
        self,
        state: tuple[NeighbourState, ...],
        learning: np.ndarray,
        output: Output,
        testing: np.ndarray | None = None,
        labels: np.ndarray | None = None,
    ) -> Predictions:
        """Predictions of the kind that a loss needs; NaN where they are left open."""
        if output != "label":
            return Predictions(self.scores(state, learning, labels), Counter())
        if labels is None and state[0].two_classes:
            above = self.k // 2 if self.ties_to_first else (self.k - 1) // 2
            found = [self._walk.election(each, learning, above) for each in state[:2]]
            if not any(each.short for each in found):
                codes, others = found[0].labels, found[-1].labels
                if not np.array_equal(codes, others):
                    codes = np.where(codes == others, codes, np.nan)
                return Predictions(codes, Counter())
        votes = self._votes(state, learning, labels)
        elected = self._agreed([self._label(each) for each in votes], votes)
        if len(votes[0].total) > 1:
            elected[(votes[0].total != votes[-1].total).any(axis=0)] = np.nan
        return Predictions(elected, Counter())

    def _votes(
        self, state: tuple[NeighbourState, ...], learning: np.ndarray, labels: np.ndarray | None
    ) -> list[Votes]:
        """Votes in both orders, or where no order is known for these labels in the last one."""
        states = state[-1:] if labels is not None else state[:2]
        return [self._walk.votes(each, learning, labels) for each in states]

    @property
    def _walk(self) -> NearestNeighbors:
        return NearestNeighbors(self.k)

    def _label(self, votes: Votes) -> np.ndarray:
        if len(votes.total) == 1:
            total = votes.total[0]
            twice = 2.0 * total
            ahead = twice > self.k if self.ties_to_first else twice >= self.k
            return _complete(ahead.astype(float), votes, self.k)
        return _complete(votes.total.argmax(axis=0).astype(float), votes, self.k)

    def _agreed(self, predictions: list[np.ndarray], votes: list[Votes]) -> np.ndarray:
        if len(predictions) == 1:
            # Here tied neighbours are marked, and not tried in every order.
            return np.where(votes[0].tied, np.nan, predictions[0])
        first, last = predictions
        return np.where(np.isclose(first, last, rtol=SAME_MEAN, atol=0.0), first, np.nan)


def _groups(distance: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Ranks (n, n) of the squared distances in each row, the same for those equal but rounding."""
    largest = np.square(matrix).sum(axis=1).max()
    tolerance = DISTANCE_DIGITS * matrix.shape[1] * largest
    order = np.argsort(distance, axis=1)
    steps = np.diff(np.take_along_axis(distance, order, axis=1), axis=1) > tolerance
    rank = np.pad(steps.cumsum(axis=1), ((0, 0), (1, 0)))
    groups = np.empty_like(rank)
    np.put_along_axis(groups, order, rank, axis=1)
    return groups


def _complete(predictions: np.ndarray, votes: Votes, k: int) -> np.ndarray:
    """NaN where the learning set was smaller than k."""
    missing = votes.count < k
    if missing.any():
        predictions[missing] = np.nan
    return predictions


def _count(tied: np.ndarray, testing: np.ndarray | None) -> int:
    return int(np.count_nonzero(tied if testing is None else tied & testing))


@partial(jax.jit, static_argnums=(4, 5))
def _collect(
    state: Neighbours,
    learning: jax.Array,
    other: jax.Array | None,
    k: jax.Array,
    equal_distances: bool,
    equal_votes: bool,
) -> Votes:
    """Walk through all neighbours, nearest first, until every observation has its k votes.

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

    def look(votes: Votes, rank: jax.Array) -> Votes:
        near = state.order[rank]
        member = members[near]
        votes_now = member & (votes.count < k)
        values = state.values[rank][:, :, None] if other is None else other[:, near]
        values = values * votes_now.astype(dtype)
        first, open_, tied = votes.first, votes.open, votes.tied
        if equal_votes:
            first = jnp.where((first == k) & (values > 0), votes.count, first)
        if equal_distances:
            open_ = open_ & state.tied[rank][:, None]
            tied = tied | (member & ~votes_now & open_)
            open_ = open_ | votes_now
        count = votes.count + votes_now.astype(count_type)
        return Votes(count, votes.total + values, first, open_, tied)

    def step(carry: tuple[jax.Array, Votes]) -> tuple[jax.Array, Votes]:
        rank, votes = carry
        for offset in range(RANKS_PER_STEP):
            votes = look(votes, rank + offset)
        return rank + RANKS_PER_STEP, votes

    def unfinished(carry: tuple[jax.Array, Votes]) -> jax.Array:
        rank, votes = carry
        waiting = (votes.count < k) | votes.open
        return (rank < state.order.shape[0]) & waiting.any()

    shape = (n_obs, n_sets)
    voted = shape if other is None else (n_obs, other.shape[2])
    start = Votes(
        # Nobody waits for the votes of an empty observation.
        jnp.broadcast_to(jnp.where(state.empty, k, 0)[:, None].astype(count_type), shape),
        jnp.zeros((n_values, *voted), dtype),
        jnp.full((n_values, *voted), k, count_type),
        jnp.zeros(shape, bool),
        jnp.zeros(shape, bool),
    )
    _, votes = jax.lax.while_loop(unfinished, step, (jnp.zeros((), int), start))
    # The walk goes through memory along the learning sets; the predictions have them first.
    return Votes(*(jnp.swapaxes(array, -1, -2) for array in votes))


@partial(jax.jit, static_argnums=(3, 4, 5, 6))
def _elect(
    state: Neighbours,
    learning: jax.Array,
    n_sets: jax.Array,
    k: int,
    above: int,
    equal_distances: bool,
    equal_votes: bool,
) -> Election:
    """The same walk as in `_collect`, over words of 64 learning sets, for two classes.

    Numbers of votes are lists of their bits, the lowest first, each an array (n, R / 64).
    Learning sets, and what is found for them, are numbers (R, n / 8) of eight bytes each.
    """
    n_rows, n_obs = learning.shape[0], len(state.empty)
    everyone = np.uint64(2**WORD - 1)
    nobody = jnp.zeros((n_obs, n_rows // WORD), jnp.uint64)
    # The last row, no observation at all, is in no learning set.
    members = jnp.concatenate([_as_bits(learning), nobody[:1]])
    # Nobody waits for the votes of an empty observation, or of sets that only fill up a word.
    is_set = (jnp.arange(n_rows) < n_sets).reshape(-1, WORD).astype(jnp.uint64)
    sets = (is_set << jnp.arange(WORD, dtype=jnp.uint64)).sum(axis=1, dtype=jnp.uint64)
    done = jnp.where(state.empty[:, None], everyone, ~sets)

    def masks(flags: jax.Array) -> jax.Array:
        return jnp.where(flags, everyone, np.uint64(0))[:, None]

    def look(carry: tuple[Any, ...], rank: jax.Array) -> tuple[Any, ...]:
        count, total, first, open_, tied = carry
        member = members[state.order[rank]]
        votes_now = member & ~(_equal(count, k) | done)
        for_second = votes_now & masks(state.values[rank, 0] > 0)
        if equal_votes:
            first = first | (for_second & _equal(count, 0))
        if equal_distances:
            open_ = open_ & masks(state.tied[rank])
            tied = tied | (member & ~votes_now & open_)
            open_ = open_ | votes_now
        return _plus(count, votes_now), _plus(total, for_second), first, open_, tied

    def step(carry: tuple[jax.Array, tuple[Any, ...]]) -> tuple[jax.Array, tuple[Any, ...]]:
        rank, votes = carry
        for offset in range(RANKS_PER_STEP):
            votes = look(votes, rank + offset)
        return rank + RANKS_PER_STEP, votes

    def unfinished(carry: tuple[jax.Array, tuple[Any, ...]]) -> jax.Array:
        rank, (count, _, _, open_, _) = carry
        waiting = ~(_equal(count, k) | done) | open_
        return (rank < n_obs) & (waiting != 0).any()

    zero = (nobody,) * k.bit_length()
    start = (zero, zero, nobody, nobody, nobody)
    _, (count, total, first, _, tied) = jax.lax.while_loop(
        unfinished, step, (jnp.zeros((), int), start)
    )
    ahead, equal = _above(total, above), nobody
    if equal_votes:
        equal = _equal(total, k // 2)
        ahead = ahead | (equal & first)

    return Election(
        _as_bytes(ahead),
        _as_bytes(equal & ~done) if equal_votes else None,
        _as_bytes(tied & ~done) if equal_distances else None,
        (~(_equal(count, k) | done) != 0).any(),
    )


def _as_bits(rows: jax.Array) -> jax.Array:
    """Bits (n, R / 64), 64 rows in a number, of bytes 0 or 1 (R, n / 8), eight in a number."""
    parts = rows.reshape(-1, 8, rows.shape[1])
    # Eight rows share the bits of each byte: bytes of one word are still of eight columns.
    eight = parts[:, 0]
    for bit in range(1, 8):
        eight = eight | (parts[:, bit] << np.uint64(bit))
    blocks = eight.reshape(-1, 8, rows.shape[1])
    columns = _exchanged_bytes([blocks[:, each].T for each in range(8)])
    return jnp.stack(columns, axis=1).reshape(-1, blocks.shape[0])


def _as_bytes(bits: jax.Array) -> jax.Array:
    """The inverse of `_as_bits`."""
    columns = bits.reshape(-1, 8, bits.shape[1])
    blocks = _exchanged_bytes([columns[:, each].T for each in range(8)])
    eight = jnp.stack(blocks, axis=1).reshape(-1, 1, columns.shape[0])
    rows = (eight >> jnp.arange(8, dtype=jnp.uint64)[:, None]) & LOWEST_BITS
    return rows.reshape(-1, columns.shape[0])


def _exchanged_bytes(words: list[jax.Array]) -> list[jax.Array]:
    """Eight words of eight bytes, byte i of word j exchanged with byte j of word i."""
    for distance, mask in BYTE_EXCHANGES:
        for first in range(8):
            if first & distance:
                continue
            one, other = words[first], words[first + distance]
            shift = np.uint64(8 * distance)
            moved = ((one >> shift) ^ other) & mask
            words[first] = one ^ (moved << shift)
            words[first + distance] = other ^ moved
    return words


def _plus(number: tuple[jax.Array, ...], bit: jax.Array) -> tuple[jax.Array, ...]:
    """A number in bits, plus one where a bit is set; what overflows is lost."""
    found = []
    for digit in number:
        found.append(digit ^ bit)
        bit = digit & bit
    return tuple(found)


def _equal(number: tuple[jax.Array, ...], constant: int) -> jax.Array:
    """Where a number in bits equals a constant."""
    same = ~jnp.zeros_like(number[0])
    for place, digit in enumerate(number):
        same = same & (digit if constant >> place & 1 else ~digit)
    return same


def _above(number: tuple[jax.Array, ...], constant: int) -> jax.Array:
    """Where a number in bits is larger than a constant."""
    larger, same = jnp.zeros_like(number[0]), ~jnp.zeros_like(number[0])
    for place, digit in reversed(list(enumerate(number))):
        if constant >> place & 1:
            same = same & digit
        else:
            larger, same = larger | (same & digit), same & ~digit
    return larger
