"""One learner on many samples of the same size, as simulations need it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.common.float64 import in_float64, jax, jit, jnp
from ucvtest.data.sample import Sample, as_response, make_sample, taken_for_classes
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.evaluation.problem import checked_costs
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.learners.base import JittedLearner, Learner
from ucvtest.learners.jitted.ridge import Ridge
from ucvtest.learners.runner import Data
from ucvtest.metrics.loss import Loss, losses_where_tested
from ucvtest.metrics.names import as_loss, output_of

Sampler = Callable[[np.random.Generator, int], tuple[Any, Any]]
"""``sampler(rng, n)`` draws features (n, p) and responses (n,) of n independent observations."""

PILOT_OBS = 1000
"""Observations drawn to see which classes there are."""

CHUNK_CELLS = 2**22
"""Losses and features of the samples that are in memory at a time."""

SYSTEM_NUMBERS, LEARNT_NUMBERS = 2**18, 2**21
"""Numbers that the equations of one call contain, about a processor's second-level cache; and that
the features of its learning sets do."""

FITS_PER_TASK = 256
"""About the fits of one task of a worker."""


class ManySamples:
    """Losses of one learner, or differences of two, on samples drawn one after the other.

    All samples share their learning sets: independent observations may as well stay in the order in
    which they were drawn. ``sampler(rng, n)`` returns features (n, p) and responses (n,); `rng`
    decides samples and seeds, sample by sample; workers are for learners that are not jitted.
    """

    def __init__(
        self,
        sampler: Sampler,
        learners: Sequence[Any],
        learning: np.ndarray,
        testing: np.ndarray,
        *,
        loss: Any,
        rng: np.random.Generator,
        n_jobs: int | None = None,
    ) -> None:
        self._sampler, self._rng = sampler, rng
        self._learning, self._testing = learning, testing
        # A generator of its own, so that the size of the pilot does not change the samples.
        pilot_rng = np.random.default_rng(rng.integers(2**63))
        pilot = self._draw(pilot_rng, PILOT_OBS)
        named = tuple(map(as_learner, learners))
        regresses = any(learner.regresses for learner in named)
        coded = taken_for_classes(pilot[1], output_of(loss), regresses=regresses)
        self.loss: Loss = as_loss(loss, has_classes=coded)
        self._pilot = make_sample(*pilot, as_classes=coded)
        self.learners: tuple[Learner, ...] = tuple(x.for_sample(self._pilot) for x in named)
        self.loss = checked_costs(self.loss, self._pilot)
        for learner in self.learners:
            learner.check(self._pilot, self.loss.output, int(learning.sum(axis=1).min()))
        self._fits = [self._fits_of(learner, n_jobs) for learner in self.learners]

    def losses(self, n_samples: int) -> Iterator[np.ndarray]:
        """Losses where tested, 0 elsewhere: arrays (B, R, n), n_samples rows in all."""
        n_sets, n_obs = self._learning.shape
        size = max(1, CHUNK_CELLS // (n_obs * (n_sets + self._pilot.features.shape[1])))
        for first in range(0, n_samples, size):
            count = min(size, n_samples - first)
            samples, seeds = [], np.empty((count, n_sets), dtype=int)
            for row in range(count):
                samples.append(self._sample(*self._draw(self._rng, n_obs)))
                seeds[row] = self._rng.integers(2**31 - 1, size=n_sets)
            yield self._losses_of(samples, seeds)

    def _losses_of(self, samples: list[Sample], seeds: np.ndarray) -> np.ndarray:
        total = np.zeros((len(samples), *self._learning.shape))
        for sign, fits in zip((1, -1), self._fits, strict=False):
            predictions = fits(samples, seeds)
            for row, sample in enumerate(samples):
                row_losses = losses_where_tested(self.loss, sample, predictions[row], self._testing)
                total[row] += sign * row_losses
        return total

    def _draw(self, rng: np.random.Generator, n_obs: int) -> tuple[Any, np.ndarray]:
        X, y = self._sampler(rng, n_obs)
        return X, as_response(y)

    def _sample(self, X: Any, y: np.ndarray) -> Sample:
        """A sample with the classes of the pilot, even where one of them is absent."""
        classes = self._pilot.classes
        if classes is None:
            return make_sample(X, y, as_classes=False)
        return Sample(X, y, classes, np.searchsorted(classes, y))

    def _fits_of(self, learner: Learner, n_jobs: int | None) -> Any:
        output = self.loss.output
        if not isinstance(learner, JittedLearner):
            return _EvaluatorFits(learner, output, self._learning, self._testing, n_jobs)
        fits = _JittedFits(learner, output, self._learning, self._testing)
        if isinstance(learner, Ridge) and not learner.standardize:
            # As in the learner itself, equations for the features unless there are more of
            # them than observations.
            n_columns = self._pilot.matrix.shape[1] + learner.penalize_intercept
            if n_columns <= self._learning.sum(axis=1).min():
                fits = _RidgeFits(learner, output, self._learning, self._testing)
        return fits


@dataclass(frozen=True, eq=False)
class _JittedFits:
    """A jitted learner, sample by sample: its learning sets are one call of one shape."""

    learner: JittedLearner
    output: Any
    learning: np.ndarray
    testing: np.ndarray

    def __call__(self, samples: Sequence[Sample], seeds: np.ndarray) -> np.ndarray:
        predictions = self._predictions(samples)
        for row, sample in enumerate(samples):
            self._predict_single_classes(predictions[row], sample)
        return predictions

    def _predictions(self, samples: Sequence[Sample]) -> np.ndarray:
        return np.stack([self._of(sample) for sample in samples])

    def _of(self, sample: Sample) -> np.ndarray:
        state = self.learner.prepare(sample)
        return self.learner.predict(state, self.learning, self.output, self.testing).values

    def _predict_single_classes(self, predictions: np.ndarray, sample: Sample) -> None:
        """After a learning set with one class, predict that class: the rule of `Evaluator`."""
        if not sample.n_classes:
            return
        learnt = np.where(self.learning, sample.target, np.nan)
        lowest, highest = np.nanmin(learnt, axis=1), np.nanmax(learnt, axis=1)
        single = lowest == highest
        predictions[single] = 0.0 if self.output == "score" else lowest[single, None]


@in_float64
@partial(jit, static_argnums=0)
def _ridge_predictions(
    learner: Ridge, features: jax.Array, response: jax.Array, learning: jax.Array
) -> jax.Array:
    """Fitted values (B, R, n) of every learning set (R, n) in every sample (B, n, p)."""
    if learner.penalize_intercept:
        x = jnp.concatenate([jnp.ones_like(features[:, :, :1]), features], axis=2)
    else:
        x = features - features.mean(axis=1, keepdims=True)
    of_sets = jax.vmap(learner.fit, in_axes=(None, 0))
    return jax.vmap(lambda x, y: of_sets(Data(x, y), learning))(x, response)


class _RidgeFits(_JittedFits):
    """Ridge regression, several samples in one call."""

    learner: Ridge

    def _predictions(self, samples: Sequence[Sample]) -> np.ndarray:
        features = np.stack([sample.matrix for sample in samples])
        response = np.stack([sample.target for sample in samples])
        size = self._samples_per_call(features.shape[2] + 1)
        score_batches = []
        for first_sample in range(0, len(samples), size):
            rows = np.arange(first_sample, first_sample + size)
            # Always calls of one shape: others would have to be compiled, and round differently.
            rows = np.minimum(rows, len(samples) - 1)
            scores = _ridge_predictions(
                self.learner, features[rows], response[rows], self.learning.astype(float)
            )
            score_batches.append(scores[: len(samples) - first_sample])
        scores = np.concatenate(score_batches)
        if self.output != "label":
            return scores
        flat = scores.reshape(-1, scores.shape[2])
        return self.learner.elect(flat).values.reshape(scores.shape)

    def _samples_per_call(self, n_columns: int) -> int:
        n_sets, n_obs = self.learning.shape
        equations = SYSTEM_NUMBERS // n_columns**2 // n_sets
        return max(1, min(equations, LEARNT_NUMBERS // (n_sets * n_obs * n_columns)))


@dataclass(frozen=True, eq=False)
class _EvaluatorFits:
    """Any other learner: whole samples are shared out to joblib's workers."""

    learner: Learner
    output: Any
    learning: np.ndarray
    testing: np.ndarray
    n_jobs: int | None

    def __call__(self, samples: Sequence[Sample], seeds: np.ndarray) -> np.ndarray:
        from joblib import Parallel, delayed

        size = max(1, FITS_PER_TASK // len(self.learning))
        parts = [slice(first, first + size) for first in range(0, len(samples), size)]
        task = delayed(_fit_samples)
        found = Parallel(n_jobs=self.n_jobs)(task(self, samples[at], seeds[at]) for at in parts)
        return np.concatenate(found)


def _fit_samples(fits: _EvaluatorFits, samples: Sequence[Sample], seeds: np.ndarray) -> np.ndarray:
    return np.stack(
        [
            Evaluator(sample, fits.learner, fits.output, Execution.of(0, 1, None))
            .predict(fits.learning, fits.testing, row)
            .values
            for sample, row in zip(samples, seeds, strict=True)
        ]
    )
