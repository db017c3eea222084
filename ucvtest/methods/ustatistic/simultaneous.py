"""Several learners judged together: tests of each, and of pairs, from the same learning sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.common.words import arg, call
from ucvtest.evaluation.kept_predictions import source_of
from ucvtest.evaluation.loss_source import LossSource, SeveralLosses
from ucvtest.evaluation.problem import Problem
from ucvtest.inference.finish import finish
from ucvtest.inference.question import Question
from ucvtest.learners.jitted.regularization_paths import on_paths
from ucvtest.methods.ustatistic import few, simultaneous_losses
from ucvtest.methods.ustatistic.auc import few as auc_few
from ucvtest.methods.ustatistic.auc import simultaneous as simultaneous_aucs
from ucvtest.methods.ustatistic.auc.class_sizes import MAX_OBS_PAIR_EFFECTS, ClassSizes
from ucvtest.methods.ustatistic.auc.estimation import Sampler as AucSampler
from ucvtest.methods.ustatistic.budget import capped, check_budget, few_if_needed, least_fits
from ucvtest.methods.ustatistic.estimation import MIN_PAIRS, Sampler
from ucvtest.methods.ustatistic.interval import Interval
from ucvtest.methods.ustatistic.joint_metrics import JointMetrics, jointly_settled
from ucvtest.methods.ustatistic.learning_sets import LearningSets
from ucvtest.methods.ustatistic.one_by_one import OneByOne
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.precomputed_splits import GivenPairs
from ucvtest.methods.ustatistic.result import METHOD_NAME, answer_from, one_by_one
from ucvtest.methods.ustatistic.simultaneous_few import (
    COPULA,
    COPULA_OF_AUCS,
    JointFewAucs,
    JointFewEstimates,
)
from ucvtest.methods.ustatistic.sizes import Sizes
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.few_fits import LEAST_ROUNDS

JOINT_VARIANCES = ("midpoint", "jackknife", "few")
"""Variances whose sums are linear in the losses, so that the variances of all differences are
known."""

MOST_BYTES = 2**31
"""Most memory of the effects of pairs of observations."""

Places = tuple[int, ...]
"""Of one learner, or of two that are compared."""


class LearningSetTest(Protocol):
    """A test about one learner or two over all learning sets of one size."""

    @property
    def question(self) -> Question:
        """The question of the test."""

    @property
    def learning_sets(self) -> LearningSets:
        """The learning sets that the estimand is about."""

    def fit_options(self, **options: Any) -> UStatisticOptions:
        """The options of `fit`, validated."""


@dataclass(frozen=True, eq=False)
class JoinedTest:
    """One test of a joint run: what it asks, and the places of its learners among all."""

    question: Question
    learning_sets: LearningSets
    options: UStatisticOptions
    places: Places


class EstimatesOfAll(Protocol):
    """The joint estimates of all learners."""

    @property
    def covariance(self) -> np.ndarray:
        """Positive semidefinite, (L, L)."""

    @property
    def df(self) -> float:
        """The smallest number of degrees of freedom of a difference."""

    def of(self, places: Places, options: UStatisticOptions) -> Any:
        """The estimates of one learner, or of the difference of two."""

    def standard_errors(self) -> np.ndarray:
        """Of all differences, (L, L), with their Monte-Carlo part."""

    def statistics(self, interval: Interval) -> np.ndarray | None:
        """All differences (L, L) in the form for intervals; None if intervals are symmetric."""


@dataclass(frozen=True, eq=False)
class JointRun:
    """Tests of each of several learners, by its name, and of pairs of them, from the same fits."""

    tests: Mapping[Any, JoinedTest]
    names: tuple[str, ...]
    sizes: Sizes | ClassSizes

    @classmethod
    def of(
        cls,
        tests: Mapping[Any, LearningSetTest],
        names: Sequence[str],
        options: Mapping[str, Any],
    ) -> Self:
        """From tests by a learner's name or two, with the options of `fit`, if they can be one."""
        first_test = next(iter(tests.values()))
        if options.get("max_seconds") is not None:
            raise ValueError(
                f"{arg('max_seconds')} of a test is not for {arg('correction', 'simultaneous')}, "
                f"which fits all learners together: pass it to {call('compare')}, or use "
                f"{arg('max_fits')}"
            )
        sizes = _joint_sizes(first_test.learning_sets)
        if any(
            hypothesis_test.learning_sets.contrast == "ratio" for hypothesis_test in tests.values()
        ):
            raise ValueError(f"{arg('correction', 'simultaneous')} is not for ratios: use 'holm'")
        clusters = first_test.question.clusters
        if clusters is not None and first_test.question.metric.linearised:
            raise ValueError(
                f"{arg('correction', 'simultaneous')} is not for metrics of clusters, in which all "
                "rows have the same weight: use 'holm'"
            )
        if clusters is not None and clusters.offset is not None:
            raise ValueError(
                f"{arg('correction', 'simultaneous')} is not for {arg('group_weight', 'row')}: use "
                "'group', or 'holm'"
            )
        if first_test.question.worth:
            raise ValueError(
                f"{arg('correction', 'simultaneous')} is not for weights in the loss: use weights "
                f"for 'fit' alone, or {arg('correction', 'holm')}"
            )
        places = {name: learner_index for learner_index, name in enumerate(names)}
        joined = {
            key: JoinedTest(
                hypothesis_test.question,
                hypothesis_test.learning_sets,
                hypothesis_test.fit_options(**options),
                (places[key],) if isinstance(key, str) else tuple(places[name] for name in key),
            )
            for key, hypothesis_test in tests.items()
        }
        for test in joined.values():
            _check_options(test.options, first_test.question.n_units, len(names))
        if options.get("max_fits") is None:
            joined = _with_default_budget(joined, len(names))
        run = cls(joined, tuple(names), sizes)
        first = next(iter(joined.values()))
        if first.options.given_sets is None:
            check_budget(first.learning_sets, first.options, len(run.names), jointly=True)
        return run

    @property
    def least_fits_of_each(self) -> int:
        """Fits of each learner without which there is no answer."""
        first_test, n_learners = next(iter(self.tests.values())), len(self.names)
        needed_fits = least_fits(
            first_test.learning_sets, first_test.options, n_learners, jointly=True
        )
        return needed_fits // n_learners

    @property
    def max_fits(self) -> int:
        """Fits of all learners that there may be."""
        return next(iter(self.tests.values())).options.max_fits

    def within(self, fits_of_each: int) -> Self:
        """The same with this limit on the fits of each learner."""
        most_fits = fits_of_each * len(self.names)
        tests = {
            key: replace(test, options=capped(test.options, most_fits))
            for key, test in self.tests.items()
        }
        return replace(self, tests=tests)

    def fitted(
        self, problem: Problem, execution: Execution
    ) -> tuple[dict[Any, TestResult], JointEstimates]:
        """The results from fits of learners that are ready, and what joins them."""
        sources = [
            source_of(replace(problem, learners={name: learner}), execution)
            for name, learner in on_paths(problem.learners).items()
        ]
        return self._results(sources, execution.generator, execution.seed)

    def on_losses(self) -> tuple[dict[Any, TestResult], JointEstimates]:
        """The same from the losses that the tests are about: of clusters, where there are any."""
        questions = [self.tests[name].question for name in self.names]
        sources = [question.losses(question.execution()) for question in questions]
        return self._results(sources, np.random.default_rng(0), None)

    def _results(
        self, sources: Sequence[LossSource], generator: np.random.Generator, seed: int | None
    ) -> tuple[dict[Any, TestResult], JointEstimates]:
        options = next(
            joined_test.options
            for joined_test in self.tests.values()
            if len(joined_test.places) == 2
        )

        def estimate(
            sources: Sequence[LossSource],
            generator: np.random.Generator,
            as_few: bool | None = None,
        ) -> tuple[SeveralLosses, EstimatesOfAll]:
            source = SeveralLosses(sources)
            return source, self._estimates(source, options, generator, as_few)

        metrics: JointMetrics | None = None
        if options.interval.metric.linearised:
            n_obs = next(iter(self.tests.values())).question.n_obs
            metrics = jointly_settled(sources, generator, estimate, n_obs)
            source, estimates = metrics.source, metrics.mean_estimates
        else:
            source, estimates = estimate(sources, generator)
        results = {
            key: finish(
                test.question,
                answer_from(
                    test.question,
                    test.learning_sets,
                    test.options,
                    metrics.of(test.places, test.options)
                    if metrics is not None
                    else estimates.of(test.places, test.options),
                    source.of(test.places),
                    seed,
                ),
                METHOD_NAME,
            )
            for key, test in self.tests.items()
        }
        if isinstance(estimates, JointFewEstimates):
            copula_note = COPULA_OF_AUCS if isinstance(estimates, JointFewAucs) else COPULA
            results = {
                key: replace(result, notes=(*result.notes, copula_note))
                for key, result in results.items()
            }
        statistics = estimates.statistics(options.interval)
        metric = next(iter(self.tests.values())).question.metric
        if statistics is not None and metric.units is not None:
            statistics = statistics * np.sign(metric.units.slope) + 0.0
        joint_estimates = JointEstimates(
            own={name: results[name] for name in self.names},
            se=metric.unit * estimates.standard_errors(),
            covariance=metric.unit**2 * estimates.covariance,
            df=estimates.df,
            seed=0 if seed is None else seed,
            statistics=statistics,
        )
        return results, joint_estimates

    def _estimates(
        self,
        source: SeveralLosses,
        options: UStatisticOptions,
        generator: np.random.Generator,
        as_few: bool | None,
    ) -> EstimatesOfAll:
        n_learners = len(self.names)
        sets = next(iter(self.tests.values())).learning_sets
        options = few_if_needed(sets, options, n_learners, jointly=True)
        if isinstance(self.sizes, ClassSizes):
            return self._of_aucs(AucSampler(self.sizes, source, generator), options)
        sampler = Sampler(self.sizes, source, generator)
        rounds = few.rounds_of(sampler, options, n_learners)

        def estimated(pairs: OneByOne | None) -> EstimatesOfAll:
            fitting = replace(sampler, one_by_one=pairs, rounds=rounds)
            return self._of_losses(fitting, options, as_few)

        if rounds is None or not (source.one_by_one and options.interval.metric.is_mean):
            return estimated(None)
        pairs = OneByOne(source, rounds, several=True)
        return one_by_one(pairs, estimated, lambda: JointFewEstimates.of_losses(rounds), None)

    def _of_losses(
        self, sampler: Sampler, options: UStatisticOptions, as_few: bool | None
    ) -> EstimatesOfAll:
        """Of mean losses."""
        n_learners, given_sets, rounds = len(self.names), options.given_sets, sampler.rounds
        short = (
            isinstance(given_sets, GivenPairs) and LEAST_ROUNDS <= given_sets.n_pairs < MIN_PAIRS
        )
        if rounds is not None and (options.variance == "few" or short):
            simultaneous_losses.evaluate_pairs(sampler, options, n_learners)
            if sampler.one_by_one is not None:
                sampler.one_by_one.check_enough()
            return JointFewEstimates.of_losses(rounds)
        # One test that needs them is enough.
        pair_effects = any(
            joined_test.options.variance == "midpoint"
            or joined_test.options.interval.name == "stabilised"
            for joined_test in self.tests.values()
        )
        estimates = simultaneous_losses.estimated(sampler, options, n_learners, pair_effects)
        if sampler.one_by_one is not None:
            estimates = replace(estimates, n_pairs=estimates.n_pairs - sampler.one_by_one.n_failed)
        if rounds is None or not rounds.enough:
            return estimates
        as_few = not estimates.known if as_few is None else as_few
        return JointFewEstimates.of_losses(rounds) if as_few else estimates

    def _of_aucs(self, sampler: AucSampler, options: UStatisticOptions) -> EstimatesOfAll:
        """Of AUCs of two classes."""
        n_learners, given_sets, sizes = len(self.names), options.given_sets, sampler.sizes
        rounds = auc_few.rounds_of(sampler, options, n_learners)
        if rounds is None:
            return simultaneous_aucs.estimated(sampler, options)
        n_given = 0 if given_sets is None else given_sets.design.n_resamples
        short = 2 * LEAST_ROUNDS <= n_given < sizes.rows_for_variances

        def from_rounds() -> EstimatesOfAll:
            return JointFewAucs.of_scores(rounds, sizes.flat)

        def estimated(pairs: OneByOne | None) -> EstimatesOfAll:
            fitting = replace(sampler, one_by_one=pairs, rounds=rounds)
            if options.variance == "few" or short:
                auc_few.evaluate_pairs(fitting, options, n_learners)
                return from_rounds()
            estimates = simultaneous_aucs.estimated(fitting, options)
            return estimates if estimates.known else from_rounds()

        if not sampler.source.one_by_one:
            return estimated(None)
        pairs = OneByOne(sampler.source, rounds, several=True)
        return one_by_one(pairs, estimated, from_rounds, None)


def _with_default_budget(tests: Mapping[Any, JoinedTest], n_learners: int) -> dict[Any, JoinedTest]:
    """For the variance of few fits as many of all learners as of those of one test."""
    pairs = min(
        joined_test.options.max_fits // (2 * len(joined_test.places))
        for joined_test in tests.values()
    )
    most_fits = 2 * n_learners * pairs
    return {
        key: replace(joined_test, options=replace(joined_test.options, max_fits=most_fits))
        if joined_test.options.variance == "few" and joined_test.options.given_sets is None
        else joined_test
        for key, joined_test in tests.items()
    }


def _joint_sizes(learning_sets: LearningSets) -> Sizes | ClassSizes:
    """The sizes of learning sets, if several learners can be judged together on them."""
    sizes = learning_sets.sizes
    if isinstance(sizes, Sizes):
        return sizes
    if not isinstance(sizes, ClassSizes):
        raise ValueError(
            f"{arg('correction', 'simultaneous')} is not for the AUC of several classes, or of "
            "clusters with rows of both: use 'holm'"
        )
    if sizes.singles_only:
        raise ValueError(
            f"{arg('correction', 'simultaneous')} with {arg('loss', 'auc')} needs n <= "
            f"{MAX_OBS_PAIR_EFFECTS}, got n = {sizes.n_obs}: use 'holm'"
        )
    return sizes


def _check_options(options: UStatisticOptions, n_obs: int, n_learners: int) -> None:
    """Refuse requests without a joint form, before the first fit."""
    if options.n_pairs == "exact":
        raise ValueError(
            f"{arg('correction', 'simultaneous')} needs random learning sets, but {arg('n_pairs')} "
            "is 'exact': leave it out"
        )
    if options.variance not in JOINT_VARIANCES:
        raise ValueError(
            f"{arg('correction', 'simultaneous')} has no {arg('variance', options.variance)}: use "
            "'midpoint' or 'jackknife' or 'few'"
        )
    needed_bytes = 8 * 8 * n_learners * n_obs**2
    if (
        options.variance == "midpoint"
        and options.interval.metric.is_mean
        and needed_bytes > MOST_BYTES
    ):
        raise ValueError(
            f"the effects of pairs of {n_obs} observations for {n_learners} learners take "
            f"{needed_bytes / 1e9:.3g} GB of memory: use {arg('variance', 'jackknife')}, or fewer "
            "learners"
        )
