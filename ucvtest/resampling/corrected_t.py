"""The corrected resampled t test (Nadeau and Bengio), for splits and repeated cross-validation."""

import numpy as np

from ucvtest.base import Stopwatch
from ucvtest.design import Design
from ucvtest.designs import KFold, random_splits_of
from ucvtest.resampling.base import ResamplingTest
from ucvtest.results import TestResult

__all__ = ["CorrectedTTest"]

LARGEST_RATIO = 1 / 9
"""Test over learning observations of 10-fold cross-validation."""


class CorrectedTTest(ResamplingTest):
    r"""Corrected resampled t test of an expected loss, or of the difference of two.

    Estimand: the expected loss (difference) of the rule(s) learnt on learning sets of the
    design's size, at new observations (unconditional). H0: it equals `null_value`. The estimate
    is the mean over resamples; its variance is :math:`s^2 (1/J + \rho/(1 - \rho))` with
    :math:`\rho = n_{test}/n`, so :math:`s^2 (1/J + n_{test}/n_{train})`: what overlapping
    learning sets have in common is taken into account, by a heuristic value of the correlation.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
    learner : learner
    other : learner, optional
        The learner to compare with on the same splits; the estimate is `learner` minus
        `other`.
    design : uv.designs object, int or scikit-learn splitter, optional
        K-fold cross-validation, also repeated, or random splits; by default 10 folds.
    loss : str, callable, Loss or matrix, optional
        "auc" compares the mean AUC of the test sets.
    null_value, alternative, pos_label, groups, backend
        See `HypothesisTest`.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.

    Notes
    -----
    Reference: t with J - 1 degrees of freedom, J the number of resamples (repetitions times
    folds). The correlation of two resamples' mean losses is not rho in general: liberal where
    it is larger (learners that change much with the learning set), conservative where smaller.
    Cost: J fits of each learner.

    References
    ----------
    C. Nadeau, Y. Bengio (2003), Inference for the generalization error, Machine Learning 52,
    section 3, estimate 7. R. Bouckaert, E. Frank (2004), Evaluating the replicability of
    significance tests for comparing learning algorithms: repeated cross-validation.

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

    admits = "K-fold cross-validation, also repeated, and random splits of one size"
    default_design = KFold(10)

    @property
    def method_name(self) -> str:
        """Short name for keys."""
        return "corrected_t"

    def _admit(self, design: Design) -> None:
        if design.n_resamples < 2:
            raise ValueError("design has one resample, and a spread needs two: use more splits")
        random_splits_of(design)

    def fit(
        self,
        *,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool | None = None,
    ) -> TestResult:
        """Evaluate the learners where losses are not given, and test.

        Parameters
        ----------
        rng : None, int or numpy Generator
            Decides the splits; the settings of the result keep the seed.
        n_jobs : int, optional
            joblib's workers, for learners that are not jitted.
        batch_size : int, optional
            Learning sets evaluated at once: bounds the memory, changes no result.
        progress : bool, optional
            Show a progress bar; by default on terminals, after three seconds.

        Returns
        -------
        TestResult

        Raises
        ------
        ValueError
            If an argument cannot be used, or a learner fails on a split.
        """
        stopwatch = Stopwatch()
        observed = self._observed(rng, n_jobs, batch_size, progress)
        n_resamples = observed.design.n_resamples
        ratio = tested_per_learnt(observed.design)
        spread = float(observed.means.var(ddof=1))
        result = self._result(
            observed,
            stopwatch,
            method="Corrected resampled t test",
            estimand=self._in_words(observed, "unconditional"),
            estimate=float(observed.means.mean()),
            variance=spread * (1 / n_resamples + ratio),
            reference="t",
            df=n_resamples - 1.0,
            settings={},
            diagnostics={
                "assumption": f"rho = {ratio / (1 + ratio):.3g}",
                "tested_per_learnt": ratio,
                "variance_uncorrected": spread / n_resamples,
                "resample_means": observed.means,
            },
            notes=_notes(ratio),
        )
        return self._finish(result)


def tested_per_learnt(design: Design) -> float:
    """Observations tested for each one learnt from, in the mean over resamples."""
    return float((design.testing.sum(axis=1) / design.learning.sum(axis=1)).mean())


def _notes(ratio: float) -> tuple[str, ...]:
    notes = (
        "The correlation of two resamples is taken to be the share of observations tested; that "
        "is a heuristic, so the test can be liberal or conservative.",
    )
    if ratio <= LARGEST_RATIO * (1 + 1e-9):
        return notes
    return (
        *notes,
        f"{ratio:.2g} observations are tested for each one learnt from, more than in 10-fold "
        "cross-validation (1/9): use smaller test sets.",
    )
