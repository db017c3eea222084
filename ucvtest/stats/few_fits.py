r"""A U-statistic and its variance from few fits: rounds of disjoint learning sets.

A round is q disjoint learning sets of size g, each tested on all other observations; R rounds are M
= q R fits. With D_L(t) the loss (difference) at t of the rule(s) learnt on L, :math:`Y_r(i)` is the
mean of D at i over the sets of round r that test i: a table (R, n) without holes. Its column means
show how observations differ when they are tested, with n - 1 degrees of freedom for any number of
fits. The means of the fits within rounds show the part of learning, and the means of the rounds
show the noise of the fits.

To first order the mean of D over the tested is ``U + sum_{i in L} lambda_i + mean_{t not in L}
delta_t``. In the variance of the estimate, the covariance of learning and testing has the opposite
sign from the spread of fits within rounds. Regress the fits on the values that their tested
observations would give (slope gamma), and change the sign of that part (2 - gamma, at halves). If
all rounds are drawn, the result is exactly the delete-one jackknife.

The noise of the fits is subtracted from the part of learning. This assumes that it is noise. If the
squared contrasts within rounds follow the means of the rounds, a few observations decide which rule
is learnt, and rounds that divide them unevenly are worse. The means then vary because of learning.
In this case the variance returns towards the jackknife, by the share of the contrasts' variance
that the means of the rounds explain.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple, Self

import numpy as np
from scipy.special import betainc

LEAST_ROUNDS = 3
"""With two rounds a single degree of freedom would be left between the fits."""

MOST_ROUNDS = 1000
"""Rounds that are kept; with 300 the interval is as short as that from thousands."""

LEAST_SHARE = 1 / 5
"""Of a variance, that is left when the noise which went into it is taken away."""

LEAST_TEST_SHARE = 1 / 2
"""The same of the part of the tested observations, from which the slope's own error is taken."""

MOST_CHANCE = 0.01
"""Probability up to which a share is not taken for chance."""

ROUNDING = 1e-14
"""Means up to this share of the averaged values are rounding error."""

FULL_WEIGHT_OBS, LEAST_WEIGHT = 300, 1 / 3
"""Observations from which on the learning part is all shrunken, and the share of it before."""


class FewFits(NamedTuple):
    """A mean loss with its variance, which rests on `df` degrees of freedom.

    The variance is the sum of a part of the tested observations, and of one of learning; `noise`
    is the variance of a round. `spread`, the jackknife's variance, is zero only where no loss
    differs from another. `decided` is the share of it that is known not to be noise. `one_decides`
    is the share of what fits of a round differ by that one observation explains, where chance does
    not.
    """

    mean: float
    test_part: float
    learning_part: float
    noise: float
    spread: float
    decided: float
    df: float
    n_rounds: int
    n_obs: int
    one_decides: float

    @property
    def variance(self) -> float:
        """Of the mean over all learning sets."""
        learning, noise = self.learning_part, self.noise
        weight = min(max(self.n_obs / FULL_WEIGHT_OBS, LEAST_WEIGHT), 1.0)
        shrunken = learning**2 / (learning + noise) if learning > 0 else 0.0
        learnt = (1 - weight) * max(learning - noise, 0.0) + weight * shrunken
        return (1 - self.decided) * (self.test_part + learnt) + self.decided * self.spread

    @property
    def mc_se(self) -> float:
        """The Monte-Carlo standard error of the mean."""
        return math.sqrt(self.noise / self.n_rounds)

    @property
    def se(self) -> float:
        """The standard error of the mean, with its Monte-Carlo part."""
        return math.sqrt(self.variance + self.mc_se**2)


@dataclass(frozen=True, eq=False)
class SetsOfRounds:
    """The learning sets (R, q, n) of rounds, and what losses of any kind need of them, once."""

    learning: np.ndarray

    @cached_property
    def testing(self) -> np.ndarray:
        """The observations that each set does not contain, as numbers, (R, q, n)."""
        return 1.0 - self.learning

    @cached_property
    def n_tests(self) -> np.ndarray:
        """How many sets of a round test each observation, (R, n)."""
        return np.asarray(self.testing.sum(axis=1))

    @cached_property
    def n_tested(self) -> np.ndarray:
        """How many observations each set tests, (R, q)."""
        return np.asarray(self.testing.sum(axis=2))

    @cached_property
    def squared_contrasts(self) -> np.ndarray:
        """The sum of squares of each observation's numbers around the mean of their round, (n,)."""
        n_tests, q = self.n_tests, self.learning.shape[1]
        return np.asarray((n_tests * (1 - n_tests / q)).sum(axis=0))


@dataclass(frozen=True, eq=False)
class Rounds:
    """Rounds of disjoint learning sets: the mean loss of each observation and of each fit.

    `tested` (R, n) is the mean loss of each observation over the sets of a round that test it, and
    `fits` (R, q) is the mean loss of each fit over its tested observations.
    """

    tested: np.ndarray
    fits: np.ndarray
    sets: SetsOfRounds

    @classmethod
    def of(cls, losses: np.ndarray, learning: np.ndarray) -> Self:
        """From losses (R, q, n), whatever they are inside the learning sets (R, q, n)."""
        return cls.on(np.where(learning, 0.0, losses), SetsOfRounds(learning))

    @classmethod
    def on(cls, losses: np.ndarray, sets: SetsOfRounds) -> Self:
        """From losses that are 0 inside the learning sets, which other losses may share."""
        return cls(losses.sum(axis=1) / sets.n_tests, losses.sum(axis=2) / sets.n_tested, sets)

    def estimate(self) -> FewFits:
        """The mean loss and its variance, from three rounds on."""
        sample = SampleEffects.of(self.tested, self.sets)
        return few_fits_from(self.tested.mean(axis=1), self.fits, [sample])

    def weighted(self, weight: float) -> Self:
        """The rounds of a multiple of the losses."""
        if weight == 1.0:
            return self
        return type(self)(weight * self.tested, weight * self.fits, self.sets)

    def plus(self, other: Self) -> Self:
        """The rounds of the sum of two losses, of the same learning sets."""
        return type(self)(self.tested + other.tested, self.fits + other.fits, self.sets)

    def equals(self, other: Self) -> bool:
        """Whether no observation of a round differs."""
        return np.array_equal(self.tested, other.tested)

    def with_offset(self, offset: np.ndarray) -> Self:
        """The rounds of the losses plus their mean times an offset (n,)."""
        moved = float(self.tested.mean()) * offset
        fits = self.fits + np.einsum("rqn,n->rq", self.sets.testing, moved) / self.sets.n_tested
        return type(self)(self.tested + moved, fits, self.sets)


class SampleEffects(NamedTuple):
    """The tested observations of a sample, or of one of its classes, and their values by fit.

    `variance` is their part of that of the mean, `sets` are the learning sets. `expected` (R, q)
    are the fits that they would give by the other rounds; within rounds its variance is `spread`
    times theirs plus `error`.
    """

    n: int
    g: int
    sets: SetsOfRounds
    expected: np.ndarray
    variance: float
    spread: float
    error: float

    @classmethod
    def of(cls, tested: np.ndarray, sets: SetsOfRounds) -> Self:
        """Make it from values of rounds for observations (R, n), and their learning sets."""
        n_rounds, n = tested.shape
        g = int(sets.learning[0, 0].sum())
        untested = n - g
        effects = tested.mean(axis=0)
        centred = effects - effects.mean()
        interactions = tested - tested.mean(axis=1, keepdims=True)
        interactions -= centred
        squares = np.einsum("rn,rn->r", interactions, interactions)
        interaction = float(squares.sum()) / ((n_rounds - 1) * (n - 1))
        raw = float((centred**2).sum()) / (n * (n - 1))
        # Effects in the other rounds.
        other_rounds = interactions
        other_rounds /= 1 - n_rounds
        other_rounds += centred
        spread = g * n / untested**2
        return cls(
            n=n,
            g=g,
            sets=sets,
            expected=np.einsum("rqn,rn->rq", sets.testing, other_rounds) / untested,
            variance=max(raw - interaction / (n_rounds * n), LEAST_SHARE * raw),
            spread=spread,
            error=spread * interaction / (n * (n_rounds - 1)),
        )

    def test_part(self, slope: float) -> float:
        """Its part of the variance, with the covariance of learning and testing."""
        return self.variance * (1 - (slope - 1) * self.g / (self.n - self.g - 1)) ** 2

    @property
    def turned(self) -> np.ndarray:
        """What turns the sign of their part in fits (R, q), when it is taken from these."""
        return (1 + (self.n - self.g - 1) / self.g) * self.expected

    @property
    def factor(self) -> float:
        """What the spread of fits within rounds is to be multiplied by."""
        untested = self.n - self.g
        return (self.g * untested / (untested - 1)) ** 2 / (self.g * self.n)


def few_fits_from(means: np.ndarray, fits: np.ndarray, samples: Sequence[SampleEffects]) -> FewFits:
    """The estimate from the means of rounds (R,), the fits (R, q), and the tested observations.

    For several samples, such as classes, the parts of testing add up. Fits are regressed on the sum
    of their expected values.
    """
    n_rounds, q = fits.shape
    df = n_rounds * (q - 1) - 1
    slope, residual = _regression(fits, samples, df)
    raw = sum(sample_effects.test_part(slope) for sample_effects in samples)
    learning_part = max(sample_effects.factor for sample_effects in samples) * residual
    spread = raw + learning_part
    variance_share = raw / spread if spread > 0 else 1.0
    mean = float(means.mean())
    if not abs(mean) > ROUNDING * float(np.abs(means).max()):
        # Rounding is all that is left of rounds that cancel one another.
        mean = 0.0
    return FewFits(
        mean=mean,
        # The error of the slope adds this much on average.
        test_part=max(raw - learning_part / df, LEAST_TEST_SHARE * raw),
        learning_part=learning_part,
        noise=float(means.var(ddof=1)),
        spread=spread,
        decided=_decided(
            means, fits - np.sum([sample_effects.turned for sample_effects in samples], axis=0)
        ),
        df=1 / (1 / _welch(samples) + (1 - variance_share**2) / df),
        n_rounds=n_rounds,
        n_obs=sum(sample_effects.n for sample_effects in samples),
        one_decides=_one_decides(fits, samples),
    )


def _decided(means: np.ndarray, turned: np.ndarray) -> float:
    """The share of the variance of squared contrasts (R, q) that the means of rounds explain.

    As of other rounds: Amemiya's (1980) adjusted R^2, at least 0.
    """
    n_rounds = len(means)
    squares, level = (_within(turned) ** 2).sum(axis=1), means - means.mean()
    squares -= squares.mean()
    product_of_squares = float((level**2).sum() * (squares**2).sum())
    if np.ptp(means) <= ROUNDING * float(np.abs(means).max()) or not product_of_squares > 0:
        return 0.0
    unexplained = 1 - float(level @ squares) ** 2 / product_of_squares
    return max(1 - unexplained * (n_rounds + 2) / (n_rounds - 2), 0.0)


def _one_decides(fits: np.ndarray, samples: Sequence[SampleEffects]) -> float:
    """The largest share of the contrasts of fits (R, q) that one learnt observation explains.

    The part of the tested observations is excluded. It is 0 if the largest of all shares may be
    chance, at a level of 1%.
    """
    learnt = _within(fits - np.sum([sample_effects.expected for sample_effects in samples], axis=0))
    left, total, largest = float((learnt**2).sum()), float((_within(fits) ** 2).sum()), 0.0
    if not (left > 0 and total > 0):
        return 0.0
    for sample_effects in samples:
        sets = sample_effects.sets
        # As `learnt` sums to zero in a round, tests have the products of sets with the other sign.
        covariances = np.einsum("rq,rqn->n", learnt, sets.testing)
        squares = sets.squared_contrasts
        explained = np.divide(
            covariances**2, squares, out=np.zeros(sample_effects.n), where=squares > 0
        )
        largest = max(largest, float(explained.max()))
    df = len(fits) * (fits.shape[1] - 1) - 1
    chance = betainc(df / 2, 1 / 2, max(1 - largest / left, 0.0)) * sum(
        sample_effects.n for sample_effects in samples
    )
    return min(largest / total, 1.0) if chance <= MOST_CHANCE else 0.0


def _regression(fits: np.ndarray, samples: Sequence[SampleEffects], df: int) -> tuple[float, float]:
    """The slope of fits on what the observations they test have in the other rounds.

    Returns the variance that is left, too.
    """
    x, y = (
        _within(np.sum([sample_effects.expected for sample_effects in samples], axis=0)),
        _within(fits),
    )
    square = float((x**2).sum())
    slope = float((x * y).sum()) / square if square > 0 else 1.0
    residual = float(((y - slope * x) ** 2).sum()) / df
    # x is known from R - 1 rounds only: its error is in the residuals, and flattens the slope.
    error = sum(sample_effects.error for sample_effects in samples)
    residual = max(residual - slope**2 * error, LEAST_SHARE * residual)
    signal = sum(sample_effects.spread * sample_effects.variance for sample_effects in samples)
    if signal > 0:
        slope /= max(signal / (signal + error), 1 / 2)
    return slope, residual


def _welch(samples: Sequence[SampleEffects]) -> float:
    """Degrees of freedom of the sum of the parts of testing."""
    total = sum(sample_effects.variance for sample_effects in samples)
    if len(samples) == 1 or not total > 0:
        return float(min(sample_effects.n for sample_effects in samples) - 1)
    return float(
        total**2
        / sum(sample_effects.variance**2 / (sample_effects.n - 1) for sample_effects in samples)
    )


def _within(values: np.ndarray) -> np.ndarray:
    """Values (R, q) around the mean of their round."""
    return np.asarray(values - values.mean(axis=1, keepdims=True))


class RoundSums:
    """Collects the rounds of several learners: the first thousand.

    `known` keeps the sets, by their first round and the one after the last, for other losses of the
    same.
    """

    def __init__(
        self, n_learners: int, known: dict[tuple[int, int], SetsOfRounds] | None = None
    ) -> None:
        self.n_learners = n_learners
        self._batches_of_rounds: list[list[Rounds]] = []
        """Rounds of each learner, part by part: an interrupt leaves whole parts alone."""
        self._known = {} if known is None else known

    def add(
        self, learner_losses: Sequence[np.ndarray], learning: np.ndarray, draw: np.ndarray
    ) -> None:
        """Add losses (M, n) of each learner, 0 inside the learning sets (M, n).

        Two sets of the same number in `draw` are a round. Rows beyond those of `draw` are left out.
        """
        first_round = self._n_rounds
        room = MOST_ROUNDS - first_round
        if room == 0:
            return
        rounds = np.argsort(draw, kind="stable").reshape(-1, 2)[:room]
        part = first_round, first_round + len(rounds)
        if part not in self._known:
            self._known[part] = SetsOfRounds(_by_round(learning, rounds))
        sets = self._known[part]
        self._batches_of_rounds.append(
            [Rounds.on(_by_round(losses, rounds), sets) for losses in learner_losses]
        )

    @property
    def _n_rounds(self) -> int:
        return sum(
            len(rounds_of_learners[0].tested) for rounds_of_learners in self._batches_of_rounds
        )

    @property
    def enough(self) -> bool:
        """Whether there are rounds enough for an estimate."""
        return self._n_rounds >= LEAST_ROUNDS

    def effects(self) -> np.ndarray:
        """The mean loss of each observation over all rounds, of each learner (L, n)."""
        return np.stack([rounds.tested.mean(axis=0) for rounds in self._of_learners()])

    def _of_learners(self) -> list[Rounds]:
        """All rounds of each learner, which from now on are one part."""
        if len(self._batches_of_rounds) > 1:
            joined = [part[0].sets.learning for part in self._batches_of_rounds]
            sets = SetsOfRounds(np.concatenate(joined))
            self._batches_of_rounds = [
                [
                    Rounds(
                        np.concatenate([rounds.tested for rounds in learner_rounds]),
                        np.concatenate([rounds.fits for rounds in learner_rounds]),
                        sets,
                    )
                    for learner_rounds in zip(*self._batches_of_rounds, strict=True)
                ]
            ]
        return self._batches_of_rounds[0]

    def combined(self, weights: Sequence[float], offset: np.ndarray | None = None) -> Rounds:
        """The rounds of a weighted sum of losses.

        With an `offset` those of the losses plus their mean times the offset, as for ratios of
        means.
        """
        # Of many learners most have no weight in a difference.
        weighted_rounds = [
            learner_rounds.weighted(w)
            for w, learner_rounds in zip(weights, self._of_learners(), strict=True)
            if w
        ]
        combined_rounds = reduce(Rounds.plus, weighted_rounds)
        return combined_rounds if offset is None else combined_rounds.with_offset(offset)


def _by_round(rows: np.ndarray, rounds: np.ndarray) -> np.ndarray:
    """Rows (M, n) of rounds (R, 2), (R, 2, n); without a copy if they come in this order."""
    if np.array_equal(rounds.ravel(), np.arange(rounds.size)):
        return rows[: rounds.size].reshape(*rounds.shape, -1)
    return rows[rounds]
