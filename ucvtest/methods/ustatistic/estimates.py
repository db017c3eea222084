"""What the sums over learning sets lead to: estimates of a mean loss, a ratio or an AUC.

All are contrasts of the columns of the same rows, from many fits or from few.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from ucvtest.kernels.ustatistic.aucs import NO_VARIANCE, AucEstimate, NoVariance
from ucvtest.kernels.ustatistic.columns import Places, Ranked, RankedMixed
from ucvtest.kernels.ustatistic.contrasts import Estimate, slope
from ucvtest.kernels.ustatistic.few import FewFits
from ucvtest.methods.ustatistic.auc_sizes import AucSizes
from ucvtest.methods.ustatistic.run import Sums
from ucvtest.stats.pivots import Shape

RELIABLE = 0.25
"""Monte-Carlo error, as a share of a variance, above which there is no answer."""

ROUNDING = 1e-12
"""Standard error, as a share of the estimate, that is no more than rounding error."""

OF_AUC = (Ranked, RankedMixed)
"""Columns of AUCs."""


# ------------------------------------------------------------------------------- of mean losses


@dataclass(frozen=True)
class UStatisticEstimates:
    """The estimates of a mean loss, a difference or a ratio, and how their run went.

    A ratio, whose variances are those of its logarithm, is NaN where a mean loss is not positive.

    `variance` is the one to studentise with, `floored` if it was raised to four times its
    Monte-Carlo error, or to the jackknife with all its noise; `few_per_learner` those of each of
    two learners from few fits, where the jackknife of one is not known.
    """

    estimates: Estimate
    variance: str
    n_pairs: int
    converged: bool = True
    per_learner: tuple[Estimate, ...] = ()
    floored: bool = False
    few_per_learner: tuple[FewFits, ...] = ()
    slope: tuple[float, float, float] = (math.nan, math.nan, math.nan)
    """The slope of the logarithm of the standard error, its error, and its Monte-Carlo error."""

    @classmethod
    def of(cls, sums: Sums, places: Places, variance: str, *, converged: bool = True) -> Self:
        """From the sums so far."""
        effects, strata = sums.effects(), sums.columns.strata
        estimates = cls(
            sums.estimate(places),
            variance,
            sums.n_rows // 2,
            converged,
            of_each(sums, places),
        )
        if effects.gram is None or len(strata.learn_sizes) > 1:
            return estimates
        return replace(estimates, slope=slope(effects, sums.contrast(places)))

    @cached_property
    def shape(self) -> Shape:
        """Skewness of the pseudo-values, and how the standard error moves with the estimate."""
        # Ratios that do not exist have none.
        return Shape.of(np.nan_to_num(self.estimates.b), *self.slope)


def of_each(sums: Sums, places: Places) -> tuple[Estimate, ...]:
    """The estimates of each of two learners alone."""
    if len(places) == 1:
        return ()
    return tuple(sums.estimate((place,)) for place in places)


def excess(estimate: Estimate, name: str, tol: float) -> float:
    """The larger Monte-Carlo error as a multiple of the one that "auto" requires.

    NaN if it is not known.
    """
    if only_rounding(estimate, name):
        return 0.0
    variance, mc_se = estimate.variances[name], estimate.errors[name]
    if variance == 0:
        return math.nan
    of_variance = mc_se / (min(tol, RELIABLE) * abs(variance))
    if variance < 0:
        return of_variance
    of_estimate = estimate.mc_se / (tol * math.sqrt(variance))
    return float(np.maximum(of_variance, of_estimate))


def reliable(estimate: Estimate, name: str) -> bool:
    """Whether a variance is positive, and its Monte-Carlo error at most a quarter of it."""
    variance = estimate.variances[name]
    return bool(variance > 0 and estimate.errors[name] <= RELIABLE * variance)


def only_rounding(estimate: Estimate, name: str) -> bool:
    """Whether a variance is zero, up to the rounding of losses that are all the same."""
    largest = max(abs(estimate.variances[name]), abs(estimate.variances.get("jackknife", 0.0)))
    return bool(largest <= (ROUNDING * estimate.value) ** 2)


@dataclass(frozen=True)
class FewFitsEstimates:
    """A mean loss or AUC (difference, ratio) from few fits, and that of each of two learners alone.

    `no_variance` is why an AUC cannot vary, if so.
    """

    few_fits: FewFits
    per_learner: tuple[FewFits, ...] = ()
    no_variance: NoVariance | None = None

    @classmethod
    def of(cls, sums: Sums, places: Places) -> Self:
        """From the rounds that were kept."""
        own = tuple(sums.few_fits((place,)) for place in places) if len(places) > 1 else ()
        few_fits, no_variance = sums.few_fits(places), None
        if isinstance(sums.columns, OF_AUC) and not few_fits.spread > NO_VARIANCE**2:
            no_variance = _no_variance(sums, few_fits.mean)
        return cls(few_fits, own, no_variance)


# ------------------------------------------------------------------------------------- of AUCs


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

    @classmethod
    def of(cls, sums: Sums, sizes: AucSizes, places: Places, *, converged: bool) -> Self:
        """From the sums so far."""
        all_places = [places] if len(places) == 1 else [places, *((place,) for place in places)]
        if not has_enough(sums, sizes):
            assert sums.rows is not None
            means, strata = sums.rows.means, sums.columns.strata
            contrasts = [sums.columns.contrast(x, means) for x in all_places]
            first, *per_learner = (AucEstimate.of_few_rows(x, means, strata) for x in contrasts)
            return cls(first, tuple(per_learner), sums.n_rows, None, converged)
        first, *per_learner = (auc_of(sums, x) for x in all_places)
        no_variance = None
        if math.isnan(first.values["jackknife"]):
            no_variance = _no_variance(sums, first.auc)
        return cls(first, tuple(per_learner), sums.n_rows, no_variance, converged)

    def variance(self, name: str) -> float:
        """The variance by its name; NaN if there is none."""
        return self.estimate.values[name]

    def mc_se(self, name: str) -> float:
        """The Monte-Carlo error of a variance."""
        return self.estimate.mc_se[name]


def auc_of(sums: Sums, places: Places) -> AucEstimate:
    """The AUC of a learner, or the difference of two."""
    return AucEstimate.of(sums.columns.strata, sums.estimate(places))


def has_enough(sums: Sums, sizes: AucSizes) -> bool:
    """Whether there are learning sets enough for variances."""
    assert sums.rows is not None
    enough = sums.n_rows >= sizes.rows_for_variances and sums.n_draws >= sums.rows.n_blocks
    return sums.rows.exact or enough


def _no_variance(sums: Sums, auc: float) -> NoVariance:
    """Why there is no variance."""
    return sums.columns.why_without(auc, alike=sums.alike, equal=sums.equal_scores)
