"""``ucvtest predictions``: rules by their predictions for one test set, or out of fold."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ucvtest.cli import options
from ucvtest.cli.errors import one_line_errors
from ucvtest.cli.files import (
    RIGHT_OR_WRONG,
    RULES_REMEDY,
    WRONG_REMEDY,
    Form,
    as_label,
    by_model,
    marked,
    missing_as_wrong,
    read_table,
    without_gaps,
)
from ucvtest.cli.report import show

if TYPE_CHECKING:
    from ucvtest.losses.table import Losses


def predictions(
    data: options.DataArgument,
    scores: Annotated[
        str,
        typer.Option(
            metavar="A,B,...",
            help="Columns with the predictions of each rule; with --model, names of models.",
        ),
    ],
    target: options.TruthOption = None,
    loss: Annotated[
        options.RuleLossName | None,
        typer.Option(
            help=(
                "zero_one takes predicted labels, log and brier probabilities of the positive "
                "class, auc decision scores, squared and absolute numbers. Without a target: "
                "correct takes True or 1 for right answers, False or 0 for wrong ones; score takes "
                "any numbers, and higher is better. [default: zero_one]"
            )
        ),
    ] = None,
    metric: options.MetricOption = None,
    event: options.EventOption = None,
    pos_label: options.PositiveOption = None,
    groups: options.GroupsOption = None,
    group_weight: options.RuleGroupWeightOption = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the weight of each row.")
    ] = None,
    fold: options.FoldOption = None,
    repeat: options.RepeatOption = None,
    test: Annotated[
        str,
        typer.Option(
            help="hold_out (the paired t test, for one error rate the exact binomial one), mcnemar "
            "or delong; with --fold also corrected_t and others. [default: mcnemar for error "
            "rates, delong for auc, else hold_out, also for marked answers in groups; with --fold "
            "cross_validation_wald]"
        ),
    ] = "",
    null_value: Annotated[float | None, typer.Option(help="Value to test against.")] = None,
    alternative: options.AlternativeOption = "two-sided",
    correction: Annotated[
        options.CorrectionName,
        typer.Option(
            metavar="NAME",
            help="How p-values of several pairs are adjusted: holm, bonferroni, sidak, "
            "holm-sidak, simes-hochberg, hommel, fdr_bh, fdr_by, simultaneous or none.",
        ),
    ] = "holm",
    model: options.ModelOption = None,
    item: options.ItemOption = None,
    value: options.ValueOption = None,
    missing: options.RuleMissingOption = "raise",
    sep: options.SepOption = None,
    sheet: options.SheetOption = None,
    alpha: options.AlphaOption = 0.05,
    plot: options.PlotOption = None,
    json: options.JsonOption = None,
    report: options.ReportOption = None,
    quiet: options.QuietOption = False,
    notes: options.NotesOption = False,
    methods_text: options.MethodsTextOption = False,
) -> None:
    """Compare rules by their predictions for observations they have not learnt from.

    Nothing is fitted. One column gives the error of one rule, two their difference, more a
    table of all pairs. Error rates are compared by McNemar's exact test, AUCs by DeLong's,
    other losses, and metrics such as F1, by the paired t test. With --fold the predictions
    are those of one K-fold cross-validation.

    \b
    Examples:
      ucvtest predictions holdout.csv --target died --scores new,old
      ucvtest predictions holdout.csv --target died --scores p_new,p_old \\
          --loss auc --pos-label yes
      ucvtest predictions holdout.csv --target died --scores new,old \\
          --metric f1 --pos-label yes
      ucvtest predictions holdout.csv --target days --event died \\
          --scores new,old --metric uno
      ucvtest predictions answers.csv --scores model --loss correct \\
          --groups question
      ucvtest predictions answers.csv --model model --item question \\
          --value correct --scores new,old --loss correct
      ucvtest predictions folds.csv --target died --scores p_new,p_old \\
          --loss auc --fold fold
      ucvtest predictions heart.csv --target died --scores new,old \\
          --report heart.html
    """  # noqa: D301  (\b is Click's mark for lines that keep their breaks)
    with one_line_errors(predictions):
        options.check_options(alpha, plot, json, report)
        names = [name.strip() for name in scores.split(",")]
        row_columns = {
            "event": event,
            "groups": groups,
            "weight": weight,
            "fold": fold,
            "repeat": repeat,
        }
        form = Form(sep, sheet, missing, model, item, value)
        losses = losses_of(data, target, names, (loss, metric), pos_label, form, row_columns)

        import ucvtest as uv
        from ucvtest.methods.registry import TESTS

        of_folds = fold is not None
        test_name = options.method_name(test) or default_test(losses, len(names), of_folds=of_folds)
        admitted = {
            name: test_class
            for name, test_class in TESTS.items()
            if test_class.needs.fixed or (of_folds and "losses" not in test_class.needs.without)
        }
        cls: Any = admitted.get(test_name)
        if cls is None:
            whom = "out-of-fold predictions" if of_folds else "fixed rules"
            raise ValueError(
                f"--test {test_name} is not for {whom}: use one of {', '.join(admitted)}"
            )
        if len(names) > 2:
            if null_value is not None:
                raise ValueError("--null-value is for one test of one or two rules")
            adjusted = None if correction == "none" else correction
            result_or_comparison: Any = uv.compare_losses(
                losses,
                test_name,
                alternative=alternative,
                correction=adjusted,
                group_weight=group_weight,
            )
        else:
            result_or_comparison = cls.from_losses(
                losses,
                *names,
                null_value=null_value,
                alternative=alternative,
                group_weight=group_weight,
            ).fit()
        files = {"plot": plot, "json": json, "report": report}
        show(
            result_or_comparison, alpha, files, quiet=quiet, notes=notes, methods_text=methods_text
        )


def default_test(losses: "Losses", n_rules: int, *, of_folds: bool) -> str:
    """The test that is run where none is named."""
    if of_folds:
        return "cross_validation_wald"
    metric = losses.in_losses.metric
    if losses.right_or_wrong and losses.groups is not None:
        # It has an answer if rules hardly differ, with valid intervals.
        return "hold_out"
    if metric.ranks_pairs:
        return "delong"
    return "mcnemar" if metric.counts_errors and n_rules > 1 else "hold_out"


def losses_of(
    data: Path,
    target: str | None,
    names: list[str],
    loss_and_metric: tuple[options.RuleLossName | None, str | None],
    pos_label: str | None,
    form: Form,
    row_columns: dict[str, str | None],
) -> "Losses":
    """The losses by --loss and --metric of a file.

    `row_columns` are columns by the names of their options.
    """
    if not all(names) or len(set(names)) < len(names):
        raise ValueError(f"--scores must name different columns, as in a,b; got {','.join(names)}")
    if target in names:
        raise ValueError(f"--scores {target}: that is the target")
    loss, metric = loss_and_metric
    options.check_truth(target, loss, metric)
    options.check_event(row_columns["event"], target, metric)
    if row_columns["fold"] is not None and row_columns["fold"] in (target, *names):
        column_words = "the true response" if row_columns["fold"] == target else "a prediction"
        raise ValueError(f"--fold {row_columns['fold']}: that is {column_words}")
    kept = {
        option: name
        for option, name in {"target": target, **row_columns}.items()
        if name is not None
    }
    options.check_long(form.model, form.item, form.value)
    right_or_wrong = loss in RIGHT_OR_WRONG and metric is None
    if form.missing == "wrong" and not right_or_wrong:
        raise ValueError(
            "--missing wrong is for answers that are right or wrong, as with --loss correct and "
            "zero_one: use --missing drop"
        )
    option_columns = [(f"--{option}", name) for option, name in kept.items()]
    if form.model is None or form.item is None or form.value is None:
        option_columns += [("--scores", name) for name in names]
        table = read_table(data, option_columns, form.sep, form.sheet)
    else:
        option_columns += [("--model", form.model), ("--value", form.value)]
        option_columns += [("--item", item) for item in form.items]
        table = read_table(data, option_columns, form.sep, form.sheet)
        table = by_model(table, names, form, kept)
    if loss == "correct":
        table = marked(table, names, pos_label)
    if form.missing == "wrong":
        table = missing_as_wrong(table, names, target)
    offered = right_or_wrong and table[names].isna().any(axis=None)
    table = without_gaps(
        table,
        [*kept.values(), *names],
        "drop" if form.missing == "drop" else "raise",
        WRONG_REMEDY if offered else RULES_REMEDY,
    )

    import ucvtest as uv

    columns = {
        option: None if name is None else table[name] for option, name in row_columns.items()
    }
    rules: dict[str, Any] = {name: table[name] for name in names}
    y: Any = None if target is None else table[target]
    if y is not None and columns["event"] is not None:
        y = uv.survival(y, columns["event"])
    groups, weight, fold = (columns.get(option) for option in ("groups", "weight", "fold"))
    repeat = columns.get("repeat")
    if loss == "correct":
        unused = ("weight", "fold", "repeat")
        for option in unused:
            if row_columns.get(option) is not None:
                raise ValueError(f"--{option} does not apply with --loss correct: leave it out")
        return uv.Losses.from_correct(rules, groups=groups)
    label = pos_label
    if pos_label is not None and target is not None:
        label = as_label(pos_label, table[target].to_numpy())
    return uv.Losses.from_predictions(
        *(y, rules),
        loss=loss,
        metric=metric,
        groups=groups,
        pos_label=label,
        sample_weight=weight,
        fold=fold,
        repeat=repeat,
    )
