"""Do seconds grow linearly with the number of fits, and does memory stay flat?

One whole UStatisticTest (LDA, n = 120, four features) for each number of pairs, in a process of
its own, so that the largest resident memory (as Linux tells it) belongs to this run alone. Draws
scaling.png.

    python studies/benchmarks/scaling.py
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import ucvtest as uv
from studies.benchmarks.bench import alone, memory, options, seconds, show


def run(n_pairs: int) -> list[float]:
    """Fits, the largest memory in MB, elapsed seconds, processor seconds of all cores."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 4)) + 0.6 * y[:, None]
    test = uv.UStatisticTest(X, y, "lda", learn_size=40)
    n_fits: list[int] = []

    def fit(n_pairs: int) -> None:
        n_fits.append(test.fit(n_pairs=n_pairs, rng=0, progress=False).n_fits)

    fit(4096)
    spent = seconds(lambda: fit(n_pairs))
    return [n_fits[-1], memory("VmHWM"), *spent]


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
        found = np.array([alone(run, 2**power) for _ in range(1 if quick else 3)])
        rows.append([*found.max(axis=0)[:2], *found.min(axis=0)[2:]])
    return np.array(rows)


def powers_of_growth(rows: np.ndarray) -> np.ndarray:
    """The powers of the number of fits that elapsed and processor seconds grow with."""
    return np.polyfit(np.log(rows[:, 0]), np.log(rows[:, 2:]), 1)[0]


def main() -> None:
    parser = options(__doc__, "fewer fits")
    parser.add_argument("--plot", type=Path, default=Path("build/scaling.png"))
    arguments = parser.parse_args()
    rows = measure(arguments.quick)
    show(
        ("fits", "seconds", "processor seconds", "us a fit", "largest memory, MB"),
        (
            (f"{n:.0f}", f"{spent:.3f}", f"{used:.3f}", f"{spent / n * 1e6:.2f}", f"{most:.0f}")
            for n, most, spent, used in rows
        ),
    )
    powers = " and ".join(f"{power:.2f}" for power in powers_of_growth(rows))
    print(f"elapsed and processor time grow with the fits to the powers of {powers}")
    arguments.plot.parent.mkdir(parents=True, exist_ok=True)
    draw(rows, arguments.plot)


if __name__ == "__main__":
    main()
