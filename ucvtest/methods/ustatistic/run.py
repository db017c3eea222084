"""The loop of draws: learning sets drawn, enumerated or given, and sums over their rows."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

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
from ucvtest.kernels.ustatistic.columns import Columns, MeanLosses, Places, Ranked
from ucvtest.kernels.ustatistic.contrasts import Contrast, Estimate, estimate
from ucvtest.kernels.ustatistic.exact import CompleteProducts
from ucvtest.kernels.ustatistic.few import FewFits, Rounds
from ucvtest.kernels.ustatistic.rows import N_BLOCKS, Effects, Rows, blocks_for, keeps_pairs
from ucvtest.kernels.ustatistic.unbiased import PairProducts
from ucvtest.methods.ustatistic.auc_sizes import FEWEST_FOR_EACH, AucSizes
from ucvtest.methods.ustatistic.metric_columns import OfMetric
from ucvtest.methods.ustatistic.one_by_one import OneByOne
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.precomputed_splits import GivenPairs
from ucvtest.methods.ustatistic.sizes import Sizes

MIN_PAIRS = 20
"""With fewer pairs than this their Monte-Carlo error cannot be estimated."""

STAGE_PAIRS = 512
"""Pairs between the first checkpoints of "auto"."""

OF_WHAT_IS_LEFT, MOST_EXCESS = 0.5, 2.0
"""The next stage, as a share of what seems to be left to draw, and the Monte-Carlo error, as a
multiple of the allowed one, above which no more is believed of it."""

STAGE_CELLS = 4_000_000
"""Losses (pairs times observations) that a stage keeps in memory at most."""

PENDING_BYTES = 10_000_000
"""Memory of stages that wait to be added up while others are fitted."""

RANKED_CELLS, RANKED_SCORES = 500_000, 25_000_000
"""The same of scores of a learner, and of rows in clusters, which may be many more than these."""

SETS_PER_SIDE, SETS_PER_SIDE_LARGE = 8, 4
"""Learning sets drawn from each half of a random split: their products cost nothing, and lower the
Monte-Carlo error of Theta^2 (docs/validation/speed.md). Fewer where learning sets are
larger than n/3: sets from one half then share most observations, which costs the other estimates
precision."""

LEAST_DRAWS, LEAST_DRAWS_LARGE, LARGE_OBS = 32, 8, 500
"""Draws that a stage has at least before several sets come from each half."""

EXCHANGE_SHARE = 4
"""One split in this many has a set fitted again with one observation exchanged, for the
asymptotic variance; every split where that variance is asked for, and none for the midpoint, which
needs fewer splits than would make it precise."""

FEWEST_ROWS = 600
"""Learning sets that "auto" draws at least for AUCs; see `FEWEST_FOR_EACH` too."""

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


Products = Literal["pairs", "complete"]


@dataclass(eq=False)
class Sums:
    """Sums over rows for many fits, tables for few, or both.

    `apart` if rounds are kept step by step, by `OneByOne`.
    """

    columns: Columns
    rows: Rows | None = None
    rounds: Rounds | None = None
    products: PairProducts | None = None
    apart: bool = False
    alike: bool = True
    """Whether all learners placed every unit alike."""
    equal_scores: bool = True
    """Whether a learner told no tested unit from another."""
    n_draws: int = 0
    n_rows: int = 0
    _effects: Effects | None = field(default=None, repr=False)
    _estimates: dict[Places, Estimate] = field(default_factory=dict, repr=False)
    _few: dict[Places, FewFits] = field(default_factory=dict, repr=False)
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
        return cls(columns, rows, Rounds(strata) if few else None, of_pairs)

    def add(self, drawn: Drawn, values: Sequence[np.ndarray]) -> None:
        """Add rows, in the background where there is a thread."""
        # Rows that wait for their fit come all at once, which takes longer than a stage.
        n_bytes = sum(of_learner.nbytes for of_learner in values) + drawn.learning.nbytes
        self.wait(PENDING_BYTES // max(1, n_bytes))
        self._effects = None
        self._estimates.clear()
        self._few.clear()
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
        self._few.clear()
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
        return replace(self, columns=replace(columns, pools=pools), _estimates={}, _few={})

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

    def estimate(self, places: Places) -> Estimate:
        """From the rows so far; several tests ask about one learner, or two."""
        effects = self.effects()
        if places not in self._estimates:
            self._estimates[places] = estimate(effects, self.contrast(places))
        return self._estimates[places]

    def few_fits(self, places: Places) -> FewFits:
        """The same from the rounds so far."""
        self.wait()
        assert self.rounds is not None
        if places not in self._few:
            contrast = self.columns.of_rounds(places, self.rounds)
            self._few[places] = self.rounds.estimate(contrast)
        return self._few[places]

    def wait(self, most: int = 0) -> None:
        """Wait for rows that are being added, but for this number of stages."""
        while len(self._pending) > most:
            self._pending.pop(0).result()


# ---------------------------------------------------------------------------------- how many


@dataclass(frozen=True)
class StageSizes:
    """How many pairs are drawn at a time, and how many sets from each half."""

    sizes: Sizes
    options: UStatisticOptions
    n_learners: int
    exchanging: bool = True
    """Whether sets are fitted again with one observation exchanged, where the variance has it."""
    jointly: bool = False
    """Whether several learners are compared, whose losses are in memory together."""

    @property
    def part(self) -> int:
        """Pairs that are drawn and fitted at a time."""
        if self.jointly:
            return max(64, STAGE_CELLS // (2 * self.sizes.n_obs * self.n_learners))
        return most_pairs(self.sizes.n_obs)

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
        """Learning sets from each half of a split: many, as long as there are enough splits."""
        # Only the products gain; the other estimates prefer independent sets.
        if self.jointly or self.options.variance not in ("clipped", "unbiased"):
            return 1
        n = self.sizes.n_obs
        most_sets = SETS_PER_SIDE if 3 * self.sizes.learn_size <= n else SETS_PER_SIDE_LARGE
        least = min(LEAST_DRAWS if n <= LARGE_OBS else LEAST_DRAWS_LARGE, self.fewest)
        return max(1, min(most_sets, self.fewest // least))

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
        return self.n_learners * (2 * n_pairs + exchanges(n_draws, self.exchange_every))

    def following(self, n_pairs: int, n_fits: int, excess: float) -> int:
        """Pairs in the next stage of "auto"; 0 if none are allowed."""
        # Monte-Carlo errors fall with the root of the number: most of the rest, and at least a
        # third more, so that there are few looks.
        square = min(excess, MOST_EXCESS) ** 2 if excess > 1 else 1.0
        stage_pairs = max(self.fewest, n_pairs // 3, int(OF_WHAT_IS_LEFT * (square - 1) * n_pairs))
        size = self._leaving_a_stage(stage_pairs, n_fits)
        return size if size >= self.fewest else 0

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


@dataclass(frozen=True)
class StagesOfAuc:
    """The same of AUCs, whose sums are taken less often, as they cost more."""

    sizes: AucSizes
    options: UStatisticOptions
    n_learners: int

    sets_per_side = 1
    exchange_every = 0

    @property
    def part(self) -> int:
        """Pairs that are drawn and fitted at a time."""
        return rows_of_part(self.sizes) // 2

    @property
    def most(self) -> int:
        """Pairs that max_fits allows."""
        return self.options.max_fits // self.n_learners // 2

    @property
    def first(self) -> int:
        """Pairs in the first stage of "auto"."""
        # Coefficients are not fitted to large samples, and need no rows.
        fewest = 0 if self.sizes.singles_only else FEWEST_FOR_EACH * self.sizes.n_obs
        return max(1, min(self.most, max(FEWEST_ROWS, fewest) // 2))

    def fits(self, n_pairs: int) -> int:
        """Fits of a stage with this number of pairs."""
        return 2 * n_pairs * self.n_learners

    def following(self, n_pairs: int, n_fits: int, excess: float) -> int:
        """Pairs in the next stage of "auto"; 0 if none are allowed."""
        square = excess**2
        added = 3 * n_pairs if square > 6 else n_pairs if square > 1.4 else n_pairs // 2
        return min(added, self.most - n_pairs)


Stages = StageSizes | StagesOfAuc


def collect(
    sampler: Sampler,
    options: UStatisticOptions,
    sums: Sums,
    stages: Stages,
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
    stages: Stages,
    excess: Callable[[], float],
) -> bool:
    source, number, given_sets = sampler.source, options.n_pairs, options.given_sets
    if given_sets is not None:
        n_columns = sums.columns.n_learners if getattr(stages, "jointly", False) else 1
        for learning, draw in _given_parts(sampler, given_sets, n_columns):
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


def _draw(sampler: Sampler, sums: Sums, stages: Stages, parts: Sequence[int]) -> None:
    for size in parts:
        drawn = sampler.drawn(size, stages.sets_per_side, stages.exchange_every)
        for part in drawn.in_parts():
            sums.add(*sampler.fitted(part))


def _given_parts(
    sampler: Sampler, given_sets: object, n_learners: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The learning sets of given losses, and their draws from 0, some at a time."""
    if isinstance(given_sets, GivenPairs):
        yield from given_sets.parts(STAGE_CELLS // n_learners)
        return
    rows = rows_of_part(sampler.sizes, n_learners)
    for some, draw in given_sets.parts(rows):  # type: ignore[attr-defined]
        yield given_sets.design.learning[some], draw  # type: ignore[attr-defined]


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
