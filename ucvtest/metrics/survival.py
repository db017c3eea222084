"""Metrics of survival times that may be censored: concordance, Brier score and AUC at a time.

The prediction for an observation is a risk, which is higher for earlier events. The `output` of a
`SurvivalMetric` is the kind of risk that it needs. "risk" is any such number. "event_probability"
is the probability of an event by each of `times`, shape (n,) for one time and (n, K) for K times.
For a survival function S it is 1 - S(time).

Weights account for censored observations. They come from Kaplan and Meier's estimate of the
censoring distribution, from all observations. Harrell's and Uno's concordance treat them as known,
like ``survival::concordance`` of R. For Brier scores and AUCs at a time, the variance includes the
estimation of the weights, as in ``riskRegression::Score``.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import is_number
from ucvtest.common.words import arg, call, excerpt
from ucvtest.data.output import SURVIVAL_OUTPUTS, Output
from ucvtest.data.survival_response import as_survival
from ucvtest.data.survival_times import SurvivalTimes
from ucvtest.metrics.censoring import Censoring
from ucvtest.metrics.smooth import SHARE, OfTimes, SmoothMetric, written
from ucvtest.metrics.survival_sets import BrierOfSets, MetricOfSets, PairsOfSets

DEPENDS = "It depends on how observations are censored; the metric 'uno' does not."

KNOWN = (
    "Its weights, from Kaplan and Meier's estimate of the censoring distribution, are treated as "
    "known (as in survival::concordance of R)."
)

ESTIMATED = (
    "Its weights come from Kaplan and Meier's estimate of the censoring distribution; the standard "
    "error includes the error of this estimate (as in riskRegression::Score of R)."
)


@dataclass(frozen=True)
class SurvivalMetric(SmoothMetric):
    """A metric of survival times, whose linearised values replace losses.

    Attributes
    ----------
    times : tuple of float
        The times at which probabilities of an event are needed; empty if any risk is sufficient.
    compares_pairs : bool
        Whether only the order of risks matters, so that they need not be probabilities.
    remark : str
        How its standard error accounts for the censoring.
    no_value : callable
        A function of survival times that returns why the metric has no value; "" if it has a value.
    in_sets : callable
        A function of the survival times of a sample that returns the metric of its test sets.
    """

    limits: tuple[float, float] = SHARE
    times: tuple[float, ...] = ()
    compares_pairs: bool = field(default=True, kw_only=True)
    remark: str = ESTIMATED
    no_value: Callable[[SurvivalTimes], str] = None  # type: ignore[assignment]
    in_sets: Callable[[SurvivalTimes], MetricOfSets] = None  # type: ignore[assignment]

    outputs: ClassVar[tuple[str, ...]] = SURVIVAL_OUTPUTS
    of_survival: ClassVar[bool] = True

    @property
    def wants(self) -> tuple[Any, ...]:
        """The accepted kinds of predictions: any risk if only order matters, or its own kind."""
        return ("risk",) if self.compares_pairs else (self.output, *self.times)

    @property
    def wants_in_words(self) -> str:
        """The risk, or probabilities by some times."""
        kind, *times = self.wants
        return f"{kind} by {', '.join(f'{time:g}' for time in times)}" if times else kind

    def times_of(self, y: Any, pos_label: Any) -> SurvivalTimes:
        """The survival times that a user passes as the response.

        Raises
        ------
        ValueError
            If `y` contains anything else, or a positive class is named.
        """
        if pos_label is not None:
            raise ValueError(
                f"{arg('pos_label')} does not apply with {arg('metric', self.name)}, which is "
                "about survival times: leave it out"
            )
        times = as_survival(y)
        if times is None:
            raise ValueError(
                f"{arg('metric', self.name)} needs survival times: pass "
                f"{call('survival', 'time, event')} as y"
            )
        return times


def harrell(tau: float | None = None) -> SurvivalMetric:
    """Harrell's concordance: the share of comparable pairs that risks put in the right order.

    Parameters
    ----------
    tau : float, optional
        Only events up to this time count, as with ``ymax`` of R's ``survival::concordance``.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If `tau` is not a number above 0.

    Notes
    -----
    A pair is comparable if the shorter time ended with the event. If two times are equal, an event
    comes before a censored time. Ties of risks count half. The estimand depends on the distribution
    of censoring; the estimand of `uno` does not.

    References
    ----------
    F. Harrell, K. Lee, D. Mark (1996), Multivariable prognostic models: issues in developing
    models, evaluating assumptions and adequacy, and measuring and reducing errors, Statistics in
    Medicine 15.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y = uv.survival([5, 8, 3, 9, 4, 7], [1, 0, 1, 1, 0, 1])
    >>> losses = uv.Losses.from_predictions(y, {"a": [4, 2, 3, 1, 5, 6]}, metric="harrell")
    >>> round(float(losses.means[0, 0]), 3)
    0.6
    """
    return concordance("harrell", "concordance (Harrell)", tau, DEPENDS, 0)


def uno(tau: float | None = None) -> SurvivalMetric:
    """Uno's concordance: pairs weighted so that it does not depend on the censoring.

    Parameters
    ----------
    tau : float, optional
        Only events up to this time count. Without it, late events, before which most other
        observations are censored, have large weights.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If `tau` is not a number above 0.

    Notes
    -----
    A pair whose event is at t has the weight 1/G(t-)^2, where G is Kaplan and Meier's estimate of
    the distribution of censoring times (``timewt="n/G2"`` of R's ``survival::concordance``, which
    also treats the weights as known). Ties are as in `harrell`.

    References
    ----------
    H. Uno, T. Cai, M. Pencina, R. D'Agostino, L. Wei (2011), On the C-statistics for evaluating
    overall adequacy of risk prediction procedures with censored survival data, Statistics in
    Medicine 30.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y = uv.survival([5, 8, 3, 9, 4, 7], [1, 0, 1, 1, 0, 1])
    >>> losses = uv.Losses.from_predictions(y, {"a": [4, 2, 3, 1, 5, 6]}, metric=uv.metrics.uno(7))
    >>> losses.loss, round(float(losses.means[0, 0]), 3)
    ('uno(7)', 0.644)
    """
    return concordance("uno", "concordance (Uno)", tau, KNOWN, -2)


def auc(at: float) -> SurvivalMetric:
    """AUC at a time: observations with the event by then against observations followed beyond.

    Parameters
    ----------
    at : float

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If `at` is not a number above 0.

    Notes
    -----
    Events at t have the weight 1/G(t-), where G is Kaplan and Meier's estimate of the distribution
    of censoring times. Any risk is sufficient, because only its order matters. Learners predict the
    probability of an event by this time.

    References
    ----------
    P. Blanche, J.-F. Dartigues, H. Jacqmin-Gadda (2013), Estimating and comparing time-dependent
    areas under receiver operating characteristic curves for censored event times with competing
    risks, Statistics in Medicine 32.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y = uv.survival([5, 8, 3, 9, 4, 7], [1, 0, 1, 1, 0, 1])
    >>> losses = uv.Losses.from_predictions(y, {"a": [4, 2, 3, 1, 5, 6]}, metric=uv.metrics.auc(5))
    >>> round(float(losses.means[0, 0]), 3)
    0.667
    """
    time = _time("at", at)
    return _of_pairs(
        f"auc({written(time)})",
        f"AUC at {time:g}",
        partial(_pairs, last=time, power=-1, beyond=True),
        "event_probability",
        by=f" by {time:g}",
        without_pairs=f"nobody is followed beyond {time:g}",
        times=(time,),
    )


def brier(at: float) -> SurvivalMetric:
    """Brier score at a time: the squared error of the probability of an event by then.

    Parameters
    ----------
    at : float

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If `at` is not a number above 0.

    Notes
    -----
    Events at t have the weight 1/G(t-), observations followed beyond `at` the weight 1/G(at), and
    observations censored before it the weight 0. The prediction is the probability of the event,
    one minus the probability of survival.

    References
    ----------
    E. Graf, C. Schmoor, W. Sauerbrei, M. Schumacher (1999), Assessment and comparison of prognostic
    classification schemes for survival data, Statistics in Medicine 18. T. Gerds, M. Kattan (2021),
    Medical risk prediction models, Chapman and Hall/CRC: the contribution of the weights.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y = uv.survival([5, 8, 3, 9, 4, 7], [1, 0, 1, 1, 0, 1])
    >>> risk = [0.6, 0.2, 0.8, 0.1, 0.6, 0.4]
    >>> losses = uv.Losses.from_predictions(y, {"a": risk}, metric=uv.metrics.brier(5))
    >>> round(float(losses.means[0, 0]), 3)
    0.084
    """
    time = _time("at", at)
    return _brier(f"brier({written(time)})", f"Brier score at {time:g}", (time,))


def integrated_brier(times: Any) -> SurvivalMetric:
    """The mean over time of Brier scores, by the trapezoid rule between the times.

    Parameters
    ----------
    times : array-like, shape (K,)
        At least two, ascending. Predictions have a column for each: see `brier`.

    Returns
    -------
    metric

    Raises
    ------
    ValueError
        If `times` are fewer than two or not ascending.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y = uv.survival([5, 8, 3, 9, 4, 7], [1, 0, 1, 1, 0, 1])
    >>> risk = [[0.3, 0.6], [0.1, 0.2], [0.4, 0.8], [0.0, 0.1], [0.3, 0.6], [0.2, 0.4]]
    >>> metric = uv.metrics.integrated_brier([3, 5])
    >>> losses = uv.Losses.from_predictions(y, {"a": risk}, metric=metric)
    >>> losses.loss, round(float(losses.means[0, 0]), 3)
    ('integrated_brier(3,5)', 0.091)
    """
    grid = as_numbers("times", list(times) if isinstance(times, Iterable) else times)
    if grid.ndim != 1 or len(grid) < 2 or not (np.diff(grid) > 0).all():
        raise ValueError(f"times must be two numbers or more, ascending, got {excerpt(times)}")
    points = tuple(_time("times", time) for time in grid.tolist())
    name = f"integrated_brier({','.join(map(written, points))})"
    metric_in_words = f"integrated Brier score from {points[0]:g} to {points[-1]:g}"
    return _brier(name, metric_in_words, points)


def _brier(name: str, metric_in_words: str, at: tuple[float, ...]) -> SurvivalMetric:
    def no_value(times: SurvivalTimes) -> str:
        if Censoring.of(times).at(at[-1]) > 0:
            return ""
        return f"nobody is followed up to {at[-1]:g}, because the last are censored earlier"

    return _metric(
        name,
        metric_in_words,
        partial(BrierOfSets.of, at=at),
        "event_probability",
        greater_is_better=False,
        times=at,
        compares_pairs=False,
        no_value=no_value,
    )


def concordance(
    name: str, metric_in_words: str, tau: float | None, remark: str, power: int
) -> SurvivalMetric:
    """The name, with "up to" a time if there is one."""
    last, by = math.inf, ""
    if tau is not None:
        last, by = _time("tau", tau), f" by {tau:g}"
        name, metric_in_words = f"{name}({written(last)})", f"{metric_in_words} up to {tau:g}"
    pairs = partial(_pairs, last=last, power=power)
    without_pairs = "no pair is comparable, because no time is longer than one with an event"
    return _of_pairs(*(name, metric_in_words, pairs, "risk", by, without_pairs), remark=remark)


def _of_pairs(
    name: str,
    metric_in_words: str,
    in_sets: Callable[[SurvivalTimes], PairsOfSets],
    output: Output,
    by: str,
    without_pairs: str,
    **declared: Any,
) -> SurvivalMetric:
    """A share of pairs; it has no value without an event, or without a pair."""

    def no_value(times: SurvivalTimes) -> str:
        pairs = in_sets(times)
        first, second = (pairs.time_rank[part > 0] for part in (pairs.first, pairs.second))
        if not len(first):
            return f"nobody had the event{by}"
        return "" if len(second) and first.min() < second.max() else without_pairs

    return _metric(name, metric_in_words, in_sets, output, no_value=no_value, **declared)


def _pairs(times: SurvivalTimes, *, last: float, power: int, beyond: bool = False) -> PairsOfSets:
    """Pairs of an event at t, up to the `last` time, with the weight G(t-) to a power.

    The other observation has a longer time, or the same time and is censored; or it is followed
    `beyond` the last time, and then the estimation of G has its effect.
    """
    censoring = Censoring.of(times)
    cases = times.event & (times.time <= last)
    first = np.zeros(times.n_obs)
    first[cases] = censoring.before(times.time[cases]) ** power
    if beyond:
        return PairsOfSets(times, ~cases * 1, first, (times.time > last) * 1.0, censoring, last)
    later = 2 * np.unique(times.time, return_inverse=True)[1] + ~times.event
    return PairsOfSets(times, later, first, np.ones(times.n_obs))


def _metric(
    name: str,
    metric_in_words: str,
    in_sets: Callable[[SurvivalTimes], MetricOfSets],
    output: Output,
    **declared: Any,
) -> SurvivalMetric:
    of_times = OfTimes(in_sets)
    return SurvivalMetric(
        name,
        output=output,
        estimand=metric_in_words,
        made_for=lambda classes: of_times,
        in_sets=in_sets,
        **declared,
    )


def _time(name: str, value: Any) -> float:
    if not is_number(value) or not 0 < value < math.inf:
        raise ValueError(f"{name} must be a time above 0, got {excerpt(value)}")
    return float(value)
