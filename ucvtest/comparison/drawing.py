"""All intervals of a comparison in one picture."""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ucvtest.comparison.fields import ComparisonFields
from ucvtest.comparison.summary import label_of, pair_text
from ucvtest.results.drawing import CHOSEN, MISSING, NULL, OTHERS, _name_sides, _pyplot_axes
from ucvtest.results.result import TestResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["plot_comparison", "save_comparison"]


@dataclass(frozen=True)
class _Row:
    """A line of the picture; a heading where there is no result."""

    label: str
    result: TestResult | None = None


def plot_comparison(
    comparison: ComparisonFields, ax: "Axes | None" = None, alpha: float = 0.05
) -> "Axes":
    """Draw every estimate with its interval.

    Parameters
    ----------
    comparison : ComparisonFields
    ax : matplotlib Axes, optional
        Where to draw. By default a new figure of pyplot's; pass an Axes to leave pyplot alone.
    alpha : float
        One minus the confidence level of the intervals.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If `alpha` is outside (0, 1).
    """
    rows = _rows(comparison)
    # Refuses a level that is none before a figure is opened.
    ends = [(0.0, 0.0) if row.result is None else row.result._quiet_interval(alpha) for row in rows]
    if ax is None:
        ax = _pyplot_axes(_size(rows))
    ax.axvline(0, color=NULL, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    _set_limits(ax, rows, ends)
    for place, (row, interval) in enumerate(zip(rows, ends, strict=True)):
        if row.result is not None:
            _draw(ax, row.result, interval, -place)
    _label(ax, comparison, rows, alpha)
    return ax


def save_comparison(
    comparison: ComparisonFields, path: str | Path, *, alpha: float = 0.05, dpi: float = 150
) -> None:
    """Write the picture to a file without pyplot, so that no display and no state is touched.

    Parameters
    ----------
    comparison : ComparisonFields
    path : path
        Its suffix (.png, .pdf, .svg) decides the format.
    alpha : float
        One minus the confidence level of the intervals.
    dpi : float
        Pixels per inch, where the format has pixels.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If the suffix is none that matplotlib can write, or `alpha` outside (0, 1).
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(MISSING) from error
    figure = Figure(figsize=_size(_rows(comparison)), layout="constrained")
    plot_comparison(comparison, figure.subplots(), alpha)
    figure.savefig(path, dpi=dpi)


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


def _set_limits(ax: "Axes", rows: Sequence[_Row], ends: Sequence[tuple[float, float]]) -> None:
    estimates = [row.result.estimate for row in rows if row.result is not None]
    values = [0.0, *estimates, *(end for interval in ends for end in interval)]
    points = [value for value in values if math.isfinite(value)]
    margin = 0.08 * (max(points) - min(points)) or 0.1
    ax.set_xlim(min(points) - margin, max(points) + margin)
    ax.set_ylim(-len(rows) + 0.4, 0.6)


def _draw(ax: "Axes", result: TestResult, interval: tuple[float, float], height: float) -> None:
    left, right = ax.get_xlim()
    known = not math.isnan(interval[0])
    colour = CHOSEN if known else OTHERS
    if known:
        shown = (max(interval[0], left), min(interval[1], right))
        ax.plot(shown, (height, height), color=colour, linewidth=2)
        for end, value, arrow in zip(shown, interval, "<>", strict=True):
            ax.plot(end, height, color=colour, marker=arrow if math.isinf(value) else "|", ms=6)
    if not math.isnan(result.estimate):
        ax.plot(result.estimate, height, "o", color=colour, markersize=5.5)
    if not known:
        text = "no interval" if math.isfinite(result.estimate) else "no estimate"
        place = result.estimate if math.isfinite(result.estimate) else 0.0
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
    ax.set_yticks([-place for place in range(len(rows))], [row.label for row in rows])
    for label, row in zip(ax.get_yticklabels(), rows, strict=True):
        if row.result is None:
            label.set_fontweight("bold")
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "right", "top"]].set_visible(False)
    results = list(comparison.results.values())
    estimands = {result.estimand for result in results}
    words = results[0].estimand
    if len(estimands) > 1:
        words = f"first minus second ({comparison.settings['loss']}), each test's own estimand"
    # Narrower than the picture, of which long labels on the left take up to a third.
    ax.set_xlabel(textwrap.fill(f"{words}, {100 * (1 - alpha):.10g}% intervals", 56))
    several = len(comparison.pairs) > 1
    title = "Differences of learners" if several else " minus ".join(comparison.learners)
    ax.set_title(textwrap.shorten(title, 90), loc="left", fontsize="medium", pad=18)
    _name_sides(ax, results[0])
