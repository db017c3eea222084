"""Learners that are fitted one by one: a fit that fails costs its pair, an interrupt the rest."""

import numpy as np
import pytest

import ucvtest as uv
from tests.support.samples import breast_cancer
from ucvtest.methods.ustatistic import one_by_one

SAMPLE = breast_cancer(40, 4)
X, Y = SAMPLE.matrix, SAMPLE.response


class Ticking:
    """Every look takes long, so that steps are of one pair."""

    now = 0.0

    def __call__(self):
        self.now += 10.0
        return self.now


@pytest.fixture(autouse=True)
def steps_of_one(monkeypatch):
    monkeypatch.setattr(one_by_one, "CLOCK", Ticking())


def learner(column=0, *, fails_on=(), stops_at=None):
    fits = 0

    def nearer(X_train, y_train, X_test):
        nonlocal fits
        fits += 1
        if fits - 1 in fails_on:
            raise RuntimeError("singular")
        if fits == stops_at:
            raise KeyboardInterrupt
        return np.where(X_test[:, column] > X_train[:, column].mean(), Y.max(), Y.min())

    return nearer


def fitted(function, n_pairs=12, **options):
    test = uv.UStatisticTest(X, Y, {"own": function}, {"other": learner(1)})
    return test.fit(n_pairs, "few", rng=1, **options)


def test_a_learner_that_fails_once_costs_one_pair():
    result = fitted(learner(fails_on=[9]))
    assert result.status == "ok"
    assert result.diagnostics["n_failed_pairs"] == 1
    assert result.diagnostics["n_pairs"] == 11
    (note,) = (note for note in result.notes if "left out" in note)
    assert note.startswith("1 of 12 pairs of learning sets were left out for both learners")
    assert "learner nearer failed on split 9: RuntimeError: singular" in note
    assert fitted(learner()).diagnostics["n_failed_pairs"] == 0


def test_the_first_failure_and_too_many_are_raised():
    with pytest.raises(ValueError, match="failed on split 0: RuntimeError") as first:
        fitted(learner(fails_on=[0]))
    assert str(first.value.__cause__) == "singular"
    with pytest.raises(ValueError, match=r"split 9: .*2 of 6 pairs .* on split 11") as many:
        fitted(learner(fails_on=[9, 11]))
    assert str(many.value.__cause__) == "singular"


def test_what_is_no_prediction_is_raised_as_ever():
    fits = 0

    def unknown(X_train, y_train, X_test):
        nonlocal fits
        fits += 1
        return np.full(len(X_test), Y[0] if fits < 9 else "nobody", dtype=object)

    with pytest.raises(
        ValueError, match=r"learner unknown failed on split \d+: ValueError: .*none of the labels"
    ):
        fitted(unknown)


def test_an_interrupt_gives_the_answer_of_the_fits_that_are_done():
    result = fitted(learner(stops_at=11))
    assert result.status == "interrupted after 20 of 48 fits"
    assert result.diagnostics["n_pairs"] == 5
    assert result.conf_int()[0] < result.estimate < result.conf_int()[1]
    assert "nterrupted after 20 of 48 fits" in result.verdict
    with pytest.raises(KeyboardInterrupt):
        fitted(learner(stops_at=5))


def test_an_interrupted_comparison_keeps_the_answer():
    few = uv.TestSpec("ustatistic", fit={"n_pairs": 12, "variance": "few"})
    learners = {"own": learner(stops_at=11), "other": learner(1)}
    found = uv.compare(X, Y, learners, few, rng=1)
    assert found.result().status.startswith("interrupted")
    three = {"own": learner(stops_at=11), "other": learner(1), "third": learner(2)}
    with pytest.raises(KeyboardInterrupt, match="has 1 results") as stop:
        uv.compare(X, Y, three, few, rng=1)
    (result,) = stop.value.results.values()
    assert result.status.startswith("interrupted")
