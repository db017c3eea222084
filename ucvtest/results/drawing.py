"""A result drawn: estimate, interval and null value, or one of its own pictures."""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.results.axes import (
    CHOSEN,
    GREY,
    NULL,
    PLAIN,
    WARNING,
    Drawing,
    draw_interval,
    frame_intervals,
    label_intervals,
    one_of_kinds,
    room_for_text,
    use_ratio_axis,
)
from ucvtest.results.fields import check_alpha, quiet_interval
from ucvtest.results.plot_data import Layer, Mark, Picture, Role
from ucvtest.results.result import TestResult
from ucvtest.results.wording import direction, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS: dict[Role, str] = {
    "data": GREY,
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
    ends: tuple[float, float]
    chosen: bool


def picture_of(result: TestResult, alpha: float, kind: str | None) -> Drawing:
    """How to draw a picture of a result on axes, and its size; see `ucvtest.TestResult.plot`."""
    check_alpha(alpha)
    kind = one_of_kinds(kind, result.plot_kinds, "result")
    if kind in result.pictures:
        return Drawing(partial(_draw_picture, result, result.pictures[kind]), PICTURE_SIZE)
    lines = _lines(result, alpha)
    return Drawing(partial(_draw_intervals, result, lines), (6.4, 1.7 + 0.32 * len(lines)))


def _draw_picture(result: TestResult, picture: Picture, ax: "Axes") -> "Axes":
    draw_layers(ax, picture, _title(result))
    if result.status != "ok":
        _note_status(ax, result.status)
    return ax


def _draw_intervals(result: TestResult, lines: Sequence[_Interval], ax: "Axes") -> "Axes":
    if result.contrast == "ratio":
        use_ratio_axis(ax)
    if not math.isnan(result.null_value):
        ax.axvline(result.null_value, color=NULL, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    interval_ends = [interval_end for line in lines for interval_end in line.ends]
    frame_intervals(
        ax, [result.estimate, result.null_value, *interval_ends], len(lines), margin=0.12
    )
    for line_number, line in enumerate(lines):
        colour, sizes = (CHOSEN, (2.4, 7, 7)) if line.chosen else (GREY, (1.4, 7, 4.5))
        draw_interval(ax, result.estimate, line.ends, -line_number, colour=colour, sizes=sizes)
    label_intervals(ax, [line.label for line in lines])
    ax.get_yticklabels()[0].set_color(CHOSEN)
    room = room_for_text(ax)
    small = "medium" if room is None else "small"
    ax.set_xlabel(textwrap.fill(result.estimand, room or 70), **PLAIN)
    pad = 18 if room is None else 6
    ax.set_title(_title(result, room or 70), loc="left", fontsize=small, pad=pad, **PLAIN)
    name_sides(ax, result)
    if result.status != "ok":
        _note_status(ax, result.status)
    return ax


def draw_layers(ax: "Axes", picture: Picture, title: str = "") -> "Axes":
    """Draw a picture; `title` if the picture is without one."""
    for depth, layer in enumerate(picture.layers):
        _MARKS[layer.mark](
            ax,
            layer,
            {
                "color": COLOURS[layer.role],
                "label": _legend_label(layer) or None,
                "zorder": 2 + depth,
            },
        )
    if picture.places:
        ax.set_xticks(range(len(picture.places)), picture.places, **PLAIN)
    ax.set_xlabel(picture.xlabel, **PLAIN)
    ax.set_ylabel(picture.ylabel, **PLAIN)
    ax.spines[["right", "top"]].set_visible(False)
    ax.set_title(picture.title or title, loc="left", fontsize="medium", **PLAIN)
    labels = {_legend_label(layer): layer.label for layer in picture.layers if layer.label}
    if labels:
        for legend_text in ax.legend(fontsize="small", frameon=False).get_texts():
            # Others may stem from what a user drew on these axes before.
            if legend_text.get_text() in labels:
                legend_text.set(text=labels[legend_text.get_text()], **PLAIN)
    return ax


def _legend_label(layer: Layer) -> str:
    """The label that matplotlib knows. Legends leave out labels that begin with an underscore."""
    return f" {layer.label}" if layer.label.startswith("_") else layer.label


def _bars(ax: "Axes", layer: Layer, style: dict[str, Any]) -> None:
    gaps = np.diff(np.unique(layer.x))
    width = layer.width or (float(gaps.min()) if gaps.size else 1.0)
    ax.bar(layer.x, layer.y, width, edgecolor="white", linewidth=0.3, **style)


def _line(ax: "Axes", layer: Layer, style: dict[str, Any]) -> None:
    if layer.mark == "broken":
        style["linestyle"] = (0, (2, 2))
    # A line through one point would be invisible.
    marker = "o" if len(layer.x) == 1 else None
    ax.plot(layer.x, layer.y, linewidth=1.8, marker=marker, **style)


def _area(ax: "Axes", layer: Layer, style: dict[str, Any]) -> None:
    ax.fill(layer.x, layer.y, alpha=0.25, linewidth=0, **style)


def _points(ax: "Axes", layer: Layer, style: dict[str, Any]) -> None:
    ax.plot(layer.x, layer.y, linestyle="none", marker="o", markersize=6, **style)


def _lines_across_axes(ax: "Axes", layer: Layer, style: dict[str, Any]) -> None:
    # One entry in the legend, however many lines.
    label = style.pop("label")
    style["linestyle"] = "-" if layer.role == "estimate" else (0, (4, 3))
    vertical = layer.mark == "vertical"
    for number, position in enumerate(layer.x if vertical else layer.y):
        draw = ax.axvline if vertical else ax.axhline
        draw(position, linewidth=1.4, label=None if number else label, **style)


_MARKS: Mapping[Mark, Callable[["Axes", Layer, dict[str, Any]], None]] = {
    "bars": _bars,
    "line": _line,
    "broken": _line,
    "area": _area,
    "points": _points,
    "vertical": _lines_across_axes,
    "horizontal": _lines_across_axes,
}


def _lines(result: TestResult, alpha: float) -> list[_Interval]:
    """The interval of the result first, then those of the other variance estimators."""
    interval = quiet_interval(result, alpha)
    variance_name = result.diagnostics.get("variance")
    label = variance_name if isinstance(variance_name, str) else ""
    level = percent(1 - alpha)
    if math.isnan(interval[0]):
        label = label or "estimate"
    else:
        label = f"{label}, {level}" if label else f"{level} {result.interval_name}"
    lines = [_Interval(label, interval, chosen=True)]
    table = result.tables.get(TABLE, {})
    if not {"variance", "conf_low", "conf_high"} <= set(table):
        return lines
    rows = zip(table["variance"], table["conf_low"], table["conf_high"], strict=True)
    return lines + [
        _Interval(f"{name}, {TABLE_LEVEL:.0%}", (below, above), chosen=False)
        for name, below, above in rows
        if name != variance_name and not (math.isnan(below) or math.isnan(above))
    ]


def _title(result: TestResult, room: int = 70) -> str:
    names = [result.settings.get(key) for key in ("learner", "other")]
    longest = min(60, room)
    names_given = [
        textwrap.shorten(str(name), longest, placeholder=" ...") for name in names if name
    ]
    link = " over " if result.contrast == "ratio" else " minus "
    return textwrap.fill(link.join(names_given) or result.method, room)


def name_sides(ax: "Axes", result: TestResult) -> None:
    """Say on which side of no contrast which learner is better."""
    better_sides, middle = direction(result), result.same
    left_limit, right_limit = ax.get_xlim()
    if better_sides is None or result.null_value != middle or not left_limit < middle < right_limit:
        return
    style: dict[str, Any] = {"fontsize": "small", "color": NULL, "va": "bottom", **PLAIN}
    annotation_style: dict[str, Any] = {
        "xycoords": ax.get_xaxis_transform(),
        "textcoords": "offset points",
    }
    if room_for_text(ax) is not None:
        # In the corners both stay within the axes, wherever the middle is.
        corner: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
        for text, x_end in (
            (f"{better_sides.below}\nbetter", 0),
            (f"{better_sides.above}\nbetter", 1),
        ):
            align = "right" if x_end else "left"
            style |= {"va": "top", "fontsize": "x-small"}
            ax.annotate(text, (x_end, 1), xytext=(0, -2), ha=align, **corner, **style)
        return
    below = f"{better_sides.below} better \N{LEFTWARDS ARROW}"
    above = f"\N{RIGHTWARDS ARROW} {better_sides.above} better"
    ax.annotate(below, (middle, 1), xytext=(-5, 2), ha="right", **annotation_style, **style)
    ax.annotate(above, (middle, 1), xytext=(5, 2), ha="left", **annotation_style, **style)


def _note_status(ax: "Axes", status: str) -> None:
    wrapped_status = textwrap.fill(textwrap.shorten(status, 200, placeholder=" ..."), 80)
    # Placed relative to the axis label, below it, whatever the size of the figure.
    annotation_style: dict[str, Any] = {
        "xycoords": ax.xaxis.label,
        "ha": "center",
        "va": "top",
        **PLAIN,
    }
    ax.annotate(wrapped_status, (0.5, -0.4), fontsize="small", color=WARNING, **annotation_style)
