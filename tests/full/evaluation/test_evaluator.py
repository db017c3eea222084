import random
import sys
from contextlib import contextmanager
from threading import Event, Thread
from types import ModuleType

import joblib
import numpy as np
import pytest
import threadpoolctl
from sklearn.linear_model import LogisticRegression, SGDClassifier

from tests.support.processes import LIMIT
from tests.support.samples import breast_cancer, evaluate, learning_sets
from ucvtest.common.execution import Execution
from ucvtest.common.single_thread import ONE_BLAS_THREAD, _OneBlasThread
from ucvtest.data.sample import make_sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.evaluation.workers import _tasks
from ucvtest.learners.adapters.coerce import as_learner

pytestmark = pytest.mark.seconds(40, reason="starts workers")


def in_parts(evaluator, learning, size):
    """Predictions of learning sets that are handed over a few at a time."""
    seeds = np.arange(len(learning))
    parts = [
        evaluator.predict(learning[rows], ~learning[rows], seeds[rows])
        for rows in (slice(start, start + size) for start in range(0, len(learning), size))
    ]
    return np.concatenate([part.values for part in parts]), sum(
        (part.ties for part in parts), start=type(parts[0].ties)()
    )


def failing(at):
    """A rule that fails where an observation is learnt from."""

    def rule(X_train, y_train, X_test):
        if at in X_train[:, 0]:
            raise RuntimeError("no convergence")
        return [y_train[0]] * len(X_test)

    return rule


def test_more_learning_sets_than_one_call_takes():
    sample = breast_cancer(60, 3)
    learner = as_learner("nearest_centroid")
    learning = learning_sets(sample, 20, 2 * learner.rows_per_call(sample) + 5)
    whole = evaluate(sample, learner, "score", learning).values
    parts, _ = in_parts(Evaluator(sample, learner, "score"), learning, 1000)
    np.testing.assert_array_equal(whole, parts)


@pytest.mark.parametrize("estimator", [LogisticRegression(), SGDClassifier()])
def test_split_predictions_depend_on_neither_batches_nor_workers(estimator):
    sample = breast_cancer()
    learning = learning_sets(sample, 30, 23)
    expected = evaluate(sample, estimator, "label", learning).values
    for options in ({"batch_size": 7}, {"batch_size": 1000}, {"n_jobs": 2}):
        found = evaluate(sample, estimator, "label", learning, **options).values
        np.testing.assert_array_equal(found, expected)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        found = evaluate(sample, estimator, "label", learning).values
    np.testing.assert_array_equal(found, expected)


def test_only_tested_observations_are_predicted():
    sample = breast_cancer()
    learning = learning_sets(sample, 50, 6)
    testing = ~learning
    testing[:, ::3] = False
    testing[2] = False
    for name in ("lda", LogisticRegression()):
        evaluator = Evaluator(sample, as_learner(name), "label")
        found = evaluator.predict(learning, testing, np.arange(6)).values
        np.testing.assert_array_equal(np.isnan(found), ~testing)


@pytest.mark.parametrize("name", ["lda", LogisticRegression(), failing(None)])
@pytest.mark.parametrize(
    ("output", "first", "second"), [("label", 0, 1), ("probability", 0, 1), ("score", 0, 0)]
)
def test_learning_sets_of_one_class_predict_it(name, output, first, second):
    sample = breast_cancer()
    learning = learning_sets(sample, 50, 4)
    learning[1] &= sample.class_index == 0
    learning[3] &= sample.class_index == 1
    evaluator = Evaluator(sample, as_learner(name), output)
    if output != "label" and callable(name):
        return
    found = evaluator.predict(learning, ~learning, np.arange(4)).values
    assert evaluator.one_class_fits == 2
    assert set(found[1][~learning[1]]) == {first}
    assert set(found[3][~learning[3]]) == {second}
    both = [0, 2]
    alone = evaluate(sample, name, output, learning[both]).values
    np.testing.assert_array_equal(found[both], alone)


@pytest.mark.parametrize("options", [(None, None), (2, None), (None, 2)])
def test_a_failing_learner_is_named_with_its_split(options):
    sample = make_sample(np.arange(10.0)[:, None], np.arange(10) % 2, as_classes=True)
    learning = np.zeros((5, 10), dtype=bool)
    learning[:, :4] = True
    learning[3, 9] = True
    evaluator = Evaluator(sample, as_learner(failing(9.0)), "label", Execution.of(0, *options))
    evaluator.predict(learning[:3], ~learning[:3], np.arange(3))
    with pytest.raises(ValueError, match="rule failed on split 4: RuntimeError: no conv") as error:
        evaluator.predict(learning[2:], ~learning[2:], np.arange(3))
    assert "no convergence" in str(error.value.__cause__)


def test_a_wrong_length_is_refused_and_a_single_column_is_as_good_as_a_vector():
    sample = make_sample(np.arange(10.0)[:, None], np.arange(10) % 2, as_classes=True)
    learning = np.arange(10)[None] < 4
    for output in ("label", "score"):
        for returned, shape in (
            (lambda y: y[:2], r"\(2,\)"),
            (lambda y: y[0], r"\(\)"),
            (lambda y: [[y[0]] * 2] * 6, r"\(6, 2\)"),
        ):
            with pytest.raises(ValueError, match=f"shape {shape} on split 0, which tests 6"):
                evaluate(sample, lambda X, y, test, r=returned: r(y), output, learning)
        found = evaluate(sample, lambda X, y, test: np.ones((len(test), 1), int), output, learning)
        assert (found.values[0, 4:] == 1).all()


@pytest.mark.parametrize(
    ("output", "value", "needed"),
    [
        ("number", np.inf, "predicts inf .*: this loss needs finite numbers"),
        ("score", np.nan, "predicts nan .* scores that are not NaN"),
        ("probability", 1.5, "predicts 1.5 .* probabilities .*, between 0 and 1"),
        ("probability", np.nan, "predicts nan .* probabilities"),
    ],
)
def test_predictions_that_no_loss_can_score_are_refused(output, value, needed):
    sample = make_sample(np.arange(10.0)[:, None], np.arange(10) % 2, as_classes=True)
    learning = np.arange(10)[None] < np.array([4, 5])[:, None]

    def rule(X_train, y_train, X_test):
        predictions = np.full(len(X_test), 0.5)
        if len(X_train) == 5:
            predictions[1] = value
        return predictions

    with pytest.raises(ValueError, match=f"^learner rule {needed}") as error:
        evaluate(sample, rule, output, learning)
    assert "on split 1 for observation 6" in str(error.value)


def test_an_interrupt_is_not_taken_for_a_failure():
    sample = breast_cancer()

    def rule(X_train, y_train, X_test):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(sample, rule, "label", learning_sets(sample, 50, 2))


def test_fits_are_shared_out_in_such_tasks(monkeypatch):
    sizes, original = [], joblib.Parallel.__call__

    def spy(self, tasks):
        tasks = list(tasks)
        sizes.append([len(arguments[3]) for _, arguments, _ in tasks])
        return original(self, tasks)

    monkeypatch.setattr(joblib.Parallel, "__call__", spy)
    sample = breast_cancer()
    with joblib.parallel_config(backend="threading"):
        evaluate(sample, failing(None), "label", learning_sets(sample, 30, 60), n_jobs=2)
    assert sizes == [[len(task) for task in _tasks(sum(each), 2)] for each in sizes]
    assert max(map(len, sizes)) > 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_worker_has_one_blas_thread(n_jobs):
    sample = breast_cancer()

    def threads(X_train, y_train, X_test):
        most = max((pool["num_threads"] for pool in threadpoolctl.threadpool_info()), default=1)
        return np.full(len(X_test), float(most))

    before = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
    learning = learning_sets(sample, 50, 4)
    found = evaluate(sample, threads, "number", learning, n_jobs=n_jobs).values
    assert set(found[~learning]) == {1.0}
    assert [pool["num_threads"] for pool in threadpoolctl.threadpool_info()] == before


def test_overlapping_limits_of_blas_threads_are_taken_back():
    """The first one in is the first one out: the second must not leave what it found."""

    def threads():
        return [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]

    with threadpoolctl.threadpool_limits(2):
        before = threads()
        started, first_is_out = Event(), Event()

        def second():
            with ONE_BLAS_THREAD:
                started.set()
                first_is_out.wait(LIMIT)

        with ONE_BLAS_THREAD:
            thread = Thread(target=second)
            thread.start()
            started.wait(LIMIT)
        first_is_out.set()
        thread.join()
        assert before
        assert threads() == before


def test_libraries_of_blas_threads_are_looked_for_once_more_for_every_module(monkeypatch):
    """A look reads all memory maps of the process, and what is imported may bring a library."""
    looks = []

    class Counted(threadpoolctl.ThreadpoolController):
        def __init__(self):
            looks.append(1)
            super().__init__()

    monkeypatch.setattr("ucvtest.common.single_thread.ThreadpoolController", Counted)
    limit = _OneBlasThread()
    for _ in range(3):
        with limit:
            pass
    assert len(looks) == 1
    monkeypatch.setitem(sys.modules, "module_of_a_test", ModuleType("module_of_a_test"))
    with limit:
        pass
    assert len(looks) == 2


class _NamedRule:
    """A rule that worker processes can be sent: an instance, not a function of a test."""

    def __init__(self, fails=False):
        self.fails = fails

    def __call__(self, X_train, y_train, X_test):
        if self.fails and len(X_train) == 51:
            raise RuntimeError("no convergence")
        return (X_test[:, 0] > X_train[:, 0].mean()).astype(int)


@contextmanager
def _backend(name):
    if name == "loky":
        with joblib.parallel_config(backend="loky", n_jobs=2):
            yield
        return
    distributed = pytest.importorskip("distributed")
    # Its scheduler draws from the global generators, in threads of this process.
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        yield
    random.setstate(before[0])
    np.random.set_state(before[1])  # noqa: NPY002


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_learners_run_on_the_backends_of_joblib(backend):
    sample = breast_cancer()
    learning = learning_sets(sample, 50, 9)
    learners = (_NamedRule(), LogisticRegression())
    expected = [evaluate(sample, learner, "label", learning).values for learner in learners]
    learning_with_one_larger = learning.copy()
    learning_with_one_larger[7, np.flatnonzero(~learning[7])[0]] = True
    with _backend(backend):
        for learner, values in zip(learners, expected, strict=True):
            found = evaluate(sample, learner, "label", learning).values
            np.testing.assert_array_equal(found, values)
        with pytest.raises(ValueError) as error:
            evaluate(sample, _NamedRule(fails=True), "label", learning_with_one_larger)
    assert str(error.value) == (
        "learner _NamedRule failed on split 7: RuntimeError: no convergence"
    )
