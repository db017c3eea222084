"""`plan`: how many observations a question needs."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np

from ucvtest import hooks
from ucvtest.common.checks import (
    AtLeast,
    Level,
    at_least,
    check_number,
    check_switch,
    named_options,
)
from ucvtest.common.execution import Progress, make_generator
from ucvtest.common.float64 import check_platform
from ucvtest.common.notes import Note
from ucvtest.common.words import arg, call
from ucvtest.data.positive_class import with_positive
from ucvtest.inference.needs import Needs, Traits, refuse
from ucvtest.losses.table import Losses
from ucvtest.methods.classical.fixed_rules import of_these_rules
from ucvtest.metrics.ranges import range_of
from ucvtest.metrics.scorers import chosen_loss
from ucvtest.planning.curve import Curve, curve_tests, fits_of_curves, learning_curve
from ucvtest.planning.fixed_rules import McNemar, predictor_of_rules
from ucvtest.planning.pilot import (
    checked_tests,
    loss_range,
    pilot_of_data,
    pilot_of_sampler,
    smallest_size_of,
)
from ucvtest.planning.predictors import Predictor
from ucvtest.planning.sample_plan import SamplePlan, pictures_of
from ucvtest.results.result import TestResult
from ucvtest.stats.stakes import planned_level

MOST_OBS = 10_000_000
N_ROWS = 12
BAND = 1.96
"""Half-width of bands in standard deviations of the logarithm of a standard error, at the 95%
level."""

STEPS_AT_LEAST = 10
"""The power of exact tests is not monotone in n: it must suffice for this number of sizes in a
row."""

LEARNING_SETS = (
    "Predictions are for learning sets of {size} {units}, as in the pilot. More {units} would also "
    "allow larger learning sets, which change the learners and their difference (see the learning "
    "curves)."
)
COMPONENTS = (
    "The variance is composed of the effects of single observations, pairs and larger sets. The "
    "pilot's jackknife and its effects of pairs determine them"
)
SHRUNK = COMPONENTS + (
    ", shrunk towards typical values for losses of this size that agree to this extent under "
    "different learning sets."
)
UNSHRUNK = COMPONENTS + (
    "; effects of single observations are assumed to be at least 40% of the jackknife (15% for "
    "AUCs, for metrics of labels such as F1, and for errors of groups)."
)
LEDGER = (
    "A ledger has {asks} asks of equal levels until the next promotion, if the first stakes "
    "1/{asks} of the budget, and the k-th last one 1/k."
)
QUICKER = "learners by short names, such as 'lda', are quicker"
PILOT_BAND = Note(
    "Bands (95%) show the uncertainty of the standard error from the pilot, including Monte-Carlo "
    "error. The difference is treated as known.",
    "Low and high: 95% band for the uncertainty of the pilot's standard error.",
    importance=1,
)


@dataclass(frozen=True)
class _Goal:
    name: str
    value: float
    power: float
    alpha: float

    @property
    def effect(self) -> float:
        """The value on the scale of the standard error."""
        return math.log(self.value) if self.name == "ratio" else self.value

    def reached(self, predictor: Predictor, n: int, scale: float = 1.0) -> bool:
        """Whether n observations suffice."""
        if self.name == "width":
            return predictor.width(n, self.alpha, scale) <= self.value
        return predictor.power(n, self.effect, self.alpha, scale) >= self.power


@named_options
def plan(
    X: Any,
    y: Any = None,
    learner: Any = None,
    other: Any = None,
    *,
    difference: float | None = None,
    ratio: float | None = None,
    width: float | None = None,
    n: Sequence[int] | int | None = None,
    power: Level = 0.8,
    alpha: Level = 0.05,
    learn_size: int | tuple[int, int] | None = None,
    loss: Any = None,
    pos_label: Any = None,
    groups: Any = None,
    curve: bool = True,
    pilot_size: int | None = None,
    n_pilots: int | None = None,
    rng: int | np.random.Generator | None = None,
    metric: Any = None,
    asks: Annotated[int, AtLeast(1, 10**6)] | None = None,
    promotions: Annotated[int, AtLeast(0, 10**6)] | None = None,
) -> SamplePlan:
    r"""Predict from a pilot how many observations a comparison, or an estimate, needs.

    One of `difference`, `ratio` and `width` must be given. Power at the difference observed in a
    pilot is not informative.

    Parameters
    ----------
    X : array or DataFrame, sampler, or Losses
        The features of a pilot sample; a function ``sampler(rng, n)`` that draws features
        (n, p) and responses (n,), with `y` None; or losses of fixed rules
        (`Losses.from_predictions`), with `y` None and `learner` and `other` their names.
    y : array-like, shape (n,), optional
    learner, other : learner
        See `UStatisticTest`. Without `other`, the precision of one learner is planned (`width`).
    difference : float, optional
        The true difference of expected losses (or AUCs) that should be detected, of either sign.
    ratio : float, optional
        The true ratio of expected losses that should be detected.
    width : float, optional
        The desired width of the interval: 0.06 for an error rate to within 3 percentage points.
    n : int or sequence of int, optional
        Numbers of observations to report; by default from the size of the pilot to beyond the size
        needed.
    power, alpha : float
        The power of the two-sided test, and one minus the level of the interval.
    learn_size, loss, pos_label : optional
        See `UStatisticTest`. Learning sets can have at most half of the pilot, minus one.
    groups : array-like, shape (n,), optional
        The group of each observation, such as the patient. Numbers are then numbers of groups.
    curve : bool
        Whether learning curves are also estimated from the pilot. They take most of the fits.
    pilot_size, n_pilots : int
        Size and number of the samples drawn from a simulator: by default 20 of 60.
    rng : None, int or numpy Generator
    metric : str or metric, optional
        Instead of a loss, a metric that is not a mean of losses, such as "f1" or "r2": see
        `Losses.from_predictions`. Losses as `X` that keep predictions are scored by it.
    asks, promotions : int, optional
        Plan a `Ledger` for error rates of fixed rules: the power is that of the last of these asks,
        after these promotions. Its levels are equal if the k-th last ask before the next promotion
        stakes 1/k of the budget.

    Returns
    -------
    SamplePlan

    Raises
    ------
    ValueError
        If an argument cannot be used, or the pilot does not vary.

    Notes
    -----
    The variance of the U-statistic test from N observations is :math:`V_N = \sum_k v_k \binom
    nk/\binom Nk`, where v_k is the contribution of effects of k observations together. Given v_1,
    the pilot's jackknife J and effects M2 of pairs determine the other components. A pilot of 40
    determines v_1 badly: the logarithm of the square root of J has a standard deviation of .2 to
    .3, and more for squared losses with heavy tails. For error rates and for differences of mean
    losses (without groups), J and M2 are therefore averaged with typical values for losses of this
    mean square and of this agreement under disjoint learning sets. v_1 is the typical value; for
    error rates it is J - 2 M2 if that is larger. The predicted interval is that of
    `UStatisticTest.fit` ("stabilised" for differences of error rates). ``se`` is the standard error
    that `fit` would report. Power is the power of its test for a normal estimate around the
    difference with the standard deviation ``sd``.

    In 27 simulated problems (studies/planning; pilots of 40 and 60, 100 to 400 predicted), 76% of
    single pilots predicted the reported standard error to within 30%. The median ratio of predicted
    to reported standard errors was between .9 and 1.15 in 9 of the 12 problems that were used to
    choose the rule, in 4 of 7 that were not used for any choice, and in 3 of 8 new ones. It was
    never below .74 or above 1.26. Predictions were too small if v_1 was larger than typical
    (quadratic discriminant analysis, lognormal features, classes that are nearly separate), or if
    the pilot did not contain the tails of squared losses; studies/planning/reasons.csv has the
    reason for each problem. There are no typical values for AUCs, groups and ratios
    (studies/planning/others.csv, pilots of 40, 100 predicted). Medians were .91 to 1.22 in eleven
    problems about AUCs, with 65% of pilots within 30%, and .95 to 1.13 in four problems with
    groups. The uncertainty of the pilot (``n_low``, ``n_high``) is part of the answer: the nominal
    95% band contained the standard error in 90%.

    For fixed rules, power is that of the paired t test (as in
    ``statsmodels.stats.power.TTestPower``), of McNemar's exact test by enumerating all tables, or
    of DeLong's test by its variance. One error rate has the expected width of Clopper and Pearson's
    interval. Metrics have the power of the t test of linearised values, and the interval of
    `HoldOutTest`.

    References
    ----------
    M. Fuchs, R. Hornung, R. De Bin, A.-L. Boulesteix (2013), (12). C. Beleites, U. Neugebauer, T.
    Bocklitz, C. Krafft, J. Popp (2013), Sample size planning for classification models, Analytica
    Chimica Acta 760 (arXiv 1211.1323).

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = uv.plan(X[50:, :2], y[50:], "lda", "knn:1", difference=0.1, curve=False, rng=0)
    >>> found.n_needed > 50
    True

    Ten errors in a hundred: how many observations for an interval no wider than 0.13?

    >>> y = [0, 1] * 50
    >>> rule = [1, 0] * 5 + [0, 1] * 45
    >>> rules = uv.Losses.from_predictions(y, {"rule": rule})
    >>> uv.plan(rules, learner="rule", width=0.13).n_needed
    94
    """
    started = time.perf_counter()
    goal = _goal(difference, ratio, width, power, alpha)
    requested = _requested_sizes(n)
    generator, seed = make_generator(rng)
    check_switch("curve", curve)
    if not callable(X):
        _refuse_arguments(pilot_size=pilot_size, n_pilots=n_pilots)
    if isinstance(X, Losses):
        _refuse_arguments(y=y, loss=loss, learn_size=learn_size, pos_label=pos_label, groups=groups)
        scored = X if metric is None else X.about(metric)
        last_ask = None if asks is promotions is None else (asks or 1, promotions or 0)
        sample_plan = replace(
            _plan_for_rules(scored, learner, other, goal, requested, last_ask),
            elapsed=time.perf_counter() - started,
        )
        hooks.announce_outcome(None, sample_plan)
        return sample_plan
    _refuse_arguments(asks=asks, promotions=promotions)
    if isinstance(X, TestResult):
        raise ValueError(
            f"{arg('X')} is the result of a test, but a plan needs data: pass {arg('X')} and y of "
            "the pilot sample; the learners are then fitted as often as necessary"
        )
    if learner is None:
        raise ValueError(f"{arg('learner')} is missing: name one, such as 'lda'")
    check_platform()
    _check_goal(goal, paired=other is not None)
    learners = (learner,) if other is None else (learner, other)
    loss = chosen_loss(loss, None, metric)
    question = {"learn_size": learn_size, "loss": loss, "pos_label": pos_label, "groups": groups}
    if goal.name == "ratio":
        question["contrast"] = "ratio"
    curves: tuple[Curve, ...] = ()
    n_curve_fits, test = 0, None
    if callable(X):
        _refuse_arguments(y=y, groups=groups)
        pilot = pilot_of_sampler(X, learners, question, generator, pilot_size, n_pilots)
        planned_sizes = _PlannedSizes.of(pilot.predictor, goal, requested, pilot.values["n_pilot"])
    elif y is None:
        raise ValueError("y is missing: pass the responses, a sampler as X, or Losses as X")
    else:
        # Invalid arguments are refused before the first fit.
        tests = checked_tests(X, y, learners, question)
        _check_possible(goal, loss_range(tests[0]), paired=other is not None)
        _check_sizes(requested, smallest_size_of(tests[0]))
        of_curve = curve_tests(X, y, learners, question, tests[0].n_units) if curve else ()
        test = tests[0]
        n_later = fits_of_curves(of_curve)
        omitted = f"{arg('curve', False)} omits the learning curves, {n_later} of these fits; "
        # Of all steps, so that their time is announced once.
        progress = Progress(later=n_later, remedies=f"{omitted if n_later else ''}{QUICKER}")
        pilot = pilot_of_data(tests, generator, progress)
        planned_sizes = _PlannedSizes.of(pilot.predictor, goal, requested, pilot.values["n_pilot"])
        reach = planned_sizes.sizes[-1] // 2
        curves, n_curve_fits = learning_curve(
            of_curve, generator, largest=reach, alpha=alpha, progress=progress
        )
    note_fields = {
        name: pilot.values[key] for name, key in (("size", "learn_size"), ("units", "units"))
    }
    components = SHRUNK if "agreement" in pilot.values else UNSHRUNK
    notes = (LEARNING_SETS.format(**note_fields), components, PILOT_BAND)
    n_fits = pilot.values["n_fits"] + n_curve_fits
    settings = {**pilot.values, "n_fits": n_fits, "rng": seed}
    sample_plan = planned_sizes.plan(pilot.estimate, settings, curves, notes)
    sample_plan = replace(sample_plan, elapsed=time.perf_counter() - started)
    hooks.announce_outcome(test, sample_plan)
    return sample_plan


def _plan_for_rules(
    losses: Losses,
    learner: Any,
    other: Any,
    goal: _Goal,
    requested: tuple[int, ...],
    last_ask: tuple[int, int] | None,
) -> SamplePlan:
    if losses.design.learns:
        raise ValueError(
            f"losses of learners cannot be planned without the data: pass {arg('X')} and y, or "
            f"losses from {call('Losses.from_predictions')}"
        )
    refuse(Needs(designs=""), Traits(clusters=losses.groups is not None), "plan")
    if learner is None:
        if len(losses.learners) > 2:
            raise ValueError(
                f"{arg('learner')} is missing: name one of {', '.join(losses.learners)}"
            )
        learner, other = 0, 1 if len(losses.learners) == 2 else None
    _check_goal(goal, paired=other is not None)
    if goal.name == "ratio":
        raise ValueError(f"{arg('ratio')} is for learners: plan for a difference of fixed rules")
    low, high = (
        range_of(losses.metric)
        if losses.metric.linearised
        else (losses.metric.bounds or (0.0, math.inf))
    )
    span = high - low
    _check_possible(goal, span, paired=other is not None)
    predictor, estimate = predictor_of_rules(losses, learner, other)
    settings = {
        "n_pilot": losses.design.n_obs,
        "units": "observations",
        "learn_size": None,
        "estimand": with_positive(
            of_these_rules(losses.difference(learner, other)), losses.settings.get("pos_label")
        ),
        "loss": losses.loss,
        "learner": losses.learners[losses.number_of(learner)],
        "other": None if other is None else losses.learners[losses.number_of(other)],
        "n_fits": 0,
        "test": type(predictor).__name__,
    }
    notes: tuple[str, ...] = (
        "Rules are fixed: nothing is learnt, and n is the size of the test set.",
        PILOT_BAND,
    )
    if last_ask is not None:
        if goal.name != "difference" or not isinstance(predictor, McNemar):
            raise ValueError(
                f"{arg('asks')} and {arg('promotions')} plan a ledger for the difference of two "
                f"error rates: pass {arg('difference')} and losses {arg('loss', 'zero_one')}"
            )
        asks, promotions = last_ask
        level, between = planned_level(goal.alpha, asks, promotions)
        settings |= {"asks": asks, "promotions": promotions, "level": level}
        # One-sided tests have the power of two-sided ones at twice their level.
        goal = replace(goal, alpha=2 * level)
        notes = (LEDGER.format(asks=between), *notes)
    planned_sizes = _PlannedSizes.of(predictor, goal, requested, losses.design.n_obs)
    return planned_sizes.plan(estimate, settings, (), notes)


@dataclass(frozen=True, eq=False)
class _PlannedSizes:
    """The sizes that are needed, and the sizes to report."""

    predictor: Predictor
    goal: _Goal
    needed: tuple[int | None, int | None, int | None]
    sizes: tuple[int, ...]

    @classmethod
    def of(
        cls, predictor: Predictor, goal: _Goal, requested: tuple[int, ...], n_pilot: int
    ) -> "_PlannedSizes":
        """Find the number needed, and choose the sizes to report."""
        factor = math.exp(BAND * predictor.log_error)
        sizes_by_scale = [
            _smallest_size(predictor, goal, scale) for scale in (1.0, 1 / factor, factor)
        ]
        _check_sizes(requested, predictor.least)
        n_needed, n_low, n_high = sizes_by_scale
        if requested:
            return cls(predictor, goal, (n_needed, n_low, n_high), requested)
        # From the pilot's size to beyond the size needed.
        smallest = max(predictor.least, min(n_pilot, n_needed or n_pilot))
        largest = max(2 * (n_needed or 50 * n_pilot), 4 * smallest)
        sizes = {int(float(f"{size:.2g}")) for size in np.geomspace(smallest, largest, N_ROWS)}
        sizes |= {n_needed} if n_needed else set()
        reported = tuple(sorted(size for size in sizes if size >= predictor.least))
        return cls(predictor, goal, (n_needed, n_low, n_high), reported)

    def plan(
        self,
        estimate: float,
        settings: dict[str, Any],
        curves: tuple[Curve, ...],
        notes: tuple[str, ...],
    ) -> SamplePlan:
        """The plan, with its pictures."""
        predictor, goal = self.predictor, self.goal
        factor = math.exp(BAND * predictor.log_error)
        columns: dict[str, list[float]] = {}
        for n in self.sizes:
            se = predictor.se(n)
            row = {"n": n, "sd": predictor.sd(n)}
            row |= {"se": se, "se_low": se / factor, "se_high": se * factor}
            row |= _with_band("width", partial(predictor.width, n, goal.alpha), factor)
            if goal.name != "width":
                power = partial(predictor.power, n, goal.effect, goal.alpha)
                row |= _with_band("power", power, factor)
            for name, value in row.items():
                columns.setdefault(name, []).append(value)
        sample_plan = SamplePlan(
            n_needed=self.needed[0],
            n_low=self.needed[1],
            n_high=self.needed[2],
            goal=goal.name,
            value=goal.value,
            power=goal.power,
            alpha=goal.alpha,
            columns={name: np.array(values) for name, values in columns.items()},
            estimate=estimate,
            settings={**settings, "n_least": predictor.least},
            curves=curves,
            notes=notes,
        )
        return replace(sample_plan, pictures=pictures_of(sample_plan))


def _with_band(name: str, value: Callable[[float], float], factor: float) -> dict[str, float]:
    band = sorted((value(1 / factor), value(factor)))
    return {name: value(1.0), f"{name}_low": band[0], f"{name}_high": band[1]}


def _smallest_size(predictor: Predictor, goal: _Goal, scale: float) -> int | None:
    """The fewest observations that reach the goal."""
    low = high = predictor.least
    while not goal.reached(predictor, high, scale):
        if high >= MOST_OBS:
            return None
        low, high = high, min(2 * high, MOST_OBS)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if goal.reached(predictor, middle, scale) else (middle, high)
    if low < high and goal.reached(predictor, low, scale):
        high = low
    if high > 10_000:
        return high
    # The power of exact tests is not monotone: the first of many sufficient sizes is wanted.
    run, first_size = 0, max(predictor.least, high - high // 10)
    for size in range(first_size, high + high // 5 + STEPS_AT_LEAST):
        run = run + 1 if goal.reached(predictor, size, scale) else 0
        if run == STEPS_AT_LEAST:
            return size - STEPS_AT_LEAST + 1
    return high


def _goal(difference: Any, ratio: Any, width: Any, power: Any, alpha: Any) -> _Goal:
    """The goal; there must be exactly one."""
    goals = {"difference": difference, "ratio": ratio, "width": width}
    goal_names = [name for name, value in goals.items() if value is not None]
    if len(goal_names) != 1:
        problem = f"{' and '.join(goal_names)} are given" if goal_names else "none is"
        raise ValueError(
            f"one of {arg('difference')}, {arg('ratio')} and {arg('width')} must be given, and "
            f"{problem}: power at the difference observed in a pilot is not informative"
        )
    (name,) = goal_names
    value = goals[name]
    check_number(name, value)
    if name == "difference" and value == 0:
        raise ValueError(
            f"{arg('difference')} must not be 0: name the smallest difference that matters"
        )
    if name == "ratio" and (value <= 0 or value == 1):
        raise ValueError(f"{arg('ratio')} must be positive and not 1, got {value:g}")
    if name == "width" and value <= 0:
        raise ValueError(f"{arg('width')} must be above 0, got {value:g}")
    if power <= alpha:
        raise ValueError(f"{arg('power')} must lie between alpha and 1, got {power!r:.60}: use 0.8")
    return _Goal(name, float(value), float(power), float(alpha))


def _check_goal(goal: _Goal, *, paired: bool) -> None:
    if not paired and goal.name != "width":
        raise ValueError(f"{goal.name} compares two learners: name the second, or ask for a width")


def _check_possible(goal: _Goal, span: float, *, paired: bool) -> None:
    """Refuse differences and widths beyond the distance between the limits of a loss."""
    largest_value = span if goal.name == "difference" or not paired else 2 * span
    if goal.name != "ratio" and abs(goal.value) >= largest_value:
        raise ValueError(
            f"{arg(goal.name)} must be below {largest_value:g}, got {goal.value:g}: it is in units "
            "of the loss; 0.05 means five percentage points of an error rate"
        )


def _check_sizes(requested: tuple[int, ...], least_size: int) -> None:
    if requested and requested[0] < least_size:
        raise ValueError(f"{arg('n')} must be at least {least_size} here, got {requested[0]}")


def _requested_sizes(n: Any) -> tuple[int, ...]:
    if n is None:
        return ()
    # An array without a dimension is one size, but not an integer.
    several = isinstance(n, (list, tuple, range)) or (isinstance(n, np.ndarray) and n.ndim > 0)
    sizes = n if several else [n]
    return tuple(sorted({at_least("n", size, 1) for size in sizes}))


def _refuse_arguments(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"{name} does not apply here: leave it out")
