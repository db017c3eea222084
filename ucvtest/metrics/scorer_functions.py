"""Scorers that are functions (estimator, X, y), as in cross_val_score."""

import inspect
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ucvtest.data.output import Output
from ucvtest.metrics.set_scores import SetScore

OUTPUTS: dict[str, Output] = {
    "predict": "label",
    "predict_proba": "probability",
    "decision_function": "score",
}

PROBED = 4
"""Number of observations in a trial call, which shows what a scorer needs."""


class _MethodRequest(Exception):
    """The scorer requests something from the estimator."""


class _NotPredictions(ValueError):
    """The scorer requests more than predictions."""


class _Rows:
    """Stands for the features of a test set, which are known only by their predictions."""

    def __init__(self, name: str, n_rows: int) -> None:
        self._name, self._n_rows = name, n_rows

    def __len__(self) -> int:
        return self._n_rows

    def __getattr__(self, name: str) -> NoReturn:
        self._refuse()

    def __getitem__(self, index: Any) -> NoReturn:
        self._refuse()

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise _NotPredictions(
            f"scoring: {self._name} uses X, but scores are computed from predictions here: pass a "
            "function that only passes X to the estimator, or test a function (X_train, y_train, "
            "X_test) -> predictions with your own loss"
        )


class _Probe:
    """An estimator that reports the requests of a scorer."""

    def __getattr__(self, name: str) -> Any:
        if name in OUTPUTS:
            raise _MethodRequest(name)
        raise AttributeError(name)


class _Predicted:
    """An estimator that has predicted a test set."""

    def __init__(self, scorer: str, method: str, predicted: np.ndarray) -> None:
        self._scorer, self._method, self._predicted = scorer, method, predicted

    def __getattr__(self, name: str) -> Any:
        if name == self._method:
            return lambda X: self._predicted
        raise _NotPredictions(
            f"scoring: {self._scorer} asks the estimator for {name} and {self._method}, but only "
            "one of predict, predict_proba and decision_function is possible"
        )


def is_scorer_function(scoring: Any) -> bool:
    """Whether it is a function of estimator, X and y, not a scorer object of scikit-learn."""
    if not callable(scoring) or isinstance(scoring, type) or hasattr(scoring, "_score_func"):
        return False
    try:
        parameters = inspect.signature(scoring).parameters.values()
    except (TypeError, ValueError):
        return False
    required = [
        parameter
        for parameter in parameters
        if parameter.default is parameter.empty and parameter.kind != parameter.VAR_KEYWORD
    ]
    return len(required) == 3


def score_by_function(scorer: Callable[..., Any]) -> SetScore:
    """The score from a function (estimator, X, y); greater is better.

    Raises
    ------
    ValueError
        If it requests anything but predictions of X from an estimator.
    """
    name = getattr(scorer, "__name__", type(scorer).__name__)
    method = _asked_method(scorer, name)

    def score(y: np.ndarray, predicted: np.ndarray) -> float:
        if method == "predict_proba" and predicted.ndim == 1:
            predicted = np.column_stack([1 - predicted, predicted])
        return float(scorer(_Predicted(name, method, predicted), _Rows(name, len(y)), y))

    return SetScore(
        name,
        score,
        OUTPUTS[method],
        original_labels=True,
        estimand=f"mean {name} score",
        fixed_output=method != "predict",
    )


def _asked_method(scorer: Callable[..., Any], name: str) -> str:
    """What a scorer requests from its estimator."""
    try:
        scorer(_Probe(), _Rows(name, PROBED), np.arange(PROBED) % 2)
    except _MethodRequest as method_request:
        return str(method_request)
    except _NotPredictions:
        raise
    except Exception:
        pass
    raise ValueError(
        f"scoring={name} does not ask the estimator for predictions: pass a function of "
        "(estimator, X, y) that calls estimator.predict(X), .predict_proba(X) or "
        ".decision_function(X)"
    )
