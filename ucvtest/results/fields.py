"""The parts of a result: numbers, intervals from them, and its form as JSON."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from ucvtest.common.checks import check_is_float, is_number
from ucvtest.common.exceptions import warn_caller
from ucvtest.common.notes import lines_of, with_lines
from ucvtest.results.plot_data import Picture
from ucvtest.results.serialising import Saved
from ucvtest.stats.interval_rules import Rule, rule_from_dict
from ucvtest.stats.limits import holding, within
from ucvtest.stats.wald import Alternative, wald_interval

if TYPE_CHECKING:
    import pandas as pd

Better = Literal["lower", "higher"]

Contrast = Literal["difference", "ratio"]
CONTRASTS: tuple[Contrast, ...] = ("difference", "ratio")


class ConfidenceInterval(NamedTuple):
    """A confidence interval in SciPy's form."""

    low: float
    high: float


@dataclass(frozen=True)
class Posterior:
    """Posterior probabilities of an estimand, which a Bayesian test gives instead of a p-value.

    Of values below, in and above the region of practical equivalence, whose half width `rope` is 0
    if there is none.
    """

    p_left: float
    p_rope: float
    p_right: float
    rope: float
    rope_center: float


@dataclass(frozen=True, eq=False)
class ResultFields(Saved):
    """The parts of a `TestResult`, for those who put it in words, tables and pictures.

    Parameters and their meaning are those of `ucvtest.TestResult`.
    """

    estimate: float
    se: float
    variance: float
    statistic: float
    pvalue: float
    df: float
    null_value: float
    alternative: Alternative
    method: str
    estimand: str
    reference: str
    status: str
    n_obs: int
    n_fits: int
    elapsed: float
    settings: Mapping[str, Any] = field(default_factory=dict)
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    tables: Mapping[str, Mapping[str, tuple[Any, ...]]] = field(default_factory=dict)
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    # A better learner's estimate is lower (losses) or higher (AUCs): names the sides of zero.
    better: Better = "lower"
    # What the verdict calls the interval, where it is none of confidence.
    interval_name: str = "interval"
    # A clause for the verdict and the summary, where no value of the estimand is tested.
    null_hypothesis: str | None = None
    # What p-value and interval rest on beyond the data; stands behind them in the verdict.
    assumption: str | None = None
    # What the verdict states in the place of a test.
    posterior: Posterior | None = None
    # The rule behind p-value and interval, unless these are plain studentised ones.
    rule: Rule | None = None
    # What a comparison of two learners estimates; of a ratio `se` is that of the logarithm.
    contrast: Contrast = "difference"
    # The smallest and the largest value that the estimand can have: intervals are cut to it.
    bounds: tuple[float, float] = (-math.inf, math.inf)

    # Results of former versions do not have it, and can be read.
    _later: ClassVar[Mapping[str, Any]] = {"bounds": [-math.inf, math.inf]}

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __repr__(self) -> str:
        low, high = quiet_interval(self, 0.05)
        interval = "" if math.isnan(low) else f"conf_int=({low:.6g}, {high:.6g}), "
        return (
            f"{type(self).__name__}("
            f"method={self.method!r}, estimate={self.estimate:.6g}, {interval}se={self.se:.6g}, "
            f"statistic={self.statistic:.6g}, pvalue={self.pvalue:.6g}, status={self.status!r})"
        )

    def conf_int(self, alpha: float = 0.05) -> tuple[float, float]:
        """Confidence interval for the estimand, one-sided for a one-sided alternative.

        Parameters
        ----------
        alpha : float
            One minus the confidence level, in (0, 1).

        Returns
        -------
        tuple of float
            Lower and upper end; both NaN, with a warning that says why, if the method or this
            result gives no interval. The p-value is at most `alpha` exactly when the interval of
            the method leaves out the null value. Limits beyond `bounds`, what the estimand can be,
            are cut; p-values stay. An interval that leaves out its estimate is extended to it.

        Raises
        ------
        ValueError
            If `alpha` is outside (0, 1).
        """
        interval = quiet_interval(self, alpha)
        if math.isnan(interval[0]):
            reason = self.status if self.status != "ok" else f"the {self.method} gives none"
            warn_caller(f"no confidence interval: {reason}")
        return interval

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """`conf_int` in SciPy's spelling: fields ``low`` and ``high``."""
        check_is_float("confidence_level", confidence_level, "0.95")
        if not is_number(confidence_level) or not 0 < confidence_level < 1:
            raise ValueError(
                f"confidence_level must lie between 0 and 1, got {confidence_level!r:.60}: use 0.95"
            )
        return ConfidenceInterval(*self.conf_int(alpha=1 - confidence_level))

    def summary_frame(self, alpha: float = 0.05) -> "pd.DataFrame":
        """The main numbers as a data frame with one row."""
        import pandas as pd

        low, high = quiet_interval(self, alpha)
        row = {
            "estimate": self.estimate,
            "se": self.se,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "df": self.df,
            "conf_low": low,
            "conf_high": high,
            "null_value": self.null_value,
            "alternative": self.alternative,
            "method": self.method,
            "n_obs": self.n_obs,
            "n_fits": self.n_fits,
            "status": self.status,
        }
        return pd.DataFrame([row])

    @property
    def same(self) -> float:
        """What the contrast is where two learners are equally good."""
        return 1.0 if self.contrast == "ratio" else 0.0

    @property
    def plot_kinds(self) -> tuple[str, ...]:
        """The kinds of picture that `plot` can draw, its default first."""
        kinds = ("interval", *self.pictures)
        has_interval = not all(map(math.isnan, quiet_interval(self, 0.05)))
        return kinds if has_interval or not self.pictures else (*self.pictures, "interval")

    def _plain(self) -> dict[str, Any]:
        """The fields, and next to the notes the lines of those that have one."""
        lines = lines_of(self.notes)
        return {**super()._plain(), **({"note_lines": lines} if lines else {})}

    @classmethod
    def _values(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        values = super()._values(data)
        if values["posterior"] is not None:
            values["posterior"] = Posterior(**values["posterior"])
        if values["rule"] is not None:
            values["rule"] = rule_from_dict(values["rule"])
        values["pictures"] = {
            kind: Picture.from_dict(picture) for kind, picture in values["pictures"].items()
        }
        values["notes"] = with_lines(values["notes"], data.get("note_lines", {}))
        low, high = values["bounds"]
        values["bounds"] = (float(low), float(high))
        values["tables"] = {
            title: {column: tuple(cells) for column, cells in table.items()}
            for title, table in values["tables"].items()
        }
        return values


def quiet_interval(result: ResultFields, alpha: float) -> tuple[float, float]:
    """The interval of `conf_int` without its warning, for output that shows the status next to it.

    Whatever the method gives, it contains the estimate and lies within the possible values.
    """
    interval = method_interval(result, alpha)
    return within(holding(interval, result.estimate, result.alternative, alpha), result.bounds)


def method_interval(result: ResultFields, alpha: float) -> tuple[float, float]:
    """The interval that the method gives."""
    check_alpha(alpha)
    if result.rule is not None:
        return result.rule.interval(result.alternative, alpha)
    return wald_interval(
        result.estimate, result.se, result.reference, result.df, result.alternative, alpha
    )


def check_alpha(alpha: float) -> None:
    """Refuse levels outside of (0, 1)."""
    check_is_float("alpha", alpha, "0.05")
    if not is_number(alpha) or not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, got {alpha!r:.60}: use 0.05 for 95%")
