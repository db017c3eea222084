"""Errors are in the words of this package: sizes, kinds of numbers, text, options, JAX's flags."""

import os
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import jax
import numpy as np
import pytest
from sklearn.base import BaseEstimator

import ucvtest as uv
from tests.support.processes import finished
from ucvtest.kernels.permutation import error_bound

pytestmark = pytest.mark.seconds(
    40, reason="starts processes, which import and compile for themselves"
)

X = np.random.default_rng(0).normal(size=(24, 2))
Y = np.arange(24) % 2
LOSSES = uv.evaluate(["lda", "knn:3"], X, Y, 4, rng=0)
RESULT = uv.NaiveTTest.from_losses(LOSSES).fit()
HALF = "a\ud800b"


def with_one(values: np.ndarray, number: float) -> np.ndarray:
    changed = values.copy()
    changed.flat[3] = number
    return changed


@pytest.mark.parametrize(
    "call",
    [
        lambda y: uv.CorrectedTTest(X, y, "ridge:1"),
        lambda y: uv.Losses.from_predictions(y, {"a": X[:, 0]}, loss="squared"),
        lambda y: uv.Losses.from_predictions(X[:, 0], {"a": y}, loss="absolute"),
        lambda y: uv.Losses.from_scores({"a": y}, n_learn=3, n_test=1),
        lambda y: uv.Losses.from_arrays(y[None], np.arange(24)[None] >= 12, loss="squared"),
    ],
)
def test_numbers_whose_squares_are_no_numbers(call):
    with pytest.raises(ValueError, match=r"contains a number of size 1e\+300"):
        call(with_one(X[:, 0], 1e300))


def test_numbers_whose_squares_have_no_variance():
    numbers = X[:, 0] + 1.0
    known, large = (
        uv.CorrectedTTest(X, numbers * unit, "ridge:1", "knn:3").fit(rng=0)
        for unit in (1.0, 2.0**200)
    )
    assert large.pvalue == known.pvalue
    with pytest.raises(ValueError, match=r"y contains a number .* above 1e\+70 overflows"):
        uv.CorrectedTTest(X, numbers * 1e75, "ridge:1")


def test_scores_are_ranked_and_never_squared():
    scores = with_one(X[:, 0], 1e300)
    losses = uv.Losses.from_predictions(Y, {"a": scores, "b": X[:, 1]}, loss="auc")
    assert uv.DeLongTest.from_losses(losses).fit().status == "ok"


class Bare(BaseEstimator):
    def fit(self, X, y):
        self.first_ = np.unique(y)[0]
        return self

    def predict(self, X):
        return np.full(len(X), self.first_)


def test_numbers_of_an_estimator_that_declares_no_kind():
    assert np.isfinite(uv.evaluate(Bare(), X, X[:, 0], 3, rng=0).means).all()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("alpha", lambda number: RESULT.summary(alpha=number)),
        ("alpha", lambda number: RESULT.conf_int(number)),
        ("confidence_level", lambda number: RESULT.confidence_interval(number)),
        ("tol", lambda number: uv.UStatisticTest(X, Y, "lda").fit(tol=number)),
        ("delta", lambda number: error_bound(0.1, 0.1, 9, number)),
    ],
)
def test_numbers_of_a_type_that_nothing_computes_with(name, call):
    said = rf"^{name} must be a finite number between 0 and 1 \(of the type"
    for number in (Fraction(1, 20), Decimal("0.05"), "0.05", np.array(0.05)):
        with pytest.raises(ValueError, match=said):
            call(number)


def test_half_a_surrogate_pair():
    for labels in (np.where(Y > 0, HALF, "c").astype(object), np.where(Y > 0, HALF, "c")):
        with pytest.raises(ValueError, match=r"^y: the \w+ '.*\\ud800b' contains half a surrogate"):
            uv.CorrectedTTest(X, labels, "lda")
    with pytest.raises(ValueError, match=r"^learners: the \w+ '.*\\ud800b' contains half a surr"):
        uv.compare(X, Y, {HALF: "lda", "b": "knn:3"})


FLAGS = {
    "jax_numpy_rank_promotion": "raise",
    "jax_numpy_dtype_promotion": "strict",
    "jax_transfer_guard": "disallow",
    "jax_debug_nans": True,
    "jax_check_tracer_leaks": True,
    "jax_disable_jit": True,
}


@pytest.fixture(params=FLAGS)
def strict(request: pytest.FixtureRequest) -> Iterator[str]:
    before = getattr(jax.config, request.param)
    jax.config.update(request.param, FLAGS[request.param])
    yield request.param
    jax.config.update(request.param, before)


def test_strict_flags_of_jax_change_nothing(strict):
    found = uv.evaluate(["lda", "knn:3", "ridge:1"], X, Y, 4, rng=0)
    assert getattr(jax.config, strict) == FLAGS[strict]
    np.testing.assert_array_equal(found.means[:2], LOSSES.means)


MISSING_PLATFORMS = """
import sys
import numpy as np, ucvtest as uv, jax
from ucvtest.cli.commands import app
from ucvtest.common.exceptions import MissingPlatformError
from ucvtest.kernels.permutation import error_bound
X, y = np.random.default_rng(0).normal(size=(24, 2)), np.arange(24) % 2
calls = [
    lambda: uv.UStatisticTest(X, y, "lda", "majority").fit(n_pairs=9),
    lambda: uv.LeavePairOutTest(X, y, "lda").fit(),
    lambda: uv.select_model(X, y, ["lda", "knn:3"], "kfold"),
]
for platform in ("cuda", "tpu", "rocm", "cuda,tpu"):
    jax.config.update("jax_platforms", platform)
    for call in calls:
        try:
            call()
        except MissingPlatformError as error:
            assert f"is {platform!r}): leave it out, or use 'cpu'" in str(error), error
            assert not str(error).endswith("JAX says: "), error
        else:
            raise SystemExit("no error")
    for command in (["compare", "--other", "majority"], ["select", "--learner", "majority"]):
        status = app([*command, sys.argv[1], "--target", "y", "--learner", "lda"],
                     standalone_mode=False)
        assert status == 2, status
"""


def test_every_platform_that_is_not_there_is_one_error(tmp_path):
    table = tmp_path / "q.csv"
    rows = "".join(f"{i % 5},{i % 3},{i % 2}\n" for i in range(24))
    table.write_text("a,b,y\n" + rows)
    done = finished([sys.executable, "-c", MISSING_PLATFORMS, str(table)])
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert [line[:24] for line in lines if "Error" in line] == ["Error: JAX cannot start "] * 8
    assert "Traceback" not in done.stderr


WITHOUT_JAX = """
import importlib, pkgutil, sys
import numpy as np, ucvtest as uv
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_predict
from ucvtest.cli.commands import app
from ucvtest.common.exceptions import MissingPlatformError
for module in pkgutil.walk_packages(uv.__path__, "ucvtest."):
    if module.name != "ucvtest.__main__":
        importlib.import_module(module.name)
X = np.random.default_rng(0).normal(size=(24, 2))
y = np.arange(24) % 2
folds, learner = KFold(4), LogisticRegression()
found = uv.CorrectedTTest(X, y, learner, design=folds).fit().estimate
assert np.isclose(found, (cross_val_predict(learner, X, y, cv=folds) != y).mean()), found

def unfitted(X_train, y_train, X_test):
    raise SystemExit("fitted before the refusal")

calls = [
    lambda: uv.CorrectedTTest(X, y, unfitted, "lda").fit(),
    lambda: uv.CorrectedTTest(X, y, learner, backend="jax").fit(),
    lambda: uv.FoldCovarianceTest(X, y, unfitted, learner).fit(),
    lambda: uv.UStatisticTest(X, y, unfitted, "lda").fit(n_pairs=200),
    lambda: uv.plan(X, y, unfitted, learner, difference=0.1),
]
for call in calls:
    try:
        call()
    except (MissingPlatformError, ValueError) as error:
        assert "JAX" in str(error) and "cannot be imported" in str(error), error
    else:
        raise SystemExit("no error")
names = ["--target", "y", "--learner", "lda"]
assert app(["compare", sys.argv[1], *names, "--other", "majority"], standalone_mode=False) == 2
rules = ["--target", "y", "--scores", "a,b", "--loss", "auc"]
assert not app(["predictions", sys.argv[1], *rules], standalone_mode=False)
"""


def test_a_machine_on_which_jax_cannot_be_imported(tmp_path):
    (tmp_path / "jax").mkdir()
    stub = "raise RuntimeError('jaxlib was built using AVX')"
    (tmp_path / "jax" / "__init__.py").write_text(stub)
    table = tmp_path / "q.csv"
    table.write_text("a,b,y\n" + "".join(f"{i % 5},{i % 3},{i % 2}\n" for i in range(24)))
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = finished([sys.executable, "-c", WITHOUT_JAX, str(table)], env=env)
    assert done.returncode == 0, done.stderr
    assert "RuntimeError: jaxlib was built using AVX" in done.stderr.splitlines()[-1]


def test_a_reader_who_leaves_early(tmp_path):
    table = tmp_path / "holdout.csv"
    rows = "\n".join(f"{i % 2},{i % 2},{(i // 2) % 2}" for i in range(400))
    table.write_text("died,new,old\n" + rows + "\n")
    options = ["--target", "died", "--scores", "new,old", "--margin", "0.1"]
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "ucvtest", "gate", str(table), *options],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
