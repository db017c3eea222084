"""How many of each class are learnt from, and what losses that exist say of it."""

from dataclasses import dataclass
from math import comb, prod
from typing import Any, Self

import numpy as np

from ucvtest.common.checks import as_integer, is_integer
from ucvtest.designs.draws import class_shares
from ucvtest.kernels.auc_ustatistic.variances import VARIANCES
from ucvtest.kernels.ustatistic.accumulator import MAX_OBS_PAIR_EFFECTS
from ucvtest.methods.ustatistic.splits import GivenSplits

__all__ = ["ClassSizes"]

LEAST_IN_CLASS = 3
"""One observation to learn from, two to test."""


@dataclass(frozen=True, eq=False)
class ClassSizes:
    """Who is a positive, and how many positives and negatives a rule learns from, in this order.

    `in_pairs` says whether learning sets come in disjoint pairs where they can.
    """

    positive: np.ndarray
    learn_sizes: tuple[int, int]
    in_pairs: bool = True

    @classmethod
    def checked(cls, target: np.ndarray, response: np.ndarray, learn_size: Any) -> Self:
        """The sizes that a user asks for, negatives first; `response` are the user's own labels."""
        positive = np.asarray(target) == 1
        counts = (int((~positive).sum()), int(positive.sum()))
        for count, members in zip(counts, (~positive, positive), strict=True):
            if count < LEAST_IN_CLASS:
                label = np.asarray(response)[members].tolist()[0]
                raise ValueError(
                    f"class {label!r} has {count} observations: at least {LEAST_IN_CLASS} of each "
                    "class are needed"
                )
        _check_number(sum(counts))
        default = (max(1, counts[0] // 2 - 1), max(1, counts[1] // 2 - 1))
        negatives, positives = _asked(learn_size, counts, positive.astype(int), default)
        for size, count in zip((negatives, positives), counts, strict=True):
            if not 1 <= size <= count - 2:
                raise ValueError(
                    f"learn_size={learn_size!r} learns from {negatives} of {counts[0]} negatives "
                    f"and {positives} of {counts[1]} positives, and one of each must be learnt "
                    f"from and two tested: use learn_size={default}, or leave it out"
                )
        return cls(positive, (positives, negatives))

    @classmethod
    def of(cls, splits: GivenSplits, target: np.ndarray) -> Self:
        """The sizes in splits that learn from as many of a class as the others."""
        design = splits.design
        _check_number(design.n_obs)
        positive = target == 1
        learnt = []
        for members in (positive, ~positive):
            sizes, count = design.learning[:, members].sum(axis=1), int(members.sum())
            if sizes.min() != sizes.max() or not 1 <= sizes[0] <= count - 2:
                raise ValueError(
                    f"the design learns from {_range(sizes)} of {count} observations of a class, "
                    "and the test needs the same number in every split, one at least, with two "
                    "left to be tested: use StratifiedShuffleSplit with a test_size that is "
                    "in proportion to the classes"
                )
            learnt.append(int(sizes[0]))
        return cls(positive, (learnt[0], learnt[1]), splits.in_pairs)

    @property
    def sizes(self) -> tuple[int, int]:
        """Observations of each class."""
        n_positives = int(self.positive.sum())
        return n_positives, self.n_obs - n_positives

    @property
    def n_obs(self) -> int:
        """Observations of the sample."""
        return len(self.positive)

    @property
    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """The positives and the negatives."""
        return np.flatnonzero(self.positive), np.flatnonzero(~self.positive)

    @property
    def by_class(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """n_c and g_c of positives and of negatives."""
        (n1, n0), (g1, g0) = self.sizes, self.learn_sizes
        return (n1, g1), (n0, g0)

    @property
    def paired(self) -> bool:
        """Whether learning sets can be drawn in disjoint pairs."""
        return all(2 * g <= n for n, g in self.by_class)

    @property
    def disjoint(self) -> bool:
        """Whether two learning sets, each with a pair to test, can be disjoint."""
        return all(2 * (g + 1) <= n for n, g in self.by_class)

    @property
    def variances(self) -> tuple[str, ...]:
        """The variances that there are."""
        missing = set() if self.paired else {"midpoint"}
        if not (self.disjoint and self.in_pairs):
            missing |= {"clipped", "unbiased"}
        return tuple(name for name in VARIANCES if name not in missing)

    @property
    def complete(self) -> int:
        """The number of all learning sets."""
        return prod(comb(n, g) for n, g in self.by_class)

    def chosen(self, variance: Any) -> str:
        """The variance that is asked for, or that "auto" stands for."""
        if isinstance(variance, str) and variance == "auto":
            return "midpoint" if self.paired else "jackknife"
        if not isinstance(variance, str) or variance not in VARIANCES:
            raise ValueError(
                f"variance={variance!r:.60} does not exist for loss='auc': use one of auto, "
                f"{', '.join(VARIANCES)}"
            )
        if variance == "midpoint" and not self.paired:
            (n1, g1), (n0, g0) = self.by_class
            raise ValueError(
                f"variance='midpoint' needs at most half of each class to learn from, got {g0} of "
                f"{n0} negatives and {g1} of {n1} positives: use a smaller learn_size, or "
                "variance='jackknife'"
            )
        if variance not in self.variances:
            other = self.variances[0]
            raise ValueError(
                f"variance={variance!r} needs disjoint pairs of learning sets, with two of each "
                f"class in neither: use variance={other!r}"
                + (" or a smaller learn_size" if self.in_pairs else "")
            )
        return variance

    def check_enumeration(self, n_learners: int, max_fits: int, remedy: str) -> None:
        """Refuse all learning sets where they are too many."""
        n_fits = self.complete * n_learners
        if n_fits > max_fits:
            raise ValueError(
                f"n_pairs='exact' needs {n_fits} fits, max_fits is {max_fits}: {remedy}"
            )


def _check_number(n_obs: int) -> None:
    """Refuse samples whose pairs are too many for memory and time."""
    if n_obs > MAX_OBS_PAIR_EFFECTS:
        raise ValueError(
            f"loss='auc' needs n <= {MAX_OBS_PAIR_EFFECTS}, got n = {n_obs}: use "
            "uv.InfluenceFunctionTest, which is hardly biased at that size"
        )


def _asked(
    learn_size: Any, counts: tuple[int, int], strata: np.ndarray, default: tuple[int, int]
) -> tuple[int, int]:
    """Negatives and positives to learn from: the default, a pair, or a number shared out."""
    if learn_size is None:
        return default
    if isinstance(learn_size, (tuple, list, np.ndarray)) and len(learn_size) == 2:
        negatives, positives = (as_integer("learn_size", size) for size in learn_size)
        return negatives, positives
    if not is_integer(learn_size):
        raise ValueError(
            "learn_size must be an integer, or a pair of them, negatives first, with loss='auc'; "
            f"got {learn_size!r:.60}"
        )
    if not 2 <= learn_size <= sum(counts) - 4:
        raise ValueError(
            f"learn_size must lie between 2 and n - 4 = {sum(counts) - 4} with loss='auc', got "
            f"{learn_size}: use {sum(default)}, or leave it out"
        )
    shares = class_shares(strata, int(learn_size))
    return int(shares[0]), int(shares[1])


def _range(sizes: np.ndarray) -> str:
    low, high = int(sizes.min()), int(sizes.max())
    return f"{low}" if low == high else f"{low} to {high}"
