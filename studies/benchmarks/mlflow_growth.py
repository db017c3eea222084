"""What the last of many tests in one MLflow run costs beside the first.

    python studies/benchmarks/mlflow_growth.py

logs one result 300 times into one run each of a file store, a SQLite store and a local server, and
prints medians of the first ten and the last ten in seconds, and how often the server was asked.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any
from unittest.mock import patch

import mlflow
import numpy as np
import requests
import ucvtest_mlflow
from mlflow import MlflowClient
from ucvtest_mlflow import delivery

import ucvtest as uv

N_TESTS = 300
N_ENDS = 10


@contextmanager
def server(folder: str) -> Iterator[str]:
    """The address of an MLflow server with a SQLite store."""
    MlflowClient(f"sqlite:///{folder}/server.db").search_experiments()  # creates the tables
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder}/server.db"]
    command += ["--artifacts-destination", f"{folder}/artifacts"]
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = subprocess.Popen(command, start_new_session=True, **quiet)
    address = f"http://127.0.0.1:{port}"
    try:
        while running.poll() is None:
            try:
                requests.get(f"{address}/health", timeout=1)
                break
            except requests.exceptions.RequestException:
                time.sleep(0.5)
        yield address
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait()


def log_into(uri: str, n_tests: int, result: uv.TestResult, *, plots: bool) -> None:
    """Log into one run, and print what the ends cost."""
    mlflow.set_tracking_uri(uri)
    # Of the store itself, so that a server takes the artifacts too.
    mlflow.set_experiment("growth")
    ucvtest_mlflow.autolog(silent=True, log_plots=plots)
    asked: list[str] = []
    send = requests.Session.send

    def count(session: Any, request: Any, **options: Any) -> Any:
        asked.append(f"{request.method} {request.path_url.partition('?')[0]}")
        return send(session, request, **options)

    seconds, requested = [], []
    with mlflow.start_run(run_name="growth"), patch.object(requests.Session, "send", count):
        for _ in range(n_tests):
            asked.clear()
            start = time.perf_counter()
            uv.hooks.announce(None, result)
            seconds.append(time.perf_counter() - start)
            requested.append(Counter(each.partition("/artifacts/")[0] for each in asked))
    ucvtest_mlflow.autolog(disable=True)
    # The first one looks at the run.
    first, last = median(seconds[1 : N_ENDS + 1]), median(seconds[-N_ENDS:])
    print(f"{uri.partition(':')[0]}: {first:.3f} s at first, {last:.3f} s at last,", end=" ")
    print(f"ratio {last / first:.2f}; requests {requested[1].total()}, {requested[-1].total()}")
    for name, times in requested[-1].items():
        print(f"    {times} {name}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="thirty tests")
    parser.add_argument("--plots", action="store_true", help="with pictures, which cost most")
    given = parser.parse_args()
    n_tests = 3 * N_ENDS if given.quick else N_TESTS
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 10)) + 0.5 * y[:, None]
    result = uv.CorrectedTTest(X, y, "lda", "nearest_centroid").fit(rng=0)
    # The machine may be busy: nothing is to be kept for later.
    delivery.WAIT_SECONDS = 300
    os.environ |= {
        "MLFLOW_ALLOW_FILE_STORE": "true",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    }
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        os.environ["XDG_STATE_HOME"] = name
        for uri in (f"file:{name}/mlruns", f"sqlite:///{name}/mlflow.db"):
            log_into(uri, n_tests, result, plots=given.plots)
        with server(name) as uri:
            log_into(uri, n_tests, result, plots=given.plots)
        os.chdir("/")


if __name__ == "__main__":
    main()
