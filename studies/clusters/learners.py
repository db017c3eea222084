"""How often do 95% intervals contain the true value for rows in clusters, with and without groups=?

Clusters of 1 to 8 rows, each size as often as the others; two classes with probability 1/2, four
correlated normal features. Labels and features of two rows of a cluster have the intracluster
correlation that the table says. U-statistic, influence functions and the corrected t-test, each as
it comes, only that the U-statistic stops at a Monte-Carlo error of a fifth (tol=0.2) and influence
functions are of 1000 repeats. The truth is about a random row of a new cluster (AUC: rows of one
class in a cluster share one weight); it comes from clusters that are simulated again. The same data
are also analysed as if all rows were independent, with learning sets of the same share of rows, and
compared with the truth about random rows; "optimism" is how far the estimates are below the true
error (above the true AUC), on average.
A sample has no answer where a test set is without pairs, or draws are too few.
"""

from contextlib import suppress
from itertools import product

import numpy as np

import ucvtest as uv
from studies.coverage import Study, answer, kept

LEARNERS = ("lda", "gaussian_nb", "knn:5")
CUT = np.array([0.0, 0.0, 0.5])
"""Scores above are class 1: log-odds, and the share of neighbours."""

QUESTIONS = (("lda", None), ("knn:5", None), ("lda", "gaussian_nb"), ("knn:5", "lda"))
N_CLUSTERS, CORRELATIONS = (20, 40, 100), (0.0, 0.3, 0.8)
LOSSES = ("zero_one", "auc")

MIX = np.linalg.cholesky(np.full((4, 4), 0.5) + 0.5 * np.eye(4)).T
SHIFT = np.array([1.0, 0.6, 0.0, 0.3])

POOLS, POOL_CLUSTERS, POOL_SETS = 40, 200, 3
"""The truth: pools of clusters, and learning sets drawn from each of them."""

BY_ROW = {"zero_one": 10, "auc": 60}
"""Of so many data sets one is analysed without groups too, which takes longer."""

TESTS = {
    "ustatistic": (uv.UStatisticTest, {"tol": 0.2}),
    "influence": (uv.InfluenceFunctionTest, {"n_repeats": 1000}),
    "influence, halves": (uv.InfluenceFunctionTest, {"n_repeats": 1000}),
    "corrected_t": (uv.CorrectedTTest, {}),
}

Data = tuple[np.ndarray, np.ndarray, np.ndarray]


def draw(rng: np.random.Generator, n_clusters: int, correlation: float) -> Data:
    """Features, labels and clusters of one sample; its number of rows is always the same."""
    whole, rest = divmod(n_clusters, 8)
    sizes = [*list(range(1, 9)) * whole, *[4, 5, 2, 7, 1, 8, 3][:rest]]
    index = np.repeat(np.arange(n_clusters), rng.permutation(sizes))
    shared = rng.random(len(index)) < np.sqrt(correlation)
    of_cluster = rng.integers(0, 2, n_clusters)[index]
    y = np.where(shared, of_cluster, rng.integers(0, 2, len(index)))
    common = rng.normal(size=(n_clusters, 4))[index]
    noise = rng.normal(size=(len(index), 4))
    X = (np.sqrt(correlation) * common + np.sqrt(1 - correlation) * noise) @ MIX + SHIFT * y[
        :, None
    ]
    return X, y, index


@kept
def true_values(
    n_learnt: int, correlation: float, n_sets: int = POOL_SETS
) -> dict[tuple[str, str, bool], np.ndarray]:
    """Expected loss and AUC of each learner after that many clusters, by pool.

    The AUC has two: about clusters (True), and about rows.
    """
    rng = np.random.default_rng([n_learnt, int(100 * correlation)])
    found = []
    for pool in range(POOLS):
        X, y, index = draw(rng, POOL_CLUSTERS, correlation)
        learnt = rng.permuted(np.tile(np.arange(POOL_CLUSTERS) < n_learnt, (n_sets, 1)), axis=1)
        design = uv.designs.Design.leave_rest_out(learnt[:, index])
        losses = uv.evaluate(LEARNERS, X, y, design, "auc", rng=pool)
        scores = np.split(losses.values, np.cumsum(design.testing.sum(axis=1))[:-1], axis=1)
        each = [
            means(one, y[tested], index[tested])
            for one, tested in zip(scores, design.testing, strict=True)
        ]
        found.append(np.mean(each, axis=0))
    by_kind = np.moveaxis(np.array(found), 0, -1)
    keys = product(LOSSES, (True, False), LEARNERS)
    return dict(zip(keys, by_kind.reshape(-1, POOLS), strict=True))


def means(scores: np.ndarray, y: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Errors twice, and AUCs over pairs of rows of different clusters, weighted and by row."""
    errors = ((scores > CUT[:, None]) != y).mean(axis=1)
    return np.concatenate([[errors, errors], mean_aucs(scores, y, index)])


def mean_aucs(scores: np.ndarray, y: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Of each learner, over pairs of rows of different clusters: weighted, and by row; (2, L)."""
    first, second = y == 1, y == 0
    differ = index[first][:, None] != index[second]
    right = np.sign(scores[:, first, None] - scores[:, None, second]) / 2 + 0.5
    share = 1 / np.bincount(2 * index + y)[2 * index + y]
    weights = (share[first][:, None] * share[second] * differ, differ * 1.0)
    return np.array([(right * weight).sum(axis=(1, 2)) / weight.sum() for weight in weights])


def learnt_from(name: str, n_clusters: int) -> int:
    """Clusters in a learning set."""
    share = {"ustatistic": (1, 2), "influence": (4, 5), "corrected_t": (9, 10)}
    part, whole = share.get(name, (1, 2))
    return n_clusters * part // whole - (name == "ustatistic")


def sample(test: str, loss: str, clusters: int, correlation: float, number: int):
    """The answers to all questions, with clusters and, for some samples, without."""
    truth = true_values(learnt_from(test, clusters), correlation)
    X, y, index = draw(
        np.random.default_rng([clusters, int(100 * correlation), 1, number]),
        clusters,
        correlation,
    )
    cls, options = TESTS[test]
    size = round(len(y) * learnt_from(test, clusters) / clusters)
    for grouped in (True, False) if number % BY_ROW[loss] == 0 else (True,):
        chosen = {
            "ustatistic": {"loss": loss} | ({} if grouped else {"learn_size": size}),
            "corrected_t": {"loss": loss},
            "influence": {"metric": "auc" if loss == "auc" else "error"},
        }[test.split(",")[0]] | ({"n_folds": 2} if "halves" in test else {})
        for first, other in QUESTIONS:
            values = truth[loss, grouped, first] - (truth[loss, grouped, other] if other else 0)
            numbers = (values.mean(), np.nan, np.nan, np.nan)
            # Test sets of one class have no AUC.
            with suppress(ValueError):
                made = cls(X, y, first, other, groups=index if grouped else None, **chosen)
                numbers = answer(values.mean(), made.fit(rng=number, **options))
            words = first if other is None else f"{first} - {other}"
            yield words, grouped, *numbers, values.std(ddof=1) / np.sqrt(POOLS)


CELLS = product(TESTS, LOSSES, N_CLUSTERS, CORRELATIONS)
STUDY = Study(sample, ("learners", "grouped"), CELLS, 300, more={"truth_se": "first"})

if __name__ == "__main__":
    STUDY.main()
