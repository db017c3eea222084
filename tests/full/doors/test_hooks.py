"""Hooks: told of every fit, and unable to cost a result."""

from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

import ucvtest as uv
from ucvtest.methods.registry import TESTS


class Hook:
    """Fails at one place."""

    def __init__(self, place):
        self.place, self.seen = place, []

    def at(self, place):
        self.seen.append(place)
        if place == self.place:
            raise RuntimeError(f"no {place}")

    def fitting(self, test):
        self.at("call")
        return self.surround()

    @contextmanager
    def surround(self):
        self.at("enter")
        try:
            yield
        except ValueError:
            self.seen.append("failed")
        self.at("exit")

    def fitted(self, test, result):
        self.at("fitted")


@pytest.fixture
def add_hook():
    added = []

    def add(place, kind=Hook):
        added.append(kind(place))
        uv.hooks.add_hook(added[-1])
        return added[-1]

    yield add
    for hook in added:
        uv.hooks.remove_hook(hook)


@pytest.fixture
def small_test(rng):
    X = rng.normal(size=(20, 2))
    return uv.UStatisticTest(X, np.arange(20) % 2, "nearest_centroid")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("call", "Hook failed before a fit (RuntimeError: no call); the fit goes on without it"),
        ("enter", "Hook failed before a fit (RuntimeError: no enter); the fit goes on without it"),
        ("exit", "Hook failed after a fit (RuntimeError: no exit); the fit itself is complete"),
        (
            "fitted",
            "Hook failed on a finished result (RuntimeError: no fitted); the result itself is "
            "complete",
        ),
    ],
)
def test_a_hook_that_fails_costs_no_result(add_hook, small_test, place, message):
    expected = small_test.fit(20, rng=0).estimate
    add_hook(place)
    other = add_hook(None)
    with pytest.warns(uv.UcvtestWarning) as caught:
        result = small_test.fit(20, rng=0)
    assert [str(warning.message) for warning in caught] == [message]
    assert result.estimate == expected
    assert other.seen == ["call", "enter", "exit", "fitted"]
    assert caught[0].filename == __file__


def test_a_hook_cannot_swallow_the_error_of_a_fit(add_hook, rng):
    def fail(X_train, y_train, X_test):
        raise ZeroDivisionError

    hook = add_hook(None)
    test = uv.UStatisticTest(rng.normal(size=(20, 2)), np.arange(20) % 2, fail)
    with pytest.raises(ValueError, match="fail failed on split 0"):
        test.fit(20, rng=0)
    assert hook.seen == ["call", "enter", "failed", "exit"]


class OutcomeHook(Hook):
    def concluded(self, question, outcome):
        self.at("concluded")


def test_hooks_are_told_of_selections_and_plans_if_they_take_them(add_hook, rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    plain = add_hook(None)
    failing, other = (add_hook(place, OutcomeHook) for place in ("concluded", None))
    with pytest.warns(uv.UcvtestWarning, match="^OutcomeHook failed on a finished outcome"):
        uv.select_model(X, y, ["majority"], criteria=["permutation"], n_permutations=2, rng=0)
    assert plain.seen == ["call", "enter", "exit"]
    assert failing.seen == other.seen == ["call", "enter", "exit", "concluded"]
    uv.hooks.remove_hook(failing)
    rules = uv.Losses.from_predictions(y, {"rule": 1 - y[::-1] ** (y[::-1] > 2)})
    uv.plan(rules, learner="rule", width=0.3)
    assert other.seen[4:] == ["concluded"]
    assert plain.seen == ["call", "enter", "exit"]


RAW, LABELS = (each[40:80] for each in load_breast_cancer(return_X_y=True))
RAW = RAW[:, :2]


class Cut(ClassifierMixin, BaseEstimator):
    """Cuts a feature at its mean, which takes no time."""

    def fit(self, X, y):
        self.classes_, self.mean_ = np.unique(y), X[:, 0].mean()
        return self

    def decision_function(self, X):
        return X[:, 0] - self.mean_

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


LEARNERS = [LogisticRegression(max_iter=3), Cut()]
DRAWS = {
    "ustatistic": {"n_pairs": 4},
    "influence": {"n_repeats": 40},
    "permutation": {"n_permutations": 9},
    "leave_pair_out": {"n_permutations": 9},
}
CALLS = {
    "evaluate": lambda: uv.evaluate(LEARNERS, RAW, LABELS, 3, rng=0),
    "compare": lambda: uv.compare(
        RAW,
        LABELS,
        [*LEARNERS, "majority"],
        ["corrected_t", uv.TestSpec("ustatistic", fit={"n_pairs": 4})],
        rng=0,
    ),
    "jointly": lambda: uv.compare(
        RAW,
        LABELS,
        [*LEARNERS, "majority"],
        [uv.TestSpec("ustatistic", fit={"n_pairs": 20})],
        correction="simultaneous",
        rng=0,
    ),
    "select_model": lambda: uv.select_model(RAW, LABELS, LEARNERS, n_permutations=9, rng=0),
    "plan": lambda: uv.plan(RAW, LABELS, *LEARNERS, difference=0.1, curve=False, rng=0),
}


class Inside:
    """Knows whether it surrounds what goes on."""

    depth = 0

    @contextmanager
    def fitting(self, test):
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def fitted(self, test, result):
        pass


@pytest.fixture
def fits(monkeypatch):
    """Whether a hook surrounded each fit of scikit-learn, in their order, and of what."""
    hook, found = Inside(), []
    for kind in (LogisticRegression, Cut):

        def fit(self, *data, _fit=kind.fit, **options):
            found.append((type(self), hook.depth > 0))
            return _fit(self, *data, **options)

        monkeypatch.setattr(kind, "fit", fit)
    uv.hooks.add_hook(hook)
    yield found
    uv.hooks.remove_hook(hook)


@pytest.mark.parametrize("name", sorted({*TESTS} - {"diebold_mariano"}))
def test_nothing_is_fitted_before_fit_or_unheard(name, fits):
    cls = TESTS[name]
    test = cls(RAW, LABELS, *LEARNERS[: 2 if cls.needs.compares else 1])
    assert fits == []
    notes = test.fit(rng=0, **DRAWS.get(name, {})).notes
    assert any("before it has converged" in note for note in notes)
    assert all(is_heard for _, is_heard in fits)


@pytest.mark.filterwarnings("ignore::ucvtest.UcvtestWarning")
@pytest.mark.parametrize("call", CALLS)
def test_no_call_fits_unheard(call, fits):
    CALLS[call]()
    assert fits
    assert all(is_heard for _, is_heard in fits)
