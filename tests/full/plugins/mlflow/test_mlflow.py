"""Where MLflow logs and when: runs, switches, inner fits, and one real server.

What is logged is in test_logged.py; results that wait on disk are in test_spool.py.
"""

import importlib
import logging
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import requests

import ucvtest as uv
from ucvtest import UcvtestWarning, autologging, hooks
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
from mlflow.utils import autologging_utils
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from statsmodels.regression.linear_model import OLS
from ucvtest_mlflow import content, delivery
from ucvtest_mlflow.delivery import keys_of
from ucvtest_mlflow.hook import AutologHook
from ucvtest_mlflow.records import Spool, default_spool_dir

from tests.support.cells import all_of_them
from tests.support.mlflow_runs import (
    KEY,
    RESULT,
    TEST,
    WARNINGS,
    SwitchingTree,
    X,
    Y,
    finish,
    new_run,
    runs,
    same,
)

pytestmark = WARNINGS


def test_nested(client: MlflowClient, spool: Path) -> None:
    um.autolog(nested=True, spool_dir=spool)
    with new_run() as parent:
        finish()
        finish()
    children = [run for run in runs(client) if run.info.run_id != parent.info.run_id]
    assert [run.data.tags["mlflow.parentRunId"] for run in children] == [parent.info.run_id] * 2
    assert [run.info.status for run in children] == ["FINISHED"] * 2
    assert client.get_run(parent.info.run_id).data.metrics == {}


def test_experiments_and_runs_named_by_the_environment(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    um.autolog(spool_dir=spool, log_plots=False)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "trial")
    finish()
    trial = client.get_experiment_by_name("trial").experiment_id
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", trial)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME")
    finish()
    assert len(client.search_runs([trial])) == 2
    assert runs(client) == []
    run = client.create_run("0", run_name="project")
    monkeypatch.setenv("MLFLOW_RUN_ID", run.info.run_id)
    finish()
    assert [found.info.run_id for found in runs(client)] == [run.info.run_id]
    assert client.get_run(run.info.run_id).info.status == "RUNNING"


def test_results_by_hand_go_to_the_active_run_or_the_one_that_is_named(
    client: MlflowClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_run() as run:
        assert um.log_result(RESULT).run_id == run.info.run_id
    logged = um.log_result(RESULT)
    assert (logged.key, client.get_run(logged.run_id).info.status) == (KEY, "FINISHED")
    assert same(um.load_result(*logged), RESULT)
    assert um.log_result(RESULT, run_id=logged.run_id) == (logged.run_id, f"{KEY}.2")
    # A process that knows nothing of the run.
    monkeypatch.setattr(delivery, "_runs", {})
    assert um.log_result(RESULT, run_id=logged.run_id) == (logged.run_id, f"{KEY}.3")


# ------------------------------------------------------------------- switching on and off


def test_the_last_call_of_autolog_counts(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    um.autolog(spool_dir=spool)
    seen = []

    def look(name: str) -> bool:
        seen.append(len(hooks.installed_hooks()))
        return True

    with monkeypatch.context() as patch:
        # A fit that ends meanwhile is told to the old hook or the new.
        patch.setattr("ucvtest_mlflow.hook.find_spec", look)
        um.autolog(spool_dir=spool)
    assert (seen, len(hooks.installed_hooks())) == ([1], 1)
    um.autolog(spool_dir=spool, log_plots=False)
    assert [hook.log_plots for hook in hooks.installed_hooks()] == [False]
    finish()
    assert len(runs(client)) == 1
    other = SimpleNamespace(fitting=None, fitted=None)
    hooks.add_hook(other)
    try:
        um.autolog(disable=True)
        assert hooks.installed_hooks() == (other,)
    finally:
        hooks.remove_hook(other)
    finish()
    assert len(runs(client)) == 1


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


def test_import_is_quick_and_takes_no_mlflow() -> None:
    code = "import sys, ucvtest_mlflow as um; assert 'mlflow' not in sys.modules; print(dir(um))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(sorted(um.__all__))


MISSING: dict[str, tuple[Callable[[pytest.MonkeyPatch], object], Callable[[], object], str]] = {
    "MLflow": (
        lambda patch: patch.setitem(sys.modules, "ucvtest_mlflow", None),
        autologging.autolog,
        "autolog needs MLflow: pip install",
    ),
    "MLflow, for a flush": (
        lambda patch: patch.setitem(sys.modules, "ucvtest_mlflow", None),
        autologging.flush_spool,
        "flush_spool needs MLflow: pip install",
    ),
    "the plugin": (
        lambda patch: patch.setattr("ucvtest.common.plugins.entry_points", lambda **_: ()),
        autologging.autolog,
        "no entry point 'mlflow' .* install ucvtest again",
    ),
    "matplotlib": (
        lambda patch: patch.setattr("ucvtest_mlflow.hook.find_spec", lambda name: None),
        um.autolog,
        "log_plots=True needs matplotlib: pip install .* or pass log_plots=False",
    ),
}


@pytest.mark.parametrize("name", MISSING)
def test_what_is_missing_is_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    remove, call, message = MISSING[name]
    remove(monkeypatch)
    with pytest.raises(ImportError, match=message):
        call()


def test_refusals(client: MlflowClient, tmp_path: Path) -> None:
    empty = client.create_run("0", run_name="empty").info.run_id
    full, _ = um.log_result(RESULT)
    um.log_result(RESULT, full)
    (tmp_path / "file").touch()
    y, scores = [0, 1] * 10, np.linspace(0, 1, 20)
    curve = uv.curves.roc(y, {"a": scores}, rng=0)
    losses = uv.Losses.from_predictions(y, {"a": scores}, loss="auc")
    judged: Any = RESULT.noninferiority(0.1)
    no_result: Any = {"p": 0.04}
    rows: list[tuple[Callable[[], object], str]] = [
        *(
            (
                lambda name=name: uv.autolog(**{name: "no"}),
                f"{name} must be True or False, got 'no'",
            )
            for name in ("disable", "log_plots", "log_datasets", "log_tables", "nested", "silent")
        ),
        (lambda: um.autolog(spool_dir=tmp_path / "file" / "spool"), "cannot be written to: name"),
        (lambda: um.load_result(empty), f"run {empty} contains no result of ucvtest"),
        (lambda: um.load_result(full), f"several results: name one of {KEY}, {KEY}.2"),
        (lambda: um.load_result(full, "other.1"), f"no result 'other.1': it has {KEY}, {KEY}.2"),
        (lambda: um.log_result(curve), "Curve: log its picture by mlflow.log_figure"),
        (lambda: um.log_result(judged), "NoninferiorityResult: .* then this answer by log_margin"),
        (lambda: um.log_result(losses), "got Losses: pass what fit"),  # type: ignore[arg-type]
        (lambda: um.log_result(no_result), "got dict: pass what fit"),
        (lambda: um.log_margin(no_result, run_id="any"), "judged must be an answer about a margin"),
        (lambda: um.log_margin(judged), "run_id is missing, and no run is active"),
    ]
    for call, message in rows:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        um.no_such_name  # noqa: B018
    # What is refused changes nothing, and the remedy is one.
    assert hooks.installed_hooks() == ()
    with mlflow.start_run(run_name="curve") as run:
        mlflow.log_figure(curve.plot().figure, "curve.png")
        mlflow.log_text(curve.to_json(), "curve.json")
    assert len(client.list_artifacts(run.info.run_id)) == 2


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


def test_a_result_that_cannot_be_logged_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ucvtest_mlflow", None)
    for when, call in (
        ("before a fit", real_test().fit),
        ("on a finished result", lambda **_: hooks.announce(TEST, RESULT)),
    ):
        hooks.add_hook(AutologByEnvironment())
        with pytest.warns(UcvtestWarning, match=f"failed {when} .*autolog needs MLflow") as caught:
            call(rng=0)
        call(rng=0)
        assert len(caught) == 1
        assert hooks.installed_hooks() == ()


def test_the_core_finds_the_plugin_by_its_entry_point() -> None:
    (found,) = {each.value for each in entry_points(group="ucvtest.loggers", name="mlflow")}
    assert found == um.__name__
    assert mlflow_function("autolog") is um.autolog


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


WORKERS: list[tuple[Callable[..., None], str]] = [
    (mlflow.statsmodels.autolog, "sequential"),
    (mlflow.sklearn.autolog, "threading"),
    # Processes import everything anew.
    *([(mlflow.sklearn.autolog, "loky")] if all_of_them() else []),
]


@pytest.mark.parametrize(("autologger", "workers"), WORKERS)
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


def test_losses_are_fitted_in_silence(
    client: MlflowClient, spool: Path, sklearn_autolog: None
) -> None:
    um.autolog(spool_dir=spool)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    with new_run() as run:
        losses = uv.evaluate({"tree": tree, "majority": "majority"}, X, Y, 4, rng=0)
    bare = client.get_run(run.info.run_id)
    assert (bare.data.params, bare.data.metrics) == ({}, {})
    assert client.search_logged_models(["0"]) == []
    with new_run() as run:
        uv.CorrectedTTest.from_losses(losses).fit()
        uv.CorrectedTTest.from_losses(losses, "tree", null_value=0.5).fit()
    found = client.get_run(run.info.run_id)
    assert sorted(keys_of(found)) == [
        f"tree{other}.zero_one.corrected_t" for other in ("", "_vs_majority")
    ]
    # Without data there is none to log.
    assert found.inputs.dataset_inputs == []


@pytest.mark.parametrize("in_a_run", [True, False])
def test_a_test_that_raises(client: MlflowClient, spool: Path, in_a_run: bool) -> None:
    um.autolog(spool_dir=spool)

    def broken(X_train: Any, y_train: Any, X_test: Any) -> Any:
        raise RuntimeError("no")

    def fit_inside_a_run() -> None:
        with new_run() if in_a_run else nullcontext():
            if in_a_run:
                finish()
            real_test(broken, None).fit(n_pairs=4, rng=0)

    with pytest.raises(ValueError, match="no"):
        fit_inside_a_run()
    assert not autologging_utils._AUTOLOGGING_GLOBALLY_DISABLED
    assert [run.info.status for run in runs(client)] == ["FAILED"] * in_a_run
    assert [keys_of(run) for run in runs(client)] == [[KEY]] * in_a_run
    assert list(spool.iterdir()) == []


def test_autologging_stays_off_until_the_last_test_ends_or_the_user_turns_it_on() -> None:
    hook = AutologHook(Spool(Path()))
    first, second = hook.fitting(TEST), hook.fitting(TEST)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert autologging_utils._AUTOLOGGING_GLOBALLY_DISABLED
    second.__exit__(None, None, None)
    assert not autologging_utils._AUTOLOGGING_GLOBALLY_DISABLED
    with autologging_utils.disable_autologging():
        with hook.fitting(TEST):
            pass
        assert autologging_utils._AUTOLOGGING_GLOBALLY_DISABLED
    assert not autologging_utils._AUTOLOGGING_GLOBALLY_DISABLED


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
            if getattr(uv, name).needs.learners == "two":
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
    server: MlflowClient, experiment: str, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is in the run already: nothing is asked that grows with it."""
    um.autolog(spool_dir=spool, silent=True)
    costs: list[Counter[str]] = []
    send = requests.Session.send

    def count(session: Any, request: Any, **options: Any) -> Any:
        path = request.path_url.partition("?")[0].partition("/artifacts/")[0]
        costs[-1][f"{request.method} {path}"] += 1
        return send(session, request, **options)

    with new_run(), monkeypatch.context() as patch:
        patch.setattr(requests.Session, "send", count)
        for _ in range(4):
            costs.append(Counter())
            finish()
    api = "/api/2.0"
    once = {
        # The key, and the chart of the picture.
        f"POST {api}/mlflow/runs/log-parameter": 1,
        f"POST {api}/mlflow/runs/set-tag": 1,
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
        {f"GET {api}/mlflow/runs/get": 2, f"POST {api}/mlflow/runs/log-inputs": 1}
    )


def test_nothing_is_printed_on_the_way(
    server: MlflowClient,
    experiment: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logged = um.log_result(RESULT)
    assert capfd.readouterr().out == ""
    monkeypatch.delenv("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", raising=False)
    capfd.readouterr()
    um.load_result(*logged)
    assert capfd.readouterr() == ("", "")
