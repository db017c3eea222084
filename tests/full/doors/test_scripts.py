"""Scripts as people type them, from an empty folder: each runs, and prints what it says it does."""

import runpy
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble  # noqa: F401  (its import moves a random state of Python)
from typer.testing import CliRunner

from ucvtest import cli
from ucvtest.cli.catalogue import EXAMPLE

pytestmark = pytest.mark.seconds(40, reason="whole scripts of users")

SCRIPTS = Path(__file__).with_name("scripts")
NEEDED = {"table_of_pyarrow": "pyarrow", "formula": "formulaic", "one_glm": "statsmodels"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """With the files that the scripts read."""
    monkeypatch.chdir(tmp_path)
    pd.read_csv(EXAMPLE).to_csv("example.csv", index=False)
    rng = np.random.default_rng(3)
    patient, died = np.repeat(np.arange(12), 50), rng.integers(2, size=600)
    wrong = {"new": np.isin(patient, [0, 1]), "old": np.isin(patient, [2, 3, 4])}
    rules = {name: np.where(each, 1 - died, died) for name, each in wrong.items()}
    pd.DataFrame({"patient": patient, "died": died, **rules}).to_csv("holdout.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.py")), ids=lambda path: path.stem)
def test_a_script(path, folder, capsys):
    pytest.importorskip(NEEDED.get(path.stem, "sklearn"))
    runpy.run_path(str(path), run_name="__main__")
    printed = " ".join(capsys.readouterr().out.split())
    expected = [line[2:] for line in path.read_text().splitlines() if line.startswith("# ")]
    assert expected
    for text in expected:
        assert text in printed


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.txt")), ids=lambda path: path.stem)
def test_lines_of_a_shell(path, folder):
    """`# exit` is the status of the line before, other remarks are what it prints."""
    commands = []
    for line in path.read_text().splitlines():
        if line.startswith("ucvtest "):
            commands.append((line, []))
        else:
            commands[-1][1].append(line.removeprefix("# "))
    for command, expected in commands:
        outcome = CliRunner().invoke(cli.app, shlex.split(command)[1:])
        status = next((text for text in expected if text.startswith("exit ")), "exit 0")
        assert f"exit {outcome.exit_code}" == status, (command, outcome.output)
        printed = " ".join((outcome.stdout + outcome.stderr).split())
        for text in expected:
            assert text == status or text in printed


def test_there_are_a_dozen():
    assert len([*SCRIPTS.glob("*.py"), *SCRIPTS.glob("*.txt")]) >= 12
