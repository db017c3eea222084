"""Learners of survival times that are fitted one by one: estimators, functions, lifelines."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.words import arg, term
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.adapters.estimators import (
    PREDICTIONS,
    CallableLearner,
    SklearnLearner,
    refuse_other_index,
    short,
)
from ucvtest.learners.base import Learner, SplitLearner, reading
from ucvtest.learners.restricted import OnColumns
from ucvtest.learners.survival import SurvivalLearner, check_survival

NAMES = ("ucvtest_time", "ucvtest_event")
"""The columns that lifelines gets next to the features."""


def for_survival(learner: Learner, times: Sequence[float]) -> Learner:
    """The learner as it learns survival times, for probabilities of an event by `times`, if any.

    Raises
    ------
    ValueError
        If it learns labels or numbers alone.
    """
    if isinstance(learner, OnColumns):
        if not learner.columns:
            raise ValueError(
                f"learner {learner.name}: nothing is learnt of survival times without columns, so "
                "name one at least"
            )
        return replace(learner, inner=for_survival(learner.inner, times))
    survival_learner: Any = learner
    if isinstance(learner, SklearnLearner) and not isinstance(learner, SurvivalLearner):
        survival_learner = SurvivalEstimator(learner.estimator)
    elif isinstance(learner, CallableLearner) and not isinstance(learner, SurvivalLearner):
        survival_learner = SurvivalFunction(learner.function)
    if not isinstance(survival_learner, SurvivalLearner):
        raise ValueError(
            f"learner {learner.name} does not learn survival times: use 'cox', or "
            f"{term(OF_SURVIVAL)}"
        )
    return survival_learner.predicting_at(times) if times else survival_learner  # type: ignore[return-value]


OF_SURVIVAL = (
    "an estimator of scikit-survival or lifelines, or a function (X_train, y_train, X_test) -> "
    "risks"
)


@dataclass(frozen=True, eq=False)
class SurvivalEstimator(SurvivalLearner, SklearnLearner):
    """An estimator of scikit-survival, or a pipeline that ends in one, cloned for every fit.

    It learns the structured array that scikit-survival reads. Risks are what `predict` returns,
    with the other sign where the estimator predicts times. Probabilities are one less the step
    functions of `predict_survival_function`, which keep their last value.
    """

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse other responses, and probabilities of estimators without survival functions."""
        check_survival(self.name, sample, output)
        if self._kind:
            raise ValueError(
                f"learner {self.name} is a {self._kind} and does not learn survival times: use "
                f"'cox', or {term(OF_SURVIVAL)}"
            )
        has_function = hasattr(self.estimator, "predict_survival_function")
        if output == "event_probability" and not has_function:
            raise ValueError(
                f"learner {self.name} has no predict_survival_function, which this metric needs: "
                f"use {arg('metric', 'harrell')}"
            )

    def _response(self, sample: Sample) -> np.ndarray:
        return sample.response

    def _predict(
        self, fitted_estimator: Any, sample: Sample, features: Any, output: Output
    ) -> np.ndarray:
        if output == "risk":
            with reading():
                predictions = as_numbers(PREDICTIONS, fitted_estimator.predict(features))
            predicts_risks = getattr(fitted_estimator, "_predict_risk_score", True)
            return predictions if predicts_risks else -predictions
        curves = fitted_estimator.predict_survival_function(features)
        event_probabilities = np.array(
            [[1 - _step(curve, time) for time in self.times] for curve in curves]
        )
        return event_probabilities[:, 0] if len(self.times) == 1 else event_probabilities


def _step(curve: Any, time: float) -> float:
    """A step function of scikit-survival at a time: 1 before its first step."""
    step_index = int(np.searchsorted(curve.x, time, side="right")) - 1
    return float(curve.a * curve.y[step_index] + curve.b) if step_index >= 0 else 1.0


@dataclass(frozen=True, eq=False)
class SurvivalFunction(SurvivalLearner, CallableLearner):
    """A function ``(X_train, y_train, X_test)`` that returns risks, or probabilities of an event.

    `y_train` is a structured array with the fields "event" and "time". Risks are higher where
    events are earlier. Probabilities are those of an event by the time of the metric, (n_test,), or
    by each of its times, (n_test, K).
    """

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse other responses."""
        check_survival(self.name, sample, output)

    @reading()
    def _read(
        self, returned: Any, sample: Sample, testing: np.ndarray, output: Output
    ) -> np.ndarray:
        refuse_other_index(sample.rows(testing), returned)
        return as_numbers(PREDICTIONS, returned)


@dataclass(frozen=True, eq=False)
class LifelinesLearner(SurvivalLearner, SplitLearner):
    """A regression model of lifelines, copied for every fit.

    Risks are partial hazards. If a model does not have them, risks are its median times with the
    other sign.
    """

    backend: ClassVar[str] = "lifelines"

    fitter: Any

    @cached_property
    def name(self) -> str:
        """The model as lifelines writes it, on one line."""
        return short(repr(self.fitter))

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse other responses."""
        check_survival(self.name, sample, output)
        sample.check_numeric(f"learner {self.name}")

    def fit_predict(
        self, sample: Sample, learning: np.ndarray, testing: np.ndarray, output: Output, seed: int
    ) -> np.ndarray:
        """Copy, fit and predict."""
        import pandas as pd

        times = sample.survival_times
        assert times is not None
        columns = pd.DataFrame(sample.rows(learning)).rename(columns=str)
        learnt_times = times.take(learning)
        response = dict(zip(NAMES, (learnt_times.time, learnt_times.event), strict=True))
        fitted_estimator = copy.deepcopy(self.fitter)
        fitted_estimator.fit(columns.assign(**response), duration_col=NAMES[0], event_col=NAMES[1])
        tested = pd.DataFrame(sample.rows(testing)).rename(columns=str)
        if output == "risk":
            if hasattr(fitted_estimator, "predict_partial_hazard"):
                return as_numbers(PREDICTIONS, fitted_estimator.predict_partial_hazard(tested))
            return -as_numbers(PREDICTIONS, fitted_estimator.predict_median(tested))
        curves = fitted_estimator.predict_survival_function(tested, times=list(self.times))
        event_probabilities = 1 - as_numbers(PREDICTIONS, curves).T
        return event_probabilities[:, 0] if len(self.times) == 1 else event_probabilities


def is_fitter(learner: Any) -> bool:
    """Whether it is a model of lifelines that learns from features."""
    of_lifelines = type(learner).__module__.split(".")[0] == "lifelines"
    return of_lifelines and any(
        base.__name__ == "RegressionFitter" for base in type(learner).__mro__
    )
