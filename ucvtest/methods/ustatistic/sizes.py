"""The sizes of the sample and of learning sets, and the variances that they allow."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any, Self

import numpy as np

from ucvtest.common.checks import as_integer
from ucvtest.common.words import arg
from ucvtest.designs.draws import all_learning_sets
from ucvtest.kernels.ustatistic.exact import MAX_SUBSETS
from ucvtest.kernels.ustatistic.rows import MOST_UNITS, N_BLOCKS, keeps_pairs
from ucvtest.stats.jackknife import has_pair_effects

VARIANCES = ("midpoint", "clipped", "jackknife", "unbiased", "asymptotic")
"""Variances that are estimated together, from many fits."""
NEED_PAIR_EFFECTS = ("midpoint", "clipped")
NEED_DISJOINT = ("clipped", "unbiased", "asymptotic", "few")

OF_PAIRS = ("jackknife", "few")
"""Variances without assumptions on joint effects of two tested observations."""

FEW_OBS = 12
"""Intervals by the midpoint variance have not been tried with fewer observations: "auto" is then
the jackknife."""


def check_complete(n_fits: int, max_fits: int, remedy: str) -> None:
    """Refuse all learning sets if they take too many fits."""
    if n_fits > max_fits:
        raise ValueError(
            f"{arg('n_pairs', 'exact')} needs {n_fits} fits, {arg('max_fits')} is {max_fits}: "
            f"{remedy}"
        )


@dataclass(frozen=True)
class Sizes:
    """Numbers of observations in the sample and in a learning set, and whether errors are counted.

    "auto" depends on that: with squared and other unbounded losses the midpoint variance is too
    small too often, as is the jackknife, but less.
    """

    n_obs: int
    learn_size: int
    zero_one: bool = False
    pairs: bool = False
    """Whether linearised values are of pairs of tested observations: only to first order do they
    act like losses."""
    n_columns: int = 1
    """Columns whose effects of pairs are kept: one of a loss, many of a metric of many classes."""

    @classmethod
    def checked(cls, n_obs: int, learn_size: Any, units: str = "observations") -> Self:
        """The sizes that a user asks for; without a learning-set size the default."""
        if n_obs < 4:
            raise ValueError(f"{arg('X')} has {n_obs} {units}: at least 4 are needed")
        largest = n_obs // 2 - 1
        if learn_size is None:
            return cls(n_obs, largest)
        size = as_integer("learn_size", learn_size)
        if not 1 <= size < n_obs - 1:
            raise ValueError(
                f"{arg('learn_size')} must lie between 1 and n - 2 = {n_obs - 2}, got {size}: use "
                f"{largest}, the largest for which every variance exists, or leave it out"
            )
        return cls(n_obs, size)

    @property
    def disjoint(self) -> bool:
        """Whether two disjoint learning sets leave two observations or more."""
        return self.n_obs >= 2 * self.learn_size + 2

    @property
    def in_rounds(self) -> bool:
        """The same, which few fits need."""
        return self.disjoint

    @property
    def complete(self) -> int:
        """All learning sets."""
        return comb(self.n_obs, self.learn_size)

    @property
    def has_pairs(self) -> bool:
        """Whether the midpoint variance exists."""
        return has_pair_effects(self.n_obs, self.learn_size)

    def of_rows(self, learning: np.ndarray) -> np.ndarray:
        """Learning sets of what a source knows."""
        return learning

    def every(self, n_rows: int) -> Iterator[np.ndarray]:
        """All learning sets, some rows at a time."""
        return all_learning_sets(self.n_obs, self.learn_size, max(1, min(4096, n_rows)))

    @property
    def keeps_pairs(self) -> bool:
        """Whether sums over pairs of observations fit into memory; otherwise they are left out."""
        return keeps_pairs(self.n_obs, (self.n_columns, N_BLOCKS))

    @property
    def least_overlap(self) -> int:
        """Observations that two learning sets have in common at least."""
        return max(0, 2 * self.learn_size - self.n_obs)

    def chosen(self, variance: str) -> str:
        """The variance that is asked for, or that "auto" stands for."""
        n, g = self.n_obs, self.learn_size
        if variance == "auto":
            suits = self.zero_one and n >= FEW_OBS and self.keeps_pairs
            return "midpoint" if self.has_pairs and suits else "jackknife"
        if self.pairs and variance not in OF_PAIRS:
            raise ValueError(
                f"{arg('variance', variance)} is not for metrics that compare pairs of "
                "observations, which have 'jackknife' and 'few': leave it out"
            )
        if variance in NEED_DISJOINT and not self.disjoint:
            raise ValueError(
                f"{arg('variance', variance)} needs n >= 2 * {arg('learn_size')} + 2, got n = {n} "
                f"and learn_size = {g}: use {arg('learn_size')} <= {n // 2 - 1}, or "
                f"{arg('variance', 'jackknife')}"
            )
        if variance == "midpoint" and not self.has_pairs:
            raise ValueError(
                f"{arg('variance', 'midpoint')} needs at most half of the observations to learn "
                f"from, got learn_size = {g} and n = {n}: use {arg('learn_size')} <= "
                f"{min(n // 2, n - 3)}, or {arg('variance', 'jackknife')}"
            )
        if variance in NEED_PAIR_EFFECTS and n > MOST_UNITS:
            raise ValueError(
                f"{arg('variance', variance)} needs n <= {MOST_UNITS}, got n = {n}: use "
                f"{arg('variance', 'jackknife')}, which hardly differs from it there"
            )
        if variance in NEED_PAIR_EFFECTS and not self.keeps_pairs:
            needed = 8 * self.n_columns * N_BLOCKS * n**2 / 1e9
            raise ValueError(
                f"{arg('variance', variance)} needs the effects of pairs of {n} observations, "
                f"which take {needed:.3g} GB of memory for this number of classes: use "
                f"{arg('variance', 'jackknife')}"
            )
        return variance

    def check_enumeration(self, n_learners: int, max_fits: int, remedy: str) -> None:
        """Refuse all learning sets where they are too many."""
        n, g = self.n_obs, self.learn_size
        check_complete(self.complete * n_learners, max_fits, remedy)
        if self.has_pairs and comb(n, g + 1) > MAX_SUBSETS:
            raise ValueError(
                f"{arg('n_pairs', 'exact')} needs {comb(n, g + 1)} subsets in memory, more than "
                f"{MAX_SUBSETS}: use random pairs"
            )
