"""What the rows of a U-statistic consist of: the columns of each learner, and contrasts of them.

Losses have a column for each learner, AUCs of clusters one more for what pairs count, and metrics
that are functions of means several for each learner: nothing is drawn or predicted again for a
difference, for a learner alone, or for another point of linearisation.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.kernels.ustatistic import placements
from ucvtest.kernels.ustatistic.aucs import AucEstimate, NoVariance
from ucvtest.kernels.ustatistic.contrasts import (
    Contrast,
    Estimate,
    linear,
    log_ratio,
    share,
    total,
)
from ucvtest.kernels.ustatistic.few import Rounds
from ucvtest.kernels.ustatistic.rows import Strata

SAME = 1e-13
"""What AUCs differ by, at most, that are the same."""

Values = Sequence[np.ndarray]
"""What a source has of each learner, losses, scores or predictions, at some learning sets."""

Pair = np.ndarray | None
"""Sums over the rows of each block that columns of scores add to; see `placements`."""

Places = tuple[int, ...]
"""Of one learner, or of two that are compared."""


@dataclass(frozen=True, eq=False)
class Columns(ABC):
    """The columns of some learners, on units of some strata."""

    strata: Strata
    n_learners: int

    kind: ClassVar[type[Estimate]] = Estimate
    """What estimates of contrasts are."""

    @property
    def n_columns(self) -> int:
        """Columns of all learners."""
        return self.n_learners

    @property
    def n_paired(self) -> int:
        """The first columns, which have effects of pairs of units."""
        return self.n_columns

    @abstractmethod
    def placed(self, values: Values, sets: np.ndarray, draw: np.ndarray, pair: Pair) -> np.ndarray:
        """Placements (V, M, n) of the values at learning sets (M, n) of some draws (M,)."""

    @abstractmethod
    def of_one(self, place: int, means: np.ndarray, rounds: Rounds | None) -> Contrast:
        """One learner, at the means of the columns; of few fits also by their rounds."""

    def contrast(self, places: Places, means: np.ndarray, rounds: Rounds | None = None) -> Contrast:
        """One learner, or the first less the second."""
        first, *other = (self.of_one(place, means, rounds) for place in places)
        return first - other[0] if other else first

    def point(self, rounds: Rounds) -> np.ndarray:
        """The means that few fits are taken at."""
        return rounds.means_of_fits

    def of_rounds(self, places: Places, rounds: Rounds) -> Contrast:
        """The contrast of few fits."""
        return self.contrast(places, self.point(rounds), rounds)

    def alike(self, placed: np.ndarray) -> bool:
        """Whether all learners placed every unit alike."""
        return bool((placed[: self.n_learners] == placed[:1]).all())

    @property
    def flat(self) -> NoVariance:
        """Why an AUC of one learner may have no variance."""
        return NoVariance.OBSERVATIONS_ALIKE

    def why_flat(self, auc: float, placed: np.ndarray, tested: np.ndarray) -> NoVariance:
        """Why an AUC, or the difference of two, does not vary."""
        alike = self.n_learners > 1 and self.alike(placed)
        return self.why_without(auc, alike=alike, equal=bool((placed[0][tested] == 1 / 2).all()))

    def why_without(self, auc: float, *, alike: bool, equal: bool) -> NoVariance:
        """The same, if it is known whether learners, and scores of one, are alike everywhere."""
        if math.isnan(auc):
            return NoVariance.NEVER_TOGETHER
        if self.n_learners > 1:
            return NoVariance.LEARNERS_ALIKE if alike else NoVariance.DIFFERENCE_ALIKE
        if self.flat is NoVariance.CLUSTERS_ALIKE:
            return self.flat
        if min(abs(auc), abs(1 - auc)) < SAME:
            return NoVariance.SEPARATED
        if self.flat is NoVariance.OBSERVATIONS_ALIKE and equal:
            return NoVariance.EQUAL_SCORES
        return self.flat


@dataclass(frozen=True, eq=False)
class MeanLosses(Columns):
    """A mean loss of each learner, whose kernel has its mean times the `offset` as well."""

    offset: np.ndarray | None = None

    def placed(self, values: Values, sets: np.ndarray, draw: np.ndarray, pair: Pair) -> np.ndarray:
        """See `Columns`."""
        return np.stack(values)

    def of_one(self, place: int, means: np.ndarray, rounds: Rounds | None) -> Contrast:
        """See `Columns`."""
        return linear(np.eye(self.n_learners)[place], means, self.offset)

    def point(self, rounds: Rounds) -> np.ndarray:
        """See `Columns`."""
        return rounds.means


@dataclass(frozen=True, eq=False)
class DifferenceOfLosses(MeanLosses):
    """The difference of two learners, and the second of them: a column for each.

    Effects of pairs are of the difference alone.
    """

    @property
    def n_paired(self) -> int:
        """See `Columns`."""
        return 1

    def placed(self, values: Values, sets: np.ndarray, draw: np.ndarray, pair: Pair) -> np.ndarray:
        """See `Columns`."""
        first, other = values
        return np.stack([first - other, other])

    def of_one(self, place: int, means: np.ndarray, rounds: Rounds | None) -> Contrast:
        """See `Columns`."""
        return linear([0.0, 1.0] if place else [1.0, 1.0], means, self.offset)

    def alike(self, placed: np.ndarray) -> bool:
        """See `Columns`."""
        return not placed[0].any()


@dataclass(frozen=True, eq=False)
class RatioOfLosses(MeanLosses):
    """Two mean losses that are compared by their ratio."""

    def contrast(self, places: Places, means: np.ndarray, rounds: Rounds | None = None) -> Contrast:
        """See `Columns`; NaN where a mean is not positive."""
        if len(places) == 1:
            return super().contrast(places, means, rounds)
        if not (means > 0).all():
            return Contrast(np.full(2, np.nan), value=np.nan)
        return log_ratio(means)


@dataclass(frozen=True, eq=False)
class Ranked(Columns):
    """AUCs of units of two classes or more, with the weights v of pairs of classes.

    Of clusters of one class each, the unit (N,) and the weight (N,) of each row; then there is one
    column more, of what pairs of clusters count.
    """

    v: np.ndarray
    clusters: tuple[np.ndarray, np.ndarray] | None = None
    kind = AucEstimate

    @property
    def n_columns(self) -> int:
        """See `Columns`."""
        return self.n_learners + (self.clusters is not None)

    def placed(self, values: Values, sets: np.ndarray, draw: np.ndarray, pair: Pair) -> np.ndarray:
        """See `Columns`."""
        rows = values, sets, draw, pair
        return placements.place_classes(self.strata, self.v, *rows, self.clusters)

    def of_one(self, place: int, means: np.ndarray, rounds: Rounds | None) -> Contrast:
        """See `Columns`."""
        if self.clusters is not None:
            return share(self.n_columns, place, self.n_learners, means)
        return linear(np.eye(self.n_learners)[place], means)

    @property
    def flat(self) -> NoVariance:
        """See `Columns`."""
        if self.clusters is not None:
            return NoVariance.CLUSTERS_ALIKE
        several = len(self.strata.learn_sizes) > 2
        return NoVariance.CLASSES_ALIKE if several else NoVariance.OBSERVATIONS_ALIKE


class Ranking(NamedTuple):
    """Rows to be ranked above others by a score (None of one score), and how much that counts."""

    above: np.ndarray
    below: np.ndarray
    score: int | None = None
    share: float = 1.0


@dataclass(frozen=True, eq=False)
class RankedMixed(Columns):
    """AUCs of clusters with rows of several classes; `unit` (N,) is the cluster of each row."""

    rankings: tuple[Ranking, ...]
    unit: np.ndarray
    by_group: bool
    kind = AucEstimate

    @property
    def n_columns(self) -> int:
        """See `Columns`."""
        return len(self.rankings) * (self.n_learners + 1)

    def placed(self, values: Values, sets: np.ndarray, draw: np.ndarray, pair: Pair) -> np.ndarray:
        """See `Columns`."""
        rankings = [ranking[:3] for ranking in self.rankings]
        return placements.place_mixed(rankings, values, sets, self.unit, by_group=self.by_group)

    def of_one(self, place: int, means: np.ndarray, rounds: Rounds | None) -> Contrast:
        """See `Columns`."""
        width = self.n_learners + 1
        return total(
            ranking.share
            * share(self.n_columns, k * width + place, k * width + self.n_learners, means)
            for k, ranking in enumerate(self.rankings)
        )

    def alike(self, placed: np.ndarray) -> bool:
        """See `Columns`."""
        by_ranking = placed.reshape(len(self.rankings), -1, *placed.shape[1:])
        by_ranking = by_ranking[:, : self.n_learners]
        return bool(np.allclose(by_ranking, by_ranking[:, :1]))

    @property
    def flat(self) -> NoVariance:
        """See `Columns`."""
        return NoVariance.CLUSTERS_ALIKE


def rankings_of(
    codes: np.ndarray, v: np.ndarray, positive: int | None, *, several: bool
) -> tuple[Ranking, ...]:
    """Rows that are ranked above others: those of the last of two classes.

    Of `several`, with scores of each, those of the positive one, or of pairs with a weight in v.
    """
    if several and positive is None:
        return tuple(
            Ranking(np.flatnonzero(codes == c), np.flatnonzero(codes == d), c, v[c, d])
            for c, d in np.argwhere(v).tolist()
        )
    above = codes == (1 if positive is None else positive)
    return (Ranking(np.flatnonzero(above), np.flatnonzero(~above), positive),)


def columns_of_aucs(
    strata: Strata,
    n_learners: int,
    v: np.ndarray,
    clusters: Clusters | None,
    rankings: tuple[Ranking, ...] = (),
) -> Columns:
    """AUCs of observations, or of clusters of one class, or (with `rankings`) of several."""
    if clusters is None:
        return Ranked(strata, n_learners, v)
    groups, by_group = clusters.groups, clusters.weight == "group"
    if rankings:
        return RankedMixed(strata, n_learners, rankings, groups.index, by_group)
    weight = 1 / groups.sizes[groups.index] if by_group else np.ones(groups.n_obs)
    return Ranked(strata, n_learners, v, (groups.index, weight))
