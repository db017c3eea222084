"""The speed of fits to permuted labels compared with scikit-learn in a plain loop, in one run.

n observations, 10 normal features, two classes; the time is that of the fits to P permutations of
the labels and the predictions of all observations, after compilation. What does not depend on the
labels is computed once, and its time counted apart. scikit-learn is timed on a sample of the
permutations, and its predictions compared. CPU times hardly depend on other work on the machine;
on two free cores the jitted fits take less time than that.

    python studies/benchmarks/permutations.py
"""

import argparse
import platform
import time

import jax
import numpy as np
import pandas as pd
import sklearn
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

import ucvtest as uv
from ucvtest.data.sample import make_sample
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
    seeds = np.arange(n_permutations)
    rows = []
    for name, model in LEARNERS.items():
        start = time.perf_counter()
        evaluator = Evaluator(sample, as_learner(name), "label")
        prepared = time.perf_counter() - start
        found = evaluator.predict_labelings(labels, seeds).values
        times, cpu = [], time.process_time()
        for _ in range(REPEATS):
            start = time.perf_counter()
            evaluator.predict_labelings(labels, seeds)
            times.append(time.perf_counter() - start)
        cpu = (time.process_time() - cpu) / len(times)
        start, loop_cpu = time.perf_counter(), time.process_time()
        with threadpool_limits(1):
            loop = np.array([model.fit(X, row).predict(X) for row in labels[:n_loop]])
        factor = n_permutations / n_loop
        loop_wall = factor * (time.perf_counter() - start)
        loop_cpu = factor * (time.process_time() - loop_cpu)
        test = uv.PermutationComplexityTest(X, y, name)
        test.fit(n_permutations, rng=0)
        rows.append(
            {
                "learner": name,
                "shared (s)": round(prepared, 4),
                "all fits (s)": round(min(times), 4),
                "CPU (s)": round(cpu, 4),
                "whole test (s)": round(test.fit(n_permutations, rng=0).elapsed, 4),
                "scikit-learn (s)": round(loop_wall, 2),
                "its CPU (s)": round(loop_cpu, 2),
                "ratio of CPU": round(loop_cpu / cpu),
                "differing": f"{(found[:n_loop] != loop).mean():.1e}",
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-obs", type=int, default=500)
    parser.add_argument("--permutations", type=int, default=1000)
    parser.add_argument("--loop", type=int, default=100, help="permutations of the loop")
    parser.add_argument("--quick", action="store_true", help="60 observations, 20 permutations")
    arguments = parser.parse_args()
    sizes = (arguments.n_obs, arguments.permutations, arguments.loop)
    found = measure(*((60, 20, 5) if arguments.quick else sizes))
    print(found.to_string(index=False))
    print(f"jax {jax.__version__}, scikit-learn {sklearn.__version__}, {platform.machine()}")


if __name__ == "__main__":
    main()
