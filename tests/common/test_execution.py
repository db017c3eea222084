"""What runs around every fit."""

import numpy as np
import pytest

import ucvtest as uv
from ucvtest.common.execution import NoBar

X = np.random.default_rng(3).normal(size=(30, 2))
Y = np.repeat([0, 1], 15)


class Counting(NoBar):
    """A bar that counts, and knows whether it is closed."""

    def __init__(self, description: str) -> None:
        self.description, self.n, self.closed = description, 0, False

    def update(self, n: int) -> None:
        self.n += n

    def close(self) -> None:
        self.closed = True


def test_another_front_can_show_progress_by_bars_of_its_own() -> None:
    bars: list[Counting] = []

    def make(description: str) -> Counting:
        bars.append(Counting(description))
        return bars[-1]

    with uv.hooks.bars_by(make):
        result = uv.CorrectedTTest(X, Y, "lda", design=5).fit(rng=0)
        # Whoever wants none gets none.
        uv.CorrectedTTest(X, Y, "lda", design=5).fit(rng=0, progress=False)
    uv.CorrectedTTest(X, Y, "lda", design=5).fit(rng=0)
    assert [(bar.n, bar.closed) for bar in bars] == [(result.n_fits, True)]


def test_bars_are_made_by_a_function() -> None:
    with pytest.raises(ValueError, match="make_bar must be a function of a description, got 'bar'"):
        uv.hooks.bars_by("bar")
