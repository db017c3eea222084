"""The cost of the last of many tests in one MLflow run compared with the first.

    python studies/benchmarks/mlflow_growth.py --stores file sqlite http

logs one result 300 times into one run each of a file store, a SQLite store and a local server. It
prints what the first ten and the last ten cost: the median in seconds by the clock, the mean in
seconds of the processor, those of the server among them, and how often the server was asked.
The first ten are those of another run, by turns with the last ten: so a machine that is busy is
as busy for both.
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
from contextlib import ExitStack, contextmanager
from statistics import fmean, median
from typing import Any, NamedTuple
from unittest.mock import patch

import mlflow
import numpy as np
import psutil
import requests
import ucvtest_mlflow
from mlflow import MlflowClient

import ucvtest as uv

N_TESTS = 300
N_ENDS = 10


STORES = ("file", "sqlite", "http")


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


@contextmanager
def counted_requests() -> Iterator[Counter[str]]:
    """How often servers are asked for what in this context, without the names of artifacts."""
    counts: Counter[str] = Counter()
    send = requests.Session.send

    def count(session: Any, request: Any, **options: Any) -> Any:
        path = request.path_url.partition("?")[0].partition("/artifacts/")[0]
        counts[f"{request.method} {path}"] += 1
        return send(session, request, **options)

    with patch.object(requests.Session, "send", count):
        yield counts


def processor_seconds() -> float:
    """What this process and those that it has started have used, all threads together."""
    times = [process.cpu_times() for process in psutil.Process().children(recursive=True)]
    return time.process_time() + sum(each.user + each.system for each in times)


class Cost(NamedTuple):
    """What logging one result takes."""

    seconds: float
    processor: float
    requests: Counter[str]


def cost_of_one(run_id: str, result: uv.TestResult) -> Cost:
    """Log a result into a run, and look at clocks meanwhile."""
    with mlflow.start_run(run_id=run_id), counted_requests() as requested:
        start, used = time.perf_counter(), processor_seconds()
        uv.hooks.announce(None, result)
        end, used_by_then = time.perf_counter(), processor_seconds()
        # Not what ends the run.
        counts = requested.copy()
    return Cost(end - start, used_by_then - used, counts)


def log_into(uri: str, n_tests: int, result: uv.TestResult, *, plots: bool) -> None:
    """Log into one run, and print what the ends cost."""
    mlflow.set_tracking_uri(uri)
    # Of the store itself, so that a server takes the artifacts too.
    mlflow.set_experiment("growth")
    ucvtest_mlflow.autolog(silent=True, log_plots=plots)
    new, full = (mlflow.start_run(run_name=name, nested=True).info.run_id for name in "ab")
    for _ in range(2):
        mlflow.end_run()
    # The first one of a process looks at the run.
    cost_of_one(new, result)
    with mlflow.start_run(run_id=full):
        for _ in range(n_tests - N_ENDS):
            uv.hooks.announce(None, result)
    pairs = [(cost_of_one(new, result), cost_of_one(full, result)) for _ in range(N_ENDS)]
    ucvtest_mlflow.autolog(disable=True)
    first, last = (list(costs) for costs in zip(*pairs, strict=True))
    print(f"{uri.partition(':')[0]}:")
    clock = [median(cost.seconds for cost in costs) for costs in (first, last)]
    # The processor's seconds of others come in hundredths, so that their mean says more.
    processor = [fmean(cost.processor for cost in costs) for costs in (first, last)]
    for unit, (at_first, at_last) in (("s", clock), ("s of the processor", processor)):
        ratio = at_last / at_first
        print(f"    {at_first:.3f} {unit} at first, {at_last:.3f} at last, ratio {ratio:.2f}")
    n_first, n_last = (costs[-1].requests.total() for costs in (first, last))
    print(f"    {n_first} requests at first, {n_last} at last")
    for name, times in last[-1].requests.items():
        print(f"        {times} {name}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--stores", nargs="+", choices=STORES, default=STORES)
    parser.add_argument("--quick", action="store_true", help="thirty tests")
    parser.add_argument("--plots", action="store_true", help="with pictures, which cost most")
    given = parser.parse_args()
    n_tests = 3 * N_ENDS if given.quick else N_TESTS
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 10)) + 0.5 * y[:, None]
    result = uv.CorrectedTTest(X, y, "lda", "nearest_centroid").fit(rng=0)
    os.environ |= {
        # The machine may be busy: nothing is to be kept for later.
        "MLFLOW_HTTP_REQUEST_TIMEOUT": "300",
        "MLFLOW_ALLOW_FILE_STORE": "true",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    }
    for store in given.stores:
        with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
            os.chdir(name)
            stack.callback(os.chdir, "/")
            os.environ["XDG_STATE_HOME"] = name
            local = {"file": f"file:{name}/mlruns", "sqlite": f"sqlite:///{name}/mlflow.db"}
            uri = local.get(store) or stack.enter_context(server(name))
            log_into(uri, n_tests, result, plots=given.plots)


if __name__ == "__main__":
    main()
