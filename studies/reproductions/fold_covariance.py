"""The experiments of Bengio and Grandvalet (2005): Figures 5.1 and 5.4 to 5.6.

5.1: the variance of a hold-out estimate with ten independent learning and test sets, least
squares, 30 features. 5.2: the variance of 10-fold cross-validation split into its three parts,
the same problem without and with outliers, for several sample sizes (Figure 5.4) and for several
numbers of folds at n = 120 (Figure 5.5). 5.3: the same for decision trees on the Letter data
(A to M against N to Z), all 20 000 letters being the population (Figure 5.6).

Prints tables, with Monte-Carlo standard errors, and draws the figures into the folder
build/fold_covariance/. The paper gives its results as figures only; the numbers in its text are
printed next to ours. The Letter data are not part of the package: name their folder in the
environment variable UCVTEST_DATA.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from studies import simulate
from studies.data import DataMissing, data_set

matplotlib.use("Agg")
from matplotlib import pyplot

FOLDER = Path("build/fold_covariance")
LEAST_SQUARES = "ridge:0"
OUTLIERS = 0.05
PARTS = {"s1": "sigma^2", "s2": "omega", "s3": "gamma"}
COLOURS = ("#0072B2", "#E69F00", "#8C8C8C")

HOLD_OUT_SIZES = (60, 80, 120, 160, 240)
SAMPLE_SIZES = (60, 80, 100, 120, 160, 240, 400, 660)
FOLDS = (2, 3, 4, 5, 6, 8, 10, 12, 20, 30, 40, 60, 120)
LETTER_SIZES = (20, 40, 80, 120, 200)


def experiment_1(n_replications: int, sizes: Sequence[int]) -> None:
    """Figure 5.1: theta_1 ignores that losses after the same learning set are correlated."""
    rows = []
    for n in sizes:
        found = simulate.hold_out(
            simulate.regression_sampler(), LEAST_SQUARES, n, 10, n_replications, rng=n
        )
        rows.append(
            {"n": n}
            | {name: value for name, (value, _) in found.items()}
            | {f"{name} s.e.": error for name, (_, error) in found.items()}
        )
    table = pd.DataFrame(rows).set_index("n")
    show(
        f"Experiment 5.1, {n_replications} replications",
        table,
        "Paper: theta1 is highly biased, even for large n; theta2 is unbiased.",
    )
    figure, ax = pyplot.subplots(layout="constrained")
    for name, style in (("variance", "-"), ("theta1", "--"), ("theta2", ":")):
        ax.errorbar(table.index, table[name], table[f"{name} s.e."], linestyle=style, label=name)
    ax.set(xlabel="size of learning and test sets, n", ylabel="variance", yscale="log")
    ax.legend(frameon=False)
    figure.savefig(FOLDER / "figure_5_1.png", dpi=110)


def experiment_2(n_replications: int, sizes: Sequence[int], folds: Sequence[int]) -> None:
    """Figures 5.4 and 5.5: what the variance consists of, without and with outliers."""
    figures = [pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained") for _ in range(2)]
    for column, share in enumerate((0.0, OUTLIERS)):
        sampler = simulate.regression_sampler(outlier_share=share)
        words = "with outliers" if share else "no outliers"
        by_size = {
            n - n // 10: simulate.fold_covariance(
                sampler, LEAST_SQUARES, n, 10, n_replications, rng=n
            )
            for n in sizes
        }
        show(
            f"Experiment 5.2, {words}, 10 folds, {n_replications} replications",
            table_of(by_size, "n - m"),
            "Paper: omega has little effect, gamma is of the order of sigma^2 even for large n."
            if share
            else "Paper: gamma is very important for small n, sigma^2 the main part for large n.",
        )
        draw(figures[0][1][column], by_size, "number of learning observations, n - m", words)
        by_fold = {
            k: simulate.fold_covariance(sampler, LEAST_SQUARES, 120, k, n_replications, rng=k)
            for k in folds
        }
        show(
            f"Experiment 5.2, {words}, n = 120, {n_replications} replications",
            table_of(by_fold, "K"),
            "Paper: all parts vary smoothly with K, without a general trend.",
        )
        draw(figures[1][1][column], by_fold, "number of folds, K (n = 120)", words)
    figures[0][0].savefig(FOLDER / "figure_5_4.png", dpi=110)
    figures[1][0].savefig(FOLDER / "figure_5_5.png", dpi=110)


def experiment_3(n_replications: int, sizes: Sequence[int], n_jobs: int) -> None:
    """Figure 5.6: trees on the Letter data."""
    try:
        data = data_set("letter")
    except DataMissing as error:
        print(error)
        return
    sampler = simulate.population_sampler(
        data.iloc[:, 1:].to_numpy(dtype=float), (data.iloc[:, 0] > "M").to_numpy().astype(int)
    )
    by_size = {
        n: simulate.fold_covariance(
            sampler, DecisionTreeClassifier(), n, 10, n_replications, rng=n, n_jobs=n_jobs
        )
        for n in sizes
    }
    show(
        f"Experiment 5.3, trees on the Letter data, 10 folds, {n_replications} replications",
        table_of(by_size, "n"),
        "Paper: sigma^2 is responsible for 50 to 70% of the variance, gamma for most of the rest.",
    )
    figure, ax = pyplot.subplots(layout="constrained")
    draw(ax, by_size, "number of observations, n", "Letter data, trees")
    figure.savefig(FOLDER / "figure_5_6.png", dpi=110)


def table_of(runs: dict[int, simulate.FoldCovarianceSimulation], heading: str) -> pd.DataFrame:
    """Parts of the variance as shares, with their errors; the variance; the true rho."""
    rows = []
    for key, found in runs.items():
        shares, mc_se = found.shares, found.mc_se
        row = {heading: key, "variance": plus_minus(found.theta, mc_se["theta"])}
        for part, name in PARTS.items():
            known = part in shares
            row[name] = (
                plus_minus(100 * shares[part], 100 * mc_se[f"share_{part}"]) if known else ""
            )
        rows.append(row | {"rho": plus_minus(found.rho, mc_se["rho"]), "1/K": 1 / found.n_folds})
    return pd.DataFrame(rows).set_index(heading)


def plus_minus(value: float, error: float) -> str:
    decimals = max(0, 1 - int(np.floor(np.log10(error)))) if error > 0 else 3
    return f"{value:.{decimals}f} +- {error:.{decimals}f}"


def show(title: str, table: pd.DataFrame, paper: str) -> None:
    unit = "; sigma^2, omega, gamma in % of the variance" if "gamma" in table else ""
    print(f"\n{title}{unit}\n{table.to_string()}\n{paper}")


def draw(
    ax: matplotlib.axes.Axes,
    runs: dict[int, simulate.FoldCovarianceSimulation],
    xlabel: str,
    title: str,
) -> None:
    """Stacked bars of the three parts; a negative part goes below zero."""
    places = np.arange(len(runs))
    above, below = np.zeros(len(runs)), np.zeros(len(runs))
    for (part, name), colour in zip(PARTS.items(), COLOURS, strict=True):
        heights = np.array([found.contributions.get(part, 0.0) for found in runs.values()])
        bottom = np.where(heights >= 0, above, below)
        ax.bar(places, heights, bottom=bottom, label=name, color=colour)
        above, below = above + np.maximum(heights, 0), below + np.minimum(heights, 0)
    ax.errorbar(
        places,
        [found.theta for found in runs.values()],
        [found.mc_se["theta"] for found in runs.values()],
        fmt="none",
        ecolor="black",
    )
    ax.set_xticks(places, [str(key) for key in runs])
    ax.set(xlabel=xlabel, ylabel="variance of CV", title=title)
    ax.set_ylim(top=1.2 * max(above))
    ax.legend(frameon=False, ncols=3, loc="upper right")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few replications and sizes")
    parser.add_argument("--experiment", type=int, choices=(1, 2, 3), help="instead of all")
    parser.add_argument("--replications", type=int, help="the same number for all experiments")
    arguments = parser.parse_args()
    start = time.perf_counter()
    FOLDER.mkdir(parents=True, exist_ok=True)
    quick, count = arguments.quick, arguments.replications
    chosen = (1, 2, 3) if arguments.experiment is None else (arguments.experiment,)
    if 1 in chosen:
        experiment_1(
            count or (50 if quick else 4000), HOLD_OUT_SIZES[:1] if quick else HOLD_OUT_SIZES
        )
    if 2 in chosen:
        sizes, folds = (SAMPLE_SIZES[:1], FOLDS[:1]) if quick else (SAMPLE_SIZES, FOLDS)
        experiment_2(count or (50 if quick else 10_000), sizes, folds)
    if 3 in chosen:
        sizes = LETTER_SIZES[:1] if quick else LETTER_SIZES
        # A few fits are done before workers have started.
        experiment_3(count or (10 if quick else 2000), sizes, 1 if quick else -1)
    print(f"\nFigures: {FOLDER}/ (+- and bars are Monte-Carlo standard errors)")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
