"""Ridge regression in the dual form: one equation for each observation that is learnt from."""

from abc import abstractmethod
from functools import reduce
from typing import ClassVar

import numpy as np

from ucvtest.common.float64 import jax, jnp, to_numpy
from ucvtest.data.sample import Sample
from ucvtest.learners.base import Scale
from ucvtest.learners.batching import clear_labels
from ucvtest.learners.jitted.penalties import PenalizedLearner
from ucvtest.learners.runner import State
from ucvtest.learners.solvers.linear_algebra import solved

OPEN = 1e-10
"""Distance from the cut within which rounding errors of two forms may be on different sides."""

MOST_MAPPED = 128
"""Equations up to which systems are solved many at a time: for larger ones LAPACK, one by one, is
two to six times faster."""


class DualRegression(PenalizedLearner):
    """Ridge regression of labels 0 and 1 or numbers, from inner products of the observations."""

    scale: ClassVar[Scale] = "fitted"
    regression: ClassVar[bool] = True
    pair_bytes: ClassVar[int] = 24
    batch_rows: ClassVar[int] = 512
    block: ClassVar[int] = 64

    @property
    @abstractmethod
    def centred(self) -> bool:
        """Whether there is an intercept without a penalty."""

    @abstractmethod
    def inner_products(self, state: State, learnt: np.ndarray) -> np.ndarray:
        """Those (n, n) of all observations, for one learning set (n,)."""

    def dual(self, inner: jax.Array, y: jax.Array, w: jax.Array) -> jax.Array:
        """Solve (K + penalty I) a = y for the fitted values (n,), K the inner products (n, n).

        Centring by the learning set is an intercept without a penalty.
        """
        most, size = self.most_members, w.sum()
        members = jnp.nonzero(w, size=most, fill_value=0)[0]
        real = (jnp.arange(most) < size).astype(float)
        own, learnt = inner[members[:, None], members], y[members] * real
        mean, mean_y = jnp.zeros(most), jnp.zeros(())
        if self.centred:
            # Inner products of x with the learning set need only this half, because the solution
            # sums to zero.
            mean, mean_y = own @ real / size, learnt.sum() / size
            own = own - mean - mean[:, None] + mean @ real / size
        # Places beyond the size of a smaller learning set get an equation 0 = penalty a.
        gram = own * real * real[:, None] + self.total_penalty(size) * jnp.eye(most)
        right = ((learnt - mean_y) * real)[:, None]
        weight = solved(gram, right, self.singular)[:, 0]
        spread = jnp.zeros(len(w)).at[members].add(weight)
        return inner @ spread + (mean_y - weight @ mean)

    def labelings_per_call(self, sample: Sample) -> int:
        """As many as the scores allow: a learning set has one system for all of them."""
        return self.most_labelings(sample)

    def scores(
        self, state: State, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Fitted values."""
        own = to_numpy(state.data.y)[: learning.shape[1]]
        responses = np.broadcast_to(own, (len(learning), *own.shape)) if labels is None else labels
        if labels is not None and own.ndim == 2:
            responses = (labels[:, :, None] == np.arange(own.shape[1])).astype(float)
        if len(learning) == 1 < len(responses):
            factors = self._factors(state, learning[0])
            if factors is not None:
                # Labels times the first, times the others, are fitted values.
                return np.moveaxis(reduce(np.matmul, factors, np.moveaxis(responses, 1, -1)), -1, 1)
        if self.count_members(state, learning) <= MOST_MAPPED:
            return super().scores(state, learning, labels)
        fits = zip(learning, responses, strict=True)
        return np.stack([self._one_set(state, *fit) for fit in fits])

    def codes(
        self, state: State, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray | None:
        """See `JittedLearner.codes`."""
        if labels is not None and len(learning) == 1:
            factors = self._factors(state, learning[0])
            if factors is not None:
                if self.careful or state.n_classes > 2:
                    return None
                return clear_labels(reduce(np.matmul, factors, labels), self.cut, OPEN)
        if self.count_members(state, learning) > MOST_MAPPED:
            return None
        return super().codes(state, learning, labels)

    def _factors(self, state: State, learnt: np.ndarray) -> tuple[np.ndarray, ...] | None:
        """What `factors` gives, which is kept as long as it is asked for."""
        key = learnt.tobytes()
        if key not in state.kept:
            state.kept.clear()
            state.kept[key] = self.factors(state, learnt)
        kept: tuple[np.ndarray, ...] | None = state.kept[key]
        return kept

    def factors(self, state: State, learnt: np.ndarray) -> tuple[np.ndarray, ...] | None:
        """Matrices whose product with labels (R, n), from left to right, are fitted values (R, n).

        For one learning set (n,); None if there are none that are quick.
        """
        return (self._one_set(state, learnt, np.eye(len(learnt))).T,)

    def _one_set(self, state: State, learnt: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Fitted values (n,) or (n, P) of responses (n,) or (n, P) and one learning set, by LAPACK.

        NaN where `dual` finds no solution.
        """
        members = np.flatnonzero(learnt)
        inner, mean_weight = self.inner_of_members(state, learnt)
        gram = inner[members] + self.total_penalty(len(members)) * np.eye(len(members))
        nothing = np.full(y.shape, np.nan)
        try:
            root = np.linalg.cholesky(gram)
        except np.linalg.LinAlgError:
            return nothing
        # The pivots of elimination are the squares of the root's diagonal.
        if not (root.diagonal() ** 2 > self.singular * gram.diagonal()).all():
            return nothing
        from scipy.linalg import cho_solve

        fitted: np.ndarray = inner @ cho_solve((root, True), y[members])
        return fitted + mean_weight * y[members].sum(axis=0)

    def inner_of_members(self, state: State, learnt: np.ndarray) -> tuple[np.ndarray, float]:
        """Inner products with those learnt from, (n, g), and 1/g; 0 where nothing is centred."""
        members = np.flatnonzero(learnt)
        mean_weight = 1.0 / len(members) if self.centred else 0.0
        inner = self.inner_products(state, learnt)[:, members]
        inner = inner - mean_weight * inner[members].sum(axis=0)
        return inner - mean_weight * inner.sum(axis=1, keepdims=True), mean_weight
