"""Survival times in the shell: a column of times, and one of events."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import ucvtest as uv
from ucvtest import cli

N = 80
RNG = np.random.default_rng(0)
DAYS = np.round(RNG.exponential(50, N)) + 1
DIED = (RNG.random(N) < 0.6) * 1
RISK = 50 * RNG.normal(size=N) - DAYS
TABLE = pd.DataFrame(
    {
        "days": DAYS,
        "died": DIED,
        "status": DIED + 1,
        "fold": np.arange(N) % 4,
        "new": RISK,
        "old": RISK + 30 * RNG.normal(size=N),
    }
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "times.csv"
    TABLE.to_csv(path, index=False)
    return path


def run(command: str, table: Path, *options: str) -> Any:
    return CliRunner().invoke(cli.app, [command, str(table), "--target", "days", *options])


ABOUT = ("--event", "died", "--scores", "new,old")


def test_folds_are_those_of_python(table):
    asked = (*ABOUT, "--metric", "uno(60)", "--fold", "fold", "--json", "-")
    found = json.loads(run("predictions", table, *asked).stdout)
    times, risks = uv.survival(DAYS, DIED), TABLE[["new", "old"]]
    losses = uv.Losses.from_predictions(times, risks, metric="uno(60)", fold=TABLE.fold)
    expected = uv.CrossValidationWaldTest.from_losses(losses).fit()
    assert (found["estimate"], found["se"]) == (expected.estimate, expected.se)


def test_the_gate_lets_the_better_one_pass(table):
    told = ("--metric", "harrell", "--margin", "0.1")
    assert run("gate", table, *ABOUT, *told).exit_code == 0
    turned = ("--event", "died", "--scores", "old,new", "--metric", "harrell", "--margin", "0.0001")
    assert run("gate", table, *turned).exit_code in (1, 3)


def test_the_gate_warns_of_probabilities_of_survival(tmp_path):
    chance = 1 / (1 + np.exp((DAYS - 30) / 10))
    path = tmp_path / "chances.csv"
    TABLE.assign(new=1 - chance, old=chance).to_csv(path, index=False)
    outcome = run("gate", path, *ABOUT, "--metric", "brier(30)", "--margin", "0.1")
    assert outcome.exit_code == 1
    assert outcome.stderr.startswith("Warning: Predictions seem to be the wrong way round")
    assert "new would have a better Brier score at 30" in " ".join(outcome.stderr.split())
