"""Pictures of curves: areas for all points at once, bars for one point at a time."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ucvtest.curves.band import Band
from ucvtest.curves.result import DIFFERENCE, Curve
from ucvtest.curves.wording import TITLES
from ucvtest.results.drawing import draw_layers
from ucvtest.results.plot_data import Layer, Mark, Picture, Role
from ucvtest.results.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROLES: tuple[Role, ...] = ("estimate", "other")

MOST_BARS = 6
"""Number of points of each curve with their own intervals."""

FINE = 401
"""Number of places at which the outline of overlapping rectangles is computed."""


def draw(ax: "Axes", curve: Curve, kind: str) -> "Axes":
    """Draw one of the pictures of a curve."""
    draw_layers(ax, picture_of(curve, kind))
    if kind == DIFFERENCE:
        return ax
    if curve.kind == "decision":
        # The benefit of treating all decreases: values above zero matter, and a little below.
        tops = [band.high_all.max() for band in curve.bands if band.learner in curve.learners]
        ax.set_ylim(-0.3 * max(tops), 1.05 * max(tops))
    else:
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    return ax


def picture_of(curve: Curve, kind: str) -> Picture:
    """The curve, or the difference of two, as layers."""
    make = _differences if kind == DIFFERENCE else _KINDS[curve.kind]
    xlabel, ylabel, layers = make(curve)
    picture_title = " minus ".join(curve.learners) if kind == DIFFERENCE else TITLES[curve.kind]
    level = percent(1 - curve.alpha)
    title = f"{picture_title}; {level}: areas for all points at once, bars for one"
    # One learner's area must not hide the other's line.
    layers.sort(key=lambda layer: layer.mark != "area")
    return Picture(xlabel, ylabel, tuple(layers), title)


def _roc(curve: Curve) -> tuple[str, str, list[Layer]]:
    layers = [Layer("broken", (0, 1), (0, 1), "chance", "null")]
    for name, role in zip(curve.learners, ROLES, strict=False):
        sensitivity, specificity = curve.band(name, "sensitivity"), curve.band(name, "specificity")
        # From the highest threshold to the lowest, as the curve rises.
        y, x = _reversed(sensitivity), _mirrored(_reversed(specificity))
        layers += _drawn("area", *_staircase(x, y), role)
        right, up = (np.r_[0, band_ends["estimate"], 1] for band_ends in (x, y))
        layers += [Layer("line", right, up, name, role), *_bars(x, y, role, horizontal=True)]
    return "1 - specificity", "sensitivity", layers


def _precision_recall(curve: Curve) -> tuple[str, str, list[Layer]]:
    positive_rate = curve.settings["n_positive"] / curve.settings["n_obs"]
    layers = [Layer("broken", (0, 1), (positive_rate, positive_rate), "share of positives", "null")]
    for name, role in zip(curve.learners, ROLES, strict=False):
        y, x = (_reversed(curve.band(name, quantity)) for quantity in ("precision", "recall"))
        layers += _drawn("area", *_outline(x, y), role)
        has_estimate = ~np.isnan(y["estimate"])
        curve_ends = x["estimate"][has_estimate], y["estimate"][has_estimate]
        layers += [*_drawn("line", *curve_ends, role, name), *_bars(x, y, role, horizontal=True)]
    return "recall", "precision", layers


def _calibration(curve: Curve) -> tuple[str, str, list[Layer]]:
    layers = [Layer("broken", (0, 1), (0, 1), "calibrated", "null")]
    for name, role in zip(curve.learners, ROLES, strict=False):
        layers += _band_layers(curve.band(name), name, role, "points")
    return "predicted probability", "share of positives", layers


def _decision(curve: Curve) -> tuple[str, str, list[Layer]]:
    layers = [Layer("horizontal", y=0, label="treat none", role="null")]
    for band in curve.bands:
        if band.learner not in (*curve.learners, DIFFERENCE):
            layers.append(Layer("broken", band.x, band.estimate, band.learner, "data"))
    for name, role in zip(curve.learners, ROLES, strict=False):
        layers += _band_layers(curve.band(name), name, role)
    return "threshold probability", "net benefit", layers


def _differences(curve: Curve) -> tuple[str, str, list[Layer]]:
    bands = [
        difference_band for difference_band in curve.bands if difference_band.learner == DIFFERENCE
    ]
    layers = [Layer("horizontal", y=0, label="no difference", role="null")]
    for band, role in zip(bands, ROLES, strict=False):
        layers += _band_layers(band, band.quantity, role)
    names = " and ".join(difference_band.quantity for difference_band in bands)
    return curve.settings["x"], f"difference of {names}", layers


def _band_layers(band: Band, name: str, role: Role, mark: Mark = "line") -> list[Layer]:
    """A band over its grid: the area for all points, bars for one."""
    has_estimate = ~np.isnan(band.estimate)
    x = {"estimate": band.x[has_estimate]}
    y = {key: band_ends[has_estimate] for key, band_ends in _band_ends(band).items()}
    return [
        *_drawn("area", _there_and_back(x["estimate"]), _around(y), role),
        *_drawn(mark, x["estimate"], y["estimate"], role, name),
        *_bars(x, y, role),
    ]


_KINDS: dict[str, Callable[[Curve], tuple[str, str, list[Layer]]]] = {
    "roc": _roc,
    "precision_recall": _precision_recall,
    "calibration": _calibration,
    "decision": _decision,
}

Ends = dict[str, np.ndarray]
"""The arrays of a band that are drawn, by name."""


def _band_ends(band: Band) -> Ends:
    names = ("estimate", "low", "high", "low_all", "high_all")
    return {name: getattr(band, name) for name in names}


def _reversed(band: Band) -> Ends:
    return {name: band_ends[::-1] for name, band_ends in _band_ends(band).items()}


def _mirrored(band_ends: Ends) -> Ends:
    """One minus the whole band; low and high change places."""
    swapped = {"low": "high", "high": "low", "low_all": "high_all", "high_all": "low_all"}
    return {name: 1 - band_ends[swapped.get(name, name)] for name in band_ends}


def _there_and_back(x: np.ndarray) -> np.ndarray:
    return np.concatenate([x, x[::-1]])


def _around(y: Ends) -> np.ndarray:
    return np.concatenate([y["low_all"], y["high_all"][::-1]])


def _drawn(mark: Mark, x: np.ndarray, y: np.ndarray, role: Role, name: str = "") -> Iterator[Layer]:
    """A mark, unless no row decides any point of it."""
    if len(x):
        yield Layer(mark, x, y, name, role)


def _bars(x: Ends, y: Ends, role: Role, *, horizontal: bool = False) -> Iterator[Layer]:
    """Intervals of single points: upright, and `horizontal` where x is estimated too."""
    n_points = len(y["estimate"])
    shown_points = np.linspace(0, n_points - 1, min(n_points, MOST_BARS + 2)).round().astype(int)
    for k in shown_points if n_points <= MOST_BARS else shown_points[1:-1]:
        point = x["estimate"][k], y["estimate"][k]
        if np.isfinite(point).all():
            yield Layer("line", (point[0], point[0]), (y["low"][k], y["high"][k]), role=role)
            if horizontal:
                yield Layer("line", (x["low"][k], x["high"][k]), (point[1], point[1]), role=role)


def _staircase(x: Ends, y: Ends) -> tuple[np.ndarray, np.ndarray]:
    """The region that an increasing curve can reach if each point is in its rectangle.

    Between two points the curve always lies to the right of the first and below the second.
    """
    low_x, low_y = (
        np.maximum.accumulate(np.r_[0, band_ends["low_all"], 1]) for band_ends in (x, y)
    )
    high_x, high_y = (
        np.minimum.accumulate(np.r_[0, band_ends["high_all"], 1][::-1])[::-1]
        for band_ends in (x, y)
    )
    above = np.repeat(low_x, 2)[:-1], np.repeat(high_y, 2)[1:]
    below = np.repeat(high_x, 2)[1:], np.repeat(low_y, 2)[:-1]
    outline = [
        np.concatenate([upper_left, other[::-1]])
        for upper_left, other in zip(above, below, strict=True)
    ]
    return outline[0], outline[1]


def _outline(x: Ends, y: Ends) -> tuple[np.ndarray, np.ndarray]:
    """The outline of all rectangles together; they overlap."""
    grid = np.linspace(0, 1, FINE)
    inside = (x["low_all"][:, None] <= grid) & (grid <= x["high_all"][:, None])
    in_some_rectangle = inside.any(axis=0)
    low = np.where(inside, y["low_all"][:, None], np.inf).min(axis=0)[in_some_rectangle]
    high = np.where(inside, y["high_all"][:, None], -np.inf).max(axis=0)[in_some_rectangle]
    return _there_and_back(grid[in_some_rectangle]), np.concatenate([low, high[::-1]])
