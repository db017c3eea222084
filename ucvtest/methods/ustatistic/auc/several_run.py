"""AUCs of several classes from learning sets within the classes: drawn, or all of them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ucvtest.common.runtime import Execution
from ucvtest.designs.draws import all_learning_sets, draw_orders, learning_sets
from ucvtest.evaluation.source import LossSource
from ucvtest.kernels.auc_ustatistic.placed import N_BLOCKS
from ucvtest.kernels.auc_ustatistic.several_classes import Sums
from ucvtest.kernels.auc_ustatistic.several_variances import VARIANCES, estimate, status
from ucvtest.kernels.auc_ustatistic.variances import Answer
from ucvtest.methods.ustatistic.auc.plan import ClassSizes
from ucvtest.methods.ustatistic.auc.run import (
    FEWEST_FOR_EACH,
    FEWEST_ROWS,
    ROWS_FOR_EACH,
    Found,
    Sampler,
    estimated,
)
from ucvtest.methods.ustatistic.auc.several_plan import SeveralSizes
from ucvtest.methods.ustatistic.plan import Options
from ucvtest.methods.ustatistic.run import in_parts

__all__ = ["SeveralSampler", "estimated_auc"]

STAGE_CELLS = 500_000
"""Scores of a learner that are in memory at a time."""


@dataclass(frozen=True, eq=False)
class SeveralSampler:
    """Learning sets within the classes, with the class-wise scores of one learner or two."""

    sizes: SeveralSizes
    source: LossSource
    generator: np.random.Generator

    @property
    def rows_of_part(self) -> int:
        """Learning sets whose scores are in memory at a time."""
        return max(64, STAGE_CELLS // (self.sizes.n_obs * len(self.sizes.sizes)))

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

    def every(self) -> Iterator[np.ndarray]:
        """All learning sets, in batches."""
        sizes = self.sizes
        whole = [np.concatenate(list(all_learning_sets(n, g, 4096))) for n, g in sizes.by_class]
        places = np.indices([len(each) for each in whole]).reshape(len(whole), -1).T
        for start in range(0, len(places), self.rows_of_part):
            rows = places[start : start + self.rows_of_part]
            learning = np.zeros((len(rows), sizes.n_obs), dtype=bool)
            for members, sets, place in zip(sizes.members, whole, rows.T, strict=True):
                learning[:, members] = sets[place]
            yield learning

    def scores(self, learning: np.ndarray) -> list[np.ndarray]:
        """The scores of each learner, (R, n, C), undefined where it learnt."""
        seeds = self.generator.integers(2**31 - 1, size=len(learning))
        return self.source.each(learning, ~learning, seeds)


class Rankings:
    """Sums over the rankings of what was tested, by the learning sets so far."""

    def __init__(self, sampler: SeveralSampler, *, exact: bool) -> None:
        self._sampler, self._exact = sampler, exact
        self._n_learners = 2 if sampler.source.paired else 1
        self._sums = Sums(sampler.sizes.classes, self._n_learners)
        self._n_draws = 0

    @property
    def n_rows(self) -> int:
        """Learning sets so far."""
        return self._sums.n_rows

    def draw(self, n_pairs: int) -> None:
        """Draw pairs, some at a time, and fit."""
        for size in in_parts(n_pairs, self._sampler.rows_of_part // 2):
            rows = np.arange(2 * size)
            # The second sets come after all first ones.
            draw = rows % size if self._sampler.sizes.paired else rows
            self.add(self._sampler.drawn(size), draw)

    def add(self, learning: np.ndarray, draw: np.ndarray) -> None:
        """Fit to the learning sets (R, n); `draw` numbers those that were drawn together."""
        self._sums.add(self._sampler.scores(learning), learning, self._n_draws + draw)
        self._n_draws += int(draw.max()) + 1

    def answers(self, *, own: bool) -> tuple[Answer, tuple[Answer, ...], str]:
        """For the learner or the difference of two, with `own` for each of two, and the status."""
        two = self._n_learners == 2
        contrasts = [np.array([1.0, -1.0][: self._n_learners])]
        contrasts += list(np.eye(2)) if own and two else []
        n_obs = self._sampler.sizes.n_obs
        if not self._exact and (self.n_rows < ROWS_FOR_EACH * n_obs or self._n_draws < N_BLOCKS):
            alone = [self._plain_mean(weights) for weights in contrasts]
            return alone[0], tuple(alone[1:]), "ok"
        found = [estimate(self._sums, weights, exact=self._exact) for weights in contrasts]
        return found[0], tuple(found[1:]), status(self._sums, found[0])

    def _plain_mean(self, weights: np.ndarray) -> Answer:
        """The mean AUC of too few rows for anything else."""
        unknown = math.nan
        return Answer(
            auc=float(weights @ self._sums.rows.mean(axis=1)),
            values=dict.fromkeys(VARIANCES, unknown),
            mc_se=dict.fromkeys(VARIANCES, unknown),
            jackknife=unknown,
            pair_effects=unknown,
            u=tuple(np.full(n, unknown) for n in self._sampler.sizes.sizes),
            df=unknown,
            mc_se_estimate=unknown,
        )


def estimated_auc(
    sizes: ClassSizes | SeveralSizes, options: Options, source: LossSource, execution: Execution
) -> Found:
    """The AUC of two classes, or of several."""
    if isinstance(sizes, SeveralSizes):
        return _estimated(SeveralSampler(sizes, source, execution.generator), options)
    return estimated(Sampler(sizes, source, execution.generator), options)


def _estimated(sampler: SeveralSampler, options: Options) -> Found:
    """From random pairs, or from all learning sets."""
    exact = options.n_pairs == "exact"
    rankings = Rankings(sampler, exact=exact)
    converged = True
    if exact:
        for learning in sampler.every():
            rankings.add(learning, np.arange(len(learning)))
    elif isinstance(options.n_pairs, int):
        rankings.draw(options.n_pairs)
    else:
        converged = _until_precise(rankings, sampler, options)
    answer, own, why = rankings.answers(own=True)
    return Found(answer, own, rankings.n_rows, why, converged)


def _until_precise(rankings: Rankings, sampler: SeveralSampler, options: Options) -> bool:
    """Draw until the Monte-Carlo error is small, or no further fits are allowed."""
    n_learners = 2 if sampler.source.paired else 1
    most = options.max_fits // n_learners // 2
    n_pairs = max(FEWEST_ROWS, FEWEST_FOR_EACH * sampler.sizes.n_obs) // 2
    n_pairs = added = max(1, min(most, n_pairs))
    while True:
        rankings.draw(added)
        answer, _, why = rankings.answers(own=False)
        excess = _excess(Found(answer, (), rankings.n_rows, why), options)
        if excess <= 1 or n_pairs >= most:
            return excess <= 1
        added = 3 * n_pairs if excess**2 > 6 else n_pairs if excess**2 > 1.4 else n_pairs // 2
        added = min(added, most - n_pairs)
        n_pairs += added


def _excess(found: Found, options: Options) -> float:
    """The larger Monte-Carlo error as a multiple of the one allowed; 0 if nothing varies."""
    variance, answer = found.variance(options.variance), found.answer
    if math.isnan(variance):
        # Nothing to be had from further draws, unless there were too few for any variance.
        return 0.0 if answer.jackknife == answer.jackknife else math.inf
    of_variance = found.mc_se(options.variance) / (options.tol * variance)
    return max(of_variance, answer.mc_se_estimate / (options.tol * math.sqrt(variance)))
