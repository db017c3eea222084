"""Numbers of fits from numbers of seconds, and interrupts that keep what is finished."""

import re

import numpy as np
import pytest

import ucvtest as uv
from tests.support.clock import clock as clock
from tests.support.samples import breast_cancer
from ucvtest.common.execution import Execution
from ucvtest.evaluation import time_budget
from ucvtest.evaluation.problem import Problem

SAMPLE = breast_cancer(40, 2)
X, Y = SAMPLE.matrix, SAMPLE.response


def problem(clock, *seconds):
    learners = {f"learner {s}": clock.learner(s) for s in seconds}
    return Problem.of(X, Y, learners).fitting(18)


def test_fits_that_seconds_allow(clock):
    execution = Execution.of(0, 1, None)
    allowed = time_budget.fits_within(problem(clock, 0.1), 18, 30.0, execution)
    used = clock.now
    assert used < 4
    assert used + 0.1 * allowed == pytest.approx(0.8 * 30, abs=0.1)
    both = time_budget.fits_within(problem(clock, 0.1, 0.2), 18, 60.0, execution)
    assert both % 2 == 0
    assert 0.5 * 60 < both / 2 * 0.3 < 0.8 * 60
    with pytest.raises(ValueError, match="max_seconds=30 does not suffice: one fit of each"):
        time_budget.fits_within(problem(clock, 20.0), 18, 30.0, execution)


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


def test_the_same_number_of_fits_repeats_a_result(clock):
    test = uv.UStatisticTest(
        X, Y, {"slow": clock.learner(0.05)}, {"quick": clock.learner(0.01, column=1)}
    )
    start = clock.now
    found = test.fit(max_seconds=20, rng=3, n_jobs=1)
    assert clock.now - start < 20
    settings = found.settings
    assert settings["max_seconds"] == 20
    assert found.n_fits <= settings["max_fits"] < 20 / 0.03
    assert f"max_fits = {settings['max_fits']}, which max_seconds = 20 allowed" in str(found.notes)
    again = test.fit(max_fits=settings["max_fits"], rng=3, n_jobs=1)
    assert (again.estimate, again.se, again.n_fits) == (found.estimate, found.se, found.n_fits)
    fewer = test.fit(max_seconds=20, max_fits=100, rng=3, n_jobs=1)
    assert fewer.settings["max_fits"] == 100


def test_repeats_that_seconds_allow(clock):
    slow, quick = {"slow": clock.learner(0.05)}, {"quick": clock.learner(0.01, column=1)}
    test = uv.InfluenceFunctionTest(X, Y, slow, quick, metric="error")
    start = clock.now
    found = test.fit(max_seconds=20, rng=3, n_jobs=1)
    assert 10 < clock.now - start < 20
    settings = found.settings
    assert settings["max_seconds"] == 20
    assert settings["n_repeats"] == settings["max_fits"] // 2 < 20 / 0.06
    for options in ({"max_fits": settings["max_fits"]}, {"n_repeats": settings["n_repeats"]}):
        again = test.fit(**options, rng=3, n_jobs=1)
        assert (again.estimate, again.se, again.n_fits) == (found.estimate, found.se, found.n_fits)
    with pytest.raises(ValueError, match="9 repeats, but testing every observation takes 38: "):
        test.fit(max_fits=19)
    with pytest.raises(ValueError, match="but the spread of 20 repeats takes 20: raise it to 200"):
        test.fit(scheme="repeated", max_fits=19)
    for fixed in ({"n_repeats": 30}, {"scheme": "kfold"}):
        with pytest.raises(ValueError, match="max_seconds is for n_repeats='auto' of schemes"):
            test.fit(max_seconds=20, **fixed)
    with pytest.raises(ValueError, match="max_seconds must be a finite number"):
        test.fit(max_seconds=-1)
    losses = uv.evaluate(["lda", "qda"], X, Y, uv.designs.RandomSplits(40), rng=0)
    given = uv.InfluenceFunctionTest.from_losses(losses)
    with pytest.raises(ValueError, match="max_fits does not apply when losses are given"):
        given.fit(max_fits=400)


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


@pytest.mark.parametrize("test", [None, uv.TestSpec("ustatistic", fit={"n_pairs": 200})])
def test_translated_estimators_are_taken_for_quick(test):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    asked = {} if test is None else {"tests": test}
    pairs = (["lda", "nearest_centroid"], [LinearDiscriminantAnalysis(), "nearest_centroid"])
    one, other = (uv.compare(X, Y, learners, rng=0, **asked).result() for learners in pairs)
    assert (one.method, one.n_fits, one.estimate) == (other.method, other.n_fits, other.estimate)


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
    with pytest.raises(ValueError, match=f"{said}.*use UStatisticTest with loss='auc'"):
        cls(np.arange(2.0 * n_obs).reshape(n_obs, 2) % 97, y, *learners).fit(rng=0)
