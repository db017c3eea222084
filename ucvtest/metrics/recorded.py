"""Metrics that were computed elsewhere, known by the record in tables of losses."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ucvtest.metrics.base import Metric, Units
from ucvtest.metrics.loss import WEIGHTED, weighted_metric
from ucvtest.metrics.means import LOSSES, SCORES_OF_LOSSES
from ucvtest.metrics.ranks import AUC, AUC_NAME

COST_OF_ERRORS = "cost_of_errors"
"""The setting with the cost of an error, if all errors cost the same."""


@dataclass(frozen=True)
class RecordedMetric(Metric):
    """Numbers of a metric without a known function; they are used as they are.

    `greater_is_better` is as declared by the person who computed them. `of_test_sets` tells whether
    they are numbers of test sets instead of observations. `of_loss` is the loss whose score they
    are.
    """

    greater_is_better: bool = False
    of_test_sets: bool = False
    of_loss: Metric | None = None

    @property
    def is_mean(self) -> bool:
        """Numbers of observations are averaged."""
        return not self.of_test_sets

    @property
    def per_test_set(self) -> bool:
        """Whether values of observations are not known."""
        return self.of_test_sets

    @property
    def counts_errors(self) -> bool:
        """Whether they have the name of the error rate."""
        return self.name == LOSSES["zero_one"].name


KNOWN: Mapping[str, Metric] = {**LOSSES, AUC_NAME: AUC}
"""The metrics of ucvtest by name."""


def known_metric(name: Any) -> Metric | None:
    """The metric with this name in ucvtest; None for anything else. Aliases are not looked up."""
    return KNOWN.get(name) if isinstance(name, str) else None


def recorded_metric(
    name: str,
    *,
    in_words: str,
    bounds: tuple[float, float] | None,
    greater_is_better: bool,
    of_test_sets: bool,
) -> Metric:
    """The metric that ucvtest knows by this name, unless its record differs."""
    if name.startswith(WEIGHTED):
        unweighted = recorded_metric(
            name.removeprefix(WEIGHTED),
            in_words=in_words.removeprefix("weighted "),
            bounds=bounds,
            greater_is_better=greater_is_better,
            of_test_sets=of_test_sets,
        )
        metric = weighted_metric(unweighted)
        if unweighted.of_loss is None:
            return metric
        assert isinstance(metric, RecordedMetric)
        return replace(metric, of_loss=weighted_metric(unweighted.of_loss))
    metric_of_name = KNOWN.get(name)
    if metric_of_name is not None and (
        metric_of_name.ranks_pairs
        or (
            metric_of_name.bounds == bounds
            and metric_of_name.greater_is_better == greater_is_better
        )
    ):
        return metric_of_name
    scored = greater_is_better and name in SCORES_OF_LOSSES
    loss = _loss_behind(SCORES_OF_LOSSES[name], bounds) if scored else None
    return RecordedMetric(
        name,
        _as_given,
        "number",
        estimand=in_words,
        bounds=bounds,
        greater_is_better=greater_is_better,
        of_test_sets=of_test_sets and loss is None,
        of_loss=loss,
    )


def errors_behind(score: str, in_words: str) -> Metric:
    """The error rate if a score is 1 for each right answer and 0 for each wrong one."""
    return replace(LOSSES["zero_one"], units=Units(score, 1.0, in_words))


def _loss_behind(loss: Metric, bounds: tuple[float, float] | None) -> Metric:
    """The loss of a score, with the bounds that follow from the score."""
    loss_bounds = None
    if bounds is not None and loss.units is not None:
        low, high = sorted(loss.units.back(bound) for bound in bounds)
        loss_bounds = low, high
    if loss_bounds == loss.bounds:
        return loss
    loss_metric = recorded_metric(
        loss.name,
        in_words=loss.in_words,
        bounds=loss_bounds,
        greater_is_better=False,
        of_test_sets=False,
    )
    return replace(loss_metric, units=loss.units)


def _as_given(y: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    return numbers
