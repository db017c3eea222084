"""The parameters kappa_c, which predict the variance at another sample size."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ucvtest.common.checks import as_integer
from ucvtest.common.words import arg, excerpt
from ucvtest.designs.draws import draw_orders, learning_sets
from ucvtest.inference.question import Question
from ucvtest.kernels.ustatistic.exact import CompleteProducts
from ucvtest.kernels.ustatistic.rows import Rows, Strata
from ucvtest.kernels.ustatistic.unbiased import OverlapSums
from ucvtest.methods.ustatistic.learning_sets import LearningSets
from ucvtest.methods.ustatistic.options import default_max_fits
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


def overlaps_of(
    question: Question,
    learning_sets: LearningSets,
    c_values: Any,
    n_pairs: int | Literal["exact"],
) -> tuple[int, ...]:
    """The numbers of common observations that are asked for, if there is a profile; or all."""
    # Losses that were computed before do not suffice.
    question.data("kappa_profile")
    sizes = learning_sets.sizes
    if learning_sets.contrast == "ratio":
        raise ValueError(
            "kappa_profile is about a mean of loss differences: use "
            f"{arg('contrast', 'difference')}"
        )
    if question.metric.linearised:
        raise ValueError(
            "kappa_profile is about a mean of losses, which "
            f"{arg('metric', question.metric.name)} is not: use a loss"
        )
    if not isinstance(sizes, Sizes):
        raise ValueError(
            "kappa_profile is about a mean of losses, which the AUC is not: use another loss"
        )
    if question.clusters is not None and question.clusters.offset is not None:
        raise ValueError(
            f"kappa_profile is about a mean of losses, and {arg('group_weight', 'row')} makes "
            "it a ratio: use 'group'"
        )
    if question.worth:
        raise ValueError(
            "kappa_profile is about a mean of losses over rows that count alike: leave "
            f"{arg('weights')} out, or pass weights for 'fit' alone"
        )
    if n_pairs == "exact":
        learners = tuple(question.learners.values())
        sizes.check_enumeration(len(learners), default_max_fits(learners), "use a number of pairs")
        if not sizes.disjoint:
            raise ValueError(
                f"{arg('n_pairs', 'exact')} needs n >= 2 * {arg('learn_size')} + 2 here, got n = "
                f"{sizes.n_obs} and learn_size = {sizes.learn_size}: use a number of pairs"
            )
    m = sizes.learn_size + 1
    lowest = max(0, 2 * m - sizes.n_obs)
    if c_values is None:
        return tuple(range(lowest, m + 1))
    if not isinstance(c_values, Iterable) or getattr(c_values, "ndim", 1) == 0:
        raise ValueError(
            f"c_values must be a sequence of integers, got {excerpt(c_values)}: leave it out"
        )
    overlaps = tuple(sorted({as_integer("c_values", c) for c in c_values}))
    if not overlaps or overlaps[0] < lowest or overlaps[-1] > m:
        raise ValueError(
            f"c_values must be integers from {lowest} to {m} = {arg('learn_size')} + 1, got "
            f"{list(c_values)}"
        )
    return overlaps


def profile(
    sampler: Sampler, sizes: Sizes, c_values: tuple[int, ...], n_pairs: int | Literal["exact"]
) -> KappaProfile:
    """From all learning sets, or from `n_pairs` random pairs for each overlap that it needs."""
    strata, source = Strata.single(sizes.n_obs, sizes.learn_size), sampler.source
    if n_pairs == "exact":
        products = CompleteProducts(strata, 1)
        for learning in sampler.enumerated():
            drawn = sampler.of_sets(learning, np.zeros(len(learning), dtype=int))
            products.add_all(_losses(sampler, drawn)[None], learning)
        groups = products.kappas()[None, list(c_values), 0, 0]
        kappa, mc_se = groups[0], np.zeros(len(c_values))
        return KappaProfile(c_values, kappa, mc_se, sizes.learn_size, source.n_fits, groups)
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
    kappa, mc_se = groups.mean(axis=0), groups.std(axis=0, ddof=1) / math.sqrt(len(groups))
    return KappaProfile(c_values, kappa, mc_se, sizes.learn_size, source.n_fits, groups)


def _overlapping(sampler: Sampler, sizes: Sizes, n_draws: int, overlap: int) -> Drawn:
    """Draws of two sets with `overlap` observations in common, first the first sets of all."""
    orders, g = draw_orders(sampler.generator, n_draws, sizes.n_obs), sizes.learn_size
    sets = [learning_sets(orders, 0, g), learning_sets(orders, g - overlap, g)]
    return sampler.of_sets(np.concatenate(sets), np.tile(np.arange(n_draws), 2))


def _losses(sampler: Sampler, drawn: Drawn) -> np.ndarray:
    """Losses, or their differences."""
    first, *other = sampler.fitted(drawn)[1]
    return np.asarray(first - other[0] if other else first)
