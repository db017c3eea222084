"""Comparison of a model with a baseline on the same rows, by itself and inside MLflow."""

import itertools
import math
import shutil
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.svm import LinearSVC

import ucvtest as uv
from tests.support.metric_table import ASKED, TABLE, in_python, numbers_of
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
from ucvtest_mlflow.content import OWN_VALUES
from ucvtest_mlflow.evaluator import UcvtestEvaluator
from ucvtest_mlflow.keys import keys_of

from tests.support.mlflow_runs import WARNINGS

pytestmark = [
    *WARNINGS,
    pytest.mark.filterwarnings("ignore:Saving scikit-learn models:FutureWarning"),
    # MLflow's import hook, for what is imported after it.
    pytest.mark.filterwarnings("ignore:_ImportHookChainedLoader.exec_module:ImportWarning"),
    # MLflow on integer columns that might have missing values one day.
    pytest.mark.filterwarnings("ignore:.*Hint. Inferred schema contains integer:UserWarning"),
]

SIDES = ("two-sided", "less", "greater")


@pytest.fixture
def scores() -> Rows:
    """Two scores with ties."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [22, 18])
    first = np.round(y + rng.normal(size=40), 1)
    return Rows(y, first, np.round(0.5 * y + rng.normal(size=40), 1))


@pytest.fixture
def labels() -> Rows:
    """Three classes, by name."""
    rng = np.random.default_rng(4)
    y = rng.choice(["a", "b", "c"], size=60)
    guess = [np.where(rng.random(60) < share, y, "b") for share in (0.8, 0.5)]
    return Rows(y, guess[0], guess[1], ("new", "old"))


# ------------------------------------------------------------------------------- McNemar


@pytest.mark.parametrize("alternative", SIDES)
def test_mcnemar_is_the_binomial_test_of_the_telling_rows(labels: Rows, alternative: Any) -> None:
    result = compare_predictions(labels, alternative=alternative)
    wrong = [labels.first != labels.y, labels.second != labels.y]
    b, c = int((wrong[0] & ~wrong[1]).sum()), int((~wrong[0] & wrong[1]).sum())
    # From the definition: heads in b + c throws of a fair coin.
    chance = [math.comb(b + c, k) / 2 ** (b + c) for k in range(b + c + 1)]
    tails = {"less": sum(chance[: b + 1]), "greater": sum(chance[b:])}
    tails["two-sided"] = min(1.0, 2 * min(tails.values()))
    assert result.pvalue == pytest.approx(tails[alternative], rel=1e-12)
    assert result.estimate == pytest.approx((b - c) / 60)
    alone = [wrong[0].mean(), wrong[1].mean(), *(stats.sem(each) for each in wrong)]
    own = dict(zip(OWN_VALUES, map(pytest.approx, alone), strict=True))
    counts = {"only_first_wrong": b, "only_second_wrong": c, "n_tested": 60}
    assert result.diagnostics == {**counts, **own}
    assert result.tables["Learners"]["se"] == pytest.approx(alone[2:])
    assert result.settings["learner"] == "new"
    _, rows = result.tables.values()
    assert sum(rows["second right"]) + sum(rows["second wrong"]) == 60
    assert rows["second right"][1] == b


def test_it_is_the_test_of_losses_from_predictions(labels: Rows, scores: Rows) -> None:
    probabilities = {name: 1 / (1 + np.exp(-one)) for name, one in scores.by_name.items()}
    chances = Rows(scores.y, *probabilities.values())
    cases: list[tuple[Rows, Any, Any]] = [
        (labels, "zero_one", uv.McNemarTest),
        (scores, "auc", uv.DeLongTest),
        (chances, "roc_auc", uv.DeLongTest),
        (scores, "squared", uv.HoldOutTest),
        (chances, "brier", uv.HoldOutTest),
        (chances, "log", uv.HoldOutTest),
    ]
    for rows, loss, test in cases:
        losses = uv.Losses.from_predictions(rows.y, rows.by_name, loss=loss)
        expected = test.from_losses(losses).fit()
        assert replace(compare_predictions(rows, loss), elapsed=expected.elapsed) == expected


def test_models_of_one_name(labels: Rows) -> None:
    result = compare_predictions(replace(labels, names=("new", "new")))
    assert [result.settings[key] for key in ("learner", "other")] == ["new", "new (2)"]


def test_several_classes_have_a_column_each(labels: Rows) -> None:
    rng = np.random.default_rng(5)
    first, second = rng.dirichlet([1, 1, 1], size=(2, 60))
    result = compare_predictions(Rows(labels.y, first, second), "log")
    expected = [log_loss(labels.y, one) for one in (first, second)]
    assert result.estimate == pytest.approx(expected[0] - expected[1])
    area = compare_predictions(Rows(labels.y, first, second), "auc", pos_label="b")
    assert area.diagnostics["estimate_learner"] == pytest.approx(
        roc_auc_score(labels.y == "b", first[:, 1])
    )
    assert area.settings["pos_label"] == "b"


def test_a_label_that_no_row_has_is_an_error_of_the_model(labels: Rows) -> None:
    strange = labels.first.copy()
    strange[labels.first == labels.y] = "d"
    with pytest.warns(UcvtestWarning, match="predictions of labels that do not occur in y"):
        result = compare_predictions(Rows(labels.y, strange, labels.second))
    assert result.diagnostics["estimate_learner"] == 1.0


def test_labels_of_another_type_are_the_same_labels() -> None:
    y = np.array([0, 1] * 10)
    first, second = np.array([0.0, 1.0] * 10), y == 0
    result = compare_predictions(Rows(y, first, second))
    assert result.estimate == -1.0
    # All twenty rows tell, which an exact test needs no variance for.
    assert result.status == "ok"
    assert math.isnan(result.se) or result.se == 0
    assert result.pvalue == pytest.approx(2 * 0.5**20)


def test_models_that_err_alike(labels: Rows) -> None:
    result = compare_predictions(Rows(labels.y, labels.first, labels.first))
    assert result.pvalue == 1.0
    assert result.status == "ok"
    low, high = result.conf_int()
    assert low < 0 < high
    assert "the 0 observations where one rule errs" in result.notes[0]


@pytest.mark.parametrize("n_telling", [5, 6, 17])
def test_mcnemar_keeps_its_level(n_telling: int) -> None:
    """Of rows that one rule alone gets right, each is as likely to be one's as the other's."""
    y = np.zeros(n_telling + 3, dtype=int)
    level = 0.0
    for n_first in range(n_telling + 1):
        first = (np.arange(len(y)) < n_first).astype(int)
        second = ((np.arange(len(y)) >= n_first) & (np.arange(len(y)) < n_telling)).astype(int)
        pvalue = compare_predictions(Rows(y, first, second)).pvalue
        level += (pvalue <= 0.05) * math.comb(n_telling, n_first) / 2**n_telling
    # The most that a two-sided binomial test reaches, which is nothing with five rows.
    expected = {5: 0.0, 6: 2 / 2**6, 17: 2 * stats.binom.cdf(4, 17, 0.5)}
    assert level == pytest.approx(expected[n_telling])
    assert level <= 0.05


# -------------------------------------------------------------------------------- DeLong

# R 4.2.2, pROC 1.18.0, on the scores above:
#   roc.test(roc(y, first, direction = "<"), roc(y, second, direction = "<"),
#            method = "delong", paired = TRUE, alternative = ...)
#   ci.auc(roc(y, first, direction = "<"), method = "delong")
# whose intervals are not made on the logit scale, as ours of one AUC are.
PROC = {
    "two-sided": 0.0715765663415103,
    "less": 0.964211716829245,
    "greater": 0.0357882831707551,
}
PROC_Z = 1.80180197858805
PROC_INTERVALS = {
    "conf_low": (0.611802484610472, 0.35242345164894),
    "estimate": (0.771464646464646, 0.546717171717172),
    "conf_high": (0.931126808318821, 0.741010891785403),
}


@pytest.mark.parametrize("alternative", SIDES)
def test_delong_as_proc_has_it(scores: Rows, alternative: Any) -> None:
    result = compare_predictions(scores, "auc", alternative=alternative)
    assert result.statistic == pytest.approx(PROC_Z, rel=1e-12)
    assert result.pvalue == pytest.approx(PROC[alternative], rel=1e-12)
    losses = uv.Losses.from_predictions(scores.y, scores.by_name, loss="auc")
    published = uv.DeLongTest.from_losses(losses).fit(interval="wald")
    for column, expected in PROC_INTERVALS.items():
        assert published.tables["Learners"][column] == pytest.approx(expected, rel=1e-12)
    own = [result.diagnostics[name] for name in OWN_VALUES]
    assert own[:2] == pytest.approx(PROC_INTERVALS["estimate"], rel=1e-12)
    low, high = (np.array(PROC_INTERVALS[end]) for end in ("conf_low", "conf_high"))
    assert own[2:] == pytest.approx((high - low) / (2 * stats.norm.isf(0.025)), rel=1e-12)
    assert result.tables["Learners"]["se"] == tuple(own[2:])


def test_delong_as_the_paper_writes_it(scores: Rows) -> None:
    positive, negative = scores.y == 1, scores.y == 0
    v10, v01 = [], []
    for values in (scores.first, scores.second):
        x, z = values[positive], values[negative]
        psi = [[1.0 if a > b else 0.5 if a == b else 0.0 for b in z] for a in x]
        v10.append(np.mean(psi, axis=1))
        v01.append(np.mean(psi, axis=0))
    s = np.cov(v10) / positive.sum() + np.cov(v01) / negative.sum()
    result = compare_predictions(scores, "auc")
    assert result.estimate == pytest.approx(v10[0].mean() - v10[1].mean())
    assert result.variance == pytest.approx(s[0, 0] + s[1, 1] - 2 * s[0, 1])


def test_positive_class(scores: Rows) -> None:
    result = compare_predictions(scores, "auc")
    other = compare_predictions(scores, "auc", pos_label=0)
    assert other.estimate == pytest.approx(-result.estimate)
    both = np.column_stack([-scores.first, scores.first])
    columns = Rows(scores.y, both, scores.second)
    assert compare_predictions(columns, "auc").estimate == result.estimate
    assert result.better == "higher"
    assert "The first learner" in result.verdict or "No evidence" in result.verdict


def test_perfect_models_have_no_error_to_estimate(scores: Rows) -> None:
    other = 2.0 * scores.y + np.linspace(0, 0.5, len(scores.y))
    result = compare_predictions(Rows(scores.y, 3.0 * scores.y, other), "auc")
    assert math.isnan(result.pvalue)
    assert result.status.startswith("all observations are ranked the same, or perfectly")


# ------------------------------------------------------------------------------- losses


@pytest.mark.parametrize("alternative", SIDES)
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_paired_t(scores: Rows, loss: str, alternative: Any) -> None:
    result = compare_predictions(scores, loss, alternative=alternative)
    power = {"squared": 2, "absolute": 1}[loss]
    losses = [np.abs(one - scores.y) ** power for one in (scores.first, scores.second)]
    expected = stats.ttest_rel(*losses, alternative=alternative)
    assert result.statistic == pytest.approx(expected.statistic)
    assert result.pvalue == pytest.approx(expected.pvalue)
    if alternative == "two-sided":
        assert result.conf_int() == pytest.approx(tuple(expected.confidence_interval()))


def test_log_loss(scores: Rows) -> None:
    first, second = (1 / (1 + np.exp(-one)) for one in (scores.first, scores.second))
    result = compare_predictions(Rows(scores.y, first, second), "log")
    losses = [
        -np.log(np.where(scores.y == 1, probability, 1 - probability))
        for probability in (first, second)
    ]
    assert result.estimate == pytest.approx(np.mean(losses[0] - losses[1]))
    flipped = compare_predictions(Rows(scores.y, first, second), "log", pos_label=0)
    assert flipped.estimate != pytest.approx(result.estimate)


def test_loss_of_ones_own(labels: Rows) -> None:
    def costs(y: Any, prediction: Any) -> Any:
        return np.where((y == "a") & (prediction != "a"), 10.0, prediction != y)

    result = compare_predictions(labels, costs)
    expected = costs(labels.y, labels.first) - costs(labels.y, labels.second)
    assert result.estimate == pytest.approx(expected.mean())
    assert result.settings["loss"] == "costs"
    assert result.method == "Hold-out t test"
    assert result.estimand == "difference in mean costs loss of these rules"


def test_what_is_refused(scores: Rows, labels: Rows) -> None:
    y, first, second = scores.y, scores.first, scores.second
    cases: list[tuple[Rows, dict[str, Any], str]] = [
        (scores, {"loss": "hinge"}, "loss='hinge' is unknown: use one of zero_one"),
        (labels, {"loss": "f1"}, "loss='f1' is not a mean over observations: pass metric='f1'"),
        (scores, {"loss": "auc", "alternative": "up"}, "alternative='up' is unknown"),
        (scores, {}, r"predictions\['model'\] contains 2.0, .* but the labels of y are 0, 1"),
        (scores, {"loss": "log"}, "but probabilities lie between 0 and 1: use loss='auc'"),
        (scores, {"loss": "auc", "pos_label": 7}, "pos_label=7 is not one of the labels 0, 1"),
        (Rows(y[:1], first[:1], second[:1]), {}, "the data have 1 rows"),
        (Rows(y, first[:9], second), {}, "model has 9 predictions for 40 rows"),
        (Rows(y, first, np.where(y == 1, np.nan, 0.0)), {}, "baseline has 18 missing values"),
        (Rows(y, np.column_stack([first] * 2), second), {}, r"one dimension, got shape \(40, 2\)"),
        (labels, {"loss": "auc"}, "the predictions of new are all labels"),
        (labels, {"loss": "squared"}, "^'squared' needs two classes, but y has 3"),
        (Rows(y, np.column_stack([first] * 3), second), {"loss": "auc"}, r"shape \(40, 3\)"),
        (
            Rows(y, np.column_stack([first] * 2), second),
            {"loss": "auc", "pos_label": "sick"},
            "pos_label='sick' is not one of the labels 0, 1",
        ),
        (Rows(y, y, first), {"loss": "log"}, "the predictions of model are all labels, for exa"),
        (Rows(y, first, y == 1), {"loss": "auc"}, "the predictions of baseline are all labels"),
    ]
    for rows, options, message in cases:
        with pytest.raises(ValueError, match=message):
            compare_predictions(rows, **options)
    few = Rows(np.sort(y)[21:], first[21:], second[21:])
    assert "a variance needs two of each" in compare_predictions(few, "auc").status


# ---------------------------------------------------------------------------- in MLflow


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


def test_two_columns(client: MlflowClient, data: pd.DataFrame, tmp_path: Path) -> None:
    found = evaluate(data, {"baseline": "old"}, predictions="new")
    expected = compare_predictions(
        Rows(data.y.to_numpy(), data.new.to_numpy(), data.old.to_numpy(), ("new", "old"))
    )
    low, high = expected.conf_int()
    prefix = "ucvtest.new_vs_old.zero_one.mcnemar"
    numbers = {name.removeprefix(f"{prefix}/"): value for name, value in found.metrics.items()}
    assert numbers["estimate"] == expected.estimate
    assert numbers["pvalue"] == expected.pvalue
    assert (numbers["conf_low"], numbers["conf_high"]) == (low, high)
    run = client.get_run(found.run_id)
    assert found.metrics.items() <= run.data.metrics.items()
    assert run.data.tags[f"{prefix}.verdict"] == expected.verdict
    assert um.load_result(found.run_id).pvalue == expected.pvalue
    assert found.artifacts[f"{prefix}.summary.txt"].content.startswith(" " * 20 + "   McN")
    found.save(tmp_path / "evaluation")
    loaded = type(found).load(tmp_path / "evaluation")
    assert loaded.artifacts[f"{prefix}.result.json"].content["n_obs"] == 80


def test_models(client: MlflowClient, data: pd.DataFrame) -> None:
    names: list[list[str]] = []

    def new(features: pd.DataFrame) -> Any:
        names.append(list(features.columns))
        return (features.a > 0.5).astype(int)

    class Old:
        def predict(self, features: pd.DataFrame) -> Any:
            return pd.DataFrame({"label": (features.b > 0).astype(int)})

    rows = data[["a", "b", "y", "old"]]
    expected = evaluate(data, {"baseline": "old"}, predictions="new").metrics
    configs: list[tuple[str, dict[str, Any]]] = [
        ("old", {"baseline": "old"}),
        ("baseline", {"baseline": data.old.tolist()}),
        ("baseline", {"baseline_model": Old()}),
        ("baseline", {"baseline_model": lambda features: (features.b > 0).astype(int)}),
    ]
    for other, config in configs:
        found = evaluate(rows, config, model=new).metrics
        estimate = "zero_one.mcnemar/estimate"
        assert (
            found[f"ucvtest.model_vs_{other}.{estimate}"]
            == expected[f"ucvtest.new_vs_old.{estimate}"]
        )
    # The model does not get to see the baseline's column.
    assert names[0] == ["a", "b"]


@pytest.mark.parametrize("loss", ["zero_one", "auc", "squared"])
def test_groups_are_a_column_or_labels(client: MlflowClient, data: pd.DataFrame, loss: str) -> None:
    patient = np.repeat(np.arange(40), 2)[::-1]
    data = data.assign(old=data.b, new=data.a, patient=patient)
    y, new, old = (data[name].to_numpy() for name in ("y", "new", "old"))
    if loss == "zero_one":
        data = data.assign(old=(old > 0).astype(int), new=(new > 0.5).astype(int))
        new, old = data.new.to_numpy(), data.old.to_numpy()
    losses = uv.Losses.from_predictions(y, {"new": new, "old": old}, loss=loss, groups=patient)
    test = {"zero_one": uv.McNemarTest, "auc": uv.DeLongTest}.get(loss, uv.HoldOutTest)
    expected = test.from_losses(losses).fit()
    for groups in ("patient", patient.tolist()):
        config = {"baseline": "old", "loss": loss, "groups": groups}
        found = evaluate(data, config, predictions="new")
        (key,) = {name.partition("/")[0] for name in found.metrics}
        assert found.metrics[f"{key}/pvalue"] == expected.pvalue
        assert found.metrics[f"{key}/estimate"] == expected.estimate
        assert client.get_run(found.run_id).data.params[f"{key}.n_groups"] == "40"


@pytest.mark.parametrize("metric", ["f1", "r2", "mcc", 'recall["ill"]'])
def test_metrics_have_the_numbers_of_python(client: MlflowClient, metric: str) -> None:
    target, new, old = ASKED[metric]
    config = {"baseline": old, "metric": metric, "margin": 0.15, "pos_label": "ill"}
    if target == "dose":
        del config["pos_label"]
    found = evaluate(TABLE, config, predictions=new, targets=target)
    expected = in_python(metric)
    names = ("estimate", "se", "statistic", "pvalue", "conf_low", "conf_high")
    (key,) = keys_of(client.get_run(found.run_id))
    prefix = f"ucvtest.{key}"
    numbers = [found.metrics[f"{prefix}/{name}"] for name in names]
    np.testing.assert_allclose(numbers, numbers_of(expected), rtol=1e-12)
    judged = expected.noninferiority(0.15)
    assert found.metrics[f"{prefix}/noninferiority.pvalue"] == judged.pvalue
    assert um.load_result(found.run_id).estimand == expected.estimand
    run = client.get_run(found.run_id).data
    assert run.params[f"{prefix}.loss"] == metric
    assert run.tags[f"{prefix}.noninferiority.decision"] == judged.decision


def test_several_metrics_have_keys_of_their_own(client: MlflowClient) -> None:
    rules = {"new": TABLE["new"], "old": TABLE["old"]}
    losses = uv.Losses.from_predictions(TABLE["state"], rules, metric="f1", pos_label="ill")
    metrics = ["f1", "fbeta(2)", 'recall["ill"]']
    compared = uv.compare_losses(losses, "hold_out", metric=metrics)
    with mlflow.start_run(run_name="metrics") as run:
        um.log_result(compared)
    logged = client.get_run(run.info.run_id).data.metrics
    # Keys have neither brackets nor quotes.
    for key, metric in zip(("f1", "fbeta_2", "recall_ill"), metrics, strict=True):
        found = logged[f"ucvtest.new_vs_old.comparison/pvalue.{key}"]
        assert found == compared.result(metric, "new", "old").pvalue
    assert um.load_result(run.info.run_id).tests == tuple(metrics)


def test_metrics_ask_models_for_what_they_need(client: MlflowClient, data: pd.DataFrame) -> None:
    model = LogisticRegression().fit(data[["a", "b"]], data.y)
    by_b = LogisticRegression().fit(data[["b"]], data.y)

    class Old:
        def predict(self, features: pd.DataFrame) -> Any:
            return by_b.predict(features[["b"]])

        def predict_proba(self, features: pd.DataFrame) -> Any:
            return by_b.predict_proba(features[["b"]])

    rows = data[["a", "b", "y"]]
    rules = {"new": model.predict_proba(rows[["a", "b"]])[:, 1], "old": Old().predict_proba(rows)}
    rules["old"] = rules["old"][:, 1]
    for metric in ("net_benefit(0.3)", "brier_skill"):
        asked = Rows(data.y.to_numpy(), model.predict_proba(rows[["a", "b"]]), rules["old"])
        losses = uv.Losses.from_predictions(data.y, rules, metric=metric)
        expected = uv.HoldOutTest.from_losses(losses).fit()
        assert compare_predictions(asked, metric=metric).pvalue == expected.pvalue
    with pytest.raises(ValueError, match=r"all labels.*: metric='brier_skill' needs probabilities"):
        compare_predictions(Rows(data.y.to_numpy(), data.new, data.old), metric="brier_skill")
    for config, message in [
        ({"metric": "f1", "loss": "log"}, "loss='log' and metric='f1', which exclude each other"),
        ({"metric": "f2"}, "metric='f2' is unknown"),
        ({"metrics": "f1"}, "did you mean 'metric'"),
    ]:
        with pytest.raises(ValueError, match=message):
            evaluate(data, {"baseline": "old"} | config, predictions="new")


@pytest.mark.parametrize("option", ["baseline", "groups"])
def test_rows_in_another_order_are_refused(
    client: MlflowClient, data: pd.DataFrame, option: str
) -> None:
    rows = data.set_index(pd.Index([f"patient {k}" for k in range(len(data))]))
    config = {"baseline": rows.old, "groups": pd.Series(np.arange(len(rows)) // 2, rows.index)}
    evaluate(rows, config, predictions="new")
    with pytest.raises(ValueError, match=f"the data and {option} have the same index in another"):
        evaluate(rows, config | {option: config[option].iloc[::-1]}, predictions="new")


def test_models_do_not_see_the_groups(client: MlflowClient, data: pd.DataFrame) -> None:
    names: list[list[str]] = []

    def new(features: pd.DataFrame) -> Any:
        names.append(list(features.columns))
        return (features.a > 0.5).astype(int)

    rows = data[["a", "b", "y", "old"]].assign(patient=np.arange(80) // 4)
    evaluate(rows, {"baseline": "old", "groups": "patient"}, model=new)
    assert names[0] == ["a", "b"]


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
@pytest.mark.parametrize("label", ["no", "yes"])
def test_models_are_asked_for_probabilities(logged: dict[str, Any], label: str) -> None:
    """The function that MLflow calls gives labels: their log loss was 5.754 for 0.389."""
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
    # A function does not say which class is the positive one.
    ways: list[tuple[Any, Any]] = [
        (info.model_uri, None),
        (old, None),
        (lambda X: old.predict_proba(X), "yes"),
        (lambda X: pd.DataFrame(old.predict_proba(X), columns=old.classes_), None),
        (lambda X: old.predict_proba(X)[:, 0], "no"),
    ]
    wide = rows.assign(other=0.0)
    signed = {"model": info.model_uri}
    for baseline, label in ways:
        config = {"baseline_model": baseline, "loss": "log", "pos_label": label}
        found = evaluate(rows, config, **signed)
        assert found.metrics["ucvtest.model_vs_baseline.log.hold_out/estimate"] == 0
    for given in (lambda X: old.predict_proba(X), lambda X: old.predict_proba(X)[:, 0]):
        with pytest.raises(ValueError, match=r"pos_label is missing: .*pass pos_label='yes' if"):
            evaluate(rows, {"baseline_model": given, "loss": "log"}, **signed)
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


@pytest.mark.parametrize("target", [None, float("nan"), 1])
@pytest.mark.parametrize("loss", ["zero_one", "auc"])
def test_targets_of_text_that_are_missing_or_mixed(
    logged: dict[str, Any], target: Any, loss: str
) -> None:
    rows = logged["rows"].astype({"y": object})
    rows.loc[3, "y"] = target
    config = {"baseline_model": logged["old"], "loss": loss}
    message = "mixes labels of types that" if target == 1 else "targets has 1 missing values: leave"
    with pytest.raises(ValueError, match=message):
        evaluate(rows, config, model=logged["new"])


@pytest.mark.parametrize("metric", ["f1", "average_precision"])
def test_metrics_of_one_class_ask_for_it(logged: dict[str, Any], metric: str) -> None:
    config = {"baseline_model": logged["old"], "metric": metric}
    with pytest.raises(ValueError, match=f"pos_label is missing: metric='{metric}' .*'no' and 'y"):
        evaluate(logged["rows"], config, model=logged["new"])


def test_models_of_other_classes(logged: dict[str, Any]) -> None:
    renamed = logged["rows"].assign(y=(logged["rows"].y == "yes").astype(int))
    config = {"baseline_model": logged["old"], "loss": "auc"}
    with pytest.raises(ValueError, match=r"for the classes 'no', 'yes', the targets have 0, 1: ev"):
        evaluate(renamed, config, model=logged["new"])


def test_beside_other_evaluators(client: MlflowClient, data: pd.DataFrame) -> None:
    options = {"predictions": "new", "evaluators": ["default", "ucvtest"]}
    both = evaluate(data, {"ucvtest": {"baseline": "old"}}, **options).metrics
    assert both["accuracy_score"] == (data.new == data.y).mean()
    assert "ucvtest.new_vs_old.zero_one.mcnemar/pvalue" in both


def test_probabilities_and_regression(client: MlflowClient, data: pd.DataFrame) -> None:
    data = data.assign(p=1 / (1 + np.exp(-data.a)), q=0.5)
    config = {"baseline": "q", "loss": "auc", "alternative": "greater"}
    auc = evaluate(data, config, predictions="p").metrics
    assert auc["ucvtest.p_vs_q.auc.delong/estimate"] > 0
    assert "ucvtest.p_vs_q.auc.delong/conf_high" not in auc
    squared = evaluate(data, {"baseline": "q"}, predictions="p", model_type="regressor").metrics
    assert squared["ucvtest.p_vs_q.squared.hold_out/estimate"] == pytest.approx(
        ((data.p - data.y) ** 2 - 0.25).mean()
    )


def test_margin(client: MlflowClient, data: pd.DataFrame) -> None:
    found = evaluate(data, {"baseline": "old", "margin": 0.1}, predictions="new")
    judged = um.load_result(found.run_id).noninferiority(0.1)
    key, name = "ucvtest.new_vs_old.zero_one.mcnemar", "noninferiority"
    assert found.metrics[f"{key}/{name}.pvalue"] == judged.pvalue
    assert found.metrics[f"{key}/{name}.passed"] == float(judged.decision == "pass")
    run = client.get_run(found.run_id)
    assert found.metrics.items() <= run.data.metrics.items()
    assert run.data.tags[f"{key}.{name}.verdict"] == judged.verdict
    for margin in (-1, "0.1"):
        with pytest.raises(ValueError, match="margin must be"):
            evaluate(data, {"baseline": "old", "margin": margin}, predictions="new")


@pytest.mark.parametrize(
    "config", [None, {}, {"metric_prefix": "x", "pos_label": 1}, {"default": {"baseline": "old"}}]
)
def test_harmless_where_it_is_not_configured(
    client: MlflowClient, data: pd.DataFrame, config: Any
) -> None:
    assert not UcvtestEvaluator.can_evaluate(model_type="classifier", evaluator_config=config)
    found = evaluate(data, config, predictions="new", evaluators=None)
    assert not [name for name in found.metrics if name.startswith("ucvtest")]


def test_errors(client: MlflowClient, data: pd.DataFrame) -> None:
    both = {"baseline": "old", "baseline_model": abs}
    column = {"baseline": "older"}
    cases: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        ({"loss": "auc"}, {}, "evaluator_config of ucvtest has no baseline: name either"),
        ({"baseline": "old", "los": "auc"}, {}, "has 'los', which .* did you mean 'loss'"),
        ({"baseline": None}, {}, "evaluator_config of ucvtest has no baseline"),
        (both, {}, "evaluator_config of ucvtest has baseline and baseline_model"),
        (column, {}, "baseline='older' is not a column of the data, which has a, b, old"),
        ({"baseline_model": 3}, {}, "baseline_model must be a model URI.* got int"),
        ({"baseline": "old"}, {"predictions": None}, "there is nothing to compare"),
        ({"baseline": [0, 1]}, {}, "baseline has 2 predictions for 80 rows"),
        ({"baseline": "old", "groups": "ward"}, {}, "groups='ward' is not a column of the data"),
        ({"baseline": "old", "groups": [1, 2]}, {}, "groups must name a group for each of 80 rows"),
        ({"baseline": "old", "metric": ["f1", "mcc"]}, {}, "name one, and evaluate once for each"),
    ]
    for config, options, message in cases:
        with pytest.raises(ValueError, match=message):
            evaluate(data, config, **({"predictions": "new"} | options))
    with pytest.raises(ValueError, match="targets are missing"):
        UcvtestEvaluator().evaluate(
            model_type=None,
            dataset=SimpleNamespace(labels_data=None),
            run_id="",
            evaluator_config={"baseline": "old"},
        )


SLICES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "one class, AUC": (
        {"loss": "auc"},
        {"predictions": "p"},
        "p_vs_q.auc.note: not tested, as all rows of the slice are of 1: ",
    ),
    "one class, F1": (
        {"metric": "f1", "baseline": "old"},
        {"predictions": "new"},
        "new_vs_old.f1.note: not tested, as all rows of the slice are of 1: ",
    ),
    "one group": (
        {"groups": "ward", "baseline": "old"},
        {"predictions": "new"},
        "new_vs_old.zero_one.note: not tested, as all rows of the slice are of one group: groups ",
    ),
    "one row": (
        {"baseline": "old"},
        {"predictions": "new"},
        "new_vs_old.zero_one.note: not tested, as the slice has 1 rows: ",
    ),
}


@pytest.mark.parametrize("name", SLICES)
def test_a_slice_that_tells_nothing_ends_with_a_note(
    client: MlflowClient, data: pd.DataFrame, name: str
) -> None:
    config, options, note = SLICES[name]
    rows = data.assign(p=1 / (1 + np.exp(-data.a)), q=0.5, ward=np.arange(80) // 40)
    chosen = {"one group": rows.ward == 0, "one row": rows.index == 0}.get(name, rows.y == 1)
    with mlflow.start_run(run_name="slices") as run, pytest.warns(UcvtestWarning) as caught:
        found = mlflow.models.evaluate(
            data=rows[chosen],
            targets="y",
            evaluators="ucvtest",
            model_type="classifier",
            evaluator_config={"baseline": "q"} | config,
            **options,
        )
    assert found.metrics == {}
    tags = client.get_run(run.info.run_id).data.tags
    name, _, text = note.partition(": ")
    assert tags[f"ucvtest.{name}"].startswith(text)
    (said,) = [str(item.message) for item in caught if item.category is UcvtestWarning]
    assert said.endswith(f"the tag ucvtest.{name} of the run says so")


def test_errors_of_one_class_are_compared(
    logged: dict[str, Any], client: MlflowClient, data: pd.DataFrame
) -> None:
    ill = data[data.y == 1]
    found = evaluate(ill, {"baseline": "old"}, predictions="new").metrics
    estimate = (ill.new != 1).mean() - (ill.old != 1).mean()
    assert found["ucvtest.new_vs_old.zero_one.mcnemar/estimate"] == pytest.approx(estimate)
    rows = logged["rows"]
    config = {"baseline_model": logged["old"], "loss": "auc", "pos_label": "yes"}
    with pytest.warns(UcvtestWarning, match="model_vs_baseline.auc was not tested, as all rows"):
        evaluate(rows[rows.y == "yes"], config, model=logged["new"])


NAMED: list[dict[str, Any]] = [
    {"evaluators": ["default", "ucvtest"]},
    {"evaluators": "ucvtest"},
    {"evaluators": ["ucvtest"]},
]


@pytest.mark.parametrize("options", NAMED)
@pytest.mark.parametrize("config", [None, {}, {"pos_label": 1}])
def test_nothing_is_left_out_in_silence_where_it_is_named(
    client: MlflowClient, data: pd.DataFrame, options: dict[str, Any], config: Any
) -> None:
    nested = config if isinstance(options["evaluators"], str) else config and {"ucvtest": config}
    with pytest.raises(ValueError, match="evaluator_config of ucvtest has no baseline: name"):
        evaluate(data, nested, predictions="new", **options)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("baselin", "baseline"), ("Base_line", "baseline"), ("base_model", "baseline_model")],
)
@pytest.mark.parametrize("options", [*NAMED, {"evaluators": None}])
def test_misspelt_options(
    client: MlflowClient, data: pd.DataFrame, options: dict[str, Any], typed: str, meant: str
) -> None:
    config: dict[str, Any] = {typed: "old"}
    if isinstance(options["evaluators"], list):
        config = {"ucvtest": config}
    with pytest.raises(ValueError) as error:
        evaluate(data, config, predictions="new", **options)
    assert str(error.value) == (
        f"evaluator_config of ucvtest has {typed!r}, which it does not know: did you mean "
        f"{meant!r}? Its options are baseline, baseline_model, loss, metric, pos_label, "
        "alternative, margin, groups"
    )


def test_options_that_it_does_not_know(client: MlflowClient, data: pd.DataFrame) -> None:
    with pytest.warns(UcvtestWarning) as caught:
        evaluate(data, {"baseline": "old", "metric_prefix": "x"}, predictions="new")
    assert [str(item.message) for item in caught if item.category is UcvtestWarning] == [
        "evaluator_config contains metric_prefix, which ucvtest does not know: its options are "
        "baseline, baseline_model, loss, metric, pos_label, alternative, margin, groups"
    ]


def test_entry_point_without_jax() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["mlflow.model_evaluator"]["ucvtest"].partition(":")
    assert getattr(import_module(module), name) is UcvtestEvaluator
    code = f"import sys, {module}; print([name for name in sys.modules if 'jax' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_row_of_the_table_of_options_is_idle(scores: Rows) -> None:
    results = [
        compare_predictions(scores, loss, alternative=alternative).pvalue
        for loss, alternative in itertools.product(["auc", "squared", "absolute"], SIDES)
    ]
    assert len(set(results)) == 9
