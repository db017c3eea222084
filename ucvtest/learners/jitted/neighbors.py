"""k nearest neighbours, many learning sets at once: the neighbours are sorted once for all.

Labels of two classes are counted in bits: a word contains the same bit of the votes of 64 learning
sets, so that one operation serves all of them.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ucvtest.common.checks import is_integer
from ucvtest.common.float64 import in_float64
from ucvtest.common.words import arg, excerpt, term
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Predictions, Scale, class_members
from ucvtest.learners.batching import padded_rows, padded_size
from ucvtest.learners.jitted.neighbor_ranks import (
    Ranking,
    by_distance,
    by_groups_of_distances,
    rank_neighbours,
)
from ucvtest.learners.jitted.neighbor_votes import (
    WORD,
    Election,
    Votes,
    collect_votes,
    complete_sets,
    count_votes,
    elect,
)

MOST_SORTED = 2**16
"""Most observations whose neighbours are sorted. The time grows with their square, to minutes."""

MOST_TRANSLATED = 10_000
"""The same for estimators, which scikit-learn fits without such a preparation."""

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


def refuse_to_sort(name: str, n_obs: int, most_observations: int) -> None:
    """Refuse samples whose neighbours take too long to sort.

    Raises
    ------
    ValueError
    """
    if n_obs > most_observations:
        raise ValueError(
            f"learner {name} sorts all pairs of observations, and {n_obs} observations have "
            f"{n_obs**2:.2g} of them: use at most {most_observations} observations, or "
            f"{term('a scikit-learn estimator')} as the learner"
        )


@dataclass(frozen=True, eq=False)
class NeighbourState:
    """What all learning sets share, and which ties can occur at all."""

    ranking: Ranking
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
        if not is_integer(self.k) or self.k < 1:
            raise ValueError(f"k must be a positive integer, got {excerpt(self.k)}")

    @property
    def name(self) -> str:
        """``knn:k``."""
        return f"knn:{self.k}"

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also learning sets smaller than k."""
        super().check(sample, output, learn_size)
        if self.k > learn_size:
            raise ValueError(
                f"learner {self.name} needs {arg('learn_size')} >= {self.k}, got "
                f"{arg('learn_size', learn_size)}: raise it, or use a smaller k"
            )

    def _refuse_memory(self, n_obs: int) -> None:
        refuse_to_sort(self.name, n_obs, MOST_SORTED)

    def prepare(self, sample: Sample) -> NeighbourState:
        """Sort the neighbours of every observation, itself included."""
        values = self._values(sample)
        (ranking,), has_ties = rank_neighbours(by_distance(sample.matrix), values, self.k)
        return self._state(sample, ranking, has_ties)

    def prepare_by_groups(self, sample: Sample) -> tuple[NeighbourState, ...]:
        """The same; if distances are tied up to rounding, in three orders."""
        groups = by_groups_of_distances(sample.matrix, sample.target)
        rankings, has_ties = rank_neighbours(groups, self._values(sample), self.k)
        return tuple(
            self._state(sample, ranking, has_ties and ranking.number == 0) for ranking in rankings
        )

    def _state(self, sample: Sample, ranking: Ranking, equal_distances: bool) -> NeighbourState:
        return NeighbourState(
            ranking,
            equal_distances,
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
        ranking, n_obs = state.ranking, learning.shape[1]
        padded, other = padded_rows(learning, axis=1), None
        if labels is not None:
            n_values, dtype = len(ranking.values), ranking.values.dtype
            values = [labels] if n_values == 1 else [labels == code for code in range(n_values)]
            other = padded_rows(np.stack(values).astype(dtype), axis=2)
        flags = (self._counted, state.equal_distances, state.equal_votes)
        votes = collect_votes(ranking.nearest, padded, other, *flags)
        votes = Votes(*(np.asarray(array)[..., :n_obs] for array in votes))
        if not ranking.is_complete:
            votes = self._with_all_neighbours(ranking, votes, (padded, other, *flags))
        if labels is None:
            return votes
        # Where all labelings share one learning set, its members were looked up once.
        shapes = ((*array.shape[:-2], *labels.shape) for array in votes)
        return Votes(*map(np.broadcast_to, votes, shapes))

    def _with_all_neighbours(
        self, ranking: Ranking, votes: Votes, arguments: tuple[Any, ...]
    ) -> Votes:
        """The votes, counted again where the neighbours that are kept do not decide."""
        missing = ((votes.count < self.k) | votes.open).any(axis=0)
        if not missing.any():
            return votes
        votes = Votes(*map(np.array, votes))
        for rows, neighbours in ranking.complete(np.flatnonzero(missing)):
            votes_of_rows = collect_votes(neighbours, *arguments)
            for array, array_of_rows in zip(votes, votes_of_rows, strict=True):
                array[..., rows] = np.asarray(array_of_rows)[..., : len(rows)]
        return votes

    @in_float64
    def election(self, state: NeighbourState, learning: np.ndarray, above: int) -> Election:
        """Which of two classes wins: the second one with more than `above` of the k votes."""
        n_sets, n_obs = learning.shape
        padded = np.zeros((-(-n_sets // WORD) * WORD, padded_size(n_obs)), dtype=bool)
        padded[:n_sets, :n_obs] = learning
        flags = (state.equal_distances, state.equal_votes)
        jitted_election = elect(
            state.ranking.nearest, padded.view(np.uint64), n_sets, self.k, above, *flags
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

    def _refuse_memory(self, n_obs: int) -> None:
        refuse_to_sort(self.name, n_obs, MOST_TRANSLATED)

    def prepare(self, sample: Sample) -> tuple[NeighbourState, ...]:
        """The neighbours of every observation; where some are tied, in three orders.

        As they come, for responses that are not known yet, with the tied ones of the smallest
        response first, and with those of the largest.
        """
        states = self._walk.prepare_by_groups(sample)
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
                for neighbour_state in state[1:] or state
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
        """Votes in both orders, or where no order is known for these labels in the first one."""
        states = state[:1] if labels is not None else state[1:] or state
        return [self._walk.votes(neighbour_state, learning, labels) for neighbour_state in states]

    def _label(self, votes: Votes) -> np.ndarray:
        if len(votes.total) == 1:
            ahead = self._ahead(votes.total[0]).astype(float)
            return complete_sets(ahead, votes, self.k)
        return complete_sets(votes.total.argmax(axis=0).astype(float), votes, self.k)

    def _agreed(self, predictions: list[np.ndarray], votes: list[Votes]) -> np.ndarray:
        if len(predictions) == 1:
            # Here tied neighbours are marked, and not tried in every order.
            tied = votes[0].tied.reshape(votes[0].tied.shape + (1,) * (predictions[0].ndim - 2))
            return np.where(tied, np.nan, predictions[0])
        first, last = predictions
        return np.where(np.isclose(first, last, rtol=SAME_MEAN, atol=0.0), first, np.nan)
