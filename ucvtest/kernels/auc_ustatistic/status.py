"""Why an AUC, or the difference of two, has no variance, or none to rely on."""

import math
from typing import Protocol

from ucvtest.kernels.auc_ustatistic.variances import Answer

__all__ = ["status", "too_rough"]


class _Ranked(Protocol):
    """Sums over rankings that know what did not vary."""

    @property
    def n_learners(self) -> int:
        """One or two."""

    @property
    def alike(self) -> bool:
        """Whether all learners placed every observation alike."""

    def why_flat(self) -> str:
        """Why one learner has no variance."""


def status(sums: _Ranked, found: Answer) -> str:
    """Why there is no variance, if there is none; of one learner, or the difference of two."""
    if not math.isnan(found.values["jackknife"]):
        return "ok"
    if math.isnan(found.auc):
        return (
            "too few resamples: some two classes were tested together in no learning set; give "
            "more learning sets, or smaller ones"
        )
    if sums.n_learners == 1:
        why = sums.why_flat()
    elif sums.alike:
        why = "the two learners ranked every tested pair alike, so there is no difference to test"
    else:
        why = "the two learners differ by as much for every observation"
    return f"degenerate: the jackknife variance is zero, {why}"


def too_rough(found: Answer, name: str, remedy: str) -> str:
    """What is wrong with a variance whose Monte-Carlo error is too large."""
    return (
        "too few resamples: the Monte-Carlo standard error of the variance "
        f"({found.mc_se[name]:.2g}) is above half of it ({found.values[name]:.2g}); {remedy}"
    )
