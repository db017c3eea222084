"""Threads, processes and servers at once: nothing lost, nothing logged twice, nobody in the way."""

import itertools
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TextIO

import pytest

import ucvtest as uv
from ucvtest import UcvtestWarning, autologging, cli, hooks
from ucvtest.autologging import AutologByEnvironment

pytest.importorskip("mlflow", reason="MLflow is missing: pip install 'ucvtest[mlflow]'")

import mlflow
import ucvtest_mlflow as um
from mlflow import MlflowClient
from mlflow.store.tracking.dbmodels.models import (
    SqlDataset,
    SqlExperiment,
    SqlInput,
    SqlInputTag,
)
from mlflow.utils import autologging_utils
from mlflow.utils.file_utils import local_file_uri_to_path
from sqlalchemy import event
from sqlalchemy.orm import Session
from typer.testing import CliRunner
from ucvtest_mlflow import content, delivery, locks
from ucvtest_mlflow.hook import AutologHook
from ucvtest_mlflow.keys import keys_of
from ucvtest_mlflow.records import Record
from ucvtest_mlflow.spool import Spool

from tests.support.mlflow_runs import (
    KEY,
    PATIENT,
    RESULT,
    TEST,
    WARNINGS,
    X,
    Y,
    finish,
    forwarding,
    keep,
    runs,
    same,
)
from tests.support.processes import LIMIT

pytestmark = WARNINGS


def test_two_threads_with_their_own_runs(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    ids: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", UcvtestWarning)

        def work(name: str) -> None:
            with mlflow.start_run(run_name=name) as run:
                ids[name] = run.info.run_id
                for _ in range(3):
                    finish(replace(RESULT, settings={"learner": name}))

        threads = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for name, run_id in ids.items():
        params = client.get_run(run_id).data.params
        learners = {key: value for key, value in params.items() if key.endswith("learner")}
        assert learners == {f"ucvtest.{name}.ustatistic{i}.learner": name for i in ("", ".2", ".3")}


def test_two_threads_in_one_run(client: MlflowClient) -> None:
    run_id = client.create_run("0", run_name="shared").info.run_id
    threads = [threading.Thread(target=um.log_result, args=(RESULT, run_id)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = client.get_run(run_id).data.metrics
    assert sum(name.endswith("/estimate") for name in found) == 4


def test_folders_of_a_run_that_another_result_makes_meanwhile(
    client: MlflowClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = client.create_run("0", run_name="shared")
    artifacts = Path(local_file_uri_to_path(run.info.artifact_uri))
    shared = {str(artifacts / name) for name in ("ucvtest", "images")}
    real_mkdir, made = os.mkdir, set()

    def mkdir(path: str | Path, *args: Any, **kwargs: Any) -> None:
        if str(path) in shared - made:
            made.add(str(path))
            real_mkdir(path)
        real_mkdir(path, *args, **kwargs)

    monkeypatch.setattr(os, "mkdir", mkdir)
    logged = um.log_result(RESULT, run.info.run_id)
    assert made == shared
    assert um.load_result(*logged).estimate == RESULT.estimate


@pytest.fixture
def is_locked(tmp_path: Path) -> Iterator[Callable[[], bool]]:
    """Whether somebody is alone in the folder of the store."""
    fcntl = pytest.importorskip("fcntl")
    handle = os.open(tmp_path, os.O_RDONLY)

    def ask() -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(handle, fcntl.LOCK_UN)
        return False

    yield ask
    os.close(handle)


@contextmanager
def before_the_first_insert(rows: set[type], action: Callable[[], object]) -> Iterator[None]:
    """Let somebody else act between a store's look at its rows and its insertion of these."""
    done = []

    def act(session: Session, *_: object) -> None:
        if not done and {type(new) for new in session.new} == rows:
            done.append(rows)
            action()

    event.listen(Session, "before_flush", act)
    try:
        yield
    finally:
        event.remove(Session, "before_flush", act)
    assert done == [rows]


def test_a_data_set_that_others_log_meanwhile(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool, log_plots=False)
    other = client.create_run("0", run_name="other").info.run_id
    mine = client.create_run("0", run_name="mine").info.run_id
    dataset = content.describe_data(TEST)
    assert dataset is not None

    def log_into(run_id: str) -> Callable[[], object]:
        return lambda: delivery._add_dataset(client, run_id, dataset)

    with (
        mlflow.start_run(run_id=mine),
        before_the_first_insert({SqlDataset, SqlInput, SqlInputTag}, log_into(other)),
        # The second attempt finds the data set.
        before_the_first_insert({SqlInput, SqlInputTag}, log_into(mine)),
    ):
        finish()
    assert list(spool.iterdir()) == []
    for run_id in (other, mine):
        (found,) = client.get_run(run_id).inputs.dataset_inputs
        assert found.dataset.digest == dataset["digest"]


def test_an_experiment_that_another_process_made_meanwhile(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    um.autolog(spool_dir=spool, log_plots=False)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "trial")
    with before_the_first_insert({SqlExperiment}, lambda: client.create_experiment("trial")):
        finish()
    assert list(spool.iterdir()) == []
    trial = client.get_experiment_by_name("trial").experiment_id
    assert len(client.search_runs([trial])) == 1


def test_one_process_at_a_time_makes_a_client(
    client: MlflowClient,
    tmp_path: Path,
    is_locked: Callable[[], bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two at once that make the tables of a new store, MLflow lets both fail."""
    taken = []

    def make(tracking_uri: str) -> MlflowClient:
        assert is_locked()
        taken.append(tracking_uri)
        return client

    monkeypatch.setattr(delivery, "MlflowClient", make)
    um.log_result(RESULT)
    monkeypatch.chdir(tmp_path)
    delivery._client("sqlite:///mlflow.db")
    assert taken == [mlflow.get_tracking_uri(), "sqlite:///mlflow.db"]
    assert not is_locked()


def test_a_folder_is_free_although_a_forked_process_has_its_handle(
    tmp_path: Path, is_locked: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    real_open, handles = os.open, []

    def open_and_tell(path: Path, flags: int) -> int:
        handles.append(real_open(path, flags))
        return handles[0]

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", open_and_tell)
        with locks.alone_in(tmp_path):
            inherited = os.dup(handles[0])
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(handles[0])
    assert not is_locked()
    os.close(inherited)


def test_folders_that_cannot_be_locked(
    client: MlflowClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with locks.alone_in(tmp_path / "missing"):
        pass
    monkeypatch.setattr(locks, "fcntl", None)
    with locks.alone_in(tmp_path):
        um.log_result(RESULT)


def of_another_process(client: MlflowClient, run_id: str, number: int, host: str) -> None:
    """What a process leaves in a run into which it logs."""
    client.set_tag(run_id, f"ucvtest.writer.other{number}", f"{host} {number}")


@pytest.mark.skipif(os.name != "posix", reason="asks which processes live as POSIX does")
def test_keys_of_processes_that_log_into_one_run(client: MlflowClient) -> None:
    with subprocess.Popen(["true"]) as gone:
        pass
    shared, mine, theirs = (client.create_run("0", run_name=name).info.run_id for name in "abc")
    of_another_process(client, shared, gone.pid, platform.node())
    client.log_metric(shared, "ucvtest.lda_vs_knn_3.ustatistic/estimate", 1.0)
    assert um.log_result(RESULT, shared).key == f"{KEY}.2"
    # Of this machine, of another, and of one that says something else.
    of_another_process(client, mine, os.getppid(), platform.node())
    of_another_process(client, theirs, gone.pid, "elsewhere")
    for run_id in (mine, theirs):
        keys_given = [um.log_result(RESULT, run_id).key for _ in range(2)]
        name = next(iter({key.rpartition(".")[2] for key in keys_given}))
        assert keys_given == [f"lda_vs_knn_3.ustatistic{number}.{name}" for number in ("", ".2")]
        assert f"ucvtest.writer.{name}" in client.get_run(run_id).data.tags


def test_two_flushes_at_once_send_everything_once(client: MlflowClient, spool: Path) -> None:
    spool.mkdir()
    keep(spool, *[Record(RESULT, mlflow.get_tracking_uri(), log_plots=False) for _ in range(4)])
    with warnings.catch_warnings(), ThreadPoolExecutor(2) as pool:
        # One may say of a file that the other is sending it.
        warnings.filterwarnings("ignore", "(?s).*is being sent already", UcvtestWarning)
        sent = list(itertools.chain(*pool.map(um.flush_spool, [spool, spool])))
    assert len(sent) == 4
    assert {run.info.run_id for run in runs(client)} == {logged.run_id for logged in sent}
    assert list(spool.iterdir()) == []


@contextmanager
def server_that_hangs_after_the_probe(
    then: Callable[[], object] = lambda: None,
) -> Iterator[tuple[str, threading.Event]]:
    """Says that it is well, and then does one thing and answers no more until it is let go."""
    let_go = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/health":
                then()
                let_go.wait(LIMIT)
            self.send_response(200 if self.path == "/health" else 400)
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", let_go
    finally:
        let_go.set()
        server.shutdown()
        server.server_close()


def test_server_that_hangs_after_the_probe(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "WAIT_SECONDS", 1.0)
    drawn_by, write_files = [], content.write_files

    def draw(*args: Any, **options: Any) -> None:
        drawn_by.append(threading.current_thread())
        write_files(*args, **options)

    monkeypatch.setattr(content, "write_files", draw)
    um.autolog(spool_dir=spool)
    with server_that_hangs_after_the_probe() as (uri, let_go):
        mlflow.set_tracking_uri(uri)
        with pytest.warns(UcvtestWarning) as caught:
            finish()
        (path,) = spool.iterdir()
        assert [str(item.message) for item in caught] == [
            f"the result is not in MLflow (Unreachable: {uri} has not taken the result within "
            f"1 s); it is kept in {path}: ucvtest_mlflow.flush_spool() or the command "
            "'ucvtest mlflow flush' sends it"
        ]
        with pytest.raises(ConnectionError, match="has not taken the result within 1 s"):
            um.log_result(RESULT)
        # Before the time of the server starts, which runs in another thread.
        assert drawn_by == [threading.main_thread()] * 2
        let_go.set()
        # The attempt that was left to itself fails, and the next one may try.
        claimed = None
        while claimed is None:  # pytest's own limit is the watchdog
            time.sleep(0.05)
            claimed = Spool(spool).claim(path)
        assert claimed is not None
        with claimed:
            assert same(claimed.record.result, RESULT)


def test_interruption_while_a_server_hangs(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    # To the main thread, as from a keyboard: it would not wake up for another one's signal. A
    # shell starts what runs in the background with this signal ignored.
    control_c = partial(signal.pthread_kill, threading.main_thread().ident, signal.SIGINT)
    with server_that_hangs_after_the_probe(control_c) as (uri, _):
        mlflow.set_tracking_uri(uri)
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt):
                finish()
        finally:
            signal.signal(signal.SIGINT, before)
    (path,) = spool.iterdir()
    assert same(Record.from_json(path.read_text()).result, RESULT)


def test_threads_with_their_own_runs_on_a_server(
    server: MlflowClient, experiment: str, spool: Path
) -> None:
    um.autolog(spool_dir=spool)

    def work(name: str) -> str:
        with mlflow.start_run(run_name=name) as run:
            for _ in range(2):
                finish(replace(RESULT, settings={"learner": name}))
        return str(run.info.run_id)

    with ThreadPoolExecutor(2) as pool:
        ids = list(pool.map(work, ["one", "two"]))
    for name, run_id in zip(["one", "two"], ids, strict=True):
        for number in ("", ".2"):
            key = f"{name}.ustatistic{number}"
            assert um.load_result(run_id, key).settings == {"learner": name}
    assert len(server.search_runs([experiment])) == 2


def test_processes_in_one_run(server: MlflowClient, experiment: str, tmp_path: Path) -> None:
    run_id = server.create_run(experiment, run_name="shared").info.run_id
    (tmp_path / "result.json").write_text(RESULT.to_json())
    code = (
        f"import json, sys, ucvtest, ucvtest_mlflow as um; {PATIENT}; "
        "result = ucvtest.TestResult.from_dict(json.load(open('result.json'))); "
        "[um.log_result(result, sys.argv[1]) for _ in range(4)]"
    )
    environment = {**os.environ, "MLFLOW_TRACKING_URI": mlflow.get_tracking_uri()}
    workers = [
        subprocess.Popen([sys.executable, "-c", code, run_id], env=environment) for _ in range(2)
    ]
    assert [worker.wait(LIMIT) for worker in workers] == [0, 0]
    run = server.get_run(run_id)
    assert len(set(keys_of(run))) == 8
    histories = [
        server.get_metric_history(run_id, f"ucvtest.{key}/estimate") for key in keys_of(run)
    ]
    assert [len(history) for history in histories] == [1] * 8


def test_server_that_comes_back(
    server: MlflowClient, experiment: str, running_server: int, spool: Path
) -> None:
    own = socket.socket()
    own.bind(("127.0.0.1", 0))  # and does not listen
    mlflow.set_tracking_uri(f"http://127.0.0.1:{own.getsockname()[1]}")
    um.autolog(spool_dir=spool)
    with pytest.warns(UcvtestWarning, match="it is kept in") as caught:
        result = uv.CorrectedTTest(X, Y, "lda", "knn:3").fit(rng=0)
    # The warning points at the user's line, not into the package.
    assert {item.filename for item in caught if item.category is UcvtestWarning} == {__file__}
    with own, forwarding(own, to=running_server):
        outcome = CliRunner().invoke(cli.app, ["mlflow", "flush", "--spool-dir", str(spool)])
        assert outcome.exit_code == 0, outcome.output
        (run,) = server.search_runs([experiment])
        key = "lda_vs_knn_3.zero_one.corrected_t"
        assert outcome.stdout == f"Sent: {key} to run {run.info.run_id}\n"
        assert um.flush_spool(spool) == []
        assert same(um.load_result(run.info.run_id), result)
    assert run.info.status == "FINISHED"
    assert run.inputs.dataset_inputs
    assert list(spool.iterdir()) == []


def test_two_first_fits_at_once(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second thread neither fails nor fits unheard while the first imports MLflow."""
    first_is_in, go_on = threading.Event(), threading.Event()
    calls = []

    def slow_autolog() -> None:
        calls.append(threading.current_thread().name)
        first_is_in.set()
        # In vain: time for the second thread to come here, or to fit by itself.
        go_on.wait(0.5)
        um.autolog(spool_dir=spool)

    monkeypatch.setattr(autologging, "autolog", slow_autolog)
    hooks.add_hook(AutologByEnvironment())
    hidden = []

    def fit() -> None:
        with hooks.fitting(TEST):
            hidden.append(autologging_utils._AUTOLOGGING_GLOBALLY_DISABLED)
        hooks.announce(TEST, RESULT)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(fit)
        assert first_is_in.wait(LIMIT)
        second = pool.submit(fit)
        for done in (first, second):
            done.result(LIMIT)
    assert len(calls) == 1
    assert hidden == [True, True]
    assert len(runs(client)) == 2
    assert [type(hook) for hook in hooks.installed_hooks()] == [AutologHook]


def test_a_writer_that_lives_is_let_write(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = Record(RESULT, mlflow.get_tracking_uri(), log_plots=False)

    def sync(handle: int) -> None:
        assert Spool(spool).claim(spool / f"{written.id}.json") is None

    monkeypatch.setattr(os, "fsync", sync)
    keep(spool, written)
    assert [path.stem for path in spool.iterdir()] == [written.id]


def test_a_writer_whose_empty_file_was_looked_at(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its creation and its lock somebody else may take it for a dead writer's."""
    lock, written = locks._lock, Record(RESULT, mlflow.get_tracking_uri(), log_plots=False)
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


def test_a_process_that_is_killed_while_it_writes(client: MlflowClient, tmp_path: Path) -> None:
    (tmp_path / "record").write_text(
        Record(RESULT, mlflow.get_tracking_uri(), log_plots=False).to_json()
    )
    spool = tmp_path / "spool"
    arguments = [sys.executable, "-c", KILLED, str(spool), str(tmp_path / "record")]
    assert subprocess.run(arguments, check=False).returncode == -9
    assert len(list(spool.iterdir())) == 1
    (logged,) = um.flush_spool(spool)
    assert same(um.load_result(logged.run_id), RESULT)
    assert list(spool.iterdir()) == []
