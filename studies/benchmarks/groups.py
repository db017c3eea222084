"""The cost of clusters: a whole `UStatisticTest` with groups and one without, in turn.

LDA, four normal features, learning sets as by default. 120 clusters of one row, and 40 of three
rows, are compared with n = 120 rows without groups, as ratios of processor time: medians over
rounds in which all three take turns.

    python studies/benchmarks/groups.py
"""

import argparse
import time

import numpy as np

import ucvtest as uv
from studies.benchmarks.machine import versions

N_OBS = 120
GROUPS = {
    "no groups": None,
    "120 clusters of one row": np.arange(N_OBS),
    "40 clusters of three rows": np.repeat(np.arange(40), 3),
}


def seconds(test: uv.UStatisticTest, n_pairs: int | str, seed: int) -> tuple[float, int]:
    """Processor time of one fit, and the learners it fitted."""
    start = time.process_time()
    result = test.fit(n_pairs, rng=seed, progress=False)
    return time.process_time() - start, result.n_fits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="2 rounds")
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    rounds = 2 if arguments.quick else arguments.rounds
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N_OBS)
    X = rng.normal(size=(N_OBS, 4)) + 0.6 * y[:, None]
    print(versions())
    for n_pairs in (2000, "auto"):
        tests = [uv.UStatisticTest(X, y, "lda", groups=each) for each in GROUPS.values()]
        for test in tests:
            # The first one compiles.
            test.fit(n_pairs, rng=0, progress=False)
        taken = np.array(
            [[seconds(test, n_pairs, seed) for test in tests] for seed in range(rounds)]
        )
        ratio = np.median(taken[:, :, 0] / taken[:, :1, 0], axis=0)
        for name, value, (_, fits) in zip(GROUPS, ratio, np.median(taken, axis=0), strict=True):
            print(f"n_pairs={n_pairs!r}, {name}: {value:.2f} ({fits:.0f} fits)", flush=True)


if __name__ == "__main__":
    main()
