"""Makers of smooth metrics: of classes, of the confusion matrix, of moments, of ranks."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from ucvtest.common.checks import check_choice
from ucvtest.common.words import arg, excerpt
from ucvtest.data.positive_class import json_label
from ucvtest.metrics import confusion
from ucvtest.metrics.confusion import ClassRatio
from ucvtest.metrics.moments import value_and_gradient
from ucvtest.metrics.smooth import (
    Cells,
    IntervalScale,
    Moments,
    Ranks,
    SmoothMetric,
    ValueAndGradient,
)

Average = Literal["binary", "macro", "weighted", "micro"]
AVERAGES: tuple[Average, ...] = ("binary", "macro", "weighted", "micro")

SHARE = (0.0, 1.0)

LARGEST_WHOLE = 1e15
"""Whole numbers up to this are written without a point."""


def of_classes(
    name: str,
    metric_in_words: str,
    class_ratio: ClassRatio,
    average: Any,
    labels: Sequence[Any] | None,
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
        name, metric_in_words = f"{name}_{average}", f"{average} {metric_in_words}"
    if listed is not None:
        name = f"{name}{json.dumps(listed, ensure_ascii=False)}"
        metric_in_words = f"{metric_in_words} of {', '.join(map(str, listed))}"
    return SmoothMetric(
        name,
        no_loss,
        "label",
        estimand=metric_in_words,
        made_for=partial(_cells_of_classes, class_ratio, average, listed),
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


def _cells_of_classes(
    class_ratio: ClassRatio, average: Average, labels: list[Any] | None, classes: Sequence[Any]
) -> Cells:
    known_classes = list(classes)
    places = _places(known_classes, average, labels)
    only_class = places[0] if places is not None and len(places) == 1 else None
    if average == "binary":
        assert only_class is not None
        metric_of_table: ValueAndGradient = partial(
            confusion.of_one_class, class_ratio=class_ratio, k=only_class
        )
    else:
        averages = {
            "macro": confusion.averaged,
            "weighted": confusion.weighted_by_class,
            "micro": confusion.micro_averaged,
        }
        metric_of_table = partial(averages[average], class_ratio=class_ratio, places=places)
    return Cells(metric_of_table, len(known_classes), only_class, by_place=places is not None)


def _places(
    known_classes: list[Any], average: Average, labels: list[Any] | None
) -> list[int] | None:
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


def of_table(
    name: str,
    metric_in_words: str,
    metric_of_table: ValueAndGradient,
    limits: tuple[float, float],
    *,
    by_order: bool = False,
) -> SmoothMetric:
    """A metric of the whole confusion matrix."""
    return SmoothMetric(
        name,
        no_loss,
        "label",
        estimand=metric_in_words,
        made_for=lambda classes: Cells(metric_of_table, len(classes)),
        limits=limits,
        by_order=by_order,
    )


def of_negative_class(name: str, metric_in_words: str, class_ratio: ClassRatio) -> SmoothMetric:
    """A ratio of the negative one of two classes."""

    def made_for(classes: Sequence[Any]) -> Cells:
        if len(classes) != 2:
            raise ValueError(f"{arg('metric', name)} needs two classes, but y has {len(classes)}")
        return Cells(partial(confusion.of_one_class, class_ratio=class_ratio, k=0), 2)

    return SmoothMetric(
        name,
        no_loss,
        "label",
        estimand=metric_in_words,
        made_for=made_for,
        limits=SHARE,
        of_two=True,
        within="negative" if class_ratio is confusion.RECALL else None,
    )


def of_moments(
    name: str,
    metric_in_words: str,
    *,
    numbers: Callable[[np.ndarray, np.ndarray], np.ndarray],
    values: Callable[[np.ndarray], Any],
    limits: tuple[float, float],
    scale: IntervalScale,
    output: Literal["number", "probability"] = "number",
    rises: bool = True,
    of_one_rule: bool = False,
    symmetric: bool = False,
) -> SmoothMetric:
    """A metric from numbers of observations, and a function of their means."""
    metric_of_moments = Moments(numbers, partial(value_and_gradient, values), values)
    return SmoothMetric(
        name,
        numbers,
        output,
        estimand=metric_in_words,
        made_for=lambda classes: metric_of_moments,
        limits=limits,
        interval_scale=scale,
        rises=rises,
        of_one_rule=of_one_rule,
        symmetric=symmetric,
    )


def of_ranks(name: str, metric_in_words: str, influence: Any) -> SmoothMetric:
    """A metric of ranks of scores."""
    rank_metric = Ranks(influence)
    return SmoothMetric(
        name,
        no_loss,
        "score",
        estimand=metric_in_words,
        made_for=lambda classes: rank_metric,
        limits=SHARE,
    )


def no_loss(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """A single observation has no value."""
    raise NotImplementedError("single observations have no value of this metric")


def written(number: float) -> str:
    """A number in the form for names, from which it can be read exactly."""
    return str(int(number)) if number.is_integer() and number < LARGEST_WHOLE else repr(number)
