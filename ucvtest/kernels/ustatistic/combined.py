"""A weighted sum of several learners' mean losses, from sums over the same draws."""

from collections.abc import Sequence

import numpy as np

from ucvtest.kernels.ustatistic.first_order import Combined, FirstOrderEstimate
from ucvtest.kernels.ustatistic.variances import Sums, crossed_product, first_order_factor

__all__ = ["combined"]


def combined(each: Sequence[Sums], weights: np.ndarray) -> Combined:
    """The sum of the mean losses, each times its weight; everything first-order is linear."""
    n, m = each[0].n_obs, each[0].learn_size + 1
    b, mean = (
        sum(w * one.totals[key] for w, one in zip(weights, each, strict=True))
        for key in ("b", "mean")
    )
    groups = each[0].totals["count"]
    k = len(groups)
    # All groups, and all but one of them.
    keep = np.vstack([np.ones(k), 1 - np.eye(k)])
    count = groups * keep
    means = (mean * keep).sum(axis=1) / count.sum(axis=1)
    squares = first_order_factor(n, m) * crossed_product(b, keep, count)
    found = FirstOrderEstimate(
        mean=float(means[0]),
        jackknife=float(squares[0]),
        mc_se=_error(means),
        mc_se_jackknife=_error(squares),
    )
    return Combined(found, b.sum(axis=0) / groups.sum())


def _error(values: np.ndarray) -> float:
    """From the values without one of the groups, behind that of all."""
    k = len(values) - 1
    return float(np.sqrt((k - 1) / k * ((values[1:] - values[0]) ** 2).sum()))
