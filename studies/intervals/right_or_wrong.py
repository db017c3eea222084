"""Do intervals of shares of right answers in clusters contain them? Of one model and of two.

Clusters, such as questions with several answers, have shares from a beta distribution, and the
rows of a cluster are right or wrong at random. The second model shares half of its answers with
the first, and draws the others from the same cluster. With a spread, sizes of clusters are
lognormal, and their worth is a number of clusters of equal size, as a share of all.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.coverage import ENDS, Study, coverage
from ucvtest.data.groups import kish_size

N_CLUSTERS, SHARES, CORRELATIONS = (8, 20, 50), (0.5, 0.8, 0.95, 0.99), (0.0, 0.2, 0.4)
SIZES = (2, 4, 6, 12)
UNEVEN = (10, 20, 40, 80), (0.6, 0.8, 0.95), (0.5, 1.0, 1.5)
"""Clusters, shares, and spreads of their sizes."""

BY = ["interval", "sample"]
BOUNDS = (0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)


def draw(
    rng: np.random.Generator, n_clusters: int, share: float, correlation: float, spread: float = 0.0
) -> Any:
    """Answers of two models, and the cluster of each; sizes are lognormal with this spread."""
    if spread:
        sizes = np.ceil(np.exp(rng.normal(1, spread, n_clusters))).astype(int)
    else:
        sizes = rng.choice(SIZES, n_clusters)
    groups = np.repeat(np.arange(n_clusters), sizes)
    own = np.full(n_clusters, share)
    if correlation:
        more = 1 / correlation - 1
        own = rng.beta(share * more, (1 - share) * more, n_clusters)
    first, others = (rng.random(len(groups)) < own[groups] for _ in range(2))
    return first, np.where(rng.random(len(groups)) < 0.5, first, others), groups


def intervals(first: np.ndarray, second: np.ndarray, groups: np.ndarray) -> Iterator[tuple]:
    """The name of each interval, whether it is about one model, the estimate and the ends."""
    marks = {"first": first, "second": second}
    rows = uv.Losses.from_correct(marks)
    clusters = uv.Losses.from_correct(marks, groups=groups)
    test = uv.HoldOutTest.from_losses
    alone, exact = test(rows, "first").fit(), test(clusters, "first").fit()
    table = exact.tables["Intervals"]
    ends = zip(table["conf_low"], table["conf_high"], strict=True)
    others = dict(zip(table["interval"], ends, strict=True))
    paired = test(clusters).fit()
    yield "one: rows", True, alone.estimate, *alone.conf_int()
    yield "one: t", True, exact.estimate, *others["t"]
    yield "one: Korn and Graubard", True, exact.estimate, *exact.conf_int()
    yield "one: Wilson", True, exact.estimate, *others["wilson"]
    yield "two", False, paired.estimate, *paired.conf_int()


def sample(clusters: int, share: float, correlation: float, spread: float, number: int):
    """All intervals of one sample; models that never differ leave t without ends."""
    places = clusters, *(round(100 * part) for part in (share, correlation, spread)), number
    first, second, groups = draw(
        np.random.default_rng(places), clusters, share, correlation, spread
    )
    worth = kish_size(np.bincount(groups)) / clusters
    for name, of_one, *ends in intervals(first, second, groups):
        yield name, share if of_one else 0.0, *ends, worth


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage of each interval by the number of clusters, or by their worth if that varies."""
    worth = "worth " + pd.cut(rows["worth"], BOUNDS).astype(str)
    numbers = rows["clusters"].astype(str) + " clusters"
    found = coverage(rows.assign(sample=worth.where(rows["spread"] > 0, numbers)), BY)
    return found.sort_values(BY, kind="stable").drop(columns=["truth", "bias", "sd"])


STUDY = Study(
    sample,
    ("interval",),
    [
        *((*cell, 0.0) for cell in product(N_CLUSTERS, SHARES, CORRELATIONS)),
        *((n, share, 0.3, spread) for n, share, spread in product(*UNEVEN)),
    ],
    samples=400,
    values=(*ENDS, "worth"),
    table=table,
)

if __name__ == "__main__":
    STUDY.main()
