"""One learner on many samples of the same size, as simulations need it."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from ucvtest.common.execution import Execution
from ucvtest.common.float64 import in_float64, jax, jit, jnp
from ucvtest.data.sample import Sample, as_response, make_sample, taken_for_classes
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.evaluation.problem import checked_costs
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.learners.base import Learner
from ucvtest.learners.jitted.ridge import Ridge
from ucvtest.learners.runner import Data
from ucvtest.metrics.loss import Loss, losses_where_tested
from ucvtest.metrics.names import as_loss, output_of

Sampler = Callable[[np.random.Generator, int], tuple[Any, Any]]
"""``sampler(rng, n)`` draws features (n, p) and responses (n,) of n independent observations."""

PILOT_OBS = 1000
"""Observations drawn to see which classes there are."""

CHUNK_CELLS = 2**16
"""Losses and features of the samples that are fitted in one call: about a processor's cache."""


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
        self._n_jobs = n_jobs

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
        for sign, learner in zip((1, -1), self.learners, strict=False):
            predictions = self._predictions(learner, samples, seeds)
            for row, sample in enumerate(samples):
                row_losses = losses_where_tested(self.loss, sample, predictions[row], self._testing)
                total[row] += sign * row_losses
        return total

    def _predictions(
        self, learner: Learner, samples: list[Sample], seeds: np.ndarray
    ) -> Sequence[np.ndarray]:
        """Of every sample (R, n): all in one call by ridge regression, where that is the quickest.

        As in the learner itself, equations are for the features unless there are more of them than
        observations.
        """
        if isinstance(learner, Ridge) and not learner.standardize:
            n_columns = self._pilot.matrix.shape[1] + learner.penalize_intercept
            if n_columns <= self._learning.sum(axis=1).min():
                return _by_ridge(learner, samples, self._learning, self.loss.output)
        task = delayed(_predicted)
        of_each = (learner, self.loss.output, self._learning, self._testing)
        return Parallel(n_jobs=self._n_jobs)(
            task(sample, *of_each, row) for sample, row in zip(samples, seeds, strict=True)
        )

    def _draw(self, rng: np.random.Generator, n_obs: int) -> tuple[Any, np.ndarray]:
        X, y = self._sampler(rng, n_obs)
        return X, as_response(y)

    def _sample(self, X: Any, y: np.ndarray) -> Sample:
        """A sample with the classes of the pilot, even where one of them is absent."""
        classes = self._pilot.classes
        if classes is None:
            return make_sample(X, y, as_classes=False)
        return Sample(X, y, classes, np.searchsorted(classes, y))


def _predicted(
    sample: Sample,
    learner: Learner,
    output: Any,
    learning: np.ndarray,
    testing: np.ndarray,
    seeds: np.ndarray,
) -> np.ndarray:
    evaluator = Evaluator(sample, learner, output, Execution.of(0, 1, None))
    return evaluator.predict(learning, testing, seeds).values


def _by_ridge(
    learner: Ridge, samples: list[Sample], learning: np.ndarray, output: Any
) -> np.ndarray:
    features = np.stack([sample.matrix for sample in samples])
    response = np.stack([sample.target for sample in samples])
    scores = _ridge_scores(learner, features, response, learning.astype(float))
    if output != "label":
        return scores
    return learner.elect(scores.reshape(-1, scores.shape[2])).values.reshape(scores.shape)


@in_float64
@partial(jit, static_argnums=0)
def _ridge_scores(
    learner: Ridge, features: jax.Array, response: jax.Array, learning: jax.Array
) -> jax.Array:
    """Fitted values (B, R, n) of every learning set (R, n) in every sample (B, n, p)."""
    if learner.penalize_intercept:
        x = jnp.concatenate([jnp.ones_like(features[:, :, :1]), features], axis=2)
    else:
        x = features - features.mean(axis=1, keepdims=True)
    of_sets = jax.vmap(learner.fit, in_axes=(None, 0))
    return jax.vmap(lambda x, y: of_sets(Data(x, y), learning))(x, response)
