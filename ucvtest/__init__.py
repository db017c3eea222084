"""Honest statistical tests for learning algorithms on one small data set.

The public names load on first use, so that ``import ucvtest`` stays quick.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ucvtest import codes, designs, hooks, kernels, learners, losses, simulate
    from ucvtest.advice.advise import Advice, advise
    from ucvtest.autologging import autolog
    from ucvtest.common.exceptions import UcvtestWarning
    from ucvtest.comparison.compare import compare
    from ucvtest.comparison.compare_losses import compare_losses
    from ucvtest.comparison.comparison import Comparison
    from ucvtest.comparison.specs import TestSpec
    from ucvtest.evaluation.evaluate import evaluate
    from ucvtest.losses.table import Losses
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
    from ucvtest.methods.fold_covariance.method import FoldCovarianceTest
    from ucvtest.methods.influence.method import InfluenceFunctionTest
    from ucvtest.methods.leave_pair_out.method import LeavePairOutTest
    from ucvtest.methods.permutation.method import PermutationComplexityTest
    from ucvtest.methods.permutation.model_selection import ModelSelection, select_model
    from ucvtest.methods.ustatistic.kappa import KappaProfile
    from ucvtest.methods.ustatistic.method import UStatisticTest
    from ucvtest.methods.ustatistic.splits_for_precision import resamples_for_precision
    from ucvtest.metrics.loss import Loss
    from ucvtest.planning.plan import plan
    from ucvtest.planning.sample_plan import SamplePlan
    from ucvtest.results.citations import Citations, cite
    from ucvtest.results.joint_result import JointResult
    from ucvtest.results.margins import EquivalenceResult, NoninferiorityResult
    from ucvtest.results.result import TestResult

__version__ = "0.1.0"

__all__ = [
    "Advice",
    "BayesianTTest",
    "Citations",
    "Comparison",
    "ConservativeZTest",
    "CorrectedTTest",
    "CrossValidationWaldTest",
    "DeLongTest",
    "EquivalenceResult",
    "FiveByTwoFTest",
    "FiveByTwoTTest",
    "FoldCovarianceTest",
    "HoldOutTest",
    "InfluenceFunctionTest",
    "JointResult",
    "KappaProfile",
    "LeavePairOutTest",
    "Loss",
    "Losses",
    "McNemarTest",
    "ModelSelection",
    "NaiveTTest",
    "NestedCrossValidationTest",
    "NoninferiorityResult",
    "PermutationComplexityTest",
    "SamplePlan",
    "TestResult",
    "TestSpec",
    "UStatisticTest",
    "UcvtestWarning",
    "advise",
    "autolog",
    "cite",
    "codes",
    "compare",
    "compare_losses",
    "designs",
    "evaluate",
    "hooks",
    "kernels",
    "learners",
    "losses",
    "plan",
    "resamples_for_precision",
    "select_model",
    "simulate",
]

_HOME = {
    "Advice": "ucvtest.advice.advise",
    "BayesianTTest": "ucvtest.methods.classical.bayesian_t",
    "Citations": "ucvtest.results.citations",
    "Comparison": "ucvtest.comparison.comparison",
    "ConservativeZTest": "ucvtest.methods.classical.conservative_z",
    "CorrectedTTest": "ucvtest.methods.classical.corrected_t",
    "CrossValidationWaldTest": "ucvtest.methods.classical.cross_validation_wald",
    "DeLongTest": "ucvtest.methods.classical.delong",
    "EquivalenceResult": "ucvtest.results.margins",
    "FiveByTwoFTest": "ucvtest.methods.classical.five_by_two",
    "FiveByTwoTTest": "ucvtest.methods.classical.five_by_two",
    "FoldCovarianceTest": "ucvtest.methods.fold_covariance.method",
    "HoldOutTest": "ucvtest.methods.classical.hold_out",
    "InfluenceFunctionTest": "ucvtest.methods.influence.method",
    "JointResult": "ucvtest.results.joint_result",
    "KappaProfile": "ucvtest.methods.ustatistic.kappa",
    "LeavePairOutTest": "ucvtest.methods.leave_pair_out.method",
    "Loss": "ucvtest.metrics.loss",
    "Losses": "ucvtest.losses.table",
    "McNemarTest": "ucvtest.methods.classical.mcnemar",
    "ModelSelection": "ucvtest.methods.permutation.model_selection",
    "NaiveTTest": "ucvtest.methods.classical.naive_t",
    "NestedCrossValidationTest": "ucvtest.methods.classical.nested_cross_validation",
    "NoninferiorityResult": "ucvtest.results.margins",
    "PermutationComplexityTest": "ucvtest.methods.permutation.method",
    "SamplePlan": "ucvtest.planning.sample_plan",
    "TestResult": "ucvtest.results.result",
    "TestSpec": "ucvtest.comparison.specs",
    "UStatisticTest": "ucvtest.methods.ustatistic.method",
    "UcvtestWarning": "ucvtest.common.exceptions",
    "advise": "ucvtest.advice.advise",
    "autolog": "ucvtest.autologging",
    "cite": "ucvtest.results.citations",
    "compare": "ucvtest.comparison.compare",
    "compare_losses": "ucvtest.comparison.compare_losses",
    "evaluate": "ucvtest.evaluation.evaluate",
    "plan": "ucvtest.planning.plan",
    "resamples_for_precision": "ucvtest.methods.ustatistic.splits_for_precision",
    "select_model": "ucvtest.methods.permutation.model_selection",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ucvtest' has no attribute {name!r}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    return import_module(f"ucvtest.{name}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


# Forks are watched from now on, also where others start JAX before this package does.
import_module("ucvtest.common.fork_guard")

if os.environ.get("UCVTEST_AUTOLOG", "").lower() not in ("", "0", "false"):
    import_module("ucvtest.hooks").add_hook(
        import_module("ucvtest.autologging").AutologByEnvironment()
    )
