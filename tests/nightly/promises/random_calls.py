"""Random calls of a user's kind: odd labels, estimators, numbers, options, budgets, dictionaries.

``python -m tests.nightly.promises.random_calls 20000 --seed 1`` is the long run, of about an hour;
calls that end in an exception which is not the package's own are printed with their number.
`make nightly` runs a few hundred of them (test_random_calls.py). Call number i of a seed is always
the same.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ucvtest as uv
from tests.core.promises.own_errors import is_own

N = 24
X = np.random.default_rng(0).normal(size=(N, 2))
Y = np.arange(N) % 2
TIMES = np.column_stack([np.arange(1.0, N + 1), Y])
SURVIVAL = np.array(
    [(bool(event), time) for time, event in TIMES], dtype=[("event", "?"), ("time", "f8")]
)


class Bare(BaseEstimator):
    """Declares nothing, and predicts the smallest label."""

    def fit(self, X: Any, y: Any) -> "Bare":
        self.first_ = np.unique(y)[0]
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.full(len(X), self.first_)


def _with_one(values: np.ndarray, number: float) -> np.ndarray:
    changed = values.astype(float)
    changed.flat[3] = number
    return changed


RESPONSES: list[Any] = [
    Y,
    Y + 1,
    1 - 2 * Y,
    Y > 0,
    np.where(Y > 0, "case", "control"),
    pd.Categorical(np.where(Y > 0, "a", "b"), categories=["b", "a"], ordered=True),
    pd.Series(Y, index=np.arange(N)[::-1]),
    np.arange(N) % 3,
    [Fraction(each, 2) for each in Y.tolist()],
    np.where(Y > 0, "a\ud800", "b").astype(object),
    SURVIVAL,
    TIMES,
    pd.to_timedelta(TIMES[:, 0], unit="D"),
    X[:, 0],
    _with_one(X[:, 0], 1e300),
    np.zeros(N),
]
FEATURES: list[Any] = [X, pd.DataFrame(X, columns=["a", "b"]), _with_one(X, 1e300), X * 1e-200]
LEARNERS: list[Any] = [
    *("lda", "knn:3", "ridge:1", "majority", "nope", "knn:-1"),
    LogisticRegression(solver="nope"),
    LogisticRegression(C=0),
    LogisticRegression(l1_ratio=1.0),
    make_pipeline(StandardScaler(with_mean="x"), LogisticRegression()),
    KNeighborsClassifier(algorithm="nope"),
    DummyClassifier(strategy="nope"),
    Ridge(alpha=Decimal(-1)),
    Bare(),
    {"a\ud800": "lda"},
]
LOSSES: list[Any] = [
    *(None, "zero_one", "log", "squared", "absolute", "auc", "accuracy", "nope"),
    [[0, 1], [1, 0]],
    [[0, 3], [1, 0]],
    np.full((3, 3), -1.0),
]
SCORING: list[Any] = [
    *(None, "accuracy", "roc_auc", "f1", "recall", "r2", "neg_log_loss", "-accuracy"),
    *("neg_root_mean_squared_error", "neg_mean_squared_error", "nope"),
]
POSITIVE: list[Any] = [None, 0, 1, 2, "case", "control", True, 1.0, "nope", Fraction(1, 2)]
NUMBERS: list[Any] = [0.05, Fraction(1, 20), Decimal("0.05"), 1e300, -1e300, np.float32(0.1), 0, 1]
MISSPELT = ["random_state", "sample_weight", "alternativ", "los", "scorings", "n_job", "max_second"]
BUDGETS: list[Any] = [1, 2, 7, 40, 399, 1000]
SECONDS: list[Any] = [None, 1e-3, 0.01, 1e-9, 0, -1, Fraction(1, 100)]
TESTS: list[str] = ["corrected_t", "naive_t", "hold_out", "mcnemar", "delong", "ustatistic"]

RULES = uv.Losses.from_predictions(Y, {"a": Y[::-1], "b": (np.arange(N) // 2) % 2})
RESULT = uv.McNemarTest.from_losses(RULES).fit()
SAVED: list[tuple[Callable[[Any], Any], dict[str, Any]]] = [
    (uv.TestResult.from_dict, RESULT.to_dict()),
    (uv.NoninferiorityResult.from_dict, RESULT.noninferiority(0.1).to_dict()),
    (uv.Losses.from_dict, RULES.to_dict()),
    (uv.Comparison.from_dict, uv.compare_losses(RULES, ["mcnemar"]).to_dict()),
]
DAMAGE: list[Any] = [None, "x", 1, 1.5, True, [], {}, [1, "a"], {"float": "x"}, {"a": {}}]

Call = tuple[str, Callable[[], Any]]


class Draw:
    """What one call draws."""

    def __init__(self, seed: int, number: int) -> None:
        self.rng = np.random.default_rng([seed, number])

    def one(self, values: list[Any]) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def rarely(self, values: list[Any], usual: Any) -> Any:
        """Mostly what is usual, so that a call is refused for one reason at a time."""
        return self.one(values) if self.rng.random() < 0.4 else usual

    def seldom(self, values: list[Any], usual: Any) -> Any:
        """Nearly always what is usual, so that many draws together are mostly valid."""
        return self.one(values) if self.rng.random() < 0.06 else usual


def _data(draw: Draw) -> dict[str, Any]:
    given = {"X": draw.rarely(FEATURES, X), "y": draw.rarely(RESPONSES, Y)}
    options = {
        "loss": draw.rarely(LOSSES, None),
        "pos_label": draw.rarely(POSITIVE, None),
        "scoring": draw.rarely(SCORING, None),
        draw.one(MISSPELT): 1,
    }
    return given | {name: each for name, each in options.items() if draw.rarely([True], False)}


def fitted(draw: Draw) -> Any:
    """A test made from data, its budget, and what is asked of the result."""
    learners = [draw.rarely(LEARNERS, "lda"), draw.rarely(LEARNERS, "majority")]
    name = draw.one(["CorrectedTTest", "UStatisticTest", "HoldOutTest", "McNemarTest"])
    asked = getattr(uv, name)(*_data_first(draw, learners))
    more = {}
    if name == "UStatisticTest":
        more = {draw.one(["n_pairs", "max_fits"]): draw.one(BUDGETS)}
        more["max_seconds"] = draw.rarely(SECONDS, None)
    result = asked.fit(rng=0, **more)
    return result.summary(alpha=draw.rarely(NUMBERS, 0.1)).as_text()


def _data_first(draw: Draw, learners: list[Any]) -> list[Any]:
    return [draw.rarely(FEATURES, X), draw.rarely(RESPONSES, Y), *learners]


def evaluated(draw: Draw) -> Any:
    learners = [draw.rarely(LEARNERS, "lda"), draw.rarely(LEARNERS, "majority")]
    data = _data(draw)
    return str(uv.evaluate(learners, data.pop("X"), data.pop("y"), 3, rng=0, **data))


def compared(draw: Draw) -> Any:
    learners = [draw.rarely(LEARNERS, "lda"), draw.rarely(LEARNERS, "majority")]
    options = _data(draw) | {"tests": [draw.one(TESTS[:4])], "rng": 0}
    if draw.rarely([True], False):
        options = {**options, "max_seconds": draw.one(SECONDS)}
    if draw.rarely([True], False):
        bounded = uv.TestSpec("ustatistic", fit={"max_fits": draw.one(BUDGETS)})
        options = {**options, "tests": [bounded]}
    return str(uv.compare(learners=learners, **options).summary())


def predicted(draw: Draw) -> Any:
    y = draw.rarely(RESPONSES, Y)
    rules = {"a": draw.rarely(RESPONSES, Y), "b": draw.one([X[:, 0], Y, np.abs(X[:, 0]) % 1])}
    options = {"loss": draw.one(LOSSES), "pos_label": draw.rarely(POSITIVE, None)}
    losses = uv.Losses.from_predictions(y, rules, **options)
    return str(uv.compare_losses(losses, [draw.one(TESTS)]).summary())


def judged(draw: Draw) -> Any:
    numbers = [draw.one(NUMBERS) for _ in range(3)]
    return draw.one(
        [
            lambda: RESULT.conf_int(alpha=numbers[0]),
            lambda: str(RESULT.noninferiority(numbers[0], alpha=numbers[1]).summary()),
            lambda: str(RESULT.equivalence(numbers[0], numbers[1], alpha=numbers[2]).summary()),
            lambda: uv.plan(RULES, learner="a", other="b", difference=numbers[0], n=30).to_json(),
            lambda: str(uv.advise(draw.one(BUDGETS), draw.one(BUDGETS + NUMBERS))),
        ]
    )()


def read(draw: Draw) -> Any:
    """A dictionary of which one field, at any depth, was damaged."""
    from_dict, given = draw.one(SAVED)
    found = from_dict(_damaged(given, draw))
    return str(found), str(found.summary()) if hasattr(found, "summary") else ""


def _damaged(value: Any, draw: Draw) -> Any:
    if isinstance(value, dict) and value and draw.one([True, True, False]):
        key = draw.one(sorted(value, key=str))
        return {**value, key: _damaged(value[key], draw)}
    if isinstance(value, list) and value and draw.one([True, True, False]):
        place = draw.one(list(range(len(value))))
        return [*value[:place], _damaged(value[place], draw), *value[place + 1 :]]
    return draw.one(DAMAGE)


KINDS = (fitted, evaluated, compared, predicted, judged, read)


def foreign(n_calls: int, seed: int) -> Iterator[tuple[int, str, BaseException]]:
    """The calls that end in an exception which is not the package's own."""
    for number in range(n_calls):
        kind = KINDS[number % len(KINDS)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                kind(Draw(seed, number))
            except (ValueError, TypeError) as error:
                if not is_own(error):
                    yield number, kind.__name__, error
            except Exception as error:
                yield number, kind.__name__, error


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Random calls; prints foreign exceptions.")
    parser.add_argument("n_calls", type=int)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    n_found = 0
    for number, kind, error in foreign(asked.n_calls, asked.seed):
        n_found += 1
        sys.stdout.write(f"{number} {kind}: {type(error).__name__}: {ascii(error)[:300]}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{asked.n_calls} calls, {n_found} foreign exceptions\n")
    sys.exit(n_found > 0)
