"""Losses from the scores of resamples alone, as cross_val_score returns them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import LARGEST, AtLeast, check_size, check_switch, named_options
from ucvtest.common.words import arg, place
from ucvtest.designs.design import Design, folds_in_words
from ucvtest.losses.columns import Columns, as_rows, refuse_other_rows
from ucvtest.losses.from_predictions import SCORE, SCORE_IN_WORDS
from ucvtest.metrics.directions import direction_of_scores

if TYPE_CHECKING:
    from ucvtest.losses.table import Losses

LOSS, LOSS_IN_WORDS = "loss", "mean loss"
"""Parts of names of numbers that should be small."""

MAX_BYTES = 2**30
"""Most bytes of the design, which has a byte or two for every observation and resample."""


@named_options
def from_scores(
    cls: "type[Losses]",
    fold_scores: Mapping[str, Any],
    *,
    n_learn: Annotated[int, AtLeast(1)],
    n_test: Annotated[int, AtLeast(1)],
    design: Literal["kfold", "repeated_kfold", "splits"] = "kfold",
    n_folds: Annotated[int, AtLeast(2)] | None = None,
    greater_is_better: bool | None = None,
    score: str | None = None,
) -> "Losses":
    """Make losses from scores of resamples alone, such as the result of ``cross_val_score``.

    They suffice for tests that need one number for each resample: the corrected, naive and
    Bayesian t tests, and the tests of 5x2 cross-validation if the design is of this kind.
    Estimates stay in the units of the scores, with their sign. `greater_is_better`, or the name
    of the score, affects verdicts but no number.

    Parameters
    ----------
    fold_scores : mapping or DataFrame
        The name of each learner and its scores, in the order of the splits, which must be the
        same for all. In repeated cross-validation, one repetition follows the other.
    n_learn, n_test : int
        Numbers of observations in the learning set and in the test set of a split, to within
        one.
    design : {"kfold", "repeated_kfold", "splits"}
        The kind of splits; "splits" are random splits of the whole sample.
    n_folds : int, optional
        Needed for "repeated_kfold".
    greater_is_better : bool, optional
        Whether a good learner has high scores; False for errors and losses. By default the name
        in `score` decides. Without a name it is True, as for all scores of ``cross_val_score``.
    score : str, optional
        The name of the score, such as "accuracy", "r2" or "neg_mean_squared_error", or of a
        loss. A name that neither ucvtest nor scikit-learn knows needs `greater_is_better`.

    Raises
    ------
    ValueError
        If learners have different numbers of scores, a score is missing, or sizes and numbers
        of folds do not match.

    Notes
    -----
    The tested observations are not known, and `design` has only their numbers. If the indices
    are known, `from_sklearn` also uses the indices.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from sklearn.model_selection import KFold, cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import ucvtest as uv
    >>> X, y = load_iris(return_X_y=True)
    >>> folds = KFold(10, shuffle=True, random_state=0)
    >>> models = {"lda": LinearDiscriminantAnalysis(), "knn": KNeighborsClassifier()}
    >>> scores = {name: cross_val_score(each, X, y, cv=folds) for name, each in models.items()}
    >>> losses = uv.Losses.from_scores(scores, n_learn=135, n_test=15)
    >>> uv.CorrectedTTest.from_losses(losses).fit().estimand
    'difference in mean score when learning from 135 observations'
    """
    columns = Columns.of("fold_scores", fold_scores)
    rows: dict[str, np.ndarray] = {}
    for name, user_scores in columns.learners.items():
        label = f"fold_scores[{name!r:.60}]"
        row = rows[name] = as_numbers(label, user_scores)
        if row.ndim != 1 or not len(row):
            raise ValueError(
                f"{label} must contain one score for each split, got shape {row.shape}: use "
                ".ravel() of an array (repeats, folds)"
            )
        if not (np.abs(row) <= LARGEST).all():
            check_size(label, row)
        if not np.isfinite(row).all():
            raise ValueError(
                f"{label} has {row[~np.isfinite(row)][0]} for split "
                f"{place((~np.isfinite(row)).argmax())}: a fit failed, or a test set has no such "
                "score"
            )
    if any(hasattr(column, "iloc") for column in columns.learners.values()):
        refuse_other_rows(columns.by_argument)
    remedy = ": pass scores of the same splits for all learners"
    means = as_rows(rows, argument="fold_scores", unit="scores", remedy=remedy)
    n_resamples = means.shape[1]
    if greater_is_better is not None:
        check_switch("greater_is_better", greater_is_better)
    greater = True if greater_is_better is None else bool(greater_is_better)
    if score is not None:
        greater = direction_of_scores(score, greater_is_better)
    n_obs = int(n_learn) + int(n_test)
    if 2 * n_obs * n_resamples > MAX_BYTES:
        raise ValueError(
            f"n_learn + n_test = {n_obs} with {n_resamples} resamples needs too much "
            "memory: divide both by the same number; tests use only their ratio"
        )
    if design == "splits":
        if n_folds is not None:
            raise ValueError(
                f"{arg('n_folds')} does not apply with {arg('design', 'splits')}: leave it out"
            )
        # Always the same observations, so that the splits are not mistaken for a partition.
        testing = np.broadcast_to(np.arange(n_obs) >= n_learn, (n_resamples, n_obs))
        several = "s" if n_resamples > 1 else ""
        design_words = (
            f"{n_resamples} random split{several} that test {n_test} of {n_obs} observations"
        )
    else:
        if n_folds is None and design == "repeated_kfold":
            raise ValueError(
                f"{arg('n_folds')} must be given with {arg('design', 'repeated_kfold')}"
            )
        n_folds = n_resamples if n_folds is None else n_folds
        if n_resamples % n_folds or (design == "kfold" and n_resamples != n_folds):
            raise ValueError(
                f"{arg('n_folds', n_folds)} does not match {n_resamples} scores with "
                f"{arg('design', design)}: pass the scores of all folds, one repetition after the "
                f"other, and {arg('design', 'repeated_kfold')} for several"
            )
        smallest, remainder = divmod(n_obs, n_folds)
        if n_test not in (smallest, smallest + bool(remainder)) or not smallest:
            sizes = f"{smallest} or {smallest + 1}" if remainder else str(smallest)
            raise ValueError(
                f"{arg('n_test', n_test)} of {n_obs} = n_learn + n_test observations is not a fold "
                f"of {n_folds}, which have {sizes}: correct n_learn, n_test or {arg('n_folds')}, "
                f"or use {arg('design', 'splits')}"
            )
        # Placeholder observations, in folds of these sizes.
        folds = np.arange(n_obs) * n_folds // n_obs == np.arange(n_folds)[:, None]
        testing = np.tile(folds, (n_resamples // n_folds, 1))
        design_words = folds_in_words(n_folds, n_resamples // n_folds)
    name, in_words = (SCORE, SCORE_IN_WORDS) if greater else (LOSS, LOSS_IN_WORDS)
    if score is not None:
        name, in_words = score, f"mean {score}"
    return cls(
        design=Design(~testing, testing),
        learners=tuple(columns.learners),
        loss=name,
        means=means,
        in_words=in_words,
        settings={"source": "scores", "design": design_words},
        greater_is_better=greater,
    )
