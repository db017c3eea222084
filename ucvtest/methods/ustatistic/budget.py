"""How many learning sets: stages of "auto", the limit on fits, and the least number for an answer.

The least number is known before the first fit: Monte-Carlo errors are not known from fewer learning
sets. The draws show whether it is enough; then all allowed fits are used.
"""

from dataclasses import dataclass, replace

from ucvtest.common.execution import Execution
from ucvtest.common.words import arg
from ucvtest.evaluation.time_budget import decided_fits, too_few_seconds
from ucvtest.inference.question import Question
from ucvtest.kernels.ustatistic.few import LEAST_ROUNDS
from ucvtest.methods.ustatistic.auc_sizes import FEWEST_FOR_EACH
from ucvtest.methods.ustatistic.learning_sets import LearningSets
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.run import (
    MIN_PAIRS,
    STAGE_CELLS,
    STAGE_PAIRS,
    exchanges,
    in_parts,
    most_pairs,
    rows_of_part,
)
from ucvtest.methods.ustatistic.sizes import Sizes

OF_WHAT_IS_LEFT, MOST_EXCESS = 0.5, 2.0
"""The next stage, as a share of what seems to be left to draw, and the Monte-Carlo error, as a
multiple of the allowed one, above which no more is believed of it."""

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

NOT_EXCHANGED = ("midpoint", "few")
"""Variances without the asymptotic one beside them."""

FEWEST_ROWS = 600
"""Learning sets that "auto" draws at least for AUCs; see `FEWEST_FOR_EACH` too."""


@dataclass(frozen=True)
class Stages:
    """How many pairs are drawn at a time, how many sets from each half, and how many fits that is.

    Sums of AUCs cost more, and are taken less often. Where several learners are compared `jointly`,
    their losses are in memory together, and no sets are fitted again with an observation exchanged.
    """

    learning_sets: LearningSets
    options: UStatisticOptions
    n_learners: int
    jointly: bool = False

    @property
    def part(self) -> int:
        """Pairs that are drawn and fitted at a time."""
        sizes = self.learning_sets.sizes
        if not isinstance(sizes, Sizes):
            return rows_of_part(sizes) // 2
        if self.jointly:
            return max(64, STAGE_CELLS // (2 * sizes.n_obs * self.n_learners))
        return most_pairs(sizes.n_obs)

    @property
    def fewest(self) -> int:
        """A number of pairs that every stage has at least."""
        number = self.options.n_pairs
        if isinstance(number, int):
            return in_parts(number, most_pairs(self.learning_sets.sizes.n_obs))[-1]
        return max(2, min(STAGE_PAIRS, self.options.max_fits // (3 * self.n_learners)))

    @property
    def first(self) -> int:
        """Pairs in the first stage of "auto"."""
        sizes = self.learning_sets.sizes
        if isinstance(sizes, Sizes):
            return self._leaving_a_stage(self.fewest, n_fits=0)
        # Coefficients are not fitted to large samples, and need no rows.
        fewest = 0 if sizes.singles_only else FEWEST_FOR_EACH * sizes.n_obs
        return max(1, min(self._affordable(0), max(FEWEST_ROWS, fewest) // 2))

    @property
    def sets_per_side(self) -> int:
        """Learning sets from each half of a split: many, as long as there are enough splits."""
        # Only the products gain; the other estimates prefer independent sets.
        if self.jointly or self.options.variance not in ("clipped", "unbiased"):
            return 1
        n, g = self.learning_sets.sizes.n_obs, self.learning_sets.learn_size
        most_sets = SETS_PER_SIDE if 3 * g <= n else SETS_PER_SIDE_LARGE
        least = min(LEAST_DRAWS if n <= LARGE_OBS else LEAST_DRAWS_LARGE, self.fewest)
        return max(1, min(most_sets, self.fewest // least))

    @property
    def exchange_every(self) -> int:
        """One draw in this many has a set with one observation exchanged; 0 for none."""
        sets, variance = self.learning_sets, self.options.variance
        of_losses = isinstance(sets.sizes, Sizes) and sets.contrast == "difference"
        if not (of_losses and sets.sizes.disjoint) or self.jointly or variance in NOT_EXCHANGED:
            return 0
        return 1 if variance == "asymptotic" else EXCHANGE_SHARE

    def fits(self, n_pairs: int) -> int:
        """Fits of a stage with this number of pairs."""
        n_draws = -(-n_pairs // self.sets_per_side)
        return self.n_learners * (2 * n_pairs + exchanges(n_draws, self.exchange_every))

    def following(self, n_pairs: int, n_fits: int, excess: float) -> int:
        """Pairs in the next stage of "auto"; 0 if none are allowed."""
        if not isinstance(self.learning_sets.sizes, Sizes):
            square = excess**2
            added = n_pairs // 2 if square <= 1.4 else n_pairs if square <= 6 else 3 * n_pairs
            return min(added, self._affordable(n_fits))
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

    @property
    def least_fits(self) -> int:
        """Fits of all learners without which there is no answer; all of them for counted pairs."""
        sizes, options = self.learning_sets.sizes, self.options
        if options.n_pairs == "exact":
            return self.n_learners * sizes.complete
        by_few_fits = options.variance == "few" or (options.may_be_few and sizes.in_rounds)
        if by_few_fits and options.n_pairs == "auto":
            return 2 * self.n_learners * LEAST_ROUNDS
        return self._fits_of_many

    @property
    def _fits_of_many(self) -> int:
        """Fits of the pairs that are asked for, or that their own Monte-Carlo errors take."""
        sizes, number = self.learning_sets.sizes, self.options.n_pairs
        if not isinstance(sizes, Sizes):
            return self.fits(
                number if isinstance(number, int) else -(-sizes.rows_for_variances // 2)
            )
        n_pairs = number if isinstance(number, int) else MIN_PAIRS
        stages = replace(self, options=replace(self.options, n_pairs=n_pairs))
        return sum(map(stages.fits, in_parts(n_pairs, most_pairs(sizes.n_obs))))

    def check(self) -> None:
        """Refuse fewer fits than an answer takes, before the first of them."""
        needed_fits, max_fits = self.least_fits, self.options.max_fits
        if needed_fits > max_fits:
            learners = "1 learner" if self.n_learners == 1 else f"{self.n_learners} learners"
            number, purpose, other = self.options.n_pairs, self.options.purpose, ""
            if number != "auto":
                purpose, other = arg("n_pairs", number), f", or use {arg('n_pairs', 'auto')}"
            raise ValueError(
                f"{arg('max_fits', max_fits)} is too few: {purpose} needs at least {needed_fits} "
                f"fits of {learners}: raise {arg('max_fits')} to {needed_fits} or more{other}"
            )

    def few_if_needed(self) -> UStatisticOptions:
        """The options, with the variance of few fits if fits do not suffice for another."""
        options, sizes, number = self.options, self.learning_sets.sizes, self.options.n_pairs
        in_pairs = options.given_sets is None and number != "exact"
        if not (in_pairs and options.may_be_few and sizes.in_rounds):
            return options
        if isinstance(number, int):
            fewest = MIN_PAIRS if isinstance(sizes, Sizes) else -(-sizes.rows_for_variances // 2)
            short = LEAST_ROUNDS <= number < fewest
        else:
            short = 2 * self.n_learners * LEAST_ROUNDS <= options.max_fits < self._fits_of_many
        return replace(options, variance="few") if short else options

    def limited_by_time(self, question: Question, execution: Execution) -> UStatisticOptions:
        """The options with the fits that fit into the time; progress receives the limit."""
        options, seconds = self.options, self.options.max_seconds
        if seconds is not None:
            problem = question.data("max_seconds")
            rows = problem.learnt_rows(self.learning_sets.learn_size)
            affordable_fits = decided_fits(problem, rows, seconds, execution)
            options = options.within(affordable_fits)
            needed_fits = replace(self, options=options).least_fits
            if options.max_fits < needed_fits:
                raise too_few_seconds(seconds, affordable_fits, needed_fits, options.purpose)
        if options.n_pairs == "auto" and options.given_sets is None:
            execution.announce_total(options.max_fits, at_most=True)
            if seconds is not None:
                execution.update_eta(options.max_fits)
        return options
