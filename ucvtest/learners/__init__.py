"""Learners: jitted ones, which fit thousands of learning sets at once, and their common parts."""

import ucvtest.common.float64  # noqa: F401  (before any other module imports JAX: see there)
from ucvtest.learners.base import JittedLearner, Learner, Predictions, SplitLearner
from ucvtest.learners.closed_forms.held_out import hat_matrix, held_out_predictions
from ucvtest.learners.closed_forms.leave_p_out import knn_leave_p_out
from ucvtest.learners.jitted.cox import cox
from ucvtest.learners.jitted.discriminant import gaussian_nb, lda, qda
from ucvtest.learners.jitted.kernel_ridge import kernel_ridge
from ucvtest.learners.jitted.lasso import elastic_net, lasso
from ucvtest.learners.jitted.logistic import logistic
from ucvtest.learners.jitted.majority import majority
from ucvtest.learners.jitted.nearest_centroid import nearest_centroid
from ucvtest.learners.jitted.neighbors import knn
from ucvtest.learners.jitted.polynomial import polynomial
from ucvtest.learners.jitted.regularization_paths import lasso_path, ridge_path
from ucvtest.learners.jitted.ridge import ridge
from ucvtest.learners.jitted.smoother import smoother

__all__ = [
    "JittedLearner",
    "Learner",
    "Predictions",
    "SplitLearner",
    "cox",
    "elastic_net",
    "gaussian_nb",
    "hat_matrix",
    "held_out_predictions",
    "kernel_ridge",
    "knn",
    "knn_leave_p_out",
    "lasso",
    "lasso_path",
    "lda",
    "logistic",
    "majority",
    "nearest_centroid",
    "polynomial",
    "qda",
    "ridge",
    "ridge_path",
    "smoother",
]
