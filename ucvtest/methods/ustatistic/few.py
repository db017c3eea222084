"""The test from few fits: pairs of disjoint learning sets, and the variance that they suffice for.

Where "auto" ends before its own variance is known, the same pairs answer by this one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ucvtest.common.notes import Note
from ucvtest.common.words import arg
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference import quantity
from ucvtest.inference.answer import Answer
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import (
    Studentised,
    studentise,
    variance_table,
)
from ucvtest.methods.ustatistic import estimation, reporting
from ucvtest.methods.ustatistic.estimation import Sampler, UStatisticEstimates
from ucvtest.methods.ustatistic.interval import Interval, never_negative
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.precomputed_splits import GivenPairs
from ucvtest.results.wording import SAME_LOSSES
from ucvtest.stats.few_fits import FewFits, RoundSums
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


@dataclass(frozen=True)
class FewFitsEstimates:
    """A mean loss (difference) from few fits, and that of each of two learners alone."""

    few_fits: FewFits
    per_learner: tuple[FewFits, ...] = ()

    @classmethod
    def of(cls, rounds: RoundSums, *, paired: bool, offset: np.ndarray | None) -> Self:
        """From the rounds of one learner, or of two."""
        if not paired:
            return cls(rounds.combined((1.0,), offset).estimate())
        weights = (1.0, -1.0), (1.0, 0.0), (0.0, 1.0)
        difference, *learner_fits = (
            rounds.combined(learner_weights, offset).estimate() for learner_weights in weights
        )
        return cls(difference, tuple(learner_fits))


def rounds_of(
    sampler: Sampler, options: UStatisticOptions, n_learners: int | None = None
) -> RoundSums | None:
    """The store of rounds for an answer from few fits; None if they cannot give one."""
    splits_or_pairs = options.given_sets
    if splits_or_pairs is None:
        in_rounds = options.n_pairs != "exact" and sampler.sizes.disjoint
    else:
        in_rounds = isinstance(splits_or_pairs, GivenPairs) and splits_or_pairs.n_sets == 1
    if not in_rounds or not (options.variance == "few" or options.may_be_few):
        return None
    known = splits_or_pairs.rounds if isinstance(splits_or_pairs, GivenPairs) else None
    return RoundSums(n_learners or (2 if sampler.source.paired else 1), known)


def estimated(sampler: Sampler, options: UStatisticOptions, rounds: RoundSums) -> FewFitsEstimates:
    """Estimates from the pairs that are asked for, or allowed, or given."""
    sampler = replace(sampler, rounds=rounds)
    if isinstance(options.given_sets, GivenPairs):
        for learning, draw in options.given_sets.parts(estimation.STAGE_CELLS):
            sampler.losses(learning, draw)
    else:
        n_pairs = options.n_pairs_of_few(rounds.n_learners)
        sampler.source.announce_total(2 * rounds.n_learners * n_pairs)
        for size in estimation.in_parts(n_pairs, estimation.most_pairs(sampler.sizes.n_obs)):
            sampler.batch(size, n_sets=1, exchange_every=0)
        if sampler.one_by_one is not None:
            sampler.one_by_one.check_enough()
    return from_rounds(rounds, sampler.source)


def from_rounds(rounds: RoundSums, source: LossSource) -> FewFitsEstimates:
    """The estimates from all rounds that were kept."""
    return FewFitsEstimates.of(rounds, paired=source.paired, offset=source.offset)


def unanswered(
    options: UStatisticOptions, estimates: UStatisticEstimates, source: LossSource
) -> bool:
    """Whether draws ended before the variance that "auto" stands for is known."""
    if source.identical or estimation.only_rounding(estimates.estimates, estimates.variance):
        return False
    is_reliable = estimation.reliable(estimates.estimates, estimates.variance)
    return not is_reliable or reporting.too_few_pairs(options, estimates.n_pairs, "") is not None


def answer_of(
    question: Question,
    options: UStatisticOptions,
    estimates: FewFitsEstimates,
    source: LossSource,
    estimand: str,
) -> Answer:
    """The answer by few fits, except for the settings."""
    few_fits, interval = estimates.few_fits, options.interval.for_few_fits()
    # The shape of the losses is not known.
    shape = Shape(few_fits.n_obs, 0.0, few_fits.df)
    with_interval = interval.applied(
        _studentised(question, few_fits, source, interval), shape, "few"
    )
    return Answer.of_tested(
        with_interval,
        own_values(estimates.per_learner),
        method=reporting.METHOD,
        estimand=estimand,
        diagnostics={
            **diagnostics_of(options, few_fits),
            "one_class_fits": source.one_class_fits,
            **source.ties,
            "interval": interval.name,
        },
        notes=(
            reporting.ORDER,
            *_notes(options, interval, few_fits, source),
            *reporting.shared_notes(question, options, source, converged=True),
            *interval.notes(None, with_interval, source.one_class_fits),
        ),
        tables={"Variances": variance_table([("few", None, with_interval)])},
    )


def _studentised(
    question: Question, few_fits: FewFits, source: LossSource, interval: Interval
) -> Studentised:
    """The test, or the reason why there is none."""
    varied = few_fits.spread > (estimation.ROUNDING * few_fits.mean) ** 2
    status = "ok"
    if source.identical:
        status = SAME_LOSSES
    elif not varied and not interval.answers_without_spread:
        status = reporting.without_spread(question)
    return studentise(
        question.hypothesis,
        few_fits.mean,
        few_fits.variance if varied else 0.0,
        mc_se=few_fits.mc_se if varied else 0.0,
        reference="t",
        df=few_fits.df,
        status=status,
    )


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
        yield reporting.ended_early(options, options.variance, "a quarter")
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
    if source.paired and not metric.counts_errors and never_negative(metric):
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
