"""What a pilot sample, or several simulated ones, say of a test on a sample of another size."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.methods.ustatistic.interval import IntervalName
from ucvtest.methods.ustatistic.test import UStatisticTest
from ucvtest.planning.basis import LEAST_OBS, Learners
from ucvtest.planning.ladder import Ladder, log_error
from ucvtest.results.result import TestResult

__all__ = [
    "Pilot",
    "checked_tests",
    "least_of",
    "pilot_of_data",
    "pilot_of_sampler",
    "span_of",
    "units_of",
]

TOL = 0.1
"""Monte-Carlo error of the pilot's variance, as a share of it."""

ROUGH_TOL = 0.25
"""The same of an AUC, whose fits take more time, and of each of many simulated samples."""


@dataclass(frozen=True, eq=False)
class Pilot:
    """What predictions are made from: `values` are what a summary says of it."""

    basis: Learners
    estimate: float
    values: Mapping[str, Any]


def checked_tests(
    X: Any, y: Any, learners: tuple[Any, ...], question: Mapping[str, Any]
) -> tuple[UStatisticTest, ...]:
    """The test of the pilot, and for a ratio that of the ratio; `question` are its arguments."""
    test = UStatisticTest(X, y, *learners, **{**question, "contrast": "difference"})
    if not test.disjoint:
        raise ValueError(
            f"a pilot of {test.n_units} {units_of(test)} plans for learning sets of "
            f"{test.n_units // 2 - 1} at most (within classes, with loss='auc'), got "
            f"{test.learn_size}: use a smaller learn_size, or leave it out"
        )
    if not _is_ratio(question):
        return (test,)
    return test, UStatisticTest(X, y, *learners, **question)


def least_of(test: UStatisticTest) -> int:
    """The smallest size that can be planned: two learning sets, each with what is tested."""
    return max(2 * (test.learn_size + 1), LEAST_OBS)


def span_of(test: UStatisticTest) -> float:
    """The distance between the least and the largest loss; infinite where there is none."""
    if test.loss is None:
        return 1.0
    low, high = test.loss.bounds or (0.0, math.inf)
    return high - low


def pilot_of_data(tests: tuple[UStatisticTest, ...], rng: np.random.Generator) -> Pilot:
    """From one sample."""
    test, *of_ratio = tests
    seed = int(rng.integers(2**31 - 1))
    result = _fitted(test, ROUGH_TOL if test.loss is None else TOL, seed)
    first, pairs = _components(result)
    own = _ratio_result(of_ratio[0], seed) if of_ratio else None
    jackknife = first if own is None else float(own.variance)
    # M2 of a ratio is in the units of its logarithm as J is: their ratio is that of differences.
    found = jackknife, pairs * jackknife / first
    share = result.diagnostics["mc_se_variance"] / result.variance
    shown = result if own is None else own
    return _pilot(test, found, shown, log_error(_df(shown), share), {})


def pilot_of_sampler(
    sampler: Callable[[np.random.Generator, int], tuple[Any, Any]],
    learners: tuple[Any, ...],
    question: Mapping[str, Any],
    rng: np.random.Generator,
    *,
    pilot_size: int,
    n_pilots: int,
) -> Pilot:
    """From samples that are drawn, whose components are averaged."""
    found, estimates = [], []
    for _ in range(n_pilots):
        X, y = sampler(rng, pilot_size)
        test = UStatisticTest(X, y, *learners, **question)
        result = _fitted(test, ROUGH_TOL, int(rng.integers(2**31 - 1)))
        found.append(_components(result))
        estimates.append(result.estimate)
    jackknife, pair_effects = np.mean(found, axis=0).tolist()
    spread = np.std([each[0] for each in found], ddof=1) / math.sqrt(n_pilots) / jackknife
    means, values = (jackknife, pair_effects), {"n_pilots": n_pilots}
    return _pilot(test, means, result, float(spread) / 2, values, float(np.mean(estimates)))


def units_of(test: UStatisticTest) -> str:
    """What is counted: observations, or the groups that they come in."""
    return "observations" if test.clusters is None else "groups"


def _is_ratio(question: Mapping[str, Any]) -> bool:
    return question.get("contrast") == "ratio"


def _fitted(test: UStatisticTest, tol: float, seed: int) -> TestResult:
    # As a part of the plan: hooks are told of tests that answer a question.
    test._announced = False
    interval: IntervalName = "logit" if test.loss is None and not test.paired else "wald"
    result = test.fit(variance="midpoint", interval=interval, tol=tol, rng=seed)
    if not result.diagnostics["variance_jackknife"] > 0:
        raise ValueError(
            f"nothing can be predicted from this pilot: {result.status}; use a larger pilot, or "
            "another loss"
        )
    return result


def _ratio_result(test: UStatisticTest, seed: int) -> TestResult:
    """The test of the ratio itself."""
    test._announced = False
    result = test.fit(tol=TOL, rng=seed)
    if not result.variance > 0:
        raise ValueError(f"nothing can be predicted from this pilot: {result.status}")
    return result


def _components(result: TestResult) -> tuple[float, float]:
    """J and M2."""
    known = result.diagnostics
    return float(known["variance_jackknife"]), float(known["pair_effects"])


def _df(result: TestResult) -> float:
    """Degrees of freedom of the variance: by the kurtosis where it is known."""
    return float(result.diagnostics.get("df_kurtosis", result.df))


def _pilot(
    test: UStatisticTest,
    found: tuple[float, float],
    result: TestResult,
    error: float,
    values: dict[str, Any],
    estimate: float | None = None,
) -> Pilot:
    auc = test.loss is None
    counts_errors = not auc and test._mean_loss().name == "zero_one"
    kind = "log" if result.contrast == "ratio" else "t"
    # The interval of an error rate of clusters is wider by more than can be planned here.
    if not test.paired and (auc or counts_errors) and test.clusters is None:
        kind = "logit" if auc else "plus four"
    centre = result.estimate if estimate is None else estimate
    # Tails make the degrees of freedom of a ratio fewer, and more observations do not mend that.
    share = result.df / (test.n_units - 1) if kind == "log" else 1.0
    basis = Learners(
        Ladder.of(test.n_units, test.learn_size + 1, *found),
        "midpoint" if auc or counts_errors else "jackknife",
        kind,
        centre,
        error,
        share,
    )
    shown = {
        "n_pilot": test.n_units,
        "units": units_of(test),
        "learn_size": test.learn_size,
        "estimand": result.estimand,
        "loss": result.settings.get("loss"),
        "learner": result.settings.get("learner"),
        "other": result.settings.get("other"),
        "jackknife": found[0],
        "pair_effects": found[1],
        "n_fits": result.n_fits * values.get("n_pilots", 1),
    }
    return Pilot(basis, centre, shown | values)
