"""Losses of several learners on the resamples of one design, which tests take."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from ucvtest.common.checks import is_integer
from ucvtest.common.memo import share_memoised
from ucvtest.common.words import arg, call, place
from ucvtest.data.groups import GroupWeight
from ucvtest.data.positive_class import UNNAMED, check_positive_of_losses
from ucvtest.data.sample import Sample
from ucvtest.data.survival_times import SurvivalTimes
from ucvtest.designs.adapters import as_design
from ucvtest.designs.design import Design
from ucvtest.losses import files
from ucvtest.losses.columns import as_names, check_parts
from ucvtest.losses.from_arrays import from_arrays
from ucvtest.losses.from_correct import from_correct
from ucvtest.losses.from_mlflow import from_mlflow
from ucvtest.losses.from_predictions import SCORE, from_predictions
from ucvtest.losses.from_scores import from_scores
from ucvtest.losses.from_sklearn import from_sklearn
from ucvtest.losses.linearised import (
    ABOUT_CLASSES,
    about_class,
    fields_of,
    function_of,
    parts_of,
    parts_where_tested,
    resample_means,
    resample_values,
    response_where_tested,
    tested_parts,
)
from ucvtest.metrics.base import Metric
from ucvtest.metrics.directions import direction_of, known_direction
from ucvtest.metrics.loss import WEIGHTED, Loss, losses_where_tested
from ucvtest.metrics.matrix import MATRIX, errors_at
from ucvtest.metrics.means import LOG, certain_and_wrong
from ucvtest.metrics.named import named_smooth_metric
from ucvtest.metrics.names import as_metric, metric_or_loss
from ucvtest.metrics.ranges import zeros_and_ones
from ucvtest.metrics.recorded import COST_OF_ERRORS, RecordedMetric, errors_behind, recorded_metric
from ucvtest.metrics.refusals import refuse_pooled
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.metrics.survival import SurvivalMetric
from ucvtest.results.serialising import Saved

SCORES_ONLY = (
    "'auc' keeps decision scores, but this test needs the loss of every observation: use "
    "'zero_one' or 'log'"
)


def means_only() -> str:
    """Why losses without values do not suffice, and what makes others."""
    return (
        "these losses contain only the mean of each resample, but every observation's loss is "
        f"needed: use {call('evaluate')}, or {call('Losses.from_arrays')}"
    )


@dataclass(frozen=True, eq=False)
class Losses(Saved):
    """Losses of learners on every tested observation of every resample of one design.

    Made by `evaluate`, `Losses.from_predictions`, `Losses.from_correct`, `Losses.from_arrays`,
    `Losses.from_sklearn` or `Losses.from_scores`. Tests take it by their ``from_losses``, and state
    which designs they accept.

    Parameters
    ----------
    design : Design
        Learning and test sets, (R, n); for fixed rules only a test set.
    learners : tuple of str
        Names, all different.
    loss : str
        Name of the loss, or "auc": then `values` are decision scores and `means` AUCs.
    means : ndarray, shape (L, R)
        Mean loss of each learner in each resample, or its AUC; NaN if a resample tests one class
        only.
    values : ndarray, shape (L, T), optional
        Losses (scores) of all T tested observations, resample by resample, in ascending order of
        observations; None if only the means are known.
    target : ndarray, shape (n,), optional
        Labels 0, 1, ..., or the real response, or survival times. Tests about the AUC need it.
    in_words : str
        The expected loss in words.
    bounds : tuple of float, optional
        The smallest and the largest value that the loss can have; with weights, its mean.
    settings : mapping
        How the losses were made: seed, backends, design in words.
    diagnostics : mapping of str to (mapping of str to int)
        For each learner: learning sets with one class, ties.
    elapsed : float
        Seconds that the fits took.
    groups : ndarray of int, shape (n,), optional
        The cluster of each observation, which is the unit of resampling. Clusters are numbered from
        0 in the order in which they first appear. By default each observation is by itself.
    greater_is_better : bool, optional
        Whether `means` and `values` are scores, so that greater is better; by default only for the
        AUC. It is needed for names of scores that ucvtest or scikit-learn knows. It affects
        verdicts but no number.
    predictions : ndarray, shape (L, T), optional
        Numbers of predicted classes, or predicted values, of all tested observations. They are kept
        for metrics that are functions of means, such as "f1", with linearised values in `values`.
        Probabilities of an event by K times have the shape (L, T, K).
    smooth : SmoothMetric, optional
        This metric, unless it is known by its name.
    event : ndarray of bool, shape (n,), optional
        For survival times, whether the event ended them; otherwise they are censored.

    Raises
    ------
    ValueError
        If shapes do not match, names repeat, a number is not finite, `means` are not the means of
        `values`, or the design divides a group.
    """

    _result_kind: ClassVar[str] = "table of losses"

    design: Design
    learners: tuple[str, ...]
    loss: str
    means: np.ndarray
    values: np.ndarray | None = None
    target: np.ndarray | None = None
    in_words: str = ""
    bounds: tuple[float, float] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    diagnostics: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    elapsed: float = math.nan
    groups: np.ndarray | None = None
    greater_is_better: bool | None = None
    predictions: np.ndarray | None = None
    smooth: SmoothMetric | None = None
    event: np.ndarray | None = None

    from_arrays = classmethod(from_arrays)
    from_correct = classmethod(from_correct)
    from_mlflow = classmethod(from_mlflow)
    from_predictions = classmethod(from_predictions)
    from_scores = classmethod(from_scores)
    from_sklearn = classmethod(from_sklearn)

    def __post_init__(self) -> None:
        greater = self.greater_is_better
        if self.predictions is not None:
            greater = self.metric.greater_is_better
        if greater is None:
            # Direction unstated, names of scores are refused.
            greater = known_direction(self.loss) is True and direction_of(self.loss)
        object.__setattr__(self, "greater_is_better", bool(greater))
        for name in ("means", "values", "target", "groups", "predictions", "event"):
            array = getattr(self, name)
            if array is None:
                continue
            array = np.asarray(array)
            # An array that nobody else can change: the array itself, or a copy.
            if array.flags.writeable or not array.flags.owndata:
                array = np.array(array)
                array.flags.writeable = False
            object.__setattr__(self, name, array)
        learning, testing = self.design.learning, self.design.testing
        if learning.flags.writeable or testing.flags.writeable:
            learning, testing = learning.view(), testing.view()
            learning.flags.writeable = testing.flags.writeable = False
            object.__setattr__(self, "design", Design(learning, testing))
        object.__setattr__(self, "learners", as_names(self.learners, len(self.learners)))
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))
        counts = {
            name: MappingProxyType(dict(learner_counts))
            for name, learner_counts in self.diagnostics.items()
        }
        object.__setattr__(self, "diagnostics", MappingProxyType(counts))
        check_parts(self)

    def __repr__(self) -> str:
        return (
            f"Losses(learners={self.learners}, loss={self.loss!r}, n_obs={self.design.n_obs}, "
            f"n_resamples={self.design.n_resamples})"
        )

    def _repr_html_(self) -> str:
        # The parts of pages are loaded where one is shown.
        from ucvtest.results.summary_tables import page
        from ucvtest.results.text_tables import Grid, in_two_columns, number_column

        fact_rows = [
            ("Loss", self.in_words or self.loss),
            ("Observations", str(self.design.n_obs)),
            ("Design", str(self.settings.get("design", as_design(self.design).words))),
            ("Model fits", str(self.n_fits)),
            ("Better", "higher" if self.greater_is_better else "lower"),
            ("Known", "means" if self.values is None else "every observation"),
        ]
        if self.without_value:
            fact_rows.append(("No value", self.without_value))
        summaries: dict[str, Any] = {"mean": np.mean}
        if self.design.n_resamples > 1:
            summaries |= {"least": np.min, "greatest": np.max}
        # Resamples without a value are left out.
        finite_means = [row[~np.isnan(row)] for row in self.means]
        columns = {
            name: number_column([float(of(row)) if len(row) else math.nan for row in finite_means])
            for name, of in summaries.items()
        }
        rows = [list(cells) for cells in zip(self.learners, *columns.values(), strict=True)]
        grids = [Grid(in_two_columns(fact_rows), aligns="lrl"), Grid(rows, ["", *columns])]
        return page([], grids)

    @cached_property
    def metric(self) -> Metric:
        """The estimand: the metric called `loss`, or its known properties."""
        if self.predictions is not None:
            smooth_metric = self.smooth or named_smooth_metric(self.loss)
            if smooth_metric is None:
                raise ValueError(
                    f"{arg('loss', self.loss)} is not a metric for which predictions are kept"
                )
            return smooth_metric
        record = RecordedMetric(
            self.loss,
            estimand=self.in_words,
            bounds=self.bounds,
            greater_is_better=bool(self.greater_is_better),
            kind="set" if self.values is None else "mean",
        )
        metric = recorded_metric(record)
        if not isinstance(metric, RecordedMetric):
            return metric
        marks = self.values if self.loss == SCORE and metric.greater_is_better else None
        # Both values must occur: scores that are all the same may mean anything.
        if marks is not None and not self.design.learns and zeros_and_ones(marks):
            return replace(metric, of_loss=errors_behind(SCORE, metric.in_words))
        cost = self.settings.get(COST_OF_ERRORS)
        if cost is None or self.loss != MATRIX:
            return metric
        return replace(metric, of_loss=errors_at(float(cost)))

    @property
    def right_or_wrong(self) -> bool:
        """Whether values are scores of fixed rules, 1 for a right answer and 0 for a wrong one."""
        if self.values is None or self.design.learns:
            return False
        loss = self.metric.of_loss
        return loss is not None and loss.counts_errors and bool(np.isin(self.values, (0, 1)).all())

    @property
    def usual_weight(self) -> GroupWeight:
        """The default weight of clusters.

        For answers that are right or wrong, and for functions of means, rows count the same, as in
        the values that people report. Otherwise clusters count the same.
        """
        by_row = self.metric.linearised or self.right_or_wrong or self.weighted
        return "row" if by_row else "group"

    @property
    def weighted(self) -> bool:
        """Whether values are linearised values of a weighted mean."""
        return self.loss.startswith(WEIGHTED)

    @classmethod
    def of_predictions(
        cls, metric: SmoothMetric, *, predictions: np.ndarray, design: Design, **other_fields: Any
    ) -> "Losses":
        """The linearised values of a function of means, from predictions (L, T)."""
        about: dict[str, Any] = {"design": design, "predictions": predictions}
        target, event = other_fields["target"], other_fields.get("event")
        parts = parts_of(**about, target=target, event=event)
        settings = other_fields["settings"]
        fields = fields_of(metric, parts, **about, target=target, event=event, settings=settings)
        return cls(**about, **fields, **other_fields)

    @property
    def function_of_means(self) -> Any:
        """The metric as a function of means, for the classes of these observations."""
        metric = self.metric
        assert isinstance(metric, SmoothMetric)
        return function_of(metric, self.settings)

    @property
    def survival_times(self) -> SurvivalTimes:
        """Survival times of all observations, (n,)."""
        assert self.target is not None
        assert self.event is not None
        return SurvivalTimes(self.target, self.event)

    @property
    def tested_times(self) -> SurvivalTimes:
        """Survival times of all tested observations, (T,)."""
        assert self.target is not None
        times = response_where_tested(self.design, self.target, self.event)
        assert isinstance(times, SurvivalTimes)
        return times

    @cached_property
    def without_value(self) -> str:
        """Why a survival metric has no value for the tested observations; "" if it has one.

        Without a value, the values of all learners are NaN.
        """
        metric = self.metric
        if not isinstance(metric, SurvivalMetric) or self.values is None:
            return ""
        if not np.isnan(self.values).all():
            return ""
        reason = (
            metric.no_value(self.tested_times)
            or "no two comparable observations were tested by the same rule"
        )
        return f"{metric.in_words} has no value here, because {reason}"

    @property
    def tested_target(self) -> np.ndarray:
        """Labels 0, 1, ..., or the real response, of all tested observations, (T,)."""
        if self.target is None:
            raise ValueError("these losses were made without y: make them with it")
        return np.broadcast_to(self.target, self.design.testing.shape)[self.design.testing]

    def about(self, metric: Any) -> "Losses":
        """Score the same predictions by another metric; nothing is fitted.

        Parameters
        ----------
        metric : str or metric
            A metric or a loss that needs the same kind of prediction, such as "mcc" or "accuracy"
            after "f1", and "brier" or ``uv.metrics.net_benefit(0.2)`` after "brier_skill".

        Raises
        ------
        ValueError
            If no predictions are kept, or the metric needs other ones.

        Examples
        --------
        >>> import ucvtest as uv
        >>> y, a = [1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 1]
        >>> losses = uv.Losses.from_predictions(y, {"a": a}, metric="f1")
        >>> round(float(losses.about("mcc").means[0, 0]), 3)
        0.333
        """
        if self.predictions is None or not isinstance(self.metric, SmoothMetric):
            raise ValueError(
                f"these losses keep no predictions: make them with {arg('metric')}, such as "
                f"{arg('metric', 'f1')}"
            )
        new_metric = as_metric(metric_or_loss(metric), has_classes=self.metric.output != "number")
        if self.design.learns and "source" in self.settings:
            refuse_pooled(new_metric)
        kept = self.metric.wants
        # Decisions at a threshold follow from probabilities, but not the other way round.
        decides = kept != new_metric.wants
        if kept not in (new_metric.wants, new_metric.wants[:1]):
            several = (
                f", or with {arg('metric', 'brier_skill')}, which keeps probabilities for all "
                "thresholds"
            )
            raise ValueError(
                f"{arg('metric', new_metric.reported_name)} needs the {new_metric.wants_in_words} "
                f"of each observation, but {arg('metric', self.metric.name)} kept "
                f"{self.metric.kept_in_words}: make the losses with "
                f"{arg('metric', new_metric.reported_name)}"
                + (several if self.metric.cut is not None and len(new_metric.wants) > 1 else "")
            )
        if isinstance(new_metric, Loss):
            return self._mean_losses(new_metric)
        if not isinstance(new_metric, SmoothMetric):
            raise ValueError(
                f"{arg('metric', metric)} is not a function of means, so about() cannot use it: "
                f"make the losses with {arg('metric', metric)}"
            )
        known = replace(self, predictions=new_metric.decided(self.predictions)) if decides else self
        if new_metric.asks_for_class:
            check_positive_of_losses(self.settings, arg("metric", new_metric.name))
        assert known.predictions is not None
        assert self.target is not None
        fields = fields_of(
            *(new_metric, parts_where_tested(known)),
            design=self.design,
            predictions=known.predictions,
            target=self.target,
            event=self.event,
            settings=self.settings,
        )
        scored = replace(known, **fields, settings=about_class(self.settings, new_metric))
        # They are those of all metrics of the same predictions.
        share_memoised(known, scored, tested_parts)
        return scored

    def _mean_losses(self, loss: Loss) -> "Losses":
        """The losses of kept predictions, or their scores; an undecided tie is half an error."""
        assert self.predictions is not None
        target, units = self.tested_target, loss.units
        if loss.output == "label":
            # Half-way to the true class is half an error.
            below, above = np.floor(self.predictions), np.ceil(self.predictions)
            values = ((below != target) * 1.0 + (above != target)) / 2
        else:
            sample = Sample(np.empty((len(target), 0)), target, None, None)
            everywhere = np.ones(self.predictions.shape, dtype=bool)
            values = losses_where_tested(loss, sample, self.predictions, everywhere)
        values = values if units is None else units.of(values)
        settings = about_class(self.settings, loss)
        return replace(
            self,
            loss=loss.reported_name,
            values=values,
            means=resample_means(values, self.design),
            in_words=loss.in_words,
            bounds=loss.reported_bounds,
            greater_is_better=units is not None and units.greater_is_better,
            settings={
                name: setting
                for name, setting in settings.items()
                if name not in (*ABOUT_CLASSES, UNNAMED)
            },
            predictions=None,
            smooth=None,
        )

    @cached_property
    def in_losses(self) -> "Losses":
        """The same as losses, if scores are a constant minus a loss; tests know more about losses.

        Other tables are returned unchanged. The words remain those of the score.
        """
        loss = self.metric.of_loss
        if loss is None or loss.units is None:
            return self
        means, values = loss.units.back(self.means), None
        if self.values is not None:
            values = loss.units.back(self.values)
            means = resample_values(values, self.design, loss, self.target)
        return replace(
            self,
            loss=loss.name,
            means=means,
            values=values,
            bounds=loss.bounds,
            greater_is_better=False,
        )

    @property
    def n_fits(self) -> int:
        """Model fits behind the losses, one for each learner and learning set; 0 for rules."""
        return len(self.learners) * self.design.n_resamples * self.design.learns

    @property
    def array(self) -> np.ndarray:
        """Losses (scores) as an array (L, R, n), NaN where not tested.

        Raises
        ------
        ValueError
            If only the means are known.
        """
        return np.stack([_spread(row, self.design) for row in self.known_values])

    @property
    def known_values(self) -> np.ndarray:
        """The values, if they are known.

        Raises
        ------
        ValueError
            If only the means are known.
        """
        if self.values is None:
            raise ValueError(means_only())
        return self.values

    def number_of(self, learner: str | int) -> int:
        """The position of a learner, by its name or its position.

        Raises
        ------
        ValueError
            If there is no such learner.
        """
        if isinstance(learner, str) and learner in self.learners:
            return self.learners.index(learner)
        if is_integer(learner) and 0 <= int(learner) < len(self.learners):
            return int(learner)
        raise ValueError(
            f"learner {learner!r:.60} is neither one of {', '.join(self.learners)} nor a number "
            f"from {place(0)} to {place(len(self.learners) - 1)}"
        )

    def difference(
        self, learner: str | int = 0, other: str | int | None = None
    ) -> "LossDifference":
        """Losses of one learner, or of one learner minus another.

        Parameters
        ----------
        learner, other : str or int
            Names or positions; `other` None means one learner alone.

        Returns
        -------
        LossDifference

        Raises
        ------
        ValueError
            If there is no such learner, or both are the same.
        """
        first = self.number_of(learner)
        second = None if other is None else self.number_of(other)
        if first == second:
            raise ValueError(
                f"learner and other are both {self.learners[first]!r}: name two different ones"
            )
        return LossDifference(self, first, second)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, max_bytes: int = files.MAX_BYTES) -> "Losses":
        """Restore the losses from the result of `to_dict`.

        Parameters
        ----------
        data : mapping
        max_bytes : int
            Refuse a design that would take more memory; 1 GiB by default.

        Raises
        ------
        ValueError
            If `data` was not written by `to_dict`, or by a newer version of it, or is too large.
        """
        files.check_memory(data, max_bytes)
        return super().from_dict(data)

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return files.NAMES

    def _plain(self) -> dict[str, Any]:
        return files.plain(self)

    @classmethod
    def _values(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return files.fields_of(data)

    def save(self, path: str | Path) -> None:
        """Write to a file that `load` reads: .npz, or .json.

        The file contains no pickles, so a file from elsewhere can be read without risk.

        Raises
        ------
        ValueError
            If the name has another ending.
        """
        files.write(self, path, self._heading)

    @classmethod
    def load(cls, path: str | Path, *, max_bytes: int = files.MAX_BYTES) -> "Losses":
        """Read a file that `save` wrote.

        Parameters
        ----------
        path : path
        max_bytes : int
            Refuse arrays that need more than this in total, before any of them is read: a small
            file can contain large arrays. 1 GiB by default. JSON counts eight times the size of the
            file, which is the memory of its numbers.

        Raises
        ------
        ValueError
            If the file contains something else, is damaged, too large, or was written by a newer
            version.
        """
        files.check_memory({}, max_bytes)
        path = files.as_path(path)
        data = files.read(path, max_bytes)
        files.check_memory(data, max_bytes)
        return cls._read(data, path.name)


@dataclass(frozen=True, eq=False)
class LossDifference:
    """Losses of one learner, or paired differences of two, on the resamples of a design."""

    losses: Losses
    learner: int
    other: int | None
    paired: bool = field(init=False)
    """Whether there are two learners."""
    places: tuple[int, ...] = field(init=False, repr=False)
    """The places of the learner, or of both, in `losses`."""
    in_words: str = field(init=False, repr=False)
    """The expected loss, or the difference in it."""
    design: Design = field(init=False, repr=False)
    """Learning and test sets."""
    means: np.ndarray = field(init=False, repr=False)
    """Mean loss (difference), or AUC (difference), of every resample, (R,)."""
    n_fits: int = field(init=False)
    """Model fits behind these losses."""
    diagnostics: Mapping[str, int] = field(init=False, repr=False)
    """Learning sets with one class, ties and infinite log losses of these learners together."""

    def __post_init__(self) -> None:
        losses, counts, means = self.losses, Counter[str](), self.losses.means[self.learner]
        in_words, places = losses.in_words, [self.learner]
        if self.other is not None:
            in_words = f"difference in {in_words}"
            places.append(self.other)
            means = means - losses.means[self.other]
            means.flags.writeable = False
        for number in places:
            counts.update(losses.diagnostics.get(losses.learners[number], {}))
            if losses.loss == LOG and losses.values is not None:
                counts.update(certain_and_wrong(losses.values[number]))
        derived_fields = {
            "paired": self.other is not None,
            "places": tuple(places),
            "in_words": in_words,
            "design": losses.design,
            "means": means,
            "n_fits": len(places) * losses.design.n_resamples * losses.design.learns,
            "diagnostics": dict(counts),
        }
        for name, value in derived_fields.items():
            object.__setattr__(self, name, value)

    @property
    def values(self) -> np.ndarray:
        """Losses or differences of all tested observations, resample by resample, (T,)."""
        if self.losses.metric.ranks_pairs:
            raise ValueError(SCORES_ONLY)
        values = self.losses.known_values
        if self.other is None:
            return values[self.learner]
        return values[self.learner] - values[self.other]

    @property
    def contrast_and_own(self) -> "tuple[LossDifference, ...]":
        """The contrast first, then each of two learners alone."""
        if self.other is None:
            return (self,)
        return self, *(LossDifference(self.losses, place, None) for place in self.places)

    @property
    def means_of_each(self) -> np.ndarray:
        """The means of resamples of each, (1, R), or (3, R) for two learners."""
        if self.other is None:
            return self.means[None]
        return np.stack([self.means, *self.losses.means[[*self.places]]])

    @property
    def values_of_each(self) -> np.ndarray:
        """The values of each, (1, T), or (3, T) for two learners."""
        if self.other is None:
            return self.values[None]
        return np.stack([self.values, *self.losses.known_values[[*self.places]]])

    @property
    def values_by_learner(self) -> dict[str, np.ndarray]:
        """Losses (scores) of the learner, and of the other if there is one, (T,), by name."""
        losses = self.losses
        return {losses.learners[place]: losses.known_values[place] for place in self.places}

    @property
    def tested_target(self) -> np.ndarray:
        """Labels 0, 1, ..., or the real response, of all tested observations, (T,)."""
        return self.losses.tested_target

    @property
    def in_losses(self) -> "LossDifference":
        """The same as losses: see `Losses`."""
        losses = self.losses.in_losses
        return self if losses is self.losses else replace(self, losses=losses)

    @property
    def table(self) -> np.ndarray:
        """The same as (R, n), NaN where not tested."""
        return _spread(self.values, self.design)

    @property
    def identical(self) -> bool:
        """Whether two learners had the same losses throughout."""
        if not self.paired:
            return False
        losses_or_means = self.losses.means if self.losses.values is None else self.losses.values
        return bool((losses_or_means[self.learner] == losses_or_means[self.other]).all())


def _spread(values: np.ndarray, design: Design) -> np.ndarray:
    table = np.full(design.testing.shape, np.nan)
    table[design.testing] = values
    return table
