"""What losses are made of: columns that all doors read here, and the parts of a table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ucvtest.common.checks import HALF_A_PAIR, check_names, check_text
from ucvtest.common.words import arg, call, excerpt, item, place
from ucvtest.data.files import SHEETS, read_table, without_row_numbers
from ucvtest.data.frames import as_pandas
from ucvtest.data.groups import as_groups
from ucvtest.data.sample import difference_of_names, has_index, numbers_other_order
from ucvtest.designs.design import Design
from ucvtest.losses.linearised import counts_pairs_twice, resample_means

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
    of_rows: dict[str, Any]
    """Response, clusters, weights and folds; None where there are none."""

    @classmethod
    def read(cls, argument: str, user_table: Any, **of_rows: Any) -> Self:
        """From a mapping, table or file, whose columns strings among `of_rows` name."""
        if isinstance(user_table, (str, Path)):
            user_table = read_table(user_table)
        if hasattr(user_table, "columns") and hasattr(user_table, "items"):
            user_table = without_row_numbers(user_table)
        names = {key: name for key, name in of_rows.items() if isinstance(name, str)}
        if names:
            user_table = as_pandas(argument, user_table)
        if not names or not hasattr(user_table, "items"):
            # Tables of other packages are refused when their columns are read.
            return cls.of(argument, user_table, **of_rows)
        for key, name in names.items():
            if name not in user_table:
                several = len(getattr(user_table, "attrs", {}).get(SHEETS, ())) > 1
                raise ValueError(
                    f"{arg(key, name)} is not a column of {argument}, which has "
                    f"{listed(list(user_table))}" + (": read another sheet" if several else "")
                )
        of_rows |= {key: user_table[name] for key, name in names.items()}
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
        return cls.of(argument, user_table, **of_rows)

    @classmethod
    def of(cls, argument: str, user_table: Any, **of_rows: Any) -> Self:
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
        return cls(argument, dict(pairs), of_rows)

    @property
    def by_argument(self) -> dict[str, Any]:
        """Those of learners by what messages call them, at full length: short ones may be equal."""
        return {f"{self.argument}[{name!r}]": column for name, column in self.learners.items()}

    def table(self, cls: "type[Losses]", design: Design, **fields: Any) -> "Losses":
        """The losses of these learners and clusters; by default with the means of `values`."""
        if "means" not in fields:
            fields["means"] = resample_means(fields["values"], design)
        if self.of_rows.get("groups") is not None:
            clusters = as_groups(self.of_rows["groups"], design.n_obs)
            assert clusters is not None
            fields["groups"] = clusters.index
        return cls(design=design, learners=tuple(self.learners), **fields)


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


def is_numbered(names: Any) -> bool:
    """Whether rows have no names, so that pandas has numbered them from 0."""
    return type(names).__name__ == "RangeIndex" and names.start == 0 and names.step == 1


def as_rows(
    rows: Mapping[str, np.ndarray],
    n_obs: int | None = None,
    *,
    argument: str = "predictions",
    unit: str = "values",
    remedy: str = "",
) -> np.ndarray:
    """The rules as rows of one array, if all have the same length: by default that of the first."""
    expected = len(next(iter(rows.values()))) if n_obs is None else n_obs
    for name, row in rows.items():
        if len(row) != expected:
            raise ValueError(
                f"{item(argument, name)} has {len(row)} {unit}, but {expected} are needed{remedy}"
            )
    if not expected:
        raise ValueError("predictions is empty: at least one observation is needed")
    return np.stack(list(rows.values()))


def listed(values: Iterable[Any], most: int = 5) -> str:
    """Labels as a list in messages."""
    distinct = list(dict.fromkeys(values))
    listed_labels = ", ".join(f"{excerpt(value):.30}" for value in distinct[:most])
    return f"{listed_labels}, ..." if len(distinct) > most else listed_labels


def as_names(learners: Sequence[str] | None, n_learners: int) -> tuple[str, ...]:
    """The names of the learners, all different; numbered ones by default."""
    if learners is None:
        return tuple(f"learner {learner_number}" for learner_number in range(1, n_learners + 1))
    if not isinstance(learners, Sequence):
        raise ValueError(f"learners must be {n_learners} different names, got {excerpt(learners)}")
    names = tuple(learners)
    strings = not isinstance(learners, str) and all(
        isinstance(name, str) and name.strip() for name in names
    )
    if not strings or len(names) != n_learners or len(set(names)) < n_learners:
        raise ValueError(f"learners must be {n_learners} different names, got {list(names)}")
    if HALF_A_PAIR.search("".join(names)):
        for name in names:
            check_text("learners: the name", name)
    return names


def check_parts(losses: Any) -> None:
    """Refuse parts that are inconsistent; losses may come from a file."""
    n_learners, design = len(losses.learners), losses.design
    if not n_learners:
        raise ValueError("learners is empty: losses of at least one learner are needed")
    if losses.means is None:
        raise ValueError("means are missing: one is needed for each learner and resample")
    shapes: list[tuple[str, tuple[int, ...]]] = [
        ("means", (n_learners, design.n_resamples)),
        ("values", (n_learners, int(design.testing.sum()))),
        ("target", (design.n_obs,)),
        ("groups", (design.n_obs,)),
        ("event", (design.n_obs,)),
    ]
    if losses.predictions is not None:
        # With probabilities by several times, each observation has more than one value.
        shapes.append(("predictions", (*shapes[1][1], *losses.predictions.shape[2:3])))
    for name, shape in shapes:
        array = getattr(losses, name)
        if array is not None and (array.shape != shape or array.dtype.kind not in "fiub"):
            raise ValueError(
                f"{name} must contain numbers of shape {shape}, got {array.dtype} {array.shape}"
            )
    if losses.groups is not None:
        groups = as_groups(losses.groups, design.n_obs)
        is_integer = losses.groups.dtype.kind in "iu"
        if groups is None or not is_integer or not np.array_equal(groups.index, losses.groups):
            raise ValueError(
                f"{arg('groups')} must be numbered from {place(0)} in the order in which they "
                "first appear"
            )
        design.check_groups(groups)
    auc = losses.metric.ranks_pairs
    if auc:
        _check_areas(losses)
    losses_or_means = losses.means if losses.values is None else losses.values
    if losses.predictions is not None:
        _check_predictions(losses)
        return
    # The AUC of a test set of one class has no value, which tests tell by their status.
    may_be_nan = auc and losses.values is None
    has_nan = not may_be_nan and np.isnan(losses_or_means).any()
    if has_nan or (not auc and np.isinf(losses_or_means).any()):
        raise ValueError("values must be finite numbers (scores may be infinite)")
    if not auc and losses.values is not None:
        _check_means(losses)


def _check_predictions(losses: Any) -> None:
    """Refuse values that cannot be values of a function of means; if it is 0/0, all are NaN."""
    if losses.values is None or losses.target is None:
        raise ValueError("predictions need values and target as well")
    if not np.isfinite(losses.predictions).all():
        raise ValueError("predictions must be finite numbers")
    if losses.metric.of_survival == (losses.event is None):
        raise ValueError(
            f"{arg('event')} is needed for a survival metric, and must be absent for other metrics"
        )
    if np.isfinite(losses.values).all():
        _check_means(losses)
        return
    undefined = np.isnan(losses.values)
    if np.isinf(losses.values).any() or (undefined.any(axis=1) != undefined.all(axis=1)).any():
        raise ValueError("values must be finite numbers, or all NaN for a learner")


def _check_areas(losses: Any) -> None:
    """Refuse impossible scores, labels and areas under the ROC curve."""
    if (losses.target is None) != (losses.values is None):
        raise ValueError(f"{arg('loss', 'auc')} needs values and target, or neither")
    if losses.target is not None and set(losses.target.tolist()) != {0.0, 1.0}:
        raise ValueError(f"{arg('loss', 'auc')} needs a target of zeros and ones")
    if not losses.greater_is_better:
        raise ValueError(
            f"{arg('greater_is_better')} must be {excerpt(True)} for {arg('loss', 'auc')}, or left "
            "out"
        )
    # AUCs are not computed again, because that is slow for many small test sets.
    possible = np.isnan(losses.means) | ((losses.means >= 0) & (losses.means <= 1))
    if not possible.all():
        raise ValueError(
            f"means are AUCs for {arg('loss', 'auc')}, so they must lie between 0 and 1"
        )


def _check_means(losses: Any) -> None:
    """Refuse means of other losses: some tests use the means, others the values."""
    if counts_pairs_twice(losses.metric, losses.design):
        # Values of sets are not computed again, because that is slow for many sets.
        if not np.isfinite(losses.means).all():
            raise ValueError("means must be finite numbers where values are")
        return
    expected = resample_means(losses.values, losses.design)
    rounding = 1e-9 * float(max(losses.values.max(), -losses.values.min()))
    if not np.allclose(losses.means, expected, rtol=0, atol=rounding):
        raise ValueError(
            "means are not the means of values: leave the computation to "
            f"{call('Losses.from_arrays')}"
        )
