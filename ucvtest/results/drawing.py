"""A result drawn: estimate, interval and null value, or one of its own pictures."""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.results.fields import ResultFields
from ucvtest.results.pictures import Layer, Mark, Picture, Role
from ucvtest.results.wording import direction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["heat_map", "plot_result", "save_plot"]

MISSING = "plots need matplotlib: pip install 'ucvtest[plot]'"

# From the palette of Okabe and Ito, which colour-blind readers can tell apart.
CHOSEN = "#0072B2"
OTHERS = "#8C8C8C"
NULL = "#333333"
WARNING = "#B22222"

COLOURS: dict[Role, str] = {
    "data": OTHERS,
    "estimate": CHOSEN,
    "null": NULL,
    "limit": WARNING,
    "other": "#E69F00",
}
PICTURE_SIZE = (6.4, 4.2)

TABLE = "Variances"
TABLE_LEVEL = 0.95


@dataclass(frozen=True)
class _Interval:
    """One line of the picture."""

    label: str
    low: float
    high: float
    chosen: bool


def plot_result(
    result: ResultFields,
    ax: "Axes | None" = None,
    alpha: float = 0.05,
    *,
    kind: str | None = None,
) -> "Axes":
    """Draw the estimate with its interval and the null value, or a picture of the result.

    Where the result has a table "Variances", the intervals that the other variance
    estimators give are drawn below, at the 95% level of that table.

    Parameters
    ----------
    result : ResultFields
    ax : matplotlib Axes, optional
        Where to draw. By default a new figure of pyplot's, which notebooks show by
        themselves; pass an Axes to leave pyplot alone.
    alpha : float
        One minus the confidence level of the interval.
    kind : str, optional
        One of ``result.plot_kinds``, by default the first.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If `alpha` is outside (0, 1), or the result has no such kind.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, got {alpha}: use 0.05 for 95%")
    kind = _known_kind(result, kind)
    if ax is None:
        ax = _pyplot_axes(_size(result, kind, alpha))
    if kind in result.pictures:
        return _draw_picture(ax, result, result.pictures[kind])
    return _draw_interval(ax, result, alpha)


def _known_kind(result: ResultFields, kind: str | None) -> str:
    kinds = result.plot_kinds
    if kind is not None and kind not in kinds:
        raise ValueError(f"kind={kind!r} is unknown: this result has {', '.join(kinds)}")
    return kind or kinds[0]


def _draw_interval(ax: "Axes", result: ResultFields, alpha: float) -> "Axes":
    lines = _lines(result, alpha)
    if not math.isnan(result.null_value):
        ax.axvline(result.null_value, color=NULL, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    _set_limits(ax, result, lines)
    for place, line in enumerate(lines):
        _draw(ax, result.estimate, line, -place)
    _label(ax, result, lines)
    return ax


def save_plot(
    result: ResultFields,
    path: str | Path,
    *,
    alpha: float = 0.05,
    dpi: float = 150,
    kind: str | None = None,
) -> None:
    """Write the picture to a file without pyplot, so that no display and no state is touched.

    Parameters
    ----------
    result : ResultFields
    path : path
        Its suffix (.png, .pdf, .svg) decides the format.
    alpha : float
        One minus the confidence level of the interval.
    dpi : float
        Pixels per inch, where the format has pixels.
    kind : str, optional
        One of ``result.plot_kinds``, by default the first.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If the suffix is none that matplotlib can write, `alpha` is outside (0, 1), or the
        result has no such kind.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(MISSING) from error
    size = _size(result, _known_kind(result, kind), alpha)
    figure = Figure(figsize=size, layout="constrained")
    plot_result(result, figure.subplots(), alpha, kind=kind)
    figure.savefig(path, dpi=dpi)


def heat_map(
    values: np.ndarray,
    columns: Sequence[Any],
    rows: Sequence[Any],
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a matrix of numbers as coloured cells with the numbers in them.

    Parameters
    ----------
    values : ndarray, shape (len(rows), len(columns))
        NaN leaves a cell empty.
    columns, rows : sequence
        Names along the axes.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure of pyplot's.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    if ax is None:
        ax = _pyplot_axes((1.2 + 0.36 * len(columns), 1.0 + 0.32 * len(rows)))
    ax.imshow(values, cmap="cividis", aspect="auto", origin="lower")
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    finite = values[np.isfinite(values)]
    middle = (finite.min() + finite.max()) / 2 if finite.size else 0.0
    for (row, column), value in np.ndenumerate(values):
        if math.isfinite(value):
            # White on the dark half of the colours, black on the light one.
            colour = "white" if value <= middle else "black"
            place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "x-small"}
            ax.text(column, row, f"{value:g}", color=colour, **place)
    return ax


def _pyplot_axes(size: tuple[float, float]) -> "Axes":
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(MISSING) from error
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def _size(result: ResultFields, kind: str, alpha: float) -> tuple[float, float]:
    if kind in result.pictures:
        return PICTURE_SIZE
    return (6.4, 1.7 + 0.32 * len(_lines(result, alpha)))


def _draw_picture(ax: "Axes", result: ResultFields, picture: Picture) -> "Axes":
    for depth, layer in enumerate(picture.layers):
        _MARKS[layer.mark](
            ax,
            layer,
            {"color": COLOURS[layer.role], "label": layer.label or None, "zorder": 2 + depth},
        )
    ax.set_xlabel(picture.xlabel)
    ax.set_ylabel(picture.ylabel)
    ax.spines[["right", "top"]].set_visible(False)
    ax.set_title(picture.title or _title(result), loc="left", fontsize="medium")
    if any(layer.label for layer in picture.layers):
        ax.legend(fontsize="small", frameon=False)
    if result.status != "ok":
        _note_status(ax, result.status)
    return ax


def _bars(ax: "Axes", layer: Layer, style: dict[str, Any]) -> None:
    gaps = np.diff(np.unique(layer.x))
    width = layer.width or (float(gaps.min()) if gaps.size else 1.0)
    ax.bar(layer.x, layer.y, width, edgecolor="white", linewidth=0.3, **style)


def _line(ax: "Axes", layer: Layer, style: dict[str, Any]) -> None:
    ax.plot(layer.x, layer.y, linewidth=1.8, **style)


def _area(ax: "Axes", layer: Layer, style: dict[str, Any]) -> None:
    ax.fill(layer.x, layer.y, alpha=0.25, linewidth=0, **style)


def _points(ax: "Axes", layer: Layer, style: dict[str, Any]) -> None:
    ax.plot(layer.x, layer.y, linestyle="none", marker="o", markersize=6, **style)


def _across(ax: "Axes", layer: Layer, style: dict[str, Any]) -> None:
    # One entry in the legend, however many lines.
    label = style.pop("label")
    style["linestyle"] = "-" if layer.role == "estimate" else (0, (4, 3))
    vertical = layer.mark == "vertical"
    for number, place in enumerate(layer.x if vertical else layer.y):
        draw = ax.axvline if vertical else ax.axhline
        draw(place, linewidth=1.4, label=None if number else label, **style)


_MARKS: Mapping[Mark, Callable[["Axes", Layer, dict[str, Any]], None]] = {
    "bars": _bars,
    "line": _line,
    "area": _area,
    "points": _points,
    "vertical": _across,
    "horizontal": _across,
}


def _lines(result: ResultFields, alpha: float) -> list[_Interval]:
    """The interval of the result first, then those of the other variance estimators."""
    low, high = result._quiet_interval(alpha)
    chosen = result.diagnostics.get("variance")
    lines = [_Interval(_chosen_label(result, low, alpha), low, high, chosen=True)]
    table = result.tables.get(TABLE, {})
    if not {"variance", "conf_low", "conf_high"} <= set(table):
        return lines
    rows = zip(table["variance"], table["conf_low"], table["conf_high"], strict=True)
    return lines + [
        _Interval(f"{name}, {TABLE_LEVEL:.0%}", below, above, chosen=False)
        for name, below, above in rows
        if name != chosen and not (math.isnan(below) or math.isnan(above))
    ]


def _chosen_label(result: ResultFields, low: float, alpha: float) -> str:
    chosen = result.diagnostics.get("variance")
    name = chosen if isinstance(chosen, str) else ""
    if math.isnan(low):
        return name or "estimate"
    level = f"{100 * (1 - alpha):.10g}%"
    return f"{name}, {level}" if name else f"{level} {result.interval_name}"


def _set_limits(ax: "Axes", result: ResultFields, lines: Sequence[_Interval]) -> None:
    ends = [end for line in lines for end in (line.low, line.high)]
    points = [x for x in (result.estimate, result.null_value, *ends) if math.isfinite(x)]
    if not points:
        points = [0.0]
    # One-sided intervals reach the edge, so the edge must lie beyond all that is finite.
    margin = 0.12 * (max(points) - min(points)) or 0.1 * abs(points[0]) or 0.1
    ax.set_xlim(min(points) - margin, max(points) + margin)
    ax.set_ylim(-len(lines) + 0.4, 0.6)


def _draw(ax: "Axes", estimate: float, line: _Interval, height: float) -> None:
    colour = CHOSEN if line.chosen else OTHERS
    left, right = ax.get_xlim()
    if not math.isnan(line.low):
        ends = (max(line.low, left), min(line.high, right))
        ax.plot(ends, (height, height), color=colour, linewidth=2.4 if line.chosen else 1.4)
        for end, value, arrow in zip(ends, (line.low, line.high), "<>", strict=True):
            ax.plot(end, height, color=colour, marker=arrow if math.isinf(value) else "|", ms=7)
    if not math.isnan(estimate):
        ax.plot(estimate, height, "o", color=colour, markersize=7 if line.chosen else 4.5)


def _label(ax: "Axes", result: ResultFields, lines: Sequence[_Interval]) -> None:
    ax.set_yticks([-place for place in range(len(lines))], [line.label for line in lines])
    ax.get_yticklabels()[0].set_color(CHOSEN)
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "right", "top"]].set_visible(False)
    ax.set_xlabel(textwrap.fill(result.estimand, 70))
    ax.set_title(_title(result), loc="left", fontsize="medium", pad=18)
    _name_sides(ax, result)
    if result.status != "ok":
        _note_status(ax, result.status)


def _title(result: ResultFields) -> str:
    names = [result.settings.get(key) for key in ("learner", "other")]
    known = [textwrap.shorten(str(name), 60, placeholder=" ...") for name in names if name]
    return textwrap.fill(" minus ".join(known) or result.method, 70)


def _name_sides(ax: "Axes", result: ResultFields) -> None:
    """Say on which side of zero which learner is better."""
    sides = direction(result)
    left, right = ax.get_xlim()
    if sides is None or result.null_value != 0 or not left < 0 < right:
        return
    style: dict[str, Any] = {"fontsize": "small", "color": NULL, "va": "bottom"}
    place: dict[str, Any] = {"xycoords": ax.get_xaxis_transform(), "textcoords": "offset points"}
    below = f"{sides.below} better \N{LEFTWARDS ARROW}"
    above = f"\N{RIGHTWARDS ARROW} {sides.above} better"
    ax.annotate(below, (0, 1), xytext=(-5, 2), ha="right", **place, **style)
    ax.annotate(above, (0, 1), xytext=(5, 2), ha="left", **place, **style)


def _note_status(ax: "Axes", status: str) -> None:
    text = textwrap.fill(textwrap.shorten(status, 200, placeholder=" ..."), 80)
    # Placed relative to the axis label, below it, whatever the size of the figure.
    place: dict[str, Any] = {"xycoords": ax.xaxis.label, "ha": "center", "va": "top"}
    ax.annotate(text, (0.5, -0.4), fontsize="small", color=WARNING, **place)
