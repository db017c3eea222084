"""Tables in files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

MAX_NAMES = 8


def read(
    path: Path, target: str, drop: Sequence[str], groups: str | None = None
) -> "tuple[pd.DataFrame, Any, Any]":
    """Features, response and groups, if there are any, of a CSV file."""
    if target in drop:
        raise ValueError(f"--drop {target}: that is the target")
    if groups == target:
        raise ValueError(f"--groups {groups}: that is the target")
    named = [] if groups is None else [groups]
    options = {"--target": [target], "--drop": drop, "--groups": named}
    table = read_table(path, [(key, name) for key, names in options.items() for name in names])
    features = table.drop(columns=[target, *drop, *named])
    _check_features(features, path)
    labels = None if groups is None else table[groups].to_numpy()
    return features, table[target].to_numpy(), labels


def read_table(path: Path, wanted: Sequence[tuple[str, str]]) -> "pd.DataFrame":
    """A CSV file that must have the columns that options name."""
    import pandas as pd

    try:
        table = pd.read_csv(path)
    except ValueError as error:  # what pandas raises names no file
        raise ValueError(f"{path}: {error}") from error
    for option, name in wanted:
        if name not in table.columns:
            raise ValueError(
                f"{option} {name}: no such column in {path}, which has {_listed(table.columns)}"
            )
    return table


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
            f"columns that are not numeric: {_listed(textual)}; encode them as numbers, or leave "
            f"them out with --drop"
        )
    incomplete = features.columns[features.isna().any()]
    if len(incomplete):
        raise ValueError(
            f"columns with missing values: {_listed(incomplete)}; impute them, or leave them out "
            "with --drop"
        )


def _listed(names: Any) -> str:
    shown = ", ".join(str(name) for name in names[:MAX_NAMES])
    return shown if len(names) <= MAX_NAMES else f"{shown} and {len(names) - MAX_NAMES} more"


def as_label(text: str | None, response: Any) -> Any:
    """The label that is written like `text`; labels read from a file may be numbers."""
    return next((label for label in response if str(label) == text), text)
