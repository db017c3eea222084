"""k nearest neighbours, many learning sets at once: the neighbours are sorted once for all.

Labels of two classes are counted in bits: a word contains the same bit of the votes of 64 learning
sets, so that one operation serves all of them.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ucvtest.common.checks import is_integer
from ucvtest.common.execution import row_batches
from ucvtest.common.padding import padded
from ucvtest.common.words import arg, excerpt
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import Predictions, Scale, class_members
from ucvtest.learners.batching import Margin, padded_size, squared_distances
from ucvtest.learners.jitted.neighbor_votes import Neighbours, collect_votes, elect
from ucvtest.learners.runner import Data, PaddedLearner, State

VoteTies = Literal["nearest", "first", "second"]
"""Who wins where votes are equally many: the class of the nearest neighbour, or a fixed one."""

BLOCK_NUMBERS = 2**22
"""Distances that are sorted at a time, about: 32 MB, and a few copies."""

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

    k: int
    ties: VoteTies = "nearest"

    scale: ClassVar[Scale] = "share"
    multiclass: ClassVar[bool] = True
    regression: ClassVar[bool] = True
    pair_bytes: ClassVar[int] = 12
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
        check_neighbours(self.name, self.k, learn_size)

    def share(self, sample: Sample) -> Data:
        """The votes of the observations, and their neighbours in several orders."""
        if sample.classes is None:
            votes = sample.target
        elif sample.n_classes == 2:
            votes = sample.target.astype(np.int8)
        else:
            votes = class_members(sample).astype(np.int8)
        orders, tied = rank_neighbours(sample.matrix, sample.target, open_ties=self.open_ties)
        size = padded_size(sample.n_obs)
        orders = [padded(order, size, 0, 1, fill=size) for order in orders]
        marks = padded(tied, size, 0, 1) if tied.any() else None
        return Data((), votes, shared=(orders, marks, np.arange(size) >= sample.n_obs))

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
        margin: Margin | None = None,
    ) -> Predictions:
        """Predictions of the kind that a loss needs, and how often ties had to be broken."""
        orders, tied, empty = state.data.shared

        def predicted(order: Any, marks: Any, kind: Output) -> Predictions:
            data = state.data._replace(shared=Neighbours(order, marks, empty))
            return self._predict(state._replace(data=data), learning, kind, testing, labels)

        if not self.open_ties:
            return predicted(orders[0], tied, output)
        if tied is None or labels is not None:
            # Of labels nobody knew, the order that finds all ties is unknown too.
            return Predictions(predicted(orders[0], tied, output).values, Counter())
        kind: Output = "score" if state.n_classes > 2 else output
        values, other = (predicted(order, None, kind).values for order in orders[1:])
        if not np.array_equal(values, other):
            same = np.isclose(values, other, rtol=SAME_MEAN, atol=0.0)
            values = np.where(same, values, np.nan)
        elected = output == "label" and state.n_classes > 2
        return Predictions(self.elect(values).values if elected else values, Counter())

    def _predict(
        self,
        state: State,
        learning: np.ndarray,
        output: Output,
        testing: np.ndarray | None,
        labels: np.ndarray | None,
    ) -> Predictions:
        """Predictions by the neighbours in one order."""
        n_obs, two = learning.shape[1], state.n_classes == 2
        if output == "label" and labels is None and two:
            election = self._run(elect, state, learning, None)
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
        votes = self._run(collect_votes, state, learning, small, k, **program)
        # Where all labelings share one learning set, its members were looked up once.
        shape = (len(learning if labels is None else labels), n_obs)
        count, total, first, _, tied = (
            np.broadcast_to(np.asarray(array)[..., :n_obs], (*array.shape[:-2], *shape))
            for array in votes
        )
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


def rank_neighbours(
    matrix: np.ndarray, response: np.ndarray, *, open_ties: bool
) -> tuple[list[np.ndarray], np.ndarray]:
    """Neighbours of all observations, nearest first, and which are as near as the one before.

    Both (n, n), an observation in each column; of equally distant ones the earlier row first. Where
    ties are left open, distances are equal that differ by rounding, and two more orders have the
    neighbours of the smallest response first among equals, and those of the largest.
    """
    n_obs, n_features = matrix.shape
    largest = np.square(matrix).sum(axis=1).max()
    tolerance = DISTANCE_DIGITS * n_features * largest if open_ties else 0.0
    orders = [np.empty((n_obs, n_obs), np.int32) for _ in range(3 if open_ties else 1)]
    tied = np.zeros((n_obs, n_obs), dtype=bool)
    for rows in row_batches(n_obs, n_obs, BLOCK_NUMBERS):
        distance = squared_distances(matrix[rows], matrix)
        order = np.argsort(distance, axis=1, kind="stable")
        same = np.diff(np.take_along_axis(distance, order, axis=1), axis=1) <= tolerance
        tied[1:, rows] = same.T
        for kept in orders:
            kept[:, rows] = order.T
        if open_ties and same.any():
            group = np.zeros(distance.shape, dtype=int)
            np.put_along_axis(group, order[:, 1:], (~same).cumsum(axis=1), axis=1)
            for kept, sign in zip(orders[1:], (1.0, -1.0), strict=True):
                by_response = np.broadcast_to(sign * response, group.shape)
                kept[:, rows] = np.lexsort((by_response, group)).T
    return orders if tied.any() else orders[:1], tied
