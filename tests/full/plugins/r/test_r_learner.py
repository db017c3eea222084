"""R functions as learners in Python, on the thread of R."""

import gc
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from ucvtest_r import RConditionError, RLearner, RWarning, interrupts, session
from ucvtest_r.conditions import r_condition
from ucvtest_r.functions import FUNCTIONS
from ucvtest_r.learners import call_r
from ucvtest_r.thread import import_rinterface, on_r_thread

import ucvtest as uv
from tests.support.processes import LIMIT, finished
from tests.support.samples import patients
from ucvtest.methods.ustatistic import one_by_one

RNG = np.random.default_rng(11)
X = RNG.normal(size=(60, 4))
LABELS = np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * RNG.normal(size=60) > 0.8, "case", "control")
AMOUNTS = X @ [1.0, -0.5, 0.0, 0.2] + RNG.normal(size=60)

pytestmark = [pytest.mark.requires_r, pytest.mark.seconds(120, reason="sessions of R")]


def estimate(learner: object, other: object = None, *, y: object = LABELS, **kwargs: object):
    fit = {name: kwargs.pop(name) for name in ("n_jobs", "rng") if name in kwargs}
    test = uv.UStatisticTest(X, y, learner, other, **kwargs)
    return test.fit(n_pairs=8, **({"rng": 0} | fit))


def test_learners_of_r_learn_survival_times() -> None:
    pytest.importorskip("rpy2")
    sample = patients(60)
    x, y = sample.matrix, sample.survival_times
    halves = [(np.flatnonzero(side), np.flatnonzero(~side)) for side in (X[:, 0] > 0, X[:, 1] > 0)]

    def values(learner: object, metric: object, response: object = y) -> np.ndarray:
        return uv.evaluate(learner, x, response, halves, metric=metric, rng=0).predictions

    by_hand = RLearner(
        "function(x, y, xnew) predict(survival::coxph(y ~ x[, 1] + x[, 2] + x[, 3]), "
        "list(x = xnew))"
    )
    learnt = values(RLearner("survival::coxph"), "harrell")
    expected = values("cox", "harrell")
    assert values(by_hand, "harrell").shape == learnt.shape
    sizes = np.cumsum([len(testing) for _, testing in halves])[:-1]
    for found, known in zip(
        *(np.split(each[0], sizes) for each in (learnt, expected)), strict=True
    ):
        np.testing.assert_allclose(found - found.mean(), known - known.mean(), atol=1e-7)
    for metric in (uv.metrics.brier(10), uv.metrics.integrated_brier([5, 10])):
        found = values(RLearner("survival::coxph"), metric)
        np.testing.assert_allclose(found, values("cox", metric), atol=1e-7)
    # Another response of the same features is learnt anew.
    turned = uv.survival(y.time[::-1], y.event[::-1])
    assert not np.allclose(values(RLearner("survival::coxph"), "harrell", turned), learnt)
    result = uv.UStatisticTest(x, y, RLearner("survival::coxph"), "cox", metric="uno")
    assert abs(result.fit(max_fits=24, variance="few", rng=0).estimate) < 1e-9


# glmnet warns of classes with fewer than 8 observations, which some learning sets have.
@pytest.mark.filterwarnings("ignore:learner glmnet.* dangerous ground")
@pytest.mark.parametrize(("lam", "loss"), [(0.1, "zero_one"), (0.02, "log"), (0.5, "squared")])
def test_glmnet_and_the_jitted_lasso_give_the_same_test(lam: float, loss: str) -> None:
    # At 0.5 nothing enters and the majority is predicted: ties between the classes included.
    # Both solve to a tolerance: labels agree exactly, losses as far as glmnet's thresh allows.
    options = {"loss": loss, "learn_size": 26}
    r_learner = RLearner("glmnet", s=lam, thresh=1e-14)
    ours, theirs = (estimate(each, **options) for each in (uv.learners.lasso(lam), r_learner))
    tolerance = {} if loss == "zero_one" else {"rtol": 1e-6}
    numbers = [[r.estimate, r.se, r.variance] for r in (ours, theirs)]
    np.testing.assert_allclose(*numbers, **({"rtol": 1e-12} | tolerance))
    assert theirs.settings["backend"] == "R"


def r_labels(code: str) -> RLearner:
    return RLearner(f"function(x, y, xnew) {{ {code} }}")


PROBABILITIES = {
    "glmnet": {"s": 0.05},
    "ranger": {"num_trees": 30},
    "randomForest": {"ntree": 30},
    "e1071::svm": {},
    "MASS::lda": {},
    "MASS::qda": {},
}


@pytest.mark.parametrize("name", PROBABILITIES)
def test_probabilities_and_scores_are_those_of_the_positive_class(name: str) -> None:
    learner = RLearner(name, **PROBABILITIES[name])
    y = np.where(X[:, 0] > 0, "a", "b")  # "b" is positive, and goes with small values
    sample = uv.UStatisticTest(X, y, "lda").sample
    learning, testing = np.arange(40), np.arange(40, 60)
    truth = sample.class_index[testing]
    for output in ("probability", "number", "score"):
        values = learner.fit_predict(sample, learning, testing, output, seed=1)
        assert values[truth == 1].mean() > values[truth == 0].mean() + 0.2, output


@pytest.mark.parametrize(
    ("y", "answer"),
    [
        (np.where(LABELS == "case", 2, 1), "as.integer(levels(y))[1]"),
        (np.where(LABELS == "case", 2, 1), "levels(y)[1]"),
        (LABELS == "control", "y[y == 'False'][1]"),
        (np.array(["a", "b", "c"] * 20), "'a'"),
    ],
)
def test_labels_of_any_type_and_number(y: np.ndarray, answer: str) -> None:
    first = r_labels(f"rep({answer}, nrow(xnew))")
    expected = float(np.mean(y != np.unique(y)[0]))
    result = uv.UStatisticTest(X, y, first, learn_size=25).fit(n_pairs=100, rng=0)
    assert result.estimate == pytest.approx(expected, abs=0.06)


def test_data_frames_keep_their_columns_and_categories() -> None:
    frame = pd.DataFrame({"age": X[:, 0], "sex": np.where(X[:, 1] > 0, "m", "f")})
    check = r_labels(
        "stopifnot(is.data.frame(x), identical(names(x), c('age', 'sex')), is.factor(xnew$sex),"
        " identical(levels(xnew$sex), c('f', 'm'))); rep(y[1], nrow(xnew))"
    )
    uv.UStatisticTest(frame, LABELS, check).fit(n_pairs=20, rng=0)
    named = r_labels("stopifnot(identical(colnames(x), 'age')); rep(y[1], nrow(xnew))")
    uv.UStatisticTest(frame[["age"]], LABELS, named).fit(n_pairs=20, rng=0)


def test_learners_of_numbers_get_dummies_of_categories() -> None:
    towns = np.array(list("abcd"))[np.arange(60) * 7 % 11 % 4]
    frame = pd.DataFrame({"age": X[:, 0], "town": towns, "country": "same"})
    dummies = pd.get_dummies(frame[["age", "town"]], drop_first=True, dtype=float)
    y = np.where((towns == "b") | (towns == "d") | (X[:, 0] > 1), "case", "control")
    for learner in (RLearner("glmnet", s=0.01), RLearner("MASS::lda")):
        ours, expected = (
            uv.HoldOutTest(x, y, learner).fit(rng=0).estimate for x in (frame, dummies)
        )
        assert ours == expected < 0.4


def test_other_labels_than_the_sample_are_learnt() -> None:
    from dataclasses import replace

    learner = RLearner("MASS::lda")
    sample = uv.UStatisticTest(X, LABELS, learner).sample
    exchanged = sample.class_index[::-1].copy()
    permuted = replace(sample, class_index=exchanged, response=sample.classes[exchanged])
    fresh = uv.UStatisticTest(X, permuted.response, learner).sample
    rows = np.arange(40), np.arange(40, 60)
    first, second, third = (
        learner.fit_predict(each, *rows, "score", 0) for each in (sample, permuted, fresh)
    )
    np.testing.assert_array_equal(second, third)
    assert not np.array_equal(first, second)


def test_the_seed_decides_the_random_numbers_and_leaves_those_of_r_alone() -> None:
    forest = RLearner("randomForest", ntree=5)
    before = on_r_thread(lambda: list(import_rinterface().evalr("set.seed(1); .Random.seed")))
    assert estimate(forest, rng=1).estimate == estimate(forest, rng=1).estimate
    assert estimate(forest, rng=1).estimate != estimate(forest, rng=2).estimate
    after = on_r_thread(lambda: list(import_rinterface().evalr(".Random.seed")))
    assert before == after


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_r_runs_on_one_thread_whatever_n_jobs_says(backend: str) -> None:
    learner = r_labels("threads[[length(threads) + 1]] <<- Sys.getpid(); rep(y[1], nrow(xnew))")
    on_r_thread(lambda: import_rinterface().evalr("threads <- list(); 0")[0])
    with parallel_config(backend=backend):
        many = estimate(learner, n_jobs=4)
    pids = on_r_thread(
        lambda: list(import_rinterface().evalr("c(unique(unlist(threads)), length(threads))"))
    )
    assert pids == [os.getpid(), many.n_fits]
    assert many.estimate == estimate(learner).estimate


def test_the_environment_of_child_processes_stays_as_it_was() -> None:
    code = (
        "import os; names = {'LD_LIBRARY_PATH', 'R_SESSION_INITIALIZED'};"
        "before = {name: os.environ.get(name) for name in names};"
        "from ucvtest_r.thread import on_r_thread; on_r_thread(lambda: None);"
        "assert {name: os.environ.get(name) for name in names} == before, dict(os.environ)"
    )
    environment = os.environ | {"LD_LIBRARY_PATH": "/opt/lib"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_learners_travel() -> None:
    learner = pickle.loads(pickle.dumps(RLearner("glmnet", s=0.1)))
    assert learner.name == "glmnet(s=0.1)"
    assert estimate(learner).estimate == estimate(RLearner("glmnet", s=0.1)).estimate


THREE = np.array(["a", "b", "c"] * 20)
NO_NAMES = "function(x, y, xnew) matrix(1/3, nrow(xnew), 3)"
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: RLearner(3), "function must be the name of an R function .*, got 3"),
    (
        lambda: estimate(RLearner("nowhere::fit")),
        "'nowhere' is not installed: run install.packages",
    ),
    (lambda: estimate(RLearner("no_such_function")), "no function 'no_such_function': write it as"),
    (lambda: estimate(RLearner("MASS::no_such")), "no function 'MASS::no_such': write it as"),
    (
        lambda: estimate(RLearner("function(x, y, xnew")),
        "cannot be used: .*unexpected end of input",
    ),
    (lambda: estimate(r_labels("stop('nothing')")), "split 0: RConditionError: nothing$"),
    (
        lambda: estimate(r_labels("y[1:3]")),
        "returned 3 predictions for 31 rows of xnew: return one",
    ),
    (
        lambda: estimate(r_labels("rep('rose', nrow(xnew))")),
        "rose, but the labels are case, control",
    ),
    (lambda: estimate(r_labels("rep(NA, nrow(xnew))")), "it returned NA: return a prediction"),
    (lambda: estimate(r_labels("list()")), r"no vector: return .*predict\(fit, xnew\)\$class"),
    (lambda: estimate(RLearner("MASS::lda"), y=AMOUNTS), "needs class labels, but y contains real"),
    (
        lambda: estimate(RLearner("MASS::lda"), y=THREE, loss="squared"),
        "with this loss needs two classes, but y has 3",
    ),
    (lambda: estimate(RLearner(NO_NAMES), y=THREE, loss="log"), "a probability of each class"),
    (lambda: estimate(RLearner("glmnet")), "glmnet needs the penalty to predict with"),
]


def test_what_r_or_a_learner_cannot_do_is_refused() -> None:
    for call, message in REFUSED:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError) as error:
        estimate(r_labels("stop(errorCondition('x', class = 'mine'))"))
    cause = error.value.__cause__
    assert isinstance(cause, RConditionError)
    assert cause.classes == ("mine", "error", "condition")


def test_warnings_of_r_are_python_warnings() -> None:
    with pytest.warns(RWarning, match="^learner R function: not converged$"):
        estimate(r_labels("warning('not converged'); rep(y[1], nrow(xnew))"))


def fit_until_interrupted(test: uv.UStatisticTest) -> uv.TestResult:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    return test.fit(n_pairs=10**6, variance="clipped", rng=0)


@pytest.mark.parametrize("code", ["Sys.sleep(3600)", "repeat NULL", "rep(y[1], nrow(xnew))"])
def test_ctrl_c_ends_what_r_does_and_r_survives(code: str) -> None:
    learner = r_labels(code)
    test = uv.UStatisticTest(X, LABELS, learner)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    started = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            fit_until_interrupted(test)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - started < LIMIT  # without the interrupt, an hour or for ever
    assert estimate(RLearner("MASS::lda")).status


STOPPED = """
n <- getOption('ucvtest.fits', 0) + 1
options(ucvtest.fits = n)
if (n == 12) signalCondition(structure(list(), class = c('interrupt', 'condition')))
rep(y[n], nrow(xnew))
"""


def test_ctrl_c_in_r_answers_with_the_fits_that_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    # Every look takes long, so that steps are of one pair.
    monkeypatch.setattr(one_by_one, "CLOCK", itertools.count(0, 10).__next__)
    result = uv.UStatisticTest(X, LABELS, r_labels(STOPPED)).fit(12, "few", rng=0)
    assert result.status == "interrupted after 10 of 24 fits"
    assert estimate(RLearner("MASS::lda")).status == "ok"


ONCE = """
n <- getOption('ucvtest.calls', 0) %%%% 24 + 1
options(ucvtest.calls = n)
if (n == 10) %s
rep(y[n], nrow(xnew))
"""


def test_what_r_cannot_return_is_no_bad_luck() -> None:
    import_rinterface().evalr("options(ucvtest.calls = NULL)")
    unreadable = uv.UStatisticTest(X, LABELS, r_labels(ONCE % "return(y[1:3])"))
    with pytest.raises(ValueError, match="split 9: ValueError: it returned 3 predictions"):
        unreadable.fit(12, "few", rng=0)
    import_rinterface().evalr("options(ucvtest.calls = NULL)")
    failing = uv.UStatisticTest(X, LABELS, r_labels(ONCE % "stop('singular')"))
    result = failing.fit(12, "few", rng=0)
    assert result.diagnostics["n_failed_pairs"] == 1
    assert any("failed on split 9: RConditionError: singular" in note for note in result.notes)


def test_r_functions_run_on_the_thread_of_r_only() -> None:
    raised: list[str] = []

    def elsewhere() -> None:
        for use in (lambda: call_r(None), lambda: on_r_thread(list)):
            with pytest.raises(RuntimeError) as error:
                use()
            raised.append(str(error.value))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    only = "R functions run on R's own thread only"
    assert raised == [only, f"{only}, the main one: call fit() there"]


def test_an_interrupt_outside_the_handlers_of_r_is_one() -> None:
    from rpy2.rinterface_lib.embedded import RRuntimeError

    def interrupted() -> None:
        raise RRuntimeError("whatever R printed last")

    with pytest.raises(KeyboardInterrupt):
        call_r(interrupted)


def run_python(code: str, **environment: str) -> str:
    done = finished([sys.executable, "-c", code], env=os.environ | environment)
    return f"{done.stdout}{done.stderr.strip().splitlines()[-1:]} {done.returncode}"


OTHER_CODE_STARTS_R = """
import numpy as np, ucvtest as uv, rpy2.rinterface as ri
from ucvtest_r import RLearner
ri.initr()
first = ri.evalr("function(x, y, xnew) rep(y[1], nrow(xnew))")
X = np.random.default_rng(0).normal(size=(40, 2))
test = uv.UStatisticTest(X, np.arange(40) % 2, RLearner(first))
print(test.fit(n_pairs=20, rng=0, n_jobs=2).n_fits)
"""


def test_functions_of_rpy2_are_learners() -> None:
    assert run_python(OTHER_CODE_STARTS_R) == "40\n[] 0"


def write_modules(folder: Path, **sources: str) -> str:
    for name, source in sources.items():
        package = folder / name.replace("__", "/")
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(source)
    return f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"


START = "from ucvtest_r.thread import import_rinterface as start; start()"


def test_an_rpy2_for_another_r_is_said(tmp_path: Path) -> None:
    broken = "raise ImportError('undefined symbol: R_getVar')"
    path = write_modules(tmp_path, rpy2="", rpy2__rinterface=broken)
    version = subprocess.run(["R", "--version"], capture_output=True, text=True).stdout.split()[2]
    assert run_python(START, PYTHONPATH=path) == (
        f"['ImportError: rpy2 does not fit R version {version} (undefined symbol: R_getVar): with "
        "R before 4.5 run  pip install --force-reinstall --no-cache-dir rpy2==3.6.6 "
        "rpy2-rinterface==3.6.5  and with a newer R  pip install --upgrade rpy2 "
        "rpy2-rinterface'] 1"
    )


@pytest.fixture
def ctrl_c_is_the_bridges() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    interrupts.take_over()
    yield
    signal.signal(signal.SIGINT, before)


class InterruptedWhenFreed:
    """Ctrl-C at the worst time: Python reports what a finalizer raises, and goes on."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def interrupted_finalizer() -> None:
    InterruptedWhenFreed()


def interrupted_weak_reference() -> None:
    value = np.zeros(1)
    reference = weakref.ref(value, lambda _: signal.raise_signal(signal.SIGINT))
    del value
    assert reference() is None


def interrupted_collection() -> None:
    def interrupt(phase: str, _: object) -> None:
        if phase == "stop":
            signal.raise_signal(signal.SIGINT)

    gc.callbacks.append(interrupt)
    gc.collect()
    gc.callbacks.remove(interrupt)


@pytest.mark.usefixtures("ctrl_c_is_the_bridges")
def test_ctrl_c_in_a_deferring_block_arrives_at_its_end() -> None:
    reached = []

    def interrupted() -> None:
        with interrupts.deferred():
            with interrupts.deferred():
                signal.raise_signal(signal.SIGINT)
                reached.append("inner")
            reached.append("outer")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert reached == ["inner", "outer"]
    with interrupts.deferred():
        pass  # nothing is left over
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("ctrl_c_is_the_bridges")
@pytest.mark.parametrize(
    "free", [interrupted_finalizer, interrupted_weak_reference, interrupted_collection]
)
def test_ctrl_c_while_something_is_freed_arrives_afterwards(free: Callable[[], None]) -> None:
    reached = []
    before = sys.unraisablehook

    def interrupted_at_the_next_block() -> None:
        with interrupts.delivered_by_the_end():
            free()
            with interrupts.deferred():
                reached.append("next block")
            reached.append("too late")

    def interrupted_at_the_end() -> None:
        with interrupts.delivered_by_the_end():
            free()
            reached.append("end")

    for interrupted in (interrupted_at_the_next_block, interrupted_at_the_end):
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    assert reached == ["next block", "end"]
    assert sys.unraisablehook is before


@pytest.mark.usefixtures("ctrl_c_is_the_bridges")
def test_ctrl_c_arrives_once() -> None:
    def interrupted_twice() -> None:
        with interrupts.delivered_by_the_end():
            InterruptedWhenFreed()
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        interrupted_twice()
    with interrupts.deferred(), interrupts.delivered_by_the_end():
        pass


class NoArguments(tuple):
    """What R sends where a function takes no arguments."""

    names = ()


@pytest.mark.usefixtures("ctrl_c_is_the_bridges")
def test_ctrl_c_while_something_is_freed_ends_what_r_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(FUNCTIONS, "freeing", interrupted_finalizer)
    assert session._outcome("freeing", NoArguments()) == ("interrupt", None)


@pytest.mark.usefixtures("ctrl_c_is_the_bridges")
def test_a_late_ctrl_c_is_none_for_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts._interrupts, "_waiting", True)
    monkeypatch.setitem(FUNCTIONS, "next", lambda: None)
    assert session._outcome("next", NoArguments())[0] == "value"


def test_r_condition_is_found_behind_other_exceptions() -> None:
    condition = types.SimpleNamespace(rclass=("error", "condition"))
    error = ValueError("split 3")
    error.__cause__ = RConditionError("nothing learnt", condition=condition)
    assert r_condition(error) is condition
    assert r_condition(ValueError("no R in it")) is None
