"""Disks that fill up, folders that go, homes that are closed: results arrive all the same."""

from pathlib import Path

import pytest
import ucvtest_mlflow as um
from mlflow import MlflowClient
from ucvtest_mlflow.delivery import keys_of

from tests.support.mlflow_runs import WARNINGS, finish, runs
from ucvtest import UcvtestWarning

pytestmark = WARNINGS


def test_a_home_that_cannot_be_written_to(
    client: MlflowClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment names no folder, so that its default cannot be what logging needs."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.warns(UcvtestWarning, match="cannot be written to: name another .* are logged wi"):
        um.autolog()
    with pytest.warns(UcvtestWarning, match="not kept on disk while it is sent"):
        finish()
    assert len(runs(client)) == 1


@pytest.mark.parametrize("harm", ["gone", "opened"])
def test_a_folder_that_is_spoilt_meanwhile(client: MlflowClient, spool: Path, harm: str) -> None:
    um.autolog(spool_dir=spool)
    spool.rmdir()
    if harm == "opened":
        spool.touch()
        with pytest.warns(UcvtestWarning, match="not kept on disk while it is sent"):
            finish()
    else:
        finish()
    assert len(runs(client)) == 1


def test_a_record_that_has_arrived_and_cannot_be_removed(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    um.autolog(spool_dir=spool)

    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        finish()
    (run,) = runs(client)
    assert um.flush_spool(spool) == [(run.info.run_id, "lda_vs_knn_3.ustatistic")]
    (found,) = runs(client)
    assert keys_of(found) == ["lda_vs_knn_3.ustatistic"]
    assert list(spool.iterdir()) == []
