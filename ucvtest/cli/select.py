"""``ucvtest select``: which of several learners to use."""

import json as json_module
import textwrap
from typing import Annotated, Literal

import typer

from ucvtest.cli import options
from ucvtest.cli.errors import one_line_errors
from ucvtest.cli.files import as_label, read
from ucvtest.cli.report import width, write_json

CriterionName = Literal["permutation", "loo", "kfold", "rademacher", "fpe", "vc"]


def select(
    data: options.DataArgument,
    target: options.TargetOption,
    learner: Annotated[list[str], typer.Option(help="A learner; repeatable.")],
    criterion: Annotated[
        CriterionName, typer.Option(help="What the choice goes by.")
    ] = "permutation",
    loss: options.LossOption = None,
    scoring: options.ScoringOption = None,
    pos_label: options.LabelOption = None,
    permutations: Annotated[int, typer.Option(help="Labelings to draw.")] = 100,
    folds: Annotated[int, typer.Option(help="Folds of cross-validation.")] = 10,
    max_seconds: Annotated[
        float | None,
        typer.Option(
            help="Approximate limit on the seconds of the fits: if there is no time for all, there "
            "are fewer labelings, and fewer observations are left out."
        ),
    ] = None,
    groups: options.GroupsOption = None,
    group_weight: options.GroupWeightOption = "group",
    drop: options.DropOption = None,
    sep: options.SepOption = None,
    sheet: options.SheetOption = None,
    one_hot: options.OneHotOption = False,
    missing: options.MissingOption = "raise",
    seed: options.SeedOption = 0,
    plot: options.PlotOption = None,
    json: options.JsonOption = None,
    quiet: options.QuietOption = False,
) -> None:
    """Choose one of several learners by an estimate of its error on new observations.

    \b
    Example:
      ucvtest select heart.csv --target died --learner lda \\
          --learner knn:5 --learner majority
    """  # noqa: D301  (\b is Click's mark for lines that keep their breaks)
    with one_line_errors(select):
        options.check_options(0.05, plot, json)
        if groups is None and group_weight != "group":
            raise ValueError("--group-weight does not apply without --groups")
        X, y, labels = read(
            data, target, drop or [], groups, sep=sep, sheet=sheet, one_hot=one_hot, missing=missing
        )

        import ucvtest as uv
        from ucvtest import __version__

        label = None if pos_label is None else as_label(pos_label, y)
        selection = uv.select_model(
            X,
            y,
            options.listed_learners(learner),
            criterion,
            loss=loss,
            pos_label=label,
            groups=labels,
            group_weight=group_weight,
            n_permutations=permutations,
            n_folds=folds,
            rng=seed,
            scoring=scoring,
            missing=missing,
            max_seconds=max_seconds,
        )
        chosen_name = selection.names[selection.choices[criterion]]
        if plot is not None:
            selection.save_plot(plot)
        values = {
            "best": chosen_name,
            "criterion": criterion,
            "table": json_module.loads(
                selection.table.to_json(orient="records", double_precision=15)
            ),
            "ucvtest": __version__,
        }
        if write_json(values, json):
            return
        typer.echo(textwrap.fill(f"Chosen by {criterion}: {chosen_name}", width()))
        if not quiet:
            typer.echo(f"\n{selection}")
        if json is not None:
            typer.echo(f"Result: {json}")
