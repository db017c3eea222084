"""The AUC of two classes from few fits: the pairs of learning sets that are drawn anyway."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference.notes import tie_notes
from ucvtest.inference.studentise import (
    Hypothesis,
    PerLearnerEstimates,
    studentise,
    variance_table,
)
from ucvtest.kernels.auc_ustatistic.few_fits import PlacedRounds, RankedRounds
from ucvtest.kernels.auc_ustatistic.ranked import NoVariance
from ucvtest.kernels.auc_ustatistic.status import no_variance_in_words
from ucvtest.kernels.ustatistic.few_fits import FewFits
from ucvtest.methods.ustatistic.auc.class_sizes import ClassSizes
from ucvtest.methods.ustatistic.auc.estimation import Found, Sampler
from ucvtest.methods.ustatistic.auc.reporting import FEW_IN_CLASS
from ucvtest.methods.ustatistic.estimation import in_parts
from ucvtest.methods.ustatistic.options import Options
from ucvtest.methods.ustatistic.precomputed_splits import GivenSplits
from ucvtest.methods.ustatistic.reporting import ORDER

__all__ = ["FewFitsOfAuc", "estimated", "from_rounds", "parts", "rounds_of", "unanswered"]

NO_SPREAD = 1e-20
"""Variances up to here are rounding."""


@dataclass(frozen=True)
class FewFitsOfAuc:
    """An AUC (difference) from few fits, that of each of two learners, and why it cannot vary."""

    found: FewFits
    own: tuple[FewFits, ...]
    why: NoVariance | None

    @classmethod
    def of(cls, each: list[PlacedRounds]) -> Self:
        """From the rounds of one learner, or of two."""
        own = tuple(one.estimate() for one in each)
        if len(each) == 1:
            return cls(own[0], (), _why_flat(each[0]) if own[0].spread <= NO_SPREAD else None)
        first, other = each
        found = first.plus(other.weighted(-1.0)).estimate()
        why = None
        if found.spread <= NO_SPREAD:
            pairs = zip(first.placed, other.placed, strict=True)
            alike = all(np.array_equal(x, y) for x, y in pairs)
            why = NoVariance.LEARNERS_ALIKE if alike else NoVariance.DIFFERENCE_ALIKE
        return cls(found, own, why)


def _why_flat(rounds: PlacedRounds) -> NoVariance:
    fits = rounds.fits
    separated = bool((fits == 1).all() or (fits == 0).all())
    return NoVariance.SEPARATED if separated else NoVariance.OBSERVATIONS_ALIKE


def rounds_of(sampler: Sampler, options: Options) -> RankedRounds | None:
    """Where to keep rounds for an answer from few fits; None where they cannot give one."""
    sizes = sampler.sizes
    if options.n_pairs == "exact" or not sizes.in_rounds:
        return None
    if options.variance != "few" and not options.may_be_few:
        return None
    return RankedRounds(sizes.members, 2 if sampler.source.paired else 1)


def estimated(sampler: Sampler, options: Options) -> FewFitsOfAuc:
    """Estimates from the pairs that are asked for, or allowed, or given."""
    rounds = rounds_of(sampler, options)
    assert rounds is not None
    given = options.given
    if isinstance(given, GivenSplits):
        for rows, draw in given.parts(sampler.rows_of_part):
            learning = given.design.learning[rows]
            rounds.add(sampler.scores(learning), learning, draw)
    else:
        n_pairs = options.n_pairs_of_few(rounds.n_learners)
        sampler.source.announce_total(2 * rounds.n_learners * n_pairs)
        for size in in_parts(n_pairs, sampler.rows_of_part // 2):
            learning = sampler.drawn(size)
            rounds.add(sampler.scores(learning), learning, sampler.sizes.draws(size))
    return from_rounds(rounds)


def from_rounds(rounds: RankedRounds) -> FewFitsOfAuc:
    """The estimates from all rounds that were kept."""
    return FewFitsOfAuc.of(rounds.placed())


def unanswered(options: Options, found: Found) -> bool:
    """Whether draws ended before the variance that "auto" stands for is known."""
    return found.why is None and found.estimate.is_rough(options.variance)


def parts(
    hypothesis: Hypothesis,
    sizes: ClassSizes,
    options: Options,
    estimates: FewFitsOfAuc,
    source: LossSource,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """What a `TestResult` says, but for the question and the fits."""
    found, why = estimates.found, estimates.why
    one = studentise(
        hypothesis,
        found.mean,
        found.variance if why is None else 0.0,
        mc_se=found.mc_se if why is None else 0.0,
        reference="t",
        df=found.df,
        status="ok" if why is None else no_variance_in_words(why),
    )
    chosen = options.interval.applied(one, None, "few")
    own = PerLearnerEstimates()
    if estimates.own:
        names = (settings["learner"], settings["other"])
        own = PerLearnerEstimates.of_variances(
            names, [(each.mean, each.se**2) for each in estimates.own]
        )
    return {
        **vars(chosen),
        "method": "U-statistic test of the AUC",
        "diagnostics": {
            "mc_se_estimate": found.mc_se,
            "variance": "few",
            "variance_few": found.variance,
            "variance_of_testing": found.test_part,
            "variance_of_learning": found.learning_part,
            "n_pairs": found.n_rounds,
            "converged": options.variance == options.asked,
            **sizes.counts,
            **source.counts,
            **options.interval.diagnostics(None),
            **own.diagnostics,
        },
        "notes": (
            *_notes(sizes, options, found, source),
            *options.interval.notes(None, chosen),
        ),
        "tables": {**own.tables, "Variances": variance_table([("few", None, chosen)])},
        "better": "higher",
    }


def _notes(
    sizes: ClassSizes, options: Options, found: FewFits, source: LossSource
) -> Iterator[str]:
    """How many fits the variance rests on, why, and what has not been tried."""
    yield ORDER
    if options.asked == "auto":
        usual = sizes.chosen("auto")
        yield (
            f"The fits ended before the {usual} variance was known to half of itself. The variance "
            "is that of few fits, from the same pairs of learning sets."
        )
    yield (
        f"The variance rests on {found.n_rounds} pairs of disjoint learning sets. What so few fits "
        f"leave open is in the {found.df:.3g} degrees of freedom; more fits make the interval "
        "shorter."
    )
    yield (
        "Coverage of intervals for AUCs from few fits has not been studied yet as that for error "
        "rates has."
    )
    count, in_words = sizes.smallest
    if count < FEW_IN_CLASS:
        yield (
            f"{in_words}: with fewer than {FEW_IN_CLASS} the standard error is rough, and so is "
            "all that rests on it."
        )
    yield from tie_notes(source.ties)
