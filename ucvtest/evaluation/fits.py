"""Fits that are asked for, row by row: which learning set, what is tested, which labels."""

from dataclasses import dataclass
from typing import Self

import numpy as np

__all__ = ["Fits"]


@dataclass(frozen=True, eq=False)
class Fits:
    """Some fits of one learner.

    Parameters
    ----------
    splits : ndarray of int, shape (R,)
        Their numbers, for messages.
    learning : ndarray of bool, shape (R, n) or (n,)
        Learning sets; a vector is one that all fits have in common.
    testing : ndarray of bool, shape (R, n)
    seeds : ndarray of int, shape (R,)
    labels : ndarray or None, shape (R, n)
        What each fit sees as the response, where that is not the sample's.
    """

    splits: np.ndarray
    learning: np.ndarray
    testing: np.ndarray
    seeds: np.ndarray
    labels: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.splits)

    @property
    def common(self) -> bool:
        """Whether all fits have one learning set."""
        return self.learning.ndim == 1

    def rows(self, index: slice | np.ndarray) -> Self:
        """Some of the fits."""
        return type(self)(
            self.splits[index],
            self.learning if self.common else self.learning[index],
            self.testing[index],
            self.seeds[index],
            None if self.labels is None else self.labels[index],
        )
