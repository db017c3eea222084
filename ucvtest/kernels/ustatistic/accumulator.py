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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from ucvtest.kernels.ustatistic.additive import (
    SETS_PER_SUM,
    AdditiveFit,
    Fits,
    in_double,
    rounded_losses,
)
from ucvtest.kernels.ustatistic.groups import Dealt, Draws, groups_of, groups_of_draws, one_half
from ucvtest.kernels.ustatistic.residuals import residual_call, residuals_of_rows
from ucvtest.kernels.ustatistic.variances import (
    MonteCarloEstimates,
    clipped,
    crossed_product,
    error_of_clipping,
    geometric,
    pair_effects_factor,
)

__all__ = ["Accumulator", "add_up"]


MAX_OBS_PAIR_EFFECTS = 2000
"""Most observations for which the pair effects, and with them the variances "geometric" and
"clipped", are kept: 8 groups of 2000 x 2000 sums are a quarter of a gigabyte."""

SETS_FOR_FIT = 64
"""Learning sets for each observation after which the additive fit stays as it is."""

_ValueIn = Callable[[dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray], np.ndarray]
"""From the sums (K,) of a block's groups, their sums (V,) over the groups that are kept, and
which these are (V, K), to an estimate (V,)."""


def _as_counts(differences: np.ndarray) -> np.ndarray:
    """Differences that are all -1, 0 or 1 as such numbers of errors, in small integers."""
    magnitude = np.abs(differences)
    is_count = ((magnitude == 0) | (magnitude == 1)).all()
    return differences.astype(np.int8 if is_count else float, copy=False)


def _are_counts(draws: Draws) -> bool:
    d1, d2, _, _ = draws
    return d1.dtype == d2.dtype == np.int8 and d1.shape[1] <= SETS_PER_SUM


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
        half = one_half(self.n_groups)
        self._halves = [slice(0, half), slice(half, self.n_groups)]
        self._fits = [AdditiveFit(), AdditiveFit()]
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
        dealt = Dealt.deal(draws, self.n_groups, cluster, weight)
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
        group = groups_of(np.arange(n_rows), self.n_groups)
        d1, d2, l1, l2 = (part[:n_rows, 0] for part in draws)
        centre, a, d = (part[group] for part in in_double(additive))
        residuals = partial(residuals_of_rows, additive=(centre, a, d))
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

    def _additive(self, dealt: Dealt) -> Fits:
        """Additive fit of each group, from all draws so far until there are enough of them."""
        if self._settled is not None:
            return self._settled
        self._fit_additive(dealt)
        additive = self._crossed_fits(dealt.draws)
        if min(fit.n_sets for fit in self._fits) >= SETS_FOR_FIT * self.n_obs:
            self._settled = additive
        return additive

    def _fit_additive(self, dealt: Dealt) -> None:
        if one_half(self.n_groups) == self.n_groups:
            return
        for fit, groups in zip(self._fits, self._halves, strict=True):
            for call in dealt.calls(groups):
                fit.add(*call)

    def _crossed_fits(self, draws: Draws) -> Fits:
        """Centre (K,), learning effects (K, n) and test effects (K, n) from the other half."""
        g = self.learn_size
        solved = [fit.solve(self.n_obs, g) for fit in reversed(self._fits)]
        centre, a, d = (np.array(part) for part in zip(*solved, strict=True))
        fits = rounded_losses((centre, a, d), g) if _are_counts(draws) else (centre, a, d)
        sizes = [groups.stop - groups.start for groups in self._halves]
        centre, a, d = (np.repeat(part, sizes, axis=0) for part in fits)
        return centre, a, d

    def _sum(self, dealt: Dealt, additive: Fits) -> dict[str, np.ndarray]:
        sums: dict[str, np.ndarray] = {}
        if not _are_counts(dealt.draws):
            # Rounded for earlier draws that were: the sums of these are not exact.
            additive = in_double(additive)
        for call in dealt.calls():
            update = residual_call(
                *call, additive, self.learn_size, self._common, pair_effects=self.pair_effects
            )
            if self.pair_effects:
                # By far the largest: added to its total at once, which asks for no memory.
                add_up(self._totals, {"joint": update.pop("joint")})
            add_up(sums, update)
        return sums

    def _store(self, additive: Fits, sums: dict[str, np.ndarray]) -> None:
        centre, a, d = in_double(additive)
        count, effect = sums["count"], sums["effect"]
        b = self._b_of_additive(a, d)
        totals = {
            "count": count,
            "mean": sums["mean"] + count * centre,
            "b": effect + count[:, None] * b,
            "residual_mean": sums["mean"],
            "residual_effect": effect,
        }
        add_up(self._totals, totals)
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
            errors["clipped"] = max(errors["clipped"], error_of_clipping(full, errors["unbiased"]))
        return MonteCarloEstimates(values=full, mc_se=errors)

    def _evaluate(self, keep: np.ndarray) -> dict[str, np.ndarray]:
        """Every estimate from the groups with keep = 1, for each row of keep (V, K)."""
        n, m = self.n_obs, self.learn_size + 1
        count = self._totals["count"] * keep

        squared = partial(crossed_product, keep=keep, count=count)
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
        squared_mean = crossed_product(each["mean"][:, None], keep, each["count"] * keep)
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


def add_up(totals: dict[str, np.ndarray], update: Mapping[str, np.ndarray]) -> None:
    """Add the arrays of one dictionary to those of another, in double precision."""
    for key, value in update.items():
        if key in totals:
            totals[key] += value
        else:
            totals[key] = value.astype(float)
