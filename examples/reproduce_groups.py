"""How often do 95% intervals cover the truth where rows come in clusters, and without groups=?

Clusters of 1 to 8 rows, each size as often as the others; two classes with probability 1/2, four
correlated normal features. Labels and features of two rows of a cluster have the intracluster
correlation that the table says. The truth is about a random row of a new cluster: it comes from
clusters that are simulated anew. The same data are also analysed as if all rows were independent,
with learning sets of the same share of rows; "optimism" is how far the estimates of that are below
the true error (above the true AUC), on average.

What is done is kept in a CSV file, cell by cell, so that the script can be stopped and run again.
reproduce_groups.csv beside it holds the cells that have been run, each with 300 data sets (30
without groups); a copy of it as --out is gone on with. Results with too few draws for an answer are
left out.
"""

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import ucvtest as uv

LEARNERS = ("lda", "gaussian_nb", "knn:5")
QUESTIONS = (("lda", None), ("knn:5", None), ("lda", "gaussian_nb"), ("knn:5", "lda"))
N_CLUSTERS, CORRELATIONS = (20, 40, 100), (0.0, 0.3, 0.8)
FOLDS = 10

MIX = np.linalg.cholesky(np.full((4, 4), 0.5) + 0.5 * np.eye(4)).T
SHIFT = np.array([1.0, 0.6, 0.0, 0.3])

POOLS, POOL_CLUSTERS, POOL_SETS = 6, 1000, 50
"""The truth: pools of clusters, and learning sets drawn from each of them."""

BY_ROW = 10
"""Of so many data sets one is analysed without groups too, which takes longer."""

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


def true_values(
    n_learnt: int, correlation: float, loss: str, n_sets: int
) -> dict[str, tuple[float, float]]:
    """Expected loss (AUC) of each learner after that many clusters, by pool: mean and spread."""
    rng = np.random.default_rng([n_learnt, int(100 * correlation)])
    found = []
    for pool in range(POOLS):
        X, y, index = draw(rng, POOL_CLUSTERS, correlation)
        learnt = rng.permuted(np.tile(np.arange(POOL_CLUSTERS) < n_learnt, (n_sets, 1)), axis=1)
        design = uv.designs.Design.leave_rest_out(learnt[:, index])
        losses = uv.evaluate(LEARNERS, X, y, design, loss, rng=pool)
        found.append(losses.means.mean(axis=1))
    return dict(zip(LEARNERS, np.array(found).T, strict=True))


def tests(
    data: Data, loss: str, seed: int, n_draws: int, *, grouped: bool
) -> Iterator[tuple[str, tuple[str, str | None], uv.TestResult]]:
    """Every test of every question, on the same fits."""
    X, y, index = data
    groups = index if grouped else None
    n = index.max() + 1 if grouped else len(y)
    size = learn_size(index.max() + 1) if grouped else round(len(y) * share(index.max() + 1))
    designs = {
        "ustatistic": (uv.UStatisticTest, uv.designs.DisjointSets(min(size, n // 2 - 1), n_draws)),
        "corrected_t": (uv.CorrectedTTest, uv.designs.KFold(FOLDS)),
    }
    for name, (test, design) in designs.items():
        losses = uv.evaluate(LEARNERS, X, y, design, loss, groups=groups, rng=seed)
        for learner, other in QUESTIONS:
            yield name, (learner, other), test.from_losses(losses, learner, other).fit()


def learn_size(n_clusters: int) -> int:
    """Clusters that the U-statistic test learns from."""
    return n_clusters // 2 - 1


def share(n_clusters: int) -> float:
    """The same as a share of the sample."""
    return learn_size(n_clusters) / n_clusters


def cell(
    n_clusters: int,
    correlation: float,
    loss: str,
    n_sets: int,
    n_draws: int,
    pool_sets: int = POOL_SETS,
) -> pd.DataFrame:
    """Coverage of each test and question, with clusters and without."""
    learnt = {"ustatistic": learn_size(n_clusters), "corrected_t": n_clusters * 9 // FOLDS}
    truth = {name: true_values(g, correlation, loss, pool_sets) for name, g in learnt.items()}
    rng = np.random.default_rng([n_clusters, int(100 * correlation), 1])
    rows = []
    for seed in range(n_sets):
        data = draw(rng, n_clusters, correlation)
        for grouped in (True, False) if seed % BY_ROW == 0 else (True,):
            for name, (learner, other), result in tests(data, loss, seed, n_draws, grouped=grouped):
                by_pool = truth[name][learner] - (0 if other is None else truth[name][other])
                true, (low, high) = by_pool.mean(), result.conf_int()
                rows.append(
                    {
                        "test": name,
                        "learners": learner if other is None else f"{learner} - {other}",
                        "grouped": grouped,
                        "covered": low <= true <= high,
                        "answered": result.status == "ok",
                        "width": high - low,
                        "optimism": (true - result.estimate) * (-1 if loss == "auc" else 1),
                        "true": true,
                        "se_true": by_pool.std(ddof=1) / np.sqrt(POOLS),
                    }
                )
    frame = pd.DataFrame(rows)
    by = ["test", "learners", "grouped"]
    found = frame[frame["answered"]].groupby(by, sort=False).mean().drop(columns="answered")
    found["data_sets"] = frame.groupby(by, sort=False)["answered"].sum()
    return found.reset_index().assign(clusters=n_clusters, correlation=correlation, loss=loss)


def summary(table: pd.DataFrame) -> str:
    """Coverage and optimism of each test, over all questions."""
    table = table.assign(learners=table["learners"].str.count(" - ") + 1)
    by = ["loss", "test", "learners", "correlation", "clusters"]
    shown = table.pivot_table(
        index=by, columns="grouped", values=["covered", "optimism", "width"], aggfunc="mean"
    )
    shown.columns = [
        f"{name} {'by cluster' if grouped else 'by row'}" for name, grouped in shown.columns
    ]
    return shown.round(3).to_string()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2 data sets of one cell")
    parser.add_argument("--data-sets", type=int, default=300)
    parser.add_argument("--draws", type=int, default=200, help="pairs of learning sets")
    parser.add_argument("--loss", choices=("zero_one", "auc"), action="append")
    parser.add_argument("--out", type=Path, default=Path("groups.csv"))
    arguments = parser.parse_args()
    losses = arguments.loss or ["zero_one"]
    cells = list(product(losses, N_CLUSTERS, CORRELATIONS))
    sizes = (arguments.data_sets, arguments.draws, POOL_SETS)
    if arguments.quick:
        cells, sizes = [(losses[0], 20, 0.0)], (2, 60, 2)
    path = arguments.out
    table = pd.read_csv(path) if path.exists() else pd.DataFrame()
    for loss, n_clusters, correlation in cells:
        if len(table):
            same = table[["loss", "clusters", "correlation"]] == [loss, n_clusters, correlation]
            if same.all(axis=1).any():
                continue
        found = cell(n_clusters, correlation, loss, *sizes)
        table = pd.concat([table, found], ignore_index=True)
        table.to_csv(path, index=False, float_format="%.5g")
        print(f"{loss}, {n_clusters} clusters, correlation {correlation}", flush=True)
    print(summary(table))


if __name__ == "__main__":
    main()
