"""Metrics that are no means have scikit-learn's values, and the derivatives of these."""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as sk
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import ucvtest as uv
from tests.oracles import metrics as oracle
from ucvtest.losses.linearised import parts_where_tested
from ucvtest.metrics.named import SMOOTH, as_smooth_metric, kind_in_words
from ucvtest.metrics.smooth import Cells, Moments, ObservedCells, linearised, with_differences
from ucvtest.metrics.tested_parts import PartsOfTested

ALONE = {"zero_division": np.nan}
"""Of one class 0/0 is NaN; in averages it counts 0."""

IN_AVERAGES = {"zero_division": 0.0}

OF_ONE_CLASS = {
    "f1": partial(sk.f1_score, **ALONE),
    "precision": partial(sk.precision_score, **ALONE),
    "recall": partial(sk.recall_score, **ALONE),
    "jaccard": sk.jaccard_score,
    "fbeta(2)": partial(sk.fbeta_score, beta=2, **ALONE),
    "fbeta(0.5)": partial(sk.fbeta_score, beta=0.5, **ALONE),
    "npv": partial(sk.precision_score, pos_label=0, **ALONE),
    "specificity": partial(sk.recall_score, pos_label=0, **ALONE),
}
OF_TABLE = {
    "balanced_accuracy": sk.balanced_accuracy_score,
    "mcc": sk.matthews_corrcoef,
    "kappa": sk.cohen_kappa_score,
    "kappa_linear": partial(sk.cohen_kappa_score, weights="linear"),
    "kappa_quadratic": partial(sk.cohen_kappa_score, weights="quadratic"),
}
AVERAGED = {
    f"{name}_{average}": partial(function, average=average, **IN_AVERAGES)
    for average in ("macro", "weighted", "micro")
    for name, function in {
        "f1": sk.f1_score,
        "precision": sk.precision_score,
        "recall": sk.recall_score,
        "jaccard": sk.jaccard_score,
        "fbeta(2)": partial(sk.fbeta_score, beta=2),
    }.items()
}
OF_NUMBERS = {
    "r2": sk.r2_score,
    "rmse": sk.root_mean_squared_error,
    "wape": lambda y, p, sample_weight=None: (
        sk.mean_absolute_error(y, p, sample_weight=sample_weight)
        / np.average(np.abs(y), weights=sample_weight)
    ),
    "pearson": lambda y, p, sample_weight=None: _covariance(y, p, sample_weight, "pearson"),
    "ccc": lambda y, p, sample_weight=None: _covariance(y, p, sample_weight, "ccc"),
}
OF_PROBABILITIES = {"brier_skill": sk.r2_score, "log_skill": sk.d2_log_loss_score}


def _covariance(y, p, sample_weight, name):
    (vy, both), (_, vp) = np.cov(y, p, aweights=sample_weight, ddof=0)
    if name == "pearson":
        return both / np.sqrt(vy * vp)
    apart = np.average(y, weights=sample_weight) - np.average(p, weights=sample_weight)
    return 2 * both / (vy + vp + apart**2)


def random_labels(seed):
    """Classes and predictions: two to five classes, some rare, some never predicted."""
    rng = np.random.default_rng(seed)
    n_classes = 2 + seed % 4
    n_obs = (12, 30, 80)[seed % 3]
    y = rng.choice(n_classes, n_obs, p=rng.dirichlet(np.full(n_classes, 2.0)))
    y[:n_classes] = np.arange(n_classes)
    wrong = rng.choice(n_classes - seed % 2, n_obs)
    return y, np.where(rng.random(n_obs) < 0.6, y, wrong)


def nearest_mean(load):
    """A real data set, and the class whose mean is nearest in the first two features."""
    X, y = load(return_X_y=True)
    X = X[::3, :2]
    y = y[::3]
    means = np.stack([X[y == k].mean(0) for k in np.unique(y)])
    return y, ((X[:, None] - means) ** 2).sum(-1).argmin(1)


REAL = (load_iris, load_wine, load_breast_cancer, load_digits)
DATA = {f"random {seed}": (random_labels, seed) for seed in range(36)} | {
    load.__name__: (nearest_mean, load) for load in REAL
}
"""Forty of labels."""


def value_of(metric, y, p, **more):
    return float(uv.Losses.from_predictions(y, {"a": p}, metric=metric, **more).means[0, 0])


def same(found, expected):
    assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", DATA)
def test_labels_score_as_in_scikit_learn(name):
    make, argument = DATA[name]
    y, p = make(argument)
    losses = uv.Losses.from_predictions(y, {"a": p}, metric="mcc")
    two = len(np.unique(y)) == 2
    for metric, function in (OF_TABLE | AVERAGED | (OF_ONE_CLASS if two else {})).items():
        same(float(losses.about(metric).means[0, 0]), function(y, p))
    some = np.unique(y)[-2:].tolist()
    for average in ("macro", "weighted", "micro"):
        metric = uv.metrics.f1(average, labels=some)
        expected = sk.f1_score(y, p, average=average, labels=some, zero_division=0)
        same(float(losses.about(metric).means[0, 0]), expected)
    recalls = sk.recall_score(y, p, average=None)
    same(float(losses.about("g_mean").means[0, 0]), np.prod(recalls) ** (1 / len(recalls)))


@pytest.mark.parametrize("seed", range(40))
def test_numbers_score_as_in_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    y = 10.0 ** (seed % 4) * (rng.normal(size=25) + seed % 3)
    p = 0.5 * y + rng.normal(size=25)
    for metric, function in OF_NUMBERS.items():
        assert value_of(metric, y, p) == pytest.approx(function(y, p), rel=1e-11)
    labels, probabilities = rng.permutation(np.arange(25) % 2), rng.uniform(0.01, 0.99, 25)
    for metric, function in OF_PROBABILITIES.items():
        same(value_of(metric, labels, probabilities), function(labels, probabilities))
    scores = np.round(rng.normal(size=25) + labels, seed % 3)
    same(value_of("average_precision", labels, scores), sk.average_precision_score(labels, scores))
    for most in (0.07, 0.3, 0.5):
        area = value_of(uv.metrics.partial_auc(most), labels, scores)
        found = 0.5 + (area - most / 2) / (2 - most)
        same(found, sk.roc_auc_score(labels, scores, max_fpr=most))
    same(value_of(uv.metrics.partial_auc(1), labels, scores), sk.roc_auc_score(labels, scores))
    q = 0.3
    treated = probabilities >= q
    net = np.mean(treated & (labels == 1)) - np.mean(treated & (labels == 0)) * q / (1 - q)
    same(value_of(uv.metrics.net_benefit(q), labels, probabilities), net)


def test_weighted_kappas_follow_the_order_of_a_categorical():
    grades = ["low", "high", "top"]
    y, p = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 2, 1, 1, 2, 0])
    true = pd.Series(pd.Categorical.from_codes(y, grades, ordered=True))
    predicted = np.array(grades)[p]
    same(value_of("kappa_linear", true, predicted), OF_TABLE["kappa_linear"](y, p))
    by_name = value_of("kappa_linear", np.asarray(true), predicted)
    assert abs(by_name - OF_TABLE["kappa_linear"](y, p)) > 0.01


def test_labels_that_y_lacks_count_as_in_scikit_learn():
    y, p = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 3, 1, 3, 2, 0])
    names = np.array(["b", "d", "f", "c"])
    weighted_kappas = {name: OF_TABLE[name] for name in ("kappa_linear", "kappa_quadratic")}
    for metric, function in (AVERAGED | weighted_kappas).items():
        for true, predicted in ((y, p), (2 * y, 2 * p % 5), (names[y], names[p])):
            with pytest.warns(uv.UcvtestWarning, match="labels that do not occur in y"):
                same(value_of(metric, true, predicted), function(true, predicted))
    with (
        pytest.warns(uv.UcvtestWarning, match="labels that do not occur in y"),
        pytest.raises(
            ValueError,
            match=r"^predictions\['a'\] contains 2, .* as in uv.metrics.f1\(labels=",
        ),
    ):
        value_of("f1", y % 2, p % 3)


# ---------------------------------------------------------------------------- linearised values


def values_of(metric, y, p):
    return uv.Losses.from_predictions(y, {"a": p}, metric=metric).values[0]


def weighted(function, y, p, places=None):
    return oracle.by_weights(lambda w: function(y, p, sample_weight=w), len(y), places)


@pytest.mark.seconds(3, reason="differentiates numerically")
@pytest.mark.parametrize("seed", [0, 9])
def test_linearised_values_are_the_derivatives_of_scikit_learns(seed):
    y, p = random_labels(seed)
    # They are the same throughout a cell of the confusion matrix.
    _, places = np.unique(np.stack([y, p]), axis=1, return_index=True)
    metrics = OF_TABLE | AVERAGED | (OF_ONE_CLASS if seed == 0 else {})
    for metric, function in metrics.items():
        found, expected = values_of(metric, y, p), weighted(function, y, p, places)
        np.testing.assert_allclose(found[places], expected, atol=2e-8, err_msg=metric)


@pytest.mark.seconds(3, reason="differentiates numerically")
def test_linearised_values_of_numbers_are_derivatives():
    rng = np.random.default_rng(3)
    y = rng.normal(size=20) + 1
    p = 0.5 * y + rng.normal(size=20)
    for metric, function in OF_NUMBERS.items():
        np.testing.assert_allclose(values_of(metric, y, p), weighted(function, y, p), atol=2e-8)
    labels, chances = np.arange(20) % 2, rng.uniform(0.1, 0.9, 20)
    for metric, function in OF_PROBABILITIES.items():
        expected = weighted(function, labels, chances)
        np.testing.assert_allclose(values_of(metric, labels, chances), expected, atol=2e-8)
    scores = np.round(rng.normal(size=20) + labels, 1)
    expected = weighted(sk.average_precision_score, labels, scores)
    np.testing.assert_allclose(values_of("average_precision", labels, scores), expected, atol=2e-8)
    for most in (0.13, 0.55):
        area = partial(oracle.partial_auc, labels, scores, f=most)
        expected = oracle.by_weights(lambda w, area=area: area(w=w), 20)
        found = values_of(uv.metrics.partial_auc(most), labels, scores)
        np.testing.assert_allclose(found, expected, atol=2e-8)


# ------------------------------------------------------------------------------------ gradients


def gradients(metric, n_classes=3):
    """The analytic gradient at some working point, and one by differences."""
    rng = np.random.default_rng(0)
    function = as_smooth_metric(metric).made_for(range(n_classes))
    if isinstance(function, Cells):
        means = rng.dirichlet(np.full(n_classes**2, 3.0)).reshape(n_classes, n_classes)
    else:
        y = np.arange(30.0) % 2 if metric.endswith("skill") else rng.normal(size=30)
        p = rng.uniform(0.1, 0.9, 30) if metric.endswith("skill") else y + rng.normal(size=30)
        means = function.means(y, p)
    by_differences = with_differences(lambda at: function.value_and_gradient(at)[0])
    return function.value_and_gradient(means), by_differences(means)


OF_MEANS = [name for name, metric in SMOOTH.items() if not (metric.of_ranks or metric.of_survival)]


@pytest.mark.parametrize("name", OF_MEANS)
def test_gradients_are_those_by_differences(name):
    (value, gradient), (again, differences) = gradients(name, 2 if SMOOTH[name].of_two else 3)
    assert value == again
    np.testing.assert_allclose(gradient, differences, rtol=1e-7, atol=1e-8)


def youden(P):
    return P[1, 1] / P[1].sum() + P[0, 0] / P[0].sum() - 1


def slope(means):
    return (means[4] - means[0] * means[1]) / (means[3] - means[1] ** 2)


@pytest.mark.parametrize(("function", "shape"), [(youden, (2, 2)), (slope, (5,))])
def test_gradients_of_own_functions_are_those_of_jax(function, shape):
    means = np.random.default_rng(1).uniform(0.1, 1, shape)
    means /= means.sum()
    _, gradient = with_differences(function)(means)
    with jax.enable_x64(True):
        expected = jax.grad(function)(jnp.asarray(means))
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-9)


def test_own_metrics_are_those_of_ours():
    y, p = random_labels(4)
    own = uv.metrics.Cells(lambda P: np.trace(P) - P.sum(1) @ P.sum(0), "covariance")
    found = values_of(own, y, p)
    assert found.mean() == pytest.approx(oracle.table_of((y, p), 2).trace() - _expected(y, p))
    y = np.random.default_rng(0).normal(size=20)
    p = y + np.arange(20) % 3
    own = uv.metrics.Moments(oracle.error_and_response, oracle.r2, "mine")
    np.testing.assert_allclose(values_of(own, y, p), values_of("r2", y, p), rtol=1e-8)


def _expected(y, p):
    return sum(np.mean(y == k) * np.mean(p == k) for k in (0, 1))


def test_moments_take_many_means_at_once():
    y = np.arange(20.0) % 2
    p = np.linspace(0.1, 0.9, 20)
    for name in OF_MEANS:
        function = SMOOTH[name].made_for((0, 1))
        if not isinstance(function, Moments):
            continue
        means = np.stack([function.means(y, p), function.means(y, p / 2)])
        each = [function.value_and_gradient(one)[0] for one in means]
        np.testing.assert_allclose(function.values(means), each)
        assert linearised(function, y, p).mean() == pytest.approx(each[0])


def test_a_prediction_left_open_is_half_of_each():
    function = SMOOTH["f1"].made_for((0, 1))
    y = np.array([0, 1, 1, 0])
    table = function.means(y, np.array([0, 1, 0.5, 0.5]))
    assert table.tolist() == [[0.375, 0.125], [0.125, 0.375]]
    found = linearised(function, y, np.array([0, 1, 0.5, 0.5]))
    assert found.mean() == pytest.approx(0.75)
    each = [linearised_at(function, table, y, whole) for whole in ((0, 1, 0, 0), (0, 1, 1, 1))]
    np.testing.assert_allclose(found, np.mean(each, axis=0))


def linearised_at(function, table, y, p):
    value, gradient = function.value_and_gradient(table)
    return value - (gradient * table).sum() + gradient[y, np.array(p)]


def test_0_over_0_is_none_and_what_has_no_gradient_is_constant():
    y, p = [0, 0, 1, 1], [0, 0, 0, 0]
    assert math.isnan(value_of("precision", y, p))
    assert values_of("g_mean", y, p).tolist() == [0, 0, 0, 0]
    assert value_of("recall", y, p) == 0
    assert values_of("rmse", np.arange(4.0), np.arange(4.0)).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "rises", "kind"),
    [
        ("zero_one", False, "Loss"),
        ("auc", True, "Metric"),
        ("rmse", False, "Metric"),
        ("f1", True, "Score"),
        ("mine", False, "Loss"),
    ],
)
def test_summaries_call_it_a_loss_a_score_or_a_metric(name, rises, kind):
    assert kind_in_words(name, rises=rises) == kind


@pytest.mark.parametrize("step", [1.0, 0.5])
def test_metrics_of_the_same_predictions_count_them_once(step, monkeypatch):
    """Also where predictions half-way between two classes are ties."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 60).astype(float)
    rules = step * rng.integers(0, 1 + int(2 / step), (2, 60))
    functions = [as_smooth_metric(name).made_for([0, 1, 2]) for name in ("mcc", "kappa")]
    expected = [[linearised(function, y, rule) for rule in rules] for function in functions]
    counted, parts = [], PartsOfTested(y, rules)

    def of(*arguments):
        counted.append(arguments)
        return observed(*arguments)

    observed = ObservedCells.of
    monkeypatch.setattr(ObservedCells, "of", of)
    for function, values in zip(functions, expected, strict=True):
        np.testing.assert_array_equal(parts.linearised(function), values)
        assert len(parts.directions(function, [1])) == 1
    assert len(counted) == 2


def test_tables_of_other_metrics_share_what_was_counted():
    y, p = [1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 1]
    losses = uv.Losses.from_predictions(y, {"a": p}, metric="f1")
    assert parts_where_tested(losses.about("mcc")) is parts_where_tested(losses)
