"""Several correlated estimates at once: the largest of their studentised errors, simulated.

Estimates are studentised with a common number of degrees of freedom, so that their errors have a
multivariate t distribution. As many draws of it are made as give its quantiles to a fraction of
a percent.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtr

from ucvtest.stats.wald import Alternative, ReferenceDistribution

N_DRAWS = 50_000
"""The 95% quantile then has a standard error of about .01 where it is 2.5."""

FEW = 64
"""Estimates for which every critical value is that of all draws."""

FIRST_DRAWS = 1_000
DOUBT = 6.0
"""Draws that decide alone where their share is so many standard errors from the level."""

BLOCK = 100_000
"""Errors that are looked at together."""

ROUNDING = 1e-12
"""Variances of differences, as a share of those of what differs, that are rounding error."""

Pairs = Sequence[tuple[int, ...]]
"""Differences, first minus second, by the places of estimates; of one place the estimate itself."""


def as_normal(statistic: Any, df: Any) -> Any:
    """The normal quantiles with the same tails as Student's t with `df` degrees of freedom."""
    return np.copysign(-ndtri(stdtr(df, -np.abs(statistic))), statistic)


@dataclass(frozen=True)
class Critical:
    """A simulated quantile and its Monte-Carlo standard error."""

    value: float
    mc_se: float


@dataclass(frozen=True, eq=False)
class MultivariateT:
    """Errors of estimates with a covariance matrix (L, L) known with `df` degrees of freedom.

    An infinite number of them is the normal distribution. The same seed gives the same draws.
    """

    covariance: np.ndarray
    df: float
    seed: int = 0
    n_draws: int = N_DRAWS

    def largest(
        self, pairs: Pairs | None = None, alternative: Alternative = "two-sided"
    ) -> np.ndarray:
        """The largest studentised error of all these differences, in each draw.

        Without pairs, of the estimates themselves.
        """
        question = (None if pairs is None else frozenset(pairs), alternative)
        if question not in self._known_largest:
            largest_errors = np.full(self.n_draws, -math.inf)
            for difference_errors in self._studentised_errors(pairs, alternative):
                np.maximum(largest_errors, difference_errors, out=largest_errors)
            self._known_largest[question] = largest_errors
        return self._known_largest[question]

    @cached_property
    def _known_largest(self) -> dict[Any, np.ndarray]:
        """By differences and alternative."""
        return {}

    def critical(
        self, alpha: float, pairs: Pairs | None = None, alternative: Alternative = "two-sided"
    ) -> Critical:
        """What the largest of them exceeds with probability `alpha`."""
        if (len(self.covariance) if pairs is None else len(pairs)) == 1:
            tail = alpha / 2 if alternative == "two-sided" else alpha
            return Critical(self.student.isf(tail), 0.0)
        n, spread = self.n_draws, math.sqrt(alpha * (1 - alpha) / self.n_draws)
        # Rank by rank no fewer than this share of the draws are at most that value.
        shares = (1 - alpha - spread, 1 - alpha, 1 - alpha + spread)
        ranks = [min(n - 1, max(0, math.ceil(n * rank_share) - 1)) for rank_share in shares]
        low, value, high = np.partition(self.largest(pairs, alternative), ranks)[ranks]
        return Critical(float(value), float(high - low) / 2)

    def stepdown(
        self, statistics: np.ndarray, pairs: Pairs, alternative: Alternative = "two-sided"
    ) -> np.ndarray:
        """Adjusted p-values: each statistic against the largest of those no farther from H0.

        Statistics that are NaN count as the least, and have p = 1.
        """
        far = {"two-sided": np.abs(statistics), "less": -statistics, "greater": statistics}
        distance = np.where(np.isnan(statistics), -math.inf, far[alternative])
        order = np.argsort(-distance, kind="stable")
        largest = np.full(self.n_draws, -math.inf)
        adjusted_pvalues = np.ones(len(distance))
        # From the least one on, so that every draw's maximum grows by one error at a time.
        ascending = order[::-1].tolist()
        errors = self._studentised_errors([pairs[number] for number in ascending], alternative)
        for pair_number, error in zip(ascending, errors, strict=True):
            np.maximum(largest, error, out=largest)
            count = np.count_nonzero(largest >= distance[pair_number])
            adjusted_pvalues[pair_number] = (count + 1) / (self.n_draws + 1)
        # That of all of them, which simultaneous intervals need.
        self._known_largest[frozenset(pairs), alternative] = largest
        adjusted_pvalues[order] = np.maximum.accumulate(adjusted_pvalues[order])
        return adjusted_pvalues

    def worst(self, estimate_number: int, alpha: float) -> float:
        """The critical value of the largest of all differences of one estimate minus another."""
        other_pairs = [
            (estimate_number, other)
            for other in range(len(self.covariance))
            if other != estimate_number
        ]
        return self.critical(alpha, other_pairs, "greater").value

    def exceeds_worst(self, estimate_number: int, distance: float, alpha: float) -> bool:
        """Whether a largest distance of one estimate to others, above 0, exceeds `worst`.

        Of many estimates the first draws decide where they leave no doubt.
        """
        if len(self.covariance) <= FEW:
            return distance > max(self.worst(estimate_number, alpha), 0.0)
        count = n_seen = 0
        # The differences to all estimates are studentised; 0 where nothing varies.
        variances = np.diag(self.covariance)
        sizes = variances + variances[estimate_number]
        squares = sizes - 2 * self.covariance[estimate_number]
        varies = squares > ROUNDING * sizes
        scale = np.where(varies, 1 / np.sqrt(np.where(varies, squares, 1.0)), 0.0)
        scale = scale.astype(np.float32)
        while n_seen < self.n_draws:
            part = slice(n_seen, max(FIRST_DRAWS, 2 * n_seen))
            for errors in self._blocks(part):
                scaled = errors[:, estimate_number, None] - errors
                scaled *= scale
                count += int(np.count_nonzero(scaled.max(axis=1) >= distance))
            n_seen = min(part.stop, self.n_draws)
            doubt = DOUBT * math.sqrt(alpha * (1 - alpha) / n_seen)
            if abs(count / n_seen - alpha) > doubt:
                return count / n_seen < alpha
        return count <= self.n_draws - math.ceil(self.n_draws * (1 - alpha))

    def _blocks(self, part: slice) -> list[np.ndarray]:
        """A part of the draws, rounded, in blocks (b, L) that fit into a cache; kept."""
        if part.start not in self._known_blocks:
            draws = np.ascontiguousarray(self.draws[:, part].T, dtype=np.float32)
            rows = max(1, BLOCK // draws.shape[1])
            self._known_blocks[part.start] = [
                draws[start : start + rows] for start in range(0, len(draws), rows)
            ]
        return self._known_blocks[part.start]

    @cached_property
    def _known_blocks(self) -> dict[int, list[np.ndarray]]:
        """By the first draw of their part."""
        return {}

    def around_worst(self, alpha: float) -> tuple[float, float]:
        """Between which `worst` is, of every estimate: Student's quantile, and Bonferroni's."""
        tails = alpha, alpha / max(len(self.covariance) - 1, 1)
        return self.student.isf(tails[0]), self.student.isf(tails[1])

    @property
    def student(self) -> ReferenceDistribution:
        """The distribution of a single error."""
        return ReferenceDistribution(self.df if math.isfinite(self.df) else None)

    def _studentised_errors(
        self, pairs: Pairs | None, alternative: Alternative
    ) -> Iterator[np.ndarray]:
        """The studentised errors (B,), one difference after the other; 0 where nothing varies.

        They are one array, which the next ones fill.
        """
        covariance, error = self.covariance, np.empty(self.n_draws)
        sign = -1.0 if alternative == "less" else 1.0
        contrasts: Sequence[tuple[int, ...]]
        contrasts = [(k,) for k in range(len(covariance))] if pairs is None else pairs
        for first, *subtrahends in contrasts:
            variance = size = covariance[first, first]
            np.subtract(
                self.draws[first], self.draws[subtrahends[0]] if subtrahends else 0.0, error
            )
            for other in subtrahends:
                size += covariance[other, other]
                variance = size - 2 * covariance[first, other]
            error *= sign / math.sqrt(variance) if variance > ROUNDING * size else 0.0
            yield np.abs(error, out=error) if alternative == "two-sided" else error

    @cached_property
    def draws(self) -> np.ndarray:
        """Errors (L, B), times what makes them Student's."""
        rng = np.random.default_rng(self.seed)
        values, vectors = np.linalg.eigh(self.covariance)
        if len(values) > FEW:
            # Of more estimates than observations few errors are independent of the others.
            independent = values > len(values) * np.finfo(float).eps * values[-1]
            values, vectors = values[independent], vectors[:, independent]
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        normal = rng.standard_normal((len(values), self.n_draws))
        # Of few without BLAS: its other threads would go on spinning.
        few = len(root) <= FEW
        errors = np.einsum("ij,jb->ib", root, normal) if few else root @ normal
        if math.isfinite(self.df):
            errors /= np.sqrt(rng.chisquare(self.df, self.n_draws) / self.df)
        return errors
