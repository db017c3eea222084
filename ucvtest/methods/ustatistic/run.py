"""The loop of draws: learning sets drawn, enumerated or given, and sums over their rows."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ucvtest.common.execution import kept_thread
from ucvtest.common.single_thread import ONE_BLAS_THREAD
from ucvtest.common.words import arg
from ucvtest.designs.draws import (
    draw_from_halves,
    draw_orders,
    exchange_one,
    learning_sets,
)
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.kernels.ustatistic.aucs import AucEstimate
from ucvtest.kernels.ustatistic.columns import Columns, MeanLosses, Places, Ranked
from ucvtest.kernels.ustatistic.contrasts import Contrast, Estimate, estimate
from ucvtest.kernels.ustatistic.exact import CompleteProducts
from ucvtest.kernels.ustatistic.few import Rounds
from ucvtest.kernels.ustatistic.rows import N_BLOCKS, Effects, Rows, blocks_for, keeps_pairs
from ucvtest.kernels.ustatistic.unbiased import PairProducts
from ucvtest.methods.ustatistic.auc_sizes import AucSizes
from ucvtest.methods.ustatistic.metric_columns import OfMetric
from ucvtest.methods.ustatistic.one_by_one import OneByOne
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.sizes import Sizes

if TYPE_CHECKING:
    from ucvtest.methods.ustatistic.budget import Stages

MIN_PAIRS = 20
"""With fewer pairs than this their Monte-Carlo error cannot be estimated."""

STAGE_PAIRS = 512
"""Pairs between the first checkpoints of "auto"."""

STAGE_CELLS = 4_000_000
"""Losses (pairs times observations) that a stage keeps in memory at most."""

PENDING_BYTES = 10_000_000
"""Memory of stages that wait to be added up while others are fitted."""

RANKED_CELLS, RANKED_SCORES = 500_000, 25_000_000
"""The same of scores of a learner, and of rows in clusters, which may be many more than these."""

AnyLearningSets = Sizes | AucSizes


class Drawn(NamedTuple):
    """Learning sets (M, n) of some draws, with seeds (M,) of their fits.

    `draw` (M',) numbers the draws of the first of them from 0. The other rows are sets of the first
    draws in turn, with one observation exchanged: of `partners` (H, 2) they take the place of the
    first row, and the observation is from the second.
    """

    learning: np.ndarray
    draw: np.ndarray
    seeds: np.ndarray
    partners: np.ndarray

    def of(self, is_complete: np.ndarray) -> tuple["Drawn", np.ndarray]:
        """Those of some draws, and which rows they are."""
        n_exchanged = len(self.partners)
        owner = np.concatenate([self.draw, np.arange(n_exchanged)])
        rows, place = is_complete[owner], np.cumsum(is_complete[owner]) - 1
        kept = Drawn(
            self.learning[rows],
            (np.cumsum(is_complete) - 1)[self.draw[rows[: len(self.draw)]]],
            self.seeds[rows],
            place[self.partners[is_complete[:n_exchanged]]],
        )
        return kept, rows

    def in_parts(self) -> Iterator["Drawn"]:
        """Some draws at a time, where the losses of all would take much memory."""
        n_cells, n_draws = len(self.draw) * self.learning.shape[1], int(self.draw.max()) + 1
        n_parts = -(-n_cells // (2 * STAGE_CELLS))
        part = np.arange(n_draws) * n_parts // n_draws
        for number in range(n_parts):
            yield self if n_parts == 1 else self.of(part == number)[0]


@dataclass(frozen=True)
class Sampler:
    """Learning sets of some sizes, with what a source has of their rules.

    Sets of mean losses come from random `halves` of the sample, or as consecutive places of random
    orders. `one_by_one` fits disjoint pairs, and any of them may fail.
    """

    sizes: AnyLearningSets
    source: LossSource
    generator: np.random.Generator
    halves: bool = True
    one_by_one: OneByOne | None = None

    def drawn(self, n_pairs: int, n_sets: int = 1, exchange_every: int = 0) -> Drawn:
        """Pairs of random learning sets, disjoint where they can be; they depend on no losses.

        From halves there are `n_sets` a side, and one draw in `exchange_every`, if any, has a set
        with an observation exchanged.
        """
        rng, sizes, partners = self.generator, self.sizes, np.zeros((0, 2), dtype=int)
        if not isinstance(sizes, Sizes):
            sets, draw = sizes.drawn(rng, n_pairs), sizes.draws(n_pairs)
        elif not (self.halves and sizes.disjoint):
            orders, n_draws = draw_orders(rng, n_pairs, sizes.n_obs), n_pairs
            g, overlap = sizes.learn_size, sizes.least_overlap
            sets = np.concatenate(
                [learning_sets(orders, 0, g), learning_sets(orders, g - overlap, g)]
            )
            draw = np.tile(np.arange(n_draws), 2)
        else:
            n_draws = -(-n_pairs // n_sets)
            halves = draw_from_halves(rng, n_draws, n_sets, sizes.n_obs, sizes.learn_size)
            # The last draw may have fewer sets.
            first, second = (side.reshape(-1, sizes.n_obs)[:n_pairs] for side in halves)
            draw = np.tile(np.arange(n_pairs) // n_sets, 2)
            n_exchanged = exchanges(n_draws, exchange_every)
            exchanged = halves[0][:n_exchanged, 0]
            if n_exchanged:
                exchanged = exchange_one(rng, exchanged, halves[1][:n_exchanged, 0])
            start = n_sets * np.arange(n_exchanged)
            partners = np.stack([n_pairs + start, start], axis=1)
            sets = np.concatenate([first, second, exchanged])
        return Drawn(sets, draw, self._seeds(len(sets)), partners)

    def of_sets(self, learning: np.ndarray, draw: np.ndarray) -> Drawn:
        """Learning sets that are known."""
        return Drawn(learning, draw, self._seeds(len(learning)), np.zeros((0, 2), dtype=int))

    def _seeds(self, number: int) -> np.ndarray:
        # Always drawn, so that the splits do not depend on which learners want a seed.
        return self.generator.integers(2**31 - 1, size=number)

    def fitted(self, drawn: Drawn) -> tuple[Drawn, list[np.ndarray]]:
        """The draws on which no learner fails, with the losses, scores or predictions of each."""
        if self.one_by_one is None:
            learning = self.sizes.of_rows(drawn.learning)
            return drawn, self.source.losses_for(learning, ~learning, drawn.seeds)
        values, is_complete = self.one_by_one.losses(drawn.learning, drawn.draw, drawn.seeds)
        if is_complete.all():
            return drawn, values
        kept, rows = drawn.of(is_complete)
        return kept, [of_learner[rows] for of_learner in values]

    def enumerated(self) -> Iterator[np.ndarray]:
        """All learning sets, some at a time."""
        return self.sizes.every(rows_of_part(self.sizes))


@dataclass(eq=False)
class Sums:
    """Sums over rows for many fits, tables for few, or both.

    `apart` if rounds are kept step by step, by `OneByOne`.
    """

    columns: Columns
    rows: Rows | None = None
    rounds: Rounds | None = None
    products: PairProducts | None = None
    fewest: int = 0
    """Rows without which AUCs have no variances."""
    apart: bool = False
    alike: bool = True
    """Whether all learners placed every unit alike."""
    equal_scores: bool = True
    """Whether a learner told no tested unit from another."""
    n_draws: int = 0
    n_rows: int = 0
    _effects: Effects | None = field(default=None, repr=False)
    _estimates: dict[tuple[Places, bool], Estimate] = field(default_factory=dict, repr=False)
    thread: ThreadPoolExecutor | None = field(default=None, repr=False)
    _pending: list[Future[None]] = field(default_factory=list, repr=False)

    @classmethod
    def of(
        cls,
        columns: Columns,
        *,
        many: bool = True,
        few: bool = False,
        exact: bool = False,
        pairs: bool = True,
        products: bool = False,
        needs_pairs: bool = False,
        fewest: int = 0,
    ) -> "Sums":
        """Empty sums: see `Rows`; `products` for variances of means that need them."""
        strata, of_pairs = columns.strata, None
        # Comparisons of scores take longer in more blocks.
        of_losses = isinstance(columns, MeanLosses | OfMetric)
        n_blocks = blocks_for(strata.n_units) if of_losses else N_BLOCKS
        if not keeps_pairs(strata.n_units, (columns.n_paired, n_blocks)):
            n_blocks = N_BLOCKS
        shape = columns.n_paired, n_blocks
        if many and needs_pairs and not keeps_pairs(strata.n_units, shape):
            needed = 8 * columns.n_paired * n_blocks * strata.n_units**2 / 1e9
            raise ValueError(
                f"the effects of pairs of {strata.n_units} observations take {needed:.3g} GB of "
                f"memory here: use {arg('variance', 'jackknife')} and {arg('interval', 'wald')}"
            )
        if not many:
            return cls(columns, rounds=Rounds(strata))
        if products and not exact:
            of_pairs = PairProducts(columns.n_paired, n_blocks)
        complete = CompleteProducts(strata, columns.n_paired) if products and exact else None
        rows = Rows(
            strata,
            columns.n_columns,
            exact=exact,
            pairs=pairs,
            products=complete or of_pairs,
            n_blocks=n_blocks,
            n_paired=columns.n_paired,
        )
        return cls(columns, rows, Rounds(strata) if few else None, of_pairs, fewest)

    def add(self, drawn: Drawn, values: Sequence[np.ndarray]) -> None:
        """Add rows, in the background where there is a thread."""
        # Rows that wait for their fit come all at once, which takes longer than a stage.
        n_bytes = sum(of_learner.nbytes for of_learner in values) + drawn.learning.nbytes
        self.wait(PENDING_BYTES // max(1, n_bytes))
        self._effects = None
        self._estimates.clear()
        n_rows = len(drawn.draw)
        if not n_rows:
            return
        first_draw, self.n_draws = self.n_draws, self.n_draws + int(drawn.draw.max()) + 1
        self.n_rows += n_rows
        if self.thread is None:
            self._add(drawn, values, first_draw)
        else:
            self._pending.append(self.thread.submit(self._add, drawn, values, first_draw))

    def _add(self, drawn: Drawn, values: Sequence[np.ndarray], first_draw: int) -> None:
        n_rows, columns = len(drawn.draw), self.columns
        learning, draw = drawn.learning[:n_rows], first_draw + drawn.draw
        of_rows = [of_learner[:n_rows] for of_learner in values]
        if isinstance(columns, OfMetric) and not self.apart:
            columns.pool(of_rows, learning)
        if self.rows is None and self.apart:
            return
        pair = None if self.rows is None else self.rows.pair
        placed = columns.placed(of_rows, learning, draw, pair)
        self._compare(placed, learning)
        if self.rounds is not None and not self.apart:
            self.rounds.add(placed, learning, draw)
        if self.rows is None:
            return
        if self.products is not None and len(drawn.partners):
            sets = drawn.learning[n_rows:]
            exchanged = columns.placed([x[n_rows:] for x in values], sets, draw[:0], None)
            partners = drawn.partners.T
            self.products.exchange(
                np.stack([exchanged, *(placed[:, rows] for rows in partners)], axis=1),
                np.stack([sets, *learning[partners]]),
                draw[drawn.partners[:, 0]],
            )
        self.rows.add(placed, learning, draw)

    def keep_rounds(
        self, values: Sequence[np.ndarray], learning: np.ndarray, draw: np.ndarray
    ) -> None:
        """Keep the rounds of a step whose two sets are there; see `OneByOne`."""
        assert self.rounds is not None
        columns = self.columns
        self._estimates.clear()
        if isinstance(columns, OfMetric):
            columns.pool(values, learning, row_by_row=True)
            # How many rows come at a time depends on how long they take: no number may.
            rows = [slice(k, k + 1) for k in range(len(draw))]
            parts = [
                columns.placed([x[row] for x in values], learning[row], draw[row], None)
                for row in rows
            ]
            placed = np.concatenate(parts, axis=1)
        else:
            placed = columns.placed(values, learning, draw, None)
        self._compare(placed, learning)
        self.rounds.add(placed, learning, draw)

    def _compare(self, placed: np.ndarray, learning: np.ndarray) -> None:
        columns = self.columns
        if columns.n_learners > 1:
            self.alike = self.alike and columns.alike(placed)
        elif isinstance(columns, Ranked):
            self.equal_scores = self.equal_scores and bool((placed[0][~learning] == 1 / 2).all())

    @property
    def enough(self) -> bool:
        """Whether there are rounds enough for an answer from few fits."""
        return self.rounds is not None and self.rounds.enough

    @property
    def has_enough(self) -> bool:
        """Whether there are rows enough for variances."""
        rows = self.rows
        assert rows is not None
        enough = self.n_rows >= self.fewest and self.n_draws >= rows.n_blocks
        return not self.fewest or rows.exact or enough

    def effects(self) -> Effects:
        """Everything that contrasts need, from the rows so far."""
        self.wait()
        if self._effects is None:
            assert self.rows is not None
            self._effects = self.rows.effects()
        return self._effects

    def about(self, columns: Columns) -> "Sums":
        """The sums of another metric, whose parts and rows are the same."""
        assert isinstance(columns, OfMetric)
        assert isinstance(self.columns, OfMetric)
        pools = tuple(pool.about(columns.function) for pool in self.columns.pools)
        return replace(self, columns=replace(columns, pools=pools), _estimates={})

    @property
    def kind(self) -> tuple[bool, ...]:
        """Whether there are sums over rows, over pairs of units and of sets, and rounds."""
        rows = self.rows is not None
        return rows, self.n_bytes > 0, self.products is not None, self.rounds is not None

    @property
    def n_bytes(self) -> int:
        """Memory of the sums over pairs of units."""
        return 0 if self.rows is None or self.rows.pair is None else self.rows.pair.nbytes

    def contrast(self, places: Places) -> Contrast:
        """One learner, or the first less the second, at the means so far."""
        return self.columns.contrast(places, self.effects().u)

    def estimate(self, places: Places, *, few: bool = False) -> Estimate:
        """From the rows so far, or from their rounds; several tests ask about one learner, or two.

        AUCs of too few rows have no variances.
        """
        self.wait()
        key = places, few
        if key not in self._estimates:
            self._estimates[key] = self._of_rounds(places) if few else self._of_rows(places)
        return self._estimates[key]

    def _of_rows(self, places: Places) -> Estimate:
        columns = self.columns
        if self.has_enough:
            return estimate(self.effects(), self.contrast(places), columns.kind)
        assert self.rows is not None
        means = self.rows.means
        return AucEstimate.of_few_rows(columns.contrast(places, means), means)

    def _of_rounds(self, places: Places) -> Estimate:
        assert self.rounds is not None
        few = self.rounds.estimate(self.columns.of_rounds(places, self.rounds))
        variances = {"few": few.variance, "jackknife": few.spread}
        errors = dict.fromkeys(variances, 0.0)
        return self.columns.kind(
            few.mean, few.mc_se, variances, errors, few.df, np.zeros(few.n_obs), few
        )

    def wait(self, most: int = 0) -> None:
        """Wait for rows that are being added, but for this number of stages."""
        while len(self._pending) > most:
            self._pending.pop(0).result()


def collect(
    sampler: Sampler,
    options: UStatisticOptions,
    sums: Sums,
    stages: "Stages",
    excess: Callable[[], float],
) -> bool:
    """Draw and fit, and add up the rows; whether the Monte-Carlo error is as small as asked for.

    `excess` is that of the sums so far as a multiple of what "auto" allows; other numbers of
    learning sets are fixed.
    """
    # Threads of BLAS would go on spinning between its products, in the way of fits.
    with ONE_BLAS_THREAD, kept_thread() as thread:
        # An interrupt leaves nothing in the background behind.
        sums.thread = None if sampler.one_by_one is not None else thread
        try:
            converged = _collect(sampler, options, sums, stages, excess)
            sums.wait()
        finally:
            sums.thread = None
    return converged


def _collect(
    sampler: Sampler,
    options: UStatisticOptions,
    sums: Sums,
    stages: "Stages",
    excess: Callable[[], float],
) -> bool:
    source, number, given_sets = sampler.source, options.n_pairs, options.given_sets
    if given_sets is not None:
        n_columns = sums.columns.n_learners if stages.jointly else 1
        for learning, draw in given_sets.parts(rows_of_part(sampler.sizes, n_columns)):
            sums.add(*sampler.fitted(sampler.of_sets(learning, draw)))
        return True
    if number == "exact":
        for learning in sampler.enumerated():
            draw = np.arange(len(learning))
            sums.add(*sampler.fitted(sampler.of_sets(learning, draw)))
        return True
    if options.variance == "few":
        number = options.n_pairs_of_few(stages.n_learners)
    if isinstance(number, int):
        parts = in_parts(number, stages.part)
        source.execution.announce_total(sum(map(stages.fits, parts)))
        _draw(sampler, sums, stages, parts)
        return True
    n_pairs = size = stages.first
    while True:
        _draw(sampler, sums, stages, in_parts(size, stages.part))
        error_ratio, n_fits = excess(), source.n_fits
        source.execution.update_eta(options.fits_left(error_ratio, n_fits))
        size = 0 if error_ratio <= 1 else stages.following(n_pairs, n_fits, error_ratio)
        if size <= 0:
            return error_ratio <= 1
        n_pairs += size


def _draw(sampler: Sampler, sums: Sums, stages: "Stages", parts: Sequence[int]) -> None:
    for size in parts:
        drawn = sampler.drawn(size, stages.sets_per_side, stages.exchange_every)
        for part in drawn.in_parts():
            sums.add(*sampler.fitted(part))


def rows_of_part(sizes: AnyLearningSets, n_learners: int = 1) -> int:
    """Learning sets whose losses, or scores, are in memory at a time."""
    if isinstance(sizes, Sizes):
        return max(2, STAGE_CELLS // (sizes.n_obs * n_learners))
    of_units = RANKED_CELLS // (sizes.n_obs * sizes.n_scores)
    return max(64, min(of_units, RANKED_SCORES // (sizes.n_scored * sizes.n_scores)))


def most_pairs(n_obs: int) -> int:
    """Pairs that one stage may contain."""
    return max(STAGE_PAIRS, min(8 * STAGE_PAIRS, STAGE_CELLS // n_obs))


def in_parts(total: int, largest_part: int) -> list[int]:
    """Sizes that sum to a total, as equal as possible and none above `largest_part`."""
    n_parts = -(-total // largest_part)
    return [total // n_parts + (part_number < total % n_parts) for part_number in range(n_parts)]


def exchanges(n_draws: int, exchange_every: int) -> int:
    """Draws with one set that is fitted again with an observation exchanged."""
    return max(1, n_draws // exchange_every) if exchange_every else 0
