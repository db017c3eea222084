"""Mean losses, or AUCs, of several learners from few fits of each, and their joint distribution.

Each difference has its own variance and degrees of freedom. A normal copula joins the differences:
their p-values are those of correlated normal errors. The correlation is that of the observations'
effects, which n observations show for any number of fits. The parts due to learning and drawing are
estimated from few fits. Their correlations between learners would be overestimated, so these parts
are treated as independent between learners.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Self, cast

import numpy as np

from ucvtest.kernels.auc_ustatistic.few_fits import PlacedRounds, RankedRounds
from ucvtest.kernels.auc_ustatistic.ranked import NoVariance
from ucvtest.methods.ustatistic.auc.few import FewFitsOfAuc
from ucvtest.methods.ustatistic.estimation import ROUNDING
from ucvtest.methods.ustatistic.few import FewFitsEstimates
from ucvtest.methods.ustatistic.interval import Interval
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.stats.few_fits import FewFits, RoundSums
from ucvtest.stats.simultaneous import as_normal

Places = tuple[int, ...]
"""Of one learner, or of two that are compared."""

JOINED = (
    "Several learners from few fits: each difference has its own degrees of freedom. A normal "
    "copula with the correlation of the observations' effects joins them; the parts due to "
    "learning and drawing are treated as independent between learners."
)

COPULA_OF_AUCS = (
    f"{JOINED} The simultaneous coverage of such intervals has not been studied for AUCs."
)

COPULA = (
    f"{JOINED} With 20 fits of each of six learners, all 95% intervals contained their true values "
    "in 94% of 1200 simulated data sets, and in 92% in the worst setting."
)


@dataclass(frozen=True, eq=False)
class JointFewEstimates:
    """The estimates from few fits of all learners, and of all their differences.

    `effects` (L, n) are those of the observations of the sample, or of each of its classes.
    """

    alone: tuple[FewFits, ...]
    differences: Mapping[Places, FewFits]
    effects: tuple[np.ndarray, ...]

    @classmethod
    def of_losses(cls, rounds: RoundSums) -> Self:
        """Of mean losses."""
        weights = np.eye(rounds.n_learners)
        learner_fits = tuple(
            rounds.combined(learner_weights.tolist()).estimate() for learner_weights in weights
        )

        def difference(first: int, other: int) -> FewFits:
            return rounds.combined((weights[first] - weights[other]).tolist()).estimate()

        return cls(
            learner_fits, _in_both_orders(len(learner_fits), difference), (rounds.effects(),)
        )

    @property
    def df(self) -> float:
        """Infinite: errors are joined as normal ones, whatever the df of each difference."""
        return math.inf

    @cached_property
    def covariance(self) -> np.ndarray:
        """The covariance of the estimates, (L, L), by effects of observations and own parts."""
        joint_covariance = np.diag(
            [learner_fits.se**2 - learner_fits.test_part for learner_fits in self.alone]
        )
        for effects in self.effects:
            centred_effects = effects - effects.mean(axis=1, keepdims=True)
            n = centred_effects.shape[1]
            joint_covariance = joint_covariance + np.einsum(
                "in,jn->ij", centred_effects, centred_effects
            ) / (n * (n - 1))
        return joint_covariance

    def of(self, places: Places, options: UStatisticOptions) -> Any:
        """The estimates of one learner, or of the difference of two."""
        if len(places) == 1:
            return FewFitsEstimates(self.alone[places[0]])
        return FewFitsEstimates(self.differences[places], tuple(self.alone[k] for k in places))

    def standard_errors(self) -> np.ndarray:
        """Of all differences, (L, L), with their Monte-Carlo part."""
        n_learners = len(self.alone)
        errors = np.full((n_learners, n_learners), math.nan)
        for places, difference_fits in self.differences.items():
            if difference_fits.spread > (ROUNDING * difference_fits.mean) ** 2:
                errors[places] = difference_fits.se
        return errors

    def statistics(self, interval: Interval) -> np.ndarray | None:
        """All differences (L, L) as normal quantiles of the same tail; NaN if they do not exist."""
        se = self.standard_errors()
        quantiles = np.full(se.shape, math.nan)
        for places, difference_fits in self.differences.items():
            if se[places] > 0:
                quantiles[places] = as_normal(difference_fits.mean / se[places], difference_fits.df)
        return quantiles


@dataclass(frozen=True, eq=False)
class JointFewAucs(JointFewEstimates):
    """The same of AUCs, which are ranked in rounds."""

    ranked: tuple[PlacedRounds, ...]
    flat: NoVariance

    @classmethod
    def of_scores(cls, rounds: RankedRounds, flat: NoVariance) -> Self:
        """Make it from the scores of all learners; `flat` if all is ranked equally well."""
        ranked = tuple(rounds.ranked())
        assert all(isinstance(rounds_of_learner, PlacedRounds) for rounds_of_learner in ranked)
        placed = cast("tuple[PlacedRounds, ...]", ranked)

        def difference(first: int, other: int) -> FewFits:
            return placed[first].plus(placed[other].weighted(-1.0)).estimate()

        of_learners = zip(*(learner_rounds.effects() for learner_rounds in placed), strict=True)
        return cls(
            tuple(learner_rounds.estimate() for learner_rounds in placed),
            _in_both_orders(len(placed), difference),
            tuple(map(np.stack, of_learners)),
            placed,
            flat,
        )

    def of(self, places: Places, options: UStatisticOptions) -> Any:
        """See `JointFewEstimates`."""
        return FewFitsOfAuc.of([self.ranked[k] for k in places], self.flat)


def _in_both_orders(
    n_learners: int, difference: Callable[[int, int], FewFits]
) -> dict[Places, FewFits]:
    """The differences of all pairs, in both orders."""
    differences: dict[Places, FewFits] = {}
    for first, other in combinations(range(n_learners), 2):
        differences[first, other] = difference_fits = difference(first, other)
        differences[other, first] = difference_fits._replace(mean=-difference_fits.mean)
    return differences
