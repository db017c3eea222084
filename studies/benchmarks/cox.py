"""How much faster is a whole test of "cox" than the same test of scikit-survival's Cox model?

Both are learners of the same `UStatisticTest` of Harrell's concordance, with the same learning sets
and the same number of fits: draws, fits, predictions, pairs of patients and variances count on both
sides. "Default" is the number of fits with which the default call ends by itself. Times are normal
features' and exponential, a third of them censored. Compilation is left out, by a first call; the
estimates must agree.

    python studies/benchmarks/cox.py
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import ucvtest as uv
from studies.benchmarks.machine import versions

COLUMNS = ("n", "p", "pairs", "fits", "learner", "seconds", "processor seconds", "microseconds")
N_FEATURES, REPEATS = 5, 3


def draw_sample(n_obs: int) -> tuple[np.ndarray, Any]:
    """Features and times; about a third are censored."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_obs, N_FEATURES))
    event, end = rng.exponential(np.exp(-x[:, 0])), rng.exponential(2, size=n_obs)
    return x, uv.survival(np.minimum(event, end), event <= end)


def timed(test: uv.UStatisticTest, pairs: int) -> tuple[np.ndarray, uv.TestResult]:
    """Elapsed and processor seconds, and the result."""
    start = np.array([time.perf_counter(), time.process_time()])
    result = test.fit(n_pairs=pairs, variance="jackknife", rng=0, progress=False)
    return np.array([time.perf_counter(), time.process_time()]) - start, result


def measure(n_obs: int, pairs: int | None) -> Iterator[tuple[Any, ...]]:
    """A row for each learner, and the ratios of their times."""
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    x, y = draw_sample(n_obs)
    test = uv.UStatisticTest(x, y, "cox", metric="harrell")
    known = "default" if pairs is None else str(pairs)
    pairs = test.fit(rng=0, progress=False).n_fits // 2 if pairs is None else pairs
    timed(test, pairs)
    ours, result = zip(*(timed(test, pairs) for _ in range(REPEATS)), strict=True)
    estimator = CoxPHSurvivalAnalysis(ties="efron")
    theirs, other = timed(uv.UStatisticTest(x, y, estimator, metric="harrell"), pairs)
    assert abs(result[0].estimate - other.estimate) < 1e-6
    assert result[0].n_fits == other.n_fits
    least = np.min(ours, axis=0)
    for learner, seconds in (("cox", least), ("scikit-survival", theirs)):
        micro = f"{1e6 * seconds[1] / other.n_fits:.0f}"
        printed = (*(f"{each:.2f}" for each in seconds), micro)
        yield (n_obs, N_FEATURES, known, other.n_fits, learner, *printed)
    ratio = (f"{each:.0f}" for each in theirs / least)
    yield (n_obs, N_FEATURES, known, other.n_fits, "times as long", *ratio, "")


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few fits")
    quick = parser.parse_args().quick
    try:
        import sksurv
    except ImportError:
        print("scikit-survival is missing: pip install scikit-survival")
        return
    warnings.simplefilter("ignore", uv.UcvtestWarning)
    print(versions(), "scikit-survival", sksurv.__version__)
    print(" | ".join(COLUMNS))
    with threadpool_limits(1):
        for n_obs, pairs in [(60, 20)] if quick else [(100, None), (100, 1500)]:
            for row in measure(n_obs, pairs):
                print(" | ".join(map(str, row)), flush=True)


if __name__ == "__main__":
    main()
