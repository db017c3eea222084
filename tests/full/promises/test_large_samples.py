"""What keeps all pairs of observations gives way where these have no room."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ucvtest as uv
from ucvtest.data.sample import make_sample
from ucvtest.learners.adapters.backends import choose_backend
from ucvtest.learners.adapters.coerce import as_learner

N = 100_000
X = np.random.default_rng(0).normal(size=(N, 2))
Y = np.arange(N) % 2
LARGE = make_sample(X, Y, as_classes=True)


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(),
        KNeighborsRegressor(3),
        KernelRidge(),
        Ridge(),
        RidgeClassifier(),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
    ],
)
def test_estimators_are_fitted_by_scikit_learn(estimator):
    learner = as_learner(estimator)
    assert choose_backend(learner, "auto", LARGE, "label", 100) is learner
    with pytest.raises(ValueError, match="backend='jax' has no counterpart"):
        choose_backend(learner, "jax", LARGE, "label", 100)


@pytest.mark.parametrize("learner", ["kernel_ridge:1.0,kernel=rbf", "ridge:1", "knn:3"])
def test_own_learners_say_how_much_memory_they_need(learner):
    with pytest.raises(ValueError, match=r"(take \d+ GB|have 1e\+10 of them).* use at most \d+"):
        uv.evaluate(learner, X, Y, 2, rng=0)


def test_tests_of_many_observations():
    losses = uv.Losses.from_predictions(Y, {"a": X[:, 0], "b": X[:, 1]}, loss="auc")
    assert uv.DeLongTest.from_losses(losses).fit().n_obs == N


def test_closed_forms_say_how_much_memory_they_need():
    for call in (
        lambda: uv.learners.hat_matrix(uv.learners.ridge(1.0), X),
        lambda: uv.learners.knn_leave_p_out(X, Y, 3, 1000),
    ):
        with pytest.raises(ValueError, match=r"take \d+ GB, .* use at most \d+ observations"):
            call()
