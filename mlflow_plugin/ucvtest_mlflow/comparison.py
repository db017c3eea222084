"""Two columns of predictions for the same rows, which of them is better, and models that give them.

What MLflow calls for a model gives labels or numbers; scores, where a loss needs those, are asked
of the model that was logged.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import mlflow
import numpy as np
import pandas as pd
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from mlflow.utils import mlflow_tags

from ucvtest import Losses, TestResult
from ucvtest.metrics.names import as_metric, metric_or_loss
from ucvtest.stats.wald import Alternative
from ucvtest_mlflow.pause import NOT_LOGGED

OF_LOSSES = "loss='log' needs probabilities of the positive class, loss='auc' these or scores"


@dataclass(frozen=True)
class Rows:
    """Labels or values, what two models say about them, and their names.

    Parameters
    ----------
    y : array, shape (n,)
    first, second : array or Series, shape (n,), array (n, n_classes), or DataFrame
        Predictions. Of two columns, one for each class in sorted order, that of the positive
        class is taken; those of a DataFrame are named by the classes.
    names : tuple of str
        Of the first model and of the second.
    groups : array, shape (n,), optional
        The group of each row, such as a patient: rows of one group are not independent.
    """

    y: np.ndarray
    first: np.ndarray | pd.DataFrame | pd.Series
    second: np.ndarray | pd.DataFrame | pd.Series
    names: tuple[str, str] = ("model", "baseline")
    groups: np.ndarray | None = None

    @property
    def by_name(self) -> dict[str, np.ndarray | pd.DataFrame | pd.Series]:
        """The predictions, under names that are two even where the models' are not."""
        first, second = self.names
        return {first: self.first, second if second != first else f"{second} (2)": self.second}

    @property
    def slice_of(self) -> str | None:
        """What the rows have in common that a comparison may need to vary; None in general."""
        if len(self.y) < 2:
            return f"as the slice has {len(self.y)} rows"
        if pd.Series(self.y).nunique(dropna=False) == 1:
            return f"as all rows of the slice are of {np.asarray(self.y).tolist()[0]!r:.40}"
        if self.groups is not None and pd.Series(self.groups).nunique(dropna=False) == 1:
            return "as all rows of the slice are of one group"
        return None


def compare_predictions(
    rows: Rows,
    loss: Any = None,
    *,
    metric: Any = None,
    pos_label: Any = None,
    alternative: Alternative = "two-sided",
) -> TestResult:
    """Test whether two fitted models have the same expected loss, or the same AUC.

    H0: the expected losses (or the AUCs) of the two models on new rows are equal; H1: the
    first minus the second differs from, is below, or is above 0.

    Parameters
    ----------
    rows : Rows
    loss : str or callable, optional
        As in `uv.Losses.from_predictions`. Zero-one loss: McNemar's test, exact without groups.
        AUC: DeLong's test. Otherwise the t test of the paired loss differences.
    metric : str or metric, optional
        Instead of a loss, a metric that is not a mean of losses, such as "f1", "mcc" and "r2": the
        hold-out test of that metric.
    pos_label : optional
        The positive class, for the log loss, the AUC and metrics such as F1. It must be named
        unless labels are 0 and 1, False and True, or -1 and 1, or DataFrames name their columns.
    alternative : {"two-sided", "less", "greater"}

    Returns
    -------
    TestResult
        That of `uv.McNemarTest`, `uv.DeLongTest` or `uv.HoldOutTest`, which state their
        assumptions.

    Raises
    ------
    ValueError
        If predictions are missing, or are not of the kind that the loss needs.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest_mlflow.comparison import Rows, compare_predictions
    >>> y = np.array([0, 1] * 20)
    >>> first, second = y.copy(), y.copy()
    >>> first[:2], second[10:20] = 1 - y[:2], 1 - y[10:20]
    >>> result = compare_predictions(Rows(y, first, second))
    >>> print(f"{result.estimate:.2f}, p = {result.pvalue:.4f}")
    -0.20, p = 0.0386
    """
    # Here: they load JAX, and MLflow imports every evaluator that is installed.
    from ucvtest import DeLongTest, HoldOutTest, McNemarTest

    predictions = rows.by_name
    if len(rows.y) < 2:
        raise ValueError(f"the data have {len(rows.y)} rows: a comparison needs 2 at least")
    if scores_for(loss, metric) is not None:
        needed = OF_LOSSES if metric is None else f"metric={metric!r:.60} needs scores"
        for name, values in predictions.items():
            _refuse_labels(values, rows.y, name, needed)
    losses = Losses.from_predictions(
        rows.y, predictions, loss=loss, metric=metric, groups=rows.groups, pos_label=pos_label
    )
    metric = losses.in_losses.metric
    test: type[DeLongTest | McNemarTest | HoldOutTest] = HoldOutTest
    if metric.ranks_pairs or metric.counts_errors:
        test = DeLongTest if metric.ranks_pairs else McNemarTest
    # The evaluator logs it, into the run that is evaluated.
    token = NOT_LOGGED.set(True)
    try:
        return test.from_losses(losses, alternative=alternative).fit()
    finally:
        NOT_LOGGED.reset(token)


def scores_for(loss: Any, metric: Any = None) -> Literal["probability", "score"] | None:
    """What a loss, or a metric in its place, needs of models instead of labels or numbers."""
    known = as_metric(loss if metric is None else metric_or_loss(metric), has_classes=True)
    if known.ranks_pairs or known.output == "score":
        return "score"
    return "probability" if known.output == "probability" else None


def _refuse_labels(values: Any, y: np.ndarray, name: str, needed: str) -> None:
    """Refuse labels, which are numbers to a loss: it takes them for probabilities of 0 and 1."""
    scores = np.asarray(values).squeeze()
    are_labels = any(np.isin(scores, labels).all() for labels in (y, (0, 1)))
    if scores.size and scores.ndim == 1 and are_labels:
        raise ValueError(
            f"the predictions of {name} are all labels, for example {scores.tolist()[0]!r}: "
            f"{needed}. Pass a model with predict_proba, log it with "
            "pyfunc_predict_fn='predict_proba', or name a column of probabilities; "
            "loss='zero_one' compares labels"
        )


# ------------------------------------------------------------------------------------ models


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
    model: Any, features: Any, name: str, y: np.ndarray, *, probabilities: bool
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
            return _by_class(function, learner, _known(model, features), y, name)
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
    function: Callable[[Any], Any], learner: Any, features: Any, y: np.ndarray, name: str
) -> np.ndarray | pd.DataFrame:
    found = function(features)
    order = list(getattr(learner, "classes_", getattr(found, "columns", ())))
    values = np.asarray(found)
    if not order:
        return values
    if values.ndim == 1:  # a decision function, which is positive for the second class
        values = np.column_stack([-values, values])
    classes = pd.Series(y).drop_duplicates().tolist()
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
