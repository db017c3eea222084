"""Blocks of columns: which there are, which learners see what, and which columns are alike."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ucvtest.common.notes import Note
from ucvtest.common.words import arg, excerpt, place
from ucvtest.data.frames import column_places
from ucvtest.data.sample import Sample
from ucvtest.learners.adapters.coerce import on_columns
from ucvtest.learners.restricted import OnColumns

ALIKE = 0.8
"""Absolute correlation from which on one column stands in for another."""

MOST_LISTED = 5
"""Columns or blocks that a sentence names."""


@dataclass(frozen=True)
class Blocks:
    """Blocks of columns by name, as places in X, and the base that they are added to, if any."""

    names: tuple[Any, ...]
    """Of the columns of X; their numbers where they have no names."""
    places: Mapping[str, tuple[int, ...]]
    base: tuple[int, ...] | None

    @classmethod
    def of(cls, X: Any, blocks: Any, base: Any) -> Self:
        """Check what a user passes; by default each column, but those of the base, is a block."""
        if not (hasattr(X, "columns") or getattr(X, "ndim", 0) == 2):
            raise ValueError(f"{arg('X')} must be a table with columns, got {excerpt(X)}")
        names = tuple(getattr(X, "columns", range(X.shape[1])))
        of_base = None if base is None else tuple(column_places(arg("base"), _listed(base), X))
        if blocks is None:
            blocks = [[name] for number, name in enumerate(names) if number not in (of_base or ())]
            if not blocks:
                raise ValueError(f"{arg('base')} has all columns: leave out those to add to it")
        owners = dict.fromkeys(of_base or (), "base")
        places: dict[str, tuple[int, ...]] = {}
        for block, columns in _named(blocks, X):
            own = tuple(column_places(f"{arg('block')} {block}", _listed(columns), X))
            if block in places:
                raise ValueError(
                    f"block {block} is there twice: name {arg('blocks')} by texts that differ"
                )
            if not own:
                raise ValueError(f"block {block} is empty: name its columns, or leave it out")
            for column in own:
                if column in owners:
                    raise ValueError(
                        f"column {names[column]} is in {owners[column]} and in block {block}, but "
                        f"{arg('blocks')} must not overlap: call once for each"
                    )
                owners[column] = f"block {block}"
            if base is None and len(own) == len(names):
                raise ValueError(
                    f"block {block} has all columns, without which nothing is left to learn from: "
                    f"pass {arg('base', [])} for the gain over the best constant prediction"
                )
            places[block] = own
        if not places:
            raise ValueError(f"{arg('blocks')} is empty: name at least one block of columns")
        return cls(names, places, of_base)

    def learners(self, learner: Any) -> dict[str, OnColumns]:
        """The one that is compared with first, then that of each block."""
        everything = range(len(self.names))
        seen = {"all columns": tuple(everything)} if self.base is None else {"base": self.base}
        for block, columns in self.places.items():
            kept = (number for number in everything if number not in columns)
            seen[self.learner_of(block)] = (
                tuple(kept) if self.base is None else tuple(sorted((*self.base, *columns)))
            )
        return {
            name: on_columns(learner, [self.names[number] for number in numbers])
            for name, numbers in seen.items()
        }

    def learner_of(self, block: str) -> str:
        """What the comparison calls the learner without a block, or with the base and the block."""
        return f"without {block}" if self.base is None else f"base and {block}"

    def named(self, places: Iterable[int]) -> tuple[str, ...]:
        """The names of columns at these places."""
        return tuple(str(self.names[number]) for number in places)

    def notes(self, sample: Sample, learn_size: int) -> Iterator[str]:
        """Notes on columns that are alike, and on more columns than observations to learn from."""
        alike = [*self._alike(sample.features)] if self.base is None else []
        if alike:
            listed = "; ".join(alike[:MOST_LISTED])
            more = len(alike) - MOST_LISTED
            yield Note(
                f"Columns with a correlation of {ALIKE} or more outside of their block: "
                f"{listed}{f'; and {more} more' if more > 0 else ''}. Without one the other "
                "stands in for it: ask for them as one block.",
                "Some columns are alike and stand in for each other: ask for one block.",
            )
        if len(self.names) > learn_size:
            yield Note(
                f"There are more columns ({len(self.names)}) than observations to learn from "
                f"({learn_size}). Columns without information can then help a learner without a "
                "penalty, as noise regularises it.",
                "More columns than observations to learn from: noise can help such a learner.",
            )

    def _alike(self, X: Any) -> Iterator[str]:
        """Pairs of columns of numbers that are not in the same block."""
        import pandas as pd

        table = pd.DataFrame(X).set_axis(range(len(self.names)), axis=1)
        correlations = table.select_dtypes("number").corr().abs()
        block_of = {number: block for block, own in self.places.items() for number in own}
        kept = correlations.columns
        for row, column in np.argwhere(np.triu(correlations, 1) >= ALIKE):
            first, second = kept[row], kept[column]
            if block_of.get(first) != block_of.get(second):
                yield f"{self.names[first]} and {self.names[second]}"


def _called(name: Any, X: Any) -> str:
    """The block of one column; columns of arrays are numbered as a user counts."""
    return str(name) if hasattr(X, "columns") else f"column {place(name)}"


def _listed(columns: Any) -> list[Any]:
    return [columns] if isinstance(columns, (str, int)) else list(columns)


def _named(blocks: Any, X: Any) -> list[tuple[str, Any]]:
    """Blocks with their names: those without a name are called by their columns."""
    if isinstance(blocks, Mapping):
        return [(str(name), columns) for name, columns in blocks.items()]
    return [
        (" + ".join(_called(column, X) for column in _listed(columns)), columns)
        for columns in _listed(blocks)
    ]
