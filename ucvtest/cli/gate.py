"""``ucvtest gate``: whether a new model may take the place of an old one, as an exit status."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ucvtest.cli import options
from ucvtest.cli.errors import one_line_errors, show_warning, to_reader
from ucvtest.cli.files import Form
from ucvtest.cli.page import as_page
from ucvtest.cli.predictions import default_test, losses_of
from ucvtest.cli.report import width, write_json
from ucvtest.common.notes import Note
from ucvtest.common.whole_files import write_whole

if TYPE_CHECKING:
    from ucvtest.results.margins import Decision
    from ucvtest.results.result import TestResult

EXIT_STATUS: "dict[Decision, int]" = {"pass": 0, "fail": 1, "undecided": 3}
"""2 is for errors, as everywhere."""


def gate(
    data: options.DataArgument,
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
    target: options.TruthOption = None,
    loss: Annotated[
        options.RuleLossName | None,
        typer.Option(
            help=(
                "zero_one takes predicted labels, log probabilities of the positive class, auc "
                "decision scores, squared and absolute numbers. Without a target: correct takes "
                "True or 1 for right answers, False or 0 for wrong ones; score takes any numbers, "
                "and higher is better. [default: zero_one]"
            )
        ),
    ] = None,
    metric: options.MetricOption = None,
    event: options.EventOption = None,
    pos_label: options.PositiveOption = None,
    groups: options.GroupsOption = None,
    group_weight: options.RuleGroupWeightOption = None,
    fold: options.FoldOption = None,
    repeat: options.RepeatOption = None,
    model: options.ModelOption = None,
    item: options.ItemOption = None,
    value: options.ValueOption = None,
    missing: options.RuleMissingOption = "raise",
    sep: options.SepOption = None,
    sheet: options.SheetOption = None,
    alpha: Annotated[float, typer.Option(help="Level of the one-sided test.")] = 0.05,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Write the answer as JSON; - prints it alone."),
    ] = None,
    report: options.ReportOption = None,
    quiet: options.QuietOption = False,
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
        options.check_options(alpha, None, json, report)
        options.check_margin(margin, alpha)
        names = [name.strip() for name in scores.split(",")]
        if len(names) != 2 or names[0] == names[1]:
            raise ValueError(f"--scores must name two columns, as in new,old; got {scores!r:.60}")
        row_columns = {"event": event, "groups": groups, "fold": fold, "repeat": repeat}
        form = Form(sep, sheet, missing, model, item, value)
        losses = losses_of(data, target, names, (loss, metric), pos_label, form, row_columns)
        if groups is None and group_weight is not None:
            raise ValueError("--group-weight does not apply without --groups")

        from ucvtest import __version__
        from ucvtest.methods.registry import TESTS

        cls: Any = TESTS[default_test(losses, 2, of_folds=fold is not None)]
        result: TestResult = cls.from_losses(losses, *names, group_weight=group_weight).fit()
        judged = result.noninferiority(margin, alpha=alpha)

        for note in result.notes:
            if isinstance(note, Note) and note.importance > 1:
                show_warning(note)
        values = {**judged.to_dict(), "n_obs": result.n_obs, "ucvtest": __version__}
        with to_reader():
            # Files are written before anything is printed, as the reader may leave.
            if not write_json(values, json):
                typer.echo(textwrap.fill(judged.verdict, width()) + ("" if quiet else "\n"))
                if not quiet:
                    typer.echo(judged.summary(with_verdict=False).as_text())
                    if json is not None:
                        typer.echo(f"Result: {json}")
        if report is not None:
            write_whole(report, as_page(result, 2 * alpha, judged.verdict))
            typer.echo(f"Report: {report}", err=True)
        raise typer.Exit(EXIT_STATUS[judged.decision])
