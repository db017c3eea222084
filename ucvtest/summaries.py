"""A result in words: the verdict and the summary tables.

Everything is read from the fields of a `TestResult`, so that each test is summarised by
the same code. Keys that are used where they exist: ``settings["learner"]``, ``["other"]``,
``["loss"]``, ``["learn_size"]``; ``diagnostics["variance"]`` (name of the variance
estimator), ``["mc_se_estimate"]``, ``["mc_se_variance"]``, ``["mc_se_pvalue"]``,
``["null_hypothesis"]``, a clause that says what is tested where that is no value of the
estimand, and ``["better"]``, "lower" (the default, for losses) or "higher" (for AUC), which
says what a good learner's estimate is. ``["interval_name"]`` names the interval where it is no
confidence interval; ``["p_left"]``, ``["p_rope"]``, ``["p_right"]`` are posterior probabilities of
the two sides of ``["rope_center"]`` and of all within ``["rope"]`` of it, which the verdict then
states in the place of a test. A reference other than "normal", "t" and "none" is the
name of a null distribution: such a result has a p-value, and no standard error or interval to
show.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ucvtest.grids import (
    Grid,
    GridSummary,
    decimals_of,
    escape_markdown,
    hanging,
    in_two_columns,
    number_column,
    number_text,
    wrapped_rows,
)
from ucvtest.results import TestResult

__all__ = [
    "Direction",
    "ResultSummary",
    "direction",
    "interval_name",
    "pvalue_text",
    "summary",
    "verdict",
]

LONGEST_NAME = 40

# How columns of further tables are headed.
HEADINGS = {
    "mc_se": "MC std err",
    # Tables are made with the result, so their level does not follow that of the summary.
    "conf_low": "95% low",
    "conf_high": "95% high",
    "pvalue": "p-value",
    "se": "std err",
}


@dataclass(frozen=True)
class Direction:
    """Which learner is the better one on either side of zero."""

    below: str
    above: str


def direction(result: TestResult) -> Direction | None:
    """Who is better where the difference is negative, and where it is positive.

    Parameters
    ----------
    result : TestResult

    Returns
    -------
    Direction or None
        None where a single learner is looked at.
    """
    if result.settings.get("other") is None:
        return None
    if result.diagnostics.get("better", "lower") == "higher":
        return Direction("second", "first")
    return Direction("first", "second")


def verdict(result: TestResult, alpha: float = 0.05) -> str:
    """The answer in a sentence or two.

    Parameters
    ----------
    result : TestResult
    alpha : float
        Significance level of the test and one minus the confidence level of the interval.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If `alpha` is outside (0, 1).

    Examples
    --------
    >>> from ucvtest.results import TestResult
    >>> result = TestResult(
    ...     estimate=-0.14, se=0.107, variance=0.0115, statistic=-1.31, pvalue=0.19,
    ...     df=float("nan"), null_value=0.0, alternative="two-sided", method="Example",
    ...     estimand="difference of error rates", reference="normal", status="ok", n_obs=62,
    ...     n_fits=400, elapsed=0.5, settings={"learner": "lasso:0.08", "other": "lasso:0.5"},
    ... )
    >>> print(verdict(result))  # doctest: +NORMALIZE_WHITESPACE
    No evidence at the 5% level that the two learners differ: the difference of error rates is
    -0.14 (95% interval -0.35 to 0.07, p = 0.19).
    """
    _check_alpha(alpha)
    if not math.isnan(result.diagnostics.get("p_left", math.nan)):
        return f"{_posterior(result)}: {_estimate_clause(result, alpha)}.{_caution(result)}"
    if math.isnan(result.pvalue):
        return _without_test(result, alpha)
    return f"{_finding(result, alpha)}: {_estimate_clause(result, alpha)}.{_caution(result)}"


def _without_test(result: TestResult, alpha: float) -> str:
    clause = _estimate_clause(result, alpha)
    if math.isnan(result.null_value):
        return f"{_capital(clause)}.{_caution(result)}"
    reason = _caution(result) or " The method gives no p-value."
    return f"The test could not be carried out: {clause}.{reason}"


def _posterior(result: TestResult) -> str:
    """Posterior probabilities, the largest first."""
    named = zip(("p_left", "p_rope", "p_right"), _posterior_claims(result), strict=True)
    claims = [(result.diagnostics[name], claim) for name, claim in named if claim]
    claims.sort(key=lambda item: -item[0])
    subjects = [f"the {result.estimand}", "it", "it"]
    parts = [
        f"{_probability(probability)} that {claim.format(it=subject)}"
        for (probability, claim), subject in zip(claims, subjects, strict=False)
    ]
    return f"Probability {', '.join(parts[:-1])} and {parts[-1]}"


def _posterior_claims(result: TestResult) -> tuple[str, str, str]:
    """What is claimed of the left, of the region of equivalence (if there is one), of the right."""
    rope, center = result.diagnostics["rope"], result.diagnostics["rope_center"]
    sides = direction(result)
    if sides is None or center != 0:
        low, high = f"{center - rope:g}", f"{center + rope:g}"
        within = f"{{it}} lies between {low} and {high}" if rope else ""
        return f"{{it}} is below {low}", within, f"{{it}} is above {high}"
    left, right = (
        # Braces in the name of a learner are no placeholders.
        f"the {_named(result, side)} is better".replace("{", "{{").replace("}", "}}")
        for side in (sides.below, sides.above)
    )
    if not rope:
        return left, "", right
    margin = f" by more than {rope:g}"
    return left + margin, f"the two learners differ by at most {rope:g}", right + margin


def _probability(value: float) -> str:
    if value < 0.005:
        return "below 0.01"
    return "above 0.99" if value > 0.995 else f"{value:.2f}"


def interval_name(result: TestResult) -> str:
    """What the interval is called: "interval" for one of confidence."""
    return str(result.diagnostics.get("interval_name", "interval"))


def _finding(result: TestResult, alpha: float) -> str:
    level = f"at the {_percent(alpha)} level"
    # At p = alpha exactly the test rejects, as critical values are defined by p <= alpha.
    rejected = result.pvalue <= alpha
    null = result.diagnostics.get("null_hypothesis")
    claim = None if null else _claim(result, rejected=rejected)
    if claim is None:
        named = f" that {null}" if null else ""
        found = "Evidence" if rejected else "No evidence"
        return f"{found} {level} against the null hypothesis{named}"
    return f"{_capital(claim)} {level}" if rejected else f"No evidence {level} that {claim}"


def _claim(result: TestResult, *, rejected: bool) -> str | None:
    """What the alternative says; once it is accepted, with the side on which the estimate is."""
    null = result.null_value
    if math.isnan(null):
        return None
    sides = direction(result)
    below = result.alternative == "less" or (
        result.alternative == "two-sided" and result.estimate < null
    )
    undecided = result.alternative == "two-sided" and not rejected
    if sides is not None and null == 0:
        if undecided:
            return "the two learners differ"
        return f"the {_named(result, sides.below if below else sides.above)} is better"
    relation = "differs from" if undecided else "is below" if below else "is above"
    return f"the {result.estimand} {relation} {null:g}"


def _named(result: TestResult, which: str) -> str:
    names = {"first": result.settings.get("learner"), "second": result.settings.get("other")}
    name = names[which]
    if len(set(names.values())) < 2 or not isinstance(name, str) or len(name) > LONGEST_NAME:
        return f"{which} learner"
    return f"{which} learner ({name})"


def _estimate_clause(result: TestResult, alpha: float) -> str:
    if math.isnan(result.estimate):
        return f"the {result.estimand} could not be estimated"
    low, high = result._quiet_interval(alpha)
    text = _fixed_by(result, low, high)
    name = interval_name(result)
    brackets = [_interval_words(low, high, alpha, text, name)] if _is_studentised(result) else []
    if not math.isnan(result.pvalue):
        brackets.append(f"p {pvalue_text(result.pvalue, alpha)}")
    assumption = result.diagnostics.get("assumption")
    if brackets and assumption:
        brackets.append(f"assuming {assumption}")
    added = f" ({', '.join(brackets)})" if brackets else ""
    return f"the {result.estimand} is {text(result.estimate)}{added}"


def _is_studentised(result: TestResult) -> bool:
    """Whether the method is one with a standard error, even if it has none here."""
    return result.reference in ("normal", "t", "none") or not math.isnan(result.se)


def _interval_words(
    low: float, high: float, alpha: float, text: Callable[[float], str], name: str
) -> str:
    level = _percent(1 - alpha)
    if math.isnan(low):
        return f"no {name}"
    if math.isinf(low):
        return f"one-sided {level} {name} up to {text(high)}"
    if math.isinf(high):
        return f"one-sided {level} {name} from {text(low)} up"
    return f"{level} {name} {text(low)} to {text(high)}"


def _fixed_by(result: TestResult, low: float, high: float) -> Callable[[float], str]:
    """A formatter with so many decimals that rounding costs less than a tenth of the error."""
    if not (math.isfinite(result.se) and 1e-6 < result.se < 1e6):
        return lambda value: f"{value:.3g}"
    decimals = max(0, math.ceil(-math.log10(result.se / 5)))
    ends = [end for end in (low, high) if math.isfinite(end)]
    null = result.null_value
    # An end close to the null value keeps the digits that tell on which side of it it lies.
    while decimals < 6 and any(round(end, decimals) == null != end for end in ends):
        decimals += 1
    return lambda value: f"{round(value, decimals) + 0.0:.{decimals}f}"


def _caution(result: TestResult) -> str:
    if result.status == "ok":
        return ""
    return f" {_capital(result.status.rstrip('.'))}."


def summary(
    result: TestResult, alpha: float = 0.05, *, with_verdict: bool = True
) -> "ResultSummary":
    """Summary tables of a result.

    Parameters
    ----------
    result : TestResult
    alpha : float
        One minus the confidence level of the interval.
    with_verdict : bool
        Whether the verdict stands below the tables; not where it has been said before.

    Returns
    -------
    statsmodels.iolib.summary.Summary
        With ``as_text``, ``as_html``, ``as_latex``, ``as_csv`` and, beyond statsmodels,
        ``as_markdown``.

    Raises
    ------
    ValueError
        If `alpha` is outside (0, 1).
    """
    _check_alpha(alpha)
    return ResultSummary(result, alpha, with_verdict=with_verdict)


class ResultSummary(GridSummary):
    """A statsmodels Summary of a `TestResult`.

    Parameters
    ----------
    result : TestResult
    alpha : float
        One minus the confidence level of the interval.
    with_verdict : bool
        Whether the verdict stands below the tables.
    """

    def __init__(self, result: TestResult, alpha: float, *, with_verdict: bool = True) -> None:
        super().__init__()
        self._result, self._alpha = result, alpha
        grids = [
            Grid(wrapped_rows(_words(result)), aligns="l", title=result.method),
            Grid(in_two_columns(_facts(result)), aligns="rlr"),
            _main_grid(result, alpha),
            *_further_grids(result),
        ]
        self._set(grids, partial(_closing_text, result, alpha, with_verdict=with_verdict))

    def as_markdown(self) -> str:
        """Verdict, tables, notes and settings as Markdown."""
        result, facts = self._result, [*_words(self._result), *_facts(self._result)]
        parts = [
            f"## {escape_markdown(result.method)}",
            f"**{escape_markdown(verdict(result, self._alpha))}**",
            # Upright, so that a narrow page shows all of it.
            _main_grid(result, self._alpha).transposed().markdown(),
            Grid([list(pair) for pair in facts[1:]], list(facts[0]), aligns="l").markdown(),
        ]
        for grid in _further_grids(result):
            parts += [f"### {escape_markdown(grid.title)}", grid.markdown()]
        if result.notes:
            parts += ["### Notes", "\n".join(f"- {escape_markdown(note)}" for note in result.notes)]
        if result.settings:
            rows = [[name, repr(value)] for name, value in result.settings.items()]
            parts += ["### Settings", Grid(rows, ["name", "value"], aligns="l").markdown()]
        return "\n\n".join(parts) + "\n"


def _words(result: TestResult) -> list[tuple[str, str]]:
    """What is stated in words, one line or more each."""
    settings = result.settings
    words = [("Estimand", result.estimand)]
    if settings.get("learner") is not None:
        words.append(("Learner", str(settings["learner"])))
    if settings.get("other") is not None:
        words.append(("Other", str(settings["other"])))
    if "null_hypothesis" in result.diagnostics:
        words.append(("Null", str(result.diagnostics["null_hypothesis"])))
    elif not math.isnan(result.null_value):
        sign = {"two-sided": "=", "less": ">=", "greater": "<="}[result.alternative]
        words.append(("Null", f"estimand {sign} {result.null_value:g}"))
    if result.status != "ok":
        words.append(("STATUS", result.status))
    return words


def _facts(result: TestResult) -> list[tuple[str, str]]:
    """What is a number or a name, side by side in two columns."""
    facts = [("Observations", f"{result.n_obs:d}"), ("Model fits", f"{result.n_fits:d}")]
    if "learn_size" in result.settings:
        facts.append(("Learning-set size", number_text(result.settings["learn_size"])))
    if result.settings.get("loss") is not None:
        facts.append(("Loss", str(result.settings["loss"])))
    if "variance" in result.diagnostics:
        facts.append(("Variance estimator", number_text(result.diagnostics["variance"])))
    name = "Posterior" if interval_name(result) == "credible interval" else "Reference"
    facts.append((name, _reference(result)))
    if not math.isnan(result.null_value):
        facts.append(("Alternative", result.alternative))
    facts.append(("Seconds", f"{result.elapsed:.2f}"))
    return facts


def _reference(result: TestResult) -> str:
    """The reference distribution with its degrees of freedom, for example "t (61 df)"."""
    if math.isnan(result.df):
        return result.reference
    return f"{result.reference} ({result.df:g} df)"


def _main_grid(result: TestResult, alpha: float) -> Grid:
    """The main numbers and their Monte-Carlo errors."""
    low, high = result._quiet_interval(alpha)
    level = _percent(1 - alpha)
    symbol = {"t": "t", "normal": "z"}.get(result.reference, "statistic")
    errors = [
        result.diagnostics.get(f"mc_se_{name}") for name in ("estimate", "variance", "pvalue")
    ]
    simulated = any(error is not None for error in errors)
    # One number of decimals for all that is in the units of the estimand.
    units = decimals_of([result.estimate, result.se, low, high])
    columns = {
        "estimate": number_column([result.estimate, errors[0]], units),
        "variance": number_column([result.variance, errors[1]]),
        "std err": number_column([result.se, None], units),
        symbol: number_column([result.statistic, None], 3),
        "p-value": number_column([result.pvalue, errors[2]], 4),
        f"{level} low": number_column([low, None], units),
        f"{level} high": number_column([high, None], units),
    }
    if math.isnan(result.pvalue) and math.isnan(result.null_value):
        del columns[symbol], columns["p-value"]
    if not _is_studentised(result):
        shown = ("estimate", symbol, "p-value")
        columns = {name: cells for name, cells in columns.items() if name in shown}
    names = ["first - second" if direction(result) else "learner", "Monte-Carlo s.e."]
    rows = [list(cells) for cells in zip(names, *columns.values(), strict=True)]
    return Grid(rows if simulated else rows[:1], ["", *columns])


def _further_grids(result: TestResult) -> list[Grid]:
    return [_further_grid(result, title, table) for title, table in result.tables.items()]


def _further_grid(result: TestResult, title: str, table: Mapping[str, Sequence[Any]]) -> Grid:
    header = [HEADINGS.get(column, column.replace("_", " ")) for column in table]
    columns = [
        number_column(cells, 4 if name == "pvalue" else None) for name, cells in table.items()
    ]
    rows = [list(cells) for cells in zip(*columns, strict=True)]
    # A first column such as "variance" may hold the choice that diagnostics["variance"] names.
    chosen = result.diagnostics.get(next(iter(table), ""))
    for row in rows:
        if row[0] == chosen:
            row[0] += " *"
            title = f"{title} (* used for this result)"
    return Grid(rows, header, title=title)


def _closing_text(result: TestResult, alpha: float, width: int, *, with_verdict: bool) -> list[str]:
    lines = hanging(f"Verdict: {verdict(result, alpha)}", width) if with_verdict else []
    if result.notes:
        lines += ["", "Notes:"] if lines else ["Notes:"]
    for index, note in enumerate(result.notes, start=1):
        lines += hanging(f"[{index}] {note}", width)
    return lines


def pvalue_text(pvalue: float, alpha: float = 0.05) -> str:
    """A p-value with its sign, as medical journals print it: "= 0.19", "= 0.004", "< 0.001".

    Parameters
    ----------
    pvalue : float
    alpha : float
        Level from which rounding must keep the p-value apart.

    Returns
    -------
    str

    Examples
    --------
    >>> pvalue_text(0.1904), pvalue_text(0.0499), pvalue_text(1e-9)
    ('= 0.19', '= 0.0499', '< 0.001')
    """
    if pvalue < 0.001:
        return "< 0.001"
    decimals = 3 if pvalue < 0.01 else 2
    while decimals < 6 and round(pvalue, decimals) == alpha != pvalue:
        decimals += 1
    return f"= {pvalue:.{decimals}f}"


def _percent(share: float) -> str:
    return f"{100 * share:.10g}%"


def _capital(text: str) -> str:
    """The text as a sentence starts; the name of an argument keeps its small letter."""
    first, _, _ = text.partition(" ")
    return text if "_" in first else text[:1].upper() + text[1:]


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, got {alpha}: use 0.05 for 95%")
