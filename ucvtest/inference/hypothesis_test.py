"""What all tests share: the data, the learners, and the frame around a fit."""

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ucvtest import hooks
from ucvtest.common.checks import is_number
from ucvtest.data.formula import read_formula
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample, as_response, make_sample, response_has_classes
from ucvtest.evaluation.problem import (
    check_matrix,
    labels_needed,
    output_for,
    refuse_to_guess,
    takes_classes,
)
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.learners.adapters.translate import Backend, choose_backend
from ucvtest.learners.base import Learner
from ucvtest.losses.loss import Loss, as_loss
from ucvtest.results.result import TestResult
from ucvtest.stats.wald import ALTERNATIVES, Alternative

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["HypothesisTest", "checked_alternative", "checked_null_value"]


class HypothesisTest:
    """A test about one learner, or about the difference of two, on one sample.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
        Features.
    y : array-like, shape (n,)
        Labels of any type, or real values for regression losses.
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as
        "knn:3", or a callable ``(X_train, y_train, X_test) -> predictions``.
    other : learner, optional
        The learner to compare with; estimates are `learner` minus `other`.
    null_value : float, optional
        Value of the estimand under H0; 0 for two learners, none for one.
    alternative : {"two-sided", "less", "greater"}
        H1: the estimand differs from, is below, or is above `null_value`.
    loss : str, callable, Loss or matrix, optional
        By default zero_one for classes and squared error for a real response. A matrix holds
        ``loss[true, predicted]`` of the classes in ascending order, `pos_label` last.
    output : {"label", "number", "probability", "score"}, optional
        What learners must predict where a test is about no loss, as with the AUC.
    pos_label : optional
        The positive class; by default the largest label.
    groups : None
        Refused, with the reason: no test here handles dependent observations.
    backend : {"auto", "jax", "sklearn"}
        What fits scikit-learn estimators. "auto" takes the jitted learner with the same
        predictions where there is one; "jax" insists on it; "sklearn" never takes it.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.
    """

    # pytest would otherwise take subclasses, whose names end in Test, for test classes.
    __test__: ClassVar[bool] = False

    sample: Sample
    learner: Learner
    other: Learner | None
    loss: Loss | None
    output: Output
    null_value: float
    alternative: Alternative
    backend: Backend
    _announced: bool = True
    """Whether hooks are told of the result; not where a comparison is told of as a whole."""

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
        groups: None = None,
        backend: Backend = "auto",
    ) -> None:
        if groups is not None:
            raise ValueError(
                "groups= is not supported: the test assumes independent observations, and "
                "several rows of one patient are not; keep one row for each, or average them"
            )
        self.alternative = checked_alternative(alternative)
        self.null_value = checked_null_value(null_value, paired=other is not None)
        response = as_response(y)
        has_classes = pos_label is not None or response_has_classes(response)
        if loss is None and pos_label is None and has_classes:
            refuse_to_guess(response)
        self.loss = None if output else as_loss(loss, has_classes=has_classes)
        self.output = output_for(output, self.loss)
        if self.output != "number" and not has_classes:
            raise ValueError(labels_needed(self.loss))
        coded = has_classes and takes_classes(self.output, response, pos_label)
        self.sample = make_sample(X, y, as_classes=coded, pos_label=pos_label)
        check_matrix(self.loss, self.sample)
        self.learner = as_learner(learner)
        self.other = None if other is None else as_learner(other)
        self.backend = backend

    @classmethod
    def from_formula(
        cls, formula: str, data: "pd.DataFrame", learner: Any, other: Any = None, **kwargs: Any
    ) -> "HypothesisTest":
        """Create the test from a formula and a data frame, as in statsmodels.

        Parameters
        ----------
        formula : str
            For example ``"tumour ~ age + log(size)"``, or ``"tumour ~ ."`` for all other columns;
            read by formulaic. The intercept
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
            If the formula cannot be read, names what the data lack, or uses missing values.
        """
        y, X = read_formula(formula, data)
        # Some tests know one learner only.
        learners = (learner,) if other is None else (learner, other)
        return cls(X, y, *learners, **kwargs)

    @property
    def learners(self) -> tuple[Learner, ...]:
        """The learner, or both."""
        return (self.learner,) if self.other is None else (self.learner, self.other)

    @property
    def method_name(self) -> str:
        """Short name for keys, for example "ustatistic"."""
        raise NotImplementedError

    def _check_learners(self, learn_size: int) -> None:
        """Refuse learners that cannot be used; put jitted ones in the place of estimators."""
        self.learner = self._fitting_learner(self.learner, learn_size)
        if self.other is not None:
            self.other = self._fitting_learner(self.other, learn_size)

    def _fitting_learner(self, learner: Learner, learn_size: int) -> Learner:
        learner.check(self.sample, self.output, learn_size)
        return choose_backend(learner, self.backend, self.sample, self.output, learn_size)

    def _settings(self) -> dict[str, Any]:
        """What every test needs to be repeated on the same data."""
        classes = self.sample.classes
        return {
            "test": self.method_name,
            "learner": self.learner.name,
            "other": None if self.other is None else self.other.name,
            "backend": self.learner.backend,
            "other_backend": None if self.other is None else self.other.backend,
            **({} if self.loss is None else {"loss": self.loss.name}),
            "null_value": self.null_value,
            "alternative": self.alternative,
            "pos_label": None if classes is None else _jsonable(classes[-1]),
        }

    def _finish(self, result: TestResult) -> TestResult:
        if self._announced:
            hooks.announce(self, result)
        return result


def checked_alternative(alternative: Any) -> Alternative:
    """The alternative hypothesis, if it is one.

    Raises
    ------
    ValueError
        If it is unknown.
    """
    if alternative not in ALTERNATIVES:
        raise ValueError(
            f"alternative={alternative!r} is unknown: use one of {', '.join(ALTERNATIVES)}"
        )
    return alternative


def checked_null_value(null_value: Any, *, paired: bool) -> float:
    """The null value; without one 0 for two learners, NaN for one.

    Raises
    ------
    ValueError
        If it is no finite number.
    """
    if null_value is None:
        return 0.0 if paired else math.nan
    if not is_number(null_value):
        raise ValueError(f"null_value must be a finite number, got {null_value!r}")
    return float(null_value)


def _jsonable(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
