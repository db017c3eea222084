"""Influence values of cross-validated AUC and error rate, and ad-hoc variances beside them.

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

import numpy as np

from ucvtest.kernels.influence.estimate import Influence, Rows
from ucvtest.kernels.influence.jitted import counted_call, lost_call, ranked_call, weighted_call

__all__ = ["LossSums", "PairSums", "repeats_needed"]


MAX_GROUPS = 16
"""Groups of repeats, whose spread gives the Monte-Carlo errors."""

GROUP_CELLS = 2**22
"""Sums over pairs that all groups may hold: 32 MB; at least two groups in any case."""

CALL_CELLS = 2**21
"""Values of psi in one jitted call: 16 MB."""

ROW_STEP, SIZE_STEP = 128, 8
"""Rows of a call, and varying numbers of tested observations, are filled up to multiples of
these, so that they share compilations."""


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
            self._c += counted_call(*call.design, call.group, shape=self._shape)

    @property
    def n_untested(self) -> int:
        """Pairs that are never tested together so far."""
        return int((self._c.sum(axis=0) == 0).sum())

    def add(self, rows: Rows, scores: np.ndarray) -> None:
        """Add the scores of some rows, (R, n), looked at only where tested."""
        inverse = 1 / self._c.sum(axis=0)
        for call in self._calls(rows):
            n, a, value = ranked_call(
                *call.scores(scores), *call.design, call.group, inverse, shape=self._shape
            )
            self._n += n
            self._a.append(a[: call.size])
            self._values.append(value[: call.size])

    def close(self, rows: Rows) -> None:
        """See `_Sums`."""
        c = self._c.sum(axis=0)
        matrix = self._n.sum(axis=0) / c**2
        b = [weighted_call(*call.design, matrix)[: call.size] for call in self._calls(rows)]
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
        sums, a, value = lost_call(
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
