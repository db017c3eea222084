"""How many sets should be drawn from each half of a random split?

a sets from each half give a x a pairs of disjoint learning sets for 2a fits. For each a: the
Monte-Carlo standard errors of the estimate and of two variances, times the root of the number of
fits (root mean squares of the stated errors over several seeds); and how many times the fits and
the seconds one set from each half needs for the same error of the unbiased variance. LDA against
nearest centroid, two classes, four normal features.

    python studies/benchmarks/designs.py
"""

import time
from collections.abc import Iterator
from unittest import mock

import numpy as np

import ucvtest as uv
from studies.benchmarks.bench import options, show
from ucvtest.methods.ustatistic import budget


def problem(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 4)) * [1, 2, 1, 1] + 0.6 * y[:, None], y


def errors(n: int, g: int, n_sets: int, n_pairs: int, n_seeds: int) -> tuple[np.ndarray, float]:
    """Errors of estimate, unbiased variance and jackknife for one fit, and seconds a fit."""
    test = uv.UStatisticTest(*problem(n), "lda", "nearest_centroid", learn_size=g)
    found, seconds = [], []
    with mock.patch.multiple(budget, SETS_PER_SIDE=n_sets, SETS_PER_SIDE_LARGE=n_sets):
        for seed in range(-1, n_seeds):
            start = time.perf_counter()
            rng = np.random.default_rng(seed + 1)
            result = test.fit(n_pairs=n_pairs, variance="unbiased", rng=rng, progress=False)
            # The first one compiles.
            if seed >= 0:
                seconds.append((time.perf_counter() - start) / result.n_fits)
            table = result.tables["Variances"]
            of = dict(zip(table["variance"], table["mc_se"], strict=True))
            others = (of.get(name, np.nan) for name in ("unbiased", "jackknife"))
            stated = [result.diagnostics["mc_se_estimate"], *others]
            found.append(np.array(stated) ** 2 * result.n_fits)
    return np.sqrt(np.nanmean(found, axis=0)), min(seconds)


COLUMNS = ("n", "g", "sets", "estimate", "unbiased", "jackknife", "fits saved", "seconds saved")


def measure(quick: bool) -> Iterator[tuple[str, ...]]:
    """Rows of the table."""
    n_pairs, n_seeds = (1024, 2) if quick else (8192, 8)
    for n, g in ((60, 12), (60, 20), (60, 26)):
        base, base_seconds = errors(n, g, 1, n_pairs, n_seeds)
        for n_sets in (1, 2, 4, 8, 16):
            error, seconds = errors(n, g, n_sets, n_pairs, n_seeds)
            fits = (base[1] / error[1]) ** 2
            times = fits * base_seconds / seconds
            sizes = (str(number) for number in (n, g, n_sets))
            yield (*sizes, *(f"{value:.3f}" for value in error), f"{fits:.1f}", f"{times:.1f}")


if __name__ == "__main__":
    show(COLUMNS, measure(options(__doc__, "fewer fits").parse_args().quick))
