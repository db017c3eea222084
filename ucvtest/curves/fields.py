"""What a curve holds."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from ucvtest.curves.band import Band
from ucvtest.results.serialising import Saved, from_plain

__all__ = ["DIFFERENCE", "CurveFields"]

DIFFERENCE = "difference"
"""In the place of a learner: the first less the second."""


@dataclass(frozen=True, eq=False, repr=False)
class CurveFields(Saved):
    """The fields of a `Curve`, which says what they are."""

    _what: ClassVar[str] = "curve"

    kind: str
    learners: tuple[str, ...]
    bands: tuple[Band, ...]
    alpha: float
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    def band(self, learner: str | None = None, quantity: str | None = None) -> Band:
        """One of the bands; by default the first that fits.

        Parameters
        ----------
        learner : str, optional
            A learner, or "difference" for the first less the second.
        quantity : str, optional
            Such as "sensitivity".

        Raises
        ------
        ValueError
            If there is none.
        """
        for each in self.bands:
            if learner in (None, each.learner) and quantity in (None, each.quantity):
                return each
        known = ", ".join(f"{each.learner} ({each.quantity})" for each in self.bands)
        raise ValueError(
            f"there is no band with learner={learner!r:.60} and quantity={quantity!r:.60}: this "
            f"curve has {known}"
        )

    @classmethod
    def _values(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        values = super()._values(data)
        bands = tuple(
            Band(**{item.name: from_plain(each[item.name]) for item in fields(Band)})
            for each in data["bands"]
        )
        return values | {
            "bands": bands,
            "learners": tuple(values["learners"]),
            "notes": tuple(values["notes"]),
        }
