"""A problem of the calibration study: a finite population from which samples are drawn.

Simulated problems are populations of 20 000, drawn once, so that the true risk of a rule is a mean
over known observations, as for the real data; samples are drawn without replacement.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any

import numpy as np

import ucvtest as uv
from studies.data import data_set
from ucvtest.data.sample import Sample, make_sample
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.learners.base import Learner
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
        return all(learner.backend == "jax" for learner in self.fitted)

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


Made = tuple[np.ndarray, np.ndarray, tuple[Any, Any]]
"""Features, response and learners."""


def problem(
    number: int | None = None, **traits: Any
) -> Callable[[Callable[..., Made]], Callable[[], Problem]]:
    """The decorator of what makes a problem, whose name and docstring are those of the problem.

    The function takes a generator of random numbers that the number seeds, if there is one.
    """

    def decorated(make: Callable[..., Made]) -> Callable[[], Problem]:
        @wraps(make)
        def made() -> Problem:
            drawn = () if number is None else (np.random.default_rng([SEED, number]),)
            words = " ".join(str(make.__doc__).split())
            return Problem(make.__name__, words, *make(*drawn), **traits)

        return made

    return decorated


def makers(names: Mapping[str, Any]) -> list[Callable[[], Problem]]:
    """The functions of a module that make a problem, in the order in which they stand there."""
    own = (make for make in names.values() if hasattr(make, "__wrapped__"))
    return [make for make in own if make.__module__ == names["__name__"]]


def normal_classes(
    rng: np.random.Generator, means: Any, deviations: Any, share: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    means, deviations = np.broadcast_arrays(np.asarray(means, dtype=float), deviations)
    y = (rng.random(SIMULATED) < share).astype(int)
    return rng.normal(size=(SIMULATED, len(means))) * deviations + means * y[:, None], y


def both_labels(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every point with both labels: each rule errs in half of the cases, and has an AUC of .5."""
    return np.concatenate([X, X]), np.repeat([0, 1], len(X))


def equally_good(
    learner: str, X: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, tuple[Learner, Learner]]:
    """Each point also with its two halves exchanged, and a learner on each half.

    Neither half is better, exactly.
    """
    halves = np.split(np.arange(X.shape[1]), 2)
    exchanged = X[:, np.concatenate(halves[::-1])]
    learners = (uv.learners.on_columns(learner, half.tolist()) for half in halves)
    return np.concatenate([X, exchanged]), np.concatenate([y, y]), tuple(learners)


def read_data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels of a real data set."""
    frame = data_set(name)
    return frame.iloc[:, 1:].to_numpy(dtype=float), frame.iloc[:, 0].to_numpy()


def standardised(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)
