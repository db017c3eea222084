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

All arrays have the fits of a batch as their last axis, so an elementary operation of one fit is a
vector operation over the batch. The work on one fit does not depend on the other fits.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ucvtest.common.float64 import in_float64, jax, jit, jnp

SHORTER_STEPS = (0.3, 0.05)
"""Shares of the Newton step that are tried in addition to the whole step. If they are also too
long, the proximal-gradient step wins."""

LARGEST_HESSIAN = 65
"""Coefficients up to which one Newton step solves systems in them; beyond, and with fewer
observations, systems in the observations are smaller."""

SLACK = 1e-13
"""Differences of F (which is at most log 2) below this are rounding errors: near the optimum
the Newton step is taken although F can no longer tell it from its starting point."""

RIDGE = 1e-9
"""Added to the Hessian: it keeps equal columns solvable, and only slows down the last steps."""

RIDGE_OF_MANY = 1e-7
"""The same where systems in the observations lose the digits of its reciprocal."""

LEAST_CURVATURE = 1e-10
"""Floor of p(1 - p): the curvature at a saturated observation says nothing of its surroundings."""

CONSTANT = 1e-12
"""Share of the mean square below which a variance is rounding error: the column is constant."""

RESOLUTION = 2.0**28
"""Gradients that agree to this many parts of one are tied when features are ranked, so that
rounding errors do not choose among equal columns."""

SUPPORT = 2.0**52
"""Rank bonus of features with non-zero coefficients."""


class Effort(NamedTuple):
    """How much work one call of `solve` does; traced, so that it can change at no cost."""

    steps: int
    """Newton steps, at most."""
    cycles: int
    """Cycles of coordinate descent in a Newton step, which find the support."""
    rounds: int
    """Exact solutions on the support in a Newton step; each but the first drops a coefficient."""


class Solved(NamedTuple):
    """Result of `solve` for B fits as NumPy arrays, intercepts first."""

    coefficients: Any
    """(1 + K, B), for standardised features."""
    original: Any
    """(1 + K, B), for the features as they came."""
    residual: Any
    """(B,) largest violation of the Karush-Kuhn-Tucker conditions within the working set."""
    steps: Any
    """(B,) Newton steps taken."""


class Checked(NamedTuple):
    """Result of `check` for B fits as NumPy arrays."""

    log_odds: Any
    """(B, n) for all observations."""
    excess: Any
    """(B,) by how much a gradient exceeds its penalty, over the features outside the working
    set; in units of standardised features, negative where none does."""
    rank: Any
    """(B, p) the features that the working set needs most have the smallest values; distinct."""


class _Problem(NamedTuple):
    design: jax.Array  # (q, g, B), q = 1 + K, the first row of ones
    response: jax.Array  # (g, B)
    weight: jax.Array  # (g, B), sums to one; zero for padding
    l1: jax.Array  # (q, B), zero for the intercept
    l2: jax.Array  # (q, B)


@in_float64
@partial(jit, static_argnames="standardize")
def solve(
    features: jax.Array,
    response: jax.Array,
    members: jax.Array,
    weight: jax.Array,
    columns: jax.Array,
    start_coefficients: jax.Array,
    spread: jax.Array,
    l1: jax.Array,
    l2: jax.Array,
    tolerance: jax.Array,
    effort: Effort,
    standardize: bool,
) -> Solved:
    """Take Newton steps on the working sets, as many as `effort` allows or each fit needs.

    `response` is (n,), or (B, n) for one of each fit; `members` (g, B) with `weight` 1/g, 0 where
    padded; `columns` (K, B) distinct features; `start_coefficients` (1 + K, B) for standardised
    features, intercept first; `spread` is what the features were divided by. A fit whose KKT
    residual is at most `tolerance` stays as it is. `standardize` penalises coefficients of
    standardised features, otherwise those before the division.
    """
    design, mean, inverse_sd = _standardised(features, members, weight, columns)
    factor = _penalty_factor(inverse_sd, spread[columns], standardize)
    factor = jnp.concatenate([jnp.zeros_like(factor[:1]), factor])
    fit = jnp.arange(members.shape[1])
    learnt = response[members] if response.ndim == 1 else response[fit, members]
    problem = _Problem(design, learnt, weight, l1 * factor, l2 * factor**2)

    def unfinished(state: tuple[Any, ...]) -> jax.Array:
        step, _, _, finished, _ = state
        return (step < effort.steps) & ~finished.all()

    def iterate(state: tuple[Any, ...]) -> tuple[Any, ...]:
        step, b, eta, _, steps = state
        gradient = _gradient(problem, b, eta)
        finished = _residual(problem, b, gradient) <= tolerance
        new_b, new_eta = _newton_step(problem, b, eta, gradient, effort)
        kept_b, kept_eta = jnp.where(finished, b, new_b), jnp.where(finished, eta, new_eta)
        return step + 1, kept_b, kept_eta, finished, steps + ~finished

    none = jnp.zeros(start_coefficients.shape[1], dtype=bool)
    state: tuple[Any, ...] = (
        0,
        start_coefficients,
        _linear(problem, start_coefficients),
        none,
        none.astype(int),
    )
    _, b, eta, _, steps = jax.lax.while_loop(unfinished, iterate, state)
    slope = b[1:] * inverse_sd
    original = jnp.concatenate([b[:1] - (slope * mean).sum(axis=0)[None], slope])
    return Solved(b, original, _residual(problem, b, _gradient(problem, b, eta)), steps)


@in_float64
@partial(jit, static_argnames="standardize")
def check(
    features: jax.Array,
    squares: jax.Array,
    response: jax.Array,
    learning: jax.Array,
    columns: jax.Array,
    original: jax.Array,
    spread: jax.Array,
    l1: jax.Array,
    standardize: bool,
) -> Checked:
    """Score all observations, and find the features that violate the KKT conditions most.

    `squares` (n, p) of the features; `columns` (K, B) are -1 where there is no feature, and
    `original` (1 + K, B), as in `Solved`, is zero there.
    """
    weight = learning / jnp.maximum(learning.sum(axis=1, keepdims=True), 1)
    mean, mean_square = weight @ features, weight @ squares
    variance = mean_square - mean**2
    constant = variance <= CONSTANT * mean_square
    inverse_sd = jnp.where(constant, 0.0, jax.lax.rsqrt(jnp.where(constant, 1.0, variance)))
    log_odds = original[0][:, None] + jnp.einsum("kb,kbn->bn", original[1:], features.T[columns])
    residual = weight * (response - jax.nn.sigmoid(log_odds))
    centred = residual - weight * residual.sum(axis=1, keepdims=True)
    excess = jnp.abs(centred @ features) * inverse_sd
    excess = excess - l1[:, None] * _penalty_factor(inverse_sd, spread, standardize)
    fit = jnp.arange(learning.shape[0])
    outside = excess.at[fit, columns].add(jnp.where(columns < 0, 0.0, -jnp.inf)).max(axis=1)
    # Whole numbers below 2^53, as gradients are below one, so that no two features tie.
    p = features.shape[1]
    digits = jnp.round(jnp.maximum(excess, -1.0) * RESOLUTION)
    rank = jnp.arange(p) - digits * 2.0 ** (p - 1).bit_length()
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


def _penalty_factor(inverse_sd: jax.Array, spread: jax.Array, standardize: bool) -> jax.Array:
    """What penalties are multiplied by, to be penalties on standardised features."""
    if standardize:
        return jnp.ones_like(inverse_sd)
    # A column that is constant stays without a coefficient.
    return jnp.where(inverse_sd > 0, inverse_sd / spread, 1.0)


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
    problem: _Problem, b: jax.Array, eta: jax.Array, gradient: jax.Array, effort: Effort
) -> tuple[jax.Array, jax.Array]:
    """The best by F of the points that the quadratic model suggests, and its linear predictor."""
    probability = jax.nn.sigmoid(eta)
    curvature = problem.weight * jnp.maximum(probability * (1.0 - probability), LEAST_CURVATURE)
    if problem.design.shape[0] <= max(problem.design.shape[1], LARGEST_HESSIAN):
        model = _model_by_hessian(problem, b, gradient, curvature)
    else:
        model = _model_by_observations(problem, b, gradient, curvature)
    near, newton = _minimise(model, problem.l1, b, effort)
    clipped = jnp.where((near * newton < 0) & (problem.l1 > 0), 0.0, newton)
    stopped = _stopped_at_zero(near, newton, problem.l1)
    stopped_eta = _linear(problem, stopped)
    points = [(stopped, stopped_eta)]
    for t in SHORTER_STEPS:
        points.append((b + t * (stopped - b), eta + t * (stopped_eta - eta)))
    downhill = _proximal_gradient(problem, b, gradient)
    points.append((downhill, _linear(problem, downhill)))
    best_point, best_eta = clipped, _linear(problem, clipped)
    best_value = _objective(problem, best_point, best_eta) - SLACK
    for point, point_eta in points:
        value = _objective(problem, point, point_eta)
        # Not "less than": NaN must lose to the last point, which is always finite.
        better = ~(value >= best_value)
        best_point, best_eta = (
            jnp.where(better, point, best_point),
            jnp.where(better, point_eta, best_eta),
        )
        best_value = jnp.where(better, value, best_value)
    return best_point, best_eta


class _Model(NamedTuple):
    """A quadratic model of the smooth part of F, plus the penalty on absolute values."""

    descend: Callable[[int], jax.Array]
    """From the number of cycles to a point, by coordinate descent from where the model is exact."""
    slope: Callable[[jax.Array], jax.Array]
    """Gradient of the quadratic at a point."""
    solve: Callable[[jax.Array, jax.Array], jax.Array]
    """Solution x of H x = right on the coefficients marked active, zero elsewhere."""


def _minimise(
    model: _Model, l1: jax.Array, b: jax.Array, effort: Effort
) -> tuple[jax.Array, jax.Array]:
    """Coordinate descent finds the support; then solve exactly, drop a coefficient, solve again.

    The second array is the minimum of the model if all signs of the first stay.
    """

    def settle(_: jax.Array, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        near = _stopped_at_zero(*state, l1)
        active = (near != 0) | (l1 == 0)
        right = jnp.where(active, -(model.slope(near) + l1 * jnp.sign(near)), 0.0)
        return near, near + model.solve(active, right)

    near = model.descend(effort.cycles)
    return jax.lax.fori_loop(0, effort.rounds, settle, (near, near))


def _model_by_hessian(
    problem: _Problem, b: jax.Array, gradient: jax.Array, curvature: jax.Array
) -> _Model:
    """With the Hessian (q, q, B): for few features or many observations."""
    size = len(b)
    hessian = jnp.einsum("kib,lib->klb", problem.design * curvature, problem.design)
    diagonal = (curvature * problem.design**2).sum(axis=1) + problem.l2 + RIDGE
    on_diagonal = jnp.eye(size, dtype=bool)[:, :, None]
    hessian = jnp.where(on_diagonal, diagonal[:, None], hessian)

    def update_coefficient(
        t: jax.Array, state: tuple[jax.Array, jax.Array]
    ) -> tuple[jax.Array, jax.Array]:
        k, (point, slope) = t % size, state
        value = _soft_threshold(point[k] * diagonal[k] - slope[k], problem.l1[k]) / diagonal[k]
        return _with_row(point, k, value), slope + hessian[k] * (value - point[k])

    def descend(cycles: int) -> jax.Array:
        return jax.lax.fori_loop(0, cycles * size, update_coefficient, (b, gradient))[0]

    def slope(point: jax.Array) -> jax.Array:
        return gradient + (hessian * (point - b)).sum(axis=1)

    def solve(active: jax.Array, right: jax.Array) -> jax.Array:
        both_active = active[:, None] & active[None]
        return _solve(jnp.where(both_active, hessian, on_diagonal.astype(hessian.dtype)), right)

    return _Model(descend, slope, solve)


def _model_by_observations(
    problem: _Problem, b: jax.Array, gradient: jax.Array, curvature: jax.Array
) -> _Model:
    """With systems in the observations: for more features than these."""
    size, n_members, _ = problem.design.shape
    ridge = problem.l2 + RIDGE_OF_MANY
    diagonal = (curvature * problem.design**2).sum(axis=1) + ridge
    scaled = problem.design * jnp.sqrt(curvature)

    def update_coefficient(
        t: jax.Array, state: tuple[jax.Array, jax.Array]
    ) -> tuple[jax.Array, jax.Array]:
        k, (point, moved) = t % size, state
        slope = gradient[k] + (scaled[k] * moved).sum(axis=0) + ridge[k] * (point[k] - b[k])
        value = _soft_threshold(point[k] * diagonal[k] - slope, problem.l1[k]) / diagonal[k]
        return _with_row(point, k, value), moved + scaled[k] * (value - point[k])

    def descend(cycles: int) -> jax.Array:
        return jax.lax.fori_loop(
            0, cycles * size, update_coefficient, (b, jnp.zeros_like(curvature))
        )[0]

    def slope(point: jax.Array) -> jax.Array:
        moved = (scaled * (point - b)[:, None]).sum(axis=0)
        return gradient + (scaled * moved).sum(axis=1) + ridge * (point - b)

    def solve(active: jax.Array, right: jax.Array) -> jax.Array:
        # Woodbury's identity for the inverse of S'S + D, D the ridge, on the active rows of S.
        inverse = active / ridge
        observation_system = jnp.einsum("kib,kjb->ijb", scaled * inverse[:, None], scaled)
        observation_system = observation_system + jnp.eye(n_members)[:, :, None]
        first = inverse * right
        correction = _solve(observation_system, (scaled * first[:, None]).sum(axis=0))
        return first - inverse * (scaled * correction).sum(axis=1)

    return _Model(descend, slope, solve)


def _solve(matrices: jax.Array, right: jax.Array) -> jax.Array:
    """Gauss-Jordan elimination for positive definite (q, q, B) and (q, B).

    One small loop, which compiles in the same short time for every q.
    """
    index = jnp.arange(len(right))[:, None]

    def step(k: jax.Array, remaining_system: jax.Array) -> jax.Array:
        row = remaining_system[k] / remaining_system[k, k]
        return remaining_system - (remaining_system[:, k] - (index == k))[:, None] * row

    extended = jnp.concatenate([matrices, right[:, None]], axis=1)
    return jax.lax.fori_loop(0, len(right), step, extended)[:, -1]


def _stopped_at_zero(near: jax.Array, newton: jax.Array, l1: jax.Array) -> jax.Array:
    """Go from `near` to `newton` until the first coefficient is zero: it lowers the model."""
    crossing = (near * newton < 0) & (l1 > 0)
    step_share = jnp.where(crossing, near / jnp.where(crossing, near - newton, 1.0), 1.0)
    length = step_share.min(axis=0)
    stopped = near + length * (newton - near)
    # The coefficient that stops the step is zero, not a rounding error away from it.
    return jnp.where(crossing & (step_share <= length), 0.0, stopped)


def _proximal_gradient(problem: _Problem, b: jax.Array, gradient: jax.Array) -> jax.Array:
    """Lower F for certain: a quarter of the trace of Z'Z/g bounds the curvature of the loss."""
    length = 1.0 / (0.25 * len(b) + problem.l2)
    return _soft_threshold(b - length * gradient, length * problem.l1)


def _soft_threshold(value: jax.Array, threshold: jax.Array) -> jax.Array:
    return jnp.sign(value) * jnp.maximum(jnp.abs(value) - threshold, 0.0)


def _with_row(matrix: jax.Array, k: jax.Array, row: jax.Array) -> jax.Array:
    return jax.lax.dynamic_update_index_in_dim(matrix, row, k, axis=0)
