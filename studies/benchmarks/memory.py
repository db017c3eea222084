"""How much memory and time does each test take at 200, 2000 and 20 000 observations?

Each cell is a separate process: LDA with 20 normal features, two classes, all options at their
defaults but the number of fits or permutations where a test has one; the table shows the largest
resident set of the process, and by how much it is above that of a process that imports the package
and computes as much with 40 observations. Tests may refuse a size: then the table has the reason.
Seconds of the committed table are upper bounds: others used the machine's two cores as well (load 9
to 17), and the rows come from several runs of this script; a million leave-pair-out fits with n =
2000 were given more than its limit. Not in the table are 99 permutations of these, a hundred
million fits.

    python studies/benchmarks/memory.py --quick
    python studies/benchmarks/memory.py --write      # studies/benchmarks/memory.csv, 20 minutes
"""

import csv
import resource
import signal
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

import ucvtest as uv
from studies.benchmarks.bench import alone, memory, options, show

TABLE = Path(__file__).with_suffix(".csv")
SIZES = (200, 2000, 20_000)
N_FEATURES = 20
SECONDS, BYTES = 600, 6 * 10**9
"""After which, and above which, a cell is given up."""

PAIR: dict[str, Any] = {"other": "nearest_centroid"}
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "UStatisticTest, error rates": ("UStatisticTest", PAIR, {}),
    "UStatisticTest, AUC": ("UStatisticTest", PAIR | {"loss": "auc"}, {}),
    "InfluenceFunctionTest, error rates": ("InfluenceFunctionTest", PAIR | {"metric": "error"}, {}),
    "InfluenceFunctionTest, AUC": ("InfluenceFunctionTest", PAIR, {}),
    "FoldCovarianceTest": ("FoldCovarianceTest", PAIR, {}),
    "LeavePairOutTest": ("LeavePairOutTest", {}, {"n_permutations": 99}),
    "LeavePairOutTest, no permutations": ("LeavePairOutTest", {}, {"pvalue": "wmw"}),
    "LeavePairOutTest, ridge": ("LeavePairOutTest", {}, {"n_permutations": 99}),
    "PermutationComplexityTest": ("PermutationComplexityTest", {}, {}),
    "BayesianTTest": ("BayesianTTest", PAIR, {}),
    "ConservativeZTest": ("ConservativeZTest", PAIR, {}),
    "CorrectedTTest": ("CorrectedTTest", PAIR, {}),
    "CrossValidationWaldTest": ("CrossValidationWaldTest", PAIR, {}),
    "DeLongTest": ("DeLongTest", PAIR, {}),
    "FiveByTwoFTest": ("FiveByTwoFTest", PAIR, {}),
    "FiveByTwoTTest": ("FiveByTwoTTest", PAIR, {}),
    "HoldOutTest": ("HoldOutTest", PAIR, {}),
    "McNemarTest": ("McNemarTest", PAIR, {}),
    "NaiveTTest": ("NaiveTTest", PAIR, {}),
    "NestedCrossValidationTest": ("NestedCrossValidationTest", PAIR, {}),
}
COLUMNS = ("test", "n", "peak_mb", "above_start_mb", "seconds", "n_fits", "refused")


Cell = tuple[float, float, int, str]


def cell(name: str, n_obs: int) -> Cell:
    """The largest memory, seconds, fits, and a refusal, of one test in this process."""
    # Rather than have the system end whatever else runs on the machine.
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
    signal.alarm(SECONDS)
    kind, settings, fit = CASES[name]
    rng = np.random.default_rng(0)
    y = np.arange(n_obs) % 2
    # Correlated, so that the learners differ.
    mixing = np.eye(N_FEATURES) + 0.5 * np.tri(N_FEATURES, k=-1)
    X = (rng.normal(size=(n_obs, N_FEATURES)) + 0.2 * y[:, None]) @ mixing
    start = time.perf_counter()
    refused, n_fits = "", 0
    try:
        learner = "ridge:1.0" if name.endswith("ridge") else "lda"
        test = getattr(uv, kind)(X, y, learner, **settings)
        n_fits = test.fit(rng=0, progress=False, **fit).n_fits
    except ValueError as error:
        refused = str(error)
    except (MemoryError, RuntimeError) as error:
        refused = f"{type(error).__name__}: more than {BYTES / 1e9:.0f} GB"
    return memory("VmHWM"), time.perf_counter() - start, n_fits, refused


def measured(name: str, n_obs: int) -> Cell:
    """The same in a process of its own."""
    start = time.monotonic()
    try:
        return alone(cell, name, n_obs)
    except BrokenProcessPool:
        # The alarm ends the process, or what refuses memory to JAX.
        late = time.monotonic() - start >= SECONDS
        reason = f"not done after {SECONDS} s" if late else f"more than {BYTES / 1e9:.0f} GB"
        return nan, nan, 0, reason


def measure(names: list[str], sizes: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
    """Rows of the table."""
    for name in names:
        start = measured(name, 40)[0]
        for n_obs in sizes:
            peak, seconds, n_fits, refused = measured(name, n_obs)
            numbers = (f"{peak:.0f}", f"{peak - start:.0f}", f"{seconds:.1f}", str(n_fits))
            yield (name, str(n_obs), *numbers, refused)


def main() -> None:
    parser = options(__doc__, "two tests at the smallest size")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    arguments = parser.parse_args()
    names, sizes = arguments.only, arguments.sizes
    if arguments.quick:
        names, sizes = names[:2], SIZES[:1]
    rows = list(measure(names, sizes))
    show(COLUMNS, rows)
    if arguments.write:
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
