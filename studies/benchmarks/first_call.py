"""How long the first test of a Python process takes, everything counted.

Each row is a process of its own that starts, imports, compiles (JAX's cache of compilations is
off) and fits one small test: 60 observations, four features. In turn with it, a process that
only imports JAX, SciPy's statistics and scikit-learn. The least of several runs, in elapsed time
and in processor time of all cores: other work on the machine lengthens the first, and through the
shared caches a little also the second.

`--second` compares two learners, in a process that compiles and in one that finds what another has
compiled, in a folder of JAX's for compilations; and tests losses that exist. In turn with them, a
process that imports JAX and SciPy's special functions, which the first two cannot do without, and
has JAX add two numbers.

    python studies/benchmarks/first_call.py
    python studies/benchmarks/first_call.py --second
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

from studies.benchmarks.bench import NO_CACHE, options, show

REFERENCE = "import jax, scipy.stats, sklearn.linear_model"

LEAST = "import jax, scipy.special; jax.jit(lambda x: x + 1)(1.0)"

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

COMPARISON = """
import numpy as np, ucvtest as uv
rng = np.random.default_rng(0)
y = np.arange(100) % 2
X = rng.normal(size=(100, 4)) + 0.6 * y[:, None]
uv.compare(X, y, ["lda", "nearest_centroid"], rng=0)
"""

ON_LOSSES = """
import numpy as np, ucvtest as uv
rng = np.random.default_rng(0)
y = np.arange(100) % 2
rules = dict(zip("ab", (rng.normal(size=(2, 100)) + y > 0.5).astype(int)))
print(uv.HoldOutTest.from_losses(uv.Losses.from_predictions(y, rules), "a", "b").fit())
"""

COLUMNS = ("first test", "s", "processor s", "imports alone, s", "processor s")


def run(code: str, settings: dict[str, str] = NO_CACHE) -> np.ndarray:
    """Elapsed and processor seconds of a new Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    command = [sys.executable, "-c", code]
    subprocess.run(command, env=os.environ | settings, check=True, stdout=subprocess.DEVNULL)
    elapsed = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return np.array([elapsed, processor])


def measure(test: str, repeats: int) -> tuple[str, ...]:
    """One row of the table."""
    return _row(test, [SMALL.format(TESTS[test]), REFERENCE], [NO_CACHE, NO_CACHE], repeats)


def measure_comparison(repeats: int) -> tuple[str, ...]:
    """A comparison of 100 observations in a first process and in a second one, and losses."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {
            "JAX_ENABLE_COMPILATION_CACHE": "true",
            "JAX_COMPILATION_CACHE_DIR": folder,
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }
        run(COMPARISON, kept)
        codes, settings = [COMPARISON, COMPARISON, ON_LOSSES, LEAST], [NO_CACHE, *[kept] * 3]
        return _row("n = 100", codes, settings, repeats)


def _row(
    name: str, codes: list[str], settings: list[dict[str, str]], repeats: int
) -> tuple[str, ...]:
    """The least elapsed and processor seconds of each code."""
    pairs = list(zip(codes, settings, strict=True))
    seconds = np.array([[run(*pair) for pair in pairs] for _ in range(repeats)]).min(axis=0)
    return (name, *(f"{value:.1f}" for value in seconds.ravel()))


def main() -> None:
    parser = options(__doc__, "two tests only, once")
    parser.add_argument(
        "--second", action="store_true", help="a comparison in two processes, and losses"
    )
    arguments = parser.parse_args()
    repeats, tests = (1, list(TESTS)[:2]) if arguments.quick else (3, list(TESTS))
    if arguments.second:
        names = ("compare, first", "compare, second", "hold-out test of losses", "JAX alone")
        columns = ("", *(f"{name}, s | processor s" for name in names))
        show(columns, [measure_comparison(repeats)])
    else:
        show(COLUMNS, (measure(test, repeats) for test in tests))


if __name__ == "__main__":
    main()
