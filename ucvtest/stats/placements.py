"""Placement values: areas under the ROC curve with the influence of every observation on them."""

import numpy as np

from ucvtest.stats.influence import Influence


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


def placements(y: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The placement values (L, n) of scores (L, n), which rise with class 1.

    For each positive the share of negatives below it, for each negative that of positives above it;
    ties count half. By midranks, in n log n steps instead of the n^2 of all pairs (Sun and Xu
    2014); E. DeLong, D. DeLong, D. Clarke-Pearson (1988), Biometrics 44, equations 3 to 6.
    """
    positive = y == 1
    ranks, placed = midranks(scores), np.empty(scores.shape)
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    own = ranks[..., positive] - midranks(scores[..., positive])
    placed[..., positive] = own / n_negative
    other = ranks[..., ~positive] - midranks(scores[..., ~positive])
    placed[..., ~positive] = 1 - other / n_positive
    return placed


def weighted_placements(y: np.ndarray, scores: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The same of rows with `shares` (n,) of the weight of their class, such as those of clusters.

    Pairs within clusters count too.
    """
    placed, positive = np.empty(scores.shape), y == 1
    for own, row in zip(placed, scores, strict=True):
        own[positive] = _share_below(row[positive], row[~positive], shares[~positive])
        own[~positive] = 1 - _share_below(row[~positive], row[positive], shares[positive])
    return placed


def _share_below(
    scores: np.ndarray, other_scores: np.ndarray, other_shares: np.ndarray
) -> np.ndarray:
    """How much of others with these shares lies below each score; what ties counts half."""
    order = np.argsort(other_scores, kind="stable")
    ranked, total = other_scores[order], np.concatenate([[0.0], np.cumsum(other_shares[order])])
    left, right = (total[np.searchsorted(ranked, scores, side)] for side in ("left", "right"))
    return np.asarray((left + right) / 2)


def influence_on_areas(
    y: np.ndarray,
    placed: np.ndarray,
    shares: np.ndarray | None = None,
    clusters: np.ndarray | None = None,
) -> Influence:
    """AUCs, or differences of them, by their placement values (L, n).

    Without clusters the variance is DeLong's. With them it is that of N. Obuchowski (1997),
    Nonparametric analysis of clustered ROC curve data, Biometrics 53; `shares` (n,) is then the
    weight of each row among those of its class.
    """
    positive, values = y == 1, np.empty(placed.shape)
    for members in (~positive, positive):
        own = placed[:, members]
        # A mean of equal values is exact, so that what does not vary has no variance.
        estimates = own.mean(axis=1) if shares is None else own @ shares[members]
        weights = 1 / own.shape[1] if shares is None else shares[members]
        values[:, members] = weights * (own - estimates[:, None])
    return Influence(estimates, values, positive.astype(int), clusters)
