"""The value of a metric in each resample."""

import numpy as np

from ucvtest.designs.design import Design
from ucvtest.metrics.base import Metric


def resample_values(
    learner_values: np.ndarray, design: Design, metric: Metric, target: np.ndarray | None
) -> np.ndarray:
    """The metric (L, R) of every resample, from the kept values of learners (see `Metric.kept`)."""
    if metric.per_test_set:
        return learner_values
    if metric.is_mean:
        return resample_means(learner_values, design)
    assert target is not None
    starts, stops = _places(design)
    labels = np.broadcast_to(target, design.testing.shape)[design.testing] == 1
    return np.array(
        [
            [metric.function(labels[a:b], row[a:b]) for a, b in zip(starts, stops, strict=True)]
            for row in learner_values
        ]
    )


def resample_means(learner_losses: np.ndarray, design: Design) -> np.ndarray:
    """Mean (L, R) of every resample of losses (L, T)."""
    starts, stops = _places(design)
    return np.add.reduceat(learner_losses, starts, axis=1) / (stops - starts)


def _places(design: Design) -> tuple[np.ndarray, np.ndarray]:
    """Where the tested observations of each resample start and stop, among all tested ones."""
    stops = np.cumsum(design.n_tested)
    return np.concatenate([[0], stops[:-1]]), stops
