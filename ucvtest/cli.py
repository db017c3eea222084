"""The command line: from a CSV file to a verdict."""

import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ucvtest.common.exceptions import UcvtestWarning

if TYPE_CHECKING:
    import pandas as pd

    from ucvtest.comparison.comparison import Comparison
    from ucvtest.comparison.specs import TestSpec
    from ucvtest.results.result import TestResult

__all__ = ["app", "main"]

LossName = Literal["zero_one", "squared", "absolute", "log", "auc"]
AlternativeName = Literal["two-sided", "less", "greater"]
CorrectionName = Literal[
    "holm",
    "bonferroni",
    "sidak",
    "holm-sidak",
    "simes-hochberg",
    "hommel",
    "fdr_bh",
    "fdr_by",
    "none",
]
VarianceName = Literal["auto", "midpoint", "clipped", "jackknife", "unbiased", "asymptotic"]
IntervalName = Literal["auto", "wald", "stabilised", "plus_four", "hall", "hall_floor", "logit"]

ContrastName = Literal["difference", "ratio"]

OWN_OPTIONS = {
    "--learn-size": ("constructor", "learn_size", None),
    "--variance": ("fit", "variance", "auto"),
    "--interval": ("fit", "interval", "auto"),
    "--n-pairs": ("fit", "n_pairs", "auto"),
    "--tol": ("fit", "tol", 0.05),
    "--max-fits": ("fit", "max_fits", None),
}
"""Options of ustatistic alone: what takes them, their names there and their defaults."""

RECOMMENDED = "recommended"
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
        list[str] | None,
        typer.Option(
            help="Second learner; repeatable, for a table of all pairs. Without it, the error of "
            "the first is estimated."
        ),
    ] = None,
    test: Annotated[
        str,
        typer.Option(
            help="Which test; the names are listed below. [default: the one that is recommended "
            "for this number of observations, learners and loss]"
        ),
    ] = "",
    tests: Annotated[
        str | None,
        typer.Option(
            metavar="recommended|NAME,NAME,...", help="Several tests instead, in one table."
        ),
    ] = None,
    correction: Annotated[
        CorrectionName, typer.Option(help="How p-values of several pairs are adjusted.")
    ] = "holm",
    learn_size: Annotated[
        int | None,
        typer.Option(
            help="Observations to learn from, for the test ustatistic. [default: half of them, "
            "less one]"
        ),
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
        typer.Option(
            help="Value to test against. [default: 0 for two learners, 1 for their ratio, none "
            "for one]"
        ),
    ] = None,
    contrast: Annotated[
        ContrastName,
        typer.Option(
            help="Compare expected losses by their difference or, with ustatistic, by their ratio "
            "(squared, absolute and log losses), which is 1 for equal learners."
        ),
    ] = "difference",
    alternative: Annotated[
        AlternativeName,
        typer.Option(help="What to show; less: the first learner has the smaller loss."),
    ] = "two-sided",
    variance: Annotated[
        VarianceName, typer.Option(help="Variance estimate of ustatistic.")
    ] = "auto",
    interval: Annotated[
        IntervalName,
        typer.Option(help="Interval of ustatistic; for one learner it goes by the loss."),
    ] = "auto",
    n_pairs: Annotated[
        str,
        typer.Option(
            metavar="auto|exact|N",
            help="Pairs of learning sets of ustatistic: as many as --tol needs, all there are, or "
            "a number.",
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

    Models are fitted to parts of the data and tested on the observations left out. Which
    test is run depends on the number of observations, the loss and how many learners there
    are: the one that a calibration study recommends, and a note says why. --test names
    another, --tests several, which are then fitted once for each different design.
    Without --other, the error of one learner and its confidence interval. The verdict is
    the first line; estimates are the first learner minus the second, so that a negative
    one speaks for the first (with --loss auc a positive one).

    \b
    Tests:
      ustatistic                all learning sets of one size (--learn-size)
      corrected_t               10 folds, t test that allows for their overlap
      fold_covariance           10 folds, and what they can say of their own variance
      influence                 repeated splits, variance by the influence function
      cross_validation_wald     10 folds: their own error, not that of the learner
      nested_cross_validation   10 folds inside 10 folds
      conservative_z            random splits of the sample and of its halves
      five_by_two_t             5 times 2 folds, t test of Dietterich
      five_by_two_f             the same, F test of Alpaydin
      bayesian_t                10 folds, probabilities instead of a p-value
      hold_out                  one split
      mcnemar                   one split, exact test of the errors
      delong                    one split, AUC (--loss auc)
      naive_t                   10 folds taken for independent: not valid

    \b
    Learners:
      lda, qda            linear and quadratic discriminant analysis
      nearest_centroid    the class with the nearest mean
      polynomial:3        polynomials of degree 3 of every feature
      gaussian_nb         naive Bayes with normal features
      knn:5               5 nearest neighbours
      ridge:1.0           ridge regression (on 0/1 labels for classes), penalty 1.0
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
      ucvtest compare wine.csv --target cultivar --learner lda --other knn:5 \\
          --other majority --tests recommended
      ucvtest compare heart.csv --target died --pos-label yes --loss log \\
          --learner lda --other knn:7 --drop patient_id --plot heart.png
    """  # noqa: D301  (\b is Click's mark for lines that keep their breaks)
    with _one_line_errors():
        _check_options(alpha, plot, json)
        own = {
            "--learn-size": learn_size,
            "--variance": variance,
            "--interval": interval,
            "--n-pairs": _parse_pairs(n_pairs),
            "--tol": tol,
            "--max-fits": max_fits,
        }
        named = _named_tests(test, tests, own)
        if contrast == "ratio":
            named = _of_ratios(named, learners=1 + len(other or []))
        X, y = _read(data, target, drop or [])

        import ucvtest as uv

        if mlflow:
            uv.autolog()
        learners = [learner, *(other or [])]
        common = {"loss": loss, "alternative": alternative, "pos_label": _as_label(pos_label, y)}
        if contrast != "difference":
            common["contrast"] = contrast
        as_table = tests is not None or len(learners) > 2
        _check_together(as_table, learners, null_value, correction)
        outcome: TestResult | Comparison
        if as_table:
            adjusted = None if correction == "none" else correction
            chosen = named or RECOMMENDED
            outcome = uv.compare(X, y, learners, chosen, **common, correction=adjusted, rng=seed)
        else:
            outcome = _run_test(named, X, y, learners, null_value, common, seed)
        _report(outcome, alpha, plot, json)


def _check_together(
    as_table: bool, learners: Sequence[str], null_value: float | None, correction: CorrectionName
) -> None:
    """Refuse options that mean nothing for a table, or for a single test."""
    if as_table and null_value is not None:
        raise ValueError("--null-value is for one test of one or two learners")
    if as_table and len(learners) == 1:
        raise ValueError(
            "--tests compares learners: name another in --other, or use --test with one "
            "test for the error of the first"
        )
    if not as_table and correction != "holm":
        raise ValueError("--correction has no use: there is one p-value")


def _run_test(
    named: "dict[str, TestSpec]",
    X: "pd.DataFrame",
    y: Any,
    learners: Sequence[str],
    null_value: float | None,
    common: dict[str, Any],
    seed: int,
) -> "TestResult":
    """One test of one learner or two; `common` holds the arguments that all tests understand."""
    from ucvtest.comparison.default import recommended

    default = None
    if not named:
        arguments = {"pos_label": common["pos_label"]}
        default = recommended(X, y, list(learners), len(learners), common["loss"], arguments)
    spec = default.spec if default else next(iter(named.values()))
    cls: Any = spec.cls
    shared = {name: value for name, value in common.items() if name != "loss"}
    shared |= cls._loss_arguments(common["loss"])
    made = cls(X, y, *learners, null_value=null_value, **shared, **spec.constructor)
    result: TestResult = made.fit(**spec.fit, rng=seed)
    return default.noted(result) if default else result


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


def _named_tests(test: str, tests: str | None, own: dict[str, Any]) -> "dict[str, TestSpec]":
    """The tests by name, none for the recommended one; `own` holds the values of `OWN_OPTIONS`."""
    from ucvtest.comparison.specs import TestSpec, as_specs

    if test and tests is not None:
        raise ValueError("--test and --tests exclude each other: list all in --tests")
    given = [option for option, value in own.items() if value != OWN_OPTIONS[option][2]]
    # Options of one test name it.
    listed = test or ("ustatistic" if given and tests is None else tests or RECOMMENDED)
    if listed == RECOMMENDED:
        chosen: dict[str, TestSpec] = {}
    else:
        chosen = as_specs([name.strip() for name in listed.split(",")])
    if given and "ustatistic" not in chosen:
        raise ValueError(f"{given[0]} belongs to the test ustatistic, which is not run")
    parts: dict[str, dict[str, Any]] = {"constructor": {}, "fit": {}}
    for option in given:
        part, name, _ = OWN_OPTIONS[option]
        parts[part][name] = own[option]
    return {
        label: TestSpec("ustatistic", **parts) if label == "ustatistic" else spec
        for label, spec in chosen.items()
    }


def _of_ratios(named: "dict[str, TestSpec]", learners: int) -> "dict[str, TestSpec]":
    """The tests that can be about ratios: by default the only one."""
    from ucvtest.comparison.specs import as_specs

    if learners == 1:
        raise ValueError("--contrast ratio compares learners: name another in --other")
    for label, spec in named.items():
        if "ratio" not in spec.cls.contrasts:
            raise ValueError(f"--contrast ratio is for the test ustatistic, not for {label}")
    return named or as_specs("ustatistic")


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


def _report(
    outcome: "TestResult | Comparison", alpha: float, plot: Path | None, json: Path | None
) -> None:
    # The verdict comes first, and need not be said again below the tables.
    typer.echo(textwrap.fill(_verdict(outcome, alpha), WIDTH) + "\n")
    typer.echo(outcome.summary(alpha, with_verdict=False).as_text())
    if json is not None:
        json.write_text(outcome.to_json(indent=2) + "\n", encoding="utf-8")
        typer.echo(f"Result: {json}")
    if plot is not None:
        outcome.save_plot(plot, alpha=alpha)
        typer.echo(f"Plot: {plot}")


def _verdict(outcome: "TestResult | Comparison", alpha: float) -> str:
    from ucvtest.comparison import summary
    from ucvtest.results import wording
    from ucvtest.results.result import TestResult

    if isinstance(outcome, TestResult):
        return wording.verdict(outcome, alpha)
    return summary.verdict(outcome, alpha)
