"""The learning sets of a U-statistic: of one size, or within the classes."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ucvtest.common.checks import is_number
from ucvtest.common.memo import memoised
from ucvtest.common.words import arg, call
from ucvtest.data.class_order import check_order
from ucvtest.data.groups import units_of
from ucvtest.designs.design import Design
from ucvtest.inference.question import DataQuestion, LossesQuestion, Question
from ucvtest.methods.ustatistic.auc_sizes import AucSizes
from ucvtest.methods.ustatistic.interval import never_negative
from ucvtest.methods.ustatistic.precomputed_splits import GivenSets, given_sets
from ucvtest.methods.ustatistic.sizes import Sizes
from ucvtest.metrics.base import Metric, when_learning_from
from ucvtest.results.fields import Contrast

SORTED_LABELS = "pass y.to_numpy(), whose labels are sorted"


@dataclass(frozen=True, eq=False)
class LearningSets:
    """The learning sets that an estimand averages over, and how two learners are compared on them.

    `sizes` are sizes of the whole sample, or for the AUC within the classes. `given` are the
    learning sets of given losses, `stratified` if they have the classes in proportion.
    """

    sizes: Sizes | AucSizes
    learn_size: int
    contrast: Contrast = "difference"
    given_sets: GivenSets | None = None
    stratified: bool = False

    @classmethod
    def of(
        cls, question: Question, learn_size: Any = None, contrast: Contrast = "difference"
    ) -> Self:
        """Check the arguments of the class; if losses are given, their design has the size."""
        if isinstance(question, DataQuestion):
            sets = cls._to_draw(question, learn_size)
        else:
            assert question.design is not None
            sets = cls._of_design(question, question.design)
        if contrast == "ratio":
            check_ratio(question.metric, paired=question.paired)
        return replace(sets, contrast=contrast)

    @classmethod
    def _to_draw(cls, question: DataQuestion, learn_size: Any) -> Self:
        """Learning sets of the size that a user asks for, or one size for each class."""
        if not question.metric.ranks_pairs:
            units = units_of(question.clusters)
            size = Sizes.checked(question.n_units, learn_size, units).learn_size
            return cls(_sizes_for_means(question, size), size)
        sample, against_rest = question.sample, question.sample.positive_named
        if isinstance(learn_size, (tuple, list, np.ndarray)):
            classes = np.asarray(sample.classes).tolist()
            positive = classes[-1] if sample.positive_named else None
            check_order("learn_size", classes, sample.declared, positive, remedy=SORTED_LABELS)
        clusters = question.clusters
        sizes = AucSizes.checked(sample, clusters, learn_size, against_rest=against_rest)
        return cls(sizes, sum(sizes.learn_sizes))

    @classmethod
    def _of_design(cls, question: Question, design: Design) -> Self:
        """The learning sets of a design, if they are of one size, or one size for each class."""
        if not question.metric.ranks_pairs:
            # All sets have the size of the first.
            splits, size = memoised(design, given_sets), int(design.learning[0].sum())
            sizes = _sizes_for_means(question, size)
            stratified = not splits.n_sets and splits.keeps_classes(question.labels)
            return cls(sizes, size, given_sets=splits, stratified=stratified)
        n_classes = len(np.unique(question.target))
        if n_classes > 2:
            raise ValueError(
                f"the AUC of {n_classes} classes needs learning sets within the classes, which "
                f"{call('UStatisticTest')} draws itself: leave {arg('design')} out"
            )
        splits = GivenSets.of(design)
        within_classes = AucSizes.of_splits(splits, question.target)
        return cls(within_classes, design.learn_sizes[0], given_sets=splits)

    @property
    def in_rounds(self) -> bool:
        """Whether there are pairs of disjoint learning sets, which few fits need."""
        if self.given_sets is None or not isinstance(self.sizes, Sizes):
            return self.sizes.in_rounds
        return self.given_sets.n_sets == 1

    @property
    def fewest_rows(self) -> int:
        """Learning sets without which an AUC has no variance."""
        return 0 if isinstance(self.sizes, Sizes) else self.sizes.rows_for_variances

    def estimand(self, question: Question) -> str:
        """The estimand in words."""
        if not isinstance(self.sizes, Sizes):
            return self.sizes.estimand(paired=question.paired)
        metric = question.metric
        learning = when_learning_from(self.learn_size, units_of(question.clusters, "clusters"))
        if self.stratified:
            learning += ", classes in proportion"
        if not question.paired:
            return f"{metric.in_words} {learning}"
        if self.contrast == "ratio":
            return f"ratio of {metric.plural} {learning}"
        return f"difference in {metric.in_words} {learning}"

    def positive(self, question: Question) -> Any:
        """The positive class; with several classes, the one compared with the rest, if any."""
        if isinstance(self.sizes, AucSizes) and self.sizes.n_classes > 2:
            return self.sizes.positive
        return question.positive


def _sizes_for_means(question: Question, learn_size: int) -> Sizes:
    """Sizes of the whole sample; whether the loss counts errors decides on the variance."""
    metric, target, n_columns = question.metric, question.labels, 1
    if metric.of_cells:
        # Of a confusion matrix one column for each class and prediction.
        if isinstance(question, LossesQuestion) and question.reported_losses is not None:
            target = question.reported_losses.losses.target
        assert target is not None
        n_classes = int(np.max(target)) + 1
        n_columns = (2 if question.paired else 1) * n_classes * (n_classes - 1)
    return Sizes(
        question.n_units,
        learn_size,
        zero_one=metric.counts_errors or metric.of_cells,
        pairs=metric.compares_pairs,
        n_columns=n_columns,
    )


def check_ratio(
    metric: Metric,
    *,
    paired: bool,
    ratio: str | None = None,
    difference: str | None = None,
) -> None:
    """Refuse a ratio unless it is of two positive mean losses.

    `ratio` and `difference` are the arguments in which the caller names them.
    """
    ratio = ratio or arg("contrast", "ratio")
    difference = difference or arg("contrast", "difference")
    if not paired:
        raise ValueError(f"{ratio} compares two learners: pass {arg('other')}, or leave it out")
    if not metric.is_mean:
        raise ValueError(
            f"{ratio} is about mean losses, but an AUC is not a mean loss (1/2 is chance): use "
            f"{difference}"
        )
    if metric.linearised:
        raise ValueError(
            f"{ratio} is about losses, but {arg('metric', metric.name)} is not a loss: use "
            f"{difference}"
        )
    if metric.units is not None and metric.units.greater_is_better:
        raise ValueError(
            f"{ratio} is about losses, but {arg('scoring', metric.units.name)} is a score, whose "
            f"ratio is not meaningful: use {arg('loss', metric.name)} instead of scoring, or "
            f"{difference}"
        )
    if metric.counts_errors:
        raise ValueError(
            f"{ratio} is not for error rates, which can be 0 and whose differences are bounded: "
            f"use {difference}"
        )
    if not never_negative(metric):
        raise ValueError(
            f"{ratio} needs a loss that is never negative, such as squared, absolute or log, and "
            f"of {metric.name!r} nothing says so: give its bounds, or use {difference}"
        )


def null_value_of(contrast: Contrast, null_value: float | None) -> float | None:
    """By default a ratio is 1 under H0; it must be positive."""
    if contrast != "ratio":
        return null_value
    if null_value is None:
        return 1.0
    if is_number(null_value) and not null_value > 0:
        raise ValueError(
            f"{arg('null_value')} must be positive for a ratio, got {null_value:g}: use 1"
        )
    return null_value
