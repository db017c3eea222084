"""What raised NumPy's or Python's own errors once, and is refused in our words."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

import ucvtest as uv
from ucvtest.data.groups import as_groups

X = np.random.default_rng(0).normal(size=(24, 2))
Y = np.arange(24) % 2
PAIR = np.ones(2)
GROUPS = as_groups(np.arange(24) % 12, 24)
FOLDS = np.arange(24) % 4 == np.arange(4)[:, None]
DESIGN = uv.designs.Design(~FOLDS, FOLDS)
RANKED = uv.Losses.from_predictions(Y, {"a": X[:, 0], "b": X[:, 1]}, loss="auc")
RESULT = uv.DeLongTest.from_losses(RANKED).fit()
JOINT = uv.compare_losses(RANKED, ["delong"], correction="simultaneous")
SCORED = {
    "test_score": np.full(4, 0.5),
    "indices": {
        "train": [np.flatnonzero(~each) for each in FOLDS],
        "test": [np.flatnonzero(each) for each in FOLDS],
    },
}


class Logger:
    """Logs nowhere."""

    logs_to = "nowhere"
    fitting = fitted = staticmethod(lambda *_: None)


class Silent:
    """A hook that says of no place where it logs."""

    fitting = fitted = staticmethod(lambda *_: None)


@pytest.fixture(autouse=True)
def _one_logger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ucvtest.hooks._hooks", [Logger()])


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "remove_logging": (lambda: uv.hooks.remove_logging(PAIR), "logs_to must be the name"),
    "replace_logging": (lambda: uv.hooks.replace_logging(Silent()), "hook.logs_to must be"),
    "replace_logging, no hook": (lambda: uv.hooks.replace_logging(1), "hook must have the methods"),
    "warn_caller": (lambda: uv.hooks.warn_caller(1), "message must be text"),
    "warn_caller, category": (lambda: uv.hooks.warn_caller("a", int), "class of warnings"),
    "Design": (lambda: uv.designs.Design(None, FOLDS), "learning must be an array of bool"),
    "Design, folds": (lambda: uv.designs.Design(FOLDS, PAIR), "testing must be an array of bool"),
    "check": (lambda: uv.designs.KFold(3).check(24, Y), "groups must be the Groups of 24 rows"),
    "check, rows": (lambda: uv.designs.KFold(3).check(9, GROUPS), "got Groups of 24"),
    "draw": (
        lambda: uv.designs.DisjointSets(3, 3).draw(24, np.random.default_rng(0), "a"),
        "groups must be the Groups of 24 rows",
    ),
    "draw, splitter": (
        lambda: uv.designs.as_design(ShuffleSplit(2), X, Y).draw(24, np.random.default_rng(0), Y),
        "groups must be the Groups of 24 rows",
    ),
    "strata": (
        lambda: uv.designs.KFold(3, stratify=True).draw(24, np.random.default_rng(0), None, X),
        "strata must be the classes of 24 observations",
    ),
    "stratify": (lambda: uv.designs.KFold(3, stratify=PAIR), "stratify must be True, False"),
    "by_groups": (lambda: DESIGN.by_groups(Y), "groups must be the Groups of 24 rows"),
    "check_groups": (lambda: DESIGN.check_groups(Y), "groups must be the Groups of 24 rows"),
    "of_groups": (lambda: DESIGN.of_groups(GROUPS), "Groups of 24 groups, got Groups of 12"),
    "lasso_path": (lambda: uv.learners.lasso_path(10**30), "at most 2000 penalties"),
    "ridge_path": (lambda: uv.learners.ridge_path(10**30), "at most 2000 penalties"),
    "joint_test": (lambda: JOINT.joint_test(PAIR), "joint tests of all learners"),
    "best_set": (lambda: JOINT.best_set(test=PAIR), "does not judge learners together"),
    "of_test": (lambda: JOINT.of_test("hold_out"), "is unknown: use one of delong"),
    "joint": (lambda: uv.DeLongTest.joint(RANKED, group_weight=PAIR), "group_weight="),
    "from_losses": (
        lambda: uv.DeLongTest.from_losses(RANKED, group_weight=PAIR),
        "group_weight=",
    ),
    "from_sklearn": (
        lambda: uv.Losses.from_sklearn({"a": SCORED}, 24, score="accuracy", test_score=[1]),
        "test_score must be a key",
    ),
    "from_mlflow": (lambda: uv.Losses.from_mlflow(None, predictions="a"), "run_id must be a name"),
    "from_predictions": (lambda: uv.Losses.from_predictions(Y, "."), "is a folder: name a file"),
    "plan": (
        lambda: uv.plan(X, Y, "lda", width=0.1, n=np.array(30.0)),
        "n must be an integer",
    ),
    "summary": (lambda: RESULT.summary(with_verdict=PAIR), "with_verdict must be True or False"),
    "summary, comparison": (lambda: JOINT.summary(with_verdict=PAIR), "with_verdict must be"),
    "summary, margins": (
        lambda: RESULT.equivalence(0.4, 0.6).summary(with_verdict=PAIR),
        "with_verdict must be",
    ),
    "auc_ustatistic": (
        lambda: uv.kernels.auc_ustatistic.from_scores([1, [2]], FOLDS, Y),
        "scores cannot be made an array",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


TABLE = np.arange(600.0).reshape(200, 3)
LONG: dict[str, Any] = {
    "table": TABLE,
    "tables by name": {f"name {each}": TABLE for each in range(30)},
    "list": list(range(500)),
    "text": "x" * 5000,
}
NAMING = ("learner", "loss", "metric", "design", "alternative", "null_value", "backend")
FITTING = ("n_pairs", "variance", "tol", "interval", "rng", "n_jobs", "batch_size", "max_seconds")
CALLS: dict[str, Callable[[Any], Any]] = {
    **{name: lambda value, name=name: _test(**{name: value}) for name in NAMING},
    **{f"fit, {name}": lambda value, name=name: _test().fit(**{name: value}) for name in FITTING},
    "permutations": lambda value: uv.PermutationComplexityTest(X, Y, "lda").fit(
        n_permutations=value
    ),
    "compare": lambda value: uv.compare(X, Y, {"a": "lda", "b": value}),
    "compare, tests": lambda value: uv.compare(X, Y, ["lda", "knn:3"], tests=value),
    "baseline": lambda value: uv.compare_losses(RANKED, ["delong"], baseline=value),
    "from_losses, learner": lambda value: uv.DeLongTest.from_losses(RANKED, value),
    "evaluate, loss": lambda value: uv.evaluate("lda", X, Y, loss=value),
}


def _test(learner: Any = "lda", design: Any = None, **arguments: Any) -> Any:
    if design is not None:
        return uv.CorrectedTTest(X, Y, learner, "knn:3", design=design)
    return uv.UStatisticTest(X, Y, learner, "knn:3", **arguments)


@pytest.mark.parametrize("value", LONG.values(), ids=LONG)
@pytest.mark.parametrize("name", CALLS)
def test_messages_quote_the_start_of_what_came(name: str, value: Any) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        CALLS[name](value)
    message = str(caught.value)
    assert len(message) < 800
    assert message.count("\n") <= 2
