"""The parameters kappa_c, which predict the variance at another sample size."""

import math
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from ucvtest.common.checks import as_integer
from ucvtest.common.words import arg
from ucvtest.kernels.ustatistic.kappa import OverlapFit
from ucvtest.methods.ustatistic.estimation import Sampler, complete_sums, in_parts, most_pairs
from ucvtest.stats.monte_carlo import mean_error

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class KappaProfile:
    """Estimates of kappa_c, which predict the variance at another sample size.

    Parameters
    ----------
    c : tuple of int
        Numbers of observations that two sets S, S' of size g + 1 have in common.
    kappa : ndarray, shape (len(c),)
        Estimates of E[Phi_0(S) Phi_0(S')].
    mc_se : ndarray, shape (len(c),)
        Their Monte-Carlo standard errors; 0 for all learning sets.
    learn_size : int
    n_fits : int
    groups : ndarray, shape (K, len(c))
        The same estimates from K independent groups of draws.
    """

    c: tuple[int, ...]
    kappa: np.ndarray
    mc_se: np.ndarray
    learn_size: int
    n_fits: int
    groups: np.ndarray

    def variance(self, n: int) -> float:
        """Predicted variance of the complete error estimate from n observations.

        Parameters
        ----------
        n : int
            At least learn_size + 1.

        Returns
        -------
        float
            v(n) of (12). Unbiased, and therefore sometimes negative if n is large; see
            `variance_mc_se`.

        Raises
        ------
        ValueError
            If the profile does not contain a kappa_c that this sample size needs.
        """
        return float(self._weights(n) @ self.kappa)

    def variance_mc_se(self, n: int) -> float:
        """Monte-Carlo standard error of `variance`; 0 for all learning sets."""
        values = self.groups @ self._weights(n)
        return mean_error(values) if len(values) > 1 else 0.0

    def summary_frame(self) -> "pd.DataFrame":
        """One row for each c."""
        import pandas as pd

        return pd.DataFrame({"c": self.c, "kappa": self.kappa, "mc_se": self.mc_se})

    def _weights(self, n: int) -> np.ndarray:
        m = self.learn_size + 1
        if as_integer("n", n) < m:
            raise ValueError(f"{arg('n')} must be at least {arg('learn_size')} + 1 = {m}, got {n}")
        if 0 not in self.c:
            raise ValueError(
                "the profile does not contain kappa_0, the squared expectation, which needs a "
                f"sample of 2 * {arg('learn_size')} + 2 = {2 * m} observations or more: use a "
                f"smaller {arg('learn_size')}"
            )
        alpha = {c: comb(m, c) * comb(n - m, m - c) / comb(n, m) for c in range(m + 1)}
        missing = [c for c in range(1, m + 1) if alpha[c] > 0 and c not in self.c]
        if missing:
            raise ValueError(
                f"the profile does not contain kappa_c for c = {missing}: leave {arg('c_values')} "
                "out"
            )
        weights = {**alpha, 0: alpha[0] - 1.0}
        return np.array([weights[c] for c in self.c])


def complete_profile(sampler: Sampler, c_values: tuple[int, ...]) -> KappaProfile:
    """The profile from all learning sets."""
    kappa = complete_sums(sampler).kappas()[list(c_values)]
    no_error = np.zeros(len(kappa))
    learn_size, n_fits = sampler.sizes.learn_size, sampler.source.n_fits
    return KappaProfile(c_values, kappa, no_error, learn_size, n_fits, kappa[None])


def sampled_profile(sampler: Sampler, c_values: tuple[int, ...], n_pairs: int) -> KappaProfile:
    """The profile from random pairs, `n_pairs` for each overlap that it needs."""
    sizes = sampler.sizes
    fit = OverlapFit(sizes.n_obs, sizes.learn_size, n_pairs)
    stage_sizes = in_parts(n_pairs, most_pairs(sizes.n_obs))
    for size in stage_sizes:
        fit.add(sampler.overlapping(size, sizes.least_overlap))
    sums = fit.sums(c_values)
    for overlap in sums.overlaps:
        for size in stage_sizes:
            sums.add(overlap, sampler.overlapping(size, overlap))
    groups = sums.kappas()
    mc_se = groups.std(axis=0, ddof=1) / math.sqrt(len(groups))
    kappa, n_fits = groups.mean(axis=0), sampler.source.n_fits
    return KappaProfile(c_values, kappa, mc_se, sizes.learn_size, n_fits, groups)
