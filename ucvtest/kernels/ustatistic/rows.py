r"""Complete U-statistics from rows of placements: sums by column, of any strata and learners.

A row is a learning set L with g_c of the n_c units of stratum c; the other r_c = n_c - g_c are
tested. The placement P_L(i) of a tested unit is its loss (one stratum), or the mean of the kernel
over all tuples of tested units, one of each stratum, that contain it (`placements`). The mean of
the placements of any stratum is the value phi(L) of the row. A column is a learner, a cell of a
confusion matrix, or a numerator or denominator. All sums are linear in the placements: differences,
ratios and other contrasts of columns are contrasts of these sums (`contrasts`).

**Additive fit.** With w_i = 1{i in L}, phi is regressed on w with coefficients eta (sum 0 in each
stratum), and `moved_i` is the centred mean of P_L(i) over the rows that test i. For m = g + 1,

    A_L(i) = phi^(L) + s_c(L) + d_i,    phi^(L) = U + sum_{j in L} eta_j,
    d = (moved + g/(n - 1) eta)/(1 - g/((n - 1) r)),

s_c(L) the sum of d_j/r_c over the learnt units j of the stratum of i. Its first-order effects are
known, b = g r/(n (n - 1)) eta + moved/n, and its pair effects are zero. Effects are those of the
fit plus plain means over what it leaves, so that any fit will do, and a good one leaves little
Monte-Carlo noise.

**Blocks.** Draws are dealt to `N_BLOCKS` blocks. The effects of a block use the fit to the other
half of the blocks: products of different blocks are free of Monte-Carlo noise, and leaving out one
at a time gives Monte-Carlo errors.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from ucvtest.common.single_thread import ONE_BLAS_THREAD
from ucvtest.stats.jackknife import first_order_factor, pair_effects_factor, test_effects

N_BLOCKS, MANY_BLOCKS, MOST_UNITS_MANY = 10, 16, 500
"""Blocks of draws, and those of samples of few units, where Monte-Carlo errors and slopes are then
less rough. The number is even, for two halves."""

LEAST_HALVED = 6
"""Fewest blocks with draws for which a fit to one half of them is taken from the other half."""

MOST_UNITS = 2000
"""Most units for sums over pairs of them, and for coefficients of learning sets."""

MOST_BYTES = 2**31
"""Most memory of the sums over pairs of units, of all columns and blocks."""

ROWS_FOR_EACH = 2
"""Fewest rows for each unit to regress phi on learning sets; coefficients of fewer are noise.

Coefficients of half of the rows have a penalty that is worth a row for each unit. Several sets of
one side of a split are much alike: the rows are then more than what they know of coefficients."""

WAIT_FOR_EACH, LEAST_WAIT, MOST_WAIT = 10, 4_000_000, 2**28
"""Placements wait for an additive fit to this number of rows for each unit, within limits of
placements of a column and of bytes of all columns."""

SINGLE = 100_000
"""Placements of a block, if they are counts, from which on residuals are in single precision: their
rounding is far below the noise of draws."""

STRIP = 64
"""Rows of pair effects that are computed at a time."""


@dataclass(frozen=True, eq=False)
class Strata:
    """The stratum (n,) of each unit, from 0, and how many of each stratum a learning set has."""

    labels: np.ndarray
    learn_sizes: tuple[int, ...]

    @classmethod
    def single(cls, n_units: int, learn_size: int) -> Self:
        """One stratum."""
        return cls(np.zeros(n_units, dtype=int), (learn_size,))

    @classmethod
    def of(cls, members: Sequence[np.ndarray], learn_sizes: Sequence[int]) -> Self:
        """From the units of each stratum."""
        labels = np.empty(sum(map(len, members)), dtype=int)
        for label, some in enumerate(members):
            labels[some] = label
        return cls(labels, tuple(learn_sizes))

    @property
    def n_units(self) -> int:
        """Units of all strata."""
        return len(self.labels)

    @cached_property
    def sizes(self) -> np.ndarray:
        """Units of each stratum."""
        return np.bincount(self.labels, minlength=len(self.learn_sizes))

    @cached_property
    def n(self) -> np.ndarray:
        """n_c of the stratum of each unit."""
        return self.sizes[self.labels].astype(float)

    @cached_property
    def g(self) -> np.ndarray:
        """g_c of the stratum of each unit."""
        return np.array(self.learn_sizes, dtype=float)[self.labels]

    @cached_property
    def r(self) -> np.ndarray:
        """r_c of the stratum of each unit."""
        return self.n - self.g

    @cached_property
    def members(self) -> tuple[np.ndarray, ...]:
        """The units of each stratum."""
        return tuple(np.flatnonzero(self.labels == c) for c in range(len(self.learn_sizes)))

    @cached_property
    def parts(self) -> tuple[slice | np.ndarray, ...]:
        """An index of the units of each stratum, which copies nothing of one stratum."""
        return (slice(None),) if len(self.members) == 1 else self.members

    def centred(self, values: np.ndarray) -> np.ndarray:
        """Values (..., n) less the mean of their stratum."""
        out = np.array(values, dtype=float)
        for of_stratum in self.members:
            out[..., of_stratum] -= out[..., of_stratum].mean(axis=-1, keepdims=True)
        return out

    def first_order(self, eta: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """b of coefficients, and of mean placements of tested units."""
        n, g, r = self.n, self.g, self.r
        effects: np.ndarray = g * r / (n * (n - 1)) * eta + moved / n
        return effects

    def of_tested(self, kernel: np.ndarray) -> np.ndarray:
        """b of a kernel (..., n) that depends on the tested unit alone."""
        return np.asarray(test_effects(self.n, self.g + 1, self.centred(kernel)))

    @cached_property
    def jackknife_factor(self) -> np.ndarray:
        """n (n - 1)/(n - m)^2 of each unit: the jackknife is the sum of these times b^2."""
        return np.asarray(first_order_factor(self.n, self.g + 1))


@dataclass(frozen=True, eq=False)
class AdditiveFit:
    """U (V,), coefficients eta, centred mean placements and d, each (V, n), of all columns."""

    u: np.ndarray
    eta: np.ndarray
    moved: np.ndarray
    d: np.ndarray

    def columns(self, number: int) -> Self:
        """That of the first columns."""
        return type(self)(*(x[:number] for x in (self.u, self.eta, self.moved, self.d)))

    def of_sets(self, strata: Strata, learning: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """phi^ (V, M) of learning sets, as numbers, and s_c (V, M) of each stratum.

        The precision is that of the learning sets.
        """
        u, eta, shares = (
            x.astype(learning.dtype, copy=False) for x in (self.u, self.eta, self.d / strata.r)
        )
        return u[:, None] + eta @ learning.T, [
            shares[:, part] @ learning[:, part].T for part in strata.parts
        ]

    def residuals(self, strata: Strata, placed: np.ndarray, learnt: np.ndarray) -> "Residuals":
        """P - A of placements (V, M, n), 0 inside the learning sets (M, n), as numbers."""
        phi, of_strata = self.of_sets(strata, learnt)
        level = phi + of_strata[0] if len(of_strata) == 1 else phi
        residuals = placed - level[..., None]
        if len(of_strata) > 1:
            for part, shift in zip(strata.parts, of_strata, strict=True):
                residuals[..., part] -= shift[..., None]
        residuals -= self.d[:, None].astype(learnt.dtype, copy=False)
        residuals *= 1 - learnt
        return Residuals(strata, residuals, learnt)


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals X (V, M, n) of an additive fit, 0 inside the learning sets (M, n), as numbers."""

    strata: Strata
    x: np.ndarray
    learnt: np.ndarray

    @cached_property
    def phi(self) -> np.ndarray:
        """The mean of each row, (V, M)."""
        some, first = self.strata.parts[0], self.strata.members[0][0]
        return np.asarray(self.x[..., some].sum(axis=-1) / float(self.strata.r[first]))

    @cached_property
    def own(self) -> np.ndarray:
        """What rows tell of each unit that they learn from or test, summed, (V, n)."""
        return np.asarray(self.phi @ self.learnt + self.x.sum(axis=1) / self.strata.r)


class Products(Protocol):
    """Sums of products of residuals under two learning sets: see `unbiased` and `exact`.

    They are of the columns that have effects of pairs.
    """

    def add(
        self,
        fit: AdditiveFit,
        part: int,
        residuals: Residuals,
        draw: np.ndarray,
        rows: np.ndarray,
    ) -> None:
        """Add residuals of a block; a fit belongs to each part of the blocks.

        `rows` (M,) are the numbers of the rows, as they were added.
        """

    def close(self) -> None:
        """Other fits follow."""

    def variances(self, keeps: np.ndarray) -> Mapping[str, np.ndarray]:
        """Quadratic forms (W, V, V) by the name of a variance, for the blocks kept (W, K)."""


@dataclass(frozen=True, eq=False)
class Effects:
    """Everything that estimates of contrasts are made of.

    `u` (V,) are complete means; `b` (V, n) and `by_block` (K, V, n) first-order effects; `weight`
    (K,) are the shares of the blocks, and `keeps` (W, K) says which are kept: all, and, of random
    sets, all but each filled one. `error` (V, V) is the Monte-Carlo covariance of u. Of the first P
    columns alone, `gram` (P, K, P, K) has the products of pair effects, by column and block, and
    `variances` are quadratic forms (W, P, P) by name.
    """

    strata: Strata
    exact: bool
    u: np.ndarray
    b: np.ndarray
    by_block: np.ndarray
    weight: np.ndarray
    keeps: np.ndarray
    error: np.ndarray
    gram: np.ndarray | None
    variances: Mapping[str, np.ndarray]
    rows: "Rows" = field(repr=False)

    def strips(self, kept: np.ndarray) -> Iterator[np.ndarray]:
        """Pair effects tau (P, K, a, n) of some columns, some rows after others."""
        return self.rows.strips(kept)

    def of_pairs(self, weights: np.ndarray) -> np.ndarray | None:
        """Weights (P,) of the columns that have effects of pairs; None if others have some."""
        n_paired = self.rows.n_paired
        return None if weights[n_paired:].any() else weights[:n_paired]


class Rows:
    """Sums over rows, which are `exact` if they will be all learning sets, each once.

    `pairs` keeps sums over pairs of units, where they are not too large; `products` adds up
    products of placements. Both are of the first `n_paired` columns, by default of all.
    """

    def __init__(
        self,
        strata: Strata,
        n_columns: int,
        *,
        exact: bool = False,
        pairs: bool = True,
        products: Products | None = None,
        n_blocks: int = N_BLOCKS,
        n_paired: int | None = None,
    ) -> None:
        n, shape = strata.n_units, (n_columns, n_blocks)
        self.strata, self.exact, self.n_blocks = strata, exact, n_blocks
        self.n_columns, self._products = n_columns, products
        self.n_paired = n_columns if n_paired is None else n_paired
        self.count = np.zeros(n_blocks)
        self._phi, self._learnt_phi, self._placed = (
            np.zeros(shape),
            np.zeros((*shape, n)),
            np.zeros((*shape, n)),
        )
        self._learnt = np.zeros((n_blocks, n))
        self._together = np.zeros((2, n, n)) if n <= MOST_UNITS else None
        """Rows that learn from both of two units, by half."""
        self._of_rows: list[list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = [
            [] for _ in range(n_blocks)
        ]
        """Learning sets, a bit for each unit, with phi (V, M) and draws, by block."""
        self._waiting: list[list[tuple[np.ndarray, ...]]] = [[] for _ in range(n_blocks)]
        """Placements (V, M, n), learning sets, draws and numbers of rows, by block."""
        self._n_waiting = 0
        self._first_fit: AdditiveFit | None = None
        self._fits_of_halves: list[AdditiveFit] | None = None
        shape = self.n_paired, n_blocks
        self._left, self._left_own = np.zeros(shape), np.zeros((*shape, n))
        # Of many units the product takes longest; its rounding is far below the noise of draws.
        self._kind: type = float if exact or n <= MOST_UNITS_MANY else np.float32
        of_pairs = self._kind if len(strata.members) == 1 else float
        self.pair = np.zeros((*shape, n, n), of_pairs) if pairs and keeps_pairs(n, shape) else None
        """Half of the sums of pair effects of the kernel, to be symmetrised. `placements` adds
        those of pairs of two strata."""

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return int(self.count.sum())

    @property
    def means(self) -> np.ndarray:
        """Plain means (V,) of phi over the rows."""
        plain: np.ndarray = self._phi.sum(axis=1) / self.count.sum()
        return plain

    def add(self, placed: np.ndarray, learning: np.ndarray, draw: np.ndarray) -> None:
        """Add placements (V, M, n), 0 where learnt from, and learning sets (M, n).

        `draw` (M,) numbers the independent draws that rows came in, from 0 on without gaps.
        """
        n, (some, *_), (first, *_) = self.strata.n_units, self.strata.parts, self.strata.members[0]
        self._fits_of_halves, block = None, draw % self.n_blocks
        order = np.lexsort((draw, block))
        rows = self.n_rows + order
        placed, learning, draw, block = placed[:, order], learning[order], draw[order], block[order]
        packed = np.packbits(learning, axis=1)
        # Numbers of rows are exact in single precision, as are those of errors.
        kind = np.float32 if placed.dtype.kind in "iub" else float
        with ONE_BLAS_THREAD:
            for k in np.unique(block).tolist():
                of_block = slice(*np.searchsorted(block, [k, k + 1]).tolist())
                sets = learning[of_block].astype(np.float32)
                values = placed[:, of_block].astype(kind, copy=False)
                ones = np.ones(len(sets), kind)
                totals = values[..., some].sum(axis=-1)
                phi = totals.astype(float) / self.strata.r[first]
                self.count[k] += len(sets)
                self._learnt[k] += ones @ sets
                self._phi[:, k] += phi.sum(axis=-1)
                # One by one: equal columns are equal to the last bit.
                learnt = np.stack([total @ sets for total in totals])
                self._learnt_phi[:, k] += learnt / self.strata.r[first]
                self._placed[:, k] += ones @ values
                if self._together is not None:
                    self._together[k % 2] += sets.T @ sets
                self._of_rows[k].append((packed[of_block], phi, draw[of_block]))
                if self.pair is not None or self._products is not None:
                    waiting = placed[: self.n_paired, of_block], learning[of_block]
                    self._waiting[k].append((*waiting, draw[of_block], rows[of_block]))
        self._n_waiting += len(draw)
        enough = LEAST_WAIT // n
        if self.pair is not None:
            in_memory = MOST_WAIT // (n * self.n_paired * placed.itemsize)
            enough = max(enough, min(WAIT_FOR_EACH * n, in_memory))
        if self._n_waiting >= enough:
            self.settle()

    def settle(self) -> None:
        """Add up what an additive fit leaves of the rows that wait for it.

        The fit is to all rows so far, or to those of the other half of the blocks where products
        of two sets are added up: these must not depend on their own rows.
        """
        waiting, self._waiting = self._waiting, [[] for _ in range(self.n_blocks)]
        self._n_waiting = 0
        if not any(waiting):
            return
        with ONE_BLAS_THREAD:
            halved = (self.count > 0).sum() >= LEAST_HALVED
            if self.exact:
                # Effects of a fit vanish over all sets only: one for all, the mean.
                self._first_fit = self._first_fit or self._flat
                fits = [self._first_fit] * 2
            elif self._products is None:
                fits = [self.fit()] * 2
            else:
                fits = self._of_halves() if halved else [self._flat] * 2
            fits = [fit.columns(self.n_paired) for fit in fits]
            for k, of_block in enumerate(waiting):
                if not of_block:
                    continue
                all_placed, learning, draw, rows = zip(*of_block, strict=True)
                fit, placed = fits[k % 2], np.concatenate(all_placed, axis=1)
                counts = placed.dtype.kind in "iub" and placed[0].size >= SINGLE
                kind = np.float32 if counts and not self.exact else float
                learnt = np.concatenate(learning).astype(kind)
                residuals = fit.residuals(self.strata, placed, learnt)
                if self.pair is not None:
                    self._add_pairs(k, residuals, fit)
                if self._products is not None:
                    numbers = np.concatenate(draw), np.concatenate(rows)
                    part = k % 2 if halved else 0
                    self._products.add(fit, part, residuals, *numbers)
            if self._products is not None:
                self._products.close()

    def _add_pairs(self, k: int, residuals: Residuals, fit: AdditiveFit) -> None:
        """Pair effects of residuals X = P - A: all are in one product with learning sets.

        For H_j = w_j X_bar/2 + t_j X_j/r the sum of L'H + (L'H)' is that of w_i w_j X_bar +
        (w_i t_j X_j + t_i w_j X_i)/r. Of two strata the kernel at the pair is in `pair` already,
        and A is taken from it.
        """
        assert self.pair is not None
        strata, learnt = self.strata, residuals.learnt
        several = len(strata.members) > 1
        kind = self._kind if learnt.dtype == float else learnt.dtype
        sets: np.ndarray = learnt.T.astype(kind, copy=False)
        tested = (1 - learnt) / strata.r if several else learnt
        phi, of_strata = fit.of_sets(strata, learnt) if several else (learnt, [])
        self._left[:, k] += residuals.phi.sum(axis=1)
        self._left_own[:, k] += residuals.own
        for v, rows in enumerate(residuals.x):
            shares = rows * (1 / strata.r).astype(rows.dtype)
            shares += learnt * (residuals.phi[v] / 2)[:, None]
            self.pair[v, k] += sets @ shares.astype(kind, copy=False)
            if several:
                additive = phi[v][:, None] / 2 + fit.d[v]
                for of_stratum, shift in zip(strata.members, of_strata, strict=True):
                    additive[:, of_stratum] += shift[v][:, None]
                additive *= tested
                for of_stratum in strata.members:
                    rest = np.flatnonzero(strata.labels != strata.labels[of_stratum[0]])
                    of_pairs = additive[:, of_stratum].T @ tested[:, rest]
                    self.pair[v, k][np.ix_(of_stratum, rest)] -= of_pairs

    @property
    def _flat(self) -> AdditiveFit:
        """The mean alone."""
        none = np.zeros((self.n_columns, self.strata.n_units))
        return AdditiveFit(self.means, none, none, none)

    def fit(self) -> AdditiveFit:
        """The additive fit to all rows."""
        return self._fit(slice(None))

    def _of_halves(self) -> list[AdditiveFit]:
        """For even and odd blocks the fit to the others."""
        if self._fits_of_halves is None:
            halves = slice(1, None, 2), slice(0, None, 2)
            self._fits_of_halves = [self._fit(half, penalty=1.0) for half in halves]
        return self._fits_of_halves

    def _fit(self, blocks: slice, penalty: float = 0.0) -> AdditiveFit:
        """The additive fit to the rows of some blocks; the penalty is in rows for each unit."""
        strata, count = self.strata, self.count[blocks].sum()
        share = self._learnt[blocks].sum(axis=0) / count
        u = self._phi[:, blocks].sum(axis=1) / count
        response = self._learnt_phi[:, blocks].sum(axis=1) / count - u[:, None] * share
        response = strata.centred(response)
        n_tests = count * (1 - share)
        moved = self._placed[:, blocks].sum(axis=1) / np.maximum(n_tests, 0.5)
        moved = strata.centred(moved - u[:, None] * (n_tests > 0.5))
        if self.exact:
            # Products of indicators are known. A rule that has learnt before learns from none.
            n, g, r = strata.n, strata.g, strata.r
            eta = response * np.divide(n * (n - 1), g * r, out=np.zeros(len(n)), where=g > 0)
        elif self._together is not None and self._is_enough(count):
            # Of two halves the slice has the same one as of the blocks.
            gram = self._together[blocks].sum(axis=0) / count - np.outer(share, share)
            gram[np.diag_indices_from(gram)] += penalty * gram.trace() / count
            eta = least_squares(gram, response)
        else:
            # What tested units alone do to phi, as far as their mean placements tell.
            eta = -moved / strata.r
        eta = strata.centred(eta)
        d = (moved + strata.g / (strata.n - 1) * eta) / (1 - strata.g / ((strata.n - 1) * strata.r))
        return AdditiveFit(u - eta @ share, eta, moved, d)

    def _is_enough(self, count: float) -> bool:
        """Whether coefficients of learning sets are fitted to this number of rows."""
        return self._together is not None and count >= ROWS_FOR_EACH * self.strata.n_units

    def effects(self) -> Effects:
        """Everything that contrasts of columns need, from the rows so far."""
        self.settle()
        strata, weight = self.strata, self.count / self.count.sum()
        with ONE_BLAS_THREAD:
            fit = self.fit()
            by_block = np.zeros((self.n_blocks, *fit.eta.shape))
            error = np.zeros((self.n_columns, self.n_columns))
            if self.exact:
                b = strata.first_order(fit.eta, fit.moved)
            else:
                halves, left = self._of_halves(), []
                for k in np.flatnonzero(self.count).tolist():
                    by_block[k], of_block = self._effects_of(k, halves[k % 2], fit)
                    left += of_block
                b = np.tensordot(weight, by_block, 1)
                error = self._error(*(np.concatenate(x, -1) for x in zip(*left, strict=True)))
            gram = None
            if self.pair is not None:
                shape = self.n_paired, self.n_blocks
                flat = (tau.reshape(shape[0] * shape[1], -1) for tau in self.strips(weight=weight))
                gram = np.asarray(sum(tau @ tau.T for tau in flat)).reshape(*shape, *shape)
        keeps = np.ones((1, self.n_blocks))
        if not self.exact:
            keeps = np.vstack([keeps, 1 - np.eye(self.n_blocks)[weight > 0]])
        return Effects(
            strata=strata,
            exact=self.exact,
            u=fit.u,
            b=b,
            by_block=by_block,
            weight=weight,
            keeps=keeps,
            error=error,
            gram=gram,
            variances={} if self._products is None else self._products.variances(keeps),
            rows=self,
        )

    def _effects_of(
        self, k: int, fit: AdditiveFit, fit_to_all: AdditiveFit
    ) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
        """b (V, n) of a block: of the fit, and of what it leaves.

        Also the residuals phi - phi^ (V, M) of the fit to all rows, with the draws.
        """
        strata, left = self.strata, []
        total, learnt = np.zeros(self.n_columns), np.zeros_like(fit.eta)
        placed = (self.count[k] - self._learnt[k]) * fit.d
        for learning, phi, draw in self._sets_of(k):
            fitted, of_strata = fit.of_sets(strata, learning)
            left.append((phi - fit_to_all.u[:, None] - fit_to_all.eta @ learning.T, draw))
            with_unit = fitted @ learning
            total, learnt = total + fitted.sum(axis=1), learnt + with_unit
            placed += fitted.sum(axis=1, keepdims=True) - with_unit
            for part, shift in zip(strata.parts, of_strata, strict=True):
                placed[:, part] += shift.sum(axis=1, keepdims=True) - shift @ learning[:, part]
        own = self._learnt_phi[:, k] - learnt + (self._placed[:, k] - placed) / strata.r
        own -= (strata.g + 1) / strata.n * (self._phi[:, k] - total)[:, None]
        return strata.first_order(fit.eta, fit.moved) + own / self.count[k], left

    def _sets_of(self, k: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Learning sets of a block as numbers, some rows at a time, with phi (V, M) and draws."""
        packed, phi, draw = zip(*self._of_rows[k], strict=True)
        bits, all_phi, draws = (
            np.concatenate(packed),
            np.concatenate(phi, axis=1),
            np.concatenate(draw),
        )
        step = max(64, LEAST_WAIT // self.strata.n_units)
        for first in range(0, len(bits), step):
            rows = slice(first, first + step)
            learning = np.unpackbits(bits[rows], axis=1, count=self.strata.n_units)
            yield learning.astype(float), all_phi[:, rows], draws[rows]

    def _error(self, left: np.ndarray, draw: np.ndarray) -> np.ndarray:
        """The Monte-Carlo covariance of U, from residuals (V, M) summed over each draw.

        Residuals are smaller than errors, by the coefficients of the fit.
        """
        draw = np.unique(draw, return_inverse=True)[1]
        left = left - left.mean(axis=1, keepdims=True)
        by_draw = np.stack([np.bincount(draw, residuals) for residuals in left])
        n_rows, n_draws = left.shape[1], by_draw.shape[1]
        spent = self.strata.n_units - len(self.strata.learn_sizes) + 1
        freedom = max(1 - spent / n_rows, 1 / n_rows) if self._is_enough(n_rows) else 1.0
        covariance: np.ndarray = by_draw @ by_draw.T * n_draws / max(n_draws - 1, 1)
        return covariance / (freedom * n_rows) ** 2

    def strips(
        self, kept: np.ndarray | slice = slice(None), *, weight: np.ndarray | None = None
    ) -> Iterator[np.ndarray]:
        """Pair effects tau (P, K, a, n), some rows after others; of the columns that are `kept`.

        With the weights (K,) of the blocks they are scaled, so that the sum of their squares is M2.
        """
        assert self.pair is not None
        strata, n_units = self.strata, self.strata.n_units
        n, g, r = strata.n, strata.g, strata.r
        count, share = np.maximum(self.count, 1.0), (g + 1) / n
        pair = self.pair[kept]
        u = self._left[kept] / count
        a = self._left_own[kept] / count[:, None] - share * u[..., None]
        scale = np.divide(g, n - 2, out=np.zeros(n_units), where=n > 2)
        # Half of each sum over i and k counts.
        within = np.where(r >= 3, pair_effects_factor(n, np.where(r >= 3, g + 1, 0)) / 2, 0.0)
        for first in range(0, n_units, STRIP):
            some = slice(first, first + STRIP)
            different = strata.labels[some, None] != strata.labels
            tau = np.add(pair[:, :, some], pair[..., some].swapaxes(-1, -2), dtype=float)
            tau /= count[:, None, None]
            of_rows = a[..., some, None]
            same = (share[some] * g[some] / (n[some] - 1) * u[..., None])[..., None]
            same = same + scale * (of_rows + a[..., None, :])
            if different.any():
                other = share * of_rows + share[some, None] * a[..., None, :]
                other += (share[some] * u[..., None])[..., None] * share
                same = np.where(different, other, same)
            tau -= same
            tau[..., np.arange(tau.shape[2]), np.arange(n_units)[some]] = 0.0
            if weight is not None:
                single = strata.jackknife_factor
                factor = np.where(different, single[some, None] * single / 2, within)
                tau *= np.sqrt(factor) * weight[:, None, None]
            yield tau


def blocks_for(n_units: int) -> int:
    """Blocks of rows that are not compared."""
    return MANY_BLOCKS if n_units <= MOST_UNITS_MANY else N_BLOCKS


def keeps_pairs(n_units: int, shape: tuple[int, int]) -> bool:
    """Whether sums over pairs of units are kept, for columns and blocks (V, K)."""
    return n_units <= MOST_UNITS and 8 * shape[0] * shape[1] * n_units**2 <= MOST_BYTES


def least_squares(gram: np.ndarray, response: np.ndarray) -> np.ndarray:
    """Solutions (V, n) of smallest length, by conjugate gradients.

    Learning sets of one size leave a direction of each stratum open; otherwise the system is well
    conditioned.
    """
    solution, left = np.zeros_like(response), response.copy()
    direction, square = left.copy(), (left**2).sum(axis=-1)
    enough = np.maximum(1e-24 * square, 1e-300)
    for _ in range(10 * len(gram)):
        is_open = square > enough
        if not is_open.any():
            break
        image = direction @ gram
        curvature = (direction * image).sum(axis=-1)
        step = np.divide(
            square, curvature, out=np.zeros_like(square), where=is_open & (curvature > 0)
        )
        solution += step[:, None] * direction
        left -= step[:, None] * image
        new_square = (left**2).sum(axis=-1)
        ratio = np.divide(new_square, square, out=np.zeros_like(square), where=is_open)
        direction, square = left + ratio[:, None] * direction, new_square
    return solution
