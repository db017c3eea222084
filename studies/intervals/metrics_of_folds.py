"""Coverage of metrics of cross-validated predictions, about the rules that were learnt here.

Each sample is divided into folds; the true value is the metric of the rules of all folds on 2500
new observations, parts pooled. `CrossValidationWaldTest` tests the first learner alone, and its
difference to the second. None of these populations was looked at when the rules were chosen. Rows
come in batches of ten samples, and the script goes on where it was stopped.

    python studies/intervals/metrics_of_folds.py --seconds 600
    python studies/intervals/metrics_of_folds.py --table
"""

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.resuming import add_rows

BATCH, NEW, SIZES, FOLDS = 10, 2500, (50, 100), (5, 10)
LABELS, PROBABILITIES = ("f1", "balanced_accuracy", "mcc", "f1_macro"), ("brier_skill",)
NUMBERS = ("r2", "rmse")
TABLE = Path(__file__).with_suffix(".csv")
COLUMNS = ("problem", "n", "folds", "batch", "metric", "target", "samples", "answered", "covered")
COLUMNS += ("rejected", "width")

PROBLEMS = {
    # Share of the positive class, signal in each of four features, learners, metrics.
    "even": (0.5, 0.6, ("lda", "nearest_centroid"), LABELS),
    "rare": (0.2, 0.8, ("lda", "gaussian_nb"), LABELS),
    "neighbours": (0.4, 0.7, ("knn:5", "lda"), LABELS),
    "weak": (0.5, 0.2, ("lda", "knn:3"), LABELS),
    "numbers": (None, 0.5, ("ridge:1", "ridge:100"), NUMBERS),
    "weak_numbers": (None, 0.15, ("ridge:1", "ridge:100"), NUMBERS),
    "noise": (None, 0.0, ("ridge:1", "ridge:100"), NUMBERS),
    "probabilities": (0.4, 0.7, ("lda", "gaussian_nb"), PROBABILITIES),
    "weak_probabilities": (0.4, 0.2, ("lda", "gaussian_nb"), PROBABILITIES),
}


def drawn(problem: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Features and response of n observations, both classes among the first forty rows."""
    share, signal, *_ = PROBLEMS[problem]
    X = rng.normal(size=(n, 4))
    if share is None:
        return X, signal * X.sum(axis=1) + rng.normal(size=n)
    y = (rng.random(n) < share).astype(int)
    X += signal * (y[:, None] - share)
    X[:, 3] **= 2
    return X, y


def sample_rows(problem: str, n: int, folds: int, number: int) -> Iterator[tuple]:
    """The result of one sample: metric, target, answer, coverage, rejection, width."""
    rng = np.random.default_rng([list(PROBLEMS).index(problem), n, folds, number])
    X, y = drawn(problem, n + NEW, rng)
    share, _, learners, metrics = PROBLEMS[problem]
    classes = share is not None
    if classes and np.bincount(y[:n], minlength=2).min() < folds:
        return
    fold = np.arange(n) % folds
    if classes:
        # In proportion, as most people draw them.
        fold[np.argsort(y[:n], kind="stable")] = np.arange(n) % folds
    new = np.arange(n, n + NEW)
    learnt = [np.flatnonzero(fold != k) for k in range(folds)]
    own = [(learnt[k], np.flatnonzero(fold == k)) for k in range(folds)]
    found = uv.evaluate([*learners], X[:n], y[:n], design=own, metric=metrics[0], rng=0)
    real = uv.evaluate(
        [*learners], X, y, design=[(each, new) for each in learnt], metric=metrics[0], rng=0
    )
    for metric in metrics:
        values = real.about(metric).values.mean(axis=1)
        about = found.about(metric)
        for target, value in (("one", values[0]), ("difference", values[0] - values[1])):
            other = 1 if target == "difference" else None
            test = uv.CrossValidationWaldTest.from_losses(about, 0, other)
            low, high = test.fit().conf_int()
            answered = not np.isnan(low)
            width = high - low if answered else 0.0
            yield metric, target, answered, low <= value <= high, not low <= 0 <= high, width


def batch_rows(problem: str, n: int, folds: int, batch: int) -> list[tuple]:
    """What ten samples say, a row for each metric and target."""
    sums: dict[tuple[str, str], np.ndarray] = {}
    for number in range(BATCH * batch, BATCH * (batch + 1)):
        for metric, target, *counts in sample_rows(problem, n, folds, number):
            each = sums.setdefault((metric, target), np.zeros(5))
            each += [1, *counts]
    return [
        (problem, n, folds, batch, *key, *each[:4].astype(int), each[4])
        for key, each in sums.items()
    ]


def in_short(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell, with the standard error of coverage."""
    keys = ["problem", "n", "folds", "metric", "target"]
    names = ["samples", "answered", "covered", "rejected", "width"]
    cells = rows.groupby(keys, sort=False)[names].sum()
    covered = cells["covered"] / cells["answered"]
    found = cells[["samples"]].astype(int)
    found["covered"] = covered.round(4)
    found["se"] = np.sqrt(covered * (1 - covered) / cells["answered"]).round(4)
    found["rejects_0"] = (cells["rejected"] / cells["answered"]).round(4)
    found["width"] = (cells["width"] / cells["answered"]).round(4)
    return found.reset_index()


def with_known(table: pd.DataFrame) -> pd.DataFrame:
    """The table, with the cells of the file that have had more samples."""
    both = pd.concat([pd.read_csv(TABLE), table], ignore_index=True)
    keys = ["problem", "n", "folds", "metric", "target"]
    most = both.groupby(keys, sort=False)["samples"].transform("max")
    return both[both["samples"] == most].drop_duplicates(keys, keep="last")


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rows", type=Path, default=Path("build/metrics_of_folds.csv"))
    parser.add_argument("--batches", type=int, default=40, help="of each problem, size and folds")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--quick", action="store_true", help="one batch, nothing kept")
    parser.add_argument("--table", action="store_true", help="write the table of what there is")
    arguments = parser.parse_args()
    if arguments.quick:
        rows = pd.DataFrame(batch_rows("even", 50, 5, 0), columns=list(COLUMNS))
        print(in_short(rows).to_string(index=False))
        return
    if not arguments.table:
        batches = range(arguments.batches)
        wanted = list(product(batches, PROBLEMS, SIZES, FOLDS))
        cells = [(problem, n, folds, batch) for batch, problem, n, folds in wanted]
        add_rows(arguments.rows, COLUMNS, COLUMNS[:4], cells, batch_rows, arguments.seconds)
    table = with_known(in_short(pd.read_csv(arguments.rows)))
    table.to_csv(TABLE, index=False)
    print(table.groupby(["metric", "target"])["covered"].agg(["mean", "min", "size"]).round(3))


if __name__ == "__main__":
    main()
