"""`compare`: fits what a plan needs, once, and runs its tests."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from os import PathLike
from typing import Annotated, Any

import numpy as np

from ucvtest import hooks
from ucvtest.common.checks import AtLeast, Seconds, check_workers, named_options
from ucvtest.common.exceptions import Interrupted
from ucvtest.common.execution import Execution, Progress, make_generator, progress_bar
from ucvtest.common.words import arg, call
from ucvtest.comparison.budget import Budget
from ucvtest.comparison.compare_losses import baseline_of
from ucvtest.comparison.comparison import Comparison, Correction, Fits
from ucvtest.comparison.planned_tests import (
    ComparisonQuestion,
    Plan,
    PlannedTest,
    SharedDesign,
    naming_test,
)
from ucvtest.comparison.several_metrics import (
    Family,
    families_of,
    is_several,
    joint_statistics,
    metric_label,
    names_of,
)
from ucvtest.comparison.specs import RECOMMENDED, as_specs
from ucvtest.comparison.tests_on_losses import Findings, LossesToCompare, TestOnLosses
from ucvtest.data.groups import GroupWeight
from ucvtest.data.missing import Missing, complete_weighted_rows, dropped_note
from ucvtest.designs.adapters import refuse_row_numbers
from ucvtest.evaluation.checkpoint import Checkpoint, KnownFits
from ucvtest.evaluation.evaluate import evaluate_problem
from ucvtest.evaluation.problem import named_learners
from ucvtest.inference.notes import sample_notes
from ucvtest.learners.adapters.backends import Backend
from ucvtest.learners.adapters.translated import remarks_of
from ucvtest.learners.base import notes_on_learners
from ucvtest.losses.table import Losses
from ucvtest.results.columns import Key, Pair
from ucvtest.results.fields import Contrast
from ucvtest.results.result import TestResult, was_interrupted
from ucvtest.stats.wald import Alternative

OWN = "drawn by the test itself"
"""The design of tests that share none."""

SHARED_BY_ALL = "random pairs of learning sets, the same for all learners"
"""That of a test that fits all learners together."""


@named_options
def compare(
    X: Any,
    y: Any,
    learners: Any,
    tests: Any = "recommended",
    *,
    loss: Any = None,
    alternative: Alternative = "two-sided",
    correction: Correction | None = "holm",
    pos_label: Any = None,
    groups: Any = None,
    group_weight: GroupWeight = "group",
    backend: Backend = "auto",
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    progress: bool | None = None,
    contrast: Contrast = "difference",
    baseline: str | int | None = None,
    scoring: Any = None,
    missing: Missing = "raise",
    cv: Any = None,
    max_seconds: Seconds | None = None,
    checkpoint: str | PathLike[str] | None = None,
    max_fits: Annotated[int, AtLeast(1)] | None = None,
    metric: Any = None,
    weights: Any = None,
) -> Comparison:
    """Compare two learners by several tests, or several learners in pairs.

    H0 of every test and pair: the expected loss (or AUC) of both learners is the same, at
    learning sets of the test's design. Learners are fitted once for each different design, however
    many tests and pairs use it. Tests that draw their own learning sets ("ustatistic",
    "influence") make their own fits.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
    learners : sequence or mapping
        At least two; of a mapping the keys are the names.
    tests : "recommended", str, test class, TestSpec, a list of these, or a mapping
        Short names such as "corrected_t", classes such as ``uv.CorrectedTTest``, or
        ``uv.TestSpec(name, constructor, fit)`` with options; of a mapping the keys are the
        labels in the table. "recommended" is the one test that `advise` recommends for this number
        of observations and this loss, with up to 10 000 fits if all learners are jitted. If one of
        them is fitted one by one, it is "ustatistic" with 20 fits of each learner, whatever the
        number of pairs; `max_fits` and `max_seconds` allow more. Scores of whole test sets have
        "corrected_t". With "simultaneous" it is "ustatistic", with 200 fits of each learner that is
        not jitted.
    loss : str, callable, Loss or matrix, optional
        One for all tests; "auc" compares areas under the ROC curve, of more than two classes by
        "ustatistic" alone.
    alternative : {"two-sided", "less", "greater"}
        H1: the first learner's loss (with `scoring` its score, or its AUC) differs from, is below,
        or is above the second's.
    correction : str or None
        How p-values are adjusted for the number of pairs within each test, as
        `statsmodels.stats.multitest.multipletests` names it; None leaves them. "simultaneous"
        allows for the correlation of the estimates. All learners are then fitted to the same
        learning sets, p-values are adjusted step by step by the largest studentised difference, and
        intervals are simultaneous, over several metrics too. It exists for "ustatistic" (the
        default), "hold_out" and "delong", and makes `Comparison.best_set` and
        `Comparison.learner_frame` available.
    pos_label, groups, group_weight, backend : optional
        See the tests.
    rng : None, int or numpy Generator
        Decides all draws. Every design is drawn with the same seed: each result equals that of the
        test alone with this `rng`.
    n_jobs : int, optional
        joblib's workers, for learners that are not jitted.
    batch_size : int, optional
        Largest number of learning sets passed at once to a learner that is not jitted; jitted
        learners have their own bounds. It does not change the result.
    progress : bool, optional
        Show progress bars; by default on terminals, after three seconds.
    contrast : {"difference", "ratio"}
        "ratio" compares expected losses by their ratio, 1 under H0, for losses that are never
        negative. Only "ustatistic" has it, which is then the default.
    scoring : str or scorer, optional
        scikit-learn's, instead of `loss`: see the tests.
    missing : {"raise", "drop"}
        "drop" leaves out observations with missing values, with a note.
    cv : int, splitter or iterable, optional
        scikit-learn's, as the design of all tests that do not name one.
    max_seconds : float, optional
        Approximate limit on the seconds of the comparison; some fits are timed first. The
        recommended test is then the one that `advise` recommends for the number of fits that fit
        into the time; `settings` name it with its options, which repeat the comparison. The designs
        of named tests are fitted whole or refused; "ustatistic" and "influence" share the rest, as
        their `max_fits`. A limit that is too small is refused, with the smallest that suffices.
    checkpoint : path, optional
        A folder that keeps finished work: the predictions of learners that are fitted one by one,
        every few seconds, and each result of tests with their own draws. After an interrupt or a
        crash, the same call continues from there, to the results of an uninterrupted call (except
        for the seconds they took). With ``rng=None`` the resumed call reuses the original seed. A
        folder of other data, learners, tests, seed or versions of packages is refused, and so is
        one that is damaged or that another call is writing. A learner is identified by its
        parameters, by the source of its class and functions, and by the functions, classes and
        values of global variables that these read. The check does not see imports while a function
        runs, files, or the environment. What cannot be compared, such as a function without source
        or an open file, is refused.
    max_fits : int, optional
        Largest number of model fits, counting each learner and each learning set. They are spent
        like the fits that `max_seconds` has time for. A number that is too small is refused before
        the first fit, with the smallest that suffices.
    metric : str, metric, or a list of these, optional
        A metric that is not a mean of losses, such as "f1", "mcc" or "r2": see
        `Losses.from_predictions`. Several, such as ``["f1", "mcc", "auc"]``, give one table, with
        rows named by the metric (and by the test, if there are several). Metrics of the same kind
        of prediction cost the fits of one: "ustatistic" then has as many pairs of learning sets as
        `max_fits` allows, 1000 by default if all learners are jitted (`uv.designs.DisjointSets`).
        One metric alone has up to 2500. With 1000 the variance is more often that of few fits, and
        intervals can be half as long again: ``max_fits=10_000`` gives each metric 2500 pairs.
        Metrics that need other predictions, such as "auc" together with "f1", have their own fits,
        on learning sets from the same seed.
    weights : array-like, shape (n,), str or mapping, optional
        How much each row counts, in fitting and in the loss: see the tests.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If an argument cannot be used, or a test cannot answer the question; before the first
        fit. Later only if a learner fails on a split.
    KeyboardInterrupt
        Its attribute `results` has the finished results: a dict with keys (test, learner, other).
        With `checkpoint` the same call continues from there. They include a test that answers from
        the fits done so far (see `UStatisticTest.fit`); if it was the last, the comparison is
        returned.

    Notes
    -----
    p-values are not adjusted for the number of tests of the same difference: decide before looking
    at the results which test counts. Cost: for each design, the number of learning sets times the
    number of learners; "ustatistic" continues until its Monte-Carlo error is small, or `max_fits`
    are done. With "delong" the outcome also has a joint test that all AUCs are
    equal: `Comparison.joint_test`.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tests = ["corrected_t", "fold_covariance"]
    >>> found = uv.compare(X[50:, :2], y[50:], ["lda", "knn:1", "majority"], tests, rng=0)
    >>> len(found.pairs), found.n_fits
    (3, 30)
    >>> found.frame[["test", "learner", "other", "pvalue", "pvalue_adjusted"]].shape
    (6, 5)
    """
    started = time.perf_counter()
    check_workers(n_jobs, batch_size)
    if max_fits is not None and max_seconds is not None:
        raise ValueError(
            f"{arg('max_fits')} and {arg('max_seconds')} exclude each other: pass one of them"
        )
    learners_by_name = named_learners(learners)
    if len(learners_by_name) < 2:
        raise ValueError(
            f"learners has {len(learners_by_name)} learner, and a comparison needs two: use a test "
            f"of one learner, such as {call('UStatisticTest')}"
        )
    saved = None if checkpoint is None else Checkpoint(checkpoint)
    generator, seed = make_generator(rng if saved is None else saved.seed(rng))
    seed = int(generator.integers(2**32)) if seed is None else seed
    families = families_of(loss, scoring, metric, weights)
    _check_apart(families, max_seconds=max_seconds, max_fits=max_fits, checkpoint=checkpoint)
    X, y, groups, weights, n_dropped = complete_weighted_rows(X, y, groups, weights, missing)
    base = (alternative, pos_label, groups, group_weight, backend, contrast)
    questions = [
        ComparisonQuestion(
            *(X, y, learners_by_name, first, *base),
            baseline=baseline_of(tuple(learners_by_name), baseline),
            simultaneous=correction == "simultaneous",
            other_metrics=tuple(other_metrics),
            several=is_several(metric),
            weights=weights,
        )
        for first, *other_metrics in families
    ]
    tests = questions[0].on_splits(tests, cv, n_dropped)
    with nullcontext() if saved is None else saved:
        if saved is not None:
            saved.begin(
                _checkpoint_question(questions[0], tests, max_seconds, max_fits),
                learners_by_name,
                seed,
            )
        execution = replace(Execution.of(seed, n_jobs, batch_size), progress=Progress(saved))
        # All are planned, and refused, before the first is fitted.
        budget = None
        if max_fits is not None or max_seconds is not None:
            budget = Budget(max_fits, max_seconds, execution)
        plans = [_planned(question, tests, seed, budget) for question in questions]
        for spec in plans[0].specs.values():
            refuse_row_numbers(spec.constructor.get("design"), n_dropped)
        kept = Findings()
        try:
            for plan in plans:
                _Run(plan, execution, progress, kept).results()
        except KeyboardInterrupt as interruption:
            raise Interrupted(
                kept.results, f"{len(kept.results)} results by test and pair"
            ) from interruption
    metrics = names_of(metric) if is_several(metric) else ()
    tests = plans[0].specs
    labels = [metric_label(test, metric, tests) for test in tests for metric in metrics]
    labels = labels or list(tests)
    pairs, notes = questions[0].pairs, dropped_note(n_dropped)
    results = {(label, *pair): kept.results[label, *pair] for label in labels for pair in pairs}
    if notes:
        results = {
            key: replace(result, notes=(*result.notes, *notes)) for key, result in results.items()
        }
    across = {}
    if correction == "simultaneous":
        across = joint_statistics(tests, metrics, results, kept.directions)
    comparison = Comparison(
        learners=tuple(learners_by_name),
        results=results,
        fits=tuple(kept.fits),
        correction=correction,
        elapsed=time.perf_counter() - started,
        settings=_settings(plans[0], correction, metrics),
        joint={label: kept.joint[label] for label in labels if label in kept.joint},
        together={label: kept.together[label] for label in labels if label in kept.together},
        across=across,
    )
    hooks.announce_comparison(plans[0].first.first, comparison)
    return comparison


def _planned(question: ComparisonQuestion, tests: Any, seed: int, budget: Budget | None) -> Plan:
    """The tests of a question, with no more fits than there may be."""
    if budget is not None:
        question = replace(question, affordable=budget.affordable(question.pairs))
    plan = Plan(question, tests, seed)
    default = plan.default
    if budget is None or (default is not None and (default.advice is not None or default.shared)):
        return plan
    return budget.within(plan)


def _check_apart(families: Sequence[Family], **arguments: Any) -> None:
    """Refuse bounds, and files, for metrics that are fitted by themselves."""
    argument_names = [name for name, value in arguments.items() if value is not None]
    if len(families) > 1 and argument_names:
        first = [
            family_metric if isinstance(family_metric, str) else family_metric.name
            for family_metric, *_ in families
        ]
        raise ValueError(
            f"{argument_names[0]} is not for metrics that need fits of their own, as {first[0]} "
            f"and {first[1]} do: call once for each, or leave {argument_names[0]} out"
        )


def _checkpoint_question(
    question: ComparisonQuestion, tests: Any, max_seconds: float | None, max_fits: int | None
) -> dict[str, Any]:
    """What decides the fits of a comparison, for its checkpoint."""
    if not (isinstance(tests, str) and tests == RECOMMENDED):
        specs = as_specs(tests)
        tests = {label: (spec.name, spec.constructor, spec.fit) for label, spec in specs.items()}
    names = ("X", "y", "loss", "contrast", "baseline", "pos_label", "groups", "group_weight")
    return {
        "call": "compare",
        **{name: getattr(question, name) for name in (*names, "backend", "simultaneous")},
        "tests": tests,
        "max_seconds": None if max_seconds is None else f"{max_seconds:g}",
        **({} if max_fits is None else {"max_fits": max_fits}),
        **({"others": question.other_metrics} if question.other_metrics else {}),
        **({"weights": question.weights} if question.weights else {}),
    }


def _settings(plan: Plan, correction: str | None, metrics: tuple[str, ...] = ()) -> dict[str, Any]:
    """All that is needed to repeat the comparison on the same data."""
    request, question = plan.request, plan.first.question
    return {
        "learners": list(request.learners),
        "tests": {label: spec.words for label, spec in plan.specs.items()},
        "loss": ", ".join(metrics) or question.metric.reported_name,
        **({"metrics": list(metrics)} if metrics else {}),
        "alternative": request.alternative,
        "correction": correction,
        "pos_label": plan.first.first.positive,
        "backend": request.backend,
        **({} if question.clusters is None else {"group_weight": request.group_weight}),
        **({"weights": question.weighted} if question.weighted else {}),
        **({} if request.contrast == "difference" else {"contrast": request.contrast}),
        **({} if request.baseline is None else {"baseline": request.baseline}),
        "rng": plan.seed,
    }


class _Run:
    """Fits what a plan needs, design by design, and runs its tests."""

    def __init__(
        self, plan: Plan, execution: Execution, progress: bool | None, kept: Findings
    ) -> None:
        self.plan, self.execution, self.progress, self.kept = plan, execution, progress, kept
        self.interrupted = False

    def results(self) -> None:
        """Find the results by test and pair, one after the other."""
        default = self.plan.default
        request = self.plan.request
        n_results = len(self.plan.specs) * len(request.pairs) * (1 + len(request.other_metrics))
        for key, result in self._one_by_one():
            self.kept.results[key] = result if default is None else default.noted(result)
            self.interrupted |= was_interrupted(result)
            n_results -= 1
        # The last one ends nothing else.
        if self.interrupted and n_results:
            raise KeyboardInterrupt

    def _one_by_one(self) -> Iterator[tuple[Key, TestResult]]:
        # One design after the other, so that the losses of one are kept at a time.
        for shared in self.plan.shared:
            yield from self._of_design(shared)
        for test in self.plan.own_set_tests:
            if self.interrupted:
                return
            yield from self._of_own_sets(test) if test.joint_run is None else self._jointly(test)

    def _execution(self, rng: np.random.Generator, bar: Any = None) -> Execution:
        execution = replace(self.execution, generator=rng)
        return execution if bar is None else replace(execution, bar=bar)

    def _of_design(self, shared: SharedDesign) -> Iterator[tuple[Key, TestResult]]:
        """Results of the tests that share a design, from its losses."""
        plan, design, problem = self.plan, shared.drawn, shared.problem
        design_name, metrics = shared.design.words, (None, *plan.request.other_metrics)
        settings = {"design": design_name, "rng": plan.seed}
        notes = {}
        with (
            hooks.fitting(shared.tests[0].first),
            progress_bar(self.progress, design_name, "fit") as bar,
        ):
            for pair in plan.request.pairs:
                # The remarks on translated estimators can take fits.
                learners = [problem.learners[name] for name in pair]
                notes[pair] = [
                    *sample_notes(problem.sample),
                    *notes_on_learners(learners, problem.sample),
                    *remarks_of(learners),
                ]
            execution = self._execution(shared.rng, bar)
            losses = evaluate_problem(problem, design, execution, settings, say_names=True)
        labels = tuple(
            plan.label(test.label, metric or problem.metric)
            for test in shared.tests
            for metric in metrics
        )
        self.kept.fits.append(
            Fits(design_name, design.learn_sizes, design.n_resamples, losses.n_fits, labels)
        )
        for metric in metrics:
            metric_losses = losses if metric is None else losses.about(metric)
            yield from self._of_losses(shared, metric_losses, notes)

    def _of_losses(
        self, shared: SharedDesign, losses: Losses, notes: Mapping[Pair, Sequence[str]]
    ) -> Iterator[tuple[Key, TestResult]]:
        """Results of the tests that share a design, from losses by one metric."""
        request = self.plan.request
        to_compare = LossesToCompare(
            losses,
            request.pairs,
            request.alternative,
            shared.problem.group_weight,
            request.contrast,
            request.simultaneous,
        )
        for planned in shared.tests:
            test = TestOnLosses(planned.label, planned.spec, to_compare, planned.fit_options)
            label = self.plan.label(planned.label, losses.metric)
            results, together = test.results()
            source = (id(self), planned.label) if request.several else None
            self.kept.add(label, test, together, source)
            for pair, result in results.items():
                yield (label, *pair), replace(result, notes=(*result.notes, *notes[pair]))

    def _jointly(self, test: PlannedTest) -> Iterator[tuple[Key, TestResult]]:
        """Results of a test that fits all learners together to its own learning sets."""
        question = test.question
        label = self.plan.label(test.label, question.metric)
        all_learners = question.with_learners(self.plan.request.learners).ready(question.learn_size)
        started = time.perf_counter()
        with (
            naming_test(test.label),
            hooks.fitting(test.first),
            progress_bar(self.progress, test.label, "fit") as bar,
        ):
            execution = self._execution(np.random.default_rng(self.plan.seed), bar)
            results, together = test.joint_run.fitted(all_learners.problem, execution)
        self.kept.together[label] = together
        first_result = next(iter(results.values()))
        n_fits = sum(results[name].n_fits for name in together.learners)
        size = first_result.settings.get("learn_size")
        sizes = (size,) if isinstance(size, int) else ()
        n_sets = n_fits // len(all_learners.learners)
        self.kept.fits.append(Fits(SHARED_BY_ALL, sizes, n_sets, n_fits, (label,)))
        for pair in self.plan.request.pairs:
            elapsed = time.perf_counter() - started
            yield (label, *pair), replace(results[pair], elapsed=elapsed)

    def _of_own_sets(self, planned: PlannedTest) -> Iterator[tuple[Key, TestResult]]:
        """Results of a test that draws its own learning sets, pair by pair."""
        of_pairs, sizes = {}, set()
        label = self.plan.label(planned.label, planned.question.metric)
        checkpoint = self.execution.progress.checkpoint
        # Pairs draw by the same seed: of one learner they ask for the same fits.
        self.execution.progress.known = KnownFits()
        for pair in planned.tests:
            if self.interrupted:
                return
            with naming_test(planned.label):
                # The result of the checkpoint, or a new one.
                key = (planned.label, *pair)
                saved_result = None if checkpoint is None else checkpoint.result(key)
                if saved_result is None:
                    execution = self._execution(np.random.default_rng(self.plan.seed))
                    options = planned.options[pair]
                    result = planned.tests[pair].run(options, execution, self.progress)
                    if checkpoint is not None and not was_interrupted(result):
                        checkpoint.keep_result(key, result.to_dict())
                else:
                    result = TestResult.from_dict(saved_result)
            of_pairs[pair] = result.n_fits
            sizes.add(result.settings.get("learn_size"))
            names = dict(zip(("learner", "other"), pair, strict=True))
            yield (label, *pair), replace(result, settings={**result.settings, **names})
        default, n_fits = self.plan.default, sum(of_pairs.values())
        shared = default is not None and default.shared
        if shared:
            # All pairs of a learner have the same learning sets.
            n_fits = sum(
                max(fits // 2 for pair, fits in of_pairs.items() if name in pair)
                for name in {learner for pair in of_pairs for learner in pair}
            )
        known_sizes = tuple(sorted(size for size in sizes if isinstance(size, int)))
        design_name = SHARED_BY_ALL if shared else OWN
        self.kept.fits.append(Fits(design_name, known_sizes, None, n_fits, (label,)))
