"""More than two classes: the number of each in a learning set, and the requested AUC."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ucvtest.common.words import arg
from ucvtest.data.sample import Sample
from ucvtest.kernels.ustatistic.columns import Columns, Ranked
from ucvtest.kernels.ustatistic.placements import hand_till, one_against_rest
from ucvtest.methods.ustatistic.auc.class_sizes import AnySizes, asked_sizes
from ucvtest.metrics.base import when_learning_from

MOST_OBS = 1000
"""Sums over all pairs of observations are kept, three for each of ten blocks of rows."""


@dataclass(frozen=True, eq=False)
class SeveralSizes(AnySizes):
    """More than two classes in the order of the sample.

    `positive` is the label of the last class if it is compared with the rest; None for Hand and
    Till's AUC of all pairs.
    """

    positive: Any = None

    @classmethod
    def checked(cls, sample: Sample, learn_size: Any, *, against_rest: bool) -> Self:
        """The sizes that a user asks for, in the order of the sample's classes."""
        if sample.n_obs > MOST_OBS:
            raise ValueError(
                f"{arg('loss', 'auc')} of {sample.n_classes} classes needs n <= {MOST_OBS}, got n "
                f"= {sample.n_obs}: merge classes into two, or use {arg('loss', 'zero_one')}"
            )
        labels = np.asarray(sample.classes).tolist()
        return cls.of(
            *asked_sizes(sample, learn_size), positive=labels[-1] if against_rest else None
        )

    @property
    def about(self) -> str:
        """The case of the variances, in words."""
        return f"{arg('loss', 'auc')} of {len(self.sizes)} classes"

    @property
    def n_scores(self) -> int:
        """Scores that a rule gives each observation."""
        return len(self.sizes)

    def columns(self, n_learners: int) -> Columns:
        """See `AnySizes`."""
        n_classes = len(self.sizes)
        v = hand_till(n_classes)
        if self.positive is not None:
            v = one_against_rest(self.sizes, n_classes - 1)
        return Ranked(self.strata, n_learners, v)

    @property
    def counts(self) -> dict[str, Any]:
        """Diagnostics of the sample."""
        return {"n_by_class": self.sizes}

    def estimand(self, *, paired: bool) -> str:
        """The estimand in words."""
        *first_sizes, last = map(str, self.learn_sizes)
        about = in_words(len(self.sizes), self.positive, paired=paired)
        learning = when_learning_from(sum(self.learn_sizes))
        return f"{about} {learning}, {', '.join(first_sizes)} and {last} of the classes"


def in_words(n_classes: int, positive: Any, *, paired: bool) -> str:
    """The AUC of several classes, or of the positive one against the rest."""
    about = (
        f"AUC of class {positive!r:.60} against the rest"
        if positive is not None
        else f"AUC of {n_classes} classes (Hand and Till)"
    )
    return f"difference in {about}" if paired else about
