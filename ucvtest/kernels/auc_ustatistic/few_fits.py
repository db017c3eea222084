r"""The AUC of two classes and its variance from few fits: rounds of disjoint learning sets.

The rule is that of mean losses (`kernels.ustatistic.few_fits`), with a table of placements for
each class instead of one table of losses. A round is two learning sets that share no observation,
each with g_c of class c. The AUC of a rule is the mean of the placements of either class. To first
order it is U, plus what is learnt, plus the mean effects of the tested observations of both
classes. The parts of testing add up over classes; the slope and what learning adds are those of the
AUCs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from scipy.stats import rankdata

from ucvtest.kernels.ustatistic.few_fits import (
    LEAST_ROUNDS,
    LEAST_SHARE,
    LEAST_TEST_SHARE,
    MOST_ROUNDS,
    FewFits,
)

__all__ = ["PlacedRounds", "RankedRounds"]

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
        sets = [learning.reshape(-1, n)[:, each] for each in members]
        tested = [
            rows[:, each][~part].reshape(len(rows), -1)
            for each, part in zip(members, sets, strict=True)
        ]
        first, second = tested
        n_first, n_second = first.shape[1], second.shape[1]
        # Ranks of all, less those within the class: how many of the other are below, ties by half.
        of_all = rankdata(np.hstack(tested), axis=1)
        below = of_all[:, :n_first] - rankdata(first, axis=1)
        above = n_first - (of_all[:, n_first:] - rankdata(second, axis=1))
        placed = []
        for part, values in zip(sets, (below / n_second, above / n_first), strict=True):
            table = np.zeros(part.shape)
            table[~part] = values.ravel()
            placed.append(table.reshape(n_rounds, q, -1))
        fits = (below.sum(axis=1) / (n_first * n_second)).reshape(n_rounds, q)
        return cls(fits, tuple(placed), tuple(part.reshape(n_rounds, q, -1) for part in sets))

    def weighted(self, weight: float) -> Self:
        """The same of a multiple of the AUC."""
        return replace(
            self, fits=weight * self.fits, placed=tuple(weight * each for each in self.placed)
        )

    def plus(self, other: Self) -> Self:
        """The sum of two learners, by the same learning sets."""
        placed = tuple(x + y for x, y in zip(self.placed, other.placed, strict=True))
        return replace(self, fits=self.fits + other.fits, placed=placed)

    def estimate(self) -> FewFits:
        """The AUC (difference) and its variance, from three rounds on."""
        n_rounds, q = self.fits.shape
        means = self.fits.mean(axis=1)
        classes = [_OfClass.of(*each) for each in zip(self.placed, self.learning, strict=True)]
        noise, df = float(means.var(ddof=1)), n_rounds * (q - 1) - 1
        expected = np.sum([each.expected for each in classes], axis=0)
        x, y = _within(expected), _within(self.fits)
        square = float((x**2).sum())
        slope = float((x * y).sum()) / square if square > 0 else 1.0
        residual = float(((y - slope * x) ** 2).sum()) / df
        # What is expected is known from the other rounds only: see `Rounds`.
        error = sum(each.error for each in classes)
        residual = max(residual - slope**2 * error, LEAST_SHARE * residual)
        signal = sum(each.spread * each.variance for each in classes)
        if signal > 0:
            slope /= max(signal / (signal + error), 1 / 2)
        raw = sum(each.variance * (1 - (slope - 1) * each.share) ** 2 for each in classes)
        learning_part = max(each.factor for each in classes) * residual
        spread = raw + learning_part
        share = raw / spread if spread > 0 else 1.0
        return FewFits(
            mean=float(means.mean()),
            test_part=max(raw - learning_part / df, LEAST_TEST_SHARE * raw),
            learning_part=learning_part,
            noise=noise,
            spread=spread,
            df=1 / (1 / _welch(classes) + (1 - share**2) / df),
            n_rounds=n_rounds,
            n_obs=sum(each.n for each in classes),
        )


class _OfClass(NamedTuple):
    """What is known of the observations of a class, and of what they make of each fit (R, q).

    `variance` is the part of testing; `spread` times it that of `expected` within rounds, of which
    `error` is the noise. `share` and `factor` turn slopes and residuals of fits into variances.
    """

    n: int
    expected: np.ndarray
    variance: float
    spread: float
    error: float
    share: float
    factor: float

    @classmethod
    def of(cls, placed: np.ndarray, learning: np.ndarray) -> Self:
        """From placements and learning sets (R, q, n)."""
        n_rounds, _, n = placed.shape
        g = int(learning[0, 0].sum())
        untested = n - g
        tested = placed.sum(axis=1) / (~learning).sum(axis=1)
        effects = tested.mean(axis=0)
        centred = effects - effects.mean()
        apart = tested - tested.mean(axis=1, keepdims=True) - centred
        interaction = float((apart**2).sum()) / ((n_rounds - 1) * (n - 1))
        raw = float((centred**2).sum()) / (n * (n - 1))
        variance = max(raw - interaction / (n_rounds * n), LEAST_SHARE * raw)
        others = (n_rounds * effects - tested) / (n_rounds - 1)
        others -= others.mean(axis=1, keepdims=True)
        spread = g * n / untested**2
        return cls(
            n=n,
            expected=np.einsum("rqn,rn->rq", ~learning, others) / untested,
            variance=variance,
            spread=spread,
            error=spread * interaction / (n * (n_rounds - 1)),
            share=g / (untested - 1),
            factor=(g * untested / (untested - 1)) ** 2 / (g * n),
        )


def _welch(classes: Sequence[_OfClass]) -> float:
    """Degrees of freedom of the sum of the parts of testing."""
    total = sum(each.variance for each in classes)
    if not total > 0:
        return float(min(each.n for each in classes) - 1)
    return float(total**2 / sum(each.variance**2 / (each.n - 1) for each in classes))


def _within(values: np.ndarray) -> np.ndarray:
    """Values (R, q) around the mean of their round."""
    return np.asarray(values - values.mean(axis=1, keepdims=True))


class RankedRounds:
    """Keeps the scores of the first rounds of several learners, and ranks them when asked."""

    def __init__(self, members: Sequence[np.ndarray], n_learners: int) -> None:
        self.n_learners = n_learners
        self._members = tuple(members)
        n_obs = sum(map(len, members))
        self._most = min(MOST_ROUNDS, max(LEAST_ROUNDS, MOST_SCORES // (2 * n_obs)))
        self._kept: list[tuple[list[np.ndarray], np.ndarray]] = []
        self._n_rounds = 0

    def add(self, scores: Sequence[np.ndarray], learning: np.ndarray, draw: np.ndarray) -> None:
        """Add scores (M, n) of each learner at learning sets (M, n), two of each number a round."""
        room = self._most - self._n_rounds
        if room == 0:
            return
        rounds = np.argsort(draw, kind="stable").reshape(-1, 2)[:room]
        self._n_rounds += len(rounds)
        self._kept.append(([each[rounds] for each in scores], learning[rounds]))

    @property
    def enough(self) -> bool:
        """Whether there are rounds enough for an estimate."""
        return self._n_rounds >= LEAST_ROUNDS

    def placed(self) -> list[PlacedRounds]:
        """The rounds of each learner, ranked."""
        learning = np.concatenate([sets for _, sets in self._kept])
        found = []
        for place in range(self.n_learners):
            scores = np.concatenate([each[place] for each, _ in self._kept]).astype(float)
            found.append(PlacedRounds.of(scores, learning, self._members))
        return found
