"""Polynomial regression with a ridge penalty, many learning sets at once."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial.legendre import legvander

from ucvtest.common.checks import is_integer
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.jitted.penalties import PenaltyScale, as_penalty
from ucvtest.learners.jitted.ridge import Ridge, RidgeState


def polynomial(
    degree: int,
    lam: float = 0.0,
    penalize_intercept: bool = False,
    scale: PenaltyScale = "sum",
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
    if not is_integer(degree) or degree < 1:
        raise ValueError(f"degree must be a positive integer, got {degree!r:.60}")
    return Polynomial(as_penalty(lam), penalize_intercept, scale, degree=int(degree))


@dataclass(frozen=True)
class Polynomial(Ridge):
    """Polynomial regression; made by `polynomial`."""

    degree: int = 1

    @property
    def name(self) -> str:
        """``polynomial:degree,lam``, and what differs from the defaults."""
        options = super().name.removeprefix("ridge:")
        return f"polynomial:{self.degree},{options}".removesuffix(",0.0")

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also more polynomials than observations without a penalty."""
        super().check(self.expanded(sample), output, learn_size)

    def rows_per_call(self, sample: Sample) -> int:
        """As for ridge regression on the polynomials."""
        return super().rows_per_call(self.expanded(sample))

    def prepare(self, sample: Sample) -> RidgeState:
        """What ridge regression on the polynomials needs."""
        return super().prepare(self.expanded(sample))

    def expanded(self, sample: Sample) -> Sample:
        """The sample with the polynomials as its features."""
        return replace(sample, features=self.expand(sample.matrix))

    def expand(self, matrix: np.ndarray) -> np.ndarray:
        """Polynomials of degree 1 to `degree` of every column, (n, p * degree)."""
        return np.hstack([legvander(column, self.degree)[:, 1:] for column in matrix.T])
