"""Gains with their intervals in one picture."""

import textwrap
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from ucvtest.gains.result import ColumnGains
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
)
from ucvtest.results.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {"helps": CHOSEN, "costs": WARNING}
"""Of findings; others are grey."""


def picture_of(gains: ColumnGains, alpha: float) -> Drawing:
    """The picture, higher for more blocks."""
    return Drawing(partial(draw, gains, alpha), (7.2, 1.5 + 0.3 * len(gains.blocks)))


def draw(gains: ColumnGains, alpha: float, ax: "Axes") -> "Axes":
    """Draw gains, the largest above; at 0 a block makes no difference."""
    frame = gains.summary_frame(alpha).sort_values("gain", ascending=False, kind="stable")
    intervals = list(zip(frame["conf_low"].tolist(), frame["conf_high"].tolist(), strict=True))
    frame_intervals(ax, [0.0, *frame["gain"], *chain(*intervals)], len(frame), margin=0.08)
    ax.axvline(0.0, color=NULL, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    for place, (gain, finding) in enumerate(
        zip(frame["gain"].tolist(), frame["finding"].tolist(), strict=True)
    ):
        colour = COLOURS.get(finding, GREY)
        draw_interval(ax, gain, intervals[place], -place, colour=colour, sizes=(2, 6, 5.5))
    label_intervals(ax, frame["block"].tolist())
    label = (
        f"gain in {gains.settings['loss']} when {gains.learner} learns from {gains.when}, "
        f"{percent(1 - alpha)} simultaneous intervals"
    )
    ax.set_xlabel(textwrap.fill(label, 56), **PLAIN)
    ax.set_title("blue helps, red costs, grey undecided", loc="left", fontsize="medium")
    return ax
