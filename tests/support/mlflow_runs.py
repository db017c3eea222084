"""Common parts of the tests of the MLflow plugin: a result, its log, and servers that fail."""

import math
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mlflow
import numpy as np
import pytest
from mlflow import MlflowClient
from sklearn.tree import DecisionTreeClassifier
from ucvtest_mlflow.records import Record, Spool

from tests.support.results import sample_result
from ucvtest import TestResult, hooks

WARNINGS = [
    pytest.mark.seconds(60, reason="MLflow's stores, servers and models"),
    # MLflow's dependencies, not this package, speak of their own deprecations.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SADeprecationWarning"),
    # MLflow leaves SQLite connections to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


RESULT = sample_result(
    method="U-statistic test of the complete error estimate",
    n_obs=20,
    settings={"learner": "lda", "other": "knn:3", "learn_size": 9, "max_fits": None},
    diagnostics={"variance": "unbiased", "curve": np.array([1.0, math.nan])},
    notes=("Independent observations.",),
    tables={"Variances": {"variance": ("unbiased",), "conf_low": (-0.35,), "conf_high": (0.07,)}},
)
KEY = "lda_vs_knn_3.ustatistic"
"""What it is called in a run."""
VARIANCES = f"ucvtest/{KEY}/variances.json"
X = np.random.default_rng(0).normal(size=(20, 3))


Y = np.array(["no", "yes"] * 10)


TEST = SimpleNamespace(sample=SimpleNamespace(features=X, response=Y))


class SwitchingTree(DecisionTreeClassifier):
    """Turns MLflow's autologging on in every process that it travels to."""

    def __init__(self, uri: str = "") -> None:
        super().__init__(max_depth=1, random_state=0)
        self.uri = uri

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        mlflow.set_tracking_uri(self.uri)
        mlflow.sklearn.autolog(silent=True)


def finish(result: TestResult = RESULT, test: Any = TEST) -> None:
    """What a test class does around its resampling."""
    with hooks.fitting(test):
        pass
    hooks.announce(test, result)


def interrupt(*args: Any, **kwargs: Any) -> None:
    """A call that Ctrl-C ends."""
    raise KeyboardInterrupt


def runs(client: MlflowClient) -> list[Any]:
    return list(client.search_runs(["0"], order_by=["attributes.start_time"]))


def files(client: MlflowClient, run_id: str, key: str = KEY) -> set[str]:
    return {Path(item.path).name for item in client.list_artifacts(run_id, f"ucvtest/{key}")}


def same(left: TestResult, right: TestResult) -> bool:
    return left.to_json() == right.to_json()


def keep(spool: Path, *records: Record) -> None:
    """What attempts to send them leave behind."""
    for record in records:
        with suppress(ConnectionError), Spool(spool).keep(record):
            raise ConnectionError


def new_run() -> Any:
    # A name of our own: MLflow draws its names from Python's global random state.
    return mlflow.start_run(run_name="mine")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def hanging_server() -> Iterator[str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def closed_port() -> Iterator[str]:
    """An address where nobody listens; the socket that is bound to it does not listen."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def start_server(folder: Path, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db"]
    command += ["--artifacts-destination", str(folder / "artifacts")]
    # Without MLflow's runner of background jobs the server starts in half the time.
    environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with (folder / "server.log").open("w") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, env=environment, start_new_session=True
        )


@contextmanager
def forwarding(listener: socket.socket, to: int) -> Iterator[None]:
    """What listens on a port is, from now on, what listens at the address of a socket."""

    def copy(source: socket.socket, sink: socket.socket) -> None:
        # Ends with whichever end closes first.
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def serve() -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", to))
            ends.extend((near, far))
            for pair in ((near, far), (far, near)):
                threading.Thread(target=copy, args=pair, daemon=True).start()

    ends: list[socket.socket] = []
    listener.listen()
    threading.Thread(target=serve, daemon=True).start()
    yield
    listener.shutdown(socket.SHUT_RDWR)
    for end in ends:
        end.close()
