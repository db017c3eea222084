"""All intervals of a comparison in one picture."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ucvtest.comparison.fields import ComparisonFields
from ucvtest.comparison.summary import label_of, pair_text
from ucvtest.results.axes import (
    CHOSEN,
    NULL,
    OTHERS,
    PLAIN,
    draw_interval,
    frame_intervals,
    known_axes,
    label_intervals,
    save_figure,
    use_ratio_axis,
)
from ucvtest.results.drawing import name_sides
from ucvtest.results.fields import quiet_interval
from ucvtest.results.result import TestResult
from ucvtest.results.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["plot_comparison", "save_comparison"]


NO_INTERVAL = (math.nan, math.nan)
"""Of a heading."""


@dataclass(frozen=True)
class _Row:
    """A line of the picture; a heading where there is no result."""

    label: str
    result: TestResult | None = None


def plot_comparison(
    comparison: ComparisonFields, ax: "Axes | None" = None, alpha: float = 0.05
) -> "Axes":
    """Draw every estimate with its interval, as `ucvtest.Comparison.plot` says."""
    rows = _rows(comparison)
    # Before a figure is opened, because this refuses a level that is none.
    ends = [quiet_interval(row.result, alpha) if row.result else NO_INTERVAL for row in rows]
    ax = known_axes(ax, _size(rows))
    same = next(row.result.same for row in rows if row.result is not None)
    if comparison.contrast == "ratio":
        use_ratio_axis(ax)
    ax.axvline(same, color=NULL, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    estimates = [row.result.estimate for row in rows if row.result is not None]
    frame_intervals(ax, [same, *estimates, *chain(*ends)], len(rows), margin=0.08)
    for place, (row, interval) in enumerate(zip(rows, ends, strict=True)):
        if row.result is not None:
            _draw(ax, row.result, interval, -place)
    _label(ax, comparison, rows, alpha)
    return ax


def save_comparison(
    comparison: ComparisonFields, path: str | Path, *, alpha: float = 0.05, dpi: float = 150
) -> None:
    """Write the picture to a file, as `ucvtest.Comparison.save_plot` says."""
    size = _size(_rows(comparison))
    save_figure(lambda ax: plot_comparison(comparison, ax, alpha), path, size, dpi)


def _rows(comparison: ComparisonFields) -> list[_Row]:
    """Tests for two learners; pairs for more, below the name of each of several tests."""
    if len(comparison.pairs) == 1:
        return [_Row(label_of(test, each), each) for (test, *_), each in comparison.results.items()]
    rows = []
    for test in comparison.tests:
        found = {key: each for key, each in comparison.results.items() if key[0] == test}
        heading = label_of(test, next(iter(found.values())))
        rows += [_Row(heading)] if len(comparison.tests) > 1 else []
        rows += [_Row(pair_text(comparison, key[1:]), each) for key, each in found.items()]
    return rows


def _size(rows: Sequence[_Row]) -> tuple[float, float]:
    return (7.2, 1.5 + 0.3 * len(rows))


def _draw(ax: "Axes", result: TestResult, interval: tuple[float, float], height: float) -> None:
    known = not math.isnan(interval[0])
    colour = CHOSEN if known else OTHERS
    draw_interval(ax, result.estimate, interval, height, colour=colour, sizes=(2, 6, 5.5))
    if not known:
        text = "no interval" if math.isfinite(result.estimate) else "no estimate"
        place = result.estimate if math.isfinite(result.estimate) else result.same
        ax.annotate(
            text,
            (place, height),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=OTHERS,
        )


def _label(ax: "Axes", comparison: ComparisonFields, rows: Sequence[_Row], alpha: float) -> None:
    label_intervals(ax, [row.label for row in rows])
    for label, row in zip(ax.get_yticklabels(), rows, strict=True):
        if row.result is None:
            label.set_fontweight("bold")
    results = list(comparison.results.values())
    estimands = {result.estimand for result in results}
    words = results[0].estimand
    if len(estimands) > 1:
        words = f"first minus second ({comparison.settings['loss']}), each test's own estimand"
    # Narrower than the picture, of which long labels on the left take up to a third.
    ax.set_xlabel(textwrap.fill(f"{words}, {percent(1 - alpha)} intervals", 56), **PLAIN)
    several = len(comparison.pairs) > 1
    ratio = comparison.contrast == "ratio"
    kind, link = ("Ratios", " over ") if ratio else ("Differences", " minus ")
    title = f"{kind} of learners" if several else link.join(comparison.learners)
    ax.set_title(textwrap.shorten(title, 90), loc="left", fontsize="medium", pad=18, **PLAIN)
    name_sides(ax, results[0])
