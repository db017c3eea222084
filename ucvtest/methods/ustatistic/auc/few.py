"""The AUC from few fits: the pairs of learning sets that are drawn anyway."""

from collections.abc import Iterator

from ucvtest.common.notes import Note
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference.answer import Answer
from ucvtest.inference.notes import tie_notes
from ucvtest.inference.studentise import Hypothesis, studentise, variance_table
from ucvtest.kernels.ustatistic.aucs import NoVariance, no_variance_in_words
from ucvtest.kernels.ustatistic.few import FewFits
from ucvtest.methods.ustatistic.auc.class_sizes import AnySizes
from ucvtest.methods.ustatistic.auc.reporting import FEW_IN_CLASS, few_in_class
from ucvtest.methods.ustatistic.estimates import AucEstimates, FewFitsOfAuc
from ucvtest.methods.ustatistic.few import diagnostics_of, fits_in_words, own_values
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.reporting import ORDER, ended_early

NO_SPREAD = 1e-20
"""Variances up to here are rounding."""


def unanswered(options: UStatisticOptions, estimates: AucEstimates) -> bool:
    """Whether draws ended before the variance that "auto" stands for is known."""
    return estimates.no_variance is None and estimates.estimate.is_rough(options.variance)


def answer_of(
    hypothesis: Hypothesis,
    sizes: AnySizes,
    options: UStatisticOptions,
    estimates: FewFitsOfAuc,
    source: LossSource,
    estimand: str,
) -> Answer:
    """The answer by few fits, except for the settings."""
    few_fits, no_variance = estimates.few_fits, estimates.no_variance
    studentised = studentise(
        hypothesis,
        few_fits.mean,
        few_fits.variance if no_variance is None else 0.0,
        mc_se=few_fits.mc_se if no_variance is None else 0.0,
        reference="t",
        df=few_fits.df,
        status="ok" if no_variance is None else no_variance_in_words(no_variance),
    )
    with_interval = options.interval.applied(studentised, None, "few")
    return Answer.of_tested(
        with_interval,
        own_values(estimates.per_learner),
        method="U-statistic test of the AUC",
        estimand=estimand,
        diagnostics={
            **diagnostics_of(options, few_fits),
            **sizes.counts,
            **source.counts,
            **options.interval.diagnostics(None),
        },
        notes=(
            *_notes(sizes, options, few_fits, source),
            *options.interval.notes(None, with_interval),
        ),
        tables={"Variances": variance_table([("few", None, with_interval)])},
    )


def _notes(
    sizes: AnySizes, options: UStatisticOptions, few_fits: FewFits, source: LossSource
) -> Iterator[str]:
    """Notes on the number of fits behind the variance, the reason, and cases not studied."""
    yield ORDER
    if options.variance != "few":
        yield ended_early(options, sizes.chosen("auto"))
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


def _notes_on_coverage(sizes: AnySizes, *, paired: bool) -> Iterator[str]:
    """The known coverage of the intervals."""
    yield coverage_in_words(paired=paired)
    if sizes.columns(1).flat is not NoVariance.OBSERVATIONS_ALIKE:
        yield Note(
            "Coverage of intervals from few fits has only been studied for AUCs of two classes "
            "without groups, not for samples like this one.",
            "Intervals from few fits have not been studied for samples like this one.",
        )
