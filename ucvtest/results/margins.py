"""Is it as good? Equivalence and noninferiority, from the interval of a result."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from ucvtest.common.checks import Between, check_number, declared, is_number
from ucvtest.common.words import arg, call, excerpt
from ucvtest.results.citations import papers_behind
from ucvtest.results.fields import quiet_interval
from ucvtest.results.result import TestResult
from ucvtest.results.serialising import Saved, to_plain
from ucvtest.results.text_tables import Printed, Tables
from ucvtest.results.wording import named, percent, pvalue_text
from ucvtest.stats.wald import Alternative, wald_pvalue

if TYPE_CHECKING:
    from ucvtest.results.summary_tables import TableSummary

Decision = Literal["pass", "fail", "undecided"]

TWO_ONE_SIDED = "schuirmann1987"
"""The paper of the two one-sided tests."""


@dataclass(frozen=True, eq=False)
class _MarginResult(Printed, Saved):
    """What both answers say of the result that they were read from."""

    pvalue: float
    alpha: float
    estimate: float
    conf_low: float
    conf_high: float
    estimand: str
    method: str
    status: str
    citation_keys: tuple[str, ...] = field(default=(), kw_only=True)

    title: ClassVar[str]
    claims: ClassVar[Mapping[Decision, str]]
    """What each decision says, with the fields of `self` to be filled in."""

    @property
    def conf_int(self) -> tuple[float, float]:
        """The interval of level 1 - 2 alpha, which goes with one-sided tests at alpha."""
        return self.conf_low, self.conf_high

    @property
    def _fails(self) -> bool:
        """Whether the whole interval lies where it is too bad."""
        raise NotImplementedError

    @property
    def _numbers(self) -> list[tuple[str, str]]:
        """The question, as rows of the summary."""
        raise NotImplementedError

    @property
    def decision(self) -> Decision:
        """What a gate needs: "pass", "fail" (all of the interval is too bad), or "undecided"."""
        if self.pvalue <= self.alpha:
            return "pass"
        return "fail" if self._fails else "undecided"

    @property
    def verdict(self) -> str:
        """The answer in words."""
        if math.isnan(self.pvalue):
            return f"Undecided: {self.status.rstrip('.')}."
        claim = self.claims[self.decision].format(self=self)
        level = percent(1 - 2 * self.alpha)
        return (
            f"{claim} at the {percent(self.alpha)} level: the "
            f"{self.estimand} is {self.estimate:.3g} ({level} interval {self.conf_low:.3g} to "
            f"{self.conf_high:.3g}, p {pvalue_text(self.pvalue, self.alpha)})."
        )

    def summary(self, *, with_verdict: bool = True) -> "TableSummary":
        """A table and the verdict: ``as_text``, ``as_html`` and ``as_latex``, as in statsmodels."""
        return self._summary(with_verdict=with_verdict)

    def _tables(self, *, with_verdict: bool = True, **options: Any) -> Tables:
        rows = [
            *self._numbers,
            ("Estimate", f"{self.estimate:.4g}"),
            (f"{percent(1 - 2 * self.alpha)} interval", _range(self.conf_low, self.conf_high)),
            ("p-value", f"{self.pvalue:.4f}"),
            ("Estimand", self.estimand),
            ("From", self.method),
        ]
        return Tables(self.title, rows, verdict=self.verdict, with_verdict=with_verdict)

    @classmethod
    def _values(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {**super()._values(data), "citation_keys": tuple(data["citation_keys"])}

    def _plain(self) -> dict[str, Any]:
        """The fields, with what follows from them."""
        derived_values = {
            "decision": self.decision,
            "verdict": self.verdict,
            "conf_int": to_plain(self.conf_int),
        }
        return super()._plain() | derived_values


@dataclass(frozen=True, eq=False)
class EquivalenceResult(_MarginResult):
    """Whether an estimand lies between two bounds: two one-sided tests (Schuirmann 1987).

    Parameters
    ----------
    pvalue : float
        The larger one of both tests; NaN where the result has no interval.
    alpha : float
        Level of each test.
    estimate, conf_low, conf_high : float
        The estimate with its interval of level 1 - 2 alpha, which lies within the bounds exactly
        where both tests reject.
    estimand, method, status : str
        Of the result.
    low, high : float
        The bounds.
    pvalue_low, pvalue_high : float
        Of the hypotheses that the estimand is at most `low`, and at least `high`.
    citation_keys : tuple of str
        Of the papers behind the result, and of this one; `ucvtest.cite` shows them.
    """

    low: float
    high: float
    pvalue_low: float
    pvalue_high: float

    title: ClassVar[str] = "Equivalence: two one-sided tests"
    claims: ClassVar[Mapping[Decision, str]] = {
        "pass": "Equivalent (within {self.low:g} to {self.high:g})",
        "fail": "Not equivalent (outside {self.low:g} to {self.high:g})",
        "undecided": "Equivalence (within {self.low:g} to {self.high:g}) is undecided",
    }

    @property
    def _fails(self) -> bool:
        return self.conf_low > self.high or self.conf_high < self.low

    @property
    def _numbers(self) -> list[tuple[str, str]]:
        one_sided_pvalues = (self.pvalue_low, self.pvalue_high)
        return [
            ("Bounds", _range(self.low, self.high)),
            (
                "One-sided p-values",
                " and ".join(f"{one_sided_pvalue:.4f}" for one_sided_pvalue in one_sided_pvalues),
            ),
        ]


@dataclass(frozen=True, eq=False)
class NoninferiorityResult(_MarginResult):
    """Whether the first learner is at most so much worse than the second, or than a given value.

    Parameters
    ----------
    pvalue : float
        One-sided, of the hypothesis that it is worse by the margin or more; NaN where the result
        has no interval.
    alpha : float
        Its level.
    estimate, conf_low, conf_high : float
        The estimate with its interval of level 1 - 2 alpha.
    estimand, method, status : str
        Of the result.
    margin : float
        As it was asked for: a difference, or a ratio above 1.
    bound : float
        The value of the estimand that the margin stands for.
    better : {"lower", "higher"}
        What a good learner's estimate is.
    subject : str
        Who must not be worse.
    citation_keys : tuple of str
        Of the papers behind the result; `ucvtest.cite` shows them.
    """

    margin: float
    bound: float
    better: str
    subject: str

    title: ClassVar[str] = "Noninferiority: a one-sided test"
    claims: ClassVar[Mapping[Decision, str]] = {
        "pass": "Noninferior: the {self.subject} is not worse by more than {self.margin:g}",
        "fail": "Inferior: the {self.subject} is worse by more than {self.margin:g}",
        "undecided": (
            "It is undecided whether the {self.subject} is worse by more than {self.margin:g}"
        ),
    }

    @property
    def _fails(self) -> bool:
        if self.better == "lower":
            return self.conf_low > self.bound
        return self.conf_high < self.bound

    @property
    def _numbers(self) -> list[tuple[str, str]]:
        noninferior_side = "below" if self.better == "lower" else "above"
        return [
            ("Margin", f"{self.margin:g}"),
            ("To be shown", f"estimand {noninferior_side} {self.bound:g}"),
        ]


def equivalence(
    result: TestResult, low: float, high: float, *, alpha: float = 0.05
) -> EquivalenceResult:
    """As `ucvtest.TestResult.equivalence` says."""
    common_fields = _common(result, alpha, "equivalence")
    for name, value in (("low", low), ("high", high)):
        check_number(name, value)
    if not low < high:
        raise ValueError(f"low must be below high, got {low:g} and {high:g}: swap them")
    above = _pvalue(result, "low", float(low), "greater")
    below = _pvalue(result, "high", float(high), "less")
    common_fields["citation_keys"] += (TWO_ONE_SIDED,)
    return EquivalenceResult(
        **common_fields,
        pvalue=max(above, below) if above == above else math.nan,
        low=float(low),
        high=float(high),
        pvalue_low=above,
        pvalue_high=below,
    )


def noninferiority(
    result: TestResult, margin: float, *, alpha: float = 0.05
) -> NoninferiorityResult:
    """As `ucvtest.TestResult.noninferiority` says."""
    common_fields = _common(result, alpha, "noninferiority")
    least_margin, units = (1, "a ratio above 1") if result.contrast == "ratio" else (0, "above 0")
    if not is_number(margin) or not margin > least_margin:
        raise ValueError(f"{arg('margin')} must be {units}, got {excerpt(margin)}")
    paired = result.settings.get("other") is not None
    centre = result.same if paired else result.null_value
    if math.isnan(centre):
        raise ValueError(
            "noninferiority compares with something, but this result is about one learner: pass "
            f"{arg('null_value')} to the test, or ask for equivalence(low, high)"
        )
    if result.contrast == "ratio":
        bound = float(margin)
    else:
        bound = centre + margin if result.better == "lower" else centre - margin
    alternative: Alternative = "less" if result.better == "lower" else "greater"
    return NoninferiorityResult(
        **common_fields,
        pvalue=_pvalue(result, "margin", bound, alternative),
        margin=float(margin),
        bound=float(bound),
        better=result.better,
        subject=named(result, "first") if paired else "learner",
    )


def _common(result: TestResult, alpha: Any, question_name: str) -> dict[str, Any]:
    """What both answers say of the result, which must be one that has an interval."""
    declared("alpha", alpha, Annotated[float, Between(0, 0.5)], 0.05)
    if result.interval_name == "credible interval":
        raise ValueError(
            f"{question_name} is not a question for the {result.method}: pass {arg('rope')} to the "
            "test, and read the posterior probability of that region"
        )
    interval = quiet_interval(replace(result, alternative="two-sided"), 2 * alpha)
    if math.isnan(interval[0]) and result.status == "ok":
        raise ValueError(
            f"{question_name} needs an interval, which the {result.method} does not give: use a "
            f"test with one, such as {call('UStatisticTest')}"
        )
    return {
        "alpha": float(alpha),
        "estimate": result.estimate,
        "conf_low": interval[0],
        "conf_high": interval[1],
        "estimand": result.estimand,
        "method": result.method,
        "status": result.status,
        "citation_keys": tuple(paper.key for paper in papers_behind([result])),
    }


def _pvalue(result: TestResult, name: str, bound: float, alternative: Alternative) -> float:
    """One-sided p-value of the hypothesis that the estimand is on the other side of the bound."""
    lower_bound, upper_bound = result.bounds
    rule_pvalue = math.nan if result.rule is None else result.rule.pvalue(bound, alternative)
    if not lower_bound <= bound <= upper_bound or (
        result.rule is not None and math.isnan(rule_pvalue)
    ):
        # A smaller margin is nearer to the centre, whichever side the bound is on.
        too_low = name != "margin" and bound < result.estimate
        raise ValueError(
            f"{arg(name)} stands for {bound:g}, which is not a value that the {result.estimand} "
            f"can have: use a {'larger' if too_low else 'smaller'} one"
        )
    if result.rule is not None:
        return rule_pvalue
    if not result.se > 0:
        return math.nan
    statistic = (result.estimate - bound) / result.se
    return wald_pvalue(statistic, result.reference, result.df, alternative)


def _range(low: float, high: float) -> str:
    return f"{low:.4g} to {high:.4g}"
