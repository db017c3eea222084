"""Results about a loss in the units that were asked for: of a score, or of costs.

Tests compute with losses, because methods know more about them: that they are 0 or 1, that they are
skewed to the right. Here, and nowhere else, their results change into those of the score, which are
a mirror image, or into costs; p-values stay.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ucvtest.metrics.base import Units
from ucvtest.results.fields import Posterior
from ucvtest.results.plot_data import Picture
from ucvtest.results.result import TestResult
from ucvtest.stats.exact import BinomialCounts, PairedCounts
from ucvtest.stats.interval_rules import ChangedUnits
from ucvtest.stats.shares import EffectiveCounts
from ucvtest.stats.wald import OTHER_SIDE

ESTIMATES = (
    *("mean", "fold_means", "resample_means", "half_means", "mean_inner", "mean_outer"),
    *("estimate_power_1.5", "rope_center", "e_in_permuted"),
)
"""Diagnostics that are values of the estimand."""

OF_ONE = ("estimate_learner", "estimate_other", "e_in")
"""Diagnostics that are values of one learner."""

CHANGES = ("bias", "e_gen", "influence", "term_1", "term_2", "term_3")
"""Diagnostics that are differences of such values."""

SPREADS = (
    *("se_learner", "se_other", "mc_se_estimate", "naive_se", "rope"),
    "mc_se_e_in_permuted",
)
"""Diagnostics that are distances between such values."""

SQUARES = (
    *("variances", "mc_se_variance", "mc_bias_variance", "naive_variance", "mse", "mc_se_mse"),
    *("variance_few", "variance_of_testing", "variance_of_learning"),
    *("variance_midpoint", "variance_clipped", "variance_jackknife", "variance_unbiased"),
    *("variance_asymptotic", "variance_geometric", "variance_uncorrected", "pair_effects"),
    *("variance_independent", "lambda1", "lambda2", "lambda3", "admissible_low"),
    *("admissible_high", "sigma_squared", "omega", "gamma", "variance_influence"),
    *("variance_share", "variance_term_1", "variance_adhoc_1", "variance_adhoc_2"),
    *("variance_adhoc_3", "variance_adhoc_3_mle", "variance_adhoc_monte_carlo"),
)
"""Diagnostics that are variances or covariances."""

SECOND_MOMENTS = ("s1", "s2", "s3", "theta_squared")
"""Diagnostics that are mean products of two values."""

WITH_ESTIMATES = ("posterior", "null distribution")
"""Pictures that have values of the estimand from left to right."""

SIGNED = ("t", "normal", "none")
"""Reference distributions of statistics with a sign."""


def in_units_of(reported_units: Units, result: TestResult, *, paired: bool) -> TestResult:
    """The result of a test of a loss in the units that were asked for.

    Parameters
    ----------
    reported_units : Units
    result : TestResult
    paired : bool
        Whether it is about the difference of two learners.

    Returns
    -------
    TestResult
    """
    units = _Change(reported_units, paired, result.estimate)
    posterior, rule, statistic = result.posterior, result.rule, result.statistic
    if isinstance(rule, (BinomialCounts, PairedCounts, EffectiveCounts)):
        statistic = float(ChangedUnits(rule, units.shift, reported_units.slope).statistic)
    elif result.reference in SIGNED:
        statistic = float(units.odd(statistic))
    elif "e_in" in result.diagnostics:
        # The in-sample error of permuted labels, which is not a sum of squares.
        statistic = units.value(statistic)
    if posterior is not None:
        outside_rope = (posterior.p_left, posterior.p_right)
        p_left, p_right = outside_rope[::-1] if units.reverses else outside_rope
        rope, center = units.distance(posterior.rope), units.value(posterior.rope_center)
        posterior = Posterior(p_left, posterior.p_rope, p_right, rope, center)
    return replace(
        result,
        estimate=units.value(result.estimate),
        se=units.distance(result.se),
        variance=units.square(result.variance),
        null_value=units.value(result.null_value),
        alternative=OTHER_SIDE[result.alternative] if units.reverses else result.alternative,
        statistic=statistic,
        better="higher" if units.reverses else result.better,
        rule=None if rule is None else ChangedUnits(rule, units.shift, reported_units.slope),
        posterior=posterior,
        settings=_settings(result.settings, units),
        diagnostics=_diagnostics(result.diagnostics, units),
        tables=dict(units.table(*title_and_table) for title_and_table in result.tables.items()),
        pictures={kind: units.picture(kind, picture) for kind, picture in result.pictures.items()},
    )


@dataclass(frozen=True)
class _Change:
    """How values of a loss, or differences of two, become those that are reported."""

    reported: Units
    paired: bool
    estimate: float
    """Of the loss."""

    @property
    def shift(self) -> float:
        return 0.0 if self.paired else self.reported.intercept

    @property
    def reverses(self) -> bool:
        """Whether the reported number rises where the loss falls."""
        return self.reported.greater_is_better

    def value(self, value: Any) -> Any:
        return self.reported.of(value, paired=self.paired)

    def of_one(self, value: Any) -> Any:
        return self.reported.of(value)

    def change(self, value: Any) -> Any:
        return 0.0 + self.reported.slope * value

    def distance(self, value: Any) -> Any:
        return abs(self.reported.slope) * value

    def square(self, value: Any) -> Any:
        return self.reported.slope**2 * value

    def second_moment(self, value: Any) -> Any:
        """The mean product of two reported values, from that of two losses."""
        mixed = 2 * self.shift * self.reported.slope * self.estimate
        return self.square(value) + mixed + self.shift**2

    def odd(self, value: Any) -> Any:
        """A number without units that has the sign of the loss."""
        return 0.0 - value if self.reverses else value

    def per_unit(self, value: Any) -> Any:
        return 0.0 + value / self.reported.slope

    def ends(self, low: Any, high: Any) -> tuple[Any, Any]:
        changed_interval = self.value(low), self.value(high)
        return changed_interval[::-1] if self.reverses else changed_interval

    def table(
        self, title: str, table: Mapping[str, tuple[Any, ...]]
    ) -> tuple[str, Mapping[str, tuple[Any, ...]]]:
        """A table of a result with its title."""
        changed_table = dict(table)
        if "conf_low" in table and "conf_high" in table:
            pairs = map(self.ends, table["conf_low"], table["conf_high"])
            changed_table["conf_low"], changed_table["conf_high"] = zip(*pairs, strict=True)
        if "se" in table:
            changed_table["se"] = _changed_cells(self.distance, table["se"])
        if title == "Learners":
            changed_table["estimate"] = _changed_cells(self.of_one, table["estimate"])
        elif title == "Mean losses":
            title = "Mean scores" if self.reverses else title
            changed_table["estimate"] = _changed_cells(self.value, table["estimate"])
        elif title == "Moments":
            changed_table["estimate"] = tuple(
                self.second_moment(value) if name in SECOND_MOMENTS else self.square(value)
                for name, value in zip(table["moment"], table["estimate"], strict=True)
            )
        elif title == "Parts":
            values, errors = list(table["value"]), list(table["mc_se"])
            for place, name in enumerate(table["part"]):
                # P_in is a share, and has no units.
                if name != "P_in":
                    of_part = self.change if name == "e_gen" else self.of_one
                    values[place] = of_part(values[place])
                    errors[place] = self.distance(errors[place])
            changed_table |= {"value": tuple(values), "mc_se": tuple(errors)}
        elif title == "Posterior probabilities":
            step = -1 if self.reverses else 1
            changed_table = {name: cells[::step] for name, cells in table.items()}
            changed_table["region"] = tuple(map(self._region, changed_table["region"]))
        elif "estimate" in table:
            # Tables of variances.
            for name in {"estimate", "mc_se"} & set(table):
                changed_table[name] = _changed_cells(self.square, table[name])
        return title, changed_table

    def _region(self, region_text: str) -> str:
        """Such as "below -0.01", "-0.01 to 0.01" or "above 0.01"."""
        first, *further_words = region_text.split(" ")
        if first in ("below", "above"):
            other = {"below": "above", "above": "below"}[first] if self.reverses else first
            return f"{other} {self.value(float(further_words[0])):g}"
        low, high = self.ends(float(first), float(further_words[-1]))
        return f"{low:g} to {high:g}"

    def picture(self, kind: str, picture: Picture) -> Picture:
        if kind not in WITH_ESTIMATES:
            return picture
        step = -1 if self.reverses else 1
        layers = [
            replace(
                layer,
                x=self.value(layer.x)[::step],
                y=layer.y[::step],
                width=None if layer.width is None else self.distance(layer.width),
            )
            for layer in picture.layers
        ]
        return replace(picture, layers=tuple(layers))


def _changed_cells(change: Callable[[Any], Any], cells: tuple[Any, ...]) -> tuple[Any, ...]:
    # The cells of errors that nobody knows are None.
    return tuple(None if cell is None else change(cell) for cell in cells)


def _settings(settings: Mapping[str, Any], units: _Change) -> dict[str, Any]:
    changed_settings = dict(settings)
    for name in ("loss", "metric"):
        if changed_settings.get(name) is not None:
            changed_settings[name] = units.reported.name
    if changed_settings.get("null_value") is not None:
        changed_settings["null_value"] = units.value(changed_settings["null_value"])
    if changed_settings.get("rope") is not None:
        changed_settings["rope"] = units.distance(changed_settings["rope"])
    if changed_settings.get("alternative") is not None and units.reverses:
        changed_settings["alternative"] = OTHER_SIDE[changed_settings["alternative"]]
    return changed_settings


def _diagnostics(diagnostics: Mapping[str, Any], units: _Change) -> dict[str, Any]:
    changes: dict[str, Callable[[Any], Any]] = {
        **dict.fromkeys(ESTIMATES, units.value),
        **dict.fromkeys(OF_ONE, units.of_one),
        **dict.fromkeys(CHANGES, units.change),
        **dict.fromkeys(SPREADS, units.distance),
        **dict.fromkeys(SQUARES, units.square),
        **dict.fromkeys(SECOND_MOMENTS, units.second_moment),
        "skewness": units.odd,
        "slope": units.per_unit,
        **dict.fromkeys(("se_slope", "mc_se_slope"), lambda value: abs(units.per_unit(value))),
    }
    changed_diagnostics = {
        name: changes[name](value) if name in changes else value
        for name, value in diagnostics.items()
    }
    if "p_left" in diagnostics and units.reverses:
        changed_diagnostics["p_left"], changed_diagnostics["p_right"] = (
            diagnostics["p_right"],
            diagnostics["p_left"],
        )
    return changed_diagnostics
