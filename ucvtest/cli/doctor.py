"""``ucvtest doctor``: what a file contains, and which command answers which question about it."""

import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ucvtest.cli.errors import one_line_errors
from ucvtest.cli.files import MAX_LEVELS, listed_columns, read_table
from ucvtest.cli.options import DataArgument, SepOption, SheetOption
from ucvtest.cli.report import width

if TYPE_CHECKING:
    import pandas as pd

MOST_CLASSES = 10
"""Different whole numbers up to which a column may name classes."""


def _word(*words: str) -> re.Pattern[str]:
    """Matches column names that contain one of these words, such as patient_id for patient."""
    return re.compile(rf"(?:^|[\W_])(?:{'|'.join(words)})\d*(?:$|[\W_])", re.IGNORECASE)


TARGETS = _word("y", "target", "truth", "class", "label", "outcome", "diagnosis", "response")
PREDICTIONS = _word(
    *("p", "prob", "probability", "pred", "predicted", "prediction", "yhat", "score", "risk"),
    *("model", "new", "old", "champion", "challenger", "baseline"),
)
GROUPS = _word("id", "patient", "subject", "person", "animal", "group", "cluster", "document")
FOLD = _word("folds?")
REPEAT = _word("repeats?", "repetitions?")
EVENT = _word("event", "died", "dead", "death", "status", "censored")
TIME = _word("time", "days", "weeks", "months", "years", "survival", "duration")


@dataclass(frozen=True)
class Column:
    """A column by its values alone."""

    name: str
    kind: str
    """"constant", "classes", "shares" (numbers from 0 to 1), "numbers" or "texts"."""
    levels: tuple[Any, ...]
    """The different values, if there are few."""
    n_different: int
    n_missing: int
    is_textual: bool
    limits: str
    """The least and the greatest number."""

    @property
    def description(self) -> str:
        """The values in words."""
        few = ", ".join(map(str, self.levels[:MOST_CLASSES]))
        words = {
            "constant": f"one value: {few}",
            "classes": f"{self.n_different} different values: {few}",
            "texts": f"{self.n_different} different texts",
        }
        gaps = f"; {self.n_missing} missing" if self.n_missing else ""
        return words.get(self.kind, f"numbers from {self.limits}") + gaps


@dataclass(frozen=True)
class Roles:
    """The roles that the columns of a file seem to have."""

    target: Column | None
    features: tuple[Column, ...]
    predictions: tuple[Column, ...]
    groups: Column | None
    fold: Column | None
    repeat: Column | None
    time: Column | None
    event: Column | None
    unused: tuple[Column, ...]
    """Names of rows, and columns with one value."""

    def of(self, column: Column) -> str:
        """The role of a column in words."""
        single = {
            "target": self.target,
            "group of a row, such as the patient": self.groups,
            "fold of a cross-validation": self.fold,
            "repetition of a cross-validation": self.repeat,
            "survival time": self.time,
            "event of a survival time": self.event,
        }
        for role, role_column in single.items():
            if role_column == column:
                return role
        if column in self.predictions:
            return "predictions of a model"
        return "not used" if column in self.unused else "feature"


def doctor(
    data: DataArgument,
    target: Annotated[
        str | None, typer.Option(metavar="COL", help="Column to predict. [default: a guess]")
    ] = None,
    scores: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...", help="Columns with predictions of models. [default: a guess]"
        ),
    ] = None,
    sep: SepOption = None,
    sheet: SheetOption = None,
) -> None:
    """Say what a file contains, which questions it can answer, and the command for each.

    Roles of columns are guesses from their names and values: the list shows them, and
    --target and --scores correct them. Nothing is fitted.

    \b
    Examples:
      ucvtest doctor example.csv
      ucvtest doctor holdout.csv --target died --scores new,old
    """  # noqa: D301  (\b is Click's mark for lines that keep their breaks)
    with one_line_errors(doctor):
        named = [] if target is None else [("--target", target)]
        table = read_table(data, named, sep, sheet)
        named_scores = None if scores is None else listed_columns("--scores", [scores], table, data)
        if target is not None and target in (named_scores or []):
            raise ValueError(f"--scores {target}: that is the target")
        columns = [_column(values) for _, values in table.items()]
        roles = _roles(columns, len(table), target, named_scores)
        typer.echo(f"{data}: {len(table)} rows, {len(columns)} columns\n")
        longest = max(len(str(column.name)) for column in columns)
        for column in columns:
            line = f"{column.name:<{longest}}  {roles.of(column)}: {column.description}"
            typer.echo(textwrap.fill(line, width(), subsequent_indent=" " * (longest + 2)))
        if target is None and roles.target is not None:
            typer.echo("\nRoles are guesses: --target and --scores name others.")
        form = {"--sep": sep, "--sheet": sheet}
        options = [
            word for option, value in form.items() if value is not None for word in (option, value)
        ]
        questions = list(_questions(roles, len(table), data, options))
        for question, command in questions:
            typer.echo(f"\n{textwrap.fill(question, width())}\n{_typed(command)}")
        if not questions:
            typer.echo(f"\n{textwrap.fill(_no_question(roles), width())}")


def _column(values: "pd.Series[Any]") -> Column:
    """A column as its values show it."""
    present = values.dropna()
    if present.dtype.kind not in "iufb":
        present = present.astype(str)
    levels = sorted(present.unique().tolist(), key=lambda value: (str(type(value)), value))
    is_number = present.dtype.kind in "iufb"
    is_whole = is_number and (present.dtype.kind == "b" or bool((present % 1 == 0).all()))
    most = MOST_CLASSES if is_number else MAX_LEVELS
    if len(levels) <= 1:
        kind = "constant"
    elif len(levels) <= most and (is_whole or not is_number):
        kind = "classes"
    elif not is_number:
        kind = "texts"
    else:
        kind = "shares" if not is_whole and levels[0] >= 0 and levels[-1] <= 1 else "numbers"
    return Column(
        name=values.name,  # type: ignore[arg-type]
        kind=kind,
        levels=tuple(levels) if len(levels) <= MAX_LEVELS else (),
        n_different=len(levels),
        n_missing=int(values.isna().sum()),
        is_textual=not is_number,
        limits=f"{levels[0]:g} to {levels[-1]:g}" if is_number and levels else "",
    )


def _roles(
    columns: Sequence[Column], n_rows: int, target: str | None, scores: Sequence[str] | None
) -> Roles:
    """The role of each column: options decide first, then names, then values."""
    free = [column for column in columns if column.name not in (target, *(scores or ()))]

    def take(pattern: re.Pattern[str], *kinds: str) -> Column | None:
        """The first column with such a name and kind, which then has no other role."""
        for column in free:
            if pattern.search(str(column.name)) and column.kind in kinds:
                free.remove(column)
                return column
        return None

    fold = take(FOLD, "classes", "numbers")
    repeat = take(REPEAT, "classes", "constant") if fold is not None else None
    groups = next((column for column in free if _may_be_group(column, n_rows)), None)
    unused = [column for column in free if column != groups and _is_no_value(column, n_rows)]
    free = [column for column in free if column != groups and column not in unused]
    found_target = next((column for column in columns if column.name == target), None)
    time, event = _survival(columns, found_target)
    free = [column for column in free if column not in (time, event)]
    if found_target is None and event is None:
        found_target = _guessed_target(free, scores)
    if scores is None:
        predictions = [
            column
            for column in free
            if column != found_target
            and _may_predict(column, None if event is not None else found_target)
        ]
    else:
        predictions = [column for column in columns if column.name in scores]
    features = [column for column in free if column not in (found_target, *predictions)]
    if not features and scores is None:
        # Numbers from 0 to 1 may be measurements.
        features = [column for column in predictions if not PREDICTIONS.search(str(column.name))]
        predictions = [column for column in predictions if column not in features]
    return Roles(
        target=found_target if event is None else None,
        features=tuple(features),
        predictions=tuple(predictions),
        groups=groups,
        fold=fold,
        repeat=repeat,
        time=time,
        event=event,
        unused=tuple(unused),
    )


def _survival(
    columns: Sequence[Column], target: Column | None
) -> tuple[Column | None, Column | None]:
    """The time and the event, if columns seem to be such and nothing else is the target.

    If the event is named as a target, it is one of classes, and the time only is not a feature.
    """
    for time in columns:
        for event in columns:
            by_name = TIME.search(str(time.name)) and EVENT.search(str(event.name))
            if by_name and time.kind == "numbers" and set(event.levels) == {0, 1}:
                if target in (None, time):
                    return time, event
                if target == event:
                    return time, None
    return None, None


def _may_be_group(column: Column, n_rows: int) -> bool:
    """Whether rows seem to share what the column names: texts, or numbers with such a name."""
    if not 1 < column.n_different < n_rows or column.n_different <= 2:
        return False
    return column.kind == "texts" or bool(GROUPS.search(str(column.name)))


def _is_no_value(column: Column, n_rows: int) -> bool:
    """Whether a column says nothing that can be learnt from: one value, or the name of the row."""
    is_name = column.n_different == n_rows and bool(
        GROUPS.search(str(column.name)) or str(column.name).startswith("Unnamed: ")
    )
    return column.kind in ("constant", "texts") or is_name


def _guessed_target(columns: Sequence[Column], scores: Sequence[str] | None) -> Column | None:
    """The column with such a name; else the last of two classes, of classes, or of numbers."""
    columns = [column for column in columns if column.name not in (scores or ())]
    likely = [column for column in columns if not PREDICTIONS.search(str(column.name))]
    choices = (
        [column for column in likely if TARGETS.search(str(column.name))],
        [column for column in likely if column.kind == "classes" and column.n_different == 2],
        [column for column in likely if column.kind == "classes"],
        [column for column in likely if column.kind == "numbers"],
    )
    return next((choice[-1] for choice in choices if choice), None)


def _may_predict(column: Column, target: Column | None) -> bool:
    """Whether a column may contain what a model predicted of the target."""
    by_name = bool(PREDICTIONS.search(str(column.name)))
    if target is None:
        return by_name and column.kind in ("numbers", "shares", "classes")
    if target.kind != "classes":
        return by_name and column.kind in ("numbers", "shares")
    labels = set(column.levels)
    of_labels = by_name and bool(labels) and labels <= set(target.levels)
    return of_labels or column.kind == "shares" or (by_name and column.kind == "numbers")


def _questions(
    roles: Roles, n_rows: int, data: Path, options: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    """Each question that the file can answer, and the words of its command."""
    of_rows = [] if roles.groups is None else ["--groups", str(roles.groups.name)]
    of_rows += options
    if roles.target is not None and roles.features:
        yield from _of_learners(roles, n_rows, data, of_rows)
    if roles.fold is not None:
        of_rows += ["--fold", str(roles.fold.name)]
    if roles.repeat is not None:
        of_rows += ["--repeat", str(roles.repeat.name)]
    if roles.time is not None and roles.event is not None:
        yield from _of_models(
            roles.predictions,
            "risks",
            data,
            ["--target", str(roles.time.name), "--event", str(roles.event.name)],
            ["--metric", "harrell", *of_rows],
        )
        return
    target = roles.target
    if target is None:
        marked = [column for column in roles.predictions if set(column.levels) == {0, 1}]
        if roles.fold is None:
            yield from _of_models(
                marked, "right and wrong answers", data, [], ["--loss", "correct", *of_rows]
            )
        return
    truth = ["--target", str(target.name)]
    for columns, meaning, form_options in _forms(roles.predictions, target):
        yield from _of_models(columns, meaning, data, truth, [*form_options, *of_rows])


def _of_learners(
    roles: Roles, n_rows: int, data: Path, of_rows: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    """Questions about learners, which are fitted to the features."""
    target = roles.target
    assert target is not None
    left_out = [
        str(column.name)
        for column in (
            *roles.predictions,
            *roles.unused,
            *(column for column in (roles.fold, roles.repeat, roles.time) if column is not None),
        )
    ]
    feature_options = [option for name in left_out for option in ("--drop", name)]
    if not any("," in name for name in left_out):
        feature_options = ["--drop", ",".join(left_out)] if left_out else []
    if any(column.is_textual for column in roles.features):
        feature_options.append("--one-hot")
    if any(column.n_missing for column in (target, *roles.features)):
        feature_options += ["--missing", "drop"]
    file = [str(data), "--target", str(target.name)]
    of_classes = target.kind == "classes"
    first, second = ("lda", "knn:5") if of_classes else ("ridge:1.0", "knn:5")
    two = ["--learner", first, "--other", second]
    names = f"such as {first} and {second} (ucvtest learners lists them)"
    yield (
        f"Do two learners, {names}, differ in the prediction of {target.name}?",
        ["compare", *file, *two, *feature_options, *of_rows],
    )
    yield (
        "How good is one learner, with its confidence interval?",
        ["compare", *file, "--learner", first, *feature_options, *of_rows],
    )
    if of_classes:
        yield (
            "How many observations are needed to find a difference of 0.1?",
            ["plan", *file, *two, "--difference", "0.1", *feature_options, *of_rows],
        )
    n = n_rows if roles.groups is None else roles.groups.n_different
    yield ("Which test suits this number of observations?", ["advise", "--n", str(n)])


def _forms(
    predictions: Sequence[Column], target: Column
) -> Iterator[tuple[list[Column], str, list[str]]]:
    """Predictions of one form, its name, and the options that say so."""
    from ucvtest.data.positive_class import says_positive

    if target.kind != "classes":
        yield list(predictions), "predicted numbers", ["--loss", "squared"]
        return
    labels = [
        column for column in predictions if column.levels and set(column.levels) <= {*target.levels}
    ]
    yield labels, "predicted classes", []
    scores = [column for column in predictions if column not in labels and not column.is_textual]
    if target.n_different == 2:
        form_options = ["--loss", "auc"]
        meaning = "scores"
        if not says_positive(target.levels):
            # Not decided for the user: the question names the assumption.
            form_options += ["--pos-label", str(target.levels[-1])]
            meaning = f"scores that are high for {target.name} = {target.levels[-1]}"
        yield scores, meaning, form_options


def _of_models(
    columns: Sequence[Column],
    meaning: str,
    data: Path,
    truth: Sequence[str],
    form_options: Sequence[str],
) -> Iterator[tuple[str, list[str]]]:
    """Questions about finished models, by their predictions."""
    if not columns:
        return
    names = [str(column.name) for column in columns]
    gaps = ["--missing", "drop"] if any(column.n_missing for column in columns) else []
    listed = " and ".join(names)
    file = [str(data), *truth]
    single = len(names) == 1
    yield (
        f"How good is {listed}, as {meaning}?" if single else f"Do {listed}, as {meaning}, differ?",
        ["predictions", *file, "--scores", ",".join(names), *form_options, *gaps],
    )
    if len(names) > 1:
        new, old = names[:2]
        yield (
            f"May {new} replace {old}, if it may be worse by 0.05?",
            ["gate", *file, "--scores", f"{new},{old}", "--margin", "0.05", *form_options, *gaps],
        )


def _no_question(roles: Roles) -> str:
    """Why no command answers a question about the file, and what helps."""
    if roles.event is not None:
        return (
            "Commands compare predictions of survival times, and the file does not seem to have "
            "any: name them in --scores. Python and R also compare learners: "
            "uv.survival(time, event)."
        )
    return "No command answers a question about this file: name its --target, or its --scores."


def _typed(words: Sequence[str]) -> str:
    """A command as it is typed, over several lines if it is long."""
    # An option and its value stay on one line.
    line = re.sub(r"(?<= )(--\S+) (?!--)", "\\1\0", shlex.join(["ucvtest", *words]))
    lines = textwrap.wrap(
        line, width() - 4, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return textwrap.indent(" \\\n".join(lines), "  ").replace("\0", " ")
