"""What is printed and written of an outcome."""

import json as json_module
import math
import shutil
import textwrap
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ucvtest.cli.errors import in_options
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


def show(
    outcome: "TestResult | Comparison",
    alpha: float,
    files: Mapping[str, Path | None],
    margin: float | None = None,
    *,
    quiet: bool = False,
    methods_text: bool = False,
) -> None:
    """Print the verdict and the summary; write the files "plot", "json" and "report" asked for.

    The exit status is 1 where a test could not be carried out.
    """
    margin_results = {} if margin is None else _noninferiority_of(outcome, margin, alpha)
    plot, json, page = (files.get(name) for name in ("plot", "json", "report"))
    if plot is not None:
        outcome.save_plot(plot, alpha=alpha)
    if page is not None:
        answers = [_answer(name, each) for name, each in margin_results.items()]
        write_whole(page, as_page(outcome, alpha, _verdict(outcome, alpha), answers))
    if json is not None:
        text = _as_json(outcome, margin_results, alpha)
        if json == STDOUT:
            typer.echo(text)
        else:
            write_whole(json, text + "\n")
    if json != STDOUT:
        written = {"Result": json, "Plot": plot, "Report": page}
        _print(outcome, alpha, margin_results, written, quiet=quiet)
        if methods_text:
            _print_methods(outcome)
    if not _has_result(outcome):
        raise typer.Exit(1)


def _answer(name: str, answer: "NoninferiorityResult | str") -> str:
    """What is said about a margin."""
    text = answer if isinstance(answer, str) else answer.verdict
    return f"{name}: {text}" if name else text


def _print(
    outcome: "TestResult | Comparison",
    alpha: float,
    margin_results: "Mapping[str, NoninferiorityResult | str]",
    written: Mapping[str, Path | None],
    *,
    quiet: bool,
) -> None:
    # The verdict comes first, and need not be said again below the tables.
    typer.echo(textwrap.fill(_verdict(outcome, alpha), width()) + "\n")
    for name, answer in margin_results.items():
        typer.echo(textwrap.fill(_answer(name, answer), width()) + "\n")
    if quiet:
        return
    typer.echo(outcome.summary(alpha, with_verdict=False).as_text())
    for name, path in written.items():
        if path is not None:
            typer.echo(f"{name}: {path}")


def _print_methods(outcome: "TestResult | Comparison") -> None:
    """A paragraph for each result, and the references of all."""
    from ucvtest.results.citations import cite

    typer.echo("\nMethods\n")
    for result in _results_of(outcome):
        typer.echo(textwrap.fill(result.methods_text(), width()) + "\n")
    typer.echo("References\n")
    for line in cite(outcome).text.splitlines():
        typer.echo(textwrap.fill(line, width(), subsequent_indent="  ", break_on_hyphens=False))


def _has_result(outcome: "TestResult | Comparison") -> bool:
    return all(each.status == "ok" for each in _results_of(outcome))


def _results_of(outcome: "TestResult | Comparison") -> "Iterable[TestResult]":
    results: Mapping[Any, TestResult] = getattr(outcome, "results", {"": outcome})
    return results.values()


def _verdict(outcome: "TestResult | Comparison", alpha: float) -> str:
    from ucvtest.comparison import summary
    from ucvtest.results import wording
    from ucvtest.results.result import TestResult

    if isinstance(outcome, TestResult):
        return wording.verdict(outcome, alpha)
    return summary.verdict(outcome, alpha)


def _noninferiority_of(
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
            found[name] = in_options(str(error), {"test": "--test"})
    return found


def _as_json(
    outcome: "TestResult | Comparison",
    margin_results: "Mapping[str, NoninferiorityResult | str]",
    alpha: float,
) -> str:
    """The outcome, with its verdict and the answers about a margin beside its own fields."""
    from ucvtest import __version__
    from ucvtest.results.result import TestResult

    values: dict[str, Any] = outcome.to_dict()
    values |= {"verdict": _verdict(outcome, alpha), "alpha": alpha, "ucvtest": __version__}
    if isinstance(outcome, TestResult):
        values["methods_text"] = outcome.methods_text()
        with warnings.catch_warnings():
            # Where there is no interval, the verdict says why.
            warnings.simplefilter("ignore", UcvtestWarning)
            limits = outcome.conf_int(alpha)
        values["conf_int"] = [each if math.isfinite(each) else None for each in limits]
    found = {
        name: each if isinstance(each, str) else each.to_dict()
        for name, each in margin_results.items()
    }
    if found:
        values["noninferiority"] = found.get("", found)
    return json_module.dumps(values, allow_nan=False, indent=2)
