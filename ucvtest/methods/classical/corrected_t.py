"""The corrected resampled t test (Nadeau and Bengio), for splits and repeated cross-validation."""

from math import ceil

import numpy as np

from ucvtest.common.notes import Note
from ucvtest.designs.design import Design
from ucvtest.designs.schemes import KFold
from ucvtest.designs.structure import random_splits_of
from ucvtest.inference import quantity
from ucvtest.inference.answer import Answer
from ucvtest.inference.needs import ANY_METRIC, Needs
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.resampling import ResamplingTest

HEURISTIC = (
    "The correlation of two resamples is assumed to be the share of observations tested; that is a "
    "heuristic, so the test can reject too often or be conservative."
)

UNEVENNESS = 0.05
"""How uneven test sets may be (see `random_splits_of`). Folds that were made class by class are
uneven, and change the standard error by less than 2.5%."""

SPLITS = (
    "K-fold cross-validation, also repeated, and random splits, with test sets of about one size"
)
"""The designs of tests on several splits of the whole sample in one proportion."""


def check_splits(design: Design) -> None:
    """Refuse other designs than `SPLITS`."""
    if design.n_resamples < 2:
        raise ValueError("design has one resample, but a spread needs two: use more splits")
    random_splits_of(design, UNEVENNESS)


class CorrectedTTest(ResamplingTest):
    r"""Corrected resampled t test of an expected loss, or of the difference of two.

    Estimand: the expected loss (difference) of the rule(s) learnt on learning sets of the
    design's size, at new observations (unconditional). H0: it equals `null_value`. The estimate
    is the mean over resamples. Its variance is :math:`s^2 (1/J + \rho/(1 - \rho))` with
    :math:`\rho = n_{test}/n`, which is :math:`s^2 (1/J + n_{test}/n_{train})`. The second term
    allows for the overlap of the learning sets; :math:`\rho` is a heuristic value of the
    correlation that the overlap causes.

    Parameters
    ----------
    design : uv.designs object, int or scikit-learn splitter, optional
        K-fold cross-validation, also repeated, or random splits; by default 10 folds.
    loss : str, callable, Loss or matrix, optional
        "auc" compares the mean AUC of the test sets.

    Notes
    -----
    Reference: t with J - 1 degrees of freedom, where J is the number of resamples (repetitions
    times folds). The test is exact if the mean losses of the resamples are normal and any two of
    them have correlation rho. In practice this is an approximation: the test rejects too often
    where resamples are more alike (learners that change a lot with the learning set), and is
    conservative where they are less alike. The result has a note if test sets contain more than a
    tenth of the sample, or if their sizes differ by more than one observation (folds made class by
    class). Each test set counts the same, and rho is that of their mean size. Sizes that would
    raise the variance of the mean by more than 5% are refused. Cost: J fits of each learner.

    References
    ----------
    C. Nadeau, Y. Bengio (2003), Inference for the generalization error, Machine Learning 52,
    section 3. R. Bouckaert, E. Frank (2004), Evaluating the replicability of
    significance tests for comparing learning algorithms, PAKDD: repeated cross-validation.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> losses = uv.evaluate(["lda", "knn:1"], X[50:, :2], y[50:], design=10, rng=0)
    >>> result = uv.CorrectedTTest.from_losses(losses, "lda", "knn:1").fit()
    >>> result.df, result.n_fits
    (9.0, 20)
    """

    method_name = "corrected_t"
    in_short = "10 folds, t test that allows for their overlap"
    needs = Needs(designs=SPLITS, metrics=ANY_METRIC, clusters="units", weights=True)
    default_design = KFold(10)

    _check_design = staticmethod(check_splits)

    def analyse(self, observed: LossDifference, options: object) -> Answer:
        """See `ResamplingTest.analyse`."""
        means, (ratio, notes) = observed.means_of_each, tested_per_learnt(observed.design)
        return Answer(
            method="Corrected resampled t test",
            estimand=self.in_words(observed, "unconditional"),
            estimates=means.mean(axis=1),
            variances=corrected_variances(means, ratio),
            reference="t",
            df=means.shape[1] - 1.0,
            diagnostics={
                "tested_per_learnt": ratio,
                "variance_uncorrected": quantity.square(corrected_variances(means, 0.0)[0]),
                "resample_means": quantity.value(observed.means),
            },
            notes=(HEURISTIC, *notes),
            assumption=f"rho = {ratio / (1 + ratio):.3g}",
        )


def corrected_variances(means: np.ndarray, ratio: float) -> np.ndarray:
    """The variances of means over J resamples (L, J), if these share learning observations.

    `ratio` is rho/(1 - rho), the number of tested observations for each learnt one; 0 treats the
    resamples as independent.
    """
    return np.asarray(means.var(axis=1, ddof=1) * (1 / means.shape[1] + ratio))


def tested_per_learnt(design: Design) -> tuple[float, tuple[str, ...]]:
    """Number of tested observations for each learnt one, over all resamples: 1/(K - 1) for K folds.

    With notes on test sets that are uneven, or large compared with the learning sets.
    """
    ratio = float(design.testing.sum() / design.learning.sum())
    notes: tuple[str, ...] = ()
    sizes = design.testing.sum(axis=1)
    if sizes.max() - sizes.min() >= 2:
        notes += (
            f"The test sets have {sizes.min()} to {sizes.max()} observations; each counts the "
            "same, and rho is that of their mean size.",
        )
    # 10-fold cross-validation tests a tenth of the sample, rounded up.
    tenth = ceil(design.n_obs / 10)
    if ratio > tenth / (design.n_obs - tenth) * (1 + 1e-9):
        notes += (
            Note(
                f"{ratio:.2g} observations are tested for each one learnt from, more than in "
                "10-fold cross-validation (1/9): use smaller test sets.",
                "Test sets are larger than in 10-fold cross-validation: use smaller ones.",
            ),
        )
    return ratio, notes
