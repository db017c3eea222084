"""What a comparison is to compute: its tests, the designs that they share, and their checks.

Everything that can be refused is refused here, before the first fit.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Self

import numpy as np

from ucvtest.common.exceptions import naming
from ucvtest.comparison.default import RECOMMENDED, Recommended, recommended
from ucvtest.comparison.fields import Pair
from ucvtest.comparison.specs import TestSpec, as_specs
from ucvtest.data.groups import GroupWeight, as_groups
from ucvtest.data.rows import Reported
from ucvtest.data.sample import as_response, taken_for_classes
from ucvtest.designs.adapters import as_design, design_or_cv
from ucvtest.designs.design import Design
from ucvtest.designs.schemes import NamedDesign
from ucvtest.evaluation.evaluate import draw_design
from ucvtest.evaluation.problem import Problem
from ucvtest.inference.base import HypothesisTest
from ucvtest.inference.from_losses import LossesHeader
from ucvtest.learners.adapters.coerce import is_regressor
from ucvtest.learners.base import Learner
from ucvtest.losses.table import Losses
from ucvtest.methods.registry import tests_that_compare
from ucvtest.metrics.names import is_auc, wants_every_class
from ucvtest.metrics.set_scores import SetScore
from ucvtest.results.fields import Contrast
from ucvtest.stats.wald import Alternative

__all__ = ["Group", "Plan", "Planned", "Question", "check_simultaneous", "naming_test", "pairs_of"]


@dataclass(frozen=True)
class Question:
    """What all tests of a comparison are asked."""

    X: Any
    y: Any
    learners: Mapping[str, Learner]
    loss: Any
    alternative: Alternative
    pos_label: Any
    groups: Any
    group_weight: GroupWeight
    backend: Any
    contrast: Contrast = "difference"
    baseline: str | None = None
    simultaneous: bool = False
    affordable: Callable[[Problem], int] | None = None
    """Fits of two learners that a test which is not named may take; None for the usual number."""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of learners, by name: all of them, or each against the baseline."""
        return pairs_of(tuple(self.learners), self.baseline)

    def recommended(self) -> Recommended:
        """The test that answers it, where none is named."""
        names = ("pos_label", "groups", "group_weight", "backend")
        arguments = {name: getattr(self, name) for name in names}
        n_learners = len(self.learners)
        return recommended(
            *(self.X, self.y, self.learners, n_learners, self.loss, arguments),
            affordable=self.affordable,
        )

    def on_splits(self, tests: Any, cv: Any, n_dropped: int) -> Any:
        """The tests, on scikit-learn's splits where these are given and a test names none."""
        if cv is None:
            return tests
        if isinstance(tests, str) and tests == RECOMMENDED:
            raise ValueError(
                "cv has no use for the recommended test, which may draw learning sets of its own: "
                "name tests, such as tests='corrected_t'"
            )
        response = as_response(self.y)
        groups = as_groups(self.groups, len(response))
        design = design_or_cv(
            *(None, cv, response),
            has_classes=self.has_classes,
            n_dropped=n_dropped,
            groups=None if groups is None or groups.single else groups,
        )
        design = list(design) if isinstance(design, Iterator) else design
        return {
            label: replace(spec, constructor={"design": design, **spec.constructor})
            for label, spec in as_specs(tests).items()
        }

    @property
    def has_classes(self) -> bool:
        """Whether the response holds classes, where no loss says so."""
        regresses = any(map(is_regressor, self.learners.values()))
        return taken_for_classes(self.y, regresses=regresses, pos_label=self.pos_label)

    def test(self, spec: TestSpec, pair: Pair) -> HypothesisTest:
        """The test of one pair of learners, from the data."""
        cls: Any = spec.cls
        if self.contrast not in cls.contrasts:
            raise ValueError(
                f"{cls.method_name} tests no {self.contrast}: use the test 'ustatistic', or "
                "contrast='difference'"
            )
        # Tests of differences alone have no such argument.
        contrast = {} if len(cls.contrasts) == 1 else {"contrast": self.contrast}
        return cls(
            self.X,
            self.y,
            *(self.learners[name] for name in pair),
            alternative=self.alternative,
            pos_label=self.pos_label,
            groups=self.groups,
            group_weight=self.group_weight,
            backend=self.backend,
            **contrast,
            **cls._loss_arguments(self.loss),
            **spec.own,
        )


def pairs_of(names: tuple[str, ...], baseline: str | None) -> tuple[Pair, ...]:
    """All pairs of learners, or all others against a baseline."""
    if baseline is None:
        return tuple(combinations(names, 2))
    return tuple((name, baseline) for name in names if name != baseline)


def check_simultaneous(spec: TestSpec) -> None:
    """Refuse a test that knows no joint covariance matrix of several learners."""
    if not spec.cls.judges_several:
        known = ", ".join(name for name, cls in tests_that_compare().items() if cls.judges_several)
        raise ValueError(
            f"correction='simultaneous' needs the joint covariance of the learners, which "
            f"{spec.name} has not: use one of {known}, or correction='holm'"
        )


@dataclass(frozen=True)
class Planned:
    """A test, made for pairs of learners: for the first alone, where it shares losses with others.

    No design where it draws its own learning sets; `fit_options` are what the design has not taken
    up. `jointly` is the one run for all learners together, where there is to be one.
    """

    label: str
    spec: TestSpec
    made: Mapping[Pair, HypothesisTest]
    design: NamedDesign | None
    fit_options: Mapping[str, Any]
    jointly: Any = None

    @classmethod
    def of(cls, label: str, spec: TestSpec, question: Question) -> Self:
        """Make the tests; what they refuse is refused here."""
        if question.simultaneous:
            check_simultaneous(spec)
        first, *others = question.pairs
        made = {first: question.test(spec, first)}
        if spec.takes_losses:
            design, options = spec.constructor["design"], spec.fit
        else:
            design, options = made[first]._shared_design(spec.fit)
        jointly = None
        if design is None:
            # Each learner is checked once, however many pairs it is in.
            ready = (
                replace(made[first]._problem, learners=question.learners)
                .fitting(made[first]._smallest_learn_size)
                .learners
            )
            for pair in others:
                made[pair] = made[first]._about_ready({name: ready[name] for name in pair})
            for test in made.values():
                test._options(**options)
            if question.simultaneous:
                jointly = _jointly(made, ready, options)
        return cls(label, spec, made, design, options, jointly)

    @property
    def first(self) -> HypothesisTest:
        """The test of the first pair."""
        return next(iter(self.made.values()))

    def check_losses(self, design: Design) -> None:
        """Refuse a design, and options of `fit`, before the losses are computed."""
        cls: Any = self.spec.cls
        problem = self.first._problem
        target, clusters = problem.sample.target, problem.clusters
        header = LossesHeader(design, problem.loss_name, True, target, clusters=clusters)
        test = cls._from_header(header, None, self.first.alternative, loss=problem.loss)
        test._options(**self.fit_options)

    def from_losses(self, losses: Losses, pair: Pair) -> HypothesisTest:
        """The test of one pair of learners, from losses."""
        cls: Any = self.spec.cls
        first: Any = self.first
        options = {} if len(cls.contrasts) == 1 else {"contrast": first.contrast}
        if losses.groups is not None:
            options["group_weight"] = first._problem.group_weight
        return cls.from_losses(losses, *pair, alternative=first.alternative, **options)


def _jointly(
    made: Mapping[Pair, HypothesisTest], learners: Mapping[str, Learner], options: Mapping[str, Any]
) -> Any:
    """One run for all tests and for each learner, ready, alone, of which nothing is tested."""
    first: Any = next(iter(made.values()))
    tests: dict[str | Pair, Any] = {}
    for name, learner in learners.items():
        tests[name] = first._about_ready({name: learner})
        tests[name].null_value = math.nan
    everything: dict[Any, Any] = {**tests, **made}
    return first._jointly(everything, tuple(learners), options)


@dataclass(frozen=True)
class Group:
    """A design, drawn, and the tests that take its losses.

    The generator is in the state in which drawing has left it, and the learners are ready to be
    fitted.
    """

    design: NamedDesign
    drawn: Design
    rng: np.random.Generator
    problem: Problem
    tests: tuple[Planned, ...]


class Plan:
    """The tests of a comparison, checked, and the designs that they share.

    Every design is drawn with the same seed, and so are tests with learning sets of their own: each
    result is the one that the test gives by itself with this seed, whatever stands beside it.
    """

    def __init__(self, question: Question, tests: Any, seed: int) -> None:
        self.question, self.seed = question, seed
        self.default: Recommended | None = None
        if isinstance(tests, str) and tests == RECOMMENDED:
            tests = "ustatistic"
            if question.contrast == "difference" and not question.simultaneous:
                self.default = question.recommended()
                tests = self.default.spec
        self.specs = _with_designs(as_specs(tests), question)
        planned = []
        for label, spec in self.specs.items():
            with naming_test(label):
                planned.append(Planned.of(label, spec, question))
            # What is striking about the rows is said once, by the first test.
            question = replace(question, X=Reported(self.question.X))
        _check_losses(planned)
        self.groups = tuple(self._groups(planned))
        self.alone = tuple(test for test in planned if test.design is None)
        for group in self.groups:
            for test in group.tests:
                if test.fit_options or test.spec.takes_losses:
                    with naming_test(test.label):
                        test.check_losses(group.drawn)

    @property
    def first(self) -> HypothesisTest:
        """A test on the data."""
        tests = self.groups[0].tests if self.groups else self.alone
        return tests[0].first

    def _groups(self, planned: Sequence[Planned]) -> Iterator[Group]:
        """Tests by their design; equal designs are one, in the order of their first test."""
        designs: list[NamedDesign] = []
        for test in planned:
            if test.design is not None and test.design not in designs:
                designs.append(test.design)
        learners = self.question.learners
        for design in designs:
            tests = tuple(test for test in planned if test.design == design)
            first, rng = tests[0], np.random.default_rng(self.seed)
            with naming_test(first.label):
                drawn = draw_design(design, first.first._problem.sample, len(learners), rng)
                for test in tests:
                    test.first._check_test_sets(drawn)
                problem = replace(first.first._problem, learners=learners)
                problem = problem.fitting(drawn.learn_sizes[0])
            yield Group(design, drawn, rng, problem, tests)


def _with_designs(specs: Mapping[str, TestSpec], question: Question) -> dict[str, TestSpec]:
    """The tests with named designs for whatever names one, the same for the same splitter."""
    known: list[tuple[Any, NamedDesign]] = []
    found = {}
    for label, spec in specs.items():
        given = spec.constructor.get("design")
        if given is not None:
            designs = [design for raw, design in known if raw is given]
            with naming_test(label):
                design = designs[0] if designs else _as_design(given, question)
            known.append((given, design))
            spec = replace(spec, constructor={**spec.constructor, "design": design})
        found[label] = spec
    return found


def _as_design(given: Any, question: Question) -> NamedDesign:
    groups = as_groups(question.groups, len(question.y))
    auc = is_auc(question.loss)
    if not auc and isinstance(question.loss, SetScore):
        auc = wants_every_class(question.loss, has_classes=question.has_classes)
    return as_design(given, question.X, question.y, auc=auc, groups=groups)


def _check_losses(planned: Sequence[Planned]) -> None:
    """Refuse tests of different things, whose estimates belong in no common table."""
    losses = {test.label: test.first._problem.loss_name for test in planned}
    if len(set(losses.values())) > 1:
        listed = ", ".join(f"{label}: {loss}" for label, loss in losses.items())
        raise ValueError(
            f"tests compare different losses ({listed}): pass loss=, or leave some of them out"
        )


def naming_test(label: str) -> AbstractContextManager[None]:
    """Say of errors which test they are about."""
    return naming(f"test {label!r}")
