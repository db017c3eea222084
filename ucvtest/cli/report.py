"""What is printed and written of an outcome."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from ucvtest.comparison.comparison import Comparison
    from ucvtest.results.result import TestResult

WIDTH = 78


def report(
    outcome: "TestResult | Comparison", alpha: float, plot: Path | None, json: Path | None
) -> None:
    """Print the verdict and the summary; write the files that were asked for."""
    # The verdict comes first, and need not be said again below the tables.
    typer.echo(textwrap.fill(_verdict(outcome, alpha), WIDTH) + "\n")
    typer.echo(outcome.summary(alpha, with_verdict=False).as_text())
    if json is not None:
        json.write_text(outcome.to_json(indent=2) + "\n", encoding="utf-8")
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
