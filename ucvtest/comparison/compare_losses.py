"""`compare_losses`: several tests on losses that exist."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ucvtest import hooks
from ucvtest.common.checks import is_integer, named_options
from ucvtest.common.words import arg, call
from ucvtest.comparison.comparison import Comparison, Correction, Fits
from ucvtest.comparison.planned_tests import check_simultaneous, naming_test, pairs_of
from ucvtest.comparison.several_metrics import (
    check_names,
    is_several,
    joint_statistics,
    metric_label,
)
from ucvtest.comparison.specs import TestSpec, as_specs
from ucvtest.comparison.tests_on_losses import MOST_MADE, Findings, LossesToCompare, TestOnLosses
from ucvtest.data.groups import GroupWeight, check_group_weight
from ucvtest.designs.adapters import as_design
from ucvtest.inference.question import check_losses
from ucvtest.losses.table import Losses
from ucvtest.methods.registry import tests_that_compare
from ucvtest.results.columns import Pair, ResultsOfTests
from ucvtest.results.result import TestResult
from ucvtest.stats.wald import Alternative

LONGEST_REFUSAL = 600
"""Characters of a refusal that somebody still reads."""


@named_options
def compare_losses(
    losses: Losses,
    tests: Any = None,
    *,
    metric: Any = None,
    baseline: str | int | None = None,
    alternative: Alternative = "two-sided",
    correction: Correction | None = "holm",
    group_weight: GroupWeight | None = None,
) -> Comparison:
    """Compare learners, or fixed rules, by several tests on losses that exist: nothing is fitted.

    Parameters
    ----------
    losses : Losses
        Of two learners at least: see `evaluate`, `Losses.from_predictions`,
        `Losses.from_scores` and their like.
    tests : str, test class, TestSpec, a list of these, or a mapping, optional
        As for `compare`; options of the class have no use, as the losses decide them. By default
        all valid tests that accept the losses.
    metric : str, metric, or a list of these, optional
        Score the same predictions by another metric, or by several, whose names then are those of
        the rows: for losses that were made with ``metric=``, which keep predictions.
    baseline : str or int, optional
        Name or place of the learner with which all others are compared: estimates are each of them
        minus it. By default all pairs are compared.
    alternative : {"two-sided", "less", "greater"}
        H1: the first learner's loss (or score) differs from, is below, or is above the second's.
    correction : str or None
        How p-values are adjusted for the number of pairs within each test: see `compare`.
        "simultaneous" exists for "ustatistic", "hold_out" and "delong".
    group_weight : {"group", "row"}, optional
        How much the clusters of the losses count: see the tests. By default "row" for answers that
        are right or wrong, otherwise "group".

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If an argument cannot be used, or a named test does not accept the losses.

    Notes
    -----
    p-values are not adjusted for the number of tests of the same difference: decide before looking
    at the results which test counts, and name it in `tests`.

    Examples
    --------
    >>> import ucvtest as uv
    >>> scores = {"a": [0.9, 0.8, 0.85, 0.9], "b": [0.8, 0.75, 0.8, 0.7], "c": [0.7, 0.8, 0.6, 0.7]}
    >>> losses = uv.Losses.from_scores(scores, n_learn=60, n_test=20)
    >>> found = uv.compare_losses(losses, ["corrected_t", "bayesian_t"], baseline="a")
    >>> found.pairs, found.n_fits
    ((('b', 'a'), ('c', 'a')), 12)
    >>> round(found.result("corrected_t", "b").estimate, 3)
    -0.1
    """
    started = time.perf_counter()
    check_losses(losses)
    metrics = _scored_by(losses, metric)
    losses = next(iter(metrics.values()))
    grouped = losses.groups is not None
    if group_weight is None:
        group_weight = losses.usual_weight if grouped else "group"
    check_group_weight(group_weight, grouped=grouped)
    names = losses.learners
    if len(names) < 2:
        raise ValueError(
            "losses has one learner, and a comparison needs two: use a test of one learner, such "
            f"as {call('CorrectedTTest')}"
        )
    reference = None if baseline is None else names[losses.number_of(baseline)]
    request = LossesToCompare(
        losses,
        pairs_of(names, reference),
        alternative,
        group_weight,
        simultaneous=correction == "simultaneous",
    )
    specs = as_specs(tests) if tests is not None else _admitting(request)
    several = is_several(metric)
    planned = [
        (
            source if several else None,
            _planned(
                metric_label(source, name, specs) if several else source,
                *(spec, replace(request, losses=scored)),
            ),
        )
        for source, spec in specs.items()
        for name, scored in metrics.items()
    ]
    results_by_test: dict[str, Mapping[Pair, TestResult]] = {}
    kept = Findings()
    for named_source, test in planned:
        results_by_test[test.label], together = test.many_results() or test.results()
        kept.add(test.label, test, together, named_source)
    results, first = ResultsOfTests(results_by_test), planned[0][1]
    settings = {
        **losses.settings,
        "learners": list(names),
        "tests": {label: spec.words for label, spec in specs.items()},
        "loss": losses.loss,
        "alternative": alternative,
        **({"group_weight": group_weight} if grouped else {}),
        "correction": correction,
        "baseline": reference,
    }
    across = {}
    if several:
        settings |= {"loss": ", ".join(metrics), "metrics": list(metrics)}
        if request.simultaneous:
            across = joint_statistics(specs, metrics, results, kept.directions)
    comparison = Comparison(
        learners=losses.learners,
        results=results,
        fits=(_fits(losses, tuple(results_by_test)),),
        correction=correction,
        elapsed=time.perf_counter() - started,
        settings=settings,
        joint=kept.joint,
        together=kept.together,
        across=across,
    )
    hooks.announce_comparison(first.of(*request.pairs[0]), comparison)
    return comparison


def _fits(losses: Losses, labels: tuple[str, ...]) -> Fits:
    design = losses.design
    design_name = str(losses.settings.get("design", as_design(design).words))
    if not design.learns:
        return Fits(design_name, (), 0, 0, labels)
    return Fits(design_name, design.learn_sizes, design.n_resamples, losses.n_fits, labels)


def _scored_by(losses: Losses, metric: Any) -> dict[str, Losses]:
    """The losses, or the same predictions by each of the metrics that are named."""
    if metric is None:
        return {losses.loss: losses}
    scored = [
        losses.about(metric_choice)
        for metric_choice in (metric if is_several(metric) else [metric])
    ]
    check_names([scored_losses.loss for scored_losses in scored])
    return {scored_losses.loss: scored_losses for scored_losses in scored}


def _planned(label: str, spec: TestSpec, request: LossesToCompare) -> TestOnLosses:
    """The test, if it and its options can be used for every pair."""
    planned = TestOnLosses(label, spec, request, spec.fit)
    with naming_test(label):
        if request.simultaneous:
            check_simultaneous(spec)
        if spec.constructor:
            raise ValueError(
                f"{', '.join(spec.constructor)} does not apply when losses are given, which decide "
                "it: leave it out"
            )
    # Of many pairs the first: all are of the same losses.
    n_pairs = len(request.pairs)
    for pair in request.pairs[: n_pairs if n_pairs <= MOST_MADE else 1]:
        test = planned.of(*pair)
        with naming_test(label):
            test.fit_options(**spec.fit)
    return planned


def _admitting(request: LossesToCompare) -> dict[str, TestSpec]:
    """All valid tests that accept the losses."""
    admitting, reasons, taken = {}, [], []
    for name, cls in tests_that_compare().items():
        if not cls.valid:
            continue
        spec = TestSpec(name)
        try:
            TestOnLosses(name, spec, request, spec.fit).of(*request.pairs[0])
            if request.simultaneous:
                with naming_test(name):
                    check_simultaneous(spec)
        except ValueError as error:
            reasons.append(str(error))
        else:
            # Only the user knows whether rows are in the order of time.
            if cls.needs.time:
                taken.append(name)
            else:
                admitting[name] = spec
    if admitting:
        return admitting
    if taken:
        raise ValueError(
            f"no test of losses without an order accepts these, and {taken[0]!r} does, if rows are "
            f"in the order of time: name it, {arg('tests', taken[0])}"
        )
    # As many of the reasons as can be read.
    refusal = f"no test accepts these losses: {reasons[0]:.{LONGEST_REFUSAL // 2}}"
    for number, reason in enumerate(reasons[1:], start=1):
        if len(refusal) + len(reason) > LONGEST_REFUSAL - 60:
            refusal += (
                f"; {len(reasons) - number} more tests do not either: name one in {arg('tests')} "
                "to read why"
            )
            break
        refusal += f"; {reason}"
    raise ValueError(refusal)


def baseline_of(names: tuple[str, ...], baseline: Any) -> str | None:
    """The name of the learner that a user means."""
    if baseline is None or (isinstance(baseline, str) and baseline in names):
        return baseline
    if is_integer(baseline) and 0 <= baseline < len(names):
        return names[baseline]
    raise ValueError(
        f"{arg('baseline', baseline)} is not one of the learners: use one of {', '.join(names)}"
    )
