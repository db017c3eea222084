"""``ucvtest doctor``: what a file contains, and which command answers which question about it."""

import re
import shlex
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from ucvtest.cli.files import MAX_LEVELS, File, listed_columns
from ucvtest.cli.report import width

if TYPE_CHECKING:
    import pandas as pd

MOST_CLASSES = 10
"""Different whole numbers up to which a column may name classes."""

ROLES = {
    "target": "target",
    "scores": "predictions of a model",
    "features": "feature",
    "groups": "group of a row, such as the patient",
    "fold": "fold of a cross-validation",
    "repeat": "repetition of a cross-validation",
    "time": "survival time",
    "event": "event of a survival time",
    "unused": "not used",
}


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
    has_gaps: bool
    description: str
    """The values in words."""

    @property
    def is_textual(self) -> bool:
        """Whether its few different values are texts."""
        return any(isinstance(level, str) for level in self.levels)

    def is_called(self, pattern: re.Pattern[str]) -> bool:
        """Whether the name has such a word."""
        return pattern.search(self.name) is not None

    def names_only(self, classes: Sequence[Any]) -> bool:
        """Whether all values are names of these classes."""
        return bool(self.levels) and set(self.levels) <= set(classes)


Roles = Mapping[str, Sequence[Column]]
"""The columns that seem to have each of the roles."""

Question = tuple[str, list[str]]
"""A question, and the words of the command that answers it."""


@dataclass(frozen=True, kw_only=True)
class Doctor(File):
    """Say what a file contains, which questions it can answer, and the command for each.

    Roles of columns are guesses from their names and values: the list shows them, and --target and
    --scores correct them. Nothing is fitted.

    Parameters
    ----------
    target : COL
        Column to predict. [default: a guess]
    scores : A,B,...
        Columns with predictions of models. [default: a guess]

    Examples
    --------
    ucvtest doctor example.csv
    ucvtest doctor holdout.csv --target died --scores new,old
    """

    target: str | None = None
    scores: str | None = None

    def run(self) -> None:
        """Print the columns and their roles, and the commands."""
        data, target = self.data, self.target
        table = self.table({"target": [target]})
        named_scores = None
        if self.scores is not None:
            named_scores = listed_columns("--scores", [self.scores], table, data)
        if target is not None and target in (named_scores or []):
            raise ValueError(f"--scores {target}: that is the target")
        columns = [_column(values) for _, values in table.items()]
        roles = _roles(columns, len(table), target, named_scores)
        typer.echo(f"{data}: {len(table)} rows, {len(columns)} columns\n")
        longest = max(len(column.name) for column in columns)
        for column in columns:
            role = next(ROLES[role] for role, of_role in roles.items() if column in of_role)
            line = f"{column.name:<{longest}}  {role}: {column.description}"
            typer.echo(textwrap.fill(line, width(), subsequent_indent=" " * (longest + 2)))
        if target is None and roles["target"]:
            typer.echo("\nRoles are guesses: --target and --scores name others.")
        file = [str(data)]
        for option, value in (("--sep", self.sep), ("--sheet", self.sheet)):
            file += [] if value is None else [option, value]
        questions = list(_questions(roles, len(table), file))
        for question, words in questions:
            typer.echo(f"\n{textwrap.fill(question, width())}\n{_typed(words)}")
        if not questions:
            text = "No command answers a question about this file: name its --target, or --scores."
            if roles["event"]:
                text = (
                    "Commands compare predictions of survival times, and the file does not seem to "
                    "have any: name them in --scores. Python and R also compare learners: "
                    "uv.survival(time, event)."
                )
            typer.echo(f"\n{textwrap.fill(text, width())}")


def _column(values: "pd.Series[Any]") -> Column:
    """A column as its values show it."""
    present = values.dropna()
    is_number = present.dtype.kind in "iufb"
    if not is_number:
        present = present.astype(str)
    levels = sorted(present.unique().tolist())
    is_whole = is_number and (present.dtype.kind == "b" or bool((present % 1 == 0).all()))
    few = ", ".join(map(str, levels[:MOST_CLASSES]))
    if len(levels) <= 1:
        kind, description = "constant", f"one value: {few}"
    elif len(levels) <= (MOST_CLASSES if is_number else MAX_LEVELS) and (is_whole or not is_number):
        kind, description = "classes", f"{len(levels)} different values: {few}"
    elif not is_number:
        kind, description = "texts", f"{len(levels)} different texts"
    else:
        kind = "shares" if not is_whole and levels[0] >= 0 and levels[-1] <= 1 else "numbers"
        description = f"numbers from {levels[0]:g} to {levels[-1]:g}"
    n_missing = int(values.isna().sum())
    return Column(
        name=str(values.name),
        kind=kind,
        levels=tuple(levels) if len(levels) <= MAX_LEVELS else (),
        n_different=len(levels),
        has_gaps=n_missing > 0,
        description=description + (f"; {n_missing} missing" if n_missing else ""),
    )


def _roles(
    columns: Sequence[Column], n_rows: int, target: str | None, scores: Sequence[str] | None
) -> Roles:
    """The columns of each role: options decide first, then names, then values."""
    free = list(columns)
    roles: dict[str, list[Column]] = {role: [] for role in ROLES}

    def give(role: str, fits: Callable[[Column], bool], most: int = len(columns)) -> bool:
        """Give a role to columns that have none; whether there was one."""
        roles[role] += [column for column in free if fits(column)][:most]
        free[:] = [column for column in free if column not in roles[role]]
        return bool(roles[role])

    give("target", lambda column: column.name == target)
    give("scores", lambda column: column.name in (scores or ()))
    if give("fold", lambda column: column.is_called(FOLD) and column.kind != "texts", 1):
        give("repeat", lambda column: column.is_called(REPEAT), 1)
    give("groups", lambda column: _may_be_group(column, n_rows), 1)
    give("unused", lambda column: _is_no_value(column, n_rows))
    # The time and the event of survival; the target, if it is named, is one of them.
    if any(map(_is_event, free)) and any(map(_is_time, roles["target"] or free)):
        free[:0], roles["target"] = roles["target"], []
        give("time", _is_time, 1)
        give("event", _is_event, 1)
    elif any(map(_is_event, roles["target"])):
        give("time", _is_time, 1)
    if not roles["target"] and not roles["event"]:
        guess = _guessed_target(free)
        give("target", lambda column: column == guess)
    if scores is None:
        give("scores", lambda column: _may_predict(column, roles["target"]))
    if not give("features", lambda column: True) and scores is None:
        # Numbers from 0 to 1 may be measurements.
        free += [column for column in roles["scores"] if not column.is_called(PREDICTIONS)]
        roles["scores"] = [column for column in roles["scores"] if column not in free]
        give("features", lambda column: True)
    return roles


def _is_time(column: Column) -> bool:
    return column.is_called(TIME) and column.kind == "numbers"


def _is_event(column: Column) -> bool:
    return column.is_called(EVENT) and set(column.levels) == {0, 1}


def _may_be_group(column: Column, n_rows: int) -> bool:
    """Whether rows seem to share what the column names: texts, or numbers with such a name."""
    return 2 < column.n_different < n_rows and (column.kind == "texts" or column.is_called(GROUPS))


def _is_no_value(column: Column, n_rows: int) -> bool:
    """Whether a column says nothing that can be learnt from: one value, or the name of the row."""
    is_name = column.is_called(GROUPS) or column.name.startswith("Unnamed: ")
    return column.kind in ("constant", "texts") or (is_name and column.n_different == n_rows)


def _guessed_target(columns: Sequence[Column]) -> Column | None:
    """The column with such a name; else the last of two classes, of classes, or of numbers."""
    likely = [column for column in columns if not column.is_called(PREDICTIONS)]
    classes = [column for column in likely if column.kind == "classes"]
    choices = (
        [column for column in likely if column.is_called(TARGETS)],
        [column for column in classes if column.n_different == 2],
        classes,
        [column for column in likely if column.kind == "numbers"],
    )
    return next((choice[-1] for choice in choices if choice), None)


def _may_predict(column: Column, targets: Sequence[Column]) -> bool:
    """Whether a column may contain what a model predicted of the target, if there is one."""
    is_called = column.is_called(PREDICTIONS)
    if not targets or targets[0].kind != "classes":
        return is_called and column.kind in ("numbers", "shares", *([] if targets else ["classes"]))
    has_form = column.kind == "numbers" or column.names_only(targets[0].levels)
    return column.kind == "shares" or (is_called and has_form)


def _questions(roles: Roles, n_rows: int, file: Sequence[str]) -> Iterator[Question]:
    """Each question that the file can answer, and the words of its command."""
    from ucvtest.data.positive_class import says_positive

    target, scores = next(iter(roles["target"]), None), roles["scores"]
    if target is not None and roles["features"]:
        yield from _of_learners(roles, target, n_rows, file)
    # Predictions of one form, their name, and the options that say so.
    forms: list[tuple[Sequence[Column], str, list[str]]] = []
    if roles["event"]:
        time = roles["time"][0].name
        forms = [(scores, "risks", ["--target", time, "--metric", "harrell"])]
    elif target is None and not roles["fold"]:
        marks = [column for column in scores if set(column.levels) == {0, 1}]
        forms = [(marks, "right and wrong answers", ["--loss", "correct"])]
    elif target is not None and target.kind != "classes":
        forms = [(scores, "predicted numbers", ["--loss", "squared"])]
    elif target is not None:
        labels = [column for column in scores if column.names_only(target.levels)]
        forms = [(labels, "predicted classes", [])]
        if target.n_different == 2:
            numeric = [
                column for column in scores if column not in labels and not column.is_textual
            ]
            options, meaning = ["--loss", "auc"], "scores"
            if not says_positive(target.levels):
                # Not decided for the user: the question names the assumption.
                options += ["--pos-label", str(target.levels[-1])]
                meaning = f"scores (high for {target.name} = {target.levels[-1]})"
            forms.append((numeric, meaning, options))
    about_rows = ("target", "event", "groups", "fold", "repeat")
    keys = [column for role in (*about_rows, "time") for column in roles[role]]
    for columns, meaning, options in forms:
        names = [column.name for column in columns]
        listed = f"the {meaning} {' and '.join(names)}"
        words = [*file, *_named(roles, *about_rows), *options]
        if any(column.has_gaps for column in (*columns, *keys)):
            words += ["--missing", "drop"]
        if len(names) == 1:
            yield f"How good are {listed}?", ["predictions", *words, "--scores", *names]
        if len(names) > 1:
            yield f"Do {listed} differ?", ["predictions", *words, "--scores", ",".join(names)]
            new, old = names[:2]
            yield (
                f"May {new} (new) replace {old} (old), if it may be worse by 0.05?",
                ["gate", *words, "--scores", f"{new},{old}", "--margin", "0.05"],
            )


def _of_learners(
    roles: Roles, target: Column, n_rows: int, file: Sequence[str]
) -> Iterator[Question]:
    """Questions about learners, which are fitted to the features."""
    words = [*file, *_named(roles, "target", "groups")]
    left_out = [
        column.name
        for role in ("scores", "unused", "fold", "repeat", "time")
        for column in roles[role]
    ]
    if any("," in name for name in left_out):
        words += [word for name in left_out for word in ("--drop", name)]
    elif left_out:
        words += ["--drop", ",".join(left_out)]
    if any(column.is_textual for column in roles["features"]):
        words.append("--one-hot")
    if any(column.has_gaps for column in (target, *roles["features"], *roles["groups"])):
        words += ["--missing", "drop"]
    is_of_classes = target.kind == "classes"
    first, second = ("lda", "knn:5") if is_of_classes else ("ridge:1.0", "knn:5")
    two_learners = ["--learner", first, "--other", second]
    yield (
        f"Do two learners, such as {first} and {second} (ucvtest learners lists them), differ in "
        f"the prediction of {target.name}?",
        ["compare", *words, *two_learners],
    )
    yield (
        "How good is one learner, with its confidence interval?",
        ["compare", *words, "--learner", first],
    )
    if is_of_classes:
        yield (
            "How many observations are needed to find a difference of 0.1?",
            ["plan", *words, *two_learners, "--difference", "0.1"],
        )
    n_units = roles["groups"][0].n_different if roles["groups"] else n_rows
    yield "Which test suits this number of observations?", ["advise", "--n", str(n_units)]


def _named(roles: Roles, *of_roles: str) -> list[str]:
    """The options that say which columns have these roles."""
    return [
        word for role in of_roles for column in roles[role] for word in (f"--{role}", column.name)
    ]


def _typed(words: Sequence[str]) -> str:
    """A command as it is typed, over several lines if it is long."""
    # An option and its value stay on one line.
    line = re.sub(r"(?<= )(--\S+) (?!--)", "\\1\0", shlex.join(["ucvtest", *words]))
    lines = textwrap.wrap(
        line, width() - 4, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return textwrap.indent(" \\\n".join(lines), "  ").replace("\0", " ")
