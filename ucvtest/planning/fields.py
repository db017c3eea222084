"""The content of a plan of sample sizes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ucvtest.results.plot_data import Picture
from ucvtest.results.serialising import Saved, freeze


@dataclass(frozen=True, eq=False, repr=False)
class PlanFields(Saved):
    """The fields of a `SamplePlan`, which describes them."""

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
