"""Logistic regression with a ridge penalty, many learning sets at once, by Newton's method."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ucvtest.common.float64 import in_float64, jax, jit, jnp, to_device
from ucvtest.common.words import term
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Scale, short_name
from ucvtest.learners.batching import Margin, padded_rows, rows_for_cache
from ucvtest.learners.jitted.padded_blocks import decided, in_blocks
from ucvtest.learners.jitted.penalties import (
    PenaltyScale,
    as_penalty,
    check_coefficients,
    check_penalty,
    check_without_penalty,
)
from ucvtest.learners.solvers.linear_algebra import (
    invert_positive_definite,
    penalty_weights,
    principal_components,
    products,
    symmetric,
    times_vectors,
)
from ucvtest.learners.solvers.newton import descend

MOST_COEFFICIENTS = 300
"""Most equations of a system: larger ones would take longer, and more memory, than single fits."""

CONVERGED = 1e-6
"""Largest change of a coefficient in the last step, in standard units and relative to the
largest one. The error after a Newton step is about its square."""

NEAR = 1e-3
"""The same in single precision, whose result the last steps start from."""

SETTLED = 1e-10
"""The same for steps with the Hessian in single precision. Each step leaves about a thousandth of
the previous error."""

CHEAP_STEPS = 6
"""Such steps, at most; a fit that needs more goes on with Newton's method."""

CACHE_NUMBERS = 2**17
"""Numbers that the matrices of one call may contain: half a processor's second-level cache."""

ROWS_PER_BLOCK = 128
"""Learning sets fitted at a time within one call; each block takes the steps that it needs."""

LEAST_ROWS = 32
"""Learning sets in one call, at least: the minor axis must fill the vector units."""


def logistic(
    lam: float, standardize: bool = True, scale: PenaltyScale = "mean", *, max_iter: int = 50
) -> "RidgeLogistic":
    """Logistic regression with a ridge penalty.

    Parameters
    ----------
    lam : float
        Weight of the penalty, not negative.
    standardize : bool
        Whether the features are standardised inside each learning set (standard deviation
        with divisor g), as in glmnet.
    scale : {"mean", "sum"}
        Minimise the mean negative log-likelihood + ``lam/2 |b|^2``, or its sum + ``lam/2 |b|^2``.
    max_iter : int
        Newton steps that one fit may take; a fit that needs more has no solution, which the
        evaluation reports as an error.

    Returns
    -------
    RidgeLogistic

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    ``logistic(lam)`` is R's glmnet with ``alpha = 0`` at one lambda;
    ``logistic(1 / C, standardize=False, scale="sum")`` is scikit-learn's
    ``LogisticRegression(C=C)``, fitted to the end. The intercept is not penalised. Without a
    penalty there is no solution where the classes can be separated.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.logistic(0.1).name, uv.learners.logistic(1.0, scale="sum").name
    ('logistic:0.1', 'logistic:1.0,scale=sum')
    """
    return RidgeLogistic(as_penalty(lam), standardize, scale, max_iter)


class LogisticState(NamedTuple):
    """What all learning sets share, as JAX arrays; N >= n observations, the last ones empty."""

    design: Any
    """(N, q): 1 and the features in standard units."""
    pairs: Any
    """(N, q (q + 1)/2): products of these columns."""
    response: Any
    """(N,): 0 or 1; (N, R) for one of each learning set."""
    unit: Any
    """(q - 1,): what the features were divided by."""
    start: Any
    """(q,): the coefficients where Newton's method starts."""


@dataclass(frozen=True)
class RidgeLogistic(JittedLearner):
    """Logistic regression with a ridge penalty; made by `logistic`."""

    lam: float
    standardize: bool = True
    penalty_scale: PenaltyScale = "mean"
    max_iter: int = 50

    scale: ClassVar[Scale] = "log_odds"
    batch_rows: ClassVar[int] = 512
    no_solution: ClassVar[str] = (
        "Newton's method has not converged: raise lam (without a penalty, classes that can be "
        "separated have no solution), or raise max_iter"
    )

    def __post_init__(self) -> None:
        check_penalty(self.lam, self.penalty_scale, self.max_iter)

    @property
    def name(self) -> str:
        """``logistic:lam``, and what differs from the defaults."""
        options = {
            "standardize": (self.standardize, True),
            "scale": (self.penalty_scale, "mean"),
            "max_iter": (self.max_iter, 50),
        }
        return short_name("logistic", [self.lam], options)

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also too many coefficients, for the method or for the learning sets."""
        super().check(sample, output, learn_size)
        check_without_penalty(self, self.lam, sample, learn_size)
        n_coefficients = 1 + (
            sample.matrix.shape[1] if self.standardize else min(sample.matrix.shape)
        )
        alternatives = f"lasso, or {term('a scikit-learn classifier')}"
        check_coefficients(self, n_coefficients, MOST_COEFFICIENTS, sample, alternatives)

    def rows_per_call(self, sample: Sample) -> int:
        """Fewer for more features, so that the matrices of one call stay in the cache."""
        size = 1 + min(sample.matrix.shape[1], MOST_COEFFICIENTS)
        fitting = rows_for_cache(size**2, CACHE_NUMBERS, LEAST_ROWS)
        return min(super().rows_per_call(sample), fitting)

    def prepare(self, sample: Sample) -> LogisticState:
        """Standard units, products of columns, and the fit to all observations as the start."""
        features = sample.matrix - sample.matrix.mean(axis=0)
        if not self.standardize and features.shape[1] >= features.shape[0]:
            features = principal_components(features)
        spread = features.std(axis=0)
        unit = np.where(spread > 0, spread, 1.0)
        design = np.hstack([np.ones((sample.n_obs, 1)), features / unit])
        arrays = [
            padded_rows(sample_array) for sample_array in (design, products(design), sample.target)
        ]
        state = LogisticState(*to_device((*arrays, unit, np.zeros(design.shape[1]))))
        # The same fit as often as a call has rows: it needs no compilation of its own.
        learn_all = np.ones((self.rows_per_call(sample), sample.n_obs), dtype=bool)
        full_fit = self._fit(state, learn_all, None)
        start_coefficients = np.where(full_fit.done[0], full_fit.b[0], 0.0)
        return state._replace(start=to_device(start_coefficients))

    def scores(
        self, state: LogisticState, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Log-odds; NaN where a fit did not converge."""
        return self._fit(state, learning, labels).scores[:, : learning.shape[1]]

    def codes(
        self,
        state: LogisticState,
        learning: np.ndarray,
        labels: np.ndarray | None = None,
        margin: Margin | None = None,
    ) -> np.ndarray | None:
        """Predicted labels 0 and 1, for the sample's own response; see `JittedLearner.codes`."""
        if labels is not None or margin is not None:
            return None
        fits = self._fit(state, learning, None)
        return None if fits.open.any() else fits.predicted[:, : learning.shape[1]]

    @property
    def _settings(self) -> tuple[float, int, bool, bool]:
        """Penalty, most steps, and whether the penalty is for the mean, and standardised."""
        return self.lam, self.max_iter, self.penalty_scale == "mean", self.standardize

    @in_float64
    def _fit(
        self, state: LogisticState, learning: np.ndarray, labels: np.ndarray | None
    ) -> "NewtonFits":
        weights = padded_rows(learning, axis=1)
        if labels is not None:
            # The fit to the sample's own response says nothing of other labels.
            start_coefficients = np.zeros(len(state.start))
            state = state._replace(response=padded_rows(labels, axis=1).T, start=start_coefficients)
        last = (learning.shape[1], *self._settings)
        fits = _newton(state, weights, *last)
        if not np.asarray(fits.done).all():
            fits = _newton_to_the_end(state, weights, fits.b, fits.done, *last)
        return fits


@partial(jit, static_argnums=6)
def _newton(
    state: LogisticState, learning: jax.Array, n_obs: jax.Array, *settings: Any
) -> "NewtonFits":
    """Fits that end after a few cheap steps, and how far the others have come.

    One function for scores and labels, so that it is compiled once.
    """

    def fit(rows: jax.Array) -> NewtonFits:
        exact, start_coefficients = _likelihood(state, rows, *settings)
        # Single precision is twice as fast, and close enough to leave few last steps.
        rough = Likelihood(*(array.astype(jnp.float32) for array in exact))
        at_start, none = (
            start_coefficients.astype(jnp.float32),
            jnp.zeros(start_coefficients.shape[1], dtype=bool),
        )
        near, _ = descend(rough, at_start, none, max_iter=settings[1], tolerance=NEAR)
        near = jnp.where(jnp.isfinite(near).all(axis=0), near, start_coefficients)
        _, probability = rough.gradient(near.astype(jnp.float32))
        inverse, _ = invert_positive_definite(rough.hessian(probability))
        return _fitted(state, *_polished(exact, near, inverse), n_obs)

    return _in_row_blocks(state, fit, learning)


@partial(jit, static_argnums=8)
def _newton_to_the_end(
    state: LogisticState,
    learning: jax.Array,
    b: jax.Array,
    is_converged: jax.Array,
    n_obs: jax.Array,
    *settings: Any,
) -> "NewtonFits":
    """Continue the few fits that `_newton` left unfinished; compiled only if there are any."""

    def fit(rows: jax.Array, b: jax.Array, is_converged: jax.Array) -> NewtonFits:
        exact, _ = _likelihood(state, rows, *settings)
        ended = descend(exact, b.T, is_converged[:, 0], max_iter=settings[1], tolerance=CONVERGED)
        return _fitted(state, *ended, n_obs)

    return _in_row_blocks(state, fit, learning, b, is_converged[:, None])


class NewtonFits(NamedTuple):
    """Fits to R learning sets."""

    b: Any
    """(R, q) coefficients in standard units."""
    done: Any
    """(R,) whether they have converged."""
    scores: Any
    """(R, N) log-odds, NaN where they have not."""
    predicted: Any
    """(R, N); see `labels_in_blocks`."""
    open: Any
    """(B,) whether one of the labels is open, in each block."""


def _in_row_blocks(
    state: LogisticState, fit: Callable[..., NewtonFits], *arrays: jax.Array
) -> NewtonFits:
    """Fit the rows of the arrays block by block; all at once where each has its own response."""
    if state.response.ndim > 1:
        return fit(*arrays)
    blocks = [in_blocks(array, ROWS_PER_BLOCK) for array in arrays]
    block_fits = jax.lax.map(lambda block: fit(*block), blocks)
    return NewtonFits(*(array.reshape(-1, *array.shape[2:]) for array in block_fits))


def _fitted(
    state: LogisticState, b: jax.Array, is_converged: jax.Array, n_obs: jax.Array
) -> NewtonFits:
    converged = jnp.where(is_converged, b, jnp.nan)
    scores = jnp.einsum("qr,nq->rn", converged, state.design, precision="highest")
    predicted, is_open = decided(scores, 0.0, n_obs)
    return NewtonFits(b.T, is_converged, scores, predicted, is_open[None])


def _likelihood(
    state: LogisticState,
    learning: jax.Array,
    lam: float,
    max_iter: int,
    mean_scale: bool,
    standardize: bool,
) -> tuple["Likelihood", jax.Array]:
    """Sum of the negative log-likelihood plus half the weighted squares of b; a start (q, R)."""
    weight = learning.T.astype(state.design.dtype)
    # Features in standard units; the intercept is not penalised.
    x, unit = state.design[:, 1:], state.unit
    slopes = penalty_weights(x, weight, lam, unit, mean_scale, standardize)
    penalty = jnp.concatenate([jnp.zeros_like(slopes[:1]), slopes])
    response = state.response.reshape(len(weight), -1)
    n_sets = max(weight.shape[1], response.shape[1])
    start_coefficients = jnp.broadcast_to(state.start[:, None], (len(state.start), n_sets))
    return Likelihood(state.design, state.pairs, response, weight, penalty), start_coefficients


class Likelihood(NamedTuple):
    """A penalised likelihood for each learning set."""

    design: jax.Array
    """(n, q)"""
    pairs: jax.Array
    """(n, q (q + 1)/2)"""
    response: jax.Array
    """(n, 1) or (n, R)"""
    weight: jax.Array
    """(n, R), or (n, 1) for all"""
    penalty: jax.Array
    """(q, R) or (q, 1)"""

    def gradient(self, b: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Gradient (q, R) at a point (q, R), and the shares of the positive class (n, R)."""
        probability = jax.nn.sigmoid(jnp.einsum("nq,qr->nr", self.design, b, precision="highest"))
        error = self.weight * (probability - self.response)
        gradient = jnp.einsum("nq,nr->qr", self.design, error, precision="highest")
        return gradient + self.penalty * b, probability

    def hessian(self, probability: jax.Array) -> jax.Array:
        """Hessian (q, q, R) where the shares are these."""
        curvature = self.weight * probability * (1.0 - probability)
        q = self.design.shape[1]
        packed = jnp.einsum("nk,nr->kr", self.pairs, curvature, precision="highest")
        on_diagonal = jnp.eye(q, dtype=self.design.dtype)[:, :, None] * self.penalty
        return symmetric(packed, q) + on_diagonal


def _polished(
    likelihood: Likelihood, start_coefficients: jax.Array, inverse: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Steps with exact gradients and the inverse Hessian of the start, in single precision.

    Coefficients, those of the start where the steps have not settled; and where they have.
    """

    def unfinished(carry: tuple[Any, ...]) -> jax.Array:
        return (carry[0] < CHEAP_STEPS) & ~carry[-1].all()

    def step(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        count, b, is_converged = carry
        gradient, _ = likelihood.gradient(b)
        # Scaled, so that small gradients keep their digits in single precision.
        unit = jnp.maximum(jnp.abs(gradient).max(axis=0), np.finfo(float).tiny)
        direction = times_vectors(inverse, (gradient / unit).astype(inverse.dtype))
        change = jnp.where(is_converged, 0.0, -direction * unit)
        settled = jnp.abs(change).max(axis=0) <= SETTLED * (1.0 + jnp.abs(b).max(axis=0))
        return count + 1, b + change, is_converged | settled

    carry = (0, start_coefficients, jnp.zeros(start_coefficients.shape[1], dtype=bool))
    _, b, is_converged = jax.lax.while_loop(unfinished, step, carry)
    return jnp.where(is_converged, b, start_coefficients), is_converged
