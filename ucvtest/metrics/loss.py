"""A loss: a metric that is a mean over observations, so that lower values are better."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.words import arg, excerpt
from ucvtest.metrics.base import Metric, Units, with_ties

if TYPE_CHECKING:
    from ucvtest.data.sample import Sample


@dataclass(frozen=True)
class Loss(Metric):
    """A loss function with the kind of prediction that it scores.

    Parameters
    ----------
    name : str
        The name in summaries.
    function : callable
        ``function(y, prediction)`` element by element on arrays that broadcast,
        ``y`` of shape (n,), ``prediction`` of shape (R, n); returns (R, n).
    output : {"label", "number", "probability", "score"}
        What the learner must predict: a class, a number, the probability of the positive
        class, or a score that rises with it.
    original_labels : bool
        Whether `function` receives the labels that the user gave instead of their numbers 0, 1, ...
    estimand : str
        The expected loss in words.
    bounds : tuple of float, optional
        The smallest and the largest value of the loss, if both exist. They bound its variance,
        which some methods use.
    matrix : ndarray, optional
        The costs of a loss made by `matrix_loss`, shape (C, C).
    class_names : tuple, optional
        The classes of its rows and columns, if it was a table with names.

    Raises
    ------
    ValueError
        If `function` is not callable, `output` is unknown, or the bounds are out of order.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.losses import LOSSES
    >>> LOSSES["zero_one"].function(np.array([0, 1]), np.array([[1, 1], [0, 0.5]]))
    array([[1. , 0. ],
           [0. , 0.5]])
    """

    matrix: np.ndarray | None = field(default=None, compare=False)
    class_names: tuple[Any, ...] | None = field(default=None, compare=False)
    greater_is_better: bool = field(default=False, init=False)

    @property
    def of_one_class(self) -> bool:
        """Whether it scores a probability or a score of one class, or has costs that differ."""
        return self.orders_classes or super().of_one_class

    @property
    def orders_classes(self) -> bool:
        """Whether costs depend on the order of the classes: not all errors cost the same."""
        if self.matrix is None:
            return False
        errors = self.matrix[~np.eye(len(self.matrix), dtype=bool)]
        return len({*errors}) > 1 or len({*self.matrix.diagonal()}) > 1

    @property
    def _own_words(self) -> str:
        return self.estimand or f"mean {self.name} loss"

    def kept(
        self, sample: "Sample", predictions: np.ndarray, testing: np.ndarray, first: int = 0
    ) -> np.ndarray:
        """The loss of each tested observation; 0 for other observations."""
        return losses_where_tested(self, sample, predictions, testing)


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
        If an argument has a wrong type, or if the loss function returns a wrong shape, NaN,
        infinity, or a value outside its bounds.
    """
    _check_parts(loss, sample, predictions, testing)
    # For untested observations the loss receives a prediction that it can score.
    by_class = predictions.ndim == 3
    first = testing.argmax(axis=1)[:, None]
    filled_predictions = np.take_along_axis(
        predictions, first[..., None] if by_class else first, axis=1
    )
    is_tested = testing[..., None] if by_class else testing
    scored = _scored(loss, sample, np.where(is_tested, predictions, filled_predictions))
    losses = as_numbers(f"the result of loss {loss.name}", scored)
    if losses.shape != testing.shape:
        raise ValueError(
            f"loss {loss.name} returned shape {losses.shape} for predictions of shape "
            f"{testing.shape}: it must work element by element on arrays"
        )
    if loss.bounds is not None and (tested := losses[testing]).size:
        low, high = loss.bounds
        if tested.min() < low or tested.max() > high:
            raise ValueError(
                f"loss {loss.name} returned values from {tested.min()} to {tested.max()}, outside "
                f"its bounds {loss.bounds}: correct the bounds"
            )
    losses = np.where(testing, losses, 0.0)
    if not np.isfinite(losses).all():
        raise ValueError(f"loss {loss.name} returned NaN or infinity: bound it")
    return losses


def _check_parts(loss: Any, sample: Any, predictions: Any, testing: Any) -> None:
    if not isinstance(loss, Loss):
        raise ValueError(
            f"{arg('loss')} must be a Loss, got {excerpt(loss)}: ucvtest.losses.as_loss makes one"
        )
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
    """The result of the loss function for labels, numbers or probabilities."""
    # Functions that work in place change copies of the response.
    if not loss.original_labels:
        return loss.function(sample.target.copy(), predictions)
    if loss.output != "label" or sample.classes is None:
        return loss.function(sample.response.copy(), predictions)
    classes, name = sample.classes, f"the result of loss {loss.name}"
    return with_ties(
        lambda codes: as_numbers(name, loss.function(sample.response.copy(), classes[codes])),
        predictions,
    )


WEIGHTED = "weighted_"
"""Prefix of names of losses whose rows have weights."""


def weighted_metric(metric: Metric) -> Metric:
    """The same mean over rows with weights; it does not count errors."""
    units = metric.units
    if units is not None:
        units = replace(
            units, name=f"{WEIGHTED}{units.name}", estimand=f"weighted {units.estimand}"
        )
    return replace(
        metric,
        name=f"{WEIGHTED}{metric.name}",
        estimand=f"weighted {replace(metric, units=None).in_words}",
        units=units,
    )


def weighted_loss(metric: Metric) -> Metric:
    """The weighted mean of a loss that a user requests.

    Raises
    ------
    ValueError
        If the metric is not a mean of a loss.
    """
    if not isinstance(metric, Loss):
        raise ValueError(
            "weights in the loss are for means over observations, but "
            f"{metric.reported_name!r:.60} is not such a mean: pass weights for 'fit' alone, or "
            "another loss"
        )
    units = metric.units
    if units is not None and not units.greater_is_better:
        # Costs become values of a loss: higher costs are also worse.
        metric = replace(
            metric,
            name=units.name,
            function=partial(_changed, metric.function, units),
            estimand=units.estimand,
            bounds=metric.reported_bounds,
            units=None,
        )
    return weighted_metric(metric)


def _changed(function: Any, units: Units, y: np.ndarray, prediction: np.ndarray) -> Any:
    return units.of(function(y, prediction))
