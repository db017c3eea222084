"""The command ``ucvtest``, put together from its subcommands."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ucvtest.cli.advise import advise
from ucvtest.cli.arguments import as_command
from ucvtest.cli.catalogue import example, learners, tests
from ucvtest.cli.columns import Columns
from ucvtest.cli.compare import Compare
from ucvtest.cli.compiled import keep_compiled_programs
from ucvtest.cli.doctor import Doctor
from ucvtest.cli.errors import Command, show_warning
from ucvtest.cli.gate import Gate
from ucvtest.cli.ledger import LEDGER_COMMANDS
from ucvtest.cli.plan import Plan
from ucvtest.cli.predictions import Predictions
from ucvtest.cli.select import Select
from ucvtest.common.exceptions import UcvtestWarning

COMMANDS: dict[str, Callable[..., Any]] = {
    "compare": Compare,
    "columns": Columns,
    "doctor": Doctor,
    "predictions": Predictions,
    "advise": advise,
    "select": Select,
    "gate": Gate,
    "plan": Plan,
    "learners": learners,
    "tests": tests,
    "example": example,
}


def flush(*, spool_dir: Path | None = None) -> None:
    """Send the results that were kept while their tracking server could not be reached.

    Every result is sent once, also where two such commands run at a time. What cannot be sent is
    kept, with a warning that says why; the exit status is then 1.

    Parameters
    ----------
    spool_dir : FOLDER
        The folder given to autolog. [default: its default]
    """
    with warnings.catch_warnings(record=True) as caught:
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


for name, target in COMMANDS.items():
    app.command(name, cls=Command)(as_command(target))

ledger_app = typer.Typer(rich_markup_mode=None)
for name, target in LEDGER_COMMANDS.items():
    ledger_app.command(name, cls=Command)(as_command(target))
app.add_typer(ledger_app, name="ledger", help="The file of a gate that is asked often.")

mlflow_app = typer.Typer(rich_markup_mode=None)
mlflow_app.command("flush", cls=Command)(as_command(flush))
# A group of one command would be this command.
mlflow_app.callback()(lambda: None)
app.add_typer(mlflow_app, name="mlflow", help="Results on their way to MLflow.")
