"""Several learners from the same learning sets: estimates with their joint covariance matrix."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Protocol, Self

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.designs.draws import draw_orders, learning_sets
from ucvtest.evaluation.loss_source import FittedLosses, PrecomputedLosses, SeveralLosses
from ucvtest.evaluation.problem import Problem
from ucvtest.kernels.auc_ustatistic.two_classes import TwoClasses
from ucvtest.kernels.auc_ustatistic.variances import ROWS_FOR_EACH, Answer
from ucvtest.kernels.ustatistic.first_order import FirstOrderEstimate
from ucvtest.kernels.ustatistic.several import Differences, Several, SeveralSums
from ucvtest.kernels.ustatistic.variances import first_order_factor
from ucvtest.learners.jitted.regularization_paths import on_paths
from ucvtest.losses.table import Losses
from ucvtest.methods.ustatistic.auc import class_sizes as auc_plan
from ucvtest.methods.ustatistic.auc import estimation as auc_run
from ucvtest.methods.ustatistic.auc.class_sizes import ClassSizes
from ucvtest.methods.ustatistic.estimation import (
    RELIABLE,
    ROUNDING,
    STAGE_CELLS,
    Found,
    Sampler,
    Steps,
    in_parts,
)
from ucvtest.methods.ustatistic.interval import Interval
from ucvtest.methods.ustatistic.options import GivenPairs, Options, Sizes
from ucvtest.methods.ustatistic.precomputed_splits import GivenSplits
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.variance_stabilised import stabilised

__all__ = ["JointRun", "Question", "check_options"]

JOINT_VARIANCES = ("midpoint", "jackknife")
"""Variances whose sums are linear in the losses, so that those of all differences are known."""

MOST_BYTES = 2**31
"""Memory that effects of pairs of observations may take."""

Places = tuple[int, ...]
"""Of one learner, or of two that are compared."""


class Asked(Protocol):
    """A test about one learner or two, which knows how a result is told."""

    def _told(self, options: Options, found: Any, source: Any, seed: int | None) -> TestResult: ...


@dataclass(frozen=True, eq=False)
class Question:
    """A test, its options, and the places of its learners."""

    test: Asked
    options: Options
    places: Places


def check_options(options: Options, n_obs: int, n_learners: int) -> None:
    """Refuse what has no joint form, before the first fit."""
    if options.n_pairs == "exact":
        raise ValueError(
            "correction='simultaneous' needs random learning sets, and n_pairs is 'exact': leave "
            "it out"
        )
    if options.variance not in JOINT_VARIANCES:
        raise ValueError(
            f"correction='simultaneous' has no variance={options.variance!r}: use 'midpoint' or "
            "'jackknife'"
        )
    needed = 8 * 8 * n_learners * n_obs**2
    if options.variance == "midpoint" and options.interval.loss and needed > MOST_BYTES:
        raise ValueError(
            f"the effects of pairs of {n_obs} observations for {n_learners} learners take "
            f"{needed / 1e9:.3g} GB of memory: use variance='jackknife', or fewer learners"
        )


@dataclass(frozen=True, eq=False)
class JointRun:
    """Questions about each learner, by its name, and about pairs of them, for one run."""

    questions: Mapping[Any, Question]
    names: tuple[str, ...]
    sizes: Sizes | ClassSizes

    @classmethod
    def of(cls, tests: Mapping[Any, Any], names: Sequence[str], options: Mapping[str, Any]) -> Self:
        """From tests by a learner's name or two, with the options of `fit`, if they can be one."""
        one = next(iter(tests.values()))
        if options.get("max_seconds") is not None:
            raise ValueError(
                "max_seconds is not for correction='simultaneous': use max_fits, or 'holm'"
            )
        if one._classes is not None and not isinstance(one._classes, ClassSizes):
            raise ValueError(
                "correction='simultaneous' is not for the AUC of several classes, or of clusters "
                "with rows of both: use 'holm'"
            )
        if one._classes is not None and one._classes.singles_only:
            most = auc_plan.MAX_OBS_PAIR_EFFECTS
            raise ValueError(
                f"correction='simultaneous' with loss='auc' needs n <= {most}, "
                f"got n = {one.n_obs}: use 'holm'"
            )
        if any(each.contrast == "ratio" for each in tests.values()):
            raise ValueError("correction='simultaneous' is not for ratios: use 'holm'")
        if one.clusters is not None and one.clusters.offset is not None:
            raise ValueError(
                "correction='simultaneous' is not for group_weight='row': use 'group', or 'holm'"
            )
        places = {name: place for place, name in enumerate(names)}
        questions = {
            key: Question(
                each,
                each._options(**options),
                (places[key],) if isinstance(key, str) else tuple(places[name] for name in key),
            )
            for key, each in tests.items()
        }
        for each in questions.values():
            check_options(each.options, one.n_units, len(names))
        return cls(questions, tuple(names), one._classes or one._sizes)

    def fitted(
        self, problem: Problem, execution: Execution
    ) -> tuple[dict[Any, TestResult], JointEstimates]:
        """The results from fits, and what joins them."""
        source = several_fits(problem, execution)
        return self._answered(source, execution.generator, execution.seed)

    def given(self, losses: Losses) -> tuple[dict[Any, TestResult], JointEstimates]:
        """The same from losses that exist."""
        sources = [PrecomputedLosses(losses.difference(name)) for name in self.names]
        return self._answered(SeveralLosses(sources), np.random.default_rng(0), None)

    def _answered(
        self, source: SeveralLosses, generator: np.random.Generator, seed: int | None
    ) -> tuple[dict[Any, TestResult], JointEstimates]:
        questions = self.questions
        options = next(each.options for each in questions.values() if len(each.places) == 2)
        found: Estimates
        if isinstance(self.sizes, ClassSizes):
            found = _of_auc(self.sizes, options, source, generator)
        else:
            effects = any(_needs_pair_effects(each.options) for each in questions.values())
            found = _of_losses(self.sizes, options, source, generator, pair_effects=effects)
        results = {}
        for key, each in questions.items():
            estimates = found.of(each.places, each.options)
            results[key] = each.test._told(each.options, estimates, source.of(each.places), seed)
        together = JointEstimates(
            own={name: results[name] for name in self.names},
            se=found.standard_errors(),
            covariance=found.covariance,
            df=found.df,
            seed=0 if seed is None else seed,
            statistics=found.statistics(options.interval),
        )
        return results, together


def several_fits(problem: Problem, execution: Execution) -> SeveralLosses:
    """Learners that are ready, each to be fitted to the same learning sets."""
    return SeveralLosses(
        [
            FittedLosses(replace(problem, learners={name: learner}), execution)
            for name, learner in on_paths(problem.learners).items()
        ]
    )


class Estimates(Protocol):
    """What is estimated of all learners together."""

    @property
    def covariance(self) -> np.ndarray:
        """Positive semidefinite, (L, L)."""

    @property
    def df(self) -> float:
        """The smallest number of degrees of freedom of a difference."""

    def of(self, places: Places, options: Options) -> Any:
        """The estimates of one learner, or of the difference of two."""

    def standard_errors(self) -> np.ndarray:
        """Of all differences, (L, L), with their Monte-Carlo part."""

    def statistics(self, interval: Interval) -> np.ndarray | None:
        """All differences (L, L) as intervals have them; None where these are symmetric."""


def _needs_pair_effects(options: Options) -> bool:
    return options.variance == "midpoint" or options.interval.name == "stabilised"


# ----------------------------------------------------------------------------- mean losses


@dataclass(frozen=True, eq=False)
class _Losses:
    several: Several
    differences: Differences
    n_pairs: int
    converged: bool
    df: float

    @property
    def covariance(self) -> np.ndarray:
        return self.several.covariance

    def of(self, places: Places, options: Options) -> Found:
        first, *others = places
        if not others:
            estimates = self.several.alone[first]
            return Found(estimates, options.variance, self.n_pairs, self.converged)
        estimates, one = self.several.weighted({first: 1.0, others[0]: -1.0}), self.several.each[0]
        own = tuple(self._own(place) for place in places)
        found = Found(estimates, options.variance, self.n_pairs, self.converged, own)
        factor = first_order_factor(one.n_obs, one.learn_size + 1)
        return _answered(found, factor * float(estimates.effects @ estimates.effects))

    def _own(self, place: int) -> FirstOrderEstimate:
        found = self.several.alone[place]
        return FirstOrderEstimate(
            found.values["estimate"],
            found.values["jackknife"],
            found.mc_se["estimate"],
            found.mc_se["jackknife"],
        )

    def standard_errors(self) -> np.ndarray:
        variance, of_variance, of_mean = self.differences
        least = np.maximum(of_variance / RELIABLE, np.where(self._unknown, self._squares, 0.0))
        variance = np.maximum(variance, least)
        found = np.sqrt(np.where(variance > 0, variance + of_mean**2, math.nan))
        np.fill_diagonal(found, math.nan)
        return found

    def statistics(self, interval: Interval) -> np.ndarray | None:
        if interval.name != "stabilised":
            return None
        slopes = np.where(self._unknown, 0.0, self.several.slopes())
        means, se = self.several.means, self.standard_errors()
        return stabilised((means[:, None] - means) / se, slopes * se)

    @property
    def _unknown(self) -> np.ndarray:
        """Differences in too few draws for a variance: see `_answered`."""
        return ~(self.differences.variance > 0)

    @property
    def _squares(self) -> np.ndarray:
        """Their jackknife variances with all Monte-Carlo noise, (L, L)."""
        own = np.diag(self.covariance)
        sums = own[:, None] + own
        found = sums - 2 * self.covariance
        return np.where(found > ROUNDING * sums, found, 0.0)


def _answered(found: Found, squares: float) -> Found:
    """With a variance that is at least so large that its Monte-Carlo error is a part of it.

    Among several learners some are nearly the same: no number of draws makes the variance of their
    difference precise, and without an answer nothing would be said of all together. Where learners
    differed in too few draws for any product of two groups of them, variance and error are both 0:
    then `squares` stand for it, the jackknife with all its Monte-Carlo noise.
    """
    estimates, name = found.estimates, found.variance
    value, least = estimates.values[name], estimates.mc_se[name] / RELIABLE
    unknown = not value > 0
    if unknown:
        least = max(least, squares)
    if not value < least:
        return found
    values = {**estimates.values, name: least}
    if unknown and "slope" in values:
        # What the standard error depends on is unknown as well.
        values["slope"] = 0.0
    return replace(found, estimates=replace(estimates, values=values), floored=True)


def _of_losses(
    sizes: Sizes,
    options: Options,
    source: SeveralLosses,
    generator: np.random.Generator,
    *,
    pair_effects: bool,
) -> _Losses:
    n_learners = source.n_learners
    sums = SeveralSums(sizes.n_obs, sizes.learn_size, n_learners, pair_effects=pair_effects)
    sampler = Sampler(sizes, source, generator)
    n_pairs, converged = _added(sampler, options, sums, n_learners)
    several = sums.now()
    differences = several.differences(options.variance)
    return _Losses(several, differences, n_pairs, converged, sizes.n_obs - 1.0)


def _added(
    sampler: Sampler, options: Options, sums: SeveralSums, n_learners: int
) -> tuple[int, bool]:
    """Add as many pairs as are asked for, needed or given; their number, and if they suffice."""
    given, number = options.given, options.n_pairs
    if isinstance(given, GivenPairs):
        for learning in _in_rows(given.design.learning, 2 * given.n_sets, n_learners):
            shape = (-1, 2, given.n_sets, learning.shape[1])
            each = [one.reshape(shape) for one in _losses(sampler, learning)]
            sets = learning.reshape(shape)
            sums.add([(one[:, 0], one[:, 1]) for one in each], (sets[:, 0], sets[:, 1]))
        return given.n_pairs, True
    if isinstance(given, GivenSplits):
        for rows, draw in given.parts(max(2, STAGE_CELLS // (sampler.sizes.n_obs * n_learners))):
            sets = given.design.learning[rows][:, None]
            each = [one[:, None] for one in _losses(sampler, sets[:, 0])]
            half = np.full((len(draw), 1), 0.5)
            sums.add([(one, one) for one in each], (sets, sets), weight=half, cluster=draw)
        return given.n_pairs, True
    if isinstance(number, int):
        _draw(sampler, number, sums, n_learners)
        return number, True
    steps, n_pairs = Steps(sampler.sizes, options, n_learners), 0
    size = steps.fewest
    while True:
        _draw(sampler, size, sums, n_learners)
        n_pairs += size
        converged = _precise(sums.now(), options)
        size = steps.following(n_pairs, sampler.source.n_fits)
        if converged or size < steps.fewest:
            return n_pairs, converged


def _draw(sampler: Sampler, n_pairs: int, sums: SeveralSums, n_learners: int) -> None:
    """Add random pairs of learning sets, disjoint where they can be."""
    n, g, overlap = sampler.sizes.n_obs, sampler.sizes.learn_size, sampler.sizes.least_overlap
    for size in in_parts(n_pairs, max(64, STAGE_CELLS // (2 * n * n_learners))):
        orders = draw_orders(sampler.generator, size, n)
        sides = learning_sets(orders, 0, g), learning_sets(orders, g - overlap, g)
        each = [np.split(one, 2) for one in _losses(sampler, np.concatenate(sides))]
        sums.add(
            [(one[:, None], other[:, None]) for one, other in each],
            (sides[0][:, None], sides[1][:, None]),
        )


def _losses(sampler: Sampler, learning: np.ndarray) -> list[np.ndarray]:
    return sampler.losses(learning, np.arange(len(learning)))


def _in_rows(learning: np.ndarray, of_draw: int, n_learners: int) -> Iterator[np.ndarray]:
    """Rows of a design, whole draws, some at a time."""
    rows = of_draw * max(2, STAGE_CELLS // (of_draw * learning.shape[1] * n_learners))
    for start in range(0, len(learning), rows):
        yield learning[start : start + rows]


def _precise(several: Several, options: Options) -> bool:
    """Whether variances and estimates of differences are as precise as "auto" requires.

    They are so on average, and each of them enough for an answer.
    """
    found = several.differences(options.variance)
    upper = np.triu_indices(len(found.variance), 1)
    variance, of_variance, of_mean = (part[upper] for part in found)
    varies = variance > np.max(np.abs(np.diag(found.variance))) * 1e-12
    if not varies.any():
        return True
    share = of_variance[varies] / variance[varies]
    other = of_mean[varies] / np.sqrt(variance[varies])
    excess = np.maximum(share, other)
    return bool(excess.mean() <= options.tol and excess.max() <= RELIABLE)


# ----------------------------------------------------------------------------------- AUCs


@dataclass(frozen=True, eq=False)
class _Aucs:
    answers: Mapping[Places, Answer]
    n_learners: int
    n_rows: int
    converged: bool
    covariance: np.ndarray
    variance: str

    @property
    def df(self) -> float:
        known = [each.df for each in self.answers.values() if not math.isnan(each.df)]
        return min(known, default=math.nan)

    def of(self, places: Places, options: Options) -> auc_run.Found:
        ordered = tuple(sorted(places))
        answer = self.answers[ordered]
        if ordered != places:
            answer = answer.reversed()
        own = tuple(self.answers[k,] for k in places) if len(places) == 2 else ()
        why = "ok"
        if math.isnan(answer.values["jackknife"]) and not math.isnan(answer.jackknife):
            why = "degenerate: the jackknife variance is zero, nothing varies"
        return auc_run.Found(answer, own, self.n_rows, why, self.converged)

    def standard_errors(self) -> np.ndarray:
        found = np.full((self.n_learners, self.n_learners), math.nan)
        for (i, j), answer in ((key, one) for key, one in self.answers.items() if len(key) == 2):
            variance = answer.values[self.variance]
            if not answer.is_rough(self.variance):
                found[i, j] = found[j, i] = math.sqrt(variance + answer.mc_se_estimate**2)
        return found

    def statistics(self, interval: Interval) -> np.ndarray | None:
        return None


def _of_auc(
    sizes: ClassSizes, options: Options, source: SeveralLosses, generator: np.random.Generator
) -> _Aucs:
    sampler = auc_run.Sampler(sizes, source, generator)
    rankings = auc_run.Rankings(sampler, exact=False)
    converged = True
    if isinstance(options.given, GivenSplits):
        for rows, draw in options.given.parts(sampler.rows_of_part):
            rankings.add(options.given.design.learning[rows], draw)
    elif isinstance(options.n_pairs, int):
        rankings.draw(options.n_pairs)
    else:
        converged = auc_run.until_precise(
            rankings,
            options,
            source.n_learners,
            lambda: _mean_excess(rankings, options, source.n_learners),
        )
    if not rankings.enough:
        raise ValueError(
            f"correction='simultaneous' needs {ROWS_FOR_EACH * sizes.n_obs} learning sets, "
            f"and there are {rankings.n_rows}: raise n_pairs (or max_fits)"
        )
    sums = rankings.sums
    assert isinstance(sums, TwoClasses)
    answers = {
        places: sums.answer(_weights(places, source.n_learners))
        for places in _all_places(source.n_learners)
    }
    return _Aucs(
        answers,
        source.n_learners,
        rankings.n_rows,
        converged,
        sums.covariance,
        options.variance,
    )


def _all_places(n_learners: int) -> list[Places]:
    places = range(n_learners)
    return [*((k,) for k in places), *combinations(places, 2)]


def _weights(places: Places, n_learners: int) -> tuple[int, ...]:
    signs = dict(zip(places, (1, -1), strict=False))
    return tuple(signs.get(place, 0) for place in range(n_learners))


def _mean_excess(rankings: auc_run.Rankings, options: Options, n_learners: int) -> float:
    """The Monte-Carlo error as a multiple of the one allowed, on average over all differences."""
    if not rankings.enough:
        return math.inf
    answers = [
        rankings.sums.answer(_weights(pair, n_learners))
        for pair in combinations(range(n_learners), 2)
    ]
    return float(np.mean([auc_run.excess(each, options) for each in answers]))
