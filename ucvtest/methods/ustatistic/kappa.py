"""The parameters kappa_c, which predict the variance at another sample size."""

import math
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from ucvtest.common.checks import as_integer
from ucvtest.common.words import arg
from ucvtest.designs.draws import draw_orders, learning_sets
from ucvtest.kernels.ustatistic.exact import CompleteProducts
from ucvtest.kernels.ustatistic.rows import Rows, Strata
from ucvtest.kernels.ustatistic.unbiased import OverlapSums
from ucvtest.methods.ustatistic.run import Drawn, Sampler, in_parts, most_pairs
from ucvtest.methods.ustatistic.sizes import Sizes
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


def complete_profile(sampler: Sampler, sizes: Sizes, c_values: tuple[int, ...]) -> KappaProfile:
    """The profile from all learning sets."""
    products = CompleteProducts(Strata.single(sizes.n_obs, sizes.learn_size), 1)
    for learning in sampler.enumerated():
        drawn = sampler.of_sets(learning, np.zeros(len(learning), dtype=int))
        products.add_all(_losses(sampler, drawn)[None], learning)
    kappa = products.kappas()[list(c_values), 0, 0]
    n_fits, no_error = sampler.source.n_fits, np.zeros(len(kappa))
    return KappaProfile(c_values, kappa, no_error, sizes.learn_size, n_fits, kappa[None])


def sampled_profile(
    sampler: Sampler, sizes: Sizes, c_values: tuple[int, ...], n_pairs: int
) -> KappaProfile:
    """The profile from random pairs, `n_pairs` for each overlap that it needs."""
    strata = Strata.single(sizes.n_obs, sizes.learn_size)
    stage_sizes = in_parts(n_pairs, most_pairs(sizes.n_obs))
    rows, n_draws = Rows(strata, 1, pairs=False), 0
    for size in stage_sizes:
        drawn = _overlapping(sampler, sizes, size, sizes.least_overlap)
        rows.add(_losses(sampler, drawn)[None], drawn.learning, n_draws + drawn.draw)
        n_draws += size
    sums = OverlapSums(strata, rows.fit(), c_values)
    for overlap in sums.overlaps:
        for size in stage_sizes:
            drawn = _overlapping(sampler, sizes, size, overlap)
            sums.add(overlap, _losses(sampler, drawn), drawn.learning)
    groups = sums.kappas()
    mc_se = groups.std(axis=0, ddof=1) / math.sqrt(len(groups))
    kappa, n_fits = groups.mean(axis=0), sampler.source.n_fits
    return KappaProfile(c_values, kappa, mc_se, sizes.learn_size, n_fits, groups)


def _overlapping(sampler: Sampler, sizes: Sizes, n_draws: int, overlap: int) -> Drawn:
    """Draws of two sets with `overlap` observations in common, first the first sets of all."""
    orders, g = draw_orders(sampler.generator, n_draws, sizes.n_obs), sizes.learn_size
    sets = [learning_sets(orders, 0, g), learning_sets(orders, g - overlap, g)]
    return sampler.of_sets(np.concatenate(sets), np.tile(np.arange(n_draws), 2))


def _losses(sampler: Sampler, drawn: Drawn) -> np.ndarray:
    """Losses, or their differences."""
    first, *other = sampler.fitted(drawn)[1]
    return np.asarray(first - other[0] if other else first)
