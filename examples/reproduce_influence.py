"""Tables 1 to 7 and figures 1 and 2 of Yousef's paper on cross-validation-based estimators.

Two normal classes with identity covariance matrices, means 0 and c in every feature; LDA and
QDA; 10, 20 or 60 observations in a class. For each simulated data set: the AUC of the rule
learnt from all of it, Monte-Carlo cross-validation with the influence-function standard
deviation, and the ad-hoc ones of (8) and (10). The paper gives neither c nor its number of data
sets: here c = 0.823 for p = 2 and 0.616 for p = 4, which matches its rows of true AUC (of LDA
and of QDA) to 0.002. Its row "SD" is the standard deviation of the estimate over data sets.

Without arguments all tables are made. `--tables 2 6` makes those with 20 in a class.
"""

import argparse
import time
from collections.abc import Iterable
from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from scipy import stats

import ucvtest as uv

SHIFT = {2: 0.823, 4: 0.616}
FOLDS = (10, 5, 2)
REPEATS = {10: 5000, 5: 1000, 2: 1000}
"""Of Monte-Carlo cross-validation; more where a pair is still untested. The paper has 1000, which
leave some pair untested in about one data set of sixty at K = 10."""
REPEATS_KFOLD = 100
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

# In units of 0.0001; columns: learner, then features, then K = 10, 5, 2.
PUBLISHED = {
    10: {
        "auc": "7679 7657 7628 7437 7427 7420 7226 7273 7255 6607 6601 6598",
        "estimate": "7718 7737 7437 7260 7278 6793 7339 7207 6757 6492 6362 5732",
        "sd": "1263 1263 1300 1474 1379 1269 1472 1434 1312 1655 1504 0925",
        "influence": "0967 0951 1029 1017 1000 1044 1016 1016 1045 1095 1056 0867",
        "adhoc_monte_carlo": "1303 1107 0979 1378 1182 1113 1366 1187 1100 1468 1279 1285",
        "sd influence": "0264 0265 0292 0246 0259 0237 0275 0263 0228 0222 0208 0148",
        "kfold adhoc_1": "1247 1041 0802 1300 1117 0942 1305 1102 0893 1419 1206 1116",
        "kfold adhoc_2": "1244 1061 0680 1294 1126 0780 1304 1127 0751 1421 1225 0991",
        "adhoc_1": "1247 1051 0893 1300 1131 1044 1305 1120 0992 1419 1219 1223",
        "adhoc_2": "1279 1110 0829 1333 1187 0958 1339 1183 0957 1455 1275 1268",
        "kfold adhoc_3_mle": "0974 0865 0527 1007 0898 0603 1024 0904 0587 1103 0947 0786",
        "adhoc_3_mle": "0974 0873 0586 1007 0911 0679 1024 0923 0677 1103 0964 0895",
        "sd kfold adhoc_1": "0275 0307 0448 0261 0288 0470 0267 0301 0464 0211 0284 0493",
        "sd kfold adhoc_2": "0441 0458 0526 0420 0453 0633 0418 0464 0605 0356 0462 0760",
        "sd adhoc_1": "0275 0245 0193 0261 0211 0137 0267 0229 0146 0211 0177 0114",
        "sd adhoc_2": "0287 0265 0156 0274 0228 0148 0280 0247 0154 0221 0189 0169",
        "sd kfold adhoc_3_mle": "0261 0280 0284 0253 0266 0338 0260 0276 0362 0207 0276 0419",
        "sd adhoc_3_mle": "0261 0225 0105 0253 0193 0095 0260 0203 0105 0207 0153 0113",
    },
    20: {
        "auc": "7825 7822 7822 7743 7758 7740 7616 7601 7608 7188 7205 7189",
        "estimate": "7945 7919 7831 7684 7676 7394 7705 7621 7387 7080 7013 6565",
        "sd": "0772 0715 0812 0835 0886 0870 0869 0933 0918 1084 1021 0897",
        "influence": "0682 0691 0715 0715 0716 0765 0715 0727 0771 0772 0781 0789",
        "adhoc_monte_carlo": "0783 0697 0576 0820 0723 0652 0816 0729 0653 0885 0789 0768",
        "sd influence": "0127 0115 0147 0124 0126 0131 0126 0127 0129 0114 0120 0095",
        "kfold adhoc_1": "0763 0679 0524 0794 0693 0588 0781 0695 0565 0858 0752 0657",
        "kfold adhoc_2": "0777 0715 0472 0800 0711 0482 0788 0722 0495 0880 0774 0540",
        "adhoc_1": "0768 0686 0577 0799 0709 0614 0790 0709 0610 0860 0768 0707",
        "adhoc_2": "0794 0737 0599 0826 0756 0570 0817 0760 0596 0889 0816 0683",
        "kfold adhoc_3_mle": "0661 0609 0376 0681 0605 0379 0675 0616 0380 0735 0638 0432",
        "adhoc_3_mle": "0665 0618 0424 0687 0622 0403 0683 0629 0422 0738 0659 0483",
        "sd kfold adhoc_1": "0143 0177 0265 0151 0183 0277 0153 0182 0273 0143 0178 0299",
        "sd kfold adhoc_2": "0212 0276 0358 0218 0281 0360 0216 0271 0378 0205 0286 0425",
        "sd adhoc_1": "0114 0109 0096 0121 0113 0079 0127 0113 0082 0106 0093 0062",
        "sd adhoc_2": "0121 0120 0083 0127 0123 0065 0133 0123 0070 0112 0101 0076",
        "sd kfold adhoc_3_mle": "0136 0169 0190 0144 0174 0194 0148 0171 0214 0138 0177 0247",
        "sd adhoc_3_mle": "0112 0102 0056 0117 0100 0042 0122 0100 0047 0098 0078 0049",
    },
    60: {
        "auc": "7956 7953 7954 7741 7743 7746",
        "estimate": "7941 7936 7853 7718 7651 7460",
        "sd": "0433 0427 0444 0492 0511 0512",
        "influence": "0401 0403 0417 0422 0432 0464",
        "adhoc_monte_carlo": "0405 0373 0307 0422 0389 0343",
        "sd influence": "0040 0040 0045 0042 0044 0046",
        "kfold adhoc_1": "0399 0365 0289 0420 0377 0297",
        "kfold adhoc_2": "0409 0387 0262 0431 0390 0250",
        "adhoc_1": "0403 0375 0318 0421 0386 0322",
        "adhoc_2": "0420 0406 0342 0438 0416 0313",
        "kfold adhoc_3_mle": "0375 0344 0214 0393 0346 0195",
        "adhoc_3_mle": "0379 0353 0243 0394 0357 0221",
        "sd kfold adhoc_1": "0067 0093 0124 0070 0090 0132",
        "sd kfold adhoc_2": "0103 0139 0200 0107 0147 0187",
        "sd adhoc_1": "0039 0036 0028 0038 0037 0027",
        "sd adhoc_2": "0041 0040 0031 0041 0040 0029",
        "sd kfold adhoc_3_mle": "0066 0091 0108 0069 0090 0105",
        "sd adhoc_3_mle": "0038 0033 0019 0037 0032 0017",
    },
}

# n in a class, estimator: SD by all three terms, by term I, true SD. QDA, p = 2, K = 10.
PUBLISHED_TABLE_4 = {
    (10, "bootstrap"): (0.1327, 0.0806, 0.1362),
    (10, "monte_carlo"): (0.1016, 0.1016, 0.1472),
    (20, "bootstrap"): (0.0908, 0.0628, 0.0929),
    (20, "monte_carlo"): (0.0715, 0.0705, 0.0869),
}


def columns(n: int) -> list[tuple[str, int, int]]:
    """Learner, features and folds of each column of the tables with n in a class."""
    return list(product(("lda", "qda"), (4,) if n == 60 else (2, 4), FOLDS))


def true_auc(learner: str, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> float:
    """AUC, among 2 x 500 new observations, of the rule learnt from all of X."""
    new, new_y = uv.simulate.normal_classes(500, 500, X.shape[1], SHIFT[X.shape[1]], rng=rng)
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


def simulate_column(
    n: int, learner: str, p: int, k: int, n_sets: int, n_repeats: int, n_kfold: int
) -> pd.DataFrame:
    """One row for each data set: estimates, and standard deviations by every estimator."""
    rng = np.random.default_rng([n, p, k, learner == "qda"])
    rows = []
    for _ in range(n_sets):
        X, y = uv.simulate.normal_classes(n, n, p, SHIFT[p], rng=rng)
        test = uv.InfluenceFunctionTest(X, y, learner, n_folds=k)
        found = test.fit(n_repeats, variance="influence", rng=rng)
        row = {
            "auc": true_auc(learner, X, y, rng),
            "estimate": found.estimate,
            "n_repeats": found.diagnostics["n_repeats"],
            # Classes that every rule separates leave a variance of zero, and no noise in it.
            "noise": found.diagnostics["mc_bias_variance"] / (found.variance or 1.0),
            "influence": found.diagnostics["variance_influence"],
            "term_1": found.diagnostics["variance_term_1"],
            "adhoc_monte_carlo": found.diagnostics["variance_adhoc_monte_carlo"],
        }
        for scheme, prefix in (("kfold", "kfold "), ("repeated", "")):
            repeats = n_kfold if scheme == "repeated" else "auto"
            found = test.fit(repeats, scheme, "influence", rng=rng)
            for name in (*AD_HOC, "adhoc_3"):
                row[prefix + name] = found.diagnostics[f"variance_{name}"]
            row[f"{scheme} estimate"] = found.estimate
            row[f"{scheme} influence"] = found.diagnostics["variance_influence"]
        rows.append(row)
    frame = pd.DataFrame(rows)
    variances = [name for name in frame if "adhoc" in name or "influence" in name]
    frame[[*variances, "term_1"]] **= 0.5
    return frame


def simulate_bootstrap(n: int, n_sets: int, n_samples: int) -> tuple[pd.DataFrame, int]:
    """QDA, p = 2: leave-pair-out bootstrap. Also how many runs met a singular covariance."""
    rng = np.random.default_rng([n, 4])
    rows, n_failed = [], 0
    while len(rows) < n_sets:
        X, y = uv.simulate.normal_classes(n, n, 2, SHIFT[2], rng=rng)
        try:
            test = uv.InfluenceFunctionTest(X, y, "qda")
            found = test.fit(n_samples, "bootstrap", "influence", rng=rng)
        except ValueError as error:
            if "singular" not in str(error):
                raise
            n_failed += 1
            continue
        variances = (found.variance, found.diagnostics["variance_term_1"])
        rows.append((found.estimate, *np.sqrt(variances)))
    return pd.DataFrame(rows, columns=["estimate", "influence", "term_1"]), n_failed


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


def print_table(numbers: Iterable[int], n: int, table: pd.DataFrame, n_sets: int) -> None:
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
    for row in ("sd", "influence", *AD_HOC):
        part = table[table["row"] == row]
        z = (part["ucvtest"] - part["paper"]) / part["mc_se"]
        # If the paper had as many data sets as we have, its own error is as large as ours.
        both = np.abs(z) / np.sqrt(2)
        print(
            f"{ROWS[row]:>24}: {np.sum(np.abs(z) <= 2)} of {len(z)} within 2 of our Monte-Carlo "
            f"errors of the paper, {np.sum(both <= 2)} within 2 errors of a difference of two "
            f"simulations of {n_sets} data sets; largest difference "
            f"{np.abs(part['ucvtest'] - part['paper']).max():.4f}"
        )


def print_table_4(results: dict[tuple[int, str], pd.DataFrame], n_failed: dict[int, int]) -> None:
    print("\nTable 4: QDA, p = 2, K = 10; ucvtest +- Monte-Carlo error | paper")
    rows = {}
    for key, paper in PUBLISHED_TABLE_4.items():
        frame = results[key]
        found = mean_of(frame["influence"]), mean_of(frame["term_1"]), sd_of(frame["estimate"])
        rows[f"{key[1]}, n = {key[0]}"] = [
            f"{value:.4f} +- {error:.4f} | {published:.4f}"
            for (value, error), published in zip(found, paper, strict=True)
        ]
    names = ["SD (I, II, III)", "SD (I)", "true SD"]
    print(pd.DataFrame.from_dict(rows, orient="index", columns=names).to_string())
    if any(n_failed.values()):
        print(f"data sets replaced because QDA met a singular bootstrap sample: {n_failed}")


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
    figure.savefig(file, dpi=120)


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
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--out", type=Path, default=Path("reproduce_influence"))
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
    found = Parallel(n_jobs=n_jobs)(
        delayed(simulate_column)(
            *task,
            n_sets,
            200 if arguments.quick else REPEATS[task[3]],
            10 if arguments.quick else REPEATS_KFOLD,
        )
        for task in tasks
    )
    frames = dict(zip(tasks, found, strict=True))
    made = []
    for n in wanted:
        part = {task[1:]: frame for task, frame in frames.items() if task[0] == n}
        made.append(compared(n, part))
        numbers = [number for number in tables if SIZES.get(number) == n]
        print_table(numbers, n, made[-1], n_sets)
        print_adjusted(n, part)
        added = {k: int(max(part[c]["n_repeats"].max() for c in part if c[2] == k)) for k in FOLDS}
        noise = {k: np.mean([part[c]["noise"].mean() for c in part if c[2] == k]) for k in FOLDS}
        print(f"most repeats of CVKM, by K: {added}")
        print(
            "share of the influence variance that is Monte-Carlo noise, by K: "
            + ", ".join(f"{k}: {share:.1%}" for k, share in noise.items())
        )
    if 4 in tables:
        results = {(n, "monte_carlo"): frames[n, "qda", 2, 10] for n in (10, 20)}
        n_failed = {}
        for n in (10, 20):
            results[n, "bootstrap"], n_failed[n] = simulate_bootstrap(n, n_sets, 1000)
        print_table_4(results, n_failed)
    if made:
        pd.concat(made).to_csv(arguments.out / "tables.csv", index=False)
        draw_figure_1(made, arguments.out / "figure_1.png")
    draw_figure_2(arguments.out / "figure_2.png")
    print(f"\n{n_sets} data sets; pictures and tables.csv are in {arguments.out}")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
