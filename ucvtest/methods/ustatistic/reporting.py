"""The parts of a result: statistics, status, table, notes and diagnostics."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ucvtest.common.notes import Note
from ucvtest.common.words import arg
from ucvtest.data.sample import Sample
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
from ucvtest.kernels.ustatistic.contrasts import Estimate
from ucvtest.kernels.ustatistic.few import FewFits
from ucvtest.methods.ustatistic import ratio
from ucvtest.methods.ustatistic.estimates import (
    RELIABLE,
    UStatisticEstimates,
    only_rounding,
    reliable,
)
from ucvtest.methods.ustatistic.interval import BY_PAPER, Interval
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.precomputed_splits import GivenSplits
from ucvtest.methods.ustatistic.run import MIN_PAIRS
from ucvtest.methods.ustatistic.sizes import NEED_DISJOINT, VARIANCES
from ucvtest.metrics.base import Metric
from ucvtest.results.wording import SAME_LOSSES, no_spread

ORDER = "Assumes independent observations and learners that do not depend on the order of rows."

METHOD = "U-statistic test of the complete error estimate"
FAR_OUTSIDE, MC_ERRORS_OUTSIDE = 2, 2
"""How many times a bound, and how many Monte-Carlo errors beyond it, the unbiased variance must be
for a note that says what that means."""

REMEDY_PAIRS = "raise n_pairs or, if it is 'auto', max_fits"
FLOORED = (
    "The variance was set conservatively high: four times its Monte-Carlo error or, if the draws "
    "do not determine it at all, the jackknife with their noise. The interval is wider than "
    "necessary; raise n_pairs or, if it is 'auto', max_fits."
)
REMEDY_DRAWS = "use losses of more draws"
REMEDY_SPLITS = "use losses of more splits"


def answer_of(
    question: Question,
    options: UStatisticOptions,
    estimates: UStatisticEstimates,
    source: LossSource,
    estimand: str,
) -> Answer:
    """The answer about a mean loss, except for the settings."""
    tested, interval = _studentised(question, options, estimates, source), options.interval
    with_interval, shape = tested[estimates.variance], estimates.shape
    diagnostics = _diagnostics(estimates, source, _known_variances(question.metric, interval))
    is_ratio = interval.is_ratio
    if is_ratio:
        diagnostics = ratio.of_logarithm(diagnostics, with_interval)
    return Answer.of_tested(
        with_interval,
        own_values(estimates.per_learner, estimates.few_per_learner),
        method=ratio.METHOD if is_ratio else METHOD,
        estimand=estimand,
        contrast="ratio" if is_ratio else "difference",
        diagnostics=diagnostics | interval.diagnostics(shape),
        notes=(
            *_notes(question, options, estimates, source),
            *interval.notes(shape, with_interval, source.one_class_fits),
        ),
        tables={} if is_ratio else {"Variances": _table(estimates, tested)},
    )


def _studentised(
    question: Question,
    options: UStatisticOptions,
    estimates: UStatisticEstimates,
    source: LossSource,
) -> dict[str, Studentised]:
    """The test with each of the variances, or the reason why there is none."""
    estimate, tested = estimates.estimates, {}
    for name in _known_variances(question.metric, options.interval):
        if name not in estimate.variances:
            continue
        status = _status(question, options, estimates, name, identical=source.identical)
        numbers = question.hypothesis, estimate.value, _variance(estimates, name)
        mc_se, normal = estimate.mc_se, name in BY_PAPER
        if options.interval.is_ratio:
            df = estimates.shape.df
            tested[name] = ratio.studentise_ratio(*numbers, mc_se=mc_se, df=df, status=status)
            continue
        studentised = studentise(
            *numbers,
            mc_se=mc_se,
            reference="normal" if normal else "t",
            df=math.nan if normal else question.n_units - 1.0,
            status=status,
        )
        tested[name] = options.interval.applied(studentised, estimates.shape, name)
    return tested


def _variance(estimates: UStatisticEstimates, name: str) -> float:
    """The variance; NaN where zero stands for parts that were estimated below zero."""
    if only_rounding(estimates.estimates, name):
        return 0.0
    return estimates.estimates.variances[name] or math.nan


def _table(
    estimates: UStatisticEstimates, tested: Mapping[str, Studentised]
) -> Mapping[str, tuple[Any, ...]]:
    """The variance that is used, and all others that are precise enough."""
    errors = estimates.estimates.errors
    return variance_table(
        (name, errors[name], studentised)
        for name, studentised in tested.items()
        if name == estimates.variance or _precise(estimates, name)
    )


def _precise(estimates: UStatisticEstimates, name: str) -> bool:
    """Whether the Monte-Carlo error of a variance is small compared with the variance."""
    estimate = estimates.estimates
    small = estimate.errors[name] <= RELIABLE * abs(estimate.variances[name])
    return small or only_rounding(estimate, name)


def _known_variances(metric: Metric, interval: Interval) -> tuple[str, ...]:
    """The variances that there are; of metrics of pairs and ratios, others suppose too much."""
    return ("jackknife",) if metric.compares_pairs or interval.is_ratio else VARIANCES


def _diagnostics(
    estimates: UStatisticEstimates, source: LossSource, known_variances: Sequence[str]
) -> dict[str, Any]:
    """Counts, variances and Monte-Carlo errors behind the result."""
    estimate = estimates.estimates
    values, to_first_order = estimate.variances, len(known_variances) == 1
    precise_variances = {
        f"variance_{name}": quantity.square(values[name])
        for name in (*known_variances, *(() if to_first_order else ("geometric",)))
        if name in values
    }
    diagnostics: dict[str, Any] = {
        "mc_se_estimate": quantity.spread(estimate.mc_se),
        "mc_se_variance": quantity.square(estimate.errors[estimates.variance]),
        "variance": estimates.variance,
        "n_pairs": estimates.n_pairs,
        "converged": estimates.converged,
        "one_class_fits": source.one_class_fits,
        **precise_variances,
        **source.ties,
    }
    if not to_first_order:
        if "unbiased" in values:
            diagnostics["theta_squared"] = quantity.second_moment(estimate.theta_squared)
        if "pair_effects" in values:
            diagnostics["pair_effects"] = quantity.square(values["pair_effects"])
    return diagnostics


def own_values(
    learner_means: Sequence[Estimate], from_few_fits: Sequence[FewFits] = ()
) -> list[tuple[float, float]]:
    """The mean losses of two learners, with variances by the jackknife, or by few fits."""
    values = []
    for place, learner_mean in enumerate(learner_means):
        variance = _own_variance(learner_mean)
        if math.isnan(variance) and from_few_fits:
            variance = from_few_fits[place].se ** 2
        values.append((learner_mean.value, variance))
    return values


def own_value_is_open(learner_means: Sequence[Estimate]) -> bool:
    """Whether resamples are too few for the jackknife of a learner's own value."""
    return any(math.isnan(_own_variance(learner_mean)) for learner_mean in learner_means)


def _own_variance(learner_mean: Estimate) -> float:
    """The jackknife with its Monte-Carlo part; NaN where too few resamples leave it open."""
    if only_rounding(learner_mean, "jackknife"):
        return 0.0
    variance = learner_mean.variances["jackknife"]
    rough = not learner_mean.errors["jackknife"] <= RELIABLE * variance
    return math.nan if rough else variance + learner_mean.mc_se**2


def _notes(
    question: Question,
    options: UStatisticOptions,
    estimates: UStatisticEstimates,
    source: LossSource,
) -> list[str]:
    listed = [
        ORDER,
        *_variance_notes(options),
        *_outside_notes(estimates),
        *_own_notes(estimates),
        *([FLOORED] if estimates.floored else []),
        *shared_notes(question, options, source, converged=estimates.converged),
        *([ratio.OF_LOGARITHM] if options.interval.is_ratio else []),
    ]
    if options.given_sets is not None and not options.interval.is_ratio:
        listed.append(
            "The estimate is not the plain mean of the given losses: their additive part serves "
            "as a control variate, which removes its chance variation between draws and leaves "
            "the expectation as it is."
        )
    return listed


def shared_notes(
    question: Question, options: UStatisticOptions, source: LossSource, *, converged: bool
) -> list[str]:
    """Notes on features, learning sets with one class, ties, and a fit that was stopped."""
    listed = [*_feature_notes(question.sample)]
    if source.one_class_fits:
        log_loss = question.metric.output == "probability"
        listed.append(
            f"{source.one_class_fits} fits had a learning set with a single class and predict it"
            + (", with probability 0 or 1: a wrong one costs 36." if log_loss else ".")
        )
    listed.extend(tie_notes(source.ties))
    listed.extend(max_fits_notes(options, converged=converged))
    return listed


def max_fits_notes(options: UStatisticOptions, *, converged: bool) -> Iterator[str]:
    """The note on a Monte-Carlo error that is larger than asked for."""
    if not converged:
        stopped = f"Stopped at {budget_of(options)} before the Monte-Carlo error fell below tol"
        yield Note(
            f"{stopped} = {options.tol}; it is part of the standard error.",
            "The fits ended early: more of them would make the interval shorter.",
        )


def budget_of(options: UStatisticOptions) -> str:
    """What ended the fits, in words that stand before others."""
    if options.given_sets is not None:
        return "the given learning sets"
    if isinstance(options.n_pairs, int):
        return f"n_pairs = {options.n_pairs}"
    limit = f"max_fits = {options.max_fits}"
    if options.max_seconds is None:
        return limit
    return f"{limit}, which max_seconds = {options.max_seconds:g} allowed,"


def ended_early(options: UStatisticOptions, variance: str) -> Note:
    """The note on why the variance is that of few fits."""
    return Note(
        f"The fits ended at {budget_of(options)} while the Monte-Carlo error of the {variance} "
        "variance was above a quarter of it. The variance for few fits is used instead, from the "
        "same pairs of learning sets.",
        "The fits ended early: more of them would make the interval shorter.",
    )


def without_spread(question: Question, interval: Interval) -> str:
    """The status where the losses, or what compares them, do not vary."""
    if interval.is_ratio:
        return ratio.IN_PROPORTION
    return no_spread(
        "at every observation",
        "use another loss, or other learners",
        paired=question.paired,
        scores=question.metric.greater_is_better,
    )


def _status(
    question: Question,
    options: UStatisticOptions,
    estimates: UStatisticEstimates,
    name: str,
    *,
    identical: bool,
) -> str:
    """Whether a variance gives a test: "ok", or the reason why not."""
    variance, mc_se = estimates.estimates.variances[name], estimates.estimates.errors[name]
    remedy = remedy_for(options)
    if identical:
        return SAME_LOSSES
    if math.isnan(estimates.estimates.value):
        return ratio.NO_RATIO
    if math.isnan(variance):
        return f"the {name} variance could not be estimated: {remedy}"
    if (too_few := too_few_pairs(options, estimates.n_pairs, remedy)) is not None:
        return too_few
    if only_rounding(estimates.estimates, name):
        if options.interval.answers_without_spread:
            return "ok"
        return without_spread(question, options.interval)
    if variance == 0:
        return (
            f"no variance estimate: the losses vary, but both parts of the {name} variance were "
            f"estimated below zero; {remedy}"
        )
    if variance < 0 and name in BY_PAPER:
        other = "midpoint" if "midpoint" in estimates.estimates.variances else "jackknife"
        return (
            f"negative variance estimate ({variance:.3g}, Monte-Carlo standard error "
            f"{mc_se:.2g}), which an unbiased estimate can be at this sample size: "
            f"use {arg('variance', other)}"
        )
    if not reliable(estimates.estimates, name):
        return (
            f"too few resamples: the Monte-Carlo standard error of the variance ({mc_se:.2g}) "
            f"is above a quarter of it ({variance:.2g}); {remedy}"
            + (f", or use {arg('variance', 'jackknife')}" if name in NEED_DISJOINT else "")
        )
    return "ok"


def too_few_pairs(options: UStatisticOptions, n_pairs: int, remedy: str) -> str | None:
    """The status where pairs do not suffice for their own Monte-Carlo error."""
    unit_words = "pairs"
    if isinstance(options.given_sets, GivenSplits):
        n_pairs, unit_words = options.given_sets.n_draws, "draws"
    if n_pairs >= MIN_PAIRS or options.n_pairs == "exact":
        return None
    return (
        f"too few resamples: {n_pairs} {unit_words} are not enough to estimate their Monte-Carlo "
        f"error, which needs {MIN_PAIRS}; {remedy}"
    )


def remedy_for(options: UStatisticOptions) -> str:
    """What to do where there are too few resamples; "exact" leaves none out."""
    if options.n_pairs == "exact":
        return "use more observations"
    if options.given_sets is None:
        return REMEDY_PAIRS
    return REMEDY_SPLITS if isinstance(options.given_sets, GivenSplits) else REMEDY_DRAWS


def _variance_notes(options: UStatisticOptions) -> Iterator[str]:
    """The note on a variance with which the test rejects too often."""
    if options.variance in BY_PAPER:
        yield Note(
            f"With the {options.variance} variance and the normal reference, the test rejects too "
            f"often at small n; {arg('variance', 'midpoint')} keeps its level better.",
            f"With the {options.variance} variance the test rejects too often at small n.",
        )


def _outside_notes(estimates: UStatisticEstimates) -> Iterator[str]:
    """The note on an unbiased variance far beyond the bounds that the clipped one respects."""
    values = estimates.estimates.variances
    if estimates.variance != "clipped":
        return
    unbiased, mc_se = values["unbiased"], estimates.estimates.errors["unbiased"]
    low, high = values["geometric"], values["jackknife"]
    noisy = (
        "it is too noisy at this sample size to be used alone, and clipping moved it to that bound"
    )
    note_start = (
        f"The unbiased variance ({unbiased:.2g}, Monte-Carlo standard error {mc_se:.1g}) is far"
    )
    margin = MC_ERRORS_OUTSIDE * mc_se
    if unbiased > FAR_OUTSIDE * high and unbiased - high > margin:
        yield (
            f"{note_start} above the jackknife ({high:.2g}), which on average is at least the true "
            f"variance: {noisy}. If the true variance is nevertheless larger, the interval is too "
            "short."
        )
    elif unbiased < low / FAR_OUTSIDE and low - unbiased > margin:
        yield (
            f"{note_start} below the lower bound ({low:.2g}) for components falling geometrically "
            f"with their degree: {noisy}. If the true variance is nevertheless smaller, the "
            "interval is longer than necessary."
        )


def own_value_unknown(value: str, more: str = "") -> Note:
    """The note on a standard error in the table of learners that is missing, or of few fits."""
    too_few = f"There are too few resamples for the standard error of {value}"
    error = "the Monte-Carlo error of its square is above a quarter of it"
    return Note(f"{too_few}: {error}.{more}", f"{too_few}.", importance=1)


def _own_notes(estimates: UStatisticEstimates) -> Iterator[str]:
    """Why a learner's own value has no standard error, or that of few fits."""
    if own_value_is_open(estimates.per_learner):
        few = (
            " The table shows the standard error of few fits, from the same pairs of learning sets."
            if estimates.few_per_learner
            else ""
        )
        yield own_value_unknown("a learner's own value", few)


def _feature_notes(sample: Sample | None) -> Iterator[str]:
    if sample is None:
        return
    n_obs, n_features = sample.n_obs, sample.features.shape[1]
    if n_features > n_obs:
        more = f"more features ({n_features}) than observations ({n_obs})"
        yield Note(
            f"With {more} losses can be skewed, and the coverage of the interval can be below its "
            "nominal level.",
            f"With {more} intervals can be too short.",
        )
