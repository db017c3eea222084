"""The possible values of a metric, by its declaration or by its name."""

import math

import numpy as np

from ucvtest.metrics.base import Metric
from ucvtest.metrics.smooth import SmoothMetric

Range = tuple[float, float]
"""The smallest and the largest value that an estimand can have."""

EVERYTHING: Range = (-math.inf, math.inf)

NONNEGATIVE: Range = (0.0, math.inf)
SHARE: Range = (0.0, 1.0)
CORRELATION: Range = (-1.0, 1.0)
UP_TO_ONE: Range = (-math.inf, 1.0)
NEGATIVE: Range = (-math.inf, 0.0)

RANGES: dict[str, Range] = {
    **dict.fromkeys(("zero_one", "auc", "accuracy", "balanced_accuracy"), SHARE),
    **dict.fromkeys(("top_k_accuracy", "average_precision", "roc_auc", "f1"), SHARE),
    **dict.fromkeys(("precision", "recall", "jaccard"), SHARE),
    **dict.fromkeys(("sensitivity", "specificity", "detection_rate"), SHARE),
    **dict.fromkeys(("positive_predictive_value", "negative_predictive_value"), SHARE),
    **dict.fromkeys(("area_under_curve", "squared_correlation"), SHARE),
    **dict.fromkeys(("squared", "absolute", "log", "brier", "squared_log"), NONNEGATIVE),
    **dict.fromkeys(("relative", "poisson", "gamma"), NONNEGATIVE),
    **dict.fromkeys(("mean_squared_error", "root_mean_squared_error"), NONNEGATIVE),
    **dict.fromkeys(("mean_absolute_error", "log_loss"), NONNEGATIVE),
    **dict.fromkeys(("matthews_corrcoef", "cohen_kappa"), CORRELATION),
    **dict.fromkeys(("r2", "explained_variance"), UP_TO_ONE),
    **dict.fromkeys(("d2_absolute_error_score", "d2_brier_score", "d2_log_loss_score"), UP_TO_ONE),
}
"""Ranges by the name of a loss, of scikit-learn's score, or of a metric of caret."""

NAMELESS = ("score", "loss")
"""Name of numbers without a known metric."""

AVERAGES = ("_micro", "_macro", "_weighted", "_samples", "_ovr", "_ovo")
"""Endings of scikit-learn's names that do not change the range."""


def range_of(metric: Metric, values: np.ndarray | None = None, *, zero_one: bool = False) -> Range:
    """The possible values of the mean of one learner, in the units of results.

    Parameters
    ----------
    metric : Metric
    values : ndarray, optional
        Given losses or scores; a range that they contradict is ignored.
    zero_one : bool
        Whether they are values of observations, so that zeros and ones alone mean shares.

    Returns
    -------
    tuple of float
        The limits; infinite if they are not known.
    """
    metric_range = metric.limits if isinstance(metric, SmoothMetric) else metric.bounds
    if metric_range is None:
        metric_range = EVERYTHING
        # Names have the same meaning in our functions and in tables.
        if str(getattr(metric.function, "__module__", "")).startswith("ucvtest."):
            name = metric.name
            for average_suffix in AVERAGES:
                name = name.removesuffix(average_suffix)
            metric_range = RANGES.get(name, NEGATIVE if name.startswith("neg_") else EVERYTHING)
        if values is not None and values.size:
            low, high = metric_range
            if not (np.nanmin(values) >= low and np.nanmax(values) <= high):
                metric_range = EVERYTHING
            if zero_one and zeros_and_ones(values):
                metric_range = SHARE
    low, high = metric_range
    if metric.units is not None:
        low, high = sorted(map(metric.units.of, metric_range))
    return float(low), float(high)


def difference_range(metric_range: Range) -> Range:
    """The possible values of a difference of two values in the same range."""
    width = metric_range[1] - metric_range[0]
    return -width, width


def range_in_words(metric_range: Range) -> str:
    """The limits as a clause of a message."""
    low, high = metric_range
    if math.isinf(low):
        return f"is at most {high:g}"
    return f"is at least {low:g}" if math.isinf(high) else f"lies between {low:g} and {high:g}"


def zeros_and_ones(values: np.ndarray) -> bool:
    """Whether zeros and ones both occur, and nothing else; zeros alone may belong to any loss."""
    ones = values == 1
    return bool(ones.any() and not ones.all() and ((values == 0) | ones).all())
