"""What a learner may predict: a label, a number, a probability or a score."""

from typing import Literal, get_args

__all__ = ["OUTPUTS", "Output"]

Output = Literal["label", "number", "probability", "score"]
OUTPUTS: tuple[Output, ...] = get_args(Output)
