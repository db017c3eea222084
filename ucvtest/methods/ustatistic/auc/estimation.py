"""AUCs from learning sets within the classes, or of clusters: drawn, enumerated, or given."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ucvtest.evaluation.loss_source import LossSource
from ucvtest.kernels.auc_ustatistic.blocks import N_BLOCKS
from ucvtest.kernels.auc_ustatistic.few_fits import RankedRounds
from ucvtest.kernels.auc_ustatistic.ranked import NoVariance, why_no_variance
from ucvtest.kernels.auc_ustatistic.variances import AucEstimate
from ucvtest.methods.ustatistic.auc.class_sizes import FEWEST_FOR_EACH, ClassSizes
from ucvtest.methods.ustatistic.auc.cluster_sizes import MixedSizes
from ucvtest.methods.ustatistic.auc.multiclass_sizes import SeveralSizes
from ucvtest.methods.ustatistic.estimation import in_parts, whole_draws
from ucvtest.methods.ustatistic.one_by_one import OneByOne
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.precomputed_splits import GivenSplits

Sizes = ClassSizes | SeveralSizes | MixedSizes

STAGE_CELLS = 500_000
"""Scores of a learner that are in memory at a time."""

STAGE_SCORES = 25_000_000
"""The same of rows in clusters, which may be many more than there are clusters."""

FEWEST_ROWS = 600
"""Learning sets that "auto" draws at least; see `FEWEST_FOR_EACH` too."""


@dataclass(frozen=True, eq=False)
class AucEstimates:
    """The estimate for the learner, or the difference of two, and how the run went.

    `own` has the estimates for each of two learners. `why` is the reason if there is no variance.
    """

    estimate: AucEstimate
    per_learner: tuple[AucEstimate, ...]
    n_rows: int
    no_variance: NoVariance | None
    converged: bool = True

    def variance(self, name: str) -> float:
        """The variance by its name; NaN if there is none."""
        return self.estimate.values[name]

    def mc_se(self, name: str) -> float:
        """The Monte-Carlo error of a variance."""
        return self.estimate.mc_se[name]


@dataclass(frozen=True, eq=False)
class Sampler:
    """Learning sets within the classes, or of clusters, with the scores of one learner or two."""

    sizes: Sizes
    source: LossSource
    generator: np.random.Generator
    rounds: RankedRounds | None = None
    """Where rounds are kept for an answer from few fits."""
    one_by_one: OneByOne | None = None
    """Fits pairs of which each may fail."""

    @property
    def rows_of_part(self) -> int:
        """Learning sets whose scores are in memory at a time."""
        sizes = self.sizes
        of_units = STAGE_CELLS // (sizes.n_obs * sizes.n_scores)
        return max(64, min(of_units, STAGE_SCORES // (sizes.n_scored * sizes.n_scores)))

    def drawn(self, n_pairs: int) -> np.ndarray:
        """Pairs of random learning sets (2 n_pairs, n), the first sets of all pairs first."""
        return self.sizes.drawn(self.generator, n_pairs)

    def scores(self, learning: np.ndarray) -> list[np.ndarray]:
        """The scores of each learner, (R, n), or (R, n, C), undefined where it learnt."""
        seeds = self.generator.integers(2**31 - 1, size=len(learning))
        learning = self.sizes.of_rows(learning)
        return self.source.losses_for(learning, ~learning, seeds)

    def scored(
        self, learning: np.ndarray, draw: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Learning sets, their draws from 0, and the scores there, which rounds keep.

        Draws on which a learner fails are left out, if it may fail.
        """
        if self.one_by_one is not None:
            seeds = self.generator.integers(2**31 - 1, size=len(learning))
            learner_scores, is_complete = self.one_by_one.losses(learning, draw, seeds)
            return whole_draws(is_complete, learning, draw, learner_scores)
        learner_scores = self.scores(learning)
        if self.rounds is not None:
            self.rounds.add(learner_scores, learning, draw)
        return learning, draw, learner_scores


class Rankings:
    """Sums over the rankings of tested observations, by the learning sets so far."""

    def __init__(self, sampler: Sampler, *, exact: bool) -> None:
        self._sampler, self._exact = sampler, exact
        self._n_learners, self._n_draws = 2 if sampler.source.paired else 1, 0
        self.sums = sampler.sizes.sums(self._n_learners, exact=exact)

    @property
    def n_rows(self) -> int:
        """Learning sets so far."""
        return self.sums.n_rows

    @property
    def n_learners(self) -> int:
        """Learners: one or two."""
        return self._n_learners

    @property
    def n_obs(self) -> int:
        """Observations of the sample."""
        return self._sampler.sizes.n_obs

    @property
    def enough(self) -> bool:
        """Whether there are learning sets enough for variances."""
        fewest = self._sampler.sizes.rows_for_variances
        return self._exact or (self.n_rows >= fewest and self._n_draws >= N_BLOCKS)

    @property
    def fewest(self) -> int:
        """Learning sets that "auto" draws at least."""
        # Coefficients of this number of observations are not fitted and do not need rows.
        singles_only = self._sampler.sizes.singles_only
        return max(FEWEST_ROWS, 0 if singles_only else FEWEST_FOR_EACH * self.n_obs)

    def update_eta(self, n_fits: int) -> None:
        """Say how many fits are left, as far as can be seen."""
        self._sampler.source.update_eta(n_fits)

    def draw(self, n_pairs: int) -> None:
        """Draw pairs, some at a time, and fit."""
        for size in in_parts(n_pairs, self._sampler.rows_of_part // 2):
            self.add(self._sampler.drawn(size), self._sampler.sizes.draws(size))

    def add(self, learning: np.ndarray, draw: np.ndarray) -> None:
        """Fit to the learning sets (R, n); `draw` numbers those that were drawn together."""
        learning, draw, scores = self._sampler.scored(learning, draw)
        if not len(draw):
            return
        self.sums.add(scores, learning, self._n_draws + draw)
        self._n_draws += int(draw.max()) + 1

    def estimates(
        self, *, per_learner: bool
    ) -> tuple[AucEstimate, tuple[AucEstimate, ...], NoVariance | None]:
        """For the learner or the difference, `per_learner` for each of two; why no variance."""
        sums, sizes = self.sums, self._sampler.sizes
        contrasts: list[tuple[int, ...]] = [(1, -1)[: self._n_learners]]
        if per_learner and self._n_learners == 2:
            contrasts += [(1, 0), (0, 1)]
        if not self.enough:
            few_row_estimates = [
                AucEstimate.of_few_rows(sums.mean(contrast), sizes) for contrast in contrasts
            ]
            return few_row_estimates[0], tuple(few_row_estimates[1:]), None
        contrast_estimates = [sums.estimate(contrast) for contrast in contrasts]
        return (
            contrast_estimates[0],
            tuple(contrast_estimates[1:]),
            why_no_variance(sums, contrast_estimates[0]),
        )


def estimated(sampler: Sampler, options: UStatisticOptions) -> AucEstimates:
    """From random pairs, from all learning sets, or from the scores of given ones."""
    rankings = Rankings(sampler, exact=options.n_pairs == "exact")
    converged = True
    if isinstance(options.given_sets, GivenSplits):
        for rows, draw in options.given_sets.parts(sampler.rows_of_part):
            rankings.add(options.given_sets.design.learning[rows], draw)
    elif isinstance(options.n_pairs, int):
        sampler.source.announce_total(2 * options.n_pairs * rankings.n_learners)
        rankings.draw(options.n_pairs)
    elif options.n_pairs == "exact":
        for learning in sampler.sizes.every(sampler.rows_of_part):
            rankings.add(learning, np.arange(len(learning)))
    else:
        converged = until_precise(
            rankings,
            options,
            rankings.n_learners,
            lambda: excess(rankings.estimates(per_learner=False)[0], options),
        )
    estimate, learner_estimates, no_variance = rankings.estimates(per_learner=True)
    return AucEstimates(estimate, learner_estimates, rankings.n_rows, no_variance, converged)


def until_precise(
    rankings: Rankings, options: UStatisticOptions, n_learners: int, excess_now: Callable[[], float]
) -> bool:
    """Draw until the Monte-Carlo error is small, or no further fits are allowed."""
    most_pairs = options.max_fits // n_learners // 2
    n_pairs = added = max(1, min(most_pairs, rankings.fewest // 2))
    while True:
        rankings.draw(added)
        error_ratio = excess_now()
        rankings.update_eta(options.fits_left(error_ratio, 2 * n_pairs * n_learners))
        if error_ratio <= 1 or n_pairs >= most_pairs:
            return error_ratio <= 1
        # Few different numbers, as those of rows are compiled for.
        added = (
            3 * n_pairs if error_ratio**2 > 6 else n_pairs if error_ratio**2 > 1.4 else n_pairs // 2
        )
        added = min(added, most_pairs - n_pairs)
        n_pairs += added


def excess(estimate: AucEstimate, options: UStatisticOptions) -> float:
    """The larger Monte-Carlo error as a multiple of the one allowed; 0 if nothing varies."""
    variance = estimate.values[options.variance]
    if math.isnan(variance):
        # Further draws do not help, unless there were too few for any variance.
        return 0.0 if estimate.jackknife == estimate.jackknife else math.inf
    of_variance = estimate.mc_se[options.variance] / (options.tol * variance)
    return max(of_variance, estimate.mc_se_estimate / (options.tol * math.sqrt(variance)))
