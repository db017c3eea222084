"""The permutation estimate, from fitted labelings or in closed form."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.data.sample import Sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.evaluation.time_budget import rounds_within
from ucvtest.kernels.permutation import Sampling, smoother_complexity, smoother_optimism
from ucvtest.learners.base import Learner
from ucvtest.methods.permutation.optimism import (
    Optimism,
    clustered_complexity,
    clustered_losses,
    find_smoother,
    optimism,
    relabeled_losses,
)
from ucvtest.methods.permutation.options import PermutationOptions
from ucvtest.methods.permutation.permuted_labels import (
    Relabeling,
    all_labels,
    batch_size,
    draw_batches,
    draw_until,
    reference_labels,
)
from ucvtest.metrics.loss import Loss
from ucvtest.stats.monte_carlo import BatchSizes, SequentialPvalue

TIED = 100 * np.finfo(float).eps
"""In-sample errors that differ by less are equal up to rounding. It is a share of the error itself
and of the error on new labels, because the errors of a rule that interpolates are only rounding."""

JITTED_AT_ONCE = 256
"""Number of labelings that jitted learners fit hardly slower than one."""


@dataclass(frozen=True, eq=False)
class PermutationEstimates:
    """Estimates, and the labelings behind them; None for the closed form."""

    e_in: float
    e_gen: float
    p_in: float
    mc_se: Mapping[str, float]
    n_fits: int
    one_class_fits: int
    ties: Mapping[str, int]
    relabeled: Optimism | None
    sequence: SequentialPvalue | None = None

    @property
    def e_out(self) -> float:
        """The estimate of the out-of-sample error."""
        return self.e_in + self.e_gen


def from_labelings(
    sample: Sample,
    learner: Learner,
    loss: Loss,
    options: PermutationOptions,
    execution: Execution,
    relabeling: Relabeling | None = None,
) -> PermutationEstimates:
    """Fit labelings drawn at random, or all of them."""
    evaluator = Evaluator(sample, learner, loss.output, execution)
    if isinstance(options.n_permutations, int):
        execution.announce_total(options.n_permutations + 1, at_most=options.stop_after is not None)
    # Seeds of the fits come from a separate stream, so that labels depend only on rng.
    seeds = np.random.default_rng(int(execution.generator.integers(2**63 - 1)))
    observed_labels = sample.target[None]
    predictions = evaluator.predict_labelings(observed_labels, seeds.integers(2**31 - 1, size=1))
    if relabeling is None:
        e_in = relabeled_losses(loss, sample, predictions.values, observed_labels, sample.target)[
            "e_in"
        ]
    else:
        e_in = clustered_losses(loss, sample, predictions.values, observed_labels, relabeling)[
            "e_in"
        ]
    if options.stop_after is None:
        batches = _batches(sample.target, options, execution, relabeling)
        sampling = options.sampling
        relabeled_optimism = optimism(
            evaluator, sample, loss, sampling, batches, seeds, relabeling=relabeling
        )
        sequence = None
    else:
        relabeled_optimism, sequence = _sequential(
            evaluator, loss, float(e_in[0]), options, execution, seeds, sample, relabeling
        )
    ties = Counter(predictions.ties)
    ties.update(relabeled_optimism.ties)
    return PermutationEstimates(
        e_in=float(e_in[0]),
        e_gen=relabeled_optimism.mean("e_gen"),
        p_in=relabeled_optimism.mean("p_in"),
        mc_se={name: relabeled_optimism.mc_se(name) for name in ("e_gen", "p_in")},
        n_fits=1 + len(relabeled_optimism.e_in),
        one_class_fits=evaluator.one_class_fits,
        ties=ties,
        relabeled=relabeled_optimism,
        sequence=sequence,
    )


def labelings_within(
    sample: Sample,
    learner: Learner,
    loss: Loss,
    options: PermutationOptions,
    execution: Execution,
    relabeling: Relabeling | None = None,
) -> int:
    """Number of labelings that fit into the time, without the observed one.

    Trials are discarded.
    """
    evaluator = Evaluator(sample, learner, loss.output, execution.trial)
    rng, seeds = np.random.default_rng(0), np.random.default_rng(0)

    def trial(size: int) -> None:
        trial_execution = replace(execution, generator=rng, batch_size=None)
        batches = _batches(
            sample.target, replace(options, n_permutations=size), trial_execution, relabeling
        )
        optimism(evaluator, sample, loss, options.sampling, batches, seeds, relabeling=relabeling)

    assert options.max_seconds is not None
    at_once = evaluator.at_once(labelings=True)
    return rounds_within([(trial, at_once)], options.max_seconds, "fit to permuted labels") - 1


def _sequential(
    evaluator: Evaluator,
    loss: Loss,
    e_in: float,
    options: PermutationOptions,
    execution: Execution,
    seeds: np.random.Generator,
    sample: Sample,
    relabeling: Relabeling | None,
) -> tuple[Optimism, SequentialPvalue]:
    """Fit permuted labels until enough of them have errors as low as the real ones."""
    assert options.stop_after is not None
    size = batch_size(execution.batch_size, sample.target)
    at_once = JITTED_AT_ONCE if evaluator.jitted else 1
    n_most = int(options.n_permutations)
    stopping = BatchSizes(n_most, options.stop_after, size, at_once)
    counted_as_small = []

    def see(relabeled_optimism: Mapping[str, np.ndarray]) -> None:
        counted_as_small.append(
            as_small(
                e_in,
                relabeled_optimism["e_in"],
                relabeled_optimism["e_in"] + relabeled_optimism["e_gen"],
            )
        )
        stopping.record(counted_as_small[-1])

    rng = execution.generator
    if relabeling is None:
        labels = draw_until(rng, sample.target, stopping)
    else:
        labels = relabeling.until(rng, stopping)
    relabeled_optimism = optimism(
        evaluator, sample, loss, options.sampling, labels, seeds, see, relabeling
    )
    sequence = SequentialPvalue.of(np.concatenate(counted_as_small), options.stop_after)
    return relabeled_optimism.first(sequence.n_drawn), sequence


def as_small(e_in: float, permuted_errors: np.ndarray, e_out: np.ndarray | float) -> np.ndarray:
    """Whether labels that were drawn are fitted as well as the real ones, or better."""
    is_small: np.ndarray = permuted_errors <= e_in + TIED * np.maximum(abs(e_in), np.abs(e_out))
    return is_small


def _batches(
    target: np.ndarray,
    options: PermutationOptions,
    execution: Execution,
    relabeling: Relabeling | None,
) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    if relabeling is not None:
        if options.exact:
            return relabeling.every(execution.batch_size)
        number = int(options.n_permutations)
        return relabeling.drawn(execution.generator, number, execution.batch_size)
    if options.exact:
        return all_labels(target, options.sampling, execution.batch_size)
    n_drawn = int(options.n_permutations)
    return draw_batches(
        execution.generator, target, options.sampling, n_drawn, execution.batch_size
    )


def in_closed_form(
    sample: Sample,
    learner: Learner,
    sampling: Sampling,
    execution: Execution,
    relabeling: Relabeling | None = None,
) -> PermutationEstimates:
    """The mean over all labelings, from the matrix of a linear smoother."""
    matrix, n_fits = find_smoother(learner, sample, execution.n_jobs)
    n_fits = max(n_fits, 1)
    execution.count_fits(n_fits)
    y, n = sample.target, sample.n_obs
    if relabeling is None:
        reference = reference_labels(y, sampling)
        mean, variance = float(reference.mean()), float(reference.var())
        trace, total = float(np.trace(matrix)), float(matrix.sum())
        p_in = smoother_complexity(mean, variance, trace, total, n, sampling)
        mean_fit = mean * total / n
        e_gen = smoother_optimism(variance, trace, total, n, sampling)
        e_in = float(np.mean((y - matrix @ y) ** 2))
    else:
        mean = float(relabeling.weight @ relabeling.exchangeable.moments()[0])
        e_gen, p_in, mean_fit = clustered_complexity(matrix, relabeling)
        e_in = float(relabeling.weight @ (y - matrix @ y) ** 2)
    if sample.n_classes == 2:
        # The same with labels and fitted values in -1, 1 instead of 0, 1.
        p_in = 4 * p_in - 2 * mean - 2 * mean_fit + 1
    return PermutationEstimates(
        e_in=e_in,
        e_gen=float(e_gen),
        p_in=float(p_in),
        mc_se=dict.fromkeys(("e_gen", "p_in"), 0.0),
        n_fits=n_fits,
        one_class_fits=0,
        ties={},
        relabeled=None,
    )
