"""What ``ucvtest doctor`` advises can be typed as it stands."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from ucvtest import cli
from ucvtest.cli import catalogue

RNG = np.random.default_rng(0)
N = 60
Y = np.arange(N) % 2
SCORES = {name: np.round((Y + 2 * RNG.random(N)) / 3, 3) for name in ("p_new", "p_old")}
LABELS = {name: np.where(RNG.random(N) < 0.2, 1 - Y, Y) for name in ("new", "old")}
MEASURED = {"age": np.round(RNG.normal(60, 9, N)), "marker": RNG.normal(Y, 1.5)}

TABLES: dict[str, tuple[pd.DataFrame, list[str]]] = {
    "example": (
        pd.read_csv(catalogue.EXAMPLE),
        ["compare", "compare", "plan", "advise", "predictions", "gate"],
    ),
    "visits": (
        pd.DataFrame(MEASURED).assign(
            patient=np.arange(N) // 2,
            y=np.repeat(Y[::2] * (RNG.random(N // 2) < 0.7), 2),
            sex=np.where(RNG.random(N) < 0.5, "f", "m"),
            visited=[f"day {day}" for day in range(N)],
            weight=np.where(np.arange(N) < 3, np.nan, RNG.normal(70, 9, N)),
        ),
        ["compare", "compare", "plan", "advise"],
    ),
    "labels": (pd.DataFrame({"y": Y, **LABELS}), ["predictions", "gate"]),
    "numbers": (
        pd.DataFrame(MEASURED).assign(
            pred_a=RNG.normal(size=N), pred_b=RNG.normal(size=N), outcome=RNG.normal(size=N)
        ),
        ["compare", "compare", "advise", "predictions", "gate"],
    ),
    "folds": (
        pd.DataFrame({"fold": np.arange(N) // 2 % 5, "state": np.array(["ill", "well"])[Y]}).assign(
            **SCORES
        ),
        ["predictions", "gate"],
    ),
    "survival": (
        pd.DataFrame({"days": RNG.integers(10, 900, N), "died": Y, "risk": RNG.normal(size=N)}),
        ["predictions"],
    ),
    "answers": (
        pd.DataFrame({"question": [f"no. {each}" for each in range(N)], **LABELS}),
        ["predictions", "gate"],
    ),
}


def typed(words: list[str]) -> Any:
    return CliRunner().invoke(cli.app, words)


def commands_in(printed: str) -> list[list[str]]:
    return [
        shlex.split(command.replace("\\\n", " "))[1:]
        for command in re.findall(r"^  (ucvtest (?:\\\n|[^\n])*)", printed, re.M)
    ]


@pytest.mark.parametrize("name", TABLES)
def test_commands_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table, expected = TABLES[name]
    table.to_csv("data.csv", index=False)
    printed = typed(["doctor", "data.csv"])
    assert printed.exit_code == 0, printed.stderr
    commands = commands_in(printed.stdout)
    assert [words[0] for words in commands] == expected, printed.stdout
    for words in commands:
        done = typed(words)
        assert done.exit_code in ({0, 1, 3} if words[0] == "gate" else {0}), (words, done.stderr)


def test_roles_are_said_and_columns_that_are_named_have_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"a": Y, "b": LABELS["new"], "c": LABELS["old"], "d": MEASURED["age"]}).to_csv(
        "data.csv", index=False
    )
    guessed = typed(["doctor", "data.csv"]).stdout
    assert "c  target" in guessed
    assert "Roles are guesses" in guessed
    named = typed(["doctor", "data.csv", "--target", "a", "--scores", "b,c"]).stdout
    assert "a  target" in named
    assert "b  predictions" in named
    assert "d  feature" in named
    assert "--drop b,c" in named
    refused = typed(["doctor", "data.csv", "--target", "A"])
    assert refused.exit_code == 2
    assert "--target A: no such column" in refused.stderr
