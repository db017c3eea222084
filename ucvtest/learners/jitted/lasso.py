"""Lasso and elastic-net logistic regression, many learning sets at once.

Each fit works on a small set of features; a matrix product over the whole batch then checks
the optimality conditions on all features and names those that are missing. Fits that are done
leave their batch and others take their place, so that no fit waits for the slowest. Where Numba
is installed, compiled loops do what is easy first.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from ucvtest.common.checks import is_integer, is_number
from ucvtest.common.float64 import to_device
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Scale
from ucvtest.learners.batching import padded_rows, padded_size
from ucvtest.learners.jitted.ridge import SCALES, PenaltyScale
from ucvtest.learners.solvers.penalized_logistic import (
    LARGEST_HESSIAN,
    Checked,
    Effort,
    Solved,
    check,
    solve,
)

__all__ = ["PenalizedLogistic", "elastic_net", "lasso"]

TOLERANCE = 1e-9
"""Largest violation of an optimality condition, in units of the response."""

ROUNDING = 1e-12
"""Gradients this much above the penalty are at it: the null model is optimal."""

EASY = Effort(steps=3, cycles=5, rounds=1)
"""A visit as almost all fits need it."""

HARD = Effort(steps=3, cycles=20, rounds=8)
"""A visit to a fit with many features that are almost tied, as in tiny learning sets."""

EASY_STEPS = 15
"""Newton steps after which a fit counts as hard."""

WORKING_SETS = (24, 64, 256, 1024, 4096, 16384, 65536)
"""Sizes of working sets; a fit moves on to the next where its support fills three quarters."""

ONE_WORKING_SET = 32
"""Up to this many features all of them are the working set."""

CACHE_NUMBERS = 2**18
"""Numbers in the largest array of one batch: about a processor's second-level cache."""

MOST_SCORES = 2**22
"""Scores of one call: 32 MB."""

MEMBERS_STEP, WIDE_STEP = 16, 256
"""Learning sets, and the observations that `solve` picks them from, are filled up to multiples."""

HIGHEST_BATCH, LOW_BATCH = 256, 32
"""Fits in one batch, and in a batch for the last of them."""


def lasso(
    lam: float,
    standardize: bool = True,
    scale: PenaltyScale = "mean",
    *,
    max_iter: int = 200,
    compiled: bool | None = None,
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
        Minimise the mean negative log-likelihood + lam |b|_1, or the sum of it + lam |b|_1.
    max_iter : int
        Newton steps that one fit may take; a fit that needs more has no solution, which the
        evaluation reports as an error.
    compiled : bool, optional
        Whether loops compiled by Numba (``pip install ucvtest[fast]``) do the fits, as they do
        by default where Numba is installed. The result is the same.

    Returns
    -------
    PenalizedLogistic

    Raises
    ------
    ValueError
        If an argument is out of range, or `compiled` is True without Numba.

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
    return PenalizedLogistic(lam, 1.0, max_iter, standardize, scale, compiled)


def elastic_net(
    lam: float,
    l1_ratio: float,
    standardize: bool = True,
    scale: PenaltyScale = "mean",
    *,
    max_iter: int = 200,
    compiled: bool | None = None,
) -> "PenalizedLogistic":
    r"""Logistic regression with an elastic-net penalty, as R's glmnet fits it at one lambda.

    Parameters
    ----------
    lam : float
        Weight of the penalty, glmnet's lambda.
    l1_ratio : float
        Share of the absolute values in the penalty, above 0 and at most 1; glmnet's alpha.
    standardize, scale, max_iter, compiled
        As in `lasso`.

    Returns
    -------
    PenalizedLogistic

    Raises
    ------
    ValueError
        If an argument is out of range, or `compiled` is True without Numba.

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
    return PenalizedLogistic(lam, l1_ratio, max_iter, standardize, scale, compiled)


@dataclass(frozen=True, eq=False)
class Data:
    """What all learning sets share; JAX arrays, rows padded with zeros to a fixed shape.

    `solve` picks its learning sets out of more rows, which cost it nothing and let it be compiled
    for the size of learning sets alone.
    """

    matrix: np.ndarray
    """(n, p) the features without padding, as NumPy array."""
    distinct: np.ndarray
    """(p,) which of them the compiled form looks at."""
    features: Any
    """(N, p), centred and scaled: it changes rounding errors, but not the rules."""
    squares: Any
    """(N, p)"""
    response: Any
    """(N,) zero or one."""
    wide_features: Any
    """(M, p) the same for `solve`."""
    wide_response: Any
    """(M,)"""
    codes: np.ndarray
    """(n,) the response without padding."""
    centre: np.ndarray
    """(p,) what was subtracted from the features."""
    spread: np.ndarray
    """(p,) what they were divided by."""


@dataclass(frozen=True)
class PenalizedLogistic(JittedLearner):
    """Logistic regression with an elastic-net penalty; made by `lasso` and `elastic_net`."""

    lam: float
    l1_ratio: float = 1.0
    max_iter: int = 200
    standardize: bool = True
    penalty_scale: PenaltyScale = "mean"
    compiled: bool | None = field(default=None, compare=False)

    scale: ClassVar[Scale] = "log_odds"
    batch_rows: ClassVar[int] = 2048
    no_solution: ClassVar[str] = (
        "its optimality conditions were not met within max_iter Newton steps: "
        "raise lam, or raise max_iter"
    )

    def __post_init__(self) -> None:
        if not (is_number(self.lam) and self.lam > 0):
            raise ValueError(
                f"lam must be a positive number, got {self.lam!r}: "
                "use scikit-learn's LogisticRegression for a fit without penalty"
            )
        if not (is_number(self.l1_ratio) and 0 < self.l1_ratio <= 1):
            raise ValueError(
                f"l1_ratio must be above 0 and at most 1, got {self.l1_ratio!r}: "
                "use scikit-learn's LogisticRegression for a ridge penalty alone"
            )
        if not is_integer(self.max_iter) or self.max_iter < 1:
            raise ValueError(
                f"max_iter must be a positive integer, got {self.max_iter!r}: 200 is the default"
            )
        if self.penalty_scale not in SCALES:
            raise ValueError(
                f"scale={self.penalty_scale!r} is unknown: use one of {', '.join(SCALES)}"
            )
        if self.compiled and not _numba_is_installed():
            raise ValueError(
                "compiled=True needs Numba: pip install 'ucvtest[fast]', or leave compiled out"
            )

    @property
    def name(self) -> str:
        """``lasso:LAM`` or ``elastic_net:LAM,L1_RATIO``, and what differs from the defaults."""
        options = [str(self.lam)] if self.l1_ratio == 1 else [f"{self.lam},{self.l1_ratio}"]
        if not self.standardize:
            options.append("standardize=false")
        if self.penalty_scale != "mean":
            options.append(f"scale={self.penalty_scale}")
        return f"{'lasso' if self.l1_ratio == 1 else 'elastic_net'}:{','.join(options)}"

    def rows_per_call(self, sample: Sample) -> int:
        """Fewer for many observations, so that the scores of one call need little memory."""
        return _power_of_two(min(self.batch_rows, MOST_SCORES // sample.n_obs))

    def prepare(self, sample: Sample) -> Data:
        """Centre and scale the columns by median and mean absolute deviation.

        A column that is almost constant but for a few outliers thus keeps its digits in the
        learning sets without them.
        """
        centre = np.median(sample.matrix, axis=0)
        spread = np.abs(sample.matrix - centre).mean(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        matrix = np.ascontiguousarray((sample.matrix - centre) / spread)
        # Of equal columns a lasso needs one; with a penalty on squares they share their effect.
        distinct = _distinct(matrix) if self.l1_ratio == 1 else np.ones(len(centre), dtype=bool)
        features, response = padded_rows(matrix), padded_rows(sample.target)
        features, squares, response = to_device((features, features**2, response))
        wide: list[Any] = [to_device(_wide(each)) for each in (matrix, sample.target)]
        return Data(
            *(matrix, distinct, features, squares, response),
            wide_features=wide[0],
            wide_response=wide[1],
            codes=sample.target,
            centre=centre,
            spread=spread,
        )

    def scores(
        self, state: Data, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Log-odds; NaN where a fit did not converge."""
        if labels is not None:
            learning = np.broadcast_to(learning, labels.shape)
        null, uncertain = self._null_models(state, learning, labels)
        scores = np.repeat(null[:, None], learning.shape[1], axis=1)
        # The same learning set twice, as where a call is filled up, is one fit.
        packed = np.packbits(learning[uncertain], axis=1)
        if labels is not None:
            packed = np.hstack([packed, np.packbits(labels[uncertain] == 1, axis=1)])
        _, first, copy = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        chosen = uncertain[first]
        fitted = np.empty((len(chosen), learning.shape[1]))
        chosen_labels = None if labels is None else labels[chosen]
        for rows, fits in self._fit(state, learning[chosen], chosen_labels, null[chosen]):
            fitted[rows] = fits.log_odds
        scores[uncertain] = fitted[copy.ravel()]
        return scores

    def coefficients(self, state: Data, learning: np.ndarray) -> np.ndarray:
        """Intercept and coefficients of every fit, in the units of the features.

        Parameters
        ----------
        state : Data
            What `prepare` returned.
        learning : ndarray of bool, shape (R, n)
            Learning sets with both classes in each.

        Returns
        -------
        ndarray, shape (R, 1 + p)
            NaN where a fit did not converge.
        """
        null, uncertain = self._null_models(state, learning, None)
        scaled = np.zeros((len(learning), 1 + len(state.centre)))
        scaled[:, 0] = null
        for rows, fits in self._fit(state, learning[uncertain], None, null[uncertain]):
            scaled[uncertain[rows]] = fits.by_feature()
        slopes = scaled[:, 1:] / state.spread
        return np.column_stack([scaled[:, 0] - slopes @ state.centre, slopes])

    def _null_models(
        self, data: Data, learning: np.ndarray, labels: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Log-odds of the null models (R,), and the rows where they may not be optimal.

        By Cauchy's inequality no standardised feature has a covariance with the response above
        the response's standard deviation: where the penalty is larger, no product is needed.
        Features in their own units have no such bound.
        """
        size = learning.sum(axis=1)
        positive = learning @ data.codes if labels is None else (learning * labels).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            null = np.log(positive / (size - positive))
            deviation = np.sqrt(positive / size * (1.0 - positive / size))
        bound = self.penalties(size)[0] if self.standardize else 0.0
        return null, np.flatnonzero(deviation > bound)

    @property
    def _is_compiled(self) -> bool:
        return _numba_is_installed() if self.compiled is None else self.compiled

    def penalties(self, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights of absolute values and of half the squares beside the mean loss, (R,) each."""
        lam = self.lam / (size if self.penalty_scale == "sum" else np.ones(len(size)))
        return lam * self.l1_ratio, lam * (1.0 - self.l1_ratio)

    def _fit(
        self, data: Data, learning: np.ndarray, labels: np.ndarray | None, null: np.ndarray
    ) -> Iterator[tuple[np.ndarray, "_Fits | _CompiledFits"]]:
        """Fit with larger and larger working sets; of two fits for one row the later one counts."""
        rows = np.arange(len(learning))
        if len(rows) and self._is_compiled:
            easy = _CompiledFits(data, self, learning, labels)
            yield rows, easy
            rows = np.flatnonzero(np.isnan(easy.log_odds[:, 0]))
        if not len(rows):
            return
        labels = None if labels is None else labels[rows]
        fits = _Fits(data, self, learning[rows], labels, null[rows, None])
        for size in _working_set_sizes(data.features.shape[1]):
            outgrown = fits.run(size, self.max_iter)
            yield rows, fits
            if not len(outgrown):
                return
            rows, fits = rows[outgrown], fits.subset(outgrown)


class _CompiledFits:
    """Fits by compiled loops; NaN where a fit is left to the other form."""

    def __init__(
        self,
        data: Data,
        learner: PenalizedLogistic,
        learning: np.ndarray,
        labels: np.ndarray | None,
    ) -> None:
        # Numba takes long to import, and may not be there.
        from ucvtest.learners.solvers.compiled_logistic import fit

        l1, l2 = learner.penalties(learning.sum(axis=1))
        self._n_features = data.matrix.shape[1]
        self._fitted = fit(
            data.matrix,
            data.distinct,
            np.ascontiguousarray(data.codes[None] if labels is None else labels, dtype=float),
            np.ascontiguousarray(learning),
            data.spread,
            l1,
            l2,
            _tolerances(l1),
            learner.standardize,
            learner.max_iter,
        )
        self.log_odds = self._fitted.log_odds

    def by_feature(self) -> np.ndarray:
        """Intercepts and coefficients (R, 1 + p); NaN where a fit is left to the other form."""
        _, columns, original = self._fitted
        return _by_feature(self.log_odds, columns, original, self._n_features)


class _Fits:
    """The state of many fits on their way to convergence.

    A visit takes a batch of fits through a few Newton steps on their working sets and one
    check of all features. It depends on nothing but the fit's own state, so the order and the
    company in which fits are visited do not matter.
    """

    def __init__(
        self,
        data: Data,
        learner: PenalizedLogistic,
        learning: np.ndarray,
        labels: np.ndarray | None,
        coefficients: np.ndarray,
    ) -> None:
        """Start at coefficients of shape (R, 1), the intercepts of the null models."""
        self.data, self.learner = data, learner
        self.learning, self.labels = learning, labels
        self.l1, self.l2 = learner.penalties(learning.sum(axis=1))
        self.tolerance = _tolerances(self.l1)
        self.coefficients = coefficients
        self.original = coefficients
        self.columns = np.empty((len(learning), 0), dtype=int)
        self.steps = np.zeros(len(learning), dtype=int)
        self.log_odds = np.full(learning.shape, np.nan)

    def subset(self, rows: np.ndarray) -> "_Fits":
        """Some of the fits, to go on with."""
        start = self.coefficients[rows]
        labels = None if self.labels is None else self.labels[rows]
        chosen = _Fits(self.data, self.learner, self.learning[rows], labels, start)
        chosen.original = self.original[rows]
        chosen.columns = self.columns[rows]
        chosen.steps = self.steps[rows]
        return chosen

    def run(self, size: int, max_iter: int) -> np.ndarray:
        """Fit with working sets of one size; return the fits that need a larger one.

        `log_odds` then holds the result, NaN for fits that have not converged.
        """
        self._widen(size)
        height = _batch_height(self.data.features.shape[1], size, self.learning)
        queue = np.concatenate([self._begin(rows, height) for rows in self._batches(height)])
        outgrown = [queue[:0]]
        for effort, most_steps in ((EASY, min(EASY_STEPS, max_iter)), (HARD, max_iter)):
            left = [queue[:0]]
            while len(queue):
                rows, queue = queue[:height], queue[height:]
                unfinished, full = self._visit(rows, height, effort)
                outgrown.append(unfinished[full])
                unfinished = unfinished[~full]
                exhausted = self.steps[unfinished] >= most_steps
                left.append(unfinished[exhausted])
                queue = np.concatenate([queue, unfinished[~exhausted]])
            queue = np.concatenate(left)
        return np.concatenate(outgrown)

    def by_feature(self) -> np.ndarray:
        """Intercepts and coefficients (R, 1 + p); NaN where a fit has not converged."""
        n_features = self.data.features.shape[1]
        return _by_feature(self.log_odds, self.columns, self.original, n_features)

    def _widen(self, size: int) -> None:
        missing = ((0, 0), (0, size - self.columns.shape[1]))
        self.columns = np.pad(self.columns, missing, constant_values=-1)
        self.coefficients = np.pad(self.coefficients, missing)
        self.original = np.pad(self.original, missing)

    def _batches(self, height: int) -> list[np.ndarray]:
        rows = np.arange(len(self.learning))
        return [rows[start : start + height] for start in range(0, len(rows), height)]

    def _begin(self, rows: np.ndarray, height: int) -> np.ndarray:
        """Choose the first working sets of this size; return the fits with work to do."""
        checked = self._check(rows, height)
        null_is_optimal = (self.steps[rows] == 0) & (checked.excess <= ROUNDING)
        done = rows[null_is_optimal]
        self.log_odds[done] = self.coefficients[done, :1]
        self._choose(rows[~null_is_optimal], checked.rank[~null_is_optimal])
        return rows[~null_is_optimal]

    def _visit(
        self, rows: np.ndarray, height: int, effort: Effort
    ) -> tuple[np.ndarray, np.ndarray]:
        """Improve some fits; return those that are unfinished, and which of them are full."""
        solved = self._solve(rows, height, effort)
        self.coefficients[rows] = solved.coefficients.T
        self.original[rows] = solved.original.T
        # A visit without a step counts as one, so that every fit comes to an end.
        self.steps[rows] += np.maximum(solved.steps, 1)
        checked = self._check(rows, height)
        solved_inside = solved.residual <= self.tolerance[rows]
        complete = checked.excess <= self.tolerance[rows]
        done = solved_inside & complete
        self.log_odds[rows[done]] = checked.log_odds[done]
        rows, rank, complete = rows[~done], checked.rank[~done], complete[~done]
        support = (self.coefficients[rows, 1:] != 0).sum(axis=1)
        size, n_features = self.columns.shape[1], self.data.features.shape[1]
        full = ~complete & (support > 0.75 * size) & (size < n_features)
        self._choose(rows, rank)
        return rows, full

    def _choose(self, rows: np.ndarray, rank: np.ndarray) -> None:
        """Move to the working sets of the best ranks, which keep all non-zero coefficients."""
        size = self.columns.shape[1]
        if not len(rows):
            return
        chosen = np.argpartition(rank, size - 1, axis=1)[:, :size]
        order = np.argsort(np.take_along_axis(rank, chosen, axis=1), axis=1)
        chosen = np.take_along_axis(chosen, order, axis=1)
        old, n_features = self.columns[rows], rank.shape[1]
        self.coefficients[rows] = _moved(self.coefficients[rows], old, chosen, n_features)
        self.original[rows] = _moved(self.original[rows], old, chosen, n_features)
        self.columns[rows] = chosen

    def _solve(self, rows: np.ndarray, height: int, effort: Effort) -> Solved:
        """`solve` for some fits, in a batch of one of two fixed shapes."""
        filled = _filled(rows, height)
        solved: Solved = solve(
            self.data.wide_features,
            self.data.wide_response if self.labels is None else _wide(self.labels[filled], 1),
            *_members(self.learning[filled]),
            self.columns[filled].T,
            self.coefficients[filled].T,
            self.data.spread,
            self.l1[filled],
            self.l2[filled],
            self.tolerance[filled],
            effort,
            standardize=self.learner.standardize,
        )
        return Solved(*(array[..., : len(rows)] for array in solved))

    def _check(self, rows: np.ndarray, height: int) -> Checked:
        """`check` for some fits, in a batch of one of two fixed shapes."""
        filled = _filled(rows, height)
        n_obs = self.learning.shape[1]
        labels = self.labels
        checked: Checked = check(
            self.data.features,
            self.data.squares,
            self.data.response if labels is None else padded_rows(labels[filled], axis=1),
            padded_rows(self.learning[filled], axis=1),
            self.columns[filled].T,
            self.original[filled].T,
            self.data.spread,
            self.l1[filled],
            standardize=self.learner.standardize,
        )
        log_odds, excess, rank = (array[: len(rows)] for array in checked)
        return Checked(log_odds[:, :n_obs], excess, rank)


def _numba_is_installed() -> bool:
    return find_spec("numba") is not None


def _tolerances(l1: np.ndarray) -> np.ndarray:
    """Largest violation of each fit: a penalty near the tolerance asks for more digits."""
    return np.minimum(TOLERANCE, 1e-3 * l1)


def _distinct(matrix: np.ndarray) -> np.ndarray:
    """The first one of each group of columns that are equal but for their sign, (p,)."""
    first = np.take_along_axis(matrix, (matrix != 0).argmax(axis=0)[None], axis=0)
    # Adding zero turns -0.0 into 0.0.
    columns = np.ascontiguousarray((matrix * np.sign(first) + 0.0).T)
    whole = columns.view(np.dtype((np.void, columns.itemsize * columns.shape[1]))).ravel()
    distinct = np.zeros(len(whole), dtype=bool)
    distinct[np.unique(whole, return_index=True)[1]] = True
    return distinct


def _by_feature(
    log_odds: np.ndarray, columns: np.ndarray, original: np.ndarray, n_features: int
) -> np.ndarray:
    """Coefficients of working sets in the places of all features; NaN without a result."""
    placed = _moved(original, columns, np.arange(n_features)[None], n_features)
    return np.where(np.isnan(log_odds[:, :1]), np.nan, placed)


def _working_set_sizes(n_features: int) -> list[int]:
    if n_features <= ONE_WORKING_SET:
        return [n_features]
    return [size for size in WORKING_SETS if size < n_features] + [n_features]


def _batch_height(n_features: int, size: int, learning: np.ndarray) -> int:
    """Fits in one batch: a power of two, so that its largest arrays stay in the cache."""
    n_members, n_obs = _height(learning.sum(axis=1)), padded_size(learning.shape[1])
    by_solve = CACHE_NUMBERS // ((size + 1) * max(n_members, min(size + 1, LARGEST_HESSIAN)))
    by_check = 4 * CACHE_NUMBERS // n_features
    by_scores = 32 * CACHE_NUMBERS // (size * n_obs)
    return _power_of_two(min(by_solve, by_check, by_scores, HIGHEST_BATCH))


def _power_of_two(most: int) -> int:
    """The largest up to `most`, at least one."""
    return 1 << (max(most, 1).bit_length() - 1)


def _filled(rows: np.ndarray, height: int) -> np.ndarray:
    """Repeat rows up to the height of a batch, or of a low one if that is enough."""
    low = min(LOW_BATCH, height)
    return np.resize(rows, low if len(rows) <= low else height)


def _wide(array: np.ndarray, axis: int = 0) -> np.ndarray:
    """The array with zeros after its observations."""
    missing = -array.shape[axis] % WIDE_STEP
    return np.pad(array, [(0, missing * (each == axis)) for each in range(array.ndim)])


def _height(sizes: np.ndarray) -> int:
    """Members of the largest learning set, filled up so that few sizes are compiled."""
    return -(-int(sizes.max()) // MEMBERS_STEP) * MEMBERS_STEP


def _members(learning: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers (G, R) and weights 1/g (G, R) of learning sets, padded with weight zero."""
    size = learning.sum(axis=1)
    height = _height(size)
    # A stable sort of the complement puts the members first, in their order.
    members = np.argsort(~learning, axis=1, kind="stable")[:, :height]
    inside = np.arange(height) < size[:, None]
    weight = inside / size[:, None]
    members = np.where(inside[:, : members.shape[1]], members, 0)
    members = np.pad(members, ((0, 0), (0, height - members.shape[1])))
    return members.T, weight.T


def _moved(
    coefficients: np.ndarray, old: np.ndarray, new: np.ndarray, n_features: int
) -> np.ndarray:
    """Coefficients (R, 1 + K) of working sets `old`, put in the places of `new`."""
    rows = np.arange(len(old))[:, None]
    # One more column, the last, is for -1: no feature.
    by_feature = np.zeros((len(old), n_features + 1))
    by_feature[rows, old] = coefficients[:, 1:]
    return np.concatenate([coefficients[:, :1], by_feature[rows, new]], axis=1)
