r"""Effects of single observations and of pairs on the complete AUC, from random learning sets.

Class c has n_c observations; a rule learns from g_c and ranks the other r_c = n_c - g_c; with what
is tested it sees m_c = g_c + 1. psi(L; i, j) says whether the rule learnt on L ranks i above j, and
the kernel of the two-sample U-statistic is its mean over the ways to split sets of m_1 positives
and m_0 negatives into learning set and tested pair. w_mi = 1 if row m learns from i.

The pair effects tau of an additive function are zero:
``A_L(i, j) = U + sum of lambda over L + d_i + d_j``. They are therefore estimated from the
residuals X = psi - A of an additive fit, which are much smaller than psi.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from ucvtest.kernels.auc_ustatistic.jitted import moment_sums, residual_sums
from ucvtest.kernels.auc_ustatistic.placed import LearningSets, Placed

__all__ = [
    "Additive",
    "Moments",
    "PairEffects",
    "contributions",
    "first_order",
    "pair_effects",
]


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over the rows of each block, positives first: what the effects of single ones need.

    (K,) rows and AUC; (K, n) learnt, learnt times AUC, placements; (K, n, n) learnt together.
    """

    n_rows: np.ndarray
    auc: np.ndarray
    learnt: np.ndarray
    learnt_auc: np.ndarray
    placed: np.ndarray
    together: np.ndarray

    @classmethod
    def of(cls, sets: LearningSets, placed: Placed) -> "Moments":
        """Add up the rows."""
        totals: list[np.ndarray] = []
        for index in sets.calls():
            sums = moment_sums(*_call(sets, placed, index))
            totals = [x + y for x, y in zip(totals, sums, strict=True)] if totals else list(sums)
        return cls(*totals)

    def total(self, blocks: np.ndarray) -> "Moments":
        """The sums over some blocks, as one."""
        parts = (part[blocks].sum(axis=0, keepdims=True) for part in vars(self).values())
        return Moments(*parts)


@dataclass(frozen=True, eq=False)
class FirstOrder:
    """The complete AUC, and what single observations contribute, positives first.

    `learning` (n,) are the coefficients eta of the AUC of a row on its learning set; `testing` (n,)
    how far the mean placement of each observation is from the mean of its class.
    """

    auc: float
    learning: np.ndarray
    testing: np.ndarray


@dataclass(frozen=True, eq=False)
class Additive:
    """U, lambda and d of the additive fit; the last two by class."""

    centre: float
    learning: tuple[np.ndarray, np.ndarray]
    testing: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, sets: LearningSets, first: FirstOrder) -> "Additive":
        """The fit whose mean placements and coefficients of learning sets are these."""
        learning, testing = [], []
        eta, deviation = (split(sets, part) for part in (first.learning, first.testing))
        for c, (n, g) in enumerate(zip(sets.sizes, sets.learn_sizes, strict=True)):
            d = (deviation[c] + g / (n - 1) * eta[c]) / (1 - g / ((n - 1) * (n - g)))
            testing.append(d)
            learning.append(eta[c] + d / (n - g))
        return cls(first.auc, (learning[0], learning[1]), (testing[0], testing[1]))


@dataclass(frozen=True, eq=False)
class PairEffects:
    """tau of each block: (K, n1, n1), (K, n0, n0) and (K, n1, n0); residual AUC of each row."""

    positives: np.ndarray
    negatives: np.ndarray
    across: np.ndarray
    rows: np.ndarray


def split(sets: LearningSets, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values of the positives and those of the negatives."""
    n1 = sets.sizes[0]
    return values[..., :n1], values[..., n1:]


def placements(
    sets: LearningSets, placed: Placed, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """P1 and P0 of some rows: mean psi of each tested observation, zero for the others."""
    (n1, n0), (g1, g0) = sets.sizes, sets.learn_sizes
    ours, theirs = placed.counts
    return ours[rows] / (2.0 * (n0 - g0)), theirs[rows] / (2.0 * (n1 - g1))


def _call(
    sets: LearningSets, placed: Placed, index: np.ndarray
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...], np.ndarray]:
    """The placements and learning sets of the rows of a call, and which of them there are."""
    there = index >= 0
    of_rows = tuple(part * there[..., None] for part in placements(sets, placed, index))
    return of_rows, tuple(part[index] for part in sets.learnt), there.astype(float)


def first_order(sets: LearningSets, sums: Moments, *, exact: bool) -> FirstOrder:
    """The effects of single observations from the sums of one block, or of several as one."""
    count = sums.n_rows[0]
    auc, learnt = sums.auc[0] / count, sums.learnt[0] / count
    response = sums.learnt_auc[0] / count - learnt * auc
    if exact:
        # All learning sets: the products of their indicators are known.
        eta = np.concatenate(
            [
                (n * (n - 1) / (g * (n - g)) if g else 0.0) * part
                for part, n, g in zip(
                    split(sets, response), sets.sizes, sets.learn_sizes, strict=True
                )
            ]
        )
    else:
        eta = _regressed(sums.together[0] / count - np.outer(learnt, learnt), response)
    parts = [part - part.mean() for part in split(sets, eta)]
    eta = np.concatenate(parts)
    tested = count - sums.learnt[0]
    mean = np.divide(sums.placed[0], tested, out=np.full(len(tested), auc), where=tested > 0)
    deviation = np.concatenate([part - part.mean() for part in split(sets, mean)])
    return FirstOrder(float(auc - learnt @ eta), eta, deviation)


def _regressed(gram: np.ndarray, response: np.ndarray) -> np.ndarray:
    """Least squares, of smallest length: learning sets of one size leave two directions open.

    Well conditioned otherwise, so conjugate gradients. Without BLAS: its threads would go on
    spinning for a tenth of a second, in the way of JAX's.
    """
    n = len(gram)
    product = LinearOperator((n, n), partial(np.einsum, "ij,j->i", gram))
    found, _ = cg(product, response, rtol=1e-12)
    solution: np.ndarray = found
    return solution


def contributions(sets: LearningSets, first: FirstOrder) -> tuple[np.ndarray, np.ndarray]:
    """b of the positives and of the negatives: E[psi 1{i is learnt from or tested}], centred."""
    eta, deviation = (split(sets, part) for part in (first.learning, first.testing))
    positives, negatives = (
        g * (n - g) / (n * (n - 1)) * eta[c] + deviation[c] / n
        for c, (n, g) in enumerate(zip(sets.sizes, sets.learn_sizes, strict=True))
    )
    return positives, negatives


# ---------------------------------------------------------------------------- pair effects


def pair_effects(sets: LearningSets, placed: Placed, additive: Additive) -> PairEffects:
    """tau of each block of rows, from the residuals of the additive fit."""
    n_rows = len(sets.draw)
    totals: dict[str, np.ndarray] = {}
    rows = np.zeros(n_rows)
    fit = (np.float64(additive.centre), additive.learning, additive.testing)
    for index in sets.calls():
        sums = residual_sums(*_call(sets, placed, index), fit)
        rows[index[index >= 0]] = sums.pop("rows")[index >= 0]
        for name, part in sums.items():
            totals[name] = totals.get(name, 0.0) + part
    (n1, n0), (g1, g0) = sets.sizes, sets.learn_sizes
    r1, r0 = n1 - g1, n0 - g0
    # A few learning sets, if these are all there are, leave blocks without any.
    count = np.maximum(totals["count"], 1.0)[:, None, None]
    u = totals["xbar"][:, None, None] / count
    own = []
    within = []
    for n, g, name in ((n1, g1, "1"), (n0, g0, "0")):
        m = g + 1
        a = totals[f"own_{name}"] / count[..., 0] - m / n * u[..., 0]
        own.append(a)
        within.append(_within(totals[f"joint_{name}"] / count, a, u, n, m))
    share1, share0 = (g1 + 1) / n1, (g0 + 1) / n0
    joint = (totals["across"] + placed.pairs / (2.0 * r1 * r0)) / count
    across = joint - share0 * own[0][:, :, None] - share1 * own[1][:, None, :] - share1 * share0 * u
    return PairEffects(within[0], within[1], across, rows)


def _within(joint: np.ndarray, a: np.ndarray, u: np.ndarray, n: int, m: int) -> np.ndarray:
    """tau of pairs of one class, (K, n, n); zero on the diagonal."""
    if n < 3:
        return np.zeros_like(joint)
    effects = a[:, :, None] + a[:, None, :]
    tau: np.ndarray = joint - m * (m - 1) / (n * (n - 1)) * u - (m - 1) / (n - 2) * effects
    tau[:, np.arange(n), np.arange(n)] = 0.0
    return tau
