"""``ucvtest predictions``: rules by their predictions for one test set, or out of fold."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ucvtest.cli.compare import Tested
from ucvtest.cli.files import (
    RULES_REMEDY,
    WRONG_REMEDY,
    File,
    LossName,
    as_label,
    by_model,
    items_of,
    marked,
    missing_as_wrong,
    without_gaps,
)
from ucvtest.cli.names import listed_tests
from ucvtest.cli.report import Display
from ucvtest.data.groups import GroupWeight

if TYPE_CHECKING:
    import pandas as pd

    from ucvtest.losses.table import Losses

RuleLossName = Literal[LossName, "score", "correct"]
"""Of rules whose answers may have been marked already."""

KEYS = ("target", "event", "groups", "weight", "fold", "repeat")
"""Options that name columns about rows."""


@dataclass(frozen=True, kw_only=True)
class Rules(File):
    """Predictions of fixed rules in a table.

    Parameters
    ----------
    scores : A,B,...
        Columns with the predictions of each rule; with --model, names of models.
    target
        Column with the true response; not for --loss correct and --loss score.
    loss
        zero_one takes predicted labels, log and brier probabilities of the positive class, auc
        decision scores, squared and absolute numbers. Without a target: correct takes True or 1
        for right answers, False or 0 for wrong ones; score takes any numbers, and higher is better.
        [default: zero_one]
    metric : NAME
        A metric that is not a mean of losses: f1, f1_macro, 'fbeta(2)', mcc, balanced_accuracy, r2
        and others, as in Python; with --event harrell, uno, 'auc(365)' or 'brier(365)'.
    event : COL
        Column with 1 for an event and 0 for a censored time, for metrics of survival: the target is
        then the time, and predictions are risks.
    pos_label
        The positive class, which columns of scores and probabilities are about. Labels other than
        0 and 1, false and true, or -1 and 1 need it. With --loss correct, the mark of a right
        answer, such as C; all others are wrong.
    groups : COL
        Column that names the group of each row, such as the patient; it is not a feature.
    group_weight
        What counts alike. [default: row for correct and for metrics such as f1 and accuracy,
        otherwise group]
    fold : COL
        Column with the fold of each row, which was predicted by the rule learnt from all other
        folds. The tests are then tests of K-fold cross-validation.
    repeat : COL
        Column with the repetition of the cross-validation (with --fold): rows of each are the same
        observations in the same order.
    model : COL
        Column with the model of each row, if the table has a row for each model and item: --scores
        then names models, and --item and --value the other columns.
    item : COL,COL,...
        Column with the question, or other item, of each row (with --model); several if only they
        tell rows of a model apart, such as question,epoch.
    value : COL
        Column with the prediction, score or mark (with --model).
    missing
        Rows with missing values, which are empty fields and words such as NA, None and null:
        refuse them, leave them out with a note, or count missing answers as wrong (with --loss
        correct and zero_one), as where a model ended in an error.
    """

    scores: str
    target: str | None = None
    loss: RuleLossName | None = None
    metric: str | None = None
    event: str | None = None
    pos_label: str | None = None
    groups: str | None = None
    group_weight: GroupWeight | None = None
    fold: str | None = None
    repeat: str | None = None
    model: str | None = None
    item: str | None = None
    value: str | None = None
    missing: Literal["raise", "drop", "wrong"] = "raise"

    @property
    def names(self) -> list[str]:
        """The rules."""
        return [name.strip() for name in self.scores.split(",")]

    def losses(self) -> "Losses":
        """The losses by --loss and --metric of the file."""
        self._check()
        keys = {name: getattr(self, name, None) for name in KEYS}
        table = self._complete(
            {name: column for name, column in keys.items() if column is not None}
        )

        import ucvtest as uv

        columns = {key: None if name is None else table[name] for key, name in keys.items()}
        rules: dict[str, Any] = {name: table[name] for name in self.names}
        y: Any = columns["target"]
        if y is not None and columns["event"] is not None:
            y = uv.survival(y, columns["event"])
        if self.loss == "correct":
            for key in ("metric", "weight", "fold", "repeat"):
                if getattr(self, key, None) is not None:
                    raise ValueError(f"--{key} does not apply with --loss correct: leave it out")
            return uv.Losses.from_correct(rules, groups=columns["groups"])
        label = self.pos_label
        if columns["target"] is not None:
            label = as_label(label, columns["target"].to_numpy())
        return uv.Losses.from_predictions(
            *(y, rules),
            loss=self.loss,
            metric=self.metric,
            groups=columns["groups"],
            pos_label=label,
            sample_weight=columns["weight"],
            fold=columns["fold"],
            repeat=columns["repeat"],
        )

    @property
    def _right_or_wrong(self) -> bool:
        """Whether answers are right or wrong."""
        return self.loss in (None, "zero_one", "correct") and self.metric is None

    def _check(self) -> None:
        """Refuse options that mean nothing together, before the file is read."""
        from ucvtest.metrics.named import named_smooth_metric

        names, target, loss, metric, event = (
            *(self.names, self.target, self.loss),
            *(self.metric, self.event),
        )
        if not all(names) or len(set(names)) < len(names):
            raise ValueError(
                f"--scores must name different columns, as in a,b; got {','.join(names)}"
            )
        if target in names:
            raise ValueError(f"--scores {target}: that is the target")
        are_marks = loss in ("correct", "score")
        if target is None and not are_marks:
            raise ValueError(
                "--target is missing: name the column with the true response; answers that are "
                "marked right or wrong take --loss correct"
            )
        if target is not None and are_marks:
            raise ValueError(
                f"--target does not apply with --loss {loss}, whose columns show how good answers "
                "are: leave it out"
            )
        smooth_metric = None if metric is None else named_smooth_metric(metric)
        about_times = smooth_metric is not None and smooth_metric.of_survival
        if event is None and about_times:
            raise ValueError(
                f"--event is missing: --metric {metric} is about survival times, so name the "
                "column with 1 for an event and 0 for a censored time"
            )
        if event is not None and not about_times:
            raise ValueError(
                "--event is for metrics of survival times: pass --metric harrell, uno, 'auc(365)' "
                "or 'brier(365)'"
            )
        if event is not None and event == target:
            raise ValueError(f"--event {event}: that is the target, which is the time")
        if self.fold is not None and self.fold in (target, *names):
            column_words = "the true response" if self.fold == target else "a prediction"
            raise ValueError(f"--fold {self.fold}: that is {column_words}")
        lacking = [name for name in ("model", "item", "value") if getattr(self, name) is None]
        if 0 < len(lacking) < 3:
            raise ValueError(
                f"--{lacking[0]} is missing: a table with a row for each model and item needs "
                "--model, --item and --value, which name columns; --scores then names models"
            )
        if self.missing == "wrong" and not self._right_or_wrong:
            raise ValueError(
                "--missing wrong is for answers that are right or wrong, as with --loss correct "
                "and zero_one: use --missing drop"
            )

    def _complete(self, keys: dict[str, str]) -> "pd.DataFrame":
        """A column for each rule and each key, without missing values."""
        names, of_keys = self.names, {key: [name] for key, name in keys.items()}
        if self.model is None or self.item is None or self.value is None:
            table = self.table({**of_keys, "scores": names})
        else:
            of_items = {"item": items_of(self.item)}
            table = self.table(
                {**of_keys, "model": [self.model], "value": [self.value], **of_items}
            )
            columns = (self.model, self.item, self.value)
            table = by_model(table, names, columns, list(keys.values()))
        if self.loss == "correct":
            table = marked(table, names, self.pos_label)
        if self.missing == "wrong":
            table = missing_as_wrong(table, names, self.target)
        offered = self._right_or_wrong and table[names].isna().any(axis=None)
        return without_gaps(
            table,
            [*keys.values(), *names],
            "drop" if self.missing == "drop" else "raise",
            WRONG_REMEDY if offered else RULES_REMEDY,
        )


@dataclass(frozen=True, kw_only=True)
class Predictions(Rules, Tested, Display):
    r"""Compare rules by their predictions for observations they have not learnt from.

    Nothing is fitted. One column gives the error of one rule, two their difference, more a table of
    all pairs. Error rates are compared by McNemar's exact test, AUCs by DeLong's, other losses, and
    metrics such as F1, by the paired t test. With --fold the predictions are those of one K-fold
    cross-validation.

    Parameters
    ----------
    weight : COL
        Column with the weight of each row.
    test
        hold_out (the paired t test, for one error rate the exact binomial one), mcnemar or delong;
        with --fold also corrected_t and others. [default: mcnemar for error rates, delong for auc,
        else hold_out, also for marked answers in groups; with --fold cross_validation_wald]

    Examples
    --------
    ucvtest predictions holdout.csv --target died --scores new,old
    ucvtest predictions holdout.csv --target died --scores p_new,p_old \
        --loss auc --pos-label yes
    ucvtest predictions holdout.csv --target died --scores new,old \
        --metric f1 --pos-label yes
    ucvtest predictions holdout.csv --target days --event died \
        --scores new,old --metric uno
    ucvtest predictions answers.csv --scores model --loss correct \
        --groups question
    ucvtest predictions answers.csv --model model --item question \
        --value correct --scores new,old --loss correct
    ucvtest predictions folds.csv --target died --scores p_new,p_old \
        --loss auc --fold fold
    ucvtest predictions heart.csv --target died --scores new,old \
        --report heart.html
    """

    target: str | None = None
    weight: str | None = None
    test: str = ""

    def run(self) -> None:
        """Test, and print the result."""
        losses, names = self.losses(), self.names

        import ucvtest as uv
        from ucvtest.methods.registry import TESTS

        of_folds = self.fold is not None
        default_name = default_test(losses, len(names), of_folds=of_folds)
        (test_name,) = listed_tests(self.test)[:1] if self.test else [default_name]
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
        arguments: dict[str, Any] = {
            "alternative": self.alternative,
            "group_weight": self.group_weight,
        }
        if len(names) <= 2:
            test = cls.from_losses(losses, *names, null_value=self.null_value, **arguments)
            self.show(test.fit())
            return
        if self.null_value is not None:
            raise ValueError("--null-value is for one test of one or two rules")
        self.show(uv.compare_losses(losses, test_name, correction=self.adjusted, **arguments))


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
