"""What curves are made of: labels and predictions, read and validated once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array, as_numbers
from ucvtest.common.checks import check_is_float, check_number
from ucvtest.common.execution import make_generator
from ucvtest.curves.fields import DIFFERENCE
from ucvtest.data.files import read_table
from ucvtest.data.groups import Groups, as_groups
from ucvtest.data.sample import count_missing
from ucvtest.losses.table import Losses
from ucvtest.losses.validation import refuse_other_rows

__all__ = ["Inputs", "as_thresholds", "distinct_scores", "read_inputs"]

MOST_LEARNERS = 2

MOST_POINTS = 100
"""Of a curve, where the user names none: thresholds between them change little."""

LARGEST_SEED = 2**31
"""Above the seeds that are drawn from a Generator."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """What one or two rules predicted for the same rows.

    Parameters
    ----------
    positive : ndarray of bool, shape (n,)
    scores : ndarray, shape (L, n)
    learners : tuple of str
    groups : Groups or None
    n_folds : int
        0 where the rules are fixed.
    pos_label : object
        The positive class, as settings have it.
    alpha : float
    seed : int
    """

    positive: np.ndarray
    scores: np.ndarray
    learners: tuple[str, ...]
    groups: Groups | None
    n_folds: int
    pos_label: Any
    alpha: float
    seed: int


def read_inputs(
    y: Any,
    predictions: Any,
    *,
    pos_label: Any,
    groups: Any,
    fold: Any,
    alpha: Any,
    rng: Any,
    probabilities: bool = False,
) -> Inputs:
    """Read what all curves take; see `roc`.

    Raises
    ------
    ValueError
        If anything cannot be used.
    """
    check_is_float("alpha", alpha, "0.05")
    check_number("alpha", alpha, low=1e-6, high=0.5)
    generator, seed = make_generator(rng)
    if isinstance(fold, str):
        predictions, fold = _without_column(predictions, fold)
    try:
        losses = Losses.from_predictions(
            y, predictions, loss="auc", groups=groups, pos_label=pos_label
        )
    except ValueError as error:
        # What is asked for is not called a loss here.
        raise ValueError(str(error).replace("loss='auc'", "a curve")) from error
    if len(losses.learners) > MOST_LEARNERS:
        raise ValueError(
            f"predictions holds {len(losses.learners)} rules: a curve shows one rule, or two and "
            "their difference; pass two of them at a time"
        )
    if DIFFERENCE in losses.learners:
        raise ValueError(
            f"predictions has the key {DIFFERENCE!r}, which here means one rule minus the other: "
            "give it another name"
        )
    scores, target = losses.known_values, losses.target
    assert target is not None
    if not np.isfinite(scores).all():
        raise ValueError(
            "predictions holds infinite scores, which lie on one side of every threshold: replace "
            "them by finite numbers beyond all others"
        )
    if probabilities and (scores.min() < 0 or scores.max() > 1):
        raise ValueError(
            f"predictions goes from {scores.min():.3g} to {scores.max():.3g}, but probabilities "
            "lie between 0 and 1: pass predict_proba(X)[:, 1], or use uv.curves.roc for other "
            "scores"
        )
    known = None if losses.groups is None else as_groups(losses.groups, len(target))
    refuse_other_rows({name: each for name, each in (("y", y), ("fold", fold)) if each is not None})
    return Inputs(
        positive=target == 1,
        scores=scores,
        learners=losses.learners,
        groups=known,
        n_folds=_count_folds(fold, known, len(target)),
        pos_label=losses.settings.get("pos_label"),
        alpha=float(alpha),
        seed=int(generator.integers(LARGEST_SEED)) if seed is None else seed,
    )


def _without_column(predictions: Any, fold: str) -> tuple[Any, Any]:
    """A table, which may be in a file, and the column with the folds."""
    if isinstance(predictions, (str, Path)):
        predictions = read_table(predictions)
    if not hasattr(predictions, "columns") or fold not in predictions.columns:
        raise ValueError(
            f"fold={fold!r:.60} is no column of predictions: pass the fold of each row, or a "
            "DataFrame that has this column"
        )
    return predictions.drop(columns=[fold]), predictions[fold]


def _count_folds(fold: Any, groups: Groups | None, n_obs: int) -> int:
    """How many folds tested the rows; 0 where none are named."""
    if fold is None:
        return 0
    given = as_array("fold", fold)
    if given.shape != (n_obs,):
        raise ValueError(
            f"fold must name the fold that tested each of {n_obs} rows, got shape {given.shape}: "
            "pass one round of repeated cross-validation at a time"
        )
    labels, n_missing = given.tolist(), count_missing(given)
    if n_missing:
        raise ValueError(f"fold has {n_missing} missing values: drop these rows for all rules")
    number = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    if len(number) < 2:
        raise ValueError(
            f"fold names one fold only ({labels[0]!r}): leave it out if the rules are fixed"
        )
    if groups is not None:
        groups.common("fold", np.array([number[label] for label in labels]))
    return len(number)


def as_thresholds(given: Any, *, low: float = -np.inf, high: float = np.inf) -> np.ndarray:
    """Thresholds that a user names, in ascending order, each once.

    Raises
    ------
    ValueError
        If there are none, or not all lie strictly between `low` and `high`.
    """
    found = np.unique(np.atleast_1d(as_numbers("thresholds", given)))
    if found.size and (low < found).all() and (found < high).all():
        return found
    between = "finite numbers" if np.isinf(high) else f"numbers above {low:g} and below {high:g}"
    raise ValueError(f"thresholds must hold {between}, got {given!r:.60}")


def distinct_scores(scores: np.ndarray) -> np.ndarray:
    """All scores that occur, or as many of them as a curve has points."""
    found = np.unique(scores)
    if len(found) <= MOST_POINTS:
        return found
    return found[np.linspace(0, len(found) - 1, MOST_POINTS).round().astype(int)]
