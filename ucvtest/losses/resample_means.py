"""The mean loss of each resample, or its area under the ROC curve."""

import math

import numpy as np

from ucvtest.designs.design import Design

__all__ = ["WEIGHTED", "resample_means"]

WEIGHTED = "weighted_"
"""What names of losses begin with whose rows have weights."""


def resample_means(
    kept: np.ndarray, design: Design, target: np.ndarray | None = None
) -> np.ndarray:
    """Mean (L, R) of every resample of losses (L, T), or its AUC where a target is given."""
    sizes = design.testing.sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    if target is None:
        return np.add.reduceat(kept, starts, axis=1) / sizes
    labels = np.broadcast_to(target, design.testing.shape)[design.testing] == 1
    stops = starts + sizes
    return np.array(
        [[_auc(labels[a:b], row[a:b]) for a, b in zip(starts, stops, strict=True)] for row in kept]
    )


def _auc(positive: np.ndarray, scores: np.ndarray) -> float:
    """Share of pairs in the right order, ties half; NaN for one class. Scores may be infinite."""
    n1 = int(positive.sum())
    n0 = len(positive) - n1
    if not n1 or not n0:
        return math.nan
    # Imported here: it takes a third of a second, and only scores need it.
    from scipy.stats import rankdata

    above = float(rankdata(scores)[positive].sum()) - n1 * (n1 + 1) / 2
    return above / (n1 * n0)
