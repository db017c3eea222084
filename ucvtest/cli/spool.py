"""``ucvtest mlflow``: results that wait for their tracking server."""

import warnings
from pathlib import Path
from typing import Annotated

import typer

from ucvtest.cli.errors import one_line_errors, show_warning
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
