"""Fits that are asked for, row by row."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from ucvtest.data.sample import Sample


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

    def of_row(self, sample: Sample, row: int) -> tuple[Sample, np.ndarray, np.ndarray, int]:
        """What a learner needs for one of the fits: sample, learning and testing rows, seed."""
        learning = self.learning if self.common else self.learning[row]
        labeled_sample = sample if self.labels is None else sample.relabeled(self.labels[row])
        rows = np.flatnonzero(learning), np.flatnonzero(self.testing[row])
        return labeled_sample, *rows, int(self.seeds[row])

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
