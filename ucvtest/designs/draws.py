"""Random learning sets in NumPy: the same for every number of them that is drawn at a time."""

from collections.abc import Iterator
from itertools import combinations, islice

import numpy as np

from ucvtest.common.execution import row_batches

MEMBER_BITS = 24
"""Bits of a random number that contain an observation's number; the others, 40, are random."""

CELLS_PER_STEP = 2**18
"""Cells (learning sets times observations) that are drawn at a time."""

MANY = 6
"""Subsets are drawn member by member where there are at least this many times as many members."""


def draw_orders(rng: np.random.Generator, n_draws: int, n_obs: int) -> np.ndarray:
    """Draw random orders of the observations, from which learning sets are cut.

    Drawn order by order, so that they do not depend on how many are asked for at a time.
    """
    return rng.permuted(np.tile(np.arange(n_obs), (n_draws, 1)), axis=1)


def learning_sets(orders: np.ndarray, first_position: int, size: int) -> np.ndarray:
    """The learning sets (R, n) of some consecutive places of random orders, uniformly distributed.

    Sets from places that do not overlap are disjoint.
    """
    learning = np.zeros(orders.shape, dtype=bool)
    np.put_along_axis(learning, orders[:, first_position : first_position + size], True, axis=1)
    return learning


def fold_numbers(orders: np.ndarray, n_folds: int) -> np.ndarray:
    """Folds of K-fold cross-validation, cut from random orders: numbers (R, n) from 0.

    Sizes differ by at most one. The folds take no account of classes, so that all observations are
    treated alike.
    """
    n_obs = orders.shape[1]
    folds = np.empty(orders.shape, dtype=int)
    np.put_along_axis(folds, orders, np.arange(n_obs)[None] * n_folds // n_obs, axis=1)
    return folds


def deal_folds(orders: np.ndarray, strata: np.ndarray, n_folds: int) -> np.ndarray:
    """Folds of K-fold cross-validation in which each class is as large as in the others.

    Class sizes differ by at most one between folds, and so do the sizes of the folds.

    Parameters
    ----------
    orders : ndarray of int, shape (R, n)
    strata : ndarray of int, shape (n,)
        Class of each observation.
    n_folds : int

    Returns
    -------
    ndarray of int, shape (R, n)
        Number of the fold of each observation, from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.designs.draws import deal_folds
    >>> deal_folds(np.array([[4, 0, 3, 1, 2]]), np.array([0, 0, 0, 1, 1]), 2)
    array([[0, 1, 0, 0, 1]])
    """
    folds = np.empty(orders.shape, dtype=int)
    dealt = np.arange(orders.shape[1])[None] % n_folds
    np.put_along_axis(folds, by_class(orders, strata), dealt, axis=1)
    return folds


def by_class(orders: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """The orders with class after class, in each in their own order."""
    places = np.argsort(strata[orders], axis=1, kind="stable")
    return np.take_along_axis(orders, places, axis=1)


def class_shares(strata: np.ndarray, size: int) -> np.ndarray:
    """How many of each class are in a subset of this size that keeps the classes in proportion.

    None is left out where that is possible, nor taken as a whole.

    Parameters
    ----------
    strata : ndarray of int, shape (n,)
        Class of each observation, from 0.
    size : int

    Returns
    -------
    ndarray of int, shape (C,)

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.designs.draws import class_shares
    >>> class_shares(np.repeat([0, 1], [18, 2]), 5)
    array([4, 1])
    """
    counts = np.bincount(strata)
    exact = counts * size / len(strata)
    smallest_share, largest_share = np.minimum(1, counts - 1), np.maximum(counts - 1, 0)
    shares = np.clip(np.floor(exact), smallest_share, largest_share).astype(int)
    while shares.sum() != size:
        # One more where most is missing, or one less where there is most too many.
        step = 1 if shares.sum() < size else -1
        free = shares < counts if step > 0 else shares > 0
        inside = free & (shares + step >= smallest_share) & (shares + step <= largest_share)
        lacking = np.where(inside if inside.any() else free, step * (exact - shares), -np.inf)
        shares[lacking.argmax()] += step
    return shares


def draw_from_halves(
    rng: np.random.Generator, n_draws: int, n_sets: int, n_obs: int, learn_size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Split the sample into random halves and draw several learning sets (D, s, n) from each.

    Every set from one half is disjoint from every set from the other: s + s fits give s * s pairs,
    each uniformly distributed over all pairs of disjoint sets.
    """
    middle = n_obs // 2
    halves = tuple(np.empty((n_draws, n_sets, n_obs), dtype=bool) for _ in range(2))
    # A few draws at a time: new memory costs more than the numbers in it. With a single set to a
    # draw, most of it is for the random numbers of the halves.
    for rows in row_batches(n_draws, max(n_sets, 4) * n_obs, CELLS_PER_STEP):
        in_half = _random_subsets(rng, rows.stop - rows.start, n_obs, middle)
        _draw_subsets(rng, in_half, learn_size, halves[0][rows])
        _draw_subsets(rng, ~in_half, learn_size, halves[1][rows])
    return halves[0], halves[1]


def _draw_subsets(
    rng: np.random.Generator, is_member: np.ndarray, size: int, subsets: np.ndarray
) -> None:
    """Mark random subsets of each row of members (D, n) in `subsets` (D, s, n), contiguous."""
    members = _numbers(is_member)
    n_members = members.shape[1]
    # Drawn are the members of a subset or those that it leaves out, whichever are fewer.
    draws_rest = 2 * size > n_members
    n_drawn = n_members - size if draws_rest else size
    subsets[...] = is_member[:, None] if draws_rest else False
    shape = subsets.shape[:2]
    marks = subsets.reshape(-1)
    first_mark = np.arange(0, len(marks), subsets.shape[2]).reshape(shape)
    if MANY * n_drawn > n_members:
        drawn_members = _random_members(rng, members[:, None], n_drawn, (*shape, n_members))
        marks[first_mark[..., None] + drawn_members] = not draws_rest
        return
    first_member = np.arange(0, members.size, n_members)[:, None]
    # Robert Floyd's algorithm: draw one of the members up to `last`, or take the last itself if
    # that one was drawn before.
    for last in range(n_members - n_drawn, n_members):
        member_index = first_member + rng.integers(last + 1, size=shape)
        drawn_members = first_mark + members.reshape(-1)[member_index]
        repeated = np.nonzero(marks[drawn_members] != draws_rest)
        drawn_members[repeated] = first_mark[repeated] + members[repeated[0], last]
        marks[drawn_members] = not draws_rest


def _numbers(is_member: np.ndarray) -> np.ndarray:
    """The numbers of the members in ascending order, (D, m); every row (D, n) has m of them."""
    # The order in which partition leaves them would depend on the processor.
    n_rows, n_obs = is_member.shape
    numbers = np.flatnonzero(is_member).reshape(n_rows, -1)
    return numbers - np.arange(0, n_rows * n_obs, n_obs)[:, None]


def _random_keys(
    rng: np.random.Generator, members: np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    """Random numbers, each with its member: the smallest choose a random subset."""
    keys = rng.integers(2**64, size=shape, dtype=np.uint64)
    keys &= np.uint64(2**64 - 2**MEMBER_BITS)
    keys |= members.view(np.uint64)
    return keys


def _random_members(
    rng: np.random.Generator, members: np.ndarray, size: int, shape: tuple[int, ...]
) -> np.ndarray:
    """A random subset of each row of members, broadcast to a shape, in any order."""
    keys = _random_keys(rng, members, shape)
    keys.partition(size - 1, axis=-1)
    return (keys[..., :size] & np.uint64(2**MEMBER_BITS - 1)).view(np.int64)


def _random_subsets(rng: np.random.Generator, n_subsets: int, n_obs: int, size: int) -> np.ndarray:
    """Random subsets of the observations, marked, (R, n)."""
    keys = _random_keys(rng, np.arange(n_obs), (n_subsets, n_obs))
    last = np.partition(keys, size - 1, axis=1)[:, size - 1]
    marked: np.ndarray = keys <= last[:, None]
    return marked


def exchange_one(rng: np.random.Generator, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The second sets with one random observation exchanged for one of the disjoint first sets."""
    rows = np.arange(len(first))
    exchanged = second.copy()
    for sets, becomes_member in ((second, False), (first, True)):
        members = _numbers(sets)
        exchanged[rows, members[rows, rng.integers(members.shape[1], size=len(rows))]] = (
            becomes_member
        )
    return exchanged


def all_learning_sets(n_obs: int, learn_size: int, batch_size: int) -> Iterator[np.ndarray]:
    """All learning sets of one size in lexicographic order, in batches."""
    subsets = combinations(range(n_obs), learn_size)
    while batch := list(islice(subsets, batch_size)):
        index = np.array(batch, dtype=int)
        learning = np.zeros((len(index), n_obs), dtype=bool)
        learning[np.arange(len(index))[:, None], index] = True
        yield learning
