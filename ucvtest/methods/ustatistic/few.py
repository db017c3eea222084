"""The test from few fits: pairs of disjoint learning sets, and the variance that they suffice for.

Where "auto" ends before its own variance is known, the same pairs answer by this one.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ucvtest.common.notes import Note
from ucvtest.common.words import arg
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference import quantity
from ucvtest.inference.answer import Answer
from ucvtest.inference.notes import tie_notes
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import (
    Studentised,
    studentise,
    variance_table,
)
from ucvtest.kernels.ustatistic.aucs import NoVariance, no_variance_in_words
from ucvtest.kernels.ustatistic.few import FewFits
from ucvtest.methods.ustatistic import ratio, reporting
from ucvtest.methods.ustatistic.auc.reporting import FEW_IN_CLASS, few_in_class
from ucvtest.methods.ustatistic.auc_sizes import AucSizes
from ucvtest.methods.ustatistic.estimates import (
    ROUNDING,
    AucEstimates,
    FewFitsEstimates,
    UStatisticEstimates,
    only_rounding,
    reliable,
)
from ucvtest.methods.ustatistic.interval import Interval, never_negative
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.sizes import Sizes
from ucvtest.results.wording import SAME_LOSSES
from ucvtest.stats.pivots import Shape

NOTABLE_SHARE = 0.5
"""Least share of the jackknife's variance, known not to be noise, for a note. In simulations, 2% of
samples have this share with 20 fits of each learner, and half of the samples of `held_spam`, n =
200."""

NOTABLE_SHARE_OF_ONE = 0.25
"""Least share of the difference between fits of a pair, explained by one observation, for a
note."""

LEAST_TRIED = 40
"""Least number of observations in the study of few fits on held-out problems."""


def unanswered(
    options: UStatisticOptions, estimates: UStatisticEstimates, source: LossSource
) -> bool:
    """Whether draws ended before the variance that "auto" stands for is known."""
    estimate = estimates.estimates
    if source.identical or math.isnan(estimate.value):
        return False
    if only_rounding(estimate, estimates.variance):
        return False
    is_reliable = reliable(estimate, estimates.variance)
    return not is_reliable or reporting.too_few_pairs(options, estimates.n_pairs, "") is not None


def auc_unanswered(options: UStatisticOptions, estimates: AucEstimates) -> bool:
    """The same of an AUC."""
    return estimates.no_variance is None and estimates.estimate.is_rough(options.variance)


def answer_of(
    question: Question,
    sizes: Sizes | AucSizes,
    options: UStatisticOptions,
    estimates: FewFitsEstimates,
    source: LossSource,
    estimand: str,
) -> Answer:
    """The answer by few fits, except for the settings."""
    few_fits, of_auc = estimates.few_fits, not isinstance(sizes, Sizes)
    if isinstance(sizes, Sizes):
        interval = options.interval.for_few_fits()
        method = ratio.METHOD if interval.is_ratio else reporting.METHOD
        # The shape of the losses is not known.
        shape = Shape(few_fits.n_obs, 0.0, few_fits.df)
        counts = {"one_class_fits": source.one_class_fits, **source.ties, "interval": interval.name}
        notes = [
            *_notes(options, interval, few_fits, source),
            *reporting.shared_notes(question, options, source, converged=True),
            *([ratio.OF_LOGARITHM] if interval.is_ratio else []),
        ]
    else:
        interval, method, shape = options.interval, "U-statistic test of the AUC", None
        counts = {**sizes.counts, **source.counts, **interval.diagnostics(None)}
        notes = [*_auc_notes(sizes, options, few_fits, source)]
    tested, diagnostics = (
        _studentised(question, estimates, source, interval),
        diagnostics_of(options, few_fits),
    )
    if interval.is_ratio:
        diagnostics = ratio.of_logarithm(diagnostics, tested)
    else:
        tested = interval.applied(tested, shape, "few")
    return Answer.of_tested(
        tested,
        own_values(estimates.per_learner),
        method=method,
        estimand=estimand,
        contrast="ratio" if interval.is_ratio else "difference",
        diagnostics={**diagnostics, **counts},
        notes=(
            reporting.ORDER,
            *notes,
            *interval.notes(None, tested, 0 if of_auc else source.one_class_fits),
        ),
        tables={} if interval.is_ratio else {"Variances": variance_table([("few", None, tested)])},
    )


def _studentised(
    question: Question, estimates: FewFitsEstimates, source: LossSource, interval: Interval
) -> Studentised:
    """The test, or the reason why there is none."""
    few_fits, of_auc = estimates.few_fits, question.metric.ranks_pairs
    # A ratio that does not exist has no parts.
    varied = not few_fits.spread <= (ROUNDING * few_fits.mean) ** 2
    status = "ok"
    if of_auc:
        varied = estimates.no_variance is None
        if estimates.no_variance is not None:
            status = no_variance_in_words(estimates.no_variance)
    elif source.identical:
        status = SAME_LOSSES
    elif math.isnan(few_fits.mean):
        status = ratio.NO_RATIO
    elif not varied and not interval.answers_without_spread:
        status = reporting.without_spread(question, interval)
    numbers = question.hypothesis, few_fits.mean, few_fits.variance if varied else 0.0
    mc_se = few_fits.mc_se if varied else 0.0
    if interval.is_ratio:
        return ratio.studentise_ratio(*numbers, mc_se=mc_se, df=few_fits.df, status=status)
    return studentise(*numbers, mc_se=mc_se, reference="t", df=few_fits.df, status=status)


def diagnostics_of(options: UStatisticOptions, few_fits: FewFits) -> dict[str, Any]:
    """The variance with its parts, and the pairs that it is from."""
    return {
        "mc_se_estimate": quantity.spread(few_fits.mc_se),
        "variance": "few",
        "variance_few": quantity.square(few_fits.variance),
        "variance_of_testing": quantity.square(few_fits.test_part),
        "variance_of_learning": quantity.square(few_fits.learning_part),
        "n_pairs": few_fits.n_rounds,
        "share_of_one_observation": few_fits.one_decides,
        "converged": options.variance == options.requested_variance,
    }


def fits_in_words(few_fits: FewFits) -> Iterator[str]:
    """The notes on the number of fits, and on problems that more fits would not solve."""
    yield (
        f"The variance comes from {few_fits.n_rounds} pairs of disjoint learning sets, with "
        f"{few_fits.df:.3g} degrees of freedom. More fits make the interval shorter."
    )
    if few_fits.decided >= NOTABLE_SHARE:
        yield (
            "Pairs of learning sets that differ more are worse, or better. This happens if a few "
            "observations decide which rule is learnt. A sample without such observations, or with "
            "many, would then give another value: more observations solve that, more fits do not."
        )
    if few_fits.one_decides >= NOTABLE_SHARE_OF_ONE:
        yield (
            f"A single observation explains {few_fits.one_decides:.0%} of the difference between "
            "the two fits of a pair: it decides which rule is learnt. A sample without such an "
            "observation, or with several, would give another value: more observations solve "
            "that, more fits do not."
        )


def own_values(fits_of_learners: Sequence[FewFits]) -> list[tuple[float, float]]:
    """The mean loss of each of two learners alone, with its variance."""
    return [(learner_fits.mean, learner_fits.se**2) for learner_fits in fits_of_learners]


def notes_on_fits(options: UStatisticOptions, few_fits: FewFits) -> Iterator[str]:
    """The note on the reason for the variance of few fits."""
    if options.variance != "few":
        yield reporting.ended_early(options, options.variance)
    yield from fits_in_words(few_fits)
    if few_fits.n_obs < LEAST_TRIED:
        yield Note(
            f"With fewer than {LEAST_TRIED} observations ({few_fits.n_obs} here) the coverage of "
            "intervals from few fits has been checked in only six simulated settings of error "
            "rates: 97.5% with 20 and 30 observations.",
            f"With fewer than {LEAST_TRIED} observations few fits were hardly studied.",
        )


def _notes(
    options: UStatisticOptions, interval: Interval, few_fits: FewFits, source: LossSource
) -> Iterator[str]:
    """The same, and the limits of few fits."""
    yield from notes_on_fits(options, few_fits)
    metric = interval.metric
    may_have_tail = never_negative(metric) and not (metric.counts_errors or interval.is_ratio)
    if source.paired and may_have_tail:
        yield Note(
            "Few fits do not show whether the losses have a heavy tail. With 20 fits of each "
            "learner, 95% intervals for differences of squared and log losses contained the true "
            "value in 92% of simulated samples, 79% in the worst setting. Heavy tails affect "
            f"ratios ({arg('contrast', 'ratio')}) less.",
            "Few fits do not show heavy tails of losses: the interval can be too short.",
        )
    if not source.paired and interval.name == "hall_floor":
        yield (
            "Few fits do not show the skewness of the losses. The upper limit allows for a heavy "
            "tail. With 20 fits, 95% intervals contained the true value in 98% of simulated "
            "samples, and in 89% in the worst setting."
        )


def _auc_notes(
    sizes: AucSizes, options: UStatisticOptions, few_fits: FewFits, source: LossSource
) -> Iterator[str]:
    """Notes on the number of fits behind the variance, the reason, and cases not studied."""
    if options.variance != "few":
        yield reporting.ended_early(options, sizes.chosen("auto"))
    yield from fits_in_words(few_fits)
    yield from _notes_on_coverage(sizes, paired=source.paired)
    count, in_words = sizes.smallest
    if count < FEW_IN_CLASS:
        yield few_in_class(in_words)
    yield from tie_notes(source.ties)


def coverage_in_words(*, paired: bool) -> str:
    """The result of the study of few fits (studies/intervals/few_fits_auc.py)."""
    about, mean, lowest = ("differences of AUCs", 96.4, 91.7) if paired else ("AUCs", 95.9, 88.2)
    return (
        f"With 20 fits of each learner, 95% intervals for {about} of two classes contained the "
        f"true value in {mean:.1f}% of simulated samples, and in {lowest:.1f}% in the worst "
        "setting."
    )


def _notes_on_coverage(sizes: AucSizes, *, paired: bool) -> Iterator[str]:
    """The known coverage of the intervals."""
    yield coverage_in_words(paired=paired)
    if sizes.columns(1).flat is not NoVariance.OBSERVATIONS_ALIKE:
        yield Note(
            "Coverage of intervals from few fits has only been studied for AUCs of two classes "
            "without groups, not for samples like this one.",
            "Intervals from few fits have not been studied for samples like this one.",
        )
