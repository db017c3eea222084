"""Out-of-fold predictions: the design of the folds, and the values of each repeat."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array
from ucvtest.common.words import arg, excerpt
from ucvtest.data.sample import refuse_missing
from ucvtest.data.survival_times import SurvivalTimes
from ucvtest.designs.design import Design, folds_in_words
from ucvtest.losses.columns import Columns, refuse_other_rows
from ucvtest.losses.predicted import quoted

MAX_BYTES = 2**32
"""Most memory of learning and test sets; a column of numbers is easily mistaken for folds."""


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """The number of the fold of each observation, from 0, in each repeat, (R, n).

    Every prediction is by a rule learnt from all rows outside the fold.
    """

    numbers: np.ndarray
    repeated: bool
    """Whether predictions have a row for each repeat; a single repeat may also have a row."""

    @classmethod
    def of(cls, fold: Any) -> "OutOfFold":
        """From labels of any type, (n,), or (R, n) for repeats."""
        if hasattr(fold, "columns"):
            raise ValueError(
                f"{arg('fold')} is a DataFrame: pass one column, or for repeats an array with a "
                "row for each"
            )
        fold_labels = as_array("fold", fold)
        if fold_labels.ndim not in (1, 2) or not fold_labels.size:
            raise ValueError(
                f"{arg('fold')} must contain the fold of each observation, shape (n,), or a row "
                f"for each repeat, (R, n), got shape {fold_labels.shape}"
            )
        numbers = []
        for repeat, labels in enumerate(np.atleast_2d(fold_labels)):
            refuse_missing("fold", labels, "drop these observations for all rules")
            names = labels.tolist()
            distinct = list(dict.fromkeys(names))
            if len(distinct) < 2:
                raise ValueError(
                    f"{arg('fold')} names one fold only ({excerpt(distinct[0])}) in repeat "
                    f"{repeat}, but two are needed: leave fold out for rules that were fixed "
                    "beforehand"
                )
            if 2 * len(distinct) * len(names) > MAX_BYTES:
                raise ValueError(
                    f"{arg('fold')} names {len(distinct)} folds of {len(names)} observations, "
                    f"which need {2e-9 * len(distinct) * len(names):.3g} GB of memory: pass a "
                    "column with few labels"
                )
            # In the order of their labels, or of their first rows: labels of several types cannot
            # be sorted.
            with suppress(TypeError):
                distinct.sort()
            fold_number = {name: number for number, name in enumerate(distinct)}
            numbers.append(np.array([fold_number[name] for name in names]))
        return cls(np.stack(numbers), fold_labels.ndim == 2)

    def of_rows(self, is_kept: np.ndarray) -> "OutOfFold":
        """The folds of some observations; the others were neither learnt from nor tested."""
        numbers = self.numbers[:, is_kept]
        return OutOfFold.of(numbers if self.repeated else numbers[0])

    @property
    def design(self) -> Design:
        """The folds of each repeat as test sets, and the remaining rows as learning sets."""
        testing = np.concatenate([row == np.arange(row.max() + 1)[:, None] for row in self.numbers])
        return Design(~testing, testing)

    @property
    def words(self) -> str:
        """The name of the cross-validation."""
        counts = (self.numbers.max(axis=1) + 1).tolist()
        if len(set(counts)) == 1:
            return folds_in_words(counts[0], len(counts))
        return f"{min(counts)}- to {max(counts)}-fold cross-validation, {len(counts)} times"

    def rounds(self, rules: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The predictions of each repeat."""
        n_repeats = len(self.numbers)
        if not self.repeated:
            for name, rule_predictions in rules.items():
                n_obs = self.numbers.shape[1]
                if (
                    np.ndim(rule_predictions) > 1
                    and np.shape(rule_predictions)[0] != n_obs == np.shape(rule_predictions)[1]
                ):
                    raise ValueError(
                        f"predictions[{name!r:.60}] has shape {np.shape(rule_predictions)}, but "
                        "fold is for one repeat: also pass fold with a row for each repeat"
                    )
            return [dict(rules)]
        for name, rule_predictions in rules.items():
            if (
                hasattr(rule_predictions, "columns")
                or not np.ndim(rule_predictions)
                or len(rule_predictions) != n_repeats
            ):
                raise ValueError(
                    f"predictions[{name!r:.60}] has shape {np.shape(rule_predictions)}, but fold "
                    f"has {n_repeats} repeats: pass a row for each repeat, as in fold"
                )
        return [
            {name: rule_predictions[repeat] for name, rule_predictions in rules.items()}
            for repeat in range(n_repeats)
        ]

    def joined(self, fields_of_repeats: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The values and predictions (L, T) of the repeats, by resample."""
        first = fields_of_repeats[0]
        names = [name for name in ("values", "predictions") if name in first]
        n_obs = first[names[0]].shape[1]
        if self.numbers.shape[1] != n_obs:
            turned = (
                ": pass fold.T, with a row for each repeat" if len(self.numbers) == n_obs else ""
            )
            raise ValueError(
                f"{arg('fold')} is for {self.numbers.shape[1]} observations, but {n_obs} are "
                f"needed{turned}"
            )
        joined_fields: dict[str, Any] = {}
        # Observations fold by fold, in each repeat.
        orders = [np.argsort(row, kind="stable") for row in self.numbers]
        for name in names:
            rows = zip(fields_of_repeats, orders, strict=True)
            joined_fields[name] = np.concatenate(
                [repeat_fields[name][:, order] for repeat_fields, order in rows], axis=1
            )
        return {**first, **joined_fields}


def unfolded(columns: Columns) -> Columns:
    """Columns of a long table by observation, with folds and predictions by repetition, (R, n).

    Each repetition has the same observations in the same order.
    """
    of_rows = dict(columns.of_rows)
    repeat, of_learners = of_rows.pop("repeat"), columns.by_argument
    if of_rows["fold"] is None:
        raise ValueError(
            f"{arg('repeat')} does not apply without {arg('fold')}: also name the column of folds"
        )
    refuse_other_rows({**of_rows, **of_learners, "repeat": repeat}, strict=True)
    labels = as_array("repeat", repeat)
    if labels.ndim != 1 or not labels.size:
        raise ValueError(
            f"{arg('repeat')} must name the repetition of each row, shape (n,), got {labels.shape}"
        )
    refuse_missing("repeat", labels, "drop these rows")
    listed = np.array(labels.tolist(), dtype=object)
    places = [np.flatnonzero(listed == label) for label in dict.fromkeys(listed.tolist())]
    sizes = sorted({len(rows) for rows in places})
    if len(sizes) > 1:
        raise ValueError(
            f"{arg('repeat')} names repetitions of {sizes[0]} and {sizes[-1]} rows, but each must "
            "have the same observations: pass complete repetitions"
        )

    def parts(argument: str, column: Any) -> list[Any]:
        """The rows of each repetition, without their names."""
        n_rows = len(column) if np.ndim(column) or isinstance(column, SurvivalTimes) else 0
        if n_rows != labels.size:
            raise ValueError(
                f"{argument} has {n_rows} rows, but repeat has {labels.size}: pass one for each "
                "row of each repetition"
            )
        if isinstance(column, SurvivalTimes):
            return [column.take(rows) for rows in places]
        if hasattr(column, "iloc"):
            return [column.iloc[rows].reset_index(drop=True) for rows in places]
        return [np.asarray(column)[rows] for rows in places]

    def stacked(argument: str, column: Any) -> Any:
        """A row for each repetition."""
        of_each = parts(argument, column)
        return of_each if hasattr(column, "columns") else np.stack([*map(np.asarray, of_each)])

    def once(argument: str, column: Any) -> Any:
        """The values of observations, which are the same in all repetitions."""
        of_each = parts(argument, column)
        values = [
            list(part.records if isinstance(part, SurvivalTimes) else np.asarray(part))
            for part in of_each
        ]
        if any(repetition != values[0] for repetition in values[1:]):
            raise ValueError(
                f"{argument} differs between repetitions, whose rows must be the same "
                "observations in the same order: sort the table"
            )
        return of_each[0]

    by_row = {name: column for name, column in of_rows.items() if column is not None}
    of_rows |= {name: (stacked if name == "fold" else once)(name, x) for name, x in by_row.items()}
    rules = {name: stacked(quoted(name), x) for name, x in columns.learners.items()}
    return Columns(columns.argument, rules, of_rows)
