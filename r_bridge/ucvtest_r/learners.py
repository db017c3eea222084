"""R functions as learners and losses."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ucvtest.learners import SplitLearner
from ucvtest_r import interrupts
from ucvtest_r.conditions import RConditionError
from ucvtest_r.conversion import to_r, vector

__all__ = ["RFunctionLearner", "RFunctionLoss"]


class RFunctionLearner(SplitLearner):
    """A learner that is a function of the R session that Python runs in.

    Parameters
    ----------
    name : str
        How R users write the function.
    predict : R function
        ``function(learning, testing)`` with row numbers from 1. It returns what `call_r` reads.

    Notes
    -----
    R keeps the data: the function takes its rows from the x and y that the user gave, factors
    and data frames included, and neither is copied into Python for it.
    """

    def __init__(self, name: str, predict: Any) -> None:
        self._name = name
        self._predict = predict

    @property
    def name(self) -> str:
        """How R users write the function."""
        return self._name

    def check(self, sample: Any, output: str, learn_size: int) -> None:
        """Refuse nothing: what the function can do is known when it runs."""

    def fit_predict(
        self,
        sample: Any,
        learning: np.ndarray,
        testing: np.ndarray,
        output: str,
        seed: int,
    ) -> np.ndarray:
        """Learn from the rows `learning` and predict the rows `testing`.

        The seed has no use here: the random numbers of R functions are R's.
        """
        with interrupts.deferred():
            return self._predictions(sample, learning, testing, output)

    def _predictions(
        self, sample: Any, learning: np.ndarray, testing: np.ndarray, output: str
    ) -> np.ndarray:
        values = _as_vector(call_r(self._predict, learning + 1, testing + 1))
        if len(values) != len(testing):
            raise ValueError(
                f"it returned {len(values)} predictions for {len(testing)} rows "
                "of xnew: return one for each row"
            )
        if output == "label":
            return _codes(values, sample.classes)
        return _numbers(values, output)


class RFunctionLoss:
    """An R function ``function(y, prediction)`` as a loss; both as the user wrote the labels."""

    __name__ = "R function"

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
        """Losses element by element, for arrays that broadcast."""
        with interrupts.deferred():
            return self._losses(y, prediction)

    def _losses(self, y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
        truth, predicted = np.broadcast_arrays(np.asarray(y), np.asarray(prediction))
        losses = call_r(self._function, truth.ravel(), predicted.ravel())
        if losses.typeof not in _ATOMIC or len(losses) != truth.size:
            raise ValueError("loss must return one number for each element of y and prediction")
        return vector(losses).astype(float).reshape(truth.shape)


def call_r(function: Any, *arguments: np.ndarray) -> Any:
    """Call a guarded R function, which returns ``list("value", value)`` or what went wrong.

    Raises
    ------
    RConditionError
        If R signals an error.
    KeyboardInterrupt
        If the user interrupts R.
    RuntimeError
        On another thread than R's own.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("R functions run on R's own thread only: use n_jobs=1")
    from rpy2.rinterface_lib.embedded import RRuntimeError

    try:
        outcome = function(*map(to_r, arguments))
    except RRuntimeError as error:
        # Errors come back as values: only an interrupt just outside R's handlers gets here.
        raise KeyboardInterrupt from error
    kind = outcome[0][0]
    if kind == "error":
        raise RConditionError(outcome[1])
    if kind == "interrupt":
        raise KeyboardInterrupt
    return outcome[1]


# Whoever runs the learner names it in front of these messages.


def _as_vector(values: Any) -> np.ndarray:
    if values.typeof not in _ATOMIC:
        raise ValueError(
            "it returned no vector: return one prediction for each row of xnew, for example "
            "predict(fit, xnew)$class"
        )
    return vector(values)


def _codes(values: np.ndarray, classes: np.ndarray) -> np.ndarray:
    same_kind = (values.dtype.kind in "iuf") == (classes.dtype.kind in "iuf")
    matches = np.equal.outer(values, classes) if same_kind else np.zeros((len(values), 1), bool)
    unknown = ~matches.any(axis=1)
    if unknown.any():
        raise ValueError(
            f"it returned {_listed(np.unique(values[unknown]))}, but the labels are "
            f"{_listed(classes)}: return labels as in y for this loss"
        )
    return matches.argmax(axis=1)


def _numbers(values: np.ndarray, output: str) -> np.ndarray:
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        raise ValueError(
            "it must return finite numbers for this loss"
            + (" (the probability of the second class)" if output == "probability" else "")
        )
    return values.astype(float)


# R's numbers for the types logical, integer, double and character.
_ATOMIC = (10, 13, 14, 16)


def _listed(values: Sequence[Any] | np.ndarray, most: int = 5) -> str:
    shown = [str(value) for value in values[:most]]
    return ", ".join(shown) + (", ..." if len(values) > most else "")
