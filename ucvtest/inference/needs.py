"""What a test needs of a question, declared once, and the one table of what it refuses."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from ucvtest.common.words import alternatives, arg, call
from ucvtest.designs.design import Design
from ucvtest.designs.structure import in_time
from ucvtest.inference.question import Question
from ucvtest.losses.table import means_only
from ucvtest.metrics.base import Metric
from ucvtest.metrics.names import metric_of
from ucvtest.metrics.set_scores import SetScore
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.results.fields import Contrast
from ucvtest.stats.wald import Alternative

Kind = Literal["loss", "zero_one", "auc", "set_score", "metric"]
"""A mean of losses, that of errors, the AUC, a score of whole test sets such as scikit-learn's F1,
and a metric that is a function of means, by its linearised values."""

ANY_METRIC: tuple[Kind, ...] = ("loss", "auc", "set_score", "metric")
"""For tests that need no more than a number for each resample."""


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What a test needs of a question; comparisons, the adviser, the shell, R and pages read it.

    Attributes
    ----------
    designs : str
        The designs of existing losses that it accepts, in words.
    metrics : tuple of str
        The kinds of metrics that it can be about. With "loss" it is about any mean of losses.
    learners : {"one", "one or two", "two"}
        How many learners there can be.
    contrasts : tuple of str
        How two learners can be compared.
    clusters : {"refused", "units", "rows"}
        Whether observations may come in clusters. They are then the units, by their own losses,
        or the test sees the losses of their rows and allows for the clusters itself.
    weights : bool
        Whether rows may count more than others.
    fixed : bool
        Whether it is also about fixed rules, which have learnt nothing from the sample.
    time : bool
        Whether rows must be in the order of time, which only the user knows: such a test is never
        run by default.
    several : bool
        Whether it provides the joint covariance of several learners: see `JointEstimates`.
    null_by_options : bool
        Whether options of `fit` decide which null values are possible; otherwise those that the
        estimand cannot have are refused.
    null_of_auc : float
        The value of the AUC of one learner under H0, by default; NaN for none.
    without : mapping
        What it does without, each with the reason: "losses" that exist, an "interval" (no margin
        can be tested then), and arguments that all tests share, which R's function leaves out.
    """

    designs: str
    metrics: tuple[Kind, ...] = ("loss",)
    learners: Literal["one", "one or two", "two"] = "one or two"
    contrasts: tuple[Contrast, ...] = ("difference",)
    clusters: Literal["refused", "units", "rows"] = "refused"
    weights: bool = False
    fixed: bool = False
    time: bool = False
    several: bool = False
    null_by_options: bool = False
    null_of_auc: float = 0.5
    without: Mapping[str, str] = field(default_factory=dict)

    compares: bool = field(init=False, repr=False)
    """Whether there can be two learners."""
    by_rows: bool = field(init=False, repr=False)
    """Whether the losses of the rows of clusters are seen, and not those of clusters."""
    values: bool = field(init=False, repr=False)
    """Whether the loss, or score, of every observation is needed: means do not suffice."""
    only_loss: str | None = field(init=False, repr=False)
    """The loss, of tests about one loss alone."""

    def __post_init__(self) -> None:
        about_one_loss = self.metrics in (("zero_one",), ("auc",))
        object.__setattr__(self, "compares", self.learners != "one")
        object.__setattr__(self, "by_rows", self.clusters == "rows")
        object.__setattr__(self, "values", "set_score" not in self.metrics)
        object.__setattr__(self, "only_loss", self.metrics[0] if about_one_loss else None)


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What decides whether a test can be asked a question; little is known of it at first."""

    metric: Any = None
    """The metric, or a loss as a user names it."""
    scoring: Any = None
    """The score that a user named instead; of scores of whole test sets the metric knows it."""
    paired: bool | None = None
    """Whether two learners are compared; None where this is not known yet."""
    contrast: Contrast = "difference"
    null_value: float = 0.0
    alternative: Alternative = "two-sided"
    clusters: bool = False
    weighted: bool = False
    has_losses: bool = False
    """Whether losses are given, or will be, so that the test fits nothing."""
    has_values: bool = True
    """Whether more is known than the means of resamples."""
    design: Design | None = None

    @classmethod
    def of(cls, question: Question, design: Design | None = None) -> Self:
        """What a question asks; with a `design` that is drawn for it."""
        hypothesis = question.asked_hypothesis
        return cls(
            metric=question.metric,
            paired=question.paired,
            null_value=hypothesis.null_value,
            alternative=hypothesis.alternative,
            clusters=question.clusters is not None,
            weighted=bool(question.weighted),
            has_losses=question.problem is None,
            has_values=question.has_values,
            design=question.design if design is None else design,
        )

    @property
    def kind(self) -> Kind | None:
        """The kind of the metric; None where the data decide."""
        if self.metric is None:
            return None
        if isinstance(self.metric, SmoothMetric):
            return "metric"
        if isinstance(self.metric, SetScore):
            return "set_score"
        known = self.metric if isinstance(self.metric, Metric) else metric_of(self.metric)
        if known is None:
            return "loss"
        return "auc" if known.ranks_pairs else "zero_one" if known.counts_errors else "loss"

    @property
    def name(self) -> Any:
        """The metric as messages quote it."""
        name = "name" if isinstance(self.metric, Metric) else "__name__"
        return getattr(self.metric, name, self.metric)

    @property
    def score(self) -> Any:
        """The score that was asked for; None where it was a loss."""
        is_score = self.scoring is None and isinstance(self.metric, SetScore)
        return self.name if is_score else self.scoring


FOR_FIXED_RULES = ("HoldOutTest", "McNemarTest", "DeLongTest", "DieboldMarianoTest")
"""The tests of fixed rules."""

FOR_SET_SCORES = (
    "CorrectedTTest",
    "BayesianTTest",
    "FiveByTwoTTest",
    "FiveByTwoFTest",
    "NaiveTTest",
)
"""Tests of scores of whole test sets."""

SCORE_OF: Mapping[Kind, str] = {"zero_one": "accuracy", "auc": "roc_auc"}
"""scikit-learn's names of the scores of tests about one loss."""


def blocks() -> str:
    """The remedy for rows in time that come in clusters."""
    return (
        "if rows of one block, such as a month, are alike, name blocks as groups of "
        f"{call('HoldOutTest')} or {call('CrossValidationWaldTest')}"
    )


def for_set_scores() -> str:
    """The remedy for scores of whole test sets."""
    return (
        f"use {alternatives(map(call, FOR_SET_SCORES))}, or a loss that is a mean over "
        f"observations, such as {arg('scoring', 'accuracy')}"
    )


def refusals(needs: Needs, traits: Traits, test: str) -> Iterator[tuple[str, str]]:
    """What a test of this name refuses about a question, by name, with the remedy.

    This is the table of all refusals that follow from needs. The first is told.
    """
    kind, design, without = traits.kind, traits.design, needs.without
    # Rules that learnt nothing come first, because another loss would not help.
    if not needs.fixed and traits.has_losses and design is not None and not design.learns:
        yield (
            "fixed rules",
            "the losses are of fixed rules, which have learnt nothing from these observations, "
            f"and {call(test)} is about learning: use {call('HoldOutTest')}, {call('McNemarTest')} "
            f"({arg('loss', 'zero_one')}), {call('DeLongTest')} ({arg('loss', 'auc')}) or "
            f"{call('DieboldMarianoTest')} (rows in the order of time)",
        )
    if "losses" in without and traits.has_losses:
        yield (
            "losses",
            f"{call(test)} does not accept losses, because it {without['losses']}: make the test "
            "from data",
        )
    # Differences of losses of rows, from splits that go through time.
    metric, rows = traits.metric, not (traits.clusters or traits.weighted)
    of_rows = isinstance(metric, Metric) and metric.is_mean and not metric.linearised and rows
    compared = needs.compares and not needs.time and traits.paired
    if compared and of_rows and traits.design is not None and in_time(traits.design):
        yield (
            "splits in time",
            "the splits go through time (each learns from rows before those that it tests), and "
            f"{call(test)} is for splits of a sample without an order: use "
            f"{call('DieboldMarianoTest')}",
        )
    if needs.compares and traits.contrast not in needs.contrasts:
        yield (
            "contrast",
            f"{call(test)} tests no {traits.contrast}: use the test 'ustatistic', or "
            f"{arg('contrast', 'difference')}",
        )
    if kind == "metric" and "metric" not in needs.metrics:
        yield (
            "metric",
            f"{arg('metric', traits.name)} is not for {call(test)}: use {call('UStatisticTest')}, "
            f"{call('CrossValidationWaldTest')} or {call('HoldOutTest')}, or a loss",
        )
    if not needs.weights and traits.weighted and traits.has_losses:
        yield (
            "weights of losses",
            f"{call(test)} counts rows alike, and these losses are weighted: use "
            f"{call('HoldOutTest')}, for folds {call('CorrectedTTest')}, or leave the weights out",
        )
    if not needs.weights and traits.weighted:
        yield (
            "weights",
            f"{call(test)} counts rows alike: use {call('UStatisticTest')}, "
            f"{call('CorrectedTTest')}, {call('CrossValidationWaldTest')} or {call('HoldOutTest')} "
            f"with {arg('weights')}, or leave it out",
        )
    losses = " or ".join(map(repr, needs.metrics))
    is_another_loss = "loss" not in needs.metrics and kind not in (None, *needs.metrics)
    if is_another_loss and traits.score is not None:
        scores = " or ".join(repr(SCORE_OF[loss]) for loss in needs.metrics if loss in SCORE_OF)
        yield (
            "score of another loss",
            f"{call(test)} is about {arg('loss', *needs.metrics)} alone, got "
            f"{arg('scoring', traits.score)}: leave {arg('scoring')} out, or use {scores}",
        )
    if is_another_loss:
        yield (
            "loss",
            f"{arg('loss')} must be {losses} for {call(test)}, got {traits.name!r:.60}: leave "
            f"{arg('loss')} out, or make the losses with {arg('loss', *needs.metrics)}",
        )
    if kind == "set_score" and needs.values:
        yield (
            "score of test sets",
            f"{arg('scoring', traits.name)} is one number for each test set, but {call(test)} "
            f"needs one for each observation: {for_set_scores()}",
        )
    if kind == "auc" and "auc" not in needs.metrics:
        auc, remedy = "'auc'", "'zero_one' or 'log'"
        if traits.scoring is not None:
            auc = f"{arg('scoring', traits.scoring)}"
            remedy = f"{arg('scoring', 'accuracy', 'neg_log_loss')}"
        if needs.fixed and not needs.time:
            remedy += f", or {call('DeLongTest')}, which is about the AUC"
        yield (
            "AUC",
            f"{auc} keeps decision scores, but {call(test)} needs the loss of every observation: "
            f"use {remedy}",
        )
    if needs.learners == "two" and traits.paired is False:
        yield "one learner", f"{call(test)} compares two learners: pass {arg('other')}"
    if needs.learners == "one" and traits.paired is True:
        yield (
            "two learners",
            f"{call(test)} does not compare learners: leave {arg('other')} out, or use "
            f"{call('InfluenceFunctionTest')}",
        )
    if needs.clusters == "refused" and traits.clusters and needs.time:
        yield (
            "clusters in time",
            f"{arg('groups')} does not apply to {call(test)}, which is about rows in the order of "
            f"time: leave it out, or, {blocks()}",
        )
    if needs.clusters == "refused" and traits.clusters:
        yield (
            "clusters",
            f"{arg('groups')} is not supported: {call(test)} assumes independent observations, and "
            "several rows of one patient are not; keep one row for each, or average them",
        )
    if kind == "set_score" and traits.clusters:
        yield (
            "score of test sets of clusters",
            f"{arg('scoring', traits.name)} is one number for each test set, but a test that "
            f"allows for groups needs one for each observation: {for_set_scores()}",
        )
    of_units = traits.clusters and needs.clusters == "units"
    if kind == "auc" and traits.has_losses and needs.values and of_units:
        yield (
            "scores of clusters",
            f"scores with groups need learning sets of groups, which {call(test)} draws itself: "
            "make it from data",
        )
    if needs.values and not traits.has_values:
        yield "means alone", means_only()
    if "null_value" in without and traits.null_value != 0:
        yield (
            "null value",
            f"{arg('null_value')} must be 0, got {traits.null_value:g}: {call(test)} "
            f"{without['null_value']}",
        )
    if "alternative" in without and traits.alternative != "two-sided":
        yield "one-sided", f"{arg('alternative', traits.alternative)} {without['alternative']}"


def refuse(needs: Needs, traits: Traits, test: str) -> None:
    """Refuse a question that a test, or a function, of this name cannot be asked.

    Raises
    ------
    ValueError
        If it is in the table of `refusals`.
    """
    for _, sentence in refusals(needs, traits, test):
        raise ValueError(sentence)
