"""Intervals of metrics of fixed rules, against the formulas of their derivation."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles import intervals as papers
from tests.oracles import metrics as oracle
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


# --------------------------------------------------------------------- what was there before


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


# --------------------------------------------------------------------------------------- edges


def test_0_over_0_says_so_and_has_no_interval():
    y = np.array([0, 0, 0, 1, 1, 1] * 2)
    never = np.zeros(12, dtype=int)
    result = fitted(losses_of(y, never, metric="precision"), null_value=0.4)
    assert math.isnan(result.estimate)
    assert result.status.startswith("no estimate: precision is 0/0 here")
    assert all(map(math.isnan, (result.se, result.pvalue)))
    two = fitted(losses_of(y, never, y, metric="precision"), "a", "b")
    assert two.status == result.status
    assert math.isnan(two.estimate)


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


def test_a_rule_without_a_value_leaves_the_others_their_answer():
    y, a, b = labels(2)
    losses = losses_of(y, a, b, np.zeros(60), metric="precision")
    comparison = uv.compare_losses(losses, ["hold_out"], correction="simultaneous")
    frame = comparison.summary_frame()
    assert frame.status.str.startswith("no estimate").tolist() == [False, True, True]
    assert frame.pvalue[0] == fitted(losses, "a", "b").pvalue
    assert "c" in comparison.best_set()


# --------------------------------------------------------------------------------------- names


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


def test_rounding_is_no_difference():
    y = np.arange(40) % 2
    zero = fitted(losses_of(y, np.zeros(40, int), metric="kappa"))
    assert zero.estimate == 0
    first, second = np.where(np.arange(40) < 6, 1 - y, y), np.where(np.arange(40) > 33, 1 - y, y)
    assert fitted(losses_of(y, first, second, metric="mcc"), "a", "b").estimate == 0


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
