"""Derivatives of functions that a user wrote, by differences of the fourth order.

Each derivative is along a direction whose length is a step of its own: a small part of a share, or
of the standard error of a mean. It is taken a second time with half the step. Where the two differ,
the function is not smooth, or it is computed with too much rounding error, and is refused.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ucvtest.common.words import arg

SHARE_STEP = 1 / 200
"""The step of a share, as a part of the share."""

MEAN_STEP = 1 / 50
"""The step of a mean, as a part of its standard error."""

BEND_STEP = 1 / 20
"""The step of a second derivative, as a part of a standard error."""

CENTRAL = ((-2.0, 1 / 12), (-1.0, -8 / 12), (1.0, 8 / 12), (2.0, -1 / 12))
"""Steps and weights of a derivative whose error is of the fourth order."""

FORWARD = ((0.0, -25 / 12), (1.0, 4.0), (2.0, -3.0), (3.0, 4 / 3), (4.0, -1 / 4))
"""The same on one side alone, where a share is 0."""

SECOND = ((-2.0, -1 / 12), (-1.0, 16 / 12), (0.0, -30 / 12), (1.0, 16 / 12), (2.0, -1 / 12))
"""The same for a second derivative."""

FAR = 50
"""Steps from which a function that is not constant differs: a quarter of a share, or one standard
error."""

MOST_APART = 1e-3
"""Most by which the standard error may change with half the step, as a part of it."""

ROUNDING = 1e-11
"""Differences up to this part of the value are rounding error."""


LIMIT = 1e-9
"""Values outside the limits by this share of them are rounding error."""


@dataclass(frozen=True)
class OwnFunction:
    """A function of means that a user wrote, and the name and the limits of its metric."""

    name: str
    number: Callable[[np.ndarray], float]
    limits: tuple[float, float] = (-math.inf, math.inf)

    def value(self, means: np.ndarray) -> float:
        """The metric; a value outside the limits by more than rounding is refused."""
        value = self.number(means)
        rounding = LIMIT * max(1.0, abs(value))
        low, high = self.limits
        if math.isfinite(value) and not low - rounding <= value <= high + rounding:
            raise ValueError(
                f"{arg('limits', self.limits)} of the metric {self.name!r:.60} do not contain "
                f"{value:.6g}, which its function returned: correct the limits, or leave them out"
            )
        return value

    def of_shares(self, table: np.ndarray) -> tuple[float, np.ndarray]:
        """The value and the gradient at shares that sum to 1.

        A share moves at the expense of all others, so that only such tables are asked about. The
        mean of the gradient over observations is then 0.
        """
        value = self.value(table)
        shares = table.ravel()
        steps = SHARE_STEP * np.where(shares > 0, shares, shares[shares > 0].min())

        def direction(cell: int) -> np.ndarray:
            moved = -steps[cell] * shares
            moved[cell] += steps[cell]
            return moved

        slopes = self._slopes(value, table, direction, shares)
        # Of a smooth metric some share makes a difference, be it one that is 0 for a perfect rule.
        if (np.abs(slopes) <= ROUNDING * abs(value)).all():
            raise ValueError(
                f"function of the metric {self.name!r:.60} returns {value:.6g} at all shares near "
                "those observed, so its standard error would be 0: write it as a smooth function, "
                "without steps"
            )
        return value, np.reshape(slopes / steps, table.shape)

    def of_means(self, means: np.ndarray, errors: np.ndarray) -> tuple[float, np.ndarray]:
        """The value and the gradient; the outer squares of `errors` sum to the means' covariance.

        Means move together as they vary together: a mean of y alone would leave the mean of y^2
        behind.
        """
        value = self.value(means)
        ones = np.ones(len(errors))
        slopes = self._slopes(value, means, (MEAN_STEP * errors).__getitem__, ones) / MEAN_STEP
        scale = np.sqrt((errors**2).sum(axis=0))
        scale[scale == 0] = 1.0
        if not np.isfinite(slopes).all():
            return value, np.full(means.shape, np.nan)
        return value, np.asarray(np.linalg.pinv(errors / scale) @ slopes / scale)

    def curvature(self, means: np.ndarray, direction: np.ndarray) -> float:
        """The second derivative along a direction."""
        return sum(
            weight / BEND_STEP**2 * self.number(means + times * BEND_STEP * direction)
            for times, weight in SECOND
        )

    def _slopes(
        self,
        value: float,
        means: np.ndarray,
        direction: Callable[[int], np.ndarray],
        shares: np.ndarray,
    ) -> np.ndarray:
        """Derivatives along the direction of each place, on one side for a share of 0."""
        slopes, halved = np.zeros((2, len(shares)))
        for place, share in enumerate(shares):
            along = direction(place).reshape(means.shape)
            if not along.any():
                continue
            known = {0.0: value}
            for estimates, step in ((slopes, 1.0), (halved, 0.5)):
                # In Python's numbers: a sum of infinities of both signs is NaN without a warning.
                slope = 0.0
                for times, weight in CENTRAL if share > 0 else FORWARD:
                    at = times * step
                    if at not in known:
                        known[at] = self.number(means + at * along)
                    slope += weight / step * known[at]
                estimates[place] = slope
        with np.errstate(invalid="ignore"):
            apart = np.abs(slopes - halved)
        apart[apart <= ROUNDING * abs(value)] = 0.0
        # In units of the standard error; cells without observations have no part in it.
        observed: list[int] = np.flatnonzero(shares).tolist()
        weights = np.divide(1.0, np.sqrt(shares), out=np.zeros(len(shares)), where=shares > 0)
        halved[(shares == 0) & ~np.isfinite(halved)] = 0.0
        apart[shares == 0] = 0.0
        size = float(np.sqrt(halved**2 @ weights**2))
        too_far_apart = float(np.sqrt(apart**2 @ weights**2)) > MOST_APART * size
        # Numbers that a function rounds do not change at all with small steps.
        rounding = ROUNDING * abs(value)
        is_rounded = bool((np.abs(halved[observed]) <= rounding).all()) and any(
            abs(self.number(means + FAR * direction(place).reshape(means.shape)) - value)
            > FAR**2 * rounding
            for place in observed
        )
        if np.isfinite(size) and (is_rounded or too_far_apart):
            raise ValueError(
                f"function of the metric {self.name!r:.60} has no derivative here that differences "
                "can find: two steps give different standard errors. Write it as a smooth "
                "function, without rounding or steps, and subtract a constant from numbers that "
                "are far from 0"
            )
        return halved
