"""How many of each of several classes are learnt from, and which AUC is asked for."""

from dataclasses import dataclass
from functools import cached_property
from math import comb, prod
from typing import Any, Self

import numpy as np

from ucvtest.common.checks import as_integer, is_integer
from ucvtest.data.sample import Sample
from ucvtest.designs.draws import class_shares
from ucvtest.kernels.auc_ustatistic.several_classes import Classes, hand_till, one_against_rest

__all__ = ["SeveralSizes"]

MOST_OBS = 1000
"""Sums over all pairs of observations are kept, three for each of ten blocks of rows."""

LEAST_IN_CLASS = 3
"""One observation to learn from, two to test."""


@dataclass(frozen=True, eq=False)
class SeveralSizes:
    """More than two classes: which a rule learns from, and what their AUC is.

    `positive` is the label of the one class that is told from the rest; None for Hand and Till's
    AUC of all pairs.
    """

    classes: Classes
    positive: Any = None

    @classmethod
    def checked(cls, sample: Sample, learn_size: Any, *, against_rest: bool) -> Self:
        """The sizes that a user asks for, in the order of the sample's classes."""
        codes = sample.target.astype(int)
        labels = np.asarray(sample.classes).tolist()
        counts = np.bincount(codes, minlength=len(labels))
        for label, count in zip(labels, counts, strict=True):
            if count < LEAST_IN_CLASS:
                raise ValueError(
                    f"class {label!r} has {count} observations: at least {LEAST_IN_CLASS} of each "
                    "class are needed"
                )
        if len(codes) > MOST_OBS:
            raise ValueError(
                f"loss='auc' of {len(labels)} classes needs n <= {MOST_OBS}, got n = {len(codes)}: "
                "merge classes into two, or use loss='zero_one'"
            )
        default = tuple(max(1, int(count) // 2 - 1) for count in counts)
        sizes = _asked(learn_size, codes, default)
        for label, size, count in zip(labels, sizes, counts, strict=True):
            if not 1 <= size <= count - 2:
                raise ValueError(
                    f"learn_size={learn_size!r} learns from {size} of {count} observations of "
                    f"class {label!r}, and one of each must be learnt from and two tested: use "
                    f"learn_size={default}, or leave it out"
                )
        n_classes = len(labels)
        weights = (
            one_against_rest(counts.tolist(), n_classes - 1)
            if against_rest
            else hand_till(n_classes)
        )
        return cls(Classes(codes, sizes, weights), labels[-1] if against_rest else None)

    @property
    def n_obs(self) -> int:
        """Observations of the sample."""
        return len(self.classes.codes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Observations of each class."""
        return self.classes.sizes

    @property
    def learn_sizes(self) -> tuple[int, ...]:
        """How many of each class a rule learns from."""
        return self.classes.learn_sizes

    @property
    def by_class(self) -> tuple[tuple[int, int], ...]:
        """n_c and g_c of each class."""
        return self.classes.by_class

    @cached_property
    def members(self) -> tuple[np.ndarray, ...]:
        """The observations of each class."""
        return tuple(np.flatnonzero(self.classes.codes == code) for code in range(len(self.sizes)))

    @property
    def paired(self) -> bool:
        """Whether learning sets can be drawn in disjoint pairs."""
        return all(2 * g <= n for n, g in self.by_class)

    @property
    def disjoint(self) -> bool:
        """Whether two learning sets, each with what is tested, can be disjoint."""
        return all(2 * (g + 1) <= n for n, g in self.by_class)

    @property
    def variances(self) -> tuple[str, ...]:
        """The variances that there are."""
        return ("midpoint", "jackknife") if self.paired else ("jackknife",)

    @property
    def complete(self) -> int:
        """The number of all learning sets."""
        return prod(comb(n, g) for n, g in self.by_class)

    def chosen(self, variance: Any) -> str:
        """The variance that is asked for, or that "auto" stands for."""
        if isinstance(variance, str) and variance == "auto":
            return "jackknife"
        if not isinstance(variance, str) or variance not in ("jackknife", "midpoint"):
            raise ValueError(
                f"variance={variance!r:.60} does not exist for loss='auc' of "
                f"{len(self.sizes)} classes: use one of auto, jackknife, midpoint"
            )
        if variance == "midpoint" and not self.paired:
            listed = ", ".join(f"{g} of {n}" for n, g in self.by_class)
            raise ValueError(
                f"variance='midpoint' needs at most half of each class to learn from, got {listed}:"
                " use a smaller learn_size, or variance='jackknife'"
            )
        return variance

    def check_enumeration(self, n_learners: int, max_fits: int, remedy: str) -> None:
        """Refuse all learning sets where they are too many."""
        n_fits = self.complete * n_learners
        if n_fits > max_fits:
            raise ValueError(
                f"n_pairs='exact' needs {n_fits} fits, max_fits is {max_fits}: {remedy}"
            )

    def estimand(self, *, paired: bool) -> str:
        """What is estimated, in words."""
        s = "s" if paired else ""
        about = (
            f"AUC{s} of class {self.positive!r} against the rest"
            if self.positive is not None
            else f"AUC{s} of {len(self.sizes)} classes (Hand and Till)"
        )
        subject = f"difference of unconditional {about}" if paired else f"unconditional {about}"
        listed = ", ".join(map(str, self.learn_sizes))
        return f"{subject} at learning-set size {sum(self.learn_sizes)} ({listed} of each class)"


def _asked(learn_size: Any, codes: np.ndarray, default: tuple[int, ...]) -> tuple[int, ...]:
    """How many of each class to learn from: the default, a tuple, or a number shared out."""
    if learn_size is None:
        return default
    if isinstance(learn_size, (tuple, list, np.ndarray)) and len(learn_size) == len(default):
        return tuple(as_integer("learn_size", size) for size in learn_size)
    if not is_integer(learn_size):
        raise ValueError(
            f"learn_size must be an integer, or one for each of the {len(default)} classes in "
            f"ascending order, pos_label last, with loss='auc'; got {learn_size!r:.60}"
        )
    least, most = len(default), len(codes) - 2 * len(default)
    if not least <= learn_size <= most:
        raise ValueError(
            f"learn_size must lie between {least} and n - {2 * len(default)} = {most} with "
            f"loss='auc' and {len(default)} classes, got {learn_size}: use {sum(default)}, or "
            "leave it out"
        )
    return tuple(class_shares(codes, int(learn_size)).tolist())
