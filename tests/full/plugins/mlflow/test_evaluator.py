"""Comparison of a model with a baseline on the same rows, inside `mlflow.models.evaluate`."""

import shutil
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.svm import LinearSVC

import ucvtest as uv
from tests.core.doors.questions import OF_RULES, OfRules, expected
from tests.support import ledgers
from tests.support.metric_table import TABLE
from tests.support.paths import ROOT
from ucvtest import UcvtestWarning

pytest.importorskip("mlflow", reason="MLflow is missing: pip install 'ucvtest[mlflow]'")

import mlflow
import ucvtest_mlflow as um
from mlflow import MlflowClient

with warnings.catch_warnings():
    # MLflow warns of its own type hints where it is imported.
    warnings.simplefilter("ignore")
    import mlflow.pyfunc
    import mlflow.sklearn
    from mlflow.models.evaluation import evaluator_registry

from ucvtest_mlflow.comparison import Rows, compare_predictions
from ucvtest_mlflow.delivery import keys_of
from ucvtest_mlflow.evaluator import UcvtestEvaluator

from tests.support.mlflow_runs import WARNINGS

pytestmark = [
    *WARNINGS,
    pytest.mark.filterwarnings("ignore:Saving scikit-learn models:FutureWarning"),
    # MLflow's import hook, for what is imported after it.
    pytest.mark.filterwarnings("ignore:_ImportHookChainedLoader.exec_module:ImportWarning"),
    # MLflow on integer columns that might have missing values one day.
    pytest.mark.filterwarnings("ignore:.*Hint. Inferred schema contains integer:UserWarning"),
]


@pytest.fixture(scope="module")
def store(empty_store: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    copied = shutil.copy(empty_store, tmp_path_factory.mktemp("evaluator"))
    return f"sqlite:///{copied}"


@pytest.fixture
def client(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MlflowClient]:
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(store)
    registry = evaluator_registry._model_evaluation_registry
    before = dict(registry._registry)
    registry.register("ucvtest", UcvtestEvaluator)
    yield MlflowClient()
    registry._registry = before
    mlflow.set_tracking_uri(None)


def drawn() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    frame = pd.DataFrame({"a": y + rng.normal(size=80), "b": rng.normal(size=80)})
    return frame.assign(y=y, old=(frame.b > 0).astype(int), new=(frame.a > 0.5).astype(int))


@pytest.fixture
def data() -> pd.DataFrame:
    return drawn()


def evaluate(data: pd.DataFrame, config: dict[str, Any] | None, **kwargs: Any) -> Any:
    arguments = {"targets": "y", "model_type": "classifier", "evaluators": "ucvtest"} | kwargs
    with mlflow.start_run(run_name="mine"):
        return mlflow.models.evaluate(data=data, evaluator_config=config, **arguments)


# The test that the evaluator chooses for a loss; a metric has the last one.
CHOSEN = {"zero_one": "mcnemar", "auc": "delong"}
NAMES = ("f1", 'recall["ill"]', "r2", "squared", "log", "zero_one", "auc")
ASKED = [
    each
    for each in OF_RULES
    if "mlflow" in each.doors and each.test == CHOSEN.get(each.asked, "hold_out")
    # One of each kind: they are asked of all doors elsewhere.
    if each.asked in NAMES and not (each.groups and each.asked in ("r2", "squared"))
]
EXPECTED = expected()


@pytest.mark.parametrize("question", ASKED, ids=str)
def test_the_evaluator_gives_the_numbers_of_every_door(
    client: MlflowClient, question: OfRules
) -> None:
    target, new, old = question.columns
    config: dict[str, Any] = {"baseline": old, "margin": 0.15}
    config["metric" if question.is_metric else "loss"] = question.asked
    if question.has_classes:
        config["pos_label"] = "ill"
    if question.groups:
        config["groups"] = "house"
    found = evaluate(TABLE, config, predictions=new, targets=target)
    run = client.get_run(found.run_id)
    (key,) = keys_of(run)
    names = ("estimate", "se", "statistic", "pvalue", "conf_low", "conf_high")
    numbers = [found.metrics[f"ucvtest.{key}/{name}"] for name in names]
    np.testing.assert_allclose(numbers, EXPECTED[str(question)], rtol=1e-8, atol=1e-10)
    assert found.metrics.items() <= run.data.metrics.items()
    result = um.load_result(found.run_id)
    assert run.data.tags[f"ucvtest.{key}.verdict"] == result.verdict
    judged = result.noninferiority(0.15)
    prefix = f"ucvtest.{key}/noninferiority"
    assert found.metrics[f"{prefix}.pvalue"] == judged.pvalue
    assert found.metrics[f"{prefix}.passed"] == float(judged.decision == "pass")
    tag = f"ucvtest.{key}.noninferiority"
    assert run.data.tags[f"{tag}.decision"] == judged.decision
    assert run.data.tags[f"{tag}.verdict"] == judged.verdict
    assert (f"ucvtest.{key}.n_groups" in run.data.params) == question.groups


def test_files_stay_with_the_evaluation(
    client: MlflowClient, data: pd.DataFrame, tmp_path: Path
) -> None:
    found = evaluate(data, {"baseline": "old"}, predictions="new")
    prefix = "ucvtest.new_vs_old.zero_one.mcnemar"
    assert "McNemar" in found.artifacts[f"{prefix}.summary.txt"].content
    found.save(tmp_path / "evaluation")
    loaded = type(found).load(tmp_path / "evaluation")
    assert loaded.artifacts[f"{prefix}.result.json"].content["n_obs"] == 80
    # Of regressors the loss is another one, unless it is named.
    amounts = {"predictions": "a", "model_type": "regressor"}
    squared = evaluate(data.assign(q=0.5), {"baseline": "q"}, **amounts).metrics
    assert "ucvtest.a_vs_q.squared.hold_out/estimate" in squared


def test_models_and_baselines_of_every_kind(client: MlflowClient, data: pd.DataFrame) -> None:
    names: list[list[str]] = []

    def new(features: pd.DataFrame) -> Any:
        names.append(list(features.columns))
        return (features.a > 0.5).astype(int)

    class Old:
        def predict(self, features: pd.DataFrame) -> Any:
            return pd.DataFrame({"label": (features.b > 0).astype(int)})

    patient = np.arange(80) // 4
    rows = data[["a", "b", "y", "old"]].assign(patient=patient)
    estimate = "zero_one.mcnemar/estimate"
    losses = uv.Losses.from_predictions(data.y, {"new": data.new, "old": data.old}, groups=patient)
    expected = uv.McNemarTest.from_losses(losses).fit()
    configs: list[tuple[str, dict[str, Any]]] = [
        ("old", {"baseline": "old", "groups": "patient"}),
        ("baseline", {"baseline": data.old.tolist(), "groups": patient.tolist()}),
        ("baseline", {"baseline_model": Old(), "groups": "patient"}),
        ("baseline", {"baseline_model": lambda features: (features.b > 0).astype(int)}),
    ]
    for other, config in configs:
        found = evaluate(rows, config, model=new).metrics
        assert found[f"ucvtest.model_vs_{other}.{estimate}"] == expected.estimate
    # The model sees neither the column of the baseline nor the groups.
    assert names[0] == ["a", "b"]


def test_rows_as_mlflow_gives_them() -> None:
    y = np.array([0, 1] * 10)
    # Labels of another type are the same labels.
    result = compare_predictions(Rows(y, y.astype(float), y == 0, ("new", "new")))
    assert (result.estimate, result.status) == (-1.0, "ok")
    assert [result.settings[name] for name in ("learner", "other")] == ["new", "new (2)"]
    # A label that no row has is an error of the model.
    names = np.where(y == 1, "b", "a")
    with pytest.warns(UcvtestWarning, match="labels that do not occur in y"):
        strange = compare_predictions(Rows(names, np.where(y == 1, "d", "a"), names))
    assert strange.diagnostics["estimate_learner"] == 0.5
    several = np.random.default_rng(5).dirichlet([1, 1, 1], size=(2, 60))
    classes = np.array(["a", "b", "c"] * 20)
    area = compare_predictions(Rows(classes, *several), "auc", pos_label="b")
    own = roc_auc_score(classes == "b", several[0][:, 1])
    assert area.diagnostics["estimate_learner"] == pytest.approx(own)


# In this order, as MLflow's own evaluator draws for seconds.
NAMED: list[dict[str, Any]] = [{"evaluators": ["ucvtest", "default"]}, {"evaluators": "ucvtest"}]
REFUSED: list[tuple[dict[str, Any] | None, dict[str, Any], str]] = [
    *((config, NAMED[1], "has no baseline") for config in (None, {}, {"pos_label": 1})),
    ({"ucvtest": {"pos_label": 1}}, NAMED[0], "has no baseline"),
    ({"baseline": None}, {}, "has no baseline"),
    ({"baseline": "old", "baseline_model": abs}, {}, "has baseline and baseline_model"),
    ({"baseline": "older"}, {}, "baseline='older' is not a column"),
    ({"baseline": [0, 1]}, {}, r"predictions\['baseline'\] has 2 values, but 80 are needed"),
    ({"baseline_model": 3}, {}, "baseline_model must be .* got int"),
    ({"baseline": "old"}, {"predictions": None}, "nothing to compare"),
    ({"baseline": "old", "groups": "ward"}, {}, "groups='ward' is not a column"),
    ({"baseline": "old", "groups": [1, 2]}, {}, "groups must name a group for each of 80 rows"),
    ({"baseline": "old", "metric": ["f1", "mcc"]}, {}, "names several metrics: pass one"),
    ({"baseline": "old", "margin": "0.1"}, {}, "margin must be"),
    ({"baseline": "old", "metric": "f1", "loss": "log"}, {}, "exclude each other"),
    # Misspelt, wherever the options are, and whether or not the evaluator is named.
    *(
        (config, options, f"{typed!r}, which it does not know: did you mean {meant!r}")
        for typed, meant in [("baselin", "baseline"), ("base_model", "baseline_model")]
        for config, options in [
            ({typed: "old"}, {"evaluators": None}),
            ({"ucvtest": {typed: "old"}}, NAMED[0]),
        ]
    ),
    ({"baseline": "old", "metrics": "f1"}, {}, "did you mean 'metric'"),
]


@pytest.mark.parametrize(("config", "options", "message"), REFUSED)
def test_nothing_is_left_out_or_guessed_in_silence(
    client: MlflowClient, data: pd.DataFrame, config: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(data, config, **({"predictions": "new"} | options))


def test_options_of_others_are_named(client: MlflowClient, data: pd.DataFrame) -> None:
    with pytest.warns(UcvtestWarning, match="metric_prefix, which ucvtest does not know"):
        evaluate(data, {"baseline": "old", "metric_prefix": "x"}, predictions="new")
    with pytest.raises(ValueError, match="targets are missing"):
        UcvtestEvaluator().evaluate(
            model_type=None,
            dataset=SimpleNamespace(labels_data=None),
            run_id="",
            evaluator_config={"baseline": "old"},
        )


def test_harmless_where_it_is_not_configured(client: MlflowClient, data: pd.DataFrame) -> None:
    configs: list[Any] = [None, {}, {"metric_prefix": "x", "pos_label": 1}]
    for config in [*configs, {"default": {"baseline": "old"}}]:
        assert not UcvtestEvaluator.can_evaluate(model_type="classifier", evaluator_config=config)
    found = evaluate(data, configs[-1], predictions="new", evaluators=None)
    assert not [name for name in found.metrics if name.startswith("ucvtest")]


@pytest.mark.parametrize("option", ["baseline", "groups"])
def test_rows_in_another_order_are_refused(
    client: MlflowClient, data: pd.DataFrame, option: str
) -> None:
    rows = data.set_index(pd.Index([f"patient {k}" for k in range(len(data))]))
    config = {"baseline": rows.old, "groups": pd.Series(np.arange(len(rows)) // 2, rows.index)}
    evaluate(rows, config, predictions="new")
    with pytest.raises(ValueError, match=f"the data and {option} have the same index in another"):
        evaluate(rows, config | {option: config[option].iloc[::-1]}, predictions="new")


SLICES: dict[str, tuple[dict[str, Any], str, str]] = {
    "one class, AUC": ({"loss": "auc"}, "p", "p_vs_q.auc.note"),
    "one class, F1": ({"metric": "f1", "baseline": "old"}, "new", "new_vs_old.f1.note"),
    "one group": ({"groups": "ward", "baseline": "old"}, "new", "new_vs_old.zero_one.note"),
    "one row": ({"baseline": "old"}, "new", "new_vs_old.zero_one.note"),
}


@pytest.mark.parametrize("name", SLICES)
def test_a_slice_that_tells_nothing_ends_with_a_note(
    client: MlflowClient, data: pd.DataFrame, name: str
) -> None:
    config, predictions, note = SLICES[name]
    rows = data.assign(p=1 / (1 + np.exp(-data.a)), q=0.5, ward=np.arange(80) // 40)
    chosen = {"one group": rows.ward == 0, "one row": rows.index == 0}.get(name, rows.y == 1)
    with pytest.warns(UcvtestWarning, match=f"the tag ucvtest.{note} of the run says so"):
        found = evaluate(rows[chosen], {"baseline": "q"} | config, predictions=predictions)
    assert found.metrics == {}
    said = client.get_run(found.run_id).data.tags[f"ucvtest.{note}"]
    assert said.startswith("not tested, as ")
    # Errors are compared where there is one class alone.
    if name == "one class, F1":
        ill = evaluate(rows[chosen], {"baseline": "old"}, predictions="new").metrics
        estimate = (rows.new[chosen] != 1).mean() - (rows.old[chosen] != 1).mean()
        assert ill["ucvtest.new_vs_old.zero_one.mcnemar/estimate"] == pytest.approx(estimate)


def test_logged_models(client: MlflowClient, data: pd.DataFrame) -> None:
    X = data[["a", "b"]]
    with mlflow.start_run(run_name="learnt"):
        uris = [
            mlflow.sklearn.log_model(
                LogisticRegression().fit(X[columns], data.y), name=name, pip_requirements=[]
            ).model_uri
            for name, columns in (("small", ["b"]), ("smaller", ["b"]))
        ]
    rows = data[["b", "y"]]
    found = evaluate(rows, {"baseline_model": uris[1]}, model=uris[0])
    prefix = "ucvtest.model_vs_baseline.zero_one.mcnemar"
    assert (found.metrics[f"{prefix}/estimate"], found.metrics[f"{prefix}/pvalue"]) == (0, 1)
    tags = client.get_run(found.run_id).data.tags
    assert (tags[f"{prefix}.model_uri"], tags[f"{prefix}.baseline_uri"]) == tuple(uris)
    assert f"{prefix}.baseline_version" not in tags
    # As a registered one, by its alias.
    version = mlflow.register_model(uris[1], "sick")
    client.set_registered_model_alias("sick", "champion", version.version)
    found = evaluate(rows, {"baseline_model": "models:/sick@champion"}, model=uris[0])
    tags = client.get_run(found.run_id).data.tags
    assert (tags[f"{prefix}.baseline_name"], tags[f"{prefix}.baseline_version"]) == ("sick", "1")


@pytest.fixture(scope="module")
def learnt(store: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Two classifiers by MLflow's address, and the frame that both were fitted to.

    They are logged once: no test changes a model, and each has a run of its own.
    """
    data = drawn()
    rows = data[["a", "b"]].assign(y=np.where(data.y == 1, "no", "yes"))
    fits = {"new": LogisticRegression(), "old": LogisticRegression(C=1e-3)}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("learnt"))
        mlflow.set_tracking_uri(store)
        with mlflow.start_run(run_name="learnt"):
            for name, model in fits.items():
                model.fit(rows[["a", "b"]], rows.y)
                info = mlflow.sklearn.log_model(model, name=name, pip_requirements=[])
                fits[name] = info.model_uri
        mlflow.set_tracking_uri(None)
    return {"rows": rows, **fits}


@pytest.fixture
def logged(learnt: dict[str, Any], client: MlflowClient) -> dict[str, Any]:
    """The same, in the store that is MLflow's current one; the frame is the test's own."""
    return learnt | {"rows": learnt["rows"].copy()}


def scores_of(logged: dict[str, Any], name: str, label: str) -> np.ndarray:
    model = mlflow.sklearn.load_model(logged[name])
    column = list(model.classes_).index(label)
    return np.asarray(model.predict_proba(logged["rows"][["a", "b"]])[:, column])


# MLflow itself names the labels to scikit-learn in an order that this does not like.
@pytest.mark.filterwarnings("ignore:Labels passed were:UserWarning")
def test_models_are_asked_for_probabilities(logged: dict[str, Any]) -> None:
    """The function that MLflow calls gives labels: their log loss was 5.754 for 0.389."""
    label = "no"
    positive = (logged["rows"].y == label).to_numpy().astype(int)
    theirs: dict[str, float] = {}
    for loss, name, metric in (("log", "log_loss", log_loss), ("auc", "roc_auc", roc_auc_score)):
        config: dict[str, Any] = {
            "ucvtest": {"baseline_model": logged["old"], "loss": loss, "pos_label": label}
        }
        if not theirs:
            # MLflow's own evaluator, which draws for seconds, gives both numbers at once.
            config["default"] = {"pos_label": label, "log_model_explainability": False}
        found = evaluate(logged["rows"], config, model=logged["new"], evaluators=list(config))
        theirs = theirs or found.metrics
        table = um.load_result(found.run_id).tables["Learners"]
        expected = [metric(positive, scores_of(logged, model, label)) for model in ("new", "old")]
        assert table["estimate"] == pytest.approx(expected, rel=1e-6)
        assert table["estimate"][0] == pytest.approx(theirs[name], rel=1e-6)


def test_every_way_to_probabilities_is_the_same(logged: dict[str, Any]) -> None:
    rows = logged["rows"]
    old = mlflow.sklearn.load_model(logged["old"])
    with mlflow.start_run(run_name="probabilities"):
        signature = mlflow.models.infer_signature(rows[["a", "b"]], np.zeros((1, 2)))
        info = mlflow.sklearn.log_model(
            old,
            name="old",
            pip_requirements=[],
            pyfunc_predict_fn="predict_proba",
            signature=signature,
        )
    # Of a function, two columns are those of the sorted labels, and one does not say of which.
    ways: list[tuple[Any, Any]] = [
        (info.model_uri, None),
        (old, None),
        (lambda X: old.predict_proba(X), None),
        (lambda X: pd.DataFrame(old.predict_proba(X), columns=old.classes_), None),
        (lambda X: old.predict_proba(X)[:, 0], "no"),
    ]
    wide = rows.assign(other=0.0)
    signed = {"model": info.model_uri}
    for baseline, label in ways:
        config = {"baseline_model": baseline, "loss": "log", "pos_label": label}
        found = evaluate(rows, config, **signed)
        assert found.metrics["ucvtest.model_vs_baseline.log.hold_out/estimate"] == 0
    with pytest.raises(ValueError, match=r"pos_label is missing: .*pass pos_label='yes' if"):
        evaluate(rows, {"baseline_model": ways[-1][0], "loss": "log"}, **signed)
    scored = evaluate(rows, {"baseline_model": logged["new"], "metric": "brier_skill"}, **signed)
    learners = um.load_result(scored.run_id).tables["Learners"]["estimate"]
    yes = (rows.y == "yes").to_numpy()
    for name, skill in zip(("old", "new"), learners, strict=True):
        brier = np.mean((yes - scores_of(logged, name, "yes")) ** 2)
        assert skill == pytest.approx(1 - brier / (yes.mean() * (1 - yes.mean())))
    # The columns that a model was logged with are picked, as MLflow does for `predict`.
    column = {"baseline": "half", "loss": "log", "pos_label": "yes"}
    assert evaluate(wide.assign(half=0.5), column, **signed).metrics


def test_a_decision_function_serves_the_auc_alone(logged: dict[str, Any]) -> None:
    rows = logged["rows"]
    features, column = rows[["a", "b"]], {"baseline": "half", "loss": "auc"}
    machine = LinearSVC(random_state=0).fit(features, rows.y)
    with mlflow.start_run(run_name="margin"):
        uri = mlflow.sklearn.log_model(machine, name="svm", pip_requirements=[]).model_uri
    half = rows.assign(half=0.5)
    for label, sign in (("yes", 1), ("no", -1)):
        found = evaluate(half, column | {"pos_label": label}, model=uri)
        expected = roc_auc_score(rows.y == label, sign * machine.decision_function(features))
        assert found.metrics["ucvtest.model_vs_half.auc.delong/estimate"] == pytest.approx(
            expected - 0.5
        )
    for asked in ({"model": uri}, {"model": lambda X: np.full(len(X), "yes")}):
        with pytest.raises(ValueError, match=r"model are all labels.*Pass a model with predict_pr"):
            evaluate(half, column | {"loss": "log"}, **asked)


def test_entry_point_without_jax() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["mlflow.model_evaluator"]["ucvtest"].partition(":")
    assert getattr(import_module(module), name) is UcvtestEvaluator
    code = f"import sys, {module}; print([name for name in sys.modules if 'jax' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


LABELS_REFUSED: list[tuple[dict[str, Any], str]] = [
    *(({"metric": name}, "pos_label is missing") for name in ("f1", "average_precision")),
    ({"loss": "auc", "y": [0, 1]}, "for the classes 'no', 'yes', the targets have 0, 1"),
    ({"loss": "zero_one", "third": 1}, "mixes labels of types"),
    ({"loss": "auc", "third": 1}, "for the classes 'no', 'yes', the targets have 'no', 1, 'yes'"),
    *(({"third": third}, "y has 1 missing values") for third in (None, float("nan"))),
]


@pytest.mark.parametrize(("asked", "message"), LABELS_REFUSED)
def test_targets_that_do_not_fit_the_models(
    logged: dict[str, Any], asked: dict[str, Any], message: str
) -> None:
    rows = logged["rows"].astype({"y": object})
    if "third" in asked:
        rows.loc[3, "y"] = asked["third"]
    if "y" in asked:
        rows = rows.assign(y=(rows.y == "yes").astype(int))
    config = {name: value for name, value in asked.items() if name not in ("third", "y")}
    with pytest.raises(ValueError, match=message):
        evaluate(rows, {"baseline_model": logged["old"]} | config, model=logged["new"])


@pytest.mark.seconds(20, reason="evaluates four times")
def test_the_answers_of_a_ledger(client: MlflowClient, tmp_path: Path) -> None:
    path = tmp_path / "mlflow.jsonl"
    uv.Ledger(path).open(uv.Losses.from_predictions("y", ledgers.TABLE[["y", "old"]]), stake=0.2)
    options: dict[str, Any] = {}
    asks = zip(
        ("old", "old", "new"),
        ledgers.ASKS.items(),
        ledgers.answers_in_python(tmp_path),
        strict=True,
    )
    for baseline, (name, margin), (decision, budget) in asks:
        config = {"baseline": baseline, "margin": margin, "ledger": str(path)}
        options = {
            "data": ledgers.TABLE[["y", name, baseline]],
            "predictions": name,
            "targets": "y",
            "model_type": "classifier",
            "evaluator_config": {"ucvtest": config, "default": {"log_explainer": False}},
        }
        alone = options | {"evaluator_config": config}
        with mlflow.start_run(run_name="gate") as run:
            found = mlflow.models.evaluate(evaluators="ucvtest", **alone).metrics
        assert set(found) == {f"ucvtest.ledger/{word}" for word in ("passed", "asks", "budget")}
        assert found["ucvtest.ledger/passed"] == (decision == "pass")
        assert found["ucvtest.ledger/budget"] == budget
        logged = client.get_run(run.info.run_id).data
        assert logged.metrics == found
        assert logged.tags["ucvtest.ledger.decision"] == decision
        assert logged.tags["ucvtest.ledger.chain"] == uv.Ledger(path).show().chain
        assert not client.list_artifacts(run.info.run_id)
    both = {"evaluators": ["ucvtest", "default"], **options}
    with (
        mlflow.start_run(run_name="gate"),
        pytest.raises(ValueError, match="evaluators='ucvtest' alone"),
    ):
        mlflow.models.evaluate(**both)
