"""The printed and written forms of an outcome."""

import json as json_module
import math
import shutil
import textwrap
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ucvtest.cli.errors import to_reader
from ucvtest.cli.page import as_page
from ucvtest.common.exceptions import UcvtestWarning
from ucvtest.common.whole_files import write_whole

if TYPE_CHECKING:
    from ucvtest.comparison.comparison import Comparison
    from ucvtest.results.margins import NoninferiorityResult
    from ucvtest.results.result import TestResult

WIDEST = 100
"""Lines of text are not made longer, however wide the terminal is."""

STDOUT = Path("-")
"""What --json takes to print JSON alone."""

SUFFIXES = {"plot": (".png", ".pdf", ".svg"), "report": (".html", ".htm")}
"""Of the files of these options."""


def width() -> int:
    """How long lines of text may be."""
    return max(40, min(shutil.get_terminal_size().columns - 2, WIDEST))


@dataclass(frozen=True, kw_only=True)
class Printed:
    """Where an answer goes.

    Parameters
    ----------
    json : FILE.json
        Write the whole result as JSON; - prints it and nothing else.
    quiet
        Print only the verdict.
    """

    json: Path | None = None
    quiet: bool = False

    def __post_init__(self) -> None:
        """Refuse before the first fit what would fail after the last one."""
        alpha = getattr(self, "alpha", 0.05)
        if not 0 < alpha < 1:
            raise ValueError(f"--alpha must lie between 0 and 1, got {alpha}: use 0.05 for 95%")
        for name in ("plot", "json", "report"):
            path, suffixes = getattr(self, name, None), SUFFIXES.get(name, ())
            if path is None or path == STDOUT:
                continue
            if suffixes and path.suffix.lower() not in suffixes:
                raise ValueError(f"--{name} must end in {', '.join(suffixes)}, got {path}")
            if name == "plot" and find_spec("matplotlib") is None:
                raise ImportError("--plot needs matplotlib: pip install 'ucvtest[plot]'")
            if not path.absolute().parent.is_dir():
                raise ValueError(f"--{name} {path}: the folder {path.parent} does not exist")

    def tell(
        self,
        values: Callable[[], Mapping[str, Any]],
        sentences: Iterable[str],
        summary: Callable[[], str],
    ) -> None:
        """Write JSON; print the sentences, the verdict first, then the summary and the files."""
        if self.json is not None:
            json_text = json_module.dumps(values(), allow_nan=False, indent=2)
            if self.json == STDOUT:
                with to_reader():
                    typer.echo(json_text)
                return
            write_whole(self.json, json_text + "\n")
        with to_reader():
            for sentence in sentences:
                typer.echo(textwrap.fill(sentence, width()) + ("" if self.quiet else "\n"))
            if not self.quiet:
                typer.echo(summary())
                for name in ("json", "plot", "report"):
                    if (path := getattr(self, name, None)) is not None:
                        typer.echo(f"{FILES[name]}: {path}")


FILES = {"json": "Result", "plot": "Plot", "report": "Report"}
"""What the files of these options are called."""


@dataclass(frozen=True, kw_only=True)
class Display(Printed):
    """How a result is shown.

    Parameters
    ----------
    alpha
        One minus the confidence level of the interval.
    plot : FILE.png
        Draw the result (or .pdf, .svg).
    report : FILE.html
        Write everything as one page, with the picture inside.
    notes
        Print all notes, settings and tables.
    methods_text
        Also print a paragraph for the methods section of a paper, and its references.
    """

    alpha: float = 0.05
    plot: Path | None = None
    report: Path | None = None
    notes: bool = False
    methods_text: bool = False

    def show(self, outcome: "TestResult | Comparison", margin: float | None = None) -> None:
        """Print the verdict and the summary; write the files.

        The exit status is 1 where a test could not be carried out.
        """
        alpha, verdict = self.alpha, verdict_of(outcome, self.alpha)
        judged = {} if margin is None else _judged(outcome, margin, alpha)
        answers = [
            f"{name}: {_sentence(answer)}" if name else _sentence(answer)
            for name, answer in judged.items()
        ]
        if self.plot is not None:
            outcome.save_plot(self.plot, alpha=alpha)
        if self.report is not None:
            write_whole(self.report, as_page(outcome, alpha, verdict, answers))
        self.tell(
            lambda: _values(outcome, alpha, verdict, judged),
            [verdict, *answers],
            lambda: outcome.summary(alpha, with_verdict=False, notes=self.notes).as_text(),
        )
        if self.methods_text and self.json != STDOUT:
            _print_methods(outcome)
        if any(result.status != "ok" for result in results_of(outcome).values()):
            raise typer.Exit(1)


def check_margin(margin: float | None, alpha: float, least_margin: int = 0) -> None:
    """Refuse a margin that means nothing; that of a ratio is above 1."""
    if margin is None:
        return
    if not least_margin < margin < float("inf"):
        units = " with --contrast ratio" if least_margin else ""
        raise ValueError(f"--margin must be above {least_margin}{units}, got {margin}")
    if not alpha < 0.5:
        raise ValueError(f"--alpha must be below 0.5 with --margin, got {alpha}: use 0.05")


def results_of(outcome: "TestResult | Comparison") -> "Mapping[Any, TestResult]":
    """The results of a comparison by their keys; of one result, this."""
    results: Mapping[Any, TestResult] = getattr(outcome, "results", {(): outcome})
    return results


def verdict_of(outcome: "TestResult | Comparison", alpha: float) -> str:
    """The answer in words at a level."""
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
    judged: dict[str, NoninferiorityResult | str] = {}
    for key, result in results_of(outcome).items():
        name = "{}, {} and {}".format(*key) if key else ""
        try:
            judged[name] = result.noninferiority(margin, alpha=alpha)
        except ValueError as error:
            if not key:
                raise
            judged[name] = str(error)
    return judged


def _sentence(answer: "NoninferiorityResult | str") -> str:
    return answer if isinstance(answer, str) else answer.verdict


def _print_methods(outcome: "TestResult | Comparison") -> None:
    """A paragraph for each result, and the references of all."""
    from ucvtest.results.citations import cite

    typer.echo("\nMethods\n")
    for result in results_of(outcome).values():
        typer.echo(textwrap.fill(result.methods_text(), width()) + "\n")
    typer.echo("References\n")
    for line in cite(outcome).text.splitlines():
        typer.echo(textwrap.fill(line, width(), subsequent_indent="  ", break_on_hyphens=False))


def _values(
    outcome: "TestResult | Comparison",
    alpha: float,
    verdict: str,
    judged: "Mapping[str, NoninferiorityResult | str]",
) -> dict[str, Any]:
    """The fields of the outcome, with its verdict and the answers about a margin."""
    from ucvtest import __version__

    values = {**outcome.to_dict(), "verdict": verdict, "alpha": alpha, "ucvtest": __version__}
    result = results_of(outcome).get(())
    if result is not None:
        values["methods_text"] = result.methods_text()
        with warnings.catch_warnings():
            # Where there is no interval, the verdict says why.
            warnings.simplefilter("ignore", UcvtestWarning)
            limits = result.conf_int(alpha)
        values["conf_int"] = [limit if math.isfinite(limit) else None for limit in limits]
    answers = {
        name: answer if isinstance(answer, str) else answer.to_dict()
        for name, answer in judged.items()
    }
    if answers:
        values["noninferiority"] = answers.get("", answers)
    return values
