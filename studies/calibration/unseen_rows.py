"""A true value that intervals miss: a difference that depends on rows missing in samples.

In `held_spam` of the calibration study, naive Bayes learns a different rule if the spam in its
learning set contains the word "hp", as 2.8% of the spam does. A sample without such a message is
also a sample of the population without them, whose true difference is far away: a test that is
right about that population misses the true difference in such samples, unless its intervals are
long enough to reach both. Printed are the share of such samples, both true differences, the
coverage of the U-statistic test on them, and the result for all samples.

Needs spambase.csv.gz in the folder of the data sets (`studies/data.py`).
"""

import argparse
import time
import warnings
from dataclasses import replace

import numpy as np

import ucvtest as uv
from studies.calibration.held_out_problems import held_spam
from studies.calibration.problem import SEED, Problem
from studies.calibration.truth import true_values
from studies.data import DataMissing
from ucvtest.advice.configured_tests import PRECISE

FEATURE, SPAM = 6, 1
"""The column of "hp", and the class where it is rare."""

LEVEL = 0.95


def rare_rows(problem: Problem) -> np.ndarray:
    """Which rows of the population are spam that names "hp"."""
    counts = problem.features[:, FEATURE]
    return (counts > counts.min()) & (problem.response == SPAM)


def share_without(n_population: int, n_rare: int, n_obs: int) -> float:
    """The probability that a sample does not contain the rare rows."""
    left = n_population - np.arange(n_obs)
    return float(np.prod((left - n_rare) / left))


def intervals(problem: Problem, n_obs: int, learn_size: int, samples: int) -> np.ndarray:
    """95% intervals of the U-statistic test as the study runs it, sample by sample."""
    found = []
    for number in range(samples):
        rng = np.random.default_rng([SEED, 500, n_obs, learn_size, number])
        members = problem.draw(rng, n_obs)
        X, y = problem.features[members], problem.response[members]
        with warnings.catch_warnings():
            # Messages with none of the words that are counted.
            warnings.filterwarnings("ignore", message="X has .* identical rows")
            test = uv.UStatisticTest(X, y, *problem.learners, learn_size=learn_size)
            found.append(test.fit(**PRECISE, rng=rng).conf_int())
    return np.array(found)


def print_block(problem: Problem, n_obs: int, learn_size: int, samples: int, n_sets: int) -> None:
    """The possible coverage of the U-statistic test from `learn_size` of `n_obs` rows."""
    rare = rare_rows(problem)
    kept = problem.features[~rare], problem.response[~rare]
    without = replace(problem, name="held_spam_without", features=kept[0], response=kept[1])
    true, other = (true_values(each, learn_size, n_sets=n_sets) for each in (problem, without))
    none = share_without(len(rare), int(rare.sum()), n_obs)
    low, high = intervals(without, n_obs, learn_size, samples).T

    def covered(values: dict[str, float]) -> float:
        return float(np.mean((low <= values["difference"]) & (values["difference"] <= high)))

    print(f"\nn = {n_obs}, rules learnt from {learn_size}")
    print(f"true difference {_with_se(true)}, without such rows {_with_se(other)}")
    print(
        f"{none:.1%} of all samples have no such row; in {samples} of them the U-statistic test "
        f"covers the\ndifference without such rows in {covered(other):.1%} and the true one in "
        f"{covered(true):.1%}; the mean length of\nits intervals is {np.mean(high - low):.3f}"
    )
    share, error = covered(true), np.sqrt(covered(true) * (1 - covered(true)) / samples)
    most, expected = 1 - none * (1 - share), none * share + (1 - none) * LEVEL
    print(f"so of all samples it can cover at most {most:.1%} +- {none * error:.1%}")
    print(f"if it covers {LEVEL:.0%} of the samples that have such rows, it covers {expected:.1%}")


def _with_se(values: dict[str, float]) -> str:
    return f"{values['difference']:.3f} +- {values['difference_se']:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--quick", action="store_true", help="two samples, to see that it runs")
    arguments = parser.parse_args()
    start = time.perf_counter()
    try:
        problem = held_spam()
    except DataMissing as error:
        print(error)
        return
    rare = rare_rows(problem)
    print(f"held_spam: {rare.sum()} of {len(rare)} rows are spam that names hp")
    samples, n_sets = (2, 100) if arguments.quick else (arguments.samples, 3000)
    for n_obs, learn_size in ((200, 99), (200, 66), (100, 49)):
        print_block(problem, n_obs, learn_size, samples, n_sets)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
