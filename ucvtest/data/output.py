"""Kinds of predictions: a label, a number, a probability or a score; for survival, a risk."""

from typing import Literal

Output = Literal["label", "number", "probability", "score", "risk", "event_probability"]

OUTPUTS: tuple[Output, ...] = ("label", "number", "probability", "score")
"""For labels and numbers."""

SURVIVAL_OUTPUTS: tuple[Output, ...] = ("risk", "event_probability")
"""For survival times: a risk, higher for earlier events; probabilities of an event by some
times."""
