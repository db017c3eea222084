"""The scores of rows that rules have not learnt from: of fixed rules, of folds, or of learners."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.common.checks import is_integer
from ucvtest.data.groups import Groups, as_groups
from ucvtest.data.positive_class import check_positive_of_losses
from ucvtest.designs.design import Design
from ucvtest.designs.structure import disjoint_sets_of
from ucvtest.kernels.ustatistic.few import LEAST_ROUNDS
from ucvtest.losses.table import Losses
from ucvtest.metrics.smooth import SmoothMetric

SCORES = ("score", "probability")
"""Outputs of learners that thresholds divide."""


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """The scores of one or two rules for the same rows, or of all rules of learners.

    Parameters
    ----------
    positive : ndarray of bool, shape (n,)
    scores : ndarray, shape (L, T)
        Of all tested rows: T is n, or more if learners have several rules.
    learners : tuple of str
    groups : Groups or None
    n_folds : int
        0 if the rules are fixed.
    pos_label : object
        The positive class, in the form for settings.
    learning : ndarray of bool, shape (R, n), or None
        The learning sets of learners; None for rules.
    n_one_class : int
        Rules that were learnt from one class.
    """

    positive: np.ndarray
    scores: np.ndarray
    learners: tuple[str, ...]
    groups: Groups | None
    n_folds: int
    pos_label: Any
    learning: np.ndarray | None
    n_one_class: int

    @property
    def tested_positive(self) -> np.ndarray:
        """Whether each tested row is positive, (T,)."""
        if self.learning is None:
            return self.positive
        return np.broadcast_to(self.positive, self.learning.shape)[~self.learning]

    @property
    def learn_size(self) -> int | None:
        """Rows, or clusters, that learners learn from; None for rules."""
        if self.learning is None:
            return None
        learnt = self.learning[0]
        return int((learnt if self.groups is None else learnt[self.groups.first]).sum())


def scored_rows(losses: Losses, names: Any = None) -> ScoredRows:
    """The scores that losses keep, of all learners or of those that are named.

    Raises
    ------
    ValueError
        If losses keep no scores of two classes, a name is unknown, or a curve cannot use the
        design.
    """
    all_scores, positive = _kept_scores(losses)
    check_positive_of_losses(losses.settings, "a curve")
    learner_indices = _learner_indices(losses, names)
    learners = tuple(losses.learners[learner_index] for learner_index in learner_indices)
    scores, n_one_class = all_scores[learner_indices], _n_one_class(losses, learners)
    design, groups = losses.design, losses.groups
    rows, n_folds, learning = np.arange(design.n_obs), 0, None
    if design.n_resamples == 1:
        rows = np.flatnonzero(design.testing[0])
        _check_one_test_set(positive[rows], None if groups is None else groups[rows])
    elif (design.testing.sum(axis=0) == 1).all():
        # Losses have the rows fold by fold.
        scores, n_folds = scores[:, np.argsort(np.nonzero(design.testing)[1])], len(design.testing)
    else:
        learning = _rounds_of(design, groups)
    return ScoredRows(
        positive=positive[rows],
        scores=scores,
        learners=learners,
        groups=None if groups is None else as_groups(groups[rows], len(rows)),
        n_folds=n_folds,
        pos_label=losses.settings.get("pos_label"),
        learning=learning,
        n_one_class=n_one_class,
    )


def _check_one_test_set(positive: np.ndarray, groups: np.ndarray | None) -> None:
    """Refuse a test set that shows nothing of a class, or of the variation of clusters."""
    problem = "rows of one class" if len(np.unique(positive)) < 2 else ""
    if not problem and groups is not None and len(np.unique(groups)) < 2:
        problem = "one cluster"
    if problem:
        raise ValueError(
            f"the design of the losses tests {problem} only: test more of the sample, or use "
            "cross-validation"
        )


def _n_one_class(losses: Losses, learners: Sequence[str]) -> int:
    """The rules of these learners that were learnt from one class: they have no decision scores."""
    n_one_class = sum(
        losses.diagnostics.get(name, {}).get("one_class_fits", 0) for name in learners
    )
    if n_one_class and losses.metric.output == "score":
        raise ValueError(
            f"{n_one_class} of the rules were learnt from one class and have no score, only ties: "
            "use larger learning sets, or losses with metric='brier_skill'"
        )
    return n_one_class


def _learner_indices(losses: Losses, names: Any) -> list[int]:
    """The positions of all learners, or of those that are named."""
    if names is None:
        return list(range(len(losses.learners)))
    is_single = isinstance(names, str) or is_integer(names)
    if not is_single and not isinstance(names, list | tuple):
        raise ValueError(
            f"predictions are known to the losses, got {type(names).__name__}: leave it out, or "
            f"name one or two of {', '.join(losses.learners)}"
        )
    learner_indices = [losses.number_of(name) for name in ([names] if is_single else names)]
    if not learner_indices or len(set(learner_indices)) < len(learner_indices):
        raise ValueError(
            f"predictions must name one or two different learners of the losses "
            f"({', '.join(losses.learners)}), got {names!r:.60}"
        )
    return learner_indices


def _kept_scores(losses: Losses) -> tuple[np.ndarray, np.ndarray]:
    """Scores, or probabilities of the positive class, (L, T), and the positive rows (n,)."""
    metric, target, scores = losses.metric, losses.target, losses.predictions
    if isinstance(metric, SmoothMetric):
        has_scores = metric.output in SCORES and metric.cut is None
    else:
        has_scores, scores = metric.ranks_pairs, losses.values
    if has_scores and scores is not None and target is not None and set(target) == {0, 1}:
        return scores, target == 1
    remedy = "pass the labels and the scores themselves"
    if losses.design.learns:
        remedy = "use uv.evaluate(..., loss='auc'), or metric='brier_skill' for probabilities"
    raise ValueError(
        f"these losses (loss={losses.loss!r}) keep no scores of two classes, which a curve needs: "
        f"{remedy}"
    )


def _rounds_of(design: Design, groups: np.ndarray | None) -> np.ndarray:
    """The disjoint pairs of learning sets (2 R, n) of a design that tests rows several times."""
    n_tests = design.testing.sum(axis=0)
    if n_tests.max() == 1:
        raise ValueError(
            f"the design of the losses tests {int(n_tests.sum())} of {design.n_obs} rows by "
            "several rules: use K-fold cross-validation, or one split"
        )
    units = as_groups(groups, design.n_obs)
    by_unit = design if units is None else design.by_groups(units)
    most_learnt = by_unit.n_obs // 2 - 1
    try:
        n_rounds, _ = disjoint_sets_of(by_unit, n_sets=1)
    except ValueError:
        raise ValueError(
            "the design of the losses tests rows several times, but a curve counts each row once: "
            "use one round of cross-validation for the rules learnt in it, or for learners "
            f"uv.designs.DisjointSets({most_learnt}, n_draws=10), with one set from each half"
        ) from None
    if n_rounds < LEAST_ROUNDS or by_unit.learn_sizes[0] > most_learnt:
        raise ValueError(
            f"the design of the losses has {n_rounds} pairs of learning sets of "
            f"{by_unit.learn_sizes[0]}, but the curve of a learner needs {LEAST_ROUNDS} pairs or "
            f"more, of at most {most_learnt}: use uv.designs.DisjointSets({most_learnt}, "
            "n_draws=10)"
        )
    return design.learning
