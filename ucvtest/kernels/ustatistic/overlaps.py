"""Sums over pairs of learning sets with a given overlap."""

from collections.abc import Iterable

import numpy as np

from ucvtest.kernels.ustatistic.accumulator import add_up
from ucvtest.kernels.ustatistic.additive import AdditiveFit
from ucvtest.kernels.ustatistic.groups import Dealt, Draws, groups_of_draws
from ucvtest.kernels.ustatistic.residuals import residual_call


class OverlapSums:
    """Sums over pairs of learning sets with given overlaps, for the parameters kappa_c.

    Parameters
    ----------
    n_obs, learn_size : int
    n_draws : int
        Pairs that will be added for each overlap.
    """

    def __init__(self, n_obs: int, learn_size: int, n_draws: int) -> None:
        self.n_obs, self.learn_size = n_obs, learn_size
        self.n_groups = groups_of_draws(n_obs, n_draws)
        self._fit = AdditiveFit()
        self._sums: dict[int, dict[str, np.ndarray]] = {}

    def overlaps_for(self, c_values: Iterable[int]) -> tuple[int, ...]:
        """The overlaps of learning sets that sets with c observations in common come from."""
        return tuple(sorted({o for c in c_values for o, _, _ in self._cases(c)}))

    def fit_additive(self, draws: Draws) -> None:
        """Add draws to the additive fit; they must not be used again."""
        for call in Dealt.deal(draws, self.n_groups).calls():
            self._fit.add(*call)

    def add(self, overlap: int, draws: Draws) -> None:
        """Add draws of two sets with so many observations in common."""
        centre, a, d = self._fit.solve(self.n_obs, self.learn_size)
        shape = (self.n_groups, self.n_obs)
        additive = (
            np.full(self.n_groups, centre),
            np.broadcast_to(a, shape).copy(),
            np.broadcast_to(d, shape).copy(),
        )
        sums = self._sums.setdefault(overlap, {})
        for call in Dealt.deal(draws, self.n_groups).calls():
            update = residual_call(*call, additive, self.learn_size, overlap, pair_effects=False)
            add_up(sums, update)

    def kappas(self, c_values: Iterable[int]) -> np.ndarray:
        """Estimates of kappa_c from each group of draws, (K, number of values)."""
        count, mean, effect = (
            np.sum([sums[key] for sums in self._sums.values()], axis=0)
            for key in ("count", "mean", "effect")
        )
        mean, effect = mean / count, effect / count[:, None]
        return np.column_stack([self._kappa(c, mean, effect) for c in c_values])

    def _kappa(self, c: int, mean: np.ndarray, effect: np.ndarray) -> np.ndarray:
        n, m = self.n_obs, self.learn_size + 1
        centre, a, d = self._fit.solve(n, self.learn_size)
        h = self.learn_size * a + d
        of_residual = np.zeros(self.n_groups)
        for overlap, kind, weight in self._cases(c):
            of_residual += weight * self._sums[overlap][kind] / self._sums[overlap]["n_products"]
        of_both = centre * mean + (c / m - (m - c) / (n - m)) * (effect @ h) / m
        of_additive = centre**2 + (c / n - (m**2 - c) / (n * (n - 1))) * (h @ h) / m**2
        return of_residual + 2 * of_both + of_additive

    def _cases(self, c: int) -> list[tuple[int, str, float]]:
        """Overlap of the learning sets, which observations are tested, and how often.

        An observation that S and S' share is learnt from in both, tested in one, or tested
        in both.
        """
        m = self.learn_size + 1
        cases = [
            (c, "product", (m - c) ** 2 / m**2),
            (c - 1, "crossed", 2 * c * (m - c) / m**2),
            (c - 1, "diagonal", c / m**2),
            (c - 2, "swapped", c * (c - 1) / m**2),
        ]
        return [case for case in cases if case[2] > 0]
