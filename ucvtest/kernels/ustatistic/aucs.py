"""AUCs from rows: the estimate with its variances, and why there may be none."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Self

import numpy as np

from ucvtest.kernels.ustatistic.contrasts import Contrast, Estimate
from ucvtest.kernels.ustatistic.rows import Strata

VARIANCES = ("midpoint", "jackknife")

ROUGH = 0.25
"""Monte-Carlo error, as a share of a variance, above which it is not used. Simulated intervals
contained the true value from 600 learning sets on, where it is .1 to .2 for differences."""

NO_VARIANCE = 1e-10
"""Jackknife variances up to here are taken for none."""


class NoVariance(Enum):
    """Why an AUC, or the difference of two, has no variance."""

    NEVER_TOGETHER = auto()
    """Some two classes were tested together in no learning set."""
    EQUAL_SCORES = auto()
    """All tested scores of two classes were equal."""
    SEPARATED = auto()
    """The classes were separated completely, in every row."""
    OBSERVATIONS_ALIKE = auto()
    """Every observation was ranked equally well."""
    CLASSES_ALIKE = auto()
    """The same of several classes, as by equal scores."""
    CLUSTERS_ALIKE = auto()
    """Every cluster was ranked equally well."""
    LEARNERS_ALIKE = auto()
    """Two learners ranked every tested pair alike."""
    DIFFERENCE_ALIKE = auto()
    """Two learners differ by as much for every observation."""
    NOTHING_VARIES = auto()
    """The jackknife of one of several differences is zero."""


@dataclass(frozen=True, eq=False)
class AucEstimate:
    """The complete AUC (difference) with its variances by name; NaN if there is none.

    `mc_se` are their Monte-Carlo errors; `u` contains u of each class; `df` is NaN where the
    jackknife is zero.
    """

    auc: float
    values: Mapping[str, float]
    mc_se: Mapping[str, float]
    jackknife: float
    pair_effects: float
    u: tuple[np.ndarray, ...]
    df: float
    mc_se_estimate: float

    @classmethod
    def of(cls, strata: Strata, estimate: Estimate) -> Self:
        """From the estimate of a contrast."""
        jackknife = estimate.variances["jackknife"]
        varies = jackknife > NO_VARIANCE
        values, errors = (
            {name: numbers.get(name, math.nan) if varies else math.nan for name in VARIANCES}
            for numbers in (estimate.variances, estimate.errors)
        )
        influence = strata.n * (strata.n - 1) / (strata.r - 1) * estimate.b
        return cls(
            auc=estimate.value,
            values=values,
            mc_se=errors,
            jackknife=jackknife,
            pair_effects=estimate.variances.get("pair_effects", math.nan),
            u=tuple(influence[some] for some in strata.members),
            df=estimate.df if varies else math.nan,
            mc_se_estimate=estimate.mc_se,
        )

    @classmethod
    def of_few_rows(cls, contrast: Contrast, means: np.ndarray, strata: Strata) -> Self:
        """The mean AUC of too few rows for anything else."""
        unknown = dict.fromkeys(VARIANCES, math.nan)
        auc = float(contrast.weights @ means) if contrast.value is None else contrast.value
        u = tuple(np.full(n, math.nan) for n in strata.sizes)
        return cls(auc, unknown, unknown, math.nan, math.nan, u, math.nan, math.nan)

    def is_rough(self, name: str) -> bool:
        """Whether the Monte-Carlo error of a variance is too large to rely on it.

        A variance of zero was estimated below zero, unless nothing varies.
        """
        variance = self.values[name]
        if variance == 0 and self.mc_se_estimate > 0:
            return True
        return not self.mc_se[name] <= ROUGH * variance

    def excess(self, name: str, tol: float) -> float:
        """The larger Monte-Carlo error as a multiple of the one allowed; 0 if nothing varies."""
        variance = self.values[name]
        if math.isnan(variance):
            # Further draws do not help, unless there were too few for any variance.
            return math.inf if math.isnan(self.jackknife) else 0.0
        of_variance = self.mc_se[name] / (tol * variance)
        return max(of_variance, self.mc_se_estimate / (tol * math.sqrt(variance)))


NOTHING_VARIED = {
    NoVariance.EQUAL_SCORES: (
        "all tested scores were equal: the learner tells no observation from another"
    ),
    NoVariance.SEPARATED: "the classes were separated completely, in every row",
    NoVariance.OBSERVATIONS_ALIKE: "every observation was ranked equally well",
    NoVariance.CLASSES_ALIKE: "every observation was ranked equally well, as by equal scores",
    NoVariance.CLUSTERS_ALIKE: "every cluster was ranked equally well",
    NoVariance.LEARNERS_ALIKE: (
        "the two learners ranked every tested pair alike, so there is no difference to test"
    ),
    NoVariance.DIFFERENCE_ALIKE: "the two learners differ by as much for every observation",
    NoVariance.NOTHING_VARIES: "nothing varies",
}


def no_variance_in_words(no_variance: NoVariance) -> str:
    """The status where there is no variance."""
    if no_variance is NoVariance.NEVER_TOGETHER:
        return (
            "too few resamples: some two classes were tested together in no learning set; give "
            "more learning sets, or smaller ones"
        )
    return f"degenerate: the jackknife variance is zero, {NOTHING_VARIED[no_variance]}"


def too_rough(estimate: AucEstimate, name: str, remedy: str) -> str:
    """The status of a variance whose Monte-Carlo error is too large."""
    return (
        "too few resamples: the Monte-Carlo standard error of the variance "
        f"({estimate.mc_se[name]:.2g}) is above a quarter of it ({estimate.values[name]:.2g}); "
        f"{remedy}"
    )
