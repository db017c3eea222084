"""The coverage of intervals for the difference of two forecasts in short series.

Both forecasts are equally good 4 steps ahead, and their errors are sums of 4 successive shocks.
"""

from collections.abc import Iterator

import numpy as np

import ucvtest as uv
from studies.coverage import Study, answer

HORIZON, SIZES = 4, (20, 30, 40)
BLOCK = 5
"""Successive rows in a group, one more than the horizon."""


def sample(n: int, number: int) -> Iterator[tuple]:
    """The tests of the squared errors of one pair of forecasts."""
    rng = np.random.default_rng([n, HORIZON, number])
    shocks = rng.normal(size=(2, n + HORIZON - 1))
    first, second = sum(shocks[:, step : n + step] for step in range(HORIZON))
    rules, y = {"first": first, "second": second}, np.zeros(n)
    test = uv.DieboldMarianoTest.from_losses(uv.Losses.from_predictions(y, rules, loss="squared"))
    yield "autocovariances", *answer(0, test.fit(HORIZON))
    yield "Bartlett's weights", *answer(0, test.fit(HORIZON, variance="bartlett"))
    blocks = np.arange(n) // BLOCK
    grouped = uv.Losses.from_predictions(y, rules, loss="squared", groups=blocks)
    yield f"blocks of {BLOCK}", *answer(0, uv.HoldOutTest.from_losses(grouped).fit())


STUDY = Study(sample, ("variance",), [(n,) for n in SIZES], 2000)

if __name__ == "__main__":
    STUDY.main()
