"""What samples of new sizes cost one process: a loop over groups of rows, or a planning curve.

Each row is a process that compares two learners with all defaults, two classes and four normal
features, once for each number of observations from 30 to 400; JAX's cache of compilations is off.
One comparison of 35 observations comes first and is not counted. Seconds are processor time.
"Again" are the same calls a second time, when everything is compiled. Memory is the growth of the
resident set, with arrays of the last call still in it, and after `malloc_trim(0)`, which returns
freed memory to the system.

    python studies/benchmarks/new_sizes.py
    python studies/benchmarks/new_sizes.py --sizes 33 --pairs lda,nearest_centroid
"""

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from studies.benchmarks.machine import versions

PAIRS = (
    "lda,nearest_centroid",
    "lda,knn:3",
    "lda,logistic:0.1",
    "lda,ridge:1.0",
    "lda,qda",
    "lda,gaussian_nb",
)

COLUMNS = ("learners", "sizes", "s", "again, s", "programs", "MB", "MB, trimmed")

NO_CACHE = {"JAX_ENABLE_COMPILATION_CACHE": "false"}


def megabytes() -> float:
    """The resident set of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def loop(learners: list[str], n_sizes: int) -> dict[str, float]:
    """Seconds, compiled programs and growth of memory of one loop in this process."""
    import jax

    import ucvtest as uv

    compiled = []

    def note(event: str, _: float, **details: str) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            compiled.append(details["fun_name"])

    def compare(n_obs: int) -> None:
        rng = np.random.default_rng(n_obs)
        y = np.arange(n_obs) % 2
        uv.compare(rng.normal(size=(n_obs, 4)) + 0.6 * y[:, None], y, learners, rng=0)

    def seconds() -> float:
        start = time.process_time()
        for n_obs in np.linspace(30, 400, n_sizes).round().astype(int):
            compare(int(n_obs))
        return time.process_time() - start

    jax.monitoring.register_event_duration_secs_listener(note)
    compare(35)
    compiled.clear()
    before = megabytes()
    found: dict[str, float] = {"s": seconds(), "programs": len(compiled)}
    found["MB"] = megabytes() - before
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    found["trimmed"] = megabytes() - before
    return found | {"again": seconds()}


def measured(learners: str, n_sizes: int) -> tuple[str, ...]:
    """One row of the table, from a process of its own."""
    command = [sys.executable, __file__, "--cell", learners, "--sizes", str(n_sizes)]
    done = subprocess.run(
        command, env=os.environ | NO_CACHE, check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout.splitlines()[-1])
    numbers = (f"{found[name]:.0f}" for name in ("programs", "MB", "trimmed"))
    return (learners, str(n_sizes), f"{found['s']:.1f}", f"{found['again']:.1f}", *numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one pair of learners, 5 sizes")
    parser.add_argument("--sizes", type=int, default=163, help="numbers of observations")
    parser.add_argument("--pairs", nargs="+", default=list(PAIRS))
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        print(json.dumps(loop(arguments.cell.split(","), arguments.sizes)))
        return
    pairs, n_sizes = arguments.pairs, arguments.sizes
    if arguments.quick:
        pairs, n_sizes = pairs[:1], 5
    print(versions())
    print(" | ".join(COLUMNS))
    for learners in pairs:
        print(" | ".join(measured(learners, n_sizes)), flush=True)


if __name__ == "__main__":
    main()
