"""Errors and warnings as one line each, in the words of the command line."""

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand

import ucvtest as uv
from ucvtest.common.exceptions import MissingPlatformError
from ucvtest.common.words import Door, alternatives, through

ALIASES = {
    "sample_weight": "weight",
    "n_folds": "folds",
    "n_repeats": "repeats",
    "n_splits": "splits",
    "n_permutations": "permutations",
    "n_fits": "fits",
    "rng": "seed",
    "random_state": "seed",
    "random_seed": "seed",
    "metric": "scoring",
}
"""Arguments whose options have other names, here and in scikit-learn."""

USAGE_ERROR: Any = typer.BadParameter.__bases__[0]
"""What typer raises over options; newer ones bring a Click of their own."""

TERMS = {
    ", or pass y as pd.Categorical(y, categories=[...], ordered=True)": "",
    "summary(notes=True)": "--notes",
    "your own by uv.metrics.Cells or uv.metrics.Moments, ": "",
}
"""What a command line has in the place of words that only Python has."""


class ShellDoor(Door):
    """How messages are written for the command line.

    Parameters
    ----------
    options : mapping
        The command's options by the names of their arguments.

    Examples
    --------
    >>> from ucvtest.cli.errors import ShellDoor
    >>> from ucvtest.common.words import arg, through
    >>> with through(ShellDoor({"loss": "--loss"})):
    ...     f"use {arg('loss', 'log', 'auc')}"
    'use --loss log or auc'
    """

    terms = TERMS

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = options

    def arg(self, name: str, *values: Any) -> str:
        """The option, if the command has one."""
        option = self.options.get(name)
        if option is None:
            return super().arg(name, *values)
        return f"{option} {alternatives(map(_typed, values))}" if values else option

    def has(self, name: str) -> bool:
        """Whether the command has the option."""
        return name in self.options

    def call(self, name: str, *arguments: str) -> str:
        """A command and its options, or a test by its name."""
        test = getattr(getattr(uv, name, None), "method_name", None)
        if test is not None:
            return f"--test {test}" if "test" in self.options else str(test)
        command = COMMANDS.get(name)
        if command is None:
            return super().call(name, *arguments).removeprefix("uv.")
        return " ".join(
            [command, *(argument for argument in arguments if argument.startswith("--"))]
        )

    def item(self, name: str, key: Any) -> str:
        """A column of the file."""
        return f"column {key!s:.60}"


COMMANDS = {
    "Losses.from_predictions": "ucvtest predictions",
    "survival": "--event",
    "Ledger.open": "ucvtest ledger open",
    "columns": "ucvtest columns",
    "compare": "ucvtest compare",
    "plan": "ucvtest plan",
    "select_model": "ucvtest select",
}
"""Commands by the functions that they call."""


def _typed(value: Any) -> str:
    """A value as one types it in a shell: (5, 6) as 5,6 and 'log' as log."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else f"{value!s:.60}"


class Command(TyperCommand):
    """A command that knows what its options are called elsewhere, and whose help lists tests."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options; of one that is unknown, say which was meant."""
        try:
            return super().parse_args(ctx, args)
        except USAGE_ERROR as error:
            name = str(getattr(error, "option_name", "")).lstrip("-").replace("-", "_")
            option = f"--{ALIASES.get(name)}"
            if hasattr(error, "possibilities") and any(
                option in parameter.opts for parameter in self.params
            ):
                error.possibilities = [option]
            raise

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with all tests in the place of ``{tests}``."""
        if "{tests}" in (self.help or ""):
            from ucvtest.methods.registry import TESTS

            # Those that compare first, and of these the valid ones.
            listed = sorted(TESTS.values(), key=lambda cls: (not cls.needs.compares, not cls.valid))
            longest = max(len(name) for name in TESTS)
            lines = (f"  {cls.method_name:<{longest}}  {cls.in_short}" for cls in listed)
            self.help = str(self.help).replace("  {tests}", "\n".join(lines))
        super().format_help_text(ctx, formatter)


@contextmanager
def one_line_errors(names: Iterable[str]) -> Iterator[None]:
    """Turn errors that a user can mend into one line and exit status 2, warnings into one line.

    What the library says of arguments is said of the options, which have these names.
    """

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        show_warning(message)

    with warnings.catch_warnings(), through(ShellDoor(flags(names))):
        warnings.showwarning = show
        try:
            yield
        except BrokenPipeError:
            # The reader of the output closed it early, which is not an error.
            leave_pipe()
            raise typer.Exit(0) from None
        except (ValueError, OSError, ImportError, MissingPlatformError) as error:
            typer.echo(f"Error: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(2) from None


@contextmanager
def to_reader() -> Iterator[None]:
    """Print for a reader who may leave, as `head` does: the exit status stays what it is."""
    try:
        yield
    except BrokenPipeError:
        leave_pipe()


def leave_pipe() -> None:
    """Print nowhere from now on, also when Python closes its streams at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show_warning(message: Warning | str) -> None:
    """Print one line."""
    typer.echo(f"Warning: {message}", err=True)


def flag(name: str) -> str:
    """The option of an argument."""
    return f"--{name.replace('_', '-')}"


def flags(names: Iterable[str]) -> dict[str, str]:
    """Options by their names, and by those that they have elsewhere."""
    own = {name: flag(name) for name in names}
    return {name: own[option] for name, option in ALIASES.items() if option in own} | own
