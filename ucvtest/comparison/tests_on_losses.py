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
    """Losses of several learners, the pairs of these, and what is asked of each pair."""

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
    asked: LossesToCompare
    fit_options: Mapping[str, Any]

    def of(self, *names: str) -> HypothesisTest:
        """The test of one learner, or of a pair; refused if it does not admit the losses."""
        cls: Any = self.spec.cls
        asked = self.asked
        with naming_test(self.label):
            if not cls.takes_losses:
                return cls.from_losses(asked.losses, *names)
            own = own_arguments(cls, asked.contrast)
            if asked.losses.groups is not None:
                own["group_weight"] = asked.group_weight
            test: HypothesisTest = cls.from_losses(
                asked.losses, *names, alternative=asked.alternative, **own
            )
            return test

    def results(self) -> tuple[dict[Pair, TestResult], JointEstimates | None]:
        """The results of all pairs, and what joins the learners where they are judged together."""
        tests = {pair: self.of(*pair) for pair in self.asked.pairs}
        with naming_test(self.label):
            if not self.asked.simultaneous:
                found = {
                    pair: test.run(test.fit_options(**self.fit_options), test.question.execution())
                    for pair, test in tests.items()
                }
                return found, None
            alone: dict[Any, HypothesisTest] = {}
            for name in self.asked.losses.learners:
                test = self.of(name)
                alone[name] = test.asking(test.question.untested())
            cls = self.spec.cls
            results, together = cls.simultaneous_results(
                {**alone, **tests}, self.asked.losses.in_losses, self.fit_options
            )
            return {pair: results[pair] for pair in tests}, together

    def joint(self) -> JointResult | None:
        """The test of all learners at once, where there is one."""
        return self.spec.cls.joint_result(self.asked.losses, self.asked.group_weight)
