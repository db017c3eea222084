"""Tests with options, as `compare` takes them."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ucvtest.common.checks import check_names, numbered
from ucvtest.common.equality import ByValue
from ucvtest.common.words import arg, excerpt
from ucvtest.designs.scheme_base import NamedDesign
from ucvtest.inference.arguments import Ask, Run
from ucvtest.inference.base import HypothesisTest
from ucvtest.methods.registry import TESTS, tests_that_compare

RECOMMENDED = "recommended"
"""In the place of a test: the one that `advise` recommends."""

OF_ROWS = ("scoring", "missing")
"""Options of a test that change its data or its loss, so that it shares no question."""

SHARED = (
    *("self", "X", "y", "learner", "other", "metric", "weights", "contrast"),
    *(name for name in Ask.__annotations__ if name not in OF_ROWS),
)
"""Arguments of the classes that the comparison decides for all of them."""

RUNTIME = ("self", *Run.__annotations__, "checkpoint")
"""The same of their methods `fit`."""


@dataclass(frozen=True, eq=False)
class TestSpec(ByValue):
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
            options = getattr(self, name)
            if not isinstance(options, Mapping):
                raise ValueError(f"{name} must be a mapping of options, got {excerpt(options)}")
            object.__setattr__(self, name, MappingProxyType(dict(options)))
        cls = self.cls
        if self.takes_losses and len(self.constructor) > 1:
            other_arguments = ", ".join(name for name in self.constructor if name != "design")
            raise ValueError(
                f"{self.name} gets its learning sets from design: leave out {other_arguments}"
            )
        _check_options(self.name, self.own, cls.__init__, SHARED)
        # A comparison runs many tests at once; only their own methods know their options.
        _check_options(f"{self.name}.fit", self.fit, getattr(cls, "fit"), RUNTIME)  # noqa: B009

    @classmethod
    def of(cls, test: str | type[HypothesisTest], options: Mapping[str, Any]) -> "TestSpec":
        """A test with options, divided into those of the class and those of its `fit`.

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
        if not isinstance(options, Mapping):
            raise ValueError(
                f"options must be a mapping of names to values, got {excerpt(options)}"
            )
        fit_parameters = inspect.signature(getattr(cls(test).cls, "fit")).parameters  # noqa: B009
        fit = {name: value for name, value in options.items() if name in fit_parameters}
        constructor_options = {
            name: value for name, value in options.items() if name not in fit_parameters
        }
        return cls(test, constructor_options, fit)

    @property
    def cls(self) -> type[HypothesisTest]:
        """The test class."""
        name = self.test if isinstance(self.test, str) else getattr(self.test, "method_name", None)
        cls = TESTS.get(name) if isinstance(name, str) else None
        if cls is not None and cls.needs.compares and self.test in (name, cls):
            return cls
        for other in TESTS.values():
            if isinstance(self.test, (str, type)) and self.test in (other, other.method_name):
                test_name = getattr(self.test, "__name__", self.test)
                raise ValueError(
                    f"test {test_name} is about one learner and compares nothing: leave it out"
                )
        raise ValueError(
            f"test {self.test!r:.60} is unknown: use one of {', '.join(tests_that_compare())}, or "
            "their classes"
        )

    @property
    def takes_losses(self) -> bool:
        """Whether a test that would draw its own learning sets is given a design instead."""
        parameters = inspect.signature(self.cls.__init__).parameters
        return "design" in self.constructor and "design" not in parameters

    @property
    def own(self) -> Mapping[str, Any]:
        """The options that the class itself has."""
        return {} if self.takes_losses else self.constructor

    @property
    def name(self) -> str:
        """The short name of the test."""
        return self.cls.method_name

    @property
    def words(self) -> str:
        """The test and its options, as settings keep them."""
        options = {
            name: value.words if isinstance(value, NamedDesign) else value
            for name, value in {**self.constructor, **self.fit}.items()
        }
        listed = ", ".join(f"{name}={value!r:.60}" for name, value in options.items())
        return f"{self.name}({listed})" if options else self.name


def _check_options(
    name: str, options: Mapping[str, Any], constructor_or_fit: Any, decided: Sequence[str]
) -> None:
    known_options = [
        parameter
        for parameter in inspect.signature(constructor_or_fit).parameters
        if parameter not in decided
    ]
    for option in options:
        if option in decided:
            raise ValueError(
                f"{name} has no option {option!r} in a comparison, which decides it for all tests: "
                "pass it to compare"
            )
        if option not in known_options:
            raise ValueError(
                f"{name} has no option {option!r}: it has {', '.join(known_options) or 'none'}"
            )


def as_specs(tests: Any) -> dict[str, TestSpec]:
    """Tests by the labels that tables show."""
    if isinstance(tests, Mapping):
        check_names("tests", tests)
        listed = list(tests.values())
    else:
        listed = list(tests) if isinstance(tests, (list, tuple)) else [tests]
    specs = [test if isinstance(test, TestSpec) else TestSpec(test) for test in listed]
    if not specs:
        raise ValueError(f"{arg('tests')} is empty: name at least one, or use 'recommended'")
    # The short names are the labels, numbered where a test comes several times.
    labels = list(tests) if isinstance(tests, Mapping) else numbered([spec.name for spec in specs])
    return dict(zip(labels, specs, strict=True))
