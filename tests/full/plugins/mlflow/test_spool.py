"""The folder of results that wait: private, never half written, and no single point of failure."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pytest

import ucvtest as uv
from ucvtest import UcvtestWarning

pytest.importorskip("mlflow", reason="MLflow is missing: pip install 'ucvtest[mlflow]'")

import mlflow
import ucvtest_mlflow as um
from mlflow import MlflowClient
from ucvtest_mlflow import locks
from ucvtest_mlflow import spool as spooling
from ucvtest_mlflow.keys import keys_of
from ucvtest_mlflow.records import Record
from ucvtest_mlflow.spool import Spool

from tests.support.mlflow_runs import (
    KEY,
    RESULT,
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
    pytest.mark.skipif(os.name != "posix", reason="rights and locks as POSIX has them"),
]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def record() -> Record:
    return Record(RESULT, mlflow.get_tracking_uri(), log_plots=False)


# ----------------------------------------------------------------------------- a full disk


def fill_the_disk(monkeypatch: pytest.MonkeyPatch, after: int = 0) -> None:
    """Let every write of a record after the first ones fail, halfway."""
    written = []

    def refuse(handle: int) -> None:
        if Path(os.readlink(f"/proc/self/fd/{handle}")).suffix == spooling.SUFFIX:
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
    with pytest.warns(UcvtestWarning, match=rf"in MLflow, but it could not be kept.*{FULL}"):
        finish()
    (run,) = runs(client)
    assert run.info.status == "FINISHED"
    assert same(um.load_result(run.info.run_id), RESULT)
    # Nothing half written stays, which would fill the disk further.
    assert list(spool.iterdir()) == []


def test_a_disk_that_fills_up_meanwhile(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record is on disk, but that it has a key by now can no longer be written."""
    um.autolog(spool_dir=spool)
    fill_the_disk(monkeypatch, after=1)
    with new_run() as run:
        finish()
    assert same(um.load_result(run.info.run_id), RESULT)
    assert list(spool.iterdir()) == []


def test_a_full_disk_and_an_interruption_make_no_second_run(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    um.autolog(spool_dir=spool)
    with monkeypatch.context() as patch:
        fill_the_disk(patch, after=1)
        patch.setattr(MlflowClient, "log_batch", interrupt)
        with pytest.raises(KeyboardInterrupt):
            finish()
    (kept,) = spool.iterdir()
    assert Record.from_json(kept.read_text()).run_id is None
    (logged,) = um.flush_spool(spool)
    assert [run.info.run_id for run in runs(client)] == [logged.run_id]


def test_a_full_disk_and_no_server(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    um.autolog(spool_dir=spool)
    fill_the_disk(monkeypatch)
    with closed_port() as uri:
        mlflow.set_tracking_uri(uri)
        with pytest.warns(
            UcvtestWarning, match=rf"neither in MLflow \(Unreachable.* nor on disk \(OSE.*{FULL}"
        ):
            finish()


def test_a_home_that_cannot_be_written_to(
    client: MlflowClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment names no folder, so that its default cannot be what logging needs."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.warns(UcvtestWarning, match="cannot be written to: name another .* are logged wi"):
        um.autolog()
    with pytest.warns(UcvtestWarning, match="it could not be kept on disk before"):
        finish()
    assert len(runs(client)) == 1


@pytest.mark.parametrize("harm", ["gone", "opened"])
def test_a_folder_that_is_spoilt_meanwhile(client: MlflowClient, spool: Path, harm: str) -> None:
    um.autolog(spool_dir=spool)
    spool.rmdir()
    if harm == "opened":
        spool.touch()
        with pytest.warns(UcvtestWarning, match="it could not be kept on disk before"):
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


# ------------------------------------------------------------------- never half a record


def test_a_record_is_on_the_disk_before_it_is_sent(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = []

    def sync(handle: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        names = sorted(path.suffix for path in spool.iterdir())
        order.append(("folder" if is_folder else "file", names))

    monkeypatch.setattr(os, "fsync", sync)
    keep(spool, record())
    assert order == [("file", [".json"]), ("folder", [".json"])]


def test_a_folder_that_cannot_be_synced(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "no folders here")

    monkeypatch.setattr(os, "fsync", sync)
    keep(spool, record())
    assert len(list(Spool(spool).files())) == 1


def test_what_killed_writers_leave(client: MlflowClient, spool: Path) -> None:
    """What was kept is sent, with the key that was chosen; what was cut off stays."""
    run_id = client.create_run("0", run_name="mine").info.run_id
    whole, noted, cut = (replace(record(), run_id=run_id) for _ in range(3))
    keep(spool, whole, noted, cut)
    for each, note in ((noted, Record.noted("chosen")), (cut, Record.noted("chosen")[:9])):
        with (spool / f"{each.id}.json").open("a") as file:
            file.write(note)
    half = spool / "half.json"
    half.write_text(whole.to_json()[:1000])
    with pytest.warns(UcvtestWarning, match="the file ends too early: its writer was killed"):
        sent = um.flush_spool(spool)
    assert sorted(logged.key for logged in sent) == sorted([KEY, "chosen", f"{KEY}.2"])
    assert list(spool.iterdir()) == [half]


def test_a_writer_that_lives_is_let_write(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = record()

    def sync(handle: int) -> None:
        assert Spool(spool).claim(spool / f"{written.id}.json") is None

    monkeypatch.setattr(os, "fsync", sync)
    keep(spool, written)
    assert [path.stem for path in spool.iterdir()] == [written.id]


def test_a_writer_whose_empty_file_was_looked_at(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its creation and its lock somebody else may take it for a dead writer's."""
    lock, written = locks._lock, record()
    path = spool / f"{written.id}.json"

    def come_in_between(file: TextIO, *, wait: bool) -> bool:
        if wait:
            with pytest.raises(ValueError, match="ends too early"):
                Spool(spool).claim(path)
        return lock(file, wait=wait)

    monkeypatch.setattr(locks, "_lock", come_in_between)
    keep(spool, written)
    taken = Spool(spool).claim(path)
    assert taken is not None
    with taken:
        assert same(taken.record.result, RESULT)


def test_without_locks_records_are_kept_and_sent(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "fcntl", None)
    keep(spool, record())
    assert len(um.flush_spool(spool)) == 1
    assert list(spool.iterdir()) == []


KILLED = """
import os, sys
from pathlib import Path
from ucvtest import TestResult
from ucvtest_mlflow import spool
from ucvtest_mlflow.records import Record
record = Record.from_json(Path(sys.argv[2]).read_text())
os.fsync = lambda handle: os.kill(os.getpid(), 9)
spool.Spool(Path(sys.argv[1])).keep(record)
"""


@pytest.mark.slow
def test_a_process_that_is_killed_while_it_writes(client: MlflowClient, tmp_path: Path) -> None:
    (tmp_path / "record").write_text(record().to_json())
    spool = tmp_path / "spool"
    arguments = [sys.executable, "-c", KILLED, str(spool), str(tmp_path / "record")]
    assert subprocess.run(arguments, check=False).returncode == -9
    assert len(list(spool.iterdir())) == 1
    (logged,) = um.flush_spool(spool)
    assert same(um.load_result(logged.run_id), RESULT)
    assert list(spool.iterdir()) == []


# -------------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    "labels",
    [
        (Decimal("0.5"), Decimal(2)),
        (Fraction(1, 3), Fraction(2, 3)),
        (date(2020, 1, 1), date(2021, 1, 1)),
        (datetime(2020, 1, 1, 12), datetime(2021, 1, 1, 12)),
        (b"a", b"b"),
    ],
    ids=lambda labels: type(labels[0]).__name__,
)
def test_labels_that_json_lacks(client: MlflowClient, spool: Path, labels: tuple[Any, Any]) -> None:
    um.autolog(spool_dir=spool, log_plots=False)
    y = np.array(labels * 10, dtype=object)
    with closed_port() as uri:
        mlflow.set_tracking_uri(uri)
        with pytest.warns(UcvtestWarning, match="it is kept in"):
            result = uv.InfluenceFunctionTest(X, y, "lda", pos_label=labels[0]).fit(rng=0)
    (path,) = spool.iterdir()
    path.write_text(path.read_text().replace(uri, client.tracking_uri))
    (logged,) = um.flush_spool(spool)
    mlflow.set_tracking_uri(client.tracking_uri)
    found = um.load_result(*logged)
    assert same(found, result)
    assert found.settings["pos_label"] == labels[0]


# ------------------------------------------------------------------------------- rights


@pytest.mark.parametrize("action", [lambda folder: um.autolog(spool_dir=folder), um.flush_spool])
def test_a_folder_of_records_is_made_private(
    client: MlflowClient, spool: Path, action: Callable[[Path], object]
) -> None:
    keep(spool, record())
    spool.chmod(0o755)
    action(spool)
    assert mode(spool) == 0o700


@pytest.mark.parametrize("action", [lambda folder: um.autolog(spool_dir=folder), um.flush_spool])
def test_a_folder_that_others_use_is_refused(
    client: MlflowClient, spool: Path, action: Callable[[Path], object]
) -> None:
    spool.mkdir()
    spool.chmod(0o770)
    (spool / "notes.txt").touch()
    with pytest.raises(ValueError) as error:
        action(spool)
    assert str(error.value) == (
        f"spool_dir {spool} is open to other users (mode 770): name a folder for records alone, "
        "which is made private, or close this one by chmod 700"
    )
    assert mode(spool) == 0o770
    spool.chmod(0o700)
    action(spool)


def test_a_folder_whose_rights_cannot_be_changed(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool.mkdir(mode=0o755)
    monkeypatch.setattr(Path, "chmod", lambda path, mode: None)
    with pytest.raises(ValueError, match=r"open to other users \(mode 755\)"):
        Spool(spool).open()


@pytest.mark.parametrize("action", [lambda folder: um.autolog(spool_dir=folder), um.flush_spool])
def test_a_folder_of_another_user(
    client: MlflowClient,
    spool: Path,
    action: Callable[[Path], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep(spool, record())
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(ValueError, match="belongs to another user, who could read and change"):
        action(spool)
    assert runs(client) == []


def test_records_of_another_owner_are_not_sent(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(spool, record())
    (path,) = spool.iterdir()
    monkeypatch.setattr(spooling, "_is_mine", lambda found: stat.S_ISDIR(found.st_mode))
    with pytest.warns(UcvtestWarning, match=f"{path.name} belongs to another user, and is not"):
        assert um.flush_spool(spool) == []
    assert runs(client) == []
    assert path.exists()


def test_links_are_not_followed(client: MlflowClient, spool: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(record().to_json())
    Spool(spool).open()
    (spool / "x.json").symlink_to(tmp_path / "elsewhere")
    with pytest.warns(UcvtestWarning, match="not in MLflow"):
        assert um.flush_spool(spool) == []
    assert runs(client) == []


def test_records_are_their_users_alone(spool: Path) -> None:
    before = os.umask(0)
    try:
        keep(spool, record())
    finally:
        os.umask(before)
    (path,) = spool.iterdir()
    assert (mode(spool), mode(path)) == (0o700, 0o600)


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
