"""Tests that take losses which exist instead of data, and fit nothing then."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.data.groups import (
    Clusters,
    GroupWeight,
    as_groups,
    check_group_weight,
    clusters_of,
    refuse_groups,
)
from ucvtest.designs.design import Design
from ucvtest.evaluation.loss_source import FittedLosses, LossSource, PrecomputedLosses
from ucvtest.inference.base import HypothesisTest
from ucvtest.losses.clusters import of_clusters
from ucvtest.losses.table import MEANS_ONLY, SCORES_ONLY, LossDifference, Losses
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.means import LOSSES
from ucvtest.metrics.ranks import AUC_NAME as AUC
from ucvtest.results.joint_result import JointResult
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.wald import Alternative

__all__ = [
    "FromLosses",
    "LossesHeader",
    "check_losses",
    "chosen_learners",
    "refuse_arguments",
    "refuse_shared_seconds",
]

ROUNDING = 1e-12
"""Variances of differences, as a share of those of what differs, that are rounding error."""


@dataclass(frozen=True, eq=False)
class LossesHeader:
    """What a test has to know of losses to say whether it can use them, before they are computed.

    `target` are the codes of the classes or the response; without `has_values` only means are kept.
    The design is that of the clusters, where a test takes their losses.
    """

    design: Design
    loss: str
    paired: bool
    target: np.ndarray | None
    has_values: bool = True
    clusters: Clusters | None = None

    @classmethod
    def of(cls, given: LossDifference, clusters: Clusters | None = None) -> Self:
        """What is to be known of losses that exist."""
        losses, has_values = given.losses, given.losses.values is not None
        return cls(given.design, losses.loss, given.paired, losses.target, has_values, clusters)

    def by_clusters(self) -> Self:
        """The same of the losses of clusters, which are what the test takes."""
        if self.clusters is None:
            return self
        groups, auc = self.clusters.groups, self.loss == AUC
        return replace(
            self,
            design=self.design.by_groups(groups),
            target=None if auc or self.target is None else groups.classes(self.target),
            has_values=self.has_values and not auc,
        )

    def check_values(self) -> None:
        """Refuse means alone."""
        if not self.has_values:
            raise ValueError(MEANS_ONLY)

    def check_losses(self) -> None:
        """Refuse means alone, and scores."""
        if self.loss == AUC:
            raise ValueError(SCORES_ONLY)
        self.check_values()


class FromLosses(HypothesisTest):
    """A test that is made from data, or by `from_losses` from losses that exist.

    Subclasses say in `admits` which designs of losses they can use, in `of_fixed_rules` whether a
    test set alone will do, and take what they need of the losses' header in `_take`.
    """

    takes_rows: ClassVar[bool] = False
    """Whether the test sees the losses of the rows of clusters, and takes account of these itself;
    otherwise it gets losses of clusters, which are its observations."""
    _header: LossesHeader | None = None
    """Of a test that was made from losses."""
    _given: LossDifference | None = None
    """The losses themselves, once they exist."""

    @classmethod
    def from_losses(
        cls,
        losses: Losses,
        learner: str | int | None = None,
        other: str | int | None = None,
        *,
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
        group_weight: GroupWeight = "group",
    ) -> Self:
        """The test on losses that exist: `fit` then fits no model.

        Parameters
        ----------
        losses : Losses
        learner, other : str or int, optional
            Names or places in `losses`; a learner without `other` is tested alone. With neither,
            the only learner is tested, or two are compared; of more, `learner` must be named.
        null_value, alternative, group_weight
            See the class; clusters are those of the losses.

        Raises
        ------
        ValueError
            If the design of the losses is none that the test admits, or an argument is off.
        """
        given = chosen_learners(losses, learner, other)
        weight = check_group_weight(group_weight, grouped=losses.groups is not None)
        clusters = _clusters(losses, weight)
        if clusters is not None and not cls.takes_groups:
            refuse_groups(losses.groups)
        header = LossesHeader.of(given, clusters)
        test = cls._from_header(header, null_value, alternative, loss=_loss_of(losses))
        test._given = test._by_units(given)
        return test

    def _by_units(self, observed: LossDifference) -> LossDifference:
        """The losses as the test takes them: of clusters where there are any, unless of rows."""
        clusters = self.clusters
        if clusters is None or self.takes_rows:
            return observed
        return replace(observed, losses=of_clusters(observed.losses, clusters))

    @classmethod
    def _from_header(
        cls,
        header: LossesHeader,
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
        *,
        loss: Loss | None = None,
    ) -> Self:
        """The test on losses with this header, which need not exist yet."""
        cls._check_fixed_rules(header.design)
        header = header if cls.takes_rows else header.by_clusters()
        # The constructor is about data; what it sets is set here or is None.
        test = cls.__new__(cls)
        auc = header.loss == AUC
        test._set_hypothesis(null_value, alternative, paired=header.paired, auc=auc)
        test.loss, test._header = loss or LOSSES.get(header.loss), header
        test._take(header)
        return test

    @classmethod
    def _joint(cls, losses: Losses, group_weight: GroupWeight = "group") -> JointResult | None:
        """The test of all learners at once, where there is one."""

    @classmethod
    def _judged_together(
        cls, tests: Mapping[Any, Any], losses: Losses, options: Mapping[str, Any]
    ) -> tuple[dict[Any, TestResult], JointEstimates]:
        """The results of tests of each learner, by name, and of pairs, with what joins them."""
        results = {key: test.fit(**options) for key, test in tests.items()}
        if losses.groups is not None:
            refuse_groups(losses.groups)
        covariance = cls._covariance(losses)
        variances = np.diag(covariance)
        squares = variances[:, None] + variances - 2 * covariance
        # What is no more than rounding error tells nothing apart.
        known = squares > ROUNDING * (variances[:, None] + variances)
        df = min(each.df for key, each in results.items() if not isinstance(key, str))
        together = JointEstimates(
            own={name: results[name] for name in losses.learners},
            se=np.sqrt(np.where(known, squares, np.nan)),
            covariance=covariance,
            df=math.inf if math.isnan(df) else df,
        )
        return results, together

    @classmethod
    def _covariance(cls, losses: Losses) -> np.ndarray:
        """The covariance matrix of the estimates of all learners, where it is known."""
        raise NotImplementedError(f"{cls.__name__} has none")

    @abstractmethod
    def _take(self, header: LossesHeader) -> None:
        """Set what the class needs to know of the losses; refuse those that it cannot use."""

    @property
    def paired(self) -> bool:
        """Whether two learners are compared."""
        return super().paired if self._header is None else self._header.paired

    @property
    def n_obs(self) -> int:
        """Observations of the sample."""
        if self._header is None:
            return super().n_obs
        clusters = self._header.clusters
        return self._header.design.n_obs if clusters is None else clusters.groups.n_obs

    @property
    def clusters(self) -> Clusters | None:
        """The clusters that are the observations of the test; None where rows are."""
        return super().clusters if self._header is None else self._header.clusters

    @property
    def target(self) -> np.ndarray:
        """Codes of the classes, or the real response, shape (n,)."""
        if self._header is None:
            return super().target
        if self._header.target is None:
            raise ValueError("losses have no target, which this test needs: pass y to from_arrays")
        return self._header.target

    def _needs_data(self, what: str) -> None:
        if self._header is not None:
            raise ValueError(
                f"{what} needs fits, and this test was made from losses: make it from X and y"
            )

    def _fit(
        self,
        options: Any,
        rng: int | np.random.Generator | None,
        n_jobs: int | None,
        batch_size: int | None,
        progress: bool | None,
        max_seconds: float | None = None,
    ) -> TestResult:
        if self._header is None:
            return super()._fit(options, rng, n_jobs, batch_size, progress, max_seconds)
        refuse_arguments(max_seconds=max_seconds)
        execution = self._execution_without_fits(options, rng, n_jobs, batch_size)
        return self._finish(self._answer(options, execution), execution)

    def _finish(self, result: TestResult, execution: Execution) -> TestResult:
        if self._given is not None and self._given.losses.greater_is_better:
            result = replace(result, better="higher")
        return super()._finish(result, execution)

    def _execution_without_fits(
        self, options: Any, rng: Any, n_jobs: Any, batch_size: Any
    ) -> Execution:
        """How an answer from given losses is computed; what is about draws and fits is refused."""
        refuse_arguments(rng=rng, n_jobs=n_jobs, batch_size=batch_size)
        return Execution.without_draws()

    def _source(self, execution: Execution) -> LossSource:
        """The losses that were given, or fits that will be run when they are asked for."""
        if self._given is None:
            return FittedLosses(self._problem, execution)
        return PrecomputedLosses(self._given)

    def _settings(self) -> dict[str, Any]:
        given = self._given
        if given is None:
            return super()._settings()
        losses = given.losses
        known = dict(losses.settings)
        backends = known.pop("backends", {})
        names = [None if i is None else losses.learners[i] for i in (given.learner, given.other)]
        return {
            "test": self.method_name,
            "learner": names[0],
            "other": names[1],
            "backend": backends.get(names[0]),
            "other_backend": backends.get(names[1]),
            "loss": losses.loss,
            "null_value": self.null_value,
            "alternative": self.alternative,
            **known,
        }


def check_losses(losses: Any) -> None:
    """Refuse what is no table of losses."""
    if not isinstance(losses, Losses):
        raise ValueError(
            f"losses must be uv.Losses, got {type(losses).__name__}: see uv.evaluate, "
            "uv.Losses.from_predictions and uv.Losses.from_arrays"
        )


def _clusters(losses: Losses, weight: GroupWeight) -> Clusters | None:
    """The clusters of losses; none of one row each."""
    return clusters_of(as_groups(losses.groups, losses.design.n_obs), weight)


def chosen_learners(
    losses: Losses, learner: str | int | None, other: str | int | None
) -> LossDifference:
    """The losses of one learner, or the differences of two, that a user means."""
    check_losses(losses)
    if learner is not None or other is not None:
        return losses.difference(0 if learner is None else learner, other)
    if len(losses.learners) > 2:
        raise ValueError(
            f"losses has {len(losses.learners)} learners ({', '.join(losses.learners)}): name "
            "learner, and other to compare with"
        )
    return losses.difference(0, 1 if len(losses.learners) == 2 else None)


def refuse_arguments(**arguments: Any) -> None:
    """Refuse arguments of `fit` that are about draws and fits, where there will be none."""
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(
                f"{name} has no use where losses are given, as nothing is drawn or fitted: leave "
                "it out"
            )


def refuse_shared_seconds(test: str, options: Mapping[str, Any]) -> None:
    """Refuse seconds for one test of a comparison, whose fits are those of others too."""
    if options.get("max_seconds") is not None:
        raise ValueError(
            f"max_seconds has no use for {test} in a comparison, where tests share the fits of a "
            "design: leave it out, or use uv.evaluate(max_seconds=), which refuses designs that "
            "take longer"
        )


def _loss_of(losses: Losses) -> Loss | None:
    """The loss by its name; for one that ucvtest does not know, what is known of it."""
    if losses.loss == AUC:
        return None
    known = LOSSES.get(losses.loss)
    if known is not None and known.bounds == losses.bounds:
        return known
    return Loss(losses.loss, _computed, "number", estimand=losses.in_words, bounds=losses.bounds)


def _computed(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    raise ValueError("these losses were computed elsewhere")
