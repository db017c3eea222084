"""How often do 95% intervals of average precision and partial AUCs contain the true value?

Of rules that are fixed, from the package itself. The rule for one learner, with quarters of
observations added, was chosen on normal scores; these are of other distributions, with few
positives, and were written down before any was run. True values are those of two million
observations.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import numpy as np

import ucvtest as uv
from studies.coverage import Study, one_and_difference

SIZES, MANY = (40, 80, 200), 2 * 10**6
METRICS = ("average_precision", "partial_auc(0.1)", "partial_auc(0.3)")

Scores = Callable[[np.random.Generator, np.ndarray], np.ndarray]
"""Of the rows of one class; the response, 0 or 1, comes in."""


def shifted(shift: float) -> Scores:
    """Gamma scores, the positives further up."""
    return lambda rng, y: rng.gamma(2, size=len(y)) + shift * y


def spread(factor: float) -> Scores:
    """Student's scores with heavy tails; positives are wider."""
    return lambda rng, y: (1 + factor * y) * rng.standard_t(3, size=len(y)) + 1.2 * y


def rounded(shift: float) -> Scores:
    """Whole numbers with many ties."""
    return lambda rng, y: rng.poisson(2 + shift * y).astype(float)


PROBLEMS: dict[str, tuple[float, Scores, Scores]] = {
    "gamma, equal": (0.1, shifted(2.5), shifted(2.5)),
    "gamma, apart": (0.3, shifted(2.5), shifted(1.5)),
    "tails": (0.2, spread(1.0), spread(0.5)),
    "ties": (0.2, rounded(3.0), rounded(2.0)),
}
"""The share of positives, and the scores of two rules; those that are equal are exchangeable."""


def draw(problem: str, n: int, rng: np.random.Generator) -> uv.Losses | None:
    """A sample; None where it has one class only. Half of each score is common to both rules."""
    share, first, second = PROBLEMS[problem]
    y = (rng.random(n) < share).astype(int)
    if len(np.unique(y)) < 2:
        return None
    common = rng.normal(size=n)
    rules = {name: common + scores(rng, y) for name, scores in (("a", first), ("b", second))}
    if problem == "ties":
        rules = {name: np.round(scores) for name, scores in rules.items()}
    return uv.Losses.from_predictions(y, rules, metric=METRICS[0])


@cache
def truth(problem: str, metric: str) -> tuple[float, float]:
    """Of both rules; those that are exchangeable do not differ."""
    drawn = draw(problem, MANY, np.random.default_rng(1))
    assert drawn is not None
    first, second = map(float, drawn.about(metric).means[:, 0])
    return first, first if problem.endswith("equal") else second


def sample(problem: str, n: int, number: int) -> Iterator[tuple]:
    """An answer for each metric and target."""
    drawn = draw(problem, n, np.random.default_rng([[*PROBLEMS].index(problem), n, number]))
    for metric in METRICS if drawn else ():
        about, values = drawn.about(metric), truth(problem, metric)
        for target, *numbers in one_and_difference(uv.HoldOutTest, about, values):
            yield metric, target, *numbers


STUDY = Study(sample, ("metric", "target"), product(PROBLEMS, SIZES), 1000)

if __name__ == "__main__":
    STUDY.main()
