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

import numpy as np


def slope(n: int, m: int, first: np.ndarray, spread: np.ndarray, third: np.ndarray) -> np.ndarray:
    """The slope from the sums of b_i^2 and of b_i J_(-i), and from the sum of J_(-i), all scaled.

    0 where effects of single observations cannot be told from none.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        slope_value: np.ndarray = np.where(first > 0, -(n - m) / 2 * third / (spread * first), 0.0)
    return slope_value


def spread_of(n: int, m: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The sum of J_(-i) as scaled here, from the sums of b_i^2 and of tau_ik^2 over i and k."""
    c = (n - 1 - m) / (n - 2)
    spread: np.ndarray = np.maximum(second, 0.0) + c**2 * n * (n - 2) / (n - 1) * first
    return spread


def slope_by_rows(
    n: int,
    m: int,
    b: np.ndarray,
    strips: Iterable[np.ndarray],
    group_selections: np.ndarray,
    count: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Slopes (V,) with their standard errors, from sums over the draws of each of K groups.

    They are b (K, n), and tau in strips of rows (K, a, n), one after the other. Products are of
    different groups only, as their own noise would take part in the others; keep and count (V, K)
    as in `crossed_product`. NaN with fewer than three groups.
    """
    # Row by row: large products would wake BLAS's other threads.
    by_strip = [
        (x.transpose(1, 0, 2) @ x.transpose(1, 2, 0), x.transpose(1, 0, 2) @ b.T) for x in strips
    ]
    squares, along = (np.concatenate(of_strips) for of_strips in zip(*by_strip, strict=True))
    # J_(-i), as scaled here and less a constant, by the groups of both of its factors, (n, K, K).
    # It is symmetric only after both orders are added.
    c, of_b = (n - 1 - m) / (n - 2), b.T[:, :, None] * b.T[:, None, :]
    left_out: np.ndarray = squares - 2 * c * along - c**2 * n / (n - 1) * of_b
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
        spread = spread_of(n, m, first, second)
        # Monte-Carlo noise is in both b and J_(-i), and in the error then as well.
        means = group_selections @ b / power_sum1[:, None]
        moved = np.einsum("ivc,vc->vi", group_selections @ left_out, group_selections)
        moved -= group_selections @ np.einsum("ibb->bi", left_out)
        moved /= (power_sum1**2 - power_sum2)[:, None]
        moved -= moved.mean(axis=-1, keepdims=True)
        along_b = (means * moved).sum(axis=-1) / (means**2).sum(axis=-1)
        residual = moved - along_b[..., None] * means
        raw = np.sqrt(n / (n - 2) * (means**2 * residual**2).sum(axis=-1)) / first
        error = np.where(first > 0, (n - m) / 2 * raw / spread, 0.0)
    known = np.isfinite(third)
    return np.where(known, slope(n, m, first, spread, third), np.nan), np.where(
        known, error, np.nan
    )
