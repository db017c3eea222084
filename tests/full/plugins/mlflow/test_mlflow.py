"""Logging to a real MLflow store: SQLite files, and one real server."""

import importlib
import itertools
import json
import logging
import math
import os
import platform
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import requests

import ucvtest as uv
from ucvtest import TestResult, UcvtestWarning, autologging, cli, hooks
from ucvtest.autologging import AutologByEnvironment
from ucvtest.common.plugins import mlflow_function

pytest.importorskip("mlflow", reason="MLflow is missing: pip install 'ucvtest[mlflow]'")

import mlflow
import mlflow.sklearn
import mlflow.statsmodels
import ucvtest_mlflow as um
from joblib import parallel_config
from mlflow import MlflowClient
from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository
from mlflow.store.tracking.dbmodels.models import (
    SqlDataset,
    SqlExperiment,
    SqlInput,
    SqlInputTag,
)
from mlflow.utils import autologging_utils
from mlflow.utils.file_utils import local_file_uri_to_path
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sqlalchemy import event
from sqlalchemy.orm import Session
from statsmodels.regression.linear_model import OLS
from typer.testing import CliRunner
from ucvtest_mlflow import content, delivery, keys, locks, servers
from ucvtest_mlflow.hook import AutologHook
from ucvtest_mlflow.keys import keys_of
from ucvtest_mlflow.records import Record
from ucvtest_mlflow.spool import Spool, default_spool_dir

from studies.benchmarks.mlflow_growth import counted_requests
from tests.support.mlflow_runs import (
    KEY,
    PATIENT,
    RESULT,
    TEST,
    VARIANCES,
    WARNINGS,
    SwitchingTree,
    X,
    Y,
    closed_port,
    files,
    finish,
    forwarding,
    hanging_server,
    interrupt,
    keep,
    new_run,
    runs,
    same,
)
from tests.support.processes import LIMIT

pytestmark = WARNINGS


# -------------------------------------------------------------------------- what is logged


def test_own_run(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    finish()
    (run,) = runs(client)
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "lda vs knn:3 (ustatistic)"
    # The run shows how long the test took.
    assert run.info.end_time - run.info.start_time >= 24300
    assert run.data.tags["mlflow.autologging"] == "ucvtest"
    # The page shows blocks of code as they are, and tables without lines.
    note = run.data.tags["mlflow.note.content"]
    assert note.startswith(f"**{RESULT.verdict}**\n\n```\n")
    assert "\nfirst - second " in note
    assert "Verdict" not in note
    assert run.data.tags["mlflow.source.name"]
    key = f"ucvtest.{KEY}"
    assert run.data.params == {
        f"{key}.alpha": "0.05",
        f"{key}.learner": "lda",
        f"{key}.other": "knn:3",
        f"{key}.learn_size": "9",
    }
    tags = run.data.tags
    assert (tags[f"{key}.seconds"], tags[f"{key}.n_fits"]) == ("24.3", "8000")
    assert len(tags[f"{key}.uuid"]) == 32
    (data,) = run.inputs.dataset_inputs
    assert tags[f"{key}.dataset"] == data.dataset.digest
    low, high = RESULT.conf_int()
    assert run.data.metrics == {
        "ucvtest.lda_vs_knn_3.ustatistic/estimate": -0.14,
        "ucvtest.lda_vs_knn_3.ustatistic/se": 0.107,
        "ucvtest.lda_vs_knn_3.ustatistic/statistic": -1.31,
        "ucvtest.lda_vs_knn_3.ustatistic/pvalue": 0.19,
        "ucvtest.lda_vs_knn_3.ustatistic/conf_low": low,
        "ucvtest.lda_vs_knn_3.ustatistic/conf_high": high,
        # Short ones, which the page of a run shows whole.
        "ucvtest.estimate": -0.14,
        "ucvtest.pvalue": 0.19,
        "ucvtest.conf_low": low,
        "ucvtest.conf_high": high,
    }
    assert run.data.tags["ucvtest.lda_vs_knn_3.ustatistic.verdict"] == RESULT.verdict
    assert run.data.tags["ucvtest.lda_vs_knn_3.ustatistic.status"] == "ok"
    assert run.data.tags["ucvtest.version"] == uv.__version__
    assert list(spool.iterdir()) == []


def test_the_first_result_of_a_run_that_somebody_opened_has_short_names(
    client: MlflowClient,
) -> None:
    with mlflow.start_run(run_name="mine") as run:
        mlflow.log_metric("accuracy", 0.9)
        um.log_result(RESULT)
        um.log_result(replace(RESULT, estimate=0.5))
    data = client.get_run(run.info.run_id).data
    assert data.metrics["ucvtest.estimate"] == RESULT.estimate
    assert data.metrics["ucvtest.lda_vs_knn_3.ustatistic.2/estimate"] == 0.5
    assert data.tags["ucvtest.verdict"] == RESULT.verdict


def test_artifacts(client: MlflowClient, spool: Path, tmp_path: Path) -> None:
    um.autolog(spool_dir=spool)
    finish()
    (run,) = runs(client)
    names = {
        "plot.png",
        "summary.md",
        "summary.txt",
        "methods.txt",
        "result.json",
        "variances.json",
    }
    assert files(client, run.info.run_id) == names
    folder = Path(client.download_artifacts(run.info.run_id, f"ucvtest/{KEY}", str(tmp_path)))
    assert (folder / "summary.txt").read_text() == RESULT.summary(notes=True).as_text() + "\n"
    assert (folder / "methods.txt").read_text().startswith(RESULT.methods_text())
    assert (folder / "summary.md").read_text() == RESULT.summary().as_markdown()
    assert (folder / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert same(TestResult.from_dict(json.loads((folder / "result.json").read_text())), RESULT)
    table = mlflow.load_table(VARIANCES, run_ids=[run.info.run_id])
    assert list(table.columns) == ["variance", "conf_low", "conf_high"]
    assert table.loc[0].tolist() == ["unbiased", pytest.approx(-0.35), pytest.approx(0.07)]


def test_open_ends_of_intervals_in_tables(client: MlflowClient) -> None:
    table = {"variance": ("a", "b"), "conf_low": (-math.inf, math.nan)}
    logged = um.log_result(replace(RESULT, tables={"Variances": table}))
    found = mlflow.load_table(VARIANCES, run_ids=[logged.run_id])
    assert float(found["conf_low"][0]) == -math.inf
    assert pd.isna(found["conf_low"][1])


@pytest.mark.parametrize("features", [X, pd.DataFrame(X, columns=["a", "b", "response"])])
def test_dataset(client: MlflowClient, spool: Path, features: Any) -> None:
    um.autolog(spool_dir=spool)
    test = SimpleNamespace(sample=SimpleNamespace(features=features, response=Y))
    with new_run() as run:
        finish(test=test)
        finish(test=test)
    (item,) = client.get_run(run.info.run_id).inputs.dataset_inputs
    assert item.dataset.name == "sample 20 x 3"
    assert item.dataset.digest
    assert [(tag.key, tag.value) for tag in item.tags] == [("mlflow.data.context", "ucvtest")]
    other = SimpleNamespace(sample=SimpleNamespace(features=features * 2, response=Y))
    assert content.describe_data(other)["digest"] != item.dataset.digest
    if isinstance(features, pd.DataFrame):
        assert "response_" in item.dataset.schema


def test_data_that_the_user_has_logged_are_not_logged_again(
    client: MlflowClient, spool: Path
) -> None:
    """Whichever columns they have, in which order, they are known by their digest."""
    um.autolog(spool_dir=spool, log_plots=False)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    everything = table.assign(ill=Y)[["c", "ill", "a", "b"]]
    users = {
        "all": mlflow.data.from_pandas(everything, targets="ill"),
        "features": mlflow.data.from_pandas(table),
        "arrays": mlflow.data.from_numpy(X, targets=Y),
    }
    for name, dataset in users.items():
        features = X if name == "arrays" else table
        test = SimpleNamespace(sample=SimpleNamespace(features=features, response=Y))
        with new_run() as run:
            mlflow.log_input(dataset)
            finish(test=test)
        found = client.get_run(run.info.run_id)
        assert [each.dataset.digest for each in found.inputs.dataset_inputs] == [dataset.digest]
        assert found.data.tags[f"ucvtest.{KEY}.dataset"] == dataset.digest
    # Others' data are left alone.
    with new_run() as run:
        mlflow.log_input(mlflow.data.from_pandas(everything.iloc[::-1], targets="ill"))
        finish(test=SimpleNamespace(sample=SimpleNamespace(features=table, response=Y)))
    assert len(client.get_run(run.info.run_id).inputs.dataset_inputs) == 2


def test_the_picture_is_among_the_charts_of_the_run(client: MlflowClient, spool: Path) -> None:
    """Under the names that MLflow gives, as its pages show nothing else."""
    um.autolog(spool_dir=spool)
    finish()
    (run,) = runs(client)
    assert run.data.tags["mlflow.loggedImages"] == "True"
    with new_run() as other:
        state = random.getstate()
        name = f"ucvtest.{KEY}/plot" if content.IN_IMAGE_NAMES == "+" else KEY
        client.log_image(other.info.run_id, np.zeros((9, 9), dtype=np.uint8), key=name, step=0)
        random.setstate(state)

    def names(run_id: str) -> list[str]:
        """Without the time and the number, which are of one picture."""
        listed = client.list_artifacts(run_id, "images")
        return sorted(
            re.sub(r"\d{13}.[a-z0-9-]{32,36}", "", Path(each.path).name) for each in listed
        )

    assert names(run.info.run_id) == names(other.info.run_id)


def test_dataset_that_mlflow_cannot_describe(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    broken = SimpleNamespace(
        sample=SimpleNamespace(features=SimpleNamespace(shape=(3, 3)), response=Y)
    )
    with pytest.warns(UcvtestWarning, match="^the data set is not logged to MLflow"):
        finish(test=broken)
    (run,) = runs(client)
    assert run.inputs.dataset_inputs == []


@pytest.mark.parametrize(
    ("option", "gone"),
    [("log_plots", "plot.png"), ("log_tables", "variances.json"), ("log_datasets", "data set")],
)
def test_options_leave_parts_out(client: MlflowClient, spool: Path, option: str, gone: str) -> None:
    um.autolog(spool_dir=spool, **{option: False})
    finish()
    (run,) = runs(client)
    found = files(client, run.info.run_id)
    if run.inputs.dataset_inputs:
        found.add("data set")
    everything = {
        *("plot.png", "summary.md", "summary.txt", "methods.txt"),
        *("result.json", "variances.json"),
    }
    assert found == (everything | {"data set"}) - {gone}


def test_values_without_a_number_are_tags(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    finish(replace(RESULT, alternative="less", pvalue=math.nan, status="too few resamples"))
    (run,) = runs(client)
    assert run.data.tags["ucvtest.lda_vs_knn_3.ustatistic.conf_low"] == "-inf"
    assert run.data.tags["ucvtest.lda_vs_knn_3.ustatistic.pvalue"] == "nan"
    assert run.data.tags["ucvtest.lda_vs_knn_3.ustatistic.status"] == "too few resamples"
    assert "ucvtest.lda_vs_knn_3.ustatistic/pvalue" not in run.data.metrics
    assert "ucvtest.lda_vs_knn_3.ustatistic/conf_low" not in run.data.metrics


def test_long_settings_are_cut_and_kept_whole_in_the_result(client: MlflowClient) -> None:
    result = replace(RESULT, settings={"learner": "x" * 9000, "other": None})
    logged = um.log_result(result)
    run = client.get_run(logged.run_id)
    value = run.data.params[f"ucvtest.{logged.key}.learner"]
    assert (len(value), value[-5:]) == (500, "x ...")
    assert run.info.run_name == "x" * 36 + " ... (ustatistic)"
    assert same(um.load_result(logged.run_id), result)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("U-statistic test of the complete error estimate", "ustatistic"),
        ("Influence function test", "influence_function"),
        ("Leave-pair-out test (permutation)", "leavepairout"),
        ("???", "test"),
    ],
)
def test_kind(method: str, expected: str) -> None:
    assert content.kind(replace(RESULT, method=method)) == expected


# ------------------------------------------------------------------------ where it is logged


def test_two_tests_in_the_active_run(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    second = replace(RESULT, estimate=0.5, settings={"learner": "qda"})
    with new_run() as run:
        finish()
        finish(second)
        finish(replace(RESULT, method="Other test"))
    (found,) = runs(client)
    assert found.info.run_id == run.info.run_id
    assert "mlflow.note.content" not in found.data.tags
    assert "mlflow.autologging" not in found.data.tags
    assert found.data.metrics["ucvtest.lda_vs_knn_3.ustatistic/estimate"] == -0.14
    assert found.data.metrics["ucvtest.qda.ustatistic/estimate"] == 0.5
    assert found.data.metrics["ucvtest.lda_vs_knn_3.other/estimate"] == -0.14
    assert found.data.params["ucvtest.qda.ustatistic.learner"] == "qda"
    assert same(um.load_result(run.info.run_id, KEY), RESULT)
    assert same(um.load_result(run.info.run_id, "qda.ustatistic"), second)


def test_the_run_stays_active(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    with new_run() as run:
        finish()
        assert mlflow.active_run().info.run_id == run.info.run_id
        assert client.get_run(run.info.run_id).info.status == "RUNNING"
    finish()
    assert mlflow.active_run() is None


def test_nested(client: MlflowClient, spool: Path) -> None:
    um.autolog(nested=True, spool_dir=spool)
    with new_run() as parent:
        finish()
        finish()
    children = [run for run in runs(client) if run.info.run_id != parent.info.run_id]
    assert [run.data.tags["mlflow.parentRunId"] for run in children] == [parent.info.run_id] * 2
    assert [run.info.status for run in children] == ["FINISHED"] * 2
    assert client.get_run(parent.info.run_id).data.metrics == {}


def test_experiment_by_name_and_by_id(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    um.autolog(spool_dir=spool)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "trial")
    finish()
    finish()
    trial = client.get_experiment_by_name("trial").experiment_id
    assert len(client.search_runs([trial])) == 2
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", trial)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME")
    finish()
    assert len(client.search_runs([trial])) == 3
    assert runs(client) == []


def test_run_named_by_the_environment(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    um.autolog(spool_dir=spool)
    run = client.create_run("0", run_name="project")
    monkeypatch.setenv("MLFLOW_RUN_ID", run.info.run_id)
    finish()
    assert [found.info.run_id for found in runs(client)] == [run.info.run_id]
    assert client.get_run(run.info.run_id).info.status == "RUNNING"


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


def test_an_experiment_that_cannot_be_made(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    um.autolog(spool_dir=spool, log_plots=False)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "trial")

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise mlflow.MlflowException("no experiments here")

    monkeypatch.setattr(MlflowClient, "create_experiment", refuse)
    with pytest.warns(UcvtestWarning, match="MlflowException: no experiments here"):
        finish()


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


def test_runs_that_are_forgotten_are_read_again(
    client: MlflowClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "MOST_RUNS", 1)
    one, other = (client.create_run("0", run_name=name).info.run_id for name in ("one", "other"))
    found = [um.log_result(RESULT, run_id).key for run_id in (one, other, one)]
    assert found == [KEY] * 2 + [f"{KEY}.2"]


# ------------------------------------------------------------------- switching on and off


def test_calling_autolog_again_replaces_the_options(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    um.autolog(spool_dir=spool)
    um.autolog(spool_dir=spool, log_plots=False)
    assert [hook.log_plots for hook in hooks.installed_hooks()] == [False]
    finish()
    assert len(runs(client)) == 1


def test_switches_are_true_or_false() -> None:
    for name in ("disable", "log_plots", "log_datasets", "log_tables", "nested", "silent"):
        with pytest.raises(ValueError, match=f"{name} must be True or False, got 'no'"):
            uv.autolog(**{name: "no"})
    assert not hooks.installed_hooks()


def test_disable(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    um.autolog(disable=True)
    finish()
    assert runs(client) == []
    assert hooks.installed_hooks() == ()


def test_other_hooks_stay() -> None:
    other = SimpleNamespace(fitting=None, fitted=None)
    hooks.add_hook(other)
    try:
        um.autolog(disable=True)
        assert hooks.installed_hooks() == (other,)
    finally:
        hooks.remove_hook(other)


def test_silent(client: MlflowClient, spool: Path, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("mlflow").addHandler(caplog.handler)
    try:
        um.autolog(spool_dir=spool, silent=True)
        finish()
        assert caplog.messages == []
        um.autolog(spool_dir=spool)
        with new_run() as run:
            finish()
    finally:
        logging.getLogger("mlflow").removeHandler(caplog.handler)
    expected = f"Logged {KEY} to run {run.info.run_id} ({mlflow.get_tracking_uri()})"
    assert caplog.messages == [expected]


def test_default_spool_dir(client: MlflowClient, tmp_path: Path) -> None:
    assert default_spool_dir() == tmp_path / "state" / "ucvtest" / "mlflow_spool"
    um.autolog()
    assert hooks.installed_hooks()[0].spool.folder == default_spool_dir()
    assert default_spool_dir().stat().st_mode & 0o077 == 0


def test_spool_dir_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError) as error:
        um.autolog(spool_dir=tmp_path / "file" / "spool")
    assert str(error.value) == (
        f"spool_dir {tmp_path}/file/spool cannot be written to: name another folder in spool_dir"
    )
    assert hooks.installed_hooks() == ()


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch, spool: Path) -> None:
    monkeypatch.setattr("ucvtest_mlflow.hook.find_spec", lambda name: None)
    with pytest.raises(ImportError) as error:
        um.autolog(spool_dir=spool)
    assert str(error.value) == (
        "log_plots=True needs matplotlib: pip install 'ucvtest[plot]', or pass log_plots=False"
    )


def test_import_is_quick_and_takes_no_mlflow() -> None:
    code = "import sys, ucvtest_mlflow as um; assert 'mlflow' not in sys.modules; print(dir(um))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(sorted(um.__all__))


def test_unknown_name() -> None:
    with pytest.raises(AttributeError) as error:
        um.no_such_name  # noqa: B018
    assert str(error.value) == "module 'ucvtest_mlflow' has no attribute 'no_such_name'"


# -------------------------------------------------------------------- results by hand


def test_log_result_and_load_result(client: MlflowClient) -> None:
    logged = um.log_result(RESULT)
    assert logged.key == KEY
    assert same(um.load_result(*logged), RESULT)
    assert um.log_result(RESULT, run_id=logged.run_id) == (
        logged.run_id,
        f"{KEY}.2",
    )
    assert client.get_run(logged.run_id).info.status == "FINISHED"


def test_log_result_into_the_active_run(client: MlflowClient) -> None:
    with new_run() as run:
        assert um.log_result(RESULT).run_id == run.info.run_id


def test_an_answer_about_a_margin_is_logged_beside_its_result(client: MlflowClient) -> None:
    logged = um.log_result(RESULT)
    judged = RESULT.noninferiority(0.1)
    assert um.log_margin(judged, logged.run_id) == logged
    run = client.get_run(logged.run_id)
    prefix = f"ucvtest.{logged.key}"
    assert run.data.metrics[f"{prefix}/noninferiority.pvalue"] == judged.pvalue
    assert run.data.metrics[f"{prefix}/noninferiority.margin"] == 0.1
    assert run.data.tags[f"{prefix}.noninferiority.decision"] == judged.decision
    assert run.data.tags[f"{prefix}.noninferiority.verdict"] == judged.verdict
    # The result is still the only one, and unchanged.
    assert um.load_result(logged.run_id) == RESULT
    with mlflow.start_run(run_id=logged.run_id):
        um.log_margin(RESULT.equivalence(-0.5, 0.5), key=logged.key)
    tags = client.get_run(logged.run_id).data.tags
    assert tags[f"ucvtest.{logged.key}.equivalence.decision"] == "pass"
    with pytest.raises(ValueError, match="run_id is missing, and no run is active"):
        um.log_margin(judged)


def test_what_is_no_result_is_refused_with_what_takes_it(client: MlflowClient) -> None:
    y, scores = [0, 1] * 10, np.linspace(0, 1, 20)
    others = {
        "Curve: log its picture by mlflow.log_figure": uv.curves.roc(y, {"a": scores}, rng=0),
        "NoninferiorityResult: .* then this answer by log_margin": RESULT.noninferiority(0.1),
        "Losses: pass what fit": uv.Losses.from_predictions(y, {"a": scores}, loss="auc"),
        "dict: pass what fit": {"p": 0.04},
        "float: pass what fit": 0.04,
    }
    for message, other in others.items():
        with pytest.raises(ValueError, match=f"result must be one of TestResult, .*got {message}"):
            um.log_result(other)  # type: ignore[arg-type]
        if "log_margin" not in message:
            with pytest.raises(ValueError, match="judged must be an answer about a margin, got"):
                um.log_margin(other, run_id="any")  # type: ignore[arg-type]
    # The remedy is one.
    curve = next(iter(others.values()))
    with mlflow.start_run(run_name="curve") as run:
        mlflow.log_figure(curve.plot().figure, "curve.png")
        mlflow.log_text(curve.to_json(), "curve.json")
    assert len(client.list_artifacts(run.info.run_id)) == 2


def test_plans_are_logged(client: MlflowClient) -> None:
    y = [0, 1] * 50
    rules = uv.Losses.from_predictions(y, {"rule": [1, 0] * 5 + y[10:]})
    plan = uv.plan(rules, learner="rule", width=0.13)
    logged = um.log_result(plan)
    assert logged.key == "rule.zero_one.plan"
    assert um.load_result(logged.run_id) == plan
    run = client.get_run(logged.run_id)
    assert run.data.metrics["ucvtest.rule.zero_one.plan/n_needed"] == plan.n_needed
    assert run.data.tags["ucvtest.rule.zero_one.plan.verdict"] == plan.verdict
    found = {
        Path(item.path).name
        for item in client.list_artifacts(logged.run_id, "ucvtest/rule.zero_one.plan")
    }
    assert {"result.json", "plot.png", "plan.json", "summary.md"} <= found


def test_nothing_is_printed_on_the_way(
    server: MlflowClient,
    experiment: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logged = um.log_result(RESULT)
    assert capfd.readouterr().out == ""
    name = "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR"
    for value in (None, "true"):
        if value:
            monkeypatch.setenv(name, value)
        capfd.readouterr()
        um.load_result(*logged)
        assert capfd.readouterr() == ("", "")
        assert os.environ.get(name) == value


def test_run_of_its_own_fails_with_the_logging(
    client: MlflowClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(MlflowClient, "log_batch", fail)
    with pytest.raises(OSError, match="disk full"):
        um.log_result(RESULT)
    with new_run() as mine, pytest.raises(OSError, match="disk full"):
        um.log_result(RESULT)
    states = {run.info.run_name: run.info.status for run in runs(client)}
    assert states == {"lda vs knn:3 (ustatistic)": "FAILED", "mine": "FINISHED"}
    assert client.get_run(mine.info.run_id).data.metrics == {}


def test_load_result_errors(client: MlflowClient) -> None:
    empty = client.create_run("0", run_name="empty").info.run_id
    run_id, _ = um.log_result(RESULT)
    um.log_result(RESULT, run_id)
    expected = {
        (empty, None): f"run {empty} contains no result of ucvtest",
        (run_id, None): f"run {run_id} contains several results: name one of {KEY}, {KEY}.2",
        (run_id, "other.1"): f"run {run_id} contains no result 'other.1': it has {KEY}, {KEY}.2",
    }
    for arguments, message in expected.items():
        with pytest.raises(ValueError) as error:
            um.load_result(*arguments)
        assert str(error.value) == message


# ------------------------------------------------------------------------- inner fits


def two_groups() -> tuple[np.ndarray, np.ndarray]:
    y = np.repeat([0, 1], 10)
    return np.random.default_rng(1).normal(size=(20, 2)) + y[:, None], y


def real_test(learner: Any = "lda", other: Any = "nearest_centroid") -> uv.UStatisticTest:
    return uv.UStatisticTest(*two_groups(), learner, other)


@pytest.fixture
def sklearn_autolog() -> Iterator[None]:
    mlflow.sklearn.autolog(silent=True)
    yield
    mlflow.sklearn.autolog(disable=True, silent=True)


def test_inner_fits_are_invisible(client: MlflowClient, spool: Path, sklearn_autolog: None) -> None:
    um.autolog(spool_dir=spool)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    moved = random.getstate()
    with new_run() as run:
        result = real_test(tree, "majority").fit(n_pairs=4, rng=0)
    assert random.getstate() == moved
    assert result.n_fits >= 16
    (found,) = runs(client)
    assert found.info.run_id == run.info.run_id
    assert all(name.startswith("ucvtest.") for name in {**found.data.params, **found.data.metrics})
    assert client.search_logged_models(["0"]) == []
    assert same(um.load_result(run.info.run_id), result)
    # Afterwards MLflow logs the user's own fits again.
    with new_run() as run:
        tree.fit(X, Y)
    assert client.get_run(run.info.run_id).data.params["max_depth"] == "1"


RAW, LABELS = (each[:60] for each in load_breast_cancer(return_X_y=True))


def least_squares(X_train: Any, y_train: Any, X_test: Any) -> Any:
    return (OLS(y_train, X_train).fit().predict(X_test) > 0.5).astype(int)


@pytest.mark.parametrize(
    ("autologger", "workers"),
    [
        (mlflow.sklearn.autolog, "sequential"),
        (mlflow.statsmodels.autolog, "sequential"),
        (mlflow.sklearn.autolog, "threading"),
        (mlflow.sklearn.autolog, "loky"),
    ],
)
def test_no_fit_reaches_the_run(
    client: MlflowClient, spool: Path, autologger: Callable[..., None], workers: str
) -> None:
    """Of a regression that is fitted once to see whether it stops early, a tree and a function."""
    autologger(silent=True)
    um.autolog(spool_dir=spool)
    tree = SwitchingTree(mlflow.get_tracking_uri())
    learners = {"logistic": LogisticRegression(), "tree": tree, "function": least_squares}
    try:
        with new_run() as run, parallel_config(workers, n_jobs=2):
            found = uv.compare(RAW, LABELS, learners, ["corrected_t"], cv=3, rng=0)
        notes = [note for result in found.results.values() for note in result.notes]
        assert any("before it has converged" in note for note in notes)
        (only,) = runs(client)
        assert only.info.run_id == run.info.run_id
        logged = {**only.data.params, **only.data.metrics}
        assert [key for key in logged if not key.startswith("ucvtest.")] == []
        assert client.search_logged_models(["0"]) == []
    finally:
        autologger(disable=True, silent=True)


def test_losses_are_fitted_in_silence_and_every_test_on_them_is_logged(
    client: MlflowClient, spool: Path, sklearn_autolog: None
) -> None:
    um.autolog(spool_dir=spool)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    with new_run() as run:
        losses = uv.evaluate({"tree": tree, "majority": "majority"}, X, Y, 4, rng=0)
        bare = client.get_run(run.info.run_id)
        assert (bare.data.params, bare.data.metrics) == ({}, {})
        one = uv.CorrectedTTest.from_losses(losses, "tree", null_value=0.5)
        influence = uv.InfluenceFunctionTest.from_losses(losses)
        results = {
            "tree_vs_majority.zero_one.corrected_t": uv.CorrectedTTest.from_losses(losses).fit(),
            "tree.zero_one.corrected_t": one.fit(),
            "tree_vs_majority.zero_one.influence": influence.fit(),
        }
    (found,) = runs(client)
    assert client.search_logged_models(["0"]) == []
    # Without data there is none to log.
    assert found.inputs.dataset_inputs == []
    for key, result in results.items():
        assert found.data.metrics[f"ucvtest.{key}/estimate"] == result.estimate
        assert found.data.params[f"ucvtest.{key}.learner"] == "tree"
        assert same(um.load_result(found.info.run_id, key), result)
    # Afterwards MLflow logs the user's own fits again.
    with new_run() as run:
        tree.fit(X, Y)
    assert client.get_run(run.info.run_id).data.params["max_depth"] == "1"


def test_autologging_returns_after_an_error(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)

    def broken(X_train: Any, y_train: Any, X_test: Any) -> Any:
        raise RuntimeError("no")

    with new_run() as run, pytest.raises(ValueError, match="no"):
        real_test(broken, None).fit(n_pairs=4, rng=0)
    assert not autologging_utils._AUTOLOGGING_GLOBALLY_DISABLED
    assert client.get_run(run.info.run_id).data.params == {}
    assert list(spool.iterdir()) == []


def test_autologging_stays_off_until_the_last_test_ends() -> None:
    hook = AutologHook(Spool(Path()))
    first, second = hook.fitting(TEST), hook.fitting(TEST)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert autologging_utils._AUTOLOGGING_GLOBALLY_DISABLED
    second.__exit__(None, None, None)
    assert not autologging_utils._AUTOLOGGING_GLOBALLY_DISABLED


def test_autologging_that_the_user_turned_off_stays_off() -> None:
    with autologging_utils.disable_autologging():
        with AutologHook(Spool(Path())).fitting(TEST):
            pass
        assert autologging_utils._AUTOLOGGING_GLOBALLY_DISABLED
    assert not autologging_utils._AUTOLOGGING_GLOBALLY_DISABLED


def test_names_imported_before_autolog_are_logged(client: MlflowClient, spool: Path) -> None:
    from ucvtest import UStatisticTest as BeforeTest

    uv.autolog(spool_dir=spool)
    from ucvtest import UStatisticTest as AfterTest

    test = real_test()
    for kind in (BeforeTest, AfterTest):
        kind(test.sample.features, test.sample.response, "lda").fit(n_pairs=20, rng=0)
    assert len(runs(client)) == 2


# --------------------------------------------------------------------- servers that are down


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        (closed_port, "(Unreachable: no answer from {uri} (ConnectionError))"),
        (hanging_server, "(Unreachable: no answer from {uri} (ReadTimeout))"),
    ],
)
def test_server_down(
    client: MlflowClient,
    spool: Path,
    server: Any,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(servers, "REACH_SECONDS", 1.0)
    um.autolog(spool_dir=spool)
    with server() as uri:
        mlflow.set_tracking_uri(uri)
        with pytest.warns(UcvtestWarning) as caught:
            finish()
    (path,) = spool.iterdir()
    assert [str(item.message) for item in caught] == [
        f"the result is not in MLflow {reason.format(uri=uri)}; it is kept in {path}: "
        "ucvtest_mlflow.flush_spool() or the command 'ucvtest mlflow flush' sends it"
    ]
    record = Record.from_json(path.read_text())
    assert same(record.result, RESULT)
    assert record.dataset["name"] == "sample 20 x 3"


def test_passwords_are_in_no_message() -> None:
    with closed_port() as uri, pytest.raises(ConnectionError) as error:
        servers.require_server(uri.replace("//", "//user:secret@"))
    assert str(error.value) == f"no answer from {uri} (ConnectionError)"


def test_proxy_without_a_server_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    response = nullcontext(SimpleNamespace(status_code=502))
    monkeypatch.setattr(requests, "get", lambda *args, **kwargs: response)
    with pytest.raises(ConnectionError) as error:
        servers.require_server("https://example.org/mlflow")
    assert str(error.value) == "https://example.org answers with HTTP status 502"


def test_certificates_are_left_to_mlflow(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise requests.exceptions.SSLError

    monkeypatch.setattr(requests, "get", refuse)
    servers.require_server("https://example.org")


def test_log_result_says_that_the_server_is_down(client: MlflowClient) -> None:
    with closed_port() as uri:
        mlflow.set_tracking_uri(uri)
        with pytest.raises(ConnectionError) as error:
            um.log_result(RESULT)
    assert str(error.value) == f"no answer from {uri} (ConnectionError)"


def test_interruption_keeps_the_result(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    um.autolog(spool_dir=spool)

    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, "log_batch", interrupt)
        with pytest.raises(KeyboardInterrupt):
            finish()
    # The second attempt goes to the run that the first one created, and doubles nothing.
    (run,) = runs(client)
    assert um.flush_spool(spool) == [(run.info.run_id, KEY)]
    assert [found.info.run_id for found in runs(client)] == [run.info.run_id]
    assert client.get_run(run.info.run_id).info.status == "FINISHED"
    table = mlflow.load_table(VARIANCES, run_ids=[run.info.run_id])
    assert len(table) == 1
    assert list(spool.iterdir()) == []


LISTED = "mlflow.loggedArtifacts"


def test_the_list_of_tables_is_that_of_the_first_result(client: MlflowClient) -> None:
    """MLflow cuts a tag at 8000 characters, and everybody who lists a table rewrites it."""
    run_id = client.create_run("0", run_name="shared").info.run_id
    client.log_table(run_id, {"a": [1]}, "users.json")
    path = f"ucvtest/{um.log_result(RESULT, run_id).key}/variances.json"
    client.log_table(run_id, {"a": [1]}, "users_too.json")
    um.log_result(RESULT, run_id)
    listed = json.loads(client.get_run(run_id).data.tags[LISTED])
    assert [each["path"] for each in listed] == ["users.json", path, "users_too.json"]
    assert len(mlflow.load_table(path, run_ids=[run_id])) == 1
    second = um.load_table(run_id, "ucvtest/lda_vs_knn_3.ustatistic.2/variances.json")
    assert len(second) == 1
    for full in (json.dumps([{"path": "x" * 4950, "type": "table"}]), '[{"path": "'):
        run_id = client.create_run("0", run_name="full").info.run_id
        client.set_tag(run_id, LISTED, full)
        key = um.log_result(RESULT, run_id).key
        assert client.get_run(run_id).data.tags[LISTED] == full
        assert "variances.json" in files(client, run_id, key)


def test_what_has_arrived_is_not_sent_again(client: MlflowClient, spool: Path) -> None:
    record = replace(
        Record(RESULT, mlflow.get_tracking_uri()),
        run_id=client.create_run("0", run_name="mine").info.run_id,
    )
    spool.mkdir()
    keep(spool, record)
    delivery.send(record)
    assert um.flush_spool(spool) == [(record.run_id, KEY)]
    metrics = client.get_run(record.run_id).data.metrics
    assert [name for name in metrics if name.endswith("/estimate")] == [
        "ucvtest.lda_vs_knn_3.ustatistic/estimate"
    ]


def test_flush_asks_a_dead_server_once_and_goes_on(client: MlflowClient, spool: Path) -> None:
    spool.mkdir()
    with closed_port() as uri:
        records = [
            Record(RESULT, uri),
            Record(RESULT, uri),
            Record(RESULT, mlflow.get_tracking_uri()),
        ]
        keep(spool, *records)
        with pytest.warns(UcvtestWarning) as caught:
            sent = um.flush_spool(spool)
    assert sum(issubclass(item.category, UcvtestWarning) for item in caught) == 1
    assert [logged.key for logged in sent] == [KEY]
    assert {path.stem for path in spool.iterdir()} == {record.id for record in records[:2]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "ValueError: the file ends too early: its writer was killed, delete it"),
        ("[]", "ValueError: the file was not written by ucvtest's MLflow logging"),
        (
            '{"format": "ucvtest_mlflow.Record", "version": 99}',
            "ValueError: the file has format version 99, this ucvtest reads version 1: "
            "upgrade ucvtest",
        ),
    ],
)
def test_flush_leaves_files_that_it_cannot_read(
    client: MlflowClient, spool: Path, text: str, reason: str
) -> None:
    spool.mkdir()
    path = spool / "x.json"
    path.write_text(text)
    with pytest.warns(UcvtestWarning) as caught:
        assert um.flush_spool(spool) == []
    assert [str(item.message) for item in caught] == [
        f"the result is not in MLflow ({reason}); it is kept in {path}: "
        "ucvtest_mlflow.flush_spool() or the command 'ucvtest mlflow flush' sends it"
    ]
    assert path.exists()


def test_flush_of_a_folder_that_is_not_there(client: MlflowClient, spool: Path) -> None:
    assert um.flush_spool(spool) == []


@pytest.mark.parametrize("attempt", ["record", "gone"])
def test_what_another_is_sending_is_left_to_it(
    client: MlflowClient, spool: Path, attempt: str
) -> None:
    spool.mkdir()
    record = Record(RESULT, mlflow.get_tracking_uri())
    with Spool(spool).keep(record) as kept:
        with pytest.warns(UcvtestWarning) as caught:
            assert um.flush_spool(spool) == []
        assert [str(item.message) for item in caught] == [
            f"{kept.path} is being sent already, and is left to that attempt"
        ]
        kept.note_key("chosen")
        assert Spool(spool).claim(kept.path) is None
        if attempt == "gone":
            kept.remove()
            assert Spool(spool).claim(kept.path) is None
    if attempt == "record":
        claimed = Spool(spool).claim(kept.path)
        assert claimed is not None
        with claimed:
            assert claimed.record == replace(record, key="chosen")


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


# ------------------------------------------------------------------------- a real server


# How to fit the test classes where their defaults take long, or lack something.
OPTIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "FiveByTwoFTest": ({"other": "nearest_centroid"}, {}),
    # With more permutations a slow machine is warned of how long the fits take.
    "LeavePairOutTest": ({}, {"n_permutations": 99}),
    "UStatisticTest": ({"other": "nearest_centroid"}, {"n_pairs": 20}),
}
EVERY_CLASS = [name for name in uv.__all__ if name.endswith("Test")]


def test_every_class_in_one_run_and_some_twice(
    server: MlflowClient, experiment: str, spool: Path
) -> None:
    um.autolog(spool_dir=spool)
    X, y = two_groups()
    results, expected = [], []
    with new_run() as run:
        for place, name in enumerate(EVERY_CLASS):
            arguments, options = OPTIONS.get(name, ({}, {}))
            if getattr(uv, name).needs_other:
                arguments = {"other": "nearest_centroid", **arguments}
            test = getattr(uv, name)(X, y, "lda", **arguments)
            for number in ("", ".2") if place < 2 else ("",):
                result = test.fit(rng=0, **options)
                assert content.kind(result) == test.method_name
                results.append(result)
                expected.append(f"{content.key(result)}{number}")
    (found,) = server.search_runs([experiment])
    assert found.info.run_id == run.info.run_id
    keys = sorted(keys_of(found))
    assert keys == sorted(expected)
    assert len(keys) == 2 + len(EVERY_CLASS)
    artifacts = get_artifact_repository(found.info.artifact_uri)
    for key, result in zip(expected, results, strict=True):
        assert same(um.load_result(run.info.run_id, key), result)
        assert found.data.tags[f"ucvtest.{key}.verdict"] == result.verdict
        # Of the artifacts' address, because a look by the run's name reads the whole run again.
        names = {Path(item.path).name for item in artifacts.list_artifacts(f"ucvtest/{key}")}
        assert f"plot{'' if len(result.plot_kinds) == 1 else '_'}" in "".join(names)
        history = server.get_metric_history(run.info.run_id, f"ucvtest.{key}/estimate")
        assert [metric.value for metric in history] == [result.estimate]
    (data,) = found.inputs.dataset_inputs
    assert data.dataset.digest == content.describe_data(test)["digest"]
    assert list(spool.iterdir()) == []


def test_a_test_costs_a_server_one_batch_and_its_files(
    server: MlflowClient, experiment: str, spool: Path
) -> None:
    """Whatever is in the run already: nothing is asked that grows with it."""
    um.autolog(spool_dir=spool, silent=True)
    costs = []
    with new_run():
        for _ in range(4):
            with counted_requests() as counts:
                finish()
            costs.append(counts)
    api = "/api/2.0"
    once = {
        "GET /health": 1,
        f"POST {api}/mlflow/runs/log-batch": 1,
        # Two looks at what has arrived.
        f"GET {api}/mlflow-artifacts/artifacts": 1,
        f"GET {api}/mlflow/metrics/get-history": 1,
    }
    # Summary twice, methods, result, table and picture, and the picture twice for the page.
    n_files = {f"PUT {api}/mlflow-artifacts": 8}
    assert costs[1] == costs[2] == costs[3] == Counter(once | n_files)
    # The first one looks at the run, once for itself and once for where files are, and logs the
    # data.
    assert costs[0] - costs[1] == Counter(
        {
            f"POST {api}/mlflow/runs/set-tag": 1,
            f"GET {api}/mlflow/runs/get": 2,
            f"POST {api}/mlflow/runs/log-inputs": 1,
        }
    )


def test_own_runs_and_nested_ones_on_a_server(
    server: MlflowClient, experiment: str, spool: Path
) -> None:
    um.autolog(spool_dir=spool)
    finish()
    (own,) = server.search_runs([experiment])
    assert own.info.status == "FINISHED"
    assert own.data.tags["mlflow.note.content"].startswith(f"**{RESULT.verdict}**")
    um.autolog(spool_dir=spool, nested=True)
    with new_run() as parent:
        finish()
    nested = server.search_runs([experiment], f"tags.mlflow.parentRunId = '{parent.info.run_id}'")
    assert [run.info.status for run in nested] == ["FINISHED"]
    assert same(um.load_result(nested[0].info.run_id), RESULT)


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


def test_run_of_a_test_that_raises(server: MlflowClient, experiment: str, spool: Path) -> None:
    um.autolog(spool_dir=spool)

    def broken(X_train: Any, y_train: Any, X_test: Any) -> Any:
        raise RuntimeError("no")

    def fit_inside_a_run() -> None:
        with new_run():
            finish()
            real_test(broken, None).fit(n_pairs=4, rng=0)

    with pytest.raises(ValueError, match="no"):
        fit_inside_a_run()
    (run,) = server.search_runs([experiment])
    assert run.info.status == "FAILED"
    assert keys_of(run) == [KEY]
    with pytest.raises(ValueError, match="no"):
        real_test(broken, None).fit(n_pairs=4, rng=0)
    assert len(server.search_runs([experiment])) == 1


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
        result = real_test().fit(n_pairs=20, rng=0)
    # The warning points at the user's line, not into the package.
    assert {item.filename for item in caught if item.category is UcvtestWarning} == {__file__}
    with own, forwarding(own, to=running_server):
        outcome = CliRunner().invoke(cli.app, ["mlflow", "flush", "--spool-dir", str(spool)])
        assert outcome.exit_code == 0, outcome.output
        (run,) = server.search_runs([experiment])
        key = "lda_vs_nearest_centroid.zero_one.ustatistic"
        assert outcome.stdout == f"Sent: {key} to run {run.info.run_id}\n"
        assert um.flush_spool(spool) == []
        assert same(um.load_result(run.info.run_id), result)
    assert run.info.status == "FINISHED"
    assert run.inputs.dataset_inputs
    assert list(spool.iterdir()) == []


# ----------------------------------------------------------------------- the command line


def test_flush_says_what_it_could_not_send(client: MlflowClient, spool: Path) -> None:
    spool.mkdir()
    arguments = ["mlflow", "flush", "--spool-dir", str(spool)]
    nothing = CliRunner().invoke(cli.app, arguments)
    assert (nothing.exit_code, nothing.stdout) == (0, "Nothing to send.\n")
    with closed_port() as uri:
        keep(spool, Record(RESULT, uri))
        outcome = CliRunner().invoke(cli.app, arguments)
    assert outcome.exit_code == 1
    assert outcome.stdout == ""
    assert outcome.stderr.startswith(
        f"Warning: the result is not in MLflow (Unreachable: no answer from {uri}"
    )


def test_flush_uses_the_default_spool(client: MlflowClient) -> None:
    Spool(default_spool_dir()).open()
    keep(default_spool_dir(), Record(RESULT, mlflow.get_tracking_uri()))
    outcome = CliRunner().invoke(cli.app, ["mlflow", "flush"])
    (run,) = runs(client)
    assert outcome.stdout == f"Sent: lda_vs_knn_3.ustatistic to run {run.info.run_id}\n"


# ------------------------------------------------------------------------ the environment


@pytest.mark.parametrize(("value", "installed"), [("1", 1), ("true", 1), ("0", 0), ("", 0)])
def test_variable_is_read_at_import(
    value: str, installed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UCVTEST_AUTOLOG", value)
    try:
        importlib.reload(uv)
        kinds = [type(hook) for hook in hooks.installed_hooks()]
        assert kinds == [AutologByEnvironment] * installed
    finally:
        um.autolog(disable=True)
    assert hooks.installed_hooks() == ()


def test_switched_on_by_the_environment(client: MlflowClient) -> None:
    hooks.add_hook(AutologByEnvironment())
    results = [real_test().fit(n_pairs=20, rng=0) for _ in range(2)]
    for run, result in zip(runs(client), results, strict=True):
        assert same(um.load_result(run.info.run_id), result)
    assert [type(hook) for hook in hooks.installed_hooks()] == [AutologHook]


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


def test_options_are_replaced_without_a_gap(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fit that ends while another thread calls autolog is told to the old hook or the new."""
    um.autolog(spool_dir=spool)
    seen = []

    def look(name: str) -> bool:
        seen.append(len(hooks.installed_hooks()))
        return True

    monkeypatch.setattr("ucvtest_mlflow.hook.find_spec", look)
    um.autolog(spool_dir=spool)
    assert (seen, len(hooks.installed_hooks())) == ([1], 1)


def test_options_that_are_refused_change_nothing(client: MlflowClient, tmp_path: Path) -> None:
    um.autolog(spool_dir=tmp_path / "spool")
    before = hooks.installed_hooks()
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="cannot be written to"):
        um.autolog(spool_dir=tmp_path / "file" / "spool")
    assert hooks.installed_hooks() == before


def test_switched_on_by_the_environment_without_mlflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ucvtest_mlflow", None)
    hooks.add_hook(AutologByEnvironment())
    with pytest.warns(UcvtestWarning) as caught:
        real_test().fit(n_pairs=20, rng=0)
    real_test().fit(n_pairs=20, rng=0)
    assert [str(item.message) for item in caught] == [
        "AutologByEnvironment failed before a fit (ImportError: autolog needs MLflow: pip install "
        "'ucvtest[mlflow]'); the fit goes on without it"
    ]
    assert hooks.installed_hooks() == ()


@pytest.mark.parametrize("name", ["autolog", "flush_spool"])
def test_without_mlflow(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ucvtest_mlflow", None)
    with pytest.raises(ImportError) as error:
        getattr(autologging, name)()
    assert str(error.value) == f"{name} needs MLflow: pip install 'ucvtest[mlflow]'"


def test_without_the_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ucvtest.common.plugins.entry_points", lambda **_: ())
    with pytest.raises(ImportError) as error:
        autologging.autolog()
    assert str(error.value) == (
        "autolog finds no entry point 'mlflow' in the group 'ucvtest.loggers': install ucvtest "
        "again, pip install 'ucvtest[mlflow]'"
    )


def test_the_core_finds_the_plugin_by_its_entry_point() -> None:
    (found,) = {each.value for each in entry_points(group="ucvtest.loggers", name="mlflow")}
    assert found == um.__name__
    assert mlflow_function("autolog") is um.autolog


# -------------------------------------------------------------------------------- comparisons


COMPARISON = "lda_vs_knn_3.zero_one.comparison"


def two_tests(learners: Any = ("lda", "knn:3")) -> uv.Comparison:
    folds = uv.TestSpec("corrected_t", {"design": 4})
    return uv.compare(X, Y, list(learners), ["corrected_t", folds], rng=0)


def test_a_comparison_is_one_entry(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    found = two_tests()
    (run,) = runs(client)
    assert run.info.run_name == "lda vs knn:3 (comparison)"
    assert run.info.status == "FINISHED"
    # None of its tests is logged by itself.
    assert keys_of(run) == [COMPARISON]
    metrics = run.data.metrics
    assert run.data.tags[f"ucvtest.{COMPARISON}.n_fits"] == str(found.n_fits)
    name = f"ucvtest.{COMPARISON}/pvalue.corrected_t_2"
    assert metrics[name] == found.result("corrected_t (2)").pvalue
    assert run.data.params[f"ucvtest.{COMPARISON}.correction"] == "holm"
    assert run.data.tags[f"ucvtest.{COMPARISON}.status"] == "ok"
    assert run.data.tags["mlflow.note.content"].startswith("**At the 5% level")
    assert files(client, run.info.run_id, COMPARISON) == {
        "summary.md", "summary.txt", "result.json", "plot.png", "comparison.json", "fits.json",
    }  # fmt: skip
    assert len(run.inputs.dataset_inputs) == 1
    assert not list(spool.iterdir())


def test_learners_judged_together_have_a_table_and_the_size_of_their_best_set(
    client: MlflowClient,
) -> None:
    found = uv.compare(
        *(X, Y, ["lda", "knn:3", "majority"], "hold_out"), correction="simultaneous", rng=0
    )
    run = client.get_run(um.log_result(found).run_id)
    name = "ucvtest.zero_one.comparison/best_set_size.hold_out"
    assert run.data.metrics[name] == len(found.best_set())
    assert "learners_hold_out.json" in files(client, run.info.run_id, "zero_one.comparison")


def test_probabilities_are_metrics_where_there_is_no_pvalue(client: MlflowClient) -> None:
    found = uv.compare(X, Y, ["lda", "knn:3"], ["corrected_t", "bayesian_t"], rng=0)
    metrics = client.get_run(um.log_result(found).run_id).data.metrics
    posterior = found.result("bayesian_t")
    assert metrics[f"ucvtest.{COMPARISON}/p_left.bayesian_t"] == posterior.diagnostics["p_left"]
    assert f"ucvtest.{COMPARISON}/p_left.corrected_t" not in metrics
    for test in ("corrected_t", "bayesian_t"):
        for name in ("estimate_learner", "estimate_other", "se_learner", "se_other"):
            own = found.result(test).diagnostics[name]
            assert metrics[f"ucvtest.{COMPARISON}/{name}.{test}"] == own
    alone = client.get_run(um.log_result(posterior).run_id).data.metrics
    for name in ("se_other", "p_rope"):
        number = alone[f"ucvtest.lda_vs_knn_3.zero_one.bayesian_t/{name}"]
        assert number == posterior.diagnostics[name]


def test_labels_that_keys_cannot_tell_apart(client: MlflowClient) -> None:
    tests = {"A": "corrected_t", "a": "hold_out", "+": "naive_t"}
    found = uv.compare(X, Y, ["lda", "knn:3"], tests, rng=0)
    metrics = client.get_run(um.log_result(found).run_id).data.metrics
    for key, label in zip(("a", "a_2", "test"), tests, strict=True):
        assert metrics[f"ucvtest.{COMPARISON}/pvalue.{key}"] == found.result(label).pvalue


def test_the_table_of_a_comparison(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    with mlflow.start_run(run_name="all") as run:
        found = two_tests(("lda", "knn:3", "majority"))
    table = mlflow.load_table(
        "ucvtest/zero_one.comparison/comparison.json", run_ids=[run.info.run_id]
    )
    assert len(table) == 6
    np.testing.assert_allclose(
        table["pvalue_adjusted"].astype(float), found.frame["pvalue_adjusted"]
    )
    metrics = client.get_run(run.info.run_id).data.metrics
    for (test, *pair), result in found.results.items():
        label = test.replace(" (", "_").replace(")", "")
        for learner, whose in zip(pair, ("learner", "other"), strict=True):
            own = f"{learner.replace(':', '_')}.{label}"
            for name in content.OF_LEARNERS:
                logged = metrics[f"ucvtest.zero_one.comparison/{name}.{own}"]
                assert logged == result.diagnostics[f"{name}_{whose}"]
    assert len(metrics) == 6 * (len(content.OF_PAIRS) + len(content.OF_LEARNERS))
    for row in found.frame.to_dict("records"):
        test = row["test"].replace(" (", "_").replace(")", "")
        pair = f"{row['learner']}_vs_{row['other']}".replace(":", "_")
        for name in content.OF_PAIRS:
            assert metrics[f"ucvtest.zero_one.comparison/{name}.{pair}.{test}"] == row[name]
    # By these runs can be found and put in order.
    column = "metrics.`ucvtest.zero_one.comparison/pvalue.lda_vs_majority.corrected_t_1`"
    assert len(mlflow.search_runs(filter_string=f"{column} <= 1", order_by=[column])) == 1


def test_names_that_keys_have_no_room_for(client: MlflowClient) -> None:
    names = ["ä" * 300, "x" * 300, "x" * 299 + "y"]
    found = uv.compare(
        X, Y, dict(zip(names, ("lda", "knn:3", "majority"), strict=True)), "hold_out", rng=0
    )
    metrics = client.get_run(um.log_result(found).run_id).data.metrics
    long = "x" * content.LONGEST_NAME
    for pair in (f"learner_vs_{long}", f"learner_vs_{long}_2", f"{long}_vs_{long}_2"):
        assert f"ucvtest.zero_one.comparison/estimate.{pair}.hold_out" in metrics


def test_names_that_look_like_pairs(client: MlflowClient) -> None:
    learners = dict(
        zip(("a", "a_vs_c", "c_vs_c", "c"), ("lda", "knn:3", "majority", "knn:5"), strict=True)
    )
    found = uv.compare(X, Y, learners, "hold_out", rng=0)
    metrics = client.get_run(um.log_result(found).run_id).data.metrics
    own = metrics["ucvtest.zero_one.comparison/estimate.a_vs_c_2.hold_out"]
    assert own == found.results["hold_out", "a", "a_vs_c"].diagnostics["estimate_other"]
    assert sum("/estimate." in name for name in metrics) == 6 + 4


def test_more_numbers_than_a_request_takes(
    client: MlflowClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = uv.compare(X, Y, ["lda", "knn:3", "majority"], "hold_out", rng=0)
    monkeypatch.setattr(delivery, "MOST_NUMBERS", 4)
    assert len(client.get_run(um.log_result(found).run_id).data.metrics) == 3 * (5 + 2)


def test_more_parameters_than_a_store_reads_quickly(
    client: MlflowClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store reads all of a run to add one, so that those of later results are tags."""
    n_params = len(content.params(RESULT, f"ucvtest.{KEY}"))
    monkeypatch.setattr(delivery, "MOST_PARAMS", 2 * n_params)
    with new_run() as run:
        mlflow.log_param("theirs", 1)
        results = [um.log_result(RESULT).key for _ in range(3)]
        # Another process counts what is there.
        monkeypatch.setattr(keys, "_runs", {})
        results.append(um.log_result(RESULT).key)
    data = client.get_run(run.info.run_id).data
    chosen = ("learner", "other", "learn_size", "alpha")
    for key in results:
        values = data.params if key in results[:2] else data.tags
        assert [values[f"ucvtest.{key}.{name}"] for name in chosen] == ["lda", "knn:3", "9", "0.05"]
    assert len(data.params) == 1 + 2 * n_params


def test_plans_are_logged_by_themselves(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool, log_plots=False)
    rules = uv.Losses.from_predictions(Y, {"rule": ["no"] * 20})
    plans = {
        "rule (plan)": uv.plan(rules, learner="rule", width=0.3),
        "nearest_centroid (plan)": uv.plan(
            X, Y, "nearest_centroid", width=0.3, n=[40], curve=False, rng=0
        ),
    }
    found = {run.info.run_name: run for run in runs(client)}
    assert set(found) == set(plans)
    for name, plan in plans.items():
        data = found[name].data
        key = f"ucvtest.{name.partition(' ')[0]}.zero_one.plan"
        assert data.metrics[f"{key}/n_needed"] == plan.n_needed
        assert data.params[f"{key}.alpha"] == str(plan.alpha)
        assert data.tags[f"{key}.n_fits"] == str(plan.n_fits)
    assert len(found["nearest_centroid (plan)"].inputs.dataset_inputs) == 1
    assert found["rule (plan)"].inputs.dataset_inputs == []


def test_a_selection(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    options: dict[str, Any] = {"criteria": ["permutation", "loo"], "n_permutations": 5, "rng": 0}
    found = uv.select_model(X, Y, {"a": "lda", "b": "knn:3"}, **options)
    (run,) = runs(client)
    assert run.info.run_name == "a or b (select_model)"
    assert run.data.metrics == {
        f"ucvtest.zero_one.select_model/{criterion}.{name}": found.columns[criterion][place]
        for place, name in enumerate("ab")
        for criterion in ("e_in", "permutation", "loo")
    }
    assert run.data.params["ucvtest.zero_one.select_model.criterion"] == "permutation"
    assert run.data.tags["ucvtest.zero_one.select_model.n_fits"] == str(found.n_fits)
    assert run.data.tags["ucvtest.zero_one.select_model.verdict"] == found.verdict
    assert run.data.tags["mlflow.note.content"].startswith(f"**{found.verdict}**\n\n```\n")
    assert files(client, run.info.run_id, "zero_one.select_model") == {
        "summary.md", "summary.txt", "result.json", "plot.png", "learners.json",
    }  # fmt: skip
    assert len(run.inputs.dataset_inputs) == 1
    again = um.load_result(run.info.run_id)
    assert again.to_dict() == found.to_dict()
    assert again.verdict == found.verdict
    with pytest.raises(ValueError, match=f"the best one has the name '{found.verdict[-1]}'"):
        again.best  # noqa: B018  (it must be refused)


def test_a_comparison_beside_a_test_in_one_run(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    with mlflow.start_run(run_name="all") as run:
        uv.CorrectedTTest(X, Y, "lda", "knn:3").fit(rng=0)
        two_tests()
        two_tests()
    keys = keys_of(client.get_run(run.info.run_id))
    assert sorted(keys) == [
        COMPARISON,
        "lda_vs_knn_3.zero_one.comparison.2",
        "lda_vs_knn_3.zero_one.corrected_t",
    ]


def test_a_comparison_comes_back_as_it_was(client: MlflowClient) -> None:
    found = two_tests()
    logged = um.log_result(found)
    assert logged.key == COMPARISON
    assert um.load_result(*logged).to_dict() == found.to_dict()


def test_a_comparison_waits_for_its_server(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool, silent=True)
    with closed_port() as uri:
        mlflow.set_tracking_uri(uri)
        with pytest.warns(UcvtestWarning, match="the result is not in MLflow") as caught:
            found = two_tests()
    assert caught[0].filename == __file__
    (kept,) = spool.iterdir()
    text = kept.read_text().replace(uri, client.tracking_uri)
    kept.write_text(text)
    (logged,) = um.flush_spool(spool)
    mlflow.set_tracking_uri(client.tracking_uri)
    assert um.load_result(*logged).to_dict() == found.to_dict()
    assert not list(spool.iterdir())


def test_inner_fits_of_a_comparison_are_invisible(
    client: MlflowClient, spool: Path, sklearn_autolog: None
) -> None:
    um.autolog(spool_dir=spool)
    uv.compare(X, Y, [DecisionTreeClassifier(max_depth=2), "lda"], "corrected_t", rng=0)
    assert len(runs(client)) == 1


def test_status_of_a_comparison_names_the_test(client: MlflowClient) -> None:
    found = uv.compare(X, Y, {"a": "majority", "b": "majority"}, "corrected_t", rng=0)
    run = client.get_run(um.log_result(found).run_id)
    assert run.data.tags["ucvtest.a_vs_b.zero_one.comparison.status"].startswith(
        "corrected_t a b: degenerate"
    )


def test_the_command_line_logs_a_table_as_one(client: MlflowClient, tmp_path: Path) -> None:
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(target=Y)
    table.to_csv(tmp_path / "data.csv", index=False)
    options = "--target target --learner lda --other knn:3 --tests corrected_t,naive_t --mlflow"
    arguments = ["compare", str(tmp_path / "data.csv"), *options.split()]
    outcome = CliRunner().invoke(cli.app, arguments)
    assert outcome.exit_code == 0, outcome.output
    (run,) = runs(client)
    assert keys_of(run) == [COMPARISON]
