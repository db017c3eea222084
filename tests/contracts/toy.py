"""A test that a newcomer would write: one class of mathematics, and what the frame gives for it.

The sign test counts the resamples in which the first learner was better; under H0, and if
resamples were independent, the count is binomial.
"""

import math

import numpy as np
from scipy.stats import binomtest

from ucvtest.designs import Design, RandomSplits
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.results.result import TestResult


class SignTest(ResamplingTest):
    """Sign test of the difference of two expected losses."""

    method_name = "sign"
    needs_other = True
    admits = "random splits"
    default_design = RandomSplits(15, 0.2)

    def _check_design(self, design: Design) -> None:
        if design.n_resamples < 5:
            raise ValueError("design has fewer than 5 resamples: use more")

    def _analysed(self, observed: LossDifference, options: None) -> TestResult:
        means = observed.means[observed.means != 0]
        found = binomtest(int((means < 0).sum()), len(means)) if len(means) else None
        return TestResult(
            estimate=float(np.median(observed.means)),
            se=math.nan,
            variance=math.nan,
            statistic=math.nan if found is None else float(found.k),
            pvalue=math.nan if found is None else float(found.pvalue),
            df=math.nan,
            null_value=self.null_value,
            alternative=self.alternative,
            method="Sign test",
            estimand=self._in_words(observed, "median"),
            reference="binomial",
            status="no resample shows a difference: use more" if found is None else "ok",
            n_obs=self.n_obs,
            n_fits=observed.n_fits,
            elapsed=math.nan,
            settings=self._settings_of(observed),
            diagnostics={**observed.diagnostics, "n_better": int((means < 0).sum())},
            notes=("Takes resamples for independent, which they are not.",),
        )
