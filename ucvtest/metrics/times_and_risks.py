"""Concordance and AUC of survival times, as linearised values of observations.

The mean of linearised values (n,) is the metric, and their spread gives its standard error (the
infinitesimal jackknife). Observation i comes before j if its time is shorter, or if the times are
equal and j is censored. A pair counts if its first observation had the event. `folds` (n,) are
numbers of test sets: pairs are then within test sets, and everything else is pooled. A `censoring`
distribution of other observations is treated as known. All values are NaN if the metric has no
value.
"""

import numpy as np

from ucvtest.data.survival_times import SurvivalTimes
from ucvtest.metrics.censoring import Censoring
from ucvtest.metrics.pairs_in_sets import pairs_in_sets


def concordance(
    times: SurvivalTimes,
    risks: np.ndarray,
    folds: np.ndarray | None = None,
    censoring: Censoring | None = None,
    *,
    weighted: bool = False,
    tau: float = np.inf,
) -> np.ndarray:
    """The share of pairs whose first has the higher risk, ties half, for events up to `tau`.

    It is Harrell's concordance, or Uno's with weights G(t-)^-2. The weights are treated as known.
    """
    pairs = concordance_pairs(times, censoring, weighted=weighted, tau=tau)
    return _share_of_pairs(risks, folds, *pairs)[0]


def _share_of_pairs(
    risks: np.ndarray,
    folds: np.ndarray | None,
    time_rank: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Values of the share of pairs in the right order, and their parts as the first of pairs."""
    of_first, of_second = pairs_of_rows(time_rank, risks, first, second, folds)
    total = of_first[1].sum()
    if not total > 0:
        return np.full(len(first), np.nan), np.zeros(len(first))
    value = of_first[0].sum() / total
    as_first, as_second = (
        len(first) * (right - value * pairs) / total for right, pairs in (of_first, of_second)
    )
    return np.asarray(value + as_first + as_second), as_first


def concordance_pairs(
    times: SurvivalTimes,
    censoring: Censoring | None = None,
    *,
    weighted: bool = False,
    tau: float = np.inf,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pairs that a concordance compares.

    The result is places (n,), lower for the first of a pair, and weights of observations as the
    first and as the second of a pair.
    """
    counts = times.event & (times.time <= tau)
    weights = counts.astype(float)
    if weighted:
        known_censoring = Censoring.of(times) if censoring is None else censoring
        weights[counts] = known_censoring.before(times.time[counts]) ** -2.0
    later = 2 * np.unique(times.time, return_inverse=True)[1] + ~times.event
    return later, weights, np.ones(times.n_obs)


def area_pairs(
    times: SurvivalTimes, censoring: Censoring, *, at: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same for an AUC at a time, with cases by then as first and controls as second."""
    cases = times.event & (times.time <= at)
    weights = np.zeros(times.n_obs)
    weights[cases] = 1 / censoring.before(times.time[cases])
    return ~cases * 1, weights, (times.time > at) * 1.0


def area_at(
    times: SurvivalTimes,
    risks: np.ndarray,
    folds: np.ndarray | None = None,
    censoring: Censoring | None = None,
    *,
    at: float,
) -> np.ndarray:
    """The AUC of observations with an event by then, weighted by 1/G(t-), against those without."""
    known_censoring = Censoring.of(times) if censoring is None else censoring
    pairs = area_pairs(times, known_censoring, at=at)
    linearised_values, as_first = _share_of_pairs(risks, folds, *pairs)
    if censoring is None:
        linearised_values += known_censoring.contribution(times.time, as_first, at)
    return linearised_values


def pairs_of_rows(
    time_rank: np.ndarray,
    risks: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    folds: np.ndarray | None,
) -> np.ndarray:
    """Weighted pairs of each row as the first and as the second of a pair, (2, 2, n).

    The sums are over pairs in the right order, with ties half, and over all pairs. The first has
    the lower `time_rank`. The weight of a pair is the `first` of one times the `second` of the
    other.
    """
    pair_weights = np.zeros((2, 2, len(time_rank)))
    if folds is None:
        folds = np.zeros(len(time_rank), dtype=int)
    order = np.argsort(folds, kind="stable")
    _, starts, sizes = np.unique(folds[order], return_index=True, return_counts=True)
    for size in np.unique(sizes):
        # The rows (R, size) of all R folds of this size.
        rows = order[starts[sizes == size][:, None] + np.arange(size)]
        pair_weights[:, :, rows] = pairs_in_sets(
            time_rank[rows], risks[rows], first[rows], second[rows]
        )
    return pair_weights
