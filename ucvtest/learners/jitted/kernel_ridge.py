"""Kernel ridge regression, many learning sets at once, in the dual form."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, cast

import numpy as np

from ucvtest.common.checks import check_choice, is_number
from ucvtest.common.float64 import in_float64, jax, jit, jnp, to_device
from ucvtest.common.words import shown
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Scale, short_name
from ucvtest.learners.batching import (
    CACHE_NUMBERS,
    LEAST_ROWS,
    median_centred,
    padded_rows,
    rows_for_cache,
    squared_distances,
)
from ucvtest.learners.jitted.penalties import PenaltyScale, as_penalty, check_scale
from ucvtest.learners.jitted.ridge_dual import DualSmoother, dual_padded, dual_scores, dual_size
from ucvtest.learners.solvers.linear_algebra import CAREFUL, SINGULAR, divisor

Kernel = Literal["linear", "rbf", "polynomial"]
LEAST_ROWS_STANDARDISED = 4
"""The same where each learning set has a kernel of its own."""

KERNELS: tuple[Kernel, ...] = ("linear", "rbf", "polynomial")


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
    return KernelRidge(as_penalty(lam), kernel, gamma, degree, coef0, scale)


@dataclass(frozen=True)
class KernelRidge(JittedLearner):
    """Kernel ridge regression; made by `kernel_ridge`, or on features standardised in each set."""

    lam: float
    kernel: Kernel = "linear"
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1
    penalty_scale: PenaltyScale = "sum"
    standardize: bool = False
    careful: bool = False

    scale: ClassVar[Scale] = "fitted"
    regression: ClassVar[bool] = True
    batch_rows: ClassVar[int] = 512
    pair_bytes: ClassVar[int] = 24
    no_solution: ClassVar[str] = (
        "lam is so small that the equations are singular within rounding error: raise lam"
    )

    def __post_init__(self) -> None:
        if not (np.isfinite(self.lam) and self.lam > 0):
            raise ValueError(f"lam must be a positive number, got {self.lam!r:.60}")
        check_choice("kernel", self.kernel, KERNELS)
        if self.gamma is not None and not (is_number(self.gamma) and self.gamma > 0):
            raise ValueError(
                f"gamma must be a positive number or {shown(None)}, got {self.gamma!r:.60}"
            )
        if not (is_number(self.degree) and self.degree > 0):
            raise ValueError(f"degree must be a positive number, got {self.degree!r:.60}")
        if not is_number(self.coef0):
            raise ValueError(f"coef0 must be a finite number, got {self.coef0!r:.60}")
        check_scale(self.penalty_scale)

    @property
    def name(self) -> str:
        """``kernel_ridge:lam``, and what differs from the defaults."""
        options = {
            "kernel": (self.kernel, "linear"),
            "gamma": (self.gamma, None),
            "degree": (self.degree, 3),
            "coef0": (self.coef0, 1),
            "scale": (self.penalty_scale, "sum"),
        }
        return short_name("kernel_ridge", [self.lam], options)

    def rows_per_call(self, sample: Sample) -> int:
        """Fewer for larger samples, so that the matrices of one call stay in the cache."""
        least_rows = LEAST_ROWS_STANDARDISED if self.standardize else LEAST_ROWS
        fitting = rows_for_cache(dual_size(sample.n_obs) ** 2, 4 * CACHE_NUMBERS, least_rows)
        return min(super().rows_per_call(sample), fitting)

    def labelings_per_call(self, sample: Sample) -> int:
        """As many as the scores allow: a common learning set needs one system for all."""
        return super().rows_per_call(sample)

    def prepare_labelings(self, state: tuple[Any, Any], learning: np.ndarray) -> DualSmoother:
        """The matrix that takes the labels to the fitted values."""
        kernel = state[0]
        if self.standardize:
            kernel = in_float64(self._kernels_in_sets)(state[0], learning[None])[:, :, 0]
        return DualSmoother.of(kernel, learning, *self._settings)

    @in_float64
    def scores(
        self,
        state: tuple[Any, Any] | DualSmoother,
        learning: np.ndarray,
        labels: np.ndarray | None = None,
    ) -> np.ndarray:
        """Fitted values."""
        if isinstance(state, DualSmoother):
            return state.fitted(cast("np.ndarray", labels))
        if labels is not None and len(learning) == 1:
            return self.prepare_labelings(state, learning[0]).fitted(labels)
        gram, response = state
        if self.standardize:
            gram = self._kernels_in_sets(gram, learning)
        return dual_scores(gram, response, learning, labels, *self._settings)

    def _kernels_in_sets(self, features: Any, learning: np.ndarray) -> Any:
        """Kernels (N, N, R) of features that are standardised in each set."""
        shape = (self.gamma or 1.0 / features.shape[1], self.degree, self.coef0)
        return _kernels_in_sets(features, padded_rows(learning, axis=1), self.kernel, *shape)

    @property
    def _settings(self) -> tuple[float, float, bool, bool]:
        """Penalty, smallest pivot, whether the penalty is for the mean; there is no intercept."""
        singular = CAREFUL if self.careful else SINGULAR
        return self.lam, singular, self.penalty_scale == "mean", True

    def prepare(self, sample: Sample) -> tuple[Any, Any]:
        """The kernel of all pairs of observations, and the response."""
        if self.standardize:
            features = median_centred(sample.matrix)
            return to_device((padded_rows(features), padded_rows(sample.target)))
        matrix = kernel_matrix(self, sample.matrix)
        if not np.isfinite(matrix).all():
            raise ValueError(
                f"learner {self.name} has a kernel that is not finite for all pairs of "
                "observations: bring the features to similar units, or use an integer degree"
            )
        return to_device((dual_padded(matrix), dual_padded(sample.target)))


@partial(jit, static_argnums=2)
def _kernels_in_sets(
    features: jax.Array,
    learning: jax.Array,
    kernel: Kernel,
    gamma: float,
    degree: float,
    coef0: float,
) -> jax.Array:
    """Kernels (N, N, R) of all pairs of rows, standardised by each learning set."""
    weights = learning.astype(features.dtype)
    size = weights.sum(axis=1)
    mean = jnp.einsum("np,rn->pr", features, weights, precision="highest") / size
    mean_square = jnp.einsum("np,rn->pr", features**2, weights, precision="highest") / size
    scaled = (features[:, :, None] - mean) / jnp.sqrt(divisor(mean_square, mean))
    inner_products = jnp.einsum("ipr,jpr->ijr", scaled, scaled, precision="highest")
    if kernel == "linear":
        return inner_products
    if kernel == "polynomial":
        return (gamma * inner_products + coef0) ** degree
    square = (scaled**2).sum(axis=1)
    return jnp.exp(-gamma * (square[:, None] + square[None] - 2.0 * inner_products))


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
