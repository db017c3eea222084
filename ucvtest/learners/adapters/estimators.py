"""Learners that are fitted to one learning set at a time: estimators and callables."""

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ucvtest.common.arrays import as_array, as_numbers
from ucvtest.data.class_order import by_class, check_order, names_classes
from ucvtest.data.output import OUTPUTS, Output
from ucvtest.data.sample import Sample, difference_of_indices
from ucvtest.learners.adapters.declared import (
    estimator_kind,
    validate_parameters,
    weight_argument,
)
from ucvtest.learners.base import SplitLearner, UnreadablePredictions, reading

NAME_LENGTH = 200
"""Longest name of an estimator, in characters."""

SAMPLE_WEIGHT = "sample_weight"

PREDICTIONS = "what it predicts"
"""How errors call predictions, after the name of the learner."""


class RefusedEstimator(ValueError):
    """scikit-learn refuses to fit an estimator with these parameters."""

    def __init__(self, name: str, error: Exception) -> None:
        super().__init__(f"learner {name} is refused by scikit-learn: {error}")


@dataclass(frozen=True, eq=False)
class SklearnLearner(SplitLearner):
    """A scikit-learn classifier, regressor or pipeline, cloned for every fit.

    Every parameter `random_state` that is None, also of nested estimators, gets the seed of the
    fit, so that results can be repeated and no global state moves.

    Two classes: a regressor gets the numbers 0 and 1, and under a loss for labels its prediction is
    cut at 1/2 (exactly 1/2 is the first class). Probabilities are `predict_proba` of the positive
    class; scores are `decision_function` where there is one, otherwise that probability, otherwise
    a regressor's prediction. Scores of more classes are `predict_proba`, otherwise
    `decision_function`: those of discriminants cannot be compared between observations.
    """

    backend: ClassVar[str] = "sklearn"
    with_probabilities = "a classifier with predict_proba, as sklearn's CalibratedClassifierCV is"

    estimator: Any
    stops_early: bool = field(default=False, kw_only=True)
    """Whether it is known to stop before it has converged, so that no fit needs to warn of it."""

    def __post_init__(self) -> None:
        import ucvtest.common.quiet_imports  # noqa: F401  (see there)

        predicts = hasattr(self.estimator, "predict")
        if self._kind not in ("classifier", "regressor") and (self._kind or not predicts):
            raise ValueError(
                f"learner {self.name} is neither a classifier nor a regressor: pass one, or a "
                "callable (X_train, y_train, X_test) -> predictions"
            )
        try:
            validate_parameters(self.estimator)
        except ValueError as error:
            raise RefusedEstimator(self.name, error) from None

    @cached_property
    def name(self) -> str:
        """The estimator as scikit-learn writes it, on one line."""
        return short(repr(self.estimator))

    def possible_outputs(self, n_classes: int) -> tuple[Output, ...]:
        """Those of a regressor, or of the methods of a classifier."""
        if self.regresses:
            return ("label", "number", "score") if n_classes <= 2 else ()
        if not n_classes:
            return () if self._kind else OUTPUTS
        if hasattr(self.estimator, "predict_proba"):
            return super().possible_outputs(n_classes)
        return ("label", "score") if hasattr(self.estimator, "decision_function") else ("label",)

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse estimators that cannot predict what the loss needs, or read the features."""
        if self._reads_numbers_alone:
            sample.check_numeric(f"learner {self.name}")
        self.check_output(sample, output)
        if self.regresses or sample.n_classes <= 2 or output != "score":
            return
        if hasattr(self.estimator, "predict_proba"):
            return
        for name, value in self.estimator.get_params(deep=True).items():
            if name.rpartition("__")[2] == "decision_function_shape" and value == "ovo":
                raise ValueError(
                    f"learner {self.name} scores pairs of classes ({name}='ovo'), and the AUC of "
                    f"{sample.n_classes} classes needs a score for each: use {name}='ovr'"
                )

    def fit_predict(
        self, sample: Sample, learning: np.ndarray, testing: np.ndarray, output: Output, seed: int
    ) -> np.ndarray:
        """Clone, seed, fit and predict."""
        from sklearn.base import clone

        fitted_estimator = clone(self.estimator)
        if self._unseeded:
            fitted_estimator.set_params(**dict.fromkeys(self._unseeded, int(seed) % 2**32))
        weights = {}
        if sample.fit_weights is not None:
            argument = weight_argument(self.estimator)
            weights = {} if argument is None else {argument: sample.fit_weights[learning]}
        response = self._response(sample)[learning]
        fitted_estimator.fit(sample.rows(learning), response, **weights)
        return self._predict(fitted_estimator, sample, sample.rows(testing), output)

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """See `SplitLearner`: a stop that was foreseen is said once, in a note."""
        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            if self.stops_early:
                warnings.simplefilter("ignore", ConvergenceWarning)
            yield

    def check_weights(self) -> None:
        """Refuse estimators whose fit takes no weights."""
        if weight_argument(self.estimator) is None:
            super().check_weights()

    def fit_all(self, sample: Sample) -> None:
        """Fit a copy to all observations."""
        from sklearn.base import clone

        fitted_estimator = clone(self.estimator)
        fitted_estimator.set_params(**dict.fromkeys(self._unseeded, 0))
        fitted_estimator.fit(sample.features, self._response(sample))

    def _response(self, sample: Sample) -> np.ndarray:
        """The response to learn: labels as the user gave them, or numbers for regressors."""
        return sample.target if self.regresses else sample.response

    def _predict(
        self, fitted_estimator: Any, sample: Sample, features: Any, output: Output
    ) -> np.ndarray:
        if self.regresses or sample.classes is None:
            number = _numbers(fitted_estimator.predict(features))
            if output != "label":
                return number
            # The second class above 1/2; NaN stays NaN, which is refused later with the split.
            return np.where(np.isnan(number), np.nan, number > 0.5)
        if output == "label":
            return _class_index(fitted_estimator.predict(features), sample)
        positive = np.asarray(sample.classes)[-1]
        if sample.n_classes > 2:
            return _by_class(fitted_estimator, features, sample)
        if output == "score" and hasattr(fitted_estimator, "decision_function"):
            score = _numbers(fitted_estimator.decision_function(features))
            return score if fitted_estimator.classes_[-1] == positive else -score
        column = int(np.flatnonzero(fitted_estimator.classes_ == positive)[0])
        return _numbers(fitted_estimator.predict_proba(features))[:, column]

    @cached_property
    def regresses(self) -> bool:
        """Whether it is a regressor."""
        return self._kind == "regressor"

    @cached_property
    def _kind(self) -> str:
        """The type that it declares; "" if it declares none and predicts what it learnt."""
        return estimator_kind(self.estimator)

    @cached_property
    def _reads_numbers_alone(self) -> bool:
        """Whether it is scikit-learn's and has no part that could encode other columns.

        What looks like a number it would take for one, and a date for a count of nanoseconds.
        """
        module = type(self.estimator).__module__
        if not module.startswith("sklearn.") or module.startswith("sklearn.dummy"):
            return False
        parameters = self.estimator.get_params(deep=True)
        has_parts = any(
            hasattr(nested_estimator, "fit") for nested_estimator in parameters.values()
        )
        return not has_parts and "categorical_features" not in parameters

    @cached_property
    def _unseeded(self) -> tuple[str, ...]:
        """Names of the parameters that need a seed for every fit."""
        parameters = self.estimator.get_params(deep=True)
        return tuple(
            name
            for name, value in parameters.items()
            if value is None and name.rpartition("__")[2] == "random_state"
        )


@dataclass(frozen=True, eq=False)
class CallableLearner(SplitLearner):
    """A function ``(X_train, y_train, X_test)`` that learns and returns what the loss scores.

    `y_train` contains the user's own labels; numbers where the loss scores numbers. Scores of more
    than two classes are (n_test, C), with columns in the order of ``np.unique(y)``, or a DataFrame
    with columns named by the labels. Of two classes a score or a probability is about the positive
    one: labels other than 0 and 1, False and True, or -1 and 1 need `pos_label` in the test.
    Randomness inside the function is its own: seed it there.
    """

    function: Callable[[Any, np.ndarray, Any], Any]

    @property
    def name(self) -> str:
        """The function's name; of a partial function, that of the function inside."""
        return _function_name(self.function)

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse impossible predictions of functions, and scores of a class without a name."""
        sample.check_positive(f"learner {self.name}", output)
        self.check_output(sample, output)

    def fit_predict(
        self, sample: Sample, learning: np.ndarray, testing: np.ndarray, output: Output, seed: int
    ) -> np.ndarray:
        """Call the function and number the labels that it returns."""
        response = sample.target if output == "number" else sample.response
        weights = sample.fit_weights
        returned = self.function(
            *(sample.rows(learning), response[learning], sample.rows(testing)),
            **({} if weights is None else {SAMPLE_WEIGHT: weights[learning]}),
        )
        return self._read(returned, sample, testing, output)

    def check_weights(self) -> None:
        """Refuse functions without an argument `sample_weight`."""
        try:
            names = [*inspect.signature(self.function).parameters]
        except (TypeError, ValueError):
            # Of some functions in C nobody knows.
            names = []
        if SAMPLE_WEIGHT not in names:
            raise ValueError(
                f"learner {self.name} has no argument sample_weight: write it as a function "
                "(X_train, y_train, X_test, sample_weight) -> predictions, or pass weights for "
                "'loss' alone"
            )

    @reading()
    def _read(
        self, returned: Any, sample: Sample, testing: np.ndarray, output: Output
    ) -> np.ndarray:
        """What the function returned, as numbers of labels or as scores."""
        refuse_other_index(sample.rows(testing), returned)
        if output == "label":
            return _class_index(returned, sample)
        classes = np.asarray(sample.classes)
        if sample.n_classes and names_classes(returned, classes):
            numbers = as_numbers(PREDICTIONS, by_class(PREDICTIONS, returned, classes))
            return numbers if sample.n_classes > 2 else numbers[:, -1]
        numbers = as_numbers(PREDICTIONS, returned)
        if sample.n_classes > 2 and numbers.shape[1:] == (sample.n_classes,):
            # They come in the order of the labels, which `pos_label` changes here.
            check_order(PREDICTIONS, sorted(classes.tolist()), sample.declared, None)
            return numbers[:, np.argsort(np.argsort(classes))]
        return numbers


def refuse_other_index(tested: Any, returned: Any) -> None:
    """Refuse predictions whose rows have other names than those that were to be predicted."""
    difference = difference_of_indices(tested, returned)
    if difference:
        raise ValueError(
            f"X_test and the predictions have {difference}, but rows are matched by position: "
            "return predictions.loc[X_test.index], or predictions.to_numpy() if the rows already "
            "correspond"
        )


def short(text: str) -> str:
    """A description on one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= NAME_LENGTH else f"{text[: NAME_LENGTH - 3]}..."


def _numbers(returned: Any) -> np.ndarray:
    with reading():
        return as_numbers(PREDICTIONS, returned)


def _by_class(fitted_estimator: Any, features: Any, sample: Sample) -> np.ndarray:
    """One probability, or score, for each class of the sample, in its order, (n, C).

    Classes that were not learnt have the lowest.
    """
    has_probabilities = hasattr(fitted_estimator, "predict_proba")
    method = "predict_proba" if has_probabilities else "decision_function"
    returned = _numbers(getattr(fitted_estimator, method)(features))
    learnt_classes = np.asarray(fitted_estimator.classes_)
    if not has_probabilities and returned.ndim == 1 and len(learnt_classes) == 2:
        returned = np.column_stack([-returned, returned])
    if returned.shape[1:] != learnt_classes.shape:
        raise UnreadablePredictions(
            f"{method} returned shape {returned.shape} after learning {len(learnt_classes)} "
            "classes, and one column for each of them is needed"
        )
    labels = np.asarray(sample.classes).tolist()
    class_columns = np.full((len(returned), len(labels)), 0.0 if has_probabilities else -np.inf)
    class_columns[:, [labels.index(label) for label in learnt_classes.tolist()]] = returned
    return class_columns


@reading()
def _class_index(labels: Any, sample: Sample) -> np.ndarray:
    """Positions of labels among the classes."""
    array = as_array(PREDICTIONS, labels)
    if array.ndim == 0 or array.size != len(array):
        # The evaluation refuses the shape, and names the split.
        return np.empty(array.shape)
    import pandas as pd

    classes = np.asarray(sample.classes)
    class_index = pd.Index(classes).get_indexer(pd.Index(array.reshape(-1)))
    unknown = np.flatnonzero(class_index < 0)
    if len(unknown):
        label = array.reshape(-1).tolist()[unknown[0]]
        known_labels = ", ".join(repr(value) for value in classes.tolist())
        raise ValueError(f"the prediction {label!r} is not one of the labels {known_labels}")
    return class_index.astype(float)


def _function_name(user_function: Any) -> str:
    if isinstance(user_function, functools.partial):
        bound_arguments = [repr(value) for value in user_function.args]
        bound_arguments += [f"{key}={value!r:.60}" for key, value in user_function.keywords.items()]
        return f"{_function_name(user_function.func)}({', '.join(bound_arguments)})"
    return getattr(user_function, "__name__", type(user_function).__name__)
