"""`max_seconds` of tests and selections: numbers that repeat a result, and what is refused."""

import numpy as np
import pytest

import ucvtest as uv
from tests.support.clock import clock as clock
from tests.support.samples import breast_cancer

SAMPLE = breast_cancer(40, 2)
X, Y = SAMPLE.matrix, SAMPLE.response
SMALL = np.sort(np.argsort(SAMPLE.class_index, kind="stable")[[*range(6), *range(-6, 0)]])


def same(one, other):
    for name in ("estimate", "statistic", "pvalue", "n_fits"):
        np.testing.assert_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("options", [{}, {"stop_after": 5}, {"sampling": "bootstrap"}])
def test_permutations_that_seconds_allow(clock, options):
    test = uv.PermutationComplexityTest(X, Y, clock.learner(0.1))
    start = clock.now
    found = test.fit(500, max_seconds=20, rng=3, n_jobs=1, **options)
    assert clock.now - start < 20
    settings = found.settings
    assert settings["max_seconds"] == 20
    assert 100 < settings["n_permutations"] < 200
    number = settings["n_permutations"]
    assert f"n_permutations = {number}, which max_seconds = 20 allowed" in str(found.notes)
    again = test.fit(number, rng=3, n_jobs=1, **options)
    same(found, again)
    if not options:
        drawn = again.diagnostics["e_in_permuted"]
        assert drawn == found.diagnostics["e_in_permuted"]
        assert (found.pvalue * (number + 1)) == pytest.approx(round(found.pvalue * (number + 1)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_permutations": "exact"}, "max_seconds does not apply with n_permutations='exact'"),
        ({"n_permutations": "analytic"}, "not apply with n_permutations='analytic'"),
        ({"n_permutations": 50, "stop_after": 20}, "permutations, and stop_after=20 needs as many"),
        ({"max_seconds": 0.15}, "does not suffice: one fit to permuted labels takes about 0.1 s"),
    ],
)
def test_what_seconds_of_permutations_cannot_be(clock, options, said):
    test = uv.PermutationComplexityTest(X, Y, clock.learner(0.1))
    with pytest.raises(ValueError, match=said):
        test.fit(**{"max_seconds": 1.5} | options)


def scores(clock, seconds):
    def score(X_train, y_train, X_test):
        clock.now += seconds
        first = y_train == y_train.min()
        low, high = (X_train[rows].mean(axis=0) for rows in (first, ~first))
        return X_test @ (high - low)

    return score


def test_leave_pair_out_within_seconds(clock):
    test = uv.LeavePairOutTest(X[SMALL], Y[SMALL], scores(clock, 0.05))
    start = clock.now
    found = test.fit(max_seconds=60, rng=3, n_jobs=1)
    assert 30 < clock.now - start < 60
    number = found.settings["n_permutations"]
    # 36 fits of 0.05 s for each labeling.
    assert 20 < number < 27
    assert f"n_permutations = {number}, which max_seconds = 60 allowed" in str(found.notes)
    same(found, test.fit(n_permutations=number, rng=3, n_jobs=1))
    assert test.fit("wmw", max_seconds=10, n_jobs=1).n_fits == 36
    needs = "is not enough: the observed labels need 36 fits, one for each pair"
    for pvalue in ("permutation", "supremum"):
        with pytest.raises(ValueError, match=needs):
            test.fit(pvalue, max_seconds=1.5, rng=3, n_jobs=1)
    with pytest.raises(ValueError, match="max_seconds does not apply with n_permutations='exact'"):
        test.fit(n_permutations="exact", max_seconds=60)


@pytest.mark.parametrize("learner", ["lda"])
def test_leave_pair_out_of_quick_learners_has_time_for_all(clock, learner):
    test = uv.LeavePairOutTest(X[SMALL], Y[SMALL], learner)
    found, plain = (
        test.fit(n_permutations=30, rng=3, **more) for more in ({"max_seconds": 60}, {})
    )
    same(found, plain)
    np.testing.assert_equal(dict(found.diagnostics), dict(plain.diagnostics))


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
