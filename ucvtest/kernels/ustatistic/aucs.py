"""AUCs from rows: the estimate with its variances, and why there may be none."""

import math
from dataclasses import replace
from enum import Enum, auto
from typing import Self

import numpy as np

from ucvtest.kernels.ustatistic.contrasts import Contrast, Estimate
from ucvtest.kernels.ustatistic.rows import Strata

VARIANCES = ("midpoint", "jackknife")

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


class AucEstimate(Estimate):
    """The complete AUC, or the difference of two."""

    def flat(self, name: str) -> bool:
        """Whether nothing varies, by the jackknife; False where it is not known."""
        return self.variances["jackknife"] <= (NO_VARIANCE**2 if name == "few" else NO_VARIANCE)

    @classmethod
    def of_few_rows(cls, contrast: Contrast, means: np.ndarray) -> Self:
        """The mean AUC of too few rows for anything else."""
        unknown = dict.fromkeys((*VARIANCES, "pair_effects"), math.nan)
        auc = float(contrast.weights @ means) if contrast.value is None else contrast.value
        return cls(auc, math.nan, unknown, unknown, math.nan, np.array(math.nan))

    @property
    def without_variance(self) -> Self:
        """The same where it does not vary: no variances."""
        unknown = dict.fromkeys(VARIANCES, math.nan)
        variances, errors = {**self.variances, **unknown}, {**self.errors, **unknown}
        return replace(self, variances=variances, errors=errors, df=math.nan)


def influence(strata: Strata, b: np.ndarray) -> np.ndarray:
    """The influence value of each unit on an AUC, by the first-order effects b."""
    values: np.ndarray = strata.n * (strata.n - 1) / (strata.r - 1) * b
    return values


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


def too_rough(estimate: Estimate, name: str, remedy: str) -> str:
    """The status of a variance whose Monte-Carlo error is too large."""
    return (
        "too few resamples: the Monte-Carlo standard error of the variance "
        f"({estimate.errors[name]:.2g}) is above a quarter of it "
        f"({estimate.variances[name]:.2g}); {remedy}"
    )
