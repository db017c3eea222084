"""The points of a curve: ratios of sums over the four cells of a confusion matrix.

At each point some rows are predicted to be positive: rows at or above a threshold, or rows in a
bin. Every curve counts these rows, and the others, by class.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Quantity:
    """A ratio of sums over true positives, false negatives, false positives and true negatives.

    Parameters
    ----------
    name : str
    numerator, denominator : array, shape (4,) or (K, 4)
        The weight of a row in each of these cells.
    least : float or array, shape (K,)
        The lower limit of the ratio; the upper limit is 1.
    """

    name: str
    numerator: Any
    denominator: Any
    least: Any = 0.0


SENSITIVITY = Quantity("sensitivity", (1, 0, 0, 0), (1, 1, 0, 0))
SPECIFICITY = Quantity("specificity", (0, 0, 0, 1), (0, 0, 1, 1))
PRECISION = Quantity("precision", (1, 0, 0, 0), (1, 0, 1, 0))


@dataclass(frozen=True, eq=False)
class Points:
    """K ratios of sums over m cells, for one learner.

    Parameters
    ----------
    numerator, denominator : ndarray, shape (K, m)
        The weight of a row in each cell.
    added_numerator, added_denominator : ndarray, shape (K, 4)
        The weight of an added observation in each cell of the confusion matrix.
    least : ndarray, shape (K,)
    """

    numerator: np.ndarray
    denominator: np.ndarray
    added_numerator: np.ndarray
    added_denominator: np.ndarray
    least: np.ndarray


def points_of(
    quantity: Quantity, flagged: np.ndarray, learner_index: int, n_learners: int
) -> Points:
    """A quantity of one of the learners.

    Parameters
    ----------
    flagged : ndarray of bool, shape (K, B)
        Whether a row in this place between the points is predicted to be positive.
    learner_index, n_learners : int
        The number of the learner. The cells of learners follow one another: B of negatives, B of
        positives.
    """
    yes = flagged.astype(float)
    no, none = 1 - yes, np.zeros(yes.shape)
    # True positives, false negatives, false positives, true negatives: (4, K, 2 B).
    confusion = np.stack(
        [
            np.hstack(confusion_cells)
            for confusion_cells in ((none, yes), (none, no), (yes, none), (no, none))
        ]
    )
    added = tuple(
        np.broadcast_to(np.asarray(weights, dtype=float), (len(yes), 4))
        for weights in (quantity.numerator, quantity.denominator)
    )
    counts = np.zeros((2, len(yes), n_learners, confusion.shape[2]))
    for learner_counts, weights in zip(counts, added, strict=True):
        learner_counts[:, learner_index] = np.einsum("kc,ckm->km", weights, confusion)
    numerator, denominator = counts.reshape(2, len(yes), -1)
    lower_limits = np.broadcast_to(np.asarray(quantity.least, dtype=float), len(yes))
    return Points(numerator, denominator, added[0], added[1], lower_limits)
