"""The variance of the mean of cross-validated losses, and the test that follows."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ucvtest.inference.studentise import TABLE_ALPHA, Hypothesis, Studentised, studentise
from ucvtest.kernels.fold_covariance import (
    admissible_variances,
    mean_fold_size,
    moments,
    variance_given_rho,
)
from ucvtest.stats.wald import ReferenceDistribution

ROUNDING = 1e-12
"""Standard errors up to this share of the estimate are rounding error."""


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The moments of cross-validated losses, and the variances of their mean that follow.

    e and folds are (R, n), for R repetitions (see `cross_validated_losses`), and `width` is the
    width of the range of e. With the jackknife, omega can be negative. rho is the assumed
    correlation of the mean losses of two folds, NaN for none. `name` is the name of the variance
    under this assumption.
    """

    e: np.ndarray
    folds: np.ndarray
    width: float
    jackknife: bool
    hypothesis: Hypothesis
    rho: float
    name: str

    @property
    def n_repeats(self) -> int:
        """Repetitions, R."""
        return len(self.e)

    @property
    def n_obs(self) -> int:
        """Observations, n."""
        return self.e.shape[1]

    @property
    def n_folds(self) -> int:
        """Folds, K."""
        return len(self.fold_sizes)

    @cached_property
    def fold_sizes(self) -> np.ndarray:
        """Number of observations in each fold, (K,)."""
        return np.bincount(self.folds[0])

    @cached_property
    def fold_size(self) -> float:
        """The mean size over observations, m."""
        return mean_fold_size(self.fold_sizes)

    @cached_property
    def fold_means(self) -> np.ndarray:
        """Mean of e in each fold, (R, K)."""
        sums, sizes = np.zeros((2, self.n_repeats, self.n_folds))
        places = (np.arange(self.n_repeats)[:, None], self.folds)
        np.add.at(sums, places, self.e)
        np.add.at(sizes, places, 1)
        return sums / sizes

    @cached_property
    def moments(self) -> dict[str, float]:
        """See ``uv.kernels.fold_covariance.moments``."""
        return moments(self.e, self.folds)

    @property
    def mean(self) -> float:
        """The estimate."""
        return self.moments["mean"]

    @property
    def lambda1(self) -> float:
        """Estimate of the first eigenvalue; NaN for folds of one observation."""
        return self.moments["lambda1"]

    @property
    def lambda2(self) -> float:
        """Estimate of the second eigenvalue."""
        return self.moments["lambda2"]

    @property
    def reduction(self) -> float:
        """The reduction of the variance of one repetition by averaging repetitions."""
        if self.n_repeats == 1:
            return 0.0
        return (1 - 1 / self.n_repeats) * self.moments["repeat_variance"]

    @property
    def only_rounding(self) -> bool:
        """Whether all fold means are the same, up to rounding."""
        return abs(self.lambda2) / self.n_obs <= (ROUNDING * self.mean) ** 2

    def variance(self, rho: float) -> float:
        """Variance of the estimate under an assumed rho; NaN for none."""
        if math.isnan(rho):
            return math.nan
        variance_of_one_repeat = variance_given_rho(self.lambda2, rho, self.n_obs, self.fold_size)
        return variance_of_one_repeat - self.reduction

    @property
    def independent(self) -> float:
        """The variance of the estimate if all losses were independent."""
        return float(self.e.var(axis=1, ddof=1).mean()) / self.n_obs - self.reduction

    @cached_property
    def admissible(self) -> tuple[float, float]:
        """The lowest and the highest possible variance of the estimate."""
        low, high = admissible_variances(
            self.lambda1,
            self.lambda2,
            self.n_obs,
            self.fold_size,
            width=self.width,
            nonnegative_omega=not self.jackknife,
        )
        return max(0.0, low - self.reduction), high - self.reduction

    def covariances(self, rho: float) -> tuple[float, float, float]:
        """sigma^2, omega and gamma under an assumed rho.

        Without pairs within folds, sigma^2 is the variance of a fold, and omega is NaN.
        """
        of_fold = self.lambda2 / self.fold_size / (1 - rho)
        omega = of_fold - self.lambda1 / self.fold_size
        if math.isnan(omega):
            return of_fold, math.nan, rho * of_fold
        return self.lambda1 + omega, omega, rho * of_fold

    def studentised(self, variance: float, status: str = "ok") -> Studentised:
        """The test with a variance of the estimate.

        None unless the variance is positive and finite.
        """
        usable = status == "ok" and 0 < variance < math.inf and not self.only_rounding
        return studentise(
            self.hypothesis,
            self.mean,
            variance,
            reference="t" if usable else "none",
            df=self.n_folds - 1.0 if usable else math.nan,
            status=status,
        )

    @cached_property
    def rho_flip(self) -> float:
        """The rho up to which H0 is rejected at the 5% level; NaN if no rho rejects it."""
        alternative = self.hypothesis.alternative
        distance = self.mean - self.hypothesis.null_value
        wrong_side = {"less": distance >= 0, "greater": distance <= 0, "two-sided": False}
        usable = self.lambda2 > 0 and not self.only_rounding
        if math.isnan(distance) or wrong_side[alternative] or not usable:
            return math.nan
        tail = TABLE_ALPHA / 2 if alternative == "two-sided" else TABLE_ALPHA
        critical = ReferenceDistribution(self.n_folds - 1).isf(tail)
        largest = (distance / critical) ** 2 + self.reduction
        odds = largest * self.fold_size / self.lambda2 - self.fold_size / self.n_obs
        flip = odds / (1 + odds)
        return flip if flip > -1 / (self.n_folds - 1) else math.nan
