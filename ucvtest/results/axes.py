"""What all pictures share: colours, new axes, files, and intervals drawn as lines."""

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.common.checks import check_number
from ucvtest.common.whole_files import replacing
from ucvtest.common.words import arg, excerpt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MIN_DPI, MAX_DPI = 10, 2400
"""Below, letters have no pixels; above, pictures take gigabytes of memory."""

POINTS = 72
"""In an inch."""

WIDE_AXES = 320.0
CHARACTER = 6.2
"""Widths in points: of axes in which names of usual length fit, and of a letter about."""

LEAST_ROOM = 14

MISSING = "plots need matplotlib: pip install 'ucvtest[plot]'"

# From the palette of Okabe and Ito, which colour-blind readers can tell apart.
CHOSEN = "#0072B2"
GREY = "#8C8C8C"
NULL = "#333333"
WARNING = "#B22222"

# For names of learners, tests and classes: matplotlib reads what stands between dollar signs as a
# formula, and fails where it is none.
PLAIN: dict[str, Any] = {"parse_math": False}


def known_axes(ax: Any, size: tuple[float, float]) -> "Axes":
    """The axes that were given; by default axes on a new figure of pyplot's, which notebooks show.

    Raises
    ------
    ImportError
    ValueError
    """
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError(MISSING) from error
        return pyplot.subplots(figsize=size, layout="constrained")[1]
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise ValueError(f"ax must be matplotlib Axes, got {excerpt(ax)}: use pyplot.subplots()[1]")
    return ax


@dataclass(frozen=True)
class Drawing:
    """A picture that is drawn on any axes, and its width and height in inches."""

    draw: Callable[["Axes"], "Axes"]
    size: tuple[float, float]

    def on(self, ax: Any) -> "Axes":
        """Draw it on these axes, or on new ones."""
        return self.draw(known_axes(ax, self.size))

    def write(self, path: str | Path, dpi: float) -> None:
        """Write it to a file, without pyplot: no display, no global state."""
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise ImportError(MISSING) from error
        figure = Figure(figsize=self.size, layout="constrained")
        if not isinstance(path, (str, PathLike)):
            raise ValueError(f"path must be the name of a file, got {excerpt(path)}")
        if not str(path):
            raise ValueError("path is empty: name a file, such as 'result.png'")
        suffix, file_types = Path(path).suffix[1:].lower(), figure.canvas.get_supported_filetypes()
        if suffix and suffix not in file_types:
            raise ValueError(
                f"path must end in one of .{', .'.join(sorted(file_types))}, got {excerpt(path)}"
            )
        check_number("dpi", dpi, low=MIN_DPI, high=MAX_DPI)
        self.draw(figure.subplots())
        target = Path(path)
        if not target.suffix:
            # As matplotlib does.
            target = Path(f"{str(path).rstrip('.')}.{figure.canvas.get_default_filetype()}")
        # An older file stays until the new one is complete.
        with replacing(target) as temporary_path:
            figure.savefig(temporary_path, format=target.suffix[1:].lower(), dpi=dpi)


def one_of_kinds(kind: Any, kinds: Sequence[str], outcome: str) -> str:
    """A kind of picture that an outcome has, by default its first."""
    if kind is not None and (not isinstance(kind, str) or kind not in kinds):
        raise ValueError(f"{arg('kind', kind)} is unknown: this {outcome} has {', '.join(kinds)}")
    return kind or kinds[0]


def frame_intervals(ax: "Axes", values: Iterable[float], n_lines: int, *, margin: float) -> None:
    """Limits around all finite values, with a margin as a share of their range.

    One-sided intervals reach the edge, so the edge must lie beyond all that is finite.
    """
    if ax.get_xscale() == "log":
        powers = [math.log(value) for value in values if 0 < value < math.inf] or [0.0]
        padding = margin * (max(powers) - min(powers)) or 0.1
        ax.set_xlim(math.exp(min(powers) - padding), math.exp(max(powers) + padding))
    else:
        points = [value for value in values if math.isfinite(value)] or [0.0]
        padding = margin * (max(points) - min(points)) or 0.1 * abs(points[0]) or 0.1
        ax.set_xlim(min(points) - padding, max(points) + padding)
    ax.set_ylim(-n_lines + 0.4, 0.6)


def room_for_text(ax: "Axes") -> int | None:
    """Characters that fit above or below narrow axes; None where axes are as wide as ours."""
    width = ax.get_window_extent().width / ax.figure.dpi * POINTS
    return None if width >= WIDE_AXES else max(LEAST_ROOM, int(width / CHARACTER))


def use_ratio_axis(ax: "Axes") -> None:
    """A logarithmic axis with plain numbers: half as large and twice as large are equally far."""
    from matplotlib.ticker import MaxNLocator, NullLocator, ScalarFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    ax.xaxis.set_major_formatter(ScalarFormatter())
    ax.xaxis.set_minor_locator(NullLocator())


def draw_interval(
    ax: "Axes",
    estimate: float,
    interval: tuple[float, float],
    height: float,
    *,
    colour: str,
    sizes: tuple[float, float, float],
) -> None:
    """Draw an estimate and its interval as far as known; an infinite end is an arrow at the edge.

    `height` is where on the vertical axis; `sizes` are of the line, its ends and the point.
    """
    width, cap, dot = sizes
    left_limit, right_limit = ax.get_xlim()
    if not math.isnan(interval[0]):
        shown_ends = (max(interval[0], left_limit), min(interval[1], right_limit))
        ax.plot(shown_ends, (height, height), color=colour, linewidth=width)
        for shown_end, value, arrow in zip(shown_ends, interval, "<>", strict=True):
            open_end = math.isinf(value) or (value == 0 and ax.get_xscale() == "log")
            ax.plot(shown_end, height, color=colour, marker=arrow if open_end else "|", ms=cap)
    if not math.isnan(estimate):
        ax.plot(estimate, height, "o", color=colour, markersize=dot)


def label_intervals(ax: "Axes", labels: Sequence[str]) -> None:
    """Name the lines of a picture of intervals, from the top, and leave only the lower axis."""
    if room_for_text(ax) is not None:
        labels = [textwrap.fill(label, LEAST_ROOM - 4) for label in labels]
    ax.set_yticks([-line_number for line_number in range(len(labels))], labels, **PLAIN)
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "right", "top"]].set_visible(False)


def heat_map(
    values: np.ndarray, columns: Sequence[Any], rows: Sequence[Any], ax: "Axes | None" = None
) -> "Axes":
    """Draw a matrix of numbers as coloured cells with the numbers in them; NaN leaves one empty."""
    ax = known_axes(ax, (1.2 + 0.36 * len(columns), 1.0 + 0.32 * len(rows)))
    ax.imshow(values, cmap="cividis", aspect="auto", origin="lower")
    ax.set_xticks(range(len(columns)), columns, **PLAIN)
    ax.set_yticks(range(len(rows)), rows, **PLAIN)
    finite = values[np.isfinite(values)]
    middle = (finite.min() + finite.max()) / 2 if finite.size else 0.0
    for (row, column), value in np.ndenumerate(values):
        if math.isfinite(value):
            # White on the dark half of the colours, black on the light one.
            colour = "white" if value <= middle else "black"
            text_style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "x-small"}
            ax.text(column, row, f"{value:g}", color=colour, **text_style)
    return ax
