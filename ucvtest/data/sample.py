"""The observed sample, validated once: features, response, and the coding of the response."""

import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array, check_whole, other_than_numbers
from ucvtest.common.checks import check_size, check_text
from ucvtest.common.words import arg, excerpt, place, term
from ucvtest.data.frames import column_places
from ucvtest.data.groups import Groups, as_groups
from ucvtest.data.leaks import identifiers_in, leaks_of
from ucvtest.data.output import Output
from ucvtest.data.positive_class import check_positive
from ucvtest.data.rows import Remark, remarks_on
from ucvtest.data.survival_times import SurvivalTimes, of_survival, refuse_survival

LEAST_DATES = 3
"""Dates that have a step in common."""

DATES = "dates"
"""The setting of losses with what `fault_of_dates` says of their rows."""

MOST_CLASSES = 20
"""With more different whole numbers they may also be amounts: only the user knows."""


@dataclass(frozen=True, eq=False)
class Sample:
    """One small data set.

    Parameters
    ----------
    features : ndarray, DataFrame or sparse matrix, shape (n, p) or (n, ...); or texts and other
        objects, shape (n,)
        As the user gave them: scikit-learn pipelines accept more than a matrix can contain.
    response : ndarray, shape (n,)
        As the user gave it; survival times become the structured array that scikit-survival reads.
    classes : ndarray or None
        The labels in ascending order, the positive one last; None for a real response.
    class_index : ndarray of int or None, shape (n,)
        Position of each label in `classes`.
    groups : Groups, optional
        The groups of observations; by default each observation is its own group.
    positive_named : bool
        Whether a user named the positive class, which then is compared with several others.
    declared : tuple
        The labels in the order of the categories, if the response was a categorical of pandas.
    order : tuple
        All categories in their order, if the response was an ordered categorical of pandas or an
        Enum of polars; also those that do not occur.
    survival_times : SurvivalTimes, optional
        The response, if it consists of survival times.
    fit_weights : ndarray of float, shape (n,), optional
        Weights of observations in fitting; equal by default.
    fault_of_dates : str
        Why rows named by dates are not the steps of one series, in words.
    """

    features: Any
    response: np.ndarray
    classes: np.ndarray | None
    class_index: np.ndarray | None
    groups: Groups | None = None
    positive_named: bool = False
    declared: tuple[Any, ...] = ()
    order: tuple[Any, ...] = ()
    survival_times: SurvivalTimes | None = None
    fit_weights: np.ndarray | None = None
    fault_of_dates: str = ""

    @property
    def n_obs(self) -> int:
        """Number of observations, n."""
        return len(self.response)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for a real response."""
        return 0 if self.classes is None else len(self.classes)

    @cached_property
    def target(self) -> np.ndarray:
        """The response as float64: labels 0, 1, ..., or the real values; times of survival."""
        if self.survival_times is not None:
            return self.survival_times.time
        return np.asarray(
            self.response if self.class_index is None else self.class_index, dtype=float
        )

    @property
    def strata(self) -> np.ndarray | None:
        """The strata of stratified designs: classes, or events; None for numbers."""
        if self.survival_times is not None:
            return self.survival_times.event.astype(int)
        return self.class_index

    @cached_property
    def matrix(self) -> np.ndarray:
        """The features as a finite float64 matrix, which jitted learners need.

        Raises
        ------
        ValueError
            If a column is not numeric, or a value is NaN or infinite.
        """
        return self.matrix_for("this learner")

    def matrix_for(self, learner: str) -> np.ndarray:
        """The same, with errors that name the learner that needs the matrix."""
        if "matrix" in vars(self):
            return self.matrix
        self.check_numeric(learner)
        if not self.is_table:
            raise ValueError(
                f"X is a sparse matrix, which {learner} cannot use: pass X.toarray(), or a "
                "scikit-learn estimator as the learner"
            )
        try:
            matrix = np.ascontiguousarray(self.features, dtype=float)
        except (TypeError, ValueError):
            column_texts = ", ".join(self._other_columns())
            raise ValueError(
                f"X has columns that are not numeric ({column_texts}), which {learner} cannot use: "
                "encode them, drop or impute missing values, or pass "
                f"{term('a scikit-learn pipeline')} as the learner"
            ) from None
        is_not_finite = ~np.isfinite(matrix)
        if is_not_finite.any():
            row, column = map(int, np.argwhere(is_not_finite)[0])
            raise ValueError(
                f"{arg('X')} contains {matrix[row, column]} at row {place(row)}, column "
                f"{self._column_name(column)} ({is_not_finite.sum()} such values in all), which "
                f"{learner} cannot use: drop or impute them, or as the learner pass "
                f"{term('a scikit-learn pipeline')} that imputes"
            )
        check_size("X", matrix)
        # Stored where the cached property finds it.
        vars(self)["matrix"] = matrix
        return matrix

    def _column_name(self, column: int) -> str:
        """A column by its name, or by its position if it has no name."""
        has_names = _is_pandas(self.features, "DataFrame")
        return repr(self.features.columns[column]) if has_names else str(place(column))

    def _other_columns(self) -> list[str]:
        """The values that cannot be converted to numbers, column by column."""
        import pandas as pd

        column_texts = []
        for column_index, (_, column) in enumerate(pd.DataFrame(self.features).items()):
            other_types = {type(cell) for cell in column.dropna() if not isinstance(cell, Real)}
            type_names = [
                "periods" if cell_type is pd.Period else cell_type.__name__
                for cell_type in other_types
            ]
            if column.isna().any():
                type_names.append("missing values")
            if type_names:
                column_texts.append(
                    f"{self._column_name(column_index)} contains {', '.join(sorted(type_names))}"
                )
        return column_texts

    def check_numeric(self, learner: str = "this learner") -> None:
        """Refuse columns of strings, dates or times, even if they could be converted to numbers.

        Raises
        ------
        ValueError
        """
        if hasattr(self.features, "toarray"):
            return
        if self.features.ndim == 1:
            cell_words = "texts" if _holds_texts(self.features) else "sequences or other objects"
            raise ValueError(
                f"X contains {cell_words}, which {learner} cannot use: pass a scikit-learn "
                "pipeline that begins with a vectorizer, such as TfidfVectorizer, as the learner"
            )
        if self.features.ndim > 2:
            raise ValueError(
                f"X has shape {self.features.shape}, and {learner} needs a row of features for "
                "each observation, (n, p): pass X.reshape(len(X), -1), or an estimator that takes "
                "such arrays as the learner"
            )
        if _is_pandas(self.features, "DataFrame"):
            other_columns = {
                repr(name): other_than_numbers(column) for name, column in self.features.items()
            }
        else:
            other_columns = {"X": other_than_numbers(self.features)}
        other_columns = {name: other for name, other in other_columns.items() if other}
        if other_columns:
            column_texts = ", ".join(
                f"{name} contains {other}" for name, other in other_columns.items()
            )
            raise ValueError(
                f"X has columns that are not numeric ({column_texts}), which {learner} cannot use: "
                "encode them, or pass a scikit-learn pipeline as the learner"
            )

    def check_positive(self, learner: str, output: Output) -> None:
        """Refuse a single score for two classes if nothing tells which class it is about.

        Raises
        ------
        ValueError
            If nobody named the positive class, and the labels do not decide it themselves.
        """
        if self.classes is not None and output in ("score", "probability"):
            check_positive(self.classes, self.positive_named or None, f"{learner} returns")

    def relabeled(self, labels: np.ndarray) -> "Sample":
        """The same features with another response: labels 0, 1, ..., or real values, (n,)."""
        if self.classes is None:
            return replace(self, response=labels)
        class_index = labels.astype(int)
        return replace(self, response=self.classes[class_index], class_index=class_index)

    def of_columns(self, argument: str, columns: Sequence[Any]) -> "Sample":
        """The same observations with some columns of the features, by name or number."""
        if not getattr(self.features, "ndim", 0) == 2:
            raise ValueError(
                f"{argument}: there are no columns to choose from, as {arg('X')} has one text or "
                "object a row"
            )
        features, places = self.features, column_places(argument, columns, self.features)
        is_frame = _is_pandas(features, "DataFrame")
        return replace(self, features=features.iloc[:, places] if is_frame else features[:, places])

    @cached_property
    def remarks(self) -> tuple[Remark, ...]:
        """Remarks on the rows if they are assumed to be independent."""
        if not self.is_table:
            return ()
        response = self.response if self.survival_times is None else self.target
        leaks = leaks_of(self.features, response, self.class_index)
        if self.groups is not None:
            return leaks
        units = identifiers_in(self.features, self.target, self.class_index)
        return (*remarks_on(self.features), *units, *leaks)

    @property
    def is_table(self) -> bool:
        """Whether the features are columns of values, not texts or a sparse matrix."""
        return self.features.ndim == 2 and not hasattr(self.features, "toarray")

    def rows(self, index: np.ndarray) -> Any:
        """The features of some observations, in the form the user gave them."""
        if _is_pandas(self.features, "DataFrame", "Series"):
            return self.features.iloc[index]
        return self.features[index]


def as_response(y: Any) -> np.ndarray:
    """The response as an array, a single column as a vector.

    Parameters
    ----------
    y : array-like, shape (n,) or (n, 1)

    Returns
    -------
    ndarray
        Numbers that are stored as Python objects, as in columns of mixed origin, get a
        numeric type, so that they are not mistaken for labels.
    """
    if isinstance(y, SurvivalTimes):
        raise ValueError(of_survival(f"{y.n_obs} times, {y.n_events} of them with the event"))
    array = as_column("y", y)
    refuse_survival(array)
    return array


def as_column(name: str, value: Any) -> np.ndarray:
    """The same for anything with a value for each observation."""
    array = as_array(name, value)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.dtype == object and array.ndim == 1:
        import pandas as pd

        for label in {label_text for label_text in array.tolist() if isinstance(label_text, str)}:
            check_text("y: the label", label)
        inferred = pd.Series(array).infer_objects().to_numpy()
        return inferred if inferred.dtype.kind in "iuf" else array
    return array


def response_has_classes(y: Any) -> bool:
    """Whether a response contains class labels (True) or real values (False)."""
    array = as_response(y)
    if array.dtype.kind != "f" or _is_categorical(y):
        return True
    # Missing and infinite values are refused later, with our own messages.
    array = array[np.isfinite(array)]
    return bool((array == np.rint(array)).all())


def refuse_exact_numbers(response: np.ndarray) -> None:
    """Refuse decimals and fractions, which are labels, where numbers are needed."""
    exact = [type(value).__name__ for value in response.flat if isinstance(value, EXACT_NUMBERS)]
    if exact:
        raise ValueError(
            f"y contains numbers of the type {exact[0]}, which count as labels: convert them to "
            "float"
        )


EXACT_NUMBERS = (Decimal, Fraction)
"""What databases and exact arithmetic return."""


OF_A_KIND = " (for a loss function of your own, uv.losses.Loss states the kind)"


def taken_for_classes(
    y: Any, output: Output | None = None, *, regresses: bool = False, pos_label: Any = None
) -> bool:
    """Decide whether a response is treated as class labels (True) or as real values.

    Parameters
    ----------
    y : array-like, shape (n,)
    output : {"label", "number", "probability", "score"}, optional
        The kind of prediction that the user's loss scores; None if no loss is named.
    regresses : bool
        Whether a regressor will learn the response.
    pos_label : optional
        The positive class, if one is named.

    Returns
    -------
    bool
        Real values that are not whole numbers are never labels. Strings are always labels, and so
        are the values of a categorical of pandas unless the loss scores numbers. For whole numbers
        the loss decides; without a loss, a regressor makes them numbers. Two different whole
        numbers are always labels.

    Raises
    ------
    ValueError
        If nothing decides and there are many different whole numbers.

    Examples
    --------
    >>> from ucvtest.data.sample import taken_for_classes
    >>> y = [3, 1, 2, 1, 2, 3]
    >>> taken_for_classes(y), taken_for_classes(y, regresses=True)
    (True, False)
    """
    array = as_response(y)
    if output != "number" and _is_categorical(y):
        return True
    if pos_label is not None or not response_has_classes(array):
        return pos_label is not None
    if array.dtype.kind not in "iuf" or array.ndim != 1:
        if output == "number" or (output is None and regresses):
            refuse_exact_numbers(array)
        return True
    n_values = len(np.unique(array))
    if output == "number" or (output is None and regresses):
        return n_values <= 2
    if output is None and n_values > min(MOST_CLASSES, max(2, len(array) / 2)):
        raise ValueError(
            f"y contains {n_values} different whole numbers in {len(array)} observations: pass "
            f"{arg('loss', 'squared', 'absolute')} if they are amounts, {arg('loss', 'zero_one')} "
            f"if they are labels{term(OF_A_KIND)}"
        )
    return True


def make_sample(
    X: Any, y: Any, *, as_classes: bool, pos_label: Any = None, groups: Any = None
) -> Sample:
    """Validate the data and number the classes.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
        Labels of any type, real values, or `SurvivalTimes`.
    as_classes : bool
        Whether `y` contains class labels.
    pos_label : optional
        The positive class, put last; by default the largest label, or the last category of
        an ordered categorical.
    groups : array-like, shape (n,), optional
        The cluster of each observation, the unit of resampling: labels of any type.

    Raises
    ------
    ValueError
        If shapes or indices do not match; if values are masked, complex, dates or times; if `y` or
        `groups` has missing values, or a single class or group; or if `pos_label` is not a label of
        `y`.
    """
    if isinstance(X, str):
        remedy = "read it by pandas, and pass X and y"
        if "~" in X:
            remedy = f"a test class reads it, as in uv.CorrectedTTest.from_formula({X!r:.60}, data)"
        raise ValueError(f"X must contain the features, got the text {X!r:.60}: {remedy}")
    # A copy, so that changing the data between the test and its fit does not change the result. Its
    # layout in memory, which decides how sums are rounded, is always the same.
    if _is_pandas(X, "DataFrame"):
        check_whole("X", X)
        for column in X.columns:
            check_text("X: the column", column)
        features = X.copy()
    elif hasattr(X, "toarray"):
        features = X.tocsr(copy=True)
    elif _holds_texts(X):
        features = X.copy() if hasattr(X, "iloc") else np.array(X, dtype=object)
    elif _holds_sequences(X):
        features = np.empty(len(X), dtype=object)
        features[:] = list(X)
    else:
        features = np.array(as_array("X", X), order="C")
    if features.ndim < 2 and not (_holds_texts(features) or _holds_sequences(features)):
        raise ValueError(
            f"X must have two dimensions (observations, features), got {features.ndim}: use "
            "X.reshape(-1, 1) for a single feature"
        )
    if features.ndim == 2 and features.shape[1] == 0:
        raise ValueError(f"{arg('X')} has no columns: at least one feature is needed")
    survival = y if isinstance(y, SurvivalTimes) else None
    response = np.array(as_response(y)) if survival is None else survival.records
    check_vector("y", response)
    n_rows = features.shape[0]
    if n_rows != len(response):
        raise ValueError(
            f"{arg('X')} and y must have the same length, got {n_rows} rows and {len(response)} "
            "responses"
        )
    # Without names of rows in X, those of y and groups are compared.
    for (first, reference), (name, user_rows) in (
        (("X", X), ("y", y)),
        (("X", X), ("groups", groups)),
        (("y", y), ("groups", groups)),
    ):
        refuse_other_order(first, reference, name, user_rows)
    if survival is not None:
        clusters = as_groups(groups, len(response))
        return Sample(features, response, None, None, clusters, survival_times=survival)
    dates = fault_of_dates(X, y)
    refuse_missing("y", response)
    clusters = as_groups(groups, len(response))
    if not as_classes:
        if response.dtype.kind not in "iuf" or not np.isfinite(response).all():
            raise ValueError(
                f"y must contain finite numbers for this loss: pass {arg('loss', 'zero_one')} for "
                "labels"
            )
        numbers = response.astype(float)
        check_size("y", numbers)
        return Sample(features, numbers, None, None, clusters, fault_of_dates=dates)
    classes, class_index = code_labels(y, pos_label)
    has_positive_label = pos_label is not None
    return Sample(
        *(features, response, classes, class_index, clusters),
        positive_named=has_positive_label,
        declared=declared_order(y),
        fault_of_dates=dates,
        order=ordered_categories(y),
    )


def _holds_texts(X: Any) -> bool:
    """Whether the features are a list, array or Series of texts, one for each observation."""
    if isinstance(X, (list, tuple)):
        return bool(X) and all(isinstance(cell, str) for cell in X)
    if not (isinstance(X, np.ndarray) or _is_pandas(X, "Series")) or X.ndim != 1:
        return False
    return len(X) > 0 and all(isinstance(cell, str) for cell in X)


def _holds_sequences(X: Any) -> bool:
    """Whether the features are a list or array of objects with lengths, such as sequences."""
    if isinstance(X, np.ndarray) and (X.dtype != object or X.ndim != 1):
        return False
    if not isinstance(X, (list, tuple, np.ndarray)) or not len(X):
        return False
    if not all(isinstance(cell, (list, tuple, np.ndarray)) for cell in X):
        return False
    if isinstance(X, np.ndarray):
        return True
    # Of lists the lengths: they may contain others.
    return len({cell.shape if isinstance(cell, np.ndarray) else (len(cell),) for cell in X}) > 1


def code_labels(
    y: Any, pos_label: Any = None, *, least_classes: int = 2
) -> tuple[np.ndarray, np.ndarray]:
    """The classes, the positive one last, and the position of each label among them.

    Parameters
    ----------
    y : array-like, shape (n,)
        Labels of any type.
    pos_label : optional
        The positive class; by default the largest label, or the last category of an ordered
        categorical.
    least_classes : int
        1 if all labels may be the same, as in a test set of ill patients.

    Returns
    -------
    tuple of ndarray
        Classes (C,), and positions (n,).

    Raises
    ------
    ValueError
        If labels are missing, cannot be sorted or are all the same, or `pos_label` is not a label.
    """
    response = as_response(y)
    refuse_missing("y", response)
    try:
        classes, class_index = np.unique(response, return_inverse=True)
    except TypeError:
        raise ValueError("y mixes labels of types that cannot be sorted: use one type") from None
    labels = classes.tolist()
    for label in labels:
        check_text("y: the label", label)
    if not labels:
        raise ValueError("y is empty: at least one observation is needed")
    if len(labels) < least_classes:
        raise ValueError(
            f"y has one class only ({_listed(classes)}): a comparison needs at least two"
        )
    places = np.arange(len(labels))
    order = list(ordered_categories(y))
    if order:
        places = np.argsort([order.index(label) for label in labels])
    if pos_label is not None:
        # A list or an array would be compared element by element.
        single = isinstance(pos_label, (str, bytes)) or not hasattr(pos_label, "__len__")
        # Records, such as times with events, compare with nothing else either.
        single &= classes.dtype.names is None
        is_positive = classes[places] == pos_label if single else np.zeros(len(places), bool)
        if np.sum(is_positive) != 1:
            raise ValueError(
                f"{arg('pos_label', pos_label)} is not one of the labels {_listed(classes)}"
            )
        places = np.concatenate([places[~is_positive], places[is_positive]])
    return classes[places], np.argsort(places)[class_index].astype(int)


def _is_pandas(value: Any, *kinds: str) -> bool:
    """Whether a value is an object of pandas; pandas is not imported for this."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, tuple(getattr(pandas, kind) for kind in kinds))


def count_missing(response: np.ndarray) -> int:
    """Values that are NaN, NaT, NA or None."""
    if response.dtype.kind in "biuSU":
        return 0
    if response.dtype.kind == "f":
        return int(np.isnan(response).sum())
    import pandas as pd

    return int(pd.isna(response).sum())


def refuse_missing(name: str, array: np.ndarray, remedy: str = "drop these observations") -> None:
    """Refuse missing values.

    Raises
    ------
    ValueError
    """
    n_missing = count_missing(array)
    if n_missing:
        raise ValueError(f"{name} has {n_missing} missing values: {remedy}")


def check_vector(name: str, array: np.ndarray) -> None:
    """Refuse arrays of more dimensions than one, or none.

    Raises
    ------
    ValueError
    """
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {array.shape}")


def difference_of_indices(X: Any, other: Any) -> str:
    """How the indices differ, in words; empty if an index is missing, or if they are equal."""
    if not has_index(X) or not has_index(other) or X.index.equals(other.index):
        return ""
    return difference_of_names(X.index, other.index)


def refuse_other_order(first: str, X: Any, name: str, other: Any, remedy: str = "") -> None:
    """Refuse rows whose names differ from those of the first argument.

    Raises
    ------
    ValueError
    """
    difference = difference_of_indices(X, other)
    if difference:
        remedy = remedy or (
            f"pass {name}.loc[{first}.index], or {name}.to_numpy() if the rows already correspond"
        )
        raise ValueError(
            f"{first} and {name} have {difference}, but rows are matched by position: {remedy}"
        )


def has_index(user_value: Any) -> bool:
    """Whether rows have names, as in pandas."""
    if isinstance(user_value, SurvivalTimes):
        return user_value.index is not None
    return _is_pandas(user_value, "DataFrame", "Series")


def difference_of_names(names: Any, other: Any) -> str:
    """How two indices of pandas differ, in words; empty if they are equal."""
    if names.equals(other):
        return ""
    try:
        same_names = names.sort_values().equals(other.sort_values())
    except TypeError:
        same_names = False
    return "the same index in another order" if same_names else "different indices"


def numbers_other_order(names: Any) -> bool:
    """Whether names of rows are the numbers from 0, or from 1, in another order."""
    if getattr(names, "dtype", np.dtype(object)).kind not in "iu" or not len(names):
        return False
    steps = np.diff(np.sort(names.to_numpy()))
    return names.min() in (0, 1) and bool((steps == 1).all()) and not names.is_monotonic_increasing


def fault_of_dates(*columns: Any) -> str:
    """Why rows named by dates are not the steps of one series, in words; "" without such names."""
    for column in columns:
        names: Any = getattr(column, "index", None)
        if getattr(names, "inferred_type", "") in ("date", "datetime"):
            names = sys.modules["pandas"].DatetimeIndex(names)
        elif getattr(names, "inferred_type", "") == "string" and names.str.count("-").min() > 0:
            # As a file has them, where nobody parsed them.
            with suppress(ValueError):
                names = sys.modules["pandas"].to_datetime(names, format="ISO8601")
        kind = type(names).__name__
        if kind not in ("DatetimeIndex", "PeriodIndex") or len(names) < LEAST_DATES:
            continue
        if names.has_duplicates:
            return "have a date more than once"
        if not names.is_monotonic_increasing:
            return "are not in the order of their dates"
        regular = len(set(np.diff(names.asi8))) == 1
        if kind == "DatetimeIndex" and not regular:
            with warnings.catch_warnings():
                # pandas 3 announces another type of what it returns.
                warnings.simplefilter("ignore")
                regular = names.inferred_freq is not None
        if not regular:
            return "leave out dates"
    return ""


def _is_categorical(y: Any) -> bool:
    return _is_pandas(getattr(y, "dtype", None), "CategoricalDtype")


def ordered_categories(y: Any) -> tuple[Any, ...]:
    """The categories of an ordered categorical (in polars, an Enum) in its order; else empty."""
    kind: Any = getattr(y, "dtype", None)
    is_ordered = kind.ordered if _is_categorical(y) else type(kind).__name__ == "Enum"
    return tuple(kind.categories) if is_ordered else ()


def declared_order(y: Any) -> tuple[Any, ...]:
    """The labels of a categorical (in polars, an Enum) in its own order; empty for others."""
    kind: Any = getattr(y, "dtype", None)
    if not _is_categorical(y) and type(kind).__name__ != "Enum":
        return ()
    present = set(np.asarray(y).tolist())
    return tuple(label for label in list(kind.categories) if label in present)


def _listed(values: np.ndarray) -> str:
    return ", ".join(map(excerpt, values.tolist()))
