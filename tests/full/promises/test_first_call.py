"""The first test of a process compiles little, and imports nothing that it does not need.

How many seconds that takes is measured by studies/benchmarks/first_call.py: seconds depend on the
machine and on who else computes, the number of compilations does not.
"""

import json
import sys

import pytest

from tests.support.processes import finished

pytestmark = pytest.mark.seconds(
    40, reason="starts processes, which import and compile for themselves"
)

MOST_COMPILATIONS = {
    'UStatisticTest(X, y, "lda").fit(n_pairs=500, rng=0)': 3,
    'InfluenceFunctionTest(X, y, "lda").fit(n_repeats=200, rng=0)': 4,
    'FoldCovarianceTest(X, y, "knn:3").fit(rng=0)': 2,
    'LeavePairOutTest(X, y, "ridge:1.0").fit(n_permutations=99, rng=0)': 2,
    'PermutationComplexityTest(X, y, "lda").fit(rng=0)': 2,
    'compare(X, y, ["lda", "nearest_centroid"], rng=0)': 4,
}
"""Each takes about a tenth of a second of the first call."""

DATA = """
import json, sys
import numpy as np, ucvtest as uv
rng = np.random.default_rng(0)
y = np.arange(60) % 2
X = rng.normal(size=(60, 4)) + 0.6 * y[:, None]
heavy = {
    *("sklearn", "pandas", "scipy.stats", "scipy.optimize", "statsmodels", "joblib", "matplotlib"),
    *("tqdm", "formulaic", "narwhals"),
}
"""

CODE = f"""{DATA}
compiled, found = [], {{}}

def note(event, seconds, **details):
    if event == "/jax/core/compile/backend_compile_duration":
        compiled.append(details["fun_name"])

import jax
jax.monitoring.register_event_duration_secs_listener(note)
for test in sys.argv[1:]:
    # As if it were the first one.
    jax.clear_caches()
    compiled.clear()
    eval(f"uv.{{test}}")
    found[test] = {{"compiled": list(compiled), "imported": sorted(heavy & set(sys.modules))}}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, list[str]]]:
    done = finished([sys.executable, "-c", CODE, *MOST_COMPILATIONS])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("test", "most"), MOST_COMPILATIONS.items())
def test_the_first_call_of_a_small_test(
    found: dict[str, dict[str, list[str]]], test: str, most: int
) -> None:
    assert found[test]["imported"] == []
    assert 0 < len(found[test]["compiled"]) <= most


ON_LOSSES = (
    'HoldOutTest.from_losses(labels, "a", "b").fit()',
    'DeLongTest.from_losses(scores, "a", "b").fit()',
    'compare_losses(scores, "delong")',
    'compare_losses(labels, "hold_out")',
)

CODE_ON_LOSSES = f"""{DATA}
two = {{"a": X[:, 0], "b": X[:, 1]}}
scores = uv.Losses.from_predictions(y, two, loss="auc", pos_label=1)
labels = uv.Losses.from_predictions(y, {{name: (each > 0) * 1 for name, each in two.items()}})
for test in sys.argv[1:]:
    str(eval(f"uv.{{test}}"))
print(json.dumps(sorted((heavy | {{"jax"}}) & set(sys.modules))))
"""


def test_losses_that_exist_are_tested_without_jax() -> None:
    done = finished([sys.executable, "-c", CODE_ON_LOSSES, *ON_LOSSES])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


CODE_OF_COMPARISON = f"""{DATA}
str(uv.compare(X, y, ["lda", "nearest_centroid"], rng=0))
methods = {{name.split(".")[2] for name in sys.modules if name.startswith("ucvtest.methods.")}}
heavy |= {{"scipy.linalg", "scipy.sparse", "ucvtest.learners.adapters.translation"}}
heavy |= {{f"ucvtest.learners.jitted.{{name}}" for name in ("cox", "lasso", "neighbors", "ridge")}}
print(json.dumps([sorted(methods), sorted(heavy & set(sys.modules))]))
"""


def test_a_comparison_imports_neither_other_tests_nor_other_learners() -> None:
    done = finished([sys.executable, "-c", CODE_OF_COMPARISON])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [["registry", "ustatistic"], []]
