"""How much faster is a whole UStatisticTest than the same fits and predictions by scikit-learn?

Everything counts on our side: learning sets drawn, models fitted, losses, sums, variances and
their Monte-Carlo errors. scikit-learn, with one thread, only fits and predicts the observations
that it has not seen. Two classes, four normal features, n = 120, learning sets of 58. Both are
timed in turn; the ratio is that of the least durations, in elapsed time and in processor time.

The learner is given as the string "lda", and as the scikit-learn estimator that is translated.

    python studies/benchmarks/whole_test.py
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from threadpoolctl import threadpool_limits

import ucvtest as uv
from studies.benchmarks.machine import versions

N_OBS, LEARN_SIZE = 120, 58


def draw_sample() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(N_OBS) % 2
    return rng.normal(size=(N_OBS, 4)) + 0.6 * y[:, None], y


def loop(X: np.ndarray, y: np.ndarray, learning: np.ndarray) -> None:
    for member in learning:
        model = LinearDiscriminantAnalysis().fit(X[member], y[member])
        model.predict(X[~member])


def timed(work: Callable[[], Any]) -> np.ndarray:
    """Elapsed and processor seconds."""
    start = np.array([time.perf_counter(), time.process_time()])
    work()
    return np.array([time.perf_counter(), time.process_time()]) - start


COLUMNS = (
    "learner",
    "n_pairs",
    "fits",
    "us a fit",
    "scikit-learn us",
    "ratio",
    "ratio of processor time",
)


def measure(quick: bool) -> Iterator[tuple[str, ...]]:
    """Rows of the table: a long test, one that ends by itself, and the estimator as an object."""
    n_pairs, n_loop, repeats = (2_000, 20, 2) if quick else (50_000, 300, 15)
    # Normal data has no collinear columns; a warning about them would be about rounding.
    warnings.simplefilter("ignore")
    X, y = draw_sample()
    member = np.arange(N_OBS) < LEARN_SIZE
    rng = np.random.default_rng(1)
    learning = rng.permuted(np.tile(member, (n_loop, 1)), axis=1)
    estimator = LinearDiscriminantAnalysis()
    for learner, pairs in (("lda", n_pairs), ("lda", "auto"), (estimator, n_pairs)):
        test = uv.UStatisticTest(X, y, learner, learn_size=LEARN_SIZE)
        fit = partial(test.fit, n_pairs=pairs, rng=0, progress=False)
        n_fits = fit().n_fits
        ours, theirs = [], []
        for _ in range(repeats):
            ours.append(timed(fit) / n_fits)
            with threadpool_limits(1):
                theirs.append(timed(partial(loop, X, y, learning)) / n_loop)
        least, least_theirs = np.min(ours, axis=0), np.min(theirs, axis=0)
        ratio = least_theirs / least
        yield (
            "lda" if learner == "lda" else "the estimator",
            str(pairs),
            str(n_fits),
            f"{least[0] * 1e6:.2f}",
            f"{least_theirs[0] * 1e6:.0f}",
            f"{ratio[0]:.0f}",
            f"{ratio[1]:.0f}",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer fits")
    quick = parser.parse_args().quick
    print(versions())
    print(" | ".join(COLUMNS))
    for row in measure(quick):
        print(" | ".join(row), flush=True)


if __name__ == "__main__":
    main()
