"""Do intervals for F1, MCC, R2 and their like of learners contain the true value?

The U-statistic test on the problems of the calibration study whose learners are quick: populations
with true values, on which no choice about metrics rests. Learning sets have n/2 - 1 observations.
From 20 fits of each learner, and from 2000, which are the fits that several metrics share by
default; of the first learner, and of the difference of both. A true value is that of the parts
expected over learning sets and new observations, from blocks of the population. `--table` keeps a
table in short too.
"""

from collections.abc import Iterator
from functools import cache, partial

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.calibration.problem import Problem
from studies.calibration.problems import problems
from studies.coverage import Study, in_short, kept, one_and_difference
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


@cache
def studied() -> dict[str, Problem]:
    """The problems, by name."""
    return {
        problem.name: problem
        for problem in problems().values()
        if problem.quick and not problem.benchmark and problem.features.shape[1] < MANY_FEATURES
    }


def kind_of(name: str) -> str:
    """What the learners of a problem predict."""
    return "numbers" if studied()[name].loss == "squared" else "classes"


@kept
def truths(name: str, n: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The metrics of both learners, and standard errors of the first and of the difference."""
    problem, g = studied()[name], n // 2 - 1
    # Samples have their number in front.
    rng, n_blocks = np.random.default_rng([n, *name.encode()]), N_BLOCKS[kind_of(name)]
    parts: dict[str, list[np.ndarray]] = {metric: [] for metric in METRICS[kind_of(name)]}
    for _ in range(n_blocks):
        size = min(BLOCK, problem.n_population)
        rows = problem.draw(rng, size)
        orders = [rng.permutation(size) for _ in range(SETS_OF_BLOCK)]
        losses = losses_of(problem, rows, [(order[:g], order[g:]) for order in orders], seed=0)
        for metric, means in parts.items():
            about = losses.about(metric)
            means.append(parts_where_tested(about).means(about.function_of_means, [0, 1]))
    found = {}
    for metric, of_blocks in parts.items():
        values, means = losses.about(metric).function_of_means.values, np.array(of_blocks)
        # Without each block in turn.
        first, other = values((means.sum(axis=0) - means) / (n_blocks - 1)).T
        variances = (n_blocks - 1) * np.array([first.var(), (first - other).var()])
        found[metric] = values(means.mean(axis=0)), np.sqrt(variances)
    return found


def losses_of(problem: Problem, rows: np.ndarray, design, *, seed: int) -> uv.Losses:
    """Predictions of both learners for some of the population."""
    metric = METRICS[kind_of(problem.name)][0]
    learners = dict(zip(("first", "other"), problem.fitted, strict=True))
    X, y = problem.features[rows], problem.response[rows]
    return uv.evaluate(learners, X, y, design, metric=metric, rng=seed)


def sample(problem: str, n: int, number: int) -> Iterator[tuple]:
    """An answer for each metric, target and number of fits; none where a class is missing."""
    case, kind = studied()[problem], kind_of(problem)
    rows = case.draw(np.random.default_rng([number, n, *problem.encode()]), n)
    counts = np.unique(case.response[rows], return_counts=True)[1]
    if kind == "classes" and (len(counts) < 2 or counts.min() < LEAST_IN_CLASS):
        return
    for fits, pairs in PAIRS.items():
        design = uv.designs.DisjointSets(n // 2 - 1, pairs, n_sets=1)
        losses = losses_of(case, rows, design, seed=number)
        variance = {"variance": "few" if fits == 20 else "auto"}
        for metric, (truth, truth_se) in truths(problem, n).items():
            about = losses.about(metric)
            answers = one_and_difference(uv.UStatisticTest, about, truth, **variance)
            for (target, *numbers), se in zip(answers, truth_se, strict=True):
                yield metric, target, fits, *numbers, se


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage, the error of true values, and which problems no choice rests on."""
    found = STUDY.covered(rows)
    # Kept in the file, because some problems need data that are not part of the project.
    return found.assign(held_out=[studied()[name].held_out for name in found["problem"]])


STUDY = Study(
    sample,
    ("metric", "target", "fits"),
    [(name, n) for n in SIZES for name, each in studied().items() if n in each.sizes],
    samples=50,
    more={"truth_se": "first"},
    table=table,
    short=partial(in_short, keys=("metric", "target", "fits")),
)

if __name__ == "__main__":
    STUDY.main()
