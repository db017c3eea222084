"""One question, one answer: Python's classes and comparisons, JSON, the shell, R and MLflow."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from typer.testing import CliRunner

import ucvtest as uv
from tests.core.doors.questions import OF_LEARNERS, OF_RULES, expected, numbers_of
from tests.support import golden
from tests.support.compiling import quickly
from tests.support.metric_table import TABLE, written
from tests.support.r_session import RSession, clean_environment
from ucvtest import cli
from ucvtest.results.result import TestResult

QUESTIONS = [*OF_LEARNERS, *OF_RULES]
EXPECTED = expected()


def asked_at(door: str) -> Any:
    """The questions that a door can be asked."""
    asked = [each for each in QUESTIONS if door == "class" or door in each.doors]
    return pytest.mark.parametrize("question", asked, ids=str)


def check(question: Any, found: list[float]) -> None:
    """The numbers of the file; BLAS rounds otherwise on other processors: 1e-10 was seen."""
    np.testing.assert_allclose(found, EXPECTED[str(question)], rtol=1e-8, atol=1e-10)


def numbers(question: Any, result: TestResult) -> list[float]:
    if question in OF_LEARNERS:
        return golden.numbers_of(question.test, result)
    return numbers_of(result)


_answers: dict[str, TestResult] = {}


def answer(question: Any) -> TestResult:
    """Python's, once for all doors."""
    if str(question) not in _answers:
        _answers[str(question)] = question.in_python()
    return _answers[str(question)]


def test_the_file_of_r_has_all_questions() -> None:
    assert [(each.test, each.arguments) for each in OF_LEARNERS] == golden.CASES


@asked_at("class")
def test_python(question: Any) -> None:
    check(question, numbers(question, answer(question)))


OF_SKLEARN = {
    "f1": lambda y, p: metrics.f1_score(y, p, pos_label="ill"),
    "f1_weighted": lambda y, p: metrics.f1_score(y, p, average="weighted"),
    "fbeta(2)_macro": lambda y, p: metrics.fbeta_score(y, p, beta=2, average="macro"),
    'recall["ill"]': lambda y, p: metrics.recall_score(y, p, pos_label="ill"),
    "precision": lambda y, p: metrics.precision_score(y, p, pos_label="ill"),
    "jaccard": lambda y, p: metrics.jaccard_score(y, p, pos_label="ill"),
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "mcc": metrics.matthews_corrcoef,
    "r2": metrics.r2_score,
    "rmse": metrics.root_mean_squared_error,
    "pearson": lambda y, p: np.corrcoef(y, p)[0, 1],
    "squared": metrics.mean_squared_error,
    "absolute": metrics.mean_absolute_error,
    "log": lambda y, p: metrics.log_loss(y == "ill", p),
    "brier": lambda y, p: np.mean(((y == "ill") - p) ** 2),
    "auc delong": lambda y, p: metrics.roc_auc_score(y == "ill", p),
}


@pytest.mark.parametrize("name", OF_SKLEARN)
def test_estimates_are_differences_of_values_of_scikit_learn(name: str) -> None:
    (question,) = (each for each in OF_RULES if str(each) == name)
    target, *rules = question.columns
    new, old = (OF_SKLEARN[name](TABLE[target], TABLE[rule]) for rule in rules)
    assert EXPECTED[name][0] == pytest.approx(new - old, abs=1e-12)


@asked_at("json")
def test_json(question: Any) -> None:
    result = answer(question)
    again = TestResult.from_dict(json.loads(result.to_json()))
    check(question, numbers(question, again))


@asked_at("compare")
def test_compare(question: Any) -> None:
    if question in OF_LEARNERS:
        result = question.in_compare()
    else:
        (result,) = uv.compare_losses(question.losses(), [question.test]).results.values()
    check(question, numbers(question, result))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("questions") / "table.csv")


@pytest.fixture(scope="module")
def flowers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample of questions about learners."""
    X, y = golden.sample()
    path = tmp_path_factory.mktemp("flowers") / "flowers.csv"
    pd.DataFrame(X, columns=["length", "width"]).assign(species=y).to_csv(path, index=False)
    return path


@asked_at("shell")
def test_shell(question: Any, table: Path, flowers: Path) -> None:
    words = question.in_shell(flowers if question in OF_LEARNERS else table)
    outcome = CliRunner().invoke(cli.app, words)
    assert (outcome.exit_code == 0) == (answer(question).status == "ok"), outcome.output
    check(question, numbers(question, TestResult.from_dict(json.loads(outcome.stdout))))


@pytest.fixture(scope="module")
def r(tmp_path_factory: pytest.TempPathFactory, table: Path) -> Iterator[RSession]:
    """A session with the package that `make setup` has installed."""
    library = Path(sys.prefix, "lib", "R")
    if not (library / "ucvtest").exists():
        missing = pytest.fail if os.environ.get("UCVTEST_REQUIRE_R") == "1" else pytest.skip
        missing(f"the R package is not in {library}: run make setup")
    environment = clean_environment() | quickly() | {"R_LIBS": str(library)}
    session = RSession(environment, tmp_path_factory.mktemp("r_session"))
    session(f"""
        table <- read.csv({json.dumps(str(table))})
        two <- droplevels(subset(iris, Species != "setosa"))[c(1:30, 51:80), ]
        asked <- function(result) cat(sprintf("%.17g", as.numeric(c(
            result$estimate, result$stderr,
            if (is.null(result$statistic)) NaN else result$statistic,
            if (is.null(result$p.value)) NaN else result$p.value,
            if (is.null(result$conf.int)) c(NaN, NaN) else result$conf.int))))
    """)
    yield session
    assert session.close() == 0


@pytest.mark.requires_r
@asked_at("r")
def test_r(question: Any, r: RSession) -> None:
    printed = r(f"asked({question.in_r()})")
    try:
        found = [float(number.replace("NA", "nan")) for number in printed.split()]
    except ValueError:
        pytest.fail(printed)
    check(question, found)


@pytest.fixture(scope="module")
def run_id(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A run of MLflow that contains the table."""
    mlflow = pytest.importorskip("mlflow")
    folder = tmp_path_factory.mktemp("store")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    experiment = mlflow.create_experiment("questions", artifact_location=str(folder / "files"))
    with mlflow.start_run(run_name="rules", experiment_id=experiment) as run:
        mlflow.log_table(TABLE, "eval_results_table.json")
    yield run.info.run_id
    mlflow.set_tracking_uri(None)
    shutil.rmtree(folder)


# Of MLflow's own dependencies.
@pytest.mark.filterwarnings("ignore")
@asked_at("mlflow")
def test_mlflow(question: Any, run_id: str) -> None:
    check(question, numbers(question, question.in_mlflow(run_id)))
