"""From validated inputs to a curve with its bands."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ucvtest.common.notes import Note
from ucvtest.curves.band import Band, bands_of
from ucvtest.curves.cells import Cells, count_cells
from ucvtest.curves.inputs import Inputs
from ucvtest.curves.learnt_cells import count_learnt_cells
from ucvtest.curves.points import Quantity, points_of
from ucvtest.curves.result import DIFFERENCE, Curve
from ucvtest.results.wording import percent, uneven_clusters

FEW_ROWS, FEW_CLUSTERS = 10, 25
"""With fewer positives, negatives or clusters, intervals are rough."""

FEW_PAIRS = 10
"""With fewer pairs of learning sets, intervals of learners are wide."""


def flagged_at(n_thresholds: int) -> np.ndarray:
    """Whether rows between thresholds are at or above each of them (K, K + 1)."""
    return ~np.tri(n_thresholds, n_thresholds + 1, dtype=bool)


def places_between(thresholds: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The number of thresholds up to each score."""
    return np.searchsorted(thresholds, scores, side="right")


def compute_curve(
    kind: str,
    inputs: Inputs,
    *,
    places: np.ndarray,
    flagged: np.ndarray,
    quantities: Sequence[Quantity],
    x: np.ndarray,
    x_name: str,
    estimand: str,
    differences: bool = True,
    references: Mapping[str, np.ndarray] | None = None,
    notes: Sequence[str] = (),
) -> Curve:
    """The bands of all learners and, if it is meaningful, of their difference.

    Parameters
    ----------
    places : ndarray of int, shape (L, n)
        The place of each prediction, out of B places of the grid.
    flagged : ndarray of bool, shape (K, B)
        Whether a row in this place is predicted to be positive at each point.
    x : ndarray, shape (L, K)
        The places of the points.
    references : mapping of str to ndarray, optional
        Rules that ignore predictions, with the rows that they flag.
    """
    n_learners, n_places = len(inputs.learners), flagged.shape[1]
    # For each learner first the negatives of all places, then the positives.
    index = 2 * np.arange(n_learners)[:, None] + inputs.tested_positive
    cell_numbers, n_cells = index * n_places + places, 2 * n_learners * n_places
    cells: Cells
    if inputs.learning is None:
        cells = count_cells(cell_numbers, n_cells, inputs.groups)
    else:
        cells = count_learnt_cells(cell_numbers, n_cells, inputs.learning, inputs.groups)
    rules = {name: (flagged, learner_index) for learner_index, name in enumerate(inputs.learners)}
    rules |= {
        name: (rule_rows, 0) for name, rule_rows in (references or {}).items() if name not in rules
    }
    points = {
        name: {
            quantity.name: points_of(quantity, rows, learner_index, n_learners)
            for quantity in quantities
        }
        for name, (rows, learner_index) in rules.items()
    }
    band_arguments = (cells, inputs.alpha, inputs.seed)
    bands: list[Band] = []
    for name, (_, learner_index) in rules.items():
        single = {
            quantity: (quantity_points,) for quantity, quantity_points in points[name].items()
        }
        bands += bands_of(name, single, x[learner_index], *band_arguments)
    if differences and n_learners == 2:
        first, second = (points[name] for name in inputs.learners)
        pair_points = {quantity: (first[quantity], second[quantity]) for quantity in first}
        bands += bands_of(DIFFERENCE, pair_points, x[0], *band_arguments)
    return Curve(
        kind,
        inputs.learners,
        tuple(bands),
        inputs.alpha,
        _settings(inputs) | {"estimand": _of_rules(inputs, estimand), "x": x_name},
        (*_notes(inputs, x_name), *notes),
    )


def _settings(inputs: Inputs) -> dict[str, Any]:
    n_rules = None if inputs.learning is None else len(inputs.learning)
    curve_settings = {
        "n_obs": len(inputs.positive),
        "n_positive": int(inputs.positive.sum()),
        "n_groups": None if inputs.groups is None else inputs.groups.n_groups,
        "n_folds": inputs.n_folds or None,
        "learn_size": inputs.learn_size,
        "n_fits": None if n_rules is None else n_rules * len(inputs.learners),
        "pos_label": inputs.pos_label,
        "seed": inputs.seed,
    }
    return {name: value for name, value in curve_settings.items() if value is not None}


def _of_rules(inputs: Inputs, estimand: str) -> str:
    """The estimand, with the rules that it is about."""
    if inputs.learn_size is not None:
        units = "observations" if inputs.groups is None else "clusters"
        return f"{estimand}, by expected counts when learning from {inputs.learn_size} {units}"
    if inputs.n_folds:
        return f"{estimand} of the rules fitted here, rows pooled over {inputs.n_folds} folds"
    return f"{estimand} of {'this rule' if len(inputs.learners) == 1 else 'these rules'}"


def _notes(inputs: Inputs, x_name: str) -> Iterator[str]:
    """What the intervals contain, what the curve of a learner averages over, and cautions."""
    binned = x_name != "threshold"
    point_words, all_words = (
        ("in one bin", "in all bins") if binned else ("at one threshold", "at all thresholds")
    )
    yield Note(
        f"low and high contain the true value of one quantity {point_words}, chosen before looking "
        f"at the curve, with {percent(1 - inputs.alpha)} confidence.",
        f"low, high: {point_words}; low all, high all: {all_words} at once.",
        importance=1,
    )
    yield (
        "low_all and high_all contain the true values of all quantities of a learner "
        f"{all_words} at once."
    )
    if inputs.learning is not None:
        yield (
            f"Each learner has {len(inputs.learning)} rules, from pairs of disjoint learning sets. "
            "Each rule is tested on all other observations. Intervals allow for learning from "
            "another sample: their standard errors are those of UStatisticTest with "
            "variance='few'."
        )
    if inputs.learning is not None and not binned:
        yield (
            "All rules have the same thresholds, which makes sense only if their scores are on one "
            "scale, such as probabilities."
        )
    if inputs.learning is not None and len(inputs.learning) < 2 * FEW_PAIRS:
        n_pairs = len(inputs.learning) // 2
        yield Note(
            f"With only {n_pairs} pairs of learning sets, standard errors have few degrees of "
            "freedom, and intervals are wide.",
            f"Intervals are wide, because there are only {n_pairs} pairs of learning sets.",
        )
    if inputs.n_one_class:
        yield (
            f"{inputs.n_one_class} of the rules were learnt from one class, and predict it for "
            "every row."
        )
    n_positive = int(inputs.positive.sum())
    fewer = min(n_positive, len(inputs.positive) - n_positive)
    if fewer < FEW_ROWS:
        text = f"The rarer class has only {fewer} rows: intervals are wide and rough."
        yield Note(text, text)
    if inputs.groups is not None and inputs.groups.n_groups < FEW_CLUSTERS:
        yield Note(
            f"With only {inputs.groups.n_groups} clusters, intervals for all points at once miss "
            "the true values more often than they should.",
            f"Intervals for all points are too short with only {inputs.groups.n_groups} clusters.",
        )
    if inputs.groups is not None:
        yield from uneven_clusters(inputs.groups)
