"""Model selection as in Magdon-Ismail and Mertsalov (2011): Figure 3, Tables 3 to 7.

Regression (Figure 3, Tables 3 and 4): y = f(x) + sigma e, x uniform on [-1, 1], f a sum of
Legendre polynomials, sigma^2 uniform on (0, 1]. The paper does not say how f is drawn nor which
models are compared; here f has degree 1 to 10, all equally likely, with independent normal
coefficients, of standard deviation 1 unless --signal says otherwise. Order selection: n = 100,
orders 0 to 30. Selection of lambda: n = 15, order 5, lambda/n = 0, 0.02, ..., 3, all
coefficients penalised as in the paper. The out-of-sample error is exact, because Legendre
polynomials are orthogonal.

Classification (Tables 5 to 7): decision trees by information gain with 2 to 50 leaves, grown best
first; and nearest neighbours, 1 to 99 or as --neighbours says, on the features as they are or, with
--standardise, on standardised ones (the paper gives neither its numbers of neighbours nor a scale).
Three quarters of a data set learn, the rest tells the out-of-sample error. A tree with few leaves
is part of the tree with many, so that one fit serves all models. M.Mass and Diffusion are not among
the data, and the region of Figure 4 is not described: a ring in the square stands for it.

The data are not part of the package: name their folder in the environment variable UCVTEST_DATA.
"""

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.polynomial.legendre import legvander
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv

DATA = Path(os.environ.get("UCVTEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
kernel = uv.kernels.permutation

# --------------------------------------------------------------------------- regression

HIGHEST_TARGET, HIGHEST_ORDER, RIDGE_ORDER = 10, 30, 5
LAMBDAS = np.arange(0, 3.01, 0.02)
ESTIMATES = ("LOO-CV", "Perm.", "VC", "FPE")
TABLE_3 = {"order": (540, 185, 508, 9560), "lambda": (18.8, 5.96, 3.50, 51.3)}
TABLE_4 = (0.44, 0.39, 0.42, 0.87)


def draw_problems(
    rng: np.random.Generator, n_problems: int, n: int, signal: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Features (B, n), responses (B, n), target coefficients (B, D + 1), noise variances (B,)."""
    degree = rng.integers(1, HIGHEST_TARGET + 1, size=(n_problems, 1))
    coefficients = signal * rng.normal(size=(n_problems, HIGHEST_TARGET + 1))
    coefficients *= np.arange(HIGHEST_TARGET + 1) <= degree
    variance = 1 - rng.random(n_problems)
    x = rng.uniform(-1, 1, size=(n_problems, n))
    noise = np.sqrt(variance)[:, None] * rng.normal(size=x.shape)
    target = np.einsum("bnk,bk->bn", legvander(x, HIGHEST_TARGET), coefficients)
    return x, target + noise, coefficients, variance


def true_error(fitted: np.ndarray, coefficients: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Out-of-sample error of Legendre coefficients (B, K): E L_i^2 = 1/(2i + 1)."""
    size = max(fitted.shape[1], coefficients.shape[1])
    difference = np.zeros((len(fitted), size))
    difference[:, : fitted.shape[1]] = fitted
    difference[:, : coefficients.shape[1]] -= coefficients
    return variance + (difference**2 / (2 * np.arange(size) + 1)).sum(axis=1)


def estimates(
    y: np.ndarray,
    residual: np.ndarray,
    leverage: np.ndarray,
    total: np.ndarray,
) -> dict[str, np.ndarray]:
    """Estimates of a linear smoother on B data sets; total is the sum of all its elements."""
    n = y.shape[1]
    e_in, degrees = (residual**2).mean(axis=1), leverage.sum(axis=1)
    return {
        "LOO-CV": kernel.leave_one_out(residual, leverage),
        "Perm.": e_in + kernel.smoother_optimism(y.var(axis=1), degrees, total, n),
        "VC": kernel.vc_penalty(e_in, degrees, n),
        "FPE": kernel.final_prediction_error(e_in, degrees, n),
    }


def order_selection(
    rng: np.random.Generator, n_problems: int, signal: float, n: int = 100
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Estimates and out-of-sample errors (B, orders); the orders share one factorisation."""
    x, y, coefficients, variance = draw_problems(rng, n_problems, n, signal)
    q, r = np.linalg.qr(legvander(x, HIGHEST_ORDER))
    projected = np.einsum("bnk,bn->bk", q, y)
    found: dict[str, list[np.ndarray]] = {name: [] for name in ESTIMATES}
    errors = []
    for size in range(1, HIGHEST_ORDER + 2):
        part = q[:, :, :size]
        residual = y - np.einsum("bnk,bk->bn", part, projected[:, :size])
        # The constant is among the polynomials, so S 1 = 1 and all elements sum to n.
        for name, values in estimates(y, residual, (part**2).sum(2), np.full(len(y), n)).items():
            found[name].append(values)
        fitted = np.linalg.solve(r[:, :size, :size], projected[:, :size, None])[:, :, 0]
        errors.append(true_error(fitted, coefficients, variance))
    return {name: np.stack(each, 1) for name, each in found.items()}, np.stack(errors, 1)


def lambda_selection(
    rng: np.random.Generator, n_problems: int, signal: float, n: int = 15
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Estimates and out-of-sample errors (B, lambdas); they share one decomposition."""
    x, y, coefficients, variance = draw_problems(rng, n_problems, n, signal)
    design = legvander(x, RIDGE_ORDER)
    values, vectors = np.linalg.eigh(np.einsum("bni,bnj->bij", design, design))
    rotated = design @ vectors
    moment, total = np.einsum("bnk,bn->bk", rotated, y), rotated.sum(axis=1)
    found: dict[str, list[np.ndarray]] = {name: [] for name in ESTIMATES}
    errors = []
    for lam in LAMBDAS * n:
        shrunk = 1 / (values + lam)
        fitted = np.einsum("bij,bj->bi", vectors, shrunk * moment)
        residual = y - np.einsum("bni,bi->bn", design, fitted)
        leverage = np.einsum("bnk,bk->bn", rotated**2, shrunk)
        parts = estimates(y, residual, leverage, (total**2 * shrunk).sum(axis=1))
        for name, each in parts.items():
            found[name].append(each)
        errors.append(true_error(fitted, coefficients, variance))
    return {name: np.stack(each, 1) for name, each in found.items()}, np.stack(errors, 1)


def regression_tables(n_problems: int, signal: float, plot: Path | None) -> None:
    """Tables 3 and 4, and Figure 3."""
    batches = [min(1000, n_problems - at) for at in range(0, n_problems, 1000)]
    curves = {}
    for title, select, models, skip in (
        ("Table 3, order selection (regret in %)", order_selection, np.arange(31), 0),
        ("Table 3, lambda selection (regret in %)", lambda_selection, LAMBDAS, 0),
        ("Table 4, lambda selection without lambda = 0", lambda_selection, LAMBDAS, 1),
    ):
        rng = np.random.default_rng(1)
        parts = [select(rng, size, signal) for size in batches]
        errors = np.concatenate([part[1] for part in parts])[:, skip:]
        kind = "order" if select is order_selection else "lambda"
        paper = TABLE_4 if skip else TABLE_3[kind]
        rows = []
        for name, printed in zip(ESTIMATES, paper, strict=True):
            values = np.concatenate([part[0][name] for part in parts])[:, skip:]
            choice = values.argmin(axis=1)
            least = errors.min(axis=1)
            regret = 100 * (errors[np.arange(len(errors)), choice] / least - 1)
            rows.append(
                {
                    "estimate": name,
                    "paper": printed,
                    "regret": f"{regret.mean():.3g} +- {regret.std() / len(regret) ** 0.5:.2g}",
                    "median": f"{np.median(regret):.2f}",
                    "above 100%": f"{(regret > 100).mean():.2%}",
                    f"mean {kind}": f"{models[skip:][choice].mean():.2f}",
                }
            )
            # Means of what is as heavy-tailed as least squares would show the tail alone.
            curves[kind, name] = np.median(values, axis=0)
        curves[kind, "out-of-sample"] = np.median(errors, axis=0)
        print(f"\n{title}: {n_problems} data sets")
        print(pd.DataFrame(rows).to_string(index=False))
    print("\n(ours are all in %; the paper does not say whether Table 4 is)")
    if plot is not None:
        draw_figure_3(curves, plot)


def draw_figure_3(curves: dict[tuple[str, str], np.ndarray], path: Path) -> None:
    """Median estimates beside the median out-of-sample error."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    for ax, kind, x in zip(
        figure.subplots(1, 2), ("order", "lambda"), (np.arange(31), LAMBDAS[1:]), strict=True
    ):
        for name in (*ESTIMATES, "out-of-sample"):
            style = {"color": "black", "linewidth": 2} if name == "out-of-sample" else {}
            ax.plot(x, np.where(np.isfinite(curves[kind, name]), curves[kind, name], np.nan),
                    label=name, **style)  # fmt: skip
        ax.set_xlabel("polynomial order" if kind == "order" else "lambda/n, order 5")
        ax.set_yscale("log")
    ax.legend(frameon=False)
    figure.savefig(path)
    print(f"Figure 3: {path}")


def select_on_one_sample(plot: Path | None) -> None:
    """The same with `select_model`, on one data set."""
    x, y, coefficients, variance = draw_problems(np.random.default_rng(7), 1, 60, 1.0)
    learners = [uv.learners.polynomial(order) for order in range(1, 16)]
    selection = uv.select_model(x.T, y[0], learners, rng=0)
    errors = []
    for order in range(1, 16):
        fitted = np.linalg.lstsq(legvander(x[0], order), y[0], rcond=None)[0]
        errors.append(true_error(fitted[None], coefficients, variance)[0])
    print(f"\nOne data set, n = 60\n{selection}")
    regret = selection.regret(errors)
    print("Regret:", ", ".join(f"{name} {value:.1%}" for name, value in regret.items()))
    if plot is not None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        ax = selection.plot(figure.subplots())
        ax.plot(selection.complexity, errors, color="black", label="out-of-sample")
        ax.set_yscale("log")
        figure.savefig(plot.with_stem(f"{plot.stem}_one"))


# ----------------------------------------------------------------------- classification

LEAVES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
NEIGHBOURS = (99, 75, 51, 35, 25, 19, 15, 11, 9, 7, 5, 3, 1)
FEW = 10


@dataclass(frozen=True)
class Neighbours:
    """Nearest neighbours to choose from, and on what scale they are near."""

    numbers: tuple[int, ...] = NEIGHBOURS
    standardise: bool = False


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


def tree_estimates(
    X: np.ndarray, y: np.ndarray, rng: np.random.Generator, many: int
) -> dict[str, np.ndarray]:
    """Every criterion for every tree, with few fits and with many."""
    n, seed = len(y), int(rng.integers(2**31))
    e_in = (trees(X, y, X, seed) != y).mean(axis=1)
    found = {}
    for name, drawn, reference in (
        ("Perm.", rng.permuted(np.tile(y, (many, 1)), axis=1), y),
        ("Rad.", rng.integers(2, size=(many, n)) * 1.0, np.array([0.0, 1.0])),
    ):
        fitted = np.stack([trees(X, labels, X, seed) for labels in drawn])
        for n_fits in (many, FEW):
            part = optimism(fitted[:n_fits], drawn[:n_fits], reference)
            found[f"{name} {'many' if n_fits == many else 'few'}"] = e_in + part
    left_out = rng.permutation(n)[:many]
    wrong = np.array(
        [
            trees(np.delete(X, i, 0), np.delete(y, i), X[i : i + 1], seed)[:, 0] != y[i]
            for i in left_out
        ]
    )
    found["LOO-CV many"] = wrong.mean(axis=0)
    found["LOO-CV few"] = wrong[:FEW].mean(axis=0)
    fold = rng.permutation(n) % 10
    found["10-fold"] = sum(
        (trees(X[fold != k], y[fold != k], X[fold == k], seed) != y[fold == k]).sum(axis=1)
        for k in range(10)
    ) / float(n)
    return found


def neighbour_estimates(
    X: np.ndarray, y: np.ndarray, rng: np.random.Generator, many: int, numbers: Sequence[int]
) -> dict[str, np.ndarray]:
    """Every criterion for every number of neighbours, from one sort of the distances."""
    n = len(y)
    order = nearest(X, X, max(numbers))
    e_in = (votes(order, y, numbers) != y).mean(axis=1)
    found = {}
    for name, drawn, reference in (
        ("Perm.", rng.permuted(np.tile(y, (many, 1)), axis=1), y),
        ("Rad.", rng.integers(2, size=(many, n)) * 1.0, np.array([0.0, 1.0])),
    ):
        fitted = np.stack([votes(order, labels, numbers) for labels in drawn])
        for n_fits in (many, FEW):
            part = optimism(fitted[:n_fits], drawn[:n_fits], reference)
            found[f"{name} {'many' if n_fits == many else 'few'}"] = e_in + part
    wrong = votes(nearest(X, X, max(numbers), itself=False), y, numbers) != y
    found["LOO-CV many"] = wrong.mean(axis=1)
    found["LOO-CV few"] = wrong[:, rng.permutation(n)[:FEW]].mean(axis=1)
    return found


def regrets(
    X: np.ndarray, y: np.ndarray, seed: int, many: int, neighbours: Neighbours | None
) -> dict[str, float]:
    """Split, estimate, choose, and compare with the best on the part that was kept apart."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    learn, test = order[: 3 * len(y) // 4], order[3 * len(y) // 4 :]
    return one_regret(X[learn], y[learn], X[test], y[test], rng, many, neighbours)


def one_regret(
    X: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    rng: np.random.Generator,
    many: int,
    neighbours: Neighbours | None,
) -> dict[str, float]:
    """Fractional regret of every criterion; NaN if a model makes no error at all."""
    if neighbours is not None:
        numbers = neighbours.numbers
        if neighbours.standardise:
            centre, scale = X.mean(axis=0), X.std(axis=0)
            scale[scale == 0] = 1.0
            X, X_test = (X - centre) / scale, (X_test - centre) / scale
        found = neighbour_estimates(X, y, rng, min(many, 100), numbers)
        fitted = votes(nearest(X, X_test, max(numbers)), y, numbers)
    else:
        found = tree_estimates(X, y, rng, many)
        fitted = trees(X, y, X_test, int(rng.integers(2**31)))
    errors = (fitted != y_test).mean(axis=1)
    least = errors.min() or np.nan
    return {name: errors[values.argmin()] / least - 1 for name, values in found.items()}


def summarised(rows: list[dict[str, float]]) -> dict[str, str]:
    frame = pd.DataFrame(rows).dropna()
    error = frame.std() / np.sqrt(max(len(frame), 1))
    return {name: f"{frame[name].mean():.3f}+-{error[name]:.3f}" for name in frame}


def real_data() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The data sets of Table 2 that are there."""
    found = {}
    for name in PAPER_TREES:
        if name == "wdbc":
            found[name] = load_breast_cancer(return_X_y=True)
            continue
        file = DATA / f"{name}.csv.gz"
        if not file.exists():
            print(f"{file} is missing: set UCVTEST_DATA to the folder that holds it")
            continue
        values = pd.read_csv(file).to_numpy()
        X, y = values[:, 1:], values[:, 0]
        if name == "abalone":
            # Seven measurements without the sex, and [rings >= 10].
            X, y = X[:, 1:], y >= 10
        found[name] = (X.astype(float), y.astype(float))
    return {name: (X, y.astype(float)) for name, (X, y) in found.items()}


def classification_tables(
    n_splits: int,
    many: int,
    names: list[str],
    n_jobs: int,
    models: Sequence[Neighbours | None],
    *,
    full: bool,
) -> None:
    """Tables 5 and 6."""
    many_name = f"many = up to {many} fits"
    for neighbours in models:
        paper = PAPER_NEIGHBOURS if neighbours else PAPER_TREES
        title = f"nearest neighbours ({neighbours})" if neighbours else "decision trees"
        columns = ["LOO-CV", "Perm.", "Rad."]
        few = ["LOO-CV", "Perm.", "Rad."] if neighbours else ["LOO-CV", "10-fold", "Perm.", "Rad."]
        print(f"\nTables 5 and 6, {title}: mean regret over {n_splits} splits, {many_name}")
        for name, (X, y) in real_data().items():
            if names and name not in names:
                continue
            start = time.perf_counter()
            fits = many if full or len(y) < 2000 else max(FEW, many // 10)
            rows = Parallel(n_jobs=n_jobs)(
                delayed(regrets)(X, y, seed, fits, neighbours) for seed in range(n_splits)
            )
            ours, (table_5, table_6) = summarised(rows), paper[name]
            keys = [f"{each} few" if each != "10-fold" else each for each in few]
            lines = [
                {"": f"{name}, paper, Table 5", **dict(zip(columns, table_5, strict=True))},
                {"": f"  ucvtest, {fits} fits", **{each: ours[f"{each} many"] for each in columns}},
                {"": f"{name}, paper, Table 6", **dict(zip(few, table_6, strict=True))},
                {
                    "": f"  ucvtest, {FEW} fits",
                    **{each: ours[key] for each, key in zip(few, keys, strict=True)},
                },
            ]
            order = ["", "LOO-CV", *([] if neighbours else ["10-fold"]), "Perm.", "Rad."]
            print(pd.DataFrame(lines).reindex(columns=order).fillna("").to_string(index=False))
            print(f"  ({time.perf_counter() - start:.0f} s)", flush=True)


def draw_ring(rng: np.random.Generator, n: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """A ring in the square, which has half of its area; labels flipped with some probability."""
    X = rng.uniform(-1, 1, size=(n, 2))
    inner = 0.4
    outer = np.sqrt(2 / np.pi + inner**2)
    radius = np.sqrt((X**2).sum(axis=1))
    return X, (((radius > inner) & (radius < outer)) ^ (rng.random(n) < noise)).astype(float)


def simulated(seed: int, noise: float, many: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    X, y = draw_ring(rng, 300, noise)
    X_test, y_test = draw_ring(rng, 5000, noise)
    return one_regret(X, y, X_test, y_test, rng, many, None)


def noise_table(n_splits: int, many: int, n_jobs: int, levels: tuple[int, ...]) -> None:
    """Table 7, decision trees; the paper does not say which of its models it is about."""
    print(f"\nTable 7, decision trees on a ring with noise, {n_splits} samples of 300, {many} fits")
    rows = []
    for level in levels:
        found = Parallel(n_jobs=n_jobs)(
            delayed(simulated)(seed, level / 100, many) for seed in range(n_splits)
        )
        ours = summarised(found)
        row: dict[str, str | int] = {"noise (%)": level}
        for name, printed in zip(("LOO-CV", "Perm.", "Rad."), PAPER_NOISE[level], strict=True):
            row[name] = f"{ours[f'{name} many']} ({printed:.2f})"
        rows.append(row)
    print(pd.DataFrame(rows).to_string(index=False))
    print("(in brackets: the paper, on the region of its Figure 4)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="a few seconds, no conclusions")
    size.add_argument("--full", action="store_true", help="1000 splits, as in the paper: days")
    parser.add_argument("--part", choices=("regression", "real", "noise"), action="append")
    parser.add_argument("--data", action="append", default=[], help="data sets instead of all")
    parser.add_argument("--problems", type=int, default=20_000, help="simulated regressions")
    parser.add_argument(
        "--signal", type=float, default=1.0, help="standard deviation of the coefficients of f"
    )
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument(
        "--fits",
        type=int,
        default=1000,
        help='what "many" fits are; a tenth of it for the large data sets',
    )
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--plot", type=Path, help="file for Figure 3")
    parser.add_argument(
        "--learner", choices=("trees", "neighbours"), action="append", help="of the real data"
    )
    parser.add_argument(
        "--neighbours", type=int, nargs="+", default=NEIGHBOURS, help="numbers to choose from"
    )
    parser.add_argument("--standardise", action="store_true", help="features of neighbours")
    arguments = parser.parse_args()
    parts = arguments.part or ["regression", "real", "noise"]
    problems, splits, fits = arguments.problems, arguments.splits, arguments.fits
    names, levels = arguments.data, tuple(PAPER_NOISE)
    if arguments.quick:
        problems, splits, fits, levels = 50, 2, 12, (40,)
        names = names or ["parkinsons"]
    if arguments.full:
        problems, splits = 1_000_000, 1000
    if "regression" in parts:
        regression_tables(problems, arguments.signal, arguments.plot)
        select_on_one_sample(arguments.plot)
    if "real" in parts:
        models = {
            "trees": None,
            "neighbours": Neighbours(tuple(arguments.neighbours), arguments.standardise),
        }
        chosen = [models[name] for name in arguments.learner or models]
        classification_tables(splits, fits, names, arguments.n_jobs, chosen, full=arguments.full)
        print("\nM.Mass and Diffusion are not among the data.")
    if "noise" in parts:
        noise_table(splits, fits, arguments.n_jobs, levels)


if __name__ == "__main__":
    main()
