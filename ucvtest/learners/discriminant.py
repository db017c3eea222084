"""Discriminant analysis, naive Bayes and nearest centroid, many learning sets at once.

Sizes, means and covariances of all classes in all learning sets are one matrix product, of
the learning sets (R, n) with columns that they share; the scores of all observations are
another.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np

from ucvtest.float64 import in_float64, jit, to_device, to_numpy
from ucvtest.kernels.linear_algebra import (
    SINGULAR,
    divisor,
    invert_positive_definite,
    products,
    quadratic_form,
    solve_positive_definite,
    symmetric,
)
from ucvtest.learners.base import (
    JittedLearner,
    Scale,
    class_members,
    clear_codes,
    median_centred,
    padded_rows,
    rows_for_cache,
)
from ucvtest.learners.blocks import codes_in_blocks
from ucvtest.learners.one_set import (
    LABELINGS,
    OPEN,
    WELL_CONDITIONED,
    product,
    replace_open_rows,
    whitened,
)
from ucvtest.losses import Output
from ucvtest.sample import Sample

__all__ = [
    "GaussianNaiveBayes",
    "LinearDiscriminant",
    "NearestCentroid",
    "Priors",
    "QuadraticDiscriminant",
    "gaussian_nb",
    "lda",
    "nearest_centroid",
    "qda",
]

Priors = Literal["empirical", "equal"]
PRIORS: tuple[Priors, ...] = ("empirical", "equal")

CACHE_NUMBERS = 2**18
"""Numbers that the matrices of one call may hold: about a processor's second-level cache."""

SMOOTHING = 1e-9
"""Share of the largest variance that naive Bayes adds to all."""

CAREFUL = 1e-6
"""Pivots below this share of their diagonal element lose more than eight digits."""

ROWS_PER_BLOCK = 128
"""Learning sets labelled at a time within one call."""

LEAST_ROWS = 32
"""Learning sets in one call, at least: the minor axis must fill the vector units."""


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
    divides by the degrees of freedom.

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
    in scikit-learn from 1.9 on; R's MASS::qda divides by n_k - 1. Every learning set must hold more
    observations of each class than there are features; where chance gives it fewer, the
    evaluation stops with an error that says so.

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


@dataclass(frozen=True, eq=False)
class Moments:
    """What all learning sets share; the N >= n observations of the arrays end with empty ones."""

    columns: Any
    """JAX array (N, K): indicators of the C classes, their products with the p features, and
    what else the method sums over learning sets."""
    terms: Any
    """JAX array (N, T): the terms of the scores as functions of x, the constant last."""
    n_classes: int
    n_features: int


@dataclass(frozen=True, eq=False)
class TotalScatter(Moments):
    """What all labelings of one learning set share besides, for linear discriminant analysis.

    Of two classes the scatter matrix within is that of the whole set minus one of rank one, that
    between: S_W = S_T - c d d' with the difference d of the means and c = n_0 n_1 / n. By the
    formula of Sherman and Morrison S_W^-1 d = S_T^-1 d / (1 - c d' S_T^-1 d), and there is
    nothing to invert but S_T.
    """

    learnt: Any
    """ndarray (n, p + 1): features with S_T = I and mean zero in the learning set, and the
    constant; zero for those not learnt from."""
    white: Any
    """ndarray (p + 1, n): the same of all observations."""
    size: int
    share: float
    """The smallest pivot of S_T as a share of its diagonal element."""

    def coefficients(self, labels: np.ndarray, equal: bool) -> tuple[np.ndarray, np.ndarray]:
        """What `white` is multiplied with for log-odds (R, p + 1), and the size of those (R, 1).

        NaN where S_W is nearly singular.
        """
        sums = product(labels, self.learnt)
        # The sum over both classes is zero.
        total, second = sums[:, :-1], sums[:, -1].copy()
        first, square = self.size - second, np.einsum("rk,rk->r", total, total)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.size / (first * second)
            within = 1.0 - ratio * square
            # No pivot of S_W is below this share of that of S_T.
            regular = self.share * within > WELL_CONDITIONED
            factor = np.where(regular, self.size * ratio / within, np.nan)
            constant = 0.5 * factor * square * (1.0 / first - 1.0 / second)
            if not equal:
                constant = constant + np.log(second / first)
        # White features of observations that are learnt from have a norm of at most one.
        largest = 1.0 + np.abs(constant) + factor * np.sqrt(square)
        total *= factor[:, None]
        sums[:, -1] = constant
        return sums, largest[:, None]


class Discriminant(JittedLearner):
    """A learner whose scores are functions of the classes' sums over a learning set."""

    multiclass: ClassVar[bool] = True

    @property
    @abstractmethod
    def _rules(self) -> tuple["Rules", bool]:
        """The rules, and whether all classes are equally probable beforehand."""

    @in_float64
    def scores(
        self, state: Moments, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Log-odds, or a difference of squared distances; for more classes one score each."""
        return _scores(*self._rules, state, learning, labels)

    def codes(
        self, state: Moments, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray | None:
        """Predicted codes of two classes; see `JittedLearner.codes`."""
        return _codes(*self._rules, state, learning, labels)


@dataclass(frozen=True)
class LinearDiscriminant(Discriminant):
    """Linear discriminant analysis; made by `lda`.

    A careful one gives NaN already where rounding errors could reach the eighth digit.
    """

    priors: Priors = "empirical"
    careful: bool = False

    scale: ClassVar[Scale] = "log_odds"
    no_solution: ClassVar[str] = (
        "the pooled covariance matrix of that learning set is singular: raise learn_size, drop "
        "columns that are nearly constant or nearly combinations of others, or use ridge"
    )

    def __post_init__(self) -> None:
        _check_priors(self.priors)

    @property
    def name(self) -> str:
        """``lda`` or ``lda:equal``."""
        return _name("lda", self.priors)

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also covariance matrices that are bound to be singular."""
        super().check(sample, output, learn_size)
        _check_rank(self.name, sample)
        needed = sample.matrix.shape[1] + sample.n_classes
        if learn_size < needed:
            raise ValueError(
                f"learner {self.name} needs learn_size >= {needed} (features plus classes), got "
                f"learn_size={learn_size}: raise it, use fewer features, or use ridge"
            )

    def rows_per_call(self, sample: Sample) -> int:
        """Fewer for more features, so that the matrices of one call stay in the cache."""
        fitting = rows_for_cache(sample.matrix.shape[1] ** 2, CACHE_NUMBERS, LEAST_ROWS)
        return min(super().rows_per_call(sample), fitting)

    def prepare(self, sample: Sample) -> Moments:
        """Columns that all learning sets share."""
        features = _standardised(sample.matrix)
        return _moments(sample, features, products(features), _with_constant(features))

    def labelings_per_call(self, sample: Sample) -> int:
        """Few, which are quick, for two classes."""
        most = super().labelings_per_call(sample)
        return min(most, LABELINGS) if sample.n_classes == 2 else most

    def prepare_labelings(self, state: Moments, learning: np.ndarray) -> Moments:
        """The total scatter matrix, which no labels change, for two classes."""
        features = to_numpy(state.terms)[: len(learning), :-1]
        found = whitened(features, learning) if state.n_classes == 2 else None
        if found is None:
            return state
        white, share = found
        terms = _with_constant(white)
        return TotalScatter(
            *(state.columns, state.terms, state.n_classes, state.n_features),
            learnt=terms * learning[:, None],
            white=np.ascontiguousarray(terms.T),
            size=int(learning.sum()),
            share=share,
        )

    @in_float64
    def scores(
        self, state: Moments, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Log-odds; discriminant scores where there are more than two classes."""
        if labels is None or not isinstance(state, TotalScatter):
            return super().scores(state, learning, labels)
        coefficients, largest = state.coefficients(labels, self.priors == "equal")
        each = partial(_scores, *self._rules, state, learning)
        scores = product(coefficients, state.white)
        return replace_open_rows(scores, self.cut, OPEN * largest[:, 0], labels, each)

    def codes(
        self, state: Moments, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray | None:
        """Predicted codes of two classes; see `JittedLearner.codes`."""
        if labels is not None and isinstance(state, TotalScatter):
            coefficients, largest = state.coefficients(labels, self.priors == "equal")
            return clear_codes(product(coefficients / largest, state.white), self.cut, OPEN)
        return super().codes(state, learning, labels)

    @property
    def _rules(self) -> tuple["Rules", bool]:
        return _careful_lda_rules if self.careful else _lda_rules, self.priors == "equal"


@dataclass(frozen=True)
class QuadraticDiscriminant(Discriminant):
    """Quadratic discriminant analysis; made by `qda`.

    A careful one gives NaN already where rounding errors could reach the eighth digit.
    """

    priors: Priors = "empirical"
    careful: bool = False

    scale: ClassVar[Scale] = "log_odds"
    no_solution: ClassVar[str] = (
        "the covariance matrix of a class in that learning set is singular, it needs more "
        "observations of each class than features: raise learn_size, use fewer features, or use "
        "lda"
    )

    def __post_init__(self) -> None:
        _check_priors(self.priors)

    @property
    def name(self) -> str:
        """``qda`` or ``qda:equal``."""
        return _name("qda", self.priors)

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also covariance matrices that are bound to be singular."""
        super().check(sample, output, learn_size)
        _check_rank(self.name, sample)
        needed = sample.n_classes * (sample.matrix.shape[1] + 1)
        if learn_size < needed:
            raise ValueError(
                f"learner {self.name} needs learn_size >= {needed} (features plus one, for each "
                f"class), got learn_size={learn_size}: raise it, use fewer features, or use lda"
            )

    def rows_per_call(self, sample: Sample) -> int:
        """Fewer for more features, so that the matrices of one call stay in the cache."""
        fitting = rows_for_cache(2 * sample.matrix.shape[1] ** 2, CACHE_NUMBERS, LEAST_ROWS)
        return min(super().rows_per_call(sample), fitting)

    def prepare(self, sample: Sample) -> Moments:
        """Columns that all learning sets share."""
        features = _standardised(sample.matrix)
        pairs = products(features)
        by_class = _by_class(class_members(sample), pairs)
        return _moments(sample, features, by_class, np.hstack([pairs, _with_constant(features)]))

    @property
    def _rules(self) -> tuple["Rules", bool]:
        return _careful_qda_rules if self.careful else _qda_rules, self.priors == "equal"


@dataclass(frozen=True)
class GaussianNaiveBayes(Discriminant):
    """Gaussian naive Bayes; made by `gaussian_nb`, or on features standardised in each set."""

    priors: Priors = "empirical"
    standardize: bool = False

    scale: ClassVar[Scale] = "log_odds"
    no_solution: ClassVar[str] = (
        "no feature varies in that learning set: raise learn_size, or drop columns that are "
        "nearly constant"
    )

    def __post_init__(self) -> None:
        _check_priors(self.priors)

    @property
    def name(self) -> str:
        """``gaussian_nb`` or ``gaussian_nb:equal``."""
        return _name("gaussian_nb", self.priors)

    def prepare(self, sample: Sample) -> Moments:
        """Columns that all learning sets share."""
        # Not scaled: what is added to the variances depends on the units of the features.
        features = median_centred(sample.matrix)
        squares = features**2
        by_class = _by_class(class_members(sample), squares)
        return _moments(sample, features, by_class, np.hstack([squares, _with_constant(features)]))

    @property
    def _rules(self) -> tuple["Rules", bool]:
        rules = _standardised_naive_bayes_rules if self.standardize else _naive_bayes_rules
        return rules, self.priors == "equal"


@dataclass(frozen=True)
class NearestCentroid(Discriminant):
    """Nearest class mean; made by `nearest_centroid`, or on features standardised in each set."""

    standardize: bool = False

    scale: ClassVar[Scale] = "discriminant"

    @property
    def name(self) -> str:
        """``nearest_centroid``."""
        return "nearest_centroid"

    def prepare(self, sample: Sample) -> Moments:
        """Columns that all learning sets share."""
        features = median_centred(sample.matrix)
        squares = features**2 if self.standardize else np.empty((sample.n_obs, 0))
        return _moments(sample, features, squares, _with_constant(features))

    @property
    def _rules(self) -> tuple["Rules", bool]:
        return _standardised_centroid_rules if self.standardize else _centroid_rules, True


def _check_priors(priors: str) -> None:
    if priors not in PRIORS:
        raise ValueError(f"priors={priors!r} is unknown: use one of {', '.join(PRIORS)}")


def _name(method: str, priors: Priors) -> str:
    return method if priors == "empirical" else f"{method}:{priors}"


def _check_rank(name: str, sample: Sample) -> None:
    n_features = sample.matrix.shape[1]
    standardised = _standardised(sample.matrix)
    rank = int(np.linalg.matrix_rank(standardised - standardised.mean(axis=0)))
    if rank < n_features:
        raise ValueError(
            f"learner {name} needs linearly independent columns, but the {n_features} columns of "
            f"X, centred, have rank {rank}: drop columns that are constant or combinations of "
            "others, raise the number of observations, or use ridge"
        )


# --------------------------------------------------------------------- what all fits share


def _standardised(matrix: np.ndarray) -> np.ndarray:
    """Centre and scale the columns: it changes rounding errors, but not the rules."""
    spread = matrix.std(axis=0)
    return median_centred(matrix) / np.where(spread > 0, spread, 1.0)


def _by_class(members: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The columns of each class in turn, zero for observations of the others: (n, C K)."""
    return (members[:, :, None] * columns[:, None, :]).reshape(len(columns), -1)


def _with_constant(features: np.ndarray) -> np.ndarray:
    return np.hstack([features, np.ones((len(features), 1))])


def _moments(
    sample: Sample, features: np.ndarray, second: np.ndarray, terms: np.ndarray
) -> Moments:
    members = class_members(sample)
    columns = np.hstack([members, _by_class(members, features), second])
    columns, terms = to_device((padded_rows(columns), padded_rows(terms)))
    return Moments(columns, terms, sample.n_classes, features.shape[1])


# --------------------------------------------------------------------------------- jitted

Rules = Callable[[jax.Array, jax.Array, jax.Array, jax.Array], jax.Array]
"""From the sizes (C, R) and means (C, p, R) of the classes, further sums (K', R) and the log
priors (C, R) to the coefficients of the terms, (C, T, R)."""


def _scores(
    rules: Rules,
    equal: bool,
    state: Moments,
    learning: np.ndarray,
    labels: np.ndarray | None,
) -> np.ndarray:
    scores = _jitted_scores(*_arguments(rules, equal, state, learning, labels))
    return np.asarray(scores)[:, : learning.shape[1]]


@in_float64
def _codes(
    rules: Rules,
    equal: bool,
    state: Moments,
    learning: np.ndarray,
    labels: np.ndarray | None,
) -> np.ndarray | None:
    if state.n_classes > 2 or labels is not None:
        return None
    n_obs = learning.shape[1]
    codes, open_ = _jitted_codes(*_arguments(rules, equal, state, learning, None), n_obs)
    return None if open_ else np.asarray(codes)[:, :n_obs]


def _arguments(
    rules: Rules, equal: bool, state: Moments, learning: np.ndarray, labels: np.ndarray | None
) -> tuple[Any, ...]:
    padded = padded_rows(learning, axis=1)
    other = None if labels is None else padded_rows(labels, axis=1)
    shape = (state.n_classes, state.n_features, equal)
    return (rules, state.columns, state.terms, padded, other, *shape)


@partial(jit, static_argnums=(0, 5, 6, 7))
def _jitted_codes(*arguments: Any) -> tuple[jax.Array, jax.Array]:
    """Which scores are positive, and whether some are neither that nor negative."""
    rules, columns, terms, learning, _, *shape, n_obs = arguments

    def scores(rows: jax.Array) -> jax.Array:
        return _all_scores(rules, columns, terms, rows, None, *shape)

    return codes_in_blocks(scores, learning, ROWS_PER_BLOCK, 0.0, n_obs)


def _all_scores(
    rules: Rules,
    columns: jax.Array,
    terms: jax.Array,
    learning: jax.Array,
    labels: jax.Array | None,
    n_classes: int,
    n_features: int,
    equal: bool,
) -> jax.Array:
    weights = learning.astype(columns.dtype)
    if labels is None:
        sums = _sums(columns, weights)
    else:
        sums = _relabelled_sums(columns, terms, weights, labels, n_classes, n_features)
    first, second = n_classes, n_classes * (1 + n_features)
    size = sums[:first]
    mean = sums[first:second].reshape(n_classes, n_features, -1) / _at_least_one(size)[:, None]
    # An absent class gets minus infinity here, and so as its score.
    prior = (size > 0).astype(columns.dtype) if equal else size
    log_prior = jnp.log(prior / prior.sum(axis=0))
    coefficients = rules(size, mean, sums[second:], log_prior)
    if n_classes > 2:
        return jnp.einsum("ctr,nt->rnc", coefficients, terms, precision="highest")
    contrast = coefficients[1] - coefficients[0]
    return jnp.einsum("tr,nt->rn", contrast, terms, precision="highest")


_jitted_scores = partial(jit, static_argnums=(0, 5, 6, 7))(_all_scores)


def _sums(columns: jax.Array, weights: jax.Array) -> jax.Array:
    """Sums (K, R) of columns (N, K) over the observations of learning sets (R, N)."""
    return jnp.einsum("nk,rn->kr", columns, weights, precision="highest")


def _relabelled_sums(
    columns: jax.Array,
    terms: jax.Array,
    weights: jax.Array,
    labels: jax.Array,
    n_classes: int,
    n_features: int,
) -> jax.Array:
    """The sums of `columns` (K, R) as they are when set r has the classes of row r (R, N).

    What is summed over all classes needs no labels, and one sum where one set is common.
    """
    n_sets = labels.shape[0]
    members = [weights * (labels == code) for code in range(n_classes)]
    n_second = terms.shape[1] - n_features - 1
    each = jnp.stack([_sums(terms, member) for member in members])
    size, first, by_class = each[:, -1], each[:, n_second:-1], each[:, :n_second]
    parts = [size, first.reshape(-1, n_sets), by_class.reshape(-1, n_sets)]
    if not n_second:
        pooled = _sums(columns[:, n_classes * (1 + n_features) :], weights)
        parts.append(jnp.broadcast_to(pooled, (pooled.shape[0], n_sets)))
    return jnp.concatenate(parts)


def _covariance(
    second: jax.Array, between: jax.Array, size: jax.Array, n_features: int, singular: float
) -> jax.Array:
    """Covariance matrices (p, p, R); NaN where a variance is a rounding error of its mean square.

    What is left of a constant column can be anything, so that no comparison with itself tells.
    """
    i, j = np.triu_indices(n_features)
    squares = np.flatnonzero(i == j)
    packed = second - between
    varies = (packed[squares] > singular * second[squares]).all(axis=0)
    return symmetric(jnp.where(varies, packed / size, jnp.nan), n_features)


def _lda_rules(
    size: jax.Array,
    mean: jax.Array,
    second: jax.Array,
    log_prior: jax.Array,
    singular: float = SINGULAR,
) -> jax.Array:
    n_features = mean.shape[1]
    between = sum(n * _products_of_rows(m) for n, m in zip(size, mean, strict=True))
    covariance = _covariance(second, between, size.sum(axis=0), n_features, singular)
    slope = solve_positive_definite(covariance, jnp.swapaxes(mean, 0, 1), singular)
    slope = jnp.swapaxes(slope, 0, 1)
    constant = log_prior - 0.5 * (slope * mean).sum(axis=1)
    return jnp.concatenate([slope, constant[:, None]], axis=1)


def _qda_rules(
    size: jax.Array,
    mean: jax.Array,
    second: jax.Array,
    log_prior: jax.Array,
    singular: float = SINGULAR,
) -> jax.Array:
    n_classes, n_features, n_sets = mean.shape
    # All classes of all sets side by side: one inversion to compile, not one for each class.
    n, means = size.reshape(-1), _side_by_side(mean)
    sums = _side_by_side(second.reshape(n_classes, -1, n_sets))
    covariance = _covariance(sums, n * _products_of_rows(means), n, n_features, singular)
    # An absent class must not turn the scores of the others into NaN.
    identity = jnp.eye(n_features, dtype=mean.dtype)[:, :, None]
    covariance = jnp.where(n > 0, covariance, identity)
    precision, log_determinant = invert_positive_definite(covariance, singular)
    slope = (precision * means).sum(axis=1)
    constant = log_prior.reshape(-1) - 0.5 * (log_determinant + (slope * means).sum(axis=0))
    coefficients = jnp.concatenate([-0.5 * quadratic_form(precision), slope, constant[None]])
    return jnp.swapaxes(coefficients.reshape(-1, n_classes, n_sets), 0, 1)


def _side_by_side(by_class: jax.Array) -> jax.Array:
    """Arrays (C, K, R) as (K, C R)."""
    return jnp.swapaxes(by_class, 0, 1).reshape(by_class.shape[1], -1)


def _naive_bayes_rules(
    size: jax.Array,
    mean: jax.Array,
    second: jax.Array,
    log_prior: jax.Array,
    standardize: bool = False,
) -> jax.Array:
    squares = second.reshape(mean.shape)
    mean_square, overall_mean = _overall_moments(size, mean, squares.sum(axis=0))
    largest = (mean_square - overall_mean**2).max(axis=0)
    added = SMOOTHING * (divisor(mean_square, overall_mean) if standardize else largest)
    variance = squares / _at_least_one(size)[:, None] - mean**2 + added
    # Rounding may leave a variance of zero just above or below it.
    variance = jnp.where(largest > 0, jnp.maximum(variance, added), jnp.nan)
    curve = -0.5 / variance
    slope = mean / variance
    constant = log_prior - 0.5 * (jnp.log(variance) + mean * slope).sum(axis=1)
    return jnp.concatenate([curve, slope, constant[:, None]], axis=1)


def _centroid_rules(
    size: jax.Array,
    mean: jax.Array,
    second: jax.Array,
    log_prior: jax.Array,
    standardize: bool = False,
) -> jax.Array:
    slope = mean
    if standardize:
        slope = mean / divisor(*_overall_moments(size, mean, second))
    constant = jnp.where(size > 0, -(slope * mean).sum(axis=1), -jnp.inf)
    return jnp.concatenate([2.0 * slope, constant[:, None]], axis=1)


# Made once: a rule is part of the key under which its compilation is found again.
_careful_lda_rules = partial(_lda_rules, singular=CAREFUL)
_careful_qda_rules = partial(_qda_rules, singular=CAREFUL)
_standardised_naive_bayes_rules = partial(_naive_bayes_rules, standardize=True)
_standardised_centroid_rules = partial(_centroid_rules, standardize=True)


def _overall_moments(
    size: jax.Array, mean: jax.Array, squares: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Mean squares and means (p, R) in the whole learning sets, from sums of squares."""
    total = size.sum(axis=0)
    return squares / total, (size[:, None] * mean).sum(axis=0) / total


def _at_least_one(size: jax.Array) -> jax.Array:
    return jnp.maximum(size, 1.0)


def _products_of_rows(vectors: jax.Array) -> jax.Array:
    """Products of all pairs of rows i <= j, in the order of `products`."""
    i, j = np.triu_indices(vectors.shape[0])
    return vectors[i] * vectors[j]
