"""Tests of pairs of learners on one table of losses: where every comparison ends."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ucvtest.comparison.comparison import Fits
from ucvtest.comparison.planned_tests import naming_test, own_arguments
from ucvtest.comparison.several_metrics import directions_of
from ucvtest.comparison.specs import TestSpec
from ucvtest.data.groups import GroupWeight
from ucvtest.inference.base import HypothesisTest
from ucvtest.losses.table import Losses
from ucvtest.results.columns import Key, Pair, PairResults, ResultColumns
from ucvtest.results.fields import Contrast
from ucvtest.results.joint_result import JointResult
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.wald import Alternative

MOST_MADE = 50
"""Pairs whose results are all made at once; of more each is made when it is asked for."""


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
            class_arguments = own_arguments(cls, request.contrast)
            if request.losses.groups is not None:
                class_arguments["group_weight"] = request.group_weight
            test: HypothesisTest = cls.from_losses(
                request.losses, *names, alternative=request.alternative, **class_arguments
            )
            return test

    def results(self) -> tuple[dict[Pair, TestResult], JointEstimates | None]:
        """The results of all pairs, and what joins the learners where they are judged together."""
        if not self.request.simultaneous:
            return {pair: self.result_of(pair) for pair in self.request.pairs}, None
        results, joint_estimates = self._joined(*self.request.pairs)
        return {pair: results[pair] for pair in self.request.pairs}, joint_estimates

    def many_results(self) -> tuple[PairResults, JointEstimates | None] | None:
        """The same of many pairs, whose results are made when they are asked for.

        None where there are few, or the test knows the numbers of pairs one after the other alone.
        """
        pairs = self.request.pairs
        if len(pairs) <= MOST_MADE:
            return None
        learners = self.request.losses.learners
        place_of = {name: place for place, name in enumerate(learners)}
        places = np.array([[place_of[name] for name in pair] for pair in pairs])
        first_test = self.of(*pairs[0])
        with naming_test(self.label):
            numbers = first_test.numbers_of_pairs(
                places, first_test.fit_options(**self.fit_options)
            )
            if numbers is None or not numbers.plain.any():
                return None
            special = np.flatnonzero(~numbers.plain).tolist()
            # Of the plain ones a pair with the fewest degrees of freedom, which join all pairs.
            dfs = np.where(numbers.plain, np.nan_to_num(numbers.df, nan=sys.float_info.max), np.inf)
            plain_pair = pairs[int(np.argmin(dfs))]
            columns = ResultColumns(
                pairs,
                numbers,
                {place: self.result_of(pairs[place]) for place in special},
                self.result_of(plain_pair),
            )
        joint_estimates = None
        if self.request.simultaneous:
            _, joint_estimates = self._joined(plain_pair)
        return PairResults(columns, self.result_of), joint_estimates

    def result_of(self, pair: Pair) -> TestResult:
        """The result of one pair."""
        test = self.of(*pair)
        with naming_test(self.label):
            return test.run(test.fit_options(**self.fit_options), test.question.execution())

    def _joined(self, *pairs: Pair) -> tuple[dict[Any, TestResult], JointEstimates]:
        """The results of each learner and of pairs, with what joins the learners."""
        single_learner_tests: dict[Any, HypothesisTest] = {}
        for name in self.request.losses.learners:
            test = self.of(name)
            single_learner_tests[name] = test.asking(test.question.untested())
        pair_tests = {pair: self.of(*pair) for pair in pairs}
        with naming_test(self.label):
            return self.spec.cls.simultaneous_results(
                {**single_learner_tests, **pair_tests},
                self.request.losses.in_losses,
                self.fit_options,
            )


@dataclass(frozen=True, eq=False)
class Findings:
    """The results of tests, by label and pair, and of all learners together."""

    results: dict[Key, TestResult] = field(default_factory=dict)
    fits: list[Fits] = field(default_factory=list)
    joint: dict[str, JointResult] = field(default_factory=dict)
    together: dict[str, JointEstimates] = field(default_factory=dict)
    directions: dict[Key, tuple[Any, np.ndarray]] = field(default_factory=dict)
    """What the errors of differences go by, with the fits that are their source."""

    def add(
        self, label: str, test: TestOnLosses, together: JointEstimates | None, source: Any = None
    ) -> None:
        """Keep what a test says of all learners; of several metrics with the source of its fits."""
        request, cls = test.request, test.spec.cls
        joint = cls.joint_result(request.losses, request.group_weight)
        if joint is not None:
            self.joint[label] = joint
        if together is not None:
            self.together[label] = together
        if source is not None and request.simultaneous and cls.needs.by_rows:
            for pair, direction in directions_of(request.losses, request.pairs).items():
                self.directions[label, *pair] = source, direction
