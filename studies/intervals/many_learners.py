"""Do simultaneous intervals contain all true values, and is the best learner in the best set?

Three kinds of problems, 10 learners each, and the first 3, 5 or all are compared:

equal           linear discriminant analysis on one of 10 blocks of two features, all equally
                informative, so that by symmetry all errors are the same;
one better      the same with one block that is more informative;
all different   different learning algorithms on the same six features.

Every data set is compared once, by `uv.compare(..., correction="simultaneous")`, whose intervals
are the stabilised ones; from twenty fits of each learner the first six are compared. A pair without
an answer counts as missed. "contradicted" is how often the best set contains a learner that a
simultaneous interval shows to be worse than another, "bonferroni" the critical value over that of
Bonferroni's intervals.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import ucvtest as uv
from studies.coverage import Study, kept
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.simultaneous import MultivariateT

ALPHA = 0.05
NUMBERS = {10: (6,), 400: (3, 5, 10)}
"""Pairs of learning sets, and how many of the learners are compared."""

KINDS = ("equal", "one better", "all different")
N_DRAWS, N_TRUTH = 10_000, 12


BLOCKS = [uv.learners.on_columns("lda", [k, k + 1]) for k in range(0, 20, 2)]
DIFFERENT = [
    "lda",
    "nearest_centroid",
    "gaussian_nb",
    "qda",
    "majority",
    "ridge:0.1",
    "ridge:1",
    "ridge:10",
    "ridge:100",
    "lda:equal",
]


def learners(kind: str) -> list:
    return DIFFERENT if kind == "all different" else BLOCKS


def sample(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 2, n)
    sign = 2 * y[:, None] - 1
    if kind == "all different":
        X = rng.standard_normal((n, 6)) * np.array([1, 1, 1, 1, 1, 2.5])
        X[:, 1] += 0.8 * X[:, 0]
        X[:, :3] += sign * np.array([0.6, 0.0, 0.4])
        return X, y
    shift = np.full(20, 0.42)
    if kind == "one better":
        shift[:2] = 0.75
    return sign * shift + rng.standard_normal((n, 20)), y


@kept
def truth(kind: str, n: int, n_samples: int = N_TRUTH) -> list[float]:
    """The expected errors at learning-set size n/2 - 1, from disjoint learning sets."""
    g, size = n // 2 - 1, 2000
    rng = np.random.default_rng([7, n, KINDS.index(kind)])
    found = []
    for _ in range(n_samples):
        X, y = sample(kind, size, rng)
        starts = range(0, size - g, g)
        splits = [
            (np.arange(k, k + g), np.r_[np.arange(k), np.arange(k + g, size)]) for k in starts
        ]
        found.append(uv.evaluate(learners(kind), X, y, splits, rng=0).means.mean(axis=1))
    means = np.mean(found, axis=0)
    # Symmetry: what differs by chance here does not differ.
    if kind != "all different":
        first = 1 if kind == "one better" else 0
        means[first:] = means[first:].mean()
    return means.tolist()


def sample_of(problem: str, n: int, pairs: int, number: int) -> Iterator[tuple]:
    """The results of one data set."""
    rng = np.random.default_rng([n, KINDS.index(problem), number, pairs])
    X, y = sample(problem, n, rng)
    some = learners(problem)[: max(NUMBERS[pairs])]
    options: dict[str, Any] = {"n_pairs": pairs} | ({"variance": "few"} if pairs == 10 else {})
    test = uv.TestSpec("ustatistic", fit=options)
    found = uv.compare(X, y, some, test, correction="simultaneous", rng=number)
    (label,) = found.together
    errors = np.array(truth(problem, n))
    for k in NUMBERS[pairs]:
        yield k, *of_first(found.together[label], found.of_test(label), k, errors)


def of_first(
    together: JointEstimates, results: Mapping, number: int, errors: np.ndarray
) -> tuple[float, ...]:
    """The same for the first learners, as if no others had been compared: see `VALUES`."""
    names, real = together.learners[:number], errors[:number]
    part = JointEstimates(
        own={name: together.own[name] for name in names},
        se=together.se[:number, :number],
        covariance=together.covariance[:number, :number],
        df=together.df,
        seed=together.seed,
        statistics=together.statistics[:number, :number],
    )
    # Fewer draws than are usual, for thousands of samples.
    vars(part)["errors"] = MultivariateT(part.covariance, part.df, part.seed, N_DRAWS)
    pairs = list(combinations(range(number), 2))
    first, other = np.array(pairs).T
    family = {(names[i], names[j]): results[names[i], names[j]] for i, j in pairs}
    apart = real[first] - real[other]
    low, high = np.array(part.intervals(family, ALPHA)).T
    adjusted = np.nan_to_num(part.adjusted(family), nan=1.0) <= ALPHA
    own = np.array(part.own_intervals(ALPHA))
    chosen, best_set = part.order[0], part.best_set(ALPHA)
    worse = {names[k] for k in (*first[low > 0], *other[high < 0])}
    best = [names[k] in best_set for k in range(number) if real[k] <= real.min() + 1e-12]
    value = part.critical(family, ALPHA).value
    return (
        ((low <= apart) & (apart <= high)).all(),
        value / stats.t.isf(ALPHA / 2, part.df),
        value / stats.t.isf(ALPHA / 2 / len(pairs), part.df),
        adjusted[np.abs(apart) < 1e-12].any(),
        adjusted.sum(),
        ((own[:, 0] <= real) & (real <= own[:, 1])).all(),
        own[chosen, 0] <= real[chosen] <= own[chosen, 1],
        np.mean(best),
        len(best_set),
        not worse.isdisjoint(best_set),
        np.isnan(low).mean(),
    )


VALUES = ("joint coverage", "width", "bonferroni", "wrongly rejected", "rejected", "own coverage")
VALUES += ("coverage of the chosen", "best in set", "size of set", "contradicted", "no answer")


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """The mean of each value, with the number of data sets."""
    cells = rows.groupby([*STUDY.keys, *STUDY.labels], sort=False)
    found = cells[list(VALUES)].mean().round(4)
    found.insert(0, "data sets", cells.size())
    return found.reset_index()


STUDY = Study(
    sample_of,
    ("learners",),
    [*product(KINDS, (60, 100), (10,)), *product(KINDS, (60, 120), (400,))],
    samples=500,
    values=VALUES,
    table=table,
)

if __name__ == "__main__":
    STUDY.main()
