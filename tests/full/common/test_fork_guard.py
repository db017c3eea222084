"""A process that was forked after JAX had started says so, instead of waiting for ever."""

import json
import sys
import textwrap

import pytest

from tests.support.processes import finished

pytestmark = pytest.mark.seconds(
    60, reason="starts processes, which import and compile for themselves"
)

SETUP = """
import multiprocessing, os, warnings
warnings.simplefilter("ignore")  # JAX warns of every fork
import numpy as np
import ucvtest as uv
X = np.random.default_rng(0).normal(size=(24, 2))
y = np.arange(24) % 2

def run(learner="lda"):
    try:
        return str(uv.CorrectedTTest(X, y, learner, "majority").fit(rng=0).n_obs)
    except Exception as error:
        return f"{type(error).__mro__[1].__name__}: {error}"

def in_fork(task=run):
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, task().encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    return os.fdopen(reader).read()
"""

REFUSED = "RuntimeError: this process was forked after JAX had started"


def printed(code: str) -> list[str]:
    script = SETUP + "if __name__ == '__main__':\n" + textwrap.indent(textwrap.dedent(code), "    ")
    # Without the check it never ends.
    done = finished([sys.executable, "-c", script])
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


AFTER_A_FIT = """
import ctypes, json
from sklearn.tree import DecisionTreeClassifier

def without_a_hook(task=run):
    reader, writer = os.pipe()
    # As R's mclapply does it: no hook of Python's is run.
    child = ctypes.PyDLL(None).fork()
    if not child:
        os.write(writer, task().encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    return os.fdopen(reader).read()

def in_pool():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(run)

def in_workers():
    test = uv.CorrectedTTest(X, y, DecisionTreeClassifier(max_depth=1), "majority")
    return str(test.fit(rng=0, n_jobs=2).n_obs)

def in_background():
    # It draws in a thread before it meets JAX.
    try:
        test = uv.UStatisticTest(X, y, lambda X_train, y_train, X_test: X_test[:, 0], loss="auc")
        return str(test.fit(n_pairs=64, rng=0).n_obs)
    except Exception as error:
        return f"{type(error).__mro__[1].__name__}: {error}"

found = {"here": run(), "thread": in_background()}
found["fork"] = in_fork()
# The child of such a child, and a second call, know it too.
found["fork of a fork"] = in_fork(lambda: in_fork())
found["second call"] = in_fork(lambda: run() and run("knn:3"))
found["fork without a hook"] = without_a_hook()
found["thread after a fork without a hook"] = without_a_hook(in_background)
found["pool of forks"] = in_pool()
found["workers of joblib"] = in_workers()
# The process itself goes on.
found["here again"] = run()
print(json.dumps(found))
"""
"""Forks, each of which is told of or not, of one process in which JAX has started."""


@pytest.fixture(scope="module")
def after_a_fit() -> dict[str, str]:
    (line,) = printed(AFTER_A_FIT)
    return json.loads(line)


class TestForks:
    @pytest.mark.parametrize(
        "place",
        [
            *("fork", "fork of a fork", "second call", "fork without a hook"),
            *("thread after a fork without a hook", "pool of forks"),
        ],
    )
    def test_after_jax_has_started(self, after_a_fit, place):
        assert after_a_fit[place].startswith(REFUSED)
        assert "'spawn' or 'forkserver'" in after_a_fit[place]

    @pytest.mark.parametrize("place", ["here", "thread", "here again", "workers of joblib"])
    def test_what_is_no_fork_goes_on(self, after_a_fit, place):
        assert after_a_fit[place] == "24"

    def test_before_jax_has_started(self):
        assert printed("import jax; print(in_fork()); print(run())") == ["24", "24"]
