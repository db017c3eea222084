"""The AUC of two classes in large samples, without sums over pairs of observations.

A row costs a sort, and one bit for each observation. Without sums over pairs, only the jackknife
exists. The coefficients of learning sets are not fitted: for random sets, the products of
indicators have known means, as in a complete design. The effect of the tested observations on the
AUC of a row is known from the other blocks and subtracted first. Each block then gives unbiased
effects from few rows, and products of different blocks give an unbiased squared length.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import nan

import numpy as np

from ucvtest.data.class_sizes import Shape
from ucvtest.kernels.auc_ustatistic.blocks import N_BLOCKS
from ucvtest.kernels.auc_ustatistic.first_order import inclusion_variance, mean_placements
from ucvtest.kernels.auc_ustatistic.ranked import NoVariance
from ucvtest.kernels.auc_ustatistic.variances import (
    AucEstimate,
    BlockGroups,
    VarianceParts,
    auc_estimate,
)


class ManyObservations:
    """Sums over the rankings of positives and negatives, the observations `members`.

    `alike`: whether all learners placed every observation alike. Sums by block are of positives,
    then negatives; placements are shares of the other class that is tested.
    """

    def __init__(
        self, members: Sequence[np.ndarray], learn_sizes: Sequence[int], n_learners: int
    ) -> None:
        self.shape = shape = Shape(tuple(map(len, members)), tuple(learn_sizes))
        self._order, self.n_learners = np.concatenate(members), n_learners
        self.n_rows, self.alike = 0, True
        self._count = np.zeros(N_BLOCKS)
        self._tested = np.zeros((N_BLOCKS, shape.n_obs))
        self._placed = np.zeros((n_learners, N_BLOCKS, shape.n_obs))
        self._learnt: list[list[np.ndarray]] = [[] for _ in range(N_BLOCKS)]
        self._aucs: list[list[np.ndarray]] = [[] for _ in range(N_BLOCKS)]
        self._draws: list[list[int]] = [[] for _ in range(N_BLOCKS)]

    def add(self, scores: Sequence[np.ndarray], learning: np.ndarray, draw: np.ndarray) -> None:
        """Rank the scores (M, n) of each learner, looked at only where tested."""
        n1, r1 = self.shape.sizes[0], self.shape.tested[0]
        learning, ordered = (
            learning[:, self._order],
            [learner_scores[:, self._order] for learner_scores in scores],
        )
        for m, (row, number) in enumerate(zip(learning, draw.tolist(), strict=True)):
            block, tested = number % N_BLOCKS, np.flatnonzero(~row)
            placed = np.stack(
                [
                    _placements(learner_scores[m, tested[:r1]], learner_scores[m, tested[r1:]])
                    for learner_scores in ordered
                ]
            )
            self.alike &= bool((placed == placed[:1]).all())
            self._count[block] += 1
            self._tested[block, tested] += 1
            self._placed[:, block, tested] += placed
            self._learnt[block].append(np.packbits(row))
            self._aucs[block].append(placed[:, tested < n1].mean(axis=1))
            self._draws[block].append(number)
        self.n_rows += len(draw)

    def mean(self, contrast: Sequence[float]) -> float:
        """The mean AUC, or a linear combination of them with a weight for each learner."""
        rows = np.concatenate(
            [np.reshape(row_aucs, (-1, self.n_learners)) for row_aucs in self._aucs]
        )
        return float(np.dot(contrast, rows.mean(axis=0)))

    def estimate(self, contrast: Sequence[float]) -> AucEstimate:
        """The estimate and its jackknife for a linear combination of the learners."""
        weights, weight = np.asarray(contrast, dtype=float), self._count / self.n_rows
        placed = np.einsum("d,dki->ki", weights, self._placed)
        blocks = [self._of_block(weights, placed, k) for k in range(N_BLOCKS)]
        singles = weight[:, None] * np.stack([effects for effects, _ in blocks])
        groups = BlockGroups(
            singles, weight, np.zeros_like(singles), np.zeros(N_BLOCKS), np.arange(N_BLOCKS)
        )
        variance_parts = VarianceParts.of_singles(self.shape, singles.sum(axis=0), groups, weight)
        draws = np.unique(np.concatenate(self._draws), return_inverse=True)[1]
        rows = np.concatenate([aucs for _, aucs in blocks])
        means = np.bincount(draws, rows) / np.bincount(draws)
        error = float(np.std(means, ddof=1) / np.sqrt(len(means)))
        jackknife_estimate = auc_estimate(float(rows.mean()), variance_parts, error)
        values = dict.fromkeys(jackknife_estimate.values, nan) | {
            "jackknife": jackknife_estimate.values["jackknife"]
        }
        return replace(jackknife_estimate, values=values, pair_effects=nan)

    def why_flat(self) -> NoVariance:
        """Why one learner has no variance."""
        return NoVariance.OBSERVATIONS_ALIKE

    def _of_block(
        self, weights: np.ndarray, placed: np.ndarray, block: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Effects b (n,) from the rows of a block, and their AUCs without who was tested."""
        shape, other_blocks = self.shape, np.arange(N_BLOCKS) != block
        known_placements = self._centred(
            placed[other_blocks].sum(axis=0), self._tested[other_blocks].sum(axis=0)
        )
        # Who is learnt from is not tested: the sum over those is minus that over the tested.
        placement_shares = known_placements / np.repeat(shape.tested, shape.sizes)
        aucs = np.array(self._aucs[block]) @ weights
        sums = np.zeros(shape.n_obs)
        for m, packed in enumerate(self._learnt[block]):
            row = np.unpackbits(packed, count=shape.n_obs).astype(bool)
            aucs[m] += placement_shares[row].sum()
            sums[row] += aucs[m]
        count = self._count[block]
        response = sums / count - aucs.mean() * (1.0 - self._tested[block] / count)
        block_placements = shape.split(self._centred(placed[block], self._tested[block]))
        class_effects = [
            (
                class_response
                - class_response.mean()
                - inclusion_variance(n, g) * class_shares
                + deviation / n
            )
            for class_response, class_shares, deviation, (n, g) in zip(
                shape.split(response),
                shape.split(placement_shares),
                block_placements,
                shape.by_class,
                strict=True,
            )
        ]
        return np.concatenate(class_effects), aucs

    def _centred(self, placed: np.ndarray, tested: np.ndarray) -> np.ndarray:
        """Mean placements by class, less their mean; 0 for who was never tested."""
        means = mean_placements(placed, tested, nan)
        centred_classes = [
            class_means - np.nanmean(class_means) for class_means in self.shape.split(means)
        ]
        return np.nan_to_num(np.concatenate(centred_classes))


def _placements(positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """The share of negatives below each positive, and of positives above each negative.

    Ties count half.
    """
    n1, n0 = len(positive), len(negative)
    low, high = np.sort(negative), np.sort(positive)
    # In ascending order, where the searches stay in the cache.
    places, negative_order = np.argsort(positive), np.argsort(negative)
    placement_values = np.empty(n1 + n0)
    placement_values[places] = _below(low, high) / (2 * n0)
    placement_values[n1 + negative_order] = 1 - _below(high, low) / (2 * n1)
    return placement_values


def _below(values: np.ndarray, compared_values: np.ndarray) -> np.ndarray:
    """Twice the number of ascending values below each of others; as large ones count once."""
    twice_below: np.ndarray = np.searchsorted(values, compared_values, "left") + np.searchsorted(
        values, compared_values, "right"
    )
    return twice_below
