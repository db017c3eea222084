"""Concordance, AUC and Brier score of survival times, as linearised values of observations.

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
    later, weights, ones = concordance_pairs(times, censoring, weighted=weighted, tau=tau)
    right, pairs = pairs_of_rows(later, risks, weights, ones, folds).sum(axis=0)
    total = pairs.sum() / 2
    if not total > 0:
        return np.full(times.n_obs, np.nan)
    value = right.sum() / 2 / total
    return np.asarray(value + times.n_obs * (right - value * pairs) / total)


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
    place, weights, controls = area_pairs(times, known_censoring, at=at)
    of_cases, of_controls = pairs_of_rows(place, risks, weights, controls, folds)
    total = of_cases[1].sum()
    if not total > 0:
        return np.full(times.n_obs, np.nan)
    value = of_cases[0].sum() / total
    moved = [
        times.n_obs * (right - value * pairs) / total for right, pairs in (of_cases, of_controls)
    ]
    linearised_values = value + moved[0] + moved[1]
    if censoring is None:
        linearised_values = linearised_values + known_censoring.contribution(
            times.time, moved[0], at
        )
    return np.asarray(linearised_values)


def brier_at(
    times: SurvivalTimes,
    risks: np.ndarray,
    folds: np.ndarray | None = None,
    censoring: Censoring | None = None,
    *,
    at: float,
) -> np.ndarray:
    """The squared error of the probability of an event by then, weighted by 1/G."""
    known_censoring = Censoring.of(times) if censoring is None else censoring
    if not known_censoring.at(at) > 0:
        return np.full(times.n_obs, np.nan)
    events, weights = brier_weights(times, known_censoring, at=at)
    errors = weights * (events - risks) ** 2
    if censoring is not None:
        return errors
    return errors + known_censoring.contribution_at(errors, at)


def brier_weights(
    times: SurvivalTimes, censoring: Censoring, *, at: float
) -> tuple[np.ndarray, np.ndarray]:
    """Events by then, 1 or 0 (n,), and weights of squared errors (n,).

    Weights are 1/G(t-) for events, 1/G(at) for observations followed beyond, and 0 for observations
    censored before.
    """
    events, beyond = times.event & (times.time <= at), times.time > at
    weights = np.zeros(times.n_obs)
    weights[events] = 1 / censoring.before(times.time[events])
    weights[beyond] = 1 / censoring.at(at) if beyond.any() else 0.0
    return events * 1.0, weights


def integrated_brier(
    times: SurvivalTimes,
    risks: np.ndarray,
    folds: np.ndarray | None = None,
    censoring: Censoring | None = None,
    *,
    at: tuple[float, ...],
) -> np.ndarray:
    """The mean over time of Brier scores, by the trapezoid rule; `risks` has a column for each."""
    brier_scores = [
        brier_at(times, column, folds, censoring, at=time)
        for time, column in zip(at, risks.T, strict=True)
    ]
    return np.asarray(np.trapezoid(np.stack(brier_scores), at, axis=0) / (at[-1] - at[0]))


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
