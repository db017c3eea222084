"""The parameters kappa_c, from pairs of learning sets that overlap by a given number."""

from collections.abc import Iterable

import numpy as np

from ucvtest.kernels.ustatistic.control_variate import AdditiveFit, Fits
from ucvtest.kernels.ustatistic.monte_carlo_groups import Dealt, Draws, number_of_groups
from ucvtest.kernels.ustatistic.residuals import add_up, residual_sums


class OverlapFit:
    """The additive fit that is subtracted from pairs with given overlaps, `n_draws` for each."""

    def __init__(self, n_obs: int, learn_size: int, n_draws: int) -> None:
        self.n_obs, self.learn_size = n_obs, learn_size
        self.n_groups = number_of_groups(n_obs, n_draws)
        self._fit = AdditiveFit(n_obs, learn_size)

    def add(self, draws: Draws) -> None:
        """Add draws to the fit; they must not be added to the sums."""
        self._fit.add(Dealt.deal(draws, self.n_groups))

    def sums(self, c_values: Iterable[int]) -> "OverlapSums":
        """Start the sums over pairs that some kappa_c need."""
        centre, a, d = self._fit.solve()
        shape = (self.n_groups, self.n_obs)
        additive = (
            np.full(self.n_groups, centre),
            np.broadcast_to(a, shape).copy(),
            np.broadcast_to(d, shape).copy(),
        )
        return OverlapSums(additive, self.learn_size, tuple(c_values))


class OverlapSums:
    """Sums over pairs of learning sets with given overlaps; made by `OverlapFit.sums`.

    `c_values`: numbers of observations in common of the sets S and S' whose kappa_c is estimated.
    """

    def __init__(self, additive: Fits, learn_size: int, c_values: tuple[int, ...]) -> None:
        self.learn_size, self.c_values = learn_size, c_values
        self._additive = additive
        self._sums: dict[int, dict[str, np.ndarray]] = {}

    @property
    def overlaps(self) -> tuple[int, ...]:
        """The overlaps of learning sets that must be added."""
        return tuple(sorted({o for c in self.c_values for o, _, _ in self._cases(c)}))

    def add(self, overlap: int, draws: Draws) -> None:
        """Add draws of two sets with `overlap` observations in common."""
        sums = self._sums.setdefault(overlap, {})
        for call in Dealt.deal(draws, len(self._additive[0])).calls():
            add_up(sums, residual_sums(*call, self._additive, self.learn_size, overlap))

    def kappas(self) -> np.ndarray:
        """Estimates of kappa_c from each group of draws, (K, number of values)."""
        count, mean, effect = (
            np.sum([sums[key] for sums in self._sums.values()], axis=0)
            for key in ("count", "mean", "effect")
        )
        mean, effect = mean / count, effect / count[:, None]
        return np.column_stack([self._kappa(c, mean, effect) for c in self.c_values])

    def _kappa(self, c: int, mean: np.ndarray, effect: np.ndarray) -> np.ndarray:
        centre, a, d = (fit_part[0] for fit_part in self._additive)
        n, m = len(a), self.learn_size + 1
        h = self.learn_size * a + d
        of_residual = np.zeros(len(mean))
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
