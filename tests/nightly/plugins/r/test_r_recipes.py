"""Functions of R as learners in Python: what each recipe equals, and memory over many calls."""

import gc
from pathlib import Path

import numpy as np
import pytest
from ucvtest_r import RLearner
from ucvtest_r.learners import call_r
from ucvtest_r.thread import import_rinterface, on_r_thread

import ucvtest as uv
from tests.full.plugins.r.test_r_learner import (
    AMOUNTS,
    LABELS,
    START,
    X,
    estimate,
    r_labels,
    run_python,
    write_modules,
)

pytestmark = [pytest.mark.requires_r, pytest.mark.seconds(120, reason="sessions of R")]


# What each recipe has to equal, written as a user would write it in R.
BY_HAND = {
    "glmnet": (
        {"s": 0.05},
        "p <- predict(glmnet::glmnet(x, y, family = 'binomial', lambda = 0.05), xnew,"
        " type = 'response')[, 1]; levels(y)[1 + (p > 0.5)]",
    ),
    "ranger": (
        {"num_trees": 20},
        "fit <- ranger::ranger(x = x, y = y, num.trees = 20, num.threads = 1);"
        "predict(fit, xnew)$predictions",
    ),
    "randomForest": (
        {"ntree": 20},
        "predict(randomForest::randomForest(x, y, ntree = 20), xnew)",
    ),
    "e1071::svm": ({"cost": 2}, "predict(e1071::svm(x, y, cost = 2), xnew)"),
    "MASS::lda": ({"method": "mle"}, "predict(MASS::lda(x, y, method = 'mle'), xnew)$class"),
    "MASS::qda": ({}, "predict(MASS::qda(x, y), xnew)$class"),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_known_functions_do_what_a_user_of_r_would_write(name: str) -> None:
    arguments, code = BY_HAND[name]
    learner = RLearner(name, **arguments)
    assert estimate(learner, r_labels(code)).estimate == 0
    assert estimate(learner).settings["backend"] == "R"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("glmnet", {"s": 0.3}),
        ("ranger", {"num_trees": 1}),
        ("randomForest", {"ntree": 1}),
        ("e1071::svm", {"kernel": "linear"}),
        ("MASS::lda", {"prior": [0.9, 0.1]}),
    ],
)
def test_arguments_reach_the_r_function(name: str, arguments: dict[str, object]) -> None:
    default = RLearner(name, **BY_HAND[name][0])
    assert estimate(default).estimate != estimate(RLearner(name, **arguments)).estimate


@pytest.mark.parametrize("name", ["glmnet", "ranger", "randomForest", "e1071::svm"])
def test_regressions(name: str) -> None:
    learner = RLearner(name, **({"s": 0.01} if name == "glmnet" else {}))
    mean = r_labels("rep(mean(y), nrow(xnew))")
    assert estimate(learner, mean, y=AMOUNTS).estimate < 0


def resident() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return float(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")


def test_20000_calls_leave_the_memory_flat() -> None:
    learner = r_labels("rep(y[1], nrow(xnew))")
    sample = uv.UStatisticTest(X, LABELS, learner).sample
    rows = np.arange(30), np.arange(30, 60)

    def use() -> float:
        def task() -> None:
            identity = import_rinterface().evalr("function(x) list('value', x)")
            for _ in range(5000):
                call_r(identity, rows[0])

        for seed in range(500):
            learner.fit_predict(sample, *rows, "label", seed)
        on_r_thread(task)
        gc.collect()
        return resident()

    # MiB; a leak shows in each part, an allocator that returns memory late in some.
    assert min(np.diff([use() for _ in range(4)])) < 3


def test_a_missing_r_is_said(tmp_path: Path) -> None:
    assert run_python(START, PATH=str(tmp_path)) == (
        "['ImportError: R was not found on the PATH: install R 4.2 or newer'] 1"
    )


def test_a_missing_rpy2_is_said(tmp_path: Path) -> None:
    hidden = "raise ModuleNotFoundError(\"No module named 'rpy2'\", name='rpy2')"
    assert run_python(START, PYTHONPATH=write_modules(tmp_path, rpy2=hidden)) == (
        "[\"ImportError: rpy2 is missing: run  pip install 'ucvtest[r]'\"] 1"
    )


@pytest.mark.parametrize("loss", ["log", "auc"])
def test_probabilities_of_several_classes_are_columns_by_name(loss: str) -> None:
    y = np.array(["b", "c", "a"])[np.digitize(X[:, 0], [-0.4, 0.4])]
    by_hand = "predict(MASS::lda(x, y), xnew)$posterior[, c('c', 'a', 'b')]"
    found, expected, constant = (
        estimate(learner, y=y, loss=loss).estimate
        for learner in (
            RLearner("MASS::lda"),
            RLearner(f"function(x, y, xnew) {by_hand}"),
            "majority",
        )
    )
    assert found == pytest.approx(expected, rel=1e-12)
    assert found > constant if loss == "auc" else found < constant


def test_linear_regression_is_that_of_numpy() -> None:
    # glmnet without a penalty is least squares.
    def least_squares(X_train, y_train, X_test):
        design = np.column_stack([np.ones(len(X_train)), X_train])
        beta = np.linalg.lstsq(design, y_train, rcond=None)[0]
        return beta[0] + X_test @ beta[1:]

    learner = RLearner("glmnet", s=0.0, thresh=1e-14)
    assert abs(estimate(learner, least_squares, y=AMOUNTS).estimate) < 1e-5


def test_numbers_are_on_the_scale_of_the_response() -> None:
    y = np.random.default_rng(11).poisson(np.exp(1 + X[:, 0]))
    counts = {"loss": "squared", "y": y}
    logs = RLearner("glmnet::cv.glmnet", family="poisson", nfolds=5)
    responses = RLearner(
        "function(x, y, xnew) predict(glmnet::cv.glmnet(x, y, family = 'poisson', nfolds = 5), "
        "xnew, type = 'response')[, 1]"
    )
    assert estimate(logs, **counts).estimate == estimate(responses, **counts).estimate
    named = RLearner("glmnet::cv.glmnet", family="poisson", nfolds=5, predict_type="link")
    assert estimate(named, **counts).estimate > estimate(logs, **counts).estimate
