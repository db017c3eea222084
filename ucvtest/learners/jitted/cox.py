"""Cox's proportional hazards with a ridge penalty, by Newton's method."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ucvtest.common.float64 import jax, jnp
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import Predictions, Scale
from ucvtest.learners.jitted.newton import NewtonLearner, minimise
from ucvtest.learners.jitted.penalties import Penalty, PenaltyScale, Steps
from ucvtest.learners.runner import Data, State
from ucvtest.learners.solvers.partial_likelihood import PartialLikelihood, TiedTimes
from ucvtest.learners.survival import SurvivalLearner, check_survival

Ties = Literal["efron", "breslow"]

NEAR, CONVERGED = 1e-3, 1e-6
"""Largest change of a coefficient in the last step, in standard units and relative to the largest
one, of the start and of the fit. The error after a step is about its square."""

MOST_EXPONENT = 700.0
"""What exp can take."""

MOST_ITERATIONS = 30
"""Newton steps. Where the likelihood has no maximum, each one moves the logarithm of a hazard ratio
by about 1: before rounding errors could look like convergence, these are used up."""


def cox(
    lam: float = 0.0,
    ties: Ties = "efron",
    standardize: bool = False,
    scale: PenaltyScale = "sum",
    *,
    max_iter: int = MOST_ITERATIONS,
) -> "Cox":
    """Cox's proportional hazards model, with a ridge penalty if wanted.

    Parameters
    ----------
    lam : float
        Weight of the penalty, not negative.
    ties : {"efron", "breslow"}
        The treatment of events at the same time. Without such events both are the same.
    standardize : bool
        Whether the penalty is on coefficients of features that are standardised inside each
        learning set (standard deviation with divisor g), as in glmnet.
    scale : {"sum", "mean"}
        Minimise the negative log partial likelihood + ``lam/2 |b|^2``, or the likelihood divided by
        the number of learning observations.
    max_iter : int
        Newton steps that one fit may take; a fit that needs more has no solution, which the
        evaluation reports as an error.

    Returns
    -------
    Cox
        Its risk is the linear predictor. Its probabilities come from Breslow's baseline hazard,
        which with ``ties="efron"`` has Efron's weights, as in R's ``survfit(coxph())``.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    ``cox()`` is R's ``coxph``, and ``cox(lam)`` that with ``ridge(x, theta=lam, scale=FALSE)``.
    ``cox(alpha)`` has the coefficients of scikit-survival's
    ``CoxPHSurvivalAnalysis(alpha, ties="efron")``, whose default is ``ties="breslow"``.
    ``cox(lam, "breslow", standardize=True, scale="mean")`` is R's glmnet with ``family="cox"`` and
    ``alpha = 0`` at one lambda. Without a penalty there is no solution where a feature orders all
    events of a learning set, or is constant there.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.cox().name, uv.learners.cox(0.5, ties="breslow").name
    ('cox', 'cox:0.5,ties=breslow')
    """
    return Cox(lam, ties, standardize, scale, max_iter)


class ByTime(NamedTuple):
    """The observations by time, the latest first, censored ones before events of one time.

    The risk set of an observation are those before it and those of the same time.
    """

    order: Any
    """(n,) their places in the sample."""
    x: Any
    """(n, q)"""
    event: Any
    """(n,) 0 or 1."""
    time: Any
    """(n,)"""
    real: Any
    """(n,) ones, which the runner pads with zeros."""
    tied: Any
    """`TiedTimes`, or () without any."""


@dataclass(frozen=True)
class Cox(SurvivalLearner, NewtonLearner):
    """Cox's proportional hazards with a ridge penalty; made by `cox`."""

    lam: Penalty = 0.0
    ties: Ties = "efron"
    standardize: bool = False
    penalty_scale: PenaltyScale = "sum"
    max_iter: Steps = MOST_ITERATIONS

    family: ClassVar[str] = "cox"
    scale: ClassVar[Scale] = "fitted"
    numbers: ClassVar[tuple[str, ...]] = (*NewtonLearner.numbers, "times")
    no_solution: ClassVar[str] = (
        "the partial likelihood has no maximum in this learning set, or Newton's method has not "
        "reached it: raise lam, as in 'cox:0.1' (without a penalty, a feature that orders all "
        "events, or is constant, has no coefficient), or raise max_iter"
    )

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse responses that are not survival times, and too many coefficients."""
        check_survival(self.name, sample, output)
        sample.matrix_for(f"learner {self.name}")
        alternatives = "or scikit-survival's CoxnetSurvivalAnalysis"
        self.check_coefficients(sample, learn_size, alternatives)

    def share(self, sample: Sample) -> Data:
        """Columns in standard units, also by time."""
        times = sample.survival_times
        assert times is not None
        x, unit, centre = self.columns(sample.matrix)
        order = np.lexsort((times.event, -times.time))
        time, event = times.time[order], times.event[order]
        begins = np.append(True, time[1:] != time[:-1])
        first, group = np.flatnonzero(begins), np.cumsum(begins) - 1
        last = np.append(first[1:], len(time)) - 1
        tied = () if begins.all() else TiedTimes(begins, first[group], last[group])
        by_time = ByTime(order, x[order], event * 1.0, time, np.ones(len(time)), tied)
        return Data(x, times.event * 1.0, by_time, (unit, centre))

    def predict(
        self,
        state: State,
        learning: np.ndarray,
        output: Output,
        testing: np.ndarray | None = None,
        labels: np.ndarray | None = None,
    ) -> Predictions:
        """Risks (R, n); or probabilities of an event, (R, n) by one time, (R, n, K) by several."""
        if labels is not None:
            raise ValueError(f"learner {self.name} learns survival times, which no test permutes")
        if output == "risk":
            return Predictions(self.predicting_at(()).scores(state, learning), Counter())
        values = self.scores(state, learning)
        return Predictions(values[:, :, 0] if len(self.times) == 1 else values, Counter())

    def fit(self, data: Data, w: jax.Array) -> jax.Array:
        """Linear predictors (n,), or probabilities of an event by each of `times` (n, K)."""
        by_time, (_, centre) = data.more, data.shared
        everything = self._likelihood(data, by_time.real)
        begin = minimise(everything.derivatives, jnp.zeros(data.x.shape[1]), self.max_iter, NEAR)
        likelihood = self._likelihood(data, w[by_time.order] * by_time.real)
        begin = jnp.where(jnp.isnan(begin), 0.0, begin)
        b = minimise(likelihood.derivatives, begin, self.max_iter, CONVERGED)
        if not self.times:
            return b @ (data.x + centre).T
        increments, largest = likelihood.hazard(b)
        until = jnp.stack(self.times)
        hazard = (by_time.time <= until[:, None]).astype(float) @ increments
        ratio = jnp.exp(jnp.minimum(data.x @ b - largest, MOST_EXPONENT))
        return -jnp.expm1(-ratio[:, None] * hazard)

    def _likelihood(self, data: Data, w: jax.Array) -> PartialLikelihood:
        """That of a learning set by time (n,)."""
        by_time, (unit, _) = data.more, data.shared
        penalty = self.penalty(by_time.x, w, unit)
        arrays = by_time.x, w, w * by_time.event, by_time.tied, penalty
        return PartialLikelihood.of(*arrays, efron=self.ties == "efron")
