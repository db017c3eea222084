"""The number of each class in a learning set, and the requested variance."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from ucvtest.common.checks import is_integer
from ucvtest.common.words import arg, call, excerpt
from ucvtest.data.sample import Sample
from ucvtest.designs.draws import class_shares
from ucvtest.designs.within_classes import WithinClasses
from ucvtest.kernels.ustatistic.columns import Columns, Ranked
from ucvtest.kernels.ustatistic.placements import hand_till, one_against_rest, two_classes
from ucvtest.kernels.ustatistic.rows import N_BLOCKS, ROWS_FOR_EACH, Strata
from ucvtest.methods.ustatistic.precomputed_splits import GivenSplits
from ucvtest.metrics.base import when_learning_from

MAX_OBS_PAIR_EFFECTS = 1000
"""Most observations for which effects of pairs are kept: ten blocks of n x n sums for each learner,
several times over, are 1.9 GB with 1000 observations and two learners (more than 6 with 2000)."""

VARIANCES = ("midpoint", "jackknife")

FEWEST_IN_BLOCK = 10
"""Least number of learning sets of each block for a jackknife without a fit."""

FEWEST_FOR_EACH = 10
"""Least number of learning sets for each observation in "auto", if coefficients are fitted."""

LEAST_IN_CLASS = 3
"""One observation to learn from, two to test."""


@dataclass(frozen=True, eq=False)
class AnySizes(WithinClasses, ABC):
    """Common part of the tests of two classes and of several.

    `in_pairs` tells whether learning sets come in disjoint pairs if possible.
    """

    in_pairs: bool = True

    known_variances: ClassVar[tuple[str, ...]] = VARIANCES

    @property
    def about(self) -> str:
        """The case of the variances, in words."""
        return arg("loss", "auc")

    @property
    def n_scores(self) -> int:
        """Scores that a rule gives each observation."""
        return 1

    def of_rows(self, learning: np.ndarray) -> np.ndarray:
        """The learning sets (R, n) of rows, where units are clusters of them."""
        return learning

    @property
    def n_scored(self) -> int:
        """Rows that a rule scores: the observations, or the rows of all clusters."""
        return self.n_obs

    @property
    def smallest(self) -> tuple[int, str]:
        """How much there is of the smallest class, and the same in words."""
        comparative = "smaller" if len(self.sizes) == 2 else "smallest"
        return min(self.sizes), f"The {comparative} class has {min(self.sizes)} observations"

    @property
    def user_sizes(self) -> tuple[int, ...]:
        """The number of each class in a learning set, in the order of `learn_size`."""
        return self.learn_sizes

    @property
    def singles_only(self) -> bool:
        """Whether there are too many observations for sums over pairs of them."""
        return False

    @property
    def rows_for_variances(self) -> int:
        """Learning sets that variances take at least."""
        # Coefficients of each unit are fitted to either half of the rows.
        return FEWEST_IN_BLOCK * N_BLOCKS if self.singles_only else 2 * ROWS_FOR_EACH * self.n_obs

    @cached_property
    def strata(self) -> Strata:
        """The same for the kernel: the classes in this order."""
        return Strata.of(self.members, self.learn_sizes)

    @abstractmethod
    def columns(self, n_learners: int) -> Columns:
        """What rows consist of."""

    @property
    @abstractmethod
    def counts(self) -> dict[str, Any]:
        """Diagnostics of the sample."""

    @property
    def has_pairs(self) -> bool:
        """Whether there are effects of pairs of units."""
        return not self.singles_only

    @property
    def in_rounds(self) -> bool:
        """Whether pairs of disjoint learning sets are drawn, or given, that few fits need."""
        return self.paired and self.in_pairs

    @property
    def variances(self) -> tuple[str, ...]:
        """The variances that exist."""
        if self.singles_only:
            return ("jackknife",)
        return self.known_variances if self.paired else ("jackknife",)

    def chosen(self, variance: str) -> str:
        """The requested variance, or the choice of "auto"."""
        if variance == "auto":
            has_midpoint = self.paired and len(self.sizes) == 2 and not self.singles_only
            # Of several classes the midpoint has not been tried.
            return "midpoint" if has_midpoint else "jackknife"
        if variance == "few":
            return self._few()
        if variance not in self.known_variances:
            raise ValueError(
                f"{arg('variance', variance)} does not exist for {self.about}: use one of auto, "
                f"{', '.join(self.known_variances)}, few"
            )
        if variance != "jackknife" and self.singles_only:
            raise ValueError(
                f"{arg('variance', variance)} needs n <= {MAX_OBS_PAIR_EFFECTS}, got n = "
                f"{self.n_obs}: use {arg('variance', 'jackknife')}, which hardly differs from it "
                "there"
            )
        if variance == "midpoint" and not self.paired:
            listed = ", ".join(f"{g} of {n}" for n, g in self.by_class)
            raise ValueError(
                f"{arg('variance', 'midpoint')} needs at most half of each class to learn from, "
                f"got {listed}: use a smaller {arg('learn_size')}, or "
                f"{arg('variance', 'jackknife')}"
            )
        return variance

    def _few(self) -> str:
        """The variance of few fits, which needs disjoint pairs."""
        if self.in_rounds:
            return "few"
        listed = ", ".join(f"{g} of {n}" for n, g in self.by_class)
        raise ValueError(
            f"{arg('variance', 'few')} needs disjoint pairs of learning sets, with at most half of "
            f"each class, got {listed}: use {arg('variance', 'jackknife')}"
            + (f" or a smaller {arg('learn_size')}" if self.in_pairs else "")
        )

    def check_enumeration(self, n_learners: int, max_fits: int, remedy: str) -> None:
        """Refuse all learning sets if there are too many."""
        n_fits = self.complete * n_learners
        if n_fits > max_fits:
            raise ValueError(
                f"{arg('n_pairs', 'exact')} needs {n_fits} fits, {arg('max_fits')} is {max_fits}: "
                f"{remedy}"
            )


class ClassSizes(AnySizes):
    """Positives and negatives, in this order."""

    @classmethod
    def checked(cls, sample: Sample, learn_size: Any) -> Self:
        """The sizes that a user asks for, negatives first."""
        members, sizes = asked_sizes(sample, learn_size)
        return cls.of(members[::-1], sizes[::-1])

    @classmethod
    def of_splits(cls, splits: GivenSplits, target: np.ndarray) -> Self:
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
                    f"the design learns from {_range(sizes)} of {count} observations of a class, "
                    "but the test needs the same number in every split, at least one, with two "
                    f"left to be tested: use {call('designs.RandomSplits', arg('stratify', True))} "
                    f"with a {arg('test_fraction')} in proportion to the classes"
                )
            learnt.append(int(sizes[0]))
        return cls.of(members, learnt, in_pairs=splits.in_pairs)

    def columns(self, n_learners: int) -> Columns:
        """See `AnySizes`; positives are the first class."""
        return Ranked(self.strata, n_learners, two_classes()[::-1, ::-1])

    @property
    def singles_only(self) -> bool:
        """See `AnySizes`."""
        return self.n_obs > MAX_OBS_PAIR_EFFECTS

    @property
    def user_sizes(self) -> tuple[int, ...]:
        """How many negatives and positives are learnt from."""
        return self.learn_sizes[::-1]

    @property
    def counts(self) -> dict[str, Any]:
        """Diagnostics of the sample."""
        return {"n_positive": self.sizes[0], "n_negative": self.sizes[1]}

    def estimand(self, *, paired: bool) -> str:
        """The estimand in words."""
        positives, negatives = self.learn_sizes
        learning = when_learning_from(negatives + positives)
        subject = "difference in AUC" if paired else "AUC"
        return f"{subject} {learning}, {positives} of them positive"


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


def _range(sizes: np.ndarray) -> str:
    low, high = int(sizes.min()), int(sizes.max())
    return f"{low}" if low == high else f"{low} to {high}"


MOST_OBS = 1000
"""Sums over all pairs of observations are kept, three for each of ten blocks of rows."""


@dataclass(frozen=True, eq=False)
class SeveralSizes(AnySizes):
    """More than two classes in the order of the sample.

    `positive` is the label of the last class if it is compared with the rest; None for Hand and
    Till's AUC of all pairs.
    """

    positive: Any = None

    @classmethod
    def checked(cls, sample: Sample, learn_size: Any, *, against_rest: bool) -> Self:
        """The sizes that a user asks for, in the order of the sample's classes."""
        if sample.n_obs > MOST_OBS:
            raise ValueError(
                f"{arg('loss', 'auc')} of {sample.n_classes} classes needs n <= {MOST_OBS}, got n "
                f"= {sample.n_obs}: merge classes into two, or use {arg('loss', 'zero_one')}"
            )
        labels = np.asarray(sample.classes).tolist()
        return cls.of(
            *asked_sizes(sample, learn_size), positive=labels[-1] if against_rest else None
        )

    @property
    def about(self) -> str:
        """The case of the variances, in words."""
        return f"{arg('loss', 'auc')} of {len(self.sizes)} classes"

    @property
    def n_scores(self) -> int:
        """Scores that a rule gives each observation."""
        return len(self.sizes)

    def columns(self, n_learners: int) -> Columns:
        """See `AnySizes`."""
        n_classes = len(self.sizes)
        v = hand_till(n_classes)
        if self.positive is not None:
            v = one_against_rest(self.sizes, n_classes - 1)
        return Ranked(self.strata, n_learners, v)

    @property
    def counts(self) -> dict[str, Any]:
        """Diagnostics of the sample."""
        return {"n_by_class": self.sizes}

    def estimand(self, *, paired: bool) -> str:
        """The estimand in words."""
        *first_sizes, last = map(str, self.learn_sizes)
        about = in_words(len(self.sizes), self.positive, paired=paired)
        learning = when_learning_from(sum(self.learn_sizes))
        return f"{about} {learning}, {', '.join(first_sizes)} and {last} of the classes"


def in_words(n_classes: int, positive: Any, *, paired: bool) -> str:
    """The AUC of several classes, or of the positive one against the rest."""
    about = (
        f"AUC of class {positive!r:.60} against the rest"
        if positive is not None
        else f"AUC of {n_classes} classes (Hand and Till)"
    )
    return f"difference in {about}" if paired else about
