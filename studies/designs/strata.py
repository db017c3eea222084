"""Should folds keep the classes in proportion? Coverage and precision, with and without.

Two classes, one of them with probability 0.5 or 0.15, two normal features; lda alone and against
5 nearest neighbours, by the corrected t-test on ten folds (its default) and by one random split
with a third tested. The truth is about random samples, whose classes vary: learning sets of 9n/10
(2n/3) new observations, tested on others.

"sd" is that of the estimates, "width" the mean length of 95% intervals, "failed" counts samples
whose learning sets have no rows of a class. strata.csv next to it contains the finished runs.
"""

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import ucvtest as uv

LEARNERS = ("lda", "knn:5")
N_OBS, SHARES = (30, 60), (0.5, 0.15)
TESTS = {
    "corrected_t": (uv.CorrectedTTest, uv.designs.KFold, {"n_folds": 10}, 9 / 10),
    "hold_out": (uv.HoldOutTest, uv.designs.HoldOut, {"test_fraction": 1 / 3}, 2 / 3),
}

TRUTHS, NEW = 120, 700
"""Learning sets, and new observations for each."""


def draw(rng: np.random.Generator, n_obs: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels; two of each class at least."""
    while True:
        y = (rng.random(n_obs) < share).astype(int)
        if 2 <= y.sum() <= n_obs - 2:
            return rng.normal(size=(n_obs, 2)) + np.outer(y, (1.2, 0.6)), y


def true_values(n_learnt: int, share: float, n_sets: int) -> np.ndarray:
    """Error rates after these numbers of observations, (2,)."""
    rng = np.random.default_rng([n_learnt, int(100 * share)])
    found = []
    for _ in range(n_sets):
        (X, y), (new, labels) = draw(rng, n_learnt, share), draw(rng, NEW, share)
        learning = np.arange(n_learnt + NEW) < n_learnt
        design = uv.designs.Design.leave_rest_out(learning[None])
        losses = uv.evaluate(LEARNERS, np.vstack([X, new]), np.r_[y, labels], design, rng=0)
        found.append(losses.means[:, 0])
    return np.mean(found, axis=0)


def cell(n_obs: int, share: float, n_sets: int, n_truths: int) -> Iterator[dict]:
    """One row for each test, question and kind of folds."""
    truth = {
        name: true_values(round(n_obs * part), share, n_truths)
        for name, (*_, part) in TESTS.items()
    }
    questions = {"lda": (1, 0), "lda - knn:5": (1, -1)}
    for name, stratify, words in product(TESTS, (False, True), questions):
        test, design, options, _ = TESTS[name]
        true = float(np.dot(questions[words], truth[name]))
        rng, rows = np.random.default_rng([n_obs, int(100 * share)]), []
        for seed in range(n_sets):
            X, y = draw(rng, n_obs, share)
            other = LEARNERS[1] if "-" in words else None
            made = test(X, y, "lda", other, design=design(**options, stratify=stratify))
            result = made.fit(rng=seed)
            low, high = result.conf_int() if result.status == "ok" else (np.nan, np.nan)
            one_class = result.diagnostics.get("one_class_fits", 0)
            rows.append((low <= true <= high, high - low, result.estimate, one_class > 0))
        covered, width, estimate, failed = np.array(rows, dtype=float).T
        answered = np.isfinite(width)
        yield {
            "test": name,
            "learners": words,
            "n": n_obs,
            "share": share,
            "stratify": stratify,
            "covered": covered[answered].mean(),
            "width": width[answered].mean(),
            "bias": estimate.mean() - true,
            "sd": estimate.std(ddof=1),
            "samples": n_sets,
            "no_answer": int((~answered).sum()),
            "failed": int(failed.sum()),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2 samples of one cell")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--out", type=Path, default=Path("build/strata.csv"))
    arguments = parser.parse_args()
    cells, sizes = list(product(N_OBS, SHARES)), (arguments.samples, TRUTHS)
    if arguments.quick:
        cells, sizes = cells[:1], (2, 2)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    table = pd.read_csv(arguments.out) if arguments.out.exists() else pd.DataFrame()
    for n_obs, share in cells:
        if len(table) and (table[["n", "share"]] == [n_obs, share]).all(axis=1).any():
            continue
        found = pd.DataFrame(cell(n_obs, share, *sizes))
        table = pd.concat([table, found], ignore_index=True)
        table.to_csv(arguments.out, index=False, float_format="%.4g")
    print(table.to_string(index=False, float_format="%.3g"))


if __name__ == "__main__":
    main()
