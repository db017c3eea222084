"""`UCVTEST_AUTOLOG=1` logs whatever comes first, fitted or not, and says where it cannot."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mlflow import MlflowClient
from typer.testing import CliRunner

import ucvtest as uv
from tests.support.mlflow_runs import WARNINGS, runs
from ucvtest import UcvtestWarning, autologging, cli, hooks
from ucvtest.autologging import AutologByEnvironment

um = pytest.importorskip("ucvtest_mlflow")

pytestmark = WARNINGS

TRUTH = np.arange(40) % 2
RULES = {"new": TRUTH.copy(), "old": TRUTH[::-1].copy(), "third": np.arange(40) // 2 % 2}
RULES["new"][:3] = 1 - RULES["new"][:3]
LOSSES = uv.Losses.from_predictions(TRUTH, RULES)


@pytest.fixture(autouse=True)
def by_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def quick() -> None:
        um.autolog(spool_dir=tmp_path / "spool", log_plots=False, silent=True)

    monkeypatch.setattr(autologging, "autolog", quick)
    hook = AutologByEnvironment()
    hooks.add_hook(hook)
    yield
    hooks.remove_logging("mlflow")


def gate(folder: Path) -> Any:
    rows = ["ill,new,old", *(f"{t},{RULES['new'][k]},{t}" for k, t in enumerate(TRUTH))]
    path = folder / "holdout.csv"
    path.write_text("\n".join(rows))
    options = ("--target", "ill", "--scores", "new,old", "--margin", "0.2", "--pos-label", "1")
    return CliRunner().invoke(cli.app, ["gate", str(path), *options])


FIRST: dict[str, Callable[[Path], Any]] = {
    "mcnemar": lambda _: uv.McNemarTest.from_losses(LOSSES, "new", "old").fit(),
    "hold_out": lambda _: uv.HoldOutTest.from_losses(LOSSES, "new", "old").fit(),
    "comparison": lambda _: uv.compare_losses(LOSSES, "mcnemar"),
    "plan": lambda _: uv.plan(LOSSES, learner="new", width=0.3),
    "gate": gate,
}


@pytest.mark.parametrize("first", FIRST)
def test_what_comes_first_is_logged_though_nothing_is_fitted(
    client: MlflowClient, tmp_path: Path, first: str
) -> None:
    FIRST[first](tmp_path)
    assert len(runs(client)) == 1
    uv.HoldOutTest.from_losses(LOSSES, "old", "third").fit()
    assert len(runs(client)) == 2
    assert len(hooks.installed_hooks()) == 1


def test_a_result_that_cannot_be_logged_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "ucvtest_mlflow", None)
    with pytest.warns(UcvtestWarning) as caught:
        uv.McNemarTest.from_losses(LOSSES, "new", "old").fit()
    uv.McNemarTest.from_losses(LOSSES, "new", "old").fit()
    assert [str(item.message) for item in caught] == [
        "AutologByEnvironment failed on a finished result (ImportError: autolog needs MLflow: pip "
        "install 'ucvtest[mlflow]'); the result itself is complete"
    ]
