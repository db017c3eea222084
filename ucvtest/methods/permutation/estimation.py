"""The permutation estimate, from fitted labelings or in closed form."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.evaluation.problem import Problem
from ucvtest.evaluation.time_budget import rounds_within
from ucvtest.learners.base import Learner
from ucvtest.methods.permutation.labelings import Batches, Optimism, find_smoother, optimism
from ucvtest.methods.permutation.options import PermutationOptions
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
    problem: Problem, options: PermutationOptions, execution: Execution
) -> PermutationEstimates:
    """Fit labelings drawn at random, or all of them."""
    sample, loss, labelings = problem.sample, loss_of(problem), options.labelings
    evaluator = _evaluator(problem, execution)
    if isinstance(options.n_permutations, int):
        execution.announce_total(options.n_permutations + 1, at_most=options.stop_after is not None)
    # Seeds of the fits come from a separate stream, so that labels depend only on rng.
    seeds = np.random.default_rng(int(execution.generator.integers(2**63 - 1)))
    observed_labels = sample.target[None]
    predictions = evaluator.predict_labelings(observed_labels, seeds.integers(2**31 - 1, size=1))
    losses = labelings.losses(loss, sample, predictions.values, observed_labels)
    e_in, rng, sequence = float(losses["e_in"][0]), execution.generator, None
    if options.stop_after is None:
        batches = _batches(options, rng, execution.batch_size)
        relabeled = optimism(evaluator, sample, loss, labelings, batches, seeds)
    else:
        # Until enough permuted labels have errors as low as the real ones.
        at_once = JITTED_AT_ONCE if evaluator.jitted else 1
        n_most, size = int(options.n_permutations), labelings.size(execution.batch_size)
        stopping = BatchSizes(n_most, options.stop_after, size, at_once)
        counted_as_small: list[np.ndarray] = []

        def see(batch: Mapping[str, np.ndarray]) -> None:
            small = as_small(e_in, batch["e_in"], batch["e_in"] + batch["e_gen"])
            counted_as_small.append(small)
            stopping.record(small)

        batches = labelings.until(rng, stopping)
        relabeled = optimism(evaluator, sample, loss, labelings, batches, seeds, see)
        sequence = SequentialPvalue.of(np.concatenate(counted_as_small), options.stop_after)
        relabeled = relabeled.first(sequence.n_drawn)
    ties = Counter(predictions.ties)
    ties.update(relabeled.ties)
    return PermutationEstimates(
        e_in=e_in,
        e_gen=relabeled.mean("e_gen"),
        p_in=relabeled.mean("p_in"),
        mc_se={name: relabeled.mc_se(name) for name in ("e_gen", "p_in")},
        n_fits=1 + len(relabeled.e_in),
        one_class_fits=evaluator.one_class_fits,
        ties=ties,
        relabeled=relabeled,
        sequence=sequence,
    )


def labelings_within(problem: Problem, options: PermutationOptions, execution: Execution) -> int:
    """Number of labelings that fit into the time, without the observed one.

    Trials are discarded.
    """
    evaluator = _evaluator(problem, execution.trial)
    rng, seeds = np.random.default_rng(0), np.random.default_rng(0)

    def trial(size: int) -> None:
        batches = _batches(replace(options, n_permutations=size, stop_after=None), rng, None)
        sample, loss = problem.sample, loss_of(problem)
        optimism(evaluator, sample, loss, options.labelings, batches, seeds)

    assert options.max_seconds is not None
    at_once = evaluator.at_once(labelings=True)
    return rounds_within([(trial, at_once)], options.max_seconds, "fit to permuted labels") - 1


def as_small(e_in: float, permuted_errors: np.ndarray, e_out: np.ndarray | float) -> np.ndarray:
    """Whether labels that were drawn are fitted as well as the real ones, or better."""
    is_small: np.ndarray = permuted_errors <= e_in + TIED * np.maximum(abs(e_in), np.abs(e_out))
    return is_small


def learner_of(problem: Problem) -> Learner:
    """The only one."""
    (learner,) = problem.learners.values()
    return learner


def loss_of(problem: Problem) -> Loss:
    """The loss, which a problem with an output has."""
    assert problem.loss is not None
    return problem.loss


def _evaluator(problem: Problem, execution: Execution) -> Evaluator:
    return Evaluator(problem.sample, learner_of(problem), loss_of(problem).output, execution)


def _batches(options: PermutationOptions, rng: np.random.Generator, size: int | None) -> Batches:
    if options.exact:
        return options.labelings.every(size)
    return options.labelings.drawn(rng, int(options.n_permutations), size)


def in_closed_form(
    problem: Problem, options: PermutationOptions, execution: Execution
) -> PermutationEstimates:
    """The mean over all labelings, from the matrix of a linear smoother."""
    sample, labelings = problem.sample, options.labelings
    matrix, n_fits = find_smoother(learner_of(problem), sample, execution.n_jobs)
    n_fits = max(n_fits, 1)
    execution.count_fits(n_fits)
    e_gen, p_in, mean, mean_fit = labelings.closed_form(matrix)
    if sample.n_classes == 2:
        # The same with labels and fitted values in -1, 1 instead of 0, 1.
        p_in = 4 * p_in - 2 * mean - 2 * mean_fit + 1
    return PermutationEstimates(
        e_in=float(labelings.mean((sample.target - matrix @ sample.target) ** 2)),
        e_gen=e_gen,
        p_in=p_in,
        mc_se=dict.fromkeys(("e_gen", "p_in"), 0.0),
        n_fits=n_fits,
        one_class_fits=0,
        ties={},
        relabeled=None,
    )
