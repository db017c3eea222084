"""Predictions of fits that were done, by what decides a fit: none is done twice in a call."""

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np

from ucvtest.data.output import Output
from ucvtest.evaluation.fit_requests import FitRequests
from ucvtest.learners.base import Learner

__all__ = ["KnownFits"]

MOST_BYTES = 2**29
"""Memory that predictions may take: half a gigabyte. Fits beyond it are done again."""


class KnownFits:
    """Predictions of learners that are fitted one by one.

    Each fit is known by the learner, its learning and test set, its seed and labels.
    """

    def __init__(self) -> None:
        self._values: dict[str, np.ndarray] = {}
        self._asked_for: set[str] = set()
        self._learners: list[Learner] = []
        self._n_bytes = 0
        self.n_repeated = 0
        """Fits that were asked for again in this call, and not done again."""

    def fill_known(
        self, values: np.ndarray, learner: Learner, output: Output, fits: FitRequests
    ) -> np.ndarray:
        """Write the predictions that are known, and return the numbers of the other fits."""
        missing = []
        for row, key in enumerate(self._keys(learner, output, fits)):
            known = self._values.get(key)
            if known is None:
                missing.append(row)
                continue
            self.n_repeated += key in self._asked_for
            self._asked_for.add(key)
            tested = values[row][fits.testing[row]]
            values[row, fits.testing[row]] = known.reshape(tested.shape)
        return np.array(missing, dtype=int)

    def add_predictions(
        self, values: np.ndarray, learner: Learner, output: Output, fits: FitRequests
    ) -> None:
        """Keep the predictions of some fits, while there is room."""
        tested = [values[row][fits.testing[row]].ravel() for row in range(len(fits))]
        self._n_bytes += sum(each.nbytes for each in tested)
        if self._n_bytes <= MOST_BYTES:
            self._keep(list(self._keys(learner, output, fits)), tested)

    def _keep(self, keys: list[str], tested: list[np.ndarray]) -> None:
        self._values.update(zip(keys, tested, strict=True))
        self._asked_for.update(keys)

    def _name(self, learner: Learner) -> str:
        """What tells learners apart: two may call themselves the same."""
        for place, each in enumerate(self._learners):
            if each is learner:
                return str(place)
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
