"""Learners of R for tests in Python."""

import sys
from importlib.resources import files
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ucvtest.hooks import arg, warn_caller
from ucvtest.learners import SplitLearner
from ucvtest.learners.survival import SurvivalLearner
from ucvtest_r.__main__ import package_source
from ucvtest_r.conditions import RConditionError, RWarning
from ucvtest_r.conversion import NUMBERS, to_r
from ucvtest_r.learners import call_guarded, call_r, read_predictions
from ucvtest_r.thread import import_rinterface, on_r_thread

CLASSIFIERS = ("MASS::lda",)
"""Known functions that predict classes and nothing else."""


class RLearner(SplitLearner, SurvivalLearner):
    """A learner of R, for any test.

    Parameters
    ----------
    function : str or rpy2 function
        "glmnet", "ranger", "randomForest", "e1071::svm", "MASS::lda" or, of survival times,
        "survival::coxph" and "randomForestSRC::rfsrc"; any other
        "package::function" (or a function of the global environment) that is called as
        ``f(x, y, ...)`` and has a method of ``predict``; or the code of an R function,
        ``"function(x, y, xnew) ..."``, or an R function from rpy2, which returns the predictions.
    **arguments
        Passed to the R function. An underscore stands for a dot where the R function has an
        argument of that name, as in ``num_trees=100``. For glmnet, ``s`` is the penalty: the
        model is fitted for this one alone. ``predict_type`` is not passed on: it is the type of
        R's ``predict`` that returns responses, where the class of the fit does not say it.

    Raises
    ------
    ValueError
        If `function` is neither text nor an R function. What R itself does not know (a package
        that is not installed) is said by the test, before its first fit.

    Notes
    -----
    R runs in this process, on the main thread alone, whatever `n_jobs` says. It gets a numeric
    matrix, or a data frame where columns are not numeric (text becomes a factor, and dummy
    variables for "glmnet", "MASS::lda", "MASS::qda" and "e1071::svm"), and the labels as a factor
    whose last level is the positive class. A function of your own returns labels for the loss
    zero_one, numbers, the probability of the positive class for the loss log, or scores that rise
    with it; of three classes or more a matrix with a column named for each. Survival times arrive
    as ``survival::Surv``: a function of your own returns risks, which are higher where events are
    earlier, or for a metric at a time the probability of an event by then, a column for each of
    several times. Random numbers of R follow from the seed of the test. Warnings of R arrive as
    `RWarning`, errors with R's message.

    Examples
    --------
    >>> from ucvtest_r import RLearner
    >>> RLearner("glmnet", s=0.08).name
    'glmnet(s=0.08)'
    >>> RLearner("function(x, y, xnew) rep(y[1], nrow(xnew))").name
    'R function'
    """

    backend: ClassVar[str] = "R"
    calling_thread_only: ClassVar[bool] = True

    def __init__(self, function: Any, **arguments: Any) -> None:
        if not isinstance(function, str) and not _is_r_function(function):
            raise ValueError(
                "function must be the name of an R function such as 'glmnet' or 'MASS::lda', R "
                f"code 'function(x, y, xnew) ...', or a function of rpy2, got {function!r:.80}"
            )
        self.function = function
        self.arguments = arguments

    @property
    def name(self) -> str:
        """The R function and its arguments as they were given."""
        function = "R function" if self.is_function else self.function
        written = ", ".join(f"{name}={value!r:.60}" for name, value in self.arguments.items())
        return f"{function}({written})" if written else function

    @property
    def is_function(self) -> bool:
        """Whether the R function returns predictions, instead of a fit to predict from."""
        return not isinstance(self.function, str) or "(" in self.function

    def check(self, sample: Any, output: str, learn_size: int) -> None:
        """Refuse functions that R does not have, and values that cannot mean an R function."""
        if self.is_function:
            sample.check_positive(f"learner {self.name}", output)
        if sample.n_classes > 2 and output == "number":
            raise ValueError(
                f"learner {self.name} with this loss needs two classes, but y has "
                f"{sample.n_classes}: use {arg('loss', 'zero_one', 'log')}, or merge classes"
            )
        if sample.classes is None and self.function in CLASSIFIERS:
            raise ValueError(
                f"learner {self.name} needs class labels, but y contains real values: use a "
                "regression such as RLearner('glmnet', s=0.1)"
            )
        problem = on_r_thread(self._problem)
        if problem:
            raise ValueError(f"learner {self.name} cannot be used: {problem}")

    def fit_predict(
        self,
        sample: Any,
        learning: np.ndarray,
        testing: np.ndarray,
        output: str,
        seed: int,
    ) -> np.ndarray:
        """Learn from the rows `learning` and predict the rows `testing`, in R."""

        def task() -> tuple[np.ndarray, list[str]]:
            predict, response = _predictor(self, sample, output)
            times = np.array(self.times) if self.times else None
            fit = learning + 1, testing + 1, output, seed, response, times
            outcome = call_guarded(predict, *fit)
            predictions = _read(outcome[1], len(testing), output, sample.classes)
            return np.array(predictions), list(outcome[2])

        predictions, messages = on_r_thread(task)
        for message in messages:
            warn_caller(f"learner {self.name}: {message}", RWarning)
        return predictions

    def _problem(self) -> str | None:
        try:
            _find(self)
        except RConditionError as error:
            return str(error)
        return None


# All that follows runs on R's thread.

_code: Any = None
"""The R environment with the functions of learners.R."""

_predictors: dict[tuple[int, int, bool], tuple[Any, ...]] = {}
"""R functions that contain data, for the learners and samples used last."""

MAX_PREDICTORS = 8


def _predictor(learner: RLearner, sample: Any, output: str) -> tuple[Any, Any]:
    """The R function with the data, and the response where it is not the one that R has.

    A test may exchange the labels of the observations, to see what chance does; the features
    are then the same object.
    """
    as_factor = sample.classes is not None and not (output == "number" and learner.is_function)
    response = sample.class_index + 1 if as_factor else sample.target
    times = sample.survival_times
    if times is not None:
        # No test exchanges survival times: another response is that of another sample.
        response = np.column_stack([times.time, times.event])
    key = (id(learner), id(sample.features), as_factor)
    if (
        times is not None
        and key in _predictors
        and not np.array_equal(response, _predictors[key][1])
    ):
        del _predictors[key]
    if key not in _predictors:
        if len(_predictors) == MAX_PREDICTORS:
            del _predictors[next(iter(_predictors))]
        code = _r_code()
        y = to_r(response)
        if as_factor:
            y = code["as_labels"](y, to_r(_as_levels(sample.classes)))
        elif times is not None:
            y = call_r(code["as_survival"], times.time, times.event)
        predict = code["split_predictor"](_find(learner), _features(sample.features), y)
        # What the key identifies is kept, so that nothing else gets its number.
        _predictors[key] = (predict, response, learner, sample.features)
    predict, loaded, *_ = _predictors[key]
    return predict, None if np.array_equal(response, loaded) else response


def _find(learner: RLearner) -> Any:
    return call_r(_r_code()["find_learner"], learner.function, learner.arguments)


def _r_code() -> Any:
    global _code
    if _code is None:
        ri = import_rinterface()
        environment = ri.baseenv["new.env"](parent=ri.globalenv)
        # How well-known learners are called, and predict, is part of the R package.
        shared = [package_source() / "R" / name for name in ("recipes.R", "predictions.R")]
        for path in (*shared, files("ucvtest_r") / "learners.R"):
            ri.baseenv["sys.source"](str(path), environment)
        _code = environment
    return _code


def _features(features: Any) -> Any:
    as_features = _r_code()["as_features"]
    if not isinstance(features, pd.DataFrame):
        features = pd.DataFrame(np.asarray(features, dtype=float)).add_prefix("X")
    names = [str(name) for name in features.columns]
    if all(pd.api.types.is_numeric_dtype(dtype) for dtype in features.dtypes):
        return as_features(to_r(features.to_numpy(dtype=float)), to_r(names), to_r(False))
    columns = [_column(features.iloc[:, place]) for place in range(len(names))]
    ri = import_rinterface()
    return as_features(ri.ListSexpVector(columns), to_r(names), to_r(True))


def _column(values: pd.Series) -> Any:
    if pd.api.types.is_numeric_dtype(values.dtype):
        return to_r(values.to_numpy(dtype=float))
    ri = import_rinterface()
    missing = values.isna()
    return ri.StrSexpVector(
        [
            ri.NA_Character if gone else str(value)
            for value, gone in zip(values, missing, strict=True)
        ]
    )


def _as_levels(classes: np.ndarray) -> np.ndarray:
    return np.array([str(label) for label in classes.tolist()])


def _read(values: Any, n_tested: int, output: str, classes: Any) -> np.ndarray:
    """Predictions from what split_predictor in learners.R returns."""
    # An R function may return numbers where the labels are numbers.
    same = values.typeof in NUMBERS and classes is not None and classes.dtype.kind in "iuf"
    labels = classes if same or classes is None else _as_levels(classes)
    return read_predictions(values, n_tested, output, labels)


def _is_r_function(value: Any) -> bool:
    rinterface = sys.modules.get("rpy2.rinterface")
    return rinterface is not None and isinstance(value, rinterface.SexpClosure)
