"""Cox's proportional hazards with a ridge penalty, many learning sets at once."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ucvtest.common.checks import check_choice
from ucvtest.common.float64 import in_float64, jax, jit, jnp, to_device
from ucvtest.common.padding import padded
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import Scale, short_name
from ucvtest.learners.batching import padded_rows, padded_size, rows_for_cache
from ucvtest.learners.jitted.padded_blocks import in_blocks
from ucvtest.learners.jitted.penalties import (
    PenaltyScale,
    as_penalty,
    check_coefficients,
    check_penalty,
    check_without_penalty,
)
from ucvtest.learners.solvers.linear_algebra import (
    penalty_weights,
    principal_components,
    products,
)
from ucvtest.learners.solvers.newton import descend
from ucvtest.learners.solvers.partial_likelihood import (
    PartialLikelihood,
    TiedTimes,
    cumulative_hazard,
    efron_shares,
    latest_first,
    tied_times,
)
from ucvtest.learners.survival import JittedSurvivalLearner

Ties = Literal["efron", "breslow"]

MOST_COEFFICIENTS = 300
"""Most equations of a system: larger ones would take longer, and more memory, than single fits."""

CONVERGED = 1e-6
"""Largest change of a coefficient in the last step, in standard units and relative to the
largest one. The error after a Newton step is about its square."""

CACHE_NUMBERS = 2**16
"""Numbers that the sums over risk sets of one block of learning sets may contain."""

LEAST_ROWS = 32
"""Learning sets in one block, at least: the minor axis must fill the vector units."""

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
    return Cox(as_penalty(lam), ties, standardize, scale, max_iter)


class Shared(NamedTuple):
    """What all learning sets share; N >= n observations, the latest first, the last ones empty."""

    x: Any
    """(N, q): the features in standard units, or their principal components."""
    pairs: Any
    """(N, q (q + 1)/2): products of these columns."""
    event: Any
    """(N,): 0 or 1."""
    time: Any
    """(N,)"""
    tied: TiedTimes
    unit: Any
    """(q,): what the features were divided by."""
    centre: Any
    """(q,): the part subtracted from the features, in standard units."""
    start: Any
    """(q,): the coefficients where Newton's method starts."""


class CoxState(NamedTuple):
    """What all fits share, as JAX arrays, and how to come back to the sample."""

    shared: Shared
    order: np.ndarray
    """(n,): the place that each of these observations has in the sample."""
    ties_matter: bool
    """Whether events have the same time."""


@dataclass(frozen=True)
class Cox(JittedSurvivalLearner):
    """Cox's proportional hazards with a ridge penalty; made by `cox`."""

    lam: float = 0.0
    ties: Ties = "efron"
    standardize: bool = False
    penalty_scale: PenaltyScale = "sum"
    max_iter: int = MOST_ITERATIONS

    scale: ClassVar[Scale] = "fitted"
    batch_rows: ClassVar[int] = 512
    no_solution: ClassVar[str] = (
        "the partial likelihood has no maximum in this learning set, or Newton's method has not "
        "reached it: raise lam, as in 'cox:0.1' (without a penalty, a feature that orders all "
        "events, or is constant, has no coefficient), or raise max_iter"
    )

    def __post_init__(self) -> None:
        check_penalty(self.lam, self.penalty_scale, self.max_iter)
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
        """Refuse also too many coefficients, for the method or for the learning sets."""
        super().check(sample, output, learn_size)
        check_without_penalty(self, self.lam, sample, learn_size)
        n_coefficients = sample.matrix.shape[1] if self.standardize else min(sample.matrix.shape)
        alternatives = "or scikit-survival's CoxnetSurvivalAnalysis"
        check_coefficients(self, n_coefficients, MOST_COEFFICIENTS, sample, alternatives)

    def rows_per_call(self, sample: Sample) -> int:
        """Fewer for more features, so that the matrices of one call have room."""
        size = min(sample.matrix.shape[1], MOST_COEFFICIENTS)
        fitting = rows_for_cache(size * (size + sample.n_obs), 2**22, LEAST_ROWS)
        return min(super().rows_per_call(sample), fitting)

    def prepare(self, sample: Sample) -> CoxState:
        """Standard units, products of columns, and the fit to all observations as the start."""
        times = sample.survival_times
        assert times is not None
        order = latest_first(times.time, times.event)
        features, centre = _columns(sample.matrix[order], standardize=self.standardize)
        spread = features.std(axis=0)
        unit = np.where(spread > 0, spread, 1.0)
        x = features / unit
        time, event = times.time[order], times.event[order]
        # Those that fill up come last and are the earliest.
        filled = padded(time, padded_size(len(time)), 0, fill=-1.0)
        zero = np.zeros(len(unit))
        arrays = (padded_rows(x), padded_rows(products(x)), padded_rows(event.astype(float)))
        shared = Shared(
            *to_device((*arrays, filled, tied_times(filled), unit, centre / unit, zero))
        )
        _, number = np.unique(time[event], return_counts=True)
        state = CoxState(shared, order, bool((number > 1).any()))
        everything = np.ones((self.rows_per_call(sample), sample.n_obs), dtype=bool)
        b, done, _ = self._fit(state, everything, None)
        start_coefficients = to_device(np.where(done[0], b[0], 0.0))
        return state._replace(shared=shared._replace(start=start_coefficients))

    def risks(self, state: CoxState, learning: np.ndarray) -> np.ndarray:
        """The linear predictor; NaN where a fit did not converge."""
        return self._scored(state, learning, None)

    def event_probabilities(
        self, state: CoxState, learning: np.ndarray, times: np.ndarray
    ) -> np.ndarray:
        """Probabilities of an event by each of the times; NaN where a fit did not converge."""
        return self._scored(state, learning, times)

    def _scored(
        self, state: CoxState, learning: np.ndarray, times: np.ndarray | None
    ) -> np.ndarray:
        _, _, scores = self._fit(state, learning, times)
        ordered_scores = np.empty((*learning.shape, *scores.shape[2:]))
        ordered_scores[:, state.order] = scores[:, : learning.shape[1]]
        return ordered_scores

    @in_float64
    def _fit(self, state: CoxState, learning: np.ndarray, times: np.ndarray | None) -> Any:
        """Coefficients (R, q), whether they have converged, and risks or probabilities."""
        rows = padded_rows(learning[:, state.order], axis=1)
        size = rows_for_cache(rows.shape[1] * state.shared.x.shape[1], CACHE_NUMBERS, LEAST_ROWS)
        # Without ties both ways are the same, and one is quicker.
        efron = self.ties == "efron" and state.ties_matter
        settings = (self.lam, self.max_iter, self.penalty_scale == "mean", self.standardize)
        return _newton(state.shared, rows, times, *settings, size, efron)


def _columns(features: np.ndarray, *, standardize: bool) -> tuple[np.ndarray, np.ndarray]:
    """Centred columns, few of many where there are more than observations, and their centre."""
    centre = features.mean(axis=0)
    columns = features - centre
    if standardize or columns.shape[1] < columns.shape[0]:
        return columns, centre
    components = principal_components(columns)
    return components, centre @ (columns.T @ components) / (components**2).sum(axis=0)


@partial(jit, static_argnums=(6, 7, 8))
def _newton(
    shared: Shared,
    learning: jax.Array,
    times: jax.Array | None,
    lam: float,
    max_iter: int,
    mean_scale: bool,
    standardize: bool,
    size: int,
    efron: bool,
) -> Any:
    """Fits of learning sets (R, N), `size` of them at a time."""
    x, pairs, event, time, tied, unit, centre, start_coefficients = shared

    def fit(rows: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        weight = rows.T.astype(x.dtype)
        died = weight * event[:, None]
        penalty = penalty_weights(x, weight, lam, unit, mean_scale, standardize)
        shares = efron_shares(died, tied) if efron else None
        likelihood = PartialLikelihood(x, pairs, weight, died, shares, tied, penalty)
        n_sets = weight.shape[1]
        begin = jnp.broadcast_to(start_coefficients[:, None], (len(start_coefficients), n_sets))
        none = jnp.zeros(n_sets, dtype=bool)
        b, done = descend(likelihood, begin, none, max_iter=max_iter, tolerance=CONVERGED)
        b = jnp.where(done, b, jnp.nan)
        score = jnp.einsum("np,pr->rn", x + centre, b, precision="highest")
        if times is not None:
            hazard, largest = cumulative_hazard(likelihood.risks(b), time, times)
            within = jnp.einsum("np,pr->rn", x, b, precision="highest") - largest[:, None]
            ratio = jnp.exp(jnp.minimum(within, MOST_EXPONENT))
            score = -jnp.expm1(-ratio[:, :, None] * hazard.T[:, None])
        return b.T, done, score

    blocks = jax.lax.map(fit, in_blocks(learning, size))
    return jax.tree_util.tree_map(
        lambda block_array: block_array.reshape(-1, *block_array.shape[2:]), blocks
    )
