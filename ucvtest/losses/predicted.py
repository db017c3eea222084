"""Reads predictions of rules: labels, numbers, and probabilities of each class."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import check_size
from ucvtest.common.exceptions import warn_caller
from ucvtest.data.class_order import COLUMN_ORDER, by_class, check_order, order_setting
from ucvtest.data.positive_class import json_label, says_positive
from ucvtest.data.sample import Sample, as_column, refuse_missing

SEVERAL_COLUMNS = "pass one column, such as predict_proba(X)[:, 1] for the probability of class 1"


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
        raise ValueError(
            f"{quoted(name)} contains {listed(unknown)}, but the labels of y are "
            f"{listed(classes)}: pass labels of the same type{_example(classes)}, "
            "or 'log' for probabilities and 'auc' for scores"
        )
    if unknown and (len(classes) > 1 or len(unknown) == len(labels)):
        warn_caller(
            f"{quoted(name)} has {len(unknown)} predictions of labels that do not occur in y "
            f"({listed(unknown)}): they count as predictions of another class"
        )


def _example(classes: Sequence[Any]) -> str:
    """How probabilities of the last of two classes give labels."""
    if len(classes) != 2:
        return ""
    if says_positive(classes) and 0 in classes:
        return ", for example from p > 0.5"
    negative, positive = map(json_label, classes)
    return f", for example from np.where(p > 0.5, {positive!r:.30}, {negative!r:.30})"


def check_probabilities(rows: Mapping[str, np.ndarray]) -> None:
    """Refuse values outside 0 to 1."""
    for name, row in rows.items():
        if row.min() < 0 or row.max() > 1:
            raise ValueError(
                f"{quoted(name)} goes from {row.min():.3g} to {row.max():.3g}, but probabilities "
                "lie between 0 and 1: use loss='auc' for other scores"
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
            "order of the sorted labels, as predict_proba returns them, got shape "
            f"{class_columns.shape}"
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


def as_rows(rows: Mapping[str, np.ndarray], n_obs: int | None = None) -> np.ndarray:
    """The rules as rows of one array, if all have the same length."""
    expected = len(next(iter(rows.values()))) if n_obs is None else n_obs
    for name, row in rows.items():
        if len(row) != expected:
            raise ValueError(f"{quoted(name)} has {len(row)} values, but {expected} are needed")
    if not expected:
        raise ValueError("predictions is empty: at least one observation is needed")
    return np.stack(list(rows.values()))


def quoted(name: str) -> str:
    """The name of the predictions of a rule in messages."""
    return f"predictions[{name!r:.60}]"


def listed(values: Iterable[Any], most: int = 5) -> str:
    """Labels as a list in messages."""
    distinct = list(dict.fromkeys(values))
    listed_labels = ", ".join(f"{value!r:.30}" for value in distinct[:most])
    return f"{listed_labels}, ..." if len(distinct) > most else listed_labels
