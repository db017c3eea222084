"""The precision-recall curve."""

from dataclasses import replace
from typing import Any

import numpy as np

from ucvtest.common.checks import named_options
from ucvtest.curves.compute import compute_curve, flagged_at, places_between
from ucvtest.curves.inputs import as_thresholds, distinct_scores, read_inputs
from ucvtest.curves.points import PRECISION, SENSITIVITY
from ucvtest.curves.result import Curve
from ucvtest.curves.roc import ONE_SCALE


@named_options
def precision_recall(
    y: Any,
    predictions: Any = None,
    *,
    pos_label: Any = None,
    groups: Any = None,
    fold: Any = None,
    thresholds: Any = None,
    alpha: float = 0.05,
    rng: Any = 0,
) -> Curve:
    """Precision-recall curve of one rule or two, or of learners, with a confidence region.

    Parameters
    ----------
    y, predictions, pos_label, groups, fold, thresholds, alpha, rng
        See `roc`.

    Returns
    -------
    Curve
        Bands of "precision" and "recall" by threshold, in ascending order.

    Raises
    ------
    ValueError
        See `roc`.

    Notes
    -----
    **Estimand.** At each threshold c, the share of positives among rows with a score of c or more
    (precision), and the share of positives that have such a score (recall). Precision depends on
    how frequent positives are, so the estimate is about the population of these rows.

    **Intervals.** ``low`` and ``high`` contain each quantity at one threshold that was chosen
    beforehand. ``low_all`` and ``high_all`` contain precision and recall at all thresholds of the
    grid at once; the picture shows the rectangles that they form. At the highest scores only two or
    three rows remain. Intervals of precision are then nearly as wide as possible, but they exist
    even if all these rows are positives.

    A curve has no band of precision at a fixed *recall*, for the same reason that `roc` has no band
    of sensitivity at a fixed specificity.

    **Assumptions**, **coverage** and **cost**: see `roc`.

    References
    ----------
    Agresti, A. and Coull, B. A. (1998). Approximate is better than "exact" for interval estimation
    of binomial proportions. The American Statistician 52, 119-126.

    Davis, J. and Goadrich, M. (2006). The relationship between precision-recall and ROC curves.
    Proceedings of the 23rd International Conference on Machine Learning, 233-240.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> marker = [0.1, 0.4, 0.2, 0.6, 0.5, 0.9, 0.3, 0.8]
    >>> band = uv.curves.precision_recall(y, {"marker": marker}).band(quantity="precision")
    >>> band.estimate[-2:].tolist()
    [1.0, 1.0]
    >>> band.low[-2:].round(2).tolist()  # of two of two, and one of one
    [0.23, 0.02]
    """
    inputs = read_inputs(
        y, predictions, pos_label=pos_label, groups=groups, fold=fold, alpha=alpha, rng=rng
    )
    grid = distinct_scores(inputs) if thresholds is None else as_thresholds(thresholds)
    return compute_curve(
        *("precision_recall", inputs),
        places=places_between(grid, inputs.scores),
        flagged=flagged_at(len(grid)),
        quantities=(PRECISION, replace(SENSITIVITY, name="recall")),
        x=np.broadcast_to(grid, (len(inputs.learners), len(grid))),
        x_name="threshold",
        estimand="precision and recall at each threshold",
        notes=[ONE_SCALE] if len(inputs.learners) > 1 else [],
    )
