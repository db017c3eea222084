"""Which of two classes is the positive one, and what decides it.

Only the labels 0 and 1, False and True, and -1 and 1 decide it themselves. With other labels, a
score or a probability from outside could be about either class: `pos_label` names it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ucvtest.common.words import arg, excerpt

TELLING = ({0, 1}, {-1, 1})
"""Pairs of numbers whose larger one is always the positive class; False and True are equal to 0 and
1."""


UNNAMED = "unnamed_classes"
"""The setting of losses with two labels, if nobody named the positive one."""


def says_positive(classes: Any) -> bool:
    """Whether two labels decide themselves which of them is the positive class.

    Examples
    --------
    >>> from ucvtest.data.positive_class import says_positive
    >>> says_positive([0, 1]), says_positive([False, True]), says_positive([-1.0, 1.0])
    (True, True, True)
    >>> says_positive([1, 2]), says_positive(["0", "1"])
    (False, False)
    """
    labels = [plain_label(label) for label in classes]
    return all(isinstance(label, (bool, int, float)) for label in labels) and set(labels) in TELLING


def check_positive(classes: Any, pos_label: Any, ranking_text: str) -> None:
    """Refuse to guess which of two classes a score or a probability is about.

    Parameters
    ----------
    classes : sequence of two labels
        With other numbers of classes nothing is checked.
    pos_label
        The positive class, if it is named.
    ranking_text : str
        The source of the score, for the message: "predictions['a'] contains", "learner f returns".

    Raises
    ------
    ValueError
        If neither the labels nor `pos_label` decide it.
    """
    if len(classes) != 2 or pos_label is not None or says_positive(classes):
        return
    first, second = (plain_label(label) for label in classes)
    raise ValueError(
        f"{arg('pos_label')} is missing: {ranking_text} a score or a probability of one class, and "
        f"the labels {excerpt(first)} and {excerpt(second)} do not tell which one; pass "
        f"{arg('pos_label', second)} if high values mean {excerpt(second)}, or "
        f"{arg('pos_label', first)} if they mean {excerpt(first)}"
    )


def check_positive_of_metric(classes: Any, metric: str, *, is_named: bool, where: str = "") -> None:
    """Refuse to guess which of two classes a metric is about, such as "metric='f1'"."""
    if is_named or says_positive(classes):
        return
    first, second = map(json_label, classes)
    raise ValueError(
        f"{arg('pos_label')} is missing: {metric} is about one of two classes, and the labels "
        f"{excerpt(first)} and {excerpt(second)} do not tell which one; pass "
        f"{arg('pos_label', second)}, or {arg('pos_label', first)}{where}"
    )


def unnamed_setting(classes: Any, *, is_named: bool) -> dict[str, Any]:
    """The setting with two labels if nobody named the positive one; otherwise empty."""
    if classes is None or len(classes) != 2 or is_named or says_positive(classes):
        return {}
    return {UNNAMED: [*map(json_label, classes)]}


def check_positive_of_losses(settings: Mapping[str, Any], metric: str) -> None:
    """Refuse to guess the class of a metric from losses for which it did not matter."""
    if UNNAMED in settings:
        where = ", with the predictions or the learners"
        check_positive_of_metric(settings[UNNAMED], metric, is_named=False, where=where)


def with_positive(estimand: str, positive: Any) -> str:
    """An estimand with its positive class; unchanged if there is no positive class."""
    return estimand if positive is None else f"{estimand} (positive class {excerpt(positive)})"


def positive_setting(positive: Any) -> dict[str, Any]:
    """The setting that names the positive class; empty if there is none."""
    return {} if positive is None else {"pos_label": json_label(positive)}


def plain_label(label: Any) -> Any:
    """A label as a plain Python value."""
    return label.item() if isinstance(label, np.generic) else label


def json_label(label: Any) -> Any:
    """A label in the form for settings: a value that JSON can store, or text."""
    python_label = plain_label(label)
    return python_label if isinstance(python_label, (bool, int, float, str)) else str(python_label)
