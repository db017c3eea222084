"""Jitted learners in the place of scikit-learn estimators, for the same predictions.

`TABLE` has a row for each class of estimators: the parameters with which a learner of ours predicts
the same, that learner, and what the sample must be. Everything else is fitted by scikit-learn, and
so is a learning set whose predictions depend on the last digits or on an arbitrary order (a score
at the cut, a singular matrix, the choice among equally distant neighbours).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np

from ucvtest.common.float64 import AbsentJax, jax
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.adapters.early_stops import LARGEST_TOL, stops_early
from ucvtest.learners.adapters.estimators import RefusedEstimator, SklearnLearner
from ucvtest.learners.adapters.translated import TranslatedLearner
from ucvtest.learners.base import JittedLearner, class_members
from ucvtest.learners.jitted.discriminant import (
    GaussianNaiveBayes,
    LinearDiscriminant,
    NearestCentroid,
    QuadraticDiscriminant,
)
from ucvtest.learners.jitted.kernel_ridge import Kernel, KernelRidge
from ucvtest.learners.jitted.lasso import PenalizedLogistic
from ucvtest.learners.jitted.logistic import RidgeLogistic
from ucvtest.learners.jitted.majority import Majority
from ucvtest.learners.jitted.neighbors import NearestNeighbors
from ucvtest.learners.jitted.ridge import OneAgainstRest, Ridge
from ucvtest.learners.jitted.scaled_neighbors import ScaledNeighbors

LASSO_STEPS = 1000
"""Newton steps that a fit with an l1 penalty may take."""

MOST_SORTED = 10_000
"""Most observations whose neighbours are sorted, which scikit-learn does without."""

MOST_DIFFERENCES = 2**24
"""Differences of all pairs in all features that are kept: 128 MB."""

LSTSQ_TOLERANCE = 1e-6
"""Share of the largest singular value below which LinearRegression drops a direction."""

LEAST_PIVOT = 1e3 * LSTSQ_TOLERANCE**2
"""Pivots of X'X above this share of the largest diagonal element leave no such direction."""

MOST_SPREADS = 1e6
"""Distance of a column from zero, in its standard deviations, at which scikit-learn's sums have
lost too many digits."""

FEWEST_TOLERANCES = 10.0
"""Singular values of a class, in units of scikit-learn's tolerance, above which those of learning
sets are above it too."""

MAXIMUM_LIKELIHOOD = (1, 9)
"""First version of scikit-learn in which both discriminant analyses divide by n."""

KERNELS: dict[str, Kernel] = {
    "linear": "linear",
    "rbf": "rbf",
    "poly": "polynomial",
    "polynomial": "polynomial",
}
"""Our names of scikit-learn's kernels."""


@dataclass(frozen=True, eq=False)
class Case:
    """An estimator and what it is fitted to."""

    learner: SklearnLearner
    estimator: Any
    standardize: bool
    """Whether it gets features from a StandardScaler."""
    sample: Sample
    output: Output

    def __getitem__(self, parameter: str) -> Any:
        return getattr(self.estimator, parameter)

    @cached_property
    def classes_ascend(self) -> bool:
        """Whether the first class is that of scikit-learn, the smallest label."""
        classes = self.sample.classes
        return classes is None or bool((classes[:-1] < classes[1:]).all())


@dataclass(frozen=True)
class Row:
    """The learner with the predictions of a class of estimators.

    Parameters of the estimator that are not named must have their default.
    """

    ours: Callable[[Case], JittedLearner]
    equal: Mapping[str, Callable[[Any], bool]] = field(default_factory=dict)
    """Parameters that our learner has too, and the values with which it predicts the same."""
    free: tuple[str, ...] = ()
    """Parameters without influence on predictions."""
    needs: tuple[Callable[[Case], str], ...] = ()
    """Why a sample or an output is left to scikit-learn; "" where it is not."""
    outputs: Callable[[Case], Mapping[Output, Output]] = lambda case: {}
    """What ours is asked for, where it is not what the loss needs."""
    signed_score: bool = False
    """Whether classes are numbered -1 and 1."""
    may_stop: bool = False
    """Whether scikit-learn may stop before it has converged."""


# ----------------------------------------------------------------- what a sample or an output needs


def two_classes(case: Case) -> str:
    """More classes are other models."""
    n_classes = case.sample.n_classes
    return f"y has {n_classes} classes" if n_classes > 2 else ""


def no_class_scores(case: Case) -> str:
    """Scores of more than two classes are in other units."""
    n_classes = case.sample.n_classes
    several = n_classes > 2 and case.output == "score"
    return f"its scores of {n_classes} classes are in other units" if several else ""


def labels_alone(case: Case) -> str:
    """Scores of two classes are in other units as well."""
    return "" if case.output == "label" else f"its {case.output} is in other units"


def order_of_classes(case: Case) -> str:
    """Equally many votes are for the smallest label, and here for the first class."""
    changed = case.sample.n_classes > 2 and not case.classes_ascend
    return "pos_label changes the order of more than two classes" if changed else ""


def maximum_likelihood(case: Case) -> str:
    """Older versions divide by the degrees of freedom."""
    import sklearn

    version = tuple(map(int, sklearn.__version__.split(".")[:2]))
    return (
        "" if version >= MAXIMUM_LIKELIHOOD else f"solver={getattr(case.estimator, 'solver', '')!r}"
    )


def columns_near_zero(case: Case) -> str:
    """Far from zero, scikit-learn's sums lose digits."""
    matrix = case.sample.matrix
    # The remainder of a constant column is a rounding error.
    varies = np.ptp(matrix, axis=0) > 0
    far = np.abs(matrix).max(axis=0) > MOST_SPREADS * matrix.std(axis=0)
    if case.standardize or not far[varies].any():
        return ""
    return f"X has a column more than {MOST_SPREADS:.0f} standard deviations away from zero"


def spread_within_classes(case: Case) -> str:
    """scikit-learn's tolerance is absolute, and it refuses what varies less."""
    if case.standardize:
        return ""
    for label, members in enumerate(class_members(case.sample).T > 0):
        features = case.sample.matrix[members]
        values = np.linalg.svd(features - features.mean(axis=0), compute_uv=False)
        if values[-1] <= FEWEST_TOLERANCES * float(case["tol"]):
            return f"X hardly varies within class {label}"
    return ""


def few_scaled_features(case: Case) -> str:
    """Inner products of features that are standardised in each set are not shared."""
    n_obs, n_features = case.sample.matrix.shape
    if case.standardize and n_features > n_obs:
        return f"StandardScaler before {type(case.estimator).__name__}"
    return ""


def pairs_that_fit(case: Case) -> str:
    """Pairs of observations are kept, and differences of all features where these are scaled."""
    n_obs, n_features = case.sample.matrix.shape
    if case.standardize and n_obs**2 * n_features > MOST_DIFFERENCES:
        name = type(case.estimator).__name__
        return f"StandardScaler before {name} with {n_obs} observations of {n_features} features"
    return f"more than {MOST_SORTED} observations" if n_obs > MOST_SORTED else ""


# ---------------------------------------------------------------------------- learners with options


def _ridge(case: Case) -> Ridge:
    kind = OneAgainstRest if case.sample.n_classes > 2 else Ridge
    return kind(float(case["alpha"]), standardize=case.standardize, careful=True)


def _kernel_ridge(case: Case) -> KernelRidge:
    return KernelRidge(
        float(case["alpha"]),
        KERNELS[case["kernel"]],
        **{name: case[name] for name in ("gamma", "degree", "coef0")},
        standardize=case.standardize,
        careful=True,
    )


def _least_squares(case: Case) -> Ridge:
    # A StandardScaler only changes which values are small compared with the largest: the fit is the
    # same for all invertible linear maps.
    return Ridge(0.0, careful=True, least_pivot=0.0 if case.standardize else LEAST_PIVOT)


def _logistic(case: Case) -> JittedLearner:
    ratio = 0.0 if case["l1_ratio"] is None else float(case["l1_ratio"])
    l1_ratio = {"l2": 0.0, "l1": 1.0, None: 0.0}.get(case["penalty"], ratio)
    lam = 0.0 if case["penalty"] is None else 1.0 / float(case["C"])
    if l1_ratio == 0:
        return RidgeLogistic(lam, case.standardize, "sum", careful=True)
    return PenalizedLogistic(lam, l1_ratio, LASSO_STEPS, case.standardize, "sum", careful=True)


def _fittable(case: Case) -> str:
    """What scikit-learn checks in its fit alone, and penalties without a sum of squares."""
    penalty, ratio = case["penalty"], case["l1_ratio"]
    lasso = penalty == "l1" or (penalty not in ("l2", None) and bool(ratio))
    if case["solver"] != "saga" and (lasso or penalty == "elasticnet"):
        problem = ValueError(f"solver={case['solver']!r} has no l1 penalty: use solver='saga'")
        raise RefusedEstimator(case.learner.name, problem)
    if penalty == "elasticnet" and ratio is None:
        problem = ValueError("penalty='elasticnet' needs l1_ratio")
        raise RefusedEstimator(case.learner.name, problem)
    return f"C={case['C']!r}" if lasso and np.isinf(case["C"]) else ""


def _neighbors(case: Case) -> JittedLearner:
    # Equally many votes are for the smallest label, a mean of 1/2 for the first class.
    first = case.classes_ascend or case.learner.regresses
    kind = ScaledNeighbors if case.standardize else NearestNeighbors
    return kind(case["n_neighbors"], "first" if first else "second")


def _certain(case: Case) -> Mapping[Output, Output]:
    certain: Mapping[Output, Output] = {
        "number": "label",
        "probability": "label",
        "score": "label",
    }
    return certain if case["strategy"] == "most_frequent" else {}


def _one_of(*values: Any) -> Callable[[Any], bool]:
    return lambda value: value in values


def _at_most(largest: float) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, Real) and float(value) <= largest


def _number(value: Any) -> bool:
    return isinstance(value, Real)


def _anything(value: Any) -> bool:
    return True


OF_RIDGE = {"alpha": _number, "solver": _one_of("auto", "cholesky", "svd")}
FREE_OF_RIDGE = ("copy_X", "random_state", "max_iter", "tol")

NEIGHBORS = Row(
    _neighbors,
    # Others with p = 2 are the same.
    equal={"n_neighbors": _anything, "metric": _one_of("minkowski", "euclidean")},
    free=("algorithm", "leaf_size", "n_jobs"),
    needs=(order_of_classes, pairs_that_fit),
)

# By name, so that only estimators that are used get imported.
TABLE: Mapping[str, Row] = {
    # A StandardScaler changes nothing: the rule is the same for all invertible linear maps.
    "LinearDiscriminantAnalysis": Row(
        lambda case: LinearDiscriminant(careful=True),
        free=("store_covariance",),
        needs=(no_class_scores, maximum_likelihood),
    ),
    "QuadraticDiscriminantAnalysis": Row(
        lambda case: QuadraticDiscriminant(careful=True),
        free=("store_covariance",),
        needs=(no_class_scores, spread_within_classes, maximum_likelihood),
    ),
    "GaussianNB": Row(
        lambda case: GaussianNaiveBayes(standardize=case.standardize, careful=True),
        needs=(no_class_scores,),
        # It has no decision function, so its scores are probabilities.
        outputs=lambda case: {"score": "probability"},
    ),
    "NearestCentroid": Row(
        lambda case: NearestCentroid(standardize=case.standardize, careful=True),
        needs=(labels_alone,),
    ),
    "Ridge": Row(_ridge, OF_RIDGE, FREE_OF_RIDGE, (few_scaled_features,)),
    # With an intercept the fit to -1 and 1 is twice that to 0 and 1, minus one.
    "RidgeClassifier": Row(
        _ridge, OF_RIDGE, FREE_OF_RIDGE, (few_scaled_features,), signed_score=True
    ),
    "LinearRegression": Row(
        _least_squares, {"tol": _at_most(LSTSQ_TOLERANCE)}, free=("copy_X", "n_jobs")
    ),
    "KernelRidge": Row(
        _kernel_ridge,
        equal={
            "alpha": lambda value: _number(value) and value > 0,
            "kernel": _one_of(*KERNELS),
            **dict.fromkeys(("gamma", "degree", "coef0"), _anything),
        },
    ),
    "LogisticRegression": Row(
        _logistic,
        equal={
            # liblinear adds the intercept as a feature, and so penalises it.
            "solver": lambda value: value != "liblinear",
            # A larger one stops where predictions are still other ones.
            "tol": _at_most(LARGEST_TOL),
            **dict.fromkeys(("C", "l1_ratio", "penalty"), _anything),
        },
        free=("max_iter", "random_state", "n_jobs", "verbose", "warm_start", "intercept_scaling"),
        needs=(two_classes, _fittable),
        may_stop=True,
    ),
    "KNeighborsClassifier": NEIGHBORS,
    "KNeighborsRegressor": NEIGHBORS,
    "DummyClassifier": Row(
        lambda case: Majority("first" if case.classes_ascend else "second"),
        equal={"strategy": _one_of("prior", "most_frequent")},
        free=("random_state", "constant"),
        needs=(
            order_of_classes,
            lambda case: no_class_scores(case) if case["strategy"] == "most_frequent" else "",
        ),
        outputs=_certain,
    ),
}


def translate(
    learner: SklearnLearner, sample: Sample, output: Output, learn_size: int
) -> TranslatedLearner:
    """The jitted learner with the same predictions as a scikit-learn estimator.

    Errors name the parameter, or the property that the sample does not have.

    Raises
    ------
    ValueError
        If there is none.
    RefusedEstimator
        If scikit-learn would refuse to fit it.
    """
    if isinstance(jax, AbsentJax):
        raise ValueError("JAX cannot be imported")
    if sample.n_classes > 2 and output == "probability":
        raise ValueError(f"its probabilities of {sample.n_classes} classes are not compared")
    estimator, standardize = _without_scaler(learner.estimator)
    row = TABLE.get(_class_name(estimator))
    if row is None:
        raise ValueError(f"{type(estimator).__name__} is not translated")
    _refuse_other_parameters(estimator, row.equal, row.free)
    columns = getattr(sample.features, "dtypes", None)
    for dtype in [sample.features.dtype] if columns is None else list(columns):
        if dtype in (np.float16, np.float32):
            raise ValueError(f"X contains {dtype}, in which scikit-learn computes")
    case = Case(learner, estimator, standardize, sample, output)
    for need in (columns_near_zero, *row.needs):
        if reason := need(case):
            raise ValueError(reason)
    jitted, outputs = row.ours(case), row.outputs(case)
    jitted.check(sample, outputs.get(output, output), learn_size)
    stops = partial(stops_early, learner, sample) if row.may_stop else None
    return TranslatedLearner(learner, jitted, outputs, row.signed_score, stops)


def _without_scaler(estimator: Any) -> tuple[Any, bool]:
    """The estimator at the end, and whether it gets features from a StandardScaler."""
    if _class_name(estimator) != "Pipeline":
        return estimator, False
    steps = [step for _, step in estimator.steps]
    if len(steps) == 1:
        return steps[0], False
    if len(steps) > 2 or _class_name(steps[0]) != "StandardScaler":
        names = ", ".join(type(step).__name__ for step in steps[:-1])
        raise ValueError(f"a pipeline with {names} is not translated")
    _refuse_other_parameters(steps[0], {}, ("copy",))
    return steps[1], True


def _class_name(estimator: Any) -> str:
    """Name of a class of scikit-learn; empty for others, which may derive from one."""
    kind = type(estimator)
    return kind.__name__ if kind.__module__.startswith("sklearn.") else ""


def _refuse_other_parameters(
    estimator: Any, equal: Mapping[str, Callable[[Any], bool]], free: tuple[str, ...]
) -> None:
    """Refuse values with which predictions may be other ones."""
    for name, parameter in signature(type(estimator)).parameters.items():
        value, default = getattr(estimator, name), parameter.default
        is_default = value is default or (
            np.isscalar(value) and type(value) is type(default) and value == default
        )
        if not (name in free or is_default or (name in equal and equal[name](value))):
            raise ValueError(f"{name}={value!r:.60}")
