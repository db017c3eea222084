"""Which observations are learnt from and which are tested, as 0/1 matrices."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np

__all__ = ["Design", "all_learning_sets", "draw_learning_pairs"]


@dataclass(frozen=True, eq=False)
class Design:
    """A resampling design.

    Parameters
    ----------
    learning : ndarray of bool, shape (R, n)
        Row r marks the observations of learning set r.
    testing : ndarray of bool, shape (R, n)
        Row r marks the observations that the rule learnt on set r is tested on.
    """

    learning: np.ndarray
    testing: np.ndarray

    @classmethod
    def leave_rest_out(cls, learning: np.ndarray) -> "Design":
        """Test every rule on all observations that it has not seen."""
        return cls(learning, ~learning)

    def __len__(self) -> int:
        return len(self.learning)


def draw_learning_pairs(
    rng: np.random.Generator, n_pairs: int, n_obs: int, learn_size: int, overlap: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Draw pairs of learning sets with as many observations in common as asked for.

    Each set is uniformly distributed over all sets of its size; each pair over all pairs
    with this overlap. Drawn pair by pair, so that the draws do not depend on how many are
    asked for at a time.

    Parameters
    ----------
    rng : numpy Generator
    n_pairs, n_obs, learn_size : int
    overlap : int
        Number of common observations; the sets need ``2 * learn_size - overlap`` of them.

    Returns
    -------
    tuple of ndarray of bool, shape (n_pairs, n_obs)

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.design import draw_learning_pairs
    >>> first, second = draw_learning_pairs(np.random.default_rng(0), 1000, 9, 4)
    >>> bool((first & second).any()), set(first.sum(axis=1).tolist())
    (False, {4})
    """
    order = rng.permuted(np.tile(np.arange(n_obs), (n_pairs, 1)), axis=1)
    rows = np.arange(n_pairs)[:, None]
    first = np.zeros((n_pairs, n_obs), dtype=bool)
    second = np.zeros((n_pairs, n_obs), dtype=bool)
    first[rows, order[:, :learn_size]] = True
    start = learn_size - overlap
    second[rows, order[:, start : start + learn_size]] = True
    return first, second


def all_learning_sets(n_obs: int, learn_size: int, batch_size: int) -> Iterator[np.ndarray]:
    """All learning sets of one size in lexicographic order, in batches.

    Yields
    ------
    ndarray of bool, shape (at most batch_size, n_obs)

    Examples
    --------
    >>> from ucvtest.design import all_learning_sets
    >>> [len(batch) for batch in all_learning_sets(5, 2, 4)]
    [4, 4, 2]
    """
    subsets = combinations(range(n_obs), learn_size)
    while batch := list(islice(subsets, batch_size)):
        index = np.array(batch, dtype=int)
        learning = np.zeros((len(index), n_obs), dtype=bool)
        learning[np.arange(len(index))[:, None], index] = True
        yield learning
