"""Metrics of your own: functions of the confusion matrix, or of means."""

import math
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Literal

import numpy as np

from ucvtest.common.checks import check_choice, check_switch
from ucvtest.metrics.differences import OwnFunction
from ucvtest.metrics.named import named_smooth_metric
from ucvtest.metrics.smooth import Cells, Moments, SmoothMetric


def own_cells(
    function: Callable[[np.ndarray], Any],
    name: str | None = None,
    *,
    limits: tuple[float, float] = (-math.inf, math.inf),
    greater_is_better: bool = True,
) -> SmoothMetric:
    """A metric of your own: a function of the confusion matrix.

    Parameters
    ----------
    function : callable
        Any function of a NumPy array that takes the matrix of shares (C, C), with true classes in
        rows in ascending order, and returns a number. It must be smooth for positive shares. Its
        gradient is computed by differences of the fourth order, not by JAX: each share has a step
        of its own and moves at the expense of the others, so that shares stay between 0 and 1 and
        sum to 1. If half the step changes the standard error by a thousandth of it, the function is
        refused. A function of JAX is computed in float64.
    name : str, optional
        By default the name of the function.
    limits : tuple of float
        The smallest and the largest value. Other values are refused.
    greater_is_better : bool

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Notes
    -----
    Predicted labels that do not occur in `y` are additional columns, with rows of zeros. A rule has
    only the columns of labels that it predicts itself, whatever other rules predict. Losses of
    such a metric cannot be saved, because files do not contain functions.

    Examples
    --------
    >>> import ucvtest as uv
    >>> def youden(table):
    ...     (tn, fp), (fn, tp) = table
    ...     return tp / (tp + fn) + tn / (tn + fp) - 1
    >>> metric = uv.metrics.Cells(youden, limits=(-1, 1))
    >>> y, a = [1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 1, 1]
    >>> losses = uv.Losses.from_predictions(y, {"a": a}, metric=metric)
    >>> round(uv.HoldOutTest.from_losses(losses).fit().estimate, 6)
    0.25
    """
    _check_own(limits, greater_is_better, function=function)
    name = _own_name(function, name)
    own_function = OwnFunction(name, _number_from(function, name), limits)
    return SmoothMetric(
        name,
        estimand=name,
        made_for=lambda classes: Cells(own_function, len(classes)),
        greater_is_better=greater_is_better,
        limits=limits,
    )


def own_moments(
    parts: Callable[[np.ndarray, np.ndarray], np.ndarray],
    function: Callable[[np.ndarray], Any],
    name: str | None = None,
    *,
    output: Literal["number", "probability"] = "number",
    limits: tuple[float, float] = (-math.inf, math.inf),
    greater_is_better: bool = True,
) -> SmoothMetric:
    """A metric of your own: a function of means.

    Parameters
    ----------
    parts : callable
        A function of response and predictions (n,) that returns the numbers of each observation,
        (n, k).
    function : callable
        A function of their means (k,) that returns a number. Its gradient is computed by
        differences, as in `Cells`; means move as they vary together in the data, by a small part of
        their standard errors.
    name, limits, greater_is_better
        See `Cells`.
    output : {"number", "probability"}
        The kind of prediction; with probabilities the response is 0 or 1.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Examples
    --------
    Calibration in the large, observed divided by expected events:

    >>> import numpy as np
    >>> import ucvtest as uv
    >>> metric = uv.metrics.Moments(
    ...     lambda y, p: np.stack([y, p], axis=-1),
    ...     lambda means: means[0] / means[1],
    ...     "observed over expected",
    ...     output="probability",
    ... )
    >>> y, p = [1, 1, 0, 0, 1, 0], [0.8, 0.6, 0.3, 0.1, 0.5, 0.2]
    >>> losses = uv.Losses.from_predictions(y, {"p": p}, metric=metric)
    >>> round(uv.HoldOutTest.from_losses(losses).fit().estimate, 6)
    1.2
    """
    _check_own(limits, greater_is_better, parts=parts, function=function)
    check_choice("output", output, ("number", "probability"))
    name = _own_name(function, name)
    number, computed = _number_from(function, name), _in_double(parts)

    def numbers(y: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        returned = np.asarray(computed(y, predictions))
        if returned.shape[:-1] != np.shape(y) or returned.dtype.kind not in "iufb":
            raise ValueError(
                f"parts of the metric {name!r:.60} must return a row of numbers for each "
                f"observation, shape {(*np.shape(y), 'k')}, got shape {returned.shape}: use "
                "np.stack([...], axis=-1)"
            )
        return returned

    def values(means: np.ndarray) -> np.ndarray:
        rows = means.reshape(-1, means.shape[-1])
        return np.array([number(row) for row in rows]).reshape(means.shape[:-1])

    moments = Moments(numbers, OwnFunction(name, number, limits), values)
    return SmoothMetric(
        name,
        parts,
        output,
        estimand=name,
        made_for=lambda classes: moments,
        greater_is_better=greater_is_better,
        limits=limits,
    )


def _in_double(user_function: Callable[..., Any]) -> Callable[..., Any]:
    """The user's function, in float64 if JAX is loaded, because it may be a function of JAX."""

    def computed(*arguments: np.ndarray) -> Any:
        # A function of NumPy does not need JAX, and metrics do not import it.
        jax: Any = sys.modules.get("jax")
        with nullcontext() if jax is None else jax.enable_x64(True):
            # Code that works in place changes copies.
            returned = user_function(*map(np.array, arguments))
            # Outside the block JAX would treat its own arrays as float32.
            return returned if returned is None else np.asarray(returned)

    return computed


def _number_from(
    user_function: Callable[[np.ndarray], Any], name: str
) -> Callable[[np.ndarray], float]:
    """The user's function, which must return one number."""
    computed = _in_double(user_function)

    def number(means: np.ndarray) -> float:
        returned = computed(means)
        if returned is None or returned.shape or returned.dtype.kind not in "iufb":
            raise ValueError(
                f"function of the metric {name!r:.60} must return one number, got {returned!r:.60}"
            )
        return float(returned)

    return number


def _check_own(limits: Any, greater_is_better: Any, **functions: Any) -> None:
    """Refuse functions that cannot be called, and invalid limits."""
    for argument, user_function in functions.items():
        if not callable(user_function):
            raise ValueError(f"{argument} must be a function, got {user_function!r:.60}")
    two = isinstance(limits, (tuple, list)) and len(limits) == 2
    if not two or not all(isinstance(limit, (int, float)) for limit in limits):
        raise ValueError(f"limits must be the smallest and the largest value, got {limits!r:.60}")
    if not limits[0] < limits[1]:
        raise ValueError(f"limits must be two numbers in order, got {limits!r:.60}")
    check_switch("greater_is_better", greater_is_better)


def _own_name(user_function: Any, name: Any) -> str:
    metric_name = getattr(user_function, "__name__", "") if name is None else name
    if not isinstance(metric_name, str) or not metric_name.strip() or metric_name == "<lambda>":
        raise ValueError(
            f"name must be a string with text for a function without one, got {name!r:.60}"
        )
    if named_smooth_metric(metric_name) is not None:
        raise ValueError(f"name={metric_name!r:.60} has another meaning here: use another name")
    return metric_name
