"""The rule that ignores the features: predict the most frequent class of the learning set."""

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from ucvtest.common.words import arg
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Predictions, Scale, class_members

Tie = Literal["first", "second", "half"]


def majority(tie: Tie = "first") -> "Majority":
    """Predict the most frequent class of the learning set.

    Parameters
    ----------
    tie : {"first", "second", "half"}
        What to predict where classes are equally frequent: the first of them, the second, or
        (two classes) neither, which costs half an error whatever the truth is.

    Returns
    -------
    Majority
        Its score and probability are the share of the positive class.

    Raises
    ------
    ValueError
        If `tie` is something else.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.majority().name, uv.learners.majority(tie="half").name
    ('majority', 'majority:half')
    """
    return Majority(tie)


@dataclass(frozen=True)
class Majority(JittedLearner):
    """Most frequent class; made by `majority`."""

    tie: Tie = "first"

    family: ClassVar[str] = "majority"
    arguments: ClassVar[tuple[str, ...]] = ("tie",)
    scale: ClassVar[Scale] = "share"
    multiclass: ClassVar[bool] = True
    needs_features: ClassVar[bool] = False

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also half an error among more than two classes, which no label stands for."""
        super().check(sample, output, learn_size)
        if self.tie == "half" and sample.n_classes > 2:
            raise ValueError(
                f"learner {self.name} needs two classes, but y has {sample.n_classes}: "
                f"use {arg('tie', 'first')} or {arg('tie', 'second')}"
            )

    def prepare(self, sample: Sample) -> np.ndarray:
        """Class indicators, (n, C)."""
        return class_members(sample)

    def scores(
        self, state: np.ndarray, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Share of the positive class, or of each of more than two classes."""
        counts = _counts(state, learning, labels)
        shares = counts / counts.sum(axis=1, keepdims=True)
        if state.shape[1] == 2:
            return np.repeat(shares[:, 1:], len(state), axis=1)
        return np.repeat(shares[:, None, :], len(state), axis=1)

    def predict(
        self,
        state: np.ndarray,
        learning: np.ndarray,
        output: Output,
        testing: np.ndarray | None = None,
        labels: np.ndarray | None = None,
    ) -> Predictions:
        """Predictions of the kind that a loss needs; `class_ties` counts the tied ones."""
        if output != "label":
            return super().predict(state, learning, output, testing, labels)
        counts = _counts(state, learning, labels)
        is_largest_class = counts == counts.max(axis=1, keepdims=True)
        tied = is_largest_class.sum(axis=1) > 1
        elected = is_largest_class.argmax(axis=1).astype(float)
        if self.tie == "second":
            # The second of the tied classes is the one whose running count of them is 2.
            elected[tied] = (is_largest_class.cumsum(axis=1) == 2)[tied].argmax(axis=1)
        elif self.tie == "half":
            elected[tied] = 0.5
        shape = (len(counts), learning.shape[1])
        counted = np.ones(shape, dtype=bool) if testing is None else testing
        ties = Counter(class_ties=int(counted[tied].sum()))
        return Predictions(np.repeat(elected[:, None], shape[1], axis=1), ties)


def _counts(members: np.ndarray, learning: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
    """Observations of each class in each learning set, (R, C)."""
    if labels is None:
        return learning.astype(float) @ members
    class_counts = [(learning & (labels == code)).sum(axis=1) for code in range(members.shape[1])]
    return np.stack(class_counts, axis=1).astype(float)
