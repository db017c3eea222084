"""From sums over learning sets to the AUC of several classes, with its variances.

Pair effects of an additive function of what is learnt from and what is tested are zero; those of
the fit are therefore taken off, which needs the learning sets alone. See `several_classes`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from ucvtest.kernels.auc_ustatistic.placed import N_BLOCKS
from ucvtest.kernels.auc_ustatistic.several_classes import Classes, Sums
from ucvtest.kernels.auc_ustatistic.variances import Answer

__all__ = ["VARIANCES", "estimate", "status"]

VARIANCES = ("midpoint", "jackknife")

NO_VARIANCE = 1e-10
"""Jackknife variances up to here are taken for none."""

MOST_GROUPS, ROWS_IN_GROUP = 8, 4
"""The jackknife takes products of 2 to 8 groups of blocks, of at least 4 rows an observation where
there are as many: coefficients from fewer rows are noisy."""

ROUNDING = 1e-13
"""What AUCs differ by, at most, that are the same."""


@dataclass(frozen=True, eq=False)
class _Contrast:
    """The sums of one learner, or of a difference of two: all is linear in the rankings."""

    sums: Sums
    of: Mapping[str, np.ndarray]
    rows: np.ndarray
    exact: bool

    @property
    def classes(self) -> Classes:
        return self.sums.classes

    def first_order(self, blocks: np.ndarray) -> "_FirstOrder":
        """The effects of single observations from some of the blocks."""
        sums, classes = self.sums, self.classes
        count = sums.count[blocks].sum()
        auc = self.of["auc"][blocks].sum() / count
        learnt = sums.learnt[blocks].sum(axis=0) / count
        response = self.of["learnt_auc"][blocks].sum(axis=0) / count - learnt * auc
        if self.exact:
            # All learning sets: the products of their indicators are known.
            factors = [n * (n - 1) / (g * (n - g)) if g else 0.0 for n, g in classes.by_class]
            eta = classes.of_each(factors) * response
        else:
            together = sums.together[blocks].sum(axis=0) / count
            gram = together - np.outer(learnt, learnt)
            response = classes.centred(response)
            # Rounding errors alone would not be solved for, but grow.
            noise = np.abs(response).max() <= ROUNDING
            eta = np.zeros_like(response) if noise else _regressed(gram, response)
        eta = classes.centred(eta)
        tested = count * (1 - learnt)
        placed = self.of["placed"][blocks].sum(axis=0)
        mean = np.divide(placed, tested, out=np.full(len(tested), auc), where=tested > 0.5)
        return _FirstOrder(classes, float(auc - learnt @ eta), eta, classes.centred(mean))


@dataclass(frozen=True, eq=False)
class _FirstOrder:
    """U, the coefficients eta (n,) of M(L), and deviations (n,) of mean placements."""

    classes: Classes
    auc: float
    learning: np.ndarray
    testing: np.ndarray

    @property
    def contributions(self) -> np.ndarray:
        """b (n,): E[E 1{i is learnt from or tested}], centred."""
        sizes = self.classes.by_class
        kappa = self.classes.of_each([g * (n - g) / (n * (n - 1)) for n, g in sizes])
        n = self.classes.of_each(self.classes.sizes)
        found: np.ndarray = kappa * self.learning + self.testing / n
        return found

    @property
    def tested(self) -> np.ndarray:
        """d (n,) of the additive fit U + sum of lambda over L + sum of d of what is tested."""
        sizes = self.classes.by_class
        lever = self.classes.of_each([g / (n - 1) for n, g in sizes])
        scale = self.classes.of_each([1 - g / ((n - 1) * (n - g)) for n, g in sizes])
        found: np.ndarray = (self.testing + lever * self.learning) / scale
        return found


def _regressed(gram: np.ndarray, response: np.ndarray) -> np.ndarray:
    """Least squares, of smallest length: learning sets of one size leave a direction a class open.

    Well conditioned otherwise, so conjugate gradients, without BLAS: see `effects`.
    """
    n = len(gram)
    product = LinearOperator((n, n), partial(np.einsum, "ij,j->i", gram))
    found, _ = cg(product, response, rtol=1e-12)
    solution: np.ndarray = found
    return solution


def estimate(sums: Sums, weights: np.ndarray, *, exact: bool) -> Answer:
    """The estimate and its variances for a linear combination of the learners.

    `exact` if the rows are all learning sets, each once.
    """
    of = {name: np.tensordot(weights, values, 1) for name, values in sums.of_learners.items()}
    contrast = _Contrast(sums, of, np.tensordot(weights, sums.rows, 1), exact)
    whole = contrast.first_order(np.arange(N_BLOCKS))
    squares = _Squares(contrast, whole)
    mc_se, mc_se_estimate = dict.fromkeys(VARIANCES, 0.0), 0.0
    if exact:
        parts = squares.raw()
    else:
        parts = squares.crossed()
        mc_se_estimate = _error_of_mean(contrast, whole)
        left_out = [squares.crossed(without=k).variances for k in range(N_BLOCKS)]
        mc_se = {name: _error_by_blocks([each[name] for each in left_out]) for name in VARIANCES}
    classes, values = sums.classes, parts.variances
    scale = classes.of_each([n * (n - 1) / (n - g - 1) for n, g in classes.by_class])
    u = scale * whole.contributions
    return Answer(
        auc=whole.auc,
        values=values,
        mc_se={name: mc_se[name] if value == value else np.nan for name, value in values.items()},
        jackknife=parts.jackknife,
        pair_effects=parts.pair_effects,
        u=tuple(u[classes.codes == code] for code in range(len(classes.sizes))),
        df=parts.df(classes.sizes),
        mc_se_estimate=mc_se_estimate,
    )


def status(sums: Sums, found: Answer) -> str:
    """Why there is no variance, if there is none; of one learner, or the difference of two."""
    if not np.isnan(found.values["jackknife"]):
        return "ok"
    rows = sums.rows
    if len(rows) == 2:
        why = (
            "the two learners ranked every tested pair alike, so there is no difference to test"
            if sums.alike
            else "the two learners differ by as much for every observation"
        )
    elif (np.abs(rows - 1) < ROUNDING).all() or (np.abs(rows) < ROUNDING).all():
        why = "the classes were separated completely, in every row"
    else:
        why = "every observation was ranked equally well, as by equal scores"
    return f"degenerate: the jackknife variance is zero, {why}"


def _error_by_blocks(left_out: list[float]) -> float:
    """Monte-Carlo standard error from the values without each of the blocks."""
    return float(np.sqrt((N_BLOCKS - 1) * np.var(left_out)))


def _error_of_mean(contrast: _Contrast, whole: _FirstOrder) -> float:
    """Monte-Carlo standard error of the AUC: its residuals, summed over the rows of each draw.

    The fit of the coefficients makes residuals smaller than errors are, and has its own noise.
    """
    sums = contrast.sums
    residuals = contrast.rows - sums.learning @ whole.learning
    by_draw = np.bincount(sums.draw, residuals - residuals.mean())
    n_rows, n_draws = len(residuals), len(by_draw)
    freedom = 1 - (sum(sums.classes.sizes) - len(sums.classes.sizes) + 1) / n_rows
    squares = (by_draw**2).sum() * n_draws / (n_draws - 1) / freedom**2
    return float(np.sqrt(squares) / n_rows)


# --------------------------------------------------------------------------- pair effects


def _pair_effects(contrast: _Contrast, whole: _FirstOrder) -> np.ndarray:
    """tau of each block, (K, n, n): within classes and across them."""
    sums, classes = contrast.sums, contrast.classes
    blocks = sums.draw % N_BLOCKS
    found = np.zeros_like(sums.together)
    for k in range(N_BLOCKS):
        count = sums.count[k]
        # A few learning sets, if these are all there are, leave blocks without any.
        if count:
            of = {name: values[k] / count for name, values in contrast.of.items()}
            residual = _without_fit(whole, of, sums.learning[blocks == k].astype(float))
            found[k] = _taus(classes, *residual)
    return found


def _without_fit(
    whole: _FirstOrder, of: Mapping[str, np.ndarray], learning: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Means of a block's rows: the residual AUC, of what holds one observation, and of pairs.

    The last two are those of two observations of one class, and of two classes.
    """
    classes, count = whole.classes, len(learning)
    r = classes.of_each(classes.tested.tolist())
    d = whole.tested
    fit = whole.auc + learning @ whole.learning
    # Placements of a class are fitted by this and d: what the sum over L has more than the AUC.
    more = (learning * (d / r)) @ classes.members
    each = more[:, classes.codes]
    learnt = learning.mean(axis=0)
    together = learning.T @ learning / count
    fit_inside = learning.T @ (learning * fit[:, None]) / count
    fit_learnt = learning.T @ fit / count
    more_inside = learning.T @ (learning * each) / count
    more_learnt = (learning.T @ more / count)[:, classes.codes]
    # Rows that learn from the first and test the second.
    one = learnt[:, None] - together
    mixed = of["mixed"] - one * d - (fit_learnt[:, None] - fit_inside) - (more_learnt - more_inside)
    inside = of["inside"] - fit_inside
    # Rows that test both.
    neither = 1 - learnt[:, None] - learnt + together
    fit_tested = fit.mean() - fit_learnt[:, None] - fit_learnt + fit_inside
    of_first = (more.mean(axis=0)[classes.codes])[:, None] - np.diagonal(more_inside)[:, None]
    # What the first's class has more, in rows that test both.
    of_first = of_first - more_learnt.T + more_inside.T
    across = of["across"] - neither * (d[:, None] + d) - fit_tested - of_first - of_first.T
    tested = 1 - learnt
    placed = of["placed"] - tested * d - (fit.mean() - fit_learnt) - np.diagonal(of_first)
    own = of["learnt_auc"] - fit_learnt + placed / r
    residual = float(of["auc"]) - float(fit.mean())
    mixed = mixed / r
    shared = inside + mixed + mixed.T
    return residual, own, shared, shared + across / np.outer(r, r)


def _taus(
    classes: Classes, u: float, own: np.ndarray, within: np.ndarray, across: np.ndarray
) -> np.ndarray:
    """tau (n, n) from means of residuals; zero on the diagonal."""
    sizes = classes.by_class
    share = classes.of_each([(g + 1) / n for n, g in sizes])
    a = own - share * u
    scale = classes.of_each([g / (n - 2) if n > 2 else 0.0 for n, g in sizes])
    mean = classes.of_each([(g + 1) * g / (n * (n - 1)) for n, g in sizes])
    enough = classes.of_each([n > 2 for n, _ in sizes]) > 0
    same = within - mean[:, None] * u - scale[:, None] * (a[:, None] + a)
    same = np.where(enough[:, None], same, 0.0)
    other = across - share * a[:, None] - share[:, None] * a - np.outer(share, share) * u
    tau = np.where(classes.codes[:, None] == classes.codes, same, other)
    tau[np.diag_indices(len(tau))] = 0.0
    return tau


# --------------------------------------------------------------------------- squared lengths


@dataclass(frozen=True)
class _Parts:
    """The jackknife of each class, and the pair effects M2."""

    by_class: tuple[float, ...]
    pair_effects: float

    @property
    def jackknife(self) -> float:
        return sum(self.by_class)

    @property
    def variances(self) -> dict[str, float]:
        """The jackknife, and the midpoint of it and its lower bound, not below M2/2."""
        j, m2 = self.jackknife, self.pair_effects
        if not j > NO_VARIANCE:
            return dict.fromkeys(VARIANCES, np.nan)
        return {"midpoint": max((j + j**2 / (j + m2)) / 2, m2 / 2), "jackknife": j}

    def df(self, sizes: tuple[int, ...]) -> float:
        """Welch's degrees of freedom."""
        if not self.jackknife > NO_VARIANCE:
            return np.nan
        parts = zip(self.by_class, sizes, strict=True)
        found = self.jackknife**2 / sum(j**2 / (n - 1) for j, n in parts)
        return float(np.clip(found, 1, sum(sizes) - len(sizes)))


class _Squares:
    """Squared lengths of single and pair effects, with the factors that make variances of them."""

    def __init__(self, contrast: _Contrast, whole: _FirstOrder) -> None:
        self._contrast, self._b = contrast, whole.contributions
        classes, count = contrast.classes, contrast.sums.count
        self._weight = count / count.sum()
        n_groups = int(count.sum() // (ROWS_IN_GROUP * len(classes.codes)))
        self._group = np.arange(N_BLOCKS) % int(np.clip(n_groups, 2, MOST_GROUPS))
        self._of_groups: dict[tuple[int, ...], np.ndarray] = {}
        sizes = classes.by_class
        self._single = np.array([n * (n - 1) / (n - g - 1) ** 2 for n, g in sizes])
        # Both orders of a pair are there.
        same = classes.of_each([_pair_factor(n, g + 1) / 2 for n, g in sizes])
        single = classes.of_each(self._single.tolist())
        equal = classes.codes[:, None] == classes.codes
        factors = np.where(equal, same[:, None], np.outer(single, single) / 2)
        tau = _pair_effects(contrast, whole) * np.sqrt(factors) * self._weight[:, None, None]
        # Inner products of blocks are all that is needed of the pair effects from here on.
        flat = tau.reshape(N_BLOCKS, -1)
        self._inner = np.einsum("ki,li->kl", flat, flat)

    def raw(self) -> _Parts:
        """Squares as they are, of a complete design."""
        return _Parts(self._jackknife(self._lengths(self._b**2)), float(self._inner.sum()))

    def crossed(self, without: int | None = None) -> _Parts:
        """Products of different blocks only, one block left out where wanted."""
        kept = np.arange(N_BLOCKS) != (-1 if without is None else without)
        inner, weight = self._inner[np.ix_(kept, kept)], self._weight[kept]
        pairs = (inner.sum() - np.trace(inner)) / (weight.sum() ** 2 - (weight**2).sum())
        groups = [np.flatnonzero(kept & (self._group == k)) for k in np.unique(self._group)]
        groups = [blocks for blocks in groups if len(blocks)]
        weight = np.array([self._weight[blocks].sum() for blocks in groups])
        weighted = weight[:, None] * np.array([self._single_effects(blocks) for blocks in groups])
        products = weighted.sum(axis=0) ** 2 - (weighted**2).sum(axis=0)
        found = self._lengths(products) / (weight.sum() ** 2 - (weight**2).sum())
        # Raw squares where the noise has made products negative.
        found = np.where(found > 0, found, self._lengths(self._b**2))
        return _Parts(self._jackknife(found), max(0.0, float(pairs)))

    def _lengths(self, squares: np.ndarray) -> np.ndarray:
        """Sums over the observations of each class, (C,)."""
        lengths: np.ndarray = self._contrast.classes.members.T @ squares
        return lengths

    def _jackknife(self, lengths: np.ndarray) -> tuple[float, ...]:
        return tuple((self._single * lengths).tolist())

    def _single_effects(self, blocks: np.ndarray) -> np.ndarray:
        key = tuple(blocks.tolist())
        if key not in self._of_groups:
            self._of_groups[key] = self._contrast.first_order(blocks).contributions
        return self._of_groups[key]


def _pair_factor(n: int, m: int) -> float:
    """What the sum of squared pair effects of one class is multiplied by, for i < k."""
    if n - m < 2:
        return 0.0
    return (n - 1) * (n - 2) ** 2 * (n - 3) / ((n - m) * (n - m - 1)) ** 2
