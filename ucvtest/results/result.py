"""The result of a test: an immutable value that reads like a statsmodels result."""

import json
import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ucvtest.common.exceptions import UcvtestWarning
from ucvtest.results.pictures import Picture
from ucvtest.results.serialising import check_written, freeze, from_plain, to_plain
from ucvtest.stats.wald import (
    Alternative,
    ReferenceDistribution,
    reference_distribution,
    wald_interval,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from statsmodels.iolib.summary import Summary

__all__ = ["ConfidenceInterval", "TestResult"]


FORMAT_VERSION = 1


class ConfidenceInterval(NamedTuple):
    """A confidence interval in SciPy's form."""

    low: float
    high: float


# Compared and hashed by identity: NaN equals nothing, and arrays have no single truth value.
@dataclass(frozen=True, eq=False)
class TestResult:
    """Outcome of a hypothesis test about a learning algorithm.

    Unpacks to ``(statistic, pvalue)``. What has no value is NaN, and `status` says why.

    Parameters
    ----------
    estimate : float
        Estimate of the estimand.
    se : float
        Standard error of the estimate, its Monte-Carlo error included.
    variance : float
        Variance estimate of the complete statistic, without the Monte-Carlo error.
    statistic, pvalue : float
        Test statistic and p-value.
    df : float
        Degrees of freedom of the reference distribution; NaN where it has none.
    null_value : float
        Value of the estimand under the null hypothesis; NaN where nothing is tested.
    alternative : {"two-sided", "less", "greater"}
    method : str
        Name of the test.
    estimand : str
        What is estimated, in words.
    reference : {"t", "normal", "none"} or another name
        Distribution that p-value and interval come from.
    status : str
        "ok", or what is wrong and what to do about it.
    n_obs, n_fits : int
        Observations; model fits, each learner and each learning set counted.
    elapsed : float
        Seconds.
    settings : mapping
        All that is needed to repeat the test on the same data.
    diagnostics : mapping
        Further numbers: floats, integers, strings and arrays.
    notes : tuple of str
        Assumptions and caveats, one sentence or two each.
    tables : mapping of str to (mapping of str to tuple)
        Titled tables, column by column, that the summary prints below the main one.
    pictures : mapping of str to Picture
        What `plot` can draw besides the interval, by the name of its kind.

    Examples
    --------
    >>> from ucvtest.results.result import TestResult
    >>> result = TestResult(
    ...     estimate=-0.14, se=0.1, variance=0.01, statistic=-1.4, pvalue=0.16, df=float("nan"),
    ...     null_value=0.0, alternative="two-sided", method="Example", estimand="difference",
    ...     reference="normal", status="ok", n_obs=62, n_fits=400, elapsed=0.5,
    ... )
    >>> statistic, pvalue = result
    >>> print("%.2f, %.2f" % result.conf_int(alpha=0.05))
    -0.34, 0.06
    """

    # pytest would otherwise take the name for a test class.
    __test__ = False

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

    def __post_init__(self) -> None:
        for name in ("settings", "diagnostics", "tables", "pictures"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __reduce__(self) -> tuple[Any, ...]:
        # Mapping proxies cannot be pickled; the dictionary form can.
        return (type(self).from_dict, (self.to_dict(),))

    def __repr__(self) -> str:
        return (
            f"TestResult(method={self.method!r}, estimate={self.estimate:.6g}, se={self.se:.6g}, "
            f"statistic={self.statistic:.6g}, pvalue={self.pvalue:.6g}, status={self.status!r})"
        )

    @property
    def verdict(self) -> str:
        """The answer in one sentence, at the 5% level."""
        from ucvtest.results.wording import verdict

        return verdict(self)

    def conf_int(self, alpha: float = 0.05) -> tuple[float, float]:
        """Confidence interval for the estimand, one-sided for a one-sided alternative.

        Parameters
        ----------
        alpha : float
            One minus the confidence level, in (0, 1).

        Returns
        -------
        tuple of float
            Lower and upper end; both NaN, with a warning that says why, where the result
            has no standard error or no reference distribution.

        Raises
        ------
        ValueError
            If `alpha` is outside (0, 1).
        """
        interval = self._quiet_interval(alpha)
        if self._distribution is None:
            reason = self.status if self.status != "ok" else f"the {self.method} gives none"
            warnings.warn(f"no confidence interval: {reason}", UcvtestWarning, stacklevel=2)
        return interval

    def confidence_interval(self, confidence_level: float = 0.95) -> ConfidenceInterval:
        """`conf_int` in SciPy's spelling: fields ``low`` and ``high``."""
        if not 0 < confidence_level < 1:
            raise ValueError(
                f"confidence_level must lie between 0 and 1, got {confidence_level}: use 0.95"
            )
        return ConfidenceInterval(*self.conf_int(alpha=1 - confidence_level))

    def summary(self, alpha: float = 0.05, *, with_verdict: bool = True) -> "Summary":
        """Summary tables with ``as_text``, ``as_html`` and ``as_latex``, as in statsmodels.

        Parameters
        ----------
        alpha : float
            One minus the confidence level of the interval, and the level of the verdict.
        with_verdict : bool
            Whether the verdict stands below the tables.
        """
        from ucvtest.results.summary import summary

        return summary(self, alpha, with_verdict=with_verdict)

    def summary_frame(self, alpha: float = 0.05) -> "pd.DataFrame":
        """The main numbers as a data frame with one row."""
        import pandas as pd

        low, high = self._quiet_interval(alpha)
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
    def plot_kinds(self) -> tuple[str, ...]:
        """The kinds of picture that `plot` can draw, its default first."""
        kinds = ("interval", *self.pictures)
        has_interval = not all(map(math.isnan, self._quiet_interval(0.05)))
        return kinds if has_interval or not self.pictures else (*self.pictures, "interval")

    def plot(
        self, ax: "Axes | None" = None, alpha: float = 0.05, *, kind: str | None = None
    ) -> "Axes":
        """Draw the result.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        alpha : float
            One minus the confidence level of the interval.
        kind : str, optional
            One of `plot_kinds`: "interval" for estimate, interval and null value, or the name
            of one of `pictures`. By default the interval where there is one.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ValueError
            If `kind` is none of `plot_kinds`, or `alpha` outside (0, 1).
        """
        from ucvtest.results.drawing import plot_result

        return plot_result(self, ax=ax, alpha=alpha, kind=kind)

    def save_plot(
        self,
        path: str | Path,
        *,
        alpha: float = 0.05,
        dpi: float = 150,
        kind: str | None = None,
    ) -> None:
        """Write what `plot` draws to a file, without a display and without pyplot.

        Parameters
        ----------
        path : path
            Its suffix (.png, .pdf, .svg) decides the format.
        alpha : float
            One minus the confidence level of the interval.
        dpi : float
            Pixels per inch, where the format has pixels.
        kind : str, optional
            One of `plot_kinds`, by default the first.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the suffix is none that matplotlib can write, `alpha` is outside (0, 1), or
            the result has no such kind.
        """
        from ucvtest.results.drawing import save_plot

        save_plot(self, path, alpha=alpha, dpi=dpi, kind=kind)

    def to_dict(self) -> dict[str, Any]:
        """A dictionary that `json.dumps` accepts; NaN and infinity become strings."""
        values = {item.name: to_plain(getattr(self, item.name)) for item in fields(self)}
        return {"format": "ucvtest.TestResult", "version": FORMAT_VERSION, **values}

    def to_json(self, **kwargs: Any) -> str:
        """`to_dict` as strict JSON; `kwargs` go to `json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **kwargs)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "TestResult":
        """The result that `to_dict` was called on.

        Raises
        ------
        ValueError
            If `data` was not written by `to_dict`, or by a newer version of it.
        """
        # Results written before pictures existed have none.
        data = {"pictures": {}, **data}
        check_written(data, cls, "result", FORMAT_VERSION)
        values = {item.name: from_plain(data[item.name]) for item in fields(cls)}
        values["pictures"] = {
            kind: Picture.from_dict(picture) for kind, picture in values["pictures"].items()
        }
        values["notes"] = tuple(values["notes"])
        values["tables"] = {
            title: {column: tuple(cells) for column, cells in table.items()}
            for title, table in values["tables"].items()
        }
        return cls(**values)

    @property
    def _distribution(self) -> ReferenceDistribution | None:
        """What the interval comes from; None where there is none."""
        if not math.isfinite(self.se):
            return None
        return reference_distribution(self.reference, self.df)

    def _quiet_interval(self, alpha: float) -> tuple[float, float]:
        """`conf_int` without its warning, for tables that show the status beside it."""
        if not 0 < alpha < 1:
            raise ValueError(f"alpha must lie between 0 and 1, got {alpha}: use 0.05 for 95%")
        return wald_interval(
            self.estimate, self.se, self.reference, self.df, self.alternative, alpha
        )
