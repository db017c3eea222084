"""k nearest neighbours, many learning sets at once: the neighbours are sorted once for all.

Labels of two classes are counted in bits: a word contains the same bit of the votes of 64 learning
sets, so that one operation serves all of them.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ucvtest.common.checks import is_integer
from ucvtest.common.float64 import in_float64, to_device
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Predictions, Scale, class_members
from ucvtest.learners.batching import padded_rows, padded_size, squared_distances
from ucvtest.learners.jitted.neighbor_votes import (
    WORD,
    Election,
    Neighbours,
    Votes,
    collect_votes,
    complete_sets,
    count_votes,
    elect,
    groups_of_neighbours,
)

__all__ = ["NearestNeighbors", "OpenNeighbors", "SurestNeighbors", "knn"]

SAME_MEAN = 1e-12
"""Relative difference of two means of the same numbers, at most."""


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
        If `k` is not a positive integer.

    Notes
    -----
    If classes have equal numbers of votes, the class with the nearest neighbour wins. If
    observations are equally far away, earlier rows count as nearer. Both are counted among the ties
    of a result. The features are used as they are: standardise them first if their units differ.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.knn(3).name
    'knn:3'
    """
    return NearestNeighbors(k)


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
    pair_bytes: ClassVar[int] = 48
    no_solution: ClassVar[str] = (
        "that learning set has fewer observations than neighbours are asked for: use a smaller k"
    )

    def __post_init__(self) -> None:
        if not is_integer(self.k) or self.k < 1:
            raise ValueError(f"k must be a positive integer, got {self.k!r:.60}")

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
            election = self.election(state, learning, self.k // 2)
            if not election.short:
                pairs = (
                    ("distance_ties", election.distance_ties),
                    ("vote_ties", election.vote_ties),
                )
                counts = {
                    kind: 0 if tied is None else count_votes(tied, testing) for kind, tied in pairs
                }
                return Predictions(election.labels, Counter(counts))
        votes = self.votes(state, learning, labels)
        ties = Counter(distance_ties=0)
        if state.equal_distances:
            ties["distance_ties"] = count_votes(votes.tied, testing)
        if output != "label":
            return Predictions(self.shares(votes), ties)
        elected, tied = self._elect(votes, state.equal_votes)
        ties["vote_ties"] = count_votes(tied, testing) if state.equal_votes else 0
        return Predictions(complete_sets(elected, votes, self.k), ties)

    def _values(self, sample: Sample) -> np.ndarray:
        """The votes of each observation, (V, n): V = 1 for two classes and for numbers."""
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
            votes = collect_votes(state.neighbours, padded, None, *ties)
            return Votes(*(np.asarray(array)[..., : learning.shape[1]] for array in votes))
        n_values, dtype = state.neighbours.values.shape[1], state.neighbours.values.dtype
        values = [labels] if n_values == 1 else [labels == code for code in range(n_values)]
        other = padded_rows(np.stack(values).astype(dtype), axis=2)
        votes = collect_votes(state.neighbours, padded, other, *ties)
        # Where all labelings share one learning set, its members were looked up once.
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
        jitted_election = elect(
            state.neighbours, padded.view(np.uint64), n_sets, self.k, above, *flags
        )
        labels, *ties = (
            None
            if election_bits is None
            else np.asarray(election_bits).view(dtype)[:n_sets, :n_obs]
            for election_bits, dtype in zip(jitted_election[:3], (np.int8, bool, bool), strict=True)
        )
        return Election(labels, ties[0], ties[1], jitted_election.short)

    def shares(self, votes: Votes) -> np.ndarray:
        """Share of the positive class, of each of more than two classes, or mean response."""
        if len(votes.total) == 1:
            return complete_sets(votes.total[0] / self.k, votes, self.k)
        return complete_sets(np.moveaxis(votes.total, 0, 2) / self.k, votes, self.k)

    def _elect(self, votes: Votes, equal_votes: bool) -> tuple[np.ndarray, np.ndarray]:
        """Winning labels, and where the first neighbour broke a tie; both (R, n)."""
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
class OpenNeighbors(JittedLearner):
    """k nearest neighbours that leave open, NaN, what the order of equally distant ones decides."""

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
        self._refuse_memory(sample.n_obs)
        self._walk.check(sample, output, learn_size)

    @property
    def _walk(self) -> NearestNeighbors:
        return NearestNeighbors(self.k)

    def _ahead(self, total: np.ndarray) -> np.ndarray:
        """Where the votes are for the second of two classes."""
        return 2.0 * total > self.k if self.ties_to_first else 2.0 * total >= self.k


@dataclass(frozen=True)
class SurestNeighbors(OpenNeighbors):
    """k nearest neighbours, tied ones in both orders.

    Equally distant neighbours are voted on twice: with those of the smallest response first, and
    with those of the largest. Where both agree, every order does; of more than two classes the
    number of votes for each must be the same.
    """

    # Three orders of the neighbours.
    pair_bytes: ClassVar[int] = 96

    def prepare(self, sample: Sample) -> tuple[NeighbourState, ...]:
        """The neighbours of every observation; where some are tied, in three orders.

        With the tied ones of the smallest response first, with those of the largest, and, for
        responses that are not known yet, as they come.
        """
        distance = squared_distances(sample.matrix)
        group = groups_of_neighbours(distance, sample.matrix)
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
        # Here it does not matter who voted first.
        return tuple(replace(state, equal_votes=False) for state in states)

    def scores(
        self,
        state: tuple[NeighbourState, ...],
        learning: np.ndarray,
        labels: np.ndarray | None = None,
    ) -> np.ndarray:
        """Shares of votes, or mean responses; NaN where they are left open."""
        votes = self._votes(state, learning, labels)
        return self._agreed([self._walk.shares(order_votes) for order_votes in votes], votes)

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
            elections = [
                self._walk.election(neighbour_state, learning, above)
                for neighbour_state in state[:2]
            ]
            if not any(election.short for election in elections):
                predicted, other_labels = elections[0].labels, elections[-1].labels
                if not np.array_equal(predicted, other_labels):
                    predicted = np.where(predicted == other_labels, predicted, np.nan)
                return Predictions(predicted, Counter())
        votes = self._votes(state, learning, labels)
        elected = self._agreed([self._label(order_votes) for order_votes in votes], votes)
        if len(votes[0].total) > 1:
            elected[(votes[0].total != votes[-1].total).any(axis=0)] = np.nan
        return Predictions(elected, Counter())

    def _votes(
        self, state: tuple[NeighbourState, ...], learning: np.ndarray, labels: np.ndarray | None
    ) -> list[Votes]:
        """Votes in both orders, or where no order is known for these labels in the last one."""
        states = state[-1:] if labels is not None else state[:2]
        return [self._walk.votes(neighbour_state, learning, labels) for neighbour_state in states]

    def _label(self, votes: Votes) -> np.ndarray:
        if len(votes.total) == 1:
            ahead = self._ahead(votes.total[0]).astype(float)
            return complete_sets(ahead, votes, self.k)
        return complete_sets(votes.total.argmax(axis=0).astype(float), votes, self.k)

    def _agreed(self, predictions: list[np.ndarray], votes: list[Votes]) -> np.ndarray:
        if len(predictions) == 1:
            # Here tied neighbours are marked, and not tried in every order.
            return np.where(votes[0].tied, np.nan, predictions[0])
        first, last = predictions
        return np.where(np.isclose(first, last, rtol=SAME_MEAN, atol=0.0), first, np.nan)
