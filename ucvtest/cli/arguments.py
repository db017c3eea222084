"""Options of commands, made from what records and functions declare and document.

A command is a record with a method `run`, or a function. Each of its fields or arguments is an
option, of the type and with the default that it declares. Its help stands in numpydoc's section
Parameters, behind the name and a word for its value. A record has the fields of its bases too,
which commands share, with their help.

What Python's functions declare is not read, because importing them takes seconds that neither help
nor the Tab key has. Tests compare the choices with theirs.
"""

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from textwrap import indent
from typing import Annotated, Any

import typer

from ucvtest.cli.errors import flag, one_line_errors
from ucvtest.cli.names import complete_learner, complete_test
from ucvtest.common import docstrings

POSITIONAL = ("path", "data", "file")
"""What is typed without an option."""

TYPER_OPTIONS: dict[str, dict[str, Any]] = {
    "learner": {"autocompletion": complete_learner},
    "other": {"autocompletion": complete_learner},
    "test": {"autocompletion": complete_test},
    "seed": {"min": 0},
}
"""What typer has to know of options beside types and help."""


def as_command(target: Callable[..., Any]) -> Callable[..., None]:
    """The function that typer makes a command of: it calls the function, or runs the record."""
    options = [_option(parameter, text) for parameter, text in _described(target)]
    names = [option.name for option in options if option.name not in POSITIONAL]

    def run(**values: Any) -> None:
        with one_line_errors(names):
            outcome = target(**values)
            if outcome is not None:
                outcome.run()

    run.__doc__ = _help(target)
    vars(run)["__signature__"] = Signature(options)
    return run


def _described(target: Callable[..., Any]) -> list[tuple[Parameter, str]]:
    """The arguments with their help: those without a default, then a record's own, then shared."""
    order: list[str] = []
    texts: dict[str, str] = {}
    for cls in getattr(target, "__mro__", (target,)):
        order += vars(cls).get("__annotations__", ())
        section = docstrings.sections(cls.__doc__ or "").get("Parameters", "")
        texts = docstrings.parameters(section) | texts
    parameters = sorted(
        signature(target).parameters.values(),
        key=lambda parameter: (
            parameter.default is not Parameter.empty,
            order.index(parameter.name) if order else 0,
        ),
    )
    return [(parameter, texts.get(parameter.name, "")) for parameter in parameters]


def _option(parameter: Parameter, described: str) -> Parameter:
    """The parameter as typer reads it."""
    name, kind = parameter.name, parameter.annotation
    value, _, text = described.partition("\n")
    metavar = value.removeprefix(" : ") or None
    help_options: dict[str, Any] = {"metavar": metavar, "help": " ".join(text.split())}
    typer_option: Any
    if name in POSITIONAL:
        typer_option = typer.Argument(**help_options)
    else:
        written = [f"{flag(name)}/--no-{name}" if kind == bool | None else flag(name)]
        if name == "quiet":
            written.append("-q")
        typer_option = typer.Option(..., *written, **help_options, **TYPER_OPTIONS.get(name, {}))
    return parameter.replace(annotation=Annotated[kind, typer_option], kind=Parameter.KEYWORD_ONLY)


def _help(target: Callable[..., Any]) -> str:
    """What stands above the options: the docstring, its other sections as they are."""
    sections = docstrings.sections(target.__doc__ or "")
    sections.pop("Parameters", None)
    summary = sections.pop("")
    # \b is Click's mark for lines that keep their breaks.
    parts = [f"\b\n{title}:\n{indent(text, '  ')}" for title, text in sections.items()]
    return "\n\n".join([summary, *parts])
