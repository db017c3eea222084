"""Learners that are fitted one by one: a fit that fails costs its pair, an interrupt the rest."""

import re
from dataclasses import dataclass, replace
from itertools import count
from multiprocessing import active_children

import numpy as np
import pytest

import ucvtest as uv
from tests.support.samples import breast_cancer
from ucvtest.common import execution
from ucvtest.evaluation.checkpoint import Checkpoint
from ucvtest.learners.adapters.estimators import CallableLearner
from ucvtest.methods.ustatistic import one_by_one
from ucvtest.results.result import uninterrupted

SAMPLE = breast_cancer(40, 4)
X, Y = SAMPLE.matrix, SAMPLE.response


@pytest.fixture(autouse=True)
def steps_of_one(monkeypatch):
    """Every look at the clock takes long, so that steps are of one pair."""
    monkeypatch.setattr(one_by_one, "CLOCK", count(0, 10).__next__)


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


def smoother(column=0, **stops):
    """Scores, or positive numbers, where `learner` has labels."""
    labels = learner(column, **stops)

    def linear(X_train, y_train, X_test):
        labels(X_train, y_train, X_test)
        slope = np.cov(X_train[:, column], y_train)[0, 1] / X_train[:, column].var()
        return y_train.mean() + slope * (X_test[:, column] - X_train[:, column].mean())

    return linear


KINDS = {
    "error rate": (learner, Y, {}),
    "auc": (smoother, Y, {"loss": "auc"}),
    "auc of clusters": (smoother, Y, {"loss": "auc", "groups": np.arange(40) // 2}),
    "ratio": (smoother, Y + 0.1 * X[:, 1], {"loss": "squared", "contrast": "ratio"}),
}


def fitted_as(kind, *options, **first):
    make, y, asked = KINDS[kind]
    test = uv.UStatisticTest(X, y, {"own": make(**first)}, {"other": make(1)}, **asked)
    return test.fit(*options, rng=1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_failed_pair_is_left_out(kind):
    failed = fitted_as(kind, 12, "few", fails_on=[9])
    assert failed.status == "ok"
    assert [failed.diagnostics[name] for name in ("n_failed_pairs", "n_pairs")] == [1, 11]
    (note,) = (note for note in failed.notes if "left out" in note)
    assert note.startswith("1 of 12 pairs of learning sets was left out for both learners")
    assert re.search("learner (nearer|linear) failed on split 9: RuntimeError: singular", note)
    assert fitted_as(kind, 12, "few").diagnostics["n_failed_pairs"] == 0


def test_a_learner_that_yields_its_predictions_goes_on_after_a_failed_fit(monkeypatch):
    # Steps of several pairs, whose fits come from one generator.
    monkeypatch.setattr(one_by_one, "CLOCK", lambda: 0)

    class Yielding(CallableLearner):
        def fit_predict_each(self, fits, output):
            for fit in fits:
                yield self.fit_predict(*fit[:3], output, fit[3])

    yielded = fitted(Yielding(learner(fails_on=[4])))
    assert yielded.diagnostics["n_failed_pairs"] == 1
    assert yielded.estimate == fitted(learner(fails_on=[4])).estimate


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("fails_on", "n_pairs", "message"),
    [
        ([0], 12, "failed on split 0: RuntimeError"),
        ([9, 11], 12, r"split 9: .*2 of 6 pairs .* on split 11"),
        ([5], 3, r"split 5: .*1 of 3 pairs .* an answer needs 3"),
    ],
)
def test_the_first_failure_and_too_many_are_raised(kind, fails_on, n_pairs, message):
    with pytest.raises(ValueError, match=message) as error:
        fitted_as(kind, n_pairs, "few", fails_on=fails_on)
    assert str(error.value.__cause__) == "singular"


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupt_gives_the_answer_of_the_fits_that_are_done(kind):
    stopped = fitted_as(kind, 12, "few", stops_at=11)
    assert stopped.status == "interrupted after 20 of 48 fits"
    assert stopped.diagnostics["n_pairs"] == 5
    low, high = stopped.conf_int()
    assert low < stopped.estimate < high
    assert "nterrupted after 20 of 48 fits" in stopped.verdict
    with pytest.raises(KeyboardInterrupt):
        fitted_as(kind, 12, "few", stops_at=5)


@pytest.mark.parametrize("kind", KINDS)
def test_so_it_is_with_many_fits(kind):
    failed = fitted_as(kind, 40, "jackknife", fails_on=[9])
    assert [failed.diagnostics[name] for name in ("n_failed_pairs", "n_pairs")] == [1, 39]
    assert np.isfinite(failed.estimate)


def test_an_auc_without_a_failed_pair_is_that_of_the_scores_of_all_others():
    place, sets = {tuple(row): number for number, row in enumerate(X)}, []

    def first(X_train, y_train, X_test):
        sets.append(np.isin(np.arange(len(X)), [place[tuple(row)] for row in X_train]))
        if len(sets) == 10:
            raise RuntimeError("singular")
        return X_test[:, 0] - np.median(X_train[:, 0])

    found = uv.UStatisticTest(X, Y, {"own": first}, loss="auc").fit(12, "few", rng=1)
    learning = np.array([each for k, each in enumerate(sets) if k // 2 != 4])
    scores = np.array([X[:, 0] - np.median(X[each, 0]) for each in learning])
    losses = uv.Losses.from_arrays(scores[None], learning, loss="auc", y=Y)
    expected = uv.UStatisticTest.from_losses(losses).fit(variance="few")
    assert (found.estimate, found.se, found.df) == (expected.estimate, expected.se, expected.df)


def test_fits_of_the_step_that_an_interrupt_ends_do_not_count():
    test = uv.UStatisticTest(X, Y, {"own": learner()}, {"other": learner(1, stops_at=11)})
    result = test.fit(12, "few", rng=1)
    # The first learner had its two fits of the sixth pair.
    assert (result.n_fits, result.diagnostics["n_pairs"]) == (20, 5)
    assert result.status == "interrupted after 20 of 48 fits"


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


def test_results_that_are_parts_of_others_are_not_interrupted():
    result = fitted(learner(stops_at=11))
    with pytest.raises(KeyboardInterrupt):
        uninterrupted(result)
    whole = fitted(learner())
    assert uninterrupted(whole) is whole


@dataclass(frozen=True)
class BySet:
    """Fails, or is interrupted, by the lowest three that it learns from, in whatever process."""

    fails_on: tuple = ()
    stops_at: tuple = ()

    def __call__(self, X_train, y_train, X_test):
        lowest = tuple(np.searchsorted(VALUES, np.sort(X_train[:, 0])[:3]))
        if lowest in self.fails_on:
            raise RuntimeError(f"singular at {lowest}")
        if lowest in self.stops_at:
            raise KeyboardInterrupt
        return np.where(X_test[:, 0] > X_train[:, 0].mean(), Y.max(), Y.min())


VALUES = np.unique(X[:, 0])
FAILING = BySet(fails_on=((0, 1, 5),))
STOPPING = BySet(fails_on=((0, 1, 5),), stops_at=((1, 2, 5),))


def told(function, **options):
    result = uv.UStatisticTest(X, Y, {"own": function}).fit(24, "few", rng=1, **options)
    return replace(result, elapsed=0.0).to_dict()


@pytest.mark.parametrize(
    ("function", "n_failed", "status"),
    [(FAILING, 2, "ok"), (STOPPING, 1, "interrupted after 38 of 48 fits")],
)
def test_workers_and_batches_change_nothing(function, n_failed, status):
    one = told(function)
    assert (one["diagnostics"]["n_failed_pairs"], one["status"]) == (n_failed, status)
    assert told(function, batch_size=1) == one
    assert told(function, n_jobs=2) == one
    # Those that are idle wait for the next fits.
    assert len(active_children()) <= 2


@pytest.mark.parametrize("metric", [{}, {"loss": "accuracy"}])
def test_the_bar_shows_the_answer_so_far(metric, monkeypatch, capsys):
    monkeypatch.setattr(execution, "SHOW_SECONDS", 0.0)
    monkeypatch.setattr(execution, "LINE_SECONDS", 0.0)
    test = uv.UStatisticTest(X, Y, {"own": learner()}, {"other": learner(1)}, **metric)
    result = test.fit(12, "few", rng=1, progress=True)
    low, high = result.conf_int()
    *before, last = capsys.readouterr().err.splitlines()
    assert f"{result.estimate:.3g} [{low:.3g}, {high:.3g}]" in last
    # With the third round on, and not before.
    first = next(i for i, line in enumerate(before) if line.count("[") == 2)
    assert "12fit" in before[first - 1] or "12/48" in before[first - 1]


def stopping_after(n_parts, monkeypatch):
    """Interrupts when so many parts are kept; all fits that are kept, counted."""
    kept, keep = [], Checkpoint.add_predictions

    def stops(self, values, learner, output, fits):
        keep(self, values, learner, output, fits)
        kept.append(len(fits))
        if len(kept) == n_parts:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "add_predictions", stops)
    return kept


@pytest.mark.parametrize("n_parts", [3, 16])
@pytest.mark.parametrize("options", [{"variance": "few", "n_pairs": 24}, {"max_fits": 96}])
def test_a_checkpoint_goes_on_to_the_same_numbers(n_parts, options, monkeypatch, tmp_path):
    test, path = uv.UStatisticTest(X, Y, {"own": FAILING}, {"other": "lda"}), tmp_path / "kept"
    whole = test.fit(rng=1, **options)
    kept = stopping_after(n_parts, monkeypatch)
    if n_parts == 3:
        with pytest.raises(KeyboardInterrupt):
            test.fit(rng=1, checkpoint=path, **options)
    else:
        stopped = test.fit(rng=1, checkpoint=path, **options)
        assert stopped.status.startswith("interrupted after")
        assert stopped.n_fits < whole.n_fits
    again = test.fit(checkpoint=path, **options)
    assert replace(again, elapsed=0.0).to_dict() == replace(whole, elapsed=0.0).to_dict()
    # No fit is done twice, but those that fail.
    assert sum(kept) == whole.n_fits // 2 - whole.diagnostics["n_failed_pairs"]
    finished = test.fit(checkpoint=path, **options)
    assert finished.conf_int() == whole.conf_int()
    assert sum(kept) == whole.n_fits // 2 - whole.diagnostics["n_failed_pairs"]


@pytest.mark.parametrize(
    ("n_pairs", "variance"), [(12, "few"), (60, "jackknife"), (200, "midpoint")]
)
def test_the_answer_is_that_of_the_losses_of_all_other_pairs(n_pairs, variance):
    """Although some pairs have a third learning set, with one observation exchanged."""

    def errors(learnt):
        above = X[:, 0] > X[learnt, 0].mean()
        return (np.where(above, Y.max(), Y.min()) != Y).astype(float)

    place, sets = {tuple(row): number for number, row in enumerate(X)}, []

    def nearer(X_train, y_train, X_test):
        sets.append(np.isin(np.arange(len(X)), [place[tuple(row)] for row in X_train]))
        if len(sets) == 10:
            raise RuntimeError("singular")
        return np.where(X_test[:, 0] > X_train[:, 0].mean(), Y.max(), Y.min())

    found = uv.UStatisticTest(X, Y, {"own": nearer}).fit(n_pairs, variance, rng=1)
    assert found.diagnostics["n_failed_pairs"] == 1
    # A pair begins where two sets are disjoint, and the fit that failed was the tenth.
    begin = [k for k in range(len(sets) - 1) if not (sets[k] & sets[k + 1]).any()]
    failed = max(k for k in begin if k <= 9)
    learning = np.array([sets[k + side] for k in begin if k != failed for side in (0, 1)])
    values = np.array([errors(learnt) for learnt in learning])
    losses = uv.Losses.from_arrays(values[None], learning, loss="zero_one", y=Y)
    expected = uv.UStatisticTest.from_losses(losses).fit(variance=variance)
    assert found.estimate == pytest.approx(expected.estimate, rel=1e-12)
    assert found.se == pytest.approx(expected.se, rel=1e-12)
    assert found.diagnostics["n_pairs"] == n_pairs - 1


def test_a_checkpoint_of_predictions_goes_on(monkeypatch, tmp_path):
    test, path = uv.UStatisticTest(X, Y, {"own": BySet()}, metric="f1"), tmp_path / "kept"
    whole = test.fit(6, "few", rng=1)
    kept = stopping_after(6, monkeypatch)
    assert test.fit(6, "few", rng=1, checkpoint=path).status.startswith("interrupted after")
    again = test.fit(6, "few", checkpoint=path)
    assert replace(again, elapsed=0.0).to_dict() == replace(whole, elapsed=0.0).to_dict()
    assert sum(kept) == whole.n_fits
