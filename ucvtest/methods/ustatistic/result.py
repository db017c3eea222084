"""From learning sets to a result: of a mean loss, of a ratio of two, or of the AUC."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ucvtest.common.memo import memoised
from ucvtest.evaluation.loss_source import FittedPredictions, GivenPredictions, LossSource
from ucvtest.inference.answer import Answer
from ucvtest.inference.notes import OF_EXPECTED_PARTS, bias_notes
from ucvtest.inference.question import Question
from ucvtest.kernels.ustatistic.columns import (
    Columns,
    DifferenceOfLosses,
    MeanLosses,
    RatioOfLosses,
)
from ucvtest.kernels.ustatistic.rows import Strata
from ucvtest.methods.ustatistic import few, reporting
from ucvtest.methods.ustatistic.auc import reporting as auc_reporting
from ucvtest.methods.ustatistic.estimates import (
    AucEstimates,
    FewFitsEstimates,
    UStatisticEstimates,
    auc_of,
    excess,
    has_enough,
)
from ucvtest.methods.ustatistic.function_of_means import (
    MetricEstimates,
    of_metric,
    undefined,
    with_rule,
)
from ucvtest.methods.ustatistic.learning_sets import LearningSets
from ucvtest.methods.ustatistic.metric_columns import OfCells, OfMetric, columns_of_metric
from ucvtest.methods.ustatistic.one_by_one import OneByOne
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.precomputed_splits import GivenPairs, GivenSplits
from ucvtest.methods.ustatistic.run import (
    Sampler,
    Stages,
    StageSizes,
    StagesOfAuc,
    Sums,
    collect,
)
from ucvtest.methods.ustatistic.sizes import NEED_PAIR_EFFECTS, Sizes
from ucvtest.metrics.ranks import AUC_NAME
from ucvtest.metrics.working_point import PartsOfTested
from ucvtest.results.result import TestResult

METHOD_NAME = "ustatistic"

KEPT_BYTES = 2**28
"""Most memory of the sums that are kept for other metrics of the same predictions."""

OfMean = UStatisticEstimates | FewFitsEstimates

Estimates = OfMean | AucEstimates | MetricEstimates

AnyEstimates = TypeVar("AnyEstimates")

ResultOf = Callable[[Estimates], TestResult]
"""The result that estimates lead to."""


@dataclass(frozen=True, eq=False)
class PairedRun:
    """Learning sets with the sums over their rows, and the estimates of one learner or of two."""

    question: Question
    learning_sets: LearningSets
    options: UStatisticOptions
    source: LossSource

    @property
    def places(self) -> tuple[int, ...]:
        """The learner, or the two that are compared."""
        return (0, 1) if self.source.paired else (0,)

    @property
    def is_ratio(self) -> bool:
        """Whether two learners are compared by the ratio of their mean losses."""
        return self.learning_sets.contrast == "ratio"

    def estimates(
        self, generator: np.random.Generator, result_of: ResultOf | None = None
    ) -> Estimates:
        """From learning sets that are drawn, enumerated, or given.

        `result_of` is the test that they lead to, for progress bars.
        """
        options, source, sizes = self.options, self.source, self.learning_sets.sizes
        sums = self._sums()
        sampler = Sampler(sizes, source, generator, halves=not self.is_ratio)

        def estimated(pairs: OneByOne | None) -> Estimates:
            sums.apart = pairs is not None and sums.rounds is not None
            fitting = replace(sampler, one_by_one=pairs)
            converged = collect(fitting, options, sums, self._stages(), lambda: self._excess(sums))
            return of_sums(sums, pairs, converged=converged)

        def of_sums(sums: Sums, pairs: OneByOne | None = None, *, converged: bool) -> Estimates:
            if options.variance == "few":
                if pairs is not None:
                    pairs.check_enough()
                return self._of_few(sums)
            return self._of_many(sums, converged=converged)

        in_rounds = sizes.in_rounds and options.n_pairs != "exact"
        if isinstance(source, GivenPredictions) and isinstance(sums.columns, OfCells):
            known = memoised(source.parts, _no_sums)
            key = source.places, sums.columns.width, sums.kind
            if key in known:
                return of_sums(known[key].about(sums.columns), converged=True)
            if sums.n_bytes + sum(kept_sums.n_bytes for kept_sums in known.values()) <= KEPT_BYTES:
                known[key] = sums
        if not (source.one_by_one and in_rounds):
            return estimated(None)
        rounds = sums if sums.rounds is not None else None
        pairs = OneByOne(source, rounds, of_rows=sizes.of_rows)
        return one_by_one(pairs, estimated, lambda: self._of_few(sums), result_of)

    def _sums(self) -> Sums:
        """Empty sums of what the estimates need."""
        options, sizes = self.options, self.learning_sets.sizes
        columns = columns_of(self.question, self.learning_sets, self.source, len(self.places))
        exact, given_sets = options.n_pairs == "exact", options.given_sets
        few_too = options.variance == "few" or options.may_be_few
        of_means = isinstance(sizes, Sizes) and not self.is_ratio
        compares_pairs = self.question.metric.compares_pairs
        pairs = sizes.has_pairs and not self.is_ratio
        return Sums.of(
            columns,
            many=options.variance != "few",
            few=few_too and not exact and rounds_are_there(self.learning_sets, options),
            exact=exact,
            pairs=pairs and not compares_pairs,
            needs_pairs=pairs
            and (options.variance in NEED_PAIR_EFFECTS or options.interval.name == "stabilised"),
            products=of_means
            and sizes.disjoint
            and not compares_pairs
            and not isinstance(given_sets, GivenSplits),
        )

    def _stages(self) -> Stages:
        sizes, options, n_learners = self.learning_sets.sizes, self.options, len(self.places)
        if isinstance(sizes, Sizes):
            return StageSizes(sizes, options, n_learners, exchanging=not self.is_ratio)
        return StagesOfAuc(sizes, options, n_learners)

    def _excess(self, sums: Sums) -> float:
        """The Monte-Carlo error as a multiple of what "auto" allows."""
        options, sizes = self.options, self.learning_sets.sizes
        if not isinstance(sizes, Sizes):
            if not has_enough(sums, sizes):
                return math.inf
            return auc_of(sums, self.places).excess(options.variance, options.tol)
        estimate = sums.estimate(self.places)
        if not self.is_ratio:
            return excess(estimate, options.variance, options.tol)
        if math.isnan(estimate.value):
            return 0.0
        # The Monte-Carlo error and the variance are those of the logarithm.
        return excess(replace(estimate, value=1.0), options.variance, options.tol)

    def _of_many(self, sums: Sums, *, converged: bool) -> Estimates:
        """By the full variance, or that of few fits where the draws end before it is known."""
        options, sizes, places = self.options, self.learning_sets.sizes, self.places
        if not isinstance(sizes, Sizes):
            aucs = AucEstimates.of(sums, sizes, places, converged=converged)
            by_few = sums.enough and few.auc_unanswered(options, aucs)
            return self._of_few(sums) if by_few else aucs
        of_mean = UStatisticEstimates.of(sums, places, options.variance, converged=converged)
        if sums.enough:
            if few.unanswered(options, of_mean, self.source):
                return self._of_few(sums)
            if reporting.own_value_is_open(of_mean.per_learner):
                of_few_fits = FewFitsEstimates.of(sums, places).per_learner
                of_mean = replace(of_mean, few_per_learner=of_few_fits)
        return self._with_metric(sums, of_mean)

    def _of_few(self, sums: Sums) -> Estimates:
        """From the rounds that were kept."""
        if not isinstance(self.learning_sets.sizes, Sizes):
            return FewFitsEstimates.of(sums, self.places)
        return self._with_metric(sums, FewFitsEstimates.of(sums, self.places))

    def _with_metric(self, sums: Sums, of_mean: OfMean) -> Estimates:
        if not isinstance(sums.columns, OfMetric):
            return of_mean
        return of_metric(self.question, sums, of_mean, self.places)


def _no_sums(parts: PartsOfTested) -> dict[Any, Sums]:
    """Sums over the rows of given predictions, which metrics of one confusion matrix share."""
    return {}


def rounds_are_there(learning_sets: LearningSets, options: UStatisticOptions) -> bool:
    """Whether there are pairs of disjoint learning sets, which few fits need."""
    given_sets = options.given_sets
    if given_sets is None or not isinstance(learning_sets.sizes, Sizes):
        return learning_sets.sizes.in_rounds
    return isinstance(given_sets, GivenPairs) and given_sets.n_sets == 1


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
    if isinstance(source, FittedPredictions | GivenPredictions):
        return columns_of_metric(
            *(strata, n_learners, source.function, source.target, question.clusters),
            largest=source.largest_class,
        )
    of_losses = MeanLosses
    if n_learners == 2 and not jointly:
        of_losses = RatioOfLosses if learning_sets.contrast == "ratio" else DifferenceOfLosses
    return of_losses(strata, n_learners, source.offset)


def one_by_one(
    pairs: OneByOne,
    estimated: Callable[[OneByOne], AnyEstimates],
    from_rounds: Callable[[], AnyEstimates],
    result_of: Callable[[AnyEstimates], TestResult] | None,
) -> AnyEstimates:
    """Estimates without pairs on which a learner fails, and the handling of an interrupt."""
    if result_of is not None:
        pairs.answer = lambda: _in_short(result_of(from_rounds()))
    pairs.source.pairs = pairs
    try:
        estimates = estimated(pairs)
    except KeyboardInterrupt:
        if pairs.rounds is None or not pairs.rounds.enough:
            raise
        pairs.interrupted = True
        return from_rounds()
    pairs.check_enough()
    return estimates


def _in_short(result: TestResult) -> str:
    """The estimate with its 95% interval, for a progress bar."""
    if result.status != "ok":
        return f"{result.estimate:.3g}"
    low, high = result.conf_int()
    return f"{result.estimate:.3g} [{low:.3g}, {high:.3g}]"


def answer_from(
    question: Question,
    learning_sets: LearningSets,
    options: UStatisticOptions,
    estimates: Estimates,
    source: LossSource,
    seed: int | None,
) -> Answer:
    """The answer that estimates lead to."""
    settings = _settings(question, learning_sets, options, seed)
    estimand = learning_sets.estimand(question)
    metric: MetricEstimates | None = None
    if isinstance(estimates, MetricEstimates):
        metric = estimates
        options, estimates = with_rule(options, metric), metric.mean_estimates
    if isinstance(estimates, AucEstimates):
        assert not isinstance(learning_sets.sizes, Sizes)
        answer = auc_reporting.answer_of(
            *(question.hypothesis, learning_sets.sizes, options, estimates, source, estimand)
        )
    elif isinstance(estimates, FewFitsEstimates):
        answer = few.answer_of(
            *(question, learning_sets.sizes, options, estimates, source, estimand)
        )
    else:
        answer = reporting.answer_of(question, options, estimates, source, estimand)
    answer = replace(answer, n_fits=source.n_fits, settings=settings)
    if metric is not None:
        assert answer.tested is not None
        answer = replace(
            answer,
            diagnostics={**answer.diagnostics, **metric.bias_diagnostics},
            notes=(
                *answer.notes,
                OF_EXPECTED_PARTS,
                *bias_notes(metric.bias, answer.tested.se),
            ),
        )
        if metric.undefined:
            answer = undefined(question, metric, answer)
    return answer if source.pairs is None else _with_pairs(answer, source.pairs, options, source)


def _with_pairs(
    answer: Answer, pairs: OneByOne, options: UStatisticOptions, source: LossSource
) -> Answer:
    """The answer, with pairs that were left out, and with the interrupt that ended them."""
    tested, notes = answer.tested, (*answer.notes, *pairs.notes)
    diagnostics = {**answer.diagnostics, "n_failed_pairs": pairs.n_failed}
    assert tested is not None
    if pairs.interrupted:
        learners, number = 2 if source.paired else 1, options.n_pairs
        if options.variance == "few":
            number = options.n_pairs_of_few(learners)
        planned = f"at most {options.max_fits}"
        if isinstance(number, int):
            planned = str(2 * learners * number)
        # Of several learners the options bound the fits of all.
        of_all = "" if pairs.several else f" of {planned}"
        interrupted_text = f"interrupted after {source.n_fits}{of_all} fits"
        if tested.status == "ok":
            tested = replace(tested, status=interrupted_text)
        notes = (
            *notes,
            f"{interrupted_text[0].upper()}{interrupted_text[1:]}: the answer uses the finished "
            "fits.",
        )
        diagnostics["interrupted"] = True
    return replace(answer, tested=tested, notes=notes, diagnostics=diagnostics)


def _settings(
    question: Question, learning_sets: LearningSets, options: UStatisticOptions, seed: int | None
) -> dict[str, Any]:
    """The settings that repeat the test."""
    sizes = learning_sets.sizes
    settings: dict[str, Any] = {}
    if question.sample is not None:
        settings["pos_label"] = learning_sets.positive(question)
    settings |= options.settings(learning_sets.learn_size, seed)
    if learning_sets.contrast != "difference":
        settings["contrast"] = learning_sets.contrast
    if not isinstance(sizes, Sizes):
        settings |= {"loss": AUC_NAME, "learn_size_by_class": sizes.user_sizes}
    return settings
