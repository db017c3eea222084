"""What bounds on "stabilised" cost and gain: coverage, width, and p-values against a constant.

The standard error of a difference of error rates moves with the estimate. "stabilised" follows its
slope, which is estimated from the same sample; against a learner that always says the same, the
null value is six standard errors away, and an unbounded slope was followed all the way. Three
parts, whose rows are kept as they come (`--rows`); the script goes on where it was stopped:

pairs       samples from the problems with zero-one losses of the calibration study, its own seeds
            and truths; without those that are kept aside there constants were chosen;
constant its real problems, as they are and with equal numbers of both classes, first learner
against
            the majority; the truth is a mean over random learning sets of the population;
agreement   twelve real data sets, samples of 30 and 30 and of 20 and 40, ridge against the
            majority: p-values by Wald, by the corrected t test, by the rule before, and after.

Kept are estimates, standard errors and slopes, so that every rule can be tried on the same rows.
`--table FOLDER` writes the files next to this script: bounded_slopes.csv, the
coverage of intervals by Wald, by the rule before and after, and bounded_slopes_pvalues.csv.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import ucvtest as uv
from studies.calibration.problems import Problem, problems
from studies.calibration.simulation import SampleRun
from studies.data import DataMissing, data_set
from ucvtest.advice.calibration import calibration_table
from ucvtest.stats.pivots import BoundedScale

ALPHA = 0.05
SIZES = (40, 60, 100)
UNSTABLE, UNSTABLE_SIZES = ("held_spam", "strips"), (200,)
"""Problems for which error rates got the interval, and a size more for them."""

CONSTANT_SIZE = 60
REAL = ("wdbc", "pima", "ionosphere", "spambase", "letter", "held_spam")
AGREEMENT_SEEDS = 3
N_TRUTH, N_TESTED = 400, 1000


# ------------------------------------------------------------------------------------ samples


def row_of(X, y, first, other, seed: int) -> dict:
    """What one fit says, from which every rule can be computed; one class says nothing."""
    if len(np.unique(y)) < 2:
        return {"ok": False}
    result = uv.UStatisticTest(X, y, first, other, loss="zero_one").fit(rng=seed, progress=False)
    known = result.diagnostics
    return {
        "estimate": result.estimate,
        "se": result.se,
        "df": len(y) - 1.0,
        "slope": known.get("slope", np.nan),
        "se_slope": known.get("se_slope", np.nan),
        "mc_se_slope": known.get("mc_se_slope", np.nan),
        "n_fits": result.n_fits,
        "ok": result.status == "ok",
    }


def balanced(problem: Problem) -> np.ndarray:
    """Numbers of observations of the population, as many of both classes."""
    rng = np.random.default_rng(1)
    labels = problem.sample.target
    each = [np.flatnonzero(labels == label) for label in (0, 1)]
    fewest = min(map(len, each))
    return np.concatenate([rng.choice(one, fewest, replace=False) for one in each])


@cache
def population(name: str, even: bool) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels that samples are drawn from."""
    problem = problems()[name]
    members = balanced(problem) if even else np.arange(problem.n_population)
    return problem.features[members], problem.response[members]


@cache
def constant_truth(name: str, even: bool) -> float:
    """The expected difference to the majority at learning-set size n/2 - 1."""
    X, y = population(name, even)
    rng, g = np.random.default_rng(2), CONSTANT_SIZE // 2 - 1
    splits = []
    for _ in range(N_TRUTH):
        drawn = rng.permutation(len(y))[: g + N_TESTED]
        splits.append((drawn[:g], drawn[g:]))
    learners = {"first": problems()[name].learners[0], "majority": "majority"}
    means = uv.evaluate(learners, X, y, splits, "zero_one", rng=0).means.mean(axis=1)
    return float(means[0] - means[1])


def constant_row(name: str, even: bool, number: int, truth: float | None) -> dict:
    X, y = population(name, even)
    rng = np.random.default_rng([3, sorted(REAL).index(name), even, number])
    drawn = rng.choice(len(y), CONSTANT_SIZE, replace=False)
    row = row_of(X[drawn], y[drawn], problems()[name].learners[0], "majority", number)
    return row | {"truth": constant_truth(name, even) if truth is None else truth}


@cache
def real_data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Twelve data sets with two classes, the rarer one 1."""
    loaders = {"wdbc": load_breast_cancer, "digits": load_digits, "wine": load_wine}
    if name == "iris":
        X, y = load_iris(return_X_y=True)
        X, y = X[y > 0], y[y > 0]
    elif name in loaders:
        X, y = loaders[name](return_X_y=True)
    else:
        table = data_set(name)
        y, X = table.iloc[:, 0].to_numpy(), table.iloc[:, 1:]
        X = X.select_dtypes("number").to_numpy(float)
    if name == "abalone":
        y = y > 9
    if name == "letter":
        kept = np.isin(y, ["E", "F"])
        X, y = X[kept], y[kept]
    values, counts = np.unique(y, return_counts=True)
    y = (y == values[0]) if len(values) > 2 else (y == values[np.argmin(counts)])
    X = X[:, X.std(axis=0) > 0]
    return X / X.std(axis=0), y.astype(int)


TWELVE = (
    *("wdbc", "pima", "ionosphere", "spambase", "transfusion", "parkinsons"),
    *("letter", "abalone", "colon", "wine", "iris", "digits"),
)
COUNTS = ((30, 30), (20, 40))


def agreement_row(name: str, counts: tuple[int, int], number: int) -> dict:
    X, y = real_data(name)
    rng = np.random.default_rng([4, TWELVE.index(name), *counts, number])
    rare = min(counts[0], int((y == 1).sum()))
    drawn = np.concatenate(
        [
            rng.choice(np.flatnonzero(y == label), size, replace=False)
            for label, size in ((1, rare), (0, min(counts[1], int((y == 0).sum()))))
        ]
    )
    X, y = X[drawn], y[drawn]
    row = row_of(X, y, "ridge:1.0", "majority", number)
    design = uv.designs.KFold(10, n_repeats=10)
    both = {"ridge": "ridge:1.0", "majority": "majority"}
    for words, each in (("corrected", uv.designs.KFold(10)), ("corrected repeated", design)):
        losses = uv.evaluate(both, X, y, each, "zero_one", rng=number)
        found = uv.CorrectedTTest.from_losses(losses).fit()
        row |= {words: found.pvalue, f"{words} estimate": found.estimate}
    return row


# ------------------------------------------------------------------------------------- running


def cells() -> Iterator[tuple[str, str, int, int, float]]:
    """Part, problem, size, variant, truth."""
    table = calibration_table()
    known = table[(table["procedure"] == "ustatistic") & (table["target"] == "difference")]
    truths = {(row.problem, row.n_obs): row.truth for row in known.itertuples()}
    for problem in problems().values():
        if problem.loss == "zero_one" and problem.quick:
            for n in (*SIZES, *UNSTABLE_SIZES * (problem.name in UNSTABLE)):
                if (problem.name, n) in truths:
                    yield "pairs", problem.name, n, 0, truths[problem.name, n]
    for name in REAL:
        for even in (0, 1):
            yield "constant", name, CONSTANT_SIZE, even, np.nan


def simulated(path: Path, n_samples: int, seconds: float) -> None:
    """Rows, cell by cell in rounds, until there are enough or time is up."""
    rows = read(path)
    done = {tuple(row[key] for key in KEYS) for row in rows}
    constant = [row for row in rows if row["part"] == "constant"]
    truths = {(row["problem"], row["variant"]): row["truth"] for row in constant}
    known, start = problems(), time.monotonic()
    with path.open("a") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", uv.UcvtestWarning)

        def write(row: dict) -> None:
            file.write(json.dumps(row) + "\n")
            file.flush()

        for number in range(AGREEMENT_SEEDS):
            for name in TWELVE:
                for variant, counts in enumerate(COUNTS):
                    key = ("agreement", name, sum(counts), variant, number)
                    if key not in done and time.monotonic() - start < seconds:
                        row = agreement_row(name, counts, number)
                        write(dict(zip(KEYS, key, strict=True)) | row)
        for number in range(n_samples):
            for part, name, n, variant, truth in cells():
                key = (part, name, n, variant, number)
                if key in done or (n == max(SIZES) and number % 3):
                    continue
                if time.monotonic() - start > seconds:
                    return
                if part == "constant":
                    row = constant_row(name, bool(variant), number, truths.get((name, variant)))
                else:
                    run = SampleRun(known[name], n, number)
                    learners = known[name].learners
                    seed = run.seed("ustatistic")
                    row = row_of(run.X, run.y, *learners, seed) | {"truth": truth}
                write(dict(zip(KEYS, key, strict=True)) | row)


KEYS = ("part", "problem", "n", "variant", "number")


def read(path: Path) -> list[dict]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


# --------------------------------------------------------------------------------- the tables


class StabilisedBefore(NamedTuple):
    """The slope as it is, to the end of the scale."""

    bend: np.ndarray

    def z(self, distance: np.ndarray) -> np.ndarray:
        """As `BoundedScale.z`."""
        with np.errstate(divide="ignore", invalid="ignore"):
            bent = np.expm1(np.minimum(self.bend * distance, 700.0)) / self.bend
        return np.where(self.bend == 0, distance, bent)

    def distance(self, z: np.ndarray) -> np.ndarray:
        """As `BoundedScale.distance`; z times the bend stays below 1 at a level of 5%."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.bend == 0, z, np.log1p(self.bend * z) / self.bend)


def before(row: pd.DataFrame) -> StabilisedBefore:
    """What intervals had until their slopes were bounded."""
    return StabilisedBefore(np.clip(row["slope"] * row["se"], -0.4, 0.4).to_numpy(float))


def after(row: pd.DataFrame) -> BoundedScale:
    """Their present rows."""
    error = np.hypot(row["se_slope"], row["mc_se_slope"])
    return BoundedScale.of(*(part.to_numpy(float) for part in (row["slope"], error, row["se"])))


def pvalue_table(rows: list[dict]) -> pd.DataFrame:
    """The part "agreement": p-values against 0 by Wald and both rules, and of the corrected t."""
    frame = pd.DataFrame([row for row in rows if row["part"] == "agreement"])
    distance = (frame["estimate"] / frame["se"]).to_numpy()
    for name, z in statistics_of(frame, distance).items():
        frame[name] = 2 * stats.t.sf(np.abs(z), frame["df"])
    return frame[[*KEYS[1:], *SHOWN, *RULES, "corrected", "corrected repeated"]]


def coverage_table(rows: list[dict]) -> pd.DataFrame:
    """Coverage of 95% intervals, cell by cell, and their widths compared with Wald's."""
    whole = pd.DataFrame([row for row in rows if row["part"] != "agreement"])
    known = whole[whole["ok"]].copy()
    distance = ((known["estimate"] - known["truth"]) / known["se"]).to_numpy(float)
    quantile = stats.t.isf(ALPHA / 2, known["df"].to_numpy(float))
    for name, z in statistics_of(known, distance).items():
        known[name] = np.abs(z) <= quantile
    known["lost"] = known["before"] & ~known["after"]
    known["gained"] = known["after"] & ~known["before"]
    for words, scale in (("width before", before(known)), ("width", after(known))):
        known[words] = (scale.distance(quantile) - scale.distance(-quantile)) / (2 * quantile)
    cells = ["part", "problem", "n", "variant"]
    counted = known.groupby(cells).agg(
        answered=("ok", "size"),
        **{name: (name, "mean") for name in RULES},
        **{name: (name, "sum") for name in CHANGED},
        **{name: (name, "mean") for name in ("width before", "width")},
    )
    sizes = whole.groupby(cells).size().rename("samples")
    table = pd.concat([sizes, counted], axis=1).reset_index()
    held = {problem.name for problem in problems().values() if problem.held_out}
    aside = table["problem"].isin(held) & (table["part"] == "pairs")
    table.insert(4, "kept aside", aside.astype(int))
    return table


RULES = ("wald", "before", "after")
CHANGED = ("lost", "gained")
"""Samples that were covered before and are not, and the other way round."""

SHOWN = ("estimate", "se", "df", "slope", "se_slope", "mc_se_slope")


def statistics_of(frame: pd.DataFrame, distance: np.ndarray) -> dict[str, np.ndarray]:
    """z of distances in standard errors by every rule."""
    found = distance, before(frame).z(distance), after(frame).z(distance)
    return dict(zip(RULES, found, strict=True))


def totals(table: pd.DataFrame) -> pd.DataFrame:
    """Coverage in % with Monte-Carlo standard errors, apart where nothing was chosen."""
    names = table["part"].where(table["kept aside"] == 0, "pairs, kept aside")
    answered = table["answered"]
    counts = table[list(RULES)].mul(answered, axis=0).round().join(table[["answered", *CHANGED]])
    widths = table[["width before", "width"]].mul(answered, axis=0)
    sums = counts.join(widths).groupby(names).sum()
    n = sums["answered"]
    for name in RULES:
        share = sums[name] / n
        sums[f"{name}, error"] = 100 * np.sqrt(share * (1 - share) / n)
        sums[name] = 100 * share
    change = (sums["gained"] - sums["lost"]) / n
    sums["change, error"] = 100 * np.sqrt(((sums["gained"] + sums["lost"]) / n - change**2) / n)
    for name in widths:
        sums[name] /= n
    return sums


def agreeing(table: pd.DataFrame, factor: float = 10.0) -> pd.Series:
    """Where p-values of Wald and of the corrected t test differ by this factor at most."""
    return np.abs(np.log(table["wald"] / table["corrected"])) <= np.log(factor)


def write_tables(rows: list[dict], folder: Path) -> None:
    """The committed tables, and their summary."""
    pvalues, coverage = pvalue_table(rows), coverage_table(rows)
    pvalues.to_csv(folder / "bounded_slopes_pvalues.csv", index=False, float_format="%.8g")
    coverage.to_csv(folder / "bounded_slopes.csv", index=False, float_format="%.4g")
    print(totals(coverage).round(2).to_string())
    for factor in (5, 10):
        same = pvalues[agreeing(pvalues, factor)]
        for name in ("before", "after"):
            apart = [np.abs(np.log10(same[name] / same[other])) for other in ("wald", "corrected")]
            worst = [10 ** each.max() for each in apart]
            print(f"agreed within {factor}: {len(same)}; {name}: at most {worst[0]:.3g} times")
            print(f"  Wald's and {worst[1]:.3g} times the corrected t test's, or as much smaller")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=Path, default=Path("build/bounded_slopes.jsonl"))
    parser.add_argument("--samples", type=int, default=150)
    parser.add_argument("--seconds", type=float, default=1500)
    parser.add_argument("--table", type=Path, metavar="FOLDER")
    parser.add_argument("--quick", action="store_true", help="few samples, in half a minute")
    arguments = parser.parse_args()
    if arguments.table:
        write_tables(read(arguments.rows), arguments.table)
        return
    arguments.rows.parent.mkdir(parents=True, exist_ok=True)
    samples, seconds = (1, 15.0) if arguments.quick else (arguments.samples, arguments.seconds)
    try:
        simulated(arguments.rows, samples, seconds)
    except DataMissing as error:
        print(error)
        return
    rows = read(arguments.rows)
    print(f"{len(rows)} rows in {arguments.rows}")
    print(pvalue_table(rows).to_string())


if __name__ == "__main__":
    main()
