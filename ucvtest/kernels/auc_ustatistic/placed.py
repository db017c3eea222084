"""Learning sets dealt to blocks, and how the rules learnt on them rank what they do not learn from.

Scores are needed once, and only as many rows at a time as a call holds. What stays of each row are
the placements of its tested observations, as integers of two bytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ucvtest.kernels.auc_ustatistic.jitted import count_ranked

__all__ = ["N_BLOCKS", "LearningSets", "Placed"]

N_BLOCKS = 10
"""Blocks of rows: products of different blocks are free of Monte-Carlo noise, and leaving one out
at a time gives the Monte-Carlo error of a variance."""

CALL_CELLS = 2**21
"""Values of psi, or of what is known of each observation, in one jitted call."""

ROW_STEP = 16
"""Rows of each block in a call are filled up to multiples of this, to share compilations."""


@dataclass(frozen=True, eq=False)
class LearningSets:
    """Rows of learning sets: which positives and negatives they hold, (M, n1) and (M, n0).

    `draw` (M,) numbers the draws that rows belong to; whole draws are dealt to the blocks in turn.
    """

    learnt: tuple[np.ndarray, np.ndarray]
    draw: np.ndarray

    @property
    def sizes(self) -> tuple[int, int]:
        """n_c: observations of each class."""
        return self.learnt[0].shape[1], self.learnt[1].shape[1]

    @property
    def learn_sizes(self) -> tuple[int, int]:
        """g_c: how many of each class a rule learns from."""
        return int(self.learnt[0][0].sum()), int(self.learnt[1][0].sum())

    @property
    def block(self) -> np.ndarray:
        """The block of each row, (M,)."""
        return self.draw % N_BLOCKS

    def calls(self, *, pairs: bool = False) -> Iterator[np.ndarray]:
        """Row numbers (K, B) of one call after another, -1 where a block has no more rows.

        Fewer at a time where a call looks at `pairs` of observations.
        """
        members = [np.flatnonzero(self.block == k) for k in range(N_BLOCKS)]
        longest = max(map(len, members))
        n1, n0 = self.sizes
        limit = max(1, CALL_CELLS // (N_BLOCKS * (n1 * n0 if pairs else n1 + n0)))
        depth = min(limit, -(-longest // ROW_STEP) * ROW_STEP)
        index = np.full((N_BLOCKS, -(-longest // depth) * depth), -1)
        for k, rows in enumerate(members):
            index[k, : len(rows)] = rows
        for start in range(0, index.shape[1], depth):
            yield index[:, start : start + depth]


@dataclass(frozen=True, eq=False)
class Placed:
    """Twice the sums of psi, of one learner or of the difference of two: whole numbers.

    `counts` (M, n1) over the tested negatives and (M, n0) over the tested positives, of each row;
    `pairs` (K, n1, n0) over the rows of each block.
    """

    counts: tuple[np.ndarray, np.ndarray]
    pairs: np.ndarray

    @classmethod
    def of(cls, sets: LearningSets, scores: tuple[np.ndarray, np.ndarray]) -> "Placed":
        """Rank the scores of both classes, (M, n1) and (M, n0), looked at only where tested."""
        # A difference goes from minus to plus twice the number of observations that are tested.
        kind = np.min_scalar_type(-2 * max(sets.sizes) - 1)
        counts = tuple(np.zeros(learnt.shape, dtype=kind) for learnt in sets.learnt)
        pairs = np.zeros((N_BLOCKS, *sets.sizes), dtype=np.int64)
        for index in sets.calls(pairs=True):
            there = index >= 0
            tested = [~learnt[index] & there[..., None] for learnt in sets.learnt]
            *of_rows, of_blocks = count_ranked(*(part[index] for part in scores), *tested)
            for kept, found in zip(counts, of_rows, strict=True):
                kept[index[there]] = found[there]
            pairs += of_blocks
        return cls((counts[0], counts[1]), pairs)

    def minus(self, other: "Placed") -> "Placed":
        """The difference of two learners on the same learning sets: all is linear in psi."""
        ours, theirs = self.counts, other.counts
        counts = (ours[0] - theirs[0], ours[1] - theirs[1])
        return Placed(counts, self.pairs - other.pairs)
