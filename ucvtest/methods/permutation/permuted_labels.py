"""Labels that are unrelated to the features: drawn, counted, or enumerated, and their losses."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, product

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.data.sample import Sample
from ucvtest.inference.notes import INDEPENDENCE
from ucvtest.kernels.permutation import Sampling, smoother_complexity, smoother_optimism
from ucvtest.kernels.permutation.optimism import mean_over_clusters
from ucvtest.methods.permutation.losses_of_labels import losses_by_labels, losses_by_matrix
from ucvtest.metrics.loss import Loss
from ucvtest.stats.cluster_permutation import ExchangeableLabels, arrangements
from ucvtest.stats.monte_carlo import BatchSizes

BATCH_CELLS = 2**21
"""Default number of labels (labelings times observations) in memory at a time."""

Batches = Iterator[tuple[np.ndarray, np.ndarray | None]]
"""Labels (size, n), some at a time, with their probabilities (size,); None if they are drawn."""


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


def n_labelings(target: np.ndarray, sampling: Sampling) -> int:
    """The number of different labelings."""
    n, counts = len(target), np.unique(target, return_counts=True)[1].tolist()
    if sampling == "permutation":
        return math.factorial(n) // math.prod(map(math.factorial, counts))
    return int(len(np.unique(reference_labels(target, sampling))) ** n)


def all_labels(target: np.ndarray, sampling: Sampling, size: int) -> Batches:
    """All different labelings (size, n), some at a time, with their probabilities (size,)."""
    label_counts = Counter(reference_labels(target, sampling).tolist())
    n_reference = label_counts.total()
    rows: Iterator[tuple[float, ...]]
    if sampling == "permutation":
        rows = arrangements(sorted(target.tolist()))
    else:
        rows = product(sorted(label_counts), repeat=len(target))
    n_rows = n_labelings(target, sampling)
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
class Labelings:
    """The labels that independent observations could have as well, and losses on them."""

    target: np.ndarray
    sampling: Sampling = "permutation"

    @property
    def null_hypothesis(self) -> str:
        """The tested hypothesis, in words."""
        return INDEPENDENCE

    @property
    def number(self) -> int:
        """How many different ones there are."""
        return n_labelings(self.target, self.sampling)

    def size(self, size: int | None) -> int:
        """Number of labelings in memory at a time."""
        return size or max(1, BATCH_CELLS // len(self.target))

    def draw(self, rng: np.random.Generator, n_drawn: int) -> np.ndarray:
        """Labels (n_drawn, n), whatever the batch."""
        return draw_labels(rng, self.target, self.sampling, n_drawn)

    def drawn(self, rng: np.random.Generator, n_drawn: int, size: int | None) -> Batches:
        """A number of them, `size` at a time."""
        size = self.size(size)
        for n_done in range(0, n_drawn, size):
            yield self.draw(rng, min(size, n_drawn - n_done)), None

    def until(self, rng: np.random.Generator, stopping: BatchSizes) -> Batches:
        """As many as are needed; the next batch waits for the result of the last one."""
        while size := stopping.next_size():
            yield self.draw(rng, size), None

    def every(self, size: int | None) -> Batches:
        """All of them."""
        return all_labels(self.target, self.sampling, self.size(size))

    def mean(self, values: np.ndarray) -> np.ndarray:
        """The mean over observations, which are on the last axis."""
        return values.mean(axis=-1)

    def losses(
        self, loss: Loss, sample: Sample, predictions: np.ndarray, labels: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Mean losses on the labels (P, n) that were learnt, and on new ones: e_in, e_gen."""
        reference = reference_labels(self.target, self.sampling)
        return losses_by_matrix(loss, sample, predictions, labels, reference)

    def closed_form(self, matrix: np.ndarray) -> tuple[float, float, float, float]:
        """Means over all of them for a linear smoother: e_gen, y g, y and g."""
        reference, n = reference_labels(self.target, self.sampling), len(self.target)
        mean, variance = float(reference.mean()), float(reference.var())
        trace, total = float(np.trace(matrix)), float(matrix.sum())
        p_in = smoother_complexity(mean, variance, trace, total, n, self.sampling)
        e_gen = smoother_optimism(variance, trace, total, n, self.sampling)
        return float(e_gen), float(p_in), mean, mean * total / n


@dataclass(frozen=True, eq=False)
class ClusteredLabelings(Labelings):
    """The same for clusters: labels are permuted as far as they are exchangeable.

    `weight` is that of each row, (n,), with sum 1.
    """

    exchangeable: ExchangeableLabels = field(kw_only=True)
    weight: np.ndarray = field(kw_only=True)

    @classmethod
    def of(cls, target: np.ndarray, clusters: Clusters) -> "ClusteredLabelings":
        """Refused if no label can change."""
        exchangeable = ExchangeableLabels.of(target, clusters.groups.index)
        if exchangeable.n_labelings == 1:
            raise ValueError(
                "groups leave only one labeling: labels are permuted within groups, and labels of "
                "groups with one label among groups of the same size; two such groups must have "
                "different labels"
            )
        return cls(target, exchangeable=exchangeable, weight=clusters.row_shares)

    @property
    def null_hypothesis(self) -> str:
        """See `Labelings`."""
        return self.exchangeable.in_words

    @property
    def number(self) -> int:
        """See `Labelings`."""
        return self.exchangeable.n_labelings

    def draw(self, rng: np.random.Generator, n_drawn: int) -> np.ndarray:
        """See `Labelings`."""
        return self.exchangeable.draw(rng, n_drawn)

    def every(self, size: int | None) -> Batches:
        """See `Labelings`."""
        for labels in self.exchangeable.every(self.size(size)):
            yield labels, np.full(len(labels), 1.0 / self.number)

    def mean(self, values: np.ndarray) -> np.ndarray:
        """See `Labelings`."""
        return values @ self.weight

    def losses(
        self, loss: Loss, sample: Sample, predictions: np.ndarray, labels: np.ndarray
    ) -> dict[str, np.ndarray]:
        """See `Labelings`; the new label of a row is one that it can get."""
        by_labels = losses_by_labels(loss, sample, predictions)
        return mean_over_clusters(by_labels, labels, self.weight, self.exchangeable)

    def closed_form(self, matrix: np.ndarray) -> tuple[float, float, float, float]:
        """See `Labelings`."""
        mean, covariance = self.exchangeable.moments()
        weighted_covariance = float(self.weight @ (matrix * covariance).sum(axis=1))
        mean_fit = matrix @ mean
        p_in = weighted_covariance + float(self.weight @ (mean * mean_fit))
        means = float(self.weight @ mean), float(self.weight @ mean_fit)
        return 2 * weighted_covariance, p_in, *means


def labelings_of(
    target: np.ndarray, clusters: Clusters | None, sampling: Sampling = "permutation"
) -> Labelings:
    """The labelings of observations, or of clusters, which know permutations alone."""
    if clusters is not None:
        return ClusteredLabelings.of(target, clusters)
    return Labelings(target, sampling)
