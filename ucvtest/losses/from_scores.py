"""Losses from the scores of resamples alone, as cross_val_score returns them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import (
    LARGEST,
    at_least,
    check_choice,
    check_size,
    check_switch,
    named_options,
)
from ucvtest.designs.design import Design, folds_in_words
from ucvtest.losses.from_predictions import SCORE, SCORE_IN_WORDS
from ucvtest.losses.validation import by_name, refuse_other_rows
from ucvtest.metrics.directions import direction_of_scores

__all__ = ["FromScores"]

LOSS, LOSS_IN_WORDS = "loss", "expected loss"
"""What numbers are called of which smaller ones are better."""

DESIGNS = ("kfold", "repeated_kfold", "splits")

MAX_BYTES = 2**30
"""Of the design, which has a byte or two for every observation and resample."""


class FromScores:
    """Losses made of the scores of resamples."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None: ...

    @classmethod
    @named_options
    def from_scores(
        cls,
        fold_scores: Mapping[str, Any],
        *,
        n_learn: int,
        n_test: int,
        design: str = "kfold",
        n_folds: int | None = None,
        greater_is_better: bool | None = None,
        score: str | None = None,
    ) -> Self:
        """The scores of resamples alone, such as those that ``cross_val_score`` returned.

        They suffice for the tests that need no more than a number for each resample: corrected,
        naive and Bayesian t test, and those of 5x2 cross-validation where the design is that.
        Estimates stay in the units of the scores, with their sign; `greater_is_better`, or the
        name of the score, decides what verdicts say, and no number.

        Parameters
        ----------
        fold_scores : mapping or DataFrame
            Name of each learner and its scores, in the order of the splits, which must be the same
            for all; of repeated cross-validation one repetition after the other.
        n_learn, n_test : int
            Observations that a split learns from and tests, to within one.
        design : {"kfold", "repeated_kfold", "splits"}
            What the splits are; "splits" are random ones of the whole sample.
        n_folds : int, optional
            Needed for "repeated_kfold".
        greater_is_better : bool, optional
            Whether a good learner has high scores; False for errors and losses. By default what
            `score` says, and without a name True, as of all that ``cross_val_score`` returns.
        score : str, optional
            What was scored, such as "accuracy", "r2" or "neg_mean_squared_error", or a loss. A
            name of which it is not known what is better needs `greater_is_better`.

        Raises
        ------
        ValueError
            If learners have different numbers of scores, a score is missing, or sizes and numbers
            of folds do not fit.

        Notes
        -----
        Which observations were tested is not known, and `design` has their numbers alone. Where
        the indices are known, `from_sklearn` takes these too.

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
        'difference of unconditional expected scores at learning-set size 135'
        """
        columns = by_name("fold_scores", fold_scores)
        rows = {name: _row(name, user_scores) for name, user_scores in columns.items()}
        named = {
            name: fold_series
            for name, fold_series in columns.items()
            if hasattr(fold_series, "iloc")
        }
        if len(named) > 1:
            refuse_other_rows(
                {f"fold_scores[{name!r:.60}]": fold_series for name, fold_series in named.items()}
            )
        n_resamples = len(next(iter(rows.values())))
        for name, row in rows.items():
            if len(row) != n_resamples:
                raise ValueError(
                    f"fold_scores[{name!r:.60}] has {len(row)} scores, where {n_resamples} are "
                    "needed: pass those of the same splits for all learners"
                )
        if greater_is_better is not None:
            check_switch("greater_is_better", greater_is_better)
        greater = True if greater_is_better is None else bool(greater_is_better)
        if score is not None:
            greater = direction_of_scores(score, greater_is_better)
        sizes = at_least("n_learn", n_learn, 1), at_least("n_test", n_test, 1)
        check_choice("design", design, DESIGNS)
        if 2 * sum(sizes) * n_resamples > MAX_BYTES:
            raise ValueError(
                f"n_learn + n_test = {sum(sizes)} with {n_resamples} resamples takes too much "
                "memory: divide both by the same number, as the tests use their ratio"
            )
        if design != "splits":
            implied_design, design_words = _cross_validation(n_resamples, *sizes, design, n_folds)
        elif n_folds is None:
            implied_design, design_words = _random_splits(n_resamples, *sizes)
        else:
            raise ValueError("n_folds does not apply with design='splits': leave it out")
        name, in_words = (SCORE, SCORE_IN_WORDS) if greater else (LOSS, LOSS_IN_WORDS)
        if score is not None:
            name, in_words = score, f"expected {score}"
        return cls(
            design=implied_design,
            learners=tuple(rows),
            loss=name,
            means=np.stack(list(rows.values())),
            in_words=in_words,
            settings={"source": "scores", "design": design_words},
            greater_is_better=greater,
        )


def _row(name: str, user_scores: Any) -> np.ndarray:
    label = f"fold_scores[{name!r:.60}]"
    row = as_numbers(label, user_scores)
    if row.ndim != 1 or not len(row):
        raise ValueError(
            f"{label} must contain one score for each split, got shape {row.shape}: use .ravel() "
            "of an array (repeats, folds)"
        )
    if not (np.abs(row) <= LARGEST).all():
        check_size(label, row)
    if not np.isfinite(row).all():
        raise ValueError(
            f"{label} has {row[~np.isfinite(row)][0]} for split {int((~np.isfinite(row)).argmax())}"
            ": a fit failed (see error_score='raise'), or a test set has no such score"
        )
    return row


def _random_splits(n_resamples: int, n_learn: int, n_test: int) -> tuple[Design, str]:
    """Splits of these sizes, whose observations stand for others, and what they are called."""
    n_obs = n_learn + n_test
    # Always the same observations, so that nothing is taken for a partition of the sample.
    testing = np.broadcast_to(np.arange(n_obs) >= n_learn, (n_resamples, n_obs))
    several = "s" if n_resamples > 1 else ""
    design_words = f"{n_resamples} random split{several} that test {n_test} of {n_obs} observations"
    return Design(~testing, testing), design_words


def _cross_validation(
    n_resamples: int, n_learn: int, n_test: int, kind: str, n_folds: Any
) -> tuple[Design, str]:
    """Folds of these sizes, whose observations stand for others, and what they are called."""
    if n_folds is None:
        if kind == "repeated_kfold":
            raise ValueError("n_folds must be given with design='repeated_kfold'")
        n_folds = n_resamples
    n_folds = at_least("n_folds", n_folds, 2)
    if n_resamples % n_folds or (kind == "kfold" and n_resamples != n_folds):
        raise ValueError(
            f"n_folds={n_folds} does not fit {n_resamples} scores with design={kind!r}: pass the "
            "scores of all folds, those of one repetition next to each other; "
            "design='repeated_kfold' for several"
        )
    n_obs, n_repeats = n_learn + n_test, n_resamples // n_folds
    smallest, remainder = divmod(n_obs, n_folds)
    if n_test not in (smallest, smallest + bool(remainder)) or not smallest:
        sizes = f"{smallest} or {smallest + 1}" if remainder else str(smallest)
        raise ValueError(
            f"n_test={n_test} of {n_obs} = n_learn + n_test observations is not a fold of "
            f"{n_folds}, which have {sizes}: correct n_learn, n_test or n_folds, or use "
            "design='splits'"
        )
    folds = np.arange(n_obs) * n_folds // n_obs == np.arange(n_folds)[:, None]
    testing = np.tile(folds, (n_repeats, 1))
    return Design(~testing, testing), folds_in_words(n_folds, n_repeats)
