"""The command ``ucvtest``, put together from its subcommands."""

from typing import Annotated

import typer

from ucvtest.cli.advise import advise
from ucvtest.cli.catalogue import ListsTests, example, learners, tests
from ucvtest.cli.compare import compare
from ucvtest.cli.compiled import keep_compiled_programs
from ucvtest.cli.doctor import doctor
from ucvtest.cli.errors import NamesOptions
from ucvtest.cli.gate import gate
from ucvtest.cli.plan import plan
from ucvtest.cli.predictions import predictions
from ucvtest.cli.select import select
from ucvtest.cli.spool import mlflow_app

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
