"""What the U-statistic test asks: of which learning sets, about which loss, by which interval."""

from typing import Any

import numpy as np

from ucvtest.data.groups import units_of
from ucvtest.inference.from_losses import FromLosses, LossesHeader, refuse_arguments
from ucvtest.methods.ustatistic import ratio
from ucvtest.methods.ustatistic.auc import estimation as auc_run
from ucvtest.methods.ustatistic.auc.class_sizes import ClassSizes
from ucvtest.methods.ustatistic.auc.cluster_sizes import SeveralMixedSizes, cluster_sizes
from ucvtest.methods.ustatistic.auc.multiclass_sizes import SeveralSizes
from ucvtest.methods.ustatistic.interval import Interval, IntervalName, knows_slope
from ucvtest.methods.ustatistic.options import (
    DEFAULT_TOL,
    GivenPairs,
    NumberOfPairs,
    Options,
    SetSizes,
    Sizes,
    Variance,
    given_sets,
)
from ucvtest.methods.ustatistic.precomputed_splits import GivenSplits
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.ranks import AUC_NAME as AUC
from ucvtest.results.fields import Contrast

__all__ = ["AboutLearningSets"]


class AboutLearningSets(FromLosses):
    """A test about all learning sets of one size: the sizes, the estimand, and the options."""

    learn_size: int
    contrast: Contrast = "difference"
    _classes: auc_run.Sizes | None = None
    """Of a test about the AUC."""
    _pairs: GivenPairs | GivenSplits | None = None
    """Of a test that was made from losses."""

    def _take_sizes(self, learn_size: Any, *, about_auc: bool, named: bool) -> None:
        """Keep the size of the learning sets, which may be one for each class for the AUC."""
        if about_auc:
            sample, clusters = self._problem.sample, self.clusters
            if clusters is not None:
                self._classes = cluster_sizes(sample, clusters, learn_size, against_rest=named)
            elif sample.n_classes > 2:
                self._classes = SeveralSizes.checked(sample, learn_size, against_rest=named)
            else:
                self._classes = ClassSizes.checked(sample, learn_size)
            self.learn_size = sum(self._classes.learn_sizes)
        else:
            units = units_of(self.clusters)
            self.learn_size = Sizes.checked(self.n_units, learn_size, units).learn_size

    def _take_contrast(self, contrast: Contrast) -> None:
        """Keep how two learners are compared, if they can be; the null value is checked before."""
        if contrast == "ratio":
            loss = None if self._classes is not None else self._mean_loss()
            ratio.check_ratio(loss, paired=self.paired)
        self.contrast = contrast

    def _take(self, header: LossesHeader) -> None:
        if header.loss == AUC:
            if header.clusters is not None:
                raise ValueError(
                    "scores with groups need learning sets of groups, which UStatisticTest draws "
                    "itself: make it from X and y"
                )
            header.check_values()
            n_classes = len(np.unique(self.target))
            if n_classes > 2:
                raise ValueError(
                    f"the AUC of {n_classes} classes needs learning sets within the classes, which "
                    "UStatisticTest draws itself: leave design out"
                )
            self._pairs = splits = GivenSplits.of(header.design)
            self._classes = ClassSizes.given(splits, self.target)
        else:
            header.check_losses()
            self._pairs = given_sets(header.design)
        self.learn_size = header.design.learn_sizes[0]

    @property
    def disjoint(self) -> bool:
        """Whether n >= 2g + 2 (in each class), so that the unbiased variance exists."""
        return self._set_sizes.disjoint

    @property
    def _sizes(self) -> Sizes:
        return Sizes(self.n_units, self.learn_size, zero_one=self._counts_errors)

    @property
    def _counts_errors(self) -> bool:
        """Whether the loss is the number of errors."""
        name = self._mean_loss().name if self._header is None else self._header.loss
        return name == "zero_one"

    @property
    def _set_sizes(self) -> SetSizes:
        """Sizes of all observations together, or of each class for the AUC."""
        return self._sizes if self._classes is None else self._classes

    @property
    def estimand(self) -> str:
        """What is estimated, in words."""
        if self._classes is not None:
            return self._classes.estimand(paired=self.paired)
        loss = self._mean_loss()
        size = f"at learning-set size {self.learn_size}"
        if self._keeps_classes:
            size += ", classes in proportion"
        if not self.paired:
            return f"unconditional {loss.in_words} {size}"
        return f"{self.contrast} of unconditional {loss.plural} {size}"

    @property
    def _keeps_classes(self) -> bool:
        """Whether losses are given of splits within the classes."""
        if self._header is None or not isinstance(self._pairs, GivenSplits):
            return False
        return self._pairs.keeps_classes(self._header.target)

    def _mean_loss(self) -> Loss:
        """The loss of a test that is not about the AUC."""
        assert self.loss is not None
        return self.loss

    def _settings(self) -> dict[str, Any]:
        known = super()._settings()
        if isinstance(self._classes, (SeveralSizes, SeveralMixedSizes)):
            # Without a class that is told from the rest there is no positive one.
            known["pos_label"] = self._classes.positive
        return known

    def _options(
        self,
        n_pairs: NumberOfPairs = "auto",
        variance: Variance = "auto",
        tol: float = DEFAULT_TOL,
        max_fits: int | None = None,
        interval: IntervalName = "auto",
        max_seconds: float | None = None,
    ) -> Options:
        """The options of `fit`, validated."""
        loss = None if self._classes is not None else self._mean_loss()
        if loss is not None and self.contrast == "ratio":
            rule = Interval.of_ratio(interval, loss, variance=variance)
        else:
            n_rows = self.n_obs if self.clusters is not None else None
            rule = Interval.of(
                interval,
                loss,
                paired=self.paired,
                variance=variance,
                n_rows=n_rows,
                sloped=loss is not None and knows_slope(self.n_units, self.learn_size),
            )
            rule.check_null(self.null_value)
        if loss is not None:
            rule.check_sizes(self.n_units, self.learn_size)
        if self._pairs is not None:
            refuse_arguments(max_fits=max_fits, max_seconds=max_seconds)
            return Options.for_losses(
                self._set_sizes,
                self._pairs,
                n_pairs=n_pairs,
                variance=variance,
                tol=tol,
                interval=rule,
            )
        return Options.for_fits(
            self._set_sizes,
            self.learners,
            n_pairs=n_pairs,
            variance=variance,
            tol=tol,
            max_fits=max_fits,
            interval=rule,
            max_seconds=max_seconds,
        )
