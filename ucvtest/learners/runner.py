"""Run one fit on thousands of learning sets: batches, blocks, padding, float64, labels.

A learner says what all fits share and how one learning set is fitted; `jax.vmap` does the rest.
Learners whose fits share more than that, such as neighbours, call a program for many sets.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from ucvtest.common.float64 import in_float64, jax, jit, jnp, to_device
from ucvtest.common.padding import next_multiple
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import MARGIN, JittedLearner, Predictions, class_members
from ucvtest.learners.batching import (
    CACHE_NUMBERS,
    LEAST_ROWS,
    padded_rows,
    rows_for_cache,
)
from ucvtest.learners.solvers.linear_algebra import CAREFUL, SINGULAR

MEMBERS_STEP = 16
"""Sizes of learning sets are multiples of this where programs depend on them."""


class Data(NamedTuple):
    """What all fits share; observations come first, and the runner pads them with zeros."""

    x: Any
    """(n, p)"""
    y: Any
    """(n,) numbers, or (n, C) indicators of classes."""
    more: Any = ()
    """Arrays (n, ...) that a learner wants besides."""
    shared: Any = ()
    """Arrays without observations."""


class State(NamedTuple):
    """The same on the device of a thread, padded."""

    data: Data
    n_classes: int
    """0 for numbers."""
    kept: dict[Any, Any]
    """What a learner keeps, or finds, for later calls; programs do not get it."""


@dataclass(frozen=True)
class PaddedLearner(JittedLearner):
    """A jitted learner whose programs see few sizes of samples, in double precision.

    The fields named in `numbers` are arguments of the compiled programs; all others choose one.
    """

    numbers: ClassVar[tuple[str, ...]] = ()
    """Fields, or cached properties, whose other values need no other compilation."""
    unseen: ClassVar[tuple[str, ...]] = ()
    """Fields that programs do not read, because `numbers` are made from them."""
    indicators: ClassVar[bool] = False
    """Whether programs get indicators of classes, and not the response."""

    careful: bool = field(default=False, kw_only=True, repr=False)

    @property
    def singular(self) -> float:
        """Share of a diagonal element below which a pivot leaves too few digits."""
        return CAREFUL if self.careful else SINGULAR

    @abstractmethod
    def share(self, sample: Sample) -> Data:
        """What all fits share, as NumPy arrays; the runner makes indicators of the response."""

    def count_members(self, state: State, learning: np.ndarray) -> int:
        """Members of the largest learning set, where the program needs to know; else 0."""
        return 0

    def prepare(self, sample: Sample) -> State:
        """See `JittedLearner`."""
        data = self.share(sample)
        y = data.y
        if self.indicators and sample.n_classes:
            y = class_members(sample)
        rows = jax.tree_util.tree_map(padded_rows, (data.x, y, data.more))
        return State(Data(*to_device((*rows, data.shared))), sample.n_classes, {})

    @in_float64
    def _run(
        self,
        program: Any,
        state: State,
        learning: np.ndarray,
        labels: np.ndarray | None,
        *more: Any,
        **attributes: Any,
    ) -> Any:
        """Call a program for this learner, or one with other attributes, and padded arrays."""
        numbers = {name: getattr(self, name) for name in self.numbers}
        # Few sizes are compiled.
        most = next_multiple(self.count_members(state, learning), MEMBERS_STEP)
        attributes = dict.fromkeys((*numbers, *self.unseen)) | attributes
        key = Key(with_attributes(self, **attributes), most)
        rows = padded_rows(learning, axis=1)
        other = labels
        if labels is not None:
            # Small numbers are copied, and compared, in less time.
            small = labels.astype(np.int16) if self.indicators else labels
            other = padded_rows(small, axis=1)
        return program(key, numbers, state.data, rows, other, *more)


@dataclass(frozen=True)
class MappedLearner(PaddedLearner):
    """A jitted learner that knows the fit of one learning set.

    `fit` is written with `jax.numpy` for weights (n,) of ones and zeros.
    """

    block: ClassVar[int] = 128
    """Learning sets fitted side by side: they fill the vector units and stay in the cache."""
    relabeled: ClassVar[bool] = False
    """Whether each fit has labels of its own; set by the runner on the learner that fits."""
    one_set: ClassVar[bool] = False
    """Whether all fits have the same learning set; set by the runner as well."""
    most_members: ClassVar[int] = 0
    """Members of the largest learning set, or a few more, for programs with an equation for each;
    set by the runner from `count_members`."""

    @abstractmethod
    def fit(self, data: Data, w: jax.Array, *parts: Any) -> Any:
        """Scores (n,), or (n, C) for C > 2 classes, of the learning set with weights w (n,).

        NaN without a solution. `parts` belong to this learning set alone; see `mapped`.
        """

    def matrix_numbers(self, sample: Sample) -> int:
        """Numbers in the matrices of one fit, which decide how many are fitted in a call."""
        return 1

    def fit_again(
        self, state: State, learning: np.ndarray, labels: np.ndarray | None
    ) -> np.ndarray | None:
        """Scores of learning sets for which `fit` has no solution, by another rule, if any."""
        return None

    def rows_per_call(self, sample: Sample) -> int:
        """Fewer for larger matrices, so that those of one call stay in the cache."""
        fitting = rows_for_cache(self.matrix_numbers(sample), CACHE_NUMBERS, LEAST_ROWS)
        return min(super().rows_per_call(sample), fitting)

    def most_labelings(self, sample: Sample) -> int:
        """Labelings in a call where one learning set has its matrices once for all of them."""
        return super().rows_per_call(sample)

    def scores(
        self, state: State, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """See `JittedLearner`."""
        scores: np.ndarray = self.mapped(state, learning, labels)
        return scores[:, : learning.shape[1]]

    def mapped(
        self, state: State, learning: np.ndarray, labels: np.ndarray | None, *arrays: Any
    ) -> Any:
        """What `fit` gives for every learning set, and for its parts of further arrays (R, ...)."""
        return self._run(_scores, state, learning, labels, arrays)

    def codes(
        self, state: State, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray | None:
        """Predicted labels 0 and 1; see `JittedLearner.codes`."""
        if state.n_classes > 2:
            return None
        n_obs = learning.shape[1]
        predicted, is_open = self._run(_codes, state, learning, labels, n_obs)
        return None if is_open.any() else predicted[:, :n_obs]

    def predict(
        self,
        state: State,
        learning: np.ndarray,
        output: Output,
        testing: np.ndarray | None = None,
        labels: np.ndarray | None = None,
    ) -> Predictions:
        """See `JittedLearner`; learning sets without a solution are fitted again."""
        predictions = super().predict(state, learning, output, testing, labels)
        values = predictions.values
        if values.dtype == np.int8 or not np.isnan(values.sum()):
            return predictions
        missing = np.isnan(values.reshape(len(values), -1)).any(axis=1)
        if testing is not None:
            # What fills up a call tests nothing.
            missing &= testing.any(axis=1)
        rows = np.flatnonzero(missing)
        sets = learning[rows] if len(learning) > 1 else np.repeat(learning, len(rows), axis=0)
        other = None if labels is None else labels[rows]
        scores = self.fit_again(state, sets, other) if len(rows) else None
        if scores is None:
            return predictions
        if output == "label":
            ours = self.elect(scores, None if testing is None else testing[rows])
        else:
            ours = Predictions(self._number(scores, output), Counter())
        values = values.copy()
        values[rows] = ours.values
        ties = Counter(predictions.ties)
        ties.update(ours.ties)
        ties["singular_fits"] += len(rows)
        return Predictions(values, ties)


Padded = TypeVar("Padded", bound=PaddedLearner)


def with_attributes(learner: Padded, **attributes: Any) -> Padded:
    """A copy with other attributes, which nobody checks."""
    other = copy(learner)
    for name, value in attributes.items():
        object.__setattr__(other, name, value)
    return other


class Key(NamedTuple):
    """What chooses a compiled program."""

    learner: Any
    """Without its numbers."""
    most_members: int


@partial(jit, static_argnums=0)
def _scores(
    key: Key,
    numbers: dict[str, Any],
    data: Data,
    learning: jax.Array,
    labels: jax.Array | None,
    arrays: tuple[Any, ...],
) -> Any:
    """Scores (R, N), or (R, N, C); or whatever else `fit` gives."""
    return _mapped(lambda scores: scores, key, numbers, data, learning, labels, arrays)


@partial(jit, static_argnums=0)
def _codes(
    key: Key,
    numbers: dict[str, Any],
    data: Data,
    learning: jax.Array,
    labels: jax.Array | None,
    n_obs: jax.Array,
) -> tuple[jax.Array, jax.Array]:
    """Labels 0 and 1 (R, N), and whether a score is missing, or within a margin of the cut."""
    cut = key.learner.cut

    def label(scores: jax.Array) -> tuple[jax.Array, jax.Array]:
        above = scores > cut
        clear = above | (scores < cut)
        if key.learner.careful:
            distance = MARGIN[0] + MARGIN[1] * (jnp.abs(scores).max() + abs(cut))
            clear = jnp.abs(scores - cut) > distance
        # NaN is not clear; what fills up the sample may be anything.
        is_open = (~clear & (jnp.arange(len(scores)) < n_obs)).any()
        return above.astype(jnp.int8), is_open

    predicted, is_open = _mapped(label, key, numbers, data, learning, labels)
    return predicted, is_open.any()


def _mapped(
    use: Callable[[Any], Any],
    key: Key,
    numbers: dict[str, Any],
    data: Data,
    learning: jax.Array,
    labels: jax.Array | None,
    arrays: tuple[Any, ...] = (),
) -> Any:
    """`use` of what `fit` gives for every learning set, a block of sets at a time."""
    one_set = labels is not None and len(learning) == 1 < len(labels)
    own = {"relabeled": labels is not None, "one_set": one_set, "most_members": key.most_members}
    learner = with_attributes(key.learner, **numbers, **own)

    def fit(rows: jax.Array, y: jax.Array | None, parts: tuple[Any, ...]) -> Any:
        if y is None:
            return use(learner.fit(data, rows.astype(float), *parts))
        if data.y.ndim == 2:
            y = (y[:, None] == jnp.arange(data.y.shape[1])).astype(float)
        return use(learner.fit(data._replace(y=y), rows.astype(float), *parts))

    if one_set:
        # What does not depend on labels is computed once.
        return jax.vmap(fit, in_axes=(None, 0, 0))(learning[0], labels, arrays)
    block = min(learner.block, len(learning))
    return jax.lax.map(lambda own: fit(*own), (learning, labels, arrays), batch_size=block)
