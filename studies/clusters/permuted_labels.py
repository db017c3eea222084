"""How often do permutation tests reject at 5% where clusters of 1 and of 3 rows are mixed?

40 clusters, every other one of 3 rows; features have their clusters in common and tell the size of
a cluster, labels are independent of each other and of everything else. So some clusters of 3 have
both labels, and those with one label are single rows more often than not. The tests permute labels
within clusters, and those of clusters with one label among clusters of the same size. The last row
is what a simple test reaches, a difference of two means, if all clusters with one label change
places whatever their sizes.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.coverage import Study, mc_se
from ucvtest.stats.cluster_permutation import ExchangeableLabels

CLUSTER = np.repeat(np.arange(40), np.arange(40) % 2 * 2 + 1)
SIZE = np.bincount(CLUSTER)[CLUSTER]
N_PERMUTATIONS, LEVEL = 99, 0.05


def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """One feature and labels."""
    labels = (rng.random(len(CLUSTER)) < 0.25).astype(float)
    noise = rng.normal(size=40)[CLUSTER] + 0.3 * rng.normal(size=len(CLUSTER))
    return noise + 1.5 * (SIZE == 1), labels


def of_optimism(x: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> float:
    """The p-value of `PermutationComplexityTest`."""
    test = uv.PermutationComplexityTest(
        x[:, None], labels, "ridge:1", loss="squared", groups=CLUSTER
    )
    return test.fit(N_PERMUTATIONS, rng=rng).pvalue


def of_pairs(x: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> float:
    """The p-value of `LeavePairOutTest`."""
    test = uv.LeavePairOutTest(x[:, None], labels.astype(int), "ridge:1", groups=CLUSTER)
    return test.fit("permutation", n_permutations=N_PERMUTATIONS, rng=rng).pvalue


def of_means(x: np.ndarray, exchangeable: ExchangeableLabels, rng: np.random.Generator) -> float:
    """The p-value of the difference of two means."""
    drawn = np.vstack([exchangeable.labels, exchangeable.draw(rng, N_PERMUTATIONS)])
    n_first = drawn.sum(axis=1)
    difference = drawn @ x / n_first - (1 - drawn) @ x / (len(x) - n_first)
    return float((difference >= difference[0] - 1e-12).mean())


def means(x: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> float:
    """Clusters with one label change places with those of their size."""
    return of_means(x, ExchangeableLabels.of(labels, CLUSTER), rng)


def means_of_all_sizes(x: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> float:
    """Clusters with one label change places whatever their sizes, which is wrong here."""
    members = [np.flatnonzero(each == CLUSTER) for each in range(40)]
    mixed = [tuple(rows[:, None]) for rows in members if len(set(labels[rows])) > 1]
    alone = tuple(rows for rows in members if len(set(labels[rows])) == 1)
    return of_means(x, ExchangeableLabels(labels, (*mixed, alone), between=False), rng)


TESTS: dict[str, Callable[..., float]] = {
    "permutation": of_optimism,
    "leave_pair_out": of_pairs,
    "difference of means": means,
    "difference of means, all sizes": means_of_all_sizes,
}


def sample(number: int) -> Iterator[tuple]:
    """The p-value of each test."""
    for name, pvalue in TESTS.items():
        rng = np.random.default_rng(number)
        yield name, pvalue(*draw(rng), rng)


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """How often each test rejects, in percent."""
    found = rows.assign(rejected=100.0 * (rows["pvalue"] <= LEVEL)).groupby("test", sort=False)
    shares = found.agg(samples=("number", "size"), rejected=("rejected", "mean"))
    return shares.assign(mc_se=mc_se(shares["rejected"], shares["samples"]).round(2)).reset_index()


STUDY = Study(sample, ("test",), [()], 1000, values=("pvalue",), table=table)

if __name__ == "__main__":
    STUDY.main()
