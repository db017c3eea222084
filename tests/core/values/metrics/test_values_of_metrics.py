"""Metrics that are no means have scikit-learn's values, and the derivatives of these."""

import math
import tracemalloc
from dataclasses import replace
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
from ucvtest.metrics import confusion
from ucvtest.metrics.differences import OwnFunction
from ucvtest.metrics.named import SMOOTH, as_smooth_metric
from ucvtest.metrics.smooth import Cells, linearised

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


def _polars():
    return pytest.importorskip("polars")


GRADES = ["low", "some", "high", "top"]
"""Not in the order of the alphabet."""

ORDERED = {
    "pandas": lambda labels: pd.Series(pd.Categorical(labels, GRADES, ordered=True)),
    "polars": lambda labels: _polars().Series(labels, dtype=_polars().Enum(GRADES)),
}


@pytest.mark.parametrize("kind", ORDERED)
def test_weighted_kappas_follow_the_declared_order(kind):
    y, p = np.array([0, 0, 2, 2, 3, 3, 0]), np.array([0, 3, 2, 2, 3, 0, 2])
    names = np.array(GRADES)
    true, predicted = ORDERED[kind](names[y].tolist()), ORDERED[kind](names[p].tolist())
    made_by = uv.Losses.from_predictions(true, {"a": predicted}, metric="mcc")
    for metric in ("kappa_linear", "kappa_quadratic"):
        same(value_of(metric, true, predicted), OF_TABLE[metric](y, p))
        same(float(made_by.about(metric).means[0, 0]), OF_TABLE[metric](y, p))
    # A label that y does not have is in its declared place, too.
    p[0] = 1
    with pytest.warns(uv.UcvtestWarning, match="do not occur in y"):
        found = value_of("kappa_linear", true, names[p])
    same(found, OF_TABLE["kappa_linear"](y, p))
    learner = partial(_constant, names[2])
    X = np.arange(7.0)[:, None]
    losses = uv.evaluate(
        {"f": learner}, X, true, [([0, 2, 4], [1, 3, 5, 6])], metric="kappa_linear"
    )
    same(float(losses.means[0, 0]), OF_TABLE["kappa_linear"](y[[1, 3, 5, 6]], [2, 2, 2, 2]))
    assert losses.settings["classes"] == ["low", "high", "top"]


def _constant(label, X_train, y_train, X_test):
    return np.full(len(X_test), label)


def test_labels_that_y_lacks_count_as_in_scikit_learn():
    y, p = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 3, 1, 3, 2, 0])
    names = np.array(["b", "d", "f", "c"])
    weighted_kappas = {name: OF_TABLE[name] for name in ("kappa_linear", "kappa_quadratic")}
    for metric, function in (AVERAGED | weighted_kappas).items():
        named = () if metric in weighted_kappas else ((names[y], names[p]),)
        for true, predicted in ((y, p), (2 * y, 2 * p % 5), *named):
            with pytest.warns(uv.UcvtestWarning, match="labels that do not occur in y"):
                same(value_of(metric, true, predicted), function(true, predicted))
    with (
        pytest.warns(uv.UcvtestWarning, match="labels that do not occur in y"),
        pytest.raises(
            ValueError,
            match=r"^predictions\['a'\] contains 2, .* as in 'f1\[",
        ),
    ):
        value_of("f1", y % 2, p % 3)


@pytest.mark.filterwarnings("ignore:y_pred contains classes", "ignore:.*do not occur in y")
@pytest.mark.parametrize("metric", [*AVERAGED, "balanced_accuracy", "kappa_quadratic", "own"])
def test_a_rule_is_scored_without_labels_that_others_predict(metric):
    y, a = np.array([0, 0, 2, 2, 4, 4] * 3), np.array([0, 0, 2, 4, 4, 0] * 3)
    b, c = np.where(np.arange(18) < 3, 1, a), np.where(np.arange(18) < 2, 5, a)
    scored, functions = metric, OF_TABLE | AVERAGED
    if metric == "own":
        scored = uv.metrics.Cells(_macro_f1, "own")
        functions = {"own": AVERAGED["f1_macro"]}
    rules = {"c": c, "a": a, "b": b}
    together = losses_of(y, rules, scored)
    alone = {name: losses_of(y, {name: predicted}, scored) for name, predicted in rules.items()}
    for name, predicted in (("a", a), ("b", b), ("c", c)):
        result = uv.HoldOutTest.from_losses(together, name).fit()
        same(result.estimate, functions[metric](y, predicted))
        other = uv.HoldOutTest.from_losses(alone[name]).fit()
        assert (result.se, *result.conf_int()) == pytest.approx((other.se, *other.conf_int()))
    difference = uv.HoldOutTest.from_losses(together, "a", "b").fit().estimate
    same(difference, functions[metric](y, a) - functions[metric](y, b))


def losses_of(y, rules, metric):
    return uv.Losses.from_predictions(y, rules, metric=metric)


def _macro_f1(P):
    return np.mean([2 * P[k, k] / (P[k].sum() + P[:, k].sum()) for k in range(len(P))])


@pytest.mark.parametrize("metric", ["f1_macro", "precision_weighted", "jaccard_micro", "g_mean"])
def test_many_classes_take_the_memory_of_a_few_tables(metric):
    n_classes = 300
    y = np.repeat(np.arange(n_classes), 2)
    a, b = np.where(np.arange(600) % 3 > 0, y, 0), np.where(np.arange(600) % 7 > 0, y, 1)
    metric = SMOOTH[metric]
    uv.Losses.from_predictions([0, 1, 1], {"a": [0, 1, 0]}, metric="mcc")
    tracemalloc.start()
    losses = uv.Losses.from_predictions(y, {"a": a, "b": b}, metric=metric)
    for learners in (("a",), ("a", "b")):
        uv.HoldOutTest.from_losses(losses, *learners).fit()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 30 * 8 * n_classes**2


def test_a_class_that_is_neither_tested_nor_predicted_is_left_out():
    y = np.array([0, 0, 1, 1] * 3 + [2])
    splits = [(np.arange(8, 13), np.arange(8))]
    X = np.arange(13.0)[:, None]
    losses = uv.evaluate({"f": _zero_or_one}, X, y, splits, metric="f1_macro", rng=0)
    predicted = (np.arange(8) % 3 == 0) * 1
    same(float(losses.means[0, 0]), AVERAGED["f1_macro"](y[:8], predicted))


def _zero_or_one(X_train, y_train, X_test):
    return (X_test[:, 0] % 3 == 0) * 1


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
        value, gradient = function.value_and_gradient(means)
        own = OwnFunction("own", lambda at: function.value_and_gradient(at)[0])
        # Shares move at the expense of others.
        return (value, gradient - (gradient * means).sum()), own.of_shares(means)
    y = np.arange(30.0) % 2 if metric.endswith("skill") else rng.normal(size=30)
    p = rng.uniform(0.1, 0.9, 30) if metric.endswith("skill") else y + rng.normal(size=30)
    means = function.means(y, p)
    own = OwnFunction("own", lambda at: function.value_and_gradient(at)[0])
    errors = function.directions(y, p) / math.sqrt(30)
    # One part alone may determine another, and then only their sums matter.
    value, gradient = function.value_and_gradient(means)
    return (value, errors @ gradient), (value, errors @ own.of_means(means, errors)[1])


OF_MEANS = [name for name, metric in SMOOTH.items() if not (metric.of_ranks or metric.of_survival)]


@pytest.mark.parametrize("name", OF_MEANS)
def test_gradients_are_those_by_differences(name):
    (value, gradient), (again, differences) = gradients(name, 2 if SMOOTH[name].of_two else 3)
    assert value == again
    np.testing.assert_allclose(gradient, differences, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("outside", [(), (1,)])
@pytest.mark.parametrize("name", [name for name in OF_MEANS if SMOOTH[name].output == "label"])
def test_many_tables_at_once_have_the_values_of_each(name, outside):
    """Some of them 0/0; a rule that never predicts a label outside y is scored without it."""
    n_classes = 2 if SMOOTH[name].of_two else 3
    function = replace(SMOOTH[name].made_for(range(n_classes)), outside=outside)
    shares = np.random.default_rng(0).dirichlet(np.full(n_classes**2, 0.1), size=(4, 20))
    shares = np.round(shares.reshape(4, 20, n_classes, n_classes), 3)
    if outside:
        shares[..., outside[0], :] = 0
    expected = [[function.value_and_gradient(table)[0] for table in tables] for tables in shares]
    np.testing.assert_allclose(function.values(shares), expected, rtol=1e-12)


def test_gradients_of_averages_over_some_classes_are_those_by_differences():
    # The shares of all classes sum to 1, those of some do not.
    average = partial(confusion.weighted_by_class, class_ratio=confusion.RECALL, places=[0, 2])
    table = np.random.default_rng(0).dirichlet(np.full(9, 3.0)).reshape(3, 3)
    _, gradient = average(table)
    own = OwnFunction("own", lambda at: average(at)[0])
    moved = gradient - (gradient * table).sum()
    np.testing.assert_allclose(moved, own.of_shares(table)[1], rtol=1e-7, atol=1e-8)


def youden(P):
    return P[1, 1] / P[1].sum() + P[0, 0] / P[0].sum() - 1


def slope(means):
    return (means[4] - means[0] * means[1]) / (means[3] - means[1] ** 2)


@pytest.mark.parametrize(("function", "shape"), [(youden, (2, 2)), (slope, (5,))])
def test_gradients_of_own_functions_are_those_of_jax(function, shape):
    rng = np.random.default_rng(1)
    means = rng.uniform(0.1, 1, shape)
    means /= means.sum()
    with jax.enable_x64(True):
        expected = np.asarray(jax.grad(function)(jnp.asarray(means)))
    own = OwnFunction("own", function)
    if function is youden:
        _, gradient = own.of_shares(means)
        expected = expected - (expected * means).sum()
    else:
        _, gradient = own.of_means(means, 0.01 * rng.normal(size=(5, 5)))
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-9)


UNITS = ((1, 0), (1, 300), (1000, 5e4), (1e-4, 0), (1e4, 3e5))
"""Factor and shift of a response: dollars, kelvins, metres for kilometres ..."""

RAW = {
    "r2": (oracle.error_and_response, oracle.r2),
    "rmse": (lambda y, p: ((y - p) ** 2)[:, None], lambda m: m[0] ** 0.5),
    "wape": (lambda y, p: np.stack([abs(y - p), abs(y)], -1), lambda m: m[0] / m[1]),
    "pearson": (
        lambda y, p: np.stack([y, p, y**2, p**2, y * p], -1),
        lambda m: (m[4] - m[0] * m[1]) / ((m[2] - m[0] ** 2) * (m[3] - m[1] ** 2)) ** 0.5,
    ),
    "ccc": (
        lambda y, p: np.stack([y * p, p**2, p, y**2, y], -1),
        lambda m: 2 * (m[0] - m[2] * m[4]) / (m[1] + m[3] - 2 * m[2] * m[4]),
    ),
}
"""Own copies; parts are not centered, and are in any order."""


def numbers_about(losses, *learners):
    result = uv.HoldOutTest.from_losses(losses, *learners).fit()
    return result.estimate, result.se, result.diagnostics["second_order_bias"]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", RAW)
def test_own_copies_have_our_numbers_in_all_units(name, unit):
    rng = np.random.default_rng(1)
    y = rng.normal(size=100)
    y, a, b = (
        unit[0] * column + unit[1]
        for column in (y, y + 0.4 * rng.normal(size=100), y + 0.7 * rng.normal(size=100))
    )
    ours, own = (
        uv.Losses.from_predictions(y, {"a": a, "b": b}, metric=metric)
        for metric in (name, uv.metrics.Moments(*RAW[name], "own"))
    )
    for learners in (("a",), ("a", "b")):
        found, expected = (numbers_about(losses, *learners) for losses in (own, ours))
        assert found[:2] == pytest.approx(expected[:2], rel=1e-6)
        assert found[2] == pytest.approx(expected[2], rel=1e-4)
    if name != "wape":
        # Biases change with units as estimates do.
        factor = unit[0] if name == "rmse" else 1.0
        first = (y - unit[1]) / unit[0], (a - unit[1]) / unit[0]
        plain = uv.Losses.from_predictions(first[0], {"a": first[1]}, metric=name)
        expected = np.array(numbers_about(plain)) * factor
        assert numbers_about(ours, "a") == pytest.approx(expected, rel=1e-6)


RARE = ((60, 20), (400, 5), (4000, 8), (20000, 2), (200000, 8))
"""Observations, and how many are of each class but the first."""


@pytest.mark.parametrize("size", RARE)
@pytest.mark.parametrize("name", [name for name in OF_MEANS if SMOOTH[name].output == "label"])
def test_own_copies_have_our_numbers_for_rare_classes(name, size):
    n, k = size
    n_classes = 2 if SMOOTH[name].of_two else 3
    y = np.repeat(np.arange(n_classes), [n - (n_classes - 1) * k, *[k] * (n_classes - 1)])
    a, b = y.copy(), y.copy()
    a[[0, 1, -1]] = (1, n_classes - 1, 0)
    b[[0, -k]] = (n_classes - 1, 0)
    function = SMOOTH[name].made_for(range(n_classes))
    copy = uv.metrics.Cells(lambda P: function.value_and_gradient(P)[0], "own", limits=(-1, 1))
    ours, own = (
        uv.Losses.from_predictions(y, {"a": a, "b": b}, metric=metric) for metric in (name, copy)
    )
    for learners in (("a",), ("a", "b")):
        found, expected = (numbers_about(losses, *learners) for losses in (own, ours))
        assert found[:2] == pytest.approx(expected[:2], rel=1e-6, nan_ok=True)
        # Recalls and precisions have no bias at all.
        error = 1e-6 * expected[1]
        assert found[2] == pytest.approx(expected[2], rel=1e-4, abs=error, nan_ok=True)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_own_functions_that_are_infinite_have_no_value():
    """Without a warning of ours: there is one case of class 1, and no error."""
    own = uv.metrics.Cells(lambda P: -np.inf if P[0, 1] == 0 else float(np.log(P[0, 1])), "own")
    losses = uv.Losses.from_predictions([0, 0, 0, 1], {"a": [0, 0, 0, 1]}, metric=own)
    assert uv.HoldOutTest.from_losses(losses).fit().status.startswith("no estimate")


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
