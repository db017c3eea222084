"""What a method answers: the waist between mathematics and result.

A method computes in units of losses and returns an `Answer`. `finish` (inference/finish.py) makes
the `TestResult` of it: status, statistic, p-value, the values of each learner, settings, notes
about rows, clusters, weights and the positive class, limits, units. With one variance it writes

    contrasts = observed.contrast_and_own    # the contrast, then each learner behind it
    return Answer(
        method="...", estimand="...",
        estimates=[mean_of(losses) for losses in contrasts],     # the contrast first: one, or three
        variances=[variance_of(losses) for losses in contrasts],
        reference="t", df=9.0,                  # or pivot=, a rule of stats/interval_rules
        diagnostics={"fold_means": quantity.value(means), "n_tested": 12},
        tables={"Variances": {"variance": names, "estimate": quantity.square(variances)}},
        notes=("...",),
    )

A method that studentises with several variances passes the one that counts as `tested`; one with a
statistic of its own passes `statistic` and `pvalue`. `status` names the fault, with the remedy.
Numbers with units are marked where they are made, by `inference.quantity`; those without are plain.
`settings` are the method's own; those of the question come from the question.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from ucvtest.inference.studentise import Studentised
from ucvtest.losses.table import LossDifference
from ucvtest.results.fields import Contrast, Posterior
from ucvtest.stats.interval_rules import Rule

Tables = Mapping[str, Mapping[str, Any]]
"""Columns by name, by the title of a table."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer:
    """Estimates with their variances, and what the method says about them."""

    method: str
    """Name of the test."""
    estimand: str
    """The estimand in words, without the positive class, the weights and the clusters."""
    estimates: Sequence[float] | np.ndarray
    """Of the contrast first; of two learners also of each."""
    variances: Sequence[float] | np.ndarray = ()
    """Of the estimates; NaN, or none, where the method has no standard error."""
    reference: str = "none"
    """The distribution that p-value and interval come from."""
    df: float = math.nan
    """Its degrees of freedom."""
    pivot: Rule | None = None
    """Where p-value and interval come from, if not from the standard error; it has an answer also
    where losses do not vary."""
    logit: bool = False
    """Whether the contrast is studentised on the logit scale."""
    has_se: bool = True
    """Whether variances are those of the estimates, and not only tell whether losses vary."""
    tested: Studentised | None = None
    """The contrast with its test, of methods that studentise with several variances."""
    statistic: Any = None
    """A statistic that is not studentised, with `pvalue`."""
    pvalue: float | None = None
    """Its p-value."""
    null_value: float | None = None
    """What is tested, if it is not what was asked: NaN for nothing."""
    status: str = "ok"
    """Why there is no test, and the remedy. Losses that do not vary need no status here."""
    n_fits: int = 0
    """Model fits, unless there is `observed`, which knows them."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What repeats the method on the same question."""
    not_settings: tuple[str, ...] = ()
    """Settings of questions that are not a choice of this method."""
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    tables: Tables = field(default_factory=dict)
    pictures: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    interval_name: str = "interval"
    assumption: str | None = None
    posterior: Posterior | None = None
    contrast: Contrast = "difference"
    null_hypothesis: str | None = None
    observed: LossDifference | None = None
    """The losses behind the answer; tests on one design leave it to their frame."""

    @classmethod
    def of_tested(
        cls, tested: Studentised, own: Sequence[tuple[float, float]] = (), **parts: Any
    ) -> Self:
        """With a test that was made, and the estimate and the variance of each of two learners."""
        numbers = [(tested.estimate, tested.variance), *own]
        estimates, variances = zip(*numbers, strict=True)
        return cls(tested=tested, estimates=estimates, variances=variances, **parts)
