"""What a default call costs, with the midpoint variance and with the default before it.

Ten data sets of two classes, 100 observations drawn from each, the default learning-set size (49):
is ridge regression on the labels better than naive Bayes? ``UStatisticTest(...).fit()`` draws until
the Monte-Carlo error of its variance is below 5%, with "midpoint". The default before was
"clipped", which needs disjoint pairs of learning sets, and often had no precise answer within the
200 000 fits that are allowed. Seconds are those of the processor, compilation left out.

Data sets that scikit-learn does not have are read from the folder in UCVTEST_DATA; without it the
table is shorter.
"""

import argparse
import time
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import ucvtest as uv
from studies.data import DataMissing, data_set

LEARNERS = "ridge:10", "gaussian_nb"
N_OBS = 100


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, features, and whether an observation is of the first class or group of classes."""
    yield "breast cancer", *_of(load_breast_cancer(), (0,))
    yield "wine", *_of(load_wine(), (1,))
    yield "iris", *_of(load_iris(), (1,))
    yield "digits", *_of(load_digits(), range(5))
    for name, first in FILES.items():
        try:
            frame = data_set(name)
        except DataMissing as error:
            print(error)
            continue
        y = frame.iloc[:, 0]
        yield name, frame.iloc[:, 1:].to_numpy(dtype=float), np.asarray(first(y))


FILES = {
    "ionosphere": lambda y: y == y.max(),
    "letter": lambda y: y > "M",
    "parkinsons": lambda y: y == y.max(),
    "pima": lambda y: y == y.max(),
    "spambase": lambda y: y == y.max(),
    "transfusion": lambda y: y == y.max(),
}


def _of(data, classes) -> tuple[np.ndarray, np.ndarray]:
    return data.data, np.isin(data.target, list(classes))


def sampled(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """100 observations, and the features that vary in them; a little noise breaks exact ties."""
    rng = np.random.default_rng(20261122)
    drawn = rng.choice(len(y), min(N_OBS, len(y)), replace=False)
    spread = X.std(axis=0)
    X = X[:, spread > 0] / spread[spread > 0]
    X = X[drawn] + 0.01 * rng.normal(size=(len(drawn), X.shape[1]))
    return X, y[drawn].astype(int)


def call(X: np.ndarray, y: np.ndarray, **options) -> tuple[uv.TestResult, float]:
    """The result, and the processor's seconds once everything is compiled."""
    test = uv.UStatisticTest(X, y, *LEARNERS)
    test.fit(**{**options, "max_fits": 4000}, rng=1)
    start = time.process_time()
    return test.fit(**options, rng=0), time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two data sets, at most 4000 fits")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore", uv.UcvtestWarning)
    limit = {"max_fits": 4000} if quick else {}
    rows = []
    for place, (name, X, y) in enumerate(data_sets()):
        if quick and place > 1:
            break
        X, y = sampled(X, y)
        now, seconds = call(X, y, **limit)
        before, seconds_before = call(X, y, variance="clipped", interval="wald", **limit)
        rows.append(
            {
                "data": name,
                "fits": now.n_fits,
                "seconds": round(seconds, 2),
                "answer": _answer(now),
                "fits before": before.n_fits,
                "seconds before": round(seconds_before, 2),
                "answer before": _answer(before),
                "fits saved": round(before.n_fits / now.n_fits, 1),
            }
        )
    table = pd.DataFrame(rows)
    print(table.to_string(index=False))
    saved, quicker = table["fits saved"], table["seconds before"] / table["seconds"]
    print(
        f"\nFits before over fits now: {saved.min():.1f} to {saved.max():.1f}, median "
        f"{saved.median():.1f}; seconds: {quicker.median():.1f} in the median"
    )


def _answer(result: uv.TestResult) -> str:
    if result.status != "ok":
        return "none"
    return "precise" if result.diagnostics["converged"] else "less precise"


if __name__ == "__main__":
    main()
