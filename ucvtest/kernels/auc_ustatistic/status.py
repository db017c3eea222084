"""Why an AUC, or the difference of two, has no variance."""

import math

from ucvtest.kernels.auc_ustatistic.sums import Sums
from ucvtest.kernels.auc_ustatistic.variances import Answer

__all__ = ["status"]


def status(sums: Sums, found: Answer) -> str:
    """Why there is no variance, if there is none; of one learner, or the difference of two."""
    if not math.isnan(found.values["jackknife"]):
        return "ok"
    n1 = sums.shape.sizes[0]
    moments = sums.moments
    learnt = moments.learnt.sum(axis=0)
    # How often each pair was tested.
    n_pairs = sums.n_rows - learnt[:n1, None] - learnt[n1:]
    n_pairs = n_pairs + moments.together.sum(axis=0)[:n1, n1:]
    psi = sums.pairs.sum(axis=1)
    if len(psi) == 2:
        why = (
            "the two learners ranked every tested pair alike, so there is no difference to test"
            if sums.alike
            else "the two learners differ by as much for every observation"
        )
    elif (psi[0] == n_pairs).all():
        why = "all tested scores were equal: the learner tells no observation from another"
    elif (psi[0] == 2 * n_pairs).all() or not psi[0].any():
        why = "the classes were separated completely, in every row"
    else:
        why = "every observation was ranked equally well"
    return f"degenerate: the jackknife variance is zero, {why}"
