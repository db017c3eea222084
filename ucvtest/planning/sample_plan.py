"""The outcome of `plan`: the number of observations, and predictions for other numbers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ucvtest.results.plot_data import Picture
from ucvtest.results.serialising import Saved, freeze

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ucvtest.results.summary_tables import MarkdownSummary


@dataclass(frozen=True, eq=False, repr=False)
class SamplePlan(Saved):
    """How many observations a question needs, from a pilot sample, a simulator, or fixed rules.

    Parameters
    ----------
    n_needed : int or None
        The fewest observations with the requested power or width; None if ten million are not
        enough.
    n_low, n_high : int or None
        The same at both ends of the band, which shows the uncertainty of the pilot.
    goal : {"difference", "ratio", "width"}
        The kind of goal.
    value : float
        The difference, ratio or width.
    power, alpha : float
    columns : mapping of str to ndarray
        The columns of `frame`.
    estimate : float
        The estimate of the pilot itself. It affects the answer only by the position of an interval
        between 0 and 1.
    settings : mapping
        Sizes of the pilot and of learning sets, loss, learners, estimand.
    curves : tuple of mapping
        The learning curve of each learner: see `curve_frame`.
    notes : tuple of str
    pictures : mapping of str to Picture
    elapsed : float
        Seconds.
    """

    _result_kind: ClassVar[str] = "plan"

    n_needed: int | None
    n_low: int | None
    n_high: int | None
    goal: str
    value: float
    power: float
    alpha: float
    columns: Mapping[str, np.ndarray]
    estimate: float
    settings: Mapping[str, Any]
    curves: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    elapsed: float = math.nan

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "curves", tuple(map(freeze, self.curves)))
        object.__setattr__(self, "notes", tuple(self.notes))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_needed={self.n_needed}, {self.goal}={self.value:g}, "
            f"power={self.power:g}, alpha={self.alpha:g})"
        )

    def __str__(self) -> str:
        from ucvtest.planning.wording import tables

        return tables(self).as_text()

    def _repr_html_(self) -> str:
        return str(self.summary().as_html())

    @property
    def frame(self) -> "pd.DataFrame":
        """One row for each number of observations.

        Columns: n; sd, the standard deviation of the estimate; se, the standard error that would be
        reported; width of the interval (for a ratio, its upper limit divided by its lower limit);
        power, if there is a difference or ratio; and both ends of the band for se, width and power
        (`_low`, `_high`).
        """
        import pandas as pd

        return pd.DataFrame(dict(self.columns))

    @property
    def curve_frame(self) -> "pd.DataFrame":
        """The learning curves: one row for each learner and learning-set size.

        Columns: learner, learn_size, estimate, low, high (of the simultaneous band) and
        extrapolated, whether the size is beyond the pilot, where there is no band.
        """
        import pandas as pd

        columns = ("learner", "learn_size", "estimate", "low", "high", "extrapolated")
        tables = [pd.DataFrame(dict(curve)) for curve in self.curves]
        return pd.concat(tables or [pd.DataFrame(columns=columns)], ignore_index=True)

    @property
    def n_fits(self) -> int:
        """Model fits behind the predictions."""
        return int(self.settings["n_fits"])

    @property
    def verdict(self) -> str:
        """The answer in words."""
        from ucvtest.planning.wording import verdict

        return verdict(self)

    def summary(self, *, with_verdict: bool = True) -> "MarkdownSummary":
        """Summary tables: ``as_text``, ``as_html``, ``as_latex``, ``as_markdown``."""
        from ucvtest.planning.wording import tables
        from ucvtest.results.summary_tables import MarkdownSummary

        return MarkdownSummary(tables(self, with_verdict=with_verdict))

    @property
    def plot_kinds(self) -> tuple[str, ...]:
        """The pictures that `plot` can draw, its default first."""
        return tuple(self.pictures)

    def plot(self, ax: "Axes | None" = None, *, kind: str | None = None) -> "Axes":
        """Draw power or width against the number of observations, or the learning curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        kind : str, optional
            One of `plot_kinds`, by default the first.
        """
        from ucvtest.results.axes import known_axes
        from ucvtest.results.drawing import PICTURE_SIZE, draw_layers

        picture = self._picture(kind)
        return draw_layers(known_axes(ax, PICTURE_SIZE), picture)

    def save_plot(self, path: str | Path, *, dpi: float = 150, kind: str | None = None) -> None:
        """Write what `plot` draws to a file, without a display and without pyplot."""
        from ucvtest.results.axes import save_figure
        from ucvtest.results.drawing import PICTURE_SIZE, draw_layers

        picture = self._picture(kind)
        save_figure(lambda ax: draw_layers(ax, picture), path, PICTURE_SIZE, dpi)

    def _picture(self, kind: str | None) -> Picture:
        kinds = self.plot_kinds
        if kind is not None and (not isinstance(kind, str) or kind not in kinds):
            raise ValueError(f"kind={kind!r:.60} is unknown: this plan has {', '.join(kinds)}")
        return self.pictures[kind or kinds[0]]

    def _plain(self) -> dict[str, Any]:
        return super()._plain() | {"verdict": self.verdict}

    @classmethod
    def _values(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        values = super()._values(data)
        pictures = values["pictures"].items()
        return values | {
            "pictures": {kind: Picture.from_dict(picture) for kind, picture in pictures}
        }
