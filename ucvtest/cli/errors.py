"""Errors and warnings as one line each."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn errors that a user can mend into one line and exit status 2, warnings into one line."""
    with warnings.catch_warnings():
        warnings.showwarning = show_warning
        try:
            yield
        except (ValueError, OSError, ImportError) as error:
            typer.echo(f"Error: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(2) from None


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print one line."""
    typer.echo(f"Warning: {message}", err=True)
