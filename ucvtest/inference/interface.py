"""What users, comparisons, plans and budgets read of a test, apart from its result."""

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ucvtest.common.words import arg, call
from ucvtest.data.groups import Clusters, GroupWeight
from ucvtest.data.sample import Sample
from ucvtest.designs.design import Design
from ucvtest.designs.scheme_base import NamedDesign
from ucvtest.inference.question import Question
from ucvtest.learners.base import Learner
from ucvtest.losses.table import Losses
from ucvtest.results.columns import PairNumbers
from ucvtest.results.joint_result import JointResult
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.wald import Alternative


class Interface:
    """The part of `HypothesisTest` that computes nothing."""

    question: Question
    """What is asked; the same whether it is about data or about losses that exist."""

    @property
    def planned_fits(self) -> int | None:
        """Model fits that `fit` is going to make; None where its options decide."""
        return 0 if self.question.observed is not None else None

    def __repr__(self) -> str:
        names = [repr(name) for name in self.question.learner_names]
        metric_and_size = (
            f"metric={self.question.metric.reported_name!r:.40}, n_obs={self.question.n_obs}"
        )
        n_fits = self.planned_fits
        fits = "as many fits as its options say" if n_fits is None else f"{n_fits} fits"
        return (
            f"<{type(self).__name__}({', '.join(names)}, {metric_and_size}), not run yet: {fits}>"
        )

    @property
    def sample(self) -> Sample | None:
        """The data; None for a test that was made from losses."""
        return self.question.sample

    @property
    def metric(self) -> Any:
        """The metric of the estimand."""
        return self.question.metric

    @property
    def learners(self) -> tuple[Learner, ...]:
        """The learner, or both; none where losses were given."""
        return tuple(self.question.learners.values())

    @property
    def positive(self) -> Any:
        """The positive class; None if there is none, or losses were given."""
        return self.question.positive

    @property
    def paired(self) -> bool:
        """Whether two learners are compared."""
        return self.question.paired

    @property
    def n_obs(self) -> int:
        """Observations of the sample."""
        return self.question.n_obs

    @property
    def clusters(self) -> Clusters | None:
        """The clusters that are the observations of the test; None where rows are."""
        return self.question.clusters

    @property
    def n_units(self) -> int:
        """Clusters, or observations if there are none."""
        return self.question.n_units

    @property
    def target(self) -> np.ndarray:
        """Numbers of the classes, or the real response, shape (n,)."""
        return self.question.target

    @property
    def null_value(self) -> float:
        """The value of the estimand under H0; NaN where nothing is tested."""
        return self.question.asked_hypothesis.null_value

    @property
    def alternative(self) -> Alternative:
        """H1: "two-sided", "less" or "greater"."""
        return self.question.asked_hypothesis.alternative

    # -------------------------------------------------------------------- for comparisons

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
            f"{arg('max_seconds')} is not for {call(type(self).__name__)}, whose number of fits is "
            "not known: leave it out"
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
