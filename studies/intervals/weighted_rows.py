"""Do intervals for weighted means of losses contain them, where weights go with the features?

Rows are sampled more often where the first feature is low, and weights undo that: the estimand is
about the population. The true value is that of many learning sets and of 20 000 new rows.

    python studies/intervals/weighted_rows.py            # ten minutes
    python studies/intervals/weighted_rows.py --quick
"""

import argparse
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import ucvtest as uv

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


def samples(n: int, test: str, both: bool, n_samples: int) -> Iterator[dict[str, Any]]:
    """Whether each interval contains the true value, and its width."""
    truth: dict[int, float] = {}
    for sample in range(n_samples):
        rng = np.random.default_rng([n, sample])
        X, y, weights = drawn(rng, n)
        learners = list(LEARNERS) if both else ["lda"]
        asked = TESTS[test](X, y, *learners, weights={"loss": weights})
        found = asked.fit(rng=sample, **({"n_pairs": 200} if test == "ustatistic" else {}))
        size = found.settings["learn_size"]
        size = size if isinstance(size, int) else round(0.9 * n)
        if size not in truth:
            truth[size] = true_value(size, both)
        low, high = found.conf_int()
        yield {"covered": low <= truth[size] <= high, "width": high - low}


def main() -> None:
    """Print coverage and mean width."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few samples")
    n_samples = 20 if parser.parse_args().quick else 400
    for n, test, both in product(SIZES, TESTS, (False, True)):
        found = pd.DataFrame(samples(n, test, both, n_samples))
        row = {"n": n, "test": test, "two": both, **found.mean().round(3).to_dict()}
        print(row, flush=True)


if __name__ == "__main__":
    main()
