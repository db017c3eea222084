"""What the default of `compare` costs and gains where learners take their time.

Each learner against logistic regression on 150 observations of breast cancer data: seconds of the
default call, of the 5x2 t test and of the corrected t test on ten folds, in one thread; and the
spread of their estimates over ten seeds on the same data. Writes slow_learners.csv here; with
``--r`` it also runs slow_learners.R, in which R's ranger is fitted through the R package.

    nice python studies/benchmarks/slow_learners.py --r
"""

import argparse
import csv
import math
import os
import subprocess
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
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

TABLE = Path(__file__).with_suffix(".csv")
R_SCRIPT = Path(__file__).with_suffix(".R")

N_OBS, SEEDS, R_FEATURES = 150, range(10), 10
TESTS = {"default": "recommended", "5x2": "five_by_two_t", "corrected t": "corrected_t"}
COLUMNS = ("learner", "seconds a fit", *(f"seconds, {name}" for name in TESTS))
COLUMNS += ("fits, default", "first answer in fits' time")
COLUMNS += (*(f"spread, {name}" for name in TESTS), "spread, default over 5x2")


def learners() -> dict[str, Any]:
    """What people compare, each with a state of its own."""
    searched = make_pipeline(StandardScaler(), SVC())
    return {
        "RandomForestClassifier(100)": RandomForestClassifier(100, random_state=0, n_jobs=1),
        "pipeline with GridSearchCV": GridSearchCV(searched, {"svc__C": [0.1, 1, 10]}, cv=3),
        "HistGradientBoostingClassifier": HistGradientBoostingClassifier(random_state=0),
    }


def other() -> Any:
    """What they are compared with: quick, but fitted one by one too."""
    return make_pipeline(StandardScaler(), LogisticRegression(tol=1e-3, max_iter=50))


def data() -> tuple[np.ndarray, np.ndarray]:
    """Observations, of which the labels are noisy so that learners differ."""
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(20261125)
    rows = rng.choice(len(y), N_OBS, replace=False)
    return X[rows], np.where(rng.random(N_OBS) < 0.1, 1 - y[rows], y[rows])


def compared(X: np.ndarray, y: np.ndarray, learner: Any, test: str, seed: int) -> tuple[Any, float]:
    """The result of a comparison with logistic regression, and its seconds."""
    start = time.perf_counter()
    found = uv.compare(X, y, {"one": learner, "other": other()}, test, rng=seed, n_jobs=1)
    return found.result(), time.perf_counter() - start


def seconds_a_fit(X: np.ndarray, y: np.ndarray, learner: Any) -> float:
    """Of both learners together, on half of the observations, with all predictions."""
    half = N_OBS // 2
    start = time.perf_counter()
    for _ in range(3):
        for one in (learner, other()):
            one.fit(X[:half], y[:half]).predict(X[half:])
    return (time.perf_counter() - start) / 3


def rows() -> Iterator[tuple]:
    """One for each learner."""
    X, y = data()
    for name, learner in learners().items():
        each = seconds_a_fit(X, y, learner)
        found = {
            test: [compared(X, y, learner, named, seed) for seed in SEEDS]
            for test, named in TESTS.items()
        }
        seconds = {test: float(np.median([one[1] for one in runs])) for test, runs in found.items()}
        spread = {
            test: float(np.std([one[0].estimate for one in runs], ddof=1))
            for test, runs in found.items()
        }
        yield row_of(name, each, seconds, found["default"][0][0].n_fits, spread)
        print(name, flush=True)


def row_of(
    name: str, each: float, seconds: dict[str, float], n_fits: int, spread: dict[str, float]
) -> tuple:
    """As the table has it; `each` is the time of one fit of both learners."""
    numbers = [each, *seconds.values()]
    return (
        name,
        *(f"{number:.3g}" for number in numbers),
        n_fits,
        f"{seconds['default'] / each:.1f}",
        *(f"{one:.4f}" for one in spread.values()),
        f"{spread['default'] / spread['5x2']:.2f}",
    )


def row_of_r() -> tuple:
    """R's ranger against R's glm, timed inside R."""
    X, y = data()
    table = np.column_stack([X[:, :R_FEATURES], y])
    lines = "\n".join(",".join(map(str, row)) for row in table.tolist())
    command = ["Rscript", str(R_SCRIPT), str(len(SEEDS))]
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
    typical = {test: float(np.median(found)) for test, found in seconds.items()}
    spread = {test: float(np.std(found, ddof=1)) for test, found in estimates.items()}
    return row_of("R: ranger, through the R package", each, typical, n_fits, spread)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--r", action="store_true", help="R's ranger as well")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    warnings.simplefilter("ignore")
    found = list(rows())
    if arguments.r:
        found.append(row_of_r())
    with TABLE.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *found])


if __name__ == "__main__":
    main()
