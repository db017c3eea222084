"""The public names: what type checkers read, and what `__init__.py` loads on first use."""

from ucvtest.learners.adapters.coerce import on_columns as on_columns
from ucvtest.learners.base import JittedLearner as JittedLearner
from ucvtest.learners.base import Learner as Learner
from ucvtest.learners.base import Predictions as Predictions
from ucvtest.learners.base import SplitLearner as SplitLearner
from ucvtest.learners.closed_forms.held_out import hat_matrix as hat_matrix
from ucvtest.learners.closed_forms.held_out import held_out_predictions as held_out_predictions
from ucvtest.learners.closed_forms.leave_p_out import knn_leave_p_out as knn_leave_p_out
from ucvtest.learners.jitted.cox import cox as cox
from ucvtest.learners.jitted.discriminant import gaussian_nb as gaussian_nb
from ucvtest.learners.jitted.discriminant import lda as lda
from ucvtest.learners.jitted.discriminant import nearest_centroid as nearest_centroid
from ucvtest.learners.jitted.discriminant import qda as qda
from ucvtest.learners.jitted.kernel_ridge import kernel_ridge as kernel_ridge
from ucvtest.learners.jitted.lasso import elastic_net as elastic_net
from ucvtest.learners.jitted.lasso import lasso as lasso
from ucvtest.learners.jitted.logistic import logistic as logistic
from ucvtest.learners.jitted.majority import majority as majority
from ucvtest.learners.jitted.neighbors import knn as knn
from ucvtest.learners.jitted.regularization_paths import lasso_path as lasso_path
from ucvtest.learners.jitted.regularization_paths import ridge_path as ridge_path
from ucvtest.learners.jitted.ridge import polynomial as polynomial
from ucvtest.learners.jitted.ridge import ridge as ridge
from ucvtest.learners.jitted.smoother import smoother as smoother
