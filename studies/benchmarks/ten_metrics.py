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

from collections.abc import Iterator
from typing import Any

import numpy as np

import ucvtest as uv
from studies.benchmarks.bench import alone, in_turn, memory, options, show

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


def seconds(n_obs: int, repetitions: int) -> tuple[str, ...]:
    """Processor seconds of one metric, of ten, and of ten with as many fits as one may take."""
    calls = (
        lambda: compared(n_obs, "f1"),
        lambda: compared(n_obs, list(TEN)),
        lambda: compared(n_obs, list(TEN), max_fits=FITS_OF_ONE),
    )
    for call in calls:
        # Compiles.
        call()
    one, ten, more_fits = in_turn(*calls, repeats=repetitions)[:, 1]
    numbers = (one, ten, ten / one, more_fits, more_fits / one)
    return (str(n_obs), *(f"{number:.2f}" for number in numbers))


def largest(n_obs: int) -> tuple[str, ...]:
    """The largest resident set of this process, and above that of 30 observations, in MB."""
    found = []
    for size in (30, n_obs):
        compared(size, list(TEN))
        found.append(memory("VmHWM"))
    return str(n_obs), f"{found[1]:.0f}", f"{found[1] - found[0]:.0f}"


def company() -> Iterator[tuple[str, ...]]:
    """The width of the interval of F1 with company, and with more fits, to that alone."""
    several = ["f1", "mcc", "balanced_accuracy"]
    for n_obs in (60, *SIZES):
        for learners in (LEARNERS, *OTHER_PAIRS):
            frames = [
                compared(n_obs, "f1", learners).frame,
                compared(n_obs, several, learners).frame,
                compared(n_obs, several, learners, max_fits=FITS_OF_ONE).frame,
            ]
            widths = [frame["conf_high"].iloc[0] - frame["conf_low"].iloc[0] for frame in frames]
            ratios = (f"{width / widths[0]:.2f}" for width in widths[1:])
            yield (str(n_obs), " and ".join(learners), *ratios)


def main() -> None:
    parser = options(__doc__, "100 observations, one repetition")
    parser.add_argument("--memory", action="store_true", help="memory instead of seconds")
    parser.add_argument("--company", action="store_true", help="intervals instead of seconds")
    arguments = parser.parse_args()
    last, repetitions = (1, 1) if arguments.quick else (None, 5)
    if arguments.memory:
        rows = (alone(largest, n_obs) for n_obs in SIZES_FOR_MEMORY[:last])
        show(("n", "MB", "above start"), rows)
    elif arguments.company:
        show(("n", "learners", "width with company", "with more fits"), company())
    else:
        many = f"ten from {FITS_OF_ONE} fits, s"
        columns = ("n", "one metric, s", "ten, s", "ratio", many, "ratio")
        show(columns, (seconds(n_obs, repetitions) for n_obs in SIZES[:last]))


if __name__ == "__main__":
    main()
