"""The tests by their short names."""

from collections.abc import Mapping
from types import MappingProxyType

from ucvtest.inference.hypothesis_test import HypothesisTest
from ucvtest.methods.classical.bayesian_t import BayesianTTest
from ucvtest.methods.classical.conservative_z import ConservativeZTest
from ucvtest.methods.classical.corrected_t import CorrectedTTest
from ucvtest.methods.classical.cross_validation_wald import CrossValidationWaldTest
from ucvtest.methods.classical.delong import DeLongTest
from ucvtest.methods.classical.five_by_two import FiveByTwoFTest, FiveByTwoTTest
from ucvtest.methods.classical.hold_out import HoldOutTest
from ucvtest.methods.classical.mcnemar import McNemarTest
from ucvtest.methods.classical.naive_t import NaiveTTest
from ucvtest.methods.classical.nested_cross_validation import NestedCrossValidationTest
from ucvtest.methods.fold_covariance.test import FoldCovarianceTest
from ucvtest.methods.influence.test import InfluenceFunctionTest
from ucvtest.methods.ustatistic.test import UStatisticTest

__all__ = ["TESTS"]


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
