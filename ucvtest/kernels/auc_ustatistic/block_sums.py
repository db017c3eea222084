"""Sums over learning sets, by block, from which estimates and their variances follow.

They grow with the rows, but are never larger than a number for each pair of observations, learner
and block. Placements are kept only until the residuals of an additive fit are taken from them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from ucvtest.data.class_sizes import Shape
from ucvtest.kernels.auc_ustatistic.blocks import N_BLOCKS, LearningSets, Placed, rank
from ucvtest.kernels.auc_ustatistic.first_order import Moments, first_order
from ucvtest.kernels.auc_ustatistic.pair_effects import Additive, Residuals
from ucvtest.kernels.auc_ustatistic.placements import residual_sums

MOST_CALLS = 16
"""Rows are ranked in up to this number of calls of compiled code, rather than in one new
compilation."""

T = TypeVar("T", Moments, Residuals)


@dataclass(frozen=True, eq=False)
class _Batch:
    """Rows that were ranked, with their sums and draws."""

    calls: list[Placed]
    sums: Moments
    draw: np.ndarray
    residuals: list[np.ndarray] = field(default_factory=list)


class BlockSums:
    """Sums over the rows so far, of one learner or of several; `exact` if they will be all.

    `moments` and `residuals`; `pairs` (D, K, n1, n0), twice the sums of psi; `squares` (D, D),
    products of residual AUCs, each summed over the rows of a draw; `alike`, whether all learners
    placed every observation alike.
    """

    moments: Moments
    residuals: Residuals
    pairs: np.ndarray
    shape: Shape
    _depth: int

    def __init__(self, *, exact: bool = False) -> None:
        self.exact, self.alike = exact, True
        self.n_rows = self.n_draws = 0
        self.squares: Any = 0.0
        self._waiting: list[_Batch] = []

    @property
    def n_waiting(self) -> int:
        """Rows whose placements are in memory."""
        return sum(len(batch.draw) for batch in self._waiting)

    def rank(self, sets: LearningSets, scores: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        """Rank the next rows, which have draws of their own."""
        if not self.n_rows:
            self._start(sets, len(scores))
        placed_calls, call_moments = [], []
        for placed, sums in self._ranked(sets, scores):
            self.pairs += sums.pop("pairs")
            self.alike &= all(
                bool((block_counts == block_counts[:1]).all()) for block_counts in placed.counts
            )
            placed_calls.append(placed)
            call_moments.append(Moments(**sums))
        self._waiting.append(_Batch(placed_calls, reduce(_plus, call_moments), sets.draw))
        self.n_rows += len(sets.draw)

    def _ranked(
        self, sets: LearningSets, scores: Sequence[tuple[np.ndarray, np.ndarray]]
    ) -> Iterator[tuple[Placed, dict[str, np.ndarray]]]:
        """The rankings of the next rows, some at a time, with their sums."""
        return rank(sets, scores, self._calls(sets))

    def _calls(self, sets: LearningSets) -> Iterator[np.ndarray]:
        """Row numbers, as many to a call as at first, for which there is compiled code."""
        if not 1 / 2 < sets.longest / self._depth <= MOST_CALLS:
            self._depth = sets.depth
        return sets.calls(self._depth)

    def _start(self, sets: LearningSets, n_learners: int) -> None:
        shape, self._depth = sets.shape, sets.depth
        self.shape = shape
        self.pairs = np.zeros((n_learners, N_BLOCKS, *shape.sizes), dtype=np.int64)

    def settle(self) -> None:
        """Sum the residuals of the rows that wait for it, from the additive fit to all so far."""
        if not self._waiting:
            return
        shape, waiting = self.shape, self._waiting
        new_moments = reduce(_plus, [batch.sums for batch in waiting])
        self.moments = _plus(self.moments, new_moments) if self.n_draws else new_moments
        fit = self._fit()
        for batch in waiting:
            rows = np.zeros((len(self.pairs), len(batch.draw)))
            for placed in batch.calls:
                sums = residual_sums(
                    placed.counts,
                    placed.learnt,
                    placed.there,
                    tuple(map(float, shape.tested)),
                    (fit.centre, fit.learning, fit.testing),
                )
                rows[:, placed.rows[placed.there]] = sums.pop("rows")[:, placed.there]
                self._add(_residuals(shape, sums))
            batch.residuals.append(rows)
        self.residuals.across[...] -= _fitted_sums(shape, fit, new_moments)
        self._add_squares(
            np.concatenate([batch.residuals[0] for batch in waiting], axis=1),
            np.concatenate([batch.draw for batch in waiting]),
        )
        self._waiting = []

    def _fit(self) -> Additive:
        if self.exact:
            return Additive.none(self.shape, len(self.pairs))
        first = first_order(self.shape, self.moments, np.arange(N_BLOCKS), exact=False)
        return Additive.of(self.shape, first)

    def _add(self, new_residuals: Residuals) -> None:
        self.residuals = (
            _plus(self.residuals, new_residuals) if hasattr(self, "residuals") else new_residuals
        )

    def _add_squares(self, rows: np.ndarray, draw: np.ndarray) -> None:
        """Residuals are smaller than errors, by as many coefficients as there are in the fit."""
        centred = rows - rows.mean(axis=1, keepdims=True)
        by_draw = np.stack(
            [np.bincount(draw - draw.min(), squared_residuals) for squared_residuals in centred]
        )
        self.n_draws += by_draw.shape[1]
        residual_df = self.n_rows - (self.shape.n_obs - 1)
        factor = self.n_rows / residual_df if residual_df > 0 else np.nan
        self.squares = self.squares + factor * np.einsum("dm,em->de", by_draw, by_draw)


def _plus(augend: T, addend: T) -> T:
    attribute_pairs = zip(vars(augend).values(), vars(addend).values(), strict=True)
    return type(augend)(*(x + y for x, y in attribute_pairs))


def _residuals(shape: Shape, sums: dict[str, np.ndarray]) -> Residuals:
    """From the products of learning sets with residuals, to the sums about pairs."""
    (n1, n0), n_cells = shape.sizes, float(np.prod(shape.tested))
    ours, theirs = sums["of_positives"], sums["of_negatives"]
    within_classes = [ours[..., :n1], theirs[..., :n0]]
    learnt_fit = shape.split(sums["learnt_fit"])
    # Fits of rows that test a pair: of all rows, without those that learn from one or the other;
    # of_positives has those that learn from both.
    fit_of_pairs = (
        sums["fit"][..., None, None] - learnt_fit[0][..., :, None] - learnt_fit[1][..., None, :]
    )
    positives, negatives = (
        class_sums + np.swapaxes(class_sums, -1, -2) for class_sums in within_classes
    )
    between_classes = (
        ours[..., n1:] + np.swapaxes(theirs[..., n0:], -1, -2) - fit_of_pairs / n_cells
    )
    return Residuals(sums["xbar"], sums["own"], positives, negatives, between_classes)


def _fitted_sums(shape: Shape, fit: Additive, new_moments: Moments) -> np.ndarray:
    """Sums of d_i + d_j over the rows that test both."""
    n1 = shape.sizes[0]
    learnt = shape.split(new_moments.learnt)
    n_tests_both = (
        np.asarray(new_moments.n_rows, dtype=float)[:, None, None]
        - learnt[0][:, :, None]
        - learnt[1][:, None, :]
        + new_moments.together[:, :n1, n1:]
    )
    d = fit.testing[0][:, :, None] + fit.testing[1][:, None, :]
    product: np.ndarray = n_tests_both * d[:, None] / float(np.prod(shape.tested))
    return product
