"""Several learners judged together: tests of each, and of pairs, from the same learning sets."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.common.words import arg, call
from ucvtest.evaluation.loss_source import FittedLosses, LossSource, SeveralLosses
from ucvtest.evaluation.problem import Problem
from ucvtest.inference.finish import finish
from ucvtest.inference.question import Question
from ucvtest.kernels.ustatistic.aucs import AucEstimate, NoVariance
from ucvtest.kernels.ustatistic.columns import Places
from ucvtest.kernels.ustatistic.contrasts import RELIABLE, ROUNDING, Estimate, covariance, slope
from ucvtest.kernels.ustatistic.few import LEAST_ROUNDS
from ucvtest.learners.jitted.regularization_paths import on_paths
from ucvtest.methods.ustatistic.auc_sizes import MAX_OBS_PAIR_EFFECTS, AucSizes
from ucvtest.methods.ustatistic.budget import Stages
from ucvtest.methods.ustatistic.estimates import Estimates, collected, columns_of
from ucvtest.methods.ustatistic.interval import Interval
from ucvtest.methods.ustatistic.learning_sets import LearningSets
from ucvtest.methods.ustatistic.options import METHOD_NAME, UStatisticOptions
from ucvtest.methods.ustatistic.reporting import answer_of
from ucvtest.methods.ustatistic.run import MIN_PAIRS, Sums
from ucvtest.methods.ustatistic.sizes import Sizes
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.pivots import BoundedScale
from ucvtest.stats.simultaneous import as_normal

JOINT_VARIANCES = ("midpoint", "jackknife", "few")
"""Variances whose sums are linear in the losses, so that the variances of all differences are
known."""

MOST_BYTES = 2**31
"""Most memory of the effects of pairs of observations."""


@dataclass(frozen=True, eq=False)
class JoinedTest:
    """One test of a joint run: what it asks, and the places of its learners among all."""

    question: Question
    learning_sets: LearningSets
    options: UStatisticOptions
    places: Places


JOINED = (
    "Several learners from few fits: each difference has its own degrees of freedom. A normal "
    "copula with the correlation of the observations' effects joins them; the parts due to "
    "learning and drawing are treated as independent between learners."
)

COPULA_OF_AUCS = (
    f"{JOINED} The simultaneous coverage of such intervals has not been studied for AUCs."
)

COPULA = (
    f"{JOINED} With 20 fits of each of six learners, all 95% intervals contained their true values "
    "in 94% of 1200 simulated data sets, and in 92% in the worst setting."
)


@dataclass(frozen=True, eq=False)
class Joined:
    """The joint estimates of all learners, from the sums over the same rows.

    From few fits (`variance` is "few") each difference has its own variance and degrees of freedom.
    A normal copula joins them. The correlation is that of the observations' effects, which n
    observations show for any number of fits. The parts due to learning and drawing are estimated
    from few fits. Their correlations between learners would be overestimated, so these parts are
    treated as independent between learners.
    """

    sums: Sums
    variance: str
    converged: bool = True
    compared: tuple[Places, ...] = ()
    """Pairs that are tested, where they are not all: those with a baseline."""

    @property
    def few(self) -> bool:
        """Whether estimates are from few fits."""
        return self.variance == "few"

    @property
    def n_learners(self) -> int:
        """All learners."""
        return self.sums.columns.n_learners

    @property
    def pairs(self) -> list[Places]:
        """The pairs of learners that are tested, each in one order."""
        return [*self.compared] or list(combinations(range(self.n_learners), 2))

    @cached_property
    def estimates(self) -> dict[Places, Estimate]:
        """The estimates of all pairs."""
        return {pair: self.sums.estimate(pair, few=self.few) for pair in self.pairs}

    @property
    def df(self) -> float:
        """The smallest number of degrees of freedom of a difference.

        Infinite of few fits: errors are joined as normal ones, whatever the df of each difference.
        """
        columns = self.sums.columns
        if self.few:
            return math.inf
        if columns.kind is not AucEstimate:
            return columns.strata.n_units - 1.0
        known = [x.df for x in self.estimates.values() if not x.flat(self.variance)]
        return min((df for df in known if not math.isnan(df)), default=math.nan)

    @cached_property
    def covariance(self) -> np.ndarray:
        """Positive semidefinite, (L, L); of few fits by effects of observations, and own parts."""
        sums, places = self.sums, [(place,) for place in range(self.n_learners)]
        if not self.few:
            return covariance(sums.effects(), [sums.contrast(place) for place in places])
        assert sums.rounds is not None
        alone = [sums.estimate(place, few=True) for place in places]
        # The spread of a learner alone, less the part of the tested units.
        own = np.diag([x.with_mc_part("few") - x.few.test_part for x in alone if x.few])
        contrasts = [sums.columns.of_rounds(place, sums.rounds) for place in places]
        return own + sums.rounds.covariance_of_tests(contrasts)

    def excess(self, tol: float) -> float:
        """The Monte-Carlo error as a multiple of the one that "auto" allows, on average.

        Each variance of a mean loss must be precise enough for an answer.
        """
        name, estimates = self.variance, self.estimates.values()
        if not self.sums.has_enough:
            return math.inf
        if self.sums.columns.kind is AucEstimate:
            return float(np.mean([x.excess(name, tol) for x in estimates]))
        least = np.diag(self.covariance).max() * 1e-12
        errors = [
            max(x.errors[name] / x.variances[name], x.mc_se / math.sqrt(x.variances[name]))
            for x in estimates
            if x.variances[name] > least
        ]
        if max(errors, default=0.0) > RELIABLE:
            return math.inf
        return float(np.mean(errors or [0.0])) / tol

    @property
    def known(self) -> bool:
        """Whether variances that are not zero have a Monte-Carlo error below a quarter of them.

        Of an AUC all of them, of a mean loss most.
        """
        name, of_auc = self.variance, self.sums.columns.kind is AucEstimate
        varying = [
            x
            for x in self.estimates.values()
            if not (x.flat(name) if of_auc else x.variances[name] == x.errors[name] == 0)
        ]
        rough = sum(not x.errors[name] <= RELIABLE * x.variances[name] for x in varying)
        return rough <= (0 if of_auc else len(varying) / 2)

    def of(self, test: JoinedTest) -> Estimates:
        """The estimates of one learner, or of the difference of two."""
        places, sloped = test.places, test.options.interval.name == "stabilised"
        known = test.question, self.sums, places, self.variance
        estimates = Estimates.of(*known, converged=self.converged, sloped=sloped)
        if self.few:
            return estimates
        if estimates.no_variance is not None:
            return replace(estimates, no_variance=NoVariance.NOTHING_VARIES)
        if len(places) == 1:
            return estimates
        return with_floor(estimates, self._squares(estimates.estimate))

    def _squares(self, estimate: Estimate) -> float:
        """The jackknife with all its Monte-Carlo noise."""
        squares = float(self.sums.columns.strata.jackknife_factor @ estimate.b**2)
        return squares if squares > ROUNDING * float(np.diag(self.covariance).max()) else 0.0

    def standard_error(self, places: Places) -> float:
        """Of a difference, with its Monte-Carlo part; NaN if there is none."""
        estimate, name = self.estimates[places], self.variance
        if self.few:
            of_rounding = estimate.variances["jackknife"] <= (ROUNDING * estimate.value) ** 2
            return math.nan if of_rounding else math.sqrt(estimate.with_mc_part(name))
        if isinstance(estimate, AucEstimate) and estimate.flat(name):
            return math.nan
        variance = max(estimate.variances[name], _least(estimate, name, self._squares(estimate)))
        return math.sqrt(variance + estimate.mc_se**2) if variance > 0 else math.nan

    @cached_property
    def standard_errors(self) -> np.ndarray:
        """Of all differences, (L, L): those that are not tested have that of `covariance`."""
        standard_errors = self.of_pairs(self.standard_error)
        if self.compared:
            own = np.diag(self.covariance)
            from_covariance = np.sqrt(np.maximum(own[:, None] + own - 2 * self.covariance, 0.0))
            standard_errors = np.where(self.is_tested, standard_errors, from_covariance)
            np.fill_diagonal(standard_errors, math.nan)
        return standard_errors

    @property
    def is_tested(self) -> np.ndarray:
        """Whether two learners are compared by a test, (L, L)."""
        return ~np.isnan(self.of_pairs(lambda _: 1.0))

    def statistics(self, interval: Interval) -> np.ndarray | None:
        """All differences (L, L) in the form for intervals; None if intervals are symmetric.

        Of few fits they are normal quantiles of the same tail; NaN if they do not exist.
        """
        estimates, se = self.estimates, self.standard_errors
        if self.few:

            def quantile(pair: Places) -> float:
                value, df = estimates[pair].value, estimates[pair].df
                return float(as_normal(value / se[pair], df)) if se[pair] > 0 else math.nan

            return self.of_pairs(quantile, sign=-1)
        if interval.name != "stabilised":
            return None
        slopes = {
            pair: slope(self.sums.effects(), self.sums.contrast(pair))
            if estimates[pair].variances[self.variance] > 0
            else (0.0, 0.0, 0.0)
            for pair in self.pairs
        }
        scale = BoundedScale.of(
            self.of_pairs(lambda pair: slopes[pair][0], sign=-1),
            self.of_pairs(lambda pair: math.hypot(*slopes[pair][1:])),
            se,
        )
        differences = self.of_pairs(lambda pair: estimates[pair].value, sign=-1)
        statistics: np.ndarray = scale.z(differences / se)
        return statistics

    def of_pairs(self, number: Callable[[Places], float], sign: int = 1) -> np.ndarray:
        """A number of each difference (L, L); those of the other order have this sign."""
        numbers = np.full((self.n_learners, self.n_learners), math.nan)
        for first, other in self.pairs:
            numbers[first, other] = number((first, other))
            numbers[other, first] = sign * numbers[first, other]
        return numbers


def with_floor(estimates: Estimates, squares: float) -> Estimates:
    """With a variance that is at least so large that its Monte-Carlo error is a part of it.

    Among several learners some are nearly the same: no number of draws makes the variance of their
    difference precise, and without an answer nothing would be said of all together. Where learners
    differed in too few draws for any product of two groups of them, variance and error are both 0:
    then `squares` stand for it, the jackknife with all its Monte-Carlo noise.
    """
    estimate, name = estimates.estimate, estimates.variance
    value, least = estimate.variances[name], _least(estimate, name, squares)
    if not value < least:
        return estimates
    floored = replace(estimate, variances={**estimate.variances, name: least})
    # What the standard error depends on is unknown as well.
    of_se = estimates.slope if value > 0 else (0.0, *estimates.slope[1:])
    announced = not isinstance(estimate, AucEstimate)
    return replace(estimates, estimate=floored, slope=of_se, floored=announced)


def _least(estimate: Estimate, name: str, squares: float) -> float:
    """The least that a variance is taken for."""
    least = estimate.errors[name] / RELIABLE
    return least if estimate.variances[name] > 0 else max(least, squares)


@dataclass(frozen=True, eq=False)
class JointRun:
    """Tests of each of several learners, by its name, and of pairs of them, from the same fits."""

    tests: Mapping[Any, JoinedTest]
    names: tuple[str, ...]

    @property
    def first(self) -> JoinedTest:
        """One of the tests, which are about the same learning sets."""
        return next(iter(self.tests.values()))

    @property
    def stages(self) -> Stages:
        """How many learning sets are drawn, by the options of this test."""
        return Stages(self.first.learning_sets, self.first.options, len(self.names), jointly=True)

    @classmethod
    def of(
        cls,
        tests: Mapping[Any, Any],
        names: Sequence[str],
        options: Mapping[str, Any],
    ) -> Self:
        """From tests by a learner's name or two, with the options of `fit`, if they can be one."""
        first_test = next(iter(tests.values()))
        question, clusters = first_test.question, first_test.question.clusters
        if options.get("max_seconds") is not None:
            raise ValueError(
                f"{arg('max_seconds')} of a test is not for {arg('correction', 'simultaneous')}, "
                f"which fits all learners together: pass it to {call('compare')}, or use "
                f"{arg('max_fits')}"
            )
        _check_sizes(first_test.learning_sets.sizes)
        if any(test.learning_sets.contrast == "ratio" for test in tests.values()):
            raise ValueError(f"{arg('correction', 'simultaneous')} is not for ratios: use 'holm'")
        if clusters is not None and question.metric.linearised:
            raise ValueError(
                f"{arg('correction', 'simultaneous')} is not for metrics of clusters, in which all "
                "rows have the same weight: use 'holm'"
            )
        if clusters is not None and clusters.offset is not None:
            raise ValueError(
                f"{arg('correction', 'simultaneous')} is not for {arg('group_weight', 'row')}: use "
                "'group', or 'holm'"
            )
        if question.worth:
            raise ValueError(
                f"{arg('correction', 'simultaneous')} is not for weights in the loss: use weights "
                f"for 'fit' alone, or {arg('correction', 'holm')}"
            )
        places = {name: learner_index for learner_index, name in enumerate(names)}
        of_one = dict(options)
        if options.get("interval") == "stabilised" and not question.metric.counts_errors:
            # It is for differences of other losses, and learners alone are not tested.
            of_one["interval"] = "auto"
        joined = {
            key: JoinedTest(
                test.question,
                test.learning_sets,
                test.fit_options(**(of_one if isinstance(key, str) else options)),
                (places[key],) if isinstance(key, str) else tuple(places[name] for name in key),
            )
            for key, test in tests.items()
        }
        for joined_test in joined.values():
            _check_options(joined_test.options, question.n_units, len(names))
        if options.get("max_fits") is None:
            joined = _with_default_budget(joined, len(names))
        run = cls(joined, tuple(names))
        if run.first.options.given_sets is None:
            run.stages.check()
        return run

    @property
    def least_fits_of_each(self) -> int:
        """Fits of each learner without which there is no answer."""
        return self.stages.least_fits // len(self.names)

    @property
    def max_fits(self) -> int:
        """Fits of all learners that there may be."""
        return self.first.options.max_fits

    def within(self, fits_of_each: int) -> Self:
        """The same with this limit on the fits of each learner."""
        most_fits = fits_of_each * len(self.names)
        tests = {
            key: replace(test, options=test.options.within(most_fits))
            for key, test in self.tests.items()
        }
        return replace(self, tests=tests)

    def fitted(
        self, problem: Problem, execution: Execution
    ) -> tuple[dict[Any, TestResult], JointEstimates]:
        """The results from fits of learners that are ready, and what joins them."""
        sources = [
            FittedLosses(replace(problem, learners={name: learner}), execution)
            for name, learner in on_paths(problem.learners).items()
        ]
        places = (test.places for test in self.tests.values())
        compared = tuple(pair for pair in places if len(pair) == 2)
        return self._results(sources, execution.generator, execution.seed, compared)

    def on_losses(self) -> tuple[dict[Any, TestResult], JointEstimates]:
        """The same from the losses that the tests are about: of clusters, where there are any."""
        questions = [self.tests[name].question for name in self.names]
        sources = [question.losses(question.execution()) for question in questions]
        return self._results(sources, np.random.default_rng(0), None)

    def _results(
        self,
        sources: Sequence[LossSource],
        generator: np.random.Generator,
        seed: int | None,
        compared: tuple[Places, ...] = (),
    ) -> tuple[dict[Any, TestResult], JointEstimates]:
        options = next(test.options for test in self.tests.values() if len(test.places) == 2)
        source, metric = SeveralLosses(sources), self.first.question.metric
        estimates = self._estimates(source, sources[0], options, generator, compared)
        results = {
            key: finish(
                test.question,
                answer_of(
                    test.question,
                    test.learning_sets,
                    test.options,
                    estimates.of(test),
                    source.of(test.places),
                    seed,
                ),
                METHOD_NAME,
            )
            for key, test in self.tests.items()
        }
        if estimates.few:
            copula_note = COPULA_OF_AUCS if metric.ranks_pairs else COPULA
            results = {
                key: replace(result, notes=(*result.notes, copula_note))
                for key, result in results.items()
            }
        statistics = estimates.statistics(options.interval)
        if statistics is not None and metric.units is not None:
            statistics = statistics * np.sign(metric.units.slope) + 0.0
        se, is_tested = metric.unit * estimates.standard_errors, estimates.is_tested
        if statistics is not None and compared:
            values = np.array([results[name].estimate for name in self.names])
            with np.errstate(divide="ignore", invalid="ignore"):
                statistics = np.where(is_tested, statistics, (values[:, None] - values) / se)
        joint_estimates = JointEstimates(
            own={name: results[name] for name in self.names},
            se=se,
            covariance=metric.unit**2 * estimates.covariance,
            df=estimates.df,
            seed=0 if seed is None else seed,
            statistics=statistics,
        )
        return results, joint_estimates

    def _estimates(
        self,
        source: SeveralLosses,
        first_source: LossSource,
        options: UStatisticOptions,
        generator: np.random.Generator,
        compared: tuple[Places, ...],
    ) -> Joined:
        first, sets, n_learners = self.first, self.first.learning_sets, len(self.names)
        stages = Stages(sets, options, n_learners, jointly=True)
        options, given_sets = stages.few_if_needed(), options.given_sets
        in_rounds = sets.in_rounds and (options.variance == "few" or options.may_be_few)
        if given_sets is not None and in_rounds:
            enough = sets.fewest_rows or 2 * MIN_PAIRS
            if 2 * LEAST_ROUNDS <= given_sets.design.n_resamples < enough:
                options = replace(options, variance="few")
        # One test that needs them is enough.
        pairs = sets.fewest_rows > 0 or any(
            test.options.variance == "midpoint" or test.options.interval.name == "stabilised"
            for test in self.tests.values()
        )
        sums = Sums.of(
            columns_of(first.question, sets, first_source, n_learners, jointly=True),
            many=options.variance != "few",
            few=in_rounds,
            pairs=pairs,
            needs_pairs=pairs and options.variance != "few",
            fewest=sets.fewest_rows,
        )

        def joined(variance: str, *, converged: bool = True) -> Joined:
            return Joined(sums, variance, converged, compared)

        variance, converged = collected(
            replace(stages, options=options),
            source,
            sums,
            generator,
            lambda: joined(options.variance).excess(options.tol),
            lambda: not sums.has_enough or not joined(options.variance).known,
        )
        if variance != "few" and not sums.has_enough:
            raise ValueError(
                f"{arg('correction', 'simultaneous')} needs {sets.fewest_rows} learning sets, but "
                f"there are {sums.n_rows}: raise {arg('n_pairs')} (or {arg('max_fits')})"
            )
        return joined(variance, converged=converged)


def _with_default_budget(tests: Mapping[Any, JoinedTest], n_learners: int) -> dict[Any, JoinedTest]:
    """For the variance of few fits as many of all learners as of those of one test."""
    pairs = min(test.options.max_fits // (2 * len(test.places)) for test in tests.values())
    return {
        key: replace(test, options=replace(test.options, max_fits=2 * n_learners * pairs))
        if test.options.variance == "few" and test.options.given_sets is None
        else test
        for key, test in tests.items()
    }


def _check_sizes(sizes: Sizes | AucSizes) -> None:
    """Refuse AUCs whose learners cannot be judged together."""
    if isinstance(sizes, Sizes):
        return
    if not sizes.of_two_classes:
        raise ValueError(
            f"{arg('correction', 'simultaneous')} is not for the AUC of several classes, or of "
            "clusters with rows of both: use 'holm'"
        )
    if sizes.singles_only:
        raise ValueError(
            f"{arg('correction', 'simultaneous')} with {arg('loss', 'auc')} needs n <= "
            f"{MAX_OBS_PAIR_EFFECTS}, got n = {sizes.n_obs}: use 'holm'"
        )


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
