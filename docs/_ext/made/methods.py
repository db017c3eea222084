"""Parts of each method's page: the facts, and the results of the calibration study."""

import inspect
import math

import pandas as pd
from matplotlib.figure import Figure

from made.files import Folder, link, markdown_table
from studies.calibration.report import about_auc, summarised, widely_studied
from studies.calibration.table import binomial_limits
from ucvtest.advice.calibration import calibration_table
from ucvtest.advice.configured_tests import PROCEDURES, Procedure
from ucvtest.inference.base import HypothesisTest
from ucvtest.methods.registry import TESTS
from ucvtest.stats.pivots import Stabilised
from ucvtest.stats.wald import wald_interval

TARGETS = {
    "difference": "difference of two learners",
    "error": "one learner",
    "ratio": "ratio of two learners",
}

HEAD = (
    "form",
    "coverage of 95% intervals",
    "in the worst problem",
    "true nulls rejected at 5%",
    "width",
    "fits at n = 100",
    "no answer",
)

IN_SHORT = (
    *("naive_t", "corrected_t", "nested", "conservative_z", "five_by_two_t"),
    *("ustatistic_few_20", "ustatistic_few_200", "ustatistic", "ustatistic_third"),
)
"""Tests on the first page about the study, by the names in its table."""

ALL_FORMS = ("ustatistic",)
"""Tests with so many forms that all of them are on a page of their own."""

SHOWN = {
    "ustatistic",
    "ustatistic_auc",
    "ustatistic_auc_few_20",
    "ustatistic_few_20",
    "ustatistic_few_200",
    "ustatistic_ratio",
    "ustatistic_third",
}
"""Their forms on the page of the test."""

TUTORIALS = {
    "ustatistic": ("two-learners", "auc", "groups"),
    "influence": ("auc",),
    "fold_covariance": ("fit-once",),
    "leave_pair_out": ("anything-to-learn", "auc"),
    "permutation": ("anything-to-learn",),
    "corrected_t": ("two-learners", "fit-once"),
    "bayesian_t": ("fit-once",),
    "cross_validation_wald": ("predictions", "two-learners"),
    "hold_out": ("predictions", "right-or-wrong"),
    "mcnemar": ("predictions", "gate"),
    "delong": ("predictions", "gate"),
}
"""Pages that use a test. The others are used as those of the page about two learners are, or, where
they are about fixed rules, of the page about predictions."""

HOW_TO_READ = (
    "Each point is one problem, with all sample sizes together. The diamond is their mean, and in "
    "the shaded part coverage is below 93%. Brackets contain exact binomial 95% limits. The width "
    "is relative to the corrected t test. The tables come from `ucvtest/advice/calibration.csv`, "
    "which `python studies/calibration/run.py` writes. [Calibration](#calibration-study) describes "
    "the study, and [this list](#the-problems) its problems."
)

OF_NULLS = (
    "Each point is one problem at one sample size, and the line shows its exact binomial 95% "
    "limits. The test should reject 5% or fewer."
)


def write(parts: Folder) -> None:
    """The list of all methods, and the parts of their pages."""
    table = widely_studied(calibration_table())
    # AUCs without a standard deviation are those of a former study.
    table = table[~about_auc(table) | table["sd"].notna()]
    parts.text("methods.md", _overview())
    parts.text("admits.md", _admits())
    in_short = [(PROCEDURES[name], "difference") for name in IN_SHORT]
    rows = _rows(table, in_short, "difference")
    parts.text("calibration_in_short.md", markdown_table(HEAD, rows))
    # Narrow, and without a second line of labels, so that it can be read on a telephone.
    parts.figure("calibration_in_short.png", _picture(table, in_short, 4.4, list(IN_SHORT)))
    parts.figure("symmetry.png", _picture_of_symmetry())
    for name in ALL_FORMS:
        _all_forms(name, table, parts)
    for name, cls in TESTS.items():
        parts.text(f"facts_{name}.md", _facts(name, cls))
        found = _studied(table, cls)
        shown = [each for each in found if each[0].name in SHOWN] if name in ALL_FORMS else found
        parts.text(f"calibration_{name}.md", _calibration(name, cls, table, shown))
        if found:
            parts.figure(f"calibration_{name}.png", _picture(table, shown))
        elif not (nulls := _null_cells(table, cls)).empty:
            parts.figure(f"calibration_{name}.png", _picture_of_nulls(nulls))


def _all_forms(name: str, table: pd.DataFrame, parts: Folder) -> None:
    """All forms of a test, for a page of their own."""
    cls = TESTS[name]
    found = _studied(table, cls)
    parts.text(f"calibration_{name}_all.md", _calibration(f"{name}_all", cls, table, found))
    parts.figure(f"calibration_{name}_all.png", _picture(table, found))


def _picture_of_symmetry() -> Figure:
    """An interval whose standard error changes with the difference, and the symmetric one."""
    figure = Figure(figsize=(6, 2.2))
    axes = figure.subplots()
    estimate, se, df = -0.024, 0.024, 59
    rule = Stabilised(estimate, se, df, slope=-10.0)
    intervals = {
        "interval='wald'": wald_interval(estimate, se, "t", df, "two-sided", 0.05),
        "default": rule.interval("two-sided", 0.05),
    }
    for place, (low, high) in enumerate(intervals.values()):
        axes.plot([low, high], [place, place], color="C0" if place else "0.5", linewidth=3)
        axes.plot(estimate, place, "o", color="black")
    axes.axvline(estimate, color="0.7", linestyle=":")
    axes.annotate("smaller standard error", (0.98, 0.9), xycoords="axes fraction", ha="right")
    axes.annotate("larger standard error", (0.02, 0.9), xycoords="axes fraction")
    axes.set_yticks(range(2), intervals)
    axes.set_ylim(-0.6, 1.9)
    axes.set_xlabel("difference in error rate")
    return figure


def _overview() -> str:
    rows = [
        [
            link(name, ""),
            _first(cls),
            f"{{py:class}}`~ucvtest.{cls.__name__}`<br>`{cls.r_function}()`",
        ]
        for name, cls in TESTS.items()
    ]
    return markdown_table(["method", "in one line", "in Python, in R"], rows)


def _first(cls: type) -> str:
    return (inspect.getdoc(cls) or "").splitlines()[0]


def _admits() -> str:
    rows = [[link(name), cls.needs.designs] for name, cls in TESTS.items()]
    return markdown_table(["method", "designs of existing losses that it accepts"], rows)


def _facts(name: str, cls: type[HypothesisTest]) -> str:
    yes = {True: "yes", False: "no"}
    needs, words = cls.needs, {"auc": "the AUC", "zero_one": "zero-one"}
    loss = "any" if "loss" in needs.metrics else " or ".join(map(words.__getitem__, needs.metrics))
    facts = {
        "Python": f"{{py:class}}`ucvtest.{cls.__name__}`",
        "R": f"`{cls.r_function}()`",
        "Shell": _shell(name, cls),
        "Learners": needs.learners,
        "Loss": loss,
        "Clusters (`groups=`)": yes[needs.clusters != "refused"],
        "Predictions that exist already": yes[needs.fixed],
        "Losses that exist already": needs.designs,
    }
    if hasattr(cls, "default_design"):
        facts["Design by default"] = cls.default_design.words
    pages = TUTORIALS.get(name, ("predictions" if needs.fixed else "two-learners",))
    facts["Tutorials"] = ", ".join(f"[](../tutorials/{page}.md)" for page in pages)
    return markdown_table(["", ""], [[f"**{key}**", value] for key, value in facts.items()])


def _shell(name: str, cls: type[HypothesisTest]) -> str:
    return f"`ucvtest compare FILE --test {name}`" if cls.needs.compares else "not by itself"


# ----------------------------------------------------------------- the calibration study


def _studied(table: pd.DataFrame, cls: type[HypothesisTest]) -> list[tuple[Procedure, str]]:
    """The forms of a test that the study tried, with what their intervals are about."""
    tried = set(zip(table["procedure"], table["target"], strict=True))
    return [
        (each, target)
        for each in PROCEDURES.values()
        for target in TARGETS
        if each.test == cls.__name__ and each.interval and (each.name, target) in tried
    ]


def _calibration(
    name: str,
    cls: type[HypothesisTest],
    table: pd.DataFrame,
    found: list[tuple[Procedure, str]],
) -> str:
    text = [_nulls(table, cls)]
    if text[0] and not found:
        text += [f"![True nulls rejected](../_generated/calibration_{name}.png)", OF_NULLS]
    if found:
        text += [f"![Coverage of each problem](../_generated/calibration_{name}.png)", HOW_TO_READ]
    for target, words in TARGETS.items():
        rows = _rows(table, found, target)
        if rows:
            text += [f"**{words[:1].upper()}{words[1:]}**", markdown_table(HEAD, rows)]
    return "\n\n".join(part for part in text if part) + "\n"


def _rows(table: pd.DataFrame, found: list[tuple[Procedure, str]], target: str) -> list[list[str]]:
    names = [each.name for each, about in found if about == target]
    rows = []
    # AUCs and losses have references of their own for the width.
    for kind in (table[~about_auc(table)], table[about_auc(table)]):
        summary = summarised(kind, target)
        if len(summary):
            kept = summary[summary["procedure"].isin(names)]
            rows += [_row(row) for row in kept.to_dict("records")]
    return rows


def _row(row: dict) -> list[str]:
    rejected, tested = row["size"]
    return [
        f"`{row['procedure']}`",
        f"{_percent(row['coverage'])} {_limits(row['interval'])}",
        f"{_percent(row['worst_coverage'])} (`{row['worst']}`)",
        f"{_percent(rejected / tested)} of {tested}" if tested else "-",
        "-" if math.isnan(row["width"]) else f"{row['width']:.2f}",
        str(row["n_fits"]),
        f"{row['missing']:.1%}",
    ]


def _null_cells(table: pd.DataFrame, cls: type[HypothesisTest]) -> pd.DataFrame:
    """True nulls of a test without an interval."""
    with_interval = [each.name for each in PROCEDURES.values() if each.interval]
    named = table["procedure"].str.startswith(cls.method_name)
    true = (table["equal"] == 1) | (table["target"] == "independence")
    rows = table[named & true & ~table["procedure"].isin(with_interval)]
    return rows[rows["tested"] > 0]


def _nulls(table: pd.DataFrame, cls: type[HypothesisTest]) -> str:
    """Of a test without an interval, how often it rejects true nulls."""
    rows = _null_cells(table, cls)
    tested, rejected = int(rows["tested"].sum()), int(rows["rejected"].sum())
    if not tested:
        return ""
    problems = ", ".join(f"`{each}`" for each in dict.fromkeys(rows["problem"]))
    return (
        f"In the calibration study this test rejected {_percent(rejected / tested)} of {tested} "
        f"true null hypotheses at the 5% level (problems: {problems}). The table is in "
        "`ucvtest/advice/calibration.csv`, which `python studies/calibration/run.py` writes."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _limits(limits: tuple[float, float]) -> str:
    return f"[{100 * limits[0]:.1f}, {100 * limits[1]:.1f}]"


def _picture(
    table: pd.DataFrame,
    found: list[tuple[Procedure, str]],
    width: float = 7.2,
    labels: list[str] | None = None,
) -> Figure:
    """Coverage of every problem, one row for each form of the test."""
    figure = Figure(figsize=(width, 0.9 + 0.42 * len(found)))
    axes = figure.subplots()
    for place, (procedure, target) in enumerate(reversed(found)):
        cells = table[(table["procedure"] == procedure.name) & (table["target"] == target)]
        sums = cells.groupby("problem")[["covered", "answered"]].sum()
        sums = sums[sums["answered"] > 0]
        coverage = 100 * sums["covered"] / sums["answered"]
        axes.plot(coverage, [place] * len(coverage), "o", color="#3b528b", alpha=0.45, ms=6, mew=0)
        axes.plot(coverage.mean(), place, "D", color="#d1495b", ms=7)
    labels = labels or [f"{each.name}\n{TARGETS[about]}" for each, about in found]
    axes.set_yticks(range(len(found)), labels[::-1], fontsize=8 if width > 5 else 9)
    low = min(axes.get_xlim()[0], 90)
    axes.axvspan(low, 93, color="#8884", lw=0)
    axes.axvline(95, color="#555", lw=1)
    axes.set_xlim(low, 100.5)
    axes.set_ylim(-0.6, len(found) - 0.4)
    axes.set_xlabel("coverage of nominal 95% intervals, in percent")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure


def _picture_of_nulls(cells: pd.DataFrame) -> Figure:
    """The share of true nulls rejected in every problem and size."""
    cells = cells.sort_values(["problem", "n_obs"], ascending=False)
    figure = Figure(figsize=(7.2, 0.9 + 0.3 * len(cells)))
    axes = figure.subplots()
    for place, (rejected, tested) in enumerate(
        zip(cells["rejected"], cells["tested"], strict=True)
    ):
        low, high = binomial_limits(int(rejected), int(tested))
        axes.plot([100 * low, 100 * high], [place, place], color="#3b528b", lw=1.5)
        axes.plot(100 * rejected / tested, place, "o", color="#3b528b", ms=6)
    labels = [
        f"{problem}, n = {n}" for problem, n in zip(cells["problem"], cells["n_obs"], strict=True)
    ]
    axes.set_yticks(range(len(cells)), labels, fontsize=8)
    axes.axvline(5, color="#555", lw=1)
    axes.set_xlim(left=0)
    axes.set_ylim(-0.6, len(cells) - 0.4)
    axes.set_xlabel("true null hypotheses rejected at the 5% level, in percent")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure
