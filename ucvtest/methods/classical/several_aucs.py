"""The AUCs of several rules on the same observations, and DeLong's test that they are equal."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.common.words import call
from ucvtest.data.groups import Clusters
from ucvtest.inference.question import check_losses
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.results.joint_result import JointResult
from ucvtest.stats.placements import (
    Area,
    AreaUnderCurve,
    Equality,
    auc_table,
    clustered_placements,
    covariance,
    equality,
    placements,
)

LEAST = 3
"""Least number of observations of each class for a variance with the normal distribution. With two,
the variance would come from a single difference."""

RANKED_ALIKE = (
    "all observations are ranked the same, or perfectly, so the error of the AUC cannot be "
    "estimated; test more observations"
)
"""The status of a test on an AUC without a variance."""


@dataclass(frozen=True, eq=False)
class TestedLabels:
    """Labels of the tested observations, and their clusters if they have any."""

    labels: np.ndarray
    clusters: Clusters | None

    @property
    def counts(self) -> dict[str, int]:
        """Tested observations of either class, and clusters that contain any."""
        positive = self.labels == 1
        counts = {"n_positive": int(positive.sum()), "n_negative": int((~positive).sum())}
        if self.clusters is None:
            return counts
        index = self.clusters.groups.index
        return counts | {
            "n_positive_groups": len(np.unique(index[positive])),
            "n_negative_groups": len(np.unique(index[~positive])),
        }

    @property
    def few(self) -> bool:
        """Whether there are too few for a variance."""
        return min(self.counts.values()) < 2

    @property
    def too_few(self) -> str:
        """The status of a test with too few of a class."""
        *_, n_positive, n_negative = self.counts.values()
        if self.clusters is not None:
            return (
                f"no estimate: {n_positive} groups with positive and {n_negative} with negative "
                "observations were tested, but a variance needs two of each; test more groups"
            )
        return (
            f"no estimate: {n_positive} positive and {n_negative} negative observations were "
            "tested, but a variance needs two of each; test more, or use stratified folds"
        )

    @property
    def status(self) -> str:
        """The status: "ok", or the reason if there are too few observations for an answer.

        Clusters use Student's t, whose degrees of freedom account for small numbers.
        """
        if self.few:
            return self.too_few
        n_positive, n_negative, *_ = self.counts.values()
        if self.clusters is not None or min(n_positive, n_negative) >= LEAST:
            return "ok"
        return (
            f"too few observations: {n_positive} positive and {n_negative} negative ones were "
            f"tested, but the error of an AUC can only be estimated with {LEAST} of each; test "
            "more"
        )

    @property
    def by_clusters(self) -> str:
        """The words that are added to the name of the method."""
        return "" if self.clusters is None else " by clusters"

    def placements(self, scores: np.ndarray) -> AreaUnderCurve:
        """The placement values of one rule."""
        if self.clusters is None:
            return placements(self.labels, scores)
        equal = self.clusters.weight == "group"
        return clustered_placements(self.labels, scores, self.clusters.groups.index, equal=equal)


def unknown(observed: LossDifference) -> list[float]:
    """Estimates, or variances, where a class has too few observations for any."""
    return [math.nan] * len(observed.contrast_and_own)


def area_table(
    names: Sequence[Any], learner_areas: Sequence[Area], by_logit: bool, tested: TestedLabels
) -> dict[str, tuple[Any, ...]]:
    """The AUC of each rule, without an error if there are too few observations."""
    table = auc_table(names, learner_areas, by_logit=by_logit)
    if tested.status == "ok":
        return table
    unknown = (math.nan,) * len(learner_areas)
    return {**table, "se": unknown, "conf_low": unknown, "conf_high": unknown}


def several_names(losses: Losses, learners: Sequence[str | int] | None) -> tuple[str, ...]:
    """The names of the requested learners; there must be at least two different ones."""
    check_losses(losses)
    if learners is None:
        user_learners: Sequence[str | int] = losses.learners
    elif isinstance(learners, str) or not isinstance(learners, Sequence):
        raise ValueError(
            f"learners must be a sequence of names or positions, got {learners!r:.60}: pass, for "
            f"example, {list(losses.learners[:3])}"
        )
    else:
        user_learners = learners
    names = tuple(losses.learners[losses.number_of(learner)] for learner in user_learners)
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(
            f"a joint test needs two different learners or more, got {list(names)}: "
            f"{call('DeLongTest')} tests the AUC of one"
        )
    return names


def joint_test(
    losses: Losses, names: tuple[str, ...], tested: TestedLabels, estimand: str
) -> JointResult:
    """The test that the AUCs of these rules are equal, all at once; see `DeLongTest.joint`."""
    rows = [losses.known_values[losses.number_of(name)] for name in names]
    placements_of_learners = [] if tested.few else [tested.placements(row) for row in rows]
    equality_test = (
        equality(placements_of_learners) if tested.status == "ok" else Equality(math.nan, 0, False)
    )
    k, status = len(names), tested.status
    if status == "ok" and equality_test.differ:
        status = (
            "degenerate: a difference of AUCs has no error, for example if a rule ranks perfectly "
            "or does not rank at all; leave this rule out, or test more observations"
        )
    elif status == "ok" and not equality_test.df:
        status = (
            "degenerate: all learners rank observations the same, so there is no difference to test"
        )
    return JointResult(
        learners=names,
        estimates=tuple(learner_placements.mean for learner_placements in placements_of_learners)
        if placements_of_learners
        else (math.nan,) * k,
        covariance=covariance(placements_of_learners)
        if placements_of_learners
        else np.full((k, k), math.nan),
        statistic=equality_test.statistic,
        df=equality_test.df,
        pvalue=equality_test.pvalue,
        method="DeLong joint test of several AUCs" + tested.by_clusters,
        estimand=estimand,
        status=status,
    )
