"""Learners on the resamples of one design: fitted once, tested many times."""

import time
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from ucvtest import hooks
from ucvtest.common.checks import as_integer, is_integer, named_options
from ucvtest.common.exceptions import Interrupted, naming
from ucvtest.common.execution import Execution, Progress, progress_bar, row_batches
from ucvtest.common.words import arg, call
from ucvtest.data.class_order import COST_ORDER, order_setting
from ucvtest.data.missing import Missing, complete_weighted_rows
from ucvtest.data.positive_class import json_label, positive_setting, unnamed_setting
from ucvtest.data.sample import DATES, Sample
from ucvtest.data.weights import WEIGHTS
from ucvtest.designs.adapters import as_design, design_or_cv
from ucvtest.designs.design import Design
from ucvtest.designs.scheme_base import NamedDesign, StratifiedDesign
from ucvtest.evaluation.checkpoint import Checkpoint
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.evaluation.problem import Problem, check_two_classes, warn_of_learners
from ucvtest.learners.base import Learner
from ucvtest.losses.linearised import kept_classes, resample_values
from ucvtest.losses.table import Losses
from ucvtest.metrics.names import wants_every_class
from ucvtest.metrics.recorded import COST_OF_ERRORS
from ucvtest.metrics.refusals import refuse_name_of_auc
from ucvtest.metrics.scorers import chosen_loss
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.metrics.survival import SurvivalMetric

FOLDS = 10

BATCH_NUMBERS = 2**22
"""Predictions held at a time before the tested ones are kept: 32 MB."""

MAX_BYTES = 2**32
"""Memory that a design and its losses may take, unless more is allowed: 4.3 GB."""


@named_options
def evaluate(
    learners: Any,
    X: Any,
    y: Any,
    design: Any = FOLDS,
    loss: Any = None,
    *,
    pos_label: Any = None,
    groups: Any = None,
    backend: Any = "auto",
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    progress: bool | None = None,
    max_bytes: int = MAX_BYTES,
    scoring: Any = None,
    metric: Any = None,
    cv: Any = None,
    missing: Missing = "raise",
    checkpoint: str | PathLike[str] | None = None,
    weights: Any = None,
) -> Losses:
    """Fit learners on the learning sets of one design, and keep every loss on the test sets.

    Parameters
    ----------
    learners : learner, list, tuple or mapping
        One or several; the keys of a mapping are the names. Otherwise learners have their own
        names, with a number if two have the same.
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
    design : int, uv.designs object, scikit-learn splitter, or list of splits
        An integer is the number of folds. For "auc" ours are stratified unless they say not.
    loss : str, callable, Loss or matrix, optional
        As for the tests; "auc" keeps decision scores, from which AUCs are computed.
    pos_label, backend : optional
        See the tests.
    groups : array-like, shape (n,), optional
        The cluster of each observation, such as the patient of each row: labels of any type. Sets
        then contain whole clusters, numbers of observations in a design are numbers of clusters,
        and tests take the losses by cluster. Every row keeps its loss; the weight of a cluster is
        chosen in the test (``from_losses(group_weight=)``).
    rng : None, int or numpy Generator
        Decides the design and the seeds of learners with randomness of their own; the same
        for every learner, `n_jobs` and `batch_size`.
    n_jobs : int, optional
        joblib's workers, for learners that are not jitted.
    batch_size : int, optional
        Largest number of learning sets passed at once to a learner that is not jitted; jitted
        learners have their own bounds. It does not change the result.
    progress : bool, optional
        Show a progress bar; by default on terminals, after three seconds.
    max_bytes : int
        Memory that the design and its losses may take; more is refused before the first fit.
    scoring, cv : optional
        scikit-learn's, instead of `loss` and `design`: see the tests. Scores that are not means
        over observations, such as "f1", keep one number for each resample.
    metric : str or metric, optional
        A metric that is not a mean of losses, such as "f1": see `Losses.from_predictions`.
    missing : {"raise", "drop"}
        "drop" leaves out observations with missing values; the settings have their number.
    checkpoint : path, optional
        A folder that keeps finished work: the predictions of learners that are fitted one by one,
        every few seconds. After an interrupt or a crash, the same call continues from there, to the
        losses of an uninterrupted call. With ``rng=None`` the resumed call reuses the original
        seed. A folder of other data, learners, design, seed or versions of packages is refused, as
        is one that is damaged or that another call is writing. `compare` says how a learner is
        identified.
    weights : array-like, shape (n,), str or mapping, optional
        How much rows count: see the tests. With weights in the loss, values are linearised: their
        mean is the weighted mean.

    Returns
    -------
    Losses
        Kept are the tested observations, 8 bytes for each, learner and resample, and the
        design, 2 bytes for each resample and observation of the sample.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit of the design.
    KeyboardInterrupt
        Its attribute `results` has the losses of the finished learners, if any. With `checkpoint`
        the same call continues from there.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> losses = uv.evaluate(["lda", "knn:3"], X[50:, :2], y[50:], design=10, rng=0)
    >>> losses
    Losses(learners=('lda', 'knn:3'), loss='zero_one', n_obs=100, n_resamples=10)
    >>> losses.means.mean(axis=1).round(2)
    array([0.31, 0.33])
    """
    X, y, groups, weights, n_dropped = complete_weighted_rows(X, y, groups, weights, missing)
    metric_or_loss = chosen_loss(loss, scoring, metric, weights)
    problem = Problem.of(
        X,
        y,
        learners,
        loss=metric_or_loss,
        pos_label=pos_label,
        groups=groups,
        # How much clusters count is chosen in the test, but for weighted rows.
        group_weight="row" if weights and "loss" in weights and groups is not None else "group",
        backend=backend,
        weights=weights,
    )
    sample = problem.sample
    survival_times = sample.survival_times
    if isinstance(problem.metric, SurvivalMetric) and survival_times is not None:
        reason = problem.metric.no_value(survival_times)
        if reason:
            raise ValueError(
                f"{arg('metric', problem.metric.name)} has no value for these survival times, as "
                f"{reason}: take another metric, or another time, or more observations"
            )
    user_design = None if cv is not None and is_integer(design) and design == FOLDS else design
    plan = plan_of(problem, user_design, cv, FOLDS, n_dropped)
    saved_fits = None if checkpoint is None else Checkpoint(checkpoint, rng)
    execution = Execution.of(
        rng if saved_fits is None else saved_fits.seed(rng), n_jobs, batch_size
    )
    n_learners = len(problem.learners)
    drawn_design = draw_design(plan, sample, n_learners, execution.generator, max_bytes=max_bytes)
    fitting_problem = problem.fitting(drawn_design.learn_sizes[0])
    settings = {"design": plan.words, "rng": execution.seed}
    settings |= {"n_dropped": n_dropped} if n_dropped else {}
    execution = replace(execution, progress=Progress(saved_fits))
    with nullcontext() if saved_fits is None else saved_fits:
        if saved_fits is not None:
            question = {
                "call": "evaluate",
                "X": X,
                "y": y,
                "loss": metric_or_loss,
                "groups": groups,
                **problem.weights_asked,
                "pos_label": pos_label,
                "backend": backend,
                "design": (plan.words, drawn_design),
            }
            saved_fits.begin(question, problem.learners, execution.seed or 0)
        with hooks.fitting(fitting_problem), progress_bar(progress, "evaluate", "fit") as bar:
            warn_of_learners(fitting_problem.learners.values())
            execution = replace(execution, bar=bar)
            return evaluate_problem(
                fitting_problem, drawn_design, execution, settings, say_names=True
            )


def plan_of(
    problem: Problem, design: Any, cv: Any, default: Any, n_dropped: int = 0
) -> NamedDesign:
    """The design or splitter to draw: named by the user, or the default."""
    sample, has_classes = problem.sample, problem.sample.n_classes > 0
    if problem.metric.ranks_pairs:
        check_two_classes(sample)
    design_or_splitter = design_or_cv(
        *(design, cv, sample.response),
        has_classes=has_classes,
        n_dropped=n_dropped,
        groups=sample.groups,
    )
    # The sample's own copies, so that data that change later do not change the splits.
    return as_design(
        default if design_or_splitter is None else design_or_splitter,
        sample.features,
        sample.response,
        auc=wants_every_class(problem.metric, has_classes=has_classes),
        groups=problem.given_groups,
    )


def draw_design(
    plan: NamedDesign,
    sample: Sample,
    n_learners: int,
    rng: np.random.Generator,
    *,
    max_bytes: int = MAX_BYTES,
) -> Design:
    """Draw a design; one whose losses would not fit into memory is refused."""
    n_obs, groups = sample.n_obs, sample.groups
    plan.check(n_obs, groups)
    as_integer("max_bytes", max_bytes)
    matrices = 2 * plan.n_resamples * n_obs
    _refuse_bytes(matrices, plan, max_bytes)
    if isinstance(plan, StratifiedDesign):
        design = plan.draw(n_obs, rng, groups, strata=sample.strata)
    else:
        design = plan.draw(n_obs, rng, groups)
    _refuse_bytes(matrices + 8 * n_learners * int(design.testing.sum()), plan, max_bytes)
    return design


def _refuse_bytes(needed_bytes: int, plan: NamedDesign, max_bytes: int) -> None:
    if needed_bytes > max_bytes:
        raise ValueError(
            f"design ({plan.words}) and its losses take {needed_bytes / 1e9:.3g} GB of memory, and "
            f"max_bytes allows {max_bytes / 1e9:.3g} GB: use fewer resamples, or "
            f"{call('evaluate')} with a larger max_bytes"
        )


def evaluate_problem(
    problem: Problem,
    design: Design,
    execution: Execution,
    settings: Mapping[str, Any],
    *,
    say_names: bool = False,
) -> Losses:
    """`evaluate` for a problem whose learners are ready, and a design that was drawn.

    With `say_names` errors of learners say the names that the user gave.
    """
    started = time.perf_counter()
    refuse_name_of_auc(problem.metric)
    seeds = execution.generator.integers(2**31 - 1, size=design.n_resamples)
    of_sets = problem.metric.per_test_set
    n_kept = design.n_resamples if of_sets else int(design.testing.sum())
    columns = (len(problem.times),) if len(problem.times) > 1 else ()
    learner_values = np.empty((len(problem.learners), n_kept, *columns))
    counts: dict[str, dict[str, int]] = {}
    execution.announce_total(len(problem.learners) * design.n_resamples)

    interrupt = None
    try:
        for (name, learner), row in zip(problem.learners.items(), learner_values, strict=True):
            with naming(repr(name)) if say_names and name != learner.name else nullcontext():
                counts[name] = _evaluate_learner(row, problem, learner, design, seeds, execution)
    except KeyboardInterrupt as interruption:
        if not counts:
            raise
        interrupt = interruption
        # The losses of the learners that are done.
        problem = replace(problem, learners={name: problem.learners[name] for name in counts})
        learner_values = learner_values[: len(counts)]
    elapsed = time.perf_counter() - started
    losses = _losses(problem, design, learner_values, counts, settings, elapsed)
    if interrupt is not None:
        raise Interrupted(losses, f"the losses of {', '.join(counts)}") from interrupt
    return losses


def _losses(
    problem: Problem,
    design: Design,
    learner_values: np.ndarray,
    counts: dict[str, dict[str, int]],
    settings: Mapping[str, Any],
    elapsed: float,
) -> Losses:
    """The losses of learners, from the values kept of each.

    Predictions are kept of a function of means: its linearised values are made from them.
    """
    sample, metric = problem.sample, problem.metric
    settings = {
        **settings,
        **({} if problem.weights is None else {WEIGHTS: problem.weights.where}),
        **positive_setting(problem.positive_class),
        "backends": {name: learner.backend for name, learner in problem.learners.items()},
    }
    of_all: dict[str, Any] = {
        "design": design,
        "learners": tuple(problem.learners),
        "target": sample.target,
        "diagnostics": counts,
        "elapsed": elapsed,
        "groups": None if sample.groups is None else sample.groups.index,
    }
    if isinstance(metric, SmoothMetric):
        learner_values.flags.writeable = False
        labels = None if sample.classes is None else [*map(json_label, sample.classes)]
        settings |= kept_classes(labels, sample.order)
        settings |= unnamed_setting(labels, is_named=sample.positive_named)
        event = None if sample.survival_times is None else sample.survival_times.event
        return Losses.of_predictions(
            metric, predictions=learner_values, event=event, settings=settings, **of_all
        )
    means = resample_values(learner_values, design, metric, sample.target)
    greater = metric.greater_is_better
    if metric.units is not None:
        means, greater = metric.units.of(means), metric.units.greater_is_better
        if not greater:
            settings[COST_OF_ERRORS] = metric.units.slope
        # In place: a second table would double the memory.
        learner_values *= metric.units.slope
        learner_values += metric.units.intercept
    if problem.loss_weights is not None:
        learner_values = problem.loss_weights.linearised(learner_values, design.testing)
        means = resample_values(learner_values, design, metric, sample.target)
        settings |= problem.loss_weights.worth(design.testing, sample.groups)
    learner_values.flags.writeable = False
    is_named = sample.positive_named or not metric.ranks_pairs
    settings |= unnamed_setting(sample.classes, is_named=is_named)
    settings |= order_setting(COST_ORDER, problem.cost_order)
    if sample.fault_of_dates:
        settings[DATES] = sample.fault_of_dates
    return Losses(
        loss=metric.reported_name,
        means=means,
        values=None if metric.per_test_set else learner_values,
        in_words=metric.in_words,
        bounds=metric.reported_bounds if metric.is_mean else None,
        settings=settings,
        greater_is_better=greater,
        **of_all,
    )


def _evaluate_learner(
    row: np.ndarray,
    problem: Problem,
    learner: Learner,
    design: Design,
    seeds: np.ndarray,
    execution: Execution,
) -> dict[str, int]:
    """Write one learner's losses (scores) of all tested observations; learning sets and ties."""
    evaluator = Evaluator(problem.sample, learner, problem.output, execution)
    places = np.concatenate([[0], np.cumsum(design.n_tested)])
    ties: Counter[str] = Counter()
    batch_size = execution.batch_size
    for rows in row_batches(design.n_resamples, design.n_obs, BATCH_NUMBERS, batch_size):
        batch_design = design.rows(rows)
        predictions = evaluator.predict(batch_design.learning, batch_design.testing, seeds[rows])
        scored_rows = problem.metric.kept(
            problem.sample, predictions.values, batch_design.testing, rows.start
        )
        if problem.metric.per_test_set:
            row[rows] = scored_rows
        else:
            row[places[rows.start] : places[rows.stop]] = scored_rows[batch_design.testing]
        ties.update(predictions.ties)
    return {"one_class_fits": evaluator.one_class_fits, **ties}
