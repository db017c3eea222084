"""How long do 10 000 permutations of a leave-pair-out AUC take, against refitting?

n = 30, 15 positives, 10 features: 2.25 million held-out pairs. scikit-learn is timed on some of
them, with one thread.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from threadpoolctl import threadpool_limits

import ucvtest as uv
from ucvtest.kernels.leave_pair_out import nearest_neighbour_errors, smoother_errors

N, P, N_PERMUTATIONS = 30, 10, 10_000


def least_seconds(function: Callable[[], object], n_times: int = 7) -> float:
    """The least of several times, after one to compile."""
    function()
    seconds = []
    for _ in range(n_times):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def refit(
    estimator: Ridge | KNeighborsRegressor, X: np.ndarray, labels: np.ndarray
) -> tuple[float, float]:
    """Errors of one labeling by fits without every pair, and seconds for one fit."""
    start, errors = time.perf_counter(), 0.0
    pairs = np.argwhere(labels[:, None] & ~labels)
    for pair in pairs:
        rest = np.delete(np.arange(N), pair)
        first, second = estimator.fit(X[rest], labels[rest] * 1.0).predict(X[pair])
        errors += 0.5 - 0.5 * np.sign(first - second)
    return errors, (time.perf_counter() - start) / len(pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--labelings", type=int, default=5, help="refitted with scikit-learn")
    parser.add_argument("--quick", action="store_true", help="one of them, and 100 permutations")
    arguments = parser.parse_args()
    n_refitted, n_permutations = (
        (1, 100) if arguments.quick else (arguments.labelings, N_PERMUTATIONS)
    )
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, P)), np.arange(N) % 2 == 1
    labelings = rng.permuted(np.tile(y, (n_permutations, 1)), axis=1)
    hat = uv.learners.hat_matrix(uv.learners.ridge(1.0), X, N - 2)
    distance = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(distance, -1.0)
    nearest = np.argsort(distance, axis=1)[:, 1:5]
    cases = {
        "ridge:1.0": (Ridge(1.0), lambda labels: smoother_errors(hat, labels)),
        "knn:3": (KNeighborsRegressor(3), lambda labels: nearest_neighbour_errors(nearest, labels)),
    }
    n_pairs = n_permutations * int(y.sum()) * int((~y).sum())
    for name, (estimator, count) in cases.items():
        with threadpool_limits(1):
            refitted = [refit(estimator, X, labels) for labels in labelings[:n_refitted]]
        wrong, tied = count(labelings)
        ours = (wrong + tied / 2)[:n_refitted]
        assert [errors for errors, _ in refitted] == ours.tolist(), "not the same errors"
        each = min(seconds for _, seconds in refitted)
        seconds = least_seconds(lambda count=count: count(labelings))
        test = uv.LeavePairOutTest(X, y, name)
        whole = least_seconds(lambda test=test: test.fit(n_permutations=n_permutations - 1, rng=0))
        print(
            f"{name}: {1e3 * seconds:.0f} ms for {n_pairs} pairs ({1e3 * whole:.0f} ms from fit() "
            f"to result), scikit-learn {1e6 * each:.0f} us a pair, ratio "
            f"{each * n_pairs / seconds:.0f}"
        )


if __name__ == "__main__":
    main()
