"""The structure that a test needs, read off a drawn design.

It does not matter how the design was made: designs from elsewhere (scikit-learn's splitters, other
people's indices) are as good as those of `ucvtest.designs`.
"""

import math
from itertools import combinations

import numpy as np

from ucvtest.common.arrays import as_array
from ucvtest.common.words import arg, call, has
from ucvtest.designs.design import Design


def folds_of(design: Design) -> np.ndarray:
    """The folds of (repeated) K-fold cross-validation.

    Parameters
    ----------
    design : Design
        Rows of one repetition next to each other.

    Returns
    -------
    ndarray of int, shape (n_repeats, n)
        Number of the fold of each observation, from 0; row ``r * K + k`` of the design tests
        fold k of repetition r.

    Raises
    ------
    ValueError
        If the design is not a K-fold cross-validation, or its repetitions differ in K.
    """
    problem = _reason_not_complements(design)
    testing = design.testing
    if problem is None:
        n_folds = _first_partition(testing)
        if n_folds < 2 or len(testing) % n_folds:
            problem = "its test sets do not partition the sample, repetition after repetition"
        else:
            blocks = testing.reshape(-1, n_folds, design.n_obs)
            if (blocks.sum(axis=1) == 1).all() and blocks.any(axis=2).all():
                return blocks.argmax(axis=1)
            problem = "its test sets do not partition the sample in every repetition"
    raise ValueError(f"the design is not a K-fold cross-validation: {problem}")


def n_folds_of(design: Design) -> int:
    """The number of folds of a design that tests every observation at most once.

    Returns
    -------
    int
        K of K-fold cross-validation done once; 1 for a single split.

    Raises
    ------
    ValueError
        If observations are tested several times.
    """
    _reason_not_complements(design)
    if design.n_resamples == 1:
        return 1
    n_repeats = len(folds_of(design))
    if n_repeats > 1:
        remedy = f"use {arg('n_repeats', 1)}" if has("n_repeats") else "take one repeat alone"
        raise ValueError(
            f"the design is repeated {n_repeats} times, but every observation may be tested once "
            f"only: repeated tests of one observation are not independent evidence; {remedy}"
        )
    return design.n_resamples


def random_splits_of(design: Design, unevenness: float = 0.0) -> tuple[int, int]:
    """Sizes of the learning sets and the test sets of splits of the whole sample.

    Parameters
    ----------
    design : Design
    unevenness : float
        Accepted beyond a difference of one observation: by how much the mean of the
        reciprocal sizes of the test sets may exceed that of equal sets, relative to it. A mean
        over such test sets has that much more variance.

    Returns
    -------
    tuple of int
        The sizes; that of the largest test set is returned.

    Raises
    ------
    ValueError
        If observations are neither learnt from nor tested, or sizes differ by more.
    """
    problem = _reason_not_complements(design)
    sizes = design.testing.sum(axis=1)
    excess = float(sizes.mean() * (1 / sizes).mean() - 1) if sizes.all() else math.inf
    if problem is None and sizes.max() - sizes.min() > 1 and excess > unevenness:
        problem = f"its test sets have between {sizes.min()} and {sizes.max()} observations"
    if problem:
        raise ValueError(f"the design does not split the sample in the same proportion: {problem}")
    return design.n_obs - int(sizes.max()), int(sizes.max())


def nested_folds_of(design: Design) -> np.ndarray:
    """The folds of nested K-fold cross-validation, whose rows are ordered as in `NestedKFold`.

    Returns
    -------
    ndarray of int, shape (n_repeats, n)

    Raises
    ------
    ValueError
        If the design is something else.
    """
    problem = _reason_not_complements(design)
    n_folds = _first_partition(design.testing)
    n_rows = n_folds * (n_folds + 1) // 2
    if n_folds >= 3 and len(design.testing) % n_rows == 0:
        blocks = design.testing.reshape(-1, n_rows, design.n_obs)
        single, pairs = blocks[:, :n_folds], blocks[:, n_folds:]
        partition = (single.sum(axis=1) == 1).all() and single.any(axis=2).all()
        if partition and (pairs == unions_of_pairs(single)).all() and problem is None:
            return single.argmax(axis=1)
    raise ValueError(
        f"the design is not a nested K-fold cross-validation: use {call('designs.NestedKFold')}, "
        "whose order of learning sets is needed"
    )


def halves_of(design: Design) -> tuple[int, int]:
    """Numbers of splits J and of bisections M of a design ordered as in `SplitHalves`.

    Raises
    ------
    ValueError
        If the design is something else.
    """
    _reason_not_complements(design)
    used_rows = design.learning | design.testing
    n_splits = int(used_rows.all(axis=1).sum())
    n_parts, remainder = divmod(len(used_rows), n_splits) if n_splits else (0, 1)
    if remainder == 0 and n_parts >= 3 and n_parts % 2 == 1:
        used_by_part = used_rows.reshape(n_parts, n_splits, -1)
        halves = used_by_part[1:, 0].reshape(-1, 2, design.n_obs)
        splits_alike = bool((used_by_part == used_by_part[:, :1]).all()) and bool(
            used_by_part[0].all()
        )
        disjoint = not (halves[:, 0] & halves[:, 1]).any()
        equal = (halves.sum(axis=2) == design.n_obs // 2).all() and len(design.test_sizes) == 1
        if splits_alike and disjoint and equal:
            return n_splits, n_parts // 2
    raise ValueError(
        f"the design does not split the sample and its halves: use {call('designs.SplitHalves')}, "
        "whose order of learning sets is needed"
    )


def disjoint_sets_of(design: Design, n_sets: int | None = None) -> tuple[int, int]:
    """Draws, and sets on each side, of a design ordered as in `DisjointSets`.

    Without `n_sets`, as many sets on each side as the design allows.

    Returns
    -------
    tuple of int
        Numbers of draws and of sets on each side: ``draws * 2 * sets`` rows.

    Raises
    ------
    ValueError
        If learning sets differ in size, or do not come in disjoint pairs, or do not test all
        others.
    """
    problem = _reason_not_complements(design)
    n_pairs, odd = divmod(design.n_resamples, 2)
    if problem is None and len(design.learn_sizes) > 1:
        problem = f"they have between {design.learn_sizes[0]} and {design.learn_sizes[-1]} members"
    if problem is None and not odd:
        # The largest number that fits, as sets that were drawn together must stay together.
        for number in range(n_pairs, 0, -1) if n_sets is None else (n_sets,):
            if n_pairs % number == 0 and _sides_disjoint(design.learning, number):
                return n_pairs // number, number
    problem = problem or "one side of a draw shares observations with the other"
    raise ValueError(
        f"the design's learning sets are not disjoint pairs of one size: {problem}; use "
        f"{call('designs.DisjointSets')}"
    )


def _sides_disjoint(learning: np.ndarray, n_sets: int) -> bool:
    blocks = learning.reshape(-1, 2, n_sets, learning.shape[1])
    # One draw tells almost always.
    return not any(
        (draws[:, 0].any(axis=1) & draws[:, 1].any(axis=1)).any() for draws in (blocks[:1], blocks)
    )


def pairs_of(design: Design, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The positive and the negative observation of each row of a leave-pair-out design.

    Parameters
    ----------
    design : Design
    target : ndarray of 0 and 1, shape (n,)

    Returns
    -------
    tuple of ndarray of int, shape (R,)

    Raises
    ------
    ValueError
        If a row tests anything but one observation of each class, learns from anything but
        all others, or the pairs are not all there once.
    """
    problem = _reason_not_complements(design)
    target = as_array("target", target)
    if target.shape != (design.n_obs,):
        raise ValueError(f"{arg('target')} must have shape ({design.n_obs},), got {target.shape}")
    positive = target == 1
    n_pairs = int(positive.sum()) * int((~positive).sum())
    if problem is None:
        first, second = design.testing & positive, design.testing & ~positive
        if not (first.sum(axis=1) == 1).all() or not (second.sum(axis=1) == 1).all():
            problem = "a test set is something else than one observation of each class"
        else:
            places = first.argmax(axis=1), second.argmax(axis=1)
            n_different = len(np.unique(places[0] * design.n_obs + places[1]))
            if n_different == design.n_resamples == n_pairs:
                return places
            problem = f"it tests {n_different} of {n_pairs} pairs in {design.n_resamples} rows"
    raise ValueError(
        f"the design does not leave every pair out once: {problem}; use "
        f"{call('designs.LeavePairOut')}"
    )


def in_time(design: Design) -> bool:
    """Whether several splits go through time: each learns from rows before those that it tests."""

    def forward(splits: Design) -> bool:
        last_learnt = splits.n_obs - 1 - splits.learning[:, ::-1].argmax(axis=1)
        first_tested = splits.testing.argmax(axis=1)
        return bool((last_learnt < first_tested).all() and (np.diff(first_tested) > 0).all())

    # One split tells almost always.
    return design.n_resamples > 1 and forward(design.rows(slice(1))) and forward(design)


def _reason_not_complements(design: object) -> str | None:
    """Why a design does not divide the sample into learnt and tested; None where it does.

    Raises
    ------
    TypeError
        If it is not a Design.
    """
    if not isinstance(design, Design):
        raise TypeError(
            f"design must be a Design, got {type(design).__name__}: as_design makes one of a name, "
            "a splitter or a list of splits"
        )
    if (design.learning == design.testing).any():
        return "not every observation is either learnt from or tested"
    return None


def _first_partition(testing: np.ndarray) -> int:
    """Rows after which every observation has been tested once; 0 where that does not happen."""
    # No partition has more parts than members, so there is no need to look further.
    times = testing[: testing.shape[1]].cumsum(axis=0, dtype=np.int32)
    complete = (times == 1).all(axis=1)
    return int(complete.argmax()) + 1 if complete.any() else 0


def unions_of_pairs(single: np.ndarray) -> np.ndarray:
    """Unions of the folds i < j, (R, K(K - 1)/2, n)."""
    first, second = np.array(list(combinations(range(single.shape[1]), 2))).T
    return single[:, first] | single[:, second]
