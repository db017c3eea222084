"""Do seconds grow linearly with the number of fits, and does memory stay flat?

One whole UStatisticTest (LDA, n = 120, four features) for each number of pairs, in a process of
its own, so that the largest resident memory belongs to this run alone. Draws scaling.png.

    python examples/benchmarks/scaling.py
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from machine import versions
from matplotlib.figure import Figure

RUN = """
import json, resource, sys, time
import numpy as np
import ucvtest as uv
rng = np.random.default_rng(0)
y = np.arange(120) % 2
X = rng.normal(size=(120, 4)) + 0.6 * y[:, None]
test = uv.UStatisticTest(X, y, "lda", learn_size=40)
test.fit(n_pairs=4096, rng=0, progress=False)
start = time.perf_counter()
result = test.fit(n_pairs=int(sys.argv[1]), rng=0, progress=False)
seconds = time.perf_counter() - start
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([result.n_fits, seconds, memory]))
"""


def run(n_pairs: int) -> list[float]:
    """Fits, seconds, and the largest memory in MB."""
    command = [sys.executable, "-c", RUN, str(n_pairs)]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[float] = json.loads(finished.stdout)
    return found


def draw(rows: np.ndarray, path: Path) -> None:
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(rows[:, 0], rows[:, 1], "o-")
    left.set(xlabel="fits", ylabel="seconds", xscale="log", yscale="log")
    right.plot(rows[:, 0], rows[:, 2], "o-")
    right.set(xlabel="fits", ylabel="largest memory, MB", xscale="log", ylim=(0, None))
    figure.savefig(path, dpi=150)


def measure(quick: bool) -> np.ndarray:
    """Fits, seconds and largest memory for each number of pairs."""
    return np.array([run(2**power) for power in range(13, 16 if quick else 20)])


def power_of_growth(rows: np.ndarray) -> float:
    """The power of the number of fits that seconds grow with."""
    return float(np.polyfit(np.log(rows[:, 0]), np.log(rows[:, 1]), 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer fits")
    parser.add_argument("--plot", type=Path, default=Path("scaling.png"))
    arguments = parser.parse_args()
    rows = measure(arguments.quick)
    print(versions())
    print("fits | seconds | us a fit | largest memory, MB")
    for n_fits, seconds, memory in rows:
        print(f"{n_fits:.0f} | {seconds:.3f} | {seconds / n_fits * 1e6:.2f} | {memory:.0f}")
    print(f"seconds grow with the fits to the power of {power_of_growth(rows):.2f}")
    draw(rows, arguments.plot)


if __name__ == "__main__":
    main()
