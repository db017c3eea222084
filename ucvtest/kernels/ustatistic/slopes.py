r"""How the standard error moves with the estimate: delete-one slopes, all of them at once.

Without observation i the estimate is U_(-i) and its jackknife variance J_(-i). Regressed on each
other, they say by how much the logarithm of the standard error changes with the estimate,

    beta = sum_i (U_(-i) - mean)(J_(-i) - mean) / (2 mean(J_(-i)) sum_i (U_(-i) - mean)^2).

Nothing has to be left out for that: with the first-order effects b_i, the pair effects tau_ik and
c = (n - 1 - m)/(n - 2), exactly,

    U_(-i) - U = - n b_i/(n - m),
    J_(-i) in proportion to sum_{k != i} [tau_ik - c (b_k + b_i/(n - 1))]^2.
"""

import numpy as np

__all__ = ["complete_slope", "crossed_slope", "products_by_row", "slope", "slopes_of_differences"]


def slope(n: int, m: int, first: np.ndarray, second: np.ndarray, third: np.ndarray) -> np.ndarray:
    """The slope from the sums of b_i^2, of tau_ik^2 over i and k, and of b_i J_(-i) as scaled here.

    0 where effects of single observations cannot be told from none.
    """
    c = (n - 1 - m) / (n - 2)
    spread = np.maximum(second, 0.0) + c**2 * n * (n - 2) / (n - 1) * first
    with np.errstate(divide="ignore", invalid="ignore"):
        found: np.ndarray = np.where(first > 0, -(n - m) / 2 * third / (spread * first), 0.0)
    return found


def complete_slope(n: int, m: int, b: np.ndarray, tau: np.ndarray) -> float:
    """The slope from b (n,) and tau (n, n) of all learning sets, which have no noise."""
    alike = np.stack([b] * 3), np.stack([tau] * 3)
    return float(crossed_slope(n, m, *alike, keep=np.ones((1, 3)), count=np.ones(3))[0])


def products_by_row(tau: np.ndarray) -> np.ndarray:
    """Products tau_ik tau_ik of all pairs of groups, summed over k: (n, K, K) from (K, n, n)."""
    # Row by row: large products would wake BLAS's other threads.
    return tau.transpose(1, 0, 2) @ tau.transpose(1, 2, 0)


def crossed_slope(
    n: int,
    m: int,
    b: np.ndarray,
    tau: np.ndarray,
    keep: np.ndarray,
    count: np.ndarray,
    squares: np.ndarray | None = None,
) -> np.ndarray:
    """The slope from sums of b (K, n) and tau (K, n, n) over the draws of each group; (V,).

    Products are of different groups only, as their own noise would take part in the others;
    keep and count (V, K) as in `crossed_product`; `squares` are `products_by_row`, where they are
    known. NaN with fewer than three groups.
    """
    squares = products_by_row(tau) if squares is None else squares
    rows = tau.transpose(1, 0, 2)
    threes = np.einsum("ai,ibc->abc", b, _left_out(n, m, b, rows, squares))
    number = np.arange(len(b))
    # Only a, b, c all different.
    threes[number, number] = threes[:, number, number] = threes[number, :, number] = 0.0
    third = np.einsum("abc,va,vb,vc->v", threes, keep, keep, keep, optimize=True)
    one, two, three = (((count * keep) ** power).sum(axis=1) for power in (1, 2, 3))
    with np.errstate(divide="ignore", invalid="ignore"):
        third = third / (one**3 - 3 * one * two + 2 * three)
        first, second = (
            (((keep @ gram) * keep).sum(axis=1) - keep @ np.diag(gram)) / (one**2 - two)
            for gram in (np.einsum("ai,bi->ab", b, b), squares.sum(axis=0))
        )
    found: np.ndarray = np.where(np.isfinite(third), slope(n, m, first, second, third), np.nan)
    return found


def _left_out(n: int, m: int, b: np.ndarray, rows: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """J_(-i), as scaled here and less a constant, by the groups of both of its factors: (n, K, K).

    Symmetric only after both orders are added.
    """
    c = (n - 1 - m) / (n - 2)
    own = b.T[:, :, None] * b.T[:, None, :]
    found: np.ndarray = squares - 2 * c * (rows @ b.T) - c**2 * n / (n - 1) * own
    return found


def slopes_of_differences(
    n: int,
    m: int,
    b: np.ndarray,
    tau: np.ndarray,
    count: np.ndarray,
    squares: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """`crossed_slope` from all groups for the difference of each two of L learners, (L, L).

    b (L, K, n) and tau (L, K, n, n) are sums over the `count` (K,) draws of each group; `squares`
    the first two sums of `slope` for all differences, (L, L) each. The third is a cubic form q, of
    which a difference needs values and gradients: q(x - y) = q(x) - q'(x) y + q'(y) x - q(y).
    """
    rows, matrices = (part.reshape(len(b), -1) for part in (b, tau))
    towards = np.empty((len(b), len(b)))
    for place, each in enumerate(zip(b, tau, strict=True)):
        of_b, of_tau = _gradient(n, m, *each)
        towards[place] = rows @ of_b.ravel() + matrices @ of_tau.ravel()
    own = np.diag(towards) / 3
    one, two, three = ((count**power).sum() for power in (1, 2, 3))
    third = own[:, None] - towards + towards.T - own
    return slope(n, m, *squares, third / (one**3 - 3 * one * two + 2 * three))


def _gradient(n: int, m: int, b: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the sum of b_i J_(-i), as scaled here, over three different groups: by b and by tau."""
    c, apart = (n - 1 - m) / (n - 2), 1 - np.eye(len(b))
    different = apart[:, :, None] * apart[:, None] * apart
    # For two groups the sum of b over all others, (K, K, n).
    others = np.einsum("abc,ai->bci", different, b)
    of_tau = 2 * np.einsum("bci,cij->bij", others, tau, optimize=True)
    of_tau -= 2 * c * np.einsum("bci,cj->bij", others, b, optimize=True)
    rows = tau.transpose(1, 0, 2)
    products = rows @ rows.transpose(0, 2, 1) - 2 * c * (rows @ b.T)
    products -= 3 * c**2 * n / (n - 1) * b.T[:, :, None] * b.T[:, None, :]
    of_b = np.einsum("abc,ibc->ai", different, products, optimize=True)
    of_b -= 2 * c * np.einsum("cbi,bij->cj", others, tau, optimize=True)
    return of_b, of_tau
