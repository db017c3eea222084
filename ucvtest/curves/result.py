"""A curve with its bands, which the functions of this room return."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ucvtest.curves.band import Band
from ucvtest.results.serialising import Saved, from_plain
from ucvtest.results.text_tables import Printed, Tables

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ucvtest.results.axes import Drawing
    from ucvtest.results.summary_tables import TableSummary


DIFFERENCE = "difference"
"""Stands for a learner: the first minus the second."""


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Printed, Saved):
    """A curve of one learner, or of two with their difference, and its bands.

    Parameters
    ----------
    kind : {"roc", "precision_recall", "calibration", "decision"}
    learners : tuple of str
    bands : tuple of Band
        One for each quantity of each learner, and of the difference of two.
    alpha : float
    settings : mapping
        Estimand, numbers of rows, positives, clusters and folds, positive class; of learners also
        the size of learning sets and the number of fits.
    notes : tuple of str
        What the intervals contain, and warnings.
    """

    _result_kind: ClassVar[str] = "curve"

    kind: str
    learners: tuple[str, ...]
    bands: tuple[Band, ...]
    alpha: float
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(kind={self.kind!r}, learners={self.learners!r}, "
            f"n_obs={self.settings['n_obs']}, {len(self.bands[0].x)} points)"
        )

    def band(self, learner: str | None = None, quantity: str | None = None) -> Band:
        """One of the bands; by default the first that matches.

        Parameters
        ----------
        learner : str, optional
            A learner, or "difference" for the first minus the second.
        quantity : str, optional
            A quantity such as "sensitivity".

        Raises
        ------
        ValueError
            If there is no such band.
        """
        for band in self.bands:
            if learner in (None, band.learner) and quantity in (None, band.quantity):
                return band
        band_names = ", ".join(f"{band.learner} ({band.quantity})" for band in self.bands)
        raise ValueError(
            f"there is no band with learner={learner!r:.60} and quantity={quantity!r:.60}: this "
            f"curve has {band_names}"
        )

    def to_frame(self) -> "pd.DataFrame":
        """One row for each point of each band.

        Columns: learner, quantity, the place on the grid (threshold or mean_prediction), and those
        of `Band`: n, estimate, se, low, high, low_all, high_all.
        """
        import pandas as pd

        names = {"x": self.settings["x"].replace(" ", "_")}
        columns = [
            {band_field.name: getattr(band, band_field.name) for band_field in fields(band)}
            for band in self.bands
        ]
        tables = [pd.DataFrame(band_columns).rename(columns=names) for band_columns in columns]
        return pd.concat(tables, ignore_index=True)

    @property
    def verdict(self) -> str:
        """Where the band of the difference, for all points at once, excludes zero."""
        from ucvtest.curves.wording import verdict

        return verdict(self)

    def summary(self, *, notes: bool = False) -> "TableSummary":
        """Summary tables: ``as_text``, ``as_html``, ``as_latex``.

        Parameters
        ----------
        notes : bool
            Whether all notes are shown, or at most three lines of what a reader has to know.
        """
        return self._summary(notes=notes)

    def _tables(self, **options: Any) -> Tables:
        from ucvtest.curves.wording import tables

        return tables(self, **options)

    @property
    def plot_kinds(self) -> tuple[str, ...]:
        """The pictures that `plot` can draw, its default first."""
        has_difference = any(band.learner == DIFFERENCE for band in self.bands)
        return ("curve", DIFFERENCE) if has_difference else ("curve",)

    def plot(self, ax: "Axes | None" = None, *, kind: str | None = None) -> "Axes":
        """Draw the curve: areas for all points at once, bars for one point.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        kind : str, optional
            One of `plot_kinds`, by default the first.
        """
        return self._picture(kind).on(ax)

    def save_plot(self, path: str | Path, *, dpi: float = 150, kind: str | None = None) -> None:
        """Write what `plot` draws to a file, without a display and without pyplot."""
        self._picture(kind).write(path, dpi)

    def _picture(self, kind: str | None) -> "Drawing":
        from ucvtest.curves.picture import draw
        from ucvtest.results.axes import Drawing, one_of_kinds
        from ucvtest.results.drawing import PICTURE_SIZE

        plot_kind = one_of_kinds(kind, self.plot_kinds, "curve")
        return Drawing(lambda ax: draw(ax, self, plot_kind), PICTURE_SIZE)

    @classmethod
    def _values(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        values = super()._values(data)
        bands = tuple(
            Band(
                **{
                    band_field.name: from_plain(band_fields[band_field.name])
                    for band_field in fields(Band)
                }
            )
            for band_fields in data["bands"]
        )
        return values | {"bands": bands, "learners": tuple(values["learners"])}
