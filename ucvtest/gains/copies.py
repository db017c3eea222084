"""Whether blocks carry information: the learner with a block among those with permuted copies."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ucvtest.common.words import arg
from ucvtest.data.groups import Groups
from ucvtest.inference.question import DataQuestion
from ucvtest.results.result import TestResult

LEAST = 19
"""Fewer copies have no p-value of 5%."""


def check_copies(copies: int, block: str, X: Any, columns: Sequence[int], groups: Any) -> bool:
    """Whether a block is permuted among groups, which have its values in common.

    Refuses too few copies, and blocks with columns that vary within groups and columns that do not.
    """
    if copies < LEAST:
        raise ValueError(
            f"{arg('copies')} must be 0 or at least {LEAST}, got {copies}: with fewer no p-value "
            "reaches 5%"
        )
    if groups is None:
        return False
    by_group = pd.DataFrame(X).iloc[:, list(columns)].groupby(groups.index)
    is_constant = (by_group.nunique(dropna=False) <= 1).all()
    if is_constant.any() and not is_constant.all():
        raise ValueError(
            f"block {block} has columns that are constant within groups and others that are not, "
            f"which cannot be permuted together: divide it, or leave {arg('copies')} out"
        )
    return bool(is_constant.all())


def pvalue_of_rank(
    question: DataQuestion,
    fit: Callable[[DataQuestion], TestResult],
    copies: int,
    columns: Sequence[int],
    among_groups: bool,
    rng: np.random.Generator,
) -> float:
    """The p-value of a block, from the results with it and with copies in its place."""
    sample, groups = question.sample, question.sample.groups
    own, n_as_good = fit(question), 1
    sign = -1 if own.better == "higher" else 1
    for rows in _orders(question.n_obs, copies, groups, among_groups, rng):
        copied = replace(sample, features=_permuted(sample.features, columns, rows))
        result = fit(replace(question, problem=replace(question.problem, sample=copied)))
        # An estimate without a value, as of F1 that is 0/0, shows nothing.
        n_as_good += not sign * result.estimate > sign * own.estimate
    return n_as_good / (1 + copies)


def _orders(
    n_obs: int, copies: int, groups: Groups | None, among_groups: bool, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Permutations of the rows: of whole groups, or within them where there are any."""
    index = np.zeros(n_obs, dtype=int) if groups is None else groups.index
    by_group, first_rows = np.argsort(index, kind="stable"), np.unique(index, return_index=True)[1]
    for _ in range(copies):
        rows = rng.permutation(first_rows)[index]
        if not among_groups:
            rows[by_group] = np.lexsort((rng.random(n_obs), index))
        yield rows


def _permuted(X: Any, columns: Sequence[int], rows: np.ndarray) -> Any:
    copy = X.copy()
    for column in columns:
        if hasattr(X, "iloc"):
            copy.isetitem(column, X.iloc[rows, column].array)
        else:
            copy[:, column] = X[rows, column]
    return copy
