"""What a comparison is to compute: its tests, the designs that they share, and their checks.

Everything that can be refused is refused here, before the first fit.
"""

import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ucvtest.common.exceptions import naming
from ucvtest.common.words import arg
from ucvtest.comparison.several_metrics import metric_label
from ucvtest.comparison.specs import OF_ROWS, RECOMMENDED, TestSpec, as_specs
from ucvtest.data.groups import GroupWeight, as_groups
from ucvtest.data.sample import as_response, check_vector, taken_for_classes
from ucvtest.designs.adapters import as_design, design_or_cv
from ucvtest.designs.design import Design
from ucvtest.designs.scheme_base import NamedDesign
from ucvtest.evaluation.evaluate import draw_design
from ucvtest.evaluation.problem import Problem
from ucvtest.inference.base import HypothesisTest
from ucvtest.inference.needs import Traits, refuse
from ucvtest.inference.question import DataQuestion
from ucvtest.inference.studentise import Hypothesis
from ucvtest.learners.base import Learner
from ucvtest.methods.registry import tests_that_compare
from ucvtest.metrics.base import Metric
from ucvtest.metrics.loss import WEIGHTED
from ucvtest.metrics.names import wants_every_class
from ucvtest.metrics.set_scores import SetScore
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.results.columns import Pair
from ucvtest.results.fields import Contrast
from ucvtest.stats.wald import Alternative

if TYPE_CHECKING:
    from ucvtest.comparison.default import Affordable, Recommended


@dataclass(frozen=True, eq=False)
class ComparisonQuestion:
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
    affordable: "Affordable | None" = None
    """Fits of two learners that a test which is not named may take; None for the usual number."""
    other_metrics: tuple[SmoothMetric, ...] = ()
    """Metrics beside `loss`, scored from the same predictions."""
    several: bool = False
    """Whether there are several metrics, so that results are named by these."""
    weights: Mapping[str, Any] | None = None
    """Weights of rows by "fit" and "loss"; None where they count alike."""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of learners, by name: all of them, or each against the baseline."""
        return pairs_of(tuple(self.learners), self.baseline)

    @property
    def has_classes(self) -> bool:
        """Whether the response has classes, where no loss says so."""
        regresses = any(learner.regresses for learner in self.learners.values())
        return taken_for_classes(self.y, regresses=regresses, pos_label=self.pos_label)

    def validated(self, loss: Any) -> DataQuestion:
        """The data, all learners and a loss, validated."""
        return DataQuestion.of(
            self.X,
            self.y,
            self.learners,
            hypothesis=Hypothesis(1.0 if self.contrast == "ratio" else 0.0, self.alternative),
            loss=loss,
            pos_label=self.pos_label,
            groups=self.groups,
            group_weight=self.group_weight,
            backend=self.backend,
            weights=self.weights,
        )

    def on_splits(self, tests: Any, cv: Any, n_dropped: int) -> Any:
        """The tests, on scikit-learn's splits where these are given and a test names none."""
        if cv is None:
            return tests
        if isinstance(tests, str) and tests == RECOMMENDED:
            raise ValueError(
                "cv does not apply to the recommended test, which may draw its own learning sets: "
                f"name tests, such as {arg('tests', 'corrected_t')}"
            )
        response = as_response(self.y)
        check_vector("y", response)
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


class Questions:
    """Data and learners, validated once for each loss that tests are about."""

    def __init__(self, request: ComparisonQuestion) -> None:
        self._request = request
        self._known: list[DataQuestion] = []

    def about(self, loss: Any) -> DataQuestion:
        """The question about a loss as a user names it, or the usual one."""
        name = loss if isinstance(loss, str) else None
        for question in self._known:
            known_name = question.metric.reported_name.removeprefix(WEIGHTED)
            if loss is None or name == known_name or loss is question.metric:
                return question
        self._known.append(self._request.validated(loss))
        return self._known[-1]

    def test(self, spec: TestSpec, pair: Pair) -> HypothesisTest:
        """The test of one pair of learners."""
        request, cls = self._request, spec.cls
        class_arguments = dict(spec.own)
        of_rows = {name: class_arguments.pop(name) for name in OF_ROWS if name in class_arguments}
        loss = cls.needs.only_loss if request.loss is None else request.loss
        traits = Traits(metric=loss, paired=True, contrast=request.contrast)
        refuse(cls.needs, traits, cls.__name__)
        if of_rows:
            question = cls.question_of(
                *(request.X, request.y, *(request.learners[name] for name in pair)),
                alternative=request.alternative,
                loss=request.loss,
                pos_label=request.pos_label,
                groups=request.groups,
                group_weight=request.group_weight,
                backend=request.backend,
                weights=request.weights,
                **of_rows,
            )
        else:
            question = self.about(loss)
        learners = {name: request.learners[name] for name in pair}
        question = question.with_learners(learners)
        return cls.about(question, **own_arguments(cls, request.contrast), **class_arguments)


def own_arguments(cls: type[HypothesisTest], contrast: Contrast) -> dict[str, Any]:
    """The contrast, for tests that know more than one."""
    return {} if len(cls.needs.contrasts) == 1 else {"contrast": contrast}


def pairs_of(names: tuple[str, ...], baseline: str | None) -> tuple[Pair, ...]:
    """All pairs of learners, or all others against a baseline."""
    if baseline is None:
        return tuple(combinations(names, 2))
    return tuple((name, baseline) for name in names if name != baseline)


def turns_of(pairs: Sequence[Pair]) -> int:
    """How often a learner is fitted to the same sets, where each pair is fitted by itself."""
    return max(Counter(name for pair in pairs for name in pair).values())


def check_simultaneous(spec: TestSpec) -> None:
    """Refuse a test that knows no joint covariance matrix of several learners."""
    if not spec.cls.needs.several:
        joint_tests = ", ".join(
            name for name, cls in tests_that_compare().items() if cls.needs.several
        )
        raise ValueError(
            f"{arg('correction', 'simultaneous')} needs the joint covariance of the learners, "
            f"which {spec.name} does not provide: use one of {joint_tests}, or "
            f"{arg('correction', 'holm')}"
        )


@dataclass(frozen=True, eq=False)
class PlannedTest:
    """A test, made for pairs of learners: for the first alone, where it shares losses with others.

    No design where it draws its own learning sets; `fit_options` are what the design has not taken
    up, as a user names them, and `options` the same for each pair, validated. `joint_run` is the
    one run for all learners together, where there is to be one.
    """

    label: str
    spec: TestSpec
    tests: Mapping[Pair, HypothesisTest]
    design: NamedDesign | None
    fit_options: Mapping[str, Any]
    options: Mapping[Pair, Any]
    joint_run: Any = None

    @classmethod
    def of(
        cls, label: str, spec: TestSpec, request: ComparisonQuestion, questions: Questions
    ) -> Self:
        """Make the tests, which may refuse their arguments."""
        if request.simultaneous:
            check_simultaneous(spec)
        pairs = request.pairs
        first = questions.test(spec, pairs[0])
        if spec.takes_losses:
            return cls(label, spec, {pairs[0]: first}, spec.constructor["design"], spec.fit, {})
        design, other_options = first.shared_design(spec.fit)
        if design is None and request.other_metrics:
            from ucvtest.comparison.default import sets_for_several

            design, other_options = sets_for_several(first, other_options, request.learners)
            spec = replace(spec, constructor={"design": design}, fit=other_options)
        if design is not None:
            return cls(label, spec, {pairs[0]: first}, design, other_options, {})
        question = _data_of(first)
        # Each learner is checked once, however many pairs it is in.
        all_learners = question.with_learners(request.learners).ready(question.learn_size)
        tests = {pairs[0]: first}
        for pair in pairs[1:]:
            tests[pair] = first.asking(_about(all_learners, *pair))
        options = {pair: test.fit_options(**other_options) for pair, test in tests.items()}
        joint_run = None
        if request.simultaneous:
            # One run for all tests and for each learner alone, ready, which is not tested.
            alone: dict[Any, Any] = {
                name: first.asking(_about(all_learners, name).untested())
                for name in all_learners.learners
            }
            run_of: Any = first
            names = tuple(all_learners.learners)
            joint_run = run_of.joint_run({**alone, **tests}, names, other_options)
        return cls(label, spec, tests, None, other_options, options, joint_run)

    @property
    def first(self) -> HypothesisTest:
        """The test of the first pair."""
        return next(iter(self.tests.values()))

    @property
    def question(self) -> DataQuestion:
        """What the test of the first pair is asked."""
        return _data_of(self.first)

    def naming(self, **fit: Any) -> Self:
        """The same test, with options of `fit` that a comparison has decided among its own."""
        return replace(self, spec=replace(self.spec, fit={**self.spec.fit, **fit}))

    def check_losses(self, design: Design, other_metrics: Sequence[SmoothMetric] = ()) -> None:
        """Refuse a design, and options of `fit`, before the losses are computed."""
        cls = self.spec.cls
        for question in (self.question, *map(self.question.scored_by, other_metrics)):
            test = cls.about(question.on(design, by_rows=cls.needs.by_rows))
            test.fit_options(**self.fit_options)


def _data_of(test: HypothesisTest) -> DataQuestion:
    question = test.question
    assert isinstance(question, DataQuestion)
    return question


def _about(question: DataQuestion, *names: str) -> DataQuestion:
    """The question about some of its learners."""
    return question.with_learners({name: question.learners[name] for name in names})


@dataclass(frozen=True, eq=False)
class SharedDesign:
    """A design, drawn, and the tests that take its losses.

    The generator is in the state in which drawing has left it, and the learners are ready to be
    fitted.
    """

    design: NamedDesign
    drawn: Design
    rng: np.random.Generator
    problem: Problem
    tests: tuple[PlannedTest, ...]


class Plan:
    """The tests of a comparison, checked, and the designs that they share.

    Every design is drawn with the same seed, and so are tests with learning sets of their own: each
    result is the one that the test gives by itself with this seed, whatever other tests there are.
    """

    def __init__(self, request: ComparisonQuestion, tests: Any, seed: int) -> None:
        self.request, self.seed = request, seed
        self.default: Recommended | None = None
        questions = Questions(request)
        if isinstance(tests, str) and tests == RECOMMENDED:
            tests = self._recommended(questions)
        self.specs = _with_designs(as_specs(tests), request)
        planned = []
        for label, spec in self.specs.items():
            with naming_test(label):
                planned.append(PlannedTest.of(label, spec, request, questions))
        self.specs = {test.label: test.spec for test in planned}
        # Estimates of different things belong in no common table.
        losses = {test.label: test.question.metric.reported_name for test in planned}
        if len(set(losses.values())) > 1:
            listed = ", ".join(f"{label}: {loss}" for label, loss in losses.items())
            raise ValueError(
                f"tests compare different losses ({listed}): pass {arg('loss')}, or leave some of "
                "them out"
            )
        self.shared = tuple(self._shared(planned))
        self.own_set_tests = tuple(test for test in planned if test.design is None)
        for group in self.shared:
            for test in group.tests:
                if test.fit_options or test.spec.takes_losses or request.other_metrics:
                    with naming_test(test.label):
                        test.check_losses(group.drawn, request.other_metrics)

    def _recommended(self, questions: Questions) -> Any:
        """The test that is run where none is named."""
        # It imports the tests that it may recommend, and with them JAX, which existing losses do
        # not need.
        from ucvtest.comparison.default import bounded, recommended

        request = self.request
        if request.simultaneous:
            if request.affordable is not None and request.other_metrics:
                most_fits = request.affordable(questions.about(request.loss).problem, shared=True)
                return TestSpec("ustatistic", fit={"max_fits": most_fits})
            if request.affordable is not None or isinstance(request.loss, SetScore):
                return "ustatistic"
            self.default = bounded(questions.about(request.loss).problem)
            return self.default.spec
        if request.contrast == "ratio" and isinstance(request.loss, SetScore):
            return "ustatistic"
        self.default = recommended(
            lambda: questions.about(request.loss).problem,
            len(request.learners),
            request.loss,
            affordable=request.affordable,
            contrast=request.contrast,
            several=bool(request.other_metrics),
        )
        spec = self.default.spec
        if request.other_metrics:
            # Learning sets that are shared are a number of them, however certain it makes.
            fit = {name: value for name, value in spec.fit.items() if name != "tol"}
            spec = replace(spec, fit=fit)
        return spec

    def label(self, test: str, metric: Metric) -> str:
        """What the results of a test are called: of several metrics by these."""
        if not self.request.several:
            return test
        return metric_label(test, metric.reported_name, self.specs)

    def with_alone(self, own_set_tests: tuple[PlannedTest, ...]) -> Self:
        """The plan with other options of the tests that draw learning sets of their own."""
        plan = copy.copy(self)
        plan.own_set_tests = own_set_tests
        plan.specs = {**self.specs, **{test.label: test.spec for test in own_set_tests}}
        return plan

    @property
    def first(self) -> PlannedTest:
        """A test on the data."""
        return self.shared[0].tests[0] if self.shared else self.own_set_tests[0]

    def _shared(self, planned: Sequence[PlannedTest]) -> Iterator[SharedDesign]:
        """Tests by their design; equal designs are one, in the order of their first test."""
        designs: list[NamedDesign] = []
        for test in planned:
            if test.design is not None and test.design not in designs:
                designs.append(test.design)
        learners = self.request.learners
        for design in designs:
            tests = tuple(test for test in planned if test.design == design)
            first, rng = tests[0], np.random.default_rng(self.seed)
            with naming_test(first.label):
                shared_design = draw_design(design, first.question.sample, len(learners), rng)
                for test in tests:
                    test.first.check_test_sets(shared_design)
                question = first.question.with_learners(learners).ready(
                    shared_design.learn_sizes[0]
                )
            yield SharedDesign(design, shared_design, rng, question.problem, tests)


def _with_designs(
    specs: Mapping[str, TestSpec], request: ComparisonQuestion
) -> dict[str, TestSpec]:
    """The tests with named designs for whatever names one, the same for the same splitter."""
    named_designs: list[tuple[Any, NamedDesign]] = []
    specs_by_label = {}
    for label, spec in specs.items():
        user_design = spec.constructor.get("design")
        if user_design is not None:
            designs = [design for raw, design in named_designs if raw is user_design]
            with naming_test(label):
                if designs:
                    design = designs[0]
                else:
                    groups = as_groups(request.groups, len(request.y))
                    has_classes = isinstance(request.loss, SetScore) and request.has_classes
                    auc = wants_every_class(request.loss, has_classes=has_classes)
                    design = as_design(user_design, request.X, request.y, auc=auc, groups=groups)
            named_designs.append((user_design, design))
            spec = replace(spec, constructor={**spec.constructor, "design": design})
        specs_by_label[label] = spec
    return specs_by_label


def naming_test(label: str) -> AbstractContextManager[None]:
    """Say of errors which test they are about."""
    return naming(f"test {label!r}")
