"""How often do 95% intervals of survival metrics of fixed rules contain the true value?

From the package itself: concordances, the AUC and the Brier score at a time, of one rule and of
two, with rows and with clusters of three. True values are those of 50 000 observations, without
censoring except for Harrell's concordance, which depends on it.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

import ucvtest as uv
from studies.coverage import Study, one_and_difference

SIZES, MANY, AT = (40, 80, 200), 50_000, 4.0
METRICS = ("harrell", f"uno({AT:g})", f"auc({AT:g})", f"brier({AT:g})")


class Problem(NamedTuple):
    """How fast events and censorings come, how informative the risks are, and the rounding."""

    censoring: float
    slope: float
    noise: tuple[float, float]
    digits: int = 9
    in_clusters: bool = False


PROBLEMS = {
    "light": Problem(0.05, 1.0, (1.0, 1.0)),
    "heavy": Problem(0.3, 1.0, (1.0, 1.0)),
    "apart": Problem(0.1, 1.5, (0.3, 1.0)),
    "weak": Problem(0.1, 0.4, (1.0, 2.0)),
    "ties": Problem(0.1, 1.0, (0.5, 1.0), digits=0),
    "clusters": Problem(0.1, 1.0, (1.0, 1.0), in_clusters=True),
}
"""Rules whose noise is equal are exchangeable."""


def draw(problem: Problem, n: int, rng: np.random.Generator, *, censored: bool = True) -> tuple:
    """Times, events, risks and probabilities of an event of two rules, clusters."""
    cluster = np.arange(n) // 3 if problem.in_clusters else np.arange(n)
    x = rng.normal(size=n)
    if problem.in_clusters:
        x = (x + rng.normal(size=n)[cluster]) / np.sqrt(2)
    event = np.round(rng.exponential(10 * np.exp(-problem.slope * x)), problem.digits)
    leaves = rng.exponential(1 / problem.censoring, n) if censored else np.full(n, 1e9)
    leaves = np.round(leaves, problem.digits)
    observed = np.minimum(event, leaves)
    risks = {
        name: np.round(x + noise * rng.normal(size=n), min(problem.digits, 1))
        for name, noise in zip("ab", problem.noise, strict=True)
    }
    chances = {name: -np.expm1(-AT / 10 * np.exp(risk / 2)) for name, risk in risks.items()}
    return observed, event <= leaves, risks, chances, cluster


def losses_of(metric: str, drawn: tuple, groups: np.ndarray | None = None) -> uv.Losses:
    observed, event, risks, chances, _ = drawn
    rules = chances if metric.startswith("brier") else risks
    return uv.Losses.from_predictions(
        uv.survival(observed, event), rules, metric=metric, groups=groups
    )


@cache
def truth(name: str, metric: str) -> tuple[float, float]:
    """Of both rules; those that are exchangeable do not differ."""
    problem = PROBLEMS[name]
    drawn = draw(problem, MANY, np.random.default_rng(1), censored=metric == "harrell")
    first, second = map(float, losses_of(metric, drawn).means[:, 0])
    return first, first if problem.noise[0] == problem.noise[1] else second


def sample(problem: str, n: int, number: int) -> Iterator[tuple]:
    """An answer for each metric and target; none where nothing happens."""
    case = PROBLEMS[problem]
    drawn = draw(case, n, np.random.default_rng([[*PROBLEMS].index(problem), n, number]))
    if not drawn[1].any():
        return
    for metric in METRICS:
        losses = losses_of(metric, drawn, drawn[-1] if case.in_clusters else None)
        for target, *numbers in one_and_difference(uv.HoldOutTest, losses, truth(problem, metric)):
            yield metric, target, *numbers


CELLS = [(name, n) for n, name in product(SIZES, PROBLEMS)]
STUDY = Study(sample, ("metric", "target"), CELLS, 300)

if __name__ == "__main__":
    STUDY.main()
