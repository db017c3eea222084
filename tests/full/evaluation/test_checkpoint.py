"""Calls that go on from a folder: the same results, and nothing finished is fitted again."""

import gzip
import json
import re
from unittest.mock import patch

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

import ucvtest as uv
from tests.support.clock import Clock
from tests.support.samples import breast_cancer
from ucvtest.common.execution import Execution, Progress
from ucvtest.evaluation import workers
from ucvtest.evaluation.checkpoint import Checkpoint
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.adapters.coerce import as_learner

SAMPLE = breast_cancer(40, 2)
X, Y = SAMPLE.matrix, SAMPLE.response


class Counted(ClassifierMixin, BaseEstimator):
    """The class with the nearer mean of a column; counts its fits, and stops after some."""

    n_fits = 0
    stops_after = None

    def __init__(self, column=0, random_state=None):
        self.column, self.random_state = column, random_state

    @classmethod
    def reset(cls):
        cls.n_fits, cls.stops_after = 0, None

    def fit(self, X, y):
        cls = type(self)
        if cls.stops_after is not None and cls.n_fits >= cls.stops_after:
            raise KeyboardInterrupt
        cls.n_fits += 1
        self.classes_ = np.unique(y)
        # Learners with randomness of their own are part of it: some labels are taken for others.
        changed = np.random.default_rng(self.random_state).random(len(y)) < 0.1
        y = np.where(changed, self.classes_[0], y)
        self.means_ = [X[y == label, self.column].mean() for label in self.classes_]
        return self

    def decision_function(self, X):
        low, high = (np.abs(X[:, self.column] - mean) for mean in self.means_)
        return low - high

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


@pytest.fixture(autouse=True)
def counting():
    Counted.reset()
    yield Counted
    Counted.reset()


LEARNERS = {"one": Counted(), "two": Counted(1), "jitted": "lda"}

TESTS = {
    "two tests on one design, one with draws of its own": [
        "corrected_t",
        "fold_covariance",
        uv.TestSpec("ustatistic", fit={"n_pairs": 12}),
    ],
    "folds and influence functions": [
        "hold_out",
        uv.TestSpec("influence", fit={"n_repeats": 20, "scheme": "repeated"}),
    ],
}


def values(comparison):
    """All numbers of a comparison but the seconds."""
    plain = comparison.to_dict()
    for each in (plain, *(row["result"] for row in plain["results"])):
        each["elapsed"] = 0
    for row in plain["results"]:
        notes = row["result"]["notes"]
        row["result"]["notes"] = [re.sub(r"took \S+ s", "took", note) for note in notes]
    return plain


@pytest.mark.parametrize("tests", TESTS.values(), ids=TESTS)
@pytest.mark.parametrize("stop", [3, 40])
def test_a_comparison_goes_on_to_the_same_results(tmp_path, counting, tests, stop):
    path = tmp_path / "run"
    whole = uv.compare(X, Y, LEARNERS, tests, rng=4, n_jobs=1)
    n_whole, counting.n_fits = counting.n_fits, 0
    counting.stops_after = stop
    with pytest.raises(KeyboardInterrupt):
        uv.compare(X, Y, LEARNERS, tests, rng=4, n_jobs=1, checkpoint=path)
    assert counting.n_fits == stop
    counting.stops_after, counting.n_fits = None, 0
    files = [json.loads(gzip.decompress(file.read_bytes())) for file in path.glob("*.json.gz")]
    kept = sum(len(file.get("fits", ())) for file in files)
    assert kept <= stop
    again = uv.compare(X, Y, LEARNERS, tests, rng=4, n_jobs=1, checkpoint=path)
    assert values(again) == values(whole)
    # Learning sets that several tests or pairs have in common are fitted once.
    assert counting.n_fits <= n_whole - kept
    counting.n_fits = 0
    third = uv.compare(X, Y, LEARNERS, tests, rng=4, n_jobs=1, checkpoint=path)
    assert (values(third), counting.n_fits) == (values(whole), 0)


@pytest.mark.parametrize("loss", ["zero_one", "auc"])
def test_an_evaluation_goes_on_with_the_seed_of_then(tmp_path, counting, loss):
    path = tmp_path / "run"
    design = uv.designs.KFold(5, n_repeats=3)
    counting.stops_after = 21
    with pytest.raises(KeyboardInterrupt, match="has the losses of one"):
        uv.evaluate(LEARNERS, X, Y, design, loss, checkpoint=path, n_jobs=1)
    counting.stops_after, counting.n_fits = None, 0
    found = uv.evaluate(LEARNERS, X, Y, design, loss, checkpoint=path, n_jobs=1)
    assert counting.n_fits < 15
    seed = found.settings["rng"]
    expected = uv.evaluate(LEARNERS, X, Y, design, loss, rng=seed, n_jobs=1)
    np.testing.assert_array_equal(found.values, expected.values)
    assert found.diagnostics == expected.diagnostics


def test_probabilities_of_several_classes_are_kept(tmp_path):
    labels = np.arange(len(Y)) % 3
    learners = {"logistic": LogisticRegression()}
    options = {"design": 4, "loss": "log", "rng": 1, "backend": "sklearn"}
    path = tmp_path / "run"
    first = uv.evaluate(learners, X, labels, checkpoint=path, **options)
    n_files = len([*path.iterdir()])
    again = uv.evaluate(learners, X, labels, checkpoint=path, **options)
    assert len([*path.iterdir()]) == n_files
    np.testing.assert_array_equal(first.values, again.values)


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


CHANGED = {
    "rng was 4, now 5": {"rng": 5},
    "X differs": {"X": X + 1e-9},
    "y differs": {"y": 1 - Y},
    "learner two differs": {"learners": {"one": Counted(), "two": Counted(2)}},
    "tests differs": {"tests": "corrected_t"},
    "loss was None, now 'squared'": {"loss": "squared"},
    "max_seconds was None, now '50'": {"max_seconds": 50},
}


def test_a_folder_of_another_comparison_is_refused(tmp_path):
    asked = {"X": X, "y": Y, "learners": {"one": Counted(), "two": Counted(1)}, "rng": 4}
    asked |= {"tests": "hold_out", "checkpoint": tmp_path / "run"}
    uv.compare(**asked)
    before = contents(tmp_path / "run")
    for said, other in CHANGED.items():
        with pytest.raises(ValueError, match=rf"run is of another call: .*{said}"):
            uv.compare(**asked | other)
        assert contents(tmp_path / "run") == before
    # How p-values are read, and how fits are run, changes none of them.
    with joblib.parallel_config("threading"):
        uv.compare(**asked, alternative="less", correction=None, n_jobs=2, batch_size=3)


def test_finished_results_of_jitted_learners_are_kept(tmp_path, monkeypatch):
    path = tmp_path / "run"
    asked = (X, Y, ["lda", "knn:1", "majority"], uv.TestSpec("ustatistic", fit={"n_pairs": 40}))
    whole = uv.compare(*asked, rng=0)
    run = uv.UStatisticTest.run
    stops_after = 2

    def stopping(*arguments):
        nonlocal stops_after
        stops_after -= 1
        if stops_after < 0:
            raise KeyboardInterrupt
        return run(*arguments)

    monkeypatch.setattr(uv.UStatisticTest, "run", stopping)
    with pytest.raises(KeyboardInterrupt, match="has 2 results"):
        uv.compare(*asked, rng=0, checkpoint=path)
    stops_after = 1
    again = uv.compare(*asked, rng=0, checkpoint=path)
    assert (values(again), stops_after) == (values(whole), 0)


def test_what_is_missing_is_fitted_again(tmp_path, counting):
    path = tmp_path / "run"
    learners = {"one": Counted(), "two": Counted(1)}
    first = uv.evaluate(learners, X, Y, 5, rng=0, n_jobs=1, checkpoint=path)
    sorted(path.glob("*.json.gz"))[-1].unlink()
    # A file that a power failure has left unfinished does not have its name yet.
    (path / ".00000009-half.json.gz").write_bytes(b"PK")
    counting.n_fits = 0
    again = uv.evaluate(learners, X, Y, 5, rng=0, n_jobs=1, checkpoint=path)
    assert 0 < counting.n_fits < 5
    np.testing.assert_array_equal(first.values, again.values)
    counting.n_fits = 0
    uv.evaluate(learners, X, Y, 5, rng=0, n_jobs=1, checkpoint=path)
    assert counting.n_fits == 0


def test_folders_that_are_no_checkpoints_are_kept_as_they_are(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for text in ("a,b\n1,2\n", "", '{"format": "ucvtest.Losses"}\n', '{"format": 3', "[]"):
        (folder / "call.json").write_text(text)
        with pytest.raises(ValueError, match=r"mine is not a checkpoint of this ucvtest"):
            uv.evaluate("lda", X, Y, 5, checkpoint=folder)
        assert contents(folder) == {"call.json": text.encode()}
    (folder / "call.json").rename(folder / "other.json")
    with pytest.raises(ValueError, match=r"mine is not a checkpoint of this ucvtest"):
        uv.evaluate("lda", X, Y, 5, checkpoint=folder)
    for other, said in (
        (folder / "other.json", "is a file"),
        (tmp_path / "no" / "a", "does not exist"),
    ):
        with pytest.raises(ValueError, match=said):
            uv.evaluate("lda", X, Y, 5, checkpoint=other)


def test_what_is_refused_leaves_no_folder(tmp_path):
    with pytest.raises(ValueError, match="does not suffice"):
        uv.compare(X, Y, ["lda", Counted()], max_seconds=1e-3, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="unknown"):
        uv.compare(X, Y, ["lda", Counted()], "no_test", checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="folds"):
        uv.evaluate(Counted(), X, Y, 1000, checkpoint=tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_the_number_of_fits_that_a_clock_decided_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "run"
    learners = {"one": Counted(), "two": Counted(1)}
    test = uv.TestSpec("ustatistic", fit={"max_seconds": 30})
    allowed = iter([40, 45])
    monkeypatch.setattr(
        "ucvtest.evaluation.time_budget.rounds_within", lambda *arguments: next(allowed)
    )
    first = uv.compare(X, Y, learners, test, rng=0, n_jobs=1, checkpoint=path)
    again = uv.compare(X, Y, learners, test, rng=0, n_jobs=1, checkpoint=path)
    assert values(first) == values(again)
    assert first.result().settings["max_fits"] == 80


@pytest.mark.parametrize(("seconds", "most_pieces"), [(0.01, 5), (0.1, 5), (1.0, 16), (6.0, 120)])
def test_few_small_pieces_and_none_that_takes_long(seconds, most_pieces):
    clock, found = Clock(), []
    progress = Progress(clock=clock)
    execution = Execution(np.random.default_rng(0), 0, 1, progress=progress)
    evaluator = Evaluator(SAMPLE, as_learner(clock.learner(seconds)), "label", execution)
    learning = np.random.default_rng(0).permuted(np.tile(np.arange(40) < 30, (120, 1)), axis=1)
    with patch.object(Execution, "count_fits", lambda execution, number: found.append(number)):
        evaluator.predict(learning, ~learning, np.arange(120))
    assert sum(found) == 120
    assert len(found) <= most_pieces
    assert seconds * max(found) <= max(seconds, 3 * workers.CHUNK_SECONDS)
    assert found[0] == 1


def test_progress_without_a_terminal_comes_in_lines(capsys):
    uv.evaluate(Counted(), X, Y, 10, rng=0, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert "10/10" in lines[-1]
    assert all(line.startswith("evaluate: ") for line in lines)


def test_an_open_checkpoint_knows_nothing_of_other_labels(tmp_path):
    kept = Checkpoint(tmp_path / "run")
    learner = as_learner(Counted())
    with kept:
        kept.begin({"call": "this test"}, {"one": learner}, 0)
        labelings_are_kept(kept, learner)


def labelings_are_kept(kept, learner):
    execution = Execution(np.random.default_rng(0), 0, 1, progress=Progress(kept))
    evaluator = Evaluator(SAMPLE, learner, "score", execution)
    labels = np.random.default_rng(0).permuted(np.tile(SAMPLE.target, (6, 1)), axis=1)
    first = evaluator.predict_labelings(labels, np.arange(6)).values
    n_fits = Counted.n_fits
    again = evaluator.predict_labelings(labels[:3], np.arange(3)).values
    assert Counted.n_fits == n_fits
    np.testing.assert_array_equal(first[:3], again)
    evaluator.predict_labelings(labels[3:], np.arange(3))
    assert Counted.n_fits == n_fits + 3
