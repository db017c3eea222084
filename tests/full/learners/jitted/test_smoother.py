import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import ucvtest as uv
from tests.support.samples import diabetes
from ucvtest.data.sample import make_sample
from ucvtest.learners import hat_matrix, polynomial, ridge, smoother
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.methods.permutation.labelings import find_smoother


def one_feature(n_obs=40):
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, size=(n_obs, 1))
    return make_sample(x, np.sin(4 * x[:, 0]) + rng.normal(size=n_obs), as_classes=False)


class TestPolynomial:
    def test_every_feature_has_its_own(self):
        sample = diabetes(60)
        X = np.clip(sample.matrix, -1, 1)
        expanded = polynomial(3).expand(X)
        assert expanded.shape == (60, 3 * X.shape[1])
        np.testing.assert_allclose(expanded[:, 4], (3 * X[:, 1] ** 2 - 1) / 2)

    @pytest.mark.parametrize("options", [{}, {"scale": "mean"}, {"penalize_intercept": True}])
    def test_its_penalty_is_that_of_ridge(self, options):
        sample = one_feature()
        learner = polynomial(3, 0.2, **options)
        expected = hat_matrix(ridge(0.2, **options), learner.expand(sample.matrix))
        np.testing.assert_allclose(hat_matrix(learner, sample.matrix), expected)
        fitted = find_smoother(as_learner(learner), sample)[0] @ sample.target
        np.testing.assert_allclose(fitted, expected @ sample.target)


class TestSmoother:
    def test_it_multiplies(self, rng):
        sample, S = one_feature(12), rng.normal(size=(12, 12))
        test = uv.PermutationComplexityTest(sample.matrix, sample.target, smoother(S))
        residual = sample.target - S @ sample.target
        found = test.fit(5, rng=0).diagnostics["e_in"]
        assert found == pytest.approx(np.mean(residual**2))

    def test_changing_the_matrix_changes_nothing(self):
        S = np.eye(3)
        learner = smoother(S)
        S[:] = 7
        assert learner.matrix[0, 0] == 1


class TestFindSmoother:
    @pytest.mark.parametrize(
        "model",
        [
            LinearRegression(),
            make_pipeline(PolynomialFeatures(2), LinearRegression()),
            "knn:4",
            "kernel_ridge:0.5,kernel=rbf",
        ],
        ids=str,
    )
    def test_the_fits_to_unit_vectors(self, model, rng):
        sample = one_feature(25)
        learner = as_learner(model)
        S, _ = find_smoother(learner, sample)
        other = make_sample(sample.matrix, rng.normal(size=25), as_classes=False)
        learning = np.ones((1, 25), dtype=bool)
        from ucvtest.evaluation.evaluator import Evaluator

        fitted = Evaluator(other, learner, "number").predict(learning, learning, np.zeros(1, int))
        np.testing.assert_allclose(fitted.values[0], S @ other.target, atol=1e-9)

    def test_what_is_none(self):
        def clipped(X_train, y_train, X_test):
            return np.full(len(X_test), max(y_train.mean(), 0.1))

        sample = one_feature(20)
        with pytest.raises(ValueError, match=r"clipped is not a linear smoother: its fit to y"):
            find_smoother(as_learner(clipped), sample)
        with pytest.raises(ValueError, match=r"lda is not a linear smoother: learner lda needs"):
            find_smoother(as_learner("lda"), sample)
