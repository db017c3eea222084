"""R functions as learners and losses of the R session that Python runs in."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ucvtest.hooks import arg
from ucvtest.learners import SplitLearner
from ucvtest.learners.base import reading
from ucvtest.learners.survival import SurvivalLearner
from ucvtest_r import interrupts
from ucvtest_r.conditions import RConditionError
from ucvtest_r.conversion import ATOMIC, LOGICAL, to_r, vector
from ucvtest_r.thread import is_r_thread


@dataclass(eq=False)
class RFunctionLearner(SplitLearner):
    """A learner that is a function of the R session that Python runs in.

    Parameters
    ----------
    name : str
        How R users write the function.
    predict : R function
        ``function(learning, testing, response, output, seed)`` with row numbers from 1, and NULL
        or another response than that of the session. It returns what `call_r` reads.
    many : R function, optional
        ``function(fits)`` of a list of such arguments, which shares them out to other processes
        and returns a list of what `predict` does.
    response : array, shape (n,)
        The response as the session has it.
    code : str
        What the user's function does, by which a checkpoint knows it.
    asks_for_class : bool
        Whether R does not know which class scores and probabilities are about: where a user's own
        function returns them, and nobody named the positive class.
    as_classes : str, optional
        What to do if the numbers of the response are classes, where the function takes them for
        amounts.

    Notes
    -----
    R keeps the data: the function takes its rows from the x and y that the user gave, factors
    and data frames included, and neither is copied into Python for it.
    """

    backend: ClassVar[str] = "R"
    calling_thread_only: ClassVar[bool] = True

    # It takes the place of a property, so that the others need defaults as well.
    name: str = ""
    predict: Any = None
    response: Any = None
    many: Any = None
    code: str = ""
    asks_for_class: bool = field(default=False, kw_only=True)
    as_classes: str | None = field(default=None, kw_only=True)

    @property
    def content_of_learner(self) -> tuple[Any, ...]:
        """What decides predictions, for a checkpoint; processes that share out fits do not."""
        return self.name, self.code, self.response

    def check(self, sample: Any, output: str, learn_size: int) -> None:
        """Refuse scores of a class that nobody named, and numbers that are classes.

        All else is known when the function runs.
        """
        if self.as_classes is not None and output != "number":
            classes = _listed(sample.classes)
            raise ValueError(
                f"learner {self.name} takes numbers for amounts, and here {classes} are classes: "
                f"{self.as_classes}; or pass {arg('loss', 'squared')} if they are amounts"
            )
        if self.asks_for_class:
            # The levels of a factor name a class, and not the one that the function is about.
            unnamed = replace(sample, positive_named=False)
            unnamed.check_positive(f"learner {self.name}", output)

    def fit_predict(
        self,
        sample: Any,
        learning: np.ndarray,
        testing: np.ndarray,
        output: str,
        seed: int,
    ) -> np.ndarray:
        """Learn from the rows `learning` and predict the rows `testing`."""
        calls = self._r_arguments(sample, learning, testing, output, seed)
        return self._predictions(calls, output, sample.classes)

    def fit_predict_each(
        self, fits: Iterable[tuple[Any, np.ndarray, np.ndarray, int]], output: str
    ) -> Iterator[np.ndarray]:
        """The same for several fits, by R's own workers where there are some."""
        if self.many is None:
            return super().fit_predict_each(fits, output)  # type: ignore[arg-type]
        return _Outcomes(self._outcomes([*fits], output))

    def _outcomes(
        self, fits: Sequence[tuple[Any, np.ndarray, np.ndarray, int]], output: str
    ) -> Iterator[np.ndarray | Exception]:
        calls = [
            self._r_arguments(sample, learning, testing, output, seed)
            for sample, learning, testing, seed in fits
        ]
        yield from self._predictions_of_fits(calls, output, fits[0][0].classes)

    @interrupts.deferred()
    def _predictions_of_fits(
        self, calls: list[list[Any]], output: str, classes: Any
    ) -> list[np.ndarray | Exception]:
        """Predictions of each fit, or why there are none."""
        found: list[np.ndarray | Exception] = []
        for outcome, call in zip(call_r(self.many, calls), calls, strict=True):
            if outcome[0][0] == "error":
                found.append(RConditionError.from_condition(outcome[1]))
                continue
            try:
                found.append(np.array(read_predictions(outcome[1], len(call[1]), output, classes)))
            except ValueError as error:
                found.append(error)
        return found

    def _r_arguments(
        self, sample: Any, learning: np.ndarray, testing: np.ndarray, output: str, seed: int
    ) -> list[Any]:
        """What the R function is called with."""
        # A test may have exchanged the labels of the observations, to see what chance does; or
        # drawn with replacement, where the sample follows itself as often as it is needed.
        n_obs = len(self.response)
        copies, rest = divmod(len(sample.response), n_obs)
        response = None
        if rest or not np.array_equal(sample.response, np.tile(self.response, copies)):
            response = sample.response
        return [learning % n_obs + 1, testing % n_obs + 1, response, output, seed]

    @interrupts.deferred()
    def _predictions(self, calls: list[Any], output: str, classes: Any) -> np.ndarray:
        # A function of its own, so that what R returned is freed while Ctrl-C waits.
        values = call_r(self.predict, *calls)
        return read_predictions(values, len(calls[1]), output, classes)


class RSurvivalLearner(RFunctionLearner, SurvivalLearner):
    """A learner that is a function of the R session, and learns survival times."""

    def check(self, sample: Any, output: str, learn_size: int) -> None:
        """Nothing: R has the response already, and all else is known when the function runs."""

    def _r_arguments(self, *arguments: Any) -> list[Any]:
        """The same, and the times for which probabilities are needed."""
        times = np.array(self.times) if self.times else None
        return [*super()._r_arguments(*arguments), times]


class _Outcomes:
    """Predictions one after the other; after one that failed come the others, fitted already."""

    def __init__(self, outcomes: Iterator[np.ndarray | Exception]) -> None:
        self._outcomes = outcomes

    def __iter__(self) -> Iterator[np.ndarray]:
        return self

    def __next__(self) -> np.ndarray:
        outcome = next(self._outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class RFunctionLoss:
    """An R function ``function(y, prediction)`` as a loss; both as the user wrote the labels."""

    __name__ = "R function"

    def __init__(self, function: Any) -> None:
        self._function = function

    @interrupts.deferred()
    def __call__(self, y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
        """Losses element by element, for arrays that broadcast."""
        truth, predicted = np.broadcast_arrays(np.asarray(y), np.asarray(prediction))
        losses = call_r(self._function, truth.ravel(), predicted.ravel())
        if losses.typeof not in ATOMIC or len(losses) != truth.size:
            raise ValueError("loss must return one number for each element of y and prediction")
        return vector(losses).astype(float).reshape(truth.shape)


class RFunctionScore:
    """An R function ``function(y, prediction)`` as the score of a test set; greater is better."""

    def __init__(self, name: str, function: Any) -> None:
        self.__name__ = name
        self._function = function

    @interrupts.deferred()
    def __call__(self, y: np.ndarray, prediction: np.ndarray) -> float:
        """The score of these predictions."""
        score = call_r(self._function, np.asarray(y), np.asarray(prediction))
        if score.typeof not in ATOMIC or len(score) != 1:
            raise ValueError("it must return one number")
        return float(vector(score)[0])


@reading()
def read_predictions(values: Any, n_tested: int, output: str, classes: Any) -> np.ndarray:
    """The R vector of predictions as positions among the classes, or as numbers.

    Raises
    ------
    ValueError
        If it is not a vector of the right length, or contains values that the loss cannot score.
    """
    predictions = _as_vector(values)
    if len(predictions) != n_tested:
        raise ValueError(
            f"it returned {len(predictions)} predictions for {n_tested} rows "
            "of xnew: return one for each row"
        )
    return _positions(predictions, classes) if output == "label" else _numbers(predictions, output)


def call_r(function: Any, *arguments: Any) -> Any:
    """Call a guarded R function and return its value.

    Raises
    ------
    RConditionError
        If R signals an error.
    KeyboardInterrupt
        If the user interrupts R.
    RuntimeError
        On another thread than R's own.
    """
    return call_guarded(function, *arguments)[1]


def call_guarded(function: Any, *arguments: Any) -> Any:
    """Like `call_r`, with all that the R function returns: "value", the value, and more."""
    if not is_r_thread():
        raise RuntimeError("R functions run on R's own thread only")
    from rpy2.rinterface_lib.embedded import RRuntimeError

    try:
        outcome = function(*map(to_r, arguments))
    except RRuntimeError as error:
        # Errors come back as values: only an interrupt just outside R's handlers gets here.
        raise KeyboardInterrupt from error
    kind = outcome[0][0]
    if kind == "error":
        raise RConditionError.from_condition(outcome[1])
    if kind == "interrupt":
        raise KeyboardInterrupt
    return outcome


# Whoever runs the learner names it in front of these messages.


def _as_vector(values: Any) -> np.ndarray:
    if values.typeof not in ATOMIC:
        raise ValueError(
            "it returned no vector: return one prediction for each row of xnew, for example "
            "predict(fit, xnew)$class"
        )
    # TRUE and FALSE come as text, so that logical predictions have NA among them.
    if values.typeof == LOGICAL:
        raise ValueError("it returned NA: return a prediction for each row of xnew")
    return vector(values)


def _positions(values: np.ndarray, classes: np.ndarray) -> np.ndarray:
    _refuse_missing(values)
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
    _refuse_missing(values)
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        raise ValueError(
            "it must return finite numbers for this loss"
            + (" (the probability of the second class)" if output == "probability" else "")
        )
    return values.astype(float)


def _refuse_missing(values: np.ndarray) -> None:
    missing = values == _NA_TEXT if values.dtype.kind == "U" else values != values
    if missing.any():
        n_rows = int(missing.reshape(len(values), -1).any(axis=1).sum())
        raise ValueError(
            f"it returned NA for {n_rows} of {len(values)} rows of xnew: where these have missing "
            "values, leave them out (na.action = na.omit with a formula), or impute them inside "
            "the learner"
        )


_NA_TEXT = "NA_character_"
"""What a missing label is called in an array of text."""


def _listed(values: Sequence[Any] | np.ndarray, most: int = 5) -> str:
    # R writes whole numbers without a fraction.
    shown = [str(value).removesuffix(".0") for value in values[:most]]
    return ", ".join(shown) + (", ..." if len(values) > most else "")
