"""What the default of `compare` costs and gains with slow learners.

Each learner against logistic regression on 150 observations of breast cancer data: seconds of the
processor for the default call, for the 5x2 t test and for the corrected t test on ten folds, in one
thread; and the spread of their estimates over seeds on the same data. LightGBM takes part where it
is installed. Writes slow_learners.csv here; with ``--r`` it also runs slow_learners.R, in which R's
ranger is fitted through the R package.

    nice python studies/benchmarks/slow_learners.py --r
"""

import csv
import math
import os
import subprocess
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import ucvtest as uv
from studies.benchmarks.bench import options

TABLE = Path(__file__).with_suffix(".csv")
R_SCRIPT = Path(__file__).with_suffix(".R")

N_OBS, R_FEATURES = 150, 10
SEEDS, R_SEEDS = 100, 400
"""Of one seed each there is an estimate of each test. R's learners are quicker to fit."""

RESAMPLES = 2000
"""Of the seeds, for the Monte-Carlo error of a ratio of two spreads."""

TESTS = {"default": "recommended", "5x2": "five_by_two_t", "corrected t": "corrected_t"}
COLUMNS = ("learner", "seconds a fit", *(f"seconds, {name}" for name in TESTS))
COLUMNS += ("fits, default", "first answer in fits' time")
COLUMNS += ("seeds", *(f"spread, {name}" for name in TESTS), "spread, default over 5x2", "+-")


def learners() -> dict[str, Any]:
    """What people compare, each with a state of its own."""
    searched = make_pipeline(StandardScaler(), SVC())
    found = {
        "RandomForestClassifier(100)": RandomForestClassifier(100, random_state=0, n_jobs=1),
        "pipeline with GridSearchCV": GridSearchCV(searched, {"svc__C": [0.1, 1, 10]}, cv=3),
        "HistGradientBoostingClassifier": HistGradientBoostingClassifier(random_state=0),
    }
    if find_spec("lightgbm"):
        boosting = import_module("lightgbm").LGBMClassifier
        found["LGBMClassifier"] = boosting(random_state=0, n_jobs=1, verbose=-1)
    return found


def other() -> Any:
    """The other learner: quick, but also fitted one by one."""
    return make_pipeline(StandardScaler(), LogisticRegression(tol=1e-3, max_iter=50))


def data() -> tuple[np.ndarray, np.ndarray]:
    """Observations with noisy labels, so that learners differ."""
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(20261125)
    rows = rng.choice(len(y), N_OBS, replace=False)
    return X[rows], np.where(rng.random(N_OBS) < 0.1, 1 - y[rows], y[rows])


def compared(X: np.ndarray, y: np.ndarray, learner: Any, test: str, seed: int) -> tuple[Any, float]:
    """The result of a comparison with logistic regression, and its seconds."""
    start = time.process_time()
    found = uv.compare(X, y, {"one": learner, "other": other()}, test, rng=seed, n_jobs=1)
    return found.result(), time.process_time() - start


def seconds_a_fit(X: np.ndarray, y: np.ndarray, learner: Any) -> float:
    """Of both learners together, on half of the observations, with all predictions."""
    half = N_OBS // 2
    start = time.process_time()
    for _ in range(3):
        for one in (learner, other()):
            one.fit(X[:half], y[:half]).predict(X[half:])
    return (time.process_time() - start) / 3


def rows(quick: bool) -> Iterator[tuple]:
    """One for each learner."""
    X, y = data()
    n_seeds = 2 if quick else SEEDS
    for name, learner in list(learners().items())[: 1 if quick else None]:
        each = seconds_a_fit(X, y, learner)
        found = {
            test: [compared(X, y, learner, named, seed) for seed in range(n_seeds)]
            for test, named in TESTS.items()
        }
        seconds = {test: [one[1] for one in runs] for test, runs in found.items()}
        estimates = {test: [one[0].estimate for one in runs] for test, runs in found.items()}
        yield row_of(name, each, seconds, found["default"][0][0].n_fits, estimates)
        print(name, flush=True)


def row_of(
    name: str,
    each: float,
    seconds: Mapping[str, list[float]],
    n_fits: int,
    estimates: Mapping[str, list[float]],
) -> tuple:
    """As the table has it, from a list of each test by seeds.

    `each` is the time of one fit of both learners.
    """
    typical = {test: float(np.median(of_seeds)) for test, of_seeds in seconds.items()}
    of_tests = np.array(list(estimates.values()))
    ratio, error = ratio_of_spreads(estimates["default"], estimates["5x2"])
    return (
        name,
        *(f"{number:.3g}" for number in (each, *typical.values())),
        n_fits,
        f"{typical['default'] / each:.1f}",
        of_tests.shape[1],
        *(f"{spread:.4f}" for spread in of_tests.std(axis=1, ddof=1)),
        f"{ratio:.3f}",
        f"{error:.3f}",
    )


def ratio_of_spreads(first: list[float], second: list[float]) -> tuple[float, float]:
    """With its standard error, by the bootstrap of the seeds."""
    rng = np.random.default_rng(0)

    def resampled(of_seeds: list[float]) -> np.ndarray:
        return rng.choice(of_seeds, (RESAMPLES, len(of_seeds))).std(axis=1, ddof=1)

    ratio = float(np.std(first, ddof=1) / np.std(second, ddof=1))
    return ratio, float(np.std(resampled(first) / resampled(second), ddof=1))


def row_of_r() -> tuple:
    """R's ranger against R's glm, timed inside R."""
    X, y = data()
    table = np.column_stack([X[:, :R_FEATURES], y])
    lines = "\n".join(",".join(map(str, row)) for row in table.tolist())
    command = ["Rscript", str(R_SCRIPT), str(R_SEEDS)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    seconds, estimates = defaultdict(list), defaultdict(list)
    each, n_fits = math.nan, 0
    for line in done.stdout.splitlines():
        match line.split():
            case ["fit", taken]:
                each = float(taken)
            case ["result", name, taken, estimate, fits]:
                test = name.replace("_", " ")
                seconds[test].append(float(taken))
                estimates[test].append(float(estimate))
                n_fits = int(fits) if test == "default" else n_fits
    return row_of("R: ranger, through the R package", each, seconds, n_fits, estimates)


def main() -> None:
    parser = options(__doc__, "one learner, two seeds, nothing written")
    parser.add_argument("--r", action="store_true", help="R's ranger as well")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    warnings.simplefilter("ignore")
    found = list(rows(arguments.quick))
    if arguments.quick:
        print(found)
        return
    if arguments.r:
        found.append(row_of_r())
    with TABLE.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *found])


if __name__ == "__main__":
    main()
