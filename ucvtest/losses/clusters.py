"""Losses of clusters, from losses of their rows."""

from dataclasses import replace

import numpy as np

from ucvtest.common.words import arg
from ucvtest.data.groups import Clusters
from ucvtest.losses.linearised import counts_pairs_twice, resample_means
from ucvtest.losses.table import Losses


def of_clusters(losses: Losses, clusters: Clusters) -> Losses:
    """The losses of the clusters; see `Clusters` for their definition.

    For scores, the AUCs of test sets remain, over pairs of rows from different clusters. With the
    weight "group", the rows of a cluster in one class share the weight of one row.
    """
    groups, design = clusters.groups, losses.design.by_groups(clusters.groups)
    if losses.values is None:
        if not losses.metric.ranks_pairs:
            raise ValueError(
                "these losses contain only the mean of each resample, without groups: use a loss "
                f"that is a mean over observations, such as {arg('scoring', 'accuracy')}"
            )
        return replace(losses, design=design, target=None, groups=None)
    if losses.metric.ranks_pairs:
        means = _aucs(losses, clusters)
        return replace(losses, design=design, means=means, values=None, target=None, groups=None)
    # The position of each tested row among the clusters tested with a learning set.
    resample, row = np.nonzero(losses.design.testing)
    tested_index = np.cumsum(design.testing).reshape(design.testing.shape) - 1
    tested = tested_index[resample, groups.index[row]]
    sizes = groups.sizes[np.nonzero(design.testing)[1]]
    sums = [np.bincount(tested, learner_losses) for learner_losses in losses.values]
    values: np.ndarray = np.array(sums, dtype=float)
    if clusters.weight == "group":
        values = values / sizes
    else:
        theta = losses.values.mean(axis=1, keepdims=True)
        values = theta + (values - theta * sizes) / sizes.mean()
    means = resample_means(values, design)
    # Survival times of clusters are not defined.
    labels = losses.target if losses.event is None else None
    if counts_pairs_twice(losses.metric, losses.design):
        # Test sets have the values that they have without clusters.
        values += np.repeat(losses.means - means, design.n_tested, axis=1)
        means = losses.means
    return replace(
        losses,
        design=design,
        values=values,
        predictions=None,
        smooth=None,
        means=means,
        target=None if labels is None else groups.classes(labels),
        event=None,
        groups=None,
    )


def _aucs(losses: Losses, clusters: Clusters) -> np.ndarray:
    """AUC (L, R) of each learner in each test set.

    It is the share of the weight of pairs from different clusters that are in the right order.
    """
    assert losses.target is not None
    index, positive = clusters.groups.index, losses.target == 1
    weight = np.ones(len(index))
    if clusters.weight == "group":
        for members in (positive, ~positive):
            counts = np.bincount(index[members], minlength=clusters.n_groups)
            weight[members] = 1 / counts[index[members]]
    means = np.empty((len(losses.learners), losses.design.n_resamples))
    stops = np.cumsum(losses.design.n_tested)
    for resample, testing in enumerate(losses.design.testing):
        rows = np.flatnonzero(testing)
        scores = losses.known_values[:, stops[resample] - len(rows) : stops[resample]]
        ones, zeros = rows[positive[rows]], rows[~positive[rows]]
        pairs = weight[ones][:, None] * weight[zeros]
        pairs *= index[ones][:, None] != index[zeros]
        total = pairs.sum()
        if not total:
            means[:, resample] = np.nan
            continue
        above, below = scores[:, positive[rows], None], scores[:, None, ~positive[rows]]
        right = (above > below) + 0.5 * (above == below)
        # Rounding can raise a sum of weights just above their total.
        means[:, resample] = np.minimum((right * pairs).sum(axis=(1, 2)) / total, 1.0)
    return means
