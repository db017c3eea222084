"""Stores, servers and disks that fail: results wait in a private folder, and arrive once."""

import errno
import os
import platform
import re
import stat
import subprocess
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ucvtest as uv
from ucvtest import UcvtestWarning, cli

pytest.importorskip("mlflow", reason="MLflow is missing: pip install 'ucvtest[mlflow]'")

import mlflow
import ucvtest_mlflow as um
from mlflow import MlflowClient
from typer.testing import CliRunner
from ucvtest_mlflow import delivery, records
from ucvtest_mlflow.delivery import keys_of
from ucvtest_mlflow.records import Record, Spool, default_spool_dir

from tests.support.mlflow_runs import (
    KEY,
    RESULT,
    VARIANCES,
    WARNINGS,
    X,
    closed_port,
    finish,
    interrupt,
    keep,
    new_run,
    runs,
    same,
)

pytestmark = [
    *WARNINGS,
    pytest.mark.skipif(os.name != "posix", reason="rights and processes as POSIX has them"),
]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def record() -> Record:
    return Record(RESULT, mlflow.get_tracking_uri(), log_plots=False)


# ------------------------------------------------------------------- stores that fail

CALLS = ("create_run", "log_artifacts", "log_inputs", "log_batch", "set_terminated")
"""What a result costs a store, in this order."""


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize("name", CALLS)
def test_a_store_that_fails_anywhere_loses_nothing_and_doubles_nothing(
    client: MlflowClient,
    spool: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    is_done: bool,
) -> None:
    """Whether what was asked for is done, and its answer lost, or not."""
    um.autolog(spool_dir=spool, log_plots=False)
    real = getattr(MlflowClient, name)

    def fail(*args: Any, **options: Any) -> None:
        if is_done:
            real(*args, **options)
        raise OSError("API request to http://user:secret@example.org/api failed")

    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, name, fail)
        said = (
            r"not in MLflow \(OSError: API request to http://example.org/api failed\); it is kept"
        )
        with pytest.warns(UcvtestWarning, match=said):
            finish()
    (logged,) = um.flush_spool(spool)
    (run,) = runs(client)
    assert (run.info.run_id, run.info.status) == (logged.run_id, "FINISHED")
    assert keys_of(run) == [KEY]
    assert same(um.load_result(logged.run_id), RESULT)
    assert len(run.inputs.dataset_inputs) == 1
    for metric in run.data.metrics:
        assert len(client.get_metric_history(logged.run_id, metric)) == 1
    assert len(mlflow.load_table(VARIANCES, run_ids=[logged.run_id])) == 1
    assert list(spool.iterdir()) == []


def test_by_hand_a_run_that_is_made_for_a_result_fails_with_it(
    client: MlflowClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(MlflowClient, "log_batch", fail)
    with pytest.raises(OSError, match="disk full"):
        um.log_result(RESULT)
    with new_run() as mine, pytest.raises(OSError, match="disk full"):
        um.log_result(RESULT)
    states = {run.info.run_name: run.info.status for run in runs(client)}
    assert states == {"lda vs knn:3 (ustatistic)": "FAILED", "mine": "FINISHED"}
    assert client.get_run(mine.info.run_id).data.metrics == {}


def test_interruption_keeps_the_result(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    um.autolog(spool_dir=spool)
    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, "log_batch", interrupt)
        with pytest.raises(KeyboardInterrupt):
            finish()
    # The second attempt goes to the run that the first one created.
    (run,) = runs(client)
    assert um.flush_spool(spool) == [(run.info.run_id, KEY)]
    assert [found.info.run_id for found in runs(client)] == [run.info.run_id]
    assert client.get_run(run.info.run_id).info.status == "FINISHED"


def test_a_server_that_is_down_gets_the_result_later(client: MlflowClient, spool: Path) -> None:
    """Also one whose labels JSON lacks."""
    um.autolog(spool_dir=spool, log_plots=False, silent=True)
    labels = Decimal("0.5"), Decimal(2)
    y = np.array(labels * 10, dtype=object)
    with closed_port() as uri:
        mlflow.set_tracking_uri(uri)
        with pytest.raises(ConnectionError, match=f"no answer from {uri}"):
            um.log_result(RESULT)
        said = rf"not in MLflow \(Unreachable: no answer from {uri} .*\); it is kept in .*flush"
        with pytest.warns(UcvtestWarning, match=said) as caught:
            result = uv.InfluenceFunctionTest(X, y, "lda", pos_label=labels[0]).fit(rng=0)
    # The warning points at the user's line, not into the package.
    assert caught[0].filename == __file__
    (path,) = spool.iterdir()
    path.write_text(path.read_text().replace(uri, client.tracking_uri))
    mlflow.set_tracking_uri(client.tracking_uri)
    arguments = ["mlflow", "flush", "--spool-dir", str(spool)]
    outcome = CliRunner().invoke(cli.app, arguments)
    (run,) = runs(client)
    assert outcome.stdout == f"Sent: lda.influence to run {run.info.run_id}\n"
    assert CliRunner().invoke(cli.app, arguments).stdout == "Nothing to send.\n"
    found = um.load_result(run.info.run_id)
    assert same(found, result)
    assert found.settings["pos_label"] == labels[0]
    assert len(run.inputs.dataset_inputs) == 1


# --------------------------------------------------------------------------------- flush


def test_a_flush_asks_a_dead_server_once_and_goes_on(client: MlflowClient, tmp_path: Path) -> None:
    spool = default_spool_dir()
    Spool(spool).open()
    assert um.flush_spool(tmp_path / "missing") == um.flush_spool() == []
    with closed_port() as uri:
        dead = [Record(RESULT, uri), Record(RESULT, uri)]
        keep(spool, *dead, record())
        outcome = CliRunner().invoke(cli.app, ["mlflow", "flush"])
    assert outcome.exit_code == 1
    assert outcome.stderr.count("Warning: ") == 1
    assert f"the result is not in MLflow (Unreachable: no answer from {uri}" in outcome.stderr
    (run,) = runs(client)
    assert outcome.stdout == f"Sent: {KEY} to run {run.info.run_id}\n"
    assert {path.stem for path in spool.iterdir()} == {each.id for each in dead}


UNREADABLE = {
    "": "the file ends too early: its writer was killed, delete it",
    "[]": "the file was not written by ucvtest's MLflow logging",
    '{"format": "ucvtest_mlflow.Record", "version": 99}': "format version 99, .* upgrade ucvtest",
}


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_flush_leaves_files_that_it_cannot_read(
    client: MlflowClient, spool: Path, text: str
) -> None:
    spool.mkdir()
    path = spool / "x.json"
    path.write_text(text)
    said = rf"not in MLflow \(ValueError: .*{UNREADABLE[text]}\); it is kept in {path}"
    with pytest.warns(UcvtestWarning, match=said):
        assert um.flush_spool(spool) == []
    assert path.exists()


def test_what_has_arrived_is_not_sent_again(client: MlflowClient, spool: Path) -> None:
    run_id = client.create_run("0", run_name="mine").info.run_id
    sent = replace(record(), run_id=run_id)
    keep(spool, sent)
    delivery.send(sent)
    assert um.flush_spool(spool) == [(run_id, KEY)]
    assert keys_of(client.get_run(run_id)) == [KEY]


def test_what_another_is_sending_is_left_to_it(client: MlflowClient, spool: Path) -> None:
    own = record()
    with Spool(spool).keep(own):
        (path,) = spool.iterdir()
        assert (spool / f"{own.id}.json") == records.home(path)
        with pytest.warns(UcvtestWarning, match=f"{own.id}.json is being sent already, and is le"):
            assert um.flush_spool(spool) == []
    # It has arrived, and another had looked at the folder before.
    assert Spool(spool).claim(path) is None
    assert list(spool.iterdir()) == []


def test_a_claim_ends_with_its_process_or_after_an_hour(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen(["true"]) as gone:
        pass
    keep(spool, record())
    (path,) = spool.iterdir()
    here, far = f"@{platform.node()}", "@elsewhere"
    for sender, is_free in ((f"{gone.pid}{here}", True), (f"{os.getppid()}{here}", False)):
        path = path.rename(f"{records.home(path)}.01234567.{sender}")
        claimed = Spool(spool).claim(path)
        assert (claimed is not None) == is_free
        path = path if claimed is None else claimed.path
    path = path.rename(f"{records.home(path)}.01234567.1{far}")
    assert Spool(spool).claim(path) is None
    monkeypatch.setattr(records, "CLAIM_SECONDS", 0.0)
    (logged,) = um.flush_spool(spool)
    assert same(um.load_result(logged.run_id), RESULT)


# ----------------------------------------------------------------------------- a full disk


def fill_the_disk(monkeypatch: pytest.MonkeyPatch, after: int = 0) -> None:
    """Let every write of a record after the first ones fail, halfway."""
    written = []

    def refuse(handle: int) -> None:
        if records.SUFFIX in Path(os.readlink(f"/proc/self/fd/{handle}")).name:
            written.append(handle)
            if len(written) > after:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", refuse)


FULL = r"\[Errno 28\] No space left on device"


def test_a_full_disk_beside_a_healthy_server(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    um.autolog(spool_dir=spool)
    fill_the_disk(monkeypatch)
    with pytest.warns(UcvtestWarning, match=rf"not kept on disk while it is sent.*{FULL}"):
        finish()
    (run,) = runs(client)
    assert run.info.status == "FINISHED"
    assert same(um.load_result(run.info.run_id), RESULT)
    # Nothing half written stays, which would fill the disk further.
    assert list(spool.iterdir()) == []


def test_a_full_disk_and_no_server(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    um.autolog(spool_dir=spool)
    fill_the_disk(monkeypatch)
    with closed_port() as uri:
        mlflow.set_tracking_uri(uri)
        with pytest.warns(UcvtestWarning) as caught:
            finish()
    on_disk, sent = (str(warning.message) for warning in caught)
    assert re.search(FULL, on_disk)
    assert re.search(r"not in MLflow \(Unreachable.*log_result", sent)


# ------------------------------------------------------------------- never half a record


def test_the_name_of_a_record_is_on_the_disk_too(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[int, int]] = []
    monkeypatch.setattr(
        os,
        "fsync",
        lambda handle: synced.append((os.fstat(handle).st_ino, len(list(spool.iterdir())))),
    )
    keep(spool, record())
    (path,) = spool.iterdir()
    assert synced == [(path.stat().st_ino, 1), (spool.stat().st_ino, 1)]


def test_records_are_their_users_alone(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.umask(0)
    try:
        keep(spool, record())
    finally:
        os.umask(before)
    (path,) = spool.iterdir()
    assert (mode(spool), mode(path)) == (0o700, 0o600)
    with monkeypatch.context() as patch:
        other = os.geteuid() + 1
        patch.setattr(os, "geteuid", lambda: other)
        with pytest.warns(UcvtestWarning, match="is a link, or belongs to another user"):
            assert um.flush_spool(spool) == []
    assert runs(client) == []
    assert list(spool.iterdir()) == [path]


def test_links_are_not_followed(client: MlflowClient, spool: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(record().to_json())
    Spool(spool).open()
    (spool / "x.json").symlink_to(tmp_path / "elsewhere")
    with pytest.warns(UcvtestWarning, match="is a link, or belongs to another user"):
        assert um.flush_spool(spool) == []
    assert runs(client) == []


# --------------------------------------------------------------------------------- times


def test_numbers_have_the_time_of_the_test(client: MlflowClient, spool: Path) -> None:
    """However late, and however often a result is sent, they are one entry in the history."""
    sent = Record(RESULT, mlflow.get_tracking_uri(), log_plots=False, created=1_600_000_000_000)
    keep(spool, sent)
    (logged,) = um.flush_spool(spool)
    # As if the server had been stopped between the numbers and the words.
    client.delete_tag(logged.run_id, "ucvtest.lda_vs_knn_3.ustatistic.status")
    keep(spool, sent)
    assert um.flush_spool(spool) == [logged]
    (metric,) = client.get_metric_history(logged.run_id, "ucvtest.lda_vs_knn_3.ustatistic/pvalue")
    assert metric.timestamp == sent.created
    (run,) = runs(client)
    assert run.info.end_time == sent.created
    assert run.info.end_time - run.info.start_time == 24300
