"""Leave-pair-out cross-validation as a splitter."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array


@dataclass(frozen=True)
class LeavePairOut:
    """Every pair of a positive and a negative observation left out once: a splitter.

    It needs the labels, so it is not a named design but a splitter like those of scikit-learn,
    where it can be passed as ``cv=``. Rows are ordered by the observation of the second class
    (in ascending order, the positive one), then by that of the first.

    Examples
    --------
    >>> from ucvtest.designs.leave_pair_out import LeavePairOut
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
            raise ValueError(f"LeavePairOut needs two classes, but y has {len(classes)}")
        return codes == 1
