"""The command line: from a file to a verdict."""

from ucvtest.cli.commands import app, main

__all__ = ["app", "main"]
