r"""Effects of pairs of observations on the complete AUC, from random learning sets.

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
from ucvtest.kernels.auc_ustatistic.first_order import FirstOrder


@dataclass(frozen=True, eq=False)
class Additive:
    """U (D,), lambda and d of the additive fit; the last two (D, n_c) by class."""

    centre: np.ndarray
    learning: tuple[np.ndarray, np.ndarray]
    testing: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, shape: Shape, first: FirstOrder) -> "Additive":
        """The fit whose mean placements and coefficients of learning sets are these."""
        eta, testing = shape.split(first.learning), shape.split(first.additive_testing(shape))
        learning = [
            class_learning + d / r
            for class_learning, d, r in zip(eta, testing, shape.tested, strict=True)
        ]
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
        class_effects = [
            class_means - inclusion_rate * u[..., 0]
            for class_means, inclusion_rate in zip(mean, shares, strict=True)
        ]
        joint = (sums.across + pairs / (2.0 * r1 * r0)) / count
        between_classes = (
            joint
            - shares[1] * class_effects[0][..., :, None]
            - shares[0] * class_effects[1][..., None, :]
            - shares[0] * shares[1] * u
        )
        return cls(
            _within(sums.positives / count, class_effects[0], u, n1, g1 + 1),
            _within(sums.negatives / count, class_effects[1], u, n0, g0 + 1),
            between_classes,
        )


def _within(joint: np.ndarray, a: np.ndarray, u: np.ndarray, n: int, m: int) -> np.ndarray:
    """tau of pairs of one class, (D, K, n, n); zero on the diagonal."""
    if n < 3:
        return np.zeros_like(joint)
    effects = a[..., :, None] + a[..., None, :]
    tau: np.ndarray = joint - m * (m - 1) / (n * (n - 1)) * u - (m - 1) / (n - 2) * effects
    tau[..., np.arange(n), np.arange(n)] = 0.0
    return tau
