"""Labels that are unrelated to the features, and the fit of a learner to them.

Labels are drawn, counted or enumerated; the test and model selection take losses on them.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, product
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.execution import Execution
from ucvtest.data.groups import Clusters
from ucvtest.data.sample import Sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.inference.notes import INDEPENDENCE
from ucvtest.kernels.permutation import (
    Sampling,
    generalization,
    smoother_complexity,
    smoother_optimism,
)
from ucvtest.kernels.permutation.optimism import mean_over_clusters
from ucvtest.learners.base import Learner
from ucvtest.learners.closed_forms.held_out import has_hat_matrix, hat_matrix
from ucvtest.learners.jitted.smoother import Smoother
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.matrix import matrix_loss
from ucvtest.stats.cluster_permutation import ExchangeableLabels, arrangements
from ucvtest.stats.monte_carlo import BatchSizes, mean_error

BATCH_CELLS = 2**21
"""Default number of labels (labelings times observations) in memory at a time."""

Batches = Iterator[tuple[np.ndarray, np.ndarray | None]]
"""Labels (size, n), some at a time, with their probabilities (size,); None if they are drawn."""

SAME_FIT = 1e-6
"""Largest difference between S y and the fit to y, as a share of the largest response."""


# ---------------------------------------------------------------------------------- losses


def losses_by_matrix(
    loss: Loss, sample: Sample, predictions: np.ndarray, labels: np.ndarray, reference: np.ndarray
) -> dict[str, np.ndarray]:
    """`generalization` for any loss, with the same arguments and result."""
    loss_matrix: Any = (
        loss.name if loss.name in ("squared", "absolute", "zero_one") else loss.matrix
    )
    if loss_matrix is None and loss.output == "label":
        loss_matrix = _matrix_of(loss, sample)
    if loss_matrix is not None:
        return generalization(predictions, labels, reference, loss_matrix)
    e_in = _by_function(loss, sample, labels, predictions).mean(axis=1)
    e_out = np.zeros(len(predictions))
    values, counts = np.unique(reference, return_counts=True)
    for value, count in zip(values, counts, strict=True):
        constant_labels = np.full(labels.shape, value)
        e_out += count * _by_function(loss, sample, constant_labels, predictions).mean(axis=1)
    e_out /= len(reference)
    return {"e_in": e_in, "e_out": e_out, "e_gen": e_out - e_in}


def losses_by_labels(
    loss: Loss, sample: Sample, predictions: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """The losses (P, n) of predictions, as a function of the true labels (P, n)."""
    if loss.output == "label" and loss.original_labels:
        loss = matrix_loss(_matrix_of(loss, sample))
    return lambda true: _by_function(loss, sample, true, predictions)


def _matrix_of(loss: Loss, sample: Sample) -> np.ndarray:
    """The loss of every prediction for every class, from the user's function."""
    codes = np.arange(sample.n_classes)
    true, predicted = np.repeat(codes, len(codes)), np.tile(codes, len(codes))
    if loss.original_labels:
        classes = np.asarray(sample.classes)
        true, predicted = classes[true], classes[predicted]
    costs = _finite(loss, loss.function(true, predicted[None]), (1, len(true)))
    return costs.reshape(len(codes), len(codes))


def _by_function(
    loss: Loss, sample: Sample, labels: np.ndarray, predictions: np.ndarray
) -> np.ndarray:
    """Losses (P, n) by the loss function, which receives one long sample.

    Predictions are (P, n), or (P, n, C) for probabilities of several classes.
    """
    # Functions that work in place change copies.
    true, predicted = labels.ravel().copy(), predictions.copy()
    if loss.original_labels and sample.classes is not None:
        true = sample.classes[true.astype(int)]
    loss_values = loss.function(true, predicted.reshape(1, -1, *predicted.shape[2:]))
    return _finite(loss, loss_values, (1, labels.size)).reshape(labels.shape)


def _finite(loss: Loss, loss_values: Any, shape: tuple[int, ...]) -> np.ndarray:
    values = as_numbers(f"the result of loss {loss.name}", loss_values)
    if values.shape != shape:
        raise ValueError(
            f"loss {loss.name} returned shape {values.shape} for predictions of shape {shape}: it "
            "must work element by element on arrays"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"loss {loss.name} returned NaN or infinity: bound it")
    return values


# ------------------------------------------------------------------------------- labelings


@dataclass(frozen=True, eq=False)
class Labelings:
    """The labels that independent observations could have as well, and losses on them."""

    target: np.ndarray
    sampling: Sampling = "permutation"

    @property
    def null_hypothesis(self) -> str:
        """The tested hypothesis, in words."""
        return INDEPENDENCE

    @cached_property
    def reference(self) -> np.ndarray:
        """Equally likely labels, shape (m,)."""
        return np.array([0.0, 1.0]) if self.sampling == "rademacher" else self.target

    @property
    def number(self) -> int:
        """How many different ones there are."""
        n, counts = len(self.target), np.unique(self.reference, return_counts=True)[1].tolist()
        if self.sampling == "permutation":
            return math.factorial(n) // math.prod(map(math.factorial, counts))
        return int(len(counts) ** n)

    def size(self, size: int | None) -> int:
        """Number of labelings in memory at a time."""
        return size or max(1, BATCH_CELLS // len(self.target))

    def draw(self, rng: np.random.Generator, n_drawn: int) -> np.ndarray:
        """Labels (n_drawn, n), one labeling after the other, whatever the batch."""
        n, labels = len(self.target), self.reference
        if self.sampling == "permutation":
            return rng.permuted(np.tile(labels, (n_drawn, 1)), axis=1)
        return labels[rng.integers(len(labels), size=(n_drawn, n))]

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
        """All different ones, with their probabilities."""
        n, counts = len(self.target), Counter(self.reference.tolist())
        rows: Iterator[tuple[float, ...]] = product(sorted(counts), repeat=n)
        if self.sampling == "permutation":
            rows = arrangements(sorted(self.target.tolist()))
        while block := list(islice(rows, self.size(size))):
            probability = np.full(len(block), 1.0 / self.number)
            if self.sampling != "permutation":
                row_counts = [math.prod(counts[label] for label in row) for row in block]
                probability = np.array(row_counts, dtype=float) / float(counts.total()) ** n
            yield np.array(block), probability

    def mean(self, values: np.ndarray) -> np.ndarray:
        """The mean over observations, which are on the last axis."""
        return values.mean(axis=-1)

    def losses(
        self, loss: Loss, sample: Sample, predictions: np.ndarray, labels: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Mean losses on the labels (P, n) that were learnt, and on new ones: e_in, e_gen."""
        return losses_by_matrix(loss, sample, predictions, labels, self.reference)

    def closed_form(self, matrix: np.ndarray) -> tuple[float, float, float, float]:
        """Means over all of them for a linear smoother: e_gen, y g, y and g."""
        reference, n = self.reference, len(self.target)
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


# ------------------------------------------------------------------------- fits to labels


@dataclass(frozen=True, eq=False)
class Optimism:
    """Fits to drawn labels, one value for each of P labelings.

    p_in is mean(y^pi g^pi), NaN for more than two classes. `probability` and `observed`, how likely
    each labeling is and whether it is the observed one, are None for labelings drawn at random.
    """

    e_in: np.ndarray
    e_gen: np.ndarray
    p_in: np.ndarray
    ties: Mapping[str, int]
    probability: np.ndarray | None = None
    observed: np.ndarray | None = None

    def first(self, number: int) -> "Optimism":
        """The first drawn labelings."""
        e_in, e_gen, p_in = (errors[:number] for errors in (self.e_in, self.e_gen, self.p_in))
        return Optimism(e_in, e_gen, p_in, self.ties)

    def mean(self, name: str) -> float:
        """Mean over the labelings."""
        values = getattr(self, name)
        if self.probability is None:
            return float(values.mean())
        return float(self.probability @ values)

    def mc_se(self, name: str) -> float:
        """Monte-Carlo standard error of the mean; 0 if it is over all labelings."""
        values = getattr(self, name)
        if np.isnan(values).any():
            return math.nan
        if self.probability is not None:
            return 0.0
        return mean_error(values)


def optimism(
    evaluator: Evaluator,
    sample: Sample,
    loss: Loss,
    labelings: Labelings,
    batches: Batches,
    seeds: np.random.Generator,
    see: Callable[[Mapping[str, np.ndarray]], None] | None = None,
) -> Optimism:
    """Fit drawn labels, batch by batch, and sum up; `see` looks at each batch."""
    loss_batches, probabilities, observed = [], [], []
    ties: Counter[str] = Counter()
    for labels, probability in batches:
        fit_seeds = seeds.integers(2**31 - 1, size=len(labels))
        predictions = evaluator.predict_labelings(labels, fit_seeds)
        ties.update(predictions.ties)
        batch_losses = labelings.losses(loss, sample, predictions.values, labels)
        p_in = _agreement(sample, predictions.values, labels, labelings)
        loss_batches.append((batch_losses["e_in"], batch_losses["e_gen"], p_in))
        if see is not None:
            see(batch_losses)
        if probability is not None:
            probabilities.append(probability)
            observed.append((labels == sample.target).all(axis=1))
    e_in, e_gen, p_in = (
        np.concatenate(batch_values) for batch_values in zip(*loss_batches, strict=True)
    )
    known = (np.concatenate(probabilities), np.concatenate(observed)) if probabilities else ()
    return Optimism(e_in, e_gen, p_in, ties, *known)


def _agreement(
    sample: Sample, predictions: np.ndarray, labels: np.ndarray, labelings: Labelings
) -> np.ndarray:
    """mean(y^pi g^pi), two classes coded -1 and 1."""
    if sample.n_classes > 2:
        return np.full(len(labels), np.nan)
    if sample.n_classes == 2:
        predictions, labels = 2 * predictions - 1, 2 * labels - 1
    return labelings.mean(predictions * labels)


# ----------------------------------------------------------------------- linear smoothers


def find_smoother(
    learner: Learner, sample: Sample, n_jobs: int | None = None
) -> tuple[np.ndarray, int]:
    """The matrix S of a linear smoother, with fitted values S y, and the number of fits for it.

    For a learner without a closed form, the columns of S are its fits to the n unit vectors.
    """
    if isinstance(learner, Smoother):
        return learner.matrix, 0
    if has_hat_matrix(learner):
        return hat_matrix(learner, sample.matrix), 0
    n, y = sample.n_obs, sample.target
    numbers = replace(sample, response=y, classes=None, class_index=None)
    try:
        learner.check(numbers, "number", n)
    except ValueError as error:
        raise ValueError(f"learner {learner.name} is not a linear smoother: {error}") from None
    labels = np.vstack([np.eye(n), y, y[::-1]])
    evaluator = Evaluator(numbers, learner, "number", Execution.of(0, n_jobs, None))
    predictions = evaluator.predict_labelings(labels, np.zeros(n + 2, dtype=int)).values
    matrix = predictions[:n].T
    if not (np.abs(labels[n:] @ matrix.T - predictions[n:]) <= SAME_FIT * np.abs(y).max()).all():
        raise ValueError(
            f"learner {learner.name} is not a linear smoother: its fit to y is not a fixed matrix "
            "times y; use a number of permutations"
        )
    return matrix, n + 2
