"""Whether blocks carry information: the learner with a block among those with permuted copies."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ucvtest.common.words import arg
from ucvtest.data.groups import Groups
from ucvtest.inference.question import DataQuestion
from ucvtest.learners.restricted import OnColumns

LEAST = 19
"""Fewer copies have no p-value of 5%."""


@dataclass(frozen=True)
class Copies:
    """Permuted copies of blocks: among groups where these have a block in common."""

    number: int
    blocks: Mapping[str, tuple[int, ...]]
    groups: Groups | None
    among_groups: Mapping[str, bool]

    @classmethod
    def of(
        cls, number: int, blocks: Mapping[str, tuple[int, ...]], X: Any, groups: Groups | None
    ) -> "Copies":
        """Refuse too few, and blocks of which some columns vary within groups and others do not."""
        if 0 < number < LEAST:
            raise ValueError(
                f"{arg('copies')} must be 0 or at least {LEAST}, got {number}: with fewer no "
                "p-value reaches 5%"
            )
        among_groups = {}
        for block, columns in blocks.items() if number else ():
            constant = {groups is not None and _is_constant(X, k, groups) for k in columns}
            if len(constant) > 1:
                raise ValueError(
                    f"block {block} has columns that are constant within groups and others that "
                    f"are not, which cannot be permuted together: make two blocks of it, or leave "
                    f"{arg('copies')} out"
                )
            among_groups[block] = constant.pop()
        return cls(number, blocks, groups, among_groups)

    def pvalues(
        self, question: DataQuestion, learners: Mapping[str, OnColumns], fit: Any, seed: int
    ) -> dict[str, float]:
        """The p-value of each block: `fit` gives the result of a question about one learner."""
        of_blocks = {}
        for number, block in enumerate(self.blocks):
            asked = question.with_learners({block: learners[block]})
            rng = np.random.default_rng([seed, number])
            own, *of_copies = map(
                fit, (asked, *(_with(asked, X) for X in self._drawn(asked, block, rng)))
            )
            sign = -1 if own.better == "higher" else 1
            n_as_good = sum(sign * copy.estimate <= sign * own.estimate for copy in of_copies)
            of_blocks[block] = (1 + n_as_good) / (1 + self.number)
        return of_blocks

    def _drawn(self, question: DataQuestion, block: str, rng: np.random.Generator) -> Iterator[Any]:
        X, n_obs = question.sample.features, question.n_obs
        for _ in range(self.number):
            rows = rng.permutation(n_obs)
            if self.groups is not None and self.among_groups[block]:
                first_rows = np.unique(self.groups.index, return_index=True)[1]
                rows = rng.permutation(first_rows)[self.groups.index]
            elif self.groups is not None:
                by_group = np.argsort(self.groups.index, kind="stable")
                shuffled = rows[np.argsort(self.groups.index[rows], kind="stable")]
                rows = np.empty(n_obs, dtype=int)
                rows[by_group] = shuffled
            copy = X.copy()
            for column in self.blocks[block]:
                if hasattr(X, "iloc"):
                    copy.isetitem(column, X.iloc[rows, column].array)
                else:
                    copy[:, column] = X[rows, column]
            yield copy


def _is_constant(X: Any, column: int, groups: Groups) -> bool:
    """Whether all rows of each group have the same value."""
    import pandas as pd

    values = pd.Series(X.iloc[:, column].array if hasattr(X, "iloc") else X[:, column])
    return bool((values.groupby(groups.index).nunique(dropna=False) <= 1).all())


def _with(question: DataQuestion, X: Any) -> DataQuestion:
    """The question about other features of the same observations."""
    sample = replace(question.sample, features=X)
    return replace(question, problem=replace(question.problem, sample=sample))
