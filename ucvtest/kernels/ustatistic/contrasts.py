r"""Contrasts of columns of rows: estimates, variances, and their Monte-Carlo errors.

With m = g + 1, first-order effects b and pair effects tau,

    J = sum over strata of n (n - 1)/(n - m)^2 |b|^2,    M2 from |tau|^2,
    midpoint V = max((J + J^2/(J + M2))/2, M2/2).

Squared lengths are products of different blocks (`rows`), which are free of Monte-Carlo noise.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from ucvtest.common.single_thread import ONE_BLAS_THREAD
from ucvtest.kernels.ustatistic.rows import Effects
from ucvtest.kernels.ustatistic.slopes import slope_by_rows
from ucvtest.stats import jackknife
from ucvtest.stats.jackknife import leave_one_out_weights

if TYPE_CHECKING:
    from ucvtest.kernels.ustatistic.few import FewFits

RELIABLE = 0.25
"""Monte-Carlo error, as a share of a variance, above which there is no answer. Simulated intervals
for AUCs contained the true value from 600 learning sets on, where it is .1 to .2 for differences.
"""

ROUNDING = 1e-12
"""Standard error, as a share of the estimate, that is no more than rounding error."""

LEAST_COUNT = 1e-12
"""Means of counts up to here are of nothing; those of complete designs are 1."""


@dataclass(frozen=True, eq=False)
class Contrast:
    """Columns times `weights` (V,), plus a kernel `fixed` (n,) of the tested unit alone.

    No fit changes `fixed`. Of a function of the means that has a `value`, this is the linear part,
    which has the mean `level` at the means; otherwise the value is the weighted sum of the means.
    """

    weights: np.ndarray
    fixed: np.ndarray | float = 0.0
    value: float | None = None
    level: float = 0.0

    def __add__(self, other: "Contrast") -> "Contrast":
        have_values = self.value is not None and other.value is not None
        return Contrast(
            self.weights + other.weights,
            self.fixed + other.fixed,
            self.value + other.value if have_values else None,  # type: ignore[operator]
            self.level + other.level,
        )

    def __rmul__(self, factor: float) -> "Contrast":
        value = None if self.value is None else factor * self.value
        return Contrast(factor * self.weights, factor * self.fixed, value, factor * self.level)

    def __sub__(self, other: "Contrast") -> "Contrast":
        return self + -1.0 * other


def total(terms: Iterable[Contrast]) -> Contrast:
    """The sum of some contrasts."""
    return reduce(Contrast.__add__, terms)


def linear(
    weights: Sequence[float] | np.ndarray, means: np.ndarray, offset: np.ndarray | None = None
) -> Contrast:
    """A weighted sum of columns; with an `offset` (n,), as of weighted units, a ratio of means.

    Its kernel is then that of the columns plus its mean times the offset.
    """
    weights = np.asarray(weights, dtype=float)
    return Contrast(weights, 0.0 if offset is None else float(weights @ means) * offset)


def share(n_columns: int, top: int, bottom: int, means: np.ndarray) -> Contrast:
    """The ratio of the means of two columns; the second has the mean 1 by its scale.

    NaN where nothing was counted: two classes were never tested together.
    """
    weights = np.zeros(n_columns)
    theta = float(means[top] / means[bottom]) if means[bottom] > LEAST_COUNT else math.nan
    weights[top], weights[bottom] = 1.0, -theta
    return Contrast(weights, value=theta)


def log_ratio(means: np.ndarray) -> Contrast:
    """The ratio of the means of two columns, with the linear part of its logarithm.

    Its value is the ratio; offsets cancel.
    """
    first, other = means
    return Contrast(np.array([1 / first, -1 / other]), value=float(first / other))


@dataclass(frozen=True, eq=False)
class Estimate:
    """The value of a contrast, variances by name and their Monte-Carlo errors.

    "pair_effects" (M2) is among the variances. `df` are Welch's degrees of freedom; `b` (n,) the
    first-order effects, whose square is not the jackknife: it would have their Monte-Carlo noise.
    Of few fits there are `few`, their variance of this name, and their spread as the jackknife.
    """

    value: float
    mc_se: float
    variances: Mapping[str, float]
    errors: Mapping[str, float]
    df: float
    b: np.ndarray = field(repr=False)
    few: "FewFits | None" = None

    def flat(self, name: str) -> bool:
        """Whether a variance is zero, up to the rounding of losses that are all the same."""
        largest = max(abs(self.variances[name]), abs(self.variances.get("jackknife", 0.0)))
        return bool(largest <= (ROUNDING * self.value) ** 2)

    def reliable(self, name: str) -> bool:
        """Whether a variance is positive, and its Monte-Carlo error at most a quarter of it."""
        variance = self.variances[name]
        return bool(variance > 0 and self.errors[name] <= RELIABLE * variance)

    def excess(self, name: str, tol: float) -> float:
        """The larger Monte-Carlo error as a multiple of the one that "auto" requires.

        NaN if it is not known.
        """
        if self.flat(name):
            return 0.0
        variance = self.variances[name]
        if variance == 0:
            return math.nan
        of_variance = self.errors[name] / (min(tol, RELIABLE) * abs(variance))
        if variance < 0:
            return of_variance
        return float(np.maximum(of_variance, self.mc_se / (tol * math.sqrt(variance))))

    def with_mc_part(self, name: str) -> float:
        """A variance with its Monte-Carlo part."""
        return self.variances[name] + self.mc_se**2

    @property
    def theta_squared(self) -> float:
        """The squared mean, less its Monte-Carlo noise and the unbiased variance."""
        return self.value**2 - self.mc_se**2 - self.variances["unbiased"]


def estimate(effects: Effects, contrast: Contrast, kind: type[Estimate] = Estimate) -> Estimate:
    """The estimate of a contrast with everything but the slope."""
    weights, strata = contrast.weights, effects.strata
    b, by_block = _first_order(effects, contrast)
    of_strata = [
        _jackknife(effects, b[some], by_block[:, some], strata.jackknife_factor[some[0]])
        for some in strata.members
    ]
    j = np.sum([values for values, _ in of_strata], axis=0)
    by_name = {"jackknife": j}
    second = effects.of_pairs(weights)
    if effects.gram is not None and second is not None:
        # Of many learners most have no weight in a difference.
        used = np.flatnonzero(second)
        of_used = effects.gram[used][:, :, used]
        inner = np.einsum("v,vkwl,w->kl", second[used], of_used, second[used])
        m2 = np.maximum(_crossed(inner, effects), 0.0)
        j_and_m2 = list(zip(j.tolist(), m2.tolist(), strict=True))
        by_name |= {
            "pair_effects": m2,
            "geometric": np.array([jackknife.geometric(*x) for x in j_and_m2]),
            "midpoint": np.array([jackknife.midpoint(*x) for x in j_and_m2]),
        }
    fixed = b - weights @ effects.b
    if second is not None:
        for name, forms in effects.variances.items():
            # Of an additive kernel a quadratic form is known, and so is its product with others.
            of_columns = b - fixed
            added = strata.jackknife_factor * fixed @ (2 * of_columns + fixed)
            by_name[name] = forms @ second @ second + added
    if "unbiased" in by_name and "geometric" in by_name:
        by_name["clipped"] = np.clip(by_name["unbiased"], by_name["geometric"], j)
    values = {name: float(x[0]) for name, x in by_name.items()}
    errors = {name: _error(x[1:]) for name, x in by_name.items()}
    # How far the squares that stand in for negative products are off is an error as well.
    gap = sum(gap for _, gap in of_strata)
    for name in ("jackknife", "geometric", "midpoint"):
        if name in errors:
            errors[name] = max(errors[name], gap)
    if "clipped" in values:
        errors["clipped"] = max(errors["clipped"], _error_of_clipping(values, errors["unbiased"]))
    mean = float(weights @ effects.u)
    return kind(
        value=mean if contrast.value is None else contrast.value,
        mc_se=math.sqrt(max(float(weights @ effects.error @ weights), 0.0)),
        variances=values,
        errors=errors,
        df=_welch(effects, [float(values[0]) for values, _ in of_strata]),
        b=b,
    )


def _first_order(effects: Effects, contrast: Contrast) -> tuple[np.ndarray, np.ndarray]:
    """b (n,), and by block (K, n)."""
    fixed = effects.strata.of_tested(np.broadcast_to(contrast.fixed, effects.b.shape[1:]))
    used = np.flatnonzero(contrast.weights)
    by_block = np.einsum("v,kvn->kn", contrast.weights[used], effects.by_block[:, used])
    return contrast.weights @ effects.b + fixed, by_block + fixed


def _jackknife(
    effects: Effects, b: np.ndarray, by_block: np.ndarray, factor: float
) -> tuple[np.ndarray, float]:
    """J of a stratum from all blocks and without each, and what squares that stand in are off.

    Where products of different blocks are negative, the squares as they are stand in for them.
    """
    squares = factor * float(b @ b)
    if effects.exact:
        return np.array([squares]), 0.0
    weighted = by_block * effects.weight[:, None]
    products = factor * _crossed(weighted @ weighted.T, effects)
    gap = squares - float(products[0]) if products[0] <= 0 else 0.0
    return np.where(products > 0, products, squares), gap


def _crossed(products: np.ndarray, effects: Effects) -> np.ndarray:
    """Means of products (K, K) of different blocks, for the blocks that are kept."""
    if effects.exact:
        return np.array([products.sum()])
    keeps, weight = effects.keeps, effects.weight
    shares = np.outer(weight, weight)
    sums, counts = (
        np.einsum("rk,kl,rl->r", keeps, x - np.diag(np.diag(x)), keeps) for x in (products, shares)
    )
    return np.divide(sums, counts, out=np.full(len(sums), math.nan), where=counts > 0)


def _error(without_each: np.ndarray) -> float:
    """The Monte-Carlo error from values without each of the blocks; 0 of all learning sets."""
    k = len(without_each)
    return float(np.sqrt((k - 1) * np.var(without_each))) if k else 0.0


def _error_of_clipping(values: Mapping[str, float], mc_se: float) -> float:
    """Root mean square error of the clipped variance if the unbiased one has a normal error.

    At a bound the clipped value hardly moves when a block is left out, although other learning
    sets could have taken it far inside.
    """
    moved = values["unbiased"] + mc_se * ndtri((np.arange(200) + 0.5) / 200)
    moved = np.clip(moved, values["geometric"], values["jackknife"])
    return float(np.sqrt(np.mean((moved - values["clipped"]) ** 2)))


def _welch(effects: Effects, jackknives: Sequence[float]) -> float:
    total, sizes = sum(jackknives), effects.strata.sizes
    if not total > 0:
        return math.nan
    of_strata = sum(j**2 / (n - 1) for j, n in zip(jackknives, sizes.tolist(), strict=True))
    return float(np.clip(total**2 / of_strata, 1, sizes.sum() - len(sizes)))


def slope(effects: Effects, contrast: Contrast) -> tuple[float, float, float]:
    """How the logarithm of the standard error moves with the estimate; one stratum.

    Returns the slope, its standard error, and its Monte-Carlo error (`slopes`).
    """
    n, g = effects.strata.n_units, effects.strata.learn_sizes[0]
    b, by_block = _first_order(effects, contrast)
    second = effects.of_pairs(contrast.weights)
    assert second is not None
    # Of many learners a difference is about two.
    kept = np.flatnonzero(second)
    with ONE_BLAS_THREAD:
        strips = (np.tensordot(second[kept], tau, 1) for tau in effects.strips(kept))
        if effects.exact:
            tau = np.tensordot(effects.weight, np.concatenate(list(strips), axis=1), 1)
            # Without noise, as three groups that are alike.
            alike = np.stack([b] * 3), [np.stack([tau] * 3)]
            value, error = slope_by_rows(n, g + 1, *alike, np.ones((1, 3)), np.ones(3))
            return float(value[0]), float(error[0]), 0.0
        filled = effects.weight > 0
        weight = effects.weight[filled]
        value, error = slope_by_rows(
            *(n, g + 1, by_block[filled] * weight[:, None]),
            (tau[filled] * weight[:, None, None] for tau in strips),
            *(leave_one_out_weights(len(weight)), weight),
        )
    return float(value[0]), float(error[0]), _error(value[1:])


def covariance(effects: Effects, contrasts: Sequence[Contrast]) -> np.ndarray:
    """The jackknife covariance of contrasts, by squares as they are: positive semidefinite."""
    b = np.stack([_first_order(effects, contrast)[0] for contrast in contrasts])
    of_all: np.ndarray = (b * effects.strata.jackknife_factor) @ b.T
    return of_all
