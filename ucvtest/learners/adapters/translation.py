"""Jitted learners in the place of scikit-learn estimators, for the same predictions.

An estimator is translated where the sample and every parameter allow it. What then depends on
the last digits or on an arbitrary order (a score at the cut, a singular matrix, the choice
among equally distant neighbours) is left open by the jitted learner, and the evaluation has
scikit-learn fit that learning set.
"""

import numpy as np

from ucvtest.common.float64 import AbsentJax, jax
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.adapters.estimators import SklearnLearner
from ucvtest.learners.adapters.translated import TranslatedLearner
from ucvtest.learners.adapters.translation_rules import (
    MOST_SPREADS,
    RULES,
    TranslationCase,
    class_name,
    refuse,
    refuse_other_parameters,
    without_scaler,
)


def translate(
    learner: SklearnLearner, sample: Sample, output: Output, learn_size: int
) -> TranslatedLearner:
    """The jitted learner with the same predictions as a scikit-learn estimator.

    Errors name the parameter, or the property that the sample does not have.

    LogisticRegression is fitted to the end, until rounding errors stop it (with an l1 penalty:
    until no optimality condition is violated by more than 1e-9), whatever `tol` and `max_iter` are.
    scikit-learn's solvers stop earlier; where they do not converge on the whole sample, the
    translation has a remark. saga, which looks at the slopes only, leaves an intercept that depends
    on `random_state` where all of them are zero.

    Raises
    ------
    ValueError
        If there is none.
    RefusedEstimator
        If scikit-learn would refuse to fit it.
    """
    if isinstance(jax, AbsentJax):
        refuse("JAX cannot be imported")
    if sample.n_classes > 2 and output == "probability":
        refuse(f"its probabilities of {sample.n_classes} classes are not compared")
    estimator, standardize = without_scaler(learner.estimator)
    rule = RULES.get(class_name(estimator))
    if rule is None:
        refuse(f"{type(estimator).__name__} is not translated")
    refuse_other_parameters(estimator, rule)
    _refuse_single_precision(sample)
    case = TranslationCase(learner, estimator, standardize, sample, output)
    case.needs_columns_near_zero(MOST_SPREADS)
    translated = rule.build(case)
    translated.jitted.check(sample, translated.outputs.get(output, output), learn_size)
    return translated


def _refuse_single_precision(sample: Sample) -> None:
    """Refuse features in which scikit-learn computes with fewer digits."""
    columns = getattr(sample.features, "dtypes", None)
    dtypes = [sample.features.dtype] if columns is None else list(columns)
    low = [dtype for dtype in dtypes if dtype in (np.float16, np.float32)]
    if low:
        refuse(f"X contains {low[0]}, in which scikit-learn computes")
