"""Discriminant analysis and naive Bayes, many learning sets at once.

Sizes, means and covariances of all classes in all learning sets are one matrix product, of
the learning sets (R, n) with columns that they share; the scores of all observations are
another.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from scipy.special import logsumexp

from ucvtest.common.checks import check_choice
from ucvtest.common.float64 import in_float64, to_numpy
from ucvtest.common.words import arg
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Predictions, Scale, class_members, margins
from ucvtest.learners.batching import (
    CACHE_NUMBERS,
    LEAST_ROWS,
    Margin,
    clear_labels,
    median_centred,
    rows_for_cache,
)
from ucvtest.learners.jitted.discriminant_rules import (
    Moments,
    Rules,
    TotalScatter,
    careful_lda_rules,
    careful_qda_rules,
    centroid_rules,
    class_moments,
    labels_of_rules,
    lda_rules,
    naive_bayes_rules,
    qda_rules,
    scores_of_rules,
    split_by_class,
    standardised_centroid_rules,
    standardised_features,
    standardised_naive_bayes_rules,
    with_constant,
)
from ucvtest.learners.jitted.many_labelings import (
    LABELINGS,
    OPEN,
    product,
    replace_open_rows,
    whitened,
)
from ucvtest.learners.solvers.linear_algebra import products
from ucvtest.learners.solvers.singular_discriminant import linear, quadratic, singular_scores

Priors = Literal["empirical", "equal"]
PRIORS: tuple[Priors, ...] = ("empirical", "equal")


def lda(priors: Priors = "empirical") -> "LinearDiscriminant":
    """Linear discriminant analysis.

    Parameters
    ----------
    priors : {"empirical", "equal"}
        Class probabilities: the shares in the learning set, or all equal.

    Returns
    -------
    LinearDiscriminant

    Raises
    ------
    ValueError
        If `priors` is something else.

    Notes
    -----
    Normal classes with a common covariance matrix. Its estimate is that of maximum
    likelihood, sums of squares divided by the number of observations, as in scikit-learn's
    LinearDiscriminantAnalysis (solver "lsqr"; all solvers from 1.9 on); R's MASS::lda
    divides by the degrees of freedom. Where the matrix of a learning set is singular, as without
    a rare level of a factor, directions with a standard deviation within classes of at most 1e-4
    of the features' are dropped, as by scikit-learn's solver "svd"; results count and note it.
    Columns that are combinations of others in the whole sample are left out beforehand. A
    matrix that is nearly singular but can be inverted is inverted, where that solver drops the
    direction.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.lda().name, uv.learners.lda(priors="equal").name
    ('lda', 'lda:equal')
    """
    return LinearDiscriminant(priors)


def qda(priors: Priors = "empirical") -> "QuadraticDiscriminant":
    """Quadratic discriminant analysis.

    Parameters
    ----------
    priors : {"empirical", "equal"}
        Class probabilities: the shares in the learning set, or all equal.

    Returns
    -------
    QuadraticDiscriminant

    Raises
    ------
    ValueError
        If `priors` is something else.

    Notes
    -----
    Normal classes, each with its own covariance matrix, estimated by maximum likelihood as
    in scikit-learn from 1.9 on; R's MASS::qda divides by n_k - 1. Where the matrix of a class is
    singular in a learning set, as with no more observations of it than features, directions with a
    standard deviation of at most 1e-4 of the features' are dropped, for all classes, so that their
    densities can be compared; results count and note it.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.qda().name
    'qda'
    """
    return QuadraticDiscriminant(priors)


def gaussian_nb(priors: Priors = "empirical") -> "GaussianNaiveBayes":
    """Gaussian naive Bayes: normal features, independent of each other within a class.

    Parameters
    ----------
    priors : {"empirical", "equal"}
        Class probabilities: the shares in the learning set, or all equal.

    Returns
    -------
    GaussianNaiveBayes

    Raises
    ------
    ValueError
        If `priors` is something else.

    Notes
    -----
    As in scikit-learn's GaussianNB, 1e-9 times the largest variance of a feature in the
    learning set is added to all variances.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.gaussian_nb().name
    'gaussian_nb'
    """
    return GaussianNaiveBayes(priors)


class Discriminant(JittedLearner):
    """A learner whose scores are functions of the classes' sums over a learning set."""

    multiclass: ClassVar[bool] = True

    @property
    @abstractmethod
    def _rules(self) -> tuple[Rules, bool]:
        """The rules, and whether all classes are equally probable beforehand."""

    @in_float64
    def scores(
        self, state: Moments, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Log-odds, or a difference of squared distances; for more classes one score each."""
        return scores_of_rules(*self._rules, state, learning, labels)

    def codes(
        self,
        state: Moments,
        learning: np.ndarray,
        labels: np.ndarray | None = None,
        margin: Margin | None = None,
    ) -> np.ndarray | None:
        """Predicted labels 0 and 1; see `JittedLearner.codes`."""
        return labels_of_rules(*self._rules, state, learning, labels, margin)


@dataclass(frozen=True)
class WithPriors(Discriminant):
    """Normal classes with the shares in the learning set, or equal ones, as probabilities."""

    priors: Priors = "empirical"

    scale: ClassVar[Scale] = "log_odds"
    method: ClassVar[str]

    def __post_init__(self) -> None:
        check_choice("priors", self.priors, PRIORS)

    @property
    def name(self) -> str:
        """The method, with the priors unless they are empirical: ``lda`` or ``lda:equal``."""
        return self.method if self.priors == "empirical" else f"{self.method}:{self.priors}"

    def class_scores(self, scores: np.ndarray) -> np.ndarray:
        """Log-odds of each class against all others, which do not end at 0 and 1."""
        log_other_classes = [
            logsumexp(np.delete(scores, code, axis=2), axis=2) for code in range(scores.shape[2])
        ]
        return scores - np.stack(log_other_classes, axis=2)


@dataclass(frozen=True)
class WithCovariances(WithPriors):
    """Normal classes with covariance matrices, which in a learning set may be singular.

    A careful one gives NaN already where rounding errors could reach the eighth digit.
    """

    careful: bool = False

    matrices: ClassVar[int]
    """Matrices of one learning set that are in use at a time."""
    counted: ClassVar[str]
    """What the smallest learning set is made of, in words."""
    instead: ClassVar[str]
    """The learner that does with fewer observations."""
    singular_rule: ClassVar[Callable[..., np.ndarray]]
    """The rule of learning sets with singular ones."""

    @abstractmethod
    def _least(self, n_features: int, n_classes: int) -> int:
        """The smallest learning set whose matrices can have an inverse."""

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also covariance matrices that are bound to be singular."""
        super().check(sample, output, learn_size)
        n_features, rank = sample.matrix.shape[1], self._rank(sample)
        if not rank:
            raise ValueError(
                f"learner {self.name} needs a column that varies, and all columns of {arg('X')} "
                "are constant: use majority"
            )
        least_size = self._least(rank, sample.n_classes)
        if learn_size < least_size:
            few = "" if rank == n_features else f"; the {n_features} columns have rank {rank}"
            raise ValueError(
                f"learner {self.name} needs {arg('learn_size')} >= {least_size} "
                f"({self.counted}{few}), got {arg('learn_size', learn_size)}: raise it, use fewer "
                f"features, or use {self.instead}"
            )

    def note_on(self, sample: Sample) -> str:
        """That columns are combinations of others, where they are."""
        n_features, rank = sample.matrix.shape[1], self._rank(sample)
        if rank == n_features:
            return ""
        return (
            f"{n_features - rank} of the {n_features} columns of {arg('X')} are constant or "
            f"combinations of others, as all dummies of a factor are; {self.method} leaves them "
            "out, which changes no prediction."
        )

    def _rank(self, sample: Sample) -> int:
        """The number of linearly independent columns."""
        return len(_independent_places(standardised_features(sample.matrix)))

    def predict(
        self,
        state: Moments,
        learning: np.ndarray,
        output: Output,
        testing: np.ndarray | None = None,
        labels: np.ndarray | None = None,
    ) -> Predictions:
        """Predictions as those of `JittedLearner.predict`, of singular sets by their own rule."""
        predictions = super().predict(state, learning, output, testing, labels)
        if (
            self.careful
            or predictions.values.dtype == np.int8
            or not np.isnan(predictions.values.sum())
        ):
            return predictions
        missing = np.isnan(predictions.values.reshape(len(predictions.values), -1)).any(axis=1)
        if testing is not None:
            # What fills up a call tests nothing.
            missing &= testing.any(axis=1)
        rows = np.flatnonzero(missing)
        if not len(rows):
            return predictions
        scores = self._singular(state, learning, labels, rows)
        if output == "label":
            ours = self.elect(scores, None if testing is None else testing[rows])
        else:
            ours = Predictions(self._number(scores, output), Counter())
        values = predictions.values.copy()
        values[rows] = ours.values
        ties = Counter(predictions.ties)
        ties.update(ours.ties)
        ties["singular_fits"] += len(rows)
        return Predictions(values, ties)

    def _singular(
        self, state: Moments, learning: np.ndarray, labels: np.ndarray | None, rows: np.ndarray
    ) -> np.ndarray:
        """Scores of some learning sets by their own rule."""
        n_obs, n_features = learning.shape[1], state.n_features
        features = to_numpy(state.terms)[:n_obs, -1 - n_features : -1]
        sample_classes = to_numpy(state.columns)[:n_obs, : state.n_classes].argmax(axis=1)
        shape = (len(rows), n_obs)
        class_index = np.broadcast_to(sample_classes, shape) if labels is None else labels[rows]
        learnt = np.broadcast_to(learning[rows if len(learning) > 1 else [0]], shape)
        class_scores = singular_scores(
            *(type(self).singular_rule, features, class_index, learnt.astype(bool)),
            state.n_classes,
            equal=self.priors == "equal",
        )
        return (
            class_scores if state.n_classes > 2 else class_scores[:, :, 1] - class_scores[:, :, 0]
        )

    def rows_per_call(self, sample: Sample) -> int:
        """Fewer for more features, so that the matrices of one call stay in the cache."""
        numbers = self.matrices * sample.matrix.shape[1] ** 2
        fitting = rows_for_cache(numbers, CACHE_NUMBERS, LEAST_ROWS)
        return min(super().rows_per_call(sample), fitting)


@dataclass(frozen=True)
class LinearDiscriminant(WithCovariances):
    """Linear discriminant analysis; made by `lda`."""

    method: ClassVar[str] = "lda"
    singular_rule: ClassVar[Callable[..., np.ndarray]] = staticmethod(linear)
    matrices: ClassVar[int] = 1
    counted: ClassVar[str] = "features plus classes"
    instead: ClassVar[str] = "ridge"

    def _least(self, n_features: int, n_classes: int) -> int:
        return n_features + n_classes

    def prepare(self, sample: Sample) -> Moments:
        """Columns that all learning sets share."""
        features = _independent(sample)
        return class_moments(sample, features, products(features), with_constant(features))

    def labelings_per_call(self, sample: Sample) -> int:
        """Few for two classes, where they are quick."""
        most_rows = self.rows_per_call(sample)
        return min(most_rows, LABELINGS) if sample.n_classes == 2 else most_rows

    def prepare_labelings(self, state: Moments, learning: np.ndarray) -> Moments:
        """The total scatter matrix, which no labels change, for two classes."""
        features = to_numpy(state.terms)[: len(learning), :-1]
        white_and_share = whitened(features, learning) if state.n_classes == 2 else None
        if white_and_share is None:
            return state
        white, least_pivot_share = white_and_share
        terms = with_constant(white)
        return TotalScatter(
            *(state.columns, state.terms, state.n_classes, state.n_features),
            learnt=terms * learning[:, None],
            white=np.ascontiguousarray(terms.T),
            size=int(learning.sum()),
            share=least_pivot_share,
        )

    @in_float64
    def scores(
        self, state: Moments, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Log-odds; discriminant scores where there are more than two classes."""
        if labels is None or not isinstance(state, TotalScatter):
            return super().scores(state, learning, labels)
        coefficients, largest = state.coefficients(labels, self.priors == "equal")
        scores_of_labels = partial(scores_of_rules, *self._rules, state, learning)
        scores = product(coefficients, state.white)
        return replace_open_rows(scores, self.cut, OPEN * largest[:, 0], labels, scores_of_labels)

    def codes(
        self,
        state: Moments,
        learning: np.ndarray,
        labels: np.ndarray | None = None,
        margin: Margin | None = None,
    ) -> np.ndarray | None:
        """Predicted labels 0 and 1; see `JittedLearner.codes`."""
        if labels is None or not isinstance(state, TotalScatter):
            return super().codes(state, learning, labels, margin)
        if margin is not None:
            return None
        coefficients, largest = state.coefficients(labels, self.priors == "equal")
        return clear_labels(product(coefficients / largest, state.white), self.cut, OPEN)

    @property
    def _rules(self) -> tuple[Rules, bool]:
        return careful_lda_rules if self.careful else lda_rules, self.priors == "equal"


@dataclass(frozen=True)
class QuadraticDiscriminant(WithCovariances):
    """Quadratic discriminant analysis; made by `qda`."""

    method: ClassVar[str] = "qda"
    singular_rule: ClassVar[Callable[..., np.ndarray]] = staticmethod(quadratic)
    matrices: ClassVar[int] = 2
    counted: ClassVar[str] = "features plus one, for each class"
    instead: ClassVar[str] = "lda"

    def _least(self, n_features: int, n_classes: int) -> int:
        return n_classes * (n_features + 1)

    def prepare(self, sample: Sample) -> Moments:
        """Columns that all learning sets share."""
        features = _independent(sample)
        pairs = products(features)
        by_class = split_by_class(class_members(sample), pairs)
        return class_moments(
            sample, features, by_class, np.hstack([pairs, with_constant(features)])
        )

    @property
    def _rules(self) -> tuple[Rules, bool]:
        return careful_qda_rules if self.careful else qda_rules, self.priors == "equal"


@dataclass(frozen=True)
class GaussianNaiveBayes(WithPriors):
    """Gaussian naive Bayes; made by `gaussian_nb`, or on features standardised in each set."""

    standardize: bool = False

    method: ClassVar[str] = "gaussian_nb"
    no_solution: ClassVar[str] = (
        "no feature varies in that learning set: learn from more, or drop columns that are nearly "
        "constant"
    )

    def prepare(self, sample: Sample) -> Moments:
        """Columns that all learning sets share."""
        # Not scaled: the addition to the variances depends on the units of the features.
        features = median_centred(sample.matrix)
        squares = features**2
        by_class = split_by_class(class_members(sample), squares)
        return class_moments(
            sample, features, by_class, np.hstack([squares, with_constant(features)])
        )

    @property
    def _rules(self) -> tuple[Rules, bool]:
        rules = standardised_naive_bayes_rules if self.standardize else naive_bayes_rules
        return rules, self.priors == "equal"


def _independent(sample: Sample) -> np.ndarray:
    """The columns in standard units, without those that are combinations of others.

    Rules of normal classes are the same for every basis of the columns, also where a learning set
    is singular within classes: what depends on others in the sample does so in all of them.
    """
    features = standardised_features(sample.matrix)
    places = _independent_places(features)
    return features if len(places) == features.shape[1] else features[:, places]


def _independent_places(features: np.ndarray) -> np.ndarray:
    """Columns, in their order, such that none is a combination of the others and a constant."""
    centred = features - features.mean(axis=0)
    rank = int(np.linalg.matrix_rank(centred))
    if rank == features.shape[1]:
        return np.arange(rank)
    from scipy.linalg import qr

    return np.sort(qr(centred, mode="r", pivoting=True)[-1][:rank])


def nearest_centroid() -> "NearestCentroid":
    """Predict the class whose mean is nearest in Euclidean distance.

    Returns
    -------
    NearestCentroid
        Its score is the squared distance from the mean of the first class minus that from
        the mean of the second.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.nearest_centroid().name
    'nearest_centroid'
    """
    return NearestCentroid()


@dataclass(frozen=True)
class NearestCentroid(Discriminant):
    """Nearest class mean; made by `nearest_centroid`, or on features standardised in each set."""

    standardize: bool = False

    scale: ClassVar[Scale] = "discriminant"

    @property
    def name(self) -> str:
        """``nearest_centroid``."""
        return "nearest_centroid"

    def class_scores(self, scores: np.ndarray) -> np.ndarray:
        """How much farther the nearest other mean is, in squared distance."""
        return margins(scores)

    def prepare(self, sample: Sample) -> Moments:
        """Columns that all learning sets share."""
        features = median_centred(sample.matrix)
        squares = features**2 if self.standardize else np.empty((sample.n_obs, 0))
        return class_moments(sample, features, squares, with_constant(features))

    @property
    def _rules(self) -> tuple[Rules, bool]:
        return standardised_centroid_rules if self.standardize else centroid_rules, True
