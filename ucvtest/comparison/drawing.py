"""All intervals of a comparison in one picture."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, get_args

from ucvtest.common.checks import check_choice
from ucvtest.common.words import arg
from ucvtest.comparison.comparison import Comparison
from ucvtest.comparison.summary import label_of, pair_text
from ucvtest.results.axes import (
    CHOSEN,
    GREY,
    NULL,
    PLAIN,
    Drawing,
    draw_interval,
    frame_intervals,
    label_intervals,
    use_ratio_axis,
)
from ucvtest.results.drawing import name_sides
from ucvtest.results.fields import check_alpha
from ucvtest.results.result import TestResult
from ucvtest.results.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Kind = Literal["pairs", "learners"]

MOST_LINES = 40
"""Lines of a picture that have all the room they need."""

NO_INTERVAL = (math.nan, math.nan)
"""Of a heading."""


@dataclass(frozen=True)
class _Row:
    """A line of the picture; a heading where there is no result."""

    label: str
    result: TestResult | None = None
    key: tuple[str, str, str] | None = None


def picture_of(comparison: Comparison, alpha: float, kind: Any) -> Drawing:
    """How to draw all intervals on axes, and the size; see `ucvtest.Comparison.plot`.

    By default learners are drawn where they were judged together by one test, else pairs.
    """
    check_alpha(alpha)
    has_learners = len(comparison.together) == 1
    if kind is None:
        kind = "learners" if has_learners and len(comparison.learners) > 2 else "pairs"
    check_choice("kind", kind, get_args(Kind))
    if kind == "learners" and not has_learners:
        raise ValueError(
            f"{arg('kind', 'learners')} needs one test with {arg('correction', 'simultaneous')}: "
            f"use {arg('kind', 'pairs')}"
        )
    if kind == "learners":
        return Drawing(partial(_draw_learners, comparison, alpha), _size(comparison.learners))
    rows = _rows(comparison)
    return Drawing(partial(_draw_pairs, comparison, rows, alpha), _size(rows))


def _draw_pairs(comparison: Comparison, rows: Sequence[_Row], alpha: float, ax: "Axes") -> "Axes":
    intervals = comparison.intervals(alpha)
    row_intervals = [NO_INTERVAL if row.key is None else intervals[row.key] for row in rows]
    no_difference = next(row.result.same for row in rows if row.result is not None)
    if comparison.contrast == "ratio":
        use_ratio_axis(ax)
    ax.axvline(no_difference, color=NULL, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    estimates = [row.result.estimate for row in rows if row.result is not None]
    frame_intervals(ax, [no_difference, *estimates, *chain(*row_intervals)], len(rows), margin=0.08)
    for row_number, (row, interval) in enumerate(zip(rows, row_intervals, strict=True)):
        if row.result is None:
            continue
        estimate, has_interval = row.result.estimate, not math.isnan(interval[0])
        colour = CHOSEN if has_interval else GREY
        draw_interval(ax, estimate, interval, -row_number, colour=colour, sizes=(2, 6, 5.5))
        if not has_interval:
            known = math.isfinite(estimate)
            ax.annotate(
                "no interval" if known else "no estimate",
                (estimate if known else row.result.same, -row_number),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
                color=GREY,
            )
    _label(ax, comparison, rows, alpha)
    return ax


def _draw_learners(comparison: Comparison, alpha: float, ax: "Axes") -> "Axes":
    """The estimate of each learner, the best one first, the best set in colour."""
    frame = comparison.learner_frame(alpha)
    intervals = list(zip(frame["conf_low"], frame["conf_high"], strict=True))
    frame_intervals(ax, [*frame["estimate"], *chain(*intervals)], len(frame), margin=0.08)
    # Thinner where many lines share the picture.
    sizes = (2.0, 6.0, 5.5) if len(frame) <= MOST_LINES else (1.0, 2.0, 2.5)
    for row_number, (estimate, in_best_set) in enumerate(
        zip(frame["estimate"].tolist(), frame["in_best_set"].tolist(), strict=True)
    ):
        colour = CHOSEN if in_best_set else GREY
        draw_interval(ax, estimate, intervals[row_number], -row_number, colour=colour, sizes=sizes)
    label_intervals(ax, list(frame["learner"]))
    if len(frame) > MOST_LINES:
        ax.tick_params(axis="y", labelsize="xx-small")
    learner_results = next(iter(comparison.together.values())).own
    estimand = next(iter(learner_results.values())).estimand
    axis_label = f"{estimand}, {percent(1 - alpha)} simultaneous intervals"
    ax.set_xlabel(textwrap.fill(axis_label, 56), **PLAIN)
    n_kept = int(frame["in_best_set"].sum())
    title = f"{len(frame)} learners, in colour the {n_kept} of the best set"
    ax.set_title(title, loc="left", fontsize="medium", pad=18, **PLAIN)
    return ax


def _rows(comparison: Comparison) -> list[_Row]:
    """Tests for two learners; pairs for more, below the name of each of several tests."""
    if len(comparison.pairs) == 1:
        return [
            _Row(label_of(key[0], result), result, key)
            for key, result in comparison.results.items()
        ]
    rows = []
    for test in comparison.tests:
        test_results = {
            key: result for key, result in comparison.shown_results.items() if key[0] == test
        }
        heading = label_of(test, next(iter(test_results.values())))
        rows += [_Row(heading)] if len(comparison.tests) > 1 else []
        rows += [
            _Row(pair_text(comparison, key[1:]), result, key)
            for key, result in test_results.items()
        ]
    return rows


def _size(rows: Sequence[Any]) -> tuple[float, float]:
    n_full_rows = min(len(rows), MOST_LINES)
    return (7.2, 1.5 + 0.3 * n_full_rows + 0.1 * (len(rows) - n_full_rows))


def _label(ax: "Axes", comparison: Comparison, rows: Sequence[_Row], alpha: float) -> None:
    label_intervals(ax, [row.label for row in rows])
    for label, row in zip(ax.get_yticklabels(), rows, strict=True):
        if row.result is None:
            label.set_fontweight("bold")
    results = list(comparison.shown_results.values())
    estimands = {result.estimand for result in results}
    axis_label = results[0].estimand
    if len(estimands) > 1:
        units_text = (
            "each metric in its own units" if comparison.metrics else "each test's own estimand"
        )
        axis_label = f"first minus second ({comparison.settings['loss']}), {units_text}"
    # Narrower than the picture: long labels on the left take up to a third of it.
    joint_prefix = "simultaneous " if comparison.together or comparison.across else ""
    ax.set_xlabel(
        textwrap.fill(f"{axis_label}, {percent(1 - alpha)} {joint_prefix}intervals", 56), **PLAIN
    )
    several = len(comparison.pairs) > 1
    ratio = comparison.contrast == "ratio"
    kind, link = ("Ratios", " over ") if ratio else ("Differences", " minus ")
    title = f"{kind} of learners" if several else link.join(comparison.learners)
    ax.set_title(textwrap.shorten(title, 90), loc="left", fontsize="medium", pad=18, **PLAIN)
    # With an error rate next to F1, the better learner is on the other side.
    if len({result.better for result in results}) == 1:
        name_sides(ax, results[0])
