"""Which learner does the fits: the one given, or a jitted one in the place of an estimator.

The latter is made by `translation`, which is imported for estimators only.
"""

from dataclasses import replace
from typing import Literal

from ucvtest.common.checks import check_choice
from ucvtest.common.words import arg
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.adapters.estimators import RefusedEstimator, SklearnLearner
from ucvtest.learners.adapters.translated import TranslatedLearner
from ucvtest.learners.base import JittedLearner, Learner
from ucvtest.learners.restricted import OnColumns, seen_by

Backend = Literal["auto", "jax", "sklearn"]
BACKENDS: tuple[Backend, ...] = ("auto", "jax", "sklearn")


def choose_backend(
    learner: Learner, backend: Backend, sample: Sample, output: Output, learn_size: int
) -> Learner:
    """The learner that does the fits: the one given, or its translation.

    "auto" translates scikit-learn estimators where it changes no prediction; "jax" insists on it;
    "sklearn" never does. No learning set is smaller than `learn_size`.
    """
    check_choice("backend", backend, BACKENDS)
    if isinstance(learner, OnColumns):
        inner, seen_sample = seen_by(learner, sample)
        return replace(
            learner, inner=choose_backend(inner, backend, seen_sample, output, learn_size)
        )
    if isinstance(learner, JittedLearner):
        from ucvtest.common.float64 import check_platform

        check_platform()
    if backend == "sklearn" or isinstance(learner, (JittedLearner, TranslatedLearner)):
        return learner
    try:
        if not isinstance(learner, SklearnLearner):
            raise ValueError("it is not a scikit-learn estimator")
        from ucvtest.learners.adapters.translation import translate

        return translate(learner, sample, output, learn_size)
    except RefusedEstimator:
        raise
    except ValueError as error:
        if backend == "auto":
            return learner
        raise ValueError(
            f"{arg('backend', 'jax')} has no counterpart of learner {learner.name}: {error}; use "
            f"{arg('backend', 'auto')}"
        ) from None
