"""AUCs of several learners from the same learning sets, with their joint covariance."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ucvtest.common.words import arg
from ucvtest.evaluation.loss_source import SeveralLosses
from ucvtest.kernels.auc_ustatistic.ranked import NoVariance
from ucvtest.kernels.auc_ustatistic.two_classes import TwoClasses
from ucvtest.kernels.auc_ustatistic.variances import ROWS_FOR_EACH, AucEstimate
from ucvtest.methods.ustatistic.auc.estimation import (
    AucEstimates,
    Rankings,
    Sampler,
    excess,
    until_precise,
)
from ucvtest.methods.ustatistic.interval import Interval
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.precomputed_splits import GivenSplits

Places = tuple[int, ...]
"""Positions of one learner, or of two that are compared."""


@dataclass(frozen=True, eq=False)
class JointAucEstimates:
    """The estimates of all learners; `estimates` are for each, and for all pairs."""

    estimates: Mapping[Places, AucEstimate]
    n_learners: int
    n_rows: int
    converged: bool
    covariance: np.ndarray
    variance: str

    @property
    def df(self) -> float:
        """The smallest number of degrees of freedom of a difference."""
        finite_df = [
            auc_estimate.df
            for auc_estimate in self.estimates.values()
            if not math.isnan(auc_estimate.df)
        ]
        return min(finite_df, default=math.nan)

    @property
    def known(self) -> bool:
        """Whether the variance of each difference that varies is known to half of itself."""
        return not any(
            auc_estimate.is_rough(self.variance)
            and not math.isnan(auc_estimate.values["jackknife"])
            for places, auc_estimate in self.estimates.items()
            if len(places) == 2
        )

    def of(self, places: Places, options: UStatisticOptions) -> AucEstimates:
        """The estimates of one learner, or of the difference of two."""
        ordered = tuple(sorted(places))
        estimate = self.estimates[ordered]
        if ordered != places:
            estimate = estimate.reversed()
        learner_aucs = tuple(self.estimates[k,] for k in places) if len(places) == 2 else ()
        no_variance = None
        if math.isnan(estimate.values["jackknife"]) and not math.isnan(estimate.jackknife):
            no_variance = NoVariance.NOTHING_VARIES
        return AucEstimates(estimate, learner_aucs, self.n_rows, no_variance, self.converged)

    def standard_errors(self) -> np.ndarray:
        """Standard errors of all differences, (L, L), with their Monte-Carlo part."""
        errors = np.full((self.n_learners, self.n_learners), math.nan)
        for (i, j), estimate in (
            (key, auc_estimate) for key, auc_estimate in self.estimates.items() if len(key) == 2
        ):
            variance = estimate.values[self.variance]
            if not estimate.is_rough(self.variance):
                errors[i, j] = errors[j, i] = math.sqrt(variance + estimate.mc_se_estimate**2)
        return errors

    def statistics(self, interval: Interval) -> np.ndarray | None:
        """None: intervals are symmetric."""
        return None


def estimated(sampler: Sampler, options: UStatisticOptions) -> JointAucEstimates:
    """From as many learning sets as are asked for, needed or given."""
    sizes, source = sampler.sizes, sampler.source
    assert isinstance(source, SeveralLosses)
    rankings = Rankings(sampler, exact=False)
    converged = True
    if isinstance(options.given_sets, GivenSplits):
        for rows, draw in options.given_sets.parts(sampler.rows_of_part):
            rankings.add(options.given_sets.design.learning[rows], draw)
    elif isinstance(options.n_pairs, int):
        rankings.draw(options.n_pairs)
    else:
        converged = until_precise(
            rankings,
            options,
            source.n_learners,
            lambda: _mean_excess(rankings, options, source.n_learners),
        )
    if not rankings.enough:
        raise ValueError(
            f"{arg('correction', 'simultaneous')} needs {ROWS_FOR_EACH * sizes.n_obs} learning "
            f"sets, but there are {rankings.n_rows}: raise {arg('n_pairs')} (or {arg('max_fits')})"
        )
    sums = rankings.sums
    assert isinstance(sums, TwoClasses)
    estimates = {
        places: sums.estimate(_weights(places, source.n_learners))
        for places in _all_places(source.n_learners)
    }
    return JointAucEstimates(
        estimates,
        source.n_learners,
        rankings.n_rows,
        converged,
        sums.covariance,
        options.variance,
    )


def _all_places(n_learners: int) -> list[Places]:
    places = range(n_learners)
    return [*((k,) for k in places), *combinations(places, 2)]


def _weights(places: Places, n_learners: int) -> tuple[int, ...]:
    signs = dict(zip(places, (1, -1), strict=False))
    return tuple(signs.get(learner_index, 0) for learner_index in range(n_learners))


def _mean_excess(rankings: Rankings, options: UStatisticOptions, n_learners: int) -> float:
    """The Monte-Carlo error as a multiple of the one allowed, on average over all differences."""
    if not rankings.enough:
        return math.inf
    estimates = [
        rankings.sums.estimate(_weights(pair, n_learners))
        for pair in combinations(range(n_learners), 2)
    ]
    return float(np.mean([excess(auc_estimate, options) for auc_estimate in estimates]))
