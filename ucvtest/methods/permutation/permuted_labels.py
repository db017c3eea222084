"""Labels that are unrelated to the features: drawn, counted, or enumerated."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.kernels.permutation import Sampling
from ucvtest.stats.cluster_permutation import ExchangeableLabels, arrangements
from ucvtest.stats.monte_carlo import BatchSizes

BATCH_CELLS = 2**21
"""Default number of labels (labelings times observations) in memory at a time."""


def reference_labels(target: np.ndarray, sampling: Sampling) -> np.ndarray:
    """Equally likely labels, shape (m,)."""
    return np.array([0.0, 1.0]) if sampling == "rademacher" else target


def draw_labels(
    rng: np.random.Generator, target: np.ndarray, sampling: Sampling, n_drawn: int
) -> np.ndarray:
    """Draw labels (n_drawn, n), one labeling after the other, independently of the batch."""
    n = len(target)
    if sampling == "permutation":
        return rng.permuted(np.tile(target, (n_drawn, 1)), axis=1)
    labels = reference_labels(target, sampling)
    return labels[rng.integers(len(labels), size=(n_drawn, n))]


def draw_batches(
    rng: np.random.Generator, target: np.ndarray, sampling: Sampling, n_drawn: int, size: int | None
) -> Iterator[tuple[np.ndarray, None]]:
    """`draw_labels`, `size` at a time, in the form of `all_labels`."""
    size = batch_size(size, target)
    for n_done in range(0, n_drawn, size):
        yield draw_labels(rng, target, sampling, min(size, n_drawn - n_done)), None


def draw_until(
    rng: np.random.Generator, target: np.ndarray, stopping: BatchSizes
) -> Iterator[tuple[np.ndarray, None]]:
    """Permutations until there are enough; the next batch waits for the result of the last one."""
    while size := stopping.next_size():
        yield draw_labels(rng, target, "permutation", size), None


def batch_size(size: int | None, target: np.ndarray) -> int:
    """Number of labelings in memory at a time."""
    return size or max(1, BATCH_CELLS // len(target))


def n_labelings(target: np.ndarray, sampling: Sampling) -> int:
    """The number of different labelings."""
    n, counts = len(target), np.unique(target, return_counts=True)[1].tolist()
    if sampling == "permutation":
        return math.factorial(n) // math.prod(map(math.factorial, counts))
    return int(len(np.unique(reference_labels(target, sampling))) ** n)


def all_labels(
    target: np.ndarray, sampling: Sampling, size: int | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All different labelings (size, n), some at a time, with their probabilities (size,)."""
    label_counts = Counter(reference_labels(target, sampling).tolist())
    n_reference = label_counts.total()
    rows: Iterator[tuple[float, ...]]
    if sampling == "permutation":
        rows = arrangements(sorted(target.tolist()))
    else:
        rows = product(sorted(label_counts), repeat=len(target))
    n_rows = n_labelings(target, sampling)
    size = batch_size(size, target)
    while block := list(islice(rows, size)):
        if sampling == "permutation":
            probability = np.full(len(block), 1.0 / n_rows)
        else:
            row_probabilities = [math.prod(label_counts[label] for label in row) for row in block]
            probability = np.array(row_probabilities, dtype=float) / float(n_reference) ** len(
                target
            )
        yield np.array(block), probability


@dataclass(frozen=True, eq=False)
class Relabeling:
    """How labels are permuted in clusters, and the weight of each row, (n,), with sum 1."""

    exchangeable: ExchangeableLabels
    weight: np.ndarray

    @classmethod
    def of(cls, target: np.ndarray, clusters: Clusters | None) -> "Relabeling | None":
        """None if there are no clusters; refused if no label can change."""
        if clusters is None:
            return None
        exchangeable = ExchangeableLabels.of(target, clusters.groups.index)
        if exchangeable.n_labelings == 1:
            raise ValueError(
                "groups leave only one labeling: labels are permuted within groups, and labels of "
                "groups with one label among groups of the same size; two such groups must have "
                "different labels"
            )
        return cls(exchangeable, clusters.row_shares)

    def drawn(
        self, rng: np.random.Generator, n_drawn: int, size: int | None
    ) -> Iterator[tuple[np.ndarray, None]]:
        """Like `draw_batches`."""
        size = batch_size(size, self.weight)
        for n_done in range(0, n_drawn, size):
            yield self.exchangeable.draw(rng, min(size, n_drawn - n_done)), None

    def until(
        self, rng: np.random.Generator, stopping: BatchSizes
    ) -> Iterator[tuple[np.ndarray, None]]:
        """Like `draw_until`."""
        while size := stopping.next_size():
            yield self.exchangeable.draw(rng, size), None

    def every(self, size: int | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Like `all_labels`."""
        probability = 1.0 / self.exchangeable.n_labelings
        for labels in self.exchangeable.every(batch_size(size, self.weight)):
            yield labels, np.full(len(labels), probability)
