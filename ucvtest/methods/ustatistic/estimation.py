"""Estimates from learning sets and their losses: drawn, enumerated, or given."""

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from math import comb
from typing import NamedTuple, Self

import numpy as np

from ucvtest.common.execution import kept_thread
from ucvtest.designs.draws import (
    all_learning_sets,
    draw_from_halves,
    draw_orders,
    exchange_one,
    learning_sets,
)
from ucvtest.evaluation.loss_source import LossSource, PrecomputedLosses
from ucvtest.kernels.ustatistic.accumulator import Accumulator
from ucvtest.kernels.ustatistic.first_order import FirstOrder, FirstOrderEstimate
from ucvtest.kernels.ustatistic.monte_carlo_groups import DealtSets, Draws, number_of_groups
from ucvtest.kernels.ustatistic.variances import MonteCarloEstimates, Sums
from ucvtest.methods.ustatistic.enumeration import CompleteSums
from ucvtest.methods.ustatistic.one_by_one import OneByOne
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.precomputed_splits import GivenPairs, GivenSplits
from ucvtest.methods.ustatistic.sizes import Sizes
from ucvtest.stats.few_fits import FewFits, RoundSums
from ucvtest.stats.pivots import Shape

MIN_PAIRS = 20
"""With fewer pairs than this their Monte-Carlo error cannot be estimated."""

STAGE_PAIRS = 512
"""Pairs between the first checkpoints of "auto"."""

STAGE_CELLS = 4_000_000
"""Losses (pairs times observations) that a stage keeps in memory at most."""

SETS_PER_SIDE, SETS_PER_SIDE_LARGE = 8, 4
"""Learning sets drawn from each half of a random split: their products cost nothing, and lower the
Monte-Carlo error of Theta^2 (studies/benchmarks/designs.py). Fewer where learning sets are
larger than n/3: sets from one half then share most observations, which costs the other estimates
precision."""

EXCHANGE_SHARE = 4
"""One split in this many has a set fitted again with one observation exchanged, for the
asymptotic variance; every split where that variance is asked for, and none for the midpoint, which
needs fewer splits than would make it precise."""

RELIABLE = 0.25
"""Monte-Carlo error, as a share of a variance, above which there is no answer."""

ROUNDING = 1e-12
"""Standard error, as a share of the estimate, that is no more than rounding error."""


@dataclass(frozen=True)
class UStatisticEstimates:
    """The estimates of a mean loss, and how their run went.

    `variance` is the one to studentise with, `floored` if it was raised to four times its
    Monte-Carlo error, or to the jackknife with all its noise; `few_per_learner` those of each of
    two learners from few fits, where the jackknife of one is not known. `sums` give the slope, and
    `of_learners` the estimates of each learner alone, when they are asked for.
    """

    estimates: MonteCarloEstimates
    variance: str
    n_pairs: int
    converged: bool = True
    of_learners: Callable[[], tuple[FirstOrderEstimate, ...]] = tuple
    floored: bool = False
    few_per_learner: tuple[FewFits, ...] = ()
    sums: Sums | None = None

    @classmethod
    def of(cls, sums: Sums, variance: str, n_pairs: int) -> Self:
        """From sums over this number of pairs, to which no more will be added."""
        return cls(sums.estimates(), variance, n_pairs, sums=sums)

    @property
    def per_learner(self) -> tuple[FirstOrderEstimate, ...]:
        """Those of each of two learners alone."""
        return self.of_learners()

    @cached_property
    def shape(self) -> Shape:
        """Skewness of the pseudo-values, and how the standard error moves with the estimate."""
        sums = self.sums
        monte_carlo = self.estimates if sums is None else sums.with_slope(self.estimates)
        slope = monte_carlo.values.get("slope", math.nan)
        slope_se = monte_carlo.values.get("slope_error", math.nan)
        return Shape.of(
            monte_carlo.effects, slope, slope_se, monte_carlo.mc_se.get("slope", math.nan)
        )


class DrawnSets(NamedTuple):
    """Learning sets of a batch, on both sides of its draws, and the seeds of their fits.

    `sides` are (G, s, n); only the `used` places (G, s) contain sets. `sets` are the sets of the
    first side, of the second, and with one observation exchanged.
    """

    halves: tuple[np.ndarray, np.ndarray]
    is_used: np.ndarray
    exchanged: np.ndarray
    sets: np.ndarray
    seeds: np.ndarray

    def of(self, is_complete: np.ndarray, owner: np.ndarray) -> "DrawnSets":
        """Those of some draws; `owner` has the draw of each set."""
        halves, is_used, exchanged, sets, seeds = self
        rows = is_complete[owner]
        return DrawnSets(
            (halves[0][is_complete], halves[1][is_complete]),
            is_used[is_complete],
            exchanged[is_complete[: len(exchanged)]],
            sets[rows],
            seeds[rows],
        )


class DrawBatch(NamedTuple):
    """Draws that are summed at a time: see `Accumulator.add`."""

    draws: Draws
    weight: np.ndarray | None = None
    exchanged: tuple[np.ndarray, np.ndarray] | None = None
    cluster: np.ndarray | None = None


@dataclass(frozen=True)
class Sampler:
    """Learning sets of one size with their losses, or loss differences.

    `own` adds up the losses of each of two learners, which differences do not show. `rounds` keeps
    the losses of the first pairs of sets. `one_by_one` fits disjoint pairs; each pair may fail.
    """

    sizes: Sizes
    source: LossSource
    generator: np.random.Generator
    learner_sums: FirstOrder | None = None
    rounds: RoundSums | None = None
    one_by_one: OneByOne | None = None

    def differences(self, learning: np.ndarray, draw: np.ndarray) -> np.ndarray:
        """Loss, or loss difference, of every rule at every observation; 0 inside L.

        `draw` (R,) numbers the draws that the first R sets came in.
        """
        learner_losses = self.losses(learning, draw)
        return learner_losses[0] - learner_losses[1] if self.source.paired else learner_losses[0]

    def losses(self, learning: np.ndarray, draw: np.ndarray) -> list[np.ndarray]:
        """The same of each learner."""
        return self._losses(learning, draw, self._seeds(len(learning)))

    def whole(
        self, learning: np.ndarray, draw: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Learning sets, their draws from 0 and the losses, without draws that a learner fails on.

        Every set belongs to a draw.
        """
        if self.one_by_one is None:
            return learning, draw, self.losses(learning, draw)
        learner_losses, is_complete = self.one_by_one.losses(
            learning, draw, self._seeds(len(learning))
        )
        learning, draw, learner_losses = whole_draws(is_complete, learning, draw, learner_losses)
        return learning, draw, self._counted(learner_losses, learning, draw)

    def _seeds(self, number: int) -> np.ndarray:
        # Always drawn, so that the splits do not depend on which learners want a seed.
        return self.generator.integers(2**31 - 1, size=number)

    def _losses(
        self, learning: np.ndarray, draw: np.ndarray, seeds: np.ndarray
    ) -> list[np.ndarray]:
        learner_losses = self.source.losses_for(learning, ~learning, seeds)
        if self.rounds is not None:
            self.rounds.add(learner_losses, learning, draw)
        return self._counted(learner_losses, learning, draw)

    def _counted(
        self, learner_losses: list[np.ndarray], learning: np.ndarray, draw: np.ndarray
    ) -> list[np.ndarray]:
        if self.learner_sums is not None:
            self.learner_sums.add(learner_losses, learning, draw)
        return learner_losses

    def overlapping(self, n_draws: int, overlap: int) -> Draws:
        """One set on each side of every draw, with `overlap` observations in common."""
        g = self.sizes.learn_size
        orders = draw_orders(self.generator, n_draws, self.sizes.n_obs)
        l1, l2 = learning_sets(orders, 0, g), learning_sets(orders, g - overlap, g)
        draw = np.arange(n_draws)
        d1, d2 = self.differences(l1, draw), self.differences(l2, draw)
        return d1[:, None], d2[:, None], l1[:, None], l2[:, None]

    def batch(self, n_pairs: int, n_sets: int, exchange_every: int) -> DrawBatch:
        """Draws and their losses; disjoint sets as in `drawn`."""
        if not self.sizes.disjoint:
            return DrawBatch(self.overlapping(-(-n_pairs // n_sets), self.sizes.least_overlap))
        return self.evaluated(self.drawn(n_pairs, n_sets, exchange_every))

    def drawn(self, n_pairs: int, n_sets: int, exchange_every: int) -> DrawnSets:
        """Disjoint sets, `n_sets` a side.

        One draw in `exchange_every`, if any, has an exchanged observation.

        The draws do not depend on losses.
        """
        rng, n_draws = self.generator, -(-n_pairs // n_sets)
        n, g = self.sizes.n_obs, self.sizes.learn_size
        halves = draw_from_halves(rng, n_draws, n_sets, n, g)
        is_used = (np.arange(n_draws * n_sets) < n_pairs).reshape(n_draws, n_sets)
        n_exchanged = _exchanges(n_draws, exchange_every)
        exchanged = halves[0][:n_exchanged, 0]
        if n_exchanged:
            exchanged = exchange_one(rng, exchanged, halves[1][:n_exchanged, 0])
        sets = np.concatenate(
            [_used_sets(halves[0], is_used), _used_sets(halves[1], is_used), exchanged]
        )
        return DrawnSets(halves, is_used, exchanged, sets, self._seeds(len(sets)))

    def evaluated(self, drawn_sets: DrawnSets) -> DrawBatch:
        """The losses of the draws."""
        n_pairs = int(np.count_nonzero(drawn_sets.is_used))
        draw = np.tile(np.arange(n_pairs) // drawn_sets.is_used.shape[1], 2)
        if self.one_by_one is None:
            learner_losses = self._losses(drawn_sets.sets, draw, drawn_sets.seeds)
        else:
            learner_losses, is_complete = self.one_by_one.losses(
                drawn_sets.sets, draw, drawn_sets.seeds
            )
            if not is_complete.all():
                owner = np.concatenate([draw, np.arange(len(drawn_sets.exchanged))])
                drawn_sets, learner_losses = (
                    drawn_sets.of(is_complete, owner),
                    [values[is_complete[owner]] for values in learner_losses],
                )
                n_pairs = int(np.count_nonzero(drawn_sets.is_used))
                draw = np.tile(np.arange(n_pairs) // drawn_sets.is_used.shape[1], 2)
            learner_losses = self._counted(learner_losses, drawn_sets.sets, draw)
        differences = (
            learner_losses[0] - learner_losses[1] if self.source.paired else learner_losses[0]
        )
        first, second, third = np.split(differences, [n_pairs, 2 * n_pairs])
        draws = (
            _in_places(first, drawn_sets.is_used),
            _in_places(second, drawn_sets.is_used),
            *drawn_sets.halves,
        )
        exchange = (third, drawn_sets.exchanged) if len(drawn_sets.exchanged) else None
        return DrawBatch(draws, weight=drawn_sets.is_used * 1.0, exchanged=exchange)

    def batches(
        self, sizes: Sequence[int], n_sets: int, exchange_every: int
    ) -> Iterator[DrawBatch]:
        """Batches of this number of pairs; a thread draws one while the last is evaluated."""
        if not self.sizes.disjoint:
            yield from (self.batch(size, n_sets, exchange_every) for size in sizes)
            return
        with kept_thread() as thread:
            pending = [thread.submit(self.drawn, sizes[0], n_sets, exchange_every)]
            for size in sizes[1:]:
                drawn_sets = pending.pop().result()
                pending.append(thread.submit(self.drawn, size, n_sets, exchange_every))
                yield self.evaluated(drawn_sets)
            yield self.evaluated(pending.pop().result())


class BackgroundSums:
    """Sums over batches: one is added, by a thread, while the next is drawn and evaluated."""

    def __init__(self, sums: Accumulator, thread: ThreadPoolExecutor) -> None:
        self._sums, self._thread = sums, thread
        self._pending: Future[None] | None = None

    def add(self, batch: DrawBatch) -> None:
        """Add a batch as soon as the one before is added."""
        self._wait()
        options = batch._asdict()
        draws = options.pop("draws")
        self._pending = self._thread.submit(self._sums.add, draws, **options)

    def so_far(self) -> Sums:
        """The sums over all batches so far."""
        self._wait()
        return self._sums.sums()

    def _wait(self) -> None:
        if self._pending:
            self._pending.result()


@contextmanager
def _summing(
    sampler: Sampler,
    n_draws: int,
    known: dict[tuple[int, int], DealtSets] | None = None,
    *,
    at_once: bool = False,
) -> Iterator[BackgroundSums]:
    """Sums that take batches until the context ends; `n_draws`: a lower bound for all draws.

    `at_once` if there will be one batch.
    """
    sizes, offset = sampler.sizes, sampler.source.offset
    n, g = sizes.n_obs, sizes.learn_size
    sums = Accumulator(
        *(n, g),
        disjoint=sizes.disjoint,
        n_draws=n_draws,
        offset=offset,
        known=known,
        at_once=at_once,
    )
    with kept_thread() as thread:
        yield BackgroundSums(sums, thread)


@dataclass(frozen=True)
class StageSizes:
    """How many pairs are drawn at a time, and how many sets from each half."""

    sizes: Sizes
    options: UStatisticOptions
    n_learners: int
    exchanging: bool = True
    """Whether sets are fitted again with one observation exchanged, where the variance has it."""

    @property
    def fewest(self) -> int:
        """A number of pairs that every stage has at least."""
        number = self.options.n_pairs
        if isinstance(number, int):
            return in_parts(number, most_pairs(self.sizes.n_obs))[-1]
        return max(2, min(STAGE_PAIRS, self.options.max_fits // (3 * self.n_learners)))

    @property
    def first(self) -> int:
        """Pairs in the first stage of "auto"."""
        return self._leaving_a_stage(self.fewest, n_fits=0)

    @property
    def sets_per_side(self) -> int:
        """Learning sets from each half of a split: many, as long as every group gets a split."""
        # Only the products gain; the other estimates prefer independent sets.
        if self.options.variance not in ("clipped", "unbiased"):
            return 1
        n = self.sizes.n_obs
        most_sets = SETS_PER_SIDE if 3 * self.sizes.learn_size <= n else SETS_PER_SIDE_LARGE
        return max(1, min(most_sets, self.fewest // number_of_groups(n, self.fewest)))

    @property
    def exchange_every(self) -> int:
        """One draw in this many has a set with one observation exchanged; 0 for none."""
        needs_no_exchange = self.options.variance in ("midpoint", "few")
        if not self.sizes.disjoint or not self.exchanging or needs_no_exchange:
            return 0
        return 1 if self.options.variance == "asymptotic" else EXCHANGE_SHARE

    def fits(self, n_pairs: int) -> int:
        """Fits of a stage with this number of pairs."""
        n_draws = -(-n_pairs // self.sets_per_side)
        return self.n_learners * (2 * n_pairs + _exchanges(n_draws, self.exchange_every))

    def following(self, n_pairs: int, n_fits: int) -> int:
        """Pairs in the next stage of "auto", after `n_pairs` pairs and `n_fits` fits."""
        # Checkpoints grow by about a third, so that looking often costs little.
        stage_pairs = min(max(self.fewest, n_pairs // 3), most_pairs(self.sizes.n_obs))
        return self._leaving_a_stage(stage_pairs, n_fits)

    def _leaving_a_stage(self, stage_pairs: int, n_fits: int) -> int:
        """The number of pairs, or all that max_fits allows if the rest is less than a stage."""
        affordable = self._affordable(n_fits)
        return stage_pairs if affordable - stage_pairs >= self.fewest else affordable

    def _affordable(self, n_fits: int) -> int:
        """Pairs that max_fits still allows, with their exchanged sets."""
        fits_left, exchange_every = self.options.max_fits - n_fits, self.exchange_every
        per_pair = 2 + (1 / (exchange_every * self.sets_per_side) if exchange_every else 0)
        number = int(fits_left / (self.n_learners * per_pair)) + 1
        while number > 0 and self.fits(number) > fits_left:
            number -= 1
        return number


def estimated(sampler: Sampler, options: UStatisticOptions) -> UStatisticEstimates:
    """Estimates from random pairs, from all learning sets, or from the losses of given ones."""
    source, given_sets = sampler.source, options.given_sets
    if isinstance(given_sets, GivenPairs):
        estimates = _from_pairs(sampler, options, given_sets)
        if not source.paired:
            return estimates
        return replace(estimates, of_learners=cache(partial(_of_learners, sampler, given_sets)))
    if source.paired:
        sampler = replace(sampler, learner_sums=_learner_sums(sampler, options.n_pairs == "exact"))
    if isinstance(given_sets, GivenSplits):
        estimates = _from_splits(sampler, options, given_sets)
    elif options.n_pairs == "exact":
        estimates = _from_all_sets(sampler, options)
    else:
        estimates = _from_random_pairs(sampler, options)
    learner_sums = sampler.learner_sums
    if learner_sums is None:
        return estimates
    return replace(estimates, of_learners=cache(learner_sums.estimates))


def _learner_sums(sampler: Sampler, complete: bool = False) -> FirstOrder:
    sizes, offset = sampler.sizes, sampler.source.offset
    return FirstOrder(sizes.n_obs, sizes.learn_size, 2, complete=complete, offset=offset)


def _of_learners(sampler: Sampler, given_pairs: GivenPairs) -> tuple[FirstOrderEstimate, ...]:
    """Those of each of two learners alone, from all given pairs."""
    assert isinstance(sampler.source, PrecomputedLosses)
    sampler = replace(sampler, source=sampler.source.from_start(), rounds=None)
    learner_sums = _learner_sums(sampler)
    for learning, draw in given_pairs.parts(STAGE_CELLS):
        learner_sums.add(sampler.losses(learning, draw), learning, draw)
    return learner_sums.estimates()


def draw_all(sampler: Sampler, options: UStatisticOptions) -> None:
    """Ask for the losses of a given number of pairs, or of all learning sets, and for no more."""
    if options.n_pairs == "exact":
        for sets in _all_sets(sampler):
            sampler.losses(sets, np.zeros(len(sets), dtype=int))
        return
    assert isinstance(options.n_pairs, int)
    steps = StageSizes(sampler.sizes, options, 2 if sampler.source.paired else 1)
    stage_sizes = in_parts(options.n_pairs, most_pairs(sampler.sizes.n_obs))
    sampler.source.announce_total(sum(map(steps.fits, stage_sizes)))
    for _ in sampler.batches(stage_sizes, steps.sets_per_side, steps.exchange_every):
        pass


def _from_random_pairs(sampler: Sampler, options: UStatisticOptions) -> UStatisticEstimates:
    """Estimates from random pairs: a given number, or as many as "auto" needs."""
    steps = StageSizes(sampler.sizes, options, 2 if sampler.source.paired else 1)
    n_sets, number = steps.sets_per_side, options.n_pairs
    with _summing(sampler, -(-steps.fewest // n_sets)) as sums:
        if not isinstance(number, int):
            return _until_precise(sampler, options, steps, sums)
        stage_sizes = in_parts(number, most_pairs(sampler.sizes.n_obs))
        sampler.source.announce_total(sum(map(steps.fits, stage_sizes)))
        for batch in sampler.batches(stage_sizes, n_sets, steps.exchange_every):
            sums.add(batch)
        return UStatisticEstimates.of(sums.so_far(), options.variance, number)


def _until_precise(
    sampler: Sampler, options: UStatisticOptions, steps: StageSizes, sums: BackgroundSums
) -> UStatisticEstimates:
    """Draw until the Monte-Carlo error is small, or no further fits are allowed."""
    size, n_pairs = steps.first, 0
    while True:
        sums.add(sampler.batch(size, steps.sets_per_side, steps.exchange_every))
        n_pairs += size
        estimates = UStatisticEstimates.of(sums.so_far(), options.variance, n_pairs)
        error_ratio, n_fits = (
            _excess(estimates.estimates, options.variance, options.tol),
            sampler.source.n_fits,
        )
        sampler.source.update_eta(options.fits_left(error_ratio, n_fits))
        size, converged = steps.following(n_pairs, n_fits), error_ratio <= 1
        n_left = sampler.source.n_left
        # Kept draws are always processed to their end.
        if (converged if n_left is None else not n_left) or size < steps.fewest:
            return replace(estimates, converged=converged)
        # Its sums have n x n numbers for each group.
        del estimates


def _from_pairs(
    sampler: Sampler, options: UStatisticOptions, given_pairs: GivenPairs
) -> UStatisticEstimates:
    """Estimates from all given pairs."""
    shape = (-1, 2, given_pairs.n_sets, sampler.sizes.n_obs)
    parts = list(given_pairs.parts(STAGE_CELLS))
    at_once = len(parts) == 1
    with _summing(sampler, given_pairs.n_draws, given_pairs.dealt, at_once=at_once) as sums:
        for learning, draw in parts:
            d, sets = sampler.differences(learning, draw).reshape(shape), learning.reshape(shape)
            sums.add(DrawBatch((d[:, 0], d[:, 1], sets[:, 0], sets[:, 1])))
        return UStatisticEstimates.of(sums.so_far(), options.variance, given_pairs.n_pairs)


def _from_splits(
    sampler: Sampler, options: UStatisticOptions, given_splits: GivenSplits
) -> UStatisticEstimates:
    """Estimates from all given splits; each is on both sides of a draw, with half the weight."""
    sizes = sampler.sizes
    sums = Accumulator(sizes.n_obs, sizes.learn_size, disjoint=False, n_draws=given_splits.n_draws)
    for rows, draw in given_splits.parts(max(2, STAGE_CELLS // sizes.n_obs)):
        learning = given_splits.design.learning[rows]
        d, sets = sampler.differences(learning, draw)[:, None], learning[:, None]
        sums.add((d, d, sets, sets), weight=np.full((len(draw), 1), 0.5), cluster=draw)
    return UStatisticEstimates.of(sums.sums(), options.variance, given_splits.n_pairs)


def _from_all_sets(sampler: Sampler, options: UStatisticOptions) -> UStatisticEstimates:
    """Estimates from all learning sets."""
    sums = complete_sums(sampler)
    values = sums.estimates()
    estimates = MonteCarloEstimates(values, dict.fromkeys(values, 0.0), sums.effects)
    n_pairs = comb(sampler.sizes.n_obs, sampler.sizes.learn_size) // 2
    return UStatisticEstimates(estimates, options.variance, n_pairs)


def complete_sums(sampler: Sampler) -> CompleteSums:
    """The sums over all learning sets."""
    n, g = sampler.sizes.n_obs, sampler.sizes.learn_size
    return CompleteSums(
        n,
        g,
        (
            (sampler.differences(sets, np.zeros(len(sets), dtype=int)), sets)
            for sets in _all_sets(sampler)
        ),
        sampler.source.offset,
    )


def _all_sets(sampler: Sampler) -> Iterator[np.ndarray]:
    """All learning sets, some at a time."""
    n, g = sampler.sizes.n_obs, sampler.sizes.learn_size
    return all_learning_sets(n, g, max(1, min(4096, STAGE_CELLS // n)))


def _exchanges(n_draws: int, exchange_every: int) -> int:
    """Draws with one set that is fitted again with an observation exchanged."""
    return max(1, n_draws // exchange_every) if exchange_every else 0


def _excess(monte_carlo: MonteCarloEstimates, name: str, tol: float) -> float:
    """The larger Monte-Carlo error as a multiple of the one that "auto" requires.

    NaN if it is not known.
    """
    if only_rounding(monte_carlo, name):
        return 0.0
    variance, mc_se = monte_carlo.values[name], monte_carlo.mc_se[name]
    if variance == 0:
        # Its parts were estimated below zero, which does not say how large they are.
        return math.nan
    of_variance = mc_se / (min(tol, RELIABLE) * abs(variance))
    if variance < 0:
        return of_variance
    of_estimate = monte_carlo.mc_se["estimate"] / (tol * math.sqrt(variance))
    return float(np.maximum(of_variance, of_estimate))


def reliable(monte_carlo: MonteCarloEstimates, name: str) -> bool:
    """Whether a variance is positive, and its Monte-Carlo error at most a quarter of it."""
    variance = monte_carlo.values[name]
    return bool(variance > 0 and monte_carlo.mc_se[name] <= RELIABLE * variance)


def only_rounding(monte_carlo: MonteCarloEstimates, name: str) -> bool:
    """Whether a variance is zero, up to the rounding of losses that are all the same.

    The midpoint is also zero if its parts were estimated below zero; the jackknife then is not.
    """
    values = monte_carlo.values
    largest = max(abs(values[name]), abs(values.get("jackknife", 0.0)))
    return bool(largest <= (ROUNDING * values["estimate"]) ** 2)


def most_pairs(n_obs: int) -> int:
    """Pairs that one stage may contain."""
    return max(STAGE_PAIRS, min(8 * STAGE_PAIRS, STAGE_CELLS // n_obs))


def in_parts(total: int, largest_part: int) -> list[int]:
    """Sizes that sum to a total, as equal as possible and none above `largest_part`."""
    n_parts = -(-total // largest_part)
    return [total // n_parts + (part_number < total % n_parts) for part_number in range(n_parts)]


def whole_draws(
    is_complete: np.ndarray,
    learning: np.ndarray,
    draw: np.ndarray,
    learner_losses: Sequence[np.ndarray],
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """The sets of draws that are whole, the draws numbered from 0, and what learners have there."""
    if is_complete.all():
        return learning, draw, list(learner_losses)
    rows = is_complete[draw]
    return (
        learning[rows],
        (np.cumsum(is_complete) - 1)[draw[rows]],
        [losses[rows] for losses in learner_losses],
    )


def _used_sets(sets: np.ndarray, is_used: np.ndarray) -> np.ndarray:
    """The sets (G, s, n) that are used, as rows."""
    # Usually all of them, which need no copy.
    return sets.reshape(-1, sets.shape[2]) if is_used.all() else sets[is_used]


def _in_places(values: np.ndarray, is_used: np.ndarray) -> np.ndarray:
    """Rows (R, n) in the places that are used, zeros in the others; (G, s, n)."""
    if is_used.all():
        return values.reshape(*is_used.shape, -1)
    placed = np.zeros((*is_used.shape, values.shape[1]), values.dtype)
    placed[is_used] = values
    return placed
