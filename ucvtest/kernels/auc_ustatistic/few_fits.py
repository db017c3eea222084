r"""The AUC and its variance from few fits: rounds of disjoint learning sets.

The rule is the same as for mean losses (`stats.few_fits`), with a table of placements
for each class instead of one table of losses. A round is two learning sets that share no
observation, each with g_c of class c. The AUC of a rule is the mean of the placements of any class.
To first order it is U, plus the effect of learning, plus the mean effects of the tested
observations of all classes. The parts of testing add up over classes. The slope and the part of
learning come from the AUCs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from ucvtest.kernels.auc_ustatistic.several_classes import Classes, placements
from ucvtest.stats.few_fits import (
    LEAST_ROUNDS,
    MOST_ROUNDS,
    FewFits,
    SampleEffects,
    SetsOfRounds,
    few_fits_from,
)
from ucvtest.stats.placements import midranks

MOST_SCORES = 20_000_000
"""Scores of a learner that are kept."""


@dataclass(frozen=True, eq=False)
class PlacedRounds:
    """The AUC of each fit (R, q), and placements and learning sets of each class (R, q, n_c).

    Placements are zero where the class was learnt from.
    """

    fits: np.ndarray
    placed: tuple[np.ndarray, ...]
    learning: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, scores: np.ndarray, learning: np.ndarray, members: Sequence[np.ndarray]) -> Self:
        """From scores (R, q, n), looked at only where tested; the positives are the first class."""
        n_rounds, q, n = scores.shape
        rows = scores.reshape(-1, n)
        sets = [learning.reshape(-1, n)[:, class_members] for class_members in members]
        tested = [
            rows[:, class_members][~learnt_of_class].reshape(len(rows), -1)
            for class_members, learnt_of_class in zip(members, sets, strict=True)
        ]
        first, second = tested
        n_first, n_second = first.shape[1], second.shape[1]
        # Ranks of all, less those within the class: how many of the other are below, ties by half.
        of_all = midranks(np.hstack(tested))
        below = of_all[:, :n_first] - midranks(first)
        above = n_first - (of_all[:, n_first:] - midranks(second))
        placed = []
        for learnt_of_class, values in zip(sets, (below / n_second, above / n_first), strict=True):
            table = np.zeros(learnt_of_class.shape)
            table[~learnt_of_class] = values.ravel()
            placed.append(table.reshape(n_rounds, q, -1))
        fits = (below.sum(axis=1) / (n_first * n_second)).reshape(n_rounds, q)
        return cls(
            fits,
            tuple(placed),
            tuple(learnt_of_class.reshape(n_rounds, q, -1) for learnt_of_class in sets),
        )

    @classmethod
    def of_classes(cls, scores: np.ndarray, learning: np.ndarray, classes: Classes) -> Self:
        """Of several classes, from scores (R, q, n, C), looked at only where tested."""
        n_rounds, q, n = learning.shape
        rows = scores.reshape(-1, *scores.shape[2:])
        fits, placed = placements(classes, rows, learning.reshape(-1, n))
        placed = placed.reshape(learning.shape)
        members = [classes.labels == label for label in range(len(classes.learn_sizes))]
        return cls(
            fits.reshape(n_rounds, q),
            tuple(placed[..., class_members] for class_members in members),
            tuple(learning[..., class_members] for class_members in members),
        )

    def weighted(self, weight: float) -> Self:
        """The same of a multiple of the AUC."""
        return replace(
            self,
            fits=weight * self.fits,
            placed=tuple(weight * class_placements for class_placements in self.placed),
        )

    def plus(self, other: Self) -> Self:
        """The sum of two learners, by the same learning sets."""
        placed = tuple(x + y for x, y in zip(self.placed, other.placed, strict=True))
        return replace(self, fits=self.fits + other.fits, placed=placed)

    def equals(self, other: Self) -> bool:
        """Whether no placement differs."""
        pairs = zip(self.placed, other.placed, strict=True)
        return all(np.array_equal(x, y) for x, y in pairs)

    def _tested(self) -> list[np.ndarray]:
        """The values of each round for each observation, (R, n_c) for each class."""
        return [
            placed.sum(axis=1) / (~learning).sum(axis=1)
            for placed, learning in zip(self.placed, self.learning, strict=True)
        ]

    def effects(self) -> list[np.ndarray]:
        """The mean placement of each observation over all rounds, (n_c,) of each class."""
        return [tested.mean(axis=0) for tested in self._tested()]

    def estimate(self) -> FewFits:
        """The AUC (difference) and its variance, from three rounds on."""
        tested_and_learning = zip(self._tested(), self.learning, strict=True)
        samples = [
            SampleEffects.of(tested, SetsOfRounds(learning))
            for tested, learning in tested_and_learning
        ]
        return few_fits_from(self.fits.mean(axis=1), self.fits, samples)


class RoundsOfAuc(Protocol):
    """The rounds of an AUC, of whatever sample."""

    @property
    def fits(self) -> np.ndarray:
        """The AUC of each fit, (R, q)."""

    def weighted(self, weight: float) -> Self:
        """The same of a multiple of the AUC."""

    def plus(self, other: Self) -> Self:
        """The sum of two learners, by the same learning sets."""

    def equals(self, other: Self) -> bool:
        """Whether two learners place all alike."""

    def estimate(self) -> FewFits:
        """The AUC and its variance."""


class RankedRounds:
    """Keeps the scores of the first rounds of several learners, and ranks them when asked.

    `ranked` makes rounds of the scores (R, 2, ...) of each learner and of learning sets (R, 2, n).
    """

    def __init__(
        self,
        ranked: Callable[[Sequence[np.ndarray], np.ndarray], Sequence[RoundsOfAuc]],
        n_learners: int,
        n_scores: int,
    ) -> None:
        self.n_learners = n_learners
        self._ranked = ranked
        self._most = min(MOST_ROUNDS, max(LEAST_ROUNDS, MOST_SCORES // (2 * n_scores)))
        self._kept_rounds: list[tuple[list[np.ndarray], np.ndarray]] = []
        self._n_rounds = 0

    def add(self, scores: Sequence[np.ndarray], learning: np.ndarray, draw: np.ndarray) -> None:
        """Add scores (M, ...) of each learner at sets (M, n), two of each number a round."""
        room = self._most - self._n_rounds
        if room == 0:
            return
        rounds = np.argsort(draw, kind="stable").reshape(-1, 2)[:room]
        self._n_rounds += len(rounds)
        self._kept_rounds.append(
            ([learner_scores[rounds] for learner_scores in scores], learning[rounds])
        )

    @property
    def enough(self) -> bool:
        """Whether there are rounds enough for an estimate."""
        return self._n_rounds >= LEAST_ROUNDS

    def ranked(self) -> Sequence[RoundsOfAuc]:
        """The rounds of each learner, ranked."""
        learning = np.concatenate([sets for _, sets in self._kept_rounds])
        scores = [
            np.concatenate(
                [batch_scores[learner_index] for batch_scores, _ in self._kept_rounds]
            ).astype(float)
            for learner_index in range(self.n_learners)
        ]
        return self._ranked(scores, learning)
