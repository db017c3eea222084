r"""How the standard error moves with the estimate: delete-one slopes, all of them at once.

Without observation i the estimate is U_(-i) and its jackknife variance J_(-i). Regressed on each
other, they say by how much the logarithm of the standard error changes with the estimate,

    beta = sum_i (U_(-i) - mean)(J_(-i) - mean) / (2 mean(J_(-i)) sum_i (U_(-i) - mean)^2).

Nothing has to be left out for that: with the first-order effects b_i, the pair effects tau_ik and
c = (n - 1 - m)/(n - 2), exactly,

    U_(-i) - U = - n b_i/(n - m),
    J_(-i) in proportion to sum_{k != i} [tau_ik - c (b_k + b_i/(n - 1))]^2.

The slope is noisy in itself: it is a regression on n points. Its standard error is that of a
regression whose residuals differ in size (White 1980), so that whoever uses it can shrink it.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class Slope(NamedTuple):
    """Slopes, and the standard error of each as a regression on n observations."""

    value: np.ndarray
    error: np.ndarray


def slope(n: int, m: int, first: np.ndarray, second: np.ndarray, third: np.ndarray) -> np.ndarray:
    """The slope from the sums of b_i^2, of tau_ik^2 over i and k, and of b_i J_(-i) as scaled here.

    0 where effects of single observations cannot be told from none.
    """
    c = (n - 1 - m) / (n - 2)
    spread = np.maximum(second, 0.0) + c**2 * n * (n - 2) / (n - 1) * first
    with np.errstate(divide="ignore", invalid="ignore"):
        slope_value: np.ndarray = np.where(first > 0, -(n - m) / 2 * third / (spread * first), 0.0)
    return slope_value


def _error(
    n: int, m: int, first: np.ndarray, second: np.ndarray, b: np.ndarray, left_out: np.ndarray
) -> np.ndarray:
    """The standard error of the slope, from b (..., n) and J_(-i) (..., n) as scaled here.

    Monte-Carlo noise is in both, and in the error then as well.
    """
    c = (n - 1 - m) / (n - 2)
    spread = np.maximum(second, 0.0) + c**2 * n * (n - 2) / (n - 1) * first
    moved = left_out - left_out.mean(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_b = (b * moved).sum(axis=-1) / (b**2).sum(axis=-1)
        residual = moved - of_b[..., None] * b
        raw = np.sqrt(n / (n - 2) * (b**2 * residual**2).sum(axis=-1)) / first
        slope_error: np.ndarray = np.where(first > 0, (n - m) / 2 * raw / spread, 0.0)
    return slope_error


def complete_slope(n: int, m: int, b: np.ndarray, tau: np.ndarray) -> tuple[float, float]:
    """The slope and its error from b (n,) and tau (n, n) of all learning sets, without noise."""
    alike = np.stack([b] * 3), np.stack([tau] * 3)
    crossed = crossed_slope(n, m, *alike, group_selections=np.ones((1, 3)), count=np.ones(3))
    return float(crossed.value[0]), float(crossed.error[0])


def products_by_row(tau: np.ndarray) -> np.ndarray:
    """Products tau_ik tau_ik of all pairs of groups, summed over k: (a, K, K) from (K, a, n)."""
    # Row by row: large products would wake BLAS's other threads.
    return tau.transpose(1, 0, 2) @ tau.transpose(1, 2, 0)


def crossed_slope(
    n: int,
    m: int,
    b: np.ndarray,
    tau: np.ndarray,
    group_selections: np.ndarray,
    count: np.ndarray,
) -> Slope:
    """The slope from sums of b (K, n) and tau (K, n, n) over the draws of each group; (V,).

    Products are of different groups only, as their own noise would take part in the others;
    keep and count (V, K) as in `crossed_product`. NaN with fewer than three groups.
    """
    return slope_by_rows(n, m, b, [tau], group_selections, count)


def slope_by_rows(
    n: int,
    m: int,
    b: np.ndarray,
    strips: Iterable[np.ndarray],
    group_selections: np.ndarray,
    count: np.ndarray,
) -> Slope:
    """The same from tau in strips of rows (K, a, n), one after the other."""
    by_strip = [(products_by_row(strip), strip.transpose(1, 0, 2) @ b.T) for strip in strips]
    squares, along = (np.concatenate(of_strips) for of_strips in zip(*by_strip, strict=True))
    left_out = _left_out(n, m, b, along, squares)
    # Products of three groups, of the first and the third for each of the second.
    threes = b @ left_out.transpose(1, 0, 2)
    number = np.arange(len(b))
    # Only those that are all different.
    threes[number, number] = threes[:, number, number] = threes[number, :, number] = 0.0
    third = np.einsum("bvc,vb,vc->v", group_selections @ threes, group_selections, group_selections)
    power_sum1, power_sum2, power_sum3 = (
        ((count * group_selections) ** power).sum(axis=1) for power in (1, 2, 3)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        third = third / (power_sum1**3 - 3 * power_sum1 * power_sum2 + 2 * power_sum3)
        first, second = (
            (
                ((group_selections @ gram) * group_selections).sum(axis=1)
                - group_selections @ np.diag(gram)
            )
            / (power_sum1**2 - power_sum2)
            for gram in (np.einsum("ai,bi->ab", b, b), squares.sum(axis=0))
        )
        means = group_selections @ b / power_sum1[:, None]
        selected_left_out = np.einsum("ivc,vc->vi", group_selections @ left_out, group_selections)
        selected_left_out -= group_selections @ np.einsum("ibb->bi", left_out)
        selected_left_out /= (power_sum1**2 - power_sum2)[:, None]
    is_finite = np.isfinite(third)
    return Slope(
        np.where(is_finite, slope(n, m, first, second, third), np.nan),
        np.where(is_finite, _error(n, m, first, second, means, selected_left_out), np.nan),
    )


def _left_out(n: int, m: int, b: np.ndarray, along: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """J_(-i), as scaled here and less a constant, by the groups of both of its factors: (n, K, K).

    `along` (n, K, K) are the products of the rows of tau with b. Symmetric only after both orders
    are added.
    """
    c = (n - 1 - m) / (n - 2)
    group_products = b.T[:, :, None] * b.T[:, None, :]
    left_out_jackknife: np.ndarray = squares - 2 * c * along - c**2 * n / (n - 1) * group_products
    return left_out_jackknife
