"""A budget of fits or seconds is kept and used, or refused before the first fit of a design."""

import re

import numpy as np
import pytest

import ucvtest as uv
from tests.support.clock import clock as clock
from tests.support.samples import breast_cancer

SAMPLE = breast_cancer(40, 2)
X, Y = SAMPLE.matrix, SAMPLE.response
POSITIVE = Y.max()


class Counted:
    """The nearer mean of a column, or its score; counts its fits."""

    def __init__(self, column, *, scores=False):
        self.column, self.scores, self.fits = column, scores, 0

    def __call__(self, X_train, y_train, X_test):
        self.fits += 1
        values, tested = X_train[:, self.column], X_test[:, self.column]
        low, high = (values[y_train == label].mean() for label in np.unique(Y))
        if self.scores:
            return (high - low) * tested
        return np.where(np.abs(tested - low) < np.abs(tested - high), *np.unique(Y))


def pair(**options):
    return Counted(0, **options), Counted(1, **options)


MEANS = {"learn_size": None}
RATIO = {"contrast": "ratio", "loss": "squared"}
AUC = {"loss": "auc", "pos_label": POSITIVE}
KINDS = [
    (MEANS, {}, 12),
    (MEANS, {"variance": "few"}, 12),
    (MEANS, {"variance": "midpoint"}, 80),
    (MEANS, {"variance": "clipped"}, 90),
    (MEANS, {"variance": "asymptotic"}, 120),
    (MEANS | {"learn_size": 30}, {}, 80),
    (RATIO, {}, 12),
    (RATIO, {"variance": "jackknife"}, 80),
    (AUC, {}, 12),
    (AUC, {"variance": "midpoint"}, 320),
]


def ustatistic(options):
    learners = pair(scores="loss" in options)
    y = (Y == POSITIVE) * 1.0 if options.get("loss") == "squared" else Y
    return uv.UStatisticTest(X, y, *learners, **options), learners


@pytest.mark.parametrize(("options", "fit", "least"), KINDS)
def test_a_number_of_fits_is_used_and_never_exceeded(options, fit, least):
    more = 37
    test, learners = ustatistic(options)
    # Fewer than an answer takes are refused with the least.
    with pytest.raises(ValueError, match=f"needs at least {least} fits of 2 learners"):
        test.fit(max_fits=least - 1, rng=0, **fit)
    assert not any(learner.fits for learner in learners)
    found = test.fit(max_fits=least + more, rng=0, n_jobs=1, **fit)
    fits = sum(learner.fits for learner in learners)
    assert found.n_fits == fits <= least + more
    if not found.diagnostics["converged"]:
        assert fits > least + more - 6


def test_all_learners_together_keep_the_bound_of_a_test_that_is_not_named():
    learners = {"one": Counted(0), "two": Counted(1), "three": Counted(0)}
    found = uv.compare(X, Y, learners, rng=0, n_jobs=1, correction="simultaneous")
    assert found.n_fits == 600
    assert "max_fits=600" in found.settings["tests"]["ustatistic"]


def test_aucs_together_are_refused_before_they_are_fitted():
    learners = dict(zip("ab", pair(scores=True), strict=True))
    test = uv.TestSpec("ustatistic", fit={"max_fits": 11})
    with pytest.raises(ValueError, match="needs at least 12 fits of 2 learners"):
        uv.compare(X, Y, learners, test, correction="simultaneous", **AUC)
    assert not any(learner.fits for learner in learners.values())
    found = uv.compare(X, Y, learners, rng=0, n_jobs=1, correction="simultaneous", **AUC)
    assert found.n_fits == 400


def test_seconds_are_used(clock):
    test = uv.UStatisticTest(X, Y, clock.learner(0.05), clock.learner(0.01, column=1))
    found = test.fit(max_seconds=15, tol=0.001, rng=0, n_jobs=1)
    assert not found.diagnostics["converged"]
    assert 0.75 * 15 < clock.now < 15


def test_seconds_without_an_answer_are_refused_with_the_least(clock):
    test = uv.UStatisticTest(X, Y, clock.learner(2), clock.learner(0.4, column=1))
    with pytest.raises(ValueError, match="an answer takes 12 at least") as refused:
        test.fit(max_seconds=12, rng=0, n_jobs=1)
    least = float(re.search(r"max_seconds=([\d.]+) or more", str(refused.value))[1])
    start = clock.now
    found = test.fit(max_seconds=least, rng=0, n_jobs=1)
    assert found.n_fits >= 12
    assert clock.now - start < least


NAMED = [
    ("corrected_t", {}),
    (["corrected_t", "ustatistic", "influence"], {}),
    (["corrected_t", "ustatistic"], {"baseline": "slow"}),
    (uv.TestSpec("ustatistic", fit={"n_pairs": 40}), {}),
]


@pytest.mark.parametrize(("tests", "more"), NAMED)
def test_comparisons_by_named_tests_keep_their_seconds(clock, tests, more):
    learners = {"slow": clock.learner(0.05), "quick": clock.learner(0.01, column=1)}
    learners["third"] = clock.learner(0.01)
    found = uv.compare(X, Y, learners, tests, max_seconds=40, rng=0, n_jobs=1, **more)
    assert clock.now < 40
    assert found.n_fits > 0
    if isinstance(tests, list):
        # Those that draw share what is left.
        assert clock.now > 15
    start = clock.now
    with pytest.raises(ValueError, match=r"max_seconds=0.5 (allows about|does not suffice)"):
        uv.compare(X, Y, learners, tests, max_seconds=0.5, rng=0, n_jobs=1, **more)
    assert clock.now - start < 0.5


def test_all_learners_together_keep_their_seconds(clock):
    learners = {"slow": clock.learner(0.05), "quick": clock.learner(0.01, column=1)}
    together = {"correction": "simultaneous", "rng": 0, "n_jobs": 1}
    found = uv.compare(X, Y, learners, max_seconds=40, **together)
    assert 20 < clock.now < 40
    assert found.n_fits > 400
    with pytest.raises(ValueError, match=r"max_seconds=0.3 allows about .* use quicker learners"):
        uv.compare(X, Y, learners, max_seconds=0.3, **together)


@pytest.mark.parametrize("options", [{"scoring": "f1", "pos_label": POSITIVE}, {"loss": "log"}])
def test_questions_that_one_test_answers_keep_seconds_too(options):
    more = {"contrast": "ratio"} if "loss" in options else {}
    found = uv.compare(X, Y, ["lda", "qda"], max_seconds=100, rng=0, **options, **more)
    assert found.n_fits > 0


def test_seconds_for_a_single_labeling_are_refused(clock):
    test = uv.PermutationComplexityTest(X, Y, clock.learner(0.1))
    with pytest.raises(ValueError, match="the Monte-Carlo error takes 3 at least"):
        test.fit(max_seconds=0.55, rng=0, n_jobs=1)
