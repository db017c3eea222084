import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ucvtest import learners
from ucvtest.learners.adapters.coerce import SHORT_NAMES, as_learner
from ucvtest.learners.adapters.estimators import CallableLearner, SklearnLearner

NAMES = (
    "cox, elastic_net, gaussian_nb, kernel_ridge, knn, lasso, lasso_path, lda, logistic, majority, "
    "nearest_centroid, polynomial, qda, random_forest, ridge, ridge_path, svm"
)
UNKNOWN = (
    f"is unknown: use one of {NAMES}, as in 'lda', 'knn:3' or 'ridge:1.0', or a scikit-learn "
    "estimator"
)


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
    # A smoother needs a matrix, which no string contains, and a path is many learners; the others
    # are no learners.
    without = {"hat_matrix", "held_out_predictions", "knn_leave_p_out", "smoother"}
    without |= {"lasso_path", "ridge_path"}
    assert functions - without == set(SHORT_NAMES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"learner '' {UNKNOWN}"),
        ("zebra:2", f"learner 'zebra:2' {UNKNOWN}"),
        (
            "svm:1",
            "learner 'svm:1' takes no arguments: pass 'svm', or scikit-learn's SVC(...) or "
            "SVR(...)",
        ),
        (
            "logisitc",
            "learner 'logisitc' is unknown: did you mean 'logistic'? See help(uv.learners), or "
            "pass a scikit-learn estimator",
        ),
        (
            "polynomial",
            "learner 'polynomial' cannot be made: degree must be given: write "
            "'polynomial:degree,lam=0.0,penalize_intercept=false,scale=sum'",
        ),
        ("knn:", "learner 'knn:' cannot be made: k must be given: write 'knn:k'"),
        ("knn:x", "learner 'knn:x' cannot be made: k must be an integer, got 'x'"),
        ("knn:2.5", "learner 'knn:2.5' cannot be made: k must be an integer, got '2.5'"),
        ("knn:0", "learner 'knn:0' cannot be made: k must be a positive integer, got 0"),
        (
            "knn:3,4",
            "learner 'knn:3,4' cannot be made: '4' is one argument too many: write 'knn:k'",
        ),
        (
            "lda:flat",
            "learner 'lda:flat' cannot be made: priors must be empirical or equal, got 'flat'",
        ),
        (
            "nearest_centroid:3",
            "learner 'nearest_centroid:3' cannot be made: '3' is one argument too many: write "
            "'nearest_centroid'",
        ),
        ("ridge:big", "learner 'ridge:big' cannot be made: lam must be a number, got 'big'"),
        (
            "ridge:1,penalize_intercept=yes",
            "learner 'ridge:1,penalize_intercept=yes' cannot be made: penalize_intercept must be "
            "true or false, got 'yes'",
        ),
        (
            "ridge:1,alpha=2",
            "learner 'ridge:1,alpha=2' cannot be made: 'alpha=2' is no argument, or given twice: "
            "write 'ridge:lam,penalize_intercept=false,scale=sum'",
        ),
        (
            "ridge:1,lam=2",
            "learner 'ridge:1,lam=2' cannot be made: 'lam=2' is no argument, or given twice: "
            "write 'ridge:lam,penalize_intercept=false,scale=sum'",
        ),
        (
            "elastic_net:0.1",
            "learner 'elastic_net:0.1' cannot be made: l1_ratio must be given: write "
            "'elastic_net:lam,l1_ratio,standardize=true,scale=mean,max_iter=200,compiled=none'",
        ),
    ],
)
def test_wrong_short_strings(text, message):
    with pytest.raises(ValueError) as error:
        as_learner(text)
    assert str(error.value) == message


def test_objects_become_learners():
    def mean_rule(X_train, y_train, X_test):
        return np.full(len(X_test), y_train.mean())

    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    assert isinstance(as_learner(pipeline), SklearnLearner)
    assert isinstance(as_learner(mean_rule), CallableLearner)
    learner = learners.lda()
    assert as_learner(learner) is learner


def test_a_class_is_refused():
    with pytest.raises(ValueError) as error:
        as_learner(LogisticRegression)
    assert str(error.value) == (
        "learner is the class LogisticRegression: pass an object, LogisticRegression(...)"
    )


def test_an_object_without_get_params_is_refused():
    class Rule:
        def fit(self, X, y):
            return self

    with pytest.raises(ValueError) as error:
        as_learner(Rule())
    assert str(error.value) == (
        "learner Rule has fit but no get_params, so it cannot be cloned for each learning set: "
        "derive it from sklearn.base.BaseEstimator, or pass a callable "
        "(X_train, y_train, X_test) -> predictions"
    )


def test_an_estimator_that_predicts_no_response_is_refused():
    with pytest.raises(ValueError) as error:
        as_learner(KMeans())
    assert str(error.value) == (
        "learner KMeans() is neither a classifier nor a regressor: pass one, or a callable "
        "(X_train, y_train, X_test) -> predictions"
    )


@pytest.mark.parametrize("learner", [3, None, ["lda"]])
def test_anything_else_is_refused(learner):
    with pytest.raises(ValueError) as error:
        as_learner(learner)
    assert str(error.value) == (
        "learner must be a scikit-learn estimator, an object from ucvtest.learners, a short string "
        "such as 'knn:3', or a callable (X_train, y_train, X_test) -> predictions, got "
        f"{learner!r}"
    )
