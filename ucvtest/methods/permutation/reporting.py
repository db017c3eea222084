"""The answer of the permutation test: p-value, bounds, status, notes, tables, and the picture."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ucvtest.common.words import arg
from ucvtest.evaluation.problem import Problem
from ucvtest.inference import quantity
from ucvtest.inference.answer import Answer
from ucvtest.inference.notes import budget_notes, tie_notes
from ucvtest.kernels.permutation import Sampling, complexity_bound, error_bound
from ucvtest.methods.permutation.estimation import PermutationEstimates, as_small, loss_of
from ucvtest.methods.permutation.options import LEAST_PERMUTATIONS, PermutationOptions
from ucvtest.metrics.loss import Loss
from ucvtest.results.plot_data import Layer, Picture
from ucvtest.stats.monte_carlo import pvalue_error

LEAST_FOR_TEST = 19
"""Fewest permutations whose smallest p-value is 0.05."""

MOST_BARS = 60

LABELS: Mapping[Sampling, str] = {
    "permutation": "permuted labels",
    "bootstrap": "resampled labels",
    "rademacher": "coin-flip labels",
}


def answer_from(
    problem: Problem,
    options: PermutationOptions,
    estimates: PermutationEstimates,
    *,
    estimand: str,
    settings: Mapping[str, Any],
) -> Answer:
    """The answer, in units of losses."""
    loss, relabeled, sequence = loss_of(problem), estimates.relabeled, estimates.sequence
    e_in, e_gen, mc_se = estimates.e_in, estimates.e_gen, estimates.mc_se
    pvalue, pvalue_mc_se, reference = _test(options, estimates)
    bounds = _bounds(problem, options, estimates)
    null = options.labelings.null_hypothesis
    diagnostics: dict[str, Any] = {
        "e_in": quantity.of_one(e_in),
        "e_gen": quantity.change(e_gen),
        "p_in": estimates.p_in,
        "mc_se_estimate": quantity.spread(mc_se["e_gen"]),
        "mc_se_p_in": mc_se["p_in"],
        **bounds,
        "one_class_fits": estimates.one_class_fits,
        **estimates.ties,
    }
    if relabeled is not None:
        diagnostics["e_in_permuted"] = quantity.of_one(relabeled.mean("e_in"))
        diagnostics["mc_se_e_in_permuted"] = quantity.spread(relabeled.mc_se("e_in"))
    if reference != "none":
        diagnostics["mc_se_pvalue"] = pvalue_mc_se
        if sequence is not None:
            diagnostics |= {"n_drawn": sequence.n_drawn, "n_extreme": sequence.n_extreme}
        diagnostics["null_hypothesis"] = null
    values = (quantity.of_one(e_in), quantity.change(e_gen), quantity.of_one(estimates.e_out))
    errors = tuple(map(quantity.spread, (0.0, mc_se["e_gen"], mc_se["e_gen"])))
    tables = {
        "Parts": {
            "part": ("e_in", "e_gen", "e_out", "P_in"),
            # P_in is a share, and has no units.
            "value": (*values, estimates.p_in),
            "mc_se": (*errors, mc_se["p_in"]),
        }
    }
    if bounds:
        tables[f"Upper bounds with probability {1 - options.delta:g}"] = {
            "bound on": ("complexity P_in", "error rate"),
            # Above 1 the bound says nothing, and the diagnostics have it.
            "value": (bounds["p_in_bound"], min(bounds["error_bound"], 1.0)),
        }
    number, status = options.n_permutations, "ok"
    if isinstance(number, int) and number < LEAST_PERMUTATIONS:
        status = (
            "too few resamples: a single labeling is not enough to estimate the Monte-Carlo error; "
            f"raise {arg('n_permutations')} to at least {LEAST_PERMUTATIONS}"
        )
    matrix = {} if loss.matrix is None else {"loss_matrix": loss.matrix.tolist()}
    return Answer(
        method="Permutation test and estimate of out-of-sample error",
        estimand=estimand,
        estimates=[estimates.e_out],
        statistic=quantity.of_one(e_in),
        pvalue=pvalue,
        reference=reference,
        status=status,
        n_fits=estimates.n_fits,
        settings={**settings, **matrix},
        diagnostics=diagnostics,
        tables=tables,
        pictures=_pictures(loss, options, estimates),
        notes=_notes(problem, options, estimates, bounds),
        null_hypothesis=null if reference != "none" else None,
    )


def _test(options: PermutationOptions, estimates: PermutationEstimates) -> tuple[float, float, str]:
    """The share of labelings that are fitted as well as the real one, or better: the p-value.

    With its Monte-Carlo error, and the distribution that it comes from.
    """
    relabeled = estimates.relabeled
    if relabeled is None or options.sampling != "permutation":
        return math.nan, math.nan, "none"
    if estimates.sequence is not None:
        return estimates.sequence.pvalue, estimates.sequence.error, "sequential permutation"
    e_out = relabeled.mean("e_in") + relabeled.mean("e_gen")
    counted = as_small(estimates.e_in, relabeled.e_in, e_out)
    if relabeled.observed is not None:
        # Fits with their own randomness may differ when they are repeated.
        counted |= relabeled.observed
        # All permutations are equally likely: a count, which no sum of shares rounds.
        return float(counted.mean()), 0.0, f"all {len(counted)} labelings"
    pvalue = float((counted.sum() + 1) / (len(counted) + 1))
    return pvalue, pvalue_error(pvalue, len(counted)), "permutation"


def _bounds(
    problem: Problem, options: PermutationOptions, estimates: PermutationEstimates
) -> dict[str, float]:
    """Bounds of Theorem 6 and Corollary 4, for the error rate of two classes."""
    sample, sampling = problem.sample, options.sampling
    # They are proved for independent observations.
    proved = problem.clusters is None and sample.n_classes == 2
    if not proved or loss_of(problem).name != "zero_one" or estimates.relabeled is None:
        return {}
    if estimates.sequence is not None and estimates.sequence.stopped:
        # They are for a number of draws that does not depend on the draws.
        return {}
    n_drawn = math.inf if options.exact else len(estimates.relabeled.e_in)
    # One half of delta for the draws, the other one for the sample.
    delta = options.delta if options.exact else options.delta / 2
    n_obs, n_minority = sample.n_obs, int(np.bincount(sample.target.astype(int)).min())
    p_in = complexity_bound(estimates.p_in, n_obs, n_minority, n_drawn, delta, sampling)
    bound = error_bound(estimates.e_in, p_in, n_obs, delta, sampling)
    return {"p_in_bound": p_in, "error_bound": bound}


def _pictures(
    loss: Loss, options: PermutationOptions, estimates: PermutationEstimates
) -> dict[str, quantity.Quantity]:
    """In-sample errors on drawn labels as bars, and the one on the real labels."""
    relabeled = estimates.relabeled
    if relabeled is None:
        return {}
    weight = relabeled.probability
    if weight is None:
        weight = np.full(len(relabeled.e_in), 1.0 / len(relabeled.e_in))
    values, error_index = np.unique(relabeled.e_in.round(12), return_inverse=True)
    heights, width = np.bincount(error_index, weight), None
    if len(values) > MOST_BARS:
        heights, edges = np.histogram(relabeled.e_in, bins=MOST_BARS // 2, weights=weight)
        values, width = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0])
    picture = Picture(
        f"in-sample {loss.in_words}",
        "share of labelings",
        (
            Layer("bars", values, heights, LABELS[options.sampling], "data", width),
            Layer("vertical", x=estimates.e_in, label="observed labels", role="estimate"),
        ),
    )
    return {"null distribution": quantity.value(picture)}


def _notes(
    problem: Problem,
    options: PermutationOptions,
    estimates: PermutationEstimates,
    bounds: Mapping[str, float],
) -> tuple[str, ...]:
    sample, loss = problem.sample, loss_of(problem)
    notes = [
        "The optimism on drawn labels replaces the optimism on the real ones; the estimate has no "
        "standard error and no interval."
    ]
    if options.sampling != "permutation":
        notes.append(f"No p-value: the null distribution needs {arg('sampling', 'permutation')}.")
    elif estimates.relabeled is None:
        notes.append("No p-value: the closed form has no null distribution; use permutations.")
    elif not options.exact and int(options.n_permutations) < LEAST_FOR_TEST:
        notes.append(
            f"With {options.n_permutations} permutations no p-value can be 0.05 or smaller: raise "
            f"{arg('n_permutations')} to 999 for a test."
        )
    notes += budget_notes(options.n_permutations, options.n_requested, options.max_seconds)
    if estimates.sequence is not None:
        notes.append(estimates.sequence.words)
        if estimates.sequence.stopped:
            notes.append(
                "The estimate is rough, because it relies on these few draws, and the last one was "
                "fitted well. There are no bounds. For the estimate, leave stop_after out."
            )
    if bounds:
        notes.append(
            "The bounds are valid for a learner that minimises the in-sample error over a class of "
            "rules that contains the negation of each of its rules; a bound above 1 is not "
            "informative."
        )
    if loss.units is not None:
        notes.append(
            f"Estimate and parts are in units of {loss.units.name!r}; upper bounds are about the "
            "error rate or loss behind it."
        )
    if sample.n_classes == 2 and loss.name in ("squared", "absolute"):
        notes.append("The classes are coded 0 and 1.")
    if estimates.one_class_fits:
        notes.append(
            f"{estimates.one_class_fits} labelings had a single class, which is then predicted."
        )
    return (*notes, *tie_notes(estimates.ties))
