"""Predictions from a pilot sample, or simulated ones, for a test on a sample of another size."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ucvtest import hooks
from ucvtest.common.checks import at_least
from ucvtest.common.execution import Execution, Progress
from ucvtest.common.words import arg
from ucvtest.designs.schemes import DisjointSets
from ucvtest.evaluation.evaluate import evaluate_problem
from ucvtest.methods.ustatistic.interval import IntervalName, knows_slope
from ucvtest.methods.ustatistic.learning_sets import check_ratio
from ucvtest.methods.ustatistic.method import UStatisticTest
from ucvtest.metrics.ranges import range_of
from ucvtest.planning.predictors import LEAST_OBS, Kind, UStatisticPredictor
from ucvtest.planning.typical_variances import (
    SMOOTH,
    STEPS,
    PairedLosses,
    PilotEvidence,
    shrunk,
    unshrunk,
)
from ucvtest.results.result import TestResult, uninterrupted
from ucvtest.stats.pivots import shrunk_slope

TOL = 0.1
"""Accepted Monte-Carlo error of the pilot's variance, as a share of the variance."""

N_PAIRS = 800
"""Pairs of learning sets for losses whose J is shrunk towards a typical value."""

NO_VARIATION = (
    "nothing can be predicted from this pilot, because no error occurred, or the learners never "
    "differed: use a larger pilot, or another loss"
)

ROUGH_TOL = 0.25
"""The same for an AUC, which takes more time, and for each of many simulated samples."""


@dataclass(frozen=True, eq=False)
class _OnePilot:
    """The test of one sample, with its losses on disjoint sets if typical values are known."""

    result: TestResult
    paired_losses: PairedLosses | None = None


@dataclass(frozen=True, eq=False)
class Pilot:
    """The source of predictions; `values` describe it in a summary."""

    predictor: UStatisticPredictor
    estimate: float
    values: Mapping[str, Any]


def checked_tests(
    X: Any, y: Any, learners: tuple[Any, ...], question: Mapping[str, Any]
) -> tuple[UStatisticTest, ...]:
    """The test of the pilot, and the test of the ratio if needed; `question` are its arguments."""
    test = UStatisticTest(X, y, *learners, **{**question, "contrast": "difference"})
    units = test.metric.units
    if units is not None:
        raise ValueError(
            f"{arg('loss')} is {units.slope:g} times the error rate: plan for "
            f"{arg('loss', 'zero_one')}, with widths and differences divided by {units.slope:g}"
        )
    if not test.disjoint:
        raise ValueError(
            f"a pilot of {test.n_units} {units_of(test)} plans for learning sets of "
            f"{test.n_units // 2 - 1} at most (within classes, with {arg('loss', 'auc')}), got "
            f"{test.learn_size}: use a smaller {arg('learn_size')}, or leave it out"
        )
    if question.get("contrast") != "ratio":
        return (test,)
    check_ratio(test.metric, paired=test.paired, ratio=arg("ratio"), difference=arg("difference"))
    return test, UStatisticTest(X, y, *learners, **question)


def smallest_size_of(test: UStatisticTest) -> int:
    """The smallest size that can be planned: two learning sets, each with observations to test."""
    return max(2 * (test.learn_size + 1), LEAST_OBS)


def loss_range(test: UStatisticTest) -> float:
    """The distance between the least and the largest loss; infinite if there are no limits."""
    if test.metric.linearised:
        low, high = range_of(test.metric)
    else:
        low, high = test.metric.bounds or (0.0, math.inf)
    return high - low


def pilot_of_data(
    tests: tuple[UStatisticTest, ...], rng: np.random.Generator, progress: Progress
) -> Pilot:
    """The pilot from one sample."""
    test, *of_ratio = tests
    pilot = _one_pilot(test, TOL, rng, progress, by_itself=bool(of_ratio))
    if not of_ratio:
        return _pilot(test, [pilot])
    seed = int(rng.integers(2**31 - 1))
    ratio_result = _run(of_ratio[0], seed, progress, variance="jackknife", tol=TOL)
    if not ratio_result.variance > 0:
        raise ValueError(f"nothing can be predicted from this pilot: {ratio_result.status}")
    return _pilot_of_ratio(test, pilot, ratio_result)


def pilot_of_sampler(
    sampler: Callable[[np.random.Generator, int], tuple[Any, Any]],
    learners: tuple[Any, ...],
    question: Mapping[str, Any],
    rng: np.random.Generator,
    pilot_size: int | None,
    n_pilots: int | None,
) -> Pilot:
    """The pilot from simulated samples, whose components are averaged."""
    if "contrast" in question:
        raise ValueError("a simulator plans for differences: leave ratio out, or pass a sample")
    size = at_least("pilot_size", 60 if pilot_size is None else pilot_size, LEAST_OBS)
    number = at_least("n_pilots", 20 if n_pilots is None else n_pilots, 2)
    pilots, progress = [], Progress()
    for _ in range(number):
        X, y = sampler(rng, size)
        test = UStatisticTest(X, y, *learners, **question)
        pilots.append(_one_pilot(test, ROUGH_TOL, rng, progress))
    return _pilot(test, pilots)


def units_of(test: UStatisticTest) -> str:
    """The units that are counted."""
    return "observations" if test.clusters is None else "clusters"


def _one_pilot(
    test: UStatisticTest,
    tol: float,
    rng: np.random.Generator,
    progress: Progress,
    *,
    by_itself: bool = False,
) -> _OnePilot:
    if _is_helped(test) and not by_itself:
        return _OnePilot(*_with_spread(test, rng, progress))
    tol = ROUGH_TOL if test.metric.ranks_pairs else tol
    interval: IntervalName = "wald" if test.paired or test.metric.is_mean else "logit"
    seed = int(rng.integers(2**31 - 1))
    result = _run(test, seed, progress, variance="midpoint", interval=interval, tol=tol)
    if not result.diagnostics["variance_jackknife"] > 0:
        raise ValueError(
            f"nothing can be predicted from this pilot ({result.status}): use a larger pilot, or "
            "another loss"
        )
    return _OnePilot(result)


def _run(test: UStatisticTest, seed: int | None, progress: Progress, **options: Any) -> TestResult:
    """The result, which hooks do not receive: they receive the plan."""
    execution = replace(test.question.execution(rng=seed), progress=progress)
    return uninterrupted(test.run(test.fit_options(**options), execution))


def _with_spread(
    test: UStatisticTest, rng: np.random.Generator, progress: Progress
) -> tuple[TestResult, PairedLosses]:
    """The test on pairs of disjoint learning sets, and the agreement of their losses."""
    problem = test.question.data("a pilot").fitting(test.learn_size)
    disjoint_sets = DisjointSets(test.learn_size, n_draws=N_PAIRS).draw(test.n_units, rng)
    execution = Execution(rng, None, progress=progress)
    with hooks.fitting(test):
        losses = evaluate_problem(problem, disjoint_sets, execution, {})
    names = losses.learners[: 2 if test.paired else 1]
    tested = UStatisticTest.from_losses(losses, *names)
    sloped = (
        test.metric.counts_errors and test.paired and knows_slope(test.n_units, test.learn_size)
    )
    rule: IntervalName = "stabilised" if sloped else "wald"
    result = _run(tested, None, progress, variance="midpoint", interval=rule)
    return result, PairedLosses.of(losses.difference(*names).table)


def _mean_slope(pilots: Sequence[_OnePilot]) -> float:
    """The slopes in the form that intervals use."""
    names = ("slope", "se_slope", "mc_se_slope")
    slopes = np.array(
        [[pilot.result.diagnostics.get(name, 0.0) for name in names] for pilot in pilots]
    )
    return float(np.mean(shrunk_slope(slopes[:, 0], np.hypot(slopes[:, 1], slopes[:, 2]))))


def _pilot(test: UStatisticTest, pilots: Sequence[_OnePilot]) -> Pilot:
    """The predictor from one pilot, or from several of the same size."""
    results = [pilot.result for pilot in pilots]
    result = results[-1]
    jackknife, pairs = (
        float(np.mean([np.nan_to_num(result.diagnostics.get(name, 0)) for result in results]))
        for name in ("variance_jackknife", "pair_effects")
    )
    evidence = PilotEvidence(
        test.n_units,
        test.learn_size + 1,
        jackknife,
        pairs,
        # 2/df is the variance of each variance divided by its square.
        len(pilots) / sum(1 / _df(pilot) for pilot in results),
        float(np.mean([_mc_share(pilot) for pilot in results])),
        len(pilots),
    )
    paired_losses = [pilot.paired_losses for pilot in pilots if pilot.paired_losses is not None]
    values: dict[str, Any] = {"jackknife": jackknife, "pair_effects": pairs}
    metric, slope = test.metric, 0.0
    # Whether predictions of single observations change by a jump, or not at all.
    jumps = metric.ranks_pairs or metric.counts_errors or metric.of_cells
    if paired_losses:
        mean = PairedLosses.mean(paired_losses)
        if not mean.mean_square:
            raise ValueError(NO_VARIATION)
        components, error = shrunk(evidence, mean, jumps=jumps)
        values |= {"mean_square": mean.mean_square, "agreement": mean.agreement}
        slope = evidence.weight * _mean_slope(pilots) if test.paired else 0.0
    else:
        components, error = unshrunk(evidence, STEPS if jumps else SMOOTH)
    centre = float(np.mean([pilot.estimate for pilot in results]))
    if len(pilots) > 1:
        values["n_pilots"] = len(pilots)
    variance = "midpoint" if jumps else "jackknife"
    predictor = UStatisticPredictor(components, variance, _kind(test), centre, error, slope=slope)
    n_fits = sum(pilot.n_fits for pilot in results)
    return Pilot(predictor, centre, _pilot_values(test, result) | values | {"n_fits": n_fits})


def _pilot_of_ratio(test: UStatisticTest, pilot: _OnePilot, ratio_result: TestResult) -> Pilot:
    """M2 of a ratio, like J, is in units of the logarithm; M2/J is the same as for differences.

    Heavy tails reduce the degrees of freedom, and more observations do not change that.
    """
    diagnostics = pilot.result.diagnostics
    jackknife = float(ratio_result.variance)
    variance_ratio = float(ratio_result.variance / diagnostics["variance_jackknife"])
    pairs = variance_ratio * float(diagnostics["pair_effects"])
    mc_share = _mc_share(pilot.result)
    evidence = PilotEvidence(
        test.n_units, test.learn_size + 1, jackknife, pairs, _df(ratio_result), mc_share
    )
    components, error = unshrunk(evidence, SMOOTH)
    df_share = ratio_result.df / (test.n_units - 1)
    predictor = UStatisticPredictor(
        components, "jackknife", "log", ratio_result.estimate, error, df_share
    )
    values = {"jackknife": jackknife, "pair_effects": pairs, "n_fits": pilot.result.n_fits}
    return Pilot(predictor, ratio_result.estimate, _pilot_values(test, ratio_result) | values)


def _df(result: TestResult) -> float:
    """Degrees of freedom of the variance, by the kurtosis if it is known; few without effects."""
    df = float(result.diagnostics.get("df_kurtosis", result.df))
    return 4.0 if math.isnan(df) else df


def _mc_share(result: TestResult) -> float:
    """The Monte-Carlo error as a share of the variance; 1 if the variance is not positive."""
    is_positive = result.variance > 0
    return float(result.diagnostics["mc_se_variance"]) / result.variance if is_positive else 1.0


def _counts_errors(test: UStatisticTest) -> bool:
    """Whether losses are numbers of errors; means over clusters are not."""
    return test.metric.counts_errors and test.clusters is None


def _is_helped(test: UStatisticTest) -> bool:
    """Whether typical values are known: for numbers of errors, and differences of other losses.

    For linearised values they have not been studied.
    """
    if test.metric.linearised:
        return False
    return _counts_errors(test) or (test.metric.is_mean and test.paired and test.clusters is None)


def _kind(test: UStatisticTest) -> Kind:
    """The kind of interval that `fit` returns.

    The interval for an error rate of clusters is wider by an amount that is not planned here.
    """
    if test.paired:
        return "stabilised" if test.metric.counts_errors else "t"
    if test.metric.ranks_pairs and test.clusters is None:
        return "logit"
    return "plus four" if _counts_errors(test) else "t"


def _pilot_values(test: UStatisticTest, result: TestResult) -> dict[str, Any]:
    return {
        "n_pilot": test.n_units,
        "units": units_of(test),
        "learn_size": test.learn_size,
        "estimand": result.estimand,
        "loss": result.settings.get("loss"),
        "learner": result.settings.get("learner"),
        "other": result.settings.get("other"),
    }
