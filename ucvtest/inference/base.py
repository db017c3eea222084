"""The frame of every test: a question about losses that exist, or about data, and its answer.

A test is a question (`inference.question`) and options of its own. A class declares what it needs,
keeps its own options in `_ask`, and computes in `_answer`; all else is here, written once.
"""

import math
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self, Unpack

from ucvtest import hooks
from ucvtest.common.execution import Execution
from ucvtest.data.groups import GroupWeight
from ucvtest.inference.answer import Answer
from ucvtest.inference.arguments import Run
from ucvtest.inference.finish import finish
from ucvtest.inference.from_data import FromData
from ucvtest.inference.interface import Interface
from ucvtest.inference.needs import Asked, Needs, refuse
from ucvtest.inference.question import (
    LossesQuestion,
    Question,
    check_losses,
    hypothesis_of,
)
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.results.result import TestResult
from ucvtest.stats.wald import Alternative


class HypothesisTest(FromData, Interface, ABC):
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
        # What no choice of learners would change.
        refuse(cls.needs, Asked(given=True, design=losses.design), cls.__name__)
        if learner is not None or other is not None:
            difference = losses.difference(0 if learner is None else learner, other)
        elif len(losses.learners) > 1 and not cls.needs.compares:
            raise ValueError(
                f"losses has {len(losses.learners)} learners ({', '.join(losses.learners)}), but "
                "the test is about one: name learner"
            )
        elif len(losses.learners) > 2:
            raise ValueError(
                f"losses has {len(losses.learners)} learners ({', '.join(losses.learners)}): name "
                "learner, and other to compare with"
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
        refuse(self.needs, Asked.of(question), type(self).__name__)
        self.question = question
        # 0, the default for differences, is a value of every metric and every difference.
        if question.hypothesis.null_value and not self.needs.null_by_options:
            question.check_null_value()

    # ------------------------------------------------------------------------------- the fit

    @abstractmethod
    def fit(self, **run: Unpack[Run]) -> TestResult:
        """Estimate and test; subclasses add the options of their own.

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

    def fit_options(self) -> Any:
        """The options of `fit` that are the class's own, validated: a frozen record.

        Subclasses with options take them as keywords of the same names; a comparison calls it
        before the first fit.
        """
        return None

    def _fit(self, options: Any, run: Run, execution: Execution | None = None) -> TestResult:
        """The result, with its options validated, announced to hooks."""
        if execution is None:
            execution = self.question.execution(**run)
        result = self.run(options, execution, run.get("progress"))
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
        """The answer, from the options of `fit` that were validated before any draw.

        The frame makes the result of it: see `Answer`.
        """
