r"""The complete error estimate as a U-statistic, and the estimators of its variance.

Notation of Fuchs, Hornung, De Bin and Boulesteix (2013): D_L(t) is the loss (difference)
at observation t of the rule(s) learnt on L, \|L\| = g; S = L with t added, \|S\| = m = g + 1;
Phi_0(S) is the mean of D over the m ways to split S; U is the mean of Phi_0 over all S.

Every variance here is a quadratic form Q(D, D) that is invariant to the mean of D. For an
additive A, that is ``A_L(t) = c + sum_{i in L} a_i + d_t`` with sums of a and d equal to
zero, and any D,

    Q(A, D) = lambda_1 b(A)'b(D),    lambda_1 = n (n - 1)/(n - m)^2,

where b_i(D) = E[D 1{i in S}] - (m/n) U over random (L, t), and
b(A) = (g a + d) (n - m)/(n (n - 1)). Hence, exactly,

    Q(D, D) = Q(D - A, D - A) + 2 lambda_1 b(A)'b(D) - lambda_1 b(A)'b(A),

and only the residual D - A, much smaller than D, is left to random pairs of learning
sets. A is fitted to other draws than those it is subtracted from. That leaves the estimates
within one half of the draws unbiased; products across the halves, of which the jackknife and
theta_squared also consist, have a bias of order n/N^2 for N draws.

Any A will do. Where all D are -1, 0 or 1 and there are few observations, A is rounded to
multiples of a power of two: then so are all D - A, and single precision, twice as fast, adds
them up without error.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import ndtri

from ucvtest.float64 import in_float64, jit_sums

__all__ = ["from_pairs"]

N_GROUPS = 32
"""Groups of draws: products of different groups are unbiased, and leaving one out at a
time gives the Monte-Carlo errors."""

N_GROUPS_LARGE, LARGE_OBS = 8, 500
"""Groups where there are more observations than that: each needs n x n sums."""

MAX_OBS_PAIR_EFFECTS = 2000
"""Most observations for which the pair effects, and with them the variances "geometric" and
"clipped", are kept: 8 groups of 2000 x 2000 sums are a quarter of a gigabyte."""

SETS_PER_CALL, SETS_PER_LARGE_CALL = 16, 128
"""Learning sets of each group and side in one jitted call: two fixed shapes, so two compilations.
A large call keeps the sums of its groups, n x n each, from being written too often."""

SETS_PER_SUM = 64
"""Learning sets that a matrix product adds up; products are added up in double precision."""

SINGLE = 2.0**24
"""Whole numbers up to here are exact in single precision."""

MOST_ROUNDING = 0.2
"""Errors of one rule: the standard deviation that rounding A may add to their number."""

SETS_FOR_FIT = 64
"""Learning sets for each observation after which the additive fit stays as it is."""

Draws = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""D1, D2, L1, L2 of shape (G, s, n): G draws with s learning sets on each of two sides."""

Fits = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Additive fits of K groups: centre (K,), learning effects (K, n) and test effects (K, n). In
single precision if every sum of residuals is exact in it."""

_ValueIn = Callable[[dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray], np.ndarray]
"""From the sums (K,) of a block's groups, their sums (V,) over the groups that are kept, and
which these are (V, K), to an estimate (V,)."""

Additive = tuple[jax.Array, jax.Array, jax.Array]
"""One row of `Fits`, or all of them."""


# --------------------------------------------------------------------------- jitted sums


@jit_sums
def _additive_moments(
    d1: jax.Array, d2: jax.Array, l1: jax.Array, l2: jax.Array, weight: jax.Array
) -> dict[str, jax.Array]:
    """Sums over learning sets that the least-squares fit of an additive A needs.

    d1, d2, l1, l2 (..., n), differences and learning sets of both sides; weight (...).
    """
    n = d1.shape[-1]
    weight = jnp.concatenate([weight.ravel(), weight.ravel()])
    learning = jnp.concatenate([l1.reshape(-1, n), l2.reshape(-1, n)])
    differences = jnp.concatenate([d1.reshape(-1, n), d2.reshape(-1, n)])
    values = jnp.where(learning, 0.0, differences)
    size = learning.sum(-1)
    mean_loss = weight * values.sum(-1) / (n - size)
    learnt = learning.astype(weight.dtype)
    # Of zeros and ones, so single precision counts exactly.
    half = learning.astype(jnp.float32)
    return {
        "count": weight.sum(),
        "learning": weight @ learnt,
        "gram": (half * weight[:, None].astype(half.dtype)).T @ half,
        "mean_loss": mean_loss.sum(),
        "learning_loss": mean_loss @ learnt,
        "test_loss": weight @ values,
        "tested": weight.sum() - weight @ learnt,
    }


class _Side(NamedTuple):
    """The learning sets on one side of M draws, s each."""

    x: jax.Array
    """Residuals D - A, 0 inside the learning sets, in the precision of A; (M, s, n)."""
    learning: jax.Array
    """Learning sets as numbers, (M, s, n)."""
    total: jax.Array
    """Sums of the residuals, (M, s)."""

    @classmethod
    def of(cls, differences: jax.Array, learning: jax.Array, additive: Additive) -> "_Side":
        centre, a, d = additive
        learnt = learning.astype(a.dtype)
        # Here and below: products that accelerators would round by default.
        effect = jnp.matmul(learnt, a, precision="highest")
        x = jnp.where(learning, 0.0, differences - ((effect + centre)[..., None] + d))
        return cls(x, learnt, x.sum(-1))

    def summed(self, weight: jax.Array, values: jax.Array) -> jax.Array:
        """Weighted sums of values (M, s, n) over the sets of each draw, (M, n)."""
        weight = weight.astype(values.dtype)
        return _double(jnp.einsum("ms,msn->mn", weight, values, precision="highest"))


def _products(
    first: _Side, second: _Side, weight: jax.Array, size: jax.Array, common: jax.Array
) -> dict[str, jax.Array]:
    """Sums of the means of X1(t) X2(t') for sets of the first and of the second side.

    By where t and t' lie: different and outside both sets (product); one of them inside the
    other set (crossed); equal (diagonal); both inside the other set (swapped).
    """
    pairs = weight[:, :, None] * weight[:, None, :]
    # Of X1, summed inside the second set and outside both; of X2 likewise; (M, s, s).
    inside1 = _double(jnp.einsum("min,mjn->mij", first.x, second.learning, precision="highest"))
    inside2 = _double(jnp.einsum("min,mjn->mij", first.learning, second.x, precision="highest"))
    outside1 = _double(first.total)[:, :, None] - inside1
    outside2 = _double(second.total)[:, None, :] - inside2
    same = (first.summed(weight, first.x) * second.summed(weight, second.x)).sum()
    n_outside, n_inside = first.x.shape[-1] - 2 * size + common, size - common

    def mean(total: jax.Array, count: jax.Array) -> jax.Array:
        return total / jnp.maximum(count, 1)

    different = (pairs * outside1 * outside2).sum() - same
    crossed = (pairs * (inside1 * outside2 + outside1 * inside2)).sum()
    return {
        "n_products": pairs.sum(),
        "product": mean(different, n_outside * (n_outside - 1)),
        "crossed": mean(crossed / 2, n_inside * n_outside),
        "diagonal": mean(same, n_outside),
        "swapped": mean((pairs * inside1 * inside2).sum(), n_inside**2),
    }


@partial(jit_sums, static_argnames="pair_effects")
def _residual_sums(
    d1: jax.Array,
    d2: jax.Array,
    l1: jax.Array,
    l2: jax.Array,
    weight: jax.Array,
    additive: Additive,
    size: jax.Array,
    common: jax.Array,
    pair_effects: bool,
) -> dict[str, jax.Array]:
    """Sums over the draws of each group, from the residuals of an additive fit.

    d1, d2, l1, l2 (K, M, s, n): M draws in each of K groups, s sets on each side; weight
    (K, M, s); additive: centre (K,), a (K, n), d (K, n); size of all sets, and observations
    that any two of different sides have in common.
    """

    def of_group(group: tuple[Any, ...]) -> dict[str, jax.Array]:
        return _sums_of_group(*group, size=size, common=common, pair_effects=pair_effects)

    # Group by group: what one of them needs stays in the processor's cache.
    return jax.lax.map(of_group, (d1, d2, l1, l2, weight, additive))


def _sums_of_group(
    d1: jax.Array,
    d2: jax.Array,
    l1: jax.Array,
    l2: jax.Array,
    weight: jax.Array,
    additive: Additive,
    *,
    size: jax.Array,
    common: jax.Array,
    pair_effects: bool,
) -> dict[str, jax.Array]:
    n = d1.shape[-1]
    first, second = _Side.of(d1, l1, additive), _Side.of(d2, l2, additive)
    # Either side counts as half a set; of each the mean over the observations tested with it.
    share = 1 / (2 * (n - size))
    mean = share * (weight * _double(first.total + second.total)).sum()
    # Shares in b: the mean of X 1{i in S} over t, less the mean of X times m/n.
    inside = _inside(first, weight) + _inside(second, weight)
    effect = share * inside - (size + 1) / n * mean
    sums = {
        "count": weight.sum(),
        "mean": mean,
        "effect": effect,
        **_products(first, second, weight, size, common),
    }
    if pair_effects:
        sums["joint"] = share / 2 * _joint(first, second, jnp.concatenate([l1, l2]), weight)
    return sums


def _inside(side: _Side, weight: jax.Array) -> jax.Array:
    """Sum over learning sets of the sum of X 1{i in S} over t, (n,)."""
    learnt = side.summed(weight * side.total, side.learning)
    return (learnt + side.summed(weight, side.x)).sum(0)


def _joint(first: _Side, second: _Side, learning: jax.Array, weight: jax.Array) -> jax.Array:
    """Sum over learning sets of the sum of 2 X 1{i, j in S} over t.

    (n, n), to be added to its transpose, and halved.
    """
    n = learning.shape[-1]
    total, x = (
        jnp.concatenate([a, b]) for a, b in ((first.total, second.total), (first.x, second.x))
    )
    half = jnp.where(learning, total[..., None], 2 * x)
    half *= jnp.concatenate([weight, weight]).astype(x.dtype)[..., None]
    rows, learnt = half.reshape(-1, n), learning.reshape(-1, n).astype(half.dtype)
    step = len(rows) if half.dtype == jnp.float64 else SETS_PER_SUM
    out = jnp.zeros((n, n))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        out += _double(jnp.matmul(learnt[part].T, rows[part], precision="highest"))
    return out


def _double(array: jax.Array) -> jax.Array:
    return array.astype(jnp.float64)


_moments_call = in_float64(_additive_moments)
_residual_call = in_float64(_residual_sums)


# ------------------------------------------------------------------- additive approximation


@dataclass
class _AdditiveFit:
    """Running sums for the additive approximation A."""

    sums: dict[str, np.ndarray] | None = None

    def add(
        self,
        d1: np.ndarray,
        d2: np.ndarray,
        l1: np.ndarray,
        l2: np.ndarray,
        weight: np.ndarray,
    ) -> None:
        """Add the learning sets of both sides; weight 0 for places that hold none."""
        update = _moments_call(d1, d2, l1, l2, weight)
        if self.sums is None:
            # Further sums of counts would not stay exact in single precision.
            self.sums = update | {"gram": update["gram"].astype(float)}
        else:
            self.sums = {key: self.sums[key] + update[key] for key in update}

    @property
    def n_sets(self) -> float:
        """Learning sets so far."""
        return 0.0 if self.sums is None else float(self.sums["count"])

    def solve(self, n: int, g: int) -> tuple[float, np.ndarray, np.ndarray]:
        """Centre c, learning effects a and test effects d; zeros where nothing was seen."""
        if self.sums is None:
            return 0.0, np.zeros(n), np.zeros(n)
        s = self.sums
        count = max(float(s["count"]), 1.0)
        centre = float(s["mean_loss"]) / count
        share = s["learning"] / count
        gram = s["gram"] - count * np.outer(share, share)
        # A ridge penalty worth n learning sets keeps few draws from adding noise. Any a and d
        # leave the estimators unbiased; good ones make the residual small.
        penalty = np.trace(gram) / count + 1e-9
        response = s["learning_loss"] - share * float(s["mean_loss"])
        gram += penalty * np.eye(n)
        # Conjugate gradients: well conditioned. Not by BLAS, whose threads would go on waiting for
        # work for a tenth of a second with full load, in the way of JAX's.
        product = LinearOperator((n, n), partial(np.einsum, "ij,j->i", gram))
        on_mean, _ = cg(product, response, rtol=1e-8)
        on_mean -= on_mean.mean()
        tested = s["tested"] / (s["tested"] + 4.0)
        marginal = tested * (s["test_loss"] / np.maximum(s["tested"], 1.0) - centre)
        marginal -= marginal.mean()
        # The mean of A over the observations outside L is c + sum_L (a - d/(n - g)), and the
        # mean of A_L(t) over the sets L without t is c + d_t - g a_t/(n - 1): solved for a, d.
        test = (marginal + g * on_mean / (n - 1)) / (1 - g / ((n - 1) * (n - g)))
        return centre, on_mean + test / (n - g), test


def _rounded(additive: Fits, g: int) -> Fits:
    """Additive fits of D that are -1, 0 or 1, as multiples of a power of two, in single precision.

    No sum of residuals D - A over the tested observations rounds then, and no sum of
    `SETS_PER_SUM` such sums. The fits as they are, where they would lose more than `MOST_ROUNDING`.
    """
    centre, a, d = additive
    n = a.shape[1]
    coarsest = MOST_ROUNDING / (n - g) / math.sqrt(g * (1 - g / n) / 12)
    ordered = np.sort(a, axis=1)
    learnt = np.maximum(-ordered[:, :g].sum(axis=1), ordered[:, -g:].sum(axis=1))
    # Each of the g + 2 numbers that A adds up moves by less than a unit.
    largest = 1 + (np.abs(centre) + learnt + np.abs(d).max(axis=1)).max() + (g + 2) * coarsest
    unit = 2.0 ** math.ceil(math.log2(SETS_PER_SUM * (n - g) * largest / SINGLE))
    if unit > coarsest:
        return additive
    whole = np.round(centre / unit), _whole(a / unit), _whole(d / unit)
    centre, a, d = ((unit * part).astype(np.float32) for part in whole)
    return centre, a, d


def _whole(values: np.ndarray) -> np.ndarray:
    """Whole numbers less than one away from values (K, n) whose rows sum to zero, as theirs do."""
    below = np.floor(values)
    n_up = np.round(-below.sum(axis=1, keepdims=True))
    rank = np.argsort(np.argsort(below - values, axis=1, kind="stable"), axis=1)
    return below + (rank < n_up)


def _in_double(additive: Fits) -> Fits:
    centre, a, d = (part.astype(float) for part in additive)
    return centre, a, d


def _as_counts(differences: np.ndarray) -> np.ndarray:
    """Differences that are all -1, 0 or 1 as such numbers of errors, in small integers."""
    magnitude = np.abs(differences)
    is_count = ((magnitude == 0) | (magnitude == 1)).all()
    return differences.astype(np.int8 if is_count else float, copy=False)


def _are_counts(draws: Draws) -> bool:
    d1, d2, _, _ = draws
    return d1.dtype == d2.dtype == np.int8 and d1.shape[1] <= SETS_PER_SUM


# ----------------------------------------------------------------------- draws in groups


@dataclass(frozen=True, eq=False)
class _Dealt:
    """Draws dealt to groups: row numbers (K, M), -1 where a group has fewer."""

    draws: Draws
    weight: np.ndarray
    index: np.ndarray

    @classmethod
    def deal(
        cls,
        draws: Draws,
        n_groups: int,
        cluster: np.ndarray | None = None,
        weight: np.ndarray | None = None,
    ) -> "_Dealt":
        n_rows, n_sets = draws[0].shape[:2]
        draw = np.arange(n_rows) if cluster is None else np.unique(cluster, return_inverse=True)[1]
        group = _groups_of(draw, n_groups)
        position = np.empty(n_rows, dtype=int)
        for k in range(n_groups):
            members = np.flatnonzero(group == k)
            position[members] = np.arange(len(members))
        depth = max(1, SETS_PER_CALL // n_sets)
        index = np.full((n_groups, -(-(int(position.max(initial=0)) + 1) // depth) * depth), -1)
        index[group, position] = np.arange(n_rows)
        if weight is None:
            weight = np.ones((n_rows, n_sets))
        return cls(draws, weight, index)

    def calls(self, groups: slice = slice(None)) -> Iterator[tuple[np.ndarray, ...]]:
        """d1, d2, l1, l2 of shape (K, M, s, n) and weights (K, M, s), M at a time."""
        n_sets, start = self.draws[0].shape[1], 0
        large, small = (max(1, n // n_sets) for n in (SETS_PER_LARGE_CALL, SETS_PER_CALL))
        while start < self.index.shape[1]:
            depth = large if start + large <= self.index.shape[1] else small
            rows = self.index[groups, start : start + depth]
            weight = self.weight[rows] * (rows >= 0)[..., None]
            d1, d2, l1, l2 = (part[rows] for part in self.draws)
            yield d1, d2, l1, l2, weight
            start += depth


def _groups_of(draw: np.ndarray, n_groups: int) -> np.ndarray:
    """The group of each draw; the halves in turn, so that a few draws reach both."""
    half = _half(n_groups)
    turns = sorted(range(n_groups), key=lambda k: (k % half, k))
    return np.array(turns)[draw % n_groups]


# ------------------------------------------------------------------------------ accumulator


@dataclass(frozen=True, eq=False)
class _Block:
    """Sums over the draws that share an additive fit, group by group (arrays of shape (K,))."""

    additive: Fits
    sums: dict[str, np.ndarray]

    def plus(self, other: "_Block") -> "_Block":
        sums = {key: self.sums[key] + other.sums[key] for key in self.sums}
        return _Block(self.additive, sums)


class Accumulator:
    """Everything that the estimators need from any number of pairs of learning sets.

    Memory does not grow with the number of pairs: it holds at most 32 matrices of
    shape (n, n), and a few numbers for each block of pairs until the additive fit is good
    enough to stay. Above 2000 observations it does without "geometric" and "clipped".

    Parameters
    ----------
    n_obs, learn_size : int
    disjoint : bool
        Whether the sets of a pair are disjoint and leave two observations or more, so
        that Theta^2 can be estimated and with it every variance; otherwise only the
        jackknife.
    n_draws : int
        A lower bound for the number of draws that will be added; fewer than 32 make
        fewer groups.
    """

    def __init__(self, n_obs: int, learn_size: int, *, disjoint: bool, n_draws: int) -> None:
        self.n_obs, self.learn_size, self.disjoint = n_obs, learn_size, disjoint
        self.n_groups = groups_of_draws(n_obs, n_draws)
        self.pair_effects = disjoint and n_obs <= MAX_OBS_PAIR_EFFECTS
        # Otherwise nothing is made of pairs.
        self._common = 0 if disjoint else max(0, 2 * learn_size - n_obs)
        # Two halves, each with the additive fit of the other one.
        half = _half(self.n_groups)
        self._halves = [slice(0, half), slice(half, self.n_groups)]
        self._fits = [_AdditiveFit(), _AdditiveFit()]
        self._settled: Fits | None = None
        self._blocks: list[_Block] = []
        self._totals: dict[str, np.ndarray] = {}

    def add(
        self,
        draws: Draws,
        *,
        weight: np.ndarray | None = None,
        exchanged: tuple[np.ndarray, np.ndarray] | None = None,
        cluster: np.ndarray | None = None,
    ) -> None:
        """Add a block of draws.

        Parameters
        ----------
        draws : tuple of ndarray, shape (G, s, n)
            D1, D2, L1, L2: loss differences (values inside the learning sets are ignored)
            and learning sets (bool); all s sets of one side against all s of the other.
        weight : ndarray, shape (G, s), optional
            1, or 0 for places that hold no set, on both sides.
        exchanged : tuple of ndarray, shape (H, n), optional
            D and L of the first set on the second side of the first H draws, with one
            observation exchanged for one of the first set on the first side. The change of
            the products gives kappa_1 - Theta^2 with a much smaller Monte-Carlo error than
            independent pairs would.
        cluster : ndarray, shape (G,), optional
            Names the draws that belong together; by default they are independent.
        """
        d1, d2, l1, l2 = draws
        draws = (_as_counts(d1), _as_counts(d2), l1, l2)
        dealt = _Dealt.deal(draws, self.n_groups, cluster, weight)
        additive = self._additive(dealt)
        sums = self._sum(dealt, additive)
        sums["n_exchanged"], sums["exchange"] = self._exchange(draws, exchanged, additive)
        self._store(additive, sums)

    def _exchange(
        self,
        draws: Draws,
        exchanged: tuple[np.ndarray, np.ndarray] | None,
        additive: Fits,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Number of exchanges in each group, and the sum of the changes of the products."""
        if exchanged is None:
            return np.zeros(self.n_groups), np.zeros(self.n_groups)
        n_rows = len(exchanged[0])
        group = _groups_of(np.arange(n_rows), self.n_groups)
        d1, d2, l1, l2 = (part[:n_rows, 0] for part in draws)
        centre, a, d = (part[group] for part in _in_double(additive))
        residuals = partial(_residuals_of_rows, additive=(centre, a, d))
        x1 = residuals(d1, l1)

        def product(differences: np.ndarray, learning: np.ndarray) -> np.ndarray:
            outside = ~(l1 | learning)
            one = np.where(outside, x1, 0.0)
            other = np.where(outside, residuals(differences, learning), 0.0)
            n_outside = outside.sum(axis=1)
            total = one.sum(axis=1) * other.sum(axis=1) - np.einsum("hn,hn->h", one, other)
            return total / (n_outside * (n_outside - 1.0))

        changes = product(*exchanged) - product(d2, l2)
        return (
            np.bincount(group, minlength=self.n_groups).astype(float),
            np.bincount(group, changes, minlength=self.n_groups),
        )

    def _additive(self, dealt: _Dealt) -> Fits:
        """Additive fit of each group, from all draws so far until there are enough of them."""
        if self._settled is not None:
            return self._settled
        self._fit_additive(dealt)
        additive = self._crossed_fits(dealt.draws)
        if min(fit.n_sets for fit in self._fits) >= SETS_FOR_FIT * self.n_obs:
            self._settled = additive
        return additive

    def _fit_additive(self, dealt: _Dealt) -> None:
        if _half(self.n_groups) == self.n_groups:
            return
        for fit, groups in zip(self._fits, self._halves, strict=True):
            for call in dealt.calls(groups):
                fit.add(*call)

    def _crossed_fits(self, draws: Draws) -> Fits:
        """Centre (K,), learning effects (K, n) and test effects (K, n) from the other half."""
        g = self.learn_size
        solved = [fit.solve(self.n_obs, g) for fit in reversed(self._fits)]
        centre, a, d = (np.array(part) for part in zip(*solved, strict=True))
        fits = _rounded((centre, a, d), g) if _are_counts(draws) else (centre, a, d)
        sizes = [groups.stop - groups.start for groups in self._halves]
        centre, a, d = (np.repeat(part, sizes, axis=0) for part in fits)
        return centre, a, d

    def _sum(self, dealt: _Dealt, additive: Fits) -> dict[str, np.ndarray]:
        sums: dict[str, np.ndarray] = {}
        if not _are_counts(dealt.draws):
            # Rounded for earlier draws that were: the sums of these are not exact.
            additive = _in_double(additive)
        for call in dealt.calls():
            update = _residual_call(
                *call, additive, self.learn_size, self._common, pair_effects=self.pair_effects
            )
            if self.pair_effects:
                # By far the largest: added to its total at once, which asks for no memory.
                _add_up(self._totals, {"joint": update.pop("joint")})
            _add_up(sums, update)
        return sums

    def _store(self, additive: Fits, sums: dict[str, np.ndarray]) -> None:
        centre, a, d = _in_double(additive)
        count, effect = sums["count"], sums["effect"]
        b = self._b_of_additive(a, d)
        totals = {
            "count": count,
            "mean": sums["mean"] + count * centre,
            "b": effect + count[:, None] * b,
            "residual_mean": sums["mean"],
            "residual_effect": effect,
        }
        _add_up(self._totals, totals)
        linear = self._lambda_1 * (count * (b**2).sum(-1) + 2 * (b * effect).sum(-1))
        scalars = {key: value for key, value in sums.items() if value.ndim == 1}
        block = _Block(additive, scalars | {"linear": linear})
        if self._blocks and self._blocks[-1].additive is additive:
            self._blocks[-1] = self._blocks[-1].plus(block)
        else:
            self._blocks.append(block)

    @property
    def _lambda_1(self) -> float:
        n, m = self.n_obs, self.learn_size + 1
        return n * (n - 1) / (n - m) ** 2

    def _b_of_additive(self, a: np.ndarray, d: np.ndarray) -> np.ndarray:
        n, g = self.n_obs, self.learn_size
        return (g * a + d) * (n - g - 1) / (n * (n - 1))

    def _pair_effects(self) -> np.ndarray:
        """Sums of the residual pair effects tau_ij over the sets of each group, (K, n, n)."""
        n, m = self.n_obs, self.learn_size + 1
        joint, effect = self._totals["joint"], self._totals["residual_effect"]
        # Half of each effect before the transpose is added.
        tau = joint - (m - 1) / (n - 2) * effect[:, :, None]
        constant = m * (m - 1) / (n * (n - 1)) * self._totals["residual_mean"]
        # One matrix after the other, as each fits into the processor's cache.
        for matrix, share in zip(tau, constant, strict=True):
            matrix += matrix.T - share
            np.fill_diagonal(matrix, 0.0)
        return tau

    def estimates(self) -> "MonteCarloEstimates":
        """All estimates so far, with Monte-Carlo errors from leaving out one group at a time."""
        keep = np.vstack([np.ones(self.n_groups), 1 - np.eye(self.n_groups)])
        values = self._evaluate(keep)
        k = self.n_groups
        full = {name: float(value[0]) for name, value in values.items()}
        errors = {
            name: float(np.sqrt((k - 1) / k * ((value[1:] - value[0]) ** 2).sum()))
            for name, value in values.items()
        }
        if self.pair_effects:
            errors["clipped"] = max(errors["clipped"], _error_of_clipping(full, errors["unbiased"]))
        return MonteCarloEstimates(values=full, mc_se=errors)

    def _evaluate(self, keep: np.ndarray) -> dict[str, np.ndarray]:
        """Every estimate from the groups with keep = 1, for each row of keep (V, K)."""
        n, m = self.n_obs, self.learn_size + 1
        count = self._totals["count"] * keep

        squared = partial(_crossed_product, keep=keep, count=count)
        out = {
            "estimate": (self._totals["mean"] * keep).sum(axis=1) / count.sum(axis=1),
            "jackknife": self._lambda_1 * squared(self._totals["b"]),
        }
        if not self.disjoint:
            return out
        out["unbiased"] = self._over_blocks(keep, self._unbiased_in)
        out["asymptotic"] = self._over_blocks(keep, self._asymptotic_in)
        out["theta_squared"] = squared(self._totals["mean"][:, None]) - out["unbiased"]
        if self.pair_effects:
            second = np.maximum(pair_effects_factor(n, m) * squared(self._pair_effects()) / 2, 0.0)
            each = zip(out["unbiased"], out["jackknife"], second, strict=True)
            bounds = [(v, geometric(j, m2), j) for v, j, m2 in each]
            out["geometric"] = np.array([lower for _, lower, _ in bounds])
            out["clipped"] = np.array([clipped(*bound) for bound in bounds])
        return out

    def _over_blocks(self, keep: np.ndarray, value_in: _ValueIn) -> np.ndarray:
        """Mean of an estimate over blocks and halves, weighted by their numbers of pairs; (V,)."""
        total = weight = np.zeros(len(keep))
        for block in self._blocks:
            for groups in self._halves:
                kept = keep[:, groups]
                part = {key: value[groups] for key, value in block.sums.items()}
                size = kept @ part["count"]
                with np.errstate(divide="ignore", invalid="ignore"):
                    value = value_in(part, {key: kept @ part[key] for key in part}, kept)
                total = total + np.where(size > 0, size * value, 0.0)
                weight = weight + size
        return total / weight

    def _unbiased_in(
        self, each: dict[str, np.ndarray], sums: dict[str, np.ndarray], keep: np.ndarray
    ) -> np.ndarray:
        squared_mean = _crossed_product(each["mean"][:, None], keep, each["count"] * keep)
        return squared_mean - sums["product"] / sums["n_products"] + sums["linear"] / sums["count"]

    def _asymptotic_in(
        self, each: dict[str, np.ndarray], sums: dict[str, np.ndarray], keep: np.ndarray
    ) -> np.ndarray:
        n, m = self.n_obs, self.learn_size + 1
        product, crossed, diagonal = (
            sums[kind] / sums["n_products"] for kind in ("product", "crossed", "diagonal")
        )
        exchange = sums["exchange"] / sums["n_exchanged"]
        # The observation that S and S' share is tested in neither, in one or in both of them.
        neither = (m - 1) ** 2 * (product + exchange)
        kappa_1 = (neither + 2 * (m - 1) * crossed + diagonal) / m**2
        return m**2 / n * (kappa_1 - product) + sums["linear"] / sums["count"]


class OverlapSums:
    """Sums over pairs of learning sets with given overlaps, for the parameters kappa_c.

    Parameters
    ----------
    n_obs, learn_size : int
    n_draws : int
        Pairs that will be added for each overlap.
    """

    def __init__(self, n_obs: int, learn_size: int, n_draws: int) -> None:
        self.n_obs, self.learn_size = n_obs, learn_size
        self.n_groups = groups_of_draws(n_obs, n_draws)
        self._fit = _AdditiveFit()
        self._sums: dict[int, dict[str, np.ndarray]] = {}

    def overlaps_for(self, c_values: Iterable[int]) -> tuple[int, ...]:
        """The overlaps of learning sets that sets with c observations in common come from."""
        return tuple(sorted({o for c in c_values for o, _, _ in self._cases(c)}))

    def fit_additive(self, draws: Draws) -> None:
        """Add draws to the additive fit; they must not be used again."""
        for call in _Dealt.deal(draws, self.n_groups).calls():
            self._fit.add(*call)

    def add(self, overlap: int, draws: Draws) -> None:
        """Add draws of two sets with so many observations in common."""
        centre, a, d = self._fit.solve(self.n_obs, self.learn_size)
        shape = (self.n_groups, self.n_obs)
        additive = (
            np.full(self.n_groups, centre),
            np.broadcast_to(a, shape).copy(),
            np.broadcast_to(d, shape).copy(),
        )
        sums = self._sums.setdefault(overlap, {})
        for call in _Dealt.deal(draws, self.n_groups).calls():
            update = _residual_call(*call, additive, self.learn_size, overlap, pair_effects=False)
            _add_up(sums, update)

    def kappas(self, c_values: Iterable[int]) -> np.ndarray:
        """Estimates of kappa_c from each group of draws, (K, number of values)."""
        count, mean, effect = (
            np.sum([sums[key] for sums in self._sums.values()], axis=0)
            for key in ("count", "mean", "effect")
        )
        mean, effect = mean / count, effect / count[:, None]
        return np.column_stack([self._kappa(c, mean, effect) for c in c_values])

    def _kappa(self, c: int, mean: np.ndarray, effect: np.ndarray) -> np.ndarray:
        n, m = self.n_obs, self.learn_size + 1
        centre, a, d = self._fit.solve(n, self.learn_size)
        h = self.learn_size * a + d
        of_residual = np.zeros(self.n_groups)
        for overlap, kind, weight in self._cases(c):
            of_residual += weight * self._sums[overlap][kind] / self._sums[overlap]["n_products"]
        of_both = centre * mean + (c / m - (m - c) / (n - m)) * (effect @ h) / m
        of_additive = centre**2 + (c / n - (m**2 - c) / (n * (n - 1))) * (h @ h) / m**2
        return of_residual + 2 * of_both + of_additive

    def _cases(self, c: int) -> list[tuple[int, str, float]]:
        """Overlap of the learning sets, which observations are tested, and how often.

        An observation that S and S' share is learnt from in both, tested in one, or tested
        in both.
        """
        m = self.learn_size + 1
        cases = [
            (c, "product", (m - c) ** 2 / m**2),
            (c - 1, "crossed", 2 * c * (m - c) / m**2),
            (c - 1, "diagonal", c / m**2),
            (c - 2, "swapped", c * (c - 1) / m**2),
        ]
        return [case for case in cases if case[2] > 0]


@dataclass(frozen=True)
class MonteCarloEstimates:
    """Estimates by name, and the Monte-Carlo standard error of each."""

    values: Mapping[str, float]
    mc_se: Mapping[str, float]


def groups_of_draws(n_obs: int, n_draws: int) -> int:
    """Groups that so many draws are dealt to."""
    return min(N_GROUPS if n_obs <= LARGE_OBS else N_GROUPS_LARGE, n_draws)


def pair_effects_factor(n: int, m: int) -> float:
    """M2 over the sum of squared pair effects tau_ij, i < j."""
    return (n - 1) * (n - 2) ** 2 * (n - 3) / ((n - m) * (n - m - 1)) ** 2


def geometric(jackknife: float, second: float) -> float:
    """J^2/(J + M2): the variance if its components fall geometrically with their degree."""
    return jackknife**2 / (jackknife + second) if jackknife > 0 else jackknife


def clipped(unbiased: float, lower: float, upper: float) -> float:
    """The unbiased estimate, clipped to [geometric, jackknife]."""
    return float(np.clip(unbiased, lower, upper))


def _error_of_clipping(values: Mapping[str, float], mc_se: float) -> float:
    """Root mean square error of the clipped variance if the unbiased one errs normally.

    At a bound the clipped value hardly moves when a group is left out, although another
    sample of learning sets could have taken it far inside.
    """
    errors = mc_se * ndtri((np.arange(200) + 0.5) / 200)
    moved = np.clip(values["unbiased"] + errors, values["geometric"], values["jackknife"])
    return float(np.sqrt(np.mean((moved - values["clipped"]) ** 2)))


def _half(n_groups: int) -> int:
    """Groups in the first half; all where a half would lack products once one is left out."""
    return n_groups // 2 if n_groups >= 6 else n_groups


def _residuals_of_rows(differences: np.ndarray, learning: np.ndarray, additive: Fits) -> np.ndarray:
    """D - A with an additive fit for each row (H, n), also inside the learning sets."""
    centre, a, d = additive
    return differences - (np.einsum("hn,hn->h", learning, a) + centre)[:, None] - d


def _add_up(totals: dict[str, np.ndarray], update: Mapping[str, np.ndarray]) -> None:
    """Add the arrays of one dictionary to those of another, in double precision."""
    for key, value in update.items():
        if key in totals:
            totals[key] += value
        else:
            totals[key] = value.astype(float)


def _crossed_product(vectors: np.ndarray, keep: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Estimate of the squared length of a mean vector, from products of different groups only.

    vectors (K, n) or matrices (K, n, n), sums over the draws of each group; keep and count (V, K);
    one estimate for each row of these, (V,). The square of a mean would add the mean's own
    Monte-Carlo variance.
    """
    # Row by row, as BLAS wakes its other threads for large products.
    rows = vectors[:, None] if vectors.ndim == 2 else vectors
    gram = (rows.transpose(1, 0, 2) @ rows.transpose(1, 2, 0)).sum(axis=0)
    products = ((keep @ gram) * keep).sum(axis=1) - keep @ np.diag(gram)
    pairs = count.sum(axis=1) ** 2 - (count**2).sum(axis=1)
    return products / np.where(pairs == 0, np.nan, pairs)


# ------------------------------------------------------------------------------- public API


def from_pairs(D1: Any, D2: Any, L1: Any, L2: Any, cluster: Any = None) -> dict[str, float]:
    """Complete error (difference) and its unbiased variance from pairs of learning sets.

    Parameters
    ----------
    D1, D2 : array, shape (G, n)
        Loss, or paired difference of two losses, at every observation, of the rules
        learnt on the two learning sets of each pair. Values inside a learning set are
        ignored.
    L1, L2 : array of 0/1, shape (G, n)
        Learning sets, all of one size g with n >= 2g + 2, drawn at random and disjoint
        row by row.
    cluster : array, shape (G,), optional
        Names the rows that were drawn together, for example several pairs from one split
        of the sample into halves; by default rows were drawn independently.

    Returns
    -------
    dict
        estimate: Delta-hat; theta_squared: unbiased estimate of the squared expectation;
        variance: v-hat = Delta-hat^2 - Theta^2 of the complete statistic, may be negative;
        mc_se_estimate, mc_se_variance: Monte-Carlo standard errors.

    Raises
    ------
    ValueError
        If shapes differ, sets are not 0/1, of one size and disjoint, or fewer than two
        clusters are given.

    Notes
    -----
    Unbiased for random pairs. The Monte-Carlo errors come from leaving out one of at most
    32 groups of clusters at a time and are rough below 20 clusters. Cost O(G n^2).

    References
    ----------
    Fuchs, Hornung, De Bin and Boulesteix (2013), Definition 3.7; the identity
    v-hat = Delta-hat^2 - Theta^2 follows from Remark 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.kernels import ustatistic
    >>> rng = np.random.default_rng(0)
    >>> order = rng.permuted(np.tile(np.arange(10), (500, 1)), axis=1)
    >>> L1, L2 = np.zeros((2, 500, 10))
    >>> rows = np.arange(500)[:, None]
    >>> L1[rows, order[:, :3]] = L2[rows, order[:, 3:6]] = 1
    >>> z = np.arange(10.0)
    >>> D = np.tile(z, (500, 1))    # a loss that does not depend on the learning set
    >>> result = ustatistic.from_pairs(D, D, L1, L2)
    >>> print(f"{result['estimate']:.2f}, {result['variance'] / (z.var(ddof=1) / 10):.2f}")
    4.50, 1.00
    """
    d1, d2 = np.asarray(D1, dtype=float), np.asarray(D2, dtype=float)
    l1, l2 = np.asarray(L1), np.asarray(L2)
    size = _check_pairs(d1, d2, l1, l2)
    names = np.arange(len(d1)) if cluster is None else np.asarray(cluster)
    if names.shape != (len(d1),):
        raise ValueError(f"cluster must have shape ({len(d1)},), got {names.shape}")
    n_draws = len(np.unique(names))
    if n_draws < 2:
        raise ValueError(f"at least two clusters of pairs are needed, got {n_draws}: draw more")
    sums = Accumulator(d1.shape[1], size, disjoint=True, n_draws=n_draws)
    draws = (d1[:, None], d2[:, None], l1[:, None] > 0, l2[:, None] > 0)
    sums.add(draws, cluster=names)
    found = sums.estimates()
    return {
        "estimate": found.values["estimate"],
        "theta_squared": found.values["theta_squared"],
        "variance": found.values["unbiased"],
        "mc_se_estimate": found.mc_se["estimate"],
        "mc_se_variance": found.mc_se["unbiased"],
    }


def _check_pairs(d1: np.ndarray, d2: np.ndarray, l1: np.ndarray, l2: np.ndarray) -> int:
    """The common size of the learning sets."""
    if d1.ndim != 2 or not d1.shape == d2.shape == l1.shape == l2.shape:
        raise ValueError(
            "D1, D2, L1 and L2 must have one shape (G, n), got "
            f"{d1.shape}, {d2.shape}, {l1.shape} and {l2.shape}"
        )
    if not (np.isin(l1, (0, 1)).all() and np.isin(l2, (0, 1)).all()):
        raise ValueError("L1 and L2 must hold 0 and 1 only")
    sizes = np.unique(np.concatenate([l1.sum(axis=1), l2.sum(axis=1)]))
    if len(sizes) != 1:
        raise ValueError(
            f"learning sets must have one size, got sizes from {sizes.min():.0f} "
            f"to {sizes.max():.0f}"
        )
    size = int(sizes[0])
    if (l1.astype(bool) & l2.astype(bool)).any():
        raise ValueError("L1 and L2 must be disjoint row by row")
    if size < 1 or d1.shape[1] < 2 * size + 2:
        raise ValueError(
            f"learning sets of size {size} need at least {2 * size + 2} observations, "
            f"got {d1.shape[1]}"
        )
    if not (np.isfinite(d1[l1 == 0]).all() and np.isfinite(d2[l2 == 0]).all()):
        raise ValueError("D1 and D2 must be finite outside the learning sets")
    return size
