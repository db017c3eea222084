"""The AUC from few fits: the pairs of learning sets that are drawn anyway."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from ucvtest.common.notes import Note
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference.answer import Answer
from ucvtest.inference.notes import tie_notes
from ucvtest.inference.studentise import Hypothesis, studentise, variance_table
from ucvtest.kernels.auc_ustatistic.few_fits import RankedRounds, RoundsOfAuc
from ucvtest.kernels.auc_ustatistic.ranked import NoVariance
from ucvtest.kernels.auc_ustatistic.status import no_variance_in_words
from ucvtest.methods.ustatistic.auc.estimation import AucEstimates, Sampler, Sizes
from ucvtest.methods.ustatistic.auc.reporting import FEW_IN_CLASS, few_in_class
from ucvtest.methods.ustatistic.estimation import in_parts
from ucvtest.methods.ustatistic.few import diagnostics_of, fits_in_words, own_values
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.precomputed_splits import GivenSplits
from ucvtest.methods.ustatistic.reporting import ORDER, ended_early
from ucvtest.stats.few_fits import FewFits

NO_SPREAD = 1e-20
"""Variances up to here are rounding."""


@dataclass(frozen=True)
class FewFitsOfAuc:
    """An AUC (difference) from few fits, that of each of two learners, and why it cannot vary."""

    few_fits: FewFits
    per_learner: tuple[FewFits, ...]
    no_variance: NoVariance | None

    @classmethod
    def of(cls, rounds_of_learners: Sequence[RoundsOfAuc], flat: NoVariance) -> Self:
        """From the rounds of one learner, or of two; `flat` if all is ranked equally well."""
        learner_fits = tuple(learner_rounds.estimate() for learner_rounds in rounds_of_learners)
        if len(rounds_of_learners) == 1:
            tested_fits, learner_fits = learner_fits[0], ()
        else:
            tested_fits = (
                rounds_of_learners[0].plus(rounds_of_learners[1].weighted(-1.0)).estimate()
            )
        if math.isnan(tested_fits.mean):
            return cls(tested_fits, learner_fits, NoVariance.NEVER_TOGETHER)
        return cls(
            tested_fits,
            learner_fits,
            _why_flat(rounds_of_learners, flat) if tested_fits.spread <= NO_SPREAD else None,
        )


def _why_flat(rounds_of_learners: Sequence[RoundsOfAuc], flat: NoVariance) -> NoVariance:
    if len(rounds_of_learners) == 2:
        alike = rounds_of_learners[0].equals(rounds_of_learners[1])
        return NoVariance.LEARNERS_ALIKE if alike else NoVariance.DIFFERENCE_ALIKE
    fits = rounds_of_learners[0].fits
    separated = bool((fits == 1).all() or (fits == 0).all())
    return NoVariance.SEPARATED if separated else flat


def rounds_of(
    sampler: Sampler, options: UStatisticOptions, n_learners: int | None = None
) -> RankedRounds | None:
    """The store of rounds for an answer from few fits; None if they cannot give one."""
    sizes = sampler.sizes
    if options.n_pairs == "exact" or not sizes.in_rounds:
        return None
    if options.variance != "few" and not options.may_be_few:
        return None
    number = n_learners or (2 if sampler.source.paired else 1)
    return RankedRounds(sizes.rounds, number, sizes.n_scored * sizes.n_scores)


def estimated(sampler: Sampler, options: UStatisticOptions, rounds: RankedRounds) -> FewFitsOfAuc:
    """Estimates from the pairs that are asked for, or allowed, or given."""
    evaluate_pairs(replace(sampler, rounds=rounds), options, rounds.n_learners)
    return from_rounds(rounds, sampler.sizes)


def evaluate_pairs(sampler: Sampler, options: UStatisticOptions, n_learners: int) -> None:
    """Evaluate the pairs that are asked for, or allowed, or given, for the sampler's rounds."""
    splits_or_pairs = options.given_sets
    if isinstance(splits_or_pairs, GivenSplits):
        for rows, draw in splits_or_pairs.parts(sampler.rows_of_part):
            sampler.scored(splits_or_pairs.design.learning[rows], draw)
    else:
        n_pairs = options.n_pairs_of_few(n_learners)
        sampler.source.announce_total(2 * n_learners * n_pairs)
        for size in in_parts(n_pairs, sampler.rows_of_part // 2):
            sampler.scored(sampler.drawn(size), sampler.sizes.draws(size))
        if sampler.one_by_one is not None:
            sampler.one_by_one.check_enough()


def from_rounds(rounds: RankedRounds, sizes: Sizes) -> FewFitsOfAuc:
    """The estimates from all rounds that were kept."""
    return FewFitsOfAuc.of(rounds.ranked(), sizes.flat)


def unanswered(options: UStatisticOptions, estimates: AucEstimates) -> bool:
    """Whether draws ended before the variance that "auto" stands for is known."""
    return estimates.no_variance is None and estimates.estimate.is_rough(options.variance)


def answer_of(
    hypothesis: Hypothesis,
    sizes: Sizes,
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
    sizes: Sizes, options: UStatisticOptions, few_fits: FewFits, source: LossSource
) -> Iterator[str]:
    """Notes on the number of fits behind the variance, the reason, and cases not studied."""
    yield ORDER
    if options.variance != "few":
        yield ended_early(options, sizes.chosen("auto"), "half")
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


def _notes_on_coverage(sizes: Sizes, *, paired: bool) -> Iterator[str]:
    """The known coverage of the intervals."""
    yield coverage_in_words(paired=paired)
    if sizes.flat is not NoVariance.OBSERVATIONS_ALIKE:
        yield Note(
            "Coverage of intervals from few fits has only been studied for AUCs of two classes "
            "without groups, not for samples like this one.",
            "Intervals from few fits have not been studied for samples like this one.",
        )
