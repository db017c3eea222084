"""Every test refuses what its needs do not allow, in the words of the table, before the first fit.

A row of `QUESTIONS` asks what one of `refusals` is about, of any test: as the table reads it,
and as a user calls it.
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from ucvtest_r.wording import RDoor

import ucvtest as uv
from tests.core.doors.refusals import PYTHON
from tests.support.samples import SMALL
from ucvtest.common.words import through
from ucvtest.inference.needs import FOR_FIXED_RULES, Needs, Traits, refusals, refuse
from ucvtest.methods.registry import TESTS
from ucvtest.metrics.means import LOSSES
from ucvtest.metrics.named import as_smooth_metric
from ucvtest.metrics.scorers import chosen_loss

X, Y, _, GROUPS = SMALL
LEARNERS: tuple[Any, Any] = (LogisticRegression(), LogisticRegression(C=2.0))
RULES = {"a": X[:, 0], "b": X[:, 1]}
CHANCES = {name: 1 / (1 + np.exp(-each)) for name, each in RULES.items()}
LABELS = {name: (each > 0.5) * 1 for name, each in RULES.items()}
FOLD = GROUPS % 4
BLOCK = np.arange(24) // 4
FORWARD = uv.designs.Design(np.arange(1, 6)[:, None] > BLOCK, np.arange(1, 6)[:, None] == BLOCK)
OF_RULES = uv.designs.Design.of_fixed_rules(24)


def given(cls: Any, loss: str | None = None, **options: Any) -> uv.Losses:
    """Losses out of folds, as a test can be about them."""
    loss = loss or cls.needs.only_loss or "zero_one"
    predictions = {"auc": RULES, "log": CHANCES}.get(loss, LABELS)
    return uv.Losses.from_predictions(Y, predictions, loss=loss, **({"fold": FOLD} | options))


def from_losses(cls: Any, losses: uv.Losses, *learners: Any) -> Any:
    return cls.from_losses(losses, *(learners or [0, 1][: 1 + cls.needs.compares]))


def made(cls: Any, n_learners: int = 2, **options: Any) -> Any:
    return cls(X, Y, *LEARNERS[: min(n_learners, 1 + cls.needs.compares)], **options)


def in_time(cls: Any) -> Any:
    """Losses of rows that were learnt from earlier ones."""
    errors = np.stack([each != Y for each in LABELS.values()])[:, None] * FORWARD.testing
    losses = uv.Losses.from_arrays(errors, FORWARD.learning, FORWARD.testing, loss="zero_one")
    return from_losses(cls, losses)


def means_alone(cls: Any) -> Any:
    return from_losses(cls, replace(given(cls), values=None, target=None))


F1, R2 = as_smooth_metric("f1"), chosen_loss(None, "r2")

QUESTIONS: dict[str, tuple[Traits, Callable[[Any], Any]]] = {
    "fixed rules": (
        Traits(has_losses=True, design=OF_RULES),
        lambda cls: from_losses(cls, given(cls, fold=None)),
    ),
    "losses": (Traits(has_losses=True), lambda cls: from_losses(cls, given(cls))),
    "splits in time": (Traits(metric=LOSSES["zero_one"], paired=True, design=FORWARD), in_time),
    "contrast": (
        Traits(contrast="ratio"),
        lambda cls: uv.compare(X, Y, LEARNERS, cls.method_name, contrast="ratio"),
    ),
    "metric": (
        Traits(metric=F1, has_losses=True),
        lambda cls: from_losses(cls, uv.Losses.from_predictions(Y, LABELS, metric="f1", fold=FOLD)),
    ),
    "weights of losses": (
        Traits(weighted=True, has_losses=True),
        lambda cls: from_losses(cls, given(cls, "zero_one", sample_weight=1.0 + FOLD)),
    ),
    "weights": (Traits(weighted=True), lambda cls: made(cls, weights={"fit": 1.0 + FOLD})),
    "score of another loss": (Traits(metric=R2, scoring="r2"), lambda cls: made(cls, scoring="r2")),
    "loss": (
        Traits(metric="log", has_losses=True),
        lambda cls: from_losses(cls, given(cls, "log")),
    ),
    "score of test sets": (Traits(metric=R2, scoring="r2"), lambda cls: made(cls, scoring="r2")),
    "AUC": (Traits(metric="auc", has_losses=True), lambda cls: from_losses(cls, given(cls, "auc"))),
    "one learner": (Traits(paired=False), lambda cls: made(cls, 1)),
    "two learners": (
        Traits(paired=True, has_losses=True),
        lambda cls: from_losses(cls, given(cls), 0, 1),
    ),
    "clusters in time": (Traits(clusters=True), lambda cls: made(cls, groups=GROUPS)),
    "clusters": (Traits(clusters=True), lambda cls: made(cls, groups=GROUPS)),
    "score of test sets of clusters": (
        Traits(metric=R2, scoring="r2", clusters=True),
        lambda cls: made(cls, scoring="r2", groups=GROUPS),
    ),
    "scores of clusters": (
        Traits(metric="auc", has_losses=True, clusters=True),
        lambda cls: from_losses(cls, given(cls, "auc", groups=GROUPS)),
    ),
    "means alone": (Traits(has_values=False, has_losses=True), means_alone),
    "null value": (Traits(null_value=0.2), lambda cls: made(cls, null_value=0.2)),
    "one-sided": (Traits(alternative="less"), lambda cls: made(cls, alternative="less")),
}

CELLS = [
    (test, row)
    for row, (asked, _) in QUESTIONS.items()
    for test, cls in TESTS.items()
    if row in dict(refusals(cls.needs, asked, test))
    if row != "weights" or "weights" in inspect.signature(cls).parameters
]
"""The tests that refuse a question by their needs, and have an argument for it."""


@pytest.mark.parametrize(("test", "row"), CELLS)
def test_what_needs_do_not_allow_is_refused_before_the_first_fit(test, row, monkeypatch):
    monkeypatch.setattr(LogisticRegression, "fit", None)
    cls, (asked, call) = TESTS[test], QUESTIONS[row]
    with pytest.raises(ValueError, match=r"\w") as refused:
        call(cls)
    _, sentence = next(refusals(cls.needs, asked, cls.__name__))
    assert sentence in str(refused.value)
    with through(RDoor()), pytest.raises(ValueError, match=r"\w") as in_r:
        call(cls)
    assert PYTHON.search(str(in_r.value)) is None


def test_every_row_of_the_table_is_asked():
    named = re.findall(r'yield \(?\s*"(.+?)"', inspect.getsource(refusals))
    assert list(QUESTIONS) == named
    assert {row for _, row in CELLS} == set(named)
    # The only test that refuses clusters is about time, and another row is told of it.
    with pytest.raises(ValueError, match=r"^groups is not supported: uv.SignTest assumes"):
        refuse(Needs(designs=""), Traits(clusters=True), "SignTest")


LEAST = {
    "fixed rules": 13,
    "losses": 1,
    "splits in time": 14,
    "contrast": 14,
    "metric": 8,
    "weights of losses": 8,
    "weights": 4,
    "score of another loss": 4,
    "loss": 4,
    "AUC": 6,
    "score of test sets": 11,
    "one learner": 2,
    "two learners": 2,
    "clusters in time": 1,
    "clusters": 1,
    "score of test sets of clusters": 17,
    "scores of clusters": 4,
    "means alone": 11,
    "null value": 1,
    "one-sided": 1,
}
"""How many tests refuse a question at least: another one can only add to them."""


def test_no_test_takes_what_it_refused():
    found = Counter(row for _, row in CELLS)
    assert {row: number for row, number in LEAST.items() if found[row] < number} == {}


def test_the_tests_of_fixed_rules_are_named():
    fixed = {cls.__name__ for cls in TESTS.values() if cls.needs.fixed}
    assert set(FOR_FIXED_RULES) == fixed


def test_the_tests_that_take_weights_are_named():
    """The others would count all rows alike, and the rows above ask only what a class declares."""
    named = {"ustatistic", "hold_out", "cross_validation_wald", "corrected_t", "bayesian_t"}
    named |= {"naive_t", "conservative_z", "five_by_two_t", "five_by_two_f"}
    assert {test for test, cls in TESTS.items() if cls.needs.weights} == named
