"""Errors are in the words of this package: sizes, kinds of numbers, text, options, JAX's flags."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import jax
import numpy as np
import pytest
from sklearn.base import BaseEstimator

import ucvtest as uv
from tests.support.processes import finished
from ucvtest.common.exceptions import MissingPlatformError
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


@pytest.mark.parametrize("learner", ["lda", "ridge:1", "knn:3", "kernel_ridge:1.0"])
@pytest.mark.parametrize("number", [1e300, -1e200])
def test_features_whose_squares_are_no_numbers(learner, number):
    with pytest.raises(ValueError, match=r"X contains a number of size 1e\+[23]00"):
        uv.CorrectedTTest(with_one(X, number), Y, learner)


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


@pytest.mark.parametrize("number", [Fraction(1, 20), Decimal("0.05")])
@pytest.mark.parametrize(
    "call",
    [
        lambda a: RESULT.conf_int(alpha=a),
        lambda a: RESULT.verdict_at(a),
        lambda a: RESULT.confidence_interval(1 - a),
        lambda a: RESULT.noninferiority(0.1, alpha=a),
        lambda a: RESULT.equivalence(-a, a),
        lambda a: uv.CorrectedTTest(X, Y, "lda", null_value=a),
    ],
)
def test_fractions(number, call):
    with pytest.raises(ValueError, match=r"Fraction|Decimal"):
        call(number)


class Bare(BaseEstimator):
    def fit(self, X, y):
        self.first_ = np.unique(y)[0]
        return self

    def predict(self, X):
        return np.full(len(X), self.first_)


class Tagless:
    fit, predict = Bare.fit, Bare.predict

    def get_params(self, deep=True):
        return {}

    def set_params(self, **parameters):
        return self


class Old(Tagless):
    _estimator_type = "classifier"


@pytest.mark.parametrize("kind", [Bare, Tagless, Old])
def test_estimators_that_declare_no_kind(kind):
    labels = np.where(Y > 0, "case", "control")
    found = uv.evaluate(kind(), X, labels, 3, rng=0)
    assert found.means.mean() == pytest.approx(np.mean(labels == "control"), abs=0.1)


def test_numbers_of_an_estimator_that_declares_no_kind():
    assert np.isfinite(uv.evaluate(Bare(), X, X[:, 0], 3, rng=0).means).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: uv.CorrectedTTest(X, np.where(Y > 0, HALF, "c").astype(object), "lda"),
        lambda: uv.CorrectedTTest(X, np.where(Y > 0, HALF, "c"), "lda"),
        lambda: uv.compare(X, Y, {HALF: "lda", "b": "knn:3"}),
        lambda: uv.Losses.from_predictions(Y, {HALF: Y}),
        lambda: uv.Losses.from_arrays(X.T, np.eye(24)[:2], learners=[HALF]),
    ],
)
def test_half_a_surrogate_pair(call):
    with pytest.raises(
        ValueError, match=r"^(y|learners): the \w+ '.*\\ud800b' contains half a surrogate pair"
    ):
        call()


@pytest.mark.parametrize(
    "number", [Fraction(1, 20), Decimal("0.05"), "0.05", np.array(0.05)], ids=repr
)
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
def test_numbers_of_a_type_that_nothing_computes_with(name, call, number):
    with pytest.raises(ValueError, match=rf"^{name} must be a number such as 0\.\d+ \(of the type"):
        call(number)


OPTIONS: dict[str, tuple[Callable[[], Any], str]] = {
    "sample_weight": (
        lambda: uv.CorrectedTTest(X, Y, "lda", sample_weight=1),
        r"CorrectedTTest\(\) has no option 'sample_weight': rows are weighted by",
    ),
    "fit_params": (
        lambda: uv.CorrectedTTest(X, Y, "lda", fit_params={}),
        r"CorrectedTTest\(\) has no option 'fit_params': rows are weighted by weights=",
    ),
    "random_state": (
        lambda: uv.UStatisticTest(X, Y, "lda", random_state=1),
        r"UStatisticTest\(\) has no option 'random_state': .* rng=",
    ),
    "fit": (
        lambda: uv.CorrectedTTest(X, Y, "lda").fit(random_state=1),
        r"CorrectedTTest\.fit\(\) has no option 'random_state'",
    ),
    "inherited": (
        lambda: uv.NaiveTTest(X, Y, "lda", desing=3),
        r"NaiveTTest\(\) has no option 'desing': did you mean design",
    ),
    "compare": (
        lambda: uv.compare(X, Y, ["lda", "knn:3"], alternativ="less"),
        r"compare\(\) has no option 'alternativ': did you mean alternative",
    ),
    "compare_losses": (
        lambda: uv.compare_losses(LOSSES, ["naive_t"], corection="holm"),
        r"did you mean correction",
    ),
    "plan": (lambda: uv.plan(X, Y, "lda", widht=0.1), r"plan\(\) .* did you mean width"),
    "advise": (lambda: uv.advise(50, n_fit=3), r"advise\(\) .* did you mean n_fits"),
    "evaluate": (lambda: uv.evaluate("lda", X, Y, seed=0), r"evaluate\(\) .* rng="),
    "from_arrays": (
        lambda: uv.Losses.from_arrays(X, X, los=1),
        r"Losses\.from_arrays\(\) .* did you mean loss",
    ),
    "from_predictions": (
        lambda: uv.Losses.from_predictions(Y, {"a": Y}, poslabel=1),
        r"Losses\.from_predictions\(\) .* did you mean pos_label",
    ),
    "from_scores": (
        lambda: uv.Losses.from_scores({"a": [1]}, ntest=1),
        r"Losses\.from_scores\(\) .* did you mean n_test",
    ),
    "from_losses": (
        lambda: uv.CorrectedTTest.from_losses(LOSSES, alternatve="less"),
        r"CorrectedTTest\.from_losses\(\) .* did you mean alternative",
    ),
    "nothing near": (
        lambda: uv.evaluate("lda", X, Y, zzz=0),
        r"evaluate\(\) has no option 'zzz': it has .*design",
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_do_not_exist(name):
    call, message = OPTIONS[name]
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: uv.NaiveTTest(X), r"^NaiveTTest\(\): missing a required argument: 'y'"),
        (lambda: uv.compare(X), r"^compare\(\): missing a required argument: 'y'"),
        (
            lambda: uv.McNemarTest.from_losses(),
            r"^McNemarTest\.from_losses\(\): missing a required argument: 'losses'",
        ),
        (
            lambda: uv.Losses.from_scores({"a": [1]}),
            r"^Losses\.from_scores\(\): missing a required argument: 'n_learn'",
        ),
    ],
)
def test_arguments_that_are_missing(call, message):
    with pytest.raises(TypeError, match=message):
        call()


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


@pytest.mark.parametrize("learner", ["knn:3", "ridge:1"])
def test_strict_flags_of_jax_change_nothing(strict, learner):
    found = uv.evaluate(["lda", learner], X, Y, 4, rng=0)
    assert getattr(jax.config, strict) == FLAGS[strict]
    np.testing.assert_array_equal(found.means[0], LOSSES.means[0])


def test_a_platform_that_is_not_there():
    code = "import numpy as np, ucvtest as uv; uv.evaluate('ridge:1', np.eye(9), np.arange(9), 3)"
    env = {**os.environ, "JAX_PLATFORMS": "nowhere"}
    done = finished([sys.executable, "-c", code], env=env)
    assert f"{MissingPlatformError.__name__}: JAX cannot start" in done.stderr
    assert "use 'cpu'" in done.stderr


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
    lambda: uv.UStatisticTest(X, y, unfitted, learner).fit(n_pairs=200),
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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("estimate", "x"),
        ("n_obs", 1.5),
        ("method", 3),
        ("notes", "text"),
        ("settings", [1]),
        ("pvalue", None),
        ("status", {}),
    ],
)
def test_fields_of_another_type(name, value):
    with pytest.raises(ValueError, match=f"data contains no result that can be used: {name} is of"):
        uv.TestResult.from_dict(RESULT.to_dict() | {name: value})
