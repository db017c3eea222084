"""Resampling designs by name: what to draw, before the number of observations is known."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from numbers import Real
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array
from ucvtest.common.checks import Level, at_least, check_switch, declared
from ucvtest.common.execution import row_batches
from ucvtest.common.words import arg
from ucvtest.designs.design import Design, folds_in_words
from ucvtest.designs.draws import (
    by_class,
    class_shares,
    deal_folds,
    draw_from_halves,
    draw_orders,
    fold_numbers,
)
from ucvtest.designs.scheme_base import OfUnits, StratifiedDesign, check_stratify
from ucvtest.designs.structure import unions_of_pairs

DRAW_CELLS = 2_000_000
"""Cells (splits times observations) that are drawn at a time."""


@dataclass(frozen=True)
class KFold(StratifiedDesign):
    """K-fold cross-validation, repeated with new random folds.

    Sizes differ by at most one. Rows are ordered by repetition, then by fold.

    Parameters
    ----------
    n_folds : int
        K, at least 2.
    n_repeats : int
    stratify : bool, optional
        Whether folds keep the classes in proportion, each class's sizes differing by at most one.
        By default for the AUC alone.

    Notes
    -----
    Strata fix the numbers of each class in learning sets, and the estimate is about such sets. They
    are not the default for errors, as the gain was small: with 30 observations, half of them or 15%
    of one class, the standard deviation of errors of ten folds was 4 and 6% smaller, and 95%
    intervals contained the true value as often; but the error of equal classes came out 0.019 below
    that of random samples (0.004 without strata). They help a single split with a rare class: 16%
    smaller, and no learning set without the class (200 samples a cell,
    ``studies/designs/strata.py``).

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.designs.schemes import KFold
    >>> KFold(5, n_repeats=2).draw(12, np.random.default_rng(0)).learning.sum(axis=1)
    array([ 9, 10,  9, 10, 10,  9, 10,  9, 10, 10])
    """

    n_folds: int = 10
    n_repeats: int = 1
    stratify: bool | None = None

    _deals = True

    def __post_init__(self) -> None:
        check_stratify(self.stratify)
        at_least("n_folds", self.n_folds, 2)
        at_least("n_repeats", self.n_repeats, 1)

    @property
    def _in_words(self) -> str:
        return folds_in_words(self.n_folds, self.n_repeats)

    @property
    def n_resamples(self) -> int:
        """Learning sets that are drawn."""
        return self.n_repeats * self.n_folds

    def _check(self, n_obs: int, units: str) -> None:
        """Refuse samples smaller than the number of folds."""
        _check_folds(n_obs, self.n_folds, self.n_repeats, units)

    def _draw(
        self, n_obs: int, rng: np.random.Generator, strata: np.ndarray | None = None
    ) -> Design:
        """Draw the folds; every repetition tests each observation once."""
        folds = _folds(n_obs, self.n_folds, self.n_repeats, rng, strata)
        testing = folds[:, None] == np.arange(self.n_folds)[:, None]
        testing = testing.reshape(-1, n_obs)
        return Design(~testing, testing)


@dataclass(frozen=True)
class RandomSplits(StratifiedDesign):
    """Random splits into a learning and a test set (Monte-Carlo cross-validation).

    Parameters
    ----------
    n_splits : int
        J, at least 2.
    test_fraction : float
        Share of the observations that are tested; rounded up to whole observations.
    stratify : bool, optional
        Whether test sets keep the classes in proportion, none of them left out. By default for
        the AUC alone.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.designs.schemes import RandomSplits
    >>> RandomSplits(3, test_fraction=0.1).draw(21, np.random.default_rng(0)).testing.sum(axis=1)
    array([3, 3, 3])
    """

    n_splits: int = 15
    test_fraction: float = 0.1
    stratify: bool | None = None

    def __post_init__(self) -> None:
        check_stratify(self.stratify)
        at_least("n_splits", self.n_splits, 2)
        _check_fraction(self.test_fraction)

    @property
    def _in_words(self) -> str:
        return f"{self.n_splits} random splits, {self.test_fraction:.3g} of the sample tested"

    @property
    def n_resamples(self) -> int:
        """Learning sets that are drawn."""
        return self.n_splits

    def _check(self, n_obs: int, units: str) -> None:
        """Refuse samples that leave nothing to learn from."""
        number_tested(n_obs, self.test_fraction, units)

    def _draw(
        self, n_obs: int, rng: np.random.Generator, strata: np.ndarray | None = None
    ) -> Design:
        """Draw test sets of the same size, independently of each other."""
        return _splits(n_obs, self.n_splits, number_tested(n_obs, self.test_fraction), rng, strata)


@dataclass(frozen=True)
class HoldOut(StratifiedDesign):
    """One split into a learning and a test set, random or in the order of rows.

    Parameters
    ----------
    test_fraction : float
        Share of the observations that are tested; rounded up to whole observations.
    stratify : bool, optional
        Whether test sets keep the classes in proportion, none of them left out. By default for
        the AUC alone.
    shuffle : bool
        False tests the last rows and learns from those before, as of a series in time.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.designs.schemes import HoldOut
    >>> HoldOut(0.25).draw(8, np.random.default_rng(0)).testing.sum(axis=1)
    array([2])
    """

    test_fraction: float = 1 / 3
    stratify: bool | None = None
    shuffle: bool = True

    def __post_init__(self) -> None:
        check_stratify(self.stratify)
        check_switch("shuffle", self.shuffle)
        if self.stratify and not self.shuffle:
            raise ValueError(
                f"{arg('stratify', True)} and {arg('shuffle', False)} exclude each other: the last "
                "rows are tested, whatever their classes are"
            )
        _check_fraction(self.test_fraction)

    @property
    def _in_words(self) -> str:
        if not self.shuffle:
            return f"one split, the last {self.test_fraction:.3g} of the sample tested"
        return f"one random split, {self.test_fraction:.3g} of the sample tested"

    @property
    def n_resamples(self) -> int:
        """Learning sets that are drawn."""
        return 1

    def _check(self, n_obs: int, units: str) -> None:
        """Refuse samples that leave nothing to learn from."""
        number_tested(n_obs, self.test_fraction, units)

    def _draw(
        self, n_obs: int, rng: np.random.Generator, strata: np.ndarray | None = None
    ) -> Design:
        """Draw the test set."""
        if not self.shuffle:
            testing = np.arange(n_obs) >= n_obs - number_tested(n_obs, self.test_fraction)
            return Design(~testing[None], testing[None])
        return _splits(n_obs, 1, number_tested(n_obs, self.test_fraction), rng, strata)


@dataclass(frozen=True)
class SplitHalves(StratifiedDesign):
    """Random splits of the sample, and of the two halves of random bisections.

    The design of the conservative z test (Nadeau and Bengio 2003): J splits of the whole
    sample with n/10 tested; then M times a random bisection, and J splits of each half
    with as many tested. The splits of two halves are independent of each other.
    Rows are ordered: whole sample; then for each bisection the first half and the second half.

    Parameters
    ----------
    n_splits : int
        J, at least 2.
    n_bisections : int
        M, at least 1.
    test_fraction : float
        Share of the whole sample that is tested; rounded up to whole observations.
    stratify : bool, optional
        Whether halves and test sets keep the classes in proportion, none of them left out.
        By default for the AUC alone.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.designs.schemes import SplitHalves
    >>> design = SplitHalves(2, n_bisections=1).draw(20, np.random.default_rng(0))
    >>> design.learning.sum(axis=1), design.testing.sum(axis=1)
    (array([18, 18,  8,  8,  8,  8]), array([2, 2, 2, 2, 2, 2]))
    """

    n_splits: int = 15
    n_bisections: int = 10
    test_fraction: float = 0.1
    stratify: bool | None = None

    def __post_init__(self) -> None:
        check_stratify(self.stratify)
        at_least("n_splits", self.n_splits, 2)
        at_least("n_bisections", self.n_bisections, 1)
        _check_fraction(self.test_fraction)

    @property
    def _in_words(self) -> str:
        return (
            f"{self.n_splits} random splits of the sample and of the halves of "
            f"{self.n_bisections} bisections, {self.test_fraction:.3g} of the sample tested"
        )

    @property
    def n_resamples(self) -> int:
        """Learning sets that are drawn."""
        return self.n_splits * (1 + 2 * self.n_bisections)

    def _check(self, n_obs: int, units: str) -> None:
        """Refuse samples whose halves leave nothing to learn from."""
        size = number_tested(n_obs, self.test_fraction, units)
        if n_obs // 2 - size < 1:
            raise ValueError(
                f"{arg('test_fraction', self.test_fraction)} tests {size} of {n_obs} {units}, "
                "which leaves nothing to learn from in half of the sample: use a smaller one"
            )

    def _draw(
        self, n_obs: int, rng: np.random.Generator, strata: np.ndarray | None = None
    ) -> Design:
        """Draw the splits of the whole sample, then those of the halves."""
        size = number_tested(n_obs, self.test_fraction)
        full_splits = _splits(n_obs, self.n_splits, size, rng, strata)
        learning, testing = [full_splits.learning], [full_splits.testing]
        for order in draw_orders(rng, self.n_bisections, n_obs):
            # With an odd number of observations, one is in neither half.
            even = order[: 2 * (n_obs // 2)]
            halves = np.split(even, 2)
            if strata is not None:
                dealt = by_class(even[None], strata)[0]
                halves = [dealt[::2], dealt[1::2]]
            for members in halves:
                classes = None if strata is None else strata[members]
                half_splits = _splits(len(members), self.n_splits, size, rng, classes)
                for matrices, half_rows in (
                    (learning, half_splits.learning),
                    (testing, half_splits.testing),
                ):
                    rows = np.zeros((self.n_splits, n_obs), dtype=bool)
                    rows[:, members] = half_rows
                    matrices.append(rows)
        return Design(np.concatenate(learning), np.concatenate(testing))


@dataclass(frozen=True)
class NestedKFold(StratifiedDesign):
    """K-fold cross-validation, and the same inside each learning set, with shared fits.

    The rule learnt without folds i and j serves as the inner fit for both: K fits without one
    fold, which test it, and K(K - 1)/2 without two, which test both; K(K + 1)/2 in all.
    Rows are ordered by repetition; in each, fold after fold, then the pairs (0, 1), (0, 2), ...

    Parameters
    ----------
    n_folds : int
        K, at least 3.
    n_repeats : int
    stratify : bool, optional
        Whether folds keep the classes in proportion, each class's sizes differing by at most one.
        By default for the AUC alone.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.designs.schemes import NestedKFold
    >>> NestedKFold(3, n_repeats=1).draw(9, np.random.default_rng(0)).testing.sum(axis=1)
    array([3, 3, 3, 6, 6, 6])
    """

    n_folds: int = 10
    n_repeats: int = 20
    stratify: bool | None = None

    _deals = True

    def __post_init__(self) -> None:
        check_stratify(self.stratify)
        at_least("n_folds", self.n_folds, 3)
        at_least("n_repeats", self.n_repeats, 1)

    @property
    def _in_words(self) -> str:
        return f"nested {self.n_folds}-fold cross-validation, {self.n_repeats} times"

    @property
    def n_resamples(self) -> int:
        """Learning sets that are drawn."""
        return self.n_repeats * self.n_folds * (self.n_folds + 1) // 2

    def _check(self, n_obs: int, units: str) -> None:
        """Refuse samples smaller than the number of folds."""
        _check_folds(n_obs, self.n_folds, self.n_repeats, units)

    def _draw(
        self, n_obs: int, rng: np.random.Generator, strata: np.ndarray | None = None
    ) -> Design:
        """Draw the folds; every repetition has K(K + 1)/2 rows."""
        folds = _folds(n_obs, self.n_folds, self.n_repeats, rng, strata)
        single = folds[:, None] == np.arange(self.n_folds)[:, None]
        testing = np.concatenate([single, unions_of_pairs(single)], axis=1).reshape(-1, n_obs)
        return Design(~testing, testing)


@dataclass(frozen=True)
class DisjointSets(OfUnits):
    """Learning sets of one size in disjoint pairs, each tested on all others.

    The design of `UStatisticTest`: in each draw the sample is split into random halves, and
    some learning sets are drawn from each, so that every one of the first half is disjoint from
    every one of the second. Rows are ordered by draw; in each, the sets of the first half, then
    those of the second.

    Parameters
    ----------
    learn_size : int
        Observations to learn from, g; n >= 2g + 2 is needed.
    n_draws : int
        Draws that are independent of each other.
    n_sets : int
        Learning sets on each side of a draw: n_sets^2 disjoint pairs from 2 n_sets fits.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.designs.schemes import DisjointSets
    >>> design = DisjointSets(3, n_draws=2, n_sets=1).draw(9, np.random.default_rng(0))
    >>> first, second = design.learning[::2], design.learning[1::2]
    >>> first.sum(axis=1), bool((first & second).any())
    (array([3, 3]), False)
    """

    learn_size: int
    n_draws: int = 500
    n_sets: int = 1

    def __post_init__(self) -> None:
        at_least("learn_size", self.learn_size, 1)
        at_least("n_draws", self.n_draws, 1)
        at_least("n_sets", self.n_sets, 1)

    @property
    def words(self) -> str:
        """The design as summaries name it."""
        return (
            f"{self.n_draws} draws of disjoint learning sets of {self.learn_size}, "
            f"{self.n_sets} on each side"
        )

    @property
    def n_resamples(self) -> int:
        """Learning sets that are drawn."""
        return 2 * self.n_sets * self.n_draws

    def _check(self, n_obs: int, units: str) -> None:
        """Refuse samples with fewer than two observations outside two learning sets."""
        if n_obs < 2 * self.learn_size + 2:
            raise ValueError(
                f"{arg('learn_size', self.learn_size)} needs at least {2 * self.learn_size + 2} "
                f"{units}, got {n_obs}: use {arg('learn_size')} <= {n_obs // 2 - 1}"
            )

    def _draw(self, n_obs: int, rng: np.random.Generator) -> Design:
        """Draw the halves and the learning sets."""
        halves = draw_from_halves(rng, self.n_draws, self.n_sets, n_obs, self.learn_size)
        return Design.leave_rest_out(np.stack(halves, axis=1).reshape(-1, n_obs))


def _splits(
    n_obs: int,
    n_splits: int,
    test_size: int,
    rng: np.random.Generator,
    strata: np.ndarray | None = None,
) -> Design:
    testing = np.zeros((n_splits, n_obs), dtype=bool)
    test_positions = np.arange(test_size)
    if strata is not None:
        # Class after class, the first ones of each.
        starts = np.concatenate([[0], np.cumsum(np.bincount(strata))[:-1]])
        shares = class_shares(strata, test_size)
        test_positions = np.concatenate(
            [a + np.arange(k) for a, k in zip(starts, shares, strict=True)]
        )
    for rows in row_batches(n_splits, n_obs, DRAW_CELLS):
        stratum_testing = testing[rows]
        orders = draw_orders(rng, len(stratum_testing), n_obs)
        orders = orders if strata is None else by_class(orders, strata)
        np.put_along_axis(stratum_testing, orders[:, test_positions], True, axis=1)
    return Design(~testing, testing)


def _folds(
    n_obs: int, n_folds: int, n_repeats: int, rng: np.random.Generator, strata: np.ndarray | None
) -> np.ndarray:
    """Numbers of the folds, (R, n)."""
    orders = draw_orders(rng, n_repeats, n_obs)
    return fold_numbers(orders, n_folds) if strata is None else deal_folds(orders, strata, n_folds)


def _check_folds(n_obs: int, n_folds: int, n_repeats: int, units: str) -> None:
    if n_folds > n_obs:
        raise ValueError(
            f"{arg('n_folds', n_folds)} needs at least {n_folds} {units}, got {n_obs}: use fewer "
            "folds"
        )
    if n_folds == n_obs and n_repeats > 1:
        raise ValueError(
            f"{arg('n_repeats', n_repeats)} repeats the same leave-one-out splits: use "
            f"{arg('n_repeats', 1)}, or fewer folds"
        )


def number_tested(n_obs: int, fraction: float, units: str = "observations") -> int:
    """How many of the units a fraction of them tests, refused where it is all of them."""
    # The fraction that is meant: in floating point 0.1 * 30 is above 3, and 1/3 * 30 below 10.
    exact = Fraction(float(fraction)).limit_denominator(10**6)
    size = max(1, ceil(exact * n_obs))
    if size >= n_obs:
        raise ValueError(
            f"{arg('test_fraction', fraction)} tests all of {n_obs} {units}: use a smaller one"
        )
    return size


def _check_fraction(fraction: Any) -> None:
    number = float(fraction) if isinstance(fraction, Real) else fraction
    declared("test_fraction", number, Level, 0.1)


@dataclass(frozen=True)
class LeavePairOut:
    """Every pair of a positive and a negative observation left out once: a splitter.

    It needs the labels, so it is not a named design but a splitter like those of scikit-learn,
    where it can be passed as ``cv=``. Rows are ordered by the observation of the second class
    (in ascending order, the positive one), then by that of the first.

    Examples
    --------
    >>> from ucvtest.designs.schemes import LeavePairOut
    >>> for learnt, tested in LeavePairOut().split(None, ["a", "b", "a"]):
    ...     print(learnt, tested)
    [2] [0 1]
    [0] [1 2]
    """

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of pairs.

        Raises
        ------
        ValueError
            If `y` has no two classes.
        """
        positive = self._positive(y)
        return int(positive.sum()) * int((~positive).sum())

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The rows to learn from and the two rows to test, pair by pair.

        Parameters
        ----------
        X : ignored
        y : array-like, shape (n,)
        groups : ignored
        """
        positive = self._positive(y)
        row_numbers = np.arange(len(positive))
        for first in np.flatnonzero(positive):
            for second in np.flatnonzero(~positive):
                tested = np.sort([first, second])
                yield np.delete(row_numbers, tested), tested

    @staticmethod
    def _positive(y: Any) -> np.ndarray:
        classes, codes = np.unique(as_array("y", y), return_inverse=True)
        if len(classes) != 2:
            raise ValueError(f"leaving every pair out needs two classes, but y has {len(classes)}")
        return codes == 1
