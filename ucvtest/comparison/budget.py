"""How many fits a comparison may take, in all or in a number of seconds, shared by its tests."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ucvtest import hooks
from ucvtest.common.execution import Execution
from ucvtest.comparison.default import Affordable
from ucvtest.comparison.planned_tests import Plan, PlannedTest, naming_test, turns_of
from ucvtest.evaluation.problem import Problem
from ucvtest.evaluation.time_budget import fits_within, too_few_seconds
from ucvtest.results.columns import Pair
from ucvtest.stats.few_fits import LEAST_ROUNDS

FEWEST_OF_EACH = 2 * LEAST_ROUNDS
"""Fits of each learner, for each of its pairs, with which the recommended test answers."""


def affordable_of(max_fits: int, pairs: Sequence[Pair]) -> Affordable:
    """The fits of two learners out of the fits of all.

    Of each of some pairs, unless a learner's fits are `shared` by all of its pairs.
    """

    def affordable(problem: Problem, *, shared: bool) -> int:
        n_learners, n_turns = len(problem.learners), 1 if shared else turns_of(pairs)
        if max_fits // n_learners < FEWEST_OF_EACH * n_turns:
            raise ValueError(
                f"max_fits={max_fits} is too few for {n_learners} learners: use max_fits="
                f"{FEWEST_OF_EACH * n_turns * n_learners} or more"
            )
        return 2 * (max_fits // n_learners) // n_turns

    return affordable


def affordable_within(
    max_seconds: float, pairs: Sequence[Pair], execution: Execution
) -> Affordable:
    """The same that there is time for."""

    def affordable(problem: Problem, *, shared: bool) -> int:
        # Most tests learn from most of the sample, which takes longer than less.
        size = problem.sample.n_obs - problem.sample.n_obs // 10
        n_fits = _affordable_fits(problem, size, max_seconds, execution, "fits")
        n_learners, n_turns = len(problem.learners), 1 if shared else turns_of(pairs)
        if n_fits // n_learners < FEWEST_OF_EACH * n_turns:
            least_fits = FEWEST_OF_EACH * n_turns * n_learners
            raise too_few_seconds(max_seconds, n_fits, least_fits, "the recommended test")
        return 2 * (n_fits // n_learners) // n_turns

    return affordable


def within_seconds(plan: Plan, max_seconds: float, execution: Execution) -> Plan:
    """The plan with no more fits than there is time for.

    What tests with learning sets of their own do not need at least is shared out among them.

    Raises
    ------
    ValueError
        If designs, and what other tests need at least, take longer.
    """
    sizes = [shared.drawn.learn_sizes[-1] for shared in plan.shared]
    sizes += [test.question.learn_size for test in plan.own_set_tests]
    problem = plan.first.question.with_learners(plan.request.learners).problem
    size = min(problem.learnt_rows(max(sizes)), problem.sample.n_obs - 1)
    n_fits = _affordable_fits(problem, size, max_seconds, execution, "fits of named tests")

    def too_few_fits(least_fits: int, test_names: str) -> ValueError:
        return too_few_seconds(max_seconds, n_fits, least_fits, f"the comparison by {test_names}")

    return _shared_out(plan, n_fits, too_few_fits)


def within_fits(plan: Plan, max_fits: int) -> Plan:
    """The plan with no more fits than these in all, shared out as in `within_seconds`.

    Raises
    ------
    ValueError
        If designs, and what other tests need at least, take more.
    """

    def too_few_fits(least_fits: int, test_names: str) -> ValueError:
        return ValueError(
            f"max_fits={max_fits} is too few for {test_names}, which takes {least_fits} at least: "
            f"use max_fits={least_fits} or more"
        )

    return _shared_out(plan, max_fits, too_few_fits)


def _shared_out(plan: Plan, n_fits: int, too_few_fits: Callable[[int, str], ValueError]) -> Plan:
    """The plan with this number of fits of all learners; `too_few_fits` gets the least number."""
    learners, n_turns = len(plan.request.learners), turns_of(plan.request.pairs)
    of_designs = sum(shared.drawn.n_resamples for shared in plan.shared)
    # Fits of each learner that a test takes at least.
    least_rounds: dict[str, int] = {}
    for test in plan.own_set_tests:
        with naming_test(test.label):
            if test.joint_run is not None:
                least_rounds[test.label] = int(test.joint_run.least_fits_of_each)
                continue
            of_pairs = (each.least_fits(test.options[pair]) for pair, each in test.tests.items())
            least_rounds[test.label] = n_turns * -(-max(of_pairs) // 2)
    rounds, needed_rounds = n_fits // learners, of_designs + sum(least_rounds.values())
    if needed_rounds > rounds:
        raise too_few_fits(needed_rounds * learners, ", ".join(plan.specs))
    spare_rounds = (rounds - needed_rounds) // max(len(plan.own_set_tests), 1)
    own_set_tests = (
        _within(test, least_rounds[test.label] + spare_rounds, n_turns)
        for test in plan.own_set_tests
    )
    return plan.with_alone(tuple(own_set_tests))


def _affordable_fits(
    problem: Problem, size: int, max_seconds: float, execution: Execution, purpose: str
) -> int:
    """Fits of all learners, each to as many learning sets; a checkpoint knows the number."""
    fitting_problem = problem.fitting(size)
    with hooks.fitting(fitting_problem):
        return execution.progress.recall_or_decide(
            f"{purpose} in {max_seconds:g} s",
            lambda: fits_within(fitting_problem, size, max_seconds, execution),
        )


def _within(planned: PlannedTest, rounds: int, n_turns: int) -> PlannedTest:
    """A test with at most this number of fits of each learner, and the number among its options."""
    run = planned.joint_run
    if run is not None:
        bounded_run = run.within(rounds)
        bounded_test = replace(planned, joint_run=bounded_run)
        is_bounded = bounded_run.max_fits != run.max_fits
        return bounded_test.naming(max_fits=bounded_run.max_fits) if is_bounded else bounded_test
    most_fits = 2 * (rounds // n_turns)
    options = {
        pair: test.within_fits(planned.options[pair], most_fits)
        for pair, test in planned.tests.items()
    }
    bounded_test = replace(planned, options=options)
    # Draws that are counted already are not bounded.
    if options == planned.options:
        return bounded_test
    return bounded_test.naming(max_fits=next(iter(options.values())).max_fits)
