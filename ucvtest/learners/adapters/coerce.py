"""From what a user passes to a learner: objects, short strings, estimators, callables."""

import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ucvtest import learners
from ucvtest.common.words import arg, excerpt, term
from ucvtest.learners.adapters.estimators import CallableLearner, SklearnLearner
from ucvtest.learners.adapters.named import DEFAULTS, NamedLearner
from ucvtest.learners.adapters.survival import LifelinesLearner, is_fitter
from ucvtest.learners.base import Learner
from ucvtest.learners.restricted import OnColumns

SHORT_NAMES = (
    "cox",
    "elastic_net",
    "gaussian_nb",
    "kernel_ridge",
    "knn",
    "lasso",
    "lda",
    "logistic",
    "majority",
    "nearest_centroid",
    "polynomial",
    "qda",
    "ridge",
)
"""Factories in `ucvtest.learners` that a short string may name."""

PATHS = ("lasso_path", "ridge_path")
"""Those that give several learners."""


def as_learner(learner: Any) -> Learner:
    """The learner that a user means: a Learner, short string, scikit-learn estimator or callable.

    A short string is a name and its arguments in order or by keyword, for example "lda", "knn:3" or
    "ridge:0.1,scale=mean". A name alone that needs arguments, and "svm" or "random_forest", is
    scikit-learn's estimator of that name with its defaults.
    """
    if isinstance(learner, Learner):
        return learner
    if isinstance(learner, str):
        return _parse(learner)
    if is_fitter(learner):
        return LifelinesLearner(learner)
    if isinstance(learner, type):
        raise ValueError(
            f"{arg('learner')} is the class {learner.__name__}: pass an object, "
            f"{learner.__name__}(...)"
        )
    if hasattr(learner, "fit") and hasattr(learner, "get_params"):
        return SklearnLearner(learner)
    if inspect.isroutine(getattr(learner, "fit", None)):
        raise ValueError(
            f"learner {type(learner).__name__} has fit but no get_params, so it cannot be cloned "
            "for each learning set: derive it from sklearn.base.BaseEstimator, or pass a callable "
            "(X_train, y_train, X_test) -> predictions"
        )
    if callable(learner):
        return CallableLearner(learner)
    came = f"{learner!r:.60}"
    if hasattr(learner, "shape"):
        came = f"data of shape {learner.shape}: learners follow the data"
    raise ValueError(
        f"{arg('learner')} must be a scikit-learn estimator, an object from ucvtest.learners, a "
        "short string such as 'knn:3', or a callable (X_train, y_train, X_test) -> predictions, "
        f"got {came}"
    )


OTHER_LEARNERS = " See help(uv.learners), or pass a scikit-learn estimator"


def as_learners(learner: Any) -> tuple[Learner, ...]:
    """The learners of a path such as "lasso_path" or "ridge_path:50"; else the learner itself."""
    name, _, number = learner.partition(":") if isinstance(learner, str) else ("", "", "")
    if name not in PATHS:
        return (as_learner(learner),)
    try:
        path_learners: tuple[Learner, ...] = getattr(learners, name)(int(number) if number else 100)
    except ValueError:
        raise ValueError(
            f"learner {learner!r:.60} cannot be made: write '{name}:50' for 50 penalties, or pass "
            f"the penalties by ucvtest.learners.{name}(lams)"
        ) from None
    return path_learners


def _parse(short_name: str) -> Learner:
    """Read "name:argument,keyword=argument"."""
    if short_name in DEFAULTS:
        return NamedLearner(short_name)
    name, _, arguments = short_name.partition(":")
    if name not in SHORT_NAMES:
        if name in DEFAULTS:
            raise ValueError(
                f"learner {short_name!r:.60} takes no arguments: pass {name!r}, or "
                f"{term('a scikit-learn estimator')}"
            )
        known_names = sorted({*SHORT_NAMES, *PATHS, *DEFAULTS})
        nearest = get_close_matches(name.lower(), known_names, n=1)
        if nearest:
            raise ValueError(
                f"learner {short_name!r:.60} is unknown: did you mean "
                f"{nearest[0]!r}?{term(OTHER_LEARNERS)}"
            )
        raise ValueError(
            f"learner {short_name!r:.60} is unknown: use one of {', '.join(known_names)}, as in "
            f"'lda', 'knn:3' or 'ridge:1.0', or {term('a scikit-learn estimator')}"
        )
    factory = getattr(learners, name)
    try:
        return factory(**_arguments(factory, arguments))
    except ValueError as error:
        raise ValueError(f"learner {short_name!r} cannot be made: {error}") from None


def _arguments(factory: Callable[..., Learner], arguments_text: str) -> dict[str, Any]:
    parameters = inspect.signature(factory).parameters
    ordered = [
        name
        for name, signature_parameter in parameters.items()
        if signature_parameter.kind is not signature_parameter.KEYWORD_ONLY
    ]
    hints = get_type_hints(factory)
    arguments: dict[str, Any] = {}
    for position, argument in enumerate(arguments_text.split(",") if arguments_text else ()):
        key, separator, value = argument.strip().rpartition("=")
        if not separator:
            key = ordered[position] if position < len(ordered) else ""
        if key not in parameters or key in arguments:
            problem = "no argument, or given twice" if separator else "one argument too many"
            raise ValueError(f"{key or argument.strip()!r} is {problem}: {usage(factory)}")
        arguments[key] = _value(key, value.strip(), hints[key])
    missing = [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty and name not in arguments
    ]
    if missing:
        raise ValueError(f"{' and '.join(missing)} must be given: {usage(factory)}")
    return arguments


def _value(key: str, argument_text: str, hint: Any) -> Any:
    """The text as a value of the annotated type."""
    choices = {"true": True, "false": False} if hint is bool else None
    if get_origin(hint) is Literal:
        choices = {str(choice): choice for choice in get_args(hint)}
    if NoneType in get_args(hint):
        (hint,) = (option for option in get_args(hint) if option is not NoneType)
    try:
        return choices[argument_text] if choices else hint(argument_text)
    except (KeyError, ValueError):
        kind = " or ".join(choices) if choices else {int: "an integer"}.get(hint, "a number")
        raise ValueError(f"{key} must be {kind}, got {excerpt(argument_text)}") from None


def usage(factory: Callable[..., Learner]) -> str:
    """How the short string of a factory is written."""
    parameter_texts = []
    for name, parameter in inspect.signature(factory).parameters.items():
        required = parameter.default is parameter.empty
        parameter_texts.append(name if required else f"{name}={str(parameter.default).lower()}")
    written = (
        f"{factory.__name__}:{','.join(parameter_texts)}" if parameter_texts else factory.__name__
    )
    return f"write '{written}'"


def on_columns(learner: Any, columns: Any) -> OnColumns:
    """A learner that sees some of the columns of X, for tests of two sets of columns.

    Jitted learners stay jitted, and so do scikit-learn estimators that a jitted learner replaces.
    Functions get X with these columns.

    Parameters
    ----------
    learner : learner
        As for any test: a short string, a scikit-learn estimator, a function.
    columns : sequence, str or int
        Names of columns of a DataFrame, or numbers from 0. Without any, the most frequent class is
        predicted, or the mean of a real response.

    Returns
    -------
    OnColumns

    Raises
    ------
    ValueError
        If the learner is none, or `columns` is neither names nor numbers. Columns that X does not
        have, and pipelines that name columns themselves, are refused by the test, before any fit.

    Notes
    -----
    Assumes that the columns were chosen without looking at `y`: a choice by the same sample belongs
    into the learner.

    Examples
    --------
    Does the fourth column add anything to the first two?

    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> base = uv.learners.on_columns("lda", [0, 1])
    >>> added = uv.learners.on_columns("lda", [0, 1, 3])
    >>> result = uv.UStatisticTest(X[50:], y[50:], added, base).fit(n_pairs=200, rng=0)
    >>> print(f"{result.estimate:.2f}, p = {result.pvalue:.1g}")
    -0.24, p = 3e-06
    """
    if isinstance(columns, (str, int)):
        columns = (columns,)
    if not isinstance(columns, Iterable):
        raise ValueError(
            f"{arg('columns')} must be names of columns, or their numbers, got {excerpt(columns)}"
        )
    return OnColumns(as_learner(learner), tuple(columns))
