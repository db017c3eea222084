"""The ratio of the expected losses of two learners: its logarithm, with the jackknife variance.

log(U1/U2) is studentised with the jackknife of the kernel L1/U1 - L2/U2, its linear part.
"""

import math
from dataclasses import replace

import numpy as np

from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference.answer import Answer
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import Hypothesis, Studentised, by_rule, studentise
from ucvtest.kernels.ustatistic.contrasts import Estimate
from ucvtest.methods.ustatistic import few, reporting
from ucvtest.methods.ustatistic.estimates import (
    ROUNDING,
    FewFitsRatio,
    RatioEstimates,
)
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.results.wording import SAME_LOSSES
from ucvtest.stats.pivots import Shape, on_log

METHOD = "U-statistic test of the ratio of complete error estimates"
NO_RATIO = "no ratio: the mean loss of a learner is 0; use the contrast 'difference'"
IN_PROPORTION = "degenerate: the variance estimate is zero, the losses are in proportion"
OF_LOGARITHM = "The standard error and the variance are those of the logarithm of the ratio."


def answers(
    options: UStatisticOptions, ratio_estimates: RatioEstimates, source: LossSource
) -> bool:
    """Whether the jackknife variance is known well enough, or nothing could make it so."""
    log_estimate = ratio_estimates.combined
    if source.identical or log_estimate is None or _only_rounding(log_estimate):
        return True
    return (
        _reliable(log_estimate)
        and reporting.too_few_pairs(options, ratio_estimates.n_pairs, "") is None
    )


def _reliable(log_estimate: Estimate) -> bool:
    """Whether the Monte-Carlo error of the variance is at most a quarter of it."""
    return log_estimate.errors["jackknife"] <= log_estimate.variances["jackknife"] / 4


def _only_rounding(log_estimate: Estimate) -> bool:
    """Whether the variance of the logarithm is zero, up to rounding."""
    return abs(log_estimate.variances["jackknife"]) <= ROUNDING**2


def answer_of(
    question: Question,
    options: UStatisticOptions,
    ratio_estimates: RatioEstimates,
    source: LossSource,
    estimand: str,
) -> Answer:
    """The answer about a ratio, except for the settings."""
    log_estimate, (first, other) = ratio_estimates.combined, ratio_estimates.per_learner
    shape = Shape.of(np.zeros(question.n_units) if log_estimate is None else log_estimate.b)
    numbers, errors = None, (math.nan, math.nan)
    if log_estimate is not None:
        numbers = log_estimate.variances["jackknife"], log_estimate.mc_se, shape.df
        errors = log_estimate.mc_se, log_estimate.errors["jackknife"]
    status = _status(options, ratio_estimates, source)
    tested = _studentised(question.hypothesis, first.value, other.value, numbers, status)
    return Answer.of_tested(
        tested,
        reporting.own_values(ratio_estimates.per_learner),
        method=METHOD,
        estimand=estimand,
        contrast="ratio",
        diagnostics={
            "mc_se_estimate": tested.estimate * errors[0],
            "mc_se_variance": errors[1],
            "variance": "jackknife",
            "variance_jackknife": tested.variance,
            "n_pairs": ratio_estimates.n_pairs,
            "converged": ratio_estimates.converged,
            "one_class_fits": source.one_class_fits,
            **source.ties,
            **options.interval.diagnostics(shape),
        },
        notes=(
            reporting.ORDER,
            *reporting.shared_notes(question, options, source, converged=ratio_estimates.converged),
            OF_LOGARITHM,
            *options.interval.notes(shape, tested, source.one_class_fits),
        ),
    )


def answer_of_few(
    question: Question,
    options: UStatisticOptions,
    estimates: FewFitsRatio,
    source: LossSource,
    estimand: str,
) -> Answer:
    """The answer by few fits: the variance of the linear part, round by round."""
    linear, (first, other) = estimates.linear, estimates.per_learner
    status, numbers, parts = NO_RATIO, None, {}
    if linear is not None:
        varied = linear.spread > ROUNDING**2
        status = "ok" if varied else IN_PROPORTION
        numbers = (linear.variance, linear.mc_se, linear.df) if varied else (0.0, 0.0, linear.df)
        parts = {
            "variance_of_testing": linear.test_part,
            "variance_of_learning": linear.learning_part,
        }
    if source.identical:
        status = SAME_LOSSES
    tested = _studentised(question.hypothesis, first.mean, other.mean, numbers, status)
    return Answer.of_tested(
        tested,
        few.own_values(estimates.per_learner),
        method=METHOD,
        estimand=estimand,
        contrast="ratio",
        diagnostics={
            "mc_se_estimate": math.nan if linear is None else tested.estimate * linear.mc_se,
            "variance": "few",
            "variance_few": tested.variance,
            **parts,
            "n_pairs": first.n_rounds,
            "converged": options.variance == options.requested_variance,
            "one_class_fits": source.one_class_fits,
            **source.ties,
            "interval": options.interval.name,
        },
        notes=(
            reporting.ORDER,
            *(() if linear is None else few.notes_on_fits(options, linear)),
            *reporting.shared_notes(question, options, source, converged=True),
            OF_LOGARITHM,
            *options.interval.notes(None, tested, source.one_class_fits),
        ),
    )


def _studentised(
    hypothesis: Hypothesis,
    first: float,
    other: float,
    numbers: tuple[float, float, float] | None,
    status: str,
) -> Studentised:
    """The test of the ratio of two means, by variance, Monte-Carlo error and df of its logarithm.

    There are none of these where there is no ratio.
    """
    if numbers is None:
        return studentise(hypothesis, math.nan, math.nan, reference="none", status=status)
    (variance, mc_se, df), ratio, null = numbers, first / other, hypothesis.null_value
    log_scale = studentise(
        replace(hypothesis, null_value=math.log(null)),
        math.log(ratio),
        variance,
        mc_se=mc_se,
        reference="t",
        df=df,
        status=status,
    )
    tested = replace(log_scale, estimate=ratio, null_value=null)
    return by_rule(tested, on_log(ratio, tested.se, df, null)) if status == "ok" else tested


def _status(options: UStatisticOptions, ratio_estimates: RatioEstimates, source: LossSource) -> str:
    """Whether there is a test: "ok", or the reason why not."""
    remedy = reporting.remedy_for(options)
    if source.identical:
        return SAME_LOSSES
    if ratio_estimates.combined is None:
        return NO_RATIO
    log_estimate = ratio_estimates.combined
    if _only_rounding(log_estimate):
        return IN_PROPORTION
    too_few = reporting.too_few_pairs(options, ratio_estimates.n_pairs, remedy)
    if too_few is not None:
        return too_few
    if not _reliable(log_estimate):
        return (
            "too few resamples: the Monte-Carlo standard error of the variance "
            f"({log_estimate.errors['jackknife']:.2g}) is above a quarter of it "
            f"({log_estimate.variances['jackknife']:.2g}); {remedy}"
        )
    return "ok"
