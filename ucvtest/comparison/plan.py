"""What a comparison is to compute: its tests, the designs that they share, and their checks.

Everything that can be refused is refused here, before the first fit.
"""

import inspect
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ucvtest.comparison.specs import TestSpec, as_specs
from ucvtest.designs.adapters import as_design
from ucvtest.designs.design import Design
from ucvtest.designs.named import KFold, NamedDesign
from ucvtest.evaluation.evaluate import draw_design
from ucvtest.inference.hypothesis_test import HypothesisTest
from ucvtest.learners.base import Learner
from ucvtest.losses.table import AUC, Losses, resample_means
from ucvtest.methods.classical.base import ResamplingTest
from ucvtest.methods.fold_covariance.test import FoldCovarianceTest
from ucvtest.stats.wald import Alternative

__all__ = ["Group", "Plan", "Planned", "Question", "common_options", "naming"]


@dataclass(frozen=True)
class Question:
    """What all tests of a comparison are asked."""

    X: Any
    y: Any
    learners: Mapping[str, Learner]
    loss: Any
    alternative: Alternative
    pos_label: Any
    backend: Any

    @property
    def auc(self) -> bool:
        """Whether areas under the ROC curve are compared, and no losses."""
        return isinstance(self.loss, str) and self.loss == AUC

    def test(self, spec: TestSpec, learner: str, other: str) -> HypothesisTest:
        """The test of one pair of learners, from the data."""
        options = common_options(spec.cls, self.loss, self.alternative, self.pos_label)
        cls: Any = spec.cls
        pair = (self.learners[learner], self.learners[other])
        return cls(self.X, self.y, *pair, backend=self.backend, **options, **spec.own)


def common_options(
    cls: type[HypothesisTest], loss: Any, alternative: Alternative, pos_label: Any
) -> dict[str, Any]:
    """The arguments that all tests understand, as this one calls them."""
    known = inspect.signature(cls.__init__).parameters
    named = {"metric": _metric(loss)} if "metric" in known else {"loss": loss}
    return {**named, "alternative": alternative, "pos_label": pos_label}


def _metric(loss: Any) -> str:
    """What `InfluenceFunctionTest` calls a loss."""
    if loss is None or (isinstance(loss, str) and loss in (AUC, "zero_one")):
        return "auc" if loss == AUC else "error"
    raise ValueError("it knows loss='zero_one' and 'auc' only")


@dataclass(frozen=True)
class Planned:
    """A test, made for the first learner and each of the others."""

    label: str
    spec: TestSpec
    made: tuple[HypothesisTest, ...]

    @property
    def design(self) -> NamedDesign | None:
        """The design whose losses the test takes; None where it draws its own learning sets."""
        test = self.made[0]
        if self.spec.takes_losses:
            return self.spec.constructor["design"]
        if isinstance(test, ResamplingTest):
            return test.design
        # The jackknife estimate of error needs losses on learning sets besides.
        if isinstance(test, FoldCovarianceTest) and test.estimator == "cross_validation":
            return KFold(test.n_folds, self.spec.fit.get("n_repeats", 1))
        return None

    def from_losses(self, losses: Losses, learner: str, other: str) -> HypothesisTest:
        """The test of one pair of learners, from losses."""
        cls: Any = self.spec.cls
        return cls.from_losses(losses, learner, other, alternative=self.made[0].alternative)

    @property
    def fit_options(self) -> dict[str, Any]:
        """The options of `fit` beside those that the design has taken up."""
        folds = isinstance(self.made[0], FoldCovarianceTest) and not self.spec.takes_losses
        taken = {"n_repeats"} if folds else set()
        return {name: value for name, value in self.spec.fit.items() if name not in taken}


@dataclass(frozen=True)
class Group:
    """A design, drawn, and the tests that take its losses."""

    design: NamedDesign
    drawn: Design
    rng: np.random.Generator
    tests: tuple[Planned, ...]

    def fitting(self, learners: Mapping[str, Learner]) -> dict[str, Learner]:
        """The learners as they are fitted: checked, jitted ones in the place of estimators."""
        test, size = self.tests[0].made[0], self.drawn.learn_sizes[0]
        return {name: test._fitting_learner(each, size) for name, each in learners.items()}


class Plan:
    """The tests of a comparison, checked, and the designs that they share.

    Every design is drawn with the same seed, and so are tests with learning sets of their own:
    each result is the one that the test gives by itself with this seed, whatever stands beside it.

    Parameters
    ----------
    question : Question
    tests : str, sequence or mapping
    seed : int

    Raises
    ------
    ValueError
        If a test cannot answer the question, or an option cannot be used.
    """

    def __init__(self, question: Question, tests: Any, seed: int) -> None:
        self.question, self.seed = question, seed
        self.specs = _with_designs(as_specs(tests, auc=question.auc), question)
        planned = [self._planned(label, spec) for label, spec in self.specs.items()]
        _check_losses(planned)
        self.groups = tuple(self._groups(planned))
        self.alone = tuple(test for test in planned if test.design is None)
        for group in self.groups:
            with naming(group.tests[0].label):
                group.fitting(question.learners)
            for test in group.tests:
                if test.fit_options or test.spec.takes_losses:
                    _rehearse(test, group)

    @property
    def first(self) -> HypothesisTest:
        """A test on the data."""
        tests = self.groups[0].tests if self.groups else self.alone
        return tests[0].made[0]

    def _planned(self, label: str, spec: TestSpec) -> Planned:
        first, *others = self.question.learners
        with naming(label):
            made = tuple(self.question.test(spec, first, other) for other in others)
        return Planned(label, spec, made)

    def _groups(self, planned: Sequence[Planned]) -> Iterator[Group]:
        """Tests by their design; equal designs are one, in the order of their first test."""
        designs: list[NamedDesign] = []
        for test in planned:
            if test.design is not None and test.design not in designs:
                designs.append(test.design)
        for design in designs:
            tests = tuple(test for test in planned if test.design == design)
            rng = np.random.default_rng(self.seed)
            n_obs = tests[0].made[0].sample.n_obs
            with naming(tests[0].label):
                drawn = draw_design(design, n_obs, len(self.question.learners), rng)
            yield Group(design, drawn, rng, tests)


def _with_designs(specs: Mapping[str, TestSpec], question: Question) -> dict[str, TestSpec]:
    """The tests with named designs for whatever names one, the same for the same splitter."""
    known: list[tuple[Any, NamedDesign]] = []
    found = {}
    for label, spec in specs.items():
        given = spec.constructor.get("design")
        if given is not None and not isinstance(given, NamedDesign):
            designs = [design for raw, design in known if raw is given]
            with naming(label):
                design = designs[0] if designs else as_design(given, question.X, question.y)
            known.append((given, design))
            spec = replace(spec, constructor={**spec.constructor, "design": design})
        found[label] = spec
    return found


def _check_losses(planned: Sequence[Planned]) -> None:
    """Refuse tests of different things, whose estimates belong in no common table."""
    losses = {test.label: _loss_of(test.made[0]) for test in planned}
    if len(set(losses.values())) > 1:
        listed = ", ".join(f"{label}: {loss}" for label, loss in losses.items())
        raise ValueError(
            f"tests compare different losses ({listed}): pass loss=, or leave some of them out"
        )


def _loss_of(test: HypothesisTest) -> str:
    return AUC if test.loss is None else test.loss.name


def _rehearse(test: Planned, group: Group) -> None:
    """Try the options of `fit` on made-up losses, so that they fail before the fits."""
    made, rng = test.made[0], np.random.default_rng(0)
    n_tested = int(group.drawn.testing.sum())
    values = rng.integers(2, size=(2, n_tested)).astype(float)
    losses = Losses(
        design=group.drawn,
        learners=("first", "second"),
        loss=_loss_of(made),
        means=(
            rng.random((2, group.drawn.n_resamples))
            if made.loss is None
            else resample_means(values, group.drawn)
        ),
        values=values,
        target=made.sample.target,
        bounds=None if made.loss is None else made.loss.bounds,
    )
    with naming(test.label), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rehearsed: Any = test.from_losses(losses, "first", "second")
        rehearsed._announced = False
        rehearsed.fit(**test.fit_options, progress=False)


@contextmanager
def naming(label: str) -> Iterator[None]:
    """Say of errors which test they are about."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"test {label!r}: {error}") from error
