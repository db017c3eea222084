"""Which labels may change places under a null hypothesis, where rows come in clusters."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product

import numpy as np


@dataclass(frozen=True, eq=False)
class ExchangeableLabels:
    """Blocks of slots whose labels change places.

    A slot has the rows (their numbers) that have one label in common. Where every cluster has one
    label, `between`, clusters are the slots of a single block. Otherwise labels change places
    within clusters, and those of clusters with one label among clusters of the same size: which
    label such a cluster has may depend on its size.
    """

    labels: np.ndarray
    blocks: tuple[tuple[np.ndarray, ...], ...]
    between: bool

    @classmethod
    def of(cls, labels: np.ndarray, cluster: np.ndarray) -> "ExchangeableLabels":
        """What labels (n,) in clusters, numbers 0, 1, ..., may do."""
        members = [
            np.flatnonzero(cluster == cluster_number)
            for cluster_number in range(int(cluster.max()) + 1)
        ]
        pure = [rows for rows in members if (labels[rows] == labels[rows[0]]).all()]
        if len(pure) == len(members):
            return cls(labels, (tuple(pure),), between=True)
        blocks = [tuple(rows[:, None]) for rows in members if len(set(labels[rows].tolist())) > 1]
        for size in sorted({len(rows) for rows in pure}):
            blocks.append(tuple(rows for rows in pure if len(rows) == size))
        return cls(labels, tuple(blocks), between=False)

    @cached_property
    def _slot(self) -> np.ndarray:
        """The slot of each row, (n,), counted from block to block."""
        slots = np.empty(len(self.labels), dtype=int)
        for number, rows in enumerate(rows for block in self.blocks for rows in block):
            slots[rows] = number
        return slots

    @cached_property
    def _values(self) -> tuple[np.ndarray, ...]:
        """The labels of each block's slots."""
        return tuple(self.labels[[rows[0] for rows in block]] for block in self.blocks)

    @property
    def in_words(self) -> str:
        """What the null hypothesis is."""
        if self.between:
            return "labels of clusters are independent of their features and sizes"
        return (
            "labels are independent of features within clusters, and those of clusters with one "
            "label among clusters of the same size"
        )

    @property
    def n_labelings(self) -> int:
        """How many different labelings there are."""
        total = 1
        for values in self._values:
            counts = np.unique(values, return_counts=True)[1].tolist()
            total *= math.factorial(len(values)) // math.prod(map(math.factorial, counts))
        return total

    def draw(self, rng: np.random.Generator, n_drawn: int) -> np.ndarray:
        """Labels (n_drawn, n), one labeling after the other: not dependent on the batch."""
        keys = rng.random((n_drawn, sum(map(len, self.blocks))))
        first_column, permuted = 0, np.empty(keys.shape, dtype=self.labels.dtype)
        for values in self._values:
            columns = slice(first_column, first_column + len(values))
            permuted[:, columns] = values[keys[:, columns].argsort(axis=1)]
            first_column += len(values)
        return permuted[:, self._slot]

    def every(self, size: int) -> Iterator[np.ndarray]:
        """All different labelings (size, n), some at a time."""
        block_arrangements = [
            list(arrangements(sorted(values.tolist()))) for values in self._values
        ]
        rows = product(*block_arrangements)
        while batch := list(islice(rows, size)):
            slots = [[label for block in row for label in block] for row in batch]
            yield np.array(slots, dtype=self.labels.dtype)[:, self._slot]

    def shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Different labels (V,), and the probability of each in every row, (V, n)."""
        distinct_labels, label_index = np.unique(self.labels, return_inverse=True)
        label_shares = np.zeros((len(distinct_labels), len(self.labels)))
        for block in self.blocks:
            block_counts = np.bincount(
                label_index[[rows[0] for rows in block]], minlength=len(distinct_labels)
            )
            label_shares[:, np.concatenate(block)] = block_counts[:, None] / len(block)
        return distinct_labels, label_shares

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means (n,) and covariances (n, n) of the labels."""
        n = len(self.labels)
        mean, covariance = np.empty(n), np.zeros((n, n))
        for block, values in zip(self.blocks, self._values, strict=True):
            rows = np.concatenate(block)
            mean[rows] = values.mean()
            between = -values.var() / max(len(block) - 1, 1)
            covariance[np.ix_(rows, rows)] = between
            for slot in block:
                covariance[np.ix_(slot, slot)] = values.var()
        return mean, covariance


def arrangements(values: Sequence[float]) -> Iterator[tuple[float, ...]]:
    """All different orders of sorted values, in lexicographic order."""
    values = list(values)
    while True:
        yield tuple(values)
        # The longest tail that does not increase is at its last order: raise what precedes it.
        pivot = len(values) - 2
        while pivot >= 0 and values[pivot] >= values[pivot + 1]:
            pivot -= 1
        if pivot < 0:
            return
        larger = len(values) - 1
        while values[larger] <= values[pivot]:
            larger -= 1
        values[pivot], values[larger] = values[larger], values[pivot]
        values[pivot + 1 :] = values[:pivot:-1]
