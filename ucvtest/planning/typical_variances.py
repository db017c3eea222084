"""Components of a variance from a pilot, shrunk towards typical values.

In a pilot of 40 the logarithm of the jackknife J has a standard deviation of .3 to .6, and most of
J are effects that disappear in larger samples. Two quantities are known far better: how often the
losses differ from 0, and how much they agree under disjoint learning sets. They predict the
standard errors of larger samples better if learning sets matter. So does the mean square of
differences of squared and other continuous losses: J is a nearly constant share of it. All numbers
here come from the problems of studies/planning/problems.py that are "chosen on". The other problems
there were not used for any choice.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ucvtest.planning.variance_components import MOST_FIRST, VarianceComponents, log_error

PSEUDO_OBS = 50
"""The weight of typical values, in observations."""

LEAST_FIRST, BY_AGREEMENT = 0.04, 1.5
"""v_1 as a share of the mean square: the least, and the coefficient of the squared agreement."""

JACKKNIFE, PAIR_EFFECTS = 0.55, 0.45
"""J and M2 as shares of the mean square if losses do not agree; with agreement r, J is larger by .4
r and M2 smaller by r."""

SMOOTH_JACKKNIFE = 0.8
"""J as a share of the mean square of differences of continuous losses."""

FLOOR = 0.05
"""Lower limit of J and of M2, as a share of the typical value; their estimates can be negative."""

SMOOTH, STEPS = 0.4, 0.15
"""Least share of v_1 in J: for squared and similar losses, and for losses that jump with a
prediction, such as rankings and errors. J of the latter consists of effects of pairs and more."""

TYPICAL_ERROR = 0.4
"""Standard deviation of the logarithm of a standard error predicted by typical values."""

BEYOND_KURTOSIS = 1.5
"""Factor by which J varies more than the kurtosis of effects in a pilot suggests."""

EXTRAPOLATION = 0.1
"""The same for known components, because the others do not follow a simple rule."""


@dataclass(frozen=True)
class PairedLosses:
    """Losses, or differences of losses, under pairs of disjoint learning sets.

    `mean_square` is their mean square: an error rate, or how often exactly one of two rules errs.
    `agreement` is the mean of products of losses at an observation that neither set contains,
    divided by the mean square. It is 1 if the learning set does not matter.
    """

    mean_square: float
    agreement: float

    @classmethod
    def of(cls, losses: np.ndarray) -> Self:
        """Compute both from losses (R, n), NaN if not tested; sets of a pair are adjacent rows.

        The agreement is NaN if all losses are 0.
        """
        testing = ~np.isnan(losses)
        tested_losses = np.where(testing, losses, 0.0)
        tested_by_both = testing[::2] & testing[1::2]
        square = float((tested_losses**2).sum() / testing.sum())
        product = float(
            (tested_losses[::2] * tested_losses[1::2] * tested_by_both).sum() / tested_by_both.sum()
        )
        agreement = min(max(product / square, 0.0), 1.0) if square else math.nan
        return cls(square, agreement)

    @classmethod
    def mean(cls, several: Sequence[Self]) -> Self:
        """Average several samples: means of squares and of products."""
        squares = np.array([sample_losses.mean_square for sample_losses in several])
        if not squares.any():
            return several[0]
        products = squares * np.array([sample_losses.agreement for sample_losses in several])
        return cls(float(squares.mean()), float(np.nansum(products) / squares.sum()))

    def typical(self, degree: int, *, jumps: bool = True) -> VarianceComponents:
        """Typical components, at the size of the smallest sample that has such pairs.

        They differ between numbers of errors, which jump with a prediction, and other losses.
        """
        n, r = 2 * degree, self.agreement
        unit = self.mean_square / n
        jackknife = unit * (JACKKNIFE + 0.4 * r if jumps else SMOOTH_JACKKNIFE)
        first = unit * (LEAST_FIRST + BY_AGREEMENT * r**2) if jumps else SMOOTH * jackknife
        return VarianceComponents.of(n, degree, jackknife, unit * PAIR_EFFECTS * (1 - r), first)


@dataclass(frozen=True)
class PilotEvidence:
    """The estimates of variance components from a pilot of n_obs observations, or from several.

    `df` are the degrees of freedom of J, by its kurtosis, and `mc_share` its Monte-Carlo error.
    """

    n_obs: int
    degree: int
    jackknife: float
    pair_effects: float
    df: float
    mc_share: float
    n_pilots: int = 1

    @property
    def log_error(self) -> float:
        """Standard deviation of the logarithm of the standard error here."""
        return log_error(self.df, self.mc_share) / math.sqrt(self.n_pilots)

    @property
    def weight(self) -> float:
        """The weight of the pilot; typical values have the remaining weight."""
        n_obs = self.n_obs * self.n_pilots
        return n_obs / (n_obs + PSEUDO_OBS)


def unshrunk(evidence: PilotEvidence, least_first_share: float) -> tuple[VarianceComponents, float]:
    """Components by J and M2 alone, v_1 at least `least_first_share` of J; error of predictions.

    To second order, J - 2 M2 is v_1 or less. A single J has a long upper tail, so its median lies
    below its mean. The components are enlarged accordingly.
    """
    jackknife, pairs = evidence.jackknife, max(evidence.pair_effects, 0.0)
    first = max(jackknife - 2 * pairs, least_first_share * jackknife)
    factor = math.exp(2 / evidence.df / evidence.n_pilots)
    scaled = (factor * component for component in (jackknife, pairs, first))
    error = math.hypot(BEYOND_KURTOSIS * evidence.log_error, EXTRAPOLATION)
    return VarianceComponents.of(evidence.n_obs, evidence.degree, *scaled), error


def shrunk(
    evidence: PilotEvidence, paired_losses: PairedLosses, *, jumps: bool = True
) -> tuple[VarianceComponents, float]:
    """Components from J and M2, shrunk towards typical values, and the error of predictions.

    J and M2 are geometric means with the typical ones, weighted by observations.
    """
    n, evidence_weight = evidence.n_obs, evidence.weight
    typical = paired_losses.typical(evidence.degree, jumps=jumps)
    jackknife, pairs = (
        max(own_component, FLOOR * other) ** evidence_weight * other ** (1 - evidence_weight)
        for own_component, other in (
            (evidence.jackknife, typical.jackknife(n)),
            (evidence.pair_effects, typical.pair_effects(n)),
        )
    )
    if jumps:
        # If the pilot's J and M2 leave much to single observations, this problem is not typical.
        first = max(typical.first_at(n), evidence.jackknife - 2 * max(evidence.pair_effects, 0.0))
    else:
        first = max(jackknife - 2 * pairs, SMOOTH * jackknife)
    jackknife = max(jackknife, first / MOST_FIRST)
    components = VarianceComponents.of(n, evidence.degree, jackknife, pairs, first)
    error = math.hypot(
        evidence_weight * evidence.log_error, (1 - evidence_weight) * TYPICAL_ERROR, EXTRAPOLATION
    )
    return components, error
