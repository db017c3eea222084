"""The squared error of cross-validation, from nested one: Bates, Hastie and Tibshirani (2024)."""

from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np

from ucvtest.stats.monte_carlo import mean_error


@dataclass(frozen=True, eq=False)
class NestedTerms:
    """What algorithm 1 of Bates, Hastie and Tibshirani (2024) collects in R repetitions.

    a, b (R, K): squared differences of the mean losses of the inner cross-validation and of fold j,
    and the estimated variance of the latter. inner (R, (K - 1) n), outer (R, n): losses of the
    rules learnt without two folds, and without one.
    """

    n_obs: int
    a: np.ndarray
    b: np.ndarray
    inner: np.ndarray
    outer: np.ndarray

    @classmethod
    def of(cls, folds: np.ndarray, testing: np.ndarray, values: np.ndarray) -> Self:
        """From the folds (R, n), the test sets of `NestedKFold`, and the losses they gave (T,)."""
        n_repeats, n_obs = folds.shape
        n_folds = int(folds.max()) + 1
        # Every repetition tests n observations without one fold, then (K - 1) n without two.
        values = values.reshape(n_repeats, n_folds * n_obs)
        testing = testing.reshape(n_repeats, -1, n_obs)
        repeat_terms = [
            _squared_differences(*repeat_arrays, n_folds)
            for repeat_arrays in zip(folds, testing, values, strict=True)
        ]
        a, b = (np.array(terms) for terms in zip(*repeat_terms, strict=True))
        return cls(n_obs, a, b, inner=values[:, n_obs:], outer=values[:, :n_obs])

    @property
    def n_repeats(self) -> int:
        """Repetitions."""
        return len(self.a)

    @property
    def n_folds(self) -> int:
        """K."""
        return int(self.a.shape[1])

    @property
    def mse(self) -> np.ndarray:
        """Estimates of the mean squared error with n(K - 1)/K observations, (R,)."""
        return self.a.mean(axis=1) - self.b.mean(axis=1)

    @property
    def naive_variance(self) -> float:
        """As if the losses were independent."""
        return float(self.inner.var(ddof=1)) / self.n_obs

    @property
    def rescaled_mse(self) -> float:
        """For n observations, not restricted."""
        return float(self.mse.mean()) * (self.n_folds - 1) / self.n_folds

    @property
    def variance(self) -> tuple[float, str]:
        """The restricted variance, and which bound it is: "none", "lower" or "upper"."""
        low = self.naive_variance
        high = self.n_folds * low
        if self.rescaled_mse < low:
            return low, "lower"
        if self.rescaled_mse > high:
            return high, "upper"
        return self.rescaled_mse, "none"

    @property
    def mc_se_mse(self) -> float:
        """Monte-Carlo error of `rescaled_mse`; NaN with one repetition."""
        return mean_error(self.mse) * (self.n_folds - 1) / self.n_folds

    def estimates(self, factor: float) -> np.ndarray:
        """The mean inner loss less `factor` times its distance to the outer one, (R,)."""
        mean_inner = self.inner.mean(axis=1)
        return mean_inner - factor * (mean_inner - self.outer.mean(axis=1))

    def estimate(self, factor: float) -> float:
        """The mean of `estimates` over the repetitions."""
        return float(self.estimates(factor).mean())


def _squared_differences(
    fold: np.ndarray, testing: np.ndarray, values: np.ndarray, n_folds: int
) -> tuple[np.ndarray, np.ndarray]:
    """a and b of one repetition, (K,) each."""
    table = np.full(testing.shape, np.nan)
    table[testing] = values
    single, pairs = table[:n_folds], table[n_folds:]
    row = np.zeros((n_folds, n_folds), dtype=int)
    for pair_number, (first, second) in enumerate(combinations(range(n_folds), 2)):
        row[first, second] = row[second, first] = pair_number
    in_other_folds = fold != np.arange(n_folds)[:, None]
    # inner[j, i]: the loss at i of the rule learnt without fold j and the fold of i.
    inner_losses = np.where(in_other_folds, pairs[row[:, fold], np.arange(len(fold))], 0.0)
    mean_inner = inner_losses.sum(axis=1) / in_other_folds.sum(axis=1)
    outer_losses = [
        losses[~is_other] for losses, is_other in zip(single, in_other_folds, strict=True)
    ]
    mean_outer = np.array([losses.mean() for losses in outer_losses])
    noise = np.array([losses.var(ddof=1) / len(losses) for losses in outer_losses])
    return (mean_inner - mean_outer) ** 2, noise


def bias_factor(n_folds: int, power: float = 1.0) -> float:
    """How many times the step from K - 2 to K - 1 folds is the step from K - 2 to all K.

    `power` is 1 for a learning curve e + c/m.
    """
    return 1 + ((n_folds - 2) / n_folds) ** power
