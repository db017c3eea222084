"""Do intervals for F1, MCC, R2 and their like of learners contain the true value?

The U-statistic test on the problems of the calibration study whose learners are quick: populations
with true values, on which no choice about metrics rests. Learning sets have n/2 - 1 observations.
From 20 fits of each learner, and from 2000, which are the fits that several metrics share by
default; of the first learner, and of the difference of both. A true value is that of the parts
expected over learning sets and new observations, from blocks of the population; its standard error
is that of the jackknife over blocks. Both kinds of rows are kept as they come, and the script goes
on where it was stopped. Several processes can share the samples:

    python studies/intervals/metrics_of_learners.py --part 0 2 --seconds 1200
    python studies/intervals/metrics_of_learners.py --part 1 2 --seconds 1200
    python studies/intervals/metrics_of_learners.py --table
    python studies/intervals/metrics_of_learners.py --quick
"""

import argparse
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.calibration.problems import Problem, problems
from studies.coverage import over_problems, share_of, write_both
from studies.resuming import add_rows
from ucvtest.losses.linearised import parts_where_tested

METRICS = {"classes": ("f1", "mcc", "balanced_accuracy"), "numbers": ("r2", "rmse")}
SIZES = (40, 60, 100, 200)
PAIRS = {20: 10, 2000: 1000}
"""Fits of each learner, and pairs of learning sets."""
MANY_FEATURES = 100
LEAST_IN_CLASS = 2
N_BLOCKS = {"classes": 20, "numbers": 80}
BLOCK, SETS_OF_BLOCK = 1500, 40
"""Blocks of the population for true values, observations in each, and learning sets there."""

CELL = ("problem", "n")
TRUTH = (*CELL, "metric", "target", "truth", "truth_se")
ROW = (*CELL, "number", "metric", "target", "fits", "estimate", "low", "high")
FOLDER = Path("build/metrics_of_learners")
TABLE = Path(__file__).with_suffix(".csv")
IN_SHORT = TABLE.with_stem("metrics_of_learners_in_short")


@cache
def studied() -> dict[str, Problem]:
    """The problems, by name."""
    return {
        problem.name: problem
        for problem in problems().values()
        if problem.quick and not problem.benchmark and problem.features.shape[1] < MANY_FEATURES
    }


def cells() -> list[tuple[str, int]]:
    """Problems, and numbers of observations in a sample."""
    return [
        (name, n) for n, (name, problem) in product(SIZES, studied().items()) if n in problem.sizes
    ]


def kind_of(name: str) -> str:
    """What the learners of a problem predict."""
    return "numbers" if studied()[name].loss == "squared" else "classes"


def truths_of(name: str, n: int) -> Iterator[tuple]:
    """The true values of a cell, with standard errors."""
    problem, g = studied()[name], n // 2 - 1
    # Samples have their number in front.
    rng = np.random.default_rng([n, *name.encode()])
    n_blocks = N_BLOCKS[kind_of(name)]
    parts: dict[str, list[list[np.ndarray]]] = {metric: [] for metric in METRICS[kind_of(name)]}
    for _ in range(n_blocks):
        size = min(BLOCK, problem.n_population)
        rows, sets = problem.draw(rng, size), []
        for _ in range(SETS_OF_BLOCK):
            order = rng.permutation(size)
            sets.append((order[:g], order[g:]))
        losses = _losses(problem, rows, sets, seed=0)
        for metric, of_blocks in parts.items():
            about = losses.about(metric)
            of_blocks.append(parts_where_tested(about).means(about.function_of_means, [0, 1]))
    for metric, of_blocks in parts.items():
        value = about_metric(losses, metric)
        means = np.array(of_blocks)
        first, other = (value(means[:, k].mean(axis=0)) for k in (0, 1))
        left_out = np.array(
            [
                [value(np.delete(means[:, k], block, axis=0).mean(axis=0)) for k in (0, 1)]
                for block in range(n_blocks)
            ]
        )
        for target, truth, of_each in (
            ("one", first, left_out[:, 0]),
            ("difference", first - other, left_out[:, 0] - left_out[:, 1]),
        ):
            se = np.sqrt((n_blocks - 1) * of_each.var())
            yield name, n, metric, target, f"{truth:.6g}", f"{se:.3g}"


def about_metric(losses: uv.Losses, metric: str):
    """The function of the metric from means of its parts to its value."""
    function = losses.about(metric).function_of_means
    return lambda means: function.value_and_gradient(means)[0]


def _losses(problem: Problem, rows: np.ndarray, design, *, seed: int) -> uv.Losses:
    """Predictions of both learners for some of the population."""
    metric = METRICS[kind_of(problem.name)][0]
    learners = dict(zip(("first", "other"), problem.fitted, strict=True))
    X, y = problem.features[rows], problem.response[rows]
    return uv.evaluate(learners, X, y, design, metric=metric, rng=seed)


def rows_of(name: str, n: int, number: int) -> Iterator[tuple]:
    """Estimates and intervals of a sample; none where a class is missing."""
    problem, kind = studied()[name], kind_of(name)
    rows = problem.draw(np.random.default_rng([number, n, *name.encode()]), n)
    counts = np.unique(problem.response[rows], return_counts=True)[1]
    usable = kind == "numbers" or (len(counts) == 2 and counts.min() >= LEAST_IN_CLASS)
    for fits, pairs in PAIRS.items():
        if usable:
            design = uv.designs.DisjointSets(n // 2 - 1, pairs, n_sets=1)
            losses = _losses(problem, rows, design, seed=number)
        for metric in METRICS[kind]:
            about = losses.about(metric) if usable else None
            for target, learners in {"one": ["first"], "difference": ["first", "other"]}.items():
                numbers = [np.nan] * 3
                if about is not None:
                    test = uv.UStatisticTest.from_losses(about, *learners)
                    found = test.fit(variance="few" if fits == 20 else "auto")
                    numbers = [found.estimate, *found.conf_int()]
                texts = (f"{each:.6g}" for each in numbers)
                yield name, n, number, metric, target, fits, *texts


def simulate(folder: Path, part: int, n_parts: int, n_samples: int, seconds: float) -> None:
    """True values, then samples of all cells in turn, until there are enough or time is up."""
    mine = cells()[part::n_parts]
    numbers = range(part, n_samples, n_parts)
    samples = ((*cell, number) for number, cell in product(numbers, cells()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uv.UcvtestWarning)
        add_rows(folder / f"truths-{part}.csv", TRUTH, CELL, mine, truths_of, seconds)
        add_rows(folder / f"rows-{part}.csv", ROW, ROW[:3], samples, rows_of, seconds)


def kept(folder: Path, kind: str, keys: tuple[str, ...]) -> pd.DataFrame:
    """The rows of all parts, those with the same keys once."""
    rows = pd.concat([pd.read_csv(path) for path in sorted(folder.glob(f"{kind}-*.csv"))])
    return rows.drop_duplicates(list(keys))


def table_of(rows: pd.DataFrame, truths: pd.DataFrame) -> pd.DataFrame:
    """Answers in each cell, how many contain the true value, and their bias, spread and width."""
    rows = rows.merge(truths, on=[*CELL, "metric", "target"])
    rows = rows.assign(
        answered=rows["low"].notna(),
        covered=(rows["low"] <= rows["truth"]) & (rows["truth"] <= rows["high"]),
        error=rows["estimate"] - rows["truth"],
        width=rows["high"] - rows["low"],
    )
    of_cell = rows.groupby(["metric", "target", "fits", *CELL[::-1]], sort=False)
    table = of_cell.agg(
        truth=("truth", "first"),
        truth_se=("truth_se", "first"),
        samples=("number", "size"),
        answered=("answered", "sum"),
        covered=("covered", "sum"),
        bias=("error", "mean"),
        sd=("error", "std"),
        width=("width", "mean"),
    )
    table = table.reset_index()
    # Kept in the file, because some problems need data that are not part of the project.
    return table.assign(held_out=[studied()[name].held_out for name in table["problem"]])


def in_short(table: pd.DataFrame) -> pd.DataFrame:
    """Coverage over all problems, with its Monte-Carlo error, of the held-out ones, at worst."""
    short = []
    for (metric, target, fits), of_test in table.groupby(["metric", "target", "fits"], sort=False):
        row = {"metric": metric, "target": target, "fits": fits}
        row |= over_problems(of_test, of_test["held_out"])
        row |= {f"n_{n}": 100 * share_of(cells) for n, cells in of_test.groupby("n")}
        short.append(row | {"width": of_test["width"].mean()})
    found = pd.DataFrame(short)
    return found.round({name: 3 if name == "width" else 1 for name in found.columns[5:]})


def main() -> None:
    """Go on with the samples, or write and print the tables."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rows", type=Path, default=FOLDER, help="the folder of the rows")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), metavar=("I", "N"))
    parser.add_argument("--samples", type=int, default=50, help="of each cell")
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--table", action="store_true", help="write the tables")
    parser.add_argument("--quick", action="store_true", help="one sample of one cell")
    arguments = parser.parse_args()
    if arguments.quick:
        found = pd.DataFrame(list(rows_of("weak", 40, 0)), columns=list(ROW))
        print(found.to_string(index=False))
        return
    if not arguments.table:
        simulate(arguments.rows, *arguments.part, arguments.samples, arguments.seconds)
        return
    rows = kept(arguments.rows, "rows", ROW[:6])
    truths = kept(arguments.rows, "truths", TRUTH[:4])
    table = table_of(rows[rows["number"] < arguments.samples], truths)
    write_both(table, in_short(table), TABLE, IN_SHORT)


if __name__ == "__main__":
    main()
