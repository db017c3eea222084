"""Curves drawn: areas for all points at once, bars for one point at a time."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ucvtest.curves.band import Band
from ucvtest.curves.fields import DIFFERENCE, CurveFields
from ucvtest.curves.wording import TITLES
from ucvtest.results.drawing import draw_layers
from ucvtest.results.plot_data import Layer, Picture, Role
from ucvtest.results.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw", "picture_of"]

ROLES: tuple[Role, ...] = ("estimate", "other")

MOST_BARS = 6
"""Points of each curve with intervals of their own."""

FINE = 401
"""Places at which the outline of overlapping rectangles is looked up."""


def draw(ax: "Axes", curve: CurveFields, kind: str) -> "Axes":
    """Draw one of the pictures of a curve."""
    draw_layers(ax, picture_of(curve, kind))
    if kind == DIFFERENCE:
        return ax
    if curve.kind == "decision":
        # Treating all is worth less and less: what matters is above zero, and a little below.
        tops = [each.high_all.max() for each in curve.bands if each.learner in curve.learners]
        ax.set_ylim(-0.3 * max(tops), 1.05 * max(tops))
    else:
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    return ax


def picture_of(curve: CurveFields, kind: str) -> Picture:
    """The curve, or the difference of two, as layers."""
    make = _differences if kind == DIFFERENCE else _KINDS[curve.kind]
    xlabel, ylabel, layers = make(curve)
    what = " minus ".join(curve.learners) if kind == DIFFERENCE else TITLES[curve.kind]
    level = percent(1 - curve.alpha)
    title = f"{what}; {level}: areas for all points at once, bars for one"
    # One learner's area must not hide the line of the other.
    layers.sort(key=lambda layer: layer.mark != "area")
    return Picture(xlabel, ylabel, tuple(layers), title)


def _roc(curve: CurveFields) -> tuple[str, str, list[Layer]]:
    layers = [Layer("broken", (0, 1), (0, 1), "chance", "null")]
    for name, role in zip(curve.learners, ROLES, strict=False):
        sensitivity, specificity = curve.band(name, "sensitivity"), curve.band(name, "specificity")
        # From the highest threshold to the lowest, as the curve rises.
        y, x = _reversed(sensitivity), _mirrored(_reversed(specificity))
        layers += _region(*_staircase(x, y), role)
        right, up = (np.r_[0, each["estimate"], 1] for each in (x, y))
        layers += [Layer("line", right, up, name, role), *_bars(x, y, role, across=True)]
    return "1 - specificity", "sensitivity", layers


def _precision_recall(curve: CurveFields) -> tuple[str, str, list[Layer]]:
    share = curve.settings["n_positive"] / curve.settings["n_obs"]
    layers = [Layer("broken", (0, 1), (share, share), "share of positives", "null")]
    for name, role in zip(curve.learners, ROLES, strict=False):
        y, x = (_reversed(curve.band(name, each)) for each in ("precision", "recall"))
        layers += _region(*_outline(x, y), role)
        known = ~np.isnan(y["estimate"])
        layers.append(Layer("line", x["estimate"][known], y["estimate"][known], name, role))
        layers += _bars(x, y, role, across=True)
    return "recall", "precision", layers


def _calibration(curve: CurveFields) -> tuple[str, str, list[Layer]]:
    layers = [Layer("broken", (0, 1), (0, 1), "calibrated", "null")]
    for name, role in zip(curve.learners, ROLES, strict=False):
        band = curve.band(name)
        known = ~np.isnan(band.estimate)
        x, y = {"estimate": band.x[known]}, {key: each[known] for key, each in _ends(band).items()}
        layers += _region(_there_and_back(x["estimate"]), _around(y), role)
        layers.append(Layer("points", x["estimate"], y["estimate"], name, role))
        layers += _bars(x, y, role)
    return "predicted probability", "share of positives", layers


def _decision(curve: CurveFields) -> tuple[str, str, list[Layer]]:
    layers = [Layer("horizontal", y=0, label="treat none", role="null")]
    for band in curve.bands:
        if band.learner not in (*curve.learners, DIFFERENCE):
            layers.append(Layer("broken", band.x, band.estimate, band.learner, "data"))
    for name, role in zip(curve.learners, ROLES, strict=False):
        layers += _along(curve.band(name), name, role)
    return "threshold probability", "net benefit", layers


def _differences(curve: CurveFields) -> tuple[str, str, list[Layer]]:
    bands = [each for each in curve.bands if each.learner == DIFFERENCE]
    layers = [Layer("horizontal", y=0, label="no difference", role="null")]
    for band, role in zip(bands, ROLES, strict=False):
        layers += _along(band, band.quantity, role)
    names = " and ".join(each.quantity for each in bands)
    return curve.settings["x"], f"difference of {names}", layers


def _along(band: Band, name: str, role: Role) -> list[Layer]:
    """A band over its grid: the area for all points, bars for one."""
    known = ~np.isnan(band.estimate)
    x, y = {"estimate": band.x[known]}, {key: each[known] for key, each in _ends(band).items()}
    area = _region(_there_and_back(x["estimate"]), _around(y), role)
    line = Layer("line", x["estimate"], y["estimate"], name, role)
    return [*area, line, *_bars(x, y, role)]


_KINDS: dict[str, Callable[[CurveFields], tuple[str, str, list[Layer]]]] = {
    "roc": _roc,
    "precision_recall": _precision_recall,
    "calibration": _calibration,
    "decision": _decision,
}

Ends = dict[str, np.ndarray]
"""The arrays of a band that are drawn, by name."""


def _ends(band: Band) -> Ends:
    names = ("estimate", "low", "high", "low_all", "high_all")
    return {name: getattr(band, name) for name in names}


def _reversed(band: Band) -> Ends:
    return {name: each[::-1] for name, each in _ends(band).items()}


def _mirrored(ends: Ends) -> Ends:
    """One minus all of it: what was low is high."""
    swapped = {"low": "high", "high": "low", "low_all": "high_all", "high_all": "low_all"}
    return {name: 1 - ends[swapped.get(name, name)] for name in ends}


def _there_and_back(x: np.ndarray) -> np.ndarray:
    return np.concatenate([x, x[::-1]])


def _around(y: Ends) -> np.ndarray:
    return np.concatenate([y["low_all"], y["high_all"][::-1]])


def _region(x: np.ndarray, y: np.ndarray, role: Role) -> Iterator[Layer]:
    """The area for all points at once."""
    if len(x):
        yield Layer("area", x, y, role=role)


def _bars(x: Ends, y: Ends, role: Role, *, across: bool = False) -> Iterator[Layer]:
    """Intervals of single points: upright, and `across` where x is estimated too."""
    n_points = len(y["estimate"])
    shown = np.linspace(0, n_points - 1, min(n_points, MOST_BARS + 2)).round().astype(int)
    for k in shown if n_points <= MOST_BARS else shown[1:-1]:
        at = x["estimate"][k], y["estimate"][k]
        if np.isfinite(at).all():
            yield Layer("line", (at[0], at[0]), (y["low"][k], y["high"][k]), role=role)
            if across:
                yield Layer("line", (x["low"][k], x["high"][k]), (at[1], at[1]), role=role)


def _staircase(x: Ends, y: Ends) -> tuple[np.ndarray, np.ndarray]:
    """What a curve that rises in both directions can reach, if each point is in its rectangle.

    Between two points it lies to the right of the first and below the second, whatever it does.
    """
    low_x, low_y = (np.maximum.accumulate(np.r_[0, each["low_all"], 1]) for each in (x, y))
    high_x, high_y = (
        np.minimum.accumulate(np.r_[0, each["high_all"], 1][::-1])[::-1] for each in (x, y)
    )
    above = np.repeat(low_x, 2)[:-1], np.repeat(high_y, 2)[1:]
    below = np.repeat(high_x, 2)[1:], np.repeat(low_y, 2)[:-1]
    outline = [np.concatenate([one, other[::-1]]) for one, other in zip(above, below, strict=True)]
    return outline[0], outline[1]


def _outline(x: Ends, y: Ends) -> tuple[np.ndarray, np.ndarray]:
    """The outline of all rectangles together, which overlap."""
    at = np.linspace(0, 1, FINE)
    inside = (x["low_all"][:, None] <= at) & (at <= x["high_all"][:, None])
    reached = inside.any(axis=0)
    low = np.where(inside, y["low_all"][:, None], np.inf).min(axis=0)[reached]
    high = np.where(inside, y["high_all"][:, None], -np.inf).max(axis=0)[reached]
    return _there_and_back(at[reached]), np.concatenate([low, high[::-1]])
