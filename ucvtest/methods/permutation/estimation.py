"""The permutation estimate: from labelings that are fitted, or in closed form."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.data.sample import Sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.evaluation.time_budget import rounds_within, warm_up
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
from ucvtest.methods.permutation.options import Options
from ucvtest.methods.permutation.permuted_labels import (
    Relabeling,
    all_labels,
    batch_size,
    draw_batches,
    draw_until,
    reference_labels,
)
from ucvtest.metrics.loss import Loss
from ucvtest.stats.sequential import BatchSizes, SequentialPvalue

__all__ = ["Found", "as_small", "from_labelings", "in_closed_form", "labelings_within"]

TIED = 100 * np.finfo(float).eps
"""In-sample errors that differ by less are equal but for rounding, as a share of the error itself
and of that on new labels: the errors of a rule that interpolates are rounding and nothing else."""

JITTED_AT_ONCE = 256
"""Labelings that take jitted learners hardly longer than one."""


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
    sequence: SequentialPvalue | None = None

    @property
    def e_out(self) -> float:
        """The estimate of the out-of-sample error."""
        return self.e_in + self.e_gen


def from_labelings(
    sample: Sample,
    learner: Learner,
    loss: Loss,
    options: Options,
    execution: Execution,
    relabeling: Relabeling | None = None,
) -> Found:
    """Fit labelings drawn at random, or all of them."""
    evaluator = Evaluator.run_by(execution, sample, learner, loss.output)
    if isinstance(options.n_permutations, int):
        execution.announce_total(options.n_permutations + 1, at_most=options.stop_after is not None)
    # Seeds of the fits come from a stream of their own, so that labels depend on rng alone.
    seeds = np.random.default_rng(int(execution.generator.integers(2**63 - 1)))
    real = sample.target[None]
    predictions = evaluator.predict_labelings(real, seeds.integers(2**31 - 1, size=1))
    if relabeling is None:
        e_in = relabeled_losses(loss, sample, predictions.values, real, sample.target)["e_in"]
    else:
        e_in = clustered_losses(loss, sample, predictions.values, real, relabeling)["e_in"]
    if options.stop_after is None:
        batches = _batches(sample.target, options, execution, relabeling)
        sampling = options.sampling
        found = optimism(evaluator, sample, loss, sampling, batches, seeds, relabeling=relabeling)
        sequence = None
    else:
        found, sequence = _sequential(
            evaluator, loss, float(e_in[0]), options, execution, seeds, sample, relabeling
        )
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
        sequence=sequence,
    )


def labelings_within(
    sample: Sample,
    learner: Learner,
    loss: Loss,
    options: Options,
    execution: Execution,
    relabeling: Relabeling | None = None,
) -> int:
    """Labelings that there is time for, besides the observed one; what is tried is no answer."""
    evaluator = Evaluator.run_by(execution.trial, sample, learner, loss.output)
    rng, seeds = np.random.default_rng(0), np.random.default_rng(0)

    def trial(size: int) -> None:
        tried = replace(execution, generator=rng, batch_size=None)
        batches = _batches(sample.target, replace(options, n_permutations=size), tried, relabeling)
        optimism(evaluator, sample, loss, options.sampling, batches, seeds, relabeling=relabeling)

    seconds = options.max_seconds
    assert seconds is not None

    def decide() -> int:
        if evaluator.jitted:
            warm_up(trial)
        return rounds_within([trial], seconds, "fit to permuted labels") - 1

    return execution.progress.recall_or_decide(
        f"labelings of {learner.name} in {seconds:g} s", decide
    )


def _sequential(
    evaluator: Evaluator,
    loss: Loss,
    e_in: float,
    options: Options,
    execution: Execution,
    seeds: np.random.Generator,
    sample: Sample,
    relabeling: Relabeling | None,
) -> tuple[Optimism, SequentialPvalue]:
    """Fit permuted labels until enough of them are fitted as well as the real ones."""
    assert options.stop_after is not None
    size = batch_size(execution.batch_size, sample.target)
    at_once = JITTED_AT_ONCE if evaluator.jitted else 1
    n_most = int(options.n_permutations)
    stopping = BatchSizes(n_most, options.stop_after, size, at_once)
    seen = []

    def see(found: Mapping[str, np.ndarray]) -> None:
        seen.append(as_small(e_in, found["e_in"], found["e_in"] + found["e_gen"]))
        stopping.record(seen[-1])

    rng = execution.generator
    if relabeling is None:
        labels = draw_until(rng, sample.target, stopping)
    else:
        labels = relabeling.until(rng, stopping)
    found = optimism(evaluator, sample, loss, options.sampling, labels, seeds, see, relabeling)
    sequence = SequentialPvalue.of(np.concatenate(seen), options.stop_after)
    return found.first(sequence.n_drawn), sequence


def as_small(e_in: float, drawn: np.ndarray, e_out: np.ndarray | float) -> np.ndarray:
    """Whether labels that were drawn are fitted as well as the real ones, or better."""
    found: np.ndarray = drawn <= e_in + TIED * np.maximum(abs(e_in), np.abs(e_out))
    return found


def _batches(
    target: np.ndarray, options: Options, execution: Execution, relabeling: Relabeling | None
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
) -> Found:
    """The mean over all labelings, from the matrix of a linear smoother."""
    matrix, n_fits = find_smoother(learner, sample, execution.n_jobs)
    n_fits = max(n_fits, 1)
    execution.count_fits(n_fits)
    y, n = sample.target, sample.n_obs
    if relabeling is None:
        drawn = reference_labels(y, sampling)
        mean, variance = float(drawn.mean()), float(drawn.var())
        trace, total = float(np.trace(matrix)), float(matrix.sum())
        p_in = smoother_complexity(mean, variance, trace, total, n, sampling)
        fitted = mean * total / n
        e_gen = smoother_optimism(variance, trace, total, n, sampling)
        e_in = float(np.mean((y - matrix @ y) ** 2))
    else:
        mean = float(relabeling.weight @ relabeling.exchangeable.moments()[0])
        e_gen, p_in, fitted = clustered_complexity(matrix, relabeling)
        e_in = float(relabeling.weight @ (y - matrix @ y) ** 2)
    if sample.n_classes == 2:
        # The same with labels and fitted values in -1, 1 instead of 0, 1.
        p_in = 4 * p_in - 2 * mean - 2 * fitted + 1
    return Found(
        e_in=e_in,
        e_gen=float(e_gen),
        p_in=float(p_in),
        mc_se=dict.fromkeys(("e_gen", "p_in"), 0.0),
        n_fits=n_fits,
        one_class_fits=0,
        ties={},
        relabeled=None,
    )
