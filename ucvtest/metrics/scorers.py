"""Metrics in scikit-learn's words: names of scorers, and scorer objects.

Scores that are means over observations are computed as losses, and reported as scores. Others (F1,
R2, ...) are one number for each test set: a `SetScore`, for tests that need only that.
"""

import importlib
import inspect
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ucvtest.common.words import arg, call, term
from ucvtest.data.output import Output
from ucvtest.data.weights import parts_of_weights
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.means import SCORES_OF_LOSSES
from ucvtest.metrics.names import canonical, metric_or_loss
from ucvtest.metrics.ranks import AUC_NAME
from ucvtest.metrics.refusals import refuse_of_folds
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

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise _NotPredictions(
            f"scoring: {self._name} uses X, but scores are computed from predictions here: pass a "
            "function that only passes X to the estimator, or test a function (X_train, y_train, "
            "X_test) -> predictions with your own loss"
        )

    __getattr__ = __getitem__ = __array__ = _refuse


class _Estimator:
    """Stands for an estimator that has predicted a test set; without a method, it reports one."""

    def __init__(self, scorer: str, method: str = "", predicted: np.ndarray | None = None) -> None:
        self._scorer, self._method, self._predicted = scorer, method, predicted

    def __getattr__(self, name: str) -> Any:
        if not self._method:
            raise _MethodRequest(name) if name in OUTPUTS else AttributeError(name)
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
    return sum(x.default is x.empty and x.kind != x.VAR_KEYWORD for x in parameters) == 3


def score_by_function(scorer: Callable[..., Any]) -> SetScore:
    """The score from a function (estimator, X, y); greater is better.

    Raises
    ------
    ValueError
        If it requests anything but predictions of X from an estimator.
    """
    name = getattr(scorer, "__name__", type(scorer).__name__)
    method = ""
    try:
        scorer(_Estimator(name), _Rows(name, PROBED), np.arange(PROBED) % 2)
    except _MethodRequest as method_request:
        method = str(method_request)
    except _NotPredictions:
        raise
    except Exception:
        pass
    if not method:
        raise ValueError(
            f"{arg('scoring', name)} does not ask the estimator for predictions: pass a function "
            "of (estimator, X, y) that calls estimator.predict(X), .predict_proba(X) or "
            ".decision_function(X)"
        )

    def score(y: np.ndarray, predicted: np.ndarray) -> float:
        if method == "predict_proba" and predicted.ndim == 1:
            predicted = np.column_stack([1 - predicted, predicted])
        return float(scorer(_Estimator(name, method, predicted), _Rows(name, len(y)), y))

    return SetScore(
        name,
        score,
        OUTPUTS[method],
        original_labels=True,
        estimand=f"mean {name} score",
        fixed_output=method != "predict",
    )


OF_NUMBERS = (
    *("explained_variance", "max_error", "r2", "neg_max_error", "neg_median_absolute_error"),
    *("neg_root_mean_squared_error", "neg_root_mean_squared_log_error"),
    "d2_absolute_error_score",
)
"""scikit-learn's scorers of predicted numbers that are not means; other scorers of `predict` score
labels."""

MEANS: dict[str, Loss | str] = {**SCORES_OF_LOSSES, "roc_auc": AUC_NAME}
"""scikit-learn's scores that are means over observations, by the losses behind them, or the AUC."""


def chosen_loss(loss: Any, scoring: Any = None, metric: Any = None, weights: Any = None) -> Any:
    """The metric that a user names by `loss`, by scikit-learn's `scoring`, or by `metric`.

    A score that is a constant minus a mean loss becomes this loss, which remembers the score. A
    scorer may request weights if the loss has weights.

    Raises
    ------
    ValueError
        If two are given, or the score or metric is unknown.
    """
    arguments = {"loss": loss, "scoring": scoring, "metric": metric}
    named = [arg(name) for name, value in arguments.items() if value is not None]
    if len(named) > 1:
        raise ValueError(f"{named[0]} and {named[1]} exclude each other: pass one of them")
    if metric is not None:
        canonical_metric = canonical(metric_or_loss(metric))
        refuse_of_folds(canonical_metric)
        return canonical_metric
    if scoring is None:
        return canonical(loss)
    if isinstance(scoring, str) and scoring in MEANS:
        return MEANS[scoring]
    if is_scorer_function(scoring):
        return score_by_function(scoring)
    scorer = _scorer(scoring, "loss" in parts_of_weights(weights))
    name = scoring if isinstance(scoring, str) else _name_of(scorer)
    return MEANS[name] if name in MEANS else _set_score(name, scorer)


def _metrics() -> Any:
    """scikit-learn's module, imported without side effects."""
    import ucvtest.common.quiet_imports  # noqa: F401  (see there)

    return importlib.import_module("sklearn.metrics")


def _scorer(scoring: Any, weighted: bool) -> Any:
    """The scorer object of scikit-learn that is meant."""
    metrics = _metrics()

    if isinstance(scoring, str):
        scorer_names = metrics.get_scorer_names()
        if scoring not in scorer_names:
            raise ValueError(
                f"{arg('scoring', scoring)} is unknown: use one of {', '.join(scorer_names)}, or "
                f"{term('a scorer from sklearn.metrics.make_scorer')}"
            )
        return metrics.get_scorer(scoring)
    if isinstance(scoring, (list, tuple, set, dict)):
        raise ValueError(f"{arg('scoring')} names several scores: pass one, and call once for each")
    if not all(hasattr(scoring, name) for name in ("_score_func", "_sign", "_kwargs")):
        raise ValueError(
            f"{arg('scoring', scoring)} is neither the name of a score nor a scorer: make one of a "
            "function (y_true, y_pred) by sklearn.metrics.make_scorer"
        )
    requested = getattr(getattr(scoring, "_metadata_request", None), "score", None)
    asks = getattr(requested, "requests", {}).get("sample_weight")
    if (asks and not weighted) or "sample_weight" in scoring._kwargs:
        raise ValueError(
            "scoring asks for sample_weight, but all rows have the same weight: pass "
            f"{arg('weights')} to the test, or {arg('sample_weight')} to "
            f"{call('Losses.from_predictions')}"
        )
    return scoring


def _name_of(scorer: Any) -> str:
    """scikit-learn's name for such a scorer; otherwise the name of its function."""
    metrics = _metrics()
    for name in metrics.get_scorer_names():
        if _what_it_does(metrics.get_scorer(name)) == _what_it_does(scorer):
            return name
    return getattr(scorer._score_func, "__name__", "score")


def _what_it_does(scorer: Any) -> tuple[Any, ...]:
    """A key that is equal for equal scorers, even if one of them names a default value."""
    parameters = inspect.signature(scorer._score_func).parameters
    changed = {
        name: value
        for name, value in scorer._kwargs.items()
        if name not in parameters or parameters[name].default != value
    }
    return (*(scorer._score_func, scorer._sign, changed), getattr(scorer, "_response_method", None))


def _set_score(name: str, scorer: Any) -> SetScore:
    score_function, sign, keywords = scorer._score_func, scorer._sign, dict(scorer._kwargs)

    # One number each, not one for each observation as in other losses.
    def score(y: np.ndarray, prediction: np.ndarray, **sample_arguments: Any) -> Any:
        return float(sign * score_function(y, prediction, **(sample_arguments | keywords)))

    output = OUTPUTS.get(str(getattr(scorer, "_response_method", "predict")), "score")
    if output == "label" and name in OF_NUMBERS:
        output = "number"
    parameters = inspect.signature(score_function).parameters
    score_arguments = {name: parameter.default for name, parameter in parameters.items()} | keywords
    # For labels, an average over classes has no positive class.
    if score_arguments.get("average", "binary") != "binary" and output == "label":
        score_arguments.pop("pos_label", None)
    positive = score_arguments.get("pos_label")
    words = name.removesuffix("_score")
    return SetScore(
        name,
        score,
        output,
        original_labels=True,
        estimand="mean score" if words == "score" else f"mean {words} score",
        # Whether there are labels depends on the response.
        fixed_output=output != "label",
        parameters=frozenset(score_arguments),
        positive=None if positive is inspect.Parameter.empty else positive,
        scorer_names_positive="pos_label" in keywords,
    )
