"""Mean losses of several learners, with the delete-one jackknife: no more than the first order."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ucvtest.kernels.ustatistic.variances import Sums, crossed_product
from ucvtest.stats.jackknife import (
    error_of_groups,
    first_order_factor,
    leave_one_out_weights,
    test_effects,
)

N_GROUPS = 8
"""Groups of draws, of whose products the jackknife consists: a square would add its own noise."""

LEAST_SETS, SETS_FOR_EFFECTS, NOISE_OF_EFFECTS = 4000, 32, 1 / 16
"""Learning sets in all, and for each observation, and the noise of a sum of squared effects as a
share of the jackknife, after which effects are not summed any more: they cost several times what
means do. Products of groups are free of that noise on average; the error that it leaves is a few
percent of the jackknife."""


class FirstOrderEstimate(NamedTuple):
    """A mean loss and its delete-one jackknife variance, with their Monte-Carlo errors."""

    mean: float
    jackknife: float
    mc_se: float
    mc_se_jackknife: float


class Combined(NamedTuple):
    """A weighted sum of mean losses, and its first-order effects b (n,)."""

    estimate: FirstOrderEstimate
    effects: np.ndarray


class FirstOrder:
    """Sums over learning sets L of one size, and over S, which is L with one tested observation.

    With `complete` sums all learning sets will be added, and nothing is left to chance. Estimates
    are those of the losses plus their mean times `offset`, as for ratios of means.
    """

    def __init__(
        self,
        n_obs: int,
        learn_size: int,
        n_learners: int,
        *,
        complete: bool = False,
        offset: np.ndarray | None = None,
    ) -> None:
        self._offset = offset
        self._n, self._g, self._complete = n_obs, learn_size, complete
        self._n_groups = 1 if complete else N_GROUPS
        # Mean losses of n - g observations, whose variance the first-order factor multiplies.
        for_noise = first_order_factor(n_obs, learn_size + 1) * learn_size / NOISE_OF_EFFECTS
        self._sets_for_effects = max(LEAST_SETS, SETS_FOR_EFFECTS * n_obs, int(for_noise))
        self._n_sets, self._totals = 0, np.zeros(n_learners)
        self._n_draws = self._n_draws_used = 0
        self._count = np.zeros(self._n_groups)
        self._learnt = np.zeros((self._n_groups, n_obs))
        self._means = np.zeros((n_learners, self._n_groups))
        self._effects = np.zeros((n_learners, self._n_groups, n_obs))

    def add(
        self, learner_losses: Sequence[np.ndarray], learning: np.ndarray, draw: np.ndarray
    ) -> None:
        """Add losses (R, n) of each learner, 0 inside L; `draw` says which sets depend on others.

        Counts of errors can be small integers. Rows beyond those of `draw` are left out.
        """
        n_rows, n_tested = len(draw), self._n - self._g
        self._n_sets += n_rows
        for learner, losses in enumerate(learner_losses):
            self._totals[learner] += _sum(losses[:n_rows])
        used_rows = self._used_rows(draw)
        for group in range(self._n_groups):
            rows = used_rows[draw[used_rows] % self._n_groups == group]
            if not len(rows):
                continue
            learnt = learning[rows]
            self._count[group] += len(rows)
            self._learnt[group] += learnt.sum(axis=0)
            for learner, losses in enumerate(learner_losses):
                total, inside = _sums(losses[rows], learnt)
                self._means[learner, group] += total / n_tested
                self._effects[learner, group] += inside / n_tested

    def _used_rows(self, draw: np.ndarray) -> np.ndarray:
        """The rows whose effects are summed, until there are enough."""
        if self._complete:
            return np.arange(len(draw))
        n_draws, n_so_far = int(draw.max()) + 1, self._count.sum()
        # Sets of one draw overlap, so that one a side of many draws tells more than all of few;
        # only the first half is filled with whatever there is.
        room = self._sets_for_effects / 2 - n_so_far
        most_steps = max(1, len(draw) // (2 * n_draws))
        step = min(most_steps, -int(-len(draw) // room)) if room > 0 else most_steps
        rows = np.arange(0, len(draw), step)
        rows = rows[draw[rows] * (len(rows) / n_draws) < self._sets_for_effects - n_so_far]
        self._n_draws += n_draws
        self._n_draws_used += int(draw[rows].max()) + 1 if len(rows) else 0
        return rows

    def estimates(self) -> tuple[FirstOrderEstimate, ...]:
        """The estimates of each learner from the sums so far."""
        return tuple(self.combined(weights).estimate for weights in np.eye(len(self._totals)))

    @property
    def means(self) -> np.ndarray:
        """The mean loss of each learner."""
        return self._totals / (self._n_sets * (self._n - self._g))

    def combined(self, weights: np.ndarray) -> Combined:
        """The sum of the mean losses, each times its weight."""
        n, g = self._n, self._g
        m, total = g + 1, self._count.sum()
        mean = float(weights @ self.means)
        means = np.einsum("l,lk->k", weights, self._means)
        effects = np.einsum("l,lkn->kn", weights, self._effects)
        # Effects do not depend on the level of the losses; around zero they are less noisy.
        centre = means.sum() / total
        moved = means - centre * self._count
        inclusion_weights = self._learnt + (self._count[:, None] - self._learnt) / (n - g)
        b = effects - centre * inclusion_weights - m / n * moved[:, None]
        if self._offset is not None:
            b += mean * self._count[:, None] * test_effects(n, m, self._offset)
        return Combined(self._estimate(mean, b, moved), b.sum(axis=0) / total)

    def _estimate(self, mean: float, b: np.ndarray, moved: np.ndarray) -> FirstOrderEstimate:
        """From the effects (K, n) and the sums (K,) of the groups, both around their mean."""
        n, m, total = self._n, self._g + 1, self._count.sum()
        if self._complete:
            jackknife = first_order_factor(n, m) * float((b[0] ** 2).sum()) / float(total) ** 2
            return FirstOrderEstimate(mean, jackknife, 0.0, 0.0)
        filled = self._count > 0
        b, count, k = b[filled], self._count[filled], int(filled.sum())
        group_selections = leave_one_out_weights(k)
        squares = first_order_factor(n, m) * crossed_product(
            b, group_selections, count * group_selections
        )
        of_mean = (moved**2).sum() / total**2 * k / (k - 1) if k > 1 else np.nan
        return FirstOrderEstimate(
            mean=mean,
            jackknife=float(squares[0]),
            # Effects can be of fewer draws than the mean.
            mc_se=float(np.sqrt(of_mean * self._n_draws_used / self._n_draws)),
            mc_se_jackknife=float(error_of_groups(squares[1:] - squares[0])),
        )


def combined(learner_sums: Sequence[Sums], weights: np.ndarray) -> Combined:
    """A weighted sum of several learners' mean losses, from sums over the same pairs of sets.

    Everything first-order is linear in the losses.
    """
    n, m = learner_sums[0].n_obs, learner_sums[0].learn_size + 1
    b, mean = (
        sum(
            w * sums_of_learner.totals[key]
            for w, sums_of_learner in zip(weights, learner_sums, strict=True)
        )
        for key in ("b", "mean")
    )
    groups = learner_sums[0].totals["count"]
    group_selections = leave_one_out_weights(len(groups))
    count = groups * group_selections
    means = (mean * group_selections).sum(axis=1) / count.sum(axis=1)
    squares = first_order_factor(n, m) * crossed_product(b, group_selections, count)
    estimate = FirstOrderEstimate(
        mean=float(means[0]),
        jackknife=float(squares[0]),
        mc_se=float(error_of_groups(means[1:] - means[0])),
        mc_se_jackknife=float(error_of_groups(squares[1:] - squares[0])),
    )
    return Combined(estimate, b.sum(axis=0) / groups.sum())


def _sums(losses: np.ndarray, learnt: np.ndarray) -> tuple[float, np.ndarray]:
    """Sum of the losses (R, n), and for each observation that over the S which contain it, (n,)."""
    rows = losses.sum(axis=1, dtype=float)
    # Without BLAS, whose threads would go on spinning for a while.
    inside = np.einsum("r,rn->n", rows, learnt) + losses.sum(axis=0, dtype=float)
    return float(rows.sum()), inside


def _sum(losses: np.ndarray) -> float:
    """Their sum; of counts of errors, 0 or 1, the fast way."""
    if losses.dtype == np.int8:
        return float(np.count_nonzero(losses))
    return float(losses.sum())
