"""What a test needs of a question, declared once, and the one table of what it refuses."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Self

from ucvtest.data.groups import NO_GROUPS
from ucvtest.designs.design import Design
from ucvtest.designs.structure import in_time
from ucvtest.inference.question import Question
from ucvtest.losses.table import MEANS_ONLY
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
class Asked:
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
    given: bool = False
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
            given=question.problem is None,
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

    @property
    def in_time(self) -> bool:
        """Whether differences of losses of rows come from splits that go through time."""
        if self.design is None or not self.paired or self.clusters or self.weighted:
            return False
        is_loss = isinstance(self.metric, Metric) and self.metric.is_mean
        return is_loss and not self.metric.linearised and in_time(self.design)


FOR_FIXED_RULES = (
    "HoldOutTest, McNemarTest (loss='zero_one'), DeLongTest (loss='auc') or DieboldMarianoTest "
    "(rows in the order of time)"
)
"""The tests of fixed rules."""

FOR_SET_SCORES = (
    "CorrectedTTest, BayesianTTest, FiveByTwoTTest, FiveByTwoFTest or NaiveTTest, or a loss that "
    "is a mean over observations, such as scoring='accuracy'"
)
"""Tests of scores of whole test sets."""

SCORE_OF: Mapping[Kind, str] = {"zero_one": "accuracy", "auc": "roc_auc"}
"""scikit-learn's names of the scores of tests about one loss."""

BLOCKS = (
    "if rows of one block, such as a month, are alike, name blocks as groups of HoldOutTest or "
    "CrossValidationWaldTest"
)
"""The remedy for rows in time that come in clusters."""


def _is_another_loss(needs: Needs, asked: Asked) -> bool:
    """Whether a test is about one loss or two, and this is another."""
    return "loss" not in needs.metrics and asked.kind not in (None, *needs.metrics)


class Refusal(NamedTuple):
    """What tests refuse to be asked, and the sentence with the remedy, about a test by its name."""

    applies: Callable[[Needs, Asked], bool]
    sentence: Callable[[Needs, Asked, str], str]


REFUSALS: Mapping[str, Refusal] = {
    # Rules that learnt nothing come first, because another loss would not help.
    "fixed rules": Refusal(
        lambda needs, asked: (
            not needs.fixed and asked.given and asked.design is not None and not asked.design.learns
        ),
        lambda needs, asked, test: (
            "the losses are of fixed rules, which have learnt nothing from these observations, and "
            f"{test} is about learning: use {FOR_FIXED_RULES}"
        ),
    ),
    "losses": Refusal(
        lambda needs, asked: "losses" in needs.without and asked.given,
        lambda needs, asked, test: (
            f"{test} does not accept losses, because it {needs.without['losses']}: make the test "
            "from X and y"
        ),
    ),
    "splits in time": Refusal(
        lambda needs, asked: needs.compares and not needs.time and asked.in_time,
        lambda needs, asked, test: (
            "the splits go through time (each learns from rows before those that it tests), and "
            f"{test} is for splits of a sample without an order: use DieboldMarianoTest"
        ),
    ),
    "ratio": Refusal(
        lambda needs, asked: needs.compares and asked.contrast not in needs.contrasts,
        lambda needs, asked, test: (
            f"{test} tests no {asked.contrast}: use the test 'ustatistic', or contrast='difference'"
        ),
    ),
    "metric": Refusal(
        lambda needs, asked: asked.kind == "metric" and "metric" not in needs.metrics,
        lambda needs, asked, test: (
            f"metric={asked.name!r:.60} is not for {test}: use uv.UStatisticTest, "
            "uv.CrossValidationWaldTest or uv.HoldOutTest, or a loss"
        ),
    ),
    "weights of losses": Refusal(
        lambda needs, asked: not needs.weights and asked.weighted and asked.given,
        lambda needs, asked, test: (
            f"{test} counts rows alike, and these losses are weighted: use HoldOutTest, for folds "
            "CorrectedTTest, or leave out the weights (weights=, or sample_weight= of "
            "Losses.from_predictions)"
        ),
    ),
    "weights": Refusal(
        lambda needs, asked: not needs.weights and asked.weighted,
        lambda needs, asked, test: (
            f"{test} counts rows alike: use UStatisticTest, CorrectedTTest, "
            "CrossValidationWaldTest or HoldOutTest with weights=, or leave it out"
        ),
    ),
    "score of one loss": Refusal(
        lambda needs, asked: _is_another_loss(needs, asked) and asked.score is not None,
        lambda needs, asked, test: (
            f"{test} is about loss={_quoted(needs.metrics)} alone, got "
            f"scoring={asked.score!r:.60}: leave scoring out, or use "
            f"{_quoted(SCORE_OF[kind] for kind in needs.metrics if kind in SCORE_OF)}"
        ),
    ),
    "loss": Refusal(
        _is_another_loss,
        lambda needs, asked, test: (
            f"loss must be {_quoted(needs.metrics)} for {test}, got {asked.name!r:.60}: leave loss "
            f"out, or make the losses with loss={_quoted(needs.metrics)}"
        ),
    ),
    "score of test sets": Refusal(
        lambda needs, asked: asked.kind == "set_score" and needs.values,
        lambda needs, asked, test: (
            f"scoring={asked.name!r} is one number for each test set, but {test} needs one for "
            f"each observation: use {FOR_SET_SCORES}"
        ),
    ),
    "AUC": Refusal(
        lambda needs, asked: asked.kind == "auc" and "auc" not in needs.metrics,
        lambda needs, asked, test: (
            f"{_auc_and_losses(asked)[0]} keeps decision scores, but {test} needs the loss of "
            f"every observation: use {_auc_and_losses(asked)[1]}"
            + (", or DeLongTest, which is about the AUC" if needs.fixed and not needs.time else "")
        ),
    ),
    "one learner": Refusal(
        lambda needs, asked: needs.learners == "two" and asked.paired is False,
        lambda needs, asked, test: f"{test} compares two learners: pass other",
    ),
    "two learners": Refusal(
        lambda needs, asked: needs.learners == "one" and asked.paired is True,
        lambda needs, asked, test: (
            f"{test} does not compare learners: leave other out, or use InfluenceFunctionTest"
        ),
    ),
    "clusters in time": Refusal(
        lambda needs, asked: needs.clusters == "refused" and asked.clusters and needs.time,
        lambda needs, asked, test: (
            f"groups does not apply to {test}, which is about rows in the order of time: leave it "
            f"out, or, {BLOCKS}"
        ),
    ),
    "clusters": Refusal(
        lambda needs, asked: needs.clusters == "refused" and asked.clusters,
        lambda needs, asked, test: NO_GROUPS.format(test=test),
    ),
    "score of test sets of clusters": Refusal(
        lambda needs, asked: asked.kind == "set_score" and asked.clusters,
        lambda needs, asked, test: (
            f"scoring={asked.name!r} is one number for each test set, but a test that allows for "
            f"groups needs one for each observation: use {FOR_SET_SCORES}"
        ),
    ),
    "scores of clusters": Refusal(
        lambda needs, asked: (
            asked.given
            and asked.clusters
            and asked.kind == "auc"
            and needs.values
            and needs.clusters == "units"
        ),
        lambda needs, asked, test: (
            f"scores with groups need learning sets of groups, which {test} draws itself: make it "
            "from X and y"
        ),
    ),
    "means alone": Refusal(
        lambda needs, asked: needs.values and not asked.has_values,
        lambda needs, asked, test: MEANS_ONLY,
    ),
    "null value": Refusal(
        lambda needs, asked: "null_value" in needs.without and asked.null_value != 0,
        lambda needs, asked, test: (
            f"null_value must be 0, got {asked.null_value:g}: {needs.without['null_value']}"
        ),
    ),
    "one-sided": Refusal(
        lambda needs, asked: "alternative" in needs.without and asked.alternative != "two-sided",
        lambda needs, asked, test: (
            f"alternative={asked.alternative!r} {needs.without['alternative']}"
        ),
    ),
}
"""What tests refuse, in the order in which they look: the first that applies is told."""


def refuse(needs: Needs, asked: Asked, test: str) -> None:
    """Refuse a question that a test, or a function, of this name cannot be asked.

    Raises
    ------
    ValueError
        If a row of `REFUSALS` applies.
    """
    for refusal in REFUSALS.values():
        if refusal.applies(needs, asked):
            raise ValueError(refusal.sentence(needs, asked, test))


def _quoted(names: Iterable[str]) -> str:
    return " or ".join(map(repr, names))


def _auc_and_losses(asked: Asked) -> tuple[str, str]:
    """The AUC as it was named, and other names of this kind."""
    if asked.scoring is None:
        return "'auc'", "'zero_one' or 'log'"
    return f"scoring={asked.scoring!r:.60}", "scoring='accuracy' or 'neg_log_loss'"
