"""AUCs from learning sets within the classes: drawn, enumerated, or given."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ucvtest.designs.draws import all_learning_sets, draw_orders, learning_sets
from ucvtest.evaluation.source import LossSource
from ucvtest.kernels.auc_ustatistic.placed import N_BLOCKS, LearningSets
from ucvtest.kernels.auc_ustatistic.status import status
from ucvtest.kernels.auc_ustatistic.sums import Sums
from ucvtest.kernels.auc_ustatistic.variances import VARIANCES, Answer, Effects, estimate
from ucvtest.methods.ustatistic.auc.plan import ClassSizes
from ucvtest.methods.ustatistic.plan import Options
from ucvtest.methods.ustatistic.run import in_parts
from ucvtest.methods.ustatistic.splits import GivenSplits

__all__ = [
    "FEWEST_FOR_EACH",
    "FEWEST_ROWS",
    "ROWS_FOR_EACH",
    "Found",
    "Sampler",
    "estimated",
]

STAGE_CELLS = 500_000
"""Scores of a learner that are in memory at a time."""

STAGE_PLACEMENTS = 4_000_000
"""Placements of a learner, of two bytes, that are in memory at a time."""

FEWEST_ROWS, FEWEST_FOR_EACH = 600, 10
"""Learning sets that "auto" draws at least: altogether, and for each observation."""

ROWS_FOR_EACH = 4
"""Learning sets for each observation without which there is no variance: see `from_scores`."""


@dataclass(frozen=True, eq=False)
class Found:
    """The answer for the learner, or the difference of two, and how the run went.

    `own` has the answers for each of two learners; `why` is "ok", or says why there is no variance.
    """

    answer: Answer
    own: tuple[Answer, ...]
    n_rows: int
    why: str
    converged: bool = True

    def variance(self, name: str) -> float:
        """The variance by its name; NaN where there is none."""
        return self.answer.values[name]

    def mc_se(self, name: str) -> float:
        """The Monte-Carlo error of a variance."""
        return self.answer.mc_se[name]


@dataclass(frozen=True, eq=False)
class Sampler:
    """Learning sets within the classes, with the scores of one learner or two."""

    sizes: ClassSizes
    source: LossSource
    generator: np.random.Generator

    @property
    def rows_of_part(self) -> int:
        """Learning sets whose scores are in memory at a time."""
        return max(64, STAGE_CELLS // self.sizes.n_obs)

    def drawn(self, n_pairs: int) -> np.ndarray:
        """Pairs of random learning sets (2 n_pairs, n), disjoint where they can be.

        First come the first sets of all pairs.
        """
        sets = np.zeros((2, n_pairs, self.sizes.n_obs), dtype=bool)
        for members, (n, g) in zip(self.sizes.members, self.sizes.by_class, strict=True):
            orders = draw_orders(self.generator, n_pairs, n)
            sets[0][:, members] = learning_sets(orders, 0, g)
            if self.sizes.paired:
                sets[1][:, members] = learning_sets(orders, g, g)
            else:
                again = draw_orders(self.generator, n_pairs, n)
                sets[1][:, members] = learning_sets(again, 0, g)
        return sets.reshape(2 * n_pairs, -1)

    def scores(self, learning: np.ndarray) -> list[np.ndarray]:
        """The scores of each learner, (R, n), undefined where it learnt."""
        seeds = self.generator.integers(2**31 - 1, size=len(learning))
        return self.source.each(learning, ~learning, seeds)


class Rankings:
    """Sums over the rankings of what was tested, by the learning sets so far."""

    def __init__(self, sampler: Sampler, *, exact: bool) -> None:
        self._sampler = sampler
        self._sums = Sums(exact=exact)
        self._waiting = self._n_draws = 0
        self._effects: Effects | None = None

    @property
    def n_rows(self) -> int:
        """Learning sets so far."""
        return self._sums.n_rows

    def draw(self, n_pairs: int) -> None:
        """Draw pairs, some at a time, and fit."""
        for size in in_parts(n_pairs, self._sampler.rows_of_part // 2):
            paired, rows = self._sampler.sizes.paired, np.arange(2 * size)
            # The second sets come after all first ones.
            self.add(self._sampler.drawn(size), rows % size if paired else rows)

    def add(self, learning: np.ndarray, draw: np.ndarray) -> None:
        """Fit to the learning sets (R, n); `draw` numbers those that were drawn together."""
        positives, negatives = self._sampler.sizes.members
        sets = LearningSets((learning[:, positives], learning[:, negatives]), self._n_draws + draw)
        scores = [each.astype(float, copy=False) for each in self._sampler.scores(learning)]
        self._sums.rank(sets, [(each[:, positives], each[:, negatives]) for each in scores])
        self._n_draws += int(draw.max()) + 1
        self._waiting += len(learning)
        self._effects = None
        if self._waiting >= self._rows_of_fit:
            self._sums.settle()
            self._waiting = 0

    @property
    def _rows_of_fit(self) -> int:
        """Rows whose placements are in memory; the additive fit to fewer would be noisy."""
        n_obs = self._sampler.sizes.n_obs
        return max(FEWEST_FOR_EACH * n_obs, STAGE_PLACEMENTS // n_obs)

    def answers(self, *, own: bool) -> tuple[Answer, tuple[Answer, ...], str]:
        """For the learner or the difference of two, with `own` for each of two, and the status."""
        sums = self._sums
        enough = sums.exact or (
            self.n_rows >= ROWS_FOR_EACH * self._sampler.sizes.n_obs and self._n_draws >= N_BLOCKS
        )
        contrasts: list[tuple[int, ...]] = [(1,)]
        if self._sampler.source.paired:
            contrasts = [(1, -1), (1, 0), (0, 1)] if own else [(1, -1)]
        if not enough:
            alone = [_plain_mean(sums, weights) for weights in contrasts]
            return alone[0], tuple(alone[1:]), "ok"
        if self._effects is None:
            self._effects, self._waiting = Effects.of(sums), 0
        found = [estimate(self._effects, weights) for weights in contrasts]
        return found[0], tuple(found[1:]), status(sums, found[0])


def estimated(sampler: Sampler, options: Options) -> Found:
    """From random pairs, from all learning sets, or from the scores of given ones."""
    rankings = Rankings(sampler, exact=options.n_pairs == "exact")
    converged = True
    if isinstance(options.given, GivenSplits):
        for rows, draw in options.given.parts(sampler.rows_of_part):
            rankings.add(options.given.design.learning[rows], draw)
    elif isinstance(options.n_pairs, int):
        rankings.draw(options.n_pairs)
    elif options.n_pairs == "exact":
        for learning in _all_learning_sets(sampler):
            rankings.add(learning, np.arange(len(learning)))
    else:
        converged = _until_precise(rankings, sampler, options)
    answer, own, why = rankings.answers(own=True)
    return Found(answer, own, rankings.n_rows, why, converged)


def _until_precise(rankings: Rankings, sampler: Sampler, options: Options) -> bool:
    """Draw until the Monte-Carlo error is small, or no further fits are allowed."""
    n_learners = 2 if sampler.source.paired else 1
    most = options.max_fits // n_learners // 2
    n_pairs = max(FEWEST_ROWS, FEWEST_FOR_EACH * sampler.sizes.n_obs) // 2
    n_pairs = added = max(1, min(most, n_pairs))
    while True:
        rankings.draw(added)
        answer, _, _ = rankings.answers(own=False)
        excess = _excess(answer, options)
        if excess <= 1 or n_pairs >= most:
            return excess <= 1
        # Few different numbers, as those of rows are compiled for.
        added = 3 * n_pairs if excess**2 > 6 else n_pairs if excess**2 > 1.4 else n_pairs // 2
        added = min(added, most - n_pairs)
        n_pairs += added


def _excess(answer: Answer, options: Options) -> float:
    """The larger Monte-Carlo error as a multiple of the one allowed; 0 if nothing varies."""
    variance = answer.values[options.variance]
    if math.isnan(variance):
        # Nothing to be had from further draws, unless there were too few for any variance.
        return 0.0 if answer.jackknife == answer.jackknife else math.inf
    of_variance = answer.mc_se[options.variance] / (options.tol * abs(variance))
    if variance < 0:
        return of_variance
    return max(of_variance, answer.mc_se_estimate / (options.tol * math.sqrt(variance)))


def _plain_mean(sums: Sums, weights: tuple[int, ...]) -> Answer:
    """The mean AUC of too few rows for anything else."""
    n_pairs = math.prod(sums.shape.tested)
    psi = sums.pairs.sum(axis=(1, 2, 3))
    auc = float(np.dot(weights, psi)) / (2 * n_pairs * sums.n_rows)
    n1, n0 = sums.shape.sizes
    return Answer(
        auc=auc,
        values=dict.fromkeys(VARIANCES, math.nan),
        mc_se=dict.fromkeys(VARIANCES, math.nan),
        jackknife=math.nan,
        pair_effects=math.nan,
        u=(np.full(n1, math.nan), np.full(n0, math.nan)),
        df=math.nan,
        mc_se_estimate=math.nan,
    )


def _all_learning_sets(sampler: Sampler) -> Iterator[np.ndarray]:
    """All learning sets within the classes, in batches."""
    sizes = sampler.sizes
    whole = [np.concatenate(list(all_learning_sets(n, g, 4096))) for n, g in sizes.by_class]
    places = np.indices([len(each) for each in whole]).reshape(2, -1).T
    for start in range(0, len(places), sampler.rows_of_part):
        rows = places[start : start + sampler.rows_of_part]
        learning = np.zeros((len(rows), sizes.n_obs), dtype=bool)
        for members, sets, place in zip(sizes.members, whole, rows.T, strict=True):
            learning[:, members] = sets[place]
        yield learning
