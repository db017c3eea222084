"""Intervals of metrics of fixed rules, against the formulas of their derivation."""

import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles import intervals as papers
from tests.oracles import metrics as oracle
from ucvtest.stats.intervals import PlusFour
from ucvtest.stats.wald import wald_pvalue

TWO = {
    "f1": oracle.f_beta(),
    "fbeta(2)": oracle.f_beta(beta=2),
    "precision": oracle.precision(),
    "npv": oracle.precision(k=0),
    "recall": oracle.recall(),
    "specificity": oracle.recall(k=0),
    "jaccard": oracle.jaccard(),
    "balanced_accuracy": oracle.macro(oracle.recall, 2),
    "g_mean": oracle.g_mean(),
    "mcc": oracle.mcc(),
    "kappa": oracle.kappa(),
}
FOUR = {
    "f1_macro": oracle.macro(oracle.f_beta, 4),
    "f1_weighted": oracle.weighted(oracle.f_beta, 4),
    "f1_micro[0, 1, 2]": oracle.micro_f1(4, [0, 1, 2]),
    "precision_macro": oracle.macro(oracle.precision, 4),
    "recall[3]": oracle.recall(4, 3),
    "balanced_accuracy": oracle.macro(oracle.recall, 4),
    "g_mean": oracle.g_mean(4),
    "mcc": oracle.mcc(4),
    "kappa": oracle.kappa(4),
    "kappa_quadratic": oracle.kappa(4, 2),
}
NUMBERS = {
    "r2": (oracle.error_and_response, oracle.r2, "log1m"),
    "pearson": (oracle.products, oracle.pearson, "fisher"),
    "ccc": (oracle.products, oracle.ccc, "fisher"),
    "wape": (
        lambda y, p: np.stack([abs(y - p), abs(y)], -1),
        lambda c: c[0] / c[1],
        "log",
    ),
}
PROBABILITIES = {
    "brier_skill": (oracle.error_and_response, oracle.r2, "log1m"),
    "log_skill": (
        lambda y, p: np.stack([-(y * np.log(p) + (1 - y) * np.log(1 - p)), y], -1),
        oracle.log_skill,
        "log1m",
    ),
}
GROUPS = np.arange(60) // 5
CLUSTERED = [None, GROUPS]
SIGNED = ("mcc", "kappa", "kappa_quadratic")


def labels(n_classes, seed=0):
    """Classes, and what two rules predict; each class is there, and predicted."""
    rng = np.random.default_rng(seed)
    y = np.arange(60) % n_classes
    return y, *(
        np.where(rng.random(60) < right, y, rng.choice(n_classes, 60)) for right in (0.7, 0.5)
    )


def numbers():
    rng = np.random.default_rng(1)
    y = rng.normal(size=60) + 2 + np.repeat(rng.normal(size=12), 5)
    return y, y + rng.normal(size=60)


def losses_of(y, *predicted, **more):
    return uv.Losses.from_predictions(y, dict(zip("abcd", predicted, strict=False)), **more)


def fitted(losses, *names, **more):
    return uv.HoldOutTest.from_losses(losses, *(names or ("a",)), **more).fit()


def close(found, expected):
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)


# ---------------------------------------------------------------------------------- the rules


@pytest.mark.parametrize("groups", CLUSTERED, ids=["rows", "clusters"])
@pytest.mark.parametrize(("n_classes", "metrics"), [(2, TWO), (4, FOUR)])
def test_confusion_metrics_have_observations_added(n_classes, metrics, groups):
    y, a, b = labels(n_classes)
    losses = losses_of(y, a, b, metric="mcc", groups=groups)
    for name, function in metrics.items():
        about, low = losses.about(name), -1.0 if name in SIGNED else 0.0
        one, both = fitted(about), fitted(about, "a", "b")
        tables = [oracle.table_of((y, each), n_classes) for each in (a, b)]
        values = [function(table)[0] for table in tables]
        close(one.estimate, values[0])
        close(both.estimate, values[0] - values[1])
        here = [function(table)[1] for table in tables]
        close(one.se, math.sqrt(oracle.variance(here[0][y, a], groups)))
        close(both.se, math.sqrt(oracle.variance(here[0][y, a] - here[1][y, b], groups)))
        interval = partial(oracle.with_added, function, C=n_classes, groups=groups)
        if name == "recall[3]":
            # That of the class and of the rest.
            y2, a2, b2 = (np.equal(each, 3) * 1 for each in (y, a, b))
            interval = partial(oracle.with_added, oracle.recall(), C=2, groups=groups)
            close(one.conf_int(), interval((y2, a2), low=0, high=1, several=True))
            close(both.conf_int(), interval((y2, a2, b2), low=-1, high=1))
            continue
        close(one.conf_int(), interval((y, a), low=low, high=1))
        close(both.conf_int(), interval((y, a, b), low=-1 + low, high=1 - low))


def test_many_filled_cells_have_the_rule_of_two_classes():
    rng = np.random.default_rng(0)
    y, a = rng.integers(0, 20, (2, 800))
    a = np.where(rng.random(800) < 0.5, y, a)
    assert len({*zip(y.tolist(), a.tolist(), strict=True)}) > 200
    result = fitted(losses_of(y, a, metric="mcc"))
    expected = oracle.with_added(oracle.mcc(20), (y, a), 20, -1, 1, several=False)
    close(result.conf_int(), expected)
    assert "jackknife" not in " ".join(result.notes)


def test_net_benefit_has_observations_added():
    y, a, b = labels(2)
    rng = np.random.default_rng(0)
    chances = [np.where(each, 0.5, 0.1) + 0.09 * rng.random(60) for each in (a, b)]
    losses = losses_of(y, *chances, metric=uv.metrics.net_benefit(0.2))
    low, interval = -0.25, partial(oracle.with_added, oracle.net_benefit(0.2), C=2)
    close(fitted(losses).conf_int(), interval((y, a), low=low, high=1))
    close(fitted(losses, "a", "b").conf_int(), interval((y, a, b), low=-1.25, high=1.25))


@pytest.mark.parametrize("groups", CLUSTERED, ids=["rows", "clusters"])
def test_moments_are_jackknifed_on_their_scale(groups):
    y, p = numbers()
    rng = np.random.default_rng(2)
    binary, chances = np.arange(60) % 2, np.clip(0.25 + 0.5 * rng.random(60), 0, 1)
    for data, table in (((y, p), NUMBERS), ((binary, chances), PROBABILITIES)):
        for name, (parts, function, scale) in table.items():
            result = fitted(losses_of(*data, metric=name, groups=groups))
            close(result.estimate, function(parts(*data).mean(0)))
            expected = oracle.jackknife_on_scale(function, parts(*data), scale, groups=groups)
            close(result.conf_int(), expected)


def test_the_root_has_the_roots_of_the_limits_of_the_mean_square():
    y, p = numbers()
    squares = (y - p) ** 2
    gamma, df = papers.moments(squares)
    mean, se = squares.mean(), squares.std(ddof=1) / math.sqrt(60)
    for side in papers.SIDES:
        expected = papers.hall(mean, se, df, 60, gamma, side, 0.05)
        result = fitted(losses_of(y, p, metric="rmse"), alternative=side)
        low, high = (None if each is None else math.sqrt(each) for each in expected)
        close(result.conf_int(), (0.0 if low is None else low, math.inf if high is None else high))
        close(result.estimate, math.sqrt(mean))


def test_differences_of_moments_are_of_linearised_values():
    y, p = numbers()
    q = p + np.cos(np.arange(60))
    result = fitted(losses_of(y, p, q, metric="r2"), "a", "b")
    values = losses_of(y, p, q, metric="r2").values
    assert result.se == pytest.approx(np.std(values[0] - values[1], ddof=1) / math.sqrt(60))
    half = 2.0009953780882688 * result.se
    assert result.conf_int() == pytest.approx((result.estimate - half, result.estimate + half))


RANKED = {
    "average_precision": oracle.average_precision,
    "partial_auc(0.3)": None,
}


def scores():
    rng = np.random.default_rng(3)
    y = np.arange(60) % 4 == 0
    return y * 1, *(np.round(rng.normal(size=60) + shift * y, 1) for shift in (1.5, 0.5))


def influence_of_part(y, s, w):
    """Area up to 0.3, with its influence by differences of the weights."""
    area = partial(oracle.partial_auc, y, s, f=0.3)
    moved = []
    for i in range(len(y)):
        step = 1e-4 * np.eye(len(y))[i]
        moved.append((area(w + step) - area(w - step)) / 2e-4 * w.sum())
    return area(w), np.array(moved)


@pytest.mark.parametrize("groups", CLUSTERED, ids=["rows", "clusters"])
def test_ranks_have_quarters_of_observations_added(groups):
    y, a, b = scores()
    losses = losses_of(y, a, b, metric="average_precision", groups=groups)
    one = fitted(losses)
    close(one.conf_int(), oracle.with_quarters(oracle.average_precision, y, a, groups=groups))
    close(one.estimate, oracle.average_precision(y, a, np.ones(60))[0])
    if groups is None:
        both = fitted(losses, "a", "b")
        expected = oracle.difference_of_ranks(oracle.average_precision, y, a, b)
        close((both.estimate, *both.conf_int()), expected)
    assert "a quarter of a positive and of a negative observation" in one.methods_text()
    part = fitted(losses.about("partial_auc(0.3)"))
    expected = oracle.with_quarters(influence_of_part, y, a, groups=groups)
    assert part.conf_int() == pytest.approx(expected, abs=1e-6)


def test_differences_of_ranks_by_clusters_are_of_sums():
    y, a, b = scores()
    losses = losses_of(y, a, b, metric="average_precision", groups=GROUPS)
    result = fitted(losses, "a", "b")
    values = losses.values[0] - losses.values[1]
    close(result.variance, oracle.variance(values, GROUPS))
    assert result.df == 11


def test_a_single_positive_has_an_interval_alone_and_no_difference():
    y, a, b = np.arange(9) == 2, np.arange(9.0), np.arange(9.0)[::-1]
    losses = losses_of(y, a, b, metric="average_precision")
    low, high = fitted(losses).conf_int()
    assert 0 < low < fitted(losses).estimate < high < 1
    result = fitted(losses, "a", "b")
    assert result.status.startswith("too few observations: 1 positive and 8 negative ones")
    assert math.isnan(result.pvalue)


def test_of_several_classes_one_is_ranked_against_the_rest():
    y, a = np.arange(60) % 3, scores()[1]
    found = losses_of(y, a, metric="average_precision", pos_label=2)
    expected = losses_of((y == 2) * 1, a, metric="average_precision")
    assert found.values.tolist() == expected.values.tolist()
    assert "(positive class 2)" in fitted(found.about("partial_auc(0.2)")).estimand
    with pytest.raises(ValueError, match="needs two classes, but y has 3"):
        losses_of(y, a, metric="average_precision")


# --------------------------------------------------------------------- what was there before


def test_accuracy_has_the_interval_plus_four():
    """R1 of the accuracy is Agresti and Coull's, which weighted errors have had."""
    y, a, _ = labels(2)
    metric = uv.metrics.Cells(np.trace, "share of right", limits=(0, 1))
    result = fitted(losses_of(y, a, metric=metric))
    errors = (y != a).mean()
    rule = PlusFour(errors, np.var(y != a) / 59, 60)
    low, high = rule.interval("two-sided", 0.05)
    # The gradient of an own metric is found by differences.
    assert result.conf_int() == pytest.approx((1 - high, 1 - low), abs=1e-11)
    expected = oracle.with_added(oracle.accuracy(), (y, a), 2, 0, 1)
    assert (1 - high, 1 - low) == pytest.approx(expected, abs=1e-15)
    net = fitted(losses_of(y, a * 1.0, metric=uv.metrics.net_benefit(0.5)))
    assert net.rule.df == 59


def test_accuracy_is_the_share_right():
    y, a, b = labels(2)
    found, errors = losses_of(y, a, b, metric="accuracy"), losses_of(y, a, b)
    assert found.greater_is_better
    assert found.means[0, 0] == np.mean(np.array(a) == np.array(y))
    low, high = fitted(errors, "a").conf_int()
    assert fitted(found, "a").conf_int() == pytest.approx((1 - high, 1 - low), abs=1e-15)
    low, high = fitted(errors, "a", "b").conf_int()
    assert fitted(found, "a", "b").conf_int() == pytest.approx((-high, -low), abs=1e-15)
    mcnemar = [uv.McNemarTest.from_losses(each).fit().pvalue for each in (found, errors)]
    assert mcnemar[0] == mcnemar[1]


def test_names_of_losses_are_the_losses():
    y, a, b = labels(2)
    expected = losses_of(y, a, b)
    for name in ("zero_one", "error"):
        found = losses_of(y, a, b, metric=name)
        assert found.loss == "zero_one"
        assert found.predictions is None
        assert fitted(found, "a", "b").conf_int() == fitted(expected, "a", "b").conf_int()
        mcnemar = [uv.McNemarTest.from_losses(each).fit().pvalue for each in (found, expected)]
        assert mcnemar[0] == mcnemar[1]
    y, a, b = scores()
    expected = uv.DeLongTest.from_losses(losses_of(y, a, b, loss="auc")).fit()
    for name in ("auc", "roc_auc"):
        found = uv.DeLongTest.from_losses(losses_of(y, a, b, metric=name)).fit()
        assert (found.estimate, found.se, found.pvalue) == (
            expected.estimate,
            expected.se,
            expected.pvalue,
        )


# --------------------------------------------------------------------------------------- bias


def test_bias_of_second_order():
    y, p = numbers()
    for name, (parts, function, _) in NUMBERS.items():
        found = fitted(losses_of(y, p, metric=name)).diagnostics["second_order_bias"]
        expected = oracle.second_order_bias(function, parts(y, p))
        # wape's first part has no covariance with itself to second order.
        assert found == pytest.approx(expected, rel=1e-4, abs=1e-9), name
    y, a, b = labels(2)
    cells = [np.eye(4)[2 * y + each] for each in (a, b)]
    for name, function in TWO.items():
        each = [
            oracle.second_order_bias(lambda c, f=function: f(c.reshape(2, 2))[0], parts)
            for parts in cells
        ]
        losses = losses_of(y, a, b, metric=name)
        found = [fitted(losses, *who).diagnostics["second_order_bias"] for who in ("a", "ab")]
        assert found == pytest.approx([each[0], each[0] - each[1]], rel=1e-3, abs=1e-6), name


def test_the_bias_of_clusters_is_that_of_their_sums():
    """With as many rows in each, theirs are means of means."""
    y, a, _ = labels(2)
    cells = np.eye(4)[2 * y + a].reshape(12, 5, 4).mean(axis=1)
    expected = oracle.second_order_bias(lambda c: TWO["f1"](c.reshape(2, 2))[0], cells)
    result = fitted(losses_of(y, a, metric="f1", groups=GROUPS))
    assert result.diagnostics["second_order_bias"] == pytest.approx(expected, rel=1e-3)
    y, p = numbers()
    parts, function, _ = NUMBERS["r2"]
    expected = oracle.second_order_bias(function, parts(y, p).reshape(12, 5, 3).mean(axis=1))
    result = fitted(losses_of(y, p, metric="r2", groups=GROUPS))
    assert result.diagnostics["second_order_bias"] == pytest.approx(expected, rel=1e-3)


def test_many_classes_have_no_bias_and_an_answer():
    y = np.arange(600) % 40
    a = np.where(np.arange(600) % 3 == 0, np.arange(600) // 7 % 40, y)
    result = fitted(losses_of(y, a, metric="f1_macro"))
    assert math.isnan(result.diagnostics["second_order_bias"])
    assert result.conf_int()[0] < result.estimate < result.conf_int()[1]


def test_a_bias_that_is_notable_is_said():
    y = np.array([0.0, 1, 2, 3, 4, 50])
    p = y + np.array([9.0, -1, 2, -3, 1, 30])
    notes = " ".join(fitted(losses_of(y, p, metric="r2")).notes)
    assert "The estimate has an expected bias" in notes
    y, a, _ = labels(2)
    assert "expected bias" not in " ".join(fitted(losses_of(y, a, metric="mcc")).notes)


# ----------------------------------------------------------------------- p-values and intervals


def one_of_each_rule():
    """A result by each rule."""
    y, a, b = labels(2)
    for groups in CLUSTERED:
        losses = losses_of(y, a, b, metric="f1", groups=groups)
        yield from (fitted(losses, null_value=0.6), fitted(losses, "a", "b"))
    y, a, b = labels(4)
    yield fitted(losses_of(y, a, b, metric="mcc"), null_value=0.3)
    y, p = numbers()
    for name, null in (("r2", 0.3), ("pearson", 0.5), ("ccc", 0.2), ("wape", 0.4), ("rmse", 0.9)):
        yield fitted(losses_of(y, p, metric=name), null_value=null)
    y, a, b = scores()
    losses = losses_of(y, a, b, metric="average_precision")
    yield from (fitted(losses, null_value=0.5), fitted(losses, "a", "b"))


def test_p_values_invert_the_intervals():
    for result in one_of_each_rule():
        for alternative in ("two-sided", "less", "greater"):
            turned = replace(result, alternative=alternative)
            for alpha in (0.2, 0.05, 0.01):
                for end in turned.conf_int(alpha):
                    least, most = turned.bounds
                    if math.isfinite(end) and least < end < most:
                        found = pvalue_of(turned, end)
                        assert found == pytest.approx(alpha, rel=1e-8), (turned.estimand, end)


def pvalue_of(result, null):
    """The p-value of another null value."""
    if result.rule is not None:
        return result.rule.pvalue(null, result.alternative)
    statistic = (result.estimate - null) / result.se
    return wald_pvalue(statistic, result.reference, result.df, result.alternative)


def test_results_are_read_as_they_were_written():
    for result in one_of_each_rule():
        read = uv.TestResult.from_dict(json.loads(result.to_json()))
        assert read.rule == result.rule
        assert "confidence interval is " in read.methods_text()
        assert read.conf_int() == result.conf_int()
        assert read.pvalue == result.pvalue


DATASETS = {
    "mcc": labels(2),
    "f1_macro": labels(4),
    "r2": (*numbers(), np.arange(60) % 7.0),
    "average_precision": scores(),
}


@pytest.mark.parametrize("groups", CLUSTERED, ids=["rows", "clusters"])
@pytest.mark.parametrize("name", DATASETS)
def test_order_of_rows_and_of_rules_changes_nothing(name, groups):
    y, a, b = DATASETS[name]
    mixed = np.random.default_rng(0).permutation(60)
    expected = fitted(losses_of(y, a, b, metric=name, groups=groups), "a", "b", null_value=0.1)
    given = (each[mixed] for each in (y, a, b))
    others = None if groups is None else np.array(list("klmnopqrstuv"))[groups][mixed]
    found = fitted(losses_of(*given, metric=name, groups=others), "a", "b", null_value=0.1)
    swapped = fitted(losses_of(y, a, b, metric=name, groups=groups), "b", "a", null_value=-0.1)
    for each, sign in ((found, 1), (swapped, -1)):
        assert sign * each.estimate == pytest.approx(expected.estimate)
        assert each.pvalue == pytest.approx(expected.pvalue)
        assert sorted(sign * end for end in each.conf_int()) == pytest.approx(expected.conf_int())


def test_names_of_labels_change_nothing():
    y, a, b = labels(4)
    words = np.array(["d", "b", "a", "c"])
    for name in ("f1_macro", "mcc", "kappa"):
        found = fitted(losses_of(words[y], words[a], words[b], metric=name), "a", "b")
        expected = fitted(losses_of(y, a, b, metric=name), "a", "b")
        assert found.conf_int() == pytest.approx(expected.conf_int())


# --------------------------------------------------------------------------------------- edges


def test_0_over_0_says_so_and_has_no_interval():
    y = np.array([0, 0, 0, 1, 1, 1] * 2)
    never = np.zeros(12, dtype=int)
    result = fitted(losses_of(y, never, metric="precision"), null_value=0.4)
    assert math.isnan(result.estimate)
    assert result.status.startswith("no estimate: precision is 0/0 here")
    assert all(map(math.isnan, (result.se, result.pvalue)))
    with pytest.warns(uv.UcvtestWarning, match="no confidence interval: no estimate"):
        assert all(map(math.isnan, result.conf_int()))
    two = fitted(losses_of(y, never, y, metric="precision"), "a", "b")
    assert two.status == result.status
    assert math.isnan(two.estimate)
    assert "could not be estimated" in two.verdict


@pytest.mark.parametrize("name", TWO)
def test_all_right_and_all_wrong_have_an_interval_at_the_edge(name):
    y = np.array([0, 0, 0, 1, 1, 1] * 2)
    right = fitted(losses_of(y, y, metric=name))
    assert right.estimate == 1
    low, high = right.conf_int()
    assert 0 < low < high <= 1
    wrong = fitted(losses_of(y, 1 - y, metric=name))
    assert wrong.estimate <= 0
    low, high = wrong.conf_int()
    assert -1 <= low < high < 1
    # With clusters as many observations as there are clusters.
    clustered = fitted(losses_of(y, y, metric=name, groups=np.arange(12) // 3))
    assert clustered.conf_int()[0] < right.conf_int()[0]


def test_rules_that_predict_alike_do_not_differ():
    y, a, _ = labels(2)
    result = fitted(losses_of(y, a, a, metric="f1"), "a", "b")
    assert result.estimate == 0
    low, high = result.conf_int()
    assert low < 0 < high


def test_one_class_in_y_is_refused():
    with pytest.raises(ValueError, match="y has one class only"):
        losses_of([1, 1, 1], [1, 1, 1], metric="f1")


def test_one_class_is_enough_where_its_observations_alone_decide():
    shown = fitted(losses_of([1] * 6, [1, 1, 0, 1, 1, 1], [1] * 6, metric="recall"))
    assert shown.estimate == 5 / 6
    low, high = shown.conf_int()
    assert 0 < low < 5 / 6 < high == 1
    well = losses_of([0] * 6, [1, 0, 0, 0, 0, 0], metric="specificity")
    assert fitted(well).conf_int() == pytest.approx((low, high), abs=1e-12)
    for predicted in (["ill", "well"], ["ill", "ill"]):
        named = losses_of(["ill"] * 2, predicted, metric="recall", pos_label="ill")
        assert fitted(named).estimate == predicted.count("ill") / 2
    with pytest.raises(ValueError, match="pass pos_label="):
        losses_of(["ill"] * 2, ["ill", "well"], metric="recall")
    for name, y in (("recall", [0] * 3), ("specificity", [1] * 3), ("precision", [1] * 3)):
        with pytest.raises(ValueError, match="y has one class only"):
            losses_of(y, [0, 1, 1], metric=name)


@pytest.mark.filterwarnings("ignore:no confidence interval")
def test_numbers_without_spread_have_no_correlation():
    y = np.arange(12.0)
    result = fitted(losses_of(y, np.full(12, 3.0), metric="pearson"))
    assert math.isnan(result.estimate)
    assert result.status != "ok"
    assert all(map(math.isnan, result.conf_int()))
    for name, value in (("r2", 1), ("pearson", 1), ("ccc", 1), ("rmse", 0), ("wape", 0)):
        result = fitted(losses_of(y, y, metric=name))
        assert result.estimate == pytest.approx(value, abs=1e-12)
        assert result.status.startswith("degenerate")
    constant = fitted(losses_of(np.full(12, 3.0), y, metric="r2"))
    assert math.isnan(constant.estimate)
    assert constant.status != "ok"


def test_a_metric_that_needs_the_only_positive_has_a_standard_error():
    y, p = np.arange(12) == 3, np.linspace(0.1, 0.9, 12)
    result = fitted(losses_of(y, p, metric="log_skill"))
    assert "linearised values" in " ".join(result.notes)
    assert result.rule is None
    assert result.se > 0


def test_two_observations_have_an_answer():
    for groups in (None, [0, 0, 1, 1]):
        y, p = np.array([0.0, 1, 3, 4]), np.array([1.0, 1, 2, 6])
        size = 2 if groups is None else 4
        result = fitted(losses_of(y[:size], p[:size], metric="rmse", groups=groups))
        assert result.rule is None
        assert result.status == "ok"
        assert result.conf_int()[0] >= 0


def test_a_jackknife_that_does_not_vary_gives_way():
    result = fitted(losses_of([0.0, 2.0], [1.0, 2.0], metric="ccc"))
    assert 0 < result.pvalue <= 1 or math.isnan(result.pvalue)
    assert math.isfinite(result.estimate)


def test_rounding_leaves_no_range():
    for n_obs in range(3, 40):
        y = np.arange(n_obs) * 7 % 3 > 0
        if 0 < y.sum() < n_obs:
            for metric in ("mcc", "kappa", "f1", "average_precision"):
                assert fitted(losses_of(y * 1, y * 1, metric=metric)).estimate <= 1


def test_units_of_y_change_nothing():
    y, p = numbers()
    for name in ("r2", "pearson", "ccc", "wape"):
        expected = fitted(losses_of(y, p, metric=name))
        for unit in (1e-30, 1e30):
            found = fitted(losses_of(unit * y, unit * p, metric=name))
            assert found.estimate == pytest.approx(expected.estimate, rel=1e-9)
            assert found.conf_int() == pytest.approx(expected.conf_int(), rel=1e-6)
    far = fitted(losses_of(1e6 + y, 1e6 + p, metric="r2"))
    assert far.conf_int() == pytest.approx(fitted(losses_of(y, p, metric="r2")).conf_int())


def test_missing_predictions_are_refused():
    with pytest.raises(ValueError, match="missing"):
        losses_of([0, 1, 1], [0, None, 1], metric="f1")
    with pytest.raises(ValueError, match="missing"):
        losses_of([0.0, 1, 2], [0, math.nan, 1], metric="r2")
    with pytest.raises(ValueError, match="missing"):
        losses_of([0, 1, 1], [0, math.nan, 1], metric="average_precision")


# ------------------------------------------------------------------------------ several rules


def test_several_rules_are_compared_together():
    y, a, b = labels(2)
    c = np.where(np.arange(60) % 7 == 0, 1 - y, y)
    losses = losses_of(y, a, b, c, metric="f1")
    comparison = uv.compare_losses(losses, ["hold_out"], correction="simultaneous")
    frame = comparison.summary_frame()
    for _, each in frame.iterrows():
        alone = fitted(losses, each.learner, each.other)
        assert each.estimate == alone.estimate
        # Wider around the same centre, which is that with observations added.
        assert each.conf_low < alone.conf_int()[0]
        assert each.conf_high > alone.conf_int()[1]
        assert each.conf_low + each.conf_high == pytest.approx(sum(alone.conf_int()))
    assert comparison.best_set() == ("a", "c")
    y, a, b = scores()
    losses = losses_of(y, a, b, a + b, metric="average_precision")
    frame = uv.compare_losses(losses, ["hold_out"], correction="simultaneous").summary_frame()
    for _, each in frame.iterrows():
        alone = fitted(losses, each.learner, each.other)
        assert each.se == pytest.approx(alone.se)


# ------------------------------------------------------------------------------------- learners


def test_of_learners_it_is_the_metric_of_their_predictions():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + y[:, None]
    design = uv.designs.HoldOut(0.5)
    for metric, groups in (("f1", None), ("mcc", np.arange(60) // 4), ("f1_macro", None)):
        test = uv.HoldOutTest(
            *(X, y, "lda", "nearest_centroid"), design=design, metric=metric, groups=groups
        )
        result = test.fit(rng=0)
        losses = uv.evaluate(
            ["lda", "nearest_centroid"], X, y, design, metric=metric, groups=groups, rng=0
        )
        kept = losses.design.testing[0]
        fixed = losses_of(
            y[kept],
            *losses.predictions,
            metric=metric,
            groups=None if groups is None else groups[kept],
        )
        assert result.estimate == fitted(losses, 0, 1).estimate == fitted(fixed, 0, 1).estimate
        assert result.conf_int() == fitted(fixed, 0, 1).conf_int()
        assert "rules fitted to this learning set" in result.estimand


def test_a_rule_without_a_value_leaves_the_others_their_answer():
    y, a, b = labels(2)
    losses = losses_of(y, a, b, np.zeros(60), metric="precision")
    comparison = uv.compare_losses(losses, ["hold_out"], correction="simultaneous")
    frame = comparison.summary_frame()
    assert frame.status.str.startswith("no estimate").tolist() == [False, True, True]
    assert frame.pvalue[0] == fitted(losses, "a", "b").pvalue
    assert "c" in comparison.best_set()


# --------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("suffix", ["npz", "json"])
def test_losses_with_predictions_are_saved(tmp_path, suffix):
    y, a, b = labels(2)
    words = np.array(["ill", "well"])
    made = [
        losses_of(words[y], words[a], words[b], metric="f1", pos_label="ill", groups=GROUPS),
        losses_of(words[y], words[a], metric=uv.metrics.fbeta(1 / 3, labels=["well"])),
        losses_of(y, a + 0.5 * b, metric="average_precision"),
        losses_of(*numbers(), metric="r2"),
    ]
    path = tmp_path / f"losses.{suffix}"
    for losses in made:
        losses.save(path)
        read = uv.Losses.load(path)
        assert read.loss == losses.loss
        assert read.predictions.tolist() == losses.predictions.tolist()
        assert fitted(read).conf_int() == fitted(losses).conf_int()
        assert read.about(losses.metric).values.tolist() == losses.values.tolist()


def test_losses_of_own_metrics_are_not_saved(tmp_path):
    y, a, _ = labels(2)
    losses = losses_of(y, a, metric=uv.metrics.Cells(np.trace, "right"))
    with pytest.raises(ValueError, match=r"your own metric 'right' cannot be saved"):
        losses.save(tmp_path / "losses.json")
    losses.about("f1").save(tmp_path / "losses.json")


# ------------------------------------------------------------------------------------ pictures


@pytest.mark.seconds(3, reason="draws a picture")
def test_the_working_point_is_drawn(tmp_path):
    y, a, b = labels(4)
    words = np.array(["cat", "dog", "owl", "bat"])
    result = fitted(losses_of(words[y], words[a], words[b], metric="f1_macro"), "a", "b")
    assert result.plot_kinds == ("interval", "cells", "cells_other")
    for kind, predicted in (("cells", a), ("cells_other", b)):
        right, wrong = result.pictures[kind].layers
        assert sum(right.y) == (y == predicted).sum()
        assert sum(wrong.y) == (y != predicted).sum()
        assert len({*right.x, *wrong.x}) == 16
        assert result.pictures[kind].places == ("bat", "cat", "dog", "owl")
        result.save_plot(tmp_path / f"{kind}.png", kind=kind, dpi=20)
    assert fitted(losses_of(*numbers(), metric="r2")).plot_kinds == ("interval",)
    y = np.arange(60) % 10
    assert fitted(losses_of(y, y, metric="mcc")).plot_kinds == ("interval",)


# --------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("f1_score", "f1"),
        ("matthews_corrcoef", "mcc"),
        ("cohen_kappa_score", "kappa"),
        ("balanced_accuracy_score", "balanced_accuracy"),
        ("sensitivity", "recall"),
        ("ppv", "precision"),
    ],
)
def test_other_names_are_the_same_metric(alias, name):
    y, a, _ = labels(2)
    assert losses_of(y, a, metric=alias).loss == name


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("f2_macro", r"did you mean the F-beta 'fbeta\(2\)_macro'"),
        ("F0.5_score", r"did you mean the F-beta 'fbeta\(0.5\)'"),
        ("f1_macr", "did you mean 'f1_macro'"),
        ("Acuracy", "did you mean 'accuracy'"),
        ("sens", "did you mean 'recall'"),
        ("mathews_corrcoef", "did you mean 'mcc'"),
        ("ece", "depends on bins"),
        ("sensitivity_at_specificity", r"uv\.metrics\.partial_auc"),
        ("tpr_at_fpr", "cut chosen beforehand"),
        ("fbeta", r"uv\.metrics\.fbeta\(2\)"),
        ("nonsense", "use one of f1, "),
        (3, "use one of f1, "),
        (["f1", "mcc"], "names several metrics: pass one"),
    ],
)
def test_unknown_names_say_what_to_use(name, why):
    y, a, _ = labels(2)
    with pytest.raises(ValueError, match=why):
        losses_of(y, a, metric=name)
    with pytest.raises(ValueError, match=why):
        uv.HoldOutTest(np.ones((60, 1)), y, "lda", metric=name)


@pytest.mark.parametrize("metric", ["r2", "rmse", ["mcc", "wape"]])
def test_metrics_of_numbers_are_not_for_labels_that_are_none(metric):
    X, y = np.arange(40.0)[:, None], np.repeat(["ill", "well"], 20)
    why = "needs numbers, but y contains labels: use 'f1', 'mcc'"
    with pytest.raises(ValueError, match=why):
        uv.compare(X, y, ["lda", "knn:1"], metric=metric)
    if isinstance(metric, str):
        with pytest.raises(ValueError, match=why):
            uv.UStatisticTest(X, y, "lda", metric=metric)
        with pytest.raises(ValueError, match=why):
            losses_of(y, np.arange(40.0), metric=metric)


def test_ranks_are_not_for_learners_that_are_fitted():
    y, X = np.arange(20) % 2, np.arange(20.0)[:, None]
    for metric in ("average_precision", uv.metrics.partial_auc(0.2)):
        for call in (
            lambda metric=metric: uv.evaluate("lda", X, y, 4, metric=metric),
            lambda metric=metric: uv.CrossValidationWaldTest(X, y, "lda", metric=metric),
            lambda metric=metric: uv.HoldOutTest(X, y, "lda", metric=metric),
        ):
            with pytest.raises(ValueError, match="are biased, by more than half"):
                call()


@pytest.mark.filterwarnings("ignore:no confidence interval")
def test_what_does_not_vary_but_for_rounding_is_degenerate():
    y = np.random.default_rng(6).normal(10, 3, 50)
    constant = fitted(losses_of(y, np.full(50, 3.0), metric="pearson"))
    assert math.isnan(constant.estimate)
    for name, target, predicted in (
        ("ccc", y, np.full(50, 3.0)),
        ("log_skill", y > 10, (y > 10) * 1.0),
    ):
        result = fitted(losses_of(target, predicted, metric=name))
        assert result.status.startswith("degenerate")
        assert all(map(math.isnan, result.conf_int()))
    right = fitted(losses_of(y > 14, y > 14, metric="mcc"))
    assert "bias" not in " ".join(right.notes)


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("net_benefit(0.2)", "net benefits at 0.2"),
        (uv.metrics.f1(labels=[1]), "F1s of 1"),
        ("g_mean", "geometric means of recalls"),
        ("npv", "negative predictive values"),
    ],
)
def test_the_plural_is_that_of_the_noun(metric, words):
    y, p = np.arange(12) % 2, np.arange(12) % 3 == 0
    predicted = p * 1.0 if "net" in str(metric) else p * 1
    assert losses_of(y, predicted, 1 - predicted, metric=metric).metric.plural == words


def test_the_refusal_of_one_class_says_what_to_use():
    with pytest.raises(ValueError, match=r"metric='f1' needs two: .* or use 'accuracy'"):
        losses_of([1, 1, 1], [1, 0, 1], metric="f1")


def test_the_refusal_of_the_auc_names_the_test_of_it():
    losses = uv.Losses.from_predictions([0, 1, 1], {"a": [0.1, 0.3, 0.2]}, metric="auc")
    with pytest.raises(ValueError, match="or DeLongTest, which is about the AUC"):
        uv.HoldOutTest.from_losses(losses)


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        ("net_benefit(1.2)", r"metric='net_benefit\(1.2\)': threshold must lie between 0 and 1"),
        ("fbeta(-1)", r"metric='fbeta\(-1\)': beta must be a number above 0"),
    ],
)
def test_arguments_that_a_metric_cannot_have_are_named(metric, why):
    with pytest.raises(ValueError, match=why):
        losses_of([0, 1, 1], [0, 1, 0], metric=metric)


def test_rounding_is_no_difference():
    y = np.arange(40) % 2
    zero = fitted(losses_of(y, np.zeros(40, int), metric="kappa"))
    assert zero.estimate == 0
    first, second = np.where(np.arange(40) < 6, 1 - y, y), np.where(np.arange(40) > 33, 1 - y, y)
    assert fitted(losses_of(y, first, second, metric="mcc"), "a", "b").estimate == 0


def test_losses_are_no_metrics_of_kept_predictions():
    losses = losses_of([0, 1, 1], [0, 1, 0], metric="f1")
    for name in ("auc", "squared"):
        with pytest.raises(ValueError, match=f"make the losses with metric='{name}'"):
            losses.about(name)


def test_clusters_that_count_alike_are_refused():
    losses = losses_of(*labels(2), metric="f1", groups=GROUPS)
    why = "group_weight='group' does not apply with metric='f1', whose rows count alike"
    with pytest.raises(ValueError, match=why):
        uv.HoldOutTest.from_losses(losses, "a", group_weight="group")
    with pytest.raises(ValueError, match=why):
        uv.compare_losses(losses, "hold_out", group_weight="group")
    with pytest.raises(ValueError, match="group_weight='patient' is unknown"):
        uv.HoldOutTest.from_losses(losses, "a", group_weight="patient")
    same = uv.HoldOutTest.from_losses(losses, "a", group_weight="row").fit()
    assert same.conf_int() == fitted(losses).conf_int()


def test_kept_labels_have_errors_too():
    y, a, b = labels(4)
    losses = losses_of(y, a, b, metric="mcc", groups=GROUPS)
    for name in ("accuracy", "zero_one"):
        found, expected = losses.about(name), losses_of(y, a, b, metric=name, groups=GROUPS)
        assert found.values.tolist() == expected.values.tolist()
        for one, other in ((found, expected), (losses, losses.about("f1_macro"))):
            assert one.settings.keys() == other.settings.keys()
        assert fitted(found, "a", "b").conf_int() == fitted(expected, "a", "b").conf_int()
        assert found.metric == expected.metric
    several = uv.compare_losses(losses, ["hold_out"], metric=["mcc", "accuracy"]).frame
    assert several["test"].tolist() == ["mcc", "accuracy"]
    chances = losses_of(y % 2, a * 0.25, metric=uv.metrics.net_benefit(0.2))
    with pytest.raises(ValueError, match="make the losses with metric='accuracy'"):
        chances.about("accuracy")


def test_kept_probabilities_and_numbers_are_scored_by_losses_and_at_thresholds():
    y, p = np.arange(12) % 2, np.arange(12) / 11
    for kept, metrics in (
        ("brier_skill", ("brier", "log", "neg_brier_score", "net_benefit(0.2)", "log_skill")),
        ("r2", ("squared", "mae", "neg_mean_squared_error", "rmse")),
    ):
        for fold in (None, np.arange(12) // 4):
            losses = losses_of(y, p, p**2, metric=kept, fold=fold)
            for name in metrics:
                found, expected = losses.about(name), losses_of(y, p, p**2, metric=name, fold=fold)
                assert json.dumps(found.to_dict()) == json.dumps(expected.to_dict())
    decisions = losses_of(y, p, metric="net_benefit(0.2)")
    for name, needed in (("net_benefit(0.3)", "brier_skill"), ("brier", "brier")):
        with pytest.raises(
            ValueError,
            match=rf"kept only whether the probability is at least 0\.2: .*metric='{needed}'",
        ):
            decisions.about(name)


def test_plans_call_a_metric_a_score():
    plan = uv.plan(losses_of(*labels(2), metric="f1"), difference=0.2, curve=False)
    assert " Score:" in str(plan.summary())
    assert " Loss:" not in str(plan.summary())


@pytest.mark.seconds(3, reason="JAX differentiates without compiling")
def test_own_functions_of_jax_are_in_float64():
    jnp = pytest.importorskip("jax.numpy")
    y, a, _ = labels(4)

    def macro(table):
        return jnp.mean(2 * jnp.diag(table) / (table.sum(0) + table.sum(1)))

    result = fitted(losses_of(y, a, metric=uv.metrics.Cells(macro, limits=(0, 1))))
    expected = fitted(losses_of(y, a, metric="f1_macro"))
    assert result.estimate == pytest.approx(expected.estimate, abs=1e-12)
    assert result.conf_int() == pytest.approx(expected.conf_int(), abs=1e-8)


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        (uv.metrics.Cells(lambda table: table, "own"), "function of the metric 'own' must return"),
        (uv.metrics.Cells(lambda table: None, "own"), "must return one number, got None"),
        (
            uv.metrics.Moments(lambda y, p: (y - p) ** 2, lambda means: means[0], "own"),
            r"parts of the metric 'own' must return a row .* shape \(12, 'k'\), got shape \(12,\)",
        ),
    ],
)
def test_own_functions_are_held_to_their_shapes(metric, why):
    with pytest.raises(ValueError, match=why):
        losses_of(np.arange(12) % 3, np.arange(12) % 3, metric=metric)


def halved_in_place(means):
    means /= 2
    return means.sum() - means.flat[0]


def error_in_place(y, p):
    y -= p
    p[:] = 1
    return np.stack([y, p, y**2], axis=-1)


def test_own_functions_may_work_in_place():
    y, a, b = labels(4)
    r = np.random.default_rng(0).normal(size=60)
    halved = lambda means: (means.sum() - means.flat[0]) / 2  # noqa: E731
    error = lambda y, p: np.stack([y - p, 1 + 0 * y, (y - p) ** 2], -1)  # noqa: E731
    for response, (first, second), metrics in (
        (y, (a, b), [uv.metrics.Cells(own, "own") for own in (halved_in_place, halved)]),
        (
            r,
            (r[::-1].copy(), r + 1),
            [
                uv.metrics.Moments(parts, own, "own")
                for parts, own in ((error_in_place, halved_in_place), (error, halved))
            ],
        ),
    ):
        before = response.copy(), first.copy(), second.copy()
        for fold in (None, np.arange(60) % 5):
            tables = [losses_of(response, first, second, metric=m, fold=fold) for m in metrics]
            np.testing.assert_array_equal(tables[0].values, tables[1].values)
            test = uv.HoldOutTest if fold is None else uv.CrossValidationWaldTest
            for places in (("a",), ("a", "b")):
                found, expected = (test.from_losses(table, *places).fit() for table in tables)
                assert found.estimate == expected.estimate
                np.testing.assert_array_equal(found.conf_int(), expected.conf_int())
        for now, then in zip((response, first, second), before, strict=True):
            np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("limits", [(0, 1), (5, 9)])
def test_limits_that_an_own_metric_leaves_are_refused(limits):
    y, a, _ = labels(4)
    share = np.mean(y == a)
    message = rf"limits=\({limits[0]}, {limits[1]}\) of the metric 'own' do not contain"
    for metric in (
        uv.metrics.Cells(lambda table: 4 * table.trace(), "own", limits=limits),
        uv.metrics.Moments(
            lambda y, p: (y == p)[:, None], lambda means: 4 * means[0], "own", limits=limits
        ),
    ):
        value = f"{4 * share:.6g}, which its function returned: correct the limits"
        with pytest.raises(ValueError, match=f"{message} {value}"):
            losses_of(y * 1.0, a * 1.0, metric=metric)
        with pytest.raises(ValueError, match=message):
            losses_of(y * 1.0, a * 1.0, metric="mcc" if metric.of_cells else "r2").about(metric)


def test_an_own_metric_may_reach_its_limits_up_to_rounding():
    y, a, _ = labels(4)
    share = np.mean(y == a)
    for largest in (share, share - 1e-13):
        metric = uv.metrics.Cells(np.trace, "own", limits=(0, largest))
        assert fitted(losses_of(y, a, metric=metric)).estimate == pytest.approx(share)

    def right_of_positive(table):
        with np.errstate(divide="ignore", invalid="ignore"):
            return table[1, 1] / table[:, 1].sum()

    undefined = losses_of(y % 2, 0 * y, metric=uv.metrics.Cells(right_of_positive, limits=(0, 1)))
    assert math.isnan(fitted(undefined).estimate)


@pytest.mark.parametrize("output", ["label", "score"])
def test_own_moments_are_of_numbers_or_probabilities(output):
    with pytest.raises(ValueError, match=f"output='{output}' is unknown: use one of number, prob"):
        uv.metrics.Moments(np.subtract, np.sum, "own", output=output)
