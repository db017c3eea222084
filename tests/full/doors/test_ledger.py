"""The shell gives the answers of Python on one file; MLflow and R do so in `full/plugins`."""

import json
import shlex

import pytest
from typer.testing import CliRunner

from tests.support.ledgers import ASKS, TABLE, answers_in_python
from ucvtest import cli


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return answers_in_python(tmp_path_factory.mktemp("python"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("holdout.csv", index=False)
    return tmp_path


def typed(line):
    return CliRunner().invoke(cli.app, shlex.split(line))


def test_in_the_shell(folder, expected):
    about = "holdout.csv --target y --scores"
    assert typed(f"ledger open gate.jsonl {about} old --stake 0.2").exit_code == 0
    for (name, margin), (decision, budget) in zip(ASKS.items(), expected, strict=True):
        done = typed(f"gate {about} {name} --margin {margin} --ledger gate.jsonl --json a.json")
        assert done.exit_code == {"pass": 0, "not shown": 3}[decision], done.stderr
        assert done.stdout.startswith({"pass": "Pass", "not shown": "Not shown"}[decision])
        assert json.loads((folder / "a.json").read_text())["budget"] == budget
    shown = typed("ledger show gate.jsonl --json -").stdout
    assert json.loads(shown)["budget"] == expected[-1][1]
    whole = f"gate {about} old --margin 0 --ledger gate.jsonl --stake"
    assert [typed(f"{whole} {stake}").exit_code for stake in ("1e-12", "1", "1")] == [2, 3, 3]
    assert typed(f"gate {about} new --margin 0 --ledger gate.jsonl").exit_code == 4
    closed = typed(f"ledger close gate.jsonl {about} old --json -")
    assert [row["decision"] for row in json.loads(closed.stdout)["asks"]] == [
        *(decision for decision, _ in expected),
        "not shown",
    ]
    assert typed(f"gate {about} old --margin 0 --ledger gate.jsonl").exit_code == 2
