"""Learners by a name alone: scikit-learn's estimators of that name, with their defaults."""

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar

from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.adapters.estimators import SklearnLearner
from ucvtest.learners.base import Learner, needs_labels

Recipe = tuple[str, dict[str, Any]]
"""An estimator's class below `sklearn`, and what differs from its defaults."""

# Solvers of l1 penalties need more steps than the default allows.
LASSO: Recipe = ("linear_model.LogisticRegression", {"solver": "saga", "max_iter": 10_000})

DEFAULTS: dict[str, tuple[Recipe, Recipe, Recipe | None]] = {
    "elastic_net": (LASSO, LASSO, ("linear_model.ElasticNet", {})),
    "knn": (
        ("neighbors.KNeighborsClassifier", {}),
        ("neighbors.KNeighborsClassifier", {}),
        ("neighbors.KNeighborsRegressor", {}),
    ),
    "lasso": (LASSO, LASSO, ("linear_model.Lasso", {})),
    "logistic": (
        ("linear_model.LogisticRegression", {}),
        ("linear_model.LogisticRegression", {}),
        None,
    ),
    "random_forest": (
        ("ensemble.RandomForestClassifier", {}),
        ("ensemble.RandomForestClassifier", {}),
        ("ensemble.RandomForestRegressor", {}),
    ),
    "ridge": (
        ("linear_model.Ridge", {}),
        ("linear_model.RidgeClassifier", {}),
        ("linear_model.Ridge", {}),
    ),
    "svm": (("svm.SVC", {}), ("svm.SVC", {}), ("svm.SVR", {})),
}
"""For two classes, for more classes, and for numbers; None if there is none."""

L1_RATIOS = {"elastic_net": 0.5, "lasso": 1.0}


@dataclass(frozen=True, eq=False)
class NamedEstimator(SklearnLearner):
    """An estimator that was asked for by a name alone, and keeps it."""

    called: str = ""

    with_probabilities = Learner.with_probabilities

    @cached_property
    def name(self) -> str:
        """The name that was given."""
        return self.called

    def note_on(self, sample: Sample) -> str:
        """Which estimator the name stands for."""
        text = " ".join(repr(self.estimator).split())
        return f'"{self.called}" without a number behind it is the default of its package, {text}.'


@dataclass(frozen=True, eq=False)
class NamedLearner(Learner):
    """A name alone; which estimator it stands for depends on the response."""

    backend: ClassVar[str] = "sklearn"

    called: str

    @property
    def name(self) -> str:
        """The name that was given."""
        return self.called

    @property
    def regresses(self) -> bool:
        """Whether its estimator for two classes predicts numbers, as for `SklearnLearner`."""
        return self.called == "ridge"

    def for_sample(self, sample: Sample) -> Learner:
        """The estimator with this name, for this kind of response."""
        two_classes, several, numbers = DEFAULTS[self.called]
        if sample.classes is None:
            if numbers is None:
                raise ValueError(needs_labels(self.called))
            return NamedEstimator(_make_estimator(self.called, numbers), self.called)
        estimator_name = several if sample.n_classes > 2 else two_classes
        return NamedEstimator(_make_estimator(self.called, estimator_name), self.called)

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse what the estimator cannot do."""
        self.for_sample(sample).check(sample, output, learn_size)


def meaning(called: str) -> str:
    """Which estimators a name alone stands for, in words."""
    two_classes, several, numbers = (
        None if recipe is None else " ".join(repr(_make_estimator(called, recipe)).split())
        for recipe in DEFAULTS[called]
    )
    kinds_by_estimator = (
        {two_classes: "classes"} if two_classes == several else {two_classes: "two classes"}
    )
    kinds_by_estimator.setdefault(several, "more classes")
    if numbers in kinds_by_estimator:
        kinds_by_estimator[numbers] += " and numbers"
    elif numbers is not None:
        kinds_by_estimator[numbers] = "numbers"
    return "; ".join(f"{estimator} for {kind}" for estimator, kind in kinds_by_estimator.items())


def _make_estimator(called: str, recipe: Recipe) -> Any:
    import ucvtest.common.quiet_imports  # noqa: F401  (see there)

    path, options = recipe
    module, _, name = path.rpartition(".")
    if name == "LogisticRegression" and called in L1_RATIOS:
        import sklearn

        options = options | {"l1_ratio": L1_RATIOS[called]}
        # Before 1.8 scikit-learn reads the ratio for one value of `penalty` alone.
        if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8):
            options["penalty"] = "elasticnet"
    return getattr(import_module(f"sklearn.{module}"), name)(**options)
