"""Coverage of the cross-validated AUC of out-of-fold scores, where it was found weak: AUC near 1.

Two normal classes, ten features; linear rules, whose AUC is known: the difference of class means
(a), and the discriminant of the pooled covariance matrix (b). `CrossValidationWaldTest` is about
the AUC of the rules learnt here, the pairs within folds counted as it counts them;
`CorrectedTTest` about the expected AUC of rules learnt from as many observations. The table has
both coverages for both tests.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import norm

import ucvtest as uv
from studies.coverage import Study, coverage, one_and_difference

N_FEATURES = 10
DISTANCES = {0.8: 1.4, 0.96: 2.7}
"""Between the class means, by the AUC that rule a then has, about."""


def rules_of(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weights of both linear rules, (2, p)."""
    means = [x[y == label].mean(axis=0) for label in (0, 1)]
    centred = np.concatenate([x[y == label] - means[label] for label in (0, 1)])
    covariance = centred.T @ centred / (len(x) - 2)
    direction = means[1] - means[0]
    return np.stack([direction, np.linalg.solve(covariance, direction)])


def sample(n: int, auc: float, folds: int, repeats: int, number: int) -> Iterator[tuple]:
    """What both tests say of one sample, of rule a and of a minus b."""
    rng = np.random.default_rng([n, round(100 * auc), folds, repeats, number])
    shift = np.zeros(N_FEATURES)
    shift[0] = DISTANCES[auc]
    y = np.arange(n) % 2
    x = rng.normal(size=(n, N_FEATURES)) + y[:, None] * shift
    scores, fold = np.empty((2, repeats, n)), np.empty((repeats, n), dtype=int)
    areas, pairs = np.empty((2, repeats, folds)), np.empty((repeats, folds))
    for repeat in range(repeats):
        for label in (0, 1):
            own = rng.permutation(np.flatnonzero(y == label))
            fold[repeat, own] = (np.arange(len(own)) + label * (n // 2)) % folds
        for k in range(folds):
            tested = fold[repeat] == k
            weights = rules_of(x[~tested], y[~tested])
            scores[:, repeat, tested] = weights @ x[tested].T
            spread = np.sqrt(2 * (weights**2).sum(axis=1))
            areas[:, repeat, k] = norm.cdf(weights @ shift / spread)
            pairs[repeat, k] = y[tested].sum() * (1 - y[tested]).sum()
    share = pairs / pairs.sum(axis=1, keepdims=True)
    truth = (areas * share).sum(axis=2).mean(axis=1)
    rules = {"a": scores[0], "b": scores[1]}
    losses = uv.Losses.from_predictions(y, rules, loss="auc", fold=fold)
    for test in (uv.CrossValidationWaldTest, uv.CorrectedTTest):
        yield from ((test.method_name, *row) for row in one_and_difference(test, losses, truth))


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage of the AUC of these rules, and of that expected of such rules."""
    cell = [*STUDY.keys, *STUDY.labels]
    expected = rows.assign(truth=rows.groupby(cell)["truth"].transform("mean"))
    of_these = coverage(rows, cell).rename(columns={"coverage": "of_these_rules"})
    return of_these.assign(of_the_learner=coverage(expected, cell)["coverage"])


CELLS = product((40, 100), DISTANCES, (5, 10), (1, 5))
STUDY = Study(sample, ("test", "target"), CELLS, 1000, table=table)

if __name__ == "__main__":
    STUDY.main()
