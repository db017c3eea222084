"""Why losses on the resamples of a design have no answer."""

import math

import numpy as np

from ucvtest.losses.table import LossDifference
from ucvtest.results.wording import SAME_LOSSES

__all__ = ["status_of"]

ROUNDING = 1e-10
"""Standard errors that are taken for rounding, relative to the losses themselves."""


def status_of(observed: LossDifference, estimate: float, variance: float, status: str) -> str:
    """What is said instead of an answer, "ok" where there is one; `status` is what is known."""
    if status != "ok":
        return status
    if observed.identical:
        return SAME_LOSSES
    if math.isnan(estimate + variance) and np.isnan(observed.means).any():
        return (
            "no estimate: a resample tests one class only, which leaves its AUC without a value; "
            "use fewer folds, or a splitter that keeps the classes in proportion"
        )
    if math.isnan(variance):
        return "no variance estimate: too few resamples to tell their spread; use more"
    if variance < 0:
        return (
            f"negative variance estimate ({variance:.3g}), which an unbiased estimate can be: use "
            "more resamples, or another test"
        )
    rounding = ROUNDING * _largest(observed)
    if not variance > rounding**2:
        if observed.paired and 0 < np.nanmax(np.abs(observed.means)) <= rounding:
            return (
                "degenerate: the losses of the two learners differ by no more than rounding, so "
                "there is no difference to test; compare learners that differ"
            )
        return (
            "degenerate: the losses do not vary between resamples, which leaves no variance to "
            "estimate; use more resamples, or a loss that varies"
        )
    return "ok"


def _largest(observed: LossDifference) -> float:
    """The largest mean loss: differences can be tiny where what they are of is not."""
    places = [place for place in (observed.learner, observed.other) if place is not None]
    return float(np.abs(np.nan_to_num(observed.losses.means[places])).max())
