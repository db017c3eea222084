"""A comparison in words and tables."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from string import ascii_uppercase

import numpy as np

from ucvtest.common.notes import Note, reworded
from ucvtest.common.words import excerpt, term
from ucvtest.comparison.comparison import MOST_SHOWN, Comparison
from ucvtest.inference.notes import POSITIVE_CLASS, REUSED
from ucvtest.metrics.named import kind_in_words
from ucvtest.results.fields import check_alpha
from ucvtest.results.result import TestResult
from ucvtest.results.text_tables import Grid, Tables, decimals_of, is_missing, number_column
from ucvtest.results.wording import direction, is_below, percent, posterior_in_words
from ucvtest.results.wording import verdict as verdict_of_one

NAME_LENGTH = 14
"""Characters of a learner's name in tables of pairs."""

MOST_NAMED = 6
"""Learners of a best set that the verdict names; it counts more."""

MOST_ROWS = 20
"""Learners that the table of them shows, the best ones."""

PVALUES = ("p-value", "adjusted")
"""Columns that are left out if no row has one."""

NO_DIFFERENCE = "no difference"
PROBABILITIES = "probabilities instead of a p-value"
NO_PVALUE = "no p-value"
NOTHING = (NO_DIFFERENCE, PROBABILITIES, NO_PVALUE)
"""Findings that are none, in the order in which they are told."""


def verdict(comparison: Comparison, alpha: float = 0.05) -> str:
    """What the tests find, in a sentence for two learners, and one for each test of more.

    Of several pairs the adjusted p-values are compared with `alpha`.
    """
    check_alpha(alpha)
    if len(comparison.results) == 1:
        return verdict_of_one(comparison.result(), alpha)
    level = f"{percent(alpha)} level"
    # The class that estimates are about, where they depend on it.
    positive_labels = (
        result.diagnostics.get(POSITIVE_CLASS) for result in comparison.shown_results.values()
    )
    label = next((label for label in positive_labels if label is not None), None)
    positive = "" if label is None else f" The positive class is {excerpt(label)}."
    if len(comparison.pairs) == 1:
        adjustment_text = ", p-values adjusted for all metrics," if comparison.across else ""
        return f"At the {level}{adjustment_text} {_of_two(comparison, alpha)}.{positive}"
    correction = comparison.correction
    adjusted = f", p-values adjusted ({term(correction)})," if correction else ""
    labels = {
        test: label_of(test, result) for (test, *_), result in comparison.shown_results.items()
    }
    test_verdicts = (
        f"{label} {_of_pairs(comparison, test, alpha)}{_best_set_clause(comparison, test, alpha)}"
        for test, label in labels.items()
    )
    return f"At the {level}{adjusted} {'; '.join(test_verdicts)}.{positive}"


def _best_set_clause(comparison: Comparison, test: str, alpha: float) -> str:
    """A clause on the best set, where there is one."""
    if test not in comparison.together:
        return ""
    best_set, n_learners = comparison.best_set(alpha, test), len(comparison.learners)
    if len(best_set) == 1:
        return f", and {best_set[0]} is the best"
    if len(best_set) <= MOST_NAMED:
        who = ", ".join(best_set)
    else:
        who = f"{len(best_set)} of the {n_learners}"
    return f", and the best one is among {who}"


def _of_two(comparison: Comparison, alpha: float) -> str:
    tests_by_claim: dict[str, list[str]] = {}
    invalid = []
    for key, result in comparison.results.items():
        test, *pair = key
        pvalue = comparison.adjusted_pvalues[key] if comparison.across else result.pvalue
        finding = _finding(result, pvalue, pair, alpha)
        if _is_valid(result):
            tests_by_claim.setdefault(finding, []).append(test)
        else:
            invalid.append(f"{test}, which is not valid and not counted, {_verb(finding, 1)}")
    total, row_noun = sum(map(len, tests_by_claim.values())), _noun(comparison)
    all_rows = f"both {row_noun}s" if total == 2 else f"all {total} {row_noun}s"
    if total == 1:
        all_rows = f"the {row_noun}"
    counted = []
    # The findings come first.
    for claim in sorted(
        tests_by_claim, key=lambda claim: 1 + NOTHING.index(claim) if claim in NOTHING else 0
    ):
        tests = tests_by_claim[claim]
        rows = f"{len(tests)} of {total} {row_noun}s" if len(tests) < total else all_rows
        counted.append(f"{rows} {_verb(claim, len(tests))} ({', '.join(tests)})")
    return "; ".join([*counted, *invalid])


def _is_valid(result: TestResult) -> bool:
    """Whether the test declares that its answer is to be relied on; one we do not know does."""
    from ucvtest.methods.registry import TESTS

    cls = TESTS.get(result.settings.get("test", ""))
    return cls is None or cls.valid


def label_of(test: str, result: TestResult) -> str:
    """The label of a test, marked where it is not valid."""
    return test if _is_valid(result) else f"{test} (not valid)"


def _noun(comparison: Comparison) -> str:
    """What rows are called by: the tests, or the metrics of one test."""
    is_one_test = len(comparison.settings.get("tests", ())) == 1
    return "metric" if comparison.metrics and is_one_test else "test"


def _verb(claim: str, count: int) -> str:
    """The verb of tests about a claim: they find it, or give another answer instead."""
    several = "" if count > 1 else "s"
    if claim in (PROBABILITIES, NO_PVALUE):
        return f"give{several} {claim}"
    return f"find{several} {claim}" if claim == NO_DIFFERENCE else f"find{several} that {claim}"


def _of_pairs(comparison: Comparison, test: str, alpha: float) -> str:
    columns, adjusted = comparison.columns[test], comparison.adjusted_pvalues
    pvalues = np.array([adjusted[test, *pair] for pair in columns.pairs])
    n_found = int((pvalues <= alpha).sum())
    posteriors = zip(pvalues, columns.values("posterior"), strict=True)
    missing = sum(math.isnan(pvalue) and posterior is None for pvalue, posterior in posteriors)
    without_pvalue = ""
    if missing:
        without_pvalue = (
            f" ({'one pair has' if missing == 1 else f'{missing} pairs have'} no p-value)"
        )
    # Of more, the smallest p-values are those that are shown.
    if n_found > MOST_SHOWN:
        return (
            f"finds differences in {n_found} of {len(columns)} pairs, which are in its frame"
            f"{without_pvalue}"
        )
    findings = [
        _finding(result, adjusted[key], key[1:], alpha)
        for key, result in comparison.shown_results.items()
        if key[0] == test
    ]
    kinds = set(findings)
    if len(kinds) == 1 and not kinds.isdisjoint(NOTHING) and missing in (0, len(columns)):
        return _verb(findings[0], 1)
    claims = [finding for finding in findings if finding not in NOTHING]
    return f"{_verb(', '.join(claims) or NO_DIFFERENCE, 1)}{without_pvalue}"


def _finding(result: TestResult, pvalue: float, pair: Sequence[str], alpha: float) -> str:
    """The claim that a p-value supports, if it supports one."""
    if result.posterior is not None:
        return PROBABILITIES
    if math.isnan(pvalue):
        return NO_PVALUE
    claims = direction(result)
    # At p = alpha exactly the test rejects, as everywhere.
    if pvalue > alpha or claims is None:
        return NO_DIFFERENCE
    winner = claims.below if is_below(result) else claims.above
    better, worse = pair if winner == "first" else pair[::-1]
    return f"{better} is better than {worse}"


def pair_text(comparison: Comparison, pair: Sequence[str]) -> str:
    """Two learners as their difference; a long name is cut, and told by its place."""
    sign = " / " if comparison.contrast == "ratio" else " - "
    return sign.join(_short(comparison, name) for name in pair)


def _short(comparison: Comparison, name: str) -> str:
    if len(name) <= NAME_LENGTH:
        return name
    ellipsis = f"... ({comparison.learners.index(name) + 1})"
    return name[: NAME_LENGTH - len(ellipsis)] + ellipsis


def tables(
    comparison: Comparison, alpha: float = 0.05, *, with_verdict: bool = True, notes: bool = False
) -> Tables:
    """Tables of a comparison; `alpha` is also the level of the verdict.

    With `notes` everything is shown: all settings, fits and notes.
    """
    check_alpha(alpha)
    left_out = set() if notes else {"Seconds"}
    if not notes and comparison.settings.get("alternative") == "two-sided":
        left_out.add("Alternative")
    fact_rows = [row for row in _fact_rows(comparison) if row[0] not in left_out]
    return Tables(
        _title(comparison),
        _statements(comparison),
        fact_rows,
        _main_grids(comparison, alpha, fits=notes or len(comparison.fits) > 1),
        verdict(comparison, alpha),
        with_verdict=with_verdict,
        notes=all_notes(comparison),
        in_full=notes,
        fits=_fit_lines(comparison),
        complete=None if notes else partial(tables, comparison, alpha, notes=True),
    )


def _title(comparison: Comparison) -> str:
    n_learners, n_tests = len(comparison.learners), len(comparison.tests)
    row_noun = _noun(comparison)
    return (
        f"Comparison of {n_learners} learners by {n_tests} {row_noun}{'s' if n_tests > 1 else ''}"
    )


def _statements(comparison: Comparison) -> list[tuple[str, str]]:
    names = comparison.learners
    if max(map(len, names)) > NAME_LENGTH:
        # Tables tell some by their places.
        names = tuple(f"({number}) {name}" for number, name in enumerate(names, start=1))
    statements = [("Learners", ", ".join(names))]
    if len(comparison.pairs) == 1:
        link = " over " if comparison.contrast == "ratio" else " minus "
        statements = [("Learners", link.join(comparison.pairs[0]))]
    estimands: dict[str, list[str]] = {}
    for (test, _, _), result in comparison.shown_results.items():
        tests = estimands.setdefault(result.estimand, [])
        if test not in tests:
            tests.append(test)
    for estimand, tests in estimands.items():
        added = f" ({', '.join(tests)})" if len(estimands) > 1 else ""
        statements.append(("Estimand", f"{estimand}{added}"))
    for (test, *pair), result in comparison.shown_results.items():
        test_and_pair = (
            test if len(comparison.pairs) == 1 else f"{test}, {pair_text(comparison, pair)}"
        )
        if result.posterior is not None:
            posterior_text = posterior_in_words(result, result.posterior)
            statements.append(("Posterior", f"{test_and_pair}: {posterior_text}"))
        if result.status != "ok":
            statements.append(("STATUS", f"{test_and_pair}: {result.status}"))
    # Pairs whose results are in the frame alone.
    for test, columns in comparison.columns.items():
        statuses = Counter(
            status
            for pair, status in zip(columns.pairs, columns.values("status"), strict=True)
            if status != "ok" and (test, *pair) not in comparison.shown_results
        )
        statements += [
            ("STATUS", f"{test}, {count} more pair{'s' if count > 1 else ''}: {status}")
            for status, count in statuses.items()
        ]
    if len(comparison.pairs) > 1:
        # For two learners it repeats the verdict of their test.
        for test, joint in comparison.joint.items():
            statements.append(
                ("Joint test", f"{test}, all {joint.estimand} equal: {joint.in_words}")
            )
    return statements


def _fact_rows(comparison: Comparison) -> list[tuple[str, str]]:
    loss = comparison.settings.get("loss")
    if comparison.metrics:
        kind = f"Metric{'s' if len(comparison.metrics) > 1 else ''}"
    else:
        betters = {result.better for result in comparison.shown_results.values()}
        kind = kind_in_words(loss, rises=betters == {"higher"})
    fact_rows = [
        ("Observations", str(comparison.n_obs)),
        ("Model fits in all", str(comparison.n_fits)),
        (kind, str(loss)),
        ("Alternative", str(comparison.settings.get("alternative"))),
        ("Seconds", f"{comparison.elapsed:.2f}"),
    ]
    if len(comparison.pairs) > 1 or comparison.across:
        fact_rows.append(("Correction", term(comparison.correction or "none")))
    if _noun(comparison) == "metric":
        fact_rows.append(("Test", next(iter(comparison.settings["tests"]))))
    return fact_rows


def _main_grids(comparison: Comparison, alpha: float, *, fits: bool) -> list[Grid]:
    """One table of tests for two learners; one table of pairs for each test of more."""
    if len(comparison.pairs) == 1:
        names = [label_of(test, result) for (test, *_), result in comparison.results.items()]
        return [_grid(comparison, list(comparison.results), names, alpha, fits=fits)]
    grids = []
    for test, columns in comparison.columns.items():
        keys = [key for key in comparison.shown_results if key[0] == test]
        method = columns.first.method
        title = f"{test}: {method}"
        if len(keys) < len(columns):
            no_pvalues = columns.first.posterior is not None
            which = "the first" if no_pvalues else "of the smallest p-values"
            title += f" ({len(keys)} of {len(columns)} pairs, {which})"
        grids.append(
            _grid(
                comparison,
                keys,
                [pair_text(comparison, key[1:]) for key in keys],
                alpha,
                title,
                fits=fits,
            )
        )
        if test in comparison.together:
            grids.append(_learner_grid(comparison, test, alpha))
    return grids


def _learner_grid(comparison: Comparison, test: str, alpha: float) -> Grid:
    """The estimate of each learner, the best first, the best set marked."""
    frame = comparison.learner_frame(alpha, test)
    first_rows = frame.head(MOST_ROWS)
    numbers = first_rows[["estimate", "se", "conf_low", "conf_high"]].to_numpy()
    units, level = decimals_of(numbers.ravel().tolist()), percent(1 - alpha)
    names = [
        f"{_short(comparison, name)}{' *' if in_best_set else ''}"
        for name, in_best_set in zip(first_rows["learner"], first_rows["in_best_set"], strict=True)
    ]
    headings = ["", "estimate", "std err", f"{level} low", f"{level} high"]
    columns = [number_column(column, units) for column in numbers.T.tolist()]
    rows = [list(cells) for cells in zip(names, *columns, strict=True)]
    n_kept, n_hidden = int(frame["in_best_set"].sum()), len(frame) - len(first_rows)
    title = f"{test}: learners (* best set of {n_kept}{f'; {n_hidden} more' if n_hidden else ''})"
    return Grid(rows, headings, title=title)


def _grid(
    comparison: Comparison,
    keys: Sequence[tuple[str, str, str]],
    names: Iterable[str],
    alpha: float,
    title: str = "",
    *,
    fits: bool,
) -> Grid:
    results = [comparison.results[key] for key in keys]
    intervals = comparison.intervals(alpha)
    lows, highs = zip(*(intervals[key] for key in keys), strict=True)
    estimates, errors = (
        [getattr(test_result, name) for test_result in results] for name in ("estimate", "se")
    )
    units = decimals_of([*estimates, *errors, *lows, *highs])
    level = percent(1 - alpha)
    columns = {
        "estimate": number_column(estimates, units),
        "std err": number_column(errors, units),
        "p-value": number_column([result.pvalue for result in results], 4),
    }
    judged = len(comparison.pairs) > 1 or bool(comparison.across)
    if judged and comparison.correction is not None:
        adjusted = comparison.adjusted_pvalues
        columns["adjusted"] = number_column([adjusted[key] for key in keys], 4)
    columns |= {
        f"{level} low": number_column(lows, units),
        f"{level} high": number_column(highs, units),
    }
    if fits:
        letters = {
            test: _letters(position)
            for position, design_fits in enumerate(comparison.fits)
            for test in design_fits.tests
        }
        columns["fits"] = [
            f"{result.n_fits} {letters[test]}"
            for result, (test, *_) in zip(results, keys, strict=True)
        ]
    if all(map(is_missing, (result.pvalue for result in results))):
        columns = {name: cells for name, cells in columns.items() if name not in PVALUES}
    rows = [list(cells) for cells in zip(names, *columns.values(), strict=True)]
    return Grid(rows, ["", *columns], title=title)


def _letters(position: int) -> str:
    return ascii_uppercase[position % 26] * (position // 26 + 1)


def _fit_lines(comparison: Comparison) -> list[str]:
    lines = []
    for position, fits in enumerate(comparison.fits):
        sizes, tests = " or ".join(map(str, fits.learn_sizes)), ", ".join(fits.tests)
        shared = "shared by" if len(fits.tests) > 1 else "for"
        if fits.n_resamples == 0:
            fitted = f"{fits.design}: nothing was fitted, for {tests}"
        elif fits.n_resamples is None:
            learnt = f"learning sets{' of ' if sizes else ''}{sizes}, {fits.design}"
            fitted = f"{learnt}: {fits.n_fits} fits, {shared} {tests}"
        else:
            several = "s" if fits.n_resamples > 1 else ""
            learnt = f"{fits.design}, {fits.n_resamples} learning set{several} of {sizes}"
            fitted = f"{learnt}: {fits.n_fits} fits, {shared} {tests}"
        lines.append(f"{_letters(position)}: {fitted}")
    return lines


def all_notes(comparison: Comparison) -> list[str]:
    """The notes of all tests, each once, and those on the comparison itself."""
    notes = []
    n_pairs = len(comparison.pairs)
    if n_pairs > MOST_SHOWN:
        notes.append(
            f"Tables and notes show {MOST_SHOWN} of {n_pairs} pairs for each test; the others are "
            "in the comparison's `frame`."
        )
    if len(comparison.tests) > 1 and not comparison.across:
        notes.append(
            f"The {_noun(comparison)}s compare the same learners, each for the stated estimand, "
            "and p-values are not adjusted for the number of tests. Decide beforehand which test "
            "counts."
        )
    lower = [
        result.settings["loss"]
        for result in comparison.shown_results.values()
        if result.better != "higher"
    ]
    if comparison.metrics and 0 < len(lower) < len(comparison.shown_results):
        notes.append(f"Less is better of {', '.join(dict.fromkeys(lower))}, more of the others.")
    if n_pairs > 1 and not comparison.together:
        adjustment_text = "not adjusted for the number of pairs"
        if comparison.correction:
            adjustment_text = (
                f"adjusted ({term(comparison.correction)}) for the {n_pairs} pairs of learners "
                f"within each {_noun(comparison)}"
            )
        notes.append(f"p-values are {adjustment_text}; intervals are not.")
    elif comparison.across:
        notes.extend(_notes_across(comparison))
    elif n_pairs > 1:
        notes.extend(_simultaneous_notes(comparison))
    of_tests: dict[str, list[str]] = {}
    for test in comparison.tests:
        for note in _notes_of(comparison, test):
            of_tests.setdefault(note, []).append(test)
    for (test, *_), result in comparison.shown_results.items():
        # On single pairs or learners, and too important to be left to the summaries of pairs.
        for note in result.notes:
            if isinstance(note, Note) and note.importance > 1:
                tests = of_tests.setdefault(note, [])
                tests.extend(() if test in tests else [test])
    for note, tests in of_tests.items():
        label = f"{', '.join(tests)}: " if len(comparison.tests) > 1 else ""
        notes.append(reworded(note, label.__add__))
    return notes


def _simultaneous_notes(comparison: Comparison) -> list[str]:
    """What intervals, p-values and best sets of several learners together are."""
    errors = {
        test: joint_estimates.critical(comparison.columns[test], 0.05)
        for test, joint_estimates in comparison.together.items()
    }
    quantiles = ", ".join(
        f"{critical_value.value:.3g} (Monte-Carlo standard error {critical_value.mc_se:.1g})"
        for critical_value in errors.values()
    )
    return [
        "Intervals are simultaneous: the largest studentised error of all differences exceeds "
        f"{quantiles} with a probability of 5%, by the correlation of the estimates from the same "
        "learning sets. p-values are adjusted by the same distribution, step by step, so a "
        "p-value can be small although the interval, which uses a single step, contains 0.",
        "Each best learner is in the best set with at least the stated probability. The intervals "
        "of learners are also simultaneous: the interval in the first row accounts for the choice "
        "of the learner.",
    ]


def _notes_across(comparison: Comparison) -> list[str]:
    """What intervals and p-values of several metrics together are."""
    alternative = next(iter(comparison.results.values())).alternative
    quantiles = ", ".join(
        f"{joint_statistics.critical(alternative, 0.05).value:.3g}"
        for joint_statistics in comparison.across.values()
    )
    notes = [
        "The intervals of all metrics are simultaneous: the largest studentised error exceeds "
        f"{quantiles} with a probability of 5%, by the correlation of the errors on the same "
        "observations; if it is not known, errors are treated as independent. Adjusted p-values "
        "are by the same distribution, step by step."
    ]
    if len(comparison.pairs) > 1:
        notes.append(
            "Intervals of learners alone, and best sets, are simultaneous for each metric."
        )
    return notes


def _notes_of(comparison: Comparison, test: str) -> list[str]:
    """What a test notes of every pair, or of every one of a learner, and that there is more."""
    by_pair = {
        # The list of fits says more.
        tuple(pair): [note for note in result.notes if not note.startswith(REUSED)]
        for (test_of_result, *pair), result in comparison.shown_results.items()
        if test_of_result == test
    }
    lists = list(by_pair.values())
    first, *other_lists = lists
    common = [note for note in first if all(note in notes for notes in other_lists)]
    for learner in comparison.learners:
        # Such as which estimator its name stands for.
        learner_notes = [notes for pair, notes in by_pair.items() if learner in pair]
        if not learner_notes:
            continue
        named = (note for note in learner_notes[0] if note.startswith(f'"{learner}" '))
        common += [
            note for note in named if note not in common and all(note in x for x in learner_notes)
        ]
    if any(set(notes) - set(common) for notes in lists):
        common.append("Further notes on single pairs are in their own summaries.")
    return common
