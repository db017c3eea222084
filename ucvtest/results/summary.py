"""A result in words: the verdict and the summary tables.

Everything is read from the fields of a `TestResult`, so that each test is summarised by
the same code. Keys that are used where they exist: ``settings["learner"]``, ``["other"]``,
``["loss"]``, ``["learn_size"]``; ``diagnostics["variance"]`` (name of the variance
estimator), ``["n_groups"]`` with ``["smallest_group"]`` and ``["largest_group"]``,
``["mc_se_estimate"]``, ``["mc_se_variance"]`` and ``["mc_se_pvalue"]``. A reference
other than "normal", "t" and "none" is the name of a null distribution: such a result has a
p-value, and no standard error or interval to show.
"""

import math
from functools import partial

from ucvtest.common.notes import Note
from ucvtest.metrics.named import kind_in_words
from ucvtest.results.fields import check_alpha, quiet_interval
from ucvtest.results.result import TestResult
from ucvtest.results.text_tables import (
    Grid,
    Tables,
    decimals_of,
    is_missing,
    number_column,
    number_text,
)
from ucvtest.results.wording import LEVEL, direction, is_studentised, limit_notes, percent, verdict
from ucvtest.stats.interval_rules import ChangedUnits

# How columns of further tables are headed.
HEADINGS = {
    "mc_se": "MC std err",
    # Tables are made with the result, so their level does not follow that of the summary.
    "conf_low": "95% low",
    "conf_high": "95% high",
    "pvalue": "p-value",
    "se": "std err",
}

SYMBOLS = {"t": "t", "normal": "z"}
"""Of studentised statistics, by their reference distribution."""


def tables(
    result: TestResult, alpha: float = 0.05, *, with_verdict: bool = True, notes: bool = False
) -> Tables:
    """Tables of a result, without the verdict where it has been said before.

    With `notes` everything is shown: all settings, tables and notes.
    """
    check_alpha(alpha)
    statements, fact_rows = _statements(result), _fact_rows(result)
    if not notes:
        left_out = {"Learning-set size", "Variance estimator", "Reference", "Seconds"}
        if result.alternative == "two-sided":
            left_out.add("Alternative")
        statements = _brief_statements(result)
        fact_rows = [row for row in fact_rows if row[0] not in left_out]
    return Tables(
        result.method,
        statements,
        fact_rows,
        [_main_grid(result, alpha), *_further_grids(result, alternatives=notes)],
        verdict(result, alpha),
        with_verdict=with_verdict,
        notes=all_notes(result, alpha),
        in_full=notes,
        settings=result.settings,
        complete=None if notes else partial(tables, result, alpha, notes=True),
    )


def _statements(result: TestResult) -> list[tuple[str, str]]:
    """Statements in words, one line or more each."""
    settings = result.settings
    statements = [("Estimand", result.estimand)]
    if settings.get("learner") is not None:
        statements.append(("Learner", str(settings["learner"])))
    if settings.get("other") is not None:
        statements.append(("Other", str(settings["other"])))
    if result.null_hypothesis is not None:
        statements.append(("Null", result.null_hypothesis))
    elif not math.isnan(result.null_value):
        sign = {"two-sided": "=", "less": ">=", "greater": "<="}[result.alternative]
        statements.append(("Null", f"estimand {sign} {result.null_value:g}"))
    if result.status != "ok":
        statements.append(("STATUS", result.status))
    return statements


def _brief_statements(result: TestResult) -> list[tuple[str, str]]:
    """The same for a printed result: a null hypothesis only if it is not that of no difference."""
    settings, statements = result.settings, []
    learner, other = settings.get("learner"), settings.get("other")
    if learner is not None and other is not None:
        link = "over" if result.contrast == "ratio" else "minus"
        statements.append(("Learners", f"{learner} {link} {other}"))
    is_usual = other is not None and result.null_value == result.same and not result.null_hypothesis
    rows_above = {"Learner", "Other"} if other is not None else set()
    if is_usual and result.alternative == "two-sided":
        rows_above.add("Null")
    return [*statements, *(row for row in _statements(result) if row[0] not in rows_above)]


def _fact_rows(result: TestResult) -> list[tuple[str, str]]:
    """Numbers and names, side by side in two columns."""
    fact_rows = [("Observations", f"{result.n_obs:d}"), ("Model fits", f"{result.n_fits:d}")]
    if "n_groups" in result.diagnostics:
        sizes = [result.diagnostics[f"{extreme}_group"] for extreme in ("smallest", "largest")]
        cluster_sizes = f"{sizes[0]:d}" if sizes[0] == sizes[1] else f"{sizes[0]:d} to {sizes[1]:d}"
        fact_rows.append(("Clusters", f"{result.diagnostics['n_groups']:d} of {cluster_sizes}"))
    if "learn_size" in result.settings:
        fact_rows.append(("Learning-set size", number_text(result.settings["learn_size"])))
    if result.settings.get("loss") is not None:
        kind = kind_in_words(result.settings["loss"], rises=result.better == "higher")
        fact_rows.append((kind, str(result.settings["loss"])))
    if "variance" in result.diagnostics:
        fact_rows.append(("Variance estimator", number_text(result.diagnostics["variance"])))
    name = "Posterior" if result.interval_name == "credible interval" else "Reference"
    df = "" if math.isnan(result.df) else f" ({result.df:g} df)"
    fact_rows.append((name, f"{result.reference}{df}"))
    if not math.isnan(result.null_value):
        fact_rows.append(("Alternative", result.alternative))
    fact_rows.append(("Seconds", f"{result.elapsed:.2f}"))
    return fact_rows


def _main_grid(result: TestResult, alpha: float) -> Grid:
    """The main numbers and their Monte-Carlo errors."""
    low, high = quiet_interval(result, alpha)
    level = percent(1 - alpha)
    symbol = SYMBOLS.get(result.reference, "statistic")
    # A count stays one.
    statistic = result.statistic if result.rule is None else result.rule.statistic
    errors = [
        result.diagnostics.get(f"mc_se_{name}") for name in ("estimate", "variance", "pvalue")
    ]
    simulated = any(error is not None for error in errors)
    # One number of decimals for all that is in the units of the estimand.
    units = decimals_of([result.estimate, result.se, low, high])
    columns = {
        "estimate": number_column([result.estimate, errors[0]], units),
        "variance": number_column([result.variance, errors[1]]),
        "std err" if result.contrast == "difference" else "se of log": number_column(
            [result.se, None], units
        ),
        symbol: number_column([statistic, None], 3),
        "p-value": number_column([result.pvalue, errors[2]], 4),
        f"{level} low": number_column([low, None], units),
        f"{level} high": number_column([high, None], units),
    }
    if math.isnan(result.pvalue) and math.isnan(result.null_value):
        del columns[symbol], columns["p-value"]
    if not is_studentised(result):
        shown_columns = ("estimate", symbol, "p-value")
        columns = {name: cells for name, cells in columns.items() if name in shown_columns}
    sign = "/" if result.contrast == "ratio" else "-"
    names = [f"first {sign} second" if direction(result) else "learner", "Monte-Carlo s.e."]
    rows = [list(cells) for cells in zip(names, *columns.values(), strict=True)]
    return Grid(rows if simulated else rows[:1], ["", *columns], upright=True)


def _further_grids(result: TestResult, *, alternatives: bool) -> list[Grid]:
    """The further tables, with or without those of choices that were not used."""
    grids = []
    for title, table in result.tables.items():
        if not alternatives and next(iter(table), "") in result.diagnostics:
            continue
        table = {name: cells for name, cells in table.items() if not all(map(is_missing, cells))}
        header = [HEADINGS.get(column, column.replace("_", " ")) for column in table]
        columns = [
            number_column(cells, 4 if name == "pvalue" else None) for name, cells in table.items()
        ]
        names_by_row: dict[tuple[str, ...], list[str]] = {}
        # A first column such as "variance" may contain the choice that diagnostics["variance"]
        # names.
        choice = result.diagnostics.get(next(iter(table), ""))
        for place, (name, *cells) in enumerate(zip(*columns, strict=True)):
            # Alternatives with the same numbers are one row; other rows stay.
            key = (*cells, *(() if isinstance(choice, str) else (str(place),)))
            names_by_row.setdefault(key, []).append(f"{name} *" if name == choice else name)
            if name == choice:
                title = f"{title} (* used for this result)"
        n_numbers = len(columns) - 1
        rows = [[", ".join(names), *key[:n_numbers]] for key, names in names_by_row.items()]
        grids.append(Grid(rows, header, title=title))
    return grids


ON_SCALES = {
    "logit t": "the test is made on the logit scale",
    "plus four": "the test adds four observations, two of them errors",
    "added observations": "the test adds observations that are right and wrong",
    "hall": "the test takes the skewness of the losses out (Hall 1992)",
    "log t": "the test is about the logarithm of the ratio",
    "stabilised t": "the test is made on a scale on which the standard error stays the same",
}
"""Why a statistic is no studentised estimate, by the kind of rule that it comes from."""


def statistic_note(result: TestResult) -> str:
    """Why the statistic is not the ratio that the numbers next to it seem to make; "" if it is."""
    symbol, rule = SYMBOLS.get(result.reference), result.rule
    if isinstance(rule, ChangedUnits):
        rule = rule.rule
    if symbol is None or not result.se > 0 or math.isnan(result.statistic):
        return ""
    ratio = (result.estimate - result.null_value) / result.se
    # Smaller differences are invisible next to rounded numbers.
    if math.isclose(ratio, result.statistic, rel_tol=0.01, abs_tol=0.005):
        return ""
    scale_reason = ON_SCALES.get(getattr(rule, "kind", ""), "the method has a statistic of its own")
    return f"{symbol} is not (estimate - null value) / std err: {scale_reason}."


def all_notes(result: TestResult, alpha: float) -> list[str]:
    """The notes of the result, and what a reader needs to know of the numbers shown."""
    # Its limits at another level than 95% may need other notes.
    at_level = [] if alpha == LEVEL else limit_notes(result, alpha)
    notes = [*result.notes, *(note for note in at_level if note not in result.notes)]
    about_statistic = statistic_note(result)
    if not about_statistic:
        return notes
    # A rule that was chosen has a note of its own on interval and test; a ratio has no choice.
    is_off_scale = result.diagnostics.get("interval", "log") != "log"
    return [*notes, about_statistic if is_off_scale else Note(about_statistic, about_statistic, 1)]
