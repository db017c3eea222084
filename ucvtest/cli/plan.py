"""``ucvtest plan``: how many observations a question takes."""

import textwrap
from pathlib import Path
from typing import Annotated

import typer

from ucvtest.cli import options
from ucvtest.cli.errors import one_line_errors
from ucvtest.cli.files import as_label, read
from ucvtest.cli.report import width as line_width
from ucvtest.cli.report import write_json


def plan(
    data: Annotated[
        Path, typer.Argument(metavar="FILE", help="The pilot: a CSV file, or as for compare.")
    ],
    target: options.TargetOption,
    learner: Annotated[str, typer.Option(help="First learner, for example lasso:0.08.")],
    other: Annotated[
        str | None,
        typer.Option(help="Second learner. Without it the precision of the first is planned."),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(help="The true difference of expected losses (or metrics) to be found."),
    ] = None,
    ratio: Annotated[
        float | None, typer.Option(help="The true ratio of expected losses to be found.")
    ] = None,
    width: Annotated[
        float | None, typer.Option(help="The width that the interval should have.")
    ] = None,
    n: Annotated[
        list[int] | None,
        typer.Option("--n", help="Observations to tell of; repeatable."),
    ] = None,
    power: Annotated[float, typer.Option(help="Power of the two-sided test.")] = 0.8,
    alpha: Annotated[float, typer.Option(help="Level of the test, and of the interval.")] = 0.05,
    learn_size: Annotated[
        str | None,
        typer.Option(
            metavar="N|N,N",
            help="Observations to learn from; with --loss auc also negatives and positives. "
            "[default: half of the pilot, less one]",
        ),
    ] = None,
    loss: options.LossOption = None,
    metric: options.MetricOption = None,
    pos_label: options.LabelOption = None,
    groups: options.GroupsOption = None,
    missing: options.MissingOption = "raise",
    one_hot: options.OneHotOption = False,
    sep: options.SepOption = None,
    sheet: options.SheetOption = None,
    seed: options.SeedOption = 0,
    drop: options.DropOption = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw power or width (or .pdf, .svg).")
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Write the plan as JSON; - prints it alone."),
    ] = None,
    quiet: options.QuietOption = False,
    notes: options.NotesOption = False,
) -> None:
    """Tell from a pilot sample how many observations a comparison takes.

    One of --difference, --ratio and --width must be given. Predicted are the standard
    error that the test ustatistic would report, the width of its interval and its power.

    \b
    Examples:
      ucvtest plan pilot.csv --target died --learner lda --other knn:5 \\
          --difference 0.1
      ucvtest plan pilot.csv --target died --learner lda --width 0.06
    """  # noqa: D301  (\b is Click's mark for lines that keep their breaks)
    with one_line_errors(plan):
        options.check_options(alpha, plot, json)
        X, y, labels = read(
            data, target, drop or [], groups, sep=sep, sheet=sheet, one_hot=one_hot, missing=missing
        )

        import ucvtest as uv
        from ucvtest.data.missing import complete_rows

        X, y, labels, _ = complete_rows(X, y, labels, missing)
        sample_plan = uv.plan(
            X,
            y,
            learner,
            other,
            difference=difference,
            ratio=ratio,
            width=width,
            n=n or None,
            power=power,
            alpha=alpha,
            learn_size=options.parse_sizes(learn_size),
            loss=loss,
            metric=metric,
            pos_label=as_label(pos_label, y),
            groups=labels,
            rng=seed,
        )
        if plot is not None:
            sample_plan.save_plot(plot)
        if write_json(sample_plan.to_dict(), json):
            return
        typer.echo(textwrap.fill(sample_plan.verdict, line_width()))
        if not quiet:
            summary = sample_plan.summary(with_verdict=False, notes=notes).as_text()
            typer.echo("\n" + summary)
        for name, path in {"Plan": json, "Plot": plot}.items():
            if path is not None:
                typer.echo(f"{name}: {path}")
