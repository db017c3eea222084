"""The resampled classes, and the options of a fit with their checks."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from math import prod
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from ucvtest.common.checks import AtLeast, Seconds, at_least
from ucvtest.common.execution import Execution
from ucvtest.common.words import arg, call, excerpt
from ucvtest.data.groups import Clusters, units_of
from ucvtest.evaluation.problem import Problem
from ucvtest.evaluation.time_budget import decided_fits, too_few_seconds
from ucvtest.inference.needs import Traits
from ucvtest.inference.options import FitOptions
from ucvtest.inference.question import Question
from ucvtest.kernels.influence.calls import repeats_needed
from ucvtest.kernels.influence.clusters import ClusterPairs
from ucvtest.kernels.influence.large_tables import LARGE
from ucvtest.kernels.ustatistic.rows import MOST_UNITS
from ucvtest.learners.base import Learner
from ucvtest.metrics.ranks import AUC_NAME
from ucvtest.metrics.scorers import chosen_loss

MetricName = Literal["auc", "error"]
Scheme = Literal["monte_carlo", "repeated", "bootstrap", "kfold", "leave_one_out"]
NumberOfRepeats = Annotated[int, AtLeast(1)] | Literal["auto"]
Variance = Literal[
    "auto",
    "influence",
    "jackknife",
    "share",
    "term_1",
    "adhoc_1",
    "adhoc_2",
    "adhoc_3",
    "adhoc_3_mle",
    "adhoc_monte_carlo",
]

LOSS_OF_METRIC: dict[MetricName, str] = {"auc": AUC_NAME, "error": "zero_one"}
FITS_JITTED, FITS_OTHERWISE = 4000, 2000
"""Number of fits of each learner with "auto" repeats. With 4000 fits, the Monte-Carlo error of the
jackknife variance was 5 to 17% of the variance (n = 40 to 100, LDA alone and against naive Bayes or
neighbours)."""

MAX_BYTES = 2**31
"""Most memory of sums over pairs: 2.1 GB."""

FEWEST_REPEATS = 20
"""Least repeats of "auto", whatever their fits: their spread gives the Monte-Carlo errors."""

SINGLE = ("kfold", "leave_one_out")
"""Schemes with one repeat, which are not smooth."""

WITH_FOLDS = ("monte_carlo", "repeated", "kfold")

SCHEME_WORDS = {
    "monte_carlo": "Monte-Carlo cross-validation",
    "repeated": "repeated K-fold cross-validation",
    "bootstrap": "leave-one-out bootstrap",
    "kfold": "K-fold cross-validation",
    "leave_one_out": "leave-one-out cross-validation",
}


def named_loss(loss: Any, metric: MetricName | None, scoring: Any) -> Any:
    """The loss, by default that of the metric "auc"; None where `scoring` names a score."""
    if metric is not None and scoring is not None:
        raise ValueError(
            f"{arg('metric')} and {arg('scoring')} exclude each other: pass one of them"
        )
    if scoring is not None:
        return loss
    if loss is None:
        return LOSS_OF_METRIC["auc" if metric is None else metric]
    metric_or_loss = chosen_loss(loss)
    kind = Traits(metric=metric_or_loss).kind
    if metric is not None and LOSS_OF_METRIC[metric] != kind:
        raise ValueError(
            f"{arg('loss', loss)} and {arg('metric', metric)} name two different things: "
            "pass one of them"
        )
    return kind if kind in LOSS_OF_METRIC.values() else metric_or_loss


def resampled_classes(n_obs: int, target: np.ndarray | None) -> tuple[np.ndarray, ...]:
    """The classes resampled separately: positives and negatives, or all without a target."""
    if target is None:
        return (np.arange(n_obs),)
    return (np.flatnonzero(target == 1), np.flatnonzero(target == 0))


def resampled_of(question: Question) -> tuple[ClusterPairs | None, tuple[np.ndarray, ...]]:
    """The layout of the resampling, and how the AUC of clusters compares their rows."""
    if not question.metric.ranks_pairs:
        return None, resampled_classes(question.n_units, None)
    if question.clusters is None:
        return None, resampled_classes(question.n_obs, question.target)
    pairs = ClusterPairs.of(question.clusters, question.target == 1)
    return pairs, pairs.classes


@dataclass(frozen=True)
class Options(FitOptions):
    """The options of `InfluenceFunctionTest.fit`."""

    n_repeats: NumberOfRepeats = "auto"
    scheme: Scheme | None = None
    variance: Variance = "auto"
    _: KW_ONLY
    max_fits: Annotated[int, AtLeast(1)] | None = None
    max_seconds: Seconds | None = None


@dataclass(frozen=True, eq=False)
class Layout:
    """The classes resampled separately (see `resampled_classes`), and the number of folds.

    With `clusters`, clusters are the observations; `pairs` are their rows, for the AUC.
    """

    smooth: ClassVar[str] = "use the scheme 'monte_carlo' or 'repeated'"
    one_size: ClassVar[str] = "use the scheme 'monte_carlo', or another number of folds"
    """The remedy for a missing jackknife variance."""

    classes: tuple[np.ndarray, ...]
    n_folds: int
    clusters: Clusters | None = field(default=None, kw_only=True)
    pairs: ClusterPairs | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, question: Question, n_folds: int) -> "Layout":
        """The layout of a sample; refused without two of each class, or if memory is too small."""
        n_folds = at_least("n_folds", n_folds, 2)
        pairs, classes = resampled_of(question)
        layout = cls(classes, n_folds, clusters=question.clusters, pairs=pairs)
        layout.check_memory(len(question.learners))
        # In every scheme learning sets have at least one of each class; some have no folds.
        check_class_sizes(layout, response_of_units(question.data("a layout")), 2)
        return layout

    def resolved(self, question: Question, options: Options) -> "InfluenceOptions":
        """The options for a question, with a number of repeats and a variance that exists."""
        problem = question.data("a scheme")
        scheme, number = options.scheme or "monte_carlo", options.n_repeats
        self.check_scheme(scheme)
        if scheme in WITH_FOLDS:
            check_class_sizes(self, response_of_units(problem), self.n_folds)
        automatic = number == "auto" and scheme not in SINGLE and options.variance != "share"
        for name in ("max_fits", "max_seconds"):
            if getattr(options, name) is not None and not automatic:
                raise ValueError(
                    f"{arg(name)} is for {arg('n_repeats', 'auto')} of schemes with several "
                    f"repeats, not for {arg('variance', 'share')}, which has a fixed number of "
                    "further fits: leave it out"
                )
        if number == "auto":
            number = self.n_repeats(scheme, tuple(problem.learners.values()), options.max_fits)
        elif scheme in SINGLE and number != 1:
            raise ValueError(
                f"{arg('scheme', scheme)} has one repeat, got {arg('n_repeats', number)}: use "
                f"{arg('scheme', 'repeated')} for more"
            )
        variance = self.chosen(scheme, options.variance)
        if variance == "share":
            # Refuses learners that cannot learn from half of the sample.
            problem.fitting(sum(self.half_sizes))
        decided = {"n_repeats": number, "scheme": scheme, "variance": variance}
        return InfluenceOptions(**{**vars(options), **decided, "automatic": automatic})

    @property
    def mixed(self) -> bool:
        """Whether clusters contain both labels of an AUC, and so are one sample."""
        return self.pairs is not None and self.pairs.mixed

    @property
    def ranks_pairs(self) -> bool:
        """Whether two classes are compared, by the AUC; the error rate has one class of all."""
        return len(self.classes) == 2 or self.mixed

    @property
    def metric(self) -> MetricName:
        """The name of the estimand in settings."""
        return "auc" if self.ranks_pairs else "error"

    @property
    def unit(self) -> str:
        """The tested unit: a pair, or an observation."""
        if self.clusters is not None:
            return "pair of clusters" if self.ranks_pairs else "cluster"
        return "pair" if self.ranks_pairs else "observation"

    @property
    def units(self) -> str:
        """The resampled units."""
        return "observations" if self.clusters is None else "clusters"

    @property
    def n_obs(self) -> int:
        """Observations of the sample, or clusters of them."""
        return sum(map(len, self.classes))

    @property
    def positive(self) -> np.ndarray:
        """Which observations are positives, (n,), if there are two classes."""
        return np.isin(np.arange(self.n_obs), self.classes[0])

    def learn_sizes(self, scheme: str) -> tuple[int, ...]:
        """The sizes of the learning sets of a scheme: one, or the smallest and the largest."""
        if scheme == "bootstrap":
            return (self.n_obs,)
        if scheme == "leave_one_out":
            return (self.n_obs - len(self.classes),)
        sizes = list(map(len, self.classes))
        fewest = self.n_obs - sum(-(-size // self.n_folds) for size in sizes)
        largest = self.n_obs - sum(size // self.n_folds for size in sizes)
        return (largest,) if scheme == "monte_carlo" or fewest == largest else (fewest, largest)

    def n_tested(self, scheme: str) -> tuple[int, ...] | None:
        """The number of each class that is tested at a time; None if it varies."""
        sizes = list(map(len, self.classes))
        if scheme == "leave_one_out":
            return (1,) * len(sizes)
        if scheme == "bootstrap":
            return None
        if scheme != "monte_carlo" and any(size % self.n_folds for size in sizes):
            return None
        return tuple(size // self.n_folds for size in sizes)

    def no_jackknife(self, scheme: str) -> str:
        """Why there is no jackknife variance for a scheme; empty if there is one."""
        if scheme == "bootstrap":
            return "it is derived for learning sets that contain no observation twice"
        if scheme in SINGLE:
            return (
                f"every {self.unit} is tested by one rule only, which does not show the effect of "
                f"other learning sets: {self.smooth}"
            )
        n_tested = self.n_tested(scheme)
        if n_tested is None:
            sizes = " and ".join(str(len(members)) for members in self.classes)
            return (
                f"it needs folds of one size, and {sizes} {self.units} make {self.n_folds} folds "
                f"of two sizes: {self.one_size}"
            )
        if self.mixed and min(n_tested) < 3:
            return "a fold without one of its two clusters has no pair: use fewer folds"
        if min(n_tested) < 2:
            return "a fold of one observation is empty once that one is left out: use fewer folds"
        return ""

    def n_repeats(
        self, scheme: str, learners: Sequence[Learner], max_fits: int | None = None
    ) -> int:
        """The number of "auto" repeats; refused if it is too small with this limit on fits."""
        if scheme in SINGLE:
            return 1
        jitted = all(learner.backend == "jax" for learner in learners)
        fits = FITS_JITTED if jitted else FITS_OTHERWISE
        of_repeat = self.fits_of_repeat(scheme)
        number = max(fits // of_repeat, FEWEST_REPEATS)
        if max_fits is None:
            return number
        affordable_repeats = max_fits // (of_repeat * len(learners))
        fewest, purpose = self.fewest_repeats(scheme)
        if affordable_repeats < fewest:
            raise ValueError(
                f"{arg('max_fits', max_fits)} allows {affordable_repeats} repeats, but {purpose} "
                f"takes {fewest}: raise it to {fewest * of_repeat * len(learners)} or more"
            )
        return min(number, affordable_repeats)

    def fewest_repeats(self, scheme: str) -> tuple[int, str]:
        """The least number of "auto" repeats under a limit on fits, and its purpose."""
        sizes = list(map(len, self.classes))
        n_cells = sizes[0] ** 2 if self.mixed else prod(sizes)
        of_cells = repeats_needed(self.tested_rate(scheme), n_cells)
        if of_cells > FEWEST_REPEATS:
            return of_cells, f"testing every {self.unit}"
        return FEWEST_REPEATS, f"the spread of {FEWEST_REPEATS} repeats"

    def tested_rate(self, scheme: str) -> float:
        """The probability that a repeat tests a given pair (observation)."""
        sizes = list(map(len, self.classes))
        if scheme == "bootstrap":
            rate = prod((1 - 1 / n) ** n for n in sizes)
            return rate**2 if self.mixed else rate
        if scheme in SINGLE or (scheme == "repeated" and not self.mixed):
            return 1.0
        rate = prod((n // self.n_folds) / n for n in sizes)
        if self.mixed:
            rate *= (sizes[0] // self.n_folds - 1) / (sizes[0] - 1)
        return rate * (self.n_folds if scheme == "repeated" else 1)

    def fits_of_repeat(self, scheme: str) -> int:
        """Fits of each learner in one repeat."""
        if scheme == "leave_one_out":
            return prod(map(len, self.classes))
        folds = scheme in ("repeated", "kfold")
        return prod([self.n_folds] * len(self.classes)) if folds else 1

    def check_memory(self, n_learners: int) -> None:
        """Refuse samples whose sums over pairs take more than `MAX_BYTES`; nothing is drawn yet."""
        if not self.ranks_pairs:
            return
        sizes = [self.n_obs] * 2 if self.mixed else list(map(len, self.classes))
        # At least two groups of repeats, each with counts, sums of each learner, and additions.
        needed_bytes = 8 * prod(sizes) * (2 * (3 + n_learners) + 6)
        if self.pairs is None and prod(sizes) > LARGE:
            # Whole numbers of two bytes, and how often pairs are tested as they are drawn.
            needed_bytes = 2 * prod(sizes) * (2 * (1 + n_learners) + 3)
        if needed_bytes > MAX_BYTES:
            raise ValueError(
                f"{call('InfluenceFunctionTest')} keeps sums over all pairs: {sizes[0]} x "
                f"{sizes[1]} {self.units} need {needed_bytes / 1e9:.3g} GB, but "
                f"{MAX_BYTES / 1e9:.3g} GB are the limit: use {call('UStatisticTest')} with "
                f"{arg('loss', 'auc')}, whose memory is linear in n, or {arg('metric', 'error')}"
            )

    def check_scheme(self, scheme: str) -> None:
        """Refuse schemes that do not test clusters with both labels together."""
        if self.mixed and scheme in SINGLE:
            raise ValueError(
                f"{arg('scheme', scheme)} does not test all pairs of clusters together, but some "
                f"clusters contain both labels: use {arg('scheme', 'monte_carlo', 'repeated')}"
            )

    def chosen(self, scheme: str, variance: str) -> str:
        """The requested variance, or the choice of "auto"; refused if it does not exist."""
        offered = self.variances(scheme)
        if variance == "auto":
            small = self.ranks_pairs or self.clusters is not None
            return "jackknife" if small and "jackknife" in offered else "influence"
        if variance in offered:
            return variance
        reasons = {"jackknife": self.no_jackknife, "share": self.no_share}
        reason = reasons[variance](scheme) if variance in reasons else ""
        raise ValueError(
            f"{arg('variance', variance)} does not exist for {arg('scheme', scheme)}, "
            f"{arg('metric', self.metric)}"
            # Some reasons end with a remedy.
            + (f", because {reason}" if reason else "")
            + f"{'; or' if ': use ' in reason else ':'} use one of auto, {', '.join(offered)}"
        )

    @property
    def half_sizes(self) -> tuple[int, ...]:
        """The number of each class in two disjoint learning sets, with two left for testing."""
        return tuple(len(members) // 2 - 1 for members in self.classes)

    def no_share(self, scheme: str) -> str:
        """Why there is no share of the jackknife variance; empty if there is one."""
        if not self.ranks_pairs:
            return "it is about the AUC"
        if self.clusters is not None:
            return "it is not derived for clusters"
        if reason := self.no_jackknife(scheme):
            return reason
        if self.n_folds < 3:
            return "it is for learning sets of more than half: use more folds, or 'jackknife'"
        if self.n_obs > MOST_UNITS:
            return f"it needs n <= {MOST_UNITS}, above which it hardly differs from 'jackknife'"
        return ""

    def variances(self, scheme: str) -> tuple[str, ...]:
        """The variances that exist for a scheme."""
        jackknife = () if self.no_jackknife(scheme) else ("jackknife",)
        half_sample_share = () if self.no_share(scheme) else ("share",)
        return ("influence", *jackknife, *half_sample_share, "term_1", *self.ad_hoc(scheme))

    def ad_hoc(self, scheme: str) -> tuple[str, ...]:
        """The ad-hoc variances of a scheme; none if the estimate is a ratio over clusters."""
        ratio = self.clusters is not None and self.clusters.weight == "row"
        if scheme == "bootstrap" or ratio or self.mixed:
            return ()
        if scheme == "monte_carlo":
            return ("adhoc_monte_carlo",)
        if not self.ranks_pairs:
            # The first three ad-hoc forms are the same for a single sample.
            return ("adhoc_1", "adhoc_3_mle")
        if scheme == "leave_one_out" and len(set(map(len, self.classes))) > 1:
            # (8b) pairs folds with the same number, so classes need equal numbers of folds.
            return ("adhoc_1", "adhoc_3", "adhoc_3_mle")
        return ("adhoc_1", "adhoc_2", "adhoc_3", "adhoc_3_mle")


@dataclass(frozen=True)
class InfluenceOptions(Options):
    """The options for a question: "auto" and None stand for values."""

    n_repeats: int
    scheme: Scheme
    automatic: bool = field(default=False, kw_only=True)
    """Whether a budget decides the number of repeats: `max_fits`, or the time once fits have been
    timed."""

    def least_fits(self, layout: Layout, n_learners: int) -> int:
        """Least number of fits of all learners for an answer, or the fixed number of fits."""
        number = layout.fewest_repeats(self.scheme)[0] if self.automatic else self.n_repeats
        return layout.fits_of_repeat(self.scheme) * number * n_learners

    def within_fits(
        self, layout: Layout, learners: Sequence[Learner], most_fits: int
    ) -> "InfluenceOptions":
        """The options with this limit on fits, unless the number of repeats is fixed."""
        if not self.automatic:
            return self
        fit_limit = most_fits if self.max_fits is None else min(self.max_fits, most_fits)
        number = layout.n_repeats(self.scheme, learners, fit_limit)
        return replace(self, n_repeats=number, max_fits=fit_limit)

    def within(self, layout: Layout, problem: Problem, execution: Execution) -> "InfluenceOptions":
        """The options with the number of repeats that fits into the seconds."""
        assert self.max_seconds is not None
        rows = problem.learnt_rows(layout.learn_sizes(self.scheme)[-1])
        rows = min(rows, problem.sample.n_obs - 1)
        affordable_fits = decided_fits(problem, rows, self.max_seconds, execution)
        learners = tuple(problem.learners.values())
        needed_fits = self.least_fits(layout, len(learners))
        if affordable_fits < needed_fits:
            purpose = layout.fewest_repeats(self.scheme)[1]
            raise too_few_seconds(self.max_seconds, affordable_fits, needed_fits, purpose)
        return self.within_fits(layout, learners, affordable_fits)

    @property
    def budget(self) -> dict[str, Any]:
        """The limits on the repeats, for the settings of a result; empty without limits."""
        return {name: x for name in ("max_fits", "max_seconds") if (x := getattr(self, name))}


def response_of_units(problem: Problem) -> np.ndarray:
    """The user's own label of each observation, or of the first one of each cluster."""
    response, clusters = problem.sample.response, problem.clusters
    return response if clusters is None else response[clusters.groups.first]


def check_class_sizes(layout: Layout, response: np.ndarray, n_folds: int) -> None:
    """Refuse classes with fewer observations, or groups, than folds."""
    fewest, units = min(layout.classes, key=len), units_of(layout.clusters)
    if len(fewest) >= n_folds:
        return
    if len(layout.classes) == 1:
        raise ValueError(
            f"{arg('n_folds', n_folds)} needs at least {n_folds} {units}, got {len(fewest)}: use "
            f"fewer folds, or {arg('scheme', 'leave_one_out')}"
        )
    label = response[fewest].tolist()[0]
    remedy = f"use {arg('n_folds')} <= {len(fewest)}, or {arg('scheme', 'leave_one_out')}"
    raise ValueError(
        f"{arg('n_folds', n_folds)} needs at least {n_folds} {units} of each class, but class "
        f"{excerpt(label)} has {len(fewest)}: "
        f"{remedy if len(fewest) > 1 else 'collect more of them'}"
    )
