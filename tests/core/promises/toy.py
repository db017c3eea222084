"""A test that a newcomer would write: one class of mathematics, and what the frame gives for it.

The sign test counts the resamples in which the first learner's loss was larger; under H0, and if
resamples were independent, the count is binomial.
"""

import numpy as np
from scipy.stats import binomtest

from ucvtest.designs import Design, RandomSplits
from ucvtest.inference.answer import Answer
from ucvtest.inference.needs import Needs
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.resampling import ResamplingTest


class SignTest(ResamplingTest):
    """Sign test of the difference of two expected losses."""

    method_name = "sign"
    in_short = "15 random splits, counts of who was better"
    needs = Needs(
        designs="random splits", learners="two", without={"interval": "gives no interval"}
    )
    default_design = RandomSplits(15, 0.2)

    def _check_design(self, design: Design) -> None:
        if design.n_resamples < 5:
            raise ValueError("design has fewer than 5 resamples: use more")

    def analyse(self, observed: LossDifference, options: object) -> Answer:
        asked, means = self.question.hypothesis, observed.means_of_each
        differences = observed.means - asked.null_value
        n_larger, n_telling = int((differences > 0).sum()), np.count_nonzero(differences)
        found = binomtest(n_larger, max(n_telling, 1), alternative=asked.alternative)
        return Answer(
            method="Sign test",
            estimand=self.in_words(observed, "unconditional"),
            estimates=means.mean(axis=1),
            # They only tell whether losses vary.
            variances=means.var(axis=1),
            has_se=False,
            reference="binomial",
            statistic=float(n_larger),
            pvalue=found.pvalue,
            notes=("Takes resamples for independent, which they are not.",),
        )
