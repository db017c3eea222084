"""Tables in files."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ucvtest.cli.errors import ALIASES, flag, show_warning
from ucvtest.data.files import (
    MISSING_WORDS,
    SHEETS,
    STDIN,
    WHITESPACE,
    refuse_nested,
)
from ucvtest.data.frames import nearest
from ucvtest.data.missing import Missing

if TYPE_CHECKING:
    import pandas as pd

LossName = Literal["zero_one", "squared", "absolute", "log", "brier", "auc"]

MISSING = (
    "in CSV and Excel files, empty fields and words such as NA, None and null count as missing"
)

RULES_REMEDY = "leave out their rows with --missing drop"
WRONG_REMEDY = (
    f"{RULES_REMEDY}, or count them as wrong with --missing wrong if a model ended in an error"
)
LEARNING_REMEDY = "impute them, leave them out with --drop, or their rows with --missing drop"

MAX_NAMES = 8

DUMMIES = "dummies"
"""The attribute of a table with the columns that each column of texts has become."""

MAX_LEVELS = 20
"""Texts of a column beyond which they are hardly categories."""


@dataclass(frozen=True, kw_only=True)
class File:
    """A table in a file.

    Parameters
    ----------
    data : FILE
        Text separated by commas, semicolons, tabs or bars, also compressed (gz, bz2, xz), JSON
        lines, Excel, parquet or feather; - reads the standard input.
    sep
        What separates columns: one character, or tab. [default: found]
    sheet
        Sheet of an Excel file; in JSON the key of the array of records, as in results.results.
        [default: the first sheet, the only array]
    """

    data: Path
    sep: str | None = None
    sheet: str | None = None

    def table(self, columns: Mapping[str, Sequence[str | None]]) -> "pd.DataFrame":
        """The table, which has the columns that options name, each once and with single values."""
        from ucvtest.data import files

        path = self.data
        if str(path) != STDIN and not path.exists():
            folder = path.parent
            neighbours = folder.iterdir() if folder.is_dir() else ()
            names = [neighbour.name for neighbour in neighbours if neighbour.is_file()]
            near = get_close_matches(path.name, names, n=1, cutoff=0.75)
            meant = f": did you mean {folder / near[0]}?" if near else ""
            raise ValueError(f"there is no file {path}{meant}")
        separator = {"tab": "\t", "\\t": "\t", " ": WHITESPACE}.get(self.sep or "", self.sep)
        if separator not in (None, WHITESPACE) and len(separator) != 1:
            raise ValueError(f"--sep must be one character, or tab, got {self.sep!r:.60}")
        named = [(flag(key), name) for key, of_key in columns.items() for name in of_key if name]
        names = [name for _, name in named]
        table = files.read_table(path, separator, sheet=self.sheet, columns=names)
        # Accents may be written in two ways, and the option's is the one that is looked up.
        table = table.rename(columns={unicodedata.normalize("NFC", name): name for name in names})
        for option, name in named:
            _check_column(option, name, table, path)
        refuse_nested(table, names)
        return table


@dataclass(frozen=True, kw_only=True)
class Sample(File):
    """Observations for learners: features and a response.

    Parameters
    ----------
    target
        Column to predict; all others are features.
    loss
        [default: zero_one for classes, squared for real numbers]
    pos_label
        The positive class. [default: the last in sorted order; metrics of one class, such as f1,
        need it unless labels are 0 and 1, false and true, or -1 and 1]
    groups : COL
        Column that names the group of each row, such as the patient; it is not a feature.
    drop : COL,COL,...
        Columns to leave out; repeatable.
    one_hot
        Encode columns of texts as zeros and ones: row by row and without the target, so that no
        split learns from its test set.
    missing
        Rows with missing values, which are empty fields and words such as NA, None and null:
        refuse them, or leave them out with a note.
    seed
        Seed of the random learning sets.
    """

    target: str
    loss: LossName | None = None
    pos_label: str | None = None
    groups: str | None = None
    drop: list[str] | None = None
    one_hot: bool = False
    missing: Missing = "raise"
    seed: int = 0

    def read(self) -> "tuple[pd.DataFrame, Any, Any, Any]":
        """Features, response, groups and positive class; None for what there is not.

        Rows with missing values stay if they may be dropped: the library drops them, with a note.
        """
        target, groups = self.target, self.groups
        if groups == target:
            raise ValueError(f"--groups {groups}: that is the target")
        table = self.table({"target": [target], "groups": [groups]})
        drop = listed_columns("--drop", self.drop or [], table, self.data)
        if target in drop:
            raise ValueError(f"--drop {target}: that is the target")
        group_columns = [] if groups is None else [groups]
        features = table.drop(columns=[target, *drop, *group_columns])
        used_columns = [target, *group_columns, *features.columns]
        remedy = LEARNING_REMEDY if features.isna().any(axis=None) else RULES_REMEDY
        without_gaps(table, used_columns, self.missing, remedy)
        refuse_nested(features)
        if self.one_hot:
            features = _one_hot(features)
        _check_features(features, self.data)
        response = table[target].to_numpy()
        labels = None if groups is None else table[groups].to_numpy()
        return features, response, labels, as_label(self.pos_label, response)

    def arguments(
        self, names: Iterable[str], data: "tuple[pd.DataFrame, Any, Any, Any]", **decided: Any
    ) -> dict[str, Any]:
        """Arguments of a function: the data that were read, what options say, and decisions."""
        options = {name: name if hasattr(self, name) else ALIASES.get(name, "") for name in names}
        typed = {
            name: getattr(self, option) for name, option in options.items() if hasattr(self, option)
        }
        return typed | dict(zip(("X", "y", "groups", "pos_label"), data, strict=True)) | decided


def _check_column(option: str, name: str, table: "pd.DataFrame", path: Path) -> None:
    """Refuse a column that there is not, or more than once."""
    count = list(table.columns).count(name)
    if count > 1:
        raise ValueError(
            f"{option} {name}: {path} has {count} columns of this name: rename all but one"
        )
    if not count:
        nearby = nearest(name, table)
        raise ValueError(
            f"{option} {name}: no such column in {path}{nearby}{_elsewhere(name, table)}"
        )


def _elsewhere(name: str, table: "pd.DataFrame") -> str:
    """The option to type if a column that was not found is on another sheet, or a value."""
    sheets = table.attrs.get(SHEETS, [])
    if len(sheets) > 1:
        return f"; its sheets are {_listed(sheets)}: name one by --sheet"
    if table.shape[1] == 1 and len(str(table.columns[0]).split()) > 1:
        return "; if blanks are between its columns, add --sep ' '"
    for place, column in enumerate(table.columns):
        if table.dtypes.iloc[place].kind not in "iufb" and (table.iloc[:, place] == name).any():
            return (
                f"; {column} has this value: a row for each model and item needs --model {column}"
            )
    return ""


def by_model(
    table: "pd.DataFrame",
    models: Sequence[str],
    columns: tuple[str, str, str],
    other_columns: Sequence[str],
) -> "pd.DataFrame":
    """A long table with a row for each item, and a column for each model in the place of its rows.

    `columns` are those of the model, of the item (or several) and of the value; `other_columns`
    must be the same for all rows of an item.
    """
    of_model, of_item, of_value = columns
    items = items_of(of_item)
    lost = _listed([name for name in (of_model, *items) if table[name].isna().any()])
    if lost:
        raise ValueError(f"columns with missing values: {lost}; every row has a model and an item")
    model_of_row = table[of_model].astype(str)
    for name in models:
        if name not in set(model_of_row):
            raise ValueError(
                f"--scores {name}: no such model in {of_model}, which has "
                f"{_listed(model_of_row.unique().tolist())}"
            )
        if name in (*other_columns, *items):
            raise ValueError(f"--scores {name}: a column has the name of this model: rename it")
    table = table[model_of_row.isin(models)]
    kept_columns = [name for name in dict.fromkeys(other_columns) if name not in items]
    for column in kept_columns:
        differing = table.groupby(items)[column].nunique(dropna=False) > 1
        if differing.any():
            raise ValueError(
                f"{column} differs between rows of one item, such as {of_item} "
                f"{differing.idxmax()}: it must be the same for all models"
            )
    twice = table[table.duplicated([of_model, *items])]
    if len(twice):
        model, *item = map(str, twice.iloc[0][[of_model, *items]])
        raise ValueError(
            f"{model} has several rows for {of_item} {', '.join(item)}: also name what tells "
            "them apart, as in --item question,epoch"
        )
    wide = table.drop_duplicates(items).set_index(items)[kept_columns]
    for name in models:
        wide[name] = table[model_of_row == name].set_index(items)[of_value]
    return wide.reset_index()


def items_of(option_value: str) -> list[str]:
    """The columns that tell the rows of one model apart."""
    return [name.strip() for name in option_value.split(",")]


def marked(table: "pd.DataFrame", names: Sequence[str], right: str | None) -> "pd.DataFrame":
    """The table with answers marked as right or wrong, where marks are words such as C and I."""
    marks = [mark for name in names for mark in table[name].dropna().unique().tolist()]
    words = [str(mark) for mark in dict.fromkeys(marks)]
    if right is None:
        texts = [mark for mark in marks if isinstance(mark, str)]
        if texts:
            raise ValueError(
                f"--scores {','.join(names)}: marks are {_listed(words)}, but --loss correct needs "
                "True or 1 for right answers, False or 0 for wrong ones: name the mark of a right "
                f"answer, as in --pos-label {'C' if 'C' in texts else 'RIGHT'}, if all others mean "
                "wrong"
            )
        return table
    if right not in words:
        raise ValueError(f"--pos-label {right} is not among the marks, which are {_listed(words)}")
    wrong = [word for word in words if word != right]
    show_warning(f"{right} counts as right, and as wrong: {_listed(wrong) or 'nothing'}.")
    # Missing marks stay missing.
    return table.assign(
        **{name: (table[name].astype(str) == right).where(table[name].notna()) for name in names}
    )


def missing_as_wrong(
    table: "pd.DataFrame", names: Sequence[str], target: str | None
) -> "pd.DataFrame":
    """The table with wrong answers in the place of missing ones: False, or another label."""
    wrong: Any = False
    if target is not None:
        labels = table[target].dropna().unique().tolist()
        label_after = dict(zip(labels, labels[1:] + labels[:1], strict=True))
        wrong = table[target].map(label_after) if len(labels) > 1 else None
    gaps = table[list(names)].isna().sum()
    counts = _listed([f"{count} in {name}" for name, count in gaps.items() if count])
    if counts:
        show_warning(f"missing answers count as wrong ({counts}); {MISSING}.")
    return table.assign(**{name: table[name].where(table[name].notna(), wrong) for name in names})


def listed_columns(
    option: str, option_values: Sequence[str], table: "pd.DataFrame", path: Path
) -> list[str]:
    """Columns that an option names, once each or several with commas between them."""
    columns = []
    for option_value in option_values:
        # A comma may belong to the name.
        names = (
            [option_value]
            if option_value in table.columns
            else [name.strip() for name in option_value.split(",")]
        )
        for name in names:
            _check_column(option, name, table, path)
        columns += names
    return columns


def without_gaps(
    table: "pd.DataFrame", used_columns: Sequence[str], missing: str, remedy: str = RULES_REMEDY
) -> "pd.DataFrame":
    """The table without rows that miss a value in a used column, if these may be dropped."""
    gaps = table[list(dict.fromkeys(used_columns))].isna()
    counts = {name: count for name, count in gaps.sum().items() if count}
    if not counts:
        return table
    # Words that count as missing may be labels.
    words_by_column = table.attrs.get(MISSING_WORDS, {})
    hints = [
        f"; if {' or '.join(words_by_column[name])} in {name} is a label, write it as another word"
        for name in counts
        if all(words_by_column.get(name, [""]))
    ]
    meaning = MISSING + "".join(hints[:MAX_NAMES])
    if missing == "raise":
        raise ValueError(f"columns with missing values: {_listed([*counts])}; {remedy}; {meaning}")
    complete = table[~gaps.any(axis=1)]
    by_column = _listed([f"{count} in {name}" for name, count in counts.items()])
    if not len(complete):
        raise ValueError(
            f"every row has a missing value in one of the used columns ({by_column}): {meaning}"
        )
    n_dropped = len(table) - len(complete)
    show_warning(f"{n_dropped} rows with missing values are left out ({by_column}); {meaning}.")
    return complete.reset_index(drop=True)


def _one_hot(features: "pd.DataFrame") -> "pd.DataFrame":
    """Texts as columns of zeros and ones, one less than a column has values."""
    import pandas as pd

    textual = list(features.select_dtypes(exclude=["number", "bool"]).columns)
    if not textual:
        return features
    many = [name for name in textual if features[name].nunique() > MAX_LEVELS]
    if many:
        raise ValueError(
            f"--one-hot: columns with more than {MAX_LEVELS} different texts: {_listed(many)}; "
            "leave them out with --drop"
        )
    encoded = pd.get_dummies(features, columns=textual, drop_first=True, dtype=float)
    # A missing text is different from the text without a column.
    encoded = encoded.mask(features[textual].isna().any(axis=1))
    encoded.attrs[DUMMIES] = {
        name: [column for column in encoded if str(column).startswith(f"{name}_")]
        for name in textual
    }
    return encoded


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
            f"columns that are not numeric: {_listed(textual)}; encode them as numbers, by "
            "--one-hot for example, or leave them out with --drop"
        )


def _listed(names: Any) -> str:
    first_names = ", ".join(str(name) for name in names[:MAX_NAMES])
    return (
        first_names
        if len(names) <= MAX_NAMES
        else f"{first_names} and {len(names) - MAX_NAMES} more"
    )


def as_label(label_text: str | None, response: Any) -> Any:
    """The label that is written like `label_text`; labels read from a file may be numbers."""

    def written(label: Any) -> tuple[str, ...]:
        # Next to missing values, pandas reads whole numbers as 1.0.
        return (str(label), f"{label:g}") if isinstance(label, float) else (str(label),)

    return next((label for label in response if label_text in written(label)), label_text)
