"""How learners predict some learning sets at a time."""

from typing import Protocol

from ucvtest.evaluation.fit_requests import FitRequests
from ucvtest.learners.base import Predictions


class Batch(Protocol):
    """How a learner predicts some learning sets at a time."""

    size: int | None
    """Most learning sets at a time; None for all."""
    n_devices: int
    """Devices that can do batches at the same time."""

    @property
    def most_labelings(self) -> int | None:
        """The same as `size` for labelings of one learning set."""

    def predict(self, fits: FitRequests, device: int) -> Predictions:
        """Values (R, n); those of untested observations are undefined."""
