"""The additive control variate A: fitted by least squares, and rounded where that is exact."""

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Self

import numpy as np

from ucvtest.common.float64 import check_platform, in_float64, jax, jit_sums, jnp
from ucvtest.common.padding import next_power_of_two, padded
from ucvtest.kernels.ustatistic.monte_carlo_groups import Dealt, one_half
from ucvtest.kernels.ustatistic.padding import without_padding
from ucvtest.stats.conjugate_gradients import conjugate_gradients

SETS_PER_SUM = 64
"""Learning sets that a matrix product adds up; products are added up in double precision."""

SINGLE = 2.0**24
"""Whole numbers up to here are exact in single precision."""

MOST_OBS_GRAM = 2000
"""Number of observations up to which the fit counts how often each pair was learnt from together.
With more, it uses expected counts of random sets, because n x n counts would need gigabytes."""

SETS_FOR_FIT = 64
"""Learning sets for each observation after which the additive fit stays as it is."""

MOST_ROUNDING = 0.2
"""Standard deviation that rounding A may add to the number of errors of one rule."""

Fits = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Additive fits of K groups: centre (K,), learning effects (K, n) and test effects (K, n). In
single precision if every sum of residuals is exact in it."""

Additive = tuple[jax.Array, jax.Array, jax.Array]
"""One row of `Fits`, or all of them."""


LEAST_ROWS = 64
"""Learning sets in one jitted call, at least, and twice, four times, ... as many: few shapes."""


@in_float64
@partial(jit_sums, static_argnames="gram")
def _sums_over_sets(
    differences: jax.Array, learning: jax.Array, weight: jax.Array, gram: bool
) -> dict[str, jax.Array]:
    """Sums over learning sets (R, n) that the least-squares fit of an additive A needs.

    And how often the sets contain observations, or pairs of them, or test them.
    """
    values, learnt = jnp.where(learning, 0.0, differences), learning.astype(weight.dtype)
    mean_loss = weight * values.sum(-1) / (~learning).sum(-1)
    sums = {
        "mean_loss": mean_loss.sum(),
        "learning_loss": mean_loss @ learnt,
        "test_loss": weight @ values,
    }
    if gram:
        # Zeros and ones, which single precision counts exactly.
        learning32 = learning.astype(jnp.float32)
        sums["gram"] = (learning32 * weight[:, None].astype(learning32.dtype)).T @ learning32
    count, learnt_by_observation = weight.sum(), weight @ learnt
    tested = count - learnt_by_observation
    return sums | {"count": count, "learning": learnt_by_observation, "tested": tested}


def _loss_sums(
    differences: np.ndarray, learning: np.ndarray, weight: np.ndarray, n_tested: int
) -> dict[str, np.ndarray]:
    """The same sums of losses, of sets (R, n) that are counted already, and test `n_tested`."""
    # Takes a fifth of the time of np.where.
    values = differences * ~learning
    mean_loss = weight * values.sum(axis=1) / n_tested
    # Without BLAS, whose threads would go on spinning for a while.
    return {
        "mean_loss": mean_loss.sum(),
        "learning_loss": np.einsum("r,rn->n", mean_loss, learning),
        "test_loss": np.einsum("r,rn->n", weight, values),
    }


LOSS_SUMS = ("mean_loss", "learning_loss", "test_loss")
"""The sums that differ from loss to loss."""

BY_OBSERVATION = {"gram": 2, "learning": 1, "learning_loss": 1, "test_loss": 1, "tested": 1}
"""Axes of observations that the sums have."""


@dataclass(frozen=True, eq=False)
class CountedSets:
    """How many learning sets there are, how often they contain, and test, each observation.

    `gram` (n, n) is how often they contain each pair, where it is counted.
    """

    count: float
    learning: np.ndarray
    tested: np.ndarray
    gram: np.ndarray | None

    def plus(self, other: Self) -> Self:
        """The counts of all sets of both."""
        gram = None if self.gram is None or other.gram is None else self.gram + other.gram
        return type(self)(
            self.count + other.count,
            self.learning + other.learning,
            self.tested + other.tested,
            gram,
        )

    @property
    def inclusion_rate(self) -> np.ndarray:
        """The share of the sets that contain each observation, (n,)."""
        return self.learning / max(self.count, 1.0)

    @cached_property
    def ridge(self) -> np.ndarray:
        """The covariances (n, n) of the indicators of who is learnt from, with a penalty.

        The penalty is worth n sets, and keeps the fit to few draws from adding noise.
        """
        assert self.gram is not None
        rate, count = self.inclusion_rate, max(self.count, 1.0)
        # In place: with many observations each (n, n) matrix counts.
        covariances: np.ndarray = np.outer(rate, rate)
        covariances *= count
        np.subtract(self.gram, covariances, out=covariances)
        diagonal = np.diag_indices_from(covariances)
        covariances[diagonal] += covariances[diagonal].sum() / count + 1e-9
        return covariances

    def coefficients(self, response: np.ndarray) -> np.ndarray:
        """Coefficients (n,) of the indicators.

        Any coefficients leave the estimators unbiased; good ones make the residual small.
        """
        if self.gram is None:
            # Indicators of different observations are hardly correlated.
            rate, count = self.inclusion_rate, max(self.count, 1.0)
            varied = count * rate * (1 - rate)
            uncorrelated: np.ndarray = response / (varied + varied.sum() / count + 1e-9)
            return uncorrelated
        return conjugate_gradients(self.ridge, response, 1e-8)


@dataclass
class AdditiveFit:
    """Running sums for the additive approximation A."""

    n_obs: int
    learn_size: int
    sets: CountedSets | None = None
    sums: dict[str, np.ndarray] = field(default_factory=dict)

    def add(self, dealt: Dealt, groups: slice = slice(None)) -> None:
        """Add the learning sets of some groups, on both sides of their draws."""
        key = groups.start, groups.stop
        counted: CountedSets | None = dealt.sets.counted.get(key)
        counts: dict[str, np.ndarray] = {}
        for d1, d2, l1, l2, weight in dealt.calls(groups):
            for differences, learning in ((d1, l1), (d2, l2)):
                sums = self._summed(weight, differences, learning, counting=counted is None)
                for name, value in sums.items():
                    if name in LOSS_SUMS:
                        self.sums[name] = self.sums.get(name, 0.0) + value
                    else:
                        # Further sums of counts would not stay exact in single precision.
                        counts[name] = counts.get(name, 0.0) + value.astype(float)
        if counted is None:
            n_sets, gram = float(counts["count"]), counts.get("gram")
            counted = CountedSets(n_sets, counts["learning"], counts["tested"], gram)
            # Losses of other kinds share the sets.
            dealt.sets.counted[key] = counted
        self.sets = counted if self.sets is None else self.sets.plus(counted)

    def _summed(
        self, weight: np.ndarray, differences: np.ndarray, learning: np.ndarray, *, counting: bool
    ) -> dict[str, np.ndarray]:
        if counting:
            rows, gram = _rows_of(weight, differences, learning), self.n_obs <= MOST_OBS_GRAM
            sums = _sums_over_sets(*rows, gram=gram)
        else:
            size = learning.shape[-1]
            sums = _loss_sums(
                *(differences.reshape(-1, size), learning.reshape(-1, size)),
                *(weight.ravel(), self.n_obs - self.learn_size),
            )
        return without_padding(sums, self.n_obs, BY_OBSERVATION)

    @property
    def n_sets(self) -> float:
        """Learning sets so far."""
        return 0.0 if self.sets is None else self.sets.count

    def solve(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Centre c, learning effects a and test effects d; zeros before any draws."""
        n, g, sets = self.n_obs, self.learn_size, self.sets
        if sets is None:
            return 0.0, np.zeros(n), np.zeros(n)
        mean_loss = float(self.sums["mean_loss"])
        centre = mean_loss / max(sets.count, 1.0)
        on_mean = sets.coefficients(self.sums["learning_loss"] - sets.inclusion_rate * mean_loss)
        on_mean -= on_mean.mean()
        tested = sets.tested / (sets.tested + 4.0)
        marginal = tested * (self.sums["test_loss"] / np.maximum(sets.tested, 1.0) - centre)
        marginal -= marginal.mean()
        # The mean of A over the observations outside L is c + sum_L (a - d/(n - g)), and the
        # mean of A_L(t) over the sets L without t is c + d_t - g a_t/(n - 1): solved for a, d.
        test = (marginal + g * on_mean / (n - 1)) / (1 - g / ((n - 1) * (n - g)))
        return centre, on_mean + test / (n - g), test


def _rows_of(weight: np.ndarray, *arrays: np.ndarray) -> list[np.ndarray]:
    """Arrays of learning sets (K, M, s, n) as rows, and their weights (K, M, s), padded."""
    n_rows = max(LEAST_ROWS, next_power_of_two(weight.size))
    rows = [padded(array.reshape(weight.size, -1), n_rows, 0) for array in arrays]
    return [*rows, padded(weight.ravel(), n_rows, 0)]


class CrossedFits:
    """Two halves of the groups of draws, each with the additive fit of the other one.

    The fits use all draws so far, until there are enough of them; then they stay as they are.
    """

    def __init__(self, n_obs: int, learn_size: int, n_groups: int) -> None:
        check_platform()  # Before the fits whose losses are summed.
        self._n_obs, self._learn_size = n_obs, learn_size
        n_in_half = one_half(n_groups)
        self.halves = (slice(0, n_in_half), slice(n_in_half, n_groups))
        self._crossed = n_in_half < n_groups
        self._fits = (AdditiveFit(n_obs, learn_size), AdditiveFit(n_obs, learn_size))
        self._settled: Fits | None = None

    def updated(self, dealt: Dealt, *, unit: float | None) -> Fits:
        """The fits of all groups, for these draws too.

        `unit` is what an error counts, if all differences count errors, and None otherwise.
        """
        if self._settled is not None:
            return self._settled
        if self._crossed:
            for fit, groups in zip(self._fits, self.halves, strict=True):
                fit.add(dealt, groups)
        additive = self._solved(unit)
        if min(fit.n_sets for fit in self._fits) >= SETS_FOR_FIT * self._n_obs:
            self._settled = additive
        return additive

    def _solved(self, unit: float | None) -> Fits:
        g = self._learn_size
        solved = [fit.solve() for fit in reversed(self._fits)]
        centre, a, d = (np.array(fit_part) for fit_part in zip(*solved, strict=True))
        fits = (centre, a, d)
        if unit == 1:
            fits = rounded_losses(fits, g)
        elif unit is not None:
            # The cost of errors does not change the answer: the same fits, times a factor.
            errors = rounded_losses((centre / unit, a / unit, d / unit), g)
            centre, a, d = in_double(errors)
            fits = (unit * centre, unit * a, unit * d)
        sizes = [groups.stop - groups.start for groups in self.halves]
        centre, a, d = (np.repeat(fit_part, sizes, axis=0) for fit_part in fits)
        return centre, a, d


def rounded_losses(additive: Fits, g: int) -> Fits:
    """Additive fits of D that are -1, 0 or 1, as multiples of a power of two, in single precision.

    No sum of residuals D - A over the tested observations rounds then, and no sum of
    `SETS_PER_SUM` such sums. The fits as they are, where they would lose more than `MOST_ROUNDING`.
    """
    centre, a, d = additive
    n = a.shape[1]
    coarsest = MOST_ROUNDING / (n - g) / math.sqrt(g * (1 - g / n) / 12)
    ordered = np.sort(a, axis=1)
    learnt = np.maximum(-ordered[:, :g].sum(axis=1), ordered[:, -g:].sum(axis=1))
    # Each of the g + 2 numbers that A adds up moves by less than a unit.
    largest = 1 + (np.abs(centre) + learnt + np.abs(d).max(axis=1)).max() + (g + 2) * coarsest
    unit = 2.0 ** math.ceil(math.log2(SETS_PER_SUM * (n - g) * largest / SINGLE))
    if unit > coarsest:
        return additive
    rounded_fit = np.round(centre / unit), _whole_losses(a / unit), _whole_losses(d / unit)
    centre, a, d = ((unit * fit_part).astype(np.float32) for fit_part in rounded_fit)
    return centre, a, d


def _whole_losses(values: np.ndarray) -> np.ndarray:
    """Whole numbers less than one away from values (K, n) whose rows sum to zero, as theirs do."""
    below = np.floor(values)
    n_up = np.round(-below.sum(axis=1, keepdims=True))
    rank = np.argsort(np.argsort(below - values, axis=1, kind="stable"), axis=1)
    return below + (rank < n_up)


def in_double(additive: Fits) -> Fits:
    """The fits in double precision."""
    centre, a, d = (fit_part.astype(float) for fit_part in additive)
    return centre, a, d
