"""Stores and a real server for the tests of the MLflow plugin."""

import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import mlflow
import pytest
import requests
import ucvtest_mlflow as um
from mlflow import MlflowClient
from ucvtest_mlflow import delivery, servers

from tests.support.made_once import made_once
from tests.support.mlflow_runs import free_port, start_server
from tests.support.processes import LIMIT


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store after its migrations, which take seconds: made once, copied for each test."""
    return made_once(tmp_path_factory, "empty_store", make_store) / "mlflow.db"


def make_store(folder: Path) -> None:
    """Let MLflow make a store, whose artifacts it puts below the working directory."""
    with chdir(folder):
        MlflowClient(tracking_uri=f"sqlite:///{folder}/mlflow.db").search_experiments()


@pytest.fixture
def client(
    empty_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MlflowClient]:
    """A client of a fresh store that is MLflow's current one."""
    shutil.copy(empty_store, tmp_path / "mlflow.db")
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    # MLflow draws the pauses before it inserts again, which threads make it do, from Python's
    # global random state.
    monkeypatch.setattr("mlflow.store.tracking.sqlalchemy_store.random", random.Random())
    # New experiments put their artifacts below the working directory.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("MLFLOW_EXPERIMENT_ID", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_RUN_ID"):
        monkeypatch.delenv(name, raising=False)
    mlflow.set_tracking_uri(uri)
    yield MlflowClient(tracking_uri=uri)
    um.autolog(disable=True)
    mlflow.set_tracking_uri(None)


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"


@pytest.fixture(scope="session")
def running_server(empty_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a real MLflow server."""
    folder, port = tmp_path_factory.mktemp("server"), free_port()
    shutil.copy(empty_store, folder / "mlflow.db")
    server = start_server(folder, port)
    try:
        while True:  # pytest's limit on a test's time is the watchdog
            try:
                requests.get(f"http://127.0.0.1:{port}/health", timeout=1)
                break
            except requests.exceptions.RequestException:
                assert server.poll() is None, (folder / "server.log").read_text()
                time.sleep(0.25)
        yield port
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=LIMIT)


@pytest.fixture
def server(
    client: MlflowClient, running_server: int, monkeypatch: pytest.MonkeyPatch
) -> MlflowClient:
    """A client of the real server, which is MLflow's current one and may be slow."""
    # MLflow draws the pauses before it asks again from Python's global random state.
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_BACKOFF_JITTER", "0")
    monkeypatch.setattr(servers, "REACH_SECONDS", 60.0)
    monkeypatch.setattr(delivery, "WAIT_SECONDS", 60.0)
    mlflow.set_tracking_uri(f"http://127.0.0.1:{running_server}")
    return MlflowClient()


@pytest.fixture
def experiment(
    server: MlflowClient, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> str:
    created = str(server.create_experiment(request.node.name))
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", created)
    return created
