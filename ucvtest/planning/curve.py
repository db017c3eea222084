"""The learning curve of one learner or two: measured on the pilot, and continued beyond it."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import nnls

from ucvtest.common.execution import Progress
from ucvtest.methods.ustatistic.method import UStatisticTest
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.results.result import TestResult, uninterrupted
from ucvtest.stats.wald import reference_distribution

N_SIZES = 6
SMALLEST = 4
LARGEST_SHARE = 0.65
"""Largest share of the pilot in a learning set: above it, too few are left for testing."""

N_PAIRS = 600
POWERS = np.linspace(0.2, 2.0, 37)
"""Exponents of learning curves that are tried."""


Curve = dict[str, Any]
"""Mean losses (AUCs) of a learner by learning-set size, with a simultaneous band: columns.

Those beyond the pilot are extrapolated, and have no band.
"""


def curve_tests(
    X: Any, y: Any, learners: tuple[Any, ...], question: Mapping[str, Any], n_units: int
) -> tuple[UStatisticTest, ...]:
    """The tests of both learners at all sizes that they can learn from; no model is fitted yet."""
    question = {**question, "contrast": "difference"}
    tests = []
    largest = max(int(LARGEST_SHARE * n_units), SMALLEST + 1)
    sizes = np.geomspace(max(SMALLEST, n_units // 8), largest, N_SIZES)
    for size in sorted({round(size) for size in sizes}):
        # Learners refuse sets that are too small to learn from.
        with suppress(ValueError):
            tests.append(UStatisticTest(X, y, *learners, **{**question, "learn_size": size}))
    return tuple(tests)


def fits_of_curves(tests: Sequence[UStatisticTest]) -> int:
    """Fits of all learners at all sizes."""
    return sum(test.least_fits(_options(test)) for test in tests)


def learning_curve(
    tests: Sequence[UStatisticTest],
    rng: np.random.Generator,
    *,
    largest: int,
    alpha: float,
    progress: Progress | None = None,
) -> tuple[tuple[Curve, ...], int]:
    """Curves of all learners, continued up to learning sets of `largest`.

    Bands are simultaneous over sizes and learners, by Sidak's correction. They end at the limits of
    the loss.
    """
    if not tests:
        return (), 0
    progress = Progress() if progress is None else progress
    results = []
    for test in tests:
        options, seed = _options(test), int(rng.integers(2**31 - 1))
        progress.later = max(progress.later - test.least_fits(options), 0)
        execution = replace(test.question.execution(rng=seed), progress=progress)
        # Hooks receive the plan, not its parts.
        results.append(uninterrupted(test.run(options, execution)))
    learner_means = [
        _per_learner(test, result) for test, result in zip(tests, results, strict=True)
    ]
    n_fits = sum(result.n_fits for result in results)
    sizes = [test.learn_size for test in tests]
    adjusted_alpha = -math.expm1(math.log1p(-alpha) / (len(sizes) * len(tests[0].learners)))
    distribution = reference_distribution("t", tests[0].n_units - 1.0)
    assert distribution is not None
    t = distribution.isf(adjusted_alpha / 2)
    bounds = tests[0].metric.bounds or (-math.inf, math.inf)
    sizes_beyond = np.array([], dtype=int)
    if largest > sizes[-1]:
        sizes_beyond = np.unique(np.geomspace(sizes[-1], largest, N_SIZES).round().astype(int))
    curves = []
    for position, name in enumerate(learner_means[0][0]):
        means = np.array([values[position] for _, values, _ in learner_means])
        errors = np.array([se[position] for _, _, se in learner_means])
        extrapolated = _extrapolated(
            sizes, means, errors, sizes_beyond, rises=tests[0].metric.greater_is_better
        )
        low, high = np.clip([means - t * errors, means + t * errors], *bounds)
        unknown = np.full(len(sizes_beyond), math.nan)
        curves.append(
            {
                "learner": name,
                "learn_size": np.concatenate([sizes, sizes_beyond]).astype(int),
                "estimate": np.concatenate([means, extrapolated]),
                "low": np.concatenate([low, unknown]),
                "high": np.concatenate([high, unknown]),
                "extrapolated": np.arange(len(sizes) + len(sizes_beyond)) >= len(sizes),
            }
        )
    return tuple(curves), n_fits


def _options(test: UStatisticTest) -> UStatisticOptions:
    pairs = max(N_PAIRS, 10 * test.n_units)
    return test.fit_options(n_pairs=pairs, variance="jackknife")


def _per_learner(
    test: UStatisticTest, result: TestResult
) -> tuple[list[str], list[float], list[float]]:
    """Names, means and standard errors of the learners."""
    if not test.paired:
        return [str(result.settings["learner"])], [result.estimate], [result.se]
    learner_table = result.tables["Learners"]
    return (
        list(learner_table["learner"]),
        list(learner_table["estimate"]),
        list(learner_table["se"]),
    )


def _extrapolated(
    sizes: list[int],
    means: np.ndarray,
    errors: np.ndarray,
    sizes_beyond: np.ndarray,
    *,
    rises: bool,
) -> np.ndarray:
    """The inverse power law that fits best, beyond the sizes that were tried."""
    if not len(sizes_beyond):
        return np.array([])
    x = np.array(sizes, dtype=float)
    response = 1 - means if rises else means
    positive_errors = errors[np.isfinite(errors) & (errors > 0)]
    weight = 1 / np.where(
        errors > 0, errors, positive_errors.min() if len(positive_errors) else 1.0
    )
    weight = np.where(np.isfinite(weight), weight, 0.0)
    fits = []
    for power in POWERS:
        design = np.column_stack([np.ones_like(x), x**-power])
        coefficients, residual = nnls(design * weight[:, None], np.maximum(response, 0) * weight)
        fits.append((residual, power, coefficients))
    _, power, (limit, slope) = min(fits, key=lambda fit: fit[0])
    extrapolated = limit + slope * sizes_beyond.astype(float) ** -power
    return 1 - extrapolated if rises else extrapolated
