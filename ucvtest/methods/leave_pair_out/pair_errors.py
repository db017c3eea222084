"""Leave-pair-out errors of one learner for many labelings of one sample, in its fastest way."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from ucvtest.common.execution import Execution, row_batches
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
from ucvtest.learners.closed_forms.held_out import has_hat_matrix, hat_matrix
from ucvtest.learners.jitted.discriminant import LinearDiscriminant, standardised_features
from ucvtest.learners.jitted.neighbors import NearestNeighbors
from ucvtest.losses.table import LossDifference
from ucvtest.methods.leave_pair_out.options import Sizes, check_size
from ucvtest.stats.cluster_permutation import ExchangeableLabels

CELLS_PER_BATCH = 4_000_000
"""Most numbers in the arrays of one batch of fits: 32 MB each."""


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


def refitting(sample: Sample, learner: Learner, execution: Execution | None) -> Evaluator:
    """Fits again without every pair; an execution shows the progress."""
    return Evaluator(sample, learner, "score", execution)


class _RefittedErrors(PairErrors):
    """Any learner, fitted again without every pair for every labeling."""

    def __init__(self, sample: Sample, learner: Learner, execution: Execution | None) -> None:
        super().__init__(method_of_fits(learner))
        self._evaluator = refitting(sample, learner, execution)

    def count(self, labelings: np.ndarray, rng: np.random.Generator) -> Counts:
        """See `PairErrors`."""
        n_obs = labelings.shape[1]
        n_pairs = int(labelings[0].sum()) * int((~labelings[0]).sum())
        batches = row_batches(len(labelings), n_pairs * n_obs, CELLS_PER_BATCH)
        error_batches = [self._count(labelings[rows], rng) for rows in batches]
        n_wrong, tied = np.concatenate(error_batches, axis=1)
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
