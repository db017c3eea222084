"""The errors of the observed labels, and their null distribution."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np

from ucvtest.codes.null_distributions import NullDistribution, simulated_nulls, wilcoxon_null
from ucvtest.common.execution import Execution
from ucvtest.inference.question import Question
from ucvtest.methods.leave_pair_out.forecast import announce
from ucvtest.methods.leave_pair_out.options import LeavePairOutOptions, check_enumeration
from ucvtest.methods.leave_pair_out.pair_errors import (
    FITTING,
    PairErrors,
    cluster_errors,
    given_errors,
    pair_errors,
)
from ucvtest.stats.cluster_permutation import ExchangeableLabels
from ucvtest.stats.monte_carlo import BatchSizes, SequentialPvalue

LABELINGS_PER_BATCH = 4096


@dataclass(frozen=True, eq=False)
class LeavePairOutEstimates:
    """The errors of the observed labels, and their null distributions.

    Tied pairs count one half in `n_errors`; `ties` counts pairs that a learner's rule decided.
    There are several nulls for "empirical", and none for "supremum".
    """

    n_errors: float
    n_ties: int
    n_labelings: int
    nulls: Mapping[str, NullDistribution]
    computed_by: str
    ties: Mapping[str, int]
    sequence: SequentialPvalue | None = None


def errors_for(question: Question, execution: Execution) -> PairErrors:
    """The counter of errors: of given scores, or of a learner in its fastest way."""
    if question.observed is not None:
        return given_errors(question.observed, question.target)
    problem = question.data("a permutation")
    (learner,) = problem.learners.values()
    if problem.clusters is not None:
        return cluster_errors(problem.sample, learner, problem.clusters, execution)
    return pair_errors(problem.sample, learner, execution)


def estimate(
    errors: PairErrors,
    labels: np.ndarray,
    options: LeavePairOutOptions,
    execution: Execution,
    learner: str,
) -> LeavePairOutEstimates:
    """Count the errors of the observed labels, and of the labels that they are compared with."""
    permuted = options.pvalue == "permutation"
    sizes = errors.sizes(labels)
    if permuted:
        check_enumeration(options, sizes, learner, at_once=errors.labelings_at_once > 1)
    n_permutations = options.n_labelings(sizes) - 1 if permuted else 0
    at_most = options.stop_after is not None
    execution.announce_total((1 + n_permutations) * sizes.n_fits, at_most=at_most)
    clock_start = time.perf_counter()
    n_wrong, tied = _count(errors, labels[None], execution)
    seconds = time.perf_counter() - clock_start
    n_errors = float(n_wrong[0] + tied[0] / 2)
    n_labelings, sequence, nulls = 1, None, dict[str, NullDistribution]()
    if permuted:
        if not execution.progress.duration_announced:
            announce(errors, labels, options, seconds, learner, execution)
            # The announcement may have needed another labeling.
            execution.announce_total(n_permutations * sizes.n_fits, at_most=at_most)
        null, sequence = _permutations(errors, labels, n_errors, options, execution)
        # The observed labeling is one of all labelings, or is added to the drawn ones.
        n_labelings = int(null.counts.sum()) + null.sampled
        nulls = {"permutation": null}
    elif options.pvalue == "wmw":
        nulls = {"wmw": wilcoxon_null(sizes.n_obs, sizes.n_positive)}
    elif options.pvalue == "empirical":
        classes = sizes.n_negative, sizes.n_positive
        nulls = simulated_nulls(*classes, options.n_simulations, execution.generator)
    return LeavePairOutEstimates(
        n_errors=n_errors,
        n_ties=round(float(tied[0])),
        n_labelings=n_labelings,
        nulls=nulls,
        computed_by=errors.error_method,
        ties=dict(errors.ties),
        sequence=sequence,
    )


def _permutations(
    errors: PairErrors,
    labels: np.ndarray,
    n_errors: float,
    options: LeavePairOutOptions,
    execution: Execution,
) -> tuple[NullDistribution, SequentialPvalue | None]:
    """Errors under permuted labels; errors of the observed labels are already counted."""
    size = execution.batch_size or LABELINGS_PER_BATCH
    exact, stopping = options.n_permutations == "exact", None
    if exact:
        batches = _all_labelings(labels, size, errors.exchangeable)
    else:
        n_drawn = int(options.n_permutations)
        # Without enough such errors, the sequence ends with the last draw.
        stop_after = options.stop_after or n_drawn + 1
        at_once = 1 if options.stop_after and errors.one_by_one else size
        stopping = BatchSizes(n_drawn, stop_after, size, at_once)
        batches = _random_labelings(labels, stopping, execution.generator, errors.exchangeable)
    counted = []
    for labelings in batches:
        n_wrong, tied = _count(errors, labelings, execution)
        batch_errors = n_wrong + tied / 2
        if exact:
            # Fits with their own randomness may differ when they are repeated.
            batch_errors[(labelings == labels).all(axis=1)] = n_errors
        counted.append(batch_errors)
        if stopping is not None:
            stopping.record(batch_errors <= n_errors)
    permuted_errors, sequence = np.concatenate(counted), None
    if options.stop_after is not None:
        sequence = SequentialPvalue.of(permuted_errors <= n_errors, options.stop_after)
        permuted_errors = permuted_errors[: sequence.n_drawn]
    return NullDistribution.of(permuted_errors, sampled=not exact), sequence


def _random_labelings(
    labels: np.ndarray,
    stopping: BatchSizes,
    generator: np.random.Generator,
    exchangeable: ExchangeableLabels | None,
) -> Iterator[np.ndarray]:
    # Labelings and the seeds of fits come from separate generators, so that neither depends on how
    # many are drawn at a time.
    (draws,) = generator.spawn(1)
    while size := stopping.next_size():
        if exchangeable is None:
            yield draws.permuted(np.tile(labels, (size, 1)), axis=1)
        else:
            yield exchangeable.draw(draws, size)


def _all_labelings(
    labels: np.ndarray, size: int, exchangeable: ExchangeableLabels | None
) -> Iterator[np.ndarray]:
    if exchangeable is not None:
        yield from exchangeable.every(size)
        return
    subsets = combinations(range(len(labels)), int(labels.sum()))
    while batch := list(islice(subsets, size)):
        labelings = np.zeros((len(batch), len(labels)), dtype=bool)
        np.put_along_axis(labelings, np.array(batch), True, axis=1)
        yield labelings


def _count(
    errors: PairErrors, labelings: np.ndarray, execution: Execution
) -> tuple[np.ndarray, np.ndarray]:
    """Wrong and tied pairs of each labeling."""
    counts = errors.count(labelings, execution.generator)
    if errors.error_method not in FITTING:
        execution.count_fits(len(labelings) * errors.sizes(labelings[0]).n_fits)
    return counts
