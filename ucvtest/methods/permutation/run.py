"""The permutation estimate: from labelings that are fitted, or in closed form."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ucvtest.common.runtime import Execution
from ucvtest.data.sample import Sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.kernels.permutation import Sampling, smoother_complexity, smoother_optimism
from ucvtest.learners.base import Learner
from ucvtest.losses.loss import Loss
from ucvtest.methods.permutation.labelings import all_labels, draw_batches, reference_labels
from ucvtest.methods.permutation.optimism import Optimism, find_smoother, optimism, relabeled_losses
from ucvtest.methods.permutation.plan import Options

__all__ = ["Found", "from_labelings", "in_closed_form"]


@dataclass(frozen=True, eq=False)
class Found:
    """Estimates, and the labelings that they come from: None for the closed form."""

    e_in: float
    e_gen: float
    p_in: float
    mc_se: Mapping[str, float]
    n_fits: int
    one_class_fits: int
    ties: Mapping[str, int]
    relabeled: Optimism | None

    @property
    def e_out(self) -> float:
        """The estimate of the out-of-sample error."""
        return self.e_in + self.e_gen


def from_labelings(
    sample: Sample, learner: Learner, loss: Loss, options: Options, execution: Execution
) -> Found:
    """Fit labelings drawn at random, or all of them."""
    evaluator = Evaluator.run_by(execution, sample, learner, loss.output)
    # Seeds of the fits come from a stream of their own, so that labels depend on rng alone.
    seeds = np.random.default_rng(int(execution.generator.integers(2**63 - 1)))
    real = sample.target[None]
    predictions = evaluator.predict_labelings(real, seeds.integers(2**31 - 1, size=1))
    execution.bar.update(1)
    e_in = relabeled_losses(loss, sample, predictions.values, real, sample.target)["e_in"]
    batches = _batches(sample.target, options, execution)
    found = optimism(evaluator, sample, loss, options.sampling, batches, seeds, execution.bar)
    ties = Counter(predictions.ties)
    ties.update(found.ties)
    return Found(
        e_in=float(e_in[0]),
        e_gen=found.mean("e_gen"),
        p_in=found.mean("p_in"),
        mc_se={name: found.mc_se(name) for name in ("e_gen", "p_in")},
        n_fits=1 + len(found.e_in),
        one_class_fits=evaluator.one_class_fits,
        ties=ties,
        relabeled=found,
    )


def _batches(
    target: np.ndarray, options: Options, execution: Execution
) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    if options.exact:
        return all_labels(target, options.sampling, execution.batch_size)
    n_drawn = int(options.n_permutations)
    return draw_batches(
        execution.generator, target, options.sampling, n_drawn, execution.batch_size
    )


def in_closed_form(
    sample: Sample, learner: Learner, sampling: Sampling, execution: Execution
) -> Found:
    """The mean over all labelings, from the matrix of a linear smoother."""
    matrix, n_fits = find_smoother(learner, sample, execution.n_jobs)
    n_fits = max(n_fits, 1)
    execution.bar.update(n_fits)
    y, n = sample.target, sample.n_obs
    drawn = reference_labels(y, sampling)
    mean, variance = float(drawn.mean()), float(drawn.var())
    trace, total = float(np.trace(matrix)), float(matrix.sum())
    p_in = smoother_complexity(mean, variance, trace, total, n, sampling)
    if sample.n_classes == 2:
        # The same with labels and fitted values in -1, 1 instead of 0, 1.
        p_in = 4 * p_in - 2 * mean - 2 * mean * total / n + 1
    e_gen = smoother_optimism(variance, trace, total, n, sampling)
    return Found(
        e_in=float(np.mean((y - matrix @ y) ** 2)),
        e_gen=float(e_gen),
        p_in=float(p_in),
        mc_se=dict.fromkeys(("e_gen", "p_in"), 0.0),
        n_fits=n_fits,
        one_class_fits=0,
        ties={},
        relabeled=None,
    )
