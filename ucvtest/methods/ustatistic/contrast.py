"""How two learners are compared: by the difference, or the ratio, of their expected losses."""

from typing import Any

from ucvtest.common.checks import check_choice, is_number
from ucvtest.methods.ustatistic.interval import never_negative
from ucvtest.metrics.base import Metric
from ucvtest.results.fields import CONTRASTS


def check_ratio(
    metric: Metric,
    *,
    paired: bool,
    ratio: str = "contrast='ratio'",
    difference: str = "contrast='difference'",
) -> None:
    """Refuse a ratio unless it is of two positive mean losses.

    `ratio` and `difference` are the arguments in which the caller names them.
    """
    if not paired:
        raise ValueError(f"{ratio} compares two learners: pass other, or leave it out")
    if not metric.is_mean:
        raise ValueError(
            f"{ratio} is about mean losses, but an AUC is not a mean loss (1/2 is chance): use "
            f"{difference}"
        )
    if metric.linearised:
        raise ValueError(
            f"{ratio} is about losses, but metric={metric.name!r:.60} is not a loss: use "
            f"{difference}"
        )
    if metric.units is not None and metric.units.greater_is_better:
        raise ValueError(
            f"{ratio} is about losses, but scoring={metric.units.name!r} is a score, whose ratio "
            f"is not meaningful: use loss={metric.name!r} instead of scoring, or {difference}"
        )
    if metric.counts_errors:
        raise ValueError(
            f"{ratio} is not for error rates, which can be 0 and whose differences are bounded: "
            f"use {difference}"
        )
    if not never_negative(metric):
        raise ValueError(
            f"{ratio} needs a loss that is never negative, such as squared, absolute or log, and "
            f"of {metric.name!r} nothing says so: give a uv.losses.Loss with bounds, or use "
            f"{difference}"
        )


def null_value_of(contrast: Any, null_value: float | None) -> float | None:
    """By default a ratio is 1 under H0; it must be positive."""
    check_choice("contrast", contrast, CONTRASTS)
    if contrast != "ratio":
        return null_value
    if null_value is None:
        return 1.0
    if is_number(null_value) and not null_value > 0:
        raise ValueError(f"null_value must be positive for a ratio, got {null_value:g}: use 1")
    return null_value
