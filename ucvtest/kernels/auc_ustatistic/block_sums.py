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
from ucvtest.kernels.auc_ustatistic.unbiased import CompletePairs, DrawBatch, UntestedRest, pairs_of

__all__ = ["BlockSums"]

MOST_CALLS = 16
"""Rows are ranked in so many calls of code that is there, rather than in one to be compiled for."""

T = TypeVar("T", Moments, Residuals)


@dataclass(frozen=True, eq=False)
class _Batch:
    """Rows that were ranked, with their sums, draws, and where they come in pairs, the rest."""

    calls: list[Placed]
    sums: Moments
    draw: np.ndarray
    rest: UntestedRest | None
    residuals: list[np.ndarray] = field(default_factory=list)


class BlockSums:
    """Sums over the rows so far, of one learner or of several; `exact` if they will be all.

    `moments` and `residuals`; `pairs` (D, K, n1, n0), twice the sums of psi; `squares` (D, D),
    products of residual AUCs, each summed over the rows of a draw; `alike`, whether all learners
    placed every observation alike. For the unbiased variance, where there is one: `stages` of pairs
    of learning sets, or `complete`.
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
        self.complete: CompletePairs | None = None
        self.stages: list[DrawBatch] | None = []
        self._waiting: list[_Batch] = []

    @property
    def n_waiting(self) -> int:
        """Rows whose placements are in memory."""
        return sum(len(batch.draw) for batch in self._waiting)

    def rank(self, sets: LearningSets, scores: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        """Rank the next rows, which have draws of their own."""
        if not self.n_rows:
            self._start(sets, len(scores))
        if self.complete is not None:
            self.complete.add(sets, scores)
        pairs = None if self.stages is None else pairs_of(sets)
        rest = None if pairs is None else UntestedRest.of(sets, scores, pairs)
        if rest is None:
            self.stages = None
        calls, new = [], []
        for placed, sums in self._ranked(sets, scores):
            self.pairs += sums.pop("pairs")
            self.alike &= all(bool((each == each[:1]).all()) for each in placed.counts)
            calls.append(placed)
            new.append(Moments(**sums))
        self._waiting.append(_Batch(calls, reduce(_plus, new), sets.draw, rest))
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
        if self.exact:
            self.stages = None
            if shape.disjoint:
                self.complete = CompletePairs(shape, n_learners)

    def settle(self) -> None:
        """Sum the residuals of the rows that wait for it, from the additive fit to all so far."""
        if not self._waiting:
            return
        shape, waiting = self.shape, self._waiting
        new = reduce(_plus, [each.sums for each in waiting])
        self.moments = _plus(self.moments, new) if self.n_draws else new
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
        self.residuals.across[...] -= _fitted(shape, fit, new)
        self._add_squares(
            np.concatenate([each.residuals[0] for each in waiting], axis=1),
            np.concatenate([each.draw for each in waiting]),
        )
        if self.stages is not None:
            self.stages.append(
                DrawBatch.of(
                    shape,
                    self.moments,
                    [(each.rest, each.draw, each.calls) for each in waiting if each.rest],
                )
            )
        self._waiting = []

    def _fit(self) -> Additive:
        if self.exact:
            return Additive.none(self.shape, len(self.pairs))
        first = first_order(self.shape, self.moments, np.arange(N_BLOCKS), exact=False)
        return Additive.of(self.shape, first)

    def _add(self, found: Residuals) -> None:
        self.residuals = _plus(self.residuals, found) if hasattr(self, "residuals") else found

    def _add_squares(self, rows: np.ndarray, draw: np.ndarray) -> None:
        """Residuals are smaller than errors, by as many coefficients as there are in the fit."""
        centred = rows - rows.mean(axis=1, keepdims=True)
        by_draw = np.stack([np.bincount(draw - draw.min(), each) for each in centred])
        self.n_draws += by_draw.shape[1]
        left = self.n_rows - (self.shape.n_obs - 1)
        factor = self.n_rows / left if left > 0 else np.nan
        self.squares = self.squares + factor * np.einsum("dm,em->de", by_draw, by_draw)


def _plus(one: T, other: T) -> T:
    parts = zip(vars(one).values(), vars(other).values(), strict=True)
    return type(one)(*(x + y for x, y in parts))


def _residuals(shape: Shape, sums: dict[str, np.ndarray]) -> Residuals:
    """From the products of learning sets with residuals, to the sums about pairs."""
    (n1, n0), n_cells = shape.sizes, float(np.prod(shape.tested))
    ours, theirs = sums["of_positives"], sums["of_negatives"]
    within = [ours[..., :n1], theirs[..., :n0]]
    learnt_fit = shape.split(sums["learnt_fit"])
    # Fits of rows that test a pair: of all rows, without those that learn from one or the other;
    # of_positives has those that learn from both.
    alone = sums["fit"][..., None, None] - learnt_fit[0][..., :, None] - learnt_fit[1][..., None, :]
    positives, negatives = (each + np.swapaxes(each, -1, -2) for each in within)
    across = ours[..., n1:] + np.swapaxes(theirs[..., n0:], -1, -2) - alone / n_cells
    return Residuals(sums["xbar"], sums["own"], positives, negatives, across)


def _fitted(shape: Shape, fit: Additive, new: Moments) -> np.ndarray:
    """Sums of d_i + d_j over the rows that test both."""
    n1 = shape.sizes[0]
    learnt = shape.split(new.learnt)
    both = (
        np.asarray(new.n_rows, dtype=float)[:, None, None]
        - learnt[0][:, :, None]
        - learnt[1][:, None, :]
        + new.together[:, :n1, n1:]
    )
    d = fit.testing[0][:, :, None] + fit.testing[1][:, None, :]
    product: np.ndarray = both * d[:, None] / float(np.prod(shape.tested))
    return product
