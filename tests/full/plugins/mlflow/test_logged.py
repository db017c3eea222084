"""What MLflow is told of each kind of result, at every door: one table of keys, numbers and files.

A row is a call; autolog, `log_result` and the environment have to log the same of it.
"""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import ucvtest as uv
from ucvtest import autologging, cli, hooks
from ucvtest.autologging import AutologByEnvironment

pytest.importorskip("mlflow", reason="MLflow is missing: pip install 'ucvtest[mlflow]'")

import mlflow
import ucvtest_mlflow as um
from mlflow import MlflowClient
from ucvtest_mlflow import content, delivery
from ucvtest_mlflow.delivery import keys_of
from ucvtest_mlflow.records import Record

from tests.support.mlflow_runs import (
    KEY,
    RESULT,
    VARIANCES,
    WARNINGS,
    X,
    Y,
    files,
    finish,
    new_run,
    runs,
)

pytestmark = WARNINGS

PAIR = "lda_vs_knn_3.zero_one"
COMPARISON = f"{PAIR}.comparison"
OF_TEST = {"summary.md", "summary.txt", "methods.txt", "result.json", "plot.png"}
OF_TABLE = {"summary.md", "summary.txt", "result.json", "plot.png"}
GROUPS = np.arange(20) // 2
RULES = uv.Losses.from_predictions(Y, {"rule": ["no"] * 20})


def of_test(result: Any) -> dict[str, float]:
    """The numbers of one test that are known, and of each of its two learners."""
    low, high = result.conf_int()
    own = [f"{number}_{whose}" for number in ("estimate", "se") for whose in ("learner", "other")]
    found = {"estimate": result.estimate, "se": result.se, "statistic": result.statistic}
    found |= {"pvalue": result.pvalue, "conf_low": low, "conf_high": high}
    found |= {name: result.diagnostics[name] for name in own if name in result.diagnostics}
    return {name: number for name, number in found.items() if math.isfinite(number)}


def of_posterior(result: Any) -> dict[str, float]:
    names = ("p_left", "p_rope", "p_right")
    return of_test(result) | {name: result.diagnostics[name] for name in names}


def of_tests(found: Any) -> dict[str, float]:
    """Of a comparison of one pair: the numbers of its tests, by their labels."""
    numbers = {"corrected_t": of_test, "bayesian_t": of_posterior}
    return {
        f"{name}.{label}": number
        for label in found.tests
        for name, number in numbers[label](found.result(label)).items()
        if name not in ("se", "statistic")
    }


def of_pairs(found: Any) -> dict[str, float]:
    """Of several pairs: each pair, and each learner."""
    expected = {}
    for row in found.frame.to_dict("records"):
        pair = f"{row['learner']}_vs_{row['other']}.{row['test']}".replace(":", "_")
        names = ("estimate", "conf_low", "conf_high", "pvalue", "pvalue_adjusted")
        expected |= {f"{name}.{pair}": row[name] for name in names}
    for (test, *pair), result in found.results.items():
        for learner, whose in zip(pair, ("learner", "other"), strict=True):
            for name in ("estimate", "se"):
                own = f"{name}.{learner.replace(':', '_')}.{test}"
                expected[own] = result.diagnostics[f"{name}_{whose}"]
    return expected


def of_best_set(found: Any) -> dict[str, float]:
    return {"best_set_size.hold_out": len(found.best_set())}


def of_criteria(found: Any) -> dict[str, float]:
    return {
        f"{criterion}.{name}": found.columns[criterion][place]
        for place, name in enumerate("ab")
        for criterion in ("e_in", "permutation", "loo")
    }


def of_blocks(found: Any) -> dict[str, float]:
    names = ("gain", "conf_low", "conf_high", "pvalue", "pvalue_adjusted")
    rows = found.frame.to_dict("records")
    return {f"{name}.{row['block']}": row[name] for row in rows for name in names}


@dataclass(frozen=True)
class Logged:
    """A call, and what its run has to contain."""

    make: Callable[[], Any]
    key: str
    run_name: str
    metrics: Callable[[Any], dict[str, float]]
    files: set[str]
    params: dict[str, str] = field(default_factory=dict)
    whole: bool = True
    """Whether these are all metrics."""
    has_data: bool = True


def compared(*learners: str, tests: Any = "hold_out", **options: Any) -> Callable[[], Any]:
    return lambda: uv.compare(X, Y, list(learners), tests, rng=0, **options)


def selected() -> Any:
    criteria = ["permutation", "loo"]
    return uv.select_model(
        X, Y, {"a": "lda", "b": "knn:3"}, criteria=criteria, n_permutations=5, rng=0
    )


ROWS: dict[str, Logged] = {
    "test": Logged(
        lambda: uv.CorrectedTTest(X, Y, "lda", "knn:3", groups=GROUPS).fit(rng=0),
        f"{PAIR}.corrected_t",
        "lda vs knn:3 (corrected_t)",
        of_test,
        OF_TEST | {"learners.json"},
        {"learner": "lda", "other": "knn:3", "alpha": "0.05", "n_groups": "10"}
        | {"smallest_group": "2", "largest_group": "2", "group_weight": "group"},
    ),
    "posterior": Logged(
        lambda: uv.BayesianTTest(X, Y, "lda", "knn:3").fit(rng=0),
        f"{PAIR}.bayesian_t",
        "lda vs knn:3 (bayesian_t)",
        of_posterior,
        OF_TEST | {"learners.json"},
    ),
    "test of losses": Logged(
        lambda: uv.HoldOutTest.from_losses(RULES, "rule").fit(),
        "rule.zero_one.hold_out",
        "rule (hold_out)",
        of_test,
        OF_TEST,
        has_data=False,
    ),
    "comparison": Logged(
        compared("lda", "knn:3", tests=["corrected_t", "bayesian_t"]),
        COMPARISON,
        "lda vs knn:3 (comparison)",
        of_tests,
        OF_TABLE | {"comparison.json", "fits.json"},
        {"correction": "holm"},
        whole=False,
    ),
    "pairs": Logged(
        compared("lda", "knn:3", "majority", tests=["corrected_t", "naive_t"]),
        "zero_one.comparison",
        "lda vs knn:3 vs majority (comparison)",
        of_pairs,
        OF_TABLE | {"comparison.json", "fits.json"},
    ),
    "best set": Logged(
        compared("lda", "knn:3", "majority", correction="simultaneous"),
        "zero_one.comparison",
        "lda vs knn:3 vs majority (comparison)",
        of_best_set,
        OF_TABLE | {"comparison.json", "fits.json", "learners_hold_out.json"},
        whole=False,
    ),
    "selection": Logged(
        selected,
        "zero_one.select_model",
        "a or b (select_model)",
        of_criteria,
        OF_TABLE | {"learners.json"},
        {"criterion": "permutation"},
    ),
    "gains of columns": Logged(
        lambda: uv.columns(X, Y, "lda", {"first": [0], "rest": [1, 2]}, fits=40, rng=0),
        "lda.zero_one.columns",
        "lda (columns)",
        of_blocks,
        OF_TABLE | {"gains.json"},
        {"learner": "lda", "copies": "0"},
    ),
    "plan": Logged(
        lambda: uv.plan(X, Y, "nearest_centroid", width=0.3, n=[40], curve=False, rng=0),
        "nearest_centroid.zero_one.plan",
        "nearest_centroid (plan)",
        lambda plan: {"n_needed": plan.n_needed},
        OF_TABLE | {"plan.json"},
        {"alpha": "0.05"},
        whole=False,
    ),
    "plan of rules": Logged(
        lambda: uv.plan(RULES, learner="rule", width=0.3),
        "rule.zero_one.plan",
        "rule (plan)",
        lambda plan: {"n_needed": plan.n_needed},
        OF_TABLE | {"plan.json"},
        {"alpha": "0.05"},
        whole=False,
        has_data=False,
    ),
}


def check(client: MlflowClient, row: Logged, found: Any, *, has_data: bool) -> None:
    """The only run contains the result whole, and nothing else."""
    (run,) = runs(client)
    data = run.data
    assert (run.info.status, run.info.run_name) == ("FINISHED", row.run_name)
    assert keys_of(run) == [row.key]
    prefix = f"ucvtest.{row.key}"
    numbers = {name: value for name, value in data.metrics.items() if name.startswith(prefix)}
    expected = {f"{prefix}/{name}": number for name, number in row.metrics(found).items()}
    assert expected
    assert {name: numbers.get(name) for name in expected} == expected
    assert not row.whole or numbers.keys() == expected.keys()
    assert {f"{prefix}.{name}": value for name, value in row.params.items()}.items() <= (
        data.params.items()
    )
    assert data.tags[f"{prefix}.n_fits"] == str(found.n_fits)
    assert data.tags[f"{prefix}.verdict"] == found.verdict
    assert data.tags["mlflow.note.content"].startswith(f"**{found.verdict[:40]}")
    assert row.files <= files(client, run.info.run_id, row.key)
    assert len(run.inputs.dataset_inputs) == has_data
    again = um.load_result(run.info.run_id)
    assert again.to_dict() == json.loads(json.dumps(found.to_dict()))
    assert again.verdict == found.verdict


@pytest.mark.parametrize("name", ROWS)
def test_by_itself_and_by_hand(client: MlflowClient, spool: Path, name: str) -> None:
    um.autolog(spool_dir=spool)
    found = ROWS[name].make()
    check(client, ROWS[name], found, has_data=ROWS[name].has_data)
    assert list(spool.iterdir()) == []
    (of_itself,) = runs(client)
    logged = um.log_result(found)
    assert logged.key == ROWS[name].key
    by_hand = client.get_run(logged.run_id)
    assert by_hand.data.metrics == of_itself.data.metrics
    assert by_hand.data.params == of_itself.data.params
    assert files(client, *logged) == files(client, of_itself.info.run_id, logged.key)
    # What waits for a server on disk is the same.
    kept = Record.from_json(Record(found, mlflow.get_tracking_uri()).to_json()).result
    assert kept.to_dict() == um.load_result(*logged).to_dict()


@pytest.mark.parametrize("name", ["test", "test of losses", "comparison", "plan of rules"])
def test_by_the_environment(
    client: MlflowClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Whatever comes first, fitted or not."""
    monkeypatch.setattr(autologging, "autolog", lambda: um.autolog(spool_dir=tmp_path / "spool"))
    hooks.add_hook(AutologByEnvironment())
    found = ROWS[name].make()
    check(client, ROWS[name], found, has_data=ROWS[name].has_data)
    ROWS[name].make()
    assert len(runs(client)) == 2
    assert len(hooks.installed_hooks()) == 1


def test_by_the_shell(client: MlflowClient, tmp_path: Path) -> None:
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y).to_csv(tmp_path / "data.csv", index=False)
    options = "--target y --learner lda --other knn:3 --tests corrected_t,naive_t --mlflow"
    arguments = ["compare", str(tmp_path / "data.csv"), *options.split()]
    outcome = CliRunner().invoke(cli.app, arguments)
    assert outcome.exit_code == 0, outcome.output
    (run,) = runs(client)
    assert keys_of(run) == [COMPARISON]


# ------------------------------------------------------------------------------ one result


def test_a_run_of_its_own(client: MlflowClient, spool: Path, tmp_path: Path) -> None:
    um.autolog(spool_dir=spool)
    finish()
    (run,) = runs(client)
    # The run shows how long the test took.
    assert run.info.end_time - run.info.start_time >= 24300
    assert run.data.tags["mlflow.autologging"] == "ucvtest"
    # The page shows blocks of code as they are, and tables without lines.
    note = run.data.tags["mlflow.note.content"]
    assert note.startswith(f"**{RESULT.verdict}**\n\n```\n")
    assert "\nfirst - second " in note
    assert "Verdict" not in note
    assert run.data.tags["mlflow.source.name"]
    tags, key = run.data.tags, f"ucvtest.{KEY}"
    assert (tags[f"{key}.seconds"], tags[f"{key}.n_fits"]) == ("24.3", "8000")
    assert len(tags[f"{key}.uuid"]) == 32
    assert (tags[f"{key}.status"], tags["ucvtest.version"]) == ("ok", uv.__version__)
    (data,) = run.inputs.dataset_inputs
    assert tags[f"{key}.dataset"] == data.dataset.digest
    # Short names too, which the page of a run shows whole.
    low, high = RESULT.conf_int()
    short = {"estimate": -0.14, "pvalue": 0.19, "conf_low": low, "conf_high": high}
    for name, number in short.items():
        assert run.data.metrics[f"ucvtest.{name}"] == number
        assert run.data.metrics[f"{key}/{name}"] == number
    folder = Path(client.download_artifacts(run.info.run_id, f"ucvtest/{KEY}", str(tmp_path)))
    assert (folder / "summary.txt").read_text() == RESULT.summary(notes=True).as_text() + "\n"
    assert (folder / "methods.txt").read_text().startswith(RESULT.methods_text())
    assert (folder / "summary.md").read_text() == RESULT.summary().as_markdown()
    assert (folder / "plot.png").read_bytes().startswith(b"\x89PNG")
    table = mlflow.load_table(VARIANCES, run_ids=[run.info.run_id])
    assert table.loc[0].tolist() == ["unbiased", pytest.approx(-0.35), pytest.approx(0.07)]


def test_several_results_in_a_run_that_somebody_opened(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    second = replace(RESULT, estimate=0.5, settings={"learner": "qda"})
    with new_run() as run:
        mlflow.log_metric("accuracy", 0.9)
        for result in (RESULT, replace(RESULT, estimate=0.25), second):
            finish(result)
        # It is the user's: it goes on, and has no description of ours.
        assert mlflow.active_run().info.run_id == run.info.run_id
        assert client.get_run(run.info.run_id).info.status == "RUNNING"
    (found,) = runs(client)
    metrics, tags = found.data.metrics, found.data.tags
    assert {"mlflow.note.content", "mlflow.autologging"}.isdisjoint(tags)
    # The first result has the short names.
    assert (metrics["ucvtest.estimate"], tags["ucvtest.verdict"]) == (-0.14, RESULT.verdict)
    for key, estimate in ((KEY, -0.14), (f"{KEY}.2", 0.25), ("qda.ustatistic", 0.5)):
        assert metrics[f"ucvtest.{key}/estimate"] == estimate
        assert um.load_result(run.info.run_id, key).estimate == estimate
    assert found.data.params["ucvtest.qda.ustatistic.learner"] == "qda"


def test_values_without_a_number_are_tags_and_open_ends_are_kept(client: MlflowClient) -> None:
    table = {"variance": ("a", "b"), "conf_low": (-math.inf, math.nan)}
    one_sided = replace(RESULT, alternative="less", pvalue=math.nan, status="too few resamples")
    logged = um.log_result(replace(one_sided, tables={"Variances": table}))
    data = client.get_run(logged.run_id).data
    values = {"conf_low": "-inf", "pvalue": "nan", "status": "too few resamples"}
    for name, value in values.items():
        assert data.tags[f"ucvtest.{KEY}.{name}"] == value
        assert f"ucvtest.{KEY}/{name}" not in data.metrics
    found = mlflow.load_table(VARIANCES, run_ids=[logged.run_id])
    assert float(found["conf_low"][0]) == -math.inf
    assert pd.isna(found["conf_low"][1])


def test_long_settings_are_cut_and_kept_whole_in_the_result(client: MlflowClient) -> None:
    result = replace(RESULT, settings={"learner": "x" * 9000, "other": None})
    logged = um.log_result(result)
    run = client.get_run(logged.run_id)
    value = run.data.params[f"ucvtest.{logged.key}.learner"]
    assert (len(value), value[-5:]) == (500, "x ...")
    assert run.info.run_name == "x" * 36 + " ... (ustatistic)"
    assert um.load_result(logged.run_id).to_json() == result.to_json()


OPTIONS = [("log_plots", "plot.png"), ("log_tables", "variances.json"), ("log_datasets", "data")]


@pytest.mark.parametrize(("option", "gone"), OPTIONS)
def test_options_leave_parts_out(client: MlflowClient, spool: Path, option: str, gone: str) -> None:
    um.autolog(spool_dir=spool, **{option: False})
    finish()
    (run,) = runs(client)
    found = files(client, run.info.run_id) | ({"data"} if run.inputs.dataset_inputs else set())
    assert found == (OF_TEST | {"variances.json", "data"}) - {gone}


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


def test_the_picture_is_among_the_charts_of_the_run(client: MlflowClient, spool: Path) -> None:
    """Under the names that MLflow gives, as its pages show nothing else."""
    um.autolog(spool_dir=spool)
    finish()
    (run,) = runs(client)
    assert run.data.tags["mlflow.loggedImages"] == "True"
    with new_run() as other:
        picture = np.zeros((9, 9), dtype=np.uint8)
        client.log_image(other.info.run_id, picture, key=f"ucvtest.{KEY}/plot", step=0)

    def names(run_id: str) -> list[str]:
        """Without the time and the number, which are of one picture."""
        listed = client.list_artifacts(run_id, "images")
        return sorted(
            re.sub(r"\d{13}.[a-z0-9-]{32,36}", "", Path(each.path).name) for each in listed
        )

    assert names(run.info.run_id) == names(other.info.run_id)


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
    assert len(um.load_table(run_id, f"ucvtest/{KEY}.2/variances.json")) == 1
    for full in (json.dumps([{"path": "x" * 4950, "type": "table"}]), '[{"path": "'):
        run_id = client.create_run("0", run_name="full").info.run_id
        client.set_tag(run_id, LISTED, full)
        key = um.log_result(RESULT, run_id).key
        assert client.get_run(run_id).data.tags[LISTED] == full
        assert "variances.json" in files(client, run_id, key)


# ------------------------------------------------------------------ names, and their number

LONG, NO_NAME = "x" * content.LONGEST_NAME, "learner"
NAMES: dict[str, tuple[list[str], list[str]]] = {
    "no room": (["ä" * 300, "x" * 300, "x" * 299 + "y"], [f"{NO_NAME}_vs_{LONG}_2"]),
    "like pairs": (["a", "a_vs_c", "c"], ["a_vs_c", "a_vs_c_2"]),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_that_keys_cannot_tell_apart(client: MlflowClient, name: str) -> None:
    names, expected = NAMES[name]
    learners = dict(zip(names, ("lda", "knn:3", "majority"), strict=True))
    tests = {"A": "hold_out", "a": "corrected_t", "+": "naive_t"}
    found = uv.compare(X, Y, learners, tests, rng=0)
    metrics = client.get_run(um.log_result(found).run_id).data.metrics
    for pair in expected:
        for label in ("a", "a_2", "test"):
            assert f"ucvtest.zero_one.comparison/estimate.{pair}.{label}" in metrics
    # Three pairs and three learners by three tests.
    assert sum("/estimate." in each for each in metrics) == 3 * (3 + 3)


def test_metrics_have_keys_of_their_own(client: MlflowClient) -> None:
    metrics = ["f1", "fbeta(2)", 'recall["yes"]']
    rules = {"new": Y[::-1].copy(), "old": np.roll(Y, 1)}
    rules["new"][:3] = "yes"
    losses = uv.Losses.from_predictions(Y, rules, metric="f1", pos_label="yes")
    compared = uv.compare_losses(losses, "hold_out", metric=metrics)
    logged = client.get_run(um.log_result(compared).run_id).data
    for key in ("f1", "fbeta_2", "recall_yes"):
        name = f"ucvtest.new_vs_old.comparison/estimate_learner.{key}"
        assert name in logged.metrics
        # Short enough for the page of a run.
        assert f"ucvtest.estimate.{key}" in logged.metrics


def test_more_numbers_than_a_request_takes(
    client: MlflowClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ROWS["best set"].make()
    whole = client.get_run(um.log_result(found).run_id).data.metrics
    monkeypatch.setattr(delivery, "MOST_NUMBERS", 4)
    assert client.get_run(um.log_result(found).run_id).data.metrics == whole


def test_more_parameters_than_a_store_reads_quickly(
    client: MlflowClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store reads all of a run to add one, so that those of later results are tags."""
    n_params = len(content.params(RESULT, f"ucvtest.{KEY}"))
    monkeypatch.setattr(delivery, "MOST_PARAMS", 2 * n_params)
    with new_run() as run:
        mlflow.log_param("theirs", 1)
        results = [um.log_result(RESULT).key for _ in range(3)]
    data = client.get_run(run.info.run_id).data
    chosen = ("learner", "other", "learn_size", "alpha")
    for key in results:
        values = data.params if key in results[:2] else data.tags
        assert [values[f"ucvtest.{key}.{name}"] for name in chosen] == ["lda", "knn:3", "9", "0.05"]
    # Each has one more, by which it has its key.
    assert len(data.params) == 1 + 2 * n_params + 3


def test_comparisons_can_be_found_and_their_status_names_the_test(client: MlflowClient) -> None:
    um.log_result(ROWS["pairs"].make())
    column = "metrics.`ucvtest.zero_one.comparison/pvalue.lda_vs_majority.corrected_t`"
    assert len(mlflow.search_runs(filter_string=f"{column} <= 1", order_by=[column])) == 1
    found = uv.compare(X, Y, {"a": "majority", "b": "majority"}, "corrected_t", rng=0)
    status = client.get_run(um.log_result(found).run_id).data.tags
    assert status["ucvtest.a_vs_b.zero_one.comparison.status"].startswith("corrected_t a b: deg")


# --------------------------------------------------------------------------- data sets


@pytest.mark.parametrize("features", [X, pd.DataFrame(X, columns=["a", "b", "response"])])
def test_data_are_logged_once(client: MlflowClient, spool: Path, features: Any) -> None:
    um.autolog(spool_dir=spool, log_plots=False)
    test = sampled(features)
    with new_run() as run:
        finish(test=test)
        finish(test=test)
    (item,) = client.get_run(run.info.run_id).inputs.dataset_inputs
    assert item.dataset.name == "sample 20 x 3"
    assert [(tag.key, tag.value) for tag in item.tags] == [("mlflow.data.context", "ucvtest")]
    other = content.describe_data(sampled(features * 2))
    assert other is not None
    assert other["digest"] != item.dataset.digest
    if isinstance(features, pd.DataFrame):
        assert "response_" in item.dataset.schema


def sampled(features: Any) -> Any:
    sample = type("Sample", (), {"features": features, "response": Y})
    return type("Test", (), {"sample": sample})


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
        with new_run() as run:
            mlflow.log_input(dataset)
            finish(test=sampled(X if name == "arrays" else table))
        found = client.get_run(run.info.run_id)
        assert [each.dataset.digest for each in found.inputs.dataset_inputs] == [dataset.digest]
        assert found.data.tags[f"ucvtest.{KEY}.dataset"] == dataset.digest
    # Others' data are left alone, and what MLflow cannot describe is not logged.
    with new_run() as run:
        mlflow.log_input(mlflow.data.from_pandas(everything.iloc[::-1], targets="ill"))
        finish(test=sampled(table))
    assert len(client.get_run(run.info.run_id).inputs.dataset_inputs) == 2
    with new_run() as run, pytest.warns(uv.UcvtestWarning, match="data set is not logged"):
        finish(test=sampled(type("Odd", (), {"shape": (3, 3)})))
    assert client.get_run(run.info.run_id).inputs.dataset_inputs == []
