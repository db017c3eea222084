"""A clock that learners move on, so that what takes time can be tested without any."""

import numpy as np
import pytest

from ucvtest.evaluation import time_budget

__all__ = ["Clock", "clock", "ticking"]


class Clock:
    """Stands still, and advances by a number of seconds with every fit of a learner."""

    now = 0.0

    def __call__(self):
        return self.now

    def learner(self, seconds, *, column=0, stops_after=None):
        fits = 0

        def slow(X_train, y_train, X_test):
            nonlocal fits
            fits += 1
            self.now += seconds
            if stops_after is not None and fits > stops_after:
                raise KeyboardInterrupt
            first = y_train == y_train.min()
            low, high = (X_train[rows, column].mean() for rows in (first, ~first))
            nearer = np.abs(X_test[:, column] - low) < np.abs(X_test[:, column] - high)
            return np.where(nearer, y_train.min(), y_train.max())

        return slow


class Ticking:
    """Goes on by a second whenever somebody looks at it."""

    now = 0.0

    def __call__(self):
        self.now += 1
        return self.now


@pytest.fixture
def ticking(monkeypatch):
    monkeypatch.setattr(time_budget.time, "monotonic", Ticking())


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(time_budget.time, "monotonic", found)
    return found
