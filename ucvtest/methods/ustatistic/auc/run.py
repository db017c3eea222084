"""AUCs from learning sets within the classes: drawn, enumerated, or given."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ucvtest.designs.draws import all_learning_sets, draw_orders, learning_sets
from ucvtest.evaluation.source import LossSource
from ucvtest.kernels.auc_ustatistic.placed import N_BLOCKS, LearningSets, Placed
from ucvtest.kernels.auc_ustatistic.status import status
from ucvtest.kernels.auc_ustatistic.variances import Answer, estimate
from ucvtest.methods.ustatistic.auc.plan import ClassSizes, GivenSplits
from ucvtest.methods.ustatistic.plan import Options
from ucvtest.methods.ustatistic.run import in_parts

__all__ = ["ROWS_FOR_EACH", "Found", "Sampler", "estimated"]

STAGE_CELLS = 500_000
"""Scores of a learner that are in memory at a time; placements are kept, as small integers."""

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
        return _variance(self.answer, name)

    def mc_se(self, name: str) -> float:
        """The Monte-Carlo error of a variance."""
        return _mc_se(self.answer, name)


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
    """Rankings of what was tested, by the learning sets so far."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self._sets: list[LearningSets] = []
        self._placed: list[list[Placed]] = []
        self.n_rows = self._n_draws = 0

    def draw(self, n_pairs: int) -> None:
        """Draw pairs, some at a time, and fit."""
        for size in in_parts(n_pairs, self._sampler.rows_of_part // 2):
            paired, rows = self._sampler.sizes.paired, np.arange(2 * size)
            # The second sets come after all first ones.
            self.add(self._sampler.drawn(size), rows % size if paired else rows)

    def add(self, learning: np.ndarray, draw: np.ndarray) -> None:
        """Fit to the learning sets (R, n); `draw` numbers those that were drawn together."""
        members = self._sampler.sizes.members
        by_class = (learning[:, members[0]], learning[:, members[1]])
        sets = LearningSets(by_class, self._n_draws + draw)
        placed = []
        for scores in self._sampler.scores(learning):
            values = scores.astype(float, copy=False)
            placed.append(Placed.of(sets, (values[:, members[0]], values[:, members[1]])))
        self._sets.append(sets)
        self._placed.append(placed)
        self.n_rows += len(learning)
        self._n_draws += int(draw.max()) + 1

    def answers(self, *, exact: bool, own: bool) -> tuple[Answer, tuple[Answer, ...], str]:
        """For the learner or the difference of two, with `own` for each of two, and the status."""
        self._join()
        sets, placed = self._sets[0], self._placed[0]
        difference = placed[0].minus(placed[1]) if len(placed) == 2 else placed[0]
        enough = exact or (
            self.n_rows >= ROWS_FOR_EACH * self._sampler.sizes.n_obs and self._n_draws >= N_BLOCKS
        )
        asked = [difference, *(placed if own and len(placed) == 2 else ())]
        if not enough:
            alone = [_plain_mean(sets, each) for each in asked]
            return alone[0], tuple(alone[1:]), "ok"
        found = [estimate(sets, each, exact=exact) for each in asked]
        return found[0], tuple(found[1:]), status(sets, placed, found[0])

    def _join(self) -> None:
        """Make one of the parts, so that nothing is kept twice."""
        if len(self._sets) == 1:
            return
        kinds = range(2)
        learnt = [np.concatenate([each.learnt[c] for each in self._sets]) for c in kinds]
        draw = np.concatenate([each.draw for each in self._sets])
        placed = []
        for parts in zip(*self._placed, strict=True):
            counts = [np.concatenate([each.counts[c] for each in parts]) for c in kinds]
            pairs = reduce(np.add, [each.pairs for each in parts])
            placed.append(Placed((counts[0], counts[1]), pairs))
        self._sets = [LearningSets((learnt[0], learnt[1]), draw)]
        self._placed = [placed]


def estimated(sampler: Sampler, options: Options) -> Found:
    """From random pairs, from all learning sets, or from the scores of given ones."""
    rankings = Rankings(sampler)
    converged = True
    if isinstance(options.given, GivenSplits):
        _add_given(rankings, sampler, options.given)
    elif isinstance(options.n_pairs, int):
        rankings.draw(options.n_pairs)
    elif options.n_pairs == "exact":
        for learning in _all_learning_sets(sampler):
            rankings.add(learning, np.arange(len(learning)))
    else:
        converged = _until_precise(rankings, sampler, options)
    answer, own, why = rankings.answers(exact=options.n_pairs == "exact", own=True)
    return Found(answer, own, rankings.n_rows, why, converged)


def _until_precise(rankings: Rankings, sampler: Sampler, options: Options) -> bool:
    """Draw until the Monte-Carlo error is small, or no further fits are allowed."""
    n_learners = 2 if sampler.source.paired else 1
    most = options.max_fits // n_learners // 2
    n_pairs = max(FEWEST_ROWS, FEWEST_FOR_EACH * sampler.sizes.n_obs) // 2
    n_pairs = added = max(1, min(most, n_pairs))
    while True:
        rankings.draw(added)
        answer, _, _ = rankings.answers(exact=False, own=False)
        excess = _excess(answer, options)
        if excess <= 1 or n_pairs >= most:
            return excess <= 1
        # Few different numbers, as those of rows are compiled for.
        added = n_pairs if excess**2 > 1.4 else n_pairs // 2
        added = min(added, most - n_pairs)
        n_pairs += added


def _excess(answer: Answer, options: Options) -> float:
    """The larger Monte-Carlo error as a multiple of the one allowed; 0 if nothing varies."""
    variance = _variance(answer, options.variance)
    if math.isnan(variance):
        # Nothing to be had from further draws, unless there were too few for any variance.
        return 0.0 if answer.jackknife == answer.jackknife else math.inf
    of_variance = _mc_se(answer, options.variance) / (options.tol * variance)
    return max(of_variance, answer.mc_se_estimate / (options.tol * math.sqrt(variance)))


def _variance(answer: Answer, name: str) -> float:
    if name == "jackknife":
        return answer.jackknife if answer.variance > 0 else math.nan
    return answer.variance


def _mc_se(answer: Answer, name: str) -> float:
    return answer.mc_se_jackknife if name == "jackknife" else answer.mc_se_variance


def _plain_mean(sets: LearningSets, placed: Placed) -> Answer:
    """The mean AUC of too few rows for anything else."""
    n_pairs = math.prod(n - g for n, g in zip(sets.sizes, sets.learn_sizes, strict=True))
    auc = float(placed.pairs.sum()) / (2 * n_pairs * len(sets.draw))
    n1, n0 = sets.sizes
    return Answer(
        auc=auc,
        variance=math.nan,
        jackknife=math.nan,
        pair_effects=math.nan,
        u=(np.full(n1, math.nan), np.full(n0, math.nan)),
        df=math.nan,
        mc_se_estimate=math.nan,
        mc_se_variance=math.nan,
        mc_se_jackknife=math.nan,
    )


def _add_given(rankings: Rankings, sampler: Sampler, given: GivenSplits) -> None:
    """The given rows, some at a time; draws stay together because their numbers go on."""
    design, rows = given.design, sampler.rows_of_part
    start = 0
    while start < design.n_resamples:
        stop = min(start + rows, design.n_resamples)
        # Not in the middle of a draw.
        while stop < design.n_resamples and given.draw[stop] == given.draw[stop - 1]:
            stop += 1
        rankings.add(design.learning[start:stop], given.draw[start:stop] - given.draw[start])
        start = stop


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
