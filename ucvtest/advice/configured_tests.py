"""Tests with all their settings, as the calibration study runs them and `advise` recommends."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from ucvtest.designs.scheme_base import NamedDesign
from ucvtest.designs.schemes import (
    HoldOut,
    KFold,
    NestedKFold,
    RandomSplits,
    SplitHalves,
    number_tested,
)

if TYPE_CHECKING:
    from ucvtest.inference.base import HypothesisTest

About = Literal["learner", "rules"]
"""Whether the estimand is an expectation over learning sets, or about the rules learnt here."""


@dataclass(frozen=True)
class Procedure:
    """A test, by its class name, with its design and its options.

    A `learn_share` of "half", "third" or "nine_tenths" is that of `UStatisticTest`; the estimand is
    an AUC, or an expected loss.
    """

    name: str
    test: str
    design: NamedDesign | None = None
    learn_share: Literal["half", "third", "nine_tenths"] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    about: About = "learner"
    auc: bool = False
    interval: bool = True
    pvalue: bool = True

    def __post_init__(self) -> None:
        for name in ("arguments", "options"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def cls(self) -> "type[HypothesisTest]":
        """The class of the test, which declares what it needs."""
        from ucvtest.methods.registry import class_named

        return class_named(self.test)

    @property
    def valid(self) -> bool:
        """Whether it is more than something to compare others with."""
        return self.cls.valid

    @property
    def single(self) -> bool:
        """Whether one learner alone can be tested."""
        return self.interval and self.cls.needs.learners != "two"

    @property
    def targets(self) -> tuple[str, ...]:
        """What it estimates: a difference, one learner's error, or a ratio."""
        if self.arguments.get("contrast") == "ratio":
            return ("ratio",)
        if self.options.get("interval") in ("stabilised", "hall"):
            return ("error",)  # for two learners the default, or not for them
        if self.learn_share == "third":
            return ("difference",)
        return ("difference", "error") if self.single else ("difference",)

    @property
    def not_zero_one(self) -> bool:
        """Whether it is for losses of numbers or probabilities."""
        contrast_and_interval = (self.arguments.get("contrast"), self.options.get("interval"))
        return contrast_and_interval[0] == "ratio" or str(contrast_and_interval[1]).startswith(
            "hall"
        )

    @property
    def zero_one(self) -> bool:
        """Whether the loss must be zero_one."""
        return (
            self.cls.needs.only_loss == "zero_one"
            or self.arguments.get("metric") == "error"
            or self.options.get("interval") == "stabilised"
        )

    @property
    def takes_loss(self) -> bool:
        """Whether the class has an argument for the loss that the settings do not give."""
        parameters = inspect.signature(self.cls.__init__).parameters
        return "loss" in parameters and not self.auc and not self.zero_one

    def settings(self, n_obs: int) -> dict[str, Any]:
        """Arguments of the constructor other than data, learners and loss."""
        arguments = dict(self.arguments)
        if self.design is not None:
            arguments["design"] = self.design
        if self.learn_share is not None:
            arguments["learn_size"] = _LEARN_SIZES[self.learn_share](n_obs)
        if self.auc and "metric" not in arguments:
            arguments["loss"] = "auc"
        return arguments

    def fits(self, n_obs: int) -> bool:
        """Whether a sample is large enough for the design."""
        if 2 * self.arguments.get("n_folds", 1) > n_obs:
            return False
        try:
            if self.design is not None:
                self.design.check(n_obs)
            return self.learn_size(n_obs) > 0
        except ValueError:
            return False

    def learn_size(self, n_obs: int) -> int:
        """The learning-set size that the estimand is about."""
        settings = self.settings(n_obs)
        if self.test == "NestedCrossValidationTest":
            return n_obs  # what it corrects its estimate to
        if self.design is not None:
            # The first learning set, without drawing any: samples may be huge.
            design: Any = self.design
            design.check(n_obs)
            if isinstance(design, KFold):
                return n_obs - -(-n_obs // design.n_folds)
            return n_obs - number_tested(n_obs, design.test_fraction)
        if "n_folds" in settings:
            return n_obs - n_obs // settings["n_folds"]
        if self.auc:
            return n_obs // 2 - 2  # half of each class, less one
        return int(settings["learn_size"])

    def overlaps(self, n_obs: int) -> bool:
        """Whether any two of its learning sets overlap, each holding more than half of the sample.

        How rules differ from one learning set to another is then seen in part only, and no unbiased
        estimate of the variance exists. A single hold-out set is about one rule.
        """
        return not isinstance(self.design, HoldOut) and 2 * self.learn_size(n_obs) > n_obs


_LEARN_SIZES = {
    "half": lambda n: n // 2 - 1,
    "third": lambda n: n // 3,
    "nine_tenths": lambda n: 9 * n // 10,
}

PRECISE = {"tol": 0.2, "max_fits": 50_000}
"""For `UStatisticTest`: draws until the Monte-Carlo error of the variance is below 20% of it, below
25% being what a result needs; with fewer fits it often has no answer."""

OF_THE_PAPER = {"variance": "influence", "n_repeats": 1000}
"""For `InfluenceFunctionTest`: the variance that the table shows beside the better ones."""

PRECISE_AUC = {"tol": 0.3}
"""For `UStatisticTest` of an AUC, of which a result needs an error below 50%."""

_TEN_FOLDS = KFold(10)


def _halves(name: str, **options: str) -> Procedure:
    """The U-statistic test that learns from half of the sample."""
    return Procedure(name, "UStatisticTest", learn_share="half", options={**PRECISE, **options})


FEW_PAIRS = (5, 10, 20, 40, 100)
"""Pairs of learning sets of `UStatisticTest` with the variance of few fits, 10 to 200 fits of each
learner."""


def _few_fits(n_pairs: int) -> Procedure:
    """The U-statistic test from `n_pairs` pairs, two fits of each learner for each."""
    options = {"variance": "few", "n_pairs": n_pairs}
    name = f"ustatistic_few_{2 * n_pairs}"
    return Procedure(name, "UStatisticTest", learn_share="half", options=options)


def _few_fits_of_auc(n_pairs: int) -> Procedure:
    """The same of the AUC."""
    options = {"variance": "few", "n_pairs": n_pairs}
    return Procedure(
        f"ustatistic_auc_few_{2 * n_pairs}", "UStatisticTest", options=options, auc=True
    )


PROCEDURES: Mapping[str, Procedure] = MappingProxyType(
    {
        procedure.name: procedure
        for procedure in (
            Procedure("naive_t", "NaiveTTest", _TEN_FOLDS),
            Procedure("corrected_t", "CorrectedTTest", _TEN_FOLDS),
            Procedure("corrected_t_repeated", "CorrectedTTest", KFold(10, n_repeats=10)),
            Procedure("corrected_t_splits", "CorrectedTTest", RandomSplits(15, 0.1)),
            Procedure("bayesian_t", "BayesianTTest", _TEN_FOLDS, pvalue=False),
            Procedure("fold_covariance", "FoldCovarianceTest", arguments={"n_folds": 10}),
            Procedure("conservative_z", "ConservativeZTest", SplitHalves()),
            Procedure("five_by_two_t", "FiveByTwoTTest", KFold(2, n_repeats=5)),
            Procedure("five_by_two_f", "FiveByTwoFTest", KFold(2, n_repeats=5), interval=False),
            Procedure("wald_all_pairs", "CrossValidationWaldTest", _TEN_FOLDS, about="rules"),
            Procedure(
                "wald_within_fold",
                "CrossValidationWaldTest",
                _TEN_FOLDS,
                options={"variance": "within_fold"},
                about="rules",
            ),
            Procedure("nested", "NestedCrossValidationTest", NestedKFold(10, n_repeats=20)),
            _halves("ustatistic"),
            _halves("ustatistic_paper", variance="unbiased"),
            _halves("ustatistic_stabilised", interval="stabilised"),
            _halves("ustatistic_wald", interval="wald"),
            *map(_few_fits, FEW_PAIRS),
            Procedure("ustatistic_third", "UStatisticTest", learn_share="third", options=PRECISE),
            _halves("ustatistic_hall", interval="hall"),
            Procedure(
                "ustatistic_ratio",
                "UStatisticTest",
                learn_share="half",
                arguments={"contrast": "ratio"},
                options=PRECISE,
            ),
            Procedure(
                "ustatistic_jackknife",
                "UStatisticTest",
                learn_share="nine_tenths",
                options={**PRECISE, "variance": "jackknife"},
            ),
            Procedure(
                "influence_error",
                "InfluenceFunctionTest",
                arguments={"n_folds": 5, "metric": "error"},
                options=OF_THE_PAPER,
            ),
            Procedure("hold_out", "HoldOutTest", HoldOut(1 / 3), about="rules"),
            Procedure("mcnemar", "McNemarTest", HoldOut(1 / 3), about="rules"),
            Procedure("mcnemar_folds", "McNemarTest", _TEN_FOLDS, about="rules"),
            Procedure("delong", "DeLongTest", HoldOut(1 / 3), about="rules", auc=True),
            Procedure("delong_folds", "DeLongTest", KFold(5), about="rules", auc=True),
            Procedure("corrected_t_auc", "CorrectedTTest", KFold(5), auc=True),
            Procedure(
                "influence_auc",
                "InfluenceFunctionTest",
                arguments={"n_folds": 5, "metric": "auc"},
                options=OF_THE_PAPER,
                auc=True,
            ),
            Procedure(
                "influence_auc_jackknife",
                "InfluenceFunctionTest",
                arguments={"n_folds": 5, "metric": "auc"},
                auc=True,
            ),
            Procedure("ustatistic_auc", "UStatisticTest", options=PRECISE_AUC, auc=True),
            *map(_few_fits_of_auc, FEW_PAIRS),
            Procedure(
                "ustatistic_auc_jackknife",
                "UStatisticTest",
                options={**PRECISE_AUC, "variance": "jackknife"},
                auc=True,
            ),
        )
    }
)
"""By name, in the order of the calibration table."""
