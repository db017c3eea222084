"""Fits that are asked for, row by row."""

from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True, eq=False)
class FitRequests:
    """Some fits of one learner: their numbers, sets (R, n) and seeds.

    A vector (n,) is a learning set that all have in common; labels (R, n) are the response of each
    fit, where that is not the sample's. Where they `may_fail`, an error inside a learner
    costs its own fit alone.
    """

    splits: np.ndarray
    learning: np.ndarray
    testing: np.ndarray
    seeds: np.ndarray
    labels: np.ndarray | None = None
    may_fail: bool = False

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
            self.may_fail,
        )
