"""Errors and warnings as one line each, in the words of the command line."""

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from inspect import signature
from traceback import walk_tb
from typing import Any

import typer
from typer.core import TyperCommand
from typer.models import OptionInfo

from ucvtest.common.exceptions import MissingPlatformError

SHELL_PACKAGE = "ucvtest.cli"

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

REMEDIES = {
    "n_jobs": re.compile(r"(?:more )?\bn_jobs, "),
    "n_repeats": re.compile(r"use n_repeats=1, or (?=pass fold)"),
    "fold": re.compile(r", or pass fold and predictions of one repeat"),
    "interval": re.compile(r", or use interval='wald'"),
    "criteria": re.compile(r"name fewer in criteria, such as criteria=\[[^]]*\], "),
}
"""What messages advise that has no option, by the argument that it is about."""

METRICS = (
    (re.compile(r", (?:or|your own by) uv\.metrics\.(?:Cells|Moments)[^,;]*"), ""),
    (re.compile(r"\buv\.metrics\.(\w+)\('(\w+)'\)"), r"\1_\2"),
    (re.compile(r"\buv\.metrics\.(\w+)\(labels=\[\.\.\.\]\)"), r"""'\1["ill"]'"""),
    (
        re.compile(
            r"\buv\.Losses\.from_predictions\((?:y, scores|uv\.survival\(time, event\), risks), "
            r"(metric='[^']+')\)(?: with uv\.HoldOutTest)?"
        ),
        r"ucvtest predictions with \1",
    ),
    (re.compile(r"\buv\.metrics\.(\w+\([\d.]+\))"), r"'\1'"),
    (
        re.compile(r"\by and predictions, or pass y as pd\.Categorical\(.*\)"),
        "every column of labels",
    ),
    (
        re.compile(r"\bname one by labels=\[\.\.\.\], or an average: [^:;]+"),
        "name one, as in 'f1[\"ill\"]', or an average, as in f1_macro",
    ),
)
"""What messages say of metrics that are made by functions: here by their names alone."""

COLUMNS = (
    (re.compile(r"\b(?:predictions|correct)\['?([^\]]+?)'?\](?= )"), r"column \1"),
    (
        re.compile(r"\bconvert them first, with \.astype\(float\) if [^,;:]*"),
        "write numbers in the file, with one decimal mark and no separators of thousands",
    ),
    (
        re.compile(r"\bconvert them to a unit [^;:]*np\.timedelta64[^;:]*"),
        "write numbers in the file, such as days since the first date, or text if they are labels",
    ),
    (re.compile(r", for example from (?:np\.where\([^()]*\)|p > 0\.5)(?=, or )"), ""),
    (
        re.compile(r"\bor 'log' for probabilities and 'auc' for scores"),
        "or --loss log for probabilities and --loss auc for scores",
    ),
)
"""What messages say of arrays and calls in Python: here these are columns of a file."""

USAGE_ERROR: Any = typer.BadParameter.__bases__[0]
"""What typer raises over options; newer ones bring a Click of their own."""

TEST_CLASS = re.compile(r"\buv\.(\w+Test)\b(?!\.)")
"""What messages of the library call a test."""


class NamesOptions(TyperCommand):
    """A command that suggests its own option for one that goes by another name elsewhere."""

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


@contextmanager
def one_line_errors(command: Callable[..., None]) -> Iterator[None]:
    """Turn errors that a user can mend into one line and exit status 2, warnings into one line.

    What the library says of arguments that `command` has as options is said of these.
    """
    options = _options_of(command)

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        show_warning(in_options(str(message), options))

    with warnings.catch_warnings():
        warnings.showwarning = show
        try:
            yield
        except BrokenPipeError:
            # The reader of the output closed it early, which is not an error.
            leave_pipe()
            raise typer.Exit(0) from None
        except (ValueError, OSError, ImportError, MissingPlatformError) as error:
            frames = [frame for frame, _ in walk_tb(error.__traceback__)]
            is_own_error = frames[-1].f_globals.get("__name__", "").startswith(SHELL_PACKAGE)
            error_text = str(error) if is_own_error else in_options(str(error), options)
            typer.echo(f"Error: {' '.join(error_text.split())}", err=True)
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


def _options_of(command: Callable[..., None]) -> dict[str, str]:
    """The options of a command by the names of its parameters."""
    parameters = signature(command).parameters.values()
    option_names = {
        parameter.name: "--" + parameter.name.replace("_", "-")
        for parameter in parameters
        if any(
            isinstance(annotation, OptionInfo) for annotation in parameter.annotation.__metadata__
        )
    }
    return {
        name: option_names[option] for name, option in ALIASES.items() if option in option_names
    } | option_names


def in_options(message: str, options: dict[str, str]) -> str:
    """A message with options in the place of arguments, which are the keys; all else stays.

    Examples
    --------
    >>> from ucvtest.cli.errors import in_options
    >>> in_options("use loss='log' or 'auc' or a smaller learn_size",
    ...            {"loss": "--loss", "learn_size": "--learn-size"})
    'use --loss log or auc or a smaller --learn-size'
    """
    for argument, remedy in REMEDIES.items():
        if argument not in options:
            message = remedy.sub("", message)
    for pattern_in_python, in_shell in (*METRICS, *COLUMNS):
        message = pattern_in_python.sub(in_shell, message)
    if "test" in options:
        message = TEST_CLASS.sub(_test_option, message)
    quoted = r"'[^']*'(?:(?:, | or |, or )'[^']*')*"
    value = rf"=(?P<value>{quoted}|\([^()]*\)|[^\s,;:()]+)"
    name = f"(?:{_alternatives(options)})"
    # Names of one word are words of prose as well, but for subjects: "difference and width must".
    subject = rf"(?:{name}(?:, | and | or ))*{name}(?= must\b| stands for | exclude each | out\b)"
    long = (
        rf"(?:{_alternatives(option_name for option_name in options if '_' in option_name)})\b(?!=)"
    )
    bare = rf"(?P<bare>{name})=(?=[\s,;:.)]|$)"
    pattern = (
        rf"(?<![\w.'-])(?:(?P<name>{name}){value}|{bare}|(?P<subject>{subject})|(?P<long>{long}))"
    )

    def option(match: re.Match[str]) -> str:
        if match["value"]:
            return f"{options[match['name']]} {_option_value(match['value'])}"
        if match["bare"]:
            return options[match["bare"]]
        return re.sub(rf"\b{name}\b", lambda option_match: options[option_match[0]], match[0])

    return re.sub(pattern, option, message)


def _alternatives(names: Iterable[str]) -> str:
    return "|".join(sorted(names, key=len, reverse=True)) or "(?!)"


def _option_value(value: str) -> str:
    """A value as one writes it in a shell: (5, 6) as 5,6 and 'log' as log."""
    if value.startswith("("):
        return value.strip("()").replace(" ", "")
    return value.replace("'", "")


def _test_option(match: re.Match[str]) -> str:
    from ucvtest.methods import registry

    names = {cls.__name__: name for name, cls in registry.tests_that_compare().items()}
    return f"--test {names[match[1]]}" if match[1] in names else match[0]
