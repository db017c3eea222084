r"""Products of losses under two learning sets, from which unbiased variances of means follow.

Notation of Fuchs, Hornung, De Bin and Boulesteix (2013): kappa_c is the mean of Phi_0(S) Phi_0(S')
over sets S and S' of m = g + 1 observations with c in common, of one stratum.

Every variance here is a quadratic form that is invariant to the mean. For an additive A and any D,

    Q(A, D) = lambda b(A)'b(D),    lambda = n (n - 1)/(n - m)^2,
    Q(D, D) = Q(X, X) + 2 lambda b(A)'b(D) - lambda |b(A)|^2,    X = D - A,

so that only products of residuals X are left to random pairs of learning sets. A is fitted to the
other half of the draws.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np

from ucvtest.kernels.ustatistic.rows import N_BLOCKS, AdditiveFit, Residuals, Strata

CELLS = 1_000_000
"""Placements of a column that are multiplied at a time."""


class PairProducts:
    """Sums over pairs of sets of a draw, batch by batch: the variances "unbiased", "asymptotic".

    The latter needs sets with an observation exchanged: see `exchange`. Where rows are added at
    once, `pairs` (2, P) may say which of them are pairs.
    """

    def __init__(
        self, n_columns: int, n_blocks: int = N_BLOCKS, *, pairs: np.ndarray | None = None
    ) -> None:
        self._known_pairs = pairs
        self._n_columns, self._n_blocks = n_columns, n_blocks
        self._parts: list[dict[str, np.ndarray]] = []
        self._open: dict[int, dict[str, np.ndarray]] = {}
        self._fits: dict[int, tuple[AdditiveFit, int]] = {}
        self._exchanged: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._strata = Strata.single(1, 0)

    def exchange(self, placed: np.ndarray, learning: np.ndarray, draw: np.ndarray) -> None:
        """Add sets with one observation exchanged, (3, H, n), and their placements (V, 3, H, n).

        They belong to the next rows. `draw` (H,) are their draws; the sets are the new ones, those
        that they take the place of, and those that the observation is from.
        """
        self._exchanged.append((placed, learning, draw))

    def add(
        self,
        fit: AdditiveFit,
        part: int,
        residuals: Residuals,
        draw: np.ndarray,
        rows: np.ndarray,
    ) -> None:
        """See `rows.Products`: all pairs of disjoint sets of one draw."""
        strata = residuals.strata
        sums, k = self._open.setdefault(part, self._zeros()), int(draw[0]) % self._n_blocks
        self._strata, self._fits[k] = strata, (fit, part)
        if self._known_pairs is None:
            pairs = _pairs_of_draws(residuals.learnt, draw)
        else:
            place = np.full(self._known_pairs.max() + 1, -1)
            place[rows] = np.arange(len(rows))
            pairs = place[self._known_pairs]
            pairs = pairs[:, pairs[0] >= 0]
        b = strata.first_order(fit.eta, fit.moved)
        crossed, squares = b @ _effect(residuals).T, len(rows) * b @ b.T
        sums["count"][k] += len(rows)
        sums["mean"][k] += residuals.phi.sum(axis=1)
        sums["linear"][k] += strata.jackknife_factor[0] * (squares + crossed + crossed.T)
        sums["pairs"][k] += pairs.shape[1]
        for name, value in _products(residuals, residuals, pairs, 0).items():
            sums[name][k] += value

    def close(self) -> None:
        """See `rows.Products`; the change of products when an observation is shared."""
        for placed, learning, draw in self._exchanged:
            for block, (fit, part) in self._fits.items():
                some = np.flatnonzero(draw % self._n_blocks == block)
                if not len(some):
                    continue
                moved, before, other = (
                    fit.residuals(self._strata, placed[: self._n_columns, k, some], sets)
                    for k, sets in enumerate(learning[:, some].astype(float))
                )
                alike = np.tile(np.arange(len(some)), (2, 1))
                sums = self._open[part]
                sums["exchange"][block] += _products(moved, other, alike, 1)["product"]
                sums["exchange"][block] -= _products(before, other, alike, 0)["product"]
                sums["exchanges"][block] += len(some)
        self._parts += self._open.values()
        self._open, self._fits, self._exchanged = {}, {}, []

    def _zeros(self) -> dict[str, np.ndarray]:
        shape = self._n_blocks, self._n_columns
        numbers = {name: np.zeros(self._n_blocks) for name in ("count", "pairs", "exchanges")}
        squares = (*_KINDS, "linear", "exchange")
        forms = {name: np.zeros((*shape, self._n_columns)) for name in squares}
        return {**numbers, **forms, "mean": np.zeros(shape)}

    def variances(self, keeps: np.ndarray) -> Mapping[str, np.ndarray]:
        """See `rows.Products`."""
        by_name = {"unbiased": self._mean(keeps, self._unbiased)}
        if any(part["exchanges"].any() for part in self._parts):
            by_name["asymptotic"] = self._mean(keeps, self._asymptotic)
        return by_name

    def _mean(
        self, keeps: np.ndarray, form: Callable[[Mapping[str, np.ndarray], np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """The mean of a quadratic form (W, V, V) over batches, weighted by their rows."""
        total = np.zeros((len(keeps), self._n_columns, self._n_columns))
        weight = np.zeros(len(keeps))
        for part in self._parts:
            size = (keeps @ part["count"]) * (keeps @ part["pairs"] > 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                value = form(part, keeps)
            total += np.where(size > 0, size, 0.0)[:, None, None] * np.where(
                (size > 0)[:, None, None], value, 0.0
            )
            weight += size
        return total / np.where(weight > 0, weight, np.nan)[:, None, None]

    def _unbiased(self, part: Mapping[str, np.ndarray], keeps: np.ndarray) -> np.ndarray:
        count, mean = keeps * part["count"], part["mean"]
        total = keeps @ mean
        same = np.einsum("wk,kv,ku->wvu", keeps, mean, mean)
        pairs = count.sum(axis=1) ** 2 - (count**2).sum(axis=1)
        squared = (total[:, :, None] * total[:, None] - same) / pairs[:, None, None]
        linear = _of(part, keeps, "linear", "count")
        return np.asarray(squared - _of(part, keeps, "product", "pairs") + linear)

    def _asymptotic(self, part: Mapping[str, np.ndarray], keeps: np.ndarray) -> np.ndarray:
        n, g = self._strata.n_units, self._strata.learn_sizes[0]
        product, crossed, diagonal = (
            _of(part, keeps, name, "pairs") for name in ("product", "crossed", "diagonal")
        )
        exchange = _of(part, keeps, "exchange", "exchanges")
        # The observation that S and S' share is tested in neither, in one or in both of them.
        kappa_1 = (g**2 * (product + exchange) + 2 * g * crossed + diagonal) / (g + 1) ** 2
        linear = _of(part, keeps, "linear", "count")
        return np.asarray((g + 1) ** 2 / n * (kappa_1 - product) + linear)


def _of(part: Mapping[str, np.ndarray], keeps: np.ndarray, name: str, number: str) -> np.ndarray:
    """The mean of a form over the blocks that are kept, (W, V, V)."""
    mean: np.ndarray = np.tensordot(keeps, part[name], 1) / (keeps @ part[number])[:, None, None]
    return mean


def _pairs_of_draws(learnt: np.ndarray, draw: np.ndarray) -> np.ndarray:
    """The rows (2, P) of all pairs of disjoint sets (M, n), as numbers, of one draw.

    Rows of a draw are next to each other.
    """
    first = np.flatnonzero(np.diff(draw, prepend=-1))
    size = np.diff(first, append=len(draw))
    pairs = [np.zeros((2, 0), dtype=int)]
    for n_sets in set(size.tolist()):
        starts = first[size == n_sets]
        rows = starts[:, None] + np.arange(n_sets)
        sets = learnt[rows] if len(starts) < len(first) else learnt.reshape(len(first), n_sets, -1)
        for i, j in combinations(range(n_sets), 2):
            disjoint = np.einsum("dn,dn->d", sets[:, i], sets[:, j]) == 0
            pairs.append(np.stack([starts + i, starts + j])[:, disjoint])
    return np.concatenate(pairs, axis=1)


_KINDS = ("product", "crossed", "diagonal", "swapped")


def _effect(residuals: Residuals) -> np.ndarray:
    """First-order effects (V, n), summed over the rows."""
    share = (residuals.strata.g + 1) / residuals.strata.n
    effect: np.ndarray = residuals.own - share * residuals.phi.sum(axis=1)[:, None]
    return effect


def _products(
    first: Residuals, second: Residuals, pairs: np.ndarray, overlap: int
) -> dict[str, np.ndarray]:
    """Sums (V, V) over pairs (2, P) of sets with this overlap, of the means of X(t) X'(t').

    By where t and t' lie: different and outside both sets (product); one of them inside the other
    set (crossed); equal (diagonal); both inside the other set (swapped).
    """
    n, g = first.learnt.shape[1], first.strata.learn_sizes[0]
    n_out, n_in = n - 2 * g + overlap, max(g - overlap, 1)
    sums = {name: np.zeros((len(first.x),) * 2) for name in _KINDS}
    step = max(1, CELLS // n)
    for start in range(0, pairs.shape[1], step):
        i, j = pairs[:, start : start + step]
        x, y = first.x[:, i], second.x[:, j]
        x_in = np.einsum("vpn,pn->vp", x, second.learnt[j])
        y_in = np.einsum("vpn,pn->vp", y, first.learnt[i])
        x_out, y_out = (n - g) * first.phi[:, i] - x_in, (n - g) * second.phi[:, j] - y_in
        equal = np.tensordot(x, y, ([1, 2], [1, 2]))
        of_kinds = {
            "product": (x_out @ y_out.T - equal) / max(n_out * (n_out - 1), 1),
            "crossed": (x_in @ y_out.T + x_out @ y_in.T) / (2 * n_in * max(n_out, 1)),
            "diagonal": equal / max(n_out, 1),
            "swapped": x_in @ y_in.T / n_in**2,
        }
        for name, value in of_kinds.items():
            sums[name] += (value + value.T) / 2
    return sums


class OverlapSums:
    """kappa_c from pairs of sets with given overlaps, by block; of one column.

    The additive fit is that of other rows. `c_values` are the numbers of observations in common.
    """

    def __init__(
        self,
        strata: Strata,
        fit: AdditiveFit,
        c_values: Sequence[int],
        n_blocks: int = N_BLOCKS,
    ) -> None:
        self._strata, self._fit, self._n_blocks = strata, fit, n_blocks
        self.c_values = tuple(c_values)
        self._sums: dict[int, dict[str, np.ndarray]] = {}

    @property
    def overlaps(self) -> tuple[int, ...]:
        """The overlaps of learning sets that must be added."""
        return tuple(sorted({o for c in self.c_values for o, _, _ in self._cases(c)}))

    def add(self, overlap: int, placed: np.ndarray, learning: np.ndarray) -> None:
        """Add losses (M, n) and sets (M, n): the first sets of all pairs, then the second."""
        n_pairs, n = len(learning) // 2, self._strata.n_units
        names = {name: np.zeros(self._n_blocks) for name in (*_KINDS, "pairs", "count", "mean")}
        sums = self._sums.setdefault(overlap, {**names, "effect": np.zeros((self._n_blocks, n))})
        for k in range(self._n_blocks):
            some = np.arange(k, n_pairs, self._n_blocks)
            if not len(some):
                continue
            rows = np.concatenate([some, some + n_pairs])
            sets = learning[rows].astype(float)
            residuals = self._fit.residuals(self._strata, placed[None, rows], sets)
            pairs = np.arange(len(rows)).reshape(2, -1)
            for name, value in _products(residuals, residuals, pairs, overlap).items():
                sums[name][k] += value[0, 0]
            sums["pairs"][k] += len(some)
            sums["count"][k] += len(rows)
            sums["mean"][k] += residuals.phi.sum()
            sums["effect"][k] += _effect(residuals)[0]

    def kappas(self) -> np.ndarray:
        """Estimates of kappa_c from each block with draws, (K', number of values)."""
        count, mean, effect = (
            np.sum([sums[key] for sums in self._sums.values()], axis=0)
            for key in ("count", "mean", "effect")
        )
        filled = count > 0
        mean, effect = mean[filled] / count[filled], effect[filled] / count[filled, None]
        return np.column_stack([self._kappa(c, mean, effect, filled) for c in self.c_values])

    def _kappa(
        self, c: int, mean: np.ndarray, effect: np.ndarray, filled: np.ndarray
    ) -> np.ndarray:
        strata, fit = self._strata, self._fit
        n, m = strata.n_units, strata.learn_sizes[0] + 1
        # The additive kernel of the whole set S: coefficients of learning, and of being tested.
        h = (m - 1) * (fit.eta[0] + fit.d[0] / strata.r) + fit.d[0]
        centre = float(fit.u[0])
        of_residual = np.zeros(int(filled.sum()))
        for overlap, kind, weight in self._cases(c):
            sums = self._sums[overlap]
            of_residual += weight * (sums[kind] / np.maximum(sums["pairs"], 1))[filled]
        of_both = centre * mean + (c / m - (m - c) / (n - m)) * (effect @ h) / m
        of_additive = centre**2 + (c / n - (m**2 - c) / (n * (n - 1))) * (h @ h) / m**2
        return np.asarray(of_residual + 2 * of_both + of_additive)

    def _cases(self, c: int) -> list[tuple[int, str, float]]:
        """Overlap of the learning sets, which observations are tested, and how often.

        An observation that S and S' share is learnt from in both, tested in one, or tested in both.
        """
        m = self._strata.learn_sizes[0] + 1
        cases = [
            (c, "product", (m - c) ** 2 / m**2),
            (c - 1, "crossed", 2 * c * (m - c) / m**2),
            (c - 1, "diagonal", c / m**2),
            (c - 2, "swapped", c * (c - 1) / m**2),
        ]
        return [case for case in cases if case[2] > 0]
