"""Tables in files."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ucvtest.cli.errors import show_warning
from ucvtest.data.files import MISSING_WORDS, STDIN
from ucvtest.data.frames import nearest

if TYPE_CHECKING:
    import pandas as pd

MISSING = (
    "in CSV and Excel files, empty fields and words such as NA, None and null count as missing"
)

RULES_REMEDY = "leave out their rows with --missing drop"
LEARNING_REMEDY = "impute them, leave them out with --drop, or their rows with --missing drop"

MAX_NAMES = 8

MAX_LEVELS = 20
"""Texts of a column beyond which they are hardly categories."""


def read(
    path: Path,
    target: str,
    drop: Sequence[str],
    groups: str | None = None,
    *,
    sep: str | None = None,
    one_hot: bool = False,
    missing: str = "raise",
) -> "tuple[pd.DataFrame, Any, Any]":
    """Features, response and groups, if there are any, of a file.

    Rows with missing values stay if they may be dropped: the library drops them, with a note.
    """
    if groups == target:
        raise ValueError(f"--groups {groups}: that is the target")
    group_columns = [] if groups is None else [groups]
    options = {"--target": [target], "--groups": group_columns}
    option_columns = [(key, name) for key, names in options.items() for name in names]
    table = read_table(path, option_columns, sep)
    drop = listed_columns("--drop", drop, table, path)
    if target in drop:
        raise ValueError(f"--drop {target}: that is the target")
    features = table.drop(columns=[target, *drop, *group_columns])
    used_columns = [target, *group_columns, *features.columns]
    remedy = LEARNING_REMEDY if features.isna().any(axis=None) else RULES_REMEDY
    without_gaps(table, used_columns, missing, remedy)
    if one_hot:
        features = _one_hot(features)
    _check_features(features, path)
    labels = None if groups is None else table[groups].to_numpy()
    return features, table[target].to_numpy(), labels


def truth(table: "pd.DataFrame", target: str | None, event: str | None) -> Any:
    """The response: a column, or survival times; None if there is none."""
    if target is None:
        return None
    if event is None:
        return table[target]
    from ucvtest.data.survival_response import survival

    return survival(table[target], table[event])


def read_table(
    path: Path, option_columns: Sequence[tuple[str, str]], sep: str | None = None
) -> "pd.DataFrame":
    """A file that must have the columns that options name."""
    from ucvtest.data import files

    _check_there(path)
    separator = {"tab": "\t", "\\t": "\t"}.get(sep or "", sep)
    if separator is not None and len(separator) != 1:
        raise ValueError(f"--sep must be one character, or tab, got {sep!r:.60}")
    table = files.read_table(path, separator)
    for option, name in option_columns:
        if name not in table.columns:
            raise ValueError(f"{option} {name}: no such column in {path}{nearest(name, table)}")
    return table


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
            if name not in table.columns:
                raise ValueError(f"{option} {name}: no such column in {path}{nearest(name, table)}")
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
    meaning = MISSING + _lost_labels(table, counts)
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


def _lost_labels(table: "pd.DataFrame", names: Iterable[Any]) -> str:
    """The hint that words which count as missing may be labels; "" if fields are empty."""
    words_by_column = table.attrs.get(MISSING_WORDS, {})
    hints = [
        f"; if {' or '.join(words_by_column[name])} in {name} is a label, write it as another word"
        for name in names
        if all(words_by_column.get(name, [""]))
    ]
    return "".join(hints[:MAX_NAMES])


def _check_there(path: Path) -> None:
    """Refuse a file that there is not, with the one that was probably meant."""
    if str(path) == STDIN or path.exists():
        return
    folder = path.parent
    files = (
        (neighbour for neighbour in folder.iterdir() if neighbour.is_file())
        if folder.is_dir()
        else ()
    )
    near = get_close_matches(path.name, [neighbour.name for neighbour in files], n=1, cutoff=0.75)
    meant = f": did you mean {folder / near[0]}?" if near else ""
    raise ValueError(f"there is no file {path}{meant}")


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
    return encoded.mask(features[textual].isna().any(axis=1))


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
    return next((label for label in response if str(label) == label_text), label_text)
