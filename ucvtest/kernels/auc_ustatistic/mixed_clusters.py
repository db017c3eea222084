r"""AUCs where clusters contain rows of several classes: a U-statistic of one sample of clusters.

psi(k, l) sums over the pairs of a positive row of cluster k and a negative row of cluster l, with
the product of their weights, how often the rule ranks the positive one higher. The AUC is the share

    theta = sum of psi(k, l) + psi(l, k) over sum of C(k, l) + C(l, k)

over pairs of different clusters that a rule does not learn from, C the sum of the products of
weights. Its linear part has the kernel h = theta + (psi(k, l) + psi(l, k) - theta C)/mean C of
degree m = g + 2, from which the delete-one jackknife J = n(n - 1)/(n - m)^2 sum_i b_i^2 follows,

    b_i = g(n - g)/(n(n - 1)) eta_i + 2/n (mean of h over the pairs with i - theta),

eta the coefficients of the mean of h on the learning set.

More than two classes are always one sample. Hand and Till's AUC is the mean of theta_cd over pairs
of classes c != d, each by the score of class c; kernels of linear parts are averaged like it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ucvtest.data.class_sizes import Shape
from ucvtest.kernels.auc_ustatistic.blocks import N_BLOCKS
from ucvtest.kernels.auc_ustatistic.first_order import (
    centred_by_class,
    complete_factors,
    contributions,
    mean_placements,
)
from ucvtest.kernels.auc_ustatistic.placements import least_squares, mixed_rank_sums
from ucvtest.kernels.auc_ustatistic.ranked import NoVariance
from ucvtest.kernels.auc_ustatistic.ranked_classes import RankedClasses, Ranking
from ucvtest.kernels.auc_ustatistic.variances import (
    AucEstimate,
    BlockGroups,
    VarianceParts,
    auc_estimate,
)

ROWS_OF_CALL = 256
"""Learning sets of mixed clusters in one jitted call."""


class MixedClusters:
    """Sums over the rankings of clusters with rows of several classes; see the module's head."""

    def __init__(self, rankings: RankedClasses, learn_size: int, *, exact: bool = False) -> None:
        self._rankings, self._exact = rankings, exact
        self.shape = Shape((rankings.weights.totals.shape[1],), (learn_size,))
        self._rows: list[tuple[np.ndarray, ...]] = []
        self._known_effects: _ClusterEffects | None = None

    @property
    def n_rows(self) -> int:
        """Learning sets so far."""
        return sum(len(learning) for _, _, learning, _ in self._rows)

    @property
    def n_learners(self) -> int:
        """One or two."""
        return len(self._rows[0][0])

    @property
    def alike(self) -> bool:
        """Whether all learners placed every cluster alike."""
        return all(bool(np.allclose(placed, placed[:1])) for placed, _, _, _ in self._rows)

    def why_flat(self) -> NoVariance:
        """Why one learner has no variance."""
        return NoVariance.CLUSTERS_ALIKE

    def add(self, scores: Sequence[np.ndarray], learning: np.ndarray, draw: np.ndarray) -> None:
        """Rank the scores (M, n), or (M, n, C), of rows; learning sets (M, G) are of clusters."""
        self._known_effects = None
        placed, totals = np.zeros((len(scores), *learning.shape)), []
        for ranking, count in zip(self._rankings.rankings, self._rankings.of_pairs, strict=True):
            of_pairs = self._placed(ranking, scores, learning) / count
            totals.append(of_pairs.sum(axis=(1, 2)))
            placed += ranking.share * of_pairs
        self._rows.append((placed, np.array(totals), learning, draw))

    def _placed(
        self, ranking: Ranking, scores: Sequence[np.ndarray], learning: np.ndarray
    ) -> np.ndarray:
        """Of each learner, row and tested cluster the sums of psi over the others, (D, M, G)."""
        score_column, weights, placed_batches = ranking.score, self._rankings.weights, []
        ranked_scores = (
            scores
            if score_column is None
            else [learner_scores[:, :, score_column] for learner_scores in scores]
        )
        class_pair = (ranking.above, ranking.below)
        of_rows = tuple(weights.weights[class_index] for class_index in class_pair)
        for first_row in range(0, len(learning), ROWS_OF_CALL):
            # Always calls of one shape: other shapes would need another compilation.
            batch_rows = np.minimum(
                np.arange(first_row, first_row + ROWS_OF_CALL), len(learning) - 1
            )
            batch_scores = [
                learner_scores[batch_rows].astype(float, copy=False)
                for learner_scores in ranked_scores
            ]
            scored = tuple(
                np.stack([values[:, weights.rows[class_index]] for values in batch_scores])
                for class_index in class_pair
            )
            of_part = mixed_rank_sums(scored, learning[batch_rows], of_rows)
            placed_batches.append(of_part[:, : len(learning) - first_row])
        return np.concatenate(placed_batches, axis=1)

    def _thetas(self) -> np.ndarray:
        """The share of pairs in the right order, by ranking and learner (P, D)."""
        totals = sum(total for _, total, _, _ in self._rows)
        tested = sum(self._rankings.tested(learning) for _, _, learning, _ in self._rows)
        # Nothing is known of two classes that were never tested together.
        counted = np.where(tested > 0.5 * self._least, tested, np.nan) / self._rankings.of_pairs
        thetas: np.ndarray = totals / counted[:, None]
        return thetas

    @property
    def _least(self) -> float:
        """What any two rows of different clusters weigh together, at least."""
        weights = [
            class_weights[class_weights > 0].min()
            for class_weights in self._rankings.weights.weights
        ]
        return float(min(weights) ** 2)

    def mean(self, contrast: Sequence[float]) -> float:
        """theta, or a linear combination of those of learners."""
        return float(np.dot(contrast, self._rankings.shares @ self._thetas()))

    def estimate(self, contrast: Sequence[float]) -> AucEstimate:
        """The estimate with its jackknife variance for a linear combination of the learners."""
        if self._known_effects is None:
            self._known_effects = self._effects()
        cluster_effects, weights = self._known_effects, np.asarray(contrast, dtype=float)
        blocks = np.arange(N_BLOCKS)
        b = cluster_effects.effects(blocks, exact=self._exact)
        n_rows = cluster_effects.n_rows
        groups = None
        if not self._exact:
            groups = BlockGroups.of(b, n_rows, cluster_effects.effects).combined(weights)
        (n,), (g,) = self.shape.sizes, self.shape.learn_sizes
        # With g + 1 in the place of g, so that m is g + 2.
        shape = Shape((n,), (g + 1,))
        variance_parts = VarianceParts.of_singles(shape, weights @ b, groups, n_rows / n_rows.sum())
        error = 0.0 if self._exact else cluster_effects.error_of_mean(weights)
        return auc_estimate(float(weights @ cluster_effects.auc(blocks)), variance_parts, error)

    def losses(self) -> np.ndarray:
        """Losses (D, M, G) whose means are AUCs; see `few_fits_of_clusters`."""
        cluster_effects = self._effects()
        (r,) = self.shape.tested
        row_effects = cluster_effects.moved.sum(axis=2, keepdims=True) / r
        losses = row_effects + 2 * (r - 1) / (r - 2) * (cluster_effects.moved - row_effects)
        return np.asarray(cluster_effects.theta[:, None, None] + losses)

    def _effects(self) -> "_ClusterEffects":
        placed, learning, draw = (
            np.concatenate([row[array_index] for row in self._rows], axis=axis)
            for array_index, axis in ((0, 1), (2, 0), (3, 0))
        )
        (n,), (g,) = self.shape.sizes, self.shape.learn_sizes
        thetas, shares = self._thetas(), self._rankings.shares
        # Mean of h over the tested pairs with a cluster; theta where it is learnt from.
        moved = np.empty(placed.shape)
        for learner, of_learner in enumerate(thetas.T):
            factors = shares * of_learner / self._rankings.of_pairs
            expected = self._rankings.expected(learning, factors)
            moved[learner] = (placed[learner] - expected) / (n - g - 1)
        return _ClusterEffects(shares @ thetas, moved, learning, draw)


@dataclass(frozen=True, eq=False)
class _ClusterEffects:
    """h - theta of each row and cluster (D, M, G), 0 where it is learnt from, by learning sets."""

    theta: np.ndarray
    moved: np.ndarray
    learning: np.ndarray
    draw: np.ndarray

    @property
    def block(self) -> np.ndarray:
        """The block of each row."""
        return self.draw % N_BLOCKS

    @property
    def n_rows(self) -> np.ndarray:
        """Rows of each block, (K,)."""
        return np.bincount(self.block, minlength=N_BLOCKS).astype(float)

    @property
    def shape(self) -> Shape:
        """n clusters, and g of them in each learning set."""
        return Shape((self.learning.shape[1],), (int(self.learning[0].sum()),))

    def _sizes(self) -> tuple[int, int]:
        return self.shape.by_class[0]

    def _fit(self, blocks: np.ndarray, *, exact: bool) -> tuple[np.ndarray, ...]:
        """Coefficients on learning sets (D, G), mean placements, and their mean (D,)."""
        rows = np.isin(self.block, blocks)
        learnt = self.learning[rows].astype(float)
        n, g = self._sizes()
        phi = self.moved[:, rows].sum(axis=2) / (n - g)
        mean = learnt.mean(axis=0)
        response = np.einsum("dm,mi->di", phi, learnt - mean) / len(learnt)
        if exact:
            eta = response * complete_factors(self.shape)
        else:
            centred = learnt - mean
            gram = np.einsum("mi,mj->ij", centred, centred, optimize=True) / len(learnt)
            eta = np.asarray(least_squares(gram, response))
        eta = centred_by_class(self.shape, eta)
        placed = mean_placements(self.moved[:, rows].sum(axis=1), (1 - learnt).sum(axis=0), 0.0)
        level = phi.mean(axis=1) - eta @ mean
        return eta, centred_by_class(self.shape, placed), level

    def auc(self, blocks: np.ndarray) -> np.ndarray:
        """theta, less what chance in the learning sets has added."""
        return self.theta + self._fit(blocks, exact=False)[2]

    def effects(self, blocks: np.ndarray, *, exact: bool = False) -> np.ndarray:
        """b (D, G) from some of the blocks."""
        eta, placed, _ = self._fit(blocks, exact=exact)
        n, g = self._sizes()
        return contributions(n, g, eta, 2 / n * placed)

    def error_of_mean(self, weights: np.ndarray) -> float:
        """Monte-Carlo standard error: residuals of the fit, summed over the rows of each draw."""
        n, g = self._sizes()
        eta, _, level = self._fit(np.arange(N_BLOCKS), exact=False)
        fit = self.learning @ eta.T + level
        residual = weights @ (self.moved.sum(axis=2) / (n - g)) - fit @ weights
        draws = np.unique(self.draw, return_inverse=True)[1]
        sums = np.bincount(draws, residual - residual.mean())
        n_rows, n_draws = len(residual), len(sums)
        freedom = max(1 - (n - 1) / n_rows, 1 / n_rows)
        # The fit makes residuals smaller than errors are, and has its own noise.
        return float(np.sqrt((sums**2).sum() * n_draws / (n_draws - 1)) / freedom / n_rows)
