"""Placement values: areas under the ROC curve with DeLong's variance, paired where wanted."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import chdtrc

__all__ = ["Equality", "Placements", "auc_table", "covariance", "equality", "placements"]

ROUNDING = 1e-10
"""What AUCs, and errors as a share of the largest possible, may differ by and count as equal."""


@dataclass(frozen=True, eq=False)
class Placements:
    """Placement values of one column of scores, or the differences of two columns.

    For each positive the share of negatives below it, for each negative that of positives above it;
    ties count half.
    """

    positives: np.ndarray
    negatives: np.ndarray

    @property
    def mean(self) -> float:
        """The AUC, or the difference of two."""
        return float(self.positives.mean())

    @property
    def variance(self) -> float:
        """DeLong's variance of `mean`; NaN with fewer than two observations of a class."""
        both = (self.positives, self.negatives)
        if min(map(len, both)) < 2:
            return math.nan
        return float(sum(values.var(ddof=1) / len(values) for values in both))

    def __sub__(self, other: "Placements") -> "Placements":
        return Placements(self.positives - other.positives, self.negatives - other.negatives)


def placements(y: np.ndarray, scores: np.ndarray) -> Placements:
    """The placement values of scores, which rise with class 1.

    By midranks, in n log n steps instead of the n^2 of all pairs (Sun and Xu 2014); E. DeLong, D.
    DeLong, D. Clarke-Pearson (1988), Biometrics 44, equations 3 to 6.
    """
    positive = y == 1
    ranks = stats.rankdata(scores)
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    below = (ranks[positive] - stats.rankdata(scores[positive])) / n_negative
    above = 1 - (ranks[~positive] - stats.rankdata(scores[~positive])) / n_positive
    return Placements(below, above)


def covariance(parts: Sequence[Placements]) -> np.ndarray:
    """DeLong's covariance matrix S of several AUCs on the same observations, (k, k)."""
    found = _scaled(parts)
    return found @ found.T


def _scaled(parts: Sequence[Placements]) -> np.ndarray:
    """Deviations of placement values, (k, n), whose cross products are S."""
    both = (
        np.stack([each.positives for each in parts]),
        np.stack([each.negatives for each in parts]),
    )
    deviations = [
        (values - values.mean(axis=1, keepdims=True)) / math.sqrt(n * (n - 1))
        for values, n in ((values, values.shape[1]) for values in both)
    ]
    return np.concatenate(deviations, axis=1)


@dataclass(frozen=True)
class Equality:
    """The chi-square test that several AUCs are equal.

    No statistic, NaN, with no degrees of freedom, or where AUCs differ without an error.
    """

    statistic: float
    df: int
    differ: bool
    """Whether a difference of AUCs has no error, as of a perfect ranking and none at all."""

    @property
    def pvalue(self) -> float:
        """The probability of a larger statistic under H0."""
        return float(chdtrc(self.df, self.statistic)) if self.df else math.nan


def equality(parts: Sequence[Placements]) -> Equality:
    """Test that the AUCs theta of k rules on the same observations are equal.

    (L theta)' (L S L')^- (L theta), in the words of equation 5 of DeLong, DeLong and Clarke-Pearson
    (1988). L takes the mean of all off each; every other L whose rows are k - 1 contrasts gives the
    same. The degrees of freedom are the rank, which rules that rank alike reduce.
    """
    means = np.array([part.mean for part in parts])
    means = means - means.mean()
    scaled = _scaled(parts)
    # Singular values of the factor: those of L S L' itself are their squares, with half the digits.
    axes, lengths, _ = np.linalg.svd(scaled - scaled.mean(axis=0), full_matrices=False)
    largest = math.sqrt(1 / len(parts[0].positives) + 1 / len(parts[0].negatives))
    kept = lengths > ROUNDING * largest
    along = axes[:, kept].T @ means
    differ = bool(np.abs(means - axes[:, kept] @ along).max() > ROUNDING)
    df = int(kept.sum())
    statistic = float(((along / lengths[kept]) ** 2).sum()) if df and not differ else math.nan
    return Equality(statistic, df, differ)


def auc_table(
    column: str, names: Sequence[str], parts: Sequence[Placements], value: str = "estimate"
) -> dict[str, Any]:
    """The AUC of each column of scores with its error and 95% interval, as a table of a result."""
    errors = [math.sqrt(part.variance) for part in parts]
    half = [float(stats.norm.isf(0.025)) * error for error in errors]
    means = [part.mean for part in parts]
    return {
        column: tuple(names),
        value: tuple(means),
        "se": tuple(errors),
        "conf_low": tuple(mean - width for mean, width in zip(means, half, strict=True)),
        "conf_high": tuple(mean + width for mean, width in zip(means, half, strict=True)),
    }
