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

from ucvtest.stats.influence import Influence, welch

QUARTER = 0.25
"""How much of a positive, and of a negative, is added above all and below all."""

ADDED_CLASSES = np.array([True, True, False, False])
ADDED_SCORES = np.array([math.inf, -math.inf, math.inf, -math.inf])


@dataclass(frozen=True)
class FoldAreas:
    """The mean of the areas (R,) of repeats, or of the differences of two, with its variance.

    The variance is the mean of those of the repeats. That of the mean of their influence values
    would be too small: repeats are about the same observations, and about other rules.
    """

    areas: np.ndarray
    variance: float
    """NaN where it cannot be estimated."""
    df: float
    """Of Student's t, a mean over the repeats but for such as rank perfectly; NaN for none."""

    @classmethod
    def of(cls, repeats: Influence) -> Self:
        """From the influence on the area of each repeat."""
        df = repeats.welch[repeats.variances > 0]
        if repeats.strata is None:
            df = repeats.welch
        mean_df = float(df.mean()) if df.size else math.nan
        return cls(repeats.estimates, float(repeats.variances.mean()), mean_df)

    @property
    def mean(self) -> float:
        """The estimate."""
        return float(self.areas.mean())


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
        size = int(self.folds.max()) + 1
        counts = [
            np.bincount(row[self.classes], minlength=size)
            @ np.bincount(row[~self.classes], minlength=size)
            for row in self.folds
        ]
        return np.array(counts, dtype=float)

    def influence(self, scores: np.ndarray) -> Influence:
        """On the AUC of each repeat of scores (R, n), NaN where it has no pairs.

        A pair within a cluster counts once in the sum of its values, not for both observations.
        """
        n_repeats, n_obs = self.folds.shape
        classes = np.tile(self.classes, n_repeats)
        weights = np.tile(np.ones(n_obs) if self.weights is None else self.weights, n_repeats)
        # Folds of different repeats have different numbers, so that all are sorted at once.
        n_folds, repeat = int(self.folds.max()) + 1, np.arange(n_repeats)[:, None]

        def pairs_in(blocks: np.ndarray) -> np.ndarray:
            sums = _sums_of_pairs(classes, scores.ravel(), blocks.ravel(), weights)
            return np.reshape(sums, (2, n_repeats, n_obs))

        right, count = pairs_in(self.folds + n_folds * repeat)
        with np.errstate(invalid="ignore"):
            total = count[:, self.classes].sum(axis=1)
            areas = right[:, self.classes].sum(axis=1) / total
            if self.clusters is not None:
                # Half at each observation, so that they count once in the sum of their cluster.
                inner = pairs_in(self.clusters + n_obs * repeat) / 2
                right, count = right - inner[0], count - inner[1]
            values = (right - areas[:, None] * count) / total[:, None]
        if self.clusters is not None:
            # Without the pairs within clusters the sums by cluster do not sum to 0.
            sizes = np.bincount(self.clusters)
            values -= values.sum(axis=1)[:, None] / (len(sizes) * sizes[self.clusters])
        strata = self.classes.astype(int) if self.clusters is None else None
        return Influence(areas, values, strata, self.clusters)

    def with_added(self, scores: np.ndarray) -> tuple[float, float, float]:
        """The AUC with four observations added, its variance and degrees of freedom.

        Of a positive and of a negative above all and below all a quarter each is added, in equal
        parts to the folds with pairs. Then perfect rankings have an error too. Observations are
        independent here and count alike.
        """
        n_obs, n_folds, sizes = len(self.classes), int(self.folds.max()) + 1, self._sizes
        repeat_values = []
        for row, score in zip(self.folds, scores, strict=True):
            positive, negative = (
                np.bincount(row[members], minlength=n_folds)
                for members in (self.classes, ~self.classes)
            )
            folds = np.repeat(np.flatnonzero(positive * negative), 4)
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
            repeat_values.append((area, *with_quarters(squares, classes, sizes)))
        area, variance, df = np.mean(repeat_values, axis=0).tolist()
        return area, variance, df

    @property
    def _sizes(self) -> np.ndarray:
        """How many observations are negative, and positive."""
        return np.bincount(self.classes, minlength=2)


def with_quarters(
    squares: np.ndarray, classes: np.ndarray, sizes: np.ndarray
) -> tuple[float, float]:
    """The variance from squared influence values, a quarter of observations added, and Welch's df.

    `classes` (n,) tells which are positive; `sizes` (2,) are those of both classes, the negative
    first, before two quarters are added to each.
    """
    sums, larger = np.bincount(classes, squares, 2), sizes + 2 * QUARTER
    variances = sums * larger / (larger - 1)
    return float(variances.sum()), float(welch(variances, np.maximum(sizes - 1, 1)))


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
    right, count = np.empty((2, len(order)))
    ordered_weights = weights[order]
    for of_class, above in ((classes[order], True), (~classes[order], False)):
        # Weights of the other class: in the fold, in the tie, and below it in the fold.
        other_class_weights = np.where(of_class, 0.0, ordered_weights)
        in_fold, before_fold = _block_sums(other_class_weights, new_fold)
        in_tie, before_tie = _block_sums(other_class_weights, new_tie)
        below = before_tie - before_fold
        passed = below if above else in_fold - below - in_tie
        right[order[of_class]] = (ordered_weights * (passed + 0.5 * in_tie))[of_class]
        count[order[of_class]] = (ordered_weights * in_fold)[of_class]
    return right, count


def _block_sums(values: np.ndarray, new_block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each value the sum over its block, and over all blocks before."""
    starts, block = np.flatnonzero(new_block), np.cumsum(new_block) - 1
    before = (np.cumsum(values) - values)[starts]
    return np.add.reduceat(values, starts)[block], before[block]
