"""A test that a newcomer would write: one class of mathematics, and what the frame gives for it.

The sign test counts the resamples in which the first learner's loss was larger; under H0, and if
resamples were independent, the count is binomial.
"""

from dataclasses import replace

import numpy as np
from scipy.stats import binomtest

from ucvtest.designs import Design, RandomSplits
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.results.result import TestResult


class SignTest(ResamplingTest):
    """Sign test of the difference of two expected losses."""

    method_name = "sign"
    in_short = "15 random splits, counts of who was better"
    without_interval = "gives no interval"
    needs_other = True
    admits = "random splits"
    default_design = RandomSplits(15, 0.2)

    def _check_design(self, design: Design) -> None:
        if design.n_resamples < 5:
            raise ValueError("design has fewer than 5 resamples: use more")

    def _analysed(self, observed: LossDifference, options: None) -> TestResult:
        differences = observed.means - self.null_value
        n_larger, n_telling = int((differences > 0).sum()), np.count_nonzero(differences)
        result = self._result(
            observed,
            method="Sign test",
            estimand=self._in_words(observed, "unconditional"),
            estimator=_mean,
            has_se=False,
            reference="binomial",
            status="ok" if n_telling else "no resample shows a difference: use more",
            diagnostics={"n_larger": n_larger},
            notes=("Takes resamples for independent, which they are not.",),
        )
        if result.status != "ok":
            return result
        found = binomtest(n_larger, n_telling, alternative=self.alternative)
        return replace(result, statistic=float(found.k), pvalue=float(found.pvalue))


def _mean(observed: LossDifference) -> tuple[float, float]:
    """The estimate, and a variance that says whether the losses vary at all."""
    return float(observed.means.mean()), float(observed.means.var())
