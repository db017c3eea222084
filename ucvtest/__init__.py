"""Honest statistical tests for learning algorithms on one small data set.

The public names load on first use, so that ``import ucvtest`` stays quick.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ucvtest import codes, designs, hooks, kernels, learners, losses, simulate
    from ucvtest.advice import Advice, advise
    from ucvtest.autologging import autolog
    from ucvtest.comparison import Comparison, TestSpec, compare
    from ucvtest.exceptions import UcvtestWarning
    from ucvtest.fold_covariance import FoldCovarianceTest
    from ucvtest.influence import InfluenceFunctionTest
    from ucvtest.leave_pair_out import LeavePairOutTest
    from ucvtest.losses import Loss
    from ucvtest.model_selection import ModelSelection, select_model
    from ucvtest.permutation import PermutationComplexityTest
    from ucvtest.resampled_losses import Losses, evaluate
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
    from ucvtest.results import TestResult
    from ucvtest.ustatistic import KappaProfile, UStatisticTest, resamples_for_precision

__version__ = "0.1.0"

__all__ = [
    "Advice",
    "BayesianTTest",
    "Comparison",
    "ConservativeZTest",
    "CorrectedTTest",
    "CrossValidationWaldTest",
    "DeLongTest",
    "FiveByTwoFTest",
    "FiveByTwoTTest",
    "FoldCovarianceTest",
    "HoldOutTest",
    "InfluenceFunctionTest",
    "KappaProfile",
    "LeavePairOutTest",
    "Loss",
    "Losses",
    "McNemarTest",
    "ModelSelection",
    "NaiveTTest",
    "NestedCrossValidationTest",
    "PermutationComplexityTest",
    "TestResult",
    "TestSpec",
    "UStatisticTest",
    "UcvtestWarning",
    "advise",
    "autolog",
    "codes",
    "compare",
    "designs",
    "evaluate",
    "hooks",
    "kernels",
    "learners",
    "losses",
    "resamples_for_precision",
    "select_model",
    "simulate",
]

_HOME = {
    "Advice": "ucvtest.advice",
    "BayesianTTest": "ucvtest.resampling.bayesian_t",
    "Comparison": "ucvtest.comparison",
    "ConservativeZTest": "ucvtest.resampling.conservative_z",
    "CorrectedTTest": "ucvtest.resampling.corrected_t",
    "CrossValidationWaldTest": "ucvtest.resampling.cross_validation_wald",
    "DeLongTest": "ucvtest.resampling.delong",
    "FiveByTwoFTest": "ucvtest.resampling.five_by_two",
    "FiveByTwoTTest": "ucvtest.resampling.five_by_two",
    "FoldCovarianceTest": "ucvtest.fold_covariance",
    "HoldOutTest": "ucvtest.resampling.hold_out",
    "InfluenceFunctionTest": "ucvtest.influence",
    "KappaProfile": "ucvtest.ustatistic",
    "LeavePairOutTest": "ucvtest.leave_pair_out",
    "Loss": "ucvtest.losses",
    "Losses": "ucvtest.resampled_losses",
    "McNemarTest": "ucvtest.resampling.mcnemar",
    "ModelSelection": "ucvtest.model_selection",
    "NaiveTTest": "ucvtest.resampling.naive_t",
    "NestedCrossValidationTest": "ucvtest.resampling.nested_cross_validation",
    "PermutationComplexityTest": "ucvtest.permutation",
    "TestResult": "ucvtest.results",
    "TestSpec": "ucvtest.comparison",
    "UStatisticTest": "ucvtest.ustatistic",
    "UcvtestWarning": "ucvtest.exceptions",
    "advise": "ucvtest.advice",
    "autolog": "ucvtest.autologging",
    "compare": "ucvtest.comparison",
    "evaluate": "ucvtest.resampled_losses",
    "resamples_for_precision": "ucvtest.ustatistic",
    "select_model": "ucvtest.model_selection",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ucvtest' has no attribute {name!r}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    return import_module(f"ucvtest.{name}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


if os.environ.get("UCVTEST_AUTOLOG", "").lower() not in ("", "0", "false"):
    import_module("ucvtest.hooks").add_hook(
        import_module("ucvtest.autologging").AutologByEnvironment()
    )
