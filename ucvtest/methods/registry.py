"""The tests by their short names; a new test is a new line here."""

from collections.abc import Mapping
from types import MappingProxyType

from ucvtest.inference.base import HypothesisTest
from ucvtest.methods.classical.bayesian_t import BayesianTTest
from ucvtest.methods.classical.conservative_z import ConservativeZTest
from ucvtest.methods.classical.corrected_t import CorrectedTTest
from ucvtest.methods.classical.cross_validation_wald import CrossValidationWaldTest
from ucvtest.methods.classical.delong import DeLongTest
from ucvtest.methods.classical.diebold_mariano import DieboldMarianoTest
from ucvtest.methods.classical.five_by_two import FiveByTwoFTest, FiveByTwoTTest
from ucvtest.methods.classical.hold_out import HoldOutTest
from ucvtest.methods.classical.mcnemar import McNemarTest
from ucvtest.methods.classical.naive_t import NaiveTTest
from ucvtest.methods.classical.nested_cross_validation import NestedCrossValidationTest
from ucvtest.methods.fold_covariance.method import FoldCovarianceTest
from ucvtest.methods.influence.method import InfluenceFunctionTest
from ucvtest.methods.leave_pair_out.method import LeavePairOutTest
from ucvtest.methods.permutation.method import PermutationComplexityTest
from ucvtest.methods.ustatistic.method import UStatisticTest

__all__ = ["TESTS", "class_named", "tests_that_compare"]

_REGISTERED: dict[str, type[HypothesisTest]] = {
    cls.method_name: cls
    for cls in (
        BayesianTTest,
        ConservativeZTest,
        CorrectedTTest,
        CrossValidationWaldTest,
        DeLongTest,
        DieboldMarianoTest,
        FiveByTwoFTest,
        FiveByTwoTTest,
        FoldCovarianceTest,
        HoldOutTest,
        InfluenceFunctionTest,
        LeavePairOutTest,
        McNemarTest,
        NaiveTTest,
        NestedCrossValidationTest,
        PermutationComplexityTest,
        UStatisticTest,
    )
}

TESTS: Mapping[str, type[HypothesisTest]] = MappingProxyType(_REGISTERED)
"""All tests, by `method_name`. Each class declares its needs."""


def tests_that_compare() -> dict[str, type[HypothesisTest]]:
    """The tests that can be about two learners, by their short names."""
    return {name: cls for name, cls in TESTS.items() if cls.compares}


def class_named(name: str) -> type[HypothesisTest]:
    """The test class with a name such as "CorrectedTTest"."""
    for cls in TESTS.values():
        if cls.__name__ == name:
            return cls
    raise ValueError(f"there is no test class {name!r}")
