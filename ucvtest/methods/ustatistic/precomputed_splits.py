"""Learning sets whose losses, or scores, are given, and how many random splits suffice."""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

import numpy as np

from ucvtest.common.checks import check_number
from ucvtest.common.words import arg, call
from ucvtest.designs.design import Design
from ucvtest.designs.structure import disjoint_sets_of, folds_of
from ucvtest.methods.ustatistic.sizes import Sizes


@dataclass(frozen=True, eq=False)
class GivenSets:
    """Learning sets whose losses are given; `draw` (R,) numbers those that were drawn together.

    `in_pairs` says whether all are disjoint neighbours. Disjoint sets have `n_sets` on each side of
    a draw, others 0.
    """

    design: Design
    draw: np.ndarray
    in_pairs: bool
    n_sets: int = 0

    @classmethod
    def of(cls, design: Design) -> Self:
        """The splits of a design that tests all that it does not learn from, and tests everyone."""
        if (design.learning == design.testing).any():
            raise ValueError(
                "the design leaves observations neither learnt from nor tested: use random splits "
                "of the whole sample"
            )
        untested = int((~design.testing.any(axis=0)).sum())
        if untested:
            raise ValueError(
                f"the design of the losses never tests {untested} observations: use more splits"
            )
        rows = np.arange(design.n_resamples)
        # Rows of one repetition of K-fold cross-validation, or disjoint neighbours, belong
        # together. All others are treated as independent.
        try:
            return cls(design, rows // (len(rows) // len(folds_of(design))), in_pairs=False)
        except ValueError:
            first, second = design.learning[0::2], design.learning[1::2]
            disjoint = len(first) == len(second) and not (first & second).any()
            return cls(design, rows // 2 if disjoint else rows, disjoint)

    @property
    def n_draws(self) -> int:
        """Splits, or sets of splits, that are independent of each other."""
        return int(self.draw.max()) + 1

    @property
    def n_pairs(self) -> int:
        """Splits over two, as where pairs are drawn."""
        return self.design.n_resamples // 2

    def keeps_classes(self, target: np.ndarray | None) -> bool:
        """Whether splits learn from as many of each class as the others, give or take one."""
        if target is None:
            return False
        values, n_members = np.unique(target, return_counts=True)
        # With fewer draws, or members, that happens by chance; a real response has no classes.
        if self.n_draws < 20 or n_members.max() < 4:
            return False
        learnt = (self.design.learning[:, target == value].sum(axis=1) for value in values)
        return all(np.ptp(sizes) <= 1 for sizes in learnt)

    def parts(self, n_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Learning sets, about `n_rows` at a time without dividing a draw, and draws from 0."""
        first_row = 0
        while first_row < len(self.draw):
            end_row = min(first_row + n_rows, len(self.draw))
            while end_row < len(self.draw) and self.draw[end_row] == self.draw[end_row - 1]:
                end_row += 1
            rows = slice(first_row, end_row)
            yield self.design.learning[rows], self.draw[rows] - self.draw[first_row]
            first_row = end_row


def given_sets(design: Design) -> GivenSets:
    """The learning sets of a design: disjoint pairs if they are, else random splits of one size."""
    n, low, high = design.n_obs, design.learn_sizes[0], design.learn_sizes[-1]
    if low < high or n - low < 2:
        raise ValueError(
            f"the design learns from {range_of(design.learn_sizes)} of {n} observations at a time, "
            "and the test needs one size, with two left to be tested: use "
            f"{call('designs.RandomSplits')}"
        )
    sets = GivenSets.of(design)
    if Sizes(n, low).disjoint:
        with suppress(ValueError):
            n_draws, n_sets = disjoint_sets_of(design)
            draw = np.repeat(np.arange(n_draws), 2 * n_sets)
            sets = GivenSets(design, draw, n_sets == 1, n_sets)
    if sets.n_draws < 2:
        raise ValueError(
            "the design has one draw, and a Monte-Carlo error needs several: use "
            f"{call('designs.RandomSplits')}, or {call('designs.DisjointSets')} with a larger "
            "n_draws"
        )
    return sets


def range_of(sizes: Sequence[int] | np.ndarray) -> str:
    """The sizes of learning sets in words."""
    low, high = min(sizes), max(sizes)
    return f"{low}" if low == high else f"{low} to {high}"


def resamples_for_precision(
    precision: float, confidence: float = 0.99, low: float = -1.0, high: float = 1.0
) -> int:
    """Random splits that bring an error estimate within a distance of the complete one.

    Parameters
    ----------
    precision : float
        The distance, for example 0.005 to fix two digits.
    confidence : float
        Probability of being that close.
    low, high : float
        Range of the loss (difference): (-1, 1) for the difference of error rates, (0, 1)
        for one error rate.

    Returns
    -------
    int
        Number of independent splits with one test observation each. More observations
        tested in a split can only help.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Hoeffding's inequality: Fuchs et al. (2013), (19) and Corollary 5.1 (where N = 2d+1 is
    a misprint for 10^(2d+1)). It bounds the error of the estimate only, not that of its
    variance, which is much smaller itself.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.resamples_for_precision(0.01)
    105967
    """
    for name, value in (("precision", precision), ("low", low), ("high", high)):
        check_number(name, value)
    check_number("confidence", confidence)
    if not precision > 0:
        raise ValueError(f"precision must be positive, got {precision}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    if not low < high:
        raise ValueError(f"low must be below high, got {low} and {high}")
    per_square = (high - low) ** 2 * math.log(2 / (1 - confidence)) / 2
    if precision < 1e-100 or not math.isfinite(per_square / precision**2):
        raise ValueError(f"{arg('precision', precision)} needs more resamples than can be counted")
    return math.ceil(per_square / precision**2)
