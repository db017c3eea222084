"""The ROC curve: sensitivity and specificity at every threshold."""

from typing import Any

import numpy as np

from ucvtest.common.checks import named_options
from ucvtest.common.notes import Note
from ucvtest.curves.compute import compute_curve, flagged_at, places_between
from ucvtest.curves.inputs import as_thresholds, distinct_scores, read_inputs
from ucvtest.curves.points import SENSITIVITY, SPECIFICITY
from ucvtest.curves.result import Curve

ONE_SCALE = Note(
    "The difference compares both learners at the same threshold. It is meaningful only if their "
    "scores are on one scale, such as probabilities.",
    "The difference is meaningful only if the scores of both are on one scale.",
    importance=1,
)

POOLED = (
    "Scores of all folds are compared with the same thresholds. The area under this curve is not "
    "the cross-validated AUC, which ranks within folds."
)


@named_options
def roc(
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
    """ROC curve of one rule or two, or of learners, with a confidence region.

    Parameters
    ----------
    y : array-like, shape (n,), str, or Losses
        Labels of any type. A string here, and in `groups` and `fold`, names a column of
        `predictions`. Losses of `uv.evaluate` take the place of labels and predictions if they keep
        scores, as with ``loss="auc"``, or probabilities, as with ``metric="brier_skill"``. Their
        design decides what the curve is about: the learners with `uv.designs.DisjointSets`,
        otherwise the rules learnt in one round of cross-validation, or from one split.
    predictions : mapping, DataFrame or path; with losses a str or list, optional
        The names of one or two rules, each with its n scores. High scores mean the positive class.
        `Losses.from_predictions` takes the same input for the AUC. With losses, the names of one or
        two of their learners; by default all.
    pos_label : optional
        The positive class. For labels 0 and 1, False and True, or -1 and 1 it is the larger one;
        for other labels it must be named.
    groups : array-like, shape (n,), or str, optional
        The cluster of each row.
    fold : array-like, shape (n,), or str, optional
        The fold that tested each row, for out-of-fold predictions from one round of
        cross-validation; see `Losses.from_predictions`.
    thresholds : array-like, optional
        By default all scores that occur, at most 100 of them, or 40 for learners.
    alpha : float
        One minus the level.
    rng : int or Generator
        Seed of the 5000 draws behind the intervals for all points. The default always gives the
        same band.

    Returns
    -------
    Curve
        Bands of "sensitivity" and "specificity" by threshold, in ascending order.

    Raises
    ------
    ValueError
        If `y` has one class, values are missing, or inputs do not match; or if losses keep no
        scores, or their design is none of those above.

    Notes
    -----
    **Estimand.** At each threshold c, the probability that a positive has a score of c or more
    (sensitivity), and that a negative has a lower one (specificity). With `fold`, the estimand is
    about the rules learnt here, and rows are pooled over the folds. For a learner it is the mean of
    these probabilities over all rules that it learns from samples of one size. Precision and other
    ratios are those of the mean counts.

    **Intervals.** ``low`` and ``high`` contain each quantity at one threshold that was chosen
    beforehand. They use the rule of "plus four", as in `HoldOutTest` for a metric. ``low_all`` and
    ``high_all`` contain all sensitivities and specificities of the grid at once (sup-t: the
    quantile of the largest studentised error, drawn with the correlations of the influence values).
    At each threshold they form a rectangle. The picture joins the rectangles to a region that
    contains the whole curve. Campbell (1994) does so with Kolmogorov-Smirnov bands of both score
    distributions, whose width is the same everywhere.

    Intervals of a learner also allow for learning from another sample. The standard error of each
    point is that of `UStatisticTest` for the metric at this threshold, with ``variance="few"``, and
    has degrees of freedom of its own. Errors due to learning are assumed to have the same
    correlations as errors due to testing, which any number of rules shows. Intervals for
    differences have observations added, and are up to three times as wide as those of that test if
    the learners mostly agree.

    Sensitivity at a fixed *specificity* has no band here: it also needs the slope of the curve,
    which small samples do not show. Choose a threshold instead, or use the partial AUC.

    **Assumptions.** Rows, or clusters, are independent. The rules did not learn from the rows that
    they score. The difference of two rules is taken at the same threshold, which needs scores on
    one scale.

    **Coverage.** With few clusters the region is too small. With 15 clusters it contained the whole
    curve in 91% of simulated samples, with 40 in 96%. The region of a learner contained it in 92 to
    96% (91% with 40 clusters), and intervals for one threshold in 93% or more. Those for all
    thresholds of a difference of two learners are too short with 60 rows (86 to 90%).

    **Cost.** No model is fitted. The time grows in proportion to the rows, plus a fifth of a
    second. The curves of two learners and their difference take half a second for 100 pairs of
    rules and 120 rows, and two seconds for 500 pairs and 240 rows.

    References
    ----------
    Campbell, G. (1994). Advances in statistical methodology for the evaluation of diagnostic and
    laboratory tests. Statistics in Medicine 13, 499-508.

    Fawcett, T. (2006). An introduction to ROC analysis. Pattern Recognition Letters 27, 861-874.

    Montiel Olea, J. L. and Plagborg-Moller, M. (2019). Simultaneous confidence bands: theory,
    implementation, and an application to SVARs. Journal of Applied Econometrics 34, 1-17.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> curve = uv.curves.roc(y, {"marker": [0.1, 0.4, 0.2, 0.6, 0.5, 0.9, 0.3, 0.8]})
    >>> curve
    Curve(kind='roc', learners=('marker',), n_obs=8, 8 points)
    >>> curve.band(quantity="sensitivity").estimate.tolist()
    [1.0, 1.0, 1.0, 0.75, 0.75, 0.5, 0.5, 0.25]

    Two learners, from 20 fits of each:

    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = (values[:80] for values in load_breast_cancer(return_X_y=True))
    >>> design = uv.designs.DisjointSets(39, n_draws=10)
    >>> losses = uv.evaluate(["lda", "nearest_centroid"], X[:, :3], y, design, loss="auc", rng=0)
    >>> uv.curves.roc(losses).learners
    ('lda', 'nearest_centroid')
    """
    inputs = read_inputs(
        y, predictions, pos_label=pos_label, groups=groups, fold=fold, alpha=alpha, rng=rng
    )
    grid = distinct_scores(inputs) if thresholds is None else as_thresholds(thresholds)
    notes = [ONE_SCALE] if len(inputs.learners) > 1 else []
    return compute_curve(
        *("roc", inputs),
        places=places_between(grid, inputs.scores),
        flagged=flagged_at(len(grid)),
        quantities=(SENSITIVITY, SPECIFICITY),
        x=np.broadcast_to(grid, (len(inputs.learners), len(grid))),
        x_name="threshold",
        estimand="sensitivity and specificity at each threshold",
        notes=[*notes, POOLED] if inputs.n_folds else notes,
    )
