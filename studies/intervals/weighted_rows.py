"""Do intervals for weighted means of losses contain them, where weights go with the features?

Rows are sampled more often where the first feature is low, and weights undo that: the estimand is
about the population. The true value is that of many learning sets and of 20 000 new rows.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import ucvtest as uv
from studies.coverage import Study, answer

SIZES = (40, 100, 200)
LEARNERS = {"lda": LinearDiscriminantAnalysis(), "knn:5": KNeighborsClassifier(5)}
TESTS = {"ustatistic": uv.UStatisticTest, "corrected_t": uv.CorrectedTTest}


def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, classes and weights of sampled rows."""
    X = rng.normal(size=(n, 3))
    X[:, 0] -= 0.5
    y = (X[:, 0] ** 2 + X[:, 1] + rng.normal(size=n) > 1).astype(int)
    # Density of a standard normal over that of the sample.
    return X, y, np.exp(0.5 * X[:, 0] + 0.125)


@cache
def true_value(n_learn: int, both: bool) -> float:
    """The weighted error (difference) at a learning-set size."""
    rng = np.random.default_rng([n_learn, both])
    X, y, weights = drawn(rng, 20_000)
    values = []
    for _ in range(400):
        X_learn, y_learn, _ = drawn(rng, n_learn)
        errors = [
            np.average(model.fit(X_learn, y_learn).predict(X) != y, weights=weights)
            for model in (LEARNERS.values() if both else [LEARNERS["lda"]])
        ]
        values.append(errors[0] - errors[1] if both else errors[0])
    return float(np.mean(values))


def sample(n: int, test: str, both: bool, number: int) -> Iterator[tuple]:
    """The answer of one test."""
    rng = np.random.default_rng([n, number])
    X, y, weights = drawn(rng, n)
    learners = list(LEARNERS) if both else ["lda"]
    made = TESTS[test](X, y, *learners, weights={"loss": weights})
    found = made.fit(rng=number, **({"n_pairs": 200} if test == "ustatistic" else {}))
    size = found.settings["learn_size"]
    yield answer(true_value(size if isinstance(size, int) else round(0.9 * n), both), found)


STUDY = Study(sample, (), product(SIZES, TESTS, (False, True)), 400)

if __name__ == "__main__":
    STUDY.main()
