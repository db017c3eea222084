"""Notes and words that several tests share."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ucvtest.common.notes import Note, reworded
from ucvtest.common.words import arg, excerpt
from ucvtest.data.groups import Clusters, GroupWeight
from ucvtest.data.sample import Sample
from ucvtest.data.weights import EFFECTIVE_GROUPS, EFFECTIVE_SIZE, N_WEIGHT_0
from ucvtest.metrics.means import CERTAIN_AND_WRONG, MOST_LOG_LOSS
from ucvtest.results.fields import quiet_interval
from ucvtest.results.result import TestResult
from ucvtest.results.wording import uneven_clusters
from ucvtest.stats.wald import wald_interval

INDEPENDENCE = "labels and features are independent"
"""What tests that permute labels call their null hypothesis, in results."""


OF_EXPECTED_PARTS = (
    "The metric is computed from its parts (such as the cells of a confusion matrix) averaged over "
    "learning sets. It is not the average of the metric over learning sets."
)
"""The note on the estimand of functions of means."""

NOTABLE_BIAS = 0.25
"""Bias of second order, as a share of the standard error, above which a note says it."""

REUSED = "Nothing was fitted for this test"


def tie_notes(counts: Mapping[str, Any]) -> list[str]:
    """Notes on ties, singular covariance matrices, and log losses that would be infinite."""
    notes = []
    n_ties, n_singular = counts.get("score_ties"), counts.get("singular_fits")
    n_certain = counts.get(CERTAIN_AND_WRONG)
    if n_ties:
        notes.append(
            f"{n_ties} predictions were ties between the classes, decided by the learner's rule "
            "(by default the first class)."
        )
    if n_singular:
        notes.append(
            f"{n_singular} fits had a learning set with a singular covariance matrix, as without a "
            "rare level of a factor: the directions in which it does not vary were dropped."
        )
    if n_certain:
        notes.append(
            f"{n_certain} predictions had a probability of 0 for what happened, where the log loss "
            f"is infinite: it was taken to be {MOST_LOG_LOSS:.3g}, that of the probability "
            f"{math.exp(-MOST_LOG_LOSS):.3g}."
        )
    return notes


def one_class_and_tie_notes(counts: Mapping[str, int]) -> list[str]:
    """Notes on learning sets with one class, and on ties."""
    notes = tie_notes(counts)
    if not counts.get("one_class_fits"):
        return notes
    number = counts["one_class_fits"]
    return [f"{number} fits had a learning set with a single class and predict it.", *notes]


def sample_notes(sample: Sample | None) -> list[str]:
    """Notes on rows that repeat and columns that number them; none where losses were given."""
    return [] if sample is None else [remark.text for remark in sample.remarks]


def budget_notes(
    n_permutations: Any, n_requested: int | None, max_seconds: float | None
) -> list[str]:
    """The note that seconds allowed fewer permutations than were asked for, where they did."""
    if n_requested is None:
        return []
    text = (
        f"n_permutations = {n_permutations}, which max_seconds = {max_seconds:g} allowed, instead "
        f"of {n_requested}."
    )
    line = f"max_seconds = {max_seconds:g} allowed {n_permutations} of {n_requested} permutations."
    return [Note(text, line)]


def bias_notes(bias: float, se: float) -> list[str]:
    """The note on a bias of second order, where it is notable."""
    if not abs(bias) > NOTABLE_BIAS * se > 0:
        return []
    share = f"{abs(bias) / se:.0%} of its standard error"
    text = (
        f"The estimate has an expected bias of about {bias:.2g}, which is {share}: the sample is "
        "small for this metric."
    )
    return [Note(text, f"The estimate has an expected bias of {bias:.2g}, {share}.")]


NEW_ROW: Mapping[GroupWeight, str] = {
    "group": "at a random row of a new cluster",
    "row": "at a new row, clusters weighted by their size",
}
"""What the estimand of a test on clusters is about."""


POSITIVE_CLASS = "positive_class"
"""The diagnostic that names the class; results have it where their value depends on which it is."""


def turned_aucs(result: TestResult, positive: Any) -> list[str]:
    """Notes on AUCs whose whole two-sided interval lies below 0.5, whatever the alternative."""
    if result.settings.get("other") is not None:
        upper_ends = _upper_ends(result.tables.get("Learners", {}))
    else:
        interval = quiet_interval(replace(result, alternative="two-sided"), 0.05)
        upper_ends = {result.settings.get("learner"): interval[1]}
    return [
        Note(
            f"An AUC below 0.5, with its whole interval, was found for {name}: its high scores go "
            f"with the class that is not {excerpt(positive)}. If they are meant to, name that "
            f"class by {arg('pos_label')}.",
            f"The AUC of {name} is below 0.5: is the other class meant ({arg('pos_label')})?",
        )
        for name, high in upper_ends.items()
        if high < 0.5
    ]


def weight_note(worth: Mapping[str, Any]) -> str:
    """What weighted rows, and their clusters, are worth."""
    note = (
        "The estimate is a weighted mean over rows, which by their weights are worth "
        f"{worth[EFFECTIVE_SIZE]:.4g} equal ones (Kish)"
    )
    if EFFECTIVE_GROUPS in worth:
        note += f", and their clusters {worth[EFFECTIVE_GROUPS]:.4g} equal ones"
    left_out = int(worth.get(N_WEIGHT_0, 0))
    return note + (f". Rows of weight 0 were left out: {left_out}." if left_out else ".")


def of_clusters(notes: list[str], clusters: Clusters) -> list[str]:
    """Notes of a test that counted clusters as its observations."""
    # All tests make the same assumption about their units.
    rows, units = "independent observations", "independent clusters"
    about_units = [reworded(note, lambda text: text.replace(rows, units)) for note in notes]
    if clusters.weight == "row":
        about_units += uneven_clusters(clusters.groups)
    return about_units


def _upper_ends(table: Mapping[str, tuple[Any, ...]]) -> dict[Any, float]:
    """The upper end of each of two learners, from the table of them, which may have errors."""
    names = table.get("learner", ())
    if "conf_high" in table:
        return dict(zip(names, table["conf_high"], strict=True))
    numbers = zip(table.get("estimate", ()), table.get("se", ()), strict=True)
    upper_ends = [
        wald_interval(estimate, se, "normal", math.nan, "two-sided", 0.05)[1]
        for estimate, se in numbers
    ]
    return dict(zip(names, upper_ends, strict=True))
