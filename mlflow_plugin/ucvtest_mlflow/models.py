"""What fitted models say about rows: labels or numbers, or scores where a loss needs those."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import mlflow
import numpy as np
import pandas as pd
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from mlflow.utils import mlflow_tags


def loaded(model: Any) -> Any:
    """The model behind a URI; anything else as it is."""
    return mlflow.pyfunc.load_model(model) if isinstance(model, str) else model


def identity(role: str, model_id: str | None) -> dict[str, str]:
    """URI of a logged model, and the registered version that it is, as "<role>_uri" and so on."""
    if model_id is None:
        return {}
    try:
        logged = MlflowClient().get_logged_model(model_id)
    except MlflowException:  # of a store that knows no models, or gone
        return {}
    found = {f"{role}_uri": str(logged.model_uri)}
    registered = json.loads(logged.tags.get(mlflow_tags.MLFLOW_MODEL_VERSIONS, "[]"))
    for field in ("name", "version") if registered else ():
        # One model can be registered twice.
        words = dict.fromkeys(str(each[field]) for each in registered)
        found[f"{role}_{field}"] = ", ".join(words)
    return found


def predicted(
    model: Any, features: Any, name: str, column: str | None = None
) -> np.ndarray | pd.DataFrame:
    """What `predict` gives, or the function itself; of a table, the one column that is named.

    A table of several columns keeps their names, which may be those of the classes.
    """
    function = getattr(model, "predict", model)
    if not callable(function):
        raise ValueError(
            f"{name}_model must be a model URI, have a method predict, or be a function of the "
            f"features, got {type(model).__name__}"
        )
    found = function(features)
    if isinstance(found, pd.DataFrame) and column is not None:
        found = found[column]
    if isinstance(found, pd.DataFrame) and found.shape[1] > 1:
        return found
    values = np.asarray(found)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def scored(
    model: Any, features: Any, name: str, classes: Sequence[Any], *, probabilities: bool
) -> np.ndarray | pd.DataFrame:
    """One column of probabilities or scores for each class, named by it where the model says so.

    The function that MLflow calls for a model gives labels by default, so that the flavour's own
    model is asked. Where it has neither `predict_proba` nor (unless `probabilities` are needed)
    `decision_function`, this is what the model predicts. Of a model without `classes_` an array
    has no names, and a score of one class does not tell which class.
    """
    learner = _learner(model)
    for method in ("predict_proba",) if probabilities else ("predict_proba", "decision_function"):
        function = getattr(learner, method, None)
        if callable(function):
            return _by_class(function, learner, _known(model, features), classes, name)
    return predicted(model, features, name)


def _learner(model: Any) -> Any:
    """The model that was logged, where its flavour hands it out."""
    try:
        return model.get_raw_model()
    except (AttributeError, NotImplementedError):
        return model


def _known(model: Any, features: Any) -> Any:
    """The columns that the model was logged with, which MLflow picks for `predict` too."""
    schema = model.metadata.get_input_schema() if getattr(model, "metadata", None) else None
    if schema is None or not schema.has_input_names() or not isinstance(features, pd.DataFrame):
        return features
    return features[[column for column in schema.input_names() if column in features.columns]]


def _by_class(
    function: Callable[[Any], Any],
    learner: Any,
    features: Any,
    classes: Sequence[Any],
    name: str,
) -> np.ndarray | pd.DataFrame:
    found = function(features)
    order = list(getattr(learner, "classes_", getattr(found, "columns", ())))
    values = np.asarray(found)
    if not order:
        return values
    if values.ndim == 1:  # a decision function, which is positive for the second class
        values = np.column_stack([-values, values])
    # Of the rows of one class a model knows others still.
    one = len(classes) == 1 and classes[0] in order
    same = sorted(map(str, order)) == sorted(map(str, classes))
    if not (one or same) or len(order) != values.shape[1]:
        raise ValueError(
            f"{name} gives scores for the classes {', '.join(map(repr, order))}, the targets have "
            f"{', '.join(map(repr, classes))}: evaluate it on rows with the labels that it was "
            "fitted with"
        )
    return pd.DataFrame(values, columns=order)
