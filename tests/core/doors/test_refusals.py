"""Refusals name the argument, quote what came and say a remedy, in the words of each door."""

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner
from ucvtest_r.wording import RDoor

import ucvtest as uv
from tests.core.doors.refusals import (
    EVERYWHERE,
    FITS,
    IN_SHELL_ALONE,
    JOINT,
    OF_ANSWERS,
    PYTHON,
    PYTHON_ALONE,
    TABLES,
    Refused,
    X,
    Y,
    rules,
    ustatistic,
)
from tests.core.promises.own_errors import is_own
from ucvtest import cli
from ucvtest.common.words import through

pytestmark = pytest.mark.filterwarnings("ignore:.*labels that do not occur in y")

REFUSALS = [*EVERYWHERE, *PYTHON_ALONE]

OPTIONS = {"rng": "seed", "n_fits": "fits", "n_folds": "folds", "n_permutations": "permutations"}
"""Options that have another name than their argument."""


def said(row: Refused) -> str:
    """The message of a refusal."""
    FITS.clear()
    with pytest.raises((ValueError, TypeError)) as caught:
        row.call()
    assert is_own(caught.value), caught.value
    assert not FITS, f"refused after {len(FITS)} fits"
    return str(caught.value)


@pytest.mark.parametrize("row", REFUSALS, ids=str)
def test_in_python(row: Refused) -> None:
    message = said(row)
    assert re.search(rf"\b{re.escape(row.argument)}\b", message)
    assert row.came in message
    assert row.remedy in message
    assert len(message) < 1200
    # Three lines at most, of an array.
    assert message.count("\n") <= 2


@pytest.mark.parametrize("row", EVERYWHERE, ids=str)
def test_in_r(row: Refused) -> None:
    with through(RDoor()):
        message = said(row)
    assert PYTHON.search(message) is None, message


# Of results, some are fitted where they are asked.
UNFITTED = [row for row in EVERYWHERE if row not in OF_ANSWERS]
IN_FOUR_DOORS = UNFITTED[:: len(UNFITTED) // 60]
"""Sixty rows and more, from all subjects, that are asked in a logging run of MLflow too."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Any]]:
    """A run of MLflow into which every test logs, read anew at each call."""
    mlflow = pytest.importorskip("mlflow")
    folder = tmp_path_factory.mktemp("store")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    experiment = mlflow.create_experiment("refusals", artifact_location=str(folder / "files"))
    uv.autolog(log_plots=False, silent=True)
    with mlflow.start_run(experiment_id=experiment) as active:
        yield lambda: mlflow.get_run(active.info.run_id).data
    uv.autolog(disable=True)
    mlflow.set_tracking_uri(None)


# Of MLflow's own dependencies.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", IN_FOUR_DOORS, ids=str)
def test_in_a_run_of_mlflow(row: Refused, run: Callable[[], Any]) -> None:
    assert row.remedy in said(row)
    assert (run().metrics, run().params) == ({}, {})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that commands read."""
    path = tmp_path_factory.mktemp("refusals")
    for name, table in TABLES.items():
        table.to_csv(path / name, index=False)
    return path


TABLE = np.arange(600.0).reshape(200, 3)
LONG: list[Any] = [
    TABLE,
    {f"name {each}": TABLE for each in range(30)},
    list(range(500)),
    "x" * 5000,
]
TAKES_ANY: dict[str, Callable[[Any], Any]] = {
    "learner": lambda value: uv.UStatisticTest(X, Y, value),
    "design": lambda value: uv.CorrectedTTest(X, Y, "lda", design=value),
    "compare": lambda value: uv.compare(X, Y, {"a": "lda", "b": value}),
    "tests": lambda value: uv.compare(X, Y, ["lda", "knn:3"], tests=value),
    "baseline": lambda value: JOINT.best_set(test=value),
    "from_losses": lambda value: uv.HoldOutTest.from_losses(rules(), value),
    "evaluate": lambda value: uv.evaluate("lda", X, Y, loss=value),
    "permutations": lambda value: uv.PermutationComplexityTest(X, Y, "lda").fit(value),
    **{
        name: lambda value, name=name: uv.UStatisticTest(X, Y, "lda", "knn:3", **{name: value})
        for name in ("loss", "metric", "alternative", "null_value", "backend")
    },
    **{
        f"fit, {name}": lambda value, name=name: ustatistic().fit(**{name: value})
        for name in ("n_pairs", "variance", "tol", "interval", "rng", "n_jobs", "batch_size")
    },
    "max_seconds": lambda value: ustatistic().fit(max_seconds=value),
}


@pytest.mark.parametrize("name", TAKES_ANY)
def test_messages_quote_the_start_of_what_came(name: str) -> None:
    for value in LONG:
        with pytest.raises((ValueError, TypeError)) as caught:
            TAKES_ANY[name](value)
        message = str(caught.value)
        assert len(message) < 800
        assert message.count("\n") <= 2


def typed(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is said of a command that is refused, behind typer's lines on usage."""
    monkeypatch.chdir(folder)
    refused = CliRunner().invoke(cli.app, shlex.split(line))
    assert refused.exit_code == 2, refused.output
    message = refused.stderr.splitlines()[-1]
    assert message.startswith("Error: ")
    assert PYTHON.search(message) is None, message
    return message


@pytest.mark.parametrize("row", [row for row in REFUSALS if row.shell], ids=str)
def test_in_the_shell(row: Refused, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = typed(row.shell, folder, monkeypatch)
    option = OPTIONS.get(row.argument, row.argument).replace("_", "-")
    assert f"--{option}" in message
    assert row.came.removeprefix("got ") in message


@pytest.mark.parametrize(("option", "came", "remedy", "line"), IN_SHELL_ALONE)
def test_in_the_shell_alone(
    option: str, came: str, remedy: str, line: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = typed(line, folder, monkeypatch)
    assert option == "FILE" or f"--{option}" in message
    assert came in message
    assert remedy in message
