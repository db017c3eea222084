"""Two columns of predictions for the same rows, and which of them is better."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from ucvtest import Losses, TestResult
from ucvtest.metrics.names import as_metric, metric_or_loss
from ucvtest.stats.wald import Alternative
from ucvtest_mlflow.pause import not_logged

NEEDED = {
    "probability": "probabilities of the positive class",
    "score": "probabilities of the positive class, or scores",
}
"""By what `scores_for` says."""

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

    scores = scores_for(loss, metric)
    n, predictions = len(rows.y), rows.by_name
    if n < 2:
        raise ValueError(f"the data have {n} rows: a comparison needs 2 at least")
    for name, values in predictions.items():
        if len(values) != n:
            raise ValueError(
                f"{name} has {len(values)} predictions for {n} rows: pass one for each row"
            )
    for name, values in ({"targets": rows.y} | predictions).items():
        _refuse_missing(name, values)
    if scores is not None:
        needed = OF_LOSSES if metric is None else f"metric={metric!r:.60} needs {NEEDED[scores]}"
        predictions = {
            name: _scores(values, rows.y, pos_label, name, needed)
            for name, values in predictions.items()
        }
    losses = Losses.from_predictions(
        rows.y, predictions, loss=loss, metric=metric, groups=rows.groups, pos_label=pos_label
    )
    metric = losses.in_losses.metric
    test: type[DeLongTest | McNemarTest | HoldOutTest] = HoldOutTest
    if metric.ranks_pairs or metric.counts_errors:
        test = DeLongTest if metric.ranks_pairs else McNemarTest
    # The evaluator logs it, into the run that is evaluated.
    with not_logged():
        return test.from_losses(losses, alternative=alternative).fit()


def scores_for(loss: Any, metric: Any = None) -> Literal["probability", "score"] | None:
    """What a loss, or a metric in its place, needs of models instead of labels or numbers."""
    known = as_metric(loss if metric is None else metric_or_loss(metric), has_classes=True)
    if known.ranks_pairs or known.output == "score":
        return "score"
    return "probability" if known.output == "probability" else None


def labels_of(y: np.ndarray) -> list[Any]:
    """The different targets, in the order that columns without names have.

    Raises
    ------
    ValueError
        If targets are missing, or cannot be sorted.
    """
    _refuse_missing("targets", y)
    try:
        return np.unique(y).tolist()
    except TypeError:
        raise ValueError(
            "targets mixes labels of types that cannot be sorted: use one type"
        ) from None


def _refuse_missing(name: str, values: Any) -> None:
    missing = int(np.sum(pd.isna(np.asarray(values))))
    if missing:
        raise ValueError(f"{name} has {missing} missing values: leave those rows out")


def _scores(
    values: np.ndarray | pd.DataFrame | pd.Series,
    y: np.ndarray,
    pos_label: Any,
    name: str,
    needed: str,
) -> np.ndarray | pd.DataFrame | pd.Series:
    """The column of the positive class of two; a column of scores, or of many classes, as it is.

    So is a table, whose column names are the classes. `needed` is said where labels came.
    """
    if isinstance(values, pd.DataFrame) and values.shape[1] > 1:
        return values
    scores, classes = np.asarray(values), labels_of(y)
    if scores.ndim == 2 and scores.shape[1] == len(classes) == 2:
        # An unknown name is refused where losses are made.
        return scores[:, 0 if pos_label == classes[0] else 1]
    # Labels are numbers to a loss, which takes them for probabilities of 0 and 1.
    if np.isin(scores, classes).all() or np.isin(scores, (0, 1)).all():
        raise ValueError(
            f"the predictions of {name} are all labels, for example {scores.tolist()[0]!r}: "
            f"{needed}. Pass a model with predict_proba, log it with "
            "pyfunc_predict_fn='predict_proba', or name a column of probabilities; "
            "loss='zero_one' compares labels"
        )
    # A Series as it is: where losses are made, rows that have names are matched by these.
    return values if isinstance(values, pd.Series) else scores
