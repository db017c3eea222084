"""Results that name the class which they are about, and say where it seems to be the other one."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ucvtest.common.notes import Note
from ucvtest.data.positive_class import with_positive
from ucvtest.inference.question import Question
from ucvtest.results.fields import quiet_interval
from ucvtest.results.result import TestResult
from ucvtest.stats.wald import wald_interval

POSITIVE_CLASS = "positive_class"
"""The diagnostic that names the class; results have it where their value depends on which it is."""


def about_positive(result: TestResult, question: Question) -> TestResult:
    """A result that names its positive class in its estimand, and notes rankings that are turned.

    As it is where its value does not depend on the positive class, or it names one already.
    """
    positive = question.positive_class
    if positive is None or POSITIVE_CLASS in result.diagnostics:
        return result
    notes = [*result.notes, *_turned(result, question)]
    return replace(
        result,
        estimand=with_positive(result.estimand, positive),
        diagnostics={**result.diagnostics, POSITIVE_CLASS: positive},
        notes=tuple(notes),
    )


def _turned(result: TestResult, question: Question) -> list[str]:
    """A note on each AUC whose whole interval lies below 0.5, with the remedy."""
    if not question.metric.ranks_pairs:
        return []
    upper_ends: dict[Any, float] = {result.settings.get("learner"): _upper_end(result)}
    if question.paired:
        upper_ends = _upper_ends(result.tables.get("Learners", {}))
    return [
        Note(
            f"An AUC below 0.5, with its whole interval, was found for {name}: its high scores go "
            f"with the class that is not {question.positive_class!r:.60}. If they are meant to, "
            "name that class by pos_label.",
            f"The AUC of {name} is below 0.5: is the other class meant (pos_label)?",
        )
        for name, high in upper_ends.items()
        if high < 0.5
    ]


def _upper_end(result: TestResult) -> float:
    """The upper end of the two-sided interval, whatever the alternative."""
    two_sided = replace(result, alternative="two-sided")
    return quiet_interval(two_sided, 0.05)[1]


def _upper_ends(table: Mapping[str, tuple[Any, ...]]) -> dict[Any, float]:
    """The same of each of two learners, from the table of them, which may have standard errors."""
    names = table.get("learner", ())
    if "conf_high" in table:
        return dict(zip(names, table["conf_high"], strict=True))
    numbers = zip(table.get("estimate", ()), table.get("se", ()), strict=True)
    upper_ends = [
        wald_interval(estimate, se, "normal", math.nan, "two-sided", 0.05)[1]
        for estimate, se in numbers
    ]
    return dict(zip(names, upper_ends, strict=True))
