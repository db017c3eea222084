"""Mean losses of several learners from the same learning sets, with their joint covariance."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ucvtest.designs.draws import draw_orders, learning_sets
from ucvtest.kernels.ustatistic.first_order import FirstOrderEstimate
from ucvtest.kernels.ustatistic.several import Differences, Several, SeveralSums
from ucvtest.methods.ustatistic.estimation import (
    RELIABLE,
    ROUNDING,
    STAGE_CELLS,
    Sampler,
    StageSizes,
    UStatisticEstimates,
    in_parts,
)
from ucvtest.methods.ustatistic.interval import Interval
from ucvtest.methods.ustatistic.options import Options
from ucvtest.methods.ustatistic.precomputed_splits import GivenPairs, GivenSplits
from ucvtest.stats.jackknife import first_order_factor
from ucvtest.stats.variance_stabilised import BoundedScale

__all__ = ["JointLossEstimates", "estimated", "evaluate_pairs"]


@dataclass(frozen=True, eq=False)
class JointLossEstimates:
    """What is estimated of all learners; `differences` have the variances of all pairs."""

    several: Several
    differences: Differences
    n_pairs: int
    converged: bool
    df: float

    @property
    def known(self) -> bool:
        """Whether variances of most differences that vary are known to a quarter of themselves."""
        upper = np.triu_indices(len(self.differences.variance), 1)
        variance, error, _ = (part[upper] for part in self.differences)
        varies = (variance > 0) | (error > 0)
        rough = error[varies] > RELIABLE * variance[varies]
        return not varies.any() or bool(rough.mean() <= 1 / 2)

    @property
    def covariance(self) -> np.ndarray:
        """Of the mean losses, (L, L)."""
        return self.several.covariance

    def of(self, places: tuple[int, ...], options: Options) -> UStatisticEstimates:
        """The estimates of one learner, or of the difference of two."""
        first, *others = places
        if not others:
            estimates = self.several.alone[first]
            return UStatisticEstimates(estimates, options.variance, self.n_pairs, self.converged)
        estimates, one = self.several.difference(first, others[0]), self.several.each[0]
        own = tuple(self._own(place) for place in places)
        found = UStatisticEstimates(estimates, options.variance, self.n_pairs, self.converged, own)
        factor = first_order_factor(one.n_obs, one.learn_size + 1)
        return _with_floor(found, factor * float(estimates.effects @ estimates.effects))

    def _own(self, place: int) -> FirstOrderEstimate:
        found = self.several.alone[place]
        return FirstOrderEstimate(
            found.values["estimate"],
            found.values["jackknife"],
            found.mc_se["estimate"],
            found.mc_se["jackknife"],
        )

    def standard_errors(self) -> np.ndarray:
        """Of all differences, (L, L), with their Monte-Carlo part."""
        variance, of_variance, of_mean = self.differences
        least = np.maximum(of_variance / RELIABLE, np.where(self._unknown, self._squares, 0.0))
        variance = np.maximum(variance, least)
        found = np.sqrt(np.where(variance > 0, variance + of_mean**2, math.nan))
        np.fill_diagonal(found, math.nan)
        return found

    def statistics(self, interval: Interval) -> np.ndarray | None:
        """All differences (L, L) as intervals have them; None where these are symmetric."""
        if interval.name != "stabilised":
            return None
        slopes, errors = self.several.slopes()
        means, se = self.several.means, self.standard_errors()
        scale = BoundedScale.of(np.where(self._unknown, 0.0, slopes), errors, se)
        statistics: np.ndarray = scale.z((means[:, None] - means) / se)
        return statistics

    @property
    def _unknown(self) -> np.ndarray:
        """Differences in too few draws for a variance: see `_with_floor`."""
        return ~(self.differences.variance > 0)

    @property
    def _squares(self) -> np.ndarray:
        """Their jackknife variances with all Monte-Carlo noise, (L, L)."""
        own = np.diag(self.covariance)
        sums = own[:, None] + own
        found = sums - 2 * self.covariance
        return np.where(found > ROUNDING * sums, found, 0.0)


def _with_floor(found: UStatisticEstimates, squares: float) -> UStatisticEstimates:
    """With a variance that is at least so large that its Monte-Carlo error is a part of it.

    Among several learners some are nearly the same: no number of draws makes the variance of their
    difference precise, and without an answer nothing would be said of all together. Where learners
    differed in too few draws for any product of two groups of them, variance and error are both 0:
    then `squares` stand for it, the jackknife with all its Monte-Carlo noise.
    """
    estimates, name = found.estimates, found.variance
    value, least = estimates.values[name], estimates.mc_se[name] / RELIABLE
    unknown = not value > 0
    if unknown:
        least = max(least, squares)
    if not value < least:
        return found
    values = {**estimates.values, name: least}
    if unknown and "slope" in values:
        # What the standard error depends on is unknown as well.
        values["slope"] = 0.0
    return replace(found, estimates=replace(estimates, values=values), floored=True)


def estimated(
    sampler: Sampler, options: Options, n_learners: int, pair_effects: bool
) -> JointLossEstimates:
    """From as many pairs of learning sets as are asked for, needed or given."""
    sizes = sampler.sizes
    sums = SeveralSums(sizes.n_obs, sizes.learn_size, n_learners, pair_effects=pair_effects)
    n_pairs, converged = _add_pairs(sampler, options, sums, n_learners)
    several = sums.now()
    differences = several.differences(options.variance)
    return JointLossEstimates(several, differences, n_pairs, converged, sizes.n_obs - 1.0)


def evaluate_pairs(sampler: Sampler, options: Options, n_learners: int) -> None:
    """Evaluate given pairs, or random ones, for the rounds that the sampler keeps."""
    sizes = sampler.sizes
    sums = SeveralSums(sizes.n_obs, sizes.learn_size, n_learners, pair_effects=False)
    _add_pairs(
        sampler, replace(options, n_pairs=options.n_pairs_of_few(n_learners)), sums, n_learners
    )


def _add_pairs(
    sampler: Sampler, options: Options, sums: SeveralSums, n_learners: int
) -> tuple[int, bool]:
    """Add as many pairs as are asked for, needed or given; their number, and if they suffice."""
    given, number = options.given, options.n_pairs
    if isinstance(given, GivenPairs):
        for learning in _in_rows(given.design.learning, 2 * given.n_sets, n_learners):
            shape = (-1, 2, given.n_sets, learning.shape[1])
            each = [
                one.reshape(shape)
                for one in sampler.losses(learning, np.arange(len(learning)) // 2)
            ]
            sets = learning.reshape(shape)
            sums.add([(one[:, 0], one[:, 1]) for one in each], (sets[:, 0], sets[:, 1]))
        return given.n_pairs, True
    if isinstance(given, GivenSplits):
        for rows, draw in given.parts(max(2, STAGE_CELLS // (sampler.sizes.n_obs * n_learners))):
            sets = given.design.learning[rows][:, None]
            each = [one[:, None] for one in sampler.losses(sets[:, 0], draw)]
            half = np.full((len(draw), 1), 0.5)
            sums.add([(one, one) for one in each], (sets, sets), weight=half, cluster=draw)
        return given.n_pairs, True
    if isinstance(number, int):
        _draw(sampler, number, sums, n_learners)
        return number, True
    steps, n_pairs = StageSizes(sampler.sizes, options, n_learners, exchanging=False), 0
    size = steps.first
    while True:
        _draw(sampler, size, sums, n_learners)
        n_pairs += size
        converged = _precise(sums.now(), options)
        size = steps.following(n_pairs, sampler.source.n_fits)
        left = sampler.source.n_left
        if (converged if left is None else not left) or size < steps.fewest:
            return n_pairs, converged


def _draw(sampler: Sampler, n_pairs: int, sums: SeveralSums, n_learners: int) -> None:
    """Add random pairs of learning sets, disjoint where they can be."""
    n, g, overlap = sampler.sizes.n_obs, sampler.sizes.learn_size, sampler.sizes.least_overlap
    for size in in_parts(n_pairs, max(64, STAGE_CELLS // (2 * n * n_learners))):
        orders = draw_orders(sampler.generator, size, n)
        sides = learning_sets(orders, 0, g), learning_sets(orders, g - overlap, g)
        # Both sides of a pair have its number.
        both, _, each = sampler.whole(np.concatenate(sides), np.tile(np.arange(size), 2))
        first, second = np.split(both, 2)
        halves = (np.split(one, 2) for one in each)
        sums.add(
            [(one[:, None], other[:, None]) for one, other in halves],
            (first[:, None], second[:, None]),
        )


def _in_rows(learning: np.ndarray, of_draw: int, n_learners: int) -> Iterator[np.ndarray]:
    """Rows of a design, whole draws, some at a time."""
    rows = of_draw * max(2, STAGE_CELLS // (of_draw * learning.shape[1] * n_learners))
    for start in range(0, len(learning), rows):
        yield learning[start : start + rows]


def _precise(several: Several, options: Options) -> bool:
    """Whether variances and estimates of differences are as precise as "auto" requires.

    They are so on average, and each of them enough for an answer.
    """
    found = several.differences(options.variance)
    upper = np.triu_indices(len(found.variance), 1)
    variance, of_variance, of_mean = (part[upper] for part in found)
    varies = variance > np.max(np.abs(np.diag(found.variance))) * 1e-12
    if not varies.any():
        return True
    share = of_variance[varies] / variance[varies]
    other = of_mean[varies] / np.sqrt(variance[varies])
    excess = np.maximum(share, other)
    return bool(excess.mean() <= options.tol and excess.max() <= RELIABLE)
