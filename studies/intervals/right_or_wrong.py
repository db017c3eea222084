"""Do intervals of shares of right answers in clusters contain them? Of one model and of two.

Clusters, such as questions with several answers, have shares from a beta distribution, and the
rows of a cluster are right or wrong at random. The second model shares half of its answers with
the first, and draws the others from the same cluster. With --uneven, sizes of clusters are
lognormal, and coverage is shown by how many clusters of equal size they are worth.

    python studies/intervals/right_or_wrong.py            # 4 minutes
    python studies/intervals/right_or_wrong.py --uneven   # 5 minutes
    python studies/intervals/right_or_wrong.py --quick
"""

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ucvtest as uv
from ucvtest.data.groups import kish_size

N_CLUSTERS, SHARES, CORRELATIONS = (8, 20, 50), (0.5, 0.8, 0.95, 0.99), (0.0, 0.2, 0.4)
SIZES = (2, 4, 6, 12)
UNEVEN_SHARES, UNEVEN_CLUSTERS, SPREADS = (0.6, 0.8, 0.95), (10, 20, 40, 80), (0.5, 1.0, 1.5)
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
    """The name of each interval, what it is about, and its ends."""
    marks = {"first": first, "second": second}
    rows = uv.Losses.from_correct(marks)
    clusters = uv.Losses.from_correct(marks, groups=groups)
    test = uv.HoldOutTest.from_losses
    yield "one: rows", True, test(rows, "first").fit().conf_int()
    exact = test(clusters, "first").fit()
    table = exact.tables["Intervals"]
    pairs = zip(table["conf_low"], table["conf_high"], strict=True)
    ends = dict(zip(table["interval"], pairs, strict=True))
    yield "one: t", True, ends["t"]
    yield "one: Korn and Graubard", True, exact.conf_int()
    yield "one: Wilson", True, ends["wilson"]
    yield "two: t", False, uv.McNemarTest.from_losses(clusters).fit().conf_int()
    yield "two: added", False, test(clusters).fit().conf_int()


def uneven_sizes(n_samples: int) -> pd.DataFrame:
    """Coverage by the number of equal clusters, as a share of the number of clusters."""
    found = []
    for cell in product(UNEVEN_CLUSTERS, UNEVEN_SHARES, SPREADS):
        n_clusters, share, spread = cell
        rng = np.random.default_rng([n_clusters, round(100 * share), round(10 * spread), 1])
        for _ in range(n_samples):
            first, second, groups = draw(rng, n_clusters, share, 0.3, spread)
            losses = uv.Losses.from_correct({"a": first, "b": second}, groups=groups)
            (low, high), (low_two, high_two) = (
                uv.HoldOutTest.from_losses(losses, *names).fit().conf_int()
                for names in (("a",), ("a", "b"))
            )
            worth = kish_size(np.bincount(groups)) / n_clusters
            found.append((worth, low <= share <= high, low_two <= 0 <= high_two))
    table = pd.DataFrame(found, columns=["worth", "one", "two"])
    by_worth = table.groupby(pd.cut(table["worth"], BOUNDS), observed=True)
    return by_worth[["one", "two"]].mean().round(3).assign(samples=by_worth.size())


def main() -> None:
    """Print coverage and mean width: over all cells, and in the worst one."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few samples, and no file")
    parser.add_argument("--uneven", action="store_true", help="clusters of very different sizes")
    arguments = parser.parse_args()
    quick = arguments.quick
    if arguments.uneven:
        shown = uneven_sizes(2 if quick else 300)
        print(shown.to_string())
        if not quick:
            shown.to_csv(Path(__file__).with_name("right_or_wrong_uneven.csv"))
        return
    n_samples = 5 if quick else 400
    found = []
    for cell in product(N_CLUSTERS, SHARES, CORRELATIONS):
        n_clusters, share, correlation = cell
        rng = np.random.default_rng([n_clusters, round(100 * share), round(10 * correlation)])
        for _ in range(n_samples):
            for name, of_one, (low, high) in intervals(*draw(rng, n_clusters, share, correlation)):
                # Models that never differ, or answers that are all right, leave t without ends.
                covered = low <= (share if of_one else 0.0) <= high
                row = {"clusters": n_clusters, "interval": name, "covered": covered}
                found.append(row | {"width": high - low, "cell": cell})
    table = pd.DataFrame(found)
    cells = table.groupby(["interval", "cell"])["covered"].mean()
    shown = pd.DataFrame(
        {
            "covered": cells.groupby("interval").mean(),
            "worst cell": cells.groupby("interval").min(),
            "mean width": table.groupby("interval")["width"].mean(),
        }
    )
    by_number = table.pivot_table("covered", "interval", "clusters")
    shown = shown.join(by_number.add_prefix("G = ")).round(3)
    print(shown.to_string())
    if not quick:
        shown.to_csv(Path(__file__).with_suffix(".csv"))


if __name__ == "__main__":
    main()
