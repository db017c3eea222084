"""Smooth metrics by the names and functions that users write: "f1", `uv.metrics.f1("macro")`."""

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

from ucvtest.common.checks import is_number
from ucvtest.common.words import arg, excerpt
from ucvtest.metrics import confusion, moments, ranks
from ucvtest.metrics.build import (
    AVERAGES,
    SHARE,
    Average,
    no_loss,
    of_classes,
    of_moments,
    of_negative_class,
    of_ranks,
    of_table,
    written,
)
from ucvtest.metrics.recorded import known_metric
from ucvtest.metrics.smooth import Cells, SmoothMetric
from ucvtest.metrics.survival import auc, brier, harrell, integrated_brier, uno
from ucvtest.metrics.unknown_names import ALIASES, refuse_unknown

CORRELATION = (-1.0, 1.0)


def f1(average: Average = "binary", labels: Sequence[Any] | None = None) -> SmoothMetric:
    """F1, the harmonic mean of precision and recall.

    Parameters
    ----------
    average : {"binary", "macro", "weighted", "micro"}
        For two classes, F1 of the positive class. For several classes, the mean over classes, the
        mean weighted by their shares, or F1 of all decisions together. "binary" with one label is
        this class against the rest.
    labels : sequence, optional
        The classes that "macro", "weighted" and "micro" average; by default all.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Notes
    -----
    Values are the same as in scikit-learn. In averages, a class that neither occurs nor is
    predicted counts 0. Alone it is 0/0, and the result has no value.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y = ["cat", "cat", "dog", "dog", "owl", "owl"]
    >>> a = ["cat", "cat", "dog", "owl", "owl", "owl"]
    >>> losses = uv.Losses.from_predictions(y, {"a": a}, metric=uv.metrics.f1("macro"))
    >>> result = uv.HoldOutTest.from_losses(losses).fit()
    >>> round(result.estimate, 3), result.estimand
    (0.822, 'macro F1 of this rule')
    >>> uv.metrics.f1(labels=["owl"]).name
    'f1["owl"]'
    """
    return of_classes("f1", "F1", confusion.f_beta(), average, labels)


def fbeta(
    beta: float, average: Average = "binary", labels: Sequence[Any] | None = None
) -> SmoothMetric:
    """F-beta: recall counts beta times as much as precision.

    Parameters
    ----------
    beta : float
        A number above 0; with 1 it is F1.
    average, labels
        See `f1`.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y, a = [1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 1]
    >>> losses = uv.Losses.from_predictions(y, {"a": a}, metric=uv.metrics.fbeta(2))
    >>> losses.loss, round(float(losses.means[0, 0]), 3)
    ('fbeta(2)', 0.667)
    """
    if not is_number(beta) or not beta > 0:
        raise ValueError(f"beta must be a number above 0, got {excerpt(beta)}")
    class_ratio = confusion.f_beta(float(beta))
    name = f"fbeta({written(float(beta))})"
    return of_classes(name, f"F{beta:g}", class_ratio, average, labels)


def precision(average: Average = "binary", labels: Sequence[Any] | None = None) -> SmoothMetric:
    """Precision, the positive predictive value.

    Parameters
    ----------
    average, labels
        See `f1`.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y, a = [1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]
    >>> losses = uv.Losses.from_predictions(y, {"a": a}, metric="precision")
    >>> result = uv.HoldOutTest.from_losses(losses).fit()
    >>> result.estimate, round(result.conf_int()[0], 3)
    (1.0, 0.187)
    """
    return of_classes("precision", "precision", confusion.PRECISION, average, labels)


def recall(average: Average = "binary", labels: Sequence[Any] | None = None) -> SmoothMetric:
    """Recall, the sensitivity.

    Parameters
    ----------
    average, labels
        See `f1`.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y, a = ["ill", "ill", "well", "well"], ["ill", "well", "well", "well"]
    >>> metric = uv.metrics.recall(labels=["ill"])
    >>> float(uv.Losses.from_predictions(y, {"a": a}, metric=metric).means[0, 0])
    0.5
    """
    return of_classes("recall", "recall", confusion.RECALL, average, labels)


def jaccard(average: Average = "binary", labels: Sequence[Any] | None = None) -> SmoothMetric:
    """The Jaccard index.

    Parameters
    ----------
    average, labels
        See `f1`.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y, a = [1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 1]
    >>> float(uv.Losses.from_predictions(y, {"a": a}, metric="jaccard").means[0, 0])
    0.5
    """
    return of_classes("jaccard", "Jaccard index", confusion.JACCARD, average, labels)


WEIGHTS: dict[Any, float | None] = {None: None, "linear": 1.0, "quadratic": 2.0}


def kappa(weights: Literal["linear", "quadratic"] | None = None) -> SmoothMetric:
    """Cohen's kappa; errors have equal weights, or weights by their distance between classes.

    Parameters
    ----------
    weights : {None, "linear", "quadratic"}
        Distances are between places of the classes: of numbers in ascending order, of other labels
        in the order of an ordered categorical of pandas, or of an Enum of polars. More than two
        labels that are text without such an order are refused.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y, a = [1, 2, 3, 4, 4, 2], [1, 2, 4, 4, 3, 2]
    >>> losses = uv.Losses.from_predictions(y, {"a": a}, metric=uv.metrics.kappa("quadratic"))
    >>> losses.loss, round(float(losses.means[0, 0]), 3)
    ('kappa_quadratic', 0.864)
    """
    if weights is not None and (not isinstance(weights, str) or weights not in WEIGHTS):
        raise ValueError(
            f"weights must be 'linear', 'quadratic' or {excerpt(None)}, got {excerpt(weights)}"
        )
    name = "kappa" if weights is None else f"kappa_{weights}"
    kappa_in_words = (
        "kappa" if weights is None else f"{weights}ly weighted kappa".replace("icly", "ically")
    )
    kappa_of_table = partial(confusion.chance_corrected, power=WEIGHTS[weights])
    return of_table(name, kappa_in_words, kappa_of_table, CORRELATION, by_order=weights is not None)


def net_benefit(threshold: float) -> SmoothMetric:
    """Net benefit of treating above a probability (Vickers and Elkin 2006): TP - FP q/(1 - q).

    Parameters
    ----------
    threshold : float
        The probability q from which on one treats, between 0 and 1. Learners must predict
        probabilities.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y, risk = [1, 1, 0, 0, 0], [0.8, 0.3, 0.4, 0.1, 0.1]
    >>> losses = uv.Losses.from_predictions(y, {"risk": risk}, metric=uv.metrics.net_benefit(0.2))
    >>> round(float(losses.means[0, 0]), 3)
    0.35
    """
    if not is_number(threshold) or not 0 < threshold < 1:
        raise ValueError(f"threshold must lie between 0 and 1, got {excerpt(threshold)}")
    q = float(threshold)
    benefit_of_table = partial(confusion.net_benefit, threshold=q)
    return SmoothMetric(
        f"net_benefit({written(q)})",
        no_loss,
        "probability",
        estimand=f"net benefit at {q:g}",
        made_for=lambda classes: Cells(benefit_of_table, len(classes)),
        limits=(-q / (1 - q), 1.0),
        cut=q,
    )


def partial_auc(max_fpr: float) -> SmoothMetric:
    """Area under the ROC curve up to a false positive rate, divided by this rate.

    Parameters
    ----------
    max_fpr : float
        The false positive rate, between 0 and 1; with 1 it is the AUC.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Notes
    -----
    It is the mean sensitivity A over false positive rates up to `max_fpr`. scikit-learn's
    ``roc_auc_score(max_fpr=)`` is McClish's form, 1/2 + (A - max_fpr/2)/(2 - max_fpr).

    Examples
    --------
    >>> import ucvtest as uv
    >>> y, score = [1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 5, 3, 2, 1]
    >>> losses = uv.Losses.from_predictions(y, {"a": score}, metric=uv.metrics.partial_auc(0.4))
    >>> result = uv.HoldOutTest.from_losses(losses).fit()
    >>> round(result.estimate, 3)
    0.5
    """
    if not is_number(max_fpr) or not 0 < max_fpr <= 1:
        raise ValueError(f"max_fpr must be above 0 and at most 1, got {excerpt(max_fpr)}")
    largest_fpr = float(max_fpr)
    area = partial(ranks.partial_area, max_fpr=largest_fpr)
    return of_ranks(
        f"partial_auc({written(largest_fpr)})", f"partial AUC up to {largest_fpr:g}", area
    )


def named_smooth_metric(name: Any) -> SmoothMetric | None:
    """The metric that a name means, such as "f1_macro" or "fbeta(2)"; None for anything else.

    Arguments that are impossible for a metric are refused.
    """
    if not isinstance(name, str):
        return None
    name = ALIASES.get(name, name)
    named_metric = SMOOTH.get(name)
    if named_metric is not None:
        return named_metric
    match = FAMILY.match(name)
    if match is None:
        return None
    arguments: dict[str, Any] = {}
    try:
        if match["average"]:
            arguments["average"] = match["average"]
        if match["labels"]:
            arguments["labels"] = json.loads(match["labels"])
        numbers = [] if match["number"] is None else [*map(float, match["number"].split(","))]
    except ValueError:
        return None
    try:
        number = (numbers,) if match["family"] in OF_SEVERAL_NUMBERS else numbers
        return FAMILIES[match["family"]](*number, **arguments)
    except TypeError:
        return None
    except ValueError as error:
        raise ValueError(f"{arg('metric', name)}: {error}") from None


def as_smooth_metric(metric: Any) -> SmoothMetric:
    """The metric that a user means by a name or a metric.

    Raises
    ------
    ValueError
        If there is no such metric; for metrics that are not offered, the message gives the reason
        and an alternative.
    """
    if isinstance(metric, SmoothMetric):
        return metric
    smooth_metric = named_smooth_metric(metric)
    if smooth_metric is None:
        refuse_unknown(metric, SMOOTH, FAMILIES)
    return smooth_metric


def kind_in_words(name: Any, *, rises: bool) -> str:
    """The word for the metric in results: a loss, a score, or a metric that is neither."""
    metric_of_name = known_metric(name)
    if metric_of_name is not None:
        return "Loss" if metric_of_name.is_mean else "Metric"
    if rises:
        return "Score"
    return "Loss" if named_smooth_metric(name) is None else "Metric"


EXPLAINED: dict[str, Any] = {
    "numbers": moments.of_error_and_response,
    "values": moments.explained,
    "limits": (-math.inf, 1.0),
    "scale": "log1m",
}
"""The common parts of R2 and Brier's skill."""

WITHOUT_ARGUMENTS = [
    of_negative_class("specificity", "specificity", confusion.RECALL),
    of_negative_class("npv", "negative predictive value", confusion.PRECISION),
    of_table("balanced_accuracy", "balanced accuracy", confusion.balanced_accuracy, SHARE),
    of_table("g_mean", "geometric mean of recalls", confusion.geometric_mean_of_recalls, SHARE),
    of_table("mcc", "Matthews correlation coefficient", confusion.matthews, CORRELATION),
    of_moments("r2", "R2", **EXPLAINED),
    of_moments("brier_skill", "Brier skill", output="probability", symmetric=True, **EXPLAINED),
    of_moments(
        "log_skill",
        "log skill",
        numbers=moments.of_log_loss,
        values=moments.log_skill,
        limits=(-math.inf, 1.0),
        scale="log1m",
        output="probability",
        symmetric=True,
    ),
    of_moments(
        "rmse",
        "root mean squared error",
        numbers=moments.of_squared_error,
        values=moments.root,
        limits=(0.0, math.inf),
        scale="sqrt",
        rises=False,
    ),
    of_moments(
        "wape",
        "weighted absolute percentage error",
        numbers=moments.absolute_and_size,
        values=moments.ratio,
        limits=(0.0, math.inf),
        scale="log",
        rises=False,
    ),
    of_moments(
        "pearson",
        "correlation",
        numbers=moments.of_products,
        values=moments.pearson,
        limits=CORRELATION,
        scale="fisher",
        of_one_rule=True,
    ),
    of_moments(
        "ccc",
        "concordance correlation",
        numbers=moments.of_products,
        values=moments.concordance,
        limits=CORRELATION,
        scale="fisher",
        of_one_rule=True,
    ),
    of_ranks("average_precision", "average precision", ranks.average_precision),
]

WITH_DEFAULTS = [
    *(family(average) for family in (f1, precision, recall, jaccard) for average in AVERAGES),
    *(kappa(weights) for weights in (None, "linear", "quadratic")),
]

SMOOTH: dict[str, SmoothMetric] = {
    metric.name: metric for metric in (*WITH_DEFAULTS, *WITHOUT_ARGUMENTS, harrell(), uno())
}
"""Smooth metrics by name; metrics with a number or labels in their names are made on demand."""

FAMILIES: dict[str, Callable[..., SmoothMetric]] = {
    "f1": f1,
    "fbeta": fbeta,
    "precision": precision,
    "recall": recall,
    "jaccard": jaccard,
    "net_benefit": net_benefit,
    "partial_auc": partial_auc,
    "harrell": harrell,
    "uno": uno,
    "auc": auc,
    "brier": brier,
    "integrated_brier": integrated_brier,
}

OF_SEVERAL_NUMBERS = ("integrated_brier",)

FAMILY = re.compile(
    rf"^(?P<family>{'|'.join(FAMILIES)})(\((?P<number>[0-9.eE+,-]+)\))?"
    rf"(_(?P<average>{'|'.join(AVERAGES[1:])}))?(?P<labels>\[.*\])?$"
)
"""Names such as "fbeta(2)_macro" and 'recall["ill"]'."""
