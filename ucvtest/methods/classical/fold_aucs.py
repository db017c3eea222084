"""The AUC of out-of-fold scores, over pairs within folds, as an answer."""

import math
from collections.abc import Sequence

import numpy as np

from ucvtest.common.notes import Note
from ucvtest.data.groups import Clusters
from ucvtest.designs.design import folds_in_words
from ucvtest.designs.structure import folds_of
from ucvtest.inference.answer import Answer
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.several_aucs import RANKED_ALIKE, TestedLabels, area_table, unknown
from ucvtest.stats.fold_pairs import FoldAreas, LabeledFolds
from ucvtest.stats.pivots import Pivot, on_logit

NO_PAIRS = (
    "no estimate: no fold tests both classes, so there are no pairs within folds; use fewer folds, "
    "or stratified folds"
)

ALIKE_WITHIN_FOLDS = (
    "degenerate: within every fold both learners rank all observations the same, so there is no "
    "difference to test; compare learners that differ"
)

ON_LOGIT_SCALE = (
    "Interval and p-value are computed on the logit scale, which keeps the interval between 0 and "
    "1."
)

AT_EDGE = (
    "If all pairs within folds are in the right order, or all in the wrong one, the error of the "
    "AUC cannot be estimated. For interval and p-value, a quarter of a positive and of a negative "
    "observation was therefore added above and below all others. Such intervals are wider than "
    "necessary."
)

NEAR_ONE, FEW = 0.9, 100
"""Conditions under which intervals of differences were too short: an AUC near 1, and few
observations."""

WEAK = Note(
    "With an AUC near 1 and few observations, intervals of a difference were too short: 83% of 95% "
    "intervals contained the true value at n = 40 with an AUC of 0.96. Repeat the cross-validation "
    "(five repeats: 97% in the worst case studied), or use the U-statistic test.",
    "With an AUC near 1 and few observations intervals are too short: repeat the folds.",
)

ROUNDING = 1e-10
"""Standard errors up to this value are treated as rounding error."""


def fold_aucs(
    observed: LossDifference, clusters: Clusters | None, null_value: float, of_whom: str
) -> Answer:
    """The answer about the AUC over pairs within folds, named `of_whom`."""
    losses, folds = observed.losses, folds_of(observed.design)
    assert losses.target is not None
    n_repeats, n_folds = len(folds), int(folds.max()) + 1
    labels = TestedLabels(losses.target, clusters)
    tested = LabeledFolds(
        losses.target == 1,
        folds,
        None if clusters is None else clusters.groups.index,
        # The weights of a class may have any sum.
        labels.shares if clusters is not None and clusters.weight == "group" else None,
    )
    n_pairs = tested.n_pairs
    scores = [_by_repeat(observed, place, n_folds) for place in observed.places]
    contrast_and_own: list[FoldAreas] = []
    if not labels.few:
        influences = [tested.influence(own_scores) for own_scores in scores]
        if observed.paired:
            influences = [influences[0] - influences[1], *influences]
        contrast_and_own = [FoldAreas.of(influence) for influence in influences]
    areas = contrast_and_own[-len(scores) :]
    edges = [
        _at_edge(tested, area, own_scores, null_value)
        for area, own_scores in zip(areas, scores, strict=False)
    ]
    pivot = edges[0] if edges and not observed.paired else None
    status = _status(observed, contrast_and_own, labels, n_pairs) if pivot is None else "ok"
    logit, df = not observed.paired and pivot is None, math.nan
    if contrast_and_own:
        df = contrast_and_own[0].df if pivot is None else pivot.df
    pairs_words = folds_in_words(n_folds, n_repeats)
    diagnostics = {**labels.counts, "n_pairs": float(n_pairs.mean()), "fold_means": observed.means}
    if contrast_and_own and n_repeats > 1:
        diagnostics["repeat_means"] = contrast_and_own[0].areas
    tables = {}
    if areas:
        tables["Learners"] = area_table(
            observed.values_by_learner,
            [(area.mean, area.variance, area.df) for area in areas],
            by_logit=True,
            known=labels.status == "ok",
            rules=edges,
        )
    return Answer(
        method="Cross-validation Wald test of the AUC" + labels.by_clusters,
        estimand=f"{of_whom} (pairs within folds, by the rules of this {pairs_words})",
        estimates=[area.mean for area in contrast_and_own] or unknown(observed),
        variances=[area.variance for area in contrast_and_own] or unknown(observed),
        reference="t",
        df=df,
        logit=logit,
        pivot=pivot,
        has_se=pivot is None,
        status=status,
        diagnostics=diagnostics,
        notes=(
            *_notes(observed, n_folds, n_repeats, areas),
            *((ON_LOGIT_SCALE,) if logit and status == "ok" else ()),
            *((AT_EDGE,) if any(edges) else ()),
        ),
        tables=tables,
    )


def _at_edge(
    tested: LabeledFolds, area: FoldAreas, scores: np.ndarray, null_value: float
) -> Pivot | None:
    """The rule for an AUC of 0 or 1, whose error cannot be estimated; None for any other AUC."""
    if tested.clusters is not None or area.mean not in (0, 1):
        return None
    moved, variance, df = tested.with_added(scores)
    return on_logit(area.mean, math.sqrt(variance), df, null_value, moved)


def _by_repeat(observed: LossDifference, learner_index: int, n_folds: int) -> np.ndarray:
    """The scores of a learner, (R, n): one for each observation in every repeat."""
    design = observed.design
    resample, row = np.nonzero(design.testing)
    scores = np.empty((design.n_resamples // n_folds, design.n_obs))
    scores[resample // n_folds, row] = observed.losses.known_values[learner_index]
    return scores


def _status(
    observed: LossDifference,
    contrast_and_own: Sequence[FoldAreas],
    labels: TestedLabels,
    n_pairs: np.ndarray,
) -> str:
    if not contrast_and_own:
        return labels.too_few
    if not n_pairs.all():
        return NO_PAIRS
    fold_pairs = contrast_and_own[0]
    if fold_pairs.variance > ROUNDING**2 or observed.identical:
        return "ok"
    return ALIKE_WITHIN_FOLDS if observed.paired and fold_pairs.mean == 0 else RANKED_ALIKE


def _notes(
    observed: LossDifference, n_folds: int, n_repeats: int, areas: Sequence[FoldAreas]
) -> tuple[str, ...]:
    notes: tuple[str, ...] = (
        "Assumes independent observations. The estimand is the AUC of pairs that are tested "
        f"together, averaged over the rules of this {folds_in_words(n_folds, n_repeats)}, as they "
        "are: scores of different folds are never compared. For the AUC of the learner, which "
        "also concerns other samples, the interval is too short.",
    )
    lacking = int(np.isnan(observed.means).sum())
    if lacking:
        notes += (
            Note(
                f"{lacking} of {len(observed.means)} folds test one class only. They have no pairs "
                "and do not count.",
                f"{lacking} of {len(observed.means)} folds test one class only and do not count.",
            ),
        )
    high = any(area.mean > NEAR_ONE for area in areas)
    if observed.paired and n_repeats == 1 and high and observed.design.n_obs < FEW:
        notes += (WEAK,)
    return notes
