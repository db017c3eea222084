"""Ridge regression, many learning sets at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.polynomial.legendre import legvander

from ucvtest.common.checks import is_integer
from ucvtest.common.float64 import in_float64, jax, jit, jnp, to_device, to_numpy
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Scale, short_name
from ucvtest.learners.batching import (
    CACHE_NUMBERS,
    LEAST_ROWS,
    Margin,
    clear_labels,
    median_centred,
    padded_rows,
    rows_for_cache,
)
from ucvtest.learners.jitted.many_labelings import (
    LABELINGS,
    OPEN,
    product,
    replace_open_rows,
    whitened,
)
from ucvtest.learners.jitted.padded_blocks import in_blocks, labels_in_blocks
from ucvtest.learners.jitted.penalties import (
    PenaltyScale,
    as_penalty,
    check_penalty,
    check_without_penalty,
)
from ucvtest.learners.jitted.ridge_dual import (
    DualSmoother,
    dual_padded,
    dual_paths,
    dual_scores,
    dual_size,
)
from ucvtest.learners.solvers.linear_algebra import (
    CAREFUL,
    SINGULAR,
    divisor,
    products,
    solve_positive_definite,
    symmetric,
)

ROWS_PER_BLOCK = 64
"""Learning sets fitted at a time within one call."""


def ridge(lam: float, penalize_intercept: bool = False, scale: PenaltyScale = "sum") -> "Ridge":
    """Ridge regression of a label 0 or 1, or of a real response.

    Parameters
    ----------
    lam : float
        Penalty, not negative.
    penalize_intercept : bool
        Whether the intercept is penalised as the slopes are.
    scale : {"sum", "mean"}
        Minimise the sum of squared residuals + ``lam |b|^2``, or their mean + ``lam |b|^2``.

    Returns
    -------
    Ridge
        Labels are 1 where the fitted value exceeds 1/2.

    Raises
    ------
    ValueError
        If `lam` is negative or not finite, or `scale` is unknown.

    Notes
    -----
    ``ridge(lam)`` is scikit-learn's ``Ridge(alpha=lam)``. The features are used as they are.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.ridge(1.0).name, uv.learners.ridge(0.1, scale="mean").name
    ('ridge:1.0', 'ridge:0.1,scale=mean')
    """
    return Ridge(as_penalty(lam), penalize_intercept, scale)


@dataclass(frozen=True, eq=False)
class Columns:
    """The terms summed over learning sets, for systems with an equation for each feature.

    Their number grows with the square of the features, so they are made when first needed.
    """

    features: np.ndarray
    """(N, p)"""
    response: np.ndarray
    """(N,)"""

    @cached_property
    def values(self) -> Any:
        """(N, K): 1, y, x, y x and x x', on the device of the first call."""
        features, y = self.features, self.response[:, None]
        column_blocks = [np.ones_like(y), y, features, y * features, products(features)]
        return to_device(np.hstack(column_blocks))


@dataclass(frozen=True, eq=False)
class RidgeState:
    """What all learning sets share; the N >= n observations end with empty ones."""

    columns: Columns
    features: Any
    """(N, p), centred unless the intercept is penalised, then with a constant column."""
    response: Any
    """(N,)"""
    inner: Any
    """(N, N): inner products of the observations."""


@dataclass(frozen=True, eq=False)
class ThinSmoother(RidgeState):
    """Further common parts of labelings of one learning set; fits are left' right' y."""

    left: Any
    """ndarray (q, n), q one more than the features unless the intercept is penalised."""
    right: Any
    """ndarray (n, q), zero for those not learnt from."""

    def fitted(self, labels: np.ndarray) -> np.ndarray:
        """Fitted values (R, n)."""
        return product(product(labels, self.right), self.left)


@dataclass(frozen=True)
class Ridge(JittedLearner):
    """Ridge regression; made by `ridge`, or on features standardised in each learning set.

    A careful one gives NaN already where rounding errors could reach the eighth digit.
    """

    lam: float
    penalize_intercept: bool = False
    penalty_scale: PenaltyScale = "sum"
    standardize: bool = False
    careful: bool = False
    least_pivot: float = 0.0
    """Share of the largest diagonal element of X'X that every pivot must exceed."""

    scale: ClassVar[Scale] = "fitted"
    regression: ClassVar[bool] = True
    # For the dual form, which few observations with many features need.
    pair_bytes: ClassVar[int] = 24
    batch_rows: ClassVar[int] = 512
    no_solution: ClassVar[str] = (
        "lam is so small that the equations are singular within rounding error: raise lam, or "
        "bring the features to similar units"
    )

    def __post_init__(self) -> None:
        check_penalty(self.lam, self.penalty_scale)

    @property
    def name(self) -> str:
        """``ridge:lam``, and what differs from the defaults."""
        options = {
            "penalize_intercept": (self.penalize_intercept, False),
            "scale": (self.penalty_scale, "sum"),
        }
        return short_name("ridge", [self.lam], options)

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also least squares with as many features as observations."""
        super().check(sample, output, learn_size)
        check_without_penalty(self, self.lam, sample, learn_size)

    def rows_per_call(self, sample: Sample) -> int:
        """Fewer for larger systems, so that the matrices of one call stay in the cache."""
        size = min(sample.matrix.shape[1] + 1, dual_size(sample.n_obs))
        return min(
            super().rows_per_call(sample), rows_for_cache(size**2, CACHE_NUMBERS, LEAST_ROWS)
        )

    def prepare(self, sample: Sample) -> RidgeState:
        """Columns and inner products that all learning sets share."""
        features = sample.matrix
        if self.penalize_intercept:
            features = np.hstack([np.ones((sample.n_obs, 1)), features])
        else:
            features = median_centred(features)
        gram, response = dual_padded(features @ features.T), dual_padded(sample.target)
        features, y = padded_rows(features), padded_rows(sample.target)
        return RidgeState(Columns(features, y), *to_device((features, response, gram)))

    def labelings_per_call(self, sample: Sample) -> int:
        """As many as the scores allow: a common learning set needs one system for all."""
        return min(super().rows_per_call(sample), LABELINGS)

    def prepare_labelings(
        self, state: RidgeState, learning: np.ndarray
    ) -> "RidgeState | DualSmoother":
        """The matrix that takes the labels to the fitted values, or its thin factors."""
        size = int(learning.sum())
        if not self._is_primal(state, learning[None]):
            return DualSmoother.of(state.inner, learning, *self._settings)
        if self.standardize:
            return state
        features = to_numpy(state.features)[: len(learning)]
        penalty = self.lam * (size if self.penalty_scale == "mean" else 1)
        centre = not self.penalize_intercept
        white_features = whitened(features, learning, penalty, centre, self.least_pivot)
        if white_features is None:
            return state
        left_factor = right_factor = white_features[0]
        if not self.penalize_intercept:
            constant = np.ones((len(left_factor), 1))
            left_factor, right_factor = (
                np.hstack([left_factor, constant]),
                np.hstack([left_factor, constant / size]),
            )
        shared = (state.columns, state.features, state.response, state.inner)
        return ThinSmoother(
            *shared, np.ascontiguousarray(left_factor.T), right_factor * learning[:, None]
        )

    @in_float64
    def scores(
        self,
        state: RidgeState | DualSmoother,
        learning: np.ndarray,
        labels: np.ndarray | None = None,
    ) -> np.ndarray:
        """Fitted values."""
        if isinstance(state, DualSmoother):
            return state.fitted(cast("np.ndarray", labels))
        if labels is None or not isinstance(state, ThinSmoother):
            return self._scores(state, learning, labels)
        scores_of_labels = partial(self._scores, state, learning)
        return replace_open_rows(state.fitted(labels), self.cut, OPEN, labels, scores_of_labels)

    @in_float64
    def path_scores(
        self, state: RidgeState, learning: np.ndarray, members: Sequence["Ridge"]
    ) -> np.ndarray:
        """Fitted values (L, R, n) of learners that differ in `lam` alone.

        From one decomposition of each learning set, where there is an equation for each
        observation.
        """
        if self._is_primal(state, learning):
            return np.stack([member_ridge.scores(state, learning) for member_ridge in members])
        lams = np.array([member_ridge.lam for member_ridge in members])
        return dual_paths(state.inner, state.response, learning, lams, *self._settings[1:])

    def codes(
        self,
        state: RidgeState | DualSmoother,
        learning: np.ndarray,
        labels: np.ndarray | None = None,
        margin: Margin | None = None,
    ) -> np.ndarray | None:
        """Predicted labels 0 and 1; see `JittedLearner.codes`."""
        if isinstance(state, DualSmoother):
            return None
        if labels is None:
            primal = self._is_primal(state, learning)
            return self._own_labels(state, learning, margin) if primal else None
        if margin is not None or not isinstance(state, ThinSmoother):
            return None
        return clear_labels(state.fitted(labels), self.cut, OPEN)

    @in_float64
    def _own_labels(
        self, state: RidgeState, learning: np.ndarray, margin: Margin | None
    ) -> np.ndarray | None:
        """Labels for the sample's own response, without bringing the fitted values to NumPy."""
        n_obs = learning.shape[1]
        data = (state.features, state.columns.values, padded_rows(learning, axis=1))
        predicted, is_undecided = _primal_labels(
            *data, n_obs, self.cut, margin, *self._primal_settings
        )
        return None if is_undecided else np.asarray(predicted)[:, :n_obs]

    def _scores(
        self, state: RidgeState, learning: np.ndarray, labels: np.ndarray | None
    ) -> np.ndarray:
        if not self._is_primal(state, learning):
            return dual_scores(state.inner, state.response, learning, labels, *self._settings)
        data = (state.features, state.columns.values, padded_rows(learning, axis=1))
        other = None if labels is None else padded_rows(labels, axis=1)
        fitted_values = _primal(*data, other, *self._primal_settings)
        return np.asarray(fitted_values)[:, : learning.shape[1]]

    def _is_primal(self, state: RidgeState, learning: np.ndarray) -> bool:
        """Whether the system has as many equations as features, not as observations."""
        # Inner products of features that are standardised in each set are not shared.
        return bool(self.standardize or state.features.shape[1] <= learning.sum(axis=1).max())

    @property
    def _settings(self) -> tuple[float, float, bool, bool]:
        """Penalty, smallest pivot, and whether the penalty is for the mean, and on all."""
        singular = CAREFUL if self.careful else SINGULAR
        return self.lam, singular, self.penalty_scale == "mean", self.penalize_intercept

    @property
    def _primal_settings(self) -> tuple[float, float, bool, bool, bool, float]:
        """The same, whether features are standardised, and the smallest pivot."""
        return *self._settings, self.standardize, self.least_pivot


@partial(jit, static_argnums=(7, 8))
def _primal(
    features: jax.Array,
    columns: jax.Array,
    learning: jax.Array,
    labels: jax.Array | None,
    *settings: Any,
) -> jax.Array:
    """Fitted values (R, n) of learning sets (R, n); the settings are those of `_primal_block`."""
    if labels is not None:
        return _primal_block(features, columns, learning, labels, *settings)

    def fit(rows: jax.Array) -> jax.Array:
        return _primal_block(features, columns, rows, None, *settings)

    return jax.lax.map(fit, in_blocks(learning, ROWS_PER_BLOCK)).reshape(learning.shape)


@partial(jit, static_argnums=(9, 10))
def _primal_labels(
    features: jax.Array,
    columns: jax.Array,
    learning: jax.Array,
    n_obs: jax.Array,
    cut: jax.Array,
    margin: Margin | None,
    *settings: Any,
) -> tuple[jax.Array, jax.Array]:
    """Which fitted values are above the cut, and whether some are neither above nor below it."""

    def fit(rows: jax.Array) -> tuple[jax.Array, jax.Array]:
        fitted_values = _primal_block(features, columns, rows, None, *settings)
        return fitted_values, jnp.abs(fitted_values).max(axis=1)

    return labels_in_blocks(fit, learning, ROWS_PER_BLOCK, cut, n_obs, margin)


def _primal_block(
    features: jax.Array,
    columns: jax.Array,
    learning: jax.Array,
    labels: jax.Array | None,
    lam: float,
    singular: float,
    mean_scale: bool,
    penalize_intercept: bool,
    standardize: bool,
    least_pivot: float,
) -> jax.Array:
    """Solve (X'X + lam I) b = X'y, a system of p equations for every learning set."""
    p = features.shape[1]
    weights = learning.astype(columns.dtype)
    sums = jnp.einsum("nk,rn->kr", columns, weights, precision="highest")
    size, x, xx = sums[0], sums[2 : 2 + p], sums[2 + 2 * p :]
    total, xy = sums[1], sums[2 + p : 2 + 2 * p]
    if labels is not None:
        response = weights * labels
        total = response.sum(axis=1)
        xy = jnp.einsum("np,rn->pr", features, response, precision="highest")
    mean_y = jnp.zeros_like(size)
    mean_x = jnp.zeros_like(x)
    if not penalize_intercept:
        mean_y, mean_x = total / size, x / size
    i, j = np.triu_indices(p)
    gram = symmetric(xx - size * mean_x[i] * mean_x[j], p)
    penalty = lam * jnp.where(mean_scale, size, 1.0)
    if standardize:
        # A penalty on slopes of standardised features is one on b times the deviation.
        mean_square = xx[np.flatnonzero(i == j)] / size
        penalty = penalty * divisor(mean_square, mean_x)
    gram = gram + jnp.eye(p)[:, :, None] * penalty
    smallest_pivot = least_pivot * jnp.diagonal(gram).max(axis=1)
    right = (xy - size * mean_x * mean_y)[:, None]
    if gram.shape[2] < right.shape[2]:
        # One system for all labels.
        several = jnp.swapaxes(right, 1, 2)
        slope = solve_positive_definite(gram, several, singular, least_pivot=smallest_pivot)[
            :, :, 0
        ]
    else:
        slope = solve_positive_definite(gram, right, singular, least_pivot=smallest_pivot)[:, 0]
    fitted_values = jnp.einsum("pr,np->rn", slope, features, precision="highest")
    return fitted_values + (mean_y - (slope * mean_x).sum(axis=0))[:, None]


def polynomial(
    degree: int,
    lam: float = 0.0,
    penalize_intercept: bool = False,
    scale: PenaltyScale = "sum",
) -> "Polynomial":
    """Ridge regression on the Legendre polynomials of every feature.

    Parameters
    ----------
    degree : int
        Highest degree; there are no products of different features.
    lam : float
        Penalty, not negative; by default least squares.
    penalize_intercept, scale
        See `ridge`.

    Returns
    -------
    Polynomial

    Raises
    ------
    ValueError
        If `degree` is not a positive integer, or another argument is out of range.

    Notes
    -----
    The features are used as they are: bring them to [-1, 1], where Legendre polynomials are
    bounded, or the equations may be singular within rounding error.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.polynomial(3, 0.1).name
    'polynomial:3,0.1'
    """
    if not is_integer(degree) or degree < 1:
        raise ValueError(f"degree must be a positive integer, got {degree!r:.60}")
    return Polynomial(as_penalty(lam), penalize_intercept, scale, degree=int(degree))


@dataclass(frozen=True)
class Polynomial(Ridge):
    """Polynomial regression; made by `polynomial`."""

    degree: int = 1

    @property
    def name(self) -> str:
        """``polynomial:degree,lam``, and what differs from the defaults."""
        options = super().name.removeprefix("ridge:")
        return f"polynomial:{self.degree},{options}".removesuffix(",0.0")

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also more polynomials than observations without a penalty."""
        super().check(self.expanded(sample), output, learn_size)

    def rows_per_call(self, sample: Sample) -> int:
        """As for ridge regression on the polynomials."""
        return super().rows_per_call(self.expanded(sample))

    def prepare(self, sample: Sample) -> RidgeState:
        """What ridge regression on the polynomials needs."""
        return super().prepare(self.expanded(sample))

    def expanded(self, sample: Sample) -> Sample:
        """The sample with the polynomials as its features."""
        return replace(sample, features=self.expand(sample.matrix))

    def expand(self, matrix: np.ndarray) -> np.ndarray:
        """Polynomials of degree 1 to `degree` of every column, (n, p * degree)."""
        return np.hstack([legvander(column, self.degree)[:, 1:] for column in matrix.T])


class SharedFits(NamedTuple):
    """What all learning sets share."""

    state: Any
    """That of the regression."""
    target: np.ndarray
    """(n,) labels 0, 1, ..."""
    n_classes: int


@dataclass(frozen=True)
class OneAgainstRest(JittedLearner):
    """Ridge regression of the indicator of each class, as RidgeClassifier; the largest fit wins."""

    regression_of_each: Ridge

    scale: ClassVar[Scale] = "discriminant"
    multiclass: ClassVar[bool] = True
    pair_bytes: ClassVar[int] = Ridge.pair_bytes

    @property
    def name(self) -> str:
        """That of the regression."""
        return self.regression_of_each.name

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also least squares with as many features as observations."""
        super().check(sample, output, learn_size)
        check_without_penalty(self, self.regression_of_each.lam, sample, learn_size)

    def rows_per_call(self, sample: Sample) -> int:
        """As many learning sets as the regression fits in one call."""
        return self.regression_of_each.rows_per_call(sample)

    def prepare(self, sample: Sample) -> SharedFits:
        """What all regressions share."""
        state = self.regression_of_each.prepare(sample)
        return SharedFits(state, sample.target, sample.n_classes)

    def scores(
        self, state: SharedFits, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Fitted values of the indicators, (R, n, C)."""
        if labels is None:
            labels = np.broadcast_to(state.target, learning.shape)
        indicators = (np.equal(labels, code).astype(float) for code in range(state.n_classes))
        fit = self.regression_of_each.scores
        return np.stack([fit(state.state, learning, indicator) for indicator in indicators], axis=2)
