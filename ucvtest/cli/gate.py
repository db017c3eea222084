"""``ucvtest gate``: whether a new model may take the place of an old one, as an exit status."""

import json as json_module
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ucvtest.cli.errors import in_options, one_line_errors, show_warning, to_reader
from ucvtest.cli.files import Form
from ucvtest.cli.options import (
    STDOUT,
    DataArgument,
    EventOption,
    FoldOption,
    GroupsOption,
    GroupWeightName,
    ItemOption,
    MetricOption,
    ModelOption,
    PositiveOption,
    QuietOption,
    RepeatOption,
    ReportOption,
    RuleGroupWeightOption,
    RuleLossName,
    RuleMissingOption,
    SepOption,
    SheetOption,
    TruthOption,
    ValueOption,
    check_margin,
    check_options,
)
from ucvtest.cli.page import as_page
from ucvtest.cli.predictions import default_test, losses_of
from ucvtest.cli.report import width
from ucvtest.common.notes import Note
from ucvtest.common.whole_files import write_whole

if TYPE_CHECKING:
    from ucvtest.losses.table import Losses
    from ucvtest.results.margins import Decision, NoninferiorityResult
    from ucvtest.results.result import TestResult

EXIT_STATUS: "dict[Decision, int]" = {"pass": 0, "fail": 1, "undecided": 3}
"""2 is for errors, as everywhere."""


def gate(
    data: DataArgument,
    scores: Annotated[
        str,
        typer.Option(
            metavar="NEW,OLD",
            help="Columns with the predictions of both models; with --model, their names.",
        ),
    ],
    margin: Annotated[
        float,
        typer.Option(
            help="By how much the new model may be worse, in units of the loss or metric."
        ),
    ],
    target: TruthOption = None,
    loss: Annotated[
        RuleLossName | None,
        typer.Option(
            help=(
                "zero_one takes predicted labels, log probabilities of the positive class, auc "
                "decision scores, squared and absolute numbers. Without a target: correct takes "
                "True or 1 for right answers, False or 0 for wrong ones; score takes any numbers, "
                "and higher is better. [default: zero_one]"
            )
        ),
    ] = None,
    metric: MetricOption = None,
    event: EventOption = None,
    pos_label: PositiveOption = None,
    groups: GroupsOption = None,
    group_weight: RuleGroupWeightOption = None,
    fold: FoldOption = None,
    repeat: RepeatOption = None,
    model: ModelOption = None,
    item: ItemOption = None,
    value: ValueOption = None,
    missing: RuleMissingOption = "raise",
    sep: SepOption = None,
    sheet: SheetOption = None,
    alpha: Annotated[float, typer.Option(help="Level of the one-sided test.")] = 0.05,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Write the answer as JSON; - prints it alone."),
    ] = None,
    report: ReportOption = None,
    quiet: QuietOption = False,
) -> None:
    """Let a new model pass if it is not worse than the old one by a margin.

    Both models are fixed, and have predicted the same observations. Error rates are
    compared by McNemar's exact test, AUCs by DeLong's, other losses, and metrics such as
    F1, by the paired t test. Rows of one patient or one document are not independent: name
    their column in --groups, as many rows of few patients otherwise pass by chance.
    Exit status 0: the new model is noninferior. 1: the whole interval lies beyond the
    margin. 3: undecided, as too few observations leave it, and two models whose
    predictions are the same. 2: an error.

    \b
    Examples:
      ucvtest gate holdout.csv --target died --scores new,old --margin 0.02
      ucvtest gate holdout.csv --target died --scores new,old --margin 0.05 \\
          --metric mcc
      ucvtest gate visits.csv --target died --scores new,old --margin 0.05 \\
          --groups patient
      ucvtest gate answers.csv --model model --item question \\
          --value correct --scores new,old --loss correct --margin 0.05
      ucvtest gate holdout.csv --target days --event died --scores new,old \\
          --margin 0.05 --metric harrell
    """  # noqa: D301  (\b is Click's mark for lines that keep their breaks)
    with one_line_errors(gate):
        check_options(alpha, None, None if json == STDOUT else json, report)
        check_margin(margin, alpha)
        names = [name.strip() for name in scores.split(",")]
        if len(names) != 2 or names[0] == names[1]:
            raise ValueError(f"--scores must name two columns, as in new,old; got {scores!r:.60}")
        row_columns = {"event": event, "groups": groups, "fold": fold, "repeat": repeat}
        form = Form(sep, sheet, missing, model, item, value)
        losses = losses_of(data, target, names, (loss, metric), pos_label, form, row_columns)
        if groups is None and group_weight is not None:
            raise ValueError("--group-weight does not apply without --groups")
        result = _run_test(losses, names, group_weight, of_folds=fold is not None)
        judged = result.noninferiority(margin, alpha=alpha)

        for note in result.notes:
            if isinstance(note, Note) and note.importance > 1:
                show_warning(in_options(note, {"pos_label": "--pos-label"}))
        with to_reader():
            _print(judged, result, json, quiet=quiet)
        if report is not None:
            write_whole(report, as_page(result, 2 * alpha, judged.verdict))
            typer.echo(f"Report: {report}", err=True)
        raise typer.Exit(EXIT_STATUS[judged.decision])


def _run_test(
    losses: "Losses", names: list[str], group_weight: GroupWeightName | None, *, of_folds: bool
) -> "TestResult":
    """The test of the first rule against the second."""
    from ucvtest.methods.registry import TESTS

    cls: Any = TESTS[default_test(losses, 2, of_folds=of_folds)]
    result: TestResult = cls.from_losses(losses, *names, group_weight=group_weight).fit()
    return result


def _print(
    judged: "NoninferiorityResult", result: "TestResult", json: Path | None, *, quiet: bool
) -> None:
    from ucvtest import __version__

    values = {**judged.to_dict(), "n_obs": result.n_obs, "ucvtest": __version__}
    json_text = json_module.dumps(values, allow_nan=False, indent=2)
    if json == STDOUT:
        typer.echo(json_text)
        return
    if json is not None:
        # Before anything is printed, as the reader may leave.
        write_whole(json, json_text + "\n")
    typer.echo(textwrap.fill(judged.verdict, width()) + ("" if quiet else "\n"))
    if quiet:
        return
    typer.echo(judged.summary(with_verdict=False).as_text())
    if json is not None:
        typer.echo(f"Result: {json}")
