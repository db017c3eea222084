"""Coverage of the cross-validated AUC of out-of-fold scores, where it was found weak: AUC near 1.

Two normal classes, ten features; linear rules, whose AUC is known: the difference of class means
(a), and the discriminant of the pooled covariance matrix (b). `CrossValidationWaldTest` is judged
against the AUC of the rules learnt here, the pairs within folds counted as it counts them;
`CorrectedTTest` against the expected AUC of rules learnt from as many observations, and against the
former too. Rows as they come: existing rows are not computed again.

    python studies/intervals/cv_auc.py --rows build/cv_auc.csv --seconds 300
    python studies/intervals/cv_auc.py --rows build/cv_auc.csv --table
"""

import argparse
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

import ucvtest as uv

N_FEATURES = 10
DISTANCES = {0.8: 1.4, 0.96: 2.7}
"""Between the class means, by the AUC that rule a then has, about."""

CELLS = list(product((40, 100), (0.8, 0.96), (5, 10), (1, 5)))
"""Observations, AUC, folds, repeats."""

COLUMNS = ["n", "auc", "folds", "repeats", "number", "test", "target", "truth", "low", "high"]
TABLE = Path(__file__).with_suffix(".csv")


def rules_of(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weights of both linear rules, (2, p)."""
    means = [x[y == label].mean(axis=0) for label in (0, 1)]
    centred = np.concatenate([x[y == label] - means[label] for label in (0, 1)])
    covariance = centred.T @ centred / (len(x) - 2)
    direction = means[1] - means[0]
    return np.stack([direction, np.linalg.solve(covariance, direction)])


def sample(n: int, auc: float, folds: int, repeats: int, number: int) -> Iterator[tuple]:
    """What both tests say of one sample, of rule a and of a minus b."""
    rng = np.random.default_rng([n, round(100 * auc), folds, repeats, number])
    shift = np.zeros(N_FEATURES)
    shift[0] = DISTANCES[auc]
    y = np.arange(n) % 2
    x = rng.normal(size=(n, N_FEATURES)) + y[:, None] * shift
    scores, fold = np.empty((2, repeats, n)), np.empty((repeats, n), dtype=int)
    areas, pairs = np.empty((2, repeats, folds)), np.empty((repeats, folds))
    for repeat in range(repeats):
        for label in (0, 1):
            own = rng.permutation(np.flatnonzero(y == label))
            fold[repeat, own] = (np.arange(len(own)) + label * (n // 2)) % folds
        for k in range(folds):
            tested = fold[repeat] == k
            weights = rules_of(x[~tested], y[~tested])
            scores[:, repeat, tested] = weights @ x[tested].T
            spread = np.sqrt(2 * (weights**2).sum(axis=1))
            areas[:, repeat, k] = norm.cdf(weights @ shift / spread)
            pairs[repeat, k] = y[tested].sum() * (1 - y[tested]).sum()
    share = pairs / pairs.sum(axis=1, keepdims=True)
    true = (areas * share).sum(axis=2).mean(axis=1)
    rules = {"a": scores[0], "b": scores[1]}
    losses = uv.Losses.from_predictions(y, rules, loss="auc", fold=fold)
    for target, names in (("a", ("a",)), ("a - b", ("a", "b"))):
        truth = true[0] if target == "a" else true[0] - true[1]
        for cls in (uv.CrossValidationWaldTest, uv.CorrectedTTest):
            found = cls.from_losses(losses, *names).fit()
            ends = found.conf_int() if found.status == "ok" else (np.nan, np.nan)
            yield (n, auc, folds, repeats, number, cls.method_name, target, truth, *ends)


def simulate(rows: Path, n_samples: int, seconds: float) -> None:
    """Add samples to the rows, of all cells alike, while there is time."""
    done = set()
    if rows.exists():
        known = pd.read_csv(rows)[COLUMNS[:5]].drop_duplicates()
        done = set(known.itertuples(index=False, name=None))
    else:
        rows.parent.mkdir(parents=True, exist_ok=True)
        rows.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    end = time.monotonic() + seconds
    with rows.open("a", encoding="utf-8") as out:
        for number, cell in product(range(n_samples), CELLS):
            if (*cell, number) in done:
                continue
            if time.monotonic() > end:
                return
            found = pd.DataFrame(sample(*cell, number))
            out.write(found.to_csv(index=False, header=False, float_format="%.6g"))
            out.flush()


def table_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage of the AUC of these rules, and of the expected one, with mean widths."""
    cell = ["n", "auc", "folds", "repeats", "target"]
    rows = rows.drop_duplicates([*COLUMNS[:7]])
    expected = rows.groupby(cell)["truth"].transform("mean")
    answered = rows["low"].notna()
    found = rows.assign(
        answered=answered,
        of_these_rules=((rows["low"] <= rows["truth"]) & (rows["truth"] <= rows["high"])),
        of_the_learner=((rows["low"] <= expected) & (expected <= rows["high"])),
        width=rows["high"] - rows["low"],
    )
    groups = found.groupby([*cell, "test"])
    table = groups.agg(samples=("number", "size"), answered=("answered", "sum"))
    for name in ("of_these_rules", "of_the_learner"):
        table[name] = groups[name].sum() / table["answered"]
    table["width"] = groups["width"].mean()
    table["true"] = groups["truth"].mean()
    return table.reset_index()


def main() -> None:
    """Run the study, or print what one sample of each cell gives."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rows", type=Path, default=Path("build/cv_auc.csv"))
    parser.add_argument("--samples", type=int, default=1000, help="of each cell")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--table", action="store_true", help="no more samples, only the table")
    parser.add_argument("--quick", action="store_true", help="one sample a cell, nothing kept")
    arguments = parser.parse_args()
    if arguments.quick:
        rows = [row for cell in CELLS[:4] for row in sample(*cell, 0)]
        print(pd.DataFrame(rows, columns=COLUMNS).round(3).to_string(index=False))
        return
    if not arguments.table:
        simulate(arguments.rows, arguments.samples, arguments.seconds)
    table = table_of(pd.read_csv(arguments.rows))
    table.to_csv(TABLE, index=False, float_format="%.4g")
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
