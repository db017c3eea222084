"""Are scikit-learn estimators as quick as the jitted learners that stand for them?

An estimator is translated where that changes no prediction (`backend="auto"`); both are asked for
the same predictions through the same evaluator as the tests, learning sets in and labels out. In
turn, by the least processor time of all cores; the ratio is that of the string to the object, so
that 1 means as quick.

    python studies/benchmarks/estimators.py --quick
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from studies.benchmarks.machine import versions
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample, make_sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.adapters.backends import choose_backend
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.learners.base import Learner

N_OBS, LEARN_SIZE = 120, 58

COLUMNS = ("estimator", "learner", "classes", "p", "object us", "string us", "ratio")


@dataclass(frozen=True)
class Case:
    """An estimator, the string for the same learner, and on how many classes and features."""

    estimator: Any
    learner: str
    n_classes: int = 2
    n_features: int = 4

    @property
    def output(self) -> Output:
        """The predictions."""
        return "label" if self.n_classes else "number"


CASES = (
    Case(LinearDiscriminantAnalysis(), "lda"),
    Case(LinearDiscriminantAnalysis(), "lda", n_features=20),
    Case(LinearDiscriminantAnalysis(), "lda", n_classes=3),
    Case(QuadraticDiscriminantAnalysis(), "qda"),
    Case(GaussianNB(), "gaussian_nb"),
    Case(GaussianNB(), "gaussian_nb", n_classes=3),
    Case(NearestCentroid(), "nearest_centroid"),
    Case(RidgeClassifier(1.0), "ridge:1.0"),
    Case(Ridge(1.0), "ridge:1.0", n_classes=0),
    Case(LinearRegression(), "ridge:0", n_classes=0),
    Case(KernelRidge(alpha=1.0, kernel="rbf", gamma=0.5), "kernel_ridge:1.0,gamma=0.5", 0),
    Case(LogisticRegression(), "logistic:1.0,standardize=false,scale=sum"),
    Case(
        LogisticRegression(C=0.5, l1_ratio=1.0, solver="saga"),
        "lasso:2.0,standardize=false,scale=sum",
    ),
    Case(KNeighborsClassifier(3), "knn:3"),
    Case(KNeighborsClassifier(3), "knn:3", n_classes=3),
    Case(DummyClassifier(), "majority"),
)


def draw_sample(case: Case) -> Sample:
    """Shifted normal classes, or a linear model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_OBS, case.n_features))
    if not case.n_classes:
        return make_sample(X, X[:, 0] + rng.normal(size=N_OBS), as_classes=False)
    y = np.arange(N_OBS) % case.n_classes
    return make_sample(X + 0.6 * y[:, None], y, as_classes=True)


def processor_seconds(work: Callable[[], Any]) -> float:
    """Processor time of all cores."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(case: Case, n_sets: int, repeats: int) -> tuple[str, ...]:
    """One row of the table."""
    sample = draw_sample(case)
    member = np.arange(N_OBS) < LEARN_SIZE
    learning = np.random.default_rng(1).permuted(np.tile(member, (n_sets, 1)), axis=1)
    testing, seeds = ~learning, np.arange(n_sets)
    named = as_learner(case.learner)
    learners: list[Learner] = [
        choose_backend(as_learner(case.estimator), "jax", sample, case.output, LEARN_SIZE),
        named,
    ]
    evaluators = [Evaluator(sample, each, case.output) for each in learners]
    least = [np.inf, np.inf]
    for turn in range(repeats + 1):
        for place, each in enumerate(evaluators):
            spent = processor_seconds(lambda e=each: e.predict_all(learning, testing, seeds))
            # The first turn compiles.
            least[place] = min(least[place], spent) if turn else least[place]
    ours, theirs = (seconds / n_sets * 1e6 for seconds in least)
    name = type(case.estimator).__name__
    shown = (name, case.learner, str(case.n_classes or "none"), str(case.n_features))
    return (*shown, f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer fits")
    n_sets, repeats = (512, 1) if parser.parse_args().quick else (10_240, 12)
    warnings.simplefilter("ignore")
    print(f"{versions()}; {n_sets} learning sets at a time")
    print(" | ".join(COLUMNS))
    for case in CASES:
        print(" | ".join(measure(case, n_sets, repeats)), flush=True)


if __name__ == "__main__":
    main()
