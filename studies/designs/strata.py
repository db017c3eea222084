"""Should folds keep the classes in proportion? Coverage and precision, with and without.

Two classes, one of them with probability 0.5 or 0.15, two normal features; lda alone and against
5 nearest neighbours, by the corrected t-test on ten folds (its default) and by one random split
with a third tested. The truth is about random samples, whose classes vary: learning sets of 9n/10
(2n/3) new observations, tested on others.

"sd" is that of the estimates, "width" the mean length of 95% intervals, "failed" counts samples
whose learning sets have no rows of a class.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np

import ucvtest as uv
from studies.coverage import Study, answer

LEARNERS = ("lda", "knn:5")
N_OBS, SHARES = (30, 60), (0.5, 0.15)
TESTS = {
    "corrected_t": (uv.CorrectedTTest, uv.designs.KFold, {"n_folds": 10}, 9 / 10),
    "hold_out": (uv.HoldOutTest, uv.designs.HoldOut, {"test_fraction": 1 / 3}, 2 / 3),
}

TRUTHS, NEW = 120, 700
"""Learning sets, and new observations for each."""


def draw(rng: np.random.Generator, n_obs: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels; two of each class at least."""
    while True:
        y = (rng.random(n_obs) < share).astype(int)
        if 2 <= y.sum() <= n_obs - 2:
            return rng.normal(size=(n_obs, 2)) + np.outer(y, (1.2, 0.6)), y


@cache
def true_values(n_learnt: int, share: float) -> np.ndarray:
    """Error rates after these numbers of observations, (2,)."""
    rng = np.random.default_rng([n_learnt, int(100 * share)])
    found = []
    for _ in range(TRUTHS):
        (X, y), (new, labels) = draw(rng, n_learnt, share), draw(rng, NEW, share)
        learning = np.arange(n_learnt + NEW) < n_learnt
        design = uv.designs.Design.leave_rest_out(learning[None])
        losses = uv.evaluate(LEARNERS, np.vstack([X, new]), np.r_[y, labels], design, rng=0)
        found.append(losses.means[:, 0])
    return np.mean(found, axis=0)


def sample(n: int, share: float, number: int) -> Iterator[tuple]:
    """The answer of each test to each question, with each kind of folds."""
    X, y = draw(np.random.default_rng([n, int(100 * share), number]), n, share)
    for name, (test, design, options, part) in TESTS.items():
        first, second = true_values(round(n * part), share)
        for stratify in (False, True):
            for other, truth in ((None, first), (LEARNERS[1], first - second)):
                folds = design(**options, stratify=stratify)
                result = test(X, y, "lda", other, design=folds).fit(rng=number)
                words = f"lda - {other}" if other else "lda"
                failed = result.diagnostics.get("one_class_fits", 0) > 0
                yield name, words, stratify, *answer(truth, result), failed


LABELS = ("test", "learners", "stratify")
STUDY = Study(sample, LABELS, product(N_OBS, SHARES), 200, more={"failed": "sum"})

if __name__ == "__main__":
    STUDY.main()
