r"""The complete error estimate as a U-statistic, and the estimators of its variance.

Notation of Fuchs, Hornung, De Bin and Boulesteix (2013): D_L(t) is the loss (difference)
at observation t of the rule(s) learnt on L, \|L\| = g; S = L with t added, \|S\| = m = g + 1;
Phi_0(S) is the mean of D over the m ways to split S; U is the mean of Phi_0 over all S.

Every variance here is a quadratic form Q(D, D) that is invariant to the mean of D. For an
additive A, that is ``A_L(t) = c + sum_{i in L} a_i + d_t`` with sums of a and d equal to
zero, and any D,

    Q(A, D) = lambda_1 b(A)'b(D),    lambda_1 = n (n - 1)/(n - m)^2,

where b_i(D) = E[D 1{i in S}] - (m/n) U over random (L, t), and
b(A) = (g a + d) (n - m)/(n (n - 1)). Hence, exactly,

    Q(D, D) = Q(D - A, D - A) + 2 lambda_1 b(A)'b(D) - lambda_1 b(A)'b(A),

and only the residual D - A, much smaller than D, is left to random pairs of learning sets. A is
fitted to other draws than those it is subtracted from. The estimates within one half of the draws
therefore stay unbiased. Products across the halves, which are also part of the jackknife and
theta_squared, have a bias of order n/N^2 for N draws.

Any A will do. Where all D are -1, 0 or 1 and there are few observations, A is rounded to
multiples of a power of two: then so are all D - A, and single precision, twice as fast, adds
them up without error.
"""

from functools import partial

import numpy as np

from ucvtest.kernels.ustatistic.control_variate import (
    MOST_OBS_GRAM,
    SETS_PER_SUM,
    CrossedFits,
    Fits,
    in_double,
)
from ucvtest.kernels.ustatistic.monte_carlo_groups import (
    Dealt,
    DealtSets,
    Draws,
    groups_of,
    number_of_groups,
)
from ucvtest.kernels.ustatistic.pair_effects import ResidualRows
from ucvtest.kernels.ustatistic.residuals import (
    JointSums,
    add_up,
    residual_sums,
    residuals_of_rows,
)
from ucvtest.kernels.ustatistic.variances import (
    Block,
    MonteCarloEstimates,
    Sums,
)
from ucvtest.stats.jackknife import first_order_factor, has_pair_effects, test_effects

MAX_OBS_PAIR_EFFECTS = MOST_OBS_GRAM
"""Most observations for which the pair effects, and with them the variances "geometric",
"midpoint" and "clipped", are kept: 8 groups of 2000 x 2000 sums are a quarter of a gigabyte."""


class Accumulator:
    """Everything that the estimators need from any number of pairs of learning sets.

    Memory does not grow with the number of pairs: it contains at most 32 matrices of shape (n, n),
    and a few numbers for each block of pairs until the additive fit is good enough to stay. Above
    2000 observations it does without "geometric", "midpoint" and "clipped", and without these
    matrices.

    Estimates are those of D + theta offset_t, theta the estimate, where there is an offset: a ratio
    of means.

    `disjoint` sets that leave two observations or more let Theta^2 be estimated and with it every
    variance; otherwise there is the jackknife, and up to half of the observations the midpoint,
    unless `pair_effects` are not wanted. At least `n_draws` draws will be added.

    `known` keeps the learning sets, by their first draw and the one after the last, for sums over
    other losses of the same. If all draws are added `at_once`, memory grows with their number and
    with n, and contains no (n, n) matrices.
    """

    def __init__(
        self,
        n_obs: int,
        learn_size: int,
        *,
        disjoint: bool,
        n_draws: int,
        pair_effects: bool = True,
        offset: np.ndarray | None = None,
        known: dict[tuple[int, int], DealtSets] | None = None,
        at_once: bool = False,
    ) -> None:
        self._offset, self._known, self._n_draws = offset, known, 0
        self.n_obs, self.learn_size, self.disjoint = n_obs, learn_size, disjoint
        self.n_groups = number_of_groups(n_obs, n_draws)
        exist = has_pair_effects(n_obs, learn_size) and n_obs <= MAX_OBS_PAIR_EFFECTS
        exist = exist and pair_effects
        self._joint = JointSums(self.n_groups, n_obs) if exist and not at_once else None
        self._with_rows, self._at_once = exist and at_once, at_once
        self._rows: ResidualRows | None = None
        # Of sets that are not disjoint no pairs are formed.
        self._common = 0 if disjoint else max(0, 2 * learn_size - n_obs)
        self._fits = CrossedFits(n_obs, learn_size, self.n_groups)
        self._unit = 0.0
        self._blocks: list[Block] = []
        self._totals: dict[str, np.ndarray] = {}

    def add(
        self,
        draws: Draws,
        *,
        weight: np.ndarray | None = None,
        exchanged: tuple[np.ndarray, np.ndarray] | None = None,
        cluster: np.ndarray | None = None,
    ) -> None:
        """Add draws D1, D2, L1, L2 (G, s, n), all sets of one side against all of the other.

        Loss differences inside the learning sets are ignored; `weight` (G, s) is 0 for places that
        contain no set, on both sides; `cluster` (G,) names the draws that belong together.
        `exchanged` are D and L (H, n) of the first set on the second side of the first H draws,
        with one observation exchanged for one of the first set on the first side: the change of the
        products gives kappa_1 - Theta^2 with a much smaller Monte-Carlo error than independent
        pairs would.
        """
        d1, d2, l1, l2 = draws
        draws = (_as_counts(d1), _as_counts(d2), l1, l2)
        dealt = Dealt(draws[:2], self._dealt((l1, l2), cluster, weight))
        additive = self._fits.updated(dealt, unit=self._common_unit(draws))
        sums = self._sum(dealt, additive)
        sums["n_exchanged"], sums["exchange"] = self._exchange(draws, exchanged, additive)
        self._store(additive, sums)

    def _dealt(
        self,
        both_sides: tuple[np.ndarray, np.ndarray],
        cluster: np.ndarray | None,
        weight: np.ndarray | None,
    ) -> DealtSets:
        """The learning sets dealt to groups, as they are known or new."""
        first_draw, self._n_draws = self._n_draws, self._n_draws + len(both_sides[0])
        known = {} if self._known is None else self._known
        draws = first_draw, self._n_draws
        if draws not in known:
            known[draws] = DealtSets.deal(
                both_sides, self.n_groups, cluster, weight, at_once=self._at_once
            )
        return known[draws]

    def _common_unit(self, draws: Draws) -> float | None:
        """What an error counts, if all differences are numbers of errors; None where not."""
        sizes = [_only_size(differences) for differences in draws[:2]]
        if None in sizes or draws[0].shape[1] > SETS_PER_SUM:
            return None
        error_sizes = {size for size in (*sizes, self._unit) if size}
        if len(error_sizes) > 1:
            return None
        # If all differences so far are 0, the unit does not matter.
        self._unit = error_sizes.pop() if error_sizes else 0.0
        return self._unit or 1.0

    def sums(self) -> Sums:
        """The sums so far; valid until the next `add`, which changes its arrays."""
        sums_so_far = Sums(
            n_obs=self.n_obs,
            learn_size=self.learn_size,
            disjoint=self.disjoint,
            totals=dict(self._totals) if self._joint is None else self._totals | self._joint.known,
            blocks=tuple(self._blocks),
            halves=self._fits.halves,
            rows=self._rows,
        )
        return sums_so_far if self._offset is None else sums_so_far.with_offset(self._offset)

    def estimates(self) -> MonteCarloEstimates:
        """All estimates from the draws so far, with Monte-Carlo errors."""
        sums = self.sums()
        return sums.with_slope(sums.estimates())

    def _sum(self, dealt: Dealt, additive: Fits) -> dict[str, np.ndarray]:
        sums: dict[str, np.ndarray] = {}
        if not _are_counts(dealt.differences):
            # The fit may have been rounded for earlier draws; sums over these would not be exact.
            additive = in_double(additive)
        rows = []
        for call in dealt.calls():
            sums_of_call = residual_sums(
                *(*call, additive, self.learn_size, self._common, self._joint),
                with_rows=self._with_rows,
            )
            if self._with_rows:
                rows.append(sums_of_call.pop("rows"))
            add_up(sums, sums_of_call)
        if self._with_rows:
            assert self._rows is None, "draws are added once"
            self._rows = ResidualRows(dealt.sets.learnt, np.concatenate(rows, axis=1))
        return sums

    def _exchange(
        self,
        draws: Draws,
        exchanged: tuple[np.ndarray, np.ndarray] | None,
        additive: Fits,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Number of exchanges in each group, and the sum of the changes of the products."""
        if exchanged is None:
            return np.zeros(self.n_groups), np.zeros(self.n_groups)
        n_rows = len(exchanged[0])
        group = groups_of(np.arange(n_rows), self.n_groups)
        d1, d2, l1, l2 = (group_fit[:n_rows, 0] for group_fit in draws)
        centre, a, d = (group_fit[group] for group_fit in in_double(additive))
        residuals = partial(residuals_of_rows, additive=(centre, a, d))
        x1 = residuals(d1, l1)

        def product(differences: np.ndarray, learning: np.ndarray) -> np.ndarray:
            outside = ~(l1 | learning)
            first_errors = np.where(outside, x1, 0.0)
            second_errors = np.where(outside, residuals(differences, learning), 0.0)
            n_outside = outside.sum(axis=1)
            total = first_errors.sum(axis=1) * second_errors.sum(axis=1) - np.einsum(
                "hn,hn->h", first_errors, second_errors
            )
            return total / (n_outside * (n_outside - 1.0))

        changes = product(*exchanged) - product(d2, l2)
        return (
            np.bincount(group, minlength=self.n_groups).astype(float),
            np.bincount(group, changes, minlength=self.n_groups),
        )

    def _store(self, additive: Fits, sums: dict[str, np.ndarray]) -> None:
        n, g = self.n_obs, self.learn_size
        centre, a, d = in_double(additive)
        count, effect = sums["count"], sums["effect"]
        b = test_effects(n, g + 1, g * a + d)
        totals = {
            "count": count,
            "mean": sums["mean"] + count * centre,
            "b": effect + count[:, None] * b,
            "residual_mean": sums["mean"],
            "residual_effect": effect,
        }
        add_up(self._totals, totals)
        lambda_1 = first_order_factor(n, g + 1)
        linear = lambda_1 * (count * (b**2).sum(-1) + 2 * (b * effect).sum(-1))
        scalars = {key: value for key, value in sums.items() if value.ndim == 1}
        scalars["linear"] = linear
        if self._offset is not None:
            scalars["offset"] = totals["b"] @ test_effects(n, g + 1, self._offset)
        block = Block(additive, scalars)
        if self._blocks and self._blocks[-1].additive is additive:
            self._blocks[-1] = self._blocks[-1].plus(block)
        else:
            self._blocks.append(block)


def _as_counts(differences: np.ndarray) -> np.ndarray:
    """Differences as small integers, if all are numbers of errors: -1, 0 or 1."""
    is_count = _only_size(differences) in (0.0, 1.0)
    return differences.astype(np.int8 if is_count else float, copy=False)


def _only_size(differences: np.ndarray) -> float | None:
    """The one size that all differences but those of 0 have; None where there are several."""
    if differences.dtype == np.int8:
        return float(np.abs(differences).max(initial=0))
    # One row tells almost always.
    for checked_differences in (differences[:1], differences):
        magnitude = np.abs(checked_differences)
        size = float(magnitude.max(initial=0))
        if not ((magnitude == 0) | (magnitude == size)).all():
            return None
    return size


def _are_counts(differences: tuple[np.ndarray, np.ndarray]) -> bool:
    d1, d2 = differences
    return d1.dtype == d2.dtype == np.int8 and d1.shape[1] <= SETS_PER_SUM
