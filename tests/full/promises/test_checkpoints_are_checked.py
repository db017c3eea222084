"""A checkpoint is believed as far as it can be checked: its files, its learners, its one writer."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import ucvtest as uv
from tests.support.samples import breast_cancer
from ucvtest.common.digest import digest
from ucvtest.evaluation.checkpoint import Checkpoint

SAMPLE = breast_cancer(40, 2)
X, Y = SAMPLE.matrix, SAMPLE.response


def nearest(X_train, y_train, X_test):
    low, high = (X_train[y_train == label, 0].mean() for label in np.unique(Y))
    return np.where(np.abs(X_test[:, 0] - low) < np.abs(X_test[:, 0] - high), *np.unique(Y))


def evaluated(path, learner=nearest, **more):
    return uv.evaluate({"own": learner}, X, Y, 4, rng=0, checkpoint=path, n_jobs=1, **more)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "run"
    evaluated(path)
    kept = sorted(path.glob("*.json.gz"))[-1]
    whole = bytearray(kept.read_bytes())
    # The digits of the predictions are in the middle.
    whole[len(whole) // 2] ^= 1
    kept.write_bytes(whole)
    with pytest.raises(ValueError, match=rf"run is not a checkpoint .*{kept.name}.*another folder"):
        evaluated(path)
    assert kept.read_bytes() == whole


def test_nothing_is_unpickled(tmp_path):
    path = tmp_path / "run"
    evaluated(path)
    joblib.dump(["harmless"], path / "00000009.json.gz", compress="gzip")
    with pytest.raises(ValueError, match="is not a checkpoint of this ucvtest"):
        evaluated(path)


def test_another_version_of_a_package_is_named(tmp_path):
    path = tmp_path / "run"
    evaluated(path)
    header = json.loads((path / "call.json").read_text())
    header["asked"]["version of numpy"] = "1.0"
    (path / "call.json").write_text(json.dumps(header))
    with pytest.raises(ValueError, match=r"of another call: version of numpy was '1\.0', now '2"):
        evaluated(path)


SOURCE = """
import functools
from dataclasses import dataclass
import numpy as np
import helper
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

THRESHOLD = 0.5
TABLE = {"side": [1.0, helper.SHIFT]}
MODEL, WIDTH, DEPTH = LogisticRegression(C=1.0), 1.5, 2.5

def scaled(values, width=WIDTH, *, depth=DEPTH):
    return values * 2.0 / width / depth

def centred(values):
    return [scaled(value) - THRESHOLD for value in values]

def function(X_train, y_train, X_test):
    return np.where(np.array(centred(X_test[:, 0])) > 0, y_train.max(), y_train.min())

@functools.lru_cache
def remembered(a):
    return TABLE["side"][0] * a

def with_model(X_train, y_train, X_test):
    return MODEL.fit(X_train, y_train).predict(X_test) + remembered(0)

def made(power):
    def enclosed(X_train, y_train, X_test):
        return np.where(X_test[:, 0] ** power > 0, y_train.max(), y_train.min())
    return functools.partial(enclosed)

partial = made(2)

class Base(ClassifierMixin, BaseEstimator):
    side = 1

    @staticmethod
    def sign(values):
        return np.sign(values)

@dataclass
class Learner(Base):
    column: int = 0

    @property
    def offset(self):
        return THRESHOLD

    def predict(self, X):
        return self.classes_[(self.sign(X[:, self.column] - self.offset) > 0).astype(int)]

estimator = Learner(1)
method = estimator.predict
"""
LEARNERS = ("function", "with_model", "partial", "estimator", "method")


@pytest.fixture
def contents(tmp_path, monkeypatch):
    """The digests of learners in a module of the user's own, and in one that it imports."""

    def load(name, code):
        folder = tmp_path / str(len([*tmp_path.iterdir()]))
        folder.mkdir()
        (folder / f"{name}.py").write_text(code)
        spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    def read(code, helper="SHIFT = 0.0\n"):
        load("helper", helper)
        own = load("mine", code)
        return {name: digest("learners", getattr(own, name))[0] for name in LEARNERS}

    return read


EDITS = {
    ("values * 2.0", "values * 3.0"): {"function"},
    ("THRESHOLD = 0.5", "THRESHOLD = 0.7"): {"function", "estimator", "method"},
    # Defaults are values, which the source does not show.
    (", 1.5", ", 1.6"): {"function"},
    (", 2.5", ", 2.6"): {"function"},
    ("[1.0, ", "[1.5, "): {"with_model"},
    ("C=1.0", "C=2.0"): {"with_model"},
    ("][0] * a", "][1] * a"): {"with_model"},
    ("** power", "** (power + 1)"): {"partial"},
    ("made(2)", "made(3)"): {"partial"},
    ("np.sign(values)", "-np.sign(values)"): {"estimator", "method"},
    ("side = 1", "side = -1"): {"estimator", "method"},
    ("return THRESHOLD", "return 2 * THRESHOLD"): {"estimator", "method"},
    ("Learner(1)", "Learner(2)"): {"estimator", "method"},
    # What nobody reads makes no other learner.
    ("import functools", "import functools\nUNREAD = 3"): set(),
}


def test_learners_whose_code_was_edited_are_other_learners(contents):
    before = contents(SOURCE)
    for edit, differing in EDITS.items():
        assert SOURCE.count(edit[0]) >= 1
        after = contents(SOURCE.replace(*edit, 1))
        assert {name for name in before if before[name] != after[name]} == differing, edit
    after = contents(SOURCE, "SHIFT = 0.0  # edited\n")
    assert before == after
    assert before["with_model"] != contents(SOURCE, "SHIFT = 0.1\n")["with_model"]


def test_predictions_of_a_learner_with_edited_data_are_not_taken(tmp_path):
    limits = {"low": X[:, 0].mean()}

    def learner(X_train, y_train, X_test):
        return np.where(X_test[:, 0] < limits["low"], *np.unique(Y))

    evaluated(tmp_path / "run", learner)
    evaluated(tmp_path / "run", learner)
    limits["low"] += 1.0
    with pytest.raises(ValueError, match="is of another call: learner own differs"):
        evaluated(tmp_path / "run", learner)


def test_what_cannot_be_recognized_is_refused_with_what_to_do(tmp_path):
    made = {"__name__": "typed_in"}
    exec("def typed(X_train, y_train, X_test): return X_test[:, 0] > 0", made)
    with pytest.raises(ValueError, match=r"no source of typed: define it in a file or install it"):
        evaluated(tmp_path / "run", made["typed"])
    with (tmp_path / "log").open("w") as log:

        def logging(X_train, y_train, X_test):
            log.write("fit\n")
            return nearest(X_train, y_train, X_test)

        with pytest.raises(ValueError, match=r"recognize learner own .*cannot pickle.*open files"):
            evaluated(tmp_path / "run", logging)
    assert not (tmp_path / "run").exists()


def test_a_class_of_a_notebook_is_known_by_its_methods(monkeypatch):
    """Whose functions have a source, and whose classes do not."""

    def learner(side):
        made = type("Own", (), {"side": side, "fit": nearest, "__module__": "typed_in"})
        return digest("learners", made())[0]

    assert learner(1) == learner(1) != learner(2)


TABLE = pd.DataFrame({"a": [1.0, 2.0], "b": ["u", None]})
TURNED = np.asfortranarray(X)


def test_data_are_known_by_their_values_and_not_by_their_layout():
    assert digest("X", X) == digest("X", TURNED) == digest("X", np.repeat(X, 2, axis=0)[::2])
    copy = pd.DataFrame({"a": [0.0, 2.0]})
    copy["b"] = ["u", None]
    copy.loc[0, "a"] = 1.0
    assert digest("X", copy) == digest("X", TABLE)
    different = [
        *(None, 1, 1.0, "1", [1, 2], (1, 2), {"a": 1}, {"a": 2}, {"x", "y"}, {"x", 1}),
        *(np.array([1, 2]), np.array([1.0, 2]), np.array([[1, 2]]), np.array([1, None], object)),
        *(TABLE, TABLE.rename(columns={"a": "c"}), TABLE.iloc[::-1], csr_array(X), csr_array(-X)),
        *(np.random.RandomState(0), np.random.RandomState(1), np.random.default_rng(0)),
        *(len, np.exp, np.log, nearest, uv.learners.knn(3), uv.learners.knn(5)),
    ]
    found = [digest("X", value)[0] for value in different]
    assert len(set(found)) == len(found)
    circle = [1]
    circle.append(circle)
    assert digest("X", circle) == digest("X", circle)
    # The order of strings in a set, and NumPy's global generator, change with the process.
    code = (
        "from scipy.stats import uniform; from ucvtest.common.digest import digest; "
        "print(digest('', [{'x', 'y', 1, None}, uniform()])[0])"
    )
    done = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    ]
    assert done[0] == done[1]


def test_a_folder_that_another_call_writes_is_refused(tmp_path):
    path = tmp_path / "run"
    refused = []

    def nosy(X_train, y_train, X_test):
        if not refused:
            with pytest.raises(ValueError, match=r"run is being written by another call") as error:
                evaluated(path)
            refused.append(str(error.value))
        return nearest(X_train, y_train, X_test)

    evaluated(path, nosy)
    assert len(refused) == 1
    kept = {"00000001.json.gz", "00000002.json.gz"}
    assert {file.name for file in path.iterdir()} == {"call.json", "lock"} | kept


def test_a_folder_that_was_begun_since_it_was_read_is_refused(tmp_path):
    path = tmp_path / "run"
    late = Checkpoint(path)
    evaluated(path)
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    with late, pytest.raises(ValueError, match="has just been written by another call: call again"):
        late.begin({"call": "evaluate"}, {}, 1)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_the_lock_of_a_process_that_died_is_taken_over(tmp_path):
    path = tmp_path / "run"
    code = (
        "import os, sys; from ucvtest.evaluation.checkpoint import Checkpoint\n"
        "Checkpoint(sys.argv[1]).begin({}, {}, 0); os._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == 9
    assert [file.name for file in path.iterdir()] == ["lock"]
    evaluated(path)


def test_a_folder_that_takes_no_file_is_refused_before_anything_is_fitted(tmp_path, monkeypatch):
    def refusing(*_, **__):
        raise PermissionError("no")

    monkeypatch.setattr(Path, "mkdir", refusing)
    with pytest.raises(ValueError, match=r"run cannot be written \(no\): name a folder"):
        evaluated(tmp_path / "run")
