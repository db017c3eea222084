"""The problems of the calibration study: finite populations from which samples are drawn.

Simulated problems are populations of 20 000, drawn once, so that the true risk of a rule is a mean
over known observations, as for the real data; samples are drawn without replacement.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from studies.calibration.columns import on_columns
from studies.data import DataMissing, data_set
from ucvtest.data.sample import Sample, make_sample
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.learners.base import JittedLearner, Learner
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.means import LOSSES

SIZES = (40, 60, 100, 200, 500)
AUC_SIZES = (40, 60, 100, 200)
SMALL_SIZES = (12, 20, 30)
BENCHMARK_SIZES = (100, 500)
LARGEST_SHARE = 0.2
"""Of a population in one sample. Without replacement the estimates vary less than those of
independent observations, by the root of one minus the share: more would flatter every test."""

SIMULATED = 20_000
SEED = 20261121


@dataclass(frozen=True, eq=False)
class Problem:
    """Two learners on one population.

    Parameters
    ----------
    name, words : str
    features : ndarray, shape (N, p)
    response : ndarray, shape (N,)
    learners : tuple of two learners
        The estimand is the expected loss of the first, and that of the first minus the second.
    loss : str
    equal : bool
        Whether both learners have the same expected loss at every learning-set size.
    no_signal : bool
        Whether labels are independent of features.
    auc : bool
        Whether the AUC is studied too; alone where it is the loss.
    held_out : bool
        Whether it was written down before the first run, and no choice rests on it.
    benchmark : bool
        Whether it is one of the public benchmark's.
    small : bool
        Whether its learners can learn from a few observations, so that small samples are studied.
    """

    name: str
    words: str
    features: np.ndarray
    response: np.ndarray
    learners: tuple[Any, Any]
    loss: str = "zero_one"
    equal: bool = False
    no_signal: bool = False
    auc: bool = False
    held_out: bool = False
    benchmark: bool = False
    small: bool = False

    @cached_property
    def fitted(self) -> tuple[Learner, Learner]:
        """The learners as objects."""
        return as_learner(self.learners[0]), as_learner(self.learners[1])

    @cached_property
    def sample(self) -> Sample:
        """The whole population."""
        return make_sample(self.features, self.response, as_classes=self.loss in LABELS)

    @property
    def loss_object(self) -> Loss:
        """The loss with its function."""
        return LOSSES[self.loss]

    @property
    def n_population(self) -> int:
        """Observations in the population."""
        return len(self.response)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sample sizes that are no more than a fifth of the population."""
        return self._small_enough(BENCHMARK_SIZES if self.benchmark else SIZES)

    @property
    def all_sizes(self) -> tuple[int, ...]:
        """Those at which the U-statistic test is studied: small ones too."""
        return (*SMALL_SIZES, *self.sizes) if self.small else self.sizes

    @property
    def auc_sizes(self) -> tuple[int, ...]:
        """Those at which the AUC is studied."""
        return self._small_enough(AUC_SIZES) if self.auc else ()

    def _small_enough(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(n for n in sizes if n <= LARGEST_SHARE * self.n_population)

    @property
    def quick(self) -> bool:
        """Whether fits cost microseconds."""
        slow = ("lasso", "logistic") if self.features.shape[1] > 20 else ("lasso",)
        return self._jitted and not any(each.name.startswith(slow) for each in self.fitted)

    @property
    def only_folds(self) -> bool:
        """Whether fits are so slow that tests on a few folds are all that is studied."""
        return self.benchmark and not self._jitted

    @property
    def _jitted(self) -> bool:
        return all(isinstance(learner, JittedLearner) for learner in self.fitted)

    def draw(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Numbers of the observations of one sample."""
        return rng.choice(self.n_population, size, replace=False)

    def class_sizes(self, size: int) -> tuple[int, int]:
        """Negatives and positives of a sample with as many as there are in the population."""
        n_positive = round(size * float(np.mean(self.sample.target == 1)))
        return size - n_positive, n_positive

    def draw_classes(self, rng: np.random.Generator, counts: tuple[int, int]) -> np.ndarray:
        """Numbers of observations of one sample, with given numbers of both classes."""
        found = [
            rng.choice(np.flatnonzero(self.sample.target == label), count, replace=False)
            for label, count in enumerate(counts)
        ]
        return rng.permutation(np.concatenate(found))


LABELS = ("zero_one", "log", "auc")


def normal_classes(
    rng: np.random.Generator, means: Any, deviations: Any, share: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    means, deviations = np.broadcast_arrays(np.asarray(means, dtype=float), deviations)
    y = (rng.random(SIMULATED) < share).astype(int)
    return rng.normal(size=(SIMULATED, len(means))) * deviations + means * y[:, None], y


def no_signal() -> Problem:
    rng = np.random.default_rng([SEED, 1])
    X = rng.normal(size=(SIMULATED // 2, 4)) * [1, 2, 1, 1]
    # Every point with both labels: each rule errs in half of the cases, exactly.
    return Problem(
        "no_signal",
        "labels independent of four normal features; LDA against nearest centroid",
        np.concatenate([X, X]),
        np.repeat([0, 1], len(X)),
        ("lda", "nearest_centroid"),
        equal=True,
        no_signal=True,
    )


def equal_learners() -> Problem:
    rng = np.random.default_rng([SEED, 2])
    y = rng.integers(0, 2, SIMULATED // 2)
    X = rng.normal(size=(len(y), 4)) + 0.8 * y[:, None]
    # Each point also with its two halves exchanged: neither half is better, exactly.
    return Problem(
        "equal",
        "four normal features; least squares on two of them against the other two, equally good",
        np.concatenate([X, X[:, [2, 3, 0, 1]]]),
        np.concatenate([y, y]),
        (on_columns("ridge:0", (0, 1)), on_columns("ridge:0", (2, 3))),
        equal=True,
        small=True,
    )


def weak() -> Problem:
    X, y = normal_classes(np.random.default_rng([SEED, 3]), [0.6] * 4, 1.0)
    words = "four normal features of equal spread; LDA against nearest centroid"
    return Problem("weak", words, X, y, ("lda", "nearest_centroid"), auc=True)


def weak_2() -> Problem:
    X, y = normal_classes(np.random.default_rng([SEED, 12]), [0.8] * 2, [1, 2])
    words = "two normal features; LDA against nearest centroid"
    return Problem("weak_2", words, X, y, ("lda", "nearest_centroid"), small=True)


def no_signal_2() -> Problem:
    X = np.random.default_rng([SEED, 13]).normal(size=(SIMULATED // 2, 2))
    return Problem(
        "no_signal_2",
        "labels independent of two normal features; naive Bayes against three nearest neighbours",
        np.concatenate([X, X]),
        np.repeat([0, 1], len(X)),
        ("gaussian_nb", "knn:3"),
        equal=True,
        small=True,
    )


def medium() -> Problem:
    X, y = normal_classes(np.random.default_rng([SEED, 4]), [0.8] * 4, [1, 4, 1, 1])
    words = "four normal features, one with four times the spread; LDA against nearest centroid"
    return Problem("medium", words, X, y, ("lda", "nearest_centroid"), auc=True)


def sparse() -> Problem:
    means = np.r_[np.full(10, 0.5), np.zeros(190)]
    X, y = normal_classes(np.random.default_rng([SEED, 5]), means, 1.0)
    words = "200 normal features, ten of which matter; lasso against nearest centroid"
    return Problem("sparse", words, X[:8000], y[:8000], ("lasso:0.08", "nearest_centroid"))


def ridge_regression() -> Problem:
    rng = np.random.default_rng([SEED, 6])
    X = 0.7 * rng.normal(size=(SIMULATED, 10)) + 0.7 * rng.normal(size=(SIMULATED, 1))
    y = X @ np.linspace(0, 0.4, 10) + rng.normal(size=SIMULATED)
    words = "ten correlated features, normal noise, squared loss; ridge against least squares"
    return Problem("ridge", words, X, y, ("ridge:5", "ridge:0"), loss="squared")


def skewed() -> Problem:
    rng = np.random.default_rng([SEED, 7])
    X = rng.normal(size=(SIMULATED, 5))
    noise = np.exp(0.8 * rng.normal(size=SIMULATED)) - np.exp(0.32)
    y = X @ np.full(5, 0.3) + noise
    words = "five features, log-normal noise, squared loss; ridge against least squares"
    return Problem("skewed", words, X, y, ("ridge:20", "ridge:0"), loss="squared")


def neighbours() -> Problem:
    rng = np.random.default_rng([SEED, 8])
    X = rng.normal(size=(SIMULATED // 2, 3))
    logit = 2 * X[:, 0] + 2 * X[:, 1] * X[:, 2]
    y = (rng.random(len(X)) < 1 / (1 + np.exp(-logit))).astype(int)
    words = "three features that interact; 5 nearest neighbours against LDA"
    return Problem("neighbours", words, X, y, ("knn:5", "lda"), auc=True)


def trees() -> Problem:
    rng = np.random.default_rng([SEED, 9])
    X = rng.normal(size=(SIMULATED // 2, 4))
    y = (rng.random(len(X)) < np.where((X[:, 0] > 0) & (X[:, 1] > -0.5), 0.85, 0.2)).astype(int)
    words = "four features, classes in a corner; a tree of depth 3 against logistic regression"
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    return Problem("trees", words, X, y, (tree, "logistic:1.0"))


def imbalance() -> Problem:
    X, y = normal_classes(np.random.default_rng([SEED, 10]), [0.9] * 4, [1, 2, 1, 1], 0.1)
    words = "classes 10:90, four normal features; LDA against naive Bayes"
    return Problem("imbalance", words, X, y, ("lda", "gaussian_nb"), auc=True)


def log_loss() -> Problem:
    X, y = normal_classes(np.random.default_rng([SEED, 11]), [0.6] * 4, [1, 2, 1, 1])
    words = "four normal features, log loss; LDA against ridge logistic regression"
    return Problem("log_loss", words, X, y, ("lda", "logistic:0.1"), loss="log")


def wdbc() -> Problem:
    X, y = load_breast_cancer(return_X_y=True)
    words = "WDBC, 569 x 30; naive Bayes against nearest centroid"
    return Problem("wdbc", words, _standardised(X), y, ("gaussian_nb", "nearest_centroid"))


def pima() -> Problem:
    X, y = read_data("pima")
    words = "pima, 768 x 8; LDA against naive Bayes"
    return Problem("pima", words, _standardised(X), y, ("lda", "gaussian_nb"), auc=True)


def ionosphere() -> Problem:
    X, y = read_data("ionosphere")
    words = "ionosphere, 351 x 33; ridge against 3 nearest neighbours"
    X = X[:, X.std(axis=0) > 0]
    return Problem("ionosphere", words, _standardised(X), y, ("ridge:10", "knn:3"))


def spambase() -> Problem:
    X, y = read_data("spambase")
    words = "spambase, 4601 x 57, logarithms; naive Bayes against nearest centroid"
    X = _standardised(np.log1p(X))
    return Problem("spambase", words, X, y, ("gaussian_nb", "nearest_centroid"), auc=True)


def letter() -> Problem:
    X, y = read_data("letter")
    words = "letter A-M against N-Z, 20000 x 16; 3 nearest neighbours against nearest centroid"
    return Problem(
        "letter", words, _standardised(X), (y > "M").astype(int), ("knn:3", "nearest_centroid")
    )


MAKERS: tuple[Callable[[], Problem], ...] = (
    no_signal,
    equal_learners,
    weak,
    weak_2,
    no_signal_2,
    medium,
    sparse,
    ridge_regression,
    skewed,
    neighbours,
    trees,
    imbalance,
    log_loss,
    wdbc,
    pima,
    ionosphere,
    spambase,
    letter,
)


@cache
def problems() -> dict[str, Problem]:
    """All problems by name; without the real data sets where their folder is missing."""
    found = {}
    from studies.calibration.auc_problems import MAKERS as OF_AUC
    from studies.calibration.benchmark_problems import MAKERS as OF_BENCHMARK
    from studies.calibration.held_out_problems import MAKERS as HELD_OUT
    from studies.calibration.unstable_problems import MAKERS as UNSTABLE

    for make in (*MAKERS, *HELD_OUT, *UNSTABLE, *OF_AUC, *OF_BENCHMARK):
        try:
            problem = make()
        except DataMissing as error:
            print(f"left out: {make.__name__}: {error}")
            continue
        found[problem.name] = problem
    return found


def read_data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels of a real data set."""
    frame = data_set(name)
    return frame.iloc[:, 1:].to_numpy(dtype=float), frame.iloc[:, 0].to_numpy()


def _standardised(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)
