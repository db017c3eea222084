"""The learning sets of an AUC: how many of each class, or clusters, and the variances there are."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ucvtest.common.checks import is_integer
from ucvtest.common.words import arg, call, excerpt
from ucvtest.data.groups import Clusters, units_of
from ucvtest.data.sample import Sample
from ucvtest.designs.draws import class_shares
from ucvtest.designs.within_classes import WithinClasses
from ucvtest.kernels.ustatistic.columns import Columns, Ranking, columns_of_aucs, rankings_of
from ucvtest.kernels.ustatistic.placements import hand_till, one_against_rest, two_classes
from ucvtest.kernels.ustatistic.rows import N_BLOCKS, ROWS_FOR_EACH, Strata
from ucvtest.methods.ustatistic.precomputed_splits import GivenSets, range_of
from ucvtest.methods.ustatistic.sizes import check_complete
from ucvtest.metrics.base import when_learning_from

MAX_OBS_PAIR_EFFECTS = 1000
"""Most observations for which effects of pairs are kept: ten blocks of n x n sums for each learner,
several times over, are 1.9 GB with 1000 observations and two learners (more than 6 with 2000). More
than two classes have no variance without them."""

VARIANCES = ("midpoint", "jackknife")

FEWEST_IN_BLOCK = 10
"""Least number of learning sets of each block for a jackknife without a fit."""

FEWEST_FOR_EACH = 10
"""Least number of learning sets for each observation in "auto", if coefficients are fitted."""

LEAST_IN_CLASS = 3
"""One observation to learn from, two to test."""

LEAST_GROUPS = 6
"""Least number of clusters with rows of several classes; learning sets leave three."""


@dataclass(frozen=True, eq=False)
class AucSizes(WithinClasses):
    """Numbers of units of each class (two: positives first), in the sample and in learning sets.

    Units are observations, or `clusters`. If clusters have rows of several classes they are one
    stratum, and `rankings` say which rows are compared. `in_pairs` tells whether learning sets come
    in disjoint pairs if possible. `positive` is the label of a class that is compared with the
    rest; None for Hand and Till's AUC of all pairs of classes.
    """

    in_pairs: bool = True
    n_classes: int = 2
    positive: Any = None
    clusters: Clusters | None = None
    rankings: tuple[Ranking, ...] = ()

    @classmethod
    def checked(
        cls, sample: Sample, clusters: Clusters | None, learn_size: Any, *, against_rest: bool
    ) -> Self:
        """The sizes that a user asks for: of two classes negatives first, else in their order."""
        n_classes = sample.n_classes
        positive = np.asarray(sample.classes).tolist()[-1] if against_rest else None
        about: dict[str, Any] = {"n_classes": n_classes, "clusters": clusters}
        about["positive"] = positive if n_classes > 2 else None
        units = sample
        if clusters is not None:
            assert sample.class_index is not None
            of_clusters = clusters.groups.classes(sample.class_index) if n_classes == 2 else None
            if of_clusters is None:
                condition = "groups have rows of both classes"
                if n_classes > 2:
                    condition = f"there are {n_classes} classes"
                several, last = n_classes > 2, n_classes - 1
                positive_code = last if several and against_rest else None
                v = hand_till(n_classes)
                rankings = rankings_of(sample.class_index, v, positive_code, several=several)
                one_sample = _one_sample(clusters, learn_size, condition)
                return cls.of(*one_sample, rankings=rankings, **about)
            response = sample.response[clusters.groups.first]
            units = replace(sample, response=response, class_index=of_clusters, groups=None)
        elif n_classes > 2 and sample.n_obs > MAX_OBS_PAIR_EFFECTS:
            raise ValueError(
                f"{arg('loss', 'auc')} of {n_classes} classes needs n <= {MAX_OBS_PAIR_EFFECTS}, "
                f"got n = {sample.n_obs}: merge classes into two, or use {arg('loss', 'zero_one')}"
            )
        members, sizes = asked_sizes(units, learn_size, units_of(clusters))
        if n_classes == 2:
            members, sizes = members[::-1], sizes[::-1]
        return cls.of(members, sizes, **about)

    @classmethod
    def of_splits(cls, splits: GivenSets, target: np.ndarray) -> Self:
        """The sizes in splits that learn from as many of a class as the others."""
        design = splits.design
        if design.n_obs > MAX_OBS_PAIR_EFFECTS:
            raise ValueError(
                f"scores with {arg('loss', 'auc')} need n <= {MAX_OBS_PAIR_EFFECTS}, got n = "
                f"{design.n_obs}: make the test from data, or use {call('InfluenceFunctionTest')}"
            )
        members, learnt = [np.flatnonzero(target == code) for code in (1, 0)], []
        for class_members in members:
            sizes, count = design.learning[:, class_members].sum(axis=1), len(class_members)
            if sizes.min() != sizes.max() or not 1 <= sizes[0] <= count - 2:
                raise ValueError(
                    f"the design learns from {range_of(sizes)} of {count} observations of a class, "
                    "but the test needs the same number in every split, at least one, with two "
                    f"left to be tested: use {call('designs.RandomSplits', arg('stratify', True))} "
                    f"with a {arg('test_fraction')} in proportion to the classes"
                )
            learnt.append(int(sizes[0]))
        return cls.of(members, learnt, in_pairs=splits.in_pairs)

    @property
    def about(self) -> str:
        """The case of the variances, in words."""
        several = f" of {self.n_classes} classes" if self.n_classes > 2 else ""
        groups = "" if self.clusters is None else " with groups"
        if self.rankings and not several:
            groups += " of both classes"
        return f"{arg('loss', 'auc')}{several}{groups}"

    @property
    def n_scores(self) -> int:
        """Scores that a rule gives each observation."""
        return 1 if self.n_classes == 2 else self.n_classes

    def of_rows(self, learning: np.ndarray) -> np.ndarray:
        """The learning sets (R, n) of rows, where units are clusters of them."""
        return learning if self.clusters is None else learning[:, self.clusters.groups.index]

    @property
    def n_scored(self) -> int:
        """Rows that a rule scores: the observations, or the rows of all clusters."""
        return self.n_obs if self.clusters is None else self.clusters.groups.n_obs

    @property
    def smallest(self) -> tuple[int, str]:
        """How much there is of the smallest class, and the same in words."""
        if self.rankings:
            assert self.clusters is not None
            index = self.clusters.groups.index
            classes = [rows for ranking in self.rankings for rows in ranking[:2]]
            count = min(len(np.unique(index[rows])) for rows in classes)
            return count, f"One of the classes is in {count} groups"
        comparative = "smaller" if len(self.sizes) == 2 else "smallest"
        units = "observations" if self.clusters is None else "groups"
        return min(self.sizes), f"The {comparative} class has {min(self.sizes)} {units}"

    @property
    def user_sizes(self) -> tuple[int, ...]:
        """The number of each class in a learning set, in the order of `learn_size`."""
        return self.learn_sizes[::-1] if self.n_classes == 2 else self.learn_sizes

    @property
    def of_two_classes(self) -> bool:
        """Whether units are of two classes, each of one of them."""
        return self.n_classes == 2 and not self.rankings

    @property
    def singles_only(self) -> bool:
        """Whether there are too many observations for sums over pairs of them."""
        return self.of_two_classes and self.n_obs > MAX_OBS_PAIR_EFFECTS

    @property
    def rows_for_variances(self) -> int:
        """Learning sets that variances take at least."""
        # Coefficients of each unit are fitted to either half of the rows.
        return FEWEST_IN_BLOCK * N_BLOCKS if self.singles_only else 2 * ROWS_FOR_EACH * self.n_obs

    @cached_property
    def strata(self) -> Strata:
        """The same for the kernel: the classes in this order."""
        return Strata.of(self.members, self.learn_sizes)

    def columns(self, n_learners: int) -> Columns:
        """What rows consist of."""
        v = two_classes()[::-1, ::-1]
        if self.positive is not None and not self.rankings:
            v = one_against_rest(self.sizes, self.n_classes - 1)
        elif self.n_classes > 2:
            v = hand_till(self.n_classes)
        return columns_of_aucs(self.strata, n_learners, v, self.clusters, self.rankings)

    @property
    def counts(self) -> dict[str, Any]:
        """Diagnostics of the sample; those of clusters are in every result."""
        if self.rankings:
            return {}
        if self.n_classes > 2:
            return {"n_by_class": self.sizes}
        units = "" if self.clusters is None else "_groups"
        return {f"n_positive{units}": self.sizes[0], f"n_negative{units}": self.sizes[1]}

    def estimand(self, *, paired: bool) -> str:
        """The estimand in words."""
        about = "AUC"
        if self.positive is not None:
            about = f"AUC of class {self.positive!r:.60} against the rest"
        elif self.n_classes > 2:
            about = f"AUC of {self.n_classes} classes (Hand and Till)"
        subject = f"difference in {about}" if paired else about
        if self.rankings:
            return f"{subject} {when_learning_from(self.learn_sizes[0], 'clusters')}"
        learning = when_learning_from(sum(self.learn_sizes))
        if self.n_classes == 2:
            return f"{subject} {learning}, {self.learn_sizes[0]} of them positive"
        *first_sizes, last = map(str, self.learn_sizes)
        return f"{subject} {learning}, {', '.join(first_sizes)} and {last} of the classes"

    @property
    def has_pairs(self) -> bool:
        """Whether there are effects of pairs of units."""
        return not (self.singles_only or self.rankings)

    @property
    def in_rounds(self) -> bool:
        """Whether pairs of disjoint learning sets are drawn, or given, that few fits need."""
        return self.paired and self.in_pairs

    @property
    def known_variances(self) -> tuple[str, ...]:
        """The variances that there are for learning sets of some size."""
        return ("jackknife",) if self.rankings else VARIANCES

    @property
    def variances(self) -> tuple[str, ...]:
        """The variances that exist."""
        return self.known_variances if self.paired and not self.singles_only else ("jackknife",)

    def chosen(self, variance: str) -> str:
        """The requested variance, or the choice of "auto"."""
        by_class = ", ".join(f"{g} of {n}" for n, g in self.by_class)
        if variance == "auto":
            has_midpoint = self.paired and len(self.sizes) == 2 and not self.singles_only
            # Of several classes the midpoint has not been tried.
            return "midpoint" if has_midpoint else "jackknife"
        if variance == "few" and not self.in_rounds:
            smaller = f" or a smaller {arg('learn_size')}" if self.in_pairs else ""
            raise ValueError(
                f"{arg('variance', 'few')} needs disjoint pairs of learning sets, with at most "
                f"half of each class, got {by_class}: use {arg('variance', 'jackknife')}{smaller}"
            )
        if variance not in (*self.known_variances, "few"):
            raise ValueError(
                f"{arg('variance', variance)} does not exist for {self.about}: use one of auto, "
                f"{', '.join(self.known_variances)}, few"
            )
        if variance == "midpoint" and self.singles_only:
            raise ValueError(
                f"{arg('variance', variance)} needs n <= {MAX_OBS_PAIR_EFFECTS}, got n = "
                f"{self.n_obs}: use {arg('variance', 'jackknife')}, which hardly differs from it "
                "there"
            )
        if variance == "midpoint" and not self.paired:
            raise ValueError(
                f"{arg('variance', 'midpoint')} needs at most half of each class to learn from, "
                f"got {by_class}: use a smaller {arg('learn_size')}, or "
                f"{arg('variance', 'jackknife')}"
            )
        return variance

    def check_enumeration(self, n_learners: int, max_fits: int, remedy: str) -> None:
        """Refuse all learning sets if there are too many."""
        check_complete(self.complete * n_learners, max_fits, remedy)


def asked_sizes(
    sample: Sample, learn_size: Any, units: str = "observations"
) -> tuple[tuple[np.ndarray, ...], tuple[int, ...]]:
    """The units of each class, the positive last, and how many of each are learnt from."""
    codes, labels = sample.target.astype(int), np.asarray(sample.classes).tolist()
    members = tuple(np.flatnonzero(codes == code) for code in range(len(labels)))
    counts = tuple(map(len, members))
    for label, count in zip(labels, counts, strict=True):
        if count < LEAST_IN_CLASS:
            raise ValueError(
                f"class {excerpt(label)} has {count} {units}: at least {LEAST_IN_CLASS} of each "
                "class are needed"
            )
    default = tuple(max(1, count // 2 - 1) for count in counts)
    sizes = default if learn_size is None else _by_class(learn_size, codes, default)
    names = [f"{units} of class {excerpt(label)}" for label in labels]
    if len(labels) == 2:
        names = ["negatives", "positives"]
    for name, size, count in zip(names, sizes, counts, strict=True):
        if not 1 <= size <= count - 2:
            raise ValueError(
                f"{arg('learn_size', learn_size)} learns from {size} of {count} {name}, but at "
                "least one of each class must be learnt from and two tested: use "
                f"{arg('learn_size', default)}, or leave it out"
            )
    return members, sizes


def _by_class(learn_size: Any, codes: np.ndarray, default: tuple[int, ...]) -> tuple[int, ...]:
    """How many of each class to learn from: as given, or a number shared out."""
    n_classes = len(default)
    if (
        isinstance(learn_size, (tuple, list, np.ndarray))
        and len(learn_size) == n_classes
        and all(map(is_integer, learn_size))
    ):
        return tuple(map(int, learn_size))
    if not is_integer(learn_size):
        size_words = (
            "a pair of them, negatives first"
            if n_classes == 2
            else (
                f"one for each of the {n_classes} classes in ascending order, {arg('pos_label')} "
                "last"
            )
        )
        raise ValueError(
            f"{arg('learn_size')} must be an integer, or {size_words}, with {arg('loss', 'auc')}; "
            f"got {excerpt(learn_size)}"
        )
    least_size, largest_size = n_classes, len(codes) - 2 * n_classes
    if not least_size <= learn_size <= largest_size:
        raise ValueError(
            f"{arg('learn_size')} must lie between {least_size} and n - {2 * n_classes} = "
            f"{largest_size} with "
            f"{arg('loss', 'auc')}{'' if n_classes == 2 else f' and {n_classes} classes'}, got "
            f"{learn_size}: use {sum(default)}, or leave it out"
        )
    return tuple(class_shares(codes, int(learn_size)).tolist())


def _one_sample(
    clusters: Clusters, size: Any, condition: str
) -> tuple[tuple[np.ndarray], tuple[int]]:
    """The number of clusters, and of clusters in a learning set: as requested, or about half."""
    n = clusters.n_groups
    if n < LEAST_GROUPS:
        raise ValueError(
            f"{arg('groups')} names {n} groups: at least {LEAST_GROUPS} are needed for "
            f"{arg('loss', 'auc')} where {condition}"
        )
    default = n // 2 - 1
    n_learnt = default if size is None else size
    if not is_integer(n_learnt):
        raise ValueError(
            f"{arg('learn_size')} must be a number of groups where {condition}, got {size!r:.60}: "
            f"use {default}, or leave it out"
        )
    if not 1 <= n_learnt <= n - 3:
        raise ValueError(
            f"{arg('learn_size')} must lie between 1 and {n - 3} of {n} groups, got {n_learnt}: "
            f"use {default}, or leave it out"
        )
    return (np.arange(n),), (int(n_learnt),)
