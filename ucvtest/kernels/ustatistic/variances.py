"""Variance estimates from sums over pairs."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

__all__ = [
    "MonteCarloEstimates",
    "clipped",
    "crossed_product",
    "error_of_clipping",
    "geometric",
    "pair_effects_factor",
]


@dataclass(frozen=True)
class MonteCarloEstimates:
    """Estimates by name, and the Monte-Carlo standard error of each."""

    values: Mapping[str, float]
    mc_se: Mapping[str, float]


def pair_effects_factor(n: int, m: int) -> float:
    """M2 over the sum of squared pair effects tau_ij, i < j."""
    return (n - 1) * (n - 2) ** 2 * (n - 3) / ((n - m) * (n - m - 1)) ** 2


def geometric(jackknife: float, second: float) -> float:
    """J^2/(J + M2): the variance if its components fall geometrically with their degree."""
    return jackknife**2 / (jackknife + second) if jackknife > 0 else jackknife


def clipped(unbiased: float, lower: float, upper: float) -> float:
    """The unbiased estimate, clipped to [geometric, jackknife]."""
    return float(np.clip(unbiased, lower, upper))


def error_of_clipping(values: Mapping[str, float], mc_se: float) -> float:
    """Root mean square error of the clipped variance if the unbiased one errs normally.

    At a bound the clipped value hardly moves when a group is left out, although another
    sample of learning sets could have taken it far inside.
    """
    errors = mc_se * ndtri((np.arange(200) + 0.5) / 200)
    moved = np.clip(values["unbiased"] + errors, values["geometric"], values["jackknife"])
    return float(np.sqrt(np.mean((moved - values["clipped"]) ** 2)))


def crossed_product(vectors: np.ndarray, keep: np.ndarray, count: np.ndarray) -> np.ndarray:
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
