"""The ratio of two mean losses from few fits: its logarithm, with the variance of few fits.

The variance is that of the losses L1/U1 - L2/U2, the linear part of log(U1/U2), round by round.
"""

import math
from dataclasses import replace
from typing import Any

from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference.answer import Answer
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import Hypothesis, Studentised, by_rule, studentise
from ucvtest.methods.ustatistic import few, ratio, reporting
from ucvtest.methods.ustatistic.estimates import ROUNDING, FewFitsRatio
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.results.wording import SAME_LOSSES
from ucvtest.stats.intervals import LogT


def answer_of(
    question: Question,
    options: UStatisticOptions,
    few_ratio: FewFitsRatio,
    source: LossSource,
    estimand: str,
) -> Answer:
    """The answer about a ratio by few fits, except for the settings."""
    tested = _studentised(question.hypothesis, few_ratio, source)
    linear = few_ratio.linear
    variance_diagnostics: dict[str, Any] = {}
    if linear is not None:
        variance_diagnostics = {
            "variance_of_testing": linear.test_part,
            "variance_of_learning": linear.learning_part,
        }
    return Answer.of_tested(
        tested,
        few.own_values(few_ratio.per_learner),
        method=ratio.METHOD,
        estimand=estimand,
        contrast="ratio",
        diagnostics={
            "mc_se_estimate": math.nan if linear is None else tested.estimate * linear.mc_se,
            "variance": "few",
            "variance_few": tested.variance,
            **variance_diagnostics,
            "n_pairs": few_ratio.per_learner[0].n_rounds,
            "converged": options.variance == options.requested_variance,
            "one_class_fits": source.one_class_fits,
            **source.ties,
            "interval": options.interval.name,
        },
        notes=(
            reporting.ORDER,
            *(() if linear is None else few.notes_on_fits(options, linear)),
            *reporting.shared_notes(question, options, source, converged=True),
            ratio.OF_LOGARITHM,
            *options.interval.notes(None, tested, source.one_class_fits),
        ),
    )


def _studentised(
    hypothesis: Hypothesis, few_ratio: FewFitsRatio, source: LossSource
) -> Studentised:
    """The test on the log scale, or the reason why there is none."""
    linear = few_ratio.linear
    if linear is None:
        status = SAME_LOSSES if source.identical else ratio.NO_RATIO
        return studentise(hypothesis, math.nan, math.nan, reference="none", status=status)
    value, null = (
        few_ratio.per_learner[0].mean / few_ratio.per_learner[1].mean,
        hypothesis.null_value,
    )
    varied = linear.spread > ROUNDING**2
    status = SAME_LOSSES if source.identical else "ok" if varied else ratio.IN_PROPORTION
    on_log_scale = studentise(
        replace(hypothesis, null_value=math.log(null)),
        math.log(value),
        linear.variance if varied else 0.0,
        mc_se=linear.mc_se if varied else 0.0,
        reference="t",
        df=linear.df,
        status=status,
    )
    tested = replace(on_log_scale, estimate=value, null_value=null)
    return by_rule(tested, LogT(value, tested.se, linear.df, null)) if status == "ok" else tested
