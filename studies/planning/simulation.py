"""Plans from single pilots, and what larger samples then show."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import ucvtest as uv
from studies.planning.problems import Problem
from studies.simulate.many_samples import ManySamples
from ucvtest.designs.draws import draw_orders, learning_sets
from ucvtest.kernels.ustatistic.contrasts import Estimate, estimate, linear, slope
from ucvtest.kernels.ustatistic.rows import Rows, Strata, blocks_for
from ucvtest.stats.pivots import Stabilised, plus_four

PILOTS, TARGETS = (40, 60), (100, 200, 400)
SETS_OF_TRUTH, PAIRS_REPORTED = 150, 200
"""Learning sets that all samples of a size share: for estimates alone, and for standard errors."""


def truth(
    problem: Problem, pilot: int, n: int, n_samples: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Estimates from all samples of one size, all with the same learning sets."""
    rng = np.random.default_rng([seed, pilot, n])
    learning = learning_sets(draw_orders(rng, SETS_OF_TRUTH, n), 0, pilot // 2 - 1)
    many = ManySamples(
        problem.sampler, problem.learners, learning, ~learning, loss=problem.loss, rng=rng
    )
    for block in many.losses(n_samples):
        rows = block.sum(axis=2) / (~learning).sum(axis=1)
        for mean, noise in zip(rows.mean(axis=1), rows.var(axis=1, ddof=1), strict=True):
            yield {"estimate": mean, "mc": noise / SETS_OF_TRUTH}


def reported(
    problem: Problem, pilot: int, n: int, n_samples: int, seed: int
) -> Iterator[dict[str, Any]]:
    """What the test reports from samples of one size, with its default interval.

    Widths are without the Monte-Carlo part, which more fits would take away. All samples have the
    same learning sets, as in `truth`.
    """
    g, about_errors = pilot // 2 - 1, problem.loss == "zero_one"
    rng = np.random.default_rng([seed, pilot, n])
    orders = draw_orders(rng, PAIRS_REPORTED, n)
    sides = learning_sets(orders, 0, g), learning_sets(orders, g, g)
    learning = np.concatenate(sides)
    many = ManySamples(
        problem.sampler, problem.learners, learning, ~learning, loss=problem.loss, rng=rng
    )
    draw = np.tile(np.arange(PAIRS_REPORTED), 2)
    for block in many.losses(n_samples):
        for losses in block:
            rows = Rows(Strata.single(n, g), 1, pairs=about_errors, n_blocks=blocks_for(n))
            rows.add(np.where(learning, 0.0, losses)[None], learning, draw)
            effects = rows.effects()
            contrast = linear([1.0], effects.u)
            found = estimate(effects, contrast)
            bent = slope(effects, contrast) if about_errors else (0.0, 0.0, 0.0)
            yield _told(problem, n, found, "midpoint" if about_errors else "jackknife", bent)


def _told(
    problem: Problem, n: int, found: Estimate, variance: str, bent: tuple[float, float, float]
) -> dict[str, Any]:
    """Estimate, standard error, width and p-value of a default test."""
    value, mc_se = found.value, found.mc_se
    se = math.sqrt(max(found.variances[variance], 0.0))
    row = {"estimate": value, "mc": mc_se**2, "se": se, "width": math.nan, "pvalue": math.nan}
    if not se:
        return row
    if len(problem.learners) == 1:
        low, high = plus_four(value, se**2, n).interval("two-sided", 0.05)
        return row | {"width": high - low}
    beta, error = bent[0], math.hypot(*bent[1:])
    low, high = Stabilised(0.0, se, n - 1.0, slope=beta, slope_error=error).interval(
        "two-sided", 0.05
    )
    whole = Stabilised(value, math.hypot(se, mc_se), n - 1.0, slope=beta, slope_error=error)
    return row | {"width": high - low, "pvalue": whole.pvalue(0.0, "two-sided")}


def plans(
    problem: Problem, pilot: int, difference: float, n_pilots: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Plans from single pilots for larger samples, and their data.

    A pilot of a single class is refused, and left out.
    """
    for sample in range(n_pilots):
        rng = np.random.default_rng([seed, pilot, sample])
        X, y = problem.sampler(rng, pilot)
        if len(np.unique(y)) == 1:
            continue
        asked = {"difference": difference} if len(problem.learners) == 2 else {"width": 0.1}
        shared = {"loss": problem.loss, "n": TARGETS, "curve": False, "rng": sample}
        plan = uv.plan(X, y, *problem.learners, **asked, **shared)
        told = plan.frame.set_index("n")
        yield {f"{name} {n}": told.at[n, name] for name in told for n in TARGETS}


def at_bounds(
    problem: Problem, theta: float, n_samples: int, seed: int
) -> Iterator[dict[str, Any]]:
    """p-values of both one-sided tests at the true difference, n = 40."""
    for sample in range(n_samples):
        rng = np.random.default_rng([seed, 40, sample])
        X, y = problem.sampler(rng, 40)
        test = uv.UStatisticTest(X, y, *problem.learners, learn_size=19, loss=problem.loss)
        result = test.fit(n_pairs=400, rng=sample)
        if result.status != "ok":
            yield {"low": 1.0, "high": 1.0}
            continue
        # Each hypothesis at its bound, the other bound far away.
        yield {
            "low": result.equivalence(theta, theta + 0.5).pvalue_low,
            "high": result.equivalence(theta - 0.5, theta).pvalue_high,
        }
