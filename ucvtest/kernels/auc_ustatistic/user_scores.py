"""Learning sets and scores of one's own, checked."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from ucvtest.common.arrays import as_array, as_numbers
from ucvtest.data.class_sizes import Shape
from ucvtest.kernels.auc_ustatistic.blocks import N_BLOCKS
from ucvtest.kernels.auc_ustatistic.variances import ROWS_FOR_EACH

__all__ = ["GivenRows"]


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Learning sets (M, n), the draws (M,) that they came in, and the class of observations (n,).

    `order` are the classes in the order of `shape` and `members`.
    """

    learnt: np.ndarray
    draw: np.ndarray
    codes: np.ndarray
    order: tuple[int, ...]

    @classmethod
    def checked(cls, learnt: Any, y: Any, cluster: Any, *, several: bool, exact: bool) -> Self:
        """Refuse what no variance can be had from; `several` classes have scores of their own."""
        rows = cls.read(learnt, y, cluster, several=several)
        rows.check(exact=exact)
        return rows

    @classmethod
    def read(cls, learnt: Any, y: Any, cluster: Any, *, several: bool) -> Self:
        """Refuse what is no learning sets of observations with labels."""
        mask = as_array("learnt", learnt)
        if mask.ndim != 2 or not len(mask):
            raise ValueError(f"learnt must have shape (M, n) with a row or more, got {mask.shape}")
        if not np.isin(mask, (0, 1)).all():
            raise ValueError("learnt must hold 0 and 1 only")
        codes = _classes(y, mask.shape[1]) if several else _zeros_and_ones(y, mask.shape[1])
        # The AUC of two classes has the positives first.
        order = tuple(range(int(codes.max()) + 1)) if several else (1, 0)
        return cls(mask.astype(bool), _draws(cluster, len(mask)), codes, order)

    def check(
        self,
        *,
        exact: bool,
        unit: str = "observation",
        of_class: bool = True,
        least: int = 2,
    ) -> None:
        """Refuse what no variance can be had from.

        `unit` is what learning sets are of, `least` how many must be tested; without `of_class` all
        are one sample.
        """
        for code, members in zip(self.order, self.members, strict=True):
            of = f" of class {code}" if of_class else ""
            _check_class(self.learnt[:, members], unit, of, least)
        self._check_number(unit, exact=exact)

    @cached_property
    def members(self) -> tuple[np.ndarray, ...]:
        """The observations of each class."""
        return tuple(np.flatnonzero(self.codes == code) for code in self.order)

    @cached_property
    def shape(self) -> Shape:
        """The sizes of classes and learning sets."""
        learn_sizes = [int(self.learnt[0, members].sum()) for members in self.members]
        return Shape(tuple(map(len, self.members)), tuple(learn_sizes))

    def _check_number(self, unit: str, *, exact: bool) -> None:
        """Refuse fewer rows than the variance needs, and designs that are not complete."""
        n_rows, n_obs = self.learnt.shape
        if exact:
            complete = self.shape.complete
            different = len(np.unique(np.packbits(self.learnt, axis=1), axis=0))
            if n_rows != complete or different != complete:
                raise ValueError(
                    f"exact=True needs each of the {complete} learning sets once, got {n_rows} rows"
                    f"{'' if n_rows != complete else ', some of them equal'}: leave it out for "
                    "learning sets drawn at random"
                )
            return
        if n_rows < ROWS_FOR_EACH * n_obs:
            raise ValueError(
                f"scores of {n_rows} learning sets do not suffice for {n_obs} {unit}s: give "
                f"at least {ROWS_FOR_EACH * n_obs}, better {10 * n_obs}, or all there are with "
                "exact=True"
            )
        n_draws = len(np.unique(self.draw))
        if n_draws < N_BLOCKS:
            raise ValueError(f"cluster must name at least {N_BLOCKS} draws of rows, got {n_draws}")

    def scores(self, name: str, scores: Any) -> np.ndarray:
        """Scores (M, n), all there where they are tested."""
        values = as_numbers(name, scores)
        if values.shape != self.learnt.shape:
            raise ValueError(
                f"{name} and learnt must have one shape, got {values.shape} and {self.learnt.shape}"
            )
        self._check_tested(name, np.isnan(values), "a score")
        return values

    def class_scores(self, name: str, scores: Any) -> np.ndarray:
        """Scores (M, n, C) for each class, all there where they are tested."""
        values = as_numbers(name, scores)
        shape = (*self.learnt.shape, len(self.order))
        if values.shape != shape:
            raise ValueError(
                f"{name} must have shape (M, n, C) = {shape}, one score for each class in y, got "
                f"{values.shape}"
            )
        self._check_tested(name, np.isnan(values).any(axis=2), "a score of every class")
        return values

    def _check_tested(self, name: str, missing: np.ndarray, needed: str) -> None:
        if (missing & ~self.learnt).any():
            row, column = np.argwhere(missing & ~self.learnt)[0]
            raise ValueError(
                f"{name} has NaN in row {row} for observation {column}, which is tested there: "
                f"every tested observation needs {needed}"
            )


def _zeros_and_ones(y: Any, n_obs: int) -> np.ndarray:
    labels = as_array("y", y)
    if labels.shape != (n_obs,) or not np.isin(labels, (0, 1)).all():
        raise ValueError(f"y must hold 0 and 1 for {n_obs} observations, got {y!r:.60}")
    for code in (1, 0):
        if not (labels == code).any():
            raise ValueError(f"y has no {code}: the AUC needs both classes")
    return labels.astype(int)


def _classes(y: Any, n_obs: int) -> np.ndarray:
    labels = as_array("y", y)
    present = np.unique(labels) if labels.dtype.kind in "iufb" else np.array([])
    if labels.shape != (n_obs,) or len(present) < 2 or (present != np.arange(len(present))).any():
        raise ValueError(
            f"y must hold the classes 0, 1, ... of {n_obs} observations, each at least once, with "
            f"scores of shape (M, n, C), got {y!r:.60}"
        )
    return labels.astype(int)


def _draws(cluster: Any, n_rows: int) -> np.ndarray:
    if cluster is None:
        return np.arange(n_rows)
    names = as_array("cluster", cluster)
    if names.shape != (n_rows,):
        raise ValueError(f"cluster must have shape ({n_rows},), got {names.shape}")
    return np.unique(names, return_inverse=True)[1]


def _check_class(learnt: np.ndarray, unit: str, of: str, least: int) -> None:
    """Refuse learning sets that change in size, or leave too few of a class."""
    sizes, n = learnt.sum(axis=1), learnt.shape[1]
    if sizes.min() != sizes.max():
        raise ValueError(
            f"learnt must hold as many {unit}s{of} in every row, got from {sizes.min()} to "
            f"{sizes.max()}: draw learning sets {'within the classes' if of else 'of one size'}"
        )
    if n - sizes[0] < least:
        raise ValueError(
            f"learnt leaves {n - sizes[0]} of {n} {unit}s{of}, and {least} at least must be "
            "tested: draw smaller learning sets"
        )
    if learnt.all(axis=0).any():
        raise ValueError(
            f"{unit} {int(learnt.all(axis=0).argmax())}{of} is in every learning set and never "
            "tested: draw learning sets at random"
        )
