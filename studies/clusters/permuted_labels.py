"""How often do permutation tests reject at 5% where clusters of 1 and of 3 rows are mixed?

40 clusters, every other one of 3 rows; features have their clusters in common and tell the size of
a cluster, labels are independent of each other and of everything else. So some clusters of 3 have
both labels, and those with one label are single rows more often than not. The tests permute labels
within clusters, and those of clusters with one label among clusters of the same size. The last row
is what a simple test reaches, a difference of two means, if all clusters with one label change
places whatever their sizes.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import ucvtest as uv
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="5 data sets")
    parser.add_argument("--data-sets", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("build/groups_of_labels.csv"))
    arguments = parser.parse_args()
    n_sets = 5 if arguments.quick else arguments.data_sets
    rows = []
    for name, pvalue in TESTS.items():
        rng = np.random.default_rng(0)
        found = np.array([pvalue(*draw(rng), rng) for _ in range(n_sets)])
        size = (found <= LEVEL).mean()
        rows.append(
            {
                "test": name,
                "data_sets": n_sets,
                "rejected": size,
                "standard_error": np.sqrt(size * (1 - size) / n_sets),
            }
        )
        print(f"{name}: {size:.3f} of {n_sets} at {LEVEL:.0%}", flush=True)
    table = pd.DataFrame(rows)
    if not arguments.quick:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(arguments.out, index=False, float_format="%.4g")
    print(table.round(4).to_string(index=False))


if __name__ == "__main__":
    main()
