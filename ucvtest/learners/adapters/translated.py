"""A jitted learner that replaces a scikit-learn estimator, which fits what it leaves open."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.adapters.estimators import SklearnLearner
from ucvtest.learners.base import JittedLearner, Learner


@dataclass(frozen=True, eq=False)
class TranslatedLearner(Learner):
    """A jitted learner that predicts what a scikit-learn estimator would; made by `translate`.

    The original fits where the jitted learner leaves a prediction open, and everything where it
    stops before it has converged.
    """

    original: SklearnLearner
    jitted: JittedLearner
    outputs: Mapping[Output, Output]
    """What the jitted one is asked for, where it is not what the loss needs."""
    signed_score: bool
    """Whether scores are those of classes numbered -1 and 1."""
    early_stop: Callable[[], str] | None
    """Finds the remark by a fit, where scikit-learn might stop early."""

    backend: ClassVar[str] = "jax"

    @property
    def name(self) -> str:
        """The estimator as scikit-learn writes it."""
        return self.original.name

    @cached_property
    def remark(self) -> str:
        """Why scikit-learn does all fits after all: it stops early; "" if it does not.

        It is first asked for where fits belong, inside of `hooks.fitting`.
        """
        remark = "" if self.early_stop is None else self.early_stop()
        if remark:
            object.__setattr__(self, "backend", self.original.backend)
        return remark

    @property
    def fitted_by(self) -> Learner:
        """The learner itself, or scikit-learn's where it stops early."""
        return replace(self.original, stops_early=True) if self.remark else self

    @property
    def regresses(self) -> bool:
        """Whether the estimator is a regressor."""
        return self.original.regresses

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse what the estimator cannot do."""
        self.original.check(sample, output, learn_size)

    def note_on(self, sample: Sample) -> str:
        """The remarks on the estimator, and on the learner that replaces it."""
        notes = self.original.note_on(sample), self.jitted.note_on(sample)
        return " ".join(filter(None, notes))


def remarks_of(learners: Iterable[Learner]) -> list[str]:
    """Remarks on learners whose estimators stop before they have converged."""
    inner = (getattr(learner, "inner", learner) for learner in learners)
    translated = [learner for learner in inner if isinstance(learner, TranslatedLearner)]
    return [*dict.fromkeys(learner.remark for learner in translated if learner.remark)]
