"""Where scikit-learn stops before it has converged, and a jitted learner would not."""

import warnings
from typing import Any

import numpy as np

from ucvtest.common.memo import memoised
from ucvtest.data.sample import Sample
from ucvtest.learners.adapters.estimators import RefusedEstimator, SklearnLearner

MOST_STEPS = 1000
"""Whoever allows a solver more steps than this wants it to converge."""

FEWEST_STEPS = 100
LARGEST_TOL = 1e-4
"""scikit-learn's defaults; with a larger tolerance predictions are still other ones."""

EASY = 1e3
"""Bound of the condition number of a penalised fit below which, with columns in similar units, the
default solver took at most 60 steps on 6000 random samples."""

SIMILAR_SPREADS = (0.5, 2.0)
"""Standard deviations of columns in similar units; their means are at most one."""


def stops_early(learner: SklearnLearner, sample: Sample, *, standardize: bool) -> str:
    """The remark that scikit-learn's logistic regression stops early on a sample; "" if it ends.

    It is fitted once to all observations, unless these are so few, and in units so similar, that it
    is known to converge. `standardize`: features come from a StandardScaler.

    Raises
    ------
    RefusedEstimator
        If scikit-learn refuses the fit.
    """
    # A comparison translates a learner for each of its tests.
    remarks = memoised(sample, _no_remarks)
    if learner not in remarks:
        remarks[learner] = _remark(learner, sample, standardize=standardize)
    return remarks[learner]


def _no_remarks(sample: Sample) -> dict[SklearnLearner, str]:
    return {}


def _remark(learner: SklearnLearner, sample: Sample, *, standardize: bool) -> str:
    from sklearn.exceptions import ConvergenceWarning

    estimator = learner.estimator[-1] if hasattr(learner.estimator, "steps") else learner.estimator
    if estimator.max_iter > MOST_STEPS or _surely_converges(
        estimator, sample.matrix, standardize=standardize
    ):
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


def _surely_converges(estimator: Any, matrix: np.ndarray, *, standardize: bool) -> bool:
    """Whether the default solver reaches its tolerance, without a fit."""
    is_default = estimator.solver == "lbfgs" and estimator.penalty in ("l2", "deprecated")
    if not is_default or estimator.l1_ratio not in (None, 0):
        return False
    if estimator.max_iter < FEWEST_STEPS or estimator.tol < LARGEST_TOL:
        return False
    n_obs, n_features = matrix.shape
    if standardize:
        squares = float(n_obs * n_features)
    else:
        spread, least_spread, most_spread = matrix.std(axis=0), *SIMILAR_SPREADS
        similar = (
            (least_spread <= spread) & (spread <= most_spread) & (np.abs(matrix.mean(axis=0)) <= 1)
        )
        if not similar.all():
            return False
        squares = float((matrix**2).sum())
    # The second derivatives of the log loss are at most 1/4, those of the penalty 1/C.
    return float(estimator.C) * (squares + n_obs) / 4 <= EASY
