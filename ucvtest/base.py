"""What all tests share: the data, the learners, and the frame around a fit."""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ucvtest import hooks
from ucvtest.checks import as_integer, check_workers, is_number
from ucvtest.learners.base import Learner
from ucvtest.learners.coerce import as_learner
from ucvtest.learners.translate import Backend, choose_backend
from ucvtest.losses import OUTPUTS, Loss, Output, as_loss
from ucvtest.results import ALTERNATIVES, Alternative, TestResult
from ucvtest.sample import Sample, as_response, make_sample, response_has_classes

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "INDEPENDENCE",
    "HypothesisTest",
    "as_integer",
    "check_workers",
    "checked_alternative",
    "checked_null_value",
    "make_generator",
    "progress_bar",
    "tie_notes",
]


INDEPENDENCE = "labels and features are independent"
"""What tests that permute labels call their null hypothesis, in results."""


class HypothesisTest:
    """A test about one learner, or about the difference of two, on one sample.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
        Features.
    y : array-like, shape (n,)
        Labels of any type, or real values for regression losses.
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as
        "knn:3", or a callable ``(X_train, y_train, X_test) -> predictions``.
    other : learner, optional
        The learner to compare with; estimates are `learner` minus `other`.
    null_value : float, optional
        Value of the estimand under H0; 0 for two learners, none for one.
    alternative : {"two-sided", "less", "greater"}
        H1: the estimand differs from, is below, or is above `null_value`.
    loss : str, callable, Loss or matrix, optional
        By default zero_one for classes and squared error for a real response. A matrix holds
        ``loss[true, predicted]`` of the classes in ascending order, `pos_label` last.
    output : {"label", "number", "probability", "score"}, optional
        What learners must predict where a test is about no loss, as with the AUC.
    pos_label : optional
        The positive class; by default the largest label.
    groups : None
        Refused, with the reason: no test here handles dependent observations.
    backend : {"auto", "jax", "sklearn"}
        What fits scikit-learn estimators. "auto" takes the jitted learner with the same
        predictions where there is one; "jax" insists on it; "sklearn" never takes it.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.
    """

    # pytest would otherwise take subclasses, whose names end in Test, for test classes.
    __test__: ClassVar[bool] = False

    sample: Sample
    learner: Learner
    other: Learner | None
    loss: Loss | None
    output: Output
    null_value: float
    alternative: Alternative
    backend: Backend
    _announced: bool = True
    """Whether hooks are told of the result; not where a comparison is told of as a whole."""

    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
        loss: Any = None,
        output: Output | None = None,
        pos_label: Any = None,
        groups: None = None,
        backend: Backend = "auto",
    ) -> None:
        if groups is not None:
            raise ValueError(
                "groups= is not supported: the test assumes independent observations, and "
                "several rows of one patient are not; keep one row for each, or average them"
            )
        self.alternative = checked_alternative(alternative)
        self.null_value = checked_null_value(null_value, paired=other is not None)
        response = as_response(y)
        has_classes = pos_label is not None or response_has_classes(response)
        if loss is None and pos_label is None and has_classes:
            _refuse_to_guess(response)
        self.loss = None if output else as_loss(loss, has_classes=has_classes)
        self.output = _output(output, self.loss)
        if self.output != "number" and not has_classes:
            raise ValueError(_needs_labels(self.loss))
        coded = has_classes and _coded(self.output, response, pos_label)
        self.sample = make_sample(X, y, as_classes=coded, pos_label=pos_label)
        _check_matrix(self.loss, self.sample)
        self.learner = as_learner(learner)
        self.other = None if other is None else as_learner(other)
        self.backend = backend

    @classmethod
    def from_formula(
        cls, formula: str, data: "pd.DataFrame", learner: Any, other: Any = None, **kwargs: Any
    ) -> "HypothesisTest":
        """Create the test from a formula and a data frame, as in statsmodels.

        Parameters
        ----------
        formula : str
            For example ``"tumour ~ age + log(size)"``, or ``"tumour ~ ."`` for all other columns;
            read by formulaic. The intercept
            is left out, because learners have one of their own; a factor has one column
            less than levels. The response is a column, or one numeric expression.
        data : DataFrame
        learner, other : learner
        **kwargs
            The keyword arguments of the class.

        Returns
        -------
        HypothesisTest
            An instance of the class it was called on.

        Raises
        ------
        ValueError
            If the formula cannot be read, names what the data lack, or uses missing values.
        """
        y, X = read_formula(formula, data)
        # Some tests know one learner only.
        learners = (learner,) if other is None else (learner, other)
        return cls(X, y, *learners, **kwargs)

    @property
    def learners(self) -> tuple[Learner, ...]:
        """The learner, or both."""
        return (self.learner,) if self.other is None else (self.learner, self.other)

    @property
    def method_name(self) -> str:
        """Short name for keys, for example "ustatistic"."""
        raise NotImplementedError

    def _check_learners(self, learn_size: int) -> None:
        """Refuse learners that cannot be used; put jitted ones in the place of estimators."""
        self.learner = self._fitting_learner(self.learner, learn_size)
        if self.other is not None:
            self.other = self._fitting_learner(self.other, learn_size)

    def _fitting_learner(self, learner: Learner, learn_size: int) -> Learner:
        learner.check(self.sample, self.output, learn_size)
        return choose_backend(learner, self.backend, self.sample, self.output, learn_size)

    def _settings(self) -> dict[str, Any]:
        """What every test needs to be repeated on the same data."""
        classes = self.sample.classes
        return {
            "test": self.method_name,
            "learner": self.learner.name,
            "other": None if self.other is None else self.other.name,
            "backend": self.learner.backend,
            "other_backend": None if self.other is None else self.other.backend,
            **({} if self.loss is None else {"loss": self.loss.name}),
            "null_value": self.null_value,
            "alternative": self.alternative,
            "pos_label": None if classes is None else _jsonable(classes[-1]),
        }

    def _finish(self, result: TestResult) -> TestResult:
        if self._announced:
            hooks.announce(self, result)
        return result


def read_formula(formula: str, data: "pd.DataFrame") -> "tuple[np.ndarray, pd.DataFrame]":
    """Response and features that a formula names.

    The response is taken from the data as it is where it is a plain column, so that
    labels of any type stay labels.

    Raises
    ------
    ValueError
        If the formula cannot be read, names what the data lack, meets missing values, or
        has a response that is neither a column nor one numeric expression.
    """
    left, separator, right = formula.partition("~")
    response = left.strip()
    if not separator or not response:
        raise ValueError(f"formula={formula!r} has no left-hand side: write 'response ~ terms'")
    column = response.strip("`")
    # A dot stands for all other columns, so the response must not be among them.
    others = data.drop(columns=column, errors="ignore") if "." in right else data
    # With the intercept, so that factors lose their reference level; only then without it.
    features = _model_matrix(right, others, formula).drop(columns="Intercept", errors="ignore")
    if column in data.columns:
        return data[column].to_numpy(), features
    values = _model_matrix(f"{response} - 1", data, formula)
    if values.shape[1] != 1:
        # Codes of a factor, in an order of formulaic's own: which is positive would be a guess.
        raise ValueError(
            f"formula={formula!r} has the response {response!r}, which is neither a column of the "
            "data nor one number for each row: add it to the data as a column"
        )
    return values.to_numpy(dtype=float)[:, 0], features


def _model_matrix(terms: str, data: "pd.DataFrame", formula: str) -> "pd.DataFrame":
    import pandas as pd
    from formulaic import model_matrix
    from formulaic.errors import FormulaicError

    try:
        # An empty context: formulas see the data and formulaic's functions, no variables of ours.
        return pd.DataFrame(model_matrix(terms, data, context={}, na_action="raise"))
    except FormulaicError as error:
        raise ValueError(f"formula={formula!r} cannot be used: {error}") from error
    except ValueError as error:
        raise ValueError(
            f"formula={formula!r} cannot be used: {error} Drop or impute missing values first."
        ) from error


def make_generator(rng: Any) -> tuple[np.random.Generator, int | None]:
    """The generator that ``rng=None``, an integer or a Generator stand for, and its seed.

    Without a seed one is drawn from the operating system, so that results can be repeated;
    a Generator has none that could be told.

    Raises
    ------
    ValueError
        For anything else.
    """
    if isinstance(rng, np.random.Generator):
        return rng, None
    if rng is None:
        rng = int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)):
        raise ValueError(
            f"rng must be None, an integer or a numpy Generator, got {type(rng).__name__}"
        )
    if rng < 0:
        raise ValueError(f"rng must not be negative, got {rng}")
    return np.random.default_rng(int(rng)), int(rng)


def checked_alternative(alternative: Any) -> Alternative:
    """The alternative hypothesis, if it is one.

    Raises
    ------
    ValueError
        If it is unknown.
    """
    if alternative not in ALTERNATIVES:
        raise ValueError(
            f"alternative={alternative!r} is unknown: use one of {', '.join(ALTERNATIVES)}"
        )
    return alternative


def checked_null_value(null_value: Any, *, paired: bool) -> float:
    """The null value; without one 0 for two learners, NaN for one.

    Raises
    ------
    ValueError
        If it is no finite number.
    """
    if null_value is None:
        return 0.0 if paired else math.nan
    if not is_number(null_value):
        raise ValueError(f"null_value must be a finite number, got {null_value!r}")
    return float(null_value)


@contextmanager
def progress_bar(progress: bool | None, description: str, unit: str) -> Iterator[Any]:
    """A tqdm bar that appears after three seconds, on terminals unless asked for.

    Parameters
    ----------
    progress : bool or None
        None shows it where the standard error stream is a terminal.
    """
    from tqdm import tqdm

    disable = None if progress is None else not progress
    delay = 3.0 if progress is None else 0.0
    with tqdm(desc=description, unit=unit, disable=disable, delay=delay) as bar:
        yield bar


def tie_notes(counts: Mapping[str, Any]) -> list[str]:
    """The note on predictions that a rule for ties decided, if there were any."""
    n_ties = counts.get("score_ties")
    if not n_ties:
        return []
    return [
        f"{n_ties} predictions were ties between the classes, decided by the learner's rule (the "
        "first class unless it says otherwise)."
    ]


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Elapsed time."""
        return time.perf_counter() - self._start


def _refuse_to_guess(y: np.ndarray) -> None:
    """Whole numbers that hardly repeat are rather amounts than labels; only the user knows."""
    if y.ndim != 1 or y.dtype.kind not in "iuf":
        return
    n_values = len(np.unique(y))
    if n_values > max(2, len(y) / 2):
        raise ValueError(
            f"y holds {n_values} different whole numbers in {len(y)} observations: pass "
            "loss='squared' or 'absolute' if they are amounts, loss='zero_one' if they are labels"
        )


def _output(output: Output | None, loss: Loss | None) -> Output:
    """What learners predict: what is asked for, or what the loss scores."""
    if output is None and loss is not None:
        return loss.output
    if output not in OUTPUTS:
        raise ValueError(f"output={output!r} is unknown: use one of {', '.join(OUTPUTS)}")
    return output


def _needs_labels(loss: Loss | None) -> str:
    if loss is None:
        return "y must hold class labels for this test, but it holds real values"
    return (
        f"loss={loss.name!r} needs class labels, but y holds real values: "
        "use loss='squared' or 'absolute'"
    )


def _coded(output: Output, y: np.ndarray, pos_label: Any) -> bool:
    """Whether labels, or numbers that may be labels, are coded as classes for this output."""
    if output in ("label", "probability", "score") or pos_label is not None:
        return True
    # Squared and absolute error take numbers as they are, and code two labels 0/1.
    return y.dtype.kind not in "iuf" or len(np.unique(y)) <= 2


def _check_matrix(loss: Loss | None, sample: Sample) -> None:
    if loss is not None and loss.matrix is not None and len(loss.matrix) != sample.n_classes:
        classes = ", ".join(map(repr, np.asarray(sample.classes).tolist()))
        raise ValueError(
            f"loss has shape {loss.matrix.shape}, but y has {sample.n_classes} classes "
            f"({classes}): pass one row for each true class and one column for each prediction"
        )


def _jsonable(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
