"""Learners: jitted ones, which fit thousands of learning sets at once, and what they share."""

import ucvtest.float64  # noqa: F401  (before any other module imports JAX: see there)
from ucvtest.learners.base import JittedLearner, Learner, Predictions, SplitLearner
from ucvtest.learners.discriminant import gaussian_nb, lda, nearest_centroid, qda
from ucvtest.learners.held_out import hat_matrix, held_out_predictions
from ucvtest.learners.kernel_ridge import kernel_ridge
from ucvtest.learners.lasso import elastic_net, lasso
from ucvtest.learners.leave_p_out import knn_leave_p_out
from ucvtest.learners.logistic import logistic
from ucvtest.learners.majority import majority
from ucvtest.learners.neighbors import knn
from ucvtest.learners.polynomial import polynomial
from ucvtest.learners.ridge import ridge
from ucvtest.learners.smoother import smoother

__all__ = [
    "JittedLearner",
    "Learner",
    "Predictions",
    "SplitLearner",
    "elastic_net",
    "gaussian_nb",
    "hat_matrix",
    "held_out_predictions",
    "kernel_ridge",
    "knn",
    "knn_leave_p_out",
    "lasso",
    "lda",
    "logistic",
    "majority",
    "nearest_centroid",
    "polynomial",
    "qda",
    "ridge",
    "smoother",
]
