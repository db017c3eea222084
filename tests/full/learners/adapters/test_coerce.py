import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ucvtest import learners
from ucvtest.learners.adapters.coerce import SHORT_NAMES, as_learner
from ucvtest.learners.adapters.estimators import CallableLearner, SklearnLearner


@pytest.mark.parametrize(
    ("text", "learner"),
    [
        ("lda", learners.lda()),
        ("lda:equal", learners.lda("equal")),
        ("qda:priors=equal", learners.qda("equal")),
        ("gaussian_nb", learners.gaussian_nb()),
        ("nearest_centroid", learners.nearest_centroid()),
        ("polynomial:3,0.1,scale=mean", learners.polynomial(3, 0.1, scale="mean")),
        ("knn:3", learners.knn(3)),
        ("ridge:1.0", learners.ridge(1.0)),
        ("ridge:2, penalize_intercept=true, scale=mean", learners.ridge(2.0, True, "mean")),
        ("ridge:2,true,mean", learners.ridge(2.0, True, "mean")),
        ("majority", learners.majority()),
        ("majority:half", learners.majority("half")),
        ("lasso:0.08", learners.lasso(0.08)),
        ("elastic_net:0.1,0.5", learners.elastic_net(0.1, 0.5)),
        ("logistic:0.1", learners.logistic(0.1)),
        (
            "logistic:2,standardize=false,scale=sum,max_iter=9",
            learners.logistic(2.0, False, "sum", max_iter=9),
        ),
        ("kernel_ridge:1.0,kernel=rbf", learners.kernel_ridge(1.0, "rbf")),
        (
            "kernel_ridge:1,polynomial,gamma=0.5,degree=2,coef0=0,scale=mean",
            learners.kernel_ridge(1.0, "polynomial", 0.5, 2, 0, "mean"),
        ),
    ],
)
def test_short_strings(text, learner):
    assert as_learner(text) == learner
    assert as_learner(learner.name) == learner


def test_every_public_factory_has_a_short_name():
    functions = {name for name in learners.__all__ if name[0].islower()}
    # A smoother needs a matrix, which no string contains, and a path is many learners; columns are
    # those of a learner, and the others are no learners.
    without = {"hat_matrix", "held_out_predictions", "knn_leave_p_out", "smoother", "on_columns"}
    without |= {"lasso_path", "ridge_path"}
    assert functions - without == set(SHORT_NAMES)


class OnlyFit:
    def fit(self, X, y):
        return self


def test_what_is_no_learner_is_refused():
    with pytest.raises(ValueError, match=r"^learner OnlyFit has fit but no get_params"):
        as_learner(OnlyFit())


def test_objects_become_learners():
    def mean_rule(X_train, y_train, X_test):
        return np.full(len(X_test), y_train.mean())

    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    assert isinstance(as_learner(pipeline), SklearnLearner)
    assert isinstance(as_learner(mean_rule), CallableLearner)
    learner = learners.lda()
    assert as_learner(learner) is learner
