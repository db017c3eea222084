"""From what a user passes to a design: numbers of folds, scikit-learn splitters, splits."""

import copy
import reprlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array
from ucvtest.common.checks import is_integer
from ucvtest.common.words import arg, call, excerpt, term
from ucvtest.data.groups import Groups, check_known_groups
from ucvtest.designs.design import Design
from ucvtest.designs.scheme_base import NamedDesign, StratifiedDesign
from ucvtest.designs.schemes import KFold

GROUPED = "it splits by groups: pass groups, one label for each row"


@dataclass(frozen=True)
class _DrawnDesign(NamedDesign):
    design: Design

    @property
    def words(self) -> str:
        return self.design.words

    @property
    def n_resamples(self) -> int:
        return self.design.n_resamples

    def check(self, n_obs: int, groups: Groups | None = None) -> None:
        if self.design.n_obs != n_obs:
            raise ValueError(
                f"design is for {self.design.n_obs} observations, but the sample has {n_obs}"
            )
        if not self.design.learns:
            raise ValueError(
                "the design learns from nothing, which is for rules that are fixed: use "
                f"{call('Losses.from_predictions')} for these"
            )
        if groups is not None:
            self.design.check_groups(groups)

    def draw(self, n_obs: int, rng: np.random.Generator, groups: Groups | None = None) -> Design:
        self.check(n_obs, groups)
        return self.design


# Compared by identity: neither splitters nor data can be compared otherwise.
@dataclass(frozen=True, eq=False)
class _Splitter(NamedDesign):
    """A scikit-learn splitter with the data that it may look at."""

    splitter: Any
    X: Any
    y: Any
    groups: Groups | None = None

    @property
    def words(self) -> str:
        return repr(self.splitter)

    @property
    def n_resamples(self) -> int:
        count = getattr(self.splitter, "get_n_splits", None)
        if count is None:
            return 1
        with self._explaining():
            labels = () if self.groups is None else (self.groups.index,)
            return int(count(self.X, self.y, *labels))

    def check(self, n_obs: int, groups: Groups | None = None) -> None:
        if groups is not None:
            check_known_groups(groups, n_obs)
        with self._explaining():
            next(iter(self._splits(np.random.default_rng(0), groups)))

    def draw(self, n_obs: int, rng: np.random.Generator, groups: Groups | None = None) -> Design:
        if groups is not None:
            check_known_groups(groups, n_obs)
        design = Design.from_indices(self._splits(rng, groups), n_obs)
        if groups is not None:
            design.check_groups(groups)
        return design

    def _splits(self, rng: np.random.Generator, groups: Groups | None) -> Any:
        # A copy, so that no state moves: ours in the user's object, the user's, or global.
        splitter, groups = copy.deepcopy(self.splitter), groups or self.groups
        if getattr(splitter, "random_state", 0) is None:
            splitter.random_state = int(rng.integers(2**31 - 1))
        if groups is None:
            return splitter.split(self.X, self.y)
        with warnings.catch_warnings():
            # Whether a splitter that ignores groups divides one is seen from its splits.
            warnings.filterwarnings("ignore", "The groups parameter is ignored")
            return list(splitter.split(self.X, self.y, groups.index))

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, TypeError, StopIteration) as error:
            lacking = self.groups is None and "groups" in str(error)
            reason = GROUPED if lacking else error
            raise ValueError(f"design {self.words} cannot be used: {reason}") from None


def as_design(
    design: Any, X: Any = None, y: Any = None, *, auc: bool = False, groups: Groups | None = None
) -> NamedDesign:
    """The named design that a user means.

    Parameters
    ----------
    design : NamedDesign, Design, int, scikit-learn splitter, or list of splits
        An integer is the number of folds. A `Design` is used as it is. A splitter is an object
        with a ``split(X, y)`` method; if its random_state is None it gets one drawn from rng.
        Splits are pairs of row numbers, (learning, testing), as splitters yield them.
    X, y : optional
        The data: splitters look at them, and splits must suit their number of rows.
    auc : bool
        Whether it is for the AUC: designs drawn here are then stratified, unless the user says not.
    groups : Groups, optional
        The cluster of each observation, which some splitters look at.

    Returns
    -------
    NamedDesign

    Raises
    ------
    ValueError
        If it is not one of these, or splits do not suit the data.
    """
    if is_integer(design):
        design = KFold(int(design))
    if isinstance(design, NamedDesign):
        return design.for_scores() if auc and isinstance(design, StratifiedDesign) else design
    if isinstance(design, Design):
        return _DrawnDesign(design)
    if callable(getattr(design, "split", None)) and not isinstance(design, str):
        return _Splitter(design, X, y, groups)
    if isinstance(design, (list, tuple, Iterator)) and y is not None:
        if not np.ndim(as_array("y", y)):
            raise ValueError(f"y must contain the response of every observation, got {excerpt(y)}")
        # An iterator can be read only once.
        pairs = list(design)
        if not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
            raise ValueError(
                f"design={reprlib.repr(pairs)} must contain pairs of row numbers, (learning, "
                "testing)"
            )
        return _DrawnDesign(Design.from_indices(pairs, len(y)))
    raise ValueError(
        f"{arg('design')} must be a number of folds, a design such as "
        f"{call('designs.RandomSplits', '100')}, or "
        f"{term('a scikit-learn splitter, or a list of splits, (learning, testing)')}, got "
        f"{excerpt(design)}"
    )


def design_or_cv(
    design: Any,
    cv: Any,
    response: np.ndarray,
    *,
    has_classes: bool,
    n_dropped: int = 0,
    groups: Groups | None = None,
) -> Any:
    """The design that a user names, also by what scikit-learn calls cv; None for neither.

    A number of folds is what scikit-learn makes of it, but for groups, which that would divide.

    Raises
    ------
    ValueError
        If both are given, `cv` is none of scikit-learn's, or splits name rows by their numbers
        where rows have been left out.
    """
    design_or_scheme = _design_of(design, cv, response, groups, has_classes=has_classes)
    refuse_row_numbers(design_or_scheme, n_dropped)
    return design_or_scheme


def refuse_row_numbers(design: Any, n_dropped: int) -> None:
    """Refuse splits that name rows by their numbers where rows have been left out."""
    if n_dropped and isinstance(design, (_DrawnDesign, Design, list, tuple, Iterator)):
        raise ValueError(
            f"{arg('missing', 'drop')} leaves out {n_dropped} of the rows whose numbers the splits "
            "contain: leave these rows out yourself, and make splits of the remaining rows"
        )


def _design_of(
    design: Any, cv: Any, response: np.ndarray, groups: Groups | None, *, has_classes: bool
) -> Any:
    if cv is None:
        return design
    if design is not None:
        raise ValueError("design and cv exclude each other: pass one of them")
    if isinstance(cv, (NamedDesign, Design)):
        raise ValueError("cv is scikit-learn's: pass one of uv.designs as design")
    if isinstance(cv, str):
        raise ValueError(f"cv={cv!r:.60} is unknown: use a number of folds, a splitter or splits")
    if not is_integer(cv):
        return cv
    if cv < 2:
        raise ValueError(f"cv={cv!r:.60} is not a number of folds: use 2 or more")
    if groups is not None:
        return KFold(int(cv), stratify=has_classes or None)
    from sklearn.model_selection import check_cv

    return check_cv(int(cv), response, classifier=has_classes)
