"""The options of a leave-pair-out test, and refusals before the first fit."""

from dataclasses import KW_ONLY, dataclass, field
from math import comb
from typing import Annotated, Any, Literal, Self

import numpy as np

from ucvtest.common.checks import AtLeast, Seconds
from ucvtest.common.words import arg, call, excerpt, has, term
from ucvtest.data.groups import Clusters
from ucvtest.data.sample import as_response, response_has_classes
from ucvtest.inference.options import FitOptions
from ucvtest.stats.cluster_permutation import ExchangeableLabels
from ucvtest.stats.monte_carlo import check_stop_after, permutations_within

PValue = Literal["permutation", "supremum", "wmw", "empirical"]

N_SIMULATIONS = 10_000
"""Samples for each setting of the empirical p-value, as in the paper."""

MATRICES, MAX_BYTES = 3, 2**31
"""Number of matrices of a closed form, and their largest memory: 2.1 GB."""

MAX_FITS = 5_000_000
"""Most fits for one labeling; with n = 2000 there are a million."""

MAX_LABELINGS_AT_ONCE, MAX_LABELINGS = 5_000_000, 20_000
"""Most labelings of "exact" where a call counts many labelings at once, and otherwise."""


@dataclass(frozen=True)
class Sizes:
    """Numbers of observations.

    For observations in clusters: excluded pairs within clusters, the number of labelings, and the
    fits for each labeling.
    """

    n_obs: int
    n_positive: int
    n_within: int = 0
    labelings: int | None = None
    fits: int | None = None

    @classmethod
    def of(cls, labels: np.ndarray) -> Self:
        """Count labels that are True for positive."""
        return cls(len(labels), int(labels.sum()))

    @property
    def n_negative(self) -> int:
        """Observations of the other class."""
        return self.n_obs - self.n_positive

    @property
    def n_pairs(self) -> int:
        """Pairs of a positive and a negative observation."""
        return self.n_positive * self.n_negative - self.n_within

    @property
    def n_fits(self) -> int:
        """Fits that a labeling needs."""
        return self.n_pairs if self.fits is None else self.fits

    @property
    def n_labelings(self) -> int:
        """All different labelings."""
        return comb(self.n_obs, self.n_positive) if self.labelings is None else self.labelings


@dataclass(frozen=True)
class Options(FitOptions):
    """The options of `LeavePairOutTest.fit`."""

    pvalue: PValue = "permutation"
    n_permutations: Annotated[int, AtLeast(1)] | Literal["exact"] = 9999
    _: KW_ONLY
    n_simulations: Annotated[int, AtLeast(1)] = N_SIMULATIONS
    stop_after: Annotated[int, AtLeast(1)] | None = None
    max_seconds: Seconds | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_stop_after(self.stop_after, self.n_permutations)
        if self.stop_after is not None and self.pvalue != "permutation":
            raise ValueError(
                f"{arg('stop_after', self.stop_after)} is about permutations, but pvalue is "
                f"{self.pvalue!r}: leave it out"
            )
        permuted = self.pvalue == "permutation"
        if self.max_seconds is not None and permuted and self.n_permutations == "exact":
            raise ValueError(
                f"{arg('max_seconds')} does not apply with {arg('n_permutations', 'exact')}, which "
                "fixes the number of fits: use a number of permutations"
            )


@dataclass(frozen=True)
class LeavePairOutOptions(Options):
    """The options once fits have been timed."""

    n_requested: int | None = field(default=None, kw_only=True)
    """The number of requested permutations, if it was reduced."""

    def within(self, labelings: int, sizes: Sizes) -> Self:
        """The options with the number of permutations that fits into the time.

        The estimate needs every pair: without time for one labeling there is no answer.
        """
        assert self.max_seconds is not None
        least_labelings = 2 if self.pvalue == "permutation" else 1
        if labelings < least_labelings:
            permuted = instead = ""
            if least_labelings == 2:
                permuted = ", and permuted ones the same number each"
                instead = f"{arg('pvalue', 'supremum', 'wmw')}, which do not permute labels, "
            workers = f"{arg('n_jobs')}, " if has("n_jobs") else ""
            raise ValueError(
                f"{arg('max_seconds', self.max_seconds)} is not enough: the observed labels need "
                f"{sizes.n_fits} fits, one for each pair that is left out{permuted}: use "
                f"{instead}a learner with a closed form (ridge, kernel_ridge, knn, lda), "
                f"{workers}{call('UStatisticTest')} with {arg('loss', 'auc')}, or more seconds"
            )
        if least_labelings == 1:
            return self
        return permutations_within(self, labelings - 1)

    def n_labelings(self, sizes: Sizes) -> int:
        """Labelings whose errors a permutation p-value needs, with the observed one."""
        if self.n_permutations == "exact":
            return sizes.n_labelings
        return int(self.n_permutations) + 1

    @property
    def settings(self) -> dict[str, Any]:
        """The options that affected the result."""
        decisive: dict[str, Any] = {"pvalue": self.pvalue}
        if self.pvalue == "permutation":
            decisive["n_permutations"] = self.n_permutations
        if self.stop_after is not None:
            decisive["stop_after"] = self.stop_after
        if self.max_seconds is not None:
            decisive["max_seconds"] = self.max_seconds
        if self.pvalue == "empirical":
            decisive["n_simulations"] = self.n_simulations
        return decisive


def check_enumeration(
    options: LeavePairOutOptions, sizes: Sizes, learner: str, *, at_once: bool
) -> None:
    """Refuse more labelings than the learner allows; `at_once` if a call counts many of them."""
    n_labelings = options.n_labelings(sizes)
    most_labelings = MAX_LABELINGS_AT_ONCE if at_once else MAX_LABELINGS
    if options.n_permutations == "exact" and n_labelings > most_labelings:
        raise ValueError(
            f"{arg('n_permutations', 'exact')} needs {n_labelings} labelings with {sizes.n_pairs} "
            f"pairs each, but learner {learner} allows {most_labelings}: use a number, such as 9999"
        )


def check_size(n_obs: int, n_fits: int, *, closed_form: bool) -> None:
    """Refuse, before the first fit, samples for which one labeling is too expensive.

    A closed form contains numbers for all pairs of observations; otherwise there are `n_fits` fits.
    """
    instead = f"use {call('UStatisticTest')} with {arg('loss', 'auc')}, or part of the sample"
    n_bytes = MATRICES * 8 * n_obs**2
    if closed_form and n_bytes > MAX_BYTES:
        raise ValueError(
            f"{call('LeavePairOutTest')} with this learner keeps matrices of {n_obs} x {n_obs}, "
            f"{n_bytes / 1e9:.3g} GB, but {MAX_BYTES / 1e9:.3g} GB are the limit: {instead}"
        )
    if not closed_form and n_fits > MAX_FITS:
        raise ValueError(
            f"{call('LeavePairOutTest')} needs {n_fits} fits for one labeling alone, one for each "
            f"pair, but {MAX_FITS} are the limit: {instead}, or a learner with a closed form "
            "(ridge, kernel_ridge, knn, lda)"
        )


def check_labels(y: Any, pos_label: Any) -> None:
    """Refuse real values instead of labels."""
    if pos_label is None and as_response(y).ndim == 1 and not response_has_classes(y):
        raise ValueError(
            "y must contain labels of two classes, but it contains real values: "
            "cut them at a threshold, for example y > 0"
        )


def check_clusters(clusters: Clusters, labels: np.ndarray) -> None:
    """Refuse too few clusters, or a single labeling."""
    if clusters.n_groups < 4:
        raise ValueError(
            f"{arg('groups')} names {clusters.n_groups} groups: without two of them, at least two "
            "must remain to learn from"
        )
    if ExchangeableLabels.of(labels, clusters.groups.index).n_labelings == 1:
        raise ValueError(
            "groups leave only one labeling: labels are permuted within groups, and labels of "
            "groups with one label among groups of the same size"
        )


def check_class_sizes(classes: Any, codes: Any) -> None:
    """Refuse anything but two classes with two observations each."""
    sizes = np.bincount(codes, minlength=len(classes))
    if len(classes) != 2:
        raise ValueError(
            f"y must contain labels of two classes, got {len(classes)}: compare two of them, or "
            "one with all others, for example y == label"
        )
    smaller_class = int(sizes.argmin())
    if sizes[smaller_class] < 2:
        label, n = classes.tolist()[smaller_class], int(sizes.sum())
        raise ValueError(
            f"y contains the label {excerpt(label)} once: without it a rule has a single class to "
            "learn from. Two or more are needed. For a score that is not learnt from these "
            f"labels, use {term('scipy.stats.mannwhitneyu')} with its exact method: the smallest "
            f"p-value is 1/{n}"
        )
