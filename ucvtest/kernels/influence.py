r"""Influence values of cross-validated AUC and error rate, and ad-hoc variances beside them.

Notation of Yousef (Estimating the standard error of cross-validation-based estimators of
classifier performance): in repeat m some positives i and negatives j are tested, T1[m, i] = 1
and T0[m, j] = 1, by a rule that did not learn from them; psi in {0, 1/2, 1} says whether it
ranks them right. N_ij = sum_m T1 T0 psi, C_ij = sum_m T1 T0, and AUC = mean of N/C.

Mass epsilon moved to observation i changes (I) how much i counts as a tested observation and
(II, III) the probability of every training set, and so the weights in numerator and denominator
of N/C. With the number of times c_mi that training set m holds observation i, and its mean c_m
over the class, the derivative of the log probability of training set m is n1 (c_mi - c_m): (42b)
for cross-validation (c_mi = 1 - T1[m, i]), and the multinomial one for the bootstrap. With

    a_m = sum_ij T1 T0 psi / C_ij,    b_m = sum_ij T1 T0 N_ij / C_ij^2

the three terms of a positive i are

    I = mean_j N_ij / C_ij - AUC,    II = (1/n0) sum_m (c_mi - c_m) a_m,
    III = (1/n0) sum_m (c_mi - c_m) b_m,

and its influence value is U_i = I + II - III. C depends on the design alone, so that one pass
over the scores is enough: they need not be kept.

Repeated K-fold cross-validation tests all pairs of folds in each repeat. The rule that scores a
pair (i, j) is learnt without the folds of i and j; how the rest is divided into further folds
makes no difference to it, and sums out of the probability G of the whole partition. What is left
is the probability of the training set, so that each pair of folds is one row of the sums above.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ucvtest.float64 import in_float64

__all__ = ["ad_hoc_variances", "auc", "error"]

MAX_GROUPS = 16
"""Groups of repeats, whose spread gives the Monte-Carlo errors."""

GROUP_CELLS = 2**22
"""Sums over pairs that all groups may hold: 32 MB; at least two groups in any case."""

CALL_CELLS = 2**21
"""Values of psi in one jitted call: 16 MB."""

ROW_STEP, SIZE_STEP = 128, 8
"""Rows of a call, and varying numbers of tested observations, are filled up to multiples of
these, so that they share compilations."""


# --------------------------------------------------------------------------- jitted sums


def _pair_index(
    first: jax.Array, second: jax.Array, group: jax.Array, shape: tuple[int, ...]
) -> jax.Array:
    _, n1, n0 = shape
    return (group[:, None, None] * n1 + first[:, :, None]) * n0 + second[:, None, :]


@partial(jax.jit, static_argnames="shape")
def _counted(
    first: jax.Array,
    second: jax.Array,
    weight1: jax.Array,
    weight0: jax.Array,
    group: jax.Array,
    shape: tuple[int, ...],
) -> jax.Array:
    """C of every group, (G, n1, n0): how often each pair is tested."""
    weight = weight1[:, :, None] * weight0[:, None, :]
    empty = jnp.zeros(shape[0] * shape[1] * shape[2], dtype=weight.dtype)
    return empty.at[_pair_index(first, second, group, shape)].add(weight).reshape(shape)


@partial(jax.jit, static_argnames="shape")
def _ranked(
    scores1: jax.Array,
    scores0: jax.Array,
    first: jax.Array,
    second: jax.Array,
    weight1: jax.Array,
    weight0: jax.Array,
    group: jax.Array,
    inverse: jax.Array,
    shape: tuple[int, ...],
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """N of every group, a and the AUC of every row; inverse = 1/C, (n1, n0)."""
    s1, s0 = scores1[:, :, None], scores0[:, None, :]
    weight = weight1[:, :, None] * weight0[:, None, :]
    # Comparisons, not differences: infinite scores have none.
    psi = ((s1 > s0).astype(weight.dtype) + (s1 >= s0)) / 2 * weight
    empty = jnp.zeros(shape[0] * shape[1] * shape[2], dtype=weight.dtype)
    n = empty.at[_pair_index(first, second, group, shape)].add(psi).reshape(shape)
    a = (psi * inverse[first[:, :, None], second[:, None, :]]).sum((1, 2))
    return n, a, psi.sum((1, 2)) / jnp.maximum(weight.sum((1, 2)), 1.0)


@jax.jit
def _weighted(
    first: jax.Array, second: jax.Array, weight1: jax.Array, weight0: jax.Array, matrix: jax.Array
) -> jax.Array:
    """Sum of a matrix (n1, n0) over the tested pairs of every row."""
    weight = weight1[:, :, None] * weight0[:, None, :]
    return (weight * matrix[first[:, :, None], second[:, None, :]]).sum((1, 2))


@partial(jax.jit, static_argnames="n_groups")
def _lost(
    losses: jax.Array, tested: jax.Array, group: jax.Array, inverse: jax.Array, n_groups: int
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Sums of losses of every group (G, n), a and the mean loss of every row."""
    shown = jnp.where(tested, losses, 0.0)
    sums = jnp.zeros((n_groups, losses.shape[1]), dtype=shown.dtype).at[group].add(shown)
    n_tested = jnp.maximum(tested.sum(1), 1)
    return sums, shown @ inverse, shown.sum(1) / n_tested


_counted_call = in_float64(_counted)
_ranked_call = in_float64(_ranked)
_weighted_call = in_float64(_weighted)
_lost_call = in_float64(_lost)


# ------------------------------------------------------------------------- what is found


@dataclass(frozen=True, eq=False)
class Influence:
    """An estimate, what each observation contributes to its error, and what chance adds.

    Parameters
    ----------
    estimate : float
        AUC or mean loss, or a difference of two.
    first, second, third : ndarray, shape (n,)
        Terms I, II and III of each observation.
    by_group, first_by_group : ndarray, shape (G, n)
        What each group of repeats adds to the influence values and to term I, to first order.
    rows : ndarray, shape (R,)
        AUC or mean loss of every single test.
    effects : ndarray, shape (M,)
        What each repeat adds to the estimate, to first order; their sum is zero.
    divisor : ndarray, shape (n,)
        Number of observations in the class of each (in all, for the error rate).
    """

    estimate: float
    first: np.ndarray
    second: np.ndarray
    third: np.ndarray
    by_group: np.ndarray
    first_by_group: np.ndarray
    rows: np.ndarray
    effects: np.ndarray
    divisor: np.ndarray

    @property
    def values(self) -> np.ndarray:
        """U = I + II - III of each observation, (n,)."""
        return self.first + self.second - self.third

    @property
    def variance(self) -> float:
        """(18): sum of squared influence values over squared sample sizes."""
        return self._variance(self.values)

    @property
    def term_1_variance(self) -> float:
        """The same from term I alone: how the training sets vary is left out."""
        return self._variance(self.first)

    @property
    def mc_se(self) -> float:
        """Monte-Carlo standard error of the estimate; NaN for a single repeat."""
        m = len(self.effects)
        return float(np.sqrt((self.effects**2).sum() * m / (m - 1))) if m > 1 else np.nan

    @property
    def mc_bias_variance(self) -> float:
        """What the Monte-Carlo noise of the influence values adds to the variance."""
        k = len(self.by_group)
        if k < 2:
            return np.nan
        noise = self.by_group - self.by_group.mean(axis=0)
        return self._variance(noise) * k / (k - 1)

    @property
    def mc_se_variance(self) -> float:
        """Monte-Carlo standard error of `variance`, rough: from the spread of the groups."""
        return self._mc_se(self.values, self.by_group)

    @property
    def mc_se_term_1_variance(self) -> float:
        """Monte-Carlo standard error of `term_1_variance`."""
        return self._mc_se(self.first, self.first_by_group)

    def minus(self, other: "Influence") -> "Influence":
        """The difference of two estimates from the same splits: everything here is linear."""
        mine = {
            item.name: getattr(self, item.name) - getattr(other, item.name)
            for item in fields(self)
            if item.name != "divisor"
        }
        return Influence(**mine, divisor=self.divisor)

    def _mc_se(self, values: np.ndarray, by_group: np.ndarray) -> float:
        k = len(by_group)
        if k < 2:
            return np.nan
        noise = (by_group - by_group.mean(axis=0)) / self.divisor
        linear = 2 * noise @ (values / self.divisor)
        # The square of the noise varies as well, by its covariance matrix of rank k - 1.
        squared = 2 * ((noise @ noise.T) ** 2).sum() * (k / (k - 1)) ** 2
        return float(np.sqrt((linear**2).sum() * k / (k - 1) + squared))

    def _variance(self, values: np.ndarray) -> float:
        return float((values**2 / self.divisor**2).sum())


@dataclass(frozen=True, eq=False)
class Rows:
    """Some tests: what is tested, how often each observation is learnt from, which repeat.

    Parameters
    ----------
    tested : ndarray of bool, shape (R, n)
    counts : ndarray, shape (R, n)
        Numbers of times that each observation is in the training set.
    repeat : ndarray of int, shape (R,)
        Rows of one repeat were drawn together.
    """

    tested: np.ndarray
    counts: np.ndarray
    repeat: np.ndarray


class _Sums:
    """What both metrics share: groups of repeats, and the sums over training sets.

    Call `count` with all rows, then `add` with all rows and scores, then `close` with all
    rows again, always in the same order; then `result`.
    """

    def __init__(self, classes: Sequence[np.ndarray], n_repeats: int, n_sums: int) -> None:
        self.classes = classes
        self.n_obs = sum(map(len, classes))
        self.n_repeats = n_repeats
        self.n_groups = min(max(GROUP_CELLS // max(n_sums, 1), 2), MAX_GROUPS, n_repeats)
        self._a: list[np.ndarray] = []
        self._values: list[np.ndarray] = []
        self._closed = 0
        # Sums over the rows of (c_mi - c_m) times a, times b, and, by groups, times a - b.
        self._second = np.zeros(self.n_obs)
        self._third = np.zeros(self.n_obs)
        self._by_group = np.zeros((self.n_groups, self.n_obs))
        self._effects = np.zeros(n_repeats)
        self._learnt = np.zeros(self.n_obs)
        self._n_rows = 0

    def _group(self, rows: Rows) -> np.ndarray:
        return rows.repeat % self.n_groups

    def _close(self, rows: Rows, b: np.ndarray) -> None:
        """Add what the training sets of these rows say; `add` has been called with all rows."""
        a = self._a_of(len(b))
        weights = np.zeros((self.n_groups, len(b)))
        weights[self._group(rows), np.arange(len(b))] = a - b
        counts = rows.counts.astype(float)
        for members in self.classes:
            excess = counts[:, members] - counts[:, members].mean(axis=1, keepdims=True)
            self._second[members] += a @ excess
            self._third[members] += b @ excess
            self._by_group[:, members] += weights @ excess
        np.add.at(self._effects, rows.repeat, a - b)
        self._learnt += counts.sum(axis=0)
        self._n_rows += len(b)

    def _a_of(self, size: int) -> np.ndarray:
        if self._closed == 0:
            self._all_a = np.concatenate(self._a)
        self._closed += size
        return self._all_a[self._closed - size : self._closed]

    def _noise_of_shares(self, members: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """What noise in the shares N/C of each observation (G, n_k), centred, does to I and III.

        III is linear in them; its coefficients are replaced by their expectation over designs,
        which is -c_m for i itself and c_m/(n_k - 1) for every other observation of its class.
        """
        n = len(members)
        learnt = self._learnt[members].mean() / self._n_rows
        return moved * (1 + learnt * n / max(n - 1, 1))

    @property
    def _effects_by_group(self) -> np.ndarray:
        group = np.arange(self.n_repeats) % self.n_groups
        return np.bincount(group, self._effects, self.n_groups)


class PairSums(_Sums):
    """Sums over repeats for the AUC.

    Parameters
    ----------
    y : ndarray, shape (n,)
        1 for positives, 0 for negatives.
    n_repeats : int
    """

    def __init__(self, y: np.ndarray, n_repeats: int) -> None:
        classes = (np.flatnonzero(y == 1), np.flatnonzero(y != 1))
        n1, n0 = map(len, classes)
        super().__init__(classes, n_repeats, n1 * n0)
        self._shape = (self.n_groups, n1, n0)
        self._c, self._n = np.zeros(self._shape), np.zeros(self._shape)

    def count(self, rows: Rows) -> None:
        """Count how often each pair is tested."""
        for call in self._calls(rows):
            self._c += _counted_call(*call.design, call.group, shape=self._shape)

    @property
    def n_untested(self) -> int:
        """Pairs that are never tested together so far."""
        return int((self._c.sum(axis=0) == 0).sum())

    def add(self, rows: Rows, scores: np.ndarray) -> None:
        """Add the scores of some rows, (R, n), looked at only where tested."""
        inverse = 1 / self._c.sum(axis=0)
        for call in self._calls(rows):
            n, a, value = _ranked_call(
                *call.scores(scores), *call.design, call.group, inverse, shape=self._shape
            )
            self._n += n
            self._a.append(a[: call.size])
            self._values.append(value[: call.size])

    def close(self, rows: Rows) -> None:
        """See `_Sums`."""
        c = self._c.sum(axis=0)
        matrix = self._n.sum(axis=0) / c**2
        b = [_weighted_call(*call.design, matrix)[: call.size] for call in self._calls(rows)]
        self._close(rows, np.concatenate(b))

    def result(self) -> Influence:
        """The AUC and its influence values."""
        _, n1, n0 = self._shape
        c, sizes = self._c.sum(axis=0), (n1, n0)
        share = self._n.sum(axis=0) / c
        estimate = float(share.mean())
        # Of each group: by how much it moves N/C, and with it term I.
        moved = (self._n - self._c * share) / c
        effects = self._effects_by_group / (n1 * n0)
        first, divisor = np.empty(self.n_obs), np.empty(self.n_obs)
        by_group, first_by_group = self._by_group.copy(), np.empty_like(self._by_group)
        second, third = self._second.copy(), self._third.copy()
        for k, members in enumerate(self.classes):
            others = sizes[1 - k]
            first[members] = share.mean(axis=1 - k) - estimate
            divisor[members] = sizes[k]
            for sums in (second, third):
                sums[members] /= others
            by_group[:, members] /= others
            of_shares = moved.mean(axis=2 - k) - effects[:, None]
            first_by_group[:, members] = of_shares
            by_group[:, members] += self._noise_of_shares(members, of_shares)
        return Influence(
            estimate=estimate,
            first=first,
            second=second,
            third=third,
            by_group=by_group,
            first_by_group=first_by_group,
            rows=np.concatenate(self._values),
            effects=self._effects / (n1 * n0),
            divisor=divisor,
        )

    def _calls(self, rows: Rows) -> "list[_Call]":
        """The rows in parts of bounded size, each with its index arrays."""
        tested = [rows.tested[:, members] for members in self.classes]
        sizes = [_size(each) for each in tested]
        limit = max(1, CALL_CELLS // (sizes[0] * sizes[1]))
        calls = []
        group = self._group(rows)
        for start in range(0, len(group), limit):
            part = slice(start, start + limit)
            calls.append(_Call.make([each[part] for each in tested], sizes, group[part], part))
        for call in calls:
            call.classes = self.classes
        return calls


class _Call:
    """Rows of one jitted call: index arrays of what is tested, filled up with weight zero."""

    classes: Sequence[np.ndarray]

    def __init__(
        self,
        index: list[np.ndarray],
        weight: list[np.ndarray],
        group: np.ndarray,
        part: slice,
        size: int,
    ) -> None:
        self.index, self.weight = index, weight
        self.group, self.part, self.size = group, part, size

    @classmethod
    def make(
        cls, tested: list[np.ndarray], sizes: list[int], group: np.ndarray, part: slice
    ) -> "_Call":
        n_rows = -(-len(group) // ROW_STEP) * ROW_STEP if len(group) >= ROW_STEP else len(group)
        index, weight = [], []
        for each, size in zip(tested, sizes, strict=True):
            row, place = np.nonzero(each)
            position = np.cumsum(each, axis=1)[row, place] - 1
            of_class = np.zeros((n_rows, size), dtype=np.int32)
            weight_of_class = np.zeros((n_rows, size))
            of_class[row, position] = place
            weight_of_class[row, position] = 1.0
            index.append(of_class)
            weight.append(weight_of_class)
        padded = np.zeros(n_rows, dtype=np.int32)
        padded[: len(group)] = group
        return cls(index, weight, padded, part, len(group))

    @property
    def design(self) -> tuple[np.ndarray, ...]:
        return (*self.index, *self.weight)

    def scores(self, scores: np.ndarray) -> tuple[np.ndarray, ...]:
        """Those of the tested observations, anything where the weight is zero."""
        found = []
        for members, index in zip(self.classes, self.index, strict=True):
            of_class = np.zeros(index.shape)
            places = members[index[: self.size]]
            of_class[: self.size] = np.take_along_axis(scores[self.part], places, axis=1)
            found.append(of_class)
        return tuple(found)


def _size(tested: np.ndarray) -> int:
    """Columns that the index of what is tested needs."""
    sizes = tested.sum(axis=1)
    largest = int(sizes.max())
    if sizes.min() == largest:
        return max(largest, 1)
    return min(-(-largest // SIZE_STEP) * SIZE_STEP, tested.shape[1])


class LossSums(_Sums):
    """Sums over repeats for an error rate, or any other mean loss, of one sample.

    Parameters
    ----------
    n_obs, n_repeats : int
    """

    def __init__(self, n_obs: int, n_repeats: int) -> None:
        super().__init__((np.arange(n_obs),), n_repeats, n_obs)
        self._c, self._sums = np.zeros((2, self.n_groups, n_obs))

    def count(self, rows: Rows) -> None:
        """Count how often each observation is tested."""
        np.add.at(self._c, self._group(rows), rows.tested)

    @property
    def n_untested(self) -> int:
        """Observations that are never tested so far."""
        return int((self._c.sum(axis=0) == 0).sum())

    def add(self, rows: Rows, scores: np.ndarray) -> None:
        """Add the losses of some rows, (R, n), looked at only where tested."""
        inverse = 1 / self._c.sum(axis=0)
        sums, a, value = _lost_call(
            scores, rows.tested, self._group(rows), inverse, n_groups=self.n_groups
        )
        self._sums += sums
        self._a.append(a)
        self._values.append(value)

    def close(self, rows: Rows) -> None:
        """See `_Sums`."""
        c = self._c.sum(axis=0)
        self._close(rows, rows.tested @ (self._sums.sum(axis=0) / c**2))

    def result(self) -> Influence:
        """The mean loss and its influence values."""
        n, c = self.n_obs, self._c.sum(axis=0)
        share = self._sums.sum(axis=0) / c
        estimate = float(share.mean())
        moved = (self._sums - self._c * share) / c
        moved -= moved.mean(axis=1, keepdims=True)
        return Influence(
            estimate=estimate,
            first=share - estimate,
            second=self._second,
            third=self._third,
            by_group=self._by_group + self._noise_of_shares(self.classes[0], moved),
            first_by_group=moved,
            rows=np.concatenate(self._values),
            effects=self._effects / n,
            divisor=np.full(n, float(n)),
        )


# --------------------------------------------------------------------- ad-hoc variances


def ad_hoc_variances(fold_values: Any, estimate: Any = None) -> dict[str, float]:
    """Variances that treat folds as independent; they have no theory, but often win.

    Parameters
    ----------
    fold_values : array, shape (R, K1, K0) or (R, K)
        AUC of each pair of test folds in each of R repetitions of K-fold cross-validation;
        or the mean loss of each fold.
    estimate : array, shape (R,), optional
        Cross-validated AUC or mean loss of each repetition; by default the mean over its
        folds, which differs from it where folds have different sizes.

    Returns
    -------
    dict
        adhoc_1, adhoc_2, adhoc_3, adhoc_3_mle: each averaged over repetitions. For mean
        losses the first three are one and the same; adhoc_2 is NaN unless K1 = K0.

    Raises
    ------
    ValueError
        If a shape is another, a value is NaN, or there are fewer than two folds.

    Notes
    -----
    Biased: for the error rate by minus the covariance of the errors of two observations in
    different folds, (7).

    References
    ----------
    Yousef, Estimating the standard error of cross-validation-based estimators of classifier
    performance, (6), (8a)-(8c), (9).

    Examples
    --------
    >>> from ucvtest.kernels import influence
    >>> found = influence.ad_hoc_variances([[0.1, 0.2, 0.3]])
    >>> print(f"{found['adhoc_1']:.6f} {found['adhoc_3_mle']:.6f}")
    0.003333 0.002222
    """
    folds = np.asarray(fold_values, dtype=float)
    if folds.ndim not in (2, 3) or min(folds.shape[1:]) < 2:
        raise ValueError(
            "fold_values must have shape (R, K1, K0) or (R, K) with at least two folds, got "
            f"{folds.shape}"
        )
    if np.isnan(folds).any():
        raise ValueError(
            f"fold_values holds {int(np.isnan(folds).sum())} NaN: every fold (pair of folds) needs "
            "a value"
        )
    if estimate is not None and np.shape(estimate) != folds.shape[:1]:
        raise ValueError(f"estimate must have shape {folds.shape[:1]}, got {np.shape(estimate)}")
    by_repetition = ad_hoc_by_repetition(folds, estimate)
    return {name: float(values.mean()) for name, values in by_repetition.items()}


def ad_hoc_by_repetition(folds: np.ndarray, estimate: Any = None) -> dict[str, np.ndarray]:
    """As `ad_hoc_variances`, for each repetition: (R,)."""
    every = tuple(range(1, folds.ndim))
    centre = folds.mean(axis=every) if estimate is None else np.asarray(estimate, dtype=float)
    pooled = folds.reshape(len(folds), -1)
    n_effective = np.sqrt(np.prod(folds.shape[1:])) if folds.ndim == 3 else folds.shape[1]
    found = {"adhoc_1": pooled.var(axis=1, ddof=1) / n_effective}
    if folds.ndim == 2:
        found["adhoc_2"] = found["adhoc_1"]
    elif folds.shape[1] == folds.shape[2]:
        own = np.diagonal(folds, axis1=1, axis2=2)
        found["adhoc_2"] = own.var(axis=1, ddof=1) / folds.shape[1]
    else:
        found["adhoc_2"] = np.full(len(folds), np.nan)
    unbiased, mle = np.zeros((2, len(folds)))
    for margin in [folds] if folds.ndim == 2 else [folds.mean(axis=2), folds.mean(axis=1)]:
        k = margin.shape[1]
        squares = ((margin - centre[:, None]) ** 2).sum(axis=1)
        unbiased += squares / (k * (k - 1))
        mle += squares / k**2
    return found | {"adhoc_3": unbiased, "adhoc_3_mle": mle}


# ------------------------------------------------------------------------------- public API


def auc(scores: Any, tested: Any, y: Any, counts: Any = None) -> dict[str, Any]:
    """Cross-validated AUC, its influence values and standard error, from scores of one's own.

    Parameters
    ----------
    scores : array, shape (M, n)
        Decision scores that rise with the positive class; row m by the rule learnt without
        the observations tested in repeat m. Ignored where nothing is tested.
    tested : array of 0/1, shape (M, n)
        In each repeat one random fold of each class; the sizes of the folds do not change.
        Repeated K-fold cross-validation has K^2 rows for each repeat, all pairs of folds.
    y : array of 0/1, shape (n,)
    counts : array of integers, shape (M, n), optional
        For the leave-pair-out bootstrap: how often each observation is in the learning set,
        a bootstrap sample of each class and as large as it; the sizes of the test sets may then
        vary. By default one, where it is not tested.

    Returns
    -------
    dict
        auc; u1, u0: influence values of positives and negatives; se; terms1, terms0: terms I,
        II, III of each as rows, U = I + II - III; mc_se: Monte-Carlo standard error of auc
        with rows drawn independently.

    Raises
    ------
    ValueError
        If shapes differ, a class is absent, the size of a fold changes, a tested score is
        NaN, counts are no bootstrap samples, or a pair is never tested: the message says how
        many repeats would do.

    Notes
    -----
    Independent observations; a rule that does not depend on the order of rows. Biased down
    where few training sets are possible. Cost O(M n1K n0K) for folds of n1K and n0K.

    References
    ----------
    Yousef, Estimating the standard error of cross-validation-based estimators of classifier
    performance, Lemmas 2 and 3; Yousef, Wagner and Loew (2005) for the bootstrap. Erratum:
    (19) has the wrong sign at term III; its own proof, (46), has the right one.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.kernels import influence
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 10)
    >>> tested = np.hstack([rng.permuted(np.tile(np.arange(10) < 2, (500, 1)), axis=1)
    ...                     for _ in range(2)])
    >>> scores = y + rng.normal(size=20) + 0.1 * rng.normal(size=(500, 20))
    >>> found = influence.auc(scores, tested, y)
    >>> found["u1"].shape, bool(abs(found["u1"].sum()) < 1e-9), bool(found["se"] > 0)
    ((10,), True, True)
    """
    labels = np.asarray(y)
    values, mask, counts_given = _checked(scores, tested, counts)
    if labels.shape != (mask.shape[1],) or not np.isin(labels, (0, 1)).all():
        raise ValueError(f"y must hold 0 and 1 for {mask.shape[1]} observations, got {y!r:.60}")
    for code in (0, 1):
        if not (labels == code).any():
            raise ValueError(f"y has no {code}: the AUC needs both classes")
        if counts is None:
            _check_sizes(mask[:, labels == code], f"class {code}")
        else:
            _check_samples(counts_given[:, labels == code], f"class {code}")
    sums = PairSums(labels, len(mask))
    rows = Rows(mask, counts_given, np.arange(len(mask)))
    sums.count(rows)
    if sums.n_untested:
        share = np.prod([mask[:, labels == code].mean() for code in (0, 1)])
        n_pairs = int((labels == 0).sum() * (labels == 1).sum())
        raise ValueError(
            f"{sums.n_untested} of {n_pairs} pairs are never tested together in "
            f"{len(mask)} repeats: about {repeats_needed(share, n_pairs)} repeats would do"
        )
    sums.add(rows, values)
    sums.close(rows)
    found = sums.result()
    terms = np.stack([found.first, found.second, found.third])
    return {
        "auc": found.estimate,
        "u1": found.values[labels == 1],
        "u0": found.values[labels == 0],
        "se": float(np.sqrt(found.variance)),
        "terms1": terms[:, labels == 1],
        "terms0": terms[:, labels == 0],
        "mc_se": found.mc_se,
    }


def error(losses: Any, tested: Any, counts: Any = None) -> dict[str, Any]:
    """Cross-validated error rate, its influence values and standard error, from given losses.

    Parameters
    ----------
    losses : array, shape (M, n)
        Zero-one or any other losses of the rule learnt without the observations tested in
        repeat m. Ignored where nothing is tested.
    tested : array of 0/1, shape (M, n)
        In each repeat one random fold of all observations; its size does not change.
    counts : array of integers, shape (M, n), optional
        For the leave-one-out bootstrap: how often each observation is in the learning set;
        the sizes of the test sets may then vary. By default one, where it is not tested.

    Returns
    -------
    dict
        error; u: influence values; se; terms: terms I, II, III as rows; mc_se: Monte-Carlo
        standard error of error with rows drawn independently.

    Raises
    ------
    ValueError
        If shapes differ, the size of the fold changes, a tested loss is NaN, counts are no
        bootstrap samples, or an observation is never tested.

    Notes
    -----
    See `auc`. The bootstrap form is exact for the given samples; the published one of Efron
    and Tibshirani (1997) is its limit over all of them. Cost O(M n).

    References
    ----------
    As for `auc`; Efron and Tibshirani (1997).

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.kernels import influence
    >>> losses = np.tile([0.0, 1.0, 0.0, 1.0], (4, 1))
    >>> found = influence.error(losses, np.eye(4))
    >>> found["error"], found["se"]      # leave-one-out: the naive standard error
    (0.5, 0.25)
    """
    values, mask, counts_given = _checked(losses, tested, counts)
    if counts is None:
        _check_sizes(mask, "the sample")
    else:
        _check_samples(counts_given, "the sample")
    sums = LossSums(mask.shape[1], len(mask))
    rows = Rows(mask, counts_given, np.arange(len(mask)))
    sums.count(rows)
    if sums.n_untested:
        needed = repeats_needed(mask.mean(), mask.shape[1])
        raise ValueError(
            f"{sums.n_untested} of {mask.shape[1]} observations are never tested in {len(mask)} "
            f"repeats: about {needed} repeats would do"
        )
    sums.add(rows, values)
    sums.close(rows)
    found = sums.result()
    return {
        "error": found.estimate,
        "u": found.values,
        "se": float(np.sqrt(found.variance)),
        "terms": np.stack([found.first, found.second, found.third]),
        "mc_se": found.mc_se,
    }


def repeats_needed(share: float, n_cells: int, chance: float = 0.01) -> int:
    """Repeats after which some cell is still untested with a given chance, at most.

    Parameters
    ----------
    share : float
        Probability that a repeat tests a given cell (a pair, or an observation).
    n_cells : int
    chance : float

    Returns
    -------
    int
    """
    if share >= 1:
        return 1
    return int(np.ceil(np.log(n_cells / chance) / -np.log1p(-max(share, 1e-12))))


def _checked(values: Any, tested: Any, counts: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores or losses as floats, what is tested as booleans, and how often what is learnt."""
    shown, mask = np.asarray(values, dtype=float), np.asarray(tested)
    if shown.ndim != 2 or shown.shape != mask.shape or not len(mask):
        raise ValueError(
            "scores (or losses) and tested must have one shape (M, n), got "
            f"{shown.shape} and {mask.shape}"
        )
    if not np.isin(mask, (0, 1)).all():
        raise ValueError("tested must hold 0 and 1 only")
    mask = mask.astype(bool)
    if np.isnan(shown[mask]).any():
        row, column = np.argwhere(np.isnan(shown) & mask)[0]
        raise ValueError(
            f"repeat {row} has NaN for the tested observation {column}: every tested observation "
            "needs a score (or loss)"
        )
    if counts is None:
        return shown, mask, ~mask
    learnt = np.asarray(counts)
    if learnt.shape != mask.shape or learnt.dtype.kind not in "iuf":
        raise ValueError(
            f"counts must be numbers of shape {mask.shape}, got {learnt.dtype} of {learnt.shape}"
        )
    if not ((learnt >= 0) & (learnt == np.rint(learnt))).all():
        raise ValueError("counts must be integers, zero or more: how often each one is learnt from")
    if (mask & (learnt > 0)).any():
        raise ValueError("counts and tested overlap: what is learnt from cannot be tested")
    return shown, mask, learnt


def _check_samples(learnt: np.ndarray, where: str) -> None:
    """Refuse counts that are no bootstrap samples, as large as what they are drawn from."""
    sizes, expected = learnt.sum(axis=1), learnt.shape[1]
    if (sizes != expected).any():
        row = int((sizes != expected).argmax())
        raise ValueError(
            f"counts must sum to {expected}, the observations of {where}, in every row, but row "
            f"{row} has {sizes[row]:.0f}: draw as many with replacement as there are"
        )


def _check_sizes(tested: np.ndarray, where: str) -> None:
    sizes = tested.sum(axis=1)
    if sizes.min() != sizes.max() or sizes.min() == 0:
        raise ValueError(
            f"tested must mark a fold of one size in every repeat, but in {where} sizes go from "
            f"{sizes.min()} to {sizes.max()}: draw folds of one size"
        )
