"""The result of an AUC: statistics, status, tables, notes and diagnostics."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ucvtest.common.notes import Note
from ucvtest.common.words import call
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference.answer import Answer
from ucvtest.inference.notes import tie_notes
from ucvtest.inference.studentise import (
    Hypothesis,
    Studentised,
    studentise,
    variance_table,
)
from ucvtest.kernels.ustatistic.aucs import AucEstimate, no_variance_in_words, too_rough
from ucvtest.methods.ustatistic.auc_sizes import AucSizes
from ucvtest.methods.ustatistic.estimates import AucEstimates
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.reporting import (
    ORDER,
    REMEDY_PAIRS,
    max_fits_notes,
    own_value_unknown,
)

FEW_IN_CLASS = 8
"""With fewer observations of a class than this, intervals are rough."""

REMEDY_LOSSES = "use scores of more splits"


def answer_of(
    hypothesis: Hypothesis,
    sizes: AucSizes,
    options: UStatisticOptions,
    estimates: AucEstimates,
    source: LossSource,
    estimand: str,
) -> Answer:
    """The answer about an AUC, except for the settings."""
    tested = _studentised(hypothesis, sizes, options, estimates)
    table = variance_table(
        (name, estimates.mc_se(name), studentised) for name, studentised in tested.items()
    )
    # The AUCs of two learners, with the variance of the same name.
    own = [
        (learner_auc.auc, _own_variance(learner_auc, options.variance))
        for learner_auc in estimates.per_learner
    ]
    return Answer.of_tested(
        tested[options.variance],
        own,
        method="U-statistic test of the AUC",
        estimand=estimand,
        diagnostics=_diagnostics(sizes, options, estimates, source)
        | options.interval.diagnostics(None),
        notes=(
            *_notes(hypothesis, sizes, options, estimates, source),
            *options.interval.notes(None, tested[options.variance]),
        ),
        tables={"Variances": table},
    )


def _studentised(
    hypothesis: Hypothesis, sizes: AucSizes, options: UStatisticOptions, estimates: AucEstimates
) -> dict[str, Studentised]:
    """The test with each of the variances, or the reason why there is none."""
    tested = {}
    for name in sizes.variances:
        studentised = studentise(
            hypothesis,
            estimates.estimate.auc,
            estimates.variance(name),
            mc_se=estimates.estimate.mc_se_estimate,
            reference="t",
            df=estimates.estimate.df,
            status=_status(sizes, options, estimates, name),
        )
        tested[name] = options.interval.applied(studentised, None, name)
    return tested


def _status(sizes: AucSizes, options: UStatisticOptions, estimates: AucEstimates, name: str) -> str:
    """Whether a variance gives a test: "ok", or the reason why not."""
    remedy = REMEDY_PAIRS if options.given_sets is None else REMEDY_LOSSES
    if estimates.no_variance is not None:
        return no_variance_in_words(estimates.no_variance)
    if math.isnan(estimates.variance(name)):
        return (
            f"too few resamples: {estimates.n_rows} learning sets are not enough for the variance, "
            f"which needs {sizes.rows_for_variances} of them, drawn at least 10 times; {remedy}"
        )
    if estimates.estimate.is_rough(name):
        return too_rough(estimates.estimate, name, remedy)
    return "ok"


def _own_variance(learner_auc: AucEstimate, name: str) -> float:
    """Standard errors with their Monte-Carlo part.

    0 if all is ranked the same, NaN if too rough.
    """
    value = learner_auc.values[name]
    if math.isnan(value):
        return 0.0 if learner_auc.jackknife == learner_auc.jackknife else math.nan
    return math.nan if learner_auc.is_rough(name) else value + learner_auc.mc_se_estimate**2


def _diagnostics(
    sizes: AucSizes, options: UStatisticOptions, estimates: AucEstimates, source: LossSource
) -> dict[str, Any]:
    """Counts, variances, influence values and Monte-Carlo errors behind the result."""
    estimate = estimates.estimate
    influence = np.empty(sizes.n_obs)
    for members, values in zip(sizes.members, estimate.u, strict=True):
        influence[members] = values
    return {
        "mc_se_estimate": estimate.mc_se_estimate,
        "mc_se_variance": estimates.mc_se(options.variance),
        "variance": options.variance,
        "n_pairs": estimates.n_rows // 2,
        "converged": estimates.converged,
        **sizes.counts,
        **{f"variance_{name}": estimates.variance(name) for name in sizes.variances},
        "pair_effects": estimate.pair_effects,
        "influence": influence,
        **source.counts,
    }


def few_in_class(in_words: str) -> Note:
    """The note on the smallest class."""
    return Note(
        f"{in_words}: with fewer than {FEW_IN_CLASS} the standard error is rough, and so are "
        "interval and p-value.",
        f"{in_words}: interval and p-value are rough.",
    )


def _notes(
    hypothesis: Hypothesis,
    sizes: AucSizes,
    options: UStatisticOptions,
    estimates: AucEstimates,
    source: LossSource,
) -> Iterator[str]:
    yield ORDER
    count, in_words = sizes.smallest
    if count < FEW_IN_CLASS:
        yield few_in_class(in_words)
    if not sizes.paired:
        halved_units = "the groups" if sizes.rankings else "a class"
        yield (
            f"Learning sets contain more than half of {halved_units}: the variance is the "
            "jackknife, which is too large rather than too small on average."
        )
    if not source.paired and hypothesis.null_value == 0.5 and sizes.of_two_classes:
        yield (
            "A permutation test answers better whether an AUC is above 1/2: "
            f"{call('LeavePairOutTest')} has an exact one."
        )
    if any(
        math.isnan(_own_variance(learner_auc, options.variance))
        for learner_auc in estimates.per_learner
    ):
        yield own_value_unknown("a learner's own AUC")
    yield from tie_notes(source.ties)
    yield from max_fits_notes(options, converged=estimates.converged)
