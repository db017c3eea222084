"""The criteria that `select_model` computes, learner by learner, on the same draws."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args

import numpy as np

from ucvtest.common.checks import as_integer, check_choice
from ucvtest.common.execution import Execution
from ucvtest.common.words import arg, has
from ucvtest.data.groups import Clusters
from ucvtest.data.sample import Sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.evaluation.problem import Problem
from ucvtest.evaluation.time_budget import Trial, rounds_within
from ucvtest.kernels.permutation import Sampling, final_prediction_error, leave_one_out, vc_penalty
from ucvtest.learners.base import Learner
from ucvtest.learners.closed_forms.held_out import has_hat_matrix, hat_matrix, held_out_predictions
from ucvtest.learners.jitted.smoother import Smoother
from ucvtest.methods.permutation.labelings import (
    Labelings,
    find_smoother,
    labelings_of,
    losses_by_labels,
    optimism,
)
from ucvtest.metrics.loss import Loss

Criterion = Literal["permutation", "loo", "kfold", "rademacher", "fpe", "vc"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)


@dataclass(frozen=True, eq=False)
class Task:
    """The question of `select_model`, validated by `of`, with the fitted learners."""

    sample: Sample
    loss: Loss
    learners: tuple[Learner, ...]
    criteria: tuple[Criterion, ...]
    n_permutations: int
    n_folds: int
    n_left_out: int
    clusters: Clusters | None = None

    @property
    def units(self) -> np.ndarray:
        """Number of each observation's cluster, or of itself, (n,), for leaving out units."""
        if self.clusters is None:
            return np.arange(self.sample.n_obs)
        return self.clusters.groups.index

    @classmethod
    def of(
        cls,
        problem: Problem,
        criterion: Any,
        criteria: Any,
        *,
        n_permutations: int,
        n_folds: Any,
        n_left_out: Any,
    ) -> Self:
        """Validate the user's question about a sample and learners."""
        sample, loss = problem.sample, problem.loss
        assert loss is not None  # the problem has been asked for an output, so a loss exists
        clusters = problem.clusters
        chosen_criteria = _criteria(criterion, criteria, sample, loss, grouped=clusters is not None)
        n = problem.n_units
        n_in_words = "n" if clusters is None else "the number of groups"
        folds = as_integer("n_folds", n_folds)
        if folds < 2 or ("kfold" in chosen_criteria and folds > n):
            raise ValueError(
                f"{arg('n_folds')} must lie between 2 and {n_in_words} = {n}, got {n_folds}: use "
                f"{min(10, n)}, or criteria without 'kfold'"
            )
        left_out = n if n_left_out is None else as_integer("n_left_out", n_left_out)
        if not 1 <= left_out <= n:
            raise ValueError(
                f"n_left_out must lie between 1 and {n_in_words} = {n}, got {n_left_out}"
            )
        learners = tuple(
            problem.ready(
                learner, problem.learnt_rows(_learn_size(learner, n, folds, chosen_criteria))
            )
            for learner in problem.learners.values()
        )
        if "permutation" in chosen_criteria:
            # Refuses clusters whose labels cannot be permuted.
            labelings_of(sample.target, clusters)
        task_fields = (sample, loss, learners, chosen_criteria, n_permutations, folds, left_out)
        return cls(*task_fields, clusters)

    def smooths(self, learner: Learner) -> bool:
        """Whether closed forms replace fits to permuted labels and without an observation."""
        known = has_hat_matrix(learner) or isinstance(learner, Smoother)
        return self.loss.name == "squared" and known

    @property
    def fits_of_each(self) -> int:
        """Fits of a learner without a closed form."""
        n_kinds = sum(name in self.criteria for name in ("permutation", "rademacher"))
        left_out = self.n_left_out if "loo" in self.criteria else 0
        folds = self.n_folds if "kfold" in self.criteria else 0
        return 1 + n_kinds * self.n_permutations + left_out + folds

    def within(self, max_seconds: float, execution: Execution) -> Self:
        """The task with labelings and left-out observations reduced to the time.

        All folds are always fitted, because another number of folds would be another criterion.
        """
        fitting = [learner for learner in self.learners if not self.smooths(learner)]
        n_kinds = sum(name in self.criteria for name in ("permutation", "rademacher"))
        left_out = self.n_left_out if "loo" in self.criteria else 0
        n_labelings = n_kinds * self.n_permutations + left_out
        if not fitting or not n_labelings:
            return self
        trials = (self._trial(learner, execution) for learner in fitting)
        affordable_fits = rounds_within(trials, max_seconds, "fit of each learner")
        affordable_share = (
            affordable_fits - 1 - self.n_folds * ("kfold" in self.criteria)
        ) / n_labelings
        if affordable_share >= 1:
            return self
        n_permutations = (
            int(affordable_share * self.n_permutations) if n_kinds else self.n_permutations
        )
        n_left_out = int(affordable_share * left_out) if left_out else self.n_left_out
        if min(n_permutations, n_left_out) < 1:
            fewer = f"name fewer in {arg('criteria')}, " if has("criteria") else ""
            workers = f"{arg('n_jobs')}, " if has("n_jobs") else ""
            raise ValueError(
                f"{arg('max_seconds', max_seconds)} allows about {affordable_fits} fits of each "
                f"learner, too few for the criteria {', '.join(self.criteria)}: {fewer}use quicker "
                f"learners, {workers}or more seconds"
            )
        return replace(self, n_permutations=n_permutations, n_left_out=n_left_out)

    def _trial(self, learner: Learner, execution: Execution) -> Trial:
        """Fits to all observations, which take longest."""
        evaluator = Evaluator(self.sample, learner, self.loss.output, execution.trial)

        def fit(size: int) -> object:
            labels = np.tile(self.sample.target, (size, 1))
            return evaluator.predict_labelings(labels, np.arange(size))

        return fit, evaluator.at_once(labelings=True)


def _criteria(
    criterion: Any, criteria: Sequence[Any] | None, sample: Sample, loss: Loss, *, grouped: bool
) -> tuple[Criterion, ...]:
    """The requested criteria, or by default all that apply."""
    if criteria is not None and (isinstance(criteria, str) or not isinstance(criteria, Sequence)):
        raise ValueError(f"criteria must be a list of {', '.join(CRITERIA)}, got {criteria!r:.60}")
    user_criteria = CRITERIA if criteria is None else (criterion, *criteria)
    for name in (criterion, *user_criteria):
        check_choice("criterion", name, CRITERIA)
    lacking = {}
    if sample.n_classes != 2:
        lacking["rademacher"] = "two classes"
    if loss.name != "squared":
        lacking |= dict.fromkeys(("fpe", "vc"), arg("loss", "squared"))
    if grouped:
        lacking |= dict.fromkeys(("rademacher", "fpe", "vc"), "independent observations, no groups")
    explicit = (criterion,) if criteria is None else user_criteria
    for name in explicit:
        if name in lacking:
            applicable = [
                criterion_name
                for criterion_name in ("permutation", "loo", "kfold")
                if criterion_name not in lacking
            ]
            use = f"{', '.join(map(repr, applicable[:-1]))} or {applicable[-1]!r}"
            raise ValueError(f"{arg('criterion', name)} needs {lacking[name]}: use {use}")
    return tuple(name for name in CRITERIA if name in user_criteria and name not in lacking)


def _learn_size(learner: Learner, n_obs: int, n_folds: int, criteria: Sequence[Criterion]) -> int:
    """The smallest learning set of all criteria."""
    if isinstance(learner, Smoother):
        return n_obs
    size = n_obs - -(-n_obs // n_folds) if "kfold" in criteria else n_obs
    return min(size, n_obs - 1) if "loo" in criteria else size


@dataclass(frozen=True, eq=False)
class Draws:
    """The draws, which are the same for every learner.

    There is one seed for each criterion and one for the learners' own randomness. There are the
    observations (or clusters) that are left out one by one, and a random fold for every
    observation, with classes distributed evenly.
    """

    seeds: Mapping[str, int]
    left_out: np.ndarray
    fold: np.ndarray

    @classmethod
    def of(cls, task: Task, generator: np.random.Generator) -> Self:
        """Draw."""
        seeds = {name: int(generator.integers(2**63 - 1)) for name in (*CRITERIA, "fit")}
        sample = task.sample
        groups = None if task.clusters is None else task.clusters.groups
        n_units = sample.n_obs if groups is None else groups.n_groups
        shuffled = np.random.default_rng(seeds["loo"]).permutation(n_units)
        order = np.random.default_rng(seeds["kfold"]).permutation(n_units)
        if sample.class_index is not None:
            strata = (
                sample.target if groups is None else groups.strata(sample.class_index, fine=True)
            )
            order = order[np.argsort(strata[order], kind="stable")]
        fold = np.empty(n_units, dtype=int)
        fold[order] = np.arange(n_units) % task.n_folds
        return cls(seeds, np.sort(shuffled[: task.n_left_out]), fold[task.units])

    def generator(self, name: str) -> np.random.Generator:
        """A generator that restarts for every learner."""
        return np.random.default_rng(self.seeds[name])


class Candidate:
    """One learner, fitted for its criteria."""

    n_fits: int
    """Model fits so far."""

    def __init__(self, learner: Learner, task: Task, draws: Draws, execution: Execution) -> None:
        self._learner, self._task, self._draws, self._execution = learner, task, draws, execution
        self._sample, self._loss = task.sample, task.loss
        self._smoother: np.ndarray | None = None
        if task.smooths(learner):
            self._smoother = find_smoother(learner, self._sample)[0]
        self._evaluator = Evaluator(self._sample, learner, self._loss.output, execution)
        self.n_fits = 0

    def row(self) -> dict[str, float]:
        """In-sample error, degrees of freedom and criteria; NaN if they do not exist."""
        e_in = self._in_sample()
        degrees = math.nan if self._smoother is None else float(np.trace(self._smoother))
        return {
            "e_in": e_in,
            "degrees": degrees,
            **{name: self._criterion(name, e_in, degrees) for name in self._task.criteria},
        }

    def _criterion(self, name: Criterion, e_in: float, degrees: float) -> float:
        if name == "permutation" or name == "rademacher":
            return e_in + self._optimism(name)
        if name == "loo":
            return self._leave_one_out()
        if name == "kfold":
            if isinstance(self._learner, Smoother):
                return math.nan
            return self._left_out(self._draws.fold == np.arange(self._task.n_folds)[:, None])
        if math.isnan(degrees):
            return math.nan
        penalised = final_prediction_error if name == "fpe" else vc_penalty
        return float(penalised(e_in, degrees, self._sample.n_obs))

    def _in_sample(self) -> float:
        y = self._sample.target
        self.n_fits += 1
        if self._smoother is not None:
            self._execution.count_fits(1)
            return self._mean((y - self._smoother @ y) ** 2)
        seeds = self._draws.generator("fit").integers(2**31 - 1, size=1)
        predictions = self._evaluator.predict_labelings(y[None], seeds).values
        if self._task.clusters is not None:
            return self._mean(losses_by_labels(self._loss, self._sample, predictions)(y[None])[0])
        losses = Labelings(y).losses(self._loss, self._sample, predictions, y[None])
        return float(losses["e_in"][0])

    def _mean(self, losses: np.ndarray, tested: np.ndarray | None = None) -> float:
        """Mean loss of all or of tested observations (n,), with the weights of clusters."""
        clusters = self._task.clusters
        if clusters is None:
            return float(np.mean(losses if tested is None else losses[tested]))
        weight = clusters.row_shares if tested is None else clusters.row_shares * tested
        return float(weight @ losses / weight.sum())

    def _optimism(self, sampling: Sampling) -> float:
        sample, n_drawn = self._sample, self._task.n_permutations
        labelings = labelings_of(sample.target, self._task.clusters, sampling)
        if self._smoother is not None:
            return labelings.closed_form(self._smoother)[0]
        # From the same seed for every learner, so that differences are not blurred by the draws.
        rng, seeds = self._draws.generator(sampling), self._draws.generator("fit")
        batches = labelings.drawn(rng, n_drawn, self._execution.batch_size)
        optimism_parts = optimism(self._evaluator, sample, self._loss, labelings, batches, seeds)
        self.n_fits += n_drawn
        return optimism_parts.mean("e_gen")

    def _leave_one_out(self) -> float:
        y, n = self._sample.target, self._sample.n_obs
        if self._smoother is None or self._task.clusters is not None:
            return self._left_out(self._draws.left_out[:, None] == self._task.units)
        if has_hat_matrix(self._learner):
            # The penalty of "mean" depends on the number of remaining observations.
            hat = hat_matrix(self._learner, self._sample.matrix, n - 1)
            if np.abs(1 - hat.diagonal()).min() > 1e-9:
                held_out = held_out_predictions(hat, y, np.arange(n)[:, None])[:, 0]
                return float(np.mean((held_out - y) ** 2))
        return float(leave_one_out(y - self._smoother @ y, self._smoother.diagonal()))

    def _left_out(self, testing: np.ndarray) -> float:
        """Mean loss of the tested observations (R, n), each after learning without its row's."""
        seeds = self._draws.generator("fit").integers(2**31 - 1, size=len(testing))
        self.n_fits += len(testing)
        values = self._evaluator.predict(~testing, testing, seeds).values
        tested = np.asarray(testing.any(axis=0))
        # Probabilities of several classes have one more axis.
        is_left_out = testing.reshape(*testing.shape, *[1] * (values.ndim - 2))
        predictions = np.where(is_left_out, values, 0.0).sum(axis=0)
        losses = losses_by_labels(self._loss, self._sample, predictions[None])
        return self._mean(losses(self._sample.target[None])[0], tested)
