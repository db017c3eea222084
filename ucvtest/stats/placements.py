"""Placement values: areas under the ROC curve with DeLong's variance, paired where wanted."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from scipy.special import chdtrc

from ucvtest.stats.logit import LogitT
from ucvtest.stats.wald import reference_of, wald_interval

ROUNDING = 1e-10
"""What AUCs, and errors as a share of the largest possible, may differ by and count as equal."""


def midranks(values: np.ndarray) -> np.ndarray:
    """Ranks 1, 2, ... along the last axis, the least first; all NaN where one value is NaN.

    Ties have the mean of their ranks. SciPy's statistics have them too, but take a third of a
    second to import.
    """
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    place = np.arange(values.shape[-1])
    is_other = ordered[..., 1:] != ordered[..., :-1]
    first, last = (np.broadcast_to(place, values.shape).copy() for _ in range(2))
    # Each of equal values has the places of the first and of the last one of them.
    first[..., 1:] *= is_other
    np.maximum.accumulate(first, axis=-1, out=first)
    last[..., :-1][~is_other] = len(place)
    last = np.minimum.accumulate(last[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    ranks[np.isnan(values).any(axis=-1)] = np.nan
    return ranks


class Area(Protocol):
    """An AUC with its variance, or the difference of two on the same observations."""

    @property
    def mean(self) -> float:
        """The AUC, or the difference of two."""

    @property
    def variance(self) -> float:
        """The variance of `mean`; NaN where it cannot be estimated."""

    @property
    def df(self) -> float:
        """Degrees of freedom of Student's t; NaN for the normal distribution."""

    def __sub__(self, other: Self) -> Self: ...


class AreaUnderCurve(Area, Protocol):
    """One that can be tested together with others."""

    @property
    def deviations(self) -> np.ndarray:
        """What adds up to the variance in squares, and to covariances in products."""

    @property
    def largest_error(self) -> float:
        """A standard error that is as large as can be, but for a factor."""


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
        both_classes = (self.positives, self.negatives)
        if min(map(len, both_classes)) < 2:
            return math.nan
        return float(sum(values.var(ddof=1) / len(values) for values in both_classes))

    @property
    def df(self) -> float:
        """NaN: the reference is the normal distribution."""
        return math.nan

    @property
    def deviations(self) -> np.ndarray:
        """Centred placement values, (n,), whose squares add up to the variance."""
        both_classes = (self.positives, self.negatives)
        return np.concatenate(
            [
                (class_placements - class_placements.mean())
                / math.sqrt(len(class_placements) * (len(class_placements) - 1))
                for class_placements in both_classes
            ]
        )

    @property
    def largest_error(self) -> float:
        """See `AreaUnderCurve`."""
        return math.sqrt(1 / len(self.positives) + 1 / len(self.negatives))

    def __sub__(self, other: "Placements") -> "Placements":
        return Placements(self.positives - other.positives, self.negatives - other.negatives)


@dataclass(frozen=True, eq=False)
class ClusteredPlacements:
    """An AUC with the deviations of its placement values, summed by cluster (Obuchowski 1997).

    `positives` and `negatives` (I,) are sums over the positives (negatives) of each cluster of
    their placement values' distance from the AUC, as shares of the weight of all positives
    (negatives); `n_positive` and `n_negative` count the clusters that have any.
    """

    mean: float
    positives: np.ndarray
    negatives: np.ndarray
    n_positive: int
    n_negative: int

    @property
    def _factors(self) -> tuple[float, float, float]:
        """I/(I - 1) of clusters with positives, with negatives, and of all."""
        counts = (self.n_positive, self.n_negative, len(self.positives))
        return tuple(n / (n - 1) if n > 1 else math.nan for n in counts)  # type: ignore[return-value]

    @property
    def variance(self) -> float:
        """S10/M + S01/N + 2 S11/(M N) of the paper; NaN with fewer than two clusters of a class."""
        of_positives, of_negatives, of_all = self._factors
        return float(
            of_positives * (self.positives**2).sum()
            + of_negatives * (self.negatives**2).sum()
            + 2 * of_all * (self.positives * self.negatives).sum()
        )

    @property
    def df(self) -> float:
        """I - 1; where no cluster has both classes Welch's, as of two samples."""
        n_clusters = len(self.positives)
        if self.n_positive + self.n_negative > n_clusters:
            return n_clusters - 1.0
        class_variances = [
            n / (n - 1) * float((class_placements**2).sum())
            for n, class_placements in (
                (self.n_positive, self.positives),
                (self.n_negative, self.negatives),
            )
        ]
        squares = class_variances[0] ** 2 / (self.n_positive - 1) + class_variances[1] ** 2 / (
            self.n_negative - 1
        )
        return (
            float(np.clip(sum(class_variances) ** 2 / squares, 1, n_clusters - 2))
            if squares
            else math.nan
        )

    @cached_property
    def deviations(self) -> np.ndarray:
        """Vectors (3 I,) whose products are the variance and covariances."""
        of_positives, of_negatives, of_all = self._factors
        return np.concatenate(
            [
                math.sqrt(of_all) * (self.positives + self.negatives),
                math.sqrt(of_positives - of_all) * self.positives,
                math.sqrt(of_negatives - of_all) * self.negatives,
            ]
        )

    @property
    def largest_error(self) -> float:
        """See `AreaUnderCurve`."""
        return math.sqrt(1 / self.n_positive + 1 / self.n_negative)

    def __sub__(self, other: "ClusteredPlacements") -> "ClusteredPlacements":
        return ClusteredPlacements(
            self.mean - other.mean,
            self.positives - other.positives,
            self.negatives - other.negatives,
            self.n_positive,
            self.n_negative,
        )


def clustered_placements(
    y: np.ndarray, scores: np.ndarray, cluster: np.ndarray, *, equal: bool
) -> ClusteredPlacements:
    """The placement values of scores by cluster, numbers 0, 1, ..., with pairs within clusters.

    Every row weighs the same, as in N. Obuchowski (1997), Nonparametric analysis of clustered ROC
    curve data, Biometrics 53; or `equal`ly every cluster that has any of the row's class.
    """
    classes, n_clusters = (y == 1, y != 1), int(cluster.max()) + 1
    cluster_counts = [np.bincount(cluster[rows], minlength=n_clusters) for rows in classes]
    shares = []
    for rows, count in zip(classes, cluster_counts, strict=True):
        weight = 1 / count[cluster[rows]] if equal else np.ones(int(rows.sum()))
        shares.append(weight / weight.sum())
    class_scores = [scores[rows] for rows in classes]
    below = _share_below(class_scores[0], class_scores[1], shares[1])
    above = 1 - _share_below(class_scores[1], class_scores[0], shares[0])
    auc = float(shares[0] @ below)
    sums = [
        np.bincount(cluster[rows], row_shares * (placed - auc), n_clusters)
        for rows, row_shares, placed in zip(classes, shares, (below, above), strict=True)
    ]
    n_holding = [int((count > 0).sum()) for count in cluster_counts]
    return ClusteredPlacements(auc, sums[0], sums[1], n_holding[0], n_holding[1])


def _share_below(
    scores: np.ndarray, other_scores: np.ndarray, other_shares: np.ndarray
) -> np.ndarray:
    """How much of others with these shares lies below each score; what ties counts half."""
    order = np.argsort(other_scores, kind="stable")
    ranked, total = other_scores[order], np.concatenate([[0.0], np.cumsum(other_shares[order])])
    cumulative_shares = [
        total[np.searchsorted(ranked, scores, tie_side)] for tie_side in ("left", "right")
    ]
    return (cumulative_shares[0] + cumulative_shares[1]) / 2


def placements(y: np.ndarray, scores: np.ndarray) -> Placements:
    """The placement values of scores, which rise with class 1.

    By midranks, in n log n steps instead of the n^2 of all pairs (Sun and Xu 2014); E. DeLong, D.
    DeLong, D. Clarke-Pearson (1988), Biometrics 44, equations 3 to 6.
    """
    positive = y == 1
    ranks = midranks(scores)
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    below = (ranks[positive] - midranks(scores[positive])) / n_negative
    above = 1 - (ranks[~positive] - midranks(scores[~positive])) / n_positive
    return Placements(below, above)


def covariance(areas: Sequence[AreaUnderCurve]) -> np.ndarray:
    """The covariance matrix S of several AUCs on the same observations, (k, k)."""
    deviations = np.stack([area.deviations for area in areas])
    return deviations @ deviations.T


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


def equality(areas: Sequence[AreaUnderCurve]) -> Equality:
    """Test that the AUCs theta of k rules on the same observations are equal.

    (L theta)' (L S L')^- (L theta), in the words of equation 5 of DeLong, DeLong and Clarke-Pearson
    (1988). L takes the mean of all off each; every other L whose rows are k - 1 contrasts gives the
    same. The degrees of freedom are the rank, which rules that rank alike reduce.
    """
    means = np.array([area.mean for area in areas])
    means = means - means.mean()
    scaled = np.stack([area.deviations for area in areas])
    # Singular values of the factor: those of L S L' itself are their squares, with half the digits.
    axes, lengths, _ = np.linalg.svd(scaled - scaled.mean(axis=0), full_matrices=False)
    is_nonzero = lengths > ROUNDING * areas[0].largest_error
    principal_means = axes[:, is_nonzero].T @ means
    differ = bool(np.abs(means - axes[:, is_nonzero] @ principal_means).max() > ROUNDING)
    df = int(is_nonzero.sum())
    statistic = (
        float(((principal_means / lengths[is_nonzero]) ** 2).sum())
        if df and not differ
        else math.nan
    )
    return Equality(statistic, df, differ)


def auc_table(
    names: Sequence[str], areas: Sequence[Area], *, by_logit: bool
) -> dict[str, tuple[Any, ...]]:
    """The AUC of each learner with its error and 95% interval, as a table of a result."""
    errors = [math.sqrt(area.variance) for area in areas]
    intervals = []
    for area, error in zip(areas, errors, strict=True):
        if by_logit and error > 0:
            interval = LogitT(area.mean, error, area.df).interval("two-sided", 0.05)
        else:
            reference = reference_of(area.df)
            interval = wald_interval(area.mean, error, reference, area.df, "two-sided", 0.05)
        intervals.append(interval)
    return {
        "learner": tuple(names),
        "estimate": tuple(area.mean for area in areas),
        "se": tuple(errors),
        "conf_low": tuple(low for low, _ in intervals),
        "conf_high": tuple(high for _, high in intervals),
    }
