"""Numbers that say of what kind they are, so that their units can be changed in one place.

Methods compute with losses, because they know more about them: that they are 0 or 1, that they are
skewed to the right. Results may be about a score, which is a mirror image, or about costs. A method
marks each number with units where it makes it, such as ``quantity.square(variance)``: a number, an
array, the cells of a column, or a picture with such numbers from left to right. `finish` alone
changes them, by `Reported`. Numbers without a mark have no units.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from ucvtest.metrics.base import Units
from ucvtest.results.fields import Posterior
from ucvtest.results.plot_data import Picture

Kind = Literal[
    "value",
    "of_one",
    "change",
    "spread",
    "square",
    "second_moment",
    "odd",
    "per_unit",
    "spread_per_unit",
]


@dataclass(frozen=True, eq=False)
class Quantity:
    """A number of a kind, in units of the loss."""

    kind: Kind
    amount: Any


value = partial(Quantity, "value")
"""A value of the estimand: of one learner, or the difference of two."""

of_one = partial(Quantity, "of_one")
"""A value of one learner, also where the estimand is a difference."""

change = partial(Quantity, "change")
"""A difference of values, with its sign."""

spread = partial(Quantity, "spread")
"""A distance between values, such as a standard error."""

square = partial(Quantity, "square")
"""A variance or a covariance."""

second_moment = partial(Quantity, "second_moment")
"""A mean product of two values."""

odd = partial(Quantity, "odd")
"""A number without units that has the sign of the loss, such as a skewness."""

per_unit = partial(Quantity, "per_unit")
"""A number for each unit of the loss, with its sign."""

spread_per_unit = partial(Quantity, "spread_per_unit")
"""The same without a sign, such as the standard error of a slope."""


@dataclass(frozen=True)
class Reported:
    """How quantities of a loss become those that are reported; unchanged where `units` is None."""

    units: Units | None
    paired: bool
    """Whether the estimand is a difference of two learners."""
    estimate: float
    """Of the loss."""

    @property
    def turns(self) -> bool:
        """Whether the reported number rises where the loss falls."""
        return self.units is not None and self.units.greater_is_better

    def number(self, kind: Kind, amount: Any) -> Any:
        """An amount, in the units of results."""
        units = self.units
        if units is None:
            return amount
        slope, shift = units.slope, 0.0 if self.paired else units.intercept
        match kind:
            case "value":
                return shift + slope * amount
            case "of_one":
                return units.intercept + slope * amount
            case "change":
                return 0.0 + slope * amount
            case "spread":
                return abs(slope) * amount
            case "square":
                return slope**2 * amount
            case "second_moment":
                return slope**2 * amount + 2 * shift * slope * self.estimate + shift**2
            case "odd":
                return 0.0 - amount if self.turns else amount
            case "per_unit":
                return 0.0 + amount / slope
            case "spread_per_unit":
                return abs(0.0 + amount / slope)

    def shown(self, marked: Any) -> Any:
        """What is reported of a number, cells or a picture, with all its quantities."""
        if isinstance(marked, tuple):
            return tuple(map(self.shown, marked))
        if not isinstance(marked, Quantity):
            return marked
        if isinstance(marked.amount, tuple):
            # The cells of errors that nobody knows are None.
            return tuple(
                None if cell is None else self.number(marked.kind, cell) for cell in marked.amount
            )
        if not isinstance(marked.amount, Picture):
            return self.number(marked.kind, marked.amount)
        step = -1 if self.turns else 1
        layers = [
            replace(
                layer,
                x=self.number(marked.kind, layer.x)[::step],
                y=layer.y[::step],
                width=None if layer.width is None else self.number("spread", layer.width),
            )
            for layer in marked.amount.layers
        ]
        return replace(marked.amount, layers=tuple(layers))

    def posterior(self, posterior: Posterior) -> Posterior:
        """The same probabilities of the reported number."""
        sides = (posterior.p_left, posterior.p_right)
        p_left, p_right = sides[::-1] if self.turns else sides
        rope = self.number("spread", posterior.rope)
        center = self.number("value", posterior.rope_center)
        return Posterior(p_left, posterior.p_rope, p_right, rope, center)

    def table(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """The reported columns; the ends of intervals change places where a number turns round."""
        shown = {name: self.shown(cells) for name, cells in table.items()}
        if self.turns and {"conf_low", "conf_high"} <= set(shown):
            shown["conf_low"], shown["conf_high"] = shown["conf_high"], shown["conf_low"]
        return shown
