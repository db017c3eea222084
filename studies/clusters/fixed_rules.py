"""How often do 95% intervals about fixed rules contain the true value with clusters?

Samples as in learners.py. Fixed rules are learnt once from 40 clusters of the same kind and
tested on new samples by hold-out, McNemar's and DeLong's tests, with clusters and as if rows were
independent; their true values come from 4000 further clusters.

Finished work is kept in a CSV file, cell by cell, so that the script can be stopped and run again.
"""

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import ucvtest as uv
from studies.clusters.learners import CORRELATIONS, N_CLUSTERS, Data, draw

QUESTIONS = (("lda", None), ("knn", None), ("lda", "naive Bayes"), ("knn", "lda"))
CLASSES = (uv.HoldOutTest, uv.McNemarTest, uv.DeLongTest)
WEIGHTS = ("group", "row")


def losses_of(rules: dict, data: Data, loss: str, *, grouped: bool) -> uv.Losses:
    """Losses, or scores, of the rules on one sample."""
    X, y, index = data
    score = {name: rule.predict_proba(X)[:, 1] for name, rule in rules.items()}
    if loss == "zero_one":
        score = {name: (each > 0.5).astype(int) for name, each in score.items()}
    return uv.Losses.from_predictions(y, score, loss=loss, groups=index if grouped else None)


def of_rules(n_clusters: int, correlation: float, n_sets: int) -> Iterator[dict]:
    """One row for each test, question, weight and sample."""
    rng = np.random.default_rng([n_clusters, int(100 * correlation), 2])
    X, y, _ = draw(np.random.default_rng([int(100 * correlation), 3]), 40, correlation)
    rules = {
        "lda": LinearDiscriminantAnalysis().fit(X, y),
        "naive Bayes": GaussianNB().fit(X, y),
        "knn": KNeighborsClassifier(5).fit(X, y),
    }
    population = draw(np.random.default_rng([int(100 * correlation), 4]), 4000, correlation)
    many = {loss: losses_of(rules, population, loss, grouped=True) for loss in ("zero_one", "auc")}

    def asked(test: type) -> list[tuple]:
        paired = [question for question in QUESTIONS if question[1]]
        return paired if test is uv.McNemarTest else list(QUESTIONS)

    true = {}
    for test, weight in product(CLASSES, WEIGHTS):
        for question in asked(test):
            given = many["auc" if test is uv.DeLongTest else "zero_one"]
            result = test.from_losses(given, *question, group_weight=weight).fit()
            true[test, weight, question] = (result.estimate, result.se)
    for _ in range(n_sets):
        data = draw(rng, n_clusters, correlation)
        known = {
            (loss, grouped): losses_of(rules, data, loss, grouped=grouped)
            for loss, grouped in product(many, (True, False))
        }
        for (test, weight, question), (value, error) in true.items():
            # Without clusters there is nothing to weigh.
            for grouped in (True, False) if weight == "group" else (True,):
                given = known["auc" if test is uv.DeLongTest else "zero_one", grouped]
                one = test.from_losses(given, *question, group_weight=weight).fit()
                yield row_of(test.method_name, question, weight, one, value, error, grouped=grouped)


def row_of(name, question, weight, result, true, error, *, grouped) -> dict:
    """The kept parts of a result."""
    low, high = result.conf_int()
    return {
        "test": name,
        "learners": " - ".join(each for each in question if each),
        "weight": weight,
        "grouped": grouped,
        "covered": low <= true <= high,
        "answered": result.status == "ok",
        "width": high - low,
        "se": result.se,
        "estimate": result.estimate,
        "true": true,
        "se_true": error,
    }


def summarised(rows: Iterator[dict], n_clusters: int, correlation: float) -> pd.DataFrame:
    """Means over the samples of a cell."""
    frame = pd.DataFrame(rows)
    by = ["test", "learners", "weight", "grouped"]
    answered = frame[frame["answered"]].drop(columns="answered").groupby(by, sort=False)
    found = answered.mean()
    found["sd"] = answered["estimate"].std()
    found["data_sets"] = answered.size()
    return found.reset_index().assign(clusters=n_clusters, correlation=correlation)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10 data sets of one cell")
    parser.add_argument("--data-sets", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("build/groups_of_rules.csv"))
    arguments = parser.parse_args()
    path, n_sets = arguments.out, arguments.data_sets
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pd.read_csv(path) if path.exists() else pd.DataFrame()
    cells = list(product(N_CLUSTERS, CORRELATIONS))
    if arguments.quick:
        cells, n_sets = cells[:1], 10
    for n_clusters, correlation in cells:
        if len(table):
            known = table[["clusters", "correlation"]] == [n_clusters, correlation]
            if known.all(axis=1).any():
                continue
        found = summarised(of_rules(n_clusters, correlation, n_sets), n_clusters, correlation)
        table = pd.concat([table, found], ignore_index=True)
        table.to_csv(path, index=False, float_format="%.5g")
        print(f"{n_clusters} clusters, correlation {correlation}", flush=True)
    shown = table.pivot_table(
        index=["test", "weight", "clusters"],
        columns=["grouped", "correlation"],
        values="covered",
    )
    print(shown.round(3).to_string())


if __name__ == "__main__":
    main()
