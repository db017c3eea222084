"""Predictions of fits that were done, by what decides a fit: none is done twice in a call."""

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np

from ucvtest.data.output import Output
from ucvtest.evaluation.fit_requests import FitRequests
from ucvtest.learners.base import Learner

MOST_BYTES = 2**29
"""Memory that predictions may take: half a gigabyte. Fits beyond it are done again."""


class KnownFits:
    """Predictions of learners that are fitted one by one.

    Each fit is known by the learner, its learning and test set, its seed and labels.
    """

    def __init__(self) -> None:
        self._values: dict[str, np.ndarray] = {}
        self._learners: list[Learner] = []
        self._n_bytes = 0

    def fill_known(
        self, values: np.ndarray, learner: Learner, output: Output, fits: FitRequests
    ) -> np.ndarray:
        """Write the predictions that are known, and return the numbers of the other fits."""
        missing = []
        for row, key in enumerate(self._keys(learner, output, fits)):
            saved_predictions = self._values.get(key)
            if saved_predictions is None:
                missing.append(row)
                continue
            tested = values[row][fits.testing[row]]
            values[row, fits.testing[row]] = saved_predictions.reshape(tested.shape)
        return np.array(missing, dtype=int)

    def add_predictions(
        self, values: np.ndarray, learner: Learner, output: Output, fits: FitRequests
    ) -> None:
        """Keep the predictions of some fits, while there is room."""
        tested = [values[row][fits.testing[row]].ravel() for row in range(len(fits))]
        self._n_bytes += sum(tested_predictions.nbytes for tested_predictions in tested)
        if self._n_bytes <= MOST_BYTES:
            self._values.update(zip(self._keys(learner, output, fits), tested, strict=True))

    def _name(self, learner: Learner) -> str:
        """What tells learners apart: two may call themselves the same."""
        for learner_index, known_learner in enumerate(self._learners):
            if known_learner is learner:
                return str(learner_index)
        self._learners.append(learner)
        return str(len(self._learners) - 1)

    def _keys(self, learner: Learner, output: Output, fits: FitRequests) -> Iterator[str]:
        name = self._name(learner)
        for row in range(len(fits)):
            digest = blake2b(f"{name}\0{output}\0{fits.seeds[row]}".encode(), digest_size=16)
            learning = fits.learning if fits.common else fits.learning[row]
            for members in (learning, fits.testing[row]):
                digest.update(len(members).to_bytes(8, "little"))
                digest.update(np.packbits(members).tobytes())
            if fits.labels is not None:
                digest.update(np.ascontiguousarray(fits.labels[row], dtype="<f8").tobytes())
            yield digest.hexdigest()
