"""Placements of tested units by their scores: of two classes or more, and of clusters.

The kernel for one tested unit of each class is

    E(i_1, ..., i_C) = sum over classes c != d of v_cd h(s_c(i_c) - s_c(i_d)),    h = 1, 1/2, 0,

and the placement of a unit is its mean over all tuples with the unit, so that the mean of the
placements of any class is the AUC of the row. v_10 = 1 of two classes. Hand and Till's (2001) AUC
has v_cd = 1/(C (C - 1)), and that of one class p against the rest v_pd = n_d/(n - n_p).

Units may be clusters of one class each, whose h is a weighted mean over pairs of their rows, or
clusters with rows of several classes (`place_mixed`), which are one stratum.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ucvtest.common.float64 import in_float64, jax, jit, jnp
from ucvtest.common.padding import next_multiple, padded
from ucvtest.kernels.ustatistic.rows import Strata
from ucvtest.stats.placements import midranks

CALL, LEAST_DEPTH = 512, 64
"""Rows of all blocks in a jitted call, and of one block at least: always as many, for one program.
Rows that are not there take no time."""

COLUMN_STEP = 16
"""Scores of a class are filled up to a multiple of this, so that samples share programs."""

SORTED_CELLS = 2**20
"""Scores that are sorted at a time."""


def two_classes() -> np.ndarray:
    """v_cd of class 1 above class 0."""
    return np.array([[0.0, 0.0], [1.0, 0.0]])


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


# ----------------------------------------------------------------------- comparisons of scores


def _psi(above: jax.Array, below: jax.Array, kind: Any) -> jax.Array:
    """Twice h of all pairs of two rows; comparisons with NaN, which is not tested, are False."""
    s, t = above[:, None], below[None, :]
    # Comparisons, not differences: infinite scores have none.
    return (s > t).astype(kind) + (s >= t).astype(kind)


def _by_block(
    of_row: Callable[..., tuple[jax.Array, ...]], rows: Sequence[jax.Array], count: jax.Array
) -> tuple[jax.Array, ...]:
    """The sum over the rows of each block of the first of some arrays, and the others of each row.

    Of rows (K, B, ...) the first `count` (K,) of each block are there.
    """

    def of_block(block: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        *arrays, n_rows = block

        def add(row: Any, sums: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
            pairs, *own = of_row(*(x[row] for x in arrays))
            of_rows = [x.at[row].set(y) for x, y in zip(sums[1:], own, strict=True)]
            return (sums[0] + pairs, *of_rows)

        pairs, *own = jax.eval_shape(of_row, *(x[0] for x in arrays))
        none = [jnp.zeros((len(arrays[0]), *x.shape), x.dtype) for x in own]
        sums: tuple[jax.Array, ...] = jax.lax.fori_loop(
            0, n_rows, add, (jnp.zeros(pairs.shape, pairs.dtype), *none)
        )
        return sums

    sums: tuple[jax.Array, ...] = jax.lax.map(of_block, (*rows, count))
    return sums


@in_float64
@jit
def _compared(rows: Sequence[jax.Array], count: jax.Array) -> tuple[jax.Array, ...]:
    """Sums of h over rows (K, N, N'), and of the tested units of each row over the other class.

    Rows have the scores of all units of two classes, and those of the tested units alone, which
    have a quarter of the pairs.
    """

    def of_row(*scores: jax.Array) -> tuple[jax.Array, ...]:
        pairs, tested = (_psi(scores[i], scores[i + 1], jnp.int16) for i in (0, 2))
        return pairs, tested.sum(1, dtype=jnp.int16), tested.sum(0, dtype=jnp.int16)

    return tuple(x.astype(jnp.float64) / 2 for x in _by_block(of_row, rows, count))


@in_float64
@jit
def _weighed(
    rows: Sequence[jax.Array],
    count: jax.Array,
    weights: tuple[jax.Array, jax.Array],
    apart: jax.Array,
) -> tuple[jax.Array, ...]:
    """The same with the weights (N,) and (N',) of the other side, of the pairs that are `apart`."""

    def of_row(above: jax.Array, below: jax.Array) -> tuple[jax.Array, ...]:
        psi = _psi(above, below, jnp.float64) * apart / 2
        return psi, psi @ weights[1], weights[0] @ psi

    return _by_block(of_row, rows, count)


def _in_calls(
    function: Callable[..., tuple[np.ndarray, ...]],
    rows: Sequence[np.ndarray],
    blocks: Sequence[np.ndarray],
    *shared: Any,
) -> list[np.ndarray]:
    """Sums over the rows of each block, and the sums of each row, from calls of one shape."""
    depth, sizes = max(LEAST_DEPTH, CALL // len(blocks)), [x.shape[1] for x in rows]
    pairs: Any = 0.0
    of_rows = [np.empty((len(rows[0]), n)) for n in sizes[-2:]]
    for first in range(0, max(map(len, blocks)), depth):
        some = [of_block[first : first + depth] for of_block in blocks]
        count = np.array([len(of_block) for of_block in some])
        there = np.arange(depth) < count[:, None]
        place = np.zeros(there.shape, dtype=int)
        place[there] = np.concatenate(some)
        part = [
            padded(x[place].astype(float), next_multiple(n, COLUMN_STEP), 2, fill=np.nan)
            for x, n in zip(rows, sizes, strict=True)
        ]
        of_pairs, *sums = function(part, count, *shared)
        pairs = pairs + of_pairs[:, : sizes[0], : sizes[1]]
        for of_row, x in zip(of_rows, sums, strict=True):
            of_row[place[there]] = x[there, : of_row.shape[1]]
    return [pairs, *of_rows]


def _weighed_sums(
    rows: Sequence[np.ndarray],
    blocks: Sequence[np.ndarray],
    weights: Sequence[np.ndarray],
    apart: np.ndarray | None = None,
) -> list[np.ndarray]:
    """`_weighed` of any number of rows and observations."""
    sizes = [next_multiple(x.shape[1], COLUMN_STEP) for x in rows]
    if apart is None:
        apart = np.ones([x.shape[1] for x in rows])
    filled = tuple(padded(w, n, 0) for w, n in zip(weights, sizes, strict=True))
    apart = padded(padded(apart, sizes[0], 0), sizes[1], 1)
    return _in_calls(_weighed, rows, blocks, filled, apart)


def _sorted_sums(above: np.ndarray, below: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of h of the units of each row over the other class, by ranks: (M, r), (M, r').

    Ranks of all, less those within a class, are how many of the other are below, ties by half.
    """
    sums = np.empty(above.shape), np.empty(below.shape)
    step = max(1, SORTED_CELLS // (above.shape[1] + below.shape[1]))
    for first in range(0, len(above), step):
        rows = slice(first, first + step)
        s, t = above[rows].astype(float), below[rows].astype(float)
        of_all = midranks(np.hstack([s, t]))
        sums[0][rows] = of_all[:, : s.shape[1]] - midranks(s)
        sums[1][rows] = s.shape[1] - (of_all[:, s.shape[1] :] - midranks(t))
    return sums


# ----------------------------------------------------------------------------------- placements


def place_classes(
    strata: Strata,
    v: np.ndarray,
    scores: Sequence[np.ndarray],
    learning: np.ndarray,
    draw: np.ndarray,
    pair: np.ndarray | None = None,
    clusters: tuple[np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """Placements (V, M, n) of the scores (M, N), or (M, N, C), of each learner.

    Sums of E over the rows of each block are added to `pair` (V, K, n, n) of `Rows`. Of `clusters`
    of one class each, the unit (N,) and the weight (N,) of each row: then there is one column more,
    of what pairs of clusters count, and the AUC is a share of it.
    """
    members = strata.members
    unit, weight = (np.arange(strata.n_units), None) if clusters is None else clusters
    rows = [np.flatnonzero(strata.labels[unit] == c) for c in range(len(members))]
    into: list[np.ndarray] = []
    if weight is not None:
        size = np.bincount(unit, weight)
        into = [
            np.equal.outer(unit[of_class], some) * weight[of_class, None] / size[some].mean()
            for of_class, some in zip(rows, members, strict=True)
        ]
    placed = np.zeros((len(scores) + (weight is not None), *learning.shape))
    blocks, tested = [np.arange(len(learning))], ~learning
    if pair is not None:
        n_blocks = pair.shape[1]
        blocks = [np.flatnonzero(draw % n_blocks == k) for k in range(n_blocks)]
    several = len(members) > 2
    for column in range(len(placed)):
        # What pairs with each class add to E, for each unit: of two, with the other one.
        parts = np.zeros((*learning.shape, len(members) if several else 1))
        for c, d in np.argwhere(v):
            if column == len(scores):
                sums = _counted(tested, blocks, into, members, c, d)
            else:
                s = scores[column] if scores[column].ndim == 2 else scores[column][..., c]
                pair_of_scores = [s[:, rows[x]] for x in (c, d)]
                there = [tested[:, unit[rows[x]]] for x in (c, d)]
                if weight is not None:
                    sums = _of_clusters(pair_of_scores, there, blocks, into[c], into[d])
                else:
                    sums = _of_units(pair_of_scores, there, blocks, pairs=pair is not None)
            across, *of_each = sums
            for (x, y), values in zip(((c, d), (d, c)), of_each, strict=True):
                share = v[c, d] / strata.r[members[y][0]]
                parts[:, members[x], y if several else 0] += share * values
            if pair is not None:
                shares = v[c, d] / (strata.r[members[c][0]] * strata.r[members[d][0]])
                for k, of_pairs in enumerate(across):
                    pair[column, k][np.ix_(members[c], members[d])] += shares * of_pairs
        if not several:
            placed[column] = parts[..., 0]
            continue
        placed[column], of_other_classes = _combined(strata, parts, tested)
        if pair is not None:
            for k, of_block in enumerate(blocks):
                pair[column, k] += _of_other_classes(
                    strata, of_other_classes[of_block], tested[of_block]
                )
    return placed


def _of_units(
    scores: Sequence[np.ndarray],
    there: Sequence[np.ndarray],
    blocks: Sequence[np.ndarray],
    *,
    pairs: bool,
) -> list[np.ndarray]:
    """Sums of h over rows of each block, and over the tested units of the other class.

    They are (K, N, N'), (M, N) and (M, N').
    """
    tested = [x[is_tested].reshape(len(x), -1) for x, is_tested in zip(scores, there, strict=True)]
    across = np.zeros(0)
    if pairs:
        full = [np.where(is_tested, x, np.nan) for x, is_tested in zip(scores, there, strict=True)]
        across, *sums = _in_calls(_compared, [*full, *tested], blocks)
    else:
        sums = list(_sorted_sums(*tested))
    of_each = [np.zeros(is_tested.shape) for is_tested in there]
    for values, is_tested, x in zip(of_each, there, sums, strict=True):
        values[is_tested] = x.ravel()
    return [across, *of_each]


def _of_clusters(
    scores: Sequence[np.ndarray],
    there: Sequence[np.ndarray],
    blocks: Sequence[np.ndarray],
    first: np.ndarray,
    other: np.ndarray,
) -> list[np.ndarray]:
    """The same of clusters, from rows and their weights (N, G) in clusters."""
    full = [np.where(is_tested, x, np.nan) for x, is_tested in zip(scores, there, strict=True)]
    pairs, above, below = _weighed_sums(full, blocks, [first.sum(axis=1), other.sum(axis=1)])
    return [first.T @ pairs @ other, above @ first, below @ other]


def _counted(
    tested: np.ndarray,
    blocks: Sequence[np.ndarray],
    into: Sequence[np.ndarray],
    members: Sequence[np.ndarray],
    c: int,
    d: int,
) -> list[np.ndarray]:
    """The same of what pairs of clusters count."""
    first, other = (tested[:, members[x]] * into[x].sum(axis=0) for x in (c, d))
    return [
        np.stack([first[of_block].T @ other[of_block] for of_block in blocks]),
        first * other.sum(axis=1, keepdims=True),
        other * first.sum(axis=1, keepdims=True),
    ]


def _combined(
    strata: Strata, parts: np.ndarray, tested: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Placements (M, n) from parts (M, n, C), and what other classes add to E of two units.

    The latter (M, n, C) is what those of each unit add if the other one is of a class.
    """
    members, labels = strata.members, strata.labels
    of_pairs = np.stack(
        [parts[:, some].sum(axis=1) / strata.r[some[0]] for some in members], axis=1
    )
    of_class = of_pairs.sum(axis=2)
    auc = of_class.sum(axis=1) / 2
    without_class = auc[:, None] - of_class
    own = parts.sum(axis=2)
    placed = np.where(tested, own + without_class[:, labels], 0.0)
    without_both = without_class[:, :, None] - of_class[:, None] + of_pairs
    of_other_classes = own[..., None] - parts + without_both[:, labels] / 2
    return placed, np.where(tested[..., None], of_other_classes, 0.0)


def _of_other_classes(
    strata: Strata, of_other_classes: np.ndarray, tested: np.ndarray
) -> np.ndarray:
    """Half of what other classes add to the mean of E of two tested units, summed over rows."""
    either = np.zeros((strata.n_units, strata.n_units))
    for c, some in enumerate(strata.members):
        either[:, some] = of_other_classes[:, :, c].T @ tested[:, some].astype(float)
        either[np.ix_(some, some)] = 0.0
    either /= np.outer(strata.r, strata.r)
    return either


def place_mixed(
    rankings: Sequence[tuple[np.ndarray, np.ndarray, int | None]],
    scores: Sequence[np.ndarray],
    learning: np.ndarray,
    unit: np.ndarray,
    *,
    by_group: bool,
) -> np.ndarray:
    r"""Losses of one stratum of clusters with rows of several classes.

    `rankings` are rows above, rows below, and the place of their score, or None. Each has a column
    for each learner, and one of what pairs count: AUCs are ratios of means. The rows of a side in a
    cluster weigh 1 each, or `by_group` 1 together.

    Pairs are those of two tested clusters: a kernel of degree g + 2, in which P(k) is the mean over
    the pairs with k. To first order it is U + sum_{i in L} lambda_i + h_k + h_l, and

        D_L(k) = phi + 2 (r - 1)/(r - 2) (P(k) - phi)

    is a loss with the same mean phi and exactly the same first-order effects over n - m.
    """
    n, tested = learning.shape[1], (~learning).astype(float)
    r, columns = float(tested[0].sum()), []
    for above, below, score in rankings:
        into = [np.equal.outer(unit[some], np.arange(n)).astype(float) for some in (above, below)]
        if by_group:
            into = [x / np.maximum(x.sum(axis=0), 1.0) for x in into]
        first, other = (x.sum(axis=0) for x in into)
        apart = np.not_equal.outer(unit[above], unit[below]).astype(float)
        mean = 2 * (first.sum() * other.sum() - first @ other) / (n * (n - 1))
        for s in scores:
            s = s if score is None else s[..., score]
            full = [np.where(learning[:, unit[x]], np.nan, s[:, x]) for x in (above, below)]
            _, a, b = _weighed_sums(full, [np.arange(len(s))], [x.sum(axis=1) for x in into], apart)
            columns.append((a @ into[0] + b @ into[1]) / mean)
        of_first, of_other = ((tested @ x)[:, None] for x in (first, other))
        counts = of_first * other + of_other * first - 2 * first * other
        columns.append(tested * counts / mean)
    placed = np.stack(columns) / (r - 1)
    phi = placed.sum(axis=-1, keepdims=True) / r
    return np.where(learning, 0.0, phi + 2 * (r - 1) / (r - 2) * (placed - phi))
