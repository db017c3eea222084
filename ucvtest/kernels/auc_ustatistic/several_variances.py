"""From sums over learning sets to the AUC of several classes, with its variances.

Pair effects of an additive function of learnt and tested observations are zero. The pair effects of
the fit are therefore subtracted, which only needs the learning sets. See `several_classes`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ucvtest.kernels.auc_ustatistic.blocks import N_BLOCKS
from ucvtest.kernels.auc_ustatistic.first_order import (
    FirstOrder,
    complete_factors,
    mean_placements,
)
from ucvtest.kernels.auc_ustatistic.ranked import NoVariance
from ucvtest.kernels.auc_ustatistic.several_classes import Classes, ClasswiseSums
from ucvtest.kernels.auc_ustatistic.variances import (
    AucEstimate,
    BlockGroups,
    VarianceParts,
    auc_estimate,
    pair_factor,
)
from ucvtest.stats.conjugate_gradients import conjugate_gradients
from ucvtest.stats.jackknife import first_order_factor

ROUNDING = 1e-13
"""What AUCs differ by, at most, that are the same."""


class SeveralClasses(ClasswiseSums):
    """Sums over the rankings of class-wise scores, with the estimates from them."""

    def mean(self, contrast: Sequence[float]) -> float:
        """The mean AUC, or a linear combination of them with a weight for each learner."""
        return float(np.asarray(contrast, dtype=float) @ self.rows.mean(axis=1))

    def estimate(self, contrast: Sequence[float]) -> AucEstimate:
        """The estimate and its variances for a linear combination of the learners."""
        weights = np.asarray(contrast, dtype=float)
        weighted_sums = {
            name: np.tensordot(weights, values, 1) for name, values in self.of_learners.items()
        }
        contrast_sums = _Contrast(self, weighted_sums, np.tensordot(weights, self.rows, 1))
        all_blocks = contrast_sums.first_order(np.arange(N_BLOCKS))
        error = 0.0 if self.exact else _error_of_mean(contrast_sums, all_blocks)
        return auc_estimate(all_blocks.auc, _variance_parts(contrast_sums, all_blocks), error)

    def why_flat(self) -> NoVariance:
        """Why one learner has no variance."""
        rows = self.rows
        if (np.abs(rows - 1) < ROUNDING).all() or (np.abs(rows) < ROUNDING).all():
            return NoVariance.SEPARATED
        return NoVariance.CLASSES_ALIKE


@dataclass(frozen=True, eq=False)
class _Contrast:
    """The sums of one learner, or of a difference of two: all is linear in the rankings."""

    sums: ClasswiseSums
    of: Mapping[str, np.ndarray]
    rows: np.ndarray

    @property
    def classes(self) -> Classes:
        return self.sums.classes

    def first_order(self, blocks: np.ndarray) -> "_Linear":
        """The effects of single observations from some of the blocks."""
        sums, classes = self.sums, self.classes
        count = sums.count[blocks].sum()
        auc = self.of["auc"][blocks].sum() / count
        learnt = sums.learnt[blocks].sum(axis=0) / count
        response = self.of["learnt_auc"][blocks].sum(axis=0) / count - learnt * auc
        if sums.exact:
            # All learning sets: the products of their indicators are known.
            eta = complete_factors(classes.shape)[classes.place] * response
        else:
            learnt_together = sums.together[blocks].sum(axis=0) / count
            gram = learnt_together - np.outer(learnt, learnt)
            response = classes.centred(response)
            # Rounding errors alone would not be solved for, but grow.
            noise = np.abs(response).max() <= ROUNDING
            # Of smallest length: learning sets of one size leave a direction a class open.
            eta = np.zeros_like(response) if noise else conjugate_gradients(gram, response, 1e-12)
        eta = classes.centred(eta)
        tested = count * (1 - learnt)
        placed = self.of["placed"][blocks].sum(axis=0)
        mean = mean_placements(placed, tested, auc)
        return _Linear(classes, float(auc - learnt @ eta), eta, classes.centred(mean))


@dataclass(frozen=True, eq=False)
class _Linear:
    """U, the coefficients eta (n,) of M(L), and deviations (n,) of mean placements."""

    classes: Classes
    auc: float
    learning: np.ndarray
    testing: np.ndarray

    @property
    def _first_order(self) -> FirstOrder:
        """The same, class after class."""
        order = self.classes.order
        return FirstOrder(np.asarray(self.auc), self.learning[order], self.testing[order])

    @property
    def contributions(self) -> np.ndarray:
        """b (n,), class after class."""
        return self._first_order.contributions(self.classes.shape)

    @property
    def tested(self) -> np.ndarray:
        """d (n,) of the additive fit U + sum of lambda over L + sum of d of tested observations."""
        return self._first_order.additive_testing(self.classes.shape)[self.classes.place]


def _error_of_mean(contrast: _Contrast, linear_fit: _Linear) -> float:
    """Monte-Carlo standard error of the AUC: its residuals, summed over the rows of each draw.

    The fit of the coefficients makes residuals smaller than errors are, and has its own noise.
    """
    sums = contrast.sums
    residuals = contrast.rows - sums.learning @ linear_fit.learning
    by_draw = np.bincount(sums.draw, residuals - residuals.mean())
    n_rows, n_draws = len(residuals), len(by_draw)
    shape = sums.classes.shape
    freedom = 1 - (shape.n_obs - len(shape.sizes) + 1) / n_rows
    squares = (by_draw**2).sum() * n_draws / (n_draws - 1) / freedom**2
    return float(np.sqrt(squares) / n_rows)


# --------------------------------------------------------------------------- pair effects


def _pair_effects(contrast: _Contrast, linear_fit: _Linear) -> np.ndarray:
    """tau of each block, (K, n, n): within classes and across them."""
    sums, classes = contrast.sums, contrast.classes
    blocks = sums.draw % N_BLOCKS
    block_taus = np.zeros_like(sums.together)
    for k in range(N_BLOCKS):
        count = sums.count[k]
        # A few learning sets, if these are all there are, leave blocks without any.
        if count:
            block_means = {name: values[k] / count for name, values in contrast.of.items()}
            residual = _without_fit(
                linear_fit, block_means, sums.learning[blocks == k].astype(float)
            )
            block_taus[k] = _taus(classes, *residual)
    return block_taus


def _without_fit(
    linear_fit: _Linear, block_means: Mapping[str, np.ndarray], learning: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Means of a block's rows: the residual AUC, effects of one observation, and of pairs.

    The last two are those of two observations of one class, and of two classes.
    """
    classes, count = linear_fit.classes, len(learning)
    r = classes.of_each(classes.shape.tested)
    d = linear_fit.tested
    fit = linear_fit.auc + learning @ linear_fit.learning
    # Placements of a class are fitted by this and d: what the sum over L has more than the AUC.
    tested_effects = (learning * (d / r)) @ classes.members
    other_tested = tested_effects[:, classes.labels]
    learnt = learning.mean(axis=0)
    learnt_together = learning.T @ learning / count
    fit_inside = learning.T @ (learning * fit[:, None]) / count
    fit_learnt = learning.T @ fit / count
    more_inside = learning.T @ (learning * other_tested) / count
    more_learnt = (learning.T @ tested_effects / count)[:, classes.labels]
    # Rows that learn from the first and test the second.
    learnt_alone = learnt[:, None] - learnt_together
    mixed = (
        block_means["mixed"]
        - learnt_alone * d
        - (fit_learnt[:, None] - fit_inside)
        - (more_learnt - more_inside)
    )
    inside = block_means["inside"] - fit_inside
    # Rows that test both.
    neither = 1 - learnt[:, None] - learnt + learnt_together
    fit_tested = fit.mean() - fit_learnt[:, None] - fit_learnt + fit_inside
    of_first = (
        (tested_effects.mean(axis=0)[classes.labels])[:, None] - np.diagonal(more_inside)[:, None]
    )
    # What the first's class has more, in rows that test both.
    of_first = of_first - more_learnt.T + more_inside.T
    between_classes = (
        block_means["across"] - neither * (d[:, None] + d) - fit_tested - of_first - of_first.T
    )
    tested = 1 - learnt
    placed = block_means["placed"] - tested * d - (fit.mean() - fit_learnt) - np.diagonal(of_first)
    single_residuals = block_means["learnt_auc"] - fit_learnt + placed / r
    residual = float(block_means["auc"]) - float(fit.mean())
    mixed = mixed / r
    shared = inside + mixed + mixed.T
    return residual, single_residuals, shared, shared + between_classes / np.outer(r, r)


def _taus(
    classes: Classes,
    u: float,
    single_residuals: np.ndarray,
    within_classes: np.ndarray,
    between_classes: np.ndarray,
) -> np.ndarray:
    """tau (n, n) from means of residuals; zero on the diagonal."""
    sizes = classes.shape.by_class
    inclusion_rates = classes.of_each([(g + 1) / n for n, g in sizes])
    a = single_residuals - inclusion_rates * u
    scale = classes.of_each([g / (n - 2) if n > 2 else 0.0 for n, g in sizes])
    mean = classes.of_each([(g + 1) * g / (n * (n - 1)) for n, g in sizes])
    enough = classes.of_each([n > 2 for n, _ in sizes]) > 0
    same_class = within_classes - mean[:, None] * u - scale[:, None] * (a[:, None] + a)
    same_class = np.where(enough[:, None], same_class, 0.0)
    other = (
        between_classes
        - inclusion_rates * a[:, None]
        - inclusion_rates[:, None] * a
        - np.outer(inclusion_rates, inclusion_rates) * u
    )
    tau = np.where(classes.labels[:, None] == classes.labels, same_class, other)
    tau[np.diag_indices(len(tau))] = 0.0
    return tau


def _variance_parts(contrast: _Contrast, linear_fit: _Linear) -> VarianceParts:
    """Squared lengths of single and pair effects."""
    classes, shape = contrast.classes, contrast.classes.shape
    n_rows = contrast.sums.count
    b, weight = linear_fit.contributions, n_rows / n_rows.sum()
    # Both orders of a pair are there.
    same_class_factor = classes.of_each([pair_factor(n, g + 1) / 2 for n, g in shape.by_class])
    single = classes.of_each([first_order_factor(n, g + 1) for n, g in shape.by_class])
    equal = classes.labels[:, None] == classes.labels
    factors = np.where(equal, same_class_factor[:, None], np.outer(single, single) / 2)
    tau = _pair_effects(contrast, linear_fit) * np.sqrt(factors) * weight[:, None, None]
    # Inner products of blocks are all that is needed of the pair effects from here on.
    flat = tau.reshape(N_BLOCKS, -1)

    def of_blocks(blocks: np.ndarray) -> np.ndarray:
        return contrast.first_order(blocks).contributions

    return VarianceParts(
        shape=shape,
        b=b,
        groups=None if contrast.sums.exact else BlockGroups.of(b, n_rows, of_blocks),
        inner=np.einsum("ki,li->kl", flat, flat),
        weight=weight,
    )
