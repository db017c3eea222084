"""The calibration curve: how often predicted events happen."""

from dataclasses import replace
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import at_least, is_integer, named_options
from ucvtest.curves.compute import compute_curve
from ucvtest.curves.inputs import MOST_POINTS, read_inputs
from ucvtest.curves.points import PRECISION
from ucvtest.curves.result import Curve


@named_options
def calibration(
    y: Any,
    predictions: Any = None,
    *,
    pos_label: Any = None,
    groups: Any = None,
    fold: Any = None,
    bins: Any = 5,
    alpha: float = 0.05,
    rng: Any = 0,
) -> Curve:
    """Calibration curve of predicted probabilities, with intervals for each bin and for all.

    Parameters
    ----------
    y, pos_label, groups, fold, alpha, rng
        See `roc`.
    predictions : mapping, DataFrame or path; with losses a str or list, optional
        The names of one or two rules, each with its n probabilities of the positive class. Losses
        as `y` need ``metric="brier_skill"``.
    bins : int or array-like
        The number of bins, which contain equally many predictions (of both rules together), or the
        edges of bins from 0 to 1. A bin includes its upper edge but not its lower one; the first
        bin includes both. Equal predictions share a bin, and have it to themselves where two
        quantiles coincide; there may then be fewer bins.

    Returns
    -------
    Curve
        Bands of "share of positives" by the mean prediction in each bin. The edges are in
        ``settings["edges"]``.

    Raises
    ------
    ValueError
        If predictions are not probabilities, or for a reason in `roc`.

    Notes
    -----
    **Estimand.** The probability of the positive class given that the prediction lies in a bin. For
    a calibrated rule it equals the mean prediction of the bin, so that the diagonal lies within the
    band. Edges of bins are treated as fixed. Edges computed from predictions alone are harmless;
    edges computed from labels bias the curve. For a learner, the estimand is the expected number of
    positives in the bin over that of rows, and the place of a bin is the mean prediction of all
    rules.

    **Intervals.** ``low`` and ``high`` contain the probability of one bin. ``low_all`` and
    ``high_all`` contain the probabilities of all bins of a rule at once. A bin without rows has an
    estimate of NaN and an uninformative interval.

    **Not offered.** There is no difference of two rules, because the same bin contains different
    rows for each. There is no expected calibration error (ECE). It sums absolute differences, so
    its estimate is above zero even for a perfectly calibrated rule, and more so with more bins and
    fewer rows. Its distribution near zero is not normal. Use the Brier score or the log loss
    (``Losses.from_predictions(loss="brier")``), which also punish miscalibration.

    **Assumptions** and **cost**: see `roc`. **Coverage:** with few rows in a bin, intervals are
    wide, not too short.

    References
    ----------
    Agresti, A. and Coull, B. A. (1998). Approximate is better than "exact" for interval estimation
    of binomial proportions. The American Statistician 52, 119-126.

    Broecker, J. and Smith, L. A. (2007). Increasing the reliability of reliability diagrams.
    Weather and Forecasting 22, 651-661.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y = [0, 0, 1, 0, 1, 1, 0, 1]
    >>> p = [0, 0.125, 0.375, 0.5, 0.625, 0.75, 0.875, 1]
    >>> band = uv.curves.calibration(y, {"model": p}, bins=2).band()
    >>> band.x.tolist(), band.estimate.tolist()
    ([0.25, 0.8125], [0.25, 0.75])
    """
    inputs = read_inputs(
        *(y, predictions),
        pos_label=pos_label,
        groups=groups,
        fold=fold,
        alpha=alpha,
        rng=rng,
        probabilities=True,
    )
    edges = _edges(bins, inputs.scores)
    places = np.searchsorted(edges[1:-1], inputs.scores)
    n_bins = len(edges) - 1
    # The mean prediction of each bin; NaN for an empty bin.
    means = np.full((len(places), n_bins), np.nan)
    for learner_means, learner_places, scores in zip(means, places, inputs.scores, strict=True):
        counts = np.bincount(learner_places, minlength=n_bins)
        sums = np.bincount(learner_places, scores, minlength=n_bins)
        np.divide(sums, counts, out=learner_means, where=counts > 0)
    notes = []
    if is_integer(bins) and n_bins < bins:
        notes.append(
            "Many predictions are equal, and equal predictions share a bin: the number of bins is "
            f"{n_bins} instead of {bins}."
        )
    curve = compute_curve(
        *("calibration", inputs),
        places=places,
        flagged=np.eye(n_bins, dtype=bool),
        quantities=(replace(PRECISION, name="share of positives"),),
        x=means,
        x_name="mean prediction",
        estimand="share of positives given the bin of the prediction",
        differences=False,
        notes=notes,
    )
    return replace(curve, settings={**curve.settings, "edges": tuple(edges.tolist())})


def _edges(bins: Any, scores: np.ndarray) -> np.ndarray:
    """The edges of bins: given ones, or edges of bins with equally many predictions."""
    if is_integer(bins):
        n_bins = at_least("bins", bins, 1)
        if n_bins > MOST_POINTS:
            raise ValueError(f"bins must be at most {MOST_POINTS}, got {bins}")
        # Computed as in scikit-learn, because rounding decides on which side predictions lie.
        quantiles, counts = np.unique(
            np.percentile(scores, 100 * np.linspace(0, 1, n_bins + 1)), return_counts=True
        )
        values = np.unique(scores)
        # Between two different values two quantiles can leave a bin empty.
        filled = np.unique(np.searchsorted(quantiles[1:-1], values))
        if len(filled) == n_bins:
            return quantiles
        return _edges_around(quantiles[counts > 1], quantiles, values, n_bins)
    edges = as_numbers("bins", bins)
    rises = edges.ndim == 1 and len(edges) > 1 and (np.diff(edges) > 0).all()
    if not rises or not edges[0] <= scores.min() or not scores.max() <= edges[-1]:
        raise ValueError(
            "bins must be a number of bins, or edges that rise and contain all predictions, such "
            f"as [0, 0.1, 0.3, 1], got {bins!r:.60}"
        )
    return edges


def _edges_around(
    ties: np.ndarray, quantiles: np.ndarray, values: np.ndarray, n_bins: int
) -> np.ndarray:
    """The edges of bins if quantiles coincide at ties. Each of these has a bin of its own.

    Edges are half-way between different `values`. Few values have a bin each.
    """
    if len(values) == 1:
        return np.array([0.0, 1.0])
    starts = np.arange(1, len(values))
    if len(values) > n_bins:
        after_ends = np.searchsorted(values, [*quantiles[1:-1], *ties], side="right")
        starts = np.intersect1d(starts, [*after_ends, *np.searchsorted(values, ties)])
    middles = (values[starts - 1] + values[starts]) / 2
    return np.unique([values[0], *middles, values[-1]])
