"""The tests by their short names; a new test is a new line here.

Each is imported when it is asked for, so that a comparison by one of them does not wait for the
others.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module

from ucvtest.inference.base import HypothesisTest

_REGISTERED = {
    "bayesian_t": ".classical.bayesian_t:BayesianTTest",
    "conservative_z": ".classical.conservative_z:ConservativeZTest",
    "corrected_t": ".classical.corrected_t:CorrectedTTest",
    "cross_validation_wald": ".classical.cross_validation_wald:CrossValidationWaldTest",
    "delong": ".classical.delong:DeLongTest",
    "diebold_mariano": ".classical.diebold_mariano:DieboldMarianoTest",
    "five_by_two_f": ".classical.five_by_two:FiveByTwoFTest",
    "five_by_two_t": ".classical.five_by_two:FiveByTwoTTest",
    "fold_covariance": ".fold_covariance.method:FoldCovarianceTest",
    "hold_out": ".classical.hold_out:HoldOutTest",
    "influence": ".influence.method:InfluenceFunctionTest",
    "leave_pair_out": ".leave_pair_out.method:LeavePairOutTest",
    "mcnemar": ".classical.mcnemar:McNemarTest",
    "naive_t": ".classical.naive_t:NaiveTTest",
    "nested_cross_validation": ".classical.nested_cross_validation:NestedCrossValidationTest",
    "permutation": ".permutation.method:PermutationComplexityTest",
    "ustatistic": ".ustatistic.method:UStatisticTest",
}
"""The module of each test and its class, by the test's `method_name`."""


class _Tests(Mapping[str, type[HypothesisTest]]):
    """The test classes, each imported at the first request."""

    def __getitem__(self, name: str) -> type[HypothesisTest]:
        module, _, class_name = _REGISTERED[name].partition(":")
        cls: type[HypothesisTest] = getattr(import_module(module, "ucvtest.methods"), class_name)
        return cls

    def __contains__(self, name: object) -> bool:
        return name in _REGISTERED

    def __iter__(self) -> Iterator[str]:
        return iter(_REGISTERED)

    def __len__(self) -> int:
        return len(_REGISTERED)


TESTS: Mapping[str, type[HypothesisTest]] = _Tests()
"""All tests, by `method_name`. Each class declares its needs."""


def tests_that_compare() -> dict[str, type[HypothesisTest]]:
    """The tests that can be about two learners, by their short names."""
    return {name: cls for name, cls in TESTS.items() if cls.needs.compares}


def class_named(name: str) -> type[HypothesisTest]:
    """The test class with a name such as "CorrectedTTest"."""
    for method_name, home in _REGISTERED.items():
        if home.endswith(f":{name}"):
            return TESTS[method_name]
    raise ValueError(f"there is no test class {name!r}")
