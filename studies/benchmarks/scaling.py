"""Do seconds grow linearly with the number of fits, and does memory stay flat?

One whole UStatisticTest (LDA, n = 120, four features) for each number of pairs, in a process of
its own, so that the largest resident memory (as Linux tells it) belongs to this run alone. Draws
scaling.png.

    python studies/benchmarks/scaling.py
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from studies.benchmarks.machine import versions

# Not ru_maxrss, which a process inherits from the one that starts it.
RUN = """
import json, sys, time
import numpy as np
import ucvtest as uv
rng = np.random.default_rng(0)
y = np.arange(120) % 2
X = rng.normal(size=(120, 4)) + 0.6 * y[:, None]
test = uv.UStatisticTest(X, y, "lda", learn_size=40)
test.fit(n_pairs=4096, rng=0, progress=False)
start = time.perf_counter(), time.process_time()
result = test.fit(n_pairs=int(sys.argv[1]), rng=0, progress=False)
seconds = time.perf_counter() - start[0], time.process_time() - start[1]
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
memory = int(status["VmHWM"].split()[0]) / 1024
print(json.dumps([result.n_fits, memory, *seconds]))
"""


def run(n_pairs: int) -> list[float]:
    """Fits, the largest memory in MB, elapsed seconds, processor seconds of all cores."""
    command = [sys.executable, "-c", RUN, str(n_pairs)]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[float] = json.loads(finished.stdout)
    return found


def draw(rows: np.ndarray, path: Path) -> None:
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(rows[:, 0], rows[:, 2], "o-", label="elapsed")
    left.plot(rows[:, 0], rows[:, 3], "s--", label="of the processor")
    left.set(xlabel="fits", ylabel="seconds", xscale="log", yscale="log")
    left.legend()
    right.plot(rows[:, 0], rows[:, 1], "o-")
    ends = (0, 1.3 * rows[:, 1].max())
    right.set(xlabel="fits", ylabel="largest memory, MB", xscale="log", ylim=ends)
    figure.savefig(path, dpi=150)


def measure(quick: bool) -> np.ndarray:
    """What `run` returns for each number of pairs: the least times, and the largest memory."""
    rows = []
    for power in range(13, 16 if quick else 20):
        found = np.array([run(2**power) for _ in range(1 if quick else 3)])
        rows.append([*found.max(axis=0)[:2], *found.min(axis=0)[2:]])
    return np.array(rows)


def powers_of_growth(rows: np.ndarray) -> np.ndarray:
    """The powers of the number of fits that elapsed and processor seconds grow with."""
    return np.polyfit(np.log(rows[:, 0]), np.log(rows[:, 2:]), 1)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer fits")
    parser.add_argument("--plot", type=Path, default=Path("build/scaling.png"))
    arguments = parser.parse_args()
    rows = measure(arguments.quick)
    print(versions())
    print("fits | seconds | processor seconds | us a fit | largest memory, MB")
    for n_fits, memory, elapsed, processor in rows:
        each = elapsed / n_fits * 1e6
        print(f"{n_fits:.0f} | {elapsed:.3f} | {processor:.3f} | {each:.2f} | {memory:.0f}")
    powers = " and ".join(f"{power:.2f}" for power in powers_of_growth(rows))
    print(f"elapsed and processor time grow with the fits to the powers of {powers}")
    arguments.plot.parent.mkdir(parents=True, exist_ok=True)
    draw(rows, arguments.plot)


if __name__ == "__main__":
    main()
