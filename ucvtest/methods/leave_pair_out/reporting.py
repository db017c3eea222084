"""The result of a leave-pair-out test: p-value, status, notes, tables, null distribution."""

import math
from collections.abc import Mapping
from typing import Any

from ucvtest.codes.critical_values import supremum_critical_value, supremum_pvalue
from ucvtest.codes.null_distributions import NullDistribution
from ucvtest.common.words import arg
from ucvtest.inference.answer import Answer
from ucvtest.inference.notes import INDEPENDENCE, budget_notes
from ucvtest.methods.leave_pair_out.estimation import LeavePairOutEstimates
from ucvtest.methods.leave_pair_out.options import LeavePairOutOptions, PValue, Sizes
from ucvtest.results.plot_data import Layer, Picture
from ucvtest.stats.cluster_permutation import ExchangeableLabels
from ucvtest.stats.monte_carlo import pvalue_error

LEVELS = (0.05, 0.01, 0.001)
"""Levels of the table of critical values."""

LEVEL_SHOWN = 0.05
"""Level in the picture of the null distribution."""

LEAST_PERMUTATIONS = 19
"""Fewest permutations whose smallest p-value is 0.05."""

IN_WORDS: Mapping[PValue, str] = {
    "permutation": "permutation",
    "supremum": "supremum over all algorithms",
    "wmw": "Wilcoxon-Mann-Whitney",
    "empirical": "simulated settings",
}

NOT_SET = ("other", "other_backend", "alternative", "null_value")
"""Settings of other tests that are not a choice here."""


def answer_from(
    options: LeavePairOutOptions,
    sizes: Sizes,
    estimates: LeavePairOutEstimates,
    *,
    estimand: str,
    settings: Mapping[str, Any],
    exchangeable: ExchangeableLabels | None = None,
) -> Answer:
    """The answer of a test."""
    hypothesis = exchangeable.in_words if exchangeable else _NULL_HYPOTHESIS[options.pvalue]
    u, sequence = estimates.n_errors / sizes.n_pairs, estimates.sequence
    pvalue, largest_null = _pvalue(options, sizes, estimates)
    null, pictures = estimates.nulls.get(largest_null), {}
    notes = [
        f"{estimates.n_errors:g} errors in {sizes.n_pairs} pairs; {estimates.n_ties} tied pairs "
        "count one half each.",
        _NULL_IN_WORDS[options.pvalue],
        *budget_notes(options.n_permutations, options.n_requested, options.max_seconds),
    ]
    diagnostics: dict[str, Any] = {
        "n_errors": estimates.n_errors,
        "n_ties": estimates.n_ties,
        "n_pairs": sizes.n_pairs,
        "null_hypothesis": hypothesis,
        "computed_by": estimates.computed_by,
        **estimates.ties,
    }
    if null is not None:
        pictures = {"null": _picture(sizes, null, u)}
        diagnostics |= {"null_errors": null.errors, "null_probabilities": null.probabilities}
    if sequence is not None:
        diagnostics["mc_se_pvalue"] = error = sequence.error
        diagnostics |= {"n_drawn": sequence.n_drawn, "n_extreme": sequence.n_extreme}
        notes.append(f"{sequence.words} Its Monte-Carlo standard error is {error:.2g}.")
    elif null is not None and null.sampled:
        n_drawn = int(null.counts.sum())
        diagnostics["mc_se_pvalue"] = error = pvalue_error(pvalue, n_drawn)
        samples = "permutations" if options.pvalue == "permutation" else "samples per setting"
        notes.append(f"{n_drawn} {samples}: Monte-Carlo standard error of the p-value {error:.2g}.")
    if options.pvalue == "empirical":
        notes.append(f"The largest p-value comes from: {largest_null}.")
    if options.pvalue == "supremum" and _critical_errors(LEVEL_SHOWN, sizes, estimates) < 0:
        notes.append(
            f"With {sizes.n_positive} positives and {sizes.n_negative} negatives the supremum test "
            "cannot reject at the 5% level, even without an error: use "
            f"{arg('pvalue', 'permutation')}, or more data."
        )
    if estimates.ties.get("distance_ties"):
        notes.append(
            "Some neighbours are equally far away. Earlier rows count as nearer, so the result "
            "depends on the order of the rows."
        )
    return Answer(
        estimates=(1.0 - u,),
        statistic=u,
        pvalue=pvalue,
        method="Leave-pair-out test of label independence",
        estimand=estimand,
        reference="sequential permutation" if sequence else IN_WORDS[options.pvalue],
        status=_status(sizes, estimates),
        n_fits=estimates.n_labelings * sizes.n_fits,
        settings=settings,
        not_settings=NOT_SET,
        diagnostics=diagnostics,
        notes=notes,
        tables=_tables(options, sizes, estimates),
        pictures=pictures,
        null_hypothesis=hypothesis,
    )


def _pvalue(
    options: LeavePairOutOptions, sizes: Sizes, estimates: LeavePairOutEstimates
) -> tuple[float, str]:
    """The p-value, and the name of its null distribution."""
    if options.pvalue == "supremum":
        return supremum_pvalue(estimates.n_errors, sizes.n_obs, sizes.n_positive), ""
    if estimates.sequence is not None:
        return estimates.sequence.pvalue, "permutation"
    # Fixed functions do not have half errors, so the number is rounded up.
    n_errors = math.ceil(estimates.n_errors) if options.pvalue == "wmw" else estimates.n_errors
    pvalues = {name: null.pvalue(n_errors) for name, null in estimates.nulls.items()}
    largest_null = max(pvalues, key=lambda name: pvalues[name])
    return pvalues[largest_null], largest_null


def _status(sizes: Sizes, estimates: LeavePairOutEstimates) -> str:
    null = estimates.nulls.get("permutation")
    if estimates.n_ties == sizes.n_pairs:
        return (
            "degenerate: every pair is tied, so the learner scores all observations the same; use "
            "another learner, or a smaller penalty"
        )
    if estimates.sequence is not None and estimates.sequence.stopped:
        # Few draws, or few different ones, are then not a fault.
        return "ok"
    if null is not None and null.sampled and int(null.counts.sum()) < LEAST_PERMUTATIONS:
        return (
            f"too few permutations to reject at the 5% level: raise {arg('n_permutations')} to 999 "
            "or more"
        )
    if null is not None and len(null.errors) == 1:
        return "degenerate: the number of errors is the same for all labelings"
    return "ok"


_NULL_HYPOTHESIS: Mapping[PValue, str] = {
    "permutation": INDEPENDENCE,
    "supremum": INDEPENDENCE,
    # The null hypothesis includes that nothing was learnt.
    "wmw": f"{INDEPENDENCE}, and the rule is not learnt from these labels",
    "empirical": f"{INDEPENDENCE}, and the learner errs as in the simulated settings",
}

_NULL_IN_WORDS: Mapping[PValue, str] = {
    "permutation": (
        "The p-value is exact for this learner on these data. It only assumes that labels are "
        "exchangeable under the null hypothesis."
    ),
    "supremum": (
        "The p-value is valid for every learning algorithm: it is an upper bound on the share of "
        "labelings for which any algorithm can make this number of errors or fewer. It is "
        "conservative."
    ),
    "wmw": (
        "The Wilcoxon-Mann-Whitney distribution is for a function that learnt nothing from these "
        "labels; it is not a valid null distribution for a learner."
    ),
    "empirical": (
        "The p-value is the largest over simulated settings of ridge regression and nearest "
        "neighbours: it is valid for these; for other learners it relies on experience."
    ),
}


def _critical_errors(alpha: float, sizes: Sizes, estimates: LeavePairOutEstimates) -> float:
    """Largest number of errors that rejects at a level; below 0 if none does."""
    if not estimates.nulls:
        return float(supremum_critical_value(alpha, sizes.n_obs, sizes.n_positive))
    return min(null.critical_value(alpha) for null in estimates.nulls.values())


def _tables(
    options: LeavePairOutOptions, sizes: Sizes, estimates: LeavePairOutEstimates
) -> dict[str, dict[str, tuple[Any, ...]]]:
    largest = [_critical_errors(alpha, sizes, estimates) for alpha in LEVELS]
    tables: dict[str, dict[str, tuple[Any, ...]]] = {
        "Largest number of errors that rejects": {
            "level": tuple(f"{100 * alpha:g}%" for alpha in LEVELS),
            "errors": tuple("none" if errors < 0 else f"{errors:g}" for errors in largest),
            "AUC": tuple(
                "none" if errors < 0 else f"{1 - errors / sizes.n_pairs:.4f}" for errors in largest
            ),
        }
    }
    if options.pvalue == "empirical":
        pvalues = [null.pvalue(estimates.n_errors) for null in estimates.nulls.values()]
        simulated = {"setting": tuple(estimates.nulls), "pvalue": tuple(pvalues)}
        tables["Simulated settings"] = simulated
    return tables


def _picture(sizes: Sizes, null: NullDistribution, u: float) -> Picture:
    """The null distribution of U with the observed value and the level: Figures 1, 3 and 6."""
    layers = [
        Layer("bars", null.errors / sizes.n_pairs, null.probabilities, label="null distribution")
    ]
    critical = null.critical_value(LEVEL_SHOWN)
    if critical >= 0:
        layers.append(Layer("vertical", critical / sizes.n_pairs, label="5% level", role="limit"))
    layers.append(Layer("vertical", u, label="observed", role="estimate"))
    return Picture("share of wrong pairs, U", "probability", tuple(layers))
