"""The command ``ucvtest``, put together from its subcommands."""

import warnings
from pathlib import Path
from typing import Annotated

import typer

from ucvtest.cli.advise import advise
from ucvtest.cli.catalogue import ListsTests, example, learners, tests
from ucvtest.cli.compare import compare
from ucvtest.cli.compiled import keep_compiled_programs
from ucvtest.cli.doctor import doctor
from ucvtest.cli.errors import NamesOptions, one_line_errors, show_warning
from ucvtest.cli.gate import gate
from ucvtest.cli.plan import plan
from ucvtest.cli.predictions import predictions
from ucvtest.cli.select import select
from ucvtest.common.exceptions import UcvtestWarning

mlflow_app = typer.Typer(rich_markup_mode=None)


@mlflow_app.callback()
def _mlflow_group() -> None:
    """Results on their way to MLflow."""


@mlflow_app.command()
def flush(
    spool_dir: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The folder given to autolog. [default: its default]"),
    ] = None,
) -> None:
    """Send the results that were kept while their tracking server could not be reached.

    Every result is sent once, also where two such commands run at a time. What cannot be
    sent is kept, with a warning that says why; the exit status is then 1.
    """
    with one_line_errors(flush), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from ucvtest.autologging import flush_spool

        sent = flush_spool(spool_dir)
    for run_id, key in sent:
        typer.echo(f"Sent: {key} to run {run_id}")
    kept_messages = [
        warning.message for warning in caught if issubclass(warning.category, UcvtestWarning)
    ]
    for message in kept_messages:
        show_warning(message)
    if not sent and not kept_messages:
        typer.echo("Nothing to send.")
    if kept_messages:
        raise typer.Exit(1)


app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line with the arguments of this process."""
    keep_compiled_programs()
    app(prog_name="ucvtest")


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from ucvtest import __version__

        typer.echo(f"ucvtest {__version__}")
        raise typer.Exit


@app.callback()
def _group(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Honest statistical tests for learning algorithms on one small data set."""


app.command(cls=ListsTests)(compare)
app.command(cls=NamesOptions)(doctor)
app.command(cls=NamesOptions)(predictions)
app.command(cls=NamesOptions)(advise)
app.command(cls=NamesOptions)(select)
app.command(cls=NamesOptions)(gate)
app.command(cls=NamesOptions)(plan)
app.command()(learners)
app.command()(tests)
app.command()(example)
app.add_typer(mlflow_app, name="mlflow", help="Results on their way to MLflow.")
