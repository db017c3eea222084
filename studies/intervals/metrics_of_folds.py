"""Coverage of metrics of cross-validated predictions, about the rules that were learnt here.

Each sample is divided into folds; the true value is the metric of the rules of all folds on 2500
new observations, parts pooled. `CrossValidationWaldTest` tests the first learner alone, and its
difference to the second. None of these populations was looked at when the rules were chosen.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

import ucvtest as uv
from studies.coverage import Study, one_and_difference

NEW, SIZES, FOLDS = 2500, (50, 100), (5, 10)
LABELS, PROBABILITIES = ("f1", "balanced_accuracy", "mcc", "f1_macro"), ("brier_skill",)
NUMBERS = ("r2", "rmse")

PROBLEMS = {
    # Share of the positive class, signal in each of four features, learners, metrics.
    "even": (0.5, 0.6, ("lda", "nearest_centroid"), LABELS),
    "rare": (0.2, 0.8, ("lda", "gaussian_nb"), LABELS),
    "neighbours": (0.4, 0.7, ("knn:5", "lda"), LABELS),
    "weak": (0.5, 0.2, ("lda", "knn:3"), LABELS),
    "numbers": (None, 0.5, ("ridge:1", "ridge:100"), NUMBERS),
    "weak_numbers": (None, 0.15, ("ridge:1", "ridge:100"), NUMBERS),
    "noise": (None, 0.0, ("ridge:1", "ridge:100"), NUMBERS),
    "probabilities": (0.4, 0.7, ("lda", "gaussian_nb"), PROBABILITIES),
    "weak_probabilities": (0.4, 0.2, ("lda", "gaussian_nb"), PROBABILITIES),
}


def draw(problem: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Features and response of n observations."""
    share, signal, *_ = PROBLEMS[problem]
    X = rng.normal(size=(n, 4))
    if share is None:
        return X, signal * X.sum(axis=1) + rng.normal(size=n)
    y = (rng.random(n) < share).astype(int)
    X += signal * (y[:, None] - share)
    X[:, 3] **= 2
    return X, y


def sample(problem: str, n: int, folds: int, number: int) -> Iterator[tuple]:
    """An answer for each metric and target; none where a fold is without a class."""
    rng = np.random.default_rng([list(PROBLEMS).index(problem), n, folds, number])
    X, y = draw(problem, n + NEW, rng)
    share, _, learners, metrics = PROBLEMS[problem]
    fold = np.arange(n) % folds
    if share is not None:
        if np.bincount(y[:n], minlength=2).min() < folds:
            return
        # In proportion, as most people draw them.
        fold[np.argsort(y[:n], kind="stable")] = np.arange(n) % folds
    new = np.arange(n, n + NEW)
    learnt = [np.flatnonzero(fold != k) for k in range(folds)]
    own = [(rows, np.flatnonzero(fold == k)) for k, rows in enumerate(learnt)]
    losses, real = (
        uv.evaluate([*learners], *data, design=design, metric=metrics[0], rng=0)
        for data, design in (((X[:n], y[:n]), own), ((X, y), [(rows, new) for rows in learnt]))
    )
    for metric in metrics:
        truth = real.about(metric).values.mean(axis=1)
        test, about = uv.CrossValidationWaldTest, losses.about(metric)
        yield from ((metric, *row) for row in one_and_difference(test, about, truth))


STUDY = Study(sample, ("metric", "target"), product(PROBLEMS, SIZES, FOLDS), 400)

if __name__ == "__main__":
    STUDY.main()
