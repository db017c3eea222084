"""Do intervals of the concordance of Cox models contain the true value, and of a difference?

Four problems; "held_ties" and "held_bend" were not used before everything was fixed;
light and heavy censoring; n = 60, 100 and 200. Learners are "cox:2.0" and the first feature as it
is. Out of fold the true value is that of the rules learnt here, of the U-statistic test that of
rules learnt from n/2 - 1 observations, by large new samples. `--table` keeps a table in short too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np

import ucvtest as uv
from studies.coverage import Study, in_short, one_and_difference

METRIC, LEARNER = "harrell", "cox:2.0"
N_FEATURES, FOLDS = 4, 5
SIZES, CENSORING = (60, 100, 200), ("light", "heavy")
PAIRS = {"few": 10, "many": 300}
"""Pairs of learning sets; of each learner there are twice as many fits."""
N_RULES, N_NEW, N_REPEATS = 80, 4000, 100


@dataclass(frozen=True)
class Problem:
    """Times whose logarithm is a sum of features and of noise, and how they are recorded."""

    slopes: tuple[float, ...]
    normal: bool = False
    bend: float = 0.0
    grid: float = 0.0

    def sample(self, rng: np.random.Generator, n: int, censoring: str) -> tuple[np.ndarray, Any]:
        """Features and times, about a fifth or three fifths of them censored."""
        x = rng.normal(size=(n, len(self.slopes)))
        noise = rng.normal(size=n) if self.normal else np.log(rng.exponential(size=n))
        time = np.exp(noise - x @ np.array(self.slopes) - self.bend * (x[:, 0] ** 2 - 1))
        end = rng.exponential(size=n) * (4.0 if censoring == "light" else 0.6)
        event, seen = time <= end, np.minimum(time, end)
        if self.grid:
            seen = np.ceil(seen / self.grid) * self.grid
        event[np.argmin(seen)] = True
        return x, uv.survival(seen, event)


PROBLEMS = {
    "hazards": Problem((0.7, 0.4, 0.0, 0.0)),
    "weak": Problem((0.3, 0.2, 0.2, 0.0)),
    "held_ties": Problem((0.6, 0.5, 0.5, 0.0), grid=0.25),
    "held_bend": Problem((0.8, 0.3, 0.0, 0.0), normal=True, bend=0.3),
}


def first_feature(X_train: np.ndarray, y_train: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """A score that needs no learning."""
    return X_test[:, 0]


def concordance(y: Any, risks: np.ndarray) -> float:
    """The metric of risks as they are."""
    return float(uv.Losses.from_predictions(y, {"rule": risks}, metric=METRIC).means[0, 0])


@cache
def new_sample(name: str, censoring: str) -> tuple[np.ndarray, Any]:
    """Observations by which true values are found."""
    return PROBLEMS[name].sample(np.random.default_rng(1), N_NEW, censoring)


def rules_of(losses: uv.Losses, x: np.ndarray) -> np.ndarray:
    """The coefficients of the Cox model learnt on each learning set, from its risks."""
    risks = np.full(losses.design.testing.shape, np.nan)
    risks[losses.design.testing] = losses.predictions[0]
    return np.stack([np.linalg.lstsq(x[~np.isnan(r)], r[~np.isnan(r)])[0] for r in risks])


@cache
def value_of_first(name: str, censoring: str) -> float:
    """The concordance of the first feature, from many new samples."""
    rng, values = np.random.default_rng(3), []
    for _ in range(N_REPEATS):
        x, y = PROBLEMS[name].sample(rng, N_NEW, censoring)
        values.append(concordance(y, x[:, 0]))
    return float(np.mean(values))


def truths(name: str, censoring: str, rules: np.ndarray) -> tuple[float, float]:
    """The mean of rules, and the first feature's.

    The difference on one new sample is known better than the mean, which it makes more exact.
    """
    x, y = new_sample(name, censoring)
    learnt, known = np.mean([concordance(y, x @ each) for each in rules]), concordance(y, x[:, 0])
    first = value_of_first(name, censoring)
    return float(first + learnt - known), first


@cache
def truths_of_learning(name: str, censoring: str, n: int) -> tuple[float, float]:
    """The same of rules learnt from n/2 - 1 observations, each of a sample of its own."""
    rng, rules = np.random.default_rng([2, n]), []
    for _ in range(N_RULES):
        x, y = PROBLEMS[name].sample(rng, n // 2 + 19, censoring)
        design = [(np.arange(n // 2 - 1), np.arange(n // 2 - 1, n // 2 + 19))]
        losses = uv.evaluate(LEARNER, x, y, design, metric=METRIC)
        rules.append(rules_of(losses, x)[0])
    return truths(name, censoring, np.array(rules))


def sample(problem: str, censoring: str, n: int, number: int) -> Iterator[tuple]:
    """What the tests say of one sample."""
    rng = np.random.default_rng([number, n, *problem.encode(), *censoring.encode()])
    x, y = PROBLEMS[problem].sample(rng, n, censoring)
    learners = {"cox": LEARNER, "first": first_feature}
    losses = uv.evaluate(learners, x, y, uv.designs.KFold(FOLDS), metric=METRIC, rng=number)
    truth, test = truths(problem, censoring, rules_of(losses, x)), uv.CrossValidationWaldTest
    yield from (("folds", *row) for row in one_and_difference(test, losses, truth))
    truth = truths_of_learning(problem, censoring, n)
    for words, pairs in PAIRS.items():
        design = uv.designs.DisjointSets(n // 2 - 1, pairs, n_sets=1)
        losses = uv.evaluate(learners, x, y, design, metric=METRIC, rng=number)
        variance = {"variance": "few" if words == "few" else "jackknife"}
        for row in one_and_difference(uv.UStatisticTest, losses, truth, **variance):
            yield f"ustatistic_{words}", *row


STUDY = Study(
    sample,
    ("test", "target"),
    product(PROBLEMS, CENSORING, SIZES),
    samples=200,
    short=partial(in_short, keys=("test", "target", "n", "censoring")),
)

if __name__ == "__main__":
    STUDY.main()
