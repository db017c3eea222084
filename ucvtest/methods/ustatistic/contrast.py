"""How two learners are compared: by the difference, or the ratio, of their expected losses."""

from ucvtest.common.checks import is_number
from ucvtest.common.words import arg
from ucvtest.methods.ustatistic.interval import never_negative
from ucvtest.metrics.base import Metric
from ucvtest.results.fields import Contrast


def check_ratio(
    metric: Metric,
    *,
    paired: bool,
    ratio: str | None = None,
    difference: str | None = None,
) -> None:
    """Refuse a ratio unless it is of two positive mean losses.

    `ratio` and `difference` are the arguments in which the caller names them.
    """
    ratio = ratio or arg("contrast", "ratio")
    difference = difference or arg("contrast", "difference")
    if not paired:
        raise ValueError(f"{ratio} compares two learners: pass {arg('other')}, or leave it out")
    if not metric.is_mean:
        raise ValueError(
            f"{ratio} is about mean losses, but an AUC is not a mean loss (1/2 is chance): use "
            f"{difference}"
        )
    if metric.linearised:
        raise ValueError(
            f"{ratio} is about losses, but {arg('metric', metric.name)} is not a loss: use "
            f"{difference}"
        )
    if metric.units is not None and metric.units.greater_is_better:
        raise ValueError(
            f"{ratio} is about losses, but {arg('scoring', metric.units.name)} is a score, whose "
            f"ratio is not meaningful: use {arg('loss', metric.name)} instead of scoring, or "
            f"{difference}"
        )
    if metric.counts_errors:
        raise ValueError(
            f"{ratio} is not for error rates, which can be 0 and whose differences are bounded: "
            f"use {difference}"
        )
    if not never_negative(metric):
        raise ValueError(
            f"{ratio} needs a loss that is never negative, such as squared, absolute or log, and "
            f"of {metric.name!r} nothing says so: give its bounds, or use {difference}"
        )


def null_value_of(contrast: Contrast, null_value: float | None) -> float | None:
    """By default a ratio is 1 under H0; it must be positive."""
    if contrast != "ratio":
        return null_value
    if null_value is None:
        return 1.0
    if is_number(null_value) and not null_value > 0:
        raise ValueError(
            f"{arg('null_value')} must be positive for a ratio, got {null_value:g}: use 1"
        )
    return null_value
