"""Tests of pairs of learners on one table of losses: where every comparison ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ucvtest.comparison.fields import Pair
from ucvtest.comparison.planned_tests import naming_test, own_arguments
from ucvtest.comparison.specs import TestSpec
from ucvtest.data.groups import GroupWeight
from ucvtest.inference.base import HypothesisTest
from ucvtest.losses.table import Losses
from ucvtest.results.fields import Contrast
from ucvtest.results.joint_result import JointResult
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.wald import Alternative

__all__ = ["LossesToCompare", "TestOnLosses"]


@dataclass(frozen=True, eq=False)
class LossesToCompare:
    """Losses of several learners, their pairs, and the question about each pair."""

    losses: Losses
    pairs: tuple[Pair, ...]
    alternative: Alternative
    group_weight: GroupWeight = "group"
    contrast: Contrast = "difference"
    simultaneous: bool = False


@dataclass(frozen=True, eq=False)
class TestOnLosses:
    """A test with its options, for the pairs of some losses."""

    # pytest would otherwise take the name for a test class.
    __test__ = False

    label: str
    spec: TestSpec
    request: LossesToCompare
    fit_options: Mapping[str, Any]

    def of(self, *names: str) -> HypothesisTest:
        """The test of one learner, or of a pair; refused if it does not accept the losses."""
        cls: Any = self.spec.cls
        request = self.request
        with naming_test(self.label):
            if not cls.takes_losses:
                return cls.from_losses(request.losses, *names)
            class_arguments = own_arguments(cls, request.contrast)
            if request.losses.groups is not None:
                class_arguments["group_weight"] = request.group_weight
            test: HypothesisTest = cls.from_losses(
                request.losses, *names, alternative=request.alternative, **class_arguments
            )
            return test

    def results(self) -> tuple[dict[Pair, TestResult], JointEstimates | None]:
        """The results of all pairs, and what joins the learners where they are judged together."""
        tests = {pair: self.of(*pair) for pair in self.request.pairs}
        with naming_test(self.label):
            if not self.request.simultaneous:
                results_by_pair = {
                    pair: test.run(test.fit_options(**self.fit_options), test.question.execution())
                    for pair, test in tests.items()
                }
                return results_by_pair, None
            single_learner_tests: dict[Any, HypothesisTest] = {}
            for name in self.request.losses.learners:
                test = self.of(name)
                single_learner_tests[name] = test.asking(test.question.untested())
            cls = self.spec.cls
            results, joint_estimates = cls.simultaneous_results(
                {**single_learner_tests, **tests}, self.request.losses.in_losses, self.fit_options
            )
            return {pair: results[pair] for pair in tests}, joint_estimates

    def joint(self) -> JointResult | None:
        """The test of all learners at once, where there is one."""
        return self.spec.cls.joint_result(self.request.losses, self.request.group_weight)
