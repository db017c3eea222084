"""Cox's proportional hazards with a ridge penalty, by Newton's method."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ucvtest.common.checks import check_choice
from ucvtest.common.float64 import jax, jnp
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import Predictions, Scale, short_name
from ucvtest.learners.jitted.newton import NewtonLearner, minimise
from ucvtest.learners.jitted.penalties import PenaltyScale, as_penalty
from ucvtest.learners.runner import Data, State
from ucvtest.learners.solvers.linear_algebra import products, symmetric
from ucvtest.learners.survival import SurvivalLearner, check_survival

Ties = Literal["efron", "breslow"]

NEAR, CONVERGED = 1e-3, 1e-6
"""Largest change of a coefficient in the last step, in standard units and relative to the largest
one, of the start and of the fit. The error after a step is about its square."""

CANCELLED = 1e-11
"""Share of its first part up to which an element of the diagonal of the Hessian is rounding error,
as in a likelihood without a maximum."""

LEAST = float(np.finfo(float).tiny)

MOST_EXPONENT = 700.0
"""What exp can take."""

SUMMED = 32
"""Observations in a block of running sums: `padded_size` is a multiple of it."""

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
    return Cox(as_penalty(lam), ties, standardize, scale, max_iter)


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
    """The places (n,) of the first and the last observation of the same time; () without ties."""


@dataclass(frozen=True)
class Cox(SurvivalLearner, NewtonLearner):
    """Cox's proportional hazards with a ridge penalty; made by `cox`."""

    lam: float = 0.0
    ties: Ties = "efron"
    standardize: bool = False
    penalty_scale: PenaltyScale = "sum"
    max_iter: int = MOST_ITERATIONS

    scale: ClassVar[Scale] = "fitted"
    numbers: ClassVar[tuple[str, ...]] = (*NewtonLearner.numbers, "times")
    no_solution: ClassVar[str] = (
        "the partial likelihood has no maximum in this learning set, or Newton's method has not "
        "reached it: raise lam, as in 'cox:0.1' (without a penalty, a feature that orders all "
        "events, or is constant, has no coefficient), or raise max_iter"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("ties", self.ties, ("efron", "breslow"))

    @property
    def name(self) -> str:
        """``cox``, or ``cox:lam``, and what differs from the defaults."""
        options = {
            "ties": (self.ties, "efron"),
            "standardize": (self.standardize, False),
            "scale": (self.penalty_scale, "sum"),
            "max_iter": (self.max_iter, MOST_ITERATIONS),
        }
        return short_name("cox", [self.lam] if self.lam else [], options)

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
        tied = () if begins.all() else (first[group], last[group])
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
        zero = jnp.zeros(data.x.shape[1])
        everything = self._likelihood(data, by_time.real)
        begin = minimise(everything.derivatives, zero, self.max_iter, NEAR)
        likelihood = self._likelihood(data, w[by_time.order] * by_time.real)
        begin = jnp.where(jnp.isnan(begin), 0.0, begin)
        b = minimise(likelihood.derivatives, begin, self.max_iter, CONVERGED)
        if not self.times:
            return b @ (data.x + centre).T
        _, _, increments, largest = likelihood.risk_sets(b)
        until = jnp.stack(self.times)
        hazard = (by_time.time <= until[:, None]).astype(float) @ increments
        ratio = jnp.exp(jnp.minimum(data.x @ b - largest, MOST_EXPONENT))
        return -jnp.expm1(-ratio[:, None] * hazard)

    def _likelihood(self, data: Data, w: jax.Array) -> "PartialLikelihood":
        """That of a learning set by time (n,)."""
        by_time, (unit, _) = data.more, data.shared
        died = w * by_time.event
        share = None
        # Without tied times both ways are the same, and one is quicker.
        if self.ties == "efron" and by_time.tied:
            earlier = running(died) - died
            first, last = by_time.tied
            earlier = earlier - earlier[first]
            share = died * earlier / jnp.maximum((earlier + died)[last], 1.0)
        penalty = self.penalty(by_time.x, w, unit)
        return PartialLikelihood(by_time.x, w, died, by_time.tied, share, penalty)


class PartialLikelihood(NamedTuple):
    """A penalised negative log partial likelihood; observations come the latest first."""

    x: jax.Array
    """(n, q)"""
    w: jax.Array
    """(n,) 0 or 1."""
    died: jax.Array
    """(n,) the deaths among them."""
    tied: Any
    """As in `ByTime`."""
    share: jax.Array | None
    """(n,) the share of tied deaths that has left the risk set before each, by Efron; or None."""
    penalty: jax.Array
    """(q,)"""

    def risk_sets(self, b: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
        """Weights exp(x'b) (n,), their and the features' sums over risk sets (1 + q, n).

        With the additions of deaths to the cumulative hazard (n,); all but for a factor, whose
        logarithm comes last.
        """
        eta = self.x @ b
        largest = jnp.where(self.w > 0, eta, -jnp.inf).max()
        relative = self.w * jnp.exp(jnp.minimum(eta - largest, 0.0))
        columns = jnp.concatenate([jnp.ones_like(self.x[:, :1]), self.x], axis=1).T
        sums = self._at_last(running(relative * columns))
        if self.share is not None:
            died = self.died * relative * columns
            tied = running(died)
            tied = self._at_last(tied) - self._at_first(tied - died)
            sums = sums - self.share * tied
        # Late ones without a member have no deaths either.
        sums = sums.at[0].max(LEAST)
        return relative, sums, self.died / sums[0], largest

    def derivatives(self, b: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Gradient and Hessian at a point; NaN on the diagonal where no digit of it is left."""
        relative, sums, increments, _ = self.risk_sets(b)
        means = sums[1:] / sums[0]
        gradient = means @ self.died - self.died @ self.x + self.penalty * b
        # From the end, so that small hazards are not differences of large ones.
        hazard = self._at_first(running(increments, from_end=True))
        if self.share is not None:
            shares = running(self.share * increments, from_end=True)
            own = self._at_first(shares) - self._at_last(shares - self.share * increments)
            hazard = hazard - self.died * own
        plus = symmetric((relative * hazard) @ products(self.x), len(b))
        hessian = plus - (self.died * means) @ means.T + jnp.diag(self.penalty)
        lost = jnp.diagonal(hessian) <= CANCELLED * jnp.diagonal(plus)
        return gradient, jnp.where(jnp.diag(lost), jnp.nan, hessian)

    def _at_first(self, sums: jax.Array) -> jax.Array:
        return _at(sums, self.tied[0]) if self.tied else sums

    def _at_last(self, sums: jax.Array) -> jax.Array:
        return _at(sums, self.tied[1]) if self.tied else sums


def _at(sums: jax.Array, places: jax.Array) -> jax.Array:
    # The places are known to exist, which saves looking.
    return sums.at[..., places].get(mode="promise_in_bounds")


def running(values: jax.Array, *, from_end: bool = False) -> jax.Array:
    """Cumulative sums along the last axis, in blocks by matrix products: `jnp.cumsum` is slow."""
    blocks = values.reshape(*values.shape[:-1], -1, SUMMED)
    within = jnp.triu(jnp.ones((SUMMED, SUMMED)))
    between = jnp.triu(jnp.ones((blocks.shape[-2],) * 2), 1)
    if from_end:
        within, between = within.T, between.T
    inside = blocks @ within
    whole = inside[..., 0 if from_end else -1]
    return (inside + (whole @ between)[..., None]).reshape(values.shape)
