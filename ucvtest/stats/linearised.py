"""Functions of confusion matrices with rows added.

Observations added to a confusion matrix (Agresti and Coull 1998 of a share, Agresti and Min 2005
of a difference) keep the intervals of its functions where they should be when cells are empty.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

MOST_CELLS = 200
"""With observations in more cells, as with many classes, it takes too long to leave one out of
each."""

ROUNDING = 1e-20
"""Of squares of linearised values, as a share of the largest, that is none."""

NEGLIGIBLE = 1e-9
"""Kurtosis less 1 of values that are all of one size."""

ValueAndGradient = Callable[[np.ndarray], tuple[float, np.ndarray]]


def two_right_two_wrong(possible: np.ndarray, only_class: int | None = None) -> np.ndarray:
    """Rows added for one learner: four observations over the cells (true, predicted).

    Of one class against the rest it is what two classes have: one observation in each cell.
    `possible` (C, C) are the cells that the learner can have.
    """
    true, predicted = _shares_added(possible, only_class)
    return 4 * true[:, None] * predicted


def _shares_added(possible: np.ndarray, only_class: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows added of each true class, (C,), and the predictions of each of them, (C, C).

    One prediction is right, and one is shared among the wrong ones. Rows of two learners have the
    product of their predictions: half of one row each where both are right, only the first, only
    the second, and neither. Of one class against the rest it is a quarter in each cell of two
    classes.
    """
    if only_class is not None:
        # One observation of the class, and one over all others, which are one class.
        either = np.full(len(possible), 1 / max(len(possible) - 1, 1))
        either[only_class] = 1.0
        return either / 4, np.broadcast_to(either, possible.shape)
    right = np.eye(len(possible)) * possible
    wrong = possible - right
    n_wrong = np.maximum(wrong.sum(axis=1, keepdims=True), 1)
    return 0.5 * right.diagonal() / right.sum(), right + wrong / n_wrong


@dataclass(frozen=True)
class RowsAdded:
    """A function of a table of shares, with observations added to those of the sample.

    `estimate` and `se` are those with them; `df` are the degrees of freedom that the kurtosis of
    the sample's linearised values leaves (Satterthwaite's).
    """

    estimate: float
    se: float
    df: float

    @classmethod
    def of(
        cls,
        value_and_gradient: ValueAndGradient,
        cells: Sequence[np.ndarray],
        possible: Sequence[np.ndarray],
        n: float,
        variance_of: Callable[[np.ndarray], float],
        *,
        only_class: int | None = None,
        left_out: bool = False,
    ) -> "RowsAdded":
        """By the gradient at the tables with the observations added.

        `cells` are the true classes of observations and what one learner predicts, or two, whose
        values are subtracted. `possible` are the cells that each learner can have, see
        `two_right_two_wrong`. `variance_of` takes numbers of observations, and gives the variance
        of their mean. With `left_out` it is the geometric mean of those of linearised values and of
        the changes that leaving out an observation makes. Where a metric divides by the small
        number of a class, the one is too small, the other too large: of a recall their mean is
        p(1 - p)/(n - 1), which has no bias.
        """
        true, *predicted = cells
        rows_of_class, *_ = _shares_added(possible[0], only_class)
        shares = [_shares_added(cells_of_one, only_class)[1] for cells_of_one in possible]
        n_predictions = [learner_shares.sum(axis=1) for learner_shares in shares]
        if len(shares) == 1:
            rows_of_class = 4 * rows_of_class
        value, linear, slopes = 0.0, np.zeros(len(true)), []
        for learner, (sign, learner_shares) in enumerate(zip((1, -1), shares, strict=False)):
            table = np.zeros(learner_shares.shape)
            np.add.at(table, (true, predicted[learner]), 1 / len(true))
            n_other_cells = math.prod(n_predictions[:learner] + n_predictions[learner + 1 :])
            added = (rows_of_class * n_other_cells)[:, None] * learner_shares
            n_with_added = n + float(added.sum())
            moved = (n * table + added) / n_with_added
            learner_value, gradient = value_and_gradient(moved)
            slopes.append(sign * (gradient - (moved * gradient).sum()))
            value += sign * learner_value
            linear = linear + slopes[-1][true, predicted[learner]]
        variance = variance_of(linear)
        if left_out:
            (cell_slopes,) = slopes
            changes = _left_out(
                value_and_gradient, value, cell_slopes, moved, n * table, n_with_added
            )
            of_changes = variance_of(changes[true, predicted[0]])
            variance = math.sqrt(max(variance * of_changes, 0.0))
        spread = (
            n**2 * variance
            + n * float(linear.mean()) ** 2
            + float(rows_of_class @ _mean_squares(shares, slopes))
        )
        apart = linear - linear.mean()
        second, fourth = (float((apart**k).mean()) for k in (2, 4))
        largest = sum(float(np.abs(cell_slopes).max()) for cell_slopes in slopes)
        excess = fourth / second**2 - 1 if second > ROUNDING * largest**2 else 0.0
        df = 2 * n / max(excess, NEGLIGIBLE)
        return cls(float(value), math.sqrt(spread) / n_with_added, df)


def _mean_squares(shares: Sequence[np.ndarray], slopes: Sequence[np.ndarray]) -> np.ndarray:
    """Of each true class, the sum over predictions of the squared sums of learners' slopes."""
    (first, second, third), *of_other_learners = (
        [(learner_shares * cell_slopes**k).sum(axis=1) for k in (0, 1, 2)]
        for learner_shares, cell_slopes in zip(shares, slopes, strict=True)
    )
    for other_first, other_second, other_third in of_other_learners:
        third = third * other_first + 2 * second * other_second + first * other_third
    return np.asarray(third)


def _left_out(
    value_and_gradient: ValueAndGradient,
    value: float,
    slopes: np.ndarray,
    moved: np.ndarray,
    counts: np.ndarray,
    n_with_added: float,
) -> np.ndarray:
    """How leaving out an observation of each cell changes `value`, in the units of `slopes`.

    Of `n_with_added` observations `counts` are those of the sample. Cells that have none keep
    their slopes.
    """
    changes = slopes.copy()
    for cell in map(tuple, np.argwhere(counts > 0)):
        # A sample from which others are made can have less than one.
        size = min(1.0, float(counts[cell]))
        left_cells = n_with_added * moved
        left_cells[cell] -= size
        n_left = n_with_added - size
        changes[cell] = n_left / size * (value - value_and_gradient(left_cells / n_left)[0])
    return changes
