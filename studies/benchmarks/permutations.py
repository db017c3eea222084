"""The speed of fits to permuted labels compared with scikit-learn in a plain loop, in one run.

n observations, 10 normal features, two classes; the time is that of the fits to P permutations of
the labels and the predictions of all observations, after compilation. What does not depend on the
labels is computed once, and its time counted apart. scikit-learn is timed on a sample of the
permutations, and its predictions compared. CPU times hardly depend on other work on the machine;
on two free cores the jitted fits take less time than that.

    python studies/benchmarks/permutations.py
"""

import time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

import ucvtest as uv
from studies.benchmarks.bench import in_turn, options, seconds, versions
from ucvtest.data.sample import Sample, make_sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.adapters.coerce import as_learner

LEARNERS = {
    "lda": LinearDiscriminantAnalysis(),
    "ridge:1.0": RidgeClassifier(alpha=1.0),
    "knn:5": KNeighborsClassifier(5),
}

REPEATS = 50
"""Threads of an earlier product may wait busily for some milliseconds: they must not count."""


def measure(n_obs: int = 500, n_permutations: int = 1000, n_loop: int = 100) -> pd.DataFrame:
    """One row for each learner."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_obs, 10))
    y = (X[:, 0] + rng.normal(size=n_obs) > 0).astype(int)
    sample = make_sample(X, y, as_classes=True)
    labels = rng.permuted(np.tile(sample.target, (n_permutations, 1)), axis=1)
    return pd.DataFrame([_row(sample, labels, name, n_loop) for name in LEARNERS])


def _row(sample: Sample, labels: np.ndarray, name: str, n_loop: int) -> dict[str, Any]:
    n_permutations, seeds, loop = len(labels), np.arange(len(labels)), []
    start = time.perf_counter()
    evaluator = Evaluator(sample, as_learner(name), "label")
    prepared = time.perf_counter() - start
    found = evaluator.predict_labelings(labels, seeds).values
    ours = in_turn(lambda: evaluator.predict_labelings(labels, seeds), repeats=REPEATS)[0]
    with threadpool_limits(1):
        theirs = seconds(
            lambda: loop.extend(
                LEARNERS[name].fit(sample.matrix, row).predict(sample.matrix)
                for row in labels[:n_loop]
            )
        )
    theirs *= n_permutations / n_loop
    test = uv.PermutationComplexityTest(sample.matrix, sample.response, name)
    test.fit(n_permutations, rng=0)
    return {
        "learner": name,
        "shared (s)": round(prepared, 4),
        "all fits (s)": round(ours[0], 4),
        "CPU (s)": round(ours[1], 4),
        "whole test (s)": round(test.fit(n_permutations, rng=0).elapsed, 4),
        "scikit-learn (s)": round(theirs[0], 2),
        "its CPU (s)": round(theirs[1], 2),
        "ratio of CPU": round(theirs[1] / ours[1]),
        "differing": f"{(found[:n_loop] != np.array(loop)).mean():.1e}",
    }


if __name__ == "__main__":
    quick = options(__doc__, "60 observations, 20 permutations").parse_args().quick
    print(versions())
    print(measure(*((60, 20, 5) if quick else ())).to_string(index=False))
