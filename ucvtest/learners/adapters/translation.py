"""Jitted learners in the place of scikit-learn estimators, for the same predictions.

An estimator is translated where the sample and every parameter allow it. What then depends on
the last digits or on an arbitrary order (a score at the cut, a singular matrix, the choice
among equally distant neighbours) is left open by the jitted learner, and the evaluation has
scikit-learn fit that learning set.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from inspect import signature
from numbers import Real
from typing import Any, NoReturn

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
from ucvtest.learners.jitted.kernel_ridge import KernelRidge
from ucvtest.learners.jitted.lasso import PenalizedLogistic
from ucvtest.learners.jitted.logistic import RidgeLogistic
from ucvtest.learners.jitted.majority import Majority
from ucvtest.learners.jitted.neighbors import SurestNeighbors
from ucvtest.learners.jitted.ridge import OneAgainstRest, Ridge
from ucvtest.learners.jitted.scaled_neighbors import ScaledNeighbors

LASSO_STEPS = 1000
"""Newton steps that a fit with an l1 penalty may take."""

MOST_DIFFERENCES = 2**24
"""Differences of all pairs in all features that are kept: 128 MB."""

LSTSQ_TOLERANCE = 1e-6
"""Share of the largest singular value below which LinearRegression drops a direction."""

LEAST_PIVOT = 1e3 * LSTSQ_TOLERANCE**2
"""Pivots of X'X above this share of the largest diagonal element leave no such direction."""

MOST_SPREADS = 1e6
"""Distance of a column from zero, in its standard deviations, at which scikit-learn's sums have
lost too many digits."""

FEW_SPREADS = 1e3
"""The same where scikit-learn squares such distances."""

UNITS = 1e5
"""Condition number of the centred features above which the covariance matrix (its condition number
is the square) has too few digits for scikit-learn's least squares."""

FEWEST_TOLERANCES = 10.0
"""Singular values of a class, in units of scikit-learn's tolerance, above which those of learning
sets are above it too."""

MAXIMUM_LIKELIHOOD = (1, 9)
"""First version of scikit-learn in which all solvers of both discriminant analyses divide by n."""


@dataclass(frozen=True, eq=False)
class TranslationCase:
    """An estimator and what it is fitted to."""

    learner: SklearnLearner
    estimator: Any
    standardize: bool
    sample: Sample
    output: Output

    def __getitem__(self, parameter: str) -> Any:
        return getattr(self.estimator, parameter)

    @cached_property
    def classes_ascend(self) -> bool:
        """Whether the first class is that of scikit-learn, the smallest label."""
        classes = self.sample.classes
        return classes is None or bool((classes[:-1] < classes[1:]).all())

    def needs(self, condition: bool, parameter: str) -> None:
        """Refuse a parameter's value unless a condition is met."""
        if not condition:
            refuse(f"{parameter}={self[parameter]!r}")

    def needs_two_classes(self) -> None:
        """Refuse more classes."""
        if self.sample.n_classes > 2:
            refuse(f"y has {self.sample.n_classes} classes")

    def needs_no_class_scores(self) -> None:
        """Refuse scores of more than two classes, which are in other units."""
        if self.sample.n_classes > 2 and self.output == "score":
            refuse(f"its scores of {self.sample.n_classes} classes are in other units")

    def needs_no_scaler(self) -> None:
        """Refuse a pipeline with a StandardScaler."""
        if self.standardize:
            refuse(f"StandardScaler before {type(self.estimator).__name__}")

    def needs_differences_that_fit(self) -> None:
        """Refuse more observations and features than differences of all pairs have room for."""
        n_obs, n_features = self.sample.matrix.shape
        if n_obs**2 * n_features > MOST_DIFFERENCES:
            refuse(
                f"StandardScaler before {type(self.estimator).__name__} with {n_obs} observations "
                f"of {n_features} features"
            )

    def needs_columns_near_zero(self, most_deviations: float) -> None:
        """Refuse columns this many standard deviations away from zero."""
        matrix = self.sample.matrix
        spread = matrix.std(axis=0)
        # The remainder of a constant column is a rounding error.
        varies = np.ptp(matrix, axis=0) > 0
        if (
            not self.standardize
            and (np.abs(matrix).max(axis=0) > most_deviations * spread)[varies].any()
        ):
            refuse(
                f"X has a column more than {most_deviations:.0f} standard deviations away from zero"
            )

    def needs_similar_units(self) -> None:
        """Refuse features with a nearly singular covariance matrix, as it is in their units."""
        centred = self.sample.matrix - self.sample.matrix.mean(axis=0)
        if not self.standardize and np.linalg.cond(centred) > UNITS:
            refuse("the covariance matrix of X is nearly singular")

    def needs_spread_above(self, least_spread: float) -> None:
        """Refuse features that vary so little within a class that scikit-learn says not at all."""
        if self.standardize:
            return
        for label, members in enumerate(class_members(self.sample).T > 0):
            features = self.sample.matrix[members]
            values = np.linalg.svd(features - features.mean(axis=0), compute_uv=False)
            if values[-1] <= least_spread:
                refuse(f"X hardly varies within class {label}")

    def translated(self, jitted: JittedLearner, **options: Any) -> TranslatedLearner:
        """The translation into this jitted learner."""
        return TranslatedLearner(self.learner, jitted, **options)


def without_scaler(estimator: Any) -> tuple[Any, bool]:
    """The estimator at the end, and whether it gets features from a StandardScaler."""
    if class_name(estimator) != "Pipeline":
        return estimator, False
    steps = [step for _, step in estimator.steps]
    if len(steps) == 1:
        return steps[0], False
    if len(steps) > 2 or class_name(steps[0]) != "StandardScaler":
        names = ", ".join(type(step).__name__ for step in steps[:-1])
        refuse(f"a pipeline with {names} is not translated")
    refuse_other_parameters(steps[0], _Rule(_lda, free=("copy",)))
    return steps[1], True


def class_name(estimator: Any) -> str:
    """Name of a class of scikit-learn; empty for others, which may derive from one."""
    kind = type(estimator)
    return kind.__name__ if kind.__module__.startswith("sklearn.") else ""


def refuse(reason: str) -> NoReturn:
    """Say why an estimator is not translated."""
    raise ValueError(reason)


def refuse_other_parameters(estimator: Any, rule: "_Rule") -> None:
    """Refuse parameters that the rule does not know, unless they have their default."""
    for name, parameter in signature(type(estimator)).parameters.items():
        value = getattr(estimator, name)
        if name in rule.used or name in rule.free:
            continue
        is_default = value is parameter.default or (
            np.isscalar(value)
            and type(value) is type(parameter.default)
            and value == parameter.default
        )
        if not is_default:
            refuse(f"{name}={value!r:.60}")


@dataclass(frozen=True)
class _Rule:
    """How one class of estimators is translated.

    Parameters other than those used and those free must have their default.
    """

    build: Callable[[TranslationCase], TranslatedLearner]
    used: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    """Parameters without influence on predictions."""


def _divides_by_n() -> bool:
    import sklearn

    return (
        tuple(int(version_part) for version_part in sklearn.__version__.split(".")[:2])
        >= MAXIMUM_LIKELIHOOD
    )


def _lda(case: TranslationCase) -> TranslatedLearner:
    case.needs_no_class_scores()
    # A StandardScaler changes nothing: the rule is the same for all invertible linear maps.
    case.needs(case["solver"] != "svd" or _divides_by_n(), "solver")
    if case["solver"] != "svd":
        case.needs_columns_near_zero(FEW_SPREADS)
    if case["solver"] == "lsqr":
        case.needs_similar_units()
    return case.translated(LinearDiscriminant(careful=True))


def _qda(case: TranslationCase) -> TranslatedLearner:
    case.needs_no_class_scores()
    case.needs_spread_above(FEWEST_TOLERANCES * float(case["tol"]))
    case.needs(_divides_by_n(), "solver")
    return case.translated(QuadraticDiscriminant(careful=True))


def _gaussian_nb(case: TranslationCase) -> TranslatedLearner:
    case.needs_no_class_scores()
    # GaussianNB has no decision function, so its scores are probabilities.
    jitted = GaussianNaiveBayes(standardize=case.standardize)
    return case.translated(jitted, outputs={"score": "probability"})


def _nearest_centroid(case: TranslationCase) -> TranslatedLearner:
    if case.output != "label":
        refuse(f"its {case.output} is in other units")
    return case.translated(NearestCentroid(standardize=case.standardize))


def _ridge(case: TranslationCase) -> TranslatedLearner:
    return case.translated(_ridge_learner(case))


def _ridge_classifier(case: TranslationCase) -> TranslatedLearner:
    if case.sample.n_classes > 2:
        return case.translated(_ridge_learner(case, OneAgainstRest))
    # With an intercept the fit to -1 and 1 is twice that to 0 and 1, minus one.
    return case.translated(_ridge_learner(case), signed_score=True)


def _least_squares(case: TranslationCase) -> TranslatedLearner:
    tolerance = getattr(case.estimator, "tol", 0.0)
    case.needs(isinstance(tolerance, Real) and float(tolerance) <= LSTSQ_TOLERANCE, "tol")
    # A StandardScaler only changes which values are small compared with the largest: the fit is the
    # same for all invertible linear maps.
    least_pivot = 0.0 if case.standardize else LEAST_PIVOT
    return case.translated(Ridge(0.0, careful=True, least_pivot=least_pivot))


def _ridge_learner(case: TranslationCase, kind: type[Ridge] = Ridge) -> Ridge:
    case.needs(isinstance(case["alpha"], Real), "alpha")
    case.needs(case["solver"] in ("auto", "cholesky", "svd"), "solver")
    n_obs, n_features = case.sample.matrix.shape
    if case.standardize and n_features > n_obs:
        case.needs_no_scaler()
    return kind(float(case["alpha"]), standardize=case.standardize, careful=True)


def _kernel_ridge(case: TranslationCase) -> TranslatedLearner:
    case.needs(isinstance(case["alpha"], Real) and float(case["alpha"]) > 0, "alpha")
    kernel = {"poly": "polynomial"}.get(case["kernel"], case["kernel"])
    case.needs(kernel in ("linear", "rbf", "polynomial"), "kernel")
    options = {name: case[name] for name in ("gamma", "degree", "coef0")}
    jitted = KernelRidge(
        float(case["alpha"]), kernel, **options, standardize=case.standardize, careful=True
    )
    return case.translated(jitted)


def _logistic(case: TranslationCase) -> TranslatedLearner:
    case.needs_two_classes()
    # liblinear adds the intercept as a feature, and so penalises it.
    case.needs(case["solver"] != "liblinear", "solver")
    # A larger one stops where predictions are still other ones.
    case.needs(isinstance(case["tol"], Real) and float(case["tol"]) <= LARGEST_TOL, "tol")
    l1_ratio, lam = _logistic_penalty(case)
    case.needs(l1_ratio == 0 or lam > 0, "C")
    early_stop = partial(stops_early, case.learner, case.sample, standardize=case.standardize)
    if l1_ratio == 0:
        jitted = RidgeLogistic(lam, case.standardize, "sum")
        return case.translated(jitted, exact_scores=False, early_stop=early_stop)
    lasso = PenalizedLogistic(lam, l1_ratio, LASSO_STEPS, case.standardize, "sum")
    return case.translated(lasso, early_stop=early_stop)


def _logistic_penalty(case: TranslationCase) -> tuple[float, float]:
    """Share of the absolute values in the penalty, and its weight."""
    ratio = 0.0 if case["l1_ratio"] is None else float(case["l1_ratio"])
    penalty, solver = case["penalty"], case["solver"]
    l1_ratio = {"l2": 0.0, "l1": 1.0, None: 0.0}.get(penalty, ratio)
    # scikit-learn checks these two together in its fit alone.
    if solver != "saga" and (l1_ratio > 0 or penalty == "elasticnet"):
        problem = ValueError(f"solver={solver!r} has no l1 penalty: use solver='saga'")
        raise RefusedEstimator(case.learner.name, problem)
    if penalty == "elasticnet" and case["l1_ratio"] is None:
        problem = ValueError("penalty='elasticnet' needs l1_ratio")
        raise RefusedEstimator(case.learner.name, problem)
    return l1_ratio, 0.0 if penalty is None else 1.0 / float(case["C"])


def _neighbors(case: TranslationCase) -> TranslatedLearner:
    is_euclidean = case["metric"] == "euclidean" or (
        case["metric"] == "minkowski" and case["p"] == 2
    )
    case.needs(is_euclidean, "p" if case["metric"] == "minkowski" else "metric")
    # Equally many votes are for the smallest label, a mean of 1/2 for the first class.
    votes = class_name(case.estimator) == "KNeighborsClassifier"
    if votes and case.sample.n_classes > 2 and not case.classes_ascend and case.output == "label":
        refuse("pos_label changes the order of more than two classes")
    ties_to_first = case.classes_ascend or not votes
    if case.standardize:
        case.needs_differences_that_fit()
        jitted: JittedLearner = ScaledNeighbors(case["n_neighbors"], ties_to_first)
    else:
        jitted = SurestNeighbors(case["n_neighbors"], ties_to_first)
    return case.translated(jitted, exact_scores=False)


def _dummy(case: TranslationCase) -> TranslatedLearner:
    case.needs(case["strategy"] in ("prior", "most_frequent"), "strategy")
    if case.sample.n_classes > 2 and not case.classes_ascend:
        refuse("pos_label changes the order of more than two classes")
    if case["strategy"] == "most_frequent":
        case.needs_no_class_scores()
    jitted = Majority("first" if case.classes_ascend else "second")
    certain: Mapping[Output, Output] = {
        "number": "label",
        "probability": "label",
        "score": "label",
    }
    outputs = certain if case["strategy"] == "most_frequent" else {}
    return case.translated(jitted, outputs=outputs, exact_scores=False)


# By name, so that only estimators that are used get imported.
RULES: Mapping[str, _Rule] = {
    "LinearDiscriminantAnalysis": _Rule(_lda, used=("solver",), free=("store_covariance",)),
    "QuadraticDiscriminantAnalysis": _Rule(_qda, used=("solver",), free=("store_covariance",)),
    "GaussianNB": _Rule(_gaussian_nb),
    "NearestCentroid": _Rule(_nearest_centroid),
    "Ridge": _Rule(
        _ridge, used=("alpha", "solver"), free=("copy_X", "random_state", "max_iter", "tol")
    ),
    "RidgeClassifier": _Rule(
        _ridge_classifier,
        used=("alpha", "solver"),
        free=("copy_X", "random_state", "max_iter", "tol"),
    ),
    "LinearRegression": _Rule(_least_squares, used=("tol",), free=("copy_X", "n_jobs")),
    "KernelRidge": _Rule(_kernel_ridge, used=("alpha", "kernel", "gamma", "degree", "coef0")),
    "LogisticRegression": _Rule(
        _logistic,
        used=("C", "l1_ratio", "penalty", "solver"),
        free=(
            *("tol", "max_iter", "random_state", "n_jobs", "verbose", "warm_start"),
            "intercept_scaling",
        ),
    ),
    "KNeighborsClassifier": _Rule(
        _neighbors, used=("n_neighbors", "metric", "p"), free=("algorithm", "leaf_size", "n_jobs")
    ),
    "KNeighborsRegressor": _Rule(
        _neighbors, used=("n_neighbors", "metric", "p"), free=("algorithm", "leaf_size", "n_jobs")
    ),
    "DummyClassifier": _Rule(_dummy, used=("strategy",), free=("random_state", "constant")),
}


def translate(
    learner: SklearnLearner, sample: Sample, output: Output, learn_size: int
) -> TranslatedLearner:
    """The jitted learner with the same predictions as a scikit-learn estimator.

    Errors name the parameter, or the property that the sample does not have.

    LogisticRegression is fitted to the end, until rounding errors stop it (with an l1 penalty:
    until no optimality condition is violated by more than 1e-9), whatever `tol` and `max_iter` are.
    scikit-learn's solvers stop earlier; where they do not converge on the whole sample, the
    translation has a remark. saga, which looks at the slopes only, leaves an intercept that depends
    on `random_state` where all of them are zero.

    Raises
    ------
    ValueError
        If there is none.
    RefusedEstimator
        If scikit-learn would refuse to fit it.
    """
    if isinstance(jax, AbsentJax):
        refuse("JAX cannot be imported")
    if sample.n_classes > 2 and output == "probability":
        refuse(f"its probabilities of {sample.n_classes} classes are not compared")
    estimator, standardize = without_scaler(learner.estimator)
    rule = RULES.get(class_name(estimator))
    if rule is None:
        refuse(f"{type(estimator).__name__} is not translated")
    refuse_other_parameters(estimator, rule)
    columns = getattr(sample.features, "dtypes", None)
    dtypes = [sample.features.dtype] if columns is None else list(columns)
    for dtype in dtypes:
        if dtype in (np.float16, np.float32):
            refuse(f"X contains {dtype}, in which scikit-learn computes")
    case = TranslationCase(learner, estimator, standardize, sample, output)
    case.needs_columns_near_zero(MOST_SPREADS)
    translated = rule.build(case)
    translated.jitted.check(sample, translated.outputs.get(output, output), learn_size)
    return translated
