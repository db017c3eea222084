"""Several learners judged together: tests of each, and of pairs, from the same learning sets."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Protocol, Self

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.common.words import arg, call
from ucvtest.evaluation.loss_source import LossSource, SeveralLosses, source_of
from ucvtest.evaluation.problem import Problem
from ucvtest.inference.finish import finish
from ucvtest.inference.question import Question
from ucvtest.kernels.ustatistic.aucs import AucEstimate, NoVariance
from ucvtest.kernels.ustatistic.contrasts import Estimate, covariance, slope
from ucvtest.kernels.ustatistic.few import LEAST_ROUNDS, FewFits, Rounds
from ucvtest.learners.jitted.regularization_paths import on_paths
from ucvtest.methods.ustatistic.auc_sizes import MAX_OBS_PAIR_EFFECTS, AucSizes
from ucvtest.methods.ustatistic.budget import capped, check_budget, few_if_needed, least_fits
from ucvtest.methods.ustatistic.estimates import (
    RELIABLE,
    ROUNDING,
    AucEstimates,
    FewFitsEstimates,
    UStatisticEstimates,
    auc_of,
    has_enough,
)
from ucvtest.methods.ustatistic.function_of_means import of_metric
from ucvtest.methods.ustatistic.interval import Interval
from ucvtest.methods.ustatistic.learning_sets import LearningSets
from ucvtest.methods.ustatistic.metric_columns import OfMetric
from ucvtest.methods.ustatistic.one_by_one import OneByOne
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.result import (
    METHOD_NAME,
    answer_from,
    columns_of,
    one_by_one,
    rounds_are_there,
)
from ucvtest.methods.ustatistic.run import (
    MIN_PAIRS,
    Sampler,
    StageSizes,
    StagesOfAuc,
    Sums,
    collect,
)
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
class Joined(ABC):
    """The joint estimates of all learners, from the sums over the same rows."""

    sums: Sums
    sizes: Sizes | AucSizes
    variance: str
    converged: bool = True
    compared: tuple[Places, ...] = ()
    """Pairs that are tested, where they are not all: those with a baseline."""

    @property
    def n_learners(self) -> int:
        """All learners."""
        return self.sums.columns.n_learners

    @property
    def pairs(self) -> list[Places]:
        """The pairs of learners that are tested, each in one order."""
        return [*self.compared] or list(combinations(range(self.n_learners), 2))

    @property
    @abstractmethod
    def df(self) -> float:
        """The smallest number of degrees of freedom of a difference."""

    @property
    @abstractmethod
    def covariance(self) -> np.ndarray:
        """Positive semidefinite, (L, L)."""

    @abstractmethod
    def of(self, question: Question, places: Places) -> Any:
        """The estimates of one learner, or of the difference of two."""

    @abstractmethod
    def standard_error(self, places: Places) -> float:
        """Of a difference, with its Monte-Carlo part; NaN if there is none."""

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
        """All differences (L, L) in the form for intervals; None if intervals are symmetric."""
        return None

    def of_pairs(self, number: Callable[[Places], float], sign: int = 1) -> np.ndarray:
        """A number of each difference (L, L); those of the other order have this sign."""
        numbers = np.full((self.n_learners, self.n_learners), math.nan)
        for first, other in self.pairs:
            numbers[first, other] = number((first, other))
            numbers[other, first] = sign * numbers[first, other]
        return numbers


class JoinedMany(Joined):
    """The same from many fits."""

    @cached_property
    def covariance(self) -> np.ndarray:
        """See `Joined`."""
        contrasts = [self.sums.contrast((place,)) for place in range(self.n_learners)]
        return covariance(self.sums.effects(), contrasts)

    @cached_property
    def estimates(self) -> dict[Places, Estimate]:
        """The estimates of all pairs."""
        return {pair: self.sums.estimate(pair) for pair in self.pairs}


class JoinedLosses(JoinedMany):
    """Of mean losses, or metrics."""

    @property
    def df(self) -> float:
        """See `Joined`."""
        return self.sizes.n_obs - 1.0

    @property
    def excess(self) -> float:
        """The Monte-Carlo error as a multiple of the one that a tolerance of 1 allows.

        Variances and estimates of differences are as precise as that on average, and each of them
        enough for an answer.
        """
        variance, of_variance, of_mean = self._variances
        own = np.diag(self.covariance)
        varies = variance > own.max() * 1e-12
        if not varies.any():
            return 0.0
        errors = np.maximum(
            of_variance[varies] / variance[varies], of_mean[varies] / np.sqrt(variance[varies])
        )
        return float(errors.mean()) if errors.max() <= RELIABLE else math.inf

    @property
    def known(self) -> bool:
        """Whether most variances have a Monte-Carlo error below a quarter of them."""
        variance, error, _ = self._variances
        varies = (variance > 0) | (error > 0)
        rough = error[varies] > RELIABLE * variance[varies]
        return not varies.any() or bool(rough.mean() <= 1 / 2)

    @property
    def _variances(self) -> np.ndarray:
        """Variances, their errors and those of means, of all pairs (3, P)."""
        name = self.variance
        return np.array(
            [(x.variances[name], x.errors[name], x.mc_se) for x in self.estimates.values()]
        ).T

    def of(self, question: Question, places: Places) -> Any:
        """See `Joined`."""
        estimates = UStatisticEstimates.of(
            self.sums, places, self.variance, converged=self.converged
        )
        if len(places) == 2:
            estimates = with_floor(estimates, self._squares(estimates.estimates.b))
        if isinstance(self.sums.columns, OfMetric):
            return of_metric(question, self.sums, estimates, places)
        return estimates

    def standard_error(self, places: Places) -> float:
        """See `Joined`."""
        estimate, name = self.estimates[places], self.variance
        variance, error = estimate.variances[name], estimate.errors[name]
        least = error / RELIABLE
        if not variance > 0:
            least = max(least, self._squares(estimate.b))
        variance = max(variance, least)
        return math.sqrt(variance + estimate.mc_se**2) if variance > 0 else math.nan

    def _squares(self, b: np.ndarray) -> float:
        """The jackknife with all its Monte-Carlo noise."""
        squares = float(self.sums.columns.strata.jackknife_factor @ b**2)
        return squares if squares > ROUNDING * float(np.diag(self.covariance).max()) else 0.0

    def statistics(self, interval: Interval) -> np.ndarray | None:
        """See `Joined`."""
        if interval.name != "stabilised":
            return None
        slopes = {
            pair: slope(self.sums.effects(), self.sums.contrast(pair))
            if self.estimates[pair].variances[self.variance] > 0
            else (0.0, 0.0, 0.0)
            for pair in self.pairs
        }
        se = self.standard_errors
        scale = BoundedScale.of(
            self.of_pairs(lambda pair: slopes[pair][0], sign=-1),
            self.of_pairs(lambda pair: math.hypot(*slopes[pair][1:])),
            se,
        )
        differences = self.of_pairs(lambda pair: self.estimates[pair].value, sign=-1)
        statistics: np.ndarray = scale.z(differences / se)
        return statistics


class JoinedAucs(JoinedMany):
    """Of AUCs of two classes."""

    @cached_property
    def aucs(self) -> dict[Places, AucEstimate]:
        """The estimates of all pairs."""
        return {pair: auc_of(self.sums, pair) for pair in self.pairs}

    @property
    def df(self) -> float:
        """See `Joined`."""
        finite = [auc.df for auc in self.aucs.values() if not math.isnan(auc.df)]
        return min(finite, default=math.nan)

    @property
    def known(self) -> bool:
        """Whether the variance of each difference that varies is known to a quarter of itself."""
        return not any(
            auc.is_rough(self.variance) and not math.isnan(auc.values["jackknife"])
            for auc in self.aucs.values()
        )

    def excess(self, tol: float) -> float:
        """The Monte-Carlo error as a multiple of the allowed one, on average over differences."""
        return float(np.mean([auc.excess(self.variance, tol) for auc in self.aucs.values()]))

    def of(self, question: Question, places: Places) -> Any:
        """See `Joined`."""
        assert isinstance(self.sizes, AucSizes)
        estimates = AucEstimates.of(self.sums, self.sizes, places, converged=self.converged)
        if len(places) == 2:
            estimates = replace(estimates, estimate=self._with_floor(estimates.estimate))
        return (
            estimates
            if estimates.no_variance is None
            else replace(estimates, no_variance=NoVariance.NOTHING_VARIES)
        )

    def _with_floor(self, auc: AucEstimate) -> AucEstimate:
        """With a variance that its Monte-Carlo error does not exceed: see `with_floor`."""
        least = auc.mc_se[self.variance] / RELIABLE
        if not auc.values[self.variance] < least:
            return auc
        return replace(auc, values={**auc.values, self.variance: least})

    def standard_error(self, places: Places) -> float:
        """See `Joined`."""
        auc = self._with_floor(self.aucs[places])
        if auc.is_rough(self.variance):
            return math.nan
        return math.sqrt(auc.values[self.variance] + auc.mc_se_estimate**2)


class JoinedFew(Joined):
    """From few fits: each difference has its own variance and degrees of freedom.

    A normal copula joins them. The correlation is that of the observations' effects, which n
    observations show for any number of fits. The parts due to learning and drawing are estimated
    from few fits. Their correlations between learners would be overestimated, so these parts are
    treated as independent between learners.
    """

    @property
    def df(self) -> float:
        """Infinite: errors are joined as normal ones, whatever the df of each difference."""
        return math.inf

    @property
    def rounds(self) -> Rounds:
        """The rounds that were kept."""
        assert self.sums.rounds is not None
        return self.sums.rounds

    def few_fits(self, places: Places) -> FewFits:
        """Of one learner, or of the difference of two."""
        return self.sums.few_fits(places)

    @cached_property
    def differences(self) -> dict[Places, FewFits]:
        """Of all pairs."""
        return {pair: self.few_fits(pair) for pair in self.pairs}

    @property
    def covariance(self) -> np.ndarray:
        """See `Joined`: by effects of observations, and the own parts of each learner."""
        columns, places = self.sums.columns, [(place,) for place in range(self.n_learners)]
        alone = [self.few_fits(place) for place in places]
        own = np.diag([x.se**2 - x.test_part for x in alone])
        contrasts = [columns.of_rounds(place, self.rounds) for place in places]
        return own + self.rounds.covariance_of_tests(contrasts)

    def of(self, question: Question, places: Places) -> Any:
        """See `Joined`."""
        estimates = FewFitsEstimates.of(self.sums, places)
        if isinstance(self.sums.columns, OfMetric):
            return of_metric(question, self.sums, estimates, places)
        return estimates

    def standard_error(self, places: Places) -> float:
        """See `Joined`."""
        few_fits = self.differences[places]
        return few_fits.se if few_fits.spread > (ROUNDING * few_fits.mean) ** 2 else math.nan

    def statistics(self, interval: Interval) -> np.ndarray | None:
        """See `Joined`: as normal quantiles of the same tail; NaN if they do not exist."""

        def quantile(places: Places) -> float:
            few_fits, se = self.differences[places], self.standard_error(places)
            return float(as_normal(few_fits.mean / se, few_fits.df)) if se > 0 else math.nan

        return self.of_pairs(quantile, sign=-1)


def with_floor(estimates_of_pair: UStatisticEstimates, squares: float) -> UStatisticEstimates:
    """With a variance that is at least so large that its Monte-Carlo error is a part of it.

    Among several learners some are nearly the same: no number of draws makes the variance of their
    difference precise, and without an answer nothing would be said of all together. Where learners
    differed in too few draws for any product of two groups of them, variance and error are both 0:
    then `squares` stand for it, the jackknife with all its Monte-Carlo noise.
    """
    estimates, name = estimates_of_pair.estimates, estimates_of_pair.variance
    value, variance_floor = estimates.variances[name], estimates.errors[name] / RELIABLE
    unknown = not value > 0
    if unknown:
        variance_floor = max(variance_floor, squares)
    if not value < variance_floor:
        return estimates_of_pair
    floored = replace(estimates, variances={**estimates.variances, name: variance_floor})
    # What the standard error depends on is unknown as well.
    own_slope = (0.0, *estimates_of_pair.slope[1:]) if unknown else estimates_of_pair.slope
    return replace(estimates_of_pair, estimates=floored, slope=own_slope, floored=True)


@dataclass(frozen=True, eq=False)
class JointRun:
    """Tests of each of several learners, by its name, and of pairs of them, from the same fits."""

    tests: Mapping[Any, JoinedTest]
    names: tuple[str, ...]
    sizes: Sizes | AucSizes

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
        of_one = dict(options)
        if options.get("interval") == "stabilised" and not first_test.question.metric.counts_errors:
            # It is for differences of other losses, and learners alone are not tested.
            of_one["interval"] = "auto"
        joined = {
            key: JoinedTest(
                hypothesis_test.question,
                hypothesis_test.learning_sets,
                hypothesis_test.fit_options(**(of_one if isinstance(key, str) else options)),
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
        options = next(
            joined_test.options
            for joined_test in self.tests.values()
            if len(joined_test.places) == 2
        )
        first_test, source = next(iter(self.tests.values())), SeveralLosses(sources)
        estimates = self._estimates(source, sources[0], options, generator, compared)
        results = {
            key: finish(
                test.question,
                answer_from(
                    test.question,
                    test.learning_sets,
                    test.options,
                    estimates.of(test.question, test.places),
                    source.of(test.places),
                    seed,
                ),
                METHOD_NAME,
            )
            for key, test in self.tests.items()
        }
        if isinstance(estimates, JoinedFew):
            copula_note = COPULA_OF_AUCS if isinstance(self.sizes, AucSizes) else COPULA
            results = {
                key: replace(result, notes=(*result.notes, copula_note))
                for key, result in results.items()
            }
        statistics, metric = estimates.statistics(options.interval), first_test.question.metric
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
        first_test, n_learners = next(iter(self.tests.values())), len(self.names)
        sets, sizes = first_test.learning_sets, self.sizes
        options = few_if_needed(sets, options, n_learners, jointly=True)
        aucs = sizes if isinstance(sizes, AucSizes) else None
        in_rounds = rounds_are_there(sets, options) and (
            options.variance == "few" or options.may_be_few
        )
        given_sets, short = options.given_sets, False
        if given_sets is not None and in_rounds:
            enough = 2 * MIN_PAIRS if aucs is None else aucs.rows_for_variances
            short = 2 * LEAST_ROUNDS <= given_sets.design.n_resamples < enough
        if short:
            options = replace(options, variance="few")
        # One test that needs them is enough.
        pairs = aucs is not None or any(
            joined_test.options.variance == "midpoint"
            or joined_test.options.interval.name == "stabilised"
            for joined_test in self.tests.values()
        )
        columns = columns_of(first_test.question, sets, first_source, n_learners, jointly=True)
        sums = Sums.of(
            columns,
            many=options.variance != "few",
            few=in_rounds,
            pairs=pairs,
            needs_pairs=pairs and options.variance != "few",
        )
        stages = (
            StagesOfAuc(sizes, options, n_learners)
            if isinstance(sizes, AucSizes)
            else StageSizes(sizes, options, n_learners, exchanging=False, jointly=True)
        )
        kind = JoinedLosses if aucs is None else JoinedAucs

        def excess() -> float:
            joined = kind(sums, sizes, options.variance, compared=compared)
            if isinstance(joined, JoinedLosses):
                return joined.excess / options.tol
            assert aucs is not None
            return joined.excess(options.tol) if has_enough(sums, aucs) else math.inf

        def estimated(one_by_one_pairs: OneByOne | None) -> Joined:
            sums.apart = one_by_one_pairs is not None
            sampler = Sampler(sizes, source, generator, False, one_by_one_pairs)
            converged = collect(sampler, options, sums, stages, excess)
            few = JoinedFew(sums, sizes, "few", compared=compared)
            if options.variance == "few":
                if one_by_one_pairs is not None:
                    one_by_one_pairs.check_enough()
                return few
            if aucs is not None and not has_enough(sums, aucs):
                if sums.enough:
                    return few
                raise ValueError(
                    f"{arg('correction', 'simultaneous')} needs {aucs.rows_for_variances} "
                    f"learning sets, but there are {sums.n_rows}: raise {arg('n_pairs')} (or "
                    f"{arg('max_fits')})"
                )
            joined = kind(sums, sizes, options.variance, converged, compared)
            return few if sums.enough and not joined.known else joined

        if not (in_rounds and source.one_by_one):
            return estimated(None)
        kept = OneByOne(source, sums, several=True)
        return one_by_one(
            kept, estimated, lambda: JoinedFew(sums, sizes, "few", compared=compared), None
        )


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


def _joint_sizes(learning_sets: LearningSets) -> Sizes | AucSizes:
    """The sizes of learning sets, if several learners can be judged together on them."""
    sizes = learning_sets.sizes
    if isinstance(sizes, Sizes):
        return sizes
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
