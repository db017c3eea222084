"""Notes and words that several tests share."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ucvtest.common.notes import Note, reworded
from ucvtest.data.groups import Clusters, GroupWeight
from ucvtest.data.sample import Sample
from ucvtest.data.weights import (
    EFFECTIVE_GROUPS,
    EFFECTIVE_SIZE,
    N_WEIGHT_0,
    WEIGHTS,
    few_by_weight,
)
from ucvtest.metrics.means import CERTAIN_AND_WRONG, MOST_LOG_LOSS
from ucvtest.results.limits import LEVEL, limit_notes
from ucvtest.results.result import TestResult
from ucvtest.results.wording import uneven_clusters

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
            "rare level of a factor: the directions in which it does not vary were dropped, as by "
            'scikit-learn\'s solver "svd".'
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


def is_reuse_note(note: str) -> bool:
    """Whether it is one of a question's `reuse_notes`; results keep notes as text alone."""
    return note.startswith(REUSED)


NEW_ROW: Mapping[GroupWeight, str] = {
    "group": "at a random row of a new cluster",
    "row": "at a new row, clusters counting as many times as they have rows",
}
"""What the estimand of a test on clusters is about."""


def in_clusters(estimand: str, clusters: Clusters | None) -> str:
    """An estimand, with its rows and clusters."""
    return estimand if clusters is None else f"{estimand} ({NEW_ROW[clusters.weight]})"


def few_clusters(n_tested: int) -> str:
    """The status of a test on this number of tested clusters."""
    if n_tested > 1:
        return "ok"
    return "no variance estimate: a single group was tested; test two at least, better twenty"


def about_weights(result: TestResult, where: str, worth: Mapping[str, Any]) -> TestResult:
    """A result about rows that do not count alike, and says so.

    There is no test where a few rows have nearly all of the weight.
    """
    # Those of tested rows, where a test knows them.
    known = {name: result.settings[name] for name in worth if name in result.settings}
    worth = {**worth, **known}
    result = replace(result, settings={**result.settings, WEIGHTS: where, **worth})
    if "fit" in where:
        result = replace(result, estimand=f"{result.estimand} (rules learnt with weights)")
    if not worth:
        return result
    result = replace(result, notes=(*result.notes, _worth_in_words(worth)))
    status = few_by_weight(worth)
    if status == "ok" or result.status != "ok":
        return result
    of_limits = limit_notes(result, LEVEL)
    return replace(
        result,
        status=status,
        notes=tuple(note for note in result.notes if note not in of_limits),
        statistic=math.nan,
        pvalue=math.nan,
        df=math.nan,
        reference="none",
        rule=None,
        posterior=None,
    )


def _worth_in_words(worth: Mapping[str, Any]) -> str:
    """The note on how many rows of equal weight would tell as much."""
    note = (
        "The estimate is a weighted mean over rows, which by their weights are worth "
        f"{worth[EFFECTIVE_SIZE]:.4g} equal ones (Kish)"
    )
    if EFFECTIVE_GROUPS in worth:
        note += f", and their clusters {worth[EFFECTIVE_GROUPS]:.4g} equal ones"
    left_out = int(worth.get(N_WEIGHT_0, 0))
    return f"{note}." + (f" Rows of weight 0 were left out: {left_out}." if left_out else "")


def _about_clusters(note: str) -> str:
    return note.replace("independent observations", "independent clusters")


def about_clusters(result: TestResult, clusters: Clusters) -> TestResult:
    """A result that counted clusters as its observations, and says so."""
    sizes = clusters.groups.sizes
    rows_at_test = NEW_ROW[clusters.weight]
    # All tests make the same assumption about their units.
    notes: Iterable[str] = (reworded(note, _about_clusters) for note in result.notes)
    if clusters.weight == "row":
        notes = (*notes, *uneven_clusters(clusters.groups))
    return replace(
        result,
        estimand=f"{result.estimand} ({rows_at_test})",
        n_obs=clusters.groups.n_obs,
        notes=tuple(notes),
        settings={**result.settings, "group_weight": clusters.weight},
        diagnostics={
            **result.diagnostics,
            "n_groups": clusters.n_groups,
            "smallest_group": int(sizes.min()),
            "largest_group": int(sizes.max()),
        },
    )
