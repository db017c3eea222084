"""The outcome of a test of several learners at once: immutable."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ucvtest.results.serialising import Saved


@dataclass(frozen=True, eq=False)
class JointResult(Saved):
    """A joint test that several learners are equal, of all of them at once.

    It unpacks to ``(statistic, pvalue)``. There is no interval: a chi-square statistic has no sign.

    Parameters
    ----------
    learners : tuple of str
        Names.
    estimates : tuple of float
        The estimate of each learner, such as its AUC.
    covariance : ndarray, shape (k, k)
        The estimated covariance matrix of the estimates.
    statistic : float
        Chi-square; NaN if there is none.
    df : int
        Degrees of freedom: the rank of the covariance matrix of the differences, k - 1 unless
        learners are alike.
    pvalue : float
    method, estimand : str
    status : str
        "ok", or why there is no test.
    """

    learners: tuple[str, ...]
    estimates: tuple[float, ...]
    covariance: np.ndarray
    statistic: float
    df: int
    pvalue: float
    method: str
    estimand: str
    status: str = "ok"

    def __post_init__(self) -> None:
        object.__setattr__(self, "covariance", np.asarray(self.covariance, dtype=float))
        super().__post_init__()
        for name in ("learners", "estimates"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(learners={self.learners}, statistic={self.statistic:.6g}, "
            f"df={self.df}, pvalue={self.pvalue:.6g}, status={self.status!r})"
        )

    def _repr_html_(self) -> str:
        from ucvtest.results.summary_tables import page
        from ucvtest.results.text_tables import Grid, number_column

        errors = np.sqrt(np.diag(self.covariance)).tolist()
        columns = (number_column(self.estimates), number_column(errors))
        rows = [list(cells) for cells in zip(self.learners, *columns, strict=True)]
        return page([self.verdict], [Grid(rows, ["", "estimate", "std err"], self.method)])

    @property
    def in_words(self) -> str:
        """Statistic, degrees of freedom and p-value, or why there are none."""
        if self.status != "ok":
            return self.status
        chi_square_text = f"chi-square {self.statistic:.4g} on {self.df} df, p = {self.pvalue:.4g}"
        lost = len(self.learners) - 1 - self.df
        return chi_square_text + (f" ({lost} fewer df, as learners rank alike)" if lost else "")

    @property
    def verdict(self) -> str:
        """The answer in words, at the 5% level."""
        who = ", ".join(self.learners)
        if math.isnan(self.pvalue):
            return f"{self.method}: no answer for {who} ({self.status})."
        claim = "are not all equal" if self.pvalue <= 0.05 else "do not differ significantly"
        return f"At the 5% level the {self.estimand} of {who} {claim} ({self.in_words})."
