"""A new test is a class and a registry line: what it then has without a further line of code."""

import json

import mlflow
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

import ucvtest as uv
from tests.core.promises.toy import SignTest
from ucvtest.cli import app
from ucvtest.methods import registry

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:80, [1, 4, 8]], Y[:80]


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """The registry line."""
    monkeypatch.setitem(registry._REGISTERED, "sign", "tests.core.promises.toy:SignTest")


@pytest.fixture(scope="module")
def result():
    return SignTest(X, Y, "lda", "knn:1").fit(rng=0)


def test_it_answers_is_shown_and_kept(result):
    assert (result.status, result.n_fits) == ("ok", 30)
    assert 0 < result.pvalue <= 1
    text = result.summary(notes=True).as_text()
    assert "Sign test" in text
    assert result.verdict.split(":")[0] in text.replace("\n    ", " ")
    assert result.plot(Figure().subplots()).figure is not None
    assert uv.TestResult.from_dict(json.loads(result.to_json())) == result


def test_a_score_is_the_mirror_image_of_its_loss():
    sides = (("accuracy", "greater"), (None, "less"))
    score, loss = (
        SignTest(X, Y, "lda", "knn:1", scoring=scoring, alternative=side).fit(rng=0)
        for scoring, side in sides
    )
    assert (score.estimate, score.pvalue) == (-loss.estimate, loss.pvalue)
    assert score.pvalue != SignTest(X, Y, "lda", "knn:1", alternative="greater").fit(rng=0).pvalue


def test_from_losses_a_formula_and_a_comparison(result):
    losses = uv.evaluate(["lda", "knn:1"], X, Y, SignTest.default_design, rng=0)
    assert SignTest.from_losses(losses).fit().pvalue == result.pvalue
    data = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y)
    assert SignTest.from_formula("y ~ .", data, "lda", "knn:1").fit(rng=0).pvalue == result.pvalue
    found = uv.compare(X, Y, ["lda", "knn:1", "majority"], ["sign", "corrected_t"], rng=0)
    assert found.result("sign", "lda", "knn:1").pvalue == result.pvalue
    assert "sign" in found.summary(notes=True).as_text()


# SQLAlchemy and MLflow warn of one another.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SADeprecationWarning")
@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.seconds(6, reason="MLflow makes a store, by one migration after another")
def test_mlflow(result, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    uv.autolog(spool_dir=tmp_path / "spool", silent=True, log_plots=False)
    try:
        with mlflow.start_run(run_name="toy") as run:
            SignTest(X, Y, "lda", "knn:1").fit(rng=0)
        logged = mlflow.get_run(run.info.run_id).data.metrics
    finally:
        uv.autolog(disable=True)
    assert logged["ucvtest.lda_vs_knn_1.zero_one.sign/pvalue"] == result.pvalue


def test_command_line(result, tmp_path):
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y).to_csv(tmp_path / "data.csv", index=False)
    arguments = ["compare", str(tmp_path / "data.csv"), "--target", "y", "--test", "sign"]
    outcome = CliRunner().invoke(app, [*arguments, "--learner", "lda", "--other", "knn:1"])
    assert outcome.exit_code == 0, outcome.output
    assert "Sign test" in outcome.output
