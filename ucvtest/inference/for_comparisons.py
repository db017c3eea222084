"""What comparisons, plans and budgets ask of a test."""

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ucvtest.data.groups import GroupWeight
from ucvtest.designs.design import Design
from ucvtest.designs.scheme_base import NamedDesign
from ucvtest.inference.question import Question
from ucvtest.losses.table import Losses
from ucvtest.results.columns import PairNumbers
from ucvtest.results.joint_result import JointResult
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates


class ForComparisons:
    """The part of `HypothesisTest` that serves several tests at once; tests of one need none."""

    question: Question

    def asking(self, question: Question) -> Self:
        """The same test, with the same options, of another question about the same sample."""
        test = copy.copy(self)
        test.question = question
        return test

    def shared_design(
        self, fit_options: Mapping[str, Any]
    ) -> tuple[NamedDesign | None, Mapping[str, Any]]:
        """The design whose losses are shared with other tests, and the options of `fit` left over.

        No design where the test draws its own learning sets.
        """
        return None, fit_options

    def least_fits(self, options: Any) -> int:
        """Fits of its learners that a test with learning sets of its own takes at least.

        Raises
        ------
        ValueError
            If a test does not say.
        """
        raise ValueError(
            f"max_seconds is not for {type(self).__name__}, whose number of fits is not known: "
            "leave it out"
        )

    def within_fits(self, options: Any, most_fits: int) -> Any:
        """The options with at most this number of fits, no fewer than `least_fits`."""
        return options

    def check_test_sets(self, design: Design) -> None:
        """Refuse test sets on which the test would have no estimate; before the first fit."""
        return

    def numbers_of_pairs(self, places: np.ndarray, options: Any) -> PairNumbers | None:
        """The numbers of this test for many pairs (M, 2) of the learners of its losses.

        None where it knows no shorter way than one pair after the other.
        """
        return None

    @classmethod
    def joint_result(
        cls, losses: Losses, group_weight: GroupWeight = "group"
    ) -> JointResult | None:
        """The test of all learners at once, where there is one."""
        return None

    @classmethod
    def simultaneous_results(
        cls, tests: Mapping[Any, Any], losses: Losses, options: Mapping[str, Any]
    ) -> tuple[dict[Any, TestResult], JointEstimates]:
        """The results of tests of each learner, by name, and of pairs, with what joins them."""
        raise NotImplementedError(f"{cls.__name__} knows no joint covariance of learners")
