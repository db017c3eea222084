"""Values that Python and R have to agree on: the file both test suites read, and how it is made.

``python -m tests.support.golden`` writes the file again; it needs R.
"""

import csv
import inspect
import subprocess
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

import ucvtest as uv
from tests.support.paths import ROOT

FILE = ROOT / "r_bridge/ucvtest/tests/testthat/golden.csv"

CLASSES = {
    "ustat_test": "UStatisticTest",
    "influence_test": "InfluenceFunctionTest",
    "fold_covariance_test": "FoldCovarianceTest",
    "leave_pair_out_test": "LeavePairOutTest",
    "permutation_complexity_test": "PermutationComplexityTest",
}

# Arguments in a notation that is both Python and R.
CASES = [
    (
        "ustat_test",
        'learner="lda", other="nearest_centroid", learn_size=20, n_pairs=400, variance="clipped"',
    ),
    ("ustat_test", 'learner="knn:3", other="lda", n_pairs=400, variance="jackknife"'),
    (
        "ustat_test",
        'learner="lda", n_pairs=400, null_value=0.5, alternative="less", '
        'variance="clipped", interval="wald"',
    ),
    ("ustat_test", 'learner="knn:5", learn_size=15, loss="log", n_pairs=200, variance="unbiased"'),
    (
        "ustat_test",
        'learner="ridge:1.0", other="majority", loss="squared", tol=0.2, variance="clipped"',
    ),
    (
        "influence_test",
        'learner="lda", other="knn:5", n_repeats=100, variance="influence"',
    ),
    ("influence_test", 'learner="lda", metric="error", n_folds=4, n_repeats=50'),
    ("fold_covariance_test", 'learner="lda", other="knn:1"'),
    ("fold_covariance_test", 'learner="knn:3", n_folds=6, rho=0.3, n_repeats=2, null_value=0.5'),
    ("leave_pair_out_test", 'learner="ridge:1.0", n_permutations=99'),
    ("leave_pair_out_test", 'learner="knn:3", pvalue="wmw"'),
    ("permutation_complexity_test", 'learner="knn:3", n_permutations=50'),
    ("permutation_complexity_test", 'learner="ridge:1.0", loss="squared", sampling="bootstrap"'),
    ("influence_test", 'learner="lda", other="knn:5"'),
    ("influence_test", 'learner="lda", scheme="repeated"'),
    ("ustat_test", 'learner="lda", n_pairs=400, null_value=0.5'),
    ("ustat_test", 'learner="ridge:1.0", loss="squared", n_pairs=400, null_value=0.2'),
    ("ustat_test", 'learner="lda", other="nearest_centroid", learn_size=20'),
]

NUMBERS = ("estimate", "se", "statistic", "pvalue", "conf_low", "conf_high")


def sample() -> tuple[np.ndarray, np.ndarray]:
    """Two features of 30 versicolor and 30 virginica, which R has too."""
    iris = load_iris()
    rows = np.r_[50:80, 100:130]
    return iris.data[rows, :2], iris.target_names[iris.target[rows]]


def result_of(test: str, arguments: str, rng: int) -> uv.TestResult:
    """What Python says."""
    cls = getattr(uv, CLASSES[test])
    given: dict[str, Any] = eval(f"dict({arguments})")
    for_fit = set(inspect.signature(cls.fit).parameters) & set(given)
    made = cls(*sample(), **{name: given[name] for name in given if name not in for_fit})
    return made.fit(**{name: given[name] for name in for_fit}, rng=rng)


def numbers_of(test: str, result: uv.TestResult) -> list[float]:
    """The numbers that are compared, as R shows them: no statistic where nothing is tested."""
    values = [*(getattr(result, name) for name in NUMBERS[:4])]
    if np.isnan(result.null_value) and np.isnan(result.pvalue):
        values[2:] = [np.nan, np.nan]
    frame = result.summary_frame()
    return [*values, float(frame["conf_low"][0]), float(frame["conf_high"][0])]


def _drawn_by_r(seed: int) -> int:
    code = f"set.seed({seed}); cat(sample.int(.Machine$integer.max, 1))"
    return int(subprocess.run(["Rscript", "-e", code], capture_output=True, check=True).stdout)


def main() -> None:
    with FILE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["test", "arguments", "seed", "rng", *NUMBERS])
        for seed, (test, arguments) in enumerate(CASES, start=1):
            rng = _drawn_by_r(seed)
            numbers = numbers_of(test, result_of(test, arguments, rng))
            writer.writerow([test, arguments, seed, rng, *map(repr, map(float, numbers))])


if __name__ == "__main__":
    main()
