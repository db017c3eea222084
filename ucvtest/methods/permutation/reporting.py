"""What the permutation test says: p-value, bounds, status, notes, tables, and the picture."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ucvtest.data.sample import Sample
from ucvtest.inference.notes import INDEPENDENCE, budget_notes, tie_notes
from ucvtest.kernels.permutation import Sampling, complexity_bound, error_bound
from ucvtest.methods.permutation.estimation import Found, as_small
from ucvtest.methods.permutation.optimism import Optimism
from ucvtest.methods.permutation.options import Options
from ucvtest.methods.permutation.permuted_labels import Relabeling
from ucvtest.metrics.loss import Loss
from ucvtest.results.plot_data import Layer, Picture
from ucvtest.results.result import TestResult
from ucvtest.stats.monte_carlo import pvalue_error

__all__ = ["result"]

LEAST_FOR_TEST = 19
"""Fewest permutations whose smallest p-value is 0.05."""

MOST_BARS = 60

LABELS: Mapping[Sampling, str] = {
    "permutation": "permuted labels",
    "bootstrap": "resampled labels",
    "rademacher": "coin-flip labels",
}


def result(
    sample: Sample,
    loss: Loss,
    options: Options,
    found: Found,
    *,
    estimand: str,
    settings: Mapping[str, Any],
    relabeling: Relabeling | None = None,
) -> TestResult:
    """The result of a test, but for its seconds."""
    pvalue = _pvalue(options, found)
    # Bounds are proved for independent observations.
    bounds = {} if relabeling is not None else _bounds(sample, loss, options, found)
    null = INDEPENDENCE if relabeling is None else relabeling.exchangeable.in_words
    tested = not math.isnan(pvalue)
    matrix = {} if loss.matrix is None else {"loss_matrix": loss.matrix.tolist()}
    return TestResult(
        estimate=found.e_out,
        se=math.nan,
        variance=math.nan,
        statistic=found.e_in,
        pvalue=pvalue,
        df=math.nan,
        null_value=math.nan,
        alternative="less",
        method="Permutation test and estimate of out-of-sample error",
        estimand=estimand,
        reference=_reference(options, found),
        status=_status(options),
        n_obs=sample.n_obs,
        n_fits=found.n_fits,
        elapsed=math.nan,
        settings={**settings, **matrix},
        diagnostics=_diagnostics(options, found, pvalue, bounds, null),
        notes=_notes(sample, loss, options, found, bounds),
        tables=_tables(options, found, bounds),
        pictures=_pictures(loss, options, found),
        null_hypothesis=null if tested else None,
    )


def _pvalue(options: Options, found: Found) -> float:
    """Share of labelings that are fitted as well as the real one, or better."""
    if found.relabeled is None or options.sampling != "permutation":
        return math.nan
    if found.sequence is not None:
        return found.sequence.pvalue
    e_out = found.relabeled.mean("e_in") + found.relabeled.mean("e_gen")
    counted = as_small(found.e_in, found.relabeled.e_in, e_out)
    if found.relabeled.observed is not None:
        # Fits with randomness of their own may differ when they are repeated.
        counted |= found.relabeled.observed
        # All permutations are equally likely: a count, which no sum of shares rounds.
        return float(counted.mean())
    return float((counted.sum() + 1) / (len(counted) + 1))


def _reference(options: Options, found: Found) -> str:
    if found.relabeled is None or options.sampling != "permutation":
        return "none"
    if found.sequence is not None:
        return "sequential permutation"
    return f"all {len(found.relabeled.e_in)} labelings" if options.exact else "permutation"


def _status(options: Options) -> str:
    if options.n_permutations == 1:
        return (
            "too few resamples: a single labeling is not enough to estimate the Monte-Carlo error; "
            "raise n_permutations to at least 2"
        )
    return "ok"


def _bounds(sample: Sample, loss: Loss, options: Options, found: Found) -> dict[str, float]:
    """Bounds of Theorem 6 and Corollary 4, for the error rate of two classes."""
    if loss.name != "zero_one" or sample.n_classes != 2 or found.relabeled is None:
        return {}
    if found.sequence is not None and found.sequence.stopped:
        # They are for a number of draws that does not depend on what they show.
        return {}
    n_drawn = math.inf if options.exact else len(found.relabeled.e_in)
    # One half of delta for the draws, the other one for the sample.
    delta = options.delta if options.exact else options.delta / 2
    n_obs, sampling = sample.n_obs, options.sampling
    n_minority = int(np.bincount(sample.target.astype(int)).min())
    p_in = complexity_bound(found.p_in, n_obs, n_minority, n_drawn, delta, sampling)
    bound = error_bound(found.e_in, p_in, n_obs, delta, sampling)
    return {"p_in_bound": p_in, "error_bound": bound}


def _diagnostics(
    options: Options, found: Found, pvalue: float, bounds: Mapping[str, float], null: str
) -> dict[str, Any]:
    known: dict[str, Any] = {
        "e_in": found.e_in,
        "e_gen": found.e_gen,
        "p_in": found.p_in,
        "mc_se_estimate": found.mc_se["e_gen"],
        "mc_se_p_in": found.mc_se["p_in"],
        **bounds,
        "one_class_fits": found.one_class_fits,
        **found.ties,
    }
    if found.relabeled is not None:
        known["e_in_permuted"] = found.relabeled.mean("e_in")
        known["mc_se_e_in_permuted"] = found.relabeled.mc_se("e_in")
    if not math.isnan(pvalue):
        if found.sequence is not None:
            known["mc_se_pvalue"] = found.sequence.error
            known["n_drawn"], known["n_extreme"] = found.sequence.n_drawn, found.sequence.n_extreme
        elif not options.exact:
            known["mc_se_pvalue"] = pvalue_error(pvalue, int(options.n_permutations))
        else:
            known["mc_se_pvalue"] = 0.0
        known["null_hypothesis"] = null
    return known


def _tables(
    options: Options, found: Found, bounds: Mapping[str, float]
) -> dict[str, dict[str, tuple[Any, ...]]]:
    e_gen_error, p_in_error = found.mc_se["e_gen"], found.mc_se["p_in"]
    tables: dict[str, dict[str, tuple[Any, ...]]] = {
        "Parts": {
            "part": ("e_in", "e_gen", "e_out", "P_in"),
            "value": (found.e_in, found.e_gen, found.e_out, found.p_in),
            "mc_se": (0.0, e_gen_error, e_gen_error, p_in_error),
        }
    }
    if bounds:
        tables[f"Upper bounds that hold with probability {1 - options.delta:g}"] = {
            "bound on": ("P_in (Theorem 6)", "error rate (Corollary 4)"),
            "value": (bounds["p_in_bound"], bounds["error_bound"]),
        }
    return tables


def _pictures(loss: Loss, options: Options, found: Found) -> dict[str, Picture]:
    """In-sample errors on drawn labels as bars, and the one on the real labels."""
    if found.relabeled is None:
        return {}
    values, heights, width = _bars(found.relabeled)
    picture = Picture(
        f"in-sample {loss.in_words}",
        "share of labelings",
        (
            Layer("bars", values, heights, LABELS[options.sampling], "data", width),
            Layer("vertical", x=found.e_in, label="observed labels", role="estimate"),
        ),
    )
    return {"null distribution": picture}


def _bars(relabeled: Optimism) -> tuple[np.ndarray, np.ndarray, float | None]:
    """One bar for each error; where there are many, bins and their width."""
    weight = relabeled.probability
    if weight is None:
        weight = np.full(len(relabeled.e_in), 1.0 / len(relabeled.e_in))
    values, place = np.unique(relabeled.e_in.round(12), return_inverse=True)
    if len(values) <= MOST_BARS:
        return values, np.bincount(place, weight), None
    heights, edges = np.histogram(relabeled.e_in, bins=MOST_BARS // 2, weights=weight)
    return (edges[1:] + edges[:-1]) / 2, heights, float(edges[1] - edges[0])


def _notes(
    sample: Sample, loss: Loss, options: Options, found: Found, bounds: Mapping[str, float]
) -> tuple[str, ...]:
    notes = [
        "The optimism on drawn labels stands in for that on the real ones; the estimate has no "
        "standard error and no interval."
    ]
    if options.sampling != "permutation":
        notes.append("No p-value: the null distribution needs sampling='permutation'.")
    elif found.relabeled is None:
        notes.append("No p-value: the closed form has no null distribution; use permutations.")
    elif not options.exact and int(options.n_permutations) < LEAST_FOR_TEST:
        notes.append(
            f"With {options.n_permutations} permutations no p-value can be 0.05 or smaller: raise "
            "n_permutations to 999 for a test."
        )
    notes += budget_notes(options.n_permutations, options.asked, options.max_seconds)
    if found.sequence is not None:
        notes.append(found.sequence.words)
        if found.sequence.stopped:
            notes.append(
                "The estimate rests on these few draws, the last of which was fitted well, so that "
                "it is rough and there are no bounds: leave stop_after out for the estimate."
            )
    if bounds:
        notes.append(
            "The bounds hold for a learner that minimises the in-sample error over a class of "
            "rules that contains the negation of each of its rules; a bound above 1 says nothing."
        )
    if sample.n_classes == 2 and loss.name in ("squared", "absolute"):
        notes.append("The classes are coded 0 and 1.")
    if found.one_class_fits:
        notes.append(
            f"{found.one_class_fits} labelings had a single class, which is then predicted."
        )
    notes.extend(tie_notes(found.ties))
    return tuple(notes)
