"""What a comparison is to compute: its tests, the designs that they share, and their checks.

Everything that can be refused is refused here, before the first fit.
"""

import inspect
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ucvtest.base import HypothesisTest
from ucvtest.design import Design
from ucvtest.designs import KFold, NamedDesign, as_design
from ucvtest.fold_covariance import FoldCovarianceTest
from ucvtest.influence import InfluenceFunctionTest
from ucvtest.learners.base import Learner
from ucvtest.loss_evaluation import draw_design
from ucvtest.resampled_losses import AUC, Losses, resample_means
from ucvtest.resampling.base import ResamplingTest
from ucvtest.resampling.bayesian_t import BayesianTTest
from ucvtest.resampling.conservative_z import ConservativeZTest
from ucvtest.resampling.corrected_t import CorrectedTTest
from ucvtest.resampling.cross_validation_wald import CrossValidationWaldTest
from ucvtest.resampling.delong import DeLongTest
from ucvtest.resampling.five_by_two import FiveByTwoFTest, FiveByTwoTTest
from ucvtest.resampling.hold_out import HoldOutTest
from ucvtest.resampling.mcnemar import McNemarTest
from ucvtest.resampling.naive_t import NaiveTTest
from ucvtest.resampling.nested_cross_validation import NestedCrossValidationTest
from ucvtest.results import Alternative
from ucvtest.ustatistic import UStatisticTest

__all__ = [
    "RECOMMENDED",
    "RECOMMENDED_AUC",
    "TESTS",
    "Group",
    "Plan",
    "Planned",
    "Question",
    "TestSpec",
    "as_specs",
    "common_options",
    "naming",
]

TESTS: Mapping[str, type[HypothesisTest]] = MappingProxyType(
    {
        "bayesian_t": BayesianTTest,
        "conservative_z": ConservativeZTest,
        "corrected_t": CorrectedTTest,
        "cross_validation_wald": CrossValidationWaldTest,
        "delong": DeLongTest,
        "five_by_two_f": FiveByTwoFTest,
        "five_by_two_t": FiveByTwoTTest,
        "fold_covariance": FoldCovarianceTest,
        "hold_out": HoldOutTest,
        "influence": InfluenceFunctionTest,
        "mcnemar": McNemarTest,
        "naive_t": NaiveTTest,
        "nested_cross_validation": NestedCrossValidationTest,
        "ustatistic": UStatisticTest,
    }
)
"""The tests that compare two learners, by their short names (`method_name`)."""

RECOMMENDED = ("ustatistic", "corrected_t")
"""What is run unless tests are named. The U-statistic test because its variance is an estimate, not
an assumption; the corrected t test because it costs 10 fits a learner, says something about larger
learning sets, and is what readers know. In the calibration study their intervals for a difference
covered 96% and 99%; that of the U-statistic test 79% for squared losses with heavy tails."""

RECOMMENDED_AUC = ("corrected_t",)
"""The same for the area under the ROC curve, which the U-statistic test does not know. The test by
the influence function is left out because it rejects too often in small classes."""

ABOUT_ONE = ("leave_pair_out", "permutation")
"""Tests that compare nothing."""

GIVEN = ("X", "y", "learner", "other", "loss", "metric", "alternative", "null_value", "pos_label")
SHARED = (*GIVEN, "groups", "backend", "self")
"""Arguments of the classes that the comparison decides for all of them."""

RUNTIME = ("self", "rng", "n_jobs", "batch_size", "progress")
"""The same of their methods `fit`."""


@dataclass(frozen=True)
class TestSpec:
    """A test with options, for `compare`.

    Parameters
    ----------
    test : str or test class
        Its short name, such as "corrected_t", or the class.
    constructor : mapping
        Options of the class, for example ``{"design": uv.designs.KFold(10, n_repeats=10)}``.
        Tests that draw their own learning sets take a design instead, which then is fitted once
        for all pairs: ``TestSpec("ustatistic", {"design": uv.designs.DisjointSets(20)})``.
    fit : mapping
        Options of its method `fit`, for example ``{"rho": 0.2}``.

    Raises
    ------
    ValueError
        If the test is unknown, or an option is none of its own.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.TestSpec("fold_covariance", {"n_folds": 5}, {"rho": 0.3}).cls.__name__
    'FoldCovarianceTest'
    """

    # pytest would otherwise take the name for a test class.
    __test__ = False

    test: str | type[HypothesisTest]
    constructor: Mapping[str, Any] = field(default_factory=dict)
    fit: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("constructor", "fit"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        cls = self.cls
        if self.takes_losses and len(self.constructor) > 1:
            others = ", ".join(name for name in self.constructor if name != "design")
            raise ValueError(f"{self.name} gets its learning sets from design: leave out {others}")
        _check_options(self.name, self.own, cls.__init__, SHARED)
        # A comparison runs many tests at once; only their own methods know their options.
        _check_options(f"{self.name}.fit", self.fit, getattr(cls, "fit"), RUNTIME)  # noqa: B009

    @classmethod
    def of(cls, test: str | type[HypothesisTest], options: Mapping[str, Any]) -> "TestSpec":
        """A test with options that are told apart by what the class and its `fit` take.

        Parameters
        ----------
        test : str or test class
        options : mapping

        Raises
        ------
        ValueError
            If the test is unknown, or an option is none of its own.

        Examples
        --------
        >>> import ucvtest as uv
        >>> dict(uv.TestSpec.of("fold_covariance", {"n_folds": 5, "rho": 0.3}).fit)
        {'rho': 0.3}
        """
        known = inspect.signature(getattr(cls(test).cls, "fit")).parameters  # noqa: B009
        fit = {name: value for name, value in options.items() if name in known}
        rest = {name: value for name, value in options.items() if name not in known}
        return cls(test, rest, fit)

    @property
    def cls(self) -> type[HypothesisTest]:
        """The test class."""
        if isinstance(self.test, type) and issubclass(self.test, HypothesisTest):
            if self.test not in TESTS.values():
                raise ValueError(_unknown(self.test.__name__))
            return self.test
        if isinstance(self.test, str) and self.test in TESTS:
            return TESTS[self.test]
        raise ValueError(_unknown(self.test))

    @property
    def takes_losses(self) -> bool:
        """Whether a test that would draw its own learning sets is given a design instead."""
        known = inspect.signature(self.cls.__init__).parameters
        return "design" in self.constructor and "design" not in known

    @property
    def own(self) -> Mapping[str, Any]:
        """The options that the class itself has."""
        return {} if self.takes_losses else self.constructor

    @property
    def name(self) -> str:
        """The short name of the test."""
        return next(name for name, cls in TESTS.items() if cls is self.cls)

    @property
    def words(self) -> str:
        """The test and its options, as settings keep them."""
        options = {
            name: value.words if isinstance(value, NamedDesign) else value
            for name, value in {**self.constructor, **self.fit}.items()
        }
        listed = ", ".join(f"{name}={value!r}" for name, value in options.items())
        return f"{self.name}({listed})" if options else self.name


def _check_options(
    name: str, options: Mapping[str, Any], call: Any, decided: Sequence[str]
) -> None:
    known = [each for each in inspect.signature(call).parameters if each not in decided]
    for option in options:
        if option in decided:
            raise ValueError(
                f"{name} has no option {option!r} in a comparison, which decides it for all tests: "
                "pass it to compare"
            )
        if option not in known:
            raise ValueError(
                f"{name} has no option {option!r}: it has {', '.join(known) or 'none'}"
            )


def _unknown(test: Any) -> str:
    name = getattr(test, "__name__", test)
    if name in (*ABOUT_ONE, "LeavePairOutTest", "PermutationComplexityTest"):
        return f"test {name} is about one learner and compares nothing: leave it out"
    return f"test {test!r} is unknown: use one of {', '.join(TESTS)}, or their classes"


def as_specs(tests: Any, *, auc: bool) -> dict[str, TestSpec]:
    """Tests by the labels that tables show."""
    if isinstance(tests, str) and tests == "recommended":
        tests = RECOMMENDED_AUC if auc else RECOMMENDED
    if isinstance(tests, Mapping):
        named = {str(label): _as_spec(test) for label, test in tests.items()}
    else:
        listed = tests if isinstance(tests, (list, tuple)) else [tests]
        named = _labelled([_as_spec(test) for test in listed])
    if not named:
        raise ValueError("tests is empty: name at least one, or use 'recommended'")
    return named


def _as_spec(test: Any) -> TestSpec:
    return test if isinstance(test, TestSpec) else TestSpec(test)


def _labelled(specs: Sequence[TestSpec]) -> dict[str, TestSpec]:
    """The short names are the labels, numbered where a test comes several times."""
    counts = Counter(spec.name for spec in specs)
    seen: Counter[str] = Counter()
    named = {}
    for spec in specs:
        seen[spec.name] += 1
        again = counts[spec.name] > 1
        named[f"{spec.name} ({seen[spec.name]})" if again else spec.name] = spec
    return named


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
