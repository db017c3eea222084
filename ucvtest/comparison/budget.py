"""How many fits a comparison may take, in all or in a number of seconds, shared by its tests."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ucvtest import hooks
from ucvtest.common.execution import Execution
from ucvtest.common.words import arg
from ucvtest.comparison.default import Affordable
from ucvtest.comparison.planned_tests import Plan, PlannedTest, naming_test, turns_of
from ucvtest.evaluation.problem import Problem
from ucvtest.evaluation.time_budget import decided_fits, too_few_seconds
from ucvtest.kernels.ustatistic.few import LEAST_ROUNDS
from ucvtest.results.columns import Pair

FEWEST_OF_EACH = 2 * LEAST_ROUNDS
"""Fits of each learner, for each of its pairs, with which the recommended test answers."""


@dataclass(frozen=True)
class Budget:
    """The fits of all learners that there may be: a number, or those that there is time for."""

    max_fits: int | None
    max_seconds: float | None
    execution: Execution

    def _fits(self, problem: Problem, size: int) -> int:
        """Fits to learning sets of this size."""
        if self.max_seconds is None:
            assert self.max_fits is not None
            return self.max_fits
        fitting_problem = problem.fitting(size)
        with hooks.fitting(fitting_problem):
            return decided_fits(fitting_problem, size, self.max_seconds, self.execution)

    def _too_few(self, n_fits: int, least_fits: int, of_fits: str, purpose: str) -> ValueError:
        """The refusal of a budget; `of_fits` and `purpose` say what it does not suffice for."""
        if self.max_seconds is not None:
            return too_few_seconds(self.max_seconds, n_fits, least_fits, purpose)
        return ValueError(
            f"{arg('max_fits', self.max_fits)} is too few for {of_fits}: use "
            f"{arg('max_fits', least_fits)} or more"
        )

    def affordable(self, pairs: Sequence[Pair]) -> Affordable:
        """The fits of two learners out of the fits of all.

        Of each of some pairs, unless a learner's fits are `shared` by all of its pairs.
        """

        def affordable(problem: Problem, *, shared: bool) -> int:
            n_obs, n_learners = problem.sample.n_obs, len(problem.learners)
            # Most tests learn from most of the sample, which takes longer than less.
            n_fits = self._fits(problem, n_obs - n_obs // 10)
            n_turns = 1 if shared else turns_of(pairs)
            if n_fits // n_learners < FEWEST_OF_EACH * n_turns:
                least_fits = FEWEST_OF_EACH * n_turns * n_learners
                of_fits = f"{n_learners} learners"
                raise self._too_few(n_fits, least_fits, of_fits, "the recommended test")
            return 2 * (n_fits // n_learners) // n_turns

        return affordable

    def within(self, plan: Plan) -> Plan:
        """The plan with no more fits than these.

        What tests with learning sets of their own do not need at least is shared out among them.

        Raises
        ------
        ValueError
            If designs, and what other tests need at least, take more.
        """
        sizes = [shared.drawn.learn_sizes[-1] for shared in plan.shared]
        sizes += [test.question.learn_size for test in plan.own_set_tests]
        problem = plan.first.question.with_learners(plan.request.learners).problem
        size = min(problem.learnt_rows(max(sizes)), problem.sample.n_obs - 1)
        n_fits = self._fits(problem, size)
        learners, n_turns = len(plan.request.learners), turns_of(plan.request.pairs)
        of_designs = sum(shared.drawn.n_resamples for shared in plan.shared)
        # Fits of each learner that a test takes at least.
        least_rounds: dict[str, int] = {}
        for test in plan.own_set_tests:
            with naming_test(test.label):
                if test.joint_run is not None:
                    least_rounds[test.label] = int(test.joint_run.least_fits_of_each)
                    continue
                of_pairs = (
                    of_pair.least_fits(test.options[pair]) for pair, of_pair in test.tests.items()
                )
                least_rounds[test.label] = n_turns * -(-max(of_pairs) // 2)
        rounds, needed_rounds = n_fits // learners, of_designs + sum(least_rounds.values())
        if needed_rounds > rounds:
            names, least_fits = ", ".join(plan.specs), needed_rounds * learners
            of_fits = f"{names}, which takes {least_fits} at least"
            raise self._too_few(n_fits, least_fits, of_fits, f"the comparison by {names}")
        spare_rounds = (rounds - needed_rounds) // max(len(plan.own_set_tests), 1)
        own_set_tests = (
            _bounded(test, least_rounds[test.label] + spare_rounds, n_turns)
            for test in plan.own_set_tests
        )
        return plan.with_alone(tuple(own_set_tests))


def _bounded(planned: PlannedTest, rounds: int, n_turns: int) -> PlannedTest:
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
