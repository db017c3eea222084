"""Numbers of fits from numbers of seconds; what is refused; interrupts keep what is finished."""

import re

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import ucvtest as uv
from tests.support.clock import clock as clock
from tests.support.samples import breast_cancer
from ucvtest.common.execution import Execution
from ucvtest.evaluation import time_budget
from ucvtest.evaluation.problem import Problem

SAMPLE = breast_cancer(40, 2)
X, Y = SAMPLE.matrix, SAMPLE.response
SMALL = np.sort(np.argsort(SAMPLE.class_index, kind="stable")[[*range(6), *range(-6, 0)]])


def problem(clock, *seconds):
    learners = {f"learner {s}": clock.learner(s) for s in seconds}
    return Problem.of(X, Y, learners).fitting(18)


def test_fits_that_seconds_allow(clock):
    execution = Execution.of(0, 1, None)
    allowed = time_budget.decided_fits(problem(clock, 0.1), 18, 30.0, execution)
    used = clock.now
    assert used < 4
    assert used + 0.1 * allowed == pytest.approx(0.8 * 30, abs=0.1)
    both = time_budget.decided_fits(problem(clock, 0.1, 0.2), 18, 60.0, execution)
    assert both % 2 == 0
    assert 0.5 * 60 < both / 2 * 0.3 < 0.8 * 60
    with pytest.raises(ValueError, match="max_seconds=30 does not suffice: one fit of each"):
        time_budget.decided_fits(problem(clock, 20.0), 18, 30.0, execution)


def test_imports_and_padded_calls_are_not_charged(clock):
    # The first call imports for 100 s; each call fits 64 sets at once, however few there are.
    calls = []

    def trial(size):
        calls.append(size)
        clock.now += 100.0 * (len(calls) == 1) + 0.32 * -(-size // 64)

    number = time_budget.rounds_within([(trial, 64)], 10.0, "fit")
    assert 0.005 * number == pytest.approx(0.8 * 10 - 2 * 0.32, abs=0.01)
    # A trial that takes all seconds leaves what one more call answers.
    calls.clear()
    assert time_budget.rounds_within([(trial, 64)], 0.64, "fit") >= 6


def same(one, other):
    for name in ("estimate", "statistic", "pvalue", "n_fits"):
        np.testing.assert_equal(getattr(one, name), getattr(other, name))


def scores(clock, seconds):
    def score(X_train, y_train, X_test):
        clock.now += seconds
        first = y_train == y_train.min()
        low, high = (X_train[rows].mean(axis=0) for rows in (first, ~first))
        return X_test @ (high - low)

    return score


def two(clock):
    return {"slow": clock.learner(0.05)}, {"quick": clock.learner(0.01, column=1)}


TESTS = {
    "max_fits": lambda clock: uv.UStatisticTest(X, Y, *two(clock)),
    "n_repeats": lambda clock: uv.InfluenceFunctionTest(X, Y, *two(clock), metric="error"),
    "n_permutations": lambda clock: uv.PermutationComplexityTest(X, Y, clock.learner(0.1)),
    "pairs": lambda clock: uv.LeavePairOutTest(X[SMALL], Y[SMALL], scores(clock, 0.05)),
}


@pytest.mark.parametrize(
    ("kind", "seconds", "options"),
    [
        ("max_fits", 20, {}),
        ("n_repeats", 20, {}),
        ("n_permutations", 20, {"n_permutations": 500}),
        ("n_permutations", 20, {"n_permutations": 500, "stop_after": 5}),
        ("n_permutations", 20, {"n_permutations": 500, "sampling": "bootstrap"}),
        ("pairs", 60, {}),
    ],
)
def test_seconds_decide_a_number_that_repeats_the_result(clock, kind, seconds, options):
    test, name = TESTS[kind](clock), "n_permutations" if kind == "pairs" else kind
    start = clock.now
    found = test.fit(max_seconds=seconds, rng=3, n_jobs=1, **options)
    assert clock.now - start < seconds
    assert clock.now - start > 0.4 * seconds or "stop_after" in options
    number = found.settings[name]
    assert found.settings["max_seconds"] == seconds
    if name != "n_repeats":
        assert f"{name} = {number}, which max_seconds = {seconds} allowed" in str(found.notes)
    same(found, test.fit(**options | {name: number}, rng=3, n_jobs=1))


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("n_permutations", {"n_permutations": "exact"}, "not apply with n_permutations='exact'"),
        ("n_permutations", {"n_permutations": "analytic"}, "with n_permutations='analytic'"),
        ("n_permutations", {"n_permutations": 50, "stop_after": 20}, "stop_after=20 needs as many"),
        ("n_permutations", {"max_seconds": 0.15}, "one fit to permuted labels takes about 0.1 s"),
        ("pairs", {"n_permutations": "exact"}, "does not apply with n_permutations='exact'"),
        ("pairs", {"pvalue": "supremum"}, "the observed labels need 36 fits, one for each pair"),
        ("n_repeats", {"n_repeats": 30}, "max_seconds is for n_repeats='auto' of schemes"),
        ("n_repeats", {"scheme": "kfold"}, "max_seconds is for n_repeats='auto' of schemes"),
    ],
)
def test_what_seconds_cannot_be(clock, kind, options, said):
    with pytest.raises(ValueError, match=said):
        TESTS[kind](clock).fit(**{"max_seconds": 1.5} | options)


def test_pairs_are_tested_within_the_limit_or_refused(clock):
    test = uv.InfluenceFunctionTest(X, Y, clock.learner(0.05), clock.learner(0.01, column=1))
    start = clock.now
    with pytest.raises(ValueError, match="testing every pair takes 680 at least") as refused:
        test.fit(max_seconds=10, rng=3, n_jobs=1)
    assert clock.now - start < 10
    least = float(re.search(r"max_seconds=([\d.]+) or more", str(refused.value))[1])
    start = clock.now
    found = test.fit(max_seconds=least, rng=3, n_jobs=1)
    assert clock.now - start < least
    assert 680 <= found.n_fits <= found.settings["max_fits"]
    with pytest.raises(ValueError, match="takes 340: raise it to 680 or more"):
        test.fit(max_fits=679)
    assert test.fit(max_fits=680, rng=3, n_jobs=1).n_fits == 680


def test_interrupts_keep_what_is_finished(clock):
    learners = {"first": "lda", "second": clock.learner(0.0, stops_after=12)}
    with pytest.raises(KeyboardInterrupt, match="has the losses of first") as stop:
        uv.evaluate(learners, X, Y, uv.designs.KFold(10, n_repeats=2), rng=0, n_jobs=1)
    expected = uv.evaluate(["lda"], X, Y, uv.designs.KFold(10, n_repeats=2), rng=0)
    np.testing.assert_array_equal(stop.value.results.means, expected.means)
    tests = ["hold_out", "corrected_t"]
    with pytest.raises(KeyboardInterrupt, match="has 1 results by test and pair") as stop:
        uv.compare(X, Y, learners | {"second": clock.learner(0.0, stops_after=5)}, tests, rng=0)
    (key,) = stop.value.results
    assert key == ("hold_out", "first", "second")
    whole = uv.compare(X, Y, learners | {"second": clock.learner(0.0)}, tests, rng=0)
    assert stop.value.results[key].estimate == whole.results[key].estimate


def test_an_interrupt_before_anything_is_finished_is_as_it_came(clock):
    with pytest.raises(KeyboardInterrupt) as stop:
        uv.evaluate({"slow": clock.learner(0.0, stops_after=2)}, X, Y, 5, rng=0, n_jobs=1)
    assert type(stop.value) is KeyboardInterrupt


@pytest.mark.parametrize(
    ("cls", "n_obs", "learners", "said"),
    [
        (
            uv.InfluenceFunctionTest,
            24_000,
            ["lda", "majority"],
            "sums over all pairs: 12000 x 12000 observations need 2.59 GB, but 2.15 GB are",
        ),
        (
            uv.LeavePairOutTest,
            6000,
            ["nearest_centroid"],
            "needs 9000000 fits for one labeling alone",
        ),
        (uv.LeavePairOutTest, 10_000, ["knn:3"], "matrices of 10000 x 10000, 2.4 GB, but 2.15"),
    ],
)
def test_samples_that_are_too_large_are_refused_before_the_first_fit(cls, n_obs, learners, said):
    y = np.arange(n_obs) % 2
    with pytest.raises(ValueError, match=f"{said}.*use uv.UStatisticTest with loss='auc'"):
        cls(np.arange(2.0 * n_obs).reshape(n_obs, 2) % 97, y, *learners).fit(rng=0)


def test_selections_within_seconds(clock):
    learners = {"slow": clock.learner(0.05), "quick": clock.learner(0.01, column=1)}
    start = clock.now
    found = uv.select_model(X, Y, learners, max_seconds=8, rng=0, n_jobs=1)
    assert clock.now - start < 8
    settings = found.settings
    numbers = {name: settings[name] for name in ("n_permutations", "n_left_out")}
    assert 10 < numbers["n_permutations"] < 100
    assert 4 < numbers["n_left_out"] < 40
    assert "which max_seconds = 8 allowed" in found.notes[0]
    assert found.notes[0] in found.summary().as_text()
    again = uv.select_model(X, Y, learners, rng=0, n_jobs=1, **numbers)
    assert again.n_fits == found.n_fits
    assert again.names == found.names == ("slow", "quick")
    for name, column in found.columns.items():
        np.testing.assert_array_equal(column, again.columns[name])
    few = {"max_seconds": 8, "rng": 0, "n_jobs": 1}
    one = uv.select_model(X, Y, learners, criteria=["permutation"], n_permutations=50, **few)
    assert one.settings["n_permutations"] == 50
    assert not one.notes
    with pytest.raises(ValueError, match="too few for the criteria permutation, loo, kfold"):
        uv.select_model(X, Y, learners, **few | {"max_seconds": 0.9})


def test_selections_in_closed_form_take_no_seconds(clock):
    y = X[:, 0] ** 2
    degrees = ["polynomial:1", "polynomial:2"]
    found, plain = (
        uv.select_model(X, y, degrees, rng=0, **more) for more in ({"max_seconds": 1}, {})
    )
    assert found.table.equals(plain.table)


@pytest.mark.parametrize(
    ("test", "options", "total"),
    [
        (uv.UStatisticTest(X, Y, "lda", "qda"), {"n_pairs": 100, "variance": "midpoint"}, 400),
        (uv.UStatisticTest(X, Y, "lda"), {"n_pairs": 100, "variance": "clipped"}, 208),
        (uv.UStatisticTest(X, Y, "lda", "qda", loss="log", contrast="ratio"), {"n_pairs": 99}, 396),
        (uv.LeavePairOutTest(X[SMALL], Y[SMALL], "lda"), {"n_permutations": 19}, 720),
        (uv.FoldCovarianceTest(X, Y, "lda", n_folds=5), {"n_repeats": 3}, 15),
    ],
)
def test_bars_end_with_their_total(capsys, test, options, total):
    found = test.fit(rng=0, progress=True, **options)
    assert found.n_fits == total
    assert f"{total}/{total}" in capsys.readouterr().err


def test_translated_estimators_are_taken_for_quick():
    pairs = (["lda", "nearest_centroid"], [LinearDiscriminantAnalysis(), "nearest_centroid"])
    one, other = (uv.compare(X, Y, learners, rng=0).result() for learners in pairs)
    assert (one.method, one.n_fits, one.estimate) == (other.method, other.n_fits, other.estimate)
