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
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.precomputed_splits import GivenPairs, GivenSplits
from ucvtest.stats.jackknife import first_order_factor
from ucvtest.stats.pivots import BoundedScale


@dataclass(frozen=True, eq=False)
class JointLossEstimates:
    """The estimates of all learners; `differences` have the variances of all pairs."""

    several: Several
    differences: Differences
    n_pairs: int
    converged: bool
    df: float

    @property
    def known(self) -> bool:
        """Whether most variances have a Monte-Carlo error below a quarter of them."""
        upper = np.triu_indices(len(self.differences.variance), 1)
        variance, error, _ = (difference_values[upper] for difference_values in self.differences)
        varies = (variance > 0) | (error > 0)
        rough = error[varies] > RELIABLE * variance[varies]
        return not varies.any() or bool(rough.mean() <= 1 / 2)

    @property
    def covariance(self) -> np.ndarray:
        """Of the mean losses, (L, L)."""
        return self.several.covariance

    def of(self, places: tuple[int, ...], options: UStatisticOptions) -> UStatisticEstimates:
        """The estimates of one learner, or of the difference of two."""
        first, *other_learner = places
        if not other_learner:
            estimates = self.several.single_learners[first]
            return UStatisticEstimates(estimates, options.variance, self.n_pairs, self.converged)
        estimates, learner_sums = (
            self.several.difference(first, other_learner[0]),
            self.several.learner_sums[0],
        )
        learner_means = tuple(self._learner_mean(learner_index) for learner_index in places)
        loss_estimates = UStatisticEstimates(
            estimates, options.variance, self.n_pairs, self.converged, lambda: learner_means
        )
        factor = first_order_factor(learner_sums.n_obs, learner_sums.learn_size + 1)
        return _with_floor(loss_estimates, factor * float(estimates.effects @ estimates.effects))

    def _learner_mean(self, learner_index: int) -> FirstOrderEstimate:
        learner_estimates = self.several.single_learners[learner_index]
        return FirstOrderEstimate(
            learner_estimates.values["estimate"],
            learner_estimates.values["jackknife"],
            learner_estimates.mc_se["estimate"],
            learner_estimates.mc_se["jackknife"],
        )

    def standard_errors(self) -> np.ndarray:
        """Of all differences, (L, L), with their Monte-Carlo part."""
        variance, of_variance, of_mean = self.differences
        least_variance = np.maximum(
            of_variance / RELIABLE, np.where(self._unknown, self._squares, 0.0)
        )
        variance = np.maximum(variance, least_variance)
        errors = np.sqrt(np.where(variance > 0, variance + of_mean**2, math.nan))
        np.fill_diagonal(errors, math.nan)
        return errors

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
        learner_variances = np.diag(self.covariance)
        sums = learner_variances[:, None] + learner_variances
        squared_differences = sums - 2 * self.covariance
        return np.where(squared_differences > ROUNDING * sums, squared_differences, 0.0)


def _with_floor(loss_estimates: UStatisticEstimates, squares: float) -> UStatisticEstimates:
    """With a variance that is at least so large that its Monte-Carlo error is a part of it.

    Among several learners some are nearly the same: no number of draws makes the variance of their
    difference precise, and without an answer nothing would be said of all together. Where learners
    differed in too few draws for any product of two groups of them, variance and error are both 0:
    then `squares` stand for it, the jackknife with all its Monte-Carlo noise.
    """
    estimates, name = loss_estimates.estimates, loss_estimates.variance
    value, variance_floor = estimates.values[name], estimates.mc_se[name] / RELIABLE
    unknown = not value > 0
    if unknown:
        variance_floor = max(variance_floor, squares)
    if not value < variance_floor:
        return loss_estimates
    values = {**estimates.values, name: variance_floor}
    if unknown and "slope" in values:
        # What the standard error depends on is unknown as well.
        values["slope"] = 0.0
    return replace(loss_estimates, estimates=replace(estimates, values=values), floored=True)


def estimated(
    sampler: Sampler, options: UStatisticOptions, n_learners: int, pair_effects: bool
) -> JointLossEstimates:
    """The estimates from the requested, necessary or given pairs of learning sets."""
    sizes = sampler.sizes
    sums = SeveralSums(sizes.n_obs, sizes.learn_size, n_learners, pair_effects=pair_effects)
    n_pairs, converged = _add_pairs(sampler, options, sums, n_learners)
    several = sums.now()
    differences = several.differences(options.variance)
    return JointLossEstimates(several, differences, n_pairs, converged, sizes.n_obs - 1.0)


def evaluate_pairs(sampler: Sampler, options: UStatisticOptions, n_learners: int) -> None:
    """Evaluate given pairs, or random ones, for the rounds that the sampler keeps."""
    sizes = sampler.sizes
    sums = SeveralSums(sizes.n_obs, sizes.learn_size, n_learners, pair_effects=False)
    _add_pairs(
        sampler, replace(options, n_pairs=options.n_pairs_of_few(n_learners)), sums, n_learners
    )


def _add_pairs(
    sampler: Sampler, options: UStatisticOptions, sums: SeveralSums, n_learners: int
) -> tuple[int, bool]:
    """Add the requested, necessary or given pairs; return their number, and if they suffice."""
    given_sets, number = options.given_sets, options.n_pairs
    if isinstance(given_sets, GivenPairs):
        for learning in _in_rows(given_sets.design.learning, 2 * given_sets.n_sets, n_learners):
            shape = (-1, 2, given_sets.n_sets, learning.shape[1])
            losses_of_learners = [
                learner_losses.reshape(shape)
                for learner_losses in sampler.losses(learning, np.arange(len(learning)) // 2)
            ]
            sets = learning.reshape(shape)
            sums.add(
                [
                    (learner_losses[:, 0], learner_losses[:, 1])
                    for learner_losses in losses_of_learners
                ],
                (sets[:, 0], sets[:, 1]),
            )
        return given_sets.n_pairs, True
    if isinstance(given_sets, GivenSplits):
        for rows, draw in given_sets.parts(
            max(2, STAGE_CELLS // (sampler.sizes.n_obs * n_learners))
        ):
            sets = given_sets.design.learning[rows][:, None]
            losses_of_learners = [
                learner_losses[:, None] for learner_losses in sampler.losses(sets[:, 0], draw)
            ]
            half_weights = np.full((len(draw), 1), 0.5)
            sums.add(
                [(learner_losses, learner_losses) for learner_losses in losses_of_learners],
                (sets, sets),
                weight=half_weights,
                cluster=draw,
            )
        return given_sets.n_pairs, True
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
        n_left = sampler.source.n_left
        if (converged if n_left is None else not n_left) or size < steps.fewest:
            return n_pairs, converged


def _draw(sampler: Sampler, n_pairs: int, sums: SeveralSums, n_learners: int) -> None:
    """Add random pairs of learning sets, disjoint where they can be."""
    n, g, overlap = sampler.sizes.n_obs, sampler.sizes.learn_size, sampler.sizes.least_overlap
    for size in in_parts(n_pairs, max(64, STAGE_CELLS // (2 * n * n_learners))):
        orders = draw_orders(sampler.generator, size, n)
        set_pair = learning_sets(orders, 0, g), learning_sets(orders, g - overlap, g)
        # Both sets of a pair have its number.
        both_sets, _, losses_of_learners = sampler.whole(
            np.concatenate(set_pair), np.tile(np.arange(size), 2)
        )
        first, second = np.split(both_sets, 2)
        halves = (np.split(learner_losses, 2) for learner_losses in losses_of_learners)
        sums.add(
            [
                (learner_losses[:, None], other_losses[:, None])
                for learner_losses, other_losses in halves
            ],
            (first[:, None], second[:, None]),
        )


def _in_rows(learning: np.ndarray, of_draw: int, n_learners: int) -> Iterator[np.ndarray]:
    """Rows of a design, whole draws, some at a time."""
    rows = of_draw * max(2, STAGE_CELLS // (of_draw * learning.shape[1] * n_learners))
    for first_row in range(0, len(learning), rows):
        yield learning[first_row : first_row + rows]


def _precise(several: Several, options: UStatisticOptions) -> bool:
    """Whether variances and estimates of differences are as precise as "auto" requires.

    They are so on average, and each of them enough for an answer.
    """
    differences = several.differences(options.variance)
    upper = np.triu_indices(len(differences.variance), 1)
    variance, of_variance, of_mean = (difference_values[upper] for difference_values in differences)
    varies = variance > np.max(np.abs(np.diag(differences.variance))) * 1e-12
    if not varies.any():
        return True
    relative_errors = of_variance[varies] / variance[varies]
    other = of_mean[varies] / np.sqrt(variance[varies])
    excess = np.maximum(relative_errors, other)
    return bool(excess.mean() <= options.tol and excess.max() <= RELIABLE)
