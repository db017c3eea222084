"""A checkpoint is believed as far as it can be checked: its lines, its learners, its one writer."""

import json
import os
import subprocess
import sys
import textwrap
from types import ModuleType

import numpy as np
import pytest

import ucvtest as uv
from tests.support.samples import breast_cancer
from ucvtest.common.file_lock import FileLock
from ucvtest.common.fingerprint import fingerprint
from ucvtest.evaluation.checkpoint import Checkpoint

SAMPLE = breast_cancer(40, 2)
X, Y = SAMPLE.matrix, SAMPLE.response


def nearest(X_train, y_train, X_test):
    low, high = (X_train[y_train == label, 0].mean() for label in np.unique(Y))
    return np.where(np.abs(X_test[:, 0] - low) < np.abs(X_test[:, 0] - high), *np.unique(Y))


def compared(path, **more):
    tests = ["corrected_t", uv.TestSpec("ustatistic", fit={"n_pairs": 30})]
    return uv.compare(X, Y, ["lda", nearest], tests, rng=0, checkpoint=path, n_jobs=1, **more)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint") / "run.json"
    compared(path)
    return path.read_bytes()


def digit_of_an_estimate(lines):
    place = next(k for k, line in enumerate(lines) if b'"result"' in line)
    before, after = lines[place].split(b'"estimate": ', 1)
    sign = b"" if after.startswith(b"-") else b"-"
    lines[place] = before + b'"estimate": ' + sign + after.lstrip(b"-")


def seed_of_the_first_line(lines):
    lines[0] = lines[0].replace(b'"seed": 0', b'"seed": 1')


def line_that_is_missing(lines):
    del lines[1]


def lines_that_change_places(lines):
    lines[1], lines[2] = lines[2], lines[1]


def line_that_comes_twice(lines):
    lines.append(lines[-1])


def sum_that_is_gone(lines):
    values = json.loads(lines[-1])
    del values["sum"]
    lines[-1] = json.dumps(values).encode() + b"\n"


CHANGES = [
    digit_of_an_estimate,
    seed_of_the_first_line,
    line_that_is_missing,
    lines_that_change_places,
    line_that_comes_twice,
    sum_that_is_gone,
]


@pytest.mark.parametrize("change", CHANGES)
def test_lines_that_were_changed_are_refused(tmp_path, finished, change):
    path = tmp_path / "run.json"
    lines = finished.splitlines(keepends=True)
    change(lines)
    changed = b"".join(lines)
    assert changed != finished
    path.write_bytes(changed)
    with pytest.raises(ValueError, match=r"line \d+ does not have its check sum: it was changed"):
        Checkpoint.open(path)
    assert path.read_bytes() == changed


def module(name, code):
    """A module of the user's own, as if it had been edited and loaded again."""
    made = ModuleType(name)
    exec(textwrap.dedent(code), vars(made))
    return made


SOURCE = """
import functools
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

THRESHOLD = 0.5
MODEL = LogisticRegression(C=1.0)
calls = 0
seen = []

def scaled(values):
    return values * 2.0

def centred(values):
    return scaled(values) - THRESHOLD

def learner(X_train, y_train, X_test):
    global calls
    calls += 1
    seen.append(calls)
    return np.where(centred(X_test[:, 0]) > 0, y_train.max(), y_train.min())

@functools.lru_cache
def remembered(a):
    return scaled(a)

def with_model(X_train, y_train, X_test):
    return MODEL.fit(X_train, y_train).predict(X_test) + remembered(0)

def made(power):
    def enclosed(X_train, y_train, X_test):
        return np.where(scaled(X_test[:, 0]) ** power > 0, y_train.max(), y_train.min())
    return enclosed

class Base(ClassifierMixin, BaseEstimator):
    side = 1

    @staticmethod
    def sign(values):
        return np.sign(values)

class Learner(Base):
    fits = 0

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        type(self).fits += 1
        self.classes_ = np.unique(y)
        return self

    @property
    def offset(self):
        return THRESHOLD

    def predict(self, X):
        above = self.sign(centred(X[:, self.column]) - self.offset) * self.side > 0
        return self.classes_[above.astype(int)]
"""


def fingerprints(source):
    own = module("mine", source)
    return {
        "learner": fingerprint(own.learner),
        "partial": fingerprint(own.made(2)),
        "model": fingerprint(own.with_model),
        "estimator": fingerprint(own.Learner()),
        "method": fingerprint(own.Learner().predict),
    }


EDITS = {
    ("values * 2.0", "values * 3.0"): {"learner", "partial", "model", "estimator", "method"},
    ("THRESHOLD = 0.5", "THRESHOLD = 0.7"): {"learner", "estimator", "method"},
    ("C=1.0", "C=2.0"): {"model"},
    ("** power", "** (power + 1)"): {"partial"},
    ("centred(X_test[:, 0]) > 0", "centred(X_test[:, 1]) > 0"): {"learner"},
    ("np.sign(values)", "-np.sign(values)"): {"estimator", "method"},
    ("side = 1", "side = -1"): {"estimator", "method"},
    ("return THRESHOLD", "return 2 * THRESHOLD"): {"estimator", "method"},
    ("self.classes_ = np.unique(y)", "self.classes_ = np.unique(y)[::-1]"): {
        "estimator",
        "method",
    },
    # What counts, or can change by itself, makes no other learner; nor does what nobody reads.
    ("calls = 0", "calls = 7"): set(),
    ("seen = []", "seen = [1]"): set(),
    ("fits = 0", "fits = 3"): set(),
    ("import functools", "import functools\nUNREAD = 3"): set(),
}


@pytest.mark.parametrize(("edit", "differing"), EDITS.items(), ids=map(str, EDITS))
def test_learners_whose_code_was_edited_are_other_learners(edit, differing):
    before, after = fingerprints(SOURCE), fingerprints(SOURCE.replace(*edit, 1))
    assert SOURCE.count(edit[0]) >= 1
    assert {name for name in before if before[name] != after[name]} == differing


DATA = """
import functools
from collections import deque
from dataclasses import dataclass
from decimal import Decimal
from types import SimpleNamespace
import jax.numpy as jnp
import numpy as np
import pandas as pd

def one(): return 1
def two(): return 2

@dataclass
class Settings:
    t: float = 0.0

D = {}
counts = {{"fits": 0, "by": {{}}}}
seen, names, log = [], set(), SimpleNamespace(n=0)

def learner(X_train, y_train, X_test):
    counts["fits"] += 1
    counts["by"][len(y_train)] = 1
    seen.append(1)
    names.add("a")
    log.n += 1
    seen[0:1] = [1, 2, len(names)]
    return (X_test[:, 0] > D["t"]) * 1

class Learner:
    table = D
    cache = {{}}

    def predict(self, X_test):
        self.cache[len(X_test)] = self.table
        return X_test[:, 0] > self.table["t"]
"""

CONTENTS = {
    "dict": ("dict(t=0.0)", "dict(t=0.1)"),
    "list": ("[0.0, 1]", "[0.0, 2]"),
    "set": ("{1, 2}", "{1, 3}"),
    "set of functions": ("{one, (1, Decimal(1))}", "{two, (1, Decimal(1))}"),
    "array": ("np.zeros(3)", "np.ones(3)"),
    "dict of dicts": ("{'t': {'u': [0, (1, [2])]}}", "{'t': {'u': [0, (1, [3])]}}"),
    "array of objects": ("np.array([1, {}], object)", "np.array([2, {}], object)"),
    "tuple of lists": ("([0],)", "([1],)"),
    "table": ("pd.DataFrame({'t': [0]})", "pd.DataFrame({'t': [1]})"),
    "array of JAX": ("jnp.zeros(2000)", "jnp.zeros(2000).at[999].set(1)"),
    "number of NumPy": ("np.int64(3)", "np.int64(4)"),
    "decimal": ("Decimal('0.1')", "Decimal('0.2')"),
    "functions": ("{'t': one}", "{'t': two}"),
    "functions of packages": ("{'t': np.mean}", "{'t': np.median}"),
    "classes of packages": ("[pd.Series]", "[pd.DataFrame]"),
    "partial": ("functools.partial(one, t=[0])", "functools.partial(one, t=[1])"),
    "dataclass": ("Settings()", "Settings(0.1)"),
    "namespace": ("SimpleNamespace(t=0)", "SimpleNamespace(t=1)"),
    "deque": ("deque([0])", "deque([1])"),
    "beside an object": ("{'o': object(), 't': 0}", "{'o': object(), 't': 1}"),
    "with itself": ("[0]; D.append(D)", "[1]; D.append(D)"),
}


def of_data(code):
    own = module("mine", code)
    return fingerprint(own.learner), fingerprint(own.Learner().predict)


@pytest.mark.parametrize("kind", CONTENTS)
def test_learners_whose_data_were_edited_are_other_learners(kind):
    first, edited = (DATA.format(code) for code in CONTENTS[kind])
    before = of_data(first)
    assert before == of_data(first)
    assert not set(before) & set(of_data(edited))


@pytest.mark.parametrize(
    "edit",
    [
        ('"fits": 0', '"fits": 7'),
        ("seen, names, log = []", "seen, names, log = [3]"),
        ("set()", "{'a'}"),
        ("SimpleNamespace(n=0)", "SimpleNamespace(n=4)"),
        ("cache = {}", "cache = {1: 2}"),
    ],
)
def test_data_that_a_learner_changes_itself_make_no_other_learner(edit):
    code = DATA.format("dict(t=0.0)")
    assert edit[0] in code
    assert of_data(code) == of_data(code.replace(*edit))


def test_data_of_a_module_that_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "conf", module("conf", "D = {'t': 0.0}\nseen = []"))
    code = "import conf\ndef learner(a, b, c):\n    conf.seen.append(1)\n    return conf.D['t']"
    learner = module("mine", code).learner
    before = fingerprint(learner)
    sys.modules["conf"].seen.append(1)
    assert fingerprint(learner) == before
    sys.modules["conf"].D["t"] = 0.5
    assert fingerprint(learner) != before


def test_predictions_of_a_learner_with_edited_data_are_not_taken(tmp_path):
    path = tmp_path / "run.json"
    own = module("mine", DATA.format("dict(t=0.0)"))
    labels = (Y[0] == Y).astype(int)
    uv.evaluate({"a": own.learner}, X, labels, 4, rng=0, checkpoint=path)
    uv.evaluate({"a": own.learner}, X, labels, 4, rng=0, checkpoint=path)
    own.D["t"] = 1.0
    with pytest.raises(ValueError, match="is of another call: learners differs"):
        uv.evaluate({"a": own.learner}, X, labels, 4, rng=0, checkpoint=path)


def test_a_file_that_another_call_writes_is_refused(tmp_path):
    path = tmp_path / "run.json"
    refused = []

    def nosy(X_train, y_train, X_test):
        if not refused:
            with pytest.raises(ValueError, match=r"run\.json is being written by another") as error:
                uv.evaluate(nearest, X, Y, 4, checkpoint=path)
            refused.append(error)
        return nearest(X_train, y_train, X_test)

    uv.evaluate({"nosy": nosy}, X, Y, 4, checkpoint=path, n_jobs=1)
    assert len(refused) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]


def test_a_file_that_was_written_since_it_was_read_is_refused(tmp_path):
    path = tmp_path / "run.json"
    late = Checkpoint.open(path)
    uv.evaluate({"one": nearest}, X, Y, 4, rng=0, checkpoint=path)
    before = path.read_bytes()
    with late, pytest.raises(ValueError, match="has just been written by another call: call again"):
        late.begin({"call": "evaluate"}, {}, 1)
    assert path.read_bytes() == before


def test_the_lock_of_a_process_that_died_is_taken_over(tmp_path):
    path = tmp_path / "run.json"
    code = (
        "import sys, os; from pathlib import Path; from ucvtest.common.file_lock import FileLock\n"
        "FileLock(Path(sys.argv[1])).acquire(); os._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], env={**os.environ}, check=False)
    assert done.returncode == 9
    assert (tmp_path / "run.json.lock").exists()
    lock = FileLock(path)
    lock.acquire()
    lock.release()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_takes_no_file_is_refused_before_anything_is_fitted(tmp_path, monkeypatch):
    def refusing(*_, **__):
        raise PermissionError("no")

    monkeypatch.setattr("ucvtest.common.file_lock.os.open", refusing)
    with pytest.raises(ValueError, match=r"run\.json cannot be written \(no\): name a file"):
        uv.evaluate(nearest, X, Y, 4, checkpoint=tmp_path / "run.json")
