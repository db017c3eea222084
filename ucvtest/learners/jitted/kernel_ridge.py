"""Kernel ridge regression, in the dual form."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from ucvtest.common.checks import HIGHEST, AtLeast, Between
from ucvtest.common.float64 import in_float64, jax, jnp, to_numpy
from ucvtest.data.sample import Sample
from ucvtest.learners.batching import median_centred, padded_rows, padded_size, squared_distances
from ucvtest.learners.jitted.penalties import PenaltyScale
from ucvtest.learners.jitted.ridge_dual import DualRegression
from ucvtest.learners.runner import Data, State
from ucvtest.learners.solvers.linear_algebra import divisor

Kernel = Literal["linear", "rbf", "polynomial"]
Positive = Annotated[float, Between(0, HIGHEST)]


def kernel_ridge(
    lam: float,
    kernel: Kernel = "linear",
    gamma: float | None = None,
    degree: float = 3,
    coef0: float = 1,
    scale: PenaltyScale = "sum",
) -> "KernelRidge":
    """Kernel ridge regression of a label 0 or 1, or of a real response.

    Parameters
    ----------
    lam : float
        Penalty, positive.
    kernel : {"linear", "rbf", "polynomial"}
        ``x'z``, ``exp(-gamma |x - z|^2)``, or ``(gamma x'z + coef0)^degree``.
    gamma : float, optional
        By default one over the number of features.
    degree, coef0 : float
        Of the polynomial kernel.
    scale : {"sum", "mean"}
        Minimise the sum of squared residuals + ``lam |f|^2``, or their mean + ``lam |f|^2``.

    Returns
    -------
    KernelRidge
        Labels are 1 where the fitted value exceeds 1/2.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    scikit-learn's ``KernelRidge(alpha=lam, ...)``: there is no intercept. The cost of a fit
    grows with the third power of the size of the learning set.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.kernel_ridge(1.0, kernel="rbf", gamma=0.5).name
    'kernel_ridge:1.0,kernel=rbf,gamma=0.5'
    """
    return KernelRidge(lam, kernel, gamma, degree, coef0, scale)


@dataclass(frozen=True)
class KernelRidge(DualRegression):
    """Kernel ridge regression; made by `kernel_ridge`, or on features standardised in each set."""

    lam: Positive
    kernel: Kernel = "linear"
    gamma: Positive | None = None
    degree: Positive = 3
    coef0: Annotated[float, AtLeast(-HIGHEST)] = 1
    penalty_scale: PenaltyScale = "sum"
    standardize: bool = False

    family: ClassVar[str] = "kernel_ridge"
    numbers: ClassVar[tuple[str, ...]] = (*DualRegression.numbers, "gamma", "degree", "coef0")
    no_solution: ClassVar[str] = (
        "lam is so small that the equations are singular within rounding error: raise lam"
    )

    def matrix_numbers(self, sample: Sample) -> int:
        """Those of the inner products; several where each learning set has its own."""
        return int((8 if self.standardize else 1) * padded_size(sample.n_obs) ** 2)

    def share(self, sample: Sample) -> Data:
        """The kernel of all pairs of observations, or the features where each set has its own."""
        if self.standardize:
            return Data(median_centred(sample.matrix), sample.target)
        matrix = kernel_matrix(self, sample.matrix)
        if not np.isfinite(matrix).all():
            raise ValueError(
                f"learner {self.name} has a kernel that is not finite for all pairs of "
                "observations: bring the features to similar units, or use an integer degree"
            )
        return Data((), sample.target, padded_rows(matrix, axis=1))

    @property
    def centred(self) -> bool:
        """There is no intercept."""
        return False

    def count_members(self, state: State, learning: np.ndarray) -> int:
        """There is an equation for each of them."""
        return int(learning.sum(axis=1).max())

    def inner_products(self, state: State, learnt: np.ndarray) -> np.ndarray:
        """See `DualRegression`."""
        n_obs = len(learnt)
        if not self.standardize:
            inner: np.ndarray = to_numpy(state.data.more)[:n_obs, :n_obs]
            return inner
        features = to_numpy(state.data.x)[:n_obs]
        learnt_features = features[learnt > 0]
        mean, mean_square = learnt_features.mean(axis=0), (learnt_features**2).mean(axis=0)
        return kernel_matrix(
            self, (features - mean) / np.sqrt(in_float64(divisor)(mean_square, mean))
        )

    def fit(self, data: Data, w: jax.Array) -> jax.Array:
        """Fitted values."""
        if not self.standardize:
            return self.dual(data.more, data.y, w)
        size, p = w.sum(), data.x.shape[1]
        mean, mean_square = w @ data.x / size, w @ data.x**2 / size
        x = (data.x - mean) / jnp.sqrt(divisor(mean_square, mean))
        inner, gamma = x @ x.T, 1.0 / p if self.gamma is None else self.gamma
        if self.kernel == "polynomial":
            inner = (gamma * inner + self.coef0) ** self.degree
        elif self.kernel == "rbf":
            square = (x**2).sum(axis=1)
            inner = jnp.exp(-gamma * (square[:, None] + square - 2.0 * inner))
        return self.dual(inner, data.y, w)


def kernel_matrix(learner: KernelRidge, features: np.ndarray) -> np.ndarray:
    """Kernel of all pairs of rows, (n, n)."""
    gamma = 1.0 / features.shape[1] if learner.gamma is None else learner.gamma
    if learner.kernel == "rbf":
        return np.exp(-gamma * squared_distances(features))
    inner_products = features @ features.T
    if learner.kernel == "linear":
        return inner_products
    with np.errstate(all="ignore"):
        return (gamma * inner_products + learner.coef0) ** learner.degree
