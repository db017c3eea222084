"""What a learner may predict: a label, a number, a probability or a score; of survival a risk."""

from typing import Literal

__all__ = ["OUTPUTS", "SURVIVAL_OUTPUTS", "Output"]

Output = Literal["label", "number", "probability", "score", "risk", "event_probability"]

OUTPUTS: tuple[Output, ...] = ("label", "number", "probability", "score")
"""Of labels and numbers."""

SURVIVAL_OUTPUTS: tuple[Output, ...] = ("risk", "event_probability")
"""Of survival times: the higher, the earlier the event; probabilities of an event by some times."""
