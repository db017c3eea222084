"""k nearest neighbours, many learning sets at once: the neighbours are sorted once for all.

Labels of two classes are counted in bits: a word contains the same bit of the votes of 64 learning
sets, so that one operation serves all of them.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from ucvtest.common.checks import AtLeast
from ucvtest.common.execution import row_batches
from ucvtest.common.float64 import to_device
from ucvtest.common.padding import next_multiple
from ucvtest.common.words import arg, term
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import Predictions, Scale, class_members
from ucvtest.learners.batching import OBS_STEP, padded_size, squared_distances
from ucvtest.learners.jitted.neighbor_votes import Neighbours, Votes, collect_votes, elect
from ucvtest.learners.runner import Data, PaddedLearner, State

VoteTies = Literal["nearest", "first", "second"]
"""Who wins where votes are equally many: the class of the nearest neighbour, or a fixed one."""

BLOCK_NUMBERS = 2**22
"""Distances that are sorted at a time, about: 32 MB, and a few copies."""

MOST_SORTED = 2**16
"""Most observations whose neighbours are sorted. The time grows with their square, to minutes."""

KEPT_BYTES = 2**28
"""Memory of the neighbours that are kept in one order, about: only the nearest of large samples.
Where these do not decide, all are sorted again."""

LEAST_RANKS = 4
"""Neighbours that are kept for each one that votes, at least."""

DISTANCE_DIGITS = 8 * np.finfo(float).eps
"""Rounding error of a squared distance, for each feature and relative to the largest square."""

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


@dataclass(frozen=True)
class NearestNeighbors(PaddedLearner):
    """k nearest neighbours; made by `knn`, or by the translation of an estimator.

    The latter gives equally many votes to a fixed class. It leaves open, NaN, what the order of
    equally distant neighbours decides: it votes with those of the smallest response first, and with
    those of the largest, and where both agree, every order does.
    """

    k: Annotated[int, AtLeast(1)]
    ties: VoteTies = "nearest"

    family: ClassVar[str] = "knn"
    arguments: ClassVar[tuple[str, ...]] = ("k",)
    scale: ClassVar[Scale] = "share"
    multiclass: ClassVar[bool] = True
    regression: ClassVar[bool] = True
    no_solution: ClassVar[str] = (
        "that learning set has fewer observations than neighbours are asked for: use a smaller k"
    )

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also learning sets smaller than k."""
        super().check(sample, output, learn_size)
        check_neighbours(self.name, self.k, learn_size)
        if sample.n_obs > MOST_SORTED:
            raise ValueError(
                f"learner {self.name} sorts all pairs of observations, and {sample.n_obs} have "
                f"{sample.n_obs**2:.2g} of them: use at most {MOST_SORTED} observations, or "
                f"{term('a scikit-learn estimator')} as the learner"
            )

    def prepare(self, sample: Sample) -> State:
        """Keep also the sample, for neighbours that are sorted again."""
        state = super().prepare(sample)
        return state._replace(kept={"sample": sample})

    def share(self, sample: Sample) -> Data:
        """The votes of the observations, and their neighbours in several orders."""
        if sample.classes is None:
            votes = sample.target
        elif sample.n_classes == 2:
            votes = sample.target.astype(np.int8)
        else:
            votes = class_members(sample).astype(np.int8)
        size = padded_size(sample.n_obs)
        fitting = KEPT_BYTES // (size * (np.dtype(np.int32).itemsize + 1))
        n_ranks = next_multiple(max(fitting, LEAST_RANKS * self.k), OBS_STEP)
        every = np.arange(sample.n_obs)
        return Data((), votes, shared=self._sorted(sample, every, min(n_ranks, size), size))

    def _sorted(
        self, sample: Sample, rows: np.ndarray, n_ranks: int, n_columns: int
    ) -> tuple[list[np.ndarray], np.ndarray | None, np.ndarray]:
        """Orders of the neighbours of some rows, which are tied, and which columns are empty."""
        orders, tied = rank_neighbours(
            *(sample.matrix, sample.target, rows, (n_ranks, n_columns)), open_ties=self.open_ties
        )
        return orders, tied, np.arange(n_columns) >= len(rows)

    @property
    def open_ties(self) -> bool:
        """Whether a prediction is left open that the order of equally distant ones decides."""
        return self.ties != "nearest"

    def scores(
        self, state: State, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Share of the positive class, of each of more than two classes, or mean response."""
        return self.predict(state, learning, "score", labels=labels).values

    def predict(
        self,
        state: State,
        learning: np.ndarray,
        output: Output,
        testing: np.ndarray | None = None,
        labels: np.ndarray | None = None,
    ) -> Predictions:
        """Predictions of the kind that a loss needs, and how often ties had to be broken."""
        tied = state.data.shared[1]
        if not self.open_ties:
            return self._predict(state, 0, learning, output, testing, labels)
        if tied is None or labels is not None:
            # Of labels nobody knew, the order that finds all ties is unknown too.
            predictions = self._predict(state, 0, learning, output, testing, labels)
            return Predictions(predictions.values, Counter())
        kind: Output = "score" if state.n_classes > 2 else output
        values, other = (
            self._predict(state, order, learning, kind, testing, labels).values for order in (1, 2)
        )
        if not np.array_equal(values, other):
            same = np.isclose(values, other, rtol=SAME_MEAN, atol=0.0)
            values = np.where(same, values, np.nan)
        elected = output == "label" and state.n_classes > 2
        return Predictions(self.elect(values).values if elected else values, Counter())

    def _predict(
        self,
        state: State,
        order: int,
        learning: np.ndarray,
        output: Output,
        testing: np.ndarray | None,
        labels: np.ndarray | None,
    ) -> Predictions:
        """Predictions by the neighbours in one order."""
        n_obs, two = learning.shape[1], state.n_classes == 2
        if output == "label" and labels is None and two:
            election = self._run(elect, _in_order(state, order), learning, None)
            if not election.short:
                ties = Counter(
                    distance_ties=count_ties(election.distance_ties, testing),
                    vote_ties=count_ties(election.vote_ties, testing),
                )
                return Predictions(election.labels[:, :n_obs], ties)
        equal_votes = not self.open_ties and (state.n_classes > 2 or (two and self.k % 2 == 0))
        # Another number of neighbours needs no other program.
        program = {"k": None, "ties": "nearest" if equal_votes else "first"}
        k = np.int8(self.k) if self.k <= np.iinfo(np.int8).max else np.int32(self.k)
        # Small numbers are copied in less time.
        small = labels if labels is None or not state.n_classes else labels.astype(np.int16)
        # Where all labelings share one learning set, its members were looked up once.
        n_fits = len(learning if labels is None else labels)

        def collected(state: State, n_columns: int) -> Votes:
            votes = self._run(collect_votes, _in_order(state, order), learning, small, k, **program)
            return Votes(
                *(
                    np.broadcast_to(array[..., :n_columns], (*array.shape[:-2], n_fits, n_columns))
                    for array in votes
                )
            )

        votes = collected(state, n_obs)
        if len(state.data.shared[0][order]) < n_obs:
            votes = self._complete(votes, state, learning, collected)
        count, total, first, _, tied = votes
        ties = Counter(distance_ties=count_ties(tied, testing))
        if output != "label":
            values = total[0] / self.k if len(total) == 1 else np.moveaxis(total, 0, 2) / self.k
        else:
            values, equal = self._elected(total, first)
            ties["vote_ties"] = count_ties(equal, testing) if equal_votes else 0
        missing = (count < self.k) | (tied & self.open_ties)
        if missing.any():
            values[missing] = np.nan
        return Predictions(values, ties)

    def _complete(
        self,
        votes: Votes,
        state: State,
        learning: np.ndarray,
        collected: Callable[[State, int], Votes],
    ) -> Votes:
        """Count again where the neighbours that are kept do not decide, among all of them."""
        sample, n_obs = state.kept["sample"], learning.shape[1]
        has_enough = (learning.sum(axis=1) >= self.k)[:, None]
        undecided = has_enough & ((votes.count < self.k) | votes.open)
        rows = np.flatnonzero(undecided.any(axis=0))
        votes = Votes(*map(np.array, votes))
        # Always as many columns, for one compilation.
        n_columns = padded_size(min(max(BLOCK_NUMBERS // n_obs, 1), n_obs))
        for part in row_batches(len(rows), n_obs, BLOCK_NUMBERS):
            near = to_device(self._sorted(sample, rows[part], padded_size(n_obs), n_columns))
            data = state.data._replace(shared=near)
            some = collected(state._replace(data=data), len(rows[part]))
            for array, of_rows in zip(votes, some, strict=True):
                array[..., rows[part]] = of_rows
        return votes

    def _elected(self, total: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Winning labels (R, n), and where as many votes were for another class."""
        if len(total) == 1:
            ahead, equal = total[0] > self.k // 2, total[0] == self.k / 2
            if self.ties == "nearest":
                ahead |= equal & (first[0] == 0)
            elif self.ties == "second":
                ahead |= equal
            return ahead.astype(float), equal
        wide = total.astype(int)
        equal = (wide == wide.max(axis=0)).sum(axis=0) > 1
        place = (wide * (self.k + 1) - first).argmax(axis=0)
        return place.astype(float), equal


def check_neighbours(name: str, k: int, learn_size: int) -> None:
    """Refuse learning sets smaller than k.

    Raises
    ------
    ValueError
    """
    if k > learn_size:
        raise ValueError(
            f"learner {name} needs {arg('learn_size')} >= {k}, got "
            f"{arg('learn_size', learn_size)}: raise it, or use a smaller k"
        )


def count_ties(tied: np.ndarray | None, testing: np.ndarray | None) -> int:
    """How many of the tested observations (all, if None) are ties."""
    if tied is None:
        return 0
    tied = tied[:, : tied.shape[1] if testing is None else testing.shape[1]]
    return int(np.count_nonzero(tied if testing is None else tied & testing))


def _in_order(state: State, place: int) -> State:
    """The neighbours in one of the orders; ties are marked in the first."""
    orders, tied, empty = state.data.shared
    # Where nothing is tied, there is one order.
    order = orders[min(place, len(orders) - 1)]
    near = Neighbours(order, tied if place == 0 else None, empty)
    return state._replace(data=state.data._replace(shared=near))


def rank_neighbours(
    matrix: np.ndarray,
    response: np.ndarray,
    rows: np.ndarray,
    shape: tuple[int, int],
    *,
    open_ties: bool,
) -> tuple[list[np.ndarray], np.ndarray | None]:
    """Neighbours of some rows, nearest first, and which are as near as the one before, if any.

    Both have `shape`: ranks, and a column for each row. Columns and ranks that only fill up have
    the padded number of observations, which stands for none. Of equally distant ones the earlier
    row comes first. Where ties are left open, distances are equal that differ by rounding, and two
    more orders have the neighbours of the smallest response first among equals, and those of the
    largest.
    """
    n_obs, n_features = matrix.shape
    largest = np.square(matrix).sum(axis=1).max()
    tolerance = DISTANCE_DIGITS * n_features * largest if open_ties else 0.0
    nobody = padded_size(n_obs)
    orders = [np.full(shape, nobody, np.int32) for _ in range(3 if open_ties else 1)]
    tied, has_ties = np.zeros(shape, dtype=bool), False
    n_ranks = min(shape[0], n_obs)
    for part in row_batches(len(rows), n_obs, BLOCK_NUMBERS):
        distance = squared_distances(matrix[rows[part]], matrix)
        order = np.argsort(distance, axis=1, kind="stable")
        same = np.diff(np.take_along_axis(distance, order, axis=1), axis=1) <= tolerance
        tied[1:n_ranks, part] = same.T[: n_ranks - 1]
        for kept in orders:
            kept[:n_ranks, part] = order.T[:n_ranks]
        if not same.any():
            continue
        has_ties = True
        if open_ties:
            group = np.zeros(distance.shape, dtype=int)
            np.put_along_axis(group, order[:, 1:], (~same).cumsum(axis=1), axis=1)
            for kept, sign in zip(orders[1:], (1.0, -1.0), strict=True):
                by_response = np.broadcast_to(sign * response, group.shape)
                kept[:n_ranks, part] = np.lexsort((by_response, group)).T[:n_ranks]
    return (orders, tied) if has_ties else (orders[:1], None)
