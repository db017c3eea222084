"""The confusion matrix as a picture: the working point of a rule."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ucvtest.results.plot_data import Layer, Picture

MOST_CLASSES = 8
"""Most classes whose bars can be distinguished."""

SHARE, LABEL_LENGTH = 0.8, 12
"""Share of the axis between two classes that bars fill, and characters of a label."""


def working_point(table: np.ndarray, classes: Sequence[Any], learner: str) -> Picture | None:
    """Bars of the counts (C, C) of a confusion matrix; None for too many classes."""
    size = len(table)
    if size > MOST_CLASSES:
        return None
    true, predicted = np.indices(table.shape)
    places = np.asarray(true + (predicted - (size - 1) / 2) * SHARE / size)
    right = np.eye(size) > 0
    names = [f"{label!s:.{LABEL_LENGTH}}" for label in classes[:size]]
    names += ["another"] * (size - len(names))
    right_places, wrong_places, width = places[right], places[~right], SHARE / size
    layers = (
        Layer("bars", right_places, table[right], "predicted as they are", "estimate", width),
        Layer("bars", wrong_places, table[~right], "predicted as another class", "other", width),
    )
    return Picture(
        "true class; within each class the predicted classes, in the same order",
        "observations",
        layers,
        f"working point of {learner}",
        tuple(names),
    )
