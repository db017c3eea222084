"""What tests on the losses of one design share: from data, or from losses that exist."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.data.groups import Clusters, Groups, GroupWeight
from ucvtest.data.missing import Missing
from ucvtest.designs.adapters import as_design, design_or_cv
from ucvtest.designs.design import Design
from ucvtest.designs.schemes import NamedDesign
from ucvtest.designs.structure import folds_of
from ucvtest.evaluation.evaluate import draw_design, evaluate_problem, refuse_seconds
from ucvtest.evaluation.problem import check_two_classes
from ucvtest.inference.from_losses import FromLosses, LossesHeader, refuse_shared_seconds
from ucvtest.inference.notes import (
    learn_size,
    one_class_and_tie_notes,
    own_diagnostics,
    own_tables,
    reuse_notes,
    sizes_in_words,
)
from ucvtest.inference.studentise import on_logit_scale, studentise
from ucvtest.learners.adapters.translate import Backend
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.methods.classical.status import status_of
from ucvtest.metrics.base import plural
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.names import is_auc, wants_every_class
from ucvtest.metrics.ranks import AUC_NAME as AUC
from ucvtest.metrics.recorded import WEIGHTED
from ucvtest.metrics.refusals import refuse_scores
from ucvtest.metrics.scorers import chosen_loss
from ucvtest.metrics.set_scores import SetScore
from ucvtest.results.plot_data import Picture
from ucvtest.results.result import TestResult
from ucvtest.stats.interval_rules import Rule
from ucvtest.stats.per_learner import PerLearnerEstimates
from ucvtest.stats.wald import Alternative

__all__ = ["THESE_RULES", "Estimator", "ResamplingTest", "mean_with_variance", "of_these_rules"]

Estimator = Callable[[LossDifference], tuple[float, float]]
"""From losses to the estimate and its variance, of one learner or of the difference of two."""

THESE_RULES = (
    "Assumes independent observations. The rules are taken as they are: the answer is about these "
    "on new observations, not about the learners with another sample."
)
"""Note of tests that are conditional on the sample."""

LOSSES_OF_CLASSES = ("zero_one", "log")


class ResamplingTest(FromLosses):
    """A test on the losses of one or two learners on the resamples of one design.

    Made from data, whose learners `fit` evaluates on a new draw of the design, or by
    `from_losses` from losses that exist, which `fit` then only analyses.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
    learner : learner
    other : learner, optional
    design : uv.designs object, int, scikit-learn splitter or list of splits, optional
        What is drawn; an integer is the number of folds. By default the class's
        `default_design`. For "auc" ours are stratified unless they say ``stratify=False``.
    loss : str, callable, Loss or matrix, optional
        "auc" compares areas under the ROC curve instead of expected losses.
    null_value, alternative, pos_label, groups, group_weight, backend, scoring
        See `HypothesisTest`; for the AUC of one learner `null_value` is 1/2 by default.
    cv : int, splitter or iterable, optional
        scikit-learn's, in the place of `design`: an integer is what `cross_val_score` makes of it,
        folds of rows next to each other, stratified for classes; with groups it is
        ``KFold(cv, stratify=True)`` of groups for classes, ``KFold(cv)`` otherwise.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.
    """

    takes_groups = True
    takes_set_scores = True
    default_design: ClassVar[NamedDesign]
    pools_scores: ClassVar[bool] = False
    """Whether the AUC is that of the scores of all test sets together, not the mean of theirs."""
    design: NamedDesign

    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        design: Any = None,
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
        loss: Any = None,
        pos_label: Any = None,
        groups: Any = None,
        group_weight: GroupWeight = "group",
        backend: Backend = "auto",
        scoring: Any = None,
        missing: Missing = "raise",
        cv: Any = None,
    ) -> None:
        loss = chosen_loss(loss, scoring, alternative=alternative, null_value=null_value)
        loss = self.only_loss if loss is None else loss
        # `compare` has read its scoring already.
        scored = loss.name if scoring is None and isinstance(loss, SetScore) else scoring
        self._check_kind(_name_of(loss), paired=other is not None, scoring=scored)
        auc = is_auc(loss)
        super().__init__(
            X,
            y,
            learner,
            other,
            null_value=null_value,
            alternative=alternative,
            loss=None if auc else loss,
            output="score" if auc else None,
            pos_label=pos_label,
            groups=groups,
            group_weight=group_weight,
            backend=backend,
            missing=missing,
        )
        self._check_hypothesis()
        sample = self._problem.sample
        if auc:
            check_two_classes(sample)
        chosen = design_or_cv(
            design,
            cv,
            sample.response,
            has_classes=sample.n_classes > 0,
            n_dropped=self._n_dropped,
            groups=sample.groups,
        )
        chosen = self.default_design if chosen is None else chosen
        # The sample's own copies: data that change later must not change the splits.
        self.design = as_design(
            chosen,
            sample.features,
            sample.response,
            auc=wants_every_class(loss, has_classes=sample.n_classes > 0),
            groups=self._problem.given_groups,
        )
        # A trial draw, so that a design is refused before the first fit; what is drawn then is
        # judged again, because a splitter may make sets of other sizes.
        trial = self._draw(np.random.default_rng(0))
        self._check_learners(trial.learn_sizes[0])

    def _take(self, header: LossesHeader) -> None:
        self._check_kind(header.loss, paired=header.paired)
        if self.needs_values:
            header.check_values()
        self._check_hypothesis()
        self.design = as_design(header.design)
        self._check_design(header.design)

    @classmethod
    def _check_kind(cls, loss: str | None, *, paired: bool, scoring: Any = None) -> None:
        """Refuse losses that the test is not about, and a learner without another."""
        if cls.only_loss is not None and loss != cls.only_loss:
            if scoring is not None:
                raise ValueError(
                    f"{cls.__name__} is about loss={cls.only_loss!r} alone, got "
                    f"scoring={scoring!r:.60}: leave scoring out"
                )
            if loss is not None and loss.startswith(WEIGHTED):
                raise ValueError(
                    f"{cls.__name__} counts rows alike, and these losses are weighted: use "
                    "HoldOutTest, or make the losses without sample_weight"
                )
            raise ValueError(
                f"loss must be {cls.only_loss!r} for {cls.__name__}, got {loss!r}: leave loss "
                f"out, or make the losses with loss={cls.only_loss!r}"
            )
        if cls.needs_values and cls.only_loss != AUC:
            refuse_scores(loss, cls.__name__, scoring)
        if cls.needs_other and not paired:
            raise ValueError(f"{cls.__name__} compares two learners: pass other")

    def _draw(self, rng: np.random.Generator) -> Design:
        """Draw the design, if the test can use it and its losses fit into memory."""
        drawn = draw_design(self.design, self._problem.sample, len(self.learners), rng)
        self._check_design(self._of_units(drawn))
        self._check_test_sets(drawn)
        return drawn

    def _of_units(self, design: Design) -> Design:
        """A design as the test sees it: of clusters, unless it takes the losses of rows."""
        clusters = self.clusters
        return design if clusters is None or self.takes_rows else design.by_groups(clusters.groups)

    def _tested_clusters(self, observed: LossDifference) -> Clusters | None:
        """The clusters of the tested rows, for tests that take the losses of rows."""
        if self.clusters is None:
            return None
        testing = observed.design.testing
        tested = np.broadcast_to(self.clusters.groups.index, testing.shape)[testing]
        return Clusters(Groups(*np.unique(tested, return_inverse=True)), self.clusters.weight)

    def _check_test_sets(self, design: Design) -> None:
        """Refuse test sets without an AUC of their own, where the mean over them is asked for."""
        if self._problem.loss is not None or self.pools_scores:
            return
        codes = self.target
        lacking = [~design.testing[:, codes == code].any(axis=1) for code in (0, 1)]
        if not np.any(lacking):
            return
        code = int(np.any(lacking[1]))
        label = np.asarray(self._problem.sample.classes).tolist()[code]
        raise ValueError(
            f"design ({self.design.words}) has {int(lacking[code].sum())} test sets without the "
            f"label {label!r}, which have no AUC: {self._remedy_for_auc(design)}"
        )

    def _remedy_for_auc(self, design: Design) -> str:
        """What to do about test sets without one of the classes."""
        fewest = int(min((self.target == each).sum() for each in (0, 1)))
        another_loss = "a loss that needs no two classes, such as loss='zero_one'"
        if fewest < 2:
            return f"use {another_loss}: the smaller class has a single observation"
        most = f" with at most {fewest} folds" if _count_folds(design) > fewest else ""
        if getattr(self.design, "stratify", None) and not most:
            return f"use another design, with larger test sets, or {another_loss}"
        ours = "(uv.designs are stratified for the AUC unless stratify=False)"
        return f"use a stratified design{most} {ours}, or {another_loss}"

    def _check_hypothesis(self) -> None:
        """Refuse null values and alternatives that the test is not about."""

    def _check_design(self, design: Design) -> None:
        """Refuse designs that the test cannot use, and say which it can."""
        try:
            self._admit(design)
        except ValueError as error:
            raise ValueError(f"{error}; {type(self).__name__} admits {self.admits}") from error

    @abstractmethod
    def _admit(self, design: Design) -> None:
        """Refuse designs that the test cannot use."""

    def fit(
        self,
        *,
        max_seconds: float | None = None,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool | None = None,
    ) -> TestResult:
        """Evaluate the learners where losses are not given, and test.

        Parameters
        ----------
        max_seconds : float, optional
            Refuse a design that takes longer, about, before the first fit: some are timed. The
            number of fits is that of the design and never cut short.
        rng, n_jobs, batch_size, progress
            See `HypothesisTest.fit`.

        Returns
        -------
        TestResult

        Raises
        ------
        ValueError
            If an argument cannot be used, `max_seconds` does not suffice, or a learner fails on a
            split.
        """
        return self._fit(self._options(), rng, n_jobs, batch_size, progress, max_seconds)

    # --------------------------------------------------------------- from losses to a result

    def _answer(self, options: Any, execution: Execution) -> TestResult:
        return self._analysed(self._observed(execution))

    def _analysed(self, observed: LossDifference) -> TestResult:
        """The result of the test on these losses; with options of its own it writes `_answer`."""
        raise NotImplementedError

    def _shared_design(
        self, fit_options: Mapping[str, Any]
    ) -> tuple[NamedDesign | None, Mapping[str, Any]]:
        refuse_shared_seconds(self.method_name, fit_options)
        return self.design, fit_options

    def _learn_sizes(self, design: Design) -> tuple[int, ...]:
        """The sizes of the learning sets that the estimand is about; of clusters, their number."""
        clusters = self.clusters if self.takes_rows else None
        return (design if clusters is None else design.by_groups(clusters.groups)).learn_sizes

    def _observed(self, execution: Execution) -> LossDifference:
        """The losses that were given, or those of a new draw of the design."""
        if self._given is not None:
            return self._given
        drawn = self._draw(execution.generator)
        refuse_seconds(self._problem, drawn, execution)
        losses = evaluate_problem(self._problem, drawn, execution, {"rng": execution.seed})
        return self._by_units(losses.difference(0, 1 if self.paired else None))

    def _result(
        self,
        observed: LossDifference,
        *,
        method: str,
        estimand: str,
        estimator: Estimator,
        reference: str,
        df: float = math.nan,
        status: str = "ok",
        has_se: bool = True,
        settings: Mapping[str, Any] | None = None,
        diagnostics: Mapping[str, Any],
        notes: tuple[str, ...],
        tables: Mapping[str, Mapping[str, tuple[Any, ...]]] | None = None,
        pictures: Mapping[str, Picture] | None = None,
        interval_name: str = "interval",
        assumption: str | None = None,
        rule: Rule | None = None,
        logit: bool = False,
    ) -> TestResult:
        """The result of a studentised statistic; no test where `status` is not "ok".

        With `logit` it is studentised on the logit scale. An exact test, which `rule` is, needs no
        variance, and answers whatever the losses are. Without `has_se` the variance only says
        whether the losses vary: it is not that of the estimate.
        """
        losses = observed.losses
        estimate, variance = estimator(observed)
        if rule is None:
            status = status_of(observed, estimate, variance, status)
        # What cannot be used shows no statistic either.
        shown = reference if status == "ok" else "none"
        one = studentise(self.hypothesis, estimate, variance, reference=shown, df=df, status=status)
        if logit:
            one = on_logit_scale(one)
        if rule is not None:
            one = replace(
                one,
                statistic=float(rule.statistic),
                pvalue=rule.pvalue(self.null_value, self.alternative),
                reference=reference,
                rule=rule,
            )
        if not has_se:
            one = replace(one, se=math.nan, variance=math.nan)
        settings = self._settings_of(observed) | dict(settings or {})
        own = self._own_values(observed, estimator, settings, has_se=has_se)
        return TestResult(
            **vars(one),
            method=method,
            estimand=estimand,
            n_obs=observed.design.n_obs,
            n_fits=observed.n_fits,
            elapsed=math.nan,
            settings=settings,
            diagnostics={
                **observed.diagnostics,
                **({} if assumption is None else {"assumption": assumption}),
                **diagnostics,
                **own_diagnostics(own),
            },
            notes=(*notes, *self._shared_notes(observed)),
            tables=own_tables(own) | dict(tables or {}),
            pictures=pictures or {},
            better="higher" if losses.greater_is_better else "lower",
            interval_name=interval_name,
            assumption=assumption,
        )

    def _own_values(
        self,
        observed: LossDifference,
        estimator: Estimator,
        settings: Mapping[str, Any],
        *,
        has_se: bool,
    ) -> PerLearnerEstimates | None:
        """What the test would estimate for each of two learners alone, from the same losses."""
        if observed.other is None:
            return None
        places = (observed.learner, observed.other)
        values = [estimator(observed.losses.difference(place)) for place in places]
        if not has_se:
            values = [(estimate, math.nan) for estimate, _ in values]
        return PerLearnerEstimates.of_variances((settings["learner"], settings["other"]), values)

    def _shared_notes(self, observed: LossDifference) -> list[str]:
        """What every test says of how its losses came about."""
        return [
            *one_class_and_tie_notes(observed.diagnostics),
            *_unlearnt_class_notes(observed.losses),
            *reuse_notes(self._given),
        ]

    def _settings_of(self, observed: LossDifference) -> dict[str, Any]:
        """What is needed to repeat the test on the same data, or from the same losses."""
        losses = observed.losses
        learns, sizes = observed.design.learns, self._learn_sizes(observed.design)
        common = {
            "design": self.design.words,
            **({"learn_size": learn_size(sizes)} if learns else {}),
            **losses.settings,
        }
        common.pop("backends", None)
        return self._settings() | common | {"loss": losses.loss}

    def _in_words(self, observed: LossDifference, kind: str) -> str:
        """The estimand: the loss, conditional or not, and at which learning-set size."""
        if not observed.design.learns:
            return of_these_rules(observed)
        sizes = sizes_in_words(self._learn_sizes(observed.design))
        words = observed.losses.in_words
        if observed.paired:
            return f"difference of {kind} {plural(words)} at learning-set size {sizes}"
        return f"{kind} {words} at learning-set size {sizes}"


def of_these_rules(observed: LossDifference) -> str:
    """The estimand where rules are fixed and nothing is learnt."""
    words = observed.losses.in_words
    if observed.paired:
        return f"difference of the {plural(words)} of these rules"
    return f"{words} of this rule"


def _count_folds(design: Design) -> int:
    """The number of folds; 0 for designs that have none."""
    try:
        return int(folds_of(design).max()) + 1
    except ValueError:
        return 0


def mean_with_variance(
    observed: LossDifference, clusters: Clusters | None = None
) -> tuple[float, float]:
    """The mean of all losses, and its variance as if they were independent; 0 for a single one.

    With clusters these are independent, not their rows: K.-Y. Liang and S. Zeger (1986),
    Longitudinal data analysis using generalized linear models, Biometrika 73, times G/(G - 1).
    """
    values = observed.values if clusters is None else clusters.values(observed.values)
    variance = float(values.var(ddof=1)) / len(values) if len(values) > 1 else 0.0
    return float(values.mean()), variance


def _name_of(loss: Any) -> str | None:
    """What a loss is called in messages; only names name one of ours."""
    if isinstance(loss, Loss):
        return loss.name
    return loss if loss is None or isinstance(loss, str) else repr(loss)


def _unlearnt_class_notes(losses: Losses) -> list[str]:
    """The note that a class could not be predicted, as happens where rows are sorted by class."""
    known = losses.loss in LOSSES_OF_CLASSES and losses.design.learns
    if losses.target is None or not known:
        return []
    design, unlearnt = losses.design, np.zeros(losses.design.n_resamples, dtype=bool)
    for code in np.unique(losses.target):
        members = losses.target == code
        unlearnt |= design.testing[:, members].any(axis=1) & ~design.learning[:, members].any(
            axis=1
        )
    if not unlearnt.any():
        return []
    return [
        f"In {unlearnt.sum()} of {len(unlearnt)} resamples a class is tested that was not learnt "
        "from, and so cannot be predicted. Where rows are sorted, shuffle them (shuffle=True); "
        "where a class is rare, use a stratified splitter."
    ]
