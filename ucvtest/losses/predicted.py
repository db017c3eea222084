"""Reads predictions of rules: labels, numbers, probabilities of each class, risks by times."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import check_size
from ucvtest.common.exceptions import warn_caller
from ucvtest.common.words import arg, excerpt, item
from ucvtest.data.class_order import COLUMN_ORDER, by_class, check_order, order_setting
from ucvtest.data.positive_class import json_label
from ucvtest.data.sample import Sample, as_column, refuse_missing
from ucvtest.losses.columns import as_rows, is_numbered, listed
from ucvtest.metrics.survival import SurvivalMetric

SEVERAL_COLUMNS = "pass one column, such as the probabilities of class 1"


def numbered_labels(
    rules: Mapping[str, Any], sample: Sample
) -> tuple[dict[str, np.ndarray], Sample]:
    """Positions of predicted labels among the classes, and the sample with labels not in `y`."""
    classes: list[Any] = np.asarray(sample.classes).tolist()
    n_known = len(classes)
    class_number = {label: number for number, label in enumerate(classes)}
    rows = {}
    for name, user_labels in rules.items():
        predicted = check_vector(quoted(name), as_column(quoted(name), user_labels))
        remedy = "drop these observations for all rules, or give them a label that counts as wrong"
        refuse_missing(quoted(name), predicted, remedy)
        labels = predicted.tolist()
        _check_labels(name, labels, classes[:n_known])
        for label in labels:
            if label not in class_number:
                class_number[label] = len(classes)
                classes.append(label)
        rows[name] = np.array([class_number[label] for label in labels], dtype=float)
    extended = np.array(classes, dtype=None if n_known == len(classes) else object)
    return rows, Sample(sample.features, sample.response, extended, sample.class_index)


def _check_labels(name: str, labels: Sequence[Any], classes: Sequence[Any]) -> None:
    """Refuse predictions that are not labels; warn about labels that do not occur in `y`."""
    known_classes = set(classes)
    try:
        unknown = [label for label in labels if label not in known_classes]
    except TypeError as error:
        raise ValueError(f"{quoted(name)} must contain labels: {error}") from None
    has_fractions = any(isinstance(label, float) and not label.is_integer() for label in unknown)
    foreign = bool(unknown) and len(unknown) == len(labels)
    if len(classes) == 1:
        # All other labels are wrong, and y cannot contain them.
        foreign = any(isinstance(label, str) != isinstance(classes[0], str) for label in unknown)
    other_type = bool(unknown) and isinstance(unknown[0], str) != isinstance(classes[0], str)
    if foreign and other_type and not has_fractions:
        raise ValueError(
            f"{quoted(name)} contains {listed(unknown)}, but the labels of y are "
            f"{listed(classes)}: pass labels of the same type, all numbers or all text"
        )
    if has_fractions or foreign:
        # How probabilities of the last of two classes give labels.
        example = ""
        if len(classes) == 2:
            example = f", for example {excerpt(json_label(classes[1]))} where p > 0.5"
        raise ValueError(
            f"{quoted(name)} contains {listed(unknown)}, but the labels of y are "
            f"{listed(classes)}: pass labels of the same type{example}, or {arg('loss', 'log')} "
            f"for probabilities and {arg('loss', 'auc')} for scores"
        )
    if unknown and (len(classes) > 1 or len(unknown) == len(labels)):
        warn_caller(
            f"{quoted(name)} has {len(unknown)} predictions of labels that do not occur in y "
            f"({listed(unknown)}): they count as predictions of another class"
        )


def check_probabilities(rows: Mapping[str, np.ndarray]) -> None:
    """Refuse values outside 0 to 1."""
    for name, row in rows.items():
        if row.min() < 0 or row.max() > 1:
            raise ValueError(
                f"{quoted(name)} goes from {row.min():.3g} to {row.max():.3g}, but probabilities "
                f"lie between 0 and 1: use {arg('loss', 'auc')} for other scores"
            )


def numbers_of(name: str, user_numbers: Any, *, infinite: bool = False) -> np.ndarray:
    """One finite number for each observation; scores may be infinite."""
    column = as_column(quoted(name), user_numbers)
    numbers = check_vector(quoted(name), as_numbers(quoted(name), column))
    check_finite(quoted(name), numbers, infinite=infinite)
    if not infinite:
        # Scores that may be infinite are ranked but never squared.
        check_size(quoted(name), numbers)
    return numbers


def columns_of_classes(
    name: str, user_columns: Any, classes: np.ndarray, declared: Sequence[Any]
) -> np.ndarray:
    """A column for each class, in the order of `classes`; arrays have sorted labels."""
    class_labels = classes.tolist()
    order = np.arange(len(class_labels))
    if hasattr(user_columns, "columns"):
        user_columns = by_class(quoted(name), user_columns, class_labels)
    else:
        check_order(quoted(name), sorted(class_labels), declared, None)
        order = np.argsort(np.argsort(classes))
    class_columns = as_numbers(quoted(name), user_columns)
    if class_columns.ndim != 2 or class_columns.shape[1] != len(class_labels):
        raise ValueError(
            f"{quoted(name)} must have a column for each of {len(class_labels)} classes in the "
            f"order of the sorted labels, got shape {class_columns.shape}"
        )
    return class_columns[:, order]


def column_order(rules: Mapping[str, Any], classes: Any) -> dict[str, list[Any]]:
    """The setting with the order of the classes, if an array has columns without names."""
    unnamed = any(
        np.ndim(user_columns) == 2 and not hasattr(user_columns, "columns")
        for user_columns in rules.values()
    )
    return order_setting(COLUMN_ORDER, np.sort(classes) if unnamed else ())


MOST_ROUNDING = 0.0101
"""By how much the sum of two probabilities with two decimals can differ from 1."""


def probabilities_of(
    name: str, user_probabilities: Any, classes: np.ndarray, declared: Sequence[Any]
) -> np.ndarray:
    """A probability for each class; they sum to 1."""
    probabilities = columns_of_classes(name, user_probabilities, classes, declared)
    check_finite(quoted(name), probabilities, infinite=False)
    sums = probabilities.sum(axis=1)
    if not np.allclose(sums, 1, rtol=0, atol=MOST_ROUNDING if len(classes) == 2 else 1e-4):
        raise ValueError(
            f"{quoted(name)} has rows that sum to {sums.min():.4g} up to {sums.max():.4g}, but "
            "the probabilities of all classes sum to 1"
        )
    return probabilities


def check_finite(name: str, numbers: np.ndarray, *, infinite: bool) -> None:
    """Refuse values that are missing."""
    is_missing = np.isnan(numbers) if infinite else ~np.isfinite(numbers)
    if is_missing.any():
        problem = "missing" if infinite else "missing or infinite"
        raise ValueError(
            f"{name} has {is_missing.sum()} values that are {problem}: drop these observations for "
            "all rules"
        )


def check_vector(name: str, array: np.ndarray) -> np.ndarray:
    """The array, refused unless it has one dimension."""
    if array.ndim != 1:
        remedy = f": {SEVERAL_COLUMNS}" if array.ndim == 2 and name != "y" else ""
        raise ValueError(f"{name} must have one dimension, got shape {array.shape}{remedy}")
    return array


def quoted(name: str) -> str:
    """The name of the predictions of a rule in messages."""
    return item("predictions", name)


def of_survival(
    y: Any, rules: Mapping[str, Any], metric: SurvivalMetric, pos_label: Any
) -> dict[str, Any]:
    """The fields of `Losses` of one test set."""
    times = metric.times_of(y, pos_label)
    # One risk for each observation, or one for each time of the metric.
    rows, n_times = {}, len(metric.times)
    for name, user_risks in rules.items():
        if n_times < 2:
            risks = numbers_of(name, user_risks)
        else:
            risks = as_numbers(quoted(name), _by_time(quoted(name), user_risks, metric))
            if risks.ndim != 2 or risks.shape[1] != n_times:
                raise ValueError(
                    f"{quoted(name)} must have a column for each of the {n_times} times of "
                    f"{arg('metric', metric.name)}, got shape {risks.shape}"
                )
            check_finite(quoted(name), risks, infinite=False)
            check_size(quoted(name), risks)
        if not metric.compares_pairs and (risks.min() < 0 or risks.max() > 1):
            by_time = f"auc({metric.times[-1]:g})"
            raise ValueError(
                f"{quoted(name)} goes from {risks.min():.3g} to {risks.max():.3g}, but "
                f"{arg('metric', metric.name)} needs probabilities of an event by then, between 0 "
                f"and 1: use {arg('metric', 'harrell', by_time)} for other risks"
            )
        rows[name] = risks
    risks = as_rows(rows, len(times))
    return {"predictions": risks, "target": times.time, "event": times.event, "settings": {}}


def _by_time(name: str, user_risks: Any, metric: SurvivalMetric) -> Any:
    """A table whose columns are named by the times, in their order; anything else as it is."""
    if not hasattr(user_risks, "columns"):
        return user_risks
    times = list(metric.times)
    columns = _numbers_of(user_risks.columns)
    if sorted(columns) == times:
        return user_risks.iloc[:, np.argsort(columns)]
    if sorted(_numbers_of(user_risks.index)) == times:
        problem, remedy = "times in its rows", "transpose it"
    elif is_numbered(user_risks.columns):
        return user_risks
    else:
        problem = f"the columns {list(user_risks.columns)!s:.60}"
        remedy = "name columns by the times, or give them no names if they are in this order"
    raise ValueError(
        f"{name} has {problem}, but {arg('metric', metric.name)} needs a column for each time: "
        f"{remedy}"
    )


def _numbers_of(names: Any) -> list[float]:
    """Names as numbers; empty if there is another one among them."""
    try:
        return [float(name) for name in names]
    except (TypeError, ValueError):
        return []
