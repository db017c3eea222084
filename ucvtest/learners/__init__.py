"""Learners: jitted ones, which fit thousands of learning sets at once, and what they share."""

from ucvtest.learners.base import JittedLearner, Learner, Predictions, SplitLearner
from ucvtest.learners.discriminant import lda, nearest_centroid, qda
from ucvtest.learners.majority import majority
from ucvtest.learners.neighbors import knn
from ucvtest.learners.ridge import ridge

__all__ = [
    "JittedLearner",
    "Learner",
    "Predictions",
    "SplitLearner",
    "knn",
    "lda",
    "majority",
    "nearest_centroid",
    "qda",
    "ridge",
]
