"""Numbers that say of what kind they are, so that their units can be changed in one place.

Methods compute with losses, because they know more about them: that they are 0 or 1, that they are
skewed to the right. Results may be about a score, which is a mirror image, or about costs. A method
marks each number with units where it makes it, such as ``quantity.square(variance)``: a number, an
array, the cells of a column, or a picture with such numbers from left to right. `finish` alone
changes them. Numbers without a mark have no units.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

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
