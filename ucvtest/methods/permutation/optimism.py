"""The fit of a learner to uninformative labels, for the test and for model selection."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.data.sample import Sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.base import Learner
from ucvtest.learners.closed_forms.held_out import has_hat_matrix, hat_matrix
from ucvtest.learners.jitted.smoother import Smoother
from ucvtest.methods.permutation.permuted_labels import Batches, Labelings
from ucvtest.metrics.loss import Loss
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
    if not probabilities:
        return Optimism(e_in, e_gen, p_in, ties)
    return Optimism(
        e_in, e_gen, p_in, ties, np.concatenate(probabilities), np.concatenate(observed)
    )


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
