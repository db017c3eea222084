"""Estimates and variances from sums over pairs of learning sets."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from scipy.special import ndtri

from ucvtest.kernels.ustatistic.control_variate import Fits
from ucvtest.kernels.ustatistic.pair_effects import PairEffects, ResidualRows
from ucvtest.kernels.ustatistic.slopes import products_by_row, slope_by_rows
from ucvtest.stats.jackknife import (
    clipped,
    error_of_groups,
    first_order_factor,
    geometric,
    leave_one_out_weights,
    midpoint,
    pair_effects_factor,
    test_effects,
)

_ValueIn = Callable[[dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray], np.ndarray]
"""From the sums (K,) of a block's groups, their sums (V,) over the groups that are kept, and
which these are (V, K), to an estimate (V,)."""


@dataclass(frozen=True)
class MonteCarloEstimates:
    """Estimates by name, the Monte-Carlo standard error of each, and first-order effects b (n,).

    The jackknife is not the square of these effects, which would add their Monte-Carlo noise.
    """

    values: Mapping[str, float]
    mc_se: Mapping[str, float]
    effects: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def slope_error(self) -> float:
        """The standard error of the slope: of its regression, and by Monte Carlo."""
        return math.hypot(self.values["slope_error"], self.mc_se["slope"])


@dataclass(frozen=True, eq=False)
class Block:
    """Sums over the draws that share an additive fit, group by group (arrays of shape (K,))."""

    additive: Fits
    sums: dict[str, np.ndarray]

    def plus(self, other: "Block") -> "Block":
        """The sums of two blocks with the same additive fit."""
        sums = {key: self.sums[key] + other.sums[key] for key in self.sums}
        return Block(self.additive, sums)


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over draws, group by group, from which everything is estimated.

    `totals` do not depend on the additive fit, or are linear in the residuals. Sums of pairs of
    observations are in "joint", or come from `rows`, where all draws were added at once.
    """

    n_obs: int
    learn_size: int
    disjoint: bool
    totals: Mapping[str, np.ndarray]
    blocks: tuple[Block, ...]
    halves: tuple[slice, slice]
    rows: ResidualRows | None = None

    def with_offset(self, offset: np.ndarray) -> "Sums":
        """The sums for the kernel D + theta offset_t, with theta the estimate; offset sums to 0.

        Being additive it leaves residuals as they are; the sums of each block's b times those of
        the offset are in "offset".
        """
        count = self.totals["count"]
        theta = float(self.totals["mean"].sum() / count.sum())
        b = theta * test_effects(self.n_obs, self.learn_size + 1, offset)
        lambda_1 = first_order_factor(self.n_obs, self.learn_size + 1)
        blocks = []
        for block in self.blocks:
            crossed = 2 * theta * block.sums["offset"] + block.sums["count"] * (b @ b)
            linear = block.sums["linear"] + lambda_1 * crossed
            blocks.append(replace(block, sums={**block.sums, "linear": linear}))
        totals = {**self.totals, "b": self.totals["b"] + count[:, None] * b}
        return replace(self, totals=totals, blocks=tuple(blocks))

    def estimates(self) -> MonteCarloEstimates:
        """All estimates but the slope, with errors from leaving out one group at a time."""
        full, errors = _with_errors(self._evaluate(self._group_selections))
        if "clipped" in full:
            errors["clipped"] = max(errors["clipped"], _error_of_clipping(full, errors["unbiased"]))
        effects = self.totals["b"].sum(axis=0) / self.totals["count"].sum()
        return MonteCarloEstimates(values=full, mc_se=errors, effects=effects)

    def with_slope(self, estimates: MonteCarloEstimates) -> MonteCarloEstimates:
        """The estimates, with the slope and its error; it takes as long as all others together."""
        if not self._has_pair_effects:
            return estimates
        slope = slope_by_rows(
            *(self.n_obs, self.learn_size + 1, self.totals["b"], self._pair_effects.strips()),
            *(self._group_selections, self.totals["count"]),
        )
        full, errors = _with_errors({"slope": slope.value, "slope_error": slope.error})
        return replace(
            estimates, values={**estimates.values, **full}, mc_se={**estimates.mc_se, **errors}
        )

    def pair_effects(self) -> np.ndarray:
        """Sums of the residual pair effects tau_ij over the sets of each group, (K, n, n)."""
        return np.concatenate(list(self._pair_effects.strips()), axis=1)

    @cached_property
    def _group_selections(self) -> np.ndarray:
        return leave_one_out_weights(len(self.totals["count"]))

    @property
    def _has_pair_effects(self) -> bool:
        return self.rows is not None or "joint" in self.totals

    @cached_property
    def _products(self) -> np.ndarray:
        """Products of the pair effects of all pairs of groups, (K, K)."""
        return self._pair_effects.products

    @property
    def _pair_effects(self) -> PairEffects:
        n, m = self.n_obs, self.learn_size + 1

        def known_tile(first: slice, second: slice) -> np.ndarray:
            return np.array(self.totals["joint"][:, first, second])

        return PairEffects(
            known_tile if self.rows is None else self.rows.tile,
            # Half of each effect: the transpose has the other.
            effects=(m - 1) / (n - 2) * self.totals["residual_effect"],
            constant=m * (m - 1) / (n * (n - 1)) * self.totals["residual_mean"],
        )

    def _evaluate(self, group_selections: np.ndarray) -> dict[str, np.ndarray]:
        """Every estimate from the groups with keep = 1, for each row of keep (V, K)."""
        n, m = self.n_obs, self.learn_size + 1
        count = self.totals["count"] * group_selections
        squared = partial(crossed_product, group_selections=group_selections, count=count)
        estimates = {
            "estimate": (self.totals["mean"] * group_selections).sum(axis=1) / count.sum(axis=1),
            "jackknife": first_order_factor(n, m) * squared(self.totals["b"]),
        }
        if self._has_pair_effects:
            second = _crossed(self._products, group_selections, count)
            second = np.maximum(pair_effects_factor(n, m) * second / 2, 0.0)
            j_and_m2 = list(zip(estimates["jackknife"], second, strict=True))
            estimates["geometric"] = np.array([geometric(j, m2) for j, m2 in j_and_m2])
            estimates["midpoint"] = np.array([midpoint(j, m2) for j, m2 in j_and_m2])
            estimates["pair_effects"] = second
        if self.disjoint:
            estimates |= self._of_disjoint_sets(group_selections)
            estimates["theta_squared"] = (
                squared(self.totals["mean"][:, None]) - estimates["unbiased"]
            )
        if "geometric" in estimates and "unbiased" in estimates:
            bounded = zip(
                estimates["unbiased"], estimates["geometric"], estimates["jackknife"], strict=True
            )
            estimates["clipped"] = np.array(
                [clipped(*unbiased_and_bounds) for unbiased_and_bounds in bounded]
            )
        return estimates

    def _of_disjoint_sets(self, group_selections: np.ndarray) -> dict[str, np.ndarray]:
        """The variances that need products of losses under disjoint sets."""
        disjoint_variances = {"unbiased": self._over_blocks(group_selections, _unbiased)}
        if any(block.sums["n_exchanged"].any() for block in self.blocks):
            asymptotic = partial(_asymptotic, self.n_obs, self.learn_size + 1)
            disjoint_variances["asymptotic"] = self._over_blocks(group_selections, asymptotic)
        return disjoint_variances

    def _over_blocks(self, group_selections: np.ndarray, value_in: _ValueIn) -> np.ndarray:
        """Mean of an estimate over blocks and halves, weighted by their numbers of pairs; (V,)."""
        total = weight = np.zeros(len(group_selections))
        for block in self.blocks:
            for groups in self.halves:
                block_selections = group_selections[:, groups]
                block_sums = {key: value[groups] for key, value in block.sums.items()}
                size = block_selections @ block_sums["count"]
                with np.errstate(divide="ignore", invalid="ignore"):
                    value = value_in(
                        block_sums,
                        {key: block_selections @ block_sums[key] for key in block_sums},
                        block_selections,
                    )
                total = total + np.where(size > 0, size * value, 0.0)
                weight = weight + size
        return total / weight


def _with_errors(
    values: Mapping[str, np.ndarray],
) -> tuple[dict[str, float], dict[str, float]]:
    """Values from all groups, and their errors, from values that leave out one group at a time."""
    full = {name: float(value[0]) for name, value in values.items()}
    errors = {name: float(error_of_groups(value[1:] - value[0])) for name, value in values.items()}
    return full, errors


def _unbiased(
    group_sums: dict[str, np.ndarray], sums: dict[str, np.ndarray], group_selections: np.ndarray
) -> np.ndarray:
    squared_mean = crossed_product(
        group_sums["mean"][:, None], group_selections, group_sums["count"] * group_selections
    )
    return squared_mean - sums["product"] / sums["n_products"] + sums["linear"] / sums["count"]


def _asymptotic(
    n: int, m: int, _: dict[str, np.ndarray], sums: dict[str, np.ndarray], __: np.ndarray
) -> np.ndarray:
    product, crossed, diagonal = (
        sums[kind] / sums["n_products"] for kind in ("product", "crossed", "diagonal")
    )
    exchange = sums["exchange"] / sums["n_exchanged"]
    # The observation that S and S' share is tested in neither, in one or in both of them.
    neither = (m - 1) ** 2 * (product + exchange)
    kappa_1 = (neither + 2 * (m - 1) * crossed + diagonal) / m**2
    return m**2 / n * (kappa_1 - product) + sums["linear"] / sums["count"]


def _error_of_clipping(values: Mapping[str, float], mc_se: float) -> float:
    """Root mean square error of the clipped variance if the unbiased one has a normal error.

    At a bound the clipped value hardly moves when a group is left out, although another
    sample of learning sets could have taken it far inside.
    """
    errors = mc_se * ndtri((np.arange(200) + 0.5) / 200)
    moved = np.clip(values["unbiased"] + errors, values["geometric"], values["jackknife"])
    return float(np.sqrt(np.mean((moved - values["clipped"]) ** 2)))


def crossed_product(
    vectors: np.ndarray, group_selections: np.ndarray, count: np.ndarray
) -> np.ndarray:
    """Estimate of the squared length of a mean vector, from products of different groups only.

    vectors (K, n) or matrices (K, n, n), sums over the draws of each group; keep and count (V, K);
    one estimate for each row of these, (V,). The square of a mean would add the mean's own
    Monte-Carlo variance.
    """
    rows = vectors[:, None] if vectors.ndim == 2 else vectors
    return _crossed(products_by_row(rows).sum(axis=0), group_selections, count)


def _crossed(gram: np.ndarray, group_selections: np.ndarray, count: np.ndarray) -> np.ndarray:
    """The same from the products of all groups, (K, K)."""
    products = ((group_selections @ gram) * group_selections).sum(
        axis=1
    ) - group_selections @ np.diag(gram)
    pairs = count.sum(axis=1) ** 2 - (count**2).sum(axis=1)
    return products / np.where(pairs == 0, np.nan, pairs)
