"""What is printed and written of an outcome."""

import json as json_module
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from ucvtest.comparison.comparison import Comparison
    from ucvtest.results.margins import NoninferiorityResult
    from ucvtest.results.result import TestResult

WIDTH = 78

STDOUT = Path("-")
"""What --json takes to print JSON alone."""


def report(
    outcome: "TestResult | Comparison",
    alpha: float,
    plot: Path | None,
    json: Path | None,
    margin: float | None = None,
) -> None:
    """Print the verdict and the summary; write the files that were asked for."""
    judged = {} if margin is None else _judged(outcome, margin, alpha)
    # The verdict comes first, and need not be said again below the tables.
    typer.echo(textwrap.fill(_verdict(outcome, alpha), WIDTH) + "\n")
    for name, answer in judged.items():
        text = answer if isinstance(answer, str) else answer.verdict
        typer.echo(textwrap.fill(f"{name}: {text}" if name else text, WIDTH) + "\n")
    typer.echo(outcome.summary(alpha, with_verdict=False).as_text())
    if json is not None:
        json.write_text(_as_json(outcome, judged) + "\n", encoding="utf-8")
        typer.echo(f"Result: {json}")
    if plot is not None:
        outcome.save_plot(plot, alpha=alpha)
        typer.echo(f"Plot: {plot}")


def _verdict(outcome: "TestResult | Comparison", alpha: float) -> str:
    from ucvtest.comparison import summary
    from ucvtest.results import wording
    from ucvtest.results.result import TestResult

    if isinstance(outcome, TestResult):
        return wording.verdict(outcome, alpha)
    return summary.verdict(outcome, alpha)


def _judged(
    outcome: "TestResult | Comparison", margin: float, alpha: float
) -> "dict[str, NoninferiorityResult | str]":
    """Noninferiority of every test and pair that can tell it; of others, why they cannot."""
    from ucvtest.results.result import TestResult

    if isinstance(outcome, TestResult):
        return {"": outcome.noninferiority(margin, alpha=alpha)}
    found: dict[str, NoninferiorityResult | str] = {}
    for (test, first, second), result in outcome.results.items():
        name = f"{test}, {first} and {second}"
        try:
            found[name] = result.noninferiority(margin, alpha=alpha)
        except ValueError as error:
            found[name] = str(error)
    return found


def _as_json(
    outcome: "TestResult | Comparison", judged: "Mapping[str, NoninferiorityResult | str]"
) -> str:
    """The outcome, with the answers about a margin beside its own fields."""
    values: dict[str, Any] = outcome.to_dict()
    found = {
        name: each if isinstance(each, str) else each.to_dict() for name, each in judged.items()
    }
    if found:
        values["noninferiority"] = found.get("", found)
    return json_module.dumps(values, allow_nan=False, indent=2)
