"""The switch for automatic logging to MLflow."""

from pathlib import Path

__all__ = ["autolog"]


def autolog(
    *,
    log_plots: bool = True,
    log_datasets: bool = True,
    log_tables: bool = True,
    nested: bool = False,
    spool_dir: str | Path | None = None,
    disable: bool = False,
    silent: bool = False,
) -> None:
    """Log every later test to MLflow, into the active run or into one of its own.

    Parameters
    ----------
    log_plots, log_datasets, log_tables : bool
        Whether the picture, the data set as a run input, and the tables are logged.
    nested : bool
        Log each test as a child run of the active run instead of into it.
    spool_dir : path, optional
        Where results wait while the tracking server cannot be reached.
    disable : bool
        Stop logging.
    silent : bool
        Print nothing about where results go.

    Raises
    ------
    ImportError
        If MLflow is not installed.

    See Also
    --------
    ucvtest_mlflow : the functions behind it, for results that exist already.
    """
    try:
        from ucvtest_mlflow import autolog as mlflow_autolog
    except ImportError as error:
        raise ImportError("autolog needs MLflow: pip install 'ucvtest[mlflow]'") from error
    mlflow_autolog(
        log_plots=log_plots,
        log_datasets=log_datasets,
        log_tables=log_tables,
        nested=nested,
        spool_dir=spool_dir,
        disable=disable,
        silent=silent,
    )
