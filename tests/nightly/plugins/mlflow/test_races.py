"""Threads, processes and servers at once: nothing lost, nothing logged twice, nobody in the way."""

import itertools
import os
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ucvtest as uv
from ucvtest import UcvtestWarning, autologging, cli, hooks
from ucvtest.autologging import AutologByEnvironment

pytest.importorskip("mlflow", reason="MLflow is missing: pip install 'ucvtest[mlflow]'")

import mlflow
import ucvtest_mlflow as um
from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput
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
from ucvtest_mlflow import content, delivery
from ucvtest_mlflow.delivery import keys_of
from ucvtest_mlflow.hook import AutologHook
from ucvtest_mlflow.records import Record

from tests.support.mlflow_runs import (
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
    shared = {str(artifacts / "ucvtest")}
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
        return lambda: client.log_inputs(run_id, [DatasetInput(Dataset(**dataset), [])])

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


@pytest.mark.skipif(os.name != "posix", reason="locks as POSIX has them")
def test_one_process_at_a_time_makes_a_client(
    client: MlflowClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two at once that make the tables of a new store, MLflow lets both fail."""
    import fcntl

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    taken = []

    def make(tracking_uri: str) -> MlflowClient:
        (path,) = tmp_path.rglob("*.lock")
        with path.open("a") as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        taken.append(tracking_uri)
        return client

    monkeypatch.setattr(delivery, "MlflowClient", make)
    um.log_result(RESULT)
    assert taken == [mlflow.get_tracking_uri()]


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


def test_processes_in_one_run(server: MlflowClient, experiment: str, tmp_path: Path) -> None:
    run_id = server.create_run(experiment, run_name="shared").info.run_id
    (tmp_path / "result.json").write_text(RESULT.to_json())
    code = (
        "import json, sys, ucvtest, ucvtest_mlflow as um; "
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


KILLED = """
import os, sys
from pathlib import Path
from ucvtest import TestResult
from ucvtest_mlflow.records import Record, Spool
record = Record.from_json(Path(sys.argv[2]).read_text())
os.fsync = lambda handle: os.kill(os.getpid(), 9)
Spool(Path(sys.argv[1])).keep(record)
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
