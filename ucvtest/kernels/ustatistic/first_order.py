"""Mean losses of several learners, with the delete-one jackknife: no more than the first order."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ucvtest.kernels.ustatistic.variances import crossed_product, first_order_factor

__all__ = ["FirstOrder", "FirstOrderEstimate"]

N_GROUPS = 8
"""Groups of draws, of whose products the jackknife consists: a square would add its own noise."""

SETS_FOR_EFFECTS, NOISE_OF_EFFECTS = 32, 1 / 16
"""Learning sets for each observation, and the noise of a sum of squared effects as a share of the
jackknife, after which effects are not summed any more. Products of groups are free of that noise on
average; what it leaves of error is about its share divided by the square root of n."""


class FirstOrderEstimate(NamedTuple):
    """A mean loss and its delete-one jackknife variance, with their Monte-Carlo errors."""

    mean: float
    jackknife: float
    mc_se: float
    mc_se_jackknife: float


class FirstOrder:
    """Sums over learning sets L of one size, and over S, which is L with one tested observation.

    With `complete` sums all learning sets will be added, and nothing is left to chance.
    """

    def __init__(
        self, n_obs: int, learn_size: int, n_learners: int, *, complete: bool = False
    ) -> None:
        self._n, self._g, self._complete = n_obs, learn_size, complete
        self._n_groups = 1 if complete else N_GROUPS
        # Mean losses of n - g observations, whose variance the first-order factor multiplies.
        for_noise = first_order_factor(n_obs, learn_size + 1) * learn_size / NOISE_OF_EFFECTS
        self._sets_for_effects = max(SETS_FOR_EFFECTS * n_obs, int(for_noise))
        self._n_sets, self._totals = 0, np.zeros(n_learners)
        self._count = np.zeros(self._n_groups)
        self._learnt = np.zeros((self._n_groups, n_obs))
        self._means = np.zeros((n_learners, self._n_groups))
        self._effects = np.zeros((n_learners, self._n_groups, n_obs))

    def add(self, each: Sequence[np.ndarray], learning: np.ndarray, draw: np.ndarray) -> None:
        """Add losses (R, n) of each learner, 0 inside L; `draw` says which sets depend on others.

        Counts of errors can be small integers. Rows beyond those of `draw` are left out.
        """
        n_rows, n_tested = len(draw), self._n - self._g
        self._n_sets += n_rows
        for learner, losses in enumerate(each):
            self._totals[learner] += _sum(losses[:n_rows])
        for group, rows in self._dealt(draw):
            learnt = learning[rows]
            self._count[group] += len(rows)
            self._learnt[group] += learnt.sum(axis=0)
            for learner, losses in enumerate(each):
                total, inside = _sums(losses[rows], learnt)
                self._means[learner, group] += total / n_tested
                self._effects[learner, group] += inside / n_tested

    def _dealt(self, draw: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """The rows of each group, as many as effects still need."""
        used, group = np.ones(len(draw), dtype=bool), draw % self._n_groups
        if not self._complete:
            missing = self._sets_for_effects - int(self._count.sum())
            # Whole draws, as many as have that many sets.
            used = draw * (len(draw) / (draw.max() + 1)) < missing
        listed = [(k, np.flatnonzero(used & (group == k))) for k in range(self._n_groups)]
        return [(k, rows) for k, rows in listed if len(rows)]

    def estimates(self) -> tuple[FirstOrderEstimate, ...]:
        """The estimates of each learner from what has been added so far."""
        return tuple(self._estimate(learner) for learner in range(len(self._totals)))

    def _estimate(self, learner: int) -> FirstOrderEstimate:
        n, g = self._n, self._g
        m, total = g + 1, self._count.sum()
        mean = float(self._totals[learner] / (self._n_sets * (n - g)))
        # Effects do not depend on the level of the losses; around zero they are less noisy.
        centre = self._means[learner].sum() / total
        moved = self._means[learner] - centre * self._count
        held = self._learnt + (self._count[:, None] - self._learnt) / (n - g)
        b = self._effects[learner] - centre * held - m / n * moved[:, None]
        if self._complete:
            jackknife = first_order_factor(n, m) * float((b[0] ** 2).sum()) / float(total) ** 2
            return FirstOrderEstimate(mean, jackknife, 0.0, 0.0)
        filled = self._count > 0
        b, count, k = b[filled], self._count[filled], int(filled.sum())
        keep = np.vstack([np.ones(k), 1 - np.eye(k)])
        squares = first_order_factor(n, m) * crossed_product(b, keep, count * keep)
        of_mean = (moved**2).sum() / total**2 * k / (k - 1) if k > 1 else np.nan
        return FirstOrderEstimate(
            mean=mean,
            jackknife=float(squares[0]),
            # Effects can be of fewer sets than the mean.
            mc_se=float(np.sqrt(of_mean * total / self._n_sets)),
            mc_se_jackknife=float(np.sqrt((k - 1) / k * ((squares[1:] - squares[0]) ** 2).sum())),
        )


def _sums(losses: np.ndarray, learnt: np.ndarray) -> tuple[float, np.ndarray]:
    """Sum of the losses (R, n), and for each observation that over the S which hold it, (n,)."""
    rows = losses.sum(axis=1, dtype=float)
    # Without BLAS, whose threads would go on spinning for a while.
    inside = np.einsum("r,rn->n", rows, learnt) + losses.sum(axis=0, dtype=float)
    return float(rows.sum()), inside


def _sum(losses: np.ndarray) -> float:
    """Their sum; of counts of errors, 0 or 1, the fast way."""
    if losses.dtype == np.int8:
        return float(np.count_nonzero(losses))
    return float(losses.sum())
