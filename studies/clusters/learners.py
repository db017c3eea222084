"""How often do 95% intervals contain the true value for rows in clusters, with and without groups=?

Clusters of 1 to 8 rows, each size as often as the others; two classes with probability 1/2, four
correlated normal features. Labels and features of two rows of a cluster have the intracluster
correlation that the table says. U-statistic, influence functions and the corrected t-test, each as
it comes, only that the U-statistic stops at a Monte-Carlo error of a fifth (tol=0.2) and influence
functions are of 1000 repeats. The truth is about a random row of a new cluster (AUC: rows of one
class in a cluster share one weight); it comes from clusters that are simulated again. The same data
are also analysed as if all rows were independent, with learning sets of the same share of rows, and
compared with the truth about random rows; "optimism" is how far the estimates are below the true
error (above the true AUC), on average.

Finished work is kept in a CSV file, cell by cell, so that the script can be stopped and run again.
learners.csv next to it contains the cells that have been run, of 300 data sets each; a copy of
it as --out is continued. "data_sets" were drawn, "no_answer" of them have none (a test set
without pairs, or too few draws); the other columns are about the rest.
"""

import argparse
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import ucvtest as uv

LEARNERS = ("lda", "gaussian_nb", "knn:5")
CUT = np.array([0.0, 0.0, 0.5])
"""Scores above are class 1: log-odds, and the share of neighbours."""

QUESTIONS = (("lda", None), ("knn:5", None), ("lda", "gaussian_nb"), ("knn:5", "lda"))
N_CLUSTERS, CORRELATIONS = (20, 40, 100), (0.0, 0.3, 0.8)
LOSSES = ("zero_one", "auc")

MIX = np.linalg.cholesky(np.full((4, 4), 0.5) + 0.5 * np.eye(4)).T
SHIFT = np.array([1.0, 0.6, 0.0, 0.3])

POOLS, POOL_CLUSTERS, POOL_SETS = 40, 200, 3
"""The truth: pools of clusters, and learning sets drawn from each of them."""

BY_ROW = {"zero_one": 10, "auc": 60}
"""Of so many data sets one is analysed without groups too, which takes longer."""

TESTS = {
    "ustatistic": (uv.UStatisticTest, {"tol": 0.2}),
    "influence": (uv.InfluenceFunctionTest, {"n_repeats": 1000}),
    "influence, halves": (uv.InfluenceFunctionTest, {"n_repeats": 1000}),
    "corrected_t": (uv.CorrectedTTest, {}),
}

Data = tuple[np.ndarray, np.ndarray, np.ndarray]


def draw(rng: np.random.Generator, n_clusters: int, correlation: float) -> Data:
    """Features, labels and clusters of one sample; its number of rows is always the same."""
    whole, rest = divmod(n_clusters, 8)
    sizes = [*list(range(1, 9)) * whole, *[4, 5, 2, 7, 1, 8, 3][:rest]]
    index = np.repeat(np.arange(n_clusters), rng.permutation(sizes))
    shared = rng.random(len(index)) < np.sqrt(correlation)
    of_cluster = rng.integers(0, 2, n_clusters)[index]
    y = np.where(shared, of_cluster, rng.integers(0, 2, len(index)))
    common = rng.normal(size=(n_clusters, 4))[index]
    noise = rng.normal(size=(len(index), 4))
    X = (np.sqrt(correlation) * common + np.sqrt(1 - correlation) * noise) @ MIX + SHIFT * y[
        :, None
    ]
    return X, y, index


@cache
def true_values(
    n_learnt: int, correlation: float, n_sets: int = POOL_SETS
) -> dict[tuple[str, str, bool], np.ndarray]:
    """Expected loss and AUC of each learner after that many clusters, by pool.

    The AUC has two: about clusters (True), and about rows.
    """
    rng = np.random.default_rng([n_learnt, int(100 * correlation)])
    found = []
    for pool in range(POOLS):
        X, y, index = draw(rng, POOL_CLUSTERS, correlation)
        learnt = rng.permuted(np.tile(np.arange(POOL_CLUSTERS) < n_learnt, (n_sets, 1)), axis=1)
        design = uv.designs.Design.leave_rest_out(learnt[:, index])
        losses = uv.evaluate(LEARNERS, X, y, design, "auc", rng=pool)
        scores = np.split(losses.values, np.cumsum(design.testing.sum(axis=1))[:-1], axis=1)
        each = [
            means(one, y[tested], index[tested])
            for one, tested in zip(scores, design.testing, strict=True)
        ]
        found.append(np.mean(each, axis=0))
    by_kind = np.moveaxis(np.array(found), 0, -1)
    keys = product(LOSSES, (True, False), LEARNERS)
    return dict(zip(keys, by_kind.reshape(-1, POOLS), strict=True))


def means(scores: np.ndarray, y: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Errors twice, and AUCs over pairs of rows of different clusters, weighted and by row."""
    errors = ((scores > CUT[:, None]) != y).mean(axis=1)
    return np.concatenate([[errors, errors], mean_aucs(scores, y, index)])


def mean_aucs(scores: np.ndarray, y: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Of each learner, over pairs of rows of different clusters: weighted, and by row; (2, L)."""
    first, second = y == 1, y == 0
    differ = index[first][:, None] != index[second]
    right = np.sign(scores[:, first, None] - scores[:, None, second]) / 2 + 0.5
    share = 1 / np.bincount(2 * index + y)[2 * index + y]
    weights = (share[first][:, None] * share[second] * differ, differ * 1.0)
    return np.array([(right * weight).sum(axis=(1, 2)) / weight.sum() for weight in weights])


def results(
    data: Data, name: str, loss: str, seed: int, *, grouped: bool
) -> Iterator[tuple[tuple[str, str | None], uv.TestResult | None]]:
    """The test of every question; None where there is no answer."""
    X, y, index = data
    test, options = TESTS[name]
    groups = index if grouped else None
    n_clusters = index.max() + 1
    sizes = {} if grouped else {"learn_size": round(len(y) * learn_size(n_clusters) / n_clusters)}
    metric = {"metric": "auc" if loss == "auc" else "error"}
    chosen = {
        "ustatistic": {"loss": loss} | sizes,
        "influence": metric,
        "influence, halves": {**metric, "n_folds": 2},
        "corrected_t": {"loss": loss},
    }
    for question in QUESTIONS:
        result = None
        # Test sets of one class have no AUC.
        with suppress(ValueError):
            made = test(X, y, *question, groups=groups, **chosen[name])
            result = made.fit(rng=seed, **options)
        yield question, result if result and result.status == "ok" else None


def learn_size(n_clusters: int) -> int:
    """Clusters that the U-statistic test learns from."""
    return n_clusters // 2 - 1


def cell(
    name: str, n_clusters: int, correlation: float, loss: str, n_sets: int, pool_sets: int
) -> pd.DataFrame:
    """Coverage of a test for each question, with clusters and without."""
    learnt = {
        "ustatistic": learn_size(n_clusters),
        "influence": n_clusters * 4 // 5,
        "influence, halves": n_clusters // 2,
        "corrected_t": n_clusters * 9 // 10,
    }
    truth = true_values(learnt[name], correlation, pool_sets)
    rng = np.random.default_rng([n_clusters, int(100 * correlation), 1])
    rows = []
    for seed in range(n_sets):
        data = draw(rng, n_clusters, correlation)
        for grouped in (True, False) if seed % BY_ROW[loss] == 0 else (True,):
            for (learner, other), result in results(data, name, loss, seed, grouped=grouped):
                by_pool = truth[loss, grouped, learner]
                if other:
                    by_pool = by_pool - truth[loss, grouped, other]
                row = {
                    "test": name,
                    "learners": learner if other is None else f"{learner} - {other}",
                    "grouped": grouped,
                    "data_sets": seed,
                    "true": by_pool.mean(),
                    "se_true": by_pool.std(ddof=1) / np.sqrt(POOLS),
                }
                rows.append(row if result is None else row | shown(result, row["true"], loss))
    found = pd.DataFrame(rows).groupby(["test", "learners", "grouped"], sort=False)
    table = found.mean().drop(columns="data_sets")
    counts = found.agg(data_sets=("data_sets", "size"), answered=("covered", "count"))
    table["data_sets"] = counts["data_sets"]
    table["no_answer"] = counts["data_sets"] - counts["answered"]
    table["sd"] = found["estimate"].std()
    return table.reset_index().assign(clusters=n_clusters, correlation=correlation, loss=loss)


def shown(result: uv.TestResult, true: float, loss: str) -> dict[str, float]:
    """The kept parts of an answer."""
    low, high = result.conf_int()
    return {
        "covered": float(low <= true <= high),
        "width": high - low,
        "estimate": result.estimate,
        "optimism": (true - result.estimate) * (-1 if loss == "auc" else 1),
    }


def summary(table: pd.DataFrame) -> str:
    """Coverage and optimism of each test, over all questions, and the worst cell."""
    table = table.assign(learners=table["learners"].str.count(" - ") + 1)
    by = ["loss", "test", "learners", "grouped"]
    shown = table.groupby([*by, "clusters"]).agg(
        covered=("covered", "mean"),
        worst=("covered", "min"),
        width=("width", "mean"),
        optimism=("optimism", "mean"),
        data_sets=("data_sets", "sum"),
        no_answer=("no_answer", "sum"),
    )
    total = table.groupby(by)["covered"].agg(["mean", "min"])
    return f"{shown.round(3).to_string()}\n\n{total.round(3).to_string()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2 data sets of one cell")
    parser.add_argument("--data-sets", type=int, default=300)
    parser.add_argument("--loss", choices=LOSSES, action="append")
    parser.add_argument("--test", choices=tuple(TESTS), action="append")
    parser.add_argument("--clusters", type=int, choices=N_CLUSTERS, action="append")
    parser.add_argument("--correlation", type=float, choices=CORRELATIONS, action="append")
    parser.add_argument("--out", type=Path, default=Path("build/groups.csv"))
    arguments = parser.parse_args()
    losses, numbers = arguments.loss or LOSSES, arguments.clusters or N_CLUSTERS
    correlations = arguments.correlation or CORRELATIONS
    cells = list(product(arguments.test or TESTS, losses, numbers, correlations))
    sizes = (arguments.data_sets, POOL_SETS)
    if arguments.quick:
        cells, sizes = [("ustatistic", losses[0], 20, 0.0)], (2, 1)
    path = arguments.out
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pd.read_csv(path) if path.exists() else pd.DataFrame()
    for one in cells:
        if len(table):
            same = table[["test", "loss", "clusters", "correlation"]] == list(one)
            if same.all(axis=1).any():
                continue
        name, loss, n_clusters, correlation = one
        found = cell(name, n_clusters, correlation, loss, *sizes)
        table = pd.concat([table, found], ignore_index=True)
        table.to_csv(path, index=False, float_format="%.5g")
        print(f"{name}, {loss}, {n_clusters} clusters, correlation {correlation}", flush=True)
    print(summary(table))


if __name__ == "__main__":
    main()
