"""Sums over repeats, and the influence values of a cross-validated AUC or error rate from them.

Notation of Yousef (Estimating the standard error of cross-validation-based estimators of
classifier performance): in repeat m some positives i and negatives j are tested, T1[m, i] = 1
and T0[m, j] = 1, by a rule that did not learn from them; psi in {0, 1/2, 1} says whether it
ranks them right. N_ij = sum_m T1 T0 psi, C_ij = sum_m T1 T0, and AUC = mean of N/C.

Mass epsilon moved to observation i changes (I) how much i counts as a tested observation and
(II, III) the probability of every training set, and so the weights in numerator and denominator
of N/C. With the number of times c_mi that training set m contains observation i, and its mean c_m
over the class, the derivative of the log probability of training set m is n1 (c_mi - c_m): (42b)
for cross-validation (c_mi = 1 - T1[m, i]), and the multinomial one for the bootstrap. With

    a_m = sum_ij T1 T0 psi / C_ij,    b_m = sum_ij T1 T0 N_ij / C_ij^2

the three terms of a positive i are

    I = mean_j N_ij / C_ij - AUC,    II = (1/n0) sum_m (c_mi - c_m) a_m,
    III = (1/n0) sum_m (c_mi - c_m) b_m,

and its influence value is U_i = I + II - III. C depends on the design alone, so that one pass
over the scores is enough: they need not be kept.

There are three passes over the rows, each an object that the one before makes: `PairCounts` and
`LossCounts` count how often each pair or observation is tested, `PairSums` and `LossSums` add up
the scores (losses) of one learner, and their `influence` goes through the learning sets.

Repeated K-fold cross-validation tests all pairs of folds in each repeat. The rule that scores a
pair (i, j) is learnt without the folds of i and j; the division of the rest into further folds does
not affect it, and sums out of the probability G of the whole partition. The probability of the
training set remains, so each pair of folds is one row of the sums above.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ucvtest.kernels.influence.calls import (
    calls,
    count_pairs,
    group_of,
    number_of_groups,
    rank_pairs,
    sum_losses,
    sum_over_pairs,
)
from ucvtest.kernels.influence.estimate import Influence, Rows

# ------------------------------------------------------- first pass: tested observations


@dataclass(frozen=True, eq=False)
class _Counts:
    """How often each pair (observation) is tested: `by_group` is (G, n1, n0), or (G, n).

    `classes` contains the observations of each class; of all as one for an error rate.
    """

    classes: Sequence[np.ndarray]
    n_repeats: int
    by_group: np.ndarray

    @property
    def n_untested(self) -> int:
        """Pairs (observations) that are never tested."""
        return int((self.by_group.sum(axis=0) == 0).sum())


class PairCounts(_Counts):
    """How often each pair of a positive and a negative is tested together, for the AUC."""

    @classmethod
    def of(cls, y: np.ndarray, n_repeats: int, row_batches: Iterable[Rows]) -> "PairCounts":
        """Count; y is 1 for positives, and the rows come in any number of parts."""
        classes = (np.flatnonzero(y == 1), np.flatnonzero(y != 1))
        n1, n0 = map(len, classes)
        by_group = np.zeros((number_of_groups(n1 * n0, n_repeats), n1, n0))
        for rows in row_batches:
            for call in calls(rows, classes, len(by_group)):
                by_group += count_pairs(*call.design, call.group, shape=by_group.shape)
        return cls(classes, n_repeats, by_group)

    def sums(self) -> "PairSums":
        """The second pass, for the scores of one learner."""
        return PairSums(self)


class LossCounts(_Counts):
    """How often each observation is tested, for an error rate or any other mean loss."""

    @classmethod
    def of(cls, n_obs: int, n_repeats: int, row_batches: Iterable[Rows]) -> "LossCounts":
        """Count; see `PairCounts.of`."""
        by_group = np.zeros((number_of_groups(n_obs, n_repeats), n_obs))
        for rows in row_batches:
            np.add.at(by_group, group_of(rows, len(by_group)), rows.tested)
        return cls((np.arange(n_obs),), n_repeats, by_group)

    def sums(self) -> "LossSums":
        """The second pass, for the losses of one learner."""
        return LossSums(self)


# ------------------------------------------- second and third pass: scores, learning sets


@dataclass(frozen=True, eq=False)
class LearningSets:
    """Sums over the rows that say how the choice of learning sets moves the estimate.

    `second` and `third` (n,): of (c_mi - c_m) a_m, and of (c_mi - c_m) b_m; `by_group` (G, n): of
    (c_mi - c_m) (a_m - b_m); `effects` (M,): of a_m - b_m over the rows of each repeat; `learnt`
    (n,): how often each observation is learnt from.
    """

    second: np.ndarray
    third: np.ndarray
    by_group: np.ndarray
    effects: np.ndarray
    learnt: np.ndarray
    n_rows: int

    def noise_of_shares(self, members: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """What noise in the shares N/C of each observation (G, n_k), centred, does to I and III.

        III is linear in them; its coefficients are replaced by their expectation over designs,
        which is -c_m for i itself and c_m/(n_k - 1) for every other observation of its class.
        """
        n = len(members)
        learnt = self.learnt[members].mean() / self.n_rows
        return moved * (1 + learnt * n / max(n - 1, 1))


class PairMeans(NamedTuple):
    """Means of N/C over the pairs of each observation, and by how much groups of repeats move them.

    Each for the positives and for the negatives; `moved_by_class` are (G, n_k).
    """

    estimate: float
    by_class: tuple[np.ndarray, np.ndarray]
    moved_by_class: tuple[np.ndarray, np.ndarray]


class _Sums(ABC):
    """What the rules of one learner say of the tested observations: the second pass.

    Rows are added in any number of parts; `influence` makes the third pass.
    """

    def __init__(self, counts: _Counts) -> None:
        self._counts = counts
        self._n_groups = len(counts.by_group)
        self._tested = counts.by_group.sum(axis=0)
        self._sums = np.zeros(counts.by_group.shape)
        self._a: list[np.ndarray] = []
        self._values: list[np.ndarray] = []

    @abstractmethod
    def add(self, rows: Rows, values: np.ndarray) -> None:
        """Add the scores (losses) of some rows, (R, n), looked at only where tested."""

    def influence(self, row_batches: Iterable[Rows]) -> Influence:
        """The estimate and its influence values, from the added rows again, in the same order."""
        counts, all_a = self._counts, np.concatenate(self._a)
        n_obs = sum(map(len, counts.classes))
        weights = self._weights()
        second, third, learnt = np.zeros((3, n_obs))
        by_group, effects = np.zeros((self._n_groups, n_obs)), np.zeros(counts.n_repeats)
        n_rows = 0
        for rows in row_batches:
            b = self._b(rows, weights)
            a = all_a[n_rows : n_rows + len(b)]
            n_rows += len(b)
            of_group = np.zeros((self._n_groups, len(b)))
            of_group[group_of(rows, self._n_groups), np.arange(len(b))] = a - b
            times = rows.counts.astype(float)
            for members in counts.classes:
                excess = times[:, members] - times[:, members].mean(axis=1, keepdims=True)
                second[members] += a @ excess
                third[members] += b @ excess
                by_group[:, members] += of_group @ excess
            np.add.at(effects, rows.repeat, a - b)
            learnt += times.sum(axis=0)
        assert n_rows == len(all_a), "the third pass takes the rows of the second"
        return self._influence(LearningSets(second, third, by_group, effects, learnt, n_rows))

    def _weights(self) -> np.ndarray:
        """N/C^2 of each pair (observation)."""
        weights: np.ndarray = self._sums.sum(axis=0) / self._tested**2
        return weights

    @abstractmethod
    def _b(self, rows: Rows, weights: np.ndarray) -> np.ndarray:
        """b of each row: the sum of the weights N/C^2 over all that it tests."""

    @abstractmethod
    def _influence(self, sets: LearningSets) -> Influence: ...


class PairSums(_Sums):
    """Sums over repeats for the AUC: made by `PairCounts.sums`."""

    @property
    def _clusters_by_class(self) -> Sequence[np.ndarray]:
        """What the rows and the columns of tables of pairs are."""
        return self._counts.classes

    def add(self, rows: Rows, values: np.ndarray) -> None:
        """Add the scores of some rows, (R, n), looked at only where tested."""
        inverse = 1 / self._tested
        for call in calls(rows, self._clusters_by_class, self._n_groups):
            sums, a, auc = rank_pairs(
                *call.scores(values), *call.design, call.group, inverse, shape=self._sums.shape
            )
            self._sums += sums
            self._a.append(a[: call.size])
            self._values.append(auc[: call.size])

    def _b(self, rows: Rows, weights: np.ndarray) -> np.ndarray:
        row_calls = calls(rows, self._clusters_by_class, self._n_groups)
        return np.concatenate(
            [sum_over_pairs(*call.design, weights)[: call.size] for call in row_calls]
        )

    def _means(self) -> PairMeans:
        pair_means = self._sums.sum(axis=0) / self._tested
        # Of each group: by how much it moves N/C, and with it term I.
        moved = (self._sums - self._counts.by_group * pair_means) / self._tested
        return PairMeans(
            float(pair_means.mean()),
            (pair_means.mean(axis=1), pair_means.mean(axis=0)),
            (moved.mean(axis=2), moved.mean(axis=1)),
        )

    def _influence(self, sets: LearningSets) -> Influence:
        sizes = n1, n0 = tuple(map(len, self._counts.classes))
        means = self._means()
        group = np.arange(self._counts.n_repeats) % self._n_groups
        effects = np.bincount(group, sets.effects, self._n_groups) / (n1 * n0)
        second, third, by_group = sets.second.copy(), sets.third.copy(), sets.by_group.copy()
        first, divisor = np.empty_like(second), np.empty_like(second)
        first_by_group = np.empty_like(by_group)
        for k, members in enumerate(self._counts.classes):
            other_class_size = sizes[1 - k]
            first[members] = means.by_class[k] - means.estimate
            divisor[members] = sizes[k]
            for term in (second, third):
                term[members] /= other_class_size
            by_group[:, members] /= other_class_size
            of_shares = means.moved_by_class[k] - effects[:, None]
            first_by_group[:, members] = of_shares
            by_group[:, members] += sets.noise_of_shares(members, of_shares)
        return Influence(
            estimate=means.estimate,
            first=first,
            second=second,
            third=third,
            by_group=by_group,
            first_by_group=first_by_group,
            rows=np.concatenate(self._values),
            effects=sets.effects / (n1 * n0),
            divisor=divisor,
        )


class LossSums(_Sums):
    """Sums over repeats for a mean loss: made by `LossCounts.sums`."""

    def add(self, rows: Rows, values: np.ndarray) -> None:
        """Add the losses of some rows, (R, n), looked at only where tested."""
        group = group_of(rows, self._n_groups)
        sums, a, mean = sum_losses(
            values, rows.tested, group, 1 / self._tested, n_groups=self._n_groups
        )
        self._sums += sums
        self._a.append(a)
        self._values.append(mean)

    def _b(self, rows: Rows, weights: np.ndarray) -> np.ndarray:
        row_sums: np.ndarray = rows.tested @ weights
        return row_sums

    def _influence(self, sets: LearningSets) -> Influence:
        n = len(self._tested)
        mean_losses = self._sums.sum(axis=0) / self._tested
        estimate = float(mean_losses.mean())
        moved = (self._sums - self._counts.by_group * mean_losses) / self._tested
        moved -= moved.mean(axis=1, keepdims=True)
        return Influence(
            estimate=estimate,
            first=mean_losses - estimate,
            second=sets.second,
            third=sets.third,
            by_group=sets.by_group + sets.noise_of_shares(np.arange(n), moved),
            first_by_group=moved,
            rows=np.concatenate(self._values),
            effects=sets.effects / n,
            divisor=np.full(n, float(n)),
        )
