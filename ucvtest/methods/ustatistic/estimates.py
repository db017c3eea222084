"""From learning sets to estimates: of a mean loss, a ratio, an AUC, or a function of means like F1.

All are contrasts of the columns of the same rows, from many fits or from few.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ucvtest.common.memo import memoised
from ucvtest.evaluation.loss_source import LossSource, PrecomputedLosses
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import Studentised
from ucvtest.kernels.ustatistic.aucs import NO_VARIANCE, AucEstimate, NoVariance
from ucvtest.kernels.ustatistic.columns import (
    Columns,
    DifferenceOfLosses,
    MeanLosses,
    Places,
    RatioOfLosses,
)
from ucvtest.kernels.ustatistic.contrasts import Contrast, Estimate, estimate, slope
from ucvtest.kernels.ustatistic.few import Rounds
from ucvtest.kernels.ustatistic.rows import Strata
from ucvtest.methods.ustatistic.budget import Stages
from ucvtest.methods.ustatistic.learning_sets import LearningSets
from ucvtest.methods.ustatistic.metric_columns import OfCells, OfMetric, columns_of_metric
from ucvtest.methods.ustatistic.one_by_one import OneByOne
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.run import MIN_PAIRS, Sampler, Sums, collect
from ucvtest.methods.ustatistic.sizes import NEED_PAIR_EFFECTS, Sizes
from ucvtest.metrics.smooth import Cells
from ucvtest.metrics.working_point import PartsOfTested, WorkingPoint
from ucvtest.results.result import TestResult
from ucvtest.stats.linearised import two_right_two_wrong
from ucvtest.stats.pivots import Pivot, Shape

KEPT_BYTES = 2**28
"""Most memory of the sums that are kept for other metrics of the same predictions."""


@dataclass(frozen=True, eq=False)
class RowsAdded:
    """A confusion metric of one learner with two right and two wrong rows added to n.

    `mean` is that of the linear part there, and `variances` those of this mean, by name, with their
    Monte-Carlo part.
    """

    point: WorkingPoint
    table: np.ndarray
    n: float
    mean: float
    variances: dict[str, float]

    @classmethod
    def of(cls, question: Question, sums: Sums, place: int, variance: float, rounds: Any) -> Self:
        """Of a learner whose metric has this variance, from many fits or from rounds."""
        columns, means = sums.columns, _means(sums, rounds)
        assert isinstance(columns, OfCells)
        table = columns.table(columns.of_learner(place, means, rounds), rounds)
        n = float(question.n_obs)
        if question.clusters is not None:
            # As many as would be independent: no fewer than clusters, no more than rows (Korn and
            # Graubard 1998).
            point = WorkingPoint.at(columns.function, table)
            slopes = point.gradient - float((point.gradient * point.means).sum())
            spread = float((point.means * slopes**2).sum())
            effective = spread / variance if variance > 0 else 0.0
            n = float(min(max(effective, question.n_units), question.n_obs))
        point, contrast = columns.with_rows_added(place, means, n, rounds)
        if rounds is None:
            moved = estimate(sums.effects(), contrast)
            variances = {name: moved.with_mc_part(name) for name in moved.variances}
            return cls(point, table, n, contrast.level, variances)
        few = rounds.estimate(Contrast(contrast.weights, contrast.fixed))
        return cls(point, table, n, few.mean, {"few": few.variance + few.mc_se**2})

    def rule(
        self, studentised: Studentised, lower_bound: float, upper_bound: float, df: float, name: str
    ) -> Pivot:
        """The interval, by the variance of that name.

        The mean of the linearised values is that of the estimate, which has less Monte-Carlo error
        than the table of everything tested.
        """
        n, point = self.n, self.point
        assert isinstance(point.function, Cells)
        added = two_right_two_wrong(point.function.possible(self.table), point.function.only_class)
        n_with_added = n + added.sum()
        slopes = point.gradient - (point.gradient * point.means).sum()
        mean = self.mean - float((point.gradient * point.means).sum())
        centre = point.value + n / n_with_added * (mean - (self.table * slopes).sum())
        variance = max(self.variances[name], 0.0)
        spread = n**2 * variance + n * mean**2 + (added * slopes**2).sum()
        se = math.sqrt(spread) / n_with_added
        null = studentised.null_value
        return Pivot(float(centre), float(se), df, null, least=lower_bound, most=upper_bound)


@dataclass(frozen=True, eq=False)
class Estimates:
    """The estimate of one learner, or of the difference or ratio of two, and how its run went.

    A ratio, whose variances are those of its logarithm, is NaN where a mean loss is not positive.

    `variance` is the one to studentise with, `floored` if it was raised to four times its
    Monte-Carlo error, or to the jackknife with all its noise. `own` are the estimates of each of
    two learners; `own_few` those from few fits, where the jackknife of one is not known.
    `no_variance` is why an AUC cannot vary, if so. `defined` tells of each learner whether its
    metric is not 0/0.
    """

    estimate: Estimate
    variance: str
    n_rows: int
    converged: bool = True
    own: tuple[Estimate, ...] = ()
    own_few: tuple[Estimate, ...] = ()
    floored: bool = False
    slope: tuple[float, float, float] = (math.nan, math.nan, math.nan)
    """The slope of the logarithm of the standard error, its error, and its Monte-Carlo error."""
    no_variance: NoVariance | None = None
    defined: tuple[bool, ...] = ()
    added: RowsAdded | None = None
    bias: float = math.nan
    """The second-order bias of a metric; NaN if it is not known."""

    @classmethod
    def of(
        cls,
        question: Question,
        sums: Sums,
        places: Places,
        variance: str,
        *,
        converged: bool = True,
        sloped: bool = False,
    ) -> Self:
        """From the sums so far; "few" from the rounds that were kept.

        `sloped` if the interval takes the slope of the standard error.
        """
        few, columns, no_variance, of_se = variance == "few", sums.columns, None, cls.slope
        alone = [(place,) for place in places] if len(places) == 2 else []
        first, *own = (sums.estimate(x, few=few) for x in (places, *alone))
        if isinstance(first, AucEstimate):
            # Too few rows leave it open.
            jackknife, least = first.variances["jackknife"], NO_VARIANCE ** (2 if few else 1)
            if (few or sums.has_enough) and not jackknife > least:
                alike, equal = sums.alike, sums.equal_scores
                no_variance = columns.why_without(first.value, alike=alike, equal=equal)
                first = first if few else first.without_variance
        elif sloped and not few:
            of_se = slope(sums.effects(), sums.contrast(places))
        estimates = cls(
            *(first, variance, sums.n_rows, converged, tuple(own)),
            slope=of_se,
            no_variance=no_variance,
        )
        if not isinstance(columns, OfMetric):
            return estimates
        return estimates._of_metric(question, sums, places, sums.rounds if few else None)

    def _of_metric(
        self, question: Question, sums: Sums, places: Places, rounds: Rounds | None
    ) -> Self:
        """What a metric has in addition to the estimates of its linear part."""
        columns, means = sums.columns, _means(sums, rounds)
        assert isinstance(columns, OfMetric)
        defined = tuple(columns.defined(place, means, rounds) for place in places)
        if not all(defined):
            return replace(self, defined=defined)
        name = "few" if self.variance == "few" else "jackknife"
        variances = [own.variances[name] for own in self.own]
        if not variances:
            variances = [self.estimate.with_mc_part(self.variance)]
        first, *other = (
            columns.bias(place, means, question.n_obs, variance)
            for place, variance in zip(places, variances, strict=True)
        )
        bias, added = first - other[0] if other else first, None
        if len(places) == 1 and isinstance(columns, OfCells):
            added = RowsAdded.of(question, sums, places[0], variances[0], rounds)
        return replace(self, defined=defined, added=added, bias=bias)

    @cached_property
    def shape(self) -> Shape:
        """Skewness of the pseudo-values, and how the standard error moves with the estimate."""
        few = self.estimate.few
        if few is not None:
            # The shape of the losses is not known.
            return Shape(few.n_obs, 0.0, few.df)
        # Ratios that do not exist have none.
        return Shape.of(np.nan_to_num(self.estimate.b), *self.slope)

    def own_variance(self, own: Estimate) -> float:
        """Of a learner alone, with its Monte-Carlo part; NaN if too few resamples leave it open.

        It is the jackknife, of an AUC the variance of the same name, or that of few fits.
        """
        name = self.variance if isinstance(own, AucEstimate) or own.few is not None else "jackknife"
        if own.few is None and own.flat(name):
            return 0.0
        return own.with_mc_part(name) if own.few or own.reliable(name) else math.nan

    @property
    def own_is_open(self) -> bool:
        """Whether resamples are too few for the variance of a learner alone."""
        return any(math.isnan(self.own_variance(own)) for own in self.own)


def _means(sums: Sums, rounds: Rounds | None) -> np.ndarray:
    return sums.effects().u if rounds is None else sums.columns.point(rounds)


def too_few_draws(options: UStatisticOptions, n_pairs: int) -> str:
    """How many draws there are, where they do not suffice for their own Monte-Carlo error."""
    number, units, sets = n_pairs, "pairs", options.given_sets
    if sets is not None and not sets.n_sets:
        number, units = sets.n_draws, "draws"
    return "" if number >= MIN_PAIRS or options.n_pairs == "exact" else f"{number} {units}"


def collected(
    stages: Stages,
    source: LossSource,
    sums: Sums,
    generator: np.random.Generator,
    excess: Callable[[], float],
    unanswered: Callable[[], bool],
    in_short: Callable[[], str] | None = None,
) -> tuple[str, bool]:
    """Draw, fit and add up: the variance that there is then, and whether "auto" has converged.

    It is that of few fits where the draws are `unanswered` by another, or interrupted. Pairs whose
    learners are fitted one by one are left out if one of them fails; a progress bar has the answer
    so far `in_short`.
    """
    options, sets, jointly = stages.options, stages.learning_sets, stages.jointly
    rounds, one_by_one = None if sums.rounds is None else sums, None
    in_pairs = sets.in_rounds and options.n_pairs != "exact" and not (jointly and rounds is None)
    if source.one_by_one and in_pairs:
        one_by_one = OneByOne(source, rounds, in_short, sets.sizes.of_rows, jointly)
        source.pairs, sums.apart = one_by_one, rounds is not None
    halves = sets.contrast != "ratio" and not jointly
    sampler = Sampler(sets.sizes, source, generator, halves, one_by_one)
    try:
        converged = collect(sampler, options, sums, stages, excess)
    except KeyboardInterrupt:
        if one_by_one is None or rounds is None or not rounds.enough:
            raise
        one_by_one.interrupted = True
        return "few", True
    if one_by_one is not None:
        one_by_one.check_enough()
    if options.variance != "few" and sums.enough and unanswered():
        return "few", converged
    return options.variance, converged


@dataclass(frozen=True, eq=False)
class PairedRun:
    """Learning sets with the sums over their rows, and the estimates of one learner or of two."""

    question: Question
    learning_sets: LearningSets
    options: UStatisticOptions
    source: LossSource

    @property
    def places(self) -> Places:
        """The learner, or the two that are compared."""
        return (0, 1) if self.source.paired else (0,)

    def estimates(
        self, generator: np.random.Generator, result_of: Callable[[Estimates], TestResult]
    ) -> Estimates:
        """From learning sets that are drawn, enumerated, or given.

        `result_of` is the test that they lead to, for progress bars.
        """
        source, sets, options = self.source, self.learning_sets, self.options
        sums = self._sums()
        known: dict[Any, Sums] | None = None
        if isinstance(source, PrecomputedLosses) and isinstance(sums.columns, OfCells):
            known = memoised(source.parts, _no_sums)
            key = source.places, sums.columns.width, sums.kind
            if key in known:
                sums = known[key].about(sums.columns)
                by_few = options.variance != "few" and sums.enough and self._unanswered(sums)
                return self._of_sums(sums, "few" if by_few else options.variance)
        variance, converged = collected(
            Stages(sets, options, len(self.places)),
            source,
            sums,
            generator,
            lambda: self._excess(sums),
            lambda: self._unanswered(sums),
            lambda: _in_short(result_of(self._of_sums(sums, "few"))),
        )
        if known is not None:
            # Only now, as an interrupt leaves sums of some rows behind.
            n_bytes = sum(kept_sums.n_bytes for kept_sums in (sums, *known.values()))
            if n_bytes <= KEPT_BYTES:
                known[key] = sums
        return self._of_sums(sums, variance, converged=converged)

    def _sums(self) -> Sums:
        """Empty sums of what the estimates need."""
        options, sets, sizes = self.options, self.learning_sets, self.learning_sets.sizes
        of_means = isinstance(sizes, Sizes) and sets.contrast != "ratio"
        compares_pairs, given_sets = self.question.metric.compares_pairs, options.given_sets
        pairs, few = sizes.has_pairs and sets.contrast != "ratio", options.variance == "few"
        in_rounds = options.n_pairs != "exact" and sets.in_rounds
        return Sums.of(
            columns_of(self.question, sets, self.source, len(self.places)),
            many=not few,
            few=in_rounds and (few or options.may_be_few),
            exact=options.n_pairs == "exact",
            pairs=pairs and not compares_pairs,
            needs_pairs=pairs
            and (options.variance in NEED_PAIR_EFFECTS or options.interval.name == "stabilised"),
            products=of_means
            and sizes.disjoint
            and not compares_pairs
            and (given_sets is None or given_sets.n_sets > 0),
            fewest=sets.fewest_rows,
        )

    def _excess(self, sums: Sums) -> float:
        """The Monte-Carlo error as a multiple of what "auto" allows."""
        of_all, options = sums.estimate(self.places), self.options
        if not sums.has_enough:
            return math.inf
        if self.learning_sets.contrast == "ratio":
            if math.isnan(of_all.value):
                return 0.0
            # The Monte-Carlo error and the variance are those of the logarithm.
            of_all = replace(of_all, value=1.0)
        return of_all.excess(options.variance, options.tol)

    def _unanswered(self, sums: Sums) -> bool:
        """Whether draws ended before the variance that "auto" stands for is known."""
        of_all, name = sums.estimate(self.places), self.options.variance
        of_means = isinstance(self.learning_sets.sizes, Sizes)
        if (of_means and self.source.identical) or (sums.has_enough and math.isnan(of_all.value)):
            return False
        if of_all.flat(name):
            return False
        too_few = of_means and too_few_draws(self.options, sums.n_rows // 2)
        return bool(too_few) or not of_all.reliable(name)

    def _of_sums(self, sums: Sums, variance: str, *, converged: bool = True) -> Estimates:
        """By the full variance, or that of few fits."""
        places, sloped = self.places, self.options.interval.name == "stabilised"
        estimates = Estimates.of(
            self.question, sums, places, variance, converged=converged, sloped=sloped
        )
        of_means = isinstance(self.learning_sets.sizes, Sizes)
        if variance == "few" or not (of_means and sums.enough and estimates.own_is_open):
            return estimates
        few_of_each = tuple(sums.estimate((place,), few=True) for place in places)
        return replace(estimates, own_few=few_of_each)


def _no_sums(parts: PartsOfTested) -> dict[Any, Sums]:
    """Sums over the rows of given predictions, which metrics of one confusion matrix share."""
    return {}


def columns_of(
    question: Question,
    learning_sets: LearningSets,
    source: LossSource,
    n_learners: int,
    *,
    jointly: bool = False,
) -> Columns:
    """What the rows of the question consist of; `jointly` each learner has its own column."""
    sizes = learning_sets.sizes
    if not isinstance(sizes, Sizes):
        return sizes.columns(n_learners)
    strata = Strata.single(sizes.n_obs, sizes.learn_size)
    if source.function is not None:
        return columns_of_metric(
            *(strata, n_learners, source.function, source.target, question.clusters),
            largest=source.largest_class,
        )
    of_losses = MeanLosses
    if n_learners == 2 and not jointly:
        of_losses = RatioOfLosses if learning_sets.contrast == "ratio" else DifferenceOfLosses
    return of_losses(strata, n_learners, source.offset)


def _in_short(result: TestResult) -> str:
    """The estimate with its 95% interval, for a progress bar."""
    if result.status != "ok":
        return f"{result.estimate:.3g}"
    low, high = result.conf_int()
    return f"{result.estimate:.3g} [{low:.3g}, {high:.3g}]"
