"""Why losses give no test: the words of statuses, each with its remedy."""

import math

import numpy as np

from ucvtest.losses.from_predictions import SCORE
from ucvtest.losses.table import LossDifference
from ucvtest.metrics.base import Metric, plural
from ucvtest.metrics.ranges import difference_range, range_of
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.results.wording import no_spread, same_everywhere

NO_VALUE = "no estimate: {} is 0/0 here, because {}; use more observations, or another metric"

ROUNDING = 1e-10
"""Standard errors up to this share of the losses are treated as rounding error."""

MORE_OBSERVATIONS = "test more observations, or use another loss"


def status_of_losses(
    observed: LossDifference,
    estimate: float,
    variance: float,
    rounding: float,
    asked_metric: Metric,
) -> str:
    """The reason why these losses give no test, or "ok".

    `asked_metric` is the metric of the question, which losses of clusters do not have.
    """
    # Scores may be asked for, and losses be computed.
    scores = asked_metric.units is not None and asked_metric.units.slope < 0
    metric = observed.losses.metric
    if observed.identical:
        return same_everywhere(
            of_sets=observed.losses.values is None,
            scores=scores or bool(observed.losses.greater_is_better),
            learnt=observed.design.learns,
        )
    if math.isnan(estimate) and metric.of_survival:
        return no_value_in_words(observed)
    if math.isnan(estimate) and isinstance(metric, SmoothMetric):
        return NO_VALUE.format(metric.in_words, metric.without_value)
    if isinstance(asked_metric, SmoothMetric):
        low, high = range_of(asked_metric)
        if observed.paired:
            low, high = difference_range((low, high))
        # Linearised values of single test sets can lead out of what the metric can be.
        if not low - rounding <= estimate <= high + rounding:
            of_whom = "difference of the " if observed.paired else ""
            name = plural(asked_metric.in_words) if observed.paired else asked_metric.in_words
            return (
                f"no estimate: the mean of the linearised values, {estimate:.3g}, is not a value "
                f"that the {of_whom}{name} can have, because few observations are tested at once; "
                "test more, or use another test"
            )
    if math.isnan(estimate + variance) and np.isnan(observed.means).any():
        return (
            "no estimate: a resample tests one class only, which leaves its AUC without a value; "
            "use fewer folds, or stratified folds"
        )
    if math.isnan(variance):
        return "no variance estimate: too few resamples to estimate their spread; use more"
    if variance < 0:
        return (
            f"negative variance estimate ({variance:.3g}), which can happen with an unbiased "
            "estimator: use more resamples, or another test"
        )
    if variance > rounding**2:
        return "ok"
    if observed.paired and 0 < np.nanmax(np.abs(observed.means)) <= rounding:
        return (
            "degenerate: the losses of the two learners differ by no more than rounding, so "
            "there is no difference to test; compare learners that differ"
        )
    if observed.design.n_resamples == 1:
        return without_spread(observed, scores=scores)
    remedy = "use more resamples, or another loss"
    return without_spread(observed, "in every resample", remedy, scores=scores)


def without_spread(
    observed: LossDifference,
    where: str = "at every observation",
    remedy: str = MORE_OBSERVATIONS,
    *,
    scores: bool = False,
) -> str:
    """The status where the losses, or their difference, do not vary."""
    losses = observed.losses
    scores = scores or bool(losses.greater_is_better) or losses.loss == SCORE
    return no_spread(where, remedy, paired=observed.paired, scores=scores)


def no_value_in_words(observed: LossDifference) -> str:
    """The status if a survival metric has no value for these observations."""
    return f"no estimate: {observed.losses.without_value}; test more observations"
