"""Figures 1-3 and 6-9 of Pahikkala et al. (2025) as numbers and, with --figures, as pictures.

Figure 9 without its fourth part: the prostate data are not public. The paper does not say which
mixtures of normals it used; ours have components at -2 and 2.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import ucvtest as uv
from studies.reproductions.light_codes import RandomLearner, order_direction_learner
from ucvtest.codes.null_distributions import NullDistribution, sample_errors, wilcoxon_null

N, W = 30, 15
SIZES = (12, 16, 20, 24, 28, 32, 36, 40)
LEARNERS = {"ridge": "ridge:1.0", "knn": "knn:3"}


def order_direction_errors(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Errors of the order-direction learner for many labelings (P, n) of one feature (n,)."""
    weight = int(labels[0].sum())
    rest = len(x) - weight
    errors = np.empty(len(labels))
    for row, y in enumerate(labels):
        positive, negative = x[y][:, None], x[~y]
        rise = (positive.sum() - positive) / (weight - 1) - (negative.sum() - negative) / (rest - 1)
        errors[row] = (rise * (positive - negative) < 0).sum()
    return errors


def null_shapes(
    rng: np.random.Generator, n_permutations: int, n_random: int
) -> dict[str, NullDistribution]:
    """The null distributions of figures 1, 3 and 6."""
    x = rng.normal(size=N)
    labels = rng.permuted(np.tile(np.arange(N) < W, (n_permutations, 1)), axis=1)
    wide = NullDistribution.of(order_direction_errors(x, labels), sampled=True)
    test = uv.LeavePairOutTest(x[:, None], labels[0], order_direction_learner)
    by_class = test.fit("wmw").diagnostics["n_errors"]
    assert by_class == order_direction_errors(x, labels[:1])[0], "closed form and fits differ"
    random = uv.LeavePairOutTest(x[:, None], labels[0], RandomLearner(0))
    found = random.fit(n_permutations=n_random, rng=rng).diagnostics
    counts = np.round(found["null_probabilities"] * n_random).astype(int)
    narrow = NullDistribution(found["null_errors"], counts, sampled=True)
    return {
        "1: fixed function (Wilcoxon)": wilcoxon_null(N, W),
        "3: order direction": wide,
        "6: random": narrow,
    }


def described(shapes: dict[str, NullDistribution]) -> pd.DataFrame:
    """One row for each null distribution, in units of U."""
    n_pairs = W * (N - W)
    rows = []
    for name, null in shapes.items():
        mean = null.errors @ null.probabilities
        rows.append(
            {
                "figure": name,
                "mean": mean / n_pairs,
                "std": np.sqrt((null.errors**2) @ null.probabilities - mean**2) / n_pairs,
                "5% level": null.critical_value(0.05) / n_pairs,
                "U < 0.25": null.pvalue(0.25 * n_pairs),
            }
        )
    return pd.DataFrame(rows)


def draw_null_shapes(shapes: dict[str, NullDistribution], path: Path) -> None:
    """Figures 1, 3 and 6: distributions of U, and where 5% of them end."""
    figure = Figure(figsize=(9.6, 2.9), layout="constrained")
    n_pairs = W * (N - W)
    # Five numbers of errors in each bin.
    edges = (np.arange(0, n_pairs + 6, 5) - 0.5) / n_pairs
    for ax, (name, null) in zip(figure.subplots(1, 3, sharex=True), shapes.items(), strict=True):
        shares = np.histogram(null.errors / n_pairs, edges, weights=null.probabilities)[0]
        ax.stairs(shares, edges, fill=True, color="#0072B2")
        ax.axvline(null.critical_value(0.05) / n_pairs, color="#D55E00", linestyle="--")
        ax.set_title(f"Figure {name}", loc="left", fontsize="medium")
        ax.set_xlabel("U")
        ax.set_yticks([])
    figure.savefig(path, dpi=110)


def draw_critical_values(tables: dict[str, pd.DataFrame], path: Path) -> None:
    """Figures 2, 7 and 8; sizes that cannot reject stay empty."""
    titles = {
        "wmw": "Figure 2: Wilcoxon-Mann-Whitney",
        "graham_sloane": "Figure 7: Graham-Sloane, no valid test",
        "empirical": "Figure 8: smallest of eight learning setups",
    }
    figure = Figure(figsize=(22, 7), layout="constrained")
    for ax, (method, title) in zip(figure.subplots(1, 3), titles.items(), strict=True):
        uv.codes.plot_critical_values(tables[method], ax)
        ax.set_title(title, loc="left")
    figure.savefig(path, dpi=75)


def with_signal(setting: str, rng: np.random.Generator, n_samples: int, n: int) -> np.ndarray:
    """Samples of ten features (R, n, 10), the first half of each positive: section 4.2."""
    X = rng.normal(size=(n_samples, n, 10))
    half = n // 2
    if setting == "c: one feature, not linear":
        X[:, :half, 0] += 0.5
        X[:, half:, 0] += rng.choice([5.5, -4.5], size=(n_samples, n - half))
        return X
    n_features = 1 if setting.startswith("a") else 4
    X[:, :half, :n_features] += 0.5
    X[:, half:, :n_features] -= 0.5
    return X


def type_two_errors(
    rng: np.random.Generator,
    critical: dict[int, int],
    n_samples: int,
    n_permuted: int,
) -> pd.DataFrame:
    """Figure 9: how often a false null hypothesis is not rejected."""
    rows = []
    for setting in ("a: one feature", "b: four features", "c: one feature, not linear"):
        for name, learner in LEARNERS.items():
            for n in critical:
                X = with_signal(setting, rng, n_samples, n)
                errors = sample_errors(name, X, n // 2)
                y = np.arange(n) < n // 2
                pvalues = [
                    uv.LeavePairOutTest(each, y, learner).fit(n_permutations=199, rng=rng).pvalue
                    for each in X[:n_permuted]
                ]
                rows.append(
                    {
                        "setting": setting,
                        "learner": learner,
                        "n": n,
                        "empirical": (errors > critical[n]).mean(),
                        "permutation": (np.array(pvalues) > 0.05).mean(),
                    }
                )
    frame = pd.DataFrame(rows)
    return frame.pivot(index=["setting", "learner"], columns="n").round(3)


def draw_type_two_errors(shares: pd.DataFrame, path: Path) -> None:
    """Figure 9: share of type II errors against the number of observations."""
    settings = list(dict.fromkeys(setting for setting, _ in shares.index))
    figure = Figure(figsize=(3.4 * len(settings), 3.2), layout="constrained")
    colours = dict(zip(LEARNERS.values(), ("#0072B2", "#E69F00"), strict=True))
    for ax, setting in zip(figure.subplots(1, len(settings), sharey=True), settings, strict=True):
        for learner in shares.loc[setting].index:
            for method, style in (("empirical", "o-"), ("permutation", "s:")):
                curve = shares.loc[(setting, learner), method]
                named = {"label": f"{learner}, {method}", "color": colours[learner]}
                ax.plot(curve.index, curve, style, markersize=4, **named)
        ax.set_title(f"Figure 9 {setting}", loc="left", fontsize="medium")
        ax.set(xlabel="observations", ylim=(-0.03, 1.03))
    figure.axes[0].set_ylabel("share of type II errors")
    figure.axes[0].legend(fontsize="small", frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few simulations, small tables")
    parser.add_argument("--simulations", type=int, default=10_000, help="as in the paper")
    parser.add_argument("--figures", type=Path, help="folder to write pictures to")
    arguments = parser.parse_args()
    quick = arguments.quick
    start = time.perf_counter()
    rng = np.random.default_rng(2025)
    sizes = range(1, 7) if quick else range(1, 21)
    simulations = 60 if quick else arguments.simulations

    print(f"Null distributions of U, n = {N}, {W} positives")
    shapes = null_shapes(rng, 200 if quick else 10_000, 19 if quick else 499)
    print(described(shapes).to_string(index=False, float_format="{:.4f}".format))

    figures = {
        "wmw": "Figure 2",
        "graham_sloane": "Figure 7, the adversary's: not valid",
        "supremum": "valid for all algorithms",
        "empirical": "Figure 8",
    }
    tables = {}
    for method, title in figures.items():
        options = {"n_simulations": simulations, "rng": rng} if method == "empirical" else {}
        table = uv.codes.critical_values(0.05, sizes, sizes, method, **options)
        print(f"\nCritical values at 5%, {method} ({title}): n1 down, n0 across")
        print(table.to_string())
        tables[method] = table

    tested = [n for n in SIZES if n // 2 in sizes]
    critical = {n: int(tables["empirical"].loc[n // 2, n // 2]) for n in tested}
    n_samples, n_permuted = (40, 2) if quick else (simulations, max(20, simulations // 50))
    print("\nShare of type II errors at 5% (Figure 9)")
    shares = type_two_errors(rng, critical, n_samples, n_permuted)
    print(shares.to_string())
    print(
        f"Monte-Carlo standard errors at most {0.5 / np.sqrt(n_samples):.3f} (empirical, "
        f"{n_samples} samples) and {0.5 / np.sqrt(n_permuted):.3f} (permutation, {n_permuted})"
    )
    if arguments.figures is not None:
        arguments.figures.mkdir(parents=True, exist_ok=True)
        draw_null_shapes(shapes, arguments.figures / "null_distributions.png")
        draw_critical_values(tables, arguments.figures / "critical_values.png")
        draw_type_two_errors(shares, arguments.figures / "type_two_errors.png")
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
