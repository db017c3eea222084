"""The public face of every test, and the frame around a fit.

A test is a question (`inference.question`) and options of its own. A class declares what it needs,
keeps its own options in `_ask`, and computes in `_answer`; all else is here, written once.
"""

import math
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self, Unpack

from ucvtest import hooks
from ucvtest.common.checks import check_choice, is_number
from ucvtest.common.execution import Execution
from ucvtest.data.groups import GroupWeight
from ucvtest.data.output import Output
from ucvtest.inference.answer import Answer
from ucvtest.inference.arguments import Ask, Run, documented, spelled_out
from ucvtest.inference.finish import finish
from ucvtest.inference.interface import Interface
from ucvtest.inference.needs import Asked, Needs, refuse
from ucvtest.inference.question import (
    DataQuestion,
    LossesQuestion,
    Question,
    by_name,
    check_losses,
)
from ucvtest.inference.studentise import Hypothesis
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.metrics.names import as_metric
from ucvtest.metrics.scorers import chosen_loss
from ucvtest.results.result import TestResult
from ucvtest.stats.wald import ALTERNATIVES, Alternative

LARGEST_NULL = 1e100
"""Its square is a number too, and no loss comes near."""


class HypothesisTest(Interface, ABC):
    """A test about one learner, or about the difference of two, on one sample.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix, shape (n, p), or texts, shape (n,)
        Features. Texts and sparse matrices are for scikit-learn estimators and functions.
    y : array-like, shape (n,)
        Labels of any type, or real values for regression losses.
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as
        "knn:3", or a callable ``(X_train, y_train, X_test) -> predictions``; with a name of its
        own as ``{"name": learner}``.
    other : learner, optional
        The learner to compare with, on the same learning and test sets; estimates are `learner`
        minus `other`.
    null_value : float, optional
        Value of the estimand under H0; 0 for two learners, none for one.
    alternative : {"two-sided", "less", "greater"}
        H1: the estimand differs from, is below, or is above `null_value`. That the first learner
        is the better one is "less" for losses, and "greater" where higher is better: for the AUC,
        most metrics and with `scoring`.
    loss : str, callable, Loss or matrix, optional
        By default zero_one for classes and squared error for a real response. Whole numbers are
        amounts if the loss scores numbers, or if there is no loss and a learner is a regressor.
        Otherwise they are classes, at most 20. A matrix has
        ``loss[true, predicted]`` of the classes in ascending order, `pos_label` last; a DataFrame
        may name its rows and columns by the classes instead.
    output : {"label", "number", "probability", "score"}, optional
        What learners must predict for a test without a loss, such as one of the AUC.
    pos_label : optional
        The positive class; by default the largest label. Functions as learners return scores and
        probabilities of this class: for them it must be named unless the labels are 0 and 1, False
        and True, or -1 and 1. Scorers such as "f1" use scikit-learn's own, the class 1, unless it
        is named.
    groups : array-like, shape (n,), optional
        The cluster of each observation, such as the patient of each row: labels of any type.
        Clusters are then the observations: learning and test sets contain whole ones, sizes of
        learning sets and degrees of freedom count them, and the answer is about new clusters.
    group_weight : {"group", "row"}
        "group": the loss of a cluster is the mean over its rows, so that every cluster counts the
        same. "row": every row counts the same; the loss is a ratio of means over clusters.
    backend : {"auto", "jax", "sklearn"}
        What fits scikit-learn estimators. "auto" uses the jitted learner with the same predictions
        if one exists; "jax" requires it; "sklearn" never uses it. Logistic regression that
        scikit-learn stops early is fitted to convergence, with a note.
    scoring : str or scorer, optional
        scikit-learn's name of a score, or a scorer, instead of `loss`. All results and hypotheses
        are in the score's own units and with its sign; greater is better. Scores that are means
        over observations ("accuracy", "neg_log_loss", ...) are computed as losses, so that
        p-values are those of the loss. Others, such as "f1" or "r2", give one number for each test
        set, for the tests that need no more.
    missing : {"raise", "drop"}
        "raise" refuses missing values that a learner cannot use. "drop" leaves out observations
        with missing values, with a note.
    weights : array-like, shape (n,), str or mapping, optional
        How much each row counts, in fitting and in the loss; a string names a column of X. A
        mapping of "fit", "loss" or both weights these alone. In fitting they are scikit-learn's
        `sample_weight`, which jitted learners do not take. In the loss the estimate is the
        weighted mean, a ratio, and the variance that of its linearised values. For
        `UStatisticTest`, `CrossValidationWaldTest`, `HoldOutTest` and the t tests of folds; other
        tests refuse it.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.
    """

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

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "method_name" in vars(cls) and "r_function" not in vars(cls):
            cls.r_function = f"{cls.method_name}_test"
        base: Any = cls.__base__
        for name in {"__init__", "fit", "from_losses"} & set(vars(cls)):
            own = vars(cls)[name]
            function = spelled_out(own.__func__ if isinstance(own, classmethod) else own)
            function.__doc__ = documented(function.__doc__, getattr(base, name).__doc__, function)
            setattr(cls, name, classmethod(function) if isinstance(own, classmethod) else function)
        cls.__doc__ = documented(cls.__doc__, base.__doc__, cls.__init__)

    @spelled_out
    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        output: Output | None = None,
        weights: Any = None,
        **ask: Unpack[Ask],
    ) -> None:
        self._ask(self.question_of(X, y, learner, other, output=output, weights=weights, **ask))

    @classmethod
    def question_of(
        cls,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
        loss: Any = None,
        scoring: Any = None,
        metric: Any = None,
        weights: Any = None,
        **data: Any,
    ) -> DataQuestion:
        """Validate the part common to all tests: the arguments of the class, but for its own."""
        loss = chosen_loss(loss, scoring, metric, weights)
        loss = cls.needs.only_loss if loss is None else loss
        paired = other is not None
        refuse(cls.needs, Asked(metric=loss, scoring=scoring, paired=paired), cls.__name__)
        auc = as_metric(loss, has_classes=True).ranks_pairs
        hypothesis = cls._hypothesis(null_value, alternative, paired=paired, auc=auc)
        learners = by_name(learner, other)
        return DataQuestion.of(
            *(X, y, learners), hypothesis=hypothesis, loss=loss, weights=weights, **data
        )

    @classmethod
    @spelled_out
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
        hypothesis = cls._hypothesis(
            null_value,
            alternative,
            paired=difference.other is not None,
            auc=losses.metric.ranks_pairs,
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

    @classmethod
    def _hypothesis(
        cls, null_value: Any, alternative: Any, *, paired: bool, auc: bool
    ) -> Hypothesis:
        """By default two learners are equal, the AUC of one is that of its needs, else no H0."""
        check_choice("alternative", alternative, ALTERNATIVES)
        if null_value is None:
            null_value = 0.0 if paired else cls.needs.null_of_auc if auc else math.nan
        elif not is_number(null_value):
            raise ValueError(f"null_value must be a finite number, got {null_value!r:.60}")
        elif abs(null_value) > LARGEST_NULL:
            raise ValueError(
                f"null_value must lie between -{LARGEST_NULL:g} and {LARGEST_NULL:g}, got "
                f"{null_value:g}"
            )
        return Hypothesis(float(null_value), alternative)

    # ------------------------------------------------------------------------------- the fit

    @abstractmethod
    @spelled_out
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
