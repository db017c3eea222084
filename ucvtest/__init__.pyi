"""The public names: what type checkers read, and what `__init__.py` loads on first use.

A new name is a line here.
"""

from ucvtest import codes as codes
from ucvtest import curves as curves
from ucvtest import designs as designs
from ucvtest import hooks as hooks
from ucvtest import kernels as kernels
from ucvtest import learners as learners
from ucvtest import losses as losses
from ucvtest import metrics as metrics
from ucvtest.advice.advise import Advice as Advice
from ucvtest.advice.advise import advise as advise
from ucvtest.autologging import autolog as autolog
from ucvtest.common.exceptions import SlowFitsWarning as SlowFitsWarning
from ucvtest.common.exceptions import UcvtestWarning as UcvtestWarning
from ucvtest.comparison.compare import compare as compare
from ucvtest.comparison.compare_losses import compare_losses as compare_losses
from ucvtest.comparison.comparison import Comparison as Comparison
from ucvtest.comparison.specs import TestSpec as TestSpec
from ucvtest.data.survival_response import survival as survival
from ucvtest.evaluation.evaluate import evaluate as evaluate
from ucvtest.gains.columns import columns as columns
from ucvtest.gains.result import ColumnGains as ColumnGains
from ucvtest.ledger.ledger import GateAnswer as GateAnswer
from ucvtest.ledger.ledger import Ledger as Ledger
from ucvtest.ledger.ledger import LedgerState as LedgerState
from ucvtest.losses.table import Losses as Losses
from ucvtest.methods.classical.bayesian_t import BayesianTTest as BayesianTTest
from ucvtest.methods.classical.conservative_z import ConservativeZTest as ConservativeZTest
from ucvtest.methods.classical.corrected_t import CorrectedTTest as CorrectedTTest
from ucvtest.methods.classical.cross_validation_wald import (
    CrossValidationWaldTest as CrossValidationWaldTest,
)
from ucvtest.methods.classical.delong import DeLongTest as DeLongTest
from ucvtest.methods.classical.diebold_mariano import DieboldMarianoTest as DieboldMarianoTest
from ucvtest.methods.classical.five_by_two import FiveByTwoFTest as FiveByTwoFTest
from ucvtest.methods.classical.five_by_two import FiveByTwoTTest as FiveByTwoTTest
from ucvtest.methods.classical.hold_out import HoldOutTest as HoldOutTest
from ucvtest.methods.classical.mcnemar import McNemarTest as McNemarTest
from ucvtest.methods.classical.naive_t import NaiveTTest as NaiveTTest
from ucvtest.methods.classical.nested_cross_validation import (
    NestedCrossValidationTest as NestedCrossValidationTest,
)
from ucvtest.methods.fold_covariance.method import FoldCovarianceTest as FoldCovarianceTest
from ucvtest.methods.influence.method import InfluenceFunctionTest as InfluenceFunctionTest
from ucvtest.methods.leave_pair_out.method import LeavePairOutTest as LeavePairOutTest
from ucvtest.methods.permutation.method import (
    PermutationComplexityTest as PermutationComplexityTest,
)
from ucvtest.methods.permutation.model_selection import ModelSelection as ModelSelection
from ucvtest.methods.permutation.model_selection import select_model as select_model
from ucvtest.methods.ustatistic.kappa import KappaProfile as KappaProfile
from ucvtest.methods.ustatistic.method import UStatisticTest as UStatisticTest
from ucvtest.methods.ustatistic.precomputed_splits import (
    resamples_for_precision as resamples_for_precision,
)
from ucvtest.metrics.loss import Loss as Loss
from ucvtest.planning.plan import plan as plan
from ucvtest.planning.sample_plan import SamplePlan as SamplePlan
from ucvtest.results.citations import Citations as Citations
from ucvtest.results.citations import cite as cite
from ucvtest.results.joint_result import JointResult as JointResult
from ucvtest.results.margins import EquivalenceResult as EquivalenceResult
from ucvtest.results.margins import NoninferiorityResult as NoninferiorityResult
from ucvtest.results.result import TestResult as TestResult

__version__: str
__all__: list[str]
