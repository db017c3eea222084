"""What runs around every fit."""

import io

import numpy as np
import pytest

import ucvtest as uv
from ucvtest.common.execution import NoBar, progress_bar

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


@pytest.mark.parametrize(
    ("progress", "is_terminal", "shown"),
    [
        (None, False, False),
        (None, True, True),
        (False, True, False),
        (True, False, True),
        (True, True, True),
    ],
)
def test_bars_are_shown_on_terminals_and_on_request(
    monkeypatch: pytest.MonkeyPatch, progress: bool | None, is_terminal: bool, shown: bool
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    monkeypatch.setattr("sys.stderr", stream)
    with progress_bar(progress, "corrected_t", "fit") as bar:
        assert bar.disable is not shown
        bar.update(1)
    # Logs have lines instead of a bar that is drawn again and again.
    assert ("\r" in stream.getvalue()) == (bool(progress) and is_terminal)
    assert ("corrected_t" in stream.getvalue()) == bool(progress)
