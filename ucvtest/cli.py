"""The command line: from a CSV file to a verdict."""

import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ucvtest.exceptions import UcvtestWarning

if TYPE_CHECKING:
    import pandas as pd

    from ucvtest.results import TestResult

__all__ = ["app", "main"]

LossName = Literal["zero_one", "squared", "absolute", "log"]
AlternativeName = Literal["two-sided", "less", "greater"]
VarianceName = Literal["auto", "clipped", "jackknife", "unbiased", "asymptotic"]
PLOT_FORMATS = (".png", ".pdf", ".svg")
MAX_NAMES = 8
WIDTH = 78

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
mlflow_app = typer.Typer(rich_markup_mode=None)
app.add_typer(mlflow_app, name="mlflow", help="Results on their way to MLflow.")


def main() -> None:
    """Run the command line with the arguments of this process."""
    app(prog_name="ucvtest")


def _print_version(wanted: bool) -> None:
    if wanted:
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


@app.command()
def compare(
    data: Annotated[Path, typer.Argument(metavar="DATA.csv", help="CSV file, also .csv.gz.")],
    target: Annotated[str, typer.Option(help="Column to predict; all others are features.")],
    learner: Annotated[str, typer.Option(help="First learner, for example lasso:0.08.")],
    other: Annotated[
        str | None,
        typer.Option(help="Second learner. Without it, the error of the first is estimated."),
    ] = None,
    learn_size: Annotated[
        int | None,
        typer.Option(help="Observations to learn from. [default: half of them, less one]"),
    ] = None,
    loss: Annotated[
        LossName | None,
        typer.Option(help="[default: zero_one for classes, squared for real numbers]"),
    ] = None,
    pos_label: Annotated[
        str | None, typer.Option(help="The positive class. [default: the last in sorted order]")
    ] = None,
    null_value: Annotated[
        float | None,
        typer.Option(help="Value to test against. [default: 0 for two learners, none for one]"),
    ] = None,
    alternative: Annotated[
        AlternativeName,
        typer.Option(help="What to show; less: the first learner has the smaller loss."),
    ] = "two-sided",
    variance: Annotated[VarianceName, typer.Option(help="Variance estimate.")] = "auto",
    n_pairs: Annotated[
        str,
        typer.Option(
            metavar="auto|exact|N",
            help="Pairs of learning sets: as many as --tol needs, all there are, or a number.",
        ),
    ] = "auto",
    tol: Annotated[
        float, typer.Option(help="Relative Monte-Carlo error at which --n-pairs auto stops.")
    ] = 0.05,
    max_fits: Annotated[
        int | None, typer.Option(help="Model fits after which --n-pairs auto stops in any case.")
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="One minus the confidence level of the interval.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random learning sets.")] = 0,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COL", help="Column to leave out; repeatable.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw the result (or .pdf, .svg).")
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Write the whole result as JSON.")
    ] = None,
    mlflow: Annotated[bool, typer.Option("--mlflow", help="Log the result to MLflow.")] = False,
) -> None:
    """Test whether one learner is better than another on one small data set.

    Models are fitted to many learning sets of the size that you name and tested on the
    observations left out; a U-statistic gives the difference of their expected losses,
    its standard error and a test. Without --other, the error of one learner and its
    confidence interval. The verdict is the first line; estimates are the first learner
    minus the second, so that a negative one speaks for the first.

    \b
    Learners:
      lda, qda            linear and quadratic discriminant analysis
      nearest_centroid    the class with the nearest mean
      polynomial:3        polynomials of degree 3 of every feature
      gaussian_nb         naive Bayes with normal features
      knn:5               5 nearest neighbours
      ridge:1.0           ridge regression (on 0/1 codes for classes), penalty 1.0
      kernel_ridge:1.0    kernel ridge regression; 1.0,kernel=rbf for the Gaussian kernel
      logistic:0.1        logistic regression, ridge penalty
      lasso:0.08          logistic regression, lasso penalty 0.08 as in glmnet
      elastic_net:0.1,0.5 the same, half of the penalty 0.1 being ridge
      majority            the most frequent class: the least a learner must beat

    \b
    Examples:
      ucvtest compare colon.csv --target tumour \\
          --learner lasso:0.08 --other lasso:0.5 --learn-size 26
      ucvtest compare wine.csv --target cultivar --learner lda
      ucvtest compare heart.csv --target died --pos-label yes --loss log \\
          --learner lda --other knn:7 --drop patient_id --plot heart.png
    """  # noqa: D301  (\b is Click's mark for lines that keep their breaks)
    with _one_line_errors():
        _check_options(alpha, plot, json)
        number = _parse_pairs(n_pairs)
        features, response = _read(data, target, drop or [])

        import ucvtest as uv

        if mlflow:
            uv.autolog()
        test = uv.UStatisticTest(
            features,
            response,
            learner,
            other,
            learn_size=learn_size,
            null_value=null_value,
            alternative=alternative,
            loss=loss,
            pos_label=_as_label(pos_label, response),
        )
        result = test.fit(
            n_pairs=number,
            variance=variance,
            tol=tol,
            max_fits=max_fits,
            rng=seed,
        )
        _report(result, alpha, plot, json)


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
    with _one_line_errors(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from ucvtest.autologging import flush_spool

        sent = flush_spool(spool_dir)
    for run_id, key in sent:
        typer.echo(f"Sent: {key} to run {run_id}")
    kept = [item.message for item in caught if issubclass(item.category, UcvtestWarning)]
    for message in kept:
        _show_warning(message)
    if not sent and not kept:
        typer.echo("Nothing to send.")
    if kept:
        raise typer.Exit(1)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Turn errors that a user can mend into one line and exit status 2, warnings into one line."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            yield
        except (ValueError, OSError, ImportError) as error:
            typer.echo(f"Error: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(2) from None


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.echo(f"Warning: {message}", err=True)


def _check_options(alpha: float, plot: Path | None, json: Path | None) -> None:
    """Refuse before the first fit what would fail after the last one."""
    if not 0 < alpha < 1:
        raise ValueError(f"--alpha must lie between 0 and 1, got {alpha}: use 0.05 for 95%")
    if plot is not None and plot.suffix.lower() not in PLOT_FORMATS:
        raise ValueError(f"--plot must end in {', '.join(PLOT_FORMATS)}, got {plot}")
    if plot is not None and find_spec("matplotlib") is None:
        raise ImportError("--plot needs matplotlib: pip install 'ucvtest[plot]'")
    for option, path in (("--plot", plot), ("--json", json)):
        if path is not None and not path.absolute().parent.is_dir():
            raise ValueError(f"{option} {path}: the folder {path.parent} does not exist")


def _parse_pairs(pairs: str) -> Any:
    """What `fit` takes as n_pairs."""
    if pairs in ("auto", "exact"):
        return pairs
    try:
        return int(pairs)
    except ValueError:
        raise ValueError(
            f"--n-pairs must be auto, exact or a whole number, got {pairs!r}"
        ) from None


def _read(path: Path, target: str, drop: Sequence[str]) -> "tuple[pd.DataFrame, Any]":
    """Features and response of a CSV file."""
    import pandas as pd

    try:
        table = pd.read_csv(path)
    except ValueError as error:  # what pandas raises names no file
        raise ValueError(f"{path}: {error}") from error
    if target in drop:
        raise ValueError(f"--drop {target}: that is the target")
    for option, name in (("--target", target), *(("--drop", name) for name in drop)):
        if name not in table.columns:
            raise ValueError(
                f"{option} {name}: no such column in {path}, which has {_listed(table.columns)}"
            )
    features = table.drop(columns=[target, *drop])
    _check_features(features, path)
    return features, table[target].to_numpy()


def _check_features(features: "pd.DataFrame", path: Path) -> None:
    if features.shape[1] == 0:
        raise ValueError(f"{path} has no column left to learn from")
    unnamed = [name for name in features.columns if str(name).startswith("Unnamed: ")]
    if unnamed:
        # Mostly row numbers, and rows are often sorted by class: a feature that knows the answer.
        raise ValueError(
            f"{path} has a column without a name, perhaps row numbers: name it in the file, or "
            f"leave it out with --drop '{unnamed[0]}'"
        )
    textual = features.select_dtypes(exclude=["number", "bool"]).columns
    if len(textual):
        raise ValueError(
            f"columns that are not numeric: {_listed(textual)}; encode them as numbers, or leave "
            f"them out with --drop"
        )
    incomplete = features.columns[features.isna().any()]
    if len(incomplete):
        raise ValueError(
            f"columns with missing values: {_listed(incomplete)}; impute them, or leave them out "
            "with --drop"
        )


def _listed(names: Any) -> str:
    shown = ", ".join(str(name) for name in names[:MAX_NAMES])
    return shown if len(names) <= MAX_NAMES else f"{shown} and {len(names) - MAX_NAMES} more"


def _as_label(text: str | None, response: Any) -> Any:
    """The label that is written like `text`; labels read from a file may be numbers."""
    return next((label for label in response if str(label) == text), text)


def _report(result: "TestResult", alpha: float, plot: Path | None, json: Path | None) -> None:
    from ucvtest.summaries import summary, verdict

    typer.echo(textwrap.fill(verdict(result, alpha), WIDTH) + "\n")
    typer.echo(summary(result, alpha, with_verdict=False).as_text())
    if json is not None:
        json.write_text(result.to_json(indent=2) + "\n", encoding="utf-8")
        typer.echo(f"Result: {json}")
    if plot is not None:
        result.save_plot(plot, alpha=alpha)
        typer.echo(f"Plot: {plot}")
