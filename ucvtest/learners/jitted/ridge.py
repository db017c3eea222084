"""Ridge regression of the features as they are, or of their polynomials."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.polynomial.legendre import legvander

from ucvtest.common.checks import AtLeast
from ucvtest.common.float64 import jax, jnp, to_numpy
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import Scale
from ucvtest.learners.batching import median_centred, padded_rows, padded_size
from ucvtest.learners.jitted.penalties import (
    Penalty,
    PenaltyScale,
    check_without_penalty,
)
from ucvtest.learners.jitted.ridge_dual import DualRegression
from ucvtest.learners.runner import Data, State
from ucvtest.learners.solvers.linear_algebra import (
    divisor,
    products,
    solved,
    symmetric,
    taken,
)

WELL_CONDITIONED = 1e5
"""Condition number up to which labelings of one learning set are fitted by the inverse."""


def ridge(lam: float, penalize_intercept: bool = False, scale: PenaltyScale = "sum") -> "Ridge":
    """Ridge regression of a label 0 or 1, or of a real response.

    Parameters
    ----------
    lam : float
        Penalty, not negative.
    penalize_intercept : bool
        Whether the intercept is penalised as the slopes are.
    scale : {"sum", "mean"}
        Minimise the sum of squared residuals + ``lam |b|^2``, or their mean + ``lam |b|^2``.

    Returns
    -------
    Ridge
        Labels are 1 where the fitted value exceeds 1/2.

    Raises
    ------
    ValueError
        If `lam` is negative or not finite, or `scale` is unknown.

    Notes
    -----
    ``ridge(lam)`` is scikit-learn's ``Ridge(alpha=lam)``. The features are used as they are.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.ridge(1.0).name, uv.learners.ridge(0.1, scale="mean").name
    ('ridge:1.0', 'ridge:0.1,scale=mean')
    """
    return Ridge(lam, penalize_intercept, scale)


@dataclass(frozen=True)
class Ridge(DualRegression):
    """Ridge regression; made by `ridge`, or on features standardised in each learning set."""

    lam: Penalty
    penalize_intercept: bool = False
    penalty_scale: PenaltyScale = "sum"
    standardize: bool = False
    least_pivot: float = field(default=0.0, repr=False)
    """Share of the largest diagonal element of X'X that every pivot must exceed."""

    family: ClassVar[str] = "ridge"
    numbers: ClassVar[tuple[str, ...]] = (*DualRegression.numbers, "least_pivot")
    no_solution: ClassVar[str] = (
        "lam is so small that the equations are singular within rounding error: raise lam, or "
        "bring the features to similar units"
    )

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also least squares with as many features as observations."""
        super().check(sample, output, learn_size)
        check_without_penalty(self, self.lam, sample, learn_size)

    def matrix_numbers(self, sample: Sample) -> int:
        """Those of the smaller of two systems."""
        return int(min(sample.matrix.shape[1] + 1, padded_size(sample.n_obs)) ** 2)

    def share(self, sample: Sample) -> Data:
        """The features, with a constant column or centred, and their inner products."""
        x = median_centred(sample.matrix)
        if self.penalize_intercept:
            x = np.hstack([np.ones((sample.n_obs, 1)), sample.matrix])
        return Data(x, sample.target, padded_rows(x @ x.T, axis=1))

    @property
    def centred(self) -> bool:
        """See `DualRegression`."""
        return not self.penalize_intercept

    def inner_products(self, state: State, learnt: np.ndarray) -> np.ndarray:
        """See `DualRegression`."""
        inner: np.ndarray = to_numpy(state.data.more)[: len(learnt), : len(learnt)]
        return inner

    def count_members(self, state: State, learning: np.ndarray) -> int:
        """0 where there are fewer features, and the system has an equation for each."""
        most = int(learning.sum(axis=1).max())
        # Inner products of features that are standardised in each set are not shared.
        return 0 if self.standardize or state.data.x.shape[1] <= most else most

    def fit(self, data: Data, w: jax.Array) -> jax.Array:
        """Fitted values, by (X'X + penalty I) b = X'y or the dual form."""
        if self.most_members:
            return self.dual(data.more, data.y, w)
        x, y, size, p = data.x, w * data.y, w.sum(), data.x.shape[1]
        sums = w @ jnp.concatenate([products(x), x], axis=1)
        squares, mean_x, mean_y = sums[:-p], jnp.zeros(p), jnp.zeros(())
        if self.centred:
            mean_x, mean_y = sums[-p:] / size, y.sum() / size
        i, j = np.triu_indices(p)
        gram = symmetric(squares - size * taken(mean_x, i) * taken(mean_x, j), p)
        penalty = self.total_penalty(size)
        if self.standardize:
            # A penalty on slopes of standardised features is one on b times the deviation.
            penalty = penalty * divisor(taken(squares, np.flatnonzero(i == j)) / size, mean_x)
        gram = gram + jnp.eye(p) * penalty
        right = y @ x - size * mean_x * mean_y
        least_pivot = self.least_pivot * jnp.diagonal(gram).max()
        slope = solved(gram, right[:, None], self.singular, least_pivot)[:, 0]
        return slope @ x.T + (mean_y - mean_x @ slope)

    def factors(self, state: State, learnt: np.ndarray) -> tuple[np.ndarray, ...] | None:
        """See `DualRegression`; thin ones where there is an equation for each feature."""
        if self.count_members(state, learnt[None]):
            return super().factors(state, learnt)
        if self.standardize:
            return None
        x, size = to_numpy(state.data.x)[: len(learnt)], np.count_nonzero(learnt)
        x = x - x[learnt].mean(axis=0) if self.centred else x
        gram = x[learnt].T @ x[learnt] + self.total_penalty(size) * np.eye(x.shape[1])
        if np.linalg.cond(gram) > WELL_CONDITIONED:
            return None
        right = x @ np.linalg.inv(gram)
        if self.centred:
            ones = np.ones((len(x), 1))
            x, right = np.hstack([x, ones]), np.hstack([right, ones / size])
        return right * learnt[:, None], np.ascontiguousarray(x.T)

    def path_scores(
        self, state: State, learning: np.ndarray, members: Sequence["Ridge"]
    ) -> np.ndarray:
        """Fitted values (L, R, n) of learners that differ in `lam` alone.

        Where there is an equation for each observation, from one decomposition of each learning
        set; NaN where the smallest eigenvalue is rounding error, as a pivot would be.
        """
        if not self.count_members(state, learning):
            return np.stack([member.scores(state, learning) for member in members])
        y, fitted = to_numpy(state.data.y), np.empty((len(members), *learning.shape))
        for row, learnt in enumerate(learning):
            own = np.flatnonzero(learnt)
            inner, mean_weight = self.inner_of_members(state, learnt)
            values, vectors = np.linalg.eigh((inner[own] + inner[own].T) / 2)
            shrunk = (
                values + np.array([member.total_penalty(len(own)) for member in members])[:, None]
            )
            weights = (vectors.T @ y[own]) / shrunk
            fitted[:, row] = weights @ (inner @ vectors).T + mean_weight * y[own].sum()
            regular = shrunk.min(axis=1) > self.singular * shrunk.max(axis=1)
            fitted[~regular, row] = np.nan
        return fitted


def polynomial(
    degree: int, lam: float = 0.0, penalize_intercept: bool = False, scale: PenaltyScale = "sum"
) -> "Polynomial":
    """Ridge regression on the Legendre polynomials of every feature.

    Parameters
    ----------
    degree : int
        Highest degree; there are no products of different features.
    lam : float
        Penalty, not negative; by default least squares.
    penalize_intercept, scale
        See `ridge`.

    Returns
    -------
    Polynomial

    Raises
    ------
    ValueError
        If `degree` is not a positive integer, or another argument is out of range.

    Notes
    -----
    The features are used as they are: bring them to [-1, 1], where Legendre polynomials are
    bounded, or the equations may be singular within rounding error.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.polynomial(3, 0.1).name
    'polynomial:3,0.1'
    """
    return Polynomial(lam, penalize_intercept, scale, degree=degree)


@dataclass(frozen=True)
class Polynomial(Ridge):
    """Polynomial regression; made by `polynomial`."""

    lam: Penalty = 0.0
    degree: Annotated[int, AtLeast(1)] = field(kw_only=True)

    family: ClassVar[str] = "polynomial"
    arguments: ClassVar[tuple[str, ...]] = ("degree", "lam")

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also more polynomials than observations without a penalty."""
        super().check(self.expanded(sample), output, learn_size)

    def matrix_numbers(self, sample: Sample) -> int:
        """As for ridge regression on the polynomials."""
        return super().matrix_numbers(self.expanded(sample))

    def share(self, sample: Sample) -> Data:
        """What ridge regression on the polynomials needs."""
        return super().share(self.expanded(sample))

    def expanded(self, sample: Sample) -> Sample:
        """The sample with the polynomials as its features."""
        return replace(sample, features=self.expand(sample.matrix))

    def expand(self, matrix: np.ndarray) -> np.ndarray:
        """Polynomials of degree 1 to `degree` of every column, (n, p * degree)."""
        return np.hstack([legvander(column, self.degree)[:, 1:] for column in matrix.T])


@dataclass(frozen=True)
class OneAgainstRest(Ridge):
    """Ridge regression of the indicator of each class, as RidgeClassifier; the largest fit wins."""

    scale: ClassVar[Scale] = "discriminant"
    multiclass: ClassVar[bool] = True
    indicators: ClassVar[bool] = True

    def fit(self, data: Data, w: jax.Array) -> jax.Array:
        """Fitted values of the indicators, (n, C)."""

        def of_class(y: jax.Array) -> jax.Array:
            return Ridge.fit(self, data._replace(y=y), w)

        return jax.vmap(of_class, in_axes=1, out_axes=1)(data.y)
