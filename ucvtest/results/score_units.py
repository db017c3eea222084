"""Results about a loss in the units of a score that is a constant less this loss.

Tests compute with losses, of which methods know more: that they are 0 or 1, that they are skewed to
the right. Here, and nowhere else, their results become those of the score that was asked for:
estimates and limits are mirrored, and p-values stay.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ucvtest.metrics.base import ScoreOfLoss
from ucvtest.results.fields import Posterior
from ucvtest.results.plot_data import Picture
from ucvtest.results.result import TestResult
from ucvtest.stats.exact import BinomialCounts, PairedCounts
from ucvtest.stats.interval_rules import Rule
from ucvtest.stats.mirrored import Mirrored
from ucvtest.stats.wald import OTHER_SIDE

__all__ = ["in_units_of", "row_in_units_of"]

ESTIMATES = (
    *("mean", "fold_means", "resample_means", "half_means", "mean_inner", "mean_outer"),
    *("estimate_power_1.5", "rope_center", "e_in_permuted"),
)
"""Diagnostics that are values of the estimand."""

OF_ONE = ("estimate_learner", "estimate_other", "e_in")
"""Diagnostics that are values of one learner."""

CHANGES = ("skewness", "slope", "bias", "e_gen", "influence", "term_1", "term_2", "term_3")
"""Diagnostics that are differences of such values, or odd in them."""

SECOND_MOMENTS = ("s1", "s2", "s3", "theta_squared")
"""Diagnostics that are mean products of two values."""

WITH_ESTIMATES = ("posterior", "null distribution")
"""Pictures that have values of the estimand from left to right."""

SIGNED = ("t", "normal", "none")
"""Reference distributions of statistics with a sign."""


def in_units_of(score: ScoreOfLoss, result: TestResult, *, paired: bool) -> TestResult:
    """The result of a test of a loss, as one of the score.

    Parameters
    ----------
    score : ScoreOfLoss
    result : TestResult
    paired : bool
        Whether it is about the difference of two learners.

    Returns
    -------
    TestResult
    """
    units = _Units(score, paired, result.estimate)
    posterior = result.posterior
    return replace(
        result,
        estimate=units.value(result.estimate),
        null_value=units.value(result.null_value),
        alternative=OTHER_SIDE[result.alternative],
        statistic=_statistic(result, units),
        better="higher",
        rule=None if result.rule is None else Mirrored(result.rule, units.centre),
        posterior=None if posterior is None else _posterior(posterior, units),
        settings=_settings(result.settings, units),
        diagnostics=_diagnostics(result.diagnostics, units),
        tables=dict(units.table(*each) for each in result.tables.items()),
        pictures={kind: units.picture(kind, each) for kind, each in result.pictures.items()},
    )


def row_in_units_of(score: ScoreOfLoss, row: Mapping[str, Any], *, paired: bool) -> dict[str, Any]:
    """A row of a frame with an estimate and its interval, as one of the score."""
    units = _Units(score, paired, row["estimate"])
    ends = {"conf_low": units.value(row["conf_high"]), "conf_high": units.value(row["conf_low"])}
    return {**row, "estimate": units.value(row["estimate"]), **ends}


@dataclass(frozen=True)
class _Units:
    """How values of a loss, or differences of two, become those of a score."""

    score: ScoreOfLoss
    paired: bool
    estimate: float
    """Of the loss."""

    @property
    def centre(self) -> float:
        """What a value and its mirror image add up to."""
        return 0.0 if self.paired else self.score.intercept

    def value(self, value: Any) -> Any:
        return self.score.of(value, paired=self.paired)

    def of_one(self, value: Any) -> Any:
        return self.score.of(value)

    def second_moment(self, value: Any) -> Any:
        """The mean product of two values of the score, from that of the loss."""
        return value - 2 * self.centre * self.estimate + self.centre**2

    def table(
        self, title: str, table: Mapping[str, tuple[Any, ...]]
    ) -> tuple[str, Mapping[str, tuple[Any, ...]]]:
        """A table of a result with its title."""
        found = dict(table)
        if "conf_low" in table and "conf_high" in table:
            found["conf_low"] = _each(self.value, table["conf_high"])
            found["conf_high"] = _each(self.value, table["conf_low"])
        if title == "Learners":
            found["estimate"] = _each(self.of_one, table["estimate"])
        elif title == "Mean losses":
            title, found["estimate"] = "Mean scores", _each(self.value, table["estimate"])
        elif title == "Moments":
            changed = map(self._moment, table["moment"], table["estimate"])
            found["estimate"] = tuple(changed)
        elif title == "Parts":
            found["value"] = tuple(map(self._part, table["part"], table["value"]))
        elif title == "Posterior probabilities":
            found = {name: cells[::-1] for name, cells in table.items()}
            found["region"] = tuple(map(self._region, found["region"]))
        return title, found

    def _moment(self, name: str, value: Any) -> Any:
        return self.second_moment(value) if name in SECOND_MOMENTS else value

    def _part(self, name: str, value: Any) -> Any:
        if name == "P_in":
            return value
        return 0.0 - value if name == "e_gen" else self.of_one(value)

    def _region(self, words: str) -> str:
        """Such as "below -0.01", "-0.01 to 0.01" or "above 0.01"."""
        first, *rest = words.split(" ")
        if first in ("below", "above"):
            other = "above" if first == "below" else "below"
            return f"{other} {self.value(float(rest[0])):g}"
        return f"{self.value(float(rest[-1])):g} to {self.value(float(first)):g}"

    def picture(self, kind: str, picture: Picture) -> Picture:
        if kind not in WITH_ESTIMATES:
            return picture
        layers = [
            replace(each, x=self.value(each.x)[::-1], y=each.y[::-1]) for each in picture.layers
        ]
        return replace(picture, layers=tuple(layers))


def _each(function: Callable[[Any], Any], cells: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(map(function, cells))


def _statistic(result: TestResult, units: _Units) -> float:
    rule: Rule | None = result.rule
    if isinstance(rule, (BinomialCounts, PairedCounts)):
        return float(Mirrored(rule, units.centre).statistic)
    if result.reference in SIGNED:
        return 0.0 - result.statistic
    # The in-sample error of permuted labels, which is no sum of squares.
    return units.value(result.statistic) if "e_in" in result.diagnostics else result.statistic


def _posterior(one: Posterior, units: _Units) -> Posterior:
    return Posterior(one.p_right, one.p_rope, one.p_left, one.rope, units.value(one.rope_center))


def _settings(settings: Mapping[str, Any], units: _Units) -> dict[str, Any]:
    known = dict(settings)
    if known.get("loss") is not None:
        known["loss"] = units.score.name
    if "metric" in known:
        known["metric"] = units.score.name
    if known.get("null_value") is not None:
        known["null_value"] = units.value(known["null_value"])
    if known.get("alternative") is not None:
        known["alternative"] = OTHER_SIDE[known["alternative"]]
    return known


def _diagnostics(known: Mapping[str, Any], units: _Units) -> dict[str, Any]:
    changes: dict[str, Callable[[Any], Any]] = {
        **dict.fromkeys(ESTIMATES, units.value),
        **dict.fromkeys(OF_ONE, units.of_one),
        **dict.fromkeys(CHANGES, lambda value: 0.0 - value),
        **dict.fromkeys(SECOND_MOMENTS, units.second_moment),
    }
    found = {
        name: changes[name](value) if name in changes else value for name, value in known.items()
    }
    if "p_left" in known:
        found["p_left"], found["p_right"] = known["p_right"], known["p_left"]
    return {
        name: np.asarray(value) if isinstance(known[name], np.ndarray) else value
        for name, value in found.items()
    }
