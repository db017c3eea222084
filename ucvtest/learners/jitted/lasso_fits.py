"""Fits with an l1 penalty on their way to convergence, in batches that share a few shapes.

Each fit works on a small set of features; a matrix product over the whole batch then checks the
optimality conditions on all features and names those that are missing. Fits that are done leave
their batch and others take their place, so that no fit waits for the slowest. If Numba is
installed, compiled loops do the easy fits first.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.learners.batching import padded_rows, padded_size, power_of_two
from ucvtest.learners.solvers.penalized_logistic import (
    LARGEST_HESSIAN,
    Checked,
    Effort,
    Solved,
    check,
    solve,
)

TOLERANCE = 1e-9
"""Largest violation of an optimality condition, in units of the response."""

ROUNDING = 1e-12
"""Gradients this much above the penalty are at it: the null model is optimal."""

EASY = Effort(steps=3, cycles=5, rounds=1)
"""The visit that almost all fits need."""

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

MEMBERS_STEP, WIDE_STEP = 16, 256
"""Learning sets, and the observations that `solve` picks them from, are padded to multiples."""

HIGHEST_BATCH, LOW_BATCH = 256, 32
"""Fits in one batch, and in a batch for the last of them."""


@dataclass(frozen=True, eq=False)
class LassoData:
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
    target: np.ndarray
    """(n,) the response without padding."""
    centre: np.ndarray
    """(p,) the numbers subtracted from the features."""
    spread: np.ndarray
    """(p,) the numbers by which they were divided."""


class CompiledLassoFits:
    """Fits by compiled loops; NaN where a fit is left to the other form."""

    def __init__(
        self,
        data: LassoData,
        learning: np.ndarray,
        labels: np.ndarray | None,
        penalties: tuple[np.ndarray, np.ndarray],
        *,
        standardize: bool,
        max_iter: int,
    ) -> None:
        # Numba takes long to import, and may not be there.
        from ucvtest.learners.solvers.compiled_logistic import fit

        l1, l2 = (penalty[None] for penalty in penalties)
        responses = data.target[None] if labels is None else labels
        self._n_features = data.matrix.shape[1]
        self._fitted = fit(
            *(data.matrix, data.distinct, np.ascontiguousarray(responses, dtype=float)),
            *(np.ascontiguousarray(learning), data.spread, l1, l2, tolerances(l1)),
            *(standardize, max_iter),
        )
        (self.log_odds,) = self._fitted.log_odds

    def by_feature(self) -> np.ndarray:
        """Intercepts and coefficients (R, 1 + p); NaN where a fit is left to the other form."""
        _, columns, original = self._fitted
        return _by_feature(self.log_odds, columns, original, self._n_features)


class LassoFits:
    """The state of many fits on their way to convergence.

    A visit takes a batch of fits through a few Newton steps on their working sets and one
    check of all features. It depends on nothing but the fit's own state, so the order and the
    company in which fits are visited do not matter.
    """

    def __init__(
        self,
        data: LassoData,
        learning: np.ndarray,
        labels: np.ndarray | None,
        coefficients: np.ndarray,
        penalties: tuple[np.ndarray, np.ndarray],
        *,
        standardize: bool,
    ) -> None:
        """Start at coefficients of shape (R, 1), the intercepts of the null models."""
        self.data, self.standardize = data, standardize
        self.learning, self.labels = learning, labels
        self.l1, self.l2 = penalties
        self.tolerance = tolerances(self.l1)
        self.coefficients = coefficients
        self.original = coefficients
        self.columns = np.empty((len(learning), 0), dtype=int)
        self.steps = np.zeros(len(learning), dtype=int)
        self.log_odds = np.full(learning.shape, np.nan)

    def subset(self, rows: np.ndarray) -> "LassoFits":
        """Some of the fits, to go on with."""
        start_coefficients = self.coefficients[rows]
        labels = None if self.labels is None else self.labels[rows]
        penalties = self.l1[rows], self.l2[rows]
        sub_fits = LassoFits(
            *(self.data, self.learning[rows], labels, start_coefficients, penalties),
            standardize=self.standardize,
        )
        sub_fits.original = self.original[rows]
        sub_fits.columns = self.columns[rows]
        sub_fits.steps = self.steps[rows]
        return sub_fits

    def run(self, size: int, max_iter: int) -> np.ndarray:
        """Fit with working sets of one size; return the fits that need a larger one.

        `log_odds` then contains the result, NaN for fits that have not converged.
        """
        missing = ((0, 0), (0, size - self.columns.shape[1]))
        self.columns = np.pad(self.columns, missing, constant_values=-1)
        self.coefficients = np.pad(self.coefficients, missing)
        self.original = np.pad(self.original, missing)
        height = _batch_height(self.data.features.shape[1], size, self.learning)
        every = np.arange(len(self.learning))
        batches = [every[first : first + height] for first in range(0, len(every), height)]
        queue = np.concatenate([self._begin(rows, height) for rows in batches])
        outgrown = [queue[:0]]
        for effort, most_steps in ((EASY, min(EASY_STEPS, max_iter)), (HARD, max_iter)):
            larger_needed = [queue[:0]]
            while len(queue):
                rows, queue = queue[:height], queue[height:]
                unfinished, full = self._visit(rows, height, effort)
                outgrown.append(unfinished[full])
                unfinished = unfinished[~full]
                exhausted = self.steps[unfinished] >= most_steps
                larger_needed.append(unfinished[exhausted])
                queue = np.concatenate([queue, unfinished[~exhausted]])
            queue = np.concatenate(larger_needed)
        return np.concatenate(outgrown)

    def by_feature(self) -> np.ndarray:
        """Intercepts and coefficients (R, 1 + p); NaN where a fit has not converged."""
        n_features = self.data.features.shape[1]
        return _by_feature(self.log_odds, self.columns, self.original, n_features)

    def _begin(self, rows: np.ndarray, height: int) -> np.ndarray:
        """Choose the first working sets of this size; return the fits with work to do."""
        checked = self._check(rows, height)
        null_is_optimal = (self.steps[rows] == 0) & (checked.excess <= ROUNDING)
        null_rows = rows[null_is_optimal]
        self.log_odds[null_rows] = self.coefficients[null_rows, :1]
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
        is_solved = solved_inside & complete
        self.log_odds[rows[is_solved]] = checked.log_odds[is_solved]
        rows, rank, complete = rows[~is_solved], checked.rank[~is_solved], complete[~is_solved]
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
        best_columns = np.argpartition(rank, size - 1, axis=1)[:, :size]
        order = np.argsort(np.take_along_axis(rank, best_columns, axis=1), axis=1)
        best_columns = np.take_along_axis(best_columns, order, axis=1)
        old, n_features = self.columns[rows], rank.shape[1]
        self.coefficients[rows] = _moved(self.coefficients[rows], old, best_columns, n_features)
        self.original[rows] = _moved(self.original[rows], old, best_columns, n_features)
        self.columns[rows] = best_columns

    def _solve(self, rows: np.ndarray, height: int, effort: Effort) -> Solved:
        """`solve` for some fits, in a batch of one of two fixed shapes."""
        filled = _filled(rows, height)
        solved: Solved = solve(
            self.data.wide_features,
            self.data.wide_response if self.labels is None else widened(self.labels[filled], 1),
            *_members(self.learning[filled]),
            self.columns[filled].T,
            self.coefficients[filled].T,
            self.data.spread,
            self.l1[filled],
            self.l2[filled],
            self.tolerance[filled],
            effort,
            standardize=self.standardize,
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
            standardize=self.standardize,
        )
        log_odds, excess, rank = (array[: len(rows)] for array in checked)
        return Checked(log_odds[:, :n_obs], excess, rank)


def tolerances(l1: np.ndarray) -> np.ndarray:
    """Largest violation of each fit: a penalty near the tolerance asks for more digits."""
    return np.minimum(TOLERANCE, 1e-3 * l1)


def _by_feature(
    log_odds: np.ndarray, columns: np.ndarray, original: np.ndarray, n_features: int
) -> np.ndarray:
    """Coefficients of working sets in the places of all features; NaN without a result."""
    placed = _moved(original, columns, np.arange(n_features)[None], n_features)
    return np.where(np.isnan(log_odds[:, :1]), np.nan, placed)


def working_set_sizes(n_features: int) -> list[int]:
    """The sizes of working sets that fits go through, the smallest first."""
    if n_features <= ONE_WORKING_SET:
        return [n_features]
    return [size for size in WORKING_SETS if size < n_features] + [n_features]


def _batch_height(n_features: int, size: int, learning: np.ndarray) -> int:
    """Fits in one batch: a power of two, so that its largest arrays stay in the cache."""
    n_members, n_obs = _height(learning.sum(axis=1)), padded_size(learning.shape[1])
    by_solve = CACHE_NUMBERS // ((size + 1) * max(n_members, min(size + 1, LARGEST_HESSIAN)))
    by_check = 4 * CACHE_NUMBERS // n_features
    by_scores = 32 * CACHE_NUMBERS // (size * n_obs)
    return power_of_two(min(by_solve, by_check, by_scores, HIGHEST_BATCH))


def _filled(rows: np.ndarray, height: int) -> np.ndarray:
    """Repeat rows up to the height of a batch, or of a low one if that is enough."""
    low = min(LOW_BATCH, height)
    return np.resize(rows, low if len(rows) <= low else height)


def widened(array: np.ndarray, axis: int = 0) -> np.ndarray:
    """The array, padded with zeros after its observations."""
    missing = -array.shape[axis] % WIDE_STEP
    return np.pad(array, [(0, missing * (array_axis == axis)) for array_axis in range(array.ndim)])


def _height(sizes: np.ndarray) -> int:
    """Members of the largest learning set, padded so that few sizes are compiled."""
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
    coefficients: np.ndarray, old_columns: np.ndarray, new_columns: np.ndarray, n_features: int
) -> np.ndarray:
    """Coefficients (R, 1 + K) of working sets `old_columns`, put in the places of `new_columns`."""
    rows = np.arange(len(old_columns))[:, None]
    # One more column, the last, is for -1: no feature.
    by_feature = np.zeros((len(old_columns), n_features + 1))
    by_feature[rows, old_columns] = coefficients[:, 1:]
    return np.concatenate([coefficients[:, :1], by_feature[rows, new_columns]], axis=1)
