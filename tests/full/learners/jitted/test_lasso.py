"""Lasso and elastic net against the optimality conditions, R's glmnet and scikit-learn."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from tests.support.samples import evaluate, learning_sets
from ucvtest.data.sample import Sample, make_sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners import elastic_net, lasso
from ucvtest.learners.jitted.lasso import PenalizedLogistic

pytestmark = pytest.mark.seconds(90, reason="compiles for each form of a fit, and R fits paths")

GLMNET = """
library(glmnet)
folder <- commandArgs(TRUE)
read <- function(name) as.matrix(read.csv(file.path(folder, name), header = FALSE))
x <- read("x.csv")
y <- drop(read("y.csv"))
learning <- read("learning.csv") == 1
settings <- drop(read("settings.csv"))
fit_one <- function(rows) {
  fit <- suppressWarnings(glmnet(x[rows, ], y[rows], family = "binomial", lambda = settings[1],
                                 alpha = settings[2], thresh = 1e-12, maxit = 1e7))
  drop(predict(fit, x, type = "response"))
}
write.table(t(apply(learning, 1, fit_one)), file.path(folder, "shares.csv"), sep = ",",
            row.names = FALSE, col.names = FALSE)
"""


@pytest.fixture(scope="module")
def has_glmnet() -> None:
    """Skip without glmnet, or fail where UCVTEST_REQUIRE_R=1."""
    found = shutil.which("Rscript") and (
        subprocess.run(
            ["Rscript", "-e", "stopifnot(requireNamespace('glmnet', quietly = TRUE))"],
            capture_output=True,
        ).returncode
        == 0
    )
    if not found and os.environ.get("UCVTEST_REQUIRE_R") == "1":
        pytest.fail("UCVTEST_REQUIRE_R=1, but R's package glmnet is missing")
    if not found:
        pytest.skip("R's package glmnet is missing")


@pytest.fixture(scope="module")
def colon(data_dir: Path) -> Sample:
    data = pd.read_csv(data_dir / "colon.csv.gz")
    return make_sample(data.iloc[:, 1:].to_numpy(float), data.iloc[:, 0], as_classes=True)


# ---------------------------------------------------------------- optimality conditions


def kkt_residual(
    sample: Sample, rows: np.ndarray, coefficients: np.ndarray, learner: PenalizedLogistic
) -> float:
    """Largest violation of glmnet's optimality conditions by one fit, in plain NumPy."""
    x, y = sample.matrix[rows], sample.target[rows]
    mean, sd = x.mean(axis=0), x.std(axis=0)
    distance = np.sqrt(((x - np.median(sample.matrix, axis=0)) ** 2).mean(axis=0))
    varies = sd > 1e-6 * distance
    assert (coefficients[1:][~varies] == 0).all()
    z = (x - mean)[:, varies] / sd[varies]
    b = coefficients[1:][varies] * sd[varies]
    error = y - expit(coefficients[0] + mean @ coefficients[1:] + z @ b)
    lam = learner.lam / (len(y) if learner.penalty_scale == "sum" else 1)
    unit = 1.0 if learner.standardize else sd[varies]
    l1, l2 = lam * learner.l1_ratio / unit, lam * (1 - learner.l1_ratio) / unit**2
    gradient = z.T @ error / len(y) - l2 * b
    violation = np.where(
        b != 0, np.abs(gradient - l1 * np.sign(b)), np.maximum(np.abs(gradient) - l1, 0)
    )
    return max(violation.max(initial=0.0), abs(error.mean()))


def check_optimality(sample: Sample, learner: PenalizedLogistic, learning: np.ndarray) -> None:
    state = learner.prepare(sample)
    coefficients = learner.coefficients(state, learning)
    residuals = [
        kkt_residual(sample, rows, fit, learner)
        for rows, fit in zip(learning, coefficients, strict=True)
    ]
    # What is more than the learner's 1e-9 is the rounding of raw units of 1e8 here.
    assert max(residuals) < 1e-7
    scores = learner.scores(state, learning)
    in_units = coefficients[:, :1] + coefficients[:, 1:] @ sample.matrix.T
    np.testing.assert_allclose(scores, in_units, atol=1e-5)


def two_class_sets(sample: Sample, learn_size: int, n_sets: int) -> np.ndarray:
    learning = learning_sets(sample, learn_size, n_sets)
    positive = learning @ sample.target
    return learning[(positive > 0) & (positive < learn_size)]


@pytest.mark.parametrize(
    ("learn_size", "learner"),
    [
        (26, lasso(0.08)),
        (26, lasso(0.01)),
        (2, lasso(0.08)),
        (3, lasso(0.02)),
        (26, elastic_net(0.1, 0.5)),
        (26, elastic_net(0.06, 0.2)),  # more features than one Hessian is built for
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_optimal_with_more_features_than_observations(colon, learn_size, learner):
    check_optimality(colon, learner, two_class_sets(colon, learn_size, 12))


def nasty(rng: np.random.Generator) -> Sample:
    """Units from 1e-8 to 1e8, equal, opposite, constant and almost constant columns, outliers."""
    n = 80
    X = rng.normal(size=(n, 40)) * 10.0 ** rng.integers(-8, 9, size=40)
    X[:, 3] = 7.0
    X[:, 4] = 1e6 + 1e-3 * rng.normal(size=n)
    X[:, 5], X[:, 7] = X[:, 6], -X[:, 6]
    X[:, 8] = np.arange(n) == 5
    X[:, 9] = np.where(np.arange(n) == 7, 1e9, rng.normal(size=n))
    X[:, 10] = np.repeat([0.0, 1e5], n // 2) + rng.normal(size=n)
    return make_sample(X, rng.random(n) < expit(X[:, 6] / X[:, 6].std()), as_classes=True)


@pytest.mark.parametrize(
    "learner",
    [lasso(0.1), lasso(0.001), elastic_net(0.1, 0.3)],
    ids=lambda learner: learner.name,
)
def test_optimal_whatever_the_units_and_equal_columns(rng, learner):
    sample = nasty(rng)
    check_optimality(sample, learner, two_class_sets(sample, 40, 12))


@pytest.mark.parametrize("make", [lasso, lambda *args: elastic_net(args[0], 0.4, *args[1:])])
def test_options_are_optimal_and_change_the_output(rng, make):
    n, p = 60, 40
    X = rng.normal(size=(n, p)) * np.resize([1.0, 0.1, 30.0], p) + 5.0
    X[:, 7] = np.arange(n) == 5
    # The same in other units: without standardising the last one is penalized least.
    X[:, 8], X[:, 9] = X[:, 0] / 2, -4 * X[:, 0]
    sample = make_sample(X, rng.random(n) < expit(X[:, 0] - 5.0), as_classes=True)
    learning = two_class_sets(sample, 30, 8)
    learning[:3, :10] = False
    outputs = []
    for standardize, scale in ((True, "mean"), (True, "sum"), (False, "mean"), (False, "sum")):
        learner = make(0.05 * (30 if scale == "sum" else 1), standardize, scale)
        check_optimality(sample, learner, learning)
        outputs.append(learner.scores(learner.prepare(sample), learning))
    for i, j in ((0, 2), (1, 3)):
        assert (np.abs(outputs[i] - outputs[j]).max(axis=1) > 1e-3).all()
    # A sum is a mean with a penalty that depends on the size of the learning set.
    np.testing.assert_allclose(outputs[0][3:], outputs[1][3:], atol=1e-6)
    assert (np.abs(outputs[0][:3] - outputs[1][:3]).max(axis=1) > 1e-3).all()


@pytest.mark.parametrize("lam", [0.1, 1e-3, 1e-6])
def test_optimal_where_classes_are_separable(rng, lam):
    X = rng.normal(size=(100, 6))
    sample = make_sample(X, X[:, 0] > 0, as_classes=True)
    check_optimality(sample, lasso(lam), learning_sets(sample, 40, 12))


# ------------------------------------------------------------------ other implementations


@pytest.mark.parametrize(
    "learner", [lasso(0.08), elastic_net(0.1, 0.5)], ids=lambda learner: learner.name
)
@pytest.mark.usefixtures("has_glmnet")
def test_colon_agrees_with_glmnet(colon, learner, tmp_path):
    learning = learning_sets(colon, 26, 50)
    tables = {
        "x": colon.matrix,
        "y": colon.target,
        "learning": learning.astype(int),
        "settings": [learner.lam, learner.l1_ratio],
    }
    for name, table in tables.items():
        np.savetxt(tmp_path / f"{name}.csv", table, delimiter=",", fmt="%.17g")
    script = tmp_path / "fit.R"
    script.write_text(GLMNET)
    subprocess.run(["Rscript", str(script), str(tmp_path)], check=True, capture_output=True)
    expected = np.loadtxt(tmp_path / "shares.csv", delimiter=",")
    found = learner.predict(learner.prepare(colon), learning, "probability").values
    worst = np.abs(found - expected).max()
    print(f"largest difference of probabilities from glmnet: {worst:.1e}")  # noqa: T201
    assert worst < 1e-3


# -------------------------------------------------------------------------- null models


def test_null_model_is_exact(colon):
    learning = learning_sets(colon, 26)
    positive = learning @ colon.class_index
    expected = np.log(positive / (26 - positive))[:, None]
    learner = lasso(0.5)
    scores = learner.scores(learner.prepare(colon), learning)
    np.testing.assert_array_equal(scores, np.repeat(expected, colon.n_obs, axis=1))


def test_null_model_between_the_largest_gradient_and_one_half(rng):
    """Below 1/2 only a look at the features tells that the null model is optimal."""
    sample = make_sample(rng.normal(size=(100, 6)), np.arange(100) % 2, as_classes=True)
    learning = np.arange(100)[None] < 40
    z = sample.matrix[:40] - sample.matrix[:40].mean(axis=0)
    largest = np.abs((z / z.std(axis=0)).T @ (sample.target[:40] - 0.5) / 40).max()
    for lam, null in ((largest + 1e-6, True), (largest - 1e-6, False)):
        learner = lasso(lam)
        scores = learner.scores(learner.prepare(sample), learning)
        assert (scores == 0.0).all() == null


def test_balanced_null_models_are_ties_for_the_first_class(colon):
    balanced = np.concatenate([np.flatnonzero(colon.class_index == code)[:13] for code in (0, 1)])
    learning = np.isin(np.arange(colon.n_obs), balanced)[None]
    predictions = evaluate(colon, lasso(0.5), "label", learning)
    assert (predictions.values[~learning] == 0).all()
    assert predictions.ties == {"score_ties": 36}


# -------------------------------------------------------------------------------- batches


def test_fits_do_not_depend_on_their_company(colon):
    learner = lasso(0.05)
    state = learner.prepare(colon)
    learning = np.concatenate([two_class_sets(colon, size, 60) for size in (4, 26)])
    together = learner.scores(state, learning)
    order = np.random.default_rng(3).permutation(len(learning))
    np.testing.assert_allclose(learner.scores(state, learning[order]), together[order], atol=1e-9)
    parts = [learner.scores(state, learning[i : i + 7]) for i in range(0, len(learning), 7)]
    np.testing.assert_allclose(np.concatenate(parts), together, atol=1e-9)


# ------------------------------------------------------------------- options and errors


def test_a_fit_that_does_not_converge_is_an_error_with_a_remedy(colon):
    learning = learning_sets(colon, 26, 4)
    learner = lasso(0.01, max_iter=2)
    state = learner.prepare(colon)
    assert np.isnan(learner.scores(state, learning)).all()
    assert np.isnan(learner.coefficients(state, learning)).all()
    with pytest.raises(
        ValueError, match=r"predicts nan on split 0 .*: raise lam, or raise max_iter"
    ):
        Evaluator(colon, learner, "label").predict(learning, ~learning, np.arange(4))
    remedied = lasso(0.01, max_iter=50)
    assert np.isfinite(remedied.scores(remedied.prepare(colon), learning)).all()
