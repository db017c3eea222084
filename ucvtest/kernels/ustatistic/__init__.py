"""The U-statistic test's estimates, for people with losses of their own."""

from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array, as_numbers
from ucvtest.data.groups import as_groups
from ucvtest.kernels.ustatistic.contrasts import estimate, linear
from ucvtest.kernels.ustatistic.rows import Rows, Strata, blocks_for
from ucvtest.kernels.ustatistic.unbiased import PairProducts

__all__ = ["from_pairs"]


def from_pairs(
    D1: Any, D2: Any, L1: Any, L2: Any, cluster: Any = None, *, groups: Any = None
) -> dict[str, float]:
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
    groups : array-like, shape (n,), optional
        The cluster of each observation, the unit of resampling: labels of any type. The loss of a
        cluster is the mean over its observations, and n is the number of clusters; no set divides
        one.

    Returns
    -------
    dict
        estimate: Delta-hat; theta_squared: unbiased estimate of the squared expectation;
        variance: v-hat = Delta-hat^2 - Theta^2 of the complete statistic, may be negative;
        mc_se_estimate, mc_se_variance: Monte-Carlo standard errors.

    Raises
    ------
    ValueError
        If shapes differ, sets are not 0/1, of one size and disjoint, or divide a group, or
        there are fewer than two clusters of rows.

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
    d1, d2 = as_numbers("D1", D1), as_numbers("D2", D2)
    l1, l2 = as_array("L1", L1), as_array("L2", L2)
    units = as_groups(groups, d1.shape[-1]) if d1.ndim == 2 else None
    if units is not None and d1.shape == d2.shape == l1.shape == l2.shape:
        (d1, l1), (d2, l2) = (
            (units.sums(np.where(sets == 0, values, 0.0)) / units.sizes, units.common(name, sets))
            for name, values, sets in (("L1", d1, l1), ("L2", d2, l2))
        )
    size = _check_pairs(d1, d2, l1, l2)
    names = np.arange(len(d1)) if cluster is None else as_array("cluster", cluster)
    if names.shape != (len(d1),):
        raise ValueError(f"cluster must have shape ({len(d1)},), got {names.shape}")
    n_draws = len(np.unique(names))
    if n_draws < 2:
        raise ValueError(f"at least two clusters of pairs are needed, got {n_draws}: draw more")
    strata, rows_of_pairs = Strata.single(d1.shape[1], size), np.arange(2 * len(d1)).reshape(2, -1)
    learning = np.concatenate([l1, l2]) > 0
    draw = np.tile(np.unique(names, return_inverse=True)[1], 2)
    n_blocks = blocks_for(strata.n_units)
    products = PairProducts(1, n_blocks, pairs=rows_of_pairs)
    rows = Rows(strata, 1, pairs=False, products=products, n_blocks=n_blocks)
    placed = np.where(learning, 0.0, np.concatenate([d1, d2]))[None]
    rows.add(placed, learning, draw)
    effects = rows.effects()
    mean_estimate = estimate(effects, linear([1.0], effects.u))
    unbiased = mean_estimate.variances["unbiased"]
    return {
        "estimate": mean_estimate.value,
        "theta_squared": mean_estimate.theta_squared,
        "variance": unbiased,
        "mc_se_estimate": mean_estimate.mc_se,
        "mc_se_variance": mean_estimate.errors["unbiased"],
    }


def _check_pairs(d1: np.ndarray, d2: np.ndarray, l1: np.ndarray, l2: np.ndarray) -> int:
    """The common size of the learning sets."""
    if d1.ndim != 2 or not d1.shape == d2.shape == l1.shape == l2.shape:
        raise ValueError(
            "D1, D2, L1 and L2 must have one shape (G, n), got "
            f"{d1.shape}, {d2.shape}, {l1.shape} and {l2.shape}"
        )
    if not d1.size:
        raise ValueError(
            "D1, D2, L1 and L2 are empty: at least two pairs of learning sets are needed"
        )
    if not (np.isin(l1, (0, 1)).all() and np.isin(l2, (0, 1)).all()):
        raise ValueError("L1 and L2 must contain 0 and 1 only")
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
