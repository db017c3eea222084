"""Whether a penalty is added to a sum of losses or to their mean."""

from typing import Literal

__all__ = ["PenaltyScale", "check_scale"]

PenaltyScale = Literal["sum", "mean"]
SCALES: tuple[PenaltyScale, ...] = ("sum", "mean")


def check_scale(scale: str) -> None:
    """Refuse scales that are unknown."""
    if scale not in SCALES:
        raise ValueError(f"scale={scale!r} is unknown: use one of {', '.join(SCALES)}")
