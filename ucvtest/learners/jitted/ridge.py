"""Ridge regression, many learning sets at once."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, cast

import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import cho_solve

from ucvtest.common.float64 import in_float64, jit, to_device, to_numpy
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Scale
from ucvtest.learners.batching import clear_codes, median_centred, padded_rows, rows_for_cache
from ucvtest.learners.jitted.blocks import codes_in_blocks, in_blocks
from ucvtest.learners.jitted.one_set import LABELINGS, OPEN, product, replace_open_rows, whitened
from ucvtest.learners.solvers.linear_algebra import (
    SINGULAR,
    divisor,
    products,
    solve_positive_definite,
    symmetric,
)

__all__ = [
    "CACHE_NUMBERS",
    "CAREFUL",
    "LEAST_ROWS",
    "SCALES",
    "DualSmoother",
    "PenaltyScale",
    "Ridge",
    "RidgeState",
    "dual_padded",
    "dual_scores",
    "dual_size",
    "ridge",
]

PenaltyScale = Literal["sum", "mean"]
SCALES: tuple[PenaltyScale, ...] = ("sum", "mean")

CACHE_NUMBERS = 2**18
"""Numbers that the matrices of one call may hold: about a processor's second-level cache."""

CAREFUL = 1e-6
"""Pivots below this share of their diagonal element lose more than eight digits."""

LEAST_ROWS = 32
"""Learning sets in one call, at least: the minor axis must fill the vector units."""

SIZE_STEP, DUAL_STEP = 16, 64
"""In the dual form sizes of systems and of samples are multiples of these, so that few are
compiled: that a sample is filled up costs little beside the system."""

ROWS_PER_BLOCK = 64
"""Learning sets fitted at a time within one call."""

MOST_BATCHED = 128
"""Observations up to which systems in the dual form are solved many at a time: for larger ones
LAPACK, one by one, is two to six times faster."""

DUAL_ROWS = 64
"""Labelings at a time that are multiplied with a smoother matrix, at least."""


def ridge(lam: float, penalize_intercept: bool = False, scale: PenaltyScale = "sum") -> "Ridge":
    """Ridge regression, of the 0/1 code of a class or of a real response.

    Parameters
    ----------
    lam : float
        Penalty, not negative.
    penalize_intercept : bool
        Whether the intercept is penalised as the slopes are.
    scale : {"sum", "mean"}
        Minimise the sum of squared residuals + lam |b|^2, or their mean + lam |b|^2.

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
    return Ridge(float(lam), penalize_intercept, scale)


@dataclass(frozen=True, eq=False)
class RidgeState:
    """What all learning sets share, as JAX arrays.

    The N >= n observations end with empty ones; a form that is not used has none.
    """

    features: Any
    """(N, p), centred unless the intercept is penalised, then with a constant column."""
    response: Any
    """(N,)"""
    columns: Any
    """(N, K): 1, y, x, y x and x x'; no rows where there are more features than observations."""
    inner: Any
    """(N, N): inner products of the observations."""


@dataclass(frozen=True, eq=False)
class ThinSmoother(RidgeState):
    """What all labelings of one learning set share besides: fitted values are left' right' y."""

    left: Any
    """ndarray (q, n), q one more than the features unless the intercept is penalised."""
    right: Any
    """ndarray (n, q), zero for those not learnt from."""

    def fitted(self, labels: np.ndarray) -> np.ndarray:
        """Fitted values (R, n)."""
        return product(product(labels, self.right), self.left)


@dataclass(frozen=True, eq=False)
class DualSmoother:
    """What all labelings of one learning set share in the dual form."""

    matrix: Any
    """ndarray (n, n): labels times this are fitted values; zero for those not learnt from."""

    @classmethod
    def of(cls, inner: Any, learning: np.ndarray, *settings: Any) -> "DualSmoother":
        """From inner products and one learning set (n,); the settings are the last of `dual`."""
        members, n_obs = np.flatnonzero(learning), len(learning)
        matrix = np.zeros((n_obs, n_obs))
        each = np.eye(len(members))
        matrix[members] = _one_set(np.asarray(inner), members, n_obs, each, *settings).T
        return cls(matrix)

    def fitted(self, labels: np.ndarray) -> np.ndarray:
        """Fitted values (R, n)."""
        return product(labels, self.matrix, DUAL_ROWS)


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
    batch_rows: ClassVar[int] = 512
    no_solution: ClassVar[str] = (
        "lam is so small that the equations are singular within rounding error: raise lam, or "
        "bring the features to similar units"
    )

    def __post_init__(self) -> None:
        if not (np.isfinite(self.lam) and self.lam >= 0):
            raise ValueError(f"lam must be a finite number >= 0, got {self.lam!r}")
        if self.penalty_scale not in SCALES:
            raise ValueError(
                f"scale={self.penalty_scale!r} is unknown: use one of {', '.join(SCALES)}"
            )

    @property
    def name(self) -> str:
        """``ridge:lam``, and what differs from the defaults."""
        options = [str(self.lam)]
        if self.penalize_intercept:
            options.append("penalize_intercept=true")
        if self.penalty_scale != "sum":
            options.append(f"scale={self.penalty_scale}")
        return f"ridge:{','.join(options)}"

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also least squares with as many features as observations."""
        super().check(sample, output, learn_size)
        self.check_size(sample, learn_size)

    def check_size(self, sample: Sample, learn_size: int) -> None:
        """Refuse least squares with as many features as observations."""
        needed = sample.matrix.shape[1] + 1
        if self.lam == 0 and learn_size < needed:
            raise ValueError(
                f"learner {self.name} without a penalty needs learn_size >= {needed} (features "
                f"plus one), got learn_size={learn_size}: raise lam above 0"
            )

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
        inner, response = dual_padded(features @ features.T), dual_padded(sample.target)
        features, y = padded_rows(features), padded_rows(sample.target)
        columns = np.empty((0, 0))
        if features.shape[1] <= sample.n_obs or self.standardize:
            one = np.ones_like(y[:, None])
            parts = [one, y[:, None], features, y[:, None] * features, products(features)]
            columns = np.hstack(parts)
        return RidgeState(*to_device((features, response, columns, inner)))

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
        found = whitened(features, learning, penalty, centre, self.least_pivot)
        if found is None:
            return state
        left = right = found[0]
        if not self.penalize_intercept:
            constant = np.ones((len(left), 1))
            left, right = np.hstack([left, constant]), np.hstack([left, constant / size])
        shared = (state.features, state.response, state.columns, state.inner)
        return ThinSmoother(*shared, np.ascontiguousarray(left.T), right * learning[:, None])

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
        each = partial(self._scores, state, learning)
        return replace_open_rows(state.fitted(labels), self.cut, OPEN, labels, each)

    def codes(
        self,
        state: RidgeState | DualSmoother,
        learning: np.ndarray,
        labels: np.ndarray | None = None,
    ) -> np.ndarray | None:
        """Predicted codes; see `JittedLearner.codes`."""
        if isinstance(state, DualSmoother):
            return None
        if labels is None:
            return self._own_codes(state, learning) if self._is_primal(state, learning) else None
        if not isinstance(state, ThinSmoother):
            return None
        return clear_codes(state.fitted(labels), self.cut, OPEN)

    @in_float64
    def _own_codes(self, state: RidgeState, learning: np.ndarray) -> np.ndarray | None:
        """Codes for the sample's own response, without bringing the fitted values to NumPy."""
        n_obs = learning.shape[1]
        data = (state.features, state.columns, padded_rows(learning, axis=1))
        codes, open_ = _primal_codes(*data, n_obs, self.cut, *self._primal_settings)
        return None if open_ else np.asarray(codes)[:, :n_obs]

    def _scores(
        self, state: RidgeState, learning: np.ndarray, labels: np.ndarray | None
    ) -> np.ndarray:
        if not self._is_primal(state, learning):
            return dual_scores(state.inner, state.response, learning, labels, *self._settings)
        data = (state.features, state.columns, padded_rows(learning, axis=1))
        other = None if labels is None else padded_rows(labels, axis=1)
        fitted = _primal(*data, other, *self._primal_settings)
        return np.asarray(fitted)[:, : learning.shape[1]]

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


def dual_scores(
    inner: Any,
    response: Any,
    learning: np.ndarray,
    labels: np.ndarray | None,
    *settings: Any,
) -> np.ndarray:
    """Fitted values (R, n) by the dual form; the settings are the last arguments of `dual`."""
    if labels is not None and len(learning) == 1:
        return DualSmoother.of(inner, learning[0], *settings).fitted(labels)
    if learning.shape[1] > MOST_BATCHED:
        responses = np.asarray(response) if labels is None else labels
        responses = np.broadcast_to(responses[..., : learning.shape[1]], learning.shape)
        return _one_by_one(np.asarray(inner), responses, learning, *settings)
    if labels is not None:
        response = dual_padded(labels, 1)
    fitted = dual(inner, response, *positions(learning), *settings)
    return np.asarray(fitted)[:, : learning.shape[1]]


def _one_by_one(
    inner: np.ndarray, responses: np.ndarray, learning: np.ndarray, *settings: Any
) -> np.ndarray:
    """Fitted values (R, n) as `dual`, by LAPACK: large systems fill the processor alone.

    inner (N, N), the same for all learning sets, or (N, N, R).
    """
    fitted = np.empty(learning.shape)
    for row, (learnt, response) in enumerate(zip(learning, responses, strict=True)):
        members = np.flatnonzero(learnt)
        own_inner = inner if inner.ndim == 2 else inner[:, :, row]
        fitted[row] = _one_set(own_inner, members, len(learnt), response[members], *settings)
    return fitted


def _one_set(
    inner: np.ndarray,
    members: np.ndarray,
    n_obs: int,
    response: np.ndarray,
    lam: float,
    singular: float,
    mean_scale: bool,
    penalize_intercept: bool,
) -> np.ndarray:
    """Fitted values (n,) or (n, P) for the responses (g,) or (g, P) of one learning set."""
    centred, share = _centred(inner, members, n_obs, penalize_intercept)
    penalty = lam * (len(members) if mean_scale else 1.0)
    weights = _solved(centred[members], penalty, singular, response)
    return share * response.sum(axis=0) + centred @ weights


def _centred(
    inner: np.ndarray, members: np.ndarray, n_obs: int, penalize_intercept: bool
) -> tuple[np.ndarray, float]:
    """Inner products with those learnt from, (n, g), and 1/g; 0 where nothing is centred."""
    share = 0.0 if penalize_intercept else 1.0 / len(members)
    centred = inner[:n_obs, members]
    centred = centred - share * centred[members].sum(axis=0)
    return centred - share * centred.sum(axis=1, keepdims=True), share


def _solved(gram: np.ndarray, penalty: float, singular: float, right: np.ndarray) -> np.ndarray:
    """Solution of (gram + penalty) x = right; NaN where `solve_positive_definite` has none."""
    gram = gram + penalty * np.eye(len(gram))
    try:
        root = np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        return np.full_like(right, np.nan, dtype=float)
    # The pivots of elimination are the squares of the root's diagonal.
    if not (root.diagonal() ** 2 > singular * gram.diagonal()).all():
        return np.full_like(right, np.nan, dtype=float)
    return cho_solve((root, True), right)


def dual_size(n_obs: int) -> int:
    """Number of observations that the dual form sees."""
    return -(-n_obs // DUAL_STEP) * DUAL_STEP


def dual_padded(array: np.ndarray, first_axis: int = 0) -> np.ndarray:
    """The array with zeros after its observations along the axes from the first one on."""
    shape = array.shape[:first_axis] + tuple(map(dual_size, array.shape[first_axis:]))
    padded = np.zeros(shape, array.dtype)
    padded[tuple(map(slice, array.shape))] = array
    return padded


def positions(learning: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of the members of each learning set (g, R), and which of them are real."""
    sizes = learning.sum(axis=1)
    positions = -(-int(sizes.max()) // SIZE_STEP) * SIZE_STEP
    row, member = np.nonzero(learning)
    index = np.zeros((positions, len(learning)), dtype=int)
    index[np.arange(len(row)) - (sizes.cumsum() - sizes)[row], row] = member
    return index, np.arange(positions)[:, None] < sizes


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


@partial(jit, static_argnums=(8, 9))
def _primal_codes(
    features: jax.Array,
    columns: jax.Array,
    learning: jax.Array,
    n_obs: jax.Array,
    cut: jax.Array,
    *settings: Any,
) -> tuple[jax.Array, jax.Array]:
    """Which fitted values are above the cut, and whether some are neither that nor below."""

    def fit(rows: jax.Array) -> jax.Array:
        return _primal_block(features, columns, rows, None, *settings)

    return codes_in_blocks(fit, learning, ROWS_PER_BLOCK, cut, n_obs)


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
    least = least_pivot * jnp.diagonal(gram).max(axis=1)
    right = (xy - size * mean_x * mean_y)[:, None]
    if gram.shape[2] < right.shape[2]:
        # One system for all labels.
        several = jnp.swapaxes(right, 1, 2)
        slope = solve_positive_definite(gram, several, singular, least=least)[:, :, 0]
    else:
        slope = solve_positive_definite(gram, right, singular, least=least)[:, 0]
    fitted = jnp.einsum("pr,np->rn", slope, features, precision="highest")
    return fitted + (mean_y - (slope * mean_x).sum(axis=0))[:, None]


@partial(jit, static_argnums=7)
def dual(
    inner: jax.Array,
    response: jax.Array,
    index: jax.Array,
    is_member: jax.Array,
    lam: float,
    singular: float,
    mean_scale: bool,
    penalize_intercept: bool,
) -> jax.Array:
    """Solve (K + lam I) a = y, a system of g equations for every learning set.

    Parameters
    ----------
    inner : Array, shape (n, n), or (n, n, R) for those of each learning set
        Inner products K of all observations.
    response : Array, shape (n,), or (R, n) for one of each learning set
    index : Array of int, shape (g, R)
        Members of the learning sets; positions beyond the size of a set name any observation.
    is_member : Array of bool, shape (g, R)
        Which positions are within the size.
    lam, singular : float
        Penalty, and share of its diagonal element that a pivot must exceed.
    mean_scale : bool
        Whether the penalty is multiplied by the size of the learning set.
    penalize_intercept : bool
        False centres by the learning set, which is an intercept without a penalty; True does
        not: an intercept is then part of K, or there is none.

    Returns
    -------
    Array, shape (R, n)
        Fitted values; NaN where the system is singular.
    """
    n, (g, n_sets) = len(inner), index.shape
    member = is_member.astype(inner.dtype)
    size = member.sum(axis=0)
    y = (response[index] if response.ndim == 1 else response[jnp.arange(n_sets), index]) * member
    several = (jnp.arange(n_sets),) if inner.ndim == 3 else ()
    gram = inner[(index[:, None], index[None], *several)]
    mean_inner = jnp.zeros((g, n_sets))
    mean_y = jnp.zeros(n_sets)
    if not penalize_intercept:
        # Centring by the learning set; inner products of x with it need only this half,
        # because the solution sums to zero.
        mean_inner = (gram * member).sum(axis=1) / size
        mean_y = y.sum(axis=0) / size
        grand = (mean_inner * member).sum(axis=0) / size
        gram = gram - mean_inner[:, None] - mean_inner[None] + grand
    gram = gram * member[:, None] * member
    # Positions beyond the size of a smaller learning set get an equation 0 = lam a.
    gram = gram + jnp.eye(g)[:, :, None] * (lam * jnp.where(mean_scale, size, 1.0))
    right = ((y - mean_y) * member)[:, None]
    weight = solve_positive_definite(gram, right, singular, size.max().astype(int))[:, 0]
    spread = jnp.zeros((n, n_sets)).at[index, jnp.arange(n_sets)].add(weight)
    product = "nmr,mr->rn" if several else "nm,mr->rn"
    fitted = jnp.einsum(product, inner, spread, precision="highest")
    return fitted + (mean_y - (weight * mean_inner).sum(axis=0))[:, None]
