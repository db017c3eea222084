"""Smooth metrics by the names and functions that users write: "f1", `uv.metrics.f1("macro")`."""

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from ucvtest.common.checks import check_choice, is_number
from ucvtest.metrics import confusion, moments
from ucvtest.metrics.confusion import OfClass
from ucvtest.metrics.smooth import (
    Cells,
    IntervalScale,
    Moments,
    SmoothMetric,
    ValueAndGradient,
    with_differences,
)

__all__ = [
    "SMOOTH",
    "as_smooth_metric",
    "f1",
    "fbeta",
    "jaccard",
    "kappa",
    "named_smooth_metric",
    "net_benefit",
    "own_cells",
    "own_moments",
    "precision",
    "recall",
]

Average = Literal["binary", "macro", "weighted", "micro"]
AVERAGES: tuple[Average, ...] = ("binary", "macro", "weighted", "micro")

SHARE, CORRELATION = (0.0, 1.0), (-1.0, 1.0)


def f1(average: Average = "binary", labels: Sequence[Any] | None = None) -> SmoothMetric:
    """F1, the harmonic mean of precision and recall.

    Parameters
    ----------
    average : {"binary", "macro", "weighted", "micro"}
        Of two classes that of the positive one; of several the mean over classes, the mean
        weighted by their shares, or that of all decisions together. "binary" with one label is
        that class against the rest.
    labels : sequence, optional
        The classes over which "macro", "weighted" and "micro" go; by default all.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If an argument cannot be used.
    """
    return _averaged("f1", "F1", confusion.f_beta, confusion.f_beta_parts, average, labels)


def fbeta(
    beta: float, average: Average = "binary", labels: Sequence[Any] | None = None
) -> SmoothMetric:
    """F-beta: recall counts beta times as much as precision. See `f1`."""
    if not is_number(beta) or not beta > 0:
        raise ValueError(f"beta must be a number above 0, got {beta!r:.60}")
    of_class = partial(confusion.f_beta, beta=float(beta))
    parts = partial(confusion.f_beta_parts, beta=float(beta))
    name = f"fbeta({beta:g})"
    return _averaged(name, f"F{beta:g}", of_class, parts, average, labels)


def precision(average: Average = "binary", labels: Sequence[Any] | None = None) -> SmoothMetric:
    """Precision, the positive predictive value. See `f1`."""
    of_class, parts = confusion.precision, confusion.precision_parts
    return _averaged("precision", "precision", of_class, parts, average, labels)


def recall(average: Average = "binary", labels: Sequence[Any] | None = None) -> SmoothMetric:
    """Recall, the sensitivity. See `f1`."""
    return _averaged("recall", "recall", confusion.recall, confusion.recall_parts, average, labels)


def jaccard(average: Average = "binary", labels: Sequence[Any] | None = None) -> SmoothMetric:
    """The Jaccard index. See `f1`."""
    of_class, parts = confusion.jaccard, confusion.jaccard_parts
    return _averaged("jaccard", "Jaccard index", of_class, parts, average, labels)


WEIGHTS: dict[Any, float | None] = {None: None, "linear": 1.0, "quadratic": 2.0}


def kappa(weights: Literal["linear", "quadratic"] | None = None) -> SmoothMetric:
    """Cohen's kappa; errors weigh alike, or by their distance in the order of the classes."""
    if weights not in WEIGHTS:
        raise ValueError(f"weights must be None, 'linear' or 'quadratic', got {weights!r:.60}")
    name = "kappa" if weights is None else f"kappa_{weights}"
    words = "kappa" if weights is None else f"{weights}ly weighted kappa".replace("icly", "ically")
    found = partial(confusion.chance_corrected, power=WEIGHTS[weights])
    return _of_table(name, words, found, CORRELATION)


def net_benefit(threshold: float) -> SmoothMetric:
    """Net benefit of treating from a probability on (Vickers and Elkin 2006): TP - FP q/(1 - q).

    Parameters
    ----------
    threshold : float
        The probability q from which on one treats, between 0 and 1; of learners probabilities are
        asked for.
    """
    if not is_number(threshold) or not 0 < threshold < 1:
        raise ValueError(f"threshold must lie between 0 and 1, got {threshold!r:.60}")
    q = float(threshold)
    found = partial(confusion.net_benefit, threshold=q)
    return SmoothMetric(
        f"net_benefit({q:g})",
        _unused,
        "probability",
        estimand=f"net benefit at {q:g}",
        made_for=lambda classes: Cells(found, len(classes)),
        limits=(-q / (1 - q), 1.0),
        cut=q,
    )


def own_cells(
    function: Callable[[np.ndarray], Any],
    name: str | None = None,
    *,
    limits: tuple[float, float] = (-math.inf, math.inf),
    greater_is_better: bool = True,
) -> SmoothMetric:
    """A metric of your own: a function of the confusion matrix.

    Parameters
    ----------
    function : callable
        From the matrix of shares (C, C), true classes in rows, in ascending order, to a number. It
        must be smooth where shares are positive; its gradient is found by differences.
    name : str, optional
        By default that of the function.
    limits : tuple of float
        The smallest and the largest value.
    greater_is_better : bool

    Returns
    -------
    metric
    """
    both = with_differences(function)
    name = _own_name(function, name)
    found = _of_table(name, name, both, limits)
    return SmoothMetric(**{**vars(found), "rises": greater_is_better})


def own_moments(
    parts: Callable[[np.ndarray, np.ndarray], np.ndarray],
    function: Callable[[np.ndarray], Any],
    name: str | None = None,
    *,
    output: Literal["number", "probability"] = "number",
    limits: tuple[float, float] = (-math.inf, math.inf),
    greater_is_better: bool = True,
) -> SmoothMetric:
    """A metric of your own: a function of means.

    Parameters
    ----------
    parts : callable
        From response and predictions (n,) to the numbers of each observation, (n, k).
    function : callable
        From their means (k,) to a number. Its gradient is found by differences.
    name, limits, greater_is_better
        See `own_cells`.
    output : {"number", "probability"}
        What learners predict; with probabilities the response is 0 or 1.

    Returns
    -------
    metric
    """
    both = with_differences(function)

    def values(means: np.ndarray) -> np.ndarray:
        rows = means.reshape(-1, means.shape[-1])
        return np.array([float(function(row)) for row in rows]).reshape(means.shape[:-1])

    found = Moments(parts, both, values)
    name = _own_name(function, name)
    return SmoothMetric(
        *(name, parts, output),
        estimand=name,
        made_for=lambda classes: found,
        rises=greater_is_better,
        limits=limits,
    )


def named_smooth_metric(name: Any) -> SmoothMetric | None:
    """The metric that a name means, such as "f1_macro" or "fbeta(2)"; None for anything else."""
    if not isinstance(name, str):
        return None
    known = SMOOTH.get(name)
    if known is not None:
        return known
    found = FAMILY.match(name)
    if found is None:
        return None
    try:
        arguments: dict[str, Any] = {}
        if found["average"]:
            arguments["average"] = found["average"]
        if found["labels"]:
            arguments["labels"] = json.loads(found["labels"])
        number = () if found["number"] is None else (float(found["number"]),)
        return FAMILIES[found["family"]](*number, **arguments)
    except (TypeError, ValueError):
        return None


def as_smooth_metric(metric: Any) -> SmoothMetric:
    """The metric that a user means by a name or a metric.

    Raises
    ------
    ValueError
        If there is none; metrics that are refused say why, and what to take.
    """
    if isinstance(metric, SmoothMetric):
        return metric
    found = named_smooth_metric(metric)
    if found is None:
        raise ValueError(
            f"metric={metric!r:.60} is unknown: use one of {', '.join(SMOOTH)}, or uv.metrics.Cells"
        )
    return found


def _averaged(
    name: str,
    words: str,
    of_class: OfClass,
    parts: Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]],
    average: Any,
    labels: Sequence[Any] | None,
) -> SmoothMetric:
    """A metric of one class, or averaged over classes."""
    check_choice("average", average, AVERAGES)
    listed = None if labels is None else list(labels)
    if listed is not None and (
        not listed or len(set(listed)) < len(listed) or (average == "binary" and len(listed) > 1)
    ):
        raise ValueError(
            f"labels must be different classes, and one for average='binary', got {labels!r:.60}"
        )
    if average != "binary":
        name, words = f"{name}_{average}", f"{average} {words}"
    if listed is not None:
        name = f"{name}{json.dumps(listed)}"
        words = f"{words} of {', '.join(map(str, listed))}"
    return SmoothMetric(
        *(name, _unused, "label"),
        estimand=words,
        made_for=partial(_function_for, of_class, parts, average, listed),
        limits=SHARE,
        of_two=average == "binary" and listed is None,
    )


def _function_for(
    of_class: OfClass, parts: Any, average: Average, labels: list[Any] | None, classes: Any
) -> Cells:
    known = list(classes)
    if labels is None:
        if average == "binary" and len(known) != 2:
            raise ValueError(
                f"metric of the positive class needs two classes, y has {len(known)}: name one by "
                "labels=[...], or an average: 'macro', 'weighted' or 'micro'"
            )
        places = [len(known) - 1] if average == "binary" else list(range(len(known)))
    else:
        unknown = [label for label in labels if label not in known]
        if unknown:
            raise ValueError(
                f"labels of the metric has {unknown[0]!r:.60}, which is no class of y: the classes "
                f"are {', '.join(map(repr, known))}"
            )
        places = [known.index(label) for label in labels]

    def found(table: np.ndarray) -> tuple[float, np.ndarray]:
        everywhere = places if labels is not None else [*places, *range(len(known), len(table))]
        if average == "binary":
            return of_class(table, places[0])
        if average == "micro":
            return confusion.micro_averaged(table, parts, everywhere)
        over = confusion.averaged if average == "macro" else confusion.weighted_by_class
        return over(table, of_class, everywhere)

    return Cells(found, len(known))


def _of_table(
    name: str, words: str, function: ValueAndGradient, limits: tuple[float, float]
) -> SmoothMetric:
    """A metric of the whole confusion matrix."""
    return SmoothMetric(
        *(name, _unused, "label"),
        estimand=words,
        made_for=lambda classes: Cells(function, len(classes)),
        limits=limits,
    )


def _of_class_at(name: str, words: str, of_class: OfClass, place: int) -> SmoothMetric:
    """A metric of the negative (0) or positive (1) of two classes."""

    def made_for(classes: Sequence[Any]) -> Cells:
        if len(classes) != 2:
            raise ValueError(f"metric={name!r} needs two classes, y has {len(classes)}")
        return Cells(lambda table: of_class(table, place), 2)

    return SmoothMetric(
        *(name, _unused, "label"),
        estimand=words,
        made_for=made_for,
        limits=SHARE,
        of_two=True,
    )


MomentParts = tuple[
    Callable[[np.ndarray, np.ndarray], np.ndarray],
    Callable[[np.ndarray], Any],
    Callable[[np.ndarray], np.ndarray],
]


def _of_moments(
    name: str,
    words: str,
    parts: MomentParts,
    *,
    limits: tuple[float, float],
    scale: IntervalScale,
    output: Literal["number", "probability"] = "number",
    rises: bool = True,
) -> SmoothMetric:
    """A metric by the numbers of each observation, the function of their means and its gradient."""
    numbers, values, gradient = parts

    def both(means: np.ndarray) -> tuple[float, np.ndarray]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(values(means)), gradient(means)

    function = Moments(numbers, both, values)
    return SmoothMetric(
        *(name, numbers, output),
        estimand=words,
        made_for=lambda classes: function,
        limits=limits,
        interval_scale=scale,
        rises=rises,
    )


def _unused(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    raise NotImplementedError("observations of a confusion matrix have no value alone")


def _own_name(function: Any, name: Any) -> str:
    found = getattr(function, "__name__", "") if name is None else name
    if not isinstance(found, str) or not found.strip() or found == "<lambda>":
        raise ValueError(
            f"name must be a string with text for a function without one, got {name!r:.60}"
        )
    if named_smooth_metric(found) is not None:
        raise ValueError(f"name={found!r:.60} means something else here: use another")
    return found


_UP_TO_ONE, _FROM_ZERO = (-math.inf, 1.0), (0.0, math.inf)

_EXPLAINED = (moments.of_error_and_response, moments.explained, moments.gradient_of_explained)
_LIST = (
    *(f1(average) for average in AVERAGES),
    *(precision(average) for average in AVERAGES),
    *(recall(average) for average in AVERAGES),
    *(jaccard(average) for average in AVERAGES),
    kappa(),
    kappa("linear"),
    kappa("quadratic"),
    _of_class_at("specificity", "specificity", confusion.recall, 0),
    _of_class_at("npv", "negative predictive value", confusion.precision, 0),
    _of_table("balanced_accuracy", "balanced accuracy", confusion.balanced_accuracy, SHARE),
    _of_table("g_mean", "geometric mean of recalls", confusion.geometric_mean_of_recalls, SHARE),
    _of_table("mcc", "Matthews correlation coefficient", confusion.matthews, CORRELATION),
    _of_moments("r2", "R2", _EXPLAINED, limits=_UP_TO_ONE, scale="log1m"),
    _of_moments(
        *("brier_skill", "Brier skill", _EXPLAINED),
        limits=_UP_TO_ONE,
        scale="log1m",
        output="probability",
    ),
    _of_moments(
        *("log_skill", "log skill"),
        (moments.of_log_loss, moments.log_skill, moments.gradient_of_log_skill),
        limits=_UP_TO_ONE,
        scale="log1m",
        output="probability",
    ),
    _of_moments(
        *("rmse", "root mean squared error"),
        (moments.of_squared_error, moments.root, moments.gradient_of_root),
        limits=_FROM_ZERO,
        scale="sqrt",
        rises=False,
    ),
    _of_moments(
        *("wape", "weighted absolute percentage error"),
        (moments.absolute_and_size, moments.ratio, moments.gradient_of_ratio),
        limits=_FROM_ZERO,
        scale="log",
        rises=False,
    ),
    _of_moments(
        *("pearson", "correlation"),
        (moments.of_products, moments.pearson, moments.gradient_of_pearson),
        limits=CORRELATION,
        scale="fisher",
    ),
    _of_moments(
        *("ccc", "concordance correlation"),
        (moments.of_products, moments.concordance, moments.gradient_of_concordance),
        limits=CORRELATION,
        scale="fisher",
    ),
)

SMOOTH: dict[str, SmoothMetric] = {metric.name: metric for metric in _LIST}
"""Smooth metrics by name; those with a number or labels in their names are made when asked for."""

FAMILIES: dict[str, Callable[..., SmoothMetric]] = {
    "f1": f1,
    "fbeta": fbeta,
    "precision": precision,
    "recall": recall,
    "jaccard": jaccard,
    "net_benefit": net_benefit,
}

FAMILY = re.compile(
    rf"^(?P<family>{'|'.join(FAMILIES)})(\((?P<number>[0-9.eE+-]+)\))?"
    rf"(_(?P<average>{'|'.join(AVERAGES[1:])}))?(?P<labels>\[.*\])?$"
)
"""Names such as "fbeta(2)_macro" and 'recall["ill"]'."""
