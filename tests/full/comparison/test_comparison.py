"""uv.compare: what is fitted, what it is compared with, and how it is said."""

import json
import math
from contextlib import nullcontext
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import ucvtest as uv
from ucvtest.comparison.comparison import _adjusted
from ucvtest.comparison.default import recommended
from ucvtest.evaluation.problem import Problem

rng = np.random.default_rng(3)
Y = np.arange(48) % 2
X = rng.normal(size=(48, 3)) + 0.9 * Y[:, None] * [1, 0.5, 0]
FOLDS = uv.designs.KFold(6)
QUICK = uv.TestSpec("ustatistic", {"learn_size": 12}, {"n_pairs": 200, "variance": "jackknife"})
NUMBERS = ["estimate", "se", "variance", "statistic", "pvalue", "df"]


class Counting:
    """Nearest mean in one column, with the number of times that it was fitted."""

    def __init__(self, column):
        self.column, self.n_fits = column, 0

    def __call__(self, X_train, y_train, X_test):
        self.n_fits += 1
        values = X_train[:, self.column]
        means = [values[y_train == label].mean() for label in (0, 1)]
        distances = [abs(X_test[:, self.column] - mean) for mean in means]
        return (distances[1] < distances[0]).astype(int)


def in_folds(test="corrected_t", folds=FOLDS, **fit):
    return uv.TestSpec(test, {"design": folds}, fit)


@pytest.fixture(scope="module")
def two():
    return uv.compare(X, Y, ["lda", "knn:3"], ["corrected_t", QUICK], rng=1)


@pytest.fixture(scope="module")
def three():
    learners = {"linear": "lda", "near": "knn:3", "none": "majority"}
    return uv.compare(X, Y, learners, ["corrected_t", QUICK], rng=1)


# ------------------------------------------------------------------------------- what is fitted


def test_every_distinct_design_is_fitted_once():
    learners = {"first": Counting(0), "second": Counting(1), "third": Counting(2)}
    splits = uv.designs.RandomSplits(8, 0.25)
    tests = {
        "6 folds": in_folds(),
        "6 folds again": in_folds(folds=6),
        "splits": in_folds(folds=splits),
        "12 times 4 folds": in_folds(folds=uv.designs.KFold(4, n_repeats=12)),
        "splits again": in_folds(folds=uv.designs.RandomSplits(8, 0.25)),
    }
    found = uv.compare(X, Y, learners, tests, rng=0)
    assert {each.n_fits for each in learners.values()} == {6 + 8 + 48}
    assert found.n_fits == 3 * (6 + 8 + 48)
    assert [each.tests for each in found.fits] == [
        ("6 folds", "6 folds again"),
        ("splits", "splits again"),
        ("12 times 4 folds",),
    ]
    # A row says what stands behind its own pair, whoever else uses it.
    assert found.result("splits", "first", "third").n_fits == 2 * 8


def test_a_splitter_that_several_tests_name_is_drawn_once():
    splitter = ShuffleSplit(5, test_size=0.1)
    learners = [Counting(0), Counting(1)]
    found = uv.compare(X, Y, learners, [in_folds(folds=splitter)] * 2, rng=0)
    assert [each.n_fits for each in learners] == [5, 5]
    first, second = found.results.values()
    assert first.estimate == second.estimate


def test_a_test_with_learning_sets_of_its_own_can_share_a_design():
    learners = {name: Counting(column) for column, name in enumerate("abc")}
    pairs = uv.designs.DisjointSets(12, n_draws=100)
    found = uv.compare(X, Y, learners, [uv.TestSpec("ustatistic", {"design": pairs})], rng=0)
    # Three pairs of learners, and each learner fitted once on 200 learning sets.
    assert [each.n_fits for each in learners.values()] == [200] * 3
    assert found.n_fits == 600
    losses = uv.evaluate(learners, X, Y, pairs, rng=0)
    for (_, *pair), result in found.results.items():
        alone = uv.UStatisticTest.from_losses(losses, *pair).fit()
        assert (result.estimate, result.variance) == (alone.estimate, alone.variance)


@pytest.mark.parametrize("label", ["corrected_t", "ustatistic"])
def test_each_result_is_that_of_the_test_by_itself(label, three):
    for pair, named in ((("lda", "majority"), ("linear", "none")),):
        alone = {
            "corrected_t": lambda pair=pair: uv.CorrectedTTest(X, Y, *pair).fit(rng=1),
            "ustatistic": lambda pair=pair: uv.UStatisticTest(X, Y, *pair, learn_size=12).fit(
                200, "jackknife", rng=1
            ),
        }[label]()
        found = three.result(label, *named)
        for name in (*NUMBERS, "n_fits", "estimand"):
            np.testing.assert_equal(getattr(found, name), getattr(alone, name), err_msg=name)
        assert [found.settings["learner"], found.settings["other"]] == list(named)


def test_workers_and_batches_change_nothing():
    tree = Counting(0)
    with joblib.parallel_config("threading"):
        found = [
            uv.compare(X, Y, [tree, "lda"], [in_folds(), QUICK], rng=5, **options).frame
            for options in ({}, {"n_jobs": 2}, {"batch_size": 3})
        ]
    for each in found[1:]:
        pd.testing.assert_frame_equal(each, found[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tests": {1: "mcnemar", "1": "naive_t"}}, "tests has the key 1: names must be different"),
        ({"tests": [QUICK, in_folds(folds=49)]}, "test 'corrected_t': n_folds=49 needs"),
        ({"tests": uv.TestSpec("ustatistic", {"design": 6})}, "'ustatistic': the design has one"),
        ({"tests": uv.TestSpec("fold_covariance", fit={"rho": 3})}, "'fold_covariance': rho"),
    ],
    ids=str,
)
def test_errors_name_the_test_before_the_first_fit(change, message):
    learners = [Counting(0), Counting(1)]
    with pytest.raises(ValueError, match=message):
        uv.compare(X, Y, **{"learners": learners, "tests": "corrected_t", **change})
    assert [each.n_fits for each in learners] == [0, 0]


def test_the_seed_decides_and_is_kept():
    by_seed, by_generator, again = (
        uv.compare(X, Y, ["lda", "knn:1"], "corrected_t", rng=value)
        for value in (7, np.random.default_rng(7), np.random.default_rng(7))
    )
    assert by_seed.settings["rng"] == 7
    assert by_generator.result().pvalue == again.result().pvalue
    repeated = uv.compare(X, Y, ["lda", "knn:1"], "corrected_t", rng=by_generator.settings["rng"])
    assert repeated.result().estimate == by_generator.result().estimate
    assert uv.compare(X, Y, ["lda", "knn:1"], "corrected_t").settings["rng"] is not None


def test_recommended_is_what_is_run():
    found = uv.compare(X, Y, ["nearest_centroid", "majority"], rng=0)
    advice = uv.advise(len(Y))
    (result,) = found.results.values()
    made = advice.make(X, Y, "nearest_centroid", "majority").fit(**advice.options, rng=0)
    assert (result.estimate, result.se) == (made.estimate, made.se)
    assert f"this is what advise() recommends for {len(Y)} observations" in result.notes[-1]
    assert advice.reasons[0] in result.notes[-1]
    assert result.notes[-1] in found.summary().as_markdown().replace("\\", "")
    areas = uv.compare(X, Y, ["lda", "knn:5"], loss="auc", rng=0)
    assert areas.tests == ("ustatistic",)
    assert areas.settings["loss"] == "auc"
    assert areas.result("ustatistic").better == "higher"


def test_fits_of_several_classes_are_counted_by_groups():
    index = np.repeat(np.arange(20), 100)
    y = np.arange(2000) % 3
    X = np.random.default_rng(0).normal(size=(2000, 2))
    slow = {"one": LogisticRegression(), "two": LogisticRegression(C=0.1)}
    problem = Problem.of(X, y, slow, loss="auc", groups=index)
    found = recommended(lambda: problem, 2, "auc")
    assert found.spec.fit["max_fits"] < 2000


def test_the_recommended_test_follows_loss_and_cost():
    y = X[:, 0] + 0.1 * Y

    def mean(X, y, X_new):
        return np.full(len(X_new), y.mean())

    found = uv.compare(X[:, 1:], y, ["ridge:1.0", mean], rng=0)
    assert found.n_fits == 40
    assert found.result().diagnostics["variance"] == "few"
    assert "up to 40 fits" in found.result().notes[-2]
    assert "get 20 fits each. For shorter intervals" in found.result().notes[-1]
    assert "the mean squared error" in found.result().notes[-2]

    def own(truth, prediction):
        return np.abs(truth - prediction) ** 1.5

    own = uv.losses.Loss("own", own, "number")
    found = uv.compare(X[:, 1:], y, ["ridge:1.0", "ridge:9.0"], loss=own, rng=0)
    assert uv.advise(len(y), loss="squared").reasons[0] in found.result().notes[-1]


def nearest(X, y, X_new):
    return y[np.argmin(np.abs(X[:, :1] - X_new[:, 0]), axis=0)]


def lowest(X, y, X_new):
    return np.full(len(X_new), y.min())


def test_slow_learners_are_fitted_twenty_times_each_however_many_pairs_there_are():
    found = uv.compare(X, Y, {"a": nearest, "b": lowest, "c": "lda"}, rng=0)
    assert (len(found.pairs), found.n_fits) == (3, 60)
    assert {one.diagnostics["variance"] for one in found.results.values()} == {"few"}
    assert all("get 20 fits each" in one.notes[-1] for one in found.results.values())
    (spec,) = found.settings["tests"].values()
    assert "max_fits=40" in spec


@pytest.mark.parametrize(
    ("options", "classes"),
    [({"loss": "auc"}, 2), ({"loss": "auc"}, 3), ({"loss": "squared", "contrast": "ratio"}, 0)],
)
def test_learners_of_several_pairs_are_fitted_once_to_each_learning_set(options, classes):
    y = X[:, 1] if not classes else np.arange(len(X)) % classes
    tree = DecisionTreeClassifier if classes else DecisionTreeRegressor
    fits = []

    class Counted(tree):
        def fit(self, X, y):
            fits.append(self.max_depth)
            return super().fit(X, y)

    counted = {str(d): Counted(max_depth=d, random_state=0) for d in (1, 2, 3)}
    found = uv.compare(X, y, counted, max_fits=36, rng=0, **options)
    assert found.n_fits == 36
    assert [fits.count(depth) for depth in (1, 2, 3)] == [12, 12, 12]
    two = {name: counted[name] for name in ("1", "3")}
    alone = uv.compare(X, y, two, max_fits=24, rng=0, **options)
    assert alone.result().pvalue == found.results["ustatistic", "1", "3"].pvalue


# ----------------------------------------------------------------------------------- adjusting


def test_holm_step_by_step():
    values = np.array([0.04, 0.001, 0.03, 0.5])
    expected, largest = np.empty(4), 0.0
    for step, place in enumerate(np.argsort(values)):
        largest = max(largest, min(1.0, (4 - step) * values[place]))
        expected[place] = largest
    np.testing.assert_allclose(_adjusted(values, "holm"), expected)
    # Three times 0.5 is more than a probability; ties count alike.
    np.testing.assert_allclose(_adjusted(np.array([0.5, 0.9, 0.5]), "holm"), 1.0)


def test_no_pvalue_stays_none_and_counts():
    found = _adjusted(np.array([0.01, math.nan, 0.2]), "bonferroni")
    np.testing.assert_allclose(found, [0.03, math.nan, 0.6])
    # As p = 1: were it the smallest, Holm's method would multiply the others by less.
    found = _adjusted(np.array([0.02, math.nan, 0.2]), "holm")
    np.testing.assert_allclose(found, [0.06, math.nan, 0.4])


def test_pairs_are_the_family_and_tests_are_none(three):
    frame = three.frame
    for _, family in frame.groupby("test"):
        np.testing.assert_allclose(
            family["pvalue_adjusted"], _adjusted(family["pvalue"].to_numpy(), "holm")
        )
    assert (frame["pvalue_adjusted"] >= frame["pvalue"]).all()


@pytest.mark.parametrize("correction", ["bonferroni", "fdr_bh", None])
def test_correction_is_what_is_asked_for(three, correction):
    other = replace(three, correction=correction)
    factor = {"bonferroni": 3, None: 1}.get(correction)
    if factor:
        expected = np.minimum(1, factor * three.frame["pvalue"])
        np.testing.assert_allclose(other.frame["pvalue_adjusted"], expected)
    else:
        assert not other.frame["pvalue_adjusted"].equals(three.frame["pvalue_adjusted"])


# ------------------------------------------------------------------------------ what it says


def test_settings_name_tests_with_their_options():
    tests = {
        "folds": in_folds(folds=6),
        "drawn": in_folds(folds=FOLDS.draw(48, np.random.default_rng(0))),
        "rho": uv.TestSpec("fold_covariance", {"n_folds": 6}, {"rho": 0.3}),
    }
    found = uv.compare(X, Y, ["lda", "knn:3"], tests, rng=0)
    assert dict(found.settings["tests"]) == {
        "folds": "corrected_t(design='6-fold cross-validation')",
        "drawn": "corrected_t(design='a design of 6 learning sets')",
        "rho": "fold_covariance(n_folds=6, rho=0.3)",
    }
    # What is drawn already is a design of its own, also where it could have been drawn here.
    assert [each.tests for each in found.fits] == [("folds", "rho"), ("drawn",)]


def test_frame(three):
    frame = three.frame
    assert list(frame)[:5] == ["test", "learner", "other", "estimate", "se"]
    assert len(frame) == 6
    row = frame.query("test == 'ustatistic' and learner == 'near'").iloc[0]
    result = three.result("ustatistic", "near")
    assert (row["estimate"], row["conf_low"]) == (result.estimate, result.conf_int()[0])
    wider = three.summary_frame(alpha=0.01)
    assert (wider["conf_low"] < frame["conf_low"]).all()
    assert three.fits_frame["n_fits"].sum() == three.n_fits


def test_result_needs_no_more_names_than_there_are(two, three):
    assert two.result("ustatistic") is two.results["ustatistic", "lda", "knn:3"]
    with pytest.raises(ValueError, match="2 results are of test=None"):
        two.result()
    with pytest.raises(ValueError, match=r"0 results .* the tests are corrected_t, ustatistic"):
        three.result("naive")


def changed(comparison, **values):
    """The comparison with other p-values and estimates, by test."""
    results = {
        key: replace(result, **{name: given[key[0]] for name, given in values.items()})
        for key, result in comparison.results.items()
    }
    return replace(comparison, results=results)


@pytest.mark.parametrize(
    ("pvalues", "better", "expected"),
    [
        ((0.01, 0.2), "lower", "1 of 2 tests finds that lda is better than knn:3 (corrected_t); "),
        ((0.01, 0.2), "lower", "1 of 2 tests finds no difference (ustatistic)."),
        ((0.05, 0.01), "lower", "At the 5% level both tests find that lda is better than knn:3 "),
        ((0.05, 0.01), "higher", "both tests find that knn:3 is better than lda"),
        ((0.2, math.nan), "lower", "1 of 2 tests gives no p-value (ustatistic)."),
    ],
)
def test_verdict_of_two_learners(two, pvalues, better, expected):
    found = changed(
        two,
        pvalue=dict(zip(two.tests, pvalues, strict=True)),
        estimate=dict.fromkeys(two.tests, -0.1),
        better=dict.fromkeys(two.tests, better),
    )
    assert expected in found.verdict


def test_a_test_that_is_not_valid_does_not_count():
    found = uv.compare(X, Y, ["lda", "knn:3"], ["corrected_t", "hold_out", "naive_t"], rng=0)
    found = changed(
        found,
        pvalue={"corrected_t": 0.3, "hold_out": 0.01, "naive_t": 0.001},
        estimate=dict.fromkeys(found.tests, -0.1),
    )
    assert found.verdict == (
        "At the 5% level 1 of 2 tests finds that lda is better than knn:3 (hold_out); 1 of 2 tests "
        "finds no difference (corrected_t); naive_t, which is not valid and not counted, finds "
        "that lda is better than knn:3."
    )
    assert "naive_t (not valid)" in found.summary().as_text()
    ax = found.plot()
    assert ax.get_yticklabels()[2].get_text() == "naive_t (not valid)"
    pyplot.close(ax.figure)


def test_long_labels_leave_room_for_the_label_of_the_axis():
    learners = {f"a learner with a long name and {end}": "lda" for end in ("one", "two")}
    found = uv.compare(X, Y, {**learners, "near": "knn:3"}, "corrected_t", rng=0)
    figure = Figure(figsize=(7.2, 3), layout="constrained")
    ax = found.plot(figure.subplots())
    figure.draw_without_rendering()
    assert ax.xaxis.label.get_window_extent().x1 <= figure.bbox.x1


def test_verdict_of_pairs_goes_by_the_adjusted_pvalue(three):
    raw = dict(zip(three.tests, (0.02, 0.9), strict=True))
    found = changed(three, pvalue=raw, estimate=dict.fromkeys(three.tests, -0.1))
    assert found.verdict == (
        "At the 5% level, p-values adjusted (holm), corrected_t finds no difference; ustatistic "
        "finds no difference."
    )
    unadjusted = replace(found, correction=None)
    assert "corrected_t finds that linear is better than near, linear is" in unadjusted.verdict


def test_what_has_no_answer_says_why():
    def same(X_train, y_train, X_test):
        return np.zeros(len(X_test), dtype=int)

    found = uv.compare(X, Y, {"lda": "lda", "a": same, "b": same}, "corrected_t", rng=0)
    text = found.summary().as_text().replace("\n", " ")
    assert "corrected_t, a - b: degenerate" in text
    assert "(1 pairs have no p-value)" not in found.verdict
    assert "(one pair has no p-value)" in found.verdict
    assert math.isnan(found.frame["pvalue_adjusted"].iloc[2])


def test_errors_of_a_learner_say_the_name_that_it_was_given():
    def rule(X_train, y_train, X_test):
        raise RuntimeError("no convergence")

    named, listed = {"a": "lda", "b": rule}, ["lda", rule]
    for call, place in (
        (lambda: uv.compare(X, Y, named, "corrected_t", rng=0), "^'b': "),
        (lambda: uv.evaluate(named, X, Y, rng=0), "^'b': "),
        (lambda: uv.compare(X, Y, listed, "corrected_t", rng=0), "^"),
        (lambda: uv.CorrectedTTest(X, Y, *listed).fit(rng=0), "^"),
    ):
        with pytest.raises(ValueError, match=f"{place}learner rule failed on split 0: RuntimeErr"):
            call()


# --------------------------------------------------------------------------------- pictures


def test_plot_has_a_line_for_every_interval(two):
    ax = two.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["corrected_t", "ustatistic"]
    drawn = [tuple(line.get_xdata()) for line in ax.get_lines()]
    for result in two.results.values():
        assert any(np.allclose(each, result.conf_int()) for each in drawn if len(each) == 2)
    pyplot.close(ax.figure)


def test_plot_shows_what_has_no_interval(two):
    without = dict.fromkeys(two.tests)
    found = changed(two, se=dict.fromkeys(two.tests, math.nan), rule=without)
    figure, ax = pyplot.subplots()
    assert found.plot(ax) is ax
    assert [text.get_text() for text in ax.texts].count("no interval") == 2
    pyplot.close(figure)


# ----------------------------------------------------------------------------------- hooks


class Listener:
    """A hook of those that know single results only."""

    def __init__(self):
        self.results, self.comparisons = [], []

    def fitting(self, test):
        return nullcontext()

    def fitted(self, test, result):
        self.results.append(result)


class ComparisonListener(Listener):
    def compared(self, test, comparison):
        assert len(test.sample.response) == len(Y)
        self.comparisons.append(comparison)


def test_hooks_are_told_once():
    old, new = Listener(), ComparisonListener()
    for hook in (old, new):
        uv.hooks.add_hook(hook)
    try:
        found = uv.compare(X, Y, ["lda", "knn:3"], ["corrected_t", QUICK], rng=0)
    finally:
        for hook in (old, new):
            uv.hooks.remove_hook(hook)
    assert new.comparisons == [found]
    assert new.results == []
    assert old.results == list(found.results.values())


def test_a_hook_that_fails_costs_a_warning():
    class Failing(ComparisonListener):
        def compared(self, test, comparison):
            raise RuntimeError("down")

    hook = Failing()
    uv.hooks.add_hook(hook)
    try:
        with pytest.warns(uv.UcvtestWarning, match="Failing failed on a finished comparison"):
            assert uv.compare(X, Y, ["lda", "knn:3"], "corrected_t", rng=0).n_fits == 20
    finally:
        uv.hooks.remove_hook(hook)


@pytest.mark.parametrize("n_obs", [6, 8, 10, 11])
def test_the_default_fits_small_samples(n_obs):
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(n_obs, 2)), np.arange(n_obs) % 2
    found = uv.compare(features, labels, ["majority", "nearest_centroid"], rng=0)
    assert 0 <= found.result().pvalue <= 1
    assert uv.advise(n_obs).make(features, labels, "majority", "nearest_centroid")


def test_the_default_for_the_auc_has_no_more_folds_than_a_class_has_observations():
    labels = (np.arange(40) < 2) * 1
    features = np.random.default_rng(0).normal(size=(40, 2))
    found = uv.compare(features, labels, ["lda", "knn:5"], loss="auc", rng=0)
    assert found.result().settings["design"] == "stratified 2-fold cross-validation"


# ------------------------------------------------------------------------------ joint tests


def test_delong_has_a_joint_test_of_all_learners():
    learners = {"linear": "lda", "near": "knn:3", "none": "majority"}
    found = uv.compare(X, Y, learners, ["delong", "corrected_t"], loss="auc", rng=2)
    joint = found.joint_test()
    assert joint is found.joint_test("delong") is found.joint["delong"]
    assert joint.learners == found.learners
    assert joint.df == 2
    design = uv.DeLongTest.default_design
    losses = uv.evaluate(learners, X, Y, design, loss="auc", rng=2)
    assert joint == uv.DeLongTest.joint(losses)
    pair = found.result("delong", "linear", "near")
    assert pair.estimate == pytest.approx(joint.estimates[0] - joint.estimates[1])
    variance = joint.covariance[0, 0] + joint.covariance[1, 1] - 2 * joint.covariance[0, 1]
    assert pair.variance == pytest.approx(variance)
    assert "Joint test" in str(found)
    assert f"p = {joint.pvalue:.4g}" in str(found)
    again = uv.Comparison.from_dict(json.loads(found.to_json()))
    assert again == found
    assert again.joint_test() == joint
    with pytest.raises(ValueError, match="pass test, one of delong"):
        found.joint_test("corrected_t")


def _trees(number):
    """Learners that are fitted one by one."""
    depths = range(1, number + 1)
    return {str(d): DecisionTreeClassifier(max_depth=d, random_state=0) for d in depths}


class TestMaxFits:
    def test_named_tests_share_them(self):
        tests = {"ustatistic": uv.TestSpec("ustatistic"), "corrected_t": uv.TestSpec("corrected_t")}
        found = uv.compare(X, Y, _trees(2), tests, max_fits=80, rng=0)
        of_folds = found.results["corrected_t", "1", "2"].n_fits
        assert found.results["ustatistic", "1", "2"].n_fits <= 80 - of_folds

    @pytest.mark.parametrize("correction", ["holm", "simultaneous"])
    def test_settings_name_what_each_test_gets_and_that_repeats_it(self, correction):
        tests, options = ["ustatistic"], {"rng": 0, "correction": correction}
        if correction == "holm":
            tests = ["corrected_t", "ustatistic"]
        found = uv.compare(X, Y, _trees(3), tests, max_fits=200, **options)
        number = 198 if correction == "simultaneous" else (200 - 30) // 3 // 2 * 2
        assert found.settings["tests"]["ustatistic"] == f"ustatistic(max_fits={number})"
        again = uv.TestSpec("ustatistic", fit={"max_fits": number})
        again = uv.compare(X, Y, _trees(3), again, **options).of_test("ustatistic")
        for pair, result in found.of_test("ustatistic").items():
            assert (again[pair].estimate, again[pair].pvalue) == (result.estimate, result.pvalue)

    def test_settings_name_no_bound_of_draws_that_are_counted(self):
        counted = uv.TestSpec("ustatistic", fit={"n_pairs": 5})
        found = uv.compare(X, Y, _trees(2), counted, max_fits=400, rng=0)
        assert found.settings["tests"] == {"ustatistic": "ustatistic(n_pairs=5)"}
