"""The first test of a process is quick, and imports nothing that it does not need."""

import resource
import subprocess
import sys

import pytest

from tests.support.compiling import environment_of_users

FIRST_CALL, IMPORTS = 3.0, 2.0
"""Seconds that the first call of a small test may take, all counted, and those of a process that
only imports JAX, SciPy's statistics and scikit-learn on the machine that this was measured on.
Processor time of all cores, because other processes lengthen elapsed time at will; where they
lengthen that of the imports too, or the machine is slower, as much more is allowed."""


def processor_seconds(code: str) -> float:
    """Of a Python process without a cache of compilations."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = environment_of_users() | {"JAX_ENABLE_COMPILATION_CACHE": "false"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.mark.parametrize(
    "test",
    [
        'UStatisticTest(X, y, "lda").fit(n_pairs=500, rng=0)',
        'InfluenceFunctionTest(X, y, "lda").fit(n_repeats=200, rng=0)',
        'FoldCovarianceTest(X, y, "knn:3").fit(rng=0)',
        'LeavePairOutTest(X, y, "ridge:1.0").fit(n_permutations=99, rng=0)',
        'PermutationComplexityTest(X, y, "lda").fit(rng=0)',
    ],
)
def test_the_first_call_of_a_small_test(test: str) -> None:
    code = (
        "import numpy as np, ucvtest as uv; rng = np.random.default_rng(0); y = np.arange(60) % 2; "
        f"X = rng.normal(size=(60, 4)) + 0.6 * y[:, None]; uv.{test}; "
        "import sys; "
        "heavy = {'sklearn', 'pandas', 'scipy.stats', 'statsmodels', 'joblib', 'matplotlib'}; "
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    tried = []
    for _ in range(3):
        seconds = processor_seconds(code)
        if seconds < FIRST_CALL:
            return
        slowness = processor_seconds("import jax, scipy.stats, sklearn.linear_model") / IMPORTS
        tried.append((seconds, slowness))
        if seconds < FIRST_CALL * slowness:
            return
    raise AssertionError(
        f"processor seconds, and those of the machine over its usual ones: {tried}"
    )
