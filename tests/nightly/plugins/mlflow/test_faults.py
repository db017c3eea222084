"""Servers that fail, between the plugin and a real one: nothing lost, nothing logged twice."""

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest

from ucvtest import UcvtestWarning

pytest.importorskip("mlflow", reason="MLflow is missing: pip install 'ucvtest[mlflow]'")

import mlflow
import ucvtest_mlflow as um
from mlflow import MlflowClient
from mlflow.entities import ViewType
from ucvtest_mlflow import hook
from ucvtest_mlflow.delivery import keys_of
from ucvtest_mlflow.records import Record

from tests.support.mlflow_faults import FAULTS, PLACES, Proxy, proxied
from tests.support.mlflow_runs import RESULT, WARNINGS, finish, keep, new_run, same
from tests.support.processes import LIMIT

pytestmark = WARNINGS


@pytest.fixture
def proxy(
    server: MlflowClient,
    experiment: str,
    running_server: int,
    spool: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Proxy]:
    """A stand-in that is MLflow's current server; MLflow repeats requests once, and at once."""
    for name, value in (("MAX_RETRIES", "1"), ("BACKOFF_FACTOR", "0")):
        monkeypatch.setenv(f"MLFLOW_HTTP_REQUEST_{name}", value)
    with proxied(running_server) as proxy:
        mlflow.set_tracking_uri(proxy.uri)
        um.autolog(spool_dir=spool, log_plots=False)
        yield proxy
        um.autolog(disable=True)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Little patience with the server, until this is undone."""
    with monkeypatch.context() as patch:
        patch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
        yield patch


def finish_in_spite(times: int = 1) -> None:
    """End tests; what is said of failures is for other tests to look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UcvtestWarning)
        for _ in range(times):
            finish()


def flush_all(spool: Path) -> None:
    """Send what waits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UcvtestWarning)
        um.flush_spool(spool)
    assert list(spool.iterdir()) == []


def require_once(server: MlflowClient, experiment: str, n_runs: int = 1) -> None:
    """Every run of the experiment contains one whole result, and there are no more and no fewer."""
    # Those that MLflow made twice because it repeats itself are deleted.
    runs = server.search_runs([experiment], run_view_type=ViewType.ACTIVE_ONLY)
    assert [run.info.status for run in runs] == ["FINISHED"] * n_runs
    for run in runs:
        assert keys_of(run) == ["lda_vs_knn_3.ustatistic"]
        assert same(um.load_result(run.info.run_id), RESULT)
        assert len(run.inputs.dataset_inputs) <= 1
        for name in run.data.metrics:
            assert len(server.get_metric_history(run.info.run_id, name)) == 1
        assert (
            mlflow.load_table(
                "ucvtest/lda_vs_knn_3.ustatistic/variances.json", [run.info.run_id]
            ).size
            == 3
        )


def survive(
    proxy: Proxy,
    server: MlflowClient,
    experiment: str,
    spool: Path,
    patch: pytest.MonkeyPatch,
    fault: str,
    place: str,
    *,
    own_run: bool,
) -> None:
    """Two results under a fault, and both once in MLflow after it."""
    if own_run:
        proxy.fail(fault, PLACES[place])
        finish_in_spite()
    else:
        # Its end, which is the user's, comes after the fault.
        with new_run():
            proxy.fail(fault, PLACES[place])
            finish_in_spite()
            proxy.mend()
    proxy.mend()
    patch.undo()
    flush_all(spool)
    require_once(server, experiment)


QUICK = [
    # By turns: the slow test has every fault in every place.
    *zip(FAULTS, cycle(("new run", "numbers")), strict=False),
    # Taken for done by MLflow, and not done.
    ("wrong JSON", "files"),
    ("wrong JSON", "key"),
    ("wrong JSON", "numbers"),
    ("wrong JSON", "end of the run"),
]


@pytest.mark.parametrize(("fault", "place"), QUICK)
def test_nothing_is_lost_and_nothing_is_twice(
    proxy: Proxy,
    server: MlflowClient,
    experiment: str,
    spool: Path,
    impatient: pytest.MonkeyPatch,
    fault: str,
    place: str,
) -> None:
    own_run = place in ("new run", "end of the run")
    survive(proxy, server, experiment, spool, impatient, fault, place, own_run=own_run)


# In the user's run there is none to make, and none to end.
IN_ANY_RUN = [place for place in PLACES if place not in ("new run", "search", "end of the run")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own_run", "place"),
    [
        *((True, place) for place in PLACES if place != "key"),
        *((False, place) for place in IN_ANY_RUN),
    ],
)
@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_lost_and_nothing_is_twice_wherever_it_happens(
    proxy: Proxy,
    server: MlflowClient,
    experiment: str,
    spool: Path,
    impatient: pytest.MonkeyPatch,
    fault: str,
    place: str,
    own_run: bool,
) -> None:
    survive(proxy, server, experiment, spool, impatient, fault, place, own_run=own_run)


def test_a_run_that_is_deleted_in_between(
    proxy: Proxy, server: MlflowClient, experiment: str, spool: Path
) -> None:
    with new_run() as run:
        server.delete_run(run.info.run_id)
        with pytest.warns(UcvtestWarning, match=r"not in MLflow.*must be in the 'active' state"):
            finish()
        with pytest.warns(UcvtestWarning, match="must be in the 'active' state"):
            assert um.flush_spool(spool) == []
        server.restore_run(run.info.run_id)
        flush_all(spool)
    require_once(server, experiment)


# ------------------------------------------------------------------------------ processes


def flushing(spool: Path, proxy: Proxy) -> subprocess.Popen[bytes]:
    code = "import sys, ucvtest_mlflow; ucvtest_mlflow.flush_spool(sys.argv[1])"
    environment = {**os.environ, "MLFLOW_TRACKING_URI": proxy.uri, "PYTHONWARNINGS": "ignore"}
    return subprocess.Popen([sys.executable, "-c", code, str(spool)], env=environment)


def record(proxy: Proxy, experiment: str) -> Record:
    return Record(RESULT, proxy.uri, experiment_id=experiment, log_plots=False)


KILLED_AT = [
    pytest.param("hangs in the body", "new run"),
    pytest.param("hangs in the body", "numbers"),
    pytest.param("hangs before the headers", "numbers", marks=pytest.mark.slow),
    pytest.param("hangs in the body", "files", marks=pytest.mark.slow),
    pytest.param("hangs in the body", "run", marks=pytest.mark.slow),
    pytest.param("hangs in the body", "end of the run", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("fault", "place"), KILLED_AT)
def test_a_flush_that_is_killed(
    proxy: Proxy, server: MlflowClient, experiment: str, spool: Path, fault: str, place: str
) -> None:
    keep(spool, *[record(proxy, experiment) for _ in range(2)])
    proxy.fail(fault, PLACES[place])
    flush = flushing(spool, proxy)
    try:
        assert proxy.caught.wait(LIMIT)
    finally:
        flush.kill()
        flush.wait(LIMIT)
    proxy.mend()
    flush_all(spool)
    require_once(server, experiment, 2)


def test_two_processes_that_flush_at_once(
    proxy: Proxy, server: MlflowClient, experiment: str, spool: Path
) -> None:
    keep(spool, *[record(proxy, experiment) for _ in range(4)])
    # Held until both are there, one at the first file and one at the next.
    proxy.fail("hangs before the headers", PLACES["new run"])
    flushes = [flushing(spool, proxy) for _ in range(2)]
    assert proxy.caught.wait(LIMIT)
    proxy.mend()
    assert [flush.wait(LIMIT) for flush in flushes] == [0, 0]
    flush_all(spool)
    require_once(server, experiment, 4)


# ------------------------------------------------------------------------------ waiting


@pytest.mark.parametrize("place", ["everywhere", "new run"])
@pytest.mark.parametrize("fault", ["hangs before the headers", "hangs in the body"])
def test_what_a_hanging_server_costs(
    server: MlflowClient,
    running_server: int,
    spool: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    place: str,
) -> None:
    """The limits of one request: the other nine tests do not ask."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setattr(hook, "LONG_SECONDS", 0.5)
    with proxied(running_server) as proxy:
        mlflow.set_tracking_uri(proxy.uri)
        um.autolog(spool_dir=spool, log_plots=False)
        proxy.fail(fault, PLACES[place])
        asked = set()
        for number in range(10):
            reason = "has kept an earlier test waiting" if number else "it is kept in"
            with pytest.warns(UcvtestWarning, match=reason):
                finish()
            asked.add(len(proxy.paths))
    assert len(asked) == 1
    assert len(list(spool.iterdir())) == 10
