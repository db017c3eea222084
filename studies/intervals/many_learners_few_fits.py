"""The coverage of simultaneous intervals and best sets from twenty fits of each learner.

Problems, learners and true values are those of `many_learners.py`, the first six learners of each
kind, at 10 pairs of disjoint learning sets. "bonferroni" is the share of the width of Bonferroni's
intervals. Rows are kept as they come, and the script goes on where it was stopped.

    python studies/intervals/many_learners_few_fits.py --seconds 240
"""

import argparse
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import ucvtest as uv
from studies.intervals.many_learners import ALPHA, KINDS, learners, sample, truth
from studies.resuming import add_rows

N_LEARNERS, N_PAIRS, SIZES = 6, 10, (60, 100)
COLUMNS = ("kind", "n", "seed", "covered", "best_in_set", "size", "bonferroni")
TABLE = Path(__file__).with_suffix(".csv")


def analysed(kind: str, n: int, seed: int, errors: np.ndarray) -> tuple:
    """The results of one data set."""
    rng = np.random.default_rng([n, KINDS.index(kind), seed, 20])
    X, y = sample(kind, n, rng)
    test = uv.TestSpec("ustatistic", fit={"n_pairs": N_PAIRS, "variance": "few"})
    chosen = learners(kind)[:N_LEARNERS]
    found = uv.compare(X, y, chosen, test, correction="simultaneous", rng=seed)
    together, results = found.together["ustatistic"], found.of_test("ustatistic")
    names, real = together.learners, errors[:N_LEARNERS]
    apart = np.array([real[i] - real[j] for i, j in combinations(range(N_LEARNERS), 2)])
    low, high = np.array(together.intervals(results, ALPHA)).T
    answered = ~np.isnan(low)
    covered = bool(((low <= apart) & (apart <= high))[answered].all())
    kept = together.best_set(ALPHA)
    best = [names[k] in kept for k in range(N_LEARNERS) if real[k] <= real.min() + 1e-12]
    share = together.critical(results, ALPHA).value / stats.norm.isf(ALPHA / 2 / len(apart))
    return kind, n, seed, int(covered), float(np.mean(best)), len(kept), round(share, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=Path, default=Path("build/many_learners_few_fits.csv"))
    parser.add_argument("--samples", type=int, default=200, help="of each kind and size")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--quick", action="store_true", help="one sample, nothing kept")
    arguments = parser.parse_args()
    if arguments.quick:
        print(analysed("equal", 60, 0, np.array(truth("equal", 60, 1))))
        return
    true_values = cache(lambda kind, n: np.array(truth(kind, n, 12)))
    cells = [(kind, n, seed) for seed in range(arguments.samples) for kind in KINDS for n in SIZES]
    add_rows(
        *(arguments.rows, COLUMNS, ("kind", "n", "seed"), cells),
        lambda kind, n, seed: [analysed(kind, n, seed, true_values(kind, n))],
        arguments.seconds,
    )
    cells = pd.read_csv(arguments.rows).groupby(["kind", "n"], sort=False)
    table = cells[["covered", "best_in_set", "size", "bonferroni"]].mean().round(4)
    table.insert(0, "data sets", cells.size())
    table.reset_index().to_csv(TABLE, index=False)
    print(table.to_string())


if __name__ == "__main__":
    main()
