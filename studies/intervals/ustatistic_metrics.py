"""Does the U-statistic test of F1 and of MCC keep its level, from few fits and from a thousand?

Two problems of two normal classes, n = 60: in the first a third is positive, in the second an
eighth with one more feature of noise. Learners are "lda" and "knn:5"; their true values are those
of the parts expected over rules learnt from 29 observations. Rows are kept as they come, and the
script goes on where it was stopped.

    python studies/intervals/ustatistic_metrics.py --seconds 240
    python studies/intervals/ustatistic_metrics.py --quick
"""

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import ucvtest as uv
from ucvtest.metrics.named import as_smooth_metric

N_OBS, LEARN_SIZE = 60, 29
PAIRS = {20: 10, 1000: 500}
"""Fits of each learner, and pairs of learning sets."""
METRICS = ("f1", "mcc")
LEARNERS = {"lda": LinearDiscriminantAnalysis(), "knn:5": KNeighborsClassifier(5)}
TARGETS = {"one": ("lda",), "difference": ("lda", "knn:5")}
COLUMNS = ("problem", "number", "metric", "target", "fits", "estimate", "low", "high")
N_RULES, N_NEW = 600, 2000


@dataclass(frozen=True)
class Problem:
    """Two normal classes, apart in the first feature alone."""

    positive: float
    apart: float
    n_features: int

    def sample(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Features and labels; two of each class at least."""
        while True:
            y = (rng.random(n) < self.positive).astype(int)
            if 2 <= y.sum() <= n - 2:
                break
        X = rng.normal(size=(n, self.n_features))
        X[:, 0] += self.apart * y
        return X, y


PROBLEMS = {"third": Problem(1 / 3, 1.5, 3), "eighth": Problem(1 / 8, 2.0, 4)}


def truths(problem: Problem, n_rules: int = N_RULES) -> dict[tuple[str, str], float]:
    """The metrics of the parts expected over rules and new observations, by metric and target."""
    rng = np.random.default_rng(1)
    tables = {name: np.zeros((2, 2)) for name in LEARNERS}
    for _ in range(n_rules):
        X, y = problem.sample(rng, LEARN_SIZE)
        new, labels = problem.sample(rng, N_NEW)
        for name, learner in LEARNERS.items():
            predicted = learner.fit(X, y).predict(new)
            np.add.at(tables[name], (labels, predicted), 1 / (n_rules * N_NEW))
    found = {}
    for metric in METRICS:
        function = as_smooth_metric(metric).made_for([0, 1])
        first, other = (function.value_and_gradient(tables[name])[0] for name in LEARNERS)
        found |= {(metric, "one"): first, (metric, "difference"): first - other}
    return found


def rows_of(name: str, number: int) -> Iterator[tuple]:
    """Estimates and intervals of a sample."""
    rng = np.random.default_rng([number, *name.encode()])
    X, y = PROBLEMS[name].sample(rng, N_OBS)
    for fits, pairs in PAIRS.items():
        design = uv.designs.DisjointSets(LEARN_SIZE, pairs, n_sets=1)
        losses = uv.evaluate(list(TARGETS["difference"]), X, y, design, metric="f1", rng=number)
        for metric in METRICS:
            for target, learners in TARGETS.items():
                test = uv.UStatisticTest.from_losses(losses.about(metric), *learners)
                found = test.fit(variance="few" if fits == 20 else "auto")
                numbers = found.estimate, *found.conf_int()
                yield name, number, metric, target, fits, *(f"{x:.6g}" for x in numbers)


def simulate(path: Path, n_samples: int, seconds: float) -> None:
    """Rows, a sample of each problem at a time, until there are enough or time is up."""
    done = set()
    if path.exists():
        kept = pd.read_csv(path)
        done = set(zip(kept["problem"], kept["number"], strict=True))
    start = time.process_time()
    with path.open("a", newline="") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", uv.UcvtestWarning)
        writer = csv.writer(file)
        if not done:
            writer.writerow(COLUMNS)
        for number in range(n_samples):
            for name in PROBLEMS:
                if (name, number) in done:
                    continue
                if time.process_time() - start > seconds:
                    return
                writer.writerows(list(rows_of(name, number)))
                file.flush()


def table_of(rows: pd.DataFrame, n_rules: int = N_RULES) -> pd.DataFrame:
    """Coverage, width and answers of each cell."""
    known = {name: truths(problem, n_rules) for name, problem in PROBLEMS.items()}
    found = []
    for key, cell in rows.groupby(["problem", "metric", "target", "fits"]):
        name, metric, target, _ = key
        truth = known[name][metric, target]
        answered = cell[cell["low"].notna()]
        covered = (answered["low"] <= truth) & (truth <= answered["high"])
        row = dict(zip(("problem", "metric", "target", "fits_of_each"), key, strict=True))
        row |= {"truth": truth, "samples": len(cell), "answered": len(answered)}
        row |= {"bias": cell["estimate"].mean() - truth, "sd": cell["estimate"].std()}
        row |= {"covered": covered.mean(), "width": (answered["high"] - answered["low"]).mean()}
        found.append(row)
    return pd.DataFrame(found)


def main() -> None:
    """Go on with the samples, and print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rows", type=Path, default=Path("build/ustatistic_metrics.csv"))
    parser.add_argument("--samples", type=int, default=200, help="of each problem")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--quick", action="store_true", help="one sample, nothing kept")
    arguments = parser.parse_args()
    if arguments.quick:
        found = pd.DataFrame(list(rows_of("third", 0)), columns=list(COLUMNS))
        print(found.to_string(index=False))
        return
    arguments.rows.parent.mkdir(parents=True, exist_ok=True)
    simulate(arguments.rows, arguments.samples, arguments.seconds)
    table = table_of(pd.read_csv(arguments.rows))
    table.to_csv(Path(__file__).with_suffix(".csv"), index=False, float_format="%.4g")
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
