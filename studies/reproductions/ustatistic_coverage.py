"""How often do the 95% intervals of UStatisticTest contain the true value at n = 60, or fewer?

Two classes with probability 1/2 each, four normal features with standard deviations
(1, 2, 1, 1) and means 0 and 0.6; learning sets of 26; 1000 pairs of learning sets. The truth
comes from a sample of 6000 with 6000 learning sets.
"""

import argparse
import time

import numpy as np
import pandas as pd
from scipy import stats

import ucvtest as uv

PROBLEMS = {
    "LDA against nearest centroid": ("lda", "nearest_centroid"),
    "3 nearest neighbours against LDA": ("knn:3", "lda"),
    "LDA error": ("lda", None),
    "nearest centroid against 3 nearest neighbours": ("nearest_centroid", "knn:3"),
}


NAMES = ("unbiased", "clipped", "midpoint", "jackknife")


def draw_sample(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """One sample of the simulated problem."""
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 4)) * [1, 2, 1, 1] + 0.6 * y[:, None], y


def true_value(learners: tuple[str, str | None], learn_size: int, n: int) -> tuple[float, float]:
    """Expected loss (difference) at this learning-set size, and its standard error."""
    X, y = draw_sample(np.random.default_rng(12345), n)
    test = uv.UStatisticTest(X, y, *learners, learn_size=learn_size)
    found = test.fit(n_pairs=n // 2, variance="jackknife", rng=0)
    return found.estimate, found.se


def covers(result: uv.TestResult, truth: float) -> dict[str, float]:
    """Which intervals contain the true value, Monte-Carlo error or not; and their half-widths."""
    found: dict[str, float] = {}
    for name in NAMES:
        variance = result.diagnostics[f"variance_{name}"]
        normal = name == "unbiased"
        quantile = stats.norm.isf(0.025) if normal else stats.t(result.n_obs - 1).isf(0.025)
        half = quantile * np.sqrt(max(variance, 0.0) + result.diagnostics["mc_se_estimate"] ** 2)
        found[name] = abs(result.estimate - truth) <= half
        found[f"{name} half-width"] = half
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="12 data sets, 200 pairs")
    parser.add_argument("--data-sets", type=int, default=400)
    parser.add_argument("--n-obs", type=int, default=60)
    parser.add_argument("--learn-size", type=int, default=26)
    parser.add_argument("--problem", choices=PROBLEMS, action="append", help="instead of all")
    arguments = parser.parse_args()
    n, g = arguments.n_obs, arguments.learn_size
    n_sets, n_pairs = (12, 200) if arguments.quick else (arguments.data_sets, 1000)

    start = time.perf_counter()
    rows = []
    for title in arguments.problem or PROBLEMS:
        learners = PROBLEMS[title]
        truth, truth_se = true_value(learners, g, 600 if arguments.quick else 6000)
        rng = np.random.default_rng(1)
        runs = []
        for seed in range(n_sets):
            X, y = draw_sample(rng, n)
            test = uv.UStatisticTest(X, y, *learners, learn_size=g)
            result = test.fit(n_pairs=n_pairs, variance="clipped", interval="wald", rng=seed)
            runs.append({"estimate": result.estimate} | covers(result, truth))
        frame = pd.DataFrame(runs)
        row = {"problem": title, "truth": f"{truth:.4f} +- {truth_se:.4f}"}
        width = 1.96 * frame["estimate"].std()
        for name in NAMES:
            half = frame[f"{name} half-width"].mean()
            row[name] = f"{frame[name].mean():.3f}/{half / width:.2f}"
        rows.append(row)
    print(pd.DataFrame(rows).to_string(index=False))
    error = np.sqrt(0.95 * 0.05 / n_sets)
    print(
        f"\ncoverage / mean half-width over 1.96 true standard deviations at n = {n}, learning "
        f"sets of {g}; {n_sets} data sets, "
        f"Monte-Carlo standard error of a coverage of .95: {error:.3f}"
    )
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
