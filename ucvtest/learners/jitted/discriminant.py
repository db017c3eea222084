"""Discriminant analysis, naive Bayes and nearest centroid, from the moments of the classes."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import logsumexp

from ucvtest.common.execution import row_batches
from ucvtest.common.float64 import jax, jnp, to_numpy
from ucvtest.common.words import arg
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import Scale, margins
from ucvtest.learners.batching import median_centred
from ucvtest.learners.runner import Data, MappedLearner, State
from ucvtest.learners.solvers.linear_algebra import (
    CONSTANT,
    divisor,
    inverted,
    products,
    solved,
    symmetric,
    taken,
    with_constant,
)

Priors = Literal["empirical", "equal"]

SMOOTHING = 1e-9
"""Share of the largest variance that naive Bayes adds to all."""

LEAST_SPREAD = 1e-4
"""Standard deviation, in those of the features, of a direction that is dropped: scikit-learn's."""

MOST_NUMBERS = 500_000
"""Numbers of the residuals of singular learning sets that are in memory at a time."""


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


@dataclass(frozen=True)
class Discriminant(MappedLearner):
    """A learner whose scores are linear in terms of x, with coefficients from class moments."""

    multiclass: ClassVar[bool] = True
    indicators: ClassVar[bool] = True

    def sums(self, data: Data, w: jax.Array, columns: Any) -> jax.Array:
        """Sums (C, K) of columns (n, K) over the members of each class."""
        if self.relabeled:
            return (w[:, None] * data.y).T @ columns
        # The columns of each class are the same for all learning sets.
        split = (data.y[:, :, None] * columns[:, None]).reshape(len(w), -1)
        return (w @ split).reshape(data.y.shape[1], -1)

    def moments(
        self, data: Data, w: jax.Array, terms: jax.Array
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Sizes (C,) and means (C, p) of the classes, and sums of terms before x and a constant."""
        sums = self.sums(data, w, terms)
        place = terms.shape[1] - 1 - data.x.shape[1]
        mean = sums[:, place:-1] / jnp.maximum(sums[:, -1:], 1.0)
        return sums[:, -1], mean, sums[:, :place]


@dataclass(frozen=True)
class WithPriors(Discriminant):
    """Normal classes with the shares in the learning set, or equal ones, as probabilities."""

    priors: Priors = "empirical"

    arguments: ClassVar[tuple[str, ...]] = ("priors",)
    scale: ClassVar[Scale] = "log_odds"

    def class_scores(self, scores: np.ndarray) -> np.ndarray:
        """Log-odds of each class against all others, which do not end at 0 and 1."""
        log_other_classes = [
            logsumexp(np.delete(scores, code, axis=2), axis=2) for code in range(scores.shape[2])
        ]
        return scores - np.stack(log_other_classes, axis=2)

    def log_prior(self, size: Any) -> Any:
        """Logarithms of the probabilities of the classes, minus infinity for absent ones."""
        prior = (size > 0) * 1.0 if self.priors == "equal" else size
        return jnp.log(prior / prior.sum())


@dataclass(frozen=True)
class WithCovariances(WithPriors):
    """Normal classes with covariance matrices, which in a learning set may be singular.

    One that stands for an estimator leaves singular sets to it.
    """

    matrices: ClassVar[int]
    """Matrices of one learning set that are in use at a time."""
    pooled: ClassVar[bool]
    """Whether all classes have one covariance matrix."""
    counted: ClassVar[str]
    """What the smallest learning set is made of, in words."""
    instead: ClassVar[str]
    """The learner that does with fewer observations."""

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
            f"combinations of others, as all dummies of a factor are; {self.family} leaves them "
            "out, which changes no prediction."
        )

    def _rank(self, sample: Sample) -> int:
        """The number of linearly independent columns."""
        return len(_independent_places(standardised_features(sample.matrix)))

    def share(self, sample: Sample) -> Data:
        """The columns in standard units, without those that are combinations of others.

        Rules of normal classes are the same for every basis of the columns, also where a learning
        set is singular within classes: what depends on others in the sample does so in all of them.
        """
        features = standardised_features(sample.matrix)
        places = _independent_places(features)
        independent = features if len(places) == features.shape[1] else features[:, places]
        return Data(independent, sample.target)

    def matrix_numbers(self, sample: Sample) -> int:
        """Those of the covariance matrices."""
        return int(self.matrices * sample.matrix.shape[1] ** 2)

    def covariance(self, sums: jax.Array, size: jax.Array, mean: jax.Array) -> jax.Array:
        """Covariance matrix (p, p) of classes with sizes (C,) and means (C, p).

        NaN where a variance is a rounding error of its mean square: the rounding error that is left
        of a constant column cannot be recognised by its own size.
        """
        i, j = np.triu_indices(mean.shape[1])
        packed = sums - (size[:, None] * products(mean)).sum(axis=0)
        squares = np.flatnonzero(i == j)
        varies = (taken(packed, squares) > self.singular * taken(sums, squares)).all()
        return symmetric(jnp.where(varies, packed / size.sum(), jnp.nan), mean.shape[1])

    def fit_again(
        self, state: State, learning: np.ndarray, labels: np.ndarray | None
    ) -> np.ndarray | None:
        """Scores by the rule of singular learning sets."""
        if self.careful:
            return None
        n_obs = learning.shape[1]
        x, indicators = (to_numpy(array)[:n_obs] for array in (state.data.x, state.data.y))
        codes = np.arange(state.n_classes)
        members = indicators if labels is None else labels[:, :, None] == codes
        members = learning[:, :, None] * members
        scores = np.concatenate(
            [
                self._singular_scores(x, members[rows])
                for rows in row_batches(len(members), x.size, MOST_NUMBERS)
            ]
        )
        return scores if state.n_classes > 2 else scores[:, :, 1] - scores[:, :, 0]

    def _singular_scores(self, x: np.ndarray, members: np.ndarray) -> np.ndarray:
        """Scores (R, n, C) without directions in which a matrix is singular.

        As scikit-learn's LinearDiscriminantAnalysis with its solver "svd": features are divided by
        their standard deviations within classes, and directions in which the standard deviation
        that is left is at most `LEAST_SPREAD` are dropped. Densities can only be compared in the
        same directions, so one dropped for one class is dropped for all. `members` (R, n, C) mark
        who is learnt from.
        """
        size = members.sum(axis=1)
        mean = members.swapaxes(1, 2) @ x / np.maximum(size, 1.0)[:, :, None]
        total, learnt = size.sum(axis=1)[:, None], members.sum(axis=2)
        residual = (x - members @ mean) * learnt[:, :, None]
        variance = (residual**2).sum(axis=1) / total
        varies = variance > CONSTANT * (learnt @ x**2) / total
        # The remainder of a constant column is only rounding error.
        scale = np.where(varies, np.sqrt(variance), np.inf)[:, None]
        residual /= scale
        who = learnt[:, :, None] if self.pooled else members
        matrices = [
            (residual * who[:, :, [c]]).swapaxes(1, 2)
            @ residual
            / np.maximum(who[:, :, c].sum(axis=1), 1.0)[:, None, None]
            for c in range(who.shape[2])
        ]
        axes, is_dropped = _directions(matrices, who.sum(axis=1) > 0)
        # A variance of one in dropped directions, where all distances are zero.
        filling = np.eye(x.shape[1]) * is_dropped[:, None]
        prior = (size > 0) * 1.0 if self.priors == "equal" else size
        with np.errstate(divide="ignore"):
            scores = np.log(prior / prior.sum(axis=1, keepdims=True))[:, None].repeat(
                len(x), axis=1
            )
        for c in range(members.shape[2]):
            matrix = matrices[0 if self.pooled else c]
            present = (size[:, c] > 0)[:, None, None]
            inside = np.where(
                present, axes.swapaxes(1, 2) @ matrix @ axes + filling, np.eye(len(x[0]))
            )
            distance = ((x - mean[:, [c]]) / scale) @ axes
            scaled = np.linalg.solve(inside, distance.swapaxes(1, 2)).swapaxes(1, 2)
            log_determinant = np.linalg.slogdet(inside)[1][:, None]
            scores[:, :, c] -= 0.5 * (log_determinant + (distance * scaled).sum(axis=2))
        return scores


@dataclass(frozen=True)
class LinearDiscriminant(WithCovariances):
    """Linear discriminant analysis; made by `lda`."""

    family: ClassVar[str] = "lda"
    matrices: ClassVar[int] = 1
    pooled: ClassVar[bool] = True
    counted: ClassVar[str] = "features plus classes"
    instead: ClassVar[str] = "ridge"

    def _least(self, n_features: int, n_classes: int) -> int:
        return n_features + n_classes

    def labelings_per_call(self, sample: Sample) -> int:
        """Many for two classes, which share the total scatter matrix."""
        return self.most_labelings(sample) if sample.n_classes == 2 else self.rows_per_call(sample)

    def fit(self, data: Data, w: jax.Array) -> jax.Array:
        """Log-odds; discriminant scores where there are more than two classes."""
        squares = w @ products(data.x)
        if self.one_set and data.y.shape[1] == 2:
            return self._relabeled(data, w, squares)
        terms = with_constant(data.x)
        size, mean, _ = self.moments(data, w, terms)
        matrix = self.covariance(squares, size, mean)
        slope = solved(matrix, mean.T, self.singular).T
        constant = self.log_prior(size) - 0.5 * (slope * mean).sum(axis=1)
        coefficients = jnp.concatenate([slope, constant[:, None]], axis=1)
        return scores_of(coefficients, terms)

    def _relabeled(self, data: Data, w: jax.Array, squares: jax.Array) -> jax.Array:
        """The same from the total scatter matrix, which no labels of one learning set change.

        The scatter matrix within two classes is that of the whole set minus the rank-one matrix
        between classes: S_W = S_T - c d d' with the difference d of the means and c = n_0 n_1 / n.
        By the formula of Sherman and Morrison, S_W^-1 d = S_T^-1 d / (1 - c d' S_T^-1 d).
        """
        x, y, n = data.x, data.y[:, 1], w.sum()
        size, total, second_total = w @ y, w @ x, (w * y) @ x
        matrix = self.covariance(squares, n[None], total[None] / n) * n
        first, second = (total - second_total) / (n - size), second_total / size
        direction = solved(matrix, (second - first)[:, None], self.singular)[:, 0]
        left = 1.0 - size * (n - size) / n * (second - first) @ direction
        slope = n * direction / jnp.where(left > self.singular, left, jnp.nan)
        prior = self.log_prior(jnp.stack([n - size, size]))
        return slope @ x.T + (prior[1] - prior[0] - 0.5 * (first + second) @ slope)


@dataclass(frozen=True)
class QuadraticDiscriminant(WithCovariances):
    """Quadratic discriminant analysis; made by `qda`."""

    family: ClassVar[str] = "qda"
    matrices: ClassVar[int] = 2
    pooled: ClassVar[bool] = False
    counted: ClassVar[str] = "features plus one, for each class"
    instead: ClassVar[str] = "lda"
    block: ClassVar[int] = 64

    def _least(self, n_features: int, n_classes: int) -> int:
        return n_classes * (n_features + 1)

    def fit(self, data: Data, w: jax.Array) -> jax.Array:
        """Log-odds; logarithms of densities where there are more than two classes."""
        terms = jnp.concatenate([products(data.x), with_constant(data.x)], axis=1)
        size, mean, sums = self.moments(data, w, terms)
        matrices = jax.vmap(self.covariance)(sums, size[:, None], mean[:, None])
        # An absent class must not turn the scores of the others into NaN.
        matrices = jnp.where(size[:, None, None] > 0, matrices, jnp.eye(mean.shape[1]))
        inverses, log_determinants = jax.vmap(partial(inverted, singular=self.singular))(matrices)
        slope = jnp.einsum("cij,cj->ci", inverses, mean)
        constant = self.log_prior(size) - 0.5 * (log_determinants + (slope * mean).sum(axis=1))
        i, j = np.triu_indices(mean.shape[1])
        upper = taken(inverses.reshape(len(inverses), -1), i * mean.shape[1] + j, axis=1)
        curve = upper * np.where(i == j, -0.5, -1.0)
        coefficients = jnp.concatenate([curve, slope, constant[:, None]], axis=1)
        return scores_of(coefficients, terms)


@dataclass(frozen=True)
class GaussianNaiveBayes(WithPriors):
    """Gaussian naive Bayes; made by `gaussian_nb`, or on features standardised in each set."""

    standardize: bool = False

    family: ClassVar[str] = "gaussian_nb"
    no_solution: ClassVar[str] = (
        "no feature varies in that learning set: learn from more, or drop columns that are nearly "
        "constant"
    )

    def share(self, sample: Sample) -> Data:
        """The features, not scaled: the addition to the variances depends on their units."""
        return Data(median_centred(sample.matrix), sample.target)

    def fit(self, data: Data, w: jax.Array) -> jax.Array:
        """Log-odds; logarithms of densities where there are more than two classes."""
        terms = jnp.concatenate([data.x**2, with_constant(data.x)], axis=1)
        size, mean, squares = self.moments(data, w, terms)
        mean_square, overall = squares.sum(axis=0) / w.sum(), size @ mean / w.sum()
        largest = (mean_square - overall**2).max()
        added = SMOOTHING * (divisor(mean_square, overall) if self.standardize else largest)
        variance = squares / jnp.maximum(size, 1.0)[:, None] - mean**2 + added
        # Rounding may leave a variance of zero just above or below it.
        variance = jnp.where(largest > 0, jnp.maximum(variance, added), jnp.nan)
        slope = mean / variance
        constant = self.log_prior(size) - 0.5 * (jnp.log(variance) + mean * slope).sum(axis=1)
        coefficients = jnp.concatenate([-0.5 / variance, slope, constant[:, None]], axis=1)
        return scores_of(coefficients, terms)


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

    family: ClassVar[str] = "nearest_centroid"
    scale: ClassVar[Scale] = "discriminant"

    def class_scores(self, scores: np.ndarray) -> np.ndarray:
        """How much farther the nearest other mean is, in squared distance."""
        return margins(scores)

    def share(self, sample: Sample) -> Data:
        """The features."""
        return Data(median_centred(sample.matrix), sample.target)

    def fit(self, data: Data, w: jax.Array) -> jax.Array:
        """Squared distances from the class means, their common part left out."""
        terms = with_constant(data.x)
        size, mean, _ = self.moments(data, w, terms)
        slope = mean
        if self.standardize:
            slope = mean / divisor(w @ data.x**2 / w.sum(), size @ mean / w.sum())
        constant = jnp.where(size > 0, -(slope * mean).sum(axis=1), -jnp.inf)
        coefficients = jnp.concatenate([2.0 * slope, constant[:, None]], axis=1)
        return scores_of(coefficients, terms)


def standardised_features(matrix: np.ndarray) -> np.ndarray:
    """Centre and scale the columns: it changes rounding errors, but not the rules."""
    spread = matrix.std(axis=0)
    return median_centred(matrix) / np.where(spread > 0, spread, 1.0)


def scores_of(coefficients: jax.Array, terms: jax.Array) -> jax.Array:
    """Scores of rules (C, T) that are linear in terms (n, T): for two classes the difference."""
    if len(coefficients) == 2:
        return (coefficients[1] - coefficients[0]) @ terms.T
    return (coefficients @ terms.T).T


def _independent_places(features: np.ndarray) -> np.ndarray:
    """Columns, in their order, such that none is a combination of the others and a constant."""
    centred = features - features.mean(axis=0)
    rank = int(np.linalg.matrix_rank(centred))
    if rank == features.shape[1]:
        return np.arange(rank)
    from scipy.linalg import qr

    return np.sort(qr(centred, mode="r", pivoting=True)[-1][:rank])


def _directions(matrices: list[np.ndarray], present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal directions (R, p, p) in which all matrices vary, others zero; which (R, p) are.

    `present` (R, C) says which matrices count.
    """
    dropped = np.zeros_like(matrices[0])
    # By NumPy: LAPACK calls inside a jitted graph can deadlock XLA on the CPU.
    for matrix, counts in zip(matrices, present.T, strict=True):
        variances, axes = np.linalg.eigh(matrix)
        null = axes * ((variances <= LEAST_SPREAD**2) & counts[:, None])[:, None]
        dropped += null @ null.swapaxes(1, 2)
    shares, axes = np.linalg.eigh(dropped)
    is_dropped = shares > LEAST_SPREAD**2
    return axes * ~is_dropped[:, None], is_dropped
