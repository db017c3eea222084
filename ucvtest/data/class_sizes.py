"""The number of observations of each class, and of each class in a learning set."""

from dataclasses import dataclass
from math import comb, prod

import numpy as np


@dataclass(frozen=True)
class Shape:
    """n_c and g_c: observations of each class, in the sample and in a learning set."""

    sizes: tuple[int, ...]
    learn_sizes: tuple[int, ...]

    @property
    def n_obs(self) -> int:
        """Observations of all classes."""
        return sum(self.sizes)

    @property
    def by_class(self) -> tuple[tuple[int, int], ...]:
        """n_c and g_c of each class."""
        return tuple(zip(self.sizes, self.learn_sizes, strict=True))

    @property
    def tested(self) -> tuple[int, ...]:
        """r_c: the number of each class outside a learning set."""
        return tuple(n - g for n, g in self.by_class)

    @property
    def paired(self) -> bool:
        """Whether learning sets can be drawn in disjoint pairs."""
        return all(2 * g <= n for n, g in self.by_class)

    @property
    def disjoint(self) -> bool:
        """Whether two learning sets, each with one more of each class to test, can be disjoint."""
        return all(2 * (g + 1) <= n for n, g in self.by_class)

    @property
    def complete(self) -> int:
        """The number of all learning sets."""
        return prod(comb(n, g) for n, g in self.by_class)

    def split(self, values: np.ndarray) -> tuple[np.ndarray, ...]:
        """The values (..., n), sorted by class, split into one array for each class."""
        return tuple(np.split(values, np.cumsum(self.sizes)[:-1], axis=-1))
