"""What ten metrics cost in one call, next to one of them.

Two jitted learners, `uv.compare` with all defaults: processor seconds of one metric, of ten, and of
ten with as many fits as one may take, the smallest of several in turn, without compilation. With
`--memory` the largest resident set of fresh processes with ten metrics, above that of the same
process after 30 observations. With `--company` how wide the interval of F1 is together with two
other metrics, as a share of its width alone: several metrics share fewer fits than one has.

    python studies/benchmarks/ten_metrics.py --quick
    python studies/benchmarks/ten_metrics.py --memory
    python studies/benchmarks/ten_metrics.py --company
"""

import argparse
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

import ucvtest as uv
from studies.benchmarks.machine import versions

TEN = (
    *("f1", "mcc", "balanced_accuracy", "precision", "recall"),
    *("specificity", "npv", "jaccard", "kappa", "g_mean"),
)
LEARNERS = ("lda", "logistic")
OTHER_PAIRS = (("lda", "nearest_centroid"), ("lda", "knn:5"))
SIZES, SIZES_FOR_MEMORY = (100, 200, 500), (100, 200, 400, 800, 1600)
FITS_OF_ONE = 10_000
"""Fits that one metric may take."""


def compared(
    n_obs: int, metric: Any, learners: tuple[str, ...] = LEARNERS, **options: Any
) -> uv.Comparison:
    """The comparison, of five features."""
    rng = np.random.default_rng(7)
    y = rng.integers(2, size=n_obs)
    X = rng.normal(size=(n_obs, 5)) + np.outer(y, [0.8, 0.4, 0.16, 0.0, 0.0])
    return uv.compare(X, y, list(learners), metric=metric, rng=0, progress=False, **options)


def seconds(n_obs: int, repetitions: int) -> list[float]:
    """Processor seconds of one metric, of ten, and of ten with as many fits as one may take."""
    calls: list[tuple[Any, dict[str, Any]]] = [
        ("f1", {}),
        (list(TEN), {}),
        (list(TEN), {"max_fits": FITS_OF_ONE}),
    ]
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(repetitions + 1):
        for number, (metric, options) in enumerate(calls):
            start = time.process_time()
            compared(n_obs, metric, **options)
            taken[number].append(time.process_time() - start)
    # The first call compiles.
    return [min(of_call[1:]) for of_call in taken]


def memory(n_obs: int) -> None:
    """Print the largest resident set of this process, before and after, in MB."""
    largest = []
    for size in (30, n_obs):
        compared(size, list(TEN))
        largest.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(f"{n_obs} | {largest[1]:.0f} | {largest[1] - largest[0]:.0f}", flush=True)


def company(n_obs: int, learners: tuple[str, str]) -> None:
    """Print the width of the interval of F1 with company, and with more fits, to that alone."""
    several = ["f1", "mcc", "balanced_accuracy"]
    frames = [
        compared(n_obs, "f1", learners).frame,
        compared(n_obs, several, learners).frame,
        compared(n_obs, several, learners, max_fits=FITS_OF_ONE).frame,
    ]
    widths = [frame["conf_high"].iloc[0] - frame["conf_low"].iloc[0] for frame in frames]
    ratios = " | ".join(f"{width / widths[0]:.2f}" for width in widths[1:])
    print(f"{n_obs} | {' and '.join(learners)} | {ratios}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="100 observations, one repetition")
    parser.add_argument("--memory", action="store_true", help="memory instead of seconds")
    parser.add_argument("--company", action="store_true", help="intervals instead of seconds")
    parser.add_argument("--process", type=int, help="memory with so many observations, here")
    arguments = parser.parse_args()
    if arguments.process:
        memory(arguments.process)
        return
    print(versions())
    if arguments.memory:
        print("n | MB | above start")
        for n_obs in SIZES_FOR_MEMORY[:1] if arguments.quick else SIZES_FOR_MEMORY:
            subprocess.run([sys.executable, __file__, "--process", str(n_obs)], check=True)
        return
    if arguments.company:
        print("n | learners | width with company | with more fits")
        for n_obs in (60, *SIZES):
            for learners in (LEARNERS, *OTHER_PAIRS):
                company(n_obs, learners)
        return
    print(f"n | one metric, s | ten, s | ratio | ten from {FITS_OF_ONE} fits, s | ratio")
    for n_obs in SIZES[:1] if arguments.quick else SIZES:
        one, ten, more_fits = seconds(n_obs, 1 if arguments.quick else 5)
        print(
            f"{n_obs} | {one:.2f} | {ten:.2f} | {ten / one:.2f} | {more_fits:.2f} | "
            f"{more_fits / one:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
