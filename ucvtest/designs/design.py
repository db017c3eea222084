"""Which observations are learnt from and which are tested, as 0/1 matrices."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from ucvtest.common.arrays import as_array
from ucvtest.common.checks import AtLeast, declared, named_options
from ucvtest.common.memo import memoised
from ucvtest.common.words import excerpt, place
from ucvtest.data.groups import Groups, check_known_groups


@dataclass(frozen=True, eq=False)
class Design:
    """A resampling design.

    Parameters
    ----------
    learning : ndarray of bool, shape (R, n)
        Row r marks the observations of learning set r.
    testing : ndarray of bool, shape (R, n)
        Row r marks the observations that the rule learnt on set r is tested on.
    """

    learning: np.ndarray
    testing: np.ndarray
    n_obs: int = field(init=False)
    """Observations of the sample."""
    n_resamples: int = field(init=False)
    """Learning sets, each with its test set."""
    learns: bool = field(init=False)
    """Whether anything is learnt; False for rules that were there before."""

    def __post_init__(self) -> None:
        for name in ("learning", "testing"):
            matrix = getattr(self, name)
            is_numeric = isinstance(matrix, np.ndarray) and matrix.dtype.kind in "biuf"
            if not is_numeric or matrix.ndim != 2:
                raise ValueError(
                    f"{name} must be an array of bool of shape (R, n), got {excerpt(matrix)}: "
                    "Design.checked makes one of other matrices"
                )
        n_resamples, n_obs = self.learning.shape
        object.__setattr__(self, "n_obs", n_obs)
        object.__setattr__(self, "n_resamples", n_resamples)
        object.__setattr__(self, "learns", bool(self.learning.any()))

    @property
    def learn_sizes(self) -> tuple[int, ...]:
        """The sizes of the learning sets, without repetition, ascending."""
        return tuple(np.unique(self.learning.sum(axis=1)).tolist())

    @property
    def test_sizes(self) -> tuple[int, ...]:
        """The sizes of the test sets, without repetition, ascending."""
        return tuple(np.unique(self.testing.sum(axis=1)).tolist())

    @property
    def n_tested(self) -> np.ndarray:
        """How many observations each rule is tested on, (R,)."""
        return _n_tested(self) if self.testing.flags.writeable else memoised(self, _n_tested)

    @property
    def words(self) -> str:
        """How it was made, as summaries name it."""
        if not self.learns:
            return "fixed rules, one test set"
        return f"a design of {self.n_resamples} learning sets"

    def __reduce__(self) -> tuple[Any, ...]:
        # Without its memo.
        return Design, (self.learning, self.testing)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Design):
            return NotImplemented
        same_learning = np.array_equal(self.learning, other.learning)
        return same_learning and np.array_equal(self.testing, other.testing)

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    def rows(self, index: np.ndarray | slice) -> "Design":
        """Some of the learning sets, with their test sets."""
        return Design(self.learning[index], self.testing[index])

    @classmethod
    @named_options
    def of_fixed_rules(cls, n_obs: Annotated[int, AtLeast(1, 1e9)]) -> "Design":
        """One test set of all observations for rules that are fixed: nothing is learnt from them.

        Raises
        ------
        ValueError
            If `n_obs` is not a positive integer.
        """
        return cls(np.zeros((1, n_obs), dtype=bool), np.ones((1, n_obs), dtype=bool))

    @classmethod
    def from_indices(cls, splits: Iterable[tuple[np.ndarray, np.ndarray]], n_obs: int) -> "Design":
        """The design of pairs of row numbers, (learning, testing), as scikit-learn has them.

        Raises
        ------
        ValueError
            If there are no splits, or one of several learns from nothing, or one tests nothing,
            tests what it learns, or names rows that do not exist.
        """
        n_obs = declared("n_obs", n_obs, Annotated[int, AtLeast(1, 1e9)])
        listed = isinstance(splits, Iterable) and getattr(splits, "ndim", 1) > 0
        pairs: list[Any] = list(splits) if listed else [splits]
        if not all(
            isinstance(pair, (Sequence, np.ndarray)) and getattr(pair, "ndim", 1) and len(pair) == 2
            for pair in pairs
        ):
            raise ValueError(
                "splits must be pairs (learning, testing) of row numbers, as scikit-learn's "
                f"split() yields them, got {excerpt(splits)}"
            )
        rows = [
            (_marked(learnt, n_obs, split), _marked(tested, n_obs, split))
            for split, (learnt, tested) in enumerate(pairs)
        ]
        if not rows:
            raise ValueError("the design has no splits: pass at least one")
        learning, testing = (np.array(row_numbers) for row_numbers in zip(*rows, strict=True))
        return cls.checked(learning, testing)

    @classmethod
    def checked(cls, learning: Any, testing: Any = None) -> "Design":
        """A design from matrices that somebody else made, (R, n); by default the rest is tested.

        A single row may learn from nothing: then it tests rules that are fixed.

        Raises
        ------
        ValueError
            If they are not 0/1 matrices of one shape, or one of several rows learns from nothing,
            or a row tests nothing, or tests what it learns from.
        """
        learning = _zero_one_matrix("learning", learning)
        testing = ~learning if testing is None else _zero_one_matrix("testing", testing)
        if learning.shape != testing.shape or not len(learning):
            raise ValueError(
                "learning and testing must have the same shape (R, n) with R >= 1, got "
                f"{learning.shape} and {testing.shape}"
            )
        for problem, faulty_splits in (
            ("learns from nothing", ~learning.any(axis=1) & (len(learning) > 1)),
            ("tests nothing", ~testing.any(axis=1)),
            ("tests observations that it learns from", (learning & testing).any(axis=1)),
        ):
            if faulty_splits.any():
                raise ValueError(f"split {place(faulty_splits.argmax())} of the design {problem}")
        return cls(learning, testing)

    def of_groups(self, groups: Groups) -> "Design":
        """The design of observations, where this one is about their groups."""
        check_known_groups(groups, self.n_obs, units="groups")
        return Design(self.learning[:, groups.index], self.testing[:, groups.index])

    def by_groups(self, groups: Groups) -> "Design":
        """The design of groups, where this one is about observations and divides no group."""
        check_known_groups(groups, self.n_obs)
        return Design(self.learning[:, groups.first], self.testing[:, groups.first])

    def check_groups(self, groups: Groups) -> None:
        """Refuse learning or test sets with some observations of a group without the others.

        Raises
        ------
        ValueError
        """
        check_known_groups(groups, self.n_obs)
        for sets, verb in ((self.learning, "learns from"), (self.testing, "tests")):
            divided = sets != sets[:, groups.first[groups.index]]
            if divided.any():
                split, row = np.argwhere(divided)[0]
                label = groups.labels.tolist()[groups.index[row]]
                raise ValueError(
                    f"split {place(split)} of the design {verb} a part of group {excerpt(label)}: "
                    "learning and test sets must contain whole groups"
                )

    @classmethod
    def leave_rest_out(cls, learning: np.ndarray) -> "Design":
        """Test every rule on all observations that it has not seen."""
        learning = _zero_one_matrix("learning", learning)
        return cls(learning, ~learning)


def learn_size(sizes: tuple[int, ...]) -> int | str:
    """Sizes of learning sets, as results have them: a number where there is one, else a range."""
    if len(sizes) == 1:
        return sizes[0]
    return f"{sizes[0]} {'or' if len(sizes) == 2 else 'to'} {sizes[-1]}"


def folds_in_words(n_folds: int, n_repeats: int) -> str:
    """What (repeated) K-fold cross-validation is called."""
    cv_name = f"{n_folds}-fold cross-validation"
    return cv_name if n_repeats == 1 else f"{cv_name}, {n_repeats} times"


def _n_tested(design: Design) -> np.ndarray:
    return np.asarray(design.testing.sum(axis=1))


def _marked(index: Any, n_obs: int, split: int) -> np.ndarray:
    """The observations of row numbers, or of a mask, as a row of bool."""
    numbers = as_array(f"split {place(split)} of the design", index)
    row = np.zeros(n_obs, dtype=bool)
    if numbers.dtype == bool and numbers.shape == row.shape:
        return numbers
    # Negative numbers would count from the end, and so hide a mistake.
    are_row_numbers = numbers.ndim == 1 and numbers.dtype.kind in "iu"
    if numbers.size and not (are_row_numbers and numbers.min() >= 0 and numbers.max() < n_obs):
        raise ValueError(
            f"split {place(split)} of the design must contain row numbers from {place(0)} to "
            f"{place(n_obs - 1)} (n_obs = {n_obs})"
        )
    row[numbers.astype(int)] = True
    return row


def _zero_one_matrix(name: str, matrix: Any) -> np.ndarray:
    array = as_array(name, matrix)
    # Truth values need no look, which would take several times their memory.
    is_boolean = array.dtype == bool
    if array.ndim != 2 or not (is_boolean or np.isin(array, (0, 1)).all()):
        raise ValueError(f"{name} must be a 0/1 matrix of shape (R, n), got shape {array.shape}")
    return array.astype(bool)
