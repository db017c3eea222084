"""``ucvtest gate``: whether a new model may take the place of an old one, as an exit status."""

import json as json_module
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ucvtest.cli.errors import in_options, one_line_errors, show_warning, to_reader
from ucvtest.cli.files import as_label, read_table, truth
from ucvtest.cli.options import (
    STDOUT,
    DataArgument,
    EventOption,
    MetricOption,
    PositiveOption,
    RuleLossName,
    SepOption,
    TruthOption,
    check_event,
    check_margin,
    check_options,
    check_truth,
)
from ucvtest.cli.report import width
from ucvtest.common.whole_files import write_whole

if TYPE_CHECKING:
    from ucvtest.results.margins import Decision, NoninferiorityResult
    from ucvtest.results.result import TestResult

EXIT_STATUS: "dict[Decision, int]" = {"pass": 0, "fail": 1, "undecided": 3}
"""2 is for errors, as everywhere."""


def gate(
    data: DataArgument,
    scores: Annotated[
        str, typer.Option(metavar="NEW,OLD", help="Columns with the predictions of both models.")
    ],
    margin: Annotated[
        float,
        typer.Option(
            help="By how much the new model may be worse, in units of the loss or metric."
        ),
    ],
    target: TruthOption = None,
    loss: Annotated[
        RuleLossName,
        typer.Option(
            help="zero_one takes predicted labels, log probabilities of the positive class, auc "
            "decision scores, squared and absolute numbers. Without a target: correct takes True "
            "or 1 for right answers, False or 0 for wrong ones, score any numbers of which higher "
            "ones are better."
        ),
    ] = "zero_one",
    metric: MetricOption = None,
    event: EventOption = None,
    pos_label: PositiveOption = None,
    sep: SepOption = None,
    alpha: Annotated[float, typer.Option(help="Level of the one-sided test.")] = 0.05,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Write the answer as JSON; - prints it alone."),
    ] = None,
) -> None:
    """Let a new model pass if it is not worse than the old one by a margin.

    Both models are fixed, and have predicted the same observations. Error rates are
    compared by McNemar's exact test, AUCs by DeLong's, other losses, and metrics such as
    F1, by the paired t test.
    Exit status 0: the new model is noninferior. 1: the whole interval lies beyond the
    margin. 3: undecided, as too few observations leave it, and two models whose
    predictions are the same. 2: an error.

    \b
    Examples:
      ucvtest gate holdout.csv --target died --scores new,old --margin 0.02
      ucvtest gate holdout.csv --target died --scores new,old --margin 0.05 --metric mcc
      ucvtest gate holdout.csv --target days --event died --scores new,old --margin 0.05 \\
          --metric harrell
    """  # noqa: D301  (\b is Click's mark for lines that keep their breaks)
    with one_line_errors(gate):
        check_options(alpha, None, None if json == STDOUT else json)
        check_margin(margin, alpha)
        names = [name.strip() for name in scores.split(",")]
        if len(names) != 2 or names[0] == names[1]:
            raise ValueError(f"--scores must name two columns, as in new,old; got {scores!r}")
        result = _run_test(data, (target, event), names, (loss, metric), pos_label, sep)
        judged = result.noninferiority(margin, alpha=alpha)

        from ucvtest.inference.positive_class import is_turned_note

        for note in filter(is_turned_note, result.notes):
            show_warning(in_options(note, {"pos_label": "--pos-label"}))
        with to_reader():
            _print(judged, result, json)
        raise typer.Exit(EXIT_STATUS[judged.decision])


def _run_test(
    data: Path,
    of_truth: tuple[str | None, str | None],
    names: list[str],
    loss_and_metric: tuple[RuleLossName, str | None],
    pos_label: str | None,
    sep: str | None,
) -> "TestResult":
    """The test of the first rule against the second.

    `of_truth` are --target and --event, `loss_and_metric` --loss and --metric.
    """
    (target, event), (loss, metric) = of_truth, loss_and_metric
    check_truth(target, loss, metric)
    check_event(event, target, metric)
    columns = (("--target", target), ("--event", event), *(("--scores", name) for name in names))
    option_columns = [(option, name) for option, name in columns if name is not None]
    table = read_table(data, option_columns, sep)

    import ucvtest as uv

    y = truth(table, target, event)
    predictions = {name: table[name].to_numpy() for name in names}
    if loss == "correct":
        if pos_label is not None:
            raise ValueError("--pos-label has no use with --loss correct: leave it out")
        losses = uv.Losses.from_correct(predictions)
    else:
        label = pos_label
        if pos_label is not None and target is not None:
            label = as_label(pos_label, table[target].to_numpy())
        losses = uv.Losses.from_predictions(
            y, predictions, loss=loss, metric=metric, pos_label=label
        )
    test: Any = uv.HoldOutTest
    metric_of_losses = losses.in_losses.metric
    if metric_of_losses.ranks_pairs:
        test = uv.DeLongTest
    elif metric_of_losses.counts_errors:
        test = uv.McNemarTest
    result: TestResult = test.from_losses(losses, *names).fit()
    return result


def _print(judged: "NoninferiorityResult", result: "TestResult", json: Path | None) -> None:
    from ucvtest import __version__

    values = {**judged.to_dict(), "n_obs": result.n_obs, "ucvtest": __version__}
    json_text = json_module.dumps(values, allow_nan=False, indent=2)
    if json == STDOUT:
        typer.echo(json_text)
        return
    if json is not None:
        # Before anything is printed, as the reader may leave.
        write_whole(json, json_text + "\n")
    typer.echo(textwrap.fill(judged.verdict, width()) + "\n")
    typer.echo(judged.summary(with_verdict=False).as_text())
    if json is not None:
        typer.echo(f"Result: {json}")
