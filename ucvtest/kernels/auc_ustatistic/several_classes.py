r"""The AUC of more than two classes as a U-statistic of as many samples, from class-wise scores.

Class c has n_c observations; a rule learns from g_c of each and scores the other r_c = n_c - g_c,
one score s_c for each class. Of a rule the AUC is

    M(L) = sum over c != d of v_cd mean of h(s_c(i) - s_c(j)), i of class c and j of d, both tested,

with h = 1, 1/2, 0: a linear combination of two-class AUCs. v_cd = 1/(C (C - 1)) gives Hand and
Till's (2001), v_pd = n_d/(n - n_p) for one class p that of p against the rest.

The kernel of the U-statistic has m_c = g_c + 1 observations of each class: the learnt ones, and one
tested observation of each class. A pair of classes uses two of the tested ones. Let E(i_1, ...,
i_C) be the value of M for these tested observations. The placement of observation i is the mean of
E over all tuples with i, so that the mean of the placements of any class is M(L). The results from
the AUC of each row and from placements are as for two classes (see `first_order`): the coefficients
eta of M(L) on the learning sets of all classes, contributions b, the jackknife J = sum over c of
n_c (n_c - 1)/(n_c - m_c)^2 sum of b_i^2, and the effects of pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from ucvtest.data.class_sizes import Shape
from ucvtest.kernels.auc_ustatistic.blocks import N_BLOCKS

CALL_CELLS = 2**18
"""Pairs of observations of two classes that are compared at a time: they stay in the cache."""


@dataclass(frozen=True, eq=False)
class Classes:
    """Labels (n,) from 0 on, g_c of each class, and v_cd (C, C)."""

    labels: np.ndarray
    learn_sizes: tuple[int, ...]
    weights: np.ndarray

    @cached_property
    def shape(self) -> Shape:
        """n_c and g_c of each class."""
        return Shape(tuple(np.bincount(self.labels).tolist()), self.learn_sizes)

    @cached_property
    def order(self) -> np.ndarray:
        """The observations, class after class."""
        return np.argsort(self.labels, kind="stable")

    @cached_property
    def place(self) -> np.ndarray:
        """Where each observation is in this order."""
        return np.argsort(self.order)

    @cached_property
    def members(self) -> np.ndarray:
        """Indicators of the classes, (n, C)."""
        return (self.labels[:, None] == np.arange(len(self.learn_sizes))).astype(float)

    def of_each(self, values: Sequence[float]) -> np.ndarray:
        """The data of each class, for each observation (n,)."""
        return np.asarray(values, dtype=float)[self.labels]

    def centred(self, values: np.ndarray) -> np.ndarray:
        """Values (n,) minus the means of their classes."""
        means = self.members.T @ values / np.asarray(self.shape.sizes)
        centred: np.ndarray = values - means[self.labels]
        return centred


def hand_till(n_classes: int) -> np.ndarray:
    """v_cd of Hand and Till's AUC: the mean over all pairs of classes, and over both scores."""
    return (1 - np.eye(n_classes)) / (n_classes * (n_classes - 1))


def one_against_rest(sizes: Sequence[int], positive: int) -> np.ndarray:
    """v_cd of the AUC of one class against all others together, in their shares of the sample."""
    shares = np.array(sizes, dtype=float)
    shares[positive] = 0.0
    weights = np.zeros((len(sizes), len(sizes)))
    weights[positive] = shares / shares.sum()
    return weights


class ClasswiseSums:
    """ClasswiseSums over the rows of each block, of one learner or of several.

    By block: `count` (K,), `learnt` (K, n), `together` (K, n, n). By learner and block: `auc`
    (D, K); `learnt_auc` and `placed` (D, K, n); `inside` (D, K, n, n), M(L) where both are learnt
    from; `mixed`, the placement of the second where the first is learnt from; `across`, of two
    classes, the sums of E where both are tested. Of the rows themselves stay `learning` (M, n),
    `draw` (M,) and their AUCs `rows` (D, M). `alike`: all learners placed all observations alike;
    `exact`: the rows will be all learning sets, each once.
    """

    def __init__(self, classes: Classes, n_learners: int, *, exact: bool = False) -> None:
        self.classes, self.n_learners, self.exact = classes, n_learners, exact
        self.alike = True
        n = len(classes.labels)
        self.count = np.zeros(N_BLOCKS)
        self.learnt = np.zeros((N_BLOCKS, n))
        self.together = np.zeros((N_BLOCKS, n, n))
        of_learners = (n_learners, N_BLOCKS)
        self.of_learners = {
            "auc": np.zeros(of_learners),
            "learnt_auc": np.zeros((*of_learners, n)),
            "placed": np.zeros((*of_learners, n)),
            "inside": np.zeros((*of_learners, n, n)),
            "mixed": np.zeros((*of_learners, n, n)),
            "across": np.zeros((*of_learners, n, n)),
        }
        self._learning: list[np.ndarray] = []
        self._draw: list[np.ndarray] = []
        self._rows: list[np.ndarray] = []

    @property
    def shape(self) -> Shape:
        """n_c and g_c of each class."""
        return self.classes.shape

    @property
    def n_rows(self) -> int:
        """Learning sets so far."""
        return sum(map(len, self._draw))

    @property
    def learning(self) -> np.ndarray:
        """The learning sets (M, n)."""
        return np.concatenate(self._learning)

    @property
    def draw(self) -> np.ndarray:
        """The numbers (M,) of the draws that rows belong to."""
        return np.concatenate(self._draw)

    @property
    def rows(self) -> np.ndarray:
        """M(L) of each learner and row, (D, M)."""
        return np.concatenate(self._rows, axis=1)

    def add(self, scores: Sequence[np.ndarray], learning: np.ndarray, draw: np.ndarray) -> None:
        """Rank the class-wise scores (M, n, C) of each learner, looked at only where tested.

        `draw` (M,) numbers the draws that rows belong to; whole draws are dealt to the blocks in
        turn.
        """
        auc = np.zeros((len(scores), len(draw)))
        for k in range(N_BLOCKS):
            rows = np.flatnonzero(draw % N_BLOCKS == k)
            learnt = learning[rows].astype(float)
            self.count[k] += len(rows)
            self.learnt[k] += learnt.sum(axis=0)
            self.together[k] += learnt.T @ learnt
            first = None
            for learner_index, learner_scores in enumerate(scores):
                ranked, pair_sums = _ranked(self.classes, learner_scores[rows], learning[rows])
                placements = _Placements.of(self.classes, ranked, ~learning[rows])
                auc[learner_index, rows] = placements.auc
                for name, values in placements.sums(learnt, pair_sums).items():
                    self.of_learners[name][learner_index, k] += values
                first = ranked if first is None else first
                self.alike &= bool((first == ranked).all())
        self._learning.append(learning)
        self._draw.append(draw)
        self._rows.append(auc)


def placements(
    classes: Classes, scores: np.ndarray, learning: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """M(L) of each row (M,), and the placements (M, n), zero where learnt from."""
    class_placements = _Placements.of(classes, _ranked(classes, scores, learning)[0], ~learning)
    return class_placements.auc, class_placements.placed


def _ranked(
    classes: Classes, scores: np.ndarray, learning: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Contributions of pairs with each class to M(L), for each observation, (M, n, C).

    0 if not tested.

    Also the contribution of each pair of observations, summed over the rows, (n, n).
    """
    n_rows, n_obs, n_classes = scores.shape
    members = [np.flatnonzero(classes.labels == label) for label in range(n_classes)]
    ranked_counts, pair_sums = np.zeros(scores.shape), np.zeros((n_obs, n_obs))
    step = max(1, CALL_CELLS // max(classes.shape.sizes) ** 2)
    for first_row in range(0, n_rows, step):
        batch_rows = slice(first_row, first_row + step)
        tested = [~learning[batch_rows][:, class_members] for class_members in members]
        for c, d in zip(*np.nonzero(classes.weights), strict=True):
            of_c, of_d = (
                scores[batch_rows][:, class_members, c]
                for class_members in (members[c], members[d])
            )
            above, below = of_c[:, :, None], of_d[:, None, :]
            # Comparisons, not differences: infinite scores have none.
            twice_psi = (above > below).view(np.int8) + (above >= below).view(np.int8)
            twice_psi *= tested[c][:, :, None] & tested[d][:, None, :]
            half_weight = classes.weights[c, d] / 2
            r = classes.shape.tested
            ranked_counts[batch_rows, members[c], d] += (
                half_weight / r[d] * twice_psi.sum(axis=2, dtype=np.int32)
            )
            ranked_counts[batch_rows, members[d], c] += (
                half_weight / r[c] * twice_psi.sum(axis=1, dtype=np.int32)
            )
            pair_sums[np.ix_(members[c], members[d])] += half_weight * twice_psi.sum(
                axis=0, dtype=np.int32
            )
    return ranked_counts, pair_sums + pair_sums.T


@dataclass(frozen=True, eq=False)
class _Placements:
    """M(L) of each row (M,), and what the placement of a tested observation is made of.

    `placed` (M, n); `left` (M, n, C) is the part of E(i, j) that does not depend on the observation
    j of that class, half of what depends on neither.
    """

    tested: np.ndarray
    auc: np.ndarray
    placed: np.ndarray
    left: np.ndarray
    classes: Classes

    @classmethod
    def of(cls, classes: Classes, ranked: np.ndarray, tested: np.ndarray) -> Self:
        """From what pairs of classes add."""
        tested_shares = classes.members / np.array(classes.shape.tested)
        of_pairs = np.einsum("mid,ic->mcd", ranked, tested_shares)
        of_class = of_pairs.sum(axis=2)
        auc = of_class.sum(axis=1) / 2
        # The pairs of classes without one, and without two.
        auc_without_class = auc[:, None] - of_class
        auc_without_pair = auc_without_class[:, :, None] - of_class[:, None, :] + of_pairs
        own_ranks = ranked.sum(axis=2)
        placed = tested * (own_ranks + auc_without_class[:, classes.labels])
        placed_without_class = tested[:, :, None] * (
            own_ranks[:, :, None] - ranked + auc_without_pair[:, classes.labels] / 2
        )
        return cls(tested.astype(float), auc, placed, placed_without_class, classes)

    def sums(self, learnt: np.ndarray, pair_sums: np.ndarray) -> dict[str, np.ndarray]:
        """The sums of `ClasswiseSums`; `pair_sums` are those of pairs alone."""
        either = np.zeros_like(pair_sums)
        for label in range(len(self.classes.learn_sizes)):
            of_class = self.classes.labels == label
            either[:, of_class] = self.left[:, :, label].T @ self.tested[:, of_class]
        return {
            "auc": self.auc.sum(),
            "learnt_auc": self.auc @ learnt,
            "placed": self.placed.sum(axis=0),
            "inside": (learnt * self.auc[:, None]).T @ learnt,
            "mixed": learnt.T @ self.placed,
            "across": pair_sums + either + either.T,
        }
