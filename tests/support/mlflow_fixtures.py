"""Stores and a real server for the tests of the MLflow plugin."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any

import mlflow
import mlflow.store.db.utils
import pytest
import requests
import ucvtest_mlflow as um
from mlflow import MlflowClient
from ucvtest_mlflow import delivery, hook

from tests.support.made_once import made_once
from tests.support.mlflow_runs import RESULT, free_port, start_server
from tests.support.processes import LIMIT
from ucvtest import TestResult


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store after its migrations, which take seconds: made once, copied for each test."""
    return made_once(tmp_path_factory, "empty_store", make_store) / "mlflow.db"


def make_store(folder: Path) -> None:
    """Let MLflow make a store, whose artifacts it puts below the working directory."""
    with chdir(folder):
        MlflowClient(tracking_uri=f"sqlite:///{folder}/mlflow.db").search_experiments()


latest_schema = cache(mlflow.store.db.utils._get_latest_schema_revision)
save_plot = TestResult.save_plot
PICTURES: dict[tuple[str, str], bytes] = {}


def draw_once(result: TestResult, path: Path, **options: Any) -> None:
    """Draw the sample result, which most tests log, a single time."""
    if result is not RESULT:
        save_plot(result, path, **options)
        return
    place = path.suffix, repr(options)
    if place not in PICTURES:
        save_plot(result, path, **options)
        PICTURES[place] = path.read_bytes()
    path.write_bytes(PICTURES[place])


@pytest.fixture
def client(
    empty_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MlflowClient]:
    """A client of a fresh store that is MLflow's current one."""
    shutil.copy(empty_store, tmp_path / "mlflow.db")
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    # MLflow draws the pauses before it inserts again, which threads make it do, and before it asks
    # again from Python's global random state.
    monkeypatch.setattr("mlflow.store.tracking.sqlalchemy_store.random", random.Random())
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_BACKOFF_JITTER", "0")
    # Servers, which may be slow, are waited for; tests of waiting have limits of their own.
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", str(LIMIT))
    monkeypatch.setattr(hook, "LONG_SECONDS", LIMIT)
    monkeypatch.setattr(delivery, "_runs", {})
    # One and the same for all stores, and read from seventy files.
    monkeypatch.setattr("mlflow.store.db.utils._get_latest_schema_revision", latest_schema)
    monkeypatch.setattr(TestResult, "save_plot", draw_once)
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
    folder = tmp_path_factory.mktemp("server")
    shutil.copy(empty_store, folder / "mlflow.db")
    for _ in range(5):
        # Somebody else may take it before the server does.
        port = free_port()
        server = start_server(folder, port)
        if _answers(server, port):
            break
    else:
        pytest.fail((folder / "server.log").read_text())
    try:
        yield port
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=LIMIT)


def _answers(server: subprocess.Popen[bytes], port: int) -> bool:
    """Whether the server lives once its port answers."""
    while server.poll() is None:  # pytest's limit on a test's time is the watchdog
        try:
            requests.get(f"http://127.0.0.1:{port}/health", timeout=1)
        except requests.exceptions.RequestException:
            time.sleep(0.25)
        else:
            return server.poll() is None
    return False


@pytest.fixture
def server(client: MlflowClient, running_server: int) -> MlflowClient:
    """A client of the real server, which is MLflow's current one."""
    mlflow.set_tracking_uri(f"http://127.0.0.1:{running_server}")
    return MlflowClient()


@pytest.fixture
def experiment(
    server: MlflowClient, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> str:
    created = str(server.create_experiment(request.node.name))
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", created)
    return created
