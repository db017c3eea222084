"""Smooth metrics by the names and functions that users write: "f1", `uv.metrics.f1("macro")`."""

import json
import math
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, Literal

import numpy as np

from ucvtest.common.checks import check_choice, check_switch, is_number
from ucvtest.data.positive_class import json_label
from ucvtest.metrics import confusion, moments, weighted_ranks
from ucvtest.metrics.confusion import OfClass
from ucvtest.metrics.smooth import (
    Cells,
    IntervalScale,
    Moments,
    Ranks,
    SmoothMetric,
    ValueAndGradient,
    with_differences,
)
from ucvtest.metrics.unknown_names import ALIASES, refuse_unknown

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
    "partial_auc",
    "precision",
    "recall",
]

Average = Literal["binary", "macro", "weighted", "micro"]
AVERAGES: tuple[Average, ...] = ("binary", "macro", "weighted", "micro")

LARGEST_WHOLE = 1e15
"""Numbers up to this are written without a point."""

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

    Notes
    -----
    Values are scikit-learn's. In averages a class that is neither there nor predicted counts 0;
    alone it is 0/0, and the result says so.

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
    return _averaged("f1", "F1", confusion.f_beta, confusion.f_beta_parts, average, labels)


def fbeta(
    beta: float, average: Average = "binary", labels: Sequence[Any] | None = None
) -> SmoothMetric:
    """F-beta: recall counts beta times as much as precision.

    Parameters
    ----------
    beta : float
        Above 0; 1 is F1.
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
        raise ValueError(f"beta must be a number above 0, got {beta!r:.60}")
    of_class = partial(confusion.f_beta, beta=float(beta))
    parts = partial(confusion.f_beta_parts, beta=float(beta))
    name = f"fbeta({_written(float(beta))})"
    return _averaged(name, f"F{beta:g}", of_class, parts, average, labels)


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
    of_class, parts = confusion.precision, confusion.precision_parts
    return _averaged("precision", "precision", of_class, parts, average, labels)


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
    return _averaged("recall", "recall", confusion.recall, confusion.recall_parts, average, labels)


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
    of_class, parts = confusion.jaccard, confusion.jaccard_parts
    return _averaged("jaccard", "Jaccard index", of_class, parts, average, labels)


WEIGHTS: dict[Any, float | None] = {None: None, "linear": 1.0, "quadratic": 2.0}


def kappa(weights: Literal["linear", "quadratic"] | None = None) -> SmoothMetric:
    """Cohen's kappa; errors weigh alike, or by their distance in the order of the classes.

    Parameters
    ----------
    weights : {None, "linear", "quadratic"}
        The order of the classes is that of their sorted labels.

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
        raise ValueError(f"threshold must lie between 0 and 1, got {threshold!r:.60}")
    q = float(threshold)
    found = partial(confusion.net_benefit, threshold=q)
    return SmoothMetric(
        f"net_benefit({_written(q)})",
        _unused,
        "probability",
        estimand=f"net benefit at {q:g}",
        made_for=lambda classes: Cells(found, len(classes)),
        limits=(-q / (1 - q), 1.0),
        cut=q,
    )


def partial_auc(max_fpr: float) -> SmoothMetric:
    """Area under the ROC curve up to a false positive rate, over that rate.

    Parameters
    ----------
    max_fpr : float
        Between 0 and 1; with 1 it is the AUC.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Notes
    -----
    The mean sensitivity over false positive rates up to `max_fpr`. scikit-learn's
    ``roc_auc_score(max_fpr=)`` is McClish's form, 1/2 + (A - max_fpr/2)/(2 - max_fpr) of this A.

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
        raise ValueError(f"max_fpr must be above 0 and at most 1, got {max_fpr!r:.60}")
    most = float(max_fpr)
    found = partial(weighted_ranks.partial_area, max_fpr=most)
    return _of_ranks(f"partial_auc({_written(most)})", f"partial AUC up to {most:g}", found)


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
        From the matrix of shares (C, C), true classes in rows, in ascending order, to a number;
        any function of a NumPy array. It must be smooth where shares are positive, and just
        outside of 0 to 1 too: its gradient is found by differences of the fourth order, not by
        JAX, with an error of about 1e-10. A function of JAX is computed in float64.
    name : str, optional
        By default that of the function.
    limits : tuple of float
        The smallest and the largest value.
    greater_is_better : bool

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Notes
    -----
    Predicted labels that `y` has not are further columns, with rows of zeros. Losses of such a
    metric cannot be saved, as a file holds no function.

    Examples
    --------
    >>> import ucvtest as uv
    >>> def youden(table):
    ...     (tn, fp), (fn, tp) = table
    ...     return tp / (tp + fn) + tn / (tn + fp) - 1
    >>> metric = uv.metrics.Cells(youden, limits=(-1, 1))
    >>> y, a = [1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 1, 1]
    >>> losses = uv.Losses.from_predictions(y, {"a": a}, metric=metric)
    >>> round(uv.HoldOutTest.from_losses(losses).fit().estimate, 6)
    0.25
    """
    _check_own(limits, greater_is_better, function=function)
    name = _own_name(function, name)
    found = _of_table(name, name, with_differences(_number_from(function, name)), limits)
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
        From their means (k,) to a number. Its gradient is found by differences, as in `Cells`.
    name, limits, greater_is_better
        See `Cells`.
    output : {"number", "probability"}
        What learners predict; with probabilities the response is 0 or 1.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Examples
    --------
    Calibration in the large, observed over expected events:

    >>> import numpy as np
    >>> import ucvtest as uv
    >>> metric = uv.metrics.Moments(
    ...     lambda y, p: np.stack([y, p], axis=-1),
    ...     lambda means: means[0] / means[1],
    ...     "observed over expected",
    ...     output="probability",
    ... )
    >>> y, p = [1, 1, 0, 0, 1, 0], [0.8, 0.6, 0.3, 0.1, 0.5, 0.2]
    >>> losses = uv.Losses.from_predictions(y, {"p": p}, metric=metric)
    >>> round(uv.HoldOutTest.from_losses(losses).fit().estimate, 6)
    1.2
    """
    _check_own(limits, greater_is_better, parts=parts, function=function)
    name = _own_name(function, name)
    number = _number_from(function, name)

    def values(means: np.ndarray) -> np.ndarray:
        rows = means.reshape(-1, means.shape[-1])
        return np.array([number(row) for row in rows]).reshape(means.shape[:-1])

    found = Moments(_parts_from(parts, name), with_differences(number), values)
    return SmoothMetric(
        *(name, parts, output),
        estimand=name,
        made_for=lambda classes: found,
        rises=greater_is_better,
        limits=limits,
    )


def named_smooth_metric(name: Any) -> SmoothMetric | None:
    """The metric that a name means, such as "f1_macro" or "fbeta(2)"; None for anything else.

    Arguments that a metric cannot have are refused.
    """
    if not isinstance(name, str):
        return None
    name = ALIASES.get(name, name)
    known = SMOOTH.get(name)
    if known is not None:
        return known
    found = FAMILY.match(name)
    if found is None:
        return None
    arguments: dict[str, Any] = {}
    try:
        if found["average"]:
            arguments["average"] = found["average"]
        if found["labels"]:
            arguments["labels"] = json.loads(found["labels"])
        number = () if found["number"] is None else (float(found["number"]),)
    except ValueError:
        return None
    try:
        return FAMILIES[found["family"]](*number, **arguments)
    except TypeError:
        return None
    except ValueError as error:
        raise ValueError(f"metric={name!r:.60}: {error}") from error


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
        refuse_unknown(metric, SMOOTH, FAMILIES)
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
    listed = None if labels is None else _listed(labels)
    if listed is not None and average == "binary" and len(listed) > 1:
        raise ValueError(
            f"labels names {len(listed)} classes, and average='binary' is about one: name one, or "
            "use average='macro', 'weighted' or 'micro'"
        )
    if average != "binary":
        name, words = f"{name}_{average}", f"{average} {words}"
    if listed is not None:
        name = f"{name}{json.dumps(listed, ensure_ascii=False)}"
        words = f"{words} of {', '.join(map(str, listed))}"
    return SmoothMetric(
        *(name, _unused, "label"),
        estimand=words,
        made_for=partial(_function_for, of_class, parts, average, listed),
        limits=SHARE,
        of_two=average == "binary" and listed is None,
    )


def _listed(labels: Any) -> list[Any]:
    """Labels as a file has them."""
    given = labels.tolist() if hasattr(labels, "tolist") else labels
    found = [*map(json_label, given)] if isinstance(given, (list, tuple)) else []
    if not found or len(set(found)) < len(found):
        raise ValueError(f"labels must be a list of different classes, got {labels!r:.60}")
    return found


def _written(number: float) -> str:
    """A number as names have it, from which it is read without loss."""
    return str(int(number)) if number.is_integer() and number < LARGEST_WHOLE else repr(number)


def _check_own(limits: Any, greater_is_better: Any, **functions: Any) -> None:
    """Refuse functions that cannot be called, and what are no limits."""
    for argument, function in functions.items():
        if not callable(function):
            raise ValueError(f"{argument} must be a function, got {function!r:.60}")
    two = isinstance(limits, (tuple, list)) and len(limits) == 2
    if not two or not all(isinstance(end, (int, float)) for end in limits):
        raise ValueError(f"limits must be the smallest and the largest value, got {limits!r:.60}")
    if not limits[0] < limits[1]:
        raise ValueError(f"limits must be two numbers in order, got {limits!r:.60}")
    check_switch("greater_is_better", greater_is_better)


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


def _of_ranks(name: str, words: str, influence: Any) -> SmoothMetric:
    """A metric of ranks of scores."""
    found = Ranks(influence)
    return SmoothMetric(
        *(name, _unused, "score"),
        estimand=words,
        made_for=lambda classes: found,
        limits=SHARE,
    )


def _unused(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    raise NotImplementedError("observations of this metric have no value alone")


def _in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a user, in float64 where it may be one of JAX, which is loaded then."""

    def computed(*arguments: np.ndarray) -> Any:
        # A function of NumPy needs no JAX, and metrics import none.
        jax: Any = sys.modules.get("jax")
        with nullcontext() if jax is None else jax.enable_x64(True):
            found = function(*arguments)
            # Out of the block JAX would take an array of its own for one of float32.
            return found if found is None else np.asarray(found)

    return computed


def _number_from(function: Callable[[np.ndarray], Any], name: str) -> Callable[[np.ndarray], float]:
    """The function of a user, held to one number."""
    computed = _in_double(function)

    def number(means: np.ndarray) -> float:
        found = computed(means)
        if found is None or found.shape or found.dtype.kind not in "iufb":
            raise ValueError(
                f"function of the metric {name!r:.60} must return one number, got {found!r:.60}"
            )
        return float(found)

    return number


def _parts_from(parts: Callable[..., Any], name: str) -> Callable[..., np.ndarray]:
    """The parts of a user, held to a row of numbers for each observation."""
    computed = _in_double(parts)

    def numbers(y: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        found = np.asarray(computed(y, predictions))
        if found.shape[:-1] != np.shape(y) or found.dtype.kind not in "iufb":
            raise ValueError(
                f"parts of the metric {name!r:.60} must return a row of numbers for each "
                f"observation, shape {(*np.shape(y), 'k')}, got shape {found.shape}: use "
                "np.stack([...], axis=-1)"
            )
        return found

    return numbers


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
    _of_ranks("average_precision", "average precision", weighted_ranks.average_precision),
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
    "partial_auc": partial_auc,
}

FAMILY = re.compile(
    rf"^(?P<family>{'|'.join(FAMILIES)})(\((?P<number>[0-9.eE+-]+)\))?"
    rf"(_(?P<average>{'|'.join(AVERAGES[1:])}))?(?P<labels>\[.*\])?$"
)
"""Names such as "fbeta(2)_macro" and 'recall["ill"]'."""
