"""The AUCs of several rules on the same observations, and DeLong's test that they are equal."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from ucvtest.common.words import call
from ucvtest.data.groups import Clusters
from ucvtest.inference.question import check_losses
from ucvtest.inference.studentise import TABLE_ALPHA
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.results.joint_result import JointResult
from ucvtest.stats.influence import Equality, Influence
from ucvtest.stats.pivots import Pivot, on_logit
from ucvtest.stats.placements import influence_on_areas, placements, weighted_placements
from ucvtest.stats.wald import reference_of, wald_interval

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

    @property
    def shares(self) -> np.ndarray:
        """The weight of each row among those of its class, (T,)."""
        shares = np.ones(len(self.labels))
        for members in (self.labels == 1, self.labels != 1):
            if self.clusters is not None and self.clusters.weight == "group":
                # Every cluster with rows of a class has the same weight in that class.
                index = self.clusters.groups.index[members]
                shares[members] = 1 / np.bincount(index)[index]
            shares[members] /= shares[members].sum()
        return shares

    def influence(self, scores: np.ndarray, *, paired: bool = False) -> Influence:
        """On the AUCs of scores (L, T); of two rules first on the difference, where `paired`."""
        weights_of_clusters: tuple[np.ndarray, ...] = ()
        if self.clusters is None:
            placed = placements(self.labels, scores)
        else:
            weights_of_clusters = self.shares, self.clusters.groups.index
            placed = weighted_placements(self.labels, scores, weights_of_clusters[0])
        if paired:
            placed = np.stack([placed[0] - placed[1], *placed])
        return influence_on_areas(self.labels, placed, *weights_of_clusters)

    def df(self, influence: Influence) -> np.ndarray:
        """Degrees of freedom (L,); NaN of independent rows, whose reference is the normal."""
        no_df = np.full(len(influence.estimates), math.nan)
        return no_df if self.clusters is None else influence.welch


def unknown(observed: LossDifference) -> list[float]:
    """Estimates, or variances, where a class has too few observations for any."""
    return [math.nan] * len(observed.contrast_and_own)


def area_table(
    names: Iterable[str],
    areas: Iterable[tuple[float, float, float]],
    *,
    by_logit: bool,
    known: bool,
    rules: Sequence[Pivot | None] = (),
) -> dict[str, tuple[Any, ...]]:
    """The AUC of each rule by its estimate, variance and df, with its error and 95% interval.

    Errors are unknown with too few observations. AUCs that have `rules` have intervals alone.
    """
    columns = []
    for (estimate, variance, df), rule in zip_longest(areas, rules):
        se, interval = math.nan, (math.nan, math.nan)
        if rule is not None:
            interval = rule.interval("two-sided", TABLE_ALPHA)
        elif known:
            se = math.sqrt(variance)
            if by_logit and se > 0:
                interval = on_logit(estimate, se, df).interval("two-sided", TABLE_ALPHA)
            else:
                reference = reference_of(df)
                interval = wald_interval(estimate, se, reference, df, "two-sided", TABLE_ALPHA)
        columns.append((estimate, se, *interval))
    titles = ("estimate", "se", "conf_low", "conf_high")
    return {"learner": tuple(names), **dict(zip(titles, zip(*columns, strict=True), strict=True))}


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
    k, status = len(names), tested.status
    estimates, covariance = np.full(k, math.nan), np.full((k, k), math.nan)
    equality = Equality(math.nan, 0, False)
    if not tested.few:
        rows = [losses.number_of(name) for name in names]
        influence = tested.influence(losses.known_values[rows])
        estimates, covariance = influence.estimates, influence.covariance
        equality = Equality.of(influence) if status == "ok" else equality
    if status == "ok" and equality.differ:
        status = (
            "degenerate: a difference of AUCs has no error, for example if a rule ranks perfectly "
            "or does not rank at all; leave this rule out, or test more observations"
        )
    elif status == "ok" and not equality.df:
        status = (
            "degenerate: all learners rank observations the same, so there is no difference to test"
        )
    return JointResult(
        learners=names,
        estimates=tuple(estimates.tolist()),
        covariance=covariance,
        statistic=equality.statistic,
        df=equality.df,
        pvalue=equality.pvalue,
        method="DeLong joint test of several AUCs" + tested.by_clusters,
        estimand=estimand,
        status=status,
    )
