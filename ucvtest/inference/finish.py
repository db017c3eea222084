"""From the answer of a method to the result of a test: the only place where results are made."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ucvtest.data.positive_class import with_positive
from ucvtest.data.weights import WEIGHTS, few_by_weight
from ucvtest.inference.answer import Answer
from ucvtest.inference.notes import NEW_ROW, POSITIVE_CLASS, of_clusters, turned_aucs, weight_note
from ucvtest.inference.quantity import Kind, Quantity, of_one, spread
from ucvtest.inference.question import Question
from ucvtest.inference.status import ROUNDING, status_of_losses
from ucvtest.inference.studentise import Studentised, on_logit_scale, studentise, without_answer
from ucvtest.metrics.base import Units
from ucvtest.results.fields import Posterior
from ucvtest.results.plot_data import Picture
from ucvtest.results.result import TestResult
from ucvtest.results.wording import LEVEL, limit_notes
from ucvtest.stats.interval_rules import ChangedUnits
from ucvtest.stats.wald import OTHER_SIDE, within


def finish(
    question: Question, answer: Answer, method_name: str, elapsed: float = math.nan
) -> TestResult:
    """The result of a test: see `Answer`.

    Parameters
    ----------
    question : Question
    answer : Answer
        In units of losses.
    method_name : str
        The short name of the test, for settings.
    elapsed : float
        Seconds.
    """
    metric, observed, clusters = question.metric, answer.observed, question.clusters
    settings = {**question.settings(method_name), **answer.settings}
    settings = {name: x for name, x in settings.items() if name not in answer.not_settings}
    worth: Mapping[str, Any] = {}
    if question.weighted:
        # What tested rows are worth, where a test knows them.
        worth = {name: settings.get(name, x) for name, x in question.worth.items()}
        settings |= {WEIGHTS: question.weighted, **worth}

    # In the units that were asked for; the shares of a posterior follow the estimand.
    tested = _tested(question, answer, worth)
    units, posterior = Reported(metric.units, question.paired, tested.estimate), answer.posterior
    answers = tested.status == "ok"
    if answer.pvalue is not None:
        has_own_statistic = tested.status == answer.status
        tested = replace(
            tested, statistic=units.reported(answer.statistic) if has_own_statistic else math.nan
        )
    if metric.units is not None:
        hypothesis, rule = question.asked_hypothesis, tested.rule
        if rule is not None:
            shift = 0.0 if question.paired else metric.units.intercept
            rule = ChangedUnits(rule, shift, metric.units.slope)
        statistic = tested.statistic
        if answer.pvalue is None:
            statistic = units.number("odd", statistic) if rule is None else float(rule.statistic)
        tested = replace(
            tested,
            estimate=units.number("value", tested.estimate),
            se=units.number("spread", tested.se),
            variance=units.number("square", tested.variance),
            statistic=statistic,
            null_value=units.number("value", tested.null_value),
            alternative=OTHER_SIDE[tested.alternative] if units.reverses else tested.alternative,
            rule=rule,
        )
        changed_settings: dict[str, Any] = dict.fromkeys(("loss", "metric"), metric.units.name)
        changed_settings |= {
            "null_value": hypothesis.null_value,
            "alternative": hypothesis.alternative,
        }
        settings |= {
            name: x for name, x in changed_settings.items() if settings.get(name) is not None
        }
    tables, diagnostics = dict(answer.tables), dict(answer.diagnostics)
    if answer.assumption is not None:
        diagnostics = {"assumption": answer.assumption, **diagnostics}
    if observed is not None:
        diagnostics = {**observed.diagnostics, **diagnostics}
    if len(answer.estimates) > 1:
        # An unbiased variance can be below 0.
        variances = [*answer.variances] or [math.nan] * len(answer.estimates)
        se = [math.sqrt(x) if answer.has_se and x >= 0 else math.nan for x in variances[1:]]
        own = of_one(tuple(map(float, answer.estimates[1:]))), spread(tuple(se))
        names = (str(settings["learner"]), str(settings["other"]))
        tables = {"Learners": {"learner": names, "estimate": own[0], "se": own[1]}, **tables}
        for name, column in zip(("estimate", "se"), own, strict=True):
            cells = units.reported(column)
            diagnostics |= {f"{name}_learner": cells[0], f"{name}_other": cells[1]}
    if posterior is not None:
        posterior = units.posterior(posterior)
        if not answers:
            posterior = replace(posterior, p_left=math.nan, p_rope=math.nan, p_right=math.nan)
        diagnostics |= vars(posterior)
        if math.isnan(posterior.p_left):
            posterior = None
        else:
            tables["Posterior probabilities"] = posterior.table
    shown_tables = {
        title: {name: units.reported(cells) for name, cells in table.items()}
        for title, table in tables.items()
    }
    for table in shown_tables.values():
        units.turn(table)
    pictures = answer.pictures if answers or answer.posterior is None else {}

    # What the estimand can be, which limits are cut to; of losses without a name nothing is known.
    bounds, limited = (-math.inf, math.inf), question.limited or tested.rule is not None
    limited = limited and not math.isnan(tested.interval(LEVEL)[0])
    if limited:
        limits = question.range_of(answer.contrast)
        # A user's function may have the name of another score.
        limited = not metric.per_test_set or limits[0] <= tested.estimate <= limits[1]
    if limited:
        bounds = limits
        for title, table in shown_tables.items():
            if {"conf_low", "conf_high"} <= set(table) and table["conf_low"]:
                own_bounds = question.range_of_one if title == "Learners" else bounds
                ends = zip(table["conf_low"], table["conf_high"], strict=True)
                cut = zip(*(within(interval, own_bounds) for interval in ends), strict=True)
                table["conf_low"], table["conf_high"] = cut

    estimand, positive = answer.estimand, question.positive_class
    if positive is not None:
        estimand = with_positive(estimand, positive)
        diagnostics[POSITIVE_CLASS] = positive
    if "fit" in question.weighted:
        estimand = f"{estimand} (rules learnt with weights)"
    if clusters is not None:
        estimand = f"{estimand} ({NEW_ROW[clusters.weight]})"
        settings["group_weight"] = clusters.weight
        sizes = clusters.groups.sizes
        diagnostics |= {
            "n_groups": clusters.n_groups,
            "smallest_group": int(sizes.min()),
            "largest_group": int(sizes.max()),
        }
    higher = metric.greater_is_better if metric.units is None else units.reverses
    if question.observed is not None:
        higher = higher or bool(question.observed.losses.greater_is_better)
    result = TestResult(
        **vars(tested),
        method=answer.method,
        estimand=estimand,
        n_obs=question.n_obs if clusters is None else clusters.groups.n_obs,
        n_fits=answer.n_fits if observed is None else observed.n_fits,
        elapsed=elapsed,
        settings={name: units.reported(x) for name, x in settings.items()},
        diagnostics={name: units.reported(x) for name, x in diagnostics.items()},
        tables=shown_tables,
        pictures={kind: units.reported(picture) for kind, picture in pictures.items()},
        better="higher" if higher else "lower",
        interval_name=answer.interval_name,
        null_hypothesis=answer.null_hypothesis,
        assumption=answer.assumption,
        posterior=posterior,
        contrast=answer.contrast,
        bounds=bounds,
    )
    notes = [*answer.notes]
    if limited:
        notes += limit_notes(result, LEVEL)
    notes += question.notes
    if positive is not None and metric.ranks_pairs:
        notes += turned_aucs(result, positive)
    if worth:
        notes.append(weight_note(worth))
    return replace(result, notes=tuple(notes if clusters is None else of_clusters(notes, clusters)))


def _tested(question: Question, answer: Answer, worth: Mapping[str, Any]) -> Studentised:
    """The estimate with its test, in units of losses, or the reason why there is none."""
    observed, pivot, status = answer.observed, answer.pivot, answer.status
    hypothesis, few = question.hypothesis, few_by_weight(worth) if worth else "ok"
    if answer.null_value is not None:
        hypothesis = replace(hypothesis, null_value=answer.null_value)
    if answer.tested is not None:
        answers = few == "ok" or answer.tested.status != "ok"
        return answer.tested if answers else without_answer(answer.tested, few)
    estimate = float(answer.estimates[0])
    variance = float(answer.variances[0]) if len(answer.variances) else math.nan
    if observed is not None:
        # A difference can be tiny by rounding alone although its parts are not.
        rounding = ROUNDING * float(np.abs(np.nan_to_num(observed.means_of_each[-2:])).max())
        if observed.paired and abs(estimate) <= rounding:
            estimate = 0.0
        varies = math.isfinite(estimate) and variance > rounding**2 and not observed.identical
        if status == "ok" and pivot is None and not (varies and not question.metric.linearised):
            status = status_of_losses(observed, estimate, variance, rounding, question.metric)
    if status == "ok":
        status = few
    answers = status == "ok"
    tested = studentise(
        *(hypothesis, estimate, variance),
        reference=answer.reference if answers else "none",
        df=answer.df,
        status=status,
    )
    if answers and answer.logit:
        tested = on_logit_scale(tested)
    if answers and pivot is not None:
        pvalue = pivot.pvalue(hypothesis.null_value, hypothesis.alternative)
        tested = replace(tested, statistic=float(pivot.statistic), pvalue=pvalue, rule=pivot)
    if answer.pvalue is not None and status == answer.status:
        tested = replace(tested, pvalue=answer.pvalue, reference=answer.reference)
    return tested if answer.has_se else replace(tested, se=math.nan, variance=math.nan)


def reported_row(question: Question, row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with marked quantities and an interval, in the units of results."""
    units = Reported(question.metric.units, question.paired, math.nan)
    reported = {name: units.reported(x) for name, x in row.items()}
    units.turn(reported)
    interval = reported["conf_low"], reported["conf_high"]
    reported["conf_low"], reported["conf_high"] = within(interval, question.range_of("difference"))
    return reported


@dataclass(frozen=True)
class Reported:
    """How quantities of a loss become those that are reported; unchanged where `units` is None."""

    units: Units | None
    paired: bool
    """Whether the estimand is a difference of two learners."""
    estimate: float
    """Of the loss."""

    @property
    def reverses(self) -> bool:
        """Whether the reported number rises where the loss falls."""
        return self.units is not None and self.units.greater_is_better

    def number(self, kind: Kind, amount: Any) -> Any:
        """An amount, in the units of results."""
        units = self.units
        if units is None:
            return amount
        slope, shift = units.slope, 0.0 if self.paired else units.intercept
        match kind:
            case "value":
                return shift + slope * amount
            case "of_one":
                return units.intercept + slope * amount
            case "change":
                return 0.0 + slope * amount
            case "spread":
                return abs(slope) * amount
            case "square":
                return slope**2 * amount
            case "second_moment":
                return slope**2 * amount + 2 * shift * slope * self.estimate + shift**2
            case "odd":
                return 0.0 - amount if self.reverses else amount
            case "per_unit":
                return 0.0 + amount / slope
            case "spread_per_unit":
                return abs(0.0 + amount / slope)

    def reported(self, marked: Any) -> Any:
        """The reported form of a number, cells or a picture, with all its quantities."""
        if isinstance(marked, tuple):
            return tuple(map(self.reported, marked))
        if not isinstance(marked, Quantity):
            return marked
        if self.units is None:
            return marked.amount
        if isinstance(marked.amount, tuple):
            # The cells of errors that nobody knows are None.
            return tuple(
                None if cell is None else self.number(marked.kind, cell) for cell in marked.amount
            )
        if not isinstance(marked.amount, Picture):
            return self.number(marked.kind, marked.amount)
        step = -1 if self.reverses else 1
        layers = [
            replace(
                layer,
                x=self.number(marked.kind, layer.x)[::step],
                y=layer.y[::step],
                width=None if layer.width is None else self.number("spread", layer.width),
            )
            for layer in marked.amount.layers
        ]
        return replace(marked.amount, layers=tuple(layers))

    def posterior(self, posterior: Posterior) -> Posterior:
        """The same probabilities of the reported number."""
        outside_rope = (posterior.p_left, posterior.p_right)
        p_left, p_right = outside_rope[::-1] if self.reverses else outside_rope
        rope = self.number("spread", posterior.rope)
        center = self.number("value", posterior.rope_center)
        return Posterior(p_left, posterior.p_rope, p_right, rope, center)

    def turn(self, table: dict[str, Any]) -> None:
        """Exchange the ends of the intervals of a table, where a number turns round."""
        if self.reverses and {"conf_low", "conf_high"} <= set(table):
            table["conf_low"], table["conf_high"] = table["conf_high"], table["conf_low"]
