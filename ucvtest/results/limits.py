"""Results whose limits lie within what can be, and say where a limit was cut."""

import math
from dataclasses import replace

from ucvtest.results.fields import method_interval
from ucvtest.results.result import TestResult
from ucvtest.results.wording import percent
from ucvtest.stats.limits import holding, within

LEVEL = 0.05
"""Of the interval that notes of results are about, and of tables."""

ROUNDING = 1e-9
"""Changes of a limit that nobody sees."""


def bounded(
    result: TestResult, bounds: tuple[float, float], of_one: tuple[float, float]
) -> TestResult:
    """The result of an estimand between `bounds`, with a note where that cuts its 95% interval.

    `of_one` is what the value of a single learner can be. Intervals in tables are cut too. A
    result without an interval stays as it is.
    """
    if math.isnan(method_interval(result, LEVEL)[0]):
        return result
    tables = dict(result.tables)
    for title, table in tables.items():
        if {"conf_low", "conf_high"} <= set(table):
            own_bounds = of_one if title == "Learners" else bounds
            pairs = zip(table["conf_low"], table["conf_high"], strict=True)
            limits = [within(pair, own_bounds) for pair in pairs]
            lows, highs = zip(*limits, strict=True) if limits else ((), ())
            tables[title] = {**table, "conf_low": lows, "conf_high": highs}
    result = replace(result, bounds=bounds, tables=tables)
    return replace(result, notes=(*result.notes, *limit_notes(result, LEVEL)))


def limit_notes(result: TestResult, alpha: float) -> list[str]:
    """What became of the limits that the method gives at this level."""
    interval = method_interval(result, alpha)
    if math.isnan(interval[0]):
        return []
    held_interval = holding(interval, result.estimate, result.alternative, alpha)
    level, notes = f"{percent(1 - alpha)} {result.interval_name}", []
    if _differ(interval, held_interval):
        notes.append(
            f"The {level} of the method leaves out its own estimate, and was extended to it."
        )
    limit_rows = zip(
        ("lower", "upper"), ("smallest", "largest"), held_interval, result.bounds, strict=True
    )
    cut = within(held_interval, result.bounds)
    for (limit_name, extreme, held_end, bound), cut_end in zip(limit_rows, cut, strict=True):
        if _differ((held_end,), (cut_end,)):
            notes.append(
                f"The {limit_name} limit of the {level} was cut at {bound:g}, the {extreme} "
                "possible value of the estimand."
            )
    if _differ((result.estimate,), within((result.estimate, 0.0), result.bounds)[:1]):
        notes.append(
            "The estimate itself lies outside of what the estimand can be, as one that was "
            "corrected for bias may."
        )
    return notes


def notes_at(result: TestResult, alpha: float) -> tuple[str, ...]:
    """The notes of a result, with those on its limits at another level than 95%."""
    notes_at_level = [] if alpha == LEVEL else limit_notes(result, alpha)
    return (*result.notes, *(note for note in notes_at_level if note not in result.notes))


def _differ(old_limits: tuple[float, ...], new_limits: tuple[float, ...]) -> bool:
    pairs = zip(old_limits, new_limits, strict=True)
    return any(
        math.isfinite(old_limit) and abs(old_limit - new_limit) > ROUNDING
        for old_limit, new_limit in pairs
    )
