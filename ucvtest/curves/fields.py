"""The content of a curve."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from ucvtest.curves.band import Band
from ucvtest.results.serialising import Saved, from_plain

DIFFERENCE = "difference"
"""Stands for a learner: the first minus the second."""


@dataclass(frozen=True, eq=False, repr=False)
class CurveFields(Saved):
    """The fields of a `Curve`, which describes them."""

    _result_kind: ClassVar[str] = "curve"

    kind: str
    learners: tuple[str, ...]
    bands: tuple[Band, ...]
    alpha: float
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()

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
