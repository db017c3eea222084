"""The 5x2 cross-validation tests: Dietterich's t and Alpaydin's combined F."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import fdtrc

from ucvtest.common.words import arg, call
from ucvtest.designs.design import Design
from ucvtest.designs.schemes import KFold
from ucvtest.designs.structure import folds_of
from ucvtest.inference import quantity
from ucvtest.inference.answer import Answer
from ucvtest.inference.needs import ANY_METRIC, Needs
from ucvtest.inference.question import Question
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.resampling import ResamplingTest

N_REPEATS = 5
DF = (10, 5)
"""Degrees of freedom of the F statistic."""

ASSUMPTION = (
    "The ten means are treated as normal and as independent between and within the five "
    "repetitions. All come from one sample, so the test rejects too often if the sample is small."
)


class _FiveByTwoTest(ResamplingTest):
    """The common parts of both tests: the design, and the means in pairs."""

    needs = Needs(
        designs="5 repetitions of 2-fold cross-validation",
        metrics=ANY_METRIC,
        clusters="units",
        weights=True,
    )
    default_design = KFold(2, n_repeats=N_REPEATS)

    def _check_design(self, design: Design) -> None:
        folds = folds_of(design)
        n_repeats, n_folds = len(folds), int(folds.max()) + 1
        if (n_repeats, n_folds) != (N_REPEATS, 2):
            raise ValueError(
                f"design is {n_folds}-fold cross-validation, {n_repeats} times, but this test "
                f"needs 2 folds, 5 times: use {call('designs.KFold', '2', arg('n_repeats', 5))}"
            )


def _pairs(observed: LossDifference) -> tuple[np.ndarray, np.ndarray]:
    """Means of the folds, (L, 5, 2), and the variance within each repetition, (L, 5)."""
    pairs = observed.means_of_each.reshape(-1, N_REPEATS, 2)
    return pairs, np.square(pairs[..., 0] - pairs[..., 1]) / 2


class FiveByTwoTTest(_FiveByTwoTest):
    r"""5x2 cross-validation t test of an expected loss, or of the difference of two.

    Estimand: the expected loss (difference) of the rule(s) learnt on half of the sample, at new
    observations (unconditional). H0: it equals `null_value`. With :math:`p_i^{(1)}, p_i^{(2)}` the
    means of the two folds in repetition i and :math:`s_i^2` their sample variance,
    :math:`t = p_1^{(1)} / \sqrt{\frac15 \sum_i s_i^2}`. Only the first of the ten means is in the
    numerator; it is the estimate and the centre of the interval. ``diagnostics["mean"]`` is the
    mean of all ten.

    Parameters
    ----------
    design : uv.designs object or scikit-learn splitter, optional
        2-fold cross-validation, 5 times, which is also the default.
    loss : str, callable, Loss or matrix, optional
        "auc" compares the AUCs of the test sets.

    Notes
    -----
    Reference: t with 5 degrees of freedom. The learning sets of a repetition do not overlap, and
    the size is close to nominal in Dietterich's simulations with 300 observations. In small samples
    the test rejects too often: a half that is easy to test on is also good to learn from, so the
    two folds of a repetition are alike and the variance within repetitions is too small (the
    correlation is about 0.4 for two equally good LDA rules at n = 60, and 0.1 at n = 300). Power is
    low. The estimate depends on which half comes first. The estimand is about half of the sample,
    further from the full sample than in 10-fold cross-validation. Cost: 10 fits of each learner.

    References
    ----------
    T. Dietterich (1998), Approximate statistical tests for comparing supervised classification
    learning algorithms, Neural Computation 10, section 3.5.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = uv.FiveByTwoTTest(X[50:, :2], y[50:], "lda", "knn:1").fit(rng=0)
    >>> result.df, result.n_fits
    (5.0, 20)
    """

    method_name = "five_by_two_t"
    in_short = "5 times 2 folds, t test of Dietterich"

    def analyse(self, observed: LossDifference, options: object) -> Answer:
        """See `ResamplingTest.analyse`."""
        pairs, variances = _pairs(observed)
        mean = float(pairs[0].mean())
        reported_mean = self.question.metric.reported(mean, paired=observed.paired)
        return Answer(
            method="5x2 cross-validation t test",
            estimand=self.in_words(observed, "unconditional"),
            estimates=pairs[:, 0, 0],
            variances=variances.mean(axis=1),
            reference="t",
            df=float(N_REPEATS),
            diagnostics={
                "mean": quantity.value(mean),
                "fold_means": quantity.value(pairs[0]),
                "variances": quantity.square(variances[0]),
            },
            notes=(
                "Estimate, statistic and interval are, by definition of the test, about the "
                f"first of ten means alone; the mean of all ten is {reported_mean:.4g}.",
                ASSUMPTION,
            ),
        )


class FiveByTwoFTest(_FiveByTwoTest):
    r"""5x2 cross-validation combined F test of an expected loss, or of the difference of two.

    Estimand: the expected loss (difference) of the rule(s) learnt on half of the sample, at new
    observations (unconditional). H0: it equals `null_value`. With :math:`p_i^{(j)}` the mean of
    fold j in repetition i minus `null_value` and :math:`s_i^2` the variances within repetitions,
    :math:`f = \sum_{i,j} (p_i^{(j)})^2 / (2 \sum_i s_i^2)`. The estimate shown is the mean of the
    ten means; the test gives neither a standard error nor an interval for it.

    Parameters
    ----------
    design : uv.designs object or scikit-learn splitter, optional
        2-fold cross-validation, 5 times, which is also the default.
    null_value : float, optional
        Needed for one learner, unless `loss` is "auc".
    alternative : {"two-sided"}
        The statistic is a sum of squares, which have no sign.
    loss : str, callable, Loss or matrix, optional
        "auc" compares the AUCs of the test sets.

    Notes
    -----
    Reference: F with 10 and 5 degrees of freedom. The ten squares are not independent, so the
    reference is an approximation. It was conservative in Alpaydin's simulations; in small samples
    it rejects too often, for the reason given at `FiveByTwoTTest`. The test has more power than the
    t test of the same design, whose numerator is one of the ten means, and does not depend on
    which half comes first. Cost: 10 fits of each learner.

    References
    ----------
    E. Alpaydin (1999), Combined 5x2 cv F test for comparing supervised classification learning
    algorithms, Neural Computation 11.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = uv.FiveByTwoFTest(X[50:, :2], y[50:], "lda", "knn:1").fit(rng=0)
    >>> result.reference, result.n_fits
    ('F(10, 5)', 20)
    """

    method_name = "five_by_two_f"
    in_short = "5 times 2 folds, F test of Alpaydin"
    needs = replace(
        _FiveByTwoTest.needs,
        without={
            "interval": "gives no interval",
            "alternative": "cannot be tested by a sum of squares: use 'two-sided', or a t test",
        },
    )

    def _ask(self, question: Question, design: Any = None, cv: Any = None) -> None:
        super()._ask(question, design, cv)
        if math.isnan(question.hypothesis.null_value):
            raise ValueError(
                f"{arg('null_value')} must be given for one learner, because this test has a "
                f"p-value but no interval; for an interval use {call('FiveByTwoTTest')}"
            )

    def analyse(self, observed: LossDifference, options: object) -> Answer:
        """See `ResamplingTest.analyse`."""
        pairs, variances = _pairs(observed)
        squares = float(np.square(pairs[0] - self.question.hypothesis.null_value).sum())
        spread = 2 * float(variances[0].sum())
        statistic = squares / spread if spread > 0 else math.nan
        return Answer(
            method="5x2 cross-validation combined F test",
            estimand=self.in_words(observed, "unconditional"),
            estimates=pairs.reshape(-1, 2 * N_REPEATS).mean(axis=1),
            # Of one of the ten means: the mean of all has no standard error.
            variances=variances.mean(axis=1),
            has_se=False,
            reference=f"F({DF[0]}, {DF[1]})",
            statistic=statistic,
            pvalue=float(fdtrc(*DF, statistic)),
            diagnostics={
                "df_numerator": DF[0],
                "df_denominator": DF[1],
                "fold_means": quantity.value(pairs[0]),
                "variances": quantity.square(variances[0]),
            },
            notes=(
                "The test gives only a p-value. The estimate, the mean of the ten means, has no "
                "standard error and no interval.",
                ASSUMPTION,
            ),
        )
