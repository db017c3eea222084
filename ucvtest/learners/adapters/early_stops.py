"""Where scikit-learn stops before it has converged, and a jitted learner would not."""

import warnings

from ucvtest.common.memo import memoised
from ucvtest.data.sample import Sample
from ucvtest.learners.adapters.estimators import RefusedEstimator, SklearnLearner

MOST_STEPS = 1000
"""Whoever allows a solver more steps than this wants it to converge."""

LARGEST_TOL = 1e-4
"""scikit-learn's default; with a larger tolerance predictions are still other ones."""


def stops_early(learner: SklearnLearner, sample: Sample) -> str:
    """The remark that scikit-learn's logistic regression stops early on a sample; "" if it ends.

    It is fitted once to all observations.

    Raises
    ------
    RefusedEstimator
        If scikit-learn refuses the fit.
    """
    # A comparison translates a learner for each of its tests.
    remarks = memoised(sample, _no_remarks)
    if learner not in remarks:
        remarks[learner] = _remark(learner, sample)
    return remarks[learner]


def _no_remarks(sample: Sample) -> dict[SklearnLearner, str]:
    return {}


def _remark(learner: SklearnLearner, sample: Sample) -> str:
    from sklearn.exceptions import ConvergenceWarning

    estimator = learner.estimator[-1] if hasattr(learner.estimator, "steps") else learner.estimator
    if estimator.max_iter > MOST_STEPS:
        return ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            learner.fit_all(sample)
        except ValueError as error:
            raise RefusedEstimator(learner.name, error) from None
    if not any(issubclass(warning.category, ConvergenceWarning) for warning in caught):
        return ""
    return (
        f"scikit-learn stops {learner.name} before it has converged "
        f"(max_iter={estimator.max_iter}), as a fit to all observations shows, and so it does all "
        "fits. Standardise the features or raise max_iter, and thousands are jitted at a time."
    )
