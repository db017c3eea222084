"""Common parts of tests of fixed rules: words, means, differences of shares and of metrics."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.inference.answer import Answer
from ucvtest.losses.table import LossDifference
from ucvtest.results.plot_data import Picture
from ucvtest.stats.interval_rules import StudentRule
from ucvtest.stats.intervals import MovedT
from ucvtest.stats.linearised import variance_of_mean
from ucvtest.stats.shares import difference_of_shares, effective_number

THESE_RULES = (
    "Assumes independent observations. The rules are fixed: the answer is about these rules on new "
    "observations, not about the learners with another sample."
)
"""Note of tests that are conditional on the sample."""


def of_these_rules(observed: LossDifference) -> str:
    """The estimand if rules are fixed and nothing is learnt."""
    loss_in_words = observed.losses.in_words
    if observed.paired:
        return f"difference in {loss_in_words} of these rules"
    return f"{loss_in_words} of this rule"


def same_influence(observed: LossDifference) -> str:
    """The status where a metric that is not a mean does not vary, or the difference of two."""
    metric_in_words = observed.losses.metric.in_words
    if observed.paired:
        metric_in_words = f"the difference in {metric_in_words}"
    return (
        f"degenerate: {metric_in_words} leaves no variance to estimate, because all "
        "observations have the same influence on it; test more"
    )


def mean_with_variance(
    observed: LossDifference, clusters: Clusters | None = None
) -> tuple[float, float]:
    """The mean of all losses, and its variance as if they were independent; 0 for a single one.

    With clusters, the clusters are independent instead of their rows: K.-Y. Liang and S. Zeger
    (1986), Longitudinal data analysis using generalized linear models, Biometrika 73, times G/(G -
    1).
    """
    values = observed.values if clusters is None else clusters.values(observed.values)
    variance = float(values.var(ddof=1)) / len(values) if len(values) > 1 else 0.0
    return float(values.mean()), variance


def share_difference(
    values: np.ndarray, clusters: Clusters, null_value: float = math.nan
) -> tuple[float, MovedT]:
    """The difference of two shares of rows in clusters: the effective number, and the rule.

    `values` are 1 if only the first rule is wrong, -1 if only the second is wrong, and 0 otherwise.
    """
    of_each, n = clusters.values(values), len(values)
    variance = float(of_each.var(ddof=1)) / clusters.n_groups
    independent_variance = float(values.var(ddof=1)) / n
    number = effective_number(independent_variance, variance, n, clusters.n_groups)
    estimate, df = float(of_each.mean()), clusters.n_groups - 1.0
    return number, difference_of_shares(estimate, variance, number, df, null_value)


@dataclass(frozen=True)
class LinearisedRules(ABC):
    """A metric of one learner, or its difference of two, from predictions of rows.

    `index` (T,) has the cluster of each tested row, numbered from 0; None if there are no clusters.
    """

    observed: LossDifference
    index: np.ndarray | None = None

    @classmethod
    def of(cls, observed: LossDifference, clusters: Clusters | None) -> Self:
        """Make it from losses that keep predictions."""
        return cls(observed, None if clusters is None else clusters.groups.index)

    @property
    @abstractmethod
    def estimate(self) -> float:
        """The metric, or its difference; NaN if it has no value."""

    @property
    def variance(self) -> float:
        """The variance of the mean of linearised values."""
        return variance_of_mean(self.observed.values, self.index)

    @property
    def df(self) -> float:
        """Degrees of freedom, of rows or clusters."""
        size = len(self.observed.values) if self.index is None else int(self.index.max()) + 1
        return size - 1.0

    @abstractmethod
    def rule(self, null_value: float) -> StudentRule | None:
        """The rule behind p-value and interval; None for the estimate and its standard error."""

    @property
    @abstractmethod
    def status(self) -> str:
        """The status, as far as the metric is the reason."""

    @property
    @abstractmethod
    def diagnostics(self) -> dict[str, Any]:
        """Numbers behind the metric."""

    @property
    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """The rule in words."""

    @property
    def pictures(self) -> dict[str, Picture]:
        """Pictures of the rules; `uv.curves` draws those of ranks."""
        return {}

    def answer(self, method: str, estimand: str, null_value: float) -> Answer:
        """The answer about the metric, with the values of each rule alone."""
        alone = [type(self)(contrast, self.index) for contrast in self.observed.contrast_and_own]
        return Answer(
            method=method,
            estimand=estimand,
            estimates=[rules.estimate for rules in alone],
            variances=[rules.variance for rules in alone],
            reference="t",
            df=self.df,
            status=self.status,
            pivot=self.rule(null_value),
            diagnostics=self.diagnostics,
            notes=self.notes,
            pictures=self.pictures,
        )
