"""A linear smoother whose matrix the user gives."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.words import arg
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Scale


def smoother(matrix: Any) -> "Smoother":
    """A linear smoother: its fitted values are S y, for any y.

    Parameters
    ----------
    matrix : array, shape (n, n)
        S, for the n observations of the sample.

    Returns
    -------
    Smoother
        Labels are 1 if the fitted value exceeds 1/2. It can be fitted to other labels, but not to
        fewer observations.

    Raises
    ------
    ValueError
        If it is not a square matrix of finite numbers.

    Examples
    --------
    >>> import numpy as np, ucvtest as uv
    >>> uv.learners.smoother(np.full((4, 4), 0.25)).name
    'smoother of 4 observations, trace 1'
    """
    values = np.array(as_numbers("matrix", matrix))
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise ValueError(f"matrix must have shape (n, n), got {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("matrix contains values that are not finite")
    values.flags.writeable = False
    return Smoother(values)


@dataclass(frozen=True, eq=False)
class Smoother(JittedLearner):
    """A linear smoother; made by `smoother`."""

    matrix: np.ndarray

    scale: ClassVar[Scale] = "fitted"
    regression: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Size and trace of the matrix."""
        return f"smoother of {len(self.matrix)} observations, trace {np.trace(self.matrix):.4g}"

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse samples, and learning sets, of another size."""
        if len(self.matrix) != sample.n_obs:
            raise ValueError(
                f"learner {self.name} has a matrix for {len(self.matrix)} observations, {arg('X')} "
                f"has {sample.n_obs}: pass one for all of them"
            )
        if learn_size != sample.n_obs:
            raise ValueError(
                f"learner {self.name} cannot learn from fewer than all observations: use a learner "
                "that is fitted to features, such as ridge"
            )
        super().check(sample, output, learn_size)

    def prepare(self, sample: Sample) -> np.ndarray:
        """The response."""
        return sample.target

    def scores(
        self, state: np.ndarray, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Fitted values."""
        shape = (len(learning), len(state))
        learnt = np.broadcast_to(state, shape) if labels is None else labels
        return learnt @ self.matrix.T
