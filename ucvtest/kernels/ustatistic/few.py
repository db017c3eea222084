r"""A U-statistic and its variance from few fits: rounds of disjoint learning sets.

A round is q disjoint learning sets; R rounds are q R fits. :math:`Y_r(i)` is the mean placement
(`rows`) of unit i over the sets of round r that test it: a table (R, n) without holes. Its column
means show how units differ when they are tested, with n_c - 1 degrees of freedom for any number of
fits. The values of the fits within rounds show the part of learning, and the means of the rounds
show the noise of the fits.

To first order a fit is ``U + sum_{i in L} lambda_i + mean_{t not in L} delta_t``, the mean over
the tested units of each stratum. In the variance of the estimate, the covariance of learning and
testing has the opposite sign from the spread of fits within rounds. Regress the fits on the values
that their tested units would give (slope gamma), and change the sign of that part (2 - gamma, at
halves). If all rounds are drawn, the result is exactly the delete-one jackknife.

The noise of the fits is subtracted from the part of learning. This assumes that it is noise. If the
squared contrasts within rounds follow the means of the rounds, a few units decide which rule is
learnt, and rounds that divide them unevenly are worse. The means then vary because of learning. In
this case the variance returns towards the jackknife, by the share of the contrasts' variance that
the means of the rounds explain.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from scipy.special import betainc

from ucvtest.kernels.ustatistic.contrasts import Contrast
from ucvtest.kernels.ustatistic.rows import Strata

LEAST_ROUNDS = 3
"""With two rounds a single degree of freedom would be left between the fits."""

MOST_ROUNDS = 1000
"""Rounds that are kept; with 300 the interval is as short as that from thousands."""

LEAST_SHARE = 1 / 5
"""Of a variance, that is left when the noise which went into it is taken away."""

LEAST_TEST_SHARE = 1 / 2
"""The same of the part of the tested units, from which the slope's own error is taken."""

MOST_CHANCE = 0.01
"""Probability up to which a share is not taken for chance."""

ROUNDING = 1e-14
"""Means up to this share of the averaged values are rounding error."""

FULL_WEIGHT_UNITS, LEAST_WEIGHT = 300, 1 / 3
"""Units from which on the learning part is all shrunken, and the share of it before."""


class FewFits(NamedTuple):
    """An estimate with its variance, which rests on `df` degrees of freedom.

    The variance is the sum of a part of the tested units, and of one of learning; `noise` is the
    variance of a round. `spread`, the jackknife's variance, is zero only where no placement differs
    from another. `decided` is the share of it that is known not to be noise. `one_decides` is the
    share of what fits of a round differ by that one unit explains, where chance does not.
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
        weight = min(max(self.n_obs / FULL_WEIGHT_UNITS, LEAST_WEIGHT), 1.0)
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
    """The learning sets (R, q, n) of rounds, and what placements of any kind need of them, once."""

    strata: Strata
    learning: np.ndarray

    @classmethod
    def single(cls, learning: np.ndarray) -> Self:
        """Of one stratum."""
        return cls(Strata.single(learning.shape[-1], int(learning[0, 0].sum())), learning)

    @cached_property
    def testing(self) -> np.ndarray:
        """The units that each set does not contain, as numbers, (R, q, n)."""
        return 1.0 - self.learning

    @cached_property
    def n_tests(self) -> np.ndarray:
        """How many sets of a round test each unit, (R, n)."""
        return np.asarray(self.testing.sum(axis=1))

    @cached_property
    def squared_contrasts(self) -> np.ndarray:
        """The sum of squares of each unit's numbers around the mean of their round, (n,)."""
        q = self.learning.shape[1]
        return np.asarray((self.n_tests * (1 - self.n_tests / q)).sum(axis=0))

    def mean_of_tested(self, kernel: np.ndarray) -> np.ndarray:
        """The mean of a kernel (n,) of the tested unit over each test set, (R, q)."""
        some, first = self.strata.parts[0], self.strata.members[0][0]
        return np.asarray(self.testing[..., some] @ kernel[some] / self.strata.r[first])

    def few_fits(self, placed: np.ndarray) -> FewFits:
        """From placements (R, q, n), 0 where learnt from."""
        some, first = self.strata.parts[0], self.strata.members[0][0]
        fits = placed[..., some].sum(axis=2) / self.strata.r[first]
        return few_fits(self, placed.sum(axis=1) / self.n_tests, fits)


class Rounds:
    """Tables Y (V, R, n) of the first rounds, and their fits (V, R, q), of columns of rows."""

    def __init__(self, strata: Strata, q: int = 2, most: int = MOST_ROUNDS) -> None:
        self.strata, self._q, self._most = strata, q, most
        self._parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        """An interrupt leaves whole parts alone."""
        self._known: tuple[np.ndarray, np.ndarray, SetsOfRounds] | None = None

    def add(self, placed: np.ndarray, learning: np.ndarray, draw: np.ndarray) -> None:
        """Add rows as in `Rows.add`; sets with the same number in `draw` are a round."""
        room = self._most - self.n_rounds
        rounds = np.argsort(draw, kind="stable").reshape(-1, self._q)[:room]
        if len(rounds):
            sets, values = learning[rounds], placed[:, rounds]
            some, first = self.strata.parts[0], self.strata.members[0][0]
            fits = values[..., some].sum(axis=-1, dtype=float) / self.strata.r[first]
            # Halves of whole numbers are exact in single precision.
            kind = np.float32 if placed.dtype.kind in "iub" and self._q == 2 else float
            tested = values.sum(axis=2, dtype=kind) / (~sets).sum(axis=1, dtype=kind)
            self._known = None
            self._parts.append((tested, fits, sets))

    @property
    def n_rounds(self) -> int:
        """Rounds so far."""
        return sum(len(sets) for _, _, sets in self._parts)

    @property
    def enough(self) -> bool:
        """Whether there are rounds enough for an estimate."""
        return self.n_rounds >= LEAST_ROUNDS

    @property
    def tables(self) -> tuple[np.ndarray, np.ndarray, SetsOfRounds]:
        """Y, the fits, and the learning sets."""
        if self._known is None:
            tested, fits, learning = zip(*self._parts, strict=True)
            self._known = (
                np.concatenate(tested, axis=1),
                np.concatenate(fits, axis=1),
                SetsOfRounds(self.strata, np.concatenate(learning)),
            )
        return self._known

    @property
    def means(self) -> np.ndarray:
        """The means (V,) of the estimates: over Y of one stratum, over the fits of several."""
        tested, fits, _ = self.tables
        values = fits if len(self.strata.members) > 1 else tested
        return np.asarray(values.mean(axis=(1, 2), dtype=float))

    @property
    def means_of_fits(self) -> np.ndarray:
        """The means (V,) over the fits."""
        return np.asarray(self.tables[1].mean(axis=(1, 2)))

    def estimate(self, contrast: Contrast) -> FewFits:
        """The estimate of a contrast, whose point are the means of the fits, or these means."""
        tested, fits, sets = self.tables
        # Of many columns most have no weight.
        used = np.flatnonzero(contrast.weights)
        tested, fits = (
            sum((contrast.weights[v] * x[v] for v in used), np.zeros(x.shape[1:]))
            for x in (tested, fits)
        )
        if np.any(contrast.fixed):
            fixed = np.broadcast_to(contrast.fixed, tested.shape[1:])
            tested, fits = tested + fixed, fits + sets.mean_of_tested(fixed)
        few_estimate = few_fits(sets, tested, fits)
        if contrast.value is None:
            return few_estimate
        return few_estimate._replace(mean=contrast.value + few_estimate.mean - contrast.level)

    def covariance_of_tests(self, contrasts: Sequence[Contrast]) -> np.ndarray:
        """The covariance of the parts of the tested units in contrasts."""
        means = self.tables[0].mean(axis=1, dtype=float)
        effects = np.stack([contrast.weights @ means + contrast.fixed for contrast in contrasts])
        effects = self.strata.centred(effects) / np.sqrt(self.strata.n * (self.strata.n - 1))
        covariance: np.ndarray = effects @ effects.T
        return covariance


class _Stratum(NamedTuple):
    """The tested units of a stratum, and their values by fit.

    `variance` is their part of that of the mean. `expected` (R, q) are the fits that they would
    give by the other rounds; within rounds its variance is `spread` times theirs plus `error`.
    """

    n: int
    g: int
    expected: np.ndarray
    variance: float
    spread: float
    error: float

    @classmethod
    def of(cls, tested: np.ndarray, testing: np.ndarray, g: int) -> "_Stratum":
        """Make it from a table (R, n) and the tested units (R, q, n)."""
        n_rounds, n = tested.shape
        effects = tested.mean(axis=0)
        centred = effects - effects.mean()
        interactions = tested - tested.mean(axis=1, keepdims=True)
        interactions -= centred
        squares = np.einsum("rn,rn->r", interactions, interactions).sum()
        interaction = float(squares) / ((n_rounds - 1) * (n - 1))
        raw = float((centred**2).sum()) / (n * (n - 1))
        # Effects in the other rounds.
        in_other_rounds = interactions
        in_other_rounds /= 1 - n_rounds
        in_other_rounds += centred
        spread = g * n / (n - g) ** 2
        return cls(
            n=n,
            g=g,
            expected=np.einsum("rqn,rn->rq", testing, in_other_rounds) / (n - g),
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
        tested = self.n - self.g
        return (self.g * tested / (tested - 1)) ** 2 / (self.g * self.n)


def few_fits(sets: SetsOfRounds, tested: np.ndarray, fits: np.ndarray) -> FewFits:
    """The estimate from a table Y (R, n) and the fits (R, q), from three rounds on."""
    strata, (n_rounds, q) = sets.strata, fits.shape
    df = n_rounds * (q - 1) - 1
    of_strata = [
        _Stratum.of(tested[:, some], sets.testing[..., some], g)
        for some, g in zip(strata.parts, strata.learn_sizes, strict=True)
    ]
    expected = np.sum([x.expected for x in of_strata], axis=0)
    slope, residual = _regression(fits, expected, of_strata, df)
    raw = sum(x.test_part(slope) for x in of_strata)
    learning_part = max(x.factor for x in of_strata) * residual
    spread = raw + learning_part
    share = raw / spread if spread > 0 else 1.0
    means = (fits if len(of_strata) > 1 else tested).mean(axis=1)
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
        decided=_decided(means, fits - np.sum([x.turned for x in of_strata], axis=0)),
        df=1 / (1 / _welch(of_strata) + (1 - share**2) / df),
        n_rounds=n_rounds,
        n_obs=strata.n_units,
        one_decides=_one_decides(sets, fits, expected, df),
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


def _one_decides(sets: SetsOfRounds, fits: np.ndarray, expected: np.ndarray, df: int) -> float:
    """The largest share of the contrasts of fits (R, q) that one learnt unit explains.

    The part of the tested units is excluded. It is 0 if the largest of all shares may be chance,
    at a level of 1%.
    """
    learnt = _within(fits - expected)
    left, total = float((learnt**2).sum()), float((_within(fits) ** 2).sum())
    if not (left > 0 and total > 0):
        return 0.0
    # As `learnt` sums to zero in a round, tests have the products of sets with the other sign.
    covariances = np.einsum("rq,rqn->n", learnt, sets.testing)
    squares = sets.squared_contrasts
    explained = np.divide(covariances**2, squares, out=np.zeros(len(squares)), where=squares > 0)
    largest = float(explained.max())
    chance = betainc(df / 2, 1 / 2, max(1 - largest / left, 0.0)) * len(squares)
    return min(largest / total, 1.0) if chance <= MOST_CHANCE else 0.0


def _regression(
    fits: np.ndarray, expected: np.ndarray, of_strata: Sequence[_Stratum], df: int
) -> tuple[float, float]:
    """The slope of fits on what the units they test have in the other rounds.

    Returns the variance that is left, too.
    """
    x, y = _within(expected), _within(fits)
    square = float((x**2).sum())
    slope = float((x * y).sum()) / square if square > 0 else 1.0
    residual = float(((y - slope * x) ** 2).sum()) / df
    # x is known from R - 1 rounds only: its error is in the residuals, and flattens the slope.
    error = sum(stratum.error for stratum in of_strata)
    residual = max(residual - slope**2 * error, LEAST_SHARE * residual)
    signal = sum(stratum.spread * stratum.variance for stratum in of_strata)
    if signal > 0:
        slope /= max(signal / (signal + error), 1 / 2)
    return slope, residual


def _welch(of_strata: Sequence[_Stratum]) -> float:
    """Degrees of freedom of the sum of the parts of testing."""
    total = sum(stratum.variance for stratum in of_strata)
    if len(of_strata) == 1 or not total > 0:
        return float(min(stratum.n for stratum in of_strata) - 1)
    return float(total**2 / sum(stratum.variance**2 / (stratum.n - 1) for stratum in of_strata))


def _within(values: np.ndarray) -> np.ndarray:
    """Values (R, q) around the mean of their round."""
    return np.asarray(values - values.mean(axis=1, keepdims=True))
