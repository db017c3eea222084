"""The frame of every test: a question about losses that exist, or about data, and its answer.

A test is a question (`inference.question`) and options of its own. A class declares what it needs,
keeps its own options in `_ask`, and computes in `_answer`; all else is here, written once.
"""

import copy
import inspect
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, Self

import numpy as np

from ucvtest import hooks
from ucvtest.common.checks import named_options, undeclared
from ucvtest.common.execution import Execution
from ucvtest.common.words import arg, call
from ucvtest.data.groups import Clusters, GroupWeight
from ucvtest.data.sample import Sample
from ucvtest.designs.design import Design
from ucvtest.designs.scheme_base import NamedDesign
from ucvtest.inference.answer import Answer
from ucvtest.inference.arguments import Run
from ucvtest.inference.finish import finish
from ucvtest.inference.from_data import FromData
from ucvtest.inference.needs import Needs, Traits, refuse
from ucvtest.inference.options import RunOptions
from ucvtest.inference.question import LossesQuestion, Question, check_losses, hypothesis_of
from ucvtest.learners.base import Learner
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.results.columns import PairNumbers
from ucvtest.results.joint_result import JointResult
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.wald import Alternative

P = ParamSpec("P")


def fit_by(
    record: Callable[P, RunOptions],
) -> Callable[[Callable[[Any], None]], Callable[Concatenate[Any, P], TestResult]]:
    """Give a method `fit`, written as a docstring alone, the fields of a record.

    They are its arguments, which type checkers follow.
    """
    # The record checks its fields by their types, so that the call does not.
    parameters = [
        parameter.replace(annotation=undeclared(parameter.annotation))
        for parameter in inspect.signature(record).parameters.values()
    ]
    # How fits are run comes last, as in docstrings.
    ordered = sorted(parameters, key=lambda parameter: parameter.name in Run.__annotations__)
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)

    def filled_in(described: Callable[[Any], None]) -> Callable[Concatenate[Any, P], TestResult]:
        @wraps(described)
        def fit(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> TestResult:
            return self._fit(record(*args, **kwargs))

        signature = inspect.Signature([first, *ordered], return_annotation=TestResult)
        vars(fit)["__signature__"] = signature
        vars(fit)["record"] = record
        return named_options(fit)

    return filled_in


class HypothesisTest(FromData, ABC):
    """A test about one learner, or about the difference of two, on one sample."""

    # pytest would otherwise take subclasses, whose names end in Test, for test classes.
    __test__: ClassVar[bool] = False

    method_name: ClassVar[str]
    """Short name for keys, tables and `uv.compare`, for example "ustatistic"."""
    in_short: ClassVar[str]
    """A line for lists of tests: what is fitted, or asked, and how it is judged."""
    r_function: ClassVar[str]
    """What R calls it; by default the short name with `_test` behind it."""
    valid: ClassVar[bool] = True
    """Whether its answer is to be relied on; comparisons show others, and do not count them."""
    needs: ClassVar[Needs]
    """What it needs of a question, declared once; all else reads it here."""

    question: Question
    """What is asked; the same whether it is about data or about losses that exist."""

    Options: ClassVar[type[RunOptions]] = RunOptions
    """The record of the arguments of `fit`."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.Options = vars(cls.fit)["record"]

    @classmethod
    def from_losses(
        cls,
        losses: Losses,
        learner: str | int | None = None,
        other: str | int | None = None,
        *,
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
        group_weight: GroupWeight | None = None,
    ) -> Self:
        """The test on losses that exist: `fit` then fits no model.

        Parameters
        ----------
        losses : Losses
        learner, other : str or int, optional
            Names or places in `losses`; a learner without `other` is tested alone. With neither,
            the only learner is tested, or two are compared; of more, `learner` must be named.
        null_value, alternative
            See the class.
        group_weight : {"group", "row"}, optional
            How much the clusters of the losses count: see the class. By default "row" for answers
            that are right or wrong (`Losses.from_correct`, scores of 0 and 1), otherwise "group".

        Raises
        ------
        ValueError
            If the test does not accept the design of the losses, or an argument cannot be used.
        """
        question = cls.question_of_losses(
            losses, learner, other, null_value, alternative, group_weight
        )
        return cls.about(question)

    @classmethod
    def question_of_losses(
        cls,
        losses: Losses,
        learner: str | int | None,
        other: str | int | None,
        null_value: float | None,
        alternative: Alternative,
        group_weight: GroupWeight | None,
    ) -> LossesQuestion:
        """Validate the part common to all tests on losses."""
        check_losses(losses)
        # Another choice of learners would not change it.
        refuse(cls.needs, Traits(has_losses=True, design=losses.design), cls.__name__)
        if learner is not None or other is not None:
            difference = losses.difference(0 if learner is None else learner, other)
        elif len(losses.learners) > (2 if cls.needs.compares else 1):
            remedy = ": name learner, and other to compare with"
            if not cls.needs.compares:
                remedy = ", but the test is about one: name learner"
            raise ValueError(
                f"losses has {len(losses.learners)} learners ({', '.join(losses.learners)}){remedy}"
            )
        else:
            difference = LossDifference(losses, 0, 1 if len(losses.learners) == 2 else None)
        hypothesis = hypothesis_of(
            *(null_value, alternative),
            paired=difference.other is not None,
            null_of_one=cls.needs.null_of_auc if losses.metric.ranks_pairs else math.nan,
        )
        return LossesQuestion.of(difference, hypothesis, group_weight, by_rows=cls.needs.by_rows)

    @classmethod
    def about(cls, question: Question, **class_arguments: Any) -> Self:
        """The test of a question that was validated before, with the class's own arguments.

        A constructor takes data, and there are other ways to a question: `from_losses`, and
        comparisons, which validate data once for all their tests.
        """
        test = object.__new__(cls)
        test._ask(question, **class_arguments)
        return test

    def _ask(self, question: Question) -> None:
        """Keep the question; subclasses keep their own arguments, and refuse others.

        Called once, at the end of the constructor.
        """
        refuse(self.needs, Traits.of(question), type(self).__name__)
        self.question = question
        # 0, the default for differences, is a value of every metric and every difference.
        if question.hypothesis.null_value and not self.needs.null_by_options:
            question.check_null_value()

    # ------------------------------------------------------------------------------- the fit

    @fit_by(RunOptions)
    def fit(self) -> None:
        """Evaluate the learners unless losses are given, and test.

        Parameters
        ----------
        rng : None, int or numpy Generator
            Decides all draws, which are the same for every learner, `n_jobs` and `batch_size`. The
            settings of the result keep the seed; None draws one. A Generator has no seed to keep.
        n_jobs : int, optional
            joblib's workers, for learners that are not jitted.
        batch_size : int, optional
            Largest number of learning sets passed at once to a learner that is not jitted. Jitted
            learners, and the sums of a test, have their own bounds, some hundred MB. It does not
            change the result.
        progress : bool, optional
            Show a progress bar; by default on terminals, after three seconds.

        Returns
        -------
        TestResult

        Raises
        ------
        ValueError
            If an argument cannot be used, or a learner fails on a split.
        """

    def fit_options(self, **options: Any) -> Any:
        """The options of `fit` for this question, checked; comparisons call it before any fit."""
        return self.resolved(type(self).Options(**options))

    def resolved(self, options: Any) -> Any:
        """The options for this question: those that it refuses, and what "auto" stands for."""
        return options

    def _fit(self, options: Any, execution: Execution | None = None) -> TestResult:
        """The result, announced to hooks."""
        resolved, run = self.resolved(options), options
        if execution is None:
            execution = self.question.execution(
                rng=run.rng, n_jobs=run.n_jobs, batch_size=run.batch_size
            )
        result = self.run(resolved, execution, options.progress)
        hooks.announce(self, result)
        return result

    def run(self, options: Any, execution: Execution, progress: bool | None = None) -> TestResult:
        """The frame around a fit: hooks, a progress bar, seconds; without an announcement to hooks.

        Comparisons and plans, which are announced as a whole, call it for each of their tests.
        """
        question, started = self.question, time.perf_counter()
        with question.fitting(self, self.method_name, progress) as bar:
            answer = self._answer(options, replace(execution, bar=bar))
        return finish(question, answer, self.method_name, time.perf_counter() - started)

    @abstractmethod
    def _answer(self, options: Any, execution: Execution) -> Answer:
        """The answer, from the options of `fit` for this question (`resolved`).

        The frame makes the result of it: see `Answer`.
        """

    # --------------------------------------------------- for users, comparisons, plans, budgets

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
    def loss(self) -> Any:
        """The loss; None where the test is about none, as with the AUC."""
        return None if self.question.metric.ranks_pairs else self.question.metric

    @property
    def learners(self) -> tuple[Learner, ...]:
        """The learner, or both; none where losses were given."""
        return tuple(self.question.learners.values())

    @property
    def learner(self) -> Learner | None:
        """The learner; None for a test that was made from losses."""
        return self.learners[0] if self.learners else None

    @property
    def other(self) -> Learner | None:
        """The learner to compare with, if there is one."""
        return self.learners[1] if len(self.learners) > 1 else None

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
