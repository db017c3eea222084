"""The reader behind all doors to losses: columns by name, of the same rows, of one length."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ucvtest.common.checks import check_names
from ucvtest.common.words import arg
from ucvtest.data.files import SHEETS, read_table, without_row_numbers
from ucvtest.data.frames import as_pandas
from ucvtest.data.groups import as_groups
from ucvtest.data.sample import difference_of_names, has_index, numbers_other_order
from ucvtest.designs.design import Design
from ucvtest.losses.predicted import is_numbered, listed
from ucvtest.losses.resample_means import resample_means

if TYPE_CHECKING:
    from ucvtest.losses.table import Losses


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of learners, by name, and others of the same rows, by argument.

    A door reads them, turns those of learners into numbers, and makes the table of losses.
    """

    argument: str
    """What has the columns of learners."""
    learners: dict[str, Any]
    others: dict[str, Any]
    """Response, clusters, weights and folds; None where there are none."""

    @classmethod
    def read(cls, argument: str, user_table: Any, **others: Any) -> Self:
        """From a mapping, table or file, whose columns strings among `others` name."""
        if isinstance(user_table, (str, Path)):
            user_table = read_table(user_table)
        if hasattr(user_table, "columns") and hasattr(user_table, "items"):
            user_table = without_row_numbers(user_table)
        names = {key: name for key, name in others.items() if isinstance(name, str)}
        if names:
            user_table = as_pandas(argument, user_table)
        if not names or not hasattr(user_table, "items"):
            # Tables of other packages are refused when their columns are read.
            return cls.of(argument, user_table, **others)
        for key, name in names.items():
            if name not in user_table:
                several = len(getattr(user_table, "attrs", {}).get(SHEETS, ())) > 1
                raise ValueError(
                    f"{arg(key, name)} is not a column of {argument}, which has "
                    f"{listed(list(user_table))}" + (": read another sheet" if several else "")
                )
        others |= {key: user_table[name] for key, name in names.items()}
        if hasattr(user_table, "columns"):
            user_table = user_table.drop(columns=list(names.values()))
        else:
            taken = names.values()
            user_table = {name: x for name, x in user_table.items() if name not in taken}
        if not len(user_table.keys()):
            raise ValueError(
                f"{argument} has no column except {' and '.join(names)}: pass one column for each "
                "model"
            )
        return cls.of(argument, user_table, **others)

    @classmethod
    def of(cls, argument: str, user_table: Any, **others: Any) -> Self:
        """From a mapping or table; refused unless its names are different strings."""
        columns = user_table if isinstance(user_table, Mapping) else as_pandas(argument, user_table)
        if columns is not user_table:
            # Rows in tables of other packages have no names, and get none.
            columns = {name: column.to_numpy() for name, column in columns.items()}
        is_table = hasattr(columns, "columns") and hasattr(columns, "items")
        if not isinstance(columns, Mapping) and not is_table:
            raise ValueError(
                f"{argument} must map names to columns, or be a DataFrame, got "
                f"{type(columns).__name__}: use {{'name': ...}}"
            )
        # A table with a column for each class becomes a table of pandas; a column stays as it is.
        pairs = [
            (
                name,
                as_pandas(f"{argument}[{name!r:.60}]", column)
                if hasattr(column, "columns")
                else column,
            )
            for name, column in columns.items()
        ]
        check_names(argument, [name for name, _ in pairs])
        if not pairs:
            raise ValueError(f"{argument} is empty: pass at least one")
        return cls(argument, dict(pairs), others)

    @property
    def by_argument(self) -> dict[str, Any]:
        """Those of learners by what messages call them, at full length: short ones may be equal."""
        return {f"{self.argument}[{name!r}]": column for name, column in self.learners.items()}

    def table(self, cls: "type[Losses]", design: Design, **fields: Any) -> "Losses":
        """The losses of these learners and clusters; by default with the means of `values`."""
        if "means" not in fields:
            fields["means"] = resample_means(fields["values"], design)
        clusters = as_groups(self.others["groups"], design.n_obs)
        index = None if clusters is None else clusters.index
        return cls(design=design, learners=tuple(self.learners), groups=index, **fields)


def refuse_other_rows(
    rows: Mapping[str, Any], tables: Mapping[str, Any] | None = None, *, strict: bool = False
) -> None:
    """Refuse columns with names of other rows than the first that has any, or in another order.

    `rows` have a value in each row, `tables` a column for each row. Rows that pandas numbers from 0
    count as named only if others have the same numbers, or if it is `strict`.

    Raises
    ------
    ValueError
    """
    names = {name: user_rows.index for name, user_rows in rows.items() if has_index(user_rows)}
    for name, user_rows in (tables or {}).items():
        if has_index(user_rows) and hasattr(user_rows, "columns"):
            names[name] = user_rows.columns
    (first, reference), *other_names = [*names.items()] or [("", None)]
    for name, other in other_names:
        difference = difference_of_names(reference, other)
        numbered = not strict and (is_numbered(reference) or is_numbered(other))
        if difference and not (numbered and difference == "different indices"):
            remedy = "put them into one order by .reindex, or pass"
            if strict:
                remedy = f"pass {name.partition('[')[0]}.loc[{first:.80}.index], or"
            raise ValueError(
                f"{first:.80} and {name:.80} have {difference}, but rows are matched by position: "
                f"{remedy} .to_numpy() if the rows already correspond"
            )
    unnamed = strict and rows.get("y") is not None and first not in ("", "y")
    if unnamed and numbers_other_order(reference):
        raise ValueError(
            f"{first:.80} has rows numbered in another order than y, which has no names of rows: "
            "pass y as a Series with its index, or .to_numpy() if the rows already correspond"
        )
