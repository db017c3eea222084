"""AUCs from rows: the estimate with its variances, and why there may be none."""

import math
from dataclasses import replace
from enum import Enum
from typing import Self

import numpy as np

from ucvtest.kernels.ustatistic.contrasts import Contrast, Estimate
from ucvtest.kernels.ustatistic.rows import Strata

VARIANCES = ("midpoint", "jackknife")

NO_VARIANCE = 1e-10
"""Jackknife variances up to here are taken for none."""


class NoVariance(Enum):
    """Why an AUC, or the difference of two, has no variance, in words."""

    NEVER_TOGETHER = "some two classes were tested together in no learning set"
    EQUAL_SCORES = "all tested scores were equal: the learner tells no observation from another"
    SEPARATED = "the classes were separated completely, in every row"
    OBSERVATIONS_ALIKE = "every observation was ranked equally well"
    CLASSES_ALIKE = "every observation was ranked equally well, as by equal scores"
    CLUSTERS_ALIKE = "every cluster was ranked equally well"
    LEARNERS_ALIKE = (
        "the two learners ranked every tested pair alike, so there is no difference to test"
    )
    DIFFERENCE_ALIKE = "the two learners differ by as much for every observation"
    NOTHING_VARIES = "nothing varies"
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


def no_variance_in_words(no_variance: NoVariance) -> str:
    """The status where there is no variance."""
    if no_variance is NoVariance.NEVER_TOGETHER:
        more = "give more learning sets, or smaller ones"
        return f"too few resamples: {no_variance.value}; {more}"
    return f"degenerate: the jackknife variance is zero, {no_variance.value}"


def too_rough(estimate: Estimate, name: str, remedy: str) -> str:
    """The status of a variance whose Monte-Carlo error is too large."""
    return (
        "too few resamples: the Monte-Carlo standard error of the variance "
        f"({estimate.errors[name]:.2g}) is above a quarter of it "
        f"({estimate.variances[name]:.2g}); {remedy}"
    )
