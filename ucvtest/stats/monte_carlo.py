"""Monte-Carlo errors, and sequential Monte-Carlo p-values (Besag and Clifford 1991).

Draws end with the h-th that is as extreme as the observed value, or after P of them. If the h-th
comes at draw l the p-value is h/l, else (count + 1)/(P + 1): P(p <= alpha) <= alpha either way, for
every alpha, because the rank of the observed value among exchangeable ones is uniform.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np

from ucvtest.common.words import arg

T = TypeVar("T")


def mean_error(values: np.ndarray) -> float:
    """Monte-Carlo standard error of the mean of independent draws; NaN for a single one."""
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def pvalue_error(pvalue: float, size: int) -> float:
    """Monte-Carlo standard error of the p-value (count + 1)/(size + 1).

    One is added to the draws that are not counted as well: never zero where all are counted.
    """
    bounded_pvalue = min(pvalue, size / (size + 1))
    return math.sqrt(bounded_pvalue * (1 - bounded_pvalue) / size)


def check_stop_after(stop_after: int | None, n_permutations: int | str) -> None:
    """Refuse a number of exceedances where draws are not random, or fewer."""
    if stop_after is not None and isinstance(n_permutations, str):
        raise ValueError(
            f"{arg('stop_after', stop_after)} is for random permutations, and "
            f"{arg('n_permutations')} is {n_permutations!r:.60}: leave one of them out"
        )
    if stop_after is not None and isinstance(n_permutations, int) and stop_after > n_permutations:
        raise ValueError(
            f"stop_after must lie between 1 and n_permutations = {n_permutations}, got "
            f"{stop_after}: use 10"
        )


def permutations_within(options: T, affordable: int) -> T:
    """The options of a test with no more permutations than there is time for.

    Time alone decides it, and no draw: (count + 1)/(P + 1) is valid for every P.
    """
    record: Any = options
    if record.stop_after is not None and affordable < record.stop_after:
        raise ValueError(
            f"{arg('max_seconds', record.max_seconds)} allows about {affordable} permutations, and "
            f"{arg('stop_after', record.stop_after)} needs as many at least: raise one, or lower "
            "the other"
        )
    if affordable >= record.n_permutations:
        return options
    return replace(record, n_permutations=affordable, n_requested=record.n_permutations)


@dataclass(frozen=True)
class SequentialPvalue:
    """How draws ended: the draws that count, how many of them were as extreme, and h."""

    n_drawn: int
    n_extreme: int
    stop_after: int

    @classmethod
    def of(cls, extreme: np.ndarray, stop_after: int) -> Self:
        """From draws in their order, True where as extreme; those after the h-th do not count."""
        places = np.flatnonzero(extreme)
        if len(places) < stop_after:
            return cls(len(extreme), len(places), stop_after)
        return cls(int(places[stop_after - 1]) + 1, stop_after, stop_after)

    @property
    def stopped(self) -> bool:
        """Whether there were as many as asked for."""
        return self.n_extreme == self.stop_after

    @property
    def pvalue(self) -> float:
        """The p-value, from 1/(P + 1) to 1."""
        if self.stopped:
            return self.stop_after / self.n_drawn
        return (self.n_extreme + 1) / (self.n_drawn + 1)

    @property
    def error(self) -> float:
        """Monte-Carlo standard error of the p-value: of h/l that of an inverse sample."""
        p = self.pvalue
        if self.stopped:
            return math.sqrt(p * (1 - p) / (self.stop_after / p))
        return pvalue_error(p, self.n_drawn)

    @property
    def words(self) -> str:
        """How draws ended, and what the p-value is good for."""
        stopping_words = (
            f"stopped after {self.n_drawn}, when {self.stop_after} were as extreme as the observed "
            f"labels: p = {self.stop_after}/{self.n_drawn}"
            if self.stopped
            else (
                f"all {self.n_drawn}; fewer than {self.stop_after} were as extreme as the observed "
                f"labels: p = ({self.n_extreme} + 1)/({self.n_drawn} + 1)"
            )
        )
        return (
            f"Sequential permutations (Besag and Clifford 1991): {stopping_words}. The p-value is "
            "valid at every level, however the draws ended; large ones are rough."
        )


class BatchSizes:
    """Sizes of batches until draws end.

    One by one no more are drawn at a time than are needed in any case, and none in vain; where fits
    are cheapest many at a time, `at_once` of them.
    """

    def __init__(self, n_most: int, stop_after: int, size: int, at_once: int = 1) -> None:
        self._n_left, self._missing, self._size = n_most, stop_after, size
        self._at_once = at_once

    def next_size(self) -> int:
        """Draws in the next batch; 0 at the end."""
        if self._missing <= 0:
            return 0
        return min(self._n_left, self._size, max(self._missing, self._at_once))

    def record(self, extreme: np.ndarray) -> None:
        """Record a batch."""
        self._n_left -= len(extreme)
        self._missing -= int(np.count_nonzero(extreme))
