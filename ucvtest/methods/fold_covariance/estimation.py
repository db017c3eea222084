"""The cross-validated losses, whose mean is the estimate, and the decomposition of its variance."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ucvtest.common.execution import Execution, row_batches
from ucvtest.common.float64 import check_platform
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import TABLE_ALPHA, Hypothesis, Studentised, studentise
from ucvtest.kernels.fold_covariance import (
    admissible_variances,
    mean_fold_size,
    moments,
    variance_given_rho,
)
from ucvtest.methods.fold_covariance.options import Estimator, FoldCovarianceOptions, FoldScheme
from ucvtest.stats.wald import ReferenceDistribution

ROW_CELLS = 4_000_000
"""Number of losses (fits times observations) in memory at a time."""

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


# ---------------------------------------------------------------------------------- losses


def estimate(
    question: Question, scheme: FoldScheme, options: FoldCovarianceOptions, execution: Execution
) -> tuple[list[Decomposition], LossSource]:
    """Cross-validate on given folds, or on new ones: the estimate, and those of two learners."""
    check_platform()
    folds = scheme.user_folds
    if folds is None:
        folds = scheme.drawn(options.n_repeats, execution.generator)
        n_sets = len(folds) * scheme.n_folds + scheme.jackknife
        execution.announce_total(len(question.learners) * n_sets)
    n_folds, estimator, source = scheme.n_folds, scheme.estimator, question.losses(execution)
    losses = cross_validated_losses(folds, n_folds, estimator, execution.generator, source)
    bounds = question.metric.bounds
    width = range_width(bounds, n_folds, estimator, paired=question.paired)
    decompositions = [
        Decomposition(
            *(e, folds, width, scheme.jackknife, question.hypothesis),
            rho=options.assumed,
            name=options.name,
        )
        for e in losses
    ]
    return decompositions, source


def cross_validated_losses(
    folds: np.ndarray,
    n_folds: int,
    estimator: Estimator,
    rng: np.random.Generator,
    source: LossSource,
) -> np.ndarray:
    """The e of section 2.5, (1, R, n); their mean is the estimate.

    For two learners, the losses of the difference, of the first and of the other, (3, R, n).

    e is the loss after learning without the fold. For the jackknife, it is K times the loss after
    learning everything, minus the losses after leaving out the other folds. All folds of one
    repetition after the other are evaluated. The jackknife first evaluates the losses after
    learning everything.
    """

    def losses(learning: np.ndarray, testing: np.ndarray) -> np.ndarray:
        seeds = rng.integers(2**31 - 1, size=len(learning))
        learner_losses = source.losses_for(learning, testing, seeds)
        # Counts of errors come in integers too small for K times a loss.
        return np.array(
            [learner_losses[0] - learner_losses[1], *learner_losses]
            if source.paired
            else learner_losses,
            dtype=float,
        )

    jackknife = estimator == "jackknife"
    n_repeats, n_obs = folds.shape
    e = np.zeros((3 if source.paired else 1, *folds.shape))
    if jackknife:
        all_observations = np.ones((1, n_obs), dtype=bool)
        e += n_folds * losses(all_observations, all_observations)
    for rows in row_batches(n_repeats * n_folds, n_obs, ROW_CELLS):
        repeat, left_out = np.divmod(np.arange(rows.start, rows.stop), n_folds)
        held_out = folds[repeat] == left_out[:, None]
        fold_losses = losses(~held_out, np.ones_like(held_out) if jackknife else held_out)
        if jackknife:
            fold_losses = np.where(held_out, 0.0, -fold_losses)
        # Fold by fold; a repetition has each fold once.
        for fold in range(n_folds):
            rows_of_fold = left_out == fold
            e[:, repeat[rows_of_fold]] += fold_losses[:, rows_of_fold]
    return e


def range_width(
    bounds: tuple[float, float] | None, n_folds: int, estimator: Estimator, *, paired: bool
) -> float:
    """Width of the range of `cross_validated_losses`; infinite for a loss without bounds."""
    if bounds is None:
        return math.inf
    width = bounds[1] - bounds[0]
    if estimator == "jackknife":
        # K times one loss minus K - 1 others.
        width *= 2 * n_folds - 1
    return width * (2 if paired else 1)
