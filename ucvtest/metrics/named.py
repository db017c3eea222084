"""The table of metrics that are smooth functions of means: "f1", `uv.metrics.f1("macro")`.

A metric is a row of `TABLE`: its name, its words, how its value is made of means of parts, and what
it needs. A family such as F-beta is a function that makes rows. A name with arguments, such as
"fbeta(2)_macro", calls the function.
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, get_args

from ucvtest.common.checks import check_choice, is_number
from ucvtest.common.words import arg, excerpt
from ucvtest.data.positive_class import json_label
from ucvtest.metrics import confusion, moments, ranks
from ucvtest.metrics.confusion import ClassRatio
from ucvtest.metrics.recorded import known_metric
from ucvtest.metrics.smooth import SHARE, Cells, Moments, Ranks, SmoothMetric, written
from ucvtest.metrics.survival import auc, brier, harrell, integrated_brier, uno
from ucvtest.metrics.unknown_names import ALIASES, refuse_unknown

Average = Literal["binary", "macro", "weighted", "micro"]
AVERAGES: tuple[Average, ...] = get_args(Average)

CORRELATION = (-1.0, 1.0)
UP_TO_1 = (-math.inf, 1.0)
POSITIVE = (0.0, math.inf)


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


WEIGHTS: dict[Any, tuple[str, str, float | None]] = {
    None: ("kappa", "kappa", None),
    "linear": ("kappa_linear", "linearly weighted kappa", 1.0),
    "quadratic": ("kappa_quadratic", "quadratically weighted kappa", 2.0),
}
"""Name, words, and power of distances between classes."""


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
    name, words, power = WEIGHTS[weights]
    function = partial(confusion.chance_corrected, power=power)
    return of_table(name, words, function, CORRELATION, by_order=weights is not None)


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
    function = partial(confusion.net_benefit, threshold=q)
    limits = (-q / (1 - q), 1.0)
    name, words = f"net_benefit({written(q)})", f"net benefit at {q:g}"
    return of_table(name, words, function, limits, output="probability", cut=q)


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
    most = float(max_fpr)
    area = partial(ranks.partial_area, max_fpr=most)
    return of_ranks(f"partial_auc({written(most)})", f"partial AUC up to {most:g}", area)


# ------------------------------------------------------------------------------- kinds of rows


def of_classes(
    name: str, words: str, class_ratio: ClassRatio, average: Any, labels: Any = None
) -> SmoothMetric:
    """A ratio of one class, or averaged over classes."""
    check_choice("average", average, AVERAGES)
    listed = None if labels is None else _listed(labels)
    if listed is not None and average == "binary" and len(listed) > 1:
        raise ValueError(
            f"{len(listed)} classes are named, but without an average the metric is about one: "
            "name one class, or an average, 'macro', 'weighted' or 'micro'"
        )
    if average != "binary":
        name, words = f"{name}_{average}", f"{average} {words}"
    if listed is not None:
        name = f"{name}{json.dumps(listed, ensure_ascii=False)}"
        words = f"{words} of {', '.join(map(str, listed))}"

    def made_for(classes: Sequence[Any]) -> Cells:
        places = _places(list(classes), average, listed)
        only_class = places[0] if places is not None and len(places) == 1 else None
        function = partial(confusion.AVERAGES[average], class_ratio=class_ratio, places=places)
        return Cells(function, len(classes), only_class, by_place=places is not None)

    return SmoothMetric(
        name,
        estimand=words,
        made_for=made_for,
        limits=SHARE,
        of_two=average == "binary" and listed is None,
        within="positive" if class_ratio is confusion.RECALL else None,
        named_class=listed[0] if listed is not None and average == "binary" else None,
    )


def _listed(labels: Any) -> list[Any]:
    """Labels in the form for files."""
    label_list = labels.tolist() if hasattr(labels, "tolist") else labels
    plain_labels = [*map(json_label, label_list)] if isinstance(label_list, (list, tuple)) else []
    if not plain_labels or len(set(plain_labels)) < len(plain_labels):
        raise ValueError(f"labels must be a list of different classes, got {excerpt(labels)}")
    return plain_labels


def _places(known_classes: list[Any], average: Any, labels: list[Any] | None) -> confusion.Places:
    """The positions of the classes that the metric names; None for those that a table has."""
    if labels is None:
        if average == "binary" and len(known_classes) != 2:
            raise ValueError(
                f"metric of the positive class needs two classes, but y has {len(known_classes)}: "
                "name one, as in 'f1[\"ill\"]', or an average, as in 'f1_macro'"
            )
        return [len(known_classes) - 1] if average == "binary" else None
    unknown = [label for label in labels if label not in known_classes]
    if unknown:
        raise ValueError(
            f"the metric names {unknown[0]!r:.60}, which is not a class of y: the classes "
            f"are {', '.join(map(repr, known_classes))}"
        )
    return [known_classes.index(label) for label in labels]


def of_negative_class(name: str, words: str, class_ratio: ClassRatio) -> SmoothMetric:
    """A ratio of the negative one of two classes."""

    def made_for(classes: Sequence[Any]) -> Cells:
        if len(classes) != 2:
            raise ValueError(f"{arg('metric', name)} needs two classes, but y has {len(classes)}")
        return Cells(partial(confusion.of_one_class, class_ratio=class_ratio, places=[0]), 2)

    return SmoothMetric(
        name,
        estimand=words,
        made_for=made_for,
        limits=SHARE,
        of_two=True,
        within="negative" if class_ratio is confusion.RECALL else None,
    )


def of_table(
    name: str, words: str, function: Any, limits: tuple[float, float], **needs: Any
) -> SmoothMetric:
    """A function of the whole confusion matrix."""
    needs = {"made_for": lambda classes: Cells(function, len(classes)), "limits": limits, **needs}
    return SmoothMetric(name, estimand=words, **needs)


def of_moments(
    name: str, words: str, numbers: Any, values: Any, limits: Any, scale: Any, **needs: Any
) -> SmoothMetric:
    """A function of means of numbers of observations."""
    function = Moments(numbers, partial(moments.value_and_gradient, values), values)
    needs = {"output": "number", "interval_scale": scale, "limits": limits, **needs}
    return SmoothMetric(name, numbers, estimand=words, made_for=lambda classes: function, **needs)


def of_ranks(name: str, words: str, influence: Any) -> SmoothMetric:
    """A functional of the ranks of scores."""
    function = Ranks(influence)
    return SmoothMetric(
        name, output="score", estimand=words, made_for=lambda classes: function, limits=SHARE
    )


# ------------------------------------------------------------------------------------ the table

SKILL = {"output": "probability", "symmetric": True}
ONE_RULE = {"of_one_rule": True}
ERROR = {"greater_is_better": False}

TABLE: tuple[SmoothMetric, ...] = (
    *(family(average) for family in (f1, precision, recall, jaccard) for average in AVERAGES),
    *map(kappa, WEIGHTS),
    of_negative_class("specificity", "specificity", confusion.RECALL),
    of_negative_class("npv", "negative predictive value", confusion.PRECISION),
    of_table("balanced_accuracy", "balanced accuracy", confusion.balanced_accuracy, SHARE),
    of_table("g_mean", "geometric mean of recalls", confusion.geometric_mean_of_recalls, SHARE),
    of_table("mcc", "Matthews correlation coefficient", confusion.matthews, CORRELATION),
    of_moments("r2", "R2", *moments.EXPLAINED, UP_TO_1, "log1m"),
    of_moments("brier_skill", "Brier skill", *moments.EXPLAINED, UP_TO_1, "log1m", **SKILL),
    of_moments("log_skill", "log skill", *moments.LOG_SKILL, UP_TO_1, "log1m", **SKILL),
    of_moments("rmse", "root mean squared error", *moments.RMSE, POSITIVE, "sqrt", **ERROR),
    of_moments(
        "wape", "weighted absolute percentage error", *moments.WAPE, POSITIVE, "log", **ERROR
    ),
    of_moments("pearson", "correlation", *moments.PEARSON, CORRELATION, "fisher", **ONE_RULE),
    of_moments("ccc", "concordance correlation", *moments.CCC, CORRELATION, "fisher", **ONE_RULE),
    of_ranks("average_precision", "average precision", ranks.average_precision),
    harrell(),
    uno(),
)

SMOOTH: dict[str, SmoothMetric] = {metric.name: metric for metric in TABLE}
"""Smooth metrics by name; metrics with a number or labels in their names are made on demand."""

FAMILIES: dict[str, Callable[..., SmoothMetric]] = {
    family.__name__: family
    for family in (
        *(f1, fbeta, precision, recall, jaccard, net_benefit, partial_auc),
        *(harrell, uno, auc, brier, integrated_brier),
    )
}

FAMILY = re.compile(
    rf"^(?P<family>{'|'.join(FAMILIES)})(\((?P<number>[0-9.eE+,-]+)\))?"
    rf"(_(?P<average>{'|'.join(AVERAGES[1:])}))?(?P<labels>\[.*\])?$"
)
"""Names such as "fbeta(2)_macro" and 'recall["ill"]'."""


def named_smooth_metric(name: Any) -> SmoothMetric | None:
    """The metric that a name means, such as "f1_macro" or "fbeta(2)"; None for anything else.

    Arguments that are impossible for a metric are refused.
    """
    if not isinstance(name, str):
        return None
    name = ALIASES.get(name, name)
    match = None if name in SMOOTH else FAMILY.match(name)
    if match is None:
        return SMOOTH.get(name)
    family, arguments = FAMILIES[match["family"]], {}
    try:
        if match["average"]:
            arguments["average"] = match["average"]
        if match["labels"]:
            arguments["labels"] = json.loads(match["labels"])
        numbers = [] if match["number"] is None else [*map(float, match["number"].split(","))]
    except ValueError:
        return None
    try:
        return family(*([numbers] if family is integrated_brier else numbers), **arguments)
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
