"""The AUC over the pairs of observations in the same fold, with its variance by influence values.

E. LeDell, M. Petersen, M. van der Laan (2015), Computationally efficient confidence intervals for
cross-validated area under the ROC curve estimates, Electronic Journal of Statistics 9. Three things
are not as published: each pair counts once (theirs is the mean of the folds' AUCs), ties count one
half, and each class has the factor n_c/(n_c - 1). Scores of different folds are never compared.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

QUARTER = 0.25
"""How much of a positive, and of a negative, is added above all and below all."""

ADDED_CLASSES = np.array([True, True, False, False])
ADDED_SCORES = np.array([math.inf, -math.inf, math.inf, -math.inf])


@dataclass(frozen=True, eq=False)
class FoldPairs:
    """An AUC over pairs within folds, or the difference of two on the same observations.

    `areas` (R,) are those of each repeat, `deviations` (R, n) the influence values of the
    observations in each, whose mean is 0. `classes` (n,) tells which observations are positive;
    `clusters` (n,) numbers those that belong together, None where all are independent. A pair
    within a cluster counts once in the sum of its values, not for both observations.
    """

    areas: np.ndarray
    deviations: np.ndarray
    classes: np.ndarray
    clusters: np.ndarray | None = None

    @property
    def mean(self) -> float:
        """The mean over the repeats."""
        return float(self.areas.mean())

    @property
    def variance(self) -> float:
        """The mean of the repeats' variances; NaN where it cannot be estimated.

        That of the mean of the repeats' influence values would be too small: repeats are about the
        same observations, and about other rules.
        """
        return float(self._variances.sum(axis=0).mean())

    @property
    def df(self) -> float:
        """Degrees of freedom of Student's t; NaN without a variance.

        Those of clusters, or Welch's: the mean over the repeats, but for such as rank perfectly.
        """
        if self.clusters is not None:
            return float(self.clusters.max())
        variance_parts = self._variances
        variance_parts = variance_parts[:, variance_parts.sum(axis=0) > 0]
        if not variance_parts.size:
            return math.nan
        welch = variance_parts.sum(axis=0) ** 2 / (variance_parts**2 / (self._counts - 1)).sum(
            axis=0
        )
        return float(np.clip(welch, 1, self.deviations.shape[1] - 2).mean())

    @property
    def _counts(self) -> np.ndarray:
        """Observations of both classes, (2, 1)."""
        n_positive = int(self.classes.sum())
        return np.array([[n_positive], [len(self.classes) - n_positive]])

    @property
    def _variances(self) -> np.ndarray:
        """Parts of the variance of each repeat: of both classes (2, R), or of clusters (1, R)."""
        n_obs = self.deviations.shape[1]
        if self.clusters is not None:
            count = int(self.clusters.max()) + 1
            sums = np.array([np.bincount(self.clusters, row) for row in self.deviations])
            sums -= sums.mean(axis=1, keepdims=True)
            summed_squares = count / (count - 1) * (sums**2).sum(axis=1)[None]
        else:
            squares = self.deviations**2
            squares_by_class = (squares[:, self.classes], squares[:, ~self.classes])
            counts = self._counts
            factors = np.where(counts > 1, counts / np.maximum(counts - 1, 1), math.nan)
            summed_squares = factors * np.array(
                [class_squares.sum(axis=1) for class_squares in squares_by_class]
            )
        variances: np.ndarray = summed_squares / n_obs**2
        return variances

    def __sub__(self, other: Self) -> "FoldPairs":
        return FoldPairs(
            self.areas - other.areas,
            self.deviations - other.deviations,
            self.classes,
            self.clusters,
        )


@dataclass(frozen=True, eq=False)
class LabeledFolds:
    """Labels of observations, and the number of the fold that each is in, for each repeat (R, n).

    Folds are numbered from 0 in every repeat. Of clusters the numbers (n,), from 0; a row has the
    weight `weights` (n,) among those of its class.
    """

    classes: np.ndarray
    folds: np.ndarray
    clusters: np.ndarray | None = None
    weights: np.ndarray | None = None

    @property
    def n_pairs(self) -> np.ndarray:
        """Pairs within folds in each repeat, (R,)."""
        counts = [
            np.bincount(row[self.classes], minlength=int(row.max()) + 1)
            @ np.bincount(row[~self.classes], minlength=int(row.max()) + 1)
            for row in self.folds
        ]
        return np.array(counts, dtype=float)

    def pairs(self, scores: np.ndarray) -> FoldPairs:
        """The AUC of scores (R, n), which may be infinite; NaN where a repeat has no pairs."""
        n_repeats, n_obs = self.folds.shape
        classes = np.tile(self.classes, n_repeats)
        weights = np.ones(n_obs) if self.weights is None else self.weights
        # Folds of different repeats have different numbers, so that all are sorted at once.
        n_folds = int(self.folds.max()) + 1
        folds = (self.folds + n_folds * np.arange(n_repeats)[:, None]).ravel()
        right, count = _sums_of_pairs(classes, scores.ravel(), folds, np.tile(weights, n_repeats))
        right, count = right.reshape(n_repeats, n_obs), count.reshape(n_repeats, n_obs)
        positive = self.classes
        with np.errstate(invalid="ignore"):
            total = count[:, positive].sum(axis=1)
            areas = right[:, positive].sum(axis=1) / total
            deviations = n_obs * (right - areas[:, None] * count) / total[:, None]
            if self.clusters is not None:
                # Half at each observation, so that they count once in the sum of their cluster.
                index = np.tile(self.clusters, n_repeats) + n_obs * (folds // n_folds)
                inner = _sums_of_pairs(classes, scores.ravel(), index, np.tile(weights, n_repeats))
                right, count = (part.reshape(n_repeats, n_obs) / 2 for part in inner)
                deviations -= n_obs * (right - areas[:, None] * count) / total[:, None]
        return FoldPairs(areas, deviations, positive, self.clusters)

    def with_added(self, scores: np.ndarray) -> tuple[float, float, float]:
        """The AUC with four observations added, its variance and degrees of freedom.

        Of a positive and of a negative above all and below all a quarter each is added, in equal
        parts to the folds with pairs. Then perfect rankings have an error too. Observations are
        independent here and count alike.
        """
        n_obs, n_folds = len(self.classes), int(self.folds.max()) + 1
        repeat_values = []
        for row, score in zip(self.folds, scores, strict=True):
            fold_counts = [
                np.bincount(row[members], minlength=n_folds) for members in self._members
            ]
            folds = np.repeat(np.flatnonzero(fold_counts[0] * fold_counts[1]), 4)
            classes = np.concatenate([self.classes, np.tile(ADDED_CLASSES, len(folds) // 4)])
            weights = np.concatenate([np.ones(n_obs), np.full(len(folds), 1 / len(folds))])
            right, count = _sums_of_pairs(
                classes,
                np.concatenate([score, np.tile(ADDED_SCORES, len(folds) // 4)]),
                np.concatenate([row, folds]),
                weights,
            )
            total = count[classes].sum()
            area = right[classes].sum() / total
            squares = ((right - area * count) / total) ** 2 / weights
            class_variances = []
            for members, tested in ((classes, self.classes), (~classes, ~self.classes)):
                size = int(tested.sum()) + 2 * QUARTER
                class_variances.append(float(squares[members].sum()) * size / (size - 1))
            freedom = [max(int(tested.sum()) - 1, 1) for tested in self._members]
            welch = sum(class_variances) ** 2 / sum(
                v**2 / k for v, k in zip(class_variances, freedom, strict=True)
            )
            repeat_values.append((float(area), sum(class_variances), welch))
        area, variance, df = np.mean(repeat_values, axis=0).tolist()
        return area, variance, df

    @property
    def _members(self) -> tuple[np.ndarray, np.ndarray]:
        """Which observations are positive, which negative."""
        return self.classes, ~self.classes


def _sums_of_pairs(
    classes: np.ndarray, scores: np.ndarray, folds: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each observation the weight of its pairs within its fold: those in the right order, all.

    A pair has the product of the weights of both; ties are half in the right order.
    """
    order = np.lexsort((scores, folds))
    score, fold = scores[order], folds[order]
    new_fold = np.concatenate([[True], fold[1:] != fold[:-1]])
    new_tie = new_fold | np.concatenate([[True], score[1:] != score[:-1]])
    right, count = np.empty(len(order)), np.empty(len(order))
    ordered_weights = weights[order]
    for of_class, above in ((classes[order], True), (~classes[order], False)):
        # Weights of the other class: in the fold, in the tie, and below it in the fold.
        other_class_weights = np.where(of_class, 0.0, ordered_weights)
        in_fold, in_tie = (
            _block_sums(other_class_weights, new_fold),
            _block_sums(other_class_weights, new_tie),
        )
        cumulative_weights = np.cumsum(other_class_weights)
        fold_start = np.flatnonzero(new_fold)
        first = (cumulative_weights[fold_start] - other_class_weights[fold_start])[
            np.cumsum(new_fold) - 1
        ]
        tie_start = np.flatnonzero(new_tie)
        below = (cumulative_weights[tie_start] - other_class_weights[tie_start])[
            np.cumsum(new_tie) - 1
        ] - first
        passed = below if above else in_fold - below - in_tie
        right[order[of_class]] = (ordered_weights * (passed + 0.5 * in_tie))[of_class]
        count[order[of_class]] = (ordered_weights * in_fold)[of_class]
    return right, count


def _block_sums(values: np.ndarray, new_block: np.ndarray) -> np.ndarray:
    """The sum over the block of each value; blocks begin where `new_block` says."""
    block_sums: np.ndarray = np.add.reduceat(values, np.flatnonzero(new_block))[
        np.cumsum(new_block) - 1
    ]
    return block_sums
