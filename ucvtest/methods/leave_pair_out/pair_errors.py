"""Leave-pair-out errors of one learner for many labelings of one sample, in its fastest way.

Of observations in clusters every pair of clusters is left out.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from ucvtest.common.execution import Execution, row_batches
from ucvtest.data.groups import Clusters
from ucvtest.data.sample import Sample
from ucvtest.designs.structure import pairs_of
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.kernels.leave_pair_out import (
    LABELINGS_PER_CALL,
    nearest_neighbour_errors,
    smoother_errors,
)
from ucvtest.kernels.leave_pair_out.discriminant import count_by_discriminant
from ucvtest.learners.adapters.translated import TranslatedLearner
from ucvtest.learners.base import JittedLearner, Learner
from ucvtest.learners.batching import squared_distances
from ucvtest.learners.closed_forms.held_out import has_hat_matrix, hat_matrix, held_out_predictions
from ucvtest.learners.jitted.discriminant import LinearDiscriminant, standardised_features
from ucvtest.learners.jitted.neighbors import NearestNeighbors
from ucvtest.learners.restricted import seen_by
from ucvtest.losses.table import LossDifference
from ucvtest.methods.leave_pair_out.options import Sizes, check_size
from ucvtest.stats.cluster_permutation import ExchangeableLabels

CELLS_PER_BATCH = 4_000_000
"""Most numbers in the arrays of one batch of fits, or labelings: 32 MB each."""

TIE = 1e-11
"""As for pairs of observations: see `ucvtest.kernels.leave_pair_out`."""

DIGITS = 9
"""Errors of clusters are weighted sums; rounding must not make equal ones different."""

FITTED_PAIRS = 1000
"""Pairs up to which jitted fits of discriminant analysis are quicker than its closed form."""

FITTING = ("jitted fits", "fits")
"""Ways to count errors by fits; these fits are counted and announced."""


Counts = tuple[np.ndarray, np.ndarray]
"""Wrong and tied pairs of labelings: two arrays (P,)."""


class PairErrors:
    """Counts the errors of labelings: by a function of them, or as subclasses do."""

    exchangeable: ExchangeableLabels | None = None
    """How labels are permuted, if observations come in clusters."""

    def __init__(
        self,
        error_method: str,
        labelings_at_once: int = 1,
        ties: Mapping[str, int] | None = None,
        counted: Callable[[np.ndarray], Counts] | None = None,
    ) -> None:
        self.error_method = error_method
        """"closed form", "jitted fits", "fits" or "given scores"."""
        self.labelings_at_once = labelings_at_once
        """How many labelings a call counts together; 1 if each costs the same alone."""
        self.ties = Counter(ties)
        """How often a learner's rule for ties has decided, if the fits show it."""
        self._counted = counted

    @property
    def one_by_one(self) -> bool:
        """Whether no labeling gets cheaper with others, and nothing is compiled."""
        return self.labelings_at_once == 1 and self.error_method != "jitted fits"

    def sizes(self, labels: np.ndarray) -> Sizes:
        """Observations and pairs, and the needs of permutations of these labels."""
        return Sizes.of(labels)

    def count(self, labelings: np.ndarray, rng: np.random.Generator) -> Counts:
        """Count wrong and tied pairs of labelings (P, n), True for positive."""
        assert self._counted is not None
        return self._counted(labelings)


def pair_errors(sample: Sample, learner: Learner, execution: Execution | None = None) -> PairErrors:
    """The closed form of a learner that has one, otherwise fits without every pair."""
    learner, sample = seen_by(learner, sample)
    jitted_learner = learner.jitted if isinstance(learner, TranslatedLearner) else learner
    labels = sample.target == 1
    neighbours = isinstance(jitted_learner, NearestNeighbors)
    n_fits = Sizes.of(labels).n_fits
    discriminant = isinstance(jitted_learner, LinearDiscriminant) and n_fits > FITTED_PAIRS
    closed_form = has_hat_matrix(jitted_learner) or neighbours or discriminant
    check_size(sample.n_obs, n_fits, closed_form=closed_form)
    if discriminant:
        discriminant_errors = _DiscriminantErrors(sample, learner, execution)
        if discriminant_errors.known(labels):
            return discriminant_errors
        check_size(sample.n_obs, n_fits, closed_form=False)
    if has_hat_matrix(jitted_learner):
        try:
            hat = hat_matrix(jitted_learner, sample.matrix, sample.n_obs - 2)
            # Whether the others determine the fit does not depend on labels.
            smoother_errors(hat, np.zeros((0, sample.n_obs), dtype=bool))
            counted = partial(smoother_errors, hat)
            return PairErrors("closed form", LABELINGS_PER_CALL, counted=counted)
        except ValueError:
            # scikit-learn has a rule of its own for equations that are singular.
            if jitted_learner is learner:
                raise
    if isinstance(jitted_learner, NearestNeighbors):
        nearest, tied = _nearest(sample, jitted_learner.k)
        if not (tied and jitted_learner.open_ties):
            # One sort serves every labeling.
            counted = partial(nearest_neighbour_errors, nearest)
            return PairErrors("closed form", LABELINGS_PER_CALL, {"distance_ties": tied}, counted)
    return _RefittedErrors(sample, learner, execution)


def method_of_fits(learner: Learner) -> str:
    """How errors are counted by fits of this learner."""
    return FITTING[0] if isinstance(learner, (JittedLearner, TranslatedLearner)) else FITTING[1]


class _RefittedErrors(PairErrors):
    """Any learner, fitted again without every pair for every labeling."""

    def __init__(self, sample: Sample, learner: Learner, execution: Execution | None) -> None:
        super().__init__(method_of_fits(learner))
        self._evaluator = Evaluator(sample, learner, "score", execution)

    def count(self, labelings: np.ndarray, rng: np.random.Generator) -> Counts:
        """See `PairErrors`."""
        n_obs = labelings.shape[1]
        n_pairs = int(labelings[0].sum()) * int((~labelings[0]).sum())
        batches = row_batches(len(labelings), n_pairs * n_obs, CELLS_PER_BATCH)
        n_wrong, tied = np.hstack([self._count(labelings[rows], rng) for rows in batches])
        return n_wrong, tied

    def _count(self, labelings: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        labeling, first, second = np.nonzero(labelings[:, :, None] & ~labelings[:, None])
        seeds = rng.integers(2**31 - 1, size=len(labeling))
        counts = np.zeros((2, len(labelings)), dtype=int)
        # The pairs of one labeling may be too many for a batch.
        for pair_rows in row_batches(len(labeling), labelings.shape[1], CELLS_PER_BATCH):
            labeling_index = labeling[pair_rows]
            positive_row, negative_row = first[pair_rows], second[pair_rows]
            fits = np.arange(len(labeling_index))
            testing = np.zeros((len(fits), labelings.shape[1]), dtype=bool)
            testing[fits, positive_row] = testing[fits, negative_row] = True
            labels = labelings[labeling_index].astype(float)
            predictions = self._evaluator.predict_labelings(
                labels, seeds[pair_rows], ~testing, testing, blank=False
            )
            self.ties.update(predictions.ties)
            positive = predictions.values[fits, positive_row]
            negative = predictions.values[fits, negative_row]
            counts[0] += np.bincount(labeling_index[positive < negative], minlength=len(labelings))
            counts[1] += np.bincount(labeling_index[positive == negative], minlength=len(labelings))
        return counts


class _DiscriminantErrors(PairErrors):
    """Linear discriminant analysis: the fits without a pair are changes of the fit to all.

    Labelings whose covariance matrices are nearly singular are fitted, which progress counts as
    labelings in closed form.
    """

    def __init__(self, sample: Sample, learner: Learner, execution: Execution | None) -> None:
        super().__init__("closed form")
        self._features = standardised_features(sample.matrix)
        uncounted = None if execution is None else execution.trial
        self._refitted = _RefittedErrors(sample, learner, uncounted)

    def known(self, labels: np.ndarray) -> bool:
        """Whether these labels need no fits."""
        return count_by_discriminant(self._features, labels) is not None

    def count(self, labelings: np.ndarray, rng: np.random.Generator) -> Counts:
        """See `PairErrors`."""
        counts = np.zeros((2, len(labelings)), dtype=int)
        for row, labels in enumerate(labelings):
            known = count_by_discriminant(self._features, labels)
            if known is None:
                check_size(len(labels), Sizes.of(labels).n_fits, closed_form=False)
                n_wrong, tied = self._refitted.count(labels[None], rng)
                known = int(n_wrong[0]), int(tied[0])
            counts[:, row] = known
        self.ties = Counter(self._refitted.ties)
        return counts[0], counts[1]


def given_errors(difference: LossDifference, target: np.ndarray) -> PairErrors:
    """Existing scores, which are only for the observed labeling."""
    positive, negative = pairs_of(difference.design, target)
    (scores,) = difference.values_by_learner.values()
    # The first of the two tested observations is the one that comes first in the sample.
    first, second = scores.reshape(-1, 2).T
    of_positive = np.where(positive < negative, first, second)
    of_negative = np.where(positive < negative, second, first)
    wrong = np.array([(of_positive < of_negative).sum()])
    tied = np.array([(of_positive == of_negative).sum()])
    return PairErrors("given scores", 1, difference.diagnostics, lambda labelings: (wrong, tied))


def _nearest(sample: Sample, k: int) -> tuple[np.ndarray, int]:
    """The k + 1 nearest others (n, k + 1), and the number of observations with ties among them."""
    distance = squared_distances(sample.matrix)
    np.fill_diagonal(distance, -1.0)
    order = np.argsort(distance, axis=1, kind="stable")[:, 1:]
    ranked = np.take_along_axis(distance, order, axis=1)[:, : k + 2]
    return order[:, : k + 1], int((ranked[:, 1:] == ranked[:, :-1]).any(axis=1).sum())


# ------------------------------------------------------------------------------------ clusters

Scored = Callable[[np.ndarray, np.random.Generator], np.ndarray]
"""Scores (P, n, G) of each row by the rule learnt without its cluster and another one."""


class ClusterErrors(PairErrors):
    """Counts the errors of labelings as numbers of pairs of rows, by their scores.

    `tolerance` (n, n) are differences of two scores that are rounding error.
    """

    exchangeable: ExchangeableLabels

    def __init__(
        self,
        sample: Sample,
        clusters: Clusters,
        scored: Scored,
        error_method: str = "closed form",
        labelings_at_once: int = LABELINGS_PER_CALL,
        tolerance: np.ndarray | float = 0.0,
    ) -> None:
        super().__init__(error_method, labelings_at_once)
        self._clusters, self._index = clusters, clusters.groups.index
        self._scored, self.tolerance = scored, tolerance
        self.exchangeable = ExchangeableLabels.of(sample.target == 1, self._index)

    def sizes(self, labels: np.ndarray) -> Sizes:
        """Pairs of rows of different clusters, and how many labelings there are."""
        n_clusters = self._clusters.n_groups
        positive, negative = self._by_cluster(labels[None]), self._by_cluster(~labels[None])
        return Sizes(
            len(labels),
            int(labels.sum()),
            n_within=int((positive * negative).sum()),
            labelings=self.exchangeable.n_labelings,
            fits=n_clusters * (n_clusters - 1) // 2,
        )

    def count(self, labelings: np.ndarray, rng: np.random.Generator) -> Counts:
        """See `PairErrors`; weighted, and scaled to the number of pairs of the observed labels."""
        n_obs = labelings.shape[1]
        batches = row_batches(len(labelings), n_obs * n_obs, CELLS_PER_BATCH)
        shares: list[np.ndarray] = []
        for rows in batches:
            scores = self._scored(labelings[rows], rng)[:, :, self._index]
            difference = scores - scores.transpose(0, 2, 1)
            positive, negative = self._weights(labelings[rows]), self._weights(~labelings[rows])
            weight = positive[:, :, None] * negative[:, None]
            weight *= self._index[:, None] != self._index
            wrong = np.where(difference < -self.tolerance, weight, 0.0).sum(axis=(1, 2))
            tied = np.where(np.abs(difference) <= self.tolerance, weight, 0.0).sum(axis=(1, 2))
            shares.append(np.stack([wrong, tied]) / weight.sum(axis=(1, 2)))
        n_pairs = self.sizes(self.exchangeable.labels).n_pairs
        n_wrong, tied = np.concatenate(shares, axis=1) * n_pairs
        return n_wrong.round(DIGITS), tied.round(DIGITS)

    def _by_cluster(self, is_in_class: np.ndarray) -> np.ndarray:
        """How many rows of each cluster are chosen, (P, G)."""
        return is_in_class.astype(float) @ np.eye(self._clusters.n_groups)[self._index]

    def _weights(self, is_in_class: np.ndarray) -> np.ndarray:
        """The weight of each chosen row, (P, n); 0 for others."""
        if self._clusters.weight == "row":
            return is_in_class.astype(float)
        return is_in_class / np.maximum(self._by_cluster(is_in_class)[:, self._index], 1)


def cluster_errors(
    sample: Sample, learner: Learner, clusters: Clusters, execution: Execution | None = None
) -> ClusterErrors:
    """The closed form of a learner that has one, otherwise fits without every pair of clusters."""
    learner, sample = seen_by(learner, sample)
    jitted_learner = learner.jitted if isinstance(learner, TranslatedLearner) else learner
    if has_hat_matrix(jitted_learner):
        try:
            return _of_smoother(sample, jitted_learner, clusters)
        except ValueError:
            # scikit-learn has its own rule for singular equations.
            if jitted_learner is learner:
                raise
    if isinstance(jitted_learner, NearestNeighbors) and not jitted_learner.open_ties:
        return _of_neighbours(sample, jitted_learner.k, clusters)
    return errors_of_fits(sample, learner, clusters, execution)


def _of_smoother(sample: Sample, learner: Any, clusters: Clusters) -> ClusterErrors:
    """Ridge and kernel ridge: scores are a fixed matrix times the labels."""
    n_obs, sizes, index = sample.n_obs, clusters.groups.sizes, clusters.groups.index
    matrix = np.zeros((n_obs, clusters.n_groups, n_obs))
    pairs = _pairs(clusters)
    pair_sizes = sizes[pairs].sum(axis=1)
    for size in np.unique(pair_sizes).tolist():
        pairs_of_size = pairs[pair_sizes == size]
        rows = np.nonzero(_held_out(index, pairs_of_size))[1].reshape(len(pairs_of_size), size)
        hat = hat_matrix(learner, sample.matrix, n_obs - size)
        held_out_matrix = held_out_predictions(hat, np.eye(n_obs), rows)
        matrix[rows, _other(index[rows], pairs_of_size[:, None])] = held_out_matrix
    largest = np.abs(matrix).sum(axis=2)[:, index]

    def scored(labelings: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        cluster_scores = labelings.astype(float) @ matrix.reshape(-1, n_obs).T
        return cluster_scores.reshape(len(labelings), n_obs, -1)

    tolerance = TIE * (1.0 + largest + largest.T)
    return ClusterErrors(sample, clusters, scored, tolerance=tolerance)


def _of_neighbours(sample: Sample, k: int, clusters: Clusters) -> ClusterErrors:
    """k nearest neighbours, which do not depend on labels."""
    n_obs, n_clusters, index = sample.n_obs, clusters.n_groups, clusters.groups.index
    distance = squared_distances(sample.matrix)
    order = np.argsort(distance, axis=1, kind="stable")
    ranked = np.take_along_axis(distance, order, axis=1)
    nearest, n_tied = np.zeros((n_obs, n_clusters, k), dtype=int), 0
    for row in range(n_obs):
        outside = index[order[row]] != index[row]
        n_tied += bool((np.diff(ranked[row][outside][: k + 1]) == 0).any())
        outside_rows = order[row][outside]
        for cluster in range(n_clusters):
            nearest[row, cluster] = outside_rows[index[outside_rows] != cluster][:k]
    errors = ClusterErrors(
        sample, clusters, lambda labelings, rng: labelings[:, nearest].sum(axis=3)
    )
    errors.ties = Counter(distance_ties=n_tied)
    return errors


def errors_of_fits(
    sample: Sample, learner: Learner, clusters: Clusters, execution: Execution | None
) -> ClusterErrors:
    """Any learner, fitted again without every pair of clusters for every labeling."""
    evaluator = Evaluator(sample, learner, "score", execution)
    index, pairs = clusters.groups.index, _pairs(clusters)
    testing = _held_out(index, pairs)

    def scored(labelings: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        cluster_scores = np.zeros((*labelings.shape, clusters.n_groups))
        pair, row = np.nonzero(testing)
        for own_scores, labeling in zip(cluster_scores, labelings, strict=True):
            labels = np.tile(labeling.astype(float), (len(pairs), 1))
            seeds = rng.integers(2**31 - 1, size=len(pairs))
            scores = evaluator.predict_labelings(labels, seeds, ~testing, testing, blank=False)
            errors.ties.update(scores.ties)
            own_scores[row, _other(index[row], pairs[pair])] = scores.values[pair, row]
        return cluster_scores

    errors = ClusterErrors(sample, clusters, scored, method_of_fits(learner), 1)
    return errors


def _pairs(clusters: Clusters) -> np.ndarray:
    return np.array(list(combinations(range(clusters.n_groups), 2)))


def _held_out(index: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Which rows each pair of clusters contains, (pairs, n)."""
    return np.asarray((index == pairs[:, :1]) | (index == pairs[:, 1:]))


def _other(own_cluster: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The other cluster of each pair (..., 2)."""
    return np.asarray(pairs.sum(axis=-1) - own_cluster)
