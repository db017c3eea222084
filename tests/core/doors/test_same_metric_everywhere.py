"""Metrics in the shell: words for a paper, the gate, learners and plans.

Their numbers at every door are in tests/core/doors/questions.py.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ucvtest as uv
from tests.support.metric_table import ASKED, TABLE, in_python, written
from ucvtest import cli


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("metrics") / "table.csv")


def shell(command: str, path: Path, metric: str, *options: str) -> Any:
    target, *rules = ASKED[metric]
    named = ["--target", target, "--scores", ",".join(rules), "--metric", metric, *options]
    positive = ["--pos-label", "ill"] if target == "state" else []
    return CliRunner().invoke(cli.app, [command, str(path), *named, *positive, "--json", "-"])


@pytest.mark.parametrize(
    ("metric", "rules"), [("f1", "new,old"), ("f1", "new"), ("r2", "new,old"), ("rmse", "new")]
)
def test_every_interval_has_words_for_a_paper(table: Path, metric: str, rules: str) -> None:
    target, *columns = ASKED[metric]
    named = ",".join(columns[: 1 + rules.count(",")])
    options = ["--target", target, "--scores", named, "--metric", metric, "--methods-text"]
    positive = ["--pos-label", "ill"] if target == "state" else []
    outcome = CliRunner().invoke(cli.app, ["predictions", str(table), *options, *positive])
    assert outcome.exit_code == 0, outcome.output
    assert "confidence interval is" in " ".join(outcome.stdout.split())


@pytest.mark.parametrize("metric", ["f1", "mcc", "r2", "rmse"])
def test_the_gate_of_the_shell_judges_that_result(table: Path, metric: str) -> None:
    outcome = shell("gate", table, metric, "--margin", "0.15")
    found, expected = json.loads(outcome.stdout), in_python(metric).noninferiority(0.15)
    assert outcome.exit_code == {"pass": 0, "fail": 1, "undecided": 3}[expected.decision]
    kept = expected.to_dict()
    assert {name: found[name] for name in kept} == json.loads(json.dumps(kept))


LEARNERS = ["--target", "state", "--learner", "lda", "--other", "nearest_centroid"]
LEFT_OUT = ["--drop", ",".join(TABLE.columns.drop(["state", "dose", "new_dose"]))]


def test_learners_in_the_shell_have_the_numbers_of_python(table: Path) -> None:
    X, y = TABLE[["dose", "new_dose"]], TABLE["state"].to_numpy()
    learners = ("lda", "nearest_centroid")
    asked = [str(table), *LEARNERS, *LEFT_OUT, "--pos-label", "ill", "--seed", "3", "--json", "-"]

    def found(*options: str) -> Any:
        return json.loads(CliRunner().invoke(cli.app, ["compare", *asked, *options]).stdout)

    one = found("--metric", "f1", "--max-fits", "400")
    test = uv.UStatisticTest(X, y, *learners, metric="f1", pos_label="ill")
    expected = test.fit(max_fits=400, rng=3)
    assert (one["estimate"], one["pvalue"]) == (expected.estimate, expected.pvalue)
    several = found("--metric", "f1", "--metric", "mcc", "--tests", "cross_validation_wald")
    compared = uv.compare(
        *(X, y, learners, "cross_validation_wald"),
        metric=["f1", "mcc"],
        pos_label="ill",
        rng=3,
    )
    kept = uv.Comparison.from_dict(several)
    assert kept.tests == compared.tests == ("f1", "mcc")
    assert kept.frame["estimate"].tolist() == compared.frame["estimate"].tolist()
    assert kept.frame["pvalue"].tolist() == compared.frame["pvalue"].tolist()


def test_a_plan_in_the_shell_is_that_of_python(table: Path) -> None:
    options = ["--metric", "f1", "--width", "0.2", "--pos-label", "ill", "--json", "-"]
    asked = ["plan", str(table), *LEARNERS, *LEFT_OUT, *options]
    found = json.loads(CliRunner().invoke(cli.app, asked).stdout)
    expected = uv.plan(
        *(TABLE[["dose", "new_dose"]], TABLE["state"].to_numpy(), "lda", "nearest_centroid"),
        metric="f1",
        width=0.2,
        pos_label="ill",
        rng=0,
    )
    assert found["n_needed"] == expected.n_needed
