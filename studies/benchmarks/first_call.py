"""How long the first test of a Python process takes, everything counted.

Each row is a process of its own that starts, imports, compiles (JAX's cache of compilations is
off) and fits one small test: 60 observations, four features. In turn with it, a process that
only imports JAX, SciPy's statistics and scikit-learn. The least of several runs, in elapsed time
and in processor time of all cores: other work on the machine lengthens the first, and through the
shared caches a little also the second.

    python studies/benchmarks/first_call.py
"""

import argparse
import os
import resource
import subprocess
import sys
import time

import numpy as np

from studies.benchmarks.machine import versions

REFERENCE = "import jax, scipy.stats, sklearn.linear_model"

SMALL = """
import numpy as np, ucvtest as uv
rng = np.random.default_rng(0)
y = np.arange(60) % 2
X = rng.normal(size=(60, 4)) + 0.6 * y[:, None]
uv.{}
"""

TESTS = {
    "UStatisticTest, lda": 'UStatisticTest(X, y, "lda").fit(n_pairs=500, rng=0)',
    "UStatisticTest, lda, all defaults": 'UStatisticTest(X, y, "lda").fit(rng=0)',
    "UStatisticTest, lda against nearest_centroid": (
        'UStatisticTest(X, y, "lda", "nearest_centroid").fit(n_pairs=500, rng=0)'
    ),
    "UStatisticTest, knn:3": 'UStatisticTest(X, y, "knn:3").fit(n_pairs=500, rng=0)',
    "UStatisticTest, ridge:1.0": 'UStatisticTest(X, y, "ridge:1.0").fit(n_pairs=500, rng=0)',
    "UStatisticTest, logistic:0.1": 'UStatisticTest(X, y, "logistic:0.1").fit(n_pairs=500, rng=0)',
    "UStatisticTest, lasso:0.05": 'UStatisticTest(X, y, "lasso:0.05").fit(n_pairs=500, rng=0)',
    "InfluenceFunctionTest, lda": 'InfluenceFunctionTest(X, y, "lda").fit(1000, rng=0)',
    "FoldCovarianceTest, lda": 'FoldCovarianceTest(X, y, "lda").fit(rng=0)',
    "LeavePairOutTest, ridge:1.0": 'LeavePairOutTest(X, y, "ridge:1.0").fit(rng=0)',
    "PermutationComplexityTest, lda": 'PermutationComplexityTest(X, y, "lda").fit(rng=0)',
}

COLUMNS = ("first test", "s", "processor s", "imports alone, s", "processor s")


def run(code: str) -> np.ndarray:
    """Elapsed and processor seconds of a new Python process."""
    environment = os.environ | {"JAX_ENABLE_COMPILATION_CACHE": "false"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    elapsed = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return np.array([elapsed, processor])


def measure(test: str, repeats: int) -> tuple[str, ...]:
    """One row of the table."""
    codes = (SMALL.format(TESTS[test]), REFERENCE)
    seconds = np.array([[run(code) for code in codes] for _ in range(repeats)]).min(axis=0)
    return (test, *(f"{value:.1f}" for value in seconds.ravel()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two tests only, once")
    quick = parser.parse_args().quick
    print(versions())
    print(" | ".join(COLUMNS))
    for test in list(TESTS)[: 2 if quick else None]:
        print(" | ".join(measure(test, 1 if quick else 3)), flush=True)


if __name__ == "__main__":
    main()
