"""Losses by name: what a prediction costs, and what kind of prediction that needs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import check_choice
from ucvtest.data.output import OUTPUTS, Output

if TYPE_CHECKING:
    from ucvtest.data.sample import Sample

__all__ = [
    "ALIASES",
    "LOSSES",
    "Loss",
    "as_loss",
    "for_classes",
    "losses_where_tested",
    "matrix_loss",
    "output_of",
    "plural",
]


@dataclass(frozen=True)
class Loss:
    """A loss function with the kind of prediction that it scores.

    Parameters
    ----------
    name : str
        Shown in summaries.
    function : callable
        ``function(y, prediction)`` element by element on arrays that broadcast,
        ``y`` of shape (n,), ``prediction`` of shape (R, n); returns (R, n).
    output : {"label", "number", "probability", "score"}
        What the learner must predict: a class, a number, the probability of the positive
        class, or a score that rises with it.
    original_labels : bool
        Whether `function` gets the labels that the user gave, and not their numbers
        0, 1, ...
    estimand : str
        The expected loss in words.
    bounds : tuple of float, optional
        The smallest and the largest value that the loss can have, where there are both. They
        bound its variance, which some methods use.
    matrix : ndarray, optional
        Of a loss made by `matrix_loss`, shape (C, C).

    Raises
    ------
    ValueError
        If `function` is not callable, `output` is unknown, or the bounds are out of order.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.metrics.loss import LOSSES
    >>> LOSSES["zero_one"].function(np.array([0, 1]), np.array([[1, 1], [0, 0.5]]))
    array([[1. , 0. ],
           [0. , 0.5]])
    """

    name: str
    function: Callable[[np.ndarray, np.ndarray], np.ndarray]
    output: Output
    original_labels: bool = False
    estimand: str = ""
    bounds: tuple[float, float] | None = None
    matrix: np.ndarray | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"function must be callable, got {self.function!r}")
        check_choice("output", self.output, OUTPUTS)
        if self.bounds is not None and not -np.inf < self.bounds[0] < self.bounds[1] < np.inf:
            raise ValueError(f"bounds must be two finite numbers in order, got {self.bounds!r}")

    @property
    def in_words(self) -> str:
        """The expected loss, as summaries name it."""
        return self.estimand or f"expected {self.name} loss"

    @property
    def plural(self) -> str:
        """The expected losses of two learners, as summaries name them."""
        return plural(self.in_words)


def plural(words: str) -> str:
    """The expected losses of two learners, from that of one."""
    return words + ("es" if words.endswith("s") else "s")


def _zero_one(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    # A prediction half-way between two classes is a tie that the learner left open: it costs 1/2.
    undecided = prediction != np.floor(prediction)
    return np.where(undecided, 0.5, (prediction != y).astype(float))


def _squared(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return (prediction - y) ** 2


def _absolute(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return np.abs(prediction - y)


def _log(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    # The smallest positive step below 1 keeps a certain but wrong prediction finite (36.0).
    tiny = np.finfo(float).eps
    probability = np.clip(prediction, tiny, 1 - tiny)
    return -np.where(y == 1, np.log(probability), np.log1p(-probability))


def _log_of_several(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    tiny = np.finfo(float).eps
    true = np.broadcast_to(y.astype(int)[:, None], (*prediction.shape[:2], 1))
    probability = np.take_along_axis(prediction, true, axis=2)[..., 0]
    found: np.ndarray = -np.log(np.clip(probability, tiny, 1 - tiny))
    return found


def _brier_of_several(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    observed = y.astype(int)[:, None] == np.arange(prediction.shape[2])
    return ((prediction - observed) ** 2).sum(axis=2)


LOSSES = {
    loss.name: loss
    for loss in (
        Loss("zero_one", _zero_one, "label", estimand="error rate", bounds=(0.0, 1.0)),
        Loss("squared", _squared, "number", estimand="mean squared error"),
        Loss("absolute", _absolute, "number", estimand="mean absolute error"),
        Loss("log", _log, "probability", estimand="log loss"),
        Loss("brier", _squared, "probability", estimand="Brier score", bounds=(0.0, 1.0)),
    )
}

ALIASES = {
    "accuracy": "zero_one",
    "mae": "absolute",
    "mse": "squared",
    "log_loss": "log",
    "roc_auc": "auc",
}
"""Other names of losses. Of more than one spelling the one above is what results have."""

OF_SEVERAL = {
    loss.name: loss
    for loss in (
        Loss("log", _log_of_several, "probability", estimand="log loss"),
        Loss("brier", _brier_of_several, "probability", estimand="Brier score", bounds=(0.0, 2.0)),
    )
}
"""Losses of the probabilities of more than two classes, (R, n, C)."""


def for_classes(loss: Loss, n_classes: int) -> Loss:
    """The same loss for so many classes.

    Raises
    ------
    ValueError
        If it scores the probability of one of two classes, and there are more.
    """
    if loss.output != "probability" or n_classes <= 2 or loss in OF_SEVERAL.values():
        return loss
    if loss is not LOSSES.get(loss.name):
        raise ValueError(
            f"loss={loss.name!r} scores the probability of one of two classes, y has {n_classes}: "
            "use loss='log' or 'brier', or merge classes"
        )
    return OF_SEVERAL[loss.name]


def matrix_loss(matrix: Any) -> Loss:
    """The loss of predicting one class for another, from a matrix.

    Parameters
    ----------
    matrix : array, shape (C, C)
        ``matrix[true, predicted]``, classes in ascending order, the positive one last.

    Returns
    -------
    Loss

    Raises
    ------
    ValueError
        If it is no square matrix of finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.metrics.loss import matrix_loss
    >>> loss = matrix_loss([[0, 1], [5, 0]])  # to miss the second class is five times worse
    >>> loss.function(np.array([0, 1]), np.array([[1, 0], [1, 0.5]]))
    array([[1. , 5. ],
           [1. , 2.5]])
    """
    try:
        costs = np.array(as_numbers("loss", matrix))
    except ValueError as error:
        raise ValueError(
            f"loss must be a matrix of numbers, loss[true, predicted]: {error}"
        ) from error
    if costs.ndim != 2 or costs.shape[0] != costs.shape[1]:
        raise ValueError(
            f"loss must be a matrix of shape (C, C) for C classes, got shape {costs.shape}"
        )
    if not np.isfinite(costs).all():
        raise ValueError("loss is a matrix with NaN or infinity: every cost must be finite")
    costs.flags.writeable = False

    def cost(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
        true = y.astype(int)
        below, above = np.floor(prediction).astype(int), np.ceil(prediction).astype(int)
        # A prediction half-way between two classes is a tie left open: it costs the mean of both.
        return (costs[true, below] + costs[true, above]) / 2

    low, high = float(costs.min()), float(costs.max())
    bounds = (low, high) if low < high else None
    return Loss("matrix", cost, "label", estimand="expected cost", bounds=bounds, matrix=costs)


def as_loss(loss: Any, *, has_classes: bool) -> Loss:
    """The loss that a user means by a name, a callable, a `Loss`, or None.

    Parameters
    ----------
    loss : str, callable, Loss, matrix or None
        None means zero_one for classes and squared error for a real response.
        A matrix holds the loss of each prediction for each class: see `matrix_loss`.
        A callable ``loss(y, prediction)`` gets the user's own labels (or numbers).
    has_classes : bool
        Whether the response holds class labels.

    Returns
    -------
    Loss

    Raises
    ------
    ValueError
        If the name is unknown, or a matrix not square.
    """
    if isinstance(loss, (np.ndarray, list, tuple)) or hasattr(loss, "to_numpy"):
        return matrix_loss(loss)
    if loss is None:
        return LOSSES["zero_one" if has_classes else "squared"]
    if isinstance(loss, Loss):
        return loss
    if callable(loss):
        name = getattr(loss, "__name__", type(loss).__name__)
        name = "custom" if name == "<lambda>" else name
        return Loss(name, loss, "label" if has_classes else "number", original_labels=True)
    if isinstance(loss, str) and ALIASES.get(loss, loss) in LOSSES:
        return LOSSES[ALIASES.get(loss, loss)]
    raise ValueError(f"loss={loss!r} is unknown: use one of {', '.join(LOSSES)}, or a callable")


def output_of(loss: Any) -> Output | None:
    """What a loss that a user names scores; None for none, and for functions: they score either."""
    if loss is None or (callable(loss) and not isinstance(loss, Loss)):
        return None
    return as_loss(loss, has_classes=True).output


def losses_where_tested(
    loss: Loss, sample: "Sample", predictions: np.ndarray, testing: np.ndarray
) -> np.ndarray:
    """Losses of predictions; 0 for observations that are not tested.

    Parameters
    ----------
    loss : Loss
    sample : Sample
    predictions : ndarray, shape (R, n), or (R, n, C) for probabilities of C > 2 classes
        Labels 0, 1, ..., numbers, probabilities or scores; entries of untested observations are
        undefined.
    testing : ndarray of bool, shape (R, n)

    Returns
    -------
    ndarray of float, shape (R, n)

    Raises
    ------
    ValueError
        If an argument is of another kind, or the loss function returns another shape, NaN,
        infinity, or a value outside of its bounds.
    """
    _check_parts(loss, sample, predictions, testing)
    # For untested observations the loss gets a prediction that it can score.
    by_class = predictions.ndim == 3
    first = testing.argmax(axis=1)[:, None]
    shown = np.take_along_axis(predictions, first[..., None] if by_class else first, axis=1)
    is_tested = testing[..., None] if by_class else testing
    scored = _scored(loss, sample, np.where(is_tested, predictions, shown))
    found = as_numbers(f"what loss {loss.name} returned", scored)
    if found.shape != testing.shape:
        raise ValueError(
            f"loss {loss.name} returned shape {found.shape} for predictions of shape "
            f"{testing.shape}: it must work element by element on arrays"
        )
    if loss.bounds is not None:
        _check_bounds(loss, found[testing])
    found = np.where(testing, found, 0.0)
    if not np.isfinite(found).all():
        raise ValueError(f"loss {loss.name} returned NaN or infinity: bound it")
    return found


def _check_parts(loss: Any, sample: Any, predictions: Any, testing: Any) -> None:
    if not isinstance(loss, Loss):
        raise ValueError(f"loss must be a Loss, got {loss!r}: uv.losses.as_loss makes one")
    n_obs = getattr(sample, "n_obs", None)
    if n_obs is None:
        raise ValueError(f"sample must be the data of a test, got {type(sample).__name__}")
    first, second = np.shape(predictions), np.shape(testing)
    if loss.output == "probability" and sample.n_classes > 2:
        first = first[:2] if first[2:] == (sample.n_classes,) else first
    if first != second or len(second) != 2 or second[-1] != n_obs:
        raise ValueError(
            f"predictions and testing must be arrays of one shape (R, {n_obs}), got {first} and "
            f"{second}"
        )


def _scored(loss: Loss, sample: "Sample", predictions: np.ndarray) -> Any:
    """What the loss function returns for labels, numbers or probabilities."""
    if not loss.original_labels:
        return loss.function(sample.target, predictions)
    if loss.output != "label" or sample.classes is None:
        return loss.function(sample.response, predictions)
    below = np.floor(predictions).astype(int)
    found = loss.function(sample.response, sample.classes[below])
    undecided = predictions != below
    if not undecided.any():
        return found
    # A code half-way between two classes is a tie left open: it costs the mean of both.
    other = loss.function(sample.response, sample.classes[below + undecided])
    name = f"what loss {loss.name} returned"
    return (as_numbers(name, found) + as_numbers(name, other)) / 2


def _check_bounds(loss: Loss, values: np.ndarray) -> None:
    low, high = loss.bounds or (-np.inf, np.inf)
    if values.size and (values.min() < low or values.max() > high):
        raise ValueError(
            f"loss {loss.name} returned values from {values.min()} to {values.max()}, outside of "
            f"its bounds {loss.bounds}: correct the bounds"
        )
