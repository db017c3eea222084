"""Metrics by the names, functions and matrices that users pass."""

from dataclasses import replace
from typing import Any

import numpy as np

from ucvtest.common.words import arg, term
from ucvtest.data.output import Output
from ucvtest.metrics.base import Metric
from ucvtest.metrics.directions import names_a_score
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.matrix import cost_of_errors, errors_at, matrix_loss
from ucvtest.metrics.means import LOSSES, LOSSES_OF_SKLEARN, SCORES_OF_LOSSES
from ucvtest.metrics.named import SMOOTH, as_smooth_metric
from ucvtest.metrics.ranks import AUC, AUC_NAME
from ucvtest.metrics.recorded import known_metric
from ucvtest.metrics.set_scores import SetScore
from ucvtest.metrics.unknown_names import LOSS_ALIASES as ALIASES
from ucvtest.metrics.unknown_names import unknown_loss


def as_loss(loss: Any, *, has_classes: bool, other_names: tuple[str, ...] = ()) -> Loss:
    """The loss that a user names by a name, a callable, a `Loss`, or None.

    Parameters
    ----------
    loss : str, callable, Loss, matrix or None
        None means zero_one for classes and squared error for a real response.
        A matrix contains the loss of each prediction for each class: see `matrix_loss`.
        A callable ``loss(y, prediction)`` receives the user's own labels (or numbers).
    has_classes : bool
        Whether the response contains class labels.
    other_names : tuple of str
        What the user may also name here, for the message.

    Returns
    -------
    Loss

    Raises
    ------
    ValueError
        If the name is unknown, or a matrix is not square.
    """
    if is_matrix(loss):
        return matrix_loss(loss)
    if loss is None:
        return LOSSES["zero_one" if has_classes else "squared"]
    if callable(loss):
        name = getattr(loss, "__name__", type(loss).__name__)
        name = "custom" if name == "<lambda>" else name
        if _is_of_sklearn(loss):
            return _of_sklearn(name)
        if names_a_score(name):
            raise ValueError(
                f"{arg('loss')} is the function {name}, which has the name of a score, but losses "
                f"should be small: pass {term('a scorer from sklearn.metrics.make_scorer')} as "
                f"{arg('scoring')} for a score, or rename a loss"
            )
        return Loss(name, loss, "label" if has_classes else "number", original_labels=True)
    metric = metric_of(loss)
    if isinstance(metric, Loss):
        return metric
    raise unknown_loss(loss, (*LOSSES, *other_names), SMOOTH)


OF_SKLEARN = {
    **LOSSES_OF_SKLEARN,
    "zero_one_loss": LOSSES["zero_one"],
    "hamming_loss": LOSSES["zero_one"],
    "brier_score_loss": LOSSES["brier"],
}
"""Losses by the names of scikit-learn's functions."""


def _is_of_sklearn(loss: Any) -> bool:
    return callable(loss) and str(getattr(loss, "__module__", "")).startswith("sklearn.metrics.")


def _of_sklearn(name: str) -> Loss:
    """The loss behind one of scikit-learn's functions, which return one number for all rows."""
    if name not in OF_SKLEARN:
        raise ValueError(
            f"{arg('loss')} is scikit-learn's function {name}, which is a score, or not a mean "
            "over observations: pass the name of the score, or make_scorer(...), as scoring"
        )
    return OF_SKLEARN[name]


def canonical(loss: Any) -> Any:
    """The canonical form: a name without aliases, or the loss of a matrix or function."""
    if isinstance(loss, str):
        return ALIASES.get(loss, loss)
    if is_matrix(loss):
        loss_of_matrix = matrix_loss(loss)
        assert loss_of_matrix.matrix is not None
        cost = cost_of_errors(loss_of_matrix.matrix)
        return loss_of_matrix if cost is None else errors_at(cost, loss_of_matrix.matrix)
    return _of_sklearn(loss.__name__) if _is_of_sklearn(loss) else loss


def metric_or_loss(metric: Any) -> Any:
    """The meaning of `metric=`: a function of means, a loss or its score by name, or the AUC."""
    if isinstance(metric, str) and metric in SCORES_OF_LOSSES:
        return SCORES_OF_LOSSES[metric]
    known = isinstance(metric, str) and metric_of(metric) is not None
    return metric if known else as_smooth_metric(metric)


def is_matrix(loss: Any) -> bool:
    """Whether a loss is given as a matrix of costs."""
    return isinstance(loss, (np.ndarray, list, tuple)) or hasattr(loss, "to_numpy")


def as_metric(loss: Any, *, has_classes: bool) -> Metric:
    """The metric that a user names by `loss`: anything for `as_loss`, "auc", or a `Metric`.

    Raises
    ------
    ValueError
        If the name is unknown, or a matrix is not square.
    """
    if isinstance(loss, SetScore) and not loss.fixed_output and not has_classes:
        return replace(loss, output="number")
    metric = metric_of(loss)
    return metric or as_loss(loss, has_classes=has_classes, other_names=(AUC_NAME,))


def output_of(loss: Any) -> Output | None:
    """The kind of prediction that the user's `loss` needs.

    None if the response decides it: without a loss, for functions, and for scores of any
    prediction.
    """
    if loss is None or (isinstance(loss, SetScore) and not loss.fixed_output):
        return None
    if _is_of_sklearn(loss):
        return _of_sklearn(loss.__name__).output
    if callable(loss) and not isinstance(loss, Metric):
        return None
    return as_metric(loss, has_classes=True).output


def metric_of(loss: Any) -> Metric | None:
    """The metric that a user means by a metric, a name or another name; None for anything else."""
    if isinstance(loss, Metric):
        return loss
    return known_metric(ALIASES.get(loss, loss) if isinstance(loss, str) else None)


def is_auc(loss: Any) -> bool:
    """Whether areas under the ROC curve are requested instead of losses."""
    return metric_of(loss) is AUC


def wants_every_class(loss: Any, *, has_classes: bool) -> bool:
    """Whether test sets should have all classes in proportion, as scores need them."""
    if is_auc(loss) or not isinstance(loss, Metric):
        return is_auc(loss)
    return loss.needs_every_class and (has_classes or loss.of_survival)
