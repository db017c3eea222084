"""The ratio of the expected losses of two learners: its logarithm, with the jackknife variance.

log(U1/U2) is studentised with the jackknife of the kernel L1/U1 - L2/U2, its linear part.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ucvtest.designs.draws import all_learning_sets, draw_orders, learning_sets
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference.answer import Answer
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import Hypothesis, Studentised, by_rule, studentise
from ucvtest.kernels.ustatistic.accumulator import Accumulator
from ucvtest.kernels.ustatistic.first_order import (
    Combined,
    FirstOrder,
    FirstOrderEstimate,
    combined,
)
from ucvtest.kernels.ustatistic.monte_carlo_groups import Draws
from ucvtest.kernels.ustatistic.variances import Sums
from ucvtest.methods.ustatistic import reporting
from ucvtest.methods.ustatistic.estimation import (
    ROUNDING,
    STAGE_CELLS,
    Sampler,
    StageSizes,
    in_parts,
    most_pairs,
)
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.precomputed_splits import GivenPairs, GivenSplits
from ucvtest.results.wording import SAME_LOSSES
from ucvtest.stats.pivots import Shape, on_log

METHOD = "U-statistic test of the ratio of complete error estimates"
NO_RATIO = "no ratio: the mean loss of a learner is 0; use the contrast 'difference'"
IN_PROPORTION = "degenerate: the variance estimate is zero, the losses are in proportion"
OF_LOGARITHM = "The standard error and the variance are those of the logarithm of the ratio."


@dataclass(frozen=True)
class RatioEstimates:
    """Mean losses, and what the logarithm of their ratio rests on; None where one is not positive.

    `own` are the learners alone.
    """

    per_learner: tuple[FirstOrderEstimate, ...]
    combined: Combined | None
    n_pairs: int
    converged: bool = True


def estimated(sampler: Sampler, options: UStatisticOptions) -> RatioEstimates:
    """From random pairs of learning sets, from all of them, or from the losses of given ones."""
    if options.n_pairs == "exact":
        return _from_all_sets(sampler)
    sizes = sampler.sizes
    n_draws = StageSizes(sizes, options, 2).fewest
    if options.given_sets is not None:
        n_draws = options.given_sets.n_draws
    # The first order alone: no products of pairs, and no effects of pairs of observations.
    sums = [
        Accumulator(
            sizes.n_obs,
            sizes.learn_size,
            disjoint=False,
            n_draws=n_draws,
            pair_effects=False,
            offset=sampler.source.offset,
        )
        for _ in range(2)
    ]
    n_pairs = 0
    if isinstance(options.given_sets, GivenSplits):
        return _from_splits(sampler, options.given_sets, sums)
    for first, second in _stages(sampler, options):
        for learner_sums, draws in zip(sums, (first, second), strict=True):
            learner_sums.add(draws)
        n_pairs += first[0].shape[0] * first[0].shape[1]
        ratio_estimates = _ratio_estimates([learner_sums.sums() for learner_sums in sums], n_pairs)
        if options.n_pairs == "auto" and _precise(ratio_estimates, options.tol):
            return ratio_estimates
    return replace(ratio_estimates, converged=options.n_pairs != "auto")


def evaluate_pairs(sampler: Sampler, options: UStatisticOptions, n_pairs: int) -> None:
    """Evaluate the given pairs, or this number of random ones, for the sampler."""
    for _ in _stages(sampler, replace(options, n_pairs=n_pairs)):
        pass


def answers(
    options: UStatisticOptions, ratio_estimates: RatioEstimates, source: LossSource
) -> bool:
    """Whether the jackknife variance is known well enough, or nothing could make it so."""
    log_estimate = None if ratio_estimates.combined is None else ratio_estimates.combined.estimate
    if source.identical or log_estimate is None or _only_rounding(log_estimate):
        return True
    return (
        _reliable(log_estimate)
        and reporting.too_few_pairs(options, ratio_estimates.n_pairs, "") is None
    )


def _reliable(log_estimate: FirstOrderEstimate) -> bool:
    """Whether the Monte-Carlo error of the variance is at most a quarter of it."""
    return log_estimate.mc_se_jackknife <= log_estimate.jackknife / 4


def _from_splits(
    sampler: Sampler, given_splits: GivenSplits, sums: list[Accumulator]
) -> RatioEstimates:
    """From all given splits; each is on both sides of a draw, with half the weight."""
    for rows, draw in given_splits.parts(max(2, STAGE_CELLS // sampler.sizes.n_obs)):
        learning = given_splits.design.learning[rows]
        learner_losses, sets = sampler.losses(learning, draw), learning[:, None]
        for learner_sums, losses in zip(sums, learner_losses, strict=True):
            d, weight = losses[:, None], np.full((len(draw), 1), 0.5)
            learner_sums.add((d, d, sets, sets), weight=weight, cluster=draw)
    return _ratio_estimates([learner_sums.sums() for learner_sums in sums], given_splits.n_pairs)


def _stages(sampler: Sampler, options: UStatisticOptions) -> Iterator[tuple[Draws, Draws]]:
    """The draws of each learner, some at a time."""
    sizes, number, given_pairs = sampler.sizes, options.n_pairs, options.given_sets
    if isinstance(given_pairs, GivenPairs):
        n_sets = given_pairs.n_sets
        rows = 2 * n_sets * max(2, STAGE_CELLS // (2 * n_sets * sizes.n_obs))
        for first_row in range(0, given_pairs.design.n_resamples, rows):
            learning = given_pairs.design.learning[first_row : first_row + rows]
            yield _split(sampler, learning, (-1, 2, n_sets, sizes.n_obs))
    elif isinstance(number, int):
        sampler.source.announce_total(4 * number)
        for size in in_parts(number, most_pairs(sizes.n_obs)):
            yield _random_pairs(sampler, size)
    else:
        steps, n_pairs = StageSizes(sizes, options, 2, exchanging=False), 0
        size = steps.first
        while size >= steps.fewest:
            n_pairs += size
            yield _random_pairs(sampler, size)
            size = steps.following(n_pairs, sampler.source.n_fits)


def _random_pairs(sampler: Sampler, n_draws: int) -> tuple[Draws, Draws]:
    """Random pairs of learning sets, disjoint where they can be."""
    sizes = sampler.sizes
    n, g = sizes.n_obs, sizes.learn_size
    orders = draw_orders(sampler.generator, n_draws, n)
    set_pair = learning_sets(orders, 0, g), learning_sets(orders, g - sizes.least_overlap, g)
    return _split(sampler, np.stack(set_pair, axis=1).reshape(-1, n), (-1, 2, 1, n))


def _split(
    sampler: Sampler, learning: np.ndarray, shape: tuple[int, int, int, int]
) -> tuple[Draws, Draws]:
    """Losses of each learner in the order draw, side, set."""
    draw = np.arange(len(learning)) // (shape[1] * shape[2])
    learning, draw, learner_losses = sampler.whole(learning, draw)
    sets, (first, second) = (
        learning.reshape(shape),
        (losses.reshape(shape) for losses in learner_losses),
    )
    return (
        (first[:, 0], first[:, 1], sets[:, 0], sets[:, 1]),
        (second[:, 0], second[:, 1], sets[:, 0], sets[:, 1]),
    )


def _ratio_estimates(sums: Sequence[Sums], n_pairs: int) -> RatioEstimates:
    learner_means = tuple(combined([learner_sums], np.ones(1)).estimate for learner_sums in sums)
    return RatioEstimates(
        learner_means, _log_ratio(learner_means, partial(combined, sums)), n_pairs
    )


def _from_all_sets(sampler: Sampler) -> RatioEstimates:
    """From all learning sets."""
    n, g = sampler.sizes.n_obs, sampler.sizes.learn_size
    sums = FirstOrder(n, g, 2, complete=True, offset=sampler.source.offset)
    for sets in all_learning_sets(n, g, max(1, min(4096, STAGE_CELLS // n))):
        draw = np.zeros(len(sets), dtype=int)
        sums.add(sampler.losses(sets, draw), sets, draw)
    learner_means = sums.estimates()
    return RatioEstimates(
        learner_means, _log_ratio(learner_means, sums.combined), math.comb(n, g) // 2
    )


def _log_ratio(
    learner_means: Sequence[FirstOrderEstimate], weighted: Callable[[np.ndarray], Combined]
) -> Combined | None:
    """The linear part of the logarithm, L1/U1 - L2/U2; none where a mean is not positive."""
    means = np.array([learner_mean.mean for learner_mean in learner_means])
    return weighted(np.array([1.0, -1.0]) / means) if (means > 0).all() else None


def _precise(ratio_estimates: RatioEstimates, tol: float) -> bool:
    """Whether variance and estimate are as precise as "auto" requires."""
    if ratio_estimates.combined is None:
        return True
    log_estimate = ratio_estimates.combined.estimate
    if _only_rounding(log_estimate):
        return True
    if not log_estimate.mc_se_jackknife <= tol * log_estimate.jackknife:
        return False
    return log_estimate.mc_se <= tol * math.sqrt(log_estimate.jackknife)


def _only_rounding(log_estimate: FirstOrderEstimate) -> bool:
    """Whether the variance of the logarithm is zero, up to rounding."""
    return abs(log_estimate.jackknife) <= ROUNDING**2


def answer_of(
    question: Question,
    options: UStatisticOptions,
    ratio_estimates: RatioEstimates,
    source: LossSource,
    estimand: str,
) -> Answer:
    """The answer about a ratio, except for the settings."""
    effects = (
        np.zeros(question.n_units)
        if ratio_estimates.combined is None
        else ratio_estimates.combined.effects
    )
    shape = Shape.of(effects)
    tested = _studentised(question.hypothesis, options, ratio_estimates, source, shape)
    log_estimate = None if ratio_estimates.combined is None else ratio_estimates.combined.estimate
    errors = (
        (math.nan, math.nan)
        if log_estimate is None
        else (log_estimate.mc_se, log_estimate.mc_se_jackknife)
    )
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


def _studentised(
    hypothesis: Hypothesis,
    options: UStatisticOptions,
    ratio_estimates: RatioEstimates,
    source: LossSource,
    shape: Shape,
) -> Studentised:
    first, other = (learner_mean.mean for learner_mean in ratio_estimates.per_learner)
    status = _status(options, ratio_estimates, source)
    if ratio_estimates.combined is None:
        return studentise(hypothesis, math.nan, math.nan, reference="none", status=status)
    log_estimate = ratio_estimates.combined.estimate
    ratio, null = first / other, hypothesis.null_value
    log_scale = studentise(
        replace(hypothesis, null_value=math.log(null)),
        math.log(ratio),
        log_estimate.jackknife,
        mc_se=log_estimate.mc_se,
        reference="t",
        df=shape.df,
        status=status,
    )
    tested = replace(log_scale, estimate=ratio, null_value=null)
    if status != "ok":
        return tested
    return by_rule(tested, on_log(ratio, tested.se, shape.df, null))


def _status(options: UStatisticOptions, ratio_estimates: RatioEstimates, source: LossSource) -> str:
    """Whether there is a test: "ok", or the reason why not."""
    remedy = reporting.remedy_for(options)
    if source.identical:
        return SAME_LOSSES
    if ratio_estimates.combined is None:
        return NO_RATIO
    log_estimate = ratio_estimates.combined.estimate
    if _only_rounding(log_estimate):
        return IN_PROPORTION
    too_few = reporting.too_few_pairs(options, ratio_estimates.n_pairs, remedy)
    if too_few is not None:
        return too_few
    if not _reliable(log_estimate):
        return (
            "too few resamples: the Monte-Carlo standard error of the variance "
            f"({log_estimate.mc_se_jackknife:.2g}) is above a quarter of it "
            f"({log_estimate.jackknife:.2g}); {remedy}"
        )
    return "ok"
