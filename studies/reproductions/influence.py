"""Tables 1 to 7 and figures 1 and 2 of Yousef's paper on cross-validation-based estimators.

Two normal classes with identity covariance matrices, means 0 and c in every feature; LDA and
QDA; 10, 20 or 60 observations in a class. For each simulated data set: the AUC of the rule
learnt from all of it, Monte-Carlo cross-validation with the influence-function standard
deviation, and the ad-hoc ones of (8) and (10). The paper gives neither c nor its number of data
sets: here c = 0.823 for p = 2 and 0.616 for p = 4, which matches its rows of true AUC (of LDA
and of QDA) to 0.002; the number of data sets is estimated from how much its mean AUCs scatter. Its
row "SD" is the standard deviation of the estimate over data sets.

Without arguments all tables are made. `--tables 2 6` makes those with 20 in a class. Every data set
is kept in the folder `--out` as soon as it is done: a run that was stopped goes on there, and one
with more data sets adds those that are missing.
"""

import argparse
import time
from collections.abc import Iterable
from functools import partial
from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from scipy import stats

import ucvtest as uv
from studies.reproductions.kept import kept_rows
from studies.reproductions.published_influence import PUBLISHED, PUBLISHED_TABLE_4
from studies.simulate import normal_classes

SHIFT = {2: 0.823, 4: 0.616}
FOLDS = (10, 5, 2)
REPEATS = 1000
"""Of Monte-Carlo cross-validation, as in the paper; more where a pair is still untested, which
is so in about one data set of sixty at K = 10."""
REPEATS_KFOLD = 100
"""Of repeated cross-validation: adequate, the paper says, which has 1000 of them too."""
BOOTSTRAP_SAMPLES = 1000
"""The paper does not say how many it draws for its table 4."""
SIZES = {1: 10, 2: 20, 3: 60, 5: 10, 6: 20, 7: 60}
"""Observations in a class, by the number of the table."""

AD_HOC = ("adhoc_1", "adhoc_2", "adhoc_3_mle")
ROWS = {
    "auc": "true AUC",
    "estimate": "estimated AUC",
    "sd": "SD of the estimate",
    "influence": "mean influence SD",
    "sd influence": "  its SD",
    "adhoc_monte_carlo": "mean (10), CVKM",
    **{f"kfold {name}": f"mean {name}, CVK" for name in AD_HOC},
    **{name: f"mean {name}, CVKR" for name in AD_HOC},
    **{f"sd kfold {name}": f"  SD of {name}, CVK" for name in AD_HOC},
    **{f"sd {name}": f"  SD of {name}, CVKR" for name in AD_HOC},
}


def columns(n: int) -> list[tuple[str, int, int]]:
    """Learner, features and folds of each column of the tables with n in a class."""
    return list(product(("lda", "qda"), (4,) if n == 60 else (2, 4), FOLDS))


def true_auc(learner: str, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> float:
    """AUC, among 2 x 500 new observations, of the rule learnt from all of X."""
    new, new_y = normal_classes(500, 500, X.shape[1], SHIFT[X.shape[1]], rng=rng)
    rule = {"lda": _lda, "qda": _qda}[learner](X, y)
    ranks = stats.rankdata(rule(new))
    return (ranks[new_y == 1].mean() - 250.5) / 500


def _moments(X, y):
    parts = [X[y == label] for label in (0, 1)]
    means = [part.mean(axis=0) for part in parts]
    return means, [np.cov(part.T, bias=True) for part in parts]


def _lda(X, y):
    means, covariances = _moments(X, y)
    slope = np.linalg.solve(sum(covariances), means[1] - means[0])
    return lambda new: new @ slope


def _qda(X, y):
    means, covariances = _moments(X, y)

    def log_density(new, mean, covariance):
        centred = new - mean
        distance = (centred @ np.linalg.inv(covariance) * centred).sum(axis=1)
        return -0.5 * (distance + np.linalg.slogdet(covariance)[1])

    return lambda new: (
        log_density(new, means[1], covariances[1]) - log_density(new, means[0], covariances[0])
    )


def generator(n: int, learner: str, p: int, k: int, number: int) -> np.random.Generator:
    """That of one data set, which is the first that is drawn from it."""
    return np.random.default_rng([n, p, k, learner == "qda", number])


def simulate(
    n: int, learner: str, p: int, k: int, n_repeats: int, n_kfold: int, number: int
) -> dict[str, float]:
    """One data set: estimates, and standard deviations by every estimator."""
    rng = generator(n, learner, p, k, number)
    X, y = normal_classes(n, n, p, SHIFT[p], rng=rng)
    test = uv.InfluenceFunctionTest(X, y, learner, n_folds=k)
    found = test.fit(n_repeats, variance="influence", rng=rng)
    row = {
        "auc": true_auc(learner, X, y, rng),
        "estimate": found.estimate,
        "n_repeats": found.diagnostics["n_repeats"],
        # Classes that every rule separates leave a variance of zero, and no noise in it.
        "noise": found.diagnostics["mc_bias_variance"] / (found.variance or 1.0),
        "influence": found.diagnostics["variance_influence"] ** 0.5,
        "term_1": found.diagnostics["variance_term_1"] ** 0.5,
        "adhoc_monte_carlo": found.diagnostics["variance_adhoc_monte_carlo"] ** 0.5,
    }
    for scheme, prefix in (("kfold", "kfold "), ("repeated", "")):
        repeats = n_kfold if scheme == "repeated" else "auto"
        found = test.fit(repeats, scheme, "influence", rng=rng)
        for name in AD_HOC:
            row[prefix + name] = found.diagnostics[f"variance_{name}"] ** 0.5
    return row


def simulate_bootstrap(n: int, n_samples: int, number: int) -> dict[str, float]:
    """Leave-pair-out bootstrap of QDA, p = 2, on a data set of the column with K = 10.

    NaN where a bootstrap sample has a singular covariance.
    """
    X, y = normal_classes(n, n, 2, SHIFT[2], rng=generator(n, "qda", 2, 10, number))
    names = ("estimate", "influence", "term_1", "without noise")
    try:
        found = uv.InfluenceFunctionTest(X, y, "qda").fit(
            n_samples, "bootstrap", "influence", rng=np.random.default_rng([n, n_samples, number])
        )
    except ValueError as error:
        if "singular" not in str(error):
            raise
        return dict.fromkeys(names, np.nan)
    noise = found.diagnostics["mc_bias_variance"]
    variances = (found.variance, found.diagnostics["variance_term_1"], found.variance - noise)
    return dict(zip(names, (found.estimate, *np.sqrt(variances)), strict=True))


def mean_of(values: pd.Series) -> tuple[float, float]:
    """Mean and its Monte-Carlo standard error."""
    return float(values.mean()), float(values.std() / np.sqrt(len(values)))


def sd_of(values: pd.Series) -> tuple[float, float]:
    """Standard deviation and its Monte-Carlo standard error."""
    sd = float(values.std())
    return sd, sd * float(np.sqrt((stats.kurtosis(values) + 2) / (4 * len(values))))


def mean_at(values: pd.Series, estimates: pd.Series, paper: float) -> tuple[float, float]:
    """Mean in data sets whose mean estimated AUC is the paper's, by linear regression."""
    fit = stats.linregress(estimates, values)
    residuals = values - fit.intercept - fit.slope * estimates
    error = np.hypot(
        residuals.std() / np.sqrt(len(values)), fit.stderr * (estimates.mean() - paper)
    )
    return fit.intercept + fit.slope * paper, float(error)


def print_adjusted(n: int, frames: dict[tuple[str, int, int], pd.DataFrame]) -> None:
    """Where the paper's data sets had another mean AUC than ours, its SDs differ for that alone."""
    print("\nin data sets with the paper's mean estimated AUC (by regression), ucvtest | paper")
    rows = {}
    for row in ("influence", "adhoc_1", "adhoc_2", "adhoc_3_mle"):
        published = [
            dict(zip(columns(n), map(int, PUBLISHED[n][name].split()), strict=True))
            for name in (row, "estimate")
        ]
        cells = {}
        for column, frame in frames.items():
            paper, at = (values[column] / 10_000 for values in published)
            value, error = mean_at(frame[row], frame["estimate"], at)
            title = f"{column[0].upper()} p={column[1]} K={column[2]}"
            cells[title] = f"{value:.4f} +- {error:.4f} | {paper:.4f}"
        rows[ROWS[row]] = cells
    print(pd.DataFrame(rows).to_string())


def summarised(frame: pd.DataFrame, row: str) -> tuple[float, float]:
    if row == "sd":
        return sd_of(frame["estimate"])
    return sd_of(frame[row[3:]]) if row.startswith("sd ") else mean_of(frame[row])


def compared(n: int, frames: dict[tuple[str, int, int], pd.DataFrame]) -> pd.DataFrame:
    """Ours, its Monte-Carlo error and the published number, row by row of a table."""
    records = []
    for row, title in ROWS.items():
        for column, paper in zip(columns(n), PUBLISHED[n][row].split(), strict=True):
            if column in frames:
                value, error = summarised(frames[column], row)
                records.append((row, title, *column, value, error, int(paper) / 10_000))
    names = ["row", "title", "learner", "p", "K", "ucvtest", "mc_se", "paper"]
    return pd.DataFrame(records, columns=names).assign(n=n)


def papers_data_sets(tables: list[pd.DataFrame], n_sets: int) -> tuple[float, float, float]:
    """How many data sets the paper has, by how much its mean AUCs scatter; with a 95% interval.

    The square of a column's difference from ours is sd^2 (1/N + 1/n_sets) on average; the columns
    are taken as independent, which they are in our simulation.
    """
    table = pd.concat(tables)
    wide = table.pivot(index=["n", "learner", "p", "K"], columns="row", values=["ucvtest", "paper"])
    difference = wide["ucvtest", "estimate"] - wide["paper", "estimate"]
    squares = (difference / wide["ucvtest", "sd"]) ** 2
    count = len(squares)
    limits = count / stats.chi2(count).ppf([0.5, 0.025, 0.975]) * squares.mean()
    # More data sets than these cannot be told from infinitely many.
    found = 1 / np.maximum(np.r_[squares.mean(), limits[1:]] - 1 / n_sets, 1e-9)
    return float(found[0]), float(found[1]), float(found[2])


def few(count: float) -> str:
    """How many data sets, unless they cannot be told from infinitely many."""
    return f"{count:.0f}" if count < 1e6 else "very many"


def print_table(
    numbers: Iterable[int], n: int, table: pd.DataFrame, n_sets: int, papers: float
) -> None:
    heading = " and ".join(map(str, numbers))
    print(f"\nTable {heading}: n1 = n2 = {n}; ucvtest +- Monte-Carlo error | paper")
    cells = table.assign(
        cell=[
            f"{value:.4f} +- {error:.4f} | {paper:.4f}"
            for value, error, paper in zip(
                table["ucvtest"], table["mc_se"], table["paper"], strict=True
            )
        ],
        column=[
            f"{learner.upper()} p={p} K={k}"
            for learner, p, k in zip(table["learner"], table["p"], table["K"], strict=True)
        ],
    )
    wide = cells.pivot(index="title", columns="column", values="cell")
    order = list(dict.fromkeys(cells["column"]))
    for start in range(0, len(order), 3):
        print(wide.loc[list(ROWS.values()), order[start : start + 3]].to_string())
        print()
    print(f"differences from the paper, if it has {few(papers)} data sets:")
    for row in ("estimate", "sd", "influence", "adhoc_monte_carlo", *AD_HOC):
        part = table[table["row"] == row]
        difference = (part["ucvtest"] - part["paper"]).abs()
        errors = difference / (part["mc_se"] * np.sqrt(1 + n_sets / papers))
        print(
            f"{ROWS[row]:>24}: {np.sum(errors <= 2)} of {len(errors)} within 2 Monte-Carlo errors "
            f"of both, the largest {errors.max():.1f}; largest difference {difference.max():.4f}"
        )


def print_table_4(
    by_size: dict[int, pd.DataFrame], bootstraps: dict[int, pd.DataFrame], n_samples: int
) -> None:
    """Both estimators on the same data sets; then what could explain a difference."""
    print("\nTable 4: QDA, p = 2, K = 10; ucvtest +- Monte-Carlo error | paper")
    rows, adjusted = {}, {}
    for (n, name), paper in PUBLISHED_TABLE_4.items():
        usable = bootstraps[n]["estimate"].notna()
        frame = (bootstraps[n] if name == "bootstrap" else by_size[n])[usable]
        found = mean_of(frame["influence"]), mean_of(frame["term_1"]), sd_of(frame["estimate"])
        rows[f"{name}, n = {n}"] = [
            f"{value:.4f} +- {error:.4f} | {published:.4f}"
            for (value, error), published in zip(found, paper, strict=True)
        ]
        if name == "bootstrap":
            cross_validated = by_size[n]["estimate"][usable]
            at = int(dict(zip(columns(n), PUBLISHED[n]["estimate"].split(), strict=True))[
                "qda", 2, 10
            ]) / 10_000  # fmt: skip
            ways = {
                f"{n_samples} samples": mean_of(frame["influence"]),
                "without Monte-Carlo noise": mean_of(frame["without noise"]),
                "at the paper's mean AUC": mean_at(frame["influence"], cross_validated, at),
                "both": mean_at(frame["without noise"], cross_validated, at),
                "the paper's mean AUC": (at, np.nan),
                "its SD over data sets": (float(frame["influence"].std()), np.nan),
                "data sets with a singular sample": (float((~usable).sum()), np.nan),
            }
            adjusted[f"n = {n}"] = {
                way: f"{value:.4f}" + (f" +- {error:.4f}" if error == error else "")
                for way, (value, error) in ways.items()
            } | {"paper": f"{paper[0]:.4f}"}
    names = ["SD (I, II, III)", "SD (I)", "true SD"]
    print(pd.DataFrame.from_dict(rows, orient="index", columns=names).to_string())
    print("\nSD (I, II, III) of the bootstrap")
    print(pd.DataFrame(adjusted).to_string())


def draw_figure_1(tables: list[pd.DataFrame], file: Path) -> None:
    """Bias, SD and RMS over the true SD: influence function and (8b) of CVKR; ours and theirs."""
    figure = Figure(figsize=(12, 3 * len(tables)), layout="constrained")
    axes = figure.subplots(len(tables), 3, squeeze=False)
    for line, table in zip(axes, tables, strict=True):
        wide = table.pivot(index=["learner", "p", "K"], columns="row", values=["ucvtest", "paper"])
        wide = wide.loc[[c for c in columns(table["n"].iloc[0]) if c in wide.index]]
        labels = [f"{learner}\n{p}, {k}" for learner, p, k in wide.index]
        for source, style in (("ucvtest", "-o"), ("paper", ":s")):
            for row, name, colour in (
                ("influence", "influence", "#0072B2"),
                ("adhoc_2", "(8b), CVKR", "#E69F00"),
            ):
                truth = wide[source, "sd"]
                bias = (wide[source, row] - truth) / truth
                spread = wide[source, f"sd {row}"] / truth
                values = (bias, spread, np.hypot(bias, spread))
                for ax, value in zip(line, values, strict=True):
                    style_of = {"color": colour, "label": f"{name}, {source}"}
                    ax.plot(range(len(value)), value, style, markersize=4, **style_of)
        for ax, title in zip(line, ("bias", "SD", "RMS"), strict=True):
            ax.axhline(0, color="#333333", linewidth=0.8)
            ax.set_xticks(range(len(labels)), labels, fontsize="x-small")
            ax.set_title(f"{title} over true SD, {table['n'].iloc[0]} in a class", loc="left")
    axes[0, 0].legend(fontsize="small", frameon=False)
    figure.savefig(file, dpi=80)


def draw_figure_2(file: Path) -> None:
    """Training sets of cross-validation with K = 2 over bootstrap samples."""
    figure = Figure(figsize=(5, 3.5), layout="constrained")
    ax = figure.subplots()
    sizes = range(2, 41, 2)
    ax.semilogy(sizes, [comb(n, n // 2) / n**n for n in sizes], "-o", color="#0072B2", markersize=4)
    ax.set_xlabel("observations in a class, n")
    ax.set_ylabel("C(n, n/2) / n^n")
    figure.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="6 data sets, p = 2 of tables 2 and 6")
    parser.add_argument("--tables", type=int, nargs="*", choices=range(1, 8), help="by default all")
    parser.add_argument("--data-sets", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--out", type=Path, default=Path("build/reproduce_influence"))
    arguments = parser.parse_args()
    tables = arguments.tables or ([2, 6] if arguments.quick else list(range(1, 8)))
    n_sets = 6 if arguments.quick else arguments.data_sets
    n_jobs = 1 if arguments.quick else arguments.jobs
    start = time.perf_counter()
    arguments.out.mkdir(parents=True, exist_ok=True)

    wanted = sorted({SIZES[number] for number in tables if number != 4})
    tasks = [(n, *column) for n in wanted for column in columns(n)]
    if 4 in tables:
        tasks = list(dict.fromkeys([*tasks, (10, "qda", 2, 10), (20, "qda", 2, 10)]))
    if arguments.quick:
        tasks = [task for task in tasks if task[2] == 2]
    n_repeats, n_kfold, n_samples = (
        (200, 10, 400) if arguments.quick else (REPEATS, REPEATS_KFOLD, BOOTSTRAP_SAMPLES)
    )
    kept = arguments.out / "data_sets"
    calls = [
        ("_".join(map(str, task)), partial(simulate, *task, n_repeats, n_kfold)) for task in tasks
    ]
    if 4 in tables:
        calls += [(f"{n}_bootstrap", partial(simulate_bootstrap, n, n_samples)) for n in (10, 20)]
    found = Parallel(n_jobs=n_jobs)(
        delayed(kept_rows)(None if arguments.quick else kept / f"{name}.csv", n_sets, call)
        for name, call in calls
    )
    frames = dict(zip(tasks, found, strict=False))
    parts = {n: {task[1:]: frame for task, frame in frames.items() if task[0] == n} for n in wanted}
    made = [compared(n, part) for n, part in parts.items()]
    papers = np.nan
    if made:
        papers, low, high = papers_data_sets(made, n_sets)
        n_columns = sum(map(len, parts.values()))
        print(
            f"{n_sets} data sets here; the paper has about {few(papers)} "
            f"({few(low)} to {few(high)}), by the scatter of its {n_columns} mean AUCs"
        )
    for table, (n, part) in zip(made, parts.items(), strict=True):
        numbers = [number for number in tables if SIZES.get(number) == n]
        print_table(numbers, n, table, n_sets, papers)
        print_adjusted(n, part)
        added = {k: int(max(part[c]["n_repeats"].max() for c in part if c[2] == k)) for k in FOLDS}
        noise = {k: np.mean([part[c]["noise"].mean() for c in part if c[2] == k]) for k in FOLDS}
        print(f"most repeats of CVKM, by K: {added}")
        print(
            "share of the influence variance that is Monte-Carlo noise, by K: "
            + ", ".join(f"{k}: {share:.1%}" for k, share in noise.items())
        )
    if 4 in tables:
        by_size = {n: frames[n, "qda", 2, 10] for n in (10, 20)}
        print_table_4(by_size, dict(zip((10, 20), found[-2:], strict=True)), n_samples)
    if made:
        pd.concat(made).to_csv(arguments.out / "tables.csv", index=False)
        draw_figure_1(made, arguments.out / "figure_1.png")
    if 1 in tables:
        draw_figure_2(arguments.out / "figure_2.png")
    print(f"\n{n_sets} data sets; pictures and tables.csv are in {arguments.out}")
    print(f"{time.perf_counter() - start:.0f} s, data sets that were kept from before not counted")


if __name__ == "__main__":
    main()
