"""The printed and written forms of an outcome."""

import json as json_module
import math
import shutil
import textwrap
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ucvtest.cli.options import STDOUT
from ucvtest.cli.page import as_page
from ucvtest.common.exceptions import UcvtestWarning
from ucvtest.common.whole_files import write_whole

if TYPE_CHECKING:
    from ucvtest.comparison.comparison import Comparison
    from ucvtest.results.margins import NoninferiorityResult
    from ucvtest.results.result import TestResult

WIDEST = 100
"""Lines of text are not made longer, however wide the terminal is."""


def width() -> int:
    """How long lines of text may be."""
    return max(40, min(shutil.get_terminal_size().columns - 2, WIDEST))


def write_json(values: Mapping[str, Any], path: Path | None) -> bool:
    """Write the values as JSON to a file, or print them; whether they were printed."""
    if path is not None:
        json_text = json_module.dumps(values, allow_nan=False, indent=2)
        if path == STDOUT:
            typer.echo(json_text)
            return True
        write_whole(path, json_text + "\n")
    return False


def show(
    result_or_comparison: "TestResult | Comparison",
    alpha: float,
    files: Mapping[str, Path | None],
    margin: float | None = None,
    *,
    quiet: bool = False,
    notes: bool = False,
    methods_text: bool = False,
) -> None:
    """Print the verdict and the summary; write the files "plot", "json" and "report" asked for.

    The exit status is 1 where a test could not be carried out.
    """
    margin_results = (
        {} if margin is None else _noninferiority_of(result_or_comparison, margin, alpha)
    )
    plot, json, page = (files.get(name) for name in ("plot", "json", "report"))
    if plot is not None:
        result_or_comparison.save_plot(plot, alpha=alpha)
    if page is not None:
        answers = [_answer(name, margin_result) for name, margin_result in margin_results.items()]
        write_whole(
            page,
            as_page(result_or_comparison, alpha, _verdict(result_or_comparison, alpha), answers),
        )
    values = {} if json is None else _values(result_or_comparison, margin_results, alpha)
    if not write_json(values, json):
        # The verdict comes first, and need not be said again below the tables.
        typer.echo(textwrap.fill(_verdict(result_or_comparison, alpha), width()) + "\n")
        for name, margin_result in margin_results.items():
            typer.echo(textwrap.fill(_answer(name, margin_result), width()) + "\n")
        if not quiet:
            summary = result_or_comparison.summary(alpha, with_verdict=False, notes=notes)
            typer.echo(summary.as_text())
            for name, path in {"Result": json, "Plot": plot, "Report": page}.items():
                if path is not None:
                    typer.echo(f"{name}: {path}")
        if methods_text:
            _print_methods(result_or_comparison)
    if any(result.status != "ok" for result in _results_of(result_or_comparison)):
        raise typer.Exit(1)


def _answer(name: str, answer: "NoninferiorityResult | str") -> str:
    """The sentence about a margin."""
    text = answer if isinstance(answer, str) else answer.verdict
    return f"{name}: {text}" if name else text


def _print_methods(result_or_comparison: "TestResult | Comparison") -> None:
    """A paragraph for each result, and the references of all."""
    from ucvtest.results.citations import cite

    typer.echo("\nMethods\n")
    for result in _results_of(result_or_comparison):
        typer.echo(textwrap.fill(result.methods_text(), width()) + "\n")
    typer.echo("References\n")
    for line in cite(result_or_comparison).text.splitlines():
        typer.echo(textwrap.fill(line, width(), subsequent_indent="  ", break_on_hyphens=False))


def _results_of(result_or_comparison: "TestResult | Comparison") -> "Iterable[TestResult]":
    results: Mapping[Any, TestResult] = getattr(
        result_or_comparison, "results", {"": result_or_comparison}
    )
    return results.values()


def _verdict(result_or_comparison: "TestResult | Comparison", alpha: float) -> str:
    from ucvtest.comparison import summary
    from ucvtest.results import wording
    from ucvtest.results.result import TestResult

    if isinstance(result_or_comparison, TestResult):
        return wording.verdict(result_or_comparison, alpha)
    return summary.verdict(result_or_comparison, alpha)


def _noninferiority_of(
    result_or_comparison: "TestResult | Comparison", margin: float, alpha: float
) -> "dict[str, NoninferiorityResult | str]":
    """Noninferiority of every test and pair that can tell it; of others, why they cannot."""
    from ucvtest.results.result import TestResult

    if isinstance(result_or_comparison, TestResult):
        return {"": result_or_comparison.noninferiority(margin, alpha=alpha)}
    answers: dict[str, NoninferiorityResult | str] = {}
    for (test, first, second), result in result_or_comparison.results.items():
        name = f"{test}, {first} and {second}"
        try:
            answers[name] = result.noninferiority(margin, alpha=alpha)
        except ValueError as error:
            answers[name] = str(error)
    return answers


def _values(
    result_or_comparison: "TestResult | Comparison",
    margin_results: "Mapping[str, NoninferiorityResult | str]",
    alpha: float,
) -> dict[str, Any]:
    """The fields of the outcome, with its verdict and the answers about a margin."""
    from ucvtest import __version__
    from ucvtest.results.result import TestResult

    values: dict[str, Any] = result_or_comparison.to_dict()
    values |= {
        "verdict": _verdict(result_or_comparison, alpha),
        "alpha": alpha,
        "ucvtest": __version__,
    }
    if isinstance(result_or_comparison, TestResult):
        values["methods_text"] = result_or_comparison.methods_text()
        with warnings.catch_warnings():
            # Where there is no interval, the verdict says why.
            warnings.simplefilter("ignore", UcvtestWarning)
            limits = result_or_comparison.conf_int(alpha)
        values["conf_int"] = [limit if math.isfinite(limit) else None for limit in limits]
    margin_answers = {
        name: margin_result if isinstance(margin_result, str) else margin_result.to_dict()
        for name, margin_result in margin_results.items()
    }
    if margin_answers:
        values["noninferiority"] = margin_answers.get("", margin_answers)
    return values
