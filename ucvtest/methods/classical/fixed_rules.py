"""Common parts of tests of fixed rules: words, means, differences of shares and of metrics."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.inference.answer import Answer
from ucvtest.losses.table import LossDifference
from ucvtest.metrics.ranges import Range, difference_range, range_of
from ucvtest.results.plot_data import Picture
from ucvtest.stats.influence import Influence, variance_of_mean
from ucvtest.stats.pivots import Pivot

THESE_RULES = (
    "Assumes independent observations. The rules are fixed: the answer is about these rules on new "
    "observations, not about the learners with another sample."
)
"""Note of tests that are conditional on the sample."""


def of_these_rules(observed: LossDifference) -> str:
    """The estimand if rules are fixed and nothing is learnt."""
    return f"{observed.in_words} of {'these rules' if observed.paired else 'this rule'}"


def mean_with_variance(
    observed: LossDifference, clusters: Clusters | None = None
) -> tuple[float, float]:
    """The mean of all losses, and its variance as if they were independent; 0 for a single one.

    With clusters, the clusters are independent instead of their rows: K.-Y. Liang and S. Zeger
    (1986), Longitudinal data analysis using generalized linear models, Biometrika 73, times G/(G -
    1).
    """
    means = means_with_variances(observed, clusters)
    return float(means["estimates"][0]), float(means["variances"][0])


def means_with_variances(
    observed: LossDifference, clusters: Clusters | None = None
) -> dict[str, Any]:
    """The same of the contrast and of each learner, as parts of an answer."""
    values = observed.values_of_each
    means = Influence.of_means(values if clusters is None else clusters.values(values))
    variances = means.variances if means.n_units > 1 else np.zeros(len(values))
    return {"estimates": means.estimates, "variances": variances}


ROUNDING = 1e-13
"""A spread of linearised values up to this share of the metric is rounding error."""

LEAST = 1e-15
"""Estimates up to this share of their largest possible value are 0."""


@dataclass(frozen=True)
class LinearisedRules(ABC):
    """A metric of one learner, or its difference of two, from predictions of rows.

    `index` (T,) has the cluster of each tested row, numbered from 0; None if there are no clusters.
    """

    observed: LossDifference
    index: np.ndarray | None = None

    @property
    def estimate(self) -> float:
        """The metric, or its difference; NaN if it has no value.

        Rounding does not move it out of its range, nor away from 0.
        """
        clipped_mean = float(np.clip(self.observed.values.mean(), *self._range))
        return 0.0 if abs(clipped_mean) <= LEAST * self._largest else clipped_mean

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
    def rule(self, null_value: float) -> Pivot | None:
        """The rule behind p-value and interval; None for the estimate and its standard error."""

    @property
    def status(self) -> str:
        """The status, as far as the metric is the reason: all observations have one influence."""
        if self._varies or self.observed.identical:
            return "ok"
        metric_in_words = self._metric.in_words
        if self.observed.paired:
            metric_in_words = f"the difference in {metric_in_words}"
        return (
            f"degenerate: {metric_in_words} leaves no variance to estimate, because all "
            "observations have the same influence on it; test more"
        )

    @property
    @abstractmethod
    def diagnostics(self) -> dict[str, Any]:
        """Numbers behind the metric."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The rule in words."""
        of_clusters = "All rows have the same weight, and clusters are independent."
        return (self._rule_in_words, *((of_clusters,) if self.index is not None else ()))

    @property
    def _rule_in_words(self) -> str:
        return f"The standard error is that of linearised values of {self._metric.in_words}."

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

    # -------------------------------------------------------------------------------- the parts

    @property
    def _metric(self) -> Any:
        return self.observed.losses.metric

    @property
    def _range(self) -> Range:
        """The possible values of the metric, or of its difference."""
        metric_range = range_of(self._metric)
        return difference_range(metric_range) if self.observed.paired else metric_range

    @property
    def _largest(self) -> float:
        """The size of the largest limit; 0 if there is none."""
        return max((abs(limit) for limit in self._range if math.isfinite(limit)), default=0.0)

    @property
    def _varies(self) -> bool:
        """Whether linearised values differ by more than the rounding of their parts."""
        spread = math.sqrt(max(self.variance, 0.0) * len(self.observed.values))
        return spread > ROUNDING * max(abs(self.estimate), self._largest)

    @property
    def _predictions(self) -> list[np.ndarray]:
        """Parts of the learner, and of the other if there is one."""
        predictions = self.observed.losses.predictions
        assert predictions is not None
        return [predictions[place] for place in self.observed.places]
