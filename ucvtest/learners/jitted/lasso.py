"""Lasso and elastic-net logistic regression, by Newton's method on working sets of features."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ucvtest.common.checks import is_number
from ucvtest.common.float64 import jax, jnp
from ucvtest.common.padding import next_multiple
from ucvtest.common.words import excerpt
from ucvtest.data.sample import Sample
from ucvtest.learners.base import Scale
from ucvtest.learners.batching import (
    CACHE_NUMBERS,
    RESULT_NUMBERS,
    padded_rows,
    power_of_two,
)
from ucvtest.learners.jitted.penalties import PenalizedLearner, PenaltyScale, Steps
from ucvtest.learners.runner import MEMBERS_STEP, Data, State, with_attributes
from ucvtest.learners.solvers.linear_algebra import batch_last, solve, taken_one

TOLERANCE = 1e-9
"""Largest violation of an optimality condition, in units of the response."""

ROUNDING = 1e-12
"""Gradients this much above the penalty are at it: the null model is optimal."""

WIDTHS = (24, 64, 256, 1024, 4096, 16384, 65536)
"""Sizes of working sets; a fit moves on to the next where its support fills three quarters."""

ONE_WORKING_SET = 32
"""Up to this many features all of them are the working set."""

MOST_FITS = 64
"""Fits in one call."""

LARGEST_HESSIAN = 33
"""Coefficients up to which a Newton step solves systems in them; beyond, and with fewer
observations, systems in the observations are smaller."""

SHORTER_STEPS = (0.3, 0.05)
"""Shares of the Newton step that are tried in addition to the whole step."""

SLACK = 1e-13
"""Differences of the objective below this are rounding errors: near the optimum the Newton step is
taken although the objective can no longer tell it from its starting point."""

RIDGE = 1e-9
"""Added to the Hessian: it keeps equal columns solvable, and only slows down the last steps."""

RIDGE_OF_MANY = 1e-7
"""The same where systems in the observations lose the digits of its reciprocal."""

LEAST_CURVATURE = 1e-10
"""Floor of p(1 - p): the curvature at a saturated observation says nothing of its surroundings."""

CONSTANT = 1e-12
"""Share of the mean square below which a variance is rounding error: the column is constant."""


class Effort(NamedTuple):
    """How a fit is done; another effort needs no other compilation."""

    rounds: int
    """Working sets in one call."""
    steps: int
    """Newton steps on each of them."""
    cycles: int
    """Cycles of coordinate descent in a step, which find the support."""
    settled: int
    """Exact solutions on the support in a step; each but the first drops a coefficient."""


EASY, HARD = Effort(2, 2, 5, 1), Effort(5, 3, 20, 8)
"""What almost all fits need, and what fits with many features that are almost tied need."""

EASY_STEPS, ALL_STEPS = 20, 10**6
"""Newton steps on working sets of one size after which a fit counts as hard; `max_iter` alone."""


def lasso(
    lam: float, standardize: bool = True, scale: PenaltyScale = "mean", *, max_iter: int = 200
) -> "PenalizedLogistic":
    r"""Logistic regression with a lasso penalty, as R's glmnet fits it at one lambda.

    Parameters
    ----------
    lam : float
        Weight of the penalty, glmnet's lambda.
    standardize : bool
        Whether the features are standardised inside each learning set (standard deviation
        with divisor g), as in glmnet.
    scale : {"mean", "sum"}
        Minimise the mean negative log-likelihood + ``lam |b|_1``, or its sum + ``lam |b|_1``.
    max_iter : int
        Newton steps that one fit may take; a fit that needs more has no solution, which the
        evaluation reports as an error.

    Returns
    -------
    PenalizedLogistic

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    ``lasso(lam)`` is R's glmnet at one lambda; ``lasso(1 / C, standardize=False, scale="sum")``
    is scikit-learn's ``LogisticRegression(C=C, l1_ratio=1, solver="saga")``, fitted to the end.
    The intercept is not penalised; a column that is constant in a learning set gets no
    coefficient. Constant means a standard deviation below 1e-6 of the column's distance from
    its median over all observations. Every fit is iterated until no optimality
    (Karush-Kuhn-Tucker) condition of any feature is violated by more than 1e-9.

    Where the null model is optimal the score is log(n1/n0) exactly, zero for a balanced
    learning set: such a tie is predicted as the first class, as glmnet does, and counted.
    Equal columns share a minimum; its fitted values are unique inside the learning set.
    The working sets start at 24 features and grow as needed.

    References
    ----------
    Friedman, Hastie and Tibshirani (2010), Regularization paths for generalized linear models
    via coordinate descent, Journal of Statistical Software 33(1), equation (14).

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.lasso(0.08).name
    'lasso:0.08'
    """
    return PenalizedLogistic(lam, 1.0, max_iter, standardize, scale)


def elastic_net(
    lam: float,
    l1_ratio: float,
    standardize: bool = True,
    scale: PenaltyScale = "mean",
    *,
    max_iter: int = 200,
) -> "PenalizedLogistic":
    r"""Logistic regression with an elastic-net penalty, as R's glmnet fits it at one lambda.

    Parameters
    ----------
    lam : float
        Weight of the penalty, glmnet's lambda.
    l1_ratio : float
        Share of the absolute values in the penalty, above 0 and at most 1; glmnet's alpha.
    standardize, scale, max_iter
        As in `lasso`.

    Returns
    -------
    PenalizedLogistic

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    As `lasso`, with the penalty ``lam * (l1_ratio * |b|_1 + (1 - l1_ratio)/2 * |b|_2^2)``.
    Small shares lead to supports of hundreds of features, which cost accordingly.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.elastic_net(0.1, 0.5).name
    'elastic_net:0.1,0.5'
    """
    return PenalizedLogistic(lam, l1_ratio, max_iter, standardize, scale)


@dataclass(frozen=True)
class PenalizedLogistic(PenalizedLearner):
    """Logistic regression with an elastic-net penalty; made by `lasso` and `elastic_net`."""

    lam: float
    l1_ratio: float = 1.0
    max_iter: Steps = 200
    standardize: bool = True
    penalty_scale: PenaltyScale = "mean"
    width: int = field(default=0, init=False, repr=False)
    """Features in a working set, of the learner that fits."""

    family: ClassVar[str] = "lasso"
    arguments: ClassVar[tuple[str, ...]] = ("lam", "l1_ratio")
    scale: ClassVar[Scale] = "log_odds"
    numbers: ClassVar[tuple[str, ...]] = (*PenalizedLearner.numbers, "l1_ratio", "effort")
    unseen: ClassVar[tuple[str, ...]] = (*PenalizedLearner.unseen, "max_iter")
    effort: ClassVar[Effort] = EASY
    batch_rows: ClassVar[int] = 2048
    no_solution: ClassVar[str] = (
        "its optimality conditions were not met within max_iter Newton steps: "
        "raise lam, or raise max_iter"
    )

    def __post_init__(self) -> None:
        if not (is_number(self.lam) and self.lam > 0):
            raise ValueError(
                f"lam must be a positive number, got {excerpt(self.lam)}: "
                "use 'logistic:0' for a fit without penalty"
            )
        if not (is_number(self.l1_ratio) and 0 < self.l1_ratio <= 1):
            raise ValueError(
                f"l1_ratio must be above 0 and at most 1, got {self.l1_ratio!r}: "
                "use 'logistic:lam' for a ridge penalty alone"
            )
        super().__post_init__()

    @property
    def name(self) -> str:
        """``lasso:LAM`` or ``elastic_net:LAM,L1_RATIO``, and what differs from the defaults."""
        name = super().name
        return name if self.l1_ratio == 1 else name.replace("lasso", "elastic_net")

    def rows_per_call(self, sample: Sample) -> int:
        """Fewer for large samples, so that scores and coefficients need little memory."""
        return min(self.batch_rows, power_of_two(RESULT_NUMBERS // max(sample.matrix.shape)))

    def share(self, sample: Sample) -> Data:
        """Centre and scale the columns by median and mean absolute deviation.

        A column that is almost constant but for a few outliers thus keeps its digits in the
        learning sets without them.
        """
        centre = np.median(sample.matrix, axis=0)
        spread = np.abs(sample.matrix - centre).mean(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        x = (sample.matrix - centre) / spread
        columns = np.ascontiguousarray(padded_rows(x).T)
        distinct = np.ones(x.shape[1], dtype=bool)
        if self.l1_ratio == 1:
            # Of equal columns a lasso needs one, and without standardising that of the largest
            # unit, whose coefficient costs least; a penalty on squares has them share an effect.
            unit = np.zeros(len(spread)) if self.standardize else spread
            cheapest = np.argsort(-unit, kind="stable")
            distinct[cheapest] = first_of_equals(x[:, cheapest])
        return Data(x, sample.target, shared=Shared(columns, distinct, spread, centre))

    def count_members(self, state: State, learning: np.ndarray) -> int:
        """Those of the largest learning set, whose rows are picked out."""
        return int(learning.sum(axis=1).max())

    def codes(
        self, state: State, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray | None:
        """None: labels come from the scores."""
        return None

    def scores(
        self, state: State, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Log-odds; NaN where a fit did not converge."""
        if labels is not None:
            learning = np.broadcast_to(learning, labels.shape)
        # A learning set that occurs twice, as in a padded call, is fitted once.
        packed = np.packbits(learning, axis=1)
        if labels is not None:
            packed = np.hstack([packed, np.packbits(labels == 1, axis=1)])
        _, first, copy = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        own = None if labels is None else labels[first]
        begin = self._null_models(state, learning[first], own)
        return self.fits_from(begin, state, learning[first], own).scores[copy.ravel()]

    def coefficients(self, state: State, learning: np.ndarray) -> np.ndarray:
        """Intercept and coefficients (R, 1 + p) in the features' units, NaN without convergence.

        Each learning set contains both classes.
        """
        null = self._null_models(state, learning)
        scaled = self.fits_from(null, state, learning).coefficients
        spread, centre = np.asarray(state.data.shared.spread), np.asarray(state.data.shared.centre)
        slopes = scaled[:, 1:] / spread
        return np.column_stack([scaled[:, 0] - slopes @ centre, slopes])

    def path_scores(
        self, state: State, learning: np.ndarray, members: Sequence["PenalizedLogistic"]
    ) -> np.ndarray:
        """Log-odds (L, R, n) of learners that differ in `lam` alone.

        Each fit begins at the one with the next larger penalty.
        """
        scores = np.empty((len(members), *learning.shape))
        null = begin = self._null_models(state, learning)
        for place in np.argsort([-member.lam for member in members]):
            fits = members[place].fits_from(begin, state, learning)
            scores[place] = fits.scores
            has_failed = np.isnan(fits.coefficients[:, :1])
            begin = Fits(*(np.where(has_failed, *pair) for pair in zip(null, fits, strict=True)))
        return scores

    def _null_models(
        self, state: State, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> "Fits":
        """Those of learning sets, which nothing is known of but their labels."""
        y = np.asarray(state.data.y)[: learning.shape[1]] if labels is None else labels
        size, positive = learning.sum(axis=1), (learning * y).sum(axis=1)
        coefficients = np.zeros((len(learning), 1 + state.data.x.shape[1]))
        with np.errstate(divide="ignore"):
            coefficients[:, 0] = np.log(positive / (size - positive))
        return Fits(np.repeat(coefficients[:, :1], learning.shape[1], axis=1), coefficients)

    def fits_from(
        self, begin: "Fits", state: State, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> "Fits":
        """Fits, NaN where they did not converge.

        They take as many calls as they need, with larger and larger working sets. What a call does
        to a fit depends on nothing but that fit.
        """
        (count, n_obs), n_features = learning.shape, state.data.x.shape[1]
        members = next_multiple(self.count_members(state, learning), MEMBERS_STEP)
        fits = Fits(padded_rows(begin.scores, axis=1), begin.coefficients.copy())
        support = (fits.coefficients[:, 1:] != 0).sum(axis=1)
        is_open, is_complete = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
        steps = np.zeros(count, dtype=int)
        for width, effort, most_steps in stages(n_features, self.l1_ratio):
            fitter = with_attributes(self, width=width, effort=effort)
            numbers = (width + 1) * max(members, min(width + 1, LARGEST_HESSIAN))
            most_fits = min(MOST_FITS, power_of_two(4 * CACHE_NUMBERS // numbers))
            last = np.minimum(steps + most_steps, self.max_iter) - effort.steps
            room = 0.75 * width if width < n_features else n_features
            queue = np.flatnonzero(is_open & (support <= room) & ((steps <= last) | (steps == 0)))
            while len(queue):
                rows, queue = queue[:most_fits], queue[most_fits:]
                # A call has one shape: some of its fits may be there twice.
                call = np.resize(rows, most_fits)
                rounds = np.minimum((last - steps)[call] // effort.steps + 1, effort.rounds)
                own = None if labels is None else labels[call]
                start = Fits(*(array[call] for array in fits))
                progress = fitter.mapped(state, learning[call], own, start, rounds)
                for array, new in zip(fits, progress.fits, strict=True):
                    array[call] = new
                support[call], is_open[call] = progress.support, ~progress.is_done
                is_complete[call] = progress.is_complete
                steps[call] = steps[call] + effort.steps * progress.rounds
                goes_on = is_open & (is_complete | (support <= room)) & (steps <= last)
                queue = np.concatenate([queue, rows[goes_on[rows]]])
        for array in fits:
            array[is_open] = np.nan
        return Fits(fits.scores[:, :n_obs], fits.coefficients)

    def fit(self, data: Data, w: jax.Array, *parts: Any) -> "Progress":
        """Go on with a fit, from where it is, for some working sets at most."""
        begin, rounds = parts
        x, shared, size = data.x, data.shared, w.sum()
        members = jnp.nonzero(w, size=self.most_members, fill_value=0)[0]
        v, y = (jnp.arange(self.most_members) < size) / size, data.y[members]
        mean, square = (w / size) @ x, (w / size) @ x**2
        unit = inverse_deviation(square - mean**2, square)
        lam = self.total_penalty(size) / size
        l1, l2 = lam * self.l1_ratio, lam * (1.0 - self.l1_ratio)
        # A penalty near the tolerance asks for more digits.
        tolerance = jnp.minimum(TOLERANCE, 1e-3 * l1)

        def factor(unit: jax.Array, spread: jax.Array) -> jax.Array:
            # A penalty on b is one on the coefficient of the standardised column.
            own = jnp.ones_like(unit) if self.standardize else unit / spread
            return jnp.where(unit > 0, own, 1.0)

        penalty = jnp.where(shared.distinct, l1 * factor(unit, shared.spread), jnp.inf)

        def excess_of(scores: jax.Array) -> tuple[jax.Array, jax.Array]:
            """By how much slopes of columns exceed the penalty, and the intercept's slope."""
            error = v * (y - jax.nn.sigmoid(scores[members]))
            spread_out = jnp.zeros(len(x)).at[members].add(error)
            slope = (spread_out @ x - error.sum() * mean) * unit
            return jnp.abs(slope) - penalty, jnp.abs(error.sum())

        def improve(carry: tuple[Any, ...]) -> tuple[Any, ...]:
            count, (_, b), excess, *_ = carry
            # In single precision, which has a quick top_k.
            rank = jnp.where(b[1:] != 0, jnp.inf, excess).astype(jnp.float32)
            columns = jax.lax.top_k(rank, self.width)[1]
            rows = shared.columns[columns]
            z = rows[:, members].T
            centre = v @ z
            z = z - centre
            variance = v @ z**2
            own_unit = inverse_deviation(variance, variance + centre**2)
            ones = jnp.ones((len(members), 1))
            z = jnp.concatenate([ones, z * own_unit], axis=1)
            own_factor = factor(own_unit, shared.spread[columns])
            problem = Problem(
                *(z, y, v),
                jnp.concatenate([jnp.zeros(1), l1 * own_factor]),
                jnp.concatenate([jnp.zeros(1), l2 * own_factor**2]),
            )
            slopes = b[1:][columns]
            start = b[0] + slopes @ centre
            scaled = slopes / jnp.where(own_unit > 0, own_unit, 1.0)
            own = problem.improved(jnp.concatenate([start[None], scaled]), self.effort)
            slopes = own[1:] * own_unit
            intercept = own[0] - slopes @ centre
            b = b.at[1 + columns].set(slopes).at[0].set(intercept)
            scores = slopes @ rows + intercept
            excess, _ = excess_of(scores)
            is_complete = excess.at[columns].set(-jnp.inf).max() <= tolerance
            done = is_complete & (problem.violation(own) <= tolerance)
            return count + 1, Fits(scores, b), excess, is_complete, done

        def unfinished(carry: tuple[Any, ...]) -> jax.Array:
            count, *_, done = carry
            return (count < rounds) & ~done

        excess, of_intercept = excess_of(begin.scores)
        is_null = (begin.coefficients[1:] == 0).all()
        is_null &= jnp.maximum(excess.max(), of_intercept) <= ROUNDING
        carry: tuple[Any, ...] = 0, begin, excess, is_null, is_null
        count, fits, _, is_complete, done = jax.lax.while_loop(unfinished, improve, carry)
        support = (fits.coefficients[1:] != 0).sum()
        return Progress(fits, support, count, is_complete, done)


class Shared(NamedTuple):
    """What all fits share, without observations."""

    columns: Any
    """(p, N) the features once more: rows are picked out faster than columns."""
    distinct: Any
    """(p,) which of them are looked at, where others leave room."""
    spread: Any
    """(p,) the numbers by which the features were divided."""
    centre: Any
    """(p,) the numbers subtracted from them before."""


class Fits(NamedTuple):
    """Where fits are, one or many."""

    scores: Any
    """(R, n) of all observations."""
    coefficients: Any
    """(R, 1 + p) intercept and coefficients of the columns as they are shared."""


class Progress(NamedTuple):
    """Where a call of a fit ends."""

    fits: Fits
    support: Any
    """How many coefficients are not zero, the intercept aside."""
    rounds: Any
    """Working sets that it took."""
    is_complete: Any
    """Whether no column outside the last one is missing."""
    is_done: Any
    """Whether no optimality condition is violated."""


class Problem(NamedTuple):
    """The problem of a working set, whose first column is one of ones."""

    z: jax.Array
    """(g, q)"""
    y: jax.Array
    v: jax.Array
    """(g,) weights of the losses; zero where there is no observation."""
    l1: jax.Array
    """(q,) zero for the intercept."""
    l2: jax.Array

    def improved(self, b: jax.Array, effort: Effort) -> jax.Array:
        """Coefficients after some Newton steps."""
        better: jax.Array
        better = jax.lax.fori_loop(0, effort.steps, lambda _, b: self._step(b, effort), b)
        return better

    def violation(self, b: jax.Array) -> jax.Array:
        """Largest violation of an optimality (Karush-Kuhn-Tucker) condition."""
        slope = self._slope(b, jax.nn.sigmoid(self.z @ b))
        is_active = (b != 0) | (self.l1 == 0)
        at_zero = jnp.maximum(jnp.abs(slope) - self.l1, 0.0)
        return jnp.where(is_active, jnp.abs(slope + self.l1 * jnp.sign(b)), at_zero).max()

    def _slope(self, b: jax.Array, probability: jax.Array) -> jax.Array:
        """Gradient of the smooth part of the objective."""
        return (self.v * (probability - self.y)) @ self.z + self.l2 * b

    def _objective(self, b: jax.Array, eta: jax.Array) -> jax.Array:
        loss = self.v @ (jax.nn.softplus(eta) - self.y * eta)
        return loss + self.l1 @ jnp.abs(b) + 0.5 * self.l2 @ b**2

    def _step(self, b: jax.Array, effort: Effort) -> jax.Array:
        """The best of some points that a quadratic model suggests.

        Coordinate descent finds the support. Exact solutions on it follow: each stops where the
        first coefficient becomes zero. Hard fits also try a point that is downhill for certain.
        """
        z, l1, eta = self.z, self.l1, self.z @ b
        probability = jax.nn.sigmoid(eta)
        slope = self._slope(b, probability)
        curvature = self.v * jnp.maximum(probability * (1.0 - probability), LEAST_CURVATURE)
        by_hessian = len(b) <= max(len(eta), LARGEST_HESSIAN)
        model = (Hessian if by_hessian else Observations).of(z, curvature, self.l2)
        cycles = jnp.asarray(effort.cycles)
        near = batch_last(type(model).descended)(*model, slope, b, l1, cycles)

        def settle(_: Any, points: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            near = stopped_at_zero(*points, l1)
            is_active = (near != 0) | (l1 == 0)
            right = -(slope + model.times(near - b) + l1 * jnp.sign(near))
            return near, near + model.solved(is_active, jnp.where(is_active, right, 0.0))

        near, newton = jax.lax.fori_loop(0, effort.settled, settle, (near, near))
        whole = stopped_at_zero(near, newton, l1)
        ahead = z @ whole
        shorter = [(b + t * (whole - b), eta + t * (ahead - eta)) for t in SHORTER_STEPS]
        best = self._best((whole, ahead), [*shorter, (b, eta)])

        def safer() -> tuple[jax.Array, jax.Array]:
            clipped = jnp.where((near * newton < 0) & (l1 > 0), 0.0, newton)
            # A quarter of the trace of Z'Z/g bounds the curvature, so this lowers the objective.
            length = 1.0 / (0.25 * len(b) + self.l2)
            downhill = soft_threshold(b - length * slope, length * l1)
            return self._best(best, [(clipped, z @ clipped), (downhill, z @ downhill)])

        return jax.lax.cond(effort.settled > 1, safer, lambda: best)[0]

    def _best(
        self, best: tuple[jax.Array, jax.Array], more: list[tuple[jax.Array, jax.Array]]
    ) -> tuple[jax.Array, jax.Array]:
        """Coefficients and linear predictors with the smallest objective, the first if in doubt."""
        least = self._objective(*best) - SLACK
        for point in more:
            value = self._objective(*point)
            # Not "less than": NaN must lose to the last point, which is always finite.
            is_better = ~(value >= least)
            best = jnp.where(is_better, point[0], best[0]), jnp.where(is_better, point[1], best[1])
            least = jnp.where(is_better, value, least)
        return best


class Hessian(NamedTuple):
    """The quadratic part of a model by its matrix, for few columns."""

    matrix: jax.Array
    """(q, q)"""

    @classmethod
    def of(cls, z: jax.Array, curvature: jax.Array, l2: jax.Array) -> "Hessian":
        """From columns and second derivatives of the losses."""
        return cls((z.T * curvature) @ z + jnp.diag(l2 + RIDGE))

    @staticmethod
    def descended(
        matrix: jax.Array, slope: jax.Array, b: jax.Array, l1: jax.Array, cycles: jax.Array
    ) -> jax.Array:
        """Minimise by coordinate descent from b (q, R), many models side by side."""

        def update(t: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            b, slope = carry
            k = t % len(b)
            row, old = taken_one(matrix, k, 0), taken_one(b, k, 0)
            curvature = taken_one(row, k, 0)
            new = old * curvature - taken_one(slope, k, 0)
            new = soft_threshold(new, taken_one(l1, k, 0)) / curvature
            return b.at[k].set(new), slope + row * (new - old)

        lowest: jax.Array = jax.lax.fori_loop(0, cycles[0] * len(b), update, (b, slope))[0]
        return lowest

    def times(self, change: jax.Array) -> jax.Array:
        """The change of the slope."""
        return self.matrix @ change

    def solved(self, is_active: jax.Array, right: jax.Array) -> jax.Array:
        """Solution for the active coefficients; zero for the others."""
        is_inside = is_active & is_active[:, None]
        return solve(jnp.where(is_inside, self.matrix, jnp.eye(len(right))), right[:, None])[0][
            :, 0
        ]


class Observations(NamedTuple):
    """The same by its square root, for more columns than observations."""

    root: jax.Array
    """(q, g)"""
    ridge: jax.Array
    """(q,)"""

    @classmethod
    def of(cls, z: jax.Array, curvature: jax.Array, l2: jax.Array) -> "Observations":
        """See `Hessian`."""
        return cls(z.T * jnp.sqrt(curvature), l2 + RIDGE_OF_MANY)

    @staticmethod
    def descended(
        root: jax.Array,
        ridge: jax.Array,
        slope: jax.Array,
        b: jax.Array,
        l1: jax.Array,
        cycles: jax.Array,
    ) -> jax.Array:
        """See `Hessian`."""
        begin, curvature = b, (root**2).sum(axis=1) + ridge

        def update(t: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            b, moved = carry
            k = t % len(b)
            row, old = taken_one(root, k, 0), taken_one(b, k, 0)
            of_k = taken_one(curvature, k, 0)
            own = taken_one(ridge, k, 0) * (old - taken_one(begin, k, 0))
            new = old * of_k - (taken_one(slope, k, 0) + (row * moved).sum(axis=0) + own)
            new = soft_threshold(new, taken_one(l1, k, 0)) / of_k
            return b.at[k].set(new), moved + row * (new - old)

        carry = b, jnp.zeros_like(root[0])
        lowest: jax.Array = jax.lax.fori_loop(0, cycles[0] * len(b), update, carry)[0]
        return lowest

    def times(self, change: jax.Array) -> jax.Array:
        """See `Hessian`."""
        return self.root @ (change @ self.root) + self.ridge * change

    def solved(self, is_active: jax.Array, right: jax.Array) -> jax.Array:
        """By Woodbury's identity for the inverse of S'S + D, D the ridge, on the active rows."""
        inverse = is_active / self.ridge
        system = (self.root.T * inverse) @ self.root + jnp.eye(self.root.shape[1])
        first = inverse * right
        correction = solve(system, (first @ self.root)[:, None])[0][:, 0]
        return first - inverse * (self.root @ correction)


def first_of_equals(matrix: np.ndarray) -> np.ndarray:
    """Which columns are equal to none before them, but for their sign; (p,)."""
    first = np.take_along_axis(matrix, (matrix != 0).argmax(axis=0)[None], axis=0)
    # Adding zero turns -0.0 into 0.0.
    columns = np.ascontiguousarray((matrix * np.sign(first) + 0.0).T)
    rows = columns.view(np.dtype((np.void, columns.itemsize * columns.shape[1]))).ravel()
    is_first = np.zeros(len(rows), dtype=bool)
    is_first[np.unique(rows, return_index=True)[1]] = True
    return is_first


def stages(n_features: int, l1_ratio: float) -> Iterator[tuple[int, Effort, int]]:
    """Sizes of working sets, efforts, and Newton steps at most, until a fit converges."""
    narrow = n_features <= ONE_WORKING_SET
    # With a penalty on squares more features have a coefficient.
    widths = WIDTHS[l1_ratio < 1 :]
    for width in (*(width for width in widths if width < n_features and not narrow), n_features):
        yield width, EASY, EASY_STEPS
        yield width, HARD, ALL_STEPS


def inverse_deviation(variance: jax.Array, square: jax.Array) -> jax.Array:
    """One over the standard deviation; 0 for constants, by their mean square."""
    varies = variance > CONSTANT * square
    return jnp.where(varies, jax.lax.rsqrt(jnp.where(varies, variance, 1.0)), 0.0)


def stopped_at_zero(near: jax.Array, newton: jax.Array, l1: jax.Array) -> jax.Array:
    """Go from `near` to `newton` until the first coefficient is zero: it lowers the model."""
    crosses = (near * newton < 0) & (l1 > 0)
    share = jnp.where(crosses, near / jnp.where(crosses, near - newton, 1.0), 1.0)
    stopped = near + share.min() * (newton - near)
    # The coefficient that stops the step is zero, not a rounding error away from it.
    return jnp.where(crosses & (share <= share.min()), 0.0, stopped)


def soft_threshold(value: jax.Array, threshold: jax.Array) -> jax.Array:
    """The value, nearer to zero by a threshold."""
    return jnp.sign(value) * jnp.maximum(jnp.abs(value) - threshold, 0.0)
