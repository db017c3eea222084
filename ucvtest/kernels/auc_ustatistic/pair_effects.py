r"""Effects of single observations and of pairs on the complete AUC, from random learning sets.

Class c has n_c observations; a rule learns from g_c and ranks the other r_c = n_c - g_c; with what
is tested it sees m_c = g_c + 1. psi(L; i, j) says whether the rule learnt on L ranks i above j, and
the kernel of the two-sample U-statistic is its mean over the ways to split sets of m_1 positives
and m_0 negatives into learning set and tested pair. w_mi = 1 if row m learns from i.

The pair effects tau of an additive function are zero:
``A_L(i, j) = U + sum of lambda over L + d_i + d_j``. They are therefore estimated from the
residuals X = psi - A of an additive fit, which are much smaller than psi.

Axes: D learners, K blocks, n observations, positives before negatives. Everything here is linear in
psi: effects of a difference are differences of effects.
"""

from dataclasses import dataclass

import numpy as np

from ucvtest.data.class_sizes import Shape
from ucvtest.kernels.auc_ustatistic.placements import least_squares

__all__ = ["Additive", "FirstOrder", "Moments", "PairEffects", "Residuals", "first_order"]


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over the rows of each block: what the effects of single observations need.

    Of the learning sets (K,) `n_rows`, (K, n) `learnt`, (K, n, n) `together`; of the rankings
    twice the sums of psi, (D, K) `total`, (D, K, n) `learnt_total` and `placed`.
    """

    n_rows: np.ndarray
    learnt: np.ndarray
    together: np.ndarray
    total: np.ndarray
    learnt_total: np.ndarray
    placed: np.ndarray


@dataclass(frozen=True, eq=False)
class FirstOrder:
    """The complete AUCs (D,), and what single observations contribute.

    `learning` (D, n) are the coefficients eta of the AUC of a row on its learning set; `testing`
    (D, n) how far the mean placement of each observation is from the mean of its class.
    """

    auc: np.ndarray
    learning: np.ndarray
    testing: np.ndarray

    def contributions(self, shape: Shape) -> np.ndarray:
        """b (D, n): E[psi 1{i is learnt from or tested}], centred."""
        eta, deviation = shape.split(self.learning), shape.split(self.testing)
        parts = [
            g * (n - g) / (n * (n - 1)) * eta[c] + deviation[c] / n
            for c, (n, g) in enumerate(shape.by_class)
        ]
        return np.concatenate(parts, axis=-1)


@dataclass(frozen=True, eq=False)
class Additive:
    """U (D,), lambda and d of the additive fit; the last two (D, n_c) by class."""

    centre: np.ndarray
    learning: tuple[np.ndarray, np.ndarray]
    testing: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, shape: Shape, first: FirstOrder) -> "Additive":
        """The fit whose mean placements and coefficients of learning sets are these."""
        learning, testing = [], []
        eta, deviation = shape.split(first.learning), shape.split(first.testing)
        for c, (n, g) in enumerate(shape.by_class):
            d = (deviation[c] + g / (n - 1) * eta[c]) / (1 - g / ((n - 1) * (n - g)))
            testing.append(d)
            learning.append(eta[c] + d / (n - g))
        return cls(first.auc, (learning[0], learning[1]), (testing[0], testing[1]))

    @classmethod
    def none(cls, shape: Shape, n_learners: int) -> "Additive":
        """No fit, where all learning sets make it needless."""
        zeros = (np.zeros((n_learners, shape.sizes[0])), np.zeros((n_learners, shape.sizes[1])))
        return cls(np.zeros(n_learners), zeros, zeros)


@dataclass(frozen=True, eq=False)
class Residuals:
    """Sums of X over the rows of each block: what the pair effects need.

    (D, K) `xbar`; (D, K, n) `own`; (D, K, n1, n1) `positives`, (D, K, n0, n0) `negatives` and
    (D, K, n1, n0) `across`, the last without psi itself, whose sums are whole numbers.
    """

    xbar: np.ndarray
    own: np.ndarray
    positives: np.ndarray
    negatives: np.ndarray
    across: np.ndarray


@dataclass(frozen=True, eq=False)
class PairEffects:
    """tau of each block, (D, K, n1, n1), (D, K, n0, n0) and (D, K, n1, n0)."""

    positives: np.ndarray
    negatives: np.ndarray
    across: np.ndarray

    @classmethod
    def of(
        cls, shape: Shape, n_rows: np.ndarray, sums: Residuals, pairs: np.ndarray
    ) -> "PairEffects":
        """From sums over the rows of each block; `pairs` are twice those of psi."""
        (n1, g1), (n0, g0) = shape.by_class
        r1, r0 = shape.tested
        # A few learning sets, if these are all there are, leave blocks without any.
        count = np.maximum(n_rows, 1.0)[:, None, None]
        u = sums.xbar[..., None, None] / count
        shares = ((g1 + 1) / n1, (g0 + 1) / n0)
        mean = shape.split(sums.own / count[..., 0])
        own = [part - share * u[..., 0] for part, share in zip(mean, shares, strict=True)]
        joint = (sums.across + pairs / (2.0 * r1 * r0)) / count
        across = (
            joint
            - shares[1] * own[0][..., :, None]
            - shares[0] * own[1][..., None, :]
            - shares[0] * shares[1] * u
        )
        return cls(
            _within(sums.positives / count, own[0], u, n1, g1 + 1),
            _within(sums.negatives / count, own[1], u, n0, g0 + 1),
            across,
        )


def _within(joint: np.ndarray, a: np.ndarray, u: np.ndarray, n: int, m: int) -> np.ndarray:
    """tau of pairs of one class, (D, K, n, n); zero on the diagonal."""
    if n < 3:
        return np.zeros_like(joint)
    effects = a[..., :, None] + a[..., None, :]
    tau: np.ndarray = joint - m * (m - 1) / (n * (n - 1)) * u - (m - 1) / (n - 2) * effects
    tau[..., np.arange(n), np.arange(n)] = 0.0
    return tau


def first_order(shape: Shape, sums: Moments, blocks: np.ndarray, *, exact: bool) -> FirstOrder:
    """The effects of single observations from some of the blocks."""
    count = float(sums.n_rows[blocks].sum())
    r1, r0 = shape.tested
    twice = 2.0 * r1 * r0 * count
    learnt = sums.learnt[blocks].sum(axis=0)
    auc = sums.total[:, blocks].sum(axis=1) / twice
    mean = learnt / count
    response = sums.learnt_total[:, blocks].sum(axis=1) / twice - auc[:, None] * mean
    if exact:
        # All learning sets: the products of their indicators are known.
        factors = [n * (n - 1) / (g * (n - g)) if g else 0.0 for n, g in shape.by_class]
        eta = response * np.repeat(factors, shape.sizes)
    else:
        gram = sums.together[blocks].sum(axis=0, dtype=float) / count - np.outer(mean, mean)
        eta = least_squares(gram, response)
    eta = _centred(shape, eta)
    scale = np.repeat([2.0 * r0, 2.0 * r1], shape.sizes)
    placed, tested = sums.placed[:, blocks].sum(axis=1) / scale, count - learnt
    deviation = placed - tested * auc[:, None]
    deviation = np.divide(deviation, tested, out=np.zeros_like(deviation), where=tested > 0)
    return FirstOrder(auc - eta @ mean, eta, _centred(shape, deviation))


def _centred(shape: Shape, values: np.ndarray) -> np.ndarray:
    parts = [part - part.mean(axis=-1, keepdims=True) for part in shape.split(values)]
    return np.concatenate(parts, axis=-1)
