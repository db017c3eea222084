"""From learning sets to a result: of a mean loss, of a ratio of two, or of the AUC."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference.positive_class import about_positive
from ucvtest.inference.question import Question
from ucvtest.methods.ustatistic import estimation, few, few_ratio, ratio, reporting
from ucvtest.methods.ustatistic.auc import estimation as auc_estimation
from ucvtest.methods.ustatistic.auc import few as auc_few
from ucvtest.methods.ustatistic.auc import reporting as auc_reporting
from ucvtest.methods.ustatistic.learning_sets import LearningSets
from ucvtest.methods.ustatistic.options import Options
from ucvtest.methods.ustatistic.sizes import Sizes
from ucvtest.metrics.ranks import AUC_NAME
from ucvtest.results.result import TestResult

__all__ = ["METHOD_NAME", "Estimates", "estimates_from", "result_from"]

METHOD_NAME = "ustatistic"

Estimates = (
    estimation.UStatisticEstimates
    | few.FewFitsEstimates
    | ratio.RatioEstimates
    | few_ratio.FewFitsRatio
    | auc_estimation.Found
    | auc_few.FewFitsOfAuc
)


def estimates_from(
    learning_sets: LearningSets,
    source: LossSource,
    options: Options,
    generator: np.random.Generator,
) -> Estimates:
    """Estimates from learning sets that are drawn, enumerated, or given with their losses."""
    sizes = learning_sets.sizes
    if not isinstance(sizes, Sizes):
        return _of_auc(auc_estimation.Sampler(sizes, source, generator), options)
    sampler = estimation.Sampler(sizes, source, generator)
    if learning_sets.contrast == "ratio":
        return few_ratio.estimated(sampler, options)
    if options.variance == "few":
        return few.estimated(sampler, options)
    rounds = few.rounds_of(sampler, options)
    found = estimation.estimated(replace(sampler, rounds=rounds), options)
    if rounds is not None and rounds.enough and few.unanswered(options, found, source):
        return few.from_rounds(rounds, source)
    return found


def _of_auc(sampler: auc_estimation.Sampler, options: Options) -> Estimates:
    """The same of the AUC."""
    if options.variance == "few":
        return auc_few.estimated(sampler, options)
    rounds = auc_few.rounds_of(sampler, options)
    found = auc_estimation.estimated(replace(sampler, rounds=rounds), options)
    if rounds is not None and rounds.enough and auc_few.unanswered(options, found):
        return auc_few.from_rounds(rounds, sampler.sizes)
    return found


def result_from(
    question: Question,
    learning_sets: LearningSets,
    options: Options,
    estimates: Estimates,
    source: LossSource,
    seed: int | None,
) -> TestResult:
    """The test that estimates lead to."""
    settings = _settings(question, learning_sets, options, seed)
    if isinstance(estimates, auc_estimation.Found):
        assert not isinstance(learning_sets.sizes, Sizes)
        parts = auc_reporting.parts(
            *(question.hypothesis, learning_sets.sizes, options, estimates, source, settings)
        )
    elif isinstance(estimates, auc_few.FewFitsOfAuc):
        assert not isinstance(learning_sets.sizes, Sizes)
        parts = auc_few.parts(
            *(question.hypothesis, learning_sets.sizes, options, estimates, source, settings)
        )
    elif isinstance(estimates, ratio.RatioEstimates):
        parts = ratio.parts(question, options, estimates, source, settings)
    elif isinstance(estimates, few_ratio.FewFitsRatio):
        parts = few_ratio.parts(question, options, estimates, source, settings)
    elif isinstance(estimates, few.FewFitsEstimates):
        parts = few.parts(question, options, estimates, source, settings)
    else:
        parts = reporting.parts(question, options, estimates, source, settings)
    parts["notes"] = (*parts["notes"], *question.reuse_notes)
    result = TestResult(
        **parts,
        estimand=learning_sets.estimand(question),
        n_obs=question.n_obs,
        n_fits=source.n_fits,
        elapsed=math.nan,
        settings=settings,
    )
    # Here, and not in the frame of a fit alone: joint results of several learners have none.
    return about_positive(result, question)


def _settings(
    question: Question, learning_sets: LearningSets, options: Options, seed: int | None
) -> dict[str, Any]:
    """What is needed to repeat the test."""
    sizes = learning_sets.sizes
    settings = question.settings(METHOD_NAME)
    if question.sample is not None:
        settings["pos_label"] = learning_sets.positive(question)
    settings |= options.settings(learning_sets.learn_size, seed)
    if learning_sets.contrast != "difference":
        settings["contrast"] = learning_sets.contrast
    if not isinstance(sizes, Sizes):
        settings |= {"loss": AUC_NAME, "learn_size_by_class": sizes.asked}
    return settings
