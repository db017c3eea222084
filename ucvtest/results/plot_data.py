"""Pictures as data: the contents of a result other than its interval, drawn wherever it is read.

A picture is part of a `TestResult`, travels through JSON with it, and is drawn by
`ucvtest.results.drawing` with matplotlib or by R with base graphics.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np

from ucvtest.common.checks import check_choice

Mark = Literal["bars", "line", "broken", "area", "points", "vertical", "horizontal"]
Role = Literal["data", "estimate", "null", "limit", "other"]


@dataclass(frozen=True, eq=False)
class Layer:
    """One mark of a picture; `role` decides its colour; without a `label` it has no legend.

    Bars from zero, centred at `x` (by default as wide as the smallest distance of two); a line, a
    broken line or points through (`x`, `y`); the area of the polygon with these corners; lines
    across the whole picture at every `x` ("vertical") or `y` ("horizontal"), where the other one is
    left empty.
    """

    mark: Mark
    x: Any = ()
    y: Any = ()
    label: str = ""
    role: Role = "data"
    width: float | None = None

    def __post_init__(self) -> None:
        for name, allowed_values in (("mark", get_args(Mark)), ("role", get_args(Role))):
            check_choice(name, getattr(self, name), allowed_values)
        for name in ("x", "y"):
            values = np.atleast_1d(np.array(getattr(self, name), dtype=float))
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        needs_x, needs_y = self.mark != "horizontal", self.mark != "vertical"
        if bool(self.x.size) != needs_x or bool(self.y.size) != needs_y:
            needed = "x and y" if needs_x and needs_y else "x alone" if needs_x else "y alone"
            raise ValueError(f"a layer of {self.mark} needs {needed}")
        if needs_x and needs_y and self.x.shape != self.y.shape:
            raise ValueError(f"x has shape {self.x.shape}, y {self.y.shape}: they must be equal")


@dataclass(frozen=True, eq=False)
class Picture:
    """Layers over common axes, from the back to the front.

    `places` are the words that stand at 0, 1, ... in the place of numbers.
    """

    xlabel: str
    ylabel: str
    layers: tuple[Layer, ...]
    title: str = ""
    places: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        object.__setattr__(self, "places", tuple(self.places))
        if not self.layers:
            raise ValueError("layers is empty: a picture needs at least one")

    def to_dict(self) -> dict[str, Any]:
        """Mappings, strings, numbers and arrays only."""
        layers = [
            {layer_field.name: getattr(layer, layer_field.name) for layer_field in fields(layer)}
            for layer in self.layers
        ]
        return {
            "xlabel": self.xlabel,
            "ylabel": self.ylabel,
            "title": self.title,
            "layers": layers,
            **({"places": list(self.places)} if self.places else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Picture":
        """The picture that `to_dict` was called on."""
        layers = tuple(Layer(**layer) for layer in data["layers"])
        return cls(data["xlabel"], data["ylabel"], layers, data["title"], data.get("places", ()))
