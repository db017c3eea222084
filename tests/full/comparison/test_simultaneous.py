"""Several learners at once: shared learning sets, simultaneous intervals, the best set."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.datasets import load_iris

import ucvtest as uv
from ucvtest.kernels.ustatistic.contrasts import RELIABLE, Estimate
from ucvtest.methods.ustatistic.estimates import Estimates
from ucvtest.methods.ustatistic.simultaneous import with_floor

LEARNERS = ["lda", "nearest_centroid", "knn:3", "majority"]


@pytest.fixture(scope="module")
def data():
    X, y = load_iris(return_X_y=True)
    rows = np.r_[50:75, 100:125]
    return X[rows, :2], y[rows]


def spec(n_pairs=300, interval="wald", **options):
    fit = {"n_pairs": n_pairs, "interval": interval, **options}
    return uv.TestSpec("ustatistic", fit=fit)


@pytest.fixture(scope="module")
def found(data):
    return uv.compare(*data, LEARNERS, spec(), correction="simultaneous", rng=0)


def test_differences_are_those_of_the_learners_alone(found):
    together = found.together["ustatistic"]
    alone = {name: each.estimate for name, each in together.own.items()}
    for (_, first, second), result in found.results.items():
        assert_allclose(result.estimate, alone[first] - alone[second])
        i, j = (together.learners.index(name) for name in (first, second))
        if result.status == "ok":
            assert_allclose(result.se, together.se[i, j])
            assert_allclose(together.se[i, j], together.se[j, i])
    assert np.linalg.eigvalsh(together.covariance).min() > -1e-12
    assert together.df == 49


def test_a_result_is_that_of_the_test_alone_but_for_its_draws(data, found):
    alone = uv.UStatisticTest(*data, "lda", "majority").fit(n_pairs=300, rng=5)
    result = found.result(None, "lda", "majority")
    assert result.estimand == alone.estimand
    assert result.n_fits == alone.n_fits == 1200
    assert abs(result.estimate - alone.estimate) < alone.se
    assert 0.7 < result.se / alone.se < 1.4
    assert set(result.diagnostics) <= set(alone.diagnostics) | {"slope"}


def test_two_learners_have_results_of_their_own(data):
    """A column of their difference would not do, which suffices for the test of two."""
    pair = spec(interval="auto")
    found = uv.compare(*data, LEARNERS[:2], pair, correction="simultaneous", rng=0)
    together, result = found.together["ustatistic"], found.result(None, *LEARNERS[:2])
    first, second = (together.own[name] for name in LEARNERS[:2])
    assert_allclose(result.estimate, first.estimate - second.estimate)
    assert_allclose(result.se, together.se[0, 1])
    assert first.status == second.status == "ok"


def test_learning_sets_are_the_same_for_all(found):
    (fits,) = found.fits
    assert fits.n_resamples == 600
    assert fits.n_fits == found.n_fits == 2400


def test_intervals_are_estimates_and_the_common_critical_value(found):
    together, results = found.together["ustatistic"], found.of_test("ustatistic")
    value = together.critical(results, 0.1).value
    frame = found.summary_frame(alpha=0.1)
    for row in frame[frame["status"] == "ok"].itertuples():
        assert_allclose(row.conf_high - row.estimate, value * row.se, rtol=1e-6)
        assert_allclose(row.estimate - row.conf_low, value * row.se, rtol=1e-6)
    assert stats.t.isf(0.05, 49) < value < stats.t.isf(0.05 / 6, 49)


def test_pvalues_are_above_their_own_and_not_above_holms(found):
    holm = found.to_dict() | {"correction": "holm", "together": {}}
    by_holm = uv.Comparison.from_dict(holm).frame
    frame = found.frame
    known = frame["status"] == "ok"
    adjusted = frame["pvalue_adjusted"][known]
    assert (adjusted >= frame["pvalue"][known]).all()
    assert (adjusted <= by_holm["pvalue_adjusted"][known] + 1e-12).all()
    assert frame["pvalue_adjusted"][~known].isna().all()


def test_an_adjusted_pvalue_is_not_below_its_own_by_simulation_error():
    rng = np.random.default_rng(10)
    y = rng.integers(0, 2, 40)
    predicted = {name: np.where(rng.random(40) < 0.7, y, 1 - y) for name in "abc"}
    losses = uv.Losses.from_predictions(y, predicted, metric="f1")
    found = uv.compare_losses(losses, ["hold_out"], correction="simultaneous").frame
    assert (found["pvalue_adjusted"] >= found["pvalue"]).all()
    # The largest of all has nothing to be adjusted for.
    largest = found.loc[found["pvalue"].idxmax()]
    assert largest["pvalue_adjusted"] == largest["pvalue"]


def test_the_best_set_is_what_the_definition_gives(found):
    together = found.together["ustatistic"]
    statistics = (together.estimates[:, None] - together.estimates) / together.se
    expected = []
    for k, name in enumerate(together.learners):
        others = [j for j in range(4) if j != k]
        critical = together.errors.critical(0.05, [(k, j) for j in others], "greater").value
        if not (np.nan_to_num(statistics[k, others]) > critical).any():
            expected.append(name)
    assert found.best_set() == tuple(expected)
    assert set(found.best_set(0.5)) <= set(found.best_set(0.01))
    best = found.learner_frame().iloc[0]
    assert best["learner"] in found.best_set(0.5)
    assert best["conf_low"] < best["estimate"] < best["conf_high"]
    alone = together.own[best["learner"]].conf_int()
    assert best["conf_low"] < alone[0]
    assert best["conf_high"] > alone[1]


@pytest.mark.parametrize("baseline", [None, "majority"])
def test_the_best_set_has_the_statistics_of_the_intervals(data, baseline):
    test = uv.TestSpec("ustatistic", fit={"n_pairs": 200})
    found = uv.compare(*data, LEARNERS, test, correction="simultaneous", baseline=baseline, rng=0)
    together, results = found.together["ustatistic"], found.of_test("ustatistic")
    for (first, second), result in results.items():
        i, j = (together.learners.index(name) for name in (first, second))
        assert result.diagnostics["interval"] == "stabilised"
        assert_allclose(together.statistics[i, j], result.statistic)
        assert_allclose(together.statistics[j, i], -result.statistic)
    # Whom an interval tells to be worse than another is not in the set of the same level.
    for alpha in (0.01, 0.2, 0.6, 0.9):
        kept = found.best_set(alpha)
        for (_, first, second), (low, high) in found.intervals(alpha).items():
            assert not (low > 0 and first in kept)
            assert not (high < 0 and second in kept)
    straight = (together.estimates[:, None] - together.estimates) / together.se
    assert np.nanmax(np.abs(together.statistics - straight)) > 0.05


def test_the_fits_of_simultaneous_intervals_are_said(data):
    def own(X_train, y_train, X_test):
        return np.full(len(X_test), y_train[0])

    learners = ["majority", own]
    by_holm = uv.compare(*data, learners, rng=0)
    jointly = uv.compare(*data, learners, correction="simultaneous", rng=0)
    assert (by_holm.n_fits, jointly.n_fits) == (40, 400)
    said = "up to 200 fits of each learner that is fitted one by one; another correction takes 20"
    (result,) = jointly.results.values()
    assert any(said in note for note in result.notes)
    bounded = uv.compare(*data, learners, correction="simultaneous", max_fits=80, rng=0)
    assert bounded.n_fits <= 80


def test_a_baseline_leaves_the_other_pairs_out(data, found):
    against = uv.compare(
        *data, LEARNERS, spec(), baseline="majority", correction="simultaneous", rng=0
    )
    assert against.pairs == tuple((name, "majority") for name in LEARNERS[:3])
    by_place = uv.compare(*data, LEARNERS, "hold_out", baseline=3, rng=0)
    assert by_place.pairs == against.pairs
    assert by_place.settings["baseline"] == "majority"
    # From the same draws: shorter for fewer differences, the same best set.
    assert against.best_set() == found.best_set()
    wide = found.frame.set_index(["learner", "other"])
    for row in against.frame.itertuples():
        assert_allclose(row.estimate, wide.loc[(row.learner, row.other), "estimate"])
        assert row.conf_high < wide.loc[(row.learner, row.other), "conf_high"]


def test_given_losses_of_the_same_design_are_judged_together(data):
    design = uv.designs.DisjointSets(20, 300)
    losses = uv.evaluate(LEARNERS, *data, design, rng=0)
    given = uv.compare_losses(losses, "ustatistic", correction="simultaneous", baseline="lda")
    shared = uv.compare(
        *data,
        LEARNERS,
        uv.TestSpec("ustatistic", {"design": design}),
        correction="simultaneous",
        baseline="lda",
        rng=0,
    )
    assert_allclose(given.frame["conf_high"], shared.frame["conf_high"])
    assert given.best_set() == shared.best_set()
    assert given.n_fits == 4 * 600


def test_fixed_rules_have_the_covariance_of_their_losses():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    rules = {
        name: np.where(rng.random(80) < p, 1 - y, y)
        for name, p in zip("abc", (0.1, 0.3, 0.4), strict=True)
    }
    losses = uv.Losses.from_predictions(y, rules)
    found = uv.compare_losses(losses, "hold_out", correction="simultaneous")
    together = found.together["hold_out"]
    assert_allclose(together.covariance, np.cov(losses.known_values) / 80)
    for (_, first, second), result in found.results.items():
        i, j = ("abc".index(name) for name in (first, second))
        assert_allclose(together.se[i, j], result.se)
    assert found.best_set() == ("a",)
    # Exact intervals, at the level that goes with the critical value.
    low, high = found.learner_frame().loc[0, ["conf_low", "conf_high"]]
    own = together.own["a"].conf_int()
    assert low < own[0] < own[1] < high


def test_scores_speak_for_the_highest():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 40)
    scores = {
        name: rng.standard_normal(80) + d * y
        for name, d in zip("abc", (2.0, 0.5, 0.0), strict=True)
    }
    losses = uv.Losses.from_predictions(y, scores, loss="auc")
    found = uv.compare_losses(losses, "delong", correction="simultaneous")
    assert found.best_set() == ("a",)
    assert found.learner_frame()["learner"].tolist() == ["a", "b", "c"]
    assert_allclose(found.together["delong"].covariance, found.joint_test().covariance)
    assert found.together["delong"].df == np.inf


def test_aucs_from_shared_learning_sets(data):
    found = uv.compare(*data, LEARNERS[:3], spec(), loss="auc", correction="simultaneous", rng=0)
    together = found.together["ustatistic"]
    for (_, first, second), result in found.results.items():
        i, j = (together.learners.index(name) for name in (first, second))
        assert_allclose(result.estimate, together.estimates[i] - together.estimates[j])
        if result.status == "ok":
            assert_allclose(together.se[i, j], result.se)
    best = found.learner_frame().iloc[0]
    assert best["estimate"] == together.estimates.max()
    assert best["learner"] in found.best_set()
    assert best["conf_high"] <= 1


def test_learners_that_never_differ_stay_together(data):
    twins = {"a": "lda", "b": "lda", "c": "majority"}
    found = uv.compare(*data, twins, spec(), correction="simultaneous", rng=0)
    assert "same loss" in found.result(None, "a", "b").status
    assert {"a", "b"} <= set(found.best_set())


def test_it_can_be_kept_and_read_again(found):
    read = uv.Comparison.from_dict(json.loads(found.to_json()))
    assert read == found
    assert read.best_set() == found.best_set()
    assert read.frame.equals(found.frame)


def test_the_picture_shows_learners_or_pairs(found):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    ax = found.plot(Figure().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()] == list(
        found.learner_frame()["learner"]
    )
    assert f"the {len(found.best_set())} of the best set" in ax.get_title(loc="left")
    pairs = found.plot(Figure().subplots(), kind="pairs")
    assert len(pairs.get_yticklabels()) == 6
    with pytest.raises(ValueError, match="kind='everything' is unknown"):
        found.plot(kind="everything")


def test_learners_that_are_nearly_the_same_have_an_answer_from_few_draws():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=40)
    X = rng.normal(size=(40, 4))
    X[:, 0] += 1.5 * y
    alike = ["lda", "ridge:0.1", "ridge:1"]
    test = uv.TestSpec("ustatistic", fit={"n_pairs": 60, "variance": "midpoint"})
    found = uv.compare(X, y, alike, test, correction="simultaneous", rng=0)
    (together,) = found.together.values()
    for (_, first, second), result in found.results.items():
        assert result.status == "ok"
        drawn = result.diagnostics["mc_se_variance"]
        assert result.variance == pytest.approx(4 * drawn)
        assert any("four times its Monte-Carlo error" in note for note in result.notes)
        places = [together.learners.index(name) for name in (first, second)]
        assert together.se[tuple(places)] == pytest.approx(result.se)
    # By itself the same test has none.
    alone = uv.UStatisticTest(X, y, "lda", "ridge:1").fit(n_pairs=60, variance="midpoint", rng=0)
    assert alone.status != "ok"


def test_a_variance_that_draws_do_not_tell_is_the_jackknife_with_their_noise():
    # Learners that differ in one fit: all products of different groups of draws are 0 or below.
    none = Estimate(1e-4, 1e-4, {"midpoint": 0.0}, {"midpoint": 0.0}, 59.0, np.zeros(60))
    unknown = Estimates(none, "midpoint", 800, slope=(30.0, 5.0, 1.0))
    found = with_floor(unknown, 3e-6)
    assert found.floored
    assert found.slope == (0.0, 5.0, 1.0)
    assert found.estimate.variances == {"midpoint": 3e-6}
    # Some noise of the variance, or a variance, is something; no difference at all remains none.
    rough = replace(none, variances={"midpoint": 1e-8}, errors={"midpoint": 1e-6})
    found = with_floor(Estimates(rough, "midpoint", 800), 3e-6)
    assert found.estimate.variances["midpoint"] == pytest.approx(1e-6 / RELIABLE)
    assert not with_floor(unknown, 0.0).floored


@pytest.mark.parametrize(("about", "given"), [("clusters", False), ("costs", True)])
def test_results_say_of_rows_and_classes_what_single_ones_say(about, given):
    rng = np.random.default_rng(0)
    groups, y = np.repeat(np.arange(24), 2), np.tile([0, 0, 1, 1, 2, 2], 8)
    X = rng.normal(size=(48, 2)) + y[:, None]
    loss = np.array([[0, 1, 9], [2, 0, 1], [3, 1, 0.0]]) if about == "costs" else "zero_one"
    asked = {"loss": loss, "groups": groups if about == "clusters" else None}
    learners = ["lda", "nearest_centroid", "knn:3"]

    def first_result(correction):
        if given:
            design = uv.designs.DisjointSets(6 if about == "clusters" else 15, 40)
            losses = uv.evaluate(learners, X, y, design, rng=0, **asked)
            compared = uv.compare_losses(losses, "ustatistic", correction=correction)
        else:
            test = uv.TestSpec("ustatistic", fit={"max_fits": 240})
            compared = uv.compare(X, y, learners, tests=test, rng=0, correction=correction, **asked)
        return compared.results["ustatistic", *learners[:2]]

    single, joint = first_result("holm"), first_result("simultaneous")
    assert joint.estimand == single.estimand
    assert joint.n_obs == single.n_obs
    assert joint.settings.keys() == single.settings.keys()
    assert joint.diagnostics.get("n_groups") == single.diagnostics.get("n_groups")
    words = "independent clusters" if about == "clusters" else "stand for the classes 0, 1, 2"
    assert [note for note in joint.notes if words in note] == [
        note for note in single.notes if words in note
    ]
    assert any(words in note for note in joint.notes)
    assert len(joint.notes) == len(set(joint.notes))
    if given:
        assert_allclose(joint.estimate, single.estimate)
