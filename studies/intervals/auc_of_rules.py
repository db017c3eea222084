"""How often do 95% intervals of one rule's AUC contain it: on the logit scale, and as published?

Scores of two normal classes whose means are such that the AUC is known, and few observations of
each class. A data set whose classes do not overlap has no answer (its variance is 0).
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy import stats

import ucvtest as uv
from studies.coverage import Study, answer

AUCS = (0.6, 0.78, 0.9, 0.95, 0.98)
SIZES = ((7, 13), (10, 10), (10, 30), (20, 20), (40, 40), (100, 100))
"""Positive and negative observations."""


def sample(auc: float, positive: int, negative: int, number: int) -> Iterator[tuple]:
    """Both intervals of one data set."""
    rng = np.random.default_rng([round(100 * auc), positive, negative, number])
    y = np.repeat([1, 0], [positive, negative])
    scores = rng.normal(size=len(y)) + np.sqrt(2) * stats.norm.ppf(auc) * y
    test = uv.DeLongTest.from_losses(uv.Losses.from_predictions(y, {"rule": scores}, loss="auc"))
    for interval in ("logit", "wald"):
        yield interval, *answer(auc, test.fit(interval=interval))


CELLS = [(auc, *sizes) for auc, sizes in product(AUCS, SIZES)]
STUDY = Study(sample, ("interval",), CELLS, 2000)

if __name__ == "__main__":
    STUDY.main()
