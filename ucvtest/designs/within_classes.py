"""Learning sets within the classes: drawn in pairs, or all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ucvtest.data.class_sizes import Shape
from ucvtest.designs.draws import all_learning_sets, draw_orders, learning_sets


@dataclass(frozen=True, eq=False)
class WithinClasses(Shape):
    """The observations of each class, and how many of them every learning set has."""

    members: tuple[np.ndarray, ...]

    @classmethod
    def of(
        cls, members: Sequence[np.ndarray], learn_sizes: Sequence[int], **subclass_fields: Any
    ) -> Self:
        """From the observations of each class; `subclass_fields` are the fields of a subclass."""
        return cls(
            tuple(map(len, members)), tuple(learn_sizes), members=tuple(members), **subclass_fields
        )

    def drawn(self, rng: np.random.Generator, n_pairs: int) -> np.ndarray:
        """Pairs of random learning sets (2 n_pairs, n), disjoint where they can be.

        First come the first sets of all pairs.
        """
        sets = np.zeros((2, n_pairs, self.n_obs), dtype=bool)
        for members, (n, g) in zip(self.members, self.by_class, strict=True):
            orders = draw_orders(rng, n_pairs, n)
            sets[0][:, members] = learning_sets(orders, 0, g)
            again = orders if self.paired else draw_orders(rng, n_pairs, n)
            sets[1][:, members] = learning_sets(again, g if self.paired else 0, g)
        return sets.reshape(2 * n_pairs, -1)

    def draws(self, n_pairs: int) -> np.ndarray:
        """Numbers (2 n_pairs,) of the independent units among such sets: pairs, or single sets."""
        rows = np.arange(2 * n_pairs)
        return rows % n_pairs if self.paired else rows

    def every(self, n_rows: int) -> Iterator[np.ndarray]:
        """All learning sets, some rows at a time."""
        sets_by_class = [
            np.concatenate(list(all_learning_sets(n, g, 4096))) for n, g in self.by_class
        ]
        places = (
            np.indices([len(class_sets) for class_sets in sets_by_class])
            .reshape(len(sets_by_class), -1)
            .T
        )
        for first_row in range(0, len(places), n_rows):
            rows = places[first_row : first_row + n_rows]
            learning = np.zeros((len(rows), self.n_obs), dtype=bool)
            for members, sets, set_index in zip(self.members, sets_by_class, rows.T, strict=True):
                learning[:, members] = sets[set_index]
            yield learning
