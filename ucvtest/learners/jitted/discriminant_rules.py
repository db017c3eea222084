"""Discriminant rules, many learning sets at once, from the sums of every class in each set.

`class_moments` makes the columns that all learning sets share; their sums over a set give its
rules, and those the scores of all observations, or the labels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ucvtest.common.float64 import in_float64, jax, jit, jnp, to_device
from ucvtest.data.sample import Sample
from ucvtest.learners.base import class_members
from ucvtest.learners.batching import Margin, median_centred, padded_rows
from ucvtest.learners.jitted.many_labelings import WELL_CONDITIONED, product
from ucvtest.learners.jitted.padded_blocks import labels_in_blocks
from ucvtest.learners.solvers.linear_algebra import (
    CAREFUL,
    SINGULAR,
    divisor,
    invert_positive_definite,
    quadratic_form,
    solve_positive_definite,
    symmetric,
)

SMOOTHING = 1e-9
"""Share of the largest variance that naive Bayes adds to all."""

ROWS_PER_BLOCK = 128
"""Learning sets labeled at a time within one call."""

Rules = Callable[[jax.Array, jax.Array, jax.Array, jax.Array], jax.Array]
"""From the sizes (C, R) and means (C, p, R) of the classes, further sums (K', R) and the log
priors (C, R) to the coefficients of the terms, (C, T, R)."""


# --------------------------------------------------------------------- what all learning sets share


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
    """Further common parts of all labelings of one learning set, for linear discriminants.

    For two classes, the scatter matrix within classes is that of the whole set minus the rank-one
    matrix between classes: S_W = S_T - c d d' with the difference d of the means and c = n_0 n_1 /
    n. By the formula of Sherman and Morrison, S_W^-1 d = S_T^-1 d / (1 - c d' S_T^-1 d), so only
    S_T has to be inverted.
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
            within_class_share = 1.0 - ratio * square
            # No pivot of S_W is below this share of that of S_T.
            regular = self.share * within_class_share > WELL_CONDITIONED
            factor = np.where(regular, self.size * ratio / within_class_share, np.nan)
            constant = 0.5 * factor * square * (1.0 / first - 1.0 / second)
            if not equal:
                constant = constant + np.log(second / first)
        # White features of observations that are learnt from have a norm of at most one.
        largest = 1.0 + np.abs(constant) + factor * np.sqrt(square)
        total *= factor[:, None]
        sums[:, -1] = constant
        return sums, largest[:, None]


def class_moments(
    sample: Sample, features: np.ndarray, second: np.ndarray, terms: np.ndarray
) -> Moments:
    """What all learning sets share; the rules need sums of `second`; the last term is constant."""
    members = class_members(sample)
    columns = np.hstack([members, split_by_class(members, features), second])
    columns, terms = to_device((padded_rows(columns), padded_rows(terms)))
    return Moments(columns, terms, sample.n_classes, features.shape[1])


def standardised_features(matrix: np.ndarray) -> np.ndarray:
    """Centre and scale the columns: it changes rounding errors, but not the rules."""
    spread = matrix.std(axis=0)
    return median_centred(matrix) / np.where(spread > 0, spread, 1.0)


def split_by_class(members: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The columns once for each class, zero for observations of the others: (n, C K)."""
    return (members[:, :, None] * columns[:, None, :]).reshape(len(columns), -1)


def with_constant(features: np.ndarray) -> np.ndarray:
    """The features with a column of ones."""
    return np.hstack([features, np.ones((len(features), 1))])


# -------------------------------------------------------------------------------- scores and labels


def scores_of_rules(
    rules: Rules,
    equal: bool,
    state: Moments,
    learning: np.ndarray,
    labels: np.ndarray | None,
) -> np.ndarray:
    """Scores by the rule of every learning set: (R, n) for two classes, else (R, n, C).

    For two classes that of the second minus that of the first. `equal`: all classes are equally
    probable beforehand. `labels` (R, n) are learnt from in the place of the sample's own.
    """
    scores = _jitted_scores(*_arguments(rules, equal, state, learning, labels))
    return np.asarray(scores)[:, : learning.shape[1]]


@in_float64
def labels_of_rules(
    rules: Rules,
    equal: bool,
    state: Moments,
    learning: np.ndarray,
    labels: np.ndarray | None,
    margin: Margin | None,
) -> np.ndarray | None:
    """Labels 0 and 1 that the rule of every learning set predicts, (R, n), as small integers.

    None for more than two classes, for other labels than the sample's own, or where a score is
    zero, within the margin of zero, or NaN; see `scores_of_rules`.
    """
    if state.n_classes > 2 or labels is not None:
        return None
    n_obs = learning.shape[1]
    arguments = _arguments(rules, equal, state, learning, None)
    predicted, is_undecided = _jitted_labels(*arguments, n_obs, margin)
    return None if is_undecided else np.asarray(predicted)[:, :n_obs]


def _arguments(
    rules: Rules, equal: bool, state: Moments, learning: np.ndarray, labels: np.ndarray | None
) -> tuple[Any, ...]:
    padded = padded_rows(learning, axis=1)
    other = None if labels is None else padded_rows(labels, axis=1)
    shape = (state.n_classes, state.n_features, equal)
    return (rules, state.columns, state.terms, padded, other, *shape)


@partial(jit, static_argnums=(0, 5, 6, 7))
def _jitted_labels(*arguments: Any) -> tuple[jax.Array, jax.Array]:
    """Which scores are positive, and whether some score is neither positive nor negative."""
    rules, columns, terms, learning, _, *shape, n_obs, margin = arguments

    widest = jnp.abs(terms).max(axis=0)

    def scores(rows: jax.Array) -> tuple[jax.Array, jax.Array]:
        coefficients = _all_coefficients(rules, columns, terms, rows, None, *shape)
        contrast = coefficients[1] - coefficients[0]
        return _scores_of_two(contrast, terms), jnp.abs(contrast * widest[:, None]).sum(axis=0)

    return labels_in_blocks(scores, learning, ROWS_PER_BLOCK, 0.0, n_obs, margin)


def _all_coefficients(
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
        sums = _relabeled_sums(columns, terms, weights, labels, n_classes, n_features)
    first, second = n_classes, n_classes * (1 + n_features)
    size = sums[:first]
    mean = sums[first:second].reshape(n_classes, n_features, -1) / _at_least_one(size)[:, None]
    # An absent class gets minus infinity here, and so as its score.
    prior = (size > 0).astype(columns.dtype) if equal else size
    log_prior = jnp.log(prior / prior.sum(axis=0))
    return rules(size, mean, sums[second:], log_prior)


def _scores_of_two(contrast: jax.Array, terms: jax.Array) -> jax.Array:
    return jnp.einsum("tr,nt->rn", contrast, terms, precision="highest")


@partial(jit, static_argnums=(0, 5, 6, 7))
def _jitted_scores(*arguments: Any) -> jax.Array:
    """Scores (R, N) for two classes, else (R, N, C)."""
    coefficients, terms = _all_coefficients(*arguments), arguments[2]
    if len(coefficients) > 2:
        return jnp.einsum("ctr,nt->rnc", coefficients, terms, precision="highest")
    return _scores_of_two(coefficients[1] - coefficients[0], terms)


def _sums(columns: jax.Array, weights: jax.Array) -> jax.Array:
    """Sums (K, R) of columns (N, K) over the observations of learning sets (R, N)."""
    return jnp.einsum("nk,rn->kr", columns, weights, precision="highest")


def _relabeled_sums(
    columns: jax.Array,
    terms: jax.Array,
    weights: jax.Array,
    labels: jax.Array,
    n_classes: int,
    n_features: int,
) -> jax.Array:
    """The sums of `columns` (K, R) as they are when set r has the classes of row r (R, N).

    Sums over all classes do not need labels, and a common set needs one sum only.
    """
    n_sets = labels.shape[0]
    members = [weights * (labels == code) for code in range(n_classes)]
    n_second = terms.shape[1] - n_features - 1
    class_sums = jnp.stack([_sums(terms, member) for member in members])
    size, first, by_class = class_sums[:, -1], class_sums[:, n_second:-1], class_sums[:, :n_second]
    sum_columns = [size, first.reshape(-1, n_sets), by_class.reshape(-1, n_sets)]
    if not n_second:
        pooled = _sums(columns[:, n_classes * (1 + n_features) :], weights)
        sum_columns.append(jnp.broadcast_to(pooled, (pooled.shape[0], n_sets)))
    return jnp.concatenate(sum_columns)


# -------------------------------------------------------------------------------------------- rules


def lda_rules(
    size: jax.Array,
    mean: jax.Array,
    second: jax.Array,
    log_prior: jax.Array,
    singular: float = SINGULAR,
) -> jax.Array:
    """Linear discriminant analysis: normal classes with a common covariance matrix."""
    n_features = mean.shape[1]
    between = sum(n * _products_of_rows(m) for n, m in zip(size, mean, strict=True))
    covariance = _covariance(second, between, size.sum(axis=0), n_features, singular)
    slope = solve_positive_definite(covariance, jnp.swapaxes(mean, 0, 1), singular)
    slope = jnp.swapaxes(slope, 0, 1)
    constant = log_prior - 0.5 * (slope * mean).sum(axis=1)
    return jnp.concatenate([slope, constant[:, None]], axis=1)


def qda_rules(
    size: jax.Array,
    mean: jax.Array,
    second: jax.Array,
    log_prior: jax.Array,
    singular: float = SINGULAR,
) -> jax.Array:
    """Quadratic discriminant analysis: each normal class has its own covariance matrix."""
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


def naive_bayes_rules(
    size: jax.Array,
    mean: jax.Array,
    second: jax.Array,
    log_prior: jax.Array,
    standardize: bool = False,
) -> jax.Array:
    """Gaussian naive Bayes: features are independent and normal within a class."""
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


def centroid_rules(
    size: jax.Array,
    mean: jax.Array,
    second: jax.Array,
    log_prior: jax.Array,
    standardize: bool = False,
) -> jax.Array:
    """Nearest centroid: squared distances from the class means, their common part left out."""
    slope = mean
    if standardize:
        slope = mean / divisor(*_overall_moments(size, mean, second))
    constant = jnp.where(size > 0, -(slope * mean).sum(axis=1), -jnp.inf)
    return jnp.concatenate([2.0 * slope, constant[:, None]], axis=1)


# Made once: a rule is part of the key under which its compilation is found again.
careful_lda_rules = partial(lda_rules, singular=CAREFUL)
careful_qda_rules = partial(qda_rules, singular=CAREFUL)
standardised_naive_bayes_rules = partial(naive_bayes_rules, standardize=True)
standardised_centroid_rules = partial(centroid_rules, standardize=True)


def _covariance(
    second: jax.Array, between: jax.Array, size: jax.Array, n_features: int, singular: float
) -> jax.Array:
    """Covariance matrices (p, p, R); NaN where a variance is a rounding error of its mean square.

    The rounding error that is left of a constant column cannot be recognised by its own size.
    """
    i, j = np.triu_indices(n_features)
    squares = np.flatnonzero(i == j)
    packed = second - between
    varies = (packed[squares] > singular * second[squares]).all(axis=0)
    return symmetric(jnp.where(varies, packed / size, jnp.nan), n_features)


def _side_by_side(by_class: jax.Array) -> jax.Array:
    """Arrays (C, K, R) as (K, C R)."""
    return jnp.swapaxes(by_class, 0, 1).reshape(by_class.shape[1], -1)


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
