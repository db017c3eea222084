"""Trees and neighbours as in Magdon-Ismail and Mertsalov (2011): Tables 5 to 7.

Decision trees by information gain with 2 to 50 leaves, grown best first; and nearest neighbours,
odd numbers from 1 to 99 or as --neighbours says (ties go to the first class), on the features as
they are (the paper gives neither its numbers of neighbours nor a scale). Three quarters of a data
set learn, the rest tells the out-of-sample error.
A tree with few leaves is part of the tree with many, so that one fit serves all models. M.Mass and
Diffusion are not among the data, and the region of Figure 4 is not described: a ring in the square
stands for it.

The paper learns 1000 times for each estimate: so does leave-one-out here, or once for every
observation where these are fewer. Permutations and Rademacher variables, whose means settle after
ten (the paper's own finding), are 100 unless --permutations says otherwise. Every split is kept in
the folder `--out` as soon as it is done: a run that was stopped goes on there.

The data are not part of the package: `studies/data.py` says where they are looked for.
polynomials.py has Figure 3 and Tables 3 and 4.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv
from studies.data import DataMissing, data_set
from studies.reproductions.kept import kept_rows

kernel = uv.kernels.permutation

LEAVES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
NEIGHBOURS = (99, 75, 51, 35, 25, 19, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
ODD = tuple(number for number in NEIGHBOURS if number % 2)
FEW = 10
NAMES = ("LOO-CV", "10-fold", "Perm.", "Rad.")


@dataclass(frozen=True)
class Learning:
    """The fits for each estimate, and their number."""

    neighbours: bool = False
    fits: int = 1000
    permutations: int = 100

    @property
    def numbers(self) -> tuple[int, ...]:
        """Leaves or neighbours, from the simplest model to the most complex."""
        return NEIGHBOURS if self.neighbours else LEAVES

    def __str__(self) -> str:
        return "nearest neighbours" if self.neighbours else "decision trees"


# LOO-CV, permutation, Rademacher with 1000 fits (Table 5); LOO-CV, 10-fold, permutation and
# Rademacher with 10 (Table 6).
PAPER_TREES = {
    "abalone": ((0.05, 0.02, 0.02), (0.12, 0.13, 0.02, 0.02)),
    "ionosphere": ((0.17, 0.16, 0.17), (0.24, 0.21, 0.18, 0.19)),
    "parkinsons": ((0.24, 0.34, 0.41), (0.25, 0.31, 0.34, 0.40)),
    "pima": ((0.09, 0.07, 0.07), (0.18, 0.18, 0.07, 0.07)),
    "spambase": ((0.07, 0.06, 0.07), (0.28, 0.09, 0.07, 0.07)),
    "transfusion": ((0.10, 0.08, 0.09), (0.19, 0.13, 0.08, 0.09)),
    "wdbc": ((0.20, 0.23, 0.34), (0.31, 0.40, 0.24, 0.37)),
}
PAPER_NEIGHBOURS = {
    "abalone": ((0.04, 0.04, 0.04), (0.24, 0.09, 0.12)),
    "ionosphere": ((0.17, 0.70, 0.83), (0.49, 0.75, 0.84)),
    "parkinsons": ((0.25, 0.33, 0.43), (0.34, 0.32, 0.44)),
    "pima": ((0.11, 0.11, 0.14), (0.16, 0.12, 0.15)),
    "spambase": ((0.19, 0.43, 0.55), (0.44, 0.43, 0.54)),
    "transfusion": ((0.09, 0.12, 0.19), (0.17, 0.12, 0.19)),
    "wdbc": ((0.21, 0.34, 0.51), (0.55, 0.33, 0.50)),
}
PAPER_NOISE = {
    5: (0.30, 0.28, 0.28), 10: (0.28, 0.27, 0.27), 15: (0.28, 0.25, 0.25), 20: (0.28, 0.26, 0.26),
    25: (0.26, 0.25, 0.25), 30: (0.24, 0.24, 0.24), 35: (0.24, 0.23, 0.24), 40: (0.25, 0.26, 0.26),
    45: (0.24, 0.26, 0.26),
}  # fmt: skip


def trees(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> np.ndarray:
    """Predictions (K, m) of the trees with LEAVES leaves, from the fit of the largest one.

    Trees are grown best first: after j splits there are 2j + 1 nodes, in the order of the splits.
    """
    model = DecisionTreeClassifier(
        criterion="entropy", max_leaf_nodes=max(LEAVES), random_state=seed
    ).fit(X, y)
    inner = model.tree_
    if inner.n_classes[0] == 1:
        return np.full((len(LEAVES), len(X_new)), model.classes_[0])
    parent = np.zeros(inner.node_count, dtype=int)
    for child in (inner.children_left, inner.children_right):
        at = np.flatnonzero(child >= 0)
        parent[child[at]] = at
    label = model.classes_[inner.value[:, 0].argmax(axis=1)]
    node = model.apply(X_new)
    predictions = np.empty((len(LEAVES), len(X_new)))
    for place, leaves in reversed(list(enumerate(LEAVES))):
        while (outside := node >= 2 * leaves - 1).any():
            node = np.where(outside, parent[node], node)
        predictions[place] = label[node]
    return predictions


def votes(order: np.ndarray, labels: np.ndarray, numbers: Sequence[int]) -> np.ndarray:
    """Majorities (K, m) of numbers of neighbours, whose row numbers are in order (m, k)."""
    ahead = np.cumsum(labels[order], axis=1)
    return np.stack([ahead[:, k - 1] > k / 2 for k in numbers]).astype(float)


def nearest(X: np.ndarray, X_new: np.ndarray, k: int, *, itself: bool = True) -> np.ndarray:
    """Row numbers of k nearest neighbours in X, nearest first; with or without the row itself."""
    distance = cdist(X_new, X, "sqeuclidean")
    if not itself:
        np.fill_diagonal(distance, np.inf)
    near = np.sort(np.argpartition(distance, k - 1, axis=1)[:, :k], axis=1)
    by_distance = np.argsort(np.take_along_axis(distance, near, axis=1), axis=1, kind="stable")
    return np.take_along_axis(near, by_distance, axis=1)


def optimism(predictions: np.ndarray, drawn: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Mean optimism (K,) of predictions (P, K, n) learnt from drawn labels (P, n)."""
    n_models = predictions.shape[1]
    return np.array(
        [
            kernel.generalization(predictions[:, model], drawn, reference, "zero_one")[
                "e_gen"
            ].mean()
            for model in range(n_models)
        ]
    )


def with_drawn_labels(
    y: np.ndarray, rng: np.random.Generator, count: int, fit: Callable[[np.ndarray], np.ndarray]
) -> dict[str, np.ndarray]:
    """Errors in sample plus optimism, with few drawn labels and with all of them."""
    n, e_in, found = len(y), (fit(y) != y).mean(axis=1), {}
    for name, drawn, reference in (
        ("Perm.", rng.permuted(np.tile(y, (count, 1)), axis=1), y),
        ("Rad.", rng.integers(2, size=(count, n)) * 1.0, np.array([0.0, 1.0])),
    ):
        fitted = np.stack([fit(labels) for labels in drawn])
        found[f"{name} many"] = e_in + optimism(fitted, drawn, reference)
        found[f"{name} few"] = e_in + optimism(fitted[:FEW], drawn[:FEW], reference)
    return found


def tree_estimates(
    X: np.ndarray, y: np.ndarray, rng: np.random.Generator, learning: Learning
) -> dict[str, np.ndarray]:
    """Every criterion for every tree, with few fits and with many."""
    n, seed = len(y), int(rng.integers(2**31))
    found = with_drawn_labels(
        y, rng, learning.permutations, lambda labels: trees(X, labels, X, seed)
    )
    left_out = rng.permutation(n)[: learning.fits]
    wrong = np.array(
        [
            trees(np.delete(X, i, 0), np.delete(y, i), X[i : i + 1], seed)[:, 0] != y[i]
            for i in left_out
        ]
    )
    found["LOO-CV many"] = wrong.mean(axis=0)
    found["LOO-CV few"] = wrong[:FEW].mean(axis=0)
    fold = rng.permutation(n) % 10
    found["10-fold few"] = sum(
        (trees(X[fold != k], y[fold != k], X[fold == k], seed) != y[fold == k]).sum(axis=1)
        for k in range(10)
    ) / float(n)
    return found


def neighbour_estimates(
    X: np.ndarray, y: np.ndarray, rng: np.random.Generator, learning: Learning
) -> dict[str, np.ndarray]:
    """Every criterion for every number of neighbours, from one sort of the distances."""
    most = max(learning.numbers)
    order = nearest(X, X, most)
    found = with_drawn_labels(
        y, rng, learning.permutations, lambda labels: votes(order, labels, learning.numbers)
    )
    wrong = votes(nearest(X, X, most, itself=False), y, learning.numbers) != y
    found["LOO-CV many"] = wrong.mean(axis=1)
    found["LOO-CV few"] = wrong[:, rng.permutation(len(y))[:FEW]].mean(axis=1)
    return found


def one_split(X: np.ndarray, y: np.ndarray, learning: Learning, number: int) -> dict[str, float]:
    """Split, estimate, and count errors on the part that was kept apart."""
    rng = np.random.default_rng(number)
    order = rng.permutation(len(y))
    learn, test = order[: 3 * len(y) // 4], order[3 * len(y) // 4 :]
    return estimates_and_errors(X[learn], y[learn], X[test], y[test], rng, learning)


def estimates_and_errors(
    X: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    rng: np.random.Generator,
    learning: Learning,
) -> dict[str, float]:
    """Every criterion, and the test error, of every model."""
    if learning.neighbours:
        found = neighbour_estimates(X, y, rng, learning)
        fitted = votes(nearest(X, X_test, max(learning.numbers)), y, learning.numbers)
    else:
        found = tree_estimates(X, y, rng, learning)
        fitted = trees(X, y, X_test, int(rng.integers(2**31)))
    found["error"] = (fitted != y_test).mean(axis=1)
    return {
        f"{name} {model}": float(value)
        for name, values in found.items()
        for model, value in zip(learning.numbers, values, strict=True)
    }


def regrets(rows: pd.DataFrame, numbers: Sequence[int]) -> pd.DataFrame:
    """Fractional regret of every criterion, by split; without those where a model never errs."""

    def of(name: str) -> np.ndarray:
        return rows[[f"{name} {number}" for number in numbers]].to_numpy()

    errors = of("error")
    least = errors.min(axis=1)
    names = dict.fromkeys(column.rpartition(" ")[0] for column in rows)
    found = {
        name: errors[np.arange(len(errors)), of(name).argmin(axis=1)]
        for name in names
        if name != "error"
    }
    kept = least > 0
    return pd.DataFrame(found)[kept].div(least[kept], axis=0) - 1


def summarised(rows: pd.DataFrame, numbers: Sequence[int]) -> dict[str, str]:
    """Mean regrets and their standard errors."""
    return in_words(regrets(rows, numbers))


def in_words(frame: pd.DataFrame) -> dict[str, str]:
    """The mean of each column with its standard error."""
    error = frame.std() / np.sqrt(max(len(frame), 1))
    return {name: f"{frame[name].mean():.3f} +- {error[name]:.3f}" for name in frame}


def tied(rows: pd.DataFrame, numbers: Sequence[int]) -> dict[str, str]:
    """Regret of leave-one-out with few fits, by which of the tied models is taken.

    With ten fits its values are tenths, and many models have the least of them.
    """
    errors = rows[[f"error {number}" for number in numbers]].to_numpy()
    criterion = rows[[f"LOO-CV few {number}" for number in numbers]].to_numpy()
    least_of_all = criterion == criterion.min(axis=1, keepdims=True)
    row, least = np.arange(len(errors)), errors.min(axis=1)
    taken = {
        "the simplest": errors[row, least_of_all.argmax(axis=1)],
        "any of them": (errors * least_of_all).sum(axis=1) / least_of_all.sum(axis=1),
        "the most complex": errors[row, errors.shape[1] - 1 - least_of_all[:, ::-1].argmax(axis=1)],
    }
    kept = least > 0
    frame = pd.DataFrame(taken)[kept].div(least[kept], axis=0) - 1
    return {"tied": f"{least_of_all.sum(axis=1).mean():.1f}"} | in_words(frame)


def real_data() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The data sets of Table 2 that are there."""
    found = {}
    for name in PAPER_TREES:
        if name == "wdbc":
            found[name] = load_breast_cancer(return_X_y=True)
            continue
        try:
            values = data_set(name).to_numpy()
        except DataMissing as error:
            print(error)
            continue
        X, y = values[:, 1:], values[:, 0]
        if name == "abalone":
            # Seven measurements without the sex, and [rings >= 10].
            X, y = X[:, 1:], y >= 10
        found[name] = (X.astype(float), y.astype(float))
    return {name: (X, y.astype(float)) for name, (X, y) in found.items()}


def classification_tables(
    learning: Learning,
    numbers: Sequence[int],
    n_splits: int,
    names: Sequence[str],
    n_jobs: int,
    out: Path | None,
) -> None:
    """Tables 5 and 6."""
    paper = PAPER_NEIGHBOURS if learning.neighbours else PAPER_TREES
    few = [name for name in NAMES if not (learning.neighbours and name == "10-fold")]
    many = [name for name in NAMES if name != "10-fold"]
    data = {name: each for name, each in real_data().items() if not names or name in names}
    start = time.perf_counter()
    found = Parallel(n_jobs=n_jobs)(
        delayed(kept_rows)(
            out and out / f"{name}_{learning}.csv", n_splits, partial(one_split, *each, learning)
        )
        for name, each in data.items()
    )
    shown = " ".join(map(str, sorted(numbers)))
    print(
        f"\nTables 5 and 6, {learning} ({shown}): mean regret over {n_splits} splits; paper in ()"
    )
    rows, of_ties = [], []
    for (name, (_, y)), frame in zip(data.items(), found, strict=True):
        ours = summarised(frame, numbers)
        published = f"{paper[name][1][0]:.2f}"
        of_ties.append({"data": name, **tied(frame, numbers), "paper": published})
        learnt = 3 * len(y) // 4
        for size, columns, values in (
            ("many", many, paper[name][0]),
            ("few", few, paper[name][1]),
        ):
            fits = f"{min(learnt, learning.fits)}, {learning.permutations}"
            row = {"data": name, "fits": fits if size == "many" else f"{FEW}"}
            for each, value in zip(columns, values, strict=True):
                row[each] = f"{ours[f'{each} {size}']} ({value:.2f})"
            rows.append(row)
    order = ["data", "fits", *few]
    print(pd.DataFrame(rows).reindex(columns=order).fillna("").to_string(index=False))
    print("fits: of leave-one-out, of permutations; M.Mass and Diffusion are not among the data")
    print(f"LOO-CV with {FEW} fits, by which of the tied models is taken")
    print(pd.DataFrame(of_ties).to_string(index=False))
    print(f"{time.perf_counter() - start:.0f} s", flush=True)


def draw_ring(rng: np.random.Generator, n: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """A ring in the square, which has half of its area; labels flipped with some probability."""
    X = rng.uniform(-1, 1, size=(n, 2))
    inner = 0.4
    outer = np.sqrt(2 / np.pi + inner**2)
    radius = np.sqrt((X**2).sum(axis=1))
    return X, (((radius > inner) & (radius < outer)) ^ (rng.random(n) < noise)).astype(float)


def simulated(level: int, learning: Learning, number: int) -> dict[str, float]:
    """One noisy sample; tested without noise.

    Against noisy labels no regret at 45% could be above (.5 - .45)/.45 = .11, and the paper's is.
    """
    rng = np.random.default_rng([level, number])
    X, y = draw_ring(rng, 300, level / 100)
    X_test, y_test = draw_ring(rng, 5000, 0.0)
    return estimates_and_errors(X, y, X_test, y_test, rng, learning)


def noise_table(
    learning: Learning,
    numbers: Sequence[int],
    n_samples: int,
    levels: Sequence[int],
    n_jobs: int,
    out: Path | None,
) -> None:
    """Table 7; the paper does not say which of its models it is about."""
    start = time.perf_counter()
    found = Parallel(n_jobs=n_jobs)(
        delayed(kept_rows)(
            out and out / f"ring_{level}_{learning}.csv",
            n_samples,
            partial(simulated, level, learning),
        )
        for level in levels
    )
    rows = []
    for level, frame in zip(levels, found, strict=True):
        ours = summarised(frame, numbers)
        row: dict[str, str | int] = {"noise (%)": level}
        for name, value in zip(("LOO-CV", "Perm.", "Rad."), PAPER_NOISE[level], strict=True):
            row[name] = f"{ours[f'{name} many']} ({value:.2f})"
        rows.append(row)
    print(f"\nTable 7, {learning} on a ring with noise, {n_samples} samples of 300; paper in ()")
    print(pd.DataFrame(rows).to_string(index=False))
    print("(the paper's are about the region of its Figure 4)")
    print(f"{time.perf_counter() - start:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few seconds, no conclusions")
    parser.add_argument("--part", choices=("real", "noise"), action="append")
    parser.add_argument("--data", nargs="+", default=[], help="data sets instead of all")
    parser.add_argument("--splits", type=int, default=1000, help="as in the paper: days for trees")
    parser.add_argument("--fits", type=int, default=1000, help="of leave-one-out, at most")
    parser.add_argument("--permutations", type=int, default=100)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--learner", choices=("trees", "neighbours"), action="append")
    parser.add_argument("--leaves", type=int, nargs="+", choices=LEAVES, default=LEAVES)
    parser.add_argument("--neighbours", type=int, nargs="+", choices=NEIGHBOURS, default=ODD)
    parser.add_argument("--out", type=Path, default=Path("build/reproduce_permutation"))
    arguments = parser.parse_args()
    names, splits, fits, permutations = (
        arguments.data,
        arguments.splits,
        arguments.fits,
        arguments.permutations,
    )
    levels, out = tuple(PAPER_NOISE), arguments.out / f"{fits}_{permutations}"
    if arguments.quick:
        splits, fits, permutations, levels = 2, 12, 12, (40,)
        names, out = names or ["parkinsons"], None
    learners = {
        "trees": (Learning(fits=fits, permutations=permutations), arguments.leaves),
        "neighbours": (
            Learning(True, fits, permutations),
            arguments.neighbours,
        ),
    }
    chosen = [learners[name] for name in arguments.learner or learners]
    # Ties go to the simplest model, which comes first.
    in_order = [(each, [k for k in each.numbers if k in numbers]) for each, numbers in chosen]
    for learning, numbers in in_order:
        if "real" in (arguments.part or ["real"]):
            classification_tables(learning, numbers, splits, names, arguments.n_jobs, out)
        if "noise" in (arguments.part or ["noise"]):
            noise_table(learning, numbers, splits, levels, arguments.n_jobs, out)


if __name__ == "__main__":
    main()
