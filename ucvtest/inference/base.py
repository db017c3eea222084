"""What all tests share: the question, the hypothesis, and the frame around a fit."""

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ucvtest import hooks
from ucvtest.common.checks import check_choice, is_number
from ucvtest.common.execution import Execution, Progress, progress_bar
from ucvtest.data.formula import read_formula
from ucvtest.data.groups import Clusters, GroupWeight, refuse_groups
from ucvtest.data.missing import Missing, complete_rows, dropped_note
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.designs.design import Design
from ucvtest.designs.schemes import NamedDesign
from ucvtest.evaluation.problem import Problem, named_learners
from ucvtest.inference.notes import about_clusters, sample_notes
from ucvtest.inference.studentise import Hypothesis
from ucvtest.learners.adapters.translate import Backend
from ucvtest.learners.base import Learner
from ucvtest.losses.table import Losses
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.refusals import refuse_scores, refuse_set_score
from ucvtest.metrics.scorers import chosen_loss
from ucvtest.results.fields import Contrast
from ucvtest.results.result import TestResult
from ucvtest.stats.wald import ALTERNATIVES, Alternative

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["HypothesisTest", "checked_alternative"]

FOR_FIXED_RULES = "HoldOutTest, McNemarTest (loss='zero_one') or DeLongTest (loss='auc')"
"""The tests of fixed rules."""

LARGEST_NULL = 1e100
"""Its square is a number too, and no loss comes near."""


class HypothesisTest(ABC):
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
        The learner to compare with; estimates are `learner` minus `other`.
    null_value : float, optional
        Value of the estimand under H0; 0 for two learners, none for one.
    alternative : {"two-sided", "less", "greater"}
        H1: the estimand differs from, is below, or is above `null_value`.
    loss : str, callable, Loss or matrix, optional
        By default zero_one for classes and squared error for a real response. Whole numbers are
        amounts where the loss scores numbers, or without a loss a learner is a regressor;
        otherwise classes, but more than 20 of them are refused. A matrix holds
        ``loss[true, predicted]`` of the classes in ascending order, `pos_label` last.
    output : {"label", "number", "probability", "score"}, optional
        What learners must predict where a test is about no loss, as with the AUC.
    pos_label : optional
        The positive class; by default the largest label.
    groups : array-like, shape (n,), optional
        The cluster of each observation, such as the patient of each row: labels of any type.
        Clusters are then the observations: learning and test sets hold whole ones, sizes of
        learning sets and degrees of freedom count them, and the answer is about new clusters.
    group_weight : {"group", "row"}
        "group": the loss of a cluster is the mean over its rows, so that every cluster counts the
        same. "row": the loss is the mean over rows, a ratio of means over clusters.
    backend : {"auto", "jax", "sklearn"}
        What fits scikit-learn estimators. "auto" takes the jitted learner with the same
        predictions where there is one; "jax" insists on it; "sklearn" never takes it.
    scoring : str or scorer, optional
        scikit-learn's name of a score, or a scorer, in the place of `loss`. Scores that are means
        over observations become losses: "accuracy" the error rate, "neg_log_loss" the log loss,
        "roc_auc" the AUC; one-sided hypotheses about them are stated by `loss`. Others, such as
        "f1" or "r2", are one number for each test set, for the tests that need no more; estimates
        are then in their units, and greater ones are better.
    missing : {"raise", "drop"}
        What to do with missing values: refuse them, where the learner cannot use them, or leave
        their observations out, with a note.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.
    """

    # pytest would otherwise take subclasses, whose names end in Test, for test classes.
    __test__: ClassVar[bool] = False

    # What a test needs of a question is declared here and nowhere else: comparisons, the adviser
    # and the command line read it from the class, and so do MLflow and R, which go through them.
    method_name: ClassVar[str]
    """Short name for keys, tables and `uv.compare`, for example "ustatistic"."""
    compares: ClassVar[bool] = True
    """Whether the test can be about two learners."""
    needs_other: ClassVar[bool] = False
    """Whether there must be two learners."""
    valid: ClassVar[bool] = True
    """Whether its answer is to be relied on; comparisons show others, and do not count them."""
    contrasts: ClassVar[tuple[Contrast, ...]] = ("difference",)
    """How two learners can be compared."""
    only_loss: ClassVar[str | None] = None
    """The loss, of tests about one loss alone."""
    admits: ClassVar[str] = ""
    """The designs that the test can use, in words; nothing, or the reason, where it takes none."""
    no_losses: ClassVar[str] = "it needs fits of its own"
    """Why it takes none."""
    takes_groups: ClassVar[bool] = False
    """Whether observations may come in clusters."""
    default_auc: ClassVar[float] = 0.5
    """What the AUC of one learner is tested against by default; NaN for nothing."""
    of_fixed_rules: ClassVar[bool] = False
    """Whether it takes losses of rules that are fixed, which are about no learning."""
    judges_several: ClassVar[bool] = False
    """Whether the joint covariance matrix of several learners is known: see `JointEstimates`."""
    takes_set_scores: ClassVar[bool] = False
    """Whether it can be about a score of whole test sets, such as F1."""
    needs_values: ClassVar[bool] = False
    """Whether what is kept of every observation is needed: means of resamples do not suffice, nor
    does an AUC where it is not the only loss."""

    loss: Loss | None
    null_value: float
    alternative: Alternative
    _question: Problem | None = None
    """Data and learners; None for a test that was made from losses."""
    _smallest_learn_size: int = 0
    """Observations in the smallest learning set, which learners are checked for."""
    _n_dropped: int = 0
    """Observations that were left out for missing values."""
    _announced: bool = True
    """Whether hooks are told of the result; not where a comparison is told of as a whole."""
    _progress: Progress | None = None
    """Of a comparison that runs the test; otherwise each fit has its own."""

    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
        loss: Any = None,
        output: Output | None = None,
        pos_label: Any = None,
        groups: Any = None,
        group_weight: GroupWeight = "group",
        backend: Backend = "auto",
        scoring: Any = None,
        missing: Missing = "raise",
    ) -> None:
        loss = chosen_loss(loss, scoring, alternative=alternative, null_value=null_value)
        refuse_scores(loss, type(self).__name__, scoring)
        if self.needs_values or not self.takes_set_scores:
            refuse_set_score(loss, type(self).__name__)
        if groups is not None:
            refuse_set_score(loss, "a test that allows for groups")
        auc, paired = output == "score", other is not None
        self._set_hypothesis(null_value, alternative, paired=paired, auc=auc)
        X, y, groups, self._n_dropped = complete_rows(X, y, groups, missing)
        self._question = Problem.of(
            X,
            y,
            _by_name(learner, other),
            loss=loss,
            output=output,
            pos_label=pos_label,
            groups=groups,
            group_weight=group_weight,
            backend=backend,
        )
        if not self.takes_groups and self._question.clusters is not None:
            refuse_groups(groups)
        self.loss = self._question.loss

    @classmethod
    def from_formula(
        cls, formula: str, data: "pd.DataFrame", learner: Any, other: Any = None, **kwargs: Any
    ) -> "HypothesisTest":
        """Create the test from a formula and a data frame, as in statsmodels.

        Parameters
        ----------
        formula : str
            For example ``"tumour ~ age + log(size)"``, or ``"tumour ~ ."`` for all other columns;
            read by formulaic. Columns, numbers, arithmetic and the functions log, exp, sqrt, abs,
            C, I, Q, scale, center, poly, bs and cs are allowed, and no other code. The intercept
            is left out, because learners have one of their own; a factor has one column
            less than levels. The response is a column, or one numeric expression.
        data : DataFrame
        learner, other : learner
        **kwargs
            The keyword arguments of the class.

        Returns
        -------
        HypothesisTest
            An instance of the class it was called on.

        Raises
        ------
        ValueError
            If the formula cannot be read, names what the data lack, holds other code, or uses
            missing values.
        """
        if kwargs.get("missing", "raise") != "raise":
            raise ValueError(
                "missing='drop' has no use with a formula, which refuses missing values in the "
                "columns that it names: pass data.dropna(subset=[...])"
            )
        y, X = read_formula(formula, data)
        # Some tests know one learner only.
        return cls(X, y, *((learner,) if other is None else (learner, other)), **kwargs)

    @classmethod
    def from_losses(
        cls, losses: Any, learner: str | int | None = None, other: str | int | None = None
    ) -> Self:
        """Refuse existing losses: the test needs fits of its own.

        Parameters
        ----------
        losses : Losses
        learner, other : optional

        Raises
        ------
        ValueError
            Always; tests that take losses inherit `FromLosses`.
        """
        if isinstance(losses, Losses):
            cls._check_fixed_rules(losses.design)
        raise ValueError(
            f"{cls.__name__} admits no losses: {cls.no_losses}; make the test from X and y"
        )

    @classmethod
    def _check_fixed_rules(cls, design: Design) -> None:
        """Refuse rules that are fixed where learning is what the test is about."""
        if not design.learns and not cls.of_fixed_rules:
            raise ValueError(
                "the losses are of fixed rules, which have learnt nothing from these "
                f"observations, and {cls.__name__} is about learning: use {FOR_FIXED_RULES}"
            )

    def _set_hypothesis(
        self, null_value: Any, alternative: Any, *, paired: bool, auc: bool
    ) -> None:
        """By default two learners are equal, the AUC of one is `default_auc`, else no H0."""
        self.alternative = checked_alternative(alternative)
        if null_value is None:
            null_value = 0.0 if paired else self.default_auc if auc else math.nan
        elif not is_number(null_value):
            raise ValueError(f"null_value must be a finite number, got {null_value!r:.60}")
        elif abs(null_value) > LARGEST_NULL:
            raise ValueError(
                f"null_value must lie between -{LARGEST_NULL:g} and {LARGEST_NULL:g}, got "
                f"{null_value:g}"
            )
        self.null_value = float(null_value)

    # -------------------------------------------------------------------------- the question

    @property
    def _problem(self) -> Problem:
        """Data and learners; a ValueError of a test that was made from losses."""
        if self._question is None:
            raise ValueError("this test was made from losses: make it from X and y")
        return self._question

    @property
    def sample(self) -> Sample | None:
        """The data; None for a test that was made from losses."""
        return None if self._question is None else self._question.sample

    @property
    def learners(self) -> tuple[Learner, ...]:
        """The learner, or both; none where losses were given."""
        return () if self._question is None else tuple(self._question.learners.values())

    @property
    def learner(self) -> Learner | None:
        """The learner; None for a test that was made from losses."""
        return self.learners[0] if self.learners else None

    @property
    def other(self) -> Learner | None:
        """The learner to compare with, if there is one."""
        return self.learners[1] if len(self.learners) > 1 else None

    @property
    def output(self) -> Output | None:
        """What the learners predict; None for a test that was made from losses."""
        return None if self._question is None else self._question.output

    @property
    def backend(self) -> Backend | None:
        """What was asked to fit estimators; None for a test that was made from losses."""
        return None if self._question is None else self._question.backend

    @property
    def paired(self) -> bool:
        """Whether two learners are compared."""
        return len(self.learners) > 1

    @property
    def n_obs(self) -> int:
        """Observations of the sample."""
        return self._problem.sample.n_obs

    @property
    def clusters(self) -> Clusters | None:
        """The clusters that are the observations of the test; None where rows are."""
        return self._problem.clusters

    @property
    def n_units(self) -> int:
        """Clusters, or observations where there are none."""
        return self.n_obs if self.clusters is None else self.clusters.n_groups

    @property
    def target(self) -> np.ndarray:
        """Codes of the classes, or the real response, shape (n,)."""
        return self._problem.sample.target

    @property
    def hypothesis(self) -> Hypothesis:
        """The null value and the alternative."""
        return Hypothesis(self.null_value, self.alternative)

    def _check_learners(self, learn_size: int) -> None:
        """Refuse learners that cannot be used; put jitted ones in the place of estimators."""
        self._question = self._problem.fitting(learn_size)
        self._smallest_learn_size = learn_size

    def _about(self, learners: Mapping[str, Learner]) -> Self:
        """The same test about other learners; the data are shared and not validated again."""
        other = self._about_ready(learners)
        other._check_learners(self._smallest_learn_size)
        return other

    def _about_ready(self, learners: Mapping[str, Learner]) -> Self:
        """The same about learners that are checked and ready to be fitted."""
        other = copy.copy(self)
        other._question = replace(self._problem, learners=learners)
        return other

    # ------------------------------------------------------------------------------- the fit

    @classmethod
    def _loss_arguments(cls, loss: Any) -> dict[str, Any]:
        """What the constructor calls the loss of a comparison, if the test can be about it."""
        return {"loss": loss}

    @abstractmethod
    def fit(
        self,
        *,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool | None = None,
    ) -> TestResult:
        """Estimate and test; subclasses add the options of their own.

        Parameters
        ----------
        rng : None, int or numpy Generator
            Decides all draws, the same for every learner, `n_jobs` and `batch_size`. The settings
            of the result keep the seed; None draws one. A Generator has none to keep.
        n_jobs : int, optional
            joblib's workers, for learners that are not jitted.
        batch_size : int, optional
            Most learning sets that a learner which is not jitted gets at once. Jitted ones, and the
            sums of a test, have bounds of their own, some hundred MB. Changes no result.
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

    def _options(self) -> Any:
        """The options of `fit` that are the class's own, validated: a frozen record.

        Subclasses with options take them as keywords of the same names; a comparison calls it
        before the first fit.
        """
        return None

    def _shared_design(
        self, fit_options: Mapping[str, Any]
    ) -> tuple[NamedDesign | None, Mapping[str, Any]]:
        """The design whose losses are shared with other tests, and the options of `fit` left over.

        No design where the test draws its own learning sets.
        """
        return None, fit_options

    def _check_test_sets(self, design: Design) -> None:
        """Refuse test sets on which the test would have no estimate; before the first fit."""
        return

    def _fit(
        self,
        options: Any,
        rng: int | np.random.Generator | None,
        n_jobs: int | None,
        batch_size: int | None,
        progress: bool | None,
        max_seconds: float | None = None,
    ) -> TestResult:
        """The frame around every fit: draws, workers, hooks, a progress bar, a stopwatch."""
        execution = Execution.of(rng, n_jobs, batch_size, max_seconds)
        execution = replace(execution, progress=self._progress or execution.progress)
        with hooks.fitting(self), progress_bar(progress, self.method_name, "fit") as bar:
            result = self._answer(options, replace(execution, bar=bar))
        return self._finish(result, execution)

    @abstractmethod
    def _answer(self, options: Any, execution: Execution) -> TestResult:
        """The result, from the options of `fit` that were validated before any draw.

        Its `elapsed` is filled in by the frame.
        """

    def _finish(self, result: TestResult, execution: Execution) -> TestResult:
        result = replace(
            result,
            elapsed=execution.stopwatch.seconds,
            notes=(*result.notes, *dropped_note(self._n_dropped), *sample_notes(self.sample)),
        )
        if self.clusters is not None:
            result = about_clusters(result, self.clusters)
        if self._announced:
            hooks.announce(self, result)
        return result

    def _settings(self) -> dict[str, Any]:
        """What every test needs to be repeated on the same data."""
        problem = self._problem
        learner, other = self.learners[0], self.other
        names = list(problem.learners)
        return {
            "test": self.method_name,
            "learner": names[0],
            "other": None if other is None else names[1],
            "backend": learner.backend,
            "other_backend": None if other is None else other.backend,
            **({} if self.loss is None else {"loss": self.loss.name}),
            "null_value": self.null_value,
            "alternative": self.alternative,
            "pos_label": problem.positive,
        }


def _by_name(learner: Any, other: Any) -> Any:
    """The learners by the names that were given to them, if any was."""
    given = [learner] if other is None else [learner, other]
    if not any(isinstance(each, Mapping) for each in given):
        return given
    found: dict[str, Any] = {}
    for each in given:
        named = each if isinstance(each, Mapping) else named_learners(each)
        if len(named) != 1:
            raise ValueError(
                f"a learner with a name is {{'name': learner}}, one of them, got {len(named)}"
            )
        if set(named) & set(found):
            raise ValueError(f"both learners are called {next(iter(named))!r}: name them apart")
        found |= named
    return found


def checked_alternative(alternative: Any) -> Alternative:
    """The alternative hypothesis, if it is one."""
    check_choice("alternative", alternative, ALTERNATIVES)
    return alternative
