"""Pairs of observations within test sets: pairs in the right order, and all pairs.

In small sets each pair is compared, many sets at a time. In large sets ranks are counted.
"""

from collections.abc import Iterator

import numpy as np

SOME = 2**17
"""Number of pairs compared at a time, so that they stay in the cache."""

LARGE = 1000
"""Least size of a set in which counting ranks is faster."""

CHUNK = 256
"""Rows that are then compared with each other; counts of ranks compare them with earlier rows."""


def pairs_in_sets(
    time_rank: np.ndarray,
    risks: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    sets: np.ndarray,
) -> np.ndarray:
    """Weighted pairs of each observation as the first and as the second of a pair, (2, 2, m).

    The sums are over pairs in the right order, with ties half, and over all pairs. Arguments are
    (m,), and pairs are of observations with the same number of a set. The first of a pair has the
    lower `time_rank`; in the right order, it has the higher risk. The weight of a pair is the
    `first` of one times the `second` of the other.
    """
    pair_weights = np.zeros((2, 2, len(risks)))
    order = np.argsort(sets, kind="stable")
    _, starts, sizes = np.unique(sets[order], return_index=True, return_counts=True)
    for size in np.unique(sizes).tolist():
        # The rows (R, size) of all R sets of this size.
        rows = order[starts[sizes == size][:, None] + np.arange(size)]
        sums_of = _counted if size >= LARGE else _compared
        step = max(1, SOME // size**2)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            pair_weights[:, :, some] = sums_of(
                time_rank[some], risks[some], first[some], second[some]
            )
    return pair_weights


def _compared(
    time_rank: np.ndarray, risks: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """The sums (2, 2, R, size) of some sets, by matrices of their pairs."""
    earlier = (time_rank[:, :, None] < time_rank[:, None, :]).view(np.int8)
    higher = (risks[:, :, None] > risks[:, None, :]).view(np.int8)
    lower = (risks[:, :, None] < risks[:, None, :]).view(np.int8)
    pair_weights = np.empty((2, 2, *risks.shape))
    # Right minus wrong pairs; half of this plus half of all pairs are right pairs, ties half.
    for kind, pairs in enumerate(((higher - lower) * earlier, earlier)):
        matrices = pairs.astype(float)
        pair_weights[0, kind] = first * (matrices @ second[:, :, None])[:, :, 0]
        pair_weights[1, kind] = second * (first[:, None] @ matrices)[:, 0]
    pair_weights[:, 0] = (pair_weights[:, 0] + pair_weights[:, 1]) / 2
    return pair_weights


def _counted(
    time_rank: np.ndarray, risks: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """The sums of some sets, one by one."""
    pair_weights = np.empty((2, 2, *risks.shape))
    for row, (place, risk, a, b) in enumerate(zip(time_rank, risks, first, second, strict=True)):
        pair_weights[0, :, row] = a * _before(-place, -risk, b)
        pair_weights[1, :, row] = b * _before(place, risk, a)
    return pair_weights


def _before(time_rank: np.ndarray, risks: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """For each row, the weight of rows at lower places, (2, n): of higher risk; of all.

    Ties count half.

    It goes chunk by chunk in the order of the places, in time n^1.5 and memory n.
    """
    n, order = len(time_rank), np.argsort(time_rank, kind="stable")
    p, w = time_rank[order], weights[order]
    different, ranks = np.unique(risks[order], return_inverse=True)
    starts = np.searchsorted(p, p, side="left")
    above, seen = np.zeros(n), np.zeros(len(different))
    for begin, chunk_end in _chunks(p, starts):
        rows = slice(begin, chunk_end)
        r = ranks[rows]
        if begin:
            more = np.concatenate([np.cumsum(seen[::-1])[::-1], [0.0]])
            above[rows] = more[r + 1] + seen[r] / 2
        if p[begin] < p[chunk_end - 1]:
            higher = (r[:, None] > r) + 0.5 * (r[:, None] == r)
            above[rows] += w[rows] @ (higher * (p[rows][:, None] < p[rows]))
        seen += np.bincount(r, w[rows], len(different))
    weights_before = np.empty((2, n))
    weights_before[0, order] = above
    weights_before[1, order] = np.concatenate([[0.0], np.cumsum(w)])[starts]
    return weights_before


def _chunks(places: np.ndarray, starts: np.ndarray) -> Iterator[tuple[int, int]]:
    """Where chunks of sorted places begin and end.

    Chunks do not divide a place, large places are alone.
    """
    n = len(places)
    some = np.arange(0, n, CHUNK)
    rank_ends = np.searchsorted(places, places[some], side="right")
    bounds = np.unique(np.concatenate([starts[some], rank_ends[rank_ends - starts[some] > 1], [n]]))
    yield from zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
