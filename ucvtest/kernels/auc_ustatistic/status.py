"""Why an AUC, or the difference of two, has no variance."""

import math
from collections.abc import Sequence

import numpy as np

from ucvtest.kernels.auc_ustatistic.placed import LearningSets, Placed
from ucvtest.kernels.auc_ustatistic.variances import Answer

__all__ = ["status"]


def status(sets: LearningSets, placed: Sequence[Placed], found: Answer) -> str:
    """Why there is no variance, if there is none."""
    if not math.isnan(found.variance):
        return "ok"
    tested = [(~each).astype(float) for each in sets.learnt]
    n_pairs = np.einsum("mi,mj->ij", *tested)
    sums = [each.pairs.sum(axis=0) for each in placed]
    if len(placed) == 2:
        why = (
            "the two learners ranked every tested pair alike, so there is no difference to test"
            if all((each == 0).all() for each in placed[0].minus(placed[1]).counts)
            else "the two learners differ by as much for every observation"
        )
    elif (sums[0] == n_pairs).all():
        why = "all tested scores were equal: the learner tells no observation from another"
    elif (sums[0] == 2 * n_pairs).all() or not sums[0].any():
        why = "the classes were separated completely, in every row"
    else:
        why = "every observation was ranked equally well"
    return f"degenerate: the jackknife variance is zero, {why}"
