"""Mean losses of several learners from few fits of each, and what joins their differences.

Each difference has its own variance and degrees of freedom. Differences are joined by a normal
copula: their p-values are those of correlated normal errors. The correlation is that of the
observations' effects, which n observations tell whatever the number of fits. What learning and the
draws add is told by few fits, from which correlations between learners would seem larger than they
are: it is taken for independent between learners.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from ucvtest.kernels.ustatistic.few_fits import FewFits, RoundSums
from ucvtest.methods.ustatistic.estimation import ROUNDING
from ucvtest.methods.ustatistic.few import FewFitsEstimates
from ucvtest.methods.ustatistic.interval import Interval
from ucvtest.methods.ustatistic.options import Options
from ucvtest.stats.simultaneous import as_normal

__all__ = ["COPULA", "JointFewEstimates"]

COPULA = (
    "Several learners from few fits: each difference has its own degrees of freedom, and they are "
    "joined by a normal copula with the correlation of the observations' effects; what learning "
    "and the draws add is taken for independent between learners. With 20 fits of each of six "
    "learners, 95% intervals held together in 93% of 1200 simulated data sets, 91.5% in the worst "
    "setting."
)


@dataclass(frozen=True, eq=False)
class JointFewEstimates:
    """What few fits tell of all learners, and of all their differences."""

    rounds: RoundSums

    @property
    def df(self) -> float:
        """Infinite: errors are joined as normal ones, whatever the df of each difference."""
        return math.inf

    @cached_property
    def covariance(self) -> np.ndarray:
        """Of the mean losses, (L, L): of the observations' effects, and each learner's own part."""
        effects = self.rounds.effects()
        centred_effects = effects - effects.mean(axis=1, keepdims=True)
        n = centred_effects.shape[1]
        learning_variances = np.diag(
            [learner_fits.se**2 - learner_fits.test_part for learner_fits in self._alone]
        )
        joint_covariance: np.ndarray = (
            np.einsum("in,jn->ij", centred_effects, centred_effects) / (n * (n - 1))
            + learning_variances
        )
        return joint_covariance

    def of(self, places: tuple[int, ...], options: Options) -> FewFitsEstimates:
        """The estimates of one learner, or of the difference of two."""
        if len(places) == 1:
            return FewFitsEstimates(self._alone[places[0]])
        first, other = places
        return FewFitsEstimates(
            self._differences[first, other], (self._alone[first], self._alone[other])
        )

    def standard_errors(self) -> np.ndarray:
        """Of all differences, (L, L), with their Monte-Carlo part."""
        n_learners = self.rounds.n_learners
        errors = np.full((n_learners, n_learners), math.nan)
        for places, difference_fits in self._differences.items():
            if difference_fits.spread > (ROUNDING * difference_fits.mean) ** 2:
                errors[places] = difference_fits.se
        return errors

    def statistics(self, interval: Interval) -> np.ndarray | None:
        """All differences (L, L) as normal quantiles of the same tail; NaN where there are none."""
        se = self.standard_errors()
        quantiles = np.full(se.shape, math.nan)
        for places, difference_fits in self._differences.items():
            if se[places] > 0:
                quantiles[places] = as_normal(difference_fits.mean / se[places], difference_fits.df)
        return quantiles

    @cached_property
    def _alone(self) -> tuple[FewFits, ...]:
        """Each learner."""
        weights = np.eye(self.rounds.n_learners).tolist()
        return tuple(
            self.rounds.combined(learner_weights).estimate() for learner_weights in weights
        )

    @cached_property
    def _differences(self) -> dict[tuple[int, int], FewFits]:
        """All pairs, in both orders."""
        differences = {}
        for first, other in combinations(range(self.rounds.n_learners), 2):
            weights = [0.0] * self.rounds.n_learners
            weights[first], weights[other] = 1.0, -1.0
            differences[first, other] = difference_fits = self.rounds.combined(weights).estimate()
            differences[other, first] = difference_fits._replace(mean=-difference_fits.mean)
        return differences
