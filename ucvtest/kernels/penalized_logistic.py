r"""Elastic-net logistic regression for many learning sets at once.

For each learning set of size g, with features z standardised inside it (standard deviation
with divisor g), minimise as glmnet does (Friedman, Hastie and Tibshirani 2010, equation 14)

    F(b) = -(1/g) sum_i log P(y_i \| z_i; b) + l1 sum_k \|b_k\| + (l2/2) sum_k b_k^2

over an unpenalised intercept and the coefficients of a working set of features. One Newton
step is coordinate descent on the quadratic model of the loss (which finds the support and
never raises the model), then an exact solution on that support, then the best of a few
points by F itself, a proximal-gradient step among them: that step alone lowers F by a share
of the squared residual, so every sequence of steps converges, and where the support is
settled it does so quadratically.

All arrays have the fits of a batch as their last axis: what is elementary in one fit is then
a vector operation over the batch. The work on one fit does not depend on the other fits.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

__all__ = ["Checked", "Solved", "check", "solve"]

CYCLES = 5
"""Coordinate-descent cycles in one Newton step: enough to find most of the support."""

SHORTER_STEPS = (0.3, 0.05)
"""Shares of the Newton step tried beside the whole one; where they are too long as well, the
proximal-gradient step wins."""

LARGEST_HESSIAN = 65
"""Coefficients up to which one Newton step solves systems in them; beyond, and with fewer
observations, systems in the observations are smaller."""

SLACK = 1e-13
"""Differences of F (which is at most log 2) below this are rounding errors: near the optimum
the Newton step is taken although F can no longer tell it from its starting point."""

RIDGE = 1e-6
"""Added to the Hessian: it keeps equal columns solvable, and only slows down the last steps."""

LEAST_CURVATURE = 1e-6
"""Floor of p(1 - p): the curvature at a saturated observation says nothing of its surroundings."""

CONSTANT = 1e-12
"""Share of the mean square below which a variance is rounding error: the column is constant."""

RESOLUTION = 2.0**28
"""Gradients that agree to this many parts of one are tied when features are ranked, so that
rounding errors do not choose among equal columns."""

SUPPORT = 2.0**52
"""Rank bonus of features with non-zero coefficients."""


class Solved(NamedTuple):
    """Result of `solve`; intercept first, B fits."""

    coefficients: jax.Array
    """(1 + K, B), for standardised features."""
    original: jax.Array
    """(1 + K, B), for the features as they came."""
    residual: jax.Array
    """(B,) largest violation of the Karush-Kuhn-Tucker conditions within the working set."""
    steps: jax.Array
    """(B,) Newton steps taken."""


class Checked(NamedTuple):
    """Result of `check`; B fits."""

    log_odds: jax.Array
    """(B, n) for all observations."""
    largest_gradient: jax.Array
    """(B,) over all features outside the working set."""
    rank: jax.Array
    """(B, p) the features that the working set needs most have the smallest values; distinct."""


class _Problem(NamedTuple):
    design: jax.Array  # (q, g, B), q = 1 + K, the first row of ones
    response: jax.Array  # (g, B)
    weight: jax.Array  # (g, B), sums to one; zero for padding
    l1: jax.Array  # (q, 1), zero for the intercept
    l2: jax.Array  # (q, 1)


@partial(jax.jit, static_argnames="max_steps")
def solve(
    features: jax.Array,
    response: jax.Array,
    members: jax.Array,
    weight: jax.Array,
    columns: jax.Array,
    start: jax.Array,
    l1: jax.Array,
    l2: jax.Array,
    tolerance: jax.Array,
    max_steps: int,
) -> Solved:
    """Take Newton steps on the working sets until each fit has converged or `max_steps` are done.

    Parameters
    ----------
    features : Array, shape (n, p)
    response : Array, shape (n,)
        0 or 1.
    members : Array of int, shape (g, B)
        The observations of each learning set.
    weight : Array, shape (g, B)
        1/g; zero where `members` is padded.
    columns : Array of int, shape (K, B)
        Working sets, distinct features.
    start : Array, shape (1 + K, B)
        Coefficients for standardised features, intercept first.
    l1, l2 : Array, shape ()
        Penalties.
    tolerance : Array, shape ()
        A fit whose KKT residual is at most this stays as it is.
    max_steps : int

    Returns
    -------
    Solved
    """
    design, mean, inverse_sd = _standardised(features, members, weight, columns)
    penalised = jnp.arange(design.shape[0])[:, None] > 0
    problem = _Problem(design, response[members], weight, l1 * penalised, l2 * penalised)

    def unfinished(state: tuple[jax.Array, ...]) -> jax.Array:
        step, _, _, finished, _ = state
        return (step < max_steps) & ~finished.all()

    def iterate(state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        step, b, eta, _, steps = state
        gradient = _gradient(problem, b, eta)
        finished = _residual(problem, b, gradient) <= tolerance
        new_b, new_eta = _newton_step(problem, b, eta, gradient)
        kept_b, kept_eta = jnp.where(finished, b, new_b), jnp.where(finished, eta, new_eta)
        return step + 1, kept_b, kept_eta, finished, steps + ~finished

    none = jnp.zeros(start.shape[1], dtype=bool)
    state = (0, start, _linear(problem, start), none, none.astype(int))
    _, b, eta, _, steps = jax.lax.while_loop(unfinished, iterate, state)
    slope = b[1:] * inverse_sd
    original = jnp.concatenate([b[:1] - (slope * mean).sum(axis=0)[None], slope])
    return Solved(b, original, _residual(problem, b, _gradient(problem, b, eta)), steps)


@jax.jit
def check(
    features: jax.Array,
    squares: jax.Array,
    response: jax.Array,
    learning: jax.Array,
    columns: jax.Array,
    original: jax.Array,
) -> Checked:
    """Score all observations, and find the features that violate the KKT conditions most.

    Parameters
    ----------
    features, squares : Array, shape (n, p)
        `squares` holds the squared features.
    response : Array, shape (n,)
    learning : Array of bool, shape (B, n)
    columns : Array of int, shape (K, B)
        Working sets; -1 where there is no feature.
    original : Array, shape (1 + K, B)
        As in `Solved`; zero where there is no feature.

    Returns
    -------
    Checked
    """
    weight = learning / jnp.maximum(learning.sum(axis=1, keepdims=True), 1)
    mean, mean_square = weight @ features, weight @ squares
    variance = mean_square - mean**2
    constant = variance <= CONSTANT * mean_square
    inverse_sd = jnp.where(constant, 0.0, jax.lax.rsqrt(jnp.where(constant, 1.0, variance)))
    log_odds = original[0][:, None] + jnp.einsum("kb,kbn->bn", original[1:], features.T[columns])
    residual = weight * (response - jax.nn.sigmoid(log_odds))
    centred = residual - weight * residual.sum(axis=1, keepdims=True)
    gradient = jnp.abs(centred @ features) * inverse_sd
    fit = jnp.arange(learning.shape[0])
    outside = gradient.at[fit, columns].multiply(columns < 0).max(axis=1)
    # Whole numbers below 2^53 for gradients up to one half, so that no two features tie.
    p = features.shape[1]
    rank = jnp.arange(p) - jnp.round(gradient * RESOLUTION) * 2.0 ** (p - 1).bit_length()
    rank = rank.at[fit, columns].add(jnp.where(original[1:] != 0, -SUPPORT, 0.0))
    return Checked(log_odds, outside, rank)


def _standardised(
    features: jax.Array, members: jax.Array, weight: jax.Array, columns: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Design (1 + K, g, B) with a row of ones first; means and 1/sd (0 for constants), (K, B)."""
    values = features[members[None], columns[:, None]]
    mean = (values * weight).sum(axis=1)
    mean_square = (values**2 * weight).sum(axis=1)
    values = values - mean[:, None]
    variance = (values**2 * weight).sum(axis=1)
    constant = variance <= CONSTANT * mean_square
    inverse_sd = jnp.where(constant, 0.0, jax.lax.rsqrt(jnp.where(constant, 1.0, variance)))
    standardised = values * inverse_sd[:, None]
    return jnp.concatenate([jnp.ones_like(values[:1]), standardised]), mean, inverse_sd


def _linear(problem: _Problem, b: jax.Array) -> jax.Array:
    return (problem.design * b[:, None]).sum(axis=0)


def _gradient(problem: _Problem, b: jax.Array, eta: jax.Array) -> jax.Array:
    """Gradient of the smooth part of F."""
    error = problem.weight * (jax.nn.sigmoid(eta) - problem.response)
    return (problem.design * error).sum(axis=1) + problem.l2 * b


def _residual(problem: _Problem, b: jax.Array, gradient: jax.Array) -> jax.Array:
    """Largest violation of the Karush-Kuhn-Tucker conditions."""
    active = (b != 0) | (problem.l1 == 0)
    at_zero = jnp.maximum(jnp.abs(gradient) - problem.l1, 0.0)
    return jnp.where(active, jnp.abs(gradient + problem.l1 * jnp.sign(b)), at_zero).max(axis=0)


def _objective(problem: _Problem, b: jax.Array, eta: jax.Array) -> jax.Array:
    loss = (problem.weight * (jax.nn.softplus(eta) - problem.response * eta)).sum(axis=0)
    return loss + (problem.l1 * jnp.abs(b) + 0.5 * problem.l2 * b**2).sum(axis=0)


def _newton_step(
    problem: _Problem, b: jax.Array, eta: jax.Array, gradient: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The best by F of the points that the quadratic model suggests, and its linear predictor."""
    share = jax.nn.sigmoid(eta)
    curvature = problem.weight * jnp.maximum(share * (1.0 - share), LEAST_CURVATURE)
    near, newton = _minimise_model(problem, b, gradient, curvature)
    clipped, shortened = _without_sign_changes(near, newton, problem.l1)
    downhill = _proximal_gradient(problem, b, gradient)
    shortened_eta = _linear(problem, shortened)
    points = [(shortened, shortened_eta), (downhill, _linear(problem, downhill))]
    for t in SHORTER_STEPS:
        points.append((b + t * (shortened - b), eta + t * (shortened_eta - eta)))
    best, best_eta = clipped, _linear(problem, clipped)
    best_value = _objective(problem, best, best_eta) - SLACK
    for point, point_eta in points:
        value = _objective(problem, point, point_eta)
        better = value < best_value
        best, best_eta = jnp.where(better, point, best), jnp.where(better, point_eta, best_eta)
        best_value = jnp.where(better, value, best_value)
    return best, best_eta


def _minimise_model(
    problem: _Problem, b: jax.Array, gradient: jax.Array, curvature: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Minimise the quadratic model of F at b approximately.

    Returns
    -------
    near : Array, shape (q, B)
        After coordinate descent.
    newton : Array, shape (q, B)
        The minimum for the signs of `near`, if they stay.
    """
    size, n_members, _ = problem.design.shape
    if size <= max(n_members, LARGEST_HESSIAN):
        return _minimise_by_hessian(problem, b, gradient, curvature)
    return _minimise_by_observations(problem, b, gradient, curvature)


def _minimise_by_hessian(
    problem: _Problem, b: jax.Array, gradient: jax.Array, curvature: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """With the Hessian (q, q, B): for few features or many observations."""
    hessian = jnp.einsum("kib,lib->klb", problem.design * curvature, problem.design)
    diagonal = (curvature * problem.design**2).sum(axis=1) + problem.l2 + RIDGE
    on_diagonal = jnp.eye(len(b), dtype=bool)[:, :, None]
    hessian = jnp.where(on_diagonal, diagonal[:, None], hessian)

    def descend(k: jax.Array, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        point, slope = state
        value = _soft_threshold(point[k] * diagonal[k] - slope[k], problem.l1[k]) / diagonal[k]
        slope = slope + hessian[k] * (value - point[k])
        return _with_row(point, k, value), slope

    near, slope = _cycles(descend, (b, gradient))
    active = (near != 0) | (problem.l1 == 0)
    right = jnp.where(active, -(slope + problem.l1 * jnp.sign(near)), 0.0)
    both = active[:, None] & active[None]
    system = jnp.where(both, hessian, on_diagonal.astype(hessian.dtype))
    return near, near + _solve(system, right)


def _minimise_by_observations(
    problem: _Problem, b: jax.Array, gradient: jax.Array, curvature: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """With systems of the size of the learning set: for more features than observations."""
    diagonal = (curvature * problem.design**2).sum(axis=1) + problem.l2 + RIDGE

    def slope_of(k: jax.Array, point: jax.Array, error: jax.Array) -> jax.Array:
        moved = (problem.l2[k] + RIDGE) * (point[k] - b[k])
        return gradient[k] + (problem.design[k] * error).sum(axis=0) + moved

    def descend(k: jax.Array, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        point, error = state
        slope = slope_of(k, point, error)
        value = _soft_threshold(point[k] * diagonal[k] - slope, problem.l1[k]) / diagonal[k]
        error = error + curvature * problem.design[k] * (value - point[k])
        return _with_row(point, k, value), error

    near, error = _cycles(descend, (b, jnp.zeros_like(curvature)))
    moved = (problem.l2 + RIDGE) * (near - b)
    slope = gradient + (problem.design * error).sum(axis=1) + moved
    active = (near != 0) | (problem.l1 == 0)
    right = jnp.where(active, -(slope + problem.l1 * jnp.sign(near)), 0.0)
    # Woodbury's identity for (Z'CZ + D)^(-1), D = l2 + RIDGE, on the active rows of Z.
    inverse = jnp.where(active, 1.0 / (problem.l2 + RIDGE), 0.0)
    scaled = problem.design * jnp.sqrt(curvature)
    inner = jnp.einsum("kib,kjb->ijb", scaled * inverse[:, None], scaled)
    inner = inner + jnp.eye(len(curvature))[:, :, None]
    step = inverse * right
    step = step - inverse * (scaled * _solve(inner, (scaled * step[:, None]).sum(axis=0))).sum(
        axis=1
    )
    return near, near + step


def _cycles(
    descend: Callable[[jax.Array, tuple[jax.Array, jax.Array]], tuple[jax.Array, jax.Array]],
    state: tuple[jax.Array, jax.Array],
) -> tuple[jax.Array, jax.Array]:
    size = len(state[0])
    return jax.lax.fori_loop(0, CYCLES * size, lambda t, s: descend(t % size, s), state)


def _solve(matrices: jax.Array, right: jax.Array) -> jax.Array:
    """Gauss-Jordan elimination for positive definite (q, q, B) and (q, B).

    One small loop, which compiles in the same short time for every q.
    """
    index = jnp.arange(len(right))[:, None]

    def step(k: jax.Array, rest: jax.Array) -> jax.Array:
        row = rest[k] / rest[k, k]
        return rest - (rest[:, k] - (index == k))[:, None] * row

    extended = jnp.concatenate([matrices, right[:, None]], axis=1)
    return jax.lax.fori_loop(0, len(right), step, extended)[:, -1]


def _without_sign_changes(
    near: jax.Array, newton: jax.Array, l1: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Two ways to stay where the model is exact: clip at zero, or stop at the first zero.

    The second never raises the model.
    """
    crossing = (near * newton < 0) & (l1 > 0)
    share = jnp.where(crossing, near / jnp.where(crossing, near - newton, 1.0), 1.0)
    length = share.min(axis=0)
    stopped = near + length * (newton - near)
    # The coefficient that stops the step is zero, not a rounding error away from it.
    return jnp.where(crossing, 0.0, newton), jnp.where(crossing & (share <= length), 0.0, stopped)


def _proximal_gradient(problem: _Problem, b: jax.Array, gradient: jax.Array) -> jax.Array:
    """Lower F for certain: a quarter of the trace of Z'Z/g bounds the curvature of the loss."""
    length = 1.0 / (0.25 * len(b) + problem.l2)
    return _soft_threshold(b - length * gradient, length * problem.l1)


def _soft_threshold(value: jax.Array, threshold: jax.Array) -> jax.Array:
    return jnp.sign(value) * jnp.maximum(jnp.abs(value) - threshold, 0.0)


def _with_row(matrix: jax.Array, k: jax.Array, row: jax.Array) -> jax.Array:
    return jax.lax.dynamic_update_index_in_dim(matrix, row, k, axis=0)
