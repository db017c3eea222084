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
        apart = effects - effects.mean(axis=1, keepdims=True)
        n = apart.shape[1]
        own = np.diag([one.se**2 - one.test_part for one in self._alone])
        found: np.ndarray = np.einsum("in,jn->ij", apart, apart) / (n * (n - 1)) + own
        return found

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
        found = np.full((n_learners, n_learners), math.nan)
        for places, one in self._differences.items():
            if one.spread > (ROUNDING * one.mean) ** 2:
                found[places] = one.se
        return found

    def statistics(self, interval: Interval) -> np.ndarray | None:
        """All differences (L, L) as normal quantiles of the same tail; NaN where there are none."""
        se = self.standard_errors()
        found = np.full(se.shape, math.nan)
        for places, one in self._differences.items():
            if se[places] > 0:
                found[places] = as_normal(one.mean / se[places], one.df)
        return found

    @cached_property
    def _alone(self) -> tuple[FewFits, ...]:
        """Each learner."""
        weights = np.eye(self.rounds.n_learners).tolist()
        return tuple(self.rounds.combined(each).estimate() for each in weights)

    @cached_property
    def _differences(self) -> dict[tuple[int, int], FewFits]:
        """All pairs, in both orders."""
        found = {}
        for first, other in combinations(range(self.rounds.n_learners), 2):
            weights = [0.0] * self.rounds.n_learners
            weights[first], weights[other] = 1.0, -1.0
            found[first, other] = one = self.rounds.combined(weights).estimate()
            found[other, first] = one._replace(mean=-one.mean)
        return found
