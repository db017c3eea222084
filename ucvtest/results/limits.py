"""Results whose limits lie within what can be, and say where a limit was cut."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from ucvtest.results.fields import ResultFields, method_interval
from ucvtest.results.wording import percent
from ucvtest.stats.limits import holding, within

__all__ = ["bounded", "limit_notes", "notes_at"]

Result = TypeVar("Result", bound=ResultFields)

LEVEL = 0.05
"""Of the interval that notes of results are about, and of tables."""

ROUNDING = 1e-9
"""Changes of a limit that nobody sees."""


def bounded(result: Result, bounds: tuple[float, float], of_one: tuple[float, float]) -> Result:
    """The result of an estimand between `bounds`, with a note where that cuts its 95% interval.

    `of_one` is what the value of a single learner can be. Intervals in tables are cut too. A
    result without an interval stays as it is.
    """
    if math.isnan(method_interval(result, LEVEL)[0]):
        return result
    known = replace(
        result,
        bounds=bounds,
        tables={
            title: _cut(table, of_one if title == "Learners" else bounds)
            for title, table in result.tables.items()
        },
    )
    return replace(known, notes=(*known.notes, *limit_notes(known, LEVEL)))


def limit_notes(result: ResultFields, alpha: float) -> list[str]:
    """What became of the limits that the method gives at this level."""
    ends = method_interval(result, alpha)
    if math.isnan(ends[0]):
        return []
    held = holding(ends, result.estimate, result.alternative, alpha)
    level, notes = f"{percent(1 - alpha)} {result.interval_name}", []
    if _differ(ends, held):
        notes.append(
            f"The {level} of the method leaves out its own estimate, and was extended to it."
        )
    sides = zip(("lower", "upper"), ("smallest", "largest"), held, result.bounds, strict=True)
    cut = within(held, result.bounds)
    for (side, extreme, end, bound), kept in zip(sides, cut, strict=True):
        if _differ((end,), (kept,)):
            notes.append(
                f"The {side} limit of the {level} was cut at {bound:g}, the {extreme} possible "
                "value of the estimand."
            )
    if _differ((result.estimate,), within((result.estimate, 0.0), result.bounds)[:1]):
        notes.append(
            "The estimate itself lies outside of what the estimand can be, as one that was "
            "corrected for bias may."
        )
    return notes


def notes_at(result: ResultFields, alpha: float) -> tuple[str, ...]:
    """The notes of a result, with those on its limits at another level than 95%."""
    more = [] if alpha == LEVEL else limit_notes(result, alpha)
    return (*result.notes, *(note for note in more if note not in result.notes))


def _cut(
    table: Mapping[str, tuple[Any, ...]], bounds: tuple[float, float]
) -> Mapping[str, tuple[Any, ...]]:
    if not {"conf_low", "conf_high"} <= set(table):
        return table
    pairs = zip(table["conf_low"], table["conf_high"], strict=True)
    ends = [within(pair, bounds) for pair in pairs]
    lows, highs = (tuple(pair[side] for pair in ends) for side in (0, 1))
    return {**table, "conf_low": lows, "conf_high": highs}


def _differ(before: tuple[float, ...], after: tuple[float, ...]) -> bool:
    pairs = zip(before, after, strict=True)
    return any(math.isfinite(one) and abs(one - other) > ROUNDING for one, other in pairs)
