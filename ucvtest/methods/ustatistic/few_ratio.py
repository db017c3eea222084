"""The ratio of two mean losses from few fits: its logarithm, with the variance of few fits.

The variance is that of the losses L1/U1 - L2/U2, the linear part of log(U1/U2), round by round.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference.answer import Answer
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import Hypothesis, Studentised, by_rule, studentise
from ucvtest.methods.ustatistic import few, ratio, reporting
from ucvtest.methods.ustatistic.estimation import ROUNDING, Sampler
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.results.wording import SAME_LOSSES
from ucvtest.stats.few_fits import FewFits, RoundSums
from ucvtest.stats.pivots import on_log


@dataclass(frozen=True)
class FewFitsRatio:
    """The mean loss of each of two learners, and the linear part of the logarithm of their ratio.

    `linear` is None where a mean loss is not positive.
    """

    per_learner: tuple[FewFits, FewFits]
    linear: FewFits | None

    @classmethod
    def of(cls, rounds: RoundSums, offset: np.ndarray | None) -> Self:
        """From the rounds of two learners."""
        first = rounds.combined((1.0, 0.0), offset).estimate()
        other = rounds.combined((0.0, 1.0), offset).estimate()
        if not (first.mean > 0 and other.mean > 0):
            return cls((first, other), None)
        weights = 1 / first.mean, -1 / other.mean
        return cls((first, other), rounds.combined(weights, offset).estimate())


def estimated(
    sampler: Sampler, options: UStatisticOptions, rounds: RoundSums | None
) -> ratio.RatioEstimates | FewFitsRatio:
    """Estimates with the requested variance, or with the variance that the pairs allow."""
    if rounds is None:
        return ratio.estimated(sampler, options)
    sampler = replace(sampler, rounds=rounds)
    if options.variance == "few":
        ratio.evaluate_pairs(sampler, options, options.n_pairs_of_few(2))
        if sampler.one_by_one is not None:
            sampler.one_by_one.check_enough()
    else:
        ratio_estimates = ratio.estimated(sampler, options)
        if not rounds.enough or ratio.answers(options, ratio_estimates, sampler.source):
            return ratio_estimates
    return FewFitsRatio.of(rounds, sampler.source.offset)


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
    return by_rule(tested, on_log(value, tested.se, linear.df, null)) if status == "ok" else tested
