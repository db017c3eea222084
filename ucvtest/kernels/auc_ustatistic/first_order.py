r"""Effects of single observations on a complete AUC: the linear part of a U-statistic.

Class c has n_c observations; a rule learns from g_c of each and ranks the other n_c - g_c. The AUC
of a row is regressed on who is learnt from, with coefficients eta, and d_i says how far the mean
placement of observation i is from the mean of its class. What observation i contributes is

    b_i = g (n - g)/(n (n - 1)) eta_i + d_i/n,

and the delete-one jackknife is J = sum over classes of n (n - 1)/(n - g - 1)^2 sum of b_i^2.
Clusters of several classes are one sample, whose rule looks at two tested ones: with g + 1 in the
place of g in J, and 2/n for 1/n in b.

Axes: D learners, n observations, class after class. Everything here is linear in the rankings.
"""

from dataclasses import dataclass

import numpy as np

from ucvtest.data.class_sizes import Shape
from ucvtest.kernels.auc_ustatistic.placements import least_squares
from ucvtest.stats.jackknife import first_order_factor


@dataclass(frozen=True, eq=False)
class FirstOrder:
    """The complete AUCs (D,), and what single observations contribute.

    `learning` (D, n) are the coefficients eta of the AUC of a row on its learning set; `testing`
    (D, n) how far the mean placement of each observation is from the mean of its class. Without
    the axis of learners for a single one.
    """

    auc: np.ndarray
    learning: np.ndarray
    testing: np.ndarray

    def contributions(self, shape: Shape) -> np.ndarray:
        """b (D, n): E[psi 1{i is learnt from or tested}], centred."""
        eta, deviation = shape.split(self.learning), shape.split(self.testing)
        class_contributions = [
            contributions(n, g, eta[c], deviation[c] / n) for c, (n, g) in enumerate(shape.by_class)
        ]
        return np.concatenate(class_contributions, axis=-1)

    def additive_testing(self, shape: Shape) -> np.ndarray:
        """d (D, n) of the additive fit U + sum of lambda over L + d of the tested observation."""
        eta, deviation = shape.split(self.learning), shape.split(self.testing)
        class_effects = [
            (deviation[c] + g / (n - 1) * eta[c]) / (1 - g / ((n - 1) * (n - g)))
            for c, (n, g) in enumerate(shape.by_class)
        ]
        return np.concatenate(class_effects, axis=-1)


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over the rows of each block: what the effects of single observations need.

    Of the learning sets (K,) `n_rows`, (K, n) `learnt`, (K, n, n) `together`; of the rankings
    twice the sums of psi, (D, K) `total`, (D, K, n) `learnt_total` and `placed`.
    """

    n_rows: np.ndarray
    learnt: np.ndarray
    together: np.ndarray
    total: np.ndarray
    learnt_total: np.ndarray
    placed: np.ndarray


def first_order(shape: Shape, sums: Moments, blocks: np.ndarray, *, exact: bool) -> FirstOrder:
    """The effects of single observations of two classes, from some of the blocks."""
    count = float(sums.n_rows[blocks].sum())
    r1, r0 = shape.tested
    twice_pairs = 2.0 * r1 * r0 * count
    learnt = sums.learnt[blocks].sum(axis=0)
    auc = sums.total[:, blocks].sum(axis=1) / twice_pairs
    mean = learnt / count
    response = sums.learnt_total[:, blocks].sum(axis=1) / twice_pairs - auc[:, None] * mean
    if exact:
        # All learning sets: the products of their indicators are known.
        eta = response * complete_factors(shape)
    else:
        gram = sums.together[blocks].sum(axis=0, dtype=float) / count - np.outer(mean, mean)
        eta = least_squares(gram, response)
    eta = centred_by_class(shape, eta)
    scale = np.repeat([2.0 * r0, 2.0 * r1], shape.sizes)
    placed, tested = sums.placed[:, blocks].sum(axis=1) / scale, count - learnt
    deviation = placed - tested * auc[:, None]
    deviation = np.divide(deviation, tested, out=np.zeros_like(deviation), where=tested > 0)
    return FirstOrder(auc - eta @ mean, eta, centred_by_class(shape, deviation))


def inclusion_variance(n: int, g: int) -> float:
    """Of random sets of g from n: var 1{i in L} - cov(1{i in L}, 1{j in L})."""
    return g * (n - g) / (n * (n - 1))


def contributions(n: int, g: int, eta: np.ndarray, tested: np.ndarray) -> np.ndarray:
    """b of one class, from coefficients and from what being tested adds."""
    return inclusion_variance(n, g) * eta + tested


def complete_factors(shape: Shape) -> np.ndarray:
    """eta (n,) over covariances with the indicators of who is learnt from, in all learning sets.

    A rule that has learnt before learns from none of them, and has no coefficients.
    """
    factors = [n * (n - 1) / (g * (n - g)) if g else 0.0 for n, g in shape.by_class]
    return np.repeat(factors, shape.sizes)


def centred_by_class(shape: Shape, values: np.ndarray) -> np.ndarray:
    """Values (..., n) minus the means of their classes."""
    centred_classes = [
        class_values - class_values.mean(axis=-1, keepdims=True)
        for class_values in shape.split(values)
    ]
    return np.concatenate(centred_classes, axis=-1)


def mean_placements(placed: np.ndarray, tested: np.ndarray, otherwise: float) -> np.ndarray:
    """Sums of placements over how often each was tested; a number for who never was."""
    means: np.ndarray = np.divide(
        placed, tested, out=np.full(placed.shape, otherwise), where=tested > 0.5
    )
    return means


def jackknife_by_class(shape: Shape, squares: np.ndarray) -> np.ndarray:
    """The jackknife of each class, (..., C), from squares or products of b (..., n)."""
    sizes_and_squares = zip(shape.by_class, shape.split(squares), strict=True)
    sums = [
        first_order_factor(n, g + 1) * class_squares.sum(axis=-1)
        for (n, g), class_squares in sizes_and_squares
    ]
    return np.stack(sums, axis=-1)


def influence_values(shape: Shape, b: np.ndarray) -> tuple[np.ndarray, ...]:
    """u of each class, with J = sum of u_i^2/(n (n - 1)) over classes."""
    contributions_and_sizes = zip(shape.split(b), shape.by_class, strict=True)
    return tuple(
        n * (n - 1) / (n - g - 1) * class_contributions
        for class_contributions, (n, g) in contributions_and_sizes
    )
