"""The limit on fits, and the least number of fits for an answer.

The least number is known before the first fit: Monte-Carlo errors are not known from fewer learning
sets. The draws show whether it is enough; then all allowed fits are used.
"""

from dataclasses import replace

from ucvtest.common.execution import Execution
from ucvtest.common.words import arg
from ucvtest.evaluation.time_budget import decided_fits, too_few_seconds
from ucvtest.inference.question import Question
from ucvtest.kernels.ustatistic.few import LEAST_ROUNDS
from ucvtest.methods.ustatistic.learning_sets import LearningSets
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.run import MIN_PAIRS, StageSizes, in_parts, most_pairs
from ucvtest.methods.ustatistic.sizes import Sizes


def least_fits(
    learning_sets: LearningSets,
    options: UStatisticOptions,
    n_learners: int,
    *,
    jointly: bool = False,
) -> int:
    """Fits of all learners without which there is no answer; all of them where pairs are counted.

    No sets are fitted again with an observation exchanged where learners are fitted `jointly`.
    """
    sizes, number = learning_sets.sizes, options.n_pairs
    if number == "exact":
        return n_learners * sizes.complete
    by_few_fits = options.variance == "few" or (options.may_be_few and sizes.in_rounds)
    if by_few_fits and number == "auto":
        return 2 * n_learners * LEAST_ROUNDS
    if not isinstance(sizes, Sizes):
        n_pairs = number if isinstance(number, int) else -(-sizes.rows_for_variances // 2)
        return 2 * n_learners * n_pairs
    return _fits_of_pairs(learning_sets, options, n_learners, jointly=jointly)


def _fits_of_pairs(
    learning_sets: LearningSets, options: UStatisticOptions, n_learners: int, *, jointly: bool
) -> int:
    """Fits of the pairs that are asked for, or that their own Monte-Carlo errors take."""
    sizes = learning_sets.sizes
    assert isinstance(sizes, Sizes)
    n_pairs = options.n_pairs if isinstance(options.n_pairs, int) else MIN_PAIRS
    exchanging = learning_sets.contrast == "difference" and not jointly
    steps = StageSizes(sizes, replace(options, n_pairs=n_pairs), n_learners, exchanging)
    return sum(map(steps.fits, in_parts(n_pairs, most_pairs(sizes.n_obs))))


def check_budget(
    learning_sets: LearningSets,
    options: UStatisticOptions,
    n_learners: int,
    *,
    jointly: bool = False,
) -> None:
    """Refuse fewer fits than an answer takes, before the first of them."""
    needed_fits = least_fits(learning_sets, options, n_learners, jointly=jointly)
    max_fits = options.max_fits
    if needed_fits > max_fits:
        learners = "1 learner" if n_learners == 1 else f"{n_learners} learners"
        number = options.n_pairs
        purpose, other = _purpose(options), ""
        if number != "auto":
            purpose, other = arg("n_pairs", number), f", or use {arg('n_pairs', 'auto')}"
        raise ValueError(
            f"{arg('max_fits', max_fits)} is too few: {purpose} needs at least {needed_fits} fits "
            f"of {learners}: raise {arg('max_fits')} to {needed_fits} or more{other}"
        )


def _purpose(options: UStatisticOptions) -> str:
    return "an answer" if options.may_be_few else f"the {options.variance} variance"


def few_if_needed(
    learning_sets: LearningSets,
    options: UStatisticOptions,
    n_learners: int,
    *,
    jointly: bool = False,
) -> UStatisticOptions:
    """The options, with the variance of few fits if fits do not suffice for another."""
    sizes, number = learning_sets.sizes, options.n_pairs
    in_pairs = options.given_sets is None and number != "exact"
    if not in_pairs or not options.may_be_few or not sizes.in_rounds:
        return options
    if not isinstance(sizes, Sizes):
        fewest = -(-sizes.rows_for_variances // 2)
        n_pairs = number if isinstance(number, int) else options.max_fits // (2 * n_learners)
        return replace(options, variance="few") if LEAST_ROUNDS <= n_pairs < fewest else options
    if isinstance(number, int):
        short = LEAST_ROUNDS <= number < MIN_PAIRS
    else:
        needed_fits = _fits_of_pairs(learning_sets, options, n_learners, jointly=jointly)
        short = options.max_fits < needed_fits
    return replace(options, variance="few") if short else options


def capped(options: UStatisticOptions, most_fits: int) -> UStatisticOptions:
    """The options with this limit on fits, unless the number of fits is fixed."""
    if options.n_pairs != "auto":
        return options
    return replace(options, max_fits=min(options.max_fits, most_fits))


def limited_by_time(
    question: Question,
    learning_sets: LearningSets,
    options: UStatisticOptions,
    execution: Execution,
) -> UStatisticOptions:
    """The options with the number of fits that fits into the time; progress receives the limit."""
    seconds, n_learners = options.max_seconds, len(question.learners)
    if seconds is not None:
        problem = question.data("max_seconds")
        rows = problem.learnt_rows(learning_sets.learn_size)
        affordable_fits = decided_fits(problem, rows, seconds, execution)
        options = replace(options, max_fits=min(options.max_fits, affordable_fits))
        needed_fits = least_fits(learning_sets, options, n_learners)
        if options.max_fits < needed_fits:
            raise too_few_seconds(seconds, affordable_fits, needed_fits, _purpose(options))
    if options.n_pairs == "auto" and options.given_sets is None:
        execution.announce_total(options.max_fits, at_most=True)
        if seconds is not None:
            execution.update_eta(options.max_fits)
    return options
