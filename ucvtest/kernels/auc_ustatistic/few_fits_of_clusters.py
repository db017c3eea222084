r"""AUCs of rows in clusters from few fits: clusters are the observations.

Clusters of one class each are placed among those of the other, as observations are
(`few_fits.PlacedRounds`). Clusters with rows of several classes are one sample. Of the r of them
that are tested the AUC is the mean of a kernel h over pairs (`mixed_clusters`). To first order,

    h(k, l) = U + sum_{i in L} lambda_i + h_k + h_l,

which makes the AUC that of losses with the effects 2 h_k. The placement of k, the mean of h over
the pairs with k, is (r - 2)/(r - 1) (h_k - mean h) from the mean phi of all placements. Hence

    D_L(k) = phi + 2 (r - 1)/(r - 2) (placement_k - phi)

is a loss in the rule of mean losses: its mean over the tested is phi, and to first order it is
U + sum_{i in L} lambda_i + 2 h_k.
"""

from collections.abc import Sequence

import numpy as np

from ucvtest.kernels.auc_ustatistic.clusters import RowWeights
from ucvtest.kernels.auc_ustatistic.few_fits import PlacedRounds
from ucvtest.kernels.auc_ustatistic.mixed_clusters import MixedClusters
from ucvtest.kernels.auc_ustatistic.ranked_classes import RankedClasses
from ucvtest.stats.few_fits import Rounds


def rounds_of_mixed(
    scores: Sequence[np.ndarray], learning: np.ndarray, rankings: RankedClasses
) -> list[Rounds]:
    """Of each learner, from scores (R, q, n) or (R, q, n, C) of rows, and sets (R, q, G)."""
    n_rounds, q, n_clusters = learning.shape
    rows = learning.reshape(-1, n_clusters)
    sums = MixedClusters(rankings, int(rows[0].sum()))
    flat = [
        learner_values.reshape(len(rows), *learner_values.shape[2:]) for learner_values in scores
    ]
    sums.add(flat, rows, np.arange(n_rounds).repeat(q))
    return [
        Rounds.of(learner_values.reshape(learning.shape), learning)
        for learner_values in sums.losses()
    ]


def rounds_of_single_label(
    scores: Sequence[np.ndarray],
    learning: np.ndarray,
    members: Sequence[np.ndarray],
    weights: RowWeights,
) -> list[PlacedRounds]:
    """Of each learner, from scores (R, q, n) of rows, and learning sets (R, q, G) of clusters.

    psi of two clusters is divided by the mean of C. Where C varies, the AUC is the ratio theta, and
    psi + theta (1 - C) its linear part.
    """
    first, second = (learning[..., class_members] for class_members in members)
    shares = [
        class_values[:, class_members] / class_values[:, class_members].sum(axis=0).mean()
        for class_values, class_members in zip(weights.weights, members, strict=True)
    ]
    counts = [class_values.sum(axis=0) for class_values in shares]
    rounds = []
    for learner_scores in scores:
        sums = [
            _rank_sums(
                [row[of_class] for of_class in weights.rows],
                [
                    np.where(~learnt, class_values, 0.0)
                    for learnt, class_values in zip(sets, shares, strict=True)
                ],
            )
            for row, *sets in zip(
                learner_scores.reshape(-1, learner_scores.shape[-1]),
                first.reshape(-1, first.shape[-1]),
                second.reshape(-1, second.shape[-1]),
                strict=True,
            )
        ]
        below, above = (
            np.array(class_values).reshape(sets.shape)
            for class_values, sets in zip(zip(*sums, strict=True), (first, second), strict=True)
        )
        rounds.append(_placed((below, above), (first, second), counts))
    return rounds


def _placed(
    sums: Sequence[np.ndarray], learning: Sequence[np.ndarray], counts: Sequence[np.ndarray]
) -> PlacedRounds:
    """From sums of psi over the tested clusters of the other class, and what clusters count."""
    tested = [~learnt_clusters for learnt_clusters in learning]
    n_tested = [int(tested_clusters[0, 0].sum()) for tested_clusters in tested]
    tested_weights = [
        tested_clusters @ count for tested_clusters, count in zip(tested, counts, strict=True)
    ]
    theta = float(sums[0].sum() / (tested_weights[0] * tested_weights[1]).sum())
    placed = []
    for c, other in ((0, 1), (1, 0)):
        # The mean of C over the tested of the other class.
        compared = counts[c] * (tested_weights[other] / n_tested[other])[..., None]
        placed.append((sums[c] / n_tested[other] + theta * (1 - compared)) * tested[c])
    fits = placed[0].sum(axis=2) / n_tested[0]
    return PlacedRounds(fits, (placed[0], placed[1]), tuple(learning))


def _rank_sums(
    scores: Sequence[np.ndarray], weights: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of psi of a row over the tested rows of the other class, by clusters of either class.

    `scores` (N_c,) may be anything where `weights` (N_c, G_c) are zero.
    """
    tested = [cluster_weights.any(axis=1) for cluster_weights in weights]
    first, second = (
        row_scores[is_tested].astype(float)
        for row_scores, is_tested in zip(scores, tested, strict=True)
    )
    of_first, of_second = (
        cluster_weights[is_tested]
        for cluster_weights, is_tested in zip(weights, tested, strict=True)
    )
    below = _weight_below(first, second, of_second.sum(axis=1))
    total = of_first.sum()
    above = total - _weight_below(second, first, of_first.sum(axis=1))
    return below @ of_first, above @ of_second


def _weight_below(scores: np.ndarray, other_scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weight of other rows below each score, with half of the equal ones."""
    order = np.argsort(other_scores)
    summed = np.concatenate([[0.0], np.cumsum(weights[order])])
    places = (
        np.searchsorted(other_scores[order], scores, tie_side) for tie_side in ("left", "right")
    )
    return np.asarray(sum(summed[position] for position in places) / 2)
