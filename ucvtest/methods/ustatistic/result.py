"""From learning sets to a result: of a mean loss, of a ratio of two, or of the AUC."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ucvtest.evaluation.kept_predictions import GivenPredictions, KeptPredictions
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference.answer import Answer
from ucvtest.inference.notes import OF_EXPECTED_PARTS, bias_notes
from ucvtest.inference.question import Question
from ucvtest.methods.ustatistic import estimation, few, few_ratio, ratio, reporting
from ucvtest.methods.ustatistic.auc import estimation as auc_estimation
from ucvtest.methods.ustatistic.auc import few as auc_few
from ucvtest.methods.ustatistic.auc import reporting as auc_reporting
from ucvtest.methods.ustatistic.function_of_means import (
    MetricEstimates,
    settled,
    undefined,
    with_rule,
)
from ucvtest.methods.ustatistic.learning_sets import LearningSets
from ucvtest.methods.ustatistic.one_by_one import OneByOne
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.sizes import Sizes
from ucvtest.metrics.ranks import AUC_NAME
from ucvtest.results.result import TestResult
from ucvtest.stats.few_fits import RoundSums

METHOD_NAME = "ustatistic"

Estimates = (
    estimation.UStatisticEstimates
    | few.FewFitsEstimates
    | ratio.RatioEstimates
    | few_ratio.FewFitsRatio
    | auc_estimation.AucEstimates
    | auc_few.FewFitsOfAuc
    | MetricEstimates
)

OfMean = estimation.UStatisticEstimates | few.FewFitsEstimates

AnyEstimates = TypeVar("AnyEstimates")

ResultOf = Callable[[Estimates], TestResult]
"""The result that estimates lead to."""


def estimates_from(
    question: Question,
    learning_sets: LearningSets,
    source: LossSource,
    options: UStatisticOptions,
    generator: np.random.Generator,
    result_of: ResultOf | None = None,
) -> Estimates:
    """Estimates from learning sets that are drawn, enumerated, or given with their losses.

    `result_of` is the test that they lead to, for progress bars.
    """
    sizes = learning_sets.sizes
    if not isinstance(sizes, Sizes):
        return _of_auc(auc_estimation.Sampler(sizes, source, generator), options, result_of)
    if learning_sets.contrast == "ratio":
        return _of_ratio(estimation.Sampler(sizes, source, generator), options, result_of)

    def of_mean(
        source: LossSource, generator: np.random.Generator, as_few: bool | None = None
    ) -> OfMean:
        return _of_mean(estimation.Sampler(sizes, source, generator), options, result_of, as_few)

    if isinstance(source, KeptPredictions | GivenPredictions):
        return settled(question, source, generator, of_mean, _draw_all(sizes, options))
    return of_mean(source, generator)


def _draw_all(
    sizes: Sizes, options: UStatisticOptions
) -> Callable[[LossSource, np.random.Generator], None] | None:
    """How to draw designs that do not depend on the losses; None if they do."""
    if options.variance == "few" or options.n_pairs == "auto" or options.given_sets is not None:
        return None

    def draw_all(source: LossSource, generator: np.random.Generator) -> None:
        estimation.draw_all(estimation.Sampler(sizes, source, generator), options)

    return draw_all


def _of_mean(
    sampler: estimation.Sampler,
    options: UStatisticOptions,
    result_of: ResultOf | None,
    as_few: bool | None,
) -> OfMean:
    """The estimates of a mean loss; `as_few` if it is known whether few fits have to do."""
    source, rounds = sampler.source, few.rounds_of(sampler, options)

    def from_rounds() -> OfMean:
        assert rounds is not None
        return few.from_rounds(rounds, source)

    def estimated(pairs: OneByOne | None) -> OfMean:
        fitting = replace(sampler, one_by_one=pairs)
        if options.variance == "few":
            assert rounds is not None
            return few.estimated(fitting, options, rounds)
        return _estimated(fitting, options, rounds, as_few)

    if not (source.one_by_one and sampler.sizes.disjoint and options.n_pairs != "exact"):
        return estimated(None)
    pairs = OneByOne(source, rounds)
    estimates = one_by_one(pairs, estimated, from_rounds, result_of)
    if isinstance(estimates, estimation.UStatisticEstimates):
        estimates = replace(estimates, n_pairs=estimates.n_pairs - pairs.n_failed)
    return estimates


def _of_ratio(
    sampler: estimation.Sampler, options: UStatisticOptions, result_of: ResultOf | None
) -> ratio.RatioEstimates | few_ratio.FewFitsRatio:
    """The same of a ratio."""
    source, rounds = sampler.source, few.rounds_of(sampler, options)

    def from_rounds() -> few_ratio.FewFitsRatio:
        assert rounds is not None
        return few_ratio.FewFitsRatio.of(rounds, source.offset)

    def estimated(pairs: OneByOne | None) -> ratio.RatioEstimates | few_ratio.FewFitsRatio:
        return few_ratio.estimated(replace(sampler, one_by_one=pairs), options, rounds)

    if not (source.one_by_one and sampler.sizes.disjoint and options.n_pairs != "exact"):
        return estimated(None)
    return one_by_one(OneByOne(source, rounds), estimated, from_rounds, result_of)


def _of_auc(
    sampler: auc_estimation.Sampler, options: UStatisticOptions, result_of: ResultOf | None
) -> auc_estimation.AucEstimates | auc_few.FewFitsOfAuc:
    """The same of the AUC."""
    source, sizes, rounds = sampler.source, sampler.sizes, auc_few.rounds_of(sampler, options)

    def from_rounds() -> auc_few.FewFitsOfAuc:
        assert rounds is not None
        return auc_few.from_rounds(rounds, sizes)

    def estimated(pairs: OneByOne | None) -> auc_estimation.AucEstimates | auc_few.FewFitsOfAuc:
        fitting = replace(sampler, one_by_one=pairs, rounds=rounds)
        if options.variance == "few":
            assert rounds is not None
            return auc_few.estimated(fitting, options, rounds)
        auc_estimates = auc_estimation.estimated(fitting, options)
        if rounds is not None and rounds.enough and auc_few.unanswered(options, auc_estimates):
            return from_rounds()
        return auc_estimates

    if not (source.one_by_one and sizes.in_rounds and options.n_pairs != "exact"):
        return estimated(None)
    pairs = OneByOne(source, rounds, of_rows=sizes.of_rows)
    return one_by_one(pairs, estimated, from_rounds, result_of)


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


def _estimated(
    sampler: estimation.Sampler,
    options: UStatisticOptions,
    rounds: RoundSums | None,
    as_few: bool | None = None,
) -> OfMean:
    """By the full variance, or that of few fits where the draws end before it is known."""
    source = sampler.source
    estimates = estimation.estimated(replace(sampler, rounds=rounds), options)
    if rounds is None or not rounds.enough:
        return estimates
    if as_few is None:
        as_few = few.unanswered(options, estimates, source)
    if as_few:
        return few.from_rounds(rounds, source)
    if reporting.own_value_is_open(estimates.per_learner):
        of_few_fits = few.from_rounds(rounds, source).per_learner
        return replace(estimates, few_per_learner=of_few_fits)
    return estimates


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
    of_metric: MetricEstimates | None = None
    if isinstance(estimates, MetricEstimates):
        of_metric, source = estimates, estimates.source
        options, estimates = with_rule(options, of_metric), of_metric.mean_estimates
    if isinstance(estimates, auc_estimation.AucEstimates):
        assert not isinstance(learning_sets.sizes, Sizes)
        answer = auc_reporting.answer_of(
            *(question.hypothesis, learning_sets.sizes, options, estimates, source, estimand)
        )
    elif isinstance(estimates, auc_few.FewFitsOfAuc):
        assert not isinstance(learning_sets.sizes, Sizes)
        answer = auc_few.answer_of(
            *(question.hypothesis, learning_sets.sizes, options, estimates, source, estimand)
        )
    elif isinstance(estimates, ratio.RatioEstimates):
        answer = ratio.answer_of(question, options, estimates, source, estimand)
    elif isinstance(estimates, few_ratio.FewFitsRatio):
        answer = few_ratio.answer_of(question, options, estimates, source, estimand)
    elif isinstance(estimates, few.FewFitsEstimates):
        answer = few.answer_of(question, options, estimates, source, estimand)
    else:
        answer = reporting.answer_of(question, options, estimates, source, estimand)
    answer = replace(answer, n_fits=source.n_fits, settings=settings)
    if of_metric is not None:
        assert answer.tested is not None
        answer = replace(
            answer,
            diagnostics={**answer.diagnostics, **of_metric.bias_diagnostics},
            notes=(
                *answer.notes,
                OF_EXPECTED_PARTS,
                *bias_notes(of_metric.bias, answer.tested.se),
            ),
        )
        if of_metric.undefined:
            answer = undefined(question, of_metric, answer)
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
