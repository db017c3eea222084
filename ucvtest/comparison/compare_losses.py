"""`compare_losses`: several tests on losses that exist."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ucvtest import hooks
from ucvtest.common.checks import is_integer
from ucvtest.common.execution import Stopwatch
from ucvtest.comparison.comparison import Comparison
from ucvtest.comparison.fields import Correction, Fits, Pair, check_correction
from ucvtest.comparison.planned_tests import check_simultaneous, naming_test, pairs_of
from ucvtest.comparison.specs import TestSpec, as_specs
from ucvtest.data.groups import GroupWeight, check_group_weight
from ucvtest.designs.adapters import as_design
from ucvtest.inference.base import checked_alternative
from ucvtest.inference.from_losses import FromLosses, check_losses
from ucvtest.losses.table import Losses
from ucvtest.methods.registry import tests_that_compare
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.wald import Alternative

__all__ = ["compare_losses"]


def compare_losses(
    losses: Losses,
    tests: Any = None,
    *,
    baseline: str | int | None = None,
    alternative: Alternative = "two-sided",
    correction: Correction | None = "holm",
    group_weight: GroupWeight = "group",
) -> Comparison:
    """Compare learners, or fixed rules, by several tests on losses that exist: nothing is fitted.

    Parameters
    ----------
    losses : Losses
        Of two learners at least: see `evaluate`, `Losses.from_predictions`,
        `Losses.from_scores` and their like.
    tests : str, test class, TestSpec, a list of these, or a mapping, optional
        As for `compare`; options of the class have no use, as the losses decide them. By default
        all valid tests that admit the losses.
    baseline : str or int, optional
        Name or place of the learner with which all others are compared: estimates are each of them
        minus it. By default all pairs are compared.
    alternative : {"two-sided", "less", "greater"}
        H1: the first learner's loss (or score) differs from, is below, or is above the second's.
    correction : str or None
        How p-values are adjusted for the number of pairs within each test: see `compare`.
        "simultaneous" is known for "ustatistic", "hold_out" and "delong".
    group_weight : {"group", "row"}
        How much the clusters of the losses count: see the tests.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If an argument cannot be used, or a test that was named does not admit the losses.

    Notes
    -----
    Different tests of the same difference are no family, and their p-values are not adjusted
    for their number: decide before looking which one counts, and best name it in `tests`.

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
    stopwatch = Stopwatch()
    check_losses(losses)
    checked_alternative(alternative)
    check_correction(correction)
    check_group_weight(group_weight, grouped=losses.groups is not None)
    pairs = _pairs(losses, baseline)
    asked: dict[str, Any] = {"alternative": alternative}
    if losses.groups is not None:
        asked["group_weight"] = group_weight
    simultaneous = correction == "simultaneous"
    specs = as_specs(tests) if tests is not None else _admitting(losses, pairs[0], asked)
    if simultaneous and tests is None:
        specs = {label: spec for label, spec in specs.items() if spec.cls.judges_several}
    for label, spec in specs.items() if simultaneous else ():
        with naming_test(label):
            check_simultaneous(spec)
    planned = [_Planned(label, spec, losses, asked) for label, spec in specs.items()]
    made = {(each.label, pair): each.made(pair) for each in planned for pair in pairs}
    results, together = _results(planned, made, simultaneous=simultaneous)
    comparison = Comparison(
        learners=losses.learners,
        results=results,
        fits=(_fits(losses, tuple(specs)),),
        correction=correction,
        elapsed=stopwatch.seconds,
        settings=_settings(losses, specs, baseline, asked, correction),
        joint={each.label: joint for each in planned if (joint := each.joint()) is not None},
        together=together,
    )
    hooks.announce_comparison(next(iter(made.values())), comparison)
    return comparison


@dataclass(frozen=True)
class _Planned:
    """A test with its options, for the pairs of some losses."""

    label: str
    spec: TestSpec
    losses: Losses
    asked: Mapping[str, Any]

    def made(self, pair: Pair) -> Any:
        """The test of one pair; refused if it does not admit the losses."""
        with naming_test(self.label):
            if self.spec.constructor:
                raise ValueError(
                    f"{', '.join(self.spec.constructor)} has no use where losses are given, which "
                    "decide it: leave it out"
                )
            cls: Any = self.spec.cls
            if not issubclass(cls, FromLosses):
                return cls.from_losses(self.losses, *pair)
            test: Any = cls.from_losses(self.losses, *pair, **self.asked)
            test._options(**self.spec.fit)
            # The hooks are told of the comparison as a whole.
            test._announced = False
            return test

    def joint(self) -> Any:
        """The test of all learners at once, where there is one."""
        cls: Any = self.spec.cls
        return cls._joint(self.losses, self.asked.get("group_weight", "group"))


def _pairs(losses: Losses, baseline: str | int | None) -> list[Pair]:
    names = losses.learners
    if len(names) < 2:
        raise ValueError(
            "losses has one learner, and a comparison needs two: use a test class, such as "
            "uv.CorrectedTTest.from_losses(losses)"
        )
    return list(pairs_of(names, None if baseline is None else names[losses.number_of(baseline)]))


def _admitting(losses: Losses, pair: Pair, asked: Mapping[str, Any]) -> dict[str, TestSpec]:
    """All valid tests that admit the losses."""
    found, reasons = {}, []
    for name, cls in tests_that_compare().items():
        if not cls.valid:
            continue
        try:
            _Planned(name, TestSpec(name), losses, asked).made(pair)
        except ValueError as error:
            reasons.append(str(error))
        else:
            found[name] = TestSpec(name)
    if not found:
        raise ValueError(f"no test admits these losses: {'; '.join(reasons)}")
    return found


def _results(
    planned: list[_Planned], made: Mapping[tuple[str, Pair], Any], *, simultaneous: bool
) -> tuple[dict[tuple[str, str, str], TestResult], dict[str, JointEstimates]]:
    """The results of all tests, and what joins the learners where they are judged together."""
    results: dict[tuple[str, str, str], TestResult] = {}
    together = {}
    for each in planned:
        tests = {pair: test for (label, pair), test in made.items() if label == each.label}
        with naming_test(each.label):
            if simultaneous:
                found, together[each.label] = judged_together(tests, each.losses, each.spec.fit)
            else:
                found = {pair: test.fit(**each.spec.fit) for pair, test in tests.items()}
        results |= {(each.label, *pair): found[pair] for pair in tests}
    return results, together


def judged_together(
    made: Mapping[Pair, Any], losses: Losses, options: Mapping[str, Any]
) -> tuple[dict[Any, TestResult], JointEstimates]:
    """The results of tests of pairs and of each learner alone, and what joins them."""
    first = next(iter(made.values()))
    cls = type(first)
    alone = {name: cls.from_losses(losses, name) for name in losses.learners}
    tests: dict[Any, Any] = {**alone, **made}
    for name, test in tests.items():
        test._announced = False
        if isinstance(name, str):
            test.null_value, test.alternative = math.nan, first.alternative
    return cls._judged_together(tests, losses, options)


def baseline_of(names: tuple[str, ...], baseline: Any) -> str | None:
    """The name of the learner that a user means."""
    if baseline is None or (isinstance(baseline, str) and baseline in names):
        return baseline
    if is_integer(baseline) and 0 <= baseline < len(names):
        return names[baseline]
    raise ValueError(
        f"baseline={baseline!r:.60} is none of the learners: use one of {', '.join(names)}"
    )


def _fits(losses: Losses, labels: tuple[str, ...]) -> Fits:
    design = losses.design
    words = str(losses.settings.get("design", as_design(design).words))
    if not design.learns:
        return Fits(words, (), 0, 0, labels)
    return Fits(words, design.learn_sizes, design.n_resamples, losses.n_fits, labels)


def _settings(
    losses: Losses,
    specs: Mapping[str, TestSpec],
    baseline: str | int | None,
    asked: Mapping[str, Any],
    correction: str | None,
) -> dict[str, Any]:
    known = dict(losses.settings)
    return {
        **known,
        "learners": list(losses.learners),
        "tests": {label: spec.words for label, spec in specs.items()},
        "loss": losses.loss,
        **asked,
        "correction": correction,
        "baseline": None if baseline is None else losses.learners[losses.number_of(baseline)],
    }
