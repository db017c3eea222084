"""The unbiased variance of the complete AUC, from learning sets without common observations.

It is U^2 minus the mean of psi(L; i, j) psi(L'; i', j') over disjoint learning sets and pairs that
are in neither, with i' not i and j' not j. All functions here are bilinear in psi, (D, D).

From random pairs of sets, psi is split into an additive fit A to the rows of other blocks, whose
part is known (the jackknife of an additive function is unbiased), and residuals X, which are small.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from ucvtest.data.class_sizes import Shape
from ucvtest.kernels.auc_ustatistic.blocks import N_BLOCKS, LearningSets, Placed
from ucvtest.kernels.auc_ustatistic.first_order import Moments, first_order
from ucvtest.kernels.auc_ustatistic.pair_effects import Additive
from ucvtest.kernels.auc_ustatistic.placements import row_residuals
from ucvtest.stats.jackknife import first_order_factor

Scores = Sequence[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class UntestedRest:
    """Of pairs of disjoint learning sets: who is in neither, and how the rules rank those.

    `rows` (G, 2); `who` (G, k1) and (G, k0); `twice` (D, G, 2, k1, k0) is twice psi.
    """

    rows: np.ndarray
    who: tuple[np.ndarray, np.ndarray]
    twice: np.ndarray

    @classmethod
    def of(cls, sets: LearningSets, scores: Scores, rows: np.ndarray) -> "UntestedRest":
        """For the pairs of rows (G, 2)."""
        who = []
        for learnt in sets.learnt:
            neither = ~(learnt[rows[:, 0]] | learnt[rows[:, 1]])
            who.append(np.nonzero(neither)[1].reshape(len(rows), -1))
        tested_rows = [class_rows[:, None] for class_rows in who]
        twice_psi = []
        for positives, negatives in scores:
            s1 = positives[rows[..., None], tested_rows[0]][..., :, None]
            s0 = negatives[rows[..., None], tested_rows[1]][..., None, :]
            twice_psi.append((s1 > s0).astype(np.int8) + (s1 >= s0))
        return cls(rows, (who[0], who[1]), np.stack(twice_psi))


def pairs_of(sets: LearningSets) -> np.ndarray | None:
    """The rows (G, 2) of pairs of disjoint sets, if all rows come in such pairs."""
    if not sets.shape.disjoint or len(sets.draw) % 2:
        return None
    rows = np.argsort(sets.draw, kind="stable").reshape(-1, 2)
    draw = sets.draw[rows]
    if (draw[:, 0] != draw[:, 1]).any() or (draw[1:, 0] == draw[:-1, 0]).any():
        return None
    if any(
        (learnt_of_class[rows[:, 0]] & learnt_of_class[rows[:, 1]]).any()
        for learnt_of_class in sets.learnt
    ):
        return None
    return rows


@dataclass(frozen=True, eq=False)
class DrawBatch:
    """Sums over the pairs of each block, from fits to the blocks of the other parity.

    (K,) `n_pairs`; (K, D) `mean` of X; (K, D, D) its `squares`, `products` of X and of X with A,
    and `additive`, the part of A.
    """

    n_pairs: np.ndarray
    mean: np.ndarray
    squares: np.ndarray
    products: np.ndarray
    additive: np.ndarray

    @classmethod
    def of(
        cls,
        shape: Shape,
        sums: Moments,
        waiting: Sequence[tuple[UntestedRest, np.ndarray, list[Placed]]],
    ) -> "DrawBatch":
        """Of rows that wait, with the draws of each part; `sums` are of all rows so far."""
        halves = [first_order(shape, sums, np.arange(k, N_BLOCKS, 2), exact=False) for k in (1, 0)]
        fits = [Additive.of(shape, half_first_order) for half_first_order in halves]
        length = np.repeat([first_order_factor(n, g + 1) for n, g in shape.by_class], shape.sizes)
        parity = np.arange(N_BLOCKS) % 2
        b = np.stack([half_first_order.contributions(shape) for half_first_order in halves])
        scaled = (b * length)[parity]
        fit = (
            np.stack([additive_fit.centre for additive_fit in fits])[parity],
            shape.split(
                np.stack([half_first_order.learning for half_first_order in halves])[parity]
            ),
            tuple(
                np.stack([additive_fit.learning[c] for additive_fit in fits])[parity]
                for c in (0, 1)
            ),
            tuple(
                np.stack([additive_fit.testing[c] for additive_fit in fits])[parity] for c in (0, 1)
            ),
        )
        additive = np.einsum("kdi,kei->kde", scaled, b[parity])
        n_learners = b.shape[1]
        total = [np.zeros((N_BLOCKS, n_learners)), *np.zeros((2, N_BLOCKS, n_learners, n_learners))]
        count = np.zeros(N_BLOCKS)
        for untested_rest, draw, placed_calls in waiting:
            fit_part = np.zeros((n_learners, len(draw)))
            xbar, q = np.zeros_like(fit_part), np.zeros((n_learners, *fit_part.shape))
            for placed in placed_calls:
                tested = tuple(map(float, shape.tested))
                row_values = row_residuals(
                    placed.counts, placed.learnt, tested, fit, shape.split(scaled)
                )
                is_row = placed.there
                rows = placed.rows[is_row]
                fit_part[:, rows], xbar[:, rows], q[:, :, rows] = (
                    row_value[..., is_row] for row_value in row_values
                )
            block = draw[untested_rest.rows[:, 0]] % N_BLOCKS
            mean = xbar[:, untested_rest.rows].mean(axis=-1)
            crossed = q[:, :, untested_rest.rows].mean(axis=-1)
            z = (
                crossed
                + np.swapaxes(crossed, 0, 1)
                - _products(untested_rest, fit_part, fits, block % 2)
            )
            np.add.at(count, block, 1)
            np.add.at(total[0], block, mean.T)
            np.add.at(total[1], block, np.einsum("dg,eg->gde", mean, mean))
            np.add.at(total[2], block, np.moveaxis(z, 2, 0))
        return cls(count, total[0], total[1], total[2], count[:, None, None] * additive)


def _products(
    untested_rest: UntestedRest,
    fit_part: np.ndarray,
    fits: Sequence[Additive],
    block_half: np.ndarray,
) -> np.ndarray:
    """Mean of X X' over tested pairs of the two rows without common observations, (D, D, G)."""
    values = untested_rest.twice / 2 - fit_part[:, untested_rest.rows][..., None, None]
    for c, who in enumerate(untested_rest.who):
        d = np.stack([fit.testing[c] for fit in fits])[block_half[:, None], :, who]
        d = np.moveaxis(d, -1, 0)[:, :, None]
        values -= d[..., :, None] if c == 0 else d[..., None, :]
    x, y = values[:, :, 0], values[:, :, 1]
    product_sums = np.einsum("dg,eg->deg", x.sum(axis=(2, 3)), y.sum(axis=(2, 3)))
    product_sums -= np.einsum("dgi,egi->deg", x.sum(axis=3), y.sum(axis=3))
    product_sums -= np.einsum("dgj,egj->deg", x.sum(axis=2), y.sum(axis=2))
    product_sums += np.einsum("dgij,egij->deg", x, y)
    k1, k0 = (who.shape[1] for who in untested_rest.who)
    mean: np.ndarray = (product_sums + np.swapaxes(product_sums, 0, 1)) / (
        2 * k1 * (k1 - 1) * k0 * (k0 - 1)
    )
    return mean


def unbiased(stages: Sequence[DrawBatch], kept_blocks: np.ndarray) -> np.ndarray:
    """The unbiased variance (D, D) from some of the blocks; NaN where they are too few."""
    total, weight = np.zeros_like(stages[0].products[0]), 0.0
    for stage in stages:
        for parity in (0, 1):
            blocks = kept_blocks & (np.arange(N_BLOCKS) % 2 == parity)
            count = stage.n_pairs[blocks].sum()
            if count < 2:
                return np.full_like(total, np.nan)
            mean = stage.mean[blocks].sum(axis=0)
            crossed = np.outer(mean, mean) - stage.squares[blocks].sum(axis=0)
            total += crossed / (count - 1)
            total += (stage.products + stage.additive)[blocks].sum(axis=0)
            weight += count
    return total / weight


# --------------------------------------------------------------------- all learning sets


class CompletePairs:
    """Sums of psi by the sets S of learnt and tested observations, over all learning sets."""

    def __init__(self, shape: Shape, n_learners: int) -> None:
        self._shape = shape
        self._sets = [list(combinations(range(n), g + 1)) for n, g in shape.by_class]
        self._sums = np.zeros((n_learners, len(self._sets[0]), len(self._sets[1])))

    def add(self, sets: LearningSets, scores: Scores) -> None:
        """Add the next rows."""
        places, tested_rows = [], []
        for (n, _), known_sets, learnt in zip(
            self._shape.by_class, self._sets, sets.learnt, strict=True
        ):
            # A set by its members as bits.
            power = 2 ** np.arange(n)
            keys = np.array([power[list(set_members)].sum() for set_members in known_sets])
            order = np.argsort(keys)
            tested = np.nonzero(~learnt)[1].reshape(len(learnt), -1)
            set_keys = (learnt @ power)[:, None] + power[tested]
            places.append(order[np.searchsorted(keys, set_keys, sorter=order)])
            tested_rows.append(tested)
        for sums, class_set in zip(self._sums, scores, strict=True):
            s1, s0 = (
                np.take_along_axis(class_scores, who, axis=1)
                for class_scores, who in zip(class_set, tested_rows, strict=True)
            )
            s1, s0 = s1[:, :, None], s0[:, None, :]
            psi = ((s1 > s0) + 0.0 + (s1 >= s0)) / 2
            np.add.at(sums, (places[0][:, :, None], places[1][:, None, :]), psi)

    def unbiased(self, auc: np.ndarray) -> np.ndarray:
        """The unbiased variance (D, D) of complete AUCs."""
        disjoint, n_splits, splits = [], 1, 1
        for (n, g), known_sets in zip(self._shape.by_class, self._sets, strict=True):
            holds_member = np.zeros((len(known_sets), n))
            for row, members in zip(holds_member, known_sets, strict=True):
                row[list(members)] = 1.0
            disjoint.append((holds_member @ holds_member.T == 0).astype(float))
            n_splits *= comb(n, g + 1) * comb(n - g - 1, g + 1)
            splits *= g + 1
        kernel = self._sums / splits
        products = np.einsum(
            "dst,su,euv,vt->de", kernel, disjoint[0], kernel, disjoint[1], optimize=True
        )
        unbiased_variance: np.ndarray = np.outer(auc, auc) - products / n_splits
        return unbiased_variance
