"""The result of a test: an immutable value that reads like a statsmodels result."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ucvtest.common.checks import Level, declared, named_options
from ucvtest.common.exceptions import warn_caller
from ucvtest.common.notes import in_brief
from ucvtest.common.words import excerpt
from ucvtest.results.fields import Better, ConfidenceInterval, Contrast, Posterior, quiet_interval
from ucvtest.results.plot_data import Picture
from ucvtest.results.serialising import Saved
from ucvtest.results.text_tables import Outcome, Tables
from ucvtest.stats.interval_rules import Rule, rule_from_dict
from ucvtest.stats.wald import Alternative

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ucvtest.results.margins import EquivalenceResult, NoninferiorityResult


@dataclass(frozen=True, eq=False)
class TestResult(Outcome, Saved):
    """Outcome of a hypothesis test about a learning algorithm.

    Unpacks to ``(statistic, pvalue)``. Numbers without a value are NaN, and `status` says why.

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
        Degrees of freedom of the reference distribution, or NaN.
    null_value : float
        Value of the estimand under the null hypothesis; NaN where nothing is tested.
    alternative : {"two-sided", "less", "greater"}
    method : str
        Name of the test.
    estimand : str
        The estimand in words.
    reference : {"t", "normal", "none"} or another name
        Distribution that p-value and interval come from.
    status : str
        "ok", or the problem and the remedy.
    n_obs, n_fits : int
        Observations; model fits, each learner and each learning set counted.
    elapsed : float
        Seconds.
    settings : mapping
        All that is needed to repeat the test on the same data.
    diagnostics : mapping
        Further numbers: floats, integers, strings and arrays. For two learners the estimates of
        each alone: "estimate_learner", "estimate_other", "se_learner", "se_other"; NaN where the
        method has no standard error.
    notes : tuple of str
        Assumptions and caveats, one sentence or two each.
    tables : mapping of str to (mapping of str to tuple)
        Titled tables, column by column, that the summary prints below the main one; "Learners"
        has the estimates of each of two learners alone.
    pictures : mapping of str to Picture
        Further pictures that `plot` can draw, by the name of their kind.
    better : {"lower", "higher"}
        What a good learner's estimate is: "lower" for a loss, "higher" for an AUC.
    interval_name : str
        What the interval is called, "credible interval" for example.
    null_hypothesis : str, optional
        The null hypothesis in words, if it is not a value of the estimand.
    assumption : str, optional
        What p-value and interval rest on beyond the data, in words.
    posterior : Posterior, optional
        Posterior probabilities, which Bayesian tests give in the place of a p-value.
    rule : object of ucvtest.stats, optional
        The source of p-value and interval if these are not plain studentised ones: the counts of
        an exact test, a share of rows in clusters or with Wilson's interval, an AUC on the logit
        scale, an error rate or a difference with observations added, a mean loss with its skewness
        taken out, the logarithm of a ratio, or a scale on which the standard error does not move
        with the estimate.
    contrast : {"difference", "ratio"}
        What a comparison of two learners estimates. Of a ratio `se` and `variance` are those of its
        logarithm.
    bounds : tuple of float
        The smallest and the largest value that the estimand can have, infinite where that is not
        known. Intervals are cut to it.

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
        declared("confidence_level", confidence_level, Level, 0.95)
        return ConfidenceInterval(*self.conf_int(alpha=1 - confidence_level))

    def summary_frame(self, alpha: float = 0.05) -> "pd.DataFrame":
        """The main numbers as a data frame with one row."""
        import pandas as pd

        low, high = quiet_interval(self, alpha)
        first = ("estimate", "se", "statistic", "pvalue", "df")
        last = ("null_value", "alternative", "method", "n_obs", "n_fits", "status")
        row = {name: getattr(self, name) for name in first}
        row |= {"conf_low": low, "conf_high": high}
        row |= {name: getattr(self, name) for name in last}
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

    @property
    def verdict(self) -> str:
        """The answer in one sentence, at the 5% level."""
        return self.verdict_at(0.05)

    def verdict_at(self, alpha: float) -> str:
        """The answer in one sentence, at the level `alpha`, with the interval of level 1 - alpha.

        Examples
        --------
        >>> import ucvtest as uv
        >>> y, rule = [0, 1] * 40, [0, 1] * 36 + [1, 0] * 4
        >>> losses = uv.Losses.from_predictions(y, {"rule": rule})
        >>> uv.HoldOutTest.from_losses(losses).fit().verdict_at(0.1)[:43]
        'The error rate of this rule is 0.100 (90% i'
        """
        from ucvtest.results.wording import verdict

        return verdict(self, alpha)

    def methods_text(self) -> str:
        """A paragraph for the methods section of a paper, from the parts of this result.

        It names learners, sizes, loss, estimand, test, design, variance, interval, fits, version
        and seed, and cites by the keys of `ucvtest.cite`.

        Examples
        --------
        >>> import ucvtest as uv
        >>> losses = uv.Losses.from_predictions([0, 1] * 9, {"a": [0, 1] * 9, "b": [0] * 18})
        >>> print(uv.McNemarTest.from_losses(losses).fit().methods_text()[:57])
        The error rates of a (first) and b (second) were compared
        """
        from ucvtest.results.methods_text import methods_text

        return methods_text(self)

    @named_options
    def equivalence(
        self, low: float, high: float | None = None, *, alpha: float = 0.05
    ) -> "EquivalenceResult":
        """Whether the estimand lies between two bounds: two one-sided tests (Schuirmann 1987).

        Parameters
        ----------
        low, high : float
            In the units of the estimand; of a ratio, ratios. Choose them before looking.
        alpha : float
            Level of each one-sided test.

        Returns
        -------
        EquivalenceResult
            Passes where the interval of level 1 - 2 alpha lies between the bounds.

        Raises
        ------
        ValueError
            If bounds or level cannot be used, or the test is one without an interval.

        See Also
        --------
        BayesianTTest : the posterior probability of a region of practical equivalence (`rope`).

        Notes
        -----
        The p-value is the larger one of both tests, each by what the interval comes from; of a
        plain t interval it is that of ``statsmodels.stats.weightstats.ttost_paired``. A
        difference that is not significant is not evidence of equivalence; this test gives it.

        Examples
        --------
        >>> import ucvtest as uv
        >>> y, rule = [0, 1] * 40, [0, 1] * 38 + [1, 0] * 2
        >>> losses = uv.Losses.from_predictions(y, {"a": rule, "b": y})
        >>> uv.McNemarTest.from_losses(losses).fit().equivalence(-0.2, 0.2).decision
        'pass'
        """
        from ucvtest.results.margins import equivalence

        if high is None:
            raise ValueError(
                f"equivalence needs two bounds, low and high, got {excerpt(low)} alone: pass both, "
                "as in equivalence(-0.05, 0.05), or for a ratio equivalence(0.8, 1.25)"
            )
        return equivalence(self, low, high, alpha=alpha)

    @named_options
    def noninferiority(self, margin: float, *, alpha: float = 0.05) -> "NoninferiorityResult":
        """Whether the first learner is worse than the second by less than a margin.

        Parameters
        ----------
        margin : float
            Above 0. H1 is a difference below `margin` for losses, and above ``-margin`` where
            higher is better (AUCs, scores); for a ratio, above 1, a ratio below `margin`. One
            learner is compared with the `null_value` of its test. Choose it before looking.
        alpha : float
            Level of the one-sided test.

        Returns
        -------
        NoninferiorityResult
            Its `decision` is "pass" where the interval of level 1 - 2 alpha lies on the good side
            of the margin, "fail" where it lies wholly beyond, else "undecided".

        Raises
        ------
        ValueError
            If margin or level cannot be used, or the test is one without an interval.
        """
        from ucvtest.results.margins import noninferiority

        return noninferiority(self, margin, alpha=alpha)

    @property
    def statistic_note(self) -> str:
        """Why the statistic is not estimate over standard error; "" where it is, or there is none.

        Examples
        --------
        >>> import ucvtest as uv
        >>> y, score = [0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 6, 4, 5, 7, 8]
        >>> losses = uv.Losses.from_predictions(y, {"score": score}, loss="auc")
        >>> uv.DeLongTest.from_losses(losses).fit().statistic_note
        'z is not (estimate - null value) / std err: the test is made on the logit scale.'
        """
        from ucvtest.results.summary import statistic_note

        return statistic_note(self)

    def _tables(self, **options: Any) -> Tables:
        from ucvtest.results.summary import tables

        return tables(self, **options)

    def notes_in_brief(self) -> list[str]:
        """The lines below a printed verdict: at most three notes, then how many more there are."""
        from ucvtest.results.summary import all_notes

        return in_brief(all_notes(self, 0.05))

    def plot(
        self, ax: "Axes | None" = None, alpha: float = 0.05, *, kind: str | None = None
    ) -> "Axes":
        """Draw the result.

        Where it has a table "Variances", the intervals that the other variance estimators
        give are drawn below its own, at the 95% level of that table.

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
        from ucvtest.results.drawing import picture_of

        return picture_of(self, alpha, kind).on(ax)

    def save_plot(
        self, path: str | Path, *, alpha: float = 0.05, dpi: float = 150, kind: str | None = None
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
        from ucvtest.results.drawing import picture_of

        picture_of(self, alpha, kind).write(path, dpi)

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
        low, high = values["bounds"]
        values["bounds"] = (float(low), float(high))
        values["tables"] = {
            title: {column: tuple(cells) for column, cells in table.items()}
            for title, table in values["tables"].items()
        }
        return values


def was_interrupted(result: TestResult) -> bool:
    """Whether it is the answer of the fits that were done before an interrupt."""
    return bool(result.diagnostics.get("interrupted", False))


def uninterrupted(result: TestResult) -> TestResult:
    """The result, where it is a part of a computation that an interrupt ends as a whole."""
    if was_interrupted(result):
        raise KeyboardInterrupt
    return result
