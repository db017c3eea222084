"""Learning sets dealt to blocks, and how the rules learnt on them rank the other observations.

Scores are needed once. Each row keeps the placements of its tested observations, as integers of two
bytes, until its residuals are summed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ucvtest.data.class_sizes import Shape
from ucvtest.kernels.auc_ustatistic.placements import rank_sums

N_BLOCKS = 10
"""Blocks of rows: products of different blocks are free of Monte-Carlo noise, and leaving one out
at a time gives the Monte-Carlo error of a variance."""

CALL_CELLS = 2**21
"""Observations of rows in one jitted call."""

MOST_ROWS = 2**13
"""Rows of a block in one call, at most: sums of them are integers of two bytes."""

ROW_STEP = 16
"""Rows of each block in a call are filled up to multiples of this, to share compilations."""


@dataclass(frozen=True, eq=False)
class LearningSets:
    """Rows of learning sets: which positives and negatives they contain, (M, n1) and (M, n0).

    `draw` (M,) numbers the draws that rows belong to; whole draws are dealt to the blocks in turn.
    """

    learnt: tuple[np.ndarray, np.ndarray]
    draw: np.ndarray

    @property
    def shape(self) -> Shape:
        """The sizes of classes and learning sets, positives first."""
        first, second = self.learnt
        sizes = (first.shape[1], second.shape[1])
        return Shape(sizes, (int(first[0].sum()), int(second[0].sum())))

    @property
    def longest(self) -> int:
        """Rows of the block that has most of them."""
        return int(np.bincount(self.draw % N_BLOCKS).max())

    @property
    def depth(self) -> int:
        """Rows of each block in one call, if these sets are on their own."""
        limit = max(1, min(MOST_ROWS, CALL_CELLS // (N_BLOCKS * self.shape.n_obs)))
        return min(limit, -(-self.longest // ROW_STEP) * ROW_STEP)

    def calls(self, depth: int) -> Iterator[np.ndarray]:
        """Row numbers (K, B) of one call after another, -1 where a block has no more rows."""
        block, longest = self.draw % N_BLOCKS, self.longest
        members = [np.flatnonzero(block == k) for k in range(N_BLOCKS)]
        index = np.full((N_BLOCKS, -(-longest // depth) * depth), -1)
        for k, rows in enumerate(members):
            index[k, : len(rows)] = rows
        for first_row in range(0, index.shape[1], depth):
            yield index[:, first_row : first_row + depth]


@dataclass(frozen=True, eq=False)
class Placed:
    """The rows of a call: their numbers (-1 for padding), learning sets and placements.

    `counts` (D, K, B, n1) and (D, K, B, n0) are twice the sums of psi over the other class.
    """

    rows: np.ndarray
    learnt: tuple[np.ndarray, np.ndarray]
    counts: tuple[np.ndarray, np.ndarray]

    @property
    def there(self) -> np.ndarray:
        """Which rows there are, (K, B)."""
        is_row: np.ndarray = self.rows >= 0
        return is_row


def rank(
    sets: LearningSets, scores: Sequence[tuple[np.ndarray, np.ndarray]], calls: Iterable[np.ndarray]
) -> Iterator[tuple[Placed, dict[str, np.ndarray]]]:
    """Rank the scores of D learners, looked at only where tested; with the sums of `BlockSums`.

    `calls` as from `LearningSets.calls`.
    """
    tested_places = [_tested(learnt) for learnt in sets.learnt]
    for index in calls:
        is_row = index >= 0
        learnt = (sets.learnt[0][index], sets.learnt[1][index])
        rows = [np.stack([learner_scores[c][index] for learner_scores in scores]) for c in (0, 1)]
        places = [class_places[index][None] for class_places in tested_places]
        tested = [
            np.take_along_axis(*row_and_place, axis=-1)
            for row_and_place in zip(rows, places, strict=True)
        ]
        sums = rank_sums((rows[0], rows[1]), learnt, is_row, (tested[0], tested[1]))
        counts = []
        for rank_counts, tested_place, class_places in zip(
            (sums.pop("counts1"), sums.pop("counts0")), places, rows, strict=True
        ):
            counts.append(np.zeros(class_places.shape, rank_counts.dtype))
            np.put_along_axis(counts[-1], tested_place, rank_counts, axis=-1)
        sums["placed"] = np.concatenate(
            [class_places.sum(axis=2) for class_places in counts], axis=-1
        )
        yield Placed(index, learnt, (counts[0], counts[1])), sums


def _tested(learnt: np.ndarray) -> np.ndarray:
    """Who is tested in each row, (M, r)."""
    return np.nonzero(~learnt)[1].reshape(len(learnt), -1)
