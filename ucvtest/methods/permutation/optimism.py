"""The fit of a learner to uninformative labels, for the test and for model selection."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.execution import Execution
from ucvtest.data.sample import Sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.kernels.permutation import Sampling, generalization
from ucvtest.kernels.permutation.optimism import mean_over_clusters
from ucvtest.learners.base import Learner
from ucvtest.learners.closed_forms.held_out import has_hat_matrix, hat_matrix
from ucvtest.learners.jitted.smoother import Smoother
from ucvtest.methods.permutation.permuted_labels import Relabeling, reference_labels
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.matrix import matrix_loss
from ucvtest.stats.monte_carlo import mean_error

SAME_FIT = 1e-6
"""Largest difference between S y and the fit to y, as a share of the largest response."""


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
    sampling: Sampling,
    batches: Iterable[tuple[np.ndarray, np.ndarray | None]],
    seeds: np.random.Generator,
    see: Callable[[Mapping[str, np.ndarray]], None] | None = None,
    relabeling: Relabeling | None = None,
) -> Optimism:
    """Fit drawn labels, batch by batch, and sum up; `see` looks at each batch."""
    reference = reference_labels(sample.target, sampling)
    loss_batches, probabilities, observed = [], [], []
    ties: Counter[str] = Counter()
    for labels, probability in batches:
        fit_seeds = seeds.integers(2**31 - 1, size=len(labels))
        predictions = evaluator.predict_labelings(labels, fit_seeds)
        ties.update(predictions.ties)
        if relabeling is None:
            batch_losses = relabeled_losses(loss, sample, predictions.values, labels, reference)
        else:
            batch_losses = clustered_losses(loss, sample, predictions.values, labels, relabeling)
        weight = None if relabeling is None else relabeling.weight
        p_in = _agreement(sample, predictions.values, labels, weight)
        loss_batches.append((batch_losses["e_in"], batch_losses["e_gen"], p_in))
        if see is not None:
            see(batch_losses)
        if probability is not None:
            probabilities.append(probability)
            observed.append((labels == sample.target).all(axis=1))
    e_in, e_gen, p_in = (
        np.concatenate(batch_values) for batch_values in zip(*loss_batches, strict=True)
    )
    if not probabilities:
        return Optimism(e_in, e_gen, p_in, ties)
    return Optimism(
        e_in, e_gen, p_in, ties, np.concatenate(probabilities), np.concatenate(observed)
    )


def relabeled_losses(
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


def clustered_losses(
    loss: Loss, sample: Sample, predictions: np.ndarray, labels: np.ndarray, relabeling: Relabeling
) -> dict[str, np.ndarray]:
    """The same for clusters: the new label of a row is one that it can get."""
    if loss.output == "label" and loss.original_labels:
        loss = matrix_loss(_matrix_of(loss, sample))

    def losses(true: np.ndarray) -> np.ndarray:
        return _by_function(loss, sample, true, predictions)

    return mean_over_clusters(losses, labels, relabeling.weight, relabeling.exchangeable)


def clustered_complexity(matrix: np.ndarray, relabeling: Relabeling) -> tuple[float, float, float]:
    """Means over all labelings of e_gen, y^pi g^pi and g^pi, of a linear smoother in clusters."""
    mean, covariance = relabeling.exchangeable.moments()
    weight = relabeling.weight
    weighted_covariance = float(weight @ (matrix * covariance).sum(axis=1))
    mean_fit = matrix @ mean
    return (
        2 * weighted_covariance,
        weighted_covariance + float(weight @ (mean * mean_fit)),
        float(weight @ mean_fit),
    )


def observed_losses(loss: Loss, sample: Sample, predictions: np.ndarray) -> np.ndarray:
    """Losses of predictions (n,) of the observations, by the labels that they have."""
    if loss.output == "label" and loss.original_labels:
        loss = matrix_loss(_matrix_of(loss, sample))
    return _by_function(loss, sample, sample.target[None], predictions[None])[0]


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


def _agreement(
    sample: Sample, predictions: np.ndarray, labels: np.ndarray, weight: np.ndarray | None
) -> np.ndarray:
    """mean(y^pi g^pi), two classes coded -1 and 1."""
    if sample.n_classes > 2:
        return np.full(len(labels), np.nan)
    if sample.n_classes == 2:
        predictions, labels = 2 * predictions - 1, 2 * labels - 1
    agreement = predictions * labels
    return agreement.mean(axis=1) if weight is None else agreement @ weight


# ----------------------------------------------------------------------- linear smoothers


def has_closed_form(learner: Learner) -> bool:
    """Whether the smoother is known without a fit."""
    return has_hat_matrix(learner) or isinstance(learner, Smoother)


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
